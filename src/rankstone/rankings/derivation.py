"""How a number came about: the tables it is the sum of, whatever kind of measure it is.

What is shown of derivations: the tables that were added up, and what became of their sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.tables.phrases import phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.hits.trace import RecordedTable, Trace
    from rankstone.measures.core.definition import Named

    #: a recorded table → what its rows are called: ids, numbers
    Naming = Callable[[RecordedTable], list[str]]

__all__ = ["Derivation", "TraceTable", "of_derivation"]


@dataclass(frozen=True, eq=False)
class TraceTable:
    """A table that was added up.

    Attributes
    ----------
    of
        What its rows are: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user`` or ``part``.
    title
        What distinguishes it from the other tables of the value; empty where it is the only one.
    frame
        A row each: its name under ``of``, what the measure computed with, ``contribution`` where rows are
        added up, and ``running``, the sum so far, where they are added in this order.
    total
        The sum; ``None`` where nothing is summed.
    steps
        What was made of it afterwards, by name, in the order of the computation.
    """

    of: str
    title: str
    frame: pl.DataFrame
    total: float | None
    steps: Mapping[str, float]

    @classmethod
    def of_recorded(cls, table: RecordedTable, names: Naming, *, in_order: bool) -> Self:
        """Return a recorded table with names and, where rows were added in their order, running totals.

        Parameters
        ----------
        table
            What the measure recorded.
        names
            What its rows are called.
        in_order
            True if rows were added one after the other; else the largest come first, equal ones by name.
        """
        columns = dict(table.columns)
        added = columns.pop("contribution", None)
        data: dict[str, Any] = {table.of: pl.Series(names(table), dtype=pl.String)}
        data |= {name: _column(values) for name, values in columns.items()}
        if added is not None:
            data["contribution"] = added.astype(np.float64)
            if in_order:
                data["running"] = np.add.accumulate(data["contribution"])
        frame = pl.DataFrame(data)
        if added is not None and not in_order:
            by = [pl.col("contribution").abs(), *map(pl.col, list(columns)[:1]), pl.col(table.of)]
            frame = frame.sort(by, descending=[True] * (len(by) - 1) + [False], maintain_order=True)
        return cls(table.of, table.title, frame, table.total, dict(table.steps))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain = {"of": self.of, "title": self.title, "total": self.total, "steps": dict(self.steps)}
        return {**plain, "rows": self.frame.to_dicts()}


def _column(values: Any) -> pl.Series:  # noqa: ANN401 - an array
    if values.dtype == np.bool_:
        return pl.Series(values)
    return pl.Series(values.astype(np.float64)).fill_nan(None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Derivation(Result):
    """How a value of two rankings, of one list, or of a whole run came about.

    Attributes
    ----------
    measure
        What is explained.
    of
        The query or user it is a value of; ``None`` for one of the whole run.
    runs
        The run, or the two runs that are compared.
    status
        ``ok``, or why there is no value.
    value
        As the result has it, to the last bit; ``None`` where there is none.
    numerator, denominator
        What was divided, and by what; ``None`` where the measure had nothing to look at.
    tables
        What was added up, in the order in which that was done.
    conventions
        Every option and parameter the number depends on.
    card
        Sentence, formula, symbols, and when the measure is undefined.
    lang
        Language of headings.

    Examples
    --------
    >>> import rankstone
    >>> alike = rankstone.diff({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@2")
    >>> found = alike.explain("Jaccard@2", "q")
    >>> found.numerator, found.denominator, found.value
    (2.0, 2.0, 1.0)
    >>> found.tables[0].frame.rows()
    [('a', 1.0, 2.0, 1.0, 1.0), ('b', 2.0, 1.0, 1.0, 2.0)]
    """

    measure: str
    of: str | None
    runs: tuple[str, ...]
    status: str
    value: float | None
    numerator: float | None
    denominator: float | None
    tables: tuple[TraceTable, ...]
    conventions: Mapping[str, Any]
    card: Mapping[str, str]
    lang: str = "en"

    @classmethod
    def of_trace(
        cls,
        measure: Named,
        trace: Trace,
        outcome: tuple[float, str],
        *,
        of: str | None,
        runs: tuple[str, ...],
        names: Naming,
        in_order: bool,
        conventions: Mapping[str, Any],
        lang: str,
    ) -> Self:
        """Return what a measure of lists recorded while it computed a value.

        Parameters
        ----------
        measure
            The measure.
        trace
            What it recorded.
        outcome
            The value, NaN where there is none, and its status.
        of, runs, conventions, lang
            As of the class.
        names, in_order
            As for :meth:`TraceTable.of_recorded`.
        """
        value, status = outcome
        parts = ("sentence", "formula", "symbols", "undefined")
        return cls(
            measure=str(measure),
            of=of,
            runs=runs,
            status=status,
            value=None if np.isnan(value) else value,
            numerator=trace.numerator,
            denominator=trace.denominator,
            tables=tuple(TraceTable.of_recorded(one, names, in_order=in_order) for one in trace.tables),
            conventions={
                **conventions,
                "measures": [str(measure)],
                "defaults": dict(measure.default_parameters()),
            },
            card={part: getattr(measure.card, part) for part in parts},
            lang=lang,
        )

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts and lists."""
        names = ("measure", "of", "status", "value", "numerator", "denominator")
        plain = {name: getattr(self, name) for name in names}
        tables = [table.to_dict() for table in self.tables]
        rest = {"conventions": dict(self.conventions), "card": dict(self.card)}
        return {**plain, "runs": list(self.runs), "tables": tables, **rest}

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of all tables: ``table`` is the title, ``row`` the name of each."""
        parts = [
            one.frame.rename({one.of: "row"}).select(
                pl.lit(one.title).alias("table"), pl.col("row").cast(pl.String), pl.exclude("row")
            )
            for one in self.tables
        ]
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what people read; always with four decimals."""
        del digits

        return of_derivation(self)


heading: Final = partial(phrase, "lists")
#: rows shown at most
_ROWS: Final = 25
#: letters of a run's name in a heading
_RUN: Final = 9
#: what is said below tables that have a column
_TO_READ: Final = {"places": "place_a", "counts_twice": "opposite", "doubled": "same"}
#: statuses that have words of their own; the card says the others
_SAID: Final = ("only_a", "only_b")
#: letters of an id
_NAME: Final = 60


def of_derivation(one: Derivation) -> Sheet:
    """Return what is shown of a derivation."""
    lang = one.lang
    shown = number(one.value) if one.value is not None else heading("undefined", lang)
    whose = heading("whole_run", lang) if one.of is None else _whose(one)
    runs = " · ".join(map(printable, one.runs))
    parts: list[Table | tuple[str, tuple[str, ...]]] = [
        _table(one, table, last=table is one.tables[-1]) for table in one.tables
    ]
    columns = {name for table in one.tables for name in table.frame.columns}
    said = [name for name, sign in _TO_READ.items() if sign in columns]
    if said:
        parts.append((heading("notes", lang), tuple(heading(name, lang) for name in said)))
    if one.value is None:
        why = heading(
            one.status if one.status in _SAID else "as_its_card_says",
            lang,
            undefined=one.card["undefined"],
            first=printable(one.runs[0]),
            last=printable(one.runs[-1]),
        )
        parts.append((heading("why", lang), (why,)))
    title = f"{printable(one.measure)} = {shown}   {whose}   {runs}"
    return Sheet(title, one.card["formula"], one.card["symbols"], tuple(parts))


def _whose(one: Derivation) -> str:
    word = "query" if len(one.runs) > 1 else "user"
    return f"{heading(word, one.lang)} {printable(one.of or '')}"


def _table(one: Derivation, table: TraceTable, *, last: bool) -> Table:
    lang, frame = one.lang, table.frame
    names = [name for name in frame.columns if name != table.of]
    shown = frame.head(_ROWS)
    rows = [(printable(row[0], _NAME), *map(_cell, row[1:])) for row in shown.select(table.of, *names).rows()]
    blank = ("",) * len(names)
    if frame.height > _ROWS:
        rest = frame.slice(_ROWS)
        more = heading("more", lang, count=rest.height)
        cells = [_rest(rest, name) if name == "contribution" else "" for name in names]
        rows.append((more, *cells))
    ends = [(heading(name, lang), value) for name, value in _ends(one, table, last=last)]
    rows += [(name, *blank[1:], number(value)) for name, value in ends]
    head = (heading(table.of, lang), *(_head(one, name) for name in names))
    numeric = (table.of == "depth", *(True for _ in names))
    title = heading(table.title or f"by_{table.of}", lang)
    return Table(title, head, tuple(rows), numeric, len(ends))


def _ends(one: Derivation, table: TraceTable, *, last: bool) -> list[tuple[str, float | None]]:
    """Return what stands below the rows: the sum, what became of it, and below the last table the value."""
    found: list[tuple[str, float | None]] = []
    if table.total is not None and (not last or table.steps or table.total != one.numerator):
        found.append(("sum", table.total))
    found += table.steps.items()
    if last:
        found += [("numerator", one.numerator), ("denominator", one.denominator)]
        ratio = one.numerator / one.denominator if one.denominator and one.numerator is not None else None
        if ratio is not None and one.value is not None and ratio != one.value:
            found.append(("ratio", ratio))
        found.append(("value", one.value))
    return found


def _head(one: Derivation, name: str) -> str:
    """Return the head of a column; ranks in either run bear its name."""
    word, _, side = name.rpartition("_")
    if word in ("rank", "place"):
        return f"{heading(word, one.lang)} {printable(one.runs[0 if side == 'a' else -1], _RUN)}"
    return heading(name, one.lang)


def _cell(value: Any) -> str:  # noqa: ANN401 - what measures tell
    return number(value)


def _rest(rest: pl.DataFrame, name: str) -> str:
    return number(float(rest[name].sum()))
