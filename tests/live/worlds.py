"""Fresh random judgments and runs, as nasty as a library can take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

__all__ = ["DOCUMENTS", "Traits", "cases"]

#: documents are d0 … before they get other names
DOCUMENTS: Final = 320


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
        Judged queries without a list; lists without judgments.
    empty
        Queries without a relevant document.
    duplicates
        Documents several times in a list, at any of its ranks.
    signs
        Scores below zero.
    strange
        In a tenth of the cases, grades below zero and fractions whatever the ``grades``.
    long
        Lists of 16 to 300 documents.
    hollow
        Queries of the run whose list is empty.
    unsaid
        Judged queries of which no judgment is known.
    names
        Ids of any letters and signs; a query that is called as one of its documents.
    deep
        Cutoffs at 1000 and further down than any list.
    close
        In a tenth of the cases, scores that single precision hardly tells apart.
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
    strange: bool = True
    long: bool = True
    hollow: bool = True
    unsaid: bool = True
    names: bool = True
    deep: bool = True
    close: bool = True
    queries: int = 4


#: what no scale of whole grades has
_STRANGE: Final = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
#: steps of scores around 1 that are far below those of single precision, so that many are equal there
_CLOSE: Final = 2e-9
#: what ids are made of: signs of every file format, capitals, other scripts, numbers that are no numbers
_PARTS: Final = (
    "7",
    "007",
    "1e3",
    "-1",
    "nan",
    "NA",
    "a",
    "A",
    "Z",
    "d",
    "_",
    ".",
    ",",
    ";",
    "#",
    '"',
    "'",
    "\\",
    "/",
    "%",
    "é",
    "ß",
    "日本",
    "😀",
    "\u0301",
)


def cases(seed: int, count: int, traits: Traits) -> list[dict[str, Any]]:
    """Draw cases: ``qrels`` {query: {doc: grade}}, ``run`` {query: [[doc, score], …]} in order, and ``k``.

    Lists are ordered by score, tied documents in an order of their own.  The first query has a judgment and
    a list that is not empty.
    """
    rng = np.random.default_rng(seed)
    return [_case(rng, traits) for _ in range(count)]


def _case(rng: np.random.Generator, traits: Traits) -> dict[str, Any]:
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, list[list[Any]]] = {}
    if traits.strange and rng.random() < 0.1:
        traits = replace(traits, grades=_STRANGE)
    for index in range(int(rng.integers(1, traits.queries + 1))):
        query = f"q{index}"
        judged, listed = _query(rng, traits)
        gone, bare = rng.random(), rng.random()
        if not (traits.missing and gone < 0.15 and index):
            run[query] = [] if traits.hollow and bare < 0.08 and index else listed
        if not (traits.extra and gone > 0.85 and index):
            qrels[query] = {} if traits.unsaid and bare > 0.95 and index else judged
    if traits.close and rng.random() < 0.1:
        for listed in run.values():
            listed[:] = [[doc, 1.0 + score * _CLOSE] for doc, score in listed]
    case = {"qrels": qrels, "run": run, "k": _cutoff(rng, traits)}
    return _renamed(rng, case) if traits.names and rng.random() < 0.2 else case


def _cutoff(rng: np.random.Generator, traits: Traits) -> int:
    kind = rng.random()
    if kind < 0.08:
        return int(rng.choice([10, 20, 100]))
    if traits.deep and kind < 0.16:
        return int(rng.choice([1000, 1001, 1002, 5000]))
    return int(rng.integers(1, 8))


def _query(
    rng: np.random.Generator, traits: Traits
) -> tuple[dict[str, float], list[list[Any]]]:
    long, alone = traits.long and rng.random() < 0.08, rng.random() < 0.05
    many, size = (
        (DOCUMENTS, int(rng.integers(16, 301)))
        if long
        else (30, int(rng.integers(2, 13)))
    )
    docs = [f"d{number}" for number in rng.permutation(many)[:size]]
    subset = int(rng.integers(1, len(docs) + 1))
    worthless = traits.empty and rng.random() < 0.2
    grades = [g for g in traits.grades if g <= 0] if worthless else list(traits.grades)
    judged = {doc: float(rng.choice(grades or [0])) for doc in docs[:subset]}
    if not traits.empty and max(judged.values()) <= 0:
        judged[docs[0]] = float(max(traits.grades))
    pool = list(docs) if traits.unjudged else docs[:subset]
    if traits.unretrieved:
        pool = [doc for doc in pool if long or rng.random() < 0.8] or pool[:1]
    rng.shuffle(pool)
    pool = pool[:1] if alone and traits.unretrieved else pool
    if traits.duplicates and rng.random() < 0.3:
        for _ in range(int(rng.integers(1, 6))):
            pool.insert(int(rng.integers(len(pool) + 1)), str(rng.choice(pool)))
    steps = (
        rng.random(len(pool)) < rng.choice([0.1, 0.5, 0.5])
        if traits.ties
        else np.ones(len(pool), int)
    )
    scores = 5.0 - np.cumsum(steps) * 0.5 - (0 if traits.signs else -len(pool))
    return judged, [
        [doc, float(score)] for doc, score in zip(pool, scores, strict=True)
    ]


def _renamed(rng: np.random.Generator, case: dict[str, Any]) -> dict[str, Any]:
    """Give queries and documents ids of any kind, some query that of one of its documents."""
    judged, listed = case["qrels"].items(), case["run"].items()
    old = {doc for _, docs in judged for doc in docs} | {
        doc for _, docs in listed for doc, _ in docs
    }
    docs = _names(rng, sorted(old))
    queries = _names(rng, sorted(case["qrels"].keys() | case["run"].keys()))
    for query in queries:
        own = [
            *case["qrels"].get(query, ()),
            *(doc for doc, _ in case["run"].get(query, ())),
        ]
        if own and rng.random() < 0.5:
            name = docs[own[int(rng.integers(len(own)))]]
            queries[query] = queries[query] if name in queries.values() else name
    return {
        "qrels": {
            queries[q]: {docs[doc]: grade for doc, grade in its.items()}
            for q, its in judged
        },
        "run": {
            queries[q]: [[docs[doc], score] for doc, score in its] for q, its in listed
        },
        "k": case["k"],
    }


def _names(rng: np.random.Generator, old: list[str]) -> dict[str, str]:
    """Return a new name for every id, no two alike."""
    new: dict[str, str] = {}
    for item in old:
        made = "".join(
            _PARTS[int(position)]
            for position in rng.integers(0, len(_PARTS), int(rng.integers(1, 5)))
        )
        new[item] = f"{made}{item[1:]}" if made in new.values() else made
    return (
        new
        if len(set(new.values())) == len(new)
        else {key: f"{name}|{key}" for key, name in new.items()}
    )
