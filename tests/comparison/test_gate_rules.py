"""Rules of a gate: each is a class that is found, so a further one is a file and its sentences."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

import rankstone
from rankstone.comparison import Drops, Floor, GateRule, Margin, Rule
from rankstone.errors import UsageError

#: a rule with one setting, which looks at both columns of the matrix
LOSERS: Final = '''
"""The rule ``losers``: the share of queries that may lose anything."""

from dataclasses import dataclass

from rankstone.comparison.gate_rules import GateRule


@dataclass(frozen=True)
class Losers(GateRule):
    """The largest share of queries that may lose anything."""

    name = "losers"
    example = "0.25"

    most: float

    def check(self, matrix, candidate):
        """Count the queries that lose."""
        share = float((matrix.sign * matrix.differences(1, 0) < 0).mean())
        numbers = {"share": share}
        passed = share <= self.most
        yield self.outcome(matrix, candidate, SENTENCE, passed=passed, numbers=numbers)
'''
CONFIG: Final = """
[gate]
qrels = "qrels.txt"
baseline = "old.run"
candidate = "new.run"
[[gate.rules]]
measure = "RR"
losers = LIMIT
"""
PYTHON: Final = """
import rankstone
from rankstone.comparison.gate_rules.losers import Losers
files = {"qrels": "qrels.txt", "baseline": "old.run", "candidate": "new.run"}
for rule in ({"measure": "RR", "losers": 0.5}, rankstone.comparison.Rule("RR", (Losers(0.4),))):
    gate = rankstone.gate({**files, "rules": [rule]})
    print(gate.verdict, gate.outcomes[0].text)
