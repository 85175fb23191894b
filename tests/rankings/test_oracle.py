"""The engine against the slow derivation, on thousands of random pairs of rankings."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.night import part, turn_of
from tests.rankings import oracle
from tests.rankings.worlds import random_ranking, scores

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.rankings.oracle import Ranking

CASES = 3000
POOL = [f"d{i}" for i in range(9)]

Pairs = list[tuple["Ranking", "Ranking"]]


@functools.cache
def pairs(longest: int) -> Pairs:
    """Return random pairs of rankings, from untied to nearly all tied, of common and foreign documents."""
    rng = np.random.default_rng(2026)
    rows = []
    for _ in range(CASES):
        pool = POOL[: rng.integers(2, len(POOL) + 1)]
        other = pool if rng.random() < 0.7 else [*pool[::2], "e1", "e2", "e3"]
        tied = rng.choice([0.0, 0.3, 0.6], 2)
        rows.append(
            (
                random_ranking(rng, pool, tied[0], longest),
                random_ranking(rng, other, tied[1], longest),
            )
        )
    return rows


def engine(text: str, result: Pairs) -> list[float | None]:
    """Return one measure's value of every pair, all of them compared at once."""
    first = {f"q{index}": scores(x) for index, (x, _) in enumerate(result)}
    second = {f"q{index}": scores(y) for index, (_, y) in enumerate(result)}
    return rankstone.diff(first, second, text).per_query["value"].to_list()


def agree(
    text: str, result: Pairs, slow: Callable[[Ranking, Ranking], float | None]
) -> None:
    same(engine(text, result), [slow(x, y) for x, y in result])


def same(values: list[float | None], expected: list[float | None]) -> None:
    """Both have values for the same pairs, not for a few only, and the same values."""
    both = [
        (e, f)
        for e, f in zip(expected, values, strict=True)
        if e is not None and f is not None
    ]

    assert [value is None for value in expected] == [value is None for value in values]
    assert len(both) > len(expected) / 10
    np.testing.assert_allclose(
        [f for _, f in both], [e for e, _ in both], rtol=0, atol=1e-12
    )


PLAIN: dict[str, Callable[[Ranking, Ranking], float | None]] = {
    "tau_a": oracle.tau_a,
    "tau_b": oracle.tau_b,
    "rho": oracle.rho,
    "tau_ap(ties=b)": oracle.tau_ap_b,
    "tau_ap(ties=broken)": lambda x, y: oracle.tau_ap_a(
        oracle.broken(x), oracle.broken(y)
    ),
    "footrule": oracle.footrule,
    "Fagin_F": oracle.fagin_f,
    "Fagin_F(location=3.5)": lambda x, y: oracle.fagin_f(x, y, 3.5),
    "Fagin_K": lambda x, y: oracle.fagin_k(x, y, 0.5),
    "Fagin_K(p=0)": lambda x, y: oracle.fagin_k(x, y, 0),
    "Overlap": oracle.overlap,
    "Jaccard": oracle.jaccard,
    **{
        f"wtau(weights={weights}, ranks={ranks})": functools.partial(
            oracle.wtau, weights=weights, ranks=ranks
        )
        for weights in ("additive", "multiplicative")
        for ranks in ("mean", "first", "second")
    },
}


@pytest.mark.parametrize("text", list(PLAIN))
def test_correlations_distances_and_overlaps(text: str) -> None:
    """Every pair of documents counted by hand gives the engine's number."""
    agree(text, pairs(9), PLAIN[text])


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize(
    "text", ["tau_b", "Fagin_K", "Fagin_F", "Jaccard", "tau_ap(ties=b)"]
)
def test_cutoffs_cut_both_lists_first(text: str, k: int) -> None:
    """At a cutoff a measure sees the first k documents, tied ones by id, and nothing else."""
    result = pairs(9)
    same(
        engine(f"{text}@{k}", result),
        [PLAIN[text](oracle.cut(x, k), oracle.cut(y, k)) for x, y in result],
    )


@pytest.mark.parametrize("reference", ["first", "second", "both"])
def test_ap_correlation_is_the_mean_over_all_orders(reference: str) -> None:
    """tau_ap(ties=a) is Yilmaz et al.'s coefficient, averaged over every order of tied documents."""
    kept = [
        p
        for p in pairs(6)
        if oracle.count_orders(p[0]) * oracle.count_orders(p[1]) <= 150
    ]

    def slow(x: Ranking, y: Ranking) -> float | None:
        ways = {
            "first": [oracle.tau_ap_a(x, y)],
            "second": [oracle.tau_ap_a(y, x)],
            "both": [oracle.tau_ap_a(x, y), oracle.tau_ap_a(y, x)],
        }[reference]
        values = [value for value in ways if value is not None]
        return sum(values) / len(values) if values else None

    assert len(kept) > CASES / 2
    agree(f"tau_ap(reference={reference})", kept, slow)


