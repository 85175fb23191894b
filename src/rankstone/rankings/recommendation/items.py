"""The table of items with categories as sets and features as vectors; pairs of users and items."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    InputError,
    MissingColumn,
    printable,
)
from rankstone.hits.list_arrays import (
    divided,
    list_numbers,
    offsets_of,
    ragged_range,
    sums,
)
from rankstone.hits.remembering import Remembering
from rankstone.io.column_suggestions import words_of_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.io.attributes import Attributes
    from rankstone.rankings.recommendation.list_frame import Codes, ListFrame, Numbers


#: categories that fit into the bits of one number
_WORD: Final = 64
#: the square of a larger number, or a sum of such, would be infinite
_LARGEST: Final = 1e150
#: the most labels per row of a padded table
_WIDEST: Final = 8


class Sets(Record):
    """The categories of each item.

    Attributes
    ----------
    offsets
        int64 ``[table rows + 1]``: labels of row ``i`` are ``offsets[i]:offsets[i + 1]``.
    label
        int64: the number of each category.
    names
        The names of the categories, sorted.
    """

    offsets: Ints
    label: Ints
    names: list[str]

    @cached_property
    def size(self) -> Ints:
        """The number of categories of each row, int64 ``[table rows]``."""
        return np.diff(self.offsets)

    @cached_property
    def single(self) -> bool:
        """True if no row has more than one category."""
        return int(self.size.max(initial=0)) <= 1

    @cached_property
    def known(self) -> Bools:
        """Which rows have a category, bool ``[table rows]``."""
        return self.size > 0

    @cached_property
    def bits(self) -> NDArray[np.uint64] | None:
        """Each row's categories as bits of one number, uint64 ``[table rows]``; ``None`` for too many."""
        if len(self.names) > _WORD:
            return None
        words = np.zeros(len(self.size), np.uint64)
        row = list_numbers(self.size)
        # every bit once
        np.add.at(words, row, np.uint64(1) << self.label.astype(np.uint64))
        return words

    @cached_property
    def _padded(self) -> NDArray[np.int32] | None:
        """The labels of each row padded with -1, and an empty row at the end for row -1."""
        width = int(self.size.max(initial=1))
        if width > _WIDEST:
            return None
        table = np.full((len(self.size) + 1, width), -1, np.int32)
        row = list_numbers(self.size)
        table[row, np.arange(len(self.label)) - self.offsets[row]] = self.label
        return table

    def spread(self, row: Ints) -> tuple[Ints, Ints, Ints]:
        """Return every category of some rows of the table (-1 is none).

        Returns
        -------
        there, size, label
            int64: which of ``row`` have categories, their numbers of categories, and the categories one after
            another.
        """
        table = self._padded
        if table is not None:  # one look-up per row instead of three
            labels = table.take(row, axis=0, mode="wrap")
            labelled = labels >= 0
            # columns are few and rows many: NumPy is slow along the short axis
            size = sum(labelled.T, np.zeros(len(row), np.int64))
            there = np.flatnonzero(size)
            return (
                there,
                size[there],
                labels.ravel().compress(labelled.ravel()).astype(np.int64),
            )
        size = self.size[row]
        there = np.flatnonzero((row >= 0) & (size > 0))
        size = size[there]
        return there, size, self.label[ragged_range(self.offsets[row[there]], size)]

    def split_sum(self, values: Floats) -> Floats:
        """Sum values of rows by category, divided equally among several, float64 ``[categories]``."""
        parts = divided(values, self.size)
        return sums(self.label, np.repeat(parts, self.size), len(self.names))


class Vectors(Record):
    """The features of each item, float64 ``[table rows, features]``; ``known`` where none is missing."""

    values: Floats
    known: Bools


