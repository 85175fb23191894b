"""Every file of every command replaced by something that cannot be read: refused, with its name."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.lines_with_files import LINES, make_files, typed
from tests.command_line import commands, exit_code
from tests.night import part

from rankstone.io import sources
from rankstone.measures.core.gains_and_discounts import CUSTOM_GAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if os.name != "posix":
    pytest.skip("pipes have no names here", allow_module_level=True)

_PICTURE: Final = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
_WRONG: Final = {
    "run": "a.run",
    "csv": "events.csv",
    "json": "card.json",
    "toml": "gate.toml",
}
#: seconds after which a command hangs
_HANGS: Final = 20
#: what says what was expected, besides a line for that
_EXPECTED: Final = re.compile(
    r"expected:|fix:|no column|is not a number|needs a column|not JSON"
)
#: what a command may read without a word: another run is a run, and originals are only looked at if needed
_HARMLESS: Final = re.compile(
    r"(run|run2|nested_run\.json|run\.jsonl) run|verify --original .*"
)
_READERS: Final = (
    "scan_csv",
    "scan_parquet",
    "scan_ndjson",
    "scan_ipc",
    "scan_lines",
    "read_csv",
    "read_parquet",
    "read_ipc_stream",
)

#: folders that a command makes
_MADE: Final = {
    (command, kind)
    for command in ("conventions pages", "demo")
    for kind in ("folder", "absent/folder")
}

#: the file that may not be opened, and whether its folder may not be searched, too
_denied: list[tuple[str, bool]] = []


def _refuse(path: object, *, searched: bool = False) -> None:
    if not _denied or not isinstance(path, (str, os.PathLike)):
        return
    denied, closed = _denied[0]
    if Path.cwd() / path == Path(denied) and (closed or not searched):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Deny the denied file to every user: root may open every file, so its mode would change nothing."""
    if event == "open" and isinstance(arguments[0], str):
        _refuse(arguments[0])


sys.addaudithook(_hook)


@pytest.fixture(autouse=True)
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Deny files to Polars and to `stat` as well; wait for no pipe; raise where a command hangs."""

    def hangs(*_: object) -> None:
        raise TimeoutError("the command hangs")

    def denying(
        reader: Callable[..., Any], source: Any, *rest: Any, **named: Any
    ) -> Any:
        try:
            _refuse(source)
        except PermissionError as error:  # Polars has no number, only a text
            raise PermissionError(
                f"Permission denied (os error 13): {source}"
            ) from error
        return reader(source, *rest, **named)

    for name in _READERS:
        monkeypatch.setattr(pl, name, partial(denying, getattr(pl, name)))
    stat = os.stat

    def checked(path: Any, **named: Any) -> os.stat_result:
        _refuse(path, searched=True)
        return stat(path, **named)

    monkeypatch.setattr(os, "stat", checked)
    monkeypatch.setattr(sources, "_PATIENCE", 0.01)
    before = signal.signal(signal.SIGALRM, hangs)
    yield
    signal.signal(signal.SIGALRM, before)
    _denied.clear()
    CUSTOM_GAINS.clear()


@pytest.fixture(name="files", scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Make the files of all lines once; return their folder and role → name."""
    folder = tmp_path_factory.mktemp("files")
    return folder, make_files(folder)


def _make_unreadable(kind: str, good: Path, bad: Path) -> None:
    """Put something of a kind in the place of a file."""
    if kind == "folder":
        bad.mkdir()
    elif kind == "folder of pictures":
        bad.mkdir()
        (bad / "a.png").write_bytes(_PICTURE)
    elif kind == "empty":
        bad.touch()
    elif kind == "binary":
        bad.write_bytes(_PICTURE)
    elif kind == "dangling link":
        bad.symlink_to("nowhere")
    elif kind == "link to itself":
        bad.symlink_to(bad.name)
    elif kind == "pipe without a writer":
        os.mkfifo(bad)
    elif kind in ("denied", "closed folder"):
        bad.write_bytes(good.read_bytes())
        _denied.append((str(bad), kind == "closed folder"))
    elif kind in _WRONG:
        bad.write_bytes((good.parent / _WRONG[kind]).read_bytes())


#: what may stand in the place of a file; the last ones are good files of another role
KINDS: Final = (
    "absent", "folder", "folder of pictures", "empty", "binary", "dangling link", "link to itself",
    "pipe without a writer", "denied", "closed folder", *_WRONG,
)  # fmt: skip


