"""Curves of one or more runs: targets, comparisons between runs, and how curves are shown."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.diagnostics import mean_curves as frames
from rankstone.diagnostics.curve_comparison import (
    CurvePair,
    first_reaching,
    interval,
    reaching,
)
from rankstone.diagnostics.cutoff_choice import which_k
from rankstone.diagnostics.mean_curves import MeanCurves
from rankstone.errors import printable
from rankstone.measures.at_cutoffs import targets_of
from rankstone.tables.drawing import MARKS, Drawing, Line, is_logarithmic
from rankstone.tables.results import Result, data_notes
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import Floats
    from rankstone.diagnostics.mean_curves import Row
    from rankstone.measures.at_cutoffs import AtK, Targets
    from rankstone.measures.core.curve import Curve


@dataclass(frozen=True, eq=False, repr=False)
class Curves(MeanCurves, Result):
    """Curves of one or more runs.

    Attributes
    ----------
    runs
        Run name → its curves.
    curves
        The curves, in the order given.
    audit
        What was found when runs and judgments were aligned.
    conventions
        Every option and parameter the numbers depend on.
    inputs
        Where judgments and runs came from.
    resampling
        How uncertainty is estimated: resamples, seed, confidence, band.

    Examples
    --------
    >>> import rankstone
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> curves = rankstone.curve(qrels, {"q1": ["d1"], "q2": ["d9", "d2"]}, "RR@1,2")
    >>> curves.mean().select("x", "mean").rows()
    [(1.0, 0.5), (2.0, 0.75)]
    """

    # -- targets -----------------------------------------------------------------------------------
    def reach(self, targets: Targets) -> pl.DataFrame:
        """Return at which cutoff each run reaches a target: k*(τ) = min {k : M@k ≥ τ}.

        Only curves over k are used, and only their cutoffs.  Where the measure never falls with k, one
        cutoff is enough; otherwise ``all_k`` lists every cutoff at or above the target.

        Parameters
        ----------
        targets
            One value or several for every curve over k, or ``{"RR": 0.5, "R": [0.8, 0.9]}``.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``target``, ``k`` (null when no cutoff reaches it), ``grows`` (whether
            the measure never falls with k), ``all_k`` (null where it grows), ``ci_low`` and
            ``ci_high`` of k over resamples of queries (null: never), ``never`` (share of resamples that
            never reach it).

        Raises
        ------
        BadParameter
            When there is no curve over k, or none of a measure that is named.
        """
        pairs = targets_of(self.curves, targets)
        rows = [
            self._reach(name, curve, target)
            for name in self.runs
            for curve, target in pairs
        ]
        return frames.frame_of(rows, frames.REACH)

    def _reach(self, name: str, curve: AtK, target: float) -> Row:
        """Return a row of REACH: the smallest cutoff at which a run's mean reaches a target."""
        # where lower is better a target is reached from above
        sign = -1.0 if curve.measure.card.direction == "lower" else 1.0
        cutoffs = curve.cutoffs
        places = reaching(sign * self._mean_of(name, curve), sign * target)
        reached = [cutoffs[place] for place in places]
        grows = curve.claims.grows_with_k and not _signed(self.conventions["alignment"])
        row: Row = {
            "run": name,
            "curve": str(curve),
            "target": target,
            "k": reached[0] if reached else None,
            "grows": grows,
            "all_k": None if grows else reached,
            "ci_low": None,
            "ci_high": None,
            "never": None,
        }
        means = self._resampled(name, curve)
        if means is not None:
            first = first_reaching(sign * means, sign * target)
            ends = interval(first, cutoffs, self.resampling)
            never = first == len(cutoffs)
            row["ci_low"], row["ci_high"] = ends
            row["never"] = float(never.mean())
        return row

    def area(self) -> pl.DataFrame:
        """Return the mean height of each curve between its first and last x: the area over their distance.

        It compares systems over all budgets or cutoffs at once; straight lines join the points.

        Returns
        -------
        polars.DataFrame
            ``run``, ``curve``, ``area`` (in the range of the values), ``ci_low`` and ``ci_high`` over
            resamples of queries (null: a single query).
        """
        rows = []
        for name, _, (curve, _) in self._each():
            area = _area(curve, self._mean_of(name, curve))
            row: Row = {
                "run": name,
                "curve": str(curve),
                "area": float(area),
                "ci_low": None,
                "ci_high": None,
            }
            means = self._resampled(name, curve)
            if means is not None:
                ends = np.quantile(_area(curve, means), self.resampling.ends)
                row["ci_low"], row["ci_high"] = ends.tolist()
            rows.append(row)
        return frames.frame_of(rows, frames.AREA)

    def which_k(self, correction: str = "none") -> pl.DataFrame:
        """Return how well each cutoff separates the runs, and how stable their order is there.

        Parameters
        ----------
        correction
            Of the p-values of all pairs at one cutoff, as for :func:`rankstone.compare`.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``k``; ``n`` queries in which all runs have a value; ``pairs`` of runs; ``apart``, how
            many of these differ significantly by the paired t-test, and ``power``, their share
            (discriminative power); ``tau_deepest``, Kendall's tau_b between the order of runs at k and at the
            deepest cutoff; ``tau_samples`` and ``tau_low``, the mean and the lower end of tau_b between the
            order at k and that in resamples of queries; ``best``, the best run, and ``best_again``, the
            share of resamples in which no run is better.  Null: all runs are equal, or a single query.

        Raises
        ------
        UsageError
            When there is a single run, or no curve over k whose queries are averaged.

        References
        ----------
        Sakai (SIGIR 2006), discriminative power; Voorhees and Buckley (SIGIR 2002), order under other topics.
        """
        return self._once(
            ("which_k", correction),
            lambda: frames.frame_of(
                which_k(self.curves, self.runs, self.resampling, correction),
                frames.WHICH_K,
            ),
        )

    # -- one run against another -------------------------------------------------------------------
    def crossings(self) -> pl.DataFrame:
        """Return where the mean curves of every two runs cross, over the queries they share.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``run``, ``other``, ``x`` (straight between places on the grid), ``before`` and
            ``after`` (the run that is higher there), ``ci_low`` and ``ci_high`` of x over the resamples
            that have such a crossing, and ``found``, their share.
        """
        rows: list[Row] = []
        for pair in self._pairs():
            rows += pair.crossings()
        return frames.frame_of(rows, frames.CROSSINGS)

    def dominance(self) -> pl.DataFrame:
        """Return, for every two runs both ways, whether the first is nowhere below the second.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``run``, ``other``; ``above``, ``equal`` and ``below``, numbers of places on the
            grid; ``dominates`` (never below, somewhere above); ``p``, the share of resamples of queries
            in which the run falls below somewhere, (count + 1) / (resamples + 1); ``n`` queries shared.
        """
        rows = []
        for pair in self._pairs():
            rows += [pair.dominance(), pair.turned().dominance()]
        return frames.frame_of(rows, frames.DOMINANCE)

    def races(self, targets: Targets) -> pl.DataFrame:
        """Return, for every two runs and target, which one reaches it at the smaller cutoff.

        Parameters
        ----------
        targets
            As for :meth:`reach`.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``run``, ``other``, ``target``; ``k`` and ``k_other`` (null: never); ``sooner``,
            ``same`` and ``later``, shares of the resamples of queries.
        """
        pairs = targets_of(self.curves, targets)
        rows = [
            pair.race(curve.cutoffs, target)
            for curve, target in pairs
            for pair in self._pairs()
            if pair.curve == curve
        ]
        return frames.frame_of(rows, frames.RACES)

    def _pairs(self) -> Iterator[CurvePair]:
        for curve in self.curves:
            for names in combinations(self.runs, 2):
                yield self._once(
                    ("pair", curve, names),
                    lambda: self._pair(curve, *names),  # noqa: B023 - called at once
                )

    def _pair(self, curve: Curve, first: str, second: str) -> CurvePair:
        return CurvePair.of(
            curve,
            (first, self.runs[first]),
            (second, self.runs[second]),
            self.resampling,
        )

    # -- everything ---------------------------------------------------------------------------------
    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts: means, noise, comparisons, audit, conventions, inputs."""
        return self._reported(
            mean=self.mean(),
            micro=self.micro(),
            area=self.area(),
            counts=self.counts(),
            noise=self.noise(),
            crossings=self.crossings(),
            dominance=self.dominance(),
            resampling=self.resampling.as_dict(),
        )

    def table(self, curve: str | None = None) -> pl.DataFrame:
        """Return the means of one curve (the first) as one row per x and one column per run."""
        means = self.mean()
        means = means.filter(
            pl.col("curve") == (means["curve"][0] if curve is None else curve)
        )
        return means.pivot("run", index="x", values="mean", maintain_order=True)

    def resampling_line(self) -> str:
        """Return the line that says how intervals and bands were made."""
        sampling = self.resampling
        return (
            f"intervals  {100 * sampling.confidence:g} % from {sampling.resamples:,} bootstrap samples "
            f"of queries, seed {sampling.seed} · "
            f"band: quantiles {sampling.band[0]:g}–{sampling.band[1]:g} of queries"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`per_query`."""
        return self.per_query

    def sheet(
        self, digits: int = 4, targets: Targets | None = None, *, which_k: bool = False
    ) -> Sheet:
        """Return the curves as charts, tables of means, and sentences.

        Parameters
        ----------
        digits
            Decimals.
        targets
            As for :meth:`reach`, whose results are shown.
        which_k
            True to show :meth:`which_k`, too.
        """
        return sheet(self, digits, targets, which_k=which_k)


