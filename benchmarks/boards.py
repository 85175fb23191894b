"""Boards under simulation: whether ranks, chances and predicted means hold, and how wide ranges are.

``python benchmarks/boards.py ranks`` draws boards of residuals that are alike or not (``worlds`` are few
blocks of all kinds); ``large`` asks who could be first among 226 systems; ``first`` compares the chance to be
the best with how often it is true; ``missing`` removes scores at random, by strength, and by the residual that
is then not seen; ``scales`` removes cells of real boards and of boards at a ceiling; ``battles`` draws votes
on equal items by workers who have tastes of their own.  Every line is a table row of docs/boards.md; ± is
one Monte-Carlo standard error.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import special, stats

from rankstone.boards import paired_board
from rankstone.boards.additive_fit import AdditiveFit
from rankstone.boards.cells import ScoringRule
from rankstone.boards.prediction_scale import SCALES, PredictionScale
from rankstone.stats.posterior_means import posterior_means
from rankstone.stats.rank_intervals import rank_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: true means of K items, in residual standard deviations
MEANS: dict[str, Any] = {
    "equal": np.zeros,
    "spread": lambda items: np.linspace(0, 6, items),
    "grouped": lambda items: np.repeat(np.arange(5) * 2.0, -(-items // 5))[:items],
    "unequal variances": lambda items: np.linspace(0, 6, items),
    "equal, unequal variances": np.zeros,
    "two families": np.zeros,
}
#: further worlds of residuals; means are equal unless said otherwise
WORLDS = (
    *("equal", "normal means", "grouped", "two families", "one factor"),
    *("families of ten", "one alien", "one wild", "block variances", "t3"),
    *("exponential", "missing by strength"),
)


def residuals(rng: np.random.Generator, world: str, n: int, items: int) -> Floats:
    """Return residuals float64 [datasets, items], mostly of variance 1; if unequal, log variances have sd 1."""
    found = rng.normal(size=(n, items))
    if "unequal" in world:
        found *= np.exp(rng.normal(size=items) * 0.5)
    elif world == "two families":
        shared = rng.normal(size=(n, 2))[:, np.arange(items) % 2]
        found = np.sqrt(0.2) * found + np.sqrt(0.8) * shared
    elif world == "families of ten":
        shared = rng.normal(size=(n, -(-items // 10)))[:, np.arange(items) // 10]
        found = np.sqrt(0.05) * found + np.sqrt(0.95) * shared
    elif world == "one factor":
        found = 0.1 * found + rng.normal(size=(n, 1)) * rng.normal(size=items)
    elif world == "one alien":  # all but one behave alike
        shared = rng.normal(size=(n, 1))
        found[:, 1:] = np.sqrt(0.05) * found[:, 1:] + np.sqrt(0.95) * shared
    elif world == "one wild":
        found[:, 0] *= 5
    elif world == "block variances":
        found *= np.sqrt(np.linspace(1, 9, n))[:, None]
    elif world == "t3":
        found = rng.standard_t(3, size=(n, items))
    elif world == "exponential":
        found = rng.exponential(size=(n, items)) - 1
    return found


def true_means(rng: np.random.Generator, world: str, items: int) -> Floats:
    """Return the true means of a world."""
    if world in ("normal means", "missing by strength"):
        return rng.normal(size=items)
    means: Floats = MEANS.get(world, np.zeros)(items)
    return means


def held(means: Floats, low: Any, high: Any) -> Any:  # noqa: ANN401 - arrays of whole numbers
    """Return whether the ranks of each system are inside its range."""
    best = 1 + (means > means[:, None]).sum(axis=1)
    worst = len(means) - (means < means[:, None]).sum(axis=1)
    return (low <= best) & (high >= worst)


def drawn_board(
    rng: np.random.Generator, world: str, n: int, items: int
) -> tuple[Floats, Floats]:
    """Return true means, and scores float64 [datasets, items]."""
    means = true_means(rng, world, items)
    values = means + rng.normal(size=(n, 1)) * 2 + residuals(rng, world, n, items)
    if world == "missing by strength":
        lost = rng.random((n, items)) < special.expit(-1.8 - 0.8 * means)
        lost[0, lost.all(axis=0)] = False
        lost[lost.all(axis=1), 0] = False
        values[lost] = np.nan
    return means, values


def one_block(task: tuple[str, int, int, int, int]) -> list[tuple[Any, ...]]:
    """Return, of each board: all ranks covered; median widths of ours and Tukey's; one rank covered."""
    world, items, n, boards, seed = task
    rng, found = np.random.default_rng(seed), []
    tukey = stats.studentized_range.ppf(0.95, items, (n - 1) * (items - 1))
    for _ in range(boards):
        means, values = drawn_board(rng, world, n, items)
        estimated = ScoringRule("macro", "model", np.ones(n)).estimated(values)
        ranks = rank_intervals(
            estimated.means, estimated.errors(int(rng.integers(1 << 30))), threads=1
        )
        gaps = estimated.means[:, None] - estimated.means
        better = gaps > tukey * np.sqrt(AdditiveFit.of(values).pooled / n)
        found.append(
            (
                float(held(means, ranks.low, ranks.high).all()),
                float(np.median(ranks.high - ranks.low + 1)),
                float(np.median(items - better.sum(axis=1) - better.sum(axis=0))),
                float(held(means, ranks.one_low, ranks.one_high).mean()),
                float(np.median(ranks.one_high - ranks.one_low + 1)),
            )
        )
    return found


