"""Metrics of sampled rankings: the chances behind them, the estimators, and what they promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone.lists.beyond import sampling

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats

MEASURES = ("R@10", "P@3", "nDCG@5", "AP", "RR", "AUC(negatives=candidates)")


def chance(n: int, m: int, rank: int, above: int, *, replacement: bool) -> float:
    """Return the chance that `above` of m sampled items beat the relevant one, by counting."""
    if replacement:
        share = (rank - 1) / (n - 1)
        return math.comb(m, above) * share**above * (1 - share) ** (m - above)
    return math.comb(rank - 1, above) * math.comb(n - rank, m - above) / math.comb(n - 1, m)


def worth(text: str, rank: int, n: int) -> float:
    """Return what one relevant document at a rank is worth, by the textbook."""
    k = rankstone.parse_measure(text).k or n
    inside = float(rank <= k)
    return {
        "R": inside,
        "P": inside / k,
        "nDCG": inside / math.log2(rank + 1),
        "AP": inside / rank,
        "RR": inside / rank,
        "AUC": (n - rank) / (n - 1),
    }[rankstone.parse_measure(text).name]


@pytest.mark.parametrize("replacement", [True, False])
@given(n=st.integers(2, 60), data=st.data())
def test_chances(replacement: bool, n: int, data: st.DataObject) -> None:  # noqa: FBT001 - a parameter of the test
    """Ranks among a sample are binomial with replacement, hypergeometric without."""
    m = data.draw(st.integers(1, n - 1 if not replacement else 30))
    found = sampling.chances(np.arange(1, n + 1), n, m, replacement=replacement)
    for rank in range(1, n + 1):
        wanted = [chance(n, m, rank, above, replacement=replacement) for above in range(m + 1)]
        assert found[rank - 1] == pytest.approx(wanted, abs=1e-12)


@given(n=st.integers(3, 40), m=st.integers(1, 20), data=st.data())
def test_the_naive_value_to_expect(n: int, m: int, data: st.DataObject) -> None:
    """It is the sum over sampled ranks; that of AUC is AUC; with one sampled item all measures are AUC."""
    ranks = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=6))
    found = rankstone.expected_sampled(ranks, list(MEASURES), items=n, sampled=m)
    for text in MEASURES:
        wanted = [
            sum(
                chance(n, m, r, above, replacement=True) * worth(text, above + 1, m + 1)
                for above in range(m + 1)
            )
            for r in ranks
        ]
        assert found[text] == pytest.approx(sum(wanted) / len(wanted))
    exact = sum(worth("AUC(negatives=candidates)", r, n) for r in ranks) / len(ranks)
    assert found["AUC(negatives=candidates)"] == pytest.approx(exact)
    one = rankstone.expected_sampled(ranks, "R@1 AUC(negatives=candidates)", items=n, sampled=1)
    assert one["R@1"] == pytest.approx(exact)


def objective(estimate: Floats, text: str, n: int, m: int, gamma: float) -> float:
    """Return squared bias plus gamma times variance, over equally likely ranks, by loops."""
    total = 0.0
    for rank in range(1, n + 1):
        chances = [chance(n, m, rank, above, replacement=True) for above in range(m + 1)]
        mean = sum(c * e for c, e in zip(chances, estimate, strict=True))
        square = sum(c * e * e for c, e in zip(chances, estimate, strict=True))
        total += ((mean - worth(text, rank, n)) ** 2 + gamma * (square - mean**2)) / n
    return total


@pytest.mark.parametrize("text", MEASURES)
@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_bv_is_the_best_balance(text: str, gamma: float) -> None:
    """No step away from the estimate lowers squared bias + γ · variance: it is that quadratic's minimum."""
    n, m = 30, 6
    found = rankstone.correct_sampled([1], text, items=n, sampled=m, gamma=gamma).estimates[text]
    best = objective(found, text, n, m, gamma)
    rng = np.random.default_rng(3)
    for _ in range(40):
        step = rng.standard_normal(m + 1) * 10.0 ** rng.integers(-4, 1)
        assert objective(found + step, text, n, m, gamma) >= best - 1e-12