def _signed(alignment: Mapping[str, Any]) -> bool:
    """Return True if grades below zero may be used."""
    unjudged = alignment["unjudged"]
    return alignment["negative"] == "keep" or (
        isinstance(unjudged, (int, float)) and unjudged < 0
    )


#: most rows of a table of means; longer curves are thinned out
_MOST_ROWS = 15
#: how round cutoffs begin: 1, 2, 3, 5, 10, 20 …
_ROUND = ("1.000000e", "2.000000e", "3.000000e", "5.000000e")
#: longest name in tables
_LONGEST = 24
#: up to this number of runs, means are shown with their intervals
_FEW = 2


def sheet(
    curves: Curves, digits: int, targets: Targets | None, *, which_k: bool
) -> Sheet:
    """Return charts, tables and sentences; see :meth:`Curves.sheet`."""
    parts: list[Any] = []
    for curve in curves.curves:
        name = str(curve)
        x, y = curve.axes
        means = curves.mean().filter(curve=name).to_dicts()
        parts.append((f"{name}: {y} over {x}, mean over queries", ()))
        lines = _lines(means)
        if lines:
            parts.append(_drawing(lines))
        parts.append(_means(means, list(curves.runs), x, digits))
        remarks = tuple(_notes_on(curves, name, digits, targets))
        if remarks:
            parts.append(("", remarks))

        rows = []
        if which_k:
            rows = curves.which_k().filter(curve=name).to_dicts()
        if rows:
            parts.append(_choice(rows, digits))
            choices = tuple(_chosen(rows, curves))
            parts += [("", choices)] if choices else []
    notes = (curves.resampling_line(), data_notes(curves.audit, curves.conventions))
    return Sheet("", parts=tuple(parts), notes=notes)


