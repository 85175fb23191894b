"""What judgments prefer to what: every pair of documents of which some judgment group found one better."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadValue
from rankstone.hits.pairs import ragged_range

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["Judged", "Limits", "Pairs", "preferences"]

#: a place behind every list, for documents that were not retrieved
_NOWHERE: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Judged:
    """The documents of each judgment group, retrieved ones first, in rank order, then by their ids.

    Attributes
    ----------
    group, doc
        int64 ``[judgments]``: group, counted through all queries, and place in the pool.
    relevant
        bool ``[judgments]``: whether the group gave it a grade above 0.
    several
        bool ``[groups]``: whether the group has several subgroups.
    """

    group: Ints
    doc: Ints
    relevant: Bools
    several: Bools

    @cached_property
    def place_among_nonrelevant(self) -> Ints:
        """How many documents of grade 0 the group has before each judgment, int64 ``[judgments]``."""
        through = np.cumsum(~self.relevant)
        heads = np.flatnonzero(np.diff(self.group, prepend=-1))
        before = np.concatenate(([0], through))[heads]
        own: Ints = through - ~self.relevant
        place: Ints = own - np.repeat(before, np.diff(heads, append=len(self.group)))
        return place


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every preference of some judgment groups for one document over another.

    Attributes
    ----------
    group
        int64 ``[preferences]``: the judgment group, counted through all queries.
    winner, loser
        int64 ``[preferences]``: the documents, by their place in the pool.
    query
        int64 ``[groups]``: the query of each group.
    place
        int64 ``[pool]``: the rank of each judged document, or one behind every list.
    shown
        bool ``[pool]``: whether it was retrieved.
    judged
        What each group judged.
    """

    group: Ints
    winner: Ints
    loser: Ints
    query: Ints
    place: Ints
    shown: Bools
    judged: Judged

    @cached_property
    def fulfilled(self) -> Bools:
        """Whether the better document was retrieved, and above the other one if that was, too."""
        return self.shown[self.winner] & (self.place[self.winner] < self.place[self.loser])

    def judged_by(self, when: str) -> Bools:
        """Return which preferences count: all (``any``), or those with one or ``both`` retrieved."""
        one, other = self.shown[self.winner], self.shown[self.loser]
        return {"any": np.ones(len(one), bool), "one": one | other, "both": one & other}[when]


def preferences(hits: Hits, *, within_subgroups: bool) -> Pairs:
    """Return the preferences that the judgments express.

    Within a group (or, where asked for, a subgroup) every document is preferred to all of a lower
    grade.  What a group's subgroups say is put together: a over b and b over c is a over c.
    """
    pool, member = hits.pool, hits.member
    assert pool is not None  # noqa: S101 - alignment brings it to measures that ask
    assert member is not None  # noqa: S101 - the same
    groups = pool.groups
    assert groups is not None  # noqa: S101 - the same
    query = np.repeat(np.arange(hits.queries), np.diff(groups.starts))
    entries = pool.entries
    order = np.lexsort((-entries.grade, entries.group))
    doc, group, grade = entries.doc[order], entries.group[order], entries.grade[order]
    place = np.full(len(pool.grade), _NOWHERE)
    known = np.flatnonzero(member >= 0)
    place[member[known]] = hits.rank[known]
    ends = np.cumsum(np.bincount(group, minlength=len(query)))
    fresh = np.ones(len(doc), bool)
    fresh[1:] = (group[1:] != group[:-1]) | (grade[1:] != grade[:-1])
    lower = np.append(np.flatnonzero(fresh)[1:], len(doc))[np.cumsum(fresh) - 1]
    counts = ends[group] - lower
    winner, loser, of = np.repeat(doc, counts), doc[ragged_range(lower, counts)], np.repeat(group, counts)
    several = np.zeros(len(query), bool)
    if within_subgroups and groups.parent is not None:
        packed = (query << 32) | groups.parent
        parents, whole, parts = np.unique(packed, return_inverse=True, return_counts=True)
        of, winner, loser = _closed(whole[of], winner, loser, len(pool.grade))
        group, query, several = whole[group], parents >> 32, parts > 1
    # a document may stand in several subgroups of a group: it is judged once
    order = np.lexsort((-grade, pool.id_order[doc], place[doc], group))
    group, doc, grade = group[order], doc[order], grade[order]
    once = np.ones(len(doc), bool)
    once[1:] = (group[1:] != group[:-1]) | (doc[1:] != doc[:-1])
    judged = Judged(group[once], doc[once], grade[once] > 0, several)
    return Pairs(of, winner, loser, query, place, place < _NOWHERE, judged)


