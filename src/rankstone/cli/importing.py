"""``--import FILE.py``: measures, gains, discounts, user models and rules of gates of the user's own."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from rankstone.errors import RankstoneError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable


#: files that were imported, as tracebacks name them
_imported: set[str] = set()


def register(files: Iterable[str]) -> list[str]:
    """Run Python files for what they register, before anything else on the command line is looked at.

    Returns
    -------
    list
        These files, and those of the modules that they import.
    """
    known = set(sys.modules)
    for file in files:
        _run(Path(file))
    modules = (sys.modules[name] for name in set(sys.modules) - known)
    return [*files, *filter(None, (getattr(one, "__file__", "") for one in modules))]


def _run(path: Path) -> None:
    """Run a file for what it registers."""
    if not path.is_file():
        raise UsageError(
            f"--import {path}: there is no such file", expected="a Python file"
        )
    place = str(path.resolve())
    spec = spec_from_file_location(f"rankstone_own_{path.stem}", place)
    if spec is None or spec.loader is None:
        raise UsageError(
            f"--import {path}: this is no Python file",
            expected="a name that ends in .py",
        )
    module = module_from_spec(spec)
    sys.path.insert(
        0, str(Path(place).parent)
    )  # a file may have neighbours, as when Python runs it
    _imported.add(place)
    before = _vocabulary()
    try:
        spec.loader.exec_module(module)
    except RankstoneError as error:
        error.where = error.where or str(path)
        raise
    except (Exception, SystemExit) as error:
        if os.environ.get("RANKSTONE_TRACEBACK"):
            raise
        raise own_mistake(error) or UsageError(
            f"--import {path}: {printable(error)}", expected="a Python file"
        ) from error
    if _vocabulary() == before:
        raise UsageError(
            f"--import {path} registers nothing",
            expected="@rankstone.measure(…), rankstone.measures.register_gain(…), register_discount, "
            "register_continuation, a subclass of rankstone.comparison.GateRule",
        )


def _vocabulary() -> tuple[int, ...]:
    """Count the names and words that measures can be written with, and the rules of gates."""
    from rankstone.comparison import GateRule
    from rankstone.measures import DISCOUNTS, GAINS, MEASURES, MODELS

    return tuple(map(len, (MEASURES, GAINS, DISCOUNTS, MODELS, GateRule.known())))


def own_mistake(error: BaseException) -> UsageError | None:
    """Return the error for what went wrong in an imported file: where, and in its own words."""
    import traceback

    places = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    own = [(file, line) for file, line in places if file in _imported]
    if not own:
        return None
    file, line = own[-1]
    return UsageError(
        f"{type(error).__name__}: {printable(error)}",
        where=f"{os.path.relpath(file)}:{line}",
        fix="this is in your own code; RANKSTONE_TRACEBACK=1 in the environment shows the way there",
    )
