"""Derivations: the tables that a value is the sum of, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import printable
from rankstone.tables.phrases import about_card, from_english, phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table
from rankstone.tables.sheet import number as decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.hits.trace import RecordedTable, Trace
    from rankstone.measures.core.definition import Named

    #: a recorded table → the names of its rows: ids, numbers
    Naming = Callable[[RecordedTable], list[str]]


class TraceTable(Record):
    """A table that was summed.

    Attributes
    ----------
    of
        The kind of its rows: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user`` or
        ``part``.
    title
        Its title among the tables of the value; empty for the only one.
    frame
        One row for each: its name under ``of``, the numbers of the measure, ``contribution`` where rows are
        summed, and ``running``, the running sum, where they are summed in this order.
    total
        The sum; ``None`` for a table without one.
    steps
        Further results by name, in the order of the computation.
    """

    of: str
    title: str
    frame: pl.DataFrame
    total: float | None
    steps: Mapping[str, float]

    @classmethod
    def from_recorded(
        cls, table: RecordedTable, names: Naming, *, keep_order: bool
    ) -> Self:
        """Return a recorded table with names and, where the order is kept, running totals.

        Parameters
        ----------
        table
            The table that the measure recorded.
        names
            The names of its rows.
        keep_order
            True if rows were summed in their order; otherwise they are sorted, largest first, then by name.
        """
        columns = dict(table.columns)
        added = columns.pop("contribution", None)
        data: dict[str, Any] = {table.of: pl.Series(names(table), dtype=pl.String)}
        data |= {name: _column(values) for name, values in columns.items()}
        if added is not None:
            data["contribution"] = added.astype(np.float64)
            if keep_order:
                data["running"] = np.add.accumulate(data["contribution"])
        frame = pl.DataFrame(data)
        if added is not None and not keep_order:
            by = [
                pl.col("contribution").abs(),
                *map(pl.col, list(columns)[:1]),
                pl.col(table.of),
            ]
            frame = frame.sort(
                by, descending=[True] * (len(by) - 1) + [False], maintain_order=True
            )
        return cls(table.of, table.title, frame, table.total, dict(table.steps))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain = {
            "of": self.of,
            "title": self.title,
            "total": self.total,
            "steps": dict(self.steps),
        }
        return {**plain, "rows": self.frame.to_dicts()}


def _column(values: Any) -> pl.Series:  # noqa: ANN401 - an array
    if values.dtype == np.bool_:
        return pl.Series(values)
    return pl.Series(values.astype(np.float64)).fill_nan(None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Derivation(Result):
    """How a value of two rankings, of one list, or of a whole run was computed.

    Attributes
    ----------
    measure
        The measure.
    of
        The query or user; ``None`` for a value of the whole run.
    runs
        The run, or the two runs that are compared.
    status
        ``ok``, or why there is no value.
    value
        The value of the result, to the last bit; ``None`` where there is none.
    numerator, denominator
        The dividend and the divisor; ``None`` where the measure was not computed.
    tables
        The tables that were summed, in order.
    conventions
        Every option and parameter the number depends on.
    card
        Sentence, formula, symbols, and when the measure is undefined.
    lang
        Language of headings.

    Examples
    --------
    >>> import rankstone
    >>> similarity = rankstone.diff({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@2")
    >>> derivation = similarity.explain("Jaccard@2", "q")
    >>> derivation.numerator, derivation.denominator, derivation.value
    (2.0, 2.0, 1.0)
    >>> derivation.tables[0].frame.rows()
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

    picture = "rankstone.rankings.derivation:derivation_sheet"

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
        keep_order: bool,
        conventions: Mapping[str, Any],
        lang: str,
    ) -> Self:
        """Return the derivation of a value from the trace of its measure.

        Parameters
        ----------
        measure
            The measure.
        trace
            Its trace.
        outcome
            The value, NaN where there is none, and its status.
        of, runs, conventions, lang
            As in the class.
        names, keep_order
            As for :meth:`TraceTable.from_recorded`.
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
            tables=tuple(
                TraceTable.from_recorded(table, names, keep_order=keep_order)
                for table in trace.tables
            ),
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
            table.frame.rename({table.of: "row"}).select(
                pl.lit(table.title).alias("table"),
                pl.col("row").cast(pl.String),
                pl.exclude("row"),
            )
            for table in self.tables
        ]
        if parts:
            return pl.concat(parts, how="diagonal_relaxed")
        return pl.DataFrame()


heading: Final = partial(phrase, "lists")
#: the most rows shown
_ROWS: Final = 25
#: the most letters of the name of a run in a heading
_RUN: Final = 9
#: note → the column that it explains
_NOTES: Final = {"places": "place_a", "counts_twice": "opposite", "doubled": "same"}
#: statuses with a phrase; for the others the card has the text
_PHRASED: Final = ("only_a", "only_b")
#: the most letters of an id
_NAME: Final = 60


def derivation_sheet(derivation: Derivation, digits: int = 4) -> Sheet:
    """Return a derivation as a sheet, with this many decimals."""
    lang = derivation.lang
    number = partial(decimal, digits=digits)

    shown = (
        number(derivation.value)
        if derivation.value is not None
        else heading("undefined", lang)
    )
    owner = heading("whole_run", lang) if derivation.of is None else _owner(derivation)
    runs = " · ".join(map(printable, derivation.runs))
    title = f"{printable(derivation.measure)} = {shown}   {owner}   {runs}"

    parts: list[Table | tuple[str, tuple[str, ...]]] = [
        _table(derivation, table, digits, last=table is derivation.tables[-1])
        for table in derivation.tables
    ]

    columns = {name for table in derivation.tables for name in table.frame.columns}
    notes = [name for name, column in _NOTES.items() if column in columns]
    if notes:
        parts.append(
            (heading("notes", lang), tuple(heading(name, lang) for name in notes))
        )

    if derivation.value is None:
        why = heading(
            derivation.status if derivation.status in _PHRASED else "as_its_card_says",
            lang,
            undefined=from_english(derivation.card["undefined"], lang),
            first=printable(derivation.runs[0]),
            last=printable(derivation.runs[-1]),
        )
        parts.append((heading("why", lang), (why,)))

    return Sheet(title, *about_card(derivation.card, lang), tuple(parts))


def _owner(derivation: Derivation) -> str:
    word = "query" if len(derivation.runs) > 1 else "user"
    return f"{heading(word, derivation.lang)} {printable(derivation.of or '')}"


def _table(
    derivation: Derivation, table: TraceTable, digits: int, *, last: bool
) -> Table:
    lang = derivation.lang
    frame = table.frame
    number = partial(decimal, digits=digits)
    names = [name for name in frame.columns if name != table.of]
    shown = frame.head(_ROWS)
    rows = [
        (printable(row[0], _NAME), *map(number, row[1:]))
        for row in shown.select(table.of, *names).rows()
    ]
    blank = ("",) * len(names)
    if frame.height > _ROWS:
        rest = frame.slice(_ROWS)
        more = heading("more", lang, count=rest.height)
        cells = [
            number(float(rest[name].sum())) if name == "contribution" else ""
            for name in names
        ]
        rows.append((more, *cells))

    ends = [
        (heading(name, lang), value)
        for name, value in _total_rows(derivation, table, last=last)
    ]
    rows += [(name, *blank[1:], number(value)) for name, value in ends]

    head = (heading(table.of, lang), *(_head(derivation, name) for name in names))
    numeric = (table.of == "depth", *(True for _ in names))
    title = heading(table.title or f"by_{table.of}", lang)
    return Table(title, head, tuple(rows), numeric, len(ends))


def _total_rows(
    derivation: Derivation, table: TraceTable, *, last: bool
) -> list[tuple[str, float | None]]:
    """Return the rows below a table: its sum, further results, and for the last table the value."""
    rows: list[tuple[str, float | None]] = []
    if table.total is not None and (
        not last or table.steps or table.total != derivation.numerator
    ):
        rows.append(("sum", table.total))
    rows += table.steps.items()
    if not last:
        return rows

    value = derivation.value
    numerator = derivation.numerator
    denominator = derivation.denominator
    rows += [("numerator", numerator), ("denominator", denominator)]
    ratio = None
    if denominator and numerator is not None:
        ratio = numerator / denominator

    if ratio is not None and value is not None and ratio != value:
        rows.append(("ratio", ratio))
    rows.append(("value", value))
    return rows


def _head(derivation: Derivation, name: str) -> str:
    """Return the heading of a column; ranks have the name of the run."""
    word, _, side = name.rpartition("_")
    if word in ("rank", "place"):
        run = derivation.runs[0 if side == "a" else -1]
        return f"{heading(word, derivation.lang)} {printable(run, _RUN)}"
    return heading(name, derivation.lang)
