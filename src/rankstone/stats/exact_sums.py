"""Sums that are exact in any order, and by how much other sums may differ and still be equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone._basics import Floats


#: whole numbers up to 2^53 are exact as float64; a bit is kept in hand
EXACT_BITS: Final = 52
#: products of so many numbers are made without threads of their own, which would wait for ours
_ALONE: Final = 1 << 18
#: so few rows are multiplied at once
_FEW_ROWS: Final = 8
#: sums that differ by less than this share of what was summed are equal: scores carry rounding errors
_EQUAL: Final = 1e-12


def column_sums(values: Floats) -> Floats:
    """Return the correctly rounded sum of each column, whatever the order of rows."""
    return np.array([math.fsum(column) for column in values.T])


def tolerance(values: Floats) -> float:
    """Return by how much two sums of such values may differ and still be called equal."""
    return _EQUAL * float(np.abs(values).sum())


def whole_multiples(
    values: Floats, largest_sum: Floats, exact_bits: int
) -> tuple[Floats, NDArray[np.int32]]:
    """Return values as whole multiples of 2^-bits, and the bits: sums up to the largest are exact."""
    exponent = np.frexp(largest_sum)[1]
    bits = np.where(largest_sum > 0, exact_bits - exponent, 0).astype(np.int32)
    return np.rint(np.ldexp(values, bits)), bits


class Whole(Record):
    """Numbers as whole multiples of a power of two, so small that no sum over rows is rounded.

    Every column has its own power, so it does not depend on the other columns.  For values up
    to 1 of 10,000 queries the multiple is 2^-38: intervals keep eleven digits.

    Attributes
    ----------
    whole
        float64 ``[rows, columns]``, whole numbers.
    bits
        int32 ``[columns]``: the multiple is 2^-bits.
    """

    whole: Floats
    bits: NDArray[np.int32]

    @classmethod
    def from_values(cls, values: Floats) -> Whole:
        """Scale values; on average over rows, each may be taken once."""
        largest_sum = np.abs(values).max(axis=0, initial=0.0) * max(len(values), 1)
        return cls(*whole_multiples(values, largest_sum, EXACT_BITS))

    def summed(self, counts: Floats) -> Floats:
        """Return sums over rows, each taken as often as counted, float64 ``[…, columns]``."""
        rows = _ALONE // max(self.whole.size, 1)
        parts = [counts]
        if rows > _FEW_ROWS:
            parts = np.array_split(counts, -(-len(counts) // rows) or 1)

        products = np.concatenate([part @ self.whole for part in parts])
        sums: Floats = np.ldexp(products, -self.bits)
        return sums
