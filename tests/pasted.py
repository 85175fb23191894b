"""Fixes that tests happen to print are followed: with ``RANKSTONE_PASTE=FILE`` each is pasted behind its command.

The command with the fix must not end with the same message.  The file gets a line for every fix: what it is, what
was run, and how that ended.
"""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Final

from click.testing import CliRunner
from tests.strangers.pasting import pasted_command

from rankstone.errors import RankstoneError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["UNHELPFUL", "follow"]

#: fixes after which the same message came again, since the test began
UNHELPFUL: Final[list[str]] = []
_IS_ON: Final = "RANKSTONE_PASTE"


def follow(
    words: Sequence[str], error: BaseException, run: Callable[[Sequence[str]], int]
) -> None:
    """Paste the fix of an error behind the words that led to it, and note whether the same error comes again."""
    book = os.environ.get(_IS_ON)
    if not book or not isinstance(error, RankstoneError) or not error.fix:
        return
    message = str(error)
    fixed = pasted_command(shlex.join(words), f"error: {message}")
    ending = "prose"
    if fixed is not None and "-" not in words:
        ending = _ending(shlex.split(fixed), message, run)
    if ending == "the same":
        UNHELPFUL.append(f"{fixed}\n{message}")
    with open(book, "a", encoding="utf-8") as lines:  # noqa: PTH123 - appends
        row = {"fix": error.fix, "command": fixed, "ending": ending}
        lines.write(json.dumps(row) + "\n")


def _ending(
    words: Sequence[str], message: str, run: Callable[[Sequence[str]], int]
) -> str:
    os.environ[_IS_ON], book = "", os.environ[_IS_ON]
    try:
        with CliRunner().isolation() as streams:
            code = run(words)
            said = streams[1].getvalue().decode()
    finally:
        os.environ[_IS_ON] = book
    plain = " ".join(said.split())
    is_same = " ".join(message.split()) in plain
    return "the same" if is_same else "result" if code == 0 else "another refusal"
