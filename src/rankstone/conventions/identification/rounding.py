"""How numbers are rounded or cut for print, and which results print as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.hits.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Measure, Scored


#: the fewest and the most decimals of intermediate numbers
_FEWEST = 0


_MOST = 4


#: which intermediate numbers may be rounded: every term, the two sums, each query's value
_WHAT: Final = {
    "terms": "each term",
    "sums": "the sums before they are divided",
    "values": "each query's value",
}


#: a value so little below a step of the last decimal counts as on it
_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Rounding:
    """A rounding of intermediate numbers: which ones, with how many decimals, rounded or cut off."""

    what: str
    digits: int
    cut: bool = False

    def __str__(self) -> str:
        decimals = f"{self.digits} decimal{'' if self.digits == 1 else 's'}"
        return f"{_WHAT[self.what]} {'cut off after' if self.cut else 'rounded to'} {decimals}"

    def rounded(self, values: Floats) -> Floats:
        """Return rounded numbers."""
        scale = 10.0**self.digits
        if self.cut:
            return np.trunc(values * scale + np.copysign(_SLACK, values)) / scale
        return np.floor(values * scale + 0.5 + _SLACK) / scale  # halves are rounded up

    def values(self, measure: Measure, hits: Hits, scored: Scored) -> Floats:
        """Return the values of queries with rounded intermediate numbers; those that a rule decides stay."""
        if self.what == "values":
            return self.rounded(scored.value)
        trace = Trace()
        looked, parts = measure.parts(replace(hits, trace=trace, _memo={}))
        terms = self.rounded(parts.hits) if self.what == "terms" else parts.hits
        numerator = looked.total(terms)
        for pseudo_row in (parts.missed, parts.unjudged):
            if pseudo_row is not None:
                numerator = numerator + pseudo_row
        norm = parts.norm
        if (
            self.what == "terms"
            and trace.ideal is not None
            and (ideal := trace.titled("ideal"))
        ):
            norm = trace.ideal.total(self.rounded(ideal.columns["contribution"]))
        if self.what == "sums":
            numerator = self.rounded(numerator)
            norm = self.rounded(norm)
        ratio = np.divide(numerator, norm, out=np.zeros(len(norm)), where=norm > 0)
        plain = np.divide(
            scored.numerator,
            scored.denominator,
            out=np.zeros(len(norm)),
            where=parts.norm > 0,
        )
        decided = scored.value != measure.link(looked, plain)
        return np.where(decided, scored.value, measure.link(looked, ratio))


def roundings(*, several: bool) -> Iterator[Rounding]:
    """Yield possible roundings; of the values of queries only where there are several."""
    for what in _WHAT:
        if what == "values" and not several:  # this would round the number itself
            continue
        for digits in range(_FEWEST, _MOST + 1):
            for cut in (False, True):
                yield Rounding(what, digits, cut)
