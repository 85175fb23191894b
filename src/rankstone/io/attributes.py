"""Tables of attributes: an id and any further columns, for queries, items or users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, first_true, is_path
from rankstone.errors import (
    DuplicateRows,
    EmptyInput,
    InputError,
    MissingColumn,
    printable,
)
from rankstone.io.columns import CANONICAL, hidden, renames, require
from rankstone.io.databases import open_database
from rankstone.io.exact_numbers import numbers_in
from rankstone.io.file_formats import place_in, scan_files
from rankstone.io.golden_sets import golden_in
from rankstone.io.json_objects import holds_json, read_json
from rankstone.io.objects import not_a_table
from rankstone.io.python_rows import frame_of_library, is_column
from rankstone.io.sources import display_name, is_database, is_stream, keeping_streams
from rankstone.io.tried_advice import advised
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankstone._basics import Columns, Locate

#: the number of a row of a table
_ROW: Final = "#row"


#: usual names of the ids in a table of documents that has no ``doc_id``
_IDS: Final = (
    "doc_id",
    "_id",
    "id",
    "docid",
    "doc",
    "docno",
    "pid",
    "path",
    "chunk_id",
)


class Attributes(Record):
    """A table with one row for each id, whose columns are read on request.

    Attributes
    ----------
    source
        The table's name in messages.
    key
        The column of unique ids.
    frame
        The rows, lazily.
    schema
        All columns and their types; in CSV files all are text.
    locate
        Returns the place of a row, counted from 0, for messages.
    read_as
        Notes on what was detected about a file.
    """

    source: str
    key: str
    frame: pl.LazyFrame
    schema: Mapping[str, pl.DataType]
    locate: Locate
    read_as: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns other than the id."""
        return tuple(name for name in self.schema if name != self.key)

    def about(self) -> tuple[str, ...]:
        """Return the columns that say something about an id; in judgments those that all its rows share."""
        if "doc_id" not in self.columns or self.key == "doc_id":
            return self.columns
        with reading(self.source):
            by_id = self.frame.group_by(self.key).agg(pl.all().n_unique())
            most = by_id.select(pl.exclude(self.key).max()).collect()
        shared = [column.name for column in most if column.item() == 1]
        return tuple(name for name in shared if name not in CANONICAL)

    def require(self, columns: Sequence[str]) -> None:
        """Refuse a column that the table does not have."""
        for name in columns:
            if name not in self.columns:
                what = f"there is no column {printable(name)}"
                raise MissingColumn.of(what, name, self.columns, self.source)

    def collect(self, *columns: str) -> pl.DataFrame:
        """Read the ids as text, and some columns; rows that say the same of an id are one."""
        self.require(columns)
        with reading(self.source):
            rows = self.frame.select(pl.col(self.key).cast(pl.String), *columns)
            frame = rows.unique(maintain_order=True).collect()
        if not frame.height:
            raise EmptyInput("the table is empty", where=self.source)
        ids = frame[self.key]
        if ids.null_count():
            raise InputError(
                f"a row without {self.key}",
                where=self.source,
                expected="an id in every row",
            )
        if ids.n_unique() < frame.height:
            raise self._differing(ids.filter(ids.is_duplicated())[0], columns)
        return frame

    def of_ids(self, ids: Collection[str], *columns: str) -> pl.DataFrame:
        """Return the rows of some ids, which are text, with some columns; the table may be a whole corpus."""
        rows = self.frame.select(pl.col(self.key).cast(pl.String), *columns)
        with reading(self.source):
            return rows.filter(pl.col(self.key).is_in([*ids])).collect()

    def _differing(self, twice: str, columns: Sequence[str]) -> DuplicateRows:
        """Return the error for an id whose rows differ, with the place of the first that does."""
        with reading(self.source):
            is_its = pl.col(self.key).cast(pl.String) == twice
            rows = self.frame.with_row_index(_ROW).filter(is_its).collect()
        name = next(name for name in columns if rows[name].n_unique() > 1)
        row = first_true(rows[name].ne_missing(rows[name][0]))
        fix = "put several values into one row, as a list or separated by |"
        if "doc_id" in self.columns:
            fix = (
                "for a value of each query give a table of its own: --queries FILE "
                "(in Python queries=…)"
            )
        return DuplicateRows(
            f"{self.key} {printable(twice)} has several rows, which differ in {printable(name)}",
            where=self.locate(rows[_ROW][row]),
            given=f"{printable(rows[name][row], 40)} after {printable(rows[name][0], 40)}",
            expected="one row for each",
            fix=fix,
        )

    def numbers(self, *columns: str) -> pl.DataFrame:
        """Read the ids as text, and some columns of numbers; a text that is none is refused."""
        frame = self.collect(*columns)
        return frame.with_columns(
            numbers_in(frame[name], self.locate) for name in columns
        )


