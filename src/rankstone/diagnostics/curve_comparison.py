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
    from rankstone.diagnostics.mean_curves import RunCurves
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


def nearest_crossings(x: Floats, gaps: Floats, at: float, sign: int) -> Floats:
    """Return, for each resample that has one, the crossing of that direction nearest to ``at``.

    Parameters
    ----------
    x
        float64 ``[grid]``.
    gaps
        float64 ``[resamples, grid]``: differences of resampled mean curves.
    at, sign
        The crossing observed, and which way it goes.
    """
    found = []
    for gap in gaps:
        places, signs = crossings(x, gap)
        same_sign = places[signs == sign]
        if len(same_sign):
            found.append(same_sign[np.abs(same_sign - at).argmin()])
    return np.array(found)


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
    first: Ints = np.where(
        reached.any(axis=1), reached.argmax(axis=1), resampled.shape[1]
    )
    return first


def named_cutoff(cutoffs: tuple[float, ...], place: int) -> float | None:
    """Return the cutoff at a place, ``None`` beyond the grid."""
    return cutoffs[place] if place < len(cutoffs) else None


def interval(
    places: Ints, cutoffs: tuple[float, ...], resampling: Resampling
) -> tuple[float | None, float | None]:
    """Return the ends of the interval of the cutoff; ends are cutoffs, never between two."""
    low, high = np.quantile(places, resampling.ends, method="inverted_cdf").astype(int)
    return named_cutoff(cutoffs, int(low)), named_cutoff(cutoffs, int(high))


Row = tuple[object, ...]


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
        here, there = _shared(curve, run[1], other[1])
        one = _rows(run[1].traced[curve], here)
        two = _rows(other[1].traced[curve], there)
        resampled_means = (
            resampled(curve, one, resampling),
            resampled(curve, two, resampling),
        )
        return cls(
            curve,
            (run[0], other[0]),
            len(here),
            (mean_curve(curve, one), mean_curve(curve, two)),
            None
            if resampled_means[0] is None or resampled_means[1] is None
            else (resampled_means[0], resampled_means[1]),
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

    def _gap(self) -> Floats:
        return np.nan_to_num(self.means[0] - self.means[1])

    def _gaps(self) -> Floats | None:
        return (
            None
            if self.resampled is None
            else np.nan_to_num(self.resampled[0] - self.resampled[1])
        )

    def crossings(self) -> Iterator[Row]:
        """Yield a row of CROSSINGS for each place at which the mean curves cross."""
        x = self.curve.grid()
        gaps = self._gaps()
        for at, sign in zip(*crossings(x, self._gap()), strict=True):
            low = None
            high = None
            share = None
            if gaps is not None:
                places = nearest_crossings(x, gaps, float(at), int(sign))
                share = len(places) / len(gaps)
                if len(places):
                    low, high = map(float, np.quantile(places, self.resampling.ends))
            before, after = self.names[::-1] if sign > 0 else self.names
            yield (
                str(self.curve),
                *self.names,
                float(at),
                before,
                after,
                low,
                high,
                share,
            )

    def dominance(self) -> Row:
        """Return a row of DOMINANCE: True if the run is nowhere below the other."""
        gap = self._gap()
        gaps = self._gaps()
        above = int((gap > 0).sum())
        below = int((gap < 0).sum())
        p = None
        if gaps is not None and self.queries:
            p = (1 + int((gaps < 0).any(axis=1).sum())) / (1 + len(gaps))
        counts = above, len(gap) - above - below, below
        return (
            str(self.curve),
            *self.names,
            *counts,
            above > 0 and not below,
            p,
            self.queries,
        )

    def race(self, cutoffs: tuple[float, ...], target: float) -> Row:
        """Return a row of RACES: which run reaches the target at the smaller cutoff."""
        k: list[float | None] = []
        for mean in self.means:
            places = reaching(mean, target)
            k.append(cutoffs[int(places[0])] if len(places) else None)
        shares: Row = (None, None, None)
        if self.resampled is not None:
            one, two = (first_reaching(means, target) for means in self.resampled)
            orders = (one < two, one == two, one > two)
            shares = tuple(float(order.mean()) for order in orders)
        return str(self.curve), *self.names, target, *k, *shares


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
