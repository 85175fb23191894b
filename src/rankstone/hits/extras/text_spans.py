"""Spans: stretches of documents, as judged and as retrieved, and how much of one the other covers.

Judgments of spans outlive a change of the chunks: whatever a document is cut into, each chunk covers some of
its relevant text.  Text that several chunks share counts once, for the first of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadOption, BadParameter, BadValue, printable
from rankstone.hits.budgets import OFFSETS
from rankstone.hits.extras.extra_values import HitValue
from rankstone.hits.extras.row_costs import ReadsCosts
from rankstone.hits.list_arrays import list_numbers, ragged_range
from rankstone.hits.pair_index import Matches, repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats, Ints, Locate, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch, Piece
    from rankstone.hits.extras.units import RetrievalUnits
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.matched_batch import MatchedBatch


class Spans(Record):
    """Stretches of documents, the spans of one query after those of another.

    Attributes
    ----------
    query
        int64 ``[spans]``, ascending.
    document
        int64 ``[spans]``: the document, by numbers that agree between the spans of one query.
    start, end
        float64 ``[spans]``: where it begins, and where the text behind it begins.
    """

    query: Ints
    document: Ints
    start: Floats
    end: Floats

    @property
    def length(self) -> Floats:
        """The length of each span, float64 ``[spans]``."""
        return self.end - self.start

    def some(self, which: Ints | Bools) -> Spans:
        """Return some of the spans, in ascending order."""
        return Spans(
            self.query[which], self.document[which], self.start[which], self.end[which]
        )


class JudgedSpans(Record):
    """The judged spans of all queries.

    Attributes
    ----------
    spans
        The spans; their documents are the pairs of query and document of the judgments.
    grade
        float64 ``[spans]``.
    nugget
        int64 ``[spans]``: what each is about, counted through all queries; 0 where judgments do not say.
    chunks
        All chunks of the judged documents, where a table of documents has them.
    """

    spans: Spans
    grade: Floats
    nugget: Ints
    chunks: Spans | None = None

    @classmethod
    def of(
        cls, table: pl.DataFrame, judgments: Judgments, chunks: pl.DataFrame | None
    ) -> JudgedSpans:
        """Return the spans of a table, by the prepared judgments of their documents.

        Parameters
        ----------
        table
            ``query_id``, ``doc_id``, ``relevance``, ``start``, ``end``, and perhaps ``nugget``.
        judgments
            One judgment for each document; spans of documents without any are left out.
        chunks
            ``doc_id`` of the document, ``start`` and ``end`` of each chunk; ``None`` if they are not known.
        """
        pairs = judgments.pairs
        query = list_numbers(np.diff(pairs.offsets))
        judged = pl.DataFrame(
            {
                "query": query,
                "query_id": judgments.queries.names.gather(query),
                "doc_id": pairs.docs,
            }
        ).with_row_index("pair")
        rows = table.join(judged, on=["query_id", "doc_id"]).sort(
            "pair", *OFFSETS, maintain_order=True
        )
        nugget = np.zeros(rows.height, np.int64)
        if "nugget" in rows.columns:
            nugget = (
                rows["nugget"].rank("dense").fill_null(0).to_numpy().astype(np.int64)
            )
            nugget = np.unique(
                rows["query"].to_numpy() * (len(rows) + 1) + nugget, return_inverse=True
            )[1]
        known = None
        if chunks is not None:
            known = _spans(chunks.join(judged, on="doc_id").sort("pair", *OFFSETS))
        return cls(_spans(rows), rows["relevance"].to_numpy(), nugget, known)

    def take(self, codes: Ints) -> JudgedSpans:
        """Return the spans of some queries, in that order; code -1 has none."""
        judged_rows, queries = _of_queries(self.spans, codes)
        spans = replace(self.spans.some(judged_rows), query=queries)
        chunks = None
        if self.chunks is not None:
            rows, owners = _of_queries(self.chunks, codes)
            chunks = replace(self.chunks.some(rows), query=owners)
        return JudgedSpans(
            spans, self.grade[judged_rows], self.nugget[judged_rows], chunks
        )


def _spans(rows: pl.DataFrame) -> Spans:
    """Return the spans of a table with ``query``, ``pair``, ``start`` and ``end``."""
    query, pair = (rows[name].to_numpy().astype(np.int64) for name in ("query", "pair"))
    return Spans(
        query, pair, *(rows[name].cast(pl.Float64).to_numpy() for name in OFFSETS)
    )


def _of_queries(spans: Spans, codes: Ints) -> tuple[Ints, Ints]:
    """Return the spans of some queries, and the place of each one's query in ``codes``."""
    first, last = (
        np.searchsorted(spans.query, codes, side) for side in ("left", "right")
    )
    return ragged_range(first, last - first), list_numbers(last - first)


