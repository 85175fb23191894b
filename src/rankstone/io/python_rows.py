"""Rows, columns and values of Python: named tuples, dicts of columns, frames of pandas, checked one by one.

ir_measures and ir_datasets yield judgments and runs as named tuples, often from a generator, which can be
read only once.  Its rows are remembered as long as the generator lives, so that another run or measure sees
the same rows.  pandas is not imported; each of its columns is converted in a way that keeps its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from io import StringIO
from itertools import compress
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary
from zoneinfo import available_timezones

import numpy as np
import polars as pl
from polars import selectors

from rankstone._basics import some
from rankstone.errors import BadValue, EmptyInput, InputError, MixedIds, printable
from rankstone.io.column_suggestions import looks_like_columns
from rankstone.io.columns import CANONICAL, FURTHER
from rankstone.io.exact_numbers import LARGEST, is_number, refuse_inexact
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from rankstone._basics import Columns


_NARROW: Final = 2**63
#: kinds of values that a text can stand for
_SIMPLE: Final = {"text", "whole number", "fraction", "truth value"}
_LARGEST_ID: Final = 2**127
#: the method of an ir_datasets data set that yields rows, by their number
_OF_DATASETS: Final = {"relevance": "qrels_iter", "score": "scoreddocs_iter"}
#: what the rows of a table hold
_CELLS: Final = "cells of one type in each column: ids, numbers, or lists of them"
#: generator → its rows
_YIELDED: Final[WeakKeyDictionary[Any, pl.DataFrame]] = WeakKeyDictionary()


def ids_of_documents(docs: list[Any], source: str) -> list[Any]:
    """Return the ids of LangChain's, LlamaIndex' and Haystack's documents; others stay as they are.

    A document may come with a score, ``(document, score)``, as from LangChain's vector stores.  That is a
    similarity of some, a distance of others, so that only the order of the list counts.
    """
    first = docs[0] if docs else None
    if isinstance(first, (str, int)):
        return docs
    if not _is_document(_without_score(first)):
        return docs
    bare = map(_without_score, docs)
    return [_id_of_document(doc, source) for doc in bare]


def _without_score(doc: Any) -> Any:  # noqa: ANN401 - of any library
    """Return a document without its score: of a pair, and of LlamaIndex' NodeWithScore."""
    is_pair = isinstance(doc, tuple) and len(doc) == 2  # noqa: PLR2004 - a pair
    if is_pair:
        doc = doc[0]
    return getattr(doc, "node", doc)


def _is_document(doc: Any) -> bool:  # noqa: ANN401 - of any library
    """Return True for what has a text and a dict of metadata, by the names of these libraries."""
    if not isinstance(_about(doc), Mapping):
        return False
    texts = ("page_content", "content", "text", "get_content")
    return any(hasattr(doc, name) for name in texts)


def _about(doc: Any) -> Any:  # noqa: ANN401 - of any library
    """Return the metadata of a document."""
    meta = getattr(doc, "meta", None)
    return getattr(doc, "metadata", meta)


def _id_of_document(doc: Any, source: str) -> Any:  # noqa: ANN401 - of any library
    if not _is_document(doc):
        return doc
    own = getattr(doc, "node_id", None) or getattr(doc, "id", None)
    if own is None:
        names = ", ".join(map(printable, _about(doc)))
        raise InputError(
            f"a {type(doc).__name__} without id",
            where=source,
            given=f"metadata: {names or 'none'}",
            expected="documents with id",
            fix='pass ids: {query: [doc.metadata["source"] for doc in docs]}',
        )
    return own


