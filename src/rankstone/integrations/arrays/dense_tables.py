"""Tables of lists on a device: a row a list, a column a rank; sums, counts and running values along rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.integrations.arrays.device_arrays import Data, NotOnDevice
from rankstone.integrations.arrays.device_tape import Node, OfPlaces, Tape, TapeArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Ints


class TableArray(TapeArray):
    """One value a place of a table: all of them, one row, or one column.

    Parameters
    ----------
    data, library, largest
        As for any array on a device.
    width
        Only so many columns count; the others are computed for deeper cutoffs.
    """

    def __init__(
        self, data: Data, library: Data, width: int, *, largest: float | None = None
    ) -> None:
        super().__init__(data, library, largest=largest)
        self.width = width

    def _wrapped(self, result: Data) -> Data:
        return TableArray(result, self.library, self.width)

    def __len__(self) -> int:
        return self.width

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Data, **kwargs: Data
    ) -> Data:
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        result.width = self._narrowest(inputs)
        return result

    def __array_function__(
        self,
        func: Callable[..., Data],
        types: object,
        args: Sequence[Data],
        kwargs: Mapping[str, Data],
    ) -> Data:
        if func is not np.where:
            if func.__name__ in {"any", "all", "sum"}:
                raise NotOnDevice(func.__name__)
            return super().__array_function__(func, types, args, kwargs)
        width = self._narrowest(args)
        tape: Data = self.library
        return TableArray(tape.where(*args, width), tape, width)

    def _narrowest(self, values: Sequence[Data]) -> int:
        """Return how many columns count of several arrays; one value a query is none of them."""
        for value in values:
            shape = getattr(value, "shape", ())
            if len(shape) == 1 and not isinstance(value, TableArray | np.ndarray):
                raise NotOnDevice("values of queries meet values of places")
        return min(v.width for v in values if isinstance(v, TableArray))

    def __getitem__(self, key: Data) -> Data:
        if isinstance(key, TableArray):
            if self.library.dtype(key.data) == np.dtype(bool):
                return self  # the others are passed over where the values go
            if isinstance(self.data, np.ndarray) and isinstance(key.data, np.ndarray):
                return TableArray(self.data[key.data], self.library, key.width)
        return super().__getitem__(key)

    def _call(self, name: str, **_: Data) -> Data:
        """Refuse to look at all places: those that are no hit would count."""
        raise NotOnDevice(name)

    def _extreme(self, name: str, initial: float | None) -> Data:
        if isinstance(self.data, Node):
            raise NotOnDevice(name)
        inside = self.data[..., : self.width]
        return getattr(np, name)(inside, initial=initial)


class TableRows(Record):
    """Sums and counts along the rows of a table.

    Attributes
    ----------
    tape
        What computes.
    queries, columns
        The shape of the table.
    there
        bool: which places are hits; ``None`` for all.
    """

    tape: Tape
    queries: int
    columns: int
    there: TableArray | None = None

    @cached_property
    def rank(self) -> Ints:
        """The rank of each column, from 1."""
        return np.arange(1, self.columns + 1)

    def array(self, data: Data, width: int) -> Data:
        """Return values of places as an array that measures compute with."""
        return TableArray(self.tape.own(data), self.tape, width)

    def inside(self, values: Data, nothing: Data = 0.0) -> Data:
        """Return the values, nothing where there is no hit."""
        if self.there is None:
            return values
        return np.where(self.there, values, nothing)

    def whole(self, values: Data) -> Node:
        """Return values of all places, also where they are those of a row or a column."""
        return self.tape.broadcast(values, (self.queries, self.columns))

    def total(self, values: Data, width: int) -> TapeArray:
        """Sum the first places of each row."""
        tape = self.tape
        first = tape.part(self.whole(values), np.s_[:, :width])
        sums = tape.call("sum", first, axis=1)
        return TapeArray(sums, tape)

    def after(self, begin: Data, rest: Data) -> Node:
        """Return rows one after the other, as longer rows."""
        library = self.tape.library

        def joined(*parts: Data) -> Data:
            return library.function("concatenate", (parts,), {"axis": 1})

        return self.tape.do(joined, "after", begin, rest)

    def counts(self) -> Data:
        """Return how many hits each row has."""
        if self.there is None:
            return np.full(self.queries, self.columns)
        return self.total(self.there, self.columns)

    def running(self, values: Data) -> Node:
        """Sum each row from its first place to every place."""
        return self.tape.along(np.add, self.whole(values))

    def spread(self, per_query: Data) -> Data:
        """Give every place of a row the value of its query."""
        column = self.tape.own(per_query)
        upright = np.s_[:, None]
        known = not isinstance(column, Node)
        column = column[upright] if known else self.tape.part(column, upright)
        return TableArray(column, self.tape, self.columns)

    @cached_property
    def of_query(self) -> Data:
        """The query of each place, as an index of values of queries."""
        return OfPlaces(self.spread)


class Offsets(OfPlaces):
    """Stands for the offsets of lists, of which only the differences are known: how long lists are.

    Parameters
    ----------
    lengths
        Returns the lengths.
    """

    def __init__(self, lengths: Callable[[], Data]) -> None:
        super().__init__(_refuse)
        self._lengths = lengths

    def __getitem__(self, _key: object) -> Data:
        raise NotOnDevice("offsets of lists")

    def __array_function__(
        self, func: Callable[..., Data], _types: object, *_: object
    ) -> Data:
        return self._lengths() if func is np.diff else _refuse(func)


def _refuse(what: object) -> Data:
    raise NotOnDevice(f"{what} of offsets")


#: what changes nothing
_NEUTRAL: Final[dict[Data, float]] = {
    np.add: 0.0,
    np.multiply: 1.0,
    np.maximum: -np.inf,
}


class RowLengths(TapeArray):
    """How many hits lists have, which also says where values run along each of them.

    Parameters
    ----------
    table
        The rows.
    """

    def __init__(self, table: TableRows) -> None:
        tape = table.tape
        super().__init__(tape.own(table.counts()), tape)
        self.table = table

    def running(self, op: np.ufunc, values: Data) -> Data:
        """Accumulate values from the first of each row to every place, past those that are no hit."""
        inside = self.table.inside(values * 1.0, _NEUTRAL[op])
        along = self.table.tape.along(op, self.table.whole(inside))
        return self.table.array(along, values.width)

    def before(self, op: np.ufunc, values: Data, first: float) -> Data:
        """Accumulate the values before each place."""
        table = self.table
        begin = np.full((table.queries, 1), first)
        through = table.after(begin, table.tape.own(self.running(op, values)))
        earlier = table.tape.part(through, np.s_[:, :-1])
        return table.array(earlier, values.width)
