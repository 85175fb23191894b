"""Judgments, prepared once for any number of runs; or a table that carries its own labels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadValue, DuplicateRows, EmptyInput, printable
from rankstone.hits.pairs import BatchKeys, Matches, PairIndex, QueryIndex
from rankstone.hits.ragged import Ideal, descending_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.batches import Batch
    from rankstone.hits.options import Alignment
    from rankstone.hits.ragged import Floats, Ints

__all__ = ["Judgments", "SelfLabelled"]


@dataclass(frozen=True, eq=False)
class Judgments:
    """What is known to be relevant: the prepared qrels.

    Attributes
    ----------
    queries
        Judged queries in the order of the file.
    pairs
        Index of the judged (query, document) pairs.
    grade
        float64 ``[pairs]`` in the order of the index.
    row
        int64 ``[pairs]``: row of the qrels behind each pair.
    ideal
        Grades of each query, best first.
    lowest_grade
        The bottom of the grade scale.
    rows, negative, duplicates
        Counts for the audit: rows read, rows with a grade below zero, rows merged away.
    """

    queries: QueryIndex
    pairs: PairIndex
    grade: Floats
    row: Ints
    ideal: Ideal
    lowest_grade: float
    rows: int
    negative: int
    duplicates: int

    @classmethod
    def of(cls, table: pl.DataFrame, options: Alignment, locate: Callable[[int], str]) -> Judgments:
        """Prepare a table with ``query_id``, ``doc_id`` and ``relevance``.

        Parameters
        ----------
        table
            The judgments, relevance as float64.
        options
            ``duplicate_judgments`` and ``negative`` are applied here.
        locate
            Says where a row of the table stands, for messages.
        """
        if not table.height:
            raise EmptyInput("there are no judgments", where=locate(-1))
        _check_grades(table, locate)
        runs = table["query_id"].rle().struct.unnest()
        queries = QueryIndex(runs["value"].unique(maintain_order=True))
        pairs = PairIndex(queries, _codes(runs, queries), table["doc_id"])
        with ThreadPoolExecutor(1) as aside:  # nearly always this ideal is the one that is wanted
            sorting = aside.submit(_ideal, pairs, table["relevance"].to_numpy())
            twice, below = pairs.duplicates(), table["relevance"].to_numpy() < 0
            ideal = sorting.result()
        settled, row = table, np.arange(table.height)
        merged, negative = 0, int(below.sum())
        if len(twice) or negative:
            single = _merge_duplicates(
                table.with_row_index("row"), pairs.arranged(row)[twice], options, locate
            )
            merged, negative = table.height - single.height, int((single["relevance"] < 0).sum())
            settled = _settle_negative(single, options, locate)
            runs = settled["query_id"].rle().struct.unnest()
            pairs = PairIndex(queries, _codes(runs, queries), settled["doc_id"])
            row = settled["row"].to_numpy().astype(np.int64)
            ideal = _ideal(pairs, settled["relevance"].to_numpy())
        grade = pairs.arranged(settled["relevance"].to_numpy())
        return cls(
            queries=queries,
            pairs=pairs,
            grade=grade,
            row=pairs.arranged(row),
            ideal=ideal,
            lowest_grade=float(grade.min()) if len(grade) else 0.0,
            rows=table.height,
            negative=negative,
            duplicates=merged,
        )

    def match(self, batch: Batch, keys: BatchKeys) -> Matches:
        """Return the judged rows of a batch."""
        return self.pairs.find(batch, batch.codes, keys)

    def grades(self, _batch: Batch, matches: Matches) -> Floats:
        """Return the grades behind matches, float64."""
        return self.grade[matches.pair]

    def rows_of(self, _batch: Batch, matches: Matches) -> Ints:
        """Return the qrels rows behind matches, int64."""
        return self.row[matches.pair]

    def ideal_of(self, batch: Batch, _matches: Matches) -> Ideal:
        """Return the ideal lists of a batch's queries."""
        return self.ideal.take(batch.codes)


