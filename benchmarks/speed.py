"""CPU seconds of three short cases beside those of the commit in ``baseline.txt``: a number that cannot rot.

``python benchmarks/speed.py`` takes turns between the working tree and the baseline, which is checked out
into a worktree and runs in the same environment, and compares the least user and system time of each.  The
exit status is 1 if a case is slower by more than ``--most`` per cent (25) twice in a row.  In a clone that
does not have the commit the reason is printed and the exit status is 0.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import data

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BASELINE = HERE / "baseline.txt"
#: the data are a twentieth of those of the benchmarks: 350,000 rows
SCALE = 0.05
RUNS = 5


def main() -> int:
    """Compare, again where something is slower, and print a row per case."""
    options = _options()
    commit = BASELINE.read_text(encoding="utf-8").split()[0]
    if _git("cat-file", "-e", f"{commit}^{{commit}}", check=False).returncode:
        print(
            f"skipped: this clone does not have {commit}, which {BASELINE.name} names: git fetch --unshallow"
        )
        return 0
    slower = []
    print(f"CPU seconds, least of {options.runs} in turns, beside {commit[:10]}\n")
    print("| case | then | now | now / then |\n|---|--:|--:|--:|")
    with _checked_out(commit) as then:
        for name, command in _cases().items():
            for _ in range(2):
                old, new = _least(command, [then / "src", ROOT / "src"], options.runs)
                print(
                    f"| {name} | {old:.3f} | {new:.3f} | {new / old:.2f} × |",
                    flush=True,
                )
                if new <= old * (1 + options.most / 100):
                    break
            else:
                slower.append(name)
    if slower:
        print(
            f"\nslower by more than {options.most:g} % twice in a row: {', '.join(slower)}"
        )
    return int(bool(slower))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="turns of each (5)")
    parser.add_argument(
        "--most", type=float, default=25.0, help="per cent that are allowed (25)"
    )
    return parser.parse_args()


def _cases() -> dict[str, list[str]]:
    """Return what is measured: two tiny files, Parquet, and a comparison."""
    into = data.folder(HERE / ".data", SCALE)
    data.ensure("passages", into, SCALE)
    demo = ROOT / "src" / "rankstone" / "demo"
    tiny = [str(demo / name) for name in ("qrels.txt", "bm25.run", "tfidf.run")]
    large = [str(into / f"passages.{name}.parquet") for name in ("qrels", "run")]
    five = ["-m", "nDCG@10 AP RR@10 R@100 P@10", "--format", "csv", "--quiet"]
    return {
        "eval, two small runs": ["eval", *tiny, *five],
        "eval, 350,000 rows of Parquet": ["eval", *large, *five],
        "compare, two small runs": ["compare", *tiny, "-m", "nDCG@10 AP", "--quiet"],
    }


def _least(command: list[str], sources: list[Path], runs: int) -> list[float]:
    """Return the least CPU seconds of a command with each source folder, one warm-up each."""
    least = [float("inf")] * len(sources)
    for turn in range(runs + 1):
        for at, source in enumerate(sources):
            given = os.environ | {"PYTHONPATH": str(source)}
            before = os.times()
            subprocess.run(
                [sys.executable, "-m", "rankstone", *command],
                env=given,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            after = os.times()
            spent = (
                after.children_user
                + after.children_system
                - before.children_user
                - before.children_system
            )
            least[at] = min(least[at], spent) if turn else least[at]
    return least


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a worktree with bytecode, as an installation has it."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made) / "then"
        _git("worktree", "add", "--quiet", "--detach", str(base), commit)
        try:
            for source in (base, ROOT):
                subprocess.run(
                    [sys.executable, "-m", "compileall", "-q", str(source / "src")],
                    check=True,
                )
            yield base
        finally:
            _git("worktree", "remove", "--force", str(base))


def _git(*words: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(shutil.which("git")), *words], cwd=ROOT, check=check, capture_output=True
    )


if __name__ == "__main__":
    sys.exit(main())
