"""User models by the book: a list of gains, a chance to go on from each rank, sums written out.

Nothing is closed here: walks visit every rank down to their end, a compatibility tries every ideal
order, graded average precision visits every pair.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.oracle.oracle import Facts, Slot, Spec

#: what a measure's gain is when its text does not say
USUAL_GAIN = {
    "ERR": "exp2",
    "nERR": "exp2",
    "RBP": "binary",
    "RBP_residual": "binary",
    "U": "binary",
    "Q": "linear",
    "GAP": "linear",
    "O_measure": "linear",
    "P_measure": "linear",
    "P_plus": "linear",
}
#: rounded fractions that add up to a goal have reached it
NEARLY = 1e-9
#: ideal lists of this depth are tried in every order
TRIED = 10


def counts(grade: float | None, spec: Spec) -> bool:
    """Tell whether a grade is relevant; nothing is when no one judged it."""
    if grade is None:
        return False
    rel = spec.get("rel", ">0")
    return grade > float(rel[1:]) if isinstance(rel, str) else grade >= float(rel)


def share(grade: float | None, spec: Spec) -> float:
    """Return a gain from 0 to 1."""
    if grade is None or ("rel" in spec.parameters and not counts(grade, spec)):
        return 0.0
    gain, top = (
        spec.get("gain", USUAL_GAIN.get(spec.name, "linear")),
        spec.get("max_grade", None),
    )
    if isinstance(gain, dict):
        return float({0: 0.0, **gain}[grade])
    if gain == "binary":
        return float(counts(grade, spec))
    assert grade <= top
    positive = max(grade, 0.0)
    worth: dict[str, float] = {
        "linear": positive / top,
        "linear_plus1": positive / (top + 1),
        "exp2": (2**positive - 1) / 2**top,
    }
    return worth[gain]


def largest_share(spec: Spec) -> float:
    """Return the gain of the best document there could be."""
    gain = spec.get("gain", USUAL_GAIN.get(spec.name, "linear"))
    if isinstance(gain, dict):
        return float(max(gain.values()))
    return 1.0 if gain == "binary" else share(spec.parameters["max_grade"], spec)


def gain(grade: float | None, spec: Spec) -> float:
    """Return a gain without an upper end; what is not relevant gains nothing."""
    if grade is None or not counts(grade, spec):
        return 0.0
    kind = spec.get("gain", "linear")
    if isinstance(kind, dict):
        return float({0: 0.0, **kind}[grade])
    return float(2**grade - 1) if kind == "exp2" else grade


def shown(facts: Facts, spec: Spec) -> list[Slot | None]:
    """Return the slots down to the cutoff."""
    return list(facts.slots[: spec.k])


def grades(facts: Facts, spec: Spec) -> list[float | None]:
    """Return the grades down to the cutoff."""
    return [None if slot is None else slot.grade for slot in shown(facts, spec)]


# -- the cascade -----------------------------------------------------------------------------------------
def cascade(chances: Sequence[float]) -> float:
    """Add 1/i times the chance that rank i is the one that satisfies."""
    total = 0.0
    for rank, chance in enumerate(chances, start=1):
        total += (
            chance / rank * math.prod(1 - earlier for earlier in chances[: rank - 1])
        )
    return total


def expected_reciprocal_rank(facts: Facts, spec: Spec) -> float:
    """ERR."""
    return cascade([share(grade, spec) for grade in grades(facts, spec)])


def normalised_err(facts: Facts, spec: Spec) -> float:
    """ERR over that of the best order of everything judged."""
    ideal = sorted((share(grade, spec) for grade in facts.ideal), reverse=True)
    best = cascade(ideal[: spec.k])
    return expected_reciprocal_rank(facts, spec) / best if best else 0.0


# -- rank-biased precision -------------------------------------------------------------------------------
def rank_biased_precision(facts: Facts, spec: Spec) -> float:
    """(1 − p) Σ g p^(i − 1)."""
    p: float = spec.parameters["p"]
    return (1 - p) * sum(
        share(grade, spec) * p**index for index, grade in enumerate(grades(facts, spec))
    )


def residual_of_rbp(facts: Facts, spec: Spec) -> float:
    """Return what unjudged ranks and the tail could add."""
    p: float = spec.parameters["p"]
    top, slots = largest_share(spec), shown(facts, spec)
    total = top * p ** len(slots)
    for index, slot in enumerate(slots):
        known = slot is not None and slot.judged
        now = 0.0 if slot is None else share(slot.grade, spec)
        total += 0.0 if known else (1 - p) * p**index * (top - now)
    return total


# -- walks -----------------------------------------------------------------------------------------------
def continuations(model: str, gains: Sequence[float], spec: Spec) -> list[float]:  # noqa: C901, PLR0912
    """Return C(1), C(2), … of a model, rank by rank."""
    default = {"NERR10": 0.9}.get(spec.name, 0.0)
    p, goal = spec.get("p", default), spec.get("T", 1.0)
    cost, half_life = spec.get("cost", 1.0), spec.get("half_life", 1.0)
    chances, gathered = [], 0.0
    wanted, budget, stopped = goal, float(spec.k or 0), False
    for rank, result in enumerate(gains, start=1):
        gathered += result
        if model in ("P", "SDCG", "NERR8", "NERR9") and rank == spec.k:
            chances.append(0.0)
        elif model == "P":
            chances.append(1.0)
        elif model == "RBP":
            chances.append(p)
        elif model == "SDCG":
            chances.append(math.log2(rank + 1) / math.log2(rank + 2))
        elif model == "INSQ":
            chances.append(((rank + 2 * goal - 1) / (rank + 2 * goal)) ** 2)
        elif model == "INST":
            both = goal + (goal - gathered)
            chances.append(((rank + both - 1) / (rank + both)) ** 2)
        elif model == "NERR8":
            chances.append(1 - result)
        elif model == "NERR9":
            chances.append(rank / (rank + 1) * (1 - result))
        elif model == "NERR10":
            chances.append(p * (1 - result))
        elif model == "NERR11":
            chances.append(
                ((rank + 2 * goal - 1) / (rank + 2 * goal)) ** 2 * (1 - result)
            )
        elif model == "RR":
            chances.append(1.0 if result == 0 else 0.0)
        elif model == "AP":
            here, below = (
                sum(g / j for j, g in enumerate(gains, start=1) if j >= least)
                for least in (rank, rank + 1)
            )
            chances.append(below / here if here else 0.0)
        elif model == "TBG":
            spent = spec.get("cost_relevant", cost) if result > 0 else cost
            chances.append(2 ** (-spent / half_life))
        elif model == "U":
            now, then = (
                max(0.0, 1 - position * cost / spec.parameters["L"])
                for position in (rank - 1, rank)
            )
            chances.append(then / now if now else 0.0)
        else:
            assert model == "BPM"
            stopped = stopped or gathered >= wanted - NEARLY or rank >= budget - NEARLY
            chances.append(0.0 if stopped else 1.0)
            wanted += spec.get("hb", 0.0) * (result - spec.get("gain_med", 0.5))
            budget += spec.get("hc", 0.0) * (result - spec.get("gain_med", 0.5))
    return chances


def walk(gains: Sequence[float], spec: Spec, output: str) -> float:
    """Visit every rank: V, then sums."""
    looked = [1.0]
    for chance in continuations(spec.get("model", spec.name), gains, spec)[:-1]:
        looked.append(looked[-1] * chance)
    cost = spec.get("cost", 1.0)
    costs = [
        spec.get("cost_relevant", cost) if result > 0 else cost for result in gains
    ]
    utility = sum(v * result for v, result in zip(looked, gains, strict=True))
    spent = sum(v * c for v, c in zip(looked, costs, strict=True))
    texts: dict[str, float] = {
        "EU": utility / sum(looked),
        "ETU": utility,
        "EC": spent / sum(looked),
        "ETC": spent,
        "ED": sum(looked),
    }
    return texts[output]


def end_of_walk(spec: Spec) -> int:
    """Return the last rank anybody looks at."""
    model = spec.get("model", spec.name)
    if model in ("P", "SDCG", "NERR8", "NERR9"):
        return int(spec.k or 0)
    return max(int(spec.get("n_max", 1000)), spec.k or 0)


def user_model(facts: Facts, spec: Spec) -> float:
    """Return what the model tells; its residual by walking twice."""
    output, end = spec.get("output", "EU"), end_of_walk(spec)
    moving = bool(spec.get("hc", 0.0))
    slots = list(facts.slots if moving else shown(facts, spec))[:end]
    slots += [None] * (end - len(slots))
    known = [share(None if slot is None else slot.grade, spec) for slot in slots]
    if not output.startswith("Res"):
        return walk(known, spec, output)
    hoped = [
        row if slot is not None and slot.judged else largest_share(spec)
        for slot, row in zip(slots, known, strict=True)
    ]
    return walk(hoped, spec, output[3:]) - walk(known, spec, output[3:])


# -- time and text ---------------------------------------------------------------------------------------
def time_biased_gain(facts: Facts, spec: Spec) -> float:
    """Let the clock run down the list."""
    clock, total = 0.0, 0.0
    for grade in grades(facts, spec):
        relevant = counts(grade, spec)
        click = (
            spec.get("click_relevant", 0.64) if relevant else spec.get("click", 0.39)
        )
        if relevant:
            total += (
                click
                * spec.get("save", 0.77)
                * 0.5 ** (clock / spec.get("half_life", 224))
            )
        reading = spec.get("per_word", 0.018) * spec.parameters["words"] + spec.get(
            "opening", 7.8
        )
        clock += spec.get("summary", 4.4) + reading * click
    return total


def u_measure(facts: Facts, spec: Spec) -> float:
    """Let the text pile up down the list."""
    position, total = 0.0, 0.0
    for grade in grades(facts, spec):
        cost = spec.get("cost", 1.0)
        before = position
        position += spec.get("cost_relevant", cost) if counts(grade, spec) else cost
        index = before if spec.get("position", "end") == "start" else position
        total += share(grade, spec) * max(0.0, 1 - index / spec.parameters["L"])
    return total


# -- graded average precision ----------------------------------------------------------------------------
def blended(facts: Facts, spec: Spec) -> dict[int, float]:
    """Return the blended ratio at every relevant rank."""
    seen, ratios = grades(facts, spec), {}
    ideal = sorted((gain(grade, spec) for grade in facts.ideal), reverse=True)
    beta = spec.get("beta", 1.0)
    for rank, grade in enumerate(seen, start=1):
        if counts(grade, spec):
            hits = sum(counts(other, spec) for other in seen[:rank])
            gains = sum(gain(other, spec) for other in seen[:rank])
            ratios[rank] = (hits + beta * gains) / (rank + beta * sum(ideal[:rank]))
    return ratios


def sought(facts: Facts, spec: Spec) -> float:
    """Stop at the first relevant document, at the first of the best grade, or anywhere on the way to it."""
    seen, ratios = grades(facts, spec), blended(facts, spec)
    if not ratios:
        return 0.0
    best = max(ratios, key=lambda rank: (seen[rank - 1] or 0.0, -rank))
    ends = {
        "O_measure": [min(ratios)],
        "P_measure": [best],
        "P_plus": [r for r in ratios if r <= best],
    }
    return sum(ratios[rank] for rank in ends[spec.name]) / len(ends[spec.name])


def q_measure(facts: Facts, spec: Spec) -> float:
    """Blend hits and gains at every relevant rank."""
    total = sum(blended(facts, spec).values())
    relevant = sum(counts(grade, spec) for grade in facts.ideal)
    most = (
        min(relevant, spec.k or relevant)
        if spec.get("denom", "R") == "min_R_k"
        else relevant
    )
    return total / most if most else 0.0


def graded_average_precision(facts: Facts, spec: Spec) -> float:
    """Visit every pair of ranks."""
    seen, total = grades(facts, spec), 0.0
    for rank, grade in enumerate(seen, start=1):
        both = [min(gain(grade, spec), gain(other, spec)) for other in seen[:rank]]
        total += sum(both) / rank
    most = sum(gain(grade, spec) for grade in facts.ideal)
    return total / most if most else 0.0


# -- compatibility ---------------------------------------------------------------------------------------
def overlap(values: Sequence[int], other: Sequence[int], p: float, depth: int) -> float:
    """Return the rank-biased overlap of two lists, not yet over its weights."""
    total, both = 0.0, 0
    for d in range(1, depth + 1):
        if d <= max(len(values), len(other)):
            both = len(set(values[:d]) & set(other[:d]))
        total += p ** (d - 1) * both / d
    return total


def compatibility(facts: Facts, spec: Spec) -> float:
    """Compare the list with every ideal order, and keep the best."""
    seen, p = grades(facts, spec), spec.get("p", 0.95)
    missed = [grade for grade in facts.ideal if grade > 0]
    for grade in seen:
        if grade is not None and grade > 0:
            missed.remove(grade)
    wanted = {
        index: grade
        for index, grade in enumerate(seen)
        if grade is not None and grade > 0
    }
    wanted |= {1000 + index: grade for index, grade in enumerate(missed)}
    depth = spec.get("depth", 1000)
    depth = max(len(seen), len(wanted)) if depth == "lists" else int(depth)
    equal = [
        [doc for doc in wanted if wanted[doc] == level]
        for level in sorted(set(wanted.values()))[::-1]
    ]
    ideals = [[doc for group in equal for doc in group]]
    if depth <= TRIED:
        every = itertools.product(*(itertools.permutations(group) for group in equal))
        ideals = [[doc for group in groups for doc in group] for groups in every]
    best = max(overlap(range(len(seen)), ideal, p, depth) for ideal in ideals)
    if spec.get("normalize", True):
        most = overlap(ideals[0], ideals[0], p, depth)
    else:
        most = sum(p ** (d - 1) for d in range(1, depth + 1))
    return best / most if most else 0.0


FORMULAS: dict[str, Callable[[Facts, Spec], float]] = {
    "ERR": expected_reciprocal_rank,
    "nERR": normalised_err,
    "RBP": rank_biased_precision,
    "RBP_residual": residual_of_rbp,
    **dict.fromkeys(
        ("CWL", "SDCG", "INSQ", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11"),
        user_model,
    ),
    "TBG": time_biased_gain,
    "U": u_measure,
    "Q": q_measure,
    **dict.fromkeys(("O_measure", "P_measure", "P_plus"), sought),
    "GAP": graded_average_precision,
    "Compat": compatibility,
}
#: measures that a query without a relevant document leaves as they are
INDIFFERENT = ("CWL", "RBP_residual", "TBG", "U")
