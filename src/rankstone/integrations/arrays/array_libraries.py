"""Libraries and devices of arrays."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.integrations.arrays.device_arrays import Data, Library

#: bytes of a number in single precision; halves of it are widened
_SINGLE: Final = 4


class Home(Protocol):
    """A library of arrays, and a device."""

    @property
    def near(self) -> bool:
        """True if arrays are in the memory of the host, where NumPy can use them directly."""

    @property
    def lays_tables(self) -> bool:
        """True if the library computes with tables in the memory of the host sooner than NumPy with lists."""

    def host(self, values: Data) -> NDArray[Any]:
        """Return an array as NumPy's, without a copy if possible; whole numbers stay whole."""

    def data(self, values: Data) -> Data:
        """Return the values for computation, detached from gradients."""

    def back(self, values: NDArray[Any]) -> Data:
        """Return an array of NumPy's as the library's, on the device."""

    def library(self) -> Library:
        """Return the operations on the device."""

    def exactly(self) -> AbstractContextManager[Any]:
        """Return the circumstances under which float64 is float64."""


@dataclass(frozen=True)
class _NumPy:
    near = True
    lays_tables = False

    def host(self, values: Data) -> NDArray[Any]:
        return np.asarray(values)

    data = host

    def back(self, values: NDArray[Any]) -> Data:
        return values

    def library(self) -> Library:
        raise NotImplementedError

    def exactly(self) -> AbstractContextManager[Any]:
        return nullcontext()


@dataclass(frozen=True)
class _Torch:
    device: Any
    lays_tables = True

    @property
    def near(self) -> bool:
        return bool(self.device.type == "cpu")

    def host(self, values: Data) -> NDArray[Any]:
        if values.is_floating_point():
            values = self.data(values)
        near: NDArray[Any] = values.detach().cpu().numpy()
        return near

    def data(self, values: Data) -> Data:
        values = values.detach()
        if values.dtype.is_floating_point:
            half = values.element_size() < _SINGLE
            return values.float() if half else values
        return values.double()

    def back(self, values: NDArray[Any]) -> Data:
        import torch

        return torch.from_numpy(values).to(self.device)

    def library(self) -> Library:
        from rankstone.integrations.arrays.torch_arrays import TorchLibrary

        return TorchLibrary(self.device, near=self.near)

    def exactly(self) -> AbstractContextManager[Any]:
        import torch

        context: AbstractContextManager[Any] = torch.no_grad()
        return context


@dataclass(frozen=True)
class _Jax:
    device: Any
    lays_tables = False

    @property
    def near(self) -> bool:
        return bool(self.device.platform == "cpu")

    def host(self, values: Data) -> NDArray[Any]:
        whole = values.dtype.kind in "biu"
        return np.asarray(values if whole else self.data(values))

    def data(self, values: Data) -> Data:
        if values.dtype.kind in "biu":
            return values.astype("float64")
        half = values.dtype.itemsize < _SINGLE
        return values.astype("float32") if half else values

    def back(self, values: NDArray[Any]) -> Data:
        import jax

        with self.exactly():
            return jax.device_put(values, self.device)

    def library(self) -> Library:
        from rankstone.integrations.arrays.jax_arrays import JaxLibrary

        return JaxLibrary(self.device)

    def exactly(self) -> AbstractContextManager[Any]:
        import jax

        context: AbstractContextManager[Any] = jax.enable_x64(True)
        return context


def on_host(values: object) -> NDArray[Any]:
    """Return an array of any library as NumPy's."""
    return home_of(values).host(values)


def home_of(values: object) -> Home:
    """Return the library of an array; unknown types are left to NumPy."""
    torch = sys.modules.get("torch")
    jax = sys.modules.get("jax")
    if torch is not None and isinstance(values, torch.Tensor):
        return _Torch(values.device)
    if jax is not None and isinstance(values, jax.Array):
        return _Jax(next(iter(values.devices())))
    return _NumPy()
