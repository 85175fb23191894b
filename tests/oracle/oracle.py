"""A second derivation of every number: dicts, lists and loops, slow and obvious.

Nothing here comes from rankstone's alignment or measures, and no NumPy is used.  Ties are settled by
writing every order of the tied documents down; a measure is its textbook formula over the ranked list
that results.  Texts of measures are read by Python's own parser, because ``nDCG(gain=exp2)@5`` happens
to be a Python expression.
"""

from __future__ import annotations

import ast
import itertools
import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.oracle import diversity, pairs, trec, user_models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Id = str | int
Row = tuple[Id, Id, float]
Grades = dict[Id, float]

IMPUTED = (
    "query_mean",
    "query_median",
    "doc_mean",
    "doc_median",
    "global_mean",
    "global_median",
)


# -- measures as texts ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Spec:
    """A measure's name, cutoff and parameters, as its text says them."""

    name: str
    k: int | None
    parameters: dict[str, Any] = field(hash=False)

    def get(self, name: str, default: Any) -> Any:
        """Return a parameter, or its default."""
        return self.parameters.get(name, default)


@cache
def read_measure(text: str) -> Spec:
    """Read ``name(parameter=value)@k``."""
    tree = ast.parse(text, mode="eval").body
    k = None
    if isinstance(tree, ast.BinOp):
        k, tree = _literal(tree.right), tree.left
    options: dict[str, Any] = {}
    if isinstance(tree, ast.Call):
        options = {str(word.arg): _literal(word.value) for word in tree.keywords}
        tree = tree.func
    assert isinstance(tree, ast.Name), text
    return Spec(tree.id, k, options)


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):  # a measure within a measure
        return ast.unparse(node)
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


# -- alignment -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Slot:
    """What stands at one rank: a document's grade (None: it earns nothing), and whether it was judged.

    The document itself is named only for measures that look at more than its grade.  ``block`` numbers the
    documents that tie; ``pooled`` marks one that was to be judged and was not.
    """

    grade: float | None
    judged: bool
    doc: Id | None = None
    block: int = 0
    pooled: bool = False


@dataclass(frozen=True)
class Facts:
    """One query as a measure sees it: slots by rank, documents in the list, judged grades best first.

    ``pool`` holds the judged documents where they are named; ``weighted`` says that intents have weights;
    ``ends`` is the last rank of each tie block, removed documents whose ranks stay among them.
    """

    slots: tuple[Slot | None, ...]
    n: int
    ideal: tuple[float, ...]
    lowest: float
    retrieved: bool
    pool: tuple[tuple[Id, float], ...] = ()
    weighted: bool = False
    candidates: int = 0
    ends: tuple[tuple[int, int], ...] = ()


def judge(rows: Iterable[Row], options: Mapping[str, Any]) -> dict[Id, Grades]:
    """Return the grades of each judged query, after ``duplicate_judgments`` and ``negative``."""
    several: dict[Id, dict[Id, list[float]]] = {}
    for query, doc, grade in rows:
        several.setdefault(query, {}).setdefault(doc, []).append(float(grade))
    merge = options.get("duplicate_judgments", "error")
    judged: dict[Id, Grades] = {}
    for query, docs in several.items():
        judged[query] = {}
        for doc, grades in docs.items():
            grade = _merged(grades, merge)
            if grade < 0 and options.get("negative", "unjudged") == "unjudged":
                continue
            if grade < 0 and options.get("negative") == "zero":
                grade = 0.0
            judged[query][doc] = grade
    return judged


def _merged(grades: list[float], merge: str) -> float:
    if len(grades) == 1:
        return grades[0]
    counts = Counter(grades)
    commonest = [
        grade for grade, count in counts.items() if count == max(counts.values())
    ]
    return {
        "max": max(grades),
        "sum": sum(grades),
        "mean": sum(grades) / len(grades),
        "majority": min(commonest),
        "first": grades[0],
        "last": grades[-1],
    }[merge]


