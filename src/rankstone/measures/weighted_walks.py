"""Users whom nothing they find delays or stops: V depends on the rank alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankstone.measures.parts import divisors
from rankstone.measures.walks import WeightedWalk, square_tail

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints

__all__ = ["INSQ", "RBP", "SDCG", "P", "U"]


@dataclass(frozen=True, kw_only=True)
class P(WeightedWalk):
    """Everybody looks at k ranks: C(i) = 1 for i < k."""

    goes_on_by: ClassVar[str] = "1 for i < k"
    stops_at_k: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """Return ones."""
        return np.ones(len(rank))

    def mass(self, depth: int) -> float:
        """Return k."""
        return float(depth)


@dataclass(frozen=True, kw_only=True)
class RBP(WeightedWalk):
    """The same persistence everywhere: C(i) = p."""

    goes_on_by: ClassVar[str] = "p"

    p: float

    def weight(self, rank: Ints) -> Floats:
        """Return p^(i − 1)."""
        return np.power(self.p, rank.astype(np.float64) - 1.0)

    def mass(self, depth: int) -> float:
        """Return (1 − p^depth) / (1 − p)."""
        return (1.0 - self.p**depth) / (1.0 - self.p)


@dataclass(frozen=True, kw_only=True)
class SDCG(WeightedWalk):
    """Looking fades with the logarithm: C(i) = log2(i + 1) / log2(i + 2) for i < k."""

    goes_on_by: ClassVar[str] = "log2(i + 1) / log2(i + 2) for i < k"
    stops_at_k: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """Return 1 / log2(i + 1)."""
        return 1.0 / divisors("log2", rank)

    def mass(self, depth: int) -> float:
        """Return the sum of 1 / log2(i + 1)."""
        return float(np.cumsum(self.weight(np.arange(1, depth + 1)))[-1])


@dataclass(frozen=True, kw_only=True)
class INSQ(WeightedWalk):
    """The longer on the way, the more persistent: C(i) = ((i + 2T − 1) / (i + 2T))²."""

    goes_on_by: ClassVar[str] = "((i + 2T − 1) / (i + 2T))²"

    T: float

    def weight(self, rank: Ints) -> Floats:
        """Return (2T / (i + 2T − 1))²."""
        return np.square(2 * self.T / (rank.astype(np.float64) + (2 * self.T - 1.0)))

    def mass(self, depth: int) -> float:
        """Return (2T)² Σ 1 / (i + 2T − 1)²."""
        ends = np.array([2 * self.T, depth + 2 * self.T])
        whole, tail = square_tail(ends)
        return float((2 * self.T) ** 2 * (whole - tail))


@dataclass(frozen=True, kw_only=True)
class U(WeightedWalk):
    """Looking fades in a straight line with the text read: V(i) = max(0, 1 − (i − 1) cost / L)."""

    goes_on_by: ClassVar[str] = "V(i) = max(0, 1 − (i − 1) cost / L)"

    L: float
    cost: float

    def weight(self, rank: Ints) -> Floats:
        """Return the height of the line."""
        return np.maximum(0.0, 1.0 - (rank.astype(np.float64) - 1.0) * self.cost / self.L)

    def mass(self, depth: int) -> float:
        """Return the sum down the line."""
        ranks = min(depth, int(np.ceil(self.L / self.cost)))
        return ranks - self.cost / self.L * ranks * (ranks - 1) / 2
