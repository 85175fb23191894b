"""Arrays on another device that NumPy's own functions work on.

NumPy passes a call on to an argument that implements it (``__array_ufunc__``
and ``__array_function__``: NEP 13, NEP 18; ``like=``: NEP 35).  So hits made of such arrays are scored by
the very measures that score NumPy's, and what another library does for them is in one place.

Lists on a device: labels lie there with their ideal order, scores come and become hits.

Lists of about the same length are the rows of one table.  Where no measure looks deeper than some rank,
and ties allow it, only so many of each row are taken from the top; nothing else is sorted.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rankstone._basics import Record
from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import Ideal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.integrations.arrays.array_layout import ArrayLayout

#: an array of another library, or another argument of NumPy's functions
Data: TypeAlias = Any


class NotOnDevice(TypeError):
    """Raised for what is not supported on the device; the caller computes it on the host."""


class Runs(Record):
    """Numbers 0, 1, 2, … in runs, by the length of each run.

    Attributes
    ----------
    lengths
        An array of the library, int64 ``[runs]``.
    each
        The length of every run, if all are equal.
    """

    lengths: Data
    each: int | None = None


class Library(Protocol):
    """The operations on arrays of a library on a device."""

    def own(self, value: Data) -> Data:
        """Return an array or number as the library's, on the device."""

    def ufunc(
        self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call a method of one of NumPy's element-wise functions."""

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call another function of NumPy."""

    def assigned(self, data: Data, key: Data, value: Data) -> Data:
        """Return an array with some places changed."""

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return an array with values of another type."""

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return what NumPy calls the type of the array's values."""

    def to_host(self, data: Data) -> NDArray[Any]:
        """Return an array as NumPy's."""

    def descending(self, table: Data, count: int | None) -> tuple[Data, Data]:
        """Return the largest values of each row, and where they are in it.

        Without a ``count`` all of them, equal ones in their given order; with one, equal values come in any
        order.
        """


class DeviceArray(NDArrayOperatorsMixin):
    """An array of another library where NumPy's functions meet it.

    Parameters
    ----------
    data
        The array.
    library
        What computes with it.
    runs
        What is known of its values, where these number runs.
    counts
        Whether its values are 0, 1, 2, ….
    largest
        No value is above this, where that is known.
    """

    def __init__(
        self,
        data: Data,
        library: Library,
        *,
        runs: Runs | None = None,
        largest: int | None = None,
        counts: bool = False,
    ) -> None:
        self.data = data
        self.library = library
        self.runs = runs
        self.counts = counts
        self._largest = largest

    # -- NumPy's protocols ---------------------------------------------------------------------------
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Data, **kwargs: Data
    ) -> Data:
        return self._wrapped(self.library.ufunc(ufunc.__name__, method, inputs, kwargs))

    def __array_function__(
        self,
        func: Callable[..., Data],
        _types: object,
        args: Sequence[Data],
        kwargs: Mapping[str, Data],
    ) -> Data:
        given = {
            name: value
            for name, value in kwargs.items()
            if name not in {"like", "order", "device"}
        }
        return self._wrapped(self.library.function(func.__name__, args, given))

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        """Refuse: arrays leave their device only on explicit request."""
        raise NotOnDevice("NumPy needs the values of an array on another device")

    def __getattr__(self, name: str) -> Data:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotOnDevice(f"array.{name}")

    def _wrapped(self, result: Data) -> Data:
        if isinstance(result, tuple):
            return tuple(self._wrapped(part) for part in result)
        alone = isinstance(result, (DeviceArray, bool, int, float))
        return result if alone else DeviceArray(result, self.library)

    def _call(self, name: str, **kwargs: Data) -> Data:
        return self._wrapped(self.library.function(name, (self,), kwargs))

    # -- what an array is --------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each axis."""
        return tuple(self.data.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's name of the type of its values."""
        return self.library.dtype(self.data)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Data:
        raise NotOnDevice(
            "values of an array on another device are not looked at one by one"
        )

    def __getitem__(self, key: Data) -> Data:
        if isinstance(key, slice) and key == slice(None, None, -1):
            return self._call("flip", axis=0)
        return DeviceArray(self.data[self._key(key)], self.library)

    def __setitem__(self, key: Data, value: Data) -> None:
        self.data = self.library.assigned(
            self.data, self._key(key), self.library.own(value)
        )

    def _key(self, key: Data) -> Data:
        if isinstance(key, tuple):
            return tuple(self._key(part) for part in key)
        return (
            self.library.own(key) if isinstance(key, (DeviceArray, np.ndarray)) else key
        )

    def __bool__(self) -> bool:
        return bool(self.data)

    def __int__(self) -> int:
        return int(self.data)

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.data)

    # -- what an array does ------------------------------------------------------------------------
    def astype(self, dtype: Data, *, copy: bool = True) -> DeviceArray:  # noqa: ARG002 - as NumPy has it
        """Return it with values of another type."""
        return DeviceArray(self.library.cast(self.data, np.dtype(dtype)), self.library)

    def reshape(self, *shape: int) -> DeviceArray:
        """Return it in another shape."""
        return DeviceArray(self.data.reshape(shape), self.library)

    def tolist(self) -> Data:
        """Return its values as numbers of the host."""
        return self.library.to_host(self.data).tolist()

    def sum(self, axis: int | None = None) -> Data:
        """Add values up."""
        return self._call("sum", axis=axis)

    def any(self, axis: int | None = None) -> Data:
        """Return whether any value is true."""
        return self._call("any", axis=axis)

    def all(self, axis: int | None = None) -> Data:
        """Return whether all values are true."""
        return self._call("all", axis=axis)

    def argmax(self) -> Data:
        """Return the first index of the largest value."""
        return self._call("argmax")

    def min(self, *, initial: float | None = None) -> Data:
        """Return the smallest value as a number of the host."""
        return self._extreme("min", initial)

    def max(self, *, initial: float | None = None) -> Data:
        """Return the largest value, or what is known to be no smaller, as a number of the host."""
        if self._largest is None or not self.size:
            return self._extreme("max", initial)
        return self._largest

    def _extreme(self, name: str, initial: float | None) -> Data:
        if not self.size:
            if initial is None:
                msg = "an array without values has no extremes"
                raise ValueError(msg)
            return initial
        value = self._call(name)
        found = float(value) if self.dtype.kind == "f" else int(value)
        return (
            found
            if initial is None
            else (max if name == "max" else min)(found, initial)
        )


