"""Resampled queries, for the bands of curves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption, between_0_and_1
from rankstone.stats.exact_sums import Whole
from rankstone.stats.random_streams import draws

if TYPE_CHECKING:
    from rankstone._basics import Floats


#: numbers worked on at a time
_SLICE: Final = 1 << 23


_MOST_RESAMPLES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How the uncertainty over queries is estimated.

    Parameters
    ----------
    resamples
        Bootstrap samples of queries, drawn with replacement.
    seed
        Makes every interval reproducible, bit by bit.
    confidence
        Confidence of intervals of means (percentiles, pointwise on the x axis).
    band
        Lower and upper quantile of the queries' own curves.
    """

    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    band: tuple[float, float] = (0.1, 0.9)

    def __post_init__(self) -> None:
        """Refuse invalid resamples, seeds, confidences and quantiles."""
        for name, least in (("resamples", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise BadOption(
                    f"{name}={value!r} is not valid",
                    expected=f"a whole number from {least} up",
                )
        if self.resamples > _MOST_RESAMPLES:
            raise BadOption(
                f"resamples={self.resamples} is out of range",
                expected=f"up to {_MOST_RESAMPLES:,}",
            )
        between_0_and_1("confidence", self.confidence)
        low, high = self.band
        if not 0 <= low <= high <= 1:
            raise BadOption(
                f"band={self.band!r} is not a pair of quantiles",
                expected="0 ≤ low ≤ high ≤ 1: (0.1, 0.9)",
            )

    @property
    def ends(self) -> tuple[float, float]:
        """The percentiles an interval ends at, as shares."""
        tail = (1 - self.confidence) / 2
        return tail, (1 + self.confidence) / 2

    def as_dict(self) -> dict[str, Any]:
        """Return every setting and its value."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def resampled_means(
    numerator: Floats, denominator: Floats | None, resampling: Resampling
) -> Floats:
    """Return the mean over queries in every resample, float64 ``[resamples, columns]``.

    Parameters
    ----------
    numerator
        float64 ``[queries, columns]``, without NaN.
    denominator
        What sums are divided by the sum of, float64 ``[queries, columns]``; ``None`` for ones.  A
        resample whose denominators sum to zero has no mean: NaN.
    resampling
        Number of resamples and seed.
    """
    queries = len(numerator)
    tables = [Whole.from_values(numerator)]
    if denominator is not None:
        tables.append(Whole.from_values(denominator))
    shape = resampling.resamples, numerator.shape[1]
    sums = [np.empty(shape) for _ in tables]
    step = max(1, _SLICE // max(queries, 1))
    for begin in range(0, resampling.resamples, step):
        end = min(begin + step, resampling.resamples)
        counts = draws(queries, resampling.seed, range(begin, end))
        for table, into in zip(tables, sums, strict=True):
            into[begin:end] = table.summed(counts)
    if denominator is None:
        return sums[0] / queries
    numerators, denominators = sums
    means: Floats = np.full(shape, np.nan)
    np.divide(numerators, denominators, out=means, where=denominators != 0)
    return means
