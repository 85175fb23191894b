"""How many of the values that were tried would print as a number by chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.identifying.printed import Printed

__all__ = ["printed_by_chance"]


def printed_by_chance(values: Sequence[float], printed: Printed) -> float:
    """Estimate how many different values would print as a number if it had nothing to do with them.

    That is the length of the interval of values that print so, times how thickly values lie around it.  The
    density is that of the nearest values outside the interval, as many as the square root of their number
    (Loftsgaarden and Quesenberry, 1965); what prints as the number does not count, since some of it may be
    no chance.  Where values lie independently of each other and of the number, and about as thickly as next
    to it, the estimate is right on average.

    Parameters
    ----------
    values
        Different values, each once.
    printed
        The number.

    Returns
    -------
    float
        From 0 to as many as there are values; 0 where fewer than two lie outside.

    Examples
    --------
    >>> from rankstone.identifying import Printed
    >>> everywhere = [at / 10_000 for at in range(10_000)]
    >>> round(printed_by_chance(everywhere, Printed.of("0.413")))
    15
    """
    off = np.abs([printed.off(value) for value in values if printed.how(value) is None])
    if len(off) < 2:  # noqa: PLR2004 - no distance between values
        return 0.0
    near = max(2, math.isqrt(len(off)))
    reach = np.partition(off, near - 1)[near - 1]
    outside = sum(max(0.0, float(reach) - end) for end in printed.ends)
    return min((near - 1) * sum(printed.ends) / outside, float(len(values)))