class Retrieved(Record, HitValue):
    """The chunks behind hits, and the judged spans of the same queries.

    Attributes
    ----------
    document
        int64 ``[hits]``: the document of each chunk; -1 where it has no judged span, for queries at a time.
    start, end
        float64 ``[hits]``.
    judged
        The judged spans.
    """

    document: Ints
    start: Floats
    end: Floats
    judged: JudgedSpans

    def taken(
        self, hits: Ints | slice, queries: Ints | None = None
    ) -> Retrieved | None:
        """Return the chunks behind some of the hits; the judged spans are those of all queries."""
        document = self.document[hits]
        chunks = Retrieved(document, self.start[hits], self.end[hits], self.judged)
        return chunks if queries is None else None

    def spans(self, query: Ints) -> Spans:
        """Return the chunks as spans, given the query of each, int64 ``[hits]``."""
        return Spans(query, self.document, self.start, self.end)


class TextSpans(Record, ReadsCosts[Retrieved]):
    """Grades every chunk by the judged spans of text that it touches.

    Attributes
    ----------
    units
        Turns ids of chunks into those of documents, in which judged spans are looked up.
    judged
        The judged spans.
    """

    units: RetrievalUnits
    judged: JudgedSpans

    turn = 2
    reads_run_columns = True
    shares_judgments = True
    grades_decide = False

    names = OFFSETS
    run_columns = OFFSETS
    side_input = "judged_spans:SpanTables"

    @classmethod
    def refuse(cls, options: AlignmentOptions, measures: Sequence[Any]) -> None:
        """Refuse what has no meaning where every chunk is judged by its text."""
        of_spans = [measure for measure in measures if cls in measure.requires]
        for measure in measures:
            if measure not in of_spans and (
                measure.claims.deeper_grades_matter
                or not all(extra.counts_unanswerable for extra in measure.requires)
            ):
                raise BadParameter(
                    f"{measure} needs judgments of documents, and {of_spans[0]} those of spans of text",
                    fix="score them by two commands; measures that need no number of relevant documents, such "
                    "as Success, RR and P, count chunks that touch a relevant span",
                )
        changed = options.changed()
        for name in ("pool", "score_above", "unit_score"):
            if name in changed:
                raise BadOption(
                    f"{name}={printable(changed[name])} has no meaning for {of_spans[0]}",
                    fix=f"remove {name}",
                )

    def columns(self, known: frozenset[str]) -> dict[str, pl.Expr]:
        """Read where chunks begin and end, and of which documents they are."""
        return self.units.columns(known) | super().columns(known)

    def check(self, piece: Piece, locate: Locate) -> None:
        """Refuse chunks without text."""
        super().check(piece, locate)
        costs = self.costs(piece)
        check_offsets(costs, lambda row: locate(piece.row(row)), "a chunk")

    def before_sort(self, work: MatchedBatch) -> None:
        """Count the chunks; each stays a row."""
        self.units.count_chunks(work)

    def copies(self, batch: Batch) -> Ints:
        """Return the chunks that are there twice."""
        return repeated(batch.own_hashes, batch.lengths, batch.own_ids)

    def grade(self, work: MatchedBatch) -> None:
        """Give each chunk the best grade of the spans that it touches, and name it by its own id."""
        batch = work.batch
        pair = np.full(batch.height, -1)
        pair[work.matches.row] = work.matches.pair
        document = numbered(batch.ids(np.arange(batch.height)), pair)
        judged = self.judged.take(batch.codes)
        start, end = (batch.costs[name] for name in OFFSETS)
        chunks = Spans(batch.list_of_row, document, start, end)
        chunk, span = overlapping(chunks, judged.spans)
        grade = np.where(np.bincount(chunk, minlength=batch.height) > 0, -np.inf, 0.0)
        np.maximum.at(grade, chunk, judged.grade[span])
        work.matches = Matches(np.arange(batch.height), batch.list_of_row, pair)
        work.grade = grade
        work.judged = np.ones(batch.height, bool)
        work.batch = replace(batch, named=None, hash=batch.own_hash)
        work.kept[TextSpans] = Retrieved(document, start, end, judged)

    def attach(self, work: MatchedBatch) -> Retrieved | None:
        """Return the chunks behind hits."""
        retrieved: Retrieved = work.kept[TextSpans]
        return retrieved.taken(work.ranks.kept)

    def judgment_counts(self) -> dict[str, int]:
        """Return how many spans are judged."""
        return {"judgments": len(self.judged.grade)}

    def count(self, work: MatchedBatch, hits: Hits) -> NamedValues:
        """Return the counts of chunks."""
        return self.units.count(work, hits)


