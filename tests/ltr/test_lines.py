"""The exact line search against a fine walk along the line, and lists as hits against the usual road."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ltr.worlds import world

import rankstone
from rankstone import parse_measure
from rankstone.errors import BadOption, BadParameter
from rankstone.ltr.coordinate_ascent import LineSearch
from rankstone.ltr.estimator_inputs import queries_of
from rankstone.ltr.predictions import LabelledLists, checked_measure, mean_of, values_of

MEASURES = st.sampled_from(
    [
        "nDCG@3",
        "nDCG(gain=exp2)",
        "AP",
        "RR",
        "P@2",
        "DCG@4",
        "Rprec",
        "AUC(negatives=judged)",
    ]
)


@given(st.integers(0, 10**6), MEASURES, st.booleans())
def test_lists_are_measured_as_on_the_road(
    seed: int,
    text: str,
    unjudged: bool,  # noqa: FBT001
) -> None:
    """Values per query are those of a labelled table whose ties are in any order."""
    rng = np.random.default_rng(seed)
    _, y, qid = world(seed)
    y = np.where(unjudged & (rng.random(len(y)) < 0.3), -1.0, y)
    scores = rng.integers(0, 4, len(y)).astype(float)
    table = pl.DataFrame({"query_id": qid, "score": scores, "label": y})
    expected = (
        rankstone.evaluate(table=table, measures=text, ties="expected")
        .per_query["value"]
        .to_list()
    )

    result = values_of(scores, y, queries_of(qid, len(y)), parse_measure(text))  # type: ignore[arg-type]
    assert result.tolist() == pytest.approx(
        [np.nan if v is None else v for v in expected], nan_ok=True, rel=1e-12
    )


@given(st.integers(0, 10**6), MEASURES)
def test_the_best_step_is_the_best_there_is(seed: int, text: str) -> None:
    """No step anywhere along the line is better than the one promised, which keeps the promise."""
    rng = np.random.default_rng(seed)
    _, y, qid = world(seed, queries=4)
    scores, direction = (
        rng.integers(-3, 4, len(y)).astype(float),
        rng.integers(-2, 3, len(y)).astype(float),
    )
    queries = queries_of(qid, len(y))
    lists, measure = (
        LabelledLists.of(y, queries.offsets),
        checked_measure(text, climbed=True),
    )
    line = LineSearch.of(lists, measure, 1, 10**6)
    values = line.best(scores, direction, 3)
    taken = np.concatenate((np.linspace(-9, 9, 361) + 1e-3, [-1e3, 1e3]))
    reached = max(
        np.nansum(lists.values(scores + step * direction, measure)) for step in taken
    )

    if not len(values.step):  # nothing ever changes places
        assert reached == pytest.approx(np.nansum(lists.values(scores, measure)))
        return
    kept = np.nansum(lists.values(scores + values.step[0] * direction, measure))
    assert kept >= reached - 1e-9


def test_near_crossings_only() -> None:
    """Where crossings are too many, those nearest to a step of 0 are searched."""
    y = np.array([0.0, 1.0, 0.0, 1.0])
    scores, direction = np.array([4.0, 3.0, 2.0, 1.0]), np.array([0.0, 0.5, 0.0, 1.5])
    line = LineSearch.of(
        LabelledLists.of(y, np.array([0, 4])), checked_measure("AP"), 1, 1
    )
    wide = LineSearch.of(
        LabelledLists.of(y, np.array([0, 4])), checked_measure("AP"), 1, 99
    )

    assert abs(line.best(scores, direction, 1).step[0]) <= 2.0
    assert wide.best(scores, direction, 1).total[0] == 1.0


def test_measures_that_need_more_are_refused() -> None:
    """Scores and labels must suffice, ties need a closed form, and what is climbed is a mean."""
    with pytest.raises(BadParameter, match="more than scores and labels"):
        checked_measure("alpha_nDCG@10")
    with pytest.raises(BadOption, match="closed form"):
        checked_measure("Compat")
    with pytest.raises(BadParameter, match="no mean over queries"):
        checked_measure("AP(agg=gmean)", climbed=True)


def test_equal_scores_earn_what_chance_earns() -> None:
    """A vector of zeros cannot profit from relevant documents standing first in the file."""
    y, queries = np.array([1.0, 0.0, 0.0]), queries_of([1, 1, 1], 3)
    assert mean_of(np.zeros(3), y, queries, "RR") == pytest.approx(
        (1 + 1 / 2 + 1 / 3) / 3
    )


def test_take() -> None:
    """Some lists again and again are what each is alone."""
    _, y, qid = world(3)
    queries = queries_of(qid, len(y))
    lists = LabelledLists.of(y, queries.offsets)
    values: Any = np.array([2, 0, 2])
    rows = np.concatenate([np.arange(*queries.offsets[q : q + 2]) for q in values])
    scores = np.random.default_rng(1).normal(size=len(y))
    measure = checked_measure("nDCG")

    assert lists.take(values).values(scores[rows], measure) == pytest.approx(
        lists.values(scores, measure)[values]
    )
