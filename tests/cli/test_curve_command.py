"""``rankstone curve`` as a user meets it: drawings, tables, formats, mistakes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from tests.command_line import command as run
from tests.rows import each

import rankstone
from rankstone import demo
from rankstone.tables.drawing import Line, drawn

BM25, TFIDF = demo.RUNS["bm25"], demo.RUNS["tfidf"]


def test_a_curve_is_drawn_and_described() -> None:
    """Heading, axis, one mark a run, means with intervals, noise, verdict, audit, seed, conventions."""
    lines = run("curve", demo.QRELS, BM25, TFIDF).stdout.splitlines()

    assert lines[0] == "PR: precision over recall, mean over queries"
    assert lines[2].startswith("  1 ┤")
    assert lines[17].strip().startswith("└─")
    assert lines[20].split() == ["recall", "a", "bm25", "b", "tfidf"]
    assert lines[21].split()[0] == "0"
    assert lines[31].split()[0] == "1"
    text = "\n".join(lines)
    assert (
        "bm25  31 queries have a curve; left out: 1 without a relevant document" in text
    )
    assert " · SD " in text
    assert "bm25 is above tfidf at 11 points" in text
    assert "1 query missing" in text
    assert "intervals  95 % from 1,000 bootstrap samples of queries, seed 0" in text
    assert lines[-1].startswith("audit  32 queries, 432 judgments · 4 warnings")
    last = run("curve", demo.QRELS, BM25, TFIDF, "-v").stdout.splitlines()[-1]
    assert last.startswith("conventions  order=score")
    assert "PR.interp=exact" in last


def test_the_numbers_are_pythons() -> None:
    """CSV, JSON lines and JSON hold the frame that Python returns, to the last digit."""
    words = [
        "PR(levels=3) nDCG@1..3",
        "--seed",
        5,
        "--resamples",
        50,
        "--band",
        "0.25,0.75",
    ]
    frame = rankstone.curve(
        demo.QRELS,
        demo.RUNS,
        "PR(levels=3) nDCG@1..3",
        seed=5,
        resamples=50,
        band=(0.25, 0.75),
    ).mean()
    files = demo.QRELS, BM25, TFIDF

    table = run("curve", *files, "-m", *words, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    lines = run("curve", *files, "-m", *words, "--format", "jsonl").stdout.splitlines()
    report = json.loads(run("curve", *files, "-m", *words, "--format", "json").stdout)

    assert [float(row["mean"]) for row in rows] == frame["mean"].to_list()
    assert [float(row["ci_low"]) for row in rows] == frame["ci_low"].to_list()
    assert [json.loads(line) for line in lines] == frame.to_dicts() == report["mean"]
    assert report["resampling"]["seed"] == 5
    assert "seed 5" in table.stderr


def test_every_querys_points_are_written(tmp_path: Path) -> None:
    """--per-query writes run, query_id, curve, x, y."""
    run(
        "curve",
        demo.QRELS,
        BM25,
        "-m",
        "RR",
        "-k",
        "1,5",
        "--per-query",
        tmp_path / "points.parquet",
    )
    points = pl.read_parquet(tmp_path / "points.parquet")

    assert points.columns == ["run", "query_id", "curve", "x", "y"]
    assert points.height == 2 * 32
    assert set(points["curve"]) == {"RR@1,5"}


def test_targets_are_answered(tmp_path: Path) -> None:
    """--reach names the cutoff, every cutoff where the measure may fall, and who is sooner."""
    qrels, first, other = (tmp_path / name for name in ("qrels.txt", "a.run", "b.run"))
    qrels.write_text("q 0 d 1\n")
    first.write_text("q Q0 d 1 3 t\nq Q0 x 2 2 t\nq Q0 y 3 1 t\n")
    other.write_text("q Q0 x 1 3 t\nq Q0 d 2 2 t\nq Q0 y 3 1 t\n")
    out = run(
        "curve", qrels, first, other, "-m", "P RR", "-k", "1..3", "--target", "0.5,0.9"
    ).stdout

    assert "a  first reaches 0.5 at k = 1 [1, 1]; reaches it at k = 1, 2" in out
    assert "b  reaches 0.5 at k = 2 [2, 2]" in out
    assert "b  does not reach 0.9 at any k = 1..3" in out
    assert (
        "a reaches 0.5 at a smaller k than b in 100% of the samples, at a larger k in 0%"
        in out
    )


def test_the_smallest_k_of_a_measure() -> None:
    """--target RR=0.5 is all there is to say: traced at every k to 100; each target is its measure's own."""
    files = demo.QRELS, BM25, TFIDF
    parsed = json.loads(
        run(
            "curve",
            *files,
            "--target",
            "RR=0.7",
            "--target",
            "R=0.5,0.9",
            "--format",
            "json",
        ).stdout
    )
    frame = rankstone.curve(demo.QRELS, demo.RUNS, "RR R", k="1..100").reach(
        {"RR": 0.7, "R": [0.5, 0.9]}
    )

    assert parsed["reach"] == frame.to_dicts()
    assert {(row["curve"], row["target"]) for row in parsed["races"]} == {
        ("RR@1..100", 0.7),
        ("R@1..100", 0.5),
        ("R@1..100", 0.9),
    }
    rows = list(
        csv.DictReader(
            io.StringIO(
                run(
                    "curve",
                    *files,
                    "--kind",
                    "metric-k",
                    "-m",
                    "P@1..9",
                    "--target",
                    "0.3",
                    "--format",
                    "csv",
                ).stdout
            )
        )
    )
    assert rows[0]["curve"] == "P@1..9"
    assert rows[0]["all_k"].split()[0] == rows[0]["k"]


