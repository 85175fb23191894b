"""Which margins a number of queries can pass at all, before anything is scored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import UsageError
from rankstone.stats import Units, difference_estimate, unseen_share

if TYPE_CHECKING:
    from rankstone.measures import Measure

__all__ = ["Margin", "planned"]


@dataclass(frozen=True, slots=True)
class Margin:
    """What a rule's margin asks of a number of queries.

    Attributes
    ----------
    measure
        Its text.
    margin
        The allowed loss.
    queries
        How many there are.
    few
        The smallest margin that a candidate of unchanged quality passes where few queries change.
    many
        The same where every query changes a little; ``few`` for measures of 0 and 1.
    enough
        How many queries the margin needs where few of them change; ``None`` where no number is enough.
    """

    measure: str
    margin: float
    queries: int
    few: float
    many: float
    enough: int | None

    def refuse(self) -> None:
        """Refuse a margin that an unchanged candidate cannot pass; one of 0 wants an improvement."""
        if not 0 < self.margin < self.many:
            return
        use = f"use ≥ {self.enough:,} queries, or " if self.enough is not None else ""
        raise UsageError(
            f"{self.measure}: margin = {self.margin:g} cannot pass at n = {self.queries:,}",
            expected=f"the smallest margin that an unchanged candidate passes is {self.many:.2g}",
            fix=f"{use}margin = {_up(self.many)}",
        )

    def text(self) -> str:
        """Return a line about it."""
        line = f"{self.measure}: margin {self.margin:g}, {self.queries:,} queries"
        if not self.margin:
            return f"{line}: only a candidate that is surely better, or returns the same lists, can pass"
        if self.margin >= self.few:
            return f"{line}: an unchanged candidate can pass (smallest margin {self.few:.2g})"
        need = "" if self.enough is None else f"; {self.enough:,} queries would do"
        return (
            f"{line}: an unchanged candidate can pass only if most queries change a little; "
            f"where few change the smallest margin is {self.few:.2g}{need}"
        )


def _up(margin: float) -> str:
    """Return a margin rounded up to two digits."""
    unit = 10 ** (math.floor(math.log10(margin)) - 1)
    return f"{math.ceil(margin / unit) * unit:.6g}"


def planned(measure: Measure, margin: float, n: int, alpha: float, method: str = "auto") -> Margin | None:
    """Return what a margin asks of n queries; ``None`` for a measure without a range, or another interval.

    Parameters
    ----------
    measure
        The rule's.
    margin
        Its allowed loss.
    n
        How many queries are judged.
    alpha
        One-sided level of the rule's interval.
    method
        Of the interval.
    """
    low, high = measure.span
    if low is None or high is None or method not in ("auto", "worst_case"):
        return None
    most = high - low
    few = most * unseen_share(n, alpha)
    enough = math.ceil(math.log(alpha) / math.log1p(-margin / most)) if 0 < margin < most else None
    many = few
    if method == "auto" and not _binary(measure):
        little = Units.of(np.where(np.arange(n) % 2, 1e-9, -1e-9)[:, None])
        many = min(few, -difference_estimate(little, (low, high)).limits(alpha)[0])
    return Margin(str(measure), margin, n, few, many, enough)


def _binary(measure: Measure) -> bool:
    """Say whether every score is 0 or 1."""
    return measure.name == "Success" or (measure.k == 1 and measure.name in ("P", "RR"))
