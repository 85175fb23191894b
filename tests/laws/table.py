"""The table of measures that every law runs over."""

from __future__ import annotations

from rankstone import Measure, parse_measure

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
    "Rprec",
    "Rprec(rel=2)",
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
    "AP(denom=hits)",
    "AP(denom=hits)@3",
    "AP(denom=k)@3",
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
COUNTS = ("Judged", "Judged@3", "NumRet", "NumRel", "NumRel(rel=2)", "NumRelRet", "NumRelRet(rel=2)@3")
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
)
#: padding a short list with the scale's lowest grade
PADDED = ("nDCG(pad=min_grade)@8", "nDCG(gain=exp2, pad=min_grade)@4")

FAMILIES: dict[str, tuple[str, ...]] = {
    "binary": BINARY,
    "average precision": AVERAGE_PRECISION,
    "reciprocal rank": RECIPROCAL_RANK,
    "cumulated gain": CUMULATED_GAIN,
    "ndcg": NDCG,
    "counts": COUNTS,
    "zero counts": ZERO_COUNTS,
}
ALL = tuple(text for family in FAMILIES.values() for text in family)

#: value never exceeds 1
UNIT = tuple(t for t in ALL + PADDED if not t.startswith(("CG", "DCG", "Num")))
#: the only measures that may refuse ties="expected", "best" and "worst", or be exempt from promotion
MAY_REFUSE_EXPECTED = ("AP(denom=hits)", "AP(denom=hits)@3", "nDCG(gain=exp2, ideal=topk)@3")
MAY_REFUSE_EXTREMES = (*MAY_REFUSE_EXPECTED, "Judged", "Judged@3", *ZERO_COUNTS, *TABLES)
MAY_FALL_WHEN_PROMOTED = (*MAY_REFUSE_EXPECTED, *TABLES)
#: what stands below the last relevant document plays no part here
TAIL_PROOF = tuple(
    text
    for text in ALL
    if text.startswith(("AP", "RR", "R@", "R(rel", "Rprec", "nDCG", "DCG", "CG", "Success", "NumRel"))
    and not any(
        word in text for word in ("min_R_n", "ideal_depth=min_k_n", "shrink", "min_grade", "pow2", "rel=0)")
    )
)
#: a longer list never loses here, so all judged documents, best first, are the best there is
IDEAL_IS_BEST = tuple(
    text
    for text in TAIL_PROOF
    if text not in MAY_FALL_WHEN_PROMOTED and "ideal=list" not in text and "NumRel" not in text
)
#: … and the value is 1 there (some document has the scale's highest grade)
IDEAL_IS_ONE = tuple(
    text
    for text in IDEAL_IS_BEST
    if text in ("AP", "R", "Rprec", "Success", "RR", "RR@1", "RR(target=best)", "AP(denom=min_R_k)@2")
    or (text.startswith("nDCG") and not any(word in text for word in ("k_ones", "depth=all", "rel=2")))
)


def measure(text: str) -> Measure:
    """Return the measure a text stands for."""
    found = parse_measure(text)
    assert isinstance(found, Measure)
    return found
