"""Rounding on the way: the same sums, made of numbers that were written down in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.hits.arrays import Floats
    from rankstone.hits.ragged import Hits
    from rankstone.measures import Measure
    from rankstone.measures.base import Scored

__all__ = ["Rounding", "roundings"]

#: people write down no fewer and no more decimals
_FEWEST, _MOST = 0, 4
#: what may be written down: every term, the two sums, each query's value
_WHAT: Final = {
    "terms": "each term",
    "sums": "the sums before they are divided",
    "values": "each query's value",
}
#: a value a hair below a step of the last decimal is on it
_HAIR: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Rounding:
    """What is written down on the way, with how many decimals, rounded or cut off."""

    what: str
    digits: int
    cut: bool = False

    def __str__(self) -> str:
        decimals = f"{self.digits} decimal{'' if self.digits == 1 else 's'}"
        return f"{_WHAT[self.what]} {'cut off after' if self.cut else 'rounded to'} {decimals}"

    def write_down(self, values: Floats) -> Floats:
        """Return numbers as they are written down."""
        scale = 10.0**self.digits
        if self.cut:
            return np.trunc(values * scale + np.copysign(_HAIR, values)) / scale
        return np.floor(values * scale + 0.5 + _HAIR) / scale  # halves go up, as people round

    def values(self, measure: Measure, hits: Hits, scored: Scored) -> Floats:
        """Return the values of queries computed so; those that a rule decided stay as they are."""
        if self.what == "values":
            return self.write_down(scored.value)
        notes = Notes()
        looked, parts = measure.parts(replace(hits, notes=notes, _memo={}))
        terms = self.write_down(parts.hits) if self.what == "terms" else parts.hits
        numerator = looked.total(terms)
        for pseudo_row in (parts.missed, parts.unjudged):
            if pseudo_row is not None:
                numerator = numerator + pseudo_row
        norm = parts.norm
        if self.what == "terms" and notes.ideal is not None and "contribution" in notes.of_ideal:
            norm = notes.ideal.total(self.write_down(notes.of_ideal["contribution"]))
        if self.what == "sums":
            numerator, norm = self.write_down(numerator), self.write_down(norm)
        ratio = np.divide(numerator, norm, out=np.zeros(len(norm)), where=norm > 0)
        plain = np.divide(scored.numerator, scored.denominator, out=np.zeros(len(norm)), where=parts.norm > 0)
        decided = scored.value != measure.link(looked, plain)
        return np.where(decided, scored.value, measure.link(looked, ratio))


def roundings(*, several: bool) -> Iterator[Rounding]:
    """Return what may have been written down; values of queries only where there are several."""
    for what in _WHAT:
        if what == "values" and not several:  # it is the number itself that is rounded then
            continue
        for digits in range(_FEWEST, _MOST + 1):
            for cut in (False, True):
                yield Rounding(what, digits, cut)
