"""What holds of retention whatever the events: against sets of users, and against itself."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.online.oracle import retention as expected

from rankstone.online import user_activity as activity
from rankstone.online.cohort_retention import retention

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankstone.online.retention_result import Retention

FIRST = date(2024, 2, 20)  # a leap year's February
WINDOWS = {"exact": "1,2,5,40", "rolling": "1,2,5,40", "bracket": "1,1..3,4..9,20..40"}

#: users, days after the first, perhaps a segment
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(0, 12) | st.integers(0, 150),
        st.sampled_from("xyz") | st.none(),
    ),
    min_size=1,
    max_size=60,
)


def frame(events: Sequence[tuple[int, int, str | None]]) -> pl.DataFrame:
    rows = [
        (f"u{user}", FIRST + timedelta(days=day), segment)
        for user, day, segment in events
    ]
    return pl.DataFrame(
        rows,
        {"user_id": pl.String, "time": pl.Date, "segment": pl.String},
        orient="row",
    )


def numbers(result: Retention) -> list[list[tuple[Any, ...]]]:
    """Return every number of a result."""
    frames = [result.periods, result.cohorts, result.curve]
    frames += [] if result.by is None else [result.differences]
    return [item.rows() for item in frames]


def spans(kind: str) -> list[tuple[int, int | None]]:
    pairs = [entry.split("..") for entry in WINDOWS[kind].split(",")]
    return [
        (int(pair[0]), None if kind == "rolling" else int(pair[-1])) for pair in pairs
    ]


@pytest.mark.parametrize("kind", WINDOWS)
@given(events=EVENTS, blocks=st.sampled_from([1, 2, 8]))
@example(
    events=[(0, 63, None), (0, 64, None), (0, 127, None), (1, 0, None), (1, 128, None)],
    blocks=1,
)
def test_sets_of_users_say_the_same(
    kind: str, events: list[tuple[int, int, str | None]], blocks: int
) -> None:
    """Sizes, retained, new, returning and login users are those of sets, whatever words bits stand in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(activity, "_WORDS", blocks)
        patch.setattr(activity, "_USERS_PER_SHARE", 3)  # some users at a time
        cohorts = retention(frame(events), WINDOWS[kind], kind=kind)
    slow = expected([(user, day) for user, day, _ in events], spans(kind))
    first = min(day for _, day, _ in events)
    labels = [window.at for window in cohorts.windows.requested]

    for row in cohorts.triangle.iter_rows(named=True):
        cell = slow.cells[(row["cohort"] - FIRST).days, labels.index(row["at"])]
        assert row["censored"] == (cell is None)
        assert cell is None or (row["retained"], row["size"]) == cell
        assert row["rate"] == (
            None if cell is None or not cell[1] else cell[0] / cell[1]
        )
    assert cohorts.periods["new"].to_list() == list(slow.new.values())
    assert cohorts.periods["login"].to_list() == list(slow.login.values())
    assert cohorts.periods["returning"].to_list() == list(slow.returning.values())
    assert cohorts.first == FIRST + timedelta(days=first)


@given(events=EVENTS, later=st.dictionaries(st.integers(0, 11), st.integers(0, 160)))
def test_with_registrations(
    events: list[tuple[int, int, str | None]], later: dict[int, int]
) -> None:
    """Cohorts are those of registrations; who registers and never comes counts among the new."""
    first = {
        user: min(day for who, day, _ in events if who == user) for user, _, _ in events
    }
    registered = {user: min(day, later.get(user, day)) for user, day in first.items()}
    registered |= {user: day for user, day in later.items() if user not in first}
    table = {
        "user_id": [f"u{user}" for user in registered],
        "time": [FIRST + timedelta(days=day) for day in registered.values()],
    }
    cohorts = retention(frame(events), WINDOWS["exact"], registrations=table)
    slow = expected(
        [(user, day) for user, day, _ in events], spans("exact"), registered=registered
    )

    labels = [window.at for window in cohorts.windows.requested]
    for row in cohorts.triangle.iter_rows(named=True):
        cell = slow.cells[(row["cohort"] - FIRST).days, labels.index(row["at"])]
        assert row["censored"] == (cell is None)
        assert cell is None or (row["retained"], row["size"]) == cell
    assert cohorts.periods["new"].sum() == len(registered)
    assert cohorts.audit.registrations is not None
    assert cohorts.audit.registrations.never == len(set(registered) - set(first))


@pytest.mark.parametrize("segments", ["first", "each"])
@given(events=EVENTS, seed=st.integers(0, 99))
def test_the_order_of_rows_is_nothing(
    segments: str, events: list[tuple[int, int, str | None]], seed: int
) -> None:
    """Rows in any order, at once or in parts, in one piece or user by user, give the same numbers."""
    options: dict[str, Any] = {"by": "segment", "segments": segments}
    whole = numbers(retention(frame(events), **options))
    mixed = random.Random(seed).sample(events, len(events))
    assert numbers(retention(frame(mixed), **options)) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(activity, "_USERS_PER_SHARE", 2)
        assert numbers(retention(frame(mixed), **options)) == whole


