"""Small random judgments and runs with ties, gaps and unjudged documents, like real data."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.api import evaluate
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.hits.extras.text_spans import TextSpans
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import NamedValues

#: more documents than any list has
_CANDIDATES = 40
_GRADES = (0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
_SUBTOPICS = ("s1", "s2", "s3")
_RUN = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}

#: query, document, score
Row = tuple[str, str, float]


class World(Record):
    """Judgments, a run, and options of alignment.

    Attributes
    ----------
    judgments
        ``query_id``, ``doc_id``, ``relevance``, and further columns that the measure reads.
    run
        ``query_id``, ``doc_id``, ``score``.
    options
        Options of alignment.
    documents
        For measures of spans and costs, the ``document`` of each chunk, its ``start``, ``end``, ``tokens``.
    """

    judgments: pl.DataFrame
    run: pl.DataFrame
    options: NamedValues = field(default_factory=dict)
    documents: pl.DataFrame | None = None
    _values: dict[Measure, dict[str, tuple[Any, ...]]] = field(
        default_factory=dict, init=False
    )

    def under(self, **options: Any) -> World:  # noqa: ANN401 - alignment options
        """Return the same rows under other options."""
        return replace(self, options={**self.options, **options})

    def ranked(self, rows: Iterable[Row]) -> World:
        """Return the same judgments with another run."""
        return replace(self, run=pl.DataFrame(list(rows), _RUN, orient="row"))

    def only(self, queries: Iterable[str]) -> World:
        """Return the world of some queries."""
        kept = pl.col("query_id").is_in(list(queries))
        return replace(
            self, judgments=self.judgments.filter(kept), run=self.run.filter(kept)
        )

    def lists(self) -> dict[str, list[Row]]:
        """Return the rows of each judged query in the run, best score first."""
        ordered = self.run.sort(
            "query_id", "score", descending=[False, True], maintain_order=True
        )
        rows: dict[str, list[Row]] = {
            query: [] for query in self.judgments["query_id"].unique().sort()
        }
        for row in ordered.iter_rows():
            if row[0] in rows:
                rows[row[0]].append(row)
        return {query: listed for query, listed in rows.items() if listed}

    def values(self, measure: Measure) -> dict[str, tuple[Any, ...]]:
        """Return ``{query: (value, numerator, denominator, status)}``, computed once for each measure."""
        if measure in self._values:
            return self._values[measure]
        tables = self.tables(measure)
        scored = evaluate(
            self.judgments, self.run, measure, **tables, **self.options
        ).per_query
        rows = scored.select(
            "query_id", "value", "numerator", "denominator", "status"
        ).iter_rows()
        none = dict.fromkeys(self.judgments["query_id"], (None, None, None, "dropped"))
        self._values[measure] = none | {query: tuple(rest) for query, *rest in rows}
        return self._values[measure]

    def tables(self, measure: Measure) -> NamedValues:
        """Return the tables of queries and of documents that a measure reads.

        Every query is the second of its session; those without a relevant document have no answer.
        """
        queries: NamedValues = {}
        if measure.query_columns:
            names = {*self.judgments["query_id"], *self.run["query_id"]}
            queries = {query: {"session": query, "position": 2} for query in names}
        elif AbstainedLists in measure.requires:
            best = self.judgments.group_by("query_id").agg(
                pl.col("relevance").max() > 0
            )
            queries = {
                query: {"answerable": answerable}
                for query, answerable in best.iter_rows()
            }
        return {"queries": queries or None, "documents": self.documents}

    def __str__(self) -> str:
        lines = []
        for name, table in (("judgments", self.judgments), ("run", self.run)):
            lines += [
                f"{name} ({', '.join(table.columns)}):",
                *(f"  {row}" for row in table.rows()),
            ]
        return "\n".join([*lines, f"options: {self.options}"])


def small_world(
    measure: str | Measure, queries: int, seed: int = 0, *, ties: bool = False
) -> World:
    """Return random judgments and a run with the columns that a measure reads; small queries come first.

    Parameters
    ----------
    measure
        The measure or its text.
    queries
        The number of queries.
    seed
        The seed of the random numbers.
    ties
        True if scores may tie.
    """
    parsed = parse_measure(measure)
    assert isinstance(parsed, Measure)  # noqa: S101 - checked by callers
    draw = np.random.Generator(np.random.Philox(seed))
    judged: list[NamedValues] = []
    shown: list[Row] = []
    for number in range(queries):
        query = f"q{number:04}"
        size = 2 + number * 6 // queries
        docs = [f"d{doc}" for doc in range(size + 2)]

        order = draw.permutation(docs)
        judged_docs = order[: draw.integers(1, size + 1)]
        for doc in judged_docs.tolist():
            judged += _judgments(parsed, draw, query, doc)

        # some judged queries are not in the run, but the first one is
        if number and draw.integers(8) == 0:
            continue
        count = int(draw.integers(1, size + 1))
        if ties:
            scores = draw.integers(0, 3, count)
        else:
            scores = draw.permutation(count * 3)[:count]
        order = draw.permutation(docs)[:count]
        for doc, score in zip(order.tolist(), scores.tolist(), strict=True):
            shown.append((query, doc, float(score)))

    shown.append(("unjudged query", "d0", 1.0))
    judgments = pl.DataFrame(judged)
    options = {"candidates": _CANDIDATES}
    documents = None
    if parsed.requires & {TextSpans, ListCosts, ListSources}:
        documents = _chunks(draw)
    run = pl.DataFrame(shown, _RUN, orient="row")
    return World(judgments, run, options, documents)


def _chunks(draw: np.random.Generator) -> pl.DataFrame:
    """Return the chunks of two documents, which overlap; unknown ones are of other documents."""
    rows = []
    for prefix, number in product(("", "unknown "), range(10)):
        chunk = f"{prefix}d{number}"
        start = int(draw.integers(0, 12))
        document = chunk
        if not prefix:
            document = f"D{draw.integers(2)}"
        row = {
            "doc_id": chunk,
            "document": document,
            "start": start,
            "end": start + int(draw.integers(1, 6)),
            "tokens": float(draw.integers(0, 9)),
            "source": f"s{number % 3}",
        }
        rows.append(row)
    return pl.DataFrame(rows)


def _judgments(
    measure: Measure, draw: np.random.Generator, query: str, doc: str
) -> list[NamedValues]:
    """Return the judgments of one document: one, or one for each of some subtopics."""
    row = {"query_id": query, "doc_id": doc}
    more: NamedValues = {
        name: float(draw.uniform(0.1, 1.0)) for name in measure.judgment_columns
    }
    if TextSpans in measure.requires:
        start = int(draw.integers(0, 12))
        more |= {
            "start": start,
            "end": start + float(draw.integers(1, 6)),
            "nugget": f"n{draw.integers(3)}",
        }
    if "forbidden" in more:
        return [{**row, "relevance": 0.0, "forbidden": str(draw.integers(2))}]
    if JudgmentGroups not in measure.requires:
        return [{**row, "relevance": float(draw.choice(_GRADES)), **more}]
    chosen = draw.permutation(_SUBTOPICS)[
        : draw.integers(1, len(_SUBTOPICS) + 1)
    ].tolist()
    return [
        {**row, "subtopic": s, "relevance": float(draw.choice(_GRADES)), **more}
        for s in chosen
    ]
