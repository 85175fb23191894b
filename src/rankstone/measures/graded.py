"""What measures have in common in which a grade counts by what it gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstone.measures.base import ANY_GAIN, Measure, Threshold
from rankstone.measures.named import parameter
from rankstone.measures.parts import GAINS, GainTable, never_falls

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints
    from rankstone.hits.ragged import Hits

__all__ = ["ByGain", "GradedMeasure"]


class ByGain:
    """Claims that hold as long as a better grade gains no less."""

    gain: str | GainTable

    @property
    def extremal_under_ties(self) -> bool:
        """Hold where a better grade never gains less."""
        return never_falls(self.gain)

    @property
    def promotion_helps(self) -> bool:
        """Hold where a better grade never gains less."""
        return never_falls(self.gain)


@dataclass(frozen=True, kw_only=True)
class GradedMeasure(ByGain, Measure):
    """A measure in which every grade gains something, or every grade from a threshold on."""

    rel: Threshold | None = parameter(None, "grades below it gain nothing; none unless given")
    gain: str | GainTable = parameter("linear", "what a grade is worth, or a table {grade: gain}", GAINS)

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``."""
        return hits.relevant_count(self.rel or ANY_GAIN)
