"""Pairs and positions beside scikit-learn, pytrec_eval, ir_measures and SciPy on random data."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.oracle.worlds import close
from tests.parity.peers import Qrels, Run, disagreements, ours

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parity

CASES = 400


def peer(name: str) -> Any:
    """Return a library, or skip and say why."""
    return pytest.importorskip(name, reason=f"{name} is not installed: make parity")


def labelled(*, ties: bool, grades: int = 2, longest: int = 40) -> pl.DataFrame:
    """Make many lists with scores and labels; with ties some are nothing else."""
    draw = np.random.default_rng(29 + ties + grades)
    parts = []
    for query in range(CASES):
        n = int(draw.integers(2, longest))
        score = (
            draw.integers(0, draw.integers(1, 12), n) if ties else draw.permutation(n)
        )
        label = draw.permutation(n) if grades > longest else draw.integers(0, grades, n)
        parts.append(
            pl.DataFrame(
                {"query_id": [query] * n, "score": score.astype(float), "label": label}
            )
        )
    return pl.concat(parts)


def collection(*, ties: bool = True) -> tuple[Qrels, Run]:
    """Make judgments with pooled, unjudged and missing documents, and a run; no query is all negative."""
    draw = np.random.default_rng(2004)
    qrels: Qrels = {}
    run: Run = {}
    for index in range(2 * CASES):
        docs = [f"d{i}" for i in draw.permutation(30)]
        judged = docs[: draw.integers(1, 20)]
        qrels[f"q{index}"] = {
            doc: int(draw.choice([-2, -1, 0, 0, 0, 1, 1, 2, 3])) for doc in judged
        }
        qrels[f"q{index}"][judged[0]] = int(
            draw.integers(0, 3)
        )  # where all are negative pytrec_eval dies
        shown = draw.permutation(docs)[: draw.integers(1, 25)].tolist()
        score = (
            draw.integers(0, 6, len(shown)) if ties else draw.permutation(len(shown))
        )
        run[f"q{index}"] = dict(zip(shown, score.astype(float).tolist(), strict=True))
    return qrels, run


# -- scikit-learn ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "text", ["AUC(negatives=judged)", "AUC(negatives=candidates)", "RC(ties=drop)"]
)
def test_scikit_learn_auc(text: str, ties: bool) -> None:  # noqa: FBT001
    """roc_auc_score of every list; one class has no value in either."""
    metrics, rows = peer("sklearn.metrics"), labelled(ties=ties)
    per_query = rankstone.evaluate(table=rows, measures=text).per_query
    compared = 0
    for query, value in per_query.select("query_id", "value").iter_rows():
        part = rows.filter(pl.col("query_id") == int(query))
        if part["label"].n_unique() < 2:
            assert value is None
            continue
        compared += 1
        assert close(
            float(metrics.roc_auc_score(part["label"], part["score"])), value, 1e-12
        )
    assert compared >= 300


@pytest.mark.parametrize("ties", [False, True])
def test_scikit_learn_auc_of_all_rows(ties: bool) -> None:  # noqa: FBT001
    """roc_auc_score of all users' rows at once is our AUC of one group, on 300 samples of users."""
    metrics, rows = peer("sklearn.metrics"), labelled(ties=ties)
    for seed in range(300):
        part = rows.filter(
            pl.col("query_id").is_in(
                np.random.default_rng(seed).choice(CASES, 5).tolist()
            )
        )
        record = rankstone.evaluate(
            table=part, measures="AUC(negatives=candidates)", one_group=True
        ).to_dict()
        expected = float(metrics.roc_auc_score(part["label"], part["score"]))
        assert close(expected, record["run"]["AUC(negatives=candidates)"], 1e-12)


def test_scipy_mann_whitney() -> None:
    """AUC · R · N is the Mann–Whitney U of the relevant documents' scores."""
    stats, rows = peer("scipy.stats"), labelled(ties=True)
    per_query = rankstone.evaluate(
        table=rows, measures="AUC(negatives=judged)"
    ).per_query
    for query, numerator in (
        per_query.filter(status="ok").select("query_id", "numerator").iter_rows()
    ):
        part = rows.filter(pl.col("query_id") == int(query))
        good, bad = (part.filter(label=label)["score"].to_numpy() for label in (1, 0))
        assert float(stats.mannwhitneyu(good, bad).statistic) == numerator


# -- trec_eval -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval(level: int) -> None:
    """Bpref and infAP of every query, with ties and grades below zero, at two levels of relevance."""
    qrels, run = collection()
    evaluator = peer("pytrec_eval").RelevanceEvaluator(
        qrels, {"bpref", "infAP"}, relevance_level=level
    )
    rel = "" if level == 1 else "(rel=2)"
    expected = {
        query: {f"Bpref{rel}": row["bpref"], f"infAP{rel}": row["infAP"]}
        for query, row in evaluator.evaluate(run).items()
    }
    values = ours(qrels, run, [f"Bpref{rel}", f"infAP{rel}"])
    assert len(expected) == 2 * CASES
    assert not disagreements(expected, values)


def test_pytrec_eval_geometric_mean() -> None:
    """gm_bpref is the logarithm of max(Bpref, 1e-5) for every query there, its mean here."""
    qrels, run = collection()
    logs = peer("pytrec_eval").RelevanceEvaluator(qrels, {"gm_bpref"}).evaluate(run)
    mean = math.exp(math.fsum(row["gm_bpref"] for row in logs.values()) / len(logs))
    value = rankstone.evaluate(qrels, run, "gm_bpref").to_dict()["run"][
        "Bpref(agg=gmean)"
    ]
    assert close(mean, value, 1e-12)


