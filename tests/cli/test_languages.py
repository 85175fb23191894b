"""What a command prints in Chinese is Chinese: no English is left outside names and code."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest
from docs.making.options import declared
from docs.making.printed import typed
from tests.rows import each

from rankstone.conventions import conventions
from rankstone.hits.alignment_audit import Audit, JudgmentsAudit, RunAudit
from rankstone.hits.excluded_rows import LeftOut
from rankstone.hits.side_table_audit import SideTableAudit
from rankstone.io.shapes.shape import known_shapes
from rankstone.measures import MEASURES
from rankstone.tables.phrases import from_english

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    "golden check": (
        "golden.json --corpus documents.jsonl -m 'R@5 RR FullRecall@5 R@200'",
        "golden.json --corpus documents.jsonl -v",
        "spoiled.json --corpus few.txt --train train.csv -m R@5 -v",
        "spoiled.json --corpus few.jsonl --train later.csv -v",
        "timed.json --train train.csv -v",
        "timed.json --train pairs.csv -v",
        "timed.json --train later.csv -m RR -v",
    ),
    "golden split": ("timed.json --holdout 0.5", "again.json --holdout 0.5"),
    "stages": (
        "qrels.txt bm25.run dense.run -v",
        "qrels.txt bm25.run tfidf.run dense.run --queries queries.csv --by kind",
    ),
    "certify": ("qrels.txt bm25.run",),
    "verify": ("card.json",),
    "eval": (
        "qrels.txt bm25.run tfidf.run",
        "qrels.txt bm25.run tfidf.run --ci --sort AP -v",
        "qrels.txt bm25.run --queries queries.csv --by kind --cluster kind --ci --interval bca",
        "qrels.txt bm25.run --convention lightgbm -m ndcg@10",
        "qrels.txt bm25.run --format csv",
    ),
    "answers": (
        "甲=long.nuggets.jsonl 乙=short.nuggets.jsonl --ci",
        "甲=long.nuggets.jsonl 乙=short.nuggets.jsonl --compare",
        "甲=long.nuggets.jsonl 乙=long.model.jsonl --agreement",
        "甲=long.nuggets.jsonl --explain Support -q q1",
        "甲=examples/rag/answers.jsonl --support examples/rag/support.csv -v",
        "甲=examples/rag/contexts.jsonl -v",
    ),
    "identify": (
        "qrels.txt bm25.run --value 0.29 -m nDCG@10",
        "qrels.txt bm25.run dense.run --value 0.4132 -m nDCG@10",
        "qrels.txt bm25.run dense.run --value 0.5519 --value 0.51",
        "--grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 --value 0.827 -m nDCG(gain=exp2)@5",
    ),
    "conventions diff": (
        "sklearn xgboost -m nDCG@10",
        "rankstone xgboost qrels.txt bm25.run -m nDCG@10,AP",
        "--all qrels.txt bm25.run -m nDCG@10,AP",
    ),
    "online retention": ("events.parquet --report retention.html",),
    "ltr eval": ("examples/ltr/test.txt svm.json b=svm.json -m RR",),
}
#: words of English that are names here: of options and their values, of columns, systems, statistics
NAMES: Final = """
hybrid dense sparse large small base reranked stemmed late interaction alpha beta gamma delta baseline candidate
main floor drops queries judged interval log position judge prompt new old device phone desktop none question word
words length category language tent system min max ext res normalized tau union created desk run typed
cost documents discount positives clicks uniform cosine jaccard vital okay partial summary opening
wtau rho footrule score kind std csv until unit step gdeval kappa support dev
"""

#: options and values in the tables of a command
CODE: Final = {
    "golden check": frozenset(("how",)),
    "conventions diff": frozenset(
        (
            *(
                "agg",
                "cut",
                "drop",
                "duplicates",
                "empty",
                "error",
                "expected",
                "extra",
            ),
            *(
                "gain",
                "grades",
                "input",
                "linear",
                "list",
                "mean",
                "missing",
                "negative",
            ),
            *("nonrelevant", "one", "pool", "ties", "unjudged", "zero"),
        )
    ),
}


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
    free = re.sub(
        r"`[^`]*`|rankstone \w+|\S*[=_/@.(){}\\<>|#]\S*|“[^”]*”|--\S+", " ", text
    )
    return [
        word
        for word in re.findall(r"(?<![\w\-])[a-z]{3,}(?![\w\-])", free)
        if word in english()
    ]


#: queries of a Chinese reader, with each fault that a check finds
SPOILED: Final[list[dict[str, Any]]] = [
    {
        "id": "a",
        "query": "如何退货退款",
        "expected": ["r", "gone1"],
        "time": "2024-01-01",
    },
    {
        "id": "b",
        "query": "如何退货退款？",
        "any_of": ["h", "gone2"],
        "time": "2024-01-05",
    },
    {"id": "c", "query": "营业时间", "expected": ["G/old"]},
    {"id": "d", "query": "停车场在哪里", "expected": []},
    {"id": "e", "query": "怎样 联系 客服 人员", "expected": ["k"], "split": "dev"},
    {
        "id": "f",
        "query": "怎样 联系 客服 人员？",
        "expected": ["k"],
        "split": "holdout",
    },
    {"id": "g", "query": "发票", "expected_text": "这里没有"},
    {"id": "h", "query": "地址", "expected_text": "客服"},
    {"id": "h", "query": "电话", "expected": ["k"]},
    {"id": "j", "query": "会议", "answerable": False},
]
#: the documents that are there
DOCUMENTS: Final = {
    "r": "退货须知",
    "r2": "退货须知",
    "h": "客服 一",
    "guide/old": "客服 二",
    "k": "怎样 联系 客服 人员 三",
    "m": "客服 四",
}


def write_golden_sets(place: Path) -> None:
    """Write golden sets, corpora and training data for :data:`LINES`."""

    def lines(rows: object) -> str:
        return json.dumps(rows, ensure_ascii=False)

    kinds = [{"kind": f"类{n % 3}"} for n in range(12)]
    timed = [
        {
            "id": f"t{n}",
            "query": f"第{n}{n}{n}个",
            "expected": ["k"],
            "time": f"2024-01-{n + 1:02}",
        }
        | kind
        for n, kind in enumerate(kinds)
    ]
    (place / "spoiled.json").write_text(lines(SPOILED), "utf-8")
    (place / "timed.json").write_text(lines(timed), "utf-8")
    (place / "few.txt").write_text("\n".join(DOCUMENTS), "utf-8")
    texts = [{"doc_id": doc, "text": text} for doc, text in DOCUMENTS.items()]
    (place / "few.jsonl").write_text("\n".join(map(lines, texts)), "utf-8")
    (place / "pairs.csv").write_text("query_id,doc_id\na,r\n", "utf-8")
    for name, time in (("train", "2024-01-04"), ("later", "7")):
        row = f"query_id,doc_id,time\na,r,{time}\n"
        (place / f"{name}.csv").write_text(row, "utf-8")
    # without ids, with splits of texts that are gone, or were reworded
    again = [{"query": case["query"], "expected": ["k"]} for case in SPOILED[:8]]
    stored = ["如何退货退款呀,dev", "不见了,holdout", "停车场在哪里,dev"]
    (place / "again.json").write_text(lines(again), "utf-8")
    splits = "\n".join(["query_id,split", *stored])
    (place / "again.splits.csv").write_text(splits, "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages' files, with a card and a model."""
    place = tmp_path_factory.mktemp("lang") / "desk"
    assert typed(f"rankstone demo --copy {place}").exit_code == 0
    card = f"-o {place}/card.json {place}/qrels.txt {place}/bm25.run -m nDCG@10"
    assert typed(f"rankstone certify {card}").exit_code == 0
    # nuggets of a Chinese reader
    for name in ("long.nuggets", "short.nuggets", "long.model"):
        text = (place / f"examples/rag/{name}.jsonl").read_text("utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        for record in records:
            for number, nugget in enumerate(record["nuggets"]):
                nugget["text"] = f"要点 {number}"
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (place / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    write_golden_sets(place)
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
            printed = [*done.stdout.splitlines(), *done.stderr.splitlines()]
            words = {
                row: {*left(row)} - CODE.get(command, frozenset()) for row in printed
            }
            english_rows = {row: free for row, free in words.items() if free}
            if english_rows:
                wrong[line] = english_rows
    assert wrong == {}


def audits() -> Iterator[Audit]:
    """Yield audits that have all there is to count, of one and of many."""
    for number in (1, 2000):
        counts = {part.name: number for part in fields(RunAudit) if part.type == "int"}
        counts |= {"found": number + 5, "shortest": 1}
        run = RunAudit(
            source="a.run",
            median_length=12.5,
            unjudged={10: 0.5},
            left_out=LeftOut(number, number, number, number, ("q1 d1",)),
            undefined={"AP": {"no negative": number}},
            **counts,  # type: ignore[arg-type] # numbers
        )
        side = SideTableAudit("q.csv", number, number, number, number)
        for unanswerable in (0, number):
            counts = {
                part.name: number
                for part in fields(JudgmentsAudit)
                if part.type == "int"
            }
            judgments = JudgmentsAudit(
                source="q.txt",
                **counts | {"unanswerable": unanswerable},  # type: ignore[arg-type] # numbers
            )
            for failed, runs in product(({}, {"timeout": number}), (1, 2, 3)):
                names = {
                    f"r{place}": replace(run, failed=failed) for place in range(runs)
                }
                yield Audit(judgments, names, queries=side, intents=side)


def test_audits_are_read_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence that a count can give, in brief and as a whole."""
    monkeypatch.setattr("rankstone.hits.alignment_audit._SHOWN", 99)
    lines = [line for audit in audits() for line in (*audit.lines(), *audit.brief())]
    assert len(lines) > 100
    assert {line for line in lines if left(from_english(line, "zh"))} == set()


#: warnings and what was detected of files, which no count gives
WARNINGS: Final = (
    "no retrieved document is judged: do document ids match?",
    (
        "every list has 101 documents, one of them judged: if these are sampled candidates, "
        "the values are not those of full lists (rankstone sampled)"
    ),
    "ranks contradict scores in every list: scores are used; order=rank uses the ranks",
    "ranks contradict scores in 2 of 3 lists: ranks are used; order=score uses the scores",
    "unit leaves every id as it is: does it fit the ids of this run?",
    "no pair to exclude is in any list: were they removed before, or do ids not match?",
    "no query has more than one subtopic: are these judgments by subtopic?",
    "nDCG@10: the true maximum may be higher for 3 queries (status lower_bound)",
    "3 of 4 queries need more documents than R@5 looks at: it can reach 50.0% at most",
    "grades below zero are fractions, as scores do: are judgments and run in the right order?",
    "most grades are fractions that hardly repeat, as scores do: are judgments and run in the right order?",
    "grades hardly repeat within a query, as scores do: are judgments and run in the right order?",
    "gdeval reads each of these groups of query ids as one query: 2010-1, 2011-1",
    "2 queries not in the mean of AP: no relevant document (empty=drop)",
    "2 queries not in the mean of AP: no negative, or nothing retrieved (no_results=undefined)",
    "2 queries not in the mean of AP, RR …: declared unanswerable; with such a query there is no mean",
    "read as: separator ';', utf-16, decimal comma, no header, 3 blank rows skipped",
    "read as: separator tab (from its line sep=), 1 blank row skipped",
    "read as: sheet 'a' (not 'b', 'c'), 2 columns without a name beside the table, decimal point",
    "read as: lists in the cells of doc_id and score, in brackets",
    "read as: lists in the cells of doc_id, between commas",
    "read as: BEIR folder: qrels/test.tsv (not dev.tsv)",
    "read as: ratings of Quepid, 3 unrated rows skipped",
    (
        "read as: trace of 12 retrievals (spans of OpenTelemetry), reranked lists "
        "(--run-column step has the retrieved ones, too)"
    ),
)


@each("warning", WARNINGS)
def test_warnings_are_read_in_chinese(warning: str) -> None:
    """Behind the name of a run, in brief and as a whole; of several runs without what is in parentheses."""
    shared = warning if warning.startswith("read as") else warning.partition(" (")[0]
    for line in (
        f"audit  3 queries, 4 judgments · 1 warning: both runs: {shared}",
        f"audit  3 queries, 4 judgments · 1 warning: {warning}",
        f"bm25  3 queries × 10 documents, 8 judged · warning: {warning}",
    ):
        assert left(from_english(line, "zh")) == []


def test_remarks_on_libraries_and_titles_of_files_is_read_in_chinese() -> None:
    """Remarks, refusals and accepted grades of every library; titles of every shape."""
    texts = {shape.title for shape in known_shapes()}
    for library in conventions():
        for entry in library.entries:
            remarks = entry.bug, entry.note, entry.differs, entry.grades
            texts |= {str(text) for text in remarks if text is not None}
            texts |= {refusal.why for refusal in entry.refuses}
    assert len(texts) > 200
    # names of arguments stand alone
    assert {text for text in texts if len(left(from_english(text, "zh"))) > 1} == set()


@each("name", sorted(MEASURES))
def test_cards_are_read_in_chinese(name: str) -> None:
    """Formula and symbols of every measure, and when it has no value."""
    card = MEASURES[name].card
    for text in (card.formula, card.symbols):
        assert left(from_english(text, "zh")) == [], text
