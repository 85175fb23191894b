"""Every possibility written out: judgments with grades added for each assignment, and plain evaluate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import rankstone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: (lowest, highest) of one query and measure; NaN where no assignment has a value
Interval = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """One query: judged grades, and one list of (document, score) for each run; ``None``: not answered."""

    judged: dict[str, float]
    lists: tuple[dict[str, float] | None, ...]
    scale: tuple[float, ...]

    def holes(self, runs: Iterable[int], depth: int | None = None) -> list[str]:
        """Return the unjudged documents of some runs, down to a depth."""
        shown = [doc for run in runs for doc in self.ranked(run)[:depth]]
        return list(dict.fromkeys(doc for doc in shown if doc not in self.judged))

    def ranked(self, run: int) -> list[str]:
        """Return a run's documents by score."""
        scores = self.lists[run] or {}
        return sorted(scores, key=lambda doc: -scores[doc])


def judgments(cases: Sequence[Case]) -> pl.DataFrame:
    """Return the judgments of cases, each of which is a query."""
    rows = [
        (f"q{index}", doc, grade)
        for index, case in enumerate(cases)
        for doc, grade in case.judged.items()
    ]
    return pl.DataFrame(rows, ["query_id", "doc_id", "relevance"], orient="row")


def run(cases: Sequence[Case], which: int) -> pl.DataFrame:
    """Return one run over cases."""
    rows = [
        (f"q{index}", doc, score)
        for index, case in enumerate(cases)
        for doc, score in (case.lists[which] or {}).items()
    ]
    return pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")


def possible(
    cases: Sequence[Case],
    measures: Sequence[str],
    runs: tuple[int, ...],
    **options: Any,
) -> dict[tuple[str, str], Interval]:
    """Return the lowest and highest value of each query and measure, by trying everything.

    With two runs: of their difference, over the grades of the unjudged documents of both.
    """
    qrels: list[tuple[str, str, float]] = []
    lists: list[list[tuple[str, str, float]]] = [[] for _ in runs]
    counts = []
    for index, case in enumerate(cases):
        holes = case.holes(runs, options.get("depth"))
        assignments = list(product(case.scale, repeat=len(holes)))
        counts.append(len(assignments))
        for number, grades in enumerate(assignments):
            name = f"{index}/{number}"
            qrels += [(name, doc, grade) for doc, grade in case.judged.items()]
            qrels += [
                (name, doc, grade) for doc, grade in zip(holes, grades, strict=True)
            ]
            for rows, which in zip(lists, runs, strict=True):
                rows += [
                    (name, doc, score)
                    for doc, score in (case.lists[which] or {}).items()
                ]
    table = pl.DataFrame(qrels, ["query_id", "doc_id", "relevance"], orient="row")
    names = list(dict.fromkeys(name for name, _, _ in qrels))
    values = [_values(table, names, rows, measures, options) for rows in lists]
    ends = np.cumsum(counts)
    numbers = {}
    for measure in measures:
        value = values[0][measure] - (values[1][measure] if len(runs) > 1 else 0.0)
        for index, (end, count) in enumerate(zip(ends, counts, strict=True)):
            part = value[end - count : end]
            part = part[~np.isnan(part)]
            numbers[f"q{index}", measure] = (
                (part.min(), part.max()) if len(part) else (np.nan, np.nan)
            )
    return numbers


def _values(
    qrels: pl.DataFrame,
    names: Sequence[str],
    rows: list[tuple[str, str, float]],
    measures: Sequence[str],
    options: dict[str, Any],
) -> dict[str, NDArray[np.float64]]:
    """Return each measure's values in the order of the queries, NaN where there is none."""
    table = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
    scores = rankstone.evaluate(qrels, table, list(measures), **options).per_query
    place = {name: index for index, name in enumerate(names)}
    values = {measure: np.full(len(place), np.nan) for measure in measures}
    for query, measure, value in scores.select(
        "query_id", "measure", "value"
    ).iter_rows():
        values[measure][place[query]] = np.nan if value is None else value
    return values


def draw(
    rng: np.random.Generator,
    scale: tuple[float, ...],
    *,
    runs: int = 1,
    most: int = 300,
    ties: bool = False,
) -> Case:
    """Draw a case whose possibilities can all be written out.

    Parameters
    ----------
    rng
        The source of chance.
    scale
        Grades of judged documents and of holes.
    runs
        How many runs.
    most
        How many possibilities at most.
    ties
        Whether scores tie.
    """
    while True:
        docs = [f"d{index}" for index in range(int(rng.integers(2, 11)))]
        chance = rng.uniform(0.1, 0.9)
        judged = {
            doc: float(rng.choice(scale)) for doc in docs if rng.random() < chance
        }
        judged |= {
            f"m{index}": float(rng.choice(scale))
            for index in range(int(rng.integers(0, 3)))
        }
        if not judged:
            continue
        lists: list[dict[str, float] | None] = []
        for _ in range(runs):
            shown = rng.permutation(docs)[
                : int(rng.integers(1, min(len(docs), 8) + 1))
            ].tolist()
            score = rng.integers(0, 3, len(shown)) if ties else -np.arange(len(shown))
            lists.append(dict(zip(shown, score.astype(float).tolist(), strict=True)))
        if runs > 1 and rng.random() < 0.1:
            lists[int(rng.integers(runs))] = None
        case = Case(judged, tuple(lists), scale)
        if len(scale) ** len(case.holes(range(runs))) <= most:
            return case
