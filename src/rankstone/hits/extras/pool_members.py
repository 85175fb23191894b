"""All judged documents of each query, retrieved or not, and which of them each hit is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone._basics import Record
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import HitValue
from rankstone.hits.judgments import Judgments
from rankstone.hits.list_arrays import Ideal, descending_within

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import Groups, Pool
    from rankstone.hits.matched_batch import MatchedBatch


class MembersOfPool(Record, HitValue):
    """The pool of judged documents, and the hits in it.

    Attributes
    ----------
    pool
        All judged documents of the same queries.
    member
        int64 ``[hits]``: each hit's index in the pool, -1 where its grade was imputed.
    """

    pool: Pool
    member: Ints

    @property
    def groups(self) -> Groups:
        """The judgments by group."""
        groups = self.pool.groups
        assert groups is not None  # noqa: S101 - measures that ask for groups have judgments by group
        return groups

    def taken(self, hits: Ints, queries: Ints | None = None) -> Self | None:
        """Return the same pool for some of the hits; it is that of all queries."""
        return replace(self, member=self.member[hits]) if queries is None else None

    def column(self, name: str, imputed: float = math.nan) -> Floats:
        """Return a further column of the judgments for every hit, float64 ``[hits]``.

        Parameters
        ----------
        name
            The column.
        imputed
            The value for hits without a judgment, whose grade was imputed.
        """
        return self.by_hit(self.pool.columns[name], imputed)

    def by_hit(self, values: Floats, imputed: float = 0.0) -> Floats:
        """Return values of judged documents, float64 ``[judged]``, for every hit."""
        known = self.member >= 0
        by_hit = np.full(len(self.member), imputed)
        by_hit[known] = values[self.member[known]]
        return by_hit


class PoolMembers(Extra[MembersOfPool]):
    """Adds the pool of judged documents."""

    reads_pool = True

    def attach(self, work: MatchedBatch) -> MembersOfPool | None:
        """Return the pool of the queries of a batch, and which of its documents each hit is."""
        if not isinstance(work.judgments, Judgments):
            return None
        codes = work.batch.codes
        pool = work.judgments.pool.take(codes)
        lists = work.hit_lists
        pair = work.hit_pairs
        starts = work.judgments.pairs.offsets[codes[lists]]
        member = np.where(pair >= 0, pool.offsets[lists] + pair - starts, -1)
        return MembersOfPool(pool, member)


class JudgmentGroups(Extra[None]):
    """Asks for judgments by group: subtopics, intents or assessors, which the pool then holds."""

    judgment_columns = ("subtopic",)


def regraded(hits: Hits, grade: Floats) -> Hits:
    """Return the same hits and ideal lists under other grades, float64 ``[judged]`` as in the pool."""
    members = hits.added(PoolMembers)
    ideal = Ideal(members.pool.offsets, descending_within(members.pool.query, grade))
    return replace(hits, grade=members.by_hit(grade), ideal=ideal, _memo={})
