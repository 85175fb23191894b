"""What is computed with arrays on a device, recorded once and repeated for other scores.

Measures run once, on arrays that record what is asked of them.  Equal steps are one step, whatever depends on
the labels alone is kept, and what depends on neither scores nor labels (ranks, discounts) is computed by
NumPy.  For other scores only the remaining steps are repeated, without a measure's own code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.integrations.arrays.device_arrays import DeviceArray, NotOnDevice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankstone.integrations.arrays.device_arrays import Data, Library


class Node:
    """An array of a recording.

    Parameters
    ----------
    place
        Its number among the arrays of the recording.
    fixed
        Whether it does not depend on the scores.
    value
        The array of the library for the scores that were recorded.
    """

    __slots__ = ("fixed", "place", "value")

    def __init__(self, place: int, value: Data, *, fixed: bool) -> None:
        self.place = place
        self.value = value
        self.fixed = fixed

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each axis."""
        return tuple(self.value.shape)

    def __bool__(self) -> bool:
        if not self.fixed:
            raise NotOnDevice("a number that depends on the scores is asked for")
        return bool(self.value)


class Step(Record):
    """One operation: its name, what is done, with which arrays, and the number of its result."""

    key: object
    act: Callable[..., Data]
    operands: tuple[int, ...]
    result: int


