"""Boards under simulation: whether intervals of ranks and predicted means hold, and how wide they are.

``python benchmarks/boards.py ranks`` draws boards of normal residuals whose true means are equal, spread
evenly, in five groups, or spread with residual variances that differ; ``missing`` removes scores at random,
by strength, and by the residual that is then not seen; ``battles`` draws votes on equal items by workers who
have tastes of their own.  Every line is a table row of docs/boards.md.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import special, stats

from rankstone.boards import paired_board
from rankstone.boards.cells import AdditiveFit, ScoringRule
from rankstone.stats.rank_intervals import rank_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: true means of K items, in residual standard deviations
MEANS = {
    "equal": np.zeros,
    "spread": lambda items: np.linspace(0, 6, items),
    "grouped": lambda items: np.repeat(np.arange(5) * 2.0, -(-items // 5))[:items],
    "unequal variances": lambda items: np.linspace(0, 6, items),
    "equal, unequal variances": np.zeros,
    "two families": np.zeros,
}


def residuals(rng: np.random.Generator, world: str, n: int, items: int) -> Floats:
    """Return residuals float64 [datasets, items] of variance 1; where unequal, log variances have sd 1."""
    found = rng.normal(size=(n, items))
    if "unequal" in world:
        found *= np.exp(rng.normal(size=items) * 0.5)
    if world == "two families":
        found = (
            0.5 * found
            + np.sqrt(0.75) * rng.normal(size=(n, 2))[:, np.arange(items) % 2]
        )
    return found


def one_block(task: tuple[str, int, int, int, int]) -> list[tuple[float, ...]]:
    """Return, of each board: all ranks covered; median widths of ours and Tukey's; one rank covered."""
    world, items, n, boards, seed = task
    rng, found = np.random.default_rng(seed), []
    tukey = stats.studentized_range.ppf(0.95, items, (n - 1) * (items - 1))
    for _ in range(boards):
        means = MEANS[world](items)
        values = means + rng.normal(size=(n, 1)) * 2 + residuals(rng, world, n, items)
        estimated = ScoringRule("macro", "error", np.ones(n)).estimated(values)
        ranks = rank_intervals(
            estimated.means, estimated.errors(int(rng.integers(1 << 30))), threads=1
        )
        best, worst = (
            1 + (means > means[:, None]).sum(axis=1),
            items - (means < means[:, None]).sum(axis=1),
        )
        gaps = estimated.means[:, None] - estimated.means
        better = gaps > tukey * np.sqrt(AdditiveFit.of(values).pooled / n)
        found.append(
            (
                float(((ranks.low <= best) & (ranks.high >= worst)).all()),
                float(np.median(ranks.high - ranks.low + 1)),
                float(np.median(items - better.sum(axis=1) - better.sum(axis=0))),
                float(((ranks.one_low <= best) & (ranks.one_high >= worst)).mean()),
                float(np.median(ranks.one_high - ranks.one_low + 1)),
            )
        )
    return found


