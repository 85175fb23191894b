"""Slices and sizes of topic sets on the command line: runs, scores, logs, pages, mistakes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from rankstone import demo

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., str]

BOARDS: Final = Path(__file__).parents[2] / "examples" / "boards"
SCORES: Final = (
    "slices",
    "--scores",
    str(BOARDS / "rankers.csv"),
    "--queries",
    str(BOARDS / "queries.csv"),
)
DEMO: Final = (
    str(demo.QRELS),
    str(demo.RUNS["bm25"]),
    str(demo.RUNS["tfidf"]),
    "--queries",
    str(demo.QUERIES),
)


def test_scores_in_every_format(run: Run, tmp_path: Path) -> None:
    """The planted slice in text, rows, JSON, a page and a chart."""
    text = run(*SCORES, "-m", "nDCG@10", "--margin", "0.05", "--tag", "kids=kids|small")
    assert "language=de: worse here." in text
    assert "cannot show a gap of 0.05" in text
    rows = list(csv.DictReader(io.StringIO(run(*SCORES, "--format", "csv"))))
    assert [row["slice"] for row in rows if row["found"] == "true"] == ["language=de"]
    assert (
        json.loads(run(*SCORES, "--format", "json"))["slices"][0]["slice"]
        == "language=de"
    )
    page, chart = tmp_path / "slices.html", tmp_path / "slices.svg"
    run(*SCORES, "-o", str(page), "--chart", str(chart))
    assert "language=de" in page.read_text(encoding="utf-8")
    assert "language=de" in chart.read_text(encoding="utf-8")


def test_runs(run: Run, tmp_path: Path) -> None:
    """Two runs, one, and a tab of the report."""
    assert "tfidf − bm25 by nDCG@10, 32 queries" in run(
        "slices", *DEMO, "--min-size", "8"
    )
    item = (*DEMO[:2], *DEMO[3:])
    assert "Slices: bm25 by AP, 32 queries" in run(
        "slices", *item, "-m", "AP", "--min-size", "8"
    )
    page = tmp_path / "report.html"
    run("report", *DEMO, "--slices", "--min-size", "8", "-o", str(page))
    assert '<section id="slices">' in page.read_text(encoding="utf-8")


def test_a_log(run: Run, tmp_path: Path) -> None:
    """Variants of an experiment; the other one is the control with --versus."""
    log = tmp_path / "log.csv"
    lines = [
        f"u{index},{'new' if index % 2 else 'old'},{int(index % 4 == 1)},{'ab'[index // 2 % 2]}"
        for index in range(400)
    ]
    log.write_text("\n".join(["user_id,variant,clicked,kind", *lines]) + "\n")
    text = run("slices", "--log", str(log), "--versus", "old", "--attributes", "kind")
    assert "Slices: new − old by clicked, 400 rows, 2 slices" in text
    assert "kind=a: better here. The difference is +1.0000" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("slices", *DEMO[:3]), "slices need a table of queries"),
        (("slices", *DEMO, "--tag", "x"), "--tag is NAME=REGEX"),
        (("slices", *DEMO, "--versus", "bm25"), "--versus cannot go with runs"),
        (("slices", "--log", "x.csv", *DEMO), "cannot go with --log"),
        (
            ("slices", *DEMO, "--min-size", "30"),
            "no attribute makes a slice of 30 or more queries",
        ),
        (
            ("power", "--deviation", "0.2"),
            "there is no observed difference to plan for",
        ),
        (
            ("power", "--deviation", "0.2", "--interval-width", "0.1", "--among", "4"),
            "--among 4 is out of range",
        ),
    ],
)
def test_what_does_not_go_together(
    run: Run, words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    """Reported in one line, with a code of usage."""
    words = tuple(str(tmp_path / word) if word == "x.csv" else word for word in words)
    (tmp_path / "x.csv").write_text("variant,clicked\na,1\n")
    assert message in run(*words, code=2)


def test_plans_of_topic_sets(run: Run) -> None:
    """Among several systems, and by the width of intervals."""
    assert "252" in run("power", "--deviation", "0.2", "-d", "0.05", "--among", "10")
    assert "248" in run("power", "--deviation", "0.2", "--interval-width", "0.05")
    text = run("power", *DEMO[:3], "-d", "0.05", "--among", "5")
    assert "5 systems" in text
    assert "range of 5 systems" in text
