"""Labels laid down on a device as tables, and the selection of the documents at the top of each row."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.integrations.arrays.dense_hits import DenseHits, DenseIdeal
from rankstone.integrations.arrays.dense_tables import (
    Offsets,
    RowLengths,
    TableArray,
    TableRows,
)
from rankstone.integrations.arrays.device_tape import Node, Tape, TapeArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.integrations.arrays.array_labels import DeviceLabels
    from rankstone.integrations.arrays.array_layout import ArrayLayout
    from rankstone.integrations.arrays.device_arrays import Data, Library

#: so many more documents are selected than wanted: as many may have the score of the last one
_SPARE: Final = 6


class TopDocuments(Record):
    """The documents at the first ranks of each list, on a recording.

    Attributes
    ----------
    hits
        Their hits.
    doubts
        bool, ``[]`` each: whether a score is NaN, and whether equal scores go on below the ranks selected.
    """

    hits: DenseHits
    doubts: tuple[Data, Data]


class DenseLists(Record):
    """Lists of about the same length, as rows of a table, with a recording of what is computed with them.

    Attributes
    ----------
    tape
        The recording.
    lists
        int64 ``[queries]``: which lists these are.
    lengths
        int64 ``[queries]``.
    columns
        The length of a row.
    source
        int64 ``[queries, columns]`` of the library: where each score is; ``None`` where rows lie as they are.
    begin
        Where the first row begins, among the scores.
    inside
        bool: False where a row is longer than its list; ``None`` where none is.
    grade
        float64, NaN for unjudged documents and outside.
    judged
        Whether all documents are judged.
    ideal
        The ideal order of each list.
    lowest, highest
        The bottom and the top of the grade scale.
    expected
        Whether tied documents are at every rank of their block with equal probability.
    """

    tape: Tape
    lists: Ints
    lengths: Ints
    columns: int
    source: Data | None
    begin: int
    inside: Node | None
    grade: Node
    judged: bool
    ideal: DenseIdeal
    lowest: float
    highest: float
    expected: bool

    @property
    def queries(self) -> int:
        """The number of lists."""
        return len(self.lists)

    def rows(self, scores: Data) -> Data:
        """Return the scores of these lists, an array of the library."""
        flat = scores.reshape(-1)
        if self.source is not None:
            return flat[self.source]
        end = self.begin + self.queries * self.columns
        return flat[self.begin : end].reshape(self.queries, self.columns)

    def select(self, scores: Node, depth: int | None, *, whole: bool) -> TopDocuments:
        """Return the documents that can be above a depth.

        Parameters
        ----------
        scores
            A row a list.
        depth
            No measure looks deeper; ``None`` for whole lists.
        whole
            Sort whole lists: equal scores would go on below those at the top.
        """
        tape = self.tape
        library = tape.library
        columns = self.columns
        nan = tape.call("any", tape.each("isnan", scores))
        key = scores
        if self.inside is not None:
            key = tape.call("where", self.inside, scores, -np.inf)
        wanted = columns if depth is None else min(depth, columns)
        count = wanted + _SPARE
        ordered = library.keeps_order(scores.value)
        whole = whole or count > columns // 2
        beyond: Data = np.zeros(1, bool)

        def sort(table: Data, length: int | None) -> tuple[Node, Node]:
            def best(values: Data) -> Data:
                return library.descending(values, length)

            pair = tape.do(best, ("best", length), table)
            return tape.part(pair, 0), tape.part(pair, 1)

        value, order = sort(key, None if whole else count)
        if not whole and (self.expected or not ordered):
            beyond = self._goes_on(key, value, wanted)
        if not (whole or self.expected or ordered):
            # equal scores come in any order: by place, then by score, both as they were given
            places = tape.call("sort", order, axis=1)
            selected = tape.call("take_along_axis", key, places, axis=1)
            value, resorted = sort(selected, None)
            order = tape.call("take_along_axis", places, resorted, axis=1)
        hits = self._hits(value, order, wanted)
        return TopDocuments(hits=hits, doubts=(nan, beyond))

    def _goes_on(self, key: Node, value: Node, wanted: int) -> Data:
        """Return whether the last score wanted equals the last one selected, or is taken for padding."""
        tape = self.tape
        last = TapeArray(tape.part(value, np.s_[:, -1]), tape)
        edge = TapeArray(tape.part(value, np.s_[:, wanted - 1]), tape)
        equal: Data = last == edge
        if self.inside is None:
            return tape.own(equal.any())
        equal = equal & (last > -np.inf)
        least = TapeArray(key, tape) == -np.inf
        hidden = TapeArray(self.inside, tape) & least
        return tape.own(equal.any() | hidden.any())

    def _hits(self, value: Node, order: Node, wanted: int) -> DenseHits:
        tape = self.tape
        columns = value.shape[1] if self.expected else wanted
        order = tape.part(order, np.s_[:, :columns])
        grade = tape.call("take_along_axis", self.grade, order, axis=1)
        table = TableRows(tape=tape, queries=self.queries, columns=columns)
        if not self.judged or self.inside is not None:
            nan = tape.each("isnan", grade)
            there = tape.each("invert", nan)
            table = replace(table, there=table.array(there, columns))
        grades: Data = TableArray(grade, tape, columns, largest=self.highest)
        judged: Data = table.array(np.ones(columns, bool), columns)
        offsets: Data = Offsets(lambda: RowLengths(table))
        rank: Data = table.array(table.rank, columns)
        first = last = rank
        blocks = partial(self._blocks, table, value)
        whole = columns == self.columns
        if self.expected:
            first, last = blocks()
        return DenseHits(
            offsets=offsets,
            rank=rank,
            grade=grades,
            first=first,
            last=last,
            judged=judged,
            n=self.lengths,
            length=self.lengths,
            ideal=self.ideal,
            found=np.ones(self.queries, bool),
            expected=self.expected,
            lowest_grade=self.lowest,
            table=table,
            width=columns,
            opened=blocks if whole else None,
        )

    def _blocks(self, table: TableRows, value: Node) -> tuple[TableArray, TableArray]:
        """Return the first and the last rank of each place's block of equal scores."""
        tape = self.tape
        left = tape.part(value, np.s_[:, :-1])
        right = tape.part(value, np.s_[:, 1:])
        differs = tape.each("not_equal", right, left)
        if self.inside is not None:
            outside = table.rank[1:] > self.lengths[:, None]
            differs = tape.each("logical_or", differs, outside)
        edge = np.ones((self.queries, 1), bool)
        begins = table.after(edge, differs)
        begins = tape.call("where", begins, table.rank, 0)
        first = tape.along(np.maximum, begins)
        ends = table.after(differs, edge)
        ends = tape.call("where", ends, table.rank, table.columns)
        backwards = tape.call("flip", ends, axis=1)
        backwards = tape.along(np.minimum, backwards)
        last = tape.call("flip", backwards, axis=1)
        return table.array(first, table.columns), table.array(last, table.columns)


