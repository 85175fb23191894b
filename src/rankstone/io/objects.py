"""Python objects as tables: frames of any library, dicts, arrays.

No library is imported for this: a frame is recognised by its interface (the Arrow C stream) or by the name of
its module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import polars as pl

from rankstone.errors import BadValue, EmptyInput, InputError, printable
from rankstone.io.arrow_batches import batches_of_relation, is_relation
from rankstone.io.exact_numbers import is_number
from rankstone.io.python_rows import (
    columns_of_pandas,
    frame_of_columns,
    frame_of_pandas,
    frame_of_rows,
    holds_columns,
    ids_of,
    ids_of_documents,
    is_pandas,
    numbers_of,
)
from rankstone.io.typed_tables import of_frame
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from rankstone._basics import Columns
    from rankstone.io.input_table import Table


def read_object(
    value: object,
    number: str,
    columns: Columns,
    source: str,
    further: Sequence[str] = (),
) -> Table:
    """Read a Python object as a table.

    Parameters
    ----------
    value
        A Polars, pandas or PyArrow table, a DuckDB relation, ``{query: {doc: number}}``,
        ``{query: [doc, …]}``, a dict of columns, named tuples or dicts one a row (a list, a generator), or a
        triple of arrays (queries, documents, numbers).
    number
        The name of the number: ``relevance`` or ``score``.
    columns
        {their name: our name}, for tables.
    source
        The object's name in messages.
    further
        Columns of a table to read besides the usual ones.
    """
    if is_relation(value):
        return batches_of_relation(value, source).table(columns, further)
    frame = _frame(value, number, columns, source)
    if frame is not None:
        scanned = isinstance(frame, pl.LazyFrame)
        return of_frame(frame.lazy(), source, columns, further=further, scanned=scanned)
    if isinstance(value, Mapping):
        return _from_mapping(value, number, source)
    if _is_triple(value):
        queries, docs, numbers = value
        return _from_arrays(queries, docs, numbers, number, source)
    by_position = (
        "name the columns in a frame: polars.DataFrame(rows, schema=[…], orient='row')"
    )
    raise not_a_table(
        value,
        source,
        f"a path, a frame (Polars, pandas, PyArrow, DuckDB), {{query: {{doc: {number}}}}}, "
        f"{{query: [doc, …]}}, a dict of columns, rows (named tuples or dicts) or (queries, docs, {number}s)",
        by_position if isinstance(value, Iterable) else None,
    )


def _frame(
    value: object, number: str, columns: Columns, source: str
) -> pl.LazyFrame | pl.DataFrame | None:
    """Return an object with named columns as a frame; ``None`` for any other."""
    if isinstance(value, (pl.LazyFrame, pl.DataFrame)):
        return value
    if isinstance(value, Mapping):
        cells = columns_of_pandas(value, columns)
        if cells is not value or holds_columns(value, columns):
            return frame_of_columns(cells, source)
        return None
    if is_pandas(value):
        return frame_of_pandas(value, source)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        with reading(source):
            return pl.DataFrame(_without_views(value))
    return frame_of_rows(value, number, source)


def _without_views(arrow: Any) -> Any:  # noqa: ANN401 - whatever exports Arrow
    """Return a table of PyArrow without views: before version 25, Polars crashes at columns of short ones."""
    if not hasattr(arrow, "set_column"):
        return arrow
    for index, field in enumerate(arrow.schema):
        if str(field.type) == "string_view":
            texts = arrow.column(index).cast("large_string")
            arrow = arrow.set_column(index, field.name, texts)
    return arrow


def _from_mapping(value: Mapping[Any, Any], number: str, source: str) -> Table:
    if not value:
        raise EmptyInput("there are no queries", where=source)
    read_once = [list(d) if isinstance(d, Iterator) else d for d in value.values()]
    inner = _filled_in(read_once)
    if all(isinstance(docs, Mapping) for docs in inner):
        docs = [doc for each in inner for doc in each]
        numbers = [n for each in inner for n in each.values()]
        if numbers and all(isinstance(n, Mapping) for n in numbers):
            by_query = dict(zip(value, inner, strict=True))
            return _from_subtopics(by_query, number, source)
        try:
            read = numbers_of(numbers, number, source)
        except BadValue as error:
            raise _misfit(value, number, error) from None
        frame = {"doc_id": ids_of(docs, "doc_id", source), number: read}
    elif not any(isinstance(docs, (Mapping, str, bytes)) for docs in inner):
        docs = [doc for each in inner for doc in _documents(each, source)]
        docs = ids_of_documents(docs, source)
        frame = {"doc_id": ids_of(docs, "doc_id", source)}
    else:
        what = "the values of the dict have different types"
        raise _misfit(value, number, InputError(what, where=source))
    lengths = [len(docs) for docs in inner]
    ids = ids_of(list(value), "query_id", source)
    rows = np.repeat(np.arange(len(inner)), lengths)
    rated = pl.DataFrame({"query_id": ids.gather(rows), **frame})
    table = of_frame(rated.lazy(), source, {}, further=(number,))
    table = _declaring_empty(table, value, lengths)
    return replace(table, listed=number not in frame)


def _misfit(value: Mapping[Any, Any], number: str, error: InputError) -> InputError:
    """Return an error that names the first entry which is no query."""
    are_objects = isinstance(next(iter(value.values())), Mapping)
    for key, docs in value.items():
        is_object = isinstance(docs, Mapping)
        is_query = _is_sized(docs) and not isinstance(docs, str)
        numbers = docs.values() if is_object else ()
        if is_query and is_object == are_objects and all(map(is_number, numbers)):
            continue
        inside = [name for name in value if _holds_queries(value[name])]
        fix = None
        if inside:
            name = printable(inside[0], 40)
            fix = f"if {name} holds them, write it to a file of its own"
        return type(error)(
            error.what,
            where=error.where,
            given=f"{printable(key, 40)}: {printable(repr(docs), 40)}",
            expected=f"{{query: {{doc: {number}}}}} or {{query: [doc, …]}} throughout",
            fix=fix,
        )
    return error


def _holds_queries(entry: object) -> bool:
    if not isinstance(entry, Mapping) or not entry:
        return False
    return all(
        isinstance(docs, Mapping)
        or (isinstance(docs, list) and not any(isinstance(d, float) for d in docs))
        for docs in entry.values()
    )


def _filled_in(inner: list[Any]) -> list[Any]:
    """Return the values of a dict, with empty ones in the type of the others."""

    def is_empty(docs: object) -> bool:
        return isinstance(docs, (Mapping, list, tuple)) and not docs

    full = [docs for docs in inner if not is_empty(docs)]
    if not full or full[0] is None:
        return inner
    nothing: object = {} if isinstance(full[0], Mapping) else []
    return [nothing if is_empty(docs) else docs for docs in inner]


def _declaring_empty(
    read: Table, value: Mapping[Any, Any], lengths: Sequence[int]
) -> Table:
    """Return the table with the queries whose entries in the dict are empty."""
    queries = ids_of(list(value), "query_id", read.source)
    is_empty = pl.Series(lengths) == 0
    empty = queries.filter(is_empty).cast(read.schema["query_id"])
    return replace(read, empty=lambda: empty if len(empty) else None)


def _from_subtopics(
    value: Mapping[Any, Mapping[Any, Mapping[Any, Any]]], number: str, source: str
) -> Table:
    """Read ``{query: {doc: {subtopic: number}}}``."""
    rows = [
        (query, doc, str(subtopic), n)
        for query, docs in value.items()
        for doc, subtopics in docs.items()
        for subtopic, n in subtopics.items()
    ]
    if not rows:
        raise EmptyInput("there are no subtopics", where=source)
    queries, docs, subtopics, numbers = zip(*rows, strict=True)
    table = pl.DataFrame(
        {
            "query_id": ids_of(queries, "query_id", source),
            "doc_id": ids_of(docs, "doc_id", source),
            "subtopic": pl.Series(subtopics, dtype=pl.String),
            number: numbers_of(numbers, number, source),
        }
    )
    read = of_frame(table.lazy(), source, {}, further=("subtopic",))
    lengths = [sum(map(len, docs.values())) for docs in value.values()]
    return _declaring_empty(read, value, lengths)


def _documents(docs: object, source: str) -> Iterable[Any]:
    if isinstance(docs, Iterable) and _is_sized(docs):
        return docs
    raise InputError(
        "the documents of a query are no list and no object",
        where=source,
        given=printable(repr(docs), 40),
        expected="{doc: number} or [doc, …]",
    )


def _is_triple(value: object) -> TypeGuard[Sequence[Any]]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return False
    return len(value) == 3 and all(map(_is_sized, value))  # noqa: PLR2004 - queries, documents, numbers


def _is_sized(value: object) -> bool:
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0


def _from_arrays(
    queries: Any,  # noqa: ANN401 - whatever exports Arrow
    docs: Any,  # noqa: ANN401 - whatever exports Arrow
    numbers: Any,  # noqa: ANN401 - whatever exports Arrow
    number: str,
    source: str,
) -> Table:
    lengths = {len(queries), len(docs), len(numbers)}
    if len(lengths) > 1:
        raise InputError(
            f"the arrays have different lengths: {len(queries)}, {len(docs)}, {len(numbers)}",
            where=source,
        )
    table = pl.DataFrame(
        {
            "query_id": ids_of(queries, "query_id", source),
            "doc_id": ids_of(docs, "doc_id", source),
            number: numbers_of(numbers, number, source),
        }
    )
    return of_frame(table.lazy(), source, {})


def not_a_table(
    value: object, where: str, expected: str, fix: str | None = None
) -> InputError:
    """Return the error for an object that cannot be read as a table."""
    what = f"an object of type {kind_of(value)} cannot be read as a table"
    return InputError(what, where=where, expected=expected, fix=fix)


def kind_of(value: object) -> str:
    """Return the type of an object with the library it comes from.

    >>> kind_of(5), kind_of(pl.Series())
    ('int', 'polars.series.series.Series')
    """
    module = type(value).__module__
    name = type(value).__name__
    if module == "builtins":
        return name
    return f"{module}.{name}"
