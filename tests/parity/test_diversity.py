"""The same numbers as TREC's ndeval, through pyndeval, and as extreme classification's formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.oracle.worlds import close
from tests.parity.peers import disagreements, lines, ours
from tests.real_data import data

import rankstone

pytestmark = pytest.mark.parity

#: ndeval's names and ours
NAMES = {
    "alpha-nDCG@{k}": "alpha_nDCG({rel}alpha={alpha!r})@{k}",
    "alpha-DCG@{k}": "alpha_DCG({rel}alpha={alpha!r})@{k}",
    "ERR-IA@{k}": "ERR_IA({rel}alpha={alpha!r})@{k}",
    "nERR-IA@{k}": "nERR_IA({rel}alpha={alpha!r})@{k}",
    "P-IA@{k}": "P_IA({rel})@{k}",
    "strec@{k}": "StRecall({rel})@{k}",
    "NRBP": "NRBP({rel}alpha={alpha!r}, beta={beta})",
    "nNRBP": "nNRBP({rel}alpha={alpha!r}, beta={beta})",
    "MAP-IA": "AP_IA({rel})",
}
CASES = 400

Row = tuple[str, str, str, int]


def names(
    k: int, *, level: int = 1, alpha: float = 0.5, beta: float = 0.5
) -> dict[str, str]:
    """Return {ndeval's name: ours}."""
    values = {}
    for theirs, text in NAMES.items():
        changed = text.format(
            k=k, rel=f"rel={level}, ", alpha=alpha, beta=beta
        ).replace(", )", ")")
        values[theirs.format(k=k)] = str(rankstone.parse_measure(changed))
    return values


def peer(
    qrels: list[Row],
    run: list[tuple[str, str, float]],
    measures: list[str],
    **options: Any,
) -> Any:
    """Ask pyndeval, one evaluator at a time: its constants are global."""
    pyndeval = pytest.importorskip(
        "pyndeval", reason="pyndeval is not installed: make parity"
    )
    return pyndeval.RelevanceEvaluator(qrels, measures, **options).evaluate(run)


def nested(qrels: list[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Return {query: {document: {subtopic: grade}}}."""
    values: dict[str, dict[str, dict[str, int]]] = {}
    for query, subtopic, doc, grade in qrels:
        values.setdefault(query, {}).setdefault(doc, {})[subtopic] = grade
    return values


def drawn(seed: int) -> tuple[list[Row], list[tuple[str, str, float]]]:
    """Draw judgments by subtopic and a run: ties, unjudged documents, subtopics without a document."""
    rng = np.random.default_rng(seed)
    qrels: list[Row] = []
    run: list[tuple[str, str, float]] = []
    for query in ("q1", "q2", "q10")[: rng.integers(1, 4)]:
        docs = [f"d{index}" for index in range(30)]
        judged = rng.permutation(docs)[: rng.integers(1, 25)].tolist()
        pairs = [
            (doc, str(index))
            for doc in judged
            for index in range(1, int(rng.integers(2, 8)))
        ]
        qrels += [
            (query, position, doc, int(rng.integers(0, 4)))
            for doc, position in pairs
            if rng.random() < 0.5
        ]
        shown = rng.permutation(docs)[: rng.integers(1, 25)].tolist()
        scores = rng.integers(0, 8, len(shown)) if seed % 2 else rng.random(len(shown))
        run += [
            (query, doc, float(score)) for doc, score in zip(shown, scores, strict=True)
        ]
    return qrels, run


def test_random_collections() -> None:
    """Every value agrees to 1e-12 for all of ndeval's measures, whatever α, β, level and depth."""
    compared = 0
    for seed in range(CASES):
        qrels, run = drawn(seed)
        rng = np.random.default_rng(seed + 10**6)
        alpha, beta = (
            float(rng.choice([0.5, 0.25, 0.9, 1 / 3, 0.0, 1.0])),
            float(rng.choice([0.5, 0.8])),
        )
        level, k = int(rng.integers(1, 4)), int(rng.integers(2, 21))
        if not {query for query, *_ in qrels} & {query for query, *_ in run}:
            continue
        requested = names(k, level=level, alpha=alpha, beta=beta)
        theirs = peer(
            qrels, run, list(requested), relevance_level=level, alpha=alpha, beta=beta
        )
        lists: dict[str, dict[str, float]] = {}
        for query, doc, score in run:
            lists.setdefault(query, {})[doc] = score
        mine = ours(
            nested(qrels),
            lists,
            list(requested.values()),
            ties="docid_asc",
            missing="drop",
        )
        expected = {
            query: {
                requested[name]: value
                for name, value in row.items()
                if not math.isnan(value)
            }
            for query, row in theirs.items()
        }
        assert not disagreements(expected, mine)
        compared += sum(len(row) for row in expected.values())
    assert compared > 9 * CASES


def test_the_web_track() -> None:
    """TREC 2013's diversity task, read from its files: 50 topics, 44,814 judgments."""
    qrels = data("web-diversity", "qrels.diversity.wt13.txt.gz")
    run = data("web-diversity", "run.bm25.wt13.txt.gz")
    judged = [(q, s, d, int(g)) for q, s, d, g in lines(qrels)]
    shown = [(q, d, float(score)) for q, _, d, _, score, *_ in lines(run)]
    options = {theirs: text for k in (5, 10, 20) for theirs, text in names(k).items()}
    result = peer(judged, shown, list(options))
    mine = ours(qrels, run, list(options.values()), ties="docid_asc")
    expected = {
        query: {options[name]: value for name, value in row.items()}
        for query, row in result.items()
    }
    assert len(expected) == 50
    assert not disagreements(expected, mine)


# -- known differences ---------------------------------------------------------------------------------
QRELS: list[Row] = [
    ("q", "1", "a", 1),
    ("q", "2", "a", 1),
    ("q", "1", "b", 1),
    ("q", "3", "c", 0),
]


@pytest.mark.parametrize(
    ("theirs", "text"), [("alpha-DCG@1", "alpha_DCG@1"), ("ERR-IA@1", "ERR_IA@1")]
)
def test_ndeval_does_not_divide_at_rank_one(theirs: str, text: str) -> None:
    """Its loop of divisions begins at the second rank, so @1 is the number of subtopics served."""
    value = peer(QRELS, [("q", "a", 1.0)], [theirs])["q"][theirs]
    mine = ours(nested(QRELS), {"q": {"a": 1.0}}, [text])["q"][text]
    assert value == 2.0
    assert mine == 2 / 2


def test_ndeval_divides_zero_by_zero() -> None:
    """Where no subtopic has a relevant document nNRBP is NaN there, and 0 here, counted."""
    nothing: list[Row] = [("q", "1", "a", 0), ("q", "2", "b", 0)]
    assert math.isnan(peer(nothing, [("q", "a", 1.0)], ["nNRBP"])["q"]["nNRBP"])
    scored = rankstone.evaluate(nested(nothing), {"q": {"a": 1.0}}, "nNRBP").per_query
    assert scored["value"].to_list() == [0.0]
    assert scored["status"].to_list() == ["no_relevant"]


def test_pyndeval_breaks_ties_the_other_way() -> None:
    """Equal scores go to the smaller document id there, as in ir_measures, not to the larger as in TREC."""
    tied = {"q": {"a": 1.0, "x": 1.0}}
    value = peer(QRELS, [("q", "a", 1.0), ("q", "x", 1.0)], ["nERR-IA@2"])["q"][
        "nERR-IA@2"
    ]
    text = "nERR_IA@2"
    assert not close(value, ours(nested(QRELS), tied, [text])["q"][text], 1e-12)
    assert close(
        value, ours(nested(QRELS), tied, [text], ties="docid_asc")["q"][text], 1e-12
    )


def test_ir_measures_loses_the_second_alpha() -> None:
    """Two values of α in one call: its second one comes out 0, as the run has been read to its end."""
    ir_measures = pytest.importorskip(
        "ir_measures", reason="ir_measures is not installed: make parity"
    )
    pytest.importorskip("pyndeval", reason="pyndeval is not installed: make parity")
    qrels = [ir_measures.Qrel(q, d, g, s) for q, s, d, g in QRELS]
    run = [ir_measures.ScoredDoc("q", "b", 1.0)]
    texts = ["alpha_nDCG@5", "alpha_nDCG(alpha=0.9)@5"]
    result = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(text) for text in texts], qrels, run
    )
    theirs = {str(measure): value for measure, value in result.items()}
    mine = ours(nested(QRELS), {"q": {"b": 1.0}}, texts)["q"]
    assert min(theirs.values()) == 0.0
    assert all((value or 0.0) > 0 for value in mine.values())
    alone = [
        ir_measures.calc_aggregate([ir_measures.parse_measure(t)], qrels, run)
        for t in texts
    ]
    assert all(
        close(next(iter(item.values())), mine[t], 1e-12)
        for item, t in zip(alone, texts, strict=True)
    )


# -- extreme classification ----------------------------------------------------------------------------
def test_the_formulas_of_the_xml_repository() -> None:
    """PSP and PSnDCG as pyxclib computes them (it is on no package index): dense matrices, ratio of means."""
    worst = 0.0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n, labels, k = int(rng.integers(2, 8)), int(rng.integers(6, 15)), 5
        truth = (rng.random((n, labels)) < 0.3).astype(float)
        if not truth.any():
            continue
        frequency = (rng.random((50, labels)) < rng.random(labels) * 0.5).sum(0)
        weight = 1.0 + (math.log(50) - 1) * 2.5**0.55 * np.power(frequency + 1.5, -0.55)
        score = rng.permutation(n * labels).reshape(n, labels).astype(float)
        result = np.take_along_axis(
            truth * weight, np.argsort(-score, axis=1)[:, :k], 1
        )
        best = -np.sort(-(truth * weight), axis=1)[:, :k]
        cost = 1 / np.log2(np.arange(k) + 2)
        plain = np.concatenate(([1.0], np.cumsum(1 / np.log2(np.arange(labels) + 2))))
        query, doc = np.divmod(np.arange(n * labels), labels)
        chance = rankstone.measures.label_propensity(frequency, 50)
        judged = {
            "query_id": query,
            "doc_id": doc,
            "relevance": truth.ravel(),
            "propensity": chance[doc],
        }
        shown = pl.DataFrame({"query_id": query, "doc_id": doc, "score": score.ravel()})
        for depth in range(1, k + 1):
            norm = plain[np.minimum(truth.sum(1).astype(int), depth)]
            psp = result[:, :depth].sum() / best[:, :depth].sum()
            psn = ((result * cost)[:, :depth].sum(1) / norm).mean() / (
                (best * cost)[:, :depth].sum(1) / norm
            ).mean()
            texts = [f"PSP@{depth}", f"PSnDCG@{depth}"]
            mine = rankstone.evaluate(pl.DataFrame(judged), shown, texts).to_dict()[
                "run"
            ]
            worst = max(
                worst,
                abs((mine[texts[0]] or 0) - psp),
                abs((mine[texts[1]] or 0) - psn),
            )
    assert worst < 1e-12
