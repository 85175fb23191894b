"""The same questions in DuckDB's SQL, and in pandas: on made data, and on real ones where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.real_data import data

from rankstone.online.cohort_retention import retention

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankstone.online.retention_result import Retention

duckdb = pytest.importorskip("duckdb", reason="no DuckDB: pip install duckdb")
pd = pytest.importorskip("pandas", reason="no pandas: pip install pandas")


def made() -> pl.DataFrame:
    """Return a year of events whose users come less and less, from a seed."""
    rng = np.random.default_rng(7)
    users, per = 400, 12
    first = rng.integers(0, 300, users)
    day = np.minimum(
        np.repeat(first, per) + (rng.exponential(25, users * per)).astype(np.int64), 364
    )
    second = rng.integers(0, 86_400, users * per)
    time = pl.Series((day * 86_400 + second) * 1_000 + 1_672_531_200_000).cast(
        pl.Datetime("ms", "UTC")
    )
    return pl.DataFrame({"user_id": np.repeat(np.arange(users), per), "time": time})


def ecom() -> pl.DataFrame:
    table = pl.read_csv(data("ecom-sessions", "ecom.csv.gz"))
    return table.select(
        "user_id", time=pl.col("timestamp").str.to_datetime("%Y-%m-%d %H:%M:%S")
    )


def cdnow() -> pl.DataFrame:
    lines = data("cdnow", "CDNOW_sample.txt").read_text("utf-8").splitlines()
    fields = [line.split() for line in lines]
    days = pl.Series([row[2] for row in fields]).str.to_date("%Y%m%d")
    return pl.DataFrame({"user_id": [row[1] for row in fields], "time": days})


TABLES: dict[str, Callable[[], pl.DataFrame]] = {
    "made": made,
    "ecom": ecom,
    "cdnow": cdnow,
}


def in_sql(
    table: pl.DataFrame, unit: str, ages: list[int], *, rolling: bool = False
) -> list[tuple[Any, ...]]:
    """Return cohort, size, age and retained, as plain SQL has it."""
    assert table.height  # DuckDB reads the local variable
    seen = ">=" if rolling else "="
    query = f"""
        WITH days AS (
            SELECT DISTINCT user_id, date_trunc('{unit}', time::TIMESTAMP)::DATE AS period FROM table_
        ),
        cohorts AS (SELECT user_id, min(period) AS cohort FROM days GROUP BY user_id),
        sizes AS (SELECT cohort, count(*) AS size FROM cohorts GROUP BY cohort),
        ages AS (SELECT unnest({ages}) AS age),
        -- the start of what comes after the last period that is over
        over_ AS (
            SELECT date_trunc('{unit}', max(time::TIMESTAMP)::DATE + 1)::DATE AS first_open FROM table_
        )
        SELECT cohort, size, age, (
            SELECT count(DISTINCT user_id) FROM cohorts AS c JOIN days AS d USING (user_id)
            WHERE c.cohort = s.cohort AND d.period {seen} s.cohort + to_{unit}s(age::INT)
        ) AS retained
        FROM sizes AS s, ages, over_
        WHERE s.cohort + to_{unit}s(age::INT) < first_open
        ORDER BY cohort, age
    """  # noqa: S608 - numbers and words of this file
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("table_", table.to_arrow())
    return connection.sql(query).fetchall()


def counted(result: Retention) -> list[tuple[Any, ...]]:
    ordered = result.triangle.filter(~pl.col("censored"), pl.col("size") > 0).sort(
        "cohort", "age"
    )
    return ordered.select(
        "cohort", "size", pl.col("at").cast(pl.Int64), "retained"
    ).rows()


@pytest.mark.parametrize("kind", ["exact", "rolling"])
@pytest.mark.parametrize("unit", ["day", "week", "month"])
@pytest.mark.parametrize("name", TABLES)
def test_sql_says_the_same(name: str, unit: str, kind: str) -> None:
    """Sizes and retained users of every cohort that is known, and no other cohort, to the last user."""
    table = TABLES[name]()
    ages = [1, 3, 7, 30] if unit == "day" else [1, 2, 5]
    cohorts = retention(table, ages, unit=unit, kind=kind)

    assert counted(cohorts) == in_sql(table, unit, ages, rolling=kind == "rolling")


@pytest.mark.parametrize("name", TABLES)
def test_pandas_says_the_same(name: str) -> None:
    """New, returning and login users a day, and the weighted rate."""
    table = TABLES[name]()
    frame = pd.DataFrame(table.to_dict(as_series=False))
    frame["day"] = pd.to_datetime(frame["time"], utc=True).dt.normalize()
    pairs = frame[["user_id", "day"]].drop_duplicates()
    pairs["cohort"] = pairs.groupby("user_id")["day"].transform("min")
    pairs["age"] = (pairs["day"] - pairs["cohort"]).dt.days
    login = pairs.groupby("day")["user_id"].nunique()
    new = pairs.drop_duplicates("user_id").groupby("cohort")["user_id"].nunique()
    cohorts = retention(table, "1,7,30")

    rows = {row["period"]: row for row in cohorts.periods.iter_rows(named=True)}
    for day, count in login.items():
        assert rows[day.date()]["login"] == count
        assert rows[day.date()]["new"] == new.get(day, 0)
        assert rows[day.date()]["returning"] == count - new.get(day, 0)
    last = pairs["day"].max()
    for row in cohorts.days.iter_rows(named=True):
        watched = pairs[pairs["cohort"] + pd.Timedelta(days=row["age"]) <= last]
        assert row["users"] == watched["user_id"].nunique()
        assert (
            row["retained"]
            == watched[watched["age"] == row["age"]]["user_id"].nunique()
        )


def test_a_log_from_anywhere(tmp_path: Path) -> None:
    """Frames of any library, lazy ones, relations and databases, read in pieces, are one log."""
    pytest.importorskip("pyarrow", reason="no PyArrow: pip install pyarrow")
    table = made()
    expected = retention(table).cohorts
    path = tmp_path / "log.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("log", table.to_arrow())
        connection.execute("CREATE TABLE events AS FROM log")
        sources: dict[str, Any] = {
            "lazy": table.lazy(),
            "arrow": table.to_arrow(),
            "pandas": table.to_pandas(),
            "relation": connection.sql("FROM events"),
        }
        for name, source in sources.items():
            assert retention(source).cohorts.equals(expected), name
    read: list[int] = []
    assert retention(
        f"duckdb:{path}#events", tz="UTC", progress=read.append
    ).cohorts.equals(expected)
    assert sum(read) >= 2 * table.height  # two looks, each reported
