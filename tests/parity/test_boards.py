"""Boards against the libraries that people use for them: ranks, variances, paired comparisons."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from rankstone.stats import conover, friedman, nemenyi, ranks
from rankstone.stats.battles import Battles, elo
from rankstone.stats.friedman_and_nemenyi import range_tail
from rankstone.stats.paired_comparisons import fit_strengths
from rankstone.stats.variance_components import variance_components

pytestmark = pytest.mark.parity
posthocs = pytest.importorskip("scikit_posthocs")
stats = pytest.importorskip("scipy.stats")

#: fresh data in every run that names a seed
SEED = int(os.environ.get("RANKSTONE_SEED", "23"))


def tables(*, tied: bool) -> list[np.ndarray]:
    """Return scores of few and of many systems, on few and on many data sets."""
    rng = np.random.default_rng(SEED + tied)
    sizes = [(rng.integers(3, 30), rng.integers(3, 15)) for _ in range(25)]
    return [
        rng.integers(0, 6, size) / 7 if tied else rng.normal(size=size)
        for size in sizes
    ]


@pytest.mark.parametrize("tied", [False, True])
def test_friedman_and_conover(*, tied: bool) -> None:
    """SciPy's statistic, corrected for ties, and Conover's pairs by scikit-posthocs."""
    for table in tables(tied=tied):
        expected = stats.friedmanchisquare(*table.T)
        statistic = friedman(table)
        assert statistic.chi_square == pytest.approx(expected.statistic, rel=1e-10)
        assert statistic.p_chi_square == pytest.approx(expected.pvalue, abs=1e-10)
        pairs = posthocs.posthoc_conover_friedman(table).to_numpy()
        off = ~np.eye(len(pairs), dtype=bool)
        assert conover(table)[off] == pytest.approx(pairs[off], abs=1e-10)


def test_nemenyi() -> None:
    """The same p where no scores are tied."""
    for table in tables(tied=False):
        pairs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        assert nemenyi(table) == pytest.approx(pairs, abs=1e-10)


def test_nemenyi_with_ties() -> None:
    """scikit-posthocs takes the variance that ranks have without ties; ours is that of the ranks."""
    for table in tables(tied=True):
        n, items = table.shape
        mean = ranks(table).mean(axis=0)
        error = math.sqrt(items * (items + 1) / (12 * n))
        pairs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        assert range_tail(np.abs(mean[:, None] - mean) / error, items) == pytest.approx(
            pairs, abs=1e-10
        )
        assert (nemenyi(table) <= pairs + 1e-12).all()


def battles(seed: int, *, ties: bool = True) -> Battles:
    """Return random battles in which every item has won."""
    rng = np.random.default_rng(SEED + seed)
    while True:
        items, n = int(rng.integers(3, 12)), int(rng.integers(80, 600))
        strength = rng.normal(size=items)
        left = rng.integers(0, items, n)
        right = (left + rng.integers(1, items, n)) % items
        chance = 1 / (1 + np.exp(strength[right] - strength[left]))
        outcome = np.where(rng.random(n) < chance, 0, 1)
        outcome = np.where(rng.random(n) < 0.2 * ties, 2, outcome)
        result = Battles.from_columns(left, right, outcome)
        if len(result.parts()) == 1 and result.items == items:
            return result


def test_bradley_terry_of_evalica() -> None:
    """The strengths of evalica, in which a tie is half a win, are ours on the scale of odds."""
    evalica = pytest.importorskip("evalica")
    for seed in range(20):
        item = battles(seed)
        winners = np.array([evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw])[
            item.outcome
        ]
        names = [f"i{index:02}" for index in range(item.items)]
        sides = [
            [names[position] for position in side] for side in (item.left, item.right)
        ]
        result = evalica.bradley_terry(
            *sides, winners.tolist(), tolerance=1e-15, limit=100_000
        )
        theirs = np.log(result.scores.reindex(names).to_numpy())
        assert fit_strengths(item).strengths == pytest.approx(
            theirs - theirs.mean(), abs=1e-8
        )
        rated = evalica.elo(*sides, winners.tolist()).scores.reindex(names).to_numpy()
        assert elo(item.left, item.right, item.outcome, item.items) == pytest.approx(
            rated, abs=1e-8
        )


def test_bradley_terry_of_choix() -> None:
    """The maximum of the likelihood, by two of its algorithms."""
    choix = pytest.importorskip("choix")
    for seed in range(20):
        item = battles(100 + seed, ties=False)
        won = [
            (a, b) if o == 0 else (b, a)
            for a, b, o in zip(item.left, item.right, item.outcome, strict=True)
        ]
        for theirs in (
            choix.ilsr_pairwise(item.items, won, alpha=0.0, tol=1e-13, max_iter=10_000),
            choix.mm_pairwise(item.items, won, alpha=0.0, tol=1e-13, max_iter=100_000),
        ):
            assert fit_strengths(item).strengths == pytest.approx(
                theirs - theirs.mean(), abs=1e-8
            )


def test_variance_of_statsmodels() -> None:
    """Sums of squares, degrees of freedom and F of two factors, with replicates and without, and of three."""
    pandas, formulas = (
        pytest.importorskip("pandas"),
        pytest.importorskip("statsmodels.formula.api"),
    )
    anova = pytest.importorskip("statsmodels.api").stats.anova_lm
    rng = np.random.default_rng(SEED + 7)
    for _ in range(8):
        shape = rng.integers(3, 7, 3)
        table = (
            rng.normal(size=shape)
            + rng.normal(size=(shape[0], 1, 1))
            + rng.normal(size=(1, shape[1], 1))
        )
        long = pandas.DataFrame(
            [(s, t, u, value) for (s, t, u), value in np.ndenumerate(table)],
            columns=["s", "t", "u", "y"],
        )
        means = long.groupby(["s", "t"]).y.mean().reset_index()
        cases = (
            (
                "y ~ C(s) * C(t)",
                long,
                variance_components(table, ["s", "t"], replicated=True),
            ),
            (
                "y ~ C(s) + C(t)",
                means,
                variance_components(table.mean(axis=2), ["s", "t"]),
            ),
            (
                "y ~ (C(s) + C(t) + C(u)) ** 2",
                long,
                variance_components(table, ["s", "t", "u"]),
            ),
        )
        for formula, frame, result in cases:
            expected = anova(formulas.ols(formula, frame).fit())
            assert [item.squares for item in result] == pytest.approx(
                expected["sum_sq"].tolist(), rel=1e-8
            )
            assert [item.df for item in result] == expected["df"].tolist()
        two, blocked = cases[1][2], anova(formulas.ols(cases[1][0], means).fit())
        assert [item.f for item in two[:2]] == pytest.approx(
            blocked["F"].tolist()[:2], rel=1e-8
        )
        assert [item.p for item in two[:2]] == pytest.approx(
            blocked["PR(>F)"].tolist()[:2], rel=1e-8
        )
