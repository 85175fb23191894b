"""Small random queries: judgments and lists with ties, gaps and strays, as real data has them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.evaluation import evaluate
from rankstone.measures import Measure, parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["World", "small_world"]

#: more than any list holds
_CANDIDATES = 40
_GRADES = (0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
_SUBTOPICS = ("s1", "s2", "s3")
_RUN = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}

#: query, document, score
Row = tuple[str, str, float]


@dataclass(frozen=True, eq=False)
class World:
    """Judgments, a run, and the options they are laid against each other under.

    Attributes
    ----------
    judgments
        ``query_id``, ``doc_id``, ``relevance``, and what else the measure reads.
    run
        ``query_id``, ``doc_id``, ``score``.
    options
        Options of alignment.
    """

    judgments: pl.DataFrame
    run: pl.DataFrame
    options: dict[str, Any] = field(default_factory=dict)

    def under(self, **options: Any) -> World:  # noqa: ANN401 - alignment options
        """Return the same rows under other options."""
        return replace(self, options={**self.options, **options})

    def ranked(self, rows: Iterable[Row]) -> World:
        """Return the same judgments with another run."""
        return replace(self, run=pl.DataFrame(list(rows), _RUN, orient="row"))

    def only(self, queries: Iterable[str]) -> World:
        """Return the world of some queries."""
        kept = pl.col("query_id").is_in(list(queries))
        return replace(self, judgments=self.judgments.filter(kept), run=self.run.filter(kept))

    def lists(self) -> dict[str, list[Row]]:
        """Return the rows of each judged query that is answered, best score first."""
        ordered = self.run.sort("query_id", "score", descending=[False, True], maintain_order=True)
        found: dict[str, list[Row]] = {query: [] for query in self.judgments["query_id"].unique().sort()}
        for row in ordered.iter_rows():
            if row[0] in found:
                found[row[0]].append(row)
        return {query: rows for query, rows in found.items() if rows}

    def values(self, measure: Measure) -> dict[str, tuple[Any, ...]]:
        """Return ``{query: (value, numerator, denominator, status)}``."""
        queries = self._sessions() if measure.query_columns else None
        scored = evaluate(self.judgments, self.run, measure, queries=queries, **self.options).per_query
        rows = scored.select("query_id", "value", "numerator", "denominator", "status").iter_rows()
        return {query: tuple(rest) for query, *rest in rows}

    def _sessions(self) -> dict[str, dict[str, Any]]:
        """Make every query the second of a session of its own."""
        names = {*self.judgments["query_id"], *self.run["query_id"]}
        return {query: {"session": query, "position": 2} for query in names}

    def __str__(self) -> str:
        judged = [f"  {row}" for row in self.judgments.rows()]
        shown = [f"  {row}" for row in self.run.rows()]
        heads = [f"{what} ({', '.join(table.columns)}):" for what, table in self._tables()]
        return "\n".join([heads[0], *judged, heads[1], *shown, f"options: {self.options}"])

    def _tables(self) -> list[tuple[str, pl.DataFrame]]:
        return [("judgments", self.judgments), ("run", self.run)]


def small_world(measure: str | Measure, queries: int, seed: int = 0, *, ties: bool = False) -> World:
    """Make queries that hold what a measure reads; they grow, so what fails first is small.

    Parameters
    ----------
    measure
        The measure or its text.
    queries
        How many queries.
    seed
        Where the random numbers start.
    ties
        Whether scores may tie.
    """
    kind = parse_measure(measure)
    assert isinstance(kind, Measure)  # noqa: S101 - callers have checked
    draw = np.random.Generator(np.random.Philox(seed))
    judged: list[dict[str, Any]] = []
    shown: list[Row] = []
    for at in range(queries):
        docs = 2 + at * 6 // queries
        query, names = f"q{at:04}", [f"d{i}" for i in range(docs + 2)]
        for doc in draw.permutation(names)[: draw.integers(1, docs + 1)].tolist():
            judged += _judgments(kind, draw, query, doc)
        if at and draw.integers(8) == 0:
            continue  # a judged query that the run does not answer
        size = int(draw.integers(1, docs + 1))
        scores = draw.integers(0, 3, size) if ties else draw.permutation(size * 3)[:size]
        for doc, score in zip(draw.permutation(names)[:size].tolist(), scores.tolist(), strict=True):
            shown.append((query, doc, float(score)))
    shown.append(("nobody judged me", "d0", 1.0))
    return World(pl.DataFrame(judged), pl.DataFrame(shown, _RUN, orient="row"), {"candidates": _CANDIDATES})


def _judgments(kind: Measure, draw: np.random.Generator, query: str, doc: str) -> list[dict[str, Any]]:
    """Make one document's judgments: one, or one for each of some subtopics."""
    row = {"query_id": query, "doc_id": doc}
    more = {name: float(draw.uniform(0.1, 1.0)) for name in kind.judgment_columns}
    if "groups" not in kind.brings:
        return [{**row, "relevance": float(draw.choice(_GRADES)), **more}]
    chosen = draw.permutation(_SUBTOPICS)[: draw.integers(1, len(_SUBTOPICS) + 1)].tolist()
    return [{**row, "subtopic": s, "relevance": float(draw.choice(_GRADES)), **more} for s in chosen]
