"""Compare the recordings of two versions: ``python tests/regression/compare.py COMMIT [--short]``.

Records the package at COMMIT and in the working tree, lists numbers that differ, and shows the changes of
wording as a diff.  A number may differ only where ``changes.toml`` says which and why.
"""

from __future__ import annotations

import difflib
import fnmatch
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: lines of each kind that are shown
_SHOWN = 40


def announced() -> list[dict[str, Any]]:
    """Return the changes that are meant to be."""
    return tomllib.loads((HERE / "changes.toml").read_text(encoding="utf-8")).get(
        "change", []
    )


def different(
    before: Mapping[str, str],
    after: Mapping[str, str],
    changes: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[str, bool]]:
    """Yield a line for each number that is another one, new or gone, and whether a change announces it.

    A change with ``was_refused`` announces only what was refused before, and the values that came in its
    place: a number that was there before is never covered.
    """
    refused = {key for key, value in before.items() if value.startswith("refused: ")}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) == after.get(key):
            continue
        words = key.split(" ")
        new = key not in before and any(
            " ".join(words[:index]) in refused for index in range(1, len(words))
        )
        known = any(
            fnmatch.fnmatchcase(key, change["number"])
            and (not change.get("was_refused") or new or key in refused)
            for change in changes
        )
        yield (
            f"{key}: {before.get(key, 'not recorded')} → {after.get(key, 'not recorded')}",
            known,
        )


def _numbers(path: Path) -> Iterator[tuple[str, str]]:
    """Yield keys and values; a key that occurs again counts its occurrences."""
    seen: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        key, _, value = line.partition("\t")
        seen[key] = seen.get(key, 0) + 1
        yield (key if seen[key] == 1 else f"{key} #{seen[key]}"), value


def recorded(source: Path, folder: Path, *more: str) -> Path:
    """Record the package of a source folder in a process of its own."""
    inputs = os.environ | {
        "PYTHONPATH": str(source),
        "COLUMNS": "100",
        "PYTHONHASHSEED": "0",
    }
    subprocess.run(
        [sys.executable, str(HERE / "record.py"), str(folder), *more],
        check=True,
        env=inputs,
    )
    return folder


def _git(*words: str) -> None:
    subprocess.run([str(shutil.which("git")), *words], cwd=ROOT, check=True)


def main(commit: str, *more: str) -> int:
    """Compare, and return how many numbers differ that no change announces."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made) / "base"
        _git("worktree", "add", "--quiet", "--detach", str(base), commit)
        try:
            old = recorded(base / "src", Path(made) / "before", *more)
            new = recorded(ROOT / "src", Path(made) / "after", *more)
            was, now = (
                dict(_numbers(position / "numbers.txt")) for position in (old, new)
            )
            before, after = (
                (position / "words.txt").read_text(encoding="utf-8").splitlines()
                for position in (old, new)
            )
        finally:
            _git("worktree", "remove", "--force", str(base))
    lines = list(different(was, now, announced()))
    other = [line for line, known in lines if not known]
    words = list(
        difflib.unified_diff(before, after, "before", "after", lineterm="", n=1)
    )
    for shown in (other[:_SHOWN], words[:_SHOWN]):
        sys.stdout.writelines(f"{line}\n" for line in shown)
    summary = f"{len(lines)} numbers differ, {len(other)} of them unannounced; {len(words)} lines of wording"
    sys.stdout.write(f"{summary}\n")
    return len(other)


if __name__ == "__main__":
    sys.exit(1 if main(*itertools.islice(sys.argv, 1, None)) else 0)
