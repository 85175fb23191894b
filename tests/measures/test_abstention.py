"""Queries that no document answers, lists that hold nothing, and thresholds of scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

GOLD: list[dict[str, Any]] = [
    {"query_id": "q1", "doc_id": ["a"]},
    {"query_id": "q2", "doc_id": ["b"]},
    {"query_id": "q3", "doc_id": [], "answerable": False},
    {"query_id": "q4", "answerable": False},
    {"query_id": "q5", "answerable": False},
    {"query_id": "q6", "doc_id": []},
]
RUN: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "results": [{"doc_id": "a", "score": 0.9}, {"doc_id": "x", "score": 0.2}],
    },
    {
        "query_id": "q3",
        "results": [{"doc_id": "a", "score": 0.3}, {"doc_id": "x", "score": 0.2}],
    },
    {"query_id": "q4", "results": []},
    {"query_id": "q5", "error": "timeout"},
]
ABSTENTION = "FalseRetrieval AbstentionR AbstentionP"


def write(folder: Path, gold: list[dict[str, Any]]) -> tuple[str, str]:
    """Write judgments and the run as JSON lines."""
    paths = folder / "gold.jsonl", folder / "run.jsonl"
    for path, rows in zip(paths, (gold, RUN), strict=True):
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    return str(paths[0]), str(paths[1])


def means(scores: rankstone.Scores) -> dict[str, float]:
    """Return the means of the only run."""
    return dict(scores.mean().select("measure", "value").iter_rows())


def test_unanswerable_queries_are_measured_by_themselves(tmp_path: Path) -> None:
    """Recall is over q1, q2 and q6; q3 retrieves, q4 abstains, and q5 failed, which is no abstention.

    Nothing is retrieved for q2, q4 and q6, of which q4 has no answer.
    """
    scores = rankstone.evaluate(*write(tmp_path, GOLD), f"R@2 {ABSTENTION}")
    expected = {
        "R@2": 1 / 3,
        "FalseRetrieval": 2 / 3,
        "AbstentionR": 1 / 3,
        "AbstentionP": 1 / 3,
    }
    assert means(scores) == pytest.approx(expected)
    assert {
        row[0]
        for row in scores.per_query.filter(measure="R@2").select("query_id").iter_rows()
    } == {"q1", "q2", "q6"}
    assert scores.audit.judgments is not None
    assert scores.audit.judgments.unanswerable == 3
    assert next(iter(scores.audit.runs.values())).false_retrievals == 1
    assert "6 queries (3 unanswerable)" in str(scores.audit)


@pytest.mark.parametrize(("above", "shown"), [(0.1, 2), (0.25, 2), (0.3, 1), (0.5, 1)])
def test_nothing_above_a_threshold(tmp_path: Path, above: float, shown: int) -> None:
    """A list without a score above the threshold is none: as an option, and as a cutoff of any measure."""
    files = write(tmp_path, GOLD)
    option = rankstone.evaluate(*files, "FalseRetrieval R", score_above=above)
    assert means(option) == pytest.approx({"FalseRetrieval": shown / 3, "R": 1 / 3})
    cutoff = rankstone.evaluate(
        *files, f"FalseRetrieval@score({above}) R@score({above}) P@score({above})"
    )
    kept = 2 if above < 0.2 else 1
    assert list(means(cutoff).values()) == pytest.approx(
        [shown / 3, 1 / 3, 1 / kept / 3]
    )


def test_the_way_out_is_named_once(tmp_path: Path) -> None:
    """At a shell it is the flag, in Python the argument."""
    gold, log = write(tmp_path, [row for row in GOLD if "answerable" not in row])
    printed = command("eval", gold, log, "-m", "FalseRetrieval", code=2).stderr
    assert printed.count("empty") == printed.count("--empty unanswerable") == 1
    with pytest.raises(UsageError, match=r"empty=unanswerable$"):
        rankstone.evaluate(gold, log, "FalseRetrieval")


def test_empty_lists_of_judgments(tmp_path: Path) -> None:
    """empty=unanswerable declares every query without a relevant document, and the audit offers it."""
    files = write(tmp_path, [row for row in GOLD if "answerable" not in row])
    plain = rankstone.evaluate(*files, "R@2")
    assert "(if they have no answer: empty=unanswerable)" in plain.audit.brief()[0]
    scores = rankstone.evaluate(*files, f"R@2 {ABSTENTION}", empty="unanswerable")
    assert means(scores) == pytest.approx(
        {"R@2": 1 / 2, "FalseRetrieval": 0, "AbstentionR": 1, "AbstentionP": 1 / 2}
    )
    assert (
        rankstone.evaluate(*files, "nDCG AP", empty="unanswerable")
        .mean()
        .equals(rankstone.evaluate(*files, "nDCG AP", empty="drop").mean())
    )


@pytest.mark.parametrize("flag", [False, 0, "false", "False"])
def test_the_table_of_queries(flag: object) -> None:
    """A column answerable of the query table declares them, too."""
    queries = {
        "q1": {"answerable": True if isinstance(flag, bool) else "true"},
        "q7": {"answerable": flag},
    }
    run = {"q1": ["a"], "q7": ["x"]}
    scores = rankstone.evaluate(
        {"q1": {"a": 1}}, run, f"R {ABSTENTION}", queries=queries
    )
    assert means(scores)["R"] == 1
    assert means(scores)["FalseRetrieval"] == 1


def test_csv_has_a_row_for_them(tmp_path: Path) -> None:
    """A row without a document says that there is none."""
    (tmp_path / "gold.csv").write_text(
        "query_id,doc_id,relevance,answerable\nq1,a,1,\nq3,,,False\nq4,b,0,false\n"
    )
    scores = rankstone.evaluate(
        tmp_path / "gold.csv", {"q1": ["a"], "q4": ["b"]}, f"R {ABSTENTION}"
    )
    assert means(scores) == pytest.approx(
        {"R": 1, "FalseRetrieval": 1 / 2, "AbstentionR": 1 / 2, "AbstentionP": 1}
    )


@pytest.mark.parametrize(
    ("measures", "options", "kind", "message"),
    [
        ("FalseRetrieval", {}, UsageError, "no query is declared unanswerable"),
        (
            "FalseRetrieval",
            {"empty": "unanswerable", "missing": "drop"},
            UsageError,
            "leaves out the queries",
        ),
        (
            "R",
            {"queries": {"q1": {"answerable": False}}},
            InputError,
            "unanswerable, but has a relevant document",
        ),
        (
            "R",
            {"queries": {"q1": {"answerable": "perhaps"}}},
            InputError,
            "true or false",
        ),
        ("R@score(0.5, crossing=skip)", {}, UsageError, "scores are not added"),
    ],
)
def test_refused(
    measures: str, options: Any, kind: type[Exception], message: str
) -> None:
    """What contradicts itself is refused."""
    with pytest.raises(kind, match=message):
        rankstone.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, measures, **options)


def test_a_curve_over_thresholds(tmp_path: Path) -> None:
    """The higher the threshold, the fewer documents are retrieved in vain."""
    curve = rankstone.curve(
        *write(tmp_path, GOLD), "FalseRetrieval@score(0.1,0.25,0.5)"
    )
    heights = (
        curve.to_frame()
        .group_by("x", maintain_order=True)
        .agg(pl.col("y").mean())
        .sort("x")["y"]
    )
    assert heights.to_list() == pytest.approx([2 / 3, 2 / 3, 1 / 3])
