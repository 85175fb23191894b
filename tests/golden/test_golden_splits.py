"""Splits of golden sets: exact at first, and the same for ever."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import golden
from rankstone.errors import UsageError
from rankstone.golden.golden_splits import HOLDOUT

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = "bcdfghjklmnpqrstvwxz"


def case(
    number: int, draw: random.Random, category: str | None = None
) -> dict[str, Any]:
    words = ["".join(draw.choices(LETTERS, k=7)) for _ in range(3)]
    return {
        "id": f"q{number}",
        "query": " ".join(words),
        "expected": [f"d{number}"],
        "category": category or draw.choice("abc"),
    }


def sides(cases: list[dict[str, Any]], **options: Any) -> dict[str, str | None]:
    rows = golden.split(cases, **options).to_frame()
    return dict(rows.select("query_id", "split").iter_rows())


@pytest.mark.parametrize("holdout", [0.1, 0.3, 0.5])
def test_the_first_split_is_exact(holdout: float) -> None:
    """Each stratum has its share, to one query, in any order of the file."""
    draw = random.Random(1)
    cases = [case(n, draw) for n in range(97)]
    assigned = sides(cases, holdout=holdout, by=["category"])
    for category, total in Counter(c["category"] for c in cases).items():
        held = sum(
            assigned[c["id"]] == HOLDOUT for c in cases if c["category"] == category
        )
        assert abs(held - holdout * total) < 1
    draw.shuffle(cases)
    assert sides(cases, holdout=holdout, by=["category"]) == assigned
    assert sides(cases, holdout=holdout, by=["category"], salt="x") != assigned


def test_stored_queries_never_move() -> None:
    """Through additions, removals, new orders and renamed categories; strata keep their shares."""
    draw = random.Random(2)
    cases = [case(n, draw) for n in range(40)]
    stored: dict[str, str] = {}
    number = 40
    for _ in range(60):
        for kept in cases:
            kept["split"] = stored.get(kept["id"], "")
        assigned = sides(cases, by=["category"])
        assert all(
            assigned[query] == stored[query] for query in stored if query in assigned
        )
        stored |= {query: side for query, side in assigned.items() if side}
        for _ in range(6):
            edit = draw.randrange(4)
            if edit == 0:
                cases.append(case(number, draw))
                number += 1
            elif edit == 1 and len(cases) > 20:
                cases.pop(draw.randrange(len(cases)))
            elif edit == 2:
                draw.shuffle(cases)
            else:
                draw.choice(cases)["category"] = draw.choice("abcd")


def test_near_duplicates_stay_together_or_are_named() -> None:
    """A new query goes where its like is; one like queries of both sides goes nowhere."""
    draw = random.Random(3)
    cases = [case(n, draw) for n in range(10)]
    first = {**sides(cases)}
    for known in cases:
        known["split"] = first[known["id"]]
    new = [
        {"id": f"n{n}", "query": f"{known['query']}?", "expected": ["d"]}
        for n, known in enumerate(cases)
    ]
    splits = golden.split([*cases, *new])
    assigned = dict(splits.to_frame().select("query_id", "split").iter_rows())
    for number, known in enumerate(cases):
        assert assigned[f"n{number}"] == first[known["id"]]

    both = [dict(cases[0], split="dev"), dict(cases[0], id="twin", split=HOLDOUT)]
    both.append({"id": "new", "query": cases[0]["query"], "expected": ["d"]})
    splits = golden.split(both)
    assert splits.left_out == ("new",)
    assert "resemble queries of both: new" in splits.text()


def test_what_is_refused() -> None:
    """A share that is none, a key that no query has."""
    cases = [case(n, random.Random(4)) for n in range(4)]
    with pytest.raises(UsageError, match="between 0 and 1"):
        golden.split(cases, holdout=1.0)
    with pytest.raises(UsageError, match="no query has a key topic"):
        golden.split(cases, by=["topic"])


def test_sizes_say_what_they_can_show() -> None:
    """The smallest difference falls with the number of queries; null where none below 1 is found."""
    draw = random.Random(5)
    splits = golden.split([case(n, draw) for n in range(100)], holdout=0.2)
    sizes = {row["split"]: row for row in splits.sizes().iter_rows(named=True)}
    assert sizes["dev"]["queries"] == 80
    # 2.8 standard errors, a little more by Student's t
    assert sizes["dev"]["smallest_difference"] == pytest.approx(
        0.3 * 2.8 / 80**0.5, rel=0.03
    )
    few = golden.split([case(n, draw) for n in range(3)])
    assert few.sizes()["smallest_difference"].null_count() == 2


FILES = {
    "a.json": """[
  {
    "id": "a", // none
    "query": "red tent",
    "expected": ["d{1}"]
  },
  {"id": "b", "query": "blue } boat \\" {", "expected": ["e"]}
]
""".replace(" // none", ""),
    "b.json": (
        '{"version": 2, "cases": [\n {"id": "a", "expected": [{"id": "d"}]},\n'
        ' {"id": "b", "expected": []}]}'
    ),
    "c.json": '{"a": {"query": "x", "expected": ["d"]}, "b": {"query": "y", "expected": ["e"]}}',
    "d.jsonl": '{"id": "a", "expected": ["d"]}\n\n{"id": "b", "query": "y", "expected": ["e"] }\n',
    "e.yaml": (
        "# ours\n- id: a  # first\n  query: x\n  expected: [d]\n\n"
        "- {id: b, query: y, expected: [e]}\n"
    ),
    "f.yaml": (
        "version: 1\ncases:\n  - query: x\n    id: a\n    expected:\n      - d\n"
        "  - id: b\n    expected: [e]\n"
    ),
    "g.csv": 'id,query,expected\r\na,"x, y",d|e\r\nb,z,e\r\n',
}


@pytest.mark.parametrize("name", FILES)
def test_in_place_changes_nothing_else(name: str, tmp_path: Path) -> None:
    """The splits are read back, and without them the file is what it was."""
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    shown = command(
        "golden", "split", name, "--in-place", "--holdout", "0.5", cwd=tmp_path
    )
    assert "holdout" in shown.stdout
    text = path.read_bytes().decode()
    assigned = {c.query_id: c.split for c in golden.read(path).cases}
    assert sorted(assigned.values()) == ["dev", "holdout"]

    remaining = text
    for word in assigned.values():
        for form in (
            f',\n    "split": "{word}"',
            f', "split": "{word}"',
            f', split: "{word}"',
            f'\n    split: "{word}"',
            f'\n  split: "{word}"',
            f",{word}",
        ):
            if form in remaining:
                remaining = remaining.replace(form, "", 1)
                break
        else:
            pytest.fail(f"no {word} in {text}")
    assert remaining.replace(",split\r\n", "\r\n", 1) == FILES[name]

    again = path.read_bytes()
    command("golden", "split", name, "--in-place", cwd=tmp_path)
    assert path.read_bytes() == again


def test_beside_the_file(tmp_path: Path) -> None:
    """Stored beside, read with the file by every command, and kept."""
    draw = random.Random(6)
    cases = [case(n, draw) for n in range(20)]
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(cases))
    before = path.read_bytes()
    command("golden", "split", "golden.json", "--by", "category", cwd=tmp_path)
    assert path.read_bytes() == before
    first = {c.query_id: c.split for c in golden.read(path).cases}
    assert Counter(first.values())[HOLDOUT] in range(5, 8)

    run = {c["id"]: c["expected"] for c in cases}
    (tmp_path / "run.json").write_text(json.dumps(run))
    line = ("eval", "golden.json", "run.json", "-m", "RR", "--split", HOLDOUT)
    assert "splits of golden.splits.csv" in command(*line, cwd=tmp_path).stdout

    path.write_text(json.dumps([*cases[5:], case(99, draw)]))
    command("golden", "split", "golden.json", "--by", "category", cwd=tmp_path)
    later = {c.query_id: c.split for c in golden.read(path).cases}
    assert all(later[query] == first[query] for query in later if query in first)
    assert later["q99"]


#: questions without ids, and the same with some words changed, or all
QUESTIONS = [
    "How do I cancel my subscription before the next invoice?",
    "Which regions can host the data of my workspace?",
    "Can guests see private channels?",
    "What happens to files when a member leaves?",
]
REWORDED = "How can I cancel my subscription before the next invoice?"


def stored_questions(folder: Path, sides: str, questions: list[str]) -> Path:
    """Write a set of questions, and their splits beside it: d(ev) or h(oldout)."""
    path = folder / "golden.json"
    path.write_text(json.dumps([{"query": q, "expected": ["d"]} for q in questions]))
    names = {"d": "dev", "h": HOLDOUT}
    rows = [f'"{q}",{names[s]}\n' for q, s in zip(QUESTIONS, sides, strict=True)]
    (folder / "golden.splits.csv").write_text("query_id,split\n" + "".join(rows))
    return path


@pytest.mark.parametrize("sides", ["hddd", "dhhh"])
def test_a_reworded_question_stays_on_its_side(sides: str, tmp_path: Path) -> None:
    """A text in other words is named, and a text that is gone is named."""
    stored_questions(tmp_path, sides, [REWORDED, "Offboarding", *QUESTIONS[1:3]])
    shown = command("golden", "split", "golden.json", cwd=tmp_path).stdout
    assert "1 query reworded, on the side of the stored text" in shown
    assert "1 stored query not in the set any more" in shown
    assert "give queries an id, which never moves" in shown
    assert "What happens to files" in shown

    lines = (tmp_path / "golden.splits.csv").read_text().splitlines()
    assert [line.split(",")[0].strip('"') for line in lines[1:5]] == QUESTIONS
    reworded, new = lines[5:]
    assert reworded == f"{REWORDED},{'dev' if sides[0] == 'd' else HOLDOUT}"
    assert new.startswith("Offboarding,")

    # the old words come back, and are where they were
    stored = (tmp_path / "golden.splits.csv").read_text()
    cases = [{"query": q, "expected": ["d"]} for q in [*QUESTIONS, REWORDED]]
    (tmp_path / "golden.json").write_text(json.dumps(cases))
    command("golden", "split", "golden.json", cwd=tmp_path)
    assert (tmp_path / "golden.splits.csv").read_text() == stored


def test_ids_take_the_side_of_their_text(tmp_path: Path) -> None:
    """A set that gets ids keeps its splits, and from then on any words may change."""
    path = stored_questions(tmp_path, "dhdh", QUESTIONS)
    cases = [
        {"id": f"q{n}", "query": q, "expected": ["d"]} for n, q in enumerate(QUESTIONS)
    ]
    path.write_text(json.dumps(cases))
    splits = golden.split(path)
    assert dict(splits.to_frame().select("query_id", "split").iter_rows()) == {
        "q0": "dev",
        "q1": HOLDOUT,
        "q2": "dev",
        "q3": HOLDOUT,
    }
    assert {*splits.to_frame()["reason"]} == {"reworded"}
    assert splits.gone == ()
    golden.store(splits, path)
    for number, kept in enumerate(cases):
        kept["query"] = f"other words {number}"
    path.write_text(json.dumps(cases))
    later = golden.split(path)
    assert {*later.to_frame()["reason"]} == {"stored"}
    assert later.gone == tuple(QUESTIONS)
    assert "give queries an id" not in later.text()


def test_a_reworded_question_between_both_sides(tmp_path: Path) -> None:
    """A query that is there goes before a text that is gone."""
    path = stored_questions(tmp_path, "hddd", [*QUESTIONS[1:], REWORDED])
    cases = [{"query": q, "expected": ["d"]} for q in [*QUESTIONS[1:], REWORDED]]
    cases.append({"query": f"{REWORDED}!", "expected": ["d"], "split": "dev"})
    path.write_text(json.dumps(cases))
    rows = golden.split(path).to_frame().rows_by_key("query_id", named=True)
    assert rows[REWORDED][0]["split"] == "dev"
    assert rows[REWORDED][0]["reason"] == "resembles"


def test_rows_that_are_added_to_a_table(tmp_path: Path) -> None:
    """New rows of a CSV file get their cell, whether its comma is there or not."""
    path = tmp_path / "golden.csv"
    path.write_text("id,query,expected\na,x,d\nb,y,e\n")
    command("golden", "split", "golden.csv", "--in-place", cwd=tmp_path)
    text = path.read_text()
    path.write_text(f"{text}c,z,f\ne,w,g,\n")
    command("golden", "split", "golden.csv", "--in-place", cwd=tmp_path)
    later = path.read_text()
    assert later.startswith(text)
    assert all(c.split for c in golden.read(path).cases)
    assert len(later.splitlines()) == 5


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.gz", "a.json"])
def test_files_into_which_nothing_is_written(name: str, tmp_path: Path) -> None:
    """Binary, compressed, in another encoding: refused, and as they were; beside them is a way."""
    path = tmp_path / name
    if name.endswith(".parquet"):
        pl.DataFrame({"id": ["a"], "query": ["x"], "expected": ["d"]}).write_parquet(
            path
        )
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(b'{"id": "a", "expected": ["d"]}\n'))
    else:
        path.write_bytes('\ufeff[{"id": "a", "expected": ["d"]}]'.encode())
    before = path.read_bytes()
    if name == "a.json":
        # a byte-order mark is no other encoding
        command("golden", "split", name, "--in-place", cwd=tmp_path)
        assert path.read_bytes() == before.replace(b"]}", b'], "split": "dev"}')
        return
    line = ("golden", "split", name)
    if name == "a.parquet":
        message = command(*line, "--in-place", code=2, cwd=tmp_path).stderr
        assert "leave out --in-place" in message
        command(*line, cwd=tmp_path)
    else:
        command(*line, "--in-place", code=3, cwd=tmp_path)
    assert path.read_bytes() == before


def test_a_file_that_takes_no_splits(tmp_path: Path) -> None:
    """A refusal says what to do instead, and nothing is written."""
    path = tmp_path / "golden.csv"
    path.write_text('id,query,expected\na,"two\nlines",d\n')
    before = path.read_bytes()
    message = command(
        "golden", "split", "golden.csv", "--in-place", code=2, cwd=tmp_path
    )
    assert "leave out --in-place" in message.stderr
    assert path.read_bytes() == before


def test_splits_of_other_ids_are_no_reason_for_new_ones(tmp_path: Path) -> None:
    """Where no stored query is in the set, ids were renamed: nothing is drawn, and the file stays as it is."""
    path = tmp_path / "golden.json"
    texts = ["refund policy", "opening hours", "cancel the plan", "export as CSV"]
    cases = [
        {"id": f"q{number}", "query": text, "expected": ["d"]}
        for number, text in enumerate(texts)
    ]
    path.write_text(json.dumps(cases), encoding="utf-8")
    command("golden", "split", str(path))
    stored = (tmp_path / "golden.splits.csv").read_bytes()

    line = ["golden", "split", str(path), "--columns", "query=query_id"]
    refused = command(*line, code=3)
    assert (
        "none of the queries with a stored split is in the golden set" in refused.stderr
    )
    assert "stored q0, q1, q2 …; in the set refund policy" in refused.stderr
    assert (tmp_path / "golden.splits.csv").read_bytes() == stored

    run = {text: ["d"] for text in texts}
    scores = rankstone.evaluate(path, run, "P@1", columns={"query": "query_id"})
    assert "the splits in golden.splits.csv are of other ids (" in str(scores)
