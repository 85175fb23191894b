"""CatBoost's own numbers: its metrics of labels and scores it is given."""

from __future__ import annotations

from typing import Any

LIBRARY = "catboost-1.2"
REQUIRES = [
    "--no-deps",
    "catboost==1.2.10",
    "numpy",
    "pandas",
    "python-dateutil",
    "pytz",
    "six",
    "scipy",
]
#: weights of grades by how often they come
TRAITS = {"grades": [0, 0, 0, 1, 1, 2, 3, 0.25, 0.5, 0.75, -1], "duplicates": True}
#: it sees the labels of rows, and no other judgments
ROWS = True
MEASURES = [
    "NDCG:top=<k>",
    "NDCG",
    "NDCG:top=<k>;type=Exp",
    "NDCG:type=Exp",
    "NDCG:top=<k>;denominator=Position",
    "NDCG:denominator=Position",
    "NDCG:top=<k>;type=Exp;denominator=Position",
    "NDCG:type=Exp;denominator=Position",
    "DCG:top=<k>",
    "DCG:top=<k>;type=Exp",
    "DCG:top=<k>;denominator=Position",
    "DCG:top=<k>;type=Exp;denominator=Position",
    "DCG",
    "DCG:type=Exp",
    "MAP:top=<k>",
    "MAP",
    "MAP:top=<k>;border=1",
    "MAP:border=0",
    "MRR:top=<k>",
    "MRR",
    "MRR:border=0",
    "MRR:top=<k>;border=1",
    "PrecisionAt:top=<k>",
    "PrecisionAt:top=<k>;border=1",
    "PrecisionAt",
    "RecallAt:top=<k>",
    "RecallAt",
    "RecallAt:top=<k>;border=2",
    "ERR:top=<k>",
    "ERR",
    "PFound:top=<k>",
    "PFound",
    "QueryAUC:type=Ranking",
    "QueryAUC",
    "AverageGain:top=<k>",
    "QueryAverage:top=<k>",
]
BINARY = ["NDCG:top=<k>", "MAP:top=<k>", "QueryAUC", "ERR", "PFound"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    from catboost import CatBoostError
    from catboost.utils import eval_metric

    rows = [(q, d, s) for q, listed in case["run"].items() for d, s in listed]
    labels = [case["qrels"].get(q, {}).get(d, 0.0) for q, d, _ in rows]
    values: dict[str, Any] = {}
    for measure in measures:
        try:
            values[measure] = eval_metric(
                labels,
                [s for _, _, s in rows],
                measure,
                group_id=[q for q, _, _ in rows],
                thread_count=1,
            )[0]
        except CatBoostError as error:
            values[measure] = {"error": str(error)}
    return values
