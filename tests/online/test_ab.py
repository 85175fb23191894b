"""A/B tests of rankings: ratios against plain sums and known tests, alarms that are rare, and bad logs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.rows import each

from rankstone.errors import (
    BadOption,
    BadValue,
    DuplicateRows,
    MissingColumn,
    NotComparable,
    RankstoneError,
    UsageError,
)
from rankstone.online.ab_metrics import ClaimSettings, difference, make_arm
from rankstone.online.ab_test import Experiment, ab
from rankstone.stats import (
    CORRECTIONS,
    Estimate,
    always_valid_interval,
    always_valid_p,
    always_valid_ratio,
    sample_ratio,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def made(users: int = 200, variants: str = "ab", seed: int = 0) -> pl.DataFrame:
    """Return a log of users with several impressions of five documents each."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), rng.integers(1, 5, users))
    taste = rng.beta(2, 6, users)[user]
    clicks = rng.random((len(user), 5)) < taste[:, None] / np.arange(1, 6) ** 0.5
    frame = pl.DataFrame(
        {"user_id": user, "variant": np.array(list(variants))[user % len(variants)]}
    )
    frame = frame.with_row_index("impression_id").with_columns(
        clicked=pl.Series(clicks.astype(np.int64))
    )
    frame = frame.with_columns(
        pl.col("clicked").arr.to_list(), position=pl.lit([1, 2, 3, 4, 5])
    )
    return frame.explode("clicked", "position")


def of(
    experiment: Experiment, table: str, measure: str, variant: str = "b"
) -> dict[str, Any]:
    rows = experiment.tables[table].filter(measure=measure, variant=variant)
    return rows.row(0, named=True)


def test_values_are_plain_ratios() -> None:
    """CTR, clicked, mean click rank and abandonment are what their words say."""
    log, experiment = made(), ab(made(), k=3)
    for variant in "ab":
        part = log.filter(variant=variant)
        top = part.filter(pl.col("position") <= 3)
        each = top.group_by("impression_id").agg(pl.col("clicked").max())["clicked"]
        every = part.group_by("impression_id").agg(pl.col("clicked").max())["clicked"]
        expected = {
            "CTR@3": top["clicked"].mean(),
            "clicked@3": each.mean(),
            "mean_click_rank": part.filter(clicked=1)["position"].mean(),
            "abandonment": 1 - every.cast(pl.Float64).mean(),  # type: ignore[operator]
        }
        values = {
            name: of(experiment, "variants", name, variant)["value"]
            for name in expected
        }
        assert values == pytest.approx(expected)
    first, other = (
        of(experiment, "variants", "CTR@3", variant)["value"] for variant in "ab"
    )
    assert of(experiment, "differences", "CTR@3")["difference"] == pytest.approx(
        other - first
    )


def test_one_impression_a_user_is_welch() -> None:
    """Where nothing clusters the difference is Welch's t-test, and its interval."""
    log = made().unique("user_id", keep="first", maintain_order=True).select("user_id")
    log = (
        made()
        .join(log, on="user_id")
        .filter(
            pl.col("impression_id") == pl.col("impression_id").min().over("user_id")
        )
    )
    experiment = ab(log, correction="none")
    clicked = log.group_by("user_id", "variant").agg(pl.col("clicked").max())
    a, b = (clicked.filter(variant=variant)["clicked"].to_numpy() for variant in "ab")
    welch = stats.ttest_ind(b, a, equal_var=False)
    row = of(experiment, "differences", "clicked@10")
    low, high = welch.confidence_interval(0.95)
    assert row["p"] == pytest.approx(welch.pvalue)
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    alone = ab(log, cluster=None, correction="none")
    assert of(alone, "differences", "clicked@10")["p"] == pytest.approx(welch.pvalue)


def test_users_are_the_units() -> None:
    """The log twice by the same users is no more certain; by others it is."""
    log = made()
    again = log.with_columns(pl.col("impression_id") + 10_000)
    others = again.with_columns(pl.col("user_id") + 10_000)
    once, twice, more = (
        ab(part) for part in (log, pl.concat([log, again]), pl.concat([log, others]))
    )
    for measure in ("CTR@10", "mean_click_rank"):
        errors = [
            of(result, "differences", measure)["error"]
            for result in (once, twice, more)
        ]
        assert errors[1] == pytest.approx(errors[0])
        assert errors[2] == pytest.approx(errors[0] / 2**0.5, rel=0.01)


