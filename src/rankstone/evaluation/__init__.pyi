# Written by `make pages`: where each public name is defined.

from rankstone.evaluation.exact_run import head_of_run as head_of_run
from rankstone.evaluation.exact_run import qrels_from_run as qrels_from_run
from rankstone.evaluation.out_of_core import evaluate_out_of_core as evaluate_out_of_core
from rankstone.evaluation.out_of_core import parse_size as parse_size
from rankstone.evaluation.prepared import Prepared as Prepared
from rankstone.evaluation.request import EvaluationKeywords as EvaluationKeywords
from rankstone.evaluation.request import MeasuresLike as MeasuresLike
from rankstone.evaluation.request import QrelsLike as QrelsLike
from rankstone.evaluation.request import RunLike as RunLike
from rankstone.evaluation.scores import Scores as Scores
from rankstone.evaluation.stored_scores import StoredScores as StoredScores

__all__ = [
    "EvaluationKeywords",
    "MeasuresLike",
    "Prepared",
    "QrelsLike",
    "RunLike",
    "Scores",
    "StoredScores",
    "evaluate_out_of_core",
    "head_of_run",
    "parse_size",
    "qrels_from_run",
]
