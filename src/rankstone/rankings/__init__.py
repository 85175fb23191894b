"""Rankings: whole lists, with or without judgments.

``rank_similarity`` compares two rankings (RBO, tau, ...), ``recommendation`` measures lists beyond accuracy:
coverage, diversity, novelty, exposure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.rankings.derivation import Derivation
    from rankstone.rankings.rank_similarity.list_measure import Agreement, ListMeasure, Outcome
    from rankstone.rankings.rank_similarity.run_similarity import diff, similarity
    from rankstone.rankings.rank_similarity.similarity_scores import Similarity
    from rankstone.rankings.recommendation.beyond_scores import BeyondScores, group_gaps
    from rankstone.rankings.recommendation.sampled_metrics import (
        SampledScores,
        correct_sampled,
        expected_sampled,
    )
__all__ = [
    "Agreement",
    "BeyondScores",
    "Derivation",
    "ListMeasure",
    "Outcome",
    "SampledScores",
    "Similarity",
    "correct_sampled",
    "diff",
    "expected_sampled",
    "group_gaps",
    "similarity",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "derivation": ("Derivation",),
            "rank_similarity.list_measure": ("Agreement", "ListMeasure", "Outcome"),
            "rank_similarity.run_similarity": ("diff", "similarity"),
            "rank_similarity.similarity_scores": ("Similarity",),
            "recommendation.beyond_scores": ("BeyondScores", "group_gaps"),
            "recommendation.sampled_metrics": ("SampledScores", "correct_sampled", "expected_sampled"),
        },
    )
