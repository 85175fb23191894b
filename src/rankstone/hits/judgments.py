"""Judgments, prepared once for any number of runs; labelled tables; the lowest grade of the scale."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true
from rankstone.errors import BadValue, DuplicateRows, EmptyInput, printable
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.judged_pool import Groups, Pool
from rankstone.hits.list_arrays import (
    Ideal,
    counts_within,
    descending_within,
    next_to_equals,
    offsets_of,
)
from rankstone.hits.pair_index import Matches, PairIndex, QueryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Floats, Ints, Locate, Names
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch
    from rankstone.hits.extras.extra_values import Key


Kind = TypeVar("Kind")

#: with so many judgments of a query, grades on any usual scale repeat
_REPEATS: Final = 10
#: grades hardly repeat if this share of a query's grades differ; for fractions half is enough, as scores of
#: short documents tie
_HARDLY: Final = 0.9
_QUARTERS: Final = 4
#: fewer judgments are sorted before another thread has started
_SMALL: Final = 1 << 14
#: grades counted at a time
_SLICE: Final = 1 << 17


@dataclass(frozen=True)
class GradeCounts:
    """Counts that distinguish grades from scores; those of several parts can be added.

    Attributes
    ----------
    grades, fractional
        Grades, and those that are not multiples of a quarter.
    below, fractional_below
        The same of grades below zero.
    several, different
        Grades of queries with two judgments or more, and the number of different ones within their query.
    many, many_different
        The same for queries with so many judgments that grades must repeat.
    """

    grades: int = 0
    fractional: int = 0
    below: int = 0
    fractional_below: int = 0
    several: int = 0
    different: int = 0
    many: int = 0
    many_different: int = 0

    @classmethod
    def of(cls, judged: Ideal) -> GradeCounts:
        """Count grades that are sorted within each query."""
        fresh = ~next_to_equals(judged.grade, np.diff(judged.offsets))
        lengths = np.diff(judged.offsets)
        differ = counts_within(fresh, judged.offsets)
        several = lengths > 1
        many = lengths >= _REPEATS
        by_grade = np.zeros(4, np.int64)
        # slices fit into the processor's cache
        for begin in range(0, len(fresh), _SLICE):
            grade = judged.grade[begin : begin + _SLICE]
            quarters = _QUARTERS * grade  # half stars are grades
            part = quarters != np.floor(quarters)
            below = grade < 0
            by_grade += len(grade), part.sum(), below.sum(), (part & below).sum()
        by_query = (
            lengths[several].sum(),
            differ[several].sum(),
            lengths[many].sum(),
            differ[many].sum(),
        )
        return cls(*map(int, (*by_grade, *by_query)))

    @classmethod
    def summed(cls, counts: Mapping[str, int]) -> GradeCounts:
        """Return counts that were added by name."""
        return cls(**{field.name: counts.get(field.name, 0) for field in fields(cls)})

    def doubts(self) -> Names:
        """Return a warning if these grades may be scores."""
        if 2 * self.fractional_below > self.below:
            why = "grades below zero are fractions"
        elif 2 * self.fractional > self.grades and 2 * self.different > self.several:
            why = "most grades are fractions that hardly repeat"
        elif self.many_different >= _HARDLY * self.many > 0:
            why = "grades hardly repeat within a query"
        else:
            return ()
        return (f"{why}, as scores do: are judgments and run in the right order?",)


class Judgments(Record):
    """The prepared judgments (qrels).

    Attributes
    ----------
    queries
        Judged queries in the order of the file.
    pairs
        Index of the judged (query, document) pairs.
    grade
        float64 ``[pairs]`` in the order of the index.
    row
        int64 ``[pairs]``: row of the qrels of each pair.
    ideal
        Grades of each query, best first.
    lowest_grade
        The lowest grade of the scale.
    rows, negative, duplicates
        Counts for the audit: rows read, rows with a grade below zero, rows merged away.
    declared
        Queries that are declared as judged, without a row: they have no relevant document.
    excluded, excluded_relevant
        Rows of excluded pairs; those of them with a grade above zero.
    grade_counts
        Counts of the grades before any was merged or left out.
    columns
        Further number columns by name, float64 ``[pairs]``.
    pooled
        Documents that were pooled but not judged (a grade below zero under ``negative=unjudged``).
    groups
        Judgments by subtopic, where the table has them.
    extras
        Extras that come with the judgments: pairs to exclude, units, judged spans, queries without an answer.
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
    declared: int = 0
    excluded: int = 0
    excluded_relevant: int = 0
    grade_counts: GradeCounts = field(default_factory=GradeCounts)
    columns: Mapping[str, Floats] = field(default_factory=dict)
    pooled: PairIndex | None = None
    groups: Groups | None = None
    extras: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        table: pl.DataFrame,
        options: AlignmentOptions,
        locate: Locate,
        queries: QueryIndex | None = None,
    ) -> Judgments:
        """Prepare a table with ``query_id``, ``doc_id`` and ``relevance``.

        Parameters
        ----------
        table
            The judgments, relevance as float64.
        options
            ``duplicate_judgments`` and ``negative`` are applied here.
        locate
            Returns the place of a row of the table, for messages.
        queries
            The judged queries, where not all of them are in the table.
        """
        if not table.height and queries is None:
            raise EmptyInput("there are no judgments", where=locate(-1))
        check_grades(table, locate)
        runs = table["query_id"].rle().struct.unnest()
        if queries is None:
            queries = QueryIndex(runs["value"].unique(maintain_order=True))
        pairs = PairIndex(queries, _codes(runs, queries), table["doc_id"])
        grades = table["relevance"].to_numpy()
        below = grades < 0
        if table.height < _SMALL:
            twice = pairs.duplicates()
            ideal = _ideal(pairs, grades)
        else:
            # nearly always the ideal lists need not be made again
            with ThreadPoolExecutor(1) as aside:
                sorting = aside.submit(_ideal, pairs, grades)
                twice = pairs.duplicates()
                ideal = sorting.result()
        kept = table
        row = np.arange(table.height)
        pooled = None
        declared = int((np.diff(pairs.offsets) == 0).sum())
        grade_counts = GradeCounts.of(ideal)
        merged = 0
        negative = int(below.sum())
        if len(twice) or negative:
            single = merge_duplicates(
                table.with_row_index("row"), pairs.arranged(row)[twice], options, locate
            )
            merged = table.height - single.height
            negative = int((single["relevance"] < 0).sum())
            kept = treat_negative(single, options, locate)
            pooled = _pooled(queries, single, options)
            runs = kept["query_id"].rle().struct.unnest()
            pairs = PairIndex(queries, _codes(runs, queries), kept["doc_id"])
            row = kept["row"].to_numpy().astype(np.int64)
            ideal = _ideal(pairs, kept["relevance"].to_numpy())
        grade = pairs.arranged(kept["relevance"].to_numpy())
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
            declared=declared,
            grade_counts=grade_counts,
            columns={
                name: pairs.arranged(kept[name].to_numpy())
                for name in table.columns
                if name not in ("query_id", "doc_id", "relevance")
            },
            pooled=pooled,
        )

    @cached_property
    def pool(self) -> Pool:
        """All judged documents, for measures that need them."""
        id_order = (
            self.pairs.docs.cast(pl.String).rank("ordinal").to_numpy().astype(np.int64)
        )
        return Pool(self.pairs.offsets, self.grade, self.columns, id_order, self.groups)

    def find_extra(self, kind: type[Kind]) -> Kind | None:
        """Return the extra of a kind that comes with the judgments, ``None`` where there is none."""
        return next((extra for extra in self.extras if isinstance(extra, kind)), None)

    def with_extras(self, *extras: Key[Any] | None) -> Judgments:
        """Return the judgments with further extras."""
        known = (extra for extra in extras if extra is not None)
        return replace(self, extras=(*self.extras, *known))

    def match(self, batch: Batch) -> Matches:
        """Return the judged rows of a batch."""
        return self.pairs.find(batch, batch.codes)

    def grades(self, _batch: Batch, matches: Matches) -> Floats:
        """Return the grades of matches, float64."""
        return self.grade[matches.pair]

    def rows_of(self, _batch: Batch, pair: Ints) -> Ints:
        """Return the rows of the qrels of judged pairs, int64, -1 for pair -1."""
        return (
            np.where(pair >= 0, self.row[pair], -1)
            if len(self.row)
            else np.full(len(pair), -1)
        )

    def ideal_of(self, batch: Batch, _matches: Matches) -> Ideal:
        """Return the ideal lists of a batch's queries."""
        return self.ideal.take(batch.codes)


