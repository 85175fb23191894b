"""Files appear whole or not at all, and what a killed process left behind is cleared away."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from rankstone.errors import InputError
from rankstone.io import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITER = """
import sys
from rankstone.io import atomic
with atomic(sys.argv[1]) as unfinished:
    unfinished.write_text("half of it")
    print(unfinished, flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that writes a file and goes on when its input ends; come back once it has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(str(path.parent))
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="there are no such locks here")
def test_what_the_killed_left_is_cleared_and_what_the_living_write_is_not(
    tmp_path: Path,
) -> None:
    """The next one who writes into a folder removes the files of processes that are gone, and only these."""
    mine, others = (
        tmp_path / "mine.csv",
        [tmp_path / ".other.part", tmp_path / ".rankstone-of-elsewhere.part"],
    )
    for other in others:
        other.write_text("of another program, or another machine")
    with ExitStack() as living:
        killed = living.enter_context(writer(tmp_path / "killed.csv"))
        alive = living.enter_context(writer(tmp_path / "alive.csv"))
        here = living.enter_context(atomic(tmp_path / "here.csv"))
        here.write_text("of this process")
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 3 + len(others)

        with atomic(mine) as unfinished:
            unfinished.write_text("whole")

        assert len(list(tmp_path.iterdir())) == 2 + len(others) + 1
        alive.communicate("")
        assert alive.returncode == 0

    left = {
        path.name: path.read_text() for path in tmp_path.iterdir() if path not in others
    }
    assert left == {
        "mine.csv": "whole",
        "alive.csv": "half of it",
        "here.csv": "of this process",
    }
    assert all(map(os.path.exists, others))


@pytest.mark.parametrize(
    "sink", ["sink_parquet", "sink_csv", "sink_ndjson", "sink_ipc"]
)
def test_writers_keep_the_file_that_is_locked(tmp_path: Path, sink: str) -> None:
    """What writes a table fills the file it was given: one in its place would be held by no process."""
    with atomic(tmp_path / "rows") as unfinished:
        before = unfinished.stat().st_ino
        getattr(pl.LazyFrame({"a": range(1_000_000)}), sink)(unfinished)
        assert unfinished.stat().st_ino == before


def test_a_name_of_the_longest_kind_can_be_written(tmp_path: Path) -> None:
    """The name a file has while it is written is no longer than the one it will have."""
    longest = tmp_path / ("n" * 255)
    with atomic(longest) as unfinished:
        unfinished.write_text("whole")
    assert longest.read_text() == "whole"


@pytest.fixture(name="calls")
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Record what is written through to the disk and what is renamed, in their order."""
    calls: list[tuple[str, str]] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        place = Path(f"/proc/self/fd/{handle}").readlink()
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        what = str(place) if is_folder else place.read_text()
        calls.append(("folder" if is_folder else "content", what))
        sync(handle)

    def renamed(unfinished: Path, target: Path) -> Path:
        calls.append(("name", str(target)))
        return replace(unfinished, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return calls


@pytest.mark.skipif(sys.platform != "linux", reason="names of open files")
def test_content_then_name_then_folder_reach_the_disk(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    """A power cut at any moment leaves the old file or the new one, never an empty one."""
    target = tmp_path / "out.csv"
    for text in ("first", "second"):
        calls.clear()
        with atomic(target) as unfinished:
            unfinished.write_text(text)
        names = ("name", str(target)), ("folder", str(tmp_path))
        assert calls == [("content", text), *names]
    calls.clear()
    with pytest.raises(ZeroDivisionError), atomic(target) as unfinished:
        unfinished.write_text(str(1 / 0))
    assert calls == []
    assert target.read_text() == "second"


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP, errno.EACCES])
def test_file_systems_that_cannot_write_through_are_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Some network drives, and folders on Windows, have no such call."""

    def refuse(_handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refuse)
    with atomic(tmp_path / "out.csv") as unfinished:
        unfinished.write_text("whole")
    assert (tmp_path / "out.csv").read_text() == "whole"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_what_does_not_reach_the_disk_is_not_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A disk that is full may say so only now."""
    target = tmp_path / "out.csv"
    target.write_text("old")

    def refuse(_handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refuse)
    with (
        pytest.raises(InputError, match="cannot be written"),
        atomic(target) as unfinished,
    ):
        unfinished.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert target.read_text() == "old"
