"""PyTorch under NumPy's names: what measures ask of arrays, done by tensors where they lie."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from rankstone.integrations.arrays.device_arrays import (
    Data,
    DeviceArray,
    NotOnDevice,
    Runs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_TYPES: Final[dict[str, torch.dtype]] = {
    "bool": torch.bool,
    "int8": torch.int8,
    "int32": torch.int32,
    "int64": torch.int64,
    "float32": torch.float32,
    "float64": torch.float64,
}
_NAMES: Final = {kind: name for name, kind in _TYPES.items()}
#: functions that PyTorch calls otherwise
_OTHERWISE: Final = {
    "equal": "eq",
    "invert": "bitwise_not",
    "power": "pow",
    "absolute": "abs",
}
#: functions that make float64 of whole numbers
_FLOATING: Final = {
    "divide",
    "exp",
    "exp2",
    "expm1",
    "frexp",
    "log",
    "log1p",
    "log2",
    "sqrt",
    "power",
}
_RUNNING: Final = {
    "add": torch.cumsum,
    "multiply": torch.cumprod,
    "maximum": lambda data, dim: torch.cummax(data, dim).values,
    "minimum": lambda data, dim: torch.cummin(data, dim).values,
}


class TorchLibrary:
    """Computes with tensors on one device, float64 by default.

    Parameters
    ----------
    device
        Where the tensors are.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._moved: dict[int, tuple[weakref.ref[NDArray[Any]], torch.Tensor]] = {}

    # -- arrays ------------------------------------------------------------------------------------
    def own(self, value: Data) -> Data:
        """Return an array or number as a tensor on the device; a bare number may stay where it is."""
        if isinstance(value, DeviceArray):
            return value.data
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(value, (np.ndarray, np.generic, list, tuple)):
            return (
                torch.from_numpy(np.ascontiguousarray(value))
                .reshape(np.shape(value))
                .to(self.device)
            )
        return torch.tensor(
            value, dtype=torch.float64 if isinstance(value, float) else None
        )

    def assigned(self, data: Data, key: Data, value: Data) -> Data:
        """Return the tensor itself, with some places changed."""
        data[key] = value.to(data.dtype)
        return data

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return a tensor with values of another type."""
        if dtype.name not in _TYPES:
            raise NotOnDevice(dtype.name)
        return data.to(_TYPES[dtype.name])

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return what NumPy calls the type of a tensor's values."""
        return np.dtype(_NAMES[data.dtype])

    def to_host(self, data: Data) -> NDArray[Any]:
        """Return a tensor as NumPy's."""
        found: NDArray[Any] = data.cpu().numpy()
        return found

    def descending(self, table: Data, count: int | None) -> tuple[Data, Data]:
        """Return the largest values of each row, and where they are in it."""
        if count is None:
            values, places = torch.sort(table, dim=1, descending=True, stable=True)
        else:
            values, places = torch.topk(table, count, dim=1)
        return values, places

    # -- what NumPy's functions do -----------------------------------------------------------------
    def ufunc(
        self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call a method of an element-wise function."""
        given = [self.own(value) for value in inputs if value is not None]
        if method == "accumulate" and name in _RUNNING:
            return _RUNNING[name](given[0], dim=kwargs.get("axis", 0))
        if method == "reduceat" and name == "add" and not given[0].is_floating_point():
            return self._whole_sums(given[0], given[1])
        function = getattr(torch, _OTHERWISE.get(name, name), None)
        if method != "__call__" or function is None:
            raise NotOnDevice(f"{name}.{method}")
        if name in _FLOATING:
            given = [
                value if value.is_floating_point() else value.double()
                for value in given
            ]
        result = function(*given)
        if "where" not in kwargs:
            return tuple(result) if name == "frexp" else result
        return torch.where(
            self.own(kwargs["where"]), result, self.own(kwargs["out"][0])
        )

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call the method of this name, or PyTorch's function of one array."""
        if (found := getattr(self, f"_{name}", None)) is None:
            raise NotOnDevice(name)
        try:
            return found(*args, **kwargs)
        except TypeError as error:  # an unknown argument
            raise NotOnDevice(name) from error

    def _whole_sums(self, values: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """Sum whole numbers from each start to the next: differences of a running sum are exact."""
        through = torch.cat((torch.zeros_like(starts[:1]), torch.cumsum(values, 0)))
        ends = torch.cat((starts[1:], torch.full_like(starts[:1], len(values))))
        return through[ends] - through[starts]

    def _bincount(
        self, x: DeviceArray, weights: Data = None, minlength: int = 0
    ) -> torch.Tensor:
        if weights is None:
            return torch.bincount(x.data, minlength=minlength)
        values = self.own(weights).double()
        runs = x.runs
        if runs is None or len(runs.lengths) != minlength:
            return torch.zeros(
                minlength, dtype=torch.float64, device=self.device
            ).index_add_(0, x.data, values)
        if runs.each is not None:
            return values.reshape(minlength, runs.each).sum(1)
        if not minlength or not len(values):
            return torch.zeros(minlength, dtype=torch.float64, device=self.device)
        return torch.segment_reduce(values, "sum", lengths=runs.lengths, unsafe=True)

    def _repeat(self, a: Data, repeats: Data) -> Data:
        if isinstance(repeats, int):
            return torch.repeat_interleave(self.own(a), repeats)
        lengths = self.own(repeats)
        if isinstance(a, DeviceArray) and a.counts:
            return DeviceArray(
                torch.repeat_interleave(lengths), self, runs=Runs(lengths)
            )
        return torch.repeat_interleave(self.own(a), lengths)

    def _asarray(self, a: Data) -> torch.Tensor:
        """Move an array of the host once: it is read-only."""
        if not isinstance(a, np.ndarray):
            return self.own(a)
        kept = self._moved.get(id(a))
        if kept is None or kept[0]() is not a:
            kept = self._moved[id(a)] = weakref.ref(a), self.own(a)
        return kept[1]

    def _where(self, condition: Data, x: Data, y: Data) -> torch.Tensor:
        return torch.where(
            self.own(condition).to(self.device), self.own(x), self.own(y)
        )

    def _concatenate(self, arrays: Sequence[Data], axis: int = 0) -> torch.Tensor:
        return torch.cat([self.own(part).to(self.device) for part in arrays], dim=axis)

    def _diff(
        self, a: DeviceArray, *, append: Data = None, prepend: Data = None
    ) -> torch.Tensor:
        ends = {
            name: torch.full((1,), int(value), dtype=a.data.dtype, device=self.device)
            for name, value in (("append", append), ("prepend", prepend))
            if value is not None
        }
        return torch.diff(a.data, **ends)

    def _flatnonzero(self, a: DeviceArray) -> torch.Tensor:
        return torch.nonzero(a.data.reshape(-1)).reshape(-1)

    def _cumsum(self, a: DeviceArray, axis: int = 0) -> torch.Tensor:
        return torch.cumsum(a.data, axis)

    def _searchsorted(self, a: Data, v: Data, side: str = "left") -> torch.Tensor:
        return torch.searchsorted(
            self.own(a).contiguous(), self.own(v).contiguous(), right=side == "right"
        )

    def _clip(self, a: DeviceArray, a_min: Data, a_max: Data) -> torch.Tensor:
        return torch.minimum(torch.maximum(a.data, self.own(a_min)), self.own(a_max))

    def _sort(self, a: DeviceArray, axis: int = -1) -> torch.Tensor:
        return torch.sort(a.data, dim=axis).values

    def _argsort(self, a: DeviceArray, axis: int = -1, **_: object) -> torch.Tensor:
        return torch.argsort(a.data, dim=axis, stable=True)

    def _unique(self, ar: DeviceArray) -> torch.Tensor:
        return torch.unique(ar.data)

    def _take_along_axis(self, arr: Data, indices: Data, axis: int) -> torch.Tensor:
        return torch.take_along_dim(self.own(arr), self.own(indices), axis)

    def _broadcast_to(
        self, array: DeviceArray, shape: tuple[int, ...] | int
    ) -> torch.Tensor:
        return torch.broadcast_to(
            array.data, (shape,) if isinstance(shape, int) else shape
        )

    def _flip(self, m: DeviceArray, axis: int) -> torch.Tensor:
        return torch.flip(m.data, (axis,))

    def _tile(self, A: DeviceArray, reps: int) -> torch.Tensor:  # noqa: N803 - as NumPy has it
        return torch.tile(A.data, (reps,))

    def _array_equal(self, a1: Data, a2: Data) -> bool:
        return bool(torch.equal(self.own(a1), self.own(a2)))

    def _count_nonzero(self, a: DeviceArray, axis: int | None = None) -> torch.Tensor:
        return torch.count_nonzero(a.data, axis)

    def _sum(self, a: DeviceArray, axis: int | None = None) -> torch.Tensor:
        return torch.sum(a.data, axis)

    def _any(self, a: DeviceArray, axis: int | None = None) -> torch.Tensor:
        return torch.any(a.data) if axis is None else torch.any(a.data, axis)

    def _all(self, a: DeviceArray, axis: int | None = None) -> torch.Tensor:
        return torch.all(a.data) if axis is None else torch.all(a.data, axis)

    def _argmax(self, a: DeviceArray) -> torch.Tensor:
        data = a.data
        return torch.argmax(data.to(torch.int8) if data.dtype == torch.bool else data)

    def _min(self, a: DeviceArray) -> torch.Tensor:
        return torch.min(a.data)

    def _max(self, a: DeviceArray) -> torch.Tensor:
        return torch.max(a.data)

    # -- new arrays --------------------------------------------------------------------------------
    def _full(
        self, shape: int | tuple[int, ...], fill_value: Data, dtype: Data = None
    ) -> torch.Tensor:
        kind = _TYPES[np.dtype(dtype or np.asarray(fill_value).dtype).name]
        size = (shape,) if isinstance(shape, int) else shape
        return torch.full(size, fill_value, dtype=kind, device=self.device)

    def _zeros(self, shape: int, dtype: Data = float) -> torch.Tensor:
        return self._full(shape, 0, dtype)

    def _ones(self, shape: int, dtype: Data = float) -> torch.Tensor:
        return self._full(shape, 1, dtype)

    def _zeros_like(self, a: DeviceArray, dtype: Data = None) -> torch.Tensor:
        return self._full(a.shape, 0, dtype or a.dtype)

    _empty_like = _zeros_like

    def _ones_like(self, a: DeviceArray, dtype: Data = None) -> torch.Tensor:
        return self._full(a.shape, 1, dtype or a.dtype)

    def _full_like(
        self, a: DeviceArray, fill_value: Data, dtype: Data = None
    ) -> torch.Tensor:
        return self._full(a.shape, fill_value, dtype or a.dtype)

    def _arange(self, *bounds: int) -> DeviceArray:
        data = torch.arange(*bounds, dtype=torch.int64, device=self.device)
        return DeviceArray(data, self, counts=len(bounds) == 1)
