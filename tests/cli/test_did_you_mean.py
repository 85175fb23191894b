"""Every place that suggests a name suggests what is misspelt, and nothing for what is no name.

All places ask :func:`rankstone.errors.nearest`.  Options of all commands, and further lines, lead to them; what
a place knows is noted there, and then tried with many words.
"""

from __future__ import annotations

import ast
import inspect
import shlex
import sys
from contextlib import chdir
from itertools import cycle
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner
from tests.cli.small_files import write_small_files
from tests.cli.test_legal_values import BASE, BESIDE
from tests.command_line import exit_code
from tests.strangers.pasting import options_of

import rankstone
from rankstone.cli.ending import BUG
from rankstone.errors import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: what is no name of anything: values, numbers, short words, words of other scripts
NONSENSE: Final = [
    *("True", "false", "none", "None", "null", "0", "-1", "10", "1e5", "0.25"),
    *("-inf", "inf", "nan", "NaN", "x", "no", "on", "ab", "q7", "-n", "--", "…"),
    *("相关性", "релевантность", "التقييم", "🙂🙂🙂", "1,5", "2024-01-31"),
]
#: lines in which WORD is no name, beside the options of commands
LINES: Final = """
WORD
online WORD
formats WORD
eval qrels.csv a.csv --WORD
eval qrels.csv WORD
eval qrels.csv a.csv -m WORD
eval qrels.csv a.csv -m nDCG(gain=WORD)
eval qrels.csv a.csv -m nDCG(WORD=1)
eval qrels.csv a.csv --convention ranx -m WORD
eval qrels.csv a.csv --columns WORD=doc_id
eval qrels.csv a.csv --columns note=WORD
eval qrels.csv a.csv --queries queries.csv --by WORD
trec-eval qrels.txt a.run -m WORD
explain qrels.csv a.csv -m nDCG@3 -q WORD
diff a.csv b.csv --explain RBO(p=0.9) -q WORD
beyond a.csv --history history.csv --explain Novelty@2 -q WORD
beyond a.csv --items items.csv -m DP(protected=WORD)@2
online retention events.csv --by WORD
online retention events.csv --by kind --versus WORD
ltr train features.csv -o new.json --features WORD
reproduce old new --qrels qrels.csv --baseline WORD
gate --config settings.toml
board settings.toml
"""
SOURCE: Final = Path(rankstone.__file__).parent
#: a name of fewer letters has no typo that says which it was
LEAST: Final = 3
#: places that lines lead to
LED_TO: Final = 33
#: names of a place that are misspelt
TRIED: Final = 40

Place = tuple[str, str]


class Noted:
    """The names that each place knows, as they are handed over.

    Parameters
    ----------
    monkeypatch
        Through which the places are heard.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known: dict[Place, list[str]] = {}
        for name, module in [*sys.modules.items()]:
            if (
                name.startswith("rankstone")
                and getattr(module, "nearest", None) is nearest
            ):
                monkeypatch.setattr(module, "nearest", self.nearest)

    def nearest(self, word: object, known: Iterable[str], n: int = 3) -> list[str]:
        """Note who asks, and answer as ever."""
        names = list(known)
        frames = inspect.stack(context=0)[1:]
        [place, *_] = [
            part.frame.f_code
            for part in frames
            if part.function != did_you_mean.__name__
        ]
        file = Path(place.co_filename).relative_to(SOURCE).as_posix()
        self.known[file, place.co_name] = names
        return nearest(word, names, n)


def options() -> Iterator[str]:
    """Yield a line for each option that takes a word, of the first command that has it."""
    tried = set[object]()
    for name in BASE:
        for flag, option in options_of(name).items():
            long = flag.lstrip("-")
            is_word = not option.is_flag and flag.startswith("--")
            if is_word and (option.name, option.type.name) not in tried:
                tried.add((option.name, option.type.name))
                base = BESIDE.get((name, long), BASE[name])
                yield f"{name} {base} {flag} WORD"


def printed(line: str, word: str) -> str:
    """Return what a line prints with a word, of which settings in a file are made, too; what it writes goes."""
    Path("settings.toml").write_text(f'[gate]\n"{word}" = 1\n')
    before = {*Path.cwd().iterdir()}
    words = [part.replace("WORD", word) for part in shlex.split(line)]
    with CliRunner().isolation() as streams:
        code = exit_code(words)
        sys.stdout.flush()
        sys.stderr.flush()
        out = "".join(stream.getvalue().decode() for stream in streams[:2])
    assert code != BUG, out
    for path in {*Path.cwd().iterdir()} - before:
        path.unlink() if path.is_file() else rmtree(path)
    return out


def typos(name: str) -> Iterator[str]:
    """Yield a name with one letter changed, dropped, and swapped with the next, in the middle and at the end."""
    for place in {len(name) // 2, len(name) - 2}:
        yield f"{name[:place]}ž{name[place + 1 :]}"
        yield f"{name[:place]}{name[place + 1 :]}"
        yield f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line suggests anything for a nonsense word; nor does any place, which suggests names for their typos."""
    noted = Noted(monkeypatch)
    words = cycle(word for word in NONSENSE if not word.startswith("-"))
    with chdir(tmp_path):
        write_small_files()
        odd = []
        for line in [*options(), *LINES.strip().splitlines()]:
            word = next(words)
            text = printed(line, word).lower()
            # a name that differs in case alone is the one that is meant
            others = text.replace(f"did you mean {word.lower()!r}?", "")
            if "did you mean" in others:
                odd.append((line, word, text))
    assert odd == []
    assert len(noted.known) >= LED_TO

    wrong = [
        (place, word, near)
        for place, known in noted.known.items()
        for word in NONSENSE
        if word.lower() not in map(str.lower, known)
        if (near := nearest(word, known))
    ]
    assert wrong == []
    missed = [
        (place, name, typo)
        for place, known in noted.known.items()
        for name in known[:TRIED]
        if is_tried(name)
        for typo in typos(name)
        if is_tried(typo)
        if typo.lower() not in map(str.lower, known)
        if name.lower() not in map(str.lower, nearest(typo, known, n=len(known)))
    ]
    assert missed == []


def is_tried(name: str) -> bool:
    return sum(map(str.isalnum, name)) >= LEAST and any(map(str.isalpha, name))


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("True", "Turkey", None),
        ("none", "online", None),
        ("0", "10", None),
        ("-inf", "-n", None),
        ("TRUE", "true", "true"),
        ("ndgc", "nDCG", "nDCG"),
        ("mpa", "map", "map"),
        ("user", "user_id", "user_id"),
        ("q144", "q14", "q14"),
        ("相关姓名", "相关性名", "相关性名"),
    ],
)
def test_words(word: str, known: str, near: str | None) -> None:
    """A short word differs in one letter at most, and what is no word is near to nothing else."""
    fix = did_you_mean(word, [known])
    assert fix == (None if near is None else f"did you mean {near}?")


def test_one_mechanism() -> None:
    """No other file compares words to suggest one, but for names of columns that a table may have."""
    importers = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "difflib"
    ]
    assert importers == ["errors.py", "io/column_suggestions.py"]
