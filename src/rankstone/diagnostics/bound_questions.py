"""The problem that bounds solve: the value of one run, or the difference of two, for any grades of the holes.

Here, too: which rule a measure's claims allow, and which measures and options have no bounds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.diagnostics.filled_lists import scored
from rankstone.errors import BadOption, BadParameter
from rankstone.hits.alignment_options import recorded_value
from rankstone.hits.list_arrays import list_numbers, offsets_of, ragged_range
from rankstone.hits.tie_rules import TIES
from rankstone.measures.core.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.diagnostics.lists_with_holes import ListsWithHoles
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.measures.core.measure import Measure


class Question(Record):
    """One run's lists, or two runs' lists of the same queries and the difference of their values.

    Attributes
    ----------
    sides
        The lists of each run.  All have the same holes: a document that only one run retrieves is, for the
        other, a hole outside its list.
    places
        int64 ``[holes]`` for each side: the number within its query that each hole has there.  Holes
        are laid end to end, query by query, in the order of the first side.
    """

    sides: tuple[ListsWithHoles, ...]
    places: tuple[Ints, ...]

    @classmethod
    def of(cls, lists: ListsWithHoles) -> Question:
        """Return the problem of one run's value."""
        starts = np.zeros_like(lists.holes)
        places = ragged_range(starts, lists.holes)
        return cls((lists,), (places,))

    def cut_for_measure(self, measure: Measure) -> Question:
        """Return the problem with only the holes that a measure uses in either list."""
        sides = [side.cut_for_measure(measure) for side in self.sides]
        inside = [
            places < side.holes[self.query]
            for side, places in zip(sides, self.places, strict=True)
        ]
        kept = np.flatnonzero(np.logical_or.reduce(inside))
        query = self.query[kept]
        counts = np.bincount(query, minlength=len(self.holes))
        return Question(
            tuple(replace(side, holes=counts) for side in sides),
            tuple(
                numbered(places[kept], ~shown[kept], query, side.holes)
                for side, places, shown in zip(sides, self.places, inside, strict=True)
            ),
        )

    @property
    def holes(self) -> Ints:
        """Holes of each query, int64 ``[queries]``."""
        return self.sides[0].holes

    @cached_property
    def starts(self) -> Ints:
        """Where each query's holes begin, int64 ``[queries + 1]``."""
        return offsets_of(self.holes)

    @cached_property
    def query(self) -> Ints:
        """The query of each hole, int64 ``[holes]``."""
        return list_numbers(self.holes)

    def value(self, measure: Measure, query: Ints, grade: Floats) -> Floats:
        """Return the values of copies of queries with these grades for their holes, float64 ``[copies]``."""
        holes = self.holes[query]
        begin = np.cumsum(holes) - holes
        begin = np.repeat(begin, holes)
        hole = ragged_range(self.starts[query], holes)
        values: list[Floats] = []
        for side, places in zip(self.sides, self.places, strict=True):
            arranged = np.empty(len(grade))
            arranged[begin + places[hole]] = grade
            scores = scored(side, measure, query, arranged)
            values.append(scores.value)
        return less(values)

    def by_hole(self, numbers: Sequence[Floats]) -> Floats:
        """Return each hole's number, minus that of the other side if there are two."""
        start = np.repeat(self.starts[:-1], self.holes)
        sides = zip(numbers, self.places, strict=True)
        return less([values[start + places] for values, places in sides])

    def has_equal_sides(self, measure: Measure) -> Bools:
        """Return True for queries in which both lists are the same for a measure, bool ``[queries]``.

        The same documents at the same ranks (judged ones with the same grades) have the same value under
        every assignment.
        """
        sides = [side.for_measure(measure) for side in self.sides]
        first, second = sides
        lengths = np.diff(first.offsets)
        same: Bools = lengths == np.diff(second.offsets)
        for name in ("n", "length", "found"):
            values = getattr(first.hits, name)
            same &= np.equal(values, getattr(second.hits, name))

        queries = np.flatnonzero(same)
        lengths = lengths[queries]
        shown = []
        for which, side in enumerate(sides):
            entries = ragged_range(side.offsets[queries], lengths)
            shown.append(self._shown(side, which, entries))
        differs = np.zeros(int(lengths.sum()), bool)
        for column, other in zip(*shown, strict=True):
            differs |= column != other
        same[np.repeat(queries, lengths)[differs]] = False
        return same

    def _shown(
        self, side: ListsWithHoles, which: int, entries: Ints
    ) -> tuple[Ints | Floats, ...]:
        """Return the columns of entries: rank, tie block, judged grade, and the number of the hole."""
        number = np.empty(len(self.query), np.int64)
        places = self.starts[self.query] + self.places[which]
        number[places] = np.arange(len(number))

        hole = side.hole[entries]
        is_hole = hole >= 0
        at_hole = self.starts[side.query[entries]] + hole
        document = np.full(len(entries), -1)
        document[is_hole] = number[at_hole[is_hole]]
        grade = np.where(is_hole, 0.0, side.grade[entries])
        return (
            side.rank[entries],
            side.first[entries],
            side.last[entries],
            grade,
            document,
        )