def lists_of(rows: Iterable[Row]) -> dict[Id, list[tuple[Id, float]]]:
    """Return each query's documents and keys in the order of the rows."""
    lists: dict[Id, list[tuple[Id, float]]] = {}
    for query, doc, key in rows:
        lists.setdefault(query, []).append((doc, key))
    return lists


def _key(score: float, options: Mapping[str, Any]) -> float:
    """Return what a list is ordered by, larger first."""
    if options.get("order", "score") == "rank":
        score = -score
    if options.get("score_dtype", "float64") == "float32":
        score = struct.unpack("f", struct.pack("f", score))[0]
    return score


def _bytes(doc: Id) -> bytes:
    return str(doc).encode("utf-8")


def tie_blocks(
    docs: Sequence[tuple[Id, float]], options: Mapping[str, Any]
) -> list[list[Id]]:
    """Return the documents from the best key to the worst, those of equal keys together."""
    if options.get("order", "score") == "input":
        return [[doc] for doc, _ in docs]
    keyed = [(doc, _key(score, options)) for doc, score in docs]
    keys = sorted({key for _, key in keyed}, reverse=True)
    return [[doc for doc, its in keyed if its == key] for key in keys]


def orders(
    docs: Sequence[tuple[Id, float]], options: Mapping[str, Any]
) -> Iterator[list[Id]]:
    """Yield every order of the documents that the rule for ties leaves open."""
    ties = options.get("ties", "docid_desc")
    blocks = tie_blocks(docs, options)
    if ties in ("expected", "best", "worst"):
        if options.get("duplicates") in ("first_drop", "last_drop"):
            blocks = [list(dict.fromkeys(block)) for block in blocks]
        for arranged in itertools.product(
            *(itertools.permutations(block) for block in blocks)
        ):
            yield [doc for block in arranged for doc in block]
        return
    if ties == "docid_desc":
        blocks = [sorted(block, key=_bytes, reverse=True) for block in blocks]
    elif ties == "docid_asc":
        blocks = [sorted(block, key=_bytes) for block in blocks]
    elif ties == "reverse_input":
        blocks = [block[::-1] for block in blocks]
    yield [doc for block in blocks for doc in block]


def keys_in(order: Sequence[Id], keys: Mapping[Id, Sequence[float]]) -> list[float]:
    """Return the key of each row of an order, in which copies fall; larger keys come first."""
    return [
        keys[doc][list(order[:index]).count(doc)] for index, doc in enumerate(order)
    ]


def keys_of(
    docs: Sequence[tuple[Id, float]], options: Mapping[str, Any]
) -> dict[Id, list[float]]:
    """Return the keys of each document's copies, in the order in which they stand in every list."""
    open_ties = options.get("ties") in ("expected", "best", "worst")
    once = open_ties and options.get("duplicates") in ("first_drop", "last_drop")
    keys: dict[Id, list[float]] = {}
    for doc, score in docs:
        keys.setdefault(doc, []).append(_key(score, options))
    if options.get("order", "score") == "input":
        return keys
    return {
        doc: sorted(set(own) if once else own, reverse=True)
        for doc, own in keys.items()
    }


def settle_copies(
    order: Sequence[Id], keys: Mapping[Id, Sequence[float]], duplicates: str
) -> tuple[list[tuple[Id, float]], list[bool]]:
    """Return the rows that stay, with their keys, and which of them earn nothing as they are copies."""
    copies = list(zip(order, keys_in(order, keys), strict=True))
    if duplicates == "first_keep_rank":
        return copies, [doc in order[:index] for index, doc in enumerate(order)]
    if duplicates in ("first_drop", "last_drop"):
        step = -1 if duplicates == "last_drop" else 1
        kept: dict[Id, float] = {}
        for doc, key in copies[::step]:
            kept.setdefault(doc, key)
        copies = list(kept.items())[::step]
    return copies, [False] * len(copies)


