"""Sums without rounding, made in parts: what ``math.fsum`` says of all values at once.

A float64 is a whole number of 53 bits times a power of two.  Whole numbers of one power are added up as such,
so parts can be summed anywhere, in any order, and put together later; only the end is rounded, once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ExactSum"]

_BITS: Final = 53
#: a significand is cut in halves of so many bits, and float64 adds up many of them without rounding
_HALF: Final = 27
#: numbers taken in at a time, which stay in a processor's cache
_AT_ONCE: Final = 1 << 16
_LEAST_EXPONENT: Final = -1073


@dataclass(eq=False)
class ExactSum:
    """The sum of numbers, to the last bit.

    Attributes
    ----------
    parts
        Power of two → the whole number that it is multiplied by.

    Examples
    --------
    >>> import math
    >>> one, other = ExactSum(), ExactSum()
    >>> one.add(np.array([1e100, 1.0]))
    >>> other.add(np.array([-1e100, 0.1, 0.2]))
    >>> one.merge(other)
    >>> one.value() == math.fsum([1e100, 1.0, -1e100, 0.1, 0.2])
    True
    """

    parts: Counter[int] = field(default_factory=Counter)

    def add(self, values: Floats) -> None:
        """Take in float64 numbers, all of them finite."""
        for begin in range(0, len(values), _AT_ONCE):
            self._add(values[begin : begin + _AT_ONCE])

    def _add(self, values: Floats) -> None:
        share, exponent = np.frexp(values)
        whole = np.ldexp(share, _BITS).astype(np.int64)
        high, place = whole >> _HALF, exponent - _LEAST_EXPONENT
        low = whole - (high << _HALF)
        sums = [np.bincount(place, part.astype(np.float64)) for part in (high, low)]
        for at in np.flatnonzero(np.bincount(place)).tolist():
            total = (int(sums[0][at]) << _HALF) + int(sums[1][at])
            self.parts[at + _LEAST_EXPONENT - _BITS] += total

    def merge(self, other: ExactSum) -> None:
        """Take in what another sum has taken in."""
        for power, whole in other.parts.items():
            self.parts[power] += whole

    def value(self) -> float:
        """Return the float64 that is nearest to the sum."""
        least = min(0, *self.parts) if self.parts else 0
        whole = sum(part << (power - least) for power, part in self.parts.items())
        return whole / (1 << -least)  # of whole numbers, which Python rounds once

    def told(self) -> dict[str, str]:
        """Return the sum as texts, which JSON keeps as they are."""
        return {str(power): str(whole) for power, whole in self.parts.items()}

    @classmethod
    def read(cls, told: Mapping[str, str]) -> ExactSum:
        """Return the sum that :meth:`told` told of."""
        return cls(Counter({int(power): int(whole) for power, whole in told.items()}))
