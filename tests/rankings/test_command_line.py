"""``rankstone diff`` as a user meets it: what it prints, where, and how it ends."""

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


run = partial(command, "diff", env={"COLUMNS": "200"})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs: a document moves up, one comes, one goes; a query each that the other lacks."""
    old, new = tmp_path / "old.run", tmp_path / "new.run"
    old.write_text("q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq1 Q0 d3 3 2 t\nq2 Q0 d1 1 1 t\n")
    new.write_text("q1 Q0 d2 1 3 t\nq1 Q0 d1 2 2 t\nq1 Q0 d4 3 1 t\nq3 Q0 d1 1 1 t\n")
    return old, new


def test_a_table_says_everything(files: tuple[Path, Path]) -> None:
    """Means with their spread, the audit and the conventions."""
    lines = run(*files, "-m", "Jaccard@2 tau_b").stdout.splitlines()
    words = [line.split() for line in lines]
    head = [
        word
        for line in words[
            : words.index(next(line for line in words if "0.3333" in line))
        ]
        for word in line
    ]

    assert head == [
        "measure",
        "mean",
        "min",
        "median",
        "max",
        "queries",
        "without",
        "value",
    ]
    assert ["Jaccard@2", "0.3333", "0.3333", "0.3333", "0.3333", "1", "2"] in words
    assert ["tau_b", "-1.0000", "-1.0000", "-1.0000", "-1.0000", "1", "2"] in words
    assert (
        "old   2 queries × 1–3 (median 2) documents · 2 tied rows in 1 query" in lines
    )
    assert any(
        line.startswith("both  1 query in common · 1 query only in old (q2), without")
        for line in lines
    )
    assert not [line for line in lines if line.startswith("conventions")]
    whole = run(*files, "-m", "Jaccard@2 tau_b", "--verbose").stdout.splitlines()
    assert (
        whole[-1]
        == "conventions  order=score score_dtype=float64 ties=docid_desc duplicates=error"
    )


def test_two_lists_side_by_side(files: tuple[Path, Path]) -> None:
    """--query shows where each document came from and where it went."""
    lines = run(*files, "--query", "q1", "-m", "Jaccard").stdout.splitlines()

    assert lines[0] == "query q1 · Jaccard 0.5000"
    assert lines[2].split() == ["rank", "old", "now", "at", "new", "moved"]
    assert [line.split() for line in lines[3:6]] == [
        ["1", "d1", "2", "d2", "▲", "2"],
        ["2", "d3", "~", "gone", "d1", "▼", "1"],
        ["3", "d2", "~", "1", "d4", "new"],
    ]
    assert any(
        line.startswith("~ ties in score with a neighbour") for line in lines[6:]
    )


def test_long_lists_are_cut_for_the_eye() -> None:
    """Twenty ranks are shown unless --depth says how many, and what is left out is stated."""
    out = run(BM25, TFIDF, "--query", "q14").stdout.splitlines()

    assert out[-1] == "30 more ranks; --depth N shows and compares the first N"
    assert _ranks(out[:-1]) == list(range(1, 21))
    assert _ranks(
        run(BM25, TFIDF, "--query", "q14", "--depth", "5").stdout.splitlines()
    ) == [1, 2, 3, 4, 5]


def _ranks(lines: list[str]) -> list[int]:
    return [
        int(line.split()[0])
        for line in lines
        if line.strip() and line.split()[0].isdigit()
    ]


def test_queries_that_changed_most() -> None:
    """--top shows as many queries, the least alike by the first measure first."""
    out = run(BM25, TFIDF, "-m", "RBO(p=0.9) tau_b", "--top", "3").stdout
    rows = [
        json.loads(line)
        for line in run(
            BM25, TFIDF, "-m", "RBO(p=0.9) tau_b", "--top", "3", "--format", "jsonl"
        ).stdout.splitlines()
    ]

    assert "changed most by RBO(p=0.9)" in out
    assert [row["query_id"] for row in rows] == [
        line.split()[0]
        for line in out.splitlines()
        if line.startswith(" q") and " 0." in line
    ]
    assert [row["RBO(p=0.9)"] for row in rows] == sorted(
        row["RBO(p=0.9)"] for row in rows
    )


def test_machine_formats_carry_full_precision() -> None:
    """CSV, JSON lines and JSON hold every digit; the audit goes to standard error."""
    done = run(BM25, TFIDF, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    lines = [
        json.loads(line)
        for line in run(BM25, TFIDF, "--format", "jsonl").stdout.splitlines()
    ]
    report = json.loads(run(BM25, TFIDF, "--format", "json", "--top", "2").stdout)

    assert [float(row["value"]) for row in rows] == [line["value"] for line in lines]
    assert [entry["value"] for entry in report["measures"].values()] == [
        line["value"] for line in lines
    ]
    assert set(report) == {
        "measures",
        "notes",
        "audit",
        "conventions",
        "inputs",
        "changed",
    }
    assert len(report["changed"]) == 2
    assert "31 queries in common" in done.stderr
    assert not run(BM25, TFIDF, "--format", "csv", "--quiet").stderr


def test_a_query_in_every_format(files: tuple[Path, Path]) -> None:
    """The lists of a query are rows in CSV and JSON lines, an object in JSON, a table in Markdown."""
    query = json.loads(run(*files, "--query", "q1", "--format", "json").stdout)
    rows = list(
        csv.DictReader(
            io.StringIO(run(*files, "--query", "q1", "--format", "csv").stdout)
        )
    )

    assert query["query_id"] == "q1"
    assert (
        [row["b"] for row in query["lists"]]
        == [row["b"] for row in rows]
        == ["d2", "d1", "d4"]
    )
    assert (
        "\n| rank | old | now at | new | moved |\n"
        in run(*files, "--query", "q1", "--format", "md").stdout
    )
    assert (
        len(run(*files, "--query", "q1", "--format", "jsonl").stdout.splitlines()) == 3
    )
    assert "(only_a)" in run(*files, "--query", "q2").stdout


def test_values_per_query_are_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    """--per-query writes by suffix, -o writes what would be printed; neither over an input."""
    target, text = tmp_path / "values.parquet", tmp_path / "out.json"
    done = run(*files, "--per-query", target, "-o", text, "--format", "json")

    assert not done.stdout
    assert pl.read_parquet(target).height == 3 * 3
    assert json.loads(text.read_text())["inputs"] == {
        "a": str(files[0]),
        "b": str(files[1]),
    }
    assert "is also an input" in run(*files, "-o", files[0], code=2).stderr
    assert "no known suffix" in run(*files, "--per-query", "values.xls", code=2).stderr


def test_ids_are_untrusted(tmp_path: Path) -> None:
    """Terminal escapes in ids do nothing, in tables, in Markdown and in the audit."""
    a, b = tmp_path / "a.run", tmp_path / "b.run"
    a.write_text("q1 Q0 d\x1b[31m|x 1 3 t\nq\x1b[2J Q0 d 1 1 t\n")
    b.write_text("q1 Q0 d\x1b[31m|x 1 3 t\n")
    for arguments in (
        ["--query", "q1"],
        ["--top", "5"],
        ["--query", "q\x1b[2J"],
        ["--query", "q1", "--format", "md"],
    ):
        assert "\x1b" not in run(a, b, *arguments).stdout

    assert "\\|x" in run(a, b, "--query", "q1", "--format", "md").stdout


def test_names_and_standard_input(files: tuple[Path, Path]) -> None:
    """name=FILE names a run; one of the runs may come from standard input, and be read twice."""
    assert "before" in run(f"before={files[0]}", f"after={files[0]}").stdout
    assert (
        "d4" in run(files[0], "-", "--query", "q1", stdin=files[1].read_text()).stdout
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([BM25], 2, "two runs are needed"),
        ([BM25, TFIDF, BM25], 2, "two runs are needed"),
        (["-", "-"], 2, "only once"),
        ([BM25, TFIDF, "-m", "RBO"], 2, "RBO(p=0.9)"),
        ([BM25, TFIDF, "-m", "nDCG@10"], 2, "rankstone eval"),
        ([BM25, TFIDF, "--ties", "best"], 2, "judgments"),
        ([BM25, TFIDF, "--format", "jsn"], 2, "did you mean json"),
        ([BM25, TFIDF, "--query", "q144"], 3, "did you mean q14"),
        ([BM25, "nowhere.run"], 3, "no such file"),
        ([BM25, BM25], 2, "two runs have the name"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[object], code: int, message: str
) -> None:
    """A user's mistake ends with its exit code and a message, never with a traceback."""
    assert message in run(*arguments, code=code).stderr
