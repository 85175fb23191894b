"""Values of Python: ids and numbers as columns, checked one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadValue, MixedIds, printable
from rankstone.io.exact import LARGEST, refuse_inexact

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ids_of", "lists_of", "numbers_of", "objects_of"]

_NARROW: Final = 2**63
_LARGEST_ID: Final = 2**127


def ids_of(ids: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return ids as texts or whole numbers; a mixture is an error that shows both."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return pl.Series(ids)
    if isinstance(ids, pl.Series):
        return ids
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    kinds = {_kind(v) for v in values}
    if kinds <= {"text"}:
        try:
            return pl.Series(values, dtype=pl.String)
        except UnicodeEncodeError as error:
            raise BadValue(
                f"{name} holds half a character (a lone surrogate)",
                where=source,
                given=printable(ascii(error.object), 60),
                expected="text that UTF-8 can write",
            ) from None
    if kinds == {"whole number"}:
        whole = [int(v) for v in values]
        largest = max(whole, key=abs)
        if abs(largest) >= _LARGEST_ID:
            raise BadValue(
                f"{name} holds whole numbers beyond 128 bits",
                where=source,
                given=printable(largest),
                fix="str(id) makes texts of them",
            )
        return pl.Series(whole, dtype=pl.Int64 if abs(largest) < _NARROW else pl.Int128)
    shown = {kind: next(v for v in values if _kind(v) == kind) for kind in sorted(kinds)}
    raise MixedIds(
        f"{name} holds {' and '.join(shown)}",
        where=source,
        given=", ".join(f"{printable(repr(v), 40)} ({kind})" for kind, v in shown.items()),
        expected="ids of one kind: texts, or whole numbers",
        fix="str(id) makes texts of them",
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return "whole number"
    return "nothing" if value is None else type(value).__name__


def numbers_of(numbers: Any, name: str, source: str) -> pl.Series:  # noqa: ANN401
    """Return numbers as float64."""
    try:
        read = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next((v for v in numbers if not _is_number(v)), None)
        raise BadValue(
            f"the {name} {printable(repr(bad), 40)} is no number", where=source, expected="numbers"
        ) from None
    large = np.flatnonzero(np.abs(read) >= LARGEST) if getattr(numbers, "dtype", object) != np.float64 else ()
    if len(large):  # whole numbers and decimals, which have digits of their own; floats are what they are
        given = np.asarray(numbers, dtype=object)[large]
        whole = [v for v in given if not isinstance(v, (float, np.floating))]
        refuse_inexact(pl.Series(map(str, whole), dtype=pl.String), name, lambda _row: source)
    return pl.Series(read)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def lists_of(values: Sequence[Any], name: str, source: str) -> pl.Series:
    """Return lists of ids, or of numbers, as a column; ``None`` for a list or in one stays."""
    lists = [None if value is None else list(value) for value in values]
    items = [item for one in lists if one is not None for item in one if item is not None]
    numbers = items and all(isinstance(item, (int, float, np.number)) for item in items)
    if numbers and not all(_kind(item) == "whole number" for item in items):
        return pl.Series(lists, dtype=pl.List(numbers_of(items, name, source).dtype))
    return pl.Series(lists, dtype=pl.List(ids_of(items, name, source).dtype))


def objects_of(values: list[Any], name: str, source: str, known: Sequence[bool] | None = None) -> pl.Series:
    """Return Python objects as a column: ids, lists of ids or numbers, or whatever Polars makes of them.

    Parameters
    ----------
    values
        The cells.
    name
        What the column is called; ids are checked one by one.
    source
        What to call the table in messages.
    known
        Which of the cells hold something; all but ``None`` unless said.
    """
    there = [value is not None for value in values] if known is None else known
    full = [value for value, is_there in zip(values, there, strict=True) if is_there]
    single = next((value for value in full if not isinstance(value, (list, tuple, np.ndarray))), None)
    if single is None and full:
        none = [value if is_there else None for value, is_there in zip(values, there, strict=True)]
        return lists_of(none, name, source)
    if not name.endswith("_id") and not all(isinstance(value, str) for value in full[:100]):
        return pl.Series(values, strict=False)
    found = ids_of(full, name, source)
    if all(there):
        return found
    places = pl.Series(np.where(there, np.cumsum(there) - 1, -1))
    return found.gather(places.set(places < 0, None))
