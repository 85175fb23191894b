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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: lines of each kind that are shown
_SHOWN = 40


def announced() -> list[str]:
    """Return the keys, as patterns, of numbers that are meant to change."""
    told = tomllib.loads((HERE / "changes.toml").read_text(encoding="utf-8")).get("change", [])
    return [change["number"] for change in told]


def different(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each number that is another one, new or gone."""
    old, new = (dict(_numbers(path)) for path in (before, after))
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield f"{key}: {old.get(key, 'not recorded')} → {new.get(key, 'not recorded')}"


def _numbers(path: Path) -> Iterator[tuple[str, str]]:
    """Yield keys and values; a key that occurs again counts its occurrences."""
    seen: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        key, _, value = line.partition("\t")
        seen[key] = seen.get(key, 0) + 1
        yield (key if seen[key] == 1 else f"{key} #{seen[key]}"), value


def recorded(source: Path, folder: Path, *more: str) -> Path:
    """Record the package of a source folder in a process of its own."""
    given = os.environ | {"PYTHONPATH": str(source), "COLUMNS": "100", "PYTHONHASHSEED": "0"}
    subprocess.run([sys.executable, str(HERE / "record.py"), str(folder), *more], check=True, env=given)
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
            lines = list(different(old / "numbers.txt", new / "numbers.txt"))
            before, after = ((at / "words.txt").read_text(encoding="utf-8").splitlines() for at in (old, new))
        finally:
            _git("worktree", "remove", "--force", str(base))
    patterns = announced()
    other = [line for line in lines if not any(fnmatch.fnmatchcase(line, f"{one}: *") for one in patterns)]
    words = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=1))
    for shown in (other[:_SHOWN], words[:_SHOWN]):
        sys.stdout.writelines(f"{line}\n" for line in shown)
    told = f"{len(lines)} numbers differ, {len(other)} of them unannounced; {len(words)} lines of wording"
    sys.stdout.write(f"{told}\n")
    return len(other)


if __name__ == "__main__":
    sys.exit(1 if main(*itertools.islice(sys.argv, 1, None)) else 0)
