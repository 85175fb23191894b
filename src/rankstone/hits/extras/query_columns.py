"""Columns of the query table that measures read."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Self

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import QueryArrays

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankstone._basics import Floats
    from rankstone.hits.extras.extra import Request
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.matched_batch import MatchedBatch


class ColumnsOfQueries(QueryArrays):
    """Columns of the query table by name, float64 ``[queries]`` each, NaN where there is no value."""

    def column(self, name: str) -> Floats:
        """Return a column."""
        values: Floats = vars(self)[name]
        return values


class QueryColumns(Extra[ColumnsOfQueries]):
    """Adds columns of the query table.

    Parameters
    ----------
    table
        The query table.
    names
        The columns to add.
    """

    def __init__(self, table: QueryTable, names: Iterable[str]) -> None:
        self._table = table
        self._names = tuple(dict.fromkeys(names))

    @classmethod
    def of(cls, request: Request) -> Iterator[Self]:
        """Yield the columns that measures read."""
        columns = [getattr(m, "query_columns", ()) for m in request.measures]
        if request.queries is not None:
            yield cls(request.queries, chain(*columns))

    def attach(self, work: MatchedBatch) -> ColumnsOfQueries:
        """Return the values of the queries of a batch."""
        names = work.batch.names
        columns = {name: self._table.values(name, names) for name in self._names}
        return ColumnsOfQueries(**columns)