def dense_lists(
    layout: ArrayLayout,
    labels: DeviceLabels,
    options: AlignmentOptions,
    library: Library,
    *,
    at_once: int | None = None,
) -> Iterator[DenseLists]:
    """Lay labels down as tables, lists of about the same length together.

    Parameters
    ----------
    layout
        Which values belong to which list.
    label
        float64, list after list, an array of the library; NaN for unjudged documents.
    scale
        The bottom and the top of the grade scale.
    options
        Options of alignment; ``ties`` is ``expected`` or ``input``.
    library
        What computes on the device.
    at_once
        So many values are computed with at a time; ``None`` for all.
    """
    flat = labels.values
    for lists, whole in _rows(layout, at_once):
        tape = Tape(library)
        lengths = layout.lengths[lists]
        columns = max(int(lengths.max()), 1)
        begin = int(layout.offsets[lists[0]])
        source = inside = None
        if whole:
            grade = flat[begin : begin + len(lists) * columns]
            grade = grade.reshape(len(lists), columns)
        else:
            within = np.arange(columns) < lengths[:, None]
            place = layout.offsets[lists][:, None] + np.arange(columns)
            place = np.where(within, place, 0)
            here = source = library.own(place)
            if layout.take is not None:
                source = library.own(layout.take_for(flat))[here]
            if not within.all():
                inside = tape.given(library.own(within), fixed=True)
            grade = flat[here]
        rows = tape.given(grade, fixed=True)
        if inside is not None:
            rows = tape.call("where", inside, rows, np.nan)
        complete = labels.judged and inside is None
        yield DenseLists(
            tape=tape,
            lists=lists,
            lengths=lengths,
            columns=columns,
            source=source,
            begin=begin,
            inside=inside,
            grade=rows,
            judged=labels.judged,
            ideal=_ideal(tape, rows, labels.highest, whole=complete),
            lowest=labels.lowest,
            highest=labels.highest,
            expected=options.tie_rule.closed_form,
        )


def _rows(layout: ArrayLayout, at_once: int | None) -> Iterator[tuple[Ints, bool]]:
    """Yield numbers of lists of about the same length, and whether they lie as the rows of a table."""
    same = bool((layout.lengths == layout.lengths[0]).all())
    whole = same and layout.take is None
    _, bits = np.frexp(layout.lengths.astype(np.float64))
    if same:
        bits = np.zeros_like(bits)
    for bucket in np.unique(bits):
        lists = np.flatnonzero(bits == bucket)
        values = int(layout.lengths[lists].sum())
        parts = -(-values // at_once) if at_once else 1
        parts = max(1, min(parts, len(lists)))
        for part in np.array_split(lists, parts):
            yield part, whole


def _ideal(tape: Tape, grade: Node, highest: float, *, whole: bool) -> DenseIdeal:
    """Return the judged grades of each row, best first."""
    library = tape.library
    queries, columns = grade.shape
    table = TableRows(tape=tape, queries=queries, columns=columns)
    best = grade
    if not whole:
        nan = tape.each("isnan", grade)
        best = tape.call("where", nan, -np.inf, grade)

    def descending(rows: Data) -> Data:
        values, _ = library.descending(rows, None)
        return values

    best = tape.do(descending, "ideal", best)
    if not whole:
        there = tape.each("greater", best, -np.inf)
        table = replace(table, there=table.array(there, columns))
        best = tape.call("where", there, best, np.nan)
    grades: Data = TableArray(best, tape, columns, largest=highest)
    offsets: Data = Offsets(lambda: RowLengths(table))
    return DenseIdeal(offsets, grades, table=table, width=columns)
