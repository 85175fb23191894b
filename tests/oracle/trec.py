"""What else trec_eval measures, by the book: recall levels as fractions, every rank and level a loop."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracle import diversity

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.oracle import Facts, Slot, Spec


def counts(grade: float | None, spec: Spec) -> bool:
    """Tell whether a grade is relevant; nothing is when no one judged it."""
    if grade is None:
        return False
    rel = spec.get("rel", ">0")
    return grade > float(rel[1:]) if isinstance(rel, str) else grade >= float(rel)


def marks(facts: Facts, spec: Spec) -> list[bool]:
    """Return for each rank down to the cutoff whether something relevant stands there."""
    return [
        slot is not None and counts(slot.grade, spec) for slot in facts.slots[: spec.k]
    ]


def total(facts: Facts, spec: Spec) -> int:
    """Return R."""
    return sum(counts(grade, spec) for grade in facts.ideal)


# -- interpolated precision ----------------------------------------------------------------------------
def reaches(count: int, level: float, relevant: int, interp: str) -> bool:
    """Tell whether so many relevant documents make up a level of recall."""
    if interp == "trec9":
        return count >= int(level * relevant + 0.9)
    if interp == "trec10":
        return count >= int(Fraction(level * relevant) + Fraction(1, 2))
    return relevant > 0 and Fraction(count, relevant) >= Fraction(str(level))


def at_level(facts: Facts, spec: Spec, level: float) -> float:
    """Return the highest precision of any rank at which the level is reached, or that of the first."""
    interp = spec.get("interp", "exact")
    hits, precisions = 0, []
    for rank, hit in enumerate(marks(facts, spec), start=1):
        hits += hit
        if reaches(hits, level, total(facts, spec), interp):
            precisions.append(hits / rank)
    if not precisions:
        return 0.0
    return precisions[0] if interp == "none" else max(precisions)


def interpolated(facts: Facts, spec: Spec) -> float:
    """Precision at one level of recall."""
    return at_level(facts, spec, float(spec.parameters["recall"]))


def interpolated_average(facts: Facts, spec: Spec) -> float:
    """Average over levels."""
    points = spec.get("levels", 11)
    levels = (
        [index / (points - 1) for index in range(int(points))]
        if not isinstance(points, set)
        else sorted(points)
    )
    return sum(at_level(facts, spec, level) for level in levels) / len(levels)


# -- sets ----------------------------------------------------------------------------------------------
def set_average(facts: Facts, spec: Spec) -> float:
    """Precision times recall."""
    hits, depth = sum(marks(facts, spec)), facts.n if spec.k is None else spec.k
    relevant = total(facts, spec)
    return (hits / depth) * (hits / relevant) if relevant and depth else 0.0


def utility(facts: Facts, spec: Spec) -> float:
    """Every document at its price."""
    shown = facts.n if spec.k is None else min(spec.k, facts.n)
    hits = sum(marks(facts, spec))
    a, b, c = (
        spec.get(name, default) for name, default in (("a", 1), ("b", -1), ("c", 0))
    )
    return float(a * hits + b * (shown - hits) + c * (total(facts, spec) - hits))


# -- gains ---------------------------------------------------------------------------------------------
def gain(grade: float | None, spec: Spec) -> float:
    """Return what a grade is worth."""
    if grade is None:
        return 0.0
    table = spec.get("gain", "linear")
    if isinstance(table, dict):
        return float({0: 0.0, **table}[grade])
    return {"linear": grade, "exp2": 2**grade - 1, "binary": float(grade > 0)}[table]


def gains(facts: Facts, spec: Spec) -> list[float]:
    """Return the gain of each rank down to the cutoff."""
    return [
        0.0 if slot is None else gain(slot.grade, spec)
        for slot in facts.slots[: spec.k]
    ]


def ideal_gains(facts: Facts, spec: Spec) -> list[float]:
    """Return the gains above 0 of all judged documents, best first."""
    return sorted(
        (g for g in (gain(grade, spec) for grade in facts.ideal) if g > 0), reverse=True
    )


def dcg(worth: list[float], depth: int) -> float:
    """Return the discounted gains of the first ranks."""
    return sum(g / math.log2(rank + 1) for rank, g in enumerate(worth[:depth], start=1))


def binary_g(facts: Facts, spec: Spec) -> float:
    """Each relevant document over the logarithm of what is not relevant above it."""
    rubbish, added = 0, 0.0
    for hit in marks(facts, spec):
        if hit:
            added += 1 / math.log2(2 + rubbish)
        else:
            rubbish += 1
    relevant = total(facts, spec)
    return added / relevant if relevant else 0.0


def g(facts: Facts, spec: Spec) -> float:
    """Each gain over the logarithm of what the ideal list is ahead by."""
    ideal, cost, brought, added = ideal_gains(facts, spec), 0.0, 0.0, 0.0
    for index, worth in enumerate(gains(facts, spec)):
        cost += max(ideal[index] if index < len(ideal) else 0.0, 1.0)
        brought += worth
        added += worth / math.log2(2 + cost - brought)
    best = sum(ideal[: spec.k])
    return added / best if best else 0.0


def ndcg_at_relevant(facts: Facts, spec: Spec) -> float:
    """Average nDCG over the ranks of relevant documents, and the end for those missed."""
    ideal, shown = ideal_gains(facts, spec), gains(facts, spec)
    values = [
        dcg(shown, rank) / dcg(ideal, rank)
        for rank, worth in enumerate(shown, start=1)
        if worth > 0
    ]
    if not ideal:
        return 0.0
    end = dcg(shown, len(shown)) / dcg(ideal, len(ideal))
    return (sum(values) + (len(ideal) - len(values)) * end) / len(ideal)


def ndcg_at_steps(facts: Facts, spec: Spec) -> float:
    """Average nDCG over the depths at which the ideal list steps down, and the end of a longer list."""
    ideal, shown = ideal_gains(facts, spec), gains(facts, spec)
    depths = [
        position
        for position, worth in enumerate(ideal, start=1)
        if position == len(ideal) or ideal[position] < worth
    ]
    if len(facts.slots) > len(ideal) + 1:
        depths.append(len(facts.slots))
    return (
        sum(dcg(shown, depth) / dcg(ideal, depth) for depth in depths) / len(depths)
        if ideal
        else 0.0
    )


def ideal_dcg(facts: Facts, spec: Spec) -> float:
    """Discounted gains of the ideal list."""
    ideal = ideal_gains(facts, spec)
    return dcg(ideal, len(ideal) if spec.k is None else spec.k)


def log_odds(facts: Facts, spec: Spec) -> float:
    """Average precision, not divided, as smoothed log-odds."""
    hits, added = 0, 0.0
    for rank, hit in enumerate(marks(facts, spec), start=1):
        hits += hit
        added += hit * hits / rank
    return math.log((1 + added) / (1 + total(facts, spec) - added))


# -- counts --------------------------------------------------------------------------------------------
def unjudged(facts: Facts, spec: Spec) -> float | None:
    """Count ranks with a document without a judgment, over all ranks."""
    depth = facts.n if spec.k is None else spec.k
    bad = sum(slot is not None and not slot.judged for slot in facts.slots[: spec.k])
    return bad / depth if depth else None


def judged_bad(facts: Facts, spec: Spec) -> float:
    """Count documents judged and found not relevant."""
    return float(
        sum(
            slot is not None
            and slot.judged
            and slot.grade is not None
            and not counts(slot.grade, spec)
            for slot in facts.slots[: spec.k]
        )
    )


# -- judgment groups -----------------------------------------------------------------------------------
def over_groups(name: str) -> Callable[[Facts, Spec], float]:
    """Return the mean of a measure over the groups of a query."""

    def mean(facts: Facts, spec: Spec) -> float:
        from tests.oracle.oracle import FORMULAS as ALL
        from tests.oracle.oracle import Facts as Made
        from tests.oracle.oracle import Slot as Place
        from tests.oracle.oracle import Spec as Asked

        groups = {
            group
            for doc, grade in facts.pool
            for group in diversity.subtopics(doc, grade)
        }
        values = []
        for group in groups:
            slots = tuple(
                None if slot is None else Place(_own(slot, group), judged=slot.judged)
                for slot in facts.slots
            )
            own = [
                g
                for doc, grade in facts.pool
                for n, g in diversity.subtopics(doc, grade).items()
                if n == group
            ]
            part = Made(slots, facts.n, tuple(own), facts.lowest, facts.retrieved)
            values.append(
                float(ALL[name](part, Asked(name, spec.k, spec.parameters)) or 0.0)
            )
        return sum(values) / len(values) if values else 0.0

    return mean


def _own(slot: Slot, group: str) -> float | None:
    """Return a group's own grade of what stands in a slot; imputed grades belong to no group."""
    if slot.doc is None or slot.grade is None or not slot.judged:
        return None
    return diversity.subtopics(slot.doc, slot.grade).get(group)


GROUPED = ("AP_avgjg", "P_avgjg", "Rprec_avgjg")
FORMULAS: dict[str, Any] = {
    "IPrec": interpolated,
    "IAP": interpolated_average,
    "SetAP": set_average,
    "Utility": utility,
    "binG": binary_g,
    "G": g,
    "ndcg_rel": ndcg_at_relevant,
    "Rndcg": ndcg_at_steps,
    "IDCG": ideal_dcg,
    "yaap": log_odds,
    "Unjudged": unjudged,
    "NumNonrelRet": judged_bad,
    "NumQ": lambda facts, spec: 1.0,  # noqa: ARG005 - the signature of a formula
    **{name: over_groups(name.removesuffix("_avgjg")) for name in GROUPED},
}
#: measures that a query without a relevant document leaves as they are
INDIFFERENT = ("Utility", "IDCG", "Unjudged", "NumNonrelRet", "NumQ")
