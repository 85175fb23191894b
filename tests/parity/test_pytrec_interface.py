"""pytrec_eval's interface beside pytrec_eval: every measure it supports, on random worlds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.oracle.worlds import close

from rankstone import trec_eval
from rankstone.errors import UsageError

pytestmark = pytest.mark.parity
pytrec_eval = pytest.importorskip(
    "pytrec_eval", reason="pytrec_eval is not installed: make parity"
)

DOCS = [f"d{index}" for index in range(40)] + ["é", "\uff5e", "\U0001d51e", "D3"]
#: a name that pytrec_eval fills with whatever stands in memory
MEASURES = set(pytrec_eval.supported_measures) - {"runid"}


def world(
    rng: np.random.Generator,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw judgments and a run: ties, near ties, negative grades, unjudged and missing queries."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {"nobody": {"d1": 1.0}}
    top = int(rng.choice([1, 2, 4, 12]))
    for index in range(int(rng.integers(1, 4))):
        judged, shown = (
            rng.permutation(DOCS)[: int(rng.integers(1, len(DOCS)))] for _ in range(2)
        )
        qrels[f"q{index}"] = {
            str(doc): int(rng.integers(-2, top + 1)) for doc in judged
        }
        qrels[f"q{index}"].setdefault("d1", 0)
        qrels[f"q{index}"]["d1"] = max(
            0, qrels[f"q{index}"]["d1"]
        )  # all below zero is a crash there
        if rng.random() < 0.9 or not index:
            scores = np.round(rng.normal(size=len(shown)), int(rng.integers(0, 9)))
            run[f"q{index}"] = {
                str(doc): float(score) for doc, score in zip(shown, scores, strict=True)
            }
    return qrels, run


def test_the_same_vocabulary() -> None:
    """Measures and nicknames are the same sets."""
    assert trec_eval.supported_measures == pytrec_eval.supported_measures
    assert trec_eval.supported_nicknames == pytrec_eval.supported_nicknames


def test_every_measure_on_random_worlds() -> None:
    """Same queries, same names, same order, same numbers: 400 worlds, any level, judged only or not."""
    rng = np.random.default_rng(7)
    numbers = 0
    for _ in range(400):
        qrels, run = world(rng)
        texts: dict[str, Any] = {
            "relevance_level": int(rng.integers(1, 4)),
            "judged_docs_only_flag": bool(rng.integers(0, 2)),
        }
        theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, **texts).evaluate(run)
        ours = trec_eval.RelevanceEvaluator(qrels, MEASURES, **texts).evaluate(run)
        assert [*theirs] == [*ours]
        for query, row in theirs.items():
            assert [*row] == [*ours[query]]
            wrong = [
                (name, value, ours[query][name])
                for name, value in row.items()
                if not _same(value, ours[query][name])
            ]
            assert not wrong, (texts, wrong)
            numbers += len(row)
    assert numbers > 50_000


def _same(theirs: float, ours: float) -> bool:
    """Tell whether two numbers agree; precision of an empty list is 0 here and no number there."""
    return ours == 0.0 if math.isnan(theirs) else close(theirs, ours, 1e-12)


@pytest.mark.parametrize(
    "measures",
    [
        {"P_5,10", "P.7"},
        {"P", "P_3"},
        {"official"},
        {"set"},
        {"ndcg_cut.3,1", "map", "recall_2"},
        {"iprec_at_recall_0.25", "Rprec_mult.0.3,1.2", "success_2"},
    ],
)
def test_names_with_parameters(measures: set[str]) -> None:
    """Parameters behind a dot or an underscore, put together measure by measure."""
    qrels, run = world(np.random.default_rng(3))
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    scores = trec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

    for query, row in expected.items():
        assert [*row] == [*scores[query]]
        for name in set(row) - {"runid"}:
            assert close(row[name], scores[query][name], 1e-12)


@pytest.mark.parametrize("run", [{}, {"z": {"a": 1.0}}, {"q": {}, "r": {"a": 1.0}}])
def test_nothing_to_score(run: dict[str, dict[str, float]]) -> None:
    """Empty runs, foreign queries and empty lists come back as they do there."""
    qrels: dict[str, dict[str, int]] = {"q": {"a": 1, "b": 0}, "r": {"a": 1}, "e": {}}
    measures = {"map", "num_rel", "set_P", "gm_map", "utility"}

    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

    assert expected == trec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)


def test_what_pytrec_eval_refuses() -> None:
    """NumPy's numbers and whole numbers as ids are numbers and ids here."""
    qrels: Any = {1: {7: np.int64(1), 8: np.int8(0)}}
    run: Any = {1: {8: np.float32(0.5), 7: np.float16(0.25)}}
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(qrels, {"map"})

    assert trec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {
        1: {"map": 1 / 2}
    }


def test_unknown_measures() -> None:
    """A ValueError in both."""
    for module in (pytrec_eval, trec_eval):
        with pytest.raises(ValueError, match="unsupported measure foo"):
            module.RelevanceEvaluator({"q": {"a": 1}}, {"foo"})
    with pytest.raises(UsageError):
        trec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"}, relevance_level=0)


def test_reading_and_averaging() -> None:
    """Lines become the same dicts, and values the same means, sums and geometric means."""
    lines = ["q1 Q0 d1 1 2.5 t", "q1 Q0 d2 2 -1e3 t", "q2 Q0 d1 1 0.5 t"]
    judged = ["q1 0 d1 1", "q1 0 d3 -1", "q2 0 d1 0"]

    assert trec_eval.parse_run(lines) == pytrec_eval.parse_run(lines)
    assert trec_eval.parse_qrel(judged) == pytrec_eval.parse_qrel(judged)
    for name in ("map", "num_ret", "gm_map"):
        expected = pytrec_eval.compute_aggregated_measure(name, [0.25, 0.5, 1.0])
        assert expected == trec_eval.compute_aggregated_measure(name, [0.25, 0.5, 1.0])
