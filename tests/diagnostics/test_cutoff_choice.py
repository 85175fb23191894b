"""Which k: targets by measure, pairs of runs distinguished, the order of runs at each cutoff, in resamples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankstone
from rankstone.diagnostics.cutoff_choice import tau_b
from rankstone.errors import BadParameter, UsageError

#: rank of the only relevant document, query by query
RANKS = {
    "a": [1, 1, 2, 1, 1, 3, 1, 2],
    "b": [2, 1, 3, 3, 1, 3, 2, 4],
    "c": [4, 3, 3, 5, 4, 5, 3, 4],
}


def traced(
    curves: Any, ranks: dict[str, list[int]] = RANKS, **options: Any
) -> rankstone.Curves:
    names = [f"q{index}" for index in range(len(next(iter(ranks.values()))))]
    runs = {
        run: {
            name: [*(f"x{i}" for i in range(1, rank)), "it"]
            for name, rank in zip(names, own, strict=True)
        }
        for run, own in ranks.items()
    }
    return rankstone.curve({name: {"it": 1} for name in names}, runs, curves, **options)


def reciprocal(run: str, k: int) -> list[float]:
    return [1 / rank if rank <= k else 0.0 for rank in RANKS[run]]


# -- targets ---------------------------------------------------------------------------------------------
def test_targets_by_measure() -> None:
    """Each measure has values of its own, by any of its names; a number is for every curve over k."""
    trace = traced("PR RR@1..5 Success@1..5")
    by_name = trace.reach({"MRR": [0.5, 0.6], "Success@1..5": 1})

    assert by_name.select("run", "curve", "target").rows()[:3] == [
        ("a", "RR@1..5", 0.5),
        ("a", "RR@1..5", 0.6),
        ("a", "Success@1..5", 1.0),
    ]
    assert trace.reach(0.5).height == 2 * 3
    assert trace.races({"RR": 0.5}).height == 3
    assert by_name.filter(run="c", target=1.0)["k"].item() == max(RANKS["c"])


def test_the_smallest_k_against_every_k() -> None:
    """By definition: the first k at which the mean of the reciprocal ranks is high enough."""
    trace = traced("RR@1..5", resamples=20)
    for run in RANKS:
        means = [math.fsum(reciprocal(run, k)) / 8 for k in range(1, 6)]
        for target in (0.2, 0.3, 0.5, 0.65):
            first = next(
                (k for k, mean in enumerate(means, 1) if mean >= target - 1e-12), None
            )
            assert trace.reach(target).filter(run=run)["k"].item() == first


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"nDCG": 0.5}, "nDCG has no curve over cutoffs"),
        ({"RR@3": 0.5}, "one point of a curve"),
        ({"RR": math.nan}, "is a finite number"),
        ({"RR": [0.5, -0.1]}, "has no value -0.1"),
    ],
)
def test_targets_without_a_trace(targets: dict[str, float], message: str) -> None:
    """Names that are not traced, and values that are none."""
    with pytest.raises(BadParameter, match=message):
        traced("RR@1..5").reach(targets)


def test_a_target_needs_a_cutoff() -> None:
    """Precision over recall has none; that is stated, and no empty table."""
    with pytest.raises(BadParameter, match="targets are for curves over cutoffs"):
        traced("PR").reach(0.5)


# -- which k ---------------------------------------------------------------------------------------------
def test_pairs_distinguished_are_those_of_the_t_test() -> None:
    """Discriminative power at every k: SciPy's paired t-test, pair by pair, at 1 − confidence."""
    choice = traced("RR@1..5", resamples=50, confidence=0.9).which_k()
    for row in choice.iter_rows(named=True):
        apart = 0
        for text, other in (("a", "b"), ("a", "c"), ("b", "c")):
            x, y = reciprocal(text, row["k"]), reciprocal(other, row["k"])
            apart += x != y and bool(stats.ttest_rel(x, y).pvalue <= 0.1)
        assert (row["apart"], row["pairs"], row["n"]) == (apart, 3, 8)
        assert row["power"] == apart / 3
    assert set(choice["apart"]) == {2, 3}