class SelfLabelled(Record):
    """A labelled table: every row has its own grade, so nothing is joined.

    Attributes
    ----------
    lowest_grade
        The lowest grade of the scale.
    ideal
        The ideal lists of the only batch, if they are kept.
    """

    lowest_grade: float = 0.0
    ideal: Ideal | None = None

    #: nothing but labels
    extras: ClassVar[tuple[Any, ...]] = ()
    queries: ClassVar[None] = None
    groups: ClassVar[None] = None

    def match(self, batch: Batch) -> Matches:
        """Return all rows that count as judged (rows with negative labels may not)."""
        assert batch.label is not None  # noqa: S101 - an internal promise, not user input
        none = len(batch.label) and np.isnan(batch.label.max())
        row = (
            np.flatnonzero(~np.isnan(batch.label)) if none else np.arange(batch.height)
        )
        lists = batch.list_of_row
        return Matches(row, lists if len(row) == batch.height else lists[row], row)

    def grades(self, batch: Batch, matches: Matches) -> Floats:
        """Return the labels of the matched rows, float64."""
        assert batch.label is not None  # noqa: S101 - an internal promise, not user input
        return (
            batch.label
            if len(matches.row) == batch.height
            else batch.label[matches.row]
        )

    def rows_of(self, batch: Batch, pair: Ints) -> Ints:
        """Return the table rows of labelled rows of the batch, int64, -1 for row -1."""
        return np.where(pair >= 0, batch.table_rows(pair), -1)

    def ideal_of(self, batch: Batch, matches: Matches) -> Ideal:
        """Return the lists' own grades, best first."""
        if self.ideal is not None:
            return self.ideal
        return ideal_of_lists(
            matches.list, self.grades(batch, matches), len(batch.lengths)
        )


