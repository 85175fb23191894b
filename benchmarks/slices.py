"""Slices under simulation: how often chance is taken for a finding, and what is found of a planted loss.

Every table has 1,000 queries with ten attributes of six values of unequal frequency, and about 1,080
slices of these and their pairs with 20 queries or more.  Without a loss, differences are normal, mostly
ties, skewed, or of a variance that depends on an attribute; planted is a loss of 0.1 in a slice of about a
tenth of the queries.  Every line is a row of a table in docs/slices.md.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.boards.query_slices import query_slices
from rankstone.boards.slice_search import slices_of_scores
from rankstone.stats.slice_tests import Gaps, slice_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

QUERIES, ATTRIBUTES, LOSS = 1000, 10, 0.1
#: queries with the loss, to a twentieth of it
TENTH = QUERIES // 10
LEVEL, OVERLAP = 0.05, 0.8
#: shares of queries that differ
FEW, FEWER = 0.1, 0.05
NULL = ("normal", "ties", "skewed", "unequal variances", "one large variance")


def attributes_of(rng: np.random.Generator) -> pl.DataFrame:
    """Return attributes of six values each, whose frequencies differ."""
    columns = {
        f"a{at}": rng.choice(list("uvwxyz"), QUERIES, p=rng.dirichlet(np.full(6, 5.0)))
        for at in range(ATTRIBUTES)
    }
    return pl.DataFrame(columns)


def without_loss(rng: np.random.Generator, world: str, table: pl.DataFrame) -> Floats:
    """Return differences of mean 0 whatever the attributes."""
    first = table["a0"].cast(pl.Categorical).to_physical().to_numpy()
    if world == "ties":
        return np.where(
            rng.random(QUERIES) < FEW, rng.choice([-1, 1, 0.5, -0.3], QUERIES), 0.0
        )
    if world == "skewed":
        return np.where(rng.random(QUERIES) < FEWER, -(rng.random(QUERIES) ** 2), 0.0)
    spread = {
        "unequal variances": 0.1 + 0.1 * first,
        "one large variance": np.where(first == 0, 0.5, 0.15),
    }
    return rng.normal(size=QUERIES) * spread.get(world, 0.2)


def null_tables(task: tuple[str, int, int]) -> list[tuple[float, float]]:
    """Return whether any slice is found, and how many slices there are, of each table."""
    world, seed, tables = task
    rng, found = np.random.default_rng(seed), []
    for _ in range(tables):
        table = attributes_of(rng)
        made = query_slices(table)
        tests = slice_tests(
            without_loss(rng, world, table),
            Gaps(made.members),
            seed=int(rng.integers(1 << 30)),
        )
        found.append((float(tests.p.min() <= LEVEL), float(len(made.names))))
    return found


def planted_tables(task: tuple[float, int, int]) -> list[tuple[float, ...]]:
    """Return of each table: loss found; overlap of the first slice; power line says no; all gaps covered."""
    deviation, seed, tables = task
    rng, found = np.random.default_rng(seed), []
    for _ in range(tables):
        table = attributes_of(rng)
        made = query_slices(table)
        near = np.flatnonzero(np.abs(made.size - TENTH) <= TENTH // 20)
        if not len(near):
            continue
        lost = made.members[:, rng.choice(near)].astype(float)
        difference = rng.normal(0, deviation, QUERIES) - LOSS * lost
        ids = [f"q{at}" for at in range(QUERIES)]
        scores = pl.DataFrame(
            {"query_id": ids, "a": np.zeros(QUERIES), "b": difference}
        )
        seed_of = int(rng.integers(1 << 30))
        result = slices_of_scores(
            scores,
            queries=table.with_columns(query_id=pl.Series(ids)),
            margin=LOSS,
            seed=seed_of,
        )
        clear = result.table.filter(pl.col("p_adjusted") <= LEVEL)
        overlaps = np.nan
        if result.found.height:
            first = made.members[:, made.names.index(result.found["slice"][0])]
            overlaps = float(
                np.minimum(first, lost).sum() / np.maximum(first, lost).sum() >= OVERLAP
            )
        share = lost @ made.members / made.size
        outside = (lost.sum() - lost @ made.members) / (QUERIES - made.size)
        true = dict(zip(made.names, -LOSS * (share - outside), strict=True))
        row = result.table.select("slice", "low", "high").rows()
        covered = all(low <= true[name] <= high for name, low, high in row)
        tenth = result.visible(TENTH) > LOSS
        found.append((float(clear.height > 0), overlaps, float(tenth), float(covered)))
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--null", type=int, default=1000, help="tables without a loss, of each world"
    )
    parser.add_argument(
        "--planted", type=int, default=200, help="tables with one, of each deviation"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    parts = 10
    with ProcessPoolExecutor() as pool:
        print("| without a loss | any slice found | slices |\n|---|---|---|")
        for world in NULL if given.null else ():
            tasks = [
                (world, given.seed * 1000 + at, -(-given.null // parts))
                for at in range(parts)
            ]
            rows = np.array(
                [row for part in pool.map(null_tables, tasks) for row in part]
            )
            print(
                f"| {world} | {rows[:, 0].mean():.3f} | {rows[:, 1].mean():,.0f} |",
                flush=True,
            )
        print(
            "\n| sd of differences | found | first overlaps by 0.8 | said not to show | all gaps covered |"
        )
        print("|---|---|---|---|---|")
        for deviation in (0.15, 0.2, 0.3):
            planned = [
                (deviation, given.seed * 2000 + at, -(-given.planted // parts))
                for at in range(parts)
            ]
            rows = np.array(
                [row for part in pool.map(planted_tables, planned) for row in part]
            )
            clear, overlaps, cannot, covered = (np.nanmean(column) for column in rows.T)
            print(
                f"| {deviation} | {clear:.3f} | {overlaps:.3f} | {cannot:.3f} | {covered:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
