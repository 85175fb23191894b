"""BEIR's own numbers; of the package only the metrics are loaded, its retrieval models stay out."""

from __future__ import annotations

from typing import Any

LIBRARY = "beir-2.2"
REQUIRES = ["--no-deps", "beir==2.2.0", "pytrec-eval-terrier==0.5.11", "numpy", "tqdm"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
MEASURES = [
    "NDCG@<k>",
    "MAP@<k>",
    "Recall@<k>",
    "P@<k>",
    "MRR@<k>",
    "R_cap@<k>",
    "Accuracy@<k>",
    "Hole@<k>",
    *(
        f"{name}@<k>[ignore_identical_ids=False]"
        for name in ("NDCG", "MAP", "Recall", "P")
    ),
]
#: half of the fifth decimal: a mean that ends there may be rounded either way
WITHIN = 1.01e-5


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw half of the cases with documents that no two queries share.

    Where no grade reaches 0 trec_eval writes past the end of its list of levels, and may crash.
    """
    from tests.live import worlds

    drawn = worlds.cases(seed, count, traits)
    for index, case in enumerate(drawn):
        for query, judged in case["qrels"].items():
            if judged and max(judged.values()) < 0:
                judged[next(iter(judged))] = 0.0
            if index % 2:
                case["qrels"][query] = {
                    f"{query}-{doc}": grade for doc, grade in judged.items()
                }
        for query, listed in case["run"].items():
            if index % 2:
                case["run"][query] = [
                    [f"{query}-{doc}", score] for doc, score in listed
                ]
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import copy

    evaluation = _loaded()
    k, values = case["k"], {}
    qrels = {
        q: {doc: _whole(grade) for doc, grade in judged.items()}
        for q, judged in case["qrels"].items()
    }
    run = {
        q: {doc: float(score) for doc, score in listed}
        for q, listed in case["run"].items()
    }
    calls = {"MRR": "mrr", "R_cap": "r_cap", "Accuracy": "accuracy", "Hole": "hole"}
    for measure in measures:
        name, _, settings = measure.partition("[")
        custom = calls.get(measure.partition("@")[0])
        try:
            if custom:
                result = evaluation.evaluate_custom(
                    qrels, copy.deepcopy(run), [k], custom
                )
            else:
                four = evaluation.evaluate(
                    qrels, copy.deepcopy(run), [k], ignore_identical_ids=not settings
                )
                result = {
                    name: value for table in four for name, value in table.items()
                }
            values[measure] = float(result[name])
        except (KeyError, TypeError, ZeroDivisionError) as error:
            values[measure] = {"error": type(error).__name__}
    return values


def _whole(grade: float) -> float:
    """Return a whole grade as a whole number, and a fraction as it is."""
    return int(grade) if grade == int(grade) else grade


def _loaded() -> Any:
    """Return EvaluateRetrieval, with a stand-in for the base class of its search models."""
    import sys
    from types import ModuleType

    for name in ("beir.retrieval.search", "beir.retrieval.search.base"):
        if name not in sys.modules:
            sys.modules[name] = ModuleType(name)
            sys.modules[name].BaseSearch = object  # type: ignore[attr-defined]
    from beir.retrieval.evaluation import EvaluateRetrieval

    return EvaluateRetrieval


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Explain whom R_cap and Hole count."""
    qrels, run = case["qrels"], case["run"]
    if measure.startswith("R_cap"):
        hollow = [
            query
            for query, judged in qrels.items()
            if max(judged.values(), default=0) <= 0
        ]
        if hollow and not run.keys() & set(hollow) and run.keys() <= qrels.keys():
            return "R_cap stumbles over a query without a relevant document only when it is answered"
    if measure.startswith("Hole"):
        if run.keys() - qrels.keys():
            return "Hole adds up lists nobody judged"
        judged = {doc for its in qrels.values() for doc in its}
        if any(
            doc in judged and doc not in qrels[query]
            for query, rows in run.items()
            for doc, _ in rows
        ):
            return "Hole takes a document for judged that another query judges"
    return None
