# Written by `make pages`: where each public name is defined.

from rankstone.measures.core.claims import Claims as Claims
from rankstone.measures.core.custom import measure as measure
from rankstone.measures.core.definition import Card as Card
from rankstone.measures.core.definition import Named as Named
from rankstone.measures.core.definition import PerQuery as PerQuery
from rankstone.measures.core.definition import Threshold as Threshold
from rankstone.measures.core.gains_and_discounts import DISCOUNTS as DISCOUNTS
from rankstone.measures.core.gains_and_discounts import GAINS as GAINS
from rankstone.measures.core.gains_and_discounts import GainTable as GainTable
from rankstone.measures.core.gains_and_discounts import register_discount as register_discount
from rankstone.measures.core.gains_and_discounts import register_gain as register_gain
from rankstone.measures.core.measure import Contributions as Contributions
from rankstone.measures.core.measure import Measure as Measure
from rankstone.measures.core.measure import Status as Status
from rankstone.measures.core.registry import MEASURES as MEASURES
from rankstone.measures.core.registry import measure_modules as measure_modules
from rankstone.measures.core.registry import register as register
from rankstone.measures.core.syntax import measure_kind as measure_kind
from rankstone.measures.core.syntax import parse_measure as parse_measure
from rankstone.measures.core.syntax import parse_measures as parse_measures
from rankstone.measures.core.syntax import parse_only as parse_only
from rankstone.measures.core.syntax import trec_name as trec_name
from rankstone.measures.at_cutoffs import DEFAULT_CUTOFFS as DEFAULT_CUTOFFS
from rankstone.measures.at_cutoffs import AtK as AtK
from rankstone.measures.at_cutoffs import parse_curves as parse_curves
from rankstone.measures.at_cutoffs import targets_of as targets_of
from rankstone.measures.core.curve import Curve as Curve
from rankstone.measures.propensity import label_propensity as label_propensity
from rankstone.measures.walk_models import MODELS as MODELS
from rankstone.measures.walk_models import register_continuation as register_continuation

__all__ = [
    "AtK",
    "Card",
    "Claims",
    "Contributions",
    "Curve",
    "DEFAULT_CUTOFFS",
    "DISCOUNTS",
    "GAINS",
    "GainTable",
    "MEASURES",
    "MODELS",
    "Measure",
    "Named",
    "PerQuery",
    "Status",
    "Threshold",
    "label_propensity",
    "measure",
    "measure_kind",
    "measure_modules",
    "parse_curves",
    "parse_measure",
    "parse_measures",
    "parse_only",
    "register",
    "register_continuation",
    "register_discount",
    "register_gain",
    "targets_of",
    "trec_name",
]

