"""Slices under simulation: how often chance is taken for a finding, and what is found of a planted loss.

Every table has 1,000 queries with ten attributes of six values of unequal frequency, and about 1,080
slices of these and their pairs with 20 queries or more.  Without a loss, differences are normal, mostly
ties, skewed, or of a variance that depends on an attribute; planted is a loss of 0.1 in a slice of about a
tenth of the queries.  ``alike`` has twelve attributes that go together, three of them nearly copies of
others, and about 400 slices: chance with variances that differ, and the gap of the slice that is found over
its true gap, as observed and shrunken.  Every line is a row of a table in docs/slices.md.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.boards.query_slices import query_slices
from rankstone.boards.slice_search import slices_of_scores
from rankstone.stats.slice_tests import Gaps, SliceTests, slice_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

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


#: worlds without a loss, of attributes that go together; in some a slice has four times the variance
ALIKE = {
    "normal": None,
    "variance × 4 in a small slice": (20, 90),
    "variance × 4 in a large slice": (350, 550),
    "t with two degrees": None,
    "rare ± 1": None,
    "losses only": None,
    "reciprocal ranks": None,
    "one wild query": None,
}
#: attributes of their own, and copies in which two values are one
OWN, COPIES = 9, 3


def alike_attributes(rng: np.random.Generator) -> pl.DataFrame:
    """Return twelve attributes of two or three values that go together by three hidden ones."""
    hidden, columns = rng.normal(size=(QUERIES, 3)), {}
    for at in range(OWN):
        x = 0.6 * hidden @ rng.normal(size=3) + rng.normal(size=QUERIES)
        share = np.maximum(rng.dirichlet(np.full(3, 2.5)), 0.04)
        ends = np.quantile(x, np.cumsum(share / share.sum())[:-1])
        columns[f"a{at}"] = np.array(list("uvw"))[np.searchsorted(ends, x)]
    for at in range(COPIES):
        copied = columns[f"a{at}"]
        columns[f"b{at}"] = np.where(copied == "v", "u", copied)
    return pl.DataFrame(columns)


def tested(values: Floats, members: Bools, rng: np.random.Generator) -> SliceTests:
    """Test slices with as many permutations as a simulation needs."""
    seed = int(rng.integers(1 << 30))
    return slice_tests(values, Gaps(members), permutations=500, seed=seed)


def alike_null(task: tuple[str, int, int]) -> list[float]:
    """Return whether any slice is found, of each table without a loss."""
    world, seed, tables = task
    rng, found = np.random.default_rng([seed, len(world)]), []
    for _ in range(tables):
        made = query_slices(alike_attributes(rng))
        spread = np.ones(QUERIES)
        if (sizes := ALIKE[world]) is not None:
            single = (made.parents[:, 0] < 0) & (made.size >= sizes[0])
            chosen = np.flatnonzero(single & (made.size <= sizes[1]))
            if not len(chosen):
                continue
            spread += made.members[:, rng.choice(chosen)]
        values = 0.2 * rng.normal(size=QUERIES) * spread
        rare = rng.random(QUERIES) < FEWER
        if world == "t with two degrees":
            values = 0.1 * rng.standard_t(2, QUERIES)
        elif world == "rare ± 1":
            values = np.where(rare, rng.choice([-1.0, 1.0], QUERIES), 0.0)
        elif world == "losses only":
            values = np.where(rare, -(rng.random(QUERIES) ** 2), 0.0)
        elif world == "reciprocal ranks":
            one, other = 1 / rng.integers(1, 11, (2, QUERIES))
            values = one - other
        elif world == "one wild query":
            values[0] = 10.0
        tests = tested(values, made.members, rng)
        found.append(float(tests.p.min() <= LEVEL))
    return found


def found_gaps(task: tuple[float, int, int]) -> list[tuple[float, float, float]]:
    """Return the gap of the first slice that is found, the shrunken one and the true one, of each table."""
    deviation, seed, tables = task
    rng, rows = np.random.default_rng([seed, round(1000 * deviation)]), []
    while len(rows) < tables:
        made = query_slices(alike_attributes(rng))
        near = np.flatnonzero(np.abs(made.size - 0.12 * QUERIES) <= TENTH // 20)
        if not len(near):
            continue
        lost = made.members[:, rng.choice(near)].astype(float)
        values = rng.normal(0, deviation, QUERIES) - LOSS * lost
        tests = tested(values, made.members, rng)
        first = int(tests.evidence.argmax())
        if tests.p[first] > LEVEL:
            rows.append((np.nan,) * 3)
            continue
        inside = (lost @ made.members / made.size)[first]
        others = QUERIES - made.size[first]
        outside = (lost.sum() - inside * made.size[first]) / others
        gap = tests.gap[first]
        rows.append((gap, gap * tests.kept()[first], -LOSS * (inside - outside)))
    return rows


def alike(pool: ProcessPoolExecutor, null: int, planted: int, seed: int) -> None:
    """Print the tables of attributes that go together, with Monte-Carlo errors."""
    print("| without a loss | any slice found |\n|---|---|")
    for world in ALIKE if null else ():
        tasks = [(world, seed * 1000 + at, -(-null // 10)) for at in range(10)]
        some = np.array([one for part in pool.map(alike_null, tasks) for one in part])
        error = np.sqrt(some.mean() * (1 - some.mean()) / len(some))
        print(f"| {world} | {some.mean():.3f} ± {error:.3f} |", flush=True)
    print("\n| sd of differences | found | gap over the true one | shrunken gap |")
    print("|---|---|---|---|")
    for deviation in (0.15, 0.2, 0.3):
        planned = [(deviation, seed * 2000 + at, -(-planted // 10)) for at in range(10)]
        every = np.array(
            [row for part in pool.map(found_gaps, planned) for row in part]
        )
        rows = every[~np.isnan(every[:, 0])]
        cells = []
        for column in rows.T[:2]:
            ratio = column.mean() / rows[:, 2].mean()
            errors = (column - ratio * rows[:, 2]).std() / np.sqrt(len(rows))
            cells.append(f"{ratio:.3f} ± {errors / abs(rows[:, 2].mean()):.3f}")
        print(
            f"| {deviation} | {len(rows) / len(every):.3f} | {' | '.join(cells)} |",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="?", choices=["independent", "alike"], default="independent"
    )
    parser.add_argument(
        "--null", type=int, default=1000, help="tables without a loss, of each world"
    )
    parser.add_argument(
        "--planted", type=int, default=200, help="tables with one, of each deviation"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    parts = 10
    with ProcessPoolExecutor(given.processes) as pool:
        if given.what == "alike":
            alike(pool, given.null, given.planted, given.seed)
            return
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
