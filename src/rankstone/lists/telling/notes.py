"""What measures of lists tell while they compute, where somebody listens.

A value is a sum over something: depths, documents, items, groups.  The measure tells that table while it adds
it up, so that what is shown is what was summed; where nobody listens that costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    #: values, or what makes them where somebody listens
    Column = NDArray[Any] | Callable[[], NDArray[Any]]
    #: which thing each row stands for: names, numbers, or the rows of either list
    Rows = Sequence[str] | NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]

__all__ = ["Notes", "Tells", "Told"]


@dataclass(eq=False)
class Told:
    """A table that was added up.

    Attributes
    ----------
    of
        What its rows are: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user`` or ``part``.
    rows
        Which of them.
    title
        What tells it from other tables of the same value; empty where it is the only one.
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
class Notes:
    """Collects what is told of one value.

    Attributes
    ----------
    tables
        In the order in which they were added up.
    columns
        Name → one value a row of the list, told before the list itself is.
    numerator, denominator
        What was divided, and by what.
    """

    tables: list[Told] = field(default_factory=list)
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    numerator: float | None = None
    denominator: float | None = None


class Tells:
    """Lists of which a measure may tell what it computes with; a mixin.

    Where somebody listens, the lists are one query's (or one user's), or the value is one of the whole run.
    """

    notes: Notes | None

    def tell(
        self,
        of: str,
        rows: Rows | Callable[[], Rows],
        *,
        title: str = "",
        total: object = None,
        **columns: Column,
    ) -> None:
        """Tell a table that is added up: what its rows are, its columns, the ``contribution`` among them."""
        if self.notes is None:
            return
        found = {name: np.asarray(made() if callable(made) else made) for name, made in columns.items()}
        known = rows() if callable(rows) else rows
        self.notes.tables.append(Told(of, known, title, found, None if total is None else _number(total)))

    def tell_columns(self, **columns: Column) -> None:
        """Tell what stands beside the items of a list, whose table follows."""
        if self.notes is not None:
            for name, made in columns.items():
                self.notes.columns[name] = np.asarray(made() if callable(made) else made)

    def tell_total(self, total: object) -> None:
        """Tell what the last table adds up to."""
        if self.notes is not None and self.notes.tables:
            self.notes.tables[-1].total = _number(total)

    def tell_steps(self, **steps: object) -> None:
        """Tell what becomes of the sum of the last table."""
        if self.notes is not None and self.notes.tables:
            self.notes.tables[-1].steps |= {name: _number(value) for name, value in steps.items()}

    def tell_result(self, numerator: object, denominator: object) -> None:
        """Tell what is divided, and by what."""
        if self.notes is not None:
            self.notes.numerator, self.notes.denominator = _number(numerator), _number(denominator)

    def tell_list(self, rows: NDArray[Any], *, rank: Column, contribution: Column, total: object) -> None:
        """Tell the items of a list, and beside them what was told of them before."""
        if self.notes is not None:
            beside: dict[str, Any] = {"rank": rank, **self.notes.columns, "contribution": contribution}
            self.tell("item", rows, total=total, **beside)

    @property
    def listened(self) -> bool:
        """Whether somebody listens who was told no table yet."""
        return self.notes is not None and not self.notes.tables


def _number(value: Any) -> float:  # noqa: ANN401 - a number, or an array that holds one
    return float(np.ravel(value)[0])
