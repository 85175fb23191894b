"""A note about something in the data appears exactly where the data has it."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Final

import polars as pl
from tests.rows import each

import rankstone
from rankstone.conventions import Convention, Entry, conventions
from rankstone.errors import RankstoneError

Row = tuple[str, str, float]

JUDGED: Final[list[Row]] = [("1", "a", 1), ("1", "b", 1), ("2", "a", 1), ("2", "c", 0)]
SHOWN: Final[list[Row]] = [
    ("1", "a", 3),
    ("1", "x", 2),
    ("1", "b", 1),
    ("2", "c", 2),
    ("2", "a", 1),
]
#: what data may have → rows that bring it: judgments, and rows of the run
TRAITS: Final[dict[str, tuple[list[Row], list[Row]]]] = {
    "duplicates": ([], [("1", "b", 0.5)]),
    "tied": ([], [("1", "y", 1)]),
    "negative": ([("1", "x", -1)], []),
    "judged again": ([("1", "a", 1)], []),
    "missing": ([("3", "a", 1)], []),
    "extra": ([], [("4", "a", 1)]),
    "empty": ([("5", "a", 0)], [("5", "a", 1)]),
}
WORLDS: Final = [
    frozenset(trait for trait, has in zip(TRAITS, bits, strict=True) if has)
    for bits in product((False, True), repeat=len(TRAITS))
    if sum(bits) <= 1 or all(bits)
]


def data(traits: frozenset[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return judgments and a run that have these traits and no others."""
    judged, shown = list(JUDGED), list(SHOWN)
    for trait in TRAITS:
        if trait in traits:
            judged += TRAITS[trait][0]
            shown += TRAITS[trait][1]
    schemas = [["query_id", "doc_id", value] for value in ("relevance", "score")]
    rows = [[(q, d, float(x)) for q, d, x in table] for table in (judged, shown)]
    first, second = (
        pl.DataFrame(table, schema=schema, orient="row")
        for table, schema in zip(rows, schemas, strict=True)
    )
    return first, second


def traits_in(words: dict[str, str], text: str) -> set[str]:
    """Return the traits that a text speaks of."""
    return {trait for trait, pattern in words.items() if re.search(pattern, text)}


@each("traits", WORLDS, ids=sorted)
def test_identification_notes_what_the_data_has(traits: frozenset[str]) -> None:
    """Copies and documents that are judged again have a rule, which is stated only where it decided something."""
    qrels, run = data(traits)
    shown = str(rankstone.identify(qrels, run, "0.5", "AP"))
    words = {"duplicates": "lists have copies: ", "judged again": "judged again: "}
    assert traits_in(words, shown) == traits & words.keys()


@each("traits", WORLDS, ids=sorted)
def test_audits_count_what_the_data_has(traits: frozenset[str]) -> None:
    """The lines of an audit, whole and brief, and the footnotes of a list."""
    qrels, run = data(traits)
    options: dict[str, Any] = {"duplicates": "first_drop", "duplicate_judgments": "max"}
    scores = rankstone.evaluate(qrels, run, "AP", **options)
    whole = {
        "duplicates": r"duplicate rows?\b(?! merged)",
        "tied": "tied row",
        "negative": "below zero",
        "judged again": "duplicate rows? merged",
        "missing": "missing",
        "extra": "without judgments",
        "empty": "without a relevant document",
    }
    lines = "\n".join(scores.audit.lines())
    assert traits_in(whole, lines) == traits, lines
    explained = str(rankstone.explain(qrels, run, "AP", "1", **options))
    footnotes = {
        "duplicates": r"[Cc]op(y|ies)|duplicates=",
        "tied": "ties=",
        "negative": "negative=",
    }
    assert traits_in(footnotes, explained) == traits & footnotes.keys(), explained


HANGING: Final = [
    (convention, entry)
    for convention in conventions()
    for entry in convention.entries
    if entry.when and not entry.of_lists
]
#: each remark of a library once
REMARKS: Final = {
    (str(first), entry.bug, entry.note, entry.differs): (first, entry)
    for first, entry in HANGING
}


@each(
    ("convention", "entry"),
    list(REMARKS.values()),
    ids=lambda v: getattr(v, "spelling", str(v)),
)
def test_remarks_on_a_library_hang_on_the_data(
    convention: Convention, entry: Entry
) -> None:
    """A remark about copies, ties or grades below zero is made where there are such, and nowhere else."""
    text = re.sub(r"<\w+>", "0.5", entry.spelling.replace("<k>", "3"))
    options: dict[str, Any] = {"convention": str(convention), "candidates": 30}
    made: set[bool] = set()
    for traits in map(frozenset, [(), ("duplicates",), ("tied",), ("negative",)]):
        qrels, run = data(traits)
        try:
            meaning = rankstone.evaluate(qrels, run, text, **options).conventions[
                "meaning"
            ]
        except RankstoneError:
            continue  # the library refuses such data
        note = next(iter(meaning.values())).get("note", "")
        explained = rankstone.explain(qrels, run, text, "1", **options).to_dict()
        for kind, trait in entry.when.items():
            made.add(trait in traits)
            remark = str(getattr(entry, kind))
            assert (remark in note) == (trait in traits), (traits, note)
            assert (remark in explained.get("note", "")) == (trait in traits), traits
    assert made >= ({False} if entry.of_texts else {True, False}), made


def test_what_a_remark_can_hang_on_is_counted() -> None:
    """No remark waits for what is not counted, and none is about copies or ties without saying so."""
    assert {trait for _, entry in HANGING for trait in entry.when.values()} == {
        "duplicates",
        "tied",
        "negative",
    }
    for convention in conventions():
        for entry in convention.entries:
            for kind in ("bug", "note"):
                remark = getattr(entry, kind) or ""
                if re.match(
                    r"(an? \S+( \S+)? (shown|ranked|recommended|retrieved) (twice|again)|tied )",
                    remark,
                ):
                    assert kind in entry.when, (str(convention), entry.spelling, remark)


def test_a_number_of_a_library_is_found_with_its_remark() -> None:
    """Identification says of a library what matters on this data only."""
    measure, remark = "precisionAt(4)", "an item shown twice is found twice"
    for copied in (True, False):
        qrels, run = data(frozenset({"duplicates"} if copied else ()))
        scores = rankstone.evaluate(qrels, run, measure, convention="pyspark")
        number = f"{scores.to_dict()['run'][measure]:.4f}"
        assert (
            remark in str(rankstone.identify(qrels, run, number, measure))
        ) == copied