#: so many times the cutoff is taken from the top: tied documents at the cutoff are nearly always among them
_MORE: Final = 2


class HoldsNaN(ValueError):
    """Raised if a score is NaN; the caller finds its place."""


def device_lists(
    layout: ArrayLayout,
    label: Floats,
    lowest: float,
    options: AlignmentOptions,
    library: Library,
) -> Iterator[DeviceLists]:
    """Lay labels down on a device, lists of about the same length together.

    Parameters
    ----------
    layout
        Which values belong to which list.
    label
        float64 ``[values]``, list after list; NaN for unjudged documents.
    lowest
        The bottom of the grade scale.
    options
        Options of alignment; ``ties`` is ``expected`` or ``input``.
    library
        What computes on the device.
    """
    same = (layout.lengths == layout.lengths[0]).all()
    bits = (
        np.zeros(len(layout.lengths), int)
        if same
        else np.frexp(layout.lengths.astype(np.float64))[1]
    )
    for bucket in np.unique(bits):
        lists = np.flatnonzero(bits == bucket)
        lengths = layout.lengths[lists]
        longest = max(int(lengths.max()), 1)
        inside = np.arange(longest) < lengths[:, None]
        place = np.where(inside, layout.offsets[lists][:, None] + np.arange(longest), 0)
        grade = np.where(inside, label[place], np.nan)
        source = place if layout.take is None else layout.take[place]
        whole = layout.take is None and bool(same)

        def own(values: NDArray[Any]) -> Data:
            return DeviceArray(library.own(values), library)

        yield DeviceLists(
            lists=lists,
            lengths=own(lengths),
            source=None if whole else own(source),
            inside=None if inside.all() else own(inside),
            grade=own(grade),
            judged=not np.isnan(grade[inside]).any(),
            ideal=_ideal(own(grade), own((~np.isnan(grade)).sum(axis=1)), library),
            lowest=lowest,
            expected=options.ties == "expected",
            library=library,
        )