# measures
from rankstone.measures.precision import P as P
from rankstone.measures.precision import R as R
from rankstone.measures.precision import F as F
from rankstone.measures.precision import Success as Success
from rankstone.measures.precision import Rprec as Rprec
from rankstone.measures.average_precision import AP as AP
from rankstone.measures.average_precision import yaap as yaap
from rankstone.measures.reciprocal_rank import RR as RR
from rankstone.measures.dcg import CG as CG
from rankstone.measures.dcg import DCG as DCG
from rankstone.measures.dcg import nDCG as nDCG
from rankstone.measures.averaged_ndcg import IDCG as IDCG
from rankstone.measures.averaged_ndcg import ndcg_rel as ndcg_rel
from rankstone.measures.averaged_ndcg import Rndcg as Rndcg
from rankstone.measures.time_biased import binG as binG
from rankstone.measures.time_biased import G as G
from rankstone.measures.precision_recall import IPrec as IPrec
from rankstone.measures.precision_recall import IAP as IAP
from rankstone.measures.average_precision import Q as Q
from rankstone.measures.average_precision import GAP as GAP
from rankstone.measures.reciprocal_rank import O_measure as O_measure
from rankstone.measures.reciprocal_rank import P_measure as P_measure
from rankstone.measures.reciprocal_rank import P_plus as P_plus
from rankstone.measures.cascade import ERR as ERR
from rankstone.measures.cascade import nERR as nERR
from rankstone.measures.rank_biased_precision import RBP as RBP
from rankstone.measures.rank_biased_precision import RBP_residual as RBP_residual
from rankstone.measures.cwl import SDCG as SDCG
from rankstone.measures.cwl import INSQ as INSQ
from rankstone.measures.cwl import INST as INST
from rankstone.measures.cwl import BPM as BPM
from rankstone.measures.cascade import NERR8 as NERR8
from rankstone.measures.cascade import NERR9 as NERR9
from rankstone.measures.cascade import NERR10 as NERR10
from rankstone.measures.cascade import NERR11 as NERR11
from rankstone.measures.cwl import CWL as CWL
from rankstone.measures.time_biased import TBG as TBG
from rankstone.measures.time_biased import U as U
from rankstone.measures.ideal_agreement import Compat as Compat
from rankstone.measures.precision_recall import PR as PR
from rankstone.measures.roc import ROC as ROC
from rankstone.measures.precision import SetAP as SetAP
from rankstone.measures.precision import Utility as Utility
from rankstone.measures.assessor_groups import AP_avgjg as AP_avgjg
from rankstone.measures.assessor_groups import P_avgjg as P_avgjg
from rankstone.measures.assessor_groups import Rprec_avgjg as Rprec_avgjg
from rankstone.measures.preferences import Prefs as Prefs
from rankstone.measures.preferences import NumPrefs as NumPrefs
from rankstone.measures.auc import AUC as AUC
from rankstone.measures.auc import GAUC as GAUC
from rankstone.measures.auc import pAUC as pAUC
from rankstone.measures.ideal_agreement import RC as RC
from rankstone.measures.auc import Fallout as Fallout
from rankstone.measures.incomplete_judgments import Bpref as Bpref
from rankstone.measures.incomplete_judgments import infAP as infAP
from rankstone.measures.positions import AvgRelPosition as AvgRelPosition
from rankstone.measures.positions import LastRel as LastRel
from rankstone.measures.positions import WSS as WSS
from rankstone.measures.counts import Judged as Judged
from rankstone.measures.counts import Unjudged as Unjudged
from rankstone.measures.counts import NumRet as NumRet
from rankstone.measures.counts import NumRel as NumRel
from rankstone.measures.counts import NumRelRet as NumRelRet
from rankstone.measures.counts import NumNonrelRet as NumNonrelRet
from rankstone.measures.counts import NumQ as NumQ
from rankstone.rankings.rank_similarity.rbo import RBO as RBO
from rankstone.rankings.rank_similarity.overlap import Overlap as Overlap
from rankstone.rankings.rank_similarity.overlap import Jaccard as Jaccard
from rankstone.rankings.rank_similarity.rank_correlation import tau_a as tau_a
from rankstone.rankings.rank_similarity.rank_correlation import tau_b as tau_b
from rankstone.rankings.rank_similarity.rank_correlation import rho as rho
from rankstone.rankings.rank_similarity.rank_correlation import tau_ap as tau_ap
from rankstone.rankings.rank_similarity.weighted_tau import wtau as wtau
from rankstone.rankings.rank_similarity.rank_distances import footrule as footrule
from rankstone.rankings.rank_similarity.rank_distances import Fagin_F as Fagin_F
from rankstone.rankings.rank_similarity.rank_distances import Fagin_K as Fagin_K
from rankstone.rankings.recommendation.catalogue_coverage import Coverage as Coverage
from rankstone.rankings.recommendation.catalogue_coverage import UserCoverage as UserCoverage
from rankstone.rankings.recommendation.catalogue_coverage import Gini as Gini
from rankstone.rankings.recommendation.catalogue_coverage import Entropy as Entropy
from rankstone.rankings.recommendation.catalogue_coverage import Personalization as Personalization
from rankstone.rankings.recommendation.novelty import Novelty as Novelty
from rankstone.rankings.recommendation.novelty import EPC as EPC
from rankstone.rankings.recommendation.novelty import EFD as EFD
from rankstone.rankings.recommendation.novelty import Unexpectedness as Unexpectedness
from rankstone.rankings.recommendation.novelty import Serendipity as Serendipity
from rankstone.rankings.recommendation.popularity import Popularity as Popularity
from rankstone.rankings.recommendation.popularity import APLT as APLT
from rankstone.rankings.recommendation.popularity import ACLT as ACLT
from rankstone.rankings.recommendation.popularity import PopularityLift as PopularityLift
from rankstone.rankings.recommendation.item_diversity import ILD as ILD
from rankstone.rankings.recommendation.item_diversity import ILS as ILS
from rankstone.rankings.recommendation.calibration import Calibration as Calibration
from rankstone.rankings.recommendation.exposure import DP as DP
from rankstone.rankings.recommendation.exposure import EUR as EUR
from rankstone.rankings.recommendation.exposure import RUR as RUR
from rankstone.rankings.recommendation.attention_shares import AWRF as AWRF
from rankstone.rankings.recommendation.attention_shares import IAA as IAA
from rankstone.rankings.recommendation.attention_shares import RSP as RSP
from rankstone.rankings.recommendation.attention_shares import REO as REO
from rankstone.rankings.recommendation.exposure import EEL as EEL
from rankstone.rankings.recommendation.exposure import EED as EED
from rankstone.rankings.recommendation.exposure import EER as EER
from rankstone.measures.subtopic_diversity import alpha_DCG as alpha_DCG
from rankstone.measures.subtopic_diversity import alpha_nDCG as alpha_nDCG
from rankstone.measures.subtopic_diversity import ERR_IA as ERR_IA
from rankstone.measures.subtopic_diversity import nERR_IA as nERR_IA
from rankstone.measures.subtopic_diversity import NRBP as NRBP
from rankstone.measures.subtopic_diversity import nNRBP as nNRBP
from rankstone.measures.intent_aware import StRecall as StRecall
from rankstone.measures.intent_aware import P_IA as P_IA
from rankstone.measures.intent_aware import AP_IA as AP_IA
from rankstone.measures.intent_aware import IA as IA
from rankstone.measures.intent_aware import D_nDCG as D_nDCG
from rankstone.measures.intent_aware import Dsharp_nDCG as Dsharp_nDCG
from rankstone.measures.sessions import sDCG as sDCG
from rankstone.measures.sessions import nsDCG as nsDCG
from rankstone.measures.propensity import PSP as PSP
from rankstone.measures.propensity import PSnDCG as PSnDCG
from rankstone.measures.spans import SpanR as SpanR
from rankstone.measures.spans import SpanP as SpanP
from rankstone.measures.spans import SpanIoU as SpanIoU
from rankstone.measures.spans import SpanPOmega as SpanPOmega
from rankstone.measures.abstention import FalseRetrieval as FalseRetrieval
from rankstone.measures.abstention import AbstentionR as AbstentionR
from rankstone.measures.abstention import AbstentionP as AbstentionP
from rankstone.measures.cost import Cost as Cost
from rankstone.measures.support import Support as Support
from rankstone.measures.support import CitationP as CitationP
from rankstone.measures.support import CitationR as CitationR
from rankstone.measures.full_recall import FullRecall as FullRecall
from rankstone.measures.forbidden import Forbidden as Forbidden
from rankstone.measures.crowding import Sources as Sources
from rankstone.measures.crowding import SourceShare as SourceShare
