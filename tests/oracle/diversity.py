"""Diversity and propensities by the book: sets of subtopics, exact fractions, every choice a loop.

What a document is about and how likely it was judged follow from its id, so that rows of judgments stay
rows of (query, document, grade): ``subtopics`` and ``propensity`` say what further columns hold.
"""

from __future__ import annotations

import math
import zlib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.oracle.oracle import Facts, Id, Row, Spec

NAMES = ("a", "b", "c", "d")
#: where every query stands in its session; each is alone in one
PLACE = 3
#: what is so small need not be divided
TINY = 1e-300
#: weights of intents in the tests that give any
WEIGHTS = {"a": 0.5, "b": 0.25, "c": 1.0, "d": 0.0}


def _code(doc: Id) -> int:
    return zlib.crc32(str(doc).encode())


def subtopics(doc: Id, grade: float) -> dict[str, float]:
    """Return the grades of a document for its subtopics; the highest is the grade given."""
    code = _code(doc)
    first = NAMES[code % 3]
    others = [
        name
        for index, name in enumerate(NAMES)
        if code >> (5 + index) & 1 and name != first
    ]
    return {first: grade, **dict.fromkeys(others, grade - 1 if grade >= 1 else grade)}


def propensity(doc: Id) -> float:
    """Return the propensity of a document."""
    return (1.0, 0.5, 0.2, 0.9)[_code(doc) % 4]


def is_forbidden(doc: Id, grade: float) -> bool:
    """Tell whether a document must not be shown: some of those of grade 0."""
    return grade == 0 and _code(doc) % 2 == 0


def split(rows: Iterable[Row]) -> list[tuple[Id, str, Id, float]]:
    """Return judgments (query, subtopic, document, grade)."""
    return [
        (query, name, doc, own)
        for query, doc, grade in rows
        for name, own in subtopics(doc, grade).items()
    ]


# -- what a measure sees -------------------------------------------------------------------------------
def counts(grade: float, spec: Spec) -> bool:
    """Tell whether a grade is relevant."""
    rel = spec.get("rel", ">0")
    return grade > float(rel[1:]) if isinstance(rel, str) else grade >= float(rel)


def serves(doc: Id, grade: float, spec: Spec) -> set[str]:
    """Return the subtopics that a document is relevant to."""
    return {name for name, g in subtopics(doc, grade).items() if counts(g, spec)}


def weights(facts: Facts, spec: Spec) -> dict[str, Fraction]:
    """Return what each subtopic weighs that some document is relevant to."""
    names = {
        name for doc, grade in facts.pool for name in serves(doc, grade, _inner(spec))
    }
    chosen = {
        name: Fraction(WEIGHTS[name]) if facts.weighted else Fraction(1)
        for name in sorted(names)
    }
    return {name: weight for name, weight in chosen.items() if weight > 0}


def to_find(facts: Facts, spec: Spec) -> int:
    """Return how many subtopics there are to serve, or relevant documents of known propensity."""
    if spec.name in ("PSP", "PSnDCG"):
        return sum(counts(grade, spec) for _, grade in facts.pool)
    return len(weights(facts, spec))


def ranked(facts: Facts, k: int | None) -> list[tuple[Id, float] | None]:
    """Return the judged documents at ranks 1 … k, None where nothing of worth stands."""
    shown = facts.slots[:k]
    return [
        (slot.doc, slot.grade)
        if slot is not None
        and slot.judged
        and slot.grade is not None
        and slot.doc is not None
        else None
        for slot in shown
    ]


# -- novelty -------------------------------------------------------------------------------------------
def _alpha(spec: Spec) -> Fraction:
    return Fraction(str(spec.get("alpha", 0.5)))


def new_gains(
    docs: Sequence[tuple[Id, float] | None], facts: Facts, spec: Spec
) -> list[Fraction]:
    """Return what each rank gains: a subtopic is worth 1 − α times what it was, each time it is served."""
    fresh = weights(facts, spec)
    gains = []
    for doc in docs:
        served = serves(*doc, spec) & set(fresh) if doc is not None else set()
        gains.append(sum((fresh[name] for name in served), Fraction(0)))
        for name in served:
            fresh[name] *= 1 - _alpha(spec)
    return gains