def _drawing(lines: dict[str, Line]) -> Drawing:
    """Return a chart of means; where all are small, they have the whole height."""
    highest = max(max(line.y) for line in lines.values())
    top = highest or 1.0
    if 0.5 < highest <= 1:  # noqa: PLR2004 - small numbers deserve room
        top = 1.0
    first = next(iter(lines.values()))
    log = is_logarithmic(first.x)
    return Drawing(lines, top, logarithmic=log, named=False)


def _lines(means: list[Row]) -> dict[str, Line]:
    points: dict[str, list[tuple[float, float]]] = {}
    for row in means:
        of_run = points.setdefault(row["run"], [])
        if row["mean"] is not None:
            of_run.append((row["x"], row["mean"]))
    if not all(points.values()):
        return {}
    lines = {}
    for run, places in points.items():
        x, y = zip(*places, strict=True)
        lines[run] = Line(x, y)
    return lines


def _means(means: list[Row], runs: list[str], x: str, digits: int) -> Table:
    """Return a table of means, with intervals where there are few runs."""
    head = [x]
    for place, run in enumerate(runs):
        mark = ""
        if len(runs) > 1:
            mark = f"{MARKS[place % len(MARKS)]} "
        head.append(f"{mark}{printable(run, _LONGEST)}")

    grid = [row["x"] for row in means if row["run"] == runs[0]]
    rows = []
    for at_x in _thinned(grid):
        here = [row for row in means if row["x"] == at_x]
        cells = [_mean(row, digits, len(runs)) for row in here]
        rows.append((f"{at_x:g}", *cells))
    return Table("", tuple(head), tuple(rows), (True,) * len(head))


