"""relstring: the relevance of the first documents, a character each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.measures import Card, Contributions, Measure
from rankstone.measures.named import parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["Symbols", "pieces", "spelt"]

#: grades up to 9, a higher grade, not in the pool, in the pool but not judged
_ALPHABET: Final = "0123456789>-."
_HIGHER, _OUTSIDE, _POOLED = 10, 11, 12
#: so many symbols of four bits each fit into a float64 without rounding
_LONGEST: Final = 12


@dataclass(frozen=True, kw_only=True)
class Symbols(Measure):
    """Some ranks' symbols as one number, a symbol being a digit to the base 16.

    The string so takes the same road as every score, and is spelt out at its end.
    """

    name: ClassVar[str] = "Symbols"
    family: ClassVar[str] = "trec_eval"
    brings: ClassVar[frozenset[str]] = frozenset({"pooled"})
    needs_relevant: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = False
    card: ClassVar[Card] = Card(
        sentence="What stands at the first ranks, a digit each.",
        formula="Σ_i s_i · 16^(i − first)",
        symbols="s_i: the symbol of rank i: its grade up to 9, 10 above, 11 not in the pool, 12 not judged",
        example="grades 1, 0: 1 + 0 · 16 = 1",
        span=(0.0, None),
        direction="neither",
        undefined="never",
        sensitive="everything",
        use="inside trec_eval's relstring",
        citation="trec_eval relstring",
    )

    first: int = parameter(1, "the first rank", low=1)

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Relevance plays no part."""
        return None

    def contributions(self, hits: Hits) -> Contributions:
        """Take every rank for outside the pool, then mend those that hold a hit or a pooled document."""
        assert hits.pooled is not None  # noqa: S101 - alignment brings it to measures that ask
        grade = np.minimum(np.floor(hits.grade), _HIGHER)
        shown = np.clip(hits.n - self.first + 1, 0, _LONGEST)
        outside = np.asarray(_OUTSIDE * (16.0**shown - 1.0) / 15.0, np.float64)
        pooled = np.bincount(hits.pooled.query, self._digit(hits.pooled.rank), hits.queries)
        return Contributions(
            (grade - _OUTSIDE) * self._digit(hits.rank),
            np.ones(hits.queries),
            unjudged=outside + (_POOLED - _OUTSIDE) * pooled,
        )

    def _digit(self, rank: Ints) -> Floats:
        """Return what one more in a rank's place adds to the number."""
        place = rank - self.first
        worth: Floats = np.where((place >= 0) & (place < _LONGEST), 16.0 ** np.clip(place, 0, _LONGEST), 0.0)
        return worth


def pieces(length: int) -> list[Symbols]:
    """Return the measures that a string of some length is made of."""
    return [Symbols(first=first) for first in range(1, length + 1, _LONGEST)]


def spelt(numbers: Sequence[float], length: int) -> str:
    """Return the string behind the numbers of its pieces.

    >>> spelt([1 + 11 * 16 + 12 * 256], 3)
    '1-.'
    """
    digits = [_ALPHABET[int(number) >> 4 * at & 15] for number in numbers for at in range(_LONGEST)]
    return "".join(digits[:length])
