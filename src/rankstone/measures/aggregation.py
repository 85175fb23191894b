"""One number of the values of many queries; sums are rounded once, as ``math.fsum`` does."""

from __future__ import annotations

import math
import re
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.measures.exact_sum import ExactSum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "SMALLEST_IN_GMEAN",
    "aggregated",
    "exact_sum",
    "ratio_of_sums",
    "running_sum",
    "share_trimmed",
]

#: the least value that enters a geometric mean, as in trec_eval's gm_map
SMALLEST_IN_GMEAN: Final = 1e-5
#: the share that agg=trimmed leaves out at either end
_TRIM: Final = 0.1
_TRIMMED: Final = re.compile(r"trimmed\((?P<share>[0-9.]+)\)")
#: values that are summed as Python's numbers, because that is quicker
_FEW: Final = 2000
#: values that are Python's numbers at the same time: of many millions, all at once would take gigabytes
_AT_ONCE: Final = 1 << 16


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
    """Return the sum as a plain loop makes it, first value first, rounded at every step.

    >>> running_sum(np.array([1e100, 1.0, -1e100]))
    0.0
    """
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def ratio_of_sums(above: Floats, below: Floats) -> float:
    """Return one sum divided by another; NaN where that is zero."""
    norm = exact_sum(below)
    return exact_sum(above) / norm if norm else math.nan


def aggregated(agg: str, value: Floats, total: Callable[[Floats], float] = exact_sum) -> float:
    """Make one number of the values of queries.

    Parameters
    ----------
    agg
        How: ``mean``, ``sum``, ``median``, ``gmean``, ``trimmed``.
    value
        float64 ``[queries]``.
    total
        What adds values up: where another program is replayed, :func:`running_sum` gives its last digit.

    >>> aggregated("trimmed(0.25)", np.array([0.0, 0.5, 0.6, 9.0]))
    0.55
    """
    if agg == "mean":
        return total(value) / len(value)
    if agg == "sum":
        return total(value)
    if agg == "median":
        return float(np.median(value))
    if agg == "gmean":
        logs = (math.log(max(v, SMALLEST_IN_GMEAN)) for v in _numbers(value))
        return math.exp(total(np.fromiter(logs, np.float64, len(value))) / len(value))
    share = share_trimmed(agg)
    cut = int((_TRIM if share is None else share) * len(value))
    return aggregated("mean", np.sort(value)[cut : len(value) - cut], total)


def share_trimmed(agg: str) -> float | None:
    """Return the share that ``trimmed(0.25)`` leaves out at either end; ``None`` where it says none."""
    share = _TRIMMED.fullmatch(agg)
    return float(share["share"]) if share else None


def _numbers(values: Floats) -> Iterator[float]:
    pieces = (values[begin : begin + _AT_ONCE].tolist() for begin in range(0, len(values), _AT_ONCE))
    return chain.from_iterable(pieces)