def judged_queries(
    table: pl.DataFrame, declared: pl.Series | None = None
) -> QueryIndex:
    """Return the queries of a table of judgments, then those ``declared`` to have no relevant document."""
    names = table["query_id"].rle().struct.field("value").unique(maintain_order=True)
    if declared is not None:
        names = pl.concat([names, declared]).unique(maintain_order=True)
    return QueryIndex(names)


def ideal_of_lists(lists: Ints, grades: Floats, count: int) -> Ideal:
    """Return grades by list (ascending), best first."""
    return Ideal(
        offsets_of(np.bincount(lists, minlength=count)),
        descending_within(lists, grades),
    )


_EMPTY: Final = (
    "fill it in; an unjudged document simply has no row, but of a file for both sides remove none (its document "
    "would leave the ranking): there THEIRS=relevance(=unjudged) in columns says it"
)


def bad_grade(what: str, grade: float, where: str, described: str) -> BadValue:
    """Return the error for a grade that is not a number, or far beyond all scales."""
    if np.isfinite(grade):
        return BadValue(
            f"{what} is {grade:g}, beyond {LARGEST_GRADE:,.0f}",
            where=where,
            given=described,
            expected="a grade: larger whole numbers cannot be distinguished",
            fix="are these ids or scores in the wrong column?",
        )
    shown = "empty or nan" if np.isnan(grade) else f"{grade}, not a number"
    return BadValue(
        f"{what} is {shown}",
        where=where,
        given=described,
        expected="a finite number",
        fix=_EMPTY,
    )


def check_grades(table: pl.DataFrame, locate: Locate) -> None:
    """Refuse judgments without an id, and grades or propensities that are not usable numbers."""
    for column in ("query_id", "doc_id"):
        refuse_missing(table, column, locate, "an id")
    grade = table["relevance"].to_numpy()
    if len(grade) and not -LARGEST_GRADE <= grade.min() <= grade.max() <= LARGEST_GRADE:
        row = int((~(np.abs(grade) <= LARGEST_GRADE)).argmax())
        raise bad_grade(
            "a judgment's grade", grade[row], locate(row), _pair(table, row)
        )
    if "propensity" in table.columns:
        chance = table["propensity"].to_numpy()
        bad = ~(np.isfinite(chance) & (chance > 0))
        if bad.any():
            row = int(bad.argmax())
            raise BadValue(
                f"a judgment's propensity is {table['propensity'][row]}",
                where=locate(row),
                given=_pair(table, row),
                expected="how likely it was to be observed, above 0",
            )


#: what to do where rows have no query: most of them are cells that were merged
FILL_DOWN: Final = (
    "write the query into every row: merged cells keep it in the first row of a group only (unmerge them, and "
    "fill down); remove a row only if it is no document, as a row of totals"
)


def refuse_missing(
    table: pl.DataFrame, column: str, locate: Locate, expected: str
) -> None:
    """Refuse judgments without a value in a column."""
    if table[column].null_count():
        row = first_true(table[column].is_null())
        raise BadValue(
            f"a judgment without {column}",
            where=locate(row),
            expected=expected,
            fix=FILL_DOWN if column == "query_id" else None,
        )


def _ideal(pairs: PairIndex, grade: Floats) -> Ideal:
    return Ideal(pairs.offsets, descending_within(pairs.query, pairs.arranged(grade)))


def _codes(runs: pl.DataFrame, queries: QueryIndex) -> Ints:
    return np.repeat(queries.codes(runs["value"]), runs["len"].to_numpy())


