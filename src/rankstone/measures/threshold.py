"""When a grade counts as relevant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadParameter
from rankstone.words import exact

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats

__all__ = ["ANY_GAIN", "Threshold"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """When a grade counts as relevant: at or above ``level``, or above it when ``strict``.

    >>> import numpy as np
    >>> Threshold(2)(np.array([1.0, 2.0, 3.0])).tolist()
    [False, True, True]
    """

    level: float = 0.0
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse a level that no grade can be held against."""
        if not math.isfinite(self.level):
            raise BadParameter(f"rel={self.level} is no threshold", expected="a grade, such as 2")

    def __call__(self, grade: Floats) -> Bools:
        """Return which grades are relevant."""
        return grade > self.level if self.strict else grade >= self.level

    def __str__(self) -> str:
        return f'">{exact(self.level)}"' if self.strict else exact(self.level)


ANY_GAIN: Final = Threshold(0.0, strict=True)
