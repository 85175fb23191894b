"""Alignment of a run with judgments: a stream of tables becomes chunks of :class:`~rankstone.hits.hits.Hits`.

It does not depend on measures or files.  Hits of several chunks can be joined, those of some queries can be
taken, and hits can be filled up so that there is one at every rank.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true, some
from rankstone.errors import BadValue, NotComparable, printable
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.hits import PER_HIT, PER_QUERY, Hits
from rankstone.hits.judgments import FILL_DOWN, Judgments, SelfLabelled, bad_grade
from rankstone.hits.list_arrays import (
    end_to_end,
    joined_ideals,
    offsets_of,
    ragged_range,
)
from rankstone.hits.matching import Chunk, Matcher
from rankstone.hits.query_lists import Lists, read_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankstone._basics import Ints, Locate, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Piece
    from rankstone.hits.extras.extra import Extra
    from rankstone.hits.list_arrays import Ideal


Result = TypeVar("Result")


class Stream(Protocol):
    """What alignment needs of a run: tables that can be reread, and the place of a row."""

    @property
    def columns(self) -> frozenset[str]:
        """Names of its columns: ``query_id``, ``doc_id``, ``score``, ``rank`` and so on."""

    def tables(self, columns: Sequence[pl.Expr]) -> Iterable[pl.DataFrame]:
        """Restart the stream; each table has the given columns."""

    @property
    def unanswered(self) -> pl.Series | None:
        """Ids of queries with an empty list, where a source can declare them."""

    @property
    def failed(self) -> Mapping[str, str]:
        """Once the stream has been read, the queries whose retrieval failed → why."""

    def locate(self, row: int) -> str:
        """Return the place of a row of the stream, for messages."""


class RowCheck(Record):
    """Refuses rows without an id, or whose score, rank or label is missing or not a number.

    Parameters
    ----------
    options
        ``order`` names the number in messages; ``negative`` is applied to labels.
    locate
        Returns the place of a row of the stream.
    extras
        They check the columns that they read.
    """

    options: AlignmentOptions
    locate: Locate
    extras: tuple[Extra[Any], ...] = ()

    def __call__(self, piece: Piece) -> Piece:
        """Return the piece, checked; NaN marks labels that count as unjudged."""
        table = piece.table
        for column in ("query_id", "doc_id"):
            if column in table.columns and table[column].null_count():
                row = first_true(table[column].is_null())
                raise BadValue(
                    f"a row without {column}",
                    where=self.locate(piece.row(row)),
                    expected="an id",
                    fix=FILL_DOWN
                    if column == "query_id"
                    else "repair or remove the row",
                )
        for column, name in (("key", self.options.order), ("label", "relevance")):
            if column in table.columns:
                numbers = table[column].to_numpy()
                if len(numbers) and np.isnan(numbers.max()):
                    raise self._not_a_number(
                        piece, column, name, int(np.isnan(numbers).argmax())
                    )
        for extra in self.extras:
            extra.check(piece, self.locate)
        if "label" in table.columns:
            self._check_labels(piece)
            return self._with_negative_labels(piece)
        return piece

    def _check_labels(self, piece: Piece) -> None:
        label = piece.table["label"].to_numpy()
        if max(label.max(initial=0), -label.min(initial=0)) > LARGEST_GRADE:
            row = int((np.abs(label) > LARGEST_GRADE).argmax())
            where = self.locate(piece.row(row))
            raise bad_grade("a label", label[row], where, _row(piece.table, row))

    def _not_a_number(self, piece: Piece, column: str, name: str, row: int) -> BadValue:
        table: pl.DataFrame = piece.table
        return BadValue(
            f"the {name} is {'missing' if table[column][row] is None else 'NaN'}",
            where=self.locate(piece.row(row)),
            given=_row(table, row),
            expected="a number",
            fix="repair the row or leave it out",
        )

    def _with_negative_labels(self, piece: Piece) -> Piece:
        """Return labels below zero as the option ``negative`` means them: NaN is an unjudged document."""
        label = piece.table["label"].to_numpy()
        below = label < 0
        if not below.any() or self.options.negative == "keep":
            return piece
        if self.options.negative == "error":
            raise BadValue(
                "a label below zero",
                where=self.locate(piece.row(int(below.argmax()))),
                fix="choose a meaning: negative=unjudged, zero or keep",
            )
        meant = 0.0 if self.options.negative == "zero" else float("nan")
        return replace(
            piece, table=piece.table.with_columns(label=np.where(below, meant, label))
        )


def _row(table: pl.DataFrame, row: int) -> str:
    doc = (
        f", document {printable(table['doc_id'][row])}"
        if "doc_id" in table.columns
        else ""
    )
    return f"query {printable(table['query_id'][row])}{doc}"


class Aligner(Record):
    """Aligns runs with one set of judgments.

    Parameters
    ----------
    judgments
        The judgments, or :class:`SelfLabelled` when the run carries its own labels.
    options
        The alignment options.
    extras
        What only some measures and options need, in the order of their turns.
    cutoffs
        The ranks at which the audit counts unjudged documents; ``None`` without an audit.
    regroups
        True if a run with scattered queries is regrouped in memory; otherwise :class:`Scattered` is raised.
    threads
        How many batches are processed at the same time.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    extras: tuple[Extra[Any], ...] = ()
    cutoffs: tuple[int, ...] | None = (10,)
    regroups: bool = True
    threads: int = 2

    @cached_property
    def _matcher(self) -> Matcher:
        """Turns batches into hits."""
        return Matcher(self.judgments, self.options, self.extras, self.cutoffs)

    def run(
        self, stream: Stream, each: Callable[[Chunk], Result]
    ) -> tuple[list[Result], Lists]:
        """Call ``each`` for every chunk of hits and return the results in the stream's order.

        Judged queries that the run does not answer come last, in a separate chunk; there is always a chunk.
        The second value records which queries the run answers.
        """
        matcher = self._matcher
        results, lists = read_lists(
            lambda: self._lists(stream),
            lambda: self._tables(stream),
            lambda batch: each(matcher.chunk(batch, stream.locate)),
            regroups=self.regroups,
            threads=self.threads,
        )
        if isinstance(self.judgments, Judgments):
            names, codes = self._empty_lists(self.judgments, stream, lists)
            if len(codes) and self.options.no_results != "drop":
                results.append(each(matcher.empty(self.judgments, codes, names)))
            absent = np.flatnonzero(~lists.answered & (self.options.missing != "drop"))
            if len(absent) or not results:
                results.append(
                    each(matcher.missing(self.judgments, absent, stream.failed))
                )
        return results, lists

    def _empty_lists(
        self, judgments: Judgments, stream: Stream, lists: Lists
    ) -> tuple[pl.Series, Ints]:
        """Return the queries with an empty list that count, and record that they are answered."""
        if stream.unanswered is None or self.options.no_results == "missing":
            return judgments.queries.names.clear(), np.empty(0, np.int64)
        names = stream.unanswered.unique(maintain_order=True)
        codes = judgments.queries.codes(names)
        judged = codes >= 0
        if self.options.extra == "error" and not judged.all():
            unjudged = names.filter(pl.Series(~judged))[0]
            raise NotComparable(
                f"an empty list for query {printable(unjudged)}, which has no judgments",
                fix="remove it, or choose its value: extra=drop or keep",
            )
        # a query may also have a list that is not empty
        counted = np.where(judged, ~lists.answered[codes], self.options.extra == "keep")
        if len(others := lists.unjudged()):
            counted &= ~names.is_in(others.implode()).to_numpy()
        order = np.argsort(np.where(judged, codes, len(lists.answered)), kind="stable")
        order = order[counted[order]]
        names = names.gather(order)
        codes = codes[order]
        if len(codes) and self.options.no_results == "error":
            raise NotComparable(
                f"an empty list for query {printable(names[0])}",
                fix="choose its value: no_results=missing, zero, undefined or drop",
            )
        lists.answered[codes[codes >= 0]] = True
        return names, codes

    def _lists(self, stream: Stream) -> Lists:
        check = RowCheck(self.options, stream.locate, self.extras)
        keep_extra = self.options.extra == "keep"
        return Lists(self.judgments.queries, check, keep_extra=keep_extra)

    def _tables(self, stream: Stream) -> Iterable[pl.DataFrame]:
        """Start the stream with the ``key`` that orders lists and the hashes of documents."""
        by = self.options.order
        columns = {"query_id": pl.col("query_id")}
        if "doc_id" in stream.columns:
            columns["doc_id"] = pl.col("doc_id")
            columns["hash"] = pl.col("doc_id").hash().alias("hash")
        if by != "input":
            columns["key"] = larger_first(by).alias("key")
            other = "score" if by == "rank" else "rank"
            if other in stream.columns and isinstance(self.judgments, Judgments):
                columns["other"] = larger_first(other).alias("other")
        if isinstance(self.judgments, SelfLabelled):
            columns["label"] = pl.col("relevance").cast(pl.Float64).alias("label")
        further: dict[str, pl.Expr] = {}
        for extra in self.extras:
            further |= extra.columns(stream.columns)
        # tied rows are ordered by costs, so the order of these columns is not that of the extras
        columns |= dict(sorted(further.items()))
        return stream.tables([*columns.values()])