def settle(
    order: Sequence[Id],
    grades: Grades,
    imputed: Grades | None,
    options: Mapping[str, Any],
    lowest: float,
    *,
    named: bool = False,
    pool: Iterable[Id] = (),
    block: Mapping[Id, int] | None = None,
    keys: Mapping[Id, Sequence[float]],
) -> Facts:
    """Turn an order of documents into slots: duplicates, depth, then unjudged documents."""
    block = block or {}
    duplicates = options.get("duplicates", "error")
    copies, worthless = settle_copies(order, keys, duplicates)
    depth = options.get("depth")
    copies, worthless = copies[:depth], worthless[:depth]
    least = options.get("score_above", -math.inf)
    slots: list[Slot | None] = []
    ideal = list(grades.values())
    shown: list[float] = []
    entered: set[Id] = set()
    ends: dict[int, int] = {}
    for (doc, key), nothing in zip(copies, worthless, strict=True):
        before = len(slots)
        value = grades.get(doc, None if imputed is None else imputed.get(doc))
        grade = value if value is None or key > least else min(value, 0.0)
        grade = None if nothing else grade
        if value is not None and not nothing:
            shown.append(value)
            if doc not in grades and doc not in entered:
                ideal.append(value)
            if doc in entered and duplicates == "keep_judged":
                ideal.append(value)
        if doc in grades:
            name = doc if named else None
            slots.append(Slot(grade, judged=True, doc=name, block=block.get(doc, 0)))
            entered.add(doc)
        elif imputed is not None:
            slots.append(Slot(grade, judged=False, block=block.get(doc, 0)))
            entered.add(doc)
        elif options.get("unjudged", "nonrelevant") == "nonrelevant":
            slots.append(
                Slot(None, judged=False, block=block.get(doc, 0), pooled=doc in pool)
            )
        elif options["unjudged"] == "condensed_keep_rank":
            slots.append(None)
        if len(slots) > before:
            ends[block.get(doc, 0)] = len(slots)
    n = sum(slot is not None for slot in slots)
    ideal = shown if options.get("pool") == "list" else ideal
    ideal.sort(reverse=True)
    candidates = options.get("candidates") or 0
    more: dict[str, Any] = {
        "pool": tuple(grades.items()) if named else (),
        "candidates": candidates,
        "ends": tuple(ends.items()),
    }
    return Facts(tuple(slots), n, tuple(ideal), lowest, retrieved=True, **more)


def _mean(grades: Sequence[float]) -> float:
    return sum(grades) / len(grades)


def impute(
    query: Id,
    docs: Iterable[Id],
    judged: Mapping[Id, Grades],
    options: Mapping[str, Any],
) -> Grades | None:
    """Return a grade for each retrieved unjudged document; None when they stay unjudged."""
    rule = options.get("unjudged", "nonrelevant")
    unjudged = [doc for doc in docs if doc not in judged.get(query, {})]
    if not isinstance(rule, str):
        return dict.fromkeys(unjudged, float(rule))
    if rule not in IMPUTED:
        return None
    everything = [grade for grades in judged.values() for grade in grades.values()]
    middle = median if rule.endswith("median") else _mean
    overall = middle(everything) if everything else 0.0
    own = list(judged.get(query, {}).values())
    if rule.startswith("query"):
        return dict.fromkeys(unjudged, middle(own) if own else overall)
    if rule.startswith("global"):
        return dict.fromkeys(unjudged, overall)
    guessed = {}
    for doc in unjudged:
        elsewhere = [grades[doc] for grades in judged.values() if doc in grades]
        guessed[doc] = middle(elsewhere) if elsewhere else overall
    return guessed


