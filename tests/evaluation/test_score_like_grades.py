"""Judgments that look like a run: somebody may have mixed up the two."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import demo
from rankstone.hits.judgments import GradeCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SENTENCE = "as scores do: are judgments and run in the right order?"
DRAW = np.random.default_rng(1)


def table(
    draw: Callable[[int], NDArray[Any]], queries: int, length: int
) -> pl.DataFrame:
    """Return judgments with grades that ``draw`` returns for each query."""
    query, doc = (
        np.repeat(np.arange(queries), length),
        np.tile(np.arange(length), queries),
    )
    ids = pl.DataFrame({"query": query, "doc": doc})
    grades = pl.Series(np.concatenate([draw(length) for _ in range(queries)]))
    return ids.select(
        query_id=pl.format("q{}", "query"),
        doc_id=pl.format("d{}", "doc"),
        relevance=grades.cast(pl.Float64),
    )


def test_counts_of_nothing_are_zero() -> None:
    """No judgments have no grades, and no doubts."""
    assert set(asdict(GradeCounts()).values()) == {0}
    assert GradeCounts() == GradeCounts.summed({})
    assert GradeCounts().doubts() == ()


def warned(qrels: Any) -> list[str]:
    """Return the warnings about judgments, the same with a limit of memory."""
    run = {"q1": {"d1": 1.0}, "q0": {"d1": 1.0}}
    judgments = rankstone.evaluate(qrels, run, "RR").audit.judgments
    within = rankstone.evaluate(qrels, run, "RR", memory="4GB").audit.judgments
    assert judgments is not None
    assert within is not None
    assert judgments.warnings == within.warnings
    return list(judgments.warnings)


SCORES = {
    "similarities": table(DRAW.random, 30, 5),
    "of two documents a query": table(DRAW.random, 3, 2),
    "logits": table(lambda n: DRAW.normal(-4, 1, n), 30, 5),
    "ranks turned round": table(lambda n: np.arange(n, 0, -1.0), 30, 50),
    "whole scores, far apart": table(
        lambda n: DRAW.permutation(10_000)[:n] + 0.0, 30, 12
    ),
}
GRADES = {
    "0 and 1": table(lambda n: DRAW.integers(0, 2, n) + 0.0, 30, 20),
    "TREC, with junk": table(lambda n: DRAW.choice([-2.0, 0, 1, 2, 3, 4], n), 30, 20),
    "pooled and mostly unjudged": table(
        lambda n: DRAW.choice([-1.0, -1, -1, 0, 1], n), 30, 20
    ),
    "half stars": table(lambda n: DRAW.integers(1, 11, n) / 2, 30, 20),
    "quarters": table(lambda n: DRAW.integers(0, 41, n) / 4, 30, 8),
    "half stars of few items": table(lambda n: DRAW.integers(1, 11, n) / 2, 200, 3),
    "five grades, each once": table(lambda n: np.arange(n) + 0.0, 30, 5),
    "one document a query": table(np.ones, 30, 1),
    "thirds": table(lambda n: DRAW.integers(0, 4, n) / 3, 30, 20),
}


@pytest.mark.parametrize("kind", SCORES)
def test_scores_in_the_place_of_grades_are_a_warning(kind: str) -> None:
    """Fractions that hardly repeat, fractions below zero, and lists without two equal grades."""
    assert [sentence.endswith(SENTENCE) for sentence in warned(SCORES[kind])] == [True]


@pytest.mark.parametrize("kind", GRADES)
def test_usual_scales_are_none(kind: str) -> None:
    """Grades of any scale that people and pools use are nothing to wonder about."""
    assert warned(GRADES[kind]) == []


def test_two_dicts_in_the_wrong_order() -> None:
    """The line of the judgments says so; in the right order it does not."""
    qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    assert SENTENCE in rankstone.evaluate(run, qrels, "nDCG@10").audit.lines()[0]
    assert SENTENCE not in rankstone.evaluate(qrels, run, "nDCG@10").audit.lines()[0]


@pytest.mark.parametrize("name", demo.RUNS)
def test_the_demo_in_the_wrong_order(name: str) -> None:
    """So it is with whole collections: the demo's runs for judgments, as dicts."""
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for line in demo.QRELS.read_text(encoding="utf-8").splitlines():
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = float(grade)
    for line in demo.RUNS[name].read_text(encoding="utf-8").splitlines():
        query, _, doc, _, score, _ = line.split()
        run.setdefault(query, {})[doc] = float(score)
    records = [
        rankstone.evaluate(*pair, "nDCG@10").audit.to_dict()
        for pair in ((run, qrels), (qrels, run))
    ]
    assert [len(audit["judgments"]["warnings"]) for audit in records] == [1, 0]


def test_comparisons_warn_as_well() -> None:
    """The audit of a comparison is that of its evaluation."""
    qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    comparison = rankstone.compare(run, {"a": qrels, "b": qrels}, "nDCG@10")
    assert comparison.audit is not None
    assert SENTENCE in comparison.audit.lines()[0]


def test_check_looks_at_grades_as_well() -> None:
    """What an evaluation wonders about, `check` tells before."""
    qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    assert any(doubt.endswith(SENTENCE) for doubt in rankstone.check(run, qrels).doubts)
    assert not any(
        doubt.endswith(SENTENCE) for doubt in rankstone.check(qrels, run).doubts
    )
