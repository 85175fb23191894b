"""What tests of commands share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.command_line import exit_code

if TYPE_CHECKING:
    from collections.abc import Callable


#: tests of messages, whose fixes are always pasted
_OF_MESSAGES = {"test_mistakes", "test_suggested_fixes", "test_command_line"}


@pytest.fixture(autouse=True)
def pasting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Follow the fixes that tests of messages print."""
    if request.path.stem in _OF_MESSAGES and "RANKSTONE_PASTE" not in os.environ:
        monkeypatch.setenv("RANKSTONE_PASTE", os.devnull)


@pytest.fixture(name="run")
def running(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs a command line and returns what it prints, on standard output and error."""

    def run(*words: str, code: int = 0) -> str:
        assert exit_code(list(words)) == code
        return "\n".join(capsys.readouterr())

    return run
