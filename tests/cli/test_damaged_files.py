"""Files whose bytes are damaged: one message, whatever the threads that read them go through."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import InputError, demo
from rankstone.cli import ending
from rankstone.errors import NotEnoughMemory
from rankstone.io import read_run, unreadable_files
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 5000
TABLE = pl.DataFrame(
    {
        "query_id": [f"q{row // 100:02}" for row in range(ROWS)],
        "doc_id": [f"d{row}" for row in range(ROWS)],
        "score": [float(-row) for row in range(ROWS)],
    }
)
QRELS = {"q00": {"d1": 1}, "q49": {"d4901": 1}}


def damaged(path: Path, where: int) -> None:
    """Write a table whose bytes are damaged so that a thread of Polars panics over them.

    Where that is depends on the version, so bytes of pages' headers, or of the footer, are tried.
    """
    if path.suffix == ".parquet":
        TABLE.write_parquet(path, compression="uncompressed", row_group_size=ROWS // 2)
        scan: Callable[[Path], pl.LazyFrame] = pl.scan_parquet
    else:
        TABLE.write_ipc(path, compression="uncompressed", record_batch_size=ROWS // 2)
        scan = pl.scan_ipc
    whole = path.read_bytes()
    first = where if where >= 0 else len(whole) + where
    for index in range(first, min(first + 400, len(whole) - 12)):
        for value in (0x7F, 0x00):
            path.write_bytes(whole[:index] + bytes([value]) + whole[index + 1 :])
            try:
                scan(path).collect()
            except pl.exceptions.PanicException:
                return
            except (pl.exceptions.PolarsError, OSError):
                continue
    pytest.fail("no damage makes this version of Polars panic")


@pytest.mark.parametrize(("name", "where"), [("a.parquet", 4), ("a.arrow", -400)])
def test_stderr_holds_our_message_and_nothing_else(
    name: str, where: int, tmp_path: Path
) -> None:
    """Not a word of Rust, and exit code 3; where somebody looks for a bug all of it is there."""
    damaged(tmp_path / name, where)
    (tmp_path / "q.txt").write_text("q00 0 d1 1\nq49 0 d4901 1\n", encoding="utf-8")
    line = [sys.executable, "-m", "rankstone", "eval", "q.txt", name]

    def run(**environment: str) -> tuple[int, str]:
        env = {**os.environ, "RUST_BACKTRACE": "1", **environment}
        done = subprocess.run(
            line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    code, message = run()
    assert code == 3
    assert message in (
        f"error: {name}: the file is damaged: it ends too early\n  fix:      copy or write it again\n",
        f"error: {name}: the file is damaged: it cannot be read\n  fix:      copy or write it again\n",
    )
    assert "panicked at" in run(RANKSTONE_TRACEBACK="1")[1]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_thread_that_dies_is_no_end_of_the_table(name: str, tmp_path: Path) -> None:
    """A stream that breaks off is refused: half a run would have half its queries missing."""
    path = tmp_path / name
    damaged(path, 4 if name == "a.parquet" else -400)
    scan = pl.scan_parquet if name == "a.parquet" else pl.scan_ipc
    for run in (path, [path], {"a": path}, scan(path)):
        with pytest.raises(InputError, match="the file is damaged"):
            rankstone.evaluate(QRELS, run, "AP")
    with pytest.raises(InputError, match="the file is damaged"):
        read_run(path).only(pl.col("query_id") >= "q").collect()


def test_the_damaged_part_of_several_is_named(tmp_path: Path) -> None:
    """Of a folder of parts it is the damaged one."""
    folder = tmp_path / "run"
    folder.mkdir()
    TABLE.write_parquet(folder / "part-0.parquet")
    damaged(folder / "part-1.parquet", 4)
    with pytest.raises(InputError, match="the file is damaged") as met:
        rankstone.evaluate(QRELS, folder, "AP", duplicates="first_drop")
    assert met.value.where == str(folder / "part-1.parquet")


@pytest.mark.parametrize("rows", [1, ROWS // 2, ROWS])
def test_whole_files_are_read_to_the_last_row(rows: int, tmp_path: Path) -> None:
    """What marks the end is no row, and rows of nulls stay what they are."""
    table = TABLE.head(rows)
    table.write_parquet(tmp_path / "a.parquet", row_group_size=1000)
    scores = rankstone.evaluate(QRELS, {"run": tmp_path / "a.parquet"}, "NumRet AP")
    want = rankstone.evaluate(QRELS, table, "NumRet AP")
    assert scores.to_dict() == want.to_dict()
    assert scores.audit.runs["run"].rows == want.audit.runs["run"].rows

    nothing = pl.DataFrame(
        {name: [None] for name in table.columns}, schema=table.schema
    )
    pl.concat([table, nothing]).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=f"b.parquet, row {rows + 1}: "):
        rankstone.evaluate(QRELS, tmp_path / "b.parquet", "AP")


def test_other_words_on_standard_error_are_passed_on(tmp_path: Path) -> None:
    """What libraries write there, without a panic, arrives; the demo's table is where it was."""
    own = tmp_path / "own.py"
    own.write_text(
        "import os, rankstone\nos.write(2, b'one\\n\\ntwo')\n"
        "rankstone.measures.register_discount('own1', lambda r: r)\n",
        encoding="utf-8",
    )
    line = [
        sys.executable,
        "-m",
        "rankstone",
        "eval",
        "--import",
        str(own),
        str(demo.QRELS),
    ]
    done = subprocess.run(
        [*line, str(demo.RUNS["bm25"])], capture_output=True, text=True, check=True
    )
    assert done.stderr == "one\n\ntwo"
    assert done.stdout.startswith("run ")


