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
    assert "is the list" in str(rankstone.evaluate(name, name, "R"))


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


def test_columns_of_lists_within_lists_are_named(tmp_path: Path) -> None:
    turns = [{"query_id": "q", "turns": [{"results": [{"id": "a", "score": 1.0}]}]}]
    with pytest.raises(MissingColumn, match="turns"):
        rankstone.evaluate({"q": {"a": 1}}, lines(tmp_path / "run.jsonl", turns), "R")
