"""Splits of the queries: a column ``split`` says which queries are for choosing and which for the last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, some
from rankstone.errors import BadOption, did_you_mean, printable

if TYPE_CHECKING:
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.io.input_table import Table

#: the column of queries that names their split
COLUMN: Final = "split"
_QUERY: Final = pl.col("query_id").cast(pl.String)


class QuerySplit(Record):
    """The queries of one split.

    Attributes
    ----------
    name
        The split.
    queries
        The ids of its queries.
    others
        The ids of the queries of other splits, and of none.
    """

    name: str
    queries: pl.Series
    others: pl.Series

    @classmethod
    def of(cls, name: str, table: QueryTable | None) -> QuerySplit:
        """Find the queries of a split.

        Raises
        ------
        BadOption
            When no table has a column ``split``, or no query is in a split of this name.
        """
        names = () if table is None else table.columns.columns
        if table is None or COLUMN not in names:
            raise BadOption(
                "split needs queries with a column split",
                expected="a golden set with split, or a query table with a column split",
                fix="assign them: rankstone golden split FILE (in Python rankstone.golden.split)",
            )
        assigned = table.columns[COLUMN].cast(pl.String)
        is_in = (assigned == name).fill_null(value=False)
        if not is_in.any():
            known = assigned.drop_nulls()
            names = known.unique(maintain_order=True).to_list()
            raise BadOption(
                f"no query is in a split {printable(name)}",
                where=table.source,
                given=f"splits {some(names)}",
                expected="one of these",
                fix=did_you_mean(name, names),
            )
        ids = table.ids.names.cast(pl.String)
        queries = ids.filter(is_in)
        others = ids.filter(~is_in)
        return cls(name, queries, others)

    def of_table(self, table: QueryTable) -> QueryTable:
        """Return the rows of a query table that are about its queries."""
        ids = table.ids.names.cast(pl.String)
        rows = table.columns.with_columns(query_id=ids)
        rows = rows.filter(self.is_in)

        return type(table).of(table.source, rows, table.read_as)

    @property
    def is_in(self) -> pl.Expr:
        """True for rows of its queries."""
        queries = self.queries.implode()
        return _QUERY.is_in(queries)

    def of_run(self, run: Table) -> Table:
        """Return a run without the queries of other splits."""
        others = self.others.implode()
        is_other = _QUERY.is_in(others)
        return run.only(~is_other)
