"""Damage the examples of all shapes: none may be read as something else with other numbers, or end in a traceback.

``python -m tests.shapes.mutations [COUNT] [SEED]`` prints what went wrong; ``test_mutations.py`` tries a few.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.shapes.test_shapes import READERS, rows_of, stored

from rankstone.errors import RankstoneError
from rankstone.io.shapes import Shape, known_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Change = Callable[[str, random.Random], str]

#: what may stand anywhere in a file
ODD = (
    "",
    " ",
    "\t",
    ",",
    "::",
    '"',
    "#",
    "\ufeff",
    "0",
    "-1",
    "nan",
    "é",
    "\x00",
    "{",
    "]",
)


def _at(text: str, draw: random.Random) -> int:
    return draw.randrange(len(text) + 1)


def drop_a_character(text: str, draw: random.Random) -> str:
    place = _at(text, draw)
    return text[:place] + text[place + 1 :]


def put_something_in(text: str, draw: random.Random) -> str:
    place = _at(text, draw)
    return text[:place] + draw.choice(ODD) + text[place:]


def cut_the_end(text: str, draw: random.Random) -> str:
    return text[: _at(text, draw)]


def take_a_line_twice(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return "\n".join(lines)


def change_a_word(text: str, draw: random.Random) -> str:
    words = text.split(" ") if " " in text else text.split("\t")
    words[draw.randrange(len(words))] = draw.choice((*ODD, "7", "word", "978300760"))
    return (" " if " " in text else "\t").join(words)


def change_the_separator(text: str, draw: random.Random) -> str:
    before, after = draw.sample([" ", "\t", ",", "::", ";"], 2)
    lines = text.split("\n")
    position = draw.randrange(len(lines))
    lines[position] = lines[position].replace(before, after)
    return "\n".join(lines)


def change_a_value(text: str, draw: random.Random) -> str:
    """Change one value or key somewhere in a document of JSON."""
    try:
        document = json.loads(text)
    except ValueError:
        return put_something_in(text, draw)
    places = list(_places(document))
    if not places:
        return text
    holder, key = draw.choice(places)
    values: list[Any] = [None, 7, -0.5, "x", "3.5", [], {}, [1], {"a": 1}, True, [None]]
    what = draw.randrange(3)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[f"{key}2"] = holder.pop(key)
    else:
        holder[key] = draw.choice(values)
    return json.dumps(document)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    items: Any = ()
    if isinstance(document, dict):
        items = list(document.items())
    elif isinstance(document, list):
        items = list(enumerate(document))
    for key, value in items:
        yield document, key
        yield from _places(value)


CHANGES: tuple[Change, ...] = (
    drop_a_character,
    put_something_in,
    cut_the_end,
    take_a_line_twice,
    change_a_word,
    change_the_separator,
    change_a_value,
)


def read(path: Path, role: str, form: str | None = None) -> list[dict[str, Any]] | None:
    """Return the rows of a file, as texts; ``None`` where it is refused."""
    try:
        return rows_of(READERS[role](path, format_in=form))
    except RankstoneError:
        return None


def tried(
    shape: Shape, change: Change, draw: random.Random, folder: Path
) -> str | None:
    """Return what went wrong with a damaged example; ``None`` where it was read right or refused."""
    text = change(shape.example.strip() + "\n", draw)
    path = stored(folder, shape, text)
    try:
        table = READERS[shape.role](path)
        rows = rows_of(table)
    except RankstoneError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever else it raises is a bug
        return f"{shape.name}, {change.__name__}: {type(error).__name__}: {error}\n{text!r}"
    others = [other for other in known_shapes() if other.title in table.read_as()]
    if not others or shape in others:
        return None
    own = read(path, shape.role, shape.name)
    if own is None or own == rows:
        return None
    return f"{shape.name}, {change.__name__}: read as {table.read_as()}\n{text!r}"


def mistakes(count: int, seed: int) -> list[str]:
    """Return what went wrong in some damaged examples."""
    draw = random.Random(seed)
    wrong = list[str]()
    with TemporaryDirectory(prefix="rankstone-") as name:
        for _ in range(count):
            shape = draw.choice(known_shapes())
            change = draw.choice(CHANGES)
            mistake = tried(shape, change, draw, Path(name))
            wrong += [mistake] if mistake else []
    return wrong


if __name__ == "__main__":
    count, seed = (*map(int, sys.argv[1:]), *(20_000, 7)[len(sys.argv) - 1 :])
    result = mistakes(count, seed)
    lines = [*result, f"{len(result)} of {count:,} went wrong"]
    sys.stdout.write("\n\n".join(lines) + "\n")
    sys.exit(bool(result))
