"""How much a reward counts at a position: what makes a sum of rewards a DCG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["DISCOUNTS", "Discount", "discount_of"]

#: name → weight of positions, from 1
DISCOUNTS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "none": np.ones_like,
    "log2": lambda position: 1 / np.log2(position + 1),
    "reciprocal": lambda position: 1 / position,
}


class Discount:
    """Weights of positions, 0 below a cutoff.

    Parameters
    ----------
    name
        What to call it.
    weight
        From positions, 1 or more, to weights.
    k
        Positions below it count nothing.
    """

    def __init__(self, name: str, weight: Callable[[Floats], Floats], k: int | None) -> None:
        self.name = name
        self.k = k
        self._weight = weight

    def __call__(self, position: Floats) -> Floats:
        """Return the weight of each position; one that is NaN stands in no list and weighs nothing."""
        counts = ~np.isnan(position) & (position <= (np.inf if self.k is None else self.k))
        found: Floats = np.where(counts, self._weight(np.where(counts, position, 1.0)), 0.0)
        return found


def discount_of(discount: str | Sequence[float], k: int | None) -> Discount:
    """Return a discount by name, or from the weights of positions 1, 2, … themselves.

    Examples
    --------
    >>> discount_of("log2", 2)(np.array([1.0, 3.0])).tolist()
    [1.0, 0.0]
    >>> discount_of([1, 0.5], None)(np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise BadOption(f"k={k!r} is no cutoff", expected="a whole number from 1")
    if isinstance(discount, str):
        if discount not in DISCOUNTS:
            close = nearest(discount, DISCOUNTS, n=1)
            raise BadOption(
                f"there is no discount {discount!r}",
                expected=f"{', '.join(DISCOUNTS)}, or the weights of positions 1, 2, …",
                fix=f"did you mean {close[0]!r}?" if close else None,
            )
        return Discount(discount, DISCOUNTS[discount], k)
    weights = np.array([*discount, 0.0], np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise BadOption("a weight of a position is negative or no number", expected="numbers of 0 or more")
    name = ",".join(f"{weight:g}" for weight in weights[:-1])
    last = len(weights) - 1
    return Discount(name, lambda at: weights[np.minimum(at - 1, last).astype(np.int64)], k)
