"""Fresh random judgments and runs, as nasty as a library can take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Traits", "cases"]


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a library can be handed at all; everything it can be is drawn.

    Attributes
    ----------
    grades
        The grades drawn.
    ties
        Equal scores.
    unjudged
        Retrieved documents without a judgment.
    unretrieved
        Judged documents that are not retrieved.
    missing, extra
        Judged queries without a list; lists nobody judged.
    empty
        Queries without a relevant document.
    duplicates
        A document twice in a list (scores fall strictly then).
    signs
        Scores below zero.
    queries
        Queries at most.
    """

    grades: tuple[float, ...] = (0, 1, 2, 3)
    ties: bool = True
    unjudged: bool = True
    unretrieved: bool = True
    missing: bool = True
    extra: bool = True
    empty: bool = True
    duplicates: bool = False
    signs: bool = True
    queries: int = 4


def cases(seed: int, count: int, traits: Traits) -> list[dict[str, Any]]:
    """Draw cases: ``qrels`` {query: {doc: grade}}, ``run`` {query: [[doc, score], …]} in order, and ``k``.

    Lists are ordered by score, tied documents in an order of their own; every query has at least one
    judgment, and at least one judged query has a list.
    """
    rng = np.random.default_rng(seed)
    return [_case(rng, traits) for _ in range(count)]


def _case(rng: np.random.Generator, traits: Traits) -> dict[str, Any]:
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, list[list[Any]]] = {}
    for at in range(int(rng.integers(1, traits.queries + 1))):
        query = f"q{at}"
        judged, listed = _query(rng, traits)
        gone = rng.random()
        if not (traits.missing and gone < 0.15 and at):
            run[query] = listed
        if not (traits.extra and gone > 0.85 and at):
            qrels[query] = judged
    return {"qrels": qrels, "run": run, "k": int(rng.integers(1, 8))}


def _query(rng: np.random.Generator, traits: Traits) -> tuple[dict[str, float], list[list[Any]]]:
    docs = [f"d{number}" for number in rng.permutation(30)[: int(rng.integers(2, 13))]]
    some = int(rng.integers(1, len(docs) + 1))
    worthless = traits.empty and rng.random() < 0.2
    grades = [g for g in traits.grades if g <= 0] if worthless else list(traits.grades)
    judged = {doc: float(rng.choice(grades or [0])) for doc in docs[:some]}
    if not traits.empty and max(judged.values()) <= 0:
        judged[docs[0]] = float(max(traits.grades))
    pool = list(docs) if traits.unjudged else docs[:some]
    if traits.unretrieved:
        pool = [doc for doc in pool if rng.random() < 0.8] or pool[:1]
    rng.shuffle(pool)
    if traits.duplicates and rng.random() < 0.3:
        pool.append(pool[0])
    steps = rng.integers(0, 2, len(pool)) if traits.ties else np.ones(len(pool), int)
    scores = 5.0 - np.cumsum(steps) * 0.5 - (0 if traits.signs else -len(pool))
    return judged, [[doc, float(score)] for doc, score in zip(pool, scores, strict=True)]