def ranks(
    pool: ProcessPoolExecutor, boards: int, sizes: list[str], worlds: list[str]
) -> None:
    """Print coverage and widths for every world and size."""
    print(
        "items × data sets | true means | all covered | median width | Tukey's | one covered | its width"
    )
    for size in sizes:
        items, n = map(int, size.split("x"))
        for world in worlds:
            tasks = [
                (world, items, n, -(-boards // 40), 1000 * items + at)
                for at in range(40)
            ]
            rows = np.array(
                [row for block in pool.map(one_block, tasks) for row in block]
            )
            numbers = [
                f"{rows[:, at].mean():.{3 if at in (0, 3) else 1}f}"
                for at in range(rows.shape[1])
            ]
            print(" | ".join([size, world, *numbers]), flush=True)


def missing_block(
    task: tuple[str, float, int, int, int, int],
) -> list[tuple[float, float, float]]:
    """Return, of each table: squared errors of both rules, and how many intervals of the model hold."""
    why, between, items, n, tables, seed = task
    rng, found = np.random.default_rng(seed), []
    for _ in range(tables):
        strength, effect = rng.normal(size=items) * 0.8, rng.normal(size=n) * between
        noise = rng.normal(size=(n, items))
        odds = {"random": 0.0, "strength": strength, "residual": noise}[why] + np.zeros(
            (n, items)
        )
        lost = rng.random((n, items)) < special.expit(-1.8 - odds)
        lost[0, lost.all(axis=0)] = False
        values, right = (
            np.where(lost, np.nan, strength + effect[:, None] + noise),
            strength + effect.mean(),
        )
        errors = {}
        for rule in ("skip", "model"):
            estimated = ScoringRule("macro", rule, np.ones(n)).estimated(values)
            errors[rule] = estimated.means - right
        spread = estimated.errors()
        wide = np.sqrt(spread.own + (spread.shared**2).sum(axis=1)) * special.stdtrit(
            spread.df, 0.975
        )
        held = float((np.abs(errors["model"]) < wide).mean())
        found.append(
            (
                float((errors["skip"] ** 2).mean()),
                float((errors["model"] ** 2).mean()),
                held,
            )
        )
    return found


def missing(pool: ProcessPoolExecutor, tables: int) -> None:
    """Print errors of means where scores are missing."""
    print(
        "systems × data sets | missing by | data sets' sd | error of skip | of model | ratio | covered"
    )
    for items in (20, 100):
        for why in ("random", "strength", "residual"):
            for between in (0.0, 0.1, 0.4, 1.0):
                tasks = [
                    (why, between, items, 10, -(-tables // 20), 100 + at)
                    for at in range(20)
                ]
                rows = np.array(
                    [row for block in pool.map(missing_block, tasks) for row in block]
                )
                skip, model = np.sqrt(rows[:, :2].mean(axis=0))
                line = [
                    f"{items}x10",
                    why,
                    f"{between:g}",
                    f"{skip:.4f}",
                    f"{model:.4f}",
                ]
                print(
                    " | ".join(
                        [*line, f"{model / skip:.3f}", f"{rows[:, 2].mean():.3f}"]
                    ),
                    flush=True,
                )


#: worlds of battles: items, workers, and the deviation of the logarithms of their shares of the votes
BATTLES = {
    "equal, 40 workers": (8, 40, 0.0),
    "equal, 10 workers": (8, 10, 0.0),
    "equal, 5 workers": (8, 5, 0.0),
    "lognormal, 40 workers": (8, 40, 1.0),
    "lognormal, 10 workers": (8, 10, 1.0),
    "lognormal, 5 workers": (8, 5, 1.0),
    "lognormal, 30 workers, 20 items": (20, 30, 1.0),
    "lognormal, 10 workers of one taste": (8, 10, 1.0),
    "lognormal, 10 workers without taste": (8, 10, 1.0),
    "10 workers of one mind, item 1 stronger": (8, 10, 0.0),
    "every battle a tie, 10 workers": (8, 10, 0.0),
}
VOTES, TASTE = 4000, 0.7


def votes(rng: np.random.Generator, world: str) -> pl.DataFrame:
    """Return battles of items that are equal to all workers together, but not to each."""
    items, workers, unequal = BATTLES[world]
    share = np.exp(unequal * rng.normal(size=workers))
    worker = rng.choice(workers, VOTES, p=share / share.sum())
    left = rng.integers(0, items, VOTES)
    right = (left + rng.integers(1, items, VOTES)) % items
    taste = rng.normal(size=(workers, items)) * TASTE
    if world.endswith("of one taste"):  # for length, say
        taste = taste[:, :1] * np.linspace(-1.5, 1.5, items)
    elif world.endswith("without taste"):
        taste[:] = 0.0
    left_wins = rng.random(VOTES) < special.expit(
        taste[worker, left] - taste[worker, right]
    )
    word = np.where(left_wins, "left", "right")
    if "tie" in world:
        word[:] = "tie"
    if (
        "one mind" in world
    ):  # all give the votes of the first, for whom an item is stronger
        each = VOTES // workers
        odds = 2.0 * ((left[:each] == 0) * 1.0 - (right[:each] == 0))
        own = np.where(rng.random(each) < special.expit(odds), "left", "right")
        left, right, word = (
            np.tile(column, workers) for column in (left[:each], right[:each], own)
        )
        worker = np.repeat(np.arange(workers), each)
    names = np.array([f"i{at:02}" for at in range(items)])
    columns = {"left": names[left], "right": names[right], "winner": word}
    return pl.DataFrame(columns | {"worker": worker})


def battles_block(task: tuple[str, int, int]) -> list[tuple[float, ...]]:
    """Return of each board: nothing claimed; own intervals that hold; their width, the chance of the first."""
    world, boards, seed = task
    rng, rows = np.random.default_rng([seed, *BATTLES[world][:2]]), []
    for _ in range(boards):
        board = paired_board(
            votes(rng, world),
            model="bradley_terry",
            cluster="worker",
            seed=int(rng.integers(1 << 30)),
        )
        low, high = (board.table[f"rating_{end}"].to_numpy() for end in ("low", "high"))
        rows.append(
            (
                float(not board.intervals.better.any()),
                float(((low <= 1000) & (high >= 1000)).mean()),  # noqa: PLR2004 - the mean
                float(np.median(high - low)),
                float(board.first.max()),
            )
        )
    return rows


def battles(pool: ProcessPoolExecutor, boards: int) -> None:
    """Print how often nothing is claimed of equal items, with Monte-Carlo errors."""
    print(
        "world | nothing claimed | own intervals hold | their median width | largest chance to be first"
    )
    for world in BATTLES:
        tasks = [(world, -(-boards // 10), at) for at in range(10)]
        rows = np.array(
            [row for block in pool.map(battles_block, tasks) for row in block]
        )
        silent, own, width, first = rows.mean(axis=0)
        error = np.sqrt(silent * (1 - silent) / len(rows))
        line = [world, f"{silent:.3f} ± {error:.3f}", f"{own:.3f}"]
        print(" | ".join([*line, f"{width:.0f}", f"{first:.2f}"]), flush=True)


def main() -> None:
    """Run one of the simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ranks", "missing", "battles"])
    parser.add_argument(
        "--boards", type=int, default=1000, help="boards, or tables, for each line"
    )
    parser.add_argument(
        "--sizes", default="20x10,100x10,294x10", help="items x data sets"
    )
    parser.add_argument(
        "--worlds",
        nargs="+",
        default=[*MEANS],
        help="of ranks: true means and variances",
    )
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(sys.argv[1:])
    with ProcessPoolExecutor(given.processes) as pool:
        if given.what == "ranks":
            ranks(pool, given.boards, given.sizes.split(","), given.worlds)
        elif given.what == "battles":
            battles(pool, given.boards)
        else:
            missing(pool, given.boards)


if __name__ == "__main__":
    main()
