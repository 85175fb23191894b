"""Counterfactual estimates: against plain sums, against the truth, and what no log may hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.real_data import data
from tests.rows import each

from rankstone.errors import (
    BadOption,
    BadValue,
    DuplicateRows,
    MissingColumn,
    NotComparable,
    UsageError,
)
from rankstone.online.counterfactual_estimates import Counterfactual, counterfactual
from rankstone.online.estimators import Estimators, WeightedRows, parse_discount

if TYPE_CHECKING:
    from pathlib import Path


def made(impressions: int = 300, places: int = 3, seed: int = 0) -> pl.DataFrame:
    """Return a log of lists with rewards, two policies and a model, from a seed."""
    rng = np.random.default_rng(seed)
    rows = impressions * places
    frame = pl.DataFrame(
        {
            "impression_id": np.repeat(np.arange(impressions), places),
            "user_id": np.repeat(
                rng.integers(0, impressions // 5, impressions), places
            ),
            "position": np.tile(np.arange(1, places + 1), impressions),
            "propensity": rng.uniform(0.05, 1, rows),
            "target_propensity": rng.uniform(0, 1, rows),
            "reward": rng.integers(0, 2, rows).astype(float),
            "prediction": rng.uniform(0, 1, rows),
            "target_prediction": rng.uniform(0, 1, rows),
        }
    )
    return frame.sample(fraction=1, shuffle=True, seed=seed)


def of(result: Counterfactual, estimator: str) -> dict[str, Any]:
    """Return one row of the estimates."""
    return result.estimates.row(
        by_predicate=pl.col("estimator") == estimator, named=True
    )


def test_estimates_are_plain_sums() -> None:
    """Each estimator is the sum its definition says, and intervals are Student's over impressions."""
    log, estimates = made(), counterfactual(made(), discount="log2", k=2, clip=3.0)
    column = {name: log[name].to_numpy().astype(float) for name in log.columns}
    lam = 1 / np.log2(column["position"] + 1) * (column["position"] <= 2)
    w, r, n = column["target_propensity"] / column["propensity"], column["reward"], 300
    wrong = r - column["prediction"]
    expected = {
        "logged": (lam * r).sum() / n,
        "ips": (lam * w * r).sum() / n,
        "snips": (lam * w * r).sum() / (lam * w).sum() * lam.sum() / n,
        "clipped": (lam * np.minimum(w, 3) * r).sum() / n,
        "dm": (lam * column["target_prediction"]).sum() / n,
        "dr": (lam * (column["target_prediction"] + w * wrong)).sum() / n,
    }
    assert {
        row["estimator"]: row["value"] for row in estimates.estimates.to_dicts()
    } == pytest.approx(expected)

    each = (
        log.with_columns(v=pl.Series(lam * w * r))
        .group_by("impression_id")
        .agg(pl.col("v").sum())["v"]
        .to_numpy()
    )
    low, high = stats.t.interval(0.95, n - 1, each.mean(), stats.sem(each))
    assert (of(estimates, "ips")["low"], of(estimates, "ips")["high"]) == pytest.approx(
        (low, high)
    )
    used = w[column["position"] <= 2]
    weights = estimates.weights.row(0, named=True)
    assert weights["effective"] == pytest.approx(used.sum() ** 2 / (used**2).sum())
    assert weights["largest"] == used.max()
    assert weights["clipped"] == pytest.approx((used > 3).mean())


def test_bias_is_reported() -> None:
    """Estimators that are biased by design say so beside their value, and what their interval leaves out."""
    estimates = counterfactual(made(), clip=3.0)
    bias = dict(estimates.estimates.select("estimator", "bias").rows())
    assert bias == {
        "logged": "none",
        "ips": "none",
        "snips": "fades with n",
        "clipped": "by design: too low",
        "dm": "by design: the model's",
        "dr": "none",
    }
    assert of(estimates, "clipped")["value"] < of(estimates, "ips")["value"]
    assert set(estimates.audit.remarks) == {"clipped", "dm"}
    assert any(
        line.startswith("clipped  its interval") for line in estimates.audit.lines()
    )
    costs = counterfactual(made().with_columns(-pl.col("reward")), clip=3.0)
    assert of(costs, "clipped")["bias"] == "by design"
    # a clip that nothing reaches changes nothing
    plain = counterfactual(made().drop("prediction", "target_prediction"), clip=1000.0)
    assert of(plain, "clipped")["bias"] == "none"
    assert not plain.audit.remarks


