"""``rankstone online`` with values and times at the ends of what can be written: refused, never a crash."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from datetime import date, datetime
from itertools import product
from typing import TYPE_CHECKING, Any

import click
import polars as pl
from tests.command_line import command, commands, exit_code
from tests.night import part
from tests.rows import each

import rankstone
from rankstone.errors import RankstoneError
from rankstone.online import clicks, retention

if TYPE_CHECKING:
    from pathlib import Path

LOG = """\
impression_id,query_id,doc_id,position,clicked,variant,user_id,time,propensity,reward
1,q1,a,1,1,x,u1,2024-01-01T10:00:00Z,0.5,1
1,q1,b,2,0,x,u1,2024-01-01T10:00:00Z,0.5,0
2,q1,b,1,0,y,u2,2024-01-02T10:00:00Z,0.5,0
2,q1,a,2,1,y,u2,2024-01-02T10:00:00Z,0.5,1
3,q2,c,1,1,x,u3,2024-02-02T10:00:00Z,0.25,1
3,q2,d,2,1,x,u3,2024-02-02T10:00:00Z,0.25,0
4,q2,c,1,0,y,u4,2024-03-02T10:00:00Z,0.25,0
4,q2,d,2,1,y,u4,2024-03-02T10:00:00Z,0.25,1
"""
RUNS = ("q1 Q0 a 1 2 r\nq1 Q0 b 2 1 r\n", "q1 Q0 b 1 2 s\nq1 Q0 a 2 1 s\n")
VALUES = (
    *("0", "-1", "1.5", "nan", "-inf", "1e308", "1e-320", "9223372036854775808"),
    *("0,0", "1..1000000000", "x=1", "", "0001-01-01", "9999-12-31", "10000-01-01"),
)


def files(folder: Path) -> dict[str, list[str]]:
    """Return the commands with files that they can read."""
    log = folder / "log.csv"
    log.write_text(LOG)
    runs = [folder / "a.run", folder / "b.run"]
    for run, text in zip(runs, RUNS, strict=True):
        run.write_text(text)
    return {
        "online retention": [str(log)],
        "online clicks": [str(log)],
        "online counterfactual": [str(log), str(runs[0])],
        "online interleave": [str(run) for run in runs],
        "online ab": [str(log)],
    }


def numeric(option: Any) -> bool:
    """Say whether an option takes numbers or dates."""
    if not isinstance(option, click.Option) or option.is_flag:
        return False
    words = {"start", "end", "since", "days", "discount", "propensities", "shares"}
    listed = getattr(option, "listed", "")
    return option.type.name in ("integer", "float", "integer range") or listed in (
        words | {"smoothing", "thresholds", "time-unit", "tz", "cluster", "invalid"}
    )


@each("name", ["retention", "clicks", "counterfactual", "interleave", "ab"])
def test_no_value_of_an_option_is_a_crash(tmp_path: Path, name: str) -> None:
    """Every option of numbers or times takes a value, or refuses it in words."""
    arguments = files(tmp_path)[f"online {name}"]
    options = list(filter(numeric, commands()[f"online {name}"].params))
    assert len(options) > 4
    for option, value in product(options, VALUES):
        inputs = ("online", name, *arguments, "--quiet", f"{option.opts[0]}={value}")
        assert exit_code(inputs) in (0, 2, 3), inputs


TIMES: tuple[Any, ...] = (
    *(
        [0, 1],
        [-5, 10**19],
        [1e308, -1e308],
        [2**63 - 1, -(2**63)],
        [17 * 10**8, 9 * 10**12],
    ),
    *(
        [1700000000000, 1700000000],
        [0, 1700500000000],
        [1700000000, 9999999999],
        ["0001-01-01"],
    ),
    *(
        ["9999-12-31"],
        ["9999-12-31T23:59:59Z"],
        ["0000-01-01"],
        ["2024-01-01", "9999-12-31"],
    ),
    *([date.min, date.max], [datetime.min, datetime.max], ["1e400"], ["-1e19", "1"]),  # noqa: DTZ901
)


#: all units, with one of both zones in turn; at night with both
ZONED = [
    (times, unit, zone)
    for turn, times in enumerate(TIMES)
    for unit, zone in part(
        product((None, "s", "ns"), (None, "Pacific/Kiritimati")), 2, turn
    )
]


@each(("times", "unit", "zone"), ZONED)
def test_no_time_is_a_crash(times: list[Any], unit: Any, zone: str | None) -> None:
    """Times far from ours are read, or refused; what is advised is no dead end."""
    table = {"user_id": [f"u{index}" for index in range(len(times))], "time": times}
    log = {
        **table,
        "query_id": table["user_id"],
        "doc_id": table["user_id"],
        "clicked": [1.0] * len(times),
    }
    options: dict[str, Any] = {"time_unit": unit, "tz": zone}
    for verb, events in ((retention, table), (clicks, log)):
        with suppress(RankstoneError):
            verb(pl.DataFrame(events, strict=False), invalid="drop", **options)
        try:
            verb(pl.DataFrame(events, strict=False), **options)
        except RankstoneError as error:
            fix = str(error.fix)
            advised = dict(re.findall(r"(time_unit|start|end|invalid)=([\w-]+)", fix))
            if unit is None and advised and "…" not in fix:
                verb(pl.DataFrame(events, strict=False), **{**options, **advised})


@each(
    ("rows", "advised"),
    [
        (["a,1700000000000", "b,1700000500000"], "--time-unit ms"),
        (
            ["a,0", "b,1700000500000", "c,1700100000000"],
            "--time-unit ms --start 2023-11-14",
        ),
        (["a,1700000000", "b,9999999999"], "--time-unit s --end 2023-11-14"),
        (["a,1700000000", "b,99999999999999"], "--time-unit s --invalid drop"),
    ],
)
def test_advice_on_units_works(tmp_path: Path, rows: list[str], advised: str) -> None:
    """A unit and a limit that are advised, pasted into the command, give a result."""
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["user_id,time", *rows, ""]))
    wrong = ("--time-unit", "s") if "ms" in advised and len(rows) == 2 else ()

    refused = command("online", "retention", log, *wrong, code=3)

    (fix,) = (line for line in refused.stderr.splitlines() if line.startswith("  fix:"))
    assert " ".join(re.findall(r"--[\w-]+ [\w-]+", fix)) == advised
    command("online", "retention", log, *shlex.split(advised))


def test_two_units_are_named(tmp_path: Path) -> None:
    """Milliseconds among seconds have no unit; the row is named, and what converts them."""
    log = tmp_path / "log.csv"
    log.write_text("user_id,time\na,1700000000000\nb,1700000000\n")

    refused = command("online", "retention", log, code=3).stderr
    unreadable = command("online", "retention", log, "--time-unit", "s", code=3).stderr

    assert "divide those above 4102444800 by 1000" in refused
    assert "log.csv:2: 1 row with a time that cannot be read" in unreadable
    assert "1700000000000" in unreadable


def test_the_last_month_ends_with_observation(tmp_path: Path) -> None:
    """What is not complete is the month of the end that is given, by that day."""
    log = tmp_path / "log.csv"
    log.write_text(
        "user_id,time\na,2023-10-15\na,2023-11-20\nc,2023-11-15\nc,2023-12-31\n"
    )

    cohorts = retention(log, unit="month", end="2024-01-15")
    until = retention(log, unit="month")
    month = retention(
        pl.DataFrame({"user_id": ["a"], "time": ["2024-01-30"]}), unit="month"
    )

    (warning,) = cohorts.audit.warnings
    assert warning.startswith(
        "the last month, from 2024-01-01, is not complete by 2024-01-15"
    )
    assert not until.audit.warnings
    (warning,) = month.audit.warnings
    assert warning.startswith(
        "the last month, from 2024-01-01, is not complete by 2024-01-30"
    )


def test_cohorts_are_those_with_users(tmp_path: Path) -> None:
    """Days without new users are no cohorts of the page."""
    log = {
        "user_id": ["a", "b", "a"],
        "time": ["2024-01-01", "2024-01-20", "2024-01-30"],
    }

    rankstone.report(retention(log), tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"\d+ cohorts", page) == ["2 cohorts"]
