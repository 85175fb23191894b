"""Values of Python: ids and numbers as columns, checked one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadValue, MixedIds, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ids_of", "lists_of", "numbers_of"]

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
        return pl.Series(np.asarray(numbers, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        bad = next((v for v in numbers if not _is_number(v)), None)
        raise BadValue(
            f"the {name} {printable(repr(bad), 40)} is no number", where=source, expected="numbers"
        ) from None


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