def merge_duplicates(
    table: pl.DataFrame,
    twice: Ints,
    options: AlignmentOptions,
    locate: Locate,
    key: Sequence[str] = ("query_id", "doc_id"),
) -> pl.DataFrame:
    """Merge several judgments of the same ``key`` according to ``duplicate_judgments``."""
    if not len(twice):
        return table
    if options.duplicate_judgments == "error":
        first, second = _first_two(table.select(key), np.sort(twice))
        raise DuplicateRows(
            "the same document is judged more than once for a query",
            where=locate(second),
            given=f"{_pair(table, second)}, first judged at {locate(first)}",
            expected="one judgment for each (query, document)",
            fix="choose how to merge them: duplicate_judgments=max, mean, majority, first, last or sum; "
            "for rows about subtopics choose max, as measures over subtopics do",
        )
    together = table.group_by(*key, maintain_order=True)
    rest = [
        pl.col(name).first()
        for name in table.columns
        if name not in (*key, "relevance")
    ]
    merged = together.agg(_MERGE[options.duplicate_judgments], *rest)
    return merged.select(table.columns)


def _majority() -> pl.Expr:
    """Return the most frequent grade; of equally frequent ones the lowest."""
    return pl.col("relevance").mode().min()


_MERGE = {
    "max": pl.col("relevance").max(),
    "sum": pl.col("relevance").sum(),
    "mean": pl.col("relevance").mean(),
    "majority": _majority(),
    "first": pl.col("relevance").first(),
    "last": pl.col("relevance").last(),
}


def treat_negative(
    table: pl.DataFrame, options: AlignmentOptions, locate: Locate
) -> pl.DataFrame:
    """Apply ``negative`` to the grades."""
    below = table["relevance"] < 0
    if not below.any() or options.negative == "keep":
        return table
    if options.negative == "error":
        row = first_true(below)
        raise BadValue(
            f"a grade below zero: {table['relevance'][row]}",
            where=locate(int(table["row"][row])),
            given=_pair(table, row),
            fix="choose how to treat it: negative=unjudged, zero or keep",
        )
    if options.negative == "zero":
        return table.with_columns(relevance=pl.col("relevance").clip(lower_bound=0.0))
    return table.filter(~below)


def _pooled(
    queries: QueryIndex, table: pl.DataFrame, options: AlignmentOptions
) -> PairIndex | None:
    """Return the documents that were pooled but not judged."""
    below = table.filter(pl.col("relevance") < 0)
    if options.negative != "unjudged" or not below.height:
        return None
    return PairIndex(queries, queries.codes(below["query_id"]), below["doc_id"])


def _first_two(table: pl.DataFrame, rows: Ints) -> tuple[int, int]:
    part = table[rows]
    second = first_true(~part.to_struct().is_first_distinct())
    same = part.select(
        pl.all_horizontal(pl.col(c) == part[c][second] for c in part.columns)
    ).to_series()
    return int(rows[first_true(same)]), int(rows[second])


def _pair(table: pl.DataFrame, row: int) -> str:
    query = printable(table["query_id"][row])
    doc = printable(table["doc_id"][row])
    return f"query {query}, document {doc}"


def lowest_of(pieces: Iterable[pl.DataFrame], negative: str) -> float:
    """Return the lowest grade of the scale, from grades in pieces.

    Parameters
    ----------
    pieces
        Tables with the column ``relevance``; null and NaN are ignored.
    negative
        The option that treats grades below zero.
    """
    grade = pl.col("relevance").cast(pl.Float64).fill_nan(None)
    every = grade.min().alias("every")
    from_zero = grade.filter(grade >= 0).min().alias("from zero")
    rows = [piece.select(every, from_zero).row(0) for piece in pieces]
    known = [
        [grade for grade in column if grade is not None]
        for column in zip(*rows, strict=True)
    ] or [[], []]
    return lowest_under(
        min(known[0], default=None), min(known[1], default=None), negative
    )


def lowest_under(
    lowest: float | None, lowest_from_zero: float | None, negative: str
) -> float:
    """Return the lowest grade of the scale under the option ``negative``.

    Parameters
    ----------
    lowest, lowest_from_zero
        The lowest grade of all, and of those that are not below zero; ``None`` where there is none.
    negative
        The option.

    >>> lowest_under(-2.0, 1.0, "unjudged"), lowest_under(-2.0, 1.0, "zero")
    (1.0, 0.0)
    """
    by_option = {
        "unjudged": lowest_from_zero,
        "zero": None if lowest is None else max(lowest, 0.0),
    }
    grade = by_option.get(negative, lowest)
    return 0.0 if grade is None else float(grade)
