"""What bounds promise whatever the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.laws.table import (
    AVERAGE_PRECISION,
    BINARY,
    CUMULATED_GAIN,
    NDCG,
    RECIPROCAL_RANK,
    measure,
)
from tests.oracle.worlds import WHOLE, World, worlds

import rankstone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: measures to which an unjudged document and one of grade 0 are the same
MEASURES = tuple(
    text
    for text in (
        *BINARY,
        *AVERAGE_PRECISION,
        *RECIPROCAL_RANK,
        *CUMULATED_GAIN,
        *NDCG,
        "NumRel",
        "NumRelRet",
    )
    if "min_grade" not in text
)
#: a handful of them at a time
lists = st.lists(st.sampled_from(MEASURES), min_size=4, max_size=12, unique=True)
SCALE = (0.0, 1.0, 2.0, 3.0)
WITHIN = 1e-12


def bounds_of(world: World, measures: Sequence[str]) -> pl.DataFrame:
    """Return the bounds of a world, per query."""
    bounds = rankstone.bounds(
        world.judgments(), world.table(), measures, grades=SCALE, **world.options
    )
    return bounds.per_query


@given(
    world=worlds(negative=False, grades=WHOLE, longest=6),
    ties=st.sampled_from(["docid_desc", "expected"]),
    measures=lists,
)
def test_the_score_lies_between(world: World, ties: str, measures: list[str]) -> None:
    """The lowest value, the score and the highest stand in order; without holes they are one number."""
    measures = [
        text
        for text in measures
        if ties != "expected" or measure(text).claims.closed_under_ties
    ]
    assume(measures)
    bounds = bounds_of(world.under(ties=ties), measures)
    assert bounds.filter(
        (pl.col("low") > pl.col("value")) | (pl.col("value") > pl.col("high"))
    ).is_empty()
    still = bounds.filter(pl.col("holes") == 0)
    assert still.filter(
        (pl.col("low") != pl.col("value")) | (pl.col("high") != pl.col("value"))
    ).is_empty()


@given(world=worlds(negative=False, grades=WHOLE, complete=True), measures=lists)
def test_nothing_is_open_when_all_is_judged(world: World, measures: list[str]) -> None:
    """Every document judged: lowest, score and highest are one number, and it is proven."""
    bounds = bounds_of(world, measures)
    assert (bounds["low"] == bounds["high"]).all()
    assert (bounds["low"] == bounds["value"]).all()
    assert (bounds["certificate"] == "proven").all()
    assert (bounds["holes"] == 0).all()


@given(
    world=worlds(negative=False, grades=WHOLE, ties=False),
    data=st.data(),
    measures=lists,
)
def test_judging_narrows(
    world: World, data: st.DataObject, measures: list[str]
) -> None:
    """A document that receives a grade of the scale takes possibilities away and adds none."""
    judged = {(query, doc) for query, doc, _ in world.qrels}
    queries = {query for query, _, _ in world.qrels}
    bare = [
        (query, doc)
        for query, doc, _ in world.run
        if query in queries and (query, doc) not in judged
    ]
    assume(bare)
    query, doc = data.draw(st.sampled_from(bare))
    wider = bounds_of(world, measures)
    more = World(
        (*world.qrels, (query, doc, data.draw(st.sampled_from(SCALE)))),
        world.run,
        world.options,
    )
    both = wider.join(
        bounds_of(more, measures), on=["query_id", "measure"], suffix="_then"
    )
    assert both.height == wider.height
    outside = (pl.col("low_then") < pl.col("low") - WITHIN) | (
        pl.col("high_then") > pl.col("high") + WITHIN
    )
    assert both.filter(outside).is_empty()
    assert both.filter(pl.col("holes_then") > pl.col("holes")).is_empty()


@given(
    world=worlds(negative=False, grades=WHOLE, ties=False, longest=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_differences_turn_around(world: World, seed: int) -> None:
    """The difference b - a is bounded by what bounds a - b with its sign turned; a - a is nothing."""
    rng = np.random.default_rng(seed)
    rows = [world.run[position] for position in rng.permutation(len(world.run))]
    other = World(
        world.qrels,
        tuple(
            (query, doc, -float(index)) for index, (query, doc, _) in enumerate(rows)
        ),
    )
    runs = {"a": world.table(), "b": other.table()}
    texts = [
        "nDCG@3",
        "nDCG",
        "AP",
        "RR",
        "P@2",
        "R@2",
        "F",
        "DCG(gain=exp2)",
        "Rprec",
        "AP(denom=hits)@2",
    ]
    there = _difference(world, runs, ("a", "b"), texts)
    back = _difference(world, runs, ("b", "a"), texts)
    assert np.allclose(there["low"], -back["high"], rtol=0, atol=WITHIN)
    assert np.allclose(there["high"], -back["low"], rtol=0, atol=WITHIN)
    same = _difference(
        world, {"a": world.table(), "b": world.table()}, ("a", "b"), texts
    )
    assert (same["low"] == 0.0).all()
    assert (same["high"] == 0.0).all()
    assert (same["certificate"] == "proven").all()


def _difference(
    world: World, runs: Mapping[str, object], pair: tuple[str, str], texts: list[str]
) -> pl.DataFrame:
    bounds = rankstone.bounds(
        world.judgments(), runs, texts, grades=SCALE, difference=pair
    )
    return bounds.per_query.filter(run=" - ".join(pair)).sort("query_id", "measure")