def test_a_correction_tells_fewer_apart() -> None:
    """Holm's p-values are never smaller."""
    trace = traced("RR@1..5", resamples=10)
    corrected = trace.which_k("holm")["apart"].to_numpy()
    assert (corrected <= trace.which_k()["apart"].to_numpy()).all()
    with pytest.raises(UsageError, match="did you mean holm"):
        trace.which_k("hold")


def test_the_order_at_k_against_the_deepest() -> None:
    """Kendall's tau_b of the means, as SciPy has it."""
    trace = traced("P@1..5", resamples=10)
    means = {
        k: [trace.mean().filter(run=run, x=k)["mean"].item() for run in RANKS]
        for k in range(1, 6)
    }
    for k, tau in trace.which_k().select("k", "tau_deepest").rows():
        expected = stats.kendalltau(means[k], means[5]).statistic
        assert tau == (None if math.isnan(expected) else pytest.approx(expected))


def test_the_order_in_resamples() -> None:
    """The share of samples, drawn from the same seed, in which the pair stands as it does."""
    pair = {name: RANKS[name] for name in ("a", "b")}
    trace = traced("RR@1..2", pair, resamples=300, seed=4)
    row = trace.which_k().row(1, named=True)
    with_k = trace.races(
        {"RR": 0.5}
    )  # any statistic of the same samples: they are made once

    gap = np.array(reciprocal("a", 2)) - np.array(reciprocal("b", 2))
    from rankstone.stats.random_streams import draws

    sums = draws(8, 4, range(300)) @ gap
    signs = np.where(np.abs(sums) <= 1e-9, 0, np.sign(sums))
    assert row["tau_samples"] == pytest.approx(signs.mean())
    assert row["best"] == "a"
    assert row["best_again"] == pytest.approx((signs >= 0).mean())
    assert with_k.height == 1


def test_equal_runs_have_no_order() -> None:
    """Nothing is distinguished, no tau; a single query has no test; both are null and not a number."""
    same = traced("RR@1..3", {"a": [2, 1], "b": [2, 1]}, resamples=10).which_k()
    assert same["apart"].to_list() == [0, 0, 0]
    assert same["tau_deepest"].null_count() == same["tau_samples"].null_count() == 3
    single = traced("RR@1..3", {"a": [2], "b": [1]}, resamples=10).which_k()
    assert single["apart"].null_count() == single["power"].null_count() == 3
    assert single["best"].to_list() == ["b", "b", "b"]


def test_less_is_better_where_it_is() -> None:
    """In front is who lets the fewest negatives through."""
    choice = traced(
        "Fallout(negatives=catalogue)@1..5", candidates=10, resamples=10
    ).which_k()
    assert choice["best"][0] == "a"


@pytest.mark.parametrize(
    ("curves", "ranks", "message"),
    [
        ("RR@1..3", {"a": [1]}, "needs at least two"),
        ("PR", RANKS, "no curve of a measure over k"),
        ("RR(agg=median)@1..3", RANKS, "averaged over queries"),
    ],
)
def test_which_k_of_what(
    curves: str, ranks: dict[str, list[int]], message: str
) -> None:
    """A single run, a curve without a cutoff, and numbers that are no means."""
    with pytest.raises(UsageError, match=message):
        traced(curves, ranks, resamples=5).which_k()


def test_tau_b_is_scipys() -> None:
    """On random orders with ties."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        x, y = rng.integers(0, 4, (2, 6))
        first, other = np.triu_indices(6, 1)
        tau = tau_b(np.sign(x[first] - x[other]), np.sign(y[first] - y[other]))
        assert float(tau) == pytest.approx(
            stats.kendalltau(x, y).statistic, nan_ok=True
        )
