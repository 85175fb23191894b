"""Additional data about queries: all judged documents, groups of judgments, the query table.

Most measures need only hits and the ideal list of grades.  For the few that need more there is a
:class:`Pool` (every judged document of each query, retrieved or not) with :class:`Groups` (judgments by
subtopic, intent or assessor).  A :class:`QueryTable` holds weights, sessions and other columns of queries.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true
from rankstone.errors import BadOption, BadValue, MissingColumn, printable
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    list_numbers,
    offsets_of,
    ragged_range,
)
from rankstone.hits.pair_index import QueryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone._basics import Floats, Ints, Names


#: batches are measured in several threads; one of them computes what depends on judgments alone
MAKING: Final = RLock()


class Groups(Record):
    """Judgments by group: subtopics of a query, intents, assessors.

    Attributes
    ----------
    offsets
        int64 ``[judged + 1]``: entries of judged document ``d`` are ``offsets[d]:offsets[d + 1]``.
    code
        int64 ``[entries]``: the group, counted from 0 within the query, in the order of their names.
    grade
        float64 ``[entries]``: the document's grade for that group.
    starts
        int64 ``[queries + 1]``: groups of query ``q`` are ``starts[q]:starts[q + 1]``.
    weight
        float64 ``[groups]``: the weight of each group; 1 by default.
    names
        The groups' names; ``None`` for the groups of a part of the queries.
    parent
        int64 ``[groups]``: for subgroups, the index within the query of the group of each.
    """

    offsets: Ints
    code: Ints
    grade: Floats
    starts: Ints
    weight: Floats
    names: pl.Series | None = None
    parent: Ints | None = None

    @cached_property
    def query(self) -> Ints:
        """The query of each group, int64 ``[groups]``."""
        return list_numbers(np.diff(self.starts))

    def several(self) -> int:
        """Return how many queries have more than one group."""
        return int((np.diff(self.starts) > 1).sum())

    def entries(self, docs: Ints) -> tuple[Ints, Ints]:
        """Return all entries of some judged documents, and the document of each.

        Returns
        -------
        tuple
            int64 entry numbers, and int64 positions in ``docs``.
        """
        lengths = self.offsets[docs + 1] - self.offsets[docs]
        return ragged_range(self.offsets[docs], lengths), list_numbers(lengths)


class Entries(Record):
    """Judgments of documents for groups, one after another.

    Attributes
    ----------
    doc
        int64 ``[entries]``: the judged document.
    group
        int64 ``[entries]``: the group, counted through all queries.
    grade
        float64 ``[entries]``.
    """

    doc: Ints
    group: Ints
    grade: Floats


class Pool(Record):
    """Every judged document of each query, in the order of the judgments.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    grade
        float64 ``[judged]``.
    columns
        Further columns of the judgments by name, float64 ``[judged]``.
    id_order
        int64 ``[judged]``: the documents' order by the bytes of their ids, smallest first.
    groups
        Judgments by group, where there are any.
    whole, codes
        For a part: the pool it was taken from, and which queries, int64 ``[queries]``.
    """

    offsets: Ints
    grade: Floats
    columns: Mapping[str, Floats]
    id_order: Ints
    groups: Groups | None = None
    whole: Pool | None = None
    codes: Ints | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    @cached_property
    def query(self) -> Ints:
        """The query of each judged document, int64 ``[judged]``."""
        return list_numbers(np.diff(self.offsets))

    @cached_property
    def entries(self) -> Entries:
        """Every judgment of a document for a group, one after another."""
        assert self.groups is not None  # noqa: S101 - alignment adds them for measures that need them
        doc = list_numbers(np.diff(self.groups.offsets))
        return Entries(
            doc,
            self.groups.starts[self.query[doc]] + self.groups.code,
            self.groups.grade,
        )

    @cached_property
    def group_ideal(self) -> Ideal:
        """The judged grades of each group, best first, the groups of all queries one after another."""
        entries = self.entries
        groups = self.groups
        assert groups is not None  # noqa: S101 - entries has checked this
        order = np.argsort(entries.group, kind="stable")
        counts = np.bincount(entries.group, minlength=int(groups.starts[-1]))
        grades = descending_within(entries.group[order], entries.grade[order])
        return Ideal(offsets_of(counts), grades)

    def take(self, codes: Ints) -> Pool:
        """Return the judged documents of some queries, in that order; code -1 has none."""
        known = codes >= 0
        starts = np.where(known, self.offsets[codes], 0)
        lengths = np.where(known, self.offsets[codes + 1] - starts, 0)
        docs = ragged_range(starts, lengths)
        return Pool(
            offsets=offsets_of(lengths),
            grade=self.grade[docs],
            columns={name: values[docs] for name, values in self.columns.items()},
            id_order=self.id_order[docs],
            groups=None
            if self.groups is None
            else _taken_groups(self.groups, docs, codes),
            whole=self,
            codes=codes,
        )

    def once(self, key: object, make: Callable[[Pool], Floats]) -> Floats:
        """Return ``make(pool)``, one value for each query, computed once for any number of runs.

        Parameters
        ----------
        key
            What the value depends on, besides the judgments.
        make
            Computes float64 ``[queries]`` from a whole pool.
        """
        if self.whole is not None and self.codes is not None:
            values = self.whole.once(key, make)
            return (
                np.where(self.codes >= 0, values[self.codes], 0.0)
                if len(values)
                else np.zeros(self.queries)
            )
        with MAKING:
            if key not in self._memo:
                self._memo[key] = make(self)
        made: Floats = self._memo[key]
        return made


def _taken_groups(groups: Groups, docs: Ints, codes: Ints) -> Groups:
    entries, of_doc = groups.entries(docs)
    known = codes >= 0
    starts = np.where(known, groups.starts[codes], 0)
    lengths = np.where(known, groups.starts[codes + 1] - starts, 0)
    return Groups(
        offsets=offsets_of(np.bincount(of_doc, minlength=len(docs))),
        code=groups.code[entries],
        grade=groups.grade[entries],
        starts=offsets_of(lengths),
        weight=groups.weight[ragged_range(starts, lengths)],
        parent=None
        if groups.parent is None
        else groups.parent[ragged_range(starts, lengths)],
    )


#: gains are rounded sums; a smaller difference does not count
_ROUNDING: Final = 1e-12


def greedy(pool: Pool, worth: Floats, keep: Floats, weight: Floats) -> Iterator[Floats]:
    """Yield, rank by rank, the gain of the best remaining document in every query.

    A document gains ``weight · fresh · worth`` for each of its groups; ``fresh`` begins at 1 and is
    multiplied by ``keep`` once the document is placed.  Among equal gains the document with the
    larger id comes first.  All queries are processed together.

    Parameters
    ----------
    pool
        Judged documents with their groups.
    worth, keep
        float64 ``[entries]``, 0 or more, and 0 … 1.
    weight
        float64 ``[groups]``, 0 or more.

    Yields
    ------
    numpy.ndarray
        float64 ``[queries]``; 0 where every document with a gain has been placed.
    """
    entries = pool.entries
    useful = np.flatnonzero((worth > 0) & (weight[entries.group] > 0))
    group = entries.group[useful]
    worth = worth[useful]
    keep = keep[useful]
    docs, doc = np.unique(entries.doc[useful], return_inverse=True)
    query = pool.query[docs]
    by_id = pool.id_order[docs]
    fresh = np.ones(len(weight))
    weight = weight[group]
    while len(query):
        gain = np.bincount(doc, weight * (fresh[group] * worth), len(query))
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        lengths = np.diff(starts, append=len(query))
        best = np.maximum.reduceat(gain, starts)
        if not best.any():
            return
        level = gain >= np.repeat(best * (1 - _ROUNDING), lengths)
        largest = np.maximum.reduceat(np.where(level, by_id, -1), starts)
        placed = level & (by_id == np.repeat(largest, lengths))
        gains = np.zeros(pool.queries)
        gains[query[placed]] = gain[placed]
        yield gains
        shown = placed[doc]
        fresh[group[shown]] *= keep[shown]
        doc = (np.cumsum(~placed) - 1)[doc[~shown]]
        group, worth, keep, weight = (
            values[~shown] for values in (group, worth, keep, weight)
        )
        query = query[~placed]
        by_id = by_id[~placed]


#: texts and numbers of a boolean column
_BOOLEANS: Final = {
    "true": True,
    "1": True,
    "1.0": True,
    "false": False,
    "0": False,
    "0.0": False,
}


class QueryTable(Record):
    """A table with one row for each query.

    Attributes
    ----------
    source
        The table's name in messages.
    ids
        The queries' ids as text, each once.
    columns
        All other columns.
    read_as
        Notes on what was detected about its file.
    """

    source: str
    ids: QueryIndex
    columns: pl.DataFrame
    read_as: Names = ()

    @classmethod
    def of(cls, source: str, table: pl.DataFrame, read_as: Names = ()) -> QueryTable:
        """Prepare a table with ``query_id`` (texts, each once) and any other columns.

        A column ``weight`` must hold numbers, 0 or more; columns ``judged`` and ``answerable`` true or false.
        """
        prepared = cls(
            source, QueryIndex(table["query_id"]), table.drop("query_id"), read_as
        )
        for name in {"judged", "answerable"} & {*prepared.columns.columns}:
            prepared.refuse(
                name, prepared._flag(name).is_null().to_numpy(), "true or false, 1 or 0"
            )
        if "weight" in prepared.columns.columns:
            weight = prepared.numbers("weight")
            prepared.refuse(
                "weight",
                ~((weight >= 0) & (weight <= LARGEST_GRADE)),
                "a number from 0 to 9e15",
            )
        return prepared

    def judged(self) -> pl.Series | None:
        """Return the ids of queries that are ``judged``, or not ``answerable``; ``None`` without columns."""
        unanswerable = self.unanswerable()
        parts = [] if unanswerable is None else [unanswerable]
        if "judged" in self.columns.columns:
            parts.append(
                self.ids.names.filter(self._flag("judged").fill_null(value=False))
            )
        return pl.concat(parts) if parts else None

    def unanswerable(self) -> pl.Series | None:
        """Return the ids of queries for which ``answerable`` is false; ``None`` without such a column."""
        if "answerable" not in self.columns.columns:
            return None
        return self.ids.names.filter(~self._flag("answerable").fill_null(value=True))

    def _flag(self, name: str) -> pl.Series:
        """Return a column as booleans; null where it is empty or something else."""
        texts = self.columns[name].cast(pl.String).str.to_lowercase()
        return texts.replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)

    def require(self, names: Sequence[str], reason: str) -> None:
        """Refuse a table without some columns."""
        for name in names:
            if name not in self.columns.columns:
                what = f"{reason} a column {printable(name)} of the query table"
                raise MissingColumn.of(what, name, self.columns.columns, self.source)

    def refuse(
        self, name: str, bad: np.ndarray[tuple[int], np.dtype[np.bool_]], expected: str
    ) -> None:
        """Refuse invalid values of a column; empty cells are allowed."""
        bad = bad & self.columns[name].is_not_null().to_numpy()
        if bad.any():
            row = int(bad.argmax())
            raise BadValue(
                f"the {name} of query {printable(self.ids.names[row])} is {printable(self.columns[name][row])}",
                where=self.source,
                expected=expected,
            )

    def numbers(self, name: str) -> Floats:
        """Return a column as float64 ``[rows]``; NaN where it is empty or not a number."""
        values = self.columns[name].cast(pl.Float64, strict=False)
        return values.fill_null(np.nan).to_numpy()

    def rows(self, queries: pl.Series) -> Ints:
        """Return the row of each query, -1 where it has none."""
        return self.ids.codes(queries.cast(pl.String))

    def take(self, queries: pl.Series) -> pl.DataFrame:
        """Return the other columns with one row for each query; empty cells where it has none."""
        rows = self.rows(queries)
        return self.columns.select(
            pl.all().gather(pl.Series(np.where(rows < 0, 0, rows)))
        ).with_columns(pl.when(pl.Series(rows >= 0)).then(pl.all()))

    def values(self, name: str, queries: pl.Series) -> Floats:
        """Return a column of numbers for some queries, float64; NaN where there is no value."""
        rows = self.rows(queries)
        return np.where(rows >= 0, self.numbers(name)[rows], np.nan)

    def covers(self, queries: pl.Series, names: Sequence[str], reason: str) -> None:
        """Refuse a table in which a query has no value in some columns."""
        table = self.take(queries).select(names)
        bare = table.select(pl.any_horizontal(pl.all().is_null())).to_series()
        if bare.any():
            lacking = queries.filter(bare)
            shown = ", ".join(printable(query) for query in lacking[:3])
            raise BadOption(
                f"{reason} a {' and a '.join(names)} for every query",
                where=self.source,
                given=f"none for {shown}{' …' if len(lacking) > 3 else ''}",  # noqa: PLR2004 - what fits a line
                fix="add the rows, or remove these queries from the judgments",
            )

    def check_positions(self) -> None:
        """Refuse positions that are not 1, 2, … in a session, and two queries at the same position."""
        position = self.numbers("position")
        whole = (
            np.isfinite(position) & (position >= 1) & (position == np.floor(position))
        )
        self.refuse("position", ~whole, "the query's place in its session: 1, 2, …")
        twice = (
            self.columns.select("session", "position").is_duplicated()
            & self.columns["session"].is_not_null()
        )
        if twice.any():
            row = first_true(twice)
            raise BadValue(
                f"session {printable(self.columns['session'][row])} has two queries at position "
                f"{printable(self.columns['position'][row])}",
                where=self.source,
                given=f"one of them is query {printable(self.ids.names[row])}",
                expected="each position once",
            )
