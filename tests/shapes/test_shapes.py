"""Every shape is recognised by what it holds, by no other name, and reads as its entry says."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rankstone
from rankstone.errors import RankstoneError
from rankstone.io import read_judgments, read_run
from rankstone.io.shapes import Shape, candidates, known_shapes
from rankstone.io.shapes.json_pattern import JsonPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.io import Table

SHAPES = known_shapes()
IDS = [f"{shape.role}-{shape.name}" for shape in SHAPES]
READERS: dict[str, Callable[..., Table]] = {
    "judgments": read_judgments,
    "run": read_run,
}
NUMBERS = ("relevance", "score", "rank")

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=IDS)
#: shapes of text with a fixed number of words in a line; the order of lines is no evidence for some
TEXTS = [
    shape
    for shape in SHAPES
    if shape.templates and not any(template.lists for template in shape.templates)
]
WITHOUT_RANKS = [
    shape for shape in SHAPES if "rank" not in "".join(t.text for t in shape.templates)
]


def of_shapes(shapes: list[Shape]) -> pytest.MarkDecorator:
    names = [f"{shape.role}-{shape.name}" for shape in shapes]
    return pytest.mark.parametrize("shape", shapes, ids=names)


def stored(folder: Path, shape: Shape, text: str | None = None) -> Path:
    """Write an example; a table with a header needs a name that says so, other text does not."""
    text = shape.example if text is None else text
    suffix = "dat"
    if shape.json is not None:
        suffix = "json"
    elif shape.columns:
        suffix = "jsonl" if text.startswith("{") else "tsv"
    elif shape.records:
        suffix = "jsonl"
    path = folder / f"example.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def opened(path: Path, shape: Shape) -> Table:
    return READERS[shape.role](path)


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as an entry writes them."""
    names = [name for name in ("query_id", "doc_id", *NUMBERS) if name in table.schema]
    rows = table.collect(*names).rows(named=True)
    return [{**row, "query_id": str(row["query_id"])} for row in rows]


def expected(shape: Shape) -> list[Mapping[str, Any]]:
    return list(shape.reads)


@each_shape
def test_an_example_reads_as_its_entry_says(tmp_path: Path, shape: Shape) -> None:
    table = opened(stored(tmp_path, shape), shape)
    rows = [{**row, "doc_id": str(row["doc_id"])} for row in rows_of(table)]

    assert rows == expected(shape)
    assert shape.title in " ".join(table.read_as())
    assert shape.written_by


@each_shape
def test_an_example_has_no_other_shape(shape: Shape) -> None:
    """Neither of its own role nor, where it is JSON, of the other one under another name."""
    if shape.templates:
        lines = [line for line in shape.example.split("\n") if line and line[0] != "#"]
        others = [
            other.name
            for other in SHAPES
            if other.role == shape.role
            and any(template.fits(lines) for template in other.templates)
        ]
        assert others == [shape.name]
    if shape.json is not None:
        value = json.loads(shape.example)
        others = [
            other.name
            for other in SHAPES
            if other.role == shape.role
            and other.json is not None
            and JsonPattern(other.json).misfit(value) is None
        ]
        assert others == [shape.name]
    if shape.records:
        record = json.loads(shape.example)
        others = [o.name for o in SHAPES if o.records and o.has_keys(record)]
        assert others == [shape.name]
    if shape.columns:
        first = shape.example.lstrip().split("\n")[0]
        names = first.replace(",", "\t").split("\t")
        if first.startswith("{"):
            record = json.loads(first)
            objects = [cell[0] for cell in record.values() if isinstance(cell, list)]
            inner = [[*item] for item in objects if isinstance(item, dict)]
            names = [name for keys in ([*record], *inner) for name in keys]
        chosen = candidates(shape.role).of_header(names)
        assert chosen is not None
        assert chosen.name == shape.name


@of_shapes(WITHOUT_RANKS)
def test_lines_in_another_order_and_without_the_last_line_end(
    tmp_path: Path, shape: Shape
) -> None:
    """The order of lines is no part of a shape, but where ranks or lists give it one."""
    lines = shape.example.strip().split("\n")
    head = lines[:1] if shape.columns else []
    body = lines[len(head) :]
    random.Random(3).shuffle(body)
    table = opened(stored(tmp_path, shape, "\n".join([*head, *body])), shape)

    assert sorted(map(str, rows_of(table))) == sorted(
        str({**row, **{n: float(row[n]) for n in NUMBERS if n in row}})
        for row in _typed(table, expected(shape))
    )