def align(
    qrels: Sequence[Row],
    run: Sequence[Row],
    options: Mapping[str, Any],
    exclude: Iterable[tuple[Id, Id]] = (),
    *,
    named: bool = False,
    hollow: Iterable[Id] = (),
) -> dict[Id, dict[Facts, int]]:
    """Return, per query, every list the rules leave possible and how many orders lead to it.

    ``named`` keeps the documents' ids, for measures that look at more than their grades.  ``hollow`` are
    queries that are answered with an empty list.
    """
    judged = judge(qrels, options)
    signed = judge(qrels, {**options, "negative": "keep"})
    excluded_from = options.get("exclude_from", "lists")
    for query, doc in exclude if excluded_from != "lists" else ():
        for table in (judged, signed):
            table.get(query, {}).pop(doc, None)
    everything = [grade for grades in judged.values() for grade in grades.values()]
    lowest = min(everything, default=0.0)
    out = set(exclude) if excluded_from != "judgments" else set()
    if options.get("identical_ids") == "drop":
        out |= {(query, doc) for query, doc, _ in run if str(query) == str(doc)}
    lists = lists_of(run)
    no_results = options.get("no_results", "missing")
    if no_results in ("zero", "undefined"):
        lists |= {query: [] for query in hollow}
    gone = set(hollow) if no_results == "drop" else set()
    queries = [query for query in judged if query not in gone]
    if options.get("extra", "drop") == "keep":
        queries += [query for query in lists if query not in judged]
    possible: dict[Id, dict[Facts, int]] = {}
    for query in queries:
        grades = judged.get(query, {})
        if query not in lists:
            if options.get("missing", "zero") == "zero":
                own = grades.values() if options.get("pool") != "list" else ()
                ideal = tuple(sorted(own, reverse=True))
                pool = tuple(grades.items()) if named else ()
                candidates = options.get("candidates") or 0
                facts = Facts(
                    (),
                    0,
                    ideal,
                    lowest,
                    retrieved=False,
                    pool=pool,
                    candidates=candidates,
                )
                possible[query] = {facts: 1}
            continue
        docs = [(doc, key) for doc, key in lists[query] if (query, doc) not in out]
        imputed = impute(query, [doc for doc, _ in docs], judged, options)
        pooled_docs = set(signed.get(query, {})) - set(grades)
        block = {
            doc: index
            for index, tied in enumerate(tie_blocks(docs, options))
            for doc in tied
        }
        possible[query] = Counter(
            settle(
                order,
                grades,
                imputed,
                options,
                lowest,
                named=named,
                pool=pooled_docs,
                block=block,
                keys=keys_of(docs, options),
            )
            for order in orders(docs, options)
        )
    return possible


# -- measures ------------------------------------------------------------------------------------------
def relevant(grade: float, spec: Spec) -> bool:
    """Tell whether a grade counts as relevant: above 0 unless ``rel`` says otherwise."""
    rel = spec.get("rel", ">0")
    if isinstance(rel, str):
        return grade > float(rel[1:])
    return grade >= float(rel)


def is_hit(slot: Slot | None, spec: Spec) -> bool:
    """Tell whether a relevant document stands in a slot."""
    return slot is not None and slot.grade is not None and relevant(slot.grade, spec)


def relevant_total(facts: Facts, spec: Spec) -> int:
    """Return R; for measures of subtopics how many there are to serve."""
    if spec.name in diversity.NAMED or by_subtopic(spec):
        return diversity.to_find(facts, spec)
    if spec.name in trec.GROUPED:
        return sum(relevant(grade, spec) for _, grade in facts.pool)
    return sum(relevant(grade, spec) for grade in facts.ideal)


def hits_until(facts: Facts, spec: Spec, k: int | None) -> int:
    """Return h_k, or all hits of the list."""
    return sum(is_hit(slot, spec) for slot in facts.slots[:k])


def quotient(numerator: float, denominator: float) -> float:
    """Divide; nothing over nothing is 0."""
    return numerator / denominator if denominator else 0.0


def precision(facts: Facts, spec: Spec) -> float:
    """h_k / k."""
    depth = facts.n if spec.k is None else spec.k
    denominator = {
        "k": depth,
        "n": min(depth, facts.n),
        "min_R_k": min(depth, relevant_total(facts, spec)),
    }[spec.get("denom", "k")]
    return quotient(hits_until(facts, spec, spec.k), denominator)


