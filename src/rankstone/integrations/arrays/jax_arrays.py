"""JAX under NumPy's names, which are nearly all its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from rankstone.integrations.arrays.device_arrays import Data, DeviceArray, NotOnDevice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_RUNNING: Final = {
    "add": jnp.cumsum,
    "multiply": jnp.cumprod,
    "maximum": jax.lax.cummax,
    "minimum": jax.lax.cummin,
}


#: recordings that have been compiled
_COMPILED: Final[dict[object, Callable[..., Any]]] = {}


class JaxLibrary:
    """Computes with JAX's arrays on one device; the caller has enabled float64.

    Parameters
    ----------
    device
        Where the arrays are.
    """

    def __init__(self, device: Data) -> None:
        self.device = device

    # -- arrays ------------------------------------------------------------------------------------
    def own(self, value: Data) -> Data:
        """Return an array as JAX's, on the device; numbers stay what they are."""
        if isinstance(value, DeviceArray):
            return value.data
        if isinstance(value, (list, tuple)):
            return [self.own(part) for part in value]
        if isinstance(value, np.ndarray):
            return jax.device_put(value, self.device)
        return value

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return an array with values of another type."""
        kind = jax.dtypes.canonicalize_dtype(dtype)  # as the configuration has it
        return data.astype(kind)

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return the type of an array's values."""
        kind: np.dtype[Any] = np.dtype(data.dtype)
        return kind

    def recorded(self, act: Callable[..., Data], values: Sequence[Data]) -> Data:
        """Return the shape and the type of a result: XLA compiles all operations as one."""
        return jax.eval_shape(act, *values)

    def repeated(self, key: object, run: Callable[..., Data]) -> Callable[..., Data]:
        """Return the compiled function, the same one for all recordings of a key."""
        return _COMPILED.setdefault(key, jax.jit(run))

    def keeps_order(self, _table: Data) -> bool:
        """Return whether equal values among the largest keep their order: as XLA has it."""
        return True

    def descending(self, table: Data, count: int | None) -> tuple[Data, Data]:
        """Return the largest values of each row, and where they are in it."""
        if count is None or count == table.shape[1]:
            order = jnp.argsort(table, axis=1, stable=True, descending=True)
            values = jnp.take_along_axis(table, order, 1)
            return values, order
        unsigned = jnp.where(table == 0, 0, table)  # no zero below zero
        best = jax.lax.top_k(unsigned, count)
        return tuple(jax.lax.optimization_barrier(best))  # or XLA sorts for each part

    # -- what NumPy's functions do -----------------------------------------------------------------
    def ufunc(
        self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call a method of an element-wise function."""
        operands = [self.own(value) for value in inputs]
        if method == "accumulate" and name in _RUNNING:
            return _RUNNING[name](*operands, **kwargs)
        if method != "__call__" or kwargs or not hasattr(jnp, name):
            raise NotOnDevice(f"{name}.{method}")
        return getattr(jnp, name)(*operands)

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call JAX's function of the same name."""
        if name == "arange":
            return jnp.arange(*args, device=self.device)
        if not hasattr(jnp, name):
            raise NotOnDevice(name)
        operands = map(self.own, args)
        return getattr(jnp, name)(*operands, **kwargs)
