"""What each command shows first at 80 columns: a screen of 25 lines, in both languages, and what ``-v`` adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from docs.making.printed import typed
from rich.cells import cell_len
from tests.rows import each

if TYPE_CHECKING:
    from pathlib import Path

WIDTH: Final = 80
#: lines of a screen
SCREEN: Final = 25
#: of six systems by four measures
MANY: Final = 45

BOARDS: Final = "examples/boards"
TASK: Final = "examples/shared-task"
#: commands with their files, in the folder that ``rankstone demo --copy`` writes
LINES: Final = (
    "check qrels.txt bm25.run tfidf.run",
    "check qrels.txt",
    f"slices --scores {BOARDS}/rankers.csv --queries {BOARDS}/queries.csv -m nDCG@10 --margin 0.05",
    "slices qrels.txt bm25.run dense.run --queries queries.csv --min-size 10",
    "gate",
    "gate --candidate runs/new.run --inconclusive warn",
    "explain qrels.txt bm25.run -q q01 -m nDCG@10",
    "explain qrels.txt bm25.run -q q08 -m nDCG@10",
    "explain qrels.txt bm25.run -q q09 -m AP",
    'explain --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 -m "nDCG(gain=exp2)@5"',
    "explain qrels.txt bm25.run -q q31 -m nDCG@10 --versus dense.run",
    f"board {BOARDS}/retrievers.csv --missing model",
    f"board --pairs {BOARDS}/battles.csv --cluster judge,prompt --covariates position",
    "collection qrels.txt bm25.run tfidf.run",
    f"collection {TASK}/qrels.txt {TASK}/runs",
    f"collection {TASK}/qrels.txt {TASK}/runs --teams {TASK}/teams.csv",
)
SPOKEN: Final = tuple(line for line in LINES if not line.startswith("check"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages' files."""
    place = tmp_path_factory.mktemp("screens") / "desk"
    assert typed(f"rankstone demo --copy {place}").exit_code == 0
    return place


def screen(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a command prints, as a terminal of 80 columns breaks it."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    done = typed(f"rankstone {line}")
    assert done.exit_code in {0, 3, 4}, done.stderr
    return done.stdout.splitlines()


def height(lines: list[str]) -> int:
    return sum(max(-(-cell_len(line) // WIDTH), 1) for line in lines)


@each("line", LINES)
def test_a_screen_has_25_lines(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole has more, and the last line of the first screen says so."""
    first = screen(line, folder, monkeypatch)
    whole = screen(f"{line} -v", folder, monkeypatch)

    assert height(first) <= SCREEN, "\n".join(first)
    assert any(text.startswith("with -v: ") for text in first[-2:]) == (first != whole)
    assert not any("with -v: " in text for text in whole)


@each("line", SPOKEN)
def test_so_it_is_in_chinese(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Translations are no longer."""
    first = screen(f"{line} --lang zh", folder, monkeypatch)
    assert height(first) <= SCREEN, "\n".join(first)


def test_six_systems_by_four_measures(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leaderboard and the differences from the best."""
    runs = sorted(path.name for path in (folder / TASK / "runs").iterdir())
    assert len(runs) == 6
    names = " ".join(f"{TASK}/runs/{name}" for name in runs)
    line = f'compare {TASK}/qrels.txt {names} -m "nDCG@10 AP RR P@10"'
    assert height(screen(line, folder, monkeypatch)) <= MANY
