"""Arrays on another device that NumPy's own functions work on.

NumPy passes a call on to an argument that implements it (``__array_ufunc__``
and ``__array_function__``: NEP 13, NEP 18; ``like=``: NEP 35).  So hits made of such arrays are scored by
the very measures that score NumPy's, and what another library does for them is in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


#: an array of another library, or another argument of NumPy's functions
Data: TypeAlias = Any


class NotOnDevice(TypeError):
    """Raised for what is not supported on the device; the caller computes it on the host."""


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

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return an array with values of another type."""

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return what NumPy calls the type of the array's values."""

    def recorded(self, act: Callable[..., Data], values: Sequence[Data]) -> Data:
        """Return the result of an operation that is recorded, or its shape and type."""

    def repeated(self, key: object, run: Callable[..., Data]) -> Callable[..., Data]:
        """Return a function that does the same as a recording, without its Python if possible.

        Parameters
        ----------
        key
            Recordings of the same key do the same.
        run
            Takes what is fixed, by number, and the scores; returns a summary, and columns by number.
        """

    def keeps_order(self, table: Data) -> bool:
        """Return whether equal values among the largest of each row keep their order."""

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
    largest
        No value is above this, where that is known.
    """

    def __init__(
        self, data: Data, library: Data, *, largest: float | None = None
    ) -> None:
        self.data = data
        self.library = library
        self._largest = largest

    # -- NumPy's protocols ---------------------------------------------------------------------------
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Data, **kwargs: Data
    ) -> Data:
        result = self.library.ufunc(ufunc.__name__, method, inputs, kwargs)
        return self._wrapped(result)

    def __array_function__(
        self,
        func: Callable[..., Data],
        _types: object,
        args: Sequence[Data],
        kwargs: Mapping[str, Data],
    ) -> Data:
        unneeded = {"like", "order", "device"}
        named = {name: kwargs[name] for name in kwargs if name not in unneeded}
        result = self.library.function(func.__name__, args, named)
        return self._wrapped(result)

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        """Refuse: arrays leave their device only on explicit request."""
        raise NotOnDevice("NumPy needs the values of an array on another device")

    def __getattr__(self, name: str) -> Data:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotOnDevice(f"array.{name}")

    def _wrapped(self, result: Data) -> Data:
        if isinstance(result, (DeviceArray, bool, int, float)):
            return result
        return DeviceArray(result, self.library)

    def _call(self, name: str, **kwargs: Data) -> Data:
        result = self.library.function(name, (self,), kwargs)
        return self._wrapped(result)

    # -- what an array is --------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each axis."""
        return tuple(self.data.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's name of the type of its values."""
        kind: np.dtype[Any] = self.library.dtype(self.data)
        return kind

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Data:
        raise NotOnDevice(
            "values of an array on another device are not looked at one by one"
        )

    def __getitem__(self, key: Data) -> Data:
        values = self.data[self._key(key)]
        return DeviceArray(values, self.library)

    def _key(self, key: Data) -> Data:
        if isinstance(key, tuple):
            return tuple(self._key(part) for part in key)
        if isinstance(key, (DeviceArray, np.ndarray)):
            return self.library.own(key)
        return key

    def __bool__(self) -> bool:
        return bool(self.data)

    # -- what an array does ------------------------------------------------------------------------
    def astype(self, dtype: Data, *, copy: bool = True) -> DeviceArray:  # noqa: ARG002 - as NumPy has it
        """Return it with values of another type."""
        values = self.library.cast(self.data, np.dtype(dtype))
        result: DeviceArray = self._wrapped(values)
        return result

    def any(self) -> Data:
        """Return whether any value is true."""
        return self._call("any")

    def min(self, *, initial: float | None = None) -> Data:
        """Return the smallest value as a number of the host."""
        return self._extreme("min", initial)

    def max(self, *, initial: float | None = None) -> Data:
        """Return the largest value, or what is known to be no smaller, as a number of the host."""
        if self._largest is None:
            return self._extreme("max", initial)
        return self._largest

    def _extreme(self, name: str, initial: float | None) -> Data:
        number = self._call(name).data.item()
        if initial is None:
            return number
        return max(number, initial) if name == "max" else min(number, initial)


def blocks_of(equal: Data) -> tuple[Data, Data]:
    """Return the first and the last rank of the tie block at each place of some rows."""
    edge = np.ones_like(equal[:, :1])
    width = equal.shape[1] + 1
    ranks = np.arange(1, width + 1, like=equal)
    begins = np.concatenate((edge, ~equal), axis=1)
    begins = np.where(begins, ranks, 0)
    first = np.maximum.accumulate(begins, axis=1)
    ends = np.concatenate((~equal, edge), axis=1)
    backwards = np.flip(np.where(ends, ranks, width), axis=1)
    backwards = np.minimum.accumulate(backwards, axis=1)
    return first, np.flip(backwards, axis=1)
