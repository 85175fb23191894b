# Written by `make pages`: where each public name is defined.

from rankstone.conventions.trec_eval.relevance_evaluator import RelevanceEvaluator as RelevanceEvaluator
from rankstone.conventions.trec_eval.relevance_evaluator import compute_aggregated_measure as compute_aggregated_measure
from rankstone.conventions.trec_eval.relevance_evaluator import parse_qrel as parse_qrel
from rankstone.conventions.trec_eval.relevance_evaluator import parse_run as parse_run
from rankstone.conventions.trec_eval.relevance_evaluator import supported_measures as supported_measures
from rankstone.conventions.trec_eval.relevance_evaluator import supported_nicknames as supported_nicknames

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
