"""Learning to rank: how the rank SVM's time grows, and what linear rankers reach on a real collection.

``python benchmarks/ltr.py growth`` trains on 90,000 to 720,000 documents with 136 correlated features;
``python benchmarks/ltr.py table`` makes the table of ``docs/ltr.md`` from the folder that RANKSTONE_DATA
names.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES, LENGTH = 136, 120
QUERIES = (750, 1500, 3000, 6000)
PRICES = (1.0, 10.0, 100.0)


def drawn(queries: int) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
    """Return features that correlate through ten causes, labels 0 to 4 as in web search, query ids."""
    rng = np.random.default_rng(queries)
    rows = queries * LENGTH
    causes = rng.normal(size=(10, FEATURES)).astype(np.float32)
    X = np.empty((rows, FEATURES), np.float32)
    for begin in range(0, rows, 1 << 16):  # what is not needed is never held
        part = X[begin : begin + (1 << 16)]
        part[:] = rng.standard_normal((len(part), 10), np.float32) @ causes
        part += 0.5 * rng.standard_normal(part.shape, np.float32)
    worth = X @ rng.standard_normal(FEATURES, np.float32) / 30 + rng.standard_normal(rows, np.float32)
    y = np.searchsorted(np.quantile(worth, [0.52, 0.84, 0.97, 0.99]), worth).astype(np.float64)
    return X, y, np.repeat(np.arange(queries), LENGTH)


def growth() -> None:
    """Train on more and more documents, each size in a process of its own."""
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} processors")
    print(" documents        pairs      C  seconds  steps   Hv    GB  nDCG@10")
    for queries in QUERIES:
        subprocess.run([sys.executable, __file__, "one", str(queries)], check=True)


def one(queries: int) -> None:
    """Train on one size, and print a row for each C, each alone; GB is the most this process ever held."""
    from rankstone.ltr import RankSVM

    X, y, qid = drawn(queries)
    for price in PRICES:
        start = time.perf_counter()
        model = RankSVM(C=price).fit(X, y, qid)
        seconds = time.perf_counter() - start
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        told = f"{len(y):10,} {model.n_pairs_:12,.0f} {price:6g} {seconds:8.2f} {model.n_iter_:6}"
        print(f"{told} {model.n_products_:4} {held:5.2f} {model.score(X, y, qid):8.4f}", flush=True)


if __name__ == "__main__":
    asked: Any = sys.argv[1:] or ["growth"]
    {"growth": growth, "one": lambda: one(int(asked[1]))}[asked[0]]()
