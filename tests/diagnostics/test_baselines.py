"""What chance reaches, by enumeration; one answer anywhere; the depth that reaches an MRR."""

from __future__ import annotations

import itertools
import math

import pytest
from tests.oracle.worlds import close, values
from tests.rows import each

import rankstone
from rankstone.diagnostics import expected_by_chance as baselines

MEASURES = (
    "P@2", "R@3", "Success@2", "F@2", "AP", "AP@3", "RR", "RR@2", "DCG@3", "nDCG@3", "nDCG", "Rprec",
    "AUC(negatives=judged)", "AUC(negatives=candidates)", "pAUC(negatives=judged)@2", "RC", "RC(ties=drop)",
    "RC(weight=hyperbolic)", "Bpref", "Fallout(negatives=judged)@2", "AvgRelPosition", "LastRel", "WSS",
)  # fmt: skip


def by_enumeration(
    texts: tuple[str, ...], grades: list[float]
) -> dict[str, float | None]:
    """Return the mean over all orders of a list, each written down as a query of its own."""
    orders = sorted(set(itertools.permutations(grades)))
    qrels = {f"q{index}": dict(enumerate(order)) for index, order in enumerate(orders)}
    runs = {query: list(judged) for query, judged in qrels.items()}
    scored = rankstone.evaluate(qrels, runs, list(texts))
    means: dict[str, float | None] = {}
    for text in texts:
        items = list(values(scored, text).values())
        means[text] = (
            None if None in items else math.fsum(v or 0.0 for v in items) / len(items)
        )
    return means


@pytest.mark.parametrize("n", range(1, 8))
def test_chance_is_the_mean_over_all_orders(n: int) -> None:
    """For every number of relevant documents among up to seven."""
    for relevant in range(n + 1):
        expected = by_enumeration(MEASURES, [1.0] * relevant + [0.0] * (n - relevant))
        for text, value in expected.items():
            result = baselines.at_random(text, n, relevant)
            assert (value is None) == (result is None), (text, n, relevant)
            assert value is None or close(value, result, 1e-12), (text, n, relevant)


@pytest.mark.parametrize(
    "grades",
    [[3.0, 1.0, 0.0], [2.0, 2.0, 1.0, 0.0, 0.0], [3.0, 2.0, 1.0, 1.0, 0.0, 0.0]],
)
def test_chance_with_grades(grades: list[float]) -> None:
    """Graded measures have their expectation from the grades."""
    texts = (
        "DCG@2",
        "nDCG(gain=exp2)@3",
        "RC",
        "RC(ties=drop)",
        "CG@2",
        "AvgRelPosition",
    )
    for text, value in by_enumeration(texts, grades).items():
        assert close(
            value, baselines.at_random(text, len(grades), grades=grades), 1e-12
        ), text


@pytest.mark.parametrize(
    ("n", "total", "k"),
    [(10, 3, 4), (50, 7, 10), (1000, 5, 20), (7, 7, 3), (30, 1, 30)],
)
def test_chance_has_its_closed_forms(n: int, total: int, k: int) -> None:
    """P, R, Success, RR, AP, DCG, AUC and RC in random order, as the literature writes them."""
    first = sum(
        math.comb(n - r, total - 1) / math.comb(n, total) / r
        for r in range(1, min(k, n - total + 1) + 1)
    )
    h = math.fsum(1 / i for i in range(1, n + 1))
    expected = {
        f"P@{k}": total / n,
        f"R@{k}": k / n,
        f"Success@{k}": 1 - math.comb(n - total, k) / math.comb(n, k),
        f"RR@{k}": first,
        "AP": ((total - 1) / (n - 1) * (n - h) + h) / n,
        f"AP@{k}": sum(
            (total / n) * (1 + (i - 1) * (total - 1) / (n - 1)) / i
            for i in range(1, k + 1)
        )
        / total,
        f"DCG@{k}": (total / n) * sum(1 / math.log2(i + 1) for i in range(1, k + 1)),
        "RC": 1 - total * (n - total) / (n * (n - 1)),
    }
    if total < n:
        expected["AUC(negatives=judged)"] = 1 / 2
    for text, value in expected.items():
        assert close(value, baselines.at_random(text, n, total), 1e-12), text