def _closed(group: Ints, winner: Ints, loser: Ints, docs: int) -> tuple[Ints, Ints, Ints]:
    """Add what follows from two preferences of a group, until nothing does."""
    known = np.unique((group * docs + winner) * docs + loser)
    while True:
        head, loser = np.divmod(known, docs)
        tails = (head // docs) * docs + loser
        first = np.searchsorted(head, tails)
        counts = np.searchsorted(head, tails, side="right") - first
        follows = np.repeat(head, counts) * docs + loser[ragged_range(first, counts)]
        more = np.union1d(known, follows)
        if len(more) == len(known):
            break
        known = more
    group, winner = np.divmod(head, docs)
    if (winner == loser).any():
        raise BadValue(
            "preferences of one judgment group contradict each other",
            expected="no document better than itself, directly or by way of others",
            fix="give assessors who disagree judgment groups of their own",
        )
    return group, winner, loser


@dataclass(frozen=True, eq=False)
class Limits:
    """What it takes to let each group's documents of grade 0 be as many as its relevant ones.

    Attributes
    ----------
    limit
        Documents of grade 0 that stay, int64 ``[groups]``.
    virtual
        Preferences that each retrieved relevant document wins over documents of grade 0 that are lacking.
    possible
        Preferences possible beside those between judged documents.
    slipped
        trec_eval also compares documents of grade 0 with each other: how many of these pairs it calls
        fulfilled.
    """

    limit: Ints
    virtual: Ints
    possible: Ints
    slipped: Ints

    @classmethod
    def of(cls, pairs: Pairs, when: str, *, as_trec_eval: bool) -> Limits:
        """Count what each group has of either kind (retrieved, where both documents must be)."""
        judged, groups = pairs.judged, len(pairs.query)

        def count(mask: Bools) -> Ints:
            return np.bincount(judged.group, mask, groups).astype(np.int64)

        shown = pairs.shown[judged.doc]
        every = count(judged.relevant)
        counted = shown if when == "both" else np.ones(len(shown), bool)
        relevant, others = count(judged.relevant & counted), count(~judged.relevant & counted)
        virtual = np.maximum(relevant - others, 0)
        if not as_trec_eval:
            return cls(relevant, virtual, relevant * virtual, np.zeros(groups, np.int64))
        slips = ~judged.several & (relevant < others)
        reached = np.minimum(relevant, count(~judged.relevant & shown))
        above = reached * (reached - 1) // 2 + np.maximum(relevant - reached, 0) * reached
        return cls(
            limit=np.where(judged.several, every, relevant),
            virtual=virtual,
            possible=every * virtual + np.where(slips, relevant * others, 0),
            slipped=np.where(slips, above, 0),
        )

    def dropped(self, pairs: Pairs) -> Bools:
        """Return which preferences are over a document of grade 0 beyond the limit."""
        judged, docs = pairs.judged, len(pairs.place)
        beyond = ~judged.relevant & (judged.place_among_nonrelevant >= self.limit[judged.group])
        out = np.sort(judged.group[beyond] * docs + judged.doc[beyond])
        return np.isin(pairs.group * docs + pairs.loser, out)