def test_which_k() -> None:
    """--which-k adds a table, with its meaning; programs get its rows."""
    files = demo.QRELS, BM25, TFIDF
    words = ("curve", *files, "-m", "nDCG RR@1,2", "-k", "1..3", "--which-k")
    out = run(*words).stdout
    rows = run(*words, "--format", "jsonl").stdout.splitlines()
    frame = rankstone.curve(demo.QRELS, demo.RUNS, "nDCG RR@1,2", k="1..3").which_k()

    assert out.count("k  significant") == 2
    assert "significant: pairs with p ≤ 0.05 in the paired t-test, 32 queries" in out
    assert [json.loads(row) for row in rows] == frame.to_dicts()
    both = (*words, "--target", "RR=0.5", "--format", "csv")
    assert "holds one table" in run(*both, code=2).stderr
    assert (
        "two runs or more"
        in run("curve", *files[:2], "--which-k", "-m", "RR@1..3", code=2).stderr
    )
    assert (
        "nDCG@1..3,5,10,20,50,100: value over k"
        in run("curve", *files, "--which-k").stdout
    )


def test_charts(tmp_path: Path) -> None:
    """--chart draws means, --cloud the queries' own curves; other formats are refused before any work."""
    pytest.importorskip("vl_convert")
    charts = {flag: tmp_path / f"{flag}.svg" for flag in ("chart", "cloud")}
    flags = [part for flag, file in charts.items() for part in (f"--{flag}", file)]
    run("curve", demo.QRELS, BM25, TFIDF, "--resamples", "20", *flags)
    drawings = {flag: file.read_text() for flag, file in charts.items()}

    assert all(text.startswith("<svg") for text in drawings.values())
    assert "bm25: Precision over recall" in drawings["cloud"]
    assert [drawings[flag].count('opacity="0.2"') for flag in charts] == [0, 31]
    assert (
        "no known suffix"
        in run("curve", demo.QRELS, BM25, "--chart", "c.gif", code=2).stderr
    )


def test_a_labelled_table(tmp_path: Path) -> None:
    """--labeled takes one table; without document ids ties stay open, and PR says what to do."""
    table = tmp_path / "clicks.csv"
    table.write_text("query_id,score,label\nu,2,1\nu,2,0\nu,1,1\nv,1,0\nv,0,1\n")

    out = run(
        "curve", "--labeled", table, "-m", "ROC(negatives=candidates, levels=3)"
    ).stdout
    assert "ROC" in out
    assert (
        "ROC(levels=3"
        in run(
            "curve",
            "--labeled",
            table,
            "--one-group",
            "-m",
            "ROC(negatives=candidates, levels=3)",
        ).stdout
    )
    error = run("curve", "--labeled", table, code=2).stderr
    assert "PR(interp=none)" in error


