"""Columns of numbers: decimal points and commas in CSV cells, and numbers that a float64 cannot hold.

Two different numbers that become the same float64 would tie, so such numbers are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import first_true
from rankstone.errors import BadLine, printable
from rankstone.io.advice import Advice
from rankstone.io.grade_labels import likely_labels, with_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Columns, Locate
    from rankstone.io.csv_dialect import Dialect


#: a whole number, perhaps with thousands separators
_WHOLE: Final = r"^[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)$"
#: a number with a decimal comma
_COMMA: Final = r"^\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*$"
#: a number with a decimal point; and numbers whose comma or point may mark thousands
_POINT: Final = r"^\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*$"
_THOUSANDS: Final = r"^\s*[+-]?[1-9]\d{0,2}[.,]\d{3}\s*$"
#: as with a comma, a whole number, or nothing at all
_EITHER: Final = r"\s*(?:[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*)?"
#: the column of the labels of shopping queries (Reddy et al., 2022)
ESCI_LABEL: Final = "esci_label"
#: text of a truth value → number
_TRUTHS: Final = {
    **dict.fromkeys(("true", "yes", "ja", "oui", "是"), "1"),
    **dict.fromkeys(("false", "no", "nein", "non", "否"), "0"),
}
#: said of ranks that are no numbers
_BY_SCORE: Final = " (scores order the lists)"
_NAMES: Final = {",": "decimal comma", ".": "decimal point"}


@dataclass
class Decimals:
    """The decimal separator of one file, detected while it is read.

    Attributes
    ----------
    given
        The requested one; with ``None`` the first fraction of the file decides, and all others must agree.
    separator
        The separator of cells.
    names
        {our name: their name} of renamed columns.
    mark
        The decimal separator; ``None`` while all numbers are whole.
    """

    given: str | None
    separator: str
    names: Columns = field(default_factory=dict)
    mark: str | None = field(init=False, default=None)

    def start(self) -> None:
        """Restart with the first row."""
        self.mark = self.given

    def read(self, cells: pl.DataFrame, place: Locate) -> pl.DataFrame:
        """Parse the next rows of number columns; refuse the first cell that is not a number.

        Parameters
        ----------
        cells
            Texts.
        place
            Returns the place of one of these rows, for messages.
        """
        if self.mark is None:
            self._settle(cells, place)
        numbers = cells.select(self._number(pl.col(name)) for name in cells.columns)
        for name in cells.columns:
            texts = cells[name]
            misread = numbers[name].is_null() & texts.is_not_null()
            if misread.any():
                row = first_true(misread)
                raise self._not_a_number(texts, texts[row], place(row))
        return numbers

    def with_points(self, cells: pl.Series) -> pl.Series:
        """Return numbers, given as text, with a decimal point."""
        if self.mark == ",":
            return cells.str.replace(",", ".", literal=True)
        return cells

    def notes(self) -> tuple[str, ...]:
        """Return what was detected and a reader should know."""
        usual = self.mark == "." and self.separator == "\t"
        if self.given or self.mark is None or usual:
            return ()
        return (_NAMES[self.mark],)

    def _number(self, cell: pl.Expr) -> pl.Expr:
        if self.mark == ",":
            # with a point it would be something else
            has_point = cell.str.contains(".", literal=True)
            with_point = cell.str.replace(",", ".", literal=True)
            number = pl.when(~has_point).then(with_point)
            cell = number.alias(cell.meta.output_name())
        return cell.cast(pl.Float64, strict=False)

    def _settle(self, cells: pl.DataFrame, place: Locate) -> None:
        """Decide by the first fraction; with tabs between cells, 1,234 alone may also be a thousand."""
        comma = _first(cells, ",")
        point = _first(cells, ".")
        if comma is None:
            if point is not None:
                self.mark = "."
            return
        if point is not None and point <= comma:
            self.mark = "."
            return
        self.mark = ","
        if self.separator != "\t":
            return
        for texts in cells.iter_columns():
            if not texts.str.contains(_WHOLE).all():
                return
        text = next(text for text in cells.row(comma) if text and "," in text)
        error = BadLine(
            f"{printable(text, 40)!r} may be a fraction or thousands",
            where=place(comma),
            expected="numbers without thousands separators",
        )
        advice = Advice({}, {"decimal": ","}, so=" if it is a fraction")
        is_clear = any(map(_are_thousands, cells.iter_columns()))
        raise error.proposing(None if is_clear else advice)

    def _not_a_number(self, texts: pl.Series, text: str, where: str) -> BadLine:
        other = "."
        if self.mark == ".":
            other = ","
        has_other = other in text
        expected = "a number"
        if has_other:
            if self.mark and not self.given:
                expected += f", as the {_NAMES[self.mark]} above"
            expected += ", without thousands separators"
        error = BadLine(
            f"the {texts.name} {printable(text, 40)!r} is not a number",
            where=where,
            expected=expected,
        )
        if has_other and not _are_thousands(texts):
            so = " if that is the decimal separator"
            return error.proposing(Advice({}, {"decimal": other}, so=so))
        if texts.name == "relevance":
            error.expected = f"{expected}, or relevance(LABEL=GRADE;…) in columns"
            return error.proposing(self._labels(texts))
        if texts.name == "rank":
            theirs = self.names.get("rank", "rank")
            return error.proposing(Advice({theirs: "unused"}, so=_BY_SCORE))
        return error.proposing(None)

    def _labels(self, texts: pl.Series) -> Advice | None:
        """Return the grades that the labels of a column probably stand for, to be edited."""
        cells = texts.drop_nulls().str.strip_chars()
        is_label = cells.cast(pl.Float64, strict=False).is_null()
        labels = likely_labels(cells.filter(is_label).unique().to_list())
        if not labels:
            return None
        theirs = self.names.get("relevance", "relevance")
        return Advice({theirs: with_labels("relevance", labels)})


def _are_thousands(texts: pl.Series) -> bool:
    """Return True for whole numbers some of which have commas: 1,234 beside 725."""
    has_comma = texts.str.contains(",", literal=True)
    return texts.str.contains(_WHOLE).all() and has_comma.any() and not has_comma.all()


def _first(cells: pl.DataFrame, mark: str) -> int | None:
    """Return the first row with a cell that contains a character; ``None`` where none does."""
    rows = cells.select(
        pl.any_horizontal(pl.all().str.contains(mark, literal=True)).fill_null(
            value=False
        )
    ).to_series()
    if rows.any():
        return rows.arg_max()
    return None


def with_both_marks(
    texts: pl.Series, given: str | None, place: Locate
) -> tuple[pl.Series, tuple[str, ...]]:
    """Return cells of a workbook with a decimal point, where texts have a comma and numbers a point.

    The reader of workbooks writes numbers among texts as texts, with a point: ``9,5`` beside ``10.5``.

    Parameters
    ----------
    texts
        The column.
    given
        The requested decimal separator of texts.
    place
        Returns the place of a row, for messages.

    Returns
    -------
    tuple
        The column, which is as it was where only one of both occurs; a note where both do.

    Raises
    ------
    BadLine
        Where one of both may mark thousands: ``1,250`` beside ``10.5``.
    """
    cells = texts.fill_null("").str
    has_comma = cells.contains(_COMMA)
    has_point = cells.contains(_POINT)
    if given == "." or not (has_comma.any() and has_point.any()):
        return texts, ()
    is_open = cells.contains(_THOUSANDS)
    if given == ",":
        is_open &= has_point
    if is_open.any():
        row = first_true(is_open)
        error = BadLine(
            f"{printable(texts[row], 40)!r} may be a fraction or thousands",
            where=place(row),
            expected="numbers with a comma and with a point, all without thousands",
            fix="write the column with one decimal mark in the workbook",
        )
        advice = Advice({}, {"decimal": ","}, so=" if it is a fraction")
        raise error.proposing(advice if has_comma[row] else None)
    with_points = cells.replace(",", ".", literal=True)
    numbers = texts.zip_with(~has_comma, with_points)
    return numbers, ("decimal comma in texts, decimal point in numbers",)


def with_fractions(
    dialect: Dialect, header: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns of numbers that may have a decimal comma, with notes on that.

    They are detected in the first block.  With semicolons between cells a comma is a decimal one; otherwise
    only on request.
    """
    is_open = dialect.decimal is None
    if dialect.decimal == "." or (is_open and dialect.separator != ";"):
        return [], ()
    numbers: list[str] = []
    has_commas = False
    for name, *cells in zip(header, *dialect.rows(), strict=False):
        if all(re.fullmatch(_EITHER, cell) for cell in cells):
            numbers.append(name)
            has_commas |= any("," in cell for cell in cells)
    is_guessed = is_open and has_commas
    return numbers, (_NAMES[","],) if is_guessed else ()


def decimal_text(cell: pl.Expr) -> pl.Expr:
    """Replace the decimal comma of numbers by a point; other texts stay as they are.

    >>> pl.select(x=decimal_text(pl.lit("0,5")), y=decimal_text(pl.lit("a,b"))).row(0)
    ('0.5', 'a,b')
    """
    return (
        pl.when(cell.str.contains(_COMMA))
        .then(cell.str.replace(",", ".", literal=True))
        .otherwise(cell)
    )


def truths(texts: pl.Expr) -> pl.Expr:
    """Return texts in which true and false, yes and no are 1 and 0, whatever their case.

    >>> pl.select(truths(pl.lit(pl.Series(["TRUE", "No", "0.5"])))).to_series().to_list()
    ['1', '0', '0.5']
    """
    return texts.cast(pl.String).str.strip_chars().str.to_lowercase().replace(_TRUTHS)