class ItemTable(Remembering, Record):
    """The table of items, whose rows are found by the numbers of items.

    Attributes
    ----------
    attributes
        The table.
    code
        uint32 ``[table rows]``: the number of each row's item.
    separator
        The separator of several values in one text.
    """

    attributes: Attributes
    code: Numbers
    separator: str
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, attributes: Attributes, codes: Codes, separator: str) -> ItemTable:
        """Return the table with its items numbered."""
        if not separator:
            raise BadOption(
                f"separator={separator!r} is empty", expected="a text, such as | or ;"
            )
        return cls(
            attributes, codes.of(attributes.collect()[attributes.key]), separator
        )

    def __len__(self) -> int:
        return len(self.code)

    def rows(self, lists: ListFrame) -> Ints:
        """Return the table's row for every row of the lists, -1 for items it does not have."""
        return lists.remember(("table row", self), lambda: self.rows_of(lists.item))

    def rows_of(self, item: Numbers) -> Ints:
        """Return the table's row of each item, -1 for items it does not have."""
        place = self.remember("place", self._places)
        inside = np.minimum(item, len(place) - 1)
        return np.where(item < len(place), place[inside], -1)

    def _places(self) -> Ints:
        place = np.full(int(self.code.max(initial=0)) + 1, -1, np.int64)
        place[self.code] = np.arange(len(self.code))
        return place

    def chosen(self, text: str | None, parameter: str, owner: str) -> tuple[str, ...]:
        """Return the columns that a measure's parameter means; several are written with a plus.

        Parameters
        ----------
        text
            The value of the parameter; ``None`` for the column named like the parameter, or all columns.
        parameter
            The name of the parameter.
        owner
            The measure, for messages.
        """
        if text is not None:
            columns = tuple(text.split("+"))
            self.attributes.require(columns)
            if len(columns) > 1 and parameter != "features":
                raise BadParameter(
                    f"{owner}: {parameter}={text} has several columns",
                    expected="one column",
                )
            return columns
        columns = self.attributes.columns
        if parameter in columns:
            return (parameter,)
        if len(columns) == 1 or (columns and parameter == "features"):
            return columns
        raise MissingColumn(
            f"{owner} needs a column for {parameter}",
            where=self.attributes.source,
            given=f"columns {', '.join(map(printable, columns)) or 'none'}",
            fix=f"add {parameter}=<column> to the parameters of the measure",
        )

    def numbers(self, column: str) -> Floats:
        """Return a column of numbers, NaN where there is none, float64 ``[table rows]``."""
        return self.remember(("numbers", column), lambda: self._numbers(column))

    def _numbers(self, column: str) -> Floats:
        numbers = self.attributes.numbers(column)[column]
        return numbers.fill_null(float("nan")).to_numpy()

    def check_numbers(self, columns: Sequence[str]) -> None:
        """Refuse columns without numbers; values are read only where the type does not decide it."""
        kinds = [self.attributes.schema[column] for column in columns]
        lists = (pl.List, pl.Array)
        if (
            len(kinds) == 1
            and isinstance(kinds[0], lists)
            and kinds[0].inner.is_numeric()
        ):
            return
        if not all(kind.is_numeric() for kind in kinds):
            self.vectors(columns)

    def vectors(self, columns: Sequence[str]) -> Vectors:
        """Return columns of numbers, or one column of lists of numbers, as vectors."""
        return self.remember(
            ("vectors", tuple(columns)), lambda: self._vectors(columns)
        )

    def _vectors(self, columns: Sequence[str]) -> Vectors:
        schema = self.attributes.schema
        if len(columns) == 1 and isinstance(schema[columns[0]], (pl.List, pl.Array)):
            values = self._matrix(columns[0])
        else:
            values = np.stack([self.numbers(column) for column in columns], axis=1)
        if (np.abs(values) > _LARGEST).any():
            raise BadValue(
                f"{'+'.join(columns)} holds an infinite number, or one whose square is",
                where=self.attributes.source,
                expected="finite numbers, or nothing where a feature is not known",
            )
        return Vectors(values, np.asarray(~np.isnan(values).any(axis=1)))

    def _matrix(self, column: str) -> Floats:
        lists = self.attributes.collect(column)[column]
        if (
            isinstance(lists.dtype, pl.Array)
            and lists.dtype.inner.is_numeric()
            and not lists.null_count()
        ):
            whole: Floats = lists.cast(
                pl.Array(pl.Float64, lists.dtype.size)
            ).to_numpy()
            return whole.reshape(len(lists), lists.dtype.size)
        if isinstance(lists.dtype, pl.Array):
            lists = lists.arr.to_list()
        if not isinstance(lists.dtype, pl.List) or not lists.dtype.inner.is_numeric():
            raise self._wrong_type(column, lists.dtype, "lists of numbers")
        lengths = lists.list.len().drop_nulls().unique()
        if len(lengths) > 1:
            raise InputError(
                f"{column} holds lists of {lengths.min()!s} to {lengths.max()!s} numbers",
                where=self.attributes.source,
                expected="lists of one length",
            )
        there = np.flatnonzero(lists.is_not_null().to_numpy())
        width = int(lengths[0]) if len(lengths) else 1
        values = np.full((len(lists), width), np.nan)
        flat = lists.drop_nulls().explode().cast(pl.Float64)
        values[there] = (
            flat.fill_null(float("nan")).to_numpy().reshape(len(there), width)
        )
        return values

    def _wrong_type(self, column: str, dtype: pl.DataType, expected: str) -> InputError:
        return InputError(
            f"{column} holds {words_of_type(dtype)}",
            where=self.attributes.source,
            expected=expected,
        )

    def is_text(self, columns: Sequence[str]) -> bool:
        """Return True if columns hold names, or lists of names, instead of numbers."""
        if len(columns) > 1:
            return False
        dtype = self.attributes.schema[columns[0]]
        if isinstance(dtype, (pl.List, pl.Array)):
            return not dtype.inner.is_numeric()
        if dtype != pl.String:
            return not dtype.is_numeric()
        values = (
            self.attributes.collect(*columns)[columns[0]]
            .str.strip_chars()
            .replace("", None)
        )
        return bool(
            (
                values.is_not_null() & values.cast(pl.Float64, strict=False).is_null()
            ).any()
        )

    def sets(self, column: str) -> Sets:
        """Return a column as sets of categories; a text is split at the separator."""
        return self.remember(("sets", column), lambda: self._sets(column))

    def _sets(self, column: str) -> Sets:
        values = self.attributes.collect(column)[column]
        if isinstance(values.dtype, pl.Array):
            values = values.arr.to_list()
        if (
            values.dtype == pl.String
            and values.str.contains(self.separator, literal=True).any()
        ):
            values = values.str.split(self.separator)
        frame = pl.DataFrame({"label": values}).with_row_index("row")
        if isinstance(values.dtype, pl.List):
            frame = frame.explode("label")
        label = pl.col("label").cast(pl.String).str.strip_chars()
        frame = frame.with_columns(label).filter(
            pl.col("label").is_not_null() & (pl.col("label") != "")
        )
        names = frame["label"].unique().sort()
        number = (
            frame["label"]
            .cast(pl.Enum(names))
            .to_physical()
            .to_numpy()
            .astype(np.int64)
        )
        # one number for row and category: sorted, each once
        cell = np.sort(
            frame["row"].to_numpy().astype(np.int64) * max(len(names), 1) + number
        )
        cell = cell[np.diff(cell, prepend=-1) != 0]
        size = np.bincount(cell // max(len(names), 1), minlength=len(values))
        offsets = offsets_of(size)
        return Sets(offsets, cell % max(len(names), 1), names.to_list())


_BITS = np.uint64(32)


def keys(user: Numbers, item: Numbers) -> NDArray[np.uint64]:
    """Return a pair as one number, ``user | item``, so that pairs sort by user, then item."""
    return (user.astype(np.uint64) << _BITS) | item


class Pairs(Record):
    """Pairs sorted by user, then item; a pair may come more than once.

    Attributes
    ----------
    key
        uint64 ``[pairs]``, ascending.
    columns
        Number columns by name, float64 ``[pairs]``.
    """

    key: NDArray[np.uint64]
    columns: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls, user: Numbers, item: Numbers, columns: Mapping[str, Floats] | None = None
    ) -> Pairs:
        """Return sorted pairs; those that are sorted are not copied."""
        key = keys(user, item)
        if columns and not (key[1:] >= key[:-1]).all():
            order = np.argsort(key, kind="stable")
            return cls(
                key[order], {name: values[order] for name, values in columns.items()}
            )
        if not columns:
            key.sort()
        return cls(key, dict(columns or {}))

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def user(self) -> Numbers:
        """The user of each pair, uint32."""
        return (self.key >> _BITS).astype(np.uint32)

    @cached_property
    def item(self) -> Numbers:
        """The item of each pair, uint32."""
        return self.key.astype(np.uint32)  # the low half

    @cached_property
    def users(self) -> Numbers:
        """The distinct users, ascending."""
        fresh = np.ones(len(self), bool)
        fresh[1:] = self.user[1:] != self.user[:-1]
        return self.user[fresh]

    @cached_property
    def once(self) -> Pairs:
        """Each pair once; of number columns the first."""
        fresh = np.ones(len(self), bool)
        fresh[1:] = self.key[1:] != self.key[:-1]
        if fresh.all():
            return self
        return Pairs(
            self.key[fresh],
            {name: values[fresh] for name, values in self.columns.items()},
        )

    def where(self, chosen: Bools) -> Pairs:
        """Return the pairs of a mask."""
        return Pairs(
            self.key[chosen],
            {name: values[chosen] for name, values in self.columns.items()},
        )

    def per_item(self, items: int, weight: Floats | None = None) -> NDArray[Any]:
        """Count the pairs of each item, or sum their weights; ``[items]``."""
        return np.bincount(self.item, weight, items)

    def of_users(self, user: Numbers) -> tuple[Ints, Ints]:
        """Return the first pair of each user, and the number of pairs."""
        begin = np.searchsorted(self.key, user.astype(np.uint64) << _BITS)
        end = np.searchsorted(
            self.key, (user.astype(np.uint64) + np.uint64(1)) << _BITS
        )
        return begin, end - begin

    def of_lists(self, lists: ListFrame) -> tuple[Ints, Ints | slice]:
        """Return the number of pairs of the user of each list, and these pairs, one user after another."""

        def look_up() -> tuple[Ints, Ints | slice]:
            begin, count = self.of_users(lists.user)
            if len(begin) and (begin[1:] == begin[:-1] + count[:-1]).all():
                return count, slice(int(begin[0]), int(begin[-1] + count[-1]))
            return count, ragged_range(begin, count)

        return lists.remember(("pairs", self), look_up)

    def has(self, lists: ListFrame) -> Floats:
        """Return 1 for every row of the lists with a pair, 0 for others."""
        return (self.find(lists) >= 0).astype(np.float64)

    def find(self, lists: ListFrame) -> Ints:
        """Return the pair of every row of the lists, -1 for rows without one."""
        return lists.remember(("pair", self), lambda: self._find(lists))

    def _find(self, lists: ListFrame) -> Ints:
        if not len(self) or not len(lists.item):
            return np.full(len(lists.item), -1, np.int64)
        keys_of_rows = (lists.user.astype(np.uint64) << _BITS)[lists.query] | lists.item
        # the users of a chunk are close together, and a short stretch fits into the cache
        begin = int(np.searchsorted(self.key, keys_of_rows.min()))
        end = int(np.searchsorted(self.key, keys_of_rows.max(), side="right"))
        if begin == end:
            return np.full(len(keys_of_rows), -1, np.int64)
        stretch = self.key[begin:end]
        position = np.minimum(np.searchsorted(stretch, keys_of_rows), len(stretch) - 1)
        return np.where(stretch[position] == keys_of_rows, position + begin, -1)
