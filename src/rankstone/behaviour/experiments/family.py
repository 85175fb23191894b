"""Differences of variants as one family: p-values, intervals and verdicts that agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.behaviour.experiments.measuring import difference
from rankstone.stats import adjusted, always_valid_interval, always_valid_p, family_level, verdict
from rankstone.stats.paired import t_tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.behaviour.experiments.measuring import Arm
    from rankstone.stats import Estimate

__all__ = ["Rules", "differences"]


@dataclass(frozen=True)
class Rules:
    """How claims are made.

    Attributes
    ----------
    margin
        A difference that does not matter.
    correction
        Of the p-values of a family.
    confidence
        Of intervals; one less it is the alpha of every claim, that of equivalence too.
    sequential
        Whether p-values and intervals hold at every look, or at one.
    """

    margin: float | None
    correction: str
    confidence: float
    sequential: bool

    def ends(self, found: Estimate | None, alpha: float) -> dict[str, float | None]:
        """Return ``error``, ``low`` and ``high`` of an estimate; nothing where it has no error."""
        if found is None or math.isnan(found.error):
            return dict.fromkeys(("error", "low", "high"))
        ends = always_valid_interval(found, alpha) if self.sequential else found.interval(1 - alpha)
        return dict(zip(("error", "low", "high"), (found.error, *ends), strict=True))

    def p(self, found: Estimate) -> float:
        """Return the least alpha whose interval leaves 0 out."""
        if self.sequential:
            return always_valid_p(found)
        return min(1.0, 2 * t_tail(abs(found.value) / found.error, found.df))


def differences(
    arms: Mapping[str, Sequence[Arm]],
    repeats: Mapping[str, str],
    labels: Sequence[str],
    base: int,
    directions: Mapping[str, str],
    rules: Rules,
) -> list[dict[str, Any]]:
    """Return a row a measure and variant.

    Parameters
    ----------
    arms
        Measure → each variant.
    repeats
        Measures that ask what another asks: they have its p, and are not in the family again.
    labels, base
        Names of variants, and the place of the one that the others are held against.
    directions
        Measure → whether more of it is better.
    rules
        How claims are made.
    """
    found = {
        (measure, at): difference(of[at], of[base])
        for measure, of in arms.items()
        for at in range(len(labels))
        if at != base
    }
    p = {
        asked: rules.p(one)
        for asked, one in found.items()
        if asked[0] not in repeats and one is not None and not math.isnan(one.error)
    }
    corrected = dict(zip(p, adjusted(list(p.values()), rules.correction).tolist(), strict=True))
    level = family_level(list(p.values()), rules.correction, 1 - rules.confidence)
    rows = []
    for (measure, at), one in found.items():
        row: dict[str, Any] = {"measure": measure, "variant": labels[at], "versus": labels[base]}
        row |= {"difference": None if one is None else one.value, **rules.ends(one, level)}
        asked = repeats.get(measure, measure), at
        row |= {"p": p.get(asked), "p_adjusted": corrected.get(asked)}
        ends = (math.nan, math.nan) if row["low"] is None else (row["low"], row["high"])
        rows.append(row | {"verdict": verdict(ends, directions[measure], rules.margin)})
    return rows
