"""What the recordings are made of: worlds of random judgments and runs, each under other options.

Nothing here imports the package: a world is plain Python, the same for every version.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from allpairspy import AllPairs

#: the options of alignment and their values; each two values of two options meet in some world
OPTIONS: Final[dict[str, list[Any]]] = {
    "ties": [
        "docid_desc",
        "docid_asc",
        "input",
        "reverse_input",
        "expected",
        "best",
        "worst",
    ],
    "unjudged": [
        *(
            "nonrelevant",
            "condensed",
            "condensed_keep_rank",
            "query_mean",
            "query_median",
            "doc_mean",
        ),
        *("doc_median", "global_mean", "global_median", 0.5),
    ],
    "order": ["score", "input"],
    "score_dtype": ["float64", "float32"],
    "sort_algorithm": ["stable", "quicksort", "quicksort_twice"],
    "missing": ["zero", "drop"],
    "no_results": ["missing", "zero", "undefined", "drop"],
    "extra": ["drop", "keep"],
    "empty": ["zero", "one", "undefined", "drop"],
    "duplicates": ["first_keep_rank", "first_drop", "last_drop", "keep", "keep_judged"],
    "duplicate_judgments": ["max", "sum", "mean", "majority", "first", "last"],
    "negative": ["unjudged", "zero", "keep"],
    "pool": ["judged", "list"],
    "identical_ids": ["keep", "drop"],
}
#: values that refuse what the other values have a rule for
ERRORS: Final = (
    *(
        "ties",
        "missing",
        "no_results",
        "extra",
        "empty",
        "duplicates",
        "duplicate_judgments",
        "negative",
    ),
)
#: settings of comparisons, taken in turn
TESTS: Final = ("randomisation", "t", "wilcoxon", "sign", "mcnemar")
INTERVALS: Final = (
    "auto",
    "worst_case",
    "t",
    "bca",
    "percentile",
    "studentised",
    "poisson",
)
CORRECTIONS: Final = (
    *(
        None,
        "holm",
        "bonferroni",
        "holm_sidak",
        "sidak",
        "hochberg",
        "hommel",
        "bh",
        "by",
        "none",
    ),
    *("robust_tukey", "tukey", "max_t", "hsd", "nemenyi"),
)
SEED: Final = 20261123
_DOCS: Final = (
    *(f"d{index}" for index in range(14)),
    "D3",
    "é",
    "\uff5e",
    "\U0001d51e",
    "q1",
)
_GRADES: Final = ((0, 0, 1), (0, 0, 1, 2, 3), (0, 0.25, 0.5, 1), (-2, -1, 0, 1, 2))
_SUBTOPICS: Final = ("s1", "s2", "s3")

Listed = list[tuple[str, float]]


@dataclass(frozen=True)
class World:
    """Judgments, two runs and the options under which they are scored.

    Attributes
    ----------
    name
        What stands before each of its lines.
    judged
        (query, document, grade), a pair perhaps several times.
    subtopics
        (query, document, subtopic, grade).
    run, other
        Each query's list, in the order of the file; empty lists too.
    sessions
        Each query's session and its place there.
    options
        Options of alignment.
    """

    name: str
    judged: list[tuple[str, str, float]]
    subtopics: list[tuple[str, str, str, float]]
    run: dict[str, Listed]
    other: dict[str, Listed]
    sessions: dict[str, dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)


@cache
def _rows() -> list[dict[str, Any]]:
    rows = [
        dict(zip(OPTIONS, row, strict=True)) for row in AllPairs(list(OPTIONS.values()))
    ]
    return [*rows, *({name: "error"} for name in ERRORS)]


def world(position: int) -> World:
    """Return a world by its number; each two values of two options meet in one of the first hundred."""
    options = {} if not position else _rows()[(position - 1) % len(_rows())]
    rng = random.Random(f"{SEED} {position}")
    queries = [f"q{number}" for number in rng.sample(range(1, 12), rng.randint(1, 5))]
    grades = rng.choice(_GRADES)
    judged = [
        (query, doc, float(rng.choice(grades)))
        for query in queries
        if rng.random() < 0.9
        for doc in rng.sample(_DOCS, rng.randint(1, 9))
    ] or [(queries[0], "d1", 1.0)]
    if options.get("duplicate_judgments") is not None:
        judged += [
            (query, doc, float(rng.choice(grades)))
            for query, doc, _ in rng.sample(judged, 1)
        ]
    subtopics = [
        (query, doc, subtopic, float(max(0, rng.choice(grades))))
        for query, doc in sorted({(query, doc) for query, doc, _ in judged})
        for subtopic in rng.sample(_SUBTOPICS, rng.randint(1, 3))
    ]
    levels = rng.choice(
        ((2.0, 1.0, 1.0, 0.5, 0.0, -3.0), tuple(n / 7 for n in range(40)))
    )
    answered = [
        queries[0],
        *(query for query in [*queries[1:], "unknown"] if rng.random() < 0.85),
    ]
    run = {query: _list(rng, options, levels) for query in answered}
    other = {
        query: _list(rng, options, levels) for query in queries if rng.random() < 0.85
    }
    places: dict[str, int] = defaultdict(int)
    sessions = {}
    for query in [*queries, "unknown"]:
        session = rng.choice("ab")
        places[session] += 1
        sessions[query] = {"session": session, "position": places[session]}
    return World(f"w{position}", judged, subtopics, run, other, sessions, options)


def _list(
    rng: random.Random, options: dict[str, Any], levels: tuple[float, ...]
) -> Listed:
    length = 0 if rng.random() < 0.06 else rng.choice((1, 3, 6, 10, 17))
    docs = rng.sample(_DOCS, length)
    if docs and options.get("duplicates") is not None and rng.random() < 0.5:
        docs[-1] = docs[0]
    return [(doc, rng.choice(levels)) for doc in docs]