def _remove(path: Path) -> None:
    _denied.clear()
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _run(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a command in a folder; return how it ends and all that it says."""
    CUSTOM_GAINS.clear()
    signal.alarm(_HANGS)
    before = Path.cwd()
    os.chdir(folder)
    try:
        with CliRunner().isolation() as streams:
            code = exit_code(words)
            sys.stdout.flush()
            sys.stderr.flush()
            return code, "".join(stream.getvalue().decode() for stream in streams[:2])
    finally:
        signal.alarm(0)
        os.chdir(before)


def _problem(code: int, message: str, name: str) -> str | None:
    """Return what is wrong with the way in which a command refuses a file."""
    if code not in (1, 2, 3):
        return f"exit {code}"
    if name not in message:
        return "the file is not named"
    if code == 1:  # a verdict about the file
        return None
    return None if _EXPECTED.search(message) else "it is not said what was expected"


def _slots(line: str) -> Iterator[tuple[str, int, str]]:
    """Yield the option (or the number) of each file that is read, its place and its role."""
    words = shlex.split(line)
    for place, word in enumerate(words):
        role = re.search(r"<([\w.]+)>(?!out)", word)
        if role is not None:
            option = words[place - 1] if place else ""
            yield (option if option.startswith("-") else str(place)), place, role[1]


@pytest.mark.parametrize("command", LINES)
def test_files_that_cannot_be_read_are_refused(
    command: str, files: tuple[Path, dict[str, str]]
) -> None:
    """Each file that a command reads × kinds: no bug, the file is named, and what was expected.

    A file is replaced by four of the kinds in turn, so that commands with several files meet all of them, and at
    night by each.
    """
    folder, names = files
    wrong, tried = [], 0
    (folder / "bad").mkdir(exist_ok=True)
    turn = list(LINES).index(command)
    for line in LINES[command]:
        for option, place, role in _slots(line):
            good, bad = folder / names[role], folder / "bad" / names[role]
            turn += 1
            for kind in part(KINDS, 4, turn):
                slot = f"{command} {option} {kind}"
                same_role = _WRONG.get(kind) == good.name
                if same_role or any(map(_HARMLESS.match, (f"{role} {kind}", slot))):
                    continue
                _make_unreadable(kind, good, bad)
                words = shlex.split(line)
                words[place] = words[place].replace(f"<{role}>", f"bad/{bad.name}", 1)
                typed_words = [*command.split(), *typed(shlex.join(words), names)]
                problem = _problem(*_run(typed_words, folder), f"bad/{bad.name}")
                tried += 1
                if problem is not None:
                    wrong.append(f"{slot}: {problem}")
                _remove(bad)
    assert not wrong, "\n".join([f"{len(wrong)} of {tried}", *wrong])


@pytest.mark.parametrize(
    "words", ["verify card.json", "gate --config gate.toml", "board collections.toml"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_named_in_files_are_refused_like_others(
    words: str, kind: str, files: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """A run on a card, of a gate, of a collection of a board: named, and no bug."""
    folder, names = files
    for name in names.values():
        shutil.copy(folder / name, tmp_path)
    good, bad = folder / names["run"], tmp_path / names["run"]
    if kind != "run":
        bad.unlink()
        _make_unreadable(kind, good, bad)
        problem = _problem(*_run(words.split(), tmp_path), bad.name)
        assert problem is None, problem


@pytest.mark.parametrize("command", LINES)
def test_outputs_that_cannot_be_written_are_refused(
    command: str, files: tuple[Path, dict[str, str]]
) -> None:
    """Each file that a command writes × a folder, a file in no folder, a link to itself: before any work."""
    folder, names = files
    wrong = []
    for line in LINES[command]:
        words = shlex.split(line)
        for place in [
            index for index, word in enumerate(words) if word.endswith(">out")
        ]:
            suffix = words[place][1:-4]
            for kind in ("folder", "absent/folder", "link to itself"):
                bad = folder / (
                    f"absent/new.{suffix}" if "/" in kind else f"bad.{suffix}"
                )
                _make_unreadable(kind, folder, bad)
                changed = [*words[:place], str(bad), *words[place + 1 :]]
                typed_words = [*command.split(), *typed(shlex.join(changed), names)]
                problem = _problem(*_run(typed_words, folder), bad.name)
                if problem is not None and (command, kind) not in _MADE:
                    wrong.append(f"{command} {words[place - 1]} {kind}: {problem}")
                _remove(bad)
    assert not wrong, "\n".join(wrong)


def test_every_file_is_in_a_line() -> None:
    """The lines above use every argument and every option of every command that names a file."""
    for name, command in commands().items():
        words = [word for line in LINES[name] for word in shlex.split(line)]
        for param in command.params:
            if isinstance(param, click.Option):
                if re.search("FILE|RUN|LOG|MODEL", param.metavar or ""):
                    flags = [
                        flag
                        for flag in (*param.opts, *param.secondary_opts)
                        if flag in words
                    ]
                    after = words[words.index(flags[0]) + 1] if flags else ""
                    assert "<" in after, f"{name} {param.opts[0]}"
            elif re.search(
                "QRELS|RUN|SCORES|CARD|LOG|EVENTS|DATA|MODEL|TRAIN|ANSWERS|A B|FOLDER",
                f"{param.metavar} {param.name}".upper(),
            ):
                assert any(word.startswith("<") for word in words), (
                    f"{name} {param.name}"
                )