class Tape:
    """Records operations while a library carries them out.

    Parameters
    ----------
    library
        What computes on the device.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.steps: list[Step] = []
        self._nodes: dict[Data, Node] = {}
        self._settled: dict[int, bool | None] = {}

    # -- arrays --------------------------------------------------------------------------------------
    def given(self, value: Data, *, fixed: bool) -> Node:
        """Return an array from outside: labels, which are fixed, or scores."""
        key = ("given", len(self._nodes))
        return self._node(key, value, fixed=fixed)

    def own(self, value: Data) -> Data:
        """Return what an operation works on: an array of the recording, or one of NumPy's, or a number."""
        return value.data if isinstance(value, DeviceArray) else value

    def node(self, value: Data) -> Node:
        """Return an array of the recording; what NumPy has is moved once."""
        if isinstance(value, Node):
            return value
        if isinstance(value, np.ndarray):
            key: Data = (value.dtype.str, value.shape, value.tobytes())
        else:
            if isinstance(value, np.generic):
                value = value.item()
            if not isinstance(value, (bool, float)):
                value = int(value)
            key = (type(value), repr(value))
        kept = self._nodes.get(key)
        if kept is None:
            own = self.library.own(value)
            kept = self._node(key, own, fixed=True)
        return kept

    def _node(self, key: object, value: Data, *, fixed: bool) -> Node:
        node = Node(len(self._nodes), value, fixed=fixed)
        self._nodes[key] = node
        return node

    def broadcast(self, values: Data, shape: tuple[int, ...]) -> Node:
        """Return values in a shape, also where they are the same along an axis."""
        node = self.node(self.own(values))
        if node.shape == shape:
            return node
        return self.call("broadcast_to", node, shape=shape)

    # -- operations ----------------------------------------------------------------------------------
    def do(self, act: Callable[..., Data], key: object, *operands: Data) -> Node:
        """Carry an operation out, or return its result where it was carried out before.

        Parameters
        ----------
        act
            Takes the operands as arrays of the library.
        key
            Says which operation this is.
        *operands
            Arrays of the recording or of NumPy, or numbers.
        """
        nodes = [self.node(value) for value in operands]
        places = tuple(node.place for node in nodes)
        kept = self._nodes.get((key, places))
        if kept is not None:
            return kept
        values = [node.value for node in nodes]
        if all(node.fixed for node in nodes):
            return self._node((key, places), act(*values), fixed=True)
        value = self.library.recorded(act, values)
        result = self._node((key, places), value, fixed=False)
        step = Step(key=key, act=act, operands=places, result=result.place)
        self.steps.append(step)
        return result

    def call(self, name: str, *operands: Data, **named: Data) -> Node:
        """Call one of NumPy's functions, other than element-wise ones."""
        library = self.library

        def act(*values: Data) -> Data:
            return library.function(name, values, named)

        return self.do(act, (name, *named.items()), *operands)

    def each(self, name: str, *operands: Data) -> Node:
        """Call one of NumPy's element-wise functions with an array of the recording."""
        result: Node = self.ufunc(name, "__call__", operands, {})
        return result

    def part(self, data: Data, key: Data) -> Node:
        """Return part of an array, at the same place for all scores."""
        return self.do(lambda value: value[key], ("part", repr(key)), data)

    def along(self, op: np.ufunc, data: Data) -> Node:
        """Accumulate along rows."""
        library = self.library
        name = op.__name__

        def act(rows: Data) -> Data:
            return library.ufunc(name, "accumulate", (rows,), {"axis": 1})

        return self.do(act, ("along", name), data)

    def ufunc(
        self, name: str, method: str, inputs: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call one of NumPy's element-wise functions; NumPy does where no array is on the device."""
        if method != "__call__":
            raise NotOnDevice(f"{name}.{method}")
        operands = [self.own(value) for value in inputs]
        result: Data
        library = self.library

        def act(*values: Data) -> Data:
            return library.ufunc(name, method, values, {})

        if any(isinstance(value, Node) for value in operands):
            result = self.do(act, ("ufunc", name), *operands)
        else:
            with np.errstate(all="ignore"):
                result = getattr(np, name)(*operands)
        if "where" in kwargs:
            return self.where(kwargs["where"], result, kwargs["out"][0])
        return result

    def where(
        self, condition: Data, x: Data, y: Data, width: int | None = None
    ) -> Data:
        """Choose between two arrays, without an operation where the choice is the same everywhere."""
        chosen = self.own(condition)
        x = self.own(x)
        y = self.own(y)
        everywhere = self.everywhere(chosen, width)
        if everywhere is not None:
            values = x if everywhere else y
            return values if isinstance(values, Node) else np.atleast_1d(values)
        if any(isinstance(value, Node) for value in (chosen, x, y)):
            return self.call("where", chosen, x, y)
        return np.where(chosen, x, y)

    def everywhere(self, condition: Data, width: int | None = None) -> bool | None:
        """Return what a condition is everywhere; ``None`` if it differs, or depends on the scores."""
        if isinstance(condition, Node):
            if not condition.fixed:
                return None
            if condition.place not in self._settled:
                count = int(condition.value.sum())
                places = int(np.prod(condition.shape))
                settled = {0: False, places: True}
                self._settled[condition.place] = settled.get(count)
            return self._settled[condition.place]
        inside = np.atleast_1d(condition)[..., :width]
        if inside.all():
            return True
        return None if inside.any() else False

    def function(
        self, name: str, args: Sequence[Data], kwargs: Mapping[str, Data]
    ) -> Data:
        """Call another function of NumPy on one value a query."""
        if name == "where":
            return self.where(*args)
        if name == "asarray":
            return np.asarray(args[0])
        if name in _LIKE:
            prototype, *kind = args
            kind = kwargs.get("dtype") or (kind or [prototype.dtype])[-1]
            return np.full(1, _LIKE[name], np.dtype(kind))
        operands = [self.own(value) for value in args]
        if name not in _WHOLE or not isinstance(operands[0], Node):
            raise NotOnDevice(name)
        return self.call(name, *operands, **kwargs)

    def cast(self, data: Data, dtype: np.dtype[Data]) -> Data:
        """Return an array with values of another type."""
        if not isinstance(data, Node):
            return np.asarray(data).astype(dtype)
        if self.dtype(data) == dtype:
            return data
        library = self.library

        def act(value: Data) -> Data:
            return library.cast(value, dtype)

        return self.do(act, ("cast", dtype.name), data)

    def dtype(self, data: Data) -> np.dtype[Data]:
        """Return what NumPy calls the type of the array's values."""
        if isinstance(data, Node):
            return self.library.dtype(data.value)
        return np.asarray(data).dtype

    # -- again ---------------------------------------------------------------------------------------
    def steps_for(self, results: Iterable[Data]) -> list[Step]:
        """Return the steps that lead from scores to some results, in order."""
        needed = {node.place for node in results if isinstance(node, Node)}
        kept = []
        for step in reversed(self.steps):
            if step.result in needed:
                needed.update(step.operands)
                kept.append(step)
        return kept[::-1]

    def values(self) -> list[Data]:
        """Return all arrays, by number; ``None`` where only the shape is known."""
        return [
            node.value if hasattr(node.value, "tolist") or node.fixed else None
            for node in self._nodes.values()
        ]

    def forget(self) -> list[Data]:
        """Drop what depends on the scores, and return what remains, by number."""
        for node in self._nodes.values():
            if not node.fixed:
                node.value = None
        return self.values()


#: new arrays of one value: they have the shape of whatever they meet
_LIKE: Final = {"zeros_like": 0, "empty_like": 0, "ones_like": 1}
#: functions that make one value of those of all queries, or one for each
_WHOLE: Final = {"any", "all", "sum", "clip"}


class TapeArray(DeviceArray):
    """One value a query: an array of a recording, or one of NumPy's that the recording begins with."""

    def _wrapped(self, result: Data) -> Data:
        return result if isinstance(result, bool) else TapeArray(result, self.library)

    def __getitem__(self, key: Data) -> Data:
        if isinstance(key, OfPlaces):
            return key.of(self)
        raise NotOnDevice("values are picked")

    def __setitem__(self, key: Data, value: Data) -> None:
        tape: Data = self.library
        mask = tape.own(key)
        if tape.dtype(mask) != np.dtype(bool):
            raise NotOnDevice("values are placed")
        self.data = tape.where(key, value, self.data)


class OfPlaces:
    """Stands for numbers of queries or tie blocks, one for each place of a table, where NumPy has an index.

    Parameters
    ----------
    of
        What an array becomes that is indexed like this.
    """

    def __init__(self, of: Callable[[Data], Data]) -> None:
        self.of = of

    def __getitem__(self, _key: object) -> OfPlaces:
        return self

    def __getattr__(self, name: str) -> Data:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotOnDevice(f"array.{name}")
