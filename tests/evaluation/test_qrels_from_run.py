"""Judgments made of a run: how much of an exact search an approximate one finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

EXACT = {"q": {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.1}, "r": {"x": 1.0}}


def recall(truth: Any, run: Any, k: int) -> float | None:
    """Return found / k."""
    text = f"R(denom=min_R_k)@{k}"
    return rankstone.evaluate(truth, run, text).to_dict()["run"][text]


def test_ties_with_the_last_document_are_right() -> None:
    """Either of two documents that tie with the k-th may be found; neither is a mistake."""
    truth = rankstone.qrels_from_run({"q": EXACT["q"]}, 2)
    assert sorted(truth["doc_id"]) == ["a", "b", "c"]
    assert recall(truth, {"q": ["a", "b"]}, 2) == 2 / 2
    assert recall(truth, {"q": ["c", "a"]}, 2) == 2 / 2
    assert recall(truth, {"q": ["c", "b"]}, 2) == 2 / 2
    assert recall(truth, {"q": ["d", "c", "a", "b"]}, 2) == 1 / 2
    assert recall(truth, {"q": ["d"]}, 2) == 0


def test_an_exact_list_shorter_than_k() -> None:
    """Where an exact search finds fewer than k, all of them are enough."""
    truth = rankstone.qrels_from_run(EXACT, 3)
    assert (
        recall(truth, {"q": ["a", "b", "c"], "r": ["x", "y", "z"]}, 3)
        == (3 / 3 + 1 / 1) / 2
    )


def test_epsilon() -> None:
    """Scores within a distance of the k-th count as tied, as in ANN-benchmarks."""
    exact = {"q": {"a": -1.0, "b": -2.0, "c": -2.0009, "d": -2.1}}
    assert rankstone.qrels_from_run(exact, 2)["doc_id"].to_list() == ["a", "b"]
    assert rankstone.qrels_from_run(exact, 2, within=1e-3)["doc_id"].to_list() == [
        "a",
        "b",
        "c",
    ]


def test_lists_and_ranks() -> None:
    """A list of documents is cut at k; a rank column is used when requested."""
    assert rankstone.qrels_from_run({"q": ["a", "b", "c"]}, 2)["doc_id"].to_list() == [
        "a",
        "b",
    ]
    ranked = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": list("abc"), "rank": [3, 1, 2]}
    )
    assert rankstone.qrels_from_run(ranked, 2, order="rank")["doc_id"].to_list() == [
        "b",
        "c",
    ]


def test_ids_of_text_files_match_numbers(tmp_path: Path) -> None:
    """An exact run read from TREC text judges a frame with whole numbers for ids, on the command line too."""
    path = tmp_path / "exact.run"
    path.write_text("1 Q0 10 1 0.9 t\n1 Q0 11 2 0.8 t\n")
    from rankstone.evaluation.exact_run import head_of_run

    frame = pl.DataFrame({"query_id": [1, 1], "doc_id": [11, 12], "score": [1.0, 0.5]})
    assert recall(head_of_run(path, 2), frame, 2) == 1 / 2


@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    order=st.randoms(use_true_random=False),
    k=st.integers(1, 6),
)
def test_the_definition(scores: list[int], order: Any, k: int) -> None:
    """Recall is the share of the first k that score no less than the exact k-th, as ANN-benchmarks counts."""
    exact = {f"d{index}": float(score) for index, score in enumerate(scores)}
    items = list(exact)
    order.shuffle(items)
    last = sorted(scores, reverse=True)[: min(k, len(scores))][-1]
    right = sum(exact[doc] >= last for doc in items[:k])
    assert recall(
        rankstone.qrels_from_run({"q": exact}, k), {"q": items}, k
    ) == right / min(k, len(scores))


@pytest.mark.parametrize("depth", [0, -1, 1.5, True])
def test_depths_that_are_none(depth: Any) -> None:
    """A depth is a whole number from 1 up."""
    with pytest.raises(UsageError, match="is not a count"):
        rankstone.qrels_from_run(EXACT, depth)


def test_runs_that_cannot_judge() -> None:
    """A missing score, an empty run and a negative epsilon are refused with a reason."""
    with pytest.raises(UsageError, match="is not a distance"):
        rankstone.qrels_from_run(EXACT, 2, within=-1)
    frame = pl.DataFrame(
        {"query_id": ["q"], "doc_id": ["a"], "score": [None]},
        schema_overrides={"score": pl.Float64},
    )
    with pytest.raises(InputError, match="the score is not a number"):
        rankstone.qrels_from_run(frame, 2)
    with pytest.raises(InputError, match="the run is empty"):
        rankstone.qrels_from_run(frame.clear(), 2)
