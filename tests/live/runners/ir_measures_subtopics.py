"""ir_measures' own numbers for judgments by subtopic, which it hands to pyndeval; one measure at a time."""

from __future__ import annotations

from typing import Any

LIBRARY = "ir_measures-0.4"
REQUIRES = ["ir_measures==0.4.3", "pyndeval==0.0.8", "pytrec-eval-terrier==0.5.11"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = [
    "alpha_DCG@<k>", "alpha_nDCG@<k>", "ERR_IA@<k>", "nERR_IA@<k>", "P_IA@<k>", "StRecall@<k>", "AP_IA",
    "NRBP", "nNRBP", "alpha_nDCG(rel=2)@<k>", "alpha_DCG(alpha=0.9)@<k>", "α_nDCG(alpha=0.25,rel=2)@<k>",
    "alpha_DCG@1", "alpha_DCG(alpha=0.9)@1", "alpha_DCG(rel=2)@1", "ERR_IA@1", "ERR_IA(rel=2)@1",
    "alpha_DCG(rel=2)@<k>",
    "alpha_nDCG(alpha=0.25)@<k>", "ERR_IA(rel=2)@<k>", "nERR_IA(rel=2)@<k>", "NRBP(rel=2)",
    "NRBP(alpha=0.25)", "NRBP(alpha=0.25, beta=0.8)", "nNRBP(rel=2)", "nNRBP(alpha=0.9)",
    "nNRBP(beta=0.8)",
    "P_IA(rel=3)@<k>", "StRecall(rel=2)@<k>", "MAP_IA(rel=2)", "NRBP(beta=0.8)", "nNRBP(beta=0.8, alpha=0.9)",
]  # fmt: skip


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw judgments by subtopic, as for pyndeval."""
    from tests.live.runners import pyndeval

    return pyndeval.cases(seed, count, traits)


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import warnings

    import ir_measures

    warnings.simplefilter("ignore")
    qrels = [
        ir_measures.Qrel(query, doc, int(grade), subtopic)
        for query, judged in case["qrels"].items()
        for doc, served in judged.items()
        for subtopic, grade in served.items()
    ]
    run = [
        ir_measures.ScoredDoc(q, doc, score)
        for q, listed in case["run"].items()
        for doc, score in listed
    ]
    options = {measure: ir_measures.parse_measure(measure) for measure in measures}
    return {
        m: float(ir_measures.calc_aggregate([value], qrels, run)[value])
        for m, value in options.items()
    }
