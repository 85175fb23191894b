"""What a command prints in Chinese is Chinese: no English is left outside names and code."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest
from docs.making.options import declared
from docs.making.printed import typed
from tests.rows import each

from rankstone.measures import MEASURES
from rankstone.tables.phrases import from_english

if TYPE_CHECKING:
    from pathlib import Path

#: command → lines in the folder of the pages' files that print all its parts
LINES: Final = {
    "compare": (
        "qrels.txt bm25.run tfidf.run -m nDCG@10,AP",
        "qrels.txt bm25.run tfidf.run dense.run -m nDCG@10 -v",
    ),
    "report": ("qrels.txt bm25.run tfidf.run -o r.html",),
    "gate": ("", "--check"),
    "explain": (
        "qrels.txt bm25.run -q q07 -m nDCG@5 --libraries",
        "qrels.txt bm25.run --versus dense.run --worst 1",
        "--grades 1,1,0,1,0,0,1 -m AP",
    ),
    "diff": ('bm25.run tfidf.run -q q07 --explain "RBO(p=0.9)"',),
    "beyond": ("recs.parquet --items items.csv --explain Gini@10",),
    "board": (
        "examples/boards/retrievers.csv --missing-scores model",
        "examples/boards/retrievers.csv --missing-scores model -v",
        "--pairs examples/boards/battles.csv --cluster judge,prompt --covariates position",
        "--pairs examples/boards/battles.csv --cluster judge,prompt --covariates position -v",
    ),
    "slices": (
        "--scores examples/boards/rankers.csv --queries examples/boards/queries.csv -m nDCG@10 --margin 0.05",
        "--scores examples/boards/rankers.csv --queries examples/boards/queries.csv -m nDCG@10 --margin 0.05 -v",
    ),
    "abstain": ("qrels.txt bm25.run -v", "qrels.txt bm25.run tfidf.run"),
    "collection": (
        "examples/shared-task/qrels.txt examples/shared-task/runs --teams examples/shared-task/teams.csv",
        "examples/shared-task/qrels.txt examples/shared-task/runs --teams examples/shared-task/teams.csv -v",
    ),
    "reproduce": (
        "examples/shared-task/runs examples/shared-task/again --qrels examples/shared-task/qrels.txt",
    ),
    "stages": (
        "qrels.txt bm25.run dense.run -v",
        "qrels.txt bm25.run tfidf.run dense.run --queries queries.csv --by kind",
    ),
    "certify": ("qrels.txt bm25.run",),
    "verify": ("card.json",),
    "online retention": ("events.parquet --report retention.html",),
    "ltr eval": ("examples/ltr/test.txt svm.json b=svm.json -m RR",),
}
#: words of English that are names here: of options and their values, of columns, systems, statistics
NAMES: Final = """
hybrid dense sparse large small base reranked stemmed late interaction alpha beta gamma delta baseline candidate
main floor drops queries judged interval log position judge prompt new old device phone desktop none question word
words length category language tent system min max ext res normalized tau union created desk run typed
cost documents discount positives clicks uniform cosine jaccard vital okay partial summary opening
wtau rho footrule score kind std csv
"""


@cache
def english() -> frozenset[str]:
    """Return the dictionary: every word of our English sentences, and of cards and audits."""
    from importlib.resources import files

    locales = files("rankstone.tables") / "locales"
    words = set[str]()
    for name in ("en.toml", "english.zh.toml"):
        sections = tomllib.loads((locales / name).read_text("utf-8"))
        texts = (
            text
            for section in sections.values()
            for item in section.items()
            for text in (item[:1] if name.startswith("english") else item[1:])
        )
        words |= {word for text in texts for word in re.findall(r"[a-z]{3,}", text)}
    return frozenset(words - set(NAMES.split()))


def left(text: str) -> list[str]:
    """Return the English words of a text that stand free: not in names, code, paths, formulas or options."""
    free = re.sub(r"`[^`]*`|\S*[=_/@.(){}\\<>|#]\S*|“[^”]*”|--\S+", " ", text)
    return [
        word
        for word in re.findall(r"(?<![\w\-])[a-z]{3,}(?![\w\-])", free)
        if word in english()
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages' files, with a card and a model."""
    place = tmp_path_factory.mktemp("lang") / "desk"
    assert typed(f"rankstone demo --copy {place}").exit_code == 0
    card = f"-o {place}/card.json {place}/qrels.txt {place}/bm25.run -m nDCG@10"
    assert typed(f"rankstone certify {card}").exit_code == 0
    model = f"{place}/train.txt -o {place}/svm.json"
    assert typed(f"rankstone ltr train {model}").exit_code == 0
    return place


def test_every_command_that_offers_a_language_is_tried() -> None:
    """A command that begins to offer it has a line here."""
    assert {name for name, _ in declared()["lang"]} == set(LINES)


@pytest.mark.parametrize("command", LINES)
def test_no_english_is_left(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In what is printed: titles, heads of tables, findings, methods, audits."""
    monkeypatch.chdir(folder)
    wrong = {}
    for line in LINES[command]:
        done = typed(f"rankstone {command} {line} --lang zh")
        assert done.exit_code in {0, 3}, f"{done.exception}\n{done.stderr}"
        if (
            command != "online retention"
        ):  # its table is of names of columns; the page is in the language
            assert done.stdout or command == "report"
            lines = [row for row in done.stdout.splitlines() if left(row)]
            if lines:
                wrong[line] = [(left(row), row) for row in lines]
    assert wrong == {}


@each("name", sorted(MEASURES))
def test_cards_are_read_in_chinese(name: str) -> None:
    """Formula and symbols of every measure, and when it has no value."""
    card = MEASURES[name].card
    for text in (card.formula, card.symbols):
        assert left(from_english(text, "zh")) == [], text
