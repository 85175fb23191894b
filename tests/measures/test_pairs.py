"""AUC and its relatives: which documents take part, what must be stated, and users as one group."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.oracle.worlds import close, values

import rankstone

QRELS = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
#: two users; the second one's scores are lower
USERS = pl.DataFrame(
    {
        "query_id": ["u"] * 4 + ["v"] * 4,
        "score": [9.0, 8.0, 7.0, 6.0, 2.0, 1.5, 1.0, 0.5],
        "label": [1, 0, 1, 0, 0, 1, 0, 0],
    }
)


def only_value(text: str, run: Any, qrels: Any = None, **options: Any) -> float | None:
    """Return the only number."""
    scored = rankstone.evaluate(QRELS if qrels is None else qrels, run, text, **options)
    value: float | None = next(iter(scored.to_dict()["run"].values()))
    return value


@pytest.mark.parametrize("name", ["AUC", "GAUC", "pAUC", "Fallout", "ROC_AUC"])
def test_negatives_must_be_stated(name: str) -> None:
    """There is no default for what a negative is."""
    with pytest.raises(
        rankstone.UsageError, match="negatives=judged, negatives=candidates or"
    ):
        rankstone.parse_measure(name)


@pytest.mark.parametrize(
    "text",
    [
        "AUC(negatives=catalogue)",
        "Fallout(negatives=catalogue)@3",
        "LastRel(unreturned=bottom_tied)",
        "AvgRelPosition(unreturned=bottom_tied)",
        "WSS(documents=catalogue)",
    ],
)
def test_a_catalogue_needs_its_size_before_any_work(text: str) -> None:
    """Without candidates it is refused before a file is opened; with too few when a list shows it."""
    with pytest.raises(rankstone.UsageError, match="could have retrieved") as caught:
        rankstone.evaluate("no such file", "no such run", text)
    assert "name their number: candidates=N" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["AUC(negatives=catalogue)", "LastRel(unreturned=bottom_tied)"]
)
def test_a_catalogue_holds_what_is_known(text: str) -> None:
    """A catalogue smaller than the list and the relevant documents beside it cannot be."""
    qrels = {"q": {"a": 1, "x": 1, "y": 1, "z": 1}}
    with pytest.raises(rankstone.UsageError, match="candidates=5: a query has"):
        only_value(text, {"q": ["a", "b", "c"]}, qrels, candidates=5)


def test_the_query_with_too_many_documents_is_named() -> None:
    """Two queries, the second of which has more documents than the catalogue."""
    runs = {"p": ["a"], "q": ["a", "b", "c"]}
    judged = {"p": {"a": 1}, "q": {"a": 1, "x": 1}}
    with pytest.raises(rankstone.UsageError, match="2 relevant documents and 2 others"):
        rankstone.evaluate(judged, runs, "AUC(negatives=catalogue)", candidates=3)


def test_judged_documents_that_are_not_relevant_are_not_missed() -> None:
    """One relevant document of two at rank 1, the other somewhere in 3 … 10 of ten: (1 + 6.5) / 2."""
    text = "AvgRelPosition(unreturned=bottom_tied)"
    for others in ({}, {"n": 0, "m": 0}):
        judged = {"q": {"a": 1, "b": 1, **others}}
        scores = rankstone.evaluate(judged, {"q": ["a", "x"]}, text, candidates=10)
        assert scores.to_dict()["run"][text] == 3.75


def test_ranks_must_count_documents() -> None:
    """condensed_keep_rank leaves gaps, so candidates cannot be counted by rank; judged ones can."""
    with pytest.raises(rankstone.UsageError, match="leaves gaps"):
        only_value(
            "AUC(negatives=candidates)",
            {"q": ["a", "b"]},
            unjudged="condensed_keep_rank",
        )
    run = {"q": ["x", "a", "b", "c", "d"]}
    assert (
        only_value("AUC(negatives=judged)", run, unjudged="condensed_keep_rank")
        == 3 / 4
    )


def test_a_missing_query_scores_nothing() -> None:
    """A query the run does not answer scores 0 under missing=zero, not the ½ of documents that tie."""
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 0}}
    for text in (
        "AUC(negatives=judged)",
        "AUC(negatives=candidates)",
        "pAUC(negatives=judged)@1",
        "RC",
    ):
        scored = rankstone.evaluate(qrels, {"q": ["a", "b"]}, text)
        assert values(scored, text) == {"q": 1.0, "r": 0.0}
        assert scored.per_query["status"].to_list() == ["ok", "missing"]


def test_one_class_has_no_value() -> None:
    """Without a relevant document or a negative there is no value, and it is counted."""
    qrels = {"q": {"a": 1, "b": 0}, "only good": {"a": 1}, "only bad": {"a": 0}}
    run = {query: ["a", "b"] if query == "q" else ["a"] for query in qrels}
    mean = rankstone.evaluate(qrels, run, "GAUC(negatives=judged)").mean()
    assert mean.select("value", "n", "n_undefined").row(0) == (1.0, 1, 2)


def test_group_auc_weighs_users() -> None:
    """Impressions, positives, clicks or nothing: 3/4 and 2/3, weighted."""
    both = pl.concat(
        [
            USERS,
            pl.DataFrame({"query_id": ["v"] * 2, "score": [0.4, 0.3], "label": [0, 0]}),
        ]
    )
    both = both.with_columns(
        pl.when(query_id="v", label=1).then(3).otherwise("label").alias("label")
    )
    auc = {"u": 3 / 4, "v": 4 / 5}
    expected = {
        "impressions": (4 * auc["u"] + 6 * auc["v"]) / (4 + 6),
        "positives": (2 * auc["u"] + 1 * auc["v"]) / (2 + 1),
        "clicks": (2 * auc["u"] + 3 * auc["v"]) / (2 + 3),
        "uniform": (auc["u"] + auc["v"]) / 2,
    }
    for weight, value in expected.items():
        text = str(rankstone.measures.GAUC(negatives="candidates", weight=weight))
        scores = rankstone.evaluate(table=both, measures=text)
        assert close(value, scores.to_dict()["run"][text], 1e-12)
        assert values(scores, text) == auc


def test_users_as_one_group() -> None:
    """Pooled, scores are compared across users: adding to one user's scores changes that, and not GAUC."""
    texts = ["AUC(negatives=judged)", "GAUC(negatives=judged)"]
    pooled = rankstone.evaluate(table=USERS, measures=texts[0], one_group=True)
    assert close((5 + 4 + 2) / (3 * 5), pooled.to_dict()["run"][texts[0]], 1e-12)
    assert pooled.conventions["alignment"]["one_group"] is True
    moved = USERS.with_columns(
        pl.col("score") + pl.when(query_id="v").then(100).otherwise(0)
    )
    again = rankstone.evaluate(table=moved, measures=texts[0], one_group=True)
    assert close((2 + 1 + 4) / (3 * 5), again.to_dict()["run"][texts[0]], 1e-12)
    apart = [
        rankstone.evaluate(table=frame, measures=texts).to_dict()
        for frame in (USERS, moved)
    ]
    assert apart[0] == apart[1]
    alone = rankstone.evaluate(
        table=USERS.filter(query_id="u"), measures=texts
    ).to_dict()["run"]
    assert alone[texts[0]] == alone[texts[1]] == 3 / 4


