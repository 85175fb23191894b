"""Whether everything that is needed is retrieved: documents, or one for each subtopic."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankstone
from rankstone import UsageError
from rankstone.errors import BadOption, UnknownMeasure
from rankstone.measures import parse_measure
from rankstone.tables.phrases import from_english

if TYPE_CHECKING:
    from pathlib import Path

#: two hops, of which the first has alternatives; then a question of one hop
HOPS = pl.DataFrame(
    [
        ("q", "one", "a", 1),
        ("q", "one", "b", 1),
        ("q", "two", "c", 1),
        ("q", "two", "x", 0),
        ("r", "one", "d", 1),
        ("r", "one", "e", 1),
    ],
    ["query_id", "subtopic", "doc_id", "relevance"],
    orient="row",
)
RUN = {"q": ["x", "b", "c", "a"], "r": ["e"]}


def values(judged: Any, runs: Any, text: str, **options: Any) -> dict[str, float]:
    """Return the value of each query."""
    scores = rankstone.evaluate(judged, runs, text, **options).per_query
    return dict(scores.select("query_id", "value").iter_rows())


def test_judgments_say_what_is_needed() -> None:
    """Judgments with a column subtopic ask for one document of each; the name of the result says so."""
    by_subtopic = rankstone.evaluate(HOPS, RUN, "FullRecall@3")
    assert by_subtopic.to_dict()["run"] == {"FullRecall(each=subtopic)@3": 1.0}
    assert values(HOPS, RUN, "FullRecall@2") == {"q": 0.0, "r": 1.0}

    plain = rankstone.evaluate(HOPS.drop("subtopic"), RUN, "FullRecall@4")
    assert plain.to_dict()["run"] == {"FullRecall@4": 1 / 2}
    twice = rankstone.evaluate(HOPS, RUN, "FullRecall@3 FullRecall(each=subtopic)@3")
    assert twice.to_dict() == by_subtopic.to_dict()
    assert len(twice.measures) == 1
    each = "FullRecall(each=document)@4"
    assert values(HOPS, RUN, each) == {"q": 1.0, "r": 0.0}


def test_a_second_column_of_trec_is_no_subtopic(tmp_path: Path) -> None:
    """It may be anything, so it is read where the measure asks for it, whatever stands beside."""
    qrels = tmp_path / "qrels.txt"
    lines = [f"{q} {s} {d} {g}\n" for q, s, d, g in HOPS.iter_rows()]
    qrels.write_text("".join(lines))
    assert values(qrels, RUN, "FullRecall@3") == {"q": 0.0, "r": 0.0}
    beside = rankstone.evaluate(qrels, RUN, "FullRecall@3 StRecall@3").to_dict()
    assert beside["run"] == {"FullRecall@3": 0.0, "StRecall@3": 1.0}
    by_name = "FullRecall(each=subtopic)@3"
    assert values(qrels, RUN, by_name) == {"q": 1.0, "r": 1.0}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_tied_documents(k: int) -> None:
    """The expectation is the mean over all orders of what is tied; of subtopics there is no closed form."""
    judged = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    tied = ["a", "b", "x", "y"]
    scores = {"c": 2.0, **dict.fromkeys(tied, 1.0), "d": 0.5}
    orders = [["c", *order, "d"] for order in permutations(tied)]
    means = [values(judged, {"q": order}, f"FullRecall@{k}")["q"] for order in orders]
    expected = values(judged, {"q": scores}, f"FullRecall@{k}", ties="expected")
    assert expected["q"] == pytest.approx(sum(means) / len(orders), rel=1e-12)

    with pytest.raises(BadOption, match=r"each=subtopic\)@3 has no closed form"):
        rankstone.evaluate(HOPS, RUN, "FullRecall@3", ties="expected")
    assert values(HOPS, RUN, "FullRecall", ties="expected") == {"q": 1.0, "r": 1.0}


def test_queries_out_of_reach() -> None:
    """Where more documents are needed than the cutoff lets in, the status and a warning say so."""
    judged = {"q": {"a": 1, "b": 1}, "r": {"a": 1}, "s": {}, "t": {"a": 1, "b": 1}}
    lists = {"q": ["a", "b"], "r": ["a"], "s": ["a"]}
    scores = rankstone.evaluate(judged, lists, "FullRecall@1")
    status = dict(scores.per_query.select("query_id", "status").iter_rows())
    expected = ["out_of_reach", "ok", "no_relevant", "missing"]
    assert [status[query] for query in "qrst"] == expected
    warnings = scores.audit.runs["run"].warnings
    sentence = "1 of 4 queries needs more documents than FullRecall@1 looks at"
    assert f"{sentence}: it can reach 75.0% at most" in warnings
    assert (
        "out_of_reach"
        not in rankstone.evaluate(judged, lists, "FullRecall@2").per_query["status"]
    )

    # a document that serves both subtopics may be enough
    both = [("q", "1", "a", 1), ("q", "2", "a", 1), ("q", "2", "b", 1)]
    frame = pl.DataFrame(both, HOPS.schema, orient="row")
    scores = rankstone.evaluate(frame, {"q": ["b", "a"]}, "FullRecall@1")
    assert scores.per_query["status"].to_list() == ["ok"]


def test_budgets_and_lists_without_documents() -> None:
    """A budget ends the list as it does for recall; an empty list and a missing one are worth 0."""
    rows = [("q", "b", 3.0, 60), ("q", "c", 2.0, 60), ("r", "x", 1.0, 10)]
    table = pl.DataFrame(rows, ["query_id", "doc_id", "score", "tokens"], orient="row")
    assert values(HOPS, table, "FullRecall@tokens(100)") == {"q": 0.0, "r": 0.0}
    assert values(HOPS, table, "FullRecall@tokens(120)") == {"q": 1.0, "r": 0.0}
    assert values(HOPS, {"q": [], "z": ["a"]}, "FullRecall@9") == {"q": 0.0, "r": 0.0}
    none = HOPS.with_columns(answerable=pl.col("query_id") != "r", relevance=0)
    unanswerable = values(none, RUN, "FullRecall@9")
    assert unanswerable == {"q": 0.0}


def test_a_document_that_is_retrieved_twice() -> None:
    """Its copy neither replaces another relevant document, nor is a second one to find."""
    lists = {"q": ["b", "b", "c"], "r": ["d", "d"]}
    first = values(HOPS, lists, "FullRecall@3", duplicates="first_drop")
    assert first == {"q": 1.0, "r": 1.0}
    plain = HOPS.drop("subtopic")
    assert values(plain, lists, "FullRecall@3", duplicates="first_drop")["r"] == 0.0


def test_names_elsewhere() -> None:
    """Other words for it lead to it, and so do those for the share of subtopics."""
    for word in ("recall_all@5", "AllRel@5", "all_recall", "hit_all@3"):
        with pytest.raises(UnknownMeasure, match=r"did you mean FullRecall\?"):
            parse_measure(word)
    for word in ("GroupRecall@5", "hop_recall"):
        with pytest.raises(UnknownMeasure, match=r"did you mean StRecall\?"):
            parse_measure(word)
    with pytest.raises(UnknownMeasure, match="different measures") as caught:
        parse_measure("Acc@5")
    assert "FullRecall@10" in str(caught.value)


def test_a_labelled_table_counts_documents() -> None:
    """It holds all the documents there are, and names no subtopics."""
    table = pl.DataFrame(
        {"query_id": ["q"] * 3, "score": [3, 2, 1], "relevance": [1, 0, 1]}
    )
    scores = rankstone.evaluate(table=table, measures="FullRecall@2 FullRecall@3")
    assert [*scores.to_dict()["run"].values()] == [0.0, 1.0]
    with pytest.raises(UsageError, match="needs a separate table"):
        rankstone.evaluate(table=table, measures="FullRecall(each=subtopic)@3")


def test_the_warning_in_both_languages() -> None:
    """The sentence about what is out of reach can be read in Chinese, too."""
    (warning,) = (
        rankstone.evaluate(HOPS.drop("subtopic"), RUN, "FullRecall@2")
        .audit.runs["run"]
        .warnings[-1:]
    )
    assert warning == (
        "1 of 2 queries needs more documents than FullRecall@2 looks at: it can reach 50.0% at most"
    )
    in_chinese = from_english(f"up to {warning}", "zh")
    assert (
        in_chinese
        == "2 个查询中至多 1 个所需的文档数超过 FullRecall@2 所看的范围：它最高只能达到 50.0%"
    )
