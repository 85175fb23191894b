"""The base class of measures of two rankings, which need no judgments."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import OutOfRange
from rankstone.measures.core.definition import PerQuery, parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.rankings.rank_similarity.paired_lists import PairedLists

#: tolerance for values outside their range, which are set to the bound
_ROUNDING: Final = 1e-9
#: a correlation needs a pair
_PAIR: Final = 2


class PairStatus(IntEnum):
    """Why a query has a value, or none.

    ``ok``; ``few_common`` (fewer than two documents in common, where the measure is about their
    order); ``constant`` (all of them tie in one of the lists, so there is no order);
    ``only_a``, ``only_b`` (only one of the runs has the query).
    """

    ok = 0
    few_common = 1
    constant = 2
    only_a = 3
    only_b = 4


class Agreement(Record):
    """One measure's values for some queries; arrays ``[queries]``.

    Attributes
    ----------
    value
        float64, NaN where there is none.
    status
        int64, as :class:`PairStatus`.
    n_a, n_b, n_common
        int64: documents down to the cutoff in either list, and in both.
    """

    value: Floats
    status: Ints
    n_a: Ints
    n_b: Ints
    n_common: Ints

    @classmethod
    def joined(cls, parts: Sequence[Agreement]) -> Agreement:
        """Concatenate the values of several groups of queries."""
        return cls(
            *(
                np.concatenate([getattr(part, f.name) for part in parts])
                for f in fields(cls)
            )
        )

    @classmethod
    def without_value(cls, status: PairStatus, n_a: Ints, n_b: Ints) -> Agreement:
        """Return queries without a value, for one reason."""
        shape = n_a.shape
        none = np.zeros_like(n_a)
        return cls(np.full(shape, np.nan), np.full(shape, status), n_a, n_b, none)

    def take(self, rows: Ints) -> Agreement:
        """Return the values of some queries, in that order."""
        return Agreement(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(frozen=True, kw_only=True)
class ListMeasure(PerQuery):
    """A measure of the similarity of two rankings.

    Parameters
    ----------
    k
        Both lists are cut to their first ``k`` documents before anything else.
    agg
        How queries become one number.
    """

    computed_by = "rankstone diff A B"
    #: True if only documents of both lists count
    conjoint: ClassVar[bool] = True

    agg: str = parameter(
        "mean", "how queries become one number", "mean", "median", "trimmed"
    )

    @property
    def symmetric(self) -> bool:
        """True if the order of the two rankings does not matter."""
        return True

    @property
    def corrected_for_ties(self) -> ListMeasure | None:
        """The variant that is 1 for a list with ties against itself; ``None`` where the measure is so."""
        return None

    def ratio(self, paired: PairedLists) -> tuple[Floats, Floats]:
        """Return numerator and norm, float64 ``[queries]``; there is no value where the norm is 0."""
        raise NotImplementedError

    def compare(self, paired: PairedLists) -> Agreement:
        """Compare the lists of every query."""
        paired = paired.down_to(self.k)
        numerator, norm = self.ratio(paired)
        paired.record_result(numerator, norm)
        status = np.where(norm > 0, PairStatus.ok, PairStatus.constant).astype(np.int64)
        if self.conjoint:
            status[paired.n_common < _PAIR] = PairStatus.few_common
        value = np.full(paired.queries, np.nan)
        np.divide(numerator, norm, out=value, where=status == PairStatus.ok)
        return Agreement(
            self._in_span(value), status, paired.a.n, paired.b.n, paired.n_common
        )

    def _in_span(self, value: Floats) -> Floats:
        """Clip values to the range of the measure, and refuse those outside by more than rounding."""
        low, high = self.span
        bounded = np.clip(value, low, high)
        outside = np.abs(value - bounded) > _ROUNDING
        if outside.any():
            query = int(outside.argmax())
            raise OutOfRange.of(str(self), query, float(value[query]), low, high)
        return bounded
