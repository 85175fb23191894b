"""What values mean, worked: chance, uniform answers, targets, hit rates, users' AUC, thresholds, imputation.

Expected values are exact fractions, so nothing is rounded before the engine's number is held against them.
More worked numbers on these matters: AP over thresholds, graded AP and imputed ratings in examples.yaml,
clicks as gains in test_clicks.py, retention in retention.yaml, and what articles state of all of it in
classic.yaml (W4, W14, W15, W28, W36, W37, W39).
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb, log2
from typing import Any, Final

import pytest

import rankstone
from rankstone.diagnostics.expected_by_chance import (
    at_random,
    harmonic,
    mrr_depth,
    skill,
    uniform_depth,
    uniform_rr,
    uniform_rr_variance,
)


def exactly(value: Fraction | float | None) -> Any:
    """Return what equals a number to the last digits that floating point has."""
    return pytest.approx(float(value or 0), rel=4e-15, abs=1e-15)


def mean(text: str, qrels: Any, run: Any, **options: Any) -> float | None:
    return rankstone.evaluate(qrels, {"run": run}, [text], **options).to_dict()["run"][
        text
    ]


# -- one answer, uniform in 1 … k: source 001; E = H_k / k, Var = H_k^(2) / k − E² ------------------------
UNIFORM: Final = {
    1: (Fraction(1), "1"),
    2: (Fraction(3, 4), ".75"),
    3: (Fraction(11, 18), ".6111"),
    5: (Fraction(137, 300), ".45667"),
    10: (Fraction(7381, 25200), ".29290"),
    20: (sum(Fraction(1, i) for i in range(1, 21)) / 20, ".17989"),
    30: (sum(Fraction(1, i) for i in range(1, 31)) / 30, ".13317"),
    50: (sum(Fraction(1, i) for i in range(1, 51)) / 50, ".08998"),
    100: (sum(Fraction(1, i) for i in range(1, 101)) / 100, ".05187"),
}


@pytest.mark.parametrize("k", UNIFORM)
def test_a_uniform_answer(k: int) -> None:
    """H_k / k, as printed, as the measure itself says of a list in which all tie, and its variance."""
    value, stated = UNIFORM[k]
    squares = sum(Fraction(1, i**2) for i in range(1, k + 1)) / k

    assert uniform_rr(k) == exactly(value)
    assert at_random("RR", k, 1) == exactly(value)
    assert harmonic(k) == exactly(value * k)
    assert round(float(value), len(stated) - 1) == float(stated)
    assert uniform_rr_variance(k) == pytest.approx(float(squares - value**2), abs=1e-15)
    assert uniform_rr(k, 3 * k) == exactly(value / 3)
    assert at_random(f"RR@{k}", 3 * k, 1) == exactly(value / 3)


#: source 001, question 3 turned round: the largest k with H_k / k ≥ τ, about −W₋₁(−τ e^−γ) / τ
DEPTHS: Final = {
    0.75: 2,
    0.5: 4,
    0.4: 6,
    0.3: 9,
    0.25: 12,
    0.2: 17,
    0.1: 43,
    0.05: 104,
    0.01: 715,
}


@pytest.mark.parametrize("level", DEPTHS)
def test_the_depth_of_a_uniform_answer(level: float) -> None:
    """By the definition, in exact fractions, and near Lambert's W."""
    from scipy.special import lambertw

    k, sums = 1, Fraction(1)
    while (sums + Fraction(1, k + 1)) / (k + 1) >= Fraction(str(level)):
        k, sums = k + 1, sums + Fraction(1, k + 1)
    about = -lambertw(-level * math.exp(-0.5772156649015329), -1).real / level

    assert uniform_depth(level) == DEPTHS[level] == k
    assert abs(about - k) < 2


