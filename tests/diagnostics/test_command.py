"""`rankstone bounds` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import command

from rankstone import demo

if TYPE_CHECKING:
    from pathlib import Path

BM25, TFIDF = demo.RUNS["bm25"], demo.RUNS["tfidf"]


bounds = partial(command, "bounds")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """One query; the relevant document first or second, an unjudged one beside it."""
    qrels, first, other = tmp_path / "qrels.txt", tmp_path / "a.run", tmp_path / "b.run"
    qrels.write_text("q1 0 d1 1\n")
    first.write_text("q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\n")
    other.write_text("q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 0.8 t\n")
    return qrels, first, other


def test_a_table_of_one_run(files: tuple[Path, Path, Path]) -> None:
    """Score, lowest, highest and certificate; the scale and the audit below."""
    lines = bounds(files[0], files[2], "-m", "RR P@2").stdout.splitlines()

    assert lines[0].split() == [
        "run",
        "measure",
        "score",
        "lowest",
        "highest",
        "certificate",
    ]
    assert lines[1].split() == ["b", "RR", "0.5000", "0.5000", "1.0000", "proven"]
    assert lines[2].split() == ["b", "P@2", "0.5000", "0.5000", "1.0000", "proven"]
    assert "in the lists: 0 1" in lines[3]
    assert not [line for line in lines if line.startswith("conventions")]


def test_two_runs_are_held_against_each_other(files: tuple[Path, Path, Path]) -> None:
    """With two runs there is a difference, and whether its sign is certain."""
    out = bounds(*files, "-m", "RR AP").stdout.splitlines()
    rows = {
        tuple(line.split()[:4]): line.split()
        for line in out
        if line.startswith("a - b")
    }

    assert out[0].split()[-2:] == ["a", "is"]
    assert rows["a", "-", "b", "RR"][4:] == [
        "0.5000",
        "0.0000",
        "0.5000",
        "proven",
        "uncertain",
    ]
    assert rows["a", "-", "b", "AP"][4:] == [
        "0.5000",
        "0.0000",
        "0.5000",
        "enumerated",
        "uncertain",
    ]


def test_formats_and_files(tmp_path: Path, files: tuple[Path, Path, Path]) -> None:
    """JSON, JSON lines, CSV and Markdown say the same; --per-query and -o write files."""
    report = json.loads(bounds(*files, "-m", "RR", "--format", "json").stdout)
    rows = [
        json.loads(line)
        for line in bounds(*files, "-m", "RR", "--format", "jsonl").stdout.splitlines()
    ]
    table = list(
        csv.DictReader(
            io.StringIO(bounds(*files, "-m", "RR", "--format", "csv").stdout)
        )
    )
    bounds(
        *files,
        "-m",
        "RR",
        "--per-query",
        tmp_path / "q.parquet",
        "-o",
        tmp_path / "out.md",
        "--format",
        "md",
    )

    assert report["difference"] == ["a", "b"]
    assert report["runs"]["b"]["RR"]["high"] == 1.0
    assert (
        [row["low"] for row in rows]
        == [float(row["low"]) for row in table]
        == [1.0, 0.5, 0.0]
    )
    assert pl.read_parquet(tmp_path / "q.parquet")["run"].to_list() == [
        "a",
        "b",
        "a - b",
    ]
    assert (tmp_path / "out.md").read_text().startswith("| run |")


def test_scale_and_limit(files: tuple[Path, Path, Path]) -> None:
    """--grades gives the scale, --limit how much is tried."""
    out = bounds(files[0], files[1], "-m", "CG", "--scale", "0,1,5").stdout
    wide = bounds(*files, "-m", "AP", "--limit", "1").stdout

    assert out.splitlines()[1].split()[2:5] == ["1.0000", "1.0000", "6.0000"]
    assert "outer: contains every possible score" in wide


def test_mistakes_are_explained(files: tuple[Path, Path, Path]) -> None:
    """A user's mistake ends with code 2 and says what to do."""
    assert "at least one run" in bounds(files[0], code=2).stderr
    assert "nothing to bound" in bounds(*files, "-m", "Judged", code=2).stderr
    assert (
        "must be numbers, separated by commas"
        in bounds(*files, "--scale", "a,b", code=2).stderr
    )
    assert "did you mean" in bounds(*files, "--format", "jsn", code=2).stderr


def test_the_demo_says_which_ranker_is_certainly_above() -> None:
    """On the demo collection the first relevant document decides for BM25, whatever is unjudged."""
    report = json.loads(
        bounds(
            demo.QRELS, BM25, TFIDF, "-m", "RR@10 nDCG@10", "--format", "json"
        ).stdout
    )

    assert report["runs"]["bm25 - tfidf"]["RR@10"]["sign"] == ">"
    assert report["runs"]["bm25 - tfidf"]["nDCG@10"]["sign"] == "?"
