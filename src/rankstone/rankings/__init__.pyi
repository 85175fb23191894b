# Written by `make pages`: where each public name is defined.

from rankstone.rankings.derivation import Derivation as Derivation
from rankstone.rankings.rank_similarity.list_measure import Agreement as Agreement
from rankstone.rankings.rank_similarity.list_measure import ListMeasure as ListMeasure
from rankstone.rankings.rank_similarity.list_measure import PairStatus as PairStatus
from rankstone.rankings.rank_similarity.run_similarity import diff as diff
from rankstone.rankings.rank_similarity.run_similarity import similarity as similarity
from rankstone.rankings.rank_similarity.similarity_scores import Similarity as Similarity
from rankstone.rankings.recommendation.beyond_scores import BeyondScores as BeyondScores
from rankstone.rankings.recommendation.beyond_scores import group_gaps as group_gaps
from rankstone.rankings.recommendation.sampled_metrics import SampledScores as SampledScores
from rankstone.rankings.recommendation.sampled_metrics import correct_sampled as correct_sampled
from rankstone.rankings.recommendation.sampled_metrics import expected_sampled as expected_sampled

__all__ = [
    "Agreement",
    "BeyondScores",
    "Derivation",
    "ListMeasure",
    "PairStatus",
    "SampledScores",
    "Similarity",
    "correct_sampled",
    "diff",
    "expected_sampled",
    "group_gaps",
    "similarity",
]