def greedy(facts: Facts, spec: Spec) -> list[tuple[Id, float] | None]:
    """Return the judged documents, at every rank the one that gains most; of equals the larger id."""
    left = list(facts.pool)
    chosen: list[tuple[Id, float] | None] = []
    while left:
        tried = [
            (new_gains([*chosen, item], facts, spec)[-1], str(item[0]).encode(), item)
            for item in left
        ]
        best = max(tried, key=lambda entry: entry[:2])[2]
        chosen.append(best)
        left.remove(best)
    return chosen


def cost(rank: int, spec: Spec) -> float:
    """Return what a gain at a rank is divided by."""
    if "DCG" in spec.name:
        return math.log2(rank + 1)
    return (
        float(rank)
        if "ERR" in spec.name
        else float(spec.get("beta", 0.5)) ** (1 - rank)
    )


def discounted(gains: Iterable[Fraction], spec: Spec) -> float:
    """Each gain over its rank's cost, added."""
    return sum(
        float(gain) / cost(rank, spec) for rank, gain in enumerate(gains, start=1)
    )


def novelty(facts: Facts, spec: Spec) -> float:
    """Divide what is new by the greedy order, or by endless documents about everything."""
    reached = discounted(new_gains(ranked(facts, spec.k), facts, spec), spec)
    if spec.name.startswith(("alpha_n", "n")):
        norm = discounted(new_gains(greedy(facts, spec)[: spec.k], facts, spec), spec)
    else:
        depth = spec.k if spec.k is not None and spec.name != "NRBP" else 4000
        fading = enumerate(
            (float(1 - _alpha(spec)) ** i for i in range(depth)), start=1
        )
        whole = float(sum(weights(facts, spec).values()))
        norm = whole * sum(
            share / cost(rank, spec) for rank, share in fading if share > TINY
        )
    return reached / norm if norm else 0.0


# -- coverage and means over intents -------------------------------------------------------------------
def coverage(facts: Facts, spec: Spec) -> float:
    """Divide the subtopics shown by those there are."""
    exist = set(weights(facts, spec))
    shown = {
        name
        for item in ranked(facts, spec.k)
        if item is not None
        for name in serves(*item, spec)
    } & exist
    return len(shown) / len(exist) if exist else 0.0


def _inner(spec: Spec) -> Spec:
    from tests.oracle.oracle import Spec as Made
    from tests.oracle.oracle import read_measure

    if spec.name == "IA":
        inputs = read_measure(str(spec.parameters["of"]))
        return Made(inputs.name, spec.k, inputs.parameters)
    return (
        Made(spec.name.removesuffix("_IA"), spec.k, spec.parameters)
        if spec.name in ("AP_IA", "P_IA")
        else spec
    )


def over_intents(facts: Facts, spec: Spec) -> float:
    """Return the mean of a measure over the intents, each with its own judgments."""
    from tests.oracle.oracle import FORMULAS as ALL
    from tests.oracle.oracle import Facts as Made
    from tests.oracle.oracle import Slot

    inner, whole, added = _inner(spec), weights(facts, spec), 0.0
    for name, weight in whole.items():
        slots = tuple(
            None
            if slot is None
            else Slot(
                None if item is None else subtopics(*item).get(name),
                judged=item is not None,
            )
            for slot, item in zip(facts.slots, ranked(facts, None), strict=True)
        )
        own = [
            g
            for doc, grade in facts.pool
            for n, g in subtopics(doc, grade).items()
            if n == name
        ]
        part = Made(
            slots,
            facts.n,
            tuple(sorted(own, reverse=True)),
            facts.lowest,
            facts.retrieved,
        )
        added += float(weight) * float(ALL[inner.name](part, inner) or 0.0)
    return added / float(sum(whole.values())) if whole else 0.0


