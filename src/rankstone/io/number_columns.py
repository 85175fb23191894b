"""Numbers in CSV cells: a point before the fraction, or the comma of half the world.

Whole numbers and decimals that a float64 cannot hold: two of them would tie, so they are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadLine, BadValue, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.io.csv_dialect import Dialect


#: a number that thousands are divided in, or whose fraction has three digits
_THOUSANDS: Final = r"^[+-]?[1-9]\d{0,2},\d{3}$"
#: a number with a decimal comma
_COMMA: Final = r"^\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*$"
#: the same, a whole number, or nothing at all
_EITHER: Final = r"\s*(?:[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*)?"
_NAMES: Final = {",": "decimal comma", ".": "decimal point"}


@dataclass
class Decimals:
    """What numbers of one file have before their fraction, found out while it is read.

    Attributes
    ----------
    said
        What is known beforehand; ``None``: the first fraction of the file decides, and all others must agree.
    separator
        What stands between the cells of the file.
    found
        What it is; ``None`` while all numbers are whole.
    """

    said: str | None
    separator: str
    found: str | None = field(init=False, default=None)

    def start(self) -> None:
        """Begin with the first row again."""
        self.found = self.said

    def read(self, cells: pl.DataFrame, place: Callable[[int], str]) -> pl.DataFrame:
        """Return the next rows of number columns as numbers, or refuse the first cell that is none.

        Parameters
        ----------
        cells
            Texts.
        place
            Says where a row of these stands.
        """
        if self.found is None:
            self._settle(cells, place)
        numbers = cells.select(self._number(pl.col(name)) for name in cells.columns)
        for name in cells.columns:
            if numbers[name].null_count() > cells[name].null_count():
                at = (numbers[name].is_null() & cells[name].is_not_null()).arg_max() or 0
                raise self._no_number(name, cells[name][at], place(at))
        return numbers

    def with_points(self, cells: pl.Series) -> pl.Series:
        """Return numbers that have been read as texts with a decimal point."""
        return cells.str.replace(",", ".", literal=True) if self.found == "," else cells

    def told(self) -> tuple[str, ...]:
        """Return what was found out and a reader should know."""
        usual = self.found == "." and self.separator == "\t"
        return () if self.said or self.found is None or usual else (_NAMES[self.found],)

    def _number(self, cell: pl.Expr) -> pl.Expr:
        if self.found == ",":  # a point beside it, or instead, would be something else
            whole = pl.when(~cell.str.contains(".", literal=True))
            cell = whole.then(cell.str.replace(",", ".", literal=True)).alias(cell.meta.output_name())
        return cell.cast(pl.Float64, strict=False)

    def _settle(self, cells: pl.DataFrame, place: Callable[[int], str]) -> None:
        """Decide by the first fraction; in cells that tabs divide, 1,234 alone may be a thousand, too."""
        commas, points = (_first(cells, mark) for mark in (",", "."))
        if commas is None and points is None:
            return
        self.found = "," if points is None or (commas is not None and commas < points) else "."
        if self.found == "," and self.separator == "\t":
            for name in cells.columns:
                some = cells[name].filter(cells[name].str.contains(",", literal=True))
                if not some.str.contains(_THOUSANDS).all():
                    return
            at = commas or 0
            text = next(text for text in cells.row(at) if text is not None and "," in text)
            raise BadLine(
                f"{printable(text, 40)!r} may be a fraction, or thousands",
                where=place(at),
                expected="numbers without thousands separators",
                fix="--decimal , if it is a fraction (in Python decimal=',')",
            )

    def _no_number(self, name: str, text: str, where: str) -> BadLine:
        other, fix = "," if self.found == "." else ".", None
        if other in text:
            fix = f"--decimal {other} where it stands before the fraction (in Python decimal='{other}')"
        found = (
            f", as the {_NAMES[self.found]} above" if self.found and not self.said and other in text else ""
        )
        return BadLine(
            f"the {name} {printable(text, 40)!r} is no number",
            where=where,
            expected=f"a number{found}, without thousands separators" if fix else "a number",
            fix=fix,
        )


def _first(cells: pl.DataFrame, mark: str) -> int | None:
    """Return the first row with a cell that holds a character; ``None`` where none does."""
    there = cells.select(pl.any_horizontal(pl.all().str.contains(mark, literal=True)).fill_null(value=False))
    rows = there.to_series()
    return rows.arg_max() if rows.any() else None


def with_fractions(dialect: Dialect, header: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns whose cells are numbers that may have a comma, and what to tell of it.

    The first block shows them.  Between semicolons a comma is a decimal one; elsewhere only where somebody
    says so.
    """
    if dialect.decimal == "." or (dialect.decimal is None and dialect.separator != ";"):
        return [], ()
    columns = {name: cells for name, *cells in zip(header, *dialect.rows(), strict=False)}
    found = [name for name, cells in columns.items() if all(re.fullmatch(_EITHER, cell) for cell in cells)]
    guessed = dialect.decimal is None and any("," in cell for name in found for cell in columns[name])
    return found, (_NAMES[","],) if guessed else ()


