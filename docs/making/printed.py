"""What code on pages prints, below the code: run, and written anew."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from click.testing import CliRunner, Result

from rankstone.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Block",
    "BrokenCommand",
    "blocks",
    "desk",
    "refreshed",
    "run_python",
    "typed",
]

#: a block of code, and the block of text that follows at once
_BLOCK: Final = re.compile(
    r"^```(\w*)\n(.*?)^```\n(?:(\n?)```text\n(.*?)^```\n)?",
    flags=re.DOTALL | re.MULTILINE,
)


class BrokenCommand(Exception):
    """A command on a page, below which its output stands, fails."""


class Block(NamedTuple):
    """Code on a page, and what it prints according to the page (``None`` where the page does not say)."""

    kind: str
    code: str
    shown: str | None


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of code of a page."""
    for found in _BLOCK.finditer(text):
        if found[1] != "text":
            yield Block(found[1], found[2], found[4])


def refreshed(text: str) -> str:
    """Return a page with what its code prints now, where it shows what is printed."""
    if all(block.shown is None for block in blocks(text)):
        return text
    names: dict[str, Any] = {}

    def anew(found: re.Match[str]) -> str:
        kind, code, blank, shown = found.groups()
        if kind == "python":
            printed = run_python(code, names)
        elif shown is not None:
            printed = _output_of(code)
        return (
            found[0]
            if shown is None
            else f"```{kind}\n{code}```\n{blank}```text\n{printed}```\n"
        )

    with desk():
        return _BLOCK.sub(anew, text)


def _output_of(command: str) -> str:
    done = typed(command.replace("\\\n", " "))
    if done.exit_code:
        raise BrokenCommand(f"{command.strip()}\n{done.exception}\n{done.stderr}")
    return done.stdout


def run_python(code: str, names: dict[str, Any]) -> str:
    """Run a block with the names of those before it, and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)  # noqa: S102 - our own pages
    return out.getvalue()


@contextlib.contextmanager
def desk() -> Iterator[Path]:
    """Go for the time being to the folder in which commands are typed, as `rankstone demo --copy` writes it."""
    with tempfile.TemporaryDirectory() as made:
        CliRunner().invoke(cli, ["demo", "--copy", made], catch_exceptions=False)
        with contextlib.chdir(made):
            yield Path(made)


def typed(command: str) -> Result:
    """Run a command, and return what came of it."""
    return CliRunner().invoke(cli, shlex.split(command)[1:])
