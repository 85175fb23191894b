"""What ``make house`` prints: the floors, the circles between files, sizes, and what makes code slow to read."""

from __future__ import annotations

from typing import Final

from docs.making import house, shapes_of_code, sizes

#: lines of a screen
SCREEN: Final = 60


def floors() -> str:
    """Return the floors from the top down, and the rooms that each room imports."""
    below: dict[str, set[str]] = {}
    for importer, imported in house.arrows():
        below.setdefault(importer, set()).add(imported)
    lines = []
    for level in reversed(range(len(house.FLOORS))):
        for room in house.FLOORS[level]:
            names = sorted(below.get(room, ()), key=lambda x: (-house.FLOOR[x], x))
            lines.append(f"{level + 1:>2}  {room:<13} {' '.join(names)}")
    return "\n".join(lines)


def circles() -> str:
    """Return the files that use one another; ``tests/project/test_circles.py`` says why the few may."""
    groups = house.circles(house.file_edges())
    return "\n".join(" ↔ ".join(group) for group in groups) or "none"


def long_functions() -> str:
    """Return the functions that are longer than a screen."""
    lines = [
        f"{function.lines:>4} lines  {function.module}.{function.name}"
        for function in shapes_of_code.long_functions(SCREEN)
    ]
    return "\n".join(lines) or "none"


def page() -> str:
    """Return the whole page."""
    parts = {
        "Floors, and what each room imports": floors(),
        "Circles between files": circles(),
        "Sizes": sizes.size_table(),
        "Folded lines": shapes_of_code.folded_table(),
        f"Functions of more than {SCREEN} lines": long_functions(),
    }
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{text}" for title, text in parts.items()
    )


if __name__ == "__main__":
    print(page())
