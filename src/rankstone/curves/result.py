"""Curves of one or more runs: held against targets and against each other, written and shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.curves import frames
from rankstone.curves.choosing import which_k
from rankstone.curves.comparing import Comparing
from rankstone.curves.means import MeanCurves
from rankstone.curves.targets import first_reaching, interval, reaching
from rankstone.errors import one_of
from rankstone.measures.at_cutoffs import targets_of
from rankstone.results import ShowsTable, WritesTable, shown_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from rankstone.measures.at_cutoffs import AtK, Targets
    from rankstone.measures.curves import Curve
    from rankstone.plots.of_curves import CurvePlots

__all__ = ["Curves"]


@dataclass(frozen=True, eq=False, repr=False)
class Curves(MeanCurves, WritesTable, ShowsTable):
    """Curves of one or more runs.

    Attributes
    ----------
    runs
        Run name → its curves.
    curves
        The curves, in the order asked for.
    audit
        What alignment did.
    conventions
        Every option and parameter the numbers depend on.
    inputs
        Where judgments and runs came from.
    resampling
        How spread and certainty are expressed: resamples, seed, confidence, band.

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

        Only curves over k are asked, and only at their cutoffs.  Where the measure never falls with
        k, one number says it all; elsewhere ``all_k`` lists every cutoff at or above the target.

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
            When no curve over k is there, or none of a measure that is named.
        """
        wanted = targets_of(self.curves, targets)
        rows = [self._reach(name, curve, target) for name in self.runs for curve, target in wanted]
        return frames.frame_of(rows, frames.REACH)

    def _reach(self, name: str, curve: AtK, target: float) -> tuple[object, ...]:
        cutoffs, places = curve.cutoffs, reaching(self._mean_of(name, curve), target)
        at = [cutoffs[place] for place in places]
        grows = curve.grows_with_k and not _signed(self.conventions["alignment"])
        ends: tuple[int | None, int | None] = (None, None)
        never = None
        if (means := self._resampled(name, curve)) is not None:
            first = first_reaching(means, target)
            ends, never = interval(first, cutoffs, self.resampling), float((first == len(cutoffs)).mean())
        return name, str(curve), target, at[0] if at else None, grows, None if grows else at, *ends, never

    def which_k(self, correction: str = "none") -> pl.DataFrame:
        """Return how well each cutoff tells the runs apart, and how steady their order is there.

        Parameters
        ----------
        correction
            Of the p-values of all pairs at one cutoff, as for :func:`rankstone.compare`.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``k``; ``n`` queries in which all runs have a value; ``pairs`` of runs; ``apart``, how
            many of these the paired t-test tells apart at 1 − confidence, and ``power``, their share
            (discriminative power); ``tau_deepest``, Kendall's tau_b between the order of runs at k and at the
            deepest cutoff; ``tau_samples`` and ``tau_low``, the mean and the lower end of tau_b between the
            order at k and that in resamples of queries; ``best``, the run in front, and ``best_again``, the
            share of resamples in which no run is before it.  Null: all runs are equal, or a single query.

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
                which_k(self.curves, self.runs, self.resampling, correction), frames.WHICH_K
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
        return frames.frame_of((row for pair in self._pairs() for row in pair.crossings()), frames.CROSSINGS)

    def dominance(self) -> pl.DataFrame:
        """Return, for every two runs both ways, whether the first is nowhere below the second.

        Returns
        -------
        polars.DataFrame
            ``curve``, ``run``, ``other``; ``above``, ``equal`` and ``below``, numbers of places on the
            grid; ``dominates`` (never below, somewhere above); ``p``, the share of resamples of queries
            in which the run falls below somewhere, (count + 1) / (resamples + 1); ``n`` queries shared.
        """
        ways = (way for pair in self._pairs() for way in (pair, pair.turned()))
        return frames.frame_of((way.dominance() for way in ways), frames.DOMINANCE)

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
        wanted = targets_of(self.curves, targets)
        rows = [
            pair.race(curve.cutoffs, target)
            for curve, target in wanted
            for pair in self._pairs()
            if pair.curve == curve
        ]
        return frames.frame_of(rows, frames.RACES)

    def _pairs(self) -> Iterator[Comparing]:
        for curve in self.curves:
            for names in combinations(self.runs, 2):
                yield self._once(("pair", curve, names), lambda: self._pair(curve, *names))  # noqa: B023 - called at once

    def _pair(self, curve: Curve, one: str, other: str) -> Comparing:
        return Comparing.of(curve, (one, self.runs[one]), (other, self.runs[other]), self.resampling)

    # -- everything ---------------------------------------------------------------------------------
    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts: means, noise, comparisons, audit, conventions, inputs."""
        frames = {
            "mean": self.mean(),
            "micro": self.micro(),
            "counts": self.counts(),
            "noise": self.noise(),
            "crossings": self.crossings(),
            "dominance": self.dominance(),
        }
        return {
            **{name: frame.to_dicts() for name, frame in frames.items()},
            "resampling": self.resampling.as_dict(),
            "audit": self.audit.to_dict(),
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    def table(self, curve: str | None = None) -> pl.DataFrame:
        """Return the means of one curve (the first) as one row per x and one column per run."""
        means = self.mean()
        means = means.filter(pl.col("curve") == (means["curve"][0] if curve is None else curve))
        return means.pivot("run", index="x", values="mean", maintain_order=True)

    def resampling_line(self) -> str:
        """Return the line that says how intervals and bands were made."""
        how = self.resampling
        return (
            f"intervals  {how.confidence:g} of {how.resamples:,} bootstrap samples of queries, "
            f"seed {how.seed} · band {how.band[0]:g}–{how.band[1]:g} of queries"
        )

    @property
    def plot(self) -> CurvePlots:
        """Their charts, Altair's (needs the extra ``report``)."""
        from rankstone.plots.of_curves import CurvePlots

        return CurvePlots(self)

    def write_chart(
        self,
        path: str | os.PathLike[str],
        kind: str = "means",
        *,
        curve: str | None = None,
        run: str | None = None,
        lang: str = "en",
    ) -> None:
        """Write a chart, whole or not at all: SVG, PNG, PDF, or HTML that opens offline (needs ``report``).

        Parameters
        ----------
        path
            The file; its suffix says which format.
        kind
            ``means`` of all runs, or ``cloud``: one run's mean over the curves of its queries.
        curve, run
            Which; the first unless named.
        lang
            ``en`` or ``zh``.
        """
        from rankstone.plots.pages import write_chart

        one_of("kind", kind, ("means", "cloud"))
        plots = replace(self.plot, lang=lang)
        write_chart(plots.cloud(run, curve) if kind == "cloud" else plots.means(curve), path)

    # -- people ------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        parts = []
        with shown_whole(rows=24):
            for curve in self.mean()["curve"].unique(maintain_order=True):
                parts += [curve, str(self.table(curve))]
        return "\n".join([*parts, *self.audit.lines(), self.resampling_line()])


def _signed(alignment: Mapping[str, Any]) -> bool:
    """Tell whether grades below zero may take part."""
    unjudged = alignment["unjudged"]
    return alignment["negative"] == "keep" or (isinstance(unjudged, (int, float)) and unjudged < 0)
