"""Every file of every command with damage in it: named in our words, with the line where there are lines."""

from __future__ import annotations

import gzip
import io
import re
import shlex
import sys
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.lines_with_files import LINES, make_files, typed
from tests.command_line import exit_code
from tests.fuzz.fuzzing import workbook
from tests.night import part
from tests.rows import each

from rankstone.measures.core.gains_and_discounts import CUSTOM_GAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: words of the libraries that read files, and of the system
_FOREIGN: Final = re.compile(
    r"Schema|could not parse|codec can't|Expecting |Unterminated string starting"
    r"|polars|DuckDB|thrift|parquet: file|parquet error|out.of.spec|supertype|Syntax at"
    r"|at character \d+ \(|Tape|unwrap|dtype|recursion|os error|Errno|unexpected end of",
    re.IGNORECASE,
)
#: what Python says of code is said in its words
_CODE: Final = ".py"


def _last_line(content: bytes, change: Callable[[str], str]) -> bytes:
    *others, last = content.decode().splitlines()
    return "\n".join([*others, change(last), ""]).encode()


def _last_number(content: bytes, text: str) -> bytes | None:
    """Replace the last number by another text; ``None`` where there is none."""
    numbers = [*re.finditer(r"(?<![\w.-])\d+(\.\d+)?(?![\w.-])", content.decode())]
    if not numbers:
        return None
    begin, end = numbers[-1].span()
    return content[:begin] + text.encode() + content[end:]


def _written(method: str, content: bytes) -> bytes:
    """Return a table as another format."""
    file = io.BytesIO()
    getattr(pl.read_csv(content), method)(file)
    return file.getvalue()


def _turned(content: bytes, share: float) -> bytes:
    """Turn eight bytes round."""
    begin = int(len(content) * share)
    turned = bytes(255 - byte for byte in content[begin : begin + 8])
    return content[:begin] + turned + content[begin + 8 :]


def _cut(method: str) -> Callable[[bytes], bytes]:
    return lambda content: _written(method, content)[:-9]


_ANY: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "a torn gzip": lambda content: gzip.compress(content)[:-9],
    "half": lambda content: content[: len(content) // 2],
    "no utf-8": lambda content: _last_line(content, "{}X".format)[:-2] + b"\xe9\n",
    "a huge number": lambda content: _last_number(content, "1e999"),
    "a wide number": lambda content: _last_number(content, "9" * 30),
    "a word": lambda content: _last_number(content, "many"),
    "no number": lambda content: _last_number(content, "NaN"),
}
_OF_JSON: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "another value": lambda _: b"7",
    "null": lambda _: b"null",
    "no list": lambda _: b"[]",
    "deep": lambda _: b"[" * 3000,
    "nested": lambda content: _last_number(content, '{"a": [1]}'),
}
_OF_TABLES: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "surplus": lambda content: _last_line(content, "{},oops".format),
    "an open quote": lambda content: _last_line(content, '{}"\n"open'.format),
    "only a header": lambda content: content.splitlines()[0] + b"\n",
    "json cut": _cut("write_json"),
    "jsonl cut": _cut("write_ndjson"),
    "jsonl line": lambda table: _written("write_ndjson", table) + b"{oops}\n",
    "jsonl array": lambda table: _written("write_ndjson", table) + b"[1, 2]\n",
    "jsonl no number": lambda table: _written("write_ndjson", table) + b'{"a": NaN}\n',
    "parquet cut": _cut("write_parquet"),
    "parquet turned": lambda table: _turned(_written("write_parquet", table), 0.1),
    "parquet footer": lambda table: _turned(_written("write_parquet", table), 0.7),
    "arrow cut": _cut("write_ipc"),
    "arrow turned": lambda table: _turned(_written("write_ipc", table), 0.3),
    "xlsx cut": lambda content: workbook(content)[:-9],
}
#: damage that stands in a line
_IN_A_LINE: Final = {"surplus", "jsonl line", "jsonl array"}


def _damages(name: str) -> dict[str, Callable[[bytes], bytes | None]]:
    suffix = Path(name).suffix
    if suffix == ".parquet":
        return {"cut": lambda content: content[:-9], "half": _ANY["half"]}
    if suffix == ".csv":
        return {**_ANY, **_OF_TABLES}
    return {**_ANY, **_OF_JSON} if "json" in suffix else _ANY


def _slots(line: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the role of each file that a line reads."""
    for place, word in enumerate(shlex.split(line)):
        role = re.search(r"<([\w.]+)>(?!out)", word)
        if role is not None:
            yield place, role[1]


@pytest.fixture(name="files", scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Make the files of all lines once; return their folder and role → name."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "bad").mkdir()
    return folder, make_files(folder)


def _run(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a command in a folder; return how it ends and all that it says."""
    CUSTOM_GAINS.clear()
    with CliRunner().isolation() as streams, chdir(folder):
        code = exit_code(words)
        sys.stdout.flush()
        sys.stderr.flush()
        return code, "".join(stream.getvalue().decode() for stream in streams[:2])


def _problems(code: int, printed: str, damage: str, name: str) -> list[str]:
    """Return what is wrong with the words in which a damaged file is refused."""
    problems = [*map(str, _FOREIGN.findall(printed))]
    if code not in (1, 2, 3):
        problems.append(f"exit {code}")
    if damage in _IN_A_LINE and not re.search(rf"{name}(:\d+|, row \d+)\b", printed):
        problems.append("no line")
    return problems


@each("name", LINES)
def test_damage_is_named_in_our_words(
    name: str, files: tuple[Path, dict[str, str]]
) -> None:
    """Each file that a command reads × kinds of damage: no bug, no word of a library, and the line."""
    folder, names = files
    wrong = []
    turn = [*LINES].index(name)
    for line in LINES[name]:
        for place, role in _slots(line):
            turn += 1
            good = names[role]
            damages = _damages(good)
            for damage in part(damages, 8, turn):
                content = damages[damage]((folder / good).read_bytes())
                if content is None:
                    continue
                (folder / "bad" / good).write_bytes(content)
                words = shlex.split(line)
                words[place] = words[place].replace(f"<{role}>", f"bad/{good}", 1)
                typed_words = [*name.split(), *typed(shlex.join(words), names)]
                code, printed = _run(typed_words, folder)
                if code and not good.endswith(_CODE):
                    problems = _problems(code, printed, damage, good)
                    slot = f"{shlex.join(typed_words)}, {damage}"
                    wrong += [f"{slot}: {problem}" for problem in problems]
    assert not wrong, "\n".join(wrong)
