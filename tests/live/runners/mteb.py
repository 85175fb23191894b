"""MTEB's own numbers; of the package only the metrics of retrieval are loaded."""

from __future__ import annotations

from typing import Any

LIBRARY = "mteb-2.26"
REQUIRES = [
    "--no-deps",
    "mteb==2.26.24",
    "pytrec-eval-terrier==0.5.11",
    "numpy",
    "packaging",
]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
MEASURES = [
    "ndcg_at_<k>",
    "map_at_<k>",
    "recall_at_<k>",
    "accuracy",
    "precision_at_<k>",
    "hit_rate_at_<k>",
    "mrr_at_<k>",
    "R_cap_at_<k>",
    "Hole_at_<k>",
]
_OWN = "[ignore_identical_ids=True]"
MEASURES += [measure + _OWN for measure in MEASURES]
#: half of the fifth decimal: a mean that ends there may be rounded either way
WITHIN = 1.01e-5


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw what BEIR is handed."""
    from tests.live.runners import beir

    return beir.cases(seed, count, traits)


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import warnings

    warnings.simplefilter("ignore")
    metrics = _loaded()
    k = case["k"]
    qrels = {
        q: {doc: _whole(grade) for doc, grade in judged.items()}
        for q, judged in case["qrels"].items()
    }
    everything = {
        q: {doc: float(score) for doc, score in listed}
        for q, listed in case["run"].items()
    }
    numbers: dict[str, Any] = {}
    for spelling in measures:
        measure, run = spelling.removesuffix(_OWN), everything
        if spelling != measure:  # as its evaluator does where a task says so
            run = {
                q: {doc: s for doc, s in rows.items() if doc != q}
                for q, rows in everything.items()
            }
        try:
            if measure.startswith(("R_cap", "Hole")):
                function = (
                    metrics.recall_cap if measure.startswith("R_cap") else metrics.hole
                )
                values = [
                    value
                    for value in function(qrels, run, [k])[measure]
                    if value is not None
                ]
                numbers[spelling] = sum(values) / len(values) if values else None
                continue
            inputs = metrics.calculate_retrieval_scores(run, qrels, sorted({1, k}))
            result = metrics.make_score_dict(
                ndcg=inputs.ndcg,
                _map=inputs.map,
                recall=inputs.recall,
                precision=inputs.precision,
                mrr=inputs.mrr,
                naucs={},
                naucs_mrr={},
                hit_rate=inputs.hit_rate,
                task_scores={},
            )
            numbers[spelling] = float(result[measure])
        except (KeyError, TypeError) as error:
            numbers[spelling] = {"error": type(error).__name__}
    return numbers


def _whole(grade: float) -> float:
    """Return a whole grade as a whole number, and a fraction as it is."""
    return int(grade) if grade == int(grade) else grade


def _loaded() -> Any:
    """Return the module of metrics, with stand-ins for what retrieval does not need."""
    import importlib.util
    import sys
    from pathlib import Path
    from types import ModuleType, SimpleNamespace

    if "mteb._evaluators.retrieval_metrics" in sys.modules:
        return sys.modules["mteb._evaluators.retrieval_metrics"]
    import numpy as np

    spec = importlib.util.find_spec("mteb")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    for name, folder in (("mteb", root), ("mteb._evaluators", root / "_evaluators")):
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    for name, content in (
        ("pandas", {}),  # for the change of ranks under instructions
        ("sklearn", {}),
        (
            "sklearn.metrics",
            {"auc": lambda x, y: float(np.trapezoid(y, x))},
        ),  # for abstention
        ("mteb.types", {"RetrievalEvaluationResult": SimpleNamespace}),
    ):
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(content)
    return importlib.import_module("mteb._evaluators.retrieval_metrics")


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Explain whose judgments Hole looks at."""
    if measure.startswith("Hole"):
        judged = {doc for its in case["qrels"].values() for doc in its}
        for query, rows in case["run"].items():
            if any(
                doc in judged and doc not in case["qrels"].get(query, ())
                for doc, _ in rows
            ):
                return "Hole takes a document for judged that another query judges"
    return None
