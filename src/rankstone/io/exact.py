"""Whole numbers and decimals that a float64 cannot hold: two of them would tie, so they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadValue, printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DIGITS", "FIX", "LARGEST", "inexact", "refuse_inexact", "too_long", "wide"]

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
