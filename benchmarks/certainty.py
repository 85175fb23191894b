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
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats import (
    METHODS,
    Units,
    adjusted,
    estimates,
    family_level,
    flipped_max_t,
    randomised_tukey,
    randomised_tukeys,
    resampled_max_t,
    sign_flips,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

DATA = (
    Path(os.environ.get("RANKSTONE_DATA", Path(__file__).parents[2] / "shared/data"))
    / "trec-score-matrices"
)
SYSTEMS = 12
ALPHA = 0.05
#: samples drawn at a time
BATCH = 200


@cache
def matrices() -> list[Floats]:
    """Return the scores of every task and measure: queries by systems."""
    files = sorted(DATA.glob("*.csv"))
    if not files:
        sys.exit(f"no score matrices in {DATA}: set RANKSTONE_DATA")
    return [np.genfromtxt(path, delimiter=",", skip_header=1) for path in files]


def samples(
    kind: str, n: int, count: int, draw: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
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
            values = (
                table[:, one] - table[:, other]
                if kind == "differences"
                else table[:, one]
            )
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
            for at, (values, true) in enumerate(
                samples(kind, n, count, np.random.default_rng(n))
            ):
                units = Units.from_scores(values)
                for method in METHODS:
                    found = estimates(units, method, resamples=2000, seed=at)
                    ends = [one.interval() for one in found]
                    held[method] += sum(
                        low - 1e-12 <= mean <= high + 1e-12
                        for (low, high), mean in zip(ends, true, strict=True)
                    )
            print(
                f"| {kind} | {n} | "
                + " | ".join(f"{held[m] / count:.3f}" for m in METHODS)
                + " |",
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
        tukey += (
            randomised_tukey(null[:, :, None], shuffles=1000, seed=at).p.min() <= ALPHA
        )
        pair = np.stack([null, np.sqrt(np.abs(null))], axis=2)
        two_measures += randomised_tukey(pair, shuffles=1000, seed=at).p.min() <= ALPHA
        flips = sign_flips(null[:, 1:] - null[:, :1], flips=1000, seed=at)
        holm += adjusted([one.p for one in flips]).min() <= ALPHA
    print(
        f"\n| false alarms over {count:,} shuffled matrices of {SYSTEMS} systems, at 0.05 | share |"
    )
    print("|---|---:|")
    for name, alarms in (
        ("randomised Tukey HSD, all pairs", tukey),
        ("the same of two measures at once", two_measures),
        ("Holm over randomisation tests against a baseline", holm),
    ):
        print(f"| {name} | {alarms / count:.4f} |", flush=True)


#: shuffles, flips and resamples of a simulated comparison: alpha of one more is a whole number
DRAWN = 199
#: the bootstrap, which is slow, looks at one sample of so many
ONE_OF = 4
#: samples that share their shuffles
TOGETHER = 20
#: measures of all pairs, by the end of a file's name
PAIRS_BY = {"ap": "AP", "ndcg20": "nDCG@20", "rr": "RR"}
PROCEDURES = ("tukey", "flips", "robust_tukey", "max_t")


def procedures(samples: list[Floats], seed: int) -> Iterator[dict[str, Floats]]:
    """Yield p of all pairs of each sample, by every procedure; samples share their shuffles."""
    tables = [scores[:, :, None] for scores in samples]
    ones = np.ones((len(samples[0]), 1))
    families = [(table, ones) for table in tables]
    shuffled = randomised_tukeys(families, shuffles=DRAWN, seed=seed, threads=1)
    for at, (table, tukey) in enumerate(zip(tables, shuffled, strict=True)):
        flips = flipped_max_t(table, flips=DRAWN, seed=seed + at, threads=1).p
        found = {
            "tukey": tukey.p,
            "flips": flips,
            "robust_tukey": np.maximum(tukey.p, flips),
        }
        if at % ONE_OF == 0:
            found["max_t"] = resampled_max_t(
                table, resamples=DRAWN, seed=seed + at, threads=1
            ).p
        yield {name: p[:, :, 0] for name, p in found.items()}


def alike(table: Floats, systems: int, odd: int, draw: np.random.Generator) -> Floats:
    """Return a system's nearest neighbours, and odd ones from the far half."""
    order = np.argsort(
        (table - table[:, [draw.integers(table.shape[1])]]).std(axis=0), kind="stable"
    )
    far = draw.choice(order[len(order) // 2 :], odd, replace=False)
    return table[:, [*order[: systems - odd], *far]]


def world(
    kind: str, table: Floats, n: int, systems: int, draw: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return scores of n queries drawn from a task's, and the systems' true means."""
    rows = draw.integers(0, len(table), n)
    if kind in ("exchangeable", "unequal", "different"):
        chosen = table[:, draw.choice(table.shape[1], systems, replace=False)]
        if kind == "exchangeable":
            return draw.permuted(chosen[rows], axis=1), np.zeros(systems)
        means = chosen.mean(axis=0)
        return (
            (chosen[rows], means)
            if kind == "different"
            else (chosen[rows] - means, 0 * means)
        )
    odd = 2 if kind == "two odd" else 1
    chosen = alike(table, systems, odd, draw)
    true = np.zeros(systems)
    if kind == "one odd and better":
        true[-1] = 0.1
    scores = (chosen - chosen.mean(axis=0) + true)[rows]
    if kind == "one odd beside exchangeable":
        near = chosen[:, :-1]
        scores[:, :-1] = draw.permuted(near[rows], axis=1) - near.mean()
    return scores, true


#: worlds in which every claim, or every claim about neighbours, is false; and the world of power
WORLDS = (
    "exchangeable",
    "unequal",
    "one odd",
    "two odd",
    "one odd beside exchangeable",
    "one odd and better",
    "different",
)


def counted(
    kind: str, n: int, systems: int, count: int, of: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Return how often a family holds a false claim, and the share of true differences that are claimed."""
    tasks = [
        table for name, table in matrices_by_name().items() if name.endswith(f"_{of}")
    ]
    draw = np.random.default_rng([n, systems, WORLDS.index(kind)])
    one, other = np.triu_indices(systems, 1)
    false, power = (dict.fromkeys(PROCEDURES, 0.0) for _ in range(2))
    for seed in range(0, count, TOGETHER):
        worlds = [
            world(kind, tasks[draw.integers(len(tasks))], n, systems, draw)
            for _ in range(TOGETHER)
        ]
        for (scores, true), found in zip(
            worlds, procedures([one for one, _ in worlds], seed), strict=True
        ):
            gap, seen = (x[one] - x[other] for x in (true, scores.mean(axis=0)))
            for name, p in found.items():
                each = (ONE_OF if name == "max_t" else 1) / count
                claimed = p[one, other] <= ALPHA
                right = claimed & (gap * seen > 0)
                false[name] += (claimed & ~right).any() * each
                power[name] += right.sum() / max(np.count_nonzero(gap), 1) * each
    return false, power


def matrices_by_name() -> dict[str, Floats]:
    """Return the scores of every task and measure, by the name of the file."""
    return {
        path.stem: table
        for path, table in zip(sorted(DATA.glob("*.csv")), matrices(), strict=True)
    }


def all_pairs(
    count: int, queries: Iterable[int], systems: Iterable[int], worlds: Iterable[str]
) -> None:
    """Print the family-wise error of all pairs where no system differs, and the power where they do."""
    print(
        f"\n| all pairs, {count:,} samples each | n | systems | by | "
        + " | ".join(PROCEDURES)
        + " |"
    )
    print("|---|---:|---:|---|" + "---:|" * len(PROCEDURES))
    for m, n, kind, (of, measure) in product(
        systems, queries, worlds, PAIRS_BY.items()
    ):
        false, power = counted(kind, n, m, count, of)
        for what, found in (("false claims", false), ("power", power)):
            if what == "false claims" or any(found.values()):
                cells = " | ".join(f"{found[name]:.3f}" for name in PROCEDURES)
                print(
                    f"| {kind}: {what} | {n} | {m} | {measure} | {cells} |", flush=True
                )


def together(count: int) -> None:
    """Print how often all intervals of a family against a baseline hold the truth at once."""
    from scipy import stats

    tasks, draw = matrices(), np.random.default_rng(2)
    names = ("none", "holm", "hochberg", "hommel", "bonferroni", "sidak")
    print(
        f"\n| all of 11 t intervals, {count:,} samples each | n | "
        + " | ".join(names)
        + " |"
    )
    print("|---|---:|" + "---:|" * len(names))
    for n in (10, 25, 50):
        held = dict.fromkeys(names, 0)
        for _ in range(count):
            scores, means = world(
                "different", tasks[draw.integers(len(tasks))], n, 12, draw
            )
            apart = scores[:, 1:] - scores[:, :1]
            mean, error = (
                apart.mean(axis=0),
                np.maximum(apart.std(axis=0, ddof=1) / n**0.5, 1e-12),
            )
            p = 2 * stats.t.sf(np.abs(mean) / error, n - 1)
            off = np.abs(mean - (means[1:] - means[0])) / error
            for name in names:
                held[name] += (
                    off <= stats.t.isf(family_level(p, name, ALPHA) / 2, n - 1)
                ).all()
        cells = " | ".join(f"{held[name] / count:.3f}" for name in names)
        print(f"| 12 systems, one the baseline | {n} | {cells} |", flush=True)


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
    timed(
        "randomised Tukey, 100,000 × 12 systems × 50 queries × 5 measures",
        lambda: randomised_tukey(table),
    )
    timed("max-|t| by 100,000 flips, of the same", lambda: flipped_max_t(table))
    timed("max-|t| by 10,000 resamples, of the same", lambda: resampled_max_t(table))
    users = Units.from_scores(draw.normal(0.01, 0.3, (100_000, 1)))
    for method in ("percentile", "bca", "studentised", "poisson"):
        timed(
            f"{method} bootstrap, 10,000 × 100,000 users",
            lambda m=method: estimates(users, m),
        )


def main(arguments: Iterable[str] | None = None) -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "parts",
        nargs="*",
        choices=["coverage", "alarms", "pairs", "together", "speed", []],
        help="[all]",
    )
    parser.add_argument(
        "--count", type=int, default=2000, help="simulations of each kind [2000]"
    )
    parser.add_argument(
        "--queries", default="10,25,50", help="of pairs: numbers of queries [10,25,50]"
    )
    parser.add_argument(
        "--systems", default="12", help="of pairs: numbers of systems [12]"
    )
    parser.add_argument(
        "--worlds", default=",".join(WORLDS), help="of pairs: which worlds [all]"
    )
    given = parser.parse_args(list(arguments) if arguments is not None else None)
    parts = given.parts or ["coverage", "alarms", "pairs", "together", "speed"]
    if "coverage" in parts:
        coverage(given.count)
    if "alarms" in parts:
        false_alarms(given.count)
    if "pairs" in parts:
        queries, systems = (
            list(map(int, text.split(","))) for text in (given.queries, given.systems)
        )
        all_pairs(
            given.count - given.count % TOGETHER,
            queries,
            systems,
            given.worlds.split(","),
        )
    if "together" in parts:
        together(given.count)
    if "speed" in parts:
        speed()


if __name__ == "__main__":
    main()
