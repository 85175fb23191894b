"""No file uses a file that uses it: what two files need stands below both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.making import house

if TYPE_CHECKING:
    from pathlib import Path

#: files that use one another nevertheless → why
NAMED = {
    ("explanation.explanation_result", "explanation.score_difference"): (
        "an explanation less another one is a difference"
    )
}


def test_no_circles_between_files() -> None:
    """Neither at once nor later, nor for type checkers only; few have a name and a reason."""
    circles = house.circles(house.file_edges())
    shown = [
        tuple(name.removeprefix("rankstone.") for name in circle) for circle in circles
    ]

    assert [circle for circle in shown if circle not in NAMED] == []
    assert len(NAMED) <= 1


def test_every_import_counts(tmp_path: Path) -> None:
    """An import in a function, one for types, one of a name that a package gives on; not what only gives on."""
    room = tmp_path / "rankstone" / "io"
    room.mkdir(parents=True)
    texts = {
        "__init__": 'from rankstone.io.one import One\nPUBLIC = {"two": ("Two",)}\n',
        "one": "def later():\n    from rankstone.io import Two\n",
        "two": "if TYPE_CHECKING:\n    from rankstone.io.three import Three\n",
        "three": "from rankstone.io import One\n",
        "four": "from rankstone.io.one import One\n",
    }
    for name, text in texts.items():
        (room / f"{name}.py").write_text(text, "utf-8")

    edges = house.file_edges(tmp_path / "rankstone")
    circle = [f"rankstone.io.{name}" for name in ("one", "three", "two")]
    assert house.circles(edges) == [circle]
    assert ("rankstone.io.four", "rankstone.io.one") in edges
    assert not [edge for edge in edges if edge[0] == "rankstone.io"]
