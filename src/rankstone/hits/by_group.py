"""Each group of a query (subtopic, intent, assessor) as a query of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.arrays import offsets_of

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats, Ints
    from rankstone.hits.ragged import Hits

__all__ = ["ByGroup", "by_group"]


@dataclass(frozen=True, eq=False)
class ByGroup:
    """The hits of each group of a query, as if the group were a query.

    Attributes
    ----------
    hits
        Hits of the groups: the list's ranks, the group's grades.
    of_hit
        int64 ``[group hits]``: the hit that each stands for.
    query
        int64 ``[groups]``: the query that each group belongs to.
    weight
        float64 ``[groups]``.
    """

    hits: Hits
    of_hit: Ints
    query: Ints
    weight: Floats


def by_group(hits: Hits) -> ByGroup:
    """Return hits in which each group of a query is a query of its own; made once for these hits.

    Documents nobody judged belong to no group, whatever grade was imputed to them.
    """
    return hits.remember("by group", lambda: _by_group(hits))


def _by_group(hits: Hits) -> ByGroup:
    pool, member = hits.judged_documents()
    groups = pool.groups
    assert groups is not None  # noqa: S101 - alignment brings them to measures that ask
    known = np.flatnonzero(member >= 0)
    entries, of_known = groups.entries(member[known])
    of_hit = known[of_known]
    own = groups.starts[hits.query[of_hit]] + groups.code[entries]
    order = np.argsort(own, kind="stable")
    entries, of_hit, own = entries[order], of_hit[order], own[order]
    query = np.repeat(np.arange(hits.queries), np.diff(groups.starts))
    count = int(groups.starts[-1])
    of_groups = replace(
        hits,
        offsets=offsets_of(np.bincount(own, minlength=count)),
        rank=hits.rank[of_hit],
        grade=groups.grade[entries],
        first=hits.first[of_hit],
        last=hits.last[of_hit],
        judged=hits.judged[of_hit],
        n=hits.n[query],
        length=hits.length[query],
        ideal=pool.group_ideal,
        found=hits.found[query],
        candidates=None if hits.candidates is None else hits.candidates[query],
        run_row=None if hits.run_row is None else hits.run_row[of_hit],
        judgment_row=None if hits.judgment_row is None else hits.judgment_row[of_hit],
        member=None,
        pool=None,
        pooled=None,
        holes=None,
        about={name: values[query] for name, values in hits.about.items()},
        notes=None,
        _memo={},
    )
    return ByGroup(of_groups, of_hit, query, groups.weight)
