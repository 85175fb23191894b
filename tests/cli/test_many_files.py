"""Runs in many files, one of which is not as it should be: which one, and where; nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES, LISTS, LENGTH = 20, 500, 20
#: the row that is spoilt, in the seventh file, and the file as it is written
ROW, SPOILT = 7654, "07"
MEASURES = ["-m", "nDCG@10 AP RR"]


def rows(file: int) -> pl.DataFrame:
    """Return the rows of a file: 500 lists of 20 documents."""
    drawn = np.random.default_rng(file)
    queries = np.repeat(np.arange(LISTS) + file * LISTS, LENGTH)
    docs = np.tile(np.arange(LENGTH), LISTS) + 1000 * drawn.integers(
        0, 9, LISTS
    ).repeat(LENGTH)
    table = pl.DataFrame(
        {"query_id": queries, "doc_id": docs, "score": drawn.random(LISTS * LENGTH)}
    )
    return table.with_columns(
        pl.format("q{}", "query_id").alias("query_id"),
        pl.format("d{}", "doc_id").alias("doc_id"),
    )


PARTS = [rows(file) for file in range(FILES)]


def trec(part: pl.DataFrame, path: Path) -> None:
    """Write a part as TREC text."""
    part.select(
        "query_id",
        pl.lit("Q0").alias("q0"),
        "doc_id",
        pl.lit(1).alias("rank"),
        "score",
        pl.lit("t"),
    ).write_csv(path, separator=" ", include_header=False)


WRITE: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "parquet": lambda part, path: part.write_parquet(path, row_group_size=3000),
    "arrow": lambda part, path: part.write_ipc(path),
    "csv": lambda part, path: part.write_csv(path),
    "jsonl": lambda part, path: part.write_ndjson(path),
    "run": trec,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with judgments and a run in twenty files of each format."""
    folder = tmp_path_factory.mktemp("whole")
    judged = pl.concat(PARTS).gather_every(7).select("query_id", "doc_id", relevance=1)
    judged.write_parquet(folder / "qrels.parquet")
    for kind in WRITE:
        write(folder / kind, PARTS, kind)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with judgments and a run in twenty files of Parquet, to be spoilt."""
    shutil.copy(whole / "qrels.parquet", tmp_path)
    shutil.copytree(whole / "parquet", tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, parts: list[pl.DataFrame], kind: str) -> None:
    """Write files."""
    folder.mkdir()
    for number, part in enumerate(parts, start=1):
        WRITE[kind](part, folder / f"{number:02}.{kind}")


def evaluated(
    capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0
) -> tuple[str, str]:
    """Run an evaluation in this process; return what it says on standard output and error."""
    ended = exit_code(["eval", *map(str, arguments), *MEASURES])
    out, err = capsys.readouterr()
    assert ended == code, err
    assert "Traceback" not in err
    return out, err


def values(qrels: Path, run: Path) -> pl.DataFrame:
    """Return every value of every query."""
    return rankstone.evaluate(qrels, {"run": str(run)}, "nDCG@10 AP RR").per_query


def left(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


# -- a file that is broken -------------------------------------------------------------------------------
def cut(content: bytes) -> bytes:
    """Return the first half."""
    return content[: len(content) // 2]


def without_footer(content: bytes) -> bytes:
    """Return the file with the description of its columns overwritten."""
    return content[:-200] + bytes(192) + content[-8:]


def with_a_long_footer(content: bytes) -> bytes:
    """Return the file with a footer that claims to be longer than the file."""
    return content[:-8] + b"\xff\xff\xff\x7f" + content[-4:]


def with_a_bad_page(content: bytes) -> bytes:
    """Return the file with zeros in its middle."""
    position = len(content) // 2
    return (
        content[:position]
        + bytes(len(content) // 4)
        + content[position + len(content) // 4 :]
    )


def empty(_content: bytes) -> bytes:
    """Return nothing, which is no file of Parquet."""
    return b""


@pytest.mark.parametrize(
    "spoil", [cut, without_footer, with_a_long_footer, with_a_bad_page, empty]
)
def test_a_broken_file_is_named(
    folder: Path, spoil: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of twenty files of Parquet, the message says which cannot be read; nothing is written."""
    file = folder / "run" / f"{SPOILT}.parquet"
    file.write_bytes(spoil(file.read_bytes()))
    out, err = evaluated(
        capsys, "qrels.parquet", "run", "--per-query", "v.csv", "-o", "o.txt", code=3
    )

    assert err.startswith(f"error: run/{SPOILT}.parquet: the file ")
    assert "UTF-8" not in err.splitlines()[0]
    assert out == ""
    assert left(folder) == ["qrels.parquet", "run"]


