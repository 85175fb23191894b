"""Measures of pairs and positions, from their definitions: every pair, every ideal order, one by one."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.oracle.oracle import Facts, Slot, Spec

#: how many documents every query could have retrieved, in the random worlds
CANDIDATES = 40

#: a returned document: its rank, its tie block, and whether it is relevant
Returned = tuple[int, int, bool]


def _relevant(grade: float, spec: Spec) -> bool:
    rel = spec.get("rel", ">0")
    return grade > float(rel[1:]) if isinstance(rel, str) else grade >= rel


def _is_hit(slot: Slot | None, spec: Spec) -> bool:
    return slot is not None and slot.grade is not None and _relevant(slot.grade, spec)


def _total(facts: Facts, spec: Spec) -> int:
    return sum(_relevant(grade, spec) for grade in facts.ideal)


# -- relevant documents against negatives ----------------------------------------------------------------
def _returned(facts: Facts, spec: Spec, k: int | None) -> list[Returned]:
    """Return the documents of the list that take part, in order."""
    rows = []
    for rank, slot in enumerate(facts.slots[:k], start=1):
        if slot is None:
            continue
        hit = _is_hit(slot, spec)
        if hit or slot.grade is not None or spec.get("negatives", None) != "judged":
            rows.append((rank, slot.block, hit))
    return rows


def _known_negatives(facts: Facts, spec: Spec, k: int | None) -> int:
    """Count all negatives, returned or not."""
    mode = spec.get("negatives", None)
    if mode == "judged":
        return len(facts.ideal) - _total(facts, spec)
    if mode == "candidates":
        return sum(not hit for _, _, hit in _returned(facts, spec, k))
    return facts.candidates - _total(facts, spec)


def _alone(spec: Spec, facts: Facts) -> float | None:
    """Return the value of a query without a list, where that depends on the list."""
    return 0.0 if _total(facts, spec) else None


def _right(returned: Returned, other: Returned, spec: Spec) -> float:
    """Return what a relevant document and a negative of the list earn."""
    if spec.get("tied", "half") == "half" and returned[1] == other[1]:
        return 0.5
    return 1.0 if returned[0] < other[0] else 0.0


def auc(facts: Facts, spec: Spec) -> float | None:
    """Go through all pairs of a relevant document and a negative."""
    listed = _returned(facts, spec, spec.k)
    positives = [doc for doc in listed if doc[2]]
    negatives = [doc for doc in listed if not doc[2]]
    rule = spec.get("unreturned", "bottom_tied")
    if not facts.retrieved and (
        rule == "exclude" or spec.get("negatives", None) == "candidates"
    ):
        return _alone(spec, facts)
    earned = sum(
        _right(positive, other, spec) for positive in positives for other in negatives
    )
    lost = _total(facts, spec) - len(positives)
    rest = _known_negatives(facts, spec, spec.k) - len(negatives)
    pairs = len(positives) * len(negatives)
    if rule != "exclude":
        earned += len(positives) * rest
        pairs += len(positives) * rest + lost * len(negatives) + lost * rest
        if rule == "bottom_tied" and facts.retrieved:
            earned += lost * rest / 2
    return earned / pairs if pairs else None


def partial_auc(facts: Facts, spec: Spec) -> float | None:
    """Set relevant documents against the first k negatives, in every order of the ties of the list."""
    assert spec.k is not None
    listed, rule = _returned(facts, spec, None), spec.get("unreturned", "bottom_tied")
    positives = sum(hit for _, _, hit in listed)
    shown = len(listed) - positives
    relevant = positives if rule == "exclude" else _total(facts, spec)
    negatives = shown if rule == "exclude" else _known_negatives(facts, spec, None)
    if not facts.retrieved and (
        rule == "exclude" or spec.get("negatives", None) == "candidates"
    ):
        return _alone(spec, facts)
    first = min(spec.k, negatives)
    if not relevant * first:
        return None
    values = []
    for order in _orders(listed, spec):
        above, earned = 0, 0
        for _, _, hit in order:
            earned += max(first - above, 0) if hit else 0
            above += not hit
        values.append(earned)
    below = 0.0
    if (
        rule == "bottom_tied" and facts.retrieved
    ):  # of the rest any number comes before a lost document
        rest = negatives - shown
        below = (
            (relevant - positives)
            * sum(max(first - shown - x, 0) for x in range(rest + 1))
            / (rest + 1)
        )
    return (sum(values) / len(values) + below) / (relevant * first)


def _orders(listed: list[Returned], spec: Spec) -> Iterator[list[Returned]]:
    if spec.get("tied", "half") != "half":
        yield listed
        return
    blocks = [
        list(block) for _, block in itertools.groupby(listed, key=lambda doc: doc[1])
    ]
    for arranged in itertools.product(
        *(itertools.permutations(block) for block in blocks)
    ):
        yield [doc for block in arranged for doc in block]


def fallout(facts: Facts, spec: Spec) -> float | None:
    """Count negatives in the first k, over all negatives."""
    total = _known_negatives(facts, spec, None)
    let_in = sum(not hit for _, _, hit in _returned(facts, spec, spec.k))
    return let_in / total if total else None


# -- incomplete judgments --------------------------------------------------------------------------------
def bpref(facts: Facts, spec: Spec) -> float:
    """Take 1 − min(n, R) / min(N, R) at every relevant document, n those judged not relevant above it."""
    relevant = _total(facts, spec)
    others = len(facts.ideal) - relevant
    above, added = 0, 0.0
    for slot in facts.slots[: spec.k]:
        if _is_hit(slot, spec):
            added += 1 - min(above, relevant) / min(others, relevant) if above else 1.0
        elif slot is not None and slot.grade is not None:
            above += 1
    return added / relevant if relevant else 0.0


def inferred_ap(facts: Facts, spec: Spec) -> float:
    """Infer the precision at every relevant document from what is judged and pooled above it."""
    relevant, other, unjudged, added = 0, 0, 0, 0.0
    for rank, slot in enumerate(facts.slots[: spec.k], start=1):
        if _is_hit(slot, spec):
            judged = relevant + other
            share = (relevant + 1e-5) / (judged + 2e-5)
            of_pool = (judged + unjudged) / (rank - 1) if rank > 1 else 0.0
            added += 1 / rank + (rank - 1) / rank * of_pool * share
            relevant += 1
        elif slot is not None and slot.grade is not None:
            other += 1
        elif slot is not None and slot.pooled:
            unjudged += 1
    total = _total(facts, spec)
    return added / total if total else 0.0


# -- pairs against every ideal order ---------------------------------------------------------------------
def rank_correlation(facts: Facts, spec: Spec) -> float | None:
    """Try every ideal order and keep the best."""
    if not facts.retrieved:
        return 0.0
    docs = [
        (slot.grade, slot.block)
        for slot in facts.slots
        if slot is not None and slot.grade is not None
    ]
    grades, blocks = [grade for grade, _ in docs], [block for _, block in docs]
    weights = [_mean_of_block(blocks, index, spec) for index in range(len(docs))]
    best = None
    for order in _ideal_orders(grades):
        place = {doc: position for position, doc in enumerate(order, start=1)}
        if spec.get("weight_on", "model") == "ideal":
            weights = [_weight(place[doc], spec) for doc in range(len(docs))]
        kept = whole = 0.0
        for u, v in itertools.combinations(range(len(docs)), 2):
            if spec.get("ties", "max") == "drop" and grades[u] == grades[v]:
                continue
            added = weights[u] + weights[v]
            weight = (
                added
                if spec.get("combine", "add") == "add"
                else weights[u] * weights[v]
            )
            whole += weight
            if blocks[u] == blocks[v]:
                kept += weight if grades[u] == grades[v] else weight / 2
            elif place[u] < place[v]:  # u stands above v in the list
                kept += weight
        if whole:
            best = max(best or 0.0, kept / whole)
    return best


def _ideal_orders(grades: Sequence[Any]) -> Iterator[list[int]]:
    classes = [
        [doc for doc, its in enumerate(grades) if its == grade]
        for grade in sorted(set(grades), reverse=True)
    ]
    for arranged in itertools.product(
        *(itertools.permutations(members) for members in classes)
    ):
        yield [doc for members in arranged for doc in members]


def _mean_of_block(blocks: list[int], position: int, spec: Spec) -> float:
    places = [
        place
        for place, block in enumerate(blocks, start=1)
        if block == blocks[position]
    ]
    return sum(_weight(place, spec) for place in places) / len(places)


def _weight(place: int, spec: Spec) -> float:
    return {
        "uniform": 1.0,
        "log2": 1 / math.log2(place + 1),
        "hyperbolic": 1 / place,
        "sqrt": 1 / math.sqrt(place),
        "square": 1 / place**2,
        "cube": 1 / place**3,
        "geometric": float(spec.get("p", 1.0)) ** (place - 1),
    }[spec.get("weight", "uniform")]


# -- positions -------------------------------------------------------------------------------------------
def average_position(facts: Facts, spec: Spec) -> float | None:
    """Average the ranks, weighted by gain."""
    gain: Callable[[float], float] = lambda grade: grade  # noqa: E731 - one of two shapes
    if spec.get("gain", "linear") == "binary":
        gain = lambda grade: float(_relevant(grade, spec))  # noqa: E731
    graded = [
        (rank, gain(slot.grade))
        for rank, slot in enumerate(facts.slots, start=1)
        if slot is not None and slot.grade is not None
    ]
    above, below = (
        sum(rank * worth for rank, worth in graded),
        sum(worth for _, worth in graded),
    )
    if spec.get("unreturned", "exclude") == "bottom_tied":
        everything = sum(gain(grade) for grade in facts.ideal)
        if sum(gain(grade) > 0 for grade in facts.ideal) > sum(
            worth > 0 for _, worth in graded
        ):
            ranks = range(len(facts.slots) + 1, facts.candidates + 1)
            above += (everything - below) * sum(ranks) / len(ranks)
            below = everything
    return above / below if below else None


def last_relevant(facts: Facts, spec: Spec) -> float | None:
    """Look for the last relevant document."""
    ranks = [
        rank for rank, slot in enumerate(facts.slots, start=1) if _is_hit(slot, spec)
    ]
    lost, rule = _total(facts, spec) - len(ranks), spec.get("unreturned", "undefined")
    if lost and rule == "undefined":
        return None
    if lost and rule == "bottom_tied":
        places, first = facts.candidates - len(facts.slots), len(facts.slots)
        ways = {
            index: math.comb(index - 1, lost - 1) for index in range(lost, places + 1)
        }  # at is the last of them
        return sum(
            (first + position) * count for position, count in ways.items()
        ) / sum(ways.values())
    return float(ranks[-1]) if ranks else None


def work_saved(facts: Facts, spec: Spec) -> float | None:
    """Read down to the recall and see what is left."""
    recall, relevant = spec.get("recall", 0.95), _total(facts, spec)
    documents = (
        facts.candidates
        if spec.get("documents", "list") == "catalogue"
        else len(facts.slots)
    )
    if not facts.retrieved and relevant:
        return 0.0
    if not relevant or not documents:
        return None
    count = 0
    for rank, slot in enumerate(facts.slots, start=1):
        count += _is_hit(slot, spec)
        if count / relevant >= recall:
            return float((documents - rank) / documents - (1 - recall))
    return 0.0


FORMULAS: dict[str, Callable[[Facts, Spec], float | None]] = {
    "AUC": auc,
    "GAUC": auc,
    "pAUC": partial_auc,
    "Fallout": fallout,
    "Bpref": bpref,
    "infAP": inferred_ap,
    "RC": rank_correlation,
    "AvgRelPosition": average_position,
    "LastRel": last_relevant,
    "WSS": work_saved,
}
#: measures that a query without a relevant document leaves as they are
INDIFFERENT = (
    "AUC",
    "GAUC",
    "pAUC",
    "Fallout",
    "RC",
    "AvgRelPosition",
    "LastRel",
    "WSS",
)
#: measures of which less is better
LOWER = ("Fallout", "AvgRelPosition", "LastRel")
