"""Aggregation of the values of many queries; sums are rounded once, as in ``math.fsum``.

A float64 is a whole number of 53 bits times a power of two.  Whole numbers with the same power are added
exactly, so parts can be summed anywhere and in any order; only the final sum is rounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankstone._basics import Floats


_BITS: Final = 53
#: a significand is cut in halves of so many bits, and float64 adds up many of them without rounding
_HALF: Final = 27
#: numbers added at a time, which stay in a processor's cache
_AT_ONCE: Final = 1 << 16
_LEAST_EXPONENT: Final = -1073
#: the least value that enters a geometric mean, as in trec_eval's gm_map
SMALLEST_IN_GMEAN: Final = 1e-5
#: the share that agg=trimmed leaves out at either end
_TRIM: Final = 0.1
_TRIMMED: Final = re.compile(r"trimmed\((?P<share>[0-9.]+)\)")
#: so many values are summed as numbers of Python, which is faster
_FEW: Final = 2000
#: values converted to numbers of Python at a time: many millions at once would take gigabytes
_VALUES_AT_ONCE: Final = 1 << 16


@dataclass(eq=False)
class ExactSum:
    """The exact sum of float64 numbers.

    Attributes
    ----------
    parts
        Power of two → the whole number that it is multiplied by.

    Examples
    --------
    >>> import math
    >>> first, second = ExactSum(), ExactSum()
    >>> first.add(np.array([1e100, 1.0]))
    >>> second.add(np.array([-1e100, 0.1, 0.2]))
    >>> first.merge(second)
    >>> first.value() == math.fsum([1e100, 1.0, -1e100, 0.1, 0.2])
    True
    """

    parts: Counter[int] = field(default_factory=Counter)

    def add(self, values: Floats) -> None:
        """Add float64 numbers, all of them finite."""
        for begin in range(0, len(values), _AT_ONCE):
            self._add(values[begin : begin + _AT_ONCE])

    def _add(self, values: Floats) -> None:
        share, exponent = np.frexp(values)
        whole = np.ldexp(share, _BITS).astype(np.int64)
        high = whole >> _HALF
        place = exponent - _LEAST_EXPONENT
        low = whole - (high << _HALF)
        sums = [np.bincount(place, part.astype(np.float64)) for part in (high, low)]
        for bucket in np.flatnonzero(np.bincount(place)).tolist():
            total = (int(sums[0][bucket]) << _HALF) + int(sums[1][bucket])
            self.parts[bucket + _LEAST_EXPONENT - _BITS] += total

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        for power, whole in other.parts.items():
            self.parts[power] += whole

    def value(self) -> float:
        """Return the float64 that is nearest to the sum."""
        least = min(0, *self.parts) if self.parts else 0
        whole = sum(part << (power - least) for power, part in self.parts.items())
        return whole / (1 << -least)  # of whole numbers, which Python rounds once

    def to_dict(self) -> dict[str, str]:
        """Return the parts as texts, which JSON keeps exactly."""
        return {str(power): str(whole) for power, whole in self.parts.items()}

    @classmethod
    def from_dict(cls, texts: Mapping[str, str]) -> ExactSum:
        """Return the sum of the parts that :meth:`to_dict` returned."""
        return cls(Counter({int(power): int(whole) for power, whole in texts.items()}))


def exact_sum(values: Floats) -> float:
    """Return the float64 that is nearest to the sum.

    >>> exact_sum(np.array([1e100, 1.0, -1e100]))
    1.0
    """
    if len(values) < _FEW or not np.isfinite(values).all():
        return math.fsum(values.tolist())
    total = ExactSum()
    total.add(values)
    return total.value()


def running_sum(values: Floats) -> float:
    """Return the sum of a plain loop from the first value to the last, rounded at every step.

    >>> running_sum(np.array([1e100, 1.0, -1e100]))
    0.0
    """
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def ratio_of_sums(above: Floats, below: Floats) -> float:
    """Return one sum divided by another; NaN where the other is zero."""
    norm = exact_sum(below)
    return exact_sum(above) / norm if norm else math.nan


def aggregated(
    agg: str, value: Floats, total: Callable[[Floats], float] = exact_sum
) -> float:
    """Return the aggregate of the values of queries.

    Parameters
    ----------
    agg
        ``mean``, ``sum``, ``median``, ``gmean``, ``trimmed``, ``p95`` and other percentiles.
    value
        float64 ``[queries]``.
    total
        The function that sums; :func:`running_sum` reproduces the last digit of other programs.

    >>> aggregated("trimmed(0.25)", np.array([0.0, 0.5, 0.6, 9.0]))
    0.55
    """
    if agg == "mean":
        return total(value) / len(value)
    if agg == "sum":
        return total(value)
    if agg == "median":
        return float(np.median(value))
    if (share := percentile(agg)) is not None:
        return float(np.quantile(value, share))
    if agg == "gmean":
        logs = (math.log(max(v, SMALLEST_IN_GMEAN)) for v in _numbers(value))
        return math.exp(total(np.fromiter(logs, np.float64, len(value))) / len(value))
    share = share_trimmed(agg)
    cut = int((_TRIM if share is None else share) * len(value))
    return aggregated("mean", np.sort(value)[cut : len(value) - cut], total)


def percentile(agg: str) -> float | None:
    """Return the share of queries below the percentile that ``p95`` means; ``None`` for what is none.

    >>> percentile("p95"), percentile("median"), percentile("p100"), percentile("mean")
    (0.95, 0.5, None, None)
    """
    if agg == "median":
        return 0.5
    match = re.fullmatch(r"p([1-9][0-9]?(?:\.[0-9]+)?)", agg)
    return float(match[1]) / 100 if match else None


def share_trimmed(agg: str) -> float | None:
    """Return the share that ``trimmed(0.25)`` leaves out at either end; ``None`` without a number."""
    share = _TRIMMED.fullmatch(agg)
    return float(share["share"]) if share else None


def _numbers(values: Floats) -> Iterator[float]:
    pieces = (
        values[begin : begin + _VALUES_AT_ONCE].tolist()
        for begin in range(0, len(values), _VALUES_AT_ONCE)
    )
    return chain.from_iterable(pieces)
