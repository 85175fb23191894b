"""Rankings: whole lists, with or without judgments.

``rank_similarity`` compares two rankings (RBO, tau, ...), ``recommendation`` measures lists beyond accuracy:
coverage, diversity, novelty, exposure.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "derivation": ("Derivation",),
    "rank_similarity.list_measure": ("Agreement", "ListMeasure", "PairStatus"),
    "rank_similarity.run_similarity": ("diff", "similarity"),
    "rank_similarity.similarity_scores": ("Similarity",),
    "recommendation.beyond_scores": ("BeyondScores", "group_gaps"),
    "recommendation.sampled_metrics": (
        "SampledScores",
        "correct_sampled",
        "expected_sampled",
    ),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
