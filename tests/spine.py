"""How far ``rankstone eval`` goes to its number: ``python tests/spine.py`` prints files and functions.

Counted are files and functions of ours that are entered while the command runs (imports aside), and, of the
functions on the way from the command to the contributions of a measure, how many are ours.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

SOURCE = str(Path(__file__).resolve().parents[1] / "src" / "rankstone")
#: names of code that is no function: bodies of modules and classes, comprehensions
_NO_FUNCTIONS = (
    "<module>",
    "<listcomp>",
    "<dictcomp>",
    "<setcomp>",
    "<genexpr>",
    "<lambda>",
)


def measured(arguments: list[str]) -> tuple[set[str], list[str]]:
    """Return the files entered by a command, and the functions on the way to the number."""
    from click.testing import CliRunner

    from rankstone.cli import cli

    CliRunner().invoke(cli, arguments)  # whatever is imported is imported now
    files: set[str] = set()
    ways: list[list[str]] = []
    values: dict[str, list[str]] = {}

    def entered(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            event != "call"
            or not code.co_filename.startswith(SOURCE)
            or code.co_name in _NO_FUNCTIONS
        ):
            return
        files.add(code.co_filename.removeprefix(SOURCE + "/"))
        way = _way(frame)
        outer = way[0].partition(".<locals>")[0]
        if (
            outer != way[0]
        ):  # work of another thread, which the function around it handed over
            way = values.get(outer, []) + way
        values.setdefault(way[-1], way)
        if code.co_name == "contributions":
            ways.append(way)

    threading.setprofile(entered)
    sys.setprofile(entered)
    try:
        CliRunner().invoke(cli, arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files, min(ways, key=len)


def _way(frame: FrameType | None) -> list[str]:
    """Return the functions of ours that a frame was called through, in its own thread."""
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE) and code.co_name not in _NO_FUNCTIONS:
            lines.append(
                f"{code.co_filename.removeprefix(SOURCE + '/')}:{code.co_qualname}"
            )
        frame = frame.f_back
    return lines[::-1]


if __name__ == "__main__":
    demo = Path(SOURCE) / "demo"
    result, spine = measured(
        ["eval", str(demo / "qrels.txt"), str(demo / "bm25.run"), "-m", "nDCG@10 AP"]
    )
    print(f"{len(result)} files entered: {' '.join(sorted(result))}")  # noqa: T201 - what it is for
    print(f"{len(spine)} functions deep:", *spine, sep="\n  ")  # noqa: T201
