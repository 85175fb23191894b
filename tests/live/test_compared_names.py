"""The page states nothing of a library that its runners do not compute; what it calls compared was."""

from __future__ import annotations

import re
from pathlib import Path

from tests.live.running import load
from tests.rows import each

from rankstone.conventions import Convention, conventions

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "checked.md"
#: what each library computes, by all of its runners
SPELLINGS: dict[str, set[str]] = {}
for path in sorted((HERE / "runners").rglob("*.py")):
    runner = load(str(path))
    spelled = {
        text.replace("<k>", "7")
        for text in (*runner.MEASURES, *getattr(runner, "BINARY", ()))
    }
    SPELLINGS.setdefault(runner.LIBRARY, set()).update(spelled)
COMPARED = [
    convention
    for convention in conventions()
    if convention.checked or str(convention) in SPELLINGS
]


@each("convention", COMPARED, ids=str)
def test_every_measure_of_a_library_is_compared(convention: Convention) -> None:
    """A convention that says it was compared was, measure by measure."""
    spellings = {
        reading.entry.spelling
        for text in SPELLINGS.get(str(convention), ())
        for reading in convention.read([text])
    }
    assert {entry.spelling for entry in convention.entries} - spellings == set()


@each("convention", COMPARED, ids=str)
def test_the_page_tells_of_every_comparison(convention: Convention) -> None:
    """At least 500 cases for every measure, and no difference without a reason."""
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| [{convention}](")
    ]
    assert convention.checked, (
        "it has a runner: run it, and say what was installed and when"
    )
    assert lines
    for _, _, _, _, cases, _, _, others, seed, date in lines:
        assert int(cases) >= 500
        assert others == "0"
        assert seed.isdigit()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
