"""Curves derived the slow way: exact fractions, one rank at a time."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Point = tuple[Fraction, Fraction]


def recall_precision(hits: Sequence[bool], total: int) -> list[Point]:
    """Return (recall, precision) at every rank of a list."""
    points, count = [], 0
    for rank, hit in enumerate(hits, start=1):
        count += hit
        points.append((Fraction(count, total), Fraction(count, rank)))
    return points


def interpolated(hits: Sequence[bool], total: int, level: str, interp: str) -> Fraction:
    """Return precision at a level of recall, which is written as a decimal or a quotient.

    trec_eval turns a level into a number of documents first, in floating point.
    """
    points = recall_precision(hits, total)
    if interp == "none":
        return next((p for r, p in points if r >= Fraction(level)), Fraction(0))
    wanted: Callable[[Fraction], bool] = lambda recall: recall >= Fraction(level)  # noqa: E731
    if interp != "exact":
        share = float(Fraction(level)) * total
        count = int(share + 0.9) if interp == "trec9" else int(share + 0.5)
        wanted = lambda recall: recall * total >= count  # noqa: E731
    return max((p for r, p in points if wanted(r)), default=Fraction(0))


def step_area(points: Sequence[Point]) -> Fraction:
    """Return the area under steps: every gain in recall at the precision where it is made."""
    area, before = Fraction(0), Fraction(0)
    for recall, precision in points:
        area += (recall - before) * precision
        before = recall
    return area


def roc(blocks: Sequence[tuple[int, int]], below: tuple[int, int]) -> list[Point]:
    """Return the corners of an ROC curve.

    Parameters
    ----------
    blocks
        Relevant documents and negatives of each tie block, best score first.
    below
        Those that were not returned; they tie.
    """
    positives = sum(p for p, _ in blocks) + below[0]
    negatives = sum(n for _, n in blocks) + below[1]
    true, false, points = 0, 0, [(Fraction(0), Fraction(0))]
    for more_true, more_false in [*blocks, below]:
        true, false = true + more_true, false + more_false
        points.append((Fraction(false, negatives), Fraction(true, positives)))
    return points


def height(points: Sequence[Point], x: Fraction) -> Fraction:
    """Return the height of a rising curve at x, its upper end where it rises straight up."""
    best = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            best = max(best, y1 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return best


def trapezoids(points: Sequence[Point]) -> Fraction:
    """Return the area under straight pieces."""
    pairs = pairwise(points)
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairs), Fraction(0))
