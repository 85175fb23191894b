"""Numbers in cells: which texts are some, and which a float64 cannot hold, so that they would tie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import first_true
from rankstone.errors import BadValue, printable

if TYPE_CHECKING:
    from rankstone._basics import Locate


#: up to here different whole numbers are different float64 numbers
LARGEST: Final = 2**53


#: different numbers of so many digits are different float64 numbers, whatever their size
DIGITS: Final = 15


#: digits written out; 1e20 is a float
_WRITTEN: Final = r"^\s*[+-]?(\d+)(?:\.(\d*))?\s*$"


def wide(dtype: pl.DataType) -> bool:
    """Return True for types of numbers that a float64 cannot always hold.

    Texts of numbers are among them.

    >>> wide(pl.Int64()), wide(pl.Int32()), wide(pl.Decimal(38, 2)), wide(pl.Float32())
    (True, False, True, False)
    """
    if isinstance(dtype, (pl.List, pl.Array)):
        return wide(dtype.inner)  # type: ignore[arg-type]
    return dtype in (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128, pl.String) or (
        isinstance(dtype, pl.Decimal) and dtype.precision > DIGITS
    )


def inexact(given: pl.Series) -> pl.Series:
    """Return which numbers are above 2⁵³ and have neighbours with the same float64.

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
    text = given.cast(pl.String)
    whole = text.str.extract(_WRITTEN, 1)
    fraction = text.str.extract(_WRITTEN, 2).fill_null("")
    # without zeros at both ends; null for what is not written out
    digits = (whole + fraction).str.strip_chars("0")
    is_long = digits.str.len_bytes() > DIGITS
    is_whole = fraction.str.strip_chars("0") == ""
    as_read = number.cast(pl.Int128, strict=False).abs()
    is_same = is_whole & (whole.cast(pl.Int128, strict=False) == as_read)
    suspect = large & is_long & ~is_same.fill_null(value=False)
    return suspect.fill_null(value=False)


def refuse_inexact(given: pl.Series, name: str, where: Locate, before: int = 0) -> None:
    """Refuse a column with a number that has the same float64 as its neighbours.

    Parameters
    ----------
    given
        Whole numbers, decimals, texts of either, or lists of them.
    name
        The column's name.
    where
        Returns the place of a row, for messages.
    before
        The number of rows before these.

    Raises
    ------
    BadValue
        With the number and its row.
    """
    table = given.to_frame("number")
    if isinstance(given.dtype, pl.List):
        table = (
            table.with_row_index("row")
            .filter(pl.col("number").list.len() > 0)
            .explode("number")
        )
    numbers = table["number"]

    def place(index: int) -> str:
        row = table["row"][index] if "row" in table else index
        return where(before + row)

    if numbers.dtype == pl.String:
        numbers_in(numbers.alias(name), place)
    bad = inexact(numbers)
    if bad.any():
        at = first_true(bad)
        raise too_long(name, str(numbers[at]), place(at))


def too_long(name: str, number: str, where: str | None) -> BadValue:
    """Return the error for a number with more digits than a float64 holds."""
    return BadValue(
        f"the {name} {printable(number, 60)} has more digits than a float64 holds",
        where=where,
        expected=f"floats, or whole numbers up to {LARGEST:,}: larger ones would tie",
        fix="subtract the same number from every score" if name == "score" else None,
    )


def numbers_in(column: pl.Series, place: Locate) -> pl.Series:
    """Return a column of a table beside the run as numbers; null, NaN and an empty text are null.

    Parameters
    ----------
    column
        Numbers, or texts of numbers.
    place
        Returns the place of a row, for messages.

    Raises
    ------
    BadValue
        With the first text that is not a number and its place.
    """
    kind = column.dtype
    texts = column
    if isinstance(kind, (pl.String, pl.Categorical, pl.Enum)):
        texts = column.cast(pl.String).str.strip_chars().replace("", None)
    elif not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        raise BadValue(
            f"the column {printable(column.name, 40)} has type {kind}",
            where=place(0),
            expected="numbers",
        )
    numbers = texts.cast(pl.Float64, strict=False)
    bad = numbers.is_null() & texts.is_not_null()
    if bad.any():
        row = first_true(bad)
        raise BadValue(
            f"the {printable(column.name, 40)} {printable(repr(texts[row]), 40)} is not a number",
            where=place(row),
            expected="a number",
        )
    return numbers.fill_nan(None)


def is_number(value: object) -> bool:
    """Return True for a number, also as text."""
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True
