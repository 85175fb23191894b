"""Queries without a list, of which some need none."""

from __future__ import annotations

from typing import Any

import pytest

import rankstone

GOLDEN: Any = [
    {"id": "a", "query": "x", "expected": ["d"]},
    {"id": "b", "query": "y", "answerable": False},
    {"id": "c", "query": "z", "answerable": False},
    {"id": "e", "query": "w", "expected": ["d"]},
]
#: run → the missing queries where an empty list is one, and where it is an answer
RUNS: dict[str, tuple[Any, int, int]] = {
    "empty lists": ({"a": ["d"], "b": [], "c": ["d"], "e": []}, 1, 0),
    "nothing for e": ({"a": ["d"], "c": ["d"]}, 1, 1),
    "nothing but answers": ({"a": ["d"], "b": [], "c": [], "e": ["d"]}, 0, 0),
    "nothing but a": ({"a": ["d"]}, 1, 1),
}


@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("no_results", ["missing", "zero", "undefined", "drop"])
@pytest.mark.parametrize("name", RUNS)
def test_unanswerable_queries_are_not_missing(
    name: str, no_results: str, memory: str | None
) -> None:
    """Only queries that need an answer are missing, however an empty list is counted; never below 0."""
    run, without_lists, without_entries = RUNS[name]
    expected = without_lists if no_results == "missing" else without_entries
    scores = rankstone.evaluate(
        GOLDEN, run, "R@5", no_results=no_results, memory=memory
    )
    assert scores.audit.runs["run"].missing == expected


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_every_empty_query_is_unanswerable(memory: str | None) -> None:
    """The same where the option says which queries need no answer."""
    qrels = {"a": {"d": 1}, "b": {"d": 0}, "c": {"d": 0}, "e": {"d": 1}}
    scores = rankstone.evaluate(
        qrels, {"a": ["d"], "c": ["d"]}, "R@5", empty="unanswerable", memory=memory
    )
    assert scores.audit.runs["run"].missing == 1