@advised
def read_attributes(
    source: object,
    key: str,
    columns: Columns | None = None,
    format_in: str | None = None,
) -> Attributes:
    """Open a table of attributes.

    Parameters
    ----------
    source
        A path (CSV, TSV, JSON, JSON lines, Parquet, Arrow), an address of a database, a frame of any
        library, ``{id: value}`` or ``{id: {column: value}}``.
    key
        The column of ids: ``doc_id`` or ``query_id``; a plain mapping's values are called ``group``.
    columns
        {their name: our name}.
    format_in
        Format of a file; ``None`` decides by content and suffix.
    """
    golden = golden_in(source, columns, format_in) if key == "query_id" else None
    if golden is not None:
        golden.refuse_copies()
        rows = golden.attributes.lazy()
        places = [case.place for case in golden.cases]
        return Attributes(
            golden.source, key, rows, rows.collect_schema(), places.__getitem__
        )
    name, frame, notes = open_table(source, key, columns, format_in)
    schema = dict(frame.collect_schema())
    require(schema, (key,), name, tuple(schema), given=columns)
    return Attributes(
        name, key, frame, schema, _places(source, name, columns, format_in), notes
    )


def _places(
    source: object, name: str, columns: Columns | None, format_in: str | None
) -> Locate:
    """Return what finds the place of a row: the line in a file of lines."""
    if (
        not is_path(source)
        or is_database(source)
        or is_stream(source)
        or holds_json(source, format_in)
    ):
        return lambda row: f"{name}, row {row + 1}"
    form = None if format_in == "trec" else format_in
    return lambda row: place_in(source, row, form, columns)


@keeping_streams()
def open_table(
    source: object,
    key: str,
    columns: Columns | None = None,
    format_in: str | None = None,
) -> tuple[str, pl.LazyFrame, tuple[str, ...]]:
    """Open a table, and return its name in messages, its renamed columns and what was detected about a file.

    Parameters
    ----------
    source, columns, format_in
        As for :func:`read_attributes`.
    key
        The column of the ids of a mapping, and what the table is called.
    """
    if format_in == "trec":  # it has no column names
        format_in = None
    name = f"table of {key}"
    notes = tuple[str, ...]()
    if not is_path(source):
        frame = _frame_of(source, key, name)
    else:
        name = display_name(source)
        if holds_json(source, format_in):
            frame = _frame_of(read_json(name), key, name)
        elif isinstance(source, str) and is_database(source):
            renamed = (columns or {}).items()
            ids = (key, *(theirs for theirs, ours in renamed if ours == key))
            frame = open_database(source).frame(ids).lazy()
        else:
            frame, notes = scan_files(source, format_in, columns)
    with reading(name):
        names = frame.collect_schema().names()
        chosen = renames(names, columns or {}, name, [key])
        if key == "doc_id" and key not in (*names, *chosen.values()):
            usual = [theirs for theirs in _IDS if theirs in names][:1]
            chosen |= dict.fromkeys(usual, key)
        kept = frame.drop(hidden(names, chosen))
        frame = kept.rename(chosen)
    return name, frame, notes


def _frame_of(source: object, key: str, name: str) -> pl.LazyFrame:
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, Mapping):
        if is_column(source.get(key)) or _are_columns(source.values()):
            return pl.LazyFrame(dict(source))
        return _frame_of_mapping(source, key, name).lazy()
    frame = frame_of_library(source, name)
    if frame is not None:
        return frame.lazy()
    raise not_a_table(
        source,
        name,
        f"a path, a frame (Polars, pandas, PyArrow, DuckDB), {{{key}: value}} or "
        f"{{{key}: {{column: value}}}}",
    )


def _are_columns(values: Collection[Any]) -> bool:
    """Return whether values are columns of one length, whatever their names; an attribute is no list."""
    return all(map(is_column, values)) and len({len(value) for value in values}) == 1


def _refuse_nested(source: Mapping[Any, Any], key: str, name: str) -> None:
    """Refuse lists and objects among single values: no table of attributes holds them."""
    for identifier, value in source.items():
        if isinstance(value, Mapping) or is_column(value):
            raise InputError(
                f"{key} {printable(identifier, 40)} has several values instead of one",
                where=name,
                expected=f"{{{key}: value}} or {{{key}: {{column: value}}}}",
            )


def _frame_of_mapping(source: Mapping[Any, Any], key: str, name: str) -> pl.DataFrame:
    if not source:
        raise EmptyInput("the table is empty", where=name)
    ids = pl.Series(key, [str(one) for one in source], dtype=pl.String)
    values = list(source.values())
    if all(isinstance(value, Mapping) for value in values):
        names = dict.fromkeys(column for value in values for column in value)
        cells = {
            str(column): [value.get(column) for value in values] for column in names
        }
    else:
        _refuse_nested(source, key, name)
        cells = {"group": values}
    with reading(name):
        return pl.DataFrame(
            {key: ids, **{c: pl.Series(v, strict=False) for c, v in cells.items()}}
        )
