"""Frames of pandas, which is not imported for this; each column goes the way that keeps its type."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

import polars as pl
from polars import selectors

from rankstone.errors import InputError, printable
from rankstone.io.table import reading
from rankstone.io.values import objects_of

if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = ["frame_of_library", "frame_of_pandas", "is_pandas"]


def is_pandas(value: object) -> bool:
    """Return whether a value comes from pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def frame_of_library(value: Any, source: str) -> pl.DataFrame | None:  # noqa: ANN401 - of any library
    """Return a frame of Polars, pandas or Arrow as one of Polars, and ``None`` where it is something else.

    Among the numbers of pandas a NaN is what is missing, and becomes null.
    """
    if is_pandas(value):
        return frame_of_pandas(value, source).with_columns(selectors.float().fill_nan(None))
    if not isinstance(value, pl.DataFrame) and not hasattr(value, "__arrow_c_stream__"):
        return None
    with reading(source):
        return pl.DataFrame(value)


def frame_of_pandas(value: Any, source: str) -> pl.DataFrame:  # noqa: ANN401 - of pandas
    """Return a frame of pandas as one of Polars; what is missing is null, a NaN among floats is NaN."""
    twice = value.columns[value.columns.duplicated()]
    if len(twice):
        raise InputError(
            f"the column {printable(twice[0])} stands there twice",
            where=source,
            expected="each column once",
            fix="frame.loc[:, ~frame.columns.duplicated()] keeps the first of each",
        )
    with reading(source):
        return pl.DataFrame({str(c): _column(value[c], str(c), source) for c in value.columns})


def _column(column: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - of pandas
    dtype = column.dtype
    if hasattr(dtype, "categories"):  # a text for each category, not one for each row
        names = _column(dtype.categories.to_series(), name, source)
        codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
        return names.gather(codes.set(codes < 0, None))
    if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return pl.Series(column.array.__arrow_array__())
    if hasattr(dtype, "numpy_dtype"):  # numbers, and beside them which of them are missing
        numbers = pl.Series(column.to_numpy(dtype=dtype.numpy_dtype, na_value=0))
        return numbers.set(pl.Series(column.isna().to_numpy()), None)
    if getattr(dtype, "tz", None) is not None:  # moments, which pandas keeps in UTC
        moments = pl.Series(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        return moments.dt.replace_time_zone("UTC").dt.convert_time_zone(_zone(dtype.tz))
    array = column.to_numpy()
    return pl.Series(array) if array.dtype != object else _of_objects(column, name, source)


def _zone(tz: tzinfo) -> str:
    """Return the name of a zone; an offset of whole hours has one, too, and any other is read as UTC."""
    if str(tz) in available_timezones():
        return str(tz)
    hours, rest = divmod(tz.utcoffset(None) or timedelta(), timedelta(hours=1))
    return "UTC" if rest or not hours else f"Etc/GMT{-hours:+d}"


def _of_objects(column: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401 - of pandas
    """Return a column of Python objects."""
    return objects_of(column.to_numpy().tolist(), name, source, column.notna().to_numpy().tolist())
