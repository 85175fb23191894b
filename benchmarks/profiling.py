"""Where the time of a command goes: imports, and the self time of every room of the package.

``python benchmarks/profiling.py eval QRELS RUN`` runs the command several times: as it is, with one
thread, with ``-X importtime`` and under cProfile.  It prints tables in Markdown: wall and CPU seconds with
and without threads, imports by package, and self time by room.  Without a command it is `eval` of the demo's
two runs.
"""

from __future__ import annotations

import os
import pstats
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "src" / "rankstone" / "demo"
RUNS = 5
_TABLE = "\n| {} | {} | {} |\n|---|--:|--:|"
#: rows of a table that are shown
SHOWN = 14
#: rooms → what a reader would call it
PHASES = {
    "io": "scan",
    "hits": "pairing",
    "measures": "measures",
    "evaluation": "orchestration",
    "tables": "output",
    "cli": "output",
}


def main(command: list[str]) -> int:
    """Print the tables for a command."""
    words = command or [
        "eval",
        *(str(DEMO / name) for name in ("qrels.txt", "bm25.run", "tfidf.run")),
    ]
    print(_TABLE.format("whole process", "wall s", "CPU s"))
    for name, threads in (
        ("threads", {}),
        ("one thread", {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    ):
        wall, cpu = map(
            min, zip(*(_timed(words, threads) for _ in range(RUNS)), strict=True)
        )
        print(f"| {name} | {wall:.3f} | {cpu:.3f} |")
    _rows("import of", "own ms", "modules", _imports(words))
    _rows("self time of", "ms", "calls", _self_times(words))
    return 0


def _timed(words: list[str], more: dict[str, str]) -> tuple[float, float]:
    before, start = os.times(), time.perf_counter()
    _run(["-m", "rankstone", *words], more)
    wall, after = time.perf_counter() - start, os.times()
    return (
        wall,
        after.children_user
        + after.children_system
        - before.children_user
        - before.children_system,
    )


def _run(words: list[str], more: dict[str, str] | None = None) -> str:
    """Run Python, and return what it says on standard error."""
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | (more or {}),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stderr


def _imports(words: list[str]) -> dict[str, tuple[float, int]]:
    """Return the own time of imports by package, and by room for ours."""
    spent, modules = Counter[str](), Counter[str]()
    for line in _run(["-X", "importtime", "-m", "rankstone", *words]).splitlines():
        if found := re.match(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", line):
            package = _room(found[2])
            spent[package] += int(found[1])
            modules[package] += 1
    return {name: (micro / 1000, modules[name]) for name, micro in spent.items()}


def _room(module: str) -> str:
    """Return a package, or a room of ours.

    >>> _room("polars.lazyframe"), _room("rankstone.io.trec_text")
    ('polars', 'rankstone.io')
    """
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "rankstone" else parts[0]


def _self_times(words: list[str]) -> dict[str, tuple[float, int]]:
    """Return self time under cProfile by room; of other packages their own functions, whoever calls them."""
    with tempfile.TemporaryDirectory() as made:
        kept = Path(made) / "profile"
        # os._exit, by which commands end, would keep the profile from being written
        script = (
            "import cProfile, os, sys; p = cProfile.Profile(); sys.argv[0] = 'rankstone'\n"
            f"os._exit = lambda code: (p.disable(), p.dump_stats({str(kept)!r}), os.kill(os.getpid(), 9))\n"
            "p.enable(); from rankstone.cli import main; main(sys.argv[1:])"
        )
        subprocess.run(
            [sys.executable, "-c", script, *words], check=False, capture_output=True
        )
        found = pstats.Stats(str(kept)).stats  # type: ignore[attr-defined]
    spent, calls = Counter[str](), Counter[str]()
    for (file, _, function), (_, count, own, *_) in found.items():
        place = re.search(r"(?:site-packages|src)/([\w/]+)", file)
        inner = (
            place[1].replace("/", ".")
            if place
            else "built in"
            if file == "~"
            else "Python"
        )
        inner = (
            "imports"
            if "importlib" in file or "exec" in function or "marshal" in function
            else inner
        )
        room = _room(inner)
        phase = (
            PHASES.get(room.removeprefix("rankstone."), "")
            if room.startswith("rankstone")
            else ""
        )
        name = f"{room} ({phase})" if phase else room
        spent[name] += own * 1000
        calls[name] += count
    return {name: (milli, calls[name]) for name, milli in spent.items()}


def _rows(
    what: str, spent: str, count: str, found: dict[str, tuple[float, int]]
) -> None:
    print(_TABLE.format(what, spent, count))
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    for name, (milli, times) in ranked[:SHOWN]:
        print(f"| {name} | {milli:.1f} | {times:,} |")
    print(
        f"| all | {sum(milli for milli, _ in found.values()):.1f} | {sum(n for _, n in found.values()):,} |"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
