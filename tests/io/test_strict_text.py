"""Text that is not TREC's is never read as such: each is refused by what it is, with file and line."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import BadLine
from rankstone.io import (
    read_intents,
    read_interactions,
    read_judgments,
    read_pairs,
    read_run,
)
from rankstone.io.trec_text import ANY_TAG, _separator_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: rows of 4 and 6 columns before the one that is wrong: more than the first lines, which are looked at
MANY = 3000
JUDGMENTS = "".join(f"q{i} 0 d{i} 1\n" for i in range(MANY))
RUN = "".join(f"q{i} Q0 d{i} 1 {i}.5 r\n" for i in range(MANY))
#: what is wrong → judgments, the line, what they are
FOREIGN_JUDGMENTS = {
    "five columns": ("1 0 a 90 1\n1 0 b 90 0\n", 1, "more than"),
    "one line of five": ("1 0 a 1\n1 0 b 90 0\n", 2, "more than"),
    "a wide line far below": (JUDGMENTS + "q 0 d 1 2\n", MANY + 1, "more than"),
    "a blank in an id": ("1 0 a 1\n1 0 new york 12 1\n", 2, "more than"),
    "prels": ("1 a 1 0 0.5\n1 b 0 0 0.25\n", 1, "prels"),
    "features": ("4 qid:1 1:0.5 2:0.25\n", 1, "learning to rank"),
    "a sign for a document": ("4 0 # 75\n", 1, "there is a #"),
    "a sign far below": (JUDGMENTS + "q 0 # 1\n", MANY + 1, "there is a #"),
    "times of documents": ("q 0 d1 978300760\n", 1, "times, and no grades"),
}
FOREIGN_RUNS = {
    "no tag": ("q Q0 a 1 9.5\nq Q0 b 2 8.5\n", 1, "no tag"),
    "no tag, tabs": ("q\tQ0\ta\t1\t9.5\n", 1, "no tag"),
    "no tag in the last line": ("q Q0 a 1 9 r\nq Q0 b 2 8", 2, "no tag"),
    "no tag far below": (RUN + "q Q0 d 1 2\n", MANY + 1, "no tag"),
    "a blank in an id": (
        "q Q0 a 1 9 r\nq Q0 New York 2 8 r\n",
        2,
        "rank, score and tag do not fit",
    ),
    "blanks": ("q Q0 New York City 1 9.5 r\n", 1, "rank, score and tag do not fit"),
    "a number behind a blank": (
        "q Q0 p 12 1 9.5 r\n",
        1,
        "rank, score and tag do not fit",
    ),
    "blank, no tag": (
        "q Q0 New York 1 9.5\nq Q0 Los Al 2 9.5\n",
        1,
        "rank, score and tag do not fit",
    ),
    "a blank far below": (
        RUN + "q Q0 a b 1 2.5 r\n",
        MANY + 1,
        "rank, score and tag do not fit",
    ),
    "one list": ("0 11 12 13 98 99 97\n", 1, "rank, score and tag do not fit"),
    "exchanged": ("q Q0 a 9.5 1 r\nq Q0 b 8.5 2 r\n", 1, "rank and score"),
    "features": ("4 qid:1 1:0.5 2:0.25 3:1 4:1\n", 1, "learning to rank"),
}
#: what stays readable
GOOD_JUDGMENTS = {
    "fractions": "q 0 a 0.5\nq 0 b 1\n",
    "comments": "q 0 a 1 # seen twice\nq 0 b 0 #\n",
    "a comment far below": JUDGMENTS + "q 0 a 1 # seen\n",
    "blanks at the end": "q 0 a 1 \nq 0 b 0\t\n",
    "subtopics": "1 1 11 1\n1 2 11 0\n2 1 12 1\n",
    "assessors": "1 7 11 1\n2 9 12 1\n2 7 12 0\n",
    "one a query": "1 0 11 1\n2 0 12 1\n",
    "one row": "1 3 11 1\n",
    "one time": "q 0 d1 978300760\nq 0 d2 1\n",
    "ids with a sign": "q 0 #a 1\nq 0 b# 0\n",
}
GOOD_RUNS = {
    "several words": "q Q0 a 1 9 my run of today\nq Q0 b 2 8 my run\n",
    "words far below": RUN + "q Q0 d 1 2 r and more\n",
    "a number as tag": "q Q0 a 1 9 1\nq Q0 b 2 8 1\n",
    "a tag that begins with a number": "q Q0 a 1 9 2 stage rerank\n",
    "no rank": "q Q0 a - 9.5 r\nq Q0 b - 8.5 r\n",
    "numbers": "1 0 11 1 9 1\n1 0 12 2 8 1\n2 0 11 1 9 1\n",
    "ranks of floats": "q Q0 a 1.0 9 r\nq Q0 b 2.0 8 r\n",
    "blanks at the end": "q Q0 a 1 9 r \nq Q0 b 2 8 r\n",
    "comments": "# one\nq Q0 a 1 9 r # a comment\n",
}


def stored(folder: Path, text: str, suffix: str = "txt") -> Path:
    """Write a file, packed where its suffix says so."""
    path = folder / f"a.{suffix}"
    packed = suffix.endswith("gz")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("name", FOREIGN_JUDGMENTS)
def test_judgments_that_are_something_else(
    tmp_path: Path, name: str, suffix: str
) -> None:
    """The line is named, and what the file is; for a history, too."""
    text, line, what = FOREIGN_JUDGMENTS[name]
    path = stored(tmp_path, text, suffix)

    for read in (read_judgments, read_interactions):
        with pytest.raises(BadLine, match=re.escape(what)) as caught:
            read(path).collect()
        assert caught.value.where == f"{path}:{line}"
        assert caught.value.fix is None


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("name", FOREIGN_RUNS)
def test_runs_that_are_something_else(tmp_path: Path, name: str, suffix: str) -> None:
    """The line is named, and what the file is; no fix reads it all the same, nor does another reader of runs."""
    text, line, what = FOREIGN_RUNS[name]
    path = stored(tmp_path, text, suffix)

    readers: list[Callable[[], object]] = [
        lambda: read_run(path).collect(),
        lambda: read_run(path, layout=ANY_TAG).collect(),
        lambda: read_run(path, order="rank").collect(),
        lambda: rankstone.evaluate({"q": {"a": 1}}, path, "RR", run_column="tag"),
    ]
    for read in readers:
        with pytest.raises(BadLine, match=re.escape(what)) as caught:
            read()
        assert caught.value.where == f"{path}:{line}"
        assert caught.value.fix is None


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("name", GOOD_JUDGMENTS)
def test_judgments_that_stay_readable(tmp_path: Path, name: str, suffix: str) -> None:
    """Every row is read, with the grade of its fourth column."""
    text = GOOD_JUDGMENTS[name]
    rows = [line.split()[:4] for line in text.splitlines()]

    table = read_judgments(stored(tmp_path, text, suffix)).collect()

    assert table["doc_id"].to_list() == [row[2] for row in rows]
    assert table["relevance"].to_list() == [float(row[3]) for row in rows]


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
@pytest.mark.parametrize("name", GOOD_RUNS)
def test_runs_that_stay_readable(tmp_path: Path, name: str, suffix: str) -> None:
    """Every row is read, with the score of its fifth column."""
    text = GOOD_RUNS[name]
    rows = [line.split()[:5] for line in text.splitlines() if line[0] != "#"]

    path = stored(tmp_path, text, suffix)
    for table in (read_run(path), read_run(path, layout=ANY_TAG)):
        frame = table.collect()
        assert frame["doc_id"].to_list() == [row[2] for row in rows]
        assert frame["score"].to_list() == [float(row[4]) for row in rows]


def test_pairs_and_weights(tmp_path: Path) -> None:
    """Pairs are in judgments and runs alike, but not in lists; weights have three columns."""
    for text in ("q 0 a\n", "q 0 a 1\n", "q Q0 a 1 9 my run\n"):
        assert read_pairs(stored(tmp_path, text)).collect()["doc_id"].to_list() == ["a"]
    with pytest.raises(BadLine, match="lists"):
        read_pairs(stored(tmp_path, "0 11 12 13 14\n1 21 22\n")).collect()

    assert read_intents(stored(tmp_path, "1 2 0.5\n")).collect().height == 1
    with pytest.raises(BadLine, match="more than"):
        read_intents(stored(tmp_path, "1 2 0.5 7\n")).collect()


@pytest.mark.parametrize(
    "words",
    [
        "eval {0} {1} -m RR",
        "eval {0} {1} -m RR --memory 1GB",
        "compare {0} x={1} y={1} -m RR",
        "trec-eval {0} {1}",
        "check {0} {1}",
    ],
)
def test_commands_refuse_such_files(tmp_path: Path, words: str) -> None:
    """A line far below the first ones ends each command, and nothing is printed that could be pasted."""
    run, qrels = tmp_path / "r.run", tmp_path / "q.txt"
    run.write_text(RUN + "q1 Q0 New York 1 9.5 r\n")
    qrels.write_text(JUDGMENTS)

    done = command(*words.format(qrels, run).split(), code=None)

    message = done.stdout + done.stderr
    assert done.returncode
    assert f"r.run:{MANY + 1}" in message
    assert "rank, score and tag do not fit" in message
    assert "--run-column" not in message


def test_a_tag_that_is_cut_is_no_second_run(tmp_path: Path) -> None:
    """What is left of the last line is stated; no fix makes a run of it."""
    path = stored(tmp_path, "q Q0 a 1 9 bm25\nq Q0 b 2 8 bm")

    with pytest.raises(BadLine, match="the last line is cut") as caught:
        read_run(path).collect()

    assert caught.value.where == f"{path}:2"
    assert caught.value.fix is None


def test_line_ends_of_windows_are_read_at_once() -> None:
    """A carriage return before every line feed is tidy; alone it ends lines that only the careful reader knows."""
    assert _separator_of(b"q 0 d 1\r\nq 0 e 1\r\n") == (" ", 6)
    assert _separator_of(b"q\t0\td\t1\n") == ("\t", 3)
    for untidy in (b"q 0 d 1\rq 0 e 1\r", b"\rq 0 d 1\n", b"q  0 d 1\n", b"q\t0 d 1\n"):
        assert _separator_of(untidy) == (None, 0)
