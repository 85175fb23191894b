"""rankstone on Spark and Spark's RankingMetrics in turn, in one session of local[2].

``python benchmarks/spark_session.py FOLDER text|integer`` prints the seconds of every round and, last, the
ratio of the medians; the first round warms up and does not count.  The data are those of the case recsys-20m;
what Spark keeps in memory is let go of after every turn.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import subjects

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5


def main() -> None:
    """Measure and print."""
    folder, ids = Path(sys.argv[1]), sys.argv[2]
    files = [str(folder / f"users.{name}.parquet") for name in ("qrels", "run")]
    session = subjects._session()  # noqa: SLF001 - the session that the other benchmarks start
    if ids == "integer":
        files = [_with_integers(Path(file)) for file in files]

    def timed(work: Callable[[str, str], None]) -> float:
        began = time.perf_counter()
        work(*files)
        took = time.perf_counter() - began
        session.catalog.clearCache()
        for kept in session.sparkContext._jsc.getPersistentRDDs().values():  # noqa: SLF001 - there is no other way
            kept.unpersist()
        return took

    taken = []
    for number in range(ROUNDS + 1):
        taken.append(
            (timed(subjects.rankstone_on_spark), timed(subjects.ranking_metrics))
        )
        ours, theirs = taken[-1]
        ratio = f"rankstone {ours:.2f} s, RankingMetrics {theirs:.2f} s, ratio {ours / theirs:.3f}"
        print(
            f"{'round ' + str(number) if number else 'warm-up'}: {ratio}, load {os.getloadavg()[0]:.1f}"
        )
    ours, theirs = (median(times) for times in zip(*taken[1:], strict=True))
    print(
        f"medians: rankstone {ours:.2f} s, RankingMetrics {theirs:.2f} s, ratio {ours / theirs:.3f}"
    )


def _with_integers(file: Path) -> str:
    """Write a table again with integers for its ids, which are a letter and a number, unless it is there."""
    import polars as pl

    from data import unfinished

    path = file.with_suffix(".integers.parquet")
    if not path.exists():
        with unfinished(path) as temporary:
            ids = pl.col("query_id", "doc_id").str.extract(r"(\d+)").cast(pl.Int64)
            pl.scan_parquet(file).with_columns(ids).sink_parquet(temporary)
    return str(path)


if __name__ == "__main__":
    main()
