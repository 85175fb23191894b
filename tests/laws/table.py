"""The table of measures that every law runs over."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.night import NIGHT
from tests.oracle.oracle import FORMULAS
from tests.oracle.pairs import CANDIDATES

from rankstone import AlignmentOptions, Measure, UsageError, parse_measure
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def measure(text: str) -> Measure:
    """Return the measure a text stands for."""
    result = parse_measure(text)
    assert isinstance(result, Measure)
    return result


BINARY = (
    "P",
    "P@1",
    "P@3",
    "P@10",
    "P(rel=2)@3",
    'P(rel=">1")@3',
    "P(denom=n)",
    "P(denom=n)@4",
    "P(denom=min_R_k)@3",
    "R",
    "R@2",
    "R(rel=0.5)@3",
    "R(denom=min_R_k)",
    "R(denom=min_R_k)@2",
    "F",
    "F@3",
    "F(beta=2)@3",
    "F(rel=2, beta=0.5)@2",
    "Success",
    "Success@1",
    "Success(rel=2)@3",
    "FullRecall(each=document)",
    "FullRecall(each=document)@3",
    "FullRecall(rel=2, each=document)@4",
    "Rprec",
    "Rprec(rel=2)",
    "Rprec(multiple=0.5)",
    "Rprec(rel=2, multiple=2)",
)
SETS = (
    "SetAP",
    "SetAP@3",
    "SetAP(rel=2)",
    "Utility",
    "Utility(rel=2)",
    "Utility(a=2, b=-0.5, c=-1)@3",
)
AVERAGE_PRECISION = (
    "AP",
    "AP@1",
    "AP@3",
    "AP(rel=2)",
    "AP(rel=0.5)@4",
    "AP(denom=min_R_k)@2",
    "AP(denom=min_R_n)",
    "AP(denom=min_R_n)@3",
    "AP(denom=min_R_k_n)@3",
    "AP(denom=hits)",
    "AP(denom=hits)@3",
    "AP(denom=k)@3",
)
#: average precision on a scale without ends: no ratio of sums, but a function of one
LOG_ODDS = ("yaap", "yaap@3", "yaap(rel=2)")
INTERPOLATED = (
    "IPrec(recall=0)",
    "IPrec(recall=0.1)",
    "IPrec(recall=0.5)@3",
    "IPrec(rel=2, recall=1)",
    "IPrec(recall=0.7, interp=trec9)",
    "IPrec(recall=0.8, interp=trec10)",
    "IPrec(recall=0, interp=none)",
    "IPrec(recall=0.5, interp=none)",
    "IAP",
    "IAP(levels=5)@3",
    "IAP(levels={0.25, 0.5, 0.75})",
    "IAP(interp=trec9)",
    "IAP(interp=trec10)",
    "IAP(rel=2, interp=none)",
)
RECIPROCAL_RANK = (
    "RR",
    "RR@1",
    "RR@3",
    "RR(rel=2)@4",
    "RR(target=best)",
    "RR(rel=2, target=best)@3",
)
CUMULATED_GAIN = (
    "CG",
    "CG@3",
    "CG(gain=exp2)@4",
    "CG(gain=binary)",
    "DCG",
    "DCG@3",
    "DCG(gain=exp2)",
    "DCG(rel=2, gain=exp2_offset)@4",
    "DCG(rel=1)@3",
    "DCG(discount=jk)@4",
    "DCG(discount=jk, base=3)",
    "DCG(discount=reciprocal)@3",
    "DCG(discount=none)",
    "DCG(discount=geometric, p=0.8)@4",
    "DCG(pad=min_grade)@8",
    "DCG(pad=shrink)@4",
)
NDCG = (
    "nDCG",
    "nDCG@1",
    "nDCG@3",
    "nDCG(gain=exp2)@3",
    "nDCG(gain=binary)@3",
    "nDCG(gain=exp2_offset)@3",
    "nDCG(rel=2, gain=exp2_offset)@3",
    "nDCG(discount=jk)@3",
    "nDCG(discount=jk, base=10)",
    "nDCG(discount=reciprocal)",
    "nDCG(discount=none)@2",
    "nDCG(discount=geometric, p=0.5)@3",
    "nDCG(ideal=list)",
    "nDCG(ideal=list)@3",
    "nDCG(gain=exp2, ideal=topk)@3",
    "nDCG(gain=binary, ideal=k_ones)@3",
    "nDCG(gain=binary, ideal=k_of_R)",
    "nDCG(gain=binary, ideal=k_of_R)@2",
    "nDCG(ideal_depth=all)@3",
    "nDCG(ideal_depth=min_k_n)@4",
    "nDCG(ideal_depth=min_k_n)",
    "nDCG(gain=binary, ideal=k_ones, ideal_depth=min_k_n)@4",
    "nDCG(pad=shrink)@4",
    "nDCG(rel=2)@3",
)
SHORTFALLS = (
    "binG",
    "binG@3",
    "binG(rel=2)",
    "G",
    "G@3",
    "G(gain=exp2)",
    "G(gain=binary)@4",
)
AVERAGED_NDCG = (
    "ndcg_rel",
    "ndcg_rel(gain=exp2)",
    "Rndcg",
    "Rndcg(gain=exp2)",
    "Rndcg(gain=binary)",
    "IDCG",
    "IDCG@2",
    "IDCG(gain=exp2)@3",
)
COUNTS = (
    "Judged",
    "Judged@3",
    "NumRet",
    "NumRel",
    "NumRel(rel=2)",
    "NumRelRet",
    "NumRelRet(rel=2)@3",
    "NumQ",
)
#: what has no judgment, or a bad one, counts here
COUNTS_OF_BAD = ("Unjudged", "Unjudged@3", "NumNonrelRet", "NumNonrelRet(rel=2)@2")
#: marked documents, which have grade 0
MARKED = (
    "Forbidden",
    "Forbidden@2",
    "Forbidden(what=number)",
    "Forbidden(what=number)@3",
)
GROUP_MEANS = (
    "AP_avgjg",
    "AP_avgjg(rel=2)@2",
    "P_avgjg@3",
    "Rprec_avgjg",
    "Rprec_avgjg(multiple=0.5)",
)
#: users whom nothing they find delays or stops
WEIGHTED_WALKS = (
    "RBP(p=0.8)",
    "RBP(p=0.5)@3",
    "RBP(rel=2, p=0.8)",
    "RBP(gain=linear, max_grade=3, p=0.9)",
    "RBP(gain=exp2, max_grade=3, p=0.95)@4",
    "RBP_residual(p=0.8)",
    "RBP_residual(p=0.9)@2",
    "RBP_residual(gain=exp2, max_grade=3, p=0.5)",
    "SDCG(max_grade=3)@3",
    "SDCG(gain=binary)@10",
    "SDCG(rel=2, gain=exp2, max_grade=4)@4",
    "INSQ(max_grade=3)",
    "INSQ(gain=binary, n_max=20, T=2)@3",
    "CWL(max_grade=3, n_max=20, model=RBP, p=0.8)@3",
    "CWL(max_grade=3, n_max=9, model=U, L=5.5)",
    "CWL(gain=linear_plus1, max_grade=3, model=SDCG)@4",
    "U(L=4)",
    "U(gain=linear, max_grade=3, L=10, cost=2)@3",
)
#: users whom every find stops, delays or satisfies a little
CASCADES = (
    "ERR(max_grade=3)",
    "ERR(max_grade=3)@3",
    "ERR(rel=2, max_grade=3)@4",
    "ERR(gain=linear_plus1, max_grade=3)@4",
    "ERR(gain=linear, max_grade=3)",
    "nERR(max_grade=3)",
    "nERR(max_grade=3)@2",
    "nERR(gain=linear_plus1, max_grade=4)@3",
    "TBG(words=500)",
    "TBG(rel=2, words=100, half_life=30)@3",
    "U(L=20, cost=2, cost_relevant=5)",
    "U(gain=linear, max_grade=3, L=9, cost_relevant=2, position=start)@4",
    "Compat",
    "Compat(depth=8)",
    "Compat(p=0.5, depth=4)@3",
    "Compat(normalize=False, depth=8)",
    "NERR8(max_grade=3)@4",
    "NERR8(gain=binary)@10",
    "NERR9(max_grade=3)@4",
    "NERR9(gain=exp2, max_grade=3)@10",
    "NERR10(max_grade=3)",
    "NERR10(gain=exp2, max_grade=3, n_max=12, p=0.8)",
    "NERR11(max_grade=3)",
    "NERR11(rel=1, gain=exp2, max_grade=3, n_max=12, T=0.7)@3",
    "CWL(gain=binary, n_max=12, model=RR)",
)
GRADED_PRECISION = (
    "Q",
    "Q@3",
    "Q(beta=0)",
    "Q(rel=2, beta=10)@4",
    "Q(gain=exp2)",
    "Q(denom=min_R_k)@3",
    "GAP",
    "GAP@3",
    "GAP(rel=2)@4",
    "GAP(gain=exp2)",
)
#: tied documents seen at once; the oracle knows the block of a document, not of its copies
THRESHOLDS = ("AP(tied=block)", "AP(rel=2, denom=min_R_n, tied=block)")
NAVIGATION = (
    "O_measure",
    "O_measure(rel=2, beta=10)@3",
    "P_measure",
    "P_measure(gain=exp2)@3",
    "P_plus",
    "P_plus(rel=2, beta=3)@4",
)
#: users whose way below a find depends on it in a manner that is not ordered; and what is no average gain
ADAPTIVE_WALKS = (
    "INST(max_grade=3)",
    "INST(max_grade=3, n_max=12, T=2)",
    "INST(gain=binary, n_max=20, T=0.5)@3",
    "BPM(max_grade=3)@3",
    "BPM(max_grade=3, T=2)@4",
    "BPM(max_grade=3, T=2, hb=0.5)@8",
    "BPM(gain=binary, T=1.5, hb=1, hc=2, gain_med=0.25)@4",
    "CWL(max_grade=3, n_max=12, model=AP)",
    "CWL(gain=binary, n_max=12, model=AP, output=ETU)@3",
    "CWL(max_grade=3, n_max=12, model=INST, output=ED, T=2)",
    "CWL(max_grade=3, n_max=12, model=INST, output=ETC, T=1, cost=2, cost_relevant=2.5)",
    "CWL(max_grade=3, model=NERR8, output=EC, cost_relevant=3)@4",
    "CWL(gain=binary, n_max=12, model=TBG, half_life=3, cost_relevant=2)",
    "CWL(max_grade=3, model=P, output=ResETU)@4",
    "CWL(gain=exp2, max_grade=3, n_max=12, model=RBP, output=ResEU, p=0.8)@4",
    "CWL(max_grade=3, n_max=12, model=INST, output=ResEU, T=2)",
    "CWL(max_grade=3, n_max=12, model=INST, output=ResED, T=1)",
    "CWL(max_grade=3, n_max=12, model=BPM, output=ResETU, T=2)@5",
    "CWL(max_grade=3, n_max=12, model=AP, output=ResEU)",
    "CWL(max_grade=3, model=NERR9, output=ResED)@4",
    "CWL(gain=binary, model=P, output=ETU)@3",
    "CWL(max_grade=3, n_max=20, model=RBP, output=ED, p=0.8)",
    "Compat(p=0.8, depth=lists)",
)
#: subtopics that gain less each time they are served
NOVELTY = (
    "alpha_DCG@1",
    "alpha_DCG@3",
    "alpha_DCG(rel=2, alpha=0.9)@4",
    "alpha_nDCG",
    "alpha_nDCG@1",
    "alpha_nDCG@3",
    "alpha_nDCG(alpha=1)@2",
    "alpha_nDCG(rel=2, alpha=0.25)",
    "ERR_IA",
    "ERR_IA@3",
    "ERR_IA(alpha=0.9)@2",
    "ERR_IA(alpha=1)",
    "nERR_IA",
    "nERR_IA(alpha=0)@3",
    "NRBP",
    "NRBP(beta=0.8)@3",
    "nNRBP",
    "nNRBP(alpha=0.75, beta=0.9)@4",
)
#: means over intents, and what they share with propensities: the order of grades is not that of worth
INTENTS = (
    "StRecall",
    "StRecall@1",
    "StRecall(rel=2)@3",
    "FullRecall(each=subtopic)",
    "FullRecall(each=subtopic)@2",
    "FullRecall(rel=2, each=subtopic)@3",
    "P_IA@3",
    "P_IA(rel=2)",
    "AP_IA",
    "AP_IA@3",
    "IA(of=nDCG)@3",
    "IA(of=nDCG(gain=exp2))",
    "IA(of=RR)",
    "IA(of=R)@2",
    "IA(of=AP(denom=min_R_n))",
    "D_nDCG",
    "D_nDCG(gain=exp2)@3",
    "Dsharp_nDCG@3",
    "Dsharp_nDCG(rel=2, gamma=0.25)",
    "PSP(agg=mean)@3",
    "PSP(agg=mean, rel=2)",
    "PSnDCG(agg=mean)@3",
)
#: relevant documents against negatives; a tied pair counts one half
PAIRS = (
    "AUC(negatives=judged)",
    "AUC(rel=2, negatives=candidates)",
    "AUC(negatives=catalogue)",
    "AUC(negatives=judged, unreturned=exclude)",
    "AUC(negatives=candidates, unreturned=bottom)",
    "GAUC(negatives=judged)",
    "GAUC(negatives=candidates, weight=clicks)",
    "pAUC(negatives=judged)@1",
    "pAUC(negatives=candidates, unreturned=exclude)@2",
    "pAUC(negatives=catalogue)@3",
)
#: a tied pair counts as its order says
ORDERED_PAIRS = (
    "AUC(negatives=catalogue, unreturned=bottom, tied=order)",
    "AUC(negatives=judged, unreturned=bottom, tied=order)",
    "AUC(negatives=candidates, tied=order)",
    "pAUC(rel=2, negatives=catalogue, unreturned=bottom, tied=order)@2",
    "Fallout(negatives=candidates)@3",
    "Fallout(rel=2, negatives=catalogue)@3",
    "Bpref",
    "Bpref(rel=2)",
    "AvgRelPosition",
    "AvgRelPosition(gain=binary, unreturned=bottom_tied)",
    "LastRel",
    "LastRel(rel=2, unreturned=exclude)",
    "LastRel(unreturned=bottom_tied)",
    "WSS",
    "WSS(recall=0.5, documents=catalogue)",
)
#: what is above the cutoff changes with the order, or an unjudged document counts less than one judged 0
CUT_PAIRS = (
    "AUC(rel=2, negatives=judged, tied=order)@3",
    "AUC(negatives=candidates, unreturned=exclude, tied=order)@3",
    "AUC(negatives=catalogue)@2",
    "Bpref@3",
    "Fallout(negatives=judged)",
    "Fallout(negatives=judged)@2",
    "infAP",
    "infAP(rel=2)",
    "infAP@3",
)
#: pairs against the best of all ideal orders
CONCORDANCE = (
    "RC",
    "RC(ties=drop)",
    "RC(weight=hyperbolic)",
    "RC(weight=log2, ties=drop)",
    "RC(weight=log2, combine=multiply)",
    "RC(weight=square, combine=multiply, ties=drop)",
    "RC(weight=hyperbolic, weight_on=ideal)",
    "RC(weight=cube, weight_on=ideal)",
    "RC(weight=geometric, p=0.5, weight_on=ideal)",
    "RC(weight=hyperbolic, weight_on=ideal, combine=multiply)",
    "RC(weight=geometric, p=0.5, weight_on=ideal, combine=multiply)",
)
#: queries that come late in their session; in these worlds each has one of its own
SESSIONS = (
    "sDCG@3",
    "sDCG(gain=exp2, bq=2, late=shifted)",
    "nsDCG",
    "nsDCG(gain=exp2, late=shifted)@2",
)
#: grade 0 counts for something here, an unjudged document never does
ZERO_COUNTS = (
    "P(rel=0)@3",
    "AP(rel=0)",
    "RR(rel=0)",
    "DCG(gain=pow2_shift)@4",
    "nDCG(gain=pow2_shift)@3",
    "nDCG(gain=pow2_shift)",
)
#: gain tables name every grade of the whole scale, so they run on whole grades only
TABLES = (
    "CG(gain={1: 1, 2: 3, 3: 10})@4",
    "DCG(gain={0: 0.5, 1: 1, 2: 3, 3: 10})",
    "nDCG(gain={1: 2, 2: 1, 3: 0})@3",
    "nDCG(gain={0: 1, 1: 2, 2: 3, 3: 4}, ideal=list)",
    "RBP(gain={0: 0.1, 1: 0.5, 2: 0.2, 3: 1}, p=0.8)",
    "RBP_residual(gain={1: 0.5, 2: 0.75, 3: 0.8}, p=0.8)@3",
    "ERR(gain={1: 0.2, 2: 0.5, 3: 0.9})@4",
    "nERR(gain={1: 0.9, 2: 0.2, 3: 0.5})@3",
    "INST(gain={1: 0.25, 2: 0.75, 3: 1}, n_max=12)",
    "Q(gain={1: 3, 2: 1, 3: 2})@3",
    "GAP(gain={1: 1, 2: 1, 3: 2})@4",
)
#: padding a short list with the scale's lowest grade
PADDED = ("nDCG(pad=min_grade)@8", "nDCG(gain=exp2, pad=min_grade)@4")

BY_HAND: dict[str, tuple[str, ...]] = {
    "binary": BINARY,
    "average precision": AVERAGE_PRECISION,
    "reciprocal rank": RECIPROCAL_RANK,
    "cumulated gain": CUMULATED_GAIN,
    "ndcg": NDCG,
    "sets": SETS,
    "log odds": LOG_ODDS,
    "interpolated": INTERPOLATED,
    "shortfalls": SHORTFALLS,
    "averaged ndcg": AVERAGED_NDCG,
    "judgment groups": GROUP_MEANS,
    "counts of bad": COUNTS_OF_BAD,
    "counts": COUNTS,
    "marked": MARKED,
    "zero counts": ZERO_COUNTS,
    "weighted walks": WEIGHTED_WALKS,
    "cascades": CASCADES,
    "graded precision": GRADED_PRECISION,
    "navigation": NAVIGATION,
    "thresholds": THRESHOLDS,
    "adaptive walks": ADAPTIVE_WALKS,
    "novelty": NOVELTY,
    "intents": INTENTS,
    "sessions": SESSIONS,
    "pairs": PAIRS,
    "ordered pairs": ORDERED_PAIRS,
    "cut pairs": CUT_PAIRS,
    "concordance": CONCORDANCE,
}
#: whatever else the oracle knows: a measure that has a formula there is in the table
REST = tuple(
    text
    for name in set(FORMULAS) & set(MEASURES)
    if not any(
        re.match(rf"{name}\b", text) for family in BY_HAND.values() for text in family
    )
    for text in MEASURES[name].examples or (name,)
)
FAMILIES = {**BY_HAND, **({"rest": REST} if REST else {})}
ALL = tuple(text for family in FAMILIES.values() for text in family)


def _own_worlds(family: str) -> bool:
    """Return True for measures of which some read more than grades: subtopics, or places in sessions."""
    kinds = [measure(text) for text in FAMILIES[family]]
    return any(JudgmentGroups in kind.requires or kind.query_columns for kind in kinds)


def _grouped(families: list[str], size: int) -> dict[str, tuple[str, ...]]:
    """Return families by name, so many together that their measures are scored in one world."""
    plain = [family for family in families if not _own_worlds(family)]
    count = -(-len(plain) // size)
    groups = [plain[first::count] for first in range(count)]
    groups += [[family] for family in families if family not in plain]
    return {
        " + ".join(group): tuple(text for name in group for text in FAMILIES[name])
        for group in groups
    }


#: families whose measures meet the same random worlds; at night each has worlds of its own
GROUPS = _grouped(list(FAMILIES), 1 if NIGHT else 4)
#: all of them, gain tables and padding included
EVERY = (*ALL, *TABLES, *PADDED)

#: value never exceeds 1
UNIT = tuple(
    t
    for t in (*ALL, *PADDED)
    if t not in REST
    and not t.startswith(
        (
            "Forbidden(what=number",
            "CG",
            "DCG",
            "IDCG",
            "sDCG",
            "Num",
            "TBG",
            "U(",
            "Utility",
            "yaap",
            "alpha_n",
            "nERR_IA",
            "nNRBP",
        )
    )
    and not t.startswith(("AvgRelPosition", "LastRel"))
    and ("CWL" not in t or "output=" not in t)
)
#: what stands below the last relevant document plays no part here
TAIL_PROOF = tuple(
    text
    for text in ALL
    if text.startswith(
        (
            "AP",
            "RR",
            "R@",
            "R(rel",
            "Rprec",
            "nDCG",
            "DCG",
            "CG",
            "Success",
            "NumRel",
            "RBP(",
            "SDCG",
            "IN",
            "CWL",
            "ERR",
            "nERR",
            "TBG",
            "U(",
            "Compat",
            "Q",
            "GAP",
            "BPM",
            "NERR",
            "IPrec",
            "IAP",
            "binG",
            "G",
            "ndcg_rel",
            "yaap",
            "IDCG",
        )
    )
    and not any(
        word in text
        for word in (
            "min_R_n",
            "min_R_k_n",
            "ideal_depth=min_k_n",
            "shrink",
            "min_grade",
            "pow2",
            "rel=0)",
            "=Res",
            "lists",
            "avgjg",
            "GAUC",
        )
    )
)
#: a longer list never loses here, so all judged documents, best first, are the best there is
IDEAL_IS_BEST = tuple(
    text
    for text in TAIL_PROOF
    if measure(text).claims.promotion_helps
    and "ideal=list" not in text
    and "NumRel" not in text
)
#: … and the value is 1 there (some document has the scale's highest grade)
IDEAL_IS_ONE = tuple(
    text
    for text in IDEAL_IS_BEST
    if text
    in (
        "AP",
        "R",
        "Rprec",
        "Success",
        "RR",
        "RR@1",
        "RR(target=best)",
        "AP(denom=min_R_k)@2",
    )
    or text in ("IAP", "IPrec(recall=0.1)", "binG", "ndcg_rel")
    or (
        text.startswith("nDCG")
        and not any(word in text for word in ("k_ones", "depth=all", "rel=2"))
    )
    or text.startswith(("nERR", "GAP(gain"))
    or text
    in (
        "Q",
        "Q(beta=0)",
        "Q(gain=exp2)",
        "Q(denom=min_R_k)@3",
        "GAP",
        "Compat",
        "Compat(depth=8)",
    )
)


def refused(text: str, options: Mapping[str, Any]) -> bool:
    """Return whether the value of a measure is not known under some options, and therefore refused."""
    alignment = AlignmentOptions.of({"candidates": CANDIDATES, **options})
    try:
        measure(text).check(alignment.ties, alignment.depth, alignment.negative)
        measure(text).check_needs(alignment)
    except UsageError:
        return True
    return False