# -- random order: Bestgen 2015; McSherry and Najork, ECIR 2008 -------------------------------------------
def chance(n: int, relevant: int, k: int) -> dict[str, Fraction]:
    """Return the closed forms for R relevant documents among n, as the literature writes them."""
    h, share = sum(Fraction(1, i) for i in range(1, n + 1)), Fraction(relevant, n)
    pair = Fraction(relevant - 1, n - 1) if n > 1 else Fraction(0)
    top = range(1, k + 1)
    hits = sum((share * (1 + (i - 1) * pair) / i for i in top), Fraction(0))
    return {
        f"P@{k}": share,
        f"R@{k}": Fraction(k, n),
        f"Success@{k}": 1 - Fraction(comb(n - relevant, k), comb(n, k)),
        "AP": (pair * (n - h) + h) / n,
        f"AP@{k}": hits / relevant,
        f"AP(denom=min_R_k)@{k}": hits / min(relevant, k),
        f"RR@{k}": sum(
            (
                Fraction(comb(n - r, relevant - 1), comb(n, relevant) * r)
                for r in range(1, min(k, n - relevant + 1) + 1)
            ),
            Fraction(0),
        ),
        "RC": 1 - Fraction(relevant * (n - relevant), n * (n - 1))
        if n > 1
        else Fraction(1),
        "AUC(negatives=judged)": Fraction(1, 2),
    }


@pytest.mark.parametrize(
    ("n", "relevant", "k"), [(7, 3, 4), (5, 1, 2), (20, 6, 10), (100, 8, 20), (2, 1, 1)]
)
def test_random_order(n: int, relevant: int, k: int) -> None:
    """Every closed form, as an exact fraction."""
    for text, value in chance(n, relevant, k).items():
        assert at_random(text, n, relevant) == pytest.approx(float(value), rel=1e-13), (
            text
        )
    gain = math.fsum((3 + 1) / n / log2(i + 1) for i in range(1, k + 1))
    assert at_random(f"DCG@{k}", n, grades=[3, 1][: min(2, n)]) == pytest.approx(
        gain, rel=1e-13
    )


def test_skill() -> None:
    """(value − chance) / (1 − chance): MRR 0.611 of three queries against one answer anywhere in ten."""
    value, by_chance = Fraction(11, 18), Fraction(7381, 25200)
    assert skill(11 / 18, uniform_rr(10)) == exactly(
        (value - by_chance) / (1 - by_chance)
    )


# -- the smallest k: source 001, first hits at 3, 2, 1 ----------------------------------------------------
FIRST: Final = {"q1": 3, "q2": 2, "q3": 1}
REACHED: Final = {0.5: 2, 0.6: 3, 0.7: None}


def test_mrr_over_k_and_the_k_it_takes() -> None:
    """MRR@1, 2, 3 = 1/3, 1/2, 11/18; k*(.5) = 2, k*(.6) = 3, k*(.7) = ∞, by both ways to ask."""
    qrels = {query: {"it": 1} for query in FIRST}
    run = {
        query: [*(f"x{i}" for i in range(1, rank)), "it"]
        for query, rank in FIRST.items()
    }
    curve = rankstone.curve(qrels, run, "RR@1..3", resamples=20)

    assert curve.mean()["mean"].to_list() == [
        exactly(v) for v in (Fraction(1, 3), Fraction(1, 2), Fraction(11, 18))
    ]
    assert (
        dict(curve.reach({"RR": list(REACHED)}).select("target", "k").rows()) == REACHED
    )
    assert {
        level: mrr_depth([1 / rank for rank in FIRST.values()], level)
        for level in REACHED
    } == REACHED


# -- hit rates: source 004, hits 6, 5 and 4 of 10, 12 and 8 -----------------------------------------------
def shown(hits: int, relevant: int) -> tuple[dict[str, int], list[str]]:
    docs = [f"d{i}" for i in range(relevant)]
    return dict.fromkeys(docs, 1), [*docs[:hits], *(f"x{i}" for i in range(10 - hits))]


USERS: Final = {"u1": shown(6, 10), "u2": shown(5, 12), "u3": shown(4, 8)}


@pytest.mark.parametrize(
    ("text", "value", "without"),
    [
        ("R(agg=pooled)@10", Fraction(6 + 5 + 4, 10 + 12 + 8), Fraction(6 + 5, 30)),
        (
            "R@10",
            (Fraction(6, 10) + Fraction(5, 12) + Fraction(4, 8)) / 3,
            (Fraction(6, 10) + Fraction(5, 12)) / 3,
        ),
        ("Success@10", Fraction(3, 3), Fraction(2, 3)),
        ("P@10", Fraction(6 + 5 + 4, 30), Fraction(6 + 5, 30)),
    ],
)
def test_meanings_of_hit_rate(text: str, value: Fraction, without: Fraction) -> None:
    """Pooled, per user, at least one; a user without a list counts with all that was relevant."""
    qrels = {user: judged for user, (judged, _) in USERS.items()}
    run = {user: docs for user, (_, docs) in USERS.items()}

    assert mean(text, qrels, run) == exactly(value)
    assert mean(text, qrels, {user: run[user] for user in ("u1", "u2")}) == exactly(
        without
    )