def larger_first(column: str) -> pl.Expr:
    """Return a column of scores or ranks as numbers of which the largest is the best."""
    number = pl.col(column).cast(pl.Float64)
    return -number if column == "rank" else number


def no_overlap(judgments: Judgments, lists: Lists, where: str) -> NotComparable:
    """Return the error for a run that answers none of the judged queries."""
    fix = "check that judgments and run belong together, and that ids are written in the same way"
    sides = [judgments.queries.names, lists.unjudged()]
    texts = [ids.cast(pl.String) for ids in sides if len(ids)]
    if any(ids.str.ends_with(".0").all() for ids in texts):
        fix = "the ids of one side became floats, such as 1.0: write them as whole numbers"
    return NotComparable(
        "no query of the run is judged",
        where=where,
        given=f"judged queries {some(judgments.queries.names)}; "
        f"queries of the run {some(lists.unjudged().sort())}",
        expected="the same query ids on both sides",
        fix=fix,
    )


def joined(parts: Sequence[Hits]) -> Hits:
    """Join the queries of several parts, in their order.

    Parameters
    ----------
    parts
        One or more, aligned under the same options.  Extras that belong to the queries of a part are left
        out, such as the pool of judged documents.
    """
    first = parts[0]
    columns: NamedValues = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*PER_HIT, *PER_QUERY)
    }
    return Hits(
        offsets=end_to_end([part.offsets for part in parts]),
        **columns,
        ideal=joined_ideals([part.ideal for part in parts]),
        expected=first.expected,
        lowest_grade=first.lowest_grade,
        extras=_joined_extras([part.extras for part in parts]),
    )


