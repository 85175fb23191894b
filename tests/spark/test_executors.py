"""Executors that cannot do the work: what is wrong is stated in a sentence."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.test_spark import QRELS, RUN, there

import rankstone
import rankstone.spark
from rankstone.errors import MissingExtra, RankstoneError
from rankstone.spark.score_sums import MeasureSums, MergingTask
from rankstone.spark.spark_frames import session
from rankstone.spark.spark_scores import spark_errors

if TYPE_CHECKING:
    from pathlib import Path


def test_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one version packed another does not open."""
    packed = pickle.dumps(MergingTask(MeasureSums))
    assert pickle.loads(packed) == MergingTask(MeasureSums)  # noqa: S301 - packed a line above
    monkeypatch.setattr(rankstone, "__version__", "0.0.1")
    with pytest.raises(ImportError, match=r"executors have rankstone 0\.0\.1"):
        pickle.loads(packed)  # noqa: S301 - packed above


class Spoken(Exception):
    """What Spark says."""


Spoken.__module__ = "pyspark.errors"
STACK = "Traceback (most recent call last):\n  File 'worker.py', line 1\n    f()\n{}\n\n\tat org.apache.spark"


@pytest.mark.parametrize(
    ("message", "error", "what"),
    [
        (
            STACK.format("ModuleNotFoundError: No module named 'rankstone'"),
            MissingExtra,
            "no rankstone",
        ),
        (
            STACK.format("ModuleNotFoundError: No module named 'pyarrow'"),
            MissingExtra,
            "no pyarrow",
        ),
        (
            "PyArrow >= 18.0.0 must be installed; however, it was not found.",
            MissingExtra,
            "no pyarrow",
        ),
        (
            STACK.format("No module named 'rankstone.spark.new'"),
            MissingExtra,
            "another version of rankstone",
        ),
        (
            STACK.format("ImportError: executors have rankstone 0.1, and"),
            MissingExtra,
            "another version of rankstone",
        ),
        (
            STACK.format("Can't get attribute 'A' on <module 'rankstone.b'"),
            MissingExtra,
            "another version of rankstone",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker is 3.9",
            MissingExtra,
            "another version of Python",
        ),
        ("Python worker exited unexpectedly (crashed)", RankstoneError, "ended before"),
        (
            STACK.format("KeyError: 'mine'"),
            RankstoneError,
            "given:    KeyError: 'mine'",
        ),
    ],
)
def test_what_spark_says(message: str, error: type[RankstoneError], what: str) -> None:
    """Whatever stops a task is one of a few things, each with something to do about it."""
    with pytest.raises(error, match=what) as raised, spark_errors("run"):
        raise Spoken(message)
    assert raised.value.fix


@pytest.mark.spark
def test_executors_without_packages(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python that has nothing installed."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True
    )
    monkeypatch.setattr(
        spark.sparkContext, "pythonExec", str(tmp_path / "bare" / "bin" / "python")
    )
    with pytest.raises(MissingExtra, match="executors have no") as raised:
        rankstone.spark.evaluate(there(spark, QRELS), there(spark, RUN), "AP")
    assert "pip install" in str(raised.value)
    assert f"PYSPARK_PYTHON={sys.executable}" in str(raised.value)


@pytest.mark.spark
def test_the_python_of_a_session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one machine a session that we start or find runs this Python, unless another one is named."""
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "python3")
    session()
    assert spark.sparkContext.pythonExec == "python3"
    monkeypatch.delenv("PYSPARK_PYTHON")
    session()
    assert spark.sparkContext.pythonExec == sys.executable


@pytest.mark.spark
def test_a_function_of_the_users_own(spark: Any) -> None:
    """A mistake in the function that makes the run is reported as it is, without stacks."""

    def broken(_batches: Any) -> Any:
        raise KeyError("mine")
        yield

    run = there(spark, RUN).mapInArrow(
        broken, "query_id string, doc_id string, score double"
    )
    with pytest.raises(RankstoneError, match="failed on an executor") as raised:
        rankstone.spark.evaluate(there(spark, QRELS), run, "AP")
    assert "KeyError: 'mine'" in str(raised.value)
