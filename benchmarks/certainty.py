"""How often statistics are wrong, on scores of real systems, and how long they take.

``python benchmarks/certainty.py`` needs the folder ``trec-score-matrices`` (scores of every system of four
TREC tasks, by several measures, collected by Urbano, Lima and Hanjalic 2019) in the folder that
``RANKSTONE_DATA`` names.  It prints tables in Markdown: coverage of 95 % intervals, false alarms of tests,
seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats import METHODS, Units, adjusted, estimates, randomised_tukey, sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

DATA = (
    Path(os.environ.get("RANKSTONE_DATA", Path(__file__).parents[2] / "shared/data")) / "trec-score-matrices"
)
SYSTEMS = 12
ALPHA = 0.05
#: samples drawn at a time
BATCH = 200


def matrices() -> list[Floats]:
    """Return the scores of every task and measure: queries by systems."""
    files = sorted(DATA.glob("*.csv"))
    if not files:
        sys.exit(f"no score matrices in {DATA}: set RANKSTONE_DATA")
    return [np.genfromtxt(path, delimiter=",", skip_header=1) for path in files]


def samples(kind: str, n: int, count: int, draw: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Yield batches of samples of n queries, a column each, and the true means.

    The queries of a task are the population: a sample draws n of them with replacement.  ``differences``
    are those of two systems at random, ``means`` the scores of one.
    """
    tasks = matrices()
    for _ in range(count // BATCH):
        columns, true = [], []
        while len(columns) < BATCH:
            table = tasks[draw.integers(len(tasks))]
            one, other = draw.choice(table.shape[1], 2, replace=False)
            values = table[:, one] - table[:, other] if kind == "differences" else table[:, one]
            if np.ptp(values) > 0:
                columns.append(values[draw.integers(0, len(values), n)])
                true.append(values.mean())
        yield np.stack(columns, axis=1), np.array(true)


def coverage(count: int) -> None:
    """Print how often 95 % intervals hold the truth."""
    print(f"| coverage over {count:,} samples | n | " + " | ".join(METHODS) + " |")
    print("|---|---:|" + "---:|" * len(METHODS))
    for kind in ("differences", "means"):
        for n in (10, 20, 50):
            held = dict.fromkeys(METHODS, 0)
            for at, (values, true) in enumerate(samples(kind, n, count, np.random.default_rng(n))):
                units = Units.of(values)
                for method in METHODS:
                    found = estimates(units, method, resamples=2000, seed=at)
                    ends = [one.interval() for one in found]
                    held[method] += sum(
                        low - 1e-12 <= mean <= high + 1e-12
                        for (low, high), mean in zip(ends, true, strict=True)
                    )
            print(
                f"| {kind} | {n} | " + " | ".join(f"{held[m] / count:.3f}" for m in METHODS) + " |",
                flush=True,
            )


def false_alarms(count: int) -> None:
    """Print how often tests find something among systems that were shuffled within every query."""
    tasks, draw = matrices(), np.random.default_rng(1)
    tukey, two_measures, holm = 0, 0, 0
    for at in range(count):
        table = tasks[draw.integers(len(tasks))]
        chosen = table[:, draw.choice(table.shape[1], SYSTEMS, replace=False)]
        null = draw.permuted(chosen, axis=1)
        tukey += randomised_tukey(null[:, :, None], shuffles=1000, seed=at).p.min() <= ALPHA
        pair = np.stack([null, np.sqrt(np.abs(null))], axis=2)
        two_measures += randomised_tukey(pair, shuffles=1000, seed=at).p.min() <= ALPHA
        flips = sign_flips(null[:, 1:] - null[:, :1], flips=1000, seed=at)
        holm += adjusted([one.p for one in flips]).min() <= ALPHA
    print(f"\n| false alarms over {count:,} shuffled matrices of {SYSTEMS} systems, at 0.05 | share |")
    print("|---|---:|")
    for name, alarms in (
        ("randomised Tukey HSD, all pairs", tukey),
        ("the same of two measures at once", two_measures),
        ("Holm over randomisation tests against a baseline", holm),
    ):
        print(f"| {name} | {alarms / count:.4f} |", flush=True)


def timed(name: str, work: Callable[[], object]) -> None:
    """Print how long work takes, and the largest memory so far."""
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {name} | {seconds:.2f} s | {peak:,.0f} MB |", flush=True)


def speed() -> None:
    """Print seconds of the two large jobs."""
    draw = np.random.default_rng(0)
    print("\n| work | time | peak memory |\n|---|---:|---:|")
    table = draw.random((50, 12, 5))
    timed("randomised Tukey, 100,000 × 12 systems × 50 queries × 5 measures", lambda: randomised_tukey(table))
    users = Units.of(draw.normal(0.01, 0.3, (100_000, 1)))
    for method in ("percentile", "bca", "studentised", "poisson"):
        timed(f"{method} bootstrap, 10,000 × 100,000 users", lambda m=method: estimates(users, m))


def main(arguments: Iterable[str] | None = None) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", choices=["coverage", "alarms", "speed", []], help="[all]")
    parser.add_argument("--count", type=int, default=2000, help="simulations of each kind [2000]")
    given = parser.parse_args(list(arguments) if arguments is not None else None)
    parts = given.parts or ["coverage", "alarms", "speed"]
    if "coverage" in parts:
        coverage(given.count)
    if "alarms" in parts:
        false_alarms(given.count)
    if "speed" in parts:
        speed()


if __name__ == "__main__":
    main()
