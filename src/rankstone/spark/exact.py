"""Numbers of Spark's as float64; those that a float64 cannot hold end the job, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rankstone.io.exact import DIGITS, LARGEST, too_long

if TYPE_CHECKING:
    from rankstone.errors import BadValue

__all__ = ["exact", "found_in"]

#: what a job that ends says, between words that no number has in it
_SAID: Final = re.compile(r"rankstone: the (\w+) ([-+.\d]+) has more digits")


def exact(name: str, kind: str) -> Any:  # noqa: ANN401 - pyspark's Column
    """Return a column as float64; a whole number or decimal that would tie with its neighbours is an error.

    Parameters
    ----------
    name
        What the column is called.
    kind
        Its type; a text that is no number becomes null.
    """
    from pyspark.sql import functions as fn

    column = fn.col(name)
    number = column.try_cast("double")
    if kind not in ("bigint", "string") and not kind.startswith("decimal"):
        return number
    text = column.cast("string")
    written = fn.regexp_extract(text, r"^\s*[+-]?(\d+(?:\.\d*)?)\s*$", 1)
    digits = fn.length(fn.regexp_replace(fn.regexp_replace(written, r"\.", ""), "^0+|0+$", ""))
    whole = fn.regexp_extract(written, r"^(\d+)(?:\.0*)?$", 1).try_cast("bigint")
    same = fn.coalesce(whole == fn.abs(number).try_cast("bigint"), fn.lit(False))
    bad = (fn.abs(number) >= float(LARGEST)) & (digits > DIGITS) & ~same
    said = fn.concat(fn.lit(f"rankstone: the {name} "), fn.trim(text), fn.lit(" has more digits"))
    return fn.when(bad, fn.raise_error(said).cast("double")).otherwise(number)


def found_in(said: str, where: str) -> BadValue | None:
    """Return the error for a job that ended on such a number."""
    found = _SAID.search(said)
    return None if found is None else too_long(found[1], found[2], where)
