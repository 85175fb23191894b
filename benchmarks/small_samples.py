"""How often the default intervals and the gate are wrong where queries are few, alike, or in clusters.

Run ``python benchmarks/small_samples.py [means gate power unchanged clusters]``.  It draws queries from the
matrices in the folder ``trec-score-matrices`` of ``RANKSTONE_DATA`` (Urbano, Lima and Hanjalic 2019) and from
worlds made up to be hard, and prints tables in Markdown.  What is drawn from is the truth, so every miss is
counted.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankstone.stats import Units, difference_estimate, estimates, mean_estimates
from rankstone.stats.bounded_means import difference_p, share_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

DATA = (
    Path(os.environ.get("RANKSTONE_DATA", Path(__file__).parents[2] / "shared/data"))
    / "trec-score-matrices"
)
MEASURES = {"ap": "AP", "rr": "RR", "ndcg20": "nDCG@20"}
#: one-sided, of a 95 % interval
ALPHA = 0.025
#: samples whose bootstrap is drawn beside, for the width
BESIDE = 40
#: sums are rounded
ROUNDING = 1e-12
#: a difference that Student's t finds in 8 of 10 samples, in standard errors
EIGHTY = 2.85


def matrices() -> dict[str, list[Floats]]:
    """Return the scores of every task by measure, queries by systems; Success from RR."""
    found: dict[str, list[Floats]] = {}
    for path in sorted(DATA.glob("*.csv")):
        measure = MEASURES.get(path.stem.split("_")[1])
        if measure is not None:
            found.setdefault(measure, []).append(
                np.genfromtxt(path, delimiter=",", skip_header=1)
            )
    if not found:
        sys.exit(f"no score matrices in {DATA}: set RANKSTONE_DATA")
    success = {
        f"Success@{k}": [(rr >= 1 / k).astype(float) for rr in found["RR"]]
        for k in (1, 5)
    }
    return {**success, **found}


def means(count: int, every: int) -> None:
    """Print the coverage of printed intervals of means, over every system, and their width."""
    draw = np.random.default_rng(5)
    print(
        f"| mean, {count:,} samples a system | n | systems | coverage | lowest | width / studentised | null |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for measure, tables in matrices().items():
        for n in (10, 25, 50, 200):
            held, own, beside, null = [], [], [], 0
            for scores in (column for table in tables for column in table.T[::every]):
                sample = scores[draw.integers(0, len(scores), (n, count))]
                low, high = share_limits(sample, ALPHA)
                null += int(
                    (~np.isfinite(low + high)).sum()
                    + (low < 0).sum()
                    + (high > 1).sum()
                )
                held.append(
                    (
                        (low <= scores.mean() + ROUNDING)
                        & (scores.mean() - ROUNDING <= high)
                    ).mean()
                )
                found = estimates(
                    Units.from_scores(sample[:, :BESIDE]),
                    "studentised",
                    resamples=1000,
                    threads=1,
                )
                ends = np.clip([one.interval() for one in found], 0, 1)
                defined = np.isfinite(ends).all(axis=1) & (ends[:, 0] < ends[:, 1])
                own += (high - low)[:BESIDE][defined].tolist()
                beside += (ends[:, 1] - ends[:, 0])[defined].tolist()
            print(
                f"| {measure} | {n} | {len(held)} | {np.mean(held):.4f} | {min(held):.4f} | "
                f"{np.mean(own) / np.mean(beside):.3f} | {null} |",
                flush=True,
            )


def _real(
    tables: list[Floats],
    n: int,
    count: int,
    touched: float,
    losses: float | None,
    draw: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return differences of random pairs, of which a share is touched, and their true means.

    ``losses`` is the share of touched queries that lose, ``None`` leaves signs as they are.
    """
    columns, true = [], []
    while len(columns) < count:
        table = tables[draw.integers(len(tables))]
        one, other = draw.choice(table.shape[1], 2, replace=False)
        values = table[:, one] - table[:, other]
        if not np.ptp(values):
            continue
        drawn = values[draw.integers(0, len(values), (n, 40))] * (
            draw.random((n, 40)) < touched
        )
        mean = touched * values.mean()
        if losses is not None:
            drawn = np.where(draw.random(drawn.shape) < losses, -1, 1) * np.abs(drawn)
            mean = touched * (1 - 2 * losses) * np.abs(values).mean()
        columns.append(drawn)
        true += [mean] * 40
    return np.concatenate(columns, axis=1)[:, :count], np.array(true)[:count]


