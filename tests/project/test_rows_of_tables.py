"""A table of rows reports the name of a row first, and a row can be run alone."""

from __future__ import annotations

import pytest
from tests import rows


def _is_even(number: int) -> None:
    assert number % 2 == 0


def test_rows_that_fail_are_named_first() -> None:
    """The first line of the report says which rows fail, and of how many."""
    decorated = rows.each("number", [2, 3, 4, 5])(_is_even)
    with pytest.raises(ExceptionGroup, match=r"^row 3; 5: 2 of 4 rows fail"):
        decorated()


def test_many_rows_that_fail_are_cut() -> None:
    """The report of a table that fails as a whole stays a line."""
    decorated = rows.each("number", range(1, 40, 2))(_is_even)
    with pytest.raises(ExceptionGroup, match=r"^row 1; 3; 5; 7; 9 …: 20 of 20 rows"):
        decorated()


def test_a_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tests are selected by name, each row is a test with its name."""
    monkeypatch.setattr(rows, "_alone", True)

    def check(number: int) -> None:
        _is_even(number)

    rows.each("number", [2, 3])(check)
    [mark] = check.pytestmark  # type: ignore[attr-defined]
    assert mark.args == ("number", [2, 3])
    assert [mark.kwargs["ids"](cell) for cell in mark.args[1]] == ["2", "3"]