def _mean(row: Row, digits: int, runs: int) -> str:
    """Return a mean, alone or with its interval: ``0.4210 [0.3987, 0.4438]``."""
    mean = cell(row["mean"], digits=digits)
    if row["ci_low"] is None or runs > _FEW:
        return mean
    low = cell(row["ci_low"], digits=digits)
    high = cell(row["ci_high"], digits=digits)
    return f"{mean} [{low}, {high}]"


def _thinned(places: list[float]) -> list[float]:
    """Return all places, or those at round steps of a long curve, first and last included."""
    last = len(places) - 1
    if last < _MOST_ROWS:
        return places
    kept = {0, last}
    if is_logarithmic(places):
        for row, place in enumerate(places):
            if f"{place:e}".startswith(_ROUND):
                kept.add(row)
    else:
        least = -(-last // (_MOST_ROWS - 1))
        even = (step for step in range(least, 2 * least) if last % step == 0)
        kept |= {*range(0, last, next(even, least))}
    return [places[row] for row in sorted(kept)]


def _choice(rows: list[Row], digits: int) -> Table:
    """Return a table of how well each cutoff separates runs."""
    head = (
        "k",
        "significant",
        "tau, deepest k",
        "tau, samples",
        "best run",
        "best again",
    )
    cutoffs = [float(row["k"]) for row in rows]
    kept = set(_thinned(cutoffs))
    body = tuple(_choosing(row, digits) for row in rows if float(row["k"]) in kept)
    return Table(
        "", head, body, ("number", "number", "number", "interval", "id", "number")
    )


def _choosing(row: Row, digits: int) -> tuple[str, ...]:
    low = ""
    if row["tau_low"] is not None:
        low = f" [{cell(row['tau_low'], digits=digits)}]"
    return (
        f"{row['k']}",
        "–" if row["apart"] is None else f"{row['apart']} of {row['pairs']}",
        cell(row["tau_deepest"], digits=digits),
        f"{cell(row['tau_samples'], digits=digits)}{low}",
        "–" if row["best"] is None else printable(row["best"], _LONGEST),
        "–" if row["best_again"] is None else f"{row['best_again']:.0%}",
    )


# -- sentences ---------------------------------------------------------------------------------------------
def _notes_on(
    curves: Curves, name: str, digits: int, targets: Targets | None
) -> Iterator[str]:
    """Yield notes: queries without a curve, noise, comparisons, targets."""
    for row in curves.counts().filter(curve=name).iter_rows(named=True):
        yield from _left_out(row)
    for row in curves.noise().filter(curve=name).iter_rows(named=True):
        yield _noise(row, digits)
    for row in curves.crossings().filter(curve=name).iter_rows(named=True):
        yield _crossing(row)
    for row in curves.dominance().filter(curve=name).iter_rows(named=True):
        if row["dominates"]:
            yield _dominance(row)
    if targets:
        for row in curves.reach(targets).filter(curve=name).iter_rows(named=True):
            axis, _, limits = name.rpartition("@")[2].partition("(")
            if limits:
                yield _reach(row, limits.rstrip(")"), axis)
            else:
                yield _reach(row, axis, "k")
        for row in curves.races(targets).filter(curve=name).iter_rows(named=True):
            yield _race(row, axis if limits else "")


def _left_out(row: Row) -> Iterator[str]:
    why = []
    if row["n_no_relevant"]:
        why.append(f"{row['n_no_relevant']:,} without a relevant document")
    if row["n_undefined"]:
        why.append(f"{row['n_undefined']:,} undefined")
    if why:
        have = counted(row["n"], "query has", "queries have")
        yield f"{printable(row['run'])}  {have} a curve; left out: {', '.join(why)}"


def _noise(row: Row, digits: int) -> str:
    figures = {
        name: cell(row[name], digits=digits)
        for name in ("mean", "ci_low", "ci_high", "sd", "se", "iqr")
    }
    cv = cell(row["cv"], digits=2)
    failed = row["failed"] or 0.0
    return (
        f"{printable(row['run'])}  {row['measure']} {figures['mean']} "
        f"[{figures['ci_low']}, {figures['ci_high']}] · SD {figures['sd']} · SE {figures['se']} · CV {cv} · "
        f"IQR {figures['iqr']} · below 0.1: {failed:.0%} of {counted(row['n'], 'query')}"
    )


def _crossing(row: Row) -> str:
    before = printable(row["before"])
    after = printable(row["after"])
    ends = ""
    share = ""
    if row["ci_low"] is not None:
        ends = f" [{row['ci_low']:.3g}, {row['ci_high']:.3g}]"
    if row["found"] is not None:
        share = f" (in {row['found']:.0%} of the samples)"
    return f"crossing at {row['x']:.4g}{ends}: {before} is higher before, {after} after{share}"


def _dominance(row: Row) -> str:
    places = (
        f"above {printable(row['other'])} at {counted(row['above'], 'point')}, equal at {row['equal']}, "
        "nowhere below"
    )
    text = f"{printable(row['run'])} is {places}"
    if row["p"] is None:
        return text
    return (
        f"{text}; p = {row['p']:.3g} (share of samples in which it is below somewhere)"
    )


def _reach(row: Row, cutoffs: str, axis: str) -> str:
    run = printable(row["run"])
    target = f"{row['target']:g}"
    if row["k"] is None:
        return f"{run}  does not reach {target} at any {axis} = {cutoffs}"
    ends = ""
    if row["never"] is not None:
        low = "never" if row["ci_low"] is None else row["ci_low"]
        high = "never" if row["ci_high"] is None else row["ci_high"]
        ends = f" [{low}, {high}]"
    if row["grows"]:
        return f"{run}  reaches {target} at {axis} = {row['k']}{ends}"
    every = row["all_k"]
    shown = ", ".join(map(str, every[:_MOST_ROWS]))
    if len(every) > _MOST_ROWS:
        shown += ", …"
    return f"{run}  first reaches {target} at {axis} = {row['k']}{ends}; reaches it at {axis} = {shown}"


def _race(row: Row, cost: str) -> str:
    what = f"budget of {cost}" if cost else "k"
    sooner = f"at a smaller {what}"
    later = f"at a larger {what}"
    if cost == "score":
        sooner = "at a lower score"
        later = "at a higher score"
    if row["sooner"] is None:
        return f"{printable(row['run'])} against {printable(row['other'])}: no samples"
    return (
        f"{printable(row['run'])} reaches {row['target']:g} {sooner} than {printable(row['other'])} in "
        f"{row['sooner']:.0%} of the samples, {later} in {row['later']:.0%}"
    )


def _chosen(rows: list[Row], curves: Curves) -> Iterator[str]:
    """Yield a summary of the table, and how it was computed."""
    known = [row for row in rows if row["apart"] is not None]
    if known:
        most = max(row["apart"] for row in known)
        first = next(row["k"] for row in known if row["apart"] == most)
        if most:
            yield f"which k: most significant pairs, {most} of {rows[0]['pairs']}, first at k = {first}"
        else:
            yield "which k: no pair differs significantly at any k"
    sampling = curves.resampling
    yield (
        f"significant: pairs with p ≤ {1 - sampling.confidence:.3g} in the paired t-test, "
        f"{counted(rows[0]['n'], 'query')}; tau: Kendall's tau_b of the order of runs at k with that at "
        f"k = {rows[-1]['k']}, and with those of samples, as mean [{sampling.ends[0]:.1%} quantile]; "
        "best again: share of samples in which that run is best"
    )


def _area(curve: Curve, heights: Floats) -> Floats:
    """Return the mean height of lines through points, over the last axis."""
    x = curve.grid()
    if len(x) == 1:
        return np.asarray(heights[..., 0])
    left = heights[..., :-1]
    right = heights[..., 1:]
    strips = (right + left) / 2 * np.diff(x)
    area = strips.sum(axis=-1)
    return np.asarray(area / (x[-1] - x[0]))
