"""Comparison of two runs' mean curves over shared queries: crossings, dominance, and cutoffs for a target.

The cutoff at which a mean reaches a target is k*(τ) = min {k : M@k ≥ τ}.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.mean_curves import mean_curve, resampled
from rankstone.measures.core.curve import CurveValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.curve_resampling import Resampling
    from rankstone.diagnostics.mean_curves import Row, RunCurves
    from rankstone.measures.core.curve import Curve


def crossings(x: Floats, gap: Floats) -> tuple[Floats, Ints]:
    """Return where the difference of two curves changes sign, and its sign after that.

    Curves are linear between grid points; where they coincide for a while, they cross in the middle of that
    stretch.  Curves that touch without changing sides do not cross.

    >>> [place.tolist() for place in crossings(np.array([0.0, 1.0, 2.0]), np.array([1.0, -3.0, 0.0]))]
    [[0.25], [-1]]
    """
    apart = np.flatnonzero(gap)
    sign = np.sign(gap[apart]).astype(np.int64)
    turn = np.flatnonzero(sign[1:] != sign[:-1])
    left = apart[turn]
    right = apart[turn + 1]

    # of two neighbours, the point where the line between them is 0
    share = gap[left] / (gap[left] - gap[right])
    straight = x[left] + (x[right] - x[left]) * share
    # of others, the middle of the stretch in which the curves coincide
    together = (x[left + 1] + x[right - 1]) / 2

    neighbours = right == left + 1
    places = np.where(neighbours, straight, together)
    return places, sign[turn + 1]


def nearest_crossings(x: Floats, gaps: Floats, observed: float, sign: int) -> Floats:
    """Return, for each resample that has one, the crossing of that direction nearest to the observed one.

    Parameters
    ----------
    x
        float64 ``[grid]``.
    gaps
        float64 ``[resamples, grid]``: differences of resampled mean curves.
    observed, sign
        The crossing observed, and which way it goes.
    """
    nearest = []
    for gap in gaps:
        places, signs = crossings(x, gap)
        same_sign = places[signs == sign]
        if len(same_sign):
            distance = np.abs(same_sign - observed)
            nearest.append(same_sign[distance.argmin()])
    return np.array(nearest)


#: tolerances for rounding when a target is reached; resampled means keep eleven digits
_NEARLY: Final = 1e-12
_NEARLY_RESAMPLED: Final = 1e-9


def reaching(heights: Floats, target: float) -> Ints:
    """Return the places on the grid at or above a target.

    >>> reaching(np.array([1 / 3, 1 / 2, 11 / 18]), 0.5).tolist()
    [1, 2]
    """
    return np.flatnonzero(heights >= target - _NEARLY)


def first_reaching(resampled: Floats, target: float) -> Ints:
    """Return the first place at which each resampled curve reaches a target, int64 ``[resamples]``.

    A place beyond the grid means never.
    """
    reached = resampled >= target - _NEARLY_RESAMPLED
    never = resampled.shape[1]
    first: Ints = np.where(reached.any(axis=1), reached.argmax(axis=1), never)
    return first


def named_cutoff(cutoffs: tuple[float, ...], place: int) -> float | None:
    """Return the cutoff at a place, ``None`` beyond the grid."""
    return cutoffs[place] if place < len(cutoffs) else None


def interval(
    places: Ints, cutoffs: tuple[float, ...], resampling: Resampling
) -> tuple[float | None, float | None]:
    """Return the ends of the interval of the cutoff; ends are cutoffs, never between two."""
    ends = np.quantile(places, resampling.ends, method="inverted_cdf")
    low, high = ends.astype(int).tolist()
    return named_cutoff(cutoffs, low), named_cutoff(cutoffs, high)


class CurvePair(Record):
    """Two runs' curves over shared queries.

    Attributes
    ----------
    curve
        Which curve.
    names
        The run, and the other run.
    queries
        How many queries they share.
    means
        float64 ``[grid]`` each: the mean curves over those queries.
    resampled
        float64 ``[resamples, grid]`` each, from the same resamples; ``None`` where queries are not
        averaged.
    resampling
        Confidence of intervals.
    """

    curve: Curve
    names: tuple[str, str]
    queries: int
    means: tuple[Floats, Floats]
    resampled: tuple[Floats, Floats] | None
    resampling: Resampling

    @classmethod
    def of(
        cls,
        curve: Curve,
        run: tuple[str, RunCurves],
        other: tuple[str, RunCurves],
        resampling: Resampling,
    ) -> CurvePair:
        """Compare two runs over the queries that both have."""
        name, curves = run
        other_name, other_curves = other
        rows, other_rows = _shared(curve, curves, other_curves)
        first = _rows(curves.traced[curve], rows)
        second = _rows(other_curves.traced[curve], other_rows)
        again = resampled(curve, first, resampling)
        other_again = resampled(curve, second, resampling)
        both_again = None
        if again is not None and other_again is not None:
            both_again = again, other_again
        return cls(
            curve,
            (name, other_name),
            len(rows),
            (mean_curve(curve, first), mean_curve(curve, second)),
            both_again,
            resampling,
        )

    def turned(self) -> CurvePair:
        """Return the comparison with the runs exchanged."""
        resampled_means = None if self.resampled is None else self.resampled[::-1]
        return replace(
            self,
            names=self.names[::-1],
            means=self.means[::-1],
            resampled=resampled_means,
        )

    @property
    def _of(self) -> Row:
        """The columns that say what a row is about."""
        run, other = self.names
        return {"curve": str(self.curve), "run": run, "other": other}

    def _gap(self) -> Floats:
        return np.nan_to_num(self.means[0] - self.means[1])

    def _gaps(self) -> Floats | None:
        if self.resampled is None:
            return None
        first, second = self.resampled
        return np.nan_to_num(first - second)

    def crossings(self) -> Iterator[Row]:
        """Yield a row of CROSSINGS for each place at which the mean curves cross."""
        x = self.curve.grid()
        gaps = self._gaps()
        places, signs = crossings(x, self._gap())
        for place, sign in zip(places.tolist(), signs.tolist(), strict=True):
            before, after = self.names
            if sign > 0:
                after, before = self.names
            row = {
                **self._of,
                "x": place,
                "before": before,
                "after": after,
                "ci_low": None,
                "ci_high": None,
                "found": None,
            }
            if gaps is not None:
                again = nearest_crossings(x, gaps, place, sign)
                row["found"] = len(again) / len(gaps)
                if len(again):
                    ends = np.quantile(again, self.resampling.ends).tolist()
                    row["ci_low"], row["ci_high"] = ends
            yield row

    def dominance(self) -> Row:
        """Return a row of DOMINANCE: True if the run is nowhere below the other."""
        gap = self._gap()
        gaps = self._gaps()
        above = int((gap > 0).sum())
        below = int((gap < 0).sum())
        p = None
        if gaps is not None and self.queries:
            is_below = (gaps < 0).any(axis=1)
            p = (1 + int(is_below.sum())) / (1 + len(gaps))
        return {
            **self._of,
            "above": above,
            "equal": len(gap) - above - below,
            "below": below,
            "dominates": above > 0 and not below,
            "p": p,
            "n": self.queries,
        }

    def race(self, cutoffs: tuple[float, ...], target: float) -> Row:
        """Return a row of RACES: which run reaches the target at the smaller cutoff."""
        row = {
            **self._of,
            "target": target,
            "k": None,
            "k_other": None,
            "sooner": None,
            "same": None,
            "later": None,
        }
        for name, mean in zip(("k", "k_other"), self.means, strict=True):
            places = reaching(mean, target)
            if len(places):
                row[name] = cutoffs[int(places[0])]
        if self.resampled is not None:
            first, second = (first_reaching(means, target) for means in self.resampled)
            row["sooner"] = float((first < second).mean())
            row["same"] = float((first == second).mean())
            row["later"] = float((first > second).mean())
        return row


def _shared(curve: Curve, run: RunCurves, other: RunCurves) -> tuple[Ints, Ints]:
    """Return the rows of the queries for which both runs have a curve, in the first run's order."""
    sides = []
    for side, name in ((run, "here"), (other, "there")):
        rows = np.flatnonzero(side.traced[curve].has_value)
        queries = side.queries.cast(pl.String).gather(rows)
        sides.append(pl.DataFrame({"query_id": queries, name: rows}))

    here, there = sides
    joined = here.join(there, on="query_id", maintain_order="left")
    return joined["here"].to_numpy(), joined["there"].to_numpy()


def _rows(traced: CurveValues, rows: Ints) -> CurveValues:
    def part(values: Floats | None) -> Floats | None:
        return None if values is None else values[rows]

    return CurveValues(
        traced.value[rows],
        traced.status[rows],
        numerator=part(traced.numerator),
        denominator=part(traced.denominator),
    )
