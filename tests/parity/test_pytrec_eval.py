"""The same numbers as trec_eval 9, through pytrec_eval: on random data and on real collections."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parity.peers import (
    TREC_NAMES,
    Qrels,
    Run,
    collections,
    disagreements,
    ours,
    read_qrels,
    read_run,
)
from tests.real_data import data

pytestmark = pytest.mark.parity
pytrec_eval = pytest.importorskip(
    "pytrec_eval", reason="pytrec_eval is not installed: make parity"
)

PEER_MEASURES = {
    "map",
    "map_cut.2,5",
    "P.1,5,20",
    "recall.2,5",
    "ndcg",
    "ndcg_cut.2,10",
    "recip_rank",
    "Rprec",
    "success.1,5",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "set_P",
    "set_recall",
    "set_F",
}


def theirs(qrels: Qrels, run: Run, **options: Any) -> dict[str, dict[str, float]]:
    """Return ``{query: {our measure: their value}}``."""
    scores = pytrec_eval.RelevanceEvaluator(qrels, PEER_MEASURES, **options).evaluate(
        run
    )
    return {
        query: {
            TREC_NAMES[name]: value for name, value in row.items() if name in TREC_NAMES
        }
        for query, row in scores.items()
    }


MEASURES = list(TREC_NAMES.values())


@given(collection=collections())
def test_random_collections(collection: tuple[Qrels, Run]) -> None:
    """Ties, unjudged documents, negative grades, missing and unjudged queries: every value agrees."""
    qrels, run = collection
    expected = theirs(qrels, run)
    values = ours(qrels, run, MEASURES, score_dtype="float32", missing="drop")
    assert set(values) == set(expected)
    assert not disagreements(expected, values)


@given(collection=collections(), level=st.integers(2, 4))
def test_relevance_levels(collection: tuple[Qrels, Run], level: int) -> None:
    """trec_eval's -l is our rel=; nDCG knows no level in either."""
    qrels, run = collection
    expected = theirs(qrels, run, relevance_level=level)
    names = {
        "AP": f"AP(rel={level})",
        "RR": f"RR(rel={level})",
        "P@5": f"P(rel={level})@5",
        "R@2": f"R(rel={level})@2",
        "Rprec": f"Rprec(rel={level})",
        "nDCG@10": "nDCG@10",
        "Success@1": f"Success(rel={level})@1",
        "NumRelRet": f"NumRelRet(rel={level})",
    }
    wanted = {
        q: {names[m]: v for m, v in row.items() if m in names}
        for q, row in expected.items()
    }
    assert not disagreements(
        wanted, ours(qrels, run, list(names.values()), missing="drop")
    )


@given(collection=collections())
def test_judged_documents_only(collection: tuple[Qrels, Run]) -> None:
    """trec_eval's -J is our unjudged=condensed."""
    qrels, run = collection
    expected = theirs(qrels, run, judged_docs_only_flag=True)
    assert not disagreements(
        expected, ours(qrels, run, MEASURES, missing="drop", unjudged="condensed")
    )


@given(collection=collections())
def test_geometric_mean(collection: tuple[Qrels, Run]) -> None:
    """gm_map is the mean of log(max(AP, 1e-5)), which they return for each query."""
    qrels, run = collection
    logs = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(run)
    values = ours(qrels, run, ["AP"], missing="drop")
    expected = {query: {"AP": row["gm_map"]} for query, row in logs.items()}
    floored = {
        q: {"AP": math.log(max(row["AP"] or 0.0, 1e-5))} for q, row in values.items()
    }
    assert not disagreements(expected, floored)


@given(collection=collections(ties=False), data_=st.data())
def test_scores_that_only_double_precision_tells_apart(
    collection: tuple[Qrels, Run], data_: st.DataObject
) -> None:
    """Scores that differ behind the eighth digit tie for trec_eval 9, and with score_dtype=float32."""
    qrels, run = collection
    near = {
        query: {
            doc: 1.0 + data_.draw(st.sampled_from([0.0, 1e-9, 2e-9, 1.0]))
            for doc in docs
        }
        for query, docs in run.items()
    }
    values = ours(qrels, near, MEASURES, score_dtype="float32", missing="drop")
    assert not disagreements(theirs(qrels, near), values)


REAL = [
    ("trec_eval-fixtures", "qrels.test", "results.test"),
    ("trec_eval-fixtures", "qrels.rel_level", "results.test"),
    ("trec_eval-fixtures", "qrels.test", "results.trunc"),
    ("trec_eval-fixtures", "qrels-302.test", "results-302.test"),
    ("cacm", "qrels.cacm.txt", "run.bm25.txt"),
    ("trec-dl19-passage", "qrels.dl19-passage.txt", "run.BM25.txt.gz"),
    ("trec-dl19-passage", "qrels.dl19-passage.txt", "run.REP_LLAMA.txt.gz"),
    (
        "trec-dl19-passage",
        "qrels.dl19-passage.txt",
        "run.SPLADE_P_P_ENSEMBLE_DISTIL.txt.gz",
    ),
    ("trec-covid-r3", "qrels.covid-round3.txt", "runs/factum-sparse.gz"),
    ("trec-covid-r3", "qrels.covid-round3.txt", "runs/sim_run.gz"),
]


@pytest.mark.parametrize(("folder", "judgments", "run"), REAL)
def test_real_collections(folder: str, judgments: str, run: str) -> None:
    """Every value of every query of real collections agrees, read from the files."""
    qrels, ranked = data(folder, judgments), data(folder, run)
    expected = theirs(read_qrels(qrels), read_run(ranked))
    values = ours(qrels, ranked, MEASURES, score_dtype="float32", missing="drop")
    assert set(values) == set(expected)
    assert not disagreements(expected, values)
