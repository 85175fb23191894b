"""Which values of an array belong to which list.

Scores and labels ``[lists, longest]`` of NumPy, PyTorch or JAX, computed with where they are.

Nothing here looks at a value that a transformation of JAX (``jit``, ``vmap``, ``grad``) does not know yet.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property, lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption, BadValue, EmptyInput, printable
from rankstone.hits.list_arrays import offsets_of
from rankstone.integrations.arrays.array_libraries import home_of, on_host
from rankstone.integrations.arrays.device_arrays import DeviceArray
from rankstone.measures.core.gains_and_discounts import never_falls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Ints
    from rankstone.integrations.arrays.device_arrays import Data
    from rankstone.measures.core.definition import Threshold
    from rankstone.measures.dcg import GainMeasure

Function = TypeVar("Function", bound="Callable[..., Any]")

#: arrays are flat, or have a row for each list
_MOST_AXES: Final = 2
#: how values print that stand for none, in NumPy, Python and pandas
_MISSING: Final = frozenset({"nan", "None", "NaT", "<NA>"})


class ArrayLayout(Record):
    """Which values of an array belong to which list.

    Attributes
    ----------
    shape
        The shape of the arrays.
    lengths
        int64 ``[lists]``: values of each list; a list may be empty.
    queries
        The lists' ids, or their numbers.
    take
        Integers: where the values of the lists are in the flat array, list after list; ``None`` where they
        lie like this.  Of a mask on a device they are there.
    """

    shape: tuple[int, ...]
    lengths: Ints
    queries: NDArray[Any]
    take: Data = None

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        qid: object = None,
        sizes: object = None,
        mask: object = None,
    ) -> ArrayLayout:
        """Read the layout of arrays of some shape.

        Parameters
        ----------
        shape
            ``[values]``, or ``[lists, longest]``.
        qid
            ``[values]``: the query of each value.  The values of a query need not stand together: they are
            brought together, keep their order, and queries come in the order in which they first appear.
        sizes
            ``[lists]``: how many values each list has, one list after another.
        mask
            bool ``[lists, longest]``: False where there is no document.

        Raises
        ------
        BadValue, BadOption, EmptyInput
            What does not fit together, or is empty.
        """
        if not 1 <= len(shape) <= _MOST_AXES:
            raise BadValue(
                f"labels of {len(shape)} dimensions",
                given=f"shape {shape}",
                expected="flat arrays [values], or padded ones [lists, longest]",
            )
        if not np.prod(shape):
            raise EmptyInput("there are no labels", where=f"an array of shape {shape}")

        arguments = {"qid": qid, "sizes": sizes, "mask": mask}
        names = [name for name, value in arguments.items() if value is not None]
        if len(names) > 1:
            raise BadOption(
                f"{' and '.join(names)} are given",
                expected="one of qid, sizes and mask",
            )

        if len(shape) == _MOST_AXES:
            return cls._padded(shape, mask, names)
        if mask is not None:
            raise BadOption(
                "mask is for arrays [lists, longest]",
                given="flat arrays",
                fix="give qid or sizes",
            )
        if qid is not None:
            return cls._by_query(shape, qid)
        lengths = np.array(shape)
        if sizes is not None:
            lengths = _checked_sizes(on_host(sizes), shape[0])
        return cls(shape, lengths, np.arange(len(lengths)))

    @classmethod
    def _padded(
        cls, shape: tuple[int, ...], mask: object, names: list[str]
    ) -> ArrayLayout:
        count, longest = shape
        rows = np.arange(count)
        if names not in ([], ["mask"]):
            raise BadOption(
                f"{names[0]} is for flat arrays",
                given=f"shape {shape}: a row a list",
                fix="give a mask, or none",
            )
        if mask is None:
            lengths = np.full(count, longest)
            return cls(shape, lengths, rows)
        there = _where_it_is(mask)
        if tuple(there.shape) != shape or not str(there.dtype).endswith("bool"):
            raise BadValue(
                "the mask does not fit the labels",
                given=f"{there.dtype} of shape {tuple(there.shape)}",
                expected=f"bool of shape {shape}, False where there is no document",
            )
        lengths = on_host(there.sum(1)).astype(np.int64)
        take = None
        if lengths.sum() < count * longest:
            take = _places(there.reshape(-1))
        return cls(shape, lengths, rows, take)

    @classmethod
    def _by_query(cls, shape: tuple[int, ...], qid: Data) -> ArrayLayout:
        qid = _where_it_is(qid)
        if tuple(qid.shape) != shape:
            raise BadValue(
                "qid does not fit the labels",
                given=f"shape {tuple(qid.shape)}",
                expected=f"shape {shape}: one each",
            )
        if isinstance(qid, np.ndarray):
            _refuse_missing(qid, range(len(qid)))
        with home_of(qid).exactly():
            changes = on_host(_places(qid[1:] != qid[:-1]))
            heads = np.concatenate(([0], changes + 1))
            ids = on_host(qid[heads])  # of those on a device no others are copied
        _refuse_missing(ids, heads)
        try:
            queries, first, number = np.unique(
                ids, return_index=True, return_inverse=True
            )
        except TypeError as error:  # objects that have no order
            types = {type(query).__name__ for query in ids}
            raise BadValue(
                "ids of queries are of several types",
                given=", ".join(sorted(types)),
                expected="whole numbers, or texts",
                fix="qid=[str(query) for query in qid]",
            ) from error
        lengths = np.diff(heads, append=len(qid))
        if len(queries) == len(heads):
            return cls(shape, lengths, ids)
        order = np.argsort(first)  # queries in the order of first occurrence
        place = np.argsort(order)[number]
        take = np.argsort(np.repeat(place, lengths), kind="stable")
        together = np.bincount(place, lengths, len(queries))
        queries = queries[order]
        return cls(shape, together.astype(np.int64), queries, take)

    @cached_property
    def offsets(self) -> Ints:
        """The offsets of the lists among the values, int64 ``[lists + 1]``."""
        return offsets_of(self.lengths)

    def fits(self, shape: tuple[int, ...], what: str) -> None:
        """Refuse an array of another shape."""
        if shape != self.shape:
            raise BadValue(
                f"{what} do not fit the labels",
                given=f"shape {shape}",
                expected=f"shape {self.shape}",
            )

    def flat(self, values: Data) -> Data:
        """Return the values list after list, without padding; an array of their library."""
        values = values.reshape(-1)
        return values if self.take is None else values[self.take_for(values)]

    def take_for(self, values: Data) -> Data:
        """Return ``take`` where it can be an index of values: on their device, or of NumPy's."""
        on_device = home_of(self.take) == home_of(values)
        return self.take if on_device else self._take_of_numpy

    @cached_property
    def _take_of_numpy(self) -> NDArray[Any]:
        return on_host(self.take)

    def where(self, index: int) -> str:
        """Return the index and the query of a value of the flat array, for messages."""
        query = int(np.searchsorted(self.offsets, index, side="right")) - 1
        if self.take is not None:
            index = int(self.take[index])
        indices = ", ".join(map(str, np.unravel_index(index, self.shape)))
        return f"[{indices}], query {printable(self.queries[query])}"


