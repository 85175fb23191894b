"""Output in encodings other than UTF-8: plain twins for signs that they lack, and never a crash."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Final

import pytest
from tests.cli.lines_with_files import LINES, make_files, typed
from tests.command_line import commands, exit_code
from tests.night import part, turn_of
from tests.rows import each

from rankstone.cli.plain_text import plain_output
from rankstone.measures.core.gains_and_discounts import CUSTOM_GAINS

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS: Final = ("cp1252", "latin-1", "cp437", "shift_jis", "gbk", "ascii")
#: commands that print nothing but help, one that must write, and those whose tables have one language
_SILENT: Final = ("report", "conventions pages")
_WRITING: Final = "ltr train"
_ENGLISH: Final = ("diff", "beyond", "online retention")


def printed(words: list[str], encoding: str) -> tuple[int, bytes, bytes]:
    """Run a command with streams of an encoding; return how it ends and what it prints."""
    CUSTOM_GAINS.clear()
    out, err = io.BytesIO(), io.BytesIO()
    inputs = [io.TextIOWrapper(raw, encoding) for raw in (out, err)]
    streams = list(map(plain_output, inputs))
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = exit_code(words)
        for stream in streams:
            stream.flush()
    return code, out.getvalue(), err.getvalue()


def lines_of(name: str, names: dict[str, str]) -> list[list[str]]:
    """Return the first line of a command, without files that it writes, in each language, and its help."""
    command = commands()[name]
    line = LINES[name][0]
    if name != _WRITING:
        line = re.sub(r"--?[\w-]+ <\w+>out", "", line)
    words = typed(line, names)
    has_languages = any("--lang" in param.opts for param in command.params)
    ways = [["--lang", "en"], ["--lang", "zh"]]
    lines = [words + way for way in ways] if has_languages else [words]
    lines = [words] if name in _ENGLISH else lines
    lines = [] if name in _SILENT else lines
    has_more = any(
        getattr(param, "panel", "") == "Alignment" for param in command.params
    )
    requested = [["--help"], ["--help-all"]] if has_more else [["--help"]]
    return [[*name.split(), *part] for part in (*lines, *requested)]


@pytest.fixture(name="files", scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Make the files of all lines once; return their folder and role → name."""
    folder = tmp_path_factory.mktemp("files")
    return folder, make_files(folder)


@pytest.mark.parametrize("name", LINES)
def test_every_command_prints_in_every_encoding(
    name: str, files: tuple[Path, dict[str, str]]
) -> None:
    """Commands × languages × encodings, and help: the same exit code, and as many lines, as in UTF-8.

    Each line is printed in two of the encodings in turn, and at night in all.
    """
    folder, names = files
    with chdir(folder):
        for turn, words in enumerate(lines_of(name, names), turn_of(name)):
            code, text, message = printed(words, "utf-8")
            assert code == 0, message.decode()
            for encoding in part(ENCODINGS, 3, turn):
                where = f"{encoding}: {shlex.join(words)}"
                ended, out, err = printed(words, encoding)
                assert ended == code, f"{where}: {err.decode(encoding)}"
                assert b"internal error" not in err, where
                assert out.decode(encoding).count("\n") == text.count(b"\n"), where


@pytest.mark.parametrize(
    "form", ["table", "csv", "json", "jsonl", "md", "latex", "html"]
)
def test_every_format_stays_what_it_is(
    form: str, files: tuple[Path, dict[str, str]]
) -> None:
    """JSON is read as the same object, CSV has as many cells; a page is UTF-8, as it says."""
    folder, names = files
    run = folder / "évaluation − 评测 😀, b.run"
    run.write_bytes((folder / names["run"]).read_bytes())
    words = ["eval", names["qrels"], str(run), "-m", "RR", "--format", form, "-v"]
    with chdir(folder):
        _, whole, _ = printed(words, "utf-8")
        for encoding in ENCODINGS:
            code, out, err = printed(words, encoding)
            assert code == 0, err
            if form == "html":
                assert out == whole
                continue
            text = out.decode(encoding)
            if encoding == "ascii":
                assert r"\u8bc4\u6d4b \ud83d\ude00" in text.replace("\\\\", "\\")
            if form == "json":
                [name] = json.loads(text)["runs"]
                plain = name.replace("-", "−", 1)
                assert (
                    plain.encode("utf-16", "surrogatepass").decode("utf-16") == run.stem
                )
            if form == "csv":
                assert text.count(",") == whole.decode().count(",")


@each(
    "text, plain",
    [
        ("Δ = −0.5 … ρ², Σ w · s ≥ ½", "Delta = -0.5 ... rho^2, sum w * s >= 1/2"),
        ("│ a ─ ▲", "| a - ^"),
        (
            "… 31 queries   0.5   …",
            "... 31 queries 0.5   ...",
        ),  # columns stay below each other
        ("“so”, it’s\n–\n", "'so', it's\n-\n"),
        ("é 评 😀", r"\u00e9 \u8bc4 \ud83d\ude00"),
    ],
)
def test_signs_have_plain_twins(text: str, plain: str) -> None:
    """Signs of ours are written plainly; letters, which tell names apart, are escaped."""
    raw = io.BytesIO()
    stream = plain_output(io.TextIOWrapper(raw, "ascii", newline=""))
    stream.write(text)
    stream.flush()
    assert raw.getvalue().decode() == plain


def test_encodings_of_unicode_are_left_alone() -> None:
    """A stream that can write everything is the same stream."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding)
        assert plain_output(stream) is stream


def test_a_process_with_another_encoding(files: tuple[Path, dict[str, str]]) -> None:
    """What is redirected is in the encoding, what is escaped is noted, and files with -o are UTF-8."""
    folder, names = files
    line = [sys.executable, "-m", "rankstone", "compare", names["qrels"], names["run"]]
    line += [names["run2"], "-m", "AP", "--lang", "zh"]
    texts = {}
    for encoding in ("utf-8", "cp1252"):
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(
            [*line, "-o", f"{encoding}.txt"],
            cwd=folder,
            env=env,
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        done = subprocess.run(
            line, cwd=folder, env=env, capture_output=True, check=True
        )
        texts[encoding] = done.stdout.decode(encoding), done.stderr.decode(encoding)
    assert (folder / "utf-8.txt").read_bytes() == (folder / "cp1252.txt").read_bytes()
    assert texts["utf-8"][1] == ""
    assert "signs escaped that standard output cannot write" in texts["cp1252"][1]
    assert "b - a = +0.0000" in texts["cp1252"][0]
    assert r"\u7ed3\u8bba" in texts["cp1252"][0]
