"""Nothing is said of a library that its runners do not ask; what is said to be compared was."""

from __future__ import annotations

import re
from pathlib import Path

from tests.live.running import load
from tests.rows import each

from rankstone.conventions import Convention, conventions

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "checked.md"
#: what each library is asked, by all of its runners
ASKED: dict[str, set[str]] = {}
for path in sorted((HERE / "runners").rglob("*.py")):
    runner = load(str(path))
    spelled = {
        text.replace("<k>", "7")
        for text in (*runner.MEASURES, *getattr(runner, "BINARY", ()))
    }
    ASKED.setdefault(runner.LIBRARY, set()).update(spelled)
COMPARED = [one for one in conventions() if one.checked or str(one) in ASKED]


@each("one", COMPARED, ids=str)
def test_every_measure_of_a_library_is_asked(one: Convention) -> None:
    """A convention that says it was compared was, measure by measure."""
    found = {
        reading.entry.spelling
        for text in ASKED.get(str(one), ())
        for reading in one.read([text])
    }
    assert {entry.spelling for entry in one.entries} - found == set()


@each("one", COMPARED, ids=str)
def test_the_page_tells_of_every_comparison(one: Convention) -> None:
    """At least 500 cases for every measure, and no difference without a reason."""
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| [{one}](")
    ]
    assert one.checked, "it has a runner: run it, and say what was installed and when"
    assert lines
    for _, _, _, _, cases, _, _, others, seed, date in lines:
        assert int(cases) >= 500
        assert others == "0"
        assert seed.isdigit()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
