"""Paste the fix of a message, by literal rules, as somebody does who trusts it.

- ``add --columns a=b``, ``… : --order input``, ``use --x y``: the first option of the fix that can be pasted stands
  behind the command, with those that follow it at once.  Of a list of values the first is taken.
- ``instead`` before the option: it replaces the one that the command has; otherwise it is added.
- ``remove --x``, ``leave out --x``: the option goes.
- A fix that is a whole command, ``rankstone …``, replaces the command.
- In Python: ``name=value`` with a literal value, which stands behind ``in Python`` where the message has both.

All else is prose and counts as no fix: a placeholder (THEIRS, FILE), another program, a file that is to be changed.
"""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Final

import click
from tests.command_line import commands

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["command_name", "fixes", "options_of", "pasted_call", "pasted_command"]

_FIX: Final = re.compile(r"^[ \t]*fix:[ \t]*(.+)$", re.MULTILINE)
_IN_PYTHON: Final = re.compile(r",? ?\(in Python (?:[^()]|\([^()]*\))*\)")
_QUOTED: Final = r"""'(?:[^']|'"'"')*'|"[^"]*\""""
_OPTION: Final = re.compile(
    rf"(?<![\w-])(--[a-z][a-z-]*)(?:[ =](?P<value>{_QUOTED}|(?!--)[^\s(`]+`?))?"
)
#: text between two options of one fix
_BETWEEN: Final = re.compile(r"\s+(?:and (?:add )?)?")
_TAKEN_AWAY: Final = re.compile(r"(?:remove|leave out)[ `]+$")
_PLACEHOLDER: Final = re.compile(r".*\bTHEIRS\b.*|[A-Z]+(?:\.[a-z]+)?|.*…")
#: words behind the name of an option that speak about it
_PROSE: Final = {
    *("allows", "compares", "gives", "has", "is", "names", "needs", "reads", "shows"),
    *("takes", "uses", "writes", "and", "for", "in", "of", "or", "to", "with"),
}


def fixes(message: str) -> list[str]:
    r"""Return the fixes of a message, in their order.

    >>> fixes("error: no column\n  given:    a, b\n  fix:      add --columns a=b")
    ['add --columns a=b']
    """
    return [fix.strip() for fix in _FIX.findall(message)]


def pasted_command(command: str, message: str) -> str | None:
    """Return the command with the first fix that can be pasted; ``None`` without one.

    >>> pasted_command("eval q r", "  fix:  add --columns a=b (in Python columns={'a': 'b'})")
    'eval q r --columns a=b'
    """
    for fix in fixes(message):
        pasted = _with_fix(command, _IN_PYTHON.sub("", fix))
        if pasted is not None:
            return pasted
    return None


def pasted_call(call: str, message: str) -> str | None:
    """Return the call with the first fix that can be pasted; ``None`` without one.

    >>> pasted_call("f(x)", "  fix:  add --columns a=b (in Python columns={'a': 'b'})")
    "f(x, columns={'a': 'b'})"
    """
    for fix in fixes(message):
        _, _, python = fix.rpartition("in Python ")
        arguments = _literal_arguments(python)
        if arguments:
            return _with_arguments(call, arguments)
    return None


@cache
def options_of(command: str) -> Mapping[str, click.Option]:
    """Return the options of a command, such as ``eval`` or ``online ab``, by name."""
    declared = commands().get(command)
    if declared is None:
        return {}
    options = [param for param in declared.params if isinstance(param, click.Option)]
    return {name: option for option in options for name in option.opts}


def command_name(command: str) -> str:
    """Return the words at the beginning that name the command: ``online ab``."""
    words = shlex.split(command)
    names = [" ".join(words[:length]) for length in (2, 1)]
    return next((name for name in names if name in commands()), words[0])


def _with_fix(command: str, fix: str) -> str | None:
    whole = re.match(r"`?rankstone ([^`]+?)(?:`|,? or |; |, | \(|$)", fix)
    if whole is not None:
        words = whole[1].split()
        return None if any(map(_PLACEHOLDER.fullmatch, words)) else whole[1]

    # options behind the name of another command are that one's
    fix, _, _ = fix.partition("rankstone ")
    options = options_of(command_name(command))
    end_of_last: int | None = None
    for match in _OPTION.finditer(fix):
        if end_of_last is not None and not _BETWEEN.fullmatch(
            fix, end_of_last, match.start()
        ):
            break
        before = fix[: match.start()]
        name = match[1]
        if _TAKEN_AWAY.search(before) and name in shlex.split(command):
            return _without(command, name, options.get(name))
        option = _offered(match, options.get(name))
        if option is None:
            continue
        if "instead" in before:
            command = _without(command, name, options.get(name))
        command = f"{command} {option}"
        end_of_last = match.start() + len(option)
    return None if end_of_last is None else command


def _offered(match: re.Match[str], declared: click.Option | None) -> str | None:
    """Return an option as it is written; ``None`` where the text only speaks of it."""
    name, value = match[1], match["value"]
    if declared is not None and declared.is_flag:
        return name
    if value is None:
        return None
    if value[0] not in "'\"":
        value = value.rstrip(",;.:?!)`") or value
    if value in _PROSE or _PLACEHOLDER.fullmatch(value.strip("'\"")):
        return None
    return f"{match[0][: len(name) + 1]}{value}"


def _without(command: str, name: str, declared: click.Option | None) -> str:
    """Return a command without an option, and without the option's value."""
    is_flag = declared is not None and declared.is_flag
    kept = []
    words = iter(shlex.split(command))
    for word in words:
        if word == name:
            if not is_flag:
                next(words, None)
        elif not word.startswith(f"{name}="):
            kept.append(word)
    return shlex.join(kept)


def _literal_arguments(text: str) -> list[ast.keyword]:
    """Return the first ``name=value`` of a text whose value is a literal, with those behind it.

    What stands in the parentheses of another call belongs there.

    >>> [argument.arg for argument in _literal_arguments("say decimal=',' and be done")]
    ['decimal']
    """
    for start in re.finditer(r"(?<![\w.])[a-z_]+=(?=[^=\s])", text):
        before = text[: start.start()]
        if before.count("(") > before.count(")"):
            continue
        for end in range(len(text), start.end(), -1):
            arguments = _arguments(text[start.start() : end])
            if arguments:
                return arguments
    return []


def _arguments(text: str) -> list[ast.keyword]:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except SyntaxError:
        return []
    if not isinstance(call, ast.Call) or call.args or "THEIRS" in text:
        return []
    try:
        for argument in call.keywords:
            ast.literal_eval(argument.value)
    except ValueError:
        return []
    return call.keywords


def _with_arguments(text: str, arguments: list[ast.keyword]) -> str | None:
    """Return a call with further arguments; a dict is merged with the one that is there."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call):
        return None
    for argument in arguments:
        present = [keyword for keyword in call.keywords if keyword.arg == argument.arg]
        if not present:
            call.keywords.append(argument)
        elif isinstance(present[0].value, ast.Dict) and isinstance(
            argument.value, ast.Dict
        ):
            present[0].value.keys += argument.value.keys
            present[0].value.values += argument.value.values
        else:
            present[0].value = argument.value
    return ast.unparse(call)