@dataclass(frozen=True, eq=False)
class SelfLabelled:
    """A labelled table: every row carries its own grade, so there is nothing to join."""

    lowest_grade: float = 0.0

    def match(self, batch: Batch, _keys: BatchKeys | None) -> Matches:
        """Return all rows that count as judged (negative labels do not)."""
        assert batch.label is not None  # noqa: S101 - an internal promise, not user input
        row = np.flatnonzero(~np.isnan(batch.label))
        return Matches(row, batch.list_of_row[row], row)

    def grades(self, batch: Batch, matches: Matches) -> Floats:
        """Return the labels of the matched rows, float64."""
        assert batch.label is not None  # noqa: S101 - an internal promise, not user input
        return batch.label[matches.row]

    def rows_of(self, batch: Batch, matches: Matches) -> Ints:
        """Return the table rows behind matches, int64."""
        return batch.table_rows(matches.row)

    def ideal_of(self, batch: Batch, matches: Matches) -> Ideal:
        """Return the lists' own grades, best first."""
        lists = matches.list
        counts = np.bincount(lists, minlength=len(batch.lengths))
        grades = descending_within(lists, self.grades(batch, matches))
        return Ideal(np.concatenate(([0], np.cumsum(counts))), grades)


def _check_grades(table: pl.DataFrame, locate: Callable[[int], str]) -> None:
    for column in ("query_id", "doc_id"):
        if table[column].null_count():
            at = _first(table[column].is_null())
            raise BadValue(f"a judgment without {column}", where=locate(at), expected="an id")
    bad = ~np.isfinite(table["relevance"].to_numpy())
    if bad.any():
        row = int(bad.argmax())
        raise BadValue(
            f"a judgment's grade is {table['relevance'][row]}, not a number",
            where=locate(row),
            given=_pair(table, row),
            expected="a finite number",
            fix="repair or remove the row; an unjudged document simply has no row",
        )


def _ideal(pairs: PairIndex, grade: Floats) -> Ideal:
    return Ideal(pairs.offsets, descending_within(pairs.query, pairs.arranged(grade)))


def _codes(runs: pl.DataFrame, queries: QueryIndex) -> Ints:
    return np.repeat(queries.codes(runs["value"]), runs["len"].to_numpy())


def _merge_duplicates(
    table: pl.DataFrame, twice: Ints, options: Alignment, locate: Callable[[int], str]
) -> pl.DataFrame:
    if not len(twice):
        return table
    if options.duplicate_judgments == "error":
        first, second = _first_two(table, np.sort(twice))
        raise DuplicateRows(
            "the same document is judged more than once for a query",
            where=locate(second),
            given=f"{_pair(table, second)}, first judged at {locate(first)}",
            expected="one judgment for each (query, document)",
            fix="choose what to do with duplicate_judgments=max, mean, majority, first, last or sum",
        )
    together = table.group_by("query_id", "doc_id", maintain_order=True)
    merged = together.agg(_MERGE[options.duplicate_judgments], pl.col("row").first())
    return merged.select(table.columns)


def _majority() -> pl.Expr:
    """Return the commonest grade; of equally common ones the lowest."""
    return pl.col("relevance").mode().min()


_MERGE = {
    "max": pl.col("relevance").max(),
    "sum": pl.col("relevance").sum(),
    "mean": pl.col("relevance").mean(),
    "majority": _majority(),
    "first": pl.col("relevance").first(),
    "last": pl.col("relevance").last(),
}


def _settle_negative(table: pl.DataFrame, options: Alignment, locate: Callable[[int], str]) -> pl.DataFrame:
    below = table["relevance"] < 0
    if not below.any() or options.negative == "keep":
        return table
    if options.negative == "error":
        at = _first(below)
        raise BadValue(
            f"a grade below zero: {table['relevance'][at]}",
            where=locate(int(table["row"][at])),
            given=_pair(table, at),
            fix="choose a meaning: negative=unjudged, zero or keep",
        )
    if options.negative == "zero":
        return table.with_columns(relevance=pl.col("relevance").clip(lower_bound=0.0))
    return table.filter(~below)


def _first(mask: pl.Series) -> int:
    at = mask.arg_max()
    assert at is not None  # noqa: S101 - callers have seen that something is true
    return at


def _first_two(table: pl.DataFrame, rows: Ints) -> tuple[int, int]:
    part = table.select("query_id", "doc_id")[rows]
    second = _first(~part.to_struct().is_first_distinct())
    alike = (part["query_id"] == part["query_id"][second]) & (part["doc_id"] == part["doc_id"][second])
    return int(rows[_first(alike)]), int(rows[second])


def _pair(table: pl.DataFrame, row: int) -> str:
    query, doc = printable(table["query_id"][row]), printable(table["doc_id"][row])
    return f"query {query}, document {doc}"
