"""Spark's own numbers, over one local session (it needs Java).

RankingMetrics of MLlib and RankingEvaluator of pyspark.ml share their formulas; the first, which is slow, is
asked where k is 1 or 2, and whenever grades are handed over.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

LIBRARY = "pyspark-3.5"
REQUIRES = ["pyspark==3.5.*", "numpy"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3], "duplicates": True}
MEASURES = [
    "ndcgAt(<k>)",
    "ndcgAt(<k>)[relevance]",
    "meanAveragePrecision",
    "meanAveragePrecisionAt(<k>)",
    "precisionAt(<k>)",
    "recallAt(<k>)",
]


@cache
def _session() -> Any:
    import os
    import sys

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    quick = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "localhost",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.log.level": "OFF",
    }
    return SparkSession.builder.master("local[1]").config(map=quick).getOrCreate()


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    rows = []
    for q, listed in case["run"].items():
        rows.append(([_number(d) for d, _ in listed], case["qrels"].get(q, {})))
    graded = [(shown, list(map(_number, judged)), list(judged.values())) for shown, judged in rows]
    pairs = [(shown, [_number(d) for d, grade in judged.items() if grade > 0]) for shown, judged in rows]
    by_evaluator = case["k"] > 2
    plain = [m for m in measures if "[" not in m]
    found = _of_evaluator(pairs, plain) if by_evaluator else _of_metrics(pairs, plain)
    return found | _of_metrics(graded, [m for m in measures if "[" in m])


def _number(doc: str) -> float:
    return float(doc.removeprefix("d"))


def _asked(measure: str) -> tuple[str, int | None]:
    name, k = re.fullmatch(r"(\w+)(?:\((\d+)\))?(?:\[\w+\])?", measure).groups()  # type: ignore[union-attr]
    return name, int(k) if k else None


def _of_metrics(rows: list[Any], measures: list[str]) -> dict[str, Any]:
    from pyspark.mllib.evaluation import RankingMetrics

    try:
        metrics = RankingMetrics(_session().sparkContext.parallelize(rows, 1))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {measure: {"error": type(error).__name__} for measure in measures}
    found = {}
    for measure in measures:
        name, k = _asked(measure)
        found[measure] = getattr(metrics, name)(k) if k else getattr(metrics, name)
    return found


def _of_evaluator(pairs: list[Any], measures: list[str]) -> dict[str, Any]:
    from pyspark.ml.evaluation import RankingEvaluator

    table = _session().createDataFrame(pairs, "prediction array<double>, label array<double>")
    found = {}
    for measure in measures:
        name, k = _asked(measure)
        evaluator = RankingEvaluator(metricName=f"{name}K" if k else name, k=k or 10)
        found[measure] = evaluator.evaluate(table)
    return found


def differs(case: dict[str, Any], measure: str) -> str | None:  # noqa: ARG001 - all measures are alike
    """Tell of cases without a relevant item, whose type RankingMetrics cannot tell."""
    judged = [case["qrels"].get(q, {}) for q in case["run"]]
    if not any(grade > 0 for docs in judged for grade in docs.values()):
        return "no type can be told from empty lists"
    return None
