"""Charts of a comparison: intervals, queries, one system against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstone.errors import BadOption, nearest, printable
from rankstone.plots import pairs
from rankstone.plots.of_curves import cloud_chart, curve_chart, traced
from rankstone.plots.sampling import thinned
from rankstone.plots.style import legible
from rankstone.plots.words import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankstone.comparing import Comparison
    from rankstone.curves import Curves

__all__ = ["ComparisonPlots"]


@dataclass(frozen=True)
class ComparisonPlots:
    """Charts of a comparison, as Altair's: ``.save("forest.svg")``, or ``png``, ``pdf``, ``html``.

    Wherever a ``measure`` can be named, the first primary one is taken unless it is; wherever two systems
    can be named, the first question of the comparison.  Above 10,000 queries charts show an even sample and
    the largest differences, and their titles say so.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    >>> chart = found.plot.forest()  # doctest: +SKIP
    >>> chart.save("forest.svg")  # doctest: +SKIP
    """

    comparison: Comparison

    def forest(self, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
        """Return every question's difference with its interval at the family's level."""
        wanted = self._measure(measure)
        rows = pairs.question_rows(self.comparison.table.filter(measure=wanted))
        title = label("forest", self.comparison.lang, measure=wanted)
        return pairs.forest(rows, title, self.comparison.lang)

    def segments(self, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
        """Return the same for each segment of queries."""
        found = self.comparison.segments
        if found is None:
            raise BadOption("this comparison has no segments", fix="compare(…, queries=…, by='column')")
        wanted = self._measure(measure)
        title = label("segments", self.comparison.lang, measure=wanted)
        return pairs.forest(pairs.question_rows(found.filter(measure=wanted)), title, self.comparison.lang)

    def differences(
        self, measure: str | None = None, system: str | None = None, versus: str | None = None
    ) -> Any:  # noqa: ANN401 - Altair's chart
        """Return the queries' differences in order, a bar a query."""
        rows, title = self._queries("differences", measure, system, versus)
        return pairs.differences(rows, title, self.comparison.lang)

    def histogram(
        self, measure: str | None = None, system: str | None = None, versus: str | None = None
    ) -> Any:  # noqa: ANN401 - Altair's chart
        """Return how many queries have which difference."""
        rows, title = self._queries("histogram", measure, system, versus)
        return pairs.histogram(rows, title, self.comparison.lang)

    def scatter(
        self, measure: str | None = None, system: str | None = None, versus: str | None = None
    ) -> Any:  # noqa: ANN401 - Altair's chart
        """Return one system's scores over the other's, a point a query."""
        rows, title = self._queries("scatter", measure, system, versus)
        one, other = self._pair(system, versus)
        return pairs.scatter(rows, title, (legible(one, 30), legible(other, 30)), self.comparison.lang)

    def pr_curve(self, curves: Curves | None = None, system: str | None = None) -> Any:  # noqa: ANN401
        """Return precision over recall, interpolated, the mean of each system, with its interval up to four.

        Parameters
        ----------
        curves
            What :func:`rankstone.curve` traced; unless given, judgments and runs are read again for it,
            which scores that somebody saved do not have.
        system
            One system (run) alone, over its queries' own curves and the band that most of them are in.
        """
        found = traced(self.comparison, "PR") if curves is None else curves
        lang = self.comparison.lang
        if system is None:
            return curve_chart(found, label("pr", lang), lang)
        if system not in found.runs:
            raise _no_system(system, tuple(found.runs))
        return cloud_chart(found, system, label("cloud", lang, system=printable(system, 30)), lang)

    def at_k(self, measure: str = "nDCG", k: str = "1..20", curves: Curves | None = None) -> Any:  # noqa: ANN401
        """Return a measure over its cutoff, the mean of each system, with its interval up to four.

        Parameters
        ----------
        measure, k
            Which measure, at which cutoffs.
        curves
            As for :meth:`pr_curve`.
        """
        asked = f"{measure}@{k}"
        found = traced(self.comparison, asked) if curves is None else curves
        title = label("at_k", self.comparison.lang, measure=str(found.curves[0]))
        return curve_chart(found, title, self.comparison.lang)

    # -- what is shown -----------------------------------------------------------------------------
    def _measure(self, measure: str | None) -> str:
        names = self.comparison.measures
        if measure is None:
            return self.comparison.primary[0]
        if measure not in names:
            close = nearest(measure, names, n=1)
            raise BadOption(
                f"{printable(measure)} was not compared",
                expected=", ".join(names),
                fix=f"did you mean {close[0]}?" if close else None,
            )
        return measure

    def _pair(self, system: str | None, versus: str | None) -> tuple[str, str]:
        asked = self.comparison.table.select("system", "versus").unique(maintain_order=True).rows()
        if system is None and versus is None:
            one, other = asked[0]
            return str(one), str(other)
        for name in (system, versus):
            if name not in self.comparison.systems:
                raise _no_system(name, self.comparison.systems, "name both: system=…, versus=…")
        return str(system), str(versus)

    def _queries(
        self, what: str, measure: str | None, system: str | None, versus: str | None
    ) -> tuple[pl.DataFrame, str]:
        wanted, (one, other) = self._measure(measure), self._pair(system, versus)
        matrix = self.comparison.matrices[wanted]
        rows = pairs.query_rows(matrix, matrix.systems.index(one), matrix.systems.index(other))
        shown = thinned(rows)
        title = label(
            what,
            self.comparison.lang,
            measure=wanted,
            system=printable(one, 30),
            versus=printable(other, 30),
        )
        if shown.height < rows.height:
            title += label("some", self.comparison.lang, shown=f"{shown.height:,}", n=f"{rows.height:,}")
        return shown, title


def _no_system(name: str | None, known: Sequence[str], fix: str | None = None) -> BadOption:
    return BadOption(
        f"{printable(name)} is no system that was compared",
        expected=", ".join(map(printable, known)),
        fix=fix,
    )
