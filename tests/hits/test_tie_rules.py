"""Rules for tied documents: one table, which all rooms ask, so that a rule more is an entry there."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Final, get_args

import pytest

import rankstone
from rankstone.hits.alignment_options import CHOICES, ORDERINGS, AlignmentOptions
from rankstone.hits.tie_rules import TIES, Ties

PACKAGE: Final = Path(rankstone.__file__).parent
#: long ids first; a rule that only tests know
ENTRY: Final = """
    "docid_longest": TieRule(
        lambda tied: tied.ids().str.len_chars().cast(str).str.zfill(9) + tied.ids(),
        descending=True,
        needs_ids=True,
    ),
}
"""
PYTHON: Final = """
import rankstone

run = {"q": {"z": 1.0, "mid": 1.0, "long": 1.0, "low": 0.5}}
rule = {"ties": "docid_longest"}
for doc in run["q"]:
    judged = rankstone.evaluate({"q": {doc: 1}}, run, "RR", **rule)
    listed = rankstone.beyond(run, "Coverage@1", items={doc: {}}, **rule)
    alike = rankstone.diff(run, {"q": [doc]}, "Overlap@1", **rule)
    listed_first = listed.to_dict()["run"].values()
    print(doc, *judged.to_dict()["run"].values(), *listed_first, *alike.to_dict().values())
for docs in ("ab", "ba"):
    equal = rankstone.evaluate({"q": {"a": 1}}, {"q": dict.fromkeys(docs, 1)}, "RR", **rule)
    print(docs, *equal.to_dict()["run"].values())
rows = [{"query_id": 1, "relevance": 1, "score": 1.0}]
try:
    rankstone.evaluate(table=rows, measures="RR", **rule)
except rankstone.UsageError as error:
    print(error.what)
"""
#: options of alignment that ask about ties by the table; words that are no rules there
_OTHER_WORDS: Final = {"expected", "error", "input", "best", "worst"}


def test_every_word_has_a_rule() -> None:
    """The type that checkers read and the table that runs name the same, in the same order."""
    assert get_args(Ties) == tuple(TIES) == CHOICES["ties"]
    without_judgments = [word for word, rule in TIES.items() if not rule.needs_grades]
    assert list(ORDERINGS["ties"]) == without_judgments


@pytest.mark.parametrize("word", TIES)
def test_every_rule_is_of_one_kind(word: str) -> None:
    """It sorts by a key, or is a mean, or an error, or leaves rows where they are."""
    rule = TIES[word]
    kinds = [rule.key is not None, rule.closed_form, rule.refuses]
    assert sum(kinds) == (word != "input")
    assert not rule.descending or rule.key is not None
    assert AlignmentOptions(ties=word).tie_rule is rule  # type: ignore[arg-type]


def test_no_room_compares_words_of_rules() -> None:
    """What a rule means is read from the table: ``ties`` is compared with no word, and no list names rules."""
    words = {word for word in TIES if "_" in word}
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                texts = {
                    leaf.value
                    for leaf in ast.walk(node)
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
                }
                named = re.search(r"\bties\b", ast.unparse(node))
                if texts & words or (named and texts & _OTHER_WORDS):
                    wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert wrong == []


def python(folder: Path, package: Path, *words: str) -> str:
    """Run Python with a package in its path, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_adding_a_rule_is_an_entry(tmp_path: Path) -> None:
    """In a copy of the package, a word and its entry: commands, Python, lists without judgments, tables."""
    copy = tmp_path / "copy" / "rankstone"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / "hits" / "tie_rules.py"
    text = path.read_text("utf-8")
    text = text.replace('"reverse_input"]', '"reverse_input", "docid_longest"]')
    assert "docid_longest" in text
    path.write_text(text.rstrip().removesuffix("}").rstrip() + ENTRY, "utf-8")

    rows = {"z": 1.0, "mid": 1.0, "long": 1.0, "low": 0.5}
    lines = [f"q 0 {doc} 1 {score} x\n" for doc, score in rows.items()]
    (tmp_path / "run.txt").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("q 0 mid 1\n")
    words = ["-m", "rankstone", "eval", "qrels.txt", "run.txt", "-m", "RR"]
    done = python(
        tmp_path, copy.parent, *words, "--ties", "docid_longest", "--format", "csv"
    )
    assert "0.5" in done
    help_text = python(tmp_path, copy.parent, "-m", "rankstone", "eval", "--help-all")
    assert "docid_longest" in help_text

    assert python(tmp_path, copy.parent, "-c", PYTHON).splitlines() == [
        "z 0.3333333333333333 0.0 0.0",
        "mid 0.5 0.0 0.0",
        "long 1.0 1.0 1.0",
        "low 0.25 0.0 0.0",
        "ab 0.5",
        "ba 0.5",
        "ties=docid_longest needs a doc_id column, and there is none",
    ]


@pytest.mark.parametrize("order", [*permutations(["a", "b", "c"])])
def test_lists_without_judgments_are_ordered_by_the_same_rules(
    order: tuple[str, ...],
) -> None:
    """The first of three tied items by any rule, in lists with judgments and without."""
    run = {"q": dict.fromkeys(order, 1.0), "p": {"z": 1.0}}
    for word, rule in TIES.items():
        if rule.needs_grades or rule.refuses:
            continue
        [first] = [
            doc
            for doc in order
            if rankstone.evaluate({"q": {doc: 1}}, run, "P@1", ties=word).to_dict()
            == {"run": {"P@1": 1.0}}
        ]
        covered = [
            doc
            for doc in order
            if rankstone.beyond(run, "Coverage@1", items={doc: {}}, ties=word).to_dict()  # type: ignore[arg-type]
            == {"run": {"Coverage@1": 1.0}}
        ]
        assert covered == [first], word
