"""Arrays in columns of a Spark frame, unfolded to a row for each document, as lists in local tables are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["arrays_of", "unfolded", "without_items"]

_ARRAY: Final = "array<"
_NUMBERS: Final = ("score", "rank", "relevance")
#: a row that has a position of its own is this far from the next, so that places fit in between
_APART: Final = 1 << 32


def arrays_of(types: Mapping[str, str]) -> list[str]:
    """Return the names of the columns that hold arrays of what documents have one of."""
    return [name for name in ("doc_id", *_NUMBERS) if types.get(name, "").startswith(_ARRAY)]


def without_items(frame: Any, array: str) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return the ids of the rows whose array is empty."""
    from pyspark.sql import functions as fn

    return frame.where(fn.size(array) == 0).select("query_id")


def unfolded(frame: Any, types: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return a frame with a row for each item of the arrays; ``position`` says where an item stood.

    A cell beside the arrays counts for all items of its row.  An empty array has no rows.  A missing one,
    or one that is shorter than the others, leaves a row without a value, which is refused where rows are
    read.

    Raises
    ------
    UsageError
        When some columns hold an array and others a single value.
    """
    from pyspark.sql import functions as fn

    arrays = arrays_of(types)
    alone = [other for other in ("doc_id", *_NUMBERS) if other in types and other not in arrays]
    if "doc_id" in alone or set(alone) & {"score", "rank"}:
        raise UsageError(
            f"{arrays[0]} of {name} is an array a row, and {alone[0]} one a row",
            expected=f"one {alone[0]} for each {arrays[0]}: arrays in both columns, or in neither",
        )
    some = frame.where(fn.coalesce(fn.size(arrays[0]), fn.lit(-1)) != 0)
    others = [other for other in types if other not in arrays and other != "position"]
    zipped = fn.posexplode_outer(fn.arrays_zip(*arrays)).alias("_place", "_item")
    start = fn.col("position").cast("bigint") * _APART if "position" in types else fn.lit(0).cast("bigint")
    rows = some.select(*others, start.alias("_start"), zipped)
    return rows.select(
        *others,
        *(fn.col(f"_item.{array}").alias(array) for array in arrays),
        (fn.col("_start") + fn.coalesce(fn.col("_place"), fn.lit(0))).alias("position"),
    )
