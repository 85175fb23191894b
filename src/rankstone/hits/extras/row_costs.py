"""Costs of rows: columns of numbers that are added down the lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadValue
from rankstone.hits.budgets import REPEATED, STEPS
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import Value
from rankstone.hits.list_arrays import running
from rankstone.hits.query_lists import COST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints, Locate
    from rankstone.hits.batches import Batch, Piece
    from rankstone.hits.ranks_and_ties import Ranks

#: the largest cost, and the largest number
_LARGEST: Final = 1e100
_FINITE: Final = float(np.finfo(np.float64).max)
#: whole numbers up to here are added without rounding
_EXACT: Final = 2.0**53
#: values that are compared at a time, in the processor's cache
_SLICE: Final = 1 << 16


class ReadsCosts(Extra[Value]):
    """An extra that reads costs of rows."""

    #: the columns of the run; marked with ``=`` where their values are repeated in rows, and never added
    names: Sequence[str] = ()

    def columns(self, known: frozenset[str]) -> dict[str, pl.Expr]:
        """Read the columns that the run has."""
        columns = {}
        for name in self.names:
            column = name.removeprefix(REPEATED)
            if column in known:
                columns[f"{COST}{name}"] = pl.col(column).alias(f"{COST}{name}")
        return columns

    def check(self, piece: Piece, locate: Locate) -> None:
        """Refuse rows without a cost."""
        check_costs(self.costs(piece), lambda row: locate(piece.row(row)))

    def costs(self, piece: Piece) -> dict[str, Floats]:
        """Return the costs of the rows of a piece."""
        table = piece.table
        names = [n for n in sorted(self.names) if f"{COST}{n}" in table.columns]
        return {name: table[f"{COST}{name}"].to_numpy() for name in names}


def check_costs(costs: Mapping[str, Floats], where: Locate) -> None:
    """Refuse a missing cost, and one that is negative or so large that sums might be infinite."""
    for name, values in costs.items():
        signed = name in (*STEPS, "score")
        low, high = (-_FINITE, _FINITE) if signed else (0.0, _LARGEST)
        if values.min(initial=0.0) >= low and values.max(initial=0.0) <= high:
            continue
        row = int((~((values >= low) & (values <= high))).argmax())
        raise BadValue(
            f"the column {name} is {'missing' if np.isnan(values[row]) else f'{values[row]:g}'}",
            where=where(row),
            expected=f"a number from {low:g} to {high:g} in every row",
            fix="write one there or in the table of documents, or leave the row out",
        )


class FinalRows(Record):
    """The rows of a batch in their final order.

    ``counted`` tells which are left in the lists; others cost nothing.
    """

    order: Ints | slice
    counted: Bools
    lengths: Ints

    def spent(self, values: Floats) -> Floats:
        """Add costs from the top of each list down to each row."""
        values = values[self.order]
        return sums_down(
            values if self.counted.all() else np.where(self.counted, values, 0.0),
            self.lengths,
        )


def final_rows(batch: Batch, ranks: Ranks) -> FinalRows:
    """Return the rows of a batch in their final order."""
    order: Ints | slice = slice(None)
    if ranks.place is not None:
        order = np.empty(batch.height, np.int64)
        order[ranks.place] = np.arange(batch.height)
    counted = np.ones(batch.height, bool) if ranks.left is None else ranks.left[order]
    return FinalRows(order, counted, batch.lengths)


def sums_down(values: Floats, lengths: Ints) -> Floats:
    """Add values from the first of each list down to each one, strictly in order unless sums are exact."""
    whole = exact_sums(values)
    if len(values) and whole is not None:
        before = np.concatenate(([0.0], whole))[np.cumsum(lengths) - lengths]
        whole -= np.repeat(before, lengths)
        return whole
    return running(np.add, values, lengths)


def exact_sums(values: Floats) -> Floats | None:
    """Return sums over all lists; ``None`` unless whole numbers make them exact."""
    whole = np.cumsum(values)
    parts = (values[begin : begin + _SLICE] for begin in range(0, len(values), _SLICE))
    exact = not len(values) or (
        whole[-1] <= _EXACT and all((part == np.floor(part)).all() for part in parts)
    )
    return whole if exact else None