@each(
    "error",
    [
        pl.exceptions.PanicException(
            "could not spawn threads: ThreadPoolBuildError { kind: IOError(Os { code: 11 }) }"
        ),
        pl.exceptions.ComputeError("memory allocation of 8388608 bytes failed"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        MemoryError(),
    ],
    ids=repr,
)
def test_short_of_memory_is_no_damage(error: BaseException) -> None:
    """A file is not called damaged where a thread or a piece of memory could not be had."""
    with (
        pytest.raises(NotEnoughMemory, match="not enough memory") as caught,
        reading("a"),
    ):
        raise error
    assert caught.value.where == "a"
    assert isinstance(caught.value, MemoryError)
    assert not isinstance(caught.value, InputError)


def test_damage_under_a_limit_names_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory is limited, a reader that dies may have died of that."""
    panic = pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")
    for limit, text in ((None, "copy or write it again"), (700 << 20, "than 700 MiB")):
        monkeypatch.setattr(unreadable_files, "memory_limit", lambda limit=limit: limit)
        with pytest.raises(InputError, match="is damaged") as caught, reading("a"):
            raise panic
        assert text in (caught.value.fix or "")


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of address space")
@pytest.mark.parametrize("limit", [300, 900])
def test_a_process_short_of_memory_names_memory(limit: int, tmp_path: Path) -> None:
    """However it ends, in a library that aborts even, memory is named, and no bug is reported."""
    board = tmp_path / "board.csv"
    board.write_text("system,x,y\na,.1,.2\nb,.2,.3\nc,.3,.1\n", encoding="utf-8")
    for words in (["board", str(board)], ["eval", demo.QRELS, demo.RUNS["bm25"]]):
        line = shlex.join([sys.executable, "-m", "rankstone", *map(str, words)])
        done = subprocess.run(
            ["/bin/sh", "-c", f"ulimit -v {limit << 10}; {line}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert f"memory is limited to {limit} MiB" in done.stderr
        assert "internal error" not in done.stderr
        assert "a bug" not in done.stderr


def test_no_library_of_matrices_is_loaded_without_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """OpenBLAS would ask for its buffers again and again; what loads none is found by others."""
    finder = ending.RoomForBlas()
    finder.find_spec("scipy.special")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("rankstone.cli.ending.mmap.mmap", refuse)
    finder.find_spec("polars")
    for name in ("numpy", "scipy.special"):
        with pytest.raises(MemoryError):
            finder.find_spec(name)
