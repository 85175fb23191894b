# Written by `make pages`: where each public name is defined.

from collections.abc import Callable, Mapping

PUBLIC: dict[str, tuple[str, ...]]
__version__: str

def lazy_names(
    package: str, public: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], list[str]]: ...

from rankstone import answers as answers
from rankstone import boards as boards
from rankstone import collections as collections
from rankstone import comparison as comparison
from rankstone import conventions as conventions
from rankstone import demo as demo
from rankstone import diagnostics as diagnostics
from rankstone import evaluation as evaluation
from rankstone import explanation as explanation
from rankstone import hits as hits
from rankstone import integrations as integrations
from rankstone import io as io
from rankstone import ltr as ltr
from rankstone import measures as measures
from rankstone import online as online
from rankstone import rankings as rankings
from rankstone import reports as reports
from rankstone import spark as spark
from rankstone import stats as stats
from rankstone import tables as tables
from rankstone import testing as testing
from rankstone.reports import charts as plots
from rankstone.conventions import trec_eval as trec_eval
from rankstone.api import beyond as beyond
from rankstone.api import evaluate as evaluate
from rankstone.boards import board as board
from rankstone.boards import slices as slices
from rankstone.collections import certify as certify
from rankstone.collections import collection as collection
from rankstone.collections import verify as verify
from rankstone.comparison import Comparison as Comparison
from rankstone.comparison import Gate as Gate
from rankstone.comparison import Plan as Plan
from rankstone.comparison import compare as compare
from rankstone.comparison import compare_scores as compare_scores
from rankstone.comparison import gate as gate
from rankstone.comparison import intervals as intervals
from rankstone.comparison import power as power
from rankstone.comparison import thresholds as thresholds
from rankstone.conventions.identification import Identification as Identification
from rankstone.conventions.identification import identify as identify
from rankstone.diagnostics import Bounds as Bounds
from rankstone.diagnostics import Curves as Curves
from rankstone.diagnostics import abstain as abstain
from rankstone.diagnostics import baseline as baseline
from rankstone.diagnostics import bounds as bounds
from rankstone.diagnostics import check as check
from rankstone.diagnostics import curve as curve
from rankstone.diagnostics import sampled as sampled
from rankstone.diagnostics import stages as stages
from rankstone.errors import InputError as InputError
from rankstone.errors import RankstoneError as RankstoneError
from rankstone.errors import UsageError as UsageError
from rankstone.evaluation import MeasuresLike as MeasuresLike
from rankstone.evaluation import Prepared as Prepared
from rankstone.evaluation import QrelsLike as QrelsLike
from rankstone.evaluation import RunLike as RunLike
from rankstone.evaluation import Scores as Scores
from rankstone.evaluation import StoredScores as StoredScores
from rankstone.evaluation import qrels_from_run as qrels_from_run
from rankstone.explanation import Explanation as Explanation
from rankstone.explanation import explain as explain
from rankstone.hits.alignment_options import AlignmentOptions as AlignmentOptions
from rankstone.measures import AP as AP
from rankstone.measures import AUC as AUC
from rankstone.measures import Bpref as Bpref
from rankstone.measures import DCG as DCG
from rankstone.measures import ERR as ERR
from rankstone.measures import F as F
from rankstone.measures import Judged as Judged
from rankstone.measures import Measure as Measure
from rankstone.measures import P as P
from rankstone.measures import R as R
from rankstone.measures import RBP as RBP
from rankstone.measures import RR as RR
from rankstone.measures import Rprec as Rprec
from rankstone.measures import Success as Success
from rankstone.measures import measure as measure
from rankstone.measures import nDCG as nDCG
from rankstone.measures import parse_measure as parse_measure
from rankstone.measures import parse_measures as parse_measures
from rankstone.measures import register as register
from rankstone.rankings import BeyondScores as BeyondScores
from rankstone.rankings import Similarity as Similarity
from rankstone.rankings import diff as diff
from rankstone.rankings import similarity as similarity
from rankstone.reports import report as report

__all__ = [
    "AP",
    "AUC",
    "AlignmentOptions",
    "BeyondScores",
    "Bounds",
    "Bpref",
    "Comparison",
    "Curves",
    "DCG",
    "ERR",
    "Explanation",
    "F",
    "Gate",
    "Identification",
    "InputError",
    "Judged",
    "Measure",
    "MeasuresLike",
    "P",
    "Plan",
    "Prepared",
    "QrelsLike",
    "R",
    "RBP",
    "RR",
    "RankstoneError",
    "Rprec",
    "RunLike",
    "Scores",
    "Similarity",
    "StoredScores",
    "Success",
    "UsageError",
    "abstain",
    "baseline",
    "beyond",
    "board",
    "bounds",
    "certify",
    "check",
    "collection",
    "compare",
    "compare_scores",
    "curve",
    "diff",
    "evaluate",
    "explain",
    "gate",
    "identify",
    "intervals",
    "measure",
    "nDCG",
    "parse_measure",
    "parse_measures",
    "power",
    "qrels_from_run",
    "register",
    "report",
    "sampled",
    "similarity",
    "slices",
    "stages",
    "thresholds",
    "verify",
    "plots",
]
