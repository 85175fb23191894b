"""Arrays on another device that NumPy's own functions work on.

NumPy hands a call over to whatever stands among its arguments and knows better (``__array_ufunc__``
and ``__array_function__``: NEP 13, NEP 18; ``like=``: NEP 35).  So hits made of such arrays are scored by
the very measures that score NumPy's, and what another library does for them is told in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

#: an array of another library, or whatever NumPy's functions take beside one
Data: TypeAlias = Any

__all__ = ["Data", "DeviceArray", "Library", "NotOnDevice", "Runs"]


class NotOnDevice(TypeError):
    """Something that is not done on the device: whoever asked does it on the host."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What is known of numbers 0, 1, 2, … that stand in runs: how long each run is.

    Attributes
    ----------
    lengths
        An array of the library, int64 ``[runs]``.
    each
        The length of every run, where they are all the same.
    """

    lengths: Data
    each: int | None = None


class Library(Protocol):
    """What computes with arrays on a device; all of them are the library's own."""

    def own(self, value: Data) -> Data:
        """Return an array or number as the library's, on the device."""

    def ufunc(self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]) -> Data:
        """Call a method of one of NumPy's element-wise functions."""

    def function(self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]) -> Data:
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

        Without a ``count`` all of them, equal ones as they stand; with one, equal values come in any order.
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

    # -- what NumPy asks ---------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Data, **kwargs: Data) -> Data:
        return self._wrapped(self.library.ufunc(ufunc.__name__, method, inputs, kwargs))

    def __array_function__(
        self, func: Callable[..., Data], _types: object, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        given = {name: value for name, value in kwargs.items() if name not in {"like", "order", "device"}}
        return self._wrapped(self.library.function(func.__name__, args, given))

    def __array__(self, *_: object, **__: object) -> NDArray[Any]:
        """Refuse: an array leaves its device when it is told to, and not before."""
        raise NotOnDevice("NumPy asks for the values of an array on another device")

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
        """How long it is along each axis."""
        return tuple(self.data.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many values it has."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        """What NumPy calls the type of its values."""
        return self.library.dtype(self.data)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Data:
        raise NotOnDevice("values of an array on another device are not looked at one by one")

    def __getitem__(self, key: Data) -> Data:
        if isinstance(key, slice) and key == slice(None, None, -1):
            return self._call("flip", axis=0)
        return DeviceArray(self.data[self._key(key)], self.library)

    def __setitem__(self, key: Data, value: Data) -> None:
        self.data = self.library.assigned(self.data, self._key(key), self.library.own(value))

    def _key(self, key: Data) -> Data:
        if isinstance(key, tuple):
            return tuple(self._key(part) for part in key)
        return self.library.own(key) if isinstance(key, (DeviceArray, np.ndarray)) else key

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
        """Tell whether something is true."""
        return self._call("any", axis=axis)

    def all(self, axis: int | None = None) -> Data:
        """Tell whether everything is true."""
        return self._call("all", axis=axis)

    def argmax(self) -> Data:
        """Tell where the largest value is first."""
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
        return found if initial is None else (max if name == "max" else min)(found, initial)
