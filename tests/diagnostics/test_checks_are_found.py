"""Checks of files: each is a class that is found, so a further one is a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

import rankstone
from rankstone.diagnostics.file_checks import CheckedFile, FileCheck

if TYPE_CHECKING:
    from rankstone.diagnostics.findings import Finding

#: what looks at rows of runs alone, and what looks at a run beside the judgments
CHECKS: Final = '''
"""Long lists."""

import polars as pl

from rankstone.diagnostics.file_checks import BadRows, FileCheck
from rankstone.diagnostics.findings import Finding


class Halves(BadRows):
    """Scores of one half."""

    looks_at = ("run",)
    level = "note"
    sentence = "{n:,} {n:row|rows} with a score of one half"
    advice = "look at them"

    def rows(self, file):
        """Return them."""
        return file.frame.filter(pl.col("score") == 0.5)


class FewJudgments(FileCheck):
    """Fewer judgments than rows."""

    looks_at = ("run in judgments",)

    def findings(self, file):
        """Say so."""
        if len(file.judgments) < len(file.frame):
            yield Finding("note", "there are more rows than judgments")
'''
PYTHON: Final = """
import rankstone
run = {"q": {"a": 0.5, "b": 0.25, "c": 0.5}}
print([[finding.what for finding in file.findings if "half" in finding.what or "more" in finding.what]
       for file in rankstone.check({"q": {"a": 1, "b": 0}}, run).files])
print(len(rankstone.check(None, run).files))
"""


def test_adding_a_check_is_one_file(tmp_path: Path) -> None:
    """In a copy of the package: the command and Python find what it finds."""
    package = Path(rankstone.__file__).parent
    copy = tmp_path / "copy" / "rankstone"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "diagnostics" / "file_checks" / "halves.py").write_text(CHECKS)
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "a.run").write_text("q 0 a 1 0.5 x\nq 0 b 2 0.25 x\nq 0 c 3 0.5 x\n")

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(copy.parent)},
            check=False,
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout

    printed = run("-m", "rankstone", "check", "qrels.txt", "a.run", "-v")
    text = (
        "note:    2 rows with a score of one half (query q, document a); look at them"
    )
    assert text in printed
    assert "there are more rows than judgments" in printed
    rows = "2 rows with a score of one half", "there are more rows than judgments"
    assert run("-c", PYTHON).splitlines() == [f"{[[], [*rows]]}", "1"]


def judged(frame: pl.DataFrame) -> list[Finding]:
    """Return what all checks find in judgments."""
    file = CheckedFile("judgments", frame, {}, by="relevance")
    return list(FileCheck.all_findings(file))


def test_checks_look_at_their_own_kind_of_file() -> None:
    """A file beside another is looked at only if there is another."""
    frame = pl.DataFrame(
        {"query_id": ["q", "q"], "doc_id": ["a", None], "relevance": [1.0, -1.0]}
    )
    assert [finding.what for finding in judged(frame)] == [
        "1 row without doc_id",
        "1 grade below zero",
    ]
    run = CheckedFile("run", frame.drop("relevance"), {})
    alone = [finding.what for finding in FileCheck.all_findings(run)]
    assert alone == ["1 row without doc_id"]
    other = frame.with_columns(query_id=pl.lit("p")).drop_nulls()
    beside = CheckedFile("run", frame.drop("relevance"), {}, judgments=other)
    sentences = [finding.what for finding in FileCheck.all_findings(beside)]
    assert sentences == [*alone, "no query of the run is judged"]


def test_every_check_says_what_it_finds() -> None:
    """A line for readers of the code; the kinds it looks at are kinds that there are."""
    pairs = {"query_id": ["q", "q"], "doc_id": ["a", "b"]}
    assert not judged(pl.DataFrame({**pairs, "relevance": [1, 0]}))
    files = {"judgments", "training", "run"}
    checks = FileCheck._known  # noqa: SLF001 - all of them
    assert len(checks) > 15
    for check in checks:
        assert check.__doc__
        for kind in check.looks_at:
            file, _, other = kind.partition(" in ")
            assert file in files
            assert other in files | {""}
