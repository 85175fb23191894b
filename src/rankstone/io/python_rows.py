"""Rows, columns and values of Python: named tuples, dicts of columns, frames of pandas, checked one by one.

ir_measures and ir_datasets yield judgments and runs as named tuples, often from a generator, which can be
read only once.  Its rows are remembered as long as the generator lives, so that another run or measure sees
the same rows.  pandas is not imported; each of its columns is converted in a way that keeps its type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary
from zoneinfo import available_timezones

import numpy as np
import polars as pl
from polars import selectors

from rankstone.errors import BadValue, EmptyInput, InputError, MixedIds, printable
from rankstone.io.column_suggestions import looks_like_columns
from rankstone.io.columns import CANONICAL, FURTHER
from rankstone.io.input_table import reading
from rankstone.io.number_columns import LARGEST, refuse_inexact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo


_NARROW: Final = 2**63
_LARGEST_ID: Final = 2**127


def ids_of_documents(docs: list[Any], source: str) -> list[Any]:
    """Return the ids of LangChain's, LlamaIndex' and Haystack's documents; others stay as they are.

    A document may come with a score, ``(document, score)``, as from LangChain's vector stores.  That is a
    similarity of some, a distance of others, so that only the order of the list counts.
    """
    first = docs[0] if docs else None
    if isinstance(first, (str, int)) or not _is_document(_without_score(first)):
        return docs
    return [_id_of_document(_without_score(doc), source) for doc in docs]


def _without_score(doc: Any) -> Any:  # noqa: ANN401 - of any library
    """Return a document without its score: of a pair, and of LlamaIndex' NodeWithScore."""
    doc = doc[0] if isinstance(doc, tuple) and len(doc) == 2 else doc  # noqa: PLR2004 - a pair
    return getattr(doc, "node", doc)


def _is_document(doc: Any) -> bool:  # noqa: ANN401 - of any library
    """Return True for what has a text and a dict of metadata, by the names of these libraries."""
    texts = "page_content", "content", "text", "get_content"
    about = getattr(doc, "metadata", getattr(doc, "meta", None))
    return isinstance(about, Mapping) and any(hasattr(doc, name) for name in texts)


def _id_of_document(doc: Any, source: str) -> Any:  # noqa: ANN401 - of any library
    if not _is_document(doc):
        return doc
    found = getattr(doc, "node_id", None) or getattr(doc, "id", None)
    if found is None:
        about = getattr(doc, "metadata", getattr(doc, "meta", {}))
        raise InputError(
            f"a {type(doc).__name__} without id",
            where=source,
            given=f"metadata: {', '.join(map(printable, about)) or 'none'}",
            expected="documents with id",
            fix='pass ids: {query: [doc.metadata["source"] for doc in docs]}',
        )
    return found


