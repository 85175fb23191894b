"""One run's curve against another's, over the queries for which both have one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.curves.crossing import crossings, nearest_crossings
from rankstone.curves.summary import mean_curve, resampled
from rankstone.curves.targets import first_reaching, reaching
from rankstone.measures.curves import Traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.curves.means import RunCurves
    from rankstone.curves.resampling import Resampling
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.measures.curves import Curve

__all__ = ["Comparing"]

Row = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Comparing:
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
    how
        Confidence of intervals.
    """

    curve: Curve
    names: tuple[str, str]
    queries: int
    means: tuple[Floats, Floats]
    resampled: tuple[Floats, Floats] | None
    how: Resampling

    @classmethod
    def of(
        cls, curve: Curve, run: tuple[str, RunCurves], other: tuple[str, RunCurves], how: Resampling
    ) -> Comparing:
        """Bring two runs' queries together."""
        here, there = _shared(curve, run[1], other[1])
        one, two = _rows(run[1].traced[curve], here), _rows(other[1].traced[curve], there)
        again = resampled(curve, one, how), resampled(curve, two, how)
        return cls(
            curve,
            (run[0], other[0]),
            len(here),
            (mean_curve(curve, one), mean_curve(curve, two)),
            None if again[0] is None or again[1] is None else (again[0], again[1]),
            how,
        )

    def turned(self) -> Comparing:
        """Return the same with the runs exchanged."""
        again = None if self.resampled is None else self.resampled[::-1]
        return replace(self, names=self.names[::-1], means=self.means[::-1], resampled=again)

    def _gap(self) -> Floats:
        return np.nan_to_num(self.means[0] - self.means[1])

    def _gaps(self) -> Floats | None:
        return None if self.resampled is None else np.nan_to_num(self.resampled[0] - self.resampled[1])

    def crossings(self) -> Iterator[Row]:
        """Yield a row of CROSSINGS for each place at which the mean curves cross."""
        x, gaps = self.curve.grid(), self._gaps()
        for at, sign in zip(*crossings(x, self._gap()), strict=True):
            low, high, share = None, None, None
            if gaps is not None:
                places = nearest_crossings(x, gaps, float(at), int(sign))
                share = len(places) / len(gaps)
                if len(places):
                    low, high = map(float, np.quantile(places, self.how.ends))
            before, after = self.names[::-1] if sign > 0 else self.names
            yield str(self.curve), *self.names, float(at), before, after, low, high, share

    def dominance(self) -> Row:
        """Return a row of DOMINANCE: whether the run is nowhere below the other."""
        gap, gaps = self._gap(), self._gaps()
        above, below = int((gap > 0).sum()), int((gap < 0).sum())
        p = None
        if gaps is not None and self.queries:
            p = (1 + int((gaps < 0).any(axis=1).sum())) / (1 + len(gaps))
        counts = above, len(gap) - above - below, below
        return str(self.curve), *self.names, *counts, above > 0 and not below, p, self.queries

    def race(self, cutoffs: tuple[int, ...], target: float) -> Row:
        """Return a row of RACES: which run reaches the target at the smaller cutoff."""
        places = [reaching(mean, target) for mean in self.means]
        k = [cutoffs[int(place[0])] if len(place) else None for place in places]
        shares: Row = (None, None, None)
        if self.resampled is not None:
            one, two = (first_reaching(means, target) for means in self.resampled)
            shares = (float((one < two).mean()), float((one == two).mean()), float((one > two).mean()))
        return str(self.curve), *self.names, target, *k, *shares


def _shared(curve: Curve, run: RunCurves, other: RunCurves) -> tuple[Ints, Ints]:
    """Return the rows of the queries for which both runs have a curve, in the first run's order."""
    sides = []
    for side, name in ((run, "here"), (other, "there")):
        has = np.flatnonzero(side.traced[curve].has_value)
        sides.append(pl.DataFrame({"query_id": side.queries.cast(pl.String).gather(has), name: has}))
    joined = sides[0].join(sides[1], on="query_id", maintain_order="left")
    return joined["here"].to_numpy(), joined["there"].to_numpy()


def _rows(traced: Traced, rows: Ints) -> Traced:
    def part(values: Floats | None) -> Floats | None:
        return None if values is None else values[rows]

    return Traced(
        traced.value[rows],
        traced.status[rows],
        numerator=part(traced.numerator),
        denominator=part(traced.denominator),
    )
