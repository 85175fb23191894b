"""Base classes of measures by how they read relevance: binary, any gain of a grade, gains from 0 to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter, BadValue
from rankstone.hits.list_arrays import Ideal
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, parameter
from rankstone.measures.core.gains_and_discounts import (
    GAINS,
    GainTable,
    gains,
    never_falls,
)
from rankstone.measures.core.measure import IdealNorm, Measure

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.measures.core.definition import (
        OptionalRelevantFrom,
        RelevantFrom,
        Threshold,
    )

#: as for the exponential gains of DCG: larger grades are scores in the wrong column
_LARGEST_UNIT_EXPONENT: Final = 50
#: the parameter ``gain`` of measures whose gains lie between 0 and 1: its meaning, and its words
WORTH: Final = "what a grade is worth between 0 and 1, or a table {grade: gain}"
SHARES: Final = ("linear", "exp2", "linear_plus1", "binary")


@dataclass(frozen=True, kw_only=True)
class BinaryMeasure(Measure, family="binary"):
    """A measure of binary relevance."""

    rel: RelevantFrom = parameter(
        ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater'
    )

    @property
    def threshold(self) -> Threshold:
        """The grade from which on a document is relevant, ``rel``."""
        return self.rel

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``."""
        return hits.relevant_count(self.rel)

    def relevant_hits(self, hits: Hits, limit: Cutoff | None) -> Floats:
        """Return 1 for relevant hits down to the limit; for tied ones, the probability to be above it."""
        inside = hits.at_rank(lambda rank: np.ones_like(rank, np.float64), limit)
        return np.where(hits.relevant(self.rel), inside, 0.0)

    def depth(self, hits: Hits) -> Ints:
        """Return the cutoff of each query, the length of the list where there is none."""
        return hits.n if self.k is None else np.full(hits.queries, self.k)

    def relevant_norm(
        self, hits: Hits, depth: Ints | None = None, weight: float = 1.0
    ) -> IdealNorm:
        """Return a multiple of R (of ``depth`` at most) as a sum over the ideal list."""
        known = Ideal(hits.ideal.offsets, self.rel(hits.ideal.grade).astype(np.float64))
        return IdealNorm(
            known,
            lambda grade: self.rel(grade).astype(np.float64),
            lambda r: np.full(len(r), weight),
            depth,
        )


def by_gain(gain: str | GainTable, claims: Claims) -> Claims:
    """Return the claims without those that need a better grade to gain no less, where it may gain less."""
    if never_falls(gain) or _rises(gain):
        return claims
    return replace(claims, extremal_under_ties=False, promotion_helps=False)


def _rises(gain: str | GainTable) -> bool:
    """Return True for a table in which no grade gains less than a lower grade or an unjudged document."""
    if isinstance(gain, str):
        return False
    table = sorted(({0.0: 0.0} | dict(gain.gains)).items())
    return table[0][0] == 0 and all(
        lower[1] <= higher[1] for lower, higher in pairwise(table)
    )


@dataclass(frozen=True, kw_only=True)
class GradedMeasure(Measure):
    """A measure in which every grade has a gain, or every grade from a threshold on."""

    rel: OptionalRelevantFrom = parameter(
        None, "grades below it have no gain; no threshold unless given"
    )
    gain: str | GainTable = parameter(
        "linear", "what a grade is worth, or a table {grade: gain}", GAINS
    )

    @property
    def threshold(self) -> Threshold | None:
        """The grade from which on documents have a gain, ``rel``."""
        return self.rel

    @property
    def claims(self) -> Claims:
        """Better documents help if a better grade gains no less."""
        return by_gain(self.gain, Claims())

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``."""
        return hits.relevant_count(self.rel or ANY_GAIN)


@dataclass(frozen=True, kw_only=True)
class UnitGain(GradedMeasure):
    """A measure whose gains are between 0 and 1: shares or probabilities.

    ``linear`` g / m · ``exp2`` (2^g − 1) / 2^m · ``linear_plus1`` g / (m + 1) · ``binary`` 1 if
    relevant; m is ``max_grade``, the top of the scale.  It is never guessed from the data, since
    two collections judged on one scale would get two measures.  Grades below 0 have no gain.
    """

    gain: str | GainTable = parameter("linear", WORTH, SHARES)
    max_grade: float | None = parameter(
        None, "highest grade of the scale, used or not", above=0.0
    )

    def __post_init__(self) -> None:
        """Refuse gains without a known scale, and tables with gains above 1."""
        super().__post_init__()
        if isinstance(self.gain, GainTable):
            grade, gain = max(self.gain.gains, key=itemgetter(1))
            if gain > 1:
                raise BadParameter(
                    f"{self.name}: gain table: {grade:g} → {gain:g}",
                    expected="gains from 0 to 1",
                    fix="divide the gains by the largest one",
                )
        scaled = not isinstance(self.gain, GainTable) and self.gain != "binary"
        if scaled and self.max_grade is None:
            raise BadParameter(
                f"{self.name} needs max_grade, the highest grade of the scale, used or not",
                fix=f"write {self.name}(max_grade=3, …) for grades 0 … 3",
            )
        if self.max_grade is not None and not scaled:
            raise BadParameter(
                f"{self.name}: max_grade has no effect with these gains",
                fix="leave it out",
            )
        if (
            self.gain == "exp2"
            and self.max_grade is not None
            and self.max_grade > _LARGEST_UNIT_EXPONENT
        ):
            raise BadParameter(
                f"{self.name}: 2^{self.max_grade:g} is astronomically large",
                expected=f"max_grade up to {_LARGEST_UNIT_EXPONENT}",
            )

    @property
    def top(self) -> float:
        """The largest gain the scale allows."""
        if isinstance(self.gain, GainTable):
            return max(gain for _, gain in self.gain.gains)
        return (
            1.0
            if self.max_grade is None
            else float(self.worth(np.array([self.max_grade]))[0])
        )

    def gains_of(self, hits: Hits) -> Floats:
        """Return the gain of every hit, float64 ``[hits]``."""
        key = ("unit gain", self.gain, self.rel, self.max_grade)
        return hits.remember(key, lambda: self.worth(hits.grade))

    def worth(self, grade: Floats) -> Floats:
        """Return the gain of each grade; a grade above the scale is an error."""
        if isinstance(self.gain, GainTable) or self.max_grade is None:
            return gains(self.gain, self.threshold, grade)
        highest = float(grade.max()) if len(grade) else 0.0
        if highest > self.max_grade:
            raise BadValue(
                f"grade {highest:g} is above max_grade={self.max_grade:g}",
                given=str(self),
                fix=f"write max_grade={highest:g}, or the highest grade of the scale",
            )
        worth = _scaled(str(self.gain), np.maximum(grade, 0.0), self.max_grade)
        return (
            worth
            if self.threshold is None
            else np.where(self.threshold(grade), worth, 0.0)
        )


def _scaled(gain: str, grade: Floats, top: float) -> Floats:
    if gain == "exp2":
        return (np.exp2(grade) - 1.0) / math.exp2(top)
    return grade / (top if gain == "linear" else top + 1.0)
