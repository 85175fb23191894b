"""Events and registrations that say too little or contradict one another: an error that helps, or a count."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.rows import each

from rankstone.errors import (
    BadOption,
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    MissingColumn,
    MixedIds,
    RankstoneError,
    UsageError,
)
from rankstone.online.cohort_retention import retention

if TYPE_CHECKING:
    from pathlib import Path

LOG: dict[str, list[Any]] = {
    "user_id": ["a", "b", "a", "c"],
    "time": ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-03"],
    "app": ["1", "1", "2", None],
}


def test_rows_that_say_nothing(tmp_path: Path) -> None:
    """Rows without a user, a time, or one that can be read are refused with their line, or counted."""
    log = tmp_path / "log.csv"
    log.write_text(
        "user_id,time\na,2024-01-01\n,2024-01-01\nb,\nc,2024-01-32\nd,2024-01-02\n"
    )
    with pytest.raises(BadValue, match="1 row without a user") as refused:
        retention(str(log))
    assert refused.value.where == f"{log}:3"
    log.write_text("user_id,time\na,2024-01-01\nb,\nc,2024-01-32\nd,2024-01-02\n")
    with pytest.raises(BadValue, match="1 row without a time") as refused:
        retention(str(log))
    assert (refused.value.where, refused.value.given) == (f"{log}:3", "user b")
    log.write_text("user_id,time\na,2024-01-01\nc,2024-02-30\nd,soon\ne,2024-01-02\n")
    with pytest.raises(
        BadValue, match="2 rows with a time that cannot be read"
    ) as refused:
        retention(str(log))
    assert (refused.value.where, refused.value.given) == (f"{log}:3", "2024-02-30")

    cohorts = retention(str(log), invalid="drop")
    assert (cohorts.audit.rows, cohorts.audit.unreadable, cohorts.audit.users) == (
        4,
        2,
        2,
    )
    assert "2 rows with a time that cannot be read left out" in cohorts.audit.lines()[0]


def test_days_outside(tmp_path: Path) -> None:
    """Events before the start and after the end are left out and counted; all of them is an error."""
    cohorts = retention(LOG, "1", start="2024-01-02", end=date(2024, 1, 2))
    assert (cohorts.audit.outside, cohorts.audit.users, cohorts.first) == (
        3,
        1,
        date(2024, 1, 2),
    )
    with pytest.raises(EmptyInput, match="between start and end"):
        retention(LOG, start="2025-01-01")
    with pytest.raises(BadOption, match="is not a date"):
        retention(LOG, start="January")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(EmptyInput, match="the file is empty"):
        retention(str(tmp_path / "empty.csv"))
    with pytest.raises(EmptyInput):
        retention(
            {
                "user_id": pl.Series([], dtype=pl.String),
                "time": pl.Series([], dtype=pl.Date),
            }
        )


def test_since_is_the_first_cohort() -> None:
    """Who was there before is in no cohort, and returns."""
    cohorts = retention(LOG, "1", since="2024-01-02")

    assert cohorts.audit.in_no_cohort == 2
    assert cohorts.periods.select("period", "new", "returning", "login").rows() == [
        (date(2024, 1, 2), 0, 1, 1),
        (date(2024, 1, 3), 1, 0, 1),
    ]
    with pytest.raises(BadOption, match="since is after the last event"):
        retention(LOG, since="2025-01-01")


def test_a_clock_that_jumped() -> None:
    """A lone event half a century before is reported, and may be left out; a span too long is refused."""
    jumped = {"user_id": [*LOG["user_id"], "z"], "time": [*LOG["time"], "1999-01-01"]}
    warned = retention(jumped, unit="month", end="2024-01-31")
    assert "check for wrong times" in warned.audit.lines()[-1]
    assert (
        "no event for 299 months between 1999-01-01 and 2024-01-01"
        in warned.audit.lines()[-1]
    )
    assert not retention(
        jumped, unit="month", start="2024-01-01", end="2024-01-31"
    ).audit.warnings
    with pytest.raises(BadValue, match="too many cells") as refused:
        retention({"user_id": ["a", "a"], "time": ["1970-01-01", "2024-01-01"]})
    assert "start=" in str(refused.value)


def test_weeks_that_are_not_over() -> None:
    """The last week is called incomplete unless it is watched to its end."""
    assert (
        "the last week, from 2024-01-01, is not complete by 2024-01-03"
        in retention(LOG, unit="week").audit.lines()[-1]
    )
    assert not retention(LOG, unit="week", end="2024-01-07").audit.warnings


# -- registrations -------------------------------------------------------------------------------------------
ACCOUNTS = {
    "user_id": ["a", "b", "c", "d"],
    "time": ["2024-01-01", "2024-01-01", "2024-01-03", "2024-01-02"],
}


def changed(**days: str) -> dict[str, list[str]]:
    return {"user_id": list(days), "time": list(days.values())}


def test_events_before_the_registration() -> None:
    """Refused, left out, or taken for the registration."""
    late = changed(a="2024-01-02", b="2024-01-01", c="2024-01-03")
    with pytest.raises(
        BadValue, match="1 user with events before their registration, such as a"
    ) as refused:
        retention(LOG, registrations=late)
    assert refused.value.where == "events, row 1"

    dropped, moved = (
        retention(LOG, "1", registrations=late, early=how) for how in ("drop", "move")
    )
    assert dropped.audit.registrations is not None
    assert dropped.audit.registrations.early == 1
    assert "1 user and period before registration" in dropped.audit.lines()[1]
    assert dropped.periods["new"].to_list() == [1, 1, 1]
    assert dropped.periods["login"].to_list() == [1, 1, 1]
    assert moved.periods["new"].to_list() == [2, 0, 1]
    assert moved.periods["login"].to_list() == [2, 1, 1]


def test_users_without_a_registration() -> None:
    """Refused, left out, registered by their first event, or there before."""
    result = changed(a="2024-01-01", b="2024-01-01")
    with pytest.raises(
        BadValue, match="1 user with events and without a registration, such as c"
    ):
        retention(LOG, registrations=result)
    counts = {}
    for how in ("drop", "first", "earlier"):
        cohorts = retention(LOG, "1", registrations=result, unregistered=how)
        assert cohorts.audit.registrations is not None
        assert cohorts.audit.registrations.unregistered == 1
        counts[how] = cohorts.periods.row(2)[1:4]
    assert counts == {"drop": (0, 0, 0), "first": (1, 0, 1), "earlier": (0, 1, 1)}


def test_who_registers_and_never_comes() -> None:
    """They are new, and in the size of their cohort."""
    cohorts = retention(LOG, "1", registrations=ACCOUNTS)

    assert cohorts.periods["new"].to_list() == [2, 1, 1]
    assert cohorts.triangle.filter(cohort=date(2024, 1, 2)).select(
        "size", "retained"
    ).row(0) == (1, 0)
    assert "1 user without an event" in cohorts.audit.lines()[1]


def test_users_who_register_twice() -> None:
    """On one day it is one registration; on several days it is refused, or one of them counts."""
    same = {
        "user_id": [*ACCOUNTS["user_id"], "a"],
        "time": [*ACCOUNTS["time"], "2024-01-01"],
    }
    assert retention(LOG, registrations=same).periods.equals(
        retention(LOG, registrations=ACCOUNTS).periods
    )
    assert (
        "1 user more than once" in retention(LOG, registrations=same).audit.lines()[1]
    )
    twice = {
        "user_id": [*ACCOUNTS["user_id"], "d"],
        "time": [*ACCOUNTS["time"], "2024-01-03"],
    }
    with pytest.raises(DuplicateRows, match="1 user on several days, such as d"):
        retention(LOG, registrations=twice)
    for how, new in (("first", [2, 1, 1]), ("last", [2, 0, 2])):
        assert (
            retention(LOG, registrations=twice, duplicate_registrations=how)
            .periods["new"]
            .to_list()
            == new
        )


def test_ids_of_two_kinds(tmp_path: Path) -> None:
    """Numbers and texts never match, but for the bare text of a file."""
    numbers = {"user_id": [1, 2], "time": ["2024-01-01", "2024-01-02"]}
    texts = {"user_id": ["1", "2"], "time": ["2024-01-01", "2024-01-01"]}
    with pytest.raises(MixedIds, match="of two types"):
        retention(numbers, registrations=texts)
    pl.DataFrame(texts).write_csv(tmp_path / "accounts.csv")
    cohorts = retention(numbers, "1", registrations=str(tmp_path / "accounts.csv"))
    assert cohorts.days.select("users", "retained").row(0) == (2, 1)


# -- segments ------------------------------------------------------------------------------------------------
def test_who_has_several_segments_or_none() -> None:
    """The first event's segment counts, and of several at one time the least; who has none is distinguished."""
    first, each = (
        retention(LOG, "1", by="app", segments=how) for how in ("first", "each")
    )
    assert (first.audit.several_segments, first.audit.no_segment) == (1, 1)
    assert dict(first.periods.group_by("app").agg(pl.col("new").sum()).rows()) == {
        "1": 2,
        None: 1,
    }
    assert dict(each.periods.group_by("app").agg(pl.col("new").sum()).rows()) == {
        "1": 2,
        "2": 1,
        None: 1,
    }
    tie = {
        "user_id": ["u", "u"],
        "time": ["2024-01-01T00:00:00Z"] * 2,
        "app": ["b", "a"],
    }
    assert retention(tie, by="app").periods["app"].to_list() == ["a"]


