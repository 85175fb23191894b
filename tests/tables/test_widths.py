"""Tables of every result on pages of any width, with names of all kinds: none is lost, no word is broken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest
from rich.cells import cell_len
from tests.tables.test_results import MADE, made

import rankstone
from rankstone.tables.page_text import text
from rankstone.tables.sheet import Sheet, Table
from rankstone.tables.short_names import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIDTHS: Final = (60, 80, 100, 140)
NAMES: Final[dict[str, Callable[[int], str]]] = {
    "long": lambda n: f"experiments-of-2024-cross-encoder-large-uncased-run-{n:03}",
    "similar": lambda n: f"model-{('large', 'giant')[n % 2]}-v{n // 2}",
    "Chinese": lambda n: (
        "混合检索模型第" + "甲乙丙丁戊己庚辛"[n % 8] * (n // 8 + 1) + "次"
    ),
    "one letter": lambda n: chr(ord("a") + n % 26) * (n // 26 + 1),
}
#: columns between which a table of numbers can be split, and blanks around one
SIDES: Final = 2


def scored(systems: int) -> dict[str, dict[str, dict[str, float]]]:
    return {
        f"s{n}": {f"q{q}": {"AP": n / 9, "RR": (q + n) % 7 / 7} for q in range(8)}
        for n in range(systems)
    }


@cache
def tables() -> dict[str, list[Table]]:
    """Return the tables of every result, brief and whole."""
    results = {name: made(name) for name in MADE}
    for systems in (2, 3, 6):
        compared = rankstone.compare_scores(scored(systems), permutations=100)
        results[f"{systems} systems"] = compared
        versus = rankstone.compare_scores(
            scored(systems), baseline="s1", permutations=100
        )
        results[f"{systems} systems and a baseline"] = versus
    return {
        name: [
            part
            for sheet in (result.sheet(), result.sheet().verbose())
            for part in sheet.parts
            if isinstance(part, Table)
        ]
        for name, result in results.items()
    }


def named(table: Table, name: Callable[[int], str]) -> Iterator[Table]:
    """Yield a table that begins with names, or ranks and names, with others in its rows, all else the same."""
    for column, kind in enumerate(table.kinds[:2]):
        cells = [row[column] for row in table.rows]
        before = table.numeric[:column]
        if kind != "id" or any(" " in text for text in cells) or not all(before):
            continue
        same = [max(texts, key=cell_len) for texts in zip(*table.rows, strict=True)]
        rows = []
        for number in range(len(cells)):
            row = [*same]
            row[column] = name(number)
            rows.append(tuple(row))
        yield replace(table, rows=tuple(rows), best=frozenset(), total=0)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("names", NAMES)
def test_every_table_fits_and_keeps_its_names(names: str, width: int) -> None:
    """Rows that differ in nothing else stay different, and lines are as wide as the page."""
    wrong = []
    tried = 0
    for result, parts in tables().items():
        for original in parts:
            for table in named(original, NAMES[names]):
                tried += 1
                shown = text(Sheet("", parts=(replace(table, title=""),)), width)
                for block in shown.split("\n\n"):
                    lines = block.splitlines()
                    rows = len(set(lines))
                    if rows < len(table.rows):
                        wrong.append(f"{result}: {table.title}: {rows} rows\n{block}")
                    broad = max(map(cell_len, lines))
                    if broad > width and len(table.head) > SIDES:
                        wrong.append(f"{result}: {table.title}: {broad}\n{block}")
    assert not wrong, "\n".join(wrong[:4])
    assert tried > 30


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_is_broken(width: int) -> None:
    """Of texts that stand in columns, and of heads."""
    wrong = []
    for result, parts in tables().items():
        for table in parts:
            words = set(text(Sheet("", parts=(table,)), width).split())
            # signs of verdicts have no head
            heads = zip(table.head, table.kinds, strict=True)
            cells = [head for head, kind in heads if kind != "verdict"]
            for column, kind in enumerate(table.kinds):
                if kind == "text":
                    cells += [row[column] for row in table.rows]
            for cell in cells:
                if not cell.isascii():
                    continue
                lost = [word for word in cell.split() if word not in words]
                if lost:
                    wrong.append(f"{result}: {table.title}: {lost}")
    assert not wrong, "\n".join(wrong[:9])


def test_no_head_means_two_things() -> None:
    """A table has each of its heads once."""
    for result, parts in tables().items():
        for table in parts:
            heads = [head for head in table.head if head]
            assert len(heads) == len(set(heads)), (result, table.title, heads)


@pytest.mark.parametrize("width", range(9, 17))
def test_what_tells_names_apart_stays(width: int) -> None:
    """Not only different, but by what differs: the size of a model, and its version."""
    names = [
        f"model-{size}-v{n}" for size in ("large", "giant", "base") for n in (1, 2)
    ]
    for name, short in shortened(names, width).items():
        _, size, version = name.split("-")
        assert size in short
        assert version in short
    assert (
        shortened(["大型检索模型一", "大型检索模型二"], 8)["大型检索模型一"][-1] == "一"
    )


def test_a_column_of_names_has_room_for_sixteen_characters() -> None:
    """On a page of sixty columns, beside numbers that then go into blocks."""
    long = NAMES["long"]
    row = ("0.12345", "[0.1234, 0.2345]", "0.12345", "[0.1234, 0.2345]")
    table = Table(
        "",
        ("system", "mean", "interval", "other mean", "its interval"),
        tuple((long(n), *row) for n in range(3)),
        ("id", "number", "interval", "number", "interval"),
    )
    lines = text(Sheet("", parts=(table,)), 60).splitlines()
    labels = [line.split()[0] for line in lines if "…" in line]
    assert len(set(labels)) == len(table.rows)
