"""A count of an audit is declared once, with its sentence; everything else follows from the declaration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import rankstone
from rankstone.hits.tallies import ListCounts
from rankstone.online.retention_audit import RegistrationsAudit, RetentionAudit
from rankstone.rankings.rank_similarity.lists_audit import RankingAudit

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(rankstone.__file__).parent

DECLARED = """    rows: int = 0
    short: int = field(default=0, metadata=_warning("{short:list} of one document"))
"""
#: the file, and how its text changes: the declaration, where it is counted, and a column of pages
PLACES: dict[str, Callable[[str], str]] = {
    "hits/tallies.py": lambda text: text.replace(
        "    rows: int = 0\n", DECLARED
    ).replace(
        "        tied_float32=near_ties(batch),\n",
        "        tied_float32=near_ties(batch),\n        short=int((hits.n == 1).sum()),\n",
    ),
    "tables/locales/en.toml": lambda text: text.replace(
        "\ncount_tied =", '\ncount_short = "short ones"\ncount_tied ='
    ),
    "tables/locales/zh.toml": lambda text: text.replace(
        "\ncount_tied =", '\ncount_short = "单文档"\ncount_tied ='
    ),
}
USE = """
import json, sys
import rankstone
from rankstone.evaluation import evaluate_out_of_core

qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"c": 1}}
runs = {"one": {"q1": {"a": 2.0}, "q2": {"a": 1.0, "b": 0.5}, "q3": {"c": 1.0}}}
runs["two"] = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"c": 3.0, "a": 1.0}}
scores = rankstone.evaluate(qrels, runs, "P@1")
print(json.dumps(scores.audit.to_dict()))
print(scores.audit.lines())
print(scores.audit.brief())
print(json.dumps(evaluate_out_of_core(qrels, runs, "P@1", memory="800MB").audit.to_dict()))
for lang in ("en", "zh"):
    comparison = rankstone.compare(qrels, runs, "P@1", lang=lang)
    rankstone.report(comparison, f"{sys.argv[1]}/{lang}.html")
"""


def test_a_count_is_added_by_its_declaration(tmp_path: Path) -> None:
    """In a copy with one more: it is added up in memory and over parts, and is in JSON, text and pages."""
    copy = tmp_path / "src" / "rankstone"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, change in PLACES.items():
        before = (copy / name).read_text("utf-8")
        after = change(before)
        assert after != before, name
        (copy / name).write_text(after, "utf-8")

    done = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    in_memory, lines, brief, in_parts = done.stdout.splitlines()

    for audit in (json.loads(in_memory), json.loads(in_parts)):
        assert [run["short"] for run in audit["runs"].values()] == [2, 1]
    assert "2 lists of one document" in lines
    assert "one: 2 lists of one document" in brief
    for lang, label in (("en", "short ones"), ("zh", "单文档")):
        page = (tmp_path / f"{lang}.html").read_text("utf-8")
        assert f">{label}</th>" in page


def test_sentences_name_counts_that_are_there() -> None:
    """Each place in a declared sentence is a field or a property of its audit."""
    wrong = []
    for audit in (ListCounts, RankingAudit, RegistrationsAudit, RetentionAudit):
        known = {declared.name for declared in fields(audit)} | {*dir(audit)}
        wrong += [
            f"{audit.__name__}.{declared.name}: {sentence}"
            for declared in fields(audit)
            for sentence in declared.metadata.values()
            if not {*re.findall(r"\{(\w+)", sentence)} <= known
        ]

    assert wrong == []
