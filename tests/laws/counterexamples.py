"""Worlds in which measures break the laws that they do not claim: ``python -m tests.laws.counterexamples``.

A law that a measure does not claim is broken somewhere, or the measure should claim it.  The worlds are kept
in ``counterexamples.toml``; this module reads that file, and searches worlds for laws that lack one.  A world
can be added there by hand, too: it stays while it breaks the law, unless all is sought ``--anew``.
"""

from __future__ import annotations

import itertools
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import numpy as np
import polars as pl
from tests.laws.table import EVERY, measure

from rankstone import Measure, UsageError
from rankstone.errors import InputError
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.testing.laws import LAWS, Law
from rankstone.testing.small_worlds import World, small_world

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE: Final = Path(__file__).with_name("counterexamples.toml")
#: a law by its name, a measure by its text
Pair = tuple[str, str]
NAMED: Final = {law.name: law for law in LAWS}
_CANDIDATES: Final = {"candidates": 40}
#: share of judgments that are not made negative
_POSITIVE: Final = 0.7


def not_claimed() -> list[Pair]:
    """Return every law that could be checked for a measure of the table and that it does not claim."""
    kinds = {text: measure(text) for text in EVERY}
    return [
        (law.name, text)
        for law in LAWS
        for text, kind in kinds.items()
        if law.applies(kind) and not law.claimed(kind.claims)
    ]


def kept() -> dict[Pair, World]:
    """Return the world that is kept for each law and measure."""
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    worlds: dict[Pair, World] = {}
    for entry in data["world"]:
        world = World(
            pl.DataFrame(entry["judgments"]),
            pl.DataFrame(entry["run"], schema_overrides={"score": pl.Float64}),
            {**_CANDIDATES, **entry.get("options", {})},
        )
        worlds |= {
            (law, text): world
            for law, texts in entry["breaks"].items()
            for text in texts
        }
    return worlds


def breaks(pair: Pair, world: World) -> bool:
    """Return True if a measure breaks a law in a world, or has no value that could keep it."""
    return _broken(pair, world) is not None


def _broken(pair: Pair, world: World) -> str | None:
    """Return a query in which a measure breaks a law, "" if it is unknown which, ``None`` if none."""
    law, kind = NAMED[pair[0]], measure(pair[1])
    with unchecked():
        try:
            wrong = law.broken(kind, world, 0)
        except (
            InputError,
            UsageError,
        ):  # options or grades that no library claims anything about
            return None
        except (
            ArithmeticError,
            ValueError,
        ):  # the arrays of one order do not fit a block of ties
            return ""
    return wrong[0] if wrong else None


@contextmanager
def unchecked() -> Iterator[None]:
    """Let measures be scored under options that they refuse, because they do not claim to know the value."""
    with patch.object(Measure, "check", lambda *_args, **_more: None):
        yield


# -- the search ------------------------------------------------------------------------------------------
def candidates(law: Law, kind: Measure) -> Iterator[World]:
    """Yield worlds of many queries: random lists, cut ones, few grades, grades below zero, short lists."""
    plain = not (JudgmentGroups in kind.requires or kind.query_columns)
    for seed, queries in ((0, 100), (1, 1000)):
        world = small_world(kind, queries, seed, ties=law.ties)
        yield from (world, world.under(depth=2), world.under(depth=3))
        if not plain:
            continue
        yield replace(
            world,
            judgments=world.judgments.with_columns(
                relevance=pl.col("relevance").clip(0, 1)
            ),
        )
        draw = np.random.Generator(np.random.Philox(seed))
        below = -draw.integers(1, 3, world.judgments.height).astype(np.float64)
        kept_grades = draw.random(world.judgments.height) < _POSITIVE
        mixed = (
            pl.when(pl.Series(kept_grades))
            .then(pl.col("relevance"))
            .otherwise(pl.Series(below))
        )
        many = replace(world, judgments=world.judgments.with_columns(relevance=mixed))
        for rule in ("keep", "zero"):
            yield many.under(negative=rule)
            yield many.under(negative=rule, depth=2)
    if plain:
        short = every_list(kind, (None, 0.0, 1.0, 2.0, 3.0), ties=law.ties)
        yield from (short, short.under(depth=2), short.under(unjudged=1))
        yield every_list(kind, (None, -1.0, 0.0, 1.0, 2.0, 2.5, 3.0), ties=law.ties)


