"""pytrec_eval's own numbers, averaged by its own function."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = "pytrec_eval-0.5"
REQUIRES = ["pytrec_eval-terrier==0.5.11", "numpy"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
MEASURES = [
    "map", "gm_map", "map_cut_<k>", "P_<k>", "recall_<k>", "relative_P_<k>", "success_<k>", "recip_rank",
    "Rprec", "Rprec_mult_0.60", "bpref", "gm_bpref", "infAP", "iprec_at_recall_0.30", "11pt_avg",
    "ndcg", "ndcg_cut_<k>", "ndcg_rel", "Rndcg", "binG", "G", "utility",
    "set_P", "set_recall", "set_relative_P", "set_map", "set_F",
    "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
    "map[relevance_level=2]", "map_cut_<k>[relevance_level=2]", "P_<k>[relevance_level=2]",
    "recall_<k>[relevance_level=3]", "relative_P_<k>[relevance_level=2]", "success_<k>[relevance_level=2]",
    "recip_rank[relevance_level=2]", "Rprec[relevance_level=2]", "bpref[relevance_level=2]",
    "map[judged_docs_only_flag=True]", "map_cut_<k>[judged_docs_only_flag=True]",
    "P_<k>[judged_docs_only_flag=True]", "recall_<k>[judged_docs_only_flag=True]",
    "relative_P_<k>[judged_docs_only_flag=True]", "success_<k>[judged_docs_only_flag=True]",
    "recip_rank[judged_docs_only_flag=True]", "Rprec[judged_docs_only_flag=True]",
    "bpref[judged_docs_only_flag=True]", "ndcg[judged_docs_only_flag=True]",
    "ndcg_cut_<k>[judged_docs_only_flag=True]", "ndcg_rel[judged_docs_only_flag=True]",
]  # fmt: skip


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw some cases with fractions.

    Where no grade reaches 0, trec_eval writes past the end of its list of levels, and may crash or hang.
    """
    from tests.live import worlds

    drawn = worlds.cases(seed, count, traits)
    for judged in (judged for case in drawn for judged in case["qrels"].values()):
        if judged and max(judged.values()) < 0:
            judged[next(iter(judged))] = 0.0
    for case in drawn[5::50]:
        for judged in case["qrels"].values():
            judged.update({doc: grade + 0.5 for doc, grade in judged.items()})
    return drawn


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of empty lists of queries that nothing is relevant to."""
    hollow = [
        query
        for query, listed in case["run"].items()
        if not listed and query in case["qrels"]
    ]
    if measure.startswith("iprec") and any(
        max(case["qrels"][q].values(), default=0) <= 0 for q in hollow
    ):
        return "an empty list of a query that nothing is relevant to: it divides 0 by 0"
    return None


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pytrec_eval

    qrels = {
        query: {
            doc: int(grade) if grade == int(grade) else grade
            for doc, grade in judged.items()
        }
        for query, judged in case["qrels"].items()
    }
    run = {
        query: {doc: float(score) for doc, score in listed}
        for query, listed in case["run"].items()
    }
    numbers: dict[str, Any] = {}
    by_settings: dict[str, list[str]] = {}
    for measure in measures:
        name, _, settings = measure.rstrip("]").partition("[")
        by_settings.setdefault(settings, []).append(name)
    for settings, names in by_settings.items():
        option, _, value = settings.partition("=")
        options = {option: int(value) if value.isdigit() else True} if option else {}
        closing = f"[{settings}]" if settings else ""
        try:
            requested = {re.sub(r"_(?=\d)", ".", name) for name in names}
            rows = (
                pytrec_eval.RelevanceEvaluator(qrels, requested, **options)
                .evaluate(run)
                .values()
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            numbers |= {
                name + closing: {"error": type(error).__name__} for name in names
            }
            continue
        for name in names:
            values = [row[name] for row in rows]
            numbers[name + closing] = pytrec_eval.compute_aggregated_measure(
                name, values
            )
    return numbers
