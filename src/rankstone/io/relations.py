"""Relations of DuckDB: queries that run anew whenever their rows are started, in batches.

A connection reads the rows of one relation at a time.  Where another one is started meanwhile, the rest of
the rows being read is held in memory; else nothing is.
"""

from __future__ import annotations

import gc
from collections import deque
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet

from rankstone.io.arrow import BUSY, Batches, identifier, telling
from rankstone.io.table import ROWS
from rankstone.io.unfolding import LISTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["arrow_reader", "batches_of_relation", "is_relation"]

#: DuckDB's first version that refuses to give up rows that are being read
_FAITHFUL: Final = 2


def is_relation(value: object) -> bool:
    """Say whether an object is a relation of DuckDB, and can be read in batches.

    Before DuckDB 2.0, rows that are being read end without a word when their connection is asked something
    else, so an older one's relations are not read in batches.
    """
    from importlib.util import find_spec

    kind = type(value)
    if kind.__module__.lstrip("_").partition(".")[0] != "duckdb" or kind.__name__ != "DuckDBPyRelation":
        return False
    import duckdb

    return int(duckdb.__version__.partition(".")[0]) >= _FAITHFUL and find_spec("pyarrow") is not None


def batches_of_relation(relation: Any, source: str) -> Batches:  # noqa: ANN401 - a DuckDB relation
    """Return the rows of a relation."""
    import duckdb

    def part(columns: Sequence[str]) -> Any:  # noqa: ANN401 - a DuckDB relation
        # ordered rows are taken whole: SQL owes no order to a query around them
        ordered = "order by" in " ".join(relation.sql_query().lower().split())
        return relation if ordered else relation.project(", ".join(map(identifier, columns)))

    def start(columns: Sequence[str]) -> Iterator[Any]:
        with telling(source, duckdb.Error):
            flow = _started(lambda: _Flow(arrow_reader(part(columns))))
            try:
                yield from flow
            finally:
                flow.close()

    with telling(source, duckdb.Error):
        schema = _started(lambda: arrow_reader(relation.limit(0)).schema)
    return Batches(source, schema, start)


def arrow_reader(relation: Any) -> Any:  # noqa: ANN401 - of DuckDB, of PyArrow
    """Run a relation of DuckDB, with fewer rows a batch where they hold lists."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(LISTS if any(kind.id in ("list", "array") for kind in relation.types) else ROWS)


class _Flow:
    """Batches on their way from a relation, which may be held to make room on its connection."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401 - PyArrow's
        self._reader = reader
        self._held: deque[Any] = deque()
        _flows.add(self)

    def __iter__(self) -> Iterator[Any]:
        while (batch := self._next()) is not None:
            yield batch

    def _next(self) -> Any:  # noqa: ANN401 - PyArrow's
        with _one_call:
            if self._held:
                return self._held.popleft()
            return None if self._reader is None else next(self._reader, None)

    def hold(self) -> None:
        """Read what is left, so that the connection is free."""
        with _one_call:
            if self._reader is not None:
                self._held.extend(self._reader)
                self.close()

    def close(self) -> None:
        """Read no more from the connection."""
        with _one_call:
            reader, self._reader = self._reader, None
            _flows.discard(self)
            if reader is not None:
                reader.close()


#: rows that are being read, and the lock of whoever asks for some: a connection takes one call at a time
_flows: WeakSet[_Flow] = WeakSet()
_one_call: Final = RLock()


Begun = TypeVar("Begun")


def _started(begin: Callable[[], Begun]) -> Begun:
    """Start rows, on a connection that may have to be freed of others first."""
    import duckdb

    with _one_call:
        # rows that nobody reads any more are let go first
        ways: list[Callable[[], object]] = [gc.collect, *(flow.hold for flow in list(_flows))]
        for free in ways:
            try:
                return begin()
            except duckdb.OperationalError as error:
                if BUSY not in str(error):
                    raise
            free()
        return begin()