def test_chance_is_refused_where_there_is_no_closed_form() -> None:
    """A measure that depends on the order in a way that has no formula, and counts that do not fit."""
    with pytest.raises(rankstone.UsageError, match="no closed form"):
        baselines.at_random("infAP", 10, 2)
    with pytest.raises(rankstone.UsageError, match="do not fit a list of 3"):
        baselines.at_random("P@1", 3, 4)
    with pytest.raises(rankstone.UsageError, match="one of the two"):
        baselines.at_random("P@1", 3)
    with pytest.raises(rankstone.UsageError, match="not a measure of a ranking"):
        baselines.at_random("RBO(p=0.9)", 3, 1)


@pytest.mark.parametrize(
    ("k", "exact"),
    [(1, 1), (2, 3 / 4), (3, 11 / 18), (5, 137 / 300), (10, 7381 / 25200)],
)
def test_one_answer_anywhere_in_the_first_k(k: int, exact: float) -> None:
    """E[RR] = H_k / k, and its variance, by enumeration."""
    ranks = range(1, k + 1)
    assert close(exact, baselines.uniform_rr(k), 1e-12)
    assert close(exact / 2, baselines.uniform_rr(k, 2 * k), 1e-12)
    variance = sum((1 / r - exact) ** 2 for r in ranks) / k
    assert close(variance, baselines.uniform_rr_variance(k), 1e-12)


@pytest.mark.parametrize(
    ("k", "stated"), [(20, 0.17989), (30, 0.13317), (50, 0.08998), (100, 0.05187)]
)
def test_one_answer_anywhere_further_down(k: int, stated: float) -> None:
    """To five digits."""
    assert round(baselines.uniform_rr(k), 5) == stated


@each(
    ("level", "k"),
    [
        (0.75, 2),
        (0.5, 4),
        (0.4, 6),
        (0.3, 9),
        (0.25, 12),
        (0.2, 17),
        (0.1, 43),
        (0.05, 104),
        (0.01, 715),
        (1, 1),
    ],
)
def test_the_deepest_k_that_reaches_a_level(level: float, k: int) -> None:
    """The last k with H_k / k ≥ level, and the next one is below."""
    assert baselines.uniform_depth(level) == k
    assert baselines.uniform_rr(k) >= level > baselines.uniform_rr(k + 1)


@each("k", [1, 2, 17, 999, 1000, 1001, 54_321, 10**9])
def test_depth_and_level_are_inverse(k: int) -> None:
    """The depth of H_k / k is k, also where the sum comes from its expansion."""
    assert baselines.uniform_depth(baselines.uniform_rr(k)) == k


def test_the_expansion_is_the_sum() -> None:
    """Beyond a thousand terms the expansion has the digits of the sum."""
    for k in (1001, 5000, 100_000):
        assert close(
            math.fsum(1 / i for i in range(1, k + 1)), baselines.harmonic(k), 1e-14
        )


def test_the_cutoff_that_reaches_an_mrr() -> None:
    """First relevant at ranks 3, 2 and 1: MRR@1, 2, 3 = 1/3, 1/2, 11/18."""
    qrels = {f"q{rank}": {"it": 1} for rank in (3, 2, 1)}
    run = {f"q{rank}": [*(f"d{i}" for i in range(1, rank)), "it"] for rank in (3, 2, 1)}
    scored = rankstone.evaluate(qrels, run, ["RR", "RR@1", "RR@2", "RR@3"])
    ranks = [v or 0.0 for v in values(scored, "RR").values()]
    for k in (1, 2, 3):
        reached = scored.to_dict()["run"][f"RR@{k}"]
        assert reached is not None
        assert baselines.mrr_depth(ranks, reached) == k
    assert [baselines.mrr_depth(ranks, level) for level in (0.5, 0.6, 0.7)] == [
        2,
        3,
        None,
    ]
    assert baselines.mrr_depth([0.0, 0.0], 0.1) is None


def test_what_is_no_reciprocal_rank() -> None:
    """Other measures' values, and levels beyond reach, are refused."""
    with pytest.raises(rankstone.InputError, match="not a reciprocal rank"):
        baselines.mrr_depth([0.4], 0.5)
    with pytest.raises(rankstone.InputError, match="not an MRR"):
        baselines.uniform_depth(0.0)
    with pytest.raises(rankstone.UsageError, match="does not fit"):
        baselines.uniform_rr(5, 4)


def test_skill() -> None:
    """How much of the way from chance to the best was made; for positions the best is low."""
    assert baselines.skill(0.75, chance=0.5) == 1 / 2
    assert baselines.skill(3.0, chance=5.0, best=1.0) == 1 / 2
    with pytest.raises(rankstone.InputError, match="skill is not defined"):
        baselines.skill(0.5, chance=1.0)
