"""The base class of measures of rankings against judgments: frozen values that turn hits into contributions.

``score(q) = Σ contribution(q, hit) / norm(q)``: a measure defines its contributions and its norm.  Summing,
dividing, the treatment of queries without a relevant document and the mean over queries are the same for all
measures and are defined here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from rankstone._basics import Record, queries
from rankstone.errors import BadOption, BadParameter, OutOfRange, printable
from rankstone.hits.budgets import Budget
from rankstone.hits.tie_rules import TIES
from rankstone.measures.core.definition import ANY_GAIN, PerQuery, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.extras.extra_values import Key
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Codes, Cutoff, Ideal
    from rankstone.measures.core.definition import Span

    Measures = Sequence["Measure"]

#: tolerance for values outside their range, since sums are rounded
_ROUNDING: Final = 1e-9


class Status(IntEnum):
    """How the value of a query came about.

    ``ok``; ``missing`` (judged, but not in the run); ``no_relevant`` (no relevant document
    exists: the option ``empty`` decided); ``no_ideal`` (the norm is zero although relevant documents
    exist: 0); ``undefined`` (no value); ``lower_bound`` (a maximum that a search
    found but did not prove: the true value may be higher); ``out_of_reach`` (no list can be long
    enough above the cutoff: 0).
    """

    ok = 0
    missing = 1
    no_relevant = 2
    no_ideal = 3
    undefined = 4
    dropped = 5
    lower_bound = 6
    out_of_reach = 7


class Contributions(Record):
    """The table a score is the sum of.

    Attributes
    ----------
    hits
        float64 ``[hits]``: what each hit adds.
    norm
        float64 ``[queries]``: what the sum is divided by.
    missed
        float64 ``[queries]``: added by judged documents that were not retrieved.
    unjudged
        float64 ``[queries]``: added by retrieved unjudged documents, and by padding.
    bounded
        bool ``[queries]``: where the contributions are lower bounds of the true ones.
    """

    hits: Floats
    norm: Floats
    missed: Floats | None = None
    unjudged: Floats | None = None
    bounded: Bools | None = None


class Scored(Record):
    """One measure's scores of some queries; arrays ``[queries]``, ``status`` as :class:`Status`.

    ``weight`` is the weight that the measure gives each query, ``None`` where it gives none.
    """

    numerator: Floats
    denominator: Floats
    value: Floats
    status: Codes
    weight: Floats | None = None

    @classmethod
    def joined(cls, parts: Sequence[Scored], order: Ints) -> Scored:
        """Concatenate parts, and put their queries in the order given."""

        def column(name: str) -> Any:  # noqa: ANN401 - an array
            return np.concatenate([getattr(part, name) for part in parts])[order]

        weight = None if parts[0].weight is None else column("weight")
        return cls(
            column("numerator"),
            column("denominator"),
            column("value"),
            column("status"),
            weight,
        )

    def of(self, queries: Bools | Ints) -> Scored:
        """Return the scores of some of the queries, bool ``[queries]`` or their numbers."""
        weight = None if self.weight is None else self.weight[queries]
        value = self.value[queries]
        status = self.status[queries]
        return Scored(
            self.numerator[queries], self.denominator[queries], value, status, weight
        )

    def undefined_where(self, void: Bools) -> Scored:
        """Return the same queries, of which these have no value."""
        status = np.where(void, Status.undefined, self.status)
        return replace(self, value=np.where(void, np.nan, self.value), status=status)

    def without_value(self) -> Scored:
        """Return the same queries, none of which has a value; what is dropped stays so."""
        nothing = np.full(len(self.value), np.nan)
        status = np.where(
            self.status == Status.dropped, Status.dropped, Status.undefined
        )
        return replace(self, value=nothing, status=status.astype(np.int8))


@dataclass(frozen=True, kw_only=True)
class Measure(PerQuery):
    """A measure of rankings against judgments.

    Parameters
    ----------
    k
        Only the first ``k`` ranks count; ``None`` for the whole list.
    budget
        A cutoff by cost instead: the list ends where it exceeds a budget, as in ``R @ "tokens(2000)"``.
    agg
        How queries become one number.
    """

    #: True if the option ``empty`` says what a query without a relevant document is worth
    needs_relevant: ClassVar[bool] = True
    #: what a zero norm means when relevant documents exist
    zero_norm: ClassVar[Status] = Status.no_ideal
    #: the extras that alignment must add to the hits, such as ``frozenset({RowNumbers})``
    requires: ClassVar[frozenset[type[Key[Any]]]] = frozenset()
    #: columns of the judgments that it reads in addition to the grade
    judgment_columns: ClassVar[tuple[str, ...]] = ()
    #: columns of the query table that it reads, all of them numbers
    query_columns: ClassVar[tuple[str, ...]] = ()
    #: True if a list can end by cost, so that no norm depends on the number of ranks
    takes_budget: ClassVar[bool] = True
    #: True if a hit can count by a share, so that a budget may cut through a document
    takes_shares: ClassVar[bool] = False
    #: True if the norm is a sum over the best list, which a budget cuts by the costs of judged documents
    ideal_has_costs: ClassVar[bool] = False

    budget: Budget | None = parameter(None, "cutoff by cost, such as tokens(2000)")

    def __post_init__(self) -> None:
        """Refuse a budget besides a cutoff, and one that the measure cannot be cut by."""
        super().__post_init__()
        if self.budget is None:
            return
        if not isinstance(self.budget, Budget):
            raise BadParameter(
                f"{self.name}: budget={printable(repr(self.budget), 60)} is not a budget",
                fix=f'write {self.name} @ "tokens(2000)"',
            )
        if self.k is not None:
            raise BadParameter(
                f"{self} has two cutoffs", fix=f"write {replace(self, k=None)}"
            )
        if not self.takes_cutoff:
            raise BadParameter(f"{self.name} takes no cutoff", given=f"@{self.budget}")
        if not self.takes_budget:
            raise BadParameter(
                f"{self.name} needs the number of ranks, which a budget leaves open"
            )
        if self.budget.crossing == "fraction" and not self.takes_shares:
            raise BadParameter(
                f"{self}: {self.name} is no sum in which part of a document could count",
                expected="crossing=drop, include or skip",
            )

    # -- what a measure defines -------------------------------------------------------------
    def contributions(self, hits: Hits) -> Contributions:
        """Return the contribution of each hit, and the norm that their sum is divided by."""
        raise NotImplementedError

    def relevant_count(self, hits: Hits) -> Ints | None:
        """Return R, int64 ``[queries]``; ``None`` if the measure does not depend on relevance."""
        return hits.relevant_count(ANY_GAIN)

    @property
    def reads_grades_alone(self) -> bool:
        """True if it reads grades and ranks only, so that lists can be constructed for it."""
        return not (self.requires or self.judgment_columns or self.query_columns)

    def ideal_norm(self, _hits: Hits) -> IdealNorm | None:
        """Return the norm as a sum over the ideal list, ``None`` if it does not depend on grades."""
        return None

    def span_of(self, _hits: Hits) -> Span:
        """Return the lowest and highest possible value for these hits."""
        return self.span

    def link(self, _hits: Hits, ratio: Floats) -> Floats:
        """Return the values for ratios of sums; for nearly all measures the ratio itself."""
        return ratio

    def query_weights(self, _hits: Hits) -> Floats | None:
        """Return the weight of each query under agg=weighted; ``None`` leaves it to the user."""
        return None

    @property
    def costs(self) -> tuple[str, ...]:
        """Columns of the run that it adds up."""
        return ()

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that lists are cut by."""
        return () if self.budget is None else (self.budget,)

    # -- what is the same for all measures ------------------------------------------------------------------
    def check(
        self, ties: str, depth: int | None = None, negative: str = "unjudged"
    ) -> None:
        """Refuse options of alignment under which the measure has no known value."""
        claims = self.claims
        if self.budget is not None:
            self._check_budget(ties)
        rule = TIES[ties]
        if rule.closed_form and not claims.closed_under_ties:
            raise BadOption(
                f"{self} has no closed form for the mean over tied documents",
                fix="choose another rule for ties: docid_desc, input, …",
            )
        if rule.extremal and not (
            claims.extremal_under_ties
            and (depth is None or not claims.looks_deeper)
            and (negative != "keep" or claims.negative_is_least)
        ):
            raise BadOption(
                f"ties={ties!r}: for {self} no order of tied documents is proven extremal",
                fix="choose another rule for ties: docid_desc, expected, …",
            )

    def _check_budget(self, ties: str) -> None:
        if TIES[ties].needs_grades:
            raise BadOption(
                f"ties={ties!r} leaves open which documents {self} pays for",
                fix="choose an order of tied documents: ties=docid_desc, input, …",
            )
        unranked = any(extra.looks_deeper for extra in self.requires)
        if self.claims.looks_deeper or unranked:
            raise BadParameter(
                f"{self} reads the list below the cutoff, so a budget cannot cut it"
            )

    def limit(self, _hits: Hits) -> Cutoff | None:
        """Return the cutoff: one number, int64 ``[queries]``, or ``None`` for whole lists."""
        return self.k

    def parts(self, hits: Hits) -> tuple[Hits, Contributions]:
        """Return the hits that the measure examines, and their contributions."""
        share = None
        if self.budget is not None:
            from rankstone.hits.extras.budget_cuts import within

            hits, share = within(hits, self.budget)
        elif self.k is not None and not self.claims.looks_deeper:
            hits = hits.down_to(self.k)
        parts = self.contributions(hits)
        if share is not None:
            parts = replace(parts, hits=parts.hits * share)
        if hits.best_list is not hits.ideal and self.ideal_has_costs:
            # several cheap documents may gain more than one of the best grade
            parts = replace(parts, norm=np.maximum(parts.norm, hits.total(parts.hits)))
        return hits, parts

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Sum the contributions and divide by the norm; ``empty`` as in the alignment options."""
        # values that are not finite are refused below
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            hits, parts = self.parts(hits)
            numerator = hits.total(parts.hits)
            for added in (parts.missed, parts.unjudged):
                if added is not None:
                    numerator = numerator + added
            norm = parts.norm
            ratio = np.divide(
                numerator, norm, out=np.zeros_like(numerator), where=norm > 0
            )
            value = self.link(hits, ratio)
        status = np.zeros_like(numerator, np.int8)
        if parts.bounded is not None:
            status[parts.bounded] = Status.lower_bound
        # an ideal list of negative grades counts as zero
        status[norm <= 0] = self.zero_norm
        self._apply_empty(hits, empty, value, status)
        if not hits.found.all():
            status[
                ~hits.found & (status != Status.undefined) & (status != Status.dropped)
            ] = Status.missing
        for added in hits.extras.values():
            others = added.not_counted(self.requires)
            if others is not None:
                status[others] = Status.dropped
        without = (status == Status.undefined) | (status == Status.dropped)
        value[without] = np.nan
        if hits.has_values:
            self._check_span(hits, value, without)
        return Scored(numerator, norm, value, status, self.query_weights(hits))

    def _check_span(self, hits: Hits, value: Floats, without: Bools) -> None:
        """Refuse values outside the range of the card, and values that are not finite."""
        low, high = self.span_of(hits)
        if (
            low is not None
            and high is not None
            and low <= value.min(initial=low) <= value.max(initial=high) <= high
        ):
            return
        outside = ~np.isfinite(value) & ~without
        if low is not None:
            outside |= value < low - _ROUNDING
        if high is not None:
            outside |= value > high + _ROUNDING
        if outside.any():
            query = int(outside.argmax())
            raise OutOfRange.of(str(self), query, float(value[query]), low, high)

    def _apply_empty(
        self, hits: Hits, empty: str, value: Floats, status: Codes
    ) -> None:
        relevant = self.relevant_count(hits)
        if relevant is None:
            return
        none = relevant == 0
        if not none.any():
            return
        if empty == "error":
            raise BadOption(
                f"{queries(int(none.sum()))} without a relevant document for {self}",
                fix="choose their value: empty=zero, one, undefined or drop",
            )
        if empty in ("drop", "unanswerable"):
            status[none] = Status.dropped
        if not self.needs_relevant:
            return
        if empty in ("zero", "one"):
            status[none] = Status.no_relevant
            value[none & hits.found] = 1.0 if empty == "one" else 0.0
        elif empty == "undefined":
            status[none] = Status.undefined


class OfWholeLists:
    """Mixin before a measure that takes no cutoff, and has no value where its norm is zero."""

    takes_cutoff: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    zero_norm: ClassVar[Status] = Status.undefined


class IdealNorm(Record):
    """A norm ``rest + Σ_{r ≤ depth} w(r) · g_r`` over the gains g_1 ≥ g_2 ≥ … of the ideal list.

    Attributes
    ----------
    gains
        Gains of the known ideal list, best first.
    gain
        The gain of each grade, vectorised.
    weight
        w: the weight of each ideal rank, vectorised.
    depth
        How deep the ideal list goes: one number, int64 ``[queries]``, or ``None``.
    made_of
        Whose gains the ideal list holds: all ``judged`` documents, those of the ``list``, or those
        above the ``cutoff``.
    rest
        The part that does not depend on grades: one number, or float64 ``[queries]``.
    """

    gains: Ideal
    gain: Callable[[Floats], Floats]
    weight: Callable[[Ints], Floats]
    depth: Cutoff | None = None
    made_of: str = "judged"
    rest: Floats | float = 0.0
