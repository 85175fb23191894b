"""Judgments and runs larger than memory: ranges of queries, one after another, each along the same road.

Comes in: judgments and runs, and how much memory there is.  Goes out: means, and scores of queries in
Parquet files.  Nothing here scores: a range is a share of the queries like any other.
"""

from __future__ import annotations

from rankstone.out_of_core.budget import parse_size
from rankstone.out_of_core.conduct import evaluate_out_of_core
from rankstone.out_of_core.result import StoredScores

__all__ = ["StoredScores", "evaluate_out_of_core", "parse_size"]
