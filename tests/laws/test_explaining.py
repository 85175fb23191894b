"""An explanation is the score: its last total is the numerator, and the quotient the value, bit for bit."""

from __future__ import annotations

import math
import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.rows import each

from rankstone import Measure, evaluate, parse_measure
from rankstone.conventions import Convention, Entry, conventions
from rankstone.explanation.explain_scores import Explainer, explain_queries
from rankstone.explanation.explanation_result import Explanation
from rankstone.measures import MEASURES
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from rankstone.testing.small_worlds import World

TEXTS = [
    text
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure)
    for text in dict.fromkeys(kind.examples or (name,))
]
#: queries of each measure; RANKSTONE_CASES=500 takes two minutes
CASES = int(os.environ.get("RANKSTONE_CASES", "4"))
#: another draws other worlds
SEED = int(os.environ.get("RANKSTONE_SEED", "0"))


def unfolded(
    measure: Measure, world: World, **options: Any
) -> tuple[Any, list[Explanation]]:
    """Return a world's scores, and the explanation of each."""
    inputs: dict[str, Any] = {**world.options, **world.tables(measure), **options}
    scores = evaluate(world.judgments, world.run, measure, **inputs).per_query
    ready = Explainer(world.judgments, measure, **inputs)
    return scores, [
        ready.explain(world.run, query, changes=False) for query in scores["query_id"]
    ]


@cache
def unfolded_world(text: str, *, ties: bool = False) -> tuple[Any, list[Explanation]]:
    """Return the scores and explanations of a measure's world."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    return unfolded(measure, small_world(measure, CASES, seed=SEED + 7, ties=ties))


def same(item: float | None, other: float | None) -> bool:
    """Tell whether two numbers are the same to the last bit, or neither is one."""
    if item is None or other is None:
        return item is None and other is None
    return item == other or (math.isnan(item) and math.isnan(other))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_an_explanation_is_the_score(text: str, ties: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Numerator, norm and value are those of evaluate; running totals end in the numerator."""
    scores, explained = unfolded_world(text, ties=ties)
    for row, item in zip(scores.iter_rows(named=True), explained, strict=True):
        assert item.query_id == row["query_id"]
        assert item.status == row["status"]
        assert same(item.value, row["value"])
        assert same(item.numerator, row["numerator"])
        assert same(item.denominator, row["denominator"])
        last = item.rows[-1].running if item.rows else 0.0
        for pseudo in (item.missed, item.unjudged):
            last = last if pseudo is None else last + pseudo
        assert same(last, item.numerator)


@pytest.mark.parametrize("text", TEXTS)
def test_a_difference_is_the_sum_of_its_shares(text: str) -> None:
    """What documents and pseudo-rows add to the difference of two lists sums to it."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    world = small_world(measure, CASES, seed=SEED + 7)
    turned = world.ranked(
        (query, doc, -score) for query, doc, score in world.run.iter_rows()
    )
    _, first = unfolded_world(text)
    _, second = unfolded(measure, turned)
    for item, result in zip(first, second, strict=True):
        both = item.versus(result)
        assert both.difference == (item.value or 0.0) - (result.value or 0.0)
        assert math.isclose(
            math.fsum(share.difference for share in both.shares),
            both.difference,
            abs_tol=1e-12,
            rel_tol=1e-12,
        )


#: lists with copies, scores that are tied as float32, one class only, and judgments that all libraries take
GRADES = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "c": 1, "d": 1}, "3": {"b": 0, "e": 1}}
COPIES = {"1": "aabx", "2": "xcacac", "3": "be"}
#: replays and what counts copies, each way of computing once; pools of subtopics and spans have other judgments
READINGS = {
    (entry.ours, str(sorted(entry.options.items()))): (convention, entry)
    for convention in conventions()
    for entry in convention.entries
    if entry.ours.startswith("replay:") or entry.options.get("duplicates") == "keep"
    if not entry.of_lists and not entry.of_texts and "pyndeval." not in entry.ours
}


def lists(*, copies: bool) -> pl.DataFrame:
    """Return the lists, a row each; without copies the first row of a document stays."""
    shown = {
        q: docs if copies else "".join(dict.fromkeys(docs))
        for q, docs in COPIES.items()
    }
    scores = [
        [*range(len(docs) + 1, 3, -1), 2.0 + 1e-9, 2.0] for docs in shown.values()
    ]
    docs = [list(docs) for docs in shown.values()]
    return pl.DataFrame(
        {"query_id": list(shown), "doc_id": docs, "score": scores}, strict=False
    )


@each(
    ("convention", "entry"),
    list(READINGS.values()),
    ids=lambda v: getattr(v, "spelling", str(v)),
)
def test_an_explanation_is_the_score_of_a_library(
    convention: Convention, entry: Entry
) -> None:
    """Under every convention, on lists with copies if it takes them, the table has the numbers of the score."""
    text = re.sub(
        r"<[kml]>", "3" if "<l>" not in entry.spelling else "1", entry.spelling
    )
    text = text.replace("<gains>", "0,1,3")
    text = re.sub(r"<\w+>", "0.5", re.sub(r"\.<\w+>", ".5", text))
    options: dict[str, Any] = {"convention": str(convention), "candidates": 30}
    run = lists(copies=entry.options.get("duplicates", "error") != "error")
    scores = evaluate(GRADES, run, text, **options).per_query
    queries = scores["query_id"].to_list()
    tables = explain_queries(GRADES, run, text, queries, **options)
    for row, explained in zip(scores.iter_rows(named=True), tables, strict=True):
        assert isinstance(explained, Explanation)
        assert explained.query_id == row["query_id"]
        assert same(explained.value, row["value"])
        assert same(explained.numerator, row["numerator"])
        assert same(explained.denominator, row["denominator"])