def test_units_that_agree_are_no_certainty() -> None:
    """Where no impression earned anything there is a value, but no error, no interval, and a warning."""
    estimates = counterfactual(made().with_columns(reward=pl.lit(0.0)))
    assert (
        of(estimates, "ips")["value"],
        of(estimates, "ips")["error"],
        of(estimates, "ips")["low"],
    ) == (0, None, None)
    assert any("ips is 0 for every unit" in line for line in estimates.audit.warnings)


@pytest.mark.parametrize("policy", ["random", "bts"])
def test_open_bandit(policy: str) -> None:
    """On real logs IPS and SNIPS are the plain sums."""
    log = pl.read_csv(data("open-bandit", f"{policy}.men.csv.gz"))
    log = log.with_columns(
        target_propensity=pl.lit(1 / 34) if policy == "bts" else pl.lit(0.05)
    )
    estimates = counterfactual(
        log, columns={"click": "reward", "propensity_score": "propensity"}
    )
    w, r = (
        (log["target_propensity"] / log["propensity_score"]).to_numpy(),
        log["click"].to_numpy(),
    )

    assert of(estimates, "ips")["value"] == pytest.approx(
        (w * r).sum() / len(r), rel=1e-12
    )
    assert of(estimates, "snips")["value"] == pytest.approx(
        (w * r).sum() / w.sum(), rel=1e-12
    )
    assert of(estimates, "logged")["value"] == pytest.approx(r.mean(), rel=1e-12)
    if policy == "random":  # these propensities are 1/34: weights of 1.7, far from 1
        assert any(
            "the mean weight is 1.7" in line for line in estimates.audit.warnings
        )


def rows(weight: np.ndarray[Any, Any], reward: np.ndarray[Any, Any]) -> WeightedRows:
    result = np.ones(len(weight))
    return WeightedRows(
        result, weight, reward, result, weight, reward, None, None, result > 0
    )