def worlds(
    n: int, count: int, draw: np.random.Generator
) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield hard worlds: a name, differences ``[n, count]`` and the true mean of each column."""
    tables, chance = matrices(), draw.random((n, count))
    for share in (0.02, 0.05, 0.1):
        yield (
            f"losses only, 0 and 1, drop {share}",
            -1.0 * (chance < share),
            np.full(count, -share),
        )
    for loss, win in ((0.06, 0.04), (0.15, 0.05), (0.05, 0.05)):
        flips = (chance < loss) * -1.0 + ((chance >= loss) & (chance < loss + win))
        yield f"flips, {loss} lose and {win} win", flips, np.full(count, win - loss)
    for measure in ("AP", "nDCG@20", "RR"):
        for touched in (0.05, 0.1, 0.3, 1.0):
            for losses, name in (
                (1.0, "losses only"),
                (0.8, "4 of 5 lose"),
                (None, "as observed"),
            ):
                if losses is not None or touched == 1:
                    some = _real(tables[measure], n, count, touched, losses, draw)
                    yield f"{measure}, {touched:.0%} touched, {name}", *some
    for sd in (0.05, 0.2):
        yield (
            f"normal, sd {sd}",
            draw.normal(-0.02, sd, (n, count)),
            np.full(count, -0.02),
        )
    for share, loss in ((0.02, 1.0), (0.05, 0.4)):
        mixed = np.where(chance < share, -loss, draw.normal(0, 0.01, (n, count)))
        yield (
            f"mixed: ± 0.01, {share:.0%} lose {loss:g}",
            mixed,
            np.full(count, -share * loss),
        )


def gate(count: int) -> None:
    """Print how often a candidate that is worse by the margin passes."""
    sizes = (10, 20, 50, 100, 200, 400)
    print(
        f"\n| false pass, {count:,} samples: this gate (Student's t) | "
        + " | ".join(map(str, sizes))
        + " |"
    )
    print("|---|" + "---:|" * len(sizes))
    rows: dict[str, list[str]] = {}
    for n in sizes:
        for name, sample, true in worlds(n, count, np.random.default_rng(n)):
            passed = [p < ALPHA for p in _levels(sample, true)]
            rows.setdefault(name, []).append(
                f"{passed[0].mean():.4f} ({passed[1].mean():.3f})"
            )
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _levels(sample: Floats, limit: Floats) -> tuple[Floats, Floats]:
    """Return the one-sided levels at which the gate and Student's t let samples pass."""
    from scipy import special

    n = len(sample)
    own = difference_p(sample - 0.0, np.ones(n), 1.0, limit)
    error = sample.std(axis=0, ddof=1) / np.sqrt(n)
    away = sample.mean(axis=0) - limit
    t = np.divide(
        away, error, out=np.where(away >= -ROUNDING, np.inf, -np.inf), where=error > 0
    )
    return own, special.stdtr(n - 1, -t)


def power(count: int) -> None:
    """Print how often unchanged and better candidates pass, and worse ones fail, beside Student's t."""
    print(
        "\n| share decided where t decides 80 %: this gate (Student's t) | n | passes | fails |"
    )
    print("|---|---:|---:|---:|")
    tables = matrices()
    for n in (50, 200):
        draw = np.random.default_rng(n)
        for sd in (0.05, 0.1, 0.2):
            _decided(
                f"all touched, normal, sd {sd}",
                n,
                draw.normal(0, sd, (n, count)),
                np.zeros(count),
                sd,
            )
        some = draw.normal(0, 0.1, (n, count)) * (draw.random((n, count)) < 0.3)  # noqa: PLR2004 - the share
        _decided(
            "30 % touched, normal, sd 0.1", n, some, np.zeros(count), 0.1 * np.sqrt(0.3)
        )
        flips = np.digitize(draw.random((n, count)), [0.05, 0.95]) - 1.0
        _decided("5 % flips each way", n, flips, np.zeros(count), np.sqrt(0.1))
        for measure in ("AP", "nDCG@20", "RR"):
            sample, true = _real(tables[measure], n, count, 1.0, None, draw)
            _decided(
                f"{measure}, pairs of systems", n, sample, true, sample.std(axis=0)
            )


def _decided(
    name: str, n: int, sample: Floats, true: Floats, sd: Floats | float
) -> None:
    far = EIGHTY * sd / np.sqrt(n)
    cells = []
    for sign in (1, -1):
        found = _levels(sign * sample, sign * true - far)
        cells.append(
            f"{(found[0] < ALPHA).mean():.3f} ({(found[1] < ALPHA).mean():.3f})"
        )
    print(f"| {name} | {n} | " + " | ".join(cells) + " |", flush=True)


