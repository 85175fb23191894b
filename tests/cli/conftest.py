"""What tests of commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.command_line import exit_code

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(name="run")
def running(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs a command line and returns what it prints, on standard output and error."""

    def run(*words: str, code: int = 0) -> str:
        assert exit_code(list(words)) == code
        return "\n".join(capsys.readouterr())

    return run
