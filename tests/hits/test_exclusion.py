"""Excluded pairs: what leaves the lists, what leaves the ideal, and what the audit says of it."""

from __future__ import annotations

import json
from math import log2
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone
from rankstone.errors import BadOption
from rankstone.evaluation.out_of_core import evaluate_out_of_core

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 1, "c": 0, "e": 2}, "q2": {"a": 1}, "q3": {"a": 1}}
RUN = {"q1": ["a", "x", "b"], "q2": ["a", "b"], "q3": ["a"]}
#: what stands in a list and is relevant, is only relevant, only stands in a list, is nothing, and is unknown
SEEN = {"q1": ["a", "e", "x", "zz"], "q2": ["a"], "q9": ["a"]}


def both(measures: str, **options: Any) -> list[Any]:
    """Evaluate in memory and in ranges of queries."""
    evaluations = (rankstone.evaluate, evaluate_out_of_core)
    return [evaluation(QRELS, RUN, measures, **options) for evaluation in evaluations]


@pytest.mark.parametrize(
    ("where", "recall"),
    [
        ("lists", (1 / 3 + 0 / 1 + 1) / 3),  # b of a, b, e; nothing of a
        ("judgments", (1 / 1 + 0 + 1) / 3),  # b of b; q2 has nothing relevant left
        ("both", (1 / 1 + 0 + 1) / 3),
    ],
)
def test_where_pairs_are_taken_out(where: str, recall: float) -> None:
    """R counts what is left of the judgments; a query with nothing left is without relevant documents."""
    for scores in both("R@10", exclude=SEEN, exclude_from=where):
        assert scores.to_dict()["run"]["R@10"] == pytest.approx(recall, abs=1e-15)
        assert scores.audit.judgments.queries == 3
        assert scores.audit.judgments.empty == (where != "lists")
        assert scores.audit.judgments.declared == 0


def test_a_residual_collection_ranks_what_is_left() -> None:
    """With both, b stands at the first rank of what is left, and the ideal is b alone."""
    for where, ndcg in (("judgments", 1 / log2(4)), ("both", 1.0)):
        for scores in both("nDCG", exclude=SEEN, exclude_from=where, empty="drop"):
            assert scores.per_query.filter(query_id="q1")["value"][0] == pytest.approx(
                ndcg, abs=1e-15
            )
    residual = rankstone.evaluate(
        {"q1": {"b": 1, "c": 0}, "q2": {}, "q3": {"a": 1}},
        {"q1": ["b"], "q2": ["b"], "q3": ["a"]},
        "nDCG AP P@2",
    )
    assert (
        both("nDCG AP P@2", exclude=SEEN, exclude_from="both")[0].to_dict()
        == residual.to_dict()
    )


def test_the_lists_are_the_usual_place() -> None:
    """Who says nothing has the lists shortened and the ideal left alone, as ever."""
    assert (
        both("nDCG", exclude=SEEN)[0].to_dict()
        == both("nDCG", exclude=SEEN, exclude_from="lists")[0].to_dict()
    )


@pytest.mark.parametrize("where", ["lists", "judgments", "both"])
def test_the_audit_counts(where: str) -> None:
    """Rows out of lists, how many were relevant, pairs in no list; judgments taken out."""
    for scores in both("RR", exclude=SEEN, exclude_from=where):
        judged, run = scores.audit.judgments, scores.audit.runs["run"]
        gone = (0, 0) if where == "lists" else (3, 3)  # a and e of q1, a of q2
        assert (judged.excluded, judged.excluded_relevant) == gone
        if where == "judgments":
            assert run.left_out is None
            continue
        left = run.left_out
        assert (left.rows, left.relevant, left.pairs_relevant, left.unmatched) == (
            3,
            2,
            3,
            3,
        )
        assert left.examples == ("q1 e", "q1 zz", "q9 a")


