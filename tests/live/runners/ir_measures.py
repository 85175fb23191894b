"""ir_measures' own numbers: ``calc_aggregate``, which asks its providers."""

from __future__ import annotations

from typing import Any

LIBRARY = "ir_measures-0.4"
REQUIRES = ["ir_measures==0.4.3", "pytrec-eval-terrier==0.5.11", "cwl-eval==1.0.12"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = [
    "AP", "AP@<k>", "AP(rel=2)", "AP(judged_only=True)@<k>", "MAP(rel=2,judged_only=True)@<k>", "P@<k>",
    "P(rel=2)@<k>", "P(judged_only=True)@<k>", "Precision(judged_only=True, rel=3)@<k>", "R@<k>",
    "R(rel=2)@<k>", "R(judged_only=True)@<k>", "Rprec", "Rprec(rel=2)", "RR", "RR(rel=2)",
    "MRR(judged_only=True)", "RR@<k>", "RR(rel=2)@<k>", "Success@<k>", "Success(rel=2)@<k>", "Bpref",
    "Bpref(rel=2)", "infAP", "nDCG", "nDCG@<k>", "nDCG(judged_only=True)@<k>", "nDCG(judged_only=True)",
    "SetP", "SetP(rel=2)", "SetRelP", "SetR", "SetAP", "SetF", "SetF(judged_only=True)", "NumRelRet",
    "NumRet", "NumRet(rel=2)", "NumRel", "NumQ", "IPrec@0.2", "IPrec(rel=2)@0.75", "Judged@<k>", "Judged",
    "nDCG(dcg='exp-log2')@<k>", "ERR@<k>", "RBP(p=0.95,rel=1)", "RBP(rel=2)", "SDCG(max_rel=3)@<k>",
    "NERR8(max_rel=3)@<k>", "NERR9(max_rel=3)@<k>", "NERR10(p=0.8, max_rel=3)", "NERR11(max_rel=3)",
    "NERR11(T=2.0,max_rel=3)", "INST(max_rel=3)", "INST(T=2.5, max_rel=3)", "INSQ(max_rel=3)",
    "INSQ(T=3.0,max_rel=3)", "BPM(max_rel=3)@<k>", "BPM(T=2.0,max_rel=3)@<k>", "Accuracy", "Accuracy@<k>",
    "Compat", "Compat(p=0.8)", "Compat(p=0.9, normalize=False)", "Compat(normalize=False)",
    "AP(rel=2)@<k>", "AP(judged_only=True)", "AP(rel=2, judged_only=True)",
    "R(rel=2, judged_only=True)@<k>", "Rprec(judged_only=True)", "Rprec(rel=2, judged_only=True)",
    "RR(rel=2, judged_only=True)", "Success(judged_only=True)@<k>", "Success(rel=2, judged_only=True)@<k>",
    "infAP(rel=2)", "SetP(judged_only=True)", "SetP(rel=2, judged_only=True)", "SetRelP(rel=2)",
    "SetRelP(judged_only=True)", "SetRelP(rel=2, judged_only=True)", "SetR(rel=2)", "SetAP(rel=2)",
    "SetAP(judged_only=True)", "SetAP(rel=2, judged_only=True)", "SetF(rel=2)",
    "SetF(rel=2, judged_only=True)", "IPrec(judged_only=True)@0.5", "IPrec(judged_only=True)@0.05",
    "NERR10(max_rel=3)",
]  # fmt: skip
#: gdeval prints five decimals
WITHIN = 6e-6


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw no query whose grades are all below 0: trec_eval writes past the end of its list of levels there."""
    from tests.live import worlds

    drawn = worlds.cases(seed, count, traits)
    for judged in (judged for case in drawn for judged in case["qrels"].values()):
        if judged and max(judged.values()) < 0:
            judged[next(iter(judged))] = 0.0
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises; topics are numbers."""
    import warnings

    import ir_measures

    warnings.simplefilter("ignore")
    ir_measures.providers.cwl_eval.logger.disabled = True
    topics = {
        query: str(number)
        for number, query in enumerate({**case["qrels"], **case["run"]})
    }
    qrels = {
        topics[query]: {doc: int(grade) for doc, grade in judged.items()}
        for query, judged in case["qrels"].items()
    }
    run = {topics[query]: dict(listed) for query, listed in case["run"].items()}
    numbers: dict[str, Any] = {}
    for group in _apart(measures):
        options = {measure: ir_measures.parse_measure(measure) for measure in group}
        try:
            # a measure of trec_eval brings in the queries without judgments, which some others leave out alone
            beside = [] if group[0].startswith("Accuracy") else ["P@1"]
            everything = [*options.values(), *map(ir_measures.parse_measure, beside)]
            values = ir_measures.calc_aggregate(everything, qrels, run)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            if len(group) == 1:
                numbers[group[0]] = {"error": type(error).__name__}
            else:  # what one stumbles over costs no other
                numbers |= {
                    name: value
                    for item in group
                    for name, value in score(case, [item]).items()
                }
            continue
        numbers |= {measure: float(values[value]) for measure, value in options.items()}
    return numbers


def _apart(measures: list[str]) -> list[list[str]]:
    """Ask apart what raises; and what looks at judged documents only, which NumRet would join."""
    alone = [measure for measure in measures if measure.startswith("Accuracy")]
    condensed = [measure for measure in measures if "judged_only" in measure]
    rest = [measure for measure in measures if measure not in (*alone, *condensed)]
    return [
        group for group in (rest, condensed, *([measure] for measure in alone)) if group
    ]


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Explain Accuracy's division by zero and the order of equals in Compat's ideal list."""
    if measure.startswith("IPrec(judged_only") and {} in case["qrels"].values():
        return "a query without any judgment counts 0 there, and one without a relevant document has no value"
    for query in case["qrels"].keys() & case["run"].keys():
        judged, listed = case["qrels"][query], case["run"][query]
        if (
            measure.startswith(("IPrec", "Compat"))
            and not listed
            and not _needed(judged, measure)
        ):
            return (
                "an empty list where no relevant document is needed: it divides 0 by 0"
            )
        if measure.startswith("Accuracy@"):
            top = [judged.get(doc, 0) >= 1 for doc, _ in listed[: case["k"]]]
            if all(top):
                return (
                    "Accuracy divides by 0 where a list shows relevant documents only"
                )
        if measure.startswith("Compat") and _equals(judged, dict(listed)):
            return "Compat's ideal list has equals in the order of the judgments, unretrieved ones at score 0"
        if measure.startswith("BPM(T=2.0") and _rounded(
            [judged.get(doc, 0) for doc, _ in listed]
        ):
            return "BPM does not see that a goal is reached: 3/3 + 2/3 + 1/3 is less than 2 there"
    return None


def _needed(judged: dict[str, float], measure: str) -> int:
    """Return how many relevant documents make the recall that is looked at; all there are for Compat."""
    least = int(measure.partition("rel=")[2][:1] or 1)
    total = sum(grade >= least for grade in judged.values())
    return (
        int(float(measure.partition("@")[2]) * total + 0.9)
        if measure.startswith("IPrec")
        else total
    )


def _equals(judged: dict[str, float], scores: dict[str, float]) -> bool:
    """Tell whether documents of one grade are tied, those that are not retrieved having score 0."""
    for grade in {grade for grade in judged.values() if grade > 0}:
        alike = [scores.get(doc) for doc, its in judged.items() if its == grade]
        known = [score for score in alike if score is not None]
        if len(set(known)) < len(known) or (
            None in alike and any(score <= 0 for score in known)
        ):
            return True
    return False


def _rounded(grades: list[float]) -> bool:
    """Tell whether thirds add up to 2, but not in floating point."""
    total, thirds = 0.0, 0
    for grade in grades:
        total, thirds = total + max(grade, 0) / 3, thirds + int(max(grade, 0))
        if (total >= 2) != (thirds >= 6):
            return True
    return False
