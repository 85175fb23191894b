"""Spark: evaluate and compare on a cluster, with the same digits as on one machine.

A task hands whole lists to ``evaluation`` and returns a row for each query and one trailer of exact sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.spark.spark_comparison import SparkComparison, compare
    from rankstone.spark.spark_evaluation import evaluate, require
    from rankstone.spark.spark_frames import session
    from rankstone.spark.spark_scores import SparkScores
__all__ = ["SparkComparison", "SparkScores", "compare", "evaluate", "require", "session"]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "spark_comparison": ("SparkComparison", "compare"),
            "spark_evaluation": ("evaluate", "require"),
            "spark_frames": ("session",),
            "spark_scores": ("SparkScores",),
        },
    )