def _joined_extras(parts: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Join what all of several parts have, as far as it can be joined."""
    joined = {}
    for key, value in parts[0].items():
        if all(key in part for part in parts):
            joined[key] = value.joined([part[key] for part in parts])
    return {key: value for key, value in joined.items() if value is not None}


def taken(hits: Hits, queries: Ints, ideal: Ideal | None = None) -> Hits:
    """Return the hits of some queries, without extras that belong to all of them.

    Parameters
    ----------
    hits
        Hits of more queries.
    queries
        int64: their indexes, in the order wanted.
    ideal
        Ideal lists that replace theirs; the hits themselves are then left out.
    """
    lengths = np.diff(hits.offsets)[queries]
    if ideal is not None:
        lengths = np.zeros(len(queries), np.int64)
    rows = ragged_range(hits.offsets[queries], lengths)
    best = hits.ideal.take(queries) if ideal is None else ideal
    return hits.chosen(rows, queries, offsets=offsets_of(lengths), ideal=best)


#: ranks that are filled at a time
_SLICE = 1 << 17


def every_rank(hits: Hits, depth: int) -> Iterator[tuple[slice, Hits, Ints, Ints]]:
    """Yield hits at all ranks 1 … depth for some queries at a time, so that memory stays flat.

    Unjudged ranks, and ranks below the end of a short list, get a hit of grade 0 that is not judged.
    Ties must be resolved.

    Yields
    ------
    queries
        A slice of the queries.
    hits
        ``depth`` hits for each of them.
    old, place
        int64: indexes of the given hits, and their indexes among the new ones.
    """
    step = max(1, _SLICE // depth)
    for begin in range(0, hits.queries, step):
        end = min(begin + step, hits.queries)
        low = hits.offsets[begin]
        high = hits.offsets[end]
        old = low + np.flatnonzero(hits.rank[low:high] <= depth)
        place = (hits.query[old] - begin) * depth + hits.rank[old] - 1
        rank = np.tile(np.arange(1, depth + 1), end - begin)
        grade = np.zeros(len(rank))
        grade[place] = hits.grade[old]
        judged = np.zeros(len(rank), bool)
        judged[place] = hits.judged[old]
        chosen = slice(begin, end)
        filled = Hits(
            offsets=np.arange(end - begin + 1) * depth,
            rank=rank,
            grade=grade,
            first=rank,
            last=rank,
            judged=judged,
            n=hits.n[chosen],
            length=hits.length[chosen],
            ideal=hits.ideal.take(np.arange(begin, end)),
            found=hits.found[chosen],
            lowest_grade=hits.lowest_grade,
        )
        yield chosen, filled, old, place
