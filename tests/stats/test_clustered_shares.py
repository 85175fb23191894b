"""Intervals of shares over clusters of unequal size: their coverage, and what they are at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.rows import each

from rankstone.stats.clustered_shares import clustered_shares
from rankstone.stats.proportions import clopper_pearson

SHARES = np.array([0.71, 0.17, 0.04, 0.03, 0.03, 0.02])
ROUNDS = 400


@each(
    "queries, concentration",
    [(15, 20.0), (30, 20.0), (53, 20.0), (53, 3.0), (53, 1.0), (200, 3.0)],
)
def test_coverage_with_unequal_clusters(queries: int, concentration: float) -> None:
    """At least 93 % of intervals hold the share, common or rare, however alike a query's documents are.

    Sizes are log-normal, so that a few queries have a tenth of all documents each.
    """
    draw = np.random.default_rng(7)
    covered = np.zeros(len(SHARES))
    for _ in range(ROUNDS):
        sizes = np.ceil(np.exp(draw.normal(2.5, 1, queries))).astype(int)
        chances = draw.dirichlet(SHARES * concentration, queries)
        counts = draw.multinomial(sizes, chances).astype(float)
        _, low, high = clustered_shares(counts)
        covered += (low <= SHARES) & (high >= SHARES)
    assert (covered / ROUNDS).min() >= 0.93


def test_queries_with_one_document_each() -> None:
    """Where every cluster is one thing, it is nearly the exact interval of independent ones."""
    counts = np.repeat(np.eye(2), [160, 40], axis=0)
    share, low, high = clustered_shares(counts)
    exact = clopper_pearson(40, 200)
    assert share.tolist() == [0.8, 0.2]
    assert [low[1], high[1]] == pytest.approx([*map(float, exact)], abs=0.002)


def test_alike_queries_say_less() -> None:
    """Queries in which everything has one fate say less than queries that are mixed."""
    mixed = clustered_shares(
        np.tile([5.0, 5.0], (20, 1)) + np.tile([[1, -1], [-1, 1]], (10, 1))
    )
    alike = clustered_shares(np.tile([[10.0, 0.0], [0.0, 10.0]], (10, 1)))
    assert alike[2][0] - alike[1][0] > 2 * (mixed[2][0] - mixed[1][0])


@each(
    "counts, share, ends",
    [
        ([[1, 1]], [0.5, 0.5], None),
        ([[0, 0]], None, None),
        ([[3, 0], [0, 0]], [1, 0], None),
    ],
)
def test_nothing_to_say(counts: object, share: object, ends: object) -> None:
    """A single query has no interval, and no document no share."""
    result, low, high = clustered_shares(np.array(counts))
    assert np.isnan(low).all()
    assert np.isnan(high).all()
    assert ends is None
    if share is None:
        assert np.isnan(result).all()
    else:
        assert result.tolist() == share


def test_nothing_seen_is_not_nothing() -> None:
    """A fate that nothing has, and one that everything has, still have an interval."""
    share, low, high = clustered_shares(np.tile([4.0, 0.0], (30, 1)))
    assert share.tolist() == [1, 0]
    assert (low[1], high[0]) == (0, 1)
    assert 0.05 < high[1] < 0.2
    *_, rare = clustered_shares(np.tile([3.0, 1.0, 0.0], (30, 1)))
    assert 0 < rare[2] < 0.1


def test_counts_of_another_order_are_the_same() -> None:
    """The order of queries does not matter."""
    counts = np.random.default_rng(1).poisson(2, (20, 3)).astype(float)
    first, second = clustered_shares(counts), clustered_shares(counts[::-1])
    assert np.concatenate(first).tolist() == np.concatenate(second).tolist()