"""


def command(
    folder: Path, package: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with a package in its path."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package), "PYTHONIOENCODING": "utf-8"},
        check=False,
        capture_output=True,
        encoding="utf-8",
    )


def files(folder: Path, limit: str) -> None:
    """Write a gate whose candidate loses on one of two queries."""
    (folder / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    (folder / "old.run").write_text("q1 0 a 1 2 x\nq2 0 b 1 2 x\nq2 0 a 2 1 x\n")
    (folder / "new.run").write_text("q1 0 b 1 2 x\nq1 0 a 2 1 x\nq2 0 a 1 2 x\n")
    (folder / "rankstone.toml").write_text(CONFIG.replace("LIMIT", limit))


def test_adding_a_rule_is_one_file_and_its_sentences(tmp_path: Path) -> None:
    """In a copy of the package: from TOML and from Python, in both languages."""
    package = Path(rankstone.__file__).parent
    copy = tmp_path / "copy" / "rankstone"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    rule = LOSERS.replace("SENTENCE", '"losers"')
    (copy / "comparison" / "gate_rules" / "losers.py").write_text(rule)
    for lang, text in (
        ("en", "{share:.0%} of queries lose, allowed: {most:.0%}"),
        ("zh", "{share:.0%} 的查询变差，允许：{most:.0%}"),
    ):
        path = copy / "tables" / "locales" / f"{lang}.toml"
        sentences = path.read_text("utf-8")
        section = re.sub(r"(?m)^\[gate\].*$", rf'\g<0>\nlosers = "{text}"', sentences)
        path.write_text(section, "utf-8")

    files(tmp_path, "0.4")
    gate = ["-m", "rankstone", "gate"]
    english = command(tmp_path, copy.parent, *gate)
    chinese = command(tmp_path, copy.parent, *gate, "--lang", "zh")
    (tmp_path / "rankstone.toml").write_text(CONFIG.replace("LIMIT", '"many"'))
    wrong = command(tmp_path, copy.parent, *gate)
    python = command(tmp_path, copy.parent, "-c", PYTHON)

    assert english.returncode == 1
    assert re.search("✘ +RR losers +50% of queries lose, allowed: 40%", english.stdout)
    assert "50% 的查询变差，允许：40%" in chinese.stdout
    assert "[gate.rules] losers = 'many'" in wrong.stderr
    assert python.stdout.splitlines() == [
        "pass 50% of queries lose, allowed: 50%",
        "fail 50% of queries lose, allowed: 40%",
    ], python.stderr


def test_a_rule_of_the_users_own(tmp_path: Path) -> None:
    """A file that ``--import`` names needs no sentences of ours."""
    sentence = '"{share:.0%} of queries lose, allowed: {most:.0%}"'
    (tmp_path / "own.py").write_text(LOSERS.replace("SENTENCE", sentence))
    files(tmp_path, "0.5")
    package = Path(rankstone.__file__).parents[1]
    words = ["-m", "rankstone", "gate", "--import", "own.py"]
    done = command(tmp_path, package, *words)

    assert done.returncode == 0, done.stderr
    assert "50% of queries lose, allowed: 50%" in done.stdout


@pytest.mark.parametrize(
    ("settings", "conditions"),
    [
        ({"floor": 0.5}, (Floor(0.5),)),
        ({"floor": Floor(0.5)}, (Floor(0.5),)),
        ({"floor": {"least": 0.5}}, "floor = {'least': 0.5}"),
        ({"drops": {"by": 0.5}}, (Drops(by=0.5, most=0),)),
        ({"drops": Drops(by=0.5)}, (Drops(by=0.5),)),
        ({"drops": 0.5}, "drops = 0.5"),
        ({"drops": {"most": 1}}, "[gate.rules.drops] lacks by"),
        ({"drop": {"by": 1}}, "[gate.rules] has no setting drop"),
    ],
)
def test_one_setting_is_a_value_and_several_are_a_table(
    settings: dict[str, object], conditions: object
) -> None:
    """Whatever the class of the rule declares; an instance of it stands for itself."""
    rule = {"measure": "AP", **settings}
    parts = {"baseline": {}, "candidate": {}, "rules": [rule]}
    if isinstance(conditions, str):
        with pytest.raises(UsageError, match=re.escape(conditions)):
            rankstone.comparison.Config.of(parts, {})
    else:
        config = rankstone.comparison.Config.of(parts, {})
        assert config.rules == (Rule("AP", conditions),)  # type: ignore[arg-type]


def test_every_rule_says_what_it_is() -> None:
    """A key, an example that is valid, a sentence of explanation, and a row of the page."""
    page = (Path(__file__).parents[2] / "docs" / "gate.md").read_text("utf-8")
    for name, rule in GateRule.known().items():
        assert f"`{name}`" in page
        assert rule.__doc__
        assert rule.example


def test_columns_in_a_text_are_shown_as_a_table() -> None:
    """Names as they are typed at a shell: the fix is TOML, and says the same."""
    rule = {"measure": "RR", "floor": 0.5}
    config = {
        "qrels": {"q": {"d": 1}},
        "baseline": {"q": ["d"]},
        "candidate": {"q": ["d"]},
        "options": {"columns": "question=query_id,id=doc_id"},
        "rules": [rule],
    }
    with pytest.raises(UsageError, match="columns") as refused:
        rankstone.gate(config)
    _, _, line = str(refused.value.fix).partition(": ")
    names = {"question": "query_id", "id": "doc_id"}
    assert tomllib.loads(line) == {"columns": names}


@pytest.mark.parametrize("few", [0.1028, 0.107, 0.3363, 0.4999])
def test_margins_in_texts_are_true(few: float) -> None:
    """What is to be reached is never below the limit, and what does not pass never above it."""
    planned = Margin("AP", 0.01, 34, few=few, many=0.001, enough=36)
    passing = replace(planned, margin=1.0).text()
    reached = re.search(r"must be ([\d.]+) or more", planned.text())
    below = re.search(r"no margin below ([\d.]+) passes", passing)
    assert reached
    assert float(reached[1]) >= few
    assert below
    assert float(below[1]) <= few
    assert planned.text().endswith("36 queries would be enough for 0.01")


@pytest.mark.parametrize(
    ("margin", "english", "chinese"),
    [
        (0.0, "only a candidate that is clearly better", "只有明显更好"),
        (
            0.6,
            "an unchanged candidate can pass; with these queries no margin below 0.5 passes",
            "低于 0.5 时无法通过",
        ),
        (
            0.2,
            "if few change, the margin must be 0.5 or more; 7 queries",
            "不低于 0.5；7 个查询",
        ),
        (
            0.05,
            "cannot pass; the margin must be 0.1 or more; 7 queries",
            "无法通过；允许的损失须不低于 0.1；7 个查询",
        ),
    ],
)
def test_margins_are_planned_in_both_languages(
    margin: float, english: str, chinese: str
) -> None:
    """Whether an unchanged candidate passes, and how many queries it takes."""
    planned = Margin("AP", margin, 1200, few=0.5, many=0.1, enough=7)
    assert planned.text().startswith(f"AP: margin {margin:g}, 1,200 queries: ")
    assert planned.text("zh").startswith(f"AP：允许的损失 {margin:g}，1,200 个查询：")
    assert english in planned.text()
    assert chinese in planned.text("zh")
