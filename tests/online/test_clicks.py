"""Clicks as judgments: every method against its formula, and what it says of itself."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.real_data import data

import rankstone
from rankstone.online.click_judgments import clicks

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.online.click_results import Clicks

#: two documents of a query that change places
LOG: dict[str, list[Any]] = {
    "query_id": ["q"] * 6 + ["r"],
    "doc_id": ["a", "b", "b", "a", "a", "b", "a"],
    "session": [1, 1, 2, 2, 3, 3, 4],
    "position": [1, 2, 1, 2, 1, 2, 1],
    "clicked": [1, 0, 1, 1, 0, 0.5, 0],
}


def of(result: Clicks, column: str = "relevance") -> list[Any]:
    """Return a column for (q, a), (q, b), (r, a)."""
    assert result.judgments.select("query_id", "doc_id").rows() == [
        ("q", "a"),
        ("q", "b"),
        ("r", "a"),
    ]
    return result.judgments[column].to_list()


def test_click_rates() -> None:
    """Clicks over impressions, with the error of a share and Wilson's interval; a fraction is a click."""
    estimates = clicks(LOG)

    assert of(estimates) == [2 / 3, 2 / 3, 0 / 1]
    assert of(estimates, "impressions") == [3, 3, 1]
    assert of(estimates, "clicks") == [2, 2, 0]
    assert of(estimates, "standard_error") == pytest.approx(
        [math.sqrt(2 / 3 * 1 / 3 / 3)] * 2 + [0]
    )
    low, high = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert (
        estimates.judgments["low"][0],
        estimates.judgments["high"][0],
    ) == pytest.approx((low, high))
    assert estimates.audit.warnings == (
        "method=ctr counts fractions as clicks; method=satisfaction takes their mean",
    )
    assert (
        estimates.audit.unclicked,
        estimates.audit.fractions,
        estimates.audit.queries,
    ) == (1, 1, 2)


def test_ever_clicked() -> None:
    """1 where there was a click, with no error."""
    estimates = clicks(LOG, "click")

    assert of(estimates) == [1.0, 1.0, 0.0]
    assert of(estimates, "standard_error") == [None] * 3


def test_satisfaction() -> None:
    """The mean of fractions, with their own error."""
    estimates = clicks(LOG, "satisfaction")

    assert of(estimates) == [2 / 3, (0 + 1 + 0.5) / 3, 0]
    expected = math.sqrt(((0 - 0.5) ** 2 + (1 - 0.5) ** 2 + 0) / 3 / 3)
    assert estimates.judgments["standard_error"][1] == pytest.approx(expected)


def test_smoothing_is_a_prior() -> None:
    """Clicks and impressions without one are added to every pair."""
    estimates = clicks(LOG, smoothing="1,9")

    assert of(estimates) == pytest.approx(
        [(2 + 1) / (3 + 10), (2 + 1) / (3 + 10), (0 + 1) / (1 + 10)]
    )
    low, high = stats.binomtest(3, 13).proportion_ci(method="wilson")
    assert (
        estimates.judgments["low"][0],
        estimates.judgments["high"][0],
    ) == pytest.approx((low, high))
    weighted = clicks(LOG, "ips", propensities="1,1", smoothing=(1, 9))
    assert of(weighted) == pytest.approx([(2 + 1) / 13, (1.5 + 1) / 13, 1 / 11])


def test_weights() -> None:
    """Clicks over propensities, of a table or a column; effective sizes are Kish's."""
    estimates = clicks(LOG, "ips", propensities={1: 1.0, 2: 0.5})
    rows = pl.DataFrame(LOG, strict=False)
    column = rows.with_columns(propensity=1 / pl.col("position"))

    assert of(estimates) == [(1 + 1 / 0.5 + 0) / 3, (0 + 1 + 0.5 / 0.5) / 3, 0]
    assert of(estimates, "effective") == pytest.approx(
        [(1 + 2 + 1) ** 2 / 6, (2 + 1 + 2) ** 2 / 9, 1]
    )
    each = np.array([1, 2, 0])
    assert estimates.judgments["standard_error"][0] == pytest.approx(
        each.std() / math.sqrt(3)
    )
    assert (
        estimates.judgments["standard_error"][2] is None
    )  # no click tells nothing of spread
    for other in (
        clicks(column, "ips"),
        clicks(LOG, "ips", propensities="1,0.5"),
        clicks(LOG, "ips", propensities=estimates.positions),
    ):
        assert other.judgments.equals(estimates.judgments)


