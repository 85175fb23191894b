"""What is known of queries beside their lists: weights, sessions, and whatever they may be grouped by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadValue, MissingColumn, nearest, printable
from rankstone.hits.options import LARGEST_GRADE
from rankstone.hits.pairs import QueryIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Floats, Ints

__all__ = ["QueryTable"]

#: how a column of truth values is written in text and numbers
_TRUTH: Final = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@dataclass(frozen=True, eq=False)
class QueryTable:
    """One row a query.

    Attributes
    ----------
    source
        What to call the table in messages.
    ids
        The queries' ids as text, each once.
    columns
        Everything else.
    read_as
        What was guessed of how its file is written.
    """

    source: str
    ids: QueryIndex
    columns: pl.DataFrame
    read_as: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, table: pl.DataFrame, read_as: tuple[str, ...] = ()) -> QueryTable:
        """Prepare a table with ``query_id`` (texts, each once) and any other columns.

        A column ``weight`` must hold numbers, 0 or more; a column ``judged`` says true or false, 1 or 0.
        """
        prepared = cls(source, QueryIndex(table["query_id"]), table.drop("query_id"), read_as)
        if "judged" in prepared.columns.columns:
            prepared.refuse("judged", prepared._said().is_null().to_numpy(), "true or false, 1 or 0")
        if "weight" in prepared.columns.columns:
            weight = prepared.numbers("weight")
            prepared.refuse("weight", ~((weight >= 0) & (weight <= LARGEST_GRADE)), "a number from 0 to 9e15")
        return prepared

    def judged(self) -> pl.Series | None:
        """Return the ids of queries that the column ``judged`` says are; ``None`` without such a column."""
        if "judged" not in self.columns.columns:
            return None
        return self.ids.names.filter(self._said().fill_null(value=False))

    def _said(self) -> pl.Series:
        """Return the column ``judged`` as truth values; null where it is empty or something else."""
        texts = self.columns["judged"].cast(pl.String).str.to_lowercase()
        return texts.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)

    def require(self, names: Sequence[str], reason: str) -> None:
        """Refuse to go on without some columns."""
        for name in names:
            if name not in self.columns.columns:
                known = self.columns.columns
                close = nearest(name, known, n=1)
                raise MissingColumn(
                    f"{reason} a column {printable(name)} of the query table",
                    where=self.source,
                    given=f"columns {', '.join(map(printable, known)) or 'none beside query_id'}",
                    fix=f"did you mean {printable(close[0])}?" if close else None,
                )

    def refuse(self, name: str, bad: np.ndarray[tuple[int], np.dtype[np.bool_]], expected: str) -> None:
        """Refuse values of a column that are no good; empty cells are none."""
        bad = bad & self.columns[name].is_not_null().to_numpy()
        if bad.any():
            at = int(bad.argmax())
            raise BadValue(
                f"the {name} of query {printable(self.ids.names[at])} is {printable(self.columns[name][at])}",
                where=self.source,
                expected=expected,
            )

    def numbers(self, name: str) -> Floats:
        """Return a column as float64 ``[rows]``; NaN where it is empty or no number."""
        values = self.columns[name].cast(pl.Float64, strict=False)
        return values.fill_null(np.nan).to_numpy()

    def rows(self, queries: pl.Series) -> Ints:
        """Return the row of each query, -1 where the table does not know it."""
        return self.ids.codes(queries.cast(pl.String))

    def take(self, queries: pl.Series) -> pl.DataFrame:
        """Return the other columns, a row for each query; empty cells where the table does not know it."""
        rows = self.rows(queries)
        return self.columns.select(pl.all().gather(pl.Series(np.where(rows < 0, 0, rows)))).with_columns(
            pl.when(pl.Series(rows >= 0)).then(pl.all())
        )

    def values(self, name: str, queries: pl.Series) -> Floats:
        """Return a column of numbers for some queries, float64; NaN where there is none."""
        rows = self.rows(queries)
        return np.where(rows >= 0, self.numbers(name)[rows], np.nan)

    def covers(self, queries: pl.Series, names: Sequence[str], reason: str) -> None:
        """Refuse to go on where a query has no value in some columns."""
        table = self.take(queries).select(names)
        bare = table.select(pl.any_horizontal(pl.all().is_null())).to_series()
        if bare.any():
            lacking = queries.filter(bare)
            shown = ", ".join(printable(query) for query in lacking[:3])
            raise BadOption(
                f"{reason} a {' and a '.join(names)} for every query",
                where=self.source,
                given=f"none for {shown}{' …' if len(lacking) > 3 else ''}",  # noqa: PLR2004 - what fits a line
                fix="add the rows, or leave these queries out of the judgments",
            )

    def in_order(self) -> None:
        """Refuse positions that are no places in a session, and two queries at the same one."""
        position = self.numbers("position")
        whole = np.isfinite(position) & (position >= 1) & (position == np.floor(position))
        self.refuse("position", ~whole, "the query's place in its session: 1, 2, …")
        twice = (
            self.columns.select("session", "position").is_duplicated() & self.columns["session"].is_not_null()
        )
        if twice.any():
            at = twice.arg_max() or 0
            raise BadValue(
                f"session {printable(self.columns['session'][at])} has two queries at position "
                f"{printable(self.columns['position'][at])}",
                where=self.source,
                given=f"one of them is query {printable(self.ids.names[at])}",
                expected="each position once",
            )
