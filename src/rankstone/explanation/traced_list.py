"""The list of one query as a measure scored it, with document ids."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, exact
from rankstone.errors import NotComparable, did_you_mean, printable
from rankstone.explanation.explanation_rows import IdealRow, Intent, Row
from rankstone.hits.extras.hit_scores import HitScores
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.hits.extras.row_numbers import RowNumbers
from rankstone.hits.extras.text_spans import TextSpans, overlapping
from rankstone.hits.extras.unjudged_places import Holes
from rankstone.hits.list_arrays import list_numbers
from rankstone.hits.trace import Trace
from rankstone.measures.core.measure import Status
from rankstone.rankings.derivation import TraceTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Names
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.budgets import Budget
    from rankstone.hits.extras.text_spans import JudgedSpans
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.matching import Chunk
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.curve import Curve
    from rankstone.measures.core.measure import Contributions, Measure

#: columns of the table of documents that are shown
_TEXTS: Final = ("title", "text")
#: the most documents that are tried at better ranks
_TRIED: Final = 20


class QueryTrace(Record):
    """The score of one query, and what the measure recorded.

    Attributes
    ----------
    chunk, place
        The hits that were scored, and the number of the query among them.
    trace
        The numbers that the measure computed with.
    parts
        Its contributions.
    status, value, numerator, denominator
        The score; the value is ``None`` where it is undefined.
    curve
        The points of a curve that is explained.
    """

    chunk: Chunk
    place: int
    trace: Trace
    parts: Contributions
    status: Status
    value: float | None
    numerator: float
    denominator: float
    curve: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls,
        measure: Measure,
        chunk: Chunk,
        hits: Hits,
        place: int,
        options: AlignmentOptions,
        curve: Curve | None = None,
    ) -> QueryTrace:
        """Score a query with a trace."""
        trace = Trace()
        if hits.queries == 1:
            hits = replace(hits, trace=trace, _memo={})
        scored = measure.score(hits, options.empty)
        if chunk.undefined:
            scored = scored.without_value()
        _, parts = measure.parts(replace(hits, trace=None, _memo={}))
        value, numerator, denominator = (
            float(values[place])
            for values in (scored.value, scored.numerator, scored.denominator)
        )
        points = () if curve is None else _points(curve, hits, place, options.empty)
        status = Status(int(scored.status[place]))
        known = None if np.isnan(value) else value
        return cls(
            chunk, place, trace, parts, status, known, numerator, denominator, points
        )

    @property
    def ratio(self) -> float:
        """The quotient, 0 where the denominator is 0."""
        return self.numerator / self.denominator if self.denominator > 0 else 0.0

    def part_of_query(self, values: Any) -> float | None:  # noqa: ANN401 - float64 [queries], or None
        """Return the value of the query in a further sum."""
        return None if values is None else float(values[self.place])


class TracedList(Record):
    """The list of one query: ids of units, rows as given, and the budget that cuts the list."""

    scored: QueryTrace
    judgments: Judgments
    code: int
    ids: pl.Series
    source_rows: pl.DataFrame
    budget: Budget | None = None

    @cached_property
    def own(self) -> pl.Series:
        """The ids of rows as they were given."""
        return self.source_rows["doc_id"].cast(pl.String)

    @property
    def query(self) -> object:
        """The query's id."""
        return self.judgments.queries.names[self.code]

    @property
    def whole(self) -> Hits:
        """All hits of the list, also those below the cutoff."""
        return self.scored.chunk.hits

    @property
    def retrieved(self) -> int:
        """How many documents the list has."""
        return int(self.whole.n[self.scored.place])

    @property
    def answered(self) -> bool:
        """True if the run has a list for the query."""
        return self.scored.chunk.tally is not None

    def _names(self, rows: Any) -> list[str]:  # noqa: ANN401 - int64 rows of the run
        return self.ids.gather(np.asarray(rows)).to_list()

    @cached_property
    def given_ids(self) -> dict[str, str]:
        """Document → its id in the run, of the chunk that stands for it."""
        rows = self._run_rows
        return dict(
            zip(self._names(rows), self.own.gather(rows).to_list(), strict=True)
        )

    @property
    def _run_rows(self) -> list[int]:
        """The rows of the run behind hits, then those of documents without a grade."""
        whole = self.whole
        rows = whole.added(RowNumbers).run.tolist()
        return [*rows, *whole.added(Holes).run_row.tolist()]

    def texts(
        self, documents: Attributes | None, names: Names = _TEXTS
    ) -> dict[str, str]:
        """Return title and text of the documents of the list, and of judged ones outside it."""
        kinds = {} if documents is None else documents.schema
        known = [n for n in names if n in kinds and not kinds[n].is_nested()]
        if documents is None or not known:
            return {}

        id_in_run = {doc: doc for doc, *_ in self.judged}
        if self.answered:
            id_in_run |= self.given_ids

        rows = documents.of_ids({*id_in_run, *id_in_run.values()}, *known)
        texts = {
            doc: ": ".join(str(part) for part in parts if part not in (None, ""))
            for doc, *parts in rows.iter_rows()
        }
        text_of = {
            doc: texts.get(own) or texts.get(doc, "") for doc, own in id_in_run.items()
        }
        return {doc: text for doc, text in text_of.items() if text}

    def sources(self, documents: Attributes | None, measure: Measure) -> dict[str, str]:
        """Return the source of each document that a measure of sources counts, nothing for other measures."""
        sources: dict[str, str] = {}
        if ListSources not in measure.requires:
            return sources
        column = measure.column  # type: ignore[attr-defined] # of measures of sources
        source_of = self.texts(documents, (column,))

        k = measure.k
        if self.budget is not None:
            spent = self.whole.extras[self.budget]
            k = int(spent.n[self.scored.place])
        for doc in self.docs[:k]:
            sources[doc] = source_of[doc]
        return sources

    @cached_property
    def docs(self) -> list[str]:
        """The list's documents in order."""
        return [row.doc_id or "" for row in self.rows]

    @cached_property
    def ranks(self) -> dict[str | None, int]:
        """Document → its first rank."""
        return {row.doc_id: row.rank for row in reversed(self.rows)}

    @cached_property
    def _judged(self) -> slice:
        return slice(*self.judgments.pairs.offsets[self.code : self.code + 2])

    @cached_property
    def judged(self) -> list[tuple[str, float, int | None]]:
        """Judged documents with grade and rank (``None`` where not retrieved), best first.

        Judged spans have the rank of the first chunk that touches them.
        """
        spans = self.judgments.find_extra(TextSpans)
        if spans is not None:
            return self._judged_spans(spans.judged)
        docs = self.judgments.pairs.docs[self._judged].cast(pl.String).to_list()
        grades = self.judgments.grade[self._judged].tolist()
        best = sorted(
            zip(docs, grades, strict=True),
            key=lambda document: (-document[1], document[0]),
        )
        return [(doc, grade, self.ranks.get(doc)) for doc, grade in best]

    def _judged_spans(self, every: JudgedSpans) -> list[tuple[str, float, int | None]]:
        judged = every.take(np.array([self.code]))
        hits = self.whole
        docs = self.judgments.pairs.docs.cast(pl.String)
        spans = judged.spans
        ends = zip(
            spans.document.tolist(),
            spans.start.tolist(),
            spans.end.tolist(),
            strict=True,
        )
        names = [
            f"{docs[doc]}[{exact(start)}:{exact(end)}]" for doc, start, end in ends
        ]

        ranks: dict[int, int] = {}
        if TextSpans in hits.extras:
            chunks = hits.added(TextSpans).spans(hits.query)
            chunk, span = overlapping(chunks, spans)
            ranks = dict(
                reversed([*zip(span.tolist(), hits.rank[chunk].tolist(), strict=True)])
            )

        best = sorted(
            zip(names, judged.grade.tolist(), range(len(names)), strict=True),
            key=lambda span: -span[1],
        )
        return [(name, grade, ranks.get(number)) for name, grade, number in best]

    @property
    def counts(self) -> dict[str, int]:
        """Copies, tied rows and grades below zero of the query: what remarks on a library hang on."""
        tally = self.scored.chunk.tally
        copies, tied = (0, 0) if tally is None else (tally.duplicates, tally.tied)
        return {"duplicates": copies, "tied": tied, "negative": self.negative}

    @property
    def negative(self) -> int:
        """How many judgments are below zero."""
        pooled = self.judgments.pooled
        count = 0 if pooled is None else int(np.diff(pooled.offsets)[self.code])
        return count + int((self.judgments.grade[self._judged] < 0).sum())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The list in rank order, one row per document."""
        return tuple(self._rows()) if self.answered else ()

    def _rows(self) -> Iterator[Row]:
        hits = self.whole
        holes = hits.added(Holes)
        share = self.scored.parts.hits.tolist()
        running = np.add.accumulate(self.scored.parts.hits).tolist() if share else []
        columns = {
            name: values.tolist() for name, values in self.scored.trace.columns.items()
        }
        grades = zip(
            hits.grade.tolist(),
            hits.judged.tolist(),
            range(len(hits.grade)),
            strict=True,
        )
        run_rows = hits.added(RowNumbers).run.tolist()
        names = self._names(run_rows)
        entries: list[Any] = list(
            zip(_places(hits), names, run_rows, grades, strict=True)
        )

        # documents without a grade have no hit: their number is past the last
        rows = zip(
            _places(holes),
            self._names(holes.run_row),
            holes.run_row.tolist(),
            strict=True,
        )
        entries += [(*entry, (None, False, len(hits.grade))) for entry in rows]
        entries.sort(key=lambda entry: entry[0][0])

        so_far = 0.0
        spent = 0.0
        kept = self._kept(hits)
        for (rank, first, last), doc, row, (grade, judged, hit) in entries:
            # scores say what is supported: equal ones are no tie
            if HitScores in hits.extras:
                first = last = rank  # noqa: PLW2901 - for this row

            hit = kept.get(hit, len(hits.grade))  # noqa: PLW2901 - the place among the hits that were scored
            values = {
                name: column[hit]
                for name, column in columns.items()
                if hit < len(column)
            }
            if self.budget is not None:
                cost = float(self.source_rows[self.budget.column][row])
                spent = spent + cost if self.budget.adds else cost
                values |= dict(zip(self._paid, (cost, spent), strict=False))
            is_read = hit < len(share)
            so_far = running[hit] if is_read else so_far
            added = share[hit] if is_read else None
            yield Row(rank, first, last, doc, grade, judged, values, added, so_far)

    @property
    def _paid(self) -> Names:
        """The columns of costs: of each document, and of all down to it where none is passed over.

        Documents that several chunks stand for have none: what is above them is not shown.
        """
        if self.budget is None or not self.own.equals(self.ids):
            return ()
        added = self.budget.adds and self.budget.crossing != "skip"
        return (self.budget.column, "spent") if added else (self.budget.column,)

    def copies(self) -> list[tuple[str, int, bool]]:
        """Return rows that are copies of a document above, its rank, and whether it has the same id."""
        used = set(self._run_rows)
        units = self.ids.to_list()
        own = self.own.to_list()
        again = (
            row
            for row in range(len(units))
            if row not in used and units[row] in self.ranks
        )
        first = self.given_ids
        return [
            (own[row], self.ranks[units[row]], first[units[row]] == own[row])
            for row in again
        ]

    def _kept(self, hits: Hits) -> dict[int, int]:
        """Return the place of each hit among those that were scored; a budget leaves some out."""
        every = np.arange(len(hits.grade))
        inside = (
            every
            if self.budget is None
            else np.flatnonzero(hits.extras[self.budget].rank)
        )
        return {hit: place for place, hit in enumerate(inside.tolist())}

    def table(self) -> TraceTable:
        """Return the list as the table that the measure summed."""
        names = (*self._paid, *self.scored.trace.columns)
        rows = [
            (
                row.rank,
                row.doc_id,
                row.relevance,
                row.judged,
                *map(row.values.get, names),
                *added,
            )
            for row in self.rows
            for added in [(row.contribution, row.running)]
        ]
        numbers = dict.fromkeys(
            ("relevance", *names, "contribution", "running"), pl.Float64()
        )
        schema = {
            "rank": pl.Int64(),
            "doc_id": pl.String(),
            "relevance": pl.Float64(),
            "judged": pl.Boolean(),
        }
        frame = pl.DataFrame(rows, {**schema, **numbers}, orient="row", strict=False)
        return TraceTable(
            "document", "", frame, self.rows[-1].running if self.rows else 0.0, {}
        )

    def ideal_rows(self) -> Iterator[IdealRow]:
        """Yield the ideal list as deep as the norm sums it; documents only where gains follow grades."""
        table = self.scored.trace.titled("ideal")
        if table is None:
            return
        judged = self.judged
        adding = np.flatnonzero(table.columns["contribution"])
        same = len(judged) == len(table.columns["gain"])
        for place in range(int(adding[-1]) + 1 if len(adding) else 0):
            numbers = {
                name: float(values[place]) for name, values in table.columns.items()
            }
            yield IdealRow(place + 1, judged[place][0] if same else None, numbers)

    def intents(self) -> Iterator[Intent]:
        """Yield the subtopics of the query, if the measure reads them."""
        groups = self.judgments.groups
        if groups is None or PoolMembers not in self.whole.extras:
            return
        pairs = self._judged
        entries, doc = groups.entries(np.arange(pairs.start, pairs.stop))
        is_relevant = groups.grade[entries] > 0
        code = groups.code[entries][is_relevant]
        doc = doc[is_relevant]
        ids = self.judgments.pairs.docs[pairs].cast(pl.String).to_list()
        first, last = groups.starts[self.code : self.code + 2]
        for number in range(int(last - first)):
            names = [ids[place] for place in doc[code == number].tolist()]
            ranks = sorted(self.ranks[name] for name in names if name in self.ranks)
            name = (
                str(number + 1)
                if groups.names is None
                else str(groups.names[int(first) + number])
            )
            yield Intent(
                name,
                float(groups.weight[int(first) + number]),
                len(names),
                tuple(ranks),
            )

    def facts(self, measure: Measure) -> dict[str, float]:
        """Return numbers about the query."""
        place = self.scored.place
        relevant = measure.relevant_count(self.whole)
        known = {} if relevant is None else {"relevant": int(relevant[place])}
        judged = int(np.diff(self.whole.ideal.offsets)[place])
        hits = int(np.diff(self.whole.offsets)[place])
        return {
            "retrieved": self.retrieved,
            "judged": judged,
            **known,
            "judged_retrieved": hits,
        }

    def promotions(self) -> Iterator[tuple[str, float, int | None, int]]:
        """Yield documents below lower grades or outside the list: id, grade, rank, better rank."""
        grades = [
            row.relevance if row.relevance is not None else 0.0 for row in self.rows
        ]
        tried = 0
        for doc, grade, now in self.judged:
            to = next(
                (rank for rank, other in enumerate(grades, 1) if other < grade),
                len(grades) + 1,
            )
            if (
                grade > 0
                and self.answered
                and (now is None or to < now)
                and tried < _TRIED
            ):
                tried += 1
                yield doc, grade, now, to


def _points(
    curve: Curve, hits: Hits, place: int, empty: str
) -> tuple[tuple[float, float], ...]:
    """Return the points of the curve of a query, or its heights over the grid."""
    traced = curve.score(hits, empty)
    if traced.points is not None:
        rows = slice(*traced.points.offsets[place : place + 2])
        return tuple(
            zip(
                traced.points.x[rows].tolist(),
                traced.points.y[rows].tolist(),
                strict=True,
            )
        )
    return tuple(zip(curve.grid().tolist(), traced.value[place].tolist(), strict=True))


def _places(documents: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401 - hits, or holes among them
    """Yield ranks of documents, and the first and last rank of their tie blocks."""
    return zip(
        documents.rank.tolist(),
        documents.first.tolist(),
        documents.last.tolist(),
        strict=True,
    )


def rows_of(
    table: Table, queries: Sequence[str]
) -> pl.DataFrame | dict[Any, list[str]]:
    """Return the rows of some queries; plain lists of documents stay such: their order is their own."""
    is_wanted = pl.col("query_id").cast(pl.String).is_in(list(queries))
    rows = pl.concat(
        [
            piece.filter(is_wanted)
            for piece in table.tables(list(map(pl.col, table.schema)))
        ]
    )
    if not table.listed:
        return rows
    parts = rows.partition_by("query_id", as_dict=True, maintain_order=True)
    return {key[0]: part["doc_id"].to_list() for key, part in parts.items()}


def graded_documents(chunk: Chunk, _: Hits) -> pl.DataFrame:
    """Return the documents of all lists of a chunk: hits with their grades, and holes, which have none."""
    retrieved = chunk.hits
    holes = retrieved.added(Holes)
    query = list_numbers(np.diff(retrieved.offsets))
    grade = np.where(retrieved.judged, retrieved.grade, np.nan)
    hits = (query, retrieved.rank, retrieved.added(RowNumbers).run, grade)
    none = np.full(len(holes.rank), np.nan)
    more = (holes.query, holes.rank, holes.run_row, none)
    columns = [np.concatenate(pair) for pair in zip(hits, more, strict=True)]
    frame = pl.DataFrame(
        dict(zip(("query_id", "rank", "row", "relevance"), columns, strict=True))
    )
    names = chunk.names.cast(pl.String).gather(frame["query_id"])
    return frame.with_columns(
        names.alias("query_id"), pl.col("relevance").fill_nan(None)
    )


def query_number(judgments: Judgments, query: object, source: str) -> int:
    """Return the number of a judged query."""
    names = judgments.queries.names.cast(pl.String)
    rows = names.eq(str(query)).arg_true()
    if len(rows):
        return int(rows[0])
    raise NotComparable(
        f"query {printable(query)} is not judged",
        where=source,
        expected=", ".join(map(printable, names[:5]))
        + (" …" if len(names) > 5 else ""),  # noqa: PLR2004
        fix=did_you_mean(str(query), names.head(1000).to_list(), n=2),
    )
