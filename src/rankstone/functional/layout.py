"""Which values of an array belong to which list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption, BadValue, EmptyInput, printable
from rankstone.hits.arrays import offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.hits.arrays import Ints

__all__ = ["Layout"]

#: arrays are flat, or have a row for each list
_MOST_AXES: Final = 2


@dataclass(frozen=True, eq=False)
class Layout:
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
        int64: where the values of the lists are in the flat array, list after list; ``None`` where they
        lie like this.
    """

    shape: tuple[int, ...]
    lengths: Ints
    queries: NDArray[Any]
    take: Ints | None = None

    @classmethod
    def of(
        cls, shape: tuple[int, ...], qid: object = None, sizes: object = None, mask: object = None
    ) -> Layout:
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
        given = [
            name for name, value in (("qid", qid), ("sizes", sizes), ("mask", mask)) if value is not None
        ]
        if len(given) > 1:
            raise BadOption(f"{' and '.join(given)} are given", expected="one of qid, sizes and mask")
        if len(shape) == _MOST_AXES:
            return cls._padded(shape, mask, given)
        if mask is not None:
            raise BadOption(
                "mask is for arrays [lists, longest]", given="flat arrays", fix="give qid or sizes"
            )
        if qid is not None:
            return cls._by_query(shape, np.asarray(qid))
        lengths = np.array(shape) if sizes is None else _checked_sizes(np.asarray(sizes), shape[0])
        return cls(shape, lengths, np.arange(len(lengths)))

    @classmethod
    def _padded(cls, shape: tuple[int, ...], mask: object, given: list[str]) -> Layout:
        rows = np.arange(shape[0])
        if given not in ([], ["mask"]):
            raise BadOption(
                f"{given[0]} is for flat arrays",
                given=f"shape {shape}: a row a list",
                fix="give a mask, or none",
            )
        if mask is None:
            return cls(shape, np.full(shape[0], shape[1]), rows)
        there = np.asarray(mask)
        if there.shape != shape or there.dtype != bool:
            raise BadValue(
                "the mask does not fit the labels",
                given=f"{there.dtype} of shape {there.shape}",
                expected=f"bool of shape {shape}, False where there is no document",
            )
        take = None if there.all() else np.flatnonzero(there)
        return cls(shape, np.count_nonzero(there, axis=1).astype(np.int64), rows, take)

    @classmethod
    def _by_query(cls, shape: tuple[int, ...], qid: NDArray[Any]) -> Layout:
        if qid.shape != shape:
            raise BadValue(
                "qid does not fit the labels", given=f"shape {qid.shape}", expected=f"shape {shape}: one each"
            )
        if qid.dtype.kind == "f" and np.isnan(qid).any():
            raise BadValue("a qid is NaN", where=f"value {int(np.isnan(qid).argmax())}", expected="an id")
        heads = np.concatenate(([0], np.flatnonzero(qid[1:] != qid[:-1]) + 1))
        queries, first, number = np.unique(qid[heads], return_index=True, return_inverse=True)
        lengths = np.diff(heads, append=len(qid))
        if len(queries) == len(heads):
            return cls(shape, lengths, qid[heads])
        place = np.argsort(np.argsort(first))[number]  # queries in the order in which they first appear
        take = np.argsort(np.repeat(place, lengths), kind="stable")
        together = np.bincount(place, lengths, len(queries)).astype(np.int64)
        return cls(shape, together, qid[heads[np.sort(first)]], take)

    @cached_property
    def offsets(self) -> Ints:
        """Where each list begins among the values, and the last one ends, int64 ``[lists + 1]``."""
        return offsets_of(self.lengths)

    def fits(self, shape: tuple[int, ...], what: str) -> None:
        """Refuse an array of another shape."""
        if shape != self.shape:
            raise BadValue(
                f"{what} do not fit the labels", given=f"shape {shape}", expected=f"shape {self.shape}"
            )

    def flat(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values list after list, without what only pads."""
        values = values.reshape(-1)
        return values if self.take is None else values[self.take]

    def where(self, at: int) -> str:
        """Say where the value stands that is ``at`` this place of the flat ones."""
        query = int(np.searchsorted(self.offsets, at, side="right")) - 1
        place = at if self.take is None else int(self.take[at])
        index = ", ".join(str(i) for i in np.unravel_index(place, self.shape))
        return f"[{index}], query {printable(self.queries[query])}"


def _checked_sizes(sizes: NDArray[Any], values: int) -> Ints:
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise BadValue(
            "sizes are no counts",
            given=f"{sizes.dtype} of shape {sizes.shape}",
            expected="whole numbers, one a list",
        )
    if int(sizes.sum()) != values:
        raise BadValue(
            "sizes do not add up", given=f"{int(sizes.sum()):,}", expected=f"{values:,}, the labels"
        )
    return sizes.astype(np.int64)
