"""What measures tell of the numbers they work with, where somebody listens.

A measure computes with whole arrays; whoever explains a score wants to see what stood in them.  The measure
tells them by name while it computes, so that what is shown is what was used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankstone.hits.arrays import Floats
    from rankstone.hits.ideal import Ideal

    #: values, or what makes them where somebody listens
    Told = NDArray[Any] | Callable[[], NDArray[Any]]

__all__ = ["Notes"]


@dataclass(eq=False)
class Notes:
    """Collects what is told of one query's hits, and of its ideal list.

    Attributes
    ----------
    of_hits
        Name → one value a hit, as far down as the measure looked.
    of_ideal
        Name → one value a rank of the ideal list; ``gain`` among them.
    ideal
        That list.
    """

    of_hits: dict[str, NDArray[Any]] = field(default_factory=dict)
    of_ideal: dict[str, Floats] = field(default_factory=dict)
    ideal: Ideal | None = None

    def take(self, hits: int, columns: Mapping[str, Told]) -> None:
        """Keep columns of a measure that looks at the first ``hits`` hits; what was told first stays."""
        for name, told in columns.items():
            values = np.asarray(told() if callable(told) else told)
            if len(values) == hits:
                self.of_hits.setdefault(name, values)

    def take_ideal(self, ideal: Ideal, columns: Mapping[str, Floats]) -> None:
        """Keep the gains of an ideal list, and columns beside them."""
        if not self.of_ideal:
            self.of_ideal = {"gain": ideal.grade, **columns}
            self.ideal = ideal
