"""Online metrics by variant: ratios of sums over impressions with standard errors, and their differences.

All differences of an experiment form one family: p-values, intervals and verdicts agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import Record
from rankstone.online.log_tables import has_no_spread, with_error_bound
from rankstone.stats.automatic_intervals import verdict
from rankstone.stats.mean_intervals import Estimate, estimates
from rankstone.stats.multiple_testing import adjusted, family_level
from rankstone.stats.sampling_units import Units
from rankstone.stats.sequential import always_valid_interval, always_valid_p
from rankstone.stats.student_t import two_sided_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints


#: metric → which direction is better
DIRECTIONS: Final = {
    "CTR": "higher",
    "clicked": "higher",
    "mean_click_rank": "lower",
    "abandonment": "lower",
}


def metric_directions(k: int) -> dict[str, str]:
    """Return {name of the metric at cutoff k: whether ``higher`` or ``lower`` is better}."""
    names_at_k = {"CTR": f"CTR@{k}", "clicked": f"clicked@{k}"}
    return {
        names_at_k.get(name, name): direction for name, direction in DIRECTIONS.items()
    }


class Arm(Record):
    """One metric of one variant.

    Attributes
    ----------
    total, size
        float64 ``[units]``: numerator and denominator of the ratio for every unit of the experiment; 0 for
        units that were not exposed to the variant.
    present
        Which units were exposed.
    estimate
        The ratio; ``None`` where the denominator is 0.
    has_no_spread
        True if all units have the same value; the error is then an upper bound, not an estimate.
    """

    total: Floats
    size: Floats
    present: Bools
    estimate: Estimate | None
    has_no_spread: bool = False


def metric_ratios(
    clicks: Floats, position: Floats, impression: Ints, k: int
) -> dict[str, tuple[Floats, Floats]]:
    """Return the numerator and denominator of each metric, float64 ``[impressions]``.

    Parameters
    ----------
    clicks
        0 or 1 for each row.
    position
        Of each row, counted from 1.
    impression
        int64, the impression of each row, counted from 0.
    """
    n = int(impression.max()) + 1

    def summed(value: Floats | Bools) -> Floats:
        return np.bincount(impression, value, n).astype(np.float64)

    top = position <= k
    clicked = summed(clicks)
    high = summed(clicks * top)
    ones = np.ones(n)
    values = [
        (high, summed(top)),
        ((high > 0).astype(np.float64), ones),
        (summed(clicks * position), clicked),
        ((clicked == 0).astype(np.float64), ones),
    ]
    return dict(zip(metric_directions(k), values, strict=True))


def repeated_metrics(of: Mapping[str, tuple[Floats, Floats]]) -> dict[str, str]:
    """Return {metric: the earlier metric that it equals in this log, or that it is one minus}.

    Abandonment is ``1 - clicked@k`` where no position is below k, and ``clicked@1`` is ``CTR@1`` where every
    impression shows one document that high.
    """
    repeats: dict[str, str] = {}
    for measure, (total, size) in of.items():
        for other, (others, sizes) in of.items():
            if other == measure:
                break
            same = np.array_equal(total, others) or np.array_equal(
                total, sizes - others
            )
            if other not in repeats and same and np.array_equal(size, sizes):
                repeats[measure] = other
    return repeats


def make_arm(
    total: Floats,
    size: Floats,
    unit: Ints,
    units: int,
    chosen: Bools,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Arm:
    """Return a variant's totals by unit and its ratio, a number between the two ``ends``."""
    rows = unit[chosen]
    sums, sizes = (
        np.bincount(rows, value[chosen], units).astype(np.float64)
        for value in (total, size)
    )
    present = np.bincount(rows, minlength=units) > 0
    if not sizes.sum() > 0:
        return Arm(sums, sizes, present, None)
    ratio = estimates(Units(sums[present][:, None], sizes[present]))[0]
    return Arm(
        sums, sizes, present, with_error_bound(ratio, *ends), has_no_spread(ratio)
    )


def make_arms(
    of: Mapping[str, tuple[Floats, Floats]],
    unit: Ints,
    variant: Ints,
    ends: Mapping[str, tuple[float, float]],
) -> dict[str, list[Arm]]:
    """Return {metric: its arm in each variant}.

    Parameters
    ----------
    of
        {metric: (numerator, denominator)}.
    unit, variant
        int64 ``[impressions]``, counted from 0: the unit and the variant of each impression.
    ends
        {metric: its lowest and highest value}, where these are not 0 and 1.
    """
    units = int(unit.max()) + 1
    return {
        measure: [
            make_arm(
                *ratio, unit, units, variant == code, ends.get(measure, (0.0, 1.0))
            )
            for code in range(int(variant.max()) + 1)
        ]
        for measure, ratio in of.items()
    }