def share_with_error(held: Floats) -> str:
    """Return a share, and its Monte-Carlo standard error."""
    share = held.mean()
    return f"{share:.3f} ± {np.sqrt(share * (1 - share) / len(held)):.3f}"


def ranks(
    pool: ProcessPoolExecutor, boards: int, sizes: list[str], worlds: list[str]
) -> None:
    """Print coverage and widths for every world and size."""
    print(
        "items × data sets | true means | all covered | median width | Tukey's | one covered | its width"
    )
    blocks = min(boards, 40)
    for size in sizes:
        items, n = map(int, size.split("x"))
        for world in worlds:
            tasks = [
                (world, items, n, -(-boards // blocks), 1000 * items + at)
                for at in range(blocks)
            ]
            rows = np.array(
                [row for block in pool.map(one_block, tasks) for row in block]
            )
            numbers = [share_with_error(rows[:, 0])]
            for at, digits in ((1, 1), (2, 1), (3, 3), (4, 1)):
                numbers.append(f"{rows[:, at].mean():.{digits}f}")
            print(" | ".join([size, world, *numbers]), flush=True)


def large_block(task: tuple[int, int]) -> list[tuple[Any, ...]]:
    """Return, of each large board: how many could be first, by paired t and Bonferroni, and both coverages."""
    boards, seed = task
    items, n = 226, 18
    rng, found = np.random.default_rng(seed), []
    limit = special.stdtrit(n - 1, 1 - 0.05 / items / (items - 1))
    for _ in range(boards):
        means = rng.normal(size=items) * 0.06
        values = means + 0.08 * residuals(rng, "families of ten", n, items)
        estimated = ScoringRule("macro", "error", np.ones(n)).estimated(values)
        errors = estimated.errors(int(rng.integers(1 << 30)))
        ranks = rank_intervals(estimated.means, errors, threads=1)
        gaps = estimated.means[:, None] - estimated.means
        paired = (gaps > limit * errors.paired).sum(axis=0)
        first = ranks.one_low == 1
        found.append(
            (
                first.sum(),
                (paired == 0).sum(),
                (ranks.low == 1).sum(),
                first[means.argmax()],
                held(means, ranks.low, ranks.high).all(),
            )
        )
    return found


def large(pool: ProcessPoolExecutor, boards: int) -> None:
    """Print who could be first among 226 systems of families of ten on 18 data sets."""
    blocks = min(boards, 20)
    tasks = [(-(-boards // blocks), at) for at in range(blocks)]
    rows = np.array([row for block in pool.map(large_block, tasks) for row in block])
    print("could be first | by Bonferroni | rank 1 possible | first held | ranks held")
    numbers = [f"{rows[:, at].mean():.1f}" for at in range(3)]
    numbers += [share_with_error(rows[:, at]) for at in (3, 4)]
    print(" | ".join(numbers))


#: chances to be first are compared in these bins
BINS = (0.3, 0.5, 0.7, 0.9, 1.0)


def first_block(task: tuple[int, float, int, int]) -> list[tuple[Any, ...]]:
    """Return, of each system of boards 12 x 10: its cells, its chance to be the best, whether it is.

    True means spread by 0.5, 1 or 2 residual standard deviations.
    """
    cells, spread, boards, seed = task
    rng, found, few = np.random.default_rng(seed), [], 4
    for _ in range(boards):
        means = rng.normal(size=12) * spread
        values = 0.5 + means + 0.1 * rng.normal(size=(10, 1))
        values = values + 0.06 * rng.normal(size=(10, 12))
        for system in range(few):
            values[rng.permutation(10)[cells:], system] = np.nan
        estimated = ScoringRule("macro", "model", np.ones(10)).estimated(values)
        covariance = estimated.model_errors().covariance
        seed = int(rng.integers(1 << 30))
        drawn = posterior_means(estimated.means, covariance, seed=seed)
        share = np.bincount(drawn.argmax(axis=1), minlength=12) / len(drawn)
        for system in range(12):
            own = cells if system < few else 10
            found.append((own, share[system], float(system == means.argmax())))
    return found


def first(pool: ProcessPoolExecutor, boards: int) -> None:
    """Print chances to be first as said, and how often they are true."""
    print("cells of four systems | cells | said / true (cases)")
    for cells in (1, 3, 10):
        tasks = [
            (cells, spread, -(-boards // 60), at)
            for spread in (0.03, 0.06, 0.12)
            for at in range(20)
        ]
        rows = np.array(
            [row for block in pool.map(first_block, tasks) for row in block]
        )
        for own in sorted({cells, 10}):
            line = [str(cells), str(own)]
            some = rows[rows[:, 0] == own]
            for low, high in itertools.pairwise(BINS):
                inside = (some[:, 1] >= low) & (some[:, 1] < high + (high == 1))
                said, true = some[inside, 1:].mean(axis=0) if inside.any() else (0, 0)
                line.append(f"{said:.3f} / {true:.3f} ({inside.sum()})")
            print(" | ".join(line), flush=True)


def missing_block(task: tuple[str, float, int, int, int, int]) -> list[tuple[Any, ...]]:
    """Return, of each table: squared errors of both rules, and how many intervals of the model hold."""
    why, between, items, n, tables, seed = task
    rng, found = np.random.default_rng(seed), []
    for _ in range(tables):
        strength, effect = rng.normal(size=items) * 0.8, rng.normal(size=n) * between
        noise = rng.normal(size=(n, items))
        reasons: dict[str, Any] = {
            "random": 0.0,
            "strength": strength,
            "residual": noise,
        }
        odds = np.zeros((n, items)) + reasons[why]
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
        spread = estimated.model_errors()
        wide = np.sqrt(spread.own + (spread.shared**2).sum(axis=1)) * special.stdtrit(
            spread.df, 0.975
        )
        inside = float((np.abs(errors["model"]) < wide).mean())
        found.append(
            (
                float((errors["skip"] ** 2).mean()),
                float((errors["model"] ** 2).mean()),
                inside,
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


def battles_block(task: tuple[str, int, int]) -> list[tuple[Any, ...]]:
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


def ceiling(rng: np.random.Generator) -> Floats:
    """Return scores of a bounded measure, float64 [10, 60]: good systems hardly lose on hard data sets."""
    gap = np.exp(rng.normal(size=(10, 1)) * 0.6 - 1.6 - rng.normal(size=60) * 1.2)
    gap = gap * np.exp(rng.normal(size=(10, 60)) * 0.15)
    scores: Floats = np.clip(1 - gap, 0.02, 1)
    return scores


def mteb(rng: np.random.Generator) -> Floats:
    """Return the scores of 60 models of MTEB(eng, v2) retrieval, float64 [10, 60]."""
    file = Path(os.environ["RANKSTONE_DATA"], "mteb-results/eng-v2-retrieval.board.csv")
    table = pl.read_csv(file).drop("model").drop_nulls().to_numpy().T
    chosen: Floats = table[:, rng.permutation(table.shape[1])[:60]]
    return chosen


def scales_block(task: tuple[str, int, int, int, int]) -> list[tuple[Any, ...]]:
    """Return, of five systems of a third: errors of skip and of the model, inside, "–", range, the scale."""
    world, third, cells, boards, seed = task
    rng, found = np.random.default_rng([seed, third, cells]), []
    for _ in range(boards):
        values = {"mteb": mteb, "ceiling": ceiling}[world](rng)
        right = values.mean(axis=0)
        group = np.argsort(-right)[20 * third : 20 * (third + 1)]
        chosen = rng.permutation(group)[:5]
        table = values.copy()
        for system in chosen:
            table[rng.permutation(10)[cells:], system] = np.nan
        scale = PredictionScale.chosen(table, (0.0, 1.0))
        rule = ScoringRule("macro", "model", np.ones(10), scale=scale)
        estimated = rule.estimated(table)
        errors = estimated.model_errors()
        spread = np.sqrt(errors.own + (errors.shared**2).sum(axis=1))
        wide = spread * special.stdtrit(errors.df, 0.975)
        for system in chosen:
            miss = estimated.means[system] - right[system]
            skip = np.nanmean(table[:, system]) - right[system]
            inside = abs(miss) < (wide[system] if len(wide) > 1 else wide)
            shown = estimated.supported[system]
            beyond = not 0 <= estimated.means[system] <= 1
            found.append(
                (skip, miss, inside, not shown, beyond, SCALES.index(scale.name), seed)
            )
    return found


def scales(pool: ProcessPoolExecutor, boards: int) -> None:
    """Print the errors of predicted means by world, third of the systems and cells that are there."""
    print(
        "world | third | cells | rmse of skip | of model | standard errors | covered | – | beyond | scales"
    )
    for world in ("mteb", "ceiling"):
        for third, name in enumerate(("top", "middle", "bottom")):
            for cells in (1, 2, 3, 5, 8):
                tasks = [
                    (world, third, cells, -(-boards // 20), at) for at in range(20)
                ]
                rows = np.array(
                    [row for block in pool.map(scales_block, tasks) for row in block]
                )
                skip, model = np.sqrt((rows[:, :2] ** 2).mean(axis=0))
                # how far 1.10 times skip's mean square is from the model's, by boards of five
                over = rows[:, 1] ** 2 - 1.21 * rows[:, 0] ** 2
                over = over.reshape(-1, 5).mean(axis=1)
                sure = over.mean() / (over.std() / np.sqrt(len(over)))
                counts = np.bincount(rows[:, 5].astype(int), minlength=4) // 5
                line = [world, name, str(cells), f"{skip:.4f}", f"{model:.4f}"]
                line += [f"{sure:+.1f}", share_with_error(rows[:, 2])]
                line += [f"{rows[:, 3].mean():.2f}", f"{rows[:, 4].mean():.2f}"]
                print(" | ".join([*line, "/".join(map(str, counts))]), flush=True)


def main() -> None:
    """Run one of the simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = {"large": large, "first": first, "missing": missing}
    known |= {"scales": scales, "battles": battles}
    parser.add_argument("what", choices=["ranks", "worlds", *known])
    parser.add_argument(
        "--boards", type=int, default=1000, help="boards, or tables, for each line"
    )
    parser.add_argument("--sizes", help="items x data sets, joined by commas")
    parser.add_argument("--worlds", nargs="+", help="true means, and residuals")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(sys.argv[1:])
    sizes, worlds = "20x10,100x10,294x10", [*MEANS]
    if given.what == "worlds":
        sizes, worlds = "20x4,20x6,20x8,20x10", [*WORLDS]
    with ProcessPoolExecutor(given.processes) as pool:
        if given.what in ("ranks", "worlds"):
            sizes = given.sizes or sizes
            ranks(pool, given.boards, sizes.split(","), given.worlds or worlds)
        else:
            known[given.what](pool, given.boards)


if __name__ == "__main__":
    main()