@pytest.mark.parametrize("p", [0.5, 0.9])
@pytest.mark.parametrize("score", ["ext", "min", "max"])
@pytest.mark.parametrize("ties", ["a", "b", "w"])
def test_rank_biased_overlap_document_by_document(
    ties: str, score: str, p: float
) -> None:
    """Adding up what every document contributes at every depth gives the engine's number."""

    def slow(x: Ranking, y: Ranking) -> float:
        return oracle.tied_rbo(x, y, p, ties, score)

    text = f"RBO(p={p}, ties={ties}, score={score})"
    # in turn, so that the variants together meet all pairs of lists, and at night each does
    agree(text, part(pairs(9)[: CASES // 2], 4, turn_of(text)), slow)


@pytest.mark.parametrize("score", ["ext", "min", "max"])
def test_rank_biased_overlap_of_untied_lists(score: str) -> None:
    """Without ties, sets counted depth by depth far below the lists' ends give the engine's number."""
    rows = [(oracle.broken(x), oracle.broken(y)) for x, y in pairs(9)[: CASES // 2]]

    def slow(x: Ranking, y: Ranking) -> float:
        return oracle.rbo(oracle.documents(x), oracle.documents(y), 0.8, score)

    agree(f"RBO(p=0.8, score={score})", rows, slow)


@pytest.mark.parametrize("k", [1, 4, 60])
def test_rank_biased_overlap_that_stops(k: int) -> None:
    """Down to rank k, also below the lists' ends, over the weight down to there (Clarke and others 2021)."""
    rows = [(oracle.broken(x), oracle.broken(y)) for x, y in pairs(9)[: CASES // 2]]

    def slow(x: Ranking, y: Ranking) -> float:
        first, other = oracle.documents(x), oracle.documents(y)
        shared = [
            len(set(first[:depth]) & set(other[:depth])) / depth
            for depth in range(1, k + 1)
        ]
        weight = [0.8**index for index in range(k)]
        return sum(map(operator.mul, weight, shared)) / sum(weight)

    agree(f"RBO(p=0.8, score=normalized)@{k}", rows, slow)


@pytest.mark.parametrize("score", ["ext", "min", "max"])
def test_rank_biased_overlap_is_the_mean_over_all_orders(score: str) -> None:
    """RBO(ties=a) of lists of one length, and its lower bound for any, is the mean over tie orders."""
    few = [
        p
        for p in pairs(5)
        if oracle.count_orders(p[0]) * oracle.count_orders(p[1]) <= 60
    ]
    same_length = [
        p for p in few if len(oracle.documents(p[0])) == len(oracle.documents(p[1]))
    ]
    part = (few if score == "min" else same_length)[:300]

    def slow(x: Ranking, y: Ranking) -> float:
        return oracle.mean_over_orders(x, y, lambda a, b: oracle.rbo(a, b, 0.6, score))

    assert len(part) > 200
    agree(f"RBO(p=0.6, score={score})", part, slow)


@pytest.mark.parametrize("score", ["ext", "max"])
def test_rank_biased_overlap_is_no_mean_where_ties_outlast_the_shorter_list(
    score: str,
) -> None:
    """Ties below the end of the shorter list are where Corsi and Urbano's definition leaves the mean."""
    x, y = [["a"]], [["a", "b", "c"]]
    mean = oracle.mean_over_orders(x, y, lambda a, b: oracle.rbo(a, b, 0.6, score))
    row = engine(f"RBO(p=0.6, score={score})", [(x, y)])[0]

    assert row == pytest.approx(oracle.tied_rbo(x, y, 0.6, "a", score), abs=1e-12)
    assert row != pytest.approx(mean, abs=1e-3)


@pytest.mark.parametrize("p", [0, 0.5, 1])
def test_fagins_four_cases(p: float) -> None:
    """Without ties, K^(p) is what Fagin, Kumar and Sivakumar's four cases of pairs add up to."""
    rows = [(oracle.broken(x), oracle.broken(y)) for x, y in pairs(9)]

    def slow(x: Ranking, y: Ranking) -> float:
        return oracle.four_cases(oracle.documents(x), oracle.documents(y), p)

    agree(f"Fagin_K(p={p}, norm=none)", rows, slow)