# -- D and D-sharp -------------------------------------------------------------------------------------
def global_gain(doc: Id, grade: float, facts: Facts, spec: Spec) -> float:
    """Return what a document is worth to all intents."""
    worth: dict[str, Callable[[float], float]] = {
        "linear": lambda g: g,
        "exp2": lambda g: 2**g - 1,
        "binary": lambda _: 1.0,
    }
    gain, grades = worth[spec.get("gain", "linear")], subtopics(doc, grade)
    return sum(
        float(weight) * gain(max(grades[name], 0.0))
        for name, weight in weights(facts, spec).items()
        if name in grades and counts(grades[name], spec)
    )


def d_ndcg(facts: Facts, spec: Spec) -> float:
    """Return nDCG of global gains."""
    shown = [
        0.0 if item is None else global_gain(*item, facts, spec)
        for item in ranked(facts, spec.k)
    ]
    every = sorted(
        (global_gain(doc, grade, facts, spec) for doc, grade in facts.pool),
        reverse=True,
    )
    ideal = every[: spec.k]

    def dcg(gains: Sequence[float]) -> float:
        return sum(
            gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1)
        )

    return dcg(shown) / dcg(ideal) if dcg(ideal) else 0.0


def d_sharp(facts: Facts, spec: Spec) -> float:
    """Mix intent recall and D-nDCG."""
    gamma = float(spec.get("gamma", 0.5))
    return gamma * coverage(facts, spec) + (1 - gamma) * d_ndcg(facts, spec)


# -- propensities --------------------------------------------------------------------------------------
def propensity_scored(facts: Facts, spec: Spec) -> float:
    """Divide the weights of relevant labels found by the largest there are."""
    listed = [
        1 / propensity(item[0]) if item is not None and counts(item[1], spec) else 0.0
        for item in ranked(facts, spec.k)
    ]
    best = sorted(
        (1 / propensity(doc) for doc, g in facts.pool if counts(g, spec)), reverse=True
    )[: spec.k]

    def added(values: Sequence[float]) -> float:
        plain = spec.name == "PSP"
        return sum(
            v if plain else v / math.log2(rank + 1)
            for rank, v in enumerate(values, start=1)
        )

    return added(listed) / added(best) if best else 0.0


# -- sessions ------------------------------------------------------------------------------------------
def in_session(facts: Facts, spec: Spec) -> float:
    """Return the DCG of a query that comes third, or its nDCG, from which the discount cancels."""
    from tests.oracle.oracle import dcg, ideal_dcg

    if spec.name == "nsDCG":
        return (
            dcg(facts, spec) / ideal_dcg(facts, spec) if ideal_dcg(facts, spec) else 0.0
        )
    base, late = float(spec.get("bq", 4)), spec.get("late", "plus_one")
    return dcg(facts, spec) / (
        1 + math.log(PLACE, base)
        if late == "plus_one"
        else math.log(PLACE + base - 1, base)
    )


def forbidden(facts: Facts, spec: Spec) -> float | None:
    """Count what must not be shown in the first k; 1 at most unless ``what=number``."""
    marked = {doc for doc, grade in facts.pool if is_forbidden(doc, grade)}
    if not marked:
        return None
    shown = [slot for slot in facts.slots[: spec.k] if slot is not None]
    number = sum(slot.judged and slot.doc in marked for slot in shown)
    return float(number if spec.get("what", "any") == "number" else min(number, 1))


GROUPED: dict[str, Callable[[Facts, Spec], float]] = {
    **dict.fromkeys(
        ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP"), novelty
    ),
    "StRecall": coverage,
    **dict.fromkeys(("P_IA", "AP_IA", "IA"), over_intents),
    "D_nDCG": d_ndcg,
    "Dsharp_nDCG": d_sharp,
}
#: measures that look at documents, not at grades alone
NAMED: dict[str, Any] = {
    **GROUPED,
    **dict.fromkeys(("PSP", "PSnDCG"), propensity_scored),
    "Forbidden": forbidden,
}
FORMULAS: dict[str, Any] = {**NAMED, **dict.fromkeys(("sDCG", "nsDCG"), in_session)}
#: what a query without a relevant document leaves as it is
INDIFFERENT = ("sDCG", "Forbidden")
#: measures for which relevance plays no part; a query without a value is left out
BY_MARKS = ("Forbidden",)