def test_the_audit_says_what_stays_in_the_ideal() -> None:
    """Where relevant documents cannot be found any more and are requested all the same, that is stated."""
    line = both("RR", exclude=SEEN)[0].audit.lines()[1]
    assert (
        "3 rows excluded, 2 of them relevant, 3 pairs to exclude in no list (q1 e, q1 zz, q9 a)"
        in line
    )
    assert (
        "3 excluded relevant documents still in the ideal list (exclude_from=both removes them)"
        in line
    )
    assert (
        "still in the ideal"
        not in both("RR", exclude=SEEN, exclude_from="both")[0].audit.lines()[1]
    )


def test_pairs_of_other_ids_are_a_warning() -> None:
    """Where nothing that is to be excluded is in any list, ids may not match."""
    for scores in both("RR", exclude={"Q1": ["a"]}):
        assert any(
            "no pair to exclude is in any list" in warning
            for warning in scores.audit.runs["run"].warnings
        )
    numbers = rankstone.evaluate({1: {7: 1}}, {1: {7: 1.0}}, "RR", exclude={"x": ["y"]})
    assert any(
        "no pair to exclude" in warning
        for warning in numbers.audit.runs["run"].warnings
    )


def test_a_document_twice_is_two_rows_and_one_pair() -> None:
    """Rows are counted as they stand in the lists, pairs once."""
    run = {"q1": ["a", "a", "b"]}
    left = rankstone.evaluate(
        QRELS, run, "RR", exclude={"q1": ["a"]}, duplicates="first_drop"
    ).audit.runs["run"]
    assert left.left_out is not None
    assert (left.left_out.rows, left.left_out.unmatched) == (2, 0)


def test_without_pairs_there_is_no_place() -> None:
    """To say where without saying what is a slip."""
    for evaluate in (rankstone.evaluate, evaluate_out_of_core):
        with pytest.raises(
            BadOption, match="exclude_from=both without pairs to exclude"
        ):
            evaluate(QRELS, RUN, "RR", exclude_from="both")


def test_judgments_taken_out_keep_their_places() -> None:
    """A mistake in a later judgment is reported by its own row."""
    frame = {
        "query_id": ["q1", "q1", "q1"],
        "doc_id": ["a", "b", "b"],
        "relevance": [1, 1, 0],
    }

    with pytest.raises(rankstone.InputError, match="row 3"):
        rankstone.evaluate(
            pl.DataFrame(frame), RUN, "RR", exclude={"q1": ["a"]}, exclude_from="both"
        )


def test_explanations_and_comparisons_take_it_along() -> None:
    """The option holds wherever pairs are excluded."""
    explanation = rankstone.explain(
        QRELS, RUN, "R@10", "q1", exclude=SEEN, exclude_from="both"
    )
    assert isinstance(explanation, rankstone.Explanation)
    assert explanation.value == 1.0
    other = {query: list(reversed(docs)) for query, docs in RUN.items()}
    runs = {"a": RUN, "b": other}
    compared = rankstone.compare(QRELS, runs, "nDCG", exclude=SEEN, exclude_from="both")
    means = {
        name: rankstone.evaluate(QRELS, run, "nDCG", exclude=SEEN, exclude_from="both")
        for name, run in runs.items()
    }
    assert compared.audit is not None
    assert compared.audit.runs["a"].left_out == means["a"].audit.runs["run"].left_out
    assert compared.conventions["alignment"]["exclude_from"] == "both"


def test_at_a_shell(tmp_path: Path) -> None:
    """--exclude-from goes with --exclude; JSON holds the counts."""
    for name, what in (("qrels", QRELS), ("run", RUN), ("seen", SEEN)):
        (tmp_path / f"{name}.json").write_text(json.dumps(what), encoding="utf-8")
    files = [str(tmp_path / f"{name}.json") for name in ("qrels", "run")]
    out = tmp_path / "out.json"
    line = [
        "eval",
        *files,
        "--exclude",
        str(tmp_path / "seen.json"),
        "--exclude-from",
        "both",
        "-m",
        "R@10",
    ]
    assert exit_code([*line, "--format", "json", "-o", str(out)]) == 0
    parsed = json.loads(out.read_text(encoding="utf-8"))
    assert parsed["audit"]["runs"]["run"]["excluded"]["rows"] == 3
    assert parsed["conventions"]["alignment"]["exclude_from"] == "both"
    assert exit_code(["eval", *files, "--exclude-from", "both"]) == 2