def test_one_group_needs_no_ids() -> None:
    """Rows of scores and labels are enough, and ids that stand twice do no harm."""
    bare = USERS.select("score", "label")
    named = USERS.with_columns(doc_id=pl.lit("the same"))
    scores = [
        rankstone.evaluate(table=t, measures="AUC(negatives=judged)", one_group=True)
        for t in (bare, named)
    ]
    assert scores[0].to_dict() == scores[1].to_dict()


def test_a_tied_pair() -> None:
    """It counts one half whatever `ties` says, or with tied=order as its order does."""
    run, texts = (
        {"q": {"a": 1.0, "b": 1.0}},
        ("AUC(negatives=judged)", "AUC(negatives=judged, tied=order)"),
    )
    for rule, half, ordered in (
        ("docid_asc", 0.5, 1.0),
        ("docid_desc", 0.5, 0.0),
        ("expected", 0.5, 0.5),
    ):
        listed = [
            only_value(text, run, {"q": {"a": 1, "b": 0}}, ties=rule) for text in texts
        ]
        assert listed == [half, ordered]
    assert only_value(texts[1], run, {"q": {"a": 1, "b": 0}}, ties="worst") == 0.0
    with pytest.raises(
        rankstone.UsageError, match="no order of tied documents is proven extremal"
    ):
        only_value(texts[0], run, {"q": {"a": 1, "b": 0}}, ties="worst")


