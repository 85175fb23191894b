"""Queries of a session are not independent: sessions are the units of tests and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import rankstone
from rankstone import compare, evaluate, intervals


def world() -> tuple[dict[str, Any], dict[str, Any], pl.DataFrame]:
    """Return judgments, two runs, and twelve sessions of four queries each."""
    rng = np.random.default_rng(4)
    names = [f"q{index}" for index in range(48)]
    qrels = {name: {"a": 1} for name in names}
    runs = {
        run: {name: rng.permutation(["a", "b", "c", "d"]).tolist() for name in names}
        for run in ("one", "two")
    }
    return (
        qrels,
        runs,
        pl.DataFrame(
            {"query_id": names, "session": [f"s{index // 4}" for index in range(48)]}
        ),
    )


def test_a_column_session_makes_clusters() -> None:
    qrels, runs, queries = world()
    by_default = compare(qrels, runs, "RR", queries=queries)
    named = compare(qrels, runs, "RR", queries=queries, cluster="session")
    without = compare(qrels, runs, "RR", queries=queries.rename({"session": "country"}))
    assert by_default.table.equals(named.table)
    assert by_default.table["units"].item() == 12
    assert without.table["units"].item() == 48
    assert "12 clusters of queries" in str(by_default)


def test_intervals_of_a_mean_and_saved_scores_do_the_same() -> None:
    qrels, runs, queries = world()
    scores = evaluate(qrels, runs, "RR")
    assert intervals(scores, queries=queries).equals(
        intervals(scores, queries=queries, cluster="session")
    )
    comparison = rankstone.compare_scores(scores, queries=queries)
    assert comparison.table["units"].item() == 12


def test_measures_of_sessions_have_a_value_for_each_already() -> None:
    qrels, runs, queries = world()
    queries = queries.with_columns(position=pl.int_range(pl.len()) % 4 + 1)
    assert compare(qrels, runs, "sDCG@3", queries=queries).table["units"].item() == 12
