"""Fixes that tests of the command line happen to print are read and followed.

Each is pasted behind its command, which must not end with the same message, and its options must be those of the
command: see :func:`doubts`.  With ``RANKSTONE_PASTE=FILE`` the file gets a line for every fix: what it is, what was
run, and how that ended.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from contextlib import contextmanager
from functools import cache, partial
from inspect import isfunction, signature
from typing import TYPE_CHECKING, Final

from click.testing import CliRunner
from tests.command_line import commands
from tests.strangers.pasting import command_name, options_of, pasted_command

import rankstone
from rankstone import answers, boards, collections, ltr, online
from rankstone.errors import RankstoneError
from rankstone.measures.core.registry import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["UNHELPFUL", "doubts", "follow"]

#: what is wrong with fixes, since the test began
UNHELPFUL: Final[list[str]] = []
_BOOK: Final = "RANKSTONE_PASTE"
#: what a command says when a fix was added that replaces an option, or that it does not have
_NO_PLACE: Final = re.compile(r"is given \d+ times|no such option")
_IN_PYTHON: Final = re.compile(
    r"\(?in Python .*|\w\([^()]*\)|--columns ('[^']*'|\"[^\"]*\"|\S+)"
)
#: an option with its value
_VALUE: Final = re.compile(r"--[a-z-]+ \S+")
_OTHER_PROGRAM: Final = re.compile(r"\b(pip install|iconv|zstd)\b[^;,]*")
#: keywords that are words of a measure, too, or name a column: beside=x
_OF_MEASURES: Final = {"name", "text", "value"}
_is_pasting: list[bool] = []


def follow(
    words: Sequence[str], error: BaseException, run: Callable[[Sequence[str]], int]
) -> None:
    """Read the fix of an error, paste it behind the words that led to it, and note what is wrong with it."""
    if _is_pasting or not isinstance(error, RankstoneError) or not error.fix:
        return
    message = str(error)
    line = shlex.join(words)
    UNHELPFUL.extend(f"{doubt}\n{message}" for doubt in doubts(line, error.fix))
    fixed = pasted_command(line, f"error: {message}")
    ending, text = "prose", ""
    if fixed is not None and "-" not in words:
        ending, text = _ending(_without_outputs(fixed), message, run)
    if ending == "the same" or _NO_PLACE.search(text):
        UNHELPFUL.append(f"{fixed}\n{message}\n{text}")
    book = os.environ.get(_BOOK)
    if book:
        with open(book, "a", encoding="utf-8") as lines:  # noqa: PTH123 - appends
            row = {"fix": error.fix, "command": fixed, "ending": ending, "said": text}
            row |= {"line": line, "message": message}
            lines.write(json.dumps(row) + "\n")


def _without_outputs(line: str) -> list[str]:
    """Return the words of a command without files that it would write: the test does not need these."""
    words = shlex.split(line)
    for option in options_of(command_name(line)).values():
        if not getattr(option, "writes", False) or option.required:
            continue
        for flag in option.opts:
            if flag in words:
                place = words.index(flag)
                del words[place : place + 2]
    return words


def doubts(line: str, fix: str) -> Iterator[str]:
    """Yield what is wrong with a fix at a shell: options that the command lacks, and keywords of Python.

    Parameters
    ----------
    line
        The command line that led to it.
    fix
        The fix.
    """
    fix = _OTHER_PROGRAM.sub("", fix)
    shell = _IN_PYTHON.sub("", fix)
    present = command_name(line) if line.strip() else ""
    for part in re.split(r"(?=\brankstone [a-z])", shell):
        named = part.removeprefix("rankstone ") if part.startswith("rankstone ") else ""
        command = command_name(named) if named else present
        if command not in commands():
            continue
        result = options_of(command)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", part):
            if option not in result:
                yield f"{command} has no option {option}: {fix}"
    bare = _VALUE.sub("", shell)
    for keyword in re.findall(r"(?<![\w.-])([a-z_]+)=(?=[^\s=])", bare):
        if keyword in _keywords():
            yield f"{keyword}= is Python: {fix}"


@cache
def _keywords() -> frozenset[str]:
    """Return the keywords of functions and options that no measure has as a parameter."""
    known = set[str]()
    for name in commands():
        known |= {option.name or "" for option in options_of(name).values()}
    for module in (rankstone, answers, boards, collections, ltr, online):
        for function in map(partial(getattr, module), module.__all__):
            if isfunction(function):
                known |= signature(function).parameters.keys()
    parameters = {
        field for kind in MEASURES.values() for field in kind.__dataclass_fields__
    }
    return frozenset(known - parameters - _OF_MEASURES)


@contextmanager
def _pasting() -> Iterator[None]:
    _is_pasting.append(True)
    try:
        yield
    finally:
        _is_pasting.clear()


def _ending(
    words: Sequence[str], message: str, run: Callable[[Sequence[str]], int]
) -> tuple[str, str]:
    with _pasting(), CliRunner().isolation() as streams:
        code = run(words)
        text = streams[1].getvalue().decode()
    if " ".join(message.split()) in " ".join(text.split()):
        return "the same", text
    return ("another refusal" if code else "result"), text
