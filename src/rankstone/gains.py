"""What a step from one mean to another is worth, and whether 0.2 → 0.4 is the same gain as 0.7 → 0.9.

A mean has no unit, so a step has several readings: as a difference, as a share of what was left to gain, or
as ranks.  All are given; which one is meant is the reader's to say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from rankstone.baselines import uniform_depth
from rankstone.errors import BadParameter
from rankstone.measures import Measure, parse_measure
from rankstone.measures.base import ANY_GAIN

__all__ = ["Gain", "equivalent", "gain"]

#: below this, the depth of a uniform answer says nothing
_LEAST_LEVEL: Final = 1e-9
#: means carry rounding errors
_ROUNDING: Final = 1e-9


def equivalent(measure: Measure, value: float) -> float | None:
    """Return a number of ranks that says the same as a mean; ``None`` where none does.

    AP: how many ranks apart relevant documents stand that have this AP, 1 / AP.  RR: the depth k of a single
    answer that is equally likely at each of the first k ranks, H_k / k ≥ RR.

    >>> equivalent(parse_measure("AP"), 0.4), equivalent(parse_measure("RR"), 0.5)
    (2.5, 4.0)
    """
    if measure.agg != "mean" or getattr(measure, "rel", ANY_GAIN) != ANY_GAIN or not 0 < value <= 1:
        return None
    if measure.name == "AP":
        return 1 / value
    return float(uniform_depth(value)) if measure.name == "RR" and value >= _LEAST_LEVEL else None


@dataclass(frozen=True, slots=True)
class Gain:
    """A step from one mean to another, in several readings.

    Attributes
    ----------
    measure
        The measure's text.
    before, after
        The means.
    difference
        ``after − before``.
    relative
        The difference over ``before``; ``None`` from 0.
    error_reduction
        The share of what was left to gain that was gained: (after − before) / (highest − before); where lower
        is better, of what was left to lose.  ``None`` where the scale has no such end, or nothing was left.
    ranks_before, ranks_after
        :func:`equivalent` of both; ``None`` where nothing is.
    scale
        What is known of the measure's scale.
    """

    measure: str
    before: float
    after: float
    difference: float
    relative: float | None
    error_reduction: float | None
    ranks_before: float | None
    ranks_after: float | None
    scale: str

    def words(self) -> str:
        """Say all readings in a line.

        >>> print(gain("AP", 0.2, 0.4).words())
        AP 0.2 → 0.4: +0.2, ×2; relevant documents 5 → 2.5 ranks apart; 25.0% of what was left to gain
        """
        parts = [f"{self.difference:+.4g}"]
        if self.relative is not None:
            parts[0] += f", ×{1 + self.relative:.3g}"
        if self.ranks_before is not None and self.ranks_after is not None:
            ranks = f"{self.ranks_before:.3g} → {self.ranks_after:.3g} ranks"
            spaced = self.measure.startswith("AP")
            parts.append(
                f"relevant documents {ranks} apart" if spaced else f"one answer in the first {ranks}"
            )
        if self.error_reduction is not None:
            left = "of what was left to gain" if self.error_reduction >= 0 else "more is left to gain"
            parts.append(f"{abs(self.error_reduction):.1%} {left}")
        return f"{self.measure} {self.before:.4g} → {self.after:.4g}: {'; '.join(parts)}"


def gain(measure: str | Measure, before: float, after: float) -> Gain:
    """Say what a step from one mean to another is worth.

    Parameters
    ----------
    measure
        The measure or its text.
    before, after
        The two means.

    Raises
    ------
    BadParameter
        When it is no measure of a ranking against judgments, or a mean is outside its range.

    Examples
    --------
    From 0.2 to 0.4 a quarter of what was left is gained, from 0.7 to 0.9 two thirds:

    >>> [round(gain("AP", *step).error_reduction, 4) for step in ((0.2, 0.4), (0.7, 0.9))]
    [0.25, 0.6667]
    """
    kind = parse_measure(measure)
    if not isinstance(kind, Measure):
        raise BadParameter(f"{kind} is not a measure of a ranking against judgments")
    low, high = (None, None) if kind.agg == "sum" else kind.span
    for value in (before, after):
        inside = (low is None or low - _ROUNDING <= value) and (high is None or value <= high + _ROUNDING)
        if not (inside and math.isfinite(value)):
            raise BadParameter(f"{value!r} is no value of {kind}", expected=_between(low, high))
    best = {"higher": high, "lower": low}.get(kind.card.direction)
    left = None if best is None or best == before else (after - before) / (best - before)
    return Gain(
        measure=str(kind),
        before=before,
        after=after,
        difference=after - before,
        relative=None if before == 0 else (after - before) / before,
        error_reduction=left,
        ranks_before=equivalent(kind, before),
        ranks_after=equivalent(kind, after),
        scale=kind.card.scale,
    )


def _between(low: float | None, high: float | None) -> str:
    ends = [f"{word} {end:g}" for word, end in (("from", low), ("up to", high)) if end is not None]
    return " ".join(ends) or "a number"
