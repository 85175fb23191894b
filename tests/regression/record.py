"""Record what the package computes and says: ``python tests/regression/record.py FOLDER [--short]``.

Two files: ``numbers.txt``, every value of every query, and ``words.txt``, every table, audit line,
explanation and refusal.  ``make regression`` records two versions and compares them.
"""

from __future__ import annotations

import itertools
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankstone

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.regression import face
from tests.regression.worlds import CORRECTIONS, INTERVALS, TESTS, World
from tests.regression.worlds import world as numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.regression.lines import Line

HERE = Path(__file__).resolve().parent
#: how many worlds all measures go through, and all libraries, in whole and in short
WORLDS = {False: 240, True: 8}
_LIBRARY_PARTS = {False: 24, True: 2}


def measures() -> dict[str, list[str]]:
    """Return the recorded measures by kind."""
    values: dict[str, list[str]] = {}
    for line in (HERE / "measures.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            values[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            values[list(values)[-1]].append(line)
    return values


def demo() -> World:
    """Return the collection that comes with the package, its two runs and no options."""
    folder = Path(rankstone.__file__).parent / "demo"
    judged = [
        line.split()
        for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines()
    ]
    runs = []
    for name in ("bm25", "tfidf"):
        lists: dict[str, list[tuple[str, float]]] = {}
        for line in (folder / f"{name}.run").read_text(encoding="utf-8").splitlines():
            query, _, doc, _, score, _ = line.split()
            lists.setdefault(query, []).append((doc, float(score)))
        runs.append(lists)
    graded = [(query, doc, float(grade)) for query, _, doc, grade in judged]
    subtopics = [(query, doc, doc[0], max(grade, 0.0)) for query, doc, grade in graded]
    queries = dict.fromkeys(query for query, _, _ in graded)
    sessions = {
        query: {"session": "s", "position": position}
        for position, query in enumerate(queries, 1)
    }
    return World("demo", graded, subtopics, runs[0], runs[1], sessions)


def lines(*, short: bool) -> Iterator[Line]:
    """Yield everything that is recorded; in whole, every core takes some of the worlds."""
    parts = [
        ("demo", 0),
        *(("world", index) for index in range(WORLDS[short])),
        *(("library", index) for index in range(_LIBRARY_PARTS[short])),
    ]
    made = [(kind, position, short) for kind, position in parts]
    if short:
        yield from itertools.chain.from_iterable(itertools.starmap(part, made))
        return
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for row in pool.map(_whole_part, made):
            yield from row


def _whole_part(which: tuple[str, int, bool]) -> list[Line]:
    return list(part(*which))


def part(kind: str, position: int, short: bool) -> Iterator[Line]:  # noqa: FBT001 - as a row of parts
    """Yield what is recorded of the demo, of a world, or of all libraries in a world."""
    texts, every = measures(), 8 if short else 1
    if kind == "demo":
        whole = demo()
        yield from _scored(whole, texts, 0, every)
        for value, measure in (("0.57", "nDCG@10"), ("0.5188", "AP"), ("0.61", None))[
            : 1 if short else 3
        ]:
            yield from face.identified(f"demo identify {value}", whole, value, measure)
        return
    world = numbered(position)
    if (
        kind == "world"
    ):  # each takes a share of the measures, and each measure several worlds
        yield from _scored(world, texts, position, 24 * every)
        how: dict[str, Any] = {
            "test": TESTS[position % 5],
            "interval": INTERVALS[position % 7],
        }
        how |= {"correction": CORRECTIONS[position % 15]}
        how |= {"permutations": 500, "resamples": 200, **world.options}
        yield from face.comparisons(
            f"{world.name} compare", world, ["nDCG@5", "P@1", "AP"], **how
        )
        judgment = texts["judgments"][position :: 197 * every]
        yield from face.explanations(
            f"{world.name} explain", world, judgment, **world.options
        )
        return
    for library, of_judgments, of_lists in face.libraries():
        judgment = of_judgments[position % (4 * every) :: 4 * every]
        yield from face.scores(
            f"{world.name} {library}", world, judgment, convention=library
        )
        yield from face.list_scores(
            f"{world.name} {library}",
            world,
            _tables(world),
            of_lists,
            convention=library,
        )
    yield from face.diagnosed(
        world.name, world, "nDCG@5", texts["curves"][position % 5 :: 5]
    )


def _scored(
    world: World, texts: dict[str, list[str]], position: int, every: int
) -> Iterator[Line]:
    part = {kind: text[position % every :: every] for kind, text in texts.items()}
    yield from face.scores(
        world.name, world, part["judgments"], candidates=40, **world.options
    )
    yield from face.scores(
        f"{world.name} audit", world, ["nDCG@5", "AP"], **world.options
    )
    yield from face.scores(
        world.name, world, part["sessions"], queries=world.sessions, **world.options
    )
    yield from face.subtopic_scores(
        f"{world.name} subtopics", world, part["subtopics"], **world.options
    )
    again = {
        name: world.options[name]
        for name in ("duplicates", "ties")
        if name in world.options
    }
    yield from face.labelled_scores(
        f"{world.name} labelled", world, part["judgments"][::4], **again
    )
    yield from face.similarity(
        f"{world.name} similarity", world, part["rankings"], **again
    )
    yield from face.list_scores(
        f"{world.name} lists", world, _tables(world), part["lists"]
    )


def _tables(world: World) -> dict[str, Any]:
    """Return what measures of whole lists look at, made of a world's documents and judgments."""
    docs = sorted(
        {
            doc
            for listed in (*world.run.values(), *world.other.values())
            for doc, _ in listed
        }
    )
    items = {
        doc: {
            "category": "|".join("abc"[: 1 + len(doc) % 3]),
            "group": "ghk"[index % 3],
            "features": [float(index % 2), 1.0, index / 7],
            "x": float(index % 4),
            "y": index / 3,
            "popularity": float(index + 1),
        }
        for index, doc in enumerate(docs)
    }
    met = [
        (query, doc, 1.0 + len(doc) % 3)
        for query, listed in world.other.items()
        for doc, _ in listed[::2]
    ]
    return {
        "items": items,
        "history": met or [(next(iter(world.run)), docs[0] if docs else "d1", 1.0)],
        "qrels": world.judged,
        "users": {
            query: {"group": "gh"[index % 2]} for index, query in enumerate(world.run)
        },
        "baseline": world.other,
        "catalogue_size": len(docs) + 3,
    }


def block(key: str, value: str) -> str:
    """Return words with their key: in a line, or below it."""
    return f"## {key}\n{value}" if "\n" in value else f"{key}: {value}"


def record(folder: Path, *, short: bool) -> None:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = {
            kind: stack.enter_context((folder / name).open("w", encoding="utf-8"))
            for kind, name in (("number", "numbers.txt"), ("words", "words.txt"))
        }
        for kind, key, value in lines(short=short):
            files[kind].write(
                f"{key}\t{value}\n" if kind == "number" else f"{block(key, value)}\n"
            )


if __name__ == "__main__":
    record(Path(sys.argv[1]), short="--short" in sys.argv)
