"""One share of the work: the lists of some queries along the road."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankstone.beside import check_queries
from rankstone.hits.exclusion import LeftOut
from rankstone.hits.judgments import Judgments
from rankstone.measures.base import ANY_GAIN
from rankstone.road import in_order
from rankstone.tasks.trailer import Trailer

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools
    from rankstone.io import Table
    from rankstone.road import Road
    from rankstone.scores import RunScores

__all__ = ["Share", "scored_share"]


class Share(NamedTuple):
    """What a share came to.

    Attributes
    ----------
    scores
        Of its queries.
    judged
        bool ``[queries]``: which of them somebody judged.
    trailer
        What there is to add up over all shares.
    """

    scores: RunScores
    judged: Bools
    trailer: Trailer


def scored_share(road: Road, table: Table) -> Share:
    """Take the lists of some queries along the road, whose judgments are those of the same queries.

    Parameters
    ----------
    road
        What to compute, and the judgments.
    table
        All rows of these queries; perhaps none.
    """
    judgments = road.truth
    assert isinstance(judgments, Judgments)  # noqa: S101 - an internal promise, not user input
    parts, lists = road.aligned(table, road.measure)
    codes = np.concatenate([part.codes for part in parts])[in_order(parts)]
    scores = road.assemble(parts, last=True)
    asked = None
    if road.queries is not None:
        found = check_queries(road.queries, road.measures, judgments.queries.names)
        asked = {"known": found.rows - found.unknown, "missing": found.missing}
    tallies = [part.tally for part in parts if part.tally is not None]
    trailer = Trailer.of(
        road.measures,
        scores,
        tallies,
        int((~lists.seen).sum()),
        lists.unjudged(),
        _told_of(judgments),
        asdict(judgments.given),
        asked,
        LeftOut.of(road.exclude, tallies),
    )
    return Share(scores, codes >= 0, trailer)


def _told_of(judgments: Judgments) -> dict[str, int]:
    return {
        "queries": len(judgments.queries),
        "judgments": len(judgments.grade),
        "negative": judgments.negative,
        "duplicates": judgments.duplicates,
        "empty": int((judgments.ideal.relevant_count(ANY_GAIN) == 0).sum()),
        "declared": judgments.declared,
        "excluded": judgments.excluded,
        "excluded_relevant": judgments.excluded_relevant,
        "several_subtopics": 0 if judgments.groups is None else judgments.groups.several(),
    }
