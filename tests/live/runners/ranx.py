"""ranx's own numbers: ``evaluate`` over Qrels and Run."""

from __future__ import annotations

from typing import Any

LIBRARY = "ranx-0.3"
REQUIRES = ["ranx==0.3.21"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
_CUT = [
    "precision",
    "recall",
    "f1",
    "hit_rate",
    "hits",
    "mrr",
    "map",
    "dcg",
    "dcg_burges",
    "ndcg",
    "ndcg_burges",
]
_NAMES = [
    *(
        name + cutoff + level
        for name in _CUT
        for cutoff in ("@<k>", "")
        for level in ("", "-l2")
    ),
    *(
        "hits-l3",
        "r-precision",
        "r-precision-l2",
        "bpref",
        "bpref-l2",
        "rbp.5",
        "rbp.8",
        "rbp.95",
    ),
]
_COMPARABLE = "[make_comparable=True]"
MEASURES = [name + comparable for name in _NAMES for comparable in ("", _COMPARABLE)]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    from ranx import Qrels, Run, evaluate

    judged = {
        query: {doc: int(grade) for doc, grade in grades.items()}
        for query, grades in case["qrels"].items()
    }
    listed = {
        query: {doc: float(score) for doc, score in rows}
        for query, rows in case["run"].items()
    }
    values: dict[str, Any] = {}
    qrels, comparable = Qrels(judged), Run(listed).make_comparable(Qrels(judged))
    for measure in measures:
        name = measure.removesuffix(_COMPARABLE)
        try:
            run = comparable if name != measure else Run(listed)
            values[measure] = float(evaluate(qrels, run, name))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": type(error).__name__}
    return values


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Explain bpref, which divides by the smaller number of relevant and other judgments.

    Where a query has no relevant document the loop over queries ends, and those after it stay at 0.
    """
    if not measure.startswith("bpref"):
        return None
    level, ended = 2 if "-l2" in measure else 1, False
    for query, judged in sorted(case["qrels"].items()):
        relevant = {doc for doc, grade in judged.items() if grade >= level}
        result = relevant & {doc for doc, _ in case["run"].get(query, ())}
        if result and ended:
            return "bpref leaves queries at 0 that come after one without a relevant document"
        if result and len(relevant) == len(judged):
            return "bpref divides by 0 where everything that is judged is relevant, and some of it found"
        ended = ended or not relevant
    return None