@given(events=EVENTS)
def test_files_in_parts(
    events: list[tuple[int, int, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A folder of parts, of any format, is one table."""
    folder: Path = tmp_path_factory.mktemp("parts")
    rows = frame(events)
    half = rows.height // 2
    for kind in ("parquet", "csv", "ndjson"):
        for index, part in enumerate((rows[:half], rows[half:])):
            if part.height:
                getattr(part, f"write_{kind}")(folder / f"{index}.{kind}")
        cohorts = retention(str(folder / f"*.{kind}"))
        assert numbers(cohorts) == numbers(retention(rows))


@given(events=EVENTS, copies=st.integers(1, 3))
def test_copies_change_the_audit_alone(
    events: list[tuple[int, int, str | None]], copies: int
) -> None:
    """Events that stand there again change no number; the audit counts them."""
    once, again = (
        retention(frame(events), by="segment"),
        retention(frame(events * (1 + copies)), by="segment"),
    )

    assert numbers(once) == numbers(again)
    assert again.audit.rows == (1 + copies) * once.audit.rows
    assert again.audit.repeated - once.audit.repeated == copies * len(events)
    assert again.audit.logins == once.audit.logins == once.periods["login"].sum()


@given(events=EVENTS, more=st.integers(1, 40))
def test_who_was_not_watched_is_not_missed(
    events: list[tuple[int, int, str | None]], more: int
) -> None:
    """What is censored has no rate; watching longer without seeing anybody adds nothing but zeros."""
    short = retention(frame(events), "1..60")
    last = FIRST + timedelta(days=max(day for _, day, _ in events) + more)
    longer = retention(frame(events), "1..60", end=last)
    both = short.cohorts.join(
        longer.cohorts, on=["cohort", "at"], how="inner", suffix="_longer"
    )

    assert (
        short.cohorts.filter("censored")["rate"].null_count()
        == short.cohorts["censored"].sum()
    )
    rows = both.filter(~pl.col("censored"))
    assert rows["rate"].equals(rows["rate_longer"])
    fresh = both.filter("censored", ~pl.col("censored_longer"))
    assert fresh["retained_longer"].sum() == 0


@given(events=EVENTS)
def test_kinds_are_in_order(events: list[tuple[int, int, str | None]]) -> None:
    """Exact is at most bracket, and that at most rolling; all are shares; the first day's are all."""
    rows = frame(events)
    exact, rolling = (
        retention(rows, "4,9", kind=kind).curve for kind in ("exact", "rolling")
    )
    bracket = retention(rows, "4..9", kind="bracket").triangle
    pairs = exact.join(rolling, on="at", suffix="_rolling")
    assert (pairs["retained"] <= pairs["retained_rolling"]).all()
    fourth = retention(rows, "4", kind="rolling").triangle
    ninth = retention(rows, "9").triangle
    for item, any_of, ever in zip(
        ninth["retained"], bracket["retained"], fourth["retained"], strict=True
    ):
        if item is not None:
            assert item <= any_of <= ever
    for table in (exact, rolling):
        assert (
            table.filter(pl.col("rate").is_not_null())
            .select(pl.col("rate").is_between(0, 1).all())
            .item()
        )
        assert table["rate"][0] == 1
        assert (
            table.select(
                (pl.col("low") <= pl.col("rate")) & (pl.col("rate") <= pl.col("high"))
            )
            .to_series()
            .all()
        )


@given(events=EVENTS)
def test_everybody_is_new_once(events: list[tuple[int, int, str | None]]) -> None:
    """New users add up to users, in all and in segments; logins are new and returning ones."""
    users = len({user for user, _, _ in events})
    for by in (None, "segment"):
        cohorts = retention(frame(events), by=by)
        assert cohorts.periods["new"].sum() == users == cohorts.audit.users
        assert cohorts.cohorts.filter(age=0)["size"].sum() == users
        assert (cohorts.periods["new"] + cohorts.periods["returning"]).equals(
            cohorts.periods["login"]
        )
    each = retention(frame(events), by="segment", segments="each")
    assert each.periods["new"].sum() == len(
        {(user, segment) for user, _, segment in events}
    )


@given(events=EVENTS)
def test_users_apart_are_distinguished(
    events: list[tuple[int, int, str | None]],
) -> None:
    """Where no user changes segments, first and each are the same, and a segment alone gives its numbers."""
    settled = [(user, day, "xyz"[user % 3]) for user, day, _ in events]
    first, each = (
        retention(frame(settled), by="segment", segments=how)
        for how in ("first", "each")
    )
    assert numbers(first) == numbers(each)
    for name in first.periods["segment"].unique():
        last = FIRST + timedelta(days=max(day for _, day, _ in settled))
        alone = retention(
            frame([row for row in settled if row[2] == name]), end=last
        ).days
        assert (
            first.days.filter(segment=name)
            .drop("segment", "censored")
            .equals(alone.drop("censored"))
        )


@given(
    instants=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 40 * 86_400)),
        min_size=1,
        max_size=40,
    ),
    start=st.sampled_from(
        [datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 10, 20, tzinfo=UTC)]
    ),
)
def test_all_forms_of_a_time_are_one(
    instants: list[tuple[int, int]], start: datetime
) -> None:
    """Times with a zone, texts, and numbers of every unit mean the same days."""
    times = [start + timedelta(seconds=second) for _, second in instants]
    users = [user for user, _ in instants]
    seconds = [int(time.timestamp()) for time in times]
    forms: list[Any] = [
        times,
        [time.isoformat() for time in times],
        [time.strftime("%Y-%m-%d %H:%M:%S.000Z") for time in times],
        [time.strftime("%Y-%m-%dT%H:%M:%S+00") for time in times],
        *([second * per for second in seconds] for per in (1, 10**3, 10**6, 10**9)),
        [str(second) for second in seconds],
        [second + 0.25 for second in seconds],
    ]
    values = [
        numbers(retention({"user_id": users, "time": form}, tz="America/New_York"))
        for form in forms
    ]
    assert all(item == values[0] for item in values)