def ids_of(ids: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return ids as text or whole numbers; a mixture is an error that shows both."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return pl.Series(ids)
    if isinstance(ids, pl.Series):
        return ids
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    kinds = {_kind(value) for value in values}
    if kinds <= {"text"}:
        try:
            return pl.Series(values, dtype=pl.String)
        except UnicodeEncodeError as error:
            raise BadValue(
                f"{name} contains a lone surrogate (half a character)",
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
                fix="write them as texts",
            )
        is_narrow = abs(largest) < _NARROW
        return pl.Series(whole, dtype=pl.Int64 if is_narrow else pl.Int128)
    shown: list[str] = []
    for kind in sorted(kinds):
        example = next(value for value in values if _kind(value) == kind)
        shown.append(f"{printable(repr(example), 40)} ({kind})")
    raise MixedIds(
        f"{name} holds {' and '.join(sorted(kinds))}",
        where=source,
        given=", ".join(shown),
        expected="ids of one type: texts, or whole numbers",
        fix="write all of them as texts" if kinds <= _SIMPLE else None,
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if value is None:
        return "nothing"
    if (
        isinstance(value, (int, np.integer))
        and value is not True
        and value is not False
    ):
        return "whole number"
    return {"dict": "object", "bool": "truth value", "float": "fraction"}.get(
        type(value).__name__, type(value).__name__
    )


def numbers_of(numbers: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return numbers as float64."""
    try:
        read = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next((v for v in numbers if not is_number(v)), None)
        raise BadValue(
            f"the {name} {printable(repr(bad), 40)} is not a number",
            where=source,
            expected="numbers",
        ) from None
    if getattr(numbers, "dtype", object) == np.float64:
        return pl.Series(read)
    # whole numbers and decimals; floats are exact
    is_large = np.abs(read) >= LARGEST
    if is_large.any():
        large = np.asarray(numbers, dtype=object)[is_large]
        exact = [str(v) for v in large if not isinstance(v, (float, np.floating))]
        digits = pl.Series(exact, dtype=pl.String)
        refuse_inexact(digits, name, lambda _row: source)
    return pl.Series(read)


def lists_of(values: Sequence[Any], name: str, source: str) -> pl.Series:
    """Return lists of ids or of numbers as a column; ``None`` stays ``None``."""
    lists = [None if value is None else list(value) for value in values]
    items = [item for cell in lists for item in cell or () if item is not None]
    are_whole = all(_kind(item) == "whole number" for item in items)
    are_numbers = all(isinstance(item, (int, float, np.number)) for item in items)
    read = ids_of if are_whole or not are_numbers else numbers_of
    column = read(items, name, source)
    return pl.Series(lists, dtype=pl.List(column.dtype))


def objects_of(
    values: list[Any], name: str, source: str, known: Sequence[bool] | None = None
) -> pl.Series:
    """Return Python objects as a column: ids, lists of ids or numbers, or what Polars infers.

    Parameters
    ----------
    values
        The cells.
    name
        The column's name; ids are checked one by one.
    source
        The table's name in messages.
    known
        Which of the cells have a value; by default all but ``None``.
    """
    known = [value is not None for value in values] if known is None else known
    full = list(compress(values, known))
    are_lists = all(isinstance(value, (list, tuple, np.ndarray)) for value in full)
    if full and are_lists:
        pairs = zip(values, known, strict=True)
        lists = [value if is_known else None for value, is_known in pairs]
        return lists_of(lists, name, source)
    are_texts = all(isinstance(value, str) for value in full[:100])
    if not name.endswith("_id") and not are_texts:
        return pl.Series(values, strict=False)
    ids = ids_of(full, name, source)
    if all(known):
        return ids
    places = pl.Series(np.cumsum(known) - 1)
    is_missing = ~pl.Series(known)
    return ids.gather(places.set(is_missing, None))


def is_pandas(value: object) -> bool:
    """Return True for an object of pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def frame_of_library(value: Any, source: str) -> pl.DataFrame | None:  # noqa: ANN401 - of any library
    """Return a frame of Polars, pandas or Arrow as a Polars frame; ``None`` for any other object.

    NaN means missing in pandas and becomes null.
    """
    if is_pandas(value):
        frame = frame_of_pandas(value, source)
        return frame.with_columns(selectors.float().fill_nan(None))
    is_arrow = hasattr(value, "__arrow_c_stream__")
    if not is_arrow and not isinstance(value, pl.DataFrame):
        return None
    with reading(source):
        return pl.DataFrame(value)


def frame_of_pandas(value: Any, source: str) -> pl.DataFrame:  # noqa: ANN401 - of pandas
    """Return a pandas frame as a Polars frame; missing values are null, a NaN among floats stays NaN."""
    twice = value.columns[value.columns.duplicated()]
    if len(twice):
        raise InputError(
            f"duplicate column {printable(twice[0])}",
            where=source,
            expected="each column once",
            fix="frame.loc[:, ~frame.columns.duplicated()] keeps the first of each",
        )
    with reading(source):
        return pl.DataFrame(
            {str(c): _pandas_column(value[c], str(c), source) for c in value.columns}
        )


def _pandas_column(column: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - of pandas
    dtype = column.dtype
    if hasattr(dtype, "categories"):  # one text for each category, not for each row
        names = _pandas_column(dtype.categories.to_series(), name, source)
        codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
        is_missing = codes < 0
        return names.gather(codes.set(is_missing, None))
    is_arrow = hasattr(dtype, "pyarrow_dtype")
    if is_arrow or getattr(dtype, "storage", "") == "pyarrow":
        return pl.Series(column.array.__arrow_array__())
    if hasattr(dtype, "numpy_dtype"):  # numbers with a mask of missing ones
        array = column.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        mask = column.isna().to_numpy()
        return pl.Series(array).set(pl.Series(mask), None)
    if getattr(dtype, "tz", None) is not None:  # times, which pandas stores in UTC
        in_utc = column.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = pl.Series(in_utc.to_numpy()).dt.replace_time_zone("UTC")
        return moments.dt.convert_time_zone(_zone(dtype.tz))
    array = column.to_numpy()
    if array.dtype != object:
        return pl.Series(array)
    known = column.notna().to_numpy().tolist()
    return objects_of(array.tolist(), name, source, known)


def _zone(tz: tzinfo) -> str:
    """Return the name of a time zone; an offset of whole hours has one, any other is read as UTC."""
    if str(tz) in available_timezones():
        return str(tz)
    offset = tz.utcoffset(None) or timedelta()
    hours, rest = divmod(offset, timedelta(hours=1))
    if rest or not hours:
        return "UTC"
    return f"Etc/GMT{-hours:+d}"


def is_column(value: object) -> bool:
    """Return True for a list, an array or a series.

    >>> is_column(["q1", "q2"]), is_column(np.arange(2)), is_column("q1"), is_column(pl.DataFrame())
    (True, True, False, False)
    """
    if isinstance(value, (list, tuple)):
        return True
    if not hasattr(value, "__array__") or not hasattr(value, "__len__"):
        return False
    return not hasattr(value, "columns") and getattr(value, "ndim", 1) > 0


def holds_columns(value: object, columns: Columns | None = None) -> bool:
    """Return True for a dict of columns, False for ``{query: [doc, …]}``.

    Queries may have any id, so a dict holds columns only if our names are among its keys (``query_id`` and
    another one, perhaps after renaming with ``columns``), or if common names of queries and of documents,
    numbers or answers are the keys of columns of one length.

    >>> holds_columns({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
    True
    >>> holds_columns({"q1": ["d1"], "q2": ["d7"]})
    False
    """
    if not isinstance(value, Mapping):
        return False
    if not all(map(is_column, value.values())):
        return False
    if not all(isinstance(name, str) for name in value):
        return False
    chosen = columns or {}
    ours = {chosen.get(name, name) for name in value}
    known = ours.intersection((*CANONICAL, *FURTHER, "label"))
    if "query_id" in known and len(known) > 1:
        return True
    lengths = set(map(len, value.values()))
    return len(lengths) == 1 and looks_like_columns(value)


def columns_of_pandas(value: Any, columns: Columns | None = None) -> Any:  # noqa: ANN401 - any object
    """Return the columns of a frame that pandas wrote as an object; any other value as it is.

    >>> columns_of_pandas({"columns": ["qid", "x"], "index": [0], "data": [["q1", 2]]})
    {'qid': ['q1'], 'x': [2]}
    >>> columns_of_pandas({"0": {"user": 1, "item_id": 7}, "1": {"user": 1, "item_id": 8}})
    {'user': [1, 1], 'item_id': [7, 8]}
    >>> columns_of_pandas({"q1": {"d1": 2}, "q2": {"d1": 1}})
    {'q1': {'d1': 2}, 'q2': {'d1': 1}}
    """
    if not isinstance(value, Mapping):
        return value
    if {"columns", "data"} <= value.keys() <= {"columns", "index", "data"}:
        names = value["columns"]
        if all(is_column(row) and len(row) == len(names) for row in value["data"]):
            cells = zip(*value["data"], strict=True)
            return dict(zip(names, map(list, cells), strict=False))
    parts = list(value.values())
    if not all(
        isinstance(part, Mapping) and part.keys() == parts[0].keys() for part in parts
    ):
        return value
    by_column = {name: list(part.values()) for name, part in value.items()}
    by_row = {}
    for name in parts[0] if parts else ():
        by_row[name] = [part[name] for part in parts]
        if any(isinstance(cell, (Mapping, list)) for cell in by_row[name]):
            return value
    for frame in (by_row, by_column):
        if holds_columns(frame, columns):
            return frame
    return value


def frame_of_columns(value: Mapping[str, Any], source: str) -> pl.DataFrame:
    """Return a dict of columns as a frame.

    Raises
    ------
    InputError
        When columns differ in length.
    """
    lengths = set(map(len, value.values()))
    if len(lengths) > 1:
        shown = [f"{printable(name, 40)} {len(value[name])}" for name in value]
        raise InputError(
            "columns of different lengths",
            where=source,
            given=", ".join(shown),
            expected="columns of one length",
        )
    return pl.DataFrame(
        {name: _column(cells, name, source) for name, cells in value.items()}
    )


def _column(cells: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - a list, array or series
    if is_pandas(cells):
        return frame_of_pandas(cells.to_frame(name), source).to_series()
    if isinstance(cells, (list, tuple)):
        return objects_of(list(cells), name, source)
    with reading(source):
        if isinstance(cells, pl.Series) or hasattr(cells, "__arrow_c_array__"):
            return pl.Series(name, cells)
        array = np.asarray(cells)
        if array.dtype == object:
            return objects_of(array.tolist(), name, source)
        return pl.Series(name, array)


def holds_rows(value: object) -> bool:
    """Return True for a list or tuple of rows: named tuples or dicts.

    >>> holds_rows([{"query_id": "q1", "doc_id": "d1"}]), holds_rows(["d1"])
    (True, False)
    """
    if not isinstance(value, (list, tuple)):
        return False
    return bool(value) and _is_row(value[0])


def _is_row(value: object) -> bool:
    if isinstance(value, tuple):
        return hasattr(value, "_fields")
    return isinstance(value, Mapping)


def frame_of_rows(value: object, number: str, source: str) -> pl.DataFrame | None:
    """Return rows, or an iterable of rows, as a frame; ``None`` for anything else.

    Parameters
    ----------
    value
        A list, a generator or any other iterable of named tuples or dicts; a data set of ir_datasets.
    number
        The number to read from a data set: ``relevance`` or ``score``.
    source
        The rows' name in messages.
    """
    dataset = getattr(value, _OF_DATASETS.get(number, ""), None)
    value = dataset() if callable(dataset) else value
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return None
    if is_column(value) and not holds_rows(value):
        return None
    if not isinstance(value, Iterator):
        return _frame(list(value), source)
    once = "an iterator can be read only once: pass list(rows)"
    try:
        known = _YIELDED.get(value)
    except TypeError:  # it does not allow weak references: a second read is an error
        return _frame(list(value), source, once)
    if known is None:
        known = _YIELDED[value] = _frame(list(value), source, once)
    return known


def _frame(rows: list[Any], source: str, fix: str | None = None) -> pl.DataFrame:
    if not rows:
        raise EmptyInput("there are no rows", where=source, fix=fix)
    for number, row in enumerate(rows, 1):
        if _is_row(row):
            continue
        raise BadValue(
            f"a {type(row).__name__} is not a row",
            where=f"{source}, row {number}",
            given=printable(repr(row), 60),
            expected="named tuples, as ir_measures and ir_datasets yield, or dicts",
            fix="name the columns in a frame: polars.DataFrame(rows, schema=[…], orient='row')",
        )
    if all(isinstance(row, Mapping) for row in rows):
        return frame_of_records(rows, source)
    names = getattr(rows[0], "_fields", rows[0])
    columns = {name: [getattr(row, name, None) for row in rows] for name in names}
    return frame_of_columns(columns, source)


def frame_of_records(rows: Sequence[Mapping[str, Any]], source: str) -> pl.DataFrame:
    """Return dicts, one for each row, as a frame; cells may be lists, or lists of dicts."""
    try:
        frame = pl.DataFrame(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        message = str(error)
        if "Int64" in message and "Float64" in message:
            # whole numbers and others in one list, which readers of lines know
            lines = "\n".join(map(json.dumps, rows))
            return pl.read_ndjson(StringIO(lines), infer_schema_length=None)
        raise _odd_cell(rows, source) or InputError(
            "the rows cannot be made into a table",
            where=source,
            given=f"columns {some(rows[0], 12)}",
            expected=_CELLS,
        ) from error
    # a number among objects is lost without a word
    odd = _odd_cell(rows, source) if pl.Struct in frame.dtypes else None
    if odd is not None:
        raise odd
    return frame


def _odd_cell(rows: Sequence[Mapping[str, Any]], source: str) -> InputError | None:
    """Return the error for the first cell of another kind than those above it."""
    kinds: dict[str, str] = {}
    cells = (
        (number, name, cell)
        for number, row in enumerate(rows, 1)
        for name, cell in row.items()
        if cell is not None
    )
    for number, name, cell in cells:
        kind = _kind_of_cell(cell)
        above = kinds.setdefault(name, kind)
        if kind != above:
            return InputError(
                f"{printable(name)} is {kind}, and {above} above",
                where=f"{source}, row {number}",
                given=printable(json.dumps(cell, default=str), 40),
                expected=_CELLS,
            )
    return None


def _kind_of_cell(cell: object) -> str:
    """Return in words what a cell of JSON holds."""
    if isinstance(cell, Mapping):
        return "an object"
    if isinstance(cell, (list, tuple)):
        return "a list"
    if isinstance(cell, str):
        return "a text"
    return "a number"
