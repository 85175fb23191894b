"""Run by a library's own interpreter: ``python running.py RUNNER < cases > numbers``.

Nothing of ours is imported here: the library answers in an environment of its own, whose pins and
versions cannot meet ours.  Every answer leaves at once, so a case that ends the process costs no other.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

#: seconds a library may think about a case
PATIENCE = int(os.environ.get("RANKSTONE_PATIENCE", "120"))


#: this machine: a cluster of Spark is on it
_HERE = frozenset(
    {"localhost", "127.0.0.1", "::1", "0.0.0.0", "", "None", platform.node()}  # noqa: S104
)


def load(runner: str) -> Any:
    """Return a runner's module."""
    spec = importlib.util.spec_from_file_location(f"runner_{Path(runner).stem}", runner)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(
        module, "LIKE"
    ):  # another version of a library, which differs in what the module says
        later = vars(load(str(Path(runner).with_name(module.LIKE))))
        vars(module).update(
            {name: value for name, value in later.items() if name not in vars(module)}
        )
    return module


def answer(runner: str) -> None:
    """Score every case and print one JSON line for each; the last line is what is installed."""
    module = load(runner)
    out = sys.stdout
    sys.stdout = sys.stderr  # libraries like to talk
    for line in sys.stdin:
        case = json.loads(line)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)  # ends loops in C, too
        out.write(json.dumps(answers(module, case, case["measures"])) + "\n")
        out.flush()
    faulthandler.cancel_dump_traceback_later()
    out.write(json.dumps(_installed(module)) + "\n")


def stay_offline(event: str, args: tuple[Any, ...]) -> None:
    """Refuse connections to other machines: some libraries report their use, or ask services."""
    address = (
        args[1]
        if event == "socket.connect"
        else args
        if event == "socket.getaddrinfo"
        else None
    )
    if isinstance(address, tuple) and str(address[0]) not in _HERE:
        raise PermissionError(
            f"no connection to {address[0]}: libraries answer offline"
        )


def answers(module: Any, case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Score a case; where that raises, each measure alone: what one stumbles over costs no other."""
    try:
        return dict(module.score(case, measures))
    except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
        if len(measures) == 1:
            return {measures[0]: {"error": f"{type(error).__name__}: {error}"}}
    return {
        name: value
        for each in measures
        for name, value in answers(module, case, [each]).items()
    }


def _installed(module: Any) -> str:
    """Return the package that answered and its version; the first that a runner requires, unless it says."""
    wanted = (text for text in module.REQUIRES if not text.startswith("-"))
    package = getattr(module, "PACKAGE", None) or re.split(r"[<>=!]", next(wanted))[0]
    return f"{package} {version(package)}"


if __name__ == "__main__":
    sys.addaudithook(stay_offline)
    answer(sys.argv[1])