def recall(facts: Facts, spec: Spec) -> float:
    """h_k / R."""
    total = relevant_total(facts, spec)
    if spec.get("denom", "R") == "min_R_k":
        total = min(total, facts.n if spec.k is None else spec.k)
    return quotient(hits_until(facts, spec, spec.k), total)


def f_measure(facts: Facts, spec: Spec) -> float:
    """(1 + β²) P R / (β² P + R)."""
    depth = facts.n if spec.k is None else spec.k
    hits = hits_until(facts, spec, spec.k)
    p, r = quotient(hits, depth), quotient(hits, relevant_total(facts, spec))
    square = spec.get("beta", 1.0) ** 2
    return quotient((1 + square) * p * r, square * p + r)


def success(facts: Facts, spec: Spec) -> float:
    """1 when anything relevant stands in the first k."""
    return 1.0 if hits_until(facts, spec, spec.k) >= 1 else 0.0


def by_subtopic(spec: Spec) -> bool:
    """Tell whether FullRecall asks for each subtopic."""
    return bool(spec.get("each", "document") == "subtopic")


def full_recall(facts: Facts, spec: Spec) -> float:
    """1 when all that is relevant is in the first k, or something for each subtopic."""
    if by_subtopic(spec):
        return 1.0 if diversity.coverage(facts, spec) == 1 else 0.0
    total = relevant_total(facts, spec)
    return 1.0 if 0 < total <= hits_until(facts, spec, spec.k) else 0.0


def out_of_reach(facts: Facts, spec: Spec) -> bool:
    """Tell whether k documents cannot be enough, however many subtopics each of them serves."""
    if spec.name != "FullRecall" or spec.k is None:
        return False
    most = 1
    if by_subtopic(spec):
        exist = {*diversity.weights(facts, spec)}
        served = (diversity.serves(*item, spec) & exist for item in facts.pool)
        most = max(map(len, served), default=1) or 1
    return relevant_total(facts, spec) > spec.k * most


def r_precision(facts: Facts, spec: Spec) -> float:
    """h_c / c, where c is a multiple of R, rounded."""
    cutoff = int(spec.get("multiple", 1) * relevant_total(facts, spec) + 0.9)
    return quotient(hits_until(facts, spec, cutoff), cutoff)


def average_precision(facts: Facts, spec: Spec) -> float:
    """Add the precisions at the hits, over Z."""
    added = 0.0
    for rank in range(1, min(len(facts.slots), spec.k or len(facts.slots)) + 1):
        slot = facts.slots[rank - 1]
        if slot is not None and is_hit(slot, spec):
            end = (
                dict(facts.ends)[slot.block]
                if spec.get("tied", "order") == "block"
                else rank
            )
            added += hits_until(facts, spec, end) / end
    total = relevant_total(facts, spec)
    denominator = {
        "R": total,
        "min_R_k": min(total, spec.k or total),
        "min_R_n": min(total, facts.n),
        "min_R_k_n": min(total, facts.n, spec.k or total),
        "hits": hits_until(facts, spec, spec.k),
        "k": spec.k,
    }[spec.get("denom", "R")]
    assert denominator is not None
    return quotient(added, denominator)


def reciprocal_rank(facts: Facts, spec: Spec) -> float:
    """1 / rank of the first relevant, or of the first best-graded, document."""
    best = max(facts.ideal, default=0.0)
    for rank, slot in enumerate(facts.slots[: spec.k], start=1):
        wanted = is_hit(slot, spec)
        if wanted and spec.get("target", "first") == "best":
            wanted = slot is not None and slot.grade == best
        if wanted:
            return 1 / rank
    return 0.0


