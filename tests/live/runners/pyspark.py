"""Spark's own numbers, over one local session (it needs Java).

RankingMetrics of MLlib and RankingEvaluator of pyspark.ml share their formulas; the first, which is slow, is
queried where k is 1 or 2, whenever grades are handed over, and where nothing is relevant: it then raises an
error, and the second says 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from math import log2
from typing import Any

LIBRARY = "pyspark-3.5"
REQUIRES = ["pyspark==3.5.*", "numpy"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3], "duplicates": True}
MEASURES = [
    "ndcgAt(<k>)",
    "ndcgAt(<k>)[relevance]",
    "ndcgAt(<k>)[scala, graded]",
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
    numbers: dict[str, float] = defaultdict(
        lambda: float(len(numbers))
    )  # the gateway carries arrays of doubles
    rows = []
    for q, listed in case["run"].items():
        rows.append(([numbers[d] for d, _ in listed], case["qrels"].get(q, {})))
    graded = [
        (shown, [numbers[d] for d in judged], list(judged.values()))
        for shown, judged in rows
    ]
    pairs = [
        (shown, [numbers[d] for d, grade in judged.items() if grade > 0])
        for shown, judged in rows
    ]
    by_evaluator = case["k"] > 2 and any(relevant for _, relevant in pairs)
    plain = [m for m in measures if "[" not in m]
    result = _of_evaluator(pairs, plain) if by_evaluator else _of_metrics(pairs, plain)
    result |= _of_metrics(graded, [m for m in measures if m.endswith("[relevance]")])
    return result | _of_scala(
        graded, [m for m in measures if m.endswith("[scala, graded]")]
    )


def _name_and_cutoff(measure: str) -> tuple[str, int | None]:
    name, k = re.fullmatch(r"(\w+)(?:\((\d+)\))?(?:\[[\w, ]+\])?", measure).groups()  # type: ignore[union-attr]
    return name, int(k) if k else None


def _of_metrics(rows: list[Any], measures: list[str]) -> dict[str, Any]:
    from pyspark.mllib.evaluation import RankingMetrics

    try:
        metrics = RankingMetrics(_session().sparkContext.parallelize(rows, 1))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {measure: {"error": type(error).__name__} for measure in measures}
    values = {}
    for measure in measures:
        name, k = _name_and_cutoff(measure)
        values[measure] = getattr(metrics, name)(k) if k else getattr(metrics, name)
    return values


def _of_scala(rows: list[Any], measures: list[str]) -> dict[str, Any]:
    """Call RankingMetrics as Scala does, which hands grades over, too."""
    context = _session().sparkContext
    jvm, java, gateway = context._jvm, context._jsc, context._gateway  # noqa: SLF001 - the road to Scala
    tuples = jvm.java.util.ArrayList()
    for each in rows:
        arrays = []
        for kind, values in zip(
            (jvm.java.lang.Double, jvm.java.lang.Double, jvm.double), each, strict=True
        ):
            array = gateway.new_array(kind, len(values))
            for index, value in enumerate(values):
                array[index] = value
            arrays.append(array)
        tuples.add(jvm.scala.Tuple3(*arrays))
    tag = jvm.scala.reflect.ClassTag.apply(
        jvm.java.lang.Class.forName("java.lang.Double")
    )
    metrics = jvm.org.apache.spark.mllib.evaluation.RankingMetrics(
        java.parallelize(tuples, 1).rdd(), tag
    )
    return {
        measure: metrics.ndcgAt(_name_and_cutoff(measure)[1]) for measure in measures
    }


def _of_evaluator(pairs: list[Any], measures: list[str]) -> dict[str, Any]:
    from pyspark.ml.evaluation import RankingEvaluator

    table = _session().createDataFrame(
        pairs, "prediction array<double>, label array<double>"
    )
    values = {}
    for measure in measures:
        name, k = _name_and_cutoff(measure)
        evaluator = RankingEvaluator(metricName=f"{name}K" if k else name, k=k or 10)
        values[measure] = evaluator.evaluate(table)
    return values


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of labels that gain less than nothing: their quotient there, no ideal and so 0 here."""
    if not measure.endswith("[scala, graded]"):
        return None
    for query in case["run"]:
        labels = list(case["qrels"].get(query, {}).values())[: case["k"]]
        if (
            sum((2**label - 1) / log2(rank + 2) for rank, label in enumerate(labels))
            < 0
        ):
            return "labels that gain less than 0 in all"
    return None
