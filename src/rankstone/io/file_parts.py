"""The files that a path names: one, the parts in a folder or of a glob, the judgments in a folder of BEIR."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rankstone._basics import is_path, quoted
from rankstone.errors import EmptyInput, InputError, did_you_mean, printable
from rankstone.io.file_roles import note_input
from rankstone.io.sources import is_database, is_stream
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from rankstone._basics import StrPath

_CORPUS: Final = (
    "corpus.jsonl",
    "queries.jsonl",
    "corpus.jsonl.gz",
    "queries.jsonl.gz",
)


def files_of(path: StrPath) -> list[Path]:
    """Return the files that a path names; none for a stream or a database."""
    if is_database(path) or is_stream(path):
        return []
    return parts_of(os.fspath(path))


def parts_of(name: str) -> list[Path]:
    """Return the file, or the files of a folder or a glob in the order of their names."""
    path = Path(name)
    with reading(name):  # whether it exists may be a secret of its folder
        if path.is_dir():
            return _files_in(path)
        if path.exists():
            note_input(path)
            return [path]
    found = (
        sorted(map(Path, glob.glob(name, recursive=True)))  # noqa: PTH207 - any path
        if glob.has_magic(name)
        else []
    )
    if found:
        return [part for p in found for part in parts_of(str(p))]
    leads = path.is_symlink()
    raise InputError(
        "the link leads to no file" if leads else "there is no such file",
        where=printable(name),
        given=f"a link to {printable(path.readlink())}" if leads else None,
        expected="a file, or a folder of parts",
        fix=did_you_mean(
            path.name,
            (p.name for p in _siblings(path) if p != path),
            lambda one: printable(quoted(str(path.parent / one))),
        ),
    )


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a folder and of those in it, but for hidden ones."""
    parts = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith((".", "_"))
    )
    if not parts:
        raise EmptyInput(
            "the folder has no files",
            where=str(folder),
            expected="a file, or a folder of parts",
        )
    for part in parts:
        note_input(part, f"an input in {folder}")
    return parts


def _siblings(path: Path) -> list[Path]:
    try:
        return list(path.parent.iterdir())
    except OSError:
        return []


def judgments_in(source: object) -> tuple[object, tuple[str, ...]]:
    """Return the test judgments in a folder of BEIR with a note on that; any other source as it is.

    >>> judgments_in("qrels.txt")
    ('qrels.txt', ())
    """
    if not is_path(source) or is_database(source):
        return source, ()
    folder = Path(source)
    if not (folder / "qrels").is_dir() or not any(
        (folder / name).is_file() for name in _CORPUS
    ):
        return source, ()
    splits = sorted(
        path
        for path in (folder / "qrels").glob("*.tsv")
        if not path.name.startswith(".")
    )
    tests = [path for path in splits if path.name == "test.tsv"]
    if not splits:
        return source, ()
    if not tests and len(splits) > 1:
        raise InputError(
            "this BEIR folder has judgments for several splits, but no test.tsv",
            where=os.fspath(source),
            given=", ".join(f"qrels/{path.name}" for path in splits),
            expected="the judgments of one split",
            fix=f"name the file: {splits[0]}",
        )
    chosen = (tests or splits)[0]
    others = [path.name for path in splits if path != chosen]
    note = f"BEIR folder: qrels/{chosen.name}" + (
        f" (not {', '.join(others)})" if others else ""
    )
    return chosen, (note,)
