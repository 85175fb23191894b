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
    {"user_input": "q one?", "reference_context_ids": ["a", "b"], "retrieved_context_ids": ["x", "a"]},
    {"user_input": "q two?", "reference_context_ids": ["c"], "retrieved_context_ids": [], "response": "…"},
]
LLAMA_INDEX = [
    {"query": "q one?", "expected_ids": ["a", "b"], "retrieved_ids": ["x", "a"], "metric_dict": {"mrr": 0.5}},
    {"query": "q two?", "expected_ids": ["c"], "retrieved_ids": [], "metric_dict": {"mrr": 0}},
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
    for one in (name, rows, frame):
        found = rankstone.evaluate(one, one, "R RR")
        assert list(next(iter(found.to_dict().values())).values()) == [0.25, 0.25]
    assert "read as" in str(rankstone.evaluate(name, name, "R"))


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
    other = lines(tmp_path / "other.jsonl", [{"query_id": "q", "doc_id": "a", "relevance": 1, "score": 1}])
    assert "at least one run" in run("eval", other, "-m", "R")
    assert "judgments and one run" in run("explain", other, "-m", "R", "-q", "q")


def test_names_of_libraries(tmp_path: Path) -> None:
    name = lines(tmp_path / "data.jsonl", RAGAS)
    assert "--convention ragas-0.4" in run("eval", name, "-m", "context_precision")
    assert "--convention haystack-3.4" in run("eval", name, "-m", "DocumentMAPEvaluator")
    assert "did you mean" in run("eval", name, "-m", "nDGC")
    assert "one measure of Ragas" in run("eval", name, "--convention", "ragas", "-m", "AP context_precision")
    found = run("identify", name, "--value", "0.77", "-m", "context_precision")
    assert "of ragas-0.4 is 0.25000 on this data, which is not 0.77" in " ".join(found.split())
    shown = run("explain", name, "--convention", "ragas", "-m", "context_precision", "-q", "q one?")
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
    found = rankstone.evaluate(other, {"q one?": ["a"]}, "R", columns=renamed)
    assert found.to_dict() == {"run": {"R": 1.0}}


def test_renames_of_all_tables_are_suggested_at_once(tmp_path: Path) -> None:
    expected = lines(tmp_path / "expected.jsonl", [{"question": "q?", "relevant": ["a"]}])
    found = lines(tmp_path / "retrieved.jsonl", [{"question": "q?", "retrieved": ["a"]}])
    command = ["eval", expected, found, "-m", "R"]
    error = CliRunner().invoke(cli, command).exception
    assert isinstance(error, MissingColumn)
    option = str(error.fix).partition("--columns ")[2].partition(" ")[0]
    assert set(option.split(",")) == {"question=query_id", "relevant=doc_id", "retrieved=doc_id"}
    done = CliRunner().invoke(cli, [*command, "--columns", option])
    assert "1.0000" in done.output


TURNS: list[dict[str, Any]] = [
    {
        "query_id": "q1",
        "turns": [
            {"search": "x", "results": [{"id": "a", "meta": {"score": 1.0}}, {"id": "b", "meta": None}]},
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
    with pytest.raises(MissingColumn, match=r"results\.id=doc_id"):
        rankstone.evaluate(qrels, name, "R")
    columns = {"results.id": "doc_id", "results.call": "call"}
    measures = "R@calls(1) R@calls(2) RR"
    found = rankstone.evaluate(qrels, name, measures, columns=columns, order="input")
    assert list(found.per_query.filter(query_id="q1")["value"]) == [0.5, 1.0, 0.5]
    assert list(found.per_query.filter(query_id="q2")["value"]) == [0.0] * 3


def test_ids_within_lists(tmp_path: Path) -> None:
    rows = [{"query_id": "q", "turns": [{"found": ["a", "b"]}, {"found": []}, {"found": ["c"]}]}]
    name = lines(tmp_path / "run.jsonl", rows)
    columns = {"found": "doc_id", "found.call": "call"}
    found = rankstone.evaluate({"q": {"c": 1}}, name, "RR R@calls(1)", columns=columns, order="input")
    assert found.to_dict()["run"] == {"RR": pytest.approx(1 / 3), "R@calls(1)": 0.0}
