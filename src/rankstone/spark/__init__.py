"""Spark: the same road on many machines, and the same digits.

Comes in: Spark DataFrames of judgments and runs.  Goes out: means, and a DataFrame of scores per query.
Nothing here scores: tasks take their queries along the road.  Needs the extra ``spark`` (pyspark, pyarrow);
importing this module imports neither.
"""

from __future__ import annotations

from rankstone.spark.comparing import compare
from rankstone.spark.comparison import SparkComparison
from rankstone.spark.conduct import evaluate, require
from rankstone.spark.result import SparkScores

__all__ = ["SparkComparison", "SparkScores", "compare", "evaluate", "require"]
