"""``eval --sort``: runs sorted by a measure; notes below the means, in brief, whole and none."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.command_line import command as run

import rankstone
from rankstone.tables.page_text import text

#: of 2 queries with one relevant document: its rank in the lists of each run
RANKS = {"a": (2, 4), "b": (1, 2), "c": (2, 4)}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Judgments and three runs; a and c are equally good."""
    (tmp_path / "qrels.txt").write_text("q1 0 d 1\nq2 0 d 1\n")
    for name, ranks in RANKS.items():
        docs = [
            ["d" if index == rank else f"x{index}" for index in range(1, 5)]
            for rank in ranks
        ]
        rows = [
            f"q{q} Q0 {doc} {index} {9 - index} t\n"
            for q, of in enumerate(docs, 1)
            for index, doc in enumerate(of)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run", "c.run")]


def test_a_leaderboard(files: list[str]) -> None:
    """The best run is first, equal ones share a place, and the best of every column has a star."""
    lines = run("eval", *files, "-m", "RR HR@2", "--sort", "hr@2").stdout.splitlines()

    assert [line.split() for line in lines[:4]] == [
        ["#", "run", "RR", "HR@2"],
        ["1", "b", f"{(1 + 1 / 2) / 2:.4f}*", "1.0000*"],
        ["2", "a", f"{(1 / 2 + 1 / 4) / 2:.4f}", "0.5000"],
        ["2", "c", "0.3750", "0.5000"],
    ]


def test_other_formats_are_sorted_too(files: list[str]) -> None:
    """Rows of CSV, wide or not, JSON, Markdown, LaTeX and HTML; the best are bold."""
    line = ("eval", *files, "-m", "RR", "--sort", "RR", "--format")
    for more in ([], ["--wide"]):
        rows = csv.DictReader(io.StringIO(run(*line, "csv", *more).stdout))
        assert [row["run"] for row in rows] == ["b", "a", "c"]
    assert list(json.loads(run(*line, "json").stdout)["runs"]) == ["b", "a", "c"]
    for form, best in (
        ("md", "**0.7500**"),
        ("latex", r"\textbf{0.7500}"),
        ("html", "<b>0.7500</b>"),
    ):
        shown = run(*line, form).stdout
        assert shown.index(best) < shown.index("0.3750")
        assert shown.count("0.7500") == 1


@pytest.mark.parametrize(
    ("measure", "best"), [("RR", {1}), ("NumQ", set()), ("R", {0, 1, 2})]
)
def test_what_is_best(files: list[str], measure: str, best: set[int]) -> None:
    """The direction of the measure says it; of a number that is neither good nor bad no run is best."""
    scores = rankstone.evaluate(files[0], files[1:], measure)
    table = scores.sheet().parts[0]
    assert {row for row, _ in getattr(table, "best")} == best  # noqa: B009 - of a table, not a drawing
    assert (
        "\x1b[1m" in text(scores.sheet(), 80, styled=True).split("\n", 1)[1]
    ) == bool(best)
    assert "*" not in scores.text()


@pytest.mark.parametrize("way", [[], ["--memory", "1GB"]])
def test_lower_is_better_and_no_mean_is_last(files: list[str], way: list[str]) -> None:
    """Of ranks the lowest mean is first, also out of core; a run without a mean comes after the others."""
    Path(files[1]).write_text("q1 Q0 x 1 9 t\n", encoding="utf-8")
    lines = run(
        "eval", *files, "-m", "RR LastRel", "--sort", "LastRel", *way
    ).stdout.splitlines()
    rows = [line.split() for line in lines if line[:1].isdigit()]
    assert rows == [
        ["1", "b", "0.7500*", "1.5000*"],
        ["2", "c", "0.3750", "3.0000"],
        ["3", "a", "0.0000", "–"],
    ]


def test_mistakes(files: list[str]) -> None:
    """A measure that was not computed, and an unknown one, before anything is read."""
    done = run("eval", *files, "-m", "RR P@1", "--sort", "AP", code=2)
    assert (done.returncode, done.stderr.splitlines()[:2]) == (
        2,
        ["error: the runs have no AP", "  expected: RR, P@1"],
    )
    done = run(
        "eval", "absent.txt", *files[1:], "-m", "RR", "--sort", "nDGC@10", code=2
    )
    assert (
        "error: there is no measure 'nDGC'\n  fix:      did you mean nDCG"
        in done.stderr
    )


def test_notes_in_brief_whole_and_none(files: list[str]) -> None:
    """By default two lines, with a warning that is true of all runs once; with -v all, with --quiet none."""
    line = ("eval", *files, "-m", "HR@10 nDCG@2", "--ties", "input")
    brief = run(*line).stdout.splitlines()[4:]
    warning = "the cutoff 10 is deeper than every list (the longest has 4 documents)"
    assert brief == [
        f"audit  2 queries, 2 judgments, all of relevant documents · 1 warning: all 3 runs: {warning}",
        "conventions  ties=input (default docid_desc) · the rest by default (-v)",
    ]
    whole = run(*line, "-v").stdout.splitlines()[4:]
    assert len(whole) == 1 + 3 + 1 + 1
    assert whole[-2] == f"all 3 runs  warning: {warning}"
    assert whole[-1].startswith(
        "conventions  order=score score_dtype=float64 ties=input"
    )
    assert (
        run(*line, "--quiet").stdout.splitlines() == run(*line).stdout.splitlines()[:4]
    )
    assert "".join(run(*line, "--format", "csv").stderr.splitlines()) == brief[0]
    assert not run(*line, "--format", "csv", "--quiet").stderr
    report = json.loads(run(*line, "--format", "json").stdout)
    assert report["conventions"]["changed"] == {"ties": "docid_desc"}
    assert report["audit"]["runs"]["b"]["warnings"] == [warning]


def test_a_column_is_called_what_was_requested() -> None:
    """The head says HR@10 where HR@10 was typed; data have the one name of the measure."""
    scores = rankstone.evaluate(
        {"q": {"d": 1}}, {"q": ["d"]}, "HR@10 map ndcg@10 P(rel=1.0)@5"
    )
    assert scores.text().split()[:5] == ["run", "HR@10", "map", "nDCG@10", "P(rel=1)@5"]
    assert list(scores.to_dict()["run"]) == [
        "Success@10",
        "AP",
        "nDCG@10",
        "P(rel=1)@5",
    ]