def _where_it_is(values: object) -> Data:
    """Return an array on its device, or of NumPy's in the memory of the host."""
    return on_host(values) if home_of(values).near else values


def _places(mask: Data) -> Data:
    """Return where a flat mask is True, an array of its library."""
    return _functions(mask).argwhere(mask)[:, 0]


def _refuse_missing(qid: NDArray[Any], rows: Sequence[int] | Ints) -> None:
    """Refuse ids that are NaN, None or NA; ``rows`` says where each is."""
    missing = np.zeros(len(qid), bool)
    if qid.dtype.kind == "f":
        missing = np.isnan(qid)
    elif qid.dtype.kind == "O":
        missing[:] = [not isinstance(x, str) and str(x) in _MISSING for x in qid]
    if missing.any():
        row = int(missing.argmax())
        raise BadValue(
            f"a qid is {str(qid[row]).replace('nan', 'NaN')}",
            where=f"value {rows[row]}",
            expected="an id",
            fix="give each value its query, or leave it out of scores and labels, too",
        )


def _checked_sizes(sizes: NDArray[Any], values: int) -> Ints:
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise BadValue(
            "sizes are not counts",
            given=f"{sizes.dtype} of shape {sizes.shape}",
            expected="whole numbers, one for each list",
        )
    if int(sizes.sum()) != values:
        raise BadValue(
            "sizes do not add up",
            given=f"{int(sizes.sum()):,}",
            expected=f"{values:,}, the labels",
        )
    return sizes.astype(np.int64)


#: pairs of documents that are computed with at a time, in the memory of the host and on a device
_PAIRS = 1 << 22
_PAIRS_AFAR = 1 << 27