SPOIL = {
    "NaN": pl.when(pl.int_range(pl.len()) == ROW)
    .then(float("nan"))
    .otherwise("score")
    .alias("score"),
    "null": pl.when(pl.int_range(pl.len()) == ROW)
    .then(None)
    .otherwise("doc_id")
    .alias("doc_id"),
}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "jsonl", "run"])
@pytest.mark.parametrize("what", SPOIL)
def test_a_bad_row_is_named(
    whole: Path,
    tmp_path: Path,
    what: str,
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A NaN or a missing id deep in the seventh of twenty files is found by file, row (or line) and query."""
    parts = [
        part.with_columns(SPOIL[what]) if number == 6 else part
        for number, part in enumerate(PARTS)
    ]
    write(tmp_path / "run", parts, kind)
    _, err = evaluated(capsys, whole / "qrels.parquet", tmp_path / "run", code=3)

    row = {"csv": f":{ROW + 2}", "jsonl": f":{ROW + 1}", "run": f":{ROW + 1}"}.get(
        kind, f", row {ROW + 1}"
    )
    assert err.startswith(f"error: {tmp_path / 'run' / SPOILT}.{kind}{row}: ")
    if what == "NaN":
        assert (
            f"query {parts[6]['query_id'][ROW]}, document {parts[6]['doc_id'][ROW]}"
            in err
        )
        assert (
            "the score is missing" if kind == "jsonl" else "the score is NaN"
        ) in err
    elif kind != "run":  # where a blank more is a column fewer
        assert "a row without doc_id" in err


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_that_differ(
    whole: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file without a column is named; one with more, in another order, is not."""
    parts = list(PARTS)
    parts[6] = parts[6].select("score", pl.lit("x").alias("tag"), "doc_id", "query_id")
    write(tmp_path / "run", parts, kind)
    numbers = values(whole / "qrels.parquet", tmp_path / "run")
    assert numbers.equals(values(whole / "qrels.parquet", whole / kind))
    WRITE[kind](
        parts[6].rename({"score": "sim"}), tmp_path / "run" / f"{SPOILT}.{kind}"
    )
    _, err = evaluated(capsys, whole / "qrels.parquet", tmp_path / "run", code=3)
    assert (
        f"run/{SPOILT}.{kind}: there is no column score, which other parts have" in err
    )
    assert "given:    columns sim, tag, doc_id, query_id" in err


def test_files_of_other_types(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file whose ids are numbers, or whose scores are texts, is named."""
    for change, message in (
        (
            pl.col("doc_id").str.slice(1).cast(pl.Int64),
            "doc_id holds whole numbers, and texts in other parts",
        ),
        (pl.col("score").cast(pl.String), "score holds texts"),
    ):
        PARTS[6].with_columns(change).write_parquet(
            folder / "run" / f"{SPOILT}.parquet"
        )
        assert (
            f"error: run/{SPOILT}.parquet: {message}"
            in evaluated(capsys, "qrels.parquet", "run", code=3)[1]
        )


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "run"])
def test_a_file_without_rows(whole: Path, tmp_path: Path, kind: str) -> None:
    """A file that has no rows is a part like any other."""
    write(tmp_path / "run", [*PARTS[:6], PARTS[0][:0], *PARTS[6:]], kind)

    numbers = values(whole / "qrels.parquet", tmp_path / "run")
    assert numbers.equals(values(whole / "qrels.parquet", whole / kind))


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("apart", [1, 12])
def test_a_query_in_two_files(
    whole: Path, tmp_path: Path, kind: str, apart: int
) -> None:
    """A list that goes on in the next file, or in one far away, has the digits it has in one file."""
    parts = list(PARTS)
    split = LENGTH * LISTS - 7  # in the middle of a list
    parts[3 + apart] = pl.concat([parts[3][split:], parts[3 + apart]])
    parts[3] = parts[3][:split]
    write(tmp_path / "run", parts, kind)

    numbers = values(whole / "qrels.parquet", tmp_path / "run")
    assert numbers.equals(values(whole / "qrels.parquet", whole / kind))


# -- no room, no patience --------------------------------------------------------------------------------
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
# without bytecode, which would be cut off, too, and break the processes after this one
os.execv(sys.executable, [sys.executable, "-B", "-m", "rankstone", *sys.argv[2:]])
"""


@pytest.mark.parametrize(
    "line",
    [
        "eval qrels.parquet run --per-query v.parquet",
        "eval qrels.parquet run --per-query v.csv",
        "eval qrels.parquet run --per-query v.jsonl",
        "eval qrels.parquet run -v -o v.txt",
        "compare qrels.parquet run a=run -o v.txt",
        "report qrels.parquet run a=run -o v.html",
    ],
)
def test_a_full_disk(folder: Path, line: str) -> None:
    """Where there is no room the file is named and why; neither it nor an unfinished one stays."""
    command = [sys.executable, "-c", LIMITED, "100", *line.split(), *MEASURES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 3, done.stderr
    assert (
        f"{folder / line.rsplit(maxsplit=1)[-1]}: the file cannot be written\n  given:    File too large"
        in done.stderr
    )
    assert left(folder) == ["qrels.parquet", "run"]


@pytest.mark.parametrize(
    "line", ["eval qrels.parquet run", "compare qrels.parquet run a=run"]
)
def test_a_full_device(
    folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it is with a device, which is written to when everything is there."""
    assert exit_code([*line.split(), "-o", "/dev/full", *MEASURES]) == 3
    err = capsys.readouterr().err
    assert (
        "/dev/full: the file cannot be written\n  given:    No space left on device"
        in err
    )
    assert left(folder) == ["qrels.parquet", "run"]


#: the command line, with a progress bar that prints the rows of every piece that is read
TELLING = """
import sys
from contextlib import nullcontext
from functools import partial
from rankstone.cli import execution, main
execution.progress_bar = lambda **_: nullcontext(partial(print, flush=True))
main(sys.argv[1:])
"""


@pytest.mark.parametrize("pieces", [1, 8, 20])
def test_an_interrupt_while_reading(folder: Path, pieces: int) -> None:
    """Ctrl-C in the midst of many files ends with 130: no traceback, no result, no unfinished file."""
    rows(FILES).write_parquet(
        more := folder / "run" / "more.parquet"
    )  # of unjudged queries
    for number in range(2000):
        os.link(more, folder / "run" / f"more-{number}.parquet")
    command = [sys.executable, "-c", TELLING, "eval", "qrels.parquet", "run", *MEASURES]
    process = subprocess.Popen(
        [*command, "-o", "o.txt", "--per-query", "v.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(pieces):
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)

    assert (process.returncode, "Traceback" in err) == (130, False), err
    assert left(folder) == ["qrels.parquet", "run"]


#: the command line, interrupted where Python can only report it: while a value is deleted
LOSING = """
import os, signal, sys
from contextlib import nullcontext
from rankstone.cli import execution, main

class Value:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        list(map(str, range(1000)))

execution.progress_bar = lambda **_: nullcontext(lambda rows: Value() and None)
main(sys.argv[1:])
"""


def test_an_interrupt_that_is_lost_is_repeated(folder: Path) -> None:
    """Libraries lose exceptions where they cannot raise them; Ctrl-C ends the command nevertheless."""
    command = [
        sys.executable,
        "-c",
        LOSING,
        "eval",
        "qrels.parquet",
        "run",
        *MEASURES,
        "-o",
        "o.txt",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.strip()) == (130, "interrupted")
    # on a busy machine the repeated signal may come when the result is there: then it is whole
    written = folder / "o.txt"
    if written.exists():
        assert "conventions" in written.read_text(encoding="utf-8")
        written.unlink()
    assert left(folder) == ["qrels.parquet", "run"]
