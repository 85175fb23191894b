"""Norms that are sums over the ideal list, described in parts, so that they can be optimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.arrays import Cutoff, Floats, Ints
    from rankstone.hits.ideal import Ideal

__all__ = ["IdealNorm"]


@dataclass(frozen=True, eq=False)
class IdealNorm:
    """A norm ``rest + Σ_{r ≤ depth} w(r) · g_r`` over the gains g_1 ≥ g_2 ≥ … of the ideal list.

    Attributes
    ----------
    gains
        Gains of the known ideal list, best first.
    gain
        What a grade gains, vectorised.
    weight
        w: what a gain at each ideal rank counts, vectorised.
    depth
        How deep the ideal list goes: one number, int64 ``[queries]``, or ``None``.
    made_of
        Whose gains the ideal list holds: all ``judged`` documents, those of the ``list``, or those
        above the ``cutoff``.
    rest
        What no grade changes: one number, or float64 ``[queries]``.
    """

    gains: Ideal
    gain: Callable[[Floats], Floats]
    weight: Callable[[Ints], Floats]
    depth: Cutoff | None = None
    made_of: str = "judged"
    rest: Floats | float = 0.0
