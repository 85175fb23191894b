"""MS MARCO's own reciprocal ranks, as ir_measures carries its script; divided as the script divides."""

from __future__ import annotations

from typing import Any

LIBRARY = "msmarco-2019"
REQUIRES = ["ir_measures==0.4.3", "pytrec-eval-terrier==0.5.11"]
TRAITS = {"grades": [0, 1]}
MEASURES = ["MRR@<k>"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}; the reference lists what is relevant."""
    import warnings

    import ir_measures

    warnings.simplefilter("ignore")
    reference = {
        query: {doc: 1 for doc, grade in judged.items() if grade > 0}
        for query, judged in case["qrels"].items()
        if max(judged.values(), default=0) > 0
    }
    run = {
        query: {doc: float(score) for doc, score in listed}
        for query, listed in case["run"].items()
    }
    requested = ir_measures.RR @ case["k"]
    rows = ir_measures.msmarco.evaluator([requested], reference).iter_calc(run)
    total = sum(row.value for row in rows)
    return dict.fromkeys(measures, total / len(reference) if reference else None)