def ids_of(ids: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return ids as text or whole numbers; a mixture is an error that shows both."""
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
                fix="convert them to text: str(id)",
            )
        return pl.Series(whole, dtype=pl.Int64 if abs(largest) < _NARROW else pl.Int128)
    examples = {
        kind: next(v for v in values if _kind(v) == kind) for kind in sorted(kinds)
    }
    raise MixedIds(
        f"{name} holds {' and '.join(examples)}",
        where=source,
        given=", ".join(
            f"{printable(repr(v), 40)} ({kind})" for kind, v in examples.items()
        ),
        expected="ids of one type: texts, or whole numbers",
        fix=None if "nothing" in kinds else "convert them to text: str(id)",
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return "whole number"
    return "nothing" if value is None else type(value).__name__


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
    large = (
        np.flatnonzero(np.abs(read) >= LARGEST)
        if getattr(numbers, "dtype", object) != np.float64
        else ()
    )
    if len(large):  # whole numbers and decimals; floats are exact
        given = np.asarray(numbers, dtype=object)[large]
        whole = [v for v in given if not isinstance(v, (float, np.floating))]
        refuse_inexact(
            pl.Series(map(str, whole), dtype=pl.String), name, lambda _row: source
        )
    return pl.Series(read)


def is_number(value: object) -> bool:
    """Return True for a number, also as text."""
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def lists_of(values: Sequence[Any], name: str, source: str) -> pl.Series:
    """Return lists of ids or of numbers as a column; ``None`` stays ``None``."""
    lists = [None if value is None else list(value) for value in values]
    items = [
        item for one in lists if one is not None for item in one if item is not None
    ]
    numbers = items and all(isinstance(item, (int, float, np.number)) for item in items)
    if numbers and not all(_kind(item) == "whole number" for item in items):
        return pl.Series(lists, dtype=pl.List(numbers_of(items, name, source).dtype))
    return pl.Series(lists, dtype=pl.List(ids_of(items, name, source).dtype))


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
    full = [value for value, is_known in zip(values, known, strict=True) if is_known]
    single = next(
        (value for value in full if not isinstance(value, (list, tuple, np.ndarray))),
        None,
    )
    if single is None and full:
        none = [
            value if is_known else None
            for value, is_known in zip(values, known, strict=True)
        ]
        return lists_of(none, name, source)
    if not name.endswith("_id") and not all(
        isinstance(value, str) for value in full[:100]
    ):
        return pl.Series(values, strict=False)
    ids = ids_of(full, name, source)
    if all(known):
        return ids
    places = pl.Series(np.where(known, np.cumsum(known) - 1, -1))
    return ids.gather(places.set(places < 0, None))


def is_pandas(value: object) -> bool:
    """Return True for an object of pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def frame_of_library(value: Any, source: str) -> pl.DataFrame | None:  # noqa: ANN401 - of any library
    """Return a frame of Polars, pandas or Arrow as a Polars frame; ``None`` for any other object.

    NaN means missing in pandas and becomes null.
    """
    if is_pandas(value):
        return frame_of_pandas(value, source).with_columns(
            selectors.float().fill_nan(None)
        )
    if not isinstance(value, pl.DataFrame) and not hasattr(value, "__arrow_c_stream__"):
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
        return names.gather(codes.set(codes < 0, None))
    if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return pl.Series(column.array.__arrow_array__())
    if hasattr(dtype, "numpy_dtype"):  # numbers with a mask of missing ones
        numbers = pl.Series(column.to_numpy(dtype=dtype.numpy_dtype, na_value=0))
        return numbers.set(pl.Series(column.isna().to_numpy()), None)
    if getattr(dtype, "tz", None) is not None:  # times, which pandas stores in UTC
        moments = pl.Series(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        return moments.dt.replace_time_zone("UTC").dt.convert_time_zone(_zone(dtype.tz))
    array = column.to_numpy()
    return (
        pl.Series(array) if array.dtype != object else _of_objects(column, name, source)
    )


def _zone(tz: tzinfo) -> str:
    """Return the name of a time zone; an offset of whole hours has one, any other is read as UTC."""
    if str(tz) in available_timezones():
        return str(tz)
    hours, rest = divmod(tz.utcoffset(None) or timedelta(), timedelta(hours=1))
    return "UTC" if rest or not hours else f"Etc/GMT{-hours:+d}"


def _of_objects(column: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - of pandas
    """Return a column of Python objects."""
    return objects_of(
        column.to_numpy().tolist(), name, source, column.notna().to_numpy().tolist()
    )


#: the method of an ir_datasets data set that yields rows, by their number
_OF_DATASETS: Final = {"relevance": "qrels_iter", "score": "scoreddocs_iter"}
#: generator → its rows
_YIELDED: Final[WeakKeyDictionary[Any, pl.DataFrame]] = WeakKeyDictionary()


def is_column(value: object) -> bool:
    """Return True for a list, an array or a series.

    >>> is_column(["q1", "q2"]), is_column(np.arange(2)), is_column("q1"), is_column(pl.DataFrame())
    (True, True, False, False)
    """
    if isinstance(value, (list, tuple)):
        return True
    array = (
        hasattr(value, "__array__")
        and hasattr(value, "__len__")
        and not hasattr(value, "columns")
    )
    return array and getattr(value, "ndim", 1) > 0


def holds_columns(value: object, columns: Mapping[str, str] | None = None) -> bool:
    """Return True for a dict of columns, False for ``{query: [doc, …]}``.

    Queries may have any id, so a dict holds columns only if our names are among its keys (``query_id`` and
    another one, perhaps after renaming with ``columns``), or if common names of queries and of documents,
    numbers or answers are the keys of columns of one length.

    >>> holds_columns({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
    True
    >>> holds_columns({"q1": ["d1"], "q2": ["d7"]})
    False
    """
    if not isinstance(value, Mapping) or not all(map(is_column, value.values())):
        return False
    if not all(isinstance(name, str) for name in value):
        return False
    known = {*CANONICAL, *FURTHER, "label"}.intersection(
        (columns or {}).get(name, name) for name in value
    )
    if "query_id" in known and len(known) > 1:
        return True
    return len({len(cells) for cells in value.values()}) == 1 and looks_like_columns(
        value
    )


def frame_of_columns(value: Mapping[str, Any], source: str) -> pl.DataFrame:
    """Return a dict of columns as a frame.

    Raises
    ------
    InputError
        When columns differ in length.
    """
    lengths = {name: len(cells) for name, cells in value.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(
            f"{printable(name, 40)} {length}" for name, length in lengths.items()
        )
        raise InputError(
            "columns of different lengths",
            where=source,
            given=shown,
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
        return (
            objects_of(array.tolist(), name, source)
            if array.dtype == object
            else pl.Series(name, array)
        )


def holds_rows(value: object) -> bool:
    """Return True for a list or tuple of rows: named tuples or dicts.

    >>> holds_rows([{"query_id": "q1", "doc_id": "d1"}]), holds_rows(["d1"])
    (True, False)
    """
    return isinstance(value, (list, tuple)) and len(value) > 0 and _is_row(value[0])


def _is_row(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, tuple) and hasattr(value, "_fields")
    )


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
    if (
        not isinstance(value, Iterable)
        or getattr(value, "ndim", 1) == 0
        or (is_column(value) and not holds_rows(value))
    ):
        return None
    if not isinstance(value, Iterator):
        return _frame(list(value), source)
    once = "an iterator can be read only once: pass list(rows)"
    try:
        known = _YIELDED.get(value)
    except TypeError:  # it does not allow weak references: a second read is an error
        return _frame(list(value), source, once)
    return (
        _YIELDED.setdefault(value, _frame(list(value), source, once))
        if known is None
        else known
    )


def _frame(rows: list[Any], source: str, fix: str | None = None) -> pl.DataFrame:
    if not rows:
        raise EmptyInput("there are no rows", where=source, fix=fix)
    odd = next((at for at, row in enumerate(rows) if not _is_row(row)), None)
    if odd is not None:
        raise BadValue(
            f"a {type(rows[odd]).__name__} is not a row",
            where=f"{source}, row {odd + 1}",
            given=printable(repr(rows[odd]), 60),
            expected="named tuples, as ir_measures and ir_datasets yield, or dicts",
            fix="name the columns in a frame: polars.DataFrame(rows, schema=[…], orient='row')",
        )
    if all(isinstance(row, Mapping) for row in rows):
        return frame_of_records(rows, source)
    names = dict.fromkeys(
        name for row in rows[:1] for name in getattr(row, "_fields", row)
    )
    return frame_of_columns(
        {name: [getattr(row, name, None) for row in rows] for name in names}, source
    )


def frame_of_records(rows: Sequence[Mapping[str, Any]], source: str) -> pl.DataFrame:
    """Return dicts, one for each row, as a frame; cells may be lists, or lists of dicts."""
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        if {"Int64", "Float64"} <= {*re.findall(r"Int64|Float64", str(error))}:
            # whole numbers and others in one list, which readers of lines know
            lines = "\n".join(map(json.dumps, rows))
            return pl.read_ndjson(StringIO(lines), infer_schema_length=None)
        raise InputError(
            "the rows cannot be made into a table",
            where=source,
            given=printable(str(error).partition("\n")[0]),
            expected="cells of one type in each column: ids, numbers, or lists of them",
        ) from error
