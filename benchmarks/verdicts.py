"""What verdicts of comparisons promise, under simulation: power, false claims, coverage, plans, families.

``python benchmarks/verdicts.py power`` compares the share of true differences that a comparison of two runs
calls in the right direction with that of Student's t; ``false`` counts claims where means are equal;
``coverage`` how often its interval contains the true difference; ``planning`` the true power of printed
plans; ``family`` claims among all pairs of ten systems.  Real scores need the folder ``trec-score-matrices``
in the folder that ``RANKSTONE_DATA`` names.  Verdicts are those of 10,000 random flips (a comparison draws
100,000).  Tables are in Markdown; ± is twice the standard error of the simulation.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats import Units, flip_limits, flipped_max_t, sign_flips
from rankstone.stats.inverted_tests import agreeing
from rankstone.stats.paired_tests import paired_ts
from rankstone.stats.pilots import Pilots
from rankstone.stats.sample_size import detectable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Draw = Callable[[np.random.Generator, int, int], Floats]

DATA = Path(os.environ.get("RANKSTONE_DATA", Path(__file__).parents[2] / "shared/data"))
ALPHA = 0.05
FLIPS = 10_000
#: samples that are worked on together
BATCH = 500
#: measure → its files, and whether it is whether the reciprocal rank is at least 1/5
REAL = {
    "AP": "*_ap.csv",
    "P@10": "*_p10.csv",
    "RR": "*_rr.csv",
    "nDCG@20": "*_ndcg20.csv",
    "ERR@20": "*_err20.csv",
    "Success@5": "*_rr.csv",
}
_RANK_5 = 0.2
_HALF, _TOUCHED = 0.5, 0.2
#: queries → by how much the one leader of ten leads
_LEAD = {10: 0.42, 25: 0.25, 50: 0.18}


def _normal(deviation: float) -> Draw:
    return lambda rng, n, count: rng.normal(0, deviation, (n, count))


def _rarely(share: float, deviation: float) -> Draw:
    """Return what draws differences of which only a share is not 0."""

    def draw(rng: np.random.Generator, n: int, count: int) -> Floats:
        moved = rng.random((n, count)) < share
        return np.where(moved, rng.normal(0, deviation, (n, count)), 0.0)

    return draw


#: world → what draws differences of mean 0, ``[queries, samples]``; its standard deviation; the share that moves
WORLDS: dict[str, tuple[Draw, float, float]] = {
    "normal .2": (_normal(0.2), 0.2, 1.0),
    "normal .05": (_normal(0.05), 0.05, 1.0),
    "normal .02": (_normal(0.02), 0.02, 1.0),
    "Laplace .1": (
        lambda rng, n, count: rng.laplace(0, 0.1 / math.sqrt(2), (n, count)),
        0.1,
        1.0,
    ),
    "t3": (
        lambda rng, n, count: 0.1 / math.sqrt(3) * rng.standard_t(3, (n, count)),
        0.1,
        1.0,
    ),
    "half ties": (_rarely(_HALF, 0.15), 0.15 * math.sqrt(_HALF), _HALF),
    "20 % touched": (_rarely(_TOUCHED, 0.25), 0.25 * math.sqrt(_TOUCHED), _TOUCHED),
    "exponential": (
        lambda rng, n, count: 0.1 * (rng.exponential(1, (n, count)) - 1),
        0.1,
        1.0,
    ),
}


@cache
def matrices(measure: str) -> tuple[Floats, ...]:
    """Return the scores of every task by a measure: queries by systems."""
    files = sorted((DATA / "trec-score-matrices").glob(REAL[measure]))
    if not files:
        sys.exit(f"no score matrices in {DATA}: set RANKSTONE_DATA")
    tables = [np.genfromtxt(path, delimiter=",", skip_header=1) for path in files]
    if measure == "Success@5":
        tables = [(table >= _RANK_5).astype(np.float64) for table in tables]
    return tuple(tables)


def real_pairs(
    measure: str, rng: np.random.Generator, n: int, count: int
) -> tuple[Floats, Floats]:
    """Return differences of pairs of systems over n topics drawn with replacement, and their true means."""
    columns: list[Floats] = []
    means: list[float] = []
    tables = matrices(measure)
    while len(columns) < count:
        table = tables[rng.integers(len(tables))]
        first, second = rng.choice(table.shape[1], 2, replace=False)
        between = table[:, first] - table[:, second]
        if np.ptp(between) > 0:
            columns.append(between[rng.integers(0, len(between), n)])
            means.append(between.mean())
    return np.stack(columns, axis=1), np.array(means)


def batches(count: int) -> Iterator[int]:
    """Yield sizes of batches."""
    for begin in range(0, count, BATCH):
        yield min(BATCH, count - begin)


def claims(differences: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return the direction that a comparison claims for each column, and t: 1, -1, or 0 for none."""
    flips = sign_flips(differences, flips=FLIPS, seed=seed)
    p = np.array([result.p for result in flips])
    side = np.sign(differences.mean(axis=0))
    t = paired_ts(Units.from_scores(differences))
    return side * (p <= ALPHA), side * (t <= ALPHA)


