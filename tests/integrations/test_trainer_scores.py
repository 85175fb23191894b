"""What hooks share: one number a measure of labels and scores, by our rules or a library's."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import InputError, UsageError
from rankstone.errors import MissingExtra
from rankstone.integrations import arrays as functional
from rankstone.integrations.trainer_scores import Scoring

GRADED = {
    "lightgbm": "ndcg@3 auc average_precision map@3",
    "xgboost": "ndcg@3 ndcg@3- ndcg auc",
    "catboost": "NDCG:top=3 MAP:top=3;border=1 MRR PFound",
    "scikit-learn": "ndcg_score(k=3) dcg_score",
    "torchmetrics": "RetrievalNormalizedDCG(top_k=3)",
}


def drawn(seed: int = 1) -> tuple[Any, Any, Any]:
    """Draw scores that tie, labels, and lists of 2 to 6, of which some have nothing relevant."""
    draw = np.random.Generator(np.random.Philox(seed))
    sizes = draw.integers(2, 7, 20)
    labels = draw.choice([0.0, 0.0, 1.0, 2.0], sizes.sum())
    labels[: sizes[0]] = 0
    return draw.integers(0, 4, sizes.sum()) / 4, labels, sizes


@pytest.mark.parametrize("library", list(GRADED))
def test_conventions(library: str) -> None:
    """Arrays have the numbers that tables have under the same convention, means over one list among them."""
    scores, labels, sizes = drawn()
    table = {
        "query_id": np.repeat(np.arange(len(sizes)), sizes),
        "score": scores,
        "relevance": labels,
    }

    message = Scoring(GRADED[library], convention=library)(scores, labels, sizes=sizes)

    expected = rankstone.evaluate(
        table=pl.DataFrame(table), measures=GRADED[library], convention=library
    ).to_dict()["run"]
    assert message == pytest.approx(expected, abs=1e-12)
    assert list(message) == GRADED[library].split()


def test_our_rules() -> None:
    """Without a convention options mean what they mean to arrays, by ids or by sizes."""
    scores, labels, sizes = drawn()
    qid = np.repeat(np.arange(len(sizes)), sizes)
    scoring = Scoring("nDCG@3 AP", ties="worst", empty="drop")

    expected = functional.evaluate(
        scores, labels, "nDCG@3 AP", sizes=sizes, ties="worst", empty="drop"
    ).mean()

    assert (
        scoring(scores, labels, sizes=sizes)
        == scoring(scores, labels, qid=qid)
        == expected
    )


def test_labels_that_change_are_prepared_anew() -> None:
    """Prepared labels are those that were given, not those an array holds by now."""
    scores, labels, sizes = drawn()
    scoring = Scoring("AP")
    scoring(scores, labels, sizes=sizes)
    labels[:] = labels[::-1].copy()

    for seed in range(2, 14):  # more sets than are kept
        scoring(*drawn(seed)[:2], sizes=drawn(seed)[2])

    again = scoring(scores, labels, sizes=sizes)
    assert again == functional.evaluate(scores, labels, "AP", sizes=sizes).mean()
    other = np.append(sizes[1:], sizes[0])
    assert scoring(scores, labels, sizes=other) != again


def test_weights() -> None:
    """Means are weighted over the queries that count; weights that are all the same change nothing."""
    scores, labels = [0.9, 0.5, 0.4, 0.6, 0.1], [1, 0, 1, 0, 0]
    scoring = Scoring("RR", empty="drop")

    assert scoring(scores, labels, sizes=[2, 2, 1], weights=[3, 1, 5]) == {
        "RR": (3 * 1 + 1 * 1 / 2) / 4
    }
    plain = scoring(scores, labels, sizes=[2, 2, 1])
    assert scoring(scores, labels, sizes=[2, 2, 1], weights=[2, 2, 2]) == plain


@each(
    ("measures", "how", "options", "message"),
    [
        (
            "ndcg@3",
            {"convention": "lightgbm", "ties": "best"},
            {},
            "LightGBM decides ties",
        ),
        ("nonsense", {"convention": "lightgbm"}, {}, "no measure nonsense"),
        ("AP", {"convention": "no_queries"}, {}, "no_queries"),
        ("map", {"convention": "trec_eval-9"}, {}, "needs document ids"),
        (
            "ndcg@3",
            {"convention": "lightgbm"},
            {"labels": [0.5, 1.0]},
            "does not take label 0.5",
        ),
        (
            "NDCG",
            {"convention": "catboost"},
            {"labels": [np.nan, 1.0]},
            "does not take label nan",
        ),
        (
            "ndcg_score",
            {"convention": "sklearn"},
            {"sizes": [1, 1]},
            "(?s)query 0.*a list of one document",
        ),
        ("AP", {"k": 3}, {}, "k is a parameter of measures"),
        ("AP", {"empty": "undefined"}, {"labels": [0, 0]}, "AP has no value"),
        ("AP", {}, {"scores": [1.0, np.nan]}, "a score is NaN"),
        ("AP", {}, {"labels": ["a", "b"]}, "labels are not numbers"),
        ("AP", {}, {"sizes": [3]}, "sizes do not add up"),
        ("AP", {}, {"weights": [1.0, 2.0]}, "the number of weights is wrong"),
        ("AP", {}, {"weights": [-1.0]}, "cannot be used"),
        ("AP(agg=median)", {}, {"weights": [1.0]}, "cannot be weighted"),
        (
            "auc",
            {"convention": "lightgbm"},
            {"weights": [1.0]},
            "all rows are one list",
        ),
        ("alpha_nDCG", {}, {}, "needs a separate table of judgments"),
    ],
)
def test_mistakes(
    measures: str, how: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    """A question without an answer is refused when a hook is made, what does not fit when it is seen."""
    data: dict[str, Any] = {
        "scores": [0.5, 0.4],
        "labels": [0, 1],
        "sizes": [2],
    } | options
    with pytest.raises((InputError, UsageError), match=message):
        Scoring(measures, **how)(data.pop("scores"), data.pop("labels"), **data)


@pytest.mark.parametrize(
    ("package", "module", "ask"),
    [
        ("xgboost", "xgboost", lambda hook: hook.early_stopping(3, "RR")),
        ("sklearn", "sklearn", lambda hook: hook.scorer("RR")),
        ("sklearn", "sklearn", lambda hook: hook.GroupedRanker),
        ("ir_measures", "ir_measures", lambda hook: hook.measure("RR")),
        (
            "sentence_transformers",
            "sentence_transformers",
            lambda hook: hook.GradedEvaluator,
        ),
    ],
)
def test_a_library_that_is_missing(
    package: str, module: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook says what to install; its module imports without the library."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    hook = importlib.import_module(f"rankstone.integrations.{module}")
    for made in ("_kinds", "_grouped_ranker", "_graded_evaluator", "_watching"):
        getattr(getattr(hook, made, None), "cache_clear", lambda: None)()

    with pytest.raises(MissingExtra, match="is not installed"):
        ask(hook)
    assert not hasattr(hook, "nonsense")
