"""Spark: evaluate and compare on a cluster, with the same digits as on one machine.

A task hands whole lists to ``evaluation`` and returns a row for each query and one trailer of exact sums.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "spark_comparison": ("SparkComparison", "compare"),
    "spark_evaluation": ("evaluate", "require"),
    "spark_frames": ("session",),
    "spark_scores": ("SparkScores",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