def test_impressions_that_agree_are_no_certainty() -> None:
    """One click of one impression has no error and no interval: it was 0, and a point."""
    log = {
        "query_id": ["q"] * 4,
        "doc_id": ["a", "b", "b", "c"],
        "position": [1] * 4,
        "clicked": [1, 1, 1, 0],
    }
    judgments = clicks(log, "ips", propensities="0.5").judgments
    assert judgments["estimate"].to_list() == [1 / 0.5, 1 / 0.5, 0]
    for column in ("standard_error", "low", "high"):
        assert judgments[column].to_list() == [None] * 3


def test_clipping_is_reported() -> None:
    """Propensities below the clip are taken as it; shares of impressions and clicks are reported."""
    estimates = clicks(LOG, "ips", propensities="1,0.1", clip=0.5)

    assert of(estimates) == of(clicks(LOG, "ips", propensities="1,0.5"))
    weighing = estimates.audit.weighing
    assert weighing is not None
    assert (weighing.impressions, weighing.clicks) == (3, 2)
    assert "clipped 42.86% of impressions, 50.00% of clicks" in "\n".join(
        estimates.audit.lines()
    )
    assert (
        f"effective sample size {(4 * 1 + 3 * 2) ** 2 / (4 + 3 * 4):,.1f} of 7 impressions"
        in "\n".join(estimates.audit.lines())
    )


def test_grades_and_rare_pairs() -> None:
    """Thresholds make grades, each from where it begins; pairs shown rarely are left out and counted."""
    estimates = clicks(LOG, "satisfaction", grades="0.1,0.5,0.6", min_impressions=2)

    assert estimates.judgments["relevance"].to_list() == [3, 2]
    assert estimates.judgments["estimate"].to_list() == [2 / 3, 0.5]
    assert (estimates.audit.rare, estimates.audit.rare_impressions) == (1, 1)
    assert (
        "1 pair shown too rarely left out (1 impression)" in estimates.audit.lines()[2]
    )


def test_days_that_count() -> None:
    """Only impressions from start to end count; the others are counted."""
    log = LOG | {"time": [f"2024-01-0{day}" for day in (1, 1, 2, 2, 3, 3, 4)]}
    estimates = clicks(log, start="2024-01-01", end="2024-01-02")

    assert (estimates.audit.outside, estimates.audit.impressions) == (3, 4)
    assert estimates.judgments["relevance"].to_list() == [1.0, 0.5]


def test_judgments_are_judgments(tmp_path: Path) -> None:
    """The result, its frame and its files are all taken for judgments, and give one score."""
    estimates = clicks(LOG, "satisfaction")
    run = {"q": ["b", "a"], "r": ["a"]}
    names = ["q.parquet", "q.csv", "q.jsonl"]
    for name in names:
        estimates.write(tmp_path / name)
    estimates.write_qrels(tmp_path / "q.txt")
    inputs = [
        estimates,
        estimates.judgments,
        *(str(tmp_path / name) for name in [*names, "q.txt"]),
    ]
    scores = [
        rankstone.evaluate(judgments, run, "nDCG@10 AP(rel=0.6)").to_dict()
        for judgments in inputs
    ]

    assert scores == [scores[0]] * len(scores)
    ndcg = (0.5 + 2 / 3 / math.log2(3)) / (2 / 3 + 0.5 / math.log2(3))
    assert scores[0]["run"]["nDCG@10"] == pytest.approx(
        ndcg / 2
    )  # the other query has no click


