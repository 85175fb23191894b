"""JAX under NumPy's names, which are nearly all its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from rankstone.integrations.arrays.device_arrays import Data, DeviceArray, NotOnDevice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

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
        if isinstance(value, (np.ndarray, list)):
            return jax.device_put(np.asarray(value), self.device)
        return value

    def cast(self, data: Data, dtype: np.dtype[Any]) -> Data:
        """Return an array with values of another type."""
        return data.astype(
            jax.dtypes.canonicalize_dtype(dtype)
        )  # as exact as the configuration has it

    def dtype(self, data: Data) -> np.dtype[Any]:
        """Return the type of an array's values."""
        found: np.dtype[Any] = np.dtype(data.dtype)
        return found

    def to_host(self, data: Data) -> NDArray[Any]:
        """Return an array as NumPy's."""
        return np.asarray(data)

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
            return jnp.take_along_axis(table, order, 1), order
        best = jax.lax.top_k(jnp.where(table == 0, 0, table), count)
        return tuple(jax.lax.optimization_barrier(best))  # or XLA sorts for each part

    # -- what NumPy's functions do -----------------------------------------------------------------
    def ufunc(
        self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call a method of an element-wise function."""
        given = [self.own(value) for value in inputs if value is not None]
        if method == "accumulate" and name in _RUNNING:
            return _RUNNING[name](given[0], axis=kwargs.get("axis", 0))
        if method != "__call__" or not hasattr(jnp, name):
            raise NotOnDevice(f"{name}.{method}")
        result = getattr(jnp, name)(*given)
        if "where" not in kwargs:
            return result
        return jnp.where(self.own(kwargs["where"]), result, self.own(kwargs["out"][0]))

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call JAX's function of the same name."""
        if (found := getattr(self, f"_{name}", None)) is not None:
            return found(*args, **kwargs)
        if not hasattr(jnp, name):
            raise NotOnDevice(name)
        given = [self._own_all(value) for value in args]
        named = {key: self._own_all(value) for key, value in kwargs.items()}
        result = getattr(jnp, name)(*given, **named)
        return bool(result) if name == "array_equal" else result

    def _own_all(self, value: Data) -> Data:
        several = isinstance(value, (list, tuple)) and any(
            isinstance(part, DeviceArray) for part in value
        )
        return [self.own(part) for part in value] if several else self.own(value)

    def _arange(self, *bounds: int) -> Data:
        return jnp.arange(*bounds, device=self.device)
