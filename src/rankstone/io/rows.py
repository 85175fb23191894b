"""Rows and columns of Python: named tuples that somebody hands out one by one, dicts of columns.

ir_measures and ir_datasets yield judgments and runs as named tuples, often from a generator, which can be
read once.  What a generator yielded is remembered as long as the generator lives, so that whoever asks
again, for another run or another measure, sees the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from rankstone.errors import BadValue, EmptyInput, InputError, printable
from rankstone.io.columns import CANONICAL, FURTHER
from rankstone.io.guessing import looks_like_columns
from rankstone.io.pandas_frames import frame_of_pandas, is_pandas
from rankstone.io.table import reading
from rankstone.io.values import objects_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "frame_of_columns",
    "frame_of_records",
    "frame_of_rows",
    "holds_columns",
    "holds_rows",
    "is_column",
]

#: what a data set of ir_datasets calls its rows, by the number they hold
_OF_DATASETS: Final = {"relevance": "qrels_iter", "score": "scoreddocs_iter"}
#: generators → what they yielded
_YIELDED: Final[WeakKeyDictionary[Any, pl.DataFrame]] = WeakKeyDictionary()


def is_column(value: object) -> bool:
    """Say whether a value is a list, an array or a series: cells one below the other.

    >>> is_column(["q1", "q2"]), is_column(np.arange(2)), is_column("q1"), is_column(pl.DataFrame())
    (True, True, False, False)
    """
    if isinstance(value, (list, tuple)):
        return True
    array = hasattr(value, "__array__") and hasattr(value, "__len__") and not hasattr(value, "columns")
    return array and getattr(value, "ndim", 1) > 0


def holds_columns(value: object, columns: Mapping[str, str] | None = None) -> bool:
    """Tell a dict of columns from ``{query: [doc, …]}``.

    Queries may be called anything, so a dict holds columns only if our names say so (``query_id`` and another
    one, perhaps by way of ``columns``), or if names that people use for queries, documents and a number head
    columns of one length.

    >>> holds_columns({"query_id": ["q1"], "doc_id": ["d1"], "score": [0.5]})
    True
    >>> holds_columns({"q1": ["d1"], "q2": ["d7"]})
    False
    """
    if not isinstance(value, Mapping) or not all(map(is_column, value.values())):
        return False
    if not all(isinstance(name, str) for name in value):
        return False
    known = {*CANONICAL, *FURTHER, "label"}.intersection((columns or {}).get(name, name) for name in value)
    if "query_id" in known and len(known) > 1:
        return True
    return len({len(cells) for cells in value.values()}) == 1 and looks_like_columns(value)


def frame_of_columns(value: Mapping[str, Any], source: str) -> pl.DataFrame:
    """Return a dict of columns as a frame.

    Raises
    ------
    InputError
        When columns differ in length.
    """
    lengths = {name: len(cells) for name, cells in value.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{printable(name, 40)} {length}" for name, length in lengths.items())
        raise InputError(
            "columns of different lengths", where=source, given=told, expected="one cell a row in each"
        )
    return pl.DataFrame({name: _column(cells, name, source) for name, cells in value.items()})


def _column(cells: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - a list, array or series
    if is_pandas(cells):
        return frame_of_pandas(cells.to_frame(name), source).to_series()
    if isinstance(cells, (list, tuple)):
        return objects_of(list(cells), name, source)
    with reading(source):
        if isinstance(cells, pl.Series) or hasattr(cells, "__arrow_c_array__"):
            return pl.Series(name, cells)
        array = np.asarray(cells)
        return objects_of(array.tolist(), name, source) if array.dtype == object else pl.Series(name, array)


def holds_rows(value: object) -> bool:
    """Say whether a list or tuple holds rows: named tuples, or dicts.

    >>> holds_rows([{"query_id": "q1", "doc_id": "d1"}]), holds_rows(["d1"])
    (True, False)
    """
    return isinstance(value, (list, tuple)) and len(value) > 0 and _is_row(value[0])


def _is_row(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, tuple) and hasattr(value, "_fields"))


def frame_of_rows(value: object, number: str, source: str) -> pl.DataFrame | None:
    """Return rows, or whatever yields them, as a frame; ``None`` for anything else.

    Parameters
    ----------
    value
        A list, a generator or any other iterable of named tuples or dicts; a data set of ir_datasets.
    number
        What the rows are asked for: ``relevance`` or ``score``.
    source
        What to call the rows in messages.
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
    once = "an iterator is read once: hand over list(rows)"
    try:
        known = _YIELDED.get(value)
    except TypeError:  # it takes no weak reference: whoever reads it twice is told
        return _frame(list(value), source, once)
    return _YIELDED.setdefault(value, _frame(list(value), source, once)) if known is None else known


def _frame(rows: list[Any], source: str, fix: str | None = None) -> pl.DataFrame:
    if not rows:
        raise EmptyInput("there are no rows", where=source, fix=fix)
    odd = next((at for at, row in enumerate(rows) if not _is_row(row)), None)
    if odd is not None:
        raise BadValue(
            f"a {type(rows[odd]).__name__} is no row",
            where=f"{source}, row {odd + 1}",
            given=printable(repr(rows[odd]), 60),
            expected="named tuples, as ir_measures and ir_datasets yield, or dicts",
            fix="name the columns in a frame: polars.DataFrame(rows, schema=[…], orient='row')",
        )
    if all(isinstance(row, Mapping) for row in rows):
        return frame_of_records(rows, source)
    names = dict.fromkeys(name for row in rows[:1] for name in getattr(row, "_fields", row))
    return frame_of_columns({name: [getattr(row, name, None) for row in rows] for name in names}, source)


def frame_of_records(rows: Sequence[Mapping[str, Any]], source: str) -> pl.DataFrame:
    """Return dicts, one a row, as a frame; cells may be lists, or lists of dicts."""
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "the rows do not make a table",
            where=source,
            given=printable(str(error).partition("\n")[0]),
            expected="in each column cells of one kind: ids, numbers, or lists of them",
        ) from error
