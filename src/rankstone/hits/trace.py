"""Traces: the arrays that measures compute with, recorded by name for explanations.

A measure records its arrays while it computes, so that an explanation shows exactly what was summed.  Without
a trace, recording costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankstone.hits.list_arrays import Ideal

    #: values, or a function that computes them if there is a trace
    Column = NDArray[Any] | Callable[[], NDArray[Any]]
    #: what each row is about: names, numbers, or the rows of either list
    Rows = Sequence[str] | NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]
    Value = TypeVar("Value")


@dataclass(eq=False)
class RecordedTable:
    """A table whose contributions were summed.

    Attributes
    ----------
    of
        What its rows are: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user``, ``part``, or
        ``rank`` of an ideal list.
    rows
        Which of them.
    title
        Distinguishes it from other tables of the same value; empty for the only one.
    columns
        Name → one value for each row; ``contribution`` is summed.
    total
        That sum, as the measure computed it.
    steps
        Name → value after each further step of the computation.
    """

    of: str
    rows: Rows
    title: str
    columns: dict[str, NDArray[Any]]
    total: float | None = None
    steps: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class Trace:
    """Collects the record of one value.

    Attributes
    ----------
    tables
        The tables in the order in which they were summed.
    columns
        Name → one value for each document of the list, down to the measure's cutoff; the first record of a
        name is kept.
    numerator, denominator
        The numbers that were divided.
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
    """A mixin for lists that can record what a measure computes with.

    With a trace, the lists are those of one query or user, or the value is that of the whole run.
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
        """Record a table that is summed: its rows, and its columns with ``contribution``."""
        if self.trace is None:
            return
        arrays = {name: _array(column) for name, column in columns.items()}
        known = rows() if callable(rows) else rows
        self.trace.tables.append(
            RecordedTable(
                of, known, title, arrays, None if total is None else _number(total)
            )
        )

    def record_columns(self, **columns: Column) -> None:
        """Record factors of the contributions, one value for each document of the list."""
        if self.trace is not None:
            for name, column in columns.items():
                self.trace.columns.setdefault(name, _array(column))

    def record_total(self, total: object) -> None:
        """Record the sum of the last table."""
        if self.trace is not None and self.trace.tables:
            self.trace.tables[-1].total = _number(total)

    def record_steps(self, **steps: object) -> None:
        """Record further steps after the sum of the last table."""
        if self.trace is not None and self.trace.tables:
            self.trace.tables[-1].steps |= {
                name: _number(value) for name, value in steps.items()
            }

    def record_result(self, numerator: object, denominator: object) -> None:
        """Record the numerator and the denominator."""
        if self.trace is not None:
            self.trace.numerator, self.trace.denominator = (
                _number(numerator),
                _number(denominator),
            )

    @property
    def trace_is_empty(self) -> bool:
        """True if there is a trace without a table."""
        return self.trace is not None and not self.trace.tables


def _array(column: Column) -> NDArray[Any]:
    return np.asarray(column() if callable(column) else column)


def _number(value: Any) -> float:  # noqa: ANN401 - a number, or an array that holds one
    return float(np.ravel(value)[0])