def test_leave_one_out() -> None:
    """With one relevant item a user all hit rates are the same share of users (He et al., WWW 2017)."""
    qrels = {f"u{i}": {"it": 1} for i in range(4)}
    run = {f"u{i}": ["x", "y", "it"][i % 3 :] if i else ["x", "y"] for i in range(4)}
    for text in ("R(agg=pooled)@2", "R@2", "Success@2"):
        assert mean(text, qrels, run) == exactly(Fraction(2, 4)), text


# -- AUC per user: Zhu et al., KDD 2017; Zhou et al., KDD 2018 --------------------------------------------
#: AUC 3/4 over 4 impressions with 2 clicks, 4/5 over 6 with 1, and a user who clicked everything
CLICKED: Final = {"u": [1, 0, 1, 0], "v": [0, 1, 0, 0, 0, 0], "w": [1, 1]}


@pytest.mark.parametrize(
    ("weight", "value"),
    [
        ("impressions", (4 * Fraction(3, 4) + 6 * Fraction(4, 5)) / (4 + 6)),
        ("positives", (2 * Fraction(3, 4) + 1 * Fraction(4, 5)) / (2 + 1)),
        ("uniform", (Fraction(3, 4) + Fraction(4, 5)) / 2),
    ],
)
def test_auc_of_users(weight: str, value: Fraction) -> None:
    """Σ ω AUC / Σ ω; who has one class only has no weight, and is counted."""
    qrels = {
        user: {f"d{i}": v for i, v in enumerate(seen)} for user, seen in CLICKED.items()
    }
    run = {user: list(judged) for user, judged in qrels.items()}
    result = rankstone.evaluate(
        qrels, run, [rankstone.measures.GAUC(negatives="candidates", weight=weight)]
    ).mean()

    assert result["value"].item() == exactly(value)
    assert result.select("n", "n_undefined").row(0) == (2, 1)


def test_auc_of_all_users_at_once() -> None:
    """Scores are compared across users: a shift of one user's scores moves it, and no user's own AUC."""
    qrels = {"u": {"a": 1, "b": 0}, "v": {"c": 1, "d": 0}}
    near = {"u": {"a": 4.0, "b": 3.0}, "v": {"c": 2.0, "d": 1.0}}
    far = {"u": {"a": 4.0, "b": 3.5}, "v": {"c": 5.0, "d": 4.5}}
    pooled = {"one_group": True}

    assert mean("AUC(negatives=judged)", qrels, near, **pooled) == exactly(
        Fraction(2 + 1, 4)
    )
    assert mean("AUC(negatives=judged)", qrels, far, **pooled) == exactly(
        Fraction(1 + 2, 4)
    )
    assert (
        mean("GAUC(negatives=judged)", qrels, near)
        == mean("GAUC(negatives=judged)", qrels, far)
        == 1.0
    )


# -- thresholds: source 001; the list of source 003 -------------------------------------------------------
GRADES: Final = (4, 3, 2, 1, 3, 1, 2)


def test_thresholds() -> None:
    """AP at every threshold, how far it moves, and the share of 18 graded preferences that each destroys."""
    judged = {f"d{rank}": grade for rank, grade in enumerate(GRADES, start=1)}
    study = rankstone.thresholds({"q": judged}, {"q": list(judged)}, "AP")
    by_level = (Fraction(1), Fraction(158, 175), Fraction(13, 15), Fraction(1))

    assert study.values["value"].to_list() == [exactly(value) for value in by_level]
    assert study.sensitivity["spread"].item() == exactly(1 - Fraction(13, 15))
    assert study.pairs["kept"].to_list() == [0, 5 * 2, 3 * 4, 1 * 6]
    assert study.pairs["loss"].to_list() == [
        exactly(1 - Fraction(kept, 18)) for kept in (0, 10, 12, 6)
    ]