@pytest.mark.parametrize("columns", ["46", "80", "160"])
def test_every_width_is_respected(columns: str) -> None:
    """No line of a drawing or table is wider than the paper; a narrow table goes on below."""
    out = run(
        "curve",
        demo.QRELS,
        BM25,
        TFIDF,
        "-m",
        "PR nDCG@1..50",
        env={"COLUMNS": columns},
    ).stdout
    lines = out.splitlines()
    tables = [
        line
        for line in lines
        if "┤" in line or "│" in line or line[:8].strip().isdigit()
    ]

    assert max(map(len, tables)) <= int(columns)
    assert "0.7689 [" in out
    assert any("a bm25" in line and "b tfidf" in line for line in lines) == (
        columns != "46"
    )


def test_names_are_untrusted(tmp_path: Path) -> None:
    """Terminal escapes in run names do nothing."""
    evil = tmp_path / "a\x1b[31m[bold]b.run"
    evil.write_text(Path(BM25).read_text())

    out = run("curve", demo.QRELS, evil, TFIDF).stdout
    assert "\x1b" not in out
    assert "[bold]" in out


@each(
    ("arguments", "message"),
    [
        (["-m", "nDCG@10"], "write nDCG@1..10"),
        (["-m", "ROC"], "ROC(negatives=judged)"),
        (["--band", "0.5"], "--band must be two numbers"),
        (["--target", "high"], "--target must be numbers"),
        (["--resamples", "0"], "--resamples 0"),
        (["--format", "svg"], "did you mean csv"),
        (["--per-query", "points.xls"], "no known suffix"),
        (["-k", "0"], "is not a cutoff"),
        (["--target", "nDCG(gain=exp2)"], "MEASURE=VALUE"),
        (["--target", "RR="], "MEASURE=VALUE"),
        (["--target", "RR=1.5"], "has no value 1.5"),
        (["--target", "nRR=0.5"], "nRR"),
        (["--target", "PR=0.5"], "targets are for curves over cutoffs"),
        (["-m", "P@1..3", "--target", "RR=0.5"], "RR has no curve over cutoffs"),
        (["--kind", "metric"], "did you mean metric-k"),
        (["--kind", "roc", "-m", "PR"], "--kind roc does not fit PR"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], message: str) -> None:
    """With exit code 2 and what to do."""
    assert message in run("curve", demo.QRELS, BM25, *arguments, code=2).stderr


def test_outputs_spare_inputs(tmp_path: Path) -> None:
    """An output that is an input is refused before anything is read."""
    assert (
        "is also an input" in run("curve", demo.QRELS, BM25, "-o", BM25, code=2).stderr
    )
    run("curve", demo.QRELS, BM25, "-o", tmp_path / "out.txt", "--quiet")
    assert (tmp_path / "out.txt").read_text().startswith("PR: precision over recall")


# -- drawing ---------------------------------------------------------------------------------------------
def text(rows: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(piece for piece, _ in row) for row in rows]


def test_a_straight_line() -> None:
    """A line from corner to corner has a dot in every column, and the axis its numbers."""
    rows = text(drawn([Line([0.0, 1.0], [0.0, 1.0])], 14, 5, 1.0))

    assert [row[:5].rstrip() for row in rows[:5]] == [
        "  1 ┤",
        "    │",
        "0.5 ┤",
        "    │",
        "  0 ┤",
    ]
    assert all(
        "\u2800" <= char <= "\u28ff" or char == " "
        for row in rows[:5]
        for char in row[5:]
    )
    assert sum(char != " " for row in rows[:5] for char in row[5:]) >= 9
    assert rows[-1].split() == ["0", "1"]


def test_lines_are_distinguished_without_colours() -> None:
    """Each of several lines carries its letter."""
    rows = text(
        drawn([Line([0.0, 1.0], [1.0, 1.0]), Line([0.0, 1.0], [0.0, 0.0])], 60, 5, 1.0)
    )

    assert "a" in rows[0]
    assert "b" in rows[4]


def test_one_point_and_constant_lines_are_drawn() -> None:
    """Nothing divides by a range of zero."""
    assert len(drawn([Line([3.0], [0.0])], 20, 3)) == 5
    assert len(drawn([Line([1.0, 100.0], [2.0, 2.0])], 20, 3, logarithmic=True)) == 5
