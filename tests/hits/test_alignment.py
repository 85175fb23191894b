"""What alignment does with duplicates, scattered rows, missing queries, and how it says so."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import AlignmentOptions, UsageError
from rankstone.errors import (
    BadOption,
    BadValue,
    DuplicateRows,
    NotComparable,
    OutOfRange,
    TiedScores,
)

QRELS = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}}


def score(run: Any, measure: str, qrels: Any = QRELS, **options: Any) -> float | None:
    return rankstone.evaluate(qrels, {"r": run}, measure, **options).to_dict()["r"][
        measure
    ]


def rows(*triples: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(triples, schema=["query_id", "doc_id", "score"], orient="row")


def test_duplicates_are_an_error_that_shows_both_rows() -> None:
    """A document twice in a list is refused; the message names query, document and rows."""
    run = rows(("q1", "d1", 3.0), ("q1", "dx", 2.0), ("q1", "dx", 1.0))

    with pytest.raises(DuplicateRows) as caught:
        score(run, "RR")

    assert caught.value.what == "document dx is retrieved 2 times for query q1"
    assert caught.value.where == "r, row 2, r, row 3"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("first_keep_rank", (1 / 1 + 2 / 3) / 2),
        ("first_drop", (1 / 1 + 2 / 2) / 2),
        ("last_drop", (1 / 1 + 2 / 2) / 2),
        ("keep", (1 / 1 + 2 / 2 + 3 / 3) / 3),
    ],
)
def test_duplicate_policies(policy: str, expected: float) -> None:
    """Copies keep their rank and earn nothing, or are dropped, or count, as requested."""
    run = rows(("q1", "d1", 3.0), ("q1", "d1", 2.0), ("q1", "d2", 1.0))
    measure = "AP(denom=k)@3" if policy == "keep" else "AP"

    assert (
        score(run, measure, {"q1": {"d1": 1, "d2": 1}}, duplicates=policy) == expected
    )


def test_a_value_outside_its_range_is_refused() -> None:
    """Three hits of two relevant documents are no recall, and nothing is better than the ideal list."""
    copies = rows(("q1", "d1", 3.0), ("q1", "d1", 2.0), ("q1", "d2", 1.0))
    with pytest.raises(
        OutOfRange, match=r"query q1: R is 1\.5, outside its range 0 … 1"
    ):
        score(copies, "R", {"q1": {"d1": 1, "d2": 1}}, duplicates="keep")
    with pytest.raises(
        OutOfRange, match=r"query q1: nDCG is .*, outside its range -∞ … 1"
    ):
        score(
            rows(("q1", "d1", 3.0)),
            "nDCG",
            {"q1": {"d1": 1, "d2": -1}},
            negative="keep",
        )


def test_last_drop_keeps_the_last_copy() -> None:
    """Under last_drop the later copy's place is the document's."""
    run = rows(("q1", "d1", 3.0), ("q1", "dx", 2.0), ("q1", "d1", 1.0))

    assert score(run, "RR", {"q1": {"d1": 1}}, duplicates="last_drop") == 1 / 2


@pytest.mark.parametrize(
    ("policy", "grade"),
    [
        ("max", 3.0),
        ("sum", 5.0),
        ("mean", 5 / 3),
        ("majority", 1.0),
        ("first", 1.0),
        ("last", 3.0),
    ],
)
def test_duplicate_judgments(policy: str, grade: float) -> None:
    """Several judgments of a pair become one grade, as requested; by default they are an error."""
    qrels = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["d"] * 3, "relevance": [1, 1, 3]}
    )
    run = {"q": {"d": 1.0}}

    assert score(run, "CG", qrels, duplicate_judgments=policy) == grade
    with pytest.raises(DuplicateRows, match="judged more than once"):
        score(run, "CG", qrels)


def test_scattered_rows_give_the_same_numbers() -> None:
    """Rows of a query that lie apart are brought together; the numbers are the same bits."""
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "query_id": np.repeat([f"q{i}" for i in range(50)], 40),
            "doc_id": [f"d{j}" for _ in range(50) for j in rng.permutation(40)],
            "score": rng.normal(size=2000).round(2),
        }
    )
    qrels = frame.sample(400, seed=1).select("query_id", "doc_id", relevance=pl.lit(1))
    measures = ["nDCG@10", "AP", "RR", "P@5"]
    ordered = rankstone.evaluate(qrels, {"r": frame}, measures)
    shuffled = rankstone.evaluate(
        qrels, {"r": frame.sample(fraction=1.0, shuffle=True, seed=2)}, measures
    )

    assert ordered.per_query.equals(shuffled.per_query)


def test_missing_queries() -> None:
    """A judged query without an answer scores zero, is left out, or is an error."""
    run = {"q1": {"d1": 1.0}}

    assert score(run, "RR") == (1 / 1 + 0) / 2
    assert score(run, "RR", missing="drop") == 1 / 1
    with pytest.raises(NotComparable, match="1 query missing from the run"):
        score(run, "RR", missing="error")


def test_extra_queries() -> None:
    """An unjudged query is dropped, kept as one without relevant documents, or an error."""
    run = {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}, "qx": {"d1": 1.0}}
    scores = rankstone.evaluate(QRELS, {"r": run}, "RR")

    assert scores.audit.runs["r"].extra == 1
    assert scores.to_dict() == {"r": {"RR": 1.0}}
    assert score(run, "RR", extra="keep") == (1 + 1 + 0) / 3
    with pytest.raises(NotComparable, match="1 query of the run without judgments"):
        score(run, "RR", extra="error")


def test_no_overlap_shows_both_kinds_of_ids() -> None:
    """A run about other queries is refused with examples of both."""
    with pytest.raises(
        NotComparable, match=r"(?s)judged queries q1, q2.*queries of the run 1, 2"
    ):
        score({"1": {"d1": 1.0}, "2": {"d1": 1.0}}, "RR")


def test_documents_that_never_match_are_warned_about() -> None:
    """No judged document retrieved at all is a warning in the audit."""
    audit = rankstone.evaluate(
        QRELS, {"r": {"q1": {"1": 1.0}, "q2": {"2": 1.0}}}, "RR"
    ).audit

    assert any("do document ids match" in line for line in audit.runs["r"].warnings)


@pytest.mark.parametrize(
    ("empty", "expected"),
    [("zero", 1 / 2), ("one", 2 / 2), ("undefined", 1 / 1), ("drop", 1 / 1)],
)
def test_queries_without_relevant_documents(empty: str, expected: float) -> None:
    """A query with nothing to find is worth what the option says."""
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 0}}
    run = {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}}

    assert score(run, "nDCG@10", qrels, empty=empty) == expected
    with pytest.raises(BadOption, match="1 query without a relevant document"):
        score(run, "nDCG@10", qrels, empty="error")


def test_undefined_is_a_status_and_counted() -> None:
    """An undefined value is null with its status, never a NaN in a mean."""
    scores = rankstone.evaluate(
        {"q1": {"d1": 1}, "q2": {"d3": 0}},
        {"r": {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}}},
        "nDCG@10",
        empty="undefined",
    )

    assert scores.per_query["status"].to_list() == ["ok", "undefined"]
    assert scores.per_query["value"].to_list() == [1.0, None]
    assert scores.mean().row(0) == ("r", "nDCG@10", 1.0, 1, 1)


@pytest.mark.parametrize(
    ("negative", "expected"), [("unjudged", 1 / 1), ("zero", 1 / 2), ("keep", 1 / 2)]
)
def test_negative_grades(negative: str, expected: float) -> None:
    """A negative grade is unjudged, or judged and worth nothing, or itself."""
    qrels = {"q1": {"d1": 1, "d2": -1}}
    run = {"q1": {"d1": 2.0, "dx": 1.0}}
    judged = {"q1": {"d2": 2.0, "d1": 1.0}}

    assert score(run, "Judged@1", qrels, negative=negative) == 1.0
    assert (
        score(judged, "Judged@2", qrels, negative=negative)
        == {1 / 1: 1 / 2, 1 / 2: 1.0}[expected]
    )
    with pytest.raises(BadValue, match="below zero"):
        score(run, "RR", qrels, negative="error")


def test_float32_makes_near_scores_tie() -> None:
    """Scores that differ only as float64 tie under score_dtype=float32, and are counted either way."""
    run = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    scores = rankstone.evaluate({"q": {"b": 1}}, {"r": run}, "RR")

    assert scores.to_dict() == {"r": {"RR": 1 / 2}}
    assert scores.audit.runs["r"].tied_float32 == 1
    assert score(run, "RR", {"q": {"b": 1}}, score_dtype="float32") == 1.0


def test_ties_error_names_the_query() -> None:
    """Under ties=error tied scores are refused with query and documents."""
    with pytest.raises(TiedScores, match=r"(?s)2 documents tie at 1.*query q1: d1, d2"):
        score({"q1": {"d1": 1.0, "d2": 1.0}}, "RR", ties="error")


def test_excluded_pairs_leave_before_ranks_are_given() -> None:
    """Seen items are taken out of the lists first."""
    run = {"q1": {"seen": 3.0, "d1": 2.0}, "q2": {"d3": 1.0}}

    assert score(run, "RR") == (1 / 2 + 1) / 2
    assert score(run, "RR", exclude={"q1": ["seen"]}) == 1.0
    assert (
        score(run, "RR", exclude=pl.DataFrame({"query_id": ["q1"], "doc_id": ["seen"]}))
        == 1.0
    )


def test_chunks_roll_up_to_documents() -> None:
    """The best passage stands for its document; later ones leave the list."""
    run = {"q1": {"x#1": 4.0, "x#2": 3.0, "d1#7": 2.0}, "q2": {"d3#1": 1.0}}

    assert score(run, "RR", unit=r"^(.*)#\d+$") == (1 / 2 + 1) / 2
    assert score(run, "RR", unit="#") == (1 / 2 + 1) / 2
    with pytest.raises(BadOption, match="is not a unit"):
        score(run, "RR", unit="parent")


def test_depth_cuts_first() -> None:
    """Ranks below the depth are not retrieved at all."""
    run = {"q1": {"dx": 3.0, "d1": 2.0}, "q2": {"d3": 1.0}}

    assert score(run, "NumRet", depth=1) == 2
    assert score(run, "RR", depth=1) == (0 + 1) / 2


def test_candidates_cannot_be_fewer_than_retrieved() -> None:
    """A pool smaller than a list is a contradiction."""
    with pytest.raises(BadOption, match="candidates=1, but query q1 retrieves 2"):
        score({"q1": {"d1": 2.0, "d2": 1.0}}, "RR", candidates=1)


def test_options_are_checked_by_name_and_value() -> None:
    """Unknown options and values name the nearest known one."""
    with pytest.raises(UsageError, match="did you mean 'ties'"):
        AlignmentOptions.of({"tie": "input"})
    with pytest.raises(UsageError, match="did you mean 'docid_desc'"):
        AlignmentOptions(ties="docid-desc")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="whole number from 1 up"):
        AlignmentOptions(depth=0)
    with pytest.raises(UsageError, match="cuts through tied"):
        AlignmentOptions(depth=5, ties="expected")


def test_rank_order_and_input_order() -> None:
    """A rank column orders ascending; input order needs no number at all."""
    run = pl.DataFrame(
        {
            "query_id": ["q2"] * 2,
            "doc_id": ["d3", "x"],
            "rank": [2, 1],
            "score": [9.0, 1.0],
        }
    )

    assert score(run, "RR", order="rank", missing="drop") == 1 / 2
    assert score(run, "RR", order="score", missing="drop") == 1.0
    assert score(run.drop("score", "rank"), "RR", order="input", missing="drop") == 1.0


def test_ranks_are_never_narrowed() -> None:
    """score_dtype is about scores: ranks that float32 cannot tell apart stay apart."""
    run = pl.DataFrame(
        {"query_id": ["q2"] * 2, "doc_id": ["d3", "x"], "rank": [2**24 + 1, 2**24]}
    )

    assert (
        score(run, "RR", order="rank", score_dtype="float32", missing="drop") == 1 / 2
    )


def test_lists_of_documents_say_that_order_is_input() -> None:
    """A dict of lists has no scores; the convention line says by what it was ordered."""
    scores = rankstone.evaluate(QRELS, {"r": {"q1": ["d2", "d1"], "q2": ["d3"]}}, "RR")

    assert scores.conventions["alignment"]["order"] == "input"


def test_judgments_are_prepared_once() -> None:
    """Judgments prepared once give each run the numbers it gets alone."""
    ready = rankstone.Prepared(QRELS, ["nDCG@10", "AP"])
    first, second = (
        {"q1": {"d1": 1.0, "d2": 0.5}},
        {"q1": {"d2": 1.0}, "q2": {"d3": 1.0}},
    )
    both = ready.evaluate({"one": first, "two": second}).to_dict()

    assert both == {
        "one": ready.evaluate(first).to_dict()["run"],
        "two": ready.evaluate(second).to_dict()["run"],
    }


def test_judgments_are_prepared_again_for_options_that_change_them() -> None:
    """One option is enough; those that change no judgment share what was prepared."""
    qrels = {"q": {"a": 2, "b": -1, "c": 1}}
    ready = rankstone.Prepared(qrels, "DCG@3")
    run = {"q": ["a", "b", "c"]}
    ready.evaluate(run)
    for options in (
        {"negative": "keep"},
        {"duplicate_judgments": "max"},
        {"ties": "input"},
    ):
        again = ready.under(AlignmentOptions.of(options)).evaluate(run).to_dict()
        assert again == rankstone.evaluate(qrels, run, "DCG@3", **options).to_dict()


def test_labelled_tables() -> None:
    """A table with scores and labels needs no join; without document ids ties are averaged."""
    table = pl.DataFrame(
        {
            "query_id": ["a", "a", "b", "b"],
            "score": [2.0, 1.0, 1.0, 1.0],
            "label": [0, 1, 1, 0],
        }
    )
    scores = rankstone.evaluate(table=table, measures=["RR", "P@1"])

    assert scores.to_dict() == {
        "run": {"RR": (1 / 2 + (1 / 1 + 1 / 2) / 2) / 2, "P@1": (0 + 1 / 2) / 2}
    }
    assert scores.conventions["alignment"]["ties"] == "expected"
    with pytest.raises(BadOption, match="needs a doc_id column"):
        rankstone.evaluate(table=table, measures="RR", ties="docid_desc")


def test_labelled_rows_keep_the_order_of_the_table() -> None:
    """Per-query rows of a labelled table come in its order, whatever batches cut it."""
    names = [f"u{i}" for i in np.random.default_rng(3).permutation(300)]
    table = pl.DataFrame(
        {
            "query_id": np.repeat(names, 3),
            "score": np.tile([3.0, 2.0, 1.0], 300),
            "relevance": 1,
        }
    )

    assert (
        rankstone.evaluate(table=table, measures="RR").per_query["query_id"].to_list()
        == names
    )


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("missing", (0.5, 2, 0)),
        ("zero", (0.5, 2, 0)),
        ("undefined", (1.0, 1, 1)),
        ("drop", (1.0, 1, 0)),
    ],
)
def test_an_empty_list_is_an_answer(
    option: str, values: tuple[float, int, int]
) -> None:
    """A dict may hold a query and no document; what that is worth is an option of its own."""
    qrels = {1: {"a": 1}, 2: {"b": 1}, 3: {"c": 1}}
    run: dict[int, dict[str, float]] = {1: {"a": 2.0}, 2: {}, 9: {}}
    missing = "zero" if option == "missing" else "drop"
    scores = rankstone.evaluate(qrels, run, "RR", no_results=option, missing=missing)
    value, n, undefined = scores.mean().select("value", "n", "n_undefined").row(0)
    if option == "missing":
        assert (value, n, undefined) == (1 / 3, 3, 0)
    else:
        assert (value, n, undefined) == values


def test_an_empty_list_may_be_an_error() -> None:
    """The query is named."""
    with pytest.raises(NotComparable, match="an empty list for query q2"):
        rankstone.evaluate(
            {"q1": {"a": 1}, "q2": {"b": 1}},
            {"q1": ["a"], "q2": []},
            "RR",
            no_results="error",
        )


def test_a_pool_of_what_is_in_the_list() -> None:
    """R and the ideal list know nothing of judged documents that were not retrieved."""
    qrels, run = {"q": {"a": 1, "b": 3, "c": 1}}, {"q": ["x", "a", "c"]}
    value = rankstone.evaluate(qrels, run, "AP R@2 nDCG", pool="list").to_dict()["run"]
    discounts = 1 / math.log2(3), 1 / math.log2(4)
    assert value == {
        "AP": (1 / 2 + 2 / 3) / 2,
        "R@2": 1 / 2,
        "nDCG": pytest.approx(sum(discounts) / (1 + discounts[0]), rel=1e-15),
    }
    assert rankstone.evaluate({"q": {"b": 3}}, run, "AP", pool="list").to_dict() == {
        "run": {"AP": 0.0}
    }
    with pytest.raises(BadOption, match="pool=list hides those outside"):
        rankstone.evaluate({"q": {"a": {"s": 1}}}, run, "StRecall@2", pool="list")


def test_documents_scored_too_low_earn_nothing() -> None:
    """They keep their rank and earn nothing; R counts them all the same."""
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"x": 0.5, "a": 0.25, "b": -1.0}}
    value = rankstone.evaluate(qrels, run, "AP NumRelRet", score_above=0).to_dict()[
        "run"
    ]
    assert value == {"AP": 1 / 2 / 2, "NumRelRet": 1.0}
    assert rankstone.evaluate(
        qrels, run, "AP", score_above=0, pool="list"
    ).to_dict() == {"run": {"AP": 1 / 4}}
    with pytest.raises(BadOption, match="score_above=0 needs scores"):
        rankstone.evaluate(qrels, run, "AP", score_above=0, order="input")
    with pytest.raises(BadOption, match="score_above='low' is not a number"):
        rankstone.evaluate(qrels, run, "AP", score_above="low")


@pytest.mark.parametrize("scores", [(1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1)], ids=str)
def test_the_first_relevant_rank_among_tied_copies(scores: tuple[int, ...]) -> None:
    """The best and the worst RR of all orders of tied rows, each scored by itself; copies keep their ranks."""
    lists = {"".join(docs): docs for docs in product("abx", repeat=4)}
    places = range(len(scores))
    descending = [
        order
        for order in permutations(places)
        if [scores[place] for place in order] == list(scores)
    ]
    orders = {
        (name, order): [docs[place] for place in order]
        for name, docs in lists.items()
        for order in descending
    }

    def reciprocal_ranks(run: Any, names: Any, **options: Any) -> dict[Any, float]:
        judged = {str(name): {"a": 1, "b": 2} for name in names}
        scored = rankstone.evaluate(
            judged, {"r": run}, "RR", duplicates="first_keep_rank", **options
        )
        values = dict(scored.per_query.select("query_id", "value").rows())
        return {name: values[str(name)] for name in names}

    single = reciprocal_ranks(
        {str(name): docs for name, docs in orders.items()}, orders
    )
    tied = rows(
        *(
            (name, docs[place], scores[place])
            for name, docs in lists.items()
            for place in places
        )
    )
    for ties, extreme in (("best", max), ("worst", min)):
        assert reciprocal_ranks(tied, lists, ties=ties) == {
            name: extreme(single[name, order] for order in descending) for name in lists
        }


def test_copies_among_ties_by_hand() -> None:
    """Of the list a, a, x, b, all tied, the worst order begins with x, b; the best with a."""
    run = rows(("q", "a", 1.0), ("q", "a", 1.0), ("q", "x", 1.0), ("q", "b", 1.0))
    options = {"duplicates": "first_keep_rank"}
    assert score(run, "RR", {"q": {"a": 1}}, ties="worst", **options) == 1 / 3
    assert score(run, "RR", {"q": {"a": 1, "b": 1}}, ties="worst", **options) == 1 / 2
    assert score(run, "RR", {"q": {"a": 1}}, ties="best", **options) == 1.0


def test_the_recall_of_copies_counts_rows_of_any_relevant_grade() -> None:
    """Rows a, b, b, a, d are 5 of 3 relevant documents; c is judged 0; a single copy alone says nothing."""
    judged = {"q": {"a": 1, "b": 2, "c": 0, "d": 1}, "e": {"z": 1}}
    with pytest.raises(DuplicateRows) as raised:
        score({"q": ["a", "b", "b", "a", "c", "c", "d"], "e": ["z"]}, "R", judged)
    assert "counting each row, recall would be 1.67\n" in str(raised.value)
    with pytest.raises(DuplicateRows, match="recall would be 2\n"):
        score({"e": ["z", "z"]}, "R", judged)
    for quiet in (["c", "c", "a"], ["x", "x", "a", "b", "d"], ["a", "a", "b"]):
        with pytest.raises(DuplicateRows) as raised:
            score({"q": quiet}, "R", judged)
        assert "recall would be" not in str(raised.value)


def test_the_unjudged_share_is_the_mean_over_lists() -> None:
    """By hand: at 1 (0 + 1) / 2, at 2 (1/2 + 1) / 2, at 5 of what a list has; a share is in [0, 1]."""
    qrels = {"q": {"a": 1}, "p": {"a": 1}, "missing": {"z": 1}}
    run = {"q": ["a", "x"], "p": ["x", "y", "a"], "extra": ["x"]}
    for options in ({}, {"memory": "1GB"}):
        scored = rankstone.evaluate(qrels, {"r": run}, "RR@1 P@2 nDCG@5", **options)
        unjudged = scored.audit.runs["r"].unjudged
        assert unjudged == pytest.approx({1: 1 / 2, 2: 3 / 4, 5: (1 / 2 + 2 / 3) / 2})
        assert all(0 <= share <= 1 for share in unjudged.values())
    with_empty = rankstone.evaluate(qrels, {"r": {"q": [], "p": ["x"]}}, "P@2")
    assert with_empty.audit.runs["r"].unjudged == {2: 1.0}  # nothing is shown for q