def test_the_same_users_in_both() -> None:
    """Units that saw both variants are paired: the error is that of their differences."""
    rng = np.random.default_rng(4)
    first, both = rng.random(50), np.arange(50)
    other, every = first + rng.normal(0, 0.1, 50), np.ones(50, bool)
    ones = np.ones(50)
    result = difference(
        make_arm(other, ones, both, 50, every), make_arm(first, ones, both, 50, every)
    )
    assert result is not None
    assert result.error == pytest.approx(stats.sem(other - first))
    log = made().with_columns(
        variant=pl.when(pl.col("impression_id") % 2 == 0)
        .then(pl.lit("a"))
        .otherwise(pl.lit("b"))
    )
    warned = ab(log).audit
    assert warned.counts["several"] > 0  # type: ignore[operator]
    assert any("saw several variants" in line for line in warned.warnings)


def test_false_alarms() -> None:
    """Variants that do the same differ in no more of 400 experiments than they may."""
    alarms = {"CTR@10": 0, "clicked@10": 0, "mean_click_rank": 0, "abandonment": 0}
    for seed in range(400):
        rows = ab(made(80, seed=seed), correction="none").differences.select(
            "measure", "p"
        )
        for measure, p in rows.rows():
            alarms[measure] += p <= 0.05
    most = 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert max(alarms.values()) / 400 <= most, alarms


def counts_of(experiment: Experiment) -> int:
    """Return how many questions there are in the family, from Bonferroni's p of one that is far from 1."""
    p, adjusted = min(
        experiment.differences.drop_nulls("p").select("p", "p_adjusted").rows()
    )
    return round(float(adjusted) / float(p))


def test_one_question_is_paid_for_once() -> None:
    """Abandonment is 1 - clicked@k where k covers all lists, clicked@1 is CTR@1: one question each."""
    log = made(2000).with_columns(
        clicked=pl.when(
            (pl.col("variant") == "b") & (pl.col("impression_id") % 13 == 0)
        )
        .then(1)
        .otherwise(pl.col("clicked"))
    )
    whole, part, top = (ab(log, k=k, correction="bonferroni") for k in (5, 3, 1))
    assert [counts_of(result) for result in (whole, part, top)] == [3, 4, 3]
    clicked, lost = (
        of(whole, "differences", measure) for measure in ("clicked@5", "abandonment")
    )
    assert lost["p"] == clicked["p"]
    assert (lost["low"], lost["high"]) == pytest.approx(
        (-clicked["high"], -clicked["low"])
    )
    assert lost["verdict"] == clicked["verdict"]
    assert whole.audit.remarks["abandonment"].startswith("equals clicked@5")
    assert top.audit.remarks["clicked@1"].startswith("equals CTR@1")
    assert "abandonment" not in part.audit.remarks


