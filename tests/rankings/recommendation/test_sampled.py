"""Metrics of sampled rankings: the chances behind them, the estimators, and what they promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone.rankings.recommendation import sampled_ranks as sampling

if TYPE_CHECKING:
    from rankstone._basics import Floats

MEASURES = ("R@10", "P@3", "nDCG@5", "AP", "RR", "AUC(negatives=candidates)")


def chance(n: int, m: int, rank: int, above: int, *, replacement: bool) -> float:
    """Return the chance that `above` of m sampled items beat the relevant one, by counting."""
    if replacement:
        share = (rank - 1) / (n - 1)
        return math.comb(m, above) * share**above * (1 - share) ** (m - above)
    return (
        math.comb(rank - 1, above)
        * math.comb(n - rank, m - above)
        / math.comb(n - 1, m)
    )


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
    chances = sampling.chances(np.arange(1, n + 1), n, m, replacement=replacement)
    for rank in range(1, n + 1):
        wanted = [
            chance(n, m, rank, above, replacement=replacement) for above in range(m + 1)
        ]
        assert chances[rank - 1] == pytest.approx(wanted, abs=1e-12)


@given(n=st.integers(3, 40), m=st.integers(1, 20), data=st.data())
def test_the_naive_value_to_expect(n: int, m: int, data: st.DataObject) -> None:
    """It is the sum over sampled ranks; that of AUC is AUC; with one sampled item all measures are AUC."""
    ranks = data.draw(st.lists(st.integers(1, n), min_size=1, max_size=6))
    expectation = rankstone.rankings.expected_sampled(
        ranks, list(MEASURES), items=n, sampled=m
    )
    for text in MEASURES:
        wanted = [
            sum(
                chance(n, m, r, above, replacement=True) * worth(text, above + 1, m + 1)
                for above in range(m + 1)
            )
            for r in ranks
        ]
        assert expectation[text] == pytest.approx(sum(wanted) / len(wanted))
    exact = sum(worth("AUC(negatives=candidates)", r, n) for r in ranks) / len(ranks)
    assert expectation["AUC(negatives=candidates)"] == pytest.approx(exact)
    estimate = rankstone.rankings.expected_sampled(
        ranks, "R@1 AUC(negatives=candidates)", items=n, sampled=1
    )
    assert estimate["R@1"] == pytest.approx(exact)


def objective(estimate: Floats, text: str, n: int, m: int, gamma: float) -> float:
    """Return squared bias plus gamma times variance, over equally likely ranks, by loops."""
    total = 0.0
    for rank in range(1, n + 1):
        chances = [
            chance(n, m, rank, above, replacement=True) for above in range(m + 1)
        ]
        mean = sum(c * e for c, e in zip(chances, estimate, strict=True))
        square = sum(c * e * e for c, e in zip(chances, estimate, strict=True))
        total += ((mean - worth(text, rank, n)) ** 2 + gamma * (square - mean**2)) / n
    return total


@pytest.mark.parametrize("text", MEASURES)
@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_bv_is_the_best_balance(text: str, gamma: float) -> None:
    """No step away from the estimate lowers squared bias + γ · variance: it is that quadratic's minimum."""
    n, m = 30, 6
    estimate = rankstone.rankings.correct_sampled(
        [1], text, items=n, sampled=m, gamma=gamma
    ).estimates[text]
    best = objective(estimate, text, n, m, gamma)
    rng = np.random.default_rng(3)
    for _ in range(40):
        step = rng.standard_normal(m + 1) * 10.0 ** rng.integers(-4, 1)
        assert objective(estimate + step, text, n, m, gamma) >= best - 1e-12


@pytest.mark.parametrize("text", MEASURES)
def test_cls_keeps_its_promise(text: str) -> None:
    """The estimate never rises nor falls below 0, and no other such estimate has less squared bias."""
    n, m = 25, 5
    estimate = rankstone.rankings.correct_sampled(
        [1], text, items=n, sampled=m, method="cls"
    ).estimates[text]
    best = objective(estimate, text, n, m, 0.0)

    assert (np.diff(estimate) <= 1e-12).all()
    assert estimate.min() >= -1e-12
    rng = np.random.default_rng(4)
    for _ in range(300):
        other = np.sort(
            np.maximum(
                estimate + rng.standard_normal(m + 1) * 10.0 ** rng.integers(-4, 1), 0
            )
        )[::-1]
        assert objective(other, text, n, m, 0.0) >= best - 1e-12