@pytest.mark.parametrize("text", MEASURES)
def test_cls_keeps_its_promise(text: str) -> None:
    """The estimate never rises nor falls below 0, and no other such estimate has less squared bias."""
    n, m = 25, 5
    found = rankstone.correct_sampled([1], text, items=n, sampled=m, method="cls").estimates[text]
    best = objective(found, text, n, m, 0.0)

    assert (np.diff(found) <= 1e-12).all()
    assert found.min() >= -1e-12
    rng = np.random.default_rng(4)
    for _ in range(300):
        other = np.sort(np.maximum(found + rng.standard_normal(m + 1) * 10.0 ** rng.integers(-4, 1), 0))[::-1]
        assert objective(other, text, n, m, 0.0) >= best - 1e-12


def test_the_second_implementation() -> None:
    """BV and least squares are what the published formulas give, inverted and solved by other means."""
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy solves the same problem its own way")
    n, m = 200, 20
    a = (
        np.array([[chance(n, m, r, j, replacement=True) for j in range(m + 1)] for r in range(1, n + 1)])
        / n**0.5
    )
    for text in MEASURES:
        b = np.array([worth(text, r, n) for r in range(1, n + 1)]) / n**0.5
        c = np.diag((a / n**0.5).sum(axis=0))
        wanted = np.linalg.inv(0.9 * a.T @ a + 0.1 * c) @ a.T @ b
        found = rankstone.correct_sampled([1], text, items=n, sampled=m).estimates[text]
        assert found == pytest.approx(wanted, abs=1e-10)
        steps, _ = optimize.nnls(np.cumsum(a, axis=1), b)
        cls = rankstone.correct_sampled([1], text, items=n, sampled=m, method="cls").estimates[text]
        theirs = np.cumsum(steps[::-1])[::-1]
        assert np.linalg.norm(a @ cls - b) <= np.linalg.norm(a @ theirs - b) * (1 + 1e-12) + 1e-13


def test_corrections_come_nearer() -> None:
    """On simulated users, every correction is nearer to the exact value than the naive one."""
    rng = np.random.default_rng(5)
    n, m, users = 2_000, 100, 20_000
    exact = np.minimum(n, 1 + (rng.gamma(0.4, 300, users)).astype(int))
    drawn = 1 + rng.binomial(m, (exact - 1) / (n - 1))
    truth = float((exact <= 10).mean())
    for method in ("bv", "cls", "rank"):
        found = rankstone.correct_sampled(drawn, "R@10", items=n, sampled=m, method=method)
        naive = found.values["naive"][0]
        assert abs(found.to_dict()["R@10"] - truth) < abs(naive - truth) / 2, method
        assert "estimates" in found.warning
        assert found.per_user("R@10").shape == (users,)
    assert naive == pytest.approx((drawn <= 10).mean())


def test_the_rank_estimator() -> None:
    """M at 1 + ⌊(n − 1)(r̃ − 1)/m⌋."""
    found = rankstone.correct_sampled([1, 2, 3], "RR", items=101, sampled=10, method="rank")

    assert found.per_user("RR").tolist() == [1 / 1, 1 / 11, 1 / 21]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ranks": [0]}, "0 is no sampled rank"),
        ({"ranks": [12]}, "12 is no sampled rank"),
        ({"ranks": [1.5]}, "1.5 is no sampled rank"),
        ({"ranks": []}, "there are no ranks"),
        ({"measures": "Coverage"}, "is no measure of one relevant document's rank"),
        ({"method": "bias"}, "is not known"),
        ({"gamma": 0}, "gamma=0"),
        ({"items": 5, "replacement": False}, "sampled=10 of 4 other items"),
        ({"prior": [1, 2]}, "prior is no distribution"),
        ({"sampled": 500, "ranks": [1], "method": "cls", "items": 1000}, "takes too long"),
        ({"items": 1}, "leaves nothing to sample from"),
        ({"sampled": 0}, "sampled=0"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], said: str) -> None:
    """Ranks that cannot be, and methods nobody knows."""
    usual: dict[str, Any] = {"ranks": [1, 2], "measures": "R@10", "items": 100, "sampled": 10}
    with pytest.raises(rankstone.RankstoneError) as caught:
        rankstone.correct_sampled(**{**usual, **arguments})
    assert said in str(caught.value)
