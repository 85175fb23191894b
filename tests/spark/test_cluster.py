"""Executors in processes of their own: one of them dies, and the digits stay."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.spark.layouts import laid_out

import rankstone
import rankstone.spark
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

MEASURES = "nDCG@5 AP RR P@3"
#: seconds that every piece of the run takes, and how many pieces there are
SLOW, PIECES = 0.5, 12


def _executors() -> list[int]:
    """Return the processes of executors on this machine."""
    rows = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"CoarseGrainedExecutorBackend" in path.read_bytes():
                rows.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return rows


@pytest.mark.parametrize("in_place", [True, False])
def test_an_executor_dies(started: Callable[[str], Any], in_place: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Two executors, one killed amid the work: the job ends, and no bit is another."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("processes are found by /proc, which is Linux's")
    spark = started("local-cluster[2,1,1024]")
    world = small_world("nDCG", 300, seed=2, ties=True)
    here = rankstone.evaluate(world.judgments, world.run, MEASURES)
    qrels, run = (
        spark.createDataFrame(frame.to_arrow())
        for frame in (world.judgments, world.run)
    )
    assert rankstone.spark.evaluate(qrels, run, MEASURES).to_dict() == here.to_dict()

    wait = SLOW

    def slowly(
        batches: Iterator[Any],
    ) -> Iterator[Any]:  # here, since executors have no module of tests
        import time

        time.sleep(wait)
        yield from batches

    lists = world.run.partition_by("query_id")
    parts = [pl.concat(lists[index::PIECES]) for index in range(PIECES)]
    spread = laid_out(spark, parts) if in_place else run.repartition(PIECES)
    slow = spread.mapInArrow(slowly, run.schema)
    killed: list[int] = []

    def kill() -> None:
        time.sleep(3 * SLOW)
        killed.extend(_executors()[:1])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    far = rankstone.spark.evaluate(qrels, slow, MEASURES)
    killer.join()

    assert killed
    assert far.computed["run"].in_place == in_place
    assert far.to_dict() == here.to_dict()
    result: Any = pl.from_arrow(far.per_query.toArrow())
    mine = here.per_query.with_columns(pl.col("status").cast(pl.String))
    order = ["query_id", "measure"]
    assert result.sort(order).equals(mine.select(result.columns).sort(order))
