"""Python objects as tables: frames of any library, dicts, arrays.

No library is imported for this: a frame is recognised by what it offers (the Arrow C stream) or by
the name of its module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from rankstone.errors import BadValue, EmptyInput, InputError, MixedIds, printable
from rankstone.io.relations import batches_of_relation, is_relation
from rankstone.io.table import Table, of_frame, reading

_NARROW, _LARGEST_ID = 2**63, 2**127

__all__ = ["kind_of", "read_object"]


def read_object(
    value: object, number: str, columns: Mapping[str, str], source: str, further: Sequence[str] = ()
) -> Table:
    """Read a Python object as a table.

    Parameters
    ----------
    value
        A Polars, pandas or PyArrow table, a DuckDB relation, ``{query: {doc: number}}``,
        ``{query: [doc, …]}``, or a triple of arrays (queries, documents, numbers).
    number
        What the number is: ``relevance`` or ``score``.
    columns
        {their name: our name}, for tables.
    source
        What to call the object in messages.
    further
        Columns of a table wanted beside the usual ones.
    """
    if isinstance(value, (pl.LazyFrame, pl.DataFrame)):
        return of_frame(value.lazy(), source, columns, further=further)
    if isinstance(value, Mapping):
        return _of_mapping(value, number, source)
    if type(value).__module__.partition(".")[0] == "pandas":
        return of_frame(_of_pandas(value, source).lazy(), source, columns, further=further)
    if is_relation(value):
        return batches_of_relation(value, source).table(columns, further)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        with reading(source):
            arrow: Any = value
            return of_frame(pl.DataFrame(arrow).lazy(), source, columns, further=further)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and len(value) == 3:  # noqa: PLR2004 - a triple
        queries, docs, numbers = value
        return _of_arrays(queries, docs, numbers, number, source)
    raise InputError(
        f"an object of type {kind_of(value)} cannot be read as a table",
        where=source,
        expected="a path, a frame (Polars, pandas, PyArrow, DuckDB), {query: {doc: "
        f"{number}}}}}, {{query: [doc, …]}}, or (queries, docs, {number}s)",
        fix="make a frame of the rows: polars.DataFrame(rows), or pandas.DataFrame(rows)"
        if isinstance(value, Iterable)
        else None,
    )


def _of_mapping(value: Mapping[Any, Any], number: str, source: str) -> Table:
    if not value:
        raise EmptyInput("there is no query", where=source)
    inner = list(value.values())
    if all(isinstance(docs, Mapping) for docs in inner):
        docs = [doc for each in inner for doc in each]
        numbers = [n for each in inner for n in each.values()]
        if numbers and all(isinstance(n, Mapping) for n in numbers):
            return _of_subtopics(value, number, source)
        frame = {"doc_id": _ids(docs, "doc_id", source), number: _numbers(numbers, number, source)}
    elif not any(isinstance(docs, (Mapping, str, bytes)) for docs in inner):
        docs = [doc for each in inner for doc in _listed(each, source)]
        frame = {"doc_id": _ids(docs, "doc_id", source)}
    else:
        raise InputError(
            "a dict's values are of several kinds",
            where=source,
            expected=f"{{query: {{doc: {number}}}}} or {{query: [doc, …]}} throughout",
        )
    lengths = [len(docs) for docs in inner]
    queries = _ids(list(value), "query_id", source).gather(np.repeat(np.arange(len(inner)), lengths))
    table = pl.DataFrame({"query_id": queries, **frame})
    read = of_frame(table.lazy(), source, {}, further=(number,))
    empty = _ids(list(value), "query_id", source).filter(pl.Series(lengths) == 0)
    empty = empty.cast(read.schema["query_id"])
    return replace(read, listed=number not in frame, unanswered=empty if len(empty) else None)


def _of_subtopics(value: Mapping[Any, Mapping[Any, Mapping[Any, Any]]], number: str, source: str) -> Table:
    """Read ``{query: {doc: {subtopic: number}}}``."""
    rows = [
        (query, doc, str(subtopic), n)
        for query, docs in value.items()
        for doc, subtopics in docs.items()
        for subtopic, n in subtopics.items()
    ]
    if not rows:
        raise EmptyInput("there is no subtopic", where=source)
    queries, docs, subtopics, numbers = zip(*rows, strict=True)
    table = pl.DataFrame(
        {
            "query_id": _ids(queries, "query_id", source),
            "doc_id": _ids(docs, "doc_id", source),
            "subtopic": pl.Series(subtopics, dtype=pl.String),
            number: _numbers(numbers, number, source),
        }
    )
    return of_frame(table.lazy(), source, {}, further=("subtopic",))


def _listed(docs: object, source: str) -> Iterable[Any]:
    if isinstance(docs, Iterable):
        return docs
    raise InputError(
        f"a query's documents are a {type(docs).__name__}",
        where=source,
        expected="{doc: number} or [doc, …]",
    )


def _of_arrays(queries: Any, docs: Any, numbers: Any, number: str, source: str) -> Table:  # noqa: ANN401
    lengths = {len(queries), len(docs), len(numbers)}
    if len(lengths) > 1:
        raise InputError(
            f"arrays of different lengths: {len(queries)}, {len(docs)}, {len(numbers)}", where=source
        )
    table = pl.DataFrame(
        {
            "query_id": _ids(queries, "query_id", source),
            "doc_id": _ids(docs, "doc_id", source),
            number: _numbers(numbers, number, source),
        }
    )
    return of_frame(table.lazy(), source, {})


def _of_pandas(value: Any, source: str) -> pl.DataFrame:  # noqa: ANN401
    with reading(source):
        return pl.DataFrame({str(c): _pandas_column(value[c], str(c), source) for c in value.columns})


def _pandas_column(column: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    array = column.to_numpy()
    if array.dtype != object:
        return pl.Series(array)
    if name.endswith("_id") or all(isinstance(v, str) for v in array[:100]):
        return _ids(array.tolist(), name, source)
    return pl.Series(array.tolist(), strict=False)


def _ids(ids: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return ids as texts or whole numbers; a mixture is an error that shows both."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return pl.Series(ids)
    if isinstance(ids, pl.Series):
        return ids
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    kinds = {_kind(v) for v in values}
    if kinds <= {"text"}:
        try:
            return pl.Series(values, dtype=pl.String)
        except UnicodeEncodeError as error:
            raise BadValue(
                f"{name} holds half a character (a lone surrogate)",
                where=source,
                given=printable(ascii(error.object), 60),
                expected="text that UTF-8 can write",
            ) from None
    if kinds == {"whole number"}:
        whole = [int(v) for v in values]
        largest = max(whole, key=abs)
        if abs(largest) >= _LARGEST_ID:
            raise BadValue(
                f"{name} holds whole numbers beyond 128 bits",
                where=source,
                given=printable(largest),
                fix="str(id) makes texts of them",
            )
        return pl.Series(whole, dtype=pl.Int64 if abs(largest) < _NARROW else pl.Int128)
    shown = {kind: next(v for v in values if _kind(v) == kind) for kind in sorted(kinds)}
    raise MixedIds(
        f"{name} holds {' and '.join(shown)}",
        where=source,
        given=", ".join(f"{printable(repr(v), 40)} ({kind})" for kind, v in shown.items()),
        expected="ids of one kind: texts, or whole numbers",
        fix="str(id) makes texts of them",
    )


def kind_of(value: object) -> str:
    """Return what an object is, with the library it is from.

    >>> kind_of(5), kind_of(pl.Series())
    ('int', 'polars.series.series.Series')
    """
    module, name = type(value).__module__, type(value).__name__
    return name if module == "builtins" else f"{module}.{name}"


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return "whole number"
    return "nothing" if value is None else type(value).__name__


def _numbers(numbers: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    try:
        return pl.Series(np.asarray(numbers, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        bad = next((v for v in numbers if not _is_number(v)), None)
        raise BadValue(
            f"the {name} {printable(repr(bad), 40)} is no number", where=source, expected="numbers"
        ) from None


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True
