"""What users did with a ranking: ratios of sums over impressions, and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.behaviour.alike import alike, spread_between
from rankstone.stats import Units, estimates
from rankstone.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["DIRECTIONS", "Arm", "arm", "arms_of", "difference", "names", "ratios", "repeated"]

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
