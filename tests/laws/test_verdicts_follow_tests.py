"""Laws of comparisons: a verdict says what its test says, whatever else is compared.

Worlds are mean on purpose: ties, few queries that differ, 0 and 1, outliers, copies of systems, clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone.comparison.verdict import CLEAR
from rankstone.stats import Units, difference_estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from rankstone.comparison.comparison_result import Comparison

#: fewer than by default, so that the smallest worlds draw as well
_FLIPS = 999

_SHAPES = ("normal", "ties", "few differ", "0 and 1", "outlier", "constant gain")


def _scores(
    rng: np.random.Generator, shape: str, n: int, systems: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Return scores of systems that may differ, in [0, 1]."""
    base = rng.random(n)
    tables = {}
    for system in range(systems):
        change = rng.normal(rng.choice([0.0, 0.1]), 0.15, n)
        if shape == "ties":
            change = np.where(rng.random(n) < 0.5, 0.0, change)
        elif shape == "few differ":
            change = np.where(np.arange(n) < rng.integers(0, 8), change, 0.0)
        elif shape == "constant gain":
            change = np.full(n, 0.05 * system)
        elif shape == "outlier":
            change = np.where(np.arange(n) == 0, -1.0, 0.02 * system)
        values = np.clip(base + change, 0, 1)
        if shape == "0 and 1":
            values = np.round(values)
        tables[f"s{system}"] = {
            f"q{query}": {"ndcg": float(value)} for query, value in enumerate(values)
        }
    return tables


def _compare(scores: Mapping[str, object], **options: object) -> Comparison:
    return rankstone.compare_scores(scores, permutations=_FLIPS, **options)  # type: ignore[arg-type]


worlds = st.tuples(
    st.integers(0, 2**32 - 1),
    st.sampled_from(_SHAPES),
    st.integers(1, 40),
    st.integers(2, 5),
)


def _agree(table: pl.DataFrame, alpha: float) -> None:
    for row in table.iter_rows(named=True):
        assert (row["p_adjusted"] <= alpha) == (row["verdict"] in CLEAR), row
        if row["low"] is not None:
            assert row["low"] <= row["high"]
            outside = row["low"] > 0 or row["high"] < 0
            assert row["verdict"] in CLEAR or not outside, row
        if row["low"] == row["high"] == 0.0:
            assert row["verdict"] == "identical", row
        if row["verdict"] == "better":
            assert row["low"] is None or row["low"] >= 0
        if row["verdict"] == "worse":
            assert row["high"] is None or row["high"] <= 0


@given(
    worlds,
    st.sampled_from(["randomisation", "t", "wilcoxon", "sign"]),
    st.sampled_from([None, None, "holm", "bonferroni", "bh", "none"]),
    st.sampled_from([0.95, 0.99, 0.8]),
    st.booleans(),
)
def test_verdict_and_p_never_disagree(
    world: tuple[int, str, int, int],
    test: str,
    correction: str | None,
    confidence: float,
    baseline: bool,  # noqa: FBT001 - a strategy's value
) -> None:
    """A p at most alpha and a clear verdict are the same, in every family, by every test and correction."""
    seed, shape, n, systems = world
    scores = _scores(np.random.default_rng(seed), shape, n, systems)
    queries = {f"q{query}": {"part": query % 3} for query in range(n)}
    comparison = _compare(
        scores,
        baseline="s0" if baseline else None,
        test=test,
        correction=correction,
        confidence=confidence,
        queries=queries,
        by="part",
    )

    alpha = comparison.settings.alpha
    _agree(comparison.table, alpha)
    assert comparison.segments is not None
    _agree(comparison.segments, alpha)


