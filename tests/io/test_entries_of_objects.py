"""JSON objects and dicts: their keys are queries, or columns, or the one that does not fit is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest

import rankstone
from rankstone.errors import BadValue, InputError, MissingColumn
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

QUERIES: Final = ["q one", "q one", "q two"]
DOCS: Final = ["a", "b", "b"]
RUN: Final = {"q one": ["b", "a"], "q two": ["b"]}


@pytest.mark.parametrize("of_file", [True, False])
def test_columns_are_a_table(tmp_path: Path, *, of_file: bool) -> None:
    """Questions beside their answers are no judgments of two queries, in ``check`` as in ``evaluate``."""

    def written(value: dict[str, Any]) -> Any:
        path = tmp_path / "columns.json"
        path.write_text(json.dumps(value))
        return path if of_file else value

    for name, other in (
        ("questions", "answers"),
        ("Question", "ground_truths"),
        ("user_id", "item_id"),
        ("query", "sources"),
    ):
        two = written({name: QUERIES, other: DOCS})
        with pytest.raises(MissingColumn, match=f"columns .*{other}"):
            read_judgments(two)
        facts = rankstone.check(two).files[0]
        assert facts.facts == {}
        assert "no column" in facts.findings[0].what
        graded = written({name: QUERIES, other: DOCS, "stars": [2, 0, 1]})
        columns = {name: "query_id", other: "doc_id", "stars": "relevance"}
        record = rankstone.evaluate(graded, RUN, "RR", columns=columns).to_dict()
        assert record["run"] == {"RR": (1 / 2 + 1) / 2}
        assert rankstone.check(graded, columns=columns).files[0].facts["queries"] == "2"
    slip = {"questions": "query_id", "typo": "doc_id"}
    with pytest.raises(
        MissingColumn, match=r"columns questions \(as query_id\), sources"
    ):
        read_judgments(written({"questions": QUERIES, "sources": DOCS}), slip)


def test_words_may_be_queries() -> None:
    """Two queries that are called as columns are have lists of one length, too."""
    for names in (("query", "doc"), ("topic", "user"), ("id", "q2"), ("a", "answer")):
        lists = {name: ["d1", "d2"] for name in names}
        assert read_run(lists).collect("query_id")["query_id"].n_unique() == 2


MISFITS: Final[dict[str, tuple[dict[str, Any], str, str | None]]] = {
    "facts about a model": (
        {"q1": {"d1": 2.0}, "model_meta": {"model_name": "m"}},
        "model_meta: {'model_name': 'm'}",
        None,
    ),
    "a text": ({"q1": ["d1"], "mode": "text"}, "mode: 'text'", None),
    "a list among objects": ({"q1": {"d1": 1}, "x": ["d"]}, "x: ['d']", None),
    "an object among lists": ({"q1": ["d"], "x": {"d1": 1}}, "x: {'d1': 1}", None),
    "nothing": ({"q1": {"d1": 1}, "q2": None}, "q2: None", None),
    "a deeper object": (
        {"queries": {"u1": "what?"}, "relevant_docs": {"u1": ["n1"]}},
        "queries: {'u1': 'what?'}",
        "if relevant_docs holds them",
    ),
    "a number first": (
        {"metric_score": 0.5, "results": {"u1": {"hits": []}}, "failures": {}},
        "metric_score: 0.5",
        "if results holds them",
    ),
    "records": (
        {"26": {"question": "t", "contexts": [{"docid": "d"}]}},
        "26: {'question': 't'",
        None,
    ),
}


@pytest.mark.parametrize("what", MISFITS)
def test_what_does_not_fit(tmp_path: Path, what: str) -> None:
    """The message names the entry, and one that may be meant; nothing is advised that was not tried."""
    value, entry, inside = MISFITS[what]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    for read in (read_run, read_judgments):
        with pytest.raises(InputError) as error:
            read(path)
        assert error.value.where == str(path)
        assert str(error.value.given).startswith(entry)
        assert str(error.value.fix).startswith(str(inside))


TIMES: Final = [1_400_000_000, 1_500_000_000, 1_600_000_000]


def test_times_are_no_grades(tmp_path: Path) -> None:
    """Large numbers, another one in each row, that were named relevance get a sentence that says what they are."""
    rows = pl.DataFrame(
        {"query_id": ["a", "a", "b"], "doc_id": ["x", "y", "x"], "at": TIMES}
    )
    rows.write_csv(tmp_path / "q.csv")
    lists = rows.group_by("query_id").agg("doc_id", "at")
    for source in (rows, tmp_path / "q.csv", lists):
        with pytest.raises(BadValue, match="at holds times, which are no grades"):
            read_judgments(source, {"at": "relevance"})
    alike = rows.with_columns(at=pl.Series([TIMES[0]] * 2 + [3]))
    assert read_judgments(alike, {"at": "relevance"}).collect().height == 3
    assert read_judgments(rows.clear(), {"at": "relevance"}).collect().is_empty()
    for no_number in (None, float("nan")):
        none = rows.head(1).with_columns(at=pl.lit(no_number, dtype=pl.Float64))
        assert read_judgments(none, {"at": "relevance"}).collect().height == 1


def test_distances_named_as_scores() -> None:
    """The farthest would be the best; distances that were negated are scores."""
    rows = pl.DataFrame(
        {"query_id": ["a", "a"], "doc_id": ["x", "y"], "distance": [0.9, 0.1]}
    )
    with pytest.raises(
        BadValue, match=r"(?s)distance is smallest.*or distance=rank"
    ) as no:
        read_run(rows, {"distance": "score"})
    assert no.value.fix is None
    negated = rows.with_columns(-pl.col("distance"))
    scores = rankstone.evaluate(
        {"a": {"y": 1}}, {"r": negated}, "RR", columns={"distance": "score"}
    )
    assert scores.to_dict() == {"r": {"RR": 1}}
