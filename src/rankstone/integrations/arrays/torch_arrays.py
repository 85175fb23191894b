"""PyTorch under NumPy's names: what measures ask of arrays, done by tensors where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from rankstone.integrations.arrays.device_arrays import Data, DeviceArray, NotOnDevice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    "log",
    "log1p",
    "log2",
    "sqrt",
    "power",
}
#: scores of larger tables take longer on a GPU than their operations in Python
_LARGEST_GRAPH: Final = 1 << 24
_RUNNING: Final = {
    "add": torch.cumsum,
    "multiply": torch.cumprod,
    "maximum": lambda data, dim: torch.cummax(data, dim).values,
    "minimum": lambda data, dim: torch.cummin(data, dim).values,
}


#: PyTorch takes NumPy's word for ``dim``, too
_FUNCTIONS: Final[dict[str, Callable[..., torch.Tensor]]] = {
    "where": torch.where,
    "clip": torch.clamp,
    "ones_like": torch.ones_like,
    "broadcast_to": lambda values, shape: torch.broadcast_to(values, tuple(shape)),
    "concatenate": torch.concatenate,
    "take_along_axis": lambda values, places, axis: values.gather(axis, places),
    "flip": lambda values, axis: torch.flip(values, (axis,)),
    "sort": lambda values, axis: torch.sort(values, dim=axis).values,
    "sum": torch.sum,
    "any": torch.any,
    "all": torch.all,
    "min": torch.amin,
    "max": torch.amax,
}


class TorchLibrary:
    """Computes with tensors on one device, float64 by default.

    Parameters
    ----------
    device
        Where the tensors are.
    near
        Whether that is the memory of the host, where NumPy may sort them.
    """

    def __init__(self, device: torch.device, *, near: bool) -> None:
        self.device = device
        self.near = near

    # -- arrays ------------------------------------------------------------------------------------
    def own(self, value: Data) -> Data:
        """Return an array or number as a tensor on the device; a bare number may stay where it is."""
        if isinstance(value, DeviceArray):
            return value.data
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(value, (np.ndarray, np.generic, list, tuple)):
            values = torch.from_numpy(np.ascontiguousarray(value))
            return values.reshape(np.shape(value)).to(self.device)
        kind = torch.float64 if isinstance(value, float) else None
        return torch.tensor(value, dtype=kind, device=self.device)

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return a tensor with values of another type."""
        if dtype.name not in _TYPES:
            raise NotOnDevice(dtype.name)
        return data.to(_TYPES[dtype.name])

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return what NumPy calls the type of a tensor's values."""
        return np.dtype(_NAMES[data.dtype])

    def recorded(self, act: Callable[..., Data], values: Sequence[Data]) -> Data:
        """Return the result of an operation that is recorded."""
        return act(*values)

    def repeated(self, _key: object, run: Callable[..., Data]) -> Callable[..., Data]:
        """Return a function that replays a graph on a GPU."""
        return _Graph(run, captures=self.device.type == "cuda")

    def keeps_order(self, table: Data) -> bool:
        """Return whether equal values among the largest keep their order."""
        return self.near and table.dtype == torch.float32

    def descending(self, table: Data, count: int | None) -> tuple[Data, Data]:
        """Return the largest values of each row, and where they are in it."""
        if self.keeps_order(table):
            return _sorted_by_numpy(table.numpy(), count)
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
        operands = [self.own(value) for value in inputs]
        if method == "accumulate" and name in _RUNNING:
            return _RUNNING[name](*operands, dim=kwargs["axis"])
        function = getattr(torch, _OTHERWISE.get(name, name), None)
        if method != "__call__" or kwargs or function is None:
            raise NotOnDevice(f"{name}.{method}")
        if name in _FLOATING:
            operands = [
                value if value.is_floating_point() else value.double()
                for value in operands
            ]
        if name == "subtract":  # which PyTorch refuses for truth values
            operands = [
                value.long() if value.dtype == torch.bool else value
                for value in operands
            ]
        return function(*operands)

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call the method of this name, or PyTorch's function of one array."""
        if name not in _FUNCTIONS:
            raise NotOnDevice(name)
        return _FUNCTIONS[name](*map(self._owned, args), **kwargs)

    def _owned(self, value: Data) -> Data:
        """Return an argument with tensors in place of arrays; a number may stay where it is."""
        if isinstance(value, (list, tuple)):
            return [self.own(part).to(self.device) for part in value]
        return value if isinstance(value, int) else self.own(value)


