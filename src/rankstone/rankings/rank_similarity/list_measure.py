"""What a measure of two rankings is: a frozen value that looks at a couple of lists, and at no judgment."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import OutOfRange
from rankstone.measures.core.definition import PerQuery, parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import Couple


__all__ = ["Agreement", "ListMeasure", "Outcome"]

#: sums are rounded; a value this little outside its range is brought back to the bound
_ROUNDING: Final = 1e-9
#: a correlation is about pairs
_PAIR: Final = 2


class Outcome(IntEnum):
    """Why a query has the value it has, or none.

    ``ok``; ``few_common`` (fewer than two documents in common, where the measure is about the order of
    common documents); ``constant`` (all of them tie in one of the lists, so there is no order);
    ``only_a``, ``only_b`` (one of the runs does not answer the query).
    """

    ok = 0
    few_common = 1
    constant = 2
    only_a = 3
    only_b = 4


@dataclass(frozen=True, eq=False)
class Agreement:
    """One measure's values for some queries; arrays ``[queries]``.

    Attributes
    ----------
    value
        float64, NaN where there is none.
    status
        int64, as :class:`Outcome`.
    n_a, n_b, n_common
        int64: documents the measure saw in either list (down to its cutoff), and in both.
    """

    value: Floats
    status: Ints
    n_a: Ints
    n_b: Ints
    n_common: Ints

    @classmethod
    def joined(cls, parts: Sequence[Agreement]) -> Agreement:
        """Put the values of further and further queries together."""
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))


@dataclass(frozen=True, kw_only=True)
class ListMeasure(PerQuery):
    """A measure of how alike two rankings are.

    Parameters
    ----------
    k
        Both lists are cut to their first ``k`` documents before anything else.
    agg
        How queries become one number.
    """

    computed_by: ClassVar[str] = "rankstone diff A B"
    #: whether only documents of both lists are looked at
    conjoint: ClassVar[bool] = True

    agg: str = parameter("mean", "how queries become one number", "mean", "median", "trimmed")

    @property
    def symmetric(self) -> bool:
        """Whether it makes no difference which of the rankings comes first."""
        return True

    @property
    def corrected_for_ties(self) -> ListMeasure | None:
        """The measure by which a list with ties is 1 against itself; ``None`` where this one is such."""
        return None

    def ratio(self, couple: Couple) -> tuple[Floats, Floats]:
        """Return what is divided and by what, float64 ``[queries]``; a norm of 0 means no value."""
        raise NotImplementedError

    def compare(self, couple: Couple) -> Agreement:
        """Compare the lists of every query."""
        couple = couple.down_to(self.k)
        numerator, norm = self.ratio(couple)
        couple.record_result(numerator, norm)
        status = np.where(norm > 0, Outcome.ok, Outcome.constant).astype(np.int64)
        if self.conjoint:
            status[couple.n_common < _PAIR] = Outcome.few_common
        value = np.full(couple.queries, np.nan)
        np.divide(numerator, norm, out=value, where=status == Outcome.ok)
        return Agreement(self._in_span(value), status, couple.a.n, couple.b.n, couple.n_common)

    def _in_span(self, value: Floats) -> Floats:
        """Take rounding beyond the bounds of the range off, and refuse anything more than rounding."""
        low, high = self.span
        bounded = np.clip(value, low, high)
        outside = np.abs(value - bounded) > _ROUNDING
        if outside.any():
            query = int(outside.argmax())
            raise OutOfRange.of(str(self), query, float(value[query]), low, high)
        return bounded