def unchanged(count: int) -> None:
    """Print how often a candidate of unchanged quality passes, by margin and number of queries."""
    sizes = (25, 50, 200, 1000)
    print(
        "\n| passes although nothing is lost or gained | margin | "
        + " | ".join(map(str, sizes))
        + " queries |"
    )
    print("|---|---:|" + "---:|" * len(sizes))
    changes = {
        "every query changes, sd 0.05": (1.0, 0.05),
        "every query changes, sd 0.1": (1.0, 0.1),
        "every query changes, sd 0.2": (1.0, 0.2),
        "30 % change, sd 0.2": (0.3, 0.2),
        "10 % change, sd 0.2": (0.1, 0.2),
        "no score changes": (0.0, 0.0),
        "0 and 1, 2 % win and 2 % lose": (0.04, None),
    }
    for name, (share, sd) in changes.items():
        for margin in (0.01, 0.02, 0.05):
            cells = []
            for n in sizes:
                draw = np.random.default_rng(n)
                touched = draw.random((n, count)) < share
                moved = (
                    np.sign(draw.standard_normal((n, count)))
                    if sd is None
                    else draw.normal(0, sd, (n, count))
                )
                level = difference_p(moved * touched, np.ones(n), 1.0, -margin)
                cells.append(f"{(level < ALPHA).mean():.2f}")
            print(f"| {name} | {margin} | " + " | ".join(cells) + " |", flush=True)


def clusters(count: int) -> None:
    """Print the coverage of intervals over clusters: of differences, of means of 0 and 1, of graded means."""
    print(
        f"\n| coverage, {count:,} samples, intra-cluster correlation .3 | 5 | 10 | 20 | 40 clusters |"
    )
    print("|---|---:|---:|---:|---:|")
    names = (
        "differences",
        "sparse differences",
        "0 and 1, mean .7",
        "0 and 1, mean .95",
        "graded, mean .5",
    )
    for equal in (False, True):
        held = {name: [] for name in names}
        for groups in (5, 10, 20, 40):
            draw = np.random.default_rng(groups)
            inside = np.zeros(len(names))
            for _ in range(count):
                inside += _one_sample(groups, equal=equal, draw=draw)
            for name, share in zip(names, inside / count, strict=True):
                held[name].append(f"{share:.3f}")
        for name, cells in held.items():
            print(
                f"| {name}, {'equal' if equal else 'lognormal'} sizes | "
                + " | ".join(cells)
                + " |",
                flush=True,
            )


def _one_sample(groups: int, *, equal: bool, draw: np.random.Generator) -> Floats:
    """Return which of the intervals of one sample hold the truth."""
    sizes = (
        np.full(groups, 8)
        if equal
        else np.clip(np.rint(draw.lognormal(1.5, 1, groups)), 1, 60).astype(int)
    )
    cluster, n, icc = np.repeat(np.arange(groups), sizes), int(sizes.sum()), 0.3
    shared, alone = draw.standard_normal(groups)[cluster], draw.standard_normal(n)
    sparse = draw.beta(0.1 * 7 / 3, 0.9 * 7 / 3, groups)[cluster] > draw.random(n)
    graded = np.clip(
        0.5
        + 0.15
        * (np.sqrt(icc) * shared + np.sqrt(1 - icc) * draw.uniform(-1.7, 1.7, n)),
        0,
        1,
    )
    of_differences = (
        (0.2 * (np.sqrt(icc) * shared + np.sqrt(1 - icc) * alone), 0.0),
        (-0.3 * sparse, -0.03),
    )
    found = []
    for values, true in of_differences:
        units = Units.from_scores(values[:, None], cluster=cluster)
        low, high = difference_estimate(units, (0.0, 1.0)).interval()
        found.append(low <= true <= high)
    chances = [
        draw.beta(p * 7 / 3, (1 - p) * 7 / 3, groups)[cluster] for p in (0.7, 0.95)
    ]
    of_means = [
        ((one > draw.random(n)) * 1.0, p)
        for one, p in zip(chances, (0.7, 0.95), strict=True)
    ]
    for values, true in (*of_means, (graded, 0.5)):
        units = Units.from_scores(values[:, None], cluster=cluster)
        low, high = mean_estimates(units, [(0.0, 1.0)])[0].interval()
        found.append(low <= true <= high)
    return np.array(found, float)


def main(arguments: Iterable[str] | None = None) -> None:
    """Run what is named."""
    names = ("means", "gate", "power", "unchanged", "clusters")
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("parts", nargs="*", choices=[*names, []], help="[all]")
    parser.add_argument(
        "--count", type=int, default=4000, help="samples of each kind [4000]"
    )
    parser.add_argument(
        "--every", type=int, default=1, help="means: every so-many-th system [1]"
    )
    given = parser.parse_args(list(arguments) if arguments is not None else None)
    for name in given.parts or names:
        if name == "means":
            means(given.count, given.every)
        else:
            {
                "gate": gate,
                "power": power,
                "unchanged": unchanged,
                "clusters": clusters,
            }[name](given.count)


if __name__ == "__main__":
    main()
