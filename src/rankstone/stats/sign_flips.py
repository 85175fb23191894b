"""The paired randomisation test: how often chance alone makes so large a gap.

Fisher's test (The Design of Experiments, 1935): if both systems are alike, the sign of each query's
difference is a coin's.  Few queries: every way the coins can fall.  Many: a sample of them, the observed way
among them, so that no p is 0 (Phipson and Smyth 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.stats.drawing import Whole, in_blocks, raw, tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["EXACT_UP_TO", "SignFlips", "sign_flips"]

#: up to so many differences other than 0, all ways their signs can fall are looked at
EXACT_UP_TO: Final = 20
#: flips of one block
_BLOCK: Final = 4096
#: random flips of a byte: eight differences' signs at once
_SIGNS: Final = (
    1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
).T


@dataclass(frozen=True, slots=True)
class SignFlips:
    """What the test found.

    Attributes
    ----------
    p
        Two-sided, in (0, 1].
    exact
        Whether every way the signs can fall was looked at.
    flips
        How many ways were looked at.
    """

    p: float
    exact: bool
    flips: int


def sign_flips(
    differences: Floats,
    *,
    flips: int = 100_000,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[SignFlips]:
    """Test whether the mean of differences is 0, for each of several columns.

    Parameters
    ----------
    differences
        float64 ``[units, columns]``, without NaN: for each unit the sum of its queries' differences.
    flips
        How many random flips, where there are more than :data:`EXACT_UP_TO` differences other than 0.
    seed
        Makes p reproducible, bit by bit, on any number of threads.
    threads, progress
        As for :func:`~rankstone.stats.drawing.in_blocks`.

    Returns
    -------
    list
        One :class:`SignFlips` a column: ``p`` is the share of flips (the observed signs among them)
        whose sum is as far from 0 as the observed one; sums that differ by rounding only are equal.

    Examples
    --------
    Three of three queries better: of the 8 ways the signs can fall, 2 are as extreme.

    >>> sign_flips(np.array([[0.1], [0.2], [0.4]]))
    [SignFlips(p=0.25, exact=True, flips=8)]
    """
    found: list[SignFlips | None] = [_exact(column[column != 0]) for column in differences.T]
    left = [at for at, one in enumerate(found) if one is None]
    if left:
        hits = _as_extreme(differences[:, left], flips, seed, threads, progress)
        for at, count in zip(left, hits, strict=True):
            found[at] = SignFlips((1 + int(count)) / (1 + flips), exact=False, flips=flips)
    return [one for one in found if one is not None]


def _exact(differences: Floats) -> SignFlips | None:
    """Look at every way the signs can fall; ``None`` where there are too many."""
    if len(differences) > EXACT_UP_TO:
        return None
    sums = np.zeros(1)
    for size in np.abs(differences)[:-1]:  # the last sign stays: the other half is the mirror image
        sums = np.concatenate([sums + size, sums - size])
    last = np.abs(differences[-1:]).sum()
    extreme = np.abs(sums + last) >= abs(differences.sum()) - tolerance(differences)
    return SignFlips(float(extreme.mean()), exact=True, flips=2 ** len(differences))


def _as_extreme(
    differences: Floats,
    flips: int,
    seed: int,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> Ints:
    """Count random flips whose sum is as far from 0 as the observed one, int64 ``[columns]``.

    Eight units share a byte of random signs, so their sum is one of 256 that are made beforehand.
    """
    units, columns = differences.shape
    groups = -(-units // 8)
    padded = np.zeros((groups * 8, columns))
    padded[:units] = differences
    whole = Whole.of(padded)
    tables = (whole.whole.T.reshape(columns, groups, 8) @ _SIGNS).astype(np.int64).swapaxes(0, 1)
    observed = np.abs(whole.whole.sum(axis=0)).astype(np.int64)
    slack = np.ldexp([tolerance(column) for column in differences.T], whole.bits)
    least = observed - np.ceil(slack + units).astype(np.int64)  # units: rounding to whole numbers

    def block(number: int) -> Ints:
        size = min(_BLOCK, flips - number * _BLOCK)
        signs = raw(seed, number, size=groups * _BLOCK // 8).view(np.uint8).reshape(groups, _BLOCK)
        found = np.zeros((columns, size), np.int64)
        for group in range(groups):
            found += tables[group].take(signs[group, :size], axis=1)
        extreme: Ints = np.count_nonzero(np.abs(found) >= least[:, None], axis=1)
        return extreme

    counts: Ints = sum(in_blocks(block, -(-flips // _BLOCK), threads, progress), np.zeros(columns, np.int64))
    return counts
