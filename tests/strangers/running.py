"""Run a command or a call of a case.

A real shell reads the words of each command.  It runs in this process, or with ``RANKSTONE_SHELL=1`` as one that
the shell starts.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
import warnings
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from shlex import split
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import numpy as np
import polars as pl
from click.testing import CliRunner
from scipy import sparse
from tests.command_line import exit_code
from tests.io.test_workbooks import workbook
from tests.strangers.pasting import command_name, options_of

import rankstone
from rankstone.cli.ending import BUG
from rankstone.errors import RankstoneError
from rankstone.integrations import arrays

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.strangers.cases import Case, Run

__all__ = ["Ending", "attempt"]

#: a terminal so wide that no sentence is broken
_ENVIRONMENT: Final = {"COLUMNS": "2000", "LC_ALL": "C.UTF-8", "LANGUAGE": "en"}
_NAMES: Final[dict[str, Any]] = {
    "rankstone": rankstone,
    "arrays": arrays,
    "pl": pl,
    "np": np,
    "sparse": sparse,
    "json": json,
    "math": math,
    "workbook": workbook,
    "io": io,
}


@dataclass(frozen=True)
class Ending:
    """How a run ended: with a result, with a refusal, or with a crash.

    Parameters
    ----------
    kind
        Which of the three.
    text
        All that was printed, or the message.
    document
        The result as JSON, or as what a call returned.
    """

    kind: Literal["result", "refusal", "crash"]
    text: str
    document: Any = None


def attempt(case: Case, run: Run, text: str) -> Ending:
    """Run a text in a folder with the files of a case.

    Parameters
    ----------
    case
        Whose files there are.
    run
        Whether it is a command or a call, and whether values are looked up.
    text
        The command or call: that of the run, or one with a fix pasted.
    """
    with TemporaryDirectory(prefix="rankstone-") as name:
        folder = Path(name)
        for file, content in case.files.items():
            _write(folder / file, content)
        for file, expression in case.made.items():
            _write(folder / file, _evaluated(expression, folder))
        with chdir(folder):
            if run.is_call:
                return _call(text, folder)
            return _command(text, as_json=run.values is not None)


def _write(path: Path, content: object) -> None:
    """Write a file: texts as UTF-8, bytes as they are, frames as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, pl.DataFrame):
        content.write_parquet(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(str(content), encoding="utf-8", newline="")


def _evaluated(expression: str, folder: Path) -> Any:
    return eval(expression, {**_NAMES, "here": folder})  # noqa: S307 - our own files


def _call(text: str, folder: Path) -> Ending:
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with contextlib.redirect_stdout(printed):
                value = _evaluated(text, folder)
        except RankstoneError as error:
            return Ending("refusal", str(error))
        except Exception as error:  # noqa: BLE001 - whatever else a call raises is a bug
            return Ending("crash", f"{type(error).__name__}: {error}")
    lines = [printed.getvalue(), str(value), *(str(item.message) for item in warned)]
    document = value.to_dict() if hasattr(value, "to_dict") else value
    return Ending("result", "\n".join(lines), document)


def _command(text: str, *, as_json: bool) -> Ending:
    name = command_name(text)
    # the findings of `check` are sentences in a table, which a terminal breaks
    if (as_json or name == "check") and _takes_json(text, name):
        text += " --format json"
    through_shell = bool(os.environ.get("RANKSTONE_SHELL"))
    code, out, err = _in_shell(text) if through_shell else _in_process(text)
    document = _document(out)
    if name == "check" and document is not None:
        out = "\n".join(_findings(document))
    printed = f"{out}\n{err}"
    if code == BUG or code < 0 or "Traceback (most recent call last)" in err:
        return Ending("crash", printed)
    return Ending("refusal" if code else "result", printed, document)


def _takes_json(text: str, name: str) -> bool:
    options = options_of(name)
    form = options.get("--format")
    if form is None or re.search(r"--format(?![\w-])", text):
        return False
    return not isinstance(form.type, click.Choice) or "json" in form.type.choices


def _in_process(text: str) -> tuple[int, str, str]:
    with CliRunner().isolation(env=_ENVIRONMENT) as streams:
        code = exit_code(_words(text))
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = (stream.getvalue().decode() for stream in streams[:2])
    return code, out, err


def _words(text: str) -> list[str]:
    """Return the words of a command as a real shell reads them: quotes, globs, what it would cut."""
    if os.name != "posix":
        return split(text)
    printed = subprocess.run(  # noqa: S602 - a shell is what is tested
        f"printf '%s\\0' {text}",
        shell=True,
        check=True,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    return printed.stdout.split("\0")[:-1]


def _in_shell(text: str) -> tuple[int, str, str]:
    done = subprocess.run(  # noqa: S602 - a shell is what is tested
        f"'{sys.executable}' -m rankstone {text}",
        shell=True,
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        env={**os.environ, **_ENVIRONMENT},
    )
    return done.returncode, done.stdout, done.stderr


def _document(out: str) -> Any:
    try:
        return json.loads(out)
    except ValueError:
        return None


def _findings(document: Mapping[str, Any]) -> list[str]:
    """Return what `check` found as lines; the fixes of errors are marked as in a message."""
    lines = [str(document.get("verdict", ""))]
    for file in document.get("files", []):
        lines += [f"{name} {fact}" for name, fact in file["facts"].items()]
        for finding in file["findings"]:
            lines.append(f"{finding['level']}: {finding['what']}")
            if finding["example"]:
                lines.append(f"  given:    {finding['example']}")
            if finding["fix"]:
                label = "fix" if finding["level"] == "error" else "hint"
                lines.append(f"  {label}:      {finding['fix']}")
    return lines