def difference(treatment: Arm, control: Arm) -> Estimate | None:
    """Return ``treatment - control``, allowing for units that were exposed to both variants; ``None`` if undefined.

    The standard error is that of a difference of two ratios by linearisation; the degrees of freedom are
    Welch's (1947).
    """
    if treatment.estimate is None or control.estimate is None:
        return None
    influence = [_influence(treatment), _influence(control)]
    covariance = math.fsum(influence[0] * influence[1])
    errors = [treatment.estimate.error, control.estimate.error]
    squares = [error**2 for error in errors]
    variance = sum(squares) - 2 * covariance
    error = math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan
    parts = sum(
        square**2 / (arm.estimate.units - 1)
        for square, arm in zip(squares, (treatment, control), strict=True)
        if arm.estimate is not None and arm.estimate.units > 1
    )
    df = sum(squares) ** 2 / parts if parts > 0 else math.nan
    units = int((treatment.present | control.present).sum())
    return Estimate(
        treatment.estimate.value - control.estimate.value, error, units, df=df
    )


def _influence(arm: Arm) -> Floats:
    """Return each unit's influence on the ratio; the squares sum to its squared standard error."""
    assert arm.estimate is not None  # noqa: S101 - the caller checked
    n = arm.estimate.units
    size = math.fsum(arm.size)
    scale = math.sqrt(n / (n - 1)) if n > 1 else math.nan
    return (arm.total - arm.size * arm.estimate.value) / size * scale


@dataclass(frozen=True)
class ClaimSettings:
    """Settings of p-values, intervals and verdicts.

    Attributes
    ----------
    margin
        Differences up to this size do not matter.
    correction
        The correction of p-values for the size of the family.
    confidence
        The confidence level of intervals; 1 minus it is alpha, for equivalence too.
    sequential
        Whether p-values and intervals are valid at every look, or at one fixed in advance.
    """

    margin: float | None
    correction: str
    confidence: float
    sequential: bool

    def interval_columns(
        self, estimate: Estimate | None, alpha: float
    ) -> dict[str, float | None]:
        """Return ``error``, ``low`` and ``high`` of an estimate; ``None`` each if it has no error."""
        if estimate is None or math.isnan(estimate.error):
            return dict.fromkeys(("error", "low", "high"))
        ends = (
            always_valid_interval(estimate, alpha)
            if self.sequential
            else estimate.interval(1 - alpha)
        )
        return dict(zip(("error", "low", "high"), (estimate.error, *ends), strict=True))

    def p_value(self, estimate: Estimate) -> float:
        """Return the smallest alpha whose interval excludes 0."""
        if self.sequential:
            return always_valid_p(estimate)
        return two_sided_p(estimate.value / estimate.error, estimate.df)


def differences(
    arms: Mapping[str, Sequence[Arm]],
    repeats: Mapping[str, str],
    labels: Sequence[str],
    base: int,
    directions: Mapping[str, str],
    settings: ClaimSettings,
) -> list[dict[str, Any]]:
    """Return one row per metric and variant.

    Parameters
    ----------
    arms
        {metric: its arm in each variant}.
    repeats
        {metric: the one that it equals}: both get the same p-value and count once in the family.
    labels, base
        Names of the variants, and the index of the one that the others are compared with.
    directions
        {metric: ``higher`` or ``lower``, whichever is better}.
    settings
        Settings of p-values, intervals and verdicts.
    """
    compared = {
        (measure, variant): difference(of[variant], of[base])
        for measure, of in arms.items()
        for variant in range(len(labels))
        if variant != base
    }
    p = {
        key: settings.p_value(estimate)
        for key, estimate in compared.items()
        if key[0] not in repeats
        and estimate is not None
        and not math.isnan(estimate.error)
    }
    corrected = dict(
        zip(p, adjusted(list(p.values()), settings.correction).tolist(), strict=True)
    )
    level = family_level(list(p.values()), settings.correction, 1 - settings.confidence)
    rows = []
    for (measure, variant), estimate in compared.items():
        row: dict[str, Any] = {
            "measure": measure,
            "variant": labels[variant],
            "versus": labels[base],
        }
        row |= {
            "difference": None if estimate is None else estimate.value,
            **settings.interval_columns(estimate, level),
        }
        key = repeats.get(measure, measure), variant
        row |= {"p": p.get(key), "p_adjusted": corrected.get(key)}
        ends = (math.nan, math.nan) if row["low"] is None else (row["low"], row["high"])
        rows.append(
            row | {"verdict": verdict(ends, directions[measure], settings.margin)}
        )
    return rows
