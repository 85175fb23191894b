# Written by `make pages`: where each public name is defined.

from rankstone.spark.spark_comparison import SparkComparison as SparkComparison
from rankstone.spark.spark_comparison import compare as compare
from rankstone.spark.spark_evaluation import evaluate as evaluate
from rankstone.spark.spark_evaluation import require as require
from rankstone.spark.spark_frames import session as session
from rankstone.spark.spark_scores import SparkScores as SparkScores

__all__ = [
    "SparkComparison",
    "SparkScores",
    "compare",
    "evaluate",
    "require",
    "session",
]
