"""Queries declared to have no relevant document: they are judged, and ``empty`` decides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone
from rankstone import InputError
from rankstone.errors import BadOption, EmptyInput
from rankstone.evaluation.out_of_core import evaluate_out_of_core

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d1": 1.0}}
QUERIES: dict[str, dict[str, Any]] = {
    "q1": {"judged": True},
    "q2": {"judged": True},
    "q3": {"judged": None},
}
#: judgments of q1, and the entry of q2 without a document; q3 is not mentioned
DECLARING: dict[str, object] = {
    "grades": {"q1": {"d1": 1}, "q2": {}},
    "lists": {"q1": ["d1"], "q2": []},
    "a list among grades": {"q1": {"d1": 1}, "q2": []},
    "a dict among lists": {"q1": ["d1"], "q2": {}},
    "lists in a column": pl.DataFrame(
        {"query_id": ["q1", "q2"], "doc_id": [["d1"], []]}
    ),
    "lists and grades in columns": pl.DataFrame(
        {"query_id": ["q1", "q2"], "doc_id": [["d1"], []], "relevance": [[1], []]}
    ),
}


def both(qrels: Any, measures: str, **options: Any) -> list[Any]:
    """Evaluate in memory and in ranges of queries."""
    within = rankstone.evaluate(qrels, RUN, measures, memory="1GB", **options)
    return [rankstone.evaluate(qrels, RUN, measures, **options), within]


@pytest.mark.parametrize("form", DECLARING)
@pytest.mark.parametrize(
    ("empty", "mean"),
    [("zero", (1 + 0) / 2), ("one", (1 + 1) / 2), ("undefined", 1.0), ("drop", 1.0)],
)
def test_an_empty_entry_is_a_query_without_relevant_documents(
    form: str, empty: str, mean: float
) -> None:
    """Recall is the mean over both judged queries, of which `empty` says what the second is worth."""
    for scores in both(DECLARING[form], "R@10", empty=empty):
        assert scores.to_dict()["run"]["R@10"] == mean
        audit = scores.audit.judgments
        assert (audit.queries, audit.judgments, audit.empty, audit.declared) == (
            2,
            1,
            1,
            1,
        )
        assert scores.audit.runs["run"].extra == 1  # q3


@pytest.mark.parametrize("form", DECLARING)
def test_an_empty_entry_can_be_an_error(form: str) -> None:
    """Where queries without a relevant document are refused, so is this one."""
    with pytest.raises(BadOption, match="without a relevant document"):
        rankstone.evaluate(DECLARING[form], RUN, "R@10", empty="error")


def test_a_json_file_declares_queries(tmp_path: Path) -> None:
    """JSON and JSON lines say the same as what Python hands over."""
    (tmp_path / "q.json").write_text(json.dumps(DECLARING["grades"]), encoding="utf-8")
    rows = [{"query_id": "q1", "doc_id": ["d1"]}, {"query_id": "q2", "doc_id": []}]
    (tmp_path / "q.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    for name in ("q.json", "q.jsonl"):
        for scores in both(tmp_path / name, "R@10"):
            assert scores.to_dict()["run"]["R@10"] == 1 / 2


def test_a_declared_query_may_be_missing_from_the_run() -> None:
    """It counts as every other judged query does that the run does not answer."""
    scores = rankstone.evaluate({"q1": {"d1": 1}, "q9": {}}, RUN, "R@10")
    assert scores.to_dict()["run"]["R@10"] == 1 / 2
    assert scores.audit.runs["run"].missing == 1


def test_an_empty_entry_declares_subtopics_too() -> None:
    """So it is where documents are judged for subtopics."""
    qrels = {"q1": {"d1": {"1": 1}}, "q2": {}, "q3": {"d1": {}}}
    for scores in both(qrels, "alpha_nDCG@10"):
        assert scores.to_dict()["run"]["alpha_nDCG@10"] == 1 / 3
        assert (scores.audit.judgments.queries, scores.audit.judgments.declared) == (
            3,
            2,
        )


@pytest.mark.parametrize("form", ["dict", "csv", "parquet"])
def test_the_table_of_queries_declares(form: str, tmp_path: Path) -> None:
    """A row of the query table whose `judged` is true is a judged query, with or without judgments."""
    frame = pl.DataFrame([{"query_id": query, **row} for query, row in QUERIES.items()])
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    table = QUERIES if form == "dict" else tmp_path / f"t.{form}"
    for scores in both({"q1": {"d1": 1}}, "R@10", queries=table):
        assert scores.to_dict()["run"]["R@10"] == 1 / 2
        assert (scores.audit.judgments.declared, scores.audit.runs["run"].extra) == (
            1,
            1,
        )


def test_a_table_of_queries_that_merely_names_them_changes_nothing() -> None:
    """Topics without judgments are no queries without relevant documents: most pools hold some of many."""
    table = {query: {"country": "de"} for query in RUN}
    for scores in both({"q1": {"d1": 1}}, "R@10", queries=table):
        assert scores.to_dict()["run"]["R@10"] == 1.0
        assert scores.audit.judgments.declared == 0
        assert "2 rows about queries without judgments" in scores.audit.lines()[1]


def test_judged_says_true_or_false() -> None:
    """Anything else is refused, naming the query."""
    with pytest.raises(InputError, match="the judged of query q2 is perhaps"):
        rankstone.evaluate(
            {"q1": ["d1"]},
            RUN,
            "RR",
            queries={"q1": {"judged": "1"}, "q2": {"judged": "perhaps"}},
        )


def test_numbers_declare_by_their_text() -> None:
    """Ids of the query table are texts; against whole numbers they are compared as such."""
    scores = rankstone.evaluate(
        {1: {7: 1}}, {1: {7: 1.0}, 2: {7: 1.0}}, "RR", queries={"2": {"judged": 1}}
    )
    assert scores.to_dict()["run"]["RR"] == 1 / 2


def test_judged_below_zero_is_not_declared() -> None:
    """A query whose grades are all negative has judgments: it was without a relevant document before."""
    scores = rankstone.evaluate({"q1": {"d1": 1}, "q2": {"d1": -1}}, RUN, "R@10")
    audit = scores.audit.judgments
    assert audit is not None
    assert (scores.to_dict()["run"]["R@10"], audit.empty, audit.declared) == (
        1 / 2,
        1,
        0,
    )


def test_no_judgment_at_all_is_refused() -> None:
    """Where every query is declared empty there is nothing to measure against."""
    for evaluate in (rankstone.evaluate, evaluate_out_of_core):
        with pytest.raises(EmptyInput, match="there are no judgments"):
            evaluate({"q1": {}, "q2": {}}, RUN, "RR")


def test_comparisons_count_declared_queries() -> None:
    """A comparison has them among its queries."""
    other = {query: {"d2": 1.0} for query in RUN}
    comparison = rankstone.compare(
        {"q1": {"d1": 1}, "q2": {}}, {"a": RUN, "b": other}, "R@10"
    )
    assert comparison.table["n"].to_list() == [2]


def test_an_exact_run_without_results_declares(tmp_path: Path) -> None:
    """A query for which an exact search finds nothing is judged: nothing is right."""
    exact, near = {"q1": {"d1": 0.9}, "q2": {}}, {"q1": {"d1": 0.9}, "q2": {"d7": 0.1}}
    for name, run in (("exact", exact), ("near", near)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run), encoding="utf-8")
    out = tmp_path / "out.json"
    line = [
        "eval",
        "--exact-run",
        str(tmp_path / "exact.json"),
        "--depth",
        "1",
        str(tmp_path / "near.json"),
    ]
    assert exit_code([*line, "--format", "json", "-o", str(out)]) == 0
    assert json.loads(out.read_text())["audit"]["judgments"]["declared"] == 1


def test_the_audit_says_how_many() -> None:
    """The line of the judgments tells declared queries from those judged without success."""
    scores = rankstone.evaluate({"q1": {"d1": 1}, "q2": {}, "q3": {"d1": 0}}, RUN, "RR")
    assert scores.audit.lines()[0] == (
        "judgments  3 queries, 2 judgments · 2 queries without a relevant document, "
        "1 of them without any judgment"
    )


def test_libraries_know_queries_by_their_judgments() -> None:
    """Numbers of a library are those it prints: pytrec_eval leaves queries without an entry out."""
    scores = rankstone.evaluate(
        {"q1": {"d1": 1}, "q2": {}}, RUN, "recall_10", convention="pytrec_eval"
    )
    assert scores.to_dict()["run"]["recall_10"] == 1.0


def test_check_knows_declared_queries() -> None:
    """What is declared is judged: `check` does not call it unjudged."""
    report = rankstone.check(
        {"q1": {"d1": 1}, "q2": {}}, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}
    )
    judged, run = report.files
    assert judged.facts["declared empty"] == "1"
    assert not any("nobody judged" in finding.what for finding in run.findings)