def less(sides: Sequence[Floats]) -> Floats:
    """Return the first side's numbers, minus the second's if there are two."""
    if len(sides) == 1:
        return sides[0]
    first, second = sides
    return first - second


def numbered(places: Ints, outside: Bools, query: Ints, listed: Ints) -> Ints:
    """Return the numbers of a side's holes: those in its list as they are, the others behind them.

    Parameters
    ----------
    places, outside, query
        For each hole, queries ascending: its number, whether it is outside the list (the number
        is not used then), and its query.
    listed
        int64 ``[queries]``: holes in the list.
    """
    number = places.copy()
    query = query[outside]
    begin = np.searchsorted(query, np.arange(len(listed)))
    behind = np.arange(len(query)) - begin[query]
    number[outside] = listed[query] + behind
    return number


#: rules that a measure may claim, see docs/bounds.md
RULES: Final = (
    "enumeration",
    "multisets",
    "counts",
    "uniform",
    "first",
    "additive",
    "precisions",
)
#: methods that claims are about: a class that overrides one of these must state its own claims
_SUBJECTS: Final = ("contributions", "link", "score")
#: options under which a grade changes more than the gain of its document
_REFUSED: Final = {
    "ties": {
        word: "the order of tied documents"
        for word, rule in TIES.items()
        if rule.extremal
    },
    "duplicates": dict.fromkeys(("keep", "keep_judged"), "the value of several ranks"),
    "negative": {"keep": "gains below zero"},
    "empty": {"one": "whether a query without a relevant document scores 1"},
}


def rule_of(measure: Measure) -> str:
    """Return the rule for the bounds of a measure."""
    return _effective_claims(measure).bounds_by


def all_grades_matter(measure: Measure) -> bool:
    """Return True if the grade of any document may matter, and not only of those down to the cutoff."""
    return _effective_claims(measure).deeper_grades_matter


def _effective_claims(measure: Measure) -> Claims:
    """Return the claims that apply to the measure's contributions.

    A class that overrides contributions but inherits claims has no claims about its contributions.
    """
    for kind in type(measure).__mro__:
        if "claims" in vars(kind):
            return measure.claims
        if any(subject in vars(kind) for subject in _SUBJECTS):
            break
    return Claims()


def check_options(options: AlignmentOptions) -> None:
    """Refuse options without bounds."""
    if options.unjudged != "nonrelevant":
        raise BadOption(
            f"unjudged={recorded_value(options.unjudged)} grades unjudged documents; bounds try every grade",
            fix="leave the option out",
        )
    for name, refused in _REFUSED.items():
        value = getattr(options, name)
        if value in refused:
            raise BadOption(
                f"{name}={value}: a grade would also change {refused[value]}, so bounds are not known",
                fix=f"choose another value of {name}",
            )


def check_measure(measure: Measure) -> None:
    """Refuse a measure without bounds."""
    rule = measure.claims.bounds_by
    if rule not in (*RULES, "nothing"):
        raise BadParameter(
            f"{measure}: there is no rule {rule!r} for bounds",
            expected=", ".join(RULES),
        )
    if rule == "nothing":
        raise BadParameter(
            f"{measure} measures which documents are judged, so there is nothing to bound",
            fix="use rankstone eval for it (in Python rankstone.evaluate)",
        )
    if measure.budget is not None:
        raise BadParameter(
            f"{measure}: bounds are not computed for budgets",
            fix=f"use a cutoff by rank: {str(measure).rpartition('@')[0]}@10",
        )
    if (
        any(extra.reads_pool for extra in measure.requires)
        or measure.judgment_columns
        or measure.query_columns
    ):
        raise BadParameter(
            f"{measure} needs more of a document than a grade, so bounds over grades are not enough"
        )
    if measure.agg in ("pooled", "weighted"):
        raise BadParameter(
            f"{measure}: under agg={measure.agg} queries cannot be bounded one by one",
            fix="use agg=mean, sum, median, gmean or trimmed",
        )
