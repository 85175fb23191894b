"""``rankstone online retention`` as a user meets it: tables, drawings, files, mistakes."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import command as run

from rankstone.online.cohort_retention import retention

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write the log of the documents, with a platform, by other names of columns."""
    rows = [("abcd", 0), ("abe", 1), ("ac", 3), ("a", 7)]
    frame = pl.DataFrame(
        [
            (
                user,
                (date(2024, 1, 1) + timedelta(days=day)).isoformat(),
                "web" if user in "ab" else "app",
            )
            for users, day in rows
            for user in users
        ],
        ["uid", "ts", "platform"],
        orient="row",
    )
    frame.write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


NAMED = ("--columns", "uid=user_id,ts=time")


def test_what_is_printed(log: Path) -> None:
    """A row a day, what was left out, the audit, and what the numbers depend on."""
    lines = run("online", "retention", log, *NAMED).stdout.splitlines()

    assert lines[0].split("  ")[0] == "day"
    assert [line.split()[:6] for line in lines[1:5]] == [
        ["1", "2", "0", "5", "2", "0.4000"],
        ["3", "2", "0", "5", "2", "0.4000"],
        ["7", "1", "1", "4", "1", "0.2500"],
        ["30", "0", "2", "0", "0", "–"],
    ]
    assert lines[5].startswith("events  10 rows, 5 users, 2024-01-01 to 2024-01-08")
    assert lines[-1].startswith(
        "conventions  unit=day kind=exact day_origin=0 days=1,3,7,30"
    )


def test_the_numbers_are_pythons(log: Path) -> None:
    """CSV, JSON lines and JSON hold what Python returns, to the last digit."""
    cohorts = retention(
        str(log), columns={"uid": "user_id", "ts": "time"}, by="platform"
    )
    frames = {
        "days": cohorts.days,
        "cohorts": cohorts.triangle,
        "periods": cohorts.periods,
        "curve": cohorts.curve,
    }
    for show, frame in (frames | {"differences": cohorts.differences}).items():
        words = ("online", "retention", log, *NAMED, "--by", "platform", "--show", show)
        rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
        lines = [
            json.loads(line)
            for line in run(*words, "--format", "jsonl").stdout.splitlines()
        ]
        assert lines == frame.cast({pl.Date: pl.String}).to_dicts()
        assert [list(row) for row in rows] == [frame.columns] * frame.height
    report = json.loads(
        run(
            "online", "retention", log, *NAMED, "--by", "platform", "--format", "json"
        ).stdout
    )
    assert report == cohorts.report()


def test_tables_for_people(log: Path) -> None:
    """The triangle is a row a cohort, blank where it is unknown; Markdown and LaTeX have the same cells."""
    table = run(
        "online", "retention", log, *NAMED, "--show", "cohorts", "--digits", 2
    ).stdout.splitlines()
    assert table[0].split() == [
        "cohort",
        "size",
        "day",
        "1",
        "day",
        "3",
        "day",
        "7",
        "day",
        "30",
    ]
    assert table[1].split() == ["2024-01-01", "4", "0.50", "0.50", "0.25"]
    assert table[2].split() == ["2024-01-02", "1", "0.00", "0.00"]
    markdown = run(
        "online", "retention", log, *NAMED, "--format", "md"
    ).stdout.splitlines()
    assert markdown[2].startswith("| 1 | 2 | 0 | 5 | 2 | 0.4000 |")
    latex = run(
        "online", "retention", log, *NAMED, "--show", "periods", "--format", "latex"
    ).stdout
    assert r"2024-01-02 & 1 & 2 & 3 & 3.0000 &  \\" in latex
    words = ("--by", "platform", "--versus", "app", "--days", "1")
    segments = run(
        "online", "retention", log, *NAMED, *words, env={"COLUMNS": "200"}
    ).stdout
    assert segments.splitlines()[0].startswith("platform  day  cohorts")
    assert ["web", "app", "1", "2", "3", "1.0000"] in [
        line.split()[:6] for line in segments.splitlines()
    ]


