"""ir_measures and scikit-learn on fresh random data."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import assume, given
from tests.parity.peers import Qrels, Run, collections, disagreements, ours

pytestmark = pytest.mark.parity

#: in the default providers' hands these follow trec_eval's order of ties
SAME_TEXT = [
    "AP",
    "AP@3",
    "AP(rel=2)",
    "P@1",
    "P@5",
    "P(rel=2)@3",
    "R@2",
    "R@10",
    "RR",
    "Rprec",
    "Success@1",
    "Success@5",
    "nDCG",
    "nDCG@3",
    "nDCG@10",
    "NumRet",
    "NumRelRet",
]
#: these do too when nothing ties
WITHOUT_TIES = ["RR@2", "RR(rel=2)@5", "Judged@3", "Judged@10"]


def by_ir_measures(
    qrels: Qrels, run: Run, texts: list[str]
) -> dict[str, dict[str, float]]:
    """Return ``{query: {text: value}}`` as ir_measures has it; our texts are its texts."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its parser uses names that Python is about to drop
        peer = pytest.importorskip(
            "ir_measures", reason="ir_measures is not installed: make parity"
        )
        spelt = {str(peer.parse_measure(text)): text for text in texts}
        measures = [peer.parse_measure(text) for text in texts]
        values: dict[str, dict[str, float]] = {}
        for metric in peer.iter_calc(measures, qrels, run):
            values.setdefault(metric.query_id, {})[spelt[str(metric.measure)]] = (
                metric.value
            )
    return values


@given(collection=collections())
def test_ir_measures(collection: tuple[Qrels, Run]) -> None:
    """The same text means the same number, missing queries 0 in both."""
    qrels, run = collection
    assert not disagreements(
        by_ir_measures(qrels, run, SAME_TEXT), ours(qrels, run, SAME_TEXT)
    )


@given(collection=collections(ties=False, negative=False))
def test_ir_measures_without_ties(collection: tuple[Qrels, Run]) -> None:
    """RR with a cutoff and Judged agree wherever no scores tie."""
    qrels, run = collection
    answered = {query: docs for query, docs in qrels.items() if query in run}
    expected = by_ir_measures(answered, run, WITHOUT_TIES)
    assert not disagreements(expected, ours(answered, run, WITHOUT_TIES))


@pytest.mark.parametrize("k", [None, 1, 3, 10])
@given(collection=collections(negative=False))
def test_scikit_learn(k: int | None, collection: tuple[Qrels, Run]) -> None:
    """ndcg_score takes the passed list for ideal and averages over ties; dcg_score likewise."""
    metrics = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed: make parity"
    )
    qrels, run = collection
    expected: dict[str, dict[str, float]] = {}
    cut = "" if k is None else f"@{k}"
    texts = [f"nDCG(ideal=list){cut}", f"DCG{cut}"]
    for query, docs in run.items():
        if query in qrels and len(docs) > 1:
            grades = [[qrels[query].get(doc, 0) for doc in docs]]
            scores = [list(docs.values())]
            expected[query] = {
                texts[0]: float(metrics.ndcg_score(grades, scores, k=k)),
                texts[1]: float(metrics.dcg_score(grades, scores, k=k)),
            }
    assume(expected)
    assert not disagreements(expected, ours(qrels, run, texts, ties="expected"))


@given(collection=collections(ties=False, negative=False))
def test_scikit_learn_average_precision(collection: tuple[Qrels, Run]) -> None:
    """average_precision_score is our AP of the passed list, when every relevant document is in it."""
    metrics = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed: make parity"
    )
    qrels, run = collection
    expected: dict[str, dict[str, float]] = {}
    passed: Qrels = {}
    for query, docs in run.items():
        passed[query] = {doc: int(qrels.get(query, {}).get(doc, 0) > 0) for doc in docs}
        if any(passed[query].values()):
            value = metrics.average_precision_score(
                list(passed[query].values()), list(docs.values())
            )
            expected[query] = {"AP": float(value)}
    assume(expected)
    assert not disagreements(expected, ours(passed, run, ["AP"]))
