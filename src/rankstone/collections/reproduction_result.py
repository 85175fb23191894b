"""The result of repeating an experiment: its figures as tables, and what they say in sentences."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from rankstone._basics import Record, some
from rankstone.errors import UsageError, printable
from rankstone.stats.automatic_intervals import verdict
from rankstone.stats.order_agreement import FEWEST, FEWEST_QUERIES
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Table, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Kind


#: the tables of scores, of improvements, and of the order of systems
_MEANS: Final = ("original", "again")
_SCORES: Final = (*_MEANS, "difference", "RMSE", "nRMSE", "p")
_EFFECTS: Final = ("improvement", "improvement again", "ER", "ΔRI")
_ORDER: Final = "tau of systems"
#: figures that are shown with their sign
_SIGNED: Final = ("difference", "improvement", "improvement again", "ΔRI")
_NAME: Final = 40
_LEAST_P: Final = 0.0001


class Figure(NamedTuple):
    """A figure of a repetition: of a system, a measure, or both.

    ``low`` and ``high`` are its interval, NaN where there is none; ``n`` the number of queries.
    """

    system: str | None
    measure: str | None
    statistic: str
    value: float
    low: float
    high: float
    n: int


class Reproduction(Findings, Record):
    """An experiment and its repetition.

    Attributes
    ----------
    figures
        All figures, see :meth:`to_frame`.
    systems, measures
        Their names.
    paired
        True if both are on the same queries (reproduced); False for another collection (replicated).
    baseline
        The system over which the others improve.
    margin, confidence, seed, lang
        A difference that does not matter; of every interval; of the bootstrap; of sentences.
    only
        Systems of one side only, which are left out.
    left_out
        Queries that are left out since a system has no value, at most by any measure.
    audit, conventions, inputs
        As of an evaluation; ``inputs`` has those of both sides.
    """

    figures: tuple[Figure, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...] = ()
    paired: bool = True
    baseline: str | None = None
    margin: float | None = None
    confidence: float = 0.95
    seed: int = 0
    lang: str = "en"
    only: tuple[str, ...] = ()
    left_out: int = 0
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 4

    section = "reproduction"

    def figure(self, system: str | None, measure: str | None, statistic: str) -> Figure:
        """Return a figure.

        Parameters
        ----------
        system, measure
            ``None`` where a figure has none: lists have no measure, the order of systems no system.
        statistic
            ``same``, ``tau_b``, ``KTU@1000``, ``original``, ``again``, ``difference``, ``RMSE``, ``nRMSE``,
            ``p``, ``improvement``, ``ER``, ``ΔRI``, ``tau of systems``, …
        """
        figure = self._by_name.get((system, measure, statistic))
        if figure is None:
            statistics = dict.fromkeys(figure.statistic for figure in self.figures)
            raise UsageError(
                f"there is no {printable(statistic)} of {system} and {measure}",
                expected=some(statistics, 20),
            )
        return figure

    @property
    def _by_name(self) -> dict[tuple[Any, ...], Figure]:
        """System, measure and statistic → figure."""
        return {figure[:3]: figure for figure in self.figures}

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each figure.

        Returns
        -------
        polars.DataFrame
            ``system`` and ``measure``, null where a figure has none; ``statistic``; ``value``, ``low`` and
            ``high``, null where there is none; ``n`` queries.
        """
        names = dict.fromkeys(("system", "measure", "statistic"), pl.String)
        numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
        schema = {**names, **numbers, "n": pl.Int64}
        frame = pl.DataFrame(self.figures, schema, orient="row")
        return frame.with_columns(pl.col(*numbers).fill_nan(None))

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        report = super().report()
        report["figures"] = self.to_frame().to_dicts()
        return report

    def title(self) -> str:
        """Return what was repeated."""
        return self.say(
            "title_same" if self.paired else "title_other", systems=some(self.systems)
        )

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:  # noqa: ARG002 - all are shown
        """Return the figures of lists, scores, improvements and orders."""
        lists = [figure.statistic for figure in self.figures if figure.measure is None]
        columns = {
            "lists": dict.fromkeys(lists),
            "scores": _SCORES,
            "effects": _EFFECTS,
            "orders": (_ORDER,),
        }
        tables = [self._table(name, columns[name], digits) for name in columns]
        return [table for table in tables if table.rows]

    def _table(self, name: str, columns: Iterable[str], digits: int) -> Table:
        """Return a row for each system and measure, with a column for each figure that any of them has."""
        rows: dict[tuple[str | None, str | None], dict[str, Figure]] = {}
        for figure in self.figures:
            if figure.statistic in columns:
                row = rows.setdefault(figure[:2], {})
                row[figure.statistic] = figure
        head: list[str] = []
        kinds: list[Kind] = []
        cells: list[list[str]] = []
        for place, name_of in enumerate(("system", "measure")):
            names = [key[place] for key in rows]
            if any(names):
                head.append(name_of)
                kinds.append("id")
                cells.append([printable(each, _NAME) for each in names])
        for column in columns:
            figures = [row.get(column) for row in rows.values()]
            if any(figures):
                head.append(column)
                kinds.append("p" if column == "p" else "interval")
                cells.append([_cell(figure, digits) for figure in figures])
        return Table(
            self.say(name),
            tuple(map(self.say, head)),
            tuple(zip(*cells, strict=True)),
            tuple(kinds),
        )

    def method_lines(self) -> Iterator[str]:
        """Yield how the figures are made."""
        statistics = {figure.statistic for figure in self.figures}
        typical = {
            "lists": "same",
            "scores": "original",
            "effects": "ER",
            "orders": _ORDER,
        }
        for table, statistic in typical.items():
            if statistic in statistics:
                yield self.say(f"{table}_method")
        yield self.say("level", level=f"{100 * self.confidence:g} %")

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what the figures say."""
        by_name = self._by_name
        baseline = printable(self.baseline, _NAME)
        for system in self.systems:
            same = by_name.get((system, None, "same"))
            if same is not None:
                yield self.say(
                    "same_lists" if same.value == 1 else "other_lists",
                    system=printable(system, _NAME),
                    share=f"{100 * same.value:.3g} %",
                    n=f"{same.n:,}",
                )
            for measure in self.measures:
                yield self._of_means(system, measure, digits)
                ratio = by_name.get((system, measure, "ER"))
                if ratio is not None:
                    numbers = _numbers(ratio, digits)
                    yield self.say(_effect(ratio), baseline=baseline, **numbers)
        for figure in self.figures:
            if figure.statistic == _ORDER and not math.isnan(figure.value):
                yield self.say(
                    "order_few" if math.isnan(figure.low) else "order",
                    systems=FEWEST,
                    queries=FEWEST_QUERIES,
                    **_numbers(figure, digits),
                )
        if self.left_out:
            yield self.say("left_out", count=f"{self.left_out:,}")
        if self.only:
            yield self.say("only", names=some(self.only, 6))

    def _of_means(self, system: str, measure: str, digits: int) -> str:
        """Return whether the mean is the same again, and how far scores of queries are from each other."""
        by_name = self._by_name
        difference = by_name[system, measure, "difference"]
        numbers = _numbers(difference, digits)
        distance = by_name.get((system, measure, "RMSE"))
        if distance is not None and distance.value == 0:
            return self.say("same_scores", **numbers)

        conclusion = "inconclusive"
        if not math.isnan(difference.low):
            limits = difference.low, difference.high
            conclusion = verdict(limits, "neither", self.margin)
        for name in _MEANS:
            mean = by_name[system, measure, name]
            numbers[name] = f"{mean.value:.{digits}f}"
        text = self.say(conclusion, **numbers, margin=f"{self.margin or 0:g}")
        if distance is None:
            return text
        return text + self.say("rmse", value=number(distance.value, digits))


def _effect(ratio: Figure) -> str:
    """Return the phrase for an effect ratio: whether there is an improvement again, and how large."""
    if math.isnan(ratio.low):
        return "no_effect"
    if ratio.high <= 0:
        return "opposite_effect"
    if ratio.low <= 0:
        return "unclear_effect"
    if ratio.high < 1:
        return "smaller_effect"
    return "larger_effect" if ratio.low > 1 else "same_effect"


def _numbers(figure: Figure, digits: int) -> dict[str, str]:
    """Return what sentences say of a figure: its numbers, – for those it has not, system and measure."""
    sign = "+" if figure.statistic in _SIGNED else ""
    texts = {
        "system": printable(figure.system, _NAME),
        "measure": printable(figure.measure, _NAME),
    }
    for name in ("value", "low", "high"):
        value = getattr(figure, name)
        texts[name] = "–" if math.isnan(value) else f"{value:{sign}.{digits}f}"
    return texts


def _cell(figure: Figure | None, digits: int) -> str:
    """Return a figure with its interval."""
    if figure is None or math.isnan(figure.value):
        return "–"
    if figure.statistic == "p":
        return f"<{_LEAST_P}" if figure.value < _LEAST_P else f"{figure.value:.4f}"
    texts = _numbers(figure, digits)
    # the difference of both means says how sure they are
    is_mean = figure.statistic in _MEANS
    if is_mean or math.isnan(figure.low):
        return texts["value"]
    return "{value} [{low}, {high}]".format(**texts)
