"""The one check of a run's rows, where they enter alignment.

Ranks and scores of the same rows, where they give different orders.

Judgments whose grades look like the scores of a run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadValue, printable
from rankstone.hits.alignment_options import LARGEST_GRADE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batch_boundaries import Piece
    from rankstone.hits.batches import Batch
    from rankstone.hits.ideal_lists import Ideal


def bad_grade(what: str, grade: float, where: str, given: str) -> BadValue:
    """Build the error for a grade that is no number, or far beyond all scales."""
    if np.isfinite(grade):
        return BadValue(
            f"{what} is {grade:g}, beyond {LARGEST_GRADE:,.0f}",
            where=where,
            given=given,
            expected="a grade: larger whole numbers are not told from one another",
            fix="are these ids, or scores, in the wrong column?",
        )
    return BadValue(
        f"{what} is {grade}, not a number",
        where=where,
        given=given,
        expected="a finite number",
        fix="repair or remove the row; an unjudged document simply has no row",
    )


@dataclass(frozen=True, eq=False)
class RowCheck:
    """Refuses rows without an id, or whose score, rank or label is missing or not a number.

    Parameters
    ----------
    options
        ``order`` names the number in messages; ``negative`` is applied to labels.
    locate
        Says where a row of the stream stands.
    """

    options: AlignmentOptions
    locate: Callable[[int], str]

    def __call__(self, piece: Piece) -> Piece:
        """Return the piece, checked; NaN marks labels that count as unjudged."""
        table = piece.table
        for column in ("query_id", "doc_id"):
            if column in table.columns and table[column].null_count():
                at = table[column].is_null().arg_max() or 0
                raise BadValue(
                    f"a row without {column}",
                    where=self.locate(piece.row(at)),
                    expected="an id",
                    fix="repair or remove the row",
                )
        for column, name in (("key", self.options.order), ("label", "relevance")):
            if column in table.columns:
                bad = np.isnan(table[column].to_numpy())
                if bad.any():
                    raise self._no_number(piece, column, name, int(bad.argmax()))
        if "label" in table.columns:
            self._check_labels(piece)
            return self._settled(piece)
        return piece

    def _check_labels(self, piece: Piece) -> None:
        label = piece.table["label"].to_numpy()
        large = np.abs(label) > LARGEST_GRADE
        if large.any():
            at = int(large.argmax())
            raise bad_grade("a label", label[at], self.locate(piece.row(at)), _row(piece.table, at))

    def _no_number(self, piece: Piece, column: str, name: str, at: int) -> BadValue:
        table: pl.DataFrame = piece.table
        return BadValue(
            f"the {name} is {'missing' if table[column][at] is None else 'NaN'}",
            where=self.locate(piece.row(at)),
            given=_row(table, at),
            expected="a number",
            fix="repair the row or leave it out",
        )

    def _settled(self, piece: Piece) -> Piece:
        """Apply ``negative`` to the labels."""
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
        return replace(piece, table=piece.table.with_columns(label=np.where(below, meant, label)))


def _row(table: pl.DataFrame, at: int) -> str:
    doc = f", document {printable(table['doc_id'][at])}" if "doc_id" in table.columns else ""
    return f"query {printable(table['query_id'][at])}{doc}"


def contradicted(batch: Batch) -> int:
    """Count the lists of an ordered batch in which a better rank goes with a lower score.

    Equal ranks, equal scores and rows without a rank say nothing.  Nearly always one look at neighbours
    settles it; only lists in which these disagree are sorted.
    """
    if batch.key is None or batch.other is None:
        return 0
    rises = ~(batch.other[1:] <= batch.other[:-1])
    rises[batch.heads[1:] - 1] = False
    if not rises.any():
        return 0
    wanted = np.zeros(len(batch.lengths), bool)
    wanted[batch.list_of_row[1:][rises]] = True
    rows = np.flatnonzero(wanted[batch.list_of_row] & ~np.isnan(batch.other))
    lists, key, other = batch.list_of_row[rows], batch.key[rows], batch.other[rows]
    order = np.lexsort((-other, -key, lists))
    lists, key, other = lists[order], key[order], other[order]
    apart = (lists[1:] == lists[:-1]) & (key[1:] < key[:-1]) & (other[1:] > other[:-1])
    return len(np.unique(lists[1:][apart]))


def contradiction(lists: int, of: int, order: str) -> str:
    """Say that ranks and scores give different orders, and which of the two counts."""
    other = "rank" if order == "score" else "score"
    which = "every list" if lists == of else f"{lists:,} of {of:,} lists"
    return f"ranks contradict scores in {which}: {order}s give the order, order={other} takes the {other}s"


#: from so many judgments of a query on, grades of any usual scale repeat
_REPEATS: Final = 10
#: whole grades hardly repeat where so many of a query's differ; of fractions half of them will do, as
#: scores of short documents tie
_HARDLY: Final = 0.9
_QUARTERS: Final = 4


@dataclass(frozen=True)
class Grades:
    """Counts that tell grades from scores; those of several parts add up.

    Attributes
    ----------
    grades, fractional
        Grades, and those that are no multiples of a quarter.
    below, fractional_below
        The same of grades below zero.
    several, different
        Grades of queries with two judgments or more, and how many of them differ within their query.
    many, many_different
        The same of queries with so many judgments that grades have to repeat.
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
    def of(cls, judged: Ideal) -> Grades:
        """Count grades, which are sorted within each query."""
        grade = judged.grade
        part = _QUARTERS * grade != np.floor(_QUARTERS * grade)  # half stars are grades
        lengths = np.diff(judged.offsets)
        fresh = np.ones(len(grade), bool)
        fresh[1:] = grade[1:] != grade[:-1]
        fresh[judged.offsets[:-1][lengths > 0]] = True
        running = np.concatenate(([0], np.cumsum(fresh)))
        differ = running[judged.offsets[1:]] - running[judged.offsets[:-1]]
        several, many = lengths > 1, lengths >= _REPEATS
        counts = (
            len(grade), part.sum(), (grade < 0).sum(), (part & (grade < 0)).sum(),
            lengths[several].sum(), differ[several].sum(), lengths[many].sum(), differ[many].sum(),
        )  # fmt: skip
        return cls(*map(int, counts))

    @classmethod
    def summed(cls, counts: Mapping[str, int]) -> Grades:
        """Return counts that were added up by name."""
        return cls(**{field.name: counts.get(field.name, 0) for field in fields(cls)})

    def doubts(self) -> tuple[str, ...]:
        """Say why these may be scores; nothing where they look like grades."""
        if 2 * self.fractional_below > self.below:
            why = "grades below zero are fractions"
        elif 2 * self.fractional > self.grades and 2 * self.different > self.several:
            why = "most grades are fractions that hardly repeat"
        elif self.many_different >= _HARDLY * self.many > 0:
            why = "grades hardly repeat within a query"
        else:
            return ()
        return (f"{why}, as scores do: are judgments and run in the right order?",)