def test_the_curve_is_drawn(log: Path) -> None:
    """--plot draws it above the table, with a legend for segments."""
    plain = run("online", "retention", log, *NAMED, "--plot").stdout
    segments = run(
        "online", "retention", log, *NAMED, "--plot", "--by", "platform"
    ).stdout

    assert "┤" in plain.splitlines()[0]
    assert "└─" in plain
    assert "a app   b web" in segments


def test_files_are_written(log: Path, tmp_path: Path) -> None:
    """-o takes the text, --cohorts the whole triangle, in the format of its suffix."""
    run(
        "online",
        "retention",
        log,
        *NAMED,
        "-o",
        tmp_path / "out.txt",
        "--cohorts",
        tmp_path / "all.parquet",
    )
    cohorts = retention(str(log), columns={"uid": "user_id", "ts": "time"})

    assert (tmp_path / "out.txt").read_text().startswith("day")
    assert pl.read_parquet(tmp_path / "all.parquet").equals(cohorts.cohorts)


def test_charts_and_the_page(log: Path, tmp_path: Path) -> None:
    """Charts by their suffix, and the page, are whole files."""
    pytest.importorskip("vl_convert", reason="charts need the extra: report")
    page, chart, heat = tmp_path / "r.html", tmp_path / "c.svg", tmp_path / "h.png"
    run(
        "online",
        "retention",
        log,
        *NAMED,
        "--report",
        page,
        "--chart",
        chart,
        "--heatmap",
        heat,
        "--by",
        "platform",
    )

    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "rankstone online retention" in page.read_text("utf-8")
    assert chart.read_text("utf-8").startswith("<svg")
    assert heat.read_bytes()[:4] == b"\x89PNG"


def test_from_standard_input_and_a_database(log: Path, tmp_path: Path) -> None:
    """A log may come through a pipe, or from a table of a database, in pieces."""
    duckdb = pytest.importorskip("duckdb", reason="no DuckDB: pip install duckdb")
    expected = run("online", "retention", log, *NAMED, "--format", "csv").stdout

    assert (
        run(
            "online", "retention", "-", *NAMED, "--format", "csv", stdin=log.read_text()
        ).stdout
        == expected
    )
    with duckdb.connect(str(tmp_path / "logs.db")) as connection:
        connection.execute(
            f"CREATE TABLE log AS SELECT uid, ts::TIMESTAMP AS ts FROM '{log}'"  # noqa: S608 - a test's
        )
    assert (
        run(
            "online",
            "retention",
            f"duckdb:{tmp_path / 'logs.db'}#log",
            *NAMED,
            "--format",
            "csv",
        ).stdout
        == expected
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--returns", "exat"], 2, "did you mean exact"),
        (["--show", "differences"], 2, "--by COLUMN"),
        (["--show", "day"], 2, "did you mean days"),
        (["--cohorts", "all.xls"], 2, "--cohorts all.xls: no known suffix"),
        (["--chart", "c.gif"], 2, "--chart c.gif: no known suffix"),
        (["--tz", "Europe/Berlin"], 2, "leave out --tz Europe/Berlin"),
        (["--format", "xls"], 2, "--format xls"),
        (["--by", "plattform"], 3, "did you mean platform"),
        (
            ["--columns", "uid=user_id,tss=time"],
            2,
            "instead: --columns uid=user_id,ts=time",
        ),
        (["--days", "0", "--day-origin", "1"], 2, "comes before the first day"),
    ],
)
def test_mistakes(log: Path, arguments: list[str], code: int, message: str) -> None:
    """Each ends with its exit code and what to do, in the words of a shell, and prints nothing."""
    done = run("online", "retention", log, *NAMED, *arguments, code=code)

    assert message in done.stderr
    assert not done.stdout


def test_the_input_is_spared(log: Path) -> None:
    """No output may be the input."""
    done = run("online", "retention", log, *NAMED, "--cohorts", log, code=2)

    assert "is also an input" in done.stderr
    assert log.read_text().startswith("uid,ts")
