"""Data sets of tools for RAG, read as they are; and what is suggested for files that none of them wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner

import rankstone
from rankstone.cli import cli
from rankstone.errors import MissingColumn

if TYPE_CHECKING:
    from pathlib import Path

RAGAS = [
    {
        "user_input": "q one?",
        "reference_context_ids": ["a", "b"],
        "retrieved_context_ids": ["x", "a"],
    },
    {
        "user_input": "q two?",
        "reference_context_ids": ["c"],
        "retrieved_context_ids": [],
        "response": "…",
    },
]
LLAMA_INDEX = [
    {
        "query": "q one?",
        "expected_ids": ["a", "b"],
        "retrieved_ids": ["x", "a"],
        "metric_dict": {"mrr": 0.5},
    },
    {
        "query": "q two?",
        "expected_ids": ["c"],
        "retrieved_ids": [],
        "metric_dict": {"mrr": 0},
    },
]


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write JSON lines, and return the name of the file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("rows", [RAGAS, LLAMA_INDEX])
def test_read_as_they_are(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """One file is both the judgments and the run; so are the records in Python."""
    name = lines(tmp_path / "data.jsonl", rows)
    frame = pl.DataFrame(rows)
    for case in (name, rows, frame):
        scores = rankstone.evaluate(case, case, "R RR")
        assert list(next(iter(scores.to_dict().values())).values()) == [0.25, 0.25]
    assert "read as" in str(rankstone.evaluate(name, name, "R"))


def test_lists_saved_as_text_are_read(tmp_path: Path) -> None:
    """As pandas writes them into CSV."""
    path = tmp_path / "data.csv"
    path.write_text(
        "user_input,reference_context_ids,retrieved_context_ids\nq?,\"['a', 'b']\",['a']\n"
    )
    for qrels, run in ((str(path), {"q?": ["a"]}), ({"q?": {"a": 1}}, str(path))):
        scores = rankstone.evaluate(qrels, run, "RR")
        assert list(next(iter(scores.to_dict().values())).values()) == [1.0]


def test_a_question_twice_is_refused() -> None:
    """Its lists would be one."""
    with pytest.raises(rankstone.InputError, match="query q one\\? has two lists"):
        rankstone.evaluate(
            [*RAGAS, RAGAS[0]], [*RAGAS, RAGAS[0]], "R", duplicate_judgments="max"
        )


def test_scores_of_what_was_retrieved_are_no_grades() -> None:
    rows = [{**RAGAS[0], "score": [0.9, 0.1]}, {**RAGAS[1], "score": []}]
    scores = rankstone.evaluate(rows, rows, "R RR")
    assert list(next(iter(scores.to_dict().values())).values()) == [0.25, 0.25]


@pytest.mark.parametrize(
    ("row", "right"),
    [
        (
            {"retrieved_texts": ["x"], "retrieved": ["a"], "relevant": ["a"]},
            "run.retrieved",
        ),
        (
            {"retrieved_scores": [0.1], "retrieved_ids": ["a"], "expected_ids": ["a"]},
            "run.retrieved_ids",
        ),
        ({"results_scores": [0.1], "results": ["a"], "gold": ["a"]}, "run.results"),
    ],
)
def test_lists_of_ids_are_suggested(
    tmp_path: Path, row: dict[str, Any], right: str
) -> None:
    name = lines(tmp_path / "log.jsonl", [{"question": "q?", **row}])
    with pytest.raises(MissingColumn) as caught:
        rankstone.evaluate(name, name, "R")
    assert caught.value.renames[right] == "doc_id"
    assert not any("scores" in name or "texts" in name for name in caught.value.renames)


@pytest.mark.parametrize(
    "name", ["ranking", "pos", "distance", "l2_distance", "timestamp", "price", "Rang"]
)
def test_no_number_of_another_order_is_a_score(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"qid,docid,{name}\nq,d1,1\nq,d3,2\n", encoding="utf-8")
    with pytest.raises(MissingColumn) as caught:
        rankstone.evaluate({"q": {"d1": 1}}, str(path), "RR")
    assert "score" not in caught.value.renames.values()


def run(*words: str) -> str:
    """Return what a command prints, or the text of its error."""
    done = CliRunner().invoke(cli, list(words))
    return done.output if done.exit_code == 0 else str(done.exception)


def test_one_file_is_enough_for_commands(tmp_path: Path) -> None:
    """It is the judgments and the run; other files are not taken for both."""
    name = lines(tmp_path / "data.jsonl", RAGAS)
    assert "0.2500" in run("eval", name, "-m", "R")
    assert "= 0.5000" in run("explain", name, "-m", "R", "-q", "q one?")
    assert "= 0.5000" in run("explain", name, "--convention", "ragas", "-q", "q one?")
    assert "R" in run("identify", name, "--value", "0.25", "-m", "R")
    assert "ragas-0.4" in run("conventions", "diff", "--all", name, "-m", "AP")
    assert "rankstone eval" in run("answers", name)
    for content, says in (
        ("", "empty"),
        ('{"user_input": "q?", "refer\n', "broken.jsonl:1"),
    ):
        (tmp_path / "broken.jsonl").write_text(content, encoding="utf-8")
        assert says in run(
            "eval", str(tmp_path / "broken.jsonl"), "--convention", "ragas"
        )
    other = lines(
        tmp_path / "other.jsonl",
        [{"query_id": "q", "doc_id": "a", "relevance": 1, "score": 1}],
    )
    assert "at least one run" in run("eval", other, "-m", "R")
    assert "judgments and one run" in run("explain", other, "-m", "R", "-q", "q")


def test_names_of_libraries(tmp_path: Path) -> None:
    name = lines(tmp_path / "data.jsonl", RAGAS)
    assert "--convention ragas-0.4" in run("eval", name, "-m", "context_precision")
    assert "--convention haystack-3.4" in run(
        "eval", name, "-m", "DocumentMAPEvaluator"
    )
    assert "did you mean" in run("eval", name, "-m", "nDGC")
    assert "one measure of Ragas" in run(
        "eval", name, "--convention", "ragas", "-m", "AP context_precision"
    )
    output = run("identify", name, "--value", "0.77", "-m", "context_precision")
    assert "of ragas-0.4 is 0.25000 on this data, which is not 0.77" in " ".join(
        output.split()
    )
    shown = run(
        "explain",
        name,
        "--convention",
        "ragas",
        "-m",
        "context_precision",
        "-q",
        "q one?",
    )
    assert "not average precision" in shown


def test_own_names_win() -> None:
    """A table with our columns is not renamed, and neither is one whose columns are renamed otherwise."""
    rows = [{"user_input": "q?", "query_id": "q1", "reference_context_ids": ["a"]}]
    with pytest.raises(MissingColumn, match="doc_id"):
        rankstone.evaluate(rows, {"q1": ["a"]}, "R")
    names = {"user_input": "query_id", "reference_context_ids": "doc_id"}
    other = [{**RAGAS[0], "reference_context_ids": ["x"], "gold": ["a"]}]
    renamed = {**names, "gold": "doc_id"}
    del renamed["reference_context_ids"]
    scores = rankstone.evaluate(other, {"q one?": ["a"]}, "R", columns=renamed)
    assert scores.to_dict() == {"run": {"R": 1.0}}


def test_renames_of_all_tables_are_suggested_at_once(tmp_path: Path) -> None:
    expected = lines(
        tmp_path / "expected.jsonl", [{"question": "q?", "relevant": ["a"]}]
    )
    result = lines(
        tmp_path / "retrieved.jsonl", [{"question": "q?", "retrieved": ["a"]}]
    )
    command = ["eval", expected, result, "-m", "R"]
    error = CliRunner().invoke(cli, command).exception
    assert isinstance(error, MissingColumn)
    option = str(error.fix).partition("--columns ")[2].partition(" ")[0]
    assert set(option.split(",")) == {"run.question=query_id", "retrieved=doc_id"}
    done = CliRunner().invoke(cli, [*command, "--columns", option])
    assert "1.0000" in done.output


TURNS: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "turns": [
            {
                "search": "x",
                "results": [
                    {"id": "a", "meta": {"score": 1.0}},
                    {"id": "b", "meta": None},
                ],
            },
            {"search": "y", "results": []},
            {"search": "z", "results": None},
            {"search": "x y", "results": [{"id": "c", "meta": {"score": 2.0}}]},
        ],
    },
    {"query_id": "q2", "turns": []},
]


def test_lists_within_lists_are_calls(tmp_path: Path) -> None:
    """Of an agent's log: one call after the other; budgets count those that returned something."""
    name = lines(tmp_path / "run.jsonl", TURNS)
    qrels = {"q1": {"c": 1, "b": 1}, "q2": {"z": 1}}
    with pytest.raises(MissingColumn, match=r"'results\.id': 'doc_id'"):
        rankstone.evaluate(qrels, name, "R")
    columns = {"results.id": "doc_id", "results.call": "call"}
    measures = "R@calls(1) R@calls(2) RR"
    scores = rankstone.evaluate(qrels, name, measures, columns=columns, order="input")
    assert list(scores.per_query.filter(query_id="q1")["value"]) == [0.5, 1.0, 0.5]
    assert list(scores.per_query.filter(query_id="q2")["value"]) == [0.0] * 3


def test_ids_within_lists(tmp_path: Path) -> None:
    rows = [
        {
            "query_id": "q",
            "turns": [{"found": ["a", "b"]}, {"found": []}, {"found": ["c"]}],
        }
    ]
    name = lines(tmp_path / "run.jsonl", rows)
    columns = {"found": "doc_id", "found.call": "call"}
    scores = rankstone.evaluate(
        {"q": {"c": 1}}, name, "RR R@calls(1)", columns=columns, order="input"
    )
    assert scores.to_dict()["run"] == {"RR": pytest.approx(1 / 3), "R@calls(1)": 0.0}
