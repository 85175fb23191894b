"""Shares of the work: the road for some of the queries, and what shares tell of theirs.

Comes in: a road and the lists of some queries, all rows of each.  Goes out: their scores, and a trailer of
counts and exact sums; trailers add up in any order, so means and audits have the digits of one machine that
saw everything.  Knows neither where shares are worked on nor who made them.
"""

from __future__ import annotations

from rankstone.tasks.refusing import pads, refuse_what_looks_at_others
from rankstone.tasks.result import Origin, SummedScores, check_met
from rankstone.tasks.share import Share, scored_share
from rankstone.tasks.trailer import Trailer

__all__ = [
    "Origin",
    "Share",
    "SummedScores",
    "Trailer",
    "check_met",
    "pads",
    "refuse_what_looks_at_others",
    "scored_share",
]