def decimal_text(cell: pl.Expr) -> pl.Expr:
    """Return texts in which a number with a decimal comma has a point; others stay as they are.

    >>> pl.select(x=decimal_text(pl.lit("0,5")), y=decimal_text(pl.lit("a,b"))).row(0)
    ('0.5', 'a,b')
    """
    return pl.when(cell.str.contains(_COMMA)).then(cell.str.replace(",", ".", literal=True)).otherwise(cell)


#: up to here every whole number is a float64 of its own
LARGEST: Final = 2**53
#: numbers of so many digits are told apart by a float64, whatever their size
DIGITS: Final = 15
FIX: Final = "subtract the same number from every score, or write ranks instead (order=rank)"
#: digits, written out; 1e20 is a float whoever wrote it
_WRITTEN: Final = r"^\s*[+-]?(\d+)(?:\.(\d*))?\s*$"


def wide(dtype: pl.DataType) -> bool:
    """Return whether a type holds numbers that a float64 may not.

    >>> wide(pl.Int64()), wide(pl.Int32()), wide(pl.Decimal(38, 2)), wide(pl.Float32())
    (True, False, True, False)
    """
    if isinstance(dtype, (pl.List, pl.Array)):
        return wide(dtype.inner)  # type: ignore[arg-type]
    return dtype in (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128) or (
        isinstance(dtype, pl.Decimal) and dtype.precision > DIGITS
    )


def inexact(given: pl.Series) -> pl.Series:
    """Return which numbers are above 2⁵³ and have neighbours that would become the same float64.

    Parameters
    ----------
    given
        Whole numbers, decimals, or texts of either.

    Returns
    -------
    polars.Series
        Booleans.  Numbers of up to 15 digits, zeros at their end aside, are never among them, nor is
        text in scientific notation.

    >>> inexact(pl.Series([2**53, 2**53 + 1, 10**18, None])).to_list()
    [False, True, False, False]
    >>> inexact(pl.Series(["9007199254740993.5", "9.007199254740993e15", "0.12345678901234567890"])).to_list()
    [True, False, False]
    """
    number = given.cast(pl.Float64, strict=False)
    large = (number.abs() >= LARGEST).fill_null(value=False)
    if not large.any():
        return large
    found = pl.DataFrame({"text": given.cast(pl.String), "number": number}).select(
        (
            pl.lit(large)
            & (_digits(pl.col("text")) > DIGITS)
            & ~(
                (pl.col("text").str.extract(_WRITTEN, 2).fill_null("").str.strip_chars("0") == "")
                & (_whole(pl.col("text")) == pl.col("number").cast(pl.Int128, strict=False).abs())
            ).fill_null(value=False)
        ).fill_null(value=False)
    )
    return found.to_series()


def _digits(text: pl.Expr) -> pl.Expr:
    """Return how many digits numbers written out have, zeros at both ends aside; null for other texts."""
    written = pl.concat_str(text.str.extract(_WRITTEN, 1), text.str.extract(_WRITTEN, 2).fill_null(""))
    return written.str.strip_chars("0").str.len_bytes()


def _whole(text: pl.Expr) -> pl.Expr:
    return text.str.extract(_WRITTEN, 1).cast(pl.Int128, strict=False)


def refuse_inexact(given: pl.Series, name: str, where: Callable[[int], str], before: int = 0) -> None:
    """Refuse a column with a number that cannot be told from its neighbours once it is a float64.

    Parameters
    ----------
    given
        Whole numbers, decimals, texts of either, or lists of them.
    name
        What the numbers are.
    where
        Says where a row stands.
    before
        How many rows there were before these.

    Raises
    ------
    BadValue
        With the number and its row.
    """
    table = given.to_frame("number")
    if isinstance(given.dtype, pl.List):
        table = table.with_row_index("row").filter(pl.col("number").list.len() > 0).explode("number")
    bad = inexact(table["number"])
    if bad.any():
        at = bad.arg_max() or 0
        row = int(table["row"][at]) if "row" in table.columns else at
        raise too_long(name, str(table["number"][at]), where(before + row))


def too_long(name: str, number: str, where: str | None) -> BadValue:
    """Build the error for a number of more digits than are read."""
    return BadValue(
        f"the {name} {printable(number, 60)} has more digits than a float64 holds",
        where=where,
        expected=f"floats, or whole numbers up to {LARGEST:,}: larger ones would tie",
        fix=FIX,
    )
