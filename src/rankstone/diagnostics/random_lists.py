"""Lists drawn at random: some of all the documents that a query could have retrieved, in any order.

A list of n documents drawn from N is the first n ranks of a random order of all N.  The mean of measures
whose value is a sum over ranks is computed as over ties.  For all others it is the mean over the possible
numbers of documents of each grade in a list, of their mean over ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import BadParameter
from rankstone.evaluation.scores import uncounted
from rankstone.hits.extras.candidate_counts import CandidateCounts, NumbersOfCandidates
from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import (
    Ideal,
    divided,
    list_numbers,
    offsets_of,
    ragged_range,
    sums,
)
from rankstone.hits.tie_rules import TIES
from rankstone.measures.core.measure import Scored, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Sized

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.list_arrays import Cutoff
    from rankstone.measures.core.measure import Measure


#: rules (``Claims.bounds_by``) of measures whose value is a sum over ranks
_BY_RANK: Final = frozenset({"additive", "first", "precisions"})
#: the most grades in memory; if lists can be composed in more ways, there is no value
_MOST: Final = 4_000_000


class RandomLists(Record):
    """Kinds of random lists, and the kind of each query.

    Attributes
    ----------
    ideal
        All judged grades of each kind, best first.
    depth
        int64 ``[kinds]``: the number of documents in the list.
    candidates
        The number of documents to draw from.
    lowest_grade
        The bottom of the grade scale.
    kind
        int64 ``[queries]``: the kind of each query; those of one kind have the same grades and depth.
    """

    ideal: Ideal
    depth: Ints
    candidates: int
    lowest_grade: float
    kind: Ints

    @classmethod
    def of(
        cls, judgments: Judgments, query: Ints, depth: Ints, candidates: int
    ) -> RandomLists:
        """Return random lists of the same size as those of queries.

        Parameters
        ----------
        judgments
            All grades.
        query
            int64 ``[queries]``: the queries' numbers in the judgments, -1 without judgments.
        depth
            int64 ``[queries]``: the size of their lists.
        candidates
            The number of documents to draw from.

        Raises
        ------
        BadParameter
            If a query has more judged documents than candidates.
        """
        ends = judgments.ideal.offsets
        grade = judgments.ideal.grade
        begin = np.where(query < 0, 0, ends[query])
        end = np.where(query < 0, 0, ends[query + 1])
        _refuse_few(candidates, end - begin)

        # queries with the same grades and size are of one kind
        keys = [
            (grade[first:last].tobytes(), int(size))
            for first, last, size in zip(begin, end, depth, strict=True)
        ]
        distinct = dict.fromkeys(keys)
        number = {key: kind for kind, key in enumerate(distinct)}
        kinds = np.array([number[key] for key in keys], np.int64)
        depths = np.array([size for _, size in number], np.int64)
        grades = [np.frombuffer(grades) for grades, _ in number]
        offsets = offsets_of(_lengths(grades))
        ideal = Ideal(offsets, np.concatenate([np.empty(0), *grades]))
        return cls(ideal, depths, candidates, judgments.lowest_grade, kinds)

    def score(self, measure: Measure, word: str, empty: str) -> Scored | None:
        """Score the lists for each query.

        Parameters
        ----------
        measure
            A measure that needs only grades and ranks.
        word
            ``expected``: the mean over all lists.  Those without a value do not count, unless one of them
            makes the mean undefined.  ``best``, ``worst``: that of the best or worst list.
        empty
            As in the alignment options.

        Returns
        -------
        Scored or None
            ``None`` if there are too many possible lists, or no list is proven to be the extreme.
        """
        sums_up = self._adds_over_ranks(measure)
        rule = TIES[word]
        if rule.closed_form:
            if sums_up:
                lists = self._in_any_order()
                return measure.score(lists, empty).of(self.kind)
            every = self._possible
            if every is None:
                return None
            return every.mean(measure, empty).of(self.kind)
        if not (sums_up or (self.depth == self.candidates).all()):
            return None
        lists = self._by_grade(best=rule.descending)
        return measure.score(lists, empty).of(self.kind)

    def _adds_over_ranks(self, measure: Measure) -> bool:
        """Return True if the value is a sum over ranks of the list, and deeper documents have no effect."""
        claims = measure.claims
        if claims.looks_deeper:
            return False
        if claims.bounds_by in _BY_RANK:
            return True
        return measure.k is not None and bool((self.depth >= measure.k).all())

    def _in_any_order(self) -> Hits:
        """Return lists in which every judged document may be at any rank, or below the end."""
        ideal = self.ideal
        last = np.full(len(ideal.grade), self.candidates)
        places = ideal.rank, np.ones_like(last), last
        count = np.diff(ideal.offsets)
        return self._lists(_Open, ideal, self.depth, count, ideal.grade, places)

    def _by_grade(self, *, best: bool) -> Hits:
        """Return lists with the highest grades first; or with unjudged documents, then the lowest grades."""
        ideal = self.ideal
        judged = np.diff(self.ideal.offsets)
        rank = ideal.rank
        grade = ideal.grade
        if not best:
            ends = ideal.offsets[1:]
            grade = grade[ends[ideal.query] - rank]
            unjudged = self.candidates - judged
            rank = rank + unjudged[ideal.query]
        inside = rank <= self.depth[ideal.query]
        places = (rank[inside],) * 3
        count = ideal.count(inside)
        return self._lists(Hits, ideal, self.depth, count, grade[inside], places)

    @cached_property
    def _possible(self) -> _Possible | None:
        """Return the possible lists and their probabilities; ``None`` if there are too many."""
        kinds = []
        ranges = pairwise(self.ideal.offsets)
        for (begin, end), depth in zip(ranges, self.depth.tolist(), strict=True):
            kinds.append(_Kind.of(self.ideal.grade[begin:end], depth))
        if sum(kind.size for kind in kinds) > _MOST:
            return None

        ways = []
        grades = []
        chances = []
        for kind in kinds:
            counts = kind.ways(self.candidates)
            ways.append(counts)
            repeated = np.tile(kind.grade, len(counts))
            grades.append(np.repeat(repeated, counts.ravel()))
            chances.append(kind.chance(counts, self.candidates))
        number = list_numbers(_lengths(ways))
        size = np.concatenate([counts.sum(axis=1) for counts in ways])
        grade = np.concatenate(grades)

        judged = np.diff(self.ideal.offsets)[number]
        begin = self.ideal.offsets[number]
        ideal_grades = self.ideal.grade[ragged_range(begin, judged)]
        ideal = Ideal(offsets_of(judged), ideal_grades)
        depths = self.depth[number]
        rank = ragged_range(np.ones_like(size), size)
        first = np.ones(len(grade), np.int64)
        places = rank, first, np.repeat(depths, size)
        lists = self._lists(Hits, ideal, depths, size, grade, places)
        return _Possible(lists, number, np.concatenate(chances))

    def _lists(
        self,
        made: type[Hits],
        ideal: Ideal,
        depth: Ints,
        size: Ints,
        grade: Floats,
        places: Sequence[Ints],
    ) -> Hits:
        """Return lists of judged documents; places are ranks, first and last ranks of tie blocks."""
        rank, first, last = places
        candidates = np.full(len(depth), self.candidates)
        return made(
            offsets=offsets_of(size),
            rank=rank,
            grade=grade,
            first=first,
            last=last,
            judged=np.ones(len(grade), bool),
            n=depth,
            length=depth,
            ideal=ideal,
            found=depth > 0,
            expected=first is not rank,
            lowest_grade=self.lowest_grade,
            extras={CandidateCounts: NumbersOfCandidates(count=candidates)},
        )


@dataclass(frozen=True, eq=False)
class _Open(Hits):
    """Hits that are in their list by chance, and otherwise below its end."""

    def over_places(
        self,
        value: Callable[[Ints, Ints | slice], Floats],
        k: Cutoff | None = None,
        among: Bools | None = None,
    ) -> Floats:
        """Return the mean value of hits over all ranks; it is 0 below the end."""
        return super().over_places(value, self._inside(k), among)

    def first_of(
        self, mask: Bools, value: Callable[[Ints], Floats], k: Cutoff | None
    ) -> Floats:
        """Return the mean value of the first masked hit; it is 0 below the end."""
        return super().first_of(mask, value, self._inside(k))

    def _inside(self, k: Cutoff | None) -> Ints:
        return self.length if k is None else np.minimum(self.length, k)


class _Possible(NamedTuple):
    """Possible lists, the kind of each, and its probability among the lists of that kind."""

    hits: Hits
    kind: Ints
    chance: Floats

    def mean(self, measure: Measure, empty: str) -> Scored:
        """Return the mean over the lists of each kind that have a value."""
        scored = measure.score(self.hits, empty)
        kinds = int(self.kind[-1]) + 1
        counted = ~np.isin(scored.status, uncounted(undefined_propagates=False))
        first = np.lexsort((scored.status, ~counted, self.kind))
        first = first[np.searchsorted(self.kind, np.arange(kinds))]
        weight = np.where(counted, self.chance, 0.0)
        whole = sums(self.kind, weight, kinds)

        def mean(values: Floats) -> Floats:
            weighted = weight * np.where(counted, values, 0.0)
            return divided(sums(self.kind, weighted, kinds), whole, np.nan)

        means = Scored(
            mean(scored.numerator),
            mean(scored.denominator),
            mean(scored.value),
            scored.status[first],
        )
        if not measure.undefined_propagates:
            return means
        uncounted_chance = np.where(counted, 0.0, self.chance)
        undefined = sums(self.kind, uncounted_chance, kinds) > 0
        status = np.where(undefined, Status.undefined, means.status)
        return replace(
            means,
            value=np.where(undefined, np.nan, means.value),
            status=status.astype(np.int8),
        )


class _Kind(Record):
    """Grades, best first, the number of documents with each, and the length of a list."""

    grade: Floats
    count: Ints
    depth: int

    @classmethod
    def of(cls, grades: Floats, depth: int) -> _Kind:
        """Count the grades."""
        grade, count = np.unique(grades, return_counts=True)
        return cls(grade[::-1], count[::-1], depth)

    @property
    def sizes(self) -> list[int]:
        """The number of possible counts of each grade."""
        return [min(count, self.depth) + 1 for count in self.count.tolist()]

    @property
    def size(self) -> int:
        """An upper limit on the number of grades in all possible lists."""
        return math.prod(self.sizes, start=int(self.count.sum()) + 1)

    def ways(self, candidates: int) -> Ints:
        """Return the possible numbers of documents of each grade, int64 ``[ways, grades]``."""
        shape = len(self.sizes), math.prod(self.sizes)
        every = np.indices(self.sizes).reshape(shape).T
        left = self.depth - every.sum(axis=1)
        others = candidates - self.count.sum()
        ways: Ints = every[(left >= 0) & (left <= others)]
        return ways

    def chance(self, ways: Ints, candidates: int) -> Floats:
        """Return the probability of each way: the multivariate hypergeometric distribution."""
        others = candidates - self.count.sum()
        left = self.depth - ways.sum(axis=1)
        of_judged = _log_choose(self.count, ways).sum(axis=1)
        log = of_judged + _log_choose(others, left)
        share: Floats = np.exp(log - log.max())
        share /= share.sum()
        return share


def _log_choose(n: Ints, k: Ints) -> Floats:
    """Return the logarithms of binomial coefficients."""
    from scipy.special import betaln

    log: Floats = -betaln(n - k + 1, k + 1) - np.log1p(n)
    return log


def _lengths(arrays: Sequence[Sized]) -> Ints:
    return np.array([*map(len, arrays)], np.int64)


def _refuse_few(candidates: int, judged: Ints) -> None:
    """Refuse fewer candidates than a query has judged documents."""
    if len(judged) and judged.max() > candidates:
        raise BadParameter(
            f"candidates={candidates} are fewer than the judged documents of a query",
            given=f"{counted(int(judged.max()), 'judged document')}",
            fix="candidates is the number of documents that each query could have retrieved",
        )
