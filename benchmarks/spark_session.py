"""rankstone on Spark and Spark's RankingMetrics in turn, in one session of local[2].

``python benchmarks/spark_session.py [ROUNDS]`` prints seconds and their ratio, round by round, and the median
ratio.  The data are those of the case spark-20m; what is kept in memory is let go of after every turn.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import data
import subjects

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).with_name(".data")
ROUNDS = 3


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    folder = data.folder(DATA, 1.0)
    data.ensure("users", folder, 1.0)
    files = str(folder / "users.qrels.parquet"), str(folder / "users.run.parquet")
    session = subjects._session()  # noqa: SLF001 - the session that the other benchmarks start

    def timed(work: Callable[[str, str], None]) -> float:
        began = time.perf_counter()
        work(*files)
        took = time.perf_counter() - began
        session.catalog.clearCache()
        for kept in session.sparkContext._jsc.getPersistentRDDs().values():  # noqa: SLF001 - there is no other way
            kept.unpersist()
        return took

    ratios = []
    for number in range(rounds):
        ours, theirs = timed(subjects.rankstone_on_spark), timed(subjects.ranking_metrics)
        ratios.append(ours / theirs)
        said = f"rankstone {ours:.2f} s, RankingMetrics {theirs:.2f} s, ratio {ratios[-1]:.3f}"
        print(f"round {number + 1}: {said}, load {os.getloadavg()[0]:.1f}")
    print(f"median ratio {median(ratios):.3f}, after the first round {median(ratios[1:] or ratios):.3f}")


if __name__ == "__main__":
    main()