@pytest.mark.parametrize(
    ("rel", "value"),
    [
        ("4", Fraction(1)),
        ('">2"', Fraction(13, 15)),
        ('">1"', Fraction(158, 175)),
        ('">3"', Fraction(1)),
    ],
)
def test_at_least_and_more_than(rel: str, value: Fraction) -> None:
    """On whole grades, more than 2 is 3 and more: two names of one number."""
    judged = {f"d{rank}": grade for rank, grade in enumerate(GRADES, start=1)}
    assert mean(f"AP(rel={rel})", {"q": judged}, {"q": list(judged)}) == exactly(value)


def test_two_systems_change_places() -> None:
    """Kendall's tau_b between their orders at two thresholds is -1: reversal 1 − τ = 2."""
    qrels = {"q": {"good": 2, "fair": 1, "poor": 0}}
    runs = {"picky": {"q": ["good", "poor", "fair"]}, "broad": {"q": ["fair", "good"]}}
    row = (
        rankstone.thresholds(qrels, runs, "RR AP")
        .reversals.filter(measure="AP")
        .row(0, named=True)
    )
    assert (row["tau_b"], row["reversal"]) == (-1, 1 - -1)


# -- missing ratings: source 001; M1 = 5, M3 = 2, M4 = 1 judged, M1 … M5 returned, exp2 -------------------
RATED: Final = {"u": {"M1": 5, "M3": 2, "M4": 1}}
RETURNED: Final = {"u": ["M1", "M2", "M3", "M4", "M5"]}


def ndcg(grades: list[float]) -> float:
    """Return nDCG@5 with exponential gains of a list whose grades are all known; the ideal has them all."""

    def dcg(ordered: list[float]) -> float:
        return math.fsum(
            (2**grade - 1) / log2(rank + 1)
            for rank, grade in enumerate(ordered, start=1)
        )

    return dcg(grades) / dcg(sorted(grades, reverse=True))


@pytest.mark.parametrize(
    ("unjudged", "grades", "stated"),
    [
        ("nonrelevant", [5, 0, 2, 1, 0], "0.986161"),
        (0, [5, 0, 2, 1, 0], "0.986161"),
        ("query_mean", [5, 8 / 3, 2, 1, 8 / 3], "0.990872"),
        ("global_mean", [5, 8 / 3, 2, 1, 8 / 3], "0.990872"),
        ("query_median", [5, 2, 2, 1, 2], "0.997570"),
        ("condensed", [5, 2, 1], "1.000000"),
    ],
)
def test_missing_ratings(unjudged: Any, grades: list[float], stated: str) -> None:
    """The imputed grade counts in the list and in the ideal list, so that nDCG stays within 1."""
    result = mean("nDCG(gain=exp2)@5", RATED, RETURNED, unjudged=unjudged)
    assert result == pytest.approx(ndcg(grades), rel=4e-15)
    assert f"{result:.6f}" == stated


def test_ratings_of_other_users() -> None:
    """doc_mean takes what others gave the item; the mean of all where it is unrated."""
    qrels = {**RATED, "v": {"M2": 4, "M9": 3}, "w": {"M2": 1}}
    run = {**RETURNED, "v": ["M9"], "w": ["M2"]}
    every = (5 + 2 + 1 + 4 + 3 + 1) / 6
    expected = ndcg([5, (4 + 1) / 2, 2, 1, every])
    scores = rankstone.evaluate(
        qrels, run, "nDCG(gain=exp2)@5", unjudged="doc_mean"
    ).per_query
    assert scores.filter(query_id="u")["value"].item() == pytest.approx(
        expected, rel=4e-15
    )


def test_a_user_without_ratings() -> None:
    """query_mean falls back to the mean of all ratings."""
    qrels = {**RATED, "v": {"M1": -1}}
    run = {"u": ["M1"], "v": ["M2", "M3"]}
    scores = rankstone.evaluate(
        qrels, run, "DCG@2", unjudged="query_mean", extra="keep"
    ).per_query
    every = (5 + 2 + 1) / 3
    expected = every / log2(2) + every / log2(3)
    assert scores.filter(query_id="v")["value"].item() == pytest.approx(
        expected, rel=4e-15
    )
