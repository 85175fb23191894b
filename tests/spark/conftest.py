"""A real Spark, started once."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _started(master: str) -> Any:
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install 'rankstone[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java 17 or later")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    warnings.filterwarnings(
        "ignore", message="PySpark does not yet fully support pandas"
    )
    from pyspark.sql import SparkSession

    texts = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    building = SparkSession.builder.master(master)
    for name, value in texts.items():
        building = building.config(name, value)
    session = building.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> None:
    """Start every Java for a short life, which does not earn back what optimizing compilers cost."""
    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[[str], Any]]:
    """Start Spark with a master; it ends with the module."""
    sessions = []

    def start(master: str) -> Any:
        sessions.append(_started(master))
        return sessions[-1]

    yield start
    for session in sessions:
        session.stop()


@pytest.fixture(scope="module")
def spark(started: Callable[[str], Any]) -> Any:
    """Two threads of this machine."""
    return started("local[2]")