@pytest.mark.parametrize("users", [None, 200])
def test_intervals_cover(users: int | None) -> None:
    """In 94 to 96 of 100 simulated logs the 95 % interval holds the truth; also where users depend."""
    rng, simulations, n = np.random.default_rng(11), 4000, 1000
    chance, good = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.1])
    target = np.array([0.5, 0.3, 0.2])
    cluster = None if users is None else np.repeat(np.arange(users), n // users)
    truth, held = float(target @ good), {"ips": 0, "snips": 0}
    for _ in range(simulations):
        if cluster is None:
            shown, luck = rng.choice(3, n, p=chance), rng.random(n)
        else:  # a user sees one thing and has one taste
            shown, luck = (
                rng.choice(3, users, p=chance)[cluster],
                rng.random(users)[cluster],
            )
        reward = (luck < good[shown]).astype(np.float64)
        estimates = Estimators(
            rows((target / chance)[shown], reward), np.arange(n), cluster
        ).all(None)
        for name in held:
            estimate = estimates[name]
            assert estimate is not None
            low, high = estimate.interval(0.95)
            held[name] += low <= truth <= high

    assert 0.94 <= held["ips"] / simulations <= 0.96
    assert (
        0.935 <= held["snips"] / simulations <= 0.96
    )  # a ratio: a little bias is left


@given(st.floats(0.01, 1), st.integers(0, 1000))
def test_self_normalised_does_not_mind_scale(scale: float, seed: int) -> None:
    """All weights times a number leave SNIPS and its interval as they are; IPS is times that."""
    log = made(30, 2, seed)
    estimates = counterfactual(log, discount="log2")
    other = counterfactual(
        log.with_columns(pl.col("target_propensity") * scale), discount="log2"
    )
    for part in ("value", "error", "low", "high"):
        assert of(other, "snips")[part] == pytest.approx(
            of(estimates, "snips")[part], rel=1e-9, abs=1e-12
        )
    assert of(other, "ips")["value"] == pytest.approx(
        scale * of(estimates, "ips")["value"]
    )


@given(st.integers(0, 1000), st.sampled_from(["action", "examination"]))
def test_doubly_robust(seed: int, propensity: str) -> None:
    """It is the direct method where rewards are foretold exactly, and IPS where the model says nothing."""
    log = made(20, 3, seed).with_columns(
        examination=pl.col("target_propensity"), target_position=4 - pl.col("position")
    )
    result = pl.col("reward")
    if propensity == "examination":
        result = pl.col("reward") / pl.col("examination")
        log = log.filter(pl.col("examination") > 0)
    exact = counterfactual(
        log.with_columns(prediction=result), propensity=propensity, discount="log2"
    )
    silent = log.with_columns(prediction=pl.lit(0.0), target_prediction=pl.lit(0.0))
    nothing = counterfactual(silent, propensity=propensity, discount="log2")

    assert of(exact, "dr")["value"] == pytest.approx(of(exact, "dm")["value"], rel=1e-9)
    assert of(nothing, "dr")["value"] == of(nothing, "ips")["value"]
    assert of(nothing, "dm")["value"] == 0


def test_examination_is_ips_dcg() -> None:
    """Σ λ(new position) / θ(logged position) over clicks; the target may be a run."""
    log = {
        "impression_id": [1, 1, 1, 2, 2],
        "query_id": ["q", "q", "q", "p", "p"],
        "doc_id": ["a", "b", "c", "a", "d"],
        "reward": [1, 0, 1, 1, 0],
        "propensity": [1.0, 0.5, 0.25, 1.0, 0.5],
    }
    run = {"q": {"c": 3.0, "a": 2.0, "e": 1.0}, "p": {"d": 2.0}}
    estimates = counterfactual(
        log, run, propensity="examination", discount="log2", k=10
    )

    assert of(estimates, "ips")["value"] == pytest.approx(
        (1 / math.log2(3) / 1 + 1 / math.log2(2) / 0.25) / 2
    )
    counts = estimates.audit.counts
    assert (counts["not_in_target"], counts["not_shown"], counts["never_examined"]) == (
        2,
        1,
        0,
    )
    placed = log | {"target_position": [2, None, 1, None, 1]}
    assert counterfactual(
        placed, propensity="examination", discount="log2"
    ).estimates.equals(estimates.estimates)


def test_a_target_that_is_one_list() -> None:
    """With positions for propensities of actions the target does what it does surely."""
    log = (
        made()
        .with_columns(target_position=pl.col("position") % 3 + 1)
        .drop("target_propensity")
    )
    log = log.with_columns(
        target_position=pl.when(pl.col("reward") > 0).then(1).otherwise(2)
    )
    estimates = counterfactual(log)
    w = (log["target_position"] == log["position"]).cast(pl.Float64) / log["propensity"]

    assert of(estimates, "ips")["value"] == pytest.approx(
        (w * log["reward"]).sum() / 300
    )


def test_clusters() -> None:
    """A user's impressions are one unit: twice the log by the same users is no more certain."""
    log = made()
    again = log.with_columns(pl.col("impression_id") + 1000)
    once, twice = (
        counterfactual(part, cluster="user_id")
        for part in (log, pl.concat([log, again]))
    )
    for name in ("ips", "snips", "dr"):
        assert of(twice, name)["error"] == pytest.approx(of(once, name)["error"])
    assert once.audit.counts["clusters"] == log["user_id"].n_unique()
    torn = log.with_columns(user_id=pl.int_range(pl.len()))
    with pytest.raises(NotComparable, match="two values of user_id"):
        counterfactual(torn, cluster="user_id")


def test_rows_in_any_order_and_form(tmp_path: Path) -> None:
    """Order, format and names of columns change no digit."""
    log, estimates = made(), counterfactual(made(), discount="reciprocal")
    log.sample(fraction=1, shuffle=True, seed=3).rename({"reward": "click"}).write_csv(
        tmp_path / "log.csv"
    )
    other = counterfactual(
        tmp_path / "log.csv", discount="reciprocal", columns={"click": "reward"}
    )
    assert other.estimates.equals(estimates.estimates)
    assert parse_discount([1, 0.5], None)(
        np.array([1.0, 2.0, 3.0, np.nan])
    ).tolist() == [1, 0.5, 0, 0]


GOOD = {
    "reward": [1, 0, 1],
    "propensity": [0.5, 0.5, 0.5],
    "target_propensity": [1.0, 0.0, 1.0],
}


@each(
    ("changed", "options", "error", "says"),
    [
        (
            {"propensity": [0.5, 0.5, 0.0]},
            {},
            BadValue,
            "1 row with a reward and a propensity of 0",
        ),
        (
            {"propensity": [0.5, -0.5, 0.5]},
            {},
            BadValue,
            "1 row with a negative propensity",
        ),
        ({"propensity": [0.5, 0.0, 0.5]}, {}, BadValue, "1 row with a propensity of 0"),
        (
            {"propensity": [0.5, 7, 0.5]},
            {},
            BadValue,
            "whose propensity is not a probability",
        ),
        ({"propensity": [0.5, None, 0.5]}, {}, BadValue, "missing or cannot be read"),
        ({"reward": [1, 0, float("nan")]}, {}, BadValue, "missing or cannot be read"),
        ({"reward": ["1", "0", "often"]}, {}, BadValue, "missing or cannot be read"),
        ({"position": [1, 0, 1]}, {}, BadValue, "with an invalid position"),
        (
            {"target_propensity": [2.0, 0, 0]},
            {},
            BadValue,
            "whose target_propensity is not a probability",
        ),
        ({"prediction": [1, 1, 1]}, {}, MissingColumn, "no column target_prediction"),
        (
            {"impression_id": [1, 1, 2], "position": [1, 1, 1]},
            {},
            DuplicateRows,
            "share an impression",
        ),
        ({}, {"discount": "log2"}, MissingColumn, "no column position"),
        (
            {},
            {"propensity": "examination"},
            MissingColumn,
            "where the target would rank",
        ),
        ({}, {"target": {"q": ["d"]}}, UsageError, "the log has target_propensity"),
        ({}, {"cluster": "user_id"}, MissingColumn, "no column user_id"),
        ({}, {"discount": "log3"}, BadOption, "no discount 'log3'"),
        ({}, {"discount": [1, -1]}, BadOption, "negative"),
        ({}, {"clip": 0}, BadOption, "leaves no weight"),
        ({}, {"k": 0}, BadOption, "not a cutoff"),
        ({}, {"confidence": 95}, BadOption, "out of range"),
        ({}, {"propensity": "click"}, BadOption, "propensity"),
    ],
)
def test_mistakes(
    changed: dict[str, Any], options: dict[str, Any], error: type[Exception], says: str
) -> None:
    """A mistake is an error that says what it is."""
    with pytest.raises(error, match=says):
        counterfactual(GOOD | changed, **options)


def test_the_row_is_named(tmp_path: Path) -> None:
    """A row that cannot be is reported by file and line; one that cannot be read may be left out."""
    log = tmp_path / "log.csv"
    log.write_text("reward,propensity,target_propensity\n,0.5,1\n1,0.5,1\n1,0,1\n")
    with pytest.raises(BadValue) as refused:
        counterfactual(log)
    assert refused.value.where == f"{log}:2"
    with pytest.raises(BadValue, match="propensity of 0") as refused:
        counterfactual(log, invalid="drop")
    assert refused.value.where == f"{log}:4"
    log.write_text("reward,propensity,target_propensity\n,0.5,1\n1,0.5,1\ntrue,0.5,1\n")
    estimates = counterfactual(log, invalid="drop")
    assert (estimates.audit.counts["dropped"], of(estimates, "ips")["value"]) == (
        1,
        2.0,
    )
    assert (
        "1 row with a missing or unreadable value left out"
        in estimates.audit.lines()[0]
    )


def test_warnings() -> None:
    """Few effective rows, one heavy row, propensities of another log: each is stated."""
    chances = [0.001] + [0.9] * 999
    log = {
        "reward": [1] * 1000,
        "propensity": chances,
        "target_propensity": [0.5] * 1000,
    }
    warned = " ".join(counterfactual(log).audit.warnings)
    assert "effective sample size" in warned
    assert "one row has" in warned
    fine = {
        "reward": [1, 0] * 100,
        "propensity": [0.5] * 200,
        "target_propensity": [0.9, 0.1] * 100,
    }
    assert counterfactual(fine).audit.warnings == ()
    nothing = counterfactual(fine | {"target_propensity": [0.0] * 200})
    assert of(nothing, "snips")["value"] is None
    assert "the mean weight is 0" in " ".join(nothing.audit.warnings)


def test_positions_that_are_skipped_are_counted() -> None:
    """An impression with rows at 1 and 3 has lost one, which its estimate does not show."""
    log = {
        "impression_id": [1, 1, 2],
        "position": [1, 3, 1],
        "reward": [1, 0, 1],
        "propensity": [0.5] * 3,
    }
    estimates = counterfactual(log | {"target_propensity": [0.5] * 3})
    assert estimates.audit.counts["skipping"] == 1
    assert "1 impression with positions left out" in estimates.audit.lines()[0]
