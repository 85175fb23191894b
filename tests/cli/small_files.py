"""Small files of every kind that commands read, made of numbers that need no seed."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Final

from tests.command_line import command

__all__ = ["write_small_files"]

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
QUERIES: Final = [f"q{number}" for number in range(12)]
DOCUMENTS: Final = "abcd"
PAIRS: Final = list(product(QUERIES, DOCUMENTS))
#: two documents of a query are not relevant, one is, one is more so
GRADES: Final = [(0, 0, 1, 2)[(place + place // 4) % 4] for place in range(len(PAIRS))]
JUDGED: Final = [(*pair, grade) for pair, grade in zip(PAIRS, GRADES, strict=True)]
KINDS: Final = "xy"
#: impressions and positions in them
SHOWN: Final = list(product(range(40), (1, 2)))


def write(name: str, *rows: object) -> None:
    """Write a file in the current folder, a line for each row."""
    lines = [",".join(map(str, row)) if isinstance(row, tuple) else row for row in rows]
    Path(name).write_text("".join(f"{line}\n" for line in lines))


def write_small_files() -> None:
    """Write all of them into the current folder."""
    _rankings()
    _side_tables()
    _scores()
    _logs()
    _features()
    _answers()
    _gates_and_models()
    _own_shapes()


def _rankings() -> None:
    of_judgments = ("query_id", "doc_id", "relevance", "note", "split")
    with_splits = [
        (query, doc, grade, 1, "dev" if query < QUERIES[-2] else "holdout")
        for query, doc, grade in JUDGED
    ]
    write("qrels.csv", of_judgments, *with_splits)
    write("qrels.txt", *(f"{query} 0 {doc} {grade}" for query, doc, grade in JUDGED))
    aspects = [
        f"{query} {place % 2} {doc} {grade}"
        for place, (query, doc, grade) in enumerate(JUDGED)
    ]
    write("aspects.txt", *aspects)
    for name, step in (("a", 3), ("b", 5), ("c", 9)):
        rows = [
            (*pair, place * step % 11 / 2 + place / 64)
            for place, pair in enumerate(PAIRS)
        ]
        lines = [f"{query} Q0 {doc} 0 {score} {name}" for query, doc, score in rows]
        write(f"{name}.run", *lines)
        columns = ("query_id", "doc_id", "score", "note")
        write(f"{name}.csv", columns, *((*row, 1) for row in rows))
    for name in ("old", "new"):
        Path(name).mkdir()
        shutil.copy("a.csv", name)
        shutil.copy("b.csv", name)
    labelled = [
        (query, doc, place % 5, grade)
        for place, (query, doc, grade) in enumerate(JUDGED)
    ]
    write("labelled.csv", ("query_id", "doc_id", "score", "relevance"), *labelled)
    several = [
        (run, *pair, (place + len(run)) % 7)
        for place, pair in enumerate(PAIRS)
        for run in ("one", "three")
    ]
    write("long.csv", ("run", "query_id", "doc_id", "score"), *several)


def _side_tables() -> None:
    queries = [
        (
            query,
            f"{query} what is it",
            1 + place % 2,
            f"s{place // 2}",
            KINDS[place % 2],
        )
        for place, query in enumerate(QUERIES)
    ]
    write("queries.csv", ("query_id", "text", "weight", "session", "kind"), *queries)
    documents = [(doc, doc * 3, f"all about {doc}", 5) for doc in DOCUMENTS]
    golden = [
        {"id": query, "query": f"what is {query}", "expected": ["a"], "category": "x"}
        for query in QUERIES
    ]
    write("golden.jsonl", *map(json.dumps, golden))
    write("documents.csv", ("doc_id", "title", "text", "tokens"), *documents)
    answered = [(query, place % 2) for place, query in enumerate(QUERIES)]
    write("answered.csv", ("query_id", "correct"), *answered)
    write("same.csv", ("doc_id", "class"), ("c", "x"), ("d", "y"))
    write("exclude.csv", ("query_id", "doc_id"), ("q1", "d"))
    write("train.csv", ("query_id", "doc_id"), ("q1", "a"), ("q9", "z"))
    write("teams.csv", ("run", "group"), ("a", "x"), ("b", "x"), ("c", "y"))
    intents = [(query, subtopic, 0.5) for query, subtopic in product(QUERIES, "01")]
    write("intents.csv", ("query_id", "subtopic", "weight"), *intents)
    items = [("a", "x;y"), ("b", "x"), ("c", "y"), ("d", "z")]
    write("items.csv", ("doc_id", "category"), *items)
    write("history.csv", ("query_id", "doc_id"), *((query, "a") for query in QUERIES))
    gain = "register_gain('tenfold', lambda grade: 10.0 * grade)"
    write("own.py", "from rankstone.measures import register_gain", gain)


def _scores() -> None:
    for name, gain in (("table", 0.0), ("again", 0.1)):
        rows = [
            (query, place / 20, place / 22 + gain)
            for place, query in enumerate(QUERIES)
        ]
        write(f"{name}.csv", ("query_id", "a", "b"), *rows)
    for name in ("law", "news"):
        cells = [
            (system, query, "AP", (place * 7 % 11 + step) / 20)
            for place, query in enumerate(QUERIES)
            for step, system in enumerate("ab")
        ]
        write(f"{name}.csv", ("run", "query_id", "measure", "value"), *cells)
    board = [("a", 0.5, 0.4, 0.3), ("b", 0.6, 0.5, 0.2), ("c", 0.1, 0.2, 0.25)]
    write("board.csv", ("system", "law", "news", "code"), *board)
    sets = ("law", "news", "code")
    renamed = [
        (row[0], *cell) for row in board for cell in zip(sets, row[1:], strict=True)
    ]
    write("corpora.csv", ("name", "dataset", "value"), *renamed)
    split = [
        (system, dataset, part, place / 10)
        for place, (system, dataset, part) in enumerate(
            product("ab", ("law", "news"), ("test", "dev"))
        )
    ]
    write("split.csv", ("system", "dataset", "split", "value"), *split)
    battles = [
        (
            *pair,
            ("left", "right", "tie")[place % 5 % 3],
            f"j{place % 7}",
            place % 4 - 1.5,
        )
        for place, pair in enumerate(["ab", "ac", "bc", "ba", "ca", "cb"] * 6)
    ]
    write("battles.csv", ("left", "right", "winner", "judge", "length"), *battles)
    write("zscores.txt", "map q1 0.5 0.1")


def _logs() -> None:
    events = [
        (f"u{place % 6}", f"2024-01-0{1 + place % 8}T10:00:00", KINDS[place % 2])
        for place in range(24)
    ]
    for name, time in (("events", "time"), ("renamed-events", "when")):
        write(f"{name}.csv", ("user_id", time, "kind"), *events)
    registered = [(f"u{number}", "2024-01-01T00:00:00") for number in range(6)]
    write("registrations.csv", ("user_id", "time"), *registered)

    _clicks()
    _rewards()
    _arms()


def _clicks() -> None:
    rows = [
        (
            f"s{impression}",
            QUERIES[impression % 2],
            "ab"[(impression // 2 + position) % 2],
            position,
            _clicked(impression, position),
            int(_clicked(impression, position) and impression % 3 == 0),
            f"2024-01-0{1 + impression % 8}T10:00:00",
        )
        for impression, position in SHOWN
    ]
    for name, doc in (("clicks", "doc_id"), ("renamed-clicks", "page")):
        columns = ("session_id", "query_id", doc, "position", "clicked", "satisfied")
        write(f"{name}.csv", (*columns, "time"), *rows)
    pairs = [(query, "a", f"s{place % 4}") for place, query in enumerate(QUERIES)]
    write("clicked.csv", ("query_id", "doc_id", "session"), *pairs)


def _rewards() -> None:
    rows = [
        (
            impression,
            f"s{impression % 4}",
            "q1",
            "ab"[position - 1],
            position,
            _clicked(impression, position),
            0.5,
            0.25 + 0.125 * position,
            3 - position,
        )
        for impression, position in SHOWN
    ]
    for name, reward in (("logged", "reward"), ("renamed-logged", "gained")):
        columns = ("impression_id", "session", "query_id", "doc_id", "position", reward)
        targets = ("propensity", "target_propensity", "target_position")
        write(f"{name}.csv", (*columns, *targets), *rows)


def _arms() -> None:
    rows = [
        (
            f"u{impression}",
            f"s{impression % 4}",
            impression,
            ("old", "new")[impression % 2],
            position,
            _clicked(impression, position),
            impression / 4,
            KINDS[impression // 2 % 2],
        )
        for impression, position in SHOWN
    ]
    for name, variant in (("ab", "variant"), ("renamed-ab", "arm")):
        columns = ("user_id", "session", "impression_id", variant, "position")
        write(f"{name}.csv", (*columns, "clicked", "seconds", "kind"), *rows)


def _clicked(impression: int, position: int) -> int:
    return int(impression % (position + 1) == 0)


def _features() -> None:
    places = range(32)
    features = [f"1:{place % 5 / 4} 2:{place * 7 % 11 / 10}" for place in places]
    labels = [3 * place % 7 % 3 for place in places]
    rows = list(zip(labels, features, strict=True))
    train = [
        f"{label} qid:{place // 4} {row}" for place, (label, row) in enumerate(rows)
    ]
    write("train.txt", *train)
    splits = [(query, "dev" if query < 6 else "holdout") for query in range(8)]
    write("splits.csv", ("query_id", "split"), *splits)
    write("valid.txt", *train[:16])
    write("plain.txt", *(f"{label} {row}" for label, row in rows))
    write("plain.txt.query", *["4"] * 8)
    table = [
        (place // 4, label, place % 5, place * 7 % 11, 1)
        for place, label in enumerate(labels)
    ]
    write("features.csv", ("qid", "label", "x", "y", "note"), *table)
    for name, step in (("pred", 5), ("other", 7)):
        write(f"{name}.txt", *(str(place * step % 13) for place in places))


def _answers() -> None:
    for name in ("short.nuggets.jsonl", "long.nuggets.jsonl", "answers.jsonl"):
        shutil.copy(EXAMPLES / "rag" / name, ".")
    shutil.copy(EXAMPLES / "rag" / "support.csv", ".")
    nuggets = '"qid": "q1", "query": "what", "nuggets": [{"text": "it is"'
    weighed = f'{nuggets}, "importance": "vital", "assignment": "support"'
    write("two-runs.jsonl", f'{{"run": "a", {weighed}}}]}}')
    write("assigned.jsonl", f'{{{nuggets}, "assignment": "support"}}]}}')
    write("nuggets.jsonl", f'{{{nuggets}, "importance": "vital"}}]}}')


def _own_shapes() -> None:
    entry = ['name = "orders"', 'role = "judgments"', 'example = "order 7: tent 2"']
    lines = 'lines = ["order {query_id}: {doc_id} {relevance}"]'
    write("shapes.toml", "[[shapes]]", *entry, lines)


def _gates_and_models() -> None:
    gate = [
        "[gate]",
        'qrels = "qrels.csv"',
        'baseline = "a.csv"',
        'candidate = "a.csv"',
    ]
    write("gate.toml", *gate, "[[gate.rules]]", 'measure = "P@2"', "margin = 0.9")
    command("ltr", "train", "train.txt", "-o", "model.json")
    command("ltr", "train", "features.csv", "--features", "x,y", "-o", "table.json")
    command("certify", "qrels.csv", "a.csv", "-o", "card.json")
    command("online", "interleave", "a.csv", "b.csv", "-o", "lists.csv")