class TextCoverage(Record):
    """How much text the chunks of lists cover, each what none above it does.

    Attributes
    ----------
    new, relevant
        float64 ``[chunks]``: the length of new text, and of new relevant text.
    of_span
        float64 ``[spans]``: how much of each relevant span is covered.
    by_nugget
        float64 ``[chunks]``: the sum over nuggets of the share of their text that is new.
    """

    new: Floats
    relevant: Floats
    of_span: Floats
    by_nugget: Floats

    @classmethod
    def of(cls, chunks: Spans, relevant: Spans, nugget: Ints) -> TextCoverage:
        """Measure chunks in the order of their lists against relevant spans and their nuggets."""
        pieces = _Pieces.of(chunks, relevant)
        count = len(chunks.query)
        chunk, piece = pieces.inside(chunks)
        first = np.full(len(pieces.length), count)
        np.minimum.at(first, piece, chunk)  # the first chunk that covers a piece
        span, part = pieces.inside(relevant)
        is_relevant = np.zeros(len(first), bool)
        is_relevant[part] = True

        def added(values: Floats, owner: Ints) -> Floats:
            return np.asarray(np.bincount(owner, values, count + 1)[:count], np.float64)

        covered = np.where(first[part] < count, pieces.length[part], 0.0)
        # spans of one nugget may overlap
        about, of = np.divmod(
            np.unique(nugget[span] * len(first) + part), max(len(first), 1)
        )
        whole = np.bincount(about, pieces.length[of], int(nugget.max(initial=-1)) + 1)
        shares = pieces.length[of] / whole[about]
        return cls(
            new=added(pieces.length, first),
            relevant=added(np.where(is_relevant, pieces.length, 0.0), first),
            of_span=np.bincount(span, covered, len(relevant.query)).astype(np.float64),
            by_nugget=added(shares, first[of]),
        )


class _Pieces(Record):
    """Documents cut at every end of a span: pieces that lie inside a span or outside it, never across."""

    key: NDArray[np.void]
    length: Floats

    @classmethod
    def of(cls, *spans: Spans) -> _Pieces:
        """Cut documents at the ends of spans."""
        points = []
        for side in spans:
            points += [_points(side, side.start), _points(side, side.end)]
        ends = np.unique(np.concatenate(points))

        length = np.zeros(len(ends))
        same = (ends["query"][1:] == ends["query"][:-1]) & (
            ends["document"][1:] == ends["document"][:-1]
        )
        length[:-1] = np.where(same, np.diff(ends["at"]), 0.0)
        return cls(ends, length)

    def inside(self, spans: Spans) -> tuple[Ints, Ints]:
        """Return the pieces inside spans: the span, and the piece."""
        first, last = (
            np.searchsorted(self.key, _points(spans, offsets))
            for offsets in (spans.start, spans.end)
        )
        return list_numbers(last - first), ragged_range(first, last - first)


def _points(spans: Spans, offsets: Floats) -> NDArray[np.void]:
    kind = [("query", np.int64), ("document", np.int64), ("at", np.float64)]
    points = np.empty(len(offsets), kind)
    points["query"] = spans.query
    points["document"] = spans.document
    points["at"] = offsets
    return points


def union_length(spans: Spans, queries: int) -> Floats:
    """Return how much text the spans of each query cover, float64 ``[queries]``."""
    pieces = _Pieces.of(spans)
    _, inside = pieces.inside(spans)
    inside = np.unique(inside)
    return np.asarray(
        np.bincount(pieces.key["query"][inside], pieces.length[inside], queries),
        np.float64,
    )


def overlapping(chunks: Spans, spans: Spans) -> tuple[Ints, Ints]:
    """Return the pairs of a chunk and a span that share text; spans are sorted by document and start."""
    keys = ("query", "document")
    kind = [(name, np.int64) for name in keys]
    mine = np.empty(len(chunks.query), kind)
    theirs = np.empty(len(spans.query), kind)
    for name in keys:
        mine[name], theirs[name] = getattr(chunks, name), getattr(spans, name)
    first = np.searchsorted(theirs, mine, "left")
    last = np.searchsorted(theirs, mine, "right")
    span = ragged_range(first, last - first)
    chunk = list_numbers(last - first)
    shares = (chunks.start[chunk] < spans.end[span]) & (
        spans.start[span] < chunks.end[chunk]
    )
    return chunk[shares], span[shares]


def check_offsets(columns: Mapping[str, Floats], where: Locate, what: str) -> None:
    """Refuse spans without text: offsets that are missing, below zero or in the wrong order."""
    start, end = (columns[name] for name in OFFSETS)
    bad = ~((start >= 0) & (end > start) & np.isfinite(end))
    if bad.any():
        row = int(bad.argmax())
        raise BadValue(
            f"{what} from {start[row]:g} to {end[row]:g}",
            where=where(row),
            expected="0 ≤ start < end: where it begins in its document, and where the text behind it begins",
        )


def numbered(documents: pl.Series, pair: Ints) -> Ints:
    """Return a number for each row's document: its pair, or one below zero where it is not judged."""
    codes = documents.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    return np.where(pair >= 0, pair, -1 - codes)
