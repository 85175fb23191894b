"""Spark: the same road on many machines, and the same digits.

Comes in: Spark DataFrames of judgments and runs.  Goes out: means, and a DataFrame of scores per query.
Nothing here scores: tasks take their queries along the road.  Needs the extra ``spark`` (pyspark, pyarrow);
importing this module imports neither, and what executors have no use for is imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstone.spark.comparing import compare
    from rankstone.spark.comparison import SparkComparison
    from rankstone.spark.conduct import evaluate, require
    from rankstone.spark.result import SparkScores

__all__ = ["SparkComparison", "SparkScores", "compare", "evaluate", "require"]

_HOME = {
    "SparkComparison": "comparison",
    "SparkScores": "result",
    "compare": "comparing",
    "evaluate": "conduct",
    "require": "conduct",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