def test_the_second_implementation() -> None:
    """BV and least squares are what the published formulas give, inverted and solved by other means."""
    optimize = pytest.importorskip(
        "scipy.optimize", reason="SciPy solves the same problem its own way"
    )
    n, m = 200, 20
    a = (
        np.array(
            [
                [chance(n, m, r, j, replacement=True) for j in range(m + 1)]
                for r in range(1, n + 1)
            ]
        )
        / n**0.5
    )
    for text in MEASURES:
        b = np.array([worth(text, r, n) for r in range(1, n + 1)]) / n**0.5
        c = np.diag((a / n**0.5).sum(axis=0))
        wanted = np.linalg.inv(0.9 * a.T @ a + 0.1 * c) @ a.T @ b
        estimate = rankstone.rankings.correct_sampled(
            [1], text, items=n, sampled=m
        ).estimates[text]
        assert estimate == pytest.approx(wanted, abs=1e-10)
        steps, _ = optimize.nnls(np.cumsum(a, axis=1), b)
        cls = rankstone.rankings.correct_sampled(
            [1], text, items=n, sampled=m, method="cls"
        ).estimates[text]
        theirs = np.cumsum(steps[::-1])[::-1]
        assert (
            np.linalg.norm(a @ cls - b)
            <= np.linalg.norm(a @ theirs - b) * (1 + 1e-12) + 1e-13
        )


def test_corrections_come_nearer() -> None:
    """On simulated users, every correction is nearer to the exact value than the naive one."""
    rng = np.random.default_rng(5)
    n, m, users = 2_000, 100, 20_000
    exact = np.minimum(n, 1 + (rng.gamma(0.4, 300, users)).astype(int))
    drawn = 1 + rng.binomial(m, (exact - 1) / (n - 1))
    truth = float((exact <= 10).mean())
    for method in ("bv", "cls", "rank"):
        corrected = rankstone.rankings.correct_sampled(
            drawn, "R@10", items=n, sampled=m, method=method
        )
        naive = corrected.values["naive"][0]
        assert abs(corrected.to_dict()["R@10"] - truth) < abs(naive - truth) / 2, method
        assert "value is an estimate" in corrected.warning
        assert corrected.per_user("R@10").shape == (users,)
    assert naive == pytest.approx((drawn <= 10).mean())


# -- bounds --------------------------------------------------------------------------------------------------
def zipf(items: int, exponent: float) -> Floats:
    """Return the chances of ranks 1 … items, in proportion to rank^-exponent."""
    weight = np.arange(1, items + 1).astype(np.float64) ** -exponent
    chances: Floats = weight / weight.sum()
    return chances


@pytest.mark.parametrize("items", [300, 3_000, 60_000])
def test_bounds_hold_where_ranks_follow_zipf(items: int) -> None:
    """With 99 sampled of 300 to 60,000 items the truth lies within; of thousands, guesses miss it."""
    rng = np.random.default_rng(items)
    held, missed, worlds = 0, 0, [0.5, 0.8, 1.0, 1.2, 1.5] * 4
    for exponent in worlds:
        chance = zipf(items, exponent)
        rank = rng.choice(items, 400, p=chance) + 1
        drawn = 1 + rng.hypergeometric(rank - 1, items - rank, 99)
        options: dict[str, Any] = {
            "items": items,
            "sampled": 99,
            "replacement": False,
            "method": "rank",
        }
        corrected = rankstone.rankings.correct_sampled(drawn, "R@10", **options)
        lower, upper = corrected.values.select("lower", "upper").row(0)
        truth = float(chance[:10].sum())
        held += lower <= truth <= upper
        error = corrected.per_user("R@10").std(ddof=1) / math.sqrt(400)
        missed += abs(corrected.to_dict()["R@10"] - truth) > 2 * error
    assert held / len(worlds) >= 0.95
    assert items == 300 or missed / len(worlds) > 0.5


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_one_sampled_item_tells_the_mean_rank_only(share: float) -> None:
    """With m = 1 all that is known is the mean rank: at most all stand at 1 and n, at least none at 1.

    If the sampled item stands above a share x of all, ranks 1 (1 − x of all) and n (x) agree with it.
    """
    n, many = 50, 400_000
    drawn = np.repeat([1, 2], [round(many * (1 - share)), round(many * share)])
    corrected = rankstone.rankings.correct_sampled(
        drawn, "R@1 AUC(negatives=candidates)", items=n, sampled=1
    )
    (low, high), (least, most) = corrected.values.select("lower", "upper").rows()

    assert low == pytest.approx(0, abs=1e-6)
    assert high == pytest.approx(1 - share, abs=0.003)
    assert (least, most) == pytest.approx((1 - share, 1 - share), abs=0.003)


