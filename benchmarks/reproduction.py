"""Intervals of repeated experiments and of orders of systems under simulation: how often they hold.

``orders``: Kendall's tau of the orders by the true means of two measures.  Systems are spread normally,
closely, with a long tail, in families whose errors go together, with outliers, or alike under both; or
they are those of a real shared task, whose topics are drawn with replacement (a folder of score matrices is
named by RANKSTONE_DATA).  ``effects``: effect ratio and change of the relative improvement of bounded scores,
few of which differ.  Every line is a row of a table in docs/reproduce.md or docs/collections.md.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.stats.effect_ratios import effect_ratio, relative_change
from rankstone.stats.order_agreement import order_agreement, taus

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORLDS = ("normal", "close", "long tail", "families", "outliers", "alike", "left out")
#: the topics and systems of a shared task, and two measures
REAL = {
    "TREC-5 AP~P@10": ("adhoc5", "ap", "p10"),
    "TREC-5 AP~RR": ("adhoc5", "ap", "rr"),
    "TREC-6 AP~P@10": ("adhoc6", "ap", "p10"),
    "TREC-6 AP~RR": ("adhoc6", "ap", "rr"),
    "Web 2010 nDCG~ERR": ("web2010", "ndcg20", "err20"),
    "Web 2011 nDCG~ERR": ("web2011", "ndcg20", "err20"),
}
DATA = (
    Path(
        os.environ.get("RANKSTONE_DATA", Path(__file__).parents[2] / "shared" / "data")
    )
    / "trec-score-matrices"
)
#: values of tau this close are equal
EQUAL = 1e-12
#: the standard deviation of a query's score around its expectation, and what both measures share of it
NOISE, SHARED = 0.15, 0.7


def true_means(
    rng: np.random.Generator, world: str, systems: int, family: NDArray[np.int64]
) -> Floats:
    """Return the true means by two measures, float64 ``[systems, 2]``."""
    base = rng.normal(size=(systems, 2))
    if world == "long tail":
        return -0.08 * rng.gamma(1.0, 1.0, (systems, 1)) + 0.02 * base
    if world == "families":
        return 0.08 * rng.normal(size=(20, 1))[family] + 0.015 * base
    if world == "alike":
        return 0.08 * base[:, :1] + 0.005 * base
    means = (
        base
        * {"normal": 0.08, "close": 0.02, "outliers": 0.03, "left out": 0.08}[world]
    )
    if world == "outliers":
        means[: max(systems // 14, 1)] -= 0.3
    means[:, 1] = 0.8 * means[:, 0] + 0.6 * means[:, 1]
    return means


@cache
def real_scores(world: str) -> Floats:
    """Return the scores of a shared task by two measures, float64 ``[topics, systems, 2]``."""
    track, *measures = REAL[world]
    files = [DATA / f"{track}_{measure}.csv" for measure in measures]
    tables = [pl.read_csv(file).to_numpy().astype(float) for file in files]
    return np.stack(tables, axis=-1)


def one_task(
    rng: np.random.Generator, world: str, systems: int, queries: int
) -> tuple[Floats, Floats]:
    """Return true means, and scores by both measures, float64 ``[queries, systems, 2]``."""
    if world in REAL:
        matrices = real_scores(world)
        every = matrices[:, rng.permutation(matrices.shape[1])[:systems]]
        return every.mean(axis=0), every[rng.integers(0, len(every), queries)]
    family = rng.integers(0, 20, systems)
    means = true_means(rng, world, systems, family)
    shared, own = (
        rng.normal(size=(queries, systems, 1)),
        rng.normal(size=(queries, systems, 2)),
    )
    if (
        world == "left out"
    ):  # the same measure, but one system loses documents, and now and then another one
        chance = np.where(
            np.arange(systems) == 0, 0.6, rng.choice([0.0, 0.02, 0.05], systems)
        )
        lost = (rng.random((queries, systems)) < chance) * rng.beta(
            2, 12, (queries, systems)
        )
        before = (
            means[:, 0]
            + rng.normal(0, 0.2, (queries, 1))
            + NOISE * rng.normal(size=(queries, systems))
        )
        return np.stack([means[:, 0], means[:, 0] - chance / 7], axis=1), np.stack(
            [before, before - lost], axis=2
        )
    errors = np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * own
    if world == "families":
        errors = 0.7 * errors + 0.714 * rng.normal(size=(queries, 20, 1))[:, family]
    return means, means + rng.normal(0, 0.2, (queries, 1, 2)) + NOISE * errors


def orders_block(task: tuple[str, int, int, int, int]) -> list[tuple[float, ...]]:
    """Return whether the interval holds, its width, the true and the observed tau of each board."""
    world, systems, queries, seed, count = task
    rng, found = np.random.default_rng([seed, systems, queries]), []
    for _ in range(count):
        means, scores = one_task(rng, world, systems, queries)
        true = float(taus(means[None, :, 0], means[None, :, 1])[0])
        one = order_agreement(
            scores[:, :, 0], scores[:, :, 1], seed=int(rng.integers(1 << 30))
        )
        holds = float(one.low - EQUAL <= true <= one.high + EQUAL)
        width = one.high - one.low
        found.append((holds if width >= 0 else np.nan, width, true, one.tau))
    return found


def effects_block(task: tuple[int, float, float, int, int]) -> list[tuple[float, ...]]:
    """Return whether the intervals of ER and ΔRI hold, and whether ER has one."""
    queries, share, again, seed, count = task
    rng, found = np.random.default_rng([seed, queries, int(1000 * share)]), []
    effect = 0.1
    for _ in range(count):
        base = rng.beta(2, 3, queries)
        gains = []
        for ratio in (1.0, again):  # few queries differ, by much
            gain = np.where(
                rng.random(queries) < share,
                rng.normal(effect / share, 0.1, queries),
                0.0,
            )
            gains.append(ratio * gain)
        both = 0.7 * gains[0] * again + 0.3 * gains[1]
        noise = rng.normal(0, 0.02, (2, queries))
        original, repeated = (
            (base + gains[0] + noise[0], base),
            (base + both + noise[1], base),
        )
        _, low, high = effect_ratio(original[0] - base, repeated[0] - base)
        true_relative = effect / 0.4 - again * effect / 0.4
        _, left, right = relative_change(original, repeated)
        known = float(np.isfinite(low))
        found.append(
            (
                float(not known or low <= again <= high),
                float(left <= true_relative <= right),
                known,
            )
        )
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["orders", "effects"])
    parser.add_argument(
        "--count", type=int, default=400, help="boards, or experiments, of each line"
    )
    parser.add_argument(
        "--sizes", default="143x50,60x25,20x50,10x50,10x20", help="systems x queries"
    )
    parser.add_argument(
        "--worlds", default="", help="of these worlds only, separated by commas"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    parts, each = 8, -(-given.count // 8)
    seeds = [given.seed * 1000 + at for at in range(parts)]
    with ProcessPoolExecutor(given.processes) as pool:
        if given.what == "effects":
            print(
                "| queries | that differ | true ER | ER holds | ΔRI holds | ER has an interval |"
            )
            print("|---|---|---|---|---|---|")
            for queries, share, again in (
                (10, 0.8, 1.0),
                (10, 0.3, 0.5),
                (25, 0.3, 1.0),
                (50, 0.2, 0.5),
                (50, 0.1, 1.0),
            ):
                tasks = [(queries, share, again, seed, each) for seed in seeds]
                ratio, relative, known = np.array(
                    [row for part in pool.map(effects_block, tasks) for row in part]
                ).mean(axis=0)
                print(
                    f"| {queries} | {share:.0%} | {again} | {ratio:.3f} | {relative:.3f} | {known:.2f} |",
                    flush=True,
                )
            return
        print(
            "| systems × queries | world | holds | has an interval | width | true τ | observed τ |"
        )
        print("|---|---|---|---|---|---|---|")
        worlds = [*WORLDS, *(REAL if DATA.exists() else ())]
        for size in given.sizes.split(","):
            systems, queries = map(int, size.split("x"))
            for world in given.worlds.split(",") if given.worlds else worlds:
                drawn = [(world, systems, queries, seed, each) for seed in seeds]
                rows = np.array(
                    [row for part in pool.map(orders_block, drawn) for row in part]
                )
                known = np.isfinite(rows[:, 0])
                true, observed = rows[:, 2:].mean(axis=0)
                cells = ["–", "0.00", "–"]
                if known.any():
                    holds, width = rows[known, :2].mean(axis=0)
                    error = np.sqrt(holds * (1 - holds) / known.sum())
                    cells = [f"{holds:.3f} ± {error:.3f}", f"{known.mean():.2f}"]
                    cells.append(f"{width:.2f}")
                print(
                    f"| {size} | {world} | {' | '.join(cells)} | {true:.2f} | {observed:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
