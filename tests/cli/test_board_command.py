"""Boards on the command line: files, fixes that can be typed, options that do not go together, pages."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., str]

BOARDS: Final = Path(__file__).parents[2] / "examples" / "boards"
SCORES: Final = str(BOARDS / "retrievers.csv")
BATTLES: Final = str(BOARDS / "battles.csv")


def test_the_error_names_what_can_be_typed(run: Run) -> None:
    """A board with missing scores: the fix, typed as it stands, makes the board."""
    error = run("board", SCORES, code=3)
    assert "3 of 90 scores are missing, of 2 systems" in error
    assert "fix:      --missing-scores model" in error
    assert "reranked is clearly first." in run("board", SCORES, "--missing", "model")


def test_formats(run: Run, tmp_path: Path) -> None:
    """The rows, all data, LaTeX, both pages and the charts."""
    rows = list(
        csv.DictReader(
            io.StringIO(run("board", SCORES, "--missing", "skip", "--format", "csv"))
        )
    )
    assert [row["system"] for row in rows][:2] == ["reranked", "late-interaction"]
    whole = json.loads(
        run("board", SCORES, "--missing", "model", "--format", "json", "--quiet")
    )
    assert whole["board"][0]["rank_high"] == 1
    assert whole["friedman"][0]["systems"] == 7
    assert "\\toprule" in run(
        "board", SCORES, "--missing", "model", "--format", "latex"
    )
    page, chart, diagram = (
        tmp_path / name for name in ("b.html", "ranks.svg", "cd.svg")
    )
    run(
        "board",
        SCORES,
        "--missing",
        "model",
        "-o",
        str(page),
        "--chart",
        str(chart),
        "--diagram",
        str(diagram),
    )
    assert "reranked is clearly the best of 9" in page.read_text("utf-8")
    assert "CD = 2.848" in diagram.read_text("utf-8")
    assert "late-interaction" in chart.read_text("utf-8")


def test_options(run: Run) -> None:
    """Weights, some systems, explanations, and a rule in Chinese."""
    names = "law code forum patents medicine finance travel history support"
    weights = ",".join(["news=5", *(f"{name}=1" for name in names.split())])
    weighted = run("board", SCORES, "--missing", "model", "--weights", weights)
    assert "weighted mean" in weighted
    two = run("board", SCORES, "--systems", "bm25,hybrid")
    assert "2 systems on 10 data sets" in two
    explained = run(
        "board", SCORES, "--missing", "model", "--explain", "hybrid", "--versus", "bm25"
    )
    assert "hybrid − bm25" in explained.replace("\n", " ")
    assert "明确第一" in run("board", SCORES, "--missing", "model", "--lang", "zh")


def test_battles(run: Run, tmp_path: Path) -> None:
    """Models, clusters, covariates and the page."""
    shown = run(
        "board",
        "--pairs",
        BATTLES,
        "--cluster",
        "judge,prompt",
        "--covariates",
        "position",
    )
    assert "9 systems in 600 battles" in shown
    assert "position" in shown
    plain = run(
        "board", "--pairs", BATTLES, "--method", "bradley_terry", "--format", "csv"
    )
    assert plain.startswith("rank,system,rating")
    run("board", "--pairs", BATTLES, "-o", str(tmp_path / "b.html"))
    assert "600 battles" in (tmp_path / "b.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("board",), "no scores are given"),
        (("board", SCORES, "--only", "split"), "--only is COLUMN=VALUE"),
        (("board", SCORES, "--weights", "news=x"), "--weights takes names and numbers"),
        (("board", SCORES, "--versus", "bm25"), "--versus goes with --explain"),
        (
            ("board", SCORES, "--cluster", "x"),
            "--cluster cannot go with a board of scores",
        ),
        (
            ("board", "--pairs", BATTLES, "--estimate", "borda"),
            "--estimate cannot go with --pairs",
        ),
        (("board", "--pairs", BATTLES, SCORES), "cannot go with --pairs"),
        (("board", SCORES, "b.toml"), "stands alone"),
        (("board", SCORES, "--chart", "x.gif"), "no known suffix"),
    ],
)
def test_what_does_not_go_together(
    run: Run, words: tuple[str, ...], message: str
) -> None:
    """Usage errors, before any work."""
    assert message in run(*words, code=2)
