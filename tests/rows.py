"""Many rows of a table in one test, which tries them all and reports together what fails."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["each", "run_rows_alone"]

_SHOWN = 80
_PARAM = type(pytest.param())  # a row with a name of its own
#: names of rows at the head of a report
_NAMED = 5
_alone = False


def run_rows_alone() -> None:
    """Make every row a test with a name, which ``-k`` selects."""
    global _alone  # noqa: PLW0603 - of the whole run
    _alone = True


def each(
    names: str | tuple[str, ...],
    rows: Iterable[Any],
    ids: Callable[[Any], object] = str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with every row, as ``pytest.mark.parametrize`` does, but as a single test.

    For rows that take milliseconds and share no state: fixtures are made once for all of them.  With ``-k``
    each row is a test of its own.
    """
    called = (
        [name.strip() for name in names.split(",")]
        if isinstance(names, str)
        else list(names)
    )
    table = list(rows)
    if _alone:
        return pytest.mark.parametrize(names, table, ids=lambda cell: _shown(cell, ids))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def all_rows(**fixtures: Any) -> None:
            assert table, "the table is empty"
            wrong: list[BaseException] = []
            failed: list[str] = []
            for row in table:
                single = (row,) if len(called) == 1 else row
                cells = row.values if isinstance(row, _PARAM) else single
                try:
                    test(**dict(zip(called, cells, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - every row is tried
                    name = getattr(row, "id", None) or " · ".join(
                        _shown(cell, ids) for cell in cells
                    )
                    error.add_note(f"row {name}")
                    wrong.append(error)
                    failed.append(name)
            if wrong:
                first = "; ".join(failed[:_NAMED])
                more = " …" if len(failed) > _NAMED else ""
                message = f"row {first}{more}: {len(wrong)} of {len(table)} rows fail"
                raise BaseExceptionGroup(message, wrong)

        signature = inspect.signature(test)
        fixtures = [
            parameter
            for name, parameter in signature.parameters.items()
            if name not in called
        ]
        all_rows.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return all_rows

    return decorate


def _shown(cell: object, ids: Callable[[Any], object]) -> str:
    return str(ids(cell))[:_SHOWN]
