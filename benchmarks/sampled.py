"""How often bounds from sampled candidates hold, where ranks among all items follow Zipf's law.

``python benchmarks/sampled.py`` simulates users whose relevant items stand at rank r with a chance in
proportion to r^-a and ranks them among 99 sampled others.  It prints in Markdown how often the value among
all items lies within the bounds, how often within Student's interval of the estimates, and both on average.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import rankstone
from rankstone.measures import Measure, parse_measure
from rankstone.rankings.recommendation.sampled_ranks import worth
from rankstone.stats import Units, estimates

if TYPE_CHECKING:
    from collections.abc import Iterable

MEASURES = ("R@10", "nDCG@10", "RR")
SAMPLED = 99


def simulated(
    items: int, exponent: float, users: int, each: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return relevant items' true ranks, and how many sampled others stand above each.

    A user's items stand at one rank, as dependent as items can be.
    """
    chance = np.arange(1, items + 1) ** -exponent
    rank = draw.choice(items, users, p=chance / chance.sum()) + 1
    rank = np.repeat(rank, each)
    return rank, draw.hypergeometric(rank - 1, items - rank, SAMPLED)


def coverage(count: int, users: int) -> None:
    """Print a row for each world and measure."""
    print(
        "| items | a | items a user | measure | true | bounds | held | interval | held |"
    )
    print("|---:|---:|---:|---|---:|---|---:|---|---:|")
    for items in (500, 5_000, 50_000):
        for exponent, each in ((0.6, 1), (1.0, 1), (1.4, 1), (1.0, 3)):
            _world(items, exponent, each, count, users)


def _world(items: int, exponent: float, each: int, count: int, users: int) -> None:
    draw = np.random.default_rng([items, round(10 * exponent), each])
    weight = np.arange(1, items + 1) ** -exponent
    weight /= weight.sum()
    kinds = {
        text: kind
        for text in MEASURES
        if isinstance(kind := parse_measure(text), Measure)
    }
    true = {
        text: float(weight @ worth(kind, np.arange(1, items + 1), items))
        for text, kind in kinds.items()
    }
    found: dict[str, list[tuple[float, ...]]] = {text: [] for text in MEASURES}
    who = np.repeat(np.arange(users), each)
    for _ in range(count):
        _, above = simulated(items, exponent, users, each, draw)
        fixed = rankstone.rankings.correct_sampled(
            above + 1,
            list(MEASURES),
            items=items,
            sampled=SAMPLED,
            replacement=False,
            users=who,
        )
        for text, lower, upper in fixed.values.select(
            "measure", "lower", "upper"
        ).rows():
            student = estimates(
                Units.from_scores(fixed.per_user(text)[:, None], cluster=who)
            )[0].interval(0.95)
            found[text].append((lower, upper, *student))
    for text, rows in found.items():
        low, high, under, over = np.array(rows, float).T
        held, inside = (
            (a <= true[text]) & (true[text] <= b)
            for a, b in ((low, high), (under, over))
        )
        print(
            f"| {items:,} | {exponent:g} | {each} | {text} | {true[text]:.3f} "
            f"| {low.mean():.3f} – {high.mean():.3f} | {held.mean():.3f} "
            f"| {under.mean():.3f} – {over.mean():.3f} | {inside.mean():.3f} |",
            flush=True,
        )


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the simulations."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--count", type=int, default=20, help="simulations of each world [20]"
    )
    parser.add_argument("--users", type=int, default=1000, help="users in each [1000]")
    given = parser.parse_args(list(arguments) if arguments is not None else None)
    coverage(given.count, given.users)


if __name__ == "__main__":
    main()
