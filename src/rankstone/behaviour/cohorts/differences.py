"""Segments held against one another: shares of their users, whoever stands in both being one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.behaviour.cohorts.frames import pooled
from rankstone.stats import Shared, adjusted, family_level, proportion_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.behaviour.cohorts.counting import Counts, Range
    from rankstone.behaviour.cohorts.segments import Segments
    from rankstone.behaviour.cohorts.windows import Window

__all__ = ["differences"]

_NUMBERS: Final = ("rate", "rate_versus", "difference", "low", "high", "p", "p_adjusted")


def differences(
    counts: Counts,
    segments: Segments,
    windows: Sequence[Window],
    places: Sequence[int],
    within: Range,
    *,
    versus: str | None,
    correction: str,
    confidence: float,
) -> pl.DataFrame:
    """Return a row a window and pair of segments.

    Parameters
    ----------
    counts, segments, within
        What was counted.
    windows, places
        The windows asked about, and their places among those counted.
    versus
        The segment that the others are held against; every two unless given.
    correction, confidence
        Of the family of all rows; every interval has the level at which the correction stops.
    """
    schema = {
        "segment": pl.String(), "versus": pl.String(), "at": pl.String(), "age": pl.Int64(),
        "users": pl.Int64(), "users_versus": pl.Int64(), **dict.fromkeys(_NUMBERS, pl.Float64()),
    }  # fmt: skip
    asked = [
        (
            one,
            other,
            at,
            pooled(counts, one, places[at], window, within),
            pooled(counts, other, places[at], window, within),
        )
        for one, other in segments.pairs(versus)
        for at, window in enumerate(windows)
    ]

    def compared(level: float) -> list[tuple[float, float, float, float]]:
        found = []
        for one, other, at, mine, theirs in asked:
            n, came, both = counts.shared[at, :, one, other]
            shared = Shared(int(n), int(came), int(counts.shared[at, 1, other, one]), int(both))
            d = proportion_difference(mine, theirs, shared, level)
            found.append((d.value, d.low, d.high, d.p))
        return found

    p = np.array([row[-1] for row in compared(confidence)])
    decided = ~np.isnan(p)
    corrected = np.full(len(p), np.nan)
    corrected[decided] = adjusted(p[decided], correction)
    level = 1 - family_level(p[decided], correction, 1 - confidence)
    rows = [
        (
            segments.name(one), segments.name(other), windows[at].at, windows[at].first, mine[1], theirs[1],
            _share(mine), _share(theirs), *numbers, float(least),
        )
        for (one, other, at, mine, theirs), numbers, least in zip(
            asked, compared(level), corrected, strict=True
        )
    ]  # fmt: skip
    return pl.DataFrame(rows, schema, orient="row").with_columns(pl.col(_NUMBERS).fill_nan(None))


def _share(counted: tuple[int, int]) -> float:
    return counted[0] / counted[1] if counted[1] else np.nan
