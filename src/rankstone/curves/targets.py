"""The cutoff at which a mean reaches a target: k*(τ) = min {k : M@k ≥ τ}."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from rankstone.curves.resampling import Resampling
    from rankstone.hits.arrays import Floats, Ints

__all__ = ["first_reaching", "interval", "named_cutoff", "reaching"]

#: a target counts as reached when only rounding is missing; resampled means keep eleven digits
_NEARLY: Final = 1e-12
_NEARLY_RESAMPLED: Final = 1e-9


def reaching(heights: Floats, target: float) -> Ints:
    """Return the places on the grid at or above a target.

    >>> reaching(np.array([1 / 3, 1 / 2, 11 / 18]), 0.5).tolist()
    [1, 2]
    """
    return np.flatnonzero(heights >= target - _NEARLY)


def first_reaching(resampled: Floats, target: float) -> Ints:
    """Return the first place at which each resampled curve reaches a target, int64 ``[resamples]``.

    The place behind the grid stands for never.
    """
    reached = resampled >= target - _NEARLY_RESAMPLED
    first: Ints = np.where(reached.any(axis=1), reached.argmax(axis=1), resampled.shape[1])
    return first


def named_cutoff(cutoffs: tuple[int, ...], place: int) -> int | None:
    """Return the cutoff at a place, ``None`` behind the grid."""
    return cutoffs[place] if place < len(cutoffs) else None


def interval(places: Ints, cutoffs: tuple[int, ...], how: Resampling) -> tuple[int | None, int | None]:
    """Return the ends of the interval of the cutoff; ends are cutoffs, never between two."""
    low, high = np.quantile(places, how.ends, method="inverted_cdf").astype(int)
    return named_cutoff(cutoffs, int(low)), named_cutoff(cutoffs, int(high))
