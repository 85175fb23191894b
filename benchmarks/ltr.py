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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES, LENGTH = 136, 120
QUERIES = (750, 1500, 3000, 6000)
PRICES = (1.0, 10.0, 100.0)


def drawn(
    queries: int,
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
    """Return features that correlate through ten causes, labels 0 to 4 as in web search, query ids."""
    rng = np.random.default_rng(queries)
    rows = queries * LENGTH
    causes = rng.normal(size=(10, FEATURES)).astype(np.float32)
    X = np.empty((rows, FEATURES), np.float32)
    for begin in range(0, rows, 1 << 16):  # what is not needed is never held
        part = X[begin : begin + (1 << 16)]
        part[:] = rng.standard_normal((len(part), 10), np.float32) @ causes
        part += 0.5 * rng.standard_normal(part.shape, np.float32)
    worth = X @ rng.standard_normal(FEATURES, np.float32) / 30 + rng.standard_normal(
        rows, np.float32
    )
    y = np.searchsorted(np.quantile(worth, [0.52, 0.84, 0.97, 0.99]), worth).astype(
        np.float64
    )
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
        print(
            f"{told} {model.n_products_:4} {held:5.2f} {model.score(X, y, qid):8.4f}",
            flush=True,
        )


def table() -> None:
    """Print nDCG@10 (gain 2^label - 1) of linear rankers and LightGBM on lightgbm-lambdarank."""
    import warnings

    from rankstone import compare
    from rankstone.ltr import CoordinateAscent, RankSVM, read, select
    from rankstone.ltr.predictions import judgments

    warnings.simplefilter("ignore")
    measure = "nDCG(gain=exp2)@10"
    folder = (
        Path(os.environ.get("RANKSTONE_DATA", "../shared/data")) / "lightgbm-lambdarank"
    )
    train, test = (
        read(folder / f"rank.{part}.gz", dtype="float64") for part in ("train", "test")
    )
    X = test.aligned(train.features)
    scores: dict[str, Any] = {}
    told: dict[str, str] = {}

    start = time.perf_counter()
    svms = {
        f"C={price:g}": RankSVM(price) for price in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    }
    choice = select(svms, train.X, train.y, train.qid, measure, cv=5, nested=False)
    seconds, reached = f"{time.perf_counter() - start:.1f}", {}
    for word, chosen in (("best", choice.best), ("1se", choice.one_se)):
        svm = svms[chosen].fit(train.X, train.y, train.qid)
        name = f"RankSVM, {chosen}: {word} of cross-validation"
        scores[name], told[name] = svm.predict(X), seconds
        reached[name] = svm.score(train.X, train.y, train.qid, measure)

    start = time.perf_counter()
    climber = CoordinateAscent(measure, start=svms[choice.best], restarts=0).fit(
        train.X, train.y, train.qid
    )
    name = f"coordinate ascent from {choice.best}"
    scores[name], told[name] = climber.predict(X), f"{time.perf_counter() - start:.1f}"
    reached[name] = climber.value_

    for name, found in _trees(train, X).items():
        scores[name], told[name], reached[name] = found
    rows = judgments(test)
    runs = {
        name: rows.select("query_id", "doc_id").with_columns(score=found)
        for name, found in scores.items()
    }
    found = compare(rows, runs, measure, baseline=next(iter(runs)), ties="expected")
    verdicts = {row["system"]: row for row in found.table.iter_rows(named=True)}
    means = dict(
        zip(
            found.matrices[measure].systems,
            found.matrices[measure].values.mean(axis=0),
            strict=True,
        )
    )
    print(
        "| ranker | training queries | test queries | difference from the first, 95 % | seconds |"
    )
    print("|---|---|---|---|---|")
    for name, mean in means.items():
        row = verdicts.get(name)
        away = (
            ""
            if row is None
            else f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
        )
        trained = f"{reached[name]:.3f}" if name in reached else ""
        print(f"| {name} | {trained} | {mean:.3f} | {away} | {told[name]} |")


def _trees(train: Any, X: Any) -> dict[str, tuple[Any, str, float]]:  # noqa: ANN401 - a dataset, its test rows
    """Return LightGBM's lambdarank, with the options of the example it ships; nothing where it is missing."""
    try:
        import lightgbm
    except ImportError:
        print("LightGBM is not installed, so its row is missing", file=sys.stderr)
        return {}
    from rankstone.ltr.estimator_inputs import queries_of
    from rankstone.ltr.predictions import mean_of

    queries = queries_of(train.qid, len(train))
    options = {
        "objective": "lambdarank",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 5.0,
        "feature_fraction": 1.0,
        "bagging_freq": 1,
        "bagging_fraction": 0.9,
        "max_bin": 255,
        "seed": 1,
        "verbose": -1,
        "num_threads": 2,
    }
    start = time.perf_counter()
    rows = lightgbm.Dataset(train.X, train.y, group=queries.lengths)
    trees = lightgbm.train(options, rows, num_boost_round=100)
    seconds = f"{time.perf_counter() - start:.1f}"
    reached = mean_of(trees.predict(train.X), train.y, queries, "nDCG(gain=exp2)@10")
    return {
        f"LightGBM {lightgbm.__version__} lambdarank, 100 trees": (
            trees.predict(X),
            seconds,
            reached,
        )
    }


if __name__ == "__main__":
    asked: Any = sys.argv[1:] or ["growth"]
    {"growth": growth, "one": lambda: one(int(asked[1])), "table": table}[asked[0]]()
