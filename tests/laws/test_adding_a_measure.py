"""A measure is added in four places, and everything else follows: tried in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rankstone.measures

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(rankstone.__file__).parent
FAMILY = Path(rankstone.measures.__file__).parent / "reciprocal_rank.py"

MEASURE = '''

@dataclass(frozen=True, kw_only=True)
class Top(BinaryMeasure):
    """Top: whether the first document is relevant.

    >>> print(Top(rel=2))
    Top(rel=2)
    """

    family = "reciprocal rank"
    takes_cutoff = False
    card = Card(
        sentence="Is the first result relevant?",
        formula="Top = b_1",
        symbols="b_1: 1 if the document at rank 1 is relevant",
        example="relevant at ranks 1 and 3: 1",
        sensitive="ties at the first rank",
        use="one answer is shown",
        citation="this test",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Give a relevant document at the first rank 1."""
        return Contributions(self.relevant_hits(hits, 1), np.ones(hits.queries))
'''
EXAMPLE = """
- id: Top
  source: source 000
  grades: [1, 0, 1]
  measures:
    - {measure: "Top", value: "1", stated: "1"}
"""
#: what is written by hand: file → how its text changes
PLACES: dict[Path, Callable[[str], str]] = {
    FAMILY: lambda text: text + MEASURE,
    ROOT / "tests/golden/examples.yaml": lambda text: text + EXAMPLE,
    ROOT / "tests/oracle/oracle.py": lambda text: text.replace(
        '    "RR": reciprocal_rank,\n',
        '    "RR": reciprocal_rank,\n    "Top": lambda facts, spec: float(hits_until(facts, spec, 1)),\n',
    ),
    ROOT / "docs/making/measures.zh.yaml": lambda text: re.sub(
        r"^( +)RR: .*\n",
        r"\g<0>\g<1>Top: 第一个结果相关吗？\n",
        text,
        flags=re.MULTILINE,
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project in which a measure was added in four places and ``make pages`` was run."""
    here = tmp_path_factory.mktemp("project")
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, here / "src" / "rankstone", ignore=leave)
    for folder in ("docs", "tests/golden", "tests/oracle", "tests/laws"):
        shutil.copytree(ROOT / folder, here / folder, ignore=leave)
    for path in (ROOT / "pyproject.toml", *(ROOT / "tests").glob("*.py")):
        shutil.copy(path, here / path.relative_to(ROOT))
    for path, change in PLACES.items():
        there = (
            here / "src" / "rankstone" / path.relative_to(PACKAGE)
            if path == FAMILY
            else here / path.relative_to(ROOT)
        )
        before = there.read_text(encoding="utf-8")
        assert change(before) != before, path
        there.write_text(change(before), encoding="utf-8")
    python(here, "-m", "docs.making", "catalogue")
    return here


def python(here: Path, *words: str) -> str:
    """Run Python in the copy, whose package is the one that is imported, and return what it prints."""
    paths = os.pathsep.join([str(here / "src"), str(here)])
    inputs = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=here,
        env=inputs,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


def test_it_is_a_measure_like_any_other(copy: Path) -> None:
    """It is imported, read, listed and printed; its page and its line in Chinese are made."""
    code = "from rankstone.measures import Top, parse_measure; print(Top(rel=2), parse_measure('top') == Top())"
    assert python(copy, "-c", code) == "Top(rel=2) True\n"
    assert "Is the first result relevant?" in python(
        copy, "-m", "rankstone", "measures", "show", "Top"
    )
    assert "### Top\n" in python(
        copy, "-m", "rankstone", "measures", "list", "--format", "md"
    )
    assert "第一个结果相关吗" in python(
        copy, "-c", "from docs.making.measures import *; print(chinese(families()))"
    )
    assert "import Top as Top" in (
        copy / "src/rankstone/measures/__init__.pyi"
    ).read_text(encoding="utf-8")


def test_it_is_held_to_everything(copy: Path) -> None:
    """Its example is recomputed by engine and oracle, it is in the tables of laws and keeps them."""
    tests = [
        "tests/golden/test_examples.py",
        "tests/laws/test_every_measure.py",
        "tests/laws/test_oracle.py",
    ]
    code = "from tests.laws.table import ALL, FAMILIES; print('Top' in ALL, FAMILIES['rest'])"
    assert python(copy, "-c", code) == "True ('Top',)\n"
    chosen = python(
        copy,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "Top or rest",
        *tests,
    )
    passed = re.search(r"(\d+) passed", chosen)
    assert passed
    assert int(passed[1]) >= 5