def test_every_item_sampled_leaves_sampling_of_users_only() -> None:
    """Among all items ranks are known: the bounds are an exact interval of the share of users."""
    drawn = np.repeat([1, 5], [30, 70])
    lower, upper = (
        rankstone.rankings.correct_sampled(
            drawn, "R@1", items=5, sampled=4, replacement=False
        )
        .values.select("lower", "upper")
        .row(0)
    )
    level = 0.05 / 4 / 2  # four shares are bounded at once, from two sides

    def tail(p: float, hits: range) -> float:
        return math.fsum(math.comb(100, k) * p**k * (1 - p) ** (100 - k) for k in hits)

    assert tail(lower, range(30, 101)) == pytest.approx(level, rel=1e-4)
    assert tail(upper, range(31)) == pytest.approx(level, rel=1e-4)


def test_bounds_widen_where_users_have_several_items() -> None:
    """Ten ranks of a user that are all the same tell no more than one: the bounds are those of one."""
    rng = np.random.default_rng(8)
    drawn = 1 + rng.binomial(20, rng.random(80))
    options: dict[str, Any] = {"measures": "R@30", "items": 60, "sampled": 20}
    values = rankstone.rankings.correct_sampled(
        drawn, users=np.arange(80), **options
    ).values
    ten = rankstone.rankings.correct_sampled(
        np.repeat(drawn, 10), users=np.repeat(np.arange(80), 10), **options
    ).values
    apart = rankstone.rankings.correct_sampled(np.repeat(drawn, 10), **options).values

    assert ten["lower"][0] < values["lower"][0] < apart["lower"][0]
    assert apart["upper"][0] < values["upper"][0] < ten["upper"][0]
    assert ten["upper"][0] - ten["lower"][0] < 1.2 * (
        values["upper"][0] - values["lower"][0]
    )


def test_samples_that_no_ranking_gives() -> None:
    """Half the users beat ten of twenty, and none beats nine or eleven: no uniform sample looks like that."""
    corrected = rankstone.rankings.correct_sampled(
        [11] * 5_000, "R@10", items=1_000, sampled=20
    )

    assert corrected.values.select("lower", "upper").row(0) == (None, None)
    assert "were items drawn uniformly?" in corrected.warning


def test_a_guess_outside_its_bounds_is_reported() -> None:
    """Naive values are within a model's bounds only by chance."""
    drawn = 1 + np.random.default_rng(2).binomial(20, 0.1, 3_000)
    corrected = rankstone.rankings.correct_sampled(
        drawn, "R@10", items=2_000, sampled=20, method="naive"
    )

    assert corrected.values["value"][0] > corrected.values["upper"][0]
    assert corrected.warning.endswith(
        "Do not trust an estimate outside its bounds: R@10."
    )


def test_the_rank_estimator() -> None:
    """M at 1 + ⌊(n − 1)(r̃ − 1)/m⌋."""
    corrected = rankstone.rankings.correct_sampled(
        [1, 2, 3], "RR", items=101, sampled=10, method="rank"
    )

    assert corrected.per_user("RR").tolist() == [1 / 1, 1 / 11, 1 / 21]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ranks": [0]}, "0 is not a sampled rank"),
        ({"ranks": [12]}, "12 is not a sampled rank"),
        ({"ranks": [1.5]}, "1.5 is not a sampled rank"),
        ({"ranks": []}, "there are no ranks"),
        ({"measures": "Coverage"}, "is not a measure of one relevant document's rank"),
        ({"method": "bias"}, "is not known"),
        ({"gamma": 0}, "gamma=0"),
        ({"items": 5, "replacement": False}, "sampled=10 of 4 other items"),
        ({"prior": [1, 2]}, "prior is not a distribution"),
        (
            {"sampled": 500, "ranks": [1], "method": "cls", "items": 1000},
            "takes too long",
        ),
        ({"items": 1}, "leaves nothing to sample from"),
        ({"sampled": 0}, "sampled=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"users": [1]}, "1 user for 2 ranks"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Ranks that cannot be, and unknown methods."""
    usual: dict[str, Any] = {
        "ranks": [1, 2],
        "measures": "R@10",
        "items": 100,
        "sampled": 10,
    }
    with pytest.raises(rankstone.RankstoneError) as caught:
        rankstone.rankings.correct_sampled(**{**usual, **arguments})
    assert message in str(caught.value)