def test_segments_of_the_registrations() -> None:
    """A column of the registrations tells users apart, whoever never came among them."""
    accounts = {**ACCOUNTS, "channel": ["ad", "ad", "friend", "friend"]}
    cohorts = retention(LOG, "1", registrations=accounts, by="channel")

    assert dict(
        cohorts.periods.group_by("channel").agg(pl.col("new").sum()).rows()
    ) == {"ad": 2, "friend": 2}
    assert cohorts.audit.no_segment == 0


def test_a_segment_without_users() -> None:
    """It is refused by name, with the nearest; group the values into segments first."""
    with pytest.raises(BadOption, match="there is no segment 3"):
        retention(LOG, by="app", versus="3")
    with pytest.raises(UsageError, match="versus=1 needs segments"):
        retention(LOG, versus="1")
    with pytest.raises(MissingColumn, match="no column platform"):
        retention(LOG, by="platform")
    with pytest.raises(UsageError, match="no segments to compare"):
        _ = retention(LOG).differences
    many = {
        "user_id": list(range(2000)),
        "time": [date(2024, 1, 1)] * 2000,
        "id": list(range(2000)),
    }
    with pytest.raises(UsageError, match="group the values into segments first"):
        retention(many, by="id")
    subset = {**many, "id": [index % 60 for index in range(2000)]}
    with pytest.raises(UsageError, match="60 segments make 1,770 pairs"):
        _ = retention(subset, by="id").differences
    assert retention(subset, "0", by="id", versus="7").differences.height == 59