class DeviceLists(Record):
    """Lists of about the same length.

    Attributes
    ----------
    lists
        int64 ``[queries]``: which lists these are.
    lengths
        int64 ``[queries]``, on the device like all that follows.
    source
        int64 ``[queries, longest]``: where each value is in the flat scores; ``None`` for all as they lie.
    inside
        bool ``[queries, longest]``: False where a row is longer than its list; ``None`` where none is.
    grade
        float64 ``[queries, longest]``, NaN for unjudged documents.
    judged
        Whether all documents are judged.
    ideal
        The ideal order of each list.
    lowest
        The bottom of the grade scale.
    expected
        Whether tied documents are at every rank of their block with equal probability.
    library
        What computes here.
    """

    lists: Ints
    lengths: Data
    source: Data | None
    inside: Data | None
    grade: Data
    judged: bool
    ideal: Ideal
    lowest: float
    expected: bool
    library: Library
    _kept: dict[int, Data] = field(default_factory=dict, repr=False)

    def hits(self, scores: Data, depth: int | None) -> Hits:
        """Return the ranks of the documents by these scores, of those that can be above ``depth``.

        Parameters
        ----------
        scores
            All scores, an array of the library, without NaN.
        depth
            No measure looks deeper; ``None`` for whole lists.
        """
        flat: Data = DeviceArray(scores.reshape(-1), self.library)
        key = (
            flat.reshape(*self.grade.shape)
            if self.source is None
            else flat[self.source]
        )
        if self.inside is not None:
            key = np.where(self.inside, key, -np.inf)
        if bool(np.isnan(key).any()):
            raise HoldsNaN
        longest = key.shape[1]
        if (
            depth is not None
            and (count := _MORE * depth) < longest
            and not self._hides(key)
        ):
            order, equal = self._from_the_top(key, count)
            if not bool(
                equal[:, depth - 1 :].all(axis=1).any()
            ):  # a block at the cutoff ends within these
                return self._hits_of(
                    order if self.expected else self._as_given(key, order), equal, depth
                )
        order, equal = self._from_the_top(key, None)
        return self._hits_of(order, equal, longest if depth is None else depth)

    def _hides(self, key: Data) -> bool:
        """Return True if a document may be confused with padding."""
        return self.inside is not None and bool((self.inside & (key == -np.inf)).any())

    def _from_the_top(self, key: Data, count: int | None) -> tuple[Data, Data]:
        """Return the places of each row by key descending, and which keys equal the one before."""
        values, places = self.library.descending(key.data, count)
        value: Data = DeviceArray(values, self.library)
        equal = value[:, 1:] == value[:, :-1]
        if self.inside is not None:
            equal = equal & (
                np.arange(1, value.shape[1], like=value) < self.lengths[:, None]
            )
        return DeviceArray(places, self.library), equal

    def _as_given(self, key: Data, order: Data) -> Data:
        """Return the top places, equal keys in their given order."""
        places = np.sort(order, axis=1)
        _, at = self.library.descending(np.take_along_axis(key, places, 1).data, None)
        ordered: Data = DeviceArray(at, self.library)
        return np.take_along_axis(places, ordered, 1)

    def _hits_of(self, order: Data, equal: Data, depth: int) -> Hits:
        first = last = None
        if tied := bool(equal.any()):
            first, last = blocks_of(equal)
            if (
                self.expected
            ):  # a block that begins above the cutoff is looked at as a whole
                depth = int((first <= depth).sum(axis=1).max())
            first = first[:, :depth]
            last = last[:, :depth]
        order = order[:, :depth]
        queries, width = order.shape
        rank = np.broadcast_to(np.arange(1, width + 1, like=order), (queries, width))
        grade = np.take_along_axis(self.grade, order, 1)
        kept, query, offsets = self._which(grade, width)

        def flat(table: Data | None, largest: int | None = None) -> Any:  # noqa: ANN401 - as hits have it
            values = None if table is None else table.reshape(-1)
            values = values if values is None or kept is None else values[kept]
            return (
                None
                if values is None
                else DeviceArray(values.data, self.library, largest=largest)
            )

        ranks = flat(rank, width)
        count: Any = self.lengths
        hits = Hits(
            offsets=offsets,
            rank=ranks,
            grade=flat(grade),
            first=ranks if first is None else flat(first, width),
            last=ranks if last is None else flat(last),
            judged=np.ones_like(ranks, bool),
            n=count,
            length=count,
            ideal=self.ideal,
            found=np.ones_like(count, bool),
            expected=self.expected and tied,
            lowest_grade=self.lowest,
        )
        vars(hits)["query"] = query
        return hits

    def _which(self, grade: Data, width: int) -> tuple[Data | None, Any, Any]:
        """Return which places have a hit (``None`` for all), the query of each, and where queries begin."""
        queries = len(grade)
        if self.judged and self.inside is None:
            offsets = np.arange(queries + 1, like=grade) * width
            lengths = np.full(queries, width, like=grade)
            return None, _numbered(lengths, self.library, width), offsets
        there = ~np.isnan(grade)
        if not self.judged or width not in self._kept:
            self._kept[width] = np.flatnonzero(there)
        lengths = there.sum(axis=1)
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        return self._kept[width], _numbered(lengths, self.library, None), offsets


def _numbered(lengths: Any, library: Library, each: int | None) -> Data:  # noqa: ANN401 - a DeviceArray
    """Return the number of each list as often as it is long."""
    found: Data = np.repeat(np.arange(len(lengths), like=lengths), lengths)
    return DeviceArray(found.data, library, runs=Runs(lengths.data, each))


def blocks_of(equal: Data) -> tuple[Data, Data]:
    """Return the first and the last rank of the tie block at each place of some rows."""
    edge = np.ones_like(equal[:, :1])
    width = equal.shape[1] + 1
    ranks = np.arange(1, width + 1, like=equal)
    begins = np.where(np.concatenate((edge, ~equal), axis=1), ranks, 0)
    ends = np.where(np.concatenate((~equal, edge), axis=1), ranks, width)
    last = np.flip(np.minimum.accumulate(np.flip(ends, axis=1), axis=1), axis=1)
    return np.maximum.accumulate(begins, axis=1), last


def _ideal(grade: Data, counts: Data, library: Library) -> Ideal:
    """Return the judged grades of each row, best first."""
    values, _ = library.descending(np.where(np.isnan(grade), -np.inf, grade).data, None)
    width = grade.shape[1]
    inside = np.arange(width, like=grade) < counts[:, None]
    whole = bool(inside.all())
    best: Data = DeviceArray(values, library).reshape(-1)
    offsets: Any = np.concatenate(([0], np.cumsum(counts)))
    ideal = Ideal(offsets, best if whole else best[np.flatnonzero(inside)])
    vars(ideal)["query"] = _numbered(counts, library, width if whole else None)
    vars(ideal)["rank"] = DeviceArray(ideal.rank.data, library, largest=width)
    return ideal
