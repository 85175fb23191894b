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
_SCORES: Final = ("original", "again", "difference", "RMSE", "nRMSE", "p")
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
        if found := self._find.get((system, measure, statistic)):
            return found
        known = some(dict.fromkeys(one.statistic for one in self.figures), 20)
        raise UsageError(
            f"there is no {printable(statistic)} of {system} and {measure}",
            expected=known,
        )

    @property
    def _find(self) -> dict[tuple[Any, ...], Figure]:
        return {one[:3]: one for one in self.figures}

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each figure.

        Returns
        -------
        polars.DataFrame
            ``system`` and ``measure``, null where a figure has none; ``statistic``; ``value``, ``low`` and
            ``high``, null where there is none; ``n`` queries.
        """
        types = dict.fromkeys(("system", "measure", "statistic"), pl.String)
        numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
        frame = pl.DataFrame(
            self.figures, {**types, **numbers, "n": pl.Int64}, orient="row"
        )
        return frame.with_columns(pl.col(*numbers).fill_nan(None))

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return super().report() | {"figures": self.to_frame().to_dicts()}

    def title(self) -> str:
        """Return what was repeated."""
        return self.say(
            "title_same" if self.paired else "title_other", systems=some(self.systems)
        )

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:  # noqa: ARG002 - all are shown
        """Return the figures of lists, scores, improvements and orders."""
        lists = dict.fromkeys(
            one.statistic for one in self.figures if one.measure is None
        )
        names = {
            "lists": lists,
            "scores": _SCORES,
            "effects": _EFFECTS,
            "orders": (_ORDER,),
        }
        tables = (self._table(name, columns, digits) for name, columns in names.items())
        return [table for table in tables if table.rows]

    def _table(self, name: str, columns: Iterable[str], digits: int) -> Table:
        """Return a row for each system and measure, with a column for each figure that any of them has."""
        rows: dict[tuple[str | None, str | None], dict[str, Figure]] = {}
        for one in self.figures:
            if one.statistic in columns:
                rows.setdefault(one[:2], {})[one.statistic] = one
        columns = [
            column for column in columns if any(column in row for row in rows.values())
        ]
        heads = [at for at in (0, 1) if any(key[at] is not None for key in rows)]
        body = [
            (
                *(printable(key[at], _NAME) for at in heads),
                *(_cell(row.get(one), digits) for one in columns),
            )
            for key, row in rows.items()
        ]
        head = [("system", "measure")[at] for at in heads] + columns
        kinds: list[Kind] = ["id"] * len(heads)
        kinds += ["p" if one == "p" else "interval" for one in columns]
        return Table(
            self.say(name), tuple(map(self.say, head)), tuple(body), tuple(kinds)
        )

    def method_lines(self) -> Iterator[str]:
        """Yield how the figures are made."""
        known = {one.statistic for one in self.figures}
        of = {"lists": "same", "scores": "original", "effects": "ER", "orders": _ORDER}
        yield from (
            self.say(f"{name}_method") for name, figure in of.items() if figure in known
        )
        yield self.say("level", level=f"{100 * self.confidence:g} %")

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what the figures say."""
        find = self._find
        for system in self.systems:
            if same := find.get((system, None, "same")):
                name = "same_lists" if same.value == 1 else "other_lists"
                share = f"{100 * same.value:.3g} %"
                yield self.say(
                    name, system=printable(system, _NAME), share=share, n=f"{same.n:,}"
                )
            for measure in self.measures:
                yield self._of_means(system, measure, digits)
                if ratio := find.get((system, measure, "ER")):
                    baseline = printable(self.baseline, _NAME)
                    yield self.say(
                        _effect(ratio), baseline=baseline, **_numbers(ratio, digits)
                    )
        orders = (
            one
            for one in self.figures
            if one.statistic == _ORDER and not math.isnan(one.value)
        )
        for one in orders:
            yield self.say(
                "order_few" if math.isnan(one.low) else "order",
                systems=FEWEST,
                queries=FEWEST_QUERIES,
                **_numbers(one, digits),
            )
        if self.left_out:
            yield self.say("left_out", count=f"{self.left_out:,}")
        if self.only:
            yield self.say("only", names=some(self.only, 6))

    def _of_means(self, system: str, measure: str, digits: int) -> str:
        """Return whether the mean is the same again, and how far scores of queries are from each other."""
        find = self._find
        one = find[system, measure, "difference"]
        distance = find.get((system, measure, "RMSE"))
        if distance is not None and distance.value == 0:
            return self.say("same_scores", **_numbers(one, digits))
        way = (
            "inconclusive"
            if math.isnan(one.low)
            else verdict((one.low, one.high), "neither", self.margin)
        )
        means = {
            name: f"{find[system, measure, name].value:.{digits}f}"
            for name in ("original", "again")
        }
        text = self.say(
            way, **_numbers(one, digits), **means, margin=f"{self.margin or 0:g}"
        )
        return (
            text
            if distance is None
            else text + self.say("rmse", value=number(distance.value, digits))
        )


def _effect(ratio: Figure) -> str:
    """Return the phrase for an effect ratio: whether there is an improvement again, and how large."""
    if math.isnan(ratio.low):
        return "no_effect"
    if ratio.low > 0:
        return (
            "smaller_effect"
            if ratio.high < 1
            else "larger_effect"
            if ratio.low > 1
            else "same_effect"
        )
    return "opposite_effect" if ratio.high <= 0 else "unclear_effect"


def _numbers(one: Figure, digits: int) -> dict[str, str]:
    sign = "+" if one.statistic in _SIGNED else ""
    known = {name: getattr(one, name) for name in ("value", "low", "high")}
    numbers = {
        name: "–" if math.isnan(value) else f"{value:{sign}.{digits}f}"
        for name, value in known.items()
    }
    return numbers | {
        "system": printable(one.system, _NAME),
        "measure": printable(one.measure, _NAME),
    }


def _cell(one: Figure | None, digits: int) -> str:
    """Return a figure with its interval."""
    if one is None or math.isnan(one.value):
        return "–"
    if one.statistic == "p":
        return f"<{_LEAST_P}" if one.value < _LEAST_P else f"{one.value:.4f}"
    text = _numbers(one, digits)
    alone = math.isnan(one.low) or one.statistic in (
        "original",
        "again",
    )  # their difference says how sure
    return text["value"] if alone else "{value} [{low}, {high}]".format(**text)
