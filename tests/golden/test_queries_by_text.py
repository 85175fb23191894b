"""A golden set with ids, and runs that name queries by their texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import InputError, NotComparable, UsageError

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN: Any = [
    {"id": "q1", "query": "refund policy", "expected": ["a"], "split": "dev"},
    {"id": "q2", "query": "opening hours", "expected": ["b"], "split": "holdout"},
    {"id": "q3", "query": "q1", "expected": ["c"], "split": "dev"},
    {"id": "q4", "query": "twice", "expected": ["a"], "split": "dev"},
    {"id": "q5", "query": "twice", "expected": ["b"], "split": "dev"},
]


def test_texts_are_read_as_their_ids() -> None:
    """Also with empty lists and beside ids; a text that is an id, or of two queries, stays what it is."""
    run = {"refund policy": ["a"], "opening hours": [], "q1": ["x"], "twice": ["a"]}
    del run["q1"]
    scores = rankstone.evaluate(GOLDEN, run, "P@1")
    values = dict(scores.per_query.select("query_id", "value").iter_rows())
    assert values == {"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.0, "q5": 0.0}
    audit = scores.audit.runs["run"]
    assert audit.extra == 1
    assert "queries by their texts" in str(scores)

    by_id = {"q1": ["a"], "q3": ["c"]}
    scores = rankstone.evaluate(GOLDEN, by_id, "P@1")
    assert scores["P@1"] == pytest.approx(2 / 5)
    assert "by their texts" not in str(scores)


def test_splits_follow() -> None:
    """The split of an id is that of its text, in the run as well."""
    run = {"refund policy": ["x"], "opening hours": ["b"]}
    scores = rankstone.evaluate(GOLDEN, run, "P@1", split="holdout")
    assert scores.to_dict() == {"run": {"P@1": 1.0}}
    fates = rankstone.stages(GOLDEN, {"one": run, "two": run}, k=1, split="holdout")
    assert fates.documents["query_id"].to_list() == ["q2"]


def test_a_check_says_what_an_evaluation_does() -> None:
    """The same runs are fit to be evaluated, and the note is there, too."""
    report = rankstone.check(GOLDEN, {"refund policy": ["a"], "opening hours": ["b"]})
    assert report.ok
    assert "queries by their texts" in str(report)


def test_runs_of_other_queries_are_refused() -> None:
    """Texts of no golden query are no queries of it."""
    with pytest.raises((InputError, NotComparable)):
        rankstone.evaluate(GOLDEN, {"something else": ["a"]}, "P@1")


def test_a_gate_with_columns_as_at_a_shell(tmp_path: Path) -> None:
    """Renamed columns are a table; a text is refused, and no fault of the program."""
    files = {
        "golden.json": json.dumps(GOLDEN[:3]),
        "run.json": json.dumps({"refund policy": [{"path": "a", "score": 1}]}),
        "gate.toml": (
            '[gate]\nqrels = "golden.json"\nbaseline = "run.json"\n'
            'candidate = "run.json"\n[gate.options]\ncolumns = "query=query_id"\n'
            '[[gate.rules]]\nmeasure = "P@1"\nfloor = 0.1\n'
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    refused = command("gate", "--config", str(tmp_path / "gate.toml"), code=2)
    assert "gate.options.columns" in refused.stderr
    with pytest.raises(UsageError, match="columns"):
        rankstone.gate(tmp_path / "gate.toml")
