"""What measures record of the numbers they compute with, where a trace is kept.

A measure computes with whole arrays; an explanation shows what stood in them.  The measure records them by
name while it computes, so that what is shown is what was summed.  Without a trace, recording costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankstone.hits.list_arrays import Ideal

    #: values, or a function that makes them when a trace is kept
    Column = NDArray[Any] | Callable[[], NDArray[Any]]
    #: which thing each row stands for: names, numbers, or the rows of either list
    Rows = Sequence[str] | NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]


@dataclass(eq=False)
class RecordedTable:
    """A table that was added up.

    Attributes
    ----------
    of
        What its rows are: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user``, ``part``, or
        ``rank`` of an ideal list.
    rows
        Which of them.
    title
        What distinguishes it from other tables of the same value; empty where it is the only one.
    columns
        Name → one value a row; ``contribution`` is what was summed.
    total
        That sum, as the measure computed it.
    steps
        Name → what was made of the sum afterwards, in the order of the computation.
    """

    of: str
    rows: Rows
    title: str
    columns: dict[str, NDArray[Any]]
    total: float | None = None
    steps: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class Trace:
    """Collects what is recorded of one value.

    Attributes
    ----------
    tables
        In the order in which they were added up.
    columns
        Name → one value a document of the list, as far down as the measure looked; the first one recorded
        under a name stays.
    numerator, denominator
        What was divided, and by what.
    ideal
        The grades behind the table of the ideal list, where there is one.
    """

    tables: list[RecordedTable] = field(default_factory=list)
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    numerator: float | None = None
    denominator: float | None = None
    ideal: Ideal | None = None

    def titled(self, title: str) -> RecordedTable | None:
        """Return the table of that title, ``None`` where there is none."""
        return next((table for table in self.tables if table.title == title), None)


class Traced:
    """Lists that can keep a trace of what a measure computes with; a mixin.

    Where there is a trace, the lists are one query's (or one user's), or the value is one of the whole run.
    """

    trace: Trace | None

    def record(
        self,
        of: str,
        rows: Rows | Callable[[], Rows],
        *,
        title: str = "",
        total: object = None,
        **columns: Column,
    ) -> None:
        """Record a table that is added up: its rows, and its columns, ``contribution`` among them."""
        if self.trace is None:
            return
        found = {name: _made(column) for name, column in columns.items()}
        known = rows() if callable(rows) else rows
        self.trace.tables.append(
            RecordedTable(of, known, title, found, None if total is None else _number(total))
        )

    def record_columns(self, **columns: Column) -> None:
        """Record what contributions are made of, one value a document of the list."""
        if self.trace is not None:
            for name, column in columns.items():
                self.trace.columns.setdefault(name, _made(column))

    def record_total(self, total: object) -> None:
        """Record what the last table adds up to."""
        if self.trace is not None and self.trace.tables:
            self.trace.tables[-1].total = _number(total)

    def record_steps(self, **steps: object) -> None:
        """Record what becomes of the sum of the last table."""
        if self.trace is not None and self.trace.tables:
            self.trace.tables[-1].steps |= {name: _number(value) for name, value in steps.items()}

    def record_result(self, numerator: object, denominator: object) -> None:
        """Record what is divided, and by what."""
        if self.trace is not None:
            self.trace.numerator, self.trace.denominator = _number(numerator), _number(denominator)

    @property
    def trace_is_empty(self) -> bool:
        """True if a trace is kept and has no table yet."""
        return self.trace is not None and not self.trace.tables


def _made(column: Column) -> NDArray[Any]:
    return np.asarray(column() if callable(column) else column)


def _number(value: Any) -> float:  # noqa: ANN401 - a number, or an array that holds one
    return float(np.ravel(value)[0])
