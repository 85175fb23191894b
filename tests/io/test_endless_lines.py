"""A line without end is refused with its number, whatever it is packed in, and takes no memory."""

from __future__ import annotations

import gzip
import importlib
import os
import subprocess
import sys
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rankstone
from rankstone.errors import BadLine, InputError
from rankstone.io.damaged_files import refuse_endless

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MIB = 1 << 20
_ROW = {
    "run": b"q1 Q0 d1 1 2.0 tag\n",
    "csv": b"query_id,doc_id,score\nq1,d1,2.0\n",
    "tsv": b"query_id\tdoc_id\tscore\nq1\td1\t2.0\n",
    "jsonl": b'{"query_id": "q1", "doc_id": "d1", "score": 2.0}\n',
    "letor": b"1 qid:1 1:0.5\n",
}


def zstd(content: bytes) -> bytes:
    """Pack content as one frame of Zstandard."""
    packed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return packed


PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstd}


@cache
def three_gigabytes(packing: str, filling: bytes) -> bytes:
    """Pack three gigabytes of one byte; the few kilobytes they become are made once."""
    return PACKED[packing](filling * (64 * _MIB)) * 48


#: a command with 4 GiB of address space, which says how much memory it used
_LIMITED = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import os
from rankstone.cli import ending
leave = ending.leave
def told(code):
    said = open("/proc/self/status").read()  # getrusage would tell of the process that started this one, too
    print("peak", int(re.search(r"VmHWM:\\s+(\\d+)", said)[1]) >> 10)
    leave(code)
import rankstone.cli
rankstone.cli.leave = told
rankstone.cli.main(sys.argv[1:])
"""


@pytest.fixture(params=list(PACKED))
def packing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("filling", [b"a", b"\0"], ids=["letters", "zeros"])
@pytest.mark.parametrize("kind", ["run", "csv", "tsv", "jsonl"])
def test_three_gigabytes_in_one_line_take_no_memory(
    tmp_path: Path, kind: str, packing: str, filling: bytes
) -> None:
    """Three gigabytes that unpack from a few kilobytes are refused in the line they begin in."""
    bomb, qrels = tmp_path / f"bomb.{kind}.{packing}", tmp_path / "qrels"
    bomb.write_bytes(PACKED[packing](_ROW[kind]) + three_gigabytes(packing, filling))
    qrels.write_text("q1 0 d1 1\n")

    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, "eval", str(qrels), str(bomb), "-m", "RR"],
        env={**os.environ, "POLARS_MAX_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )

    line, longest = _ROW[kind].count(b"\n") + 1, 256 if kind == "jsonl" else 16
    assert f"{bomb}:{line}: the line is longer than {longest} MiB" in done.stderr
    assert done.returncode == 3
    assert int(done.stdout.split()[-1]) < 500


def test_a_plain_file_of_zeros_is_refused(tmp_path: Path) -> None:
    """A file that is one hole of three gigabytes, as a disk leaves behind that was full, is one line."""
    run = tmp_path / "run.txt"
    with run.open("wb") as file:
        file.write(_ROW["run"] * 2)
        file.truncate(3 << 30)

    with pytest.raises(BadLine) as caught:
        rankstone.evaluate({"q1": {"d1": 1}}, str(run), "RR")

    assert caught.value.where == f"{run}:3"


def test_every_reader_of_lines_has_the_limit(tmp_path: Path, packing: str) -> None:
    """Parts of a folder, the run's tag for trec_eval, LETOR text, logs, and what trec_eval printed."""
    from rankstone.conventions.trec_eval.program import tag_of
    from rankstone.io.file_formats import scan_parts
    from rankstone.ltr import read as read_features

    def bomb(name: str, first: bytes) -> Path:
        path = tmp_path / name / f"{name}.{packing}"
        path.parent.mkdir()
        path.write_bytes(PACKED[packing](first + b"a" * (17 * _MIB)))
        return path

    readers: list[tuple[Path, Callable[[Path], Any]]] = [
        (
            bomb("a.run", b""),
            lambda path: rankstone.evaluate({"q1": {"d1": 1}}, str(path.parent), "RR"),
        ),
        (bomb("b.run", _ROW["run"]), tag_of),
        (bomb("c.letor", _ROW["letor"]), read_features),
        (bomb("d.csv", b"user,time\nu,2024-01-01\n"), scan_parts),
        (
            bomb("e.txt", b"map\tq1\t0.5\n"),
            lambda path: rankstone.compare_scores([str(path), str(path)]),
        ),
    ]
    (tmp_path / "a.run" / "z.run").write_bytes(_ROW["run"])
    for path, read in readers:
        with pytest.raises(BadLine, match="the line is longer than 16 MiB"):
            read(path)


@pytest.mark.parametrize(
    "packed",
    [bytes, gzip.compress, zlib.compress, zstd],
    ids=["plain", "gz", "zlib", "zst"],
)
@pytest.mark.parametrize("on_disk", [True, False], ids=["file", "bytes"])
def test_a_line_of_the_limit_is_read(
    tmp_path: Path,
    packed: Callable[[bytes], bytes],
    on_disk: bool,  # noqa: FBT001
) -> None:
    """So many bytes are a line, one more is not; the newline does not count."""

    def source(content: bytes) -> Path | bytes:
        if not on_disk:
            return packed(content)
        path = tmp_path / f"{len(content)}-{content[:1].decode()}"
        path.write_bytes(packed(content))
        return path

    longest = 3 * _MIB
    fits, exceeds = b"b" * longest, b"c" * (longest + 1)
    refuse_endless(source(b"x\n" + fits + b"\n" + fits), "t", longest)
    for content, where in (
        (b"x\n" + exceeds, "t:2"),
        (b"y\n\n" + fits + b"\n" + exceeds + b"\n", "t:4"),
    ):
        with pytest.raises(BadLine) as caught:
            refuse_endless(source(content), "t", longest)
        assert (caught.value.where, caught.value.given) == (where, "c" * 39 + "…")


def test_carriage_returns_alone_are_named() -> None:
    """A large file whose lines end in carriage returns is one line; the message says how to mend it."""
    with pytest.raises(BadLine, match="tr '\\\\r' '\\\\n'"):
        refuse_endless(b"q1 Q0 d1 1 2.0 t\r" * _MIB, "run.txt")


def test_without_a_library_for_zstandard_only_bombs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing unpacks Zstandard piece by piece, files that grow as much as texts do are let in."""

    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    text = b"".join(
        b"q%d Q0 d%d 1 2.0 tag\n" % (index, index * 7919 % 1_000_003)
        for index in range(_MIB)
    )
    ordinary, bomb = tmp_path / "ordinary.run.zst", tmp_path / "bomb.run.zst"
    ordinary.write_bytes(zstd(text) * 4)
    bomb.write_bytes(zstd(b"a" * (64 * _MIB)) * 2)

    refuse_endless(ordinary, "ordinary")
    with pytest.raises(InputError, match="pip install zstandard"):
        refuse_endless(bomb, "bomb")
