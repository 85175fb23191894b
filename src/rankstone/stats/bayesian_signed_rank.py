"""The probability that a difference matters in practice, by the Bayesian signed-rank test.

Benavoli, Mangili, Corani, Zaffalon and Ruggeri (ICML 2014): the distribution of differences is a Dirichlet
process, so its posterior gives random weights to the differences seen, and to one pseudo-observation at 0
that the prior adds.  A draw belongs to the side on which most averages of two differences lie: below the
region of differences that do not matter, within it, or above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.stats.parallel_blocks import in_slices
from rankstone.stats.random_streams import uniform

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints


_DRAWS: Final = 20_000
#: numbers in a block of draws
_BLOCK: Final = 1 << 19
#: names the stream of random numbers
_STREAM: Final = 0x726F7065


class PracticalDifference(Record):
    """Probabilities that sum to 1; none is 0 or 1, since draws that were not made could fall anywhere.

    Attributes
    ----------
    below, within, above
        That most averages of two differences are below ``-rope``, within ``±rope``, above ``rope``.
    """

    below: float
    within: float
    above: float


def practical_difference(
    differences: Floats, rope: float, *, draws: int = _DRAWS, seed: int = 0
) -> PracticalDifference:
    """Return the probabilities that the typical difference is below, within or above a region.

    Parameters
    ----------
    differences
        float64 ``[units]``: one for each independent unit.
    rope
        Differences up to this size do not matter, 0 or more.
    draws, seed
        How many draws of the posterior, and what makes them reproducible.

    Examples
    --------
    >>> gains = np.array([0.02, 0.03, 0.05, 0.04, 0.0, 0.06, 0.01, 0.05])
    >>> difference = practical_difference(gains, 0.01)
    >>> difference.above > 0.9, difference.below < 0.01
    (True, True)
    """
    ordered = np.sort(np.append(differences, 0.0))
    pseudo = int(np.searchsorted(ordered, 0.0))
    units = len(ordered)
    # for each difference: how many others make an average that is below, or not above, the region
    lower = np.searchsorted(ordered, -2 * rope - ordered, side="left")
    upper = np.searchsorted(ordered, 2 * rope - ordered, side="right")

    def largest_sides(number: int, places: range) -> Ints:
        """Count the draws of a block by the side with the most averages: below, within, above."""
        count = len(places)
        weights = _weights(units, pseudo, count, seed, number)
        sums = np.concatenate([np.zeros((count, 1)), weights.cumsum(axis=1)], axis=1)
        total = sums[:, -1:]

        below = (weights * sums[:, lower]).sum(axis=1)
        above = (weights * (total - sums[:, upper])).sum(axis=1)
        within = sums[:, -1] ** 2 - below - above
        largest = np.argmax([below, within, above], axis=0)
        return np.bincount(largest, minlength=3)

    size = max(1, _BLOCK // units)
    blocks = in_slices(largest_sides, draws, size)
    counts = 1 + sum(blocks, np.zeros(3, np.int64))
    below, within, above = (counts / counts.sum()).tolist()
    return PracticalDifference(below, within, above)


def _weights(units: int, pseudo: int, count: int, seed: int, number: int) -> Floats:
    """Return gamma variates, float64 ``[count, units]``; of the pseudo-observation with shape 1/2.

    That is the weight its authors give it.  An exponential variate has shape 1; times the squared cosine of
    a random angle it has shape 1/2.
    """
    numbers = uniform(seed, _STREAM, number, size=count * (units + 1))
    table = numbers.reshape(count, -1)
    weights: Floats = -np.log(table[:, :units])
    angle = np.pi * table[:, units]
    weights[:, pseudo] *= np.cos(angle) ** 2
    return weights