def _share(values: Floats) -> str:
    error = 2 * values.std() / math.sqrt(len(values))
    return f"{values.mean():.3f} ± {error:.3f}"


def _table(head: list[str], rows: Iterator[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def _worlds_of_power() -> Iterator[tuple[str, Callable[..., tuple[Floats, Floats]]]]:
    for name, (draw, deviation, moved) in WORLDS.items():

        def gain(
            rng: np.random.Generator,
            n: int,
            count: int,
            draw: Draw = draw,
            deviation: float = deviation,
            moved: float = moved,
        ) -> tuple[Floats, Floats]:
            effect = detectable(n) * deviation
            noise = draw(rng, n, count)
            # what does not move does not gain
            shift = np.where(noise == 0, 0.0, effect / moved)
            return noise + shift, np.full(count, effect)

        yield name, gain
    for measure in REAL:
        yield (
            measure,
            lambda rng, n, count, measure=measure: real_pairs(measure, rng, n, count),
        )


def power(count: int, sizes: list[int], seed: int) -> None:
    """Print the power of the verdict of two runs, and that of t."""

    def rows() -> Iterator[list[str]]:
        for name, draw in _worlds_of_power():
            row = [name]
            for n in sizes:
                rng = np.random.default_rng([seed, n])
                ours, t = [], []
                for size in batches(count):
                    differences, means = draw(rng, n, size)
                    claimed = claims(differences, seed)
                    ours.append(claimed[0] == np.sign(means))
                    t.append(claimed[1] == np.sign(means))
                both = np.concatenate(ours), np.concatenate(t)
                row.append(f"{_share(both[0])} / {both[1].mean():.3f}")
            yield row

    _table(["verdict / t", *(f"n = {n}" for n in sizes)], rows())


def false_claims(count: int, sizes: list[int], seed: int) -> None:
    """Print how often a comparison claims a difference where means are equal."""

    def flipped(measure: str) -> Draw:
        def draw(rng: np.random.Generator, n: int, size: int) -> Floats:
            differences, _ = real_pairs(measure, rng, n, size)
            signs: Floats = rng.choice([-1.0, 1.0], differences.shape)
            return differences * signs

        return draw

    worlds = {name: draw for name, (draw, *_) in WORLDS.items()}
    worlds |= {f"{measure}, signs flipped": flipped(measure) for measure in REAL}

    def rows() -> Iterator[list[str]]:
        for name, draw in worlds.items():
            row = [name]
            for n in sizes:
                rng = np.random.default_rng([seed, n])
                several = [
                    claims(draw(rng, n, size), seed)[0] != 0 for size in batches(count)
                ]
                row.append(_share(np.concatenate(several)))
            yield row

    _table(["false claims", *(f"n = {n}" for n in sizes)], rows())


def coverage(count: int, sizes: list[int], seed: int) -> None:
    """Print how often the interval of a comparison contains the true difference of real pairs."""

    def covered(differences: Floats, means: Floats) -> NDArray[np.bool_]:
        low, high = flip_limits(
            Units.from_scores(differences), ALPHA, flips=FLIPS, seed=seed
        )
        flips = sign_flips(differences, flips=FLIPS, seed=seed)
        values = differences.mean(axis=0)
        ends = [
            agreeing((start, stop), value, rejected=result.p <= ALPHA)
            for start, stop, value, result in zip(low, high, values, flips, strict=True)
        ]
        lowest, highest = np.array(ends).T
        rounding = 1e-12
        inside: NDArray[np.bool_] = (lowest - rounding <= means) & (
            means <= highest + rounding
        )
        return inside

    def rows() -> Iterator[list[str]]:
        for measure in REAL:
            row = [measure]
            for n in sizes:
                rng = np.random.default_rng([seed, n])
                several = [
                    covered(*real_pairs(measure, rng, n, size))
                    for size in batches(count)
                ]
                row.append(_share(np.concatenate(several)))
            yield row

    _table(["coverage", *(f"n = {n}" for n in sizes)], rows())


def family(count: int, sizes: list[int], seed: int) -> None:
    """Print claims of any difference among ten equal systems, and the power for one true leader."""
    systems = 10
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)

    def duplicates(rng: np.random.Generator, n: int) -> Floats:
        shared = rng.normal(0, 0.2, (n, 1))
        near = shared + rng.normal(0, 0.01, (n, systems))
        near[:, -1] = rng.normal(0, 0.2, n)
        return near

    worlds: dict[str, Callable[[np.random.Generator, int], Floats]] = {
        "nine near-duplicates and an odd one": duplicates,
        "exchangeable": lambda rng, n: rng.normal(0, 0.2, (n, systems)),
        "exponential": lambda rng, n: 0.2 * rng.exponential(1, (n, systems)),
        "one leader": lambda rng, n: (
            rng.normal(0, 0.2, (n, systems))
            + _LEAD.get(n, _LEAD[50]) * (np.arange(systems) == 0)
        ),
    }

    def claimed(scores: Floats) -> NDArray[np.bool_]:
        together = flipped_max_t(scores[:, :, None], flips=FLIPS, seed=seed).p
        alone = sign_flips(scores, pairs=pairs, flips=FLIPS, seed=seed)
        p = np.array([result.p for result in alone])
        family_wise = together[pairs[:, 0], pairs[:, 1], 0]
        rejected: NDArray[np.bool_] = np.maximum(p, family_wise) <= ALPHA
        return rejected

    def rows() -> Iterator[list[str]]:
        for name, draw in worlds.items():
            row = [name]
            for n in sizes:
                rng = np.random.default_rng([seed, n])
                results = [claimed(draw(rng, n)) for _ in range(count)]
                if name == "one leader":
                    leading = pairs[:, 0] == 0
                    row.append(_share(np.array([r[leading].mean() for r in results])))
                else:
                    row.append(_share(np.array([r.any() for r in results])))
            yield row

    _table(["any claim; power", *(f"n = {n}" for n in sizes)], rows())


#: world of planning → what draws noise, the share that moves, the true difference
PLANS: dict[str, tuple[Draw, float, float]] = {
    "normal .03, d = .1": (_normal(0.03), 1.0, 0.1),
    "normal .03, d = .05": (_normal(0.03), 1.0, 0.05),
    "normal .03, d = .03": (_normal(0.03), 1.0, 0.03),
    "normal .1, d = .1": (_normal(0.1), 1.0, 0.1),
    "normal .2, d = .1": (_normal(0.2), 1.0, 0.1),
    "normal .2, d = .05": (_normal(0.2), 1.0, 0.05),
    "half touched, d = .1": (_rarely(0.5, 0.2), 0.5, 0.1),
    "half touched, d = .05": (_rarely(0.5, 0.2), 0.5, 0.05),
    "10 % touched, d = .03": (_rarely(0.1, 0.2), 0.1, 0.03),
}


def planning(count: int, sizes: list[int], seed: int) -> None:
    """Print the true power of a plan: at the queries needed, and at the difference detectable."""
    samples = 400

    def true_power(draw: Draw, moved: float, difference: float, n: int) -> float:
        noise = draw(np.random.default_rng([seed, n]), n, samples)
        gains = noise + np.where(noise == 0, 0.0, difference / moved)
        claimed, _ = claims(gains, seed)
        return float((claimed == np.sign(difference)).mean())

    def cells(name: str, n: int) -> Iterator[str]:
        draw, moved, difference = PLANS[name]
        noise = draw(np.random.default_rng([seed, n, 1]), n, count)
        gains = noise + np.where(noise == 0, 0.0, difference / moved)
        pilots = Pilots.from_differences(
            gains.mean(axis=0),
            gains.std(axis=0, ddof=1),
            np.full(count, n),
            (gains != 0).mean(axis=0),
            flips=True,
        )
        known = pilots.some(pilots.deviation > 0)
        size, level = len(known.share), np.full(len(known.share), ALPHA)
        powers: dict[int, float] = {}
        needed = known.needed(np.full(size, difference), level, 0.8)
        for queries in needed:
            if queries is not None and queries not in powers:
                powers[queries] = true_power(draw, moved, difference, queries)
        at_needed = np.array([powers[q] for q in needed if q is not None])
        least = known.detectable(np.full(size, n), level, 0.8)
        finite = least[np.isfinite(least)]
        # power is smooth in the difference: a grid is enough
        grid = np.quantile(finite, np.linspace(0, 1, 9)) if len(finite) else finite
        curve = [true_power(draw, moved, effect, n) for effect in grid]
        at_least = np.interp(finite, grid, curve) if len(finite) else finite
        median = int(np.median([q for q in needed if q is not None] or [0]))
        for values, extra in ((at_needed, f"{median}: "), (at_least, "")):
            none = 1 - len(values) / count
            mean = f"{values.mean():.2f}" if len(values) else "–"
            yield f"{extra}{mean} (none {none:.2f})"

    def rows() -> Iterator[list[str]]:
        for name in PLANS:
            yield [name, *(cell for n in sizes for cell in cells(name, n))]

    heads = [f"{what}, pilot {n}" for n in sizes for what in ("needed", "detectable")]
    _table(["median and true power", *heads], rows())


def main() -> None:
    """Run a table."""
    tables = {
        "power": (power, 2000, [10, 25, 50, 200]),
        "false": (false_claims, 4000, [10, 25, 50, 200]),
        "coverage": (coverage, 4000, [10, 25, 50, 200]),
        "planning": (planning, 200, [20, 50]),
        "family": (family, 1000, [10, 25, 50]),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=tables)
    parser.add_argument("--count", type=int, help="samples of each cell")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of queries")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    work, count, sizes = tables[chosen.table]
    work(chosen.count or count, chosen.sizes or sizes, chosen.seed)


if __name__ == "__main__":
    main()
