"""Every place that suggests a name suggests what is misspelt, and nothing for what is no name.

All places ask :func:`rankstone.errors.nearest`.  Options of all commands, and further lines, lead to them; what
a place knows is noted there, and then tried with many words.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import sqlite3
import sys
from contextlib import chdir, closing
from functools import partial
from itertools import cycle
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.small_files import write_small_files
from tests.cli.test_legal_values import BASE, BESIDE
from tests.command_line import exit_code
from tests.strangers.pasting import options_of

import rankstone
from rankstone import ltr, online, stats
from rankstone.cli.ending import BUG
from rankstone.collections.collection_study import groups_of
from rankstone.conventions.trec_eval import RelevanceEvaluator
from rankstone.errors import RankstoneError, did_you_mean, nearest
from rankstone.ltr.estimator_inputs import places_of
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
board collections.toml
board mteb -m WORD
eval sqlite:small.db#WORD a.csv
online counterfactual logged.csv --cluster WORD
"""
UNITS: Final = Units.from_scores(np.array([[0.1], [0.2], [0.5]]))
QRELS: Final[dict[str, Any]] = {f"q{number}": {"a": 1, "b": 0} for number in range(6)}
LISTS: Final[dict[str, Any]] = {query: ["a", "b"] for query in QRELS}
RUNS: Final[dict[str, Any]] = {"x": LISTS, "y": {query: ["b", "a"] for query in QRELS}}
#: calls in which ``word`` is no name, for places that no line leads to
CALLS: Final[dict[str, Callable[[Any], object]]] = {
    "alignment": lambda word: rankstone.evaluate(QRELS, RUNS, "RR", **{word: 1}),
    "a mean": lambda word: scores()[word],
    "means by": lambda word: scores().mean(by=word),
    "a status": lambda word: scores().mean(without=[word]),
    "ordering": lambda word: rankstone.similarity(
        LISTS, LISTS, "RBO(p=0.9)", **cast("Any", {word: 1})
    ),
    "an interval": lambda word: stats.estimates(UNITS, word),
    "a discount": lambda word: online.counterfactual("logged.csv", discount=word),
    "a correction": lambda word: stats.adjusted([0.5], word),
    "an evaluator": lambda word: RelevanceEvaluator(QRELS, {word}),
    "a forest": lambda word: rankstone.plots.forest(
        rankstone.compare(QRELS, RUNS, "RR"), word
    ),
    "a curve": lambda word: rankstone.plots.means(
        rankstone.curve(QRELS, LISTS, "PR"), word
    ),
    "a heatmap": lambda word: rankstone.plots.retention_heatmap(
        online.retention("events.csv", by="kind", days=[1]), word
    ),
    "a frame": lambda word: places_of(
        SimpleNamespace(feature_names_in_=["clicks"]), pl.DataFrame({word: [1.0]})
    ),
    "groups": lambda word: groups_of({"bm25": "one"}, [word], None),
    "features": lambda word: ltr.read("features.csv").aligned(["x", "y", word]),
}
SOURCE: Final = Path(rankstone.__file__).parent
#: a name of fewer letters has no typo that says which it was
LEAST: Final = 3
#: a word that is near to no name
NOTHING: Final = "qqzzqq"
#: places whose names are no whole answer: what is ours in THEIRS=OURS, patterns of names, columns of other options
NOT_ALONE: Final = {
    ("io/columns.py", "unreadable"),
    ("conventions/library_convention.py", "_unknown"),
}
#: places whose suggestion is accepted as it is
ACCEPTED: Final = 40
#: names of a place that are misspelt
TRIED: Final = 40

Place = tuple[str, str]


def scores() -> rankstone.Scores:
    """Return means of two runs, with a table of queries."""
    about = {query: {"country": "de"} for query in QRELS}
    return rankstone.evaluate(QRELS, RUNS, "RR nDCG", queries=about)


def all_places() -> set[Place]:
    """Return the file and the function of each call that suggests names."""
    asking = {nearest.__name__, did_you_mean.__name__}
    places = set[Place]()

    def enter(node: ast.AST, file: str, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.FunctionDef) else function
            if isinstance(child, ast.Call) and getattr(child.func, "id", "") in asking:
                places.add((file, inner))
            enter(child, file, inner)

    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        enter(ast.parse(path.read_text(encoding="utf-8")), file, "")
    return places - {("errors.py", did_you_mean.__name__)}


class Noted:
    """The names that each place knows, as they are handed over.

    Parameters
    ----------
    monkeypatch
        Through which the places are heard.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known: dict[Place, list[str]] = {}
        self.last: tuple[Place, str, list[str]] | None = None
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
        function = place.co_name
        self.known[file, function] = names
        self.last = ((file, function), str(word), names)
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
    collection = (
        f'[collections.web]\nqrels = "qrels.csv"\nruns = ["a.csv"]\n"{word}" = 1\n'
    )
    Path("collections.toml").write_text(collection)
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


def refusal(call: Callable[[Any], object], word: str) -> str:
    """Return what a call says of a word; nothing where it takes it."""
    try:
        call(word)
    except RankstoneError as error:
        return str(error)
    return ""


def write_places() -> None:
    """Write the small files, results of a benchmark and a database into the current folder."""
    write_small_files()
    Path("mteb/model/1").mkdir(parents=True)
    result = {"task_name": "T", "scores": {"test": [{"main_score": 0.5}]}}
    Path("mteb/model/1/T.json").write_text(json.dumps(result))
    with closing(sqlite3.connect("small.db")) as connection:
        connection.execute("CREATE TABLE judgments (query_id, doc_id, relevance)")


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
        write_places()
        odd = []
        for line in [*options(), *LINES.strip().splitlines()]:
            word = next(words)
            text = printed(line, word).lower()
            # a name that differs in case alone is the one that is meant
            same = rf"did you mean '?{re.escape(word.lower())}'?\?"
            if "did you mean" in re.sub(same, "", text):
                odd.append((line, word, text))
        for name, call in CALLS.items():
            text = refusal(call, NOTHING)
            if "did you mean" in text:
                odd.append((name, NOTHING, text))
    assert odd == []
    assert {*noted.known} == all_places()

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


def test_what_is_suggested_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt name is shown as it is written, and the place that suggested it asks no more."""
    noted = Noted(monkeypatch)
    tried = set[Place]()
    wrong: list[Any] = []

    def follow(say: Callable[[str], str], shown: str) -> None:
        noted.last = None
        say(NOTHING)
        if noted.last is None:
            return
        place, word, known = noted.last
        names = [name for name in known if is_tried(name)]
        if word != NOTHING or not names or place in tried:
            return
        name = names[0]
        typo = next(word for word in typos(name) if is_tried(word))
        text = say(typo)
        if "did you mean" not in text.lower() and name not in text:
            wrong.append((shown, typo, text))
        noted.last = None
        text = say(name)
        tried.add(place)
        has_same_message = noted.last is not None and noted.last[:2] == (place, name)
        if has_same_message and place not in NOT_ALONE:
            wrong.append((shown, name, text))

    with chdir(tmp_path):
        write_places()
        for line in [*options(), *LINES.strip().splitlines()]:
            follow(partial(printed, line), line)
        for name, call in CALLS.items():
            follow(partial(refusal, call), name)
    assert wrong == []
    assert len(tried) >= ACCEPTED


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