@each(
    ("options", "match"),
    [
        ({"unit": "dya"}, "did you mean day"),
        ({"kind": "exakt"}, "did you mean exact"),
        ({"days": "1,x"}, "'x' cannot be read"),
        ({"days": "7..3"}, "cannot be read"),
        ({"days": ""}, "cannot be read"),
        ({"days": "0", "day_origin": 1}, "comes before the first day"),
        ({"day_origin": 2}, "day_origin=2"),
        ({"invalid": "skip"}, "invalid='skip'"),
        ({"early": "skip"}, "early='skip'"),
        ({"unregistered": "skip"}, "unregistered='skip'"),
        ({"duplicate_registrations": "skip"}, "duplicate_registrations='skip'"),
        ({"segments": "all"}, "segments='all'"),
        ({"correction": "tukey"}, "correction='tukey'"),
        ({"week_start": "moonday"}, "did you mean monday"),
        ({"confidence": 95}, "confidence=95"),
        ({"columns": {"uid": "user_id", "a": "user_id"}}, ""),
    ],
)
def test_options_that_are_not_known(options: dict[str, Any], match: str) -> None:
    """Each is refused, with what is known."""
    days = options.pop("days", "1")
    if "columns" in options:
        assert (
            retention(LOG, days, **options).audit.users == 3
        )  # names that the table does not have are no matter
        return
    with pytest.raises(RankstoneError, match=match):
        retention(LOG, days, **options)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """Broken files are reported by line; other things are no tables."""
    broken = tmp_path / "log.csv"
    broken.write_text("user_id,time\na,2024-01-01\nb,2024-01-01,what,is,this\n")
    with pytest.raises(InputError, match="the row has 5 columns") as refused:
        retention(str(broken))
    assert refused.value.where == f"{broken}:3"
    broken.write_text("user_id,time,x\na,2024-01-01,1\nb,what,is,this\n")
    with pytest.raises(
        InputError, match="the row has 4 columns"
    ) as unread:  # also where no option needs x
        retention(str(broken))
    assert unread.value.where == f"{broken}:3"
    broken.write_text("user_id,time\n")
    with pytest.raises(EmptyInput, match="there are no rows"):
        retention(str(broken))
    (tmp_path / "log.jsonl").write_text(
        '{"user_id": 1, "time": "2024-01-01"}\n{"user_id": \n'
    )
    with pytest.raises(InputError, match="not a JSON object"):
        retention(str(tmp_path / "log.jsonl"))
    with pytest.raises(InputError, match="cannot be read as a table"):
        retention([1, 2, 3])
    with pytest.raises(MissingColumn, match="no column time") as named:
        retention({"user_id": [1], "timestamp": ["2024-01-01"]})
    assert "columns={'timestamp': 'time'}" in str(named.value)
    with pytest.raises(MixedIds, match="user_id holds fractions"):
        retention({"user_id": [1.5], "time": ["2024-01-01"]})


@pytest.mark.parametrize("by", ["user_id", "time"])
def test_groups_are_no_users_and_no_times(by: str) -> None:
    """What each event has of its own makes no groups, and is not suggested."""
    events = pl.DataFrame({"user_id": ["a", "b"], "time": [0, 1], "kind": ["x", "y"]})
    with pytest.raises(InputError, match=f"{by} makes no groups of users") as caught:
        retention(events, by=by)
    assert caught.value.fix is None
