"""``rankstone online clicks`` as a user meets it: tables, files, mistakes."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import command as run

from rankstone.online.click_judgments import clicks

if TYPE_CHECKING:
    from pathlib import Path

NAMED = ("--columns", "item=doc_id,click=clicked")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log by other names of columns, two documents that change places."""
    rows = [
        ("q", "a", 1, 1),
        ("q", "b", 2, 0),
        ("q", "b", 1, 1),
        ("q", "a", 2, 1),
        ("q", "a", 1, 0),
        ("q", "b", 2, 1),
    ]
    frame = pl.DataFrame(rows, ["query_id", "item", "position", "click"], orient="row")
    frame.write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


def test_what_is_printed(log: Path) -> None:
    """A row a pair, a row a position, the audit, and what the numbers depend on."""
    lines = run("online", "clicks", log, *NAMED).stdout.splitlines()

    assert lines[0].split() == [
        "query",
        "document",
        "relevance",
        "shown",
        "clicks",
        "effective",
        "error",
        "low",
        "high",
    ]
    assert lines[1].split()[:7] == ["q", "a", "0.6667", "3", "2", "3.0", "0.2722"]
    assert [line.split() for line in lines[5:7]] == [
        ["1", "3", "2", "0.6667", "–"],
        ["2", "3", "2", "0.6667", "–"],
    ]
    assert "log  6 rows, 6 impressions, 4 clicks" in lines
    assert lines[-1].startswith(
        "conventions  method=ctr smoothing=0,0 min_impressions=1 confidence=0.95"
    )


def test_judgments_are_scored_by(log: Path, tmp_path: Path) -> None:
    """What -o writes in any format is what eval takes for judgments."""
    (tmp_path / "a.run").write_text("q Q0 b 1 2 r\nq Q0 a 2 1 r\n")
    names = set()
    for name in ("q.parquet", "q.csv", "q.jsonl", "q.qrels", "q.txt"):
        words = ("--method", "ips", "--propensities", "1,0.5", "-o", tmp_path / name)
        run("online", "clicks", log, *NAMED, *words, "--quiet")
        names.add(
            run(
                "eval",
                tmp_path / name,
                tmp_path / "a.run",
                "-m",
                "nDCG",
                "--format",
                "csv",
            ).stdout
        )
    assert len(names) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["a.run", "log.csv", "q.parquet", "q.csv", "q.jsonl", "q.qrels", "q.txt"]
    )


def test_the_numbers_are_pythons(log: Path, tmp_path: Path) -> None:
    """CSV, JSON lines and JSON hold what Python returns, to the last digit; so does the file of JSON."""
    estimates = clicks(
        str(log),
        "pbm",
        columns={"item": "doc_id", "click": "clicked"},
        grades=[0.1, 0.9],
    )
    words = (
        "online",
        "clicks",
        log,
        *NAMED,
        "--method",
        "pbm",
        "--thresholds",
        "0.1,0.9",
    )

    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    lines = [
        json.loads(line)
        for line in run(*words, "--format", "jsonl").stdout.splitlines()
    ]
    assert lines == estimates.judgments.to_dicts()
    assert [list(row) for row in rows] == [estimates.judgments.columns] * 2
    assert json.loads(run(*words, "--format", "json").stdout) == estimates.report()
    run(*words, "-o", tmp_path / "all.json", "--positions", tmp_path / "positions.csv")
    assert json.loads((tmp_path / "all.json").read_text()) == estimates.report()
    assert (tmp_path / "positions.csv").read_text() == estimates.positions.write_csv()


def test_positions_are_propensities(log: Path, tmp_path: Path) -> None:
    """What the model found may be given to weigh clicks by."""
    positions = tmp_path / "positions.parquet"
    run("online", "clicks", log, *NAMED, "--method", "pbm", "--positions", positions)
    lines = run(
        "online", "clicks", log, *NAMED, "--method", "ips", "--propensities", positions
    ).stdout.splitlines()

    assert any(line.startswith("weights  effective sample size") for line in lines)


def test_tables_for_people(log: Path) -> None:
    """Markdown and LaTeX have the same cells; --top says how many; what was found in the log stands below."""
    done = run("online", "clicks", log, *NAMED, "--format", "md", "--top", 1)
    assert done.stdout.splitlines()[2].startswith("| q | a | 0.6667 | 3 | 2 |")
    assert "6 impressions" in done.stdout
    assert (
        r"q & b & 0.67 & 3 & 2 &"
        in run(
            "online", "clicks", log, *NAMED, "--format", "latex", "--digits", 2
        ).stdout
    )
    shown = run("online", "clicks", log, *NAMED, "--top", 1).stdout
    assert "shown  1 of 2 pairs, those with the most impressions" in shown


def test_mistakes(log: Path, tmp_path: Path) -> None:
    """Flags are named as the shell spells them, codes say whose mistake it is, and nothing is written."""
    for arguments, code, text in (
        (("--method", "magic"), 2, "--method 'magic' is not known"),
        (("--min-propensity", "0.5"), 2, "--method ips"),
        (("--lists", "sort"), 2, "error, keep, drop"),
        (("-o", tmp_path / "q.pdf"), 2, "no known suffix"),
        (("-o", log), 2, "is also an input"),
        (("--format", "xml"), 2, "--format xml is not known"),
        (("--method", "ips"), 3, "there is no column propensity"),
        (("--method", "ips", "--propensities", "1"), 3, "no propensity for position 2"),
        (
            ("--method", "ips", "--propensities", tmp_path / "no.csv"),
            3,
            "there is no such file",
        ),
        (
            ("--columns", "item=doc_id,click=clicked,nothing=session"),
            2,
            "no table has a column nothing",
        ),
    ):
        output = () if "-o" in arguments else ("-o", tmp_path / "out.csv")
        done = run("online", "clicks", log, *NAMED, *output, *arguments, code=code)
        assert text in done.stderr, done.stderr
    log.write_text("query_id,item,position,click\nq,\x1b[31ma,1,2\nq,b,2,1\n")
    done = run("online", "clicks", log, *NAMED, "-o", tmp_path / "out.csv", code=3)
    assert f"{log}:2: 1 row where clicked is not a number from 0 to 1" in done.stderr
    assert "\x1b" not in done.stderr
    assert "--invalid drop" in done.stderr
    assert not (tmp_path / "out.csv").exists()