def test_depth_takes_documents_away() -> None:
    """With depth the documents of the extremes are not the same, so best and worst are refused."""
    text = "AUC(negatives=candidates, tied=order)"
    with pytest.raises(rankstone.UsageError, match="with depth=2"):
        only_value(text, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, ties="best", depth=2)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("auc(negatives=judged)", "AUC(negatives=judged)"),
        ("bpref", "Bpref"),
        ("gm_bpref", "Bpref(agg=gmean)"),
        ("infap", "infAP"),
        ("PartialAUC(negatives=judged)@5", "pAUC(negatives=judged)@5"),
        ("wss_95", "WSS"),
        ("wss_100", "WSS(recall=1)"),
        ("last_rel", "LastRel"),
    ],
)
def test_spellings(text: str, canonical: str) -> None:
    """Other tools' names are read as what they are here."""
    assert str(rankstone.parse_measure(text)) == canonical


def test_inferred_ap_of_a_whole_pool_is_ap() -> None:
    """Where every retrieved document is judged, nothing is inferred but for ε."""
    draw = np.random.default_rng(2006)
    for _ in range(50):
        grades = draw.integers(0, 2, draw.integers(2, 30)).tolist()
        qrels = {"q": {f"d{index}": grade for index, grade in enumerate([*grades, 1])}}
        run = {"q": [f"d{index}" for index in range(len(grades))]}
        inferred, textbook = (
            only_value("infAP", run, qrels),
            only_value("AP", run, qrels),
        )
        assert inferred is not None
        assert textbook is not None
        assert abs(inferred - textbook) < 1e-4


def test_pooled_documents_of_an_imputed_grade_are_judged_once() -> None:
    """A pooled document that receives a grade is no longer pooled and unjudged."""
    qrels, run = {"q": {"a": -1, "b": 1}}, {"q": ["a", "b"]}
    assert only_value("infAP", run, qrels, unjudged=0) == only_value(
        "infAP", run, {"q": {"a": 0, "b": 1}}
    )


def test_signed_weights_are_no_weights() -> None:
    """A mean rank weighted by grades below zero is refused."""
    with pytest.raises(rankstone.UsageError, match="some of them negative"):
        only_value("AvgRelPosition", {"q": ["a"]}, negative="keep")


@pytest.mark.parametrize("text", ["accuracy", "Accuracy@10", "ACCURACY"])
def test_accuracy_is_no_measure_of_one_kind(text: str) -> None:
    """A word that libraries use for different measures is refused with what it may mean."""
    with pytest.raises(
        rankstone.UsageError, match="means different measures"
    ) as refused:
        rankstone.parse_measure(text)
    for meant in ("Success@k", "R@1", "AUC(negatives=candidates", "--convention beir"):
        assert meant in str(refused.value)


def test_accuracy_of_libraries() -> None:
    """Under a library's convention the word is what the library computes: success, recall, pairs in order."""
    qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    expected = {
        "beir": ("Accuracy@2", 1.0),
        "mteb": ("accuracy", 1 / 2),
        "ir_measures": ("Accuracy", 1 / 2),
    }

    for convention, (text, value) in expected.items():
        scores = rankstone.evaluate(qrels, run, text, convention=convention)
        assert list(scores.to_dict()["run"].values()) == [value]