def test_pytrec_eval_judged_documents_only() -> None:
    """trec_eval's -J leaves Bpref alone, and makes infAP look at judged documents only."""
    qrels, run = collection()
    peers = peer("pytrec_eval").RelevanceEvaluator(
        qrels, {"bpref", "infAP"}, judged_docs_only_flag=True
    )
    expected = {
        q: {"Bpref": row["bpref"], "infAP": row["infAP"]}
        for q, row in peers.evaluate(run).items()
    }
    assert not disagreements(
        expected, ours(qrels, run, ["Bpref", "infAP"], unjudged="condensed")
    )


# -- ir_measures -----------------------------------------------------------------------------------------
def by_ir_measures(qrels: Qrels, run: Run, text: str) -> dict[str, float]:
    """Return ``{query: value}``."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its parser uses names that Python is about to drop
        library = peer("ir_measures")
        result = library.iter_calc([library.parse_measure(text)], qrels, run)
        return {metric.query_id: metric.value for metric in result}


@pytest.mark.parametrize(
    ("text", "measure"), [("Bpref", "Bpref"), ("infAP", "infAP"), ("Bpref(rel=2)",) * 2]
)
def test_ir_measures(text: str, measure: str) -> None:
    """Its names are ours."""
    qrels, run = collection()
    expected = {
        query: {measure: value}
        for query, value in by_ir_measures(qrels, run, text).items()
    }
    assert not disagreements(expected, ours(qrels, run, [measure]))


@pytest.mark.parametrize("k", [None, 3, 10])
def test_ir_measures_accuracy(k: int | None) -> None:
    """Accuracy is AUC among the returned; unjudged documents are negatives, input order settles ties."""
    qrels, run = collection()
    cut = "" if k is None else f"@{k}"
    text = f"AUC(negatives=candidates, unreturned=exclude, tied=order){cut}"
    values = ours(qrels, run, [text], ties="input")
    ready = {
        query: docs for query, docs in run.items() if values[query][text] is not None
    }
    expected = {
        query: {text: v}
        for query, v in by_ir_measures(qrels, ready, f"Accuracy{cut}").items()
    }
    assert len(expected) == len(ready) >= 300
    assert not disagreements(expected, values)


def test_ir_measures_accuracy_has_no_value_for_some() -> None:
    """It leaves a query without a relevant document out, and divides by zero when all are relevant."""
    qrels = {"q": {"a": 1, "b": 1}, "r": {"a": 0}}
    assert by_ir_measures(qrels, {"r": {"a": 1.0}}, "Accuracy") == {}
    with pytest.raises(ZeroDivisionError):
        by_ir_measures(qrels, {"q": {"a": 1.0, "b": 0.5}}, "Accuracy")
    run: Run = {"q": {"a": 1.0, "b": 0.5}, "r": {"a": 1.0}}
    text = "AUC(negatives=candidates, unreturned=exclude, tied=order)"
    assert ours(qrels, run, [text]) == {"q": {text: None}, "r": {text: None}}


# -- SciPy -----------------------------------------------------------------------------------------------
WEIGHTED: list[tuple[str, Callable[[int], float], bool]] = [
    ("RC(weight=hyperbolic)", lambda r: 1 / (r + 1), True),
    ("RC(weight=log2)", lambda r: 1 / math.log2(r + 2), True),
    ("RC(weight=square)", lambda r: 1 / (r + 1) ** 2, True),
    ("RC(weight=geometric, p=0.9)", lambda r: 0.9**r, True),
    ("RC(weight=hyperbolic, combine=multiply)", lambda r: 1 / (r + 1), False),
    ("RC(weight=log2, combine=multiply)", lambda r: 1 / math.log2(r + 2), False),
]


def test_scipy_kendall() -> None:
    """RC = (1 + tau) / 2 where neither scores nor grades tie."""
    stats, rows = peer("scipy.stats"), labelled(ties=False, grades=100)
    per_query = rankstone.evaluate(table=rows, measures="RC").per_query
    for query, value in per_query.select("query_id", "value").iter_rows():
        part = rows.filter(pl.col("query_id") == int(query))
        tau = float(stats.kendalltau(part["score"], part["label"]).statistic)
        assert close((1 + tau) / 2, value, 1e-12)


@pytest.mark.parametrize(
    ("text", "weigher", "additive"), WEIGHTED, ids=[row[0] for row in WEIGHTED]
)
def test_scipy_weighted_tau(
    text: str,
    weigher: Callable[[int], float],
    additive: bool,  # noqa: FBT001
) -> None:
    """RC with weights of the ranking's places = (1 + weighted tau) / 2, ranked by the scores."""
    stats, rows = peer("scipy.stats"), labelled(ties=False, grades=100)
    per_query = rankstone.evaluate(table=rows, measures=text, ties="input").per_query
    for query, value in per_query.select("query_id", "value").iter_rows():
        part = rows.filter(pl.col("query_id") == int(query))
        score, label = part["score"].to_numpy(), part["label"].to_numpy()
        place = np.empty(len(score), np.intp)
        place[np.argsort(-score)] = np.arange(len(score))
        tau = stats.weightedtau(
            score, label, rank=place, weigher=weigher, additive=additive
        ).statistic
        assert close((1 + float(tau)) / 2, value, 1e-12)
