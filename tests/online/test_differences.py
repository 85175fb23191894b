"""Segments held against one another, whoever is in both."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from rankstone.online.cohort_retention import retention
from rankstone.stats import Shared, adjusted, family_level, proportion_difference

if TYPE_CHECKING:
    from rankstone.online.retention_result import Retention

FIRST = date(2024, 1, 1)


def log(seed: int = 4, users: int = 300) -> pl.DataFrame:
    """Return users of two versions, some of whom use both; the second version brings more of them back."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(users):
        for version in rng.choice(["1.0", "2.0"], rng.integers(1, 3), replace=False):
            begun = int(rng.integers(0, 20))
            back = 1 + np.flatnonzero(
                rng.random(30) < (0.1 if version == "1.0" else 0.25)
            )
            rows += [
                (user, FIRST + timedelta(days=begun + int(age)), version)
                for age in (0, *back)
            ]
    return pl.DataFrame(
        rows, {"user_id": pl.Int64, "time": pl.Date, "version": pl.String}, orient="row"
    )


def found_of(events: pl.DataFrame, segments: str) -> Retention:
    return retention(
        events,
        "1,7,14",
        by="version",
        segments=segments,
        end=FIRST + timedelta(days=60),
    )


def test_users_apart_are_two_proportions() -> None:
    """Rates, difference and p are those of the counts, corrected for all rows together."""
    result = found_of(log(), "first")
    days = {
        (row["version"], row["at"]): row for row in result.days.iter_rows(named=True)
    }
    rows = list(result.differences.iter_rows(named=True))
    plain = []
    for row in rows:
        first, other = days["2.0", row["at"]], days["1.0", row["at"]]
        difference = proportion_difference(
            (first["retained"], first["users"]), (other["retained"], other["users"])
        )
        assert (row["segment"], row["versus"]) == ("2.0", "1.0")
        assert (row["rate"], row["rate_versus"], row["difference"]) == (
            first["rate"],
            other["rate"],
            difference.value,
        )
        assert row["p"] == difference.p
        plain.append(difference.p)

    assert [row["p_adjusted"] for row in rows] == pytest.approx(
        list(adjusted(plain, "holm"))
    )
    assert all(row["low"] > 0 for row in rows if row["p_adjusted"] < 0.01)


def test_users_of_both_are_clusters() -> None:
    """What is shared between two segments is what sets of users say."""
    events = log()
    result = found_of(events, "each")
    first: dict[tuple[int, str], date] = {}
    seen = set(events.select("user_id", "version", "time").rows())
    for user, version, day in sorted(seen, key=lambda row: row[2]):
        first.setdefault((user, version), day)
    both = {
        user
        for user, version in first
        if (user, "1.0") in first and (user, "2.0") in first
    }
    assert both
    level = 1 - family_level(result.differences["p"].to_list())
    for row in result.differences.iter_rows(named=True):
        came = {
            key: (key[0], key[1], begun + timedelta(days=row["age"])) in seen
            for key, begun in first.items()
        }
        counts = {
            version: (
                sum(came[k] for k in came if k[1] == version),
                sum(k[1] == version for k in came),
            )
            for version in ("1.0", "2.0")
        }
        pairs = [(came[user, "2.0"], came[user, "1.0"]) for user in both]
        shared = Shared(
            len(both),
            sum(x for x, _ in pairs),
            sum(y for _, y in pairs),
            sum(x and y for x, y in pairs),
        )
        difference = proportion_difference(counts["2.0"], counts["1.0"], shared, level)
        assert (row["low"], row["high"]) == pytest.approx(
            (difference.low, difference.high)
        )
        assert (row["users"], row["users_versus"]) == (
            counts["2.0"][1],
            counts["1.0"][1],
        )
        assert row["difference"] == pytest.approx(difference.value)
        assert row["p"] == pytest.approx(difference.p)


def test_one_is_held_against_the_others() -> None:
    """versus= names the one; no word is printed where no user was observed."""
    events = log().with_columns(
        pl.col("user_id") % 3, version=(pl.col("user_id") % 3).cast(pl.String)
    )
    cohorts = retention(events, "1,400", by="version", versus="1")

    assert cohorts.differences.select("segment", "versus").unique().sort(
        "segment"
    ).rows() == [("0", "1"), ("2", "1")]
    unknown = cohorts.differences.filter(at="400")
    assert (
        unknown.select(
            pl.col("rate", "difference", "low", "high", "p", "p_adjusted")
            .is_null()
            .all()
        ).row(0)
        == (True,) * 6
    )