def alike(users: int, clicked: int) -> pl.DataFrame:
    """Return a log in which all of variant b did the same, and one half of a did."""
    user = np.arange(2 * users)
    result = np.where(user % 2 == 0, (user // 2) % 2, clicked)
    columns = {
        "user_id": user,
        "impression_id": user,
        "clicked": result,
        "position": np.ones_like(user),
    }
    return pl.DataFrame(columns | {"variant": np.array(["a", "b"])[user % 2]})


@pytest.mark.parametrize("clicked", [0, 1])
@pytest.mark.parametrize("sequential", [False, True])
def test_no_spread_is_no_certainty(clicked: int, sequential: bool) -> None:  # noqa: FBT001 - a case
    """All of n users alike: the interval is that of n of n by Clopper and Pearson, never a point."""
    few, many = (
        ab(alike(users, clicked), k=1, sequential=sequential) for users in (3, 400)
    )
    row = of(many, "variants", "CTR@1")
    if not sequential:
        bound = stats.binomtest(400 * clicked, 400).proportion_ci(0.95, "exact")
        inner = bound.low if clicked else bound.high
        assert row["low" if clicked else "high"] == pytest.approx(inner)
    assert row["low"] < row["value"] < row["high"]
    assert any(
        f"CTR@1 is {clicked} for all 400 units of b" in line
        for line in many.audit.warnings
    )
    assert of(few, "differences", "CTR@1")["verdict"] == "inconclusive"
    assert of(many, "differences", "CTR@1")["verdict"] == (
        "better" if clicked else "worse"
    )


def test_few_users_of_two_minds() -> None:
    """Of three users against three who all did otherwise nothing follows: chance does so one time in ten."""
    for users in (2, 3):
        log = alike(users, 1).with_columns(
            clicked=pl.when(pl.col("variant") == "a").then(0).otherwise(1)
        )
        row = of(ab(log, k=1, correction="none"), "differences", "CTR@1")
        assert (row["difference"], row["verdict"]) == (1, "inconclusive")
        assert row["p"] >= 0.05


def test_what_cannot_vary_has_no_interval() -> None:
    """Where only the first position is shown a click's rank is 1: no error, no p, and no verdict."""
    experiment = ab(alike(50, 1), k=1)
    row = of(experiment, "differences", "mean_click_rank")
    assert (row["difference"], row["low"], row["p"], row["verdict"]) == (
        0,
        None,
        None,
        "inconclusive",
    )
    assert any("it has no interval" in line for line in experiment.audit.warnings)


def test_no_user_clicked() -> None:
    """Two variants without a click do not differ for certain: inconclusive, or equivalent by a margin."""
    log = made(400).with_columns(clicked=pl.lit(0))
    row = of(ab(log), "differences", "CTR@10")
    assert (row["difference"], row["p"], row["verdict"]) == (0, 1, "inconclusive")
    assert -0.05 < row["low"] < 0 < row["high"] < 0.05
    assert of(ab(log, margin=0.05), "differences", "CTR@10")["verdict"] == "equivalent"


def looks(
    draw: Callable[[np.random.Generator, int], Any], seed: int, users: Iterable[int]
) -> tuple[bool, bool]:
    """Return whether two variants that do the same ever differ, by p of one look and by p of all looks."""
    rng = np.random.default_rng(seed)
    values = draw(rng, 2000)
    alarms = np.zeros((0, 2), bool)
    for n in users:
        seen, unit, ones = values[:n], np.arange(n), np.ones(n)
        first, other = (
            make_arm(seen, ones, unit, n, unit % 2 == position) for position in (1, 0)
        )
        result = difference(first, other)
        assert result is not None
        ps = [
            ClaimSettings(None, "none", 0.95, sequential).p_value(result)
            for sequential in (False, True)
        ]
        alarms = np.vstack([alarms, np.array(ps) <= 0.05])
    once, always = (bool(column.any()) for column in alarms.T)
    return once, always


@pytest.mark.parametrize(
    ("draw", "least"),
    [
        (lambda rng, n: rng.normal(size=n), 0.12),
        (lambda rng, n: (rng.random(n) < 0.1).astype(np.float64), 0.1),
        (lambda rng, n: rng.lognormal(0, 2, n), 0.04),
    ],
    ids=["normal", "clicks", "skewed"],
)
def test_ten_looks(
    draw: Callable[[np.random.Generator, int], Any], least: float
) -> None:
    """Ten looks: p of one look alarm far too often, always-valid ones no more often than they may."""
    alarms = np.array([looks(draw, seed, range(200, 2001, 200)) for seed in range(200)])
    once, always = alarms.mean(axis=0)
    assert once >= least
    assert always <= 0.05


def test_sequential_results_agree() -> None:
    """Interval, p and verdict are all the always-valid ones, say the same, and claim less than one look."""
    log = made(900).with_columns(
        clicked=pl.when((pl.col("variant") == "b") & (pl.col("impression_id") % 5 == 0))
        .then(1)
        .otherwise(pl.col("clicked"))
    )
    for correction in CORRECTIONS:
        experiment = ab(log, k=3, sequential=True, correction=correction)
        for row, once in zip(
            experiment.differences.to_dicts(),
            ab(log, k=3).differences.to_dicts(),
            strict=True,
        ):
            outside = row["low"] > 0 or row["high"] < 0
            assert (
                outside
                == (row["p_adjusted"] <= 0.05)
                == (row["verdict"] != "inconclusive")
            )
            assert row["p"] >= once["p"]
    assert (experiment.differences["verdict"] != "inconclusive").any()
    assert experiment.conventions["sequential"] is True
    wide, narrow = (
        of(ab(log, sequential=on), "variants", "CTR@10") for on in (True, False)
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_always_valid_ends_are_where_p_is_alpha() -> None:
    """An estimate that lies one end away from 0 has a p of just that alpha."""
    for units in (10, 300, 100_000):
        for alpha in (0.2, 0.05, 0.001):
            reach = always_valid_interval(
                Estimate(0.0, 1.0, units, df=units - 2), alpha
            )[1]
            assert always_valid_p(
                Estimate(reach, 1.0, units, df=units - 2)
            ) == pytest.approx(alpha, rel=1e-6)
    counts = [5200, 4800]
    expected = stats.betabinom(10_000, 50, 50).pmf(5200) / stats.binom(10_000, 0.5).pmf(
        5200
    )
    assert always_valid_ratio(counts, [0.5, 0.5]) == pytest.approx(min(1, 1 / expected))


def test_a_running_experiment_is_reported() -> None:
    """Before the units it was planned for there is a warning, unless results hold at every look."""
    log = made(200)
    warned = ab(log, planned=500).audit.warnings
    assert any(
        "still running, with 200 of 500 units" in line and "sequential" in line
        for line in warned
    )
    for fine in (ab(log, planned=200), ab(log, planned=500, sequential=True)):
        assert not any("running" in line for line in fine.audit.warnings)
    assert "one look" in ab(log).audit.remarks["looks"]
    assert "every look" in ab(log, sequential=True).audit.remarks["looks"]
    assert (
        "clicked impressions only"
        in ab(log).audit.to_dict()["remarks"]["mean_click_rank"]
    )


@pytest.mark.parametrize(
    "times",
    [
        ["2024-03-01", "2024-03-09"],
        ["2024-03-01 10:00", "2024-03-09 08:00"],
        ["2024-03-01T10:00Z", "2024-03-09T08:00Z"],
        [date(2024, 3, 1), date(2024, 3, 9)],
        [1_709_290_000, 1_709_970_000],
    ],
)
def test_before_the_planned_day_there_is_a_warning(times: list[Any]) -> None:
    """A log that ends before the last planned day is of a running experiment."""
    log = made(200)
    log = log.with_columns(
        time=pl.Series(times * (len(log) // 2) + times[:1] * (len(log) % 2))
    )
    for planned in ("2024-03-10", date(2024, 3, 10)):
        [line] = [
            line
            for line in ab(log, planned=planned).audit.warnings
            if "running" in line
        ]
        assert "rows up to 2024-03-09 of those up to 2024-03-10" in line
        assert not ab(log, planned=planned, sequential=True).audit.warnings
    for fine in ("2024-03-09", "200", None):
        warnings = ab(log, planned=fine).audit.warnings
        assert not any("running" in line for line in warnings)
    assert ab(log, planned="2024-03-09").conventions["planned"] == "2024-03-09"


def test_rows_of_today_are_warned_of() -> None:
    """Without a plan, a log whose last row is less than a day old may be of a running experiment."""
    log = made(200)
    now = datetime.now(UTC)
    for hours, running in ((1, True), (23, True), (25, False)):
        fresh = log.with_columns(time=pl.lit(now - timedelta(hours=hours)))
        warned = ab(fresh).audit.warnings
        assert any("less than a day old" in line for line in warned) == running
        assert not any(
            "day old" in line for line in ab(fresh, planned=200).audit.warnings
        )
        assert not ab(fresh, sequential=True).audit.warnings
    # times that are not needed, and mean nothing, are no error
    assert (
        ab(log.with_columns(time=pl.lit("soon"))).audit.warnings
        == ab(log).audit.warnings
    )
    half = log.with_columns(time=pl.when(pl.col("position") > 1).then(pl.lit(now)))
    assert any("day old" in line for line in ab(half).audit.warnings)


def test_a_planned_day_needs_times() -> None:
    """The error says which column is missing, and what to write for it; so does a day that is none."""
    log = made(20).with_columns(timestamp=pl.lit("2024-03-01"))
    with pytest.raises(MissingColumn, match="no column says when") as caught:
        ab(log, planned="2024-03-10")
    # which column it is remains unknown: no command that may fail
    assert "if a column holds times" in str(caught.value)
    read = ab(log, planned="2024-03-10", columns={"timestamp": "time"})
    assert any("rows up to 2024-03-01" in line for line in read.audit.warnings)
    wrong: Any
    for wrong in ("2024-13-01", "soon", 1.5, "0", True, -3):
        with pytest.raises(BadOption, match=r"(?s)planned=.*number"):
            ab(log, planned=wrong, columns={"timestamp": "time"})


def test_families_and_verdicts() -> None:
    """All measures of all variants are one family; a verdict is the interval's, and knows what is better."""
    log = made(600, "abc").with_columns(
        clicked=pl.when((pl.col("variant") == "c") & (pl.col("position") == 1))
        .then(1)
        .otherwise(pl.col("clicked"))
    )
    experiment = ab(log, versus="b", k=1)
    assert experiment.differences["variant"].unique().sort().to_list() == ["a", "c"]
    for row in experiment.differences.to_dicts():
        outside = row["low"] > 0 or row["high"] < 0
        assert (
            outside
            == (row["p_adjusted"] <= 0.05)
            == (row["verdict"] in ("better", "worse"))
        )
    verdicts = {
        row["measure"]: row["verdict"]
        for row in experiment.differences.filter(variant="c").to_dicts()
    }
    assert verdicts == dict.fromkeys(
        ("CTR@1", "clicked@1", "mean_click_rank", "abandonment"), "better"
    )
    assert "equivalent" in ab(log, margin=0.9).differences["verdict"].to_list()


def test_sample_ratio() -> None:
    """The p of two counts is exact, as a sum over all of them; of more it is chi-square's."""
    for counts, share in [
        ([60, 40], 0.5),
        ([3, 9], 0.4),
        ([0, 5], 0.5),
        ([7, 7], 0.5),
        ([1, 0], 0.9),
        ([5, 0], 0.1),
        ([0, 5], 0.9),
        ([0, 5], 0.1),
        ([4, 1], 0.1),
    ]:
        n, due = sum(counts), share * sum(counts)
        pmf = stats.binom.pmf(np.arange(n + 1), n, share)
        far = np.abs(np.arange(n + 1) - due) >= abs(counts[0] - due) - 1e-9
        assert sample_ratio(counts, [share, 1 - share]).p == pytest.approx(
            pmf[far].sum()
        ), counts
    assert sample_ratio([5, 0], [0.1, 0.9]).p == pytest.approx(0.1**5)
    three = sample_ratio([50, 60, 70], [1 / 3] * 3)
    expected = stats.chisquare([50, 60, 70])
    assert (three.chi_square, three.p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )

    log = made().filter((pl.col("variant") == "a") | (pl.col("user_id") % 4 == 1))
    experiment = ab(log)
    assert experiment.sample_ratio["units"].to_list() == [100, 50]
    assert "sample ratio mismatch" in experiment.audit.warnings[0]
    assert not ab(log, shares={"a": 2, "b": 1}).audit.warnings


def test_no_click_is_no_rank() -> None:
    """A variant without a click has no mean click rank: no number, and no verdict from one."""
    log = made().with_columns(
        clicked=pl.when(pl.col("variant") == "b").then(0).otherwise(pl.col("clicked"))
    )
    row = of(ab(log), "differences", "mean_click_rank")
    assert (row["difference"], row["p"], row["verdict"]) == (None, None, "inconclusive")
    assert of(ab(log), "variants", "abandonment")["value"] == 1


GOOD: dict[str, list[Any]] = {
    "user_id": [1, 2, 3, 4],
    "impression_id": [1, 2, 3, 4],
    "variant": ["a", "a", "b", "b"],
    "position": [1, 1, 1, 1],
    "clicked": [1, 0, 1, 1],
}


@each(
    ("changed", "options", "error", "says"),
    [
        ({"variant": ["a"] * 4}, {}, UsageError, "variant has 1 value"),
        ({"variant": ["a", None, "b", "b"]}, {}, BadValue, "missing or cannot be read"),
        ({"clicked": [2, 0, 1, 1]}, {}, BadValue, "neither 0 nor 1"),
        ({"position": [0, 1, 1, 1]}, {}, BadValue, "with an invalid position"),
        (
            {"impression_id": [1, 1, 3, 4]},
            {},
            DuplicateRows,
            "share an impression and a position",
        ),
        (
            {"impression_id": [1, 2, 2, 4], "position": [1, 1, 2, 1]},
            {},
            NotComparable,
            "two values of variant",
        ),
        ({}, {"versus": "z"}, UsageError, "no variant z"),
        ({}, {"by": "bucket"}, MissingColumn, "no column bucket"),
        ({}, {"k": 0}, BadOption, "not a cutoff"),
        ({}, {"planned": 0}, BadOption, "planned=0"),
        ({}, {"shares": {"a": 1}}, BadOption, "do not match the variants"),
        ({}, {"margin": -1}, BadOption, "margin"),
        ({}, {"correction": "tukey"}, BadOption, "no correction"),
    ],
)
def test_mistakes(
    changed: dict[str, Any],
    options: dict[str, Any],
    error: type[RankstoneError],
    says: str,
) -> None:
    """A log that is none, and a question without an answer."""
    with pytest.raises(error, match=says):
        ab(GOOD | changed, **options)


def test_rows_left_out_are_counted() -> None:
    """Rows with a missing value are left out where that is requested."""
    experiment = ab(GOOD | {"clicked": [1, None, 1, 1]}, invalid="drop")
    assert experiment.audit.counts["dropped"] == 1
    assert (
        "1 row with a missing or unreadable value left out"
        in experiment.audit.lines()[0]
    )


def test_a_click_by_another_name_and_positions_that_are_skipped() -> None:
    """A column click is clicked; impressions whose positions have gaps are counted, and warned of."""
    other = {
        "click" if name == "clicked" else name: values for name, values in GOOD.items()
    }
    assert ab(other).differences.equals(ab(GOOD).differences)
    assert ab(GOOD).audit.counts["skipping"] == 0

    gap = ab(GOOD | {"position": [1, 3, 1, 1]})
    assert gap.audit.counts["skipping"] == 1
    assert "1 impression with positions left out" in gap.audit.lines()[0]
    assert "positions are skipped in 1 impression" in " ".join(gap.audit.warnings)


def test_a_row_a_user_is_welchs_test() -> None:
    """Means of one column of numbers; with several rows a user, users are still the units."""
    rng = np.random.default_rng(5)
    amounts = rng.gamma(2.0, 3.0, 60)
    table = {"user_id": range(60), "variant": ["a", "b", "b"] * 20, "revenue": amounts}
    experiment = ab(table)
    (row,) = experiment.differences.to_dicts()
    arms = [amounts[np.array(table["variant"]) == name] for name in "ba"]
    welch = stats.ttest_ind(*arms, equal_var=False)
    assert row["measure"] == "revenue"
    assert row["difference"] == pytest.approx(arms[0].mean() - arms[1].mean())
    assert row["p"] == pytest.approx(welch.pvalue)
    assert experiment.audit.counts["clicks"] is None
    assert "mean_click_rank" not in experiment.audit.remarks

    truths = ab({**table, "revenue": amounts > 5})
    assert truths.variants["value"].to_list() == [
        pytest.approx((arm > 5).mean()) for arm in reversed(arms)
    ]
    for value in ("Yes", "TRUE", "1"):
        words = [value if item else "no" for item in amounts > 5]
        same = ab({**table, "revenue": words})
        assert same.differences.equals(truths.differences)

    twice = {name: [*column, *column] for name, column in table.items()}
    with pytest.raises(UsageError, match="a user_id has several rows"):
        ab(twice)
    (again,) = ab(twice, value="revenue").differences.to_dicts()
    assert again["error"] == pytest.approx(row["error"])
    with pytest.raises(UsageError, match="2 columns could be compared: revenue, n"):
        ab({**table, "n": range(60)})
    with pytest.raises(UsageError, match="0 columns could be compared: none"):
        ab({name: table[name] for name in ("user_id", "variant")})


def test_positions_from_0() -> None:
    """They are those from 1, one lower; the advice is only given where the lowest is 0."""
    log = {"user_id": [1, 1, 2, 2], "impression_id": [1, 1, 2, 2], "variant": [*"aabb"]}
    log |= {"position": [1, 2, 1, 2], "clicked": [0, 1, 1, 0]}
    lower = {**log, "position": [0, 1, 0, 1]}
    assert ab(log).differences.equals(ab(lower, positions_from=0).differences)
    with pytest.raises(BadValue) as refused:
        ab(lower)
    assert refused.value.fix == "positions_from=0 if positions count from 0"
    with pytest.raises(BadValue) as below:
        ab({**log, "position": [-1, 0, 0, 1]})
    assert below.value.fix is None