@given(worlds, st.integers(0, 2**32 - 1), st.booleans())
def test_another_system_never_lowers_p(
    world: tuple[int, str, int, int],
    other_seed: int,
    clustered: bool,  # noqa: FBT001 - a strategy's value
) -> None:
    """A further system, a copy of a system or the middle of two never makes a pair clearer."""
    seed, shape, n, systems = world
    rng = np.random.default_rng(seed)
    scores = _scores(rng, shape, n, systems)
    queries = {f"q{query}": {"user": query % max(n // 2, 1)} for query in range(n)}
    options = {"queries": queries, "cluster": "user"} if clustered else {}
    before = _p(_compare(scores, **options))

    other = _scores(np.random.default_rng(other_seed), shape, n, 1)["s0"]
    middle = {
        query: {"ndcg": (scores["s0"][query]["ndcg"] + scores["s1"][query]["ndcg"]) / 2}
        for query in scores["s0"]
    }
    for added in (other, middle, scores["s0"]):
        after = _p(_compare({**scores, "added": added}, **options))
        for pair, p in before.items():
            assert after[pair] >= p - 1e-12


@given(worlds)
def test_another_baseline_never_lowers_p(world: tuple[int, str, int, int]) -> None:
    """Comparisons with two baselines are no clearer than with one of them."""
    seed, shape, n, _ = world
    scores = _scores(np.random.default_rng(seed), shape, n, 4)
    before = _p(_compare(scores, baseline="s0"))

    after = _p(_compare(scores, baseline=["s0", "s1"]))

    for pair, p in before.items():
        assert after[pair] >= p - 1e-12


def _p(comparison: Comparison) -> dict[frozenset[str], float]:
    rows = comparison.table.select("system", "versus", "p_adjusted").rows()
    return {frozenset((system, versus)): p for system, versus, p in rows}


@given(worlds)
def test_the_scale_of_scores_changes_no_verdict(
    world: tuple[int, str, int, int],
) -> None:
    """Scores and margin times ten: the same p and verdicts, intervals times ten."""
    seed, shape, n, systems = world
    scores = _scores(np.random.default_rng(seed), shape, n, systems)
    tenfold = {
        system: {query: {"ndcg": 10 * value["ndcg"]} for query, value in values.items()}
        for system, values in scores.items()
    }
    small = _compare(scores).table
    large = _compare(tenfold).table

    assert small["verdict"].to_list() == large["verdict"].to_list()
    assert small["p_adjusted"].to_list() == large["p_adjusted"].to_list()
    for name in ("low", "high"):
        for item, other in zip(small[name], large[name], strict=True):
            assert item is None or 10 * item == pytest.approx(other, abs=1e-8)


def test_one_verdict_for_the_same_queries() -> None:
    """Twelve queries that all gain: alone, beside a third run, with a baseline, with a copy."""
    rng = np.random.default_rng(5)
    old = 0.4 + 0.2 * rng.random(12)
    new = old + np.abs(rng.normal(0.1, 0.04, 12))
    third = old + rng.normal(0, 0.2, 12)
    runs = {"old": old, "new": new, "third": third, "copy": old}
    scores = {
        name: {f"q{query}": {"ndcg": float(value)} for query, value in enumerate(run)}
        for name, run in runs.items()
    }
    alone = {name: scores[name] for name in ("old", "new")}
    tables = [
        rankstone.compare_scores(alone),
        rankstone.compare_scores({**alone, "third": scores["third"]}),
        rankstone.compare_scores({**alone, "third": scores["third"]}, baseline="old"),
        rankstone.compare_scores({**alone, "copy": scores["copy"]}),
        rankstone.compare_scores(scores, baseline=["old", "third"]),
    ]

    for comparison in tables:
        [row] = comparison.table.filter(system="new", versus="old").iter_rows(
            named=True
        )
        assert row["verdict"] == "better"
        assert row["p"] == pytest.approx(2 / 2**12)


@given(worlds)
def test_the_scale_changes_no_guarded_limit(world: tuple[int, str, int, int]) -> None:
    """Differences and range times ten: limits that a margin is held against times ten."""
    seed, shape, n, _ = world
    scores = _scores(np.random.default_rng(seed), shape, n, 2)
    old, new = (
        np.array([value["ndcg"] for value in values.values()])
        for values in scores.values()
    )
    units = Units.from_scores((new - old)[:, None])
    tenfold = Units.from_scores(10 * (new - old)[:, None])

    ends = difference_estimate(units, (0.0, 1.0)).interval()
    scaled = difference_estimate(tenfold, (0.0, 10.0)).interval()

    assert [10 * end for end in ends] == pytest.approx(list(scaled), abs=1e-8)
