"""rankstone: how good a ranking is, by which convention, and how the number came about.

The road is ``read → align → measure → scores``; :func:`evaluate` walks it.  Names are looked up when
they are first used, so that ``import rankstone`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstone.against_chance import Baseline, baseline
    from rankstone.beyond_accuracy import beyond
    from rankstone.bounding import Bounds, bounds
    from rankstone.checking import check
    from rankstone.comparing import Comparison, Plan, compare, compare_scores, intervals, power
    from rankstone.curves import Curves
    from rankstone.errors import InputError, RankstoneError, UsageError
    from rankstone.evaluation import Evaluator, evaluate, evaluate_labelled
    from rankstone.explaining import Explanation, explain
    from rankstone.gating import Gate, gate
    from rankstone.hits.options import Alignment
    from rankstone.identifying import Identification, identify
    from rankstone.lists import Derivation, ListMeasure, Similarity, diff, similarity
    from rankstone.lists.ap_correlation import tau_ap
    from rankstone.lists.beyond.calibration import Calibration
    from rankstone.lists.beyond.catalogue_measures import (
        Coverage,
        Entropy,
        Gini,
        Personalization,
        UserCoverage,
    )
    from rankstone.lists.beyond.diversity import ILD, ILS
    from rankstone.lists.beyond.expected_exposure import EED, EEL, EER
    from rankstone.lists.beyond.exposure import DP, EUR, RUR
    from rankstone.lists.beyond.gaps import group_gaps
    from rankstone.lists.beyond.novelty import EFD, EPC, Novelty, Unexpectedness
    from rankstone.lists.beyond.popularity import ACLT, APLT, Popularity, PopularityLift
    from rankstone.lists.beyond.results import BeyondScores
    from rankstone.lists.beyond.sampled import SampledScores, correct_sampled, expected_sampled
    from rankstone.lists.beyond.serendipity import Serendipity
    from rankstone.lists.beyond.shares import AWRF, IAA, REO, RSP
    from rankstone.lists.correlation import rho, tau_a, tau_b
    from rankstone.lists.distances import Fagin_F, Fagin_K, footrule
    from rankstone.lists.overlap import Jaccard, Overlap
    from rankstone.lists.rbo import RBO
    from rankstone.lists.weighted_tau import wtau
    from rankstone.measures import (
        MEASURES,
        Card,
        Contributions,
        Measure,
        Threshold,
        measure,
        parse_measure,
        parse_measures,
        register,
        register_discount,
        register_gain,
    )
    from rankstone.measures.at_cutoffs import AtK
    from rankstone.measures.average_precision import AP, yaap
    from rankstone.measures.averaged_ndcg import IDCG, Rndcg, ndcg_rel
    from rankstone.measures.cascade import ERR, nERR
    from rankstone.measures.compatibility import Compat
    from rankstone.measures.concordance import RC
    from rankstone.measures.counts import NumNonrelRet, NumQ, NumRel, NumRelRet, NumRet
    from rankstone.measures.curves import Curve
    from rankstone.measures.cwl import CWL
    from rankstone.measures.dcg import CG, DCG, nDCG
    from rankstone.measures.diversity import ERR_IA, NRBP, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
    from rankstone.measures.dsharp import D_nDCG, Dsharp_nDCG
    from rankstone.measures.geometric import RBP, RBP_residual
    from rankstone.measures.graded_precision import GAP, Q
    from rankstone.measures.incomplete import Bpref, infAP
    from rankstone.measures.intents import AP_IA, IA, P_IA, StRecall
    from rankstone.measures.interpolated import IAP, IPrec
    from rankstone.measures.judged import Judged, Unjudged
    from rankstone.measures.judgment_groups import AP_avgjg, P_avgjg, Rprec_avgjg
    from rankstone.measures.models import register_continuation
    from rankstone.measures.navigation import O_measure, P_measure, P_plus
    from rankstone.measures.nearly_err import NERR8, NERR9, NERR10, NERR11
    from rankstone.measures.negatives import Fallout
    from rankstone.measures.pairs import AUC, GAUC, pAUC
    from rankstone.measures.positions import WSS, AvgRelPosition, LastRel
    from rankstone.measures.precision import F, P, R, Rprec, Success
    from rankstone.measures.precision_recall import PR
    from rankstone.measures.preferences import NumPrefs, Prefs
    from rankstone.measures.propensity import PSP, PSnDCG, label_propensity
    from rankstone.measures.reciprocal_rank import RR
    from rankstone.measures.roc import ROC
    from rankstone.measures.sessions import nsDCG, sDCG
    from rankstone.measures.sets import SetAP, Utility
    from rankstone.measures.shortfall import G, binG
    from rankstone.measures.time_biased import TBG, U
    from rankstone.measures.user_models import BPM, INSQ, INST, SDCG
    from rankstone.out_of_core import StoredScores, evaluate_out_of_core
    from rankstone.sampled_candidates import Sampled, sampled
    from rankstone.scores import Scores
    from rankstone.thresholding import Thresholds, thresholds
    from rankstone.tracing import Tracer, curve, curve_labelled
    from rankstone.truth import truth_from_run

__version__ = "0.1.0"

_HOMES = {
    "rankstone.against_chance": ("Baseline", "baseline"),
    "rankstone.beyond_accuracy": ("beyond",),
    "rankstone.bounding": ("Bounds", "bounds"),
    "rankstone.checking": ("check",),
    "rankstone.comparing": ("Comparison", "Plan", "compare", "compare_scores", "intervals", "power"),
    "rankstone.curves": ("Curves",),
    "rankstone.errors": ("InputError", "RankstoneError", "UsageError"),
    "rankstone.evaluation": ("Evaluator", "evaluate", "evaluate_labelled"),
    "rankstone.explaining": ("Explanation", "explain"),
    "rankstone.gating": ("Gate", "gate"),
    "rankstone.hits.options": ("Alignment",),
    "rankstone.identifying": ("Identification", "identify"),
    "rankstone.lists.beyond.gaps": ("group_gaps",),
    "rankstone.lists.beyond.results": ("BeyondScores",),
    "rankstone.lists.beyond.sampled": ("SampledScores", "correct_sampled", "expected_sampled"),
    "rankstone.lists": ("Derivation", "ListMeasure", "Similarity", "diff", "similarity"),
    "rankstone.measures": (
        "Card", "Contributions", "MEASURES", "Measure", "Threshold", "measure", "parse_measure",
        "parse_measures", "register", "register_discount", "register_gain",
    ),
    "rankstone.measures.at_cutoffs": ("AtK",),
    "rankstone.measures.curves": ("Curve",),
    "rankstone.measures.models": ("register_continuation",),
    "rankstone.measures.propensity": ("label_propensity",),
    "rankstone.out_of_core": ("StoredScores", "evaluate_out_of_core"),
    "rankstone.sampled_candidates": ("Sampled", "sampled"),
    "rankstone.scores": ("Scores",),
    "rankstone.thresholding": ("Thresholds", "thresholds"),
    "rankstone.tracing": ("Tracer", "curve", "curve_labelled"),
    "rankstone.truth": ("truth_from_run",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ACLT",
    "AP",
    "APLT",
    "AP_IA",
    "AUC",
    "AWRF",
    "BPM",
    "CG",
    "CWL",
    "DCG",
    "DP",
    "EED",
    "EEL",
    "EER",
    "EFD",
    "EPC",
    "ERR",
    "ERR_IA",
    "EUR",
    "GAP",
    "GAUC",
    "IA",
    "IAA",
    "IAP",
    "IDCG",
    "ILD",
    "ILS",
    "INSQ",
    "INST",
    "MEASURES",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "PR",
    "PSP",
    "P_IA",
    "RBO",
    "RBP",
    "RC",
    "REO",
    "ROC",
    "RR",
    "RSP",
    "RUR",
    "SDCG",
    "TBG",
    "WSS",
    "AP_avgjg",
    "Alignment",
    "AtK",
    "AvgRelPosition",
    "Baseline",
    "BeyondScores",
    "Bounds",
    "Bpref",
    "Calibration",
    "Card",
    "Comparison",
    "Compat",
    "Contributions",
    "Coverage",
    "Curve",
    "Curves",
    "D_nDCG",
    "Derivation",
    "Dsharp_nDCG",
    "Entropy",
    "Evaluator",
    "Explanation",
    "F",
    "Fagin_F",
    "Fagin_K",
    "Fallout",
    "G",
    "Gate",
    "Gini",
    "IPrec",
    "Identification",
    "InputError",
    "Jaccard",
    "Judged",
    "LastRel",
    "ListMeasure",
    "Measure",
    "Novelty",
    "NumNonrelRet",
    "NumPrefs",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "O_measure",
    "Overlap",
    "P",
    "PSnDCG",
    "P_avgjg",
    "P_measure",
    "P_plus",
    "Personalization",
    "Plan",
    "Popularity",
    "PopularityLift",
    "Prefs",
    "Q",
    "R",
    "RBP_residual",
    "RankstoneError",
    "Rndcg",
    "Rprec",
    "Rprec_avgjg",
    "Sampled",
    "SampledScores",
    "Scores",
    "Serendipity",
    "SetAP",
    "Similarity",
    "StRecall",
    "StoredScores",
    "Success",
    "Threshold",
    "Thresholds",
    "Tracer",
    "U",
    "Unexpectedness",
    "Unjudged",
    "UsageError",
    "UserCoverage",
    "Utility",
    "alpha_DCG",
    "alpha_nDCG",
    "baseline",
    "beyond",
    "binG",
    "bounds",
    "check",
    "compare",
    "compare_scores",
    "correct_sampled",
    "curve",
    "curve_labelled",
    "diff",
    "evaluate",
    "evaluate_labelled",
    "evaluate_out_of_core",
    "expected_sampled",
    "explain",
    "footrule",
    "gate",
    "group_gaps",
    "identify",
    "infAP",
    "intervals",
    "label_propensity",
    "measure",
    "nDCG",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "ndcg_rel",
    "nsDCG",
    "pAUC",
    "parse_measure",
    "parse_measures",
    "power",
    "register",
    "register_continuation",
    "register_discount",
    "register_gain",
    "rho",
    "sDCG",
    "sampled",
    "similarity",
    "tau_a",
    "tau_ap",
    "tau_b",
    "thresholds",
    "truth_from_run",
    "wtau",
    "yaap",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home at first use."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in __all__:  # every other public name is a measure
        value = import_module("rankstone.measures").MEASURES[name]
    else:
        msg = f"module 'rankstone' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