def _typed(table: Table, rows: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of an entry with the types of ids that a table has."""
    whole = table.schema["doc_id"].is_integer()
    return [
        {**row, "doc_id": int(row["doc_id"]) if whole else row["doc_id"]}
        for row in rows
    ]


@of_shapes([s for s in TEXTS if "{…}" not in "".join(t.text for t in s.templates)])
@pytest.mark.parametrize("change", ["one more", "one less", "cut"])
def test_a_line_that_is_not_as_the_others(
    tmp_path: Path, shape: Shape, change: str
) -> None:
    """A row with a column more or less, or cut, is never read as something else."""
    lines = shape.example.strip().split("\n")
    separator = next(mark for mark in ("::", "\t", ",", " ") if mark in lines[-1])
    cells = lines[-1].split(separator)
    changed = {"one more": [*cells, "7"], "one less": cells[:-1], "cut": cells[:1]}[
        change
    ]
    text = "\n".join([*lines[:-1], *lines[:-1], separator.join(changed)])

    with pytest.raises(RankstoneError):
        opened(stored(tmp_path, shape, text), shape).collect()


@of_shapes([shape for shape in TEXTS if shape in WITHOUT_RANKS])
def test_a_line_far_below_that_does_not_fit(tmp_path: Path, shape: Shape) -> None:
    """The line is named, however far below the first block it is."""
    lines = [line for line in shape.example.strip().split("\n") if line[0] != "#"]
    text = "\n".join([*(lines[:2] * 2000), "something else"])

    with pytest.raises(RankstoneError, match=r"example\.dat:4001"):
        opened(stored(tmp_path, shape, text), shape).collect()


@each_shape
def test_a_named_shape_is_the_only_one_tried(tmp_path: Path, shape: Shape) -> None:
    """``format_in`` reads what it names, and refuses what is not of it."""
    path = stored(tmp_path, shape)
    table = READERS[shape.role](path, format_in=shape.name)
    assert len(rows_of(table)) == len(shape.reads)
    if shape in TEXTS:
        with pytest.raises(RankstoneError, match="this is not"):
            READERS[shape.role](
                stored(tmp_path, shape, "a b c d e f g h\n"), format_in=shape.name
            )


def test_what_trec_eval_prints_is_no_ranking(tmp_path: Path) -> None:
    """Measure, query and value are three words like user, item and rating."""
    path = tmp_path / "printed.txt"
    path.write_text("map\t301\t0.21\nmap\t302\t0.3\nmap\tall\t0.255\n")
    for read in READERS.values():
        with pytest.raises(RankstoneError):
            read(path).collect()


OWN = """
[[shapes]]
name = "shop-log"
title = "orders of a shop"
role = "judgments"
lines = ["order {query_id} -> {doc_id} x{relevance}"]
example = "order 7 -> tent x2"
reads = [{ query_id = "7", doc_id = "tent", relevance = 2 }]
"""


def test_a_shape_of_ones_own_is_one_entry(tmp_path: Path) -> None:
    """It is recognised beside those that are known."""
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    orders = tmp_path / "orders.txt"
    orders.write_text("order 7 -> tent x2\norder 8 -> lamp x1\n")
    ratings = tmp_path / "ratings.dat"
    ratings.write_text("1::1193::5\n1::661::3\n")

    assert rows_of(read_judgments(orders, format_in=str(own))) == [
        {"query_id": "7", "doc_id": "tent", "relevance": 2.0},
        {"query_id": "8", "doc_id": "lamp", "relevance": 1.0},
    ]
    assert len(rows_of(read_judgments(ratings, format_in=str(own)))) == 2


def test_a_shape_that_was_edited_is_read_again(tmp_path: Path) -> None:
    """In one session of Python, too."""
    own = tmp_path / "own.toml"
    orders = tmp_path / "orders.txt"
    orders.write_text("order 7 -> tent x2\norder 8 -> lamp x1\n")
    own.write_text(OWN.replace("order {", "sale {").replace('"order', '"sale'))
    with pytest.raises(RankstoneError):
        rows_of(read_judgments(orders, format_in=str(own)))

    own.write_text(OWN)

    assert len(rows_of(read_judgments(orders, format_in=str(own)))) == 2


def test_adding_a_shape_is_one_entry(tmp_path: Path) -> None:
    """In a copy of the package, an entry more in a file of data is all that a new shape needs."""
    package = Path(rankstone.__file__).parent
    copy = tmp_path / "rankstone"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "io" / "shapes" / "data" / "shop.toml").write_text(OWN)
    (tmp_path / "orders.txt").write_text("order 7 -> tent x2\norder 8 -> lamp x1\n")
    (tmp_path / "run.json").write_text('{"7": ["lamp", "tent"], "8": ["lamp"]}')

    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = ["eval", "orders.txt", "run.json", "-m", "RR", "--format", "csv"]
    done = subprocess.run(
        [sys.executable, "-m", "rankstone", *words],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "0.75" in done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("role = ", "rôle = "), "this is not TOML"),
        (('"judgments"', '"orders"'), "its role is not known"),
        (("lines = ", "rows = "), "rows is no key"),
        (("{query_id}", "{query}"), "query is no column"),
        (("{doc_id}", "doc"), "it names no doc_id"),
        (("example = ", "title2 = "), "title2 is no key"),
        (('"shop-log"', '"shop log"'), "no plain word"),
    ],
)
def test_an_own_shape_that_is_none(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace(*change))
    with pytest.raises(RankstoneError, match=message) as caught:
        candidates("judgments", str(own))
    assert "own.toml" in str(caught.value)