def gain_of(grade: float, spec: Spec) -> float:
    """Return what a grade is worth."""
    gain = spec.get("gain", "linear")
    if "rel" in spec.parameters and not relevant(grade, spec):
        return 0.0
    if isinstance(gain, dict):
        return float({0: 0.0, **gain}[grade])
    if gain == "exp2_offset":
        rel = spec.get("rel", 1)
        level = float(rel[1:]) if isinstance(rel, str) else float(rel)
        return float(2 ** (grade - level + 1) - 1) if relevant(grade, spec) else 0.0
    return {
        "linear": grade,
        "exp2": 2**grade - 1,
        "binary": 1.0 if relevant(grade, spec) else 0.0,
        "pow2_shift": 2 ** (grade - 1),
    }[gain]


def divisor(rank: int, spec: Spec) -> float:
    """Return what a gain at a rank is divided by."""
    discount = spec.get("discount", "none" if spec.name == "CG" else "log2")
    if discount == "log2":
        return math.log2(rank + 1)
    if discount == "jk":
        return max(1.0, math.log(rank, spec.get("base", 2.0)))
    if discount == "reciprocal":
        return float(rank)
    if discount == "geometric":
        return 1 / float(spec.parameters["p"]) ** (rank - 1)
    return 1.0


def slot_gain(slot: Slot | None, spec: Spec) -> float:
    """Return what a slot is worth; unjudged documents are worth nothing."""
    return 0.0 if slot is None or slot.grade is None else gain_of(slot.grade, spec)


def padded(facts: Facts, gains: list[float], spec: Spec) -> list[float]:
    """Return the gains of the first k ranks, the missing ones as ``pad`` says."""
    if spec.k is None:
        return gains
    if spec.get("pad", "zero") == "min_grade":
        gains = gains + [gain_of(facts.lowest, spec)] * (spec.k - len(gains))
    return gains[: spec.k]


def discounted(gains: Iterable[float], spec: Spec) -> float:
    """Each gain over its rank's divisor, added."""
    return sum(gain / divisor(rank, spec) for rank, gain in enumerate(gains, start=1))


def dcg(facts: Facts, spec: Spec) -> float:
    """Gains over divisors, added."""
    return discounted(
        padded(facts, [slot_gain(slot, spec) for slot in facts.slots], spec), spec
    )


def ideal_dcg(facts: Facts, spec: Spec) -> float:
    """Return the DCG of the ideal list."""
    ideal, k = spec.get("ideal", "judged"), spec.k
    if spec.get("pad", "zero") == "shrink" and k is not None:
        k = min(k, len(facts.slots))
    depth = {
        "k": k,
        "min_k_n": len(facts.slots) if k is None else min(k, len(facts.slots)),
        "all": None,
    }[spec.get("ideal_depth", "k")]
    if ideal == "k_ones":
        gains = [1.0] * (spec.k or 0)
    elif ideal == "k_of_R":
        gains = [1.0] * relevant_total(facts, spec)
    elif ideal == "judged":
        gains = [gain_of(grade, spec) for grade in facts.ideal]
    else:
        shown = facts.slots[: spec.k] if ideal == "topk" else facts.slots
        gains = [slot_gain(slot, spec) for slot in shown if slot is not None]
    return discounted(sorted(gains, reverse=True)[:depth], spec)


def ndcg(facts: Facts, spec: Spec) -> float:
    """DCG / IDCG; an ideal list of gains that sum to less than nothing is no norm."""
    return quotient(dcg(facts, spec), max(ideal_dcg(facts, spec), 0.0))


def judged_share(facts: Facts, spec: Spec) -> float | None:
    """Judged documents among the first min(k, n); no value for an empty list."""
    shown = facts.n if spec.k is None else min(spec.k, facts.n)
    judged = sum(slot is not None and slot.judged for slot in facts.slots[: spec.k])
    return judged / shown if shown else None


def retrieved(facts: Facts, _spec: Spec) -> float:
    """Count the documents in the list."""
    return float(facts.n)


def number_relevant(facts: Facts, spec: Spec) -> float:
    """Count the relevant documents."""
    return float(relevant_total(facts, spec))