def every_list(kind: Measure, grades: tuple[float | None, ...], *, ties: bool) -> World:
    """Return all lists of four documents with these grades; if there are ties, all but the first tie."""
    draw = np.random.Generator(np.random.Philox(7))
    judged: list[dict[str, Any]] = []
    rows: list[tuple[str, str, float]] = []
    for index, chosen in enumerate(itertools.product(grades, repeat=4)):
        query = f"q{index:04}"
        for doc, grade in enumerate(chosen):
            rows.append((query, f"d{doc}", float(doc == 0) if ties else 4.0 - doc))
            more = {name: float(draw.uniform(0.1, 1)) for name in kind.judgment_columns}
            if grade is not None:
                judged.append(
                    {"query_id": query, "doc_id": f"d{doc}", "relevance": grade, **more}
                )
    return World(
        pl.DataFrame(judged),
        pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"),
        _CANDIDATES,
    )


def search(pair: Pair) -> World | None:
    """Return a world of one query in which a measure breaks a law that it does not claim."""
    for world in candidates(NAMED[pair[0]], measure(pair[1])):
        wrong = _broken(pair, world)
        if wrong is None:
            continue
        for query in [
            *filter(None, [wrong]),
            *world.lists(),
        ]:  # a law may draw at random, once for all queries
            if breaks(pair, alone := world.only([query])):
                return alone
    return None


def write(worlds: dict[Pair, World]) -> None:
    """Write worlds, each with what breaks there."""
    by_world: dict[str, set[Pair]] = {}
    for pair, world in sorted(worlds.items(), key=lambda item: item[0]):
        by_world.setdefault(_text(world), set()).add(pair)
    lines = [
        "# Written by python -m tests.laws.counterexamples, where it says what this is."
    ]
    for body, broken in by_world.items():
        lines += ["", "[[world]]", body, "[world.breaks]", *_lists(broken)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lists(pairs: set[Pair]) -> Iterator[str]:
    for law, of_law in itertools.groupby(sorted(pairs), key=lambda pair: pair[0]):
        texts = "".join(f"    '{text}',\n" for _, text in of_law)
        yield f'"{law}" = [\n{texts}]'


def _text(world: World) -> str:
    options = {
        name: value for name, value in world.options.items() if name not in _CANDIDATES
    }
    rows = [("judgments", world.judgments), ("run", world.run)]
    tables = []
    for name, frame in rows:
        written = "".join(f"    {_row(row)},\n" for row in frame.iter_rows(named=True))
        tables.append(f"{name} = [\n{written}]")
    return "\n".join([*tables, f"options = {_row(options)}"])


def _row(row: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {value!r}" for key, value in row.items()) + " }"


def _cover(pairs: list[Pair], old: dict[Pair, World]) -> dict[Pair, World]:
    """Keep what still breaks, and try every world that is found for the pairs that are left."""
    values: dict[Pair, World] = {}
    for pair in pairs:
        mine = {pair: old[pair]} if pair in old else {}
        tried = {
            id(world): world
            for (law, _), world in {**mine, **old, **values}.items()
            if law == pair[0]
        }.values()
        world = next(
            (world for world in tried if _fits(pair, world) and breaks(pair, world)),
            None,
        )
        world = world or search(pair)
        if world is None:
            sys.stderr.write(f"no counterexample found: {pair[1]}: {pair[0]}\n")
        else:
            values[pair] = world
    return values


def _fits(pair: Pair, world: World) -> bool:
    """Return True if a world has the columns that a measure reads, and no others."""
    kind, columns = measure(pair[1]), set(world.judgments.columns)
    wanted = {
        *kind.judgment_columns,
        *(["subtopic"] if JudgmentGroups in kind.requires else []),
    }
    return columns == {"query_id", "doc_id", "relevance"} | wanted


if __name__ == "__main__":
    begun = kept() if FILE.exists() and "--anew" not in sys.argv else {}
    write(_cover(not_claimed(), begun))
