"""The rows of an A/B log whose attributes make slices: impressions with numbers, and the two variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone._basics import first_true, some
from rankstone.errors import BadValue, NotComparable, one_of, printable
from rankstone.io.number_columns import truths

if TYPE_CHECKING:
    from collections.abc import Sequence


def impressions(
    frame: pl.DataFrame, value: str, needed: Sequence[str], where: str
) -> pl.DataFrame:
    """Return a row for each impression, with numbers as values; refuse empty cells of needed columns."""
    cells = frame[value]
    if cells.dtype == pl.String:
        frame = frame.with_columns(truths(pl.col(value)))
    numbers = frame[value].cast(pl.Float64, strict=False)
    bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite()
    if bad.any():
        row = first_true(bad)
        raise BadValue(
            f"{printable(value)} is not a number",
            where=f"{where}, row {row + 1}",
            given=printable(repr(cells[row])),
        )
    for column in needed:
        if (empty := frame[column].is_null()).any():
            raise BadValue(
                f"a row without {printable(column)}",
                where=f"{where}, row {first_true(empty) + 1}",
            )
    frame = frame.with_columns(numbers.alias(value))
    if "impression_id" not in frame.columns:
        return frame
    others = [name for name in frame.columns if name not in ("impression_id", value)]
    grouped = frame.group_by("impression_id", maintain_order=True)
    return grouped.agg(pl.col(value).max(), *(pl.col(name).first() for name in others))


def variants_of(column: pl.Series, versus: str | None) -> tuple[str, str]:
    """Return the two variants of a log, the one that is compared with first."""
    names = sorted(column.cast(pl.String).drop_nulls().unique().to_list())
    if len(names) != 2:  # noqa: PLR2004 - a pair
        raise NotComparable(
            "slices of an A/B test need two variants", given=some(names)
        )
    one_of("versus", versus or names[0], names)
    if versus in (None, names[0]):
        return (names[0], names[1])
    return (names[1], names[0])