def number_retrieved(facts: Facts, spec: Spec) -> float:
    """Count the relevant documents in the first k."""
    return float(hits_until(facts, spec, spec.k))


FORMULAS: dict[str, Callable[[Facts, Spec], float | None]] = {
    "P": precision,
    "R": recall,
    "F": f_measure,
    "Success": success,
    "FullRecall": full_recall,
    "Rprec": r_precision,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "CG": dcg,
    "DCG": dcg,
    "nDCG": ndcg,
    "Judged": judged_share,
    "NumRet": retrieved,
    "NumRel": number_relevant,
    "NumRelRet": number_retrieved,
    **user_models.FORMULAS,
    **trec.FORMULAS,
    **diversity.FORMULAS,
    **pairs.FORMULAS,
}
#: measures that a query without a relevant document leaves as they are
INDIFFERENT = (
    "CG",
    "DCG",
    "NumRet",
    "NumRel",
    "NumRelRet",
    "Judged",
    *user_models.INDIFFERENT,
    *trec.INDIFFERENT,
    *pairs.INDIFFERENT,
    *diversity.INDIFFERENT,
)


@dataclass(frozen=True)
class Score:
    """A query's value (None where there is none) and why it is that."""

    value: float | None
    status: str


def score(
    possible: Mapping[Facts, int], spec: Spec, options: Mapping[str, Any]
) -> Score | None:
    """Return one query's score; None when the query is left out."""
    result = next(iter(possible))
    empty = options.get("empty", "zero")
    without = (
        spec.name not in ("Judged", "Unjudged", *diversity.BY_MARKS)
        and relevant_total(result, spec) == 0
    )
    if without and empty in ("drop", "unanswerable"):
        return None
    values = [
        (FORMULAS[spec.name](facts, spec), count) for facts, count in possible.items()
    ]
    status = "ok"
    if any(value is None for value, _ in values):
        if spec.name in diversity.BY_MARKS:
            return None
        return Score(None, "undefined")
    if spec.name == "nDCG" and all(ideal_dcg(facts, spec) <= 0 for facts in possible):
        status = "no_ideal"
    if out_of_reach(result, spec):
        status = "out_of_reach"
    numbers = [(float(value or 0.0), count) for value, count in values]
    value = _over_ties(numbers, options, lower=spec.name in pairs.LOWER)
    if without and spec.name not in INDIFFERENT:
        if empty == "undefined":
            return Score(None, "undefined")
        status, value = (
            "no_relevant",
            1.0 if empty == "one" and result.retrieved else 0.0,
        )
    return Score(value, status if result.retrieved else "missing")


def _over_ties(
    values: Sequence[tuple[float, int]], options: Mapping[str, Any], *, lower: bool
) -> float:
    ties = options.get("ties")
    if ties in ("best", "worst"):
        return (min if (ties == "best") == lower else max)(value for value, _ in values)
    return math.fsum(value * count for value, count in values) / sum(
        count for _, count in values
    )


def scores(
    possible: Mapping[Id, Mapping[Facts, int]], text: str, options: Mapping[str, Any]
) -> dict[str, Score]:
    """Return the scores of all queries that count, by the query's text."""
    spec = read_measure(text)
    every = {
        str(query): score(lists, spec, options) for query, lists in possible.items()
    }
    return {query: value for query, value in every.items() if value is not None}


def aggregate(values: Sequence[float], how: str) -> float:
    """Make one number of many: mean, sum, median, or geometric mean with 1e-5 as the least value."""
    if how == "sum":
        return math.fsum(values)
    if how == "median":
        return float(median(values))
    if how == "gmean":
        return math.prod(max(value, 1e-5) for value in values) ** (1 / len(values))
    return math.fsum(values) / len(values)


def pooled(pairs: Sequence[tuple[float, float]]) -> float:
    """Divide the numerators of all queries, added, by their denominators."""
    return math.fsum(n for n, _ in pairs) / math.fsum(d for _, d in pairs)
