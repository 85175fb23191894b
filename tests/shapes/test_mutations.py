"""Some of the damaged examples; the command in ``mutations.py`` tries thousands."""

from __future__ import annotations

from tests.shapes.mutations import mistakes


def test_damaged_examples_are_read_right_or_refused() -> None:
    assert not mistakes(400, 20261127)