class Padded(Record):
    """Lists as rows of one table, with arrays of one library.

    Attributes
    ----------
    xp
        The library's functions: ``numpy``, ``torch`` or ``jax.numpy``.
    scores
        ``[lists, longest]``, as given; 0 where there is no document.
    grade
        Labels, as exact as the library can; NaN for unjudged documents: NaN, below 0, or no document.
    there
        bool: where there is a document; ``None`` where there is one everywhere.
    known
        Whether the values can be looked at; those that JAX traces cannot.
    """

    xp: Any
    scores: Data
    grade: Data
    there: Data | None
    known: bool

    @classmethod
    def of(cls, scores: Data, labels: object, mask: object = None) -> Padded:
        """Read scores, labels and a mask, each of any library.

        Raises
        ------
        BadValue
            When shapes do not fit, or a score is NaN.
        """
        traced = [array for array in (scores, labels, mask) if _traced(array)]
        xp = _functions([*traced, scores][0])
        if not hasattr(scores, "detach"):
            scores = xp.asarray(scores)
            if scores.dtype.kind in "biu":
                scores = _own(xp, scores, scores)
        grade = _own(xp, labels, scores)
        shapes = [tuple(scores.shape), tuple(grade.shape)]
        there = None
        if mask is not None:
            there = _own(xp, mask, scores) > 0
            shapes.append(tuple(there.shape))
        if len(shapes[0]) != 2 or len(set(shapes)) > 1:  # noqa: PLR2004 - rows and columns
            raise BadValue(
                "scores and labels do not fit",
                given="shapes " + ", ".join(map(str, shapes)),
                expected="all [lists, longest]",
            )
        judged = grade >= 0
        if there is not None:
            scores = xp.where(there, scores, 0.0)
            judged = judged & there
        if not traced and home_of(scores).near:  # on a device NaN makes the loss NaN
            _refuse_nan(scores)
        grade = xp.where(judged, grade, np.nan)
        return cls(xp, scores, grade, there, not traced)

    def slices(self) -> list[slice]:
        """Return which lists are computed with at a time: tables of all their pairs take memory."""
        if not self.known:
            return [slice(None)]
        pairs = _PAIRS if home_of(self.scores).near else _PAIRS_AFAR
        step = max(1, pairs // max(self.width, 1) ** 2)
        begins = range(0, max(len(self.scores), 1), step)
        return [slice(begin, begin + step) for begin in begins]

    def part(self, lists: slice) -> Padded:
        """Return some of the lists."""
        part = replace(self, scores=self.scores[lists], grade=self.grade[lists])
        if self.there is None:
            return part
        return replace(part, there=self.there[lists])

    @property
    def width(self) -> int:
        """How long the longest list can be."""
        return int(self.scores.shape[1])

    @cached_property
    def fixed(self) -> Data:
        """The scores without a way back for gradients, as exact as the library can."""
        if self.xp is np:
            return self.scores.astype(np.float64, copy=False)
        if hasattr(self.scores, "detach"):
            return self.scores.detach().to(self.grade.dtype)
        import jax

        return jax.lax.stop_gradient(self.scores).astype(self.grade.dtype)

    def own(self, values: NDArray[Any] | float) -> Data:
        """Return a number or an array of NumPy's as the library's, on the device of the scores."""
        return _own(self.xp, values, self.scores)

    def back(self, values: Data) -> Data:
        """Return numbers as exact as the scores were given."""
        kind = self.scores.dtype
        if self.xp is np:
            return values
        if hasattr(values, "to"):
            return values.to(kind)
        return values.astype(kind)

    @cached_property
    def judged(self) -> Data:
        """Which documents are judged, bool."""
        return self.grade >= 0

    def relevant(self, rel: Threshold) -> Data:
        """Return which documents are judged relevant, bool."""
        return rel(self.grade) & self.judged

    def wrapped(self, values: Data) -> Any:  # noqa: ANN401 - a DeviceArray
        """Return an array that NumPy's functions know; values that are traced are not looked at."""
        if self.xp is np:
            return values
        library = home_of(values).library() if self.known else _tracing()
        return DeviceArray(values, library, largest=None if self.known else 0)

    def unwrapped(self, values: Data) -> Data:
        """Return the library's array."""
        return values.data if isinstance(values, DeviceArray) else values

    def lengths(self) -> Data:
        """Return how many documents each list has, whole numbers."""
        there = self.there
        if there is None:
            there = self.xp.ones_like(self.grade) > 0
        return self.xp.count_nonzero(there, 1)

    def worth(self, measure: GainMeasure) -> Data:
        """Return each document's gain; 0 if unjudged."""
        grade = self.xp.where(self.judged, self.grade, 0.0)
        if self.xp is np:
            gain = measure.worth(grade)
        elif never_falls(measure.gain):
            gain = self.unwrapped(measure.worth(self.wrapped(grade)))
        elif self.known:
            near = on_host(grade)
            gain = self.own(measure.worth(near))
        else:
            raise BadOption(
                f"{measure}: gains from a table or function of your own need labels whose values are known",
                fix="use the labels inside the transformed function instead of passing them to it",
            )
        if gain is grade:
            return gain
        return self.xp.where(self.judged, gain, 0.0)

    def softplus(self, values: Data) -> Data:
        """Return ``ln(1 + exp(values))``, without overflow."""
        xp = self.xp
        if hasattr(values, "detach"):  # from 40 on nothing is added
            return xp.nn.functional.softplus(values, threshold=40)
        rest = xp.log1p(xp.exp(-abs(values)))
        return xp.maximum(values, 0.0) + rest

    def taken(self, values: Data, places: Data) -> Data:
        """Return the values at places of their rows."""
        along = getattr(self.xp, "take_along_dim", None) or self.xp.take_along_axis
        return along(values, places, 1)

    def descending(self, values: Data) -> Data:
        """Return each row's values, the largest first."""
        if hasattr(values, "detach"):
            return values.sort(1, descending=True).values
        order = self.xp.argsort(-values, 1)
        return self.taken(values, order)

    def largest(self, values: Data) -> Data:
        """Return each row's largest value, ``[lists, 1]``."""
        return self.xp.amax(values, 1, keepdims=True)


def uncompiled(function: Function) -> Function:
    """Return a function that PyTorch's compiler calls as it is: it computes with NumPy's arrays, too."""
    plain: dict[str, Function] = {}

    @wraps(function)
    def called(*args: Data, **kwargs: Data) -> Data:
        torch = sys.modules.get("torch")
        if torch is not None and not plain:
            plain["as it is"] = torch.compiler.disable(function)
        return plain.get("as it is", function)(*args, **kwargs)

    vars(called)["_torchdynamo_disable"] = True
    return cast("Function", called)


def _refuse_nan(scores: Data) -> None:
    host = on_host(scores)
    if np.isnan(host.max(initial=-np.inf)):
        nans = np.argwhere(np.isnan(host))
        row, place = nans[0].tolist()
        raise BadValue(
            "a score is NaN",
            where=f"[{row}, {place}]",
            expected="a number",
            fix="has the model diverged? give a mask for places without a document",
        )


def _traced(data: object) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(data, jax.core.Tracer)


def _functions(scores: object) -> Any:  # noqa: ANN401 - a module
    """Return the functions of the library that an array is of."""
    torch = sys.modules.get("torch")
    jax = sys.modules.get("jax")
    if torch is not None and isinstance(scores, torch.Tensor):
        return torch
    if jax is not None and isinstance(scores, jax.Array):
        return jax.numpy
    return np


def _own(xp: Any, values: object, scores: Data) -> Data:  # noqa: ANN401 - a module
    """Return numbers as an array of the scores' library, on their device, in its widest floating type."""
    if hasattr(scores, "detach") and isinstance(values, (np.ndarray, float)):
        raw = np.asarray(values, np.float64)
        return _constant(raw.tobytes(), raw.shape, scores.device)
    if hasattr(scores, "detach"):
        if not isinstance(values, xp.Tensor):
            values = np.asarray(values)
        own = xp.as_tensor(values, dtype=xp.float64, device=scores.device)
        return own.detach()
    if xp is np:
        return on_host(values).astype(np.float64)
    if _functions(values) is not xp:
        values = on_host(values)
    return xp.asarray(values).astype(xp.result_type(float))


@lru_cache(64)
def _constant(raw: bytes, shape: tuple[int, ...], device: Any) -> Data:  # noqa: ANN401 - PyTorch's
    """Return numbers of NumPy's on a device, moved once."""
    import torch

    values = np.frombuffer(raw, np.float64).reshape(shape)
    return torch.tensor(values, device=device)


def _tracing() -> Any:  # noqa: ANN401 - a Library
    from rankstone.integrations.arrays.jax_arrays import JaxLibrary

    return JaxLibrary(None)