def _sorted_by_numpy(
    table: NDArray[np.float32], count: int | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest values of each row, equal ones in their given order, and where they are.

    Value and place are one whole number, and NumPy sorts these several times faster than PyTorch.
    """
    longest = table.shape[1]
    bits = (table + np.float32(0)).view(np.int32)  # no zero below zero
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    key = ascending.astype(np.int64) << 32
    key |= np.arange(longest - 1, -1, -1)
    key.sort(axis=1)
    descending = key[:, ::-1]
    best = descending[:, :count]
    places = (longest - 1) - (best & 0xFFFFFFFF)
    values = np.take_along_axis(table, places, 1)
    return torch.from_numpy(values), torch.from_numpy(places)


class _Graph:
    """Calls a function; on a GPU from the second call on it replays what the function did there.

    Parameters
    ----------
    run
        Takes what is fixed, and an array of always the same shape; returns an array, and others by number.
    captures
        Whether it runs on a GPU, and has run there before.
    """

    def __init__(self, run: Callable[..., Data], *, captures: bool) -> None:
        self._run = run
        self._captures = captures
        self._replay: Callable[[torch.Tensor], Data] | None = None

    @property
    def kind(self) -> str:
        """What happens at a call."""
        if self._replay is not None:
            return "a captured graph"
        return "one operation after another"

    def __call__(self, fixed: Mapping[int, Data], rows: torch.Tensor) -> Data:
        """Return the results."""
        if self._replay is not None:
            return self._replay(rows)
        if not self._captures or rows.numel() > _LARGEST_GRAPH:
            return self._run(fixed, rows)
        self._replay = self._captured(fixed, rows.clone())
        return self._replay(rows)

    def _captured(
        self, fixed: Mapping[int, Data], rows: torch.Tensor
    ) -> Callable[[torch.Tensor], Data]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            summary, columns = self._run(fixed, rows)
            doubles = [column.double() for column in columns.values()]
            table = torch.stack(doubles)

        def replay(scores: torch.Tensor) -> Data:
            rows.copy_(scores)
            graph.replay()
            results = table.clone()  # the next replay overwrites its own
            return summary.clone(), dict(zip(columns, results, strict=True))

        return replay


class PairLoss(torch.autograd.Function):  # type: ignore[misc] # no types here
    """The sum over pairs of a weight times ``ln(1 + exp(s_j − s_i))``, ``[lists]``.

    Its slope is computed with it, so no table of pairs is kept; there is no second derivative.
    """

    @staticmethod
    def forward(
        ctx: Data,
        scores: torch.Tensor,
        weigh: Callable[[slice], torch.Tensor],
        slices: Sequence[slice],
    ) -> torch.Tensor:
        """Add up some lists at a time.

        Parameters
        ----------
        ctx
            PyTorch's, for the way back.
        scores
            ``[lists, longest]``.
        weigh
            Returns the weights of the pairs of some lists, a new table.
        slices
            Which lists are computed with at a time.
        """
        slopes = []
        totals = []
        for lists in slices:
            weight = weigh(lists)
            part = scores[lists]
            apart = part[:, None, :] - part[:, :, None]
            if ctx.needs_input_grad[0]:
                steep = torch.sigmoid(apart).mul_(weight)
                slopes.append(steep.sum(1) - steep.sum(2))
                del steep
            loss = torch.nn.functional.softplus(apart, threshold=40)
            totals.append(loss.mul_(weight).sum((1, 2)))
        ctx.save_for_backward(*slopes)
        return totals[0] if len(totals) == 1 else torch.cat(totals)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Data, slope: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Multiply the slopes."""
        slopes = ctx.saved_tensors
        whole = slopes[0] if len(slopes) == 1 else torch.cat(slopes)
        return slope[:, None] * whole, None, None
