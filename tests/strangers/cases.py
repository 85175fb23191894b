"""Read the case files: what strangers had, what they typed, and what is right.

A case is one TOML file in the folder ``cases``; CONTRIBUTING.md shows its form.  A file that is not of this form is
refused with its name, the run and what was expected: a slip in a case must not make it pass.
"""

from __future__ import annotations

import ast
import math
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CASES", "BadCase", "Case", "Run", "all_cases", "formula", "read_case"]

#: the folder of all cases
CASES: Final = Path(__file__).resolve().parent / "cases"
#: part, label and short words: s_a1_grades_called_rating.toml
_NAME: Final = re.compile(r"[a-z]+_[a-z0-9]+(_[a-z0-9]+)+")
_CASE_KEYS: Final = {"title", "seen_in", "fails", "files", "made", "runs"}
_TEXT_KEYS: Final = ("command", "call")
_WORD_KEYS: Final = ("refused", "says", "hides")
_RUN_KEYS: Final = {*_TEXT_KEYS, *_WORD_KEYS, "values"}


class BadCase(ValueError):
    """A case file that is not of the form of a case."""


@dataclass(frozen=True)
class Run:
    """One command, or one call, and its right end.

    Parameters
    ----------
    text
        The command as it is typed behind ``rankstone``, or the call.
    is_call
        Whether it is Python.
    values
        Where a number stands → the right one.
    refused
        Words that the refusal must have; ``None`` where the run is not to be refused.
    says, hides
        Words that must be printed, and words that must not.
    """

    text: str
    is_call: bool = False
    values: Mapping[str, float] | None = None
    refused: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """Files, and the runs on them; ``fails`` says whether it failed when it was first seen."""

    name: str
    title: str
    seen_in: str
    fails: bool
    files: Mapping[str, str]
    made: Mapping[str, str]
    runs: tuple[Run, ...]

    def run_names(self) -> list[str]:
        """Return a name for each run, under which its outcome is recorded."""
        return [f"{self.name}:{number}" for number in range(1, len(self.runs) + 1)]


def all_cases(folder: Path = CASES) -> list[Case]:
    """Return all cases of a folder, sorted by name."""
    return [read_case(path) for path in sorted(folder.glob("*"))]


def read_case(path: Path) -> Case:
    """Return the case of a file.

    Raises
    ------
    BadCase
        Where the file is not of the form of a case, with the place and what was expected.
    """
    if path.suffix != ".toml" or not _NAME.fullmatch(path.stem):
        raise BadCase(f"{path.name}: expected a name such as s_a1_short_words.toml")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadCase(f"{path.name}: no TOML: {error}") from error

    _require_known(path.name, table, _CASE_KEYS)
    title = _line(path.name, table, "title")
    seen_in = _line(path.name, table, "seen_in")
    fails = table.get("fails")
    if not isinstance(fails, bool):
        raise BadCase(f"{path.name}: fails: expected true or false, not {fails!r}")
    files = _texts(path.name, table, "files")
    made = _texts(path.name, table, "made")
    for name, expression in made.items():
        _require_expression(f"{path.name}: made: {name}", expression)

    runs = table.get("runs")
    if not isinstance(runs, list) or not runs:
        raise BadCase(f"{path.name}: expected one or more [[runs]]")
    read = tuple(
        _read_run(f"{path.name}: run {number}", run)
        for number, run in enumerate(runs, 1)
    )
    _require_used(path.name, [*files, *made], read)
    return Case(path.stem, title, seen_in, fails, files, made, read)


def formula(text: str) -> float:
    """Return the value of a formula, in which the names are those of :mod:`math`.

    >>> formula("(1/1 + 1/2) / 2"), formula("1 / log2(3)")
    (0.75, 0.6309297535714575)
    """
    value = eval(text, {"__builtins__": {}}, dict(vars(math)))  # noqa: S307 - our own files
    if not isinstance(value, (int, float)):
        raise TypeError(f"a number is expected, not {value!r}")
    return float(value)


def _read_run(place: str, table: Any) -> Run:
    _require_known(place, table, _RUN_KEYS)
    texts = [key for key in _TEXT_KEYS if key in table]
    if len(texts) != 1:
        raise BadCase(f"{place}: expected command or call, one of them")
    text = _line(place, table, texts[0])
    is_call = texts[0] == "call"
    if is_call:
        _require_expression(place, text)
    else:
        _require_words(place, text)

    words = {key: _words(place, table, key) for key in _WORD_KEYS if key in table}
    values = _values(place, table["values"]) if "values" in table else None
    if values is None and not words:
        raise BadCase(f"{place}: expected values, refused, says or hides")
    return Run(text, is_call=is_call, values=values, **words)


def _values(place: str, table: Any) -> dict[str, float]:
    if not isinstance(table, dict) or not table:
        raise BadCase(f'{place}: values: expected {{ "RR" = "1/2" }}')
    values = {}
    for name, text in table.items():
        if not isinstance(text, str):
            raise BadCase(f"{place}: values: {name}: expected a formula as a text")
        try:
            values[name] = formula(text)
        except Exception as error:
            message = f"{place}: values: {name}: no formula: {text!r} ({error})"
            raise BadCase(message) from error
    return values


def _words(place: str, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    words = table[key]
    if not isinstance(words, list) or not words:
        raise BadCase(f'{place}: {key}: expected ["one or more", "texts"]')
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise BadCase(f"{place}: {key}: every word must be a text, and not empty")
    return tuple(words)


def _texts(place: str, table: Mapping[str, Any], key: str) -> dict[str, str]:
    texts = table.get(key, {})
    if not isinstance(texts, dict):
        raise BadCase(f"{place}: {key}: expected a table of names and texts")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadCase(f"{place}: {key}: {name}: expected a text")
    return texts


def _line(place: str, table: Mapping[str, Any], key: str) -> str:
    text = table.get(key)
    if not isinstance(text, str) or not text.strip() or "\n" in text.strip():
        raise BadCase(f"{place}: {key}: expected one line of text, not {text!r}")
    return text.strip()


def _require_known(place: str, table: Any, lines: set[str]) -> None:
    if not isinstance(table, dict):
        raise BadCase(f"{place}: expected a table")
    for key in table:
        if key not in lines:
            raise BadCase(f"{place}: {key} is not one of {', '.join(sorted(lines))}")


def _require_expression(place: str, text: str) -> None:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise BadCase(f"{place}: no expression of Python: {text!r}") from error


def _require_words(place: str, command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadCase(f"{place}: no words of a shell: {command!r} ({error})") from error
    if words[0] == "rankstone":
        raise BadCase(f"{place}: leave out the name of the program: {command!r}")


def _require_used(place: str, names: list[str], runs: tuple[Run, ...]) -> None:
    """Refuse a file that no run names: it is a slip of the pen.

    Its folder is enough, or the file that it lies beside, as ``test.txt.query`` does.
    """
    texts = " ".join(run.text for run in runs)
    for name in names:
        is_beside = name.rpartition(".")[0] in names
        if name not in texts and name.split("/")[0] not in texts and not is_beside:
            raise BadCase(f"{place}: no run names the file {name}")
