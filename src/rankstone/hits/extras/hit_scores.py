"""Scores of hits, for measures that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import Arrays

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.matched_batch import MatchedBatch


class ScoresOfHits(Arrays):
    """The score of each hit in the run, float64 ``[hits]``."""

    score: Floats


class HitScores(Extra[ScoresOfHits]):
    """Adds the score of each hit."""

    grades_decide = False

    def attach(self, work: MatchedBatch) -> ScoresOfHits | None:
        """Return the scores, where lists are ordered by them."""
        key = work.batch.key
        return None if key is None else ScoresOfHits(score=key[work.hit_rows])
