"""Spark Connect: frames of a session far away, which can send nothing to executors but functions."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark

CODE = """
import polars as pl
from pyspark.sql import SparkSession

import rankstone, rankstone.spark
from rankstone.errors import DuplicateRows
from rankstone.testing.small_worlds import small_world

spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "3").getOrCreate()
world = small_world("nDCG", 30, seed=2, ties=True)
other = world.run.with_columns(-pl.col("score"))
qrels, run, turned = (spark.createDataFrame(f.to_arrow()) for f in (world.judgments, world.run, other))
assert "connect" in type(run).__module__
here = rankstone.evaluate(world.judgments, world.run, "nDCG@5 AP RR", extra="keep")
far = rankstone.spark.evaluate(qrels, run, "nDCG@5 AP RR", extra="keep")
assert far.to_dict() == here.to_dict()
assert far.collect().to_dict() == here.to_dict()
assert far.per_query.count() == here.per_query.height
far.unpersist()
found = rankstone.spark.compare(qrels, {"a": run, "b": turned}, "AP", resamples=100)
known = rankstone.compare(
    world.judgments, {"a": world.run, "b": other}, "AP", resamples=100, test="t", interval="poisson"
)
assert found.table.drop("es_hsd").equals(known.table.drop("es_hsd"))
try:
    rankstone.spark.evaluate(qrels, run.union(run), "AP")
except DuplicateRows as error:
    print("told:", error.what)
"""


def test_spark_connect() -> None:
    """A server on this machine: the same numbers, comparisons and sentences."""
    missing = [
        name
        for name in ("grpc", "grpc_status", "zstandard")
        if not importlib.util.find_spec(name)
    ]
    if missing:
        pytest.skip(
            f"{', '.join(missing)} not installed: pip install 'pyspark[connect]'"
        )
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java 17 or later")
    options = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, "-W", "ignore", "-c", CODE]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=options, timeout=600
    )
    assert "told: " in done.stdout, done.stderr[-3000:]
