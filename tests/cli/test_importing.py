"""``--import``: a user's own measures at a shell, and a user's own mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.command_line import exit_code

from rankstone.measures import MEASURES
from rankstone.measures.core.gains_and_discounts import CUSTOM_DISCOUNTS, CUSTOM_GAINS
from rankstone.measures.walk_models import CUSTOM_WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = '''
import rankstone
from neighbour import root

@rankstone.measure("Halving", span=(0, None), needs_relevant=False)
def halving(hits, h: float = 5.0):
    """What do readers gain of whom half give up within every h ranks?"""
    return hits.grade * 0.5 ** ((hits.rank - 1) / h)

@rankstone.measure("Failing")
def failing(hits):
    return hits.grade / undefined

rankstone.measures.register_gain("root", root)
rankstone.measures.register_discount("slow", lambda rank: rank**0.5)
rankstone.measures.register_continuation("patient", lambda rank, gain, gained: 0 * rank + 0.9)
'''


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in a folder with judgments, a run and a file of own measures; forget these afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("RANKSTONE_TRACEBACK", raising=False)
    (tmp_path / "q.txt").write_text("q1 0 d1 4\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 0.8 t\n")
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "neighbour.py").write_text("def root(grade):\n    return grade**0.5\n")
    yield
    for name in ("Halving", "Failing"):
        if name in MEASURES:
            MEASURES.remove(name)
    for words in (CUSTOM_GAINS, CUSTOM_DISCOUNTS, CUSTOM_WALKS):
        words.clear()


def test_own_measures_are_measures(capsys: pytest.CaptureFixture[str]) -> None:
    """Measures, gains, discounts and user models; neighbours of the file may be imported."""
    text = (
        "Halving(h=1)@5 DCG(gain=root, discount=slow) CWL(model=patient, max_grade=4)"
    )
    assert (
        exit_code(
            [
                "eval",
                "q.txt",
                "a.run",
                "--import",
                "own.py",
                "-m",
                text,
                "--format",
                "csv",
            ]
        )
        == 0
    )
    values = [line.split(",")[-3] for line in capsys.readouterr().out.splitlines()[1:]]

    assert list(map(float, values[:2])) == [4 * 0.5 ** ((2 - 1) / 1), 4**0.5 / 2**0.5]


@pytest.mark.parametrize(
    "line",
    [
        "measures show Halving",
        "measures list",
        "bounds q.txt a.run -m Halving",
        "curve q.txt a.run -m Halving",
        "explain q.txt a.run -q q1 -m Halving",
        "beyond a.run",
        "diff a.run b=a.run",
    ],
)
def test_every_command_that_takes_measures_imports(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option stands wherever measures do."""
    assert exit_code([*line.split(), "--import", "own.py"]) == 0, (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "--import bad.py registers nothing"),
        ("x = 1\ny = z\n", "bad.py:2: NameError: name 'z' is not defined"),
        ("x = 1\ndef (\n", "bad.py:2: SyntaxError"),
        ("import no_such_module\n", "bad.py:1: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "bad.py:1: SystemExit: 3"),
        (
            "import rankstone\nrankstone.measures.register_gain('linear', abs)\n",
            "bad.py: gain=linear cannot be registered",
        ),
    ],
)
def test_files_that_do_not_serve(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong with a file is reported with its line, and is no bug of ours."""
    (tmp_path / "bad.py").write_text(text)

    assert exit_code(["eval", "q.txt", "a.run", "--import", "bad.py"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.py", "no such file"), ("q.txt", "this is no Python file")],
)
def test_what_is_no_file_of_measures(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not there, or no Python."""
    assert exit_code(["eval", "q.txt", "a.run", "--import", name]) == 2
    assert message in capsys.readouterr().err


def test_a_function_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """An error inside a user's function names its line, and does not ask for a report of a bug."""
    assert (
        exit_code(["eval", "q.txt", "a.run", "--import", "own.py", "-m", "Failing"])
        == 2
    )
    err = capsys.readouterr().err
    assert "own.py:12: NameError: name 'undefined' is not defined" in err
    assert "bug in rankstone" not in err
