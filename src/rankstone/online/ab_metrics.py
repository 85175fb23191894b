"""What users did with a ranking: ratios of sums over impressions, and how sure they are.

Differences of variants as one family: p-values, intervals and verdicts that agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.online.log_tables import alike, spread_between
from rankstone.stats.automatic_intervals import verdict
from rankstone.stats.mean_intervals import Estimate, estimates
from rankstone.stats.multiple_testing import adjusted, family_level
from rankstone.stats.paired_tests import t_tail
from rankstone.stats.sampling_units import Units
from rankstone.stats.sequential import always_valid_interval, always_valid_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: measure → whether more of it is better
DIRECTIONS: Final = {"CTR": "higher", "clicked": "higher", "mean_click_rank": "lower", "abandonment": "lower"}


def names(k: int) -> dict[str, str]:
    """Return what measures are called at a cutoff, and which way is better."""
    called = {"CTR": f"CTR@{k}", "clicked": f"clicked@{k}"}
    return {called.get(name, name): direction for name, direction in DIRECTIONS.items()}


@dataclass(frozen=True, eq=False)
class Arm:
    """One measure of one variant.

    Attributes
    ----------
    total, size
        float64 ``[units]``: what the measure is a ratio of, for every unit of the experiment; 0 where a unit
        did not see the variant.
    present
        Which units did.
    found
        The ratio; ``None`` where nothing counts.
    alike
        Whether all units have one value, so that the error is a bound and no estimate.
    """

    total: Floats
    size: Floats
    present: NDArray[np.bool_]
    found: Estimate | None
    alike: bool = False


def ratios(clicks: Floats, position: Floats, impression: Ints, k: int) -> dict[str, tuple[Floats, Floats]]:
    """Return numerator and denominator of each measure, float64 ``[impressions]``.

    Parameters
    ----------
    clicks
        0 or 1 for each row.
    position
        From 1.
    impression
        int64, from 0.
    """
    n = int(impression.max()) + 1

    def summed(value: Floats | NDArray[np.bool_]) -> Floats:
        return np.bincount(impression, value, n).astype(np.float64)

    top = position <= k
    clicked, high = summed(clicks), summed(clicks * top)
    one = np.ones(n)
    values = [
        (high, summed(top)),
        ((high > 0).astype(np.float64), one),
        (summed(clicks * position), clicked),
        ((clicked == 0).astype(np.float64), one),
    ]
    return dict(zip(names(k), values, strict=True))


def repeated(of: Mapping[str, tuple[Floats, Floats]]) -> dict[str, str]:
    """Return measures that say in this log what an earlier one says: it again, or one minus it.

    Abandonment is ``1 - clicked@k`` where no position is below k, and ``clicked@1`` is ``CTR@1`` where every
    impression shows one document that high.
    """
    found: dict[str, str] = {}
    for measure, (total, size) in of.items():
        for other, (others, sizes) in of.items():
            if other == measure:
                break
            same = np.array_equal(total, others) or np.array_equal(total, sizes - others)
            if other not in found and same and np.array_equal(size, sizes):
                found[measure] = other
    return found


def arm(
    total: Floats,
    size: Floats,
    unit: Ints,
    units: int,
    chosen: NDArray[np.bool_],
    ends: tuple[float, float] = (0.0, 1.0),
) -> Arm:
    """Add up the impressions of a variant by unit, and estimate the ratio, which is between two ends."""
    rows = unit[chosen]
    sums, sizes = (np.bincount(rows, value[chosen], units).astype(np.float64) for value in (total, size))
    present = np.bincount(rows, minlength=units) > 0
    if not sizes.sum() > 0:
        return Arm(sums, sizes, present, None)
    found = estimates(Units(sums[present][:, None], sizes[present]))[0]
    return Arm(sums, sizes, present, spread_between(found, *ends), alike(found))


def arms_of(
    of: Mapping[str, tuple[Floats, Floats]], unit: Ints, variant: Ints, lowest: float
) -> dict[str, list[Arm]]:
    """Return each measure of each variant.

    Parameters
    ----------
    of
        Numerator and denominator of each measure.
    unit, variant
        int64 ``[impressions]``, from 0: whose an impression is, and what it showed.
    lowest
        The last position shown, which no rank of a click is below.
    """
    units, ends = int(unit.max()) + 1, {"mean_click_rank": (1.0, lowest)}
    return {
        measure: [
            arm(*ratio, unit, units, variant == at, ends.get(measure, (0.0, 1.0)))
            for at in range(int(variant.max()) + 1)
        ]
        for measure, ratio in of.items()
    }


def difference(one: Arm, other: Arm) -> Estimate | None:
    """Return ``one - other``; units that are in both arms are counted as depending on themselves.

    The error is that of two ratios by linearisation, degrees of freedom are Welch's (1947); ``None`` where
    one of them has no value.
    """
    if one.found is None or other.found is None:
        return None
    moved = [_moved(one), _moved(other)]
    together = math.fsum(moved[0] * moved[1])
    errors = [one.found.error, other.found.error]
    squares = [error**2 for error in errors]
    variance = sum(squares) - 2 * together
    error = math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan
    parts = sum(
        square**2 / (arm.found.units - 1)
        for square, arm in zip(squares, (one, other), strict=True)
        if arm.found is not None and arm.found.units > 1
    )
    df = sum(squares) ** 2 / parts if parts > 0 else math.nan
    units = int((one.present | other.present).sum())
    return Estimate(one.found.value - other.found.value, error, units, df=df)


def _moved(arm: Arm) -> Floats:
    """Return by how much each unit moves the ratio, such that squares sum to its squared error."""
    assert arm.found is not None  # noqa: S101 - asked before
    n = arm.found.units
    size = math.fsum(arm.size)
    scale = math.sqrt(n / (n - 1)) if n > 1 else math.nan
    return (arm.total - arm.size * arm.found.value) / size * scale


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