def test_as_counted_by_others() -> None:
    """On real impressions click rates are those of a plain grouping, in Polars and in DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    path = str(data("open-bandit", "random.men.csv.gz"))
    plain = pl.read_csv(path).with_columns(query_id=pl.lit("men"))
    estimates = clicks(plain, columns={"item_id": "doc_id", "click": "clicked"})
    message = estimates.judgments.select(
        "doc_id", "impressions", "clicks", "relevance"
    ).rows()

    by = plain.group_by("item_id").agg(
        pl.len(), pl.col("click").sum(), rate=pl.col("click").mean()
    )
    assert message == by.sort("item_id").rows()
    rows = (
        duckdb.read_csv(path)
        .aggregate("item_id, count(*), sum(click), avg(click)")
        .order("item_id")
    )
    assert message == rows.fetchall()
    assert estimates.audit.impressions == 10_000


# -- the position-based model --------------------------------------------------------------------------------
def simulated(
    seed: int, theta: list[float], queries: int = 50, lists: int = 40_000
) -> tuple[pl.DataFrame, Any]:
    """Return shuffled lists with clicks of a position-based user, and how relevant documents are."""
    draws = np.random.default_rng(seed)
    relevant = draws.beta(1.2, 2.5, size=(queries, len(theta)))
    query = np.repeat(draws.integers(0, queries, lists), len(theta))
    doc = np.argsort(draws.random((lists, len(theta))), axis=1).ravel()
    place = np.tile(np.arange(len(theta)), lists)
    clicked = draws.random(len(query)) < np.array(theta)[place] * relevant[query, doc]
    log = {
        "query_id": query,
        "doc_id": doc,
        "position": place + 1,
        "clicked": clicked,
        "session": np.repeat(np.arange(lists), len(theta)),
    }
    return pl.DataFrame(log), relevant


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_position_bias_is_found(seed: int) -> None:
    """Of 200,000 simulated impressions the examination of positions is found within a twentieth."""
    theta = [1.0, 0.62, 0.41, 0.3, 0.24]
    log, relevant = simulated(seed, theta)
    estimates = clicks(log, "pbm")

    assert log.height == 200_000
    assert estimates.positions["propensity"].to_list() == pytest.approx(theta, rel=0.05)
    assert estimates.audit.fit is not None
    assert estimates.audit.fit.converged
    error = estimates.judgments["estimate"].to_numpy() - relevant.ravel()
    true = pl.Series("true", relevant.ravel())
    inside = estimates.judgments.with_columns(true).select(
        pl.col("true").is_between("low", "high")
    )["true"]
    assert np.sqrt(np.mean(error**2)) < 0.03
    assert inside.sum() > 0.9 * inside.len()
    # what positions hide, click rates do not give back
    rates = clicks(log).judgments["estimate"].to_numpy() - relevant.ravel()
    assert np.sqrt(np.mean(rates**2)) > 0.1


def test_the_model_is_as_likely_as_can_be() -> None:
    """No other examinations make likelier where clicks fell, and no other relevances the clicks."""
    log, _ = simulated(5, [1.0, 0.5, 0.25], queries=4, lists=600)
    estimates = clicks(log, "pbm", tolerance=1e-10)
    chance = dict(
        zip(
            estimates.positions["position"],
            estimates.positions["propensity"],
            strict=True,
        )
    )
    liked = {
        (q, d): g
        for q, d, g in estimates.judgments.select(
            "query_id", "doc_id", "estimate"
        ).rows()
    }
    rows = (
        log.group_by("query_id", "doc_id", "position")
        .agg(n=pl.len(), c=pl.col("clicked").sum())
        .rows()
    )

    def where(by_place: dict[int, float]) -> float:
        every = dict.fromkeys(liked, 0.0)
        for q, d, k, n, _ in rows:
            every[q, d] += n * by_place[k]
        return math.fsum(
            c * math.log(n * by_place[k] / every[q, d]) for q, d, k, n, c in rows if c
        )

    def likelihood(by_pair: dict[tuple[int, int], float]) -> float:
        terms = []
        for q, d, k, n, c in rows:
            p = chance[k] * by_pair[q, d]
            terms += [c * math.log(p) if c else 0.0, (n - c) * math.log1p(-p)]
        return math.fsum(terms)

    assert estimates.audit.fit is not None
    assert estimates.audit.fit.log_likelihood == pytest.approx(
        likelihood(liked), rel=1e-12
    )
    for factor in (0.99, 1.01):
        for place in (2, 3):
            assert where(chance | {place: chance[place] * factor}) < where(chance)
        for pair in list(liked)[:5]:
            assert likelihood(liked | {pair: liked[pair] * factor}) < likelihood(liked)


@pytest.mark.parametrize("sessions", [True, False])
def test_few_impressions_a_query(sessions: bool) -> None:  # noqa: FBT001 - a case
    """Of ten impressions a query the truth is found, and 95 % intervals hold it as often as they say."""
    held, rows, pairs = [], [], []
    for seed in range(40):
        log, relevant = simulated(seed, [1.0, 0.7, 0.4], queries=150, lists=1500)
        made = clicks(log if sessions else log.drop("session"), "pbm")
        table = made.positions.filter(pl.col("position") > 1)
        truth = np.array([0.7, 0.4])
        held.append(
            (
                (table["low"].to_numpy() <= truth) & (truth <= table["high"].to_numpy())
            ).mean()
        )
        rows.append(table["propensity"].to_list())
        ends = made.judgments.select("low", "high").to_numpy().T
        true = relevant[
            made.judgments["query_id"].to_numpy(), made.judgments["doc_id"].to_numpy()
        ]
        pairs.append(((ends[0] <= true) & (true <= ends[1])).mean())
        assert (made.positions["low"][0], made.positions["high"][0]) == (None, None)
    assert np.mean(rows, axis=0) == pytest.approx(truth, rel=0.03)
    assert np.mean(held) >= 0.9
    assert np.mean(pairs) >= 0.9


def test_threads_change_no_bit(tmp_path: Path) -> None:
    """At sixty positions, where linear algebra would be shared out, one thread and two say the same."""
    log, _ = simulated(
        3, [1 / (index + 1) ** 0.5 for index in range(60)], queries=10, lists=200
    )
    log.write_parquet(tmp_path / "log.parquet")
    lines = []
    for threads in ("1", "2"):
        many = dict.fromkeys(
            ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads
        )
        command = [
            sys.executable,
            "-m",
            "rankstone",
            "online",
            "clicks",
            str(tmp_path / "log.parquet"),
            "--method",
            "pbm",
        ]
        done = subprocess.run(
            [*command, "--format", "json"],
            capture_output=True,
            check=True,
            env=os.environ | many,
        )
        lines.append(done.stdout)
    assert lines[0] == lines[1]


def test_few_swaps_warn() -> None:
    """Four swaps are too few to tell positions apart, and that is stated; many are enough."""
    rows = [("a", 1), ("b", 2)] * 40 + [("b", 1), ("a", 2)] * 4
    docs, places = zip(*rows, strict=True)
    log = {
        "query_id": ["q"] * 88,
        "doc_id": docs,
        "position": places,
        "session": [index // 2 for index in range(88)],
        "clicked": [int(index % 3 == 0) for index in range(88)],
    }
    estimates = clicks(log, "pbm")
    assert estimates.positions["moved"].to_list() == [8, 8]  # four of either document
    few = [
        line
        for line in estimates.audit.warnings
        if "too few swaps at position 2 (8)" in line
    ]
    wide = [
        line
        for line in estimates.audit.warnings
        if "not known within a factor of 2" in line
    ]
    assert few
    assert wide
    many, _ = simulated(1, [1.0, 0.7], queries=20, lists=4000)
    assert not clicks(many, "pbm").audit.warnings


def test_a_session_counts_once() -> None:
    """Every list of a session twice: the interval is that of half as many rows."""
    log, _ = simulated(2, [1.0, 0.5], queries=10, lists=1000)
    again = pl.concat([log, log.with_columns(query_id=pl.col("query_id") + 10)])
    rows, twice = log.drop("session"), again.drop("session")
    ends = [
        clicks(of_log, "pbm", lists="keep").positions.row(1, named=True)
        for of_log in (log, again, rows, twice)
    ]
    widths = [math.log(end["high"] / end["low"]) for end in ends]
    assert widths[1] == pytest.approx(widths[0])
    assert widths[3] == pytest.approx(widths[2] / 2**0.5)


def test_two_positions_by_hand() -> None:
    """One document at two positions: examination is the ratio of its click rates."""
    log = {
        "query_id": ["q"] * 200,
        "doc_id": ["a"] * 200,
        "position": [1] * 100 + [2] * 100,
        "clicked": [1] * 40 + [0] * 60 + [1] * 10 + [0] * 90,
    }
    estimates = clicks(log, "pbm")

    assert estimates.positions["propensity"].to_list() == pytest.approx([1, 10 / 40])
    assert estimates.judgments["estimate"].to_list() == pytest.approx([40 / 100])
    theta, gamma = np.array([1, 0.25]), 0.4
    worth = sum(100 * t * (1 - gamma) / (1 - t * gamma) for t in theta)
    # the examination's logarithm is that of a ratio of two counts, 10 and 40; of the relevance's information
    # the second position has this share
    spread, share = 1 / 10 + 1 / 40, 25 / (1 - 0.1) / (25 / (1 - 0.1) + 100 / (1 - 0.4))
    error = math.sqrt(gamma * 0.6 / worth + (gamma * share) ** 2 * spread)
    assert estimates.judgments["standard_error"].to_list() == pytest.approx([error])
    assert estimates.judgments["effective"].to_list() == pytest.approx(
        [gamma * 0.6 / error**2]
    )
    reach = stats.norm.ppf(0.975) * math.sqrt(spread)
    ends = estimates.positions.select("low", "high").row(1)
    assert ends == pytest.approx((0.25 * math.exp(-reach), 0.25 * math.exp(reach)))
