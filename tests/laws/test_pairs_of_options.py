"""Every two values of two options meet in some world, and the engine is the slow, obvious derivation there."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_oracle import COPIES_STAY_IN_RANGE, agree, allowed
from tests.oracle.oracle import IMPUTED, judge, lists_of, tie_blocks
from tests.oracle.pairs import CANDIDATES
from tests.oracle.worlds import World, differences, worlds

from rankstone.hits import alignment_options
from rankstone.hits.alignment_options import AlignmentOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: worlds of each row
CASES: Final = int(os.environ.get("RANKSTONE_CASES", "2"))
#: values of options that no world has → the reason
LEFT_OUT: Final = {
    ("unit_score", "*"): "worlds have no units: tests/laws/test_units.py",
    ("empty", "error"): "which query is empty depends on each measure's level",
}
#: values that are no words; ``None`` is the default, and for ``exclude_from`` a world without excluded pairs
NO_WORDS: Final[dict[str, tuple[Any, ...]]] = {
    "unjudged": (0, 1, 0.5),
    "exclude_from": (None,),
    "score_above": (None, 0.0, 1.0),
    "depth": (None, 1, 3),
    "candidates": (CANDIDATES, 2 * CANDIDATES),
}


def values_of_option(name: str) -> list[Any]:
    """Return the values of an alignment option that worlds have, from the table of its words."""
    words = alignment_options.CHOICES.get(name, ())
    kept = [word for word in words if not {(name, word), (name, "*")} & LEFT_OUT.keys()]
    return [*kept, *NO_WORDS.get(name, ())]


#: all options of alignment and their values
OPTIONS: Final = {
    field.name: values
    for field in fields(AlignmentOptions)
    if (values := values_of_option(field.name))
}
MEASURES: Final = (
    "P@3", "P(denom=n)@4", "R@2", "F@3", "Success@1", "Rprec", "AP", "AP(denom=min_R_k)@2",
    "AP(denom=hits)@3", "RR", "RR(target=best)", "CG@3", "DCG(gain=exp2)",
    "nDCG", "nDCG@3", "nDCG(gain=exp2)@3", "nDCG(ideal=list)@3", "nDCG(gain=exp2, ideal=topk)@3",
    "nDCG(gain=binary, ideal=k_of_R)@2", "nDCG(ideal_depth=min_k_n)@4", "Judged@3", "NumRet",
    "NumRelRet(rel=2)@3", "ERR(max_grade=9)@3", "RBP(p=0.8)", "Fallout(negatives=catalogue)@3",
)  # fmt: skip


def possible(chosen: Mapping[str, Any]) -> bool:
    """Tell whether options stand together at all; what they mean together is open in a few cases."""
    duplicates = chosen.get("duplicates")
    open_ties = chosen.get("ties") in ("expected", "best", "worst")
    without_scores = chosen.get("order", "score") != "score"
    return not (
        # refused: what the option needs is not there
        (chosen.get("ties") == "expected" and chosen.get("depth"))
        or (without_scores and chosen.get("score_above") is not None)
        # whether a copy's imputed grade is ideal twice is open
        or (imputes(chosen) and duplicates in ("keep", "keep_judged"))
        # the ideal list depends on the order of tied documents
        or (
            open_ties
            and chosen.get("depth")
            and (
                chosen.get("pool") == "list"
                or imputes(chosen)
                or duplicates == "keep_judged"
            )
        )
        # how many documents are left depends on which of tied ones are cut
        or (
            open_ties
            and chosen.get("depth")
            and str(chosen.get("unjudged")).startswith("condensed")
        )
    )


def imputes(chosen: Mapping[str, Any]) -> bool:
    """Tell whether unjudged documents get a grade."""
    unjudged = chosen.get("unjudged", "nonrelevant")
    return unjudged in IMPUTED or not isinstance(unjudged, str)


def has_open_copies(world: World) -> bool:
    """Tell whether copies of a document tie under ``first_keep_rank`` in a way that no order of all settles.

    Which copy is first then depends on the order of ties.  The engine has a copy that counts at any rank of
    its block with equal chance, and orders documents by grade, though the worst order may be another one for
    each measure: copies that earn nothing push the documents behind them down.
    """
    options = world.options
    ties = options["ties"]
    if options.get("duplicates") != "first_keep_rank" or ties not in (
        "expected",
        "best",
        "worst",
    ):
        return False
    grades = judge(world.qrels, options)
    for query, docs in lists_of(world.run).items():
        graded = {doc for doc, grade in grades.get(query, {}).items() if grade}
        for block in tie_blocks(docs, options):
            again = {doc for doc in block if block.count(doc) > 1}
            if again and ties == "expected":
                return True
            if again and (imputes(options) or len(graded & set(block)) > 1):
                return True
    return False


def without_errors(world: World) -> World:
    """Return a world without what its options call an error; unanswered queries have empty lists."""
    refused = {name for name, value in world.options.items() if value == "error"}
    qrels, run = list(world.qrels), list(world.run)
    if "negative" in refused:
        qrels = [(query, doc, abs(grade)) for query, doc, grade in qrels]
    if "ties" in refused:
        run = [(query, doc, float(place)) for place, (query, doc, _) in enumerate(run)]
    judged = {query for query, _, _ in qrels}
    if "extra" in refused:
        run = [row for row in run if row[0] in judged]
    answered = {query for query, _, _ in run}
    rule = world.options["no_results"]
    if rule == "error" or (rule == "missing" and "missing" in refused):
        qrels = [row for row in qrels if row[0] in answered]
    hollow = dict.fromkeys(query for query, _, _ in qrels if query not in answered)
    return replace(world, qrels=tuple(qrels), run=tuple(run), hollow=tuple(hollow))


Pair = tuple[tuple[str, Any], tuple[str, Any]]

PAIRS: Final[list[Pair]] = [
    ((first, single), (second, other))
    for first, second in combinations(OPTIONS, 2)
    for single, other in product(OPTIONS[first], OPTIONS[second])
    if possible({first: single, second: other})
]


def rows_of_all_pairs() -> list[dict[str, Any]]:
    """Return rows in which all pairs meet: each begins with a pair that is missing, and takes the best values."""
    rows: list[dict[str, Any]] = []
    missing = set(PAIRS)
    for pair in PAIRS:
        if pair not in missing:
            continue
        row = dict(pair)
        for name in sorted(OPTIONS.keys() - row.keys(), key=most_values_first):
            trials = [{**row, name: value} for value in OPTIONS[name]]
            row = max(
                filter(possible, trials),
                key=lambda trial: len(missing & set(pairs_in(trial))),
            )
        missing -= set(pairs_in(row))
        rows.append({name: row[name] for name in OPTIONS})
    return rows


def most_values_first(name: str) -> tuple[int, str]:
    """Order options by the number of their values: those with many have most pairs to meet."""
    return -len(OPTIONS[name]), name


def pairs_in(row: Mapping[str, Any]) -> Iterator[Pair]:
    """Return the pairs of a row, in the order of the options."""
    return combinations(((name, row[name]) for name in OPTIONS if name in row), 2)


ROWS: Final = rows_of_all_pairs()


def test_every_two_values_meet() -> None:
    """All pairs of values that can stand together are in some row, and every row can be."""
    met = {pair for row in ROWS for pair in pairs_in(row)}

    assert met == set(PAIRS)
    assert all(map(possible, ROWS))


def test_every_option_of_alignment_is_in_the_worlds() -> None:
    """A new option, or a new value of one, is in the worlds, or stands with a reason among those left out."""
    names = {field.name for field in fields(AlignmentOptions)}
    absent = names - OPTIONS.keys() - {name for name, _ in LEFT_OUT}
    stale = [
        (name, word)
        for name, word in LEFT_OUT
        if word not in ("*", *alignment_options.CHOICES[name])
    ]

    assert not absent
    assert not stale


@pytest.mark.parametrize(
    "chosen", ROWS, ids=lambda row: "-".join(map(str, row.values()))
)
@settings(max_examples=CASES)
@given(data=st.data())
def test_every_two_options(chosen: dict[str, Any], data: st.DataObject) -> None:
    """Copies, judgments given twice, excluded pairs and empty lists are in a world whose options are about them."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    world = data.draw(worlds(longest=3))
    qrels, run = list(world.qrels), list(world.run)
    if data.draw(st.booleans()):
        run = [(query, doc, 1.0) for query, doc, _ in run]
    if chosen["duplicates"] != "error":
        copies = st.lists(st.sampled_from(run), min_size=1, max_size=2)
        other = st.sampled_from([0.0, 0.0, 2.0, 3.0])
        again = [
            (query, doc, own + data.draw(other))
            for query, doc, own in data.draw(copies)
        ]
        run = data.draw(st.permutations([*run, *again]))
    if chosen["duplicate_judgments"] != "error":
        judged = st.lists(st.sampled_from(qrels), min_size=1, max_size=3)
        grades = st.sampled_from([0.0, 1.0, 2.0, -1.0])
        again = [(query, doc, data.draw(grades)) for query, doc, _ in data.draw(judged)]
        qrels = data.draw(st.permutations([*qrels, *again]))
    pairs = sorted({(query, doc) for query, doc, _ in (*qrels, *run)}, key=str)
    lists = st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True)
    exclude = tuple(data.draw(lists)) if "exclude_from" in chosen else ()
    family: tuple[str, ...] = MEASURES
    if chosen["duplicates"] == "keep":
        family = COPIES_STAY_IN_RANGE
    world = without_errors(World(tuple(qrels), tuple(run), chosen, exclude))
    assume(not has_open_copies(world))
    agree(world, allowed(family, chosen["ties"]))


@pytest.mark.parametrize(
    ("world", "text"),
    [
        pytest.param(
            World((("q", "a", 1.0),), tuple(("q", doc, 1.0) for doc in "aax")).under(
                ties="worst", duplicates="first_keep_rank"
            ),
            "RR",
            id="copies that tie stay with their document",
        ),
        pytest.param(
            World(
                (("q", "a", -1.0), ("q", "b", 2.0), ("q", "c", 1.0)),
                tuple(("q", doc, -index) for index, doc in enumerate("abxc")),
            ).under(negative="keep"),
            "nDCG(ideal=topk)@2",
            id="the ideal list of the first ranks has none of the next",
        ),
    ],
)
def test_rare_pairs(world: World, text: str) -> None:
    """Two values of two options that few random worlds tell from their neighbours."""
    assert not has_open_copies(world.under(ties=world.options.get("ties", "input")))
    assert not differences(world, (text,))
