"""A legal line for every command, with the files that it reads and writes by their roles.

``<role>`` is a file that is read, ``<role>out`` names one that is written.  Tests replace a file by
something that cannot be read, or write what the lines print in other encodings.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone import collections, ltr, online

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LINES", "make_files", "typed"]

_LISTS: Final = (
    "--documents <documents> --exclude <pairs> --same-as <copies> --corpus <corpus>"
)
_OWN: Final = "--import <own>"

_LINES: Final[dict[str, tuple[str, ...]]] = {
    "eval": (
        (
            f"<qrels> <run> --queries <queries> --by country {_LISTS} {_OWN} -m "
            "nDCG@10 -o <txt>out --per-query <csv>out"
        ),
        "--labeled <labelled> -m RR",
        "--exact-run <run> <run> --depth 2",
        "<subtopics> <run> -m ERR_IA@5 --intents <intents>",
        "<nested.json> <nested_run.json> -m RR",
        "<qrels.parquet> <run.parquet> -m RR",
        "<qrels.jsonl> <run.jsonl> -m RR",
        "<ragas> --convention ragas",
    ),
    "curve": (
        (
            f"<qrels> <run> --queries <queries> {_LISTS} {_OWN} -o <txt>out "
            "--per-query <csv>out --chart <svg>out --cloud <svg>out"
        ),
        "--labeled <labelled> --kind roc",
        "<subtopics> <run> -m alpha_nDCG --intents <intents>",
    ),
    "sampled": (f"<qrels> <run> --catalogue-size 100 -m R@1 {_OWN} -o <txt>out",),
    "trec-eval": ("<qrels> <run> -m map", "<qrels> <run> -m map -Z <zscores>"),
    "compare": (
        (
            f"<qrels> <run> <run2> --queries <queries> {_LISTS} {_OWN} -m AP -o "
            "<txt>out --per-query <csv>out"
        ),
        "--scores <scores> <scores2>",
        "--scores <printed> <printed2>",
        "--scores <scores> <scores2> --format latex --table means --names <names>",
    ),
    "board": (
        "<board> -o <txt>out --chart <svg>out --diagram <svg>out",
        "--pairs <pairs_won>",
        "<collections>",
        "x=<perquery> y=<perquery2>",
    ),
    "slices": (
        (
            f"<qrels> <run> <run2> --queries <queries> --min-size 5 {_LISTS} {_OWN} "
            "-m AP -o <txt>out --chart <svg>out"
        ),
        "--log <ab> --min-size 5",
    ),
    "gate": (
        (
            "--config <gate> --baseline <run> --candidate <run2> --qrels <qrels> "
            f"--queries <queries> {_LISTS} {_OWN} --inconclusive pass -o <txt>out --junit <xml>out --summary "
            "<md>out"
        ),
    ),
    "report": (
        f"<qrels> <run> <run2> --queries <queries> {_LISTS} {_OWN} -o <html>out",
    ),
    "reproduce": (
        (
            "<run> <run2> <run> <run2> --qrels <qrels> --qrels-again <qrels> "
            f"--queries <queries> -m AP {_LISTS} {_OWN} -o <txt>out"
        ),
    ),
    "power": (
        (
            f"<qrels> <run> <run2> --queries <queries> {_LISTS} {_OWN} -m AP -d 0.1 "
            "-o <txt>out"
        ),
    ),
    "diff": (f"<run> <run2> -m 'RBO(p=0.9)' {_OWN} -o <txt>out --per-query <csv>out",),
    "stages": (
        (
            "<qrels> <run> <run2> --corpus <documents> --documents <documents> "
            "--answers <answered> --queries <queries> --exclude <pairs> --same-as <copies> "
            "-o <txt>out --per-query <csv>out"
        ),
    ),
    "check": ("<qrels> <run> --train <qrels> --documents <documents>",),
    "explain": (f"<qrels> <run> -q q1 -m AP {_LISTS} {_OWN} -o <txt>out",),
    "identify": (f"<qrels> <run> --value 0.5 -m AP {_LISTS} {_OWN} -o <txt>out",),
    "bounds": (
        f"<qrels> <run> -m RR {_LISTS} {_OWN} -o <txt>out --per-query <csv>out",
    ),
    "baseline": (f"<qrels> <run> -m RR --documents <documents> {_OWN} -o <txt>out",),
    "thresholds": (f"<qrels> <run> -m RR --documents <documents> {_OWN} -o <txt>out",),
    "abstain": (
        f"<qrels> <run> --queries <queries> --documents <documents> -m RR {_OWN} -o <txt>out",
    ),
    "collection": (
        (
            "<qrels> <run> <run2> --teams <teams> --documents <documents> --queries "
            f"<queries> {_OWN} -m AP -o <txt>out --chart <svg>out"
        ),
    ),
    "golden check": ("<golden> --corpus <corpus> --train <pairs> -o <txt>out",),
    "golden split": ("<golden>",),
    "certify": (
        f"<qrels> <run> -m AP --queries <queries> {_LISTS} {_OWN} -o <json>out",
    ),
    "verify": ("<card> <qrels> <run> --original <run>", "<card> -o <txt>out"),
    "beyond": (
        (
            "<run> --qrels <qrels> --queries <queries> --items <items> --history "
            "<history> --expected <run2> -m 'Entropy@2 "
            f"Unexpectedness(against=baseline)@2 Novelty@2' {_OWN} -o <txt>out "
            "--per-query <csv>out"
        ),
    ),
    "online retention": (
        (
            "<events> --registrations <registrations> -o <txt>out --cohorts "
            "<csv>out --chart <svg>out --heatmap <svg>out --report <html>out"
        ),
    ),
    "online clicks": (
        "<clicks> -o <csv>out --positions <csv>out",
        "<clicks> --method ips --propensities <propensities>",
    ),
    "online counterfactual": ("<shown> <run> -o <txt>out",),
    "online interleave": ("<run> <run2> -o <csv>out", "<lists> --clicks <clicked>"),
    "online ab": ("<ab> -o <txt>out",),
    "answers": (
        "<assignments> --nuggets <nuggets> -o <txt>out --per-query <csv>out",
        "<cited> --support <support>",
    ),
    "ltr train": (
        f"<features> {_OWN} -o <json>out",
        "<features> --method ascent --init <model> --restarts 0 -o <json>out",
        "<plain> --groups <sizes> -o <json>out",
        "<features> --queries <splits> --split dev -o <json>out",
    ),
    "ltr tune": (
        (
            f"<features> --valid <features> --values 1 --quick {_OWN} --trials <txt>out "
            "--per-query <csv>out -o <json>out"
        ),
        "<plain> --groups <sizes> --folds 2 --values 1 --quick",
        "<features> --queries <splits> --split dev --folds 2 --values 1 --quick",
    ),
    "ltr score": ("<model> <features> -o <txt>out", "<model> <plain> --groups <sizes>"),
    "ltr eval": (
        (
            f"<features> <model> <predicted> {_OWN} -m AP -o <txt>out --per-query "
            "<csv>out --report <html>out"
        ),
        "<plain> <predicted> --groups <sizes>",
    ),
    "formats": ("--shape <shapes>",),
    "measures list": (f"{_OWN}",),
    "measures show": (f"AP {_OWN}",),
    "conventions diff": ("beir ranx <qrels> <run> -m AP",),
    "conventions list": ("",),
    "conventions pages": ("<folder>out",),
    "conventions show": ("beir",),
    "demo": ("", "--copy <new>out"),
}

#: commands that take a file with shapes of one's own
_SHAPED: Final = (
    *("eval", "curve", "sampled", "compare", "slices", "report", "reproduce", "power"),
    *("diff", "check", "explain", "identify", "bounds", "baseline", "thresholds"),
    "stages",
    "abstain",
    *("collection", "certify", "beyond", "gate"),
)
LINES: Final = {
    name: (f"{lines[0]} --shape <shapes>", *lines[1:]) if name in _SHAPED else lines
    for name, lines in _LINES.items()
}

_SYSTEMS = "\n".join(
    f"{name},{row / 10},{row / 7}" for row, name in enumerate("abcd", 1)
)
_VALUES = "query_id,measure,value\n" + "".join(
    f"q{query},AP,{query % 4 / 4}\n" for query in range(1, 9)
)
_SYSTEM_VALUES = "system,query_id,value\n" + "".join(
    f"{name},q{query},{(row + query) % 5 / 5}\n"
    for row, name in enumerate("abc")
    for query in range(1, 9)
)
_FEATURES = "".join(
    f"{row % 2} qid:{row // 4} 1:{row * 7 % 5} 2:{row % 2}.{row % 3}\n"
    for row in range(16)
)
_NUGGETS = [{"text": "unworn", "importance": "vital", "assignment": "support"}]
_ANSWER = [{"text": "It is.", "citations": ["d1"]}]
_GATE = """[gate]
qrels = "qrels.txt"
baseline = "a.run"
candidate = "b.run"
[[gate.rules]]
measure = "AP"
margin = 0.9
"""
_COLLECTIONS = "".join(
    f'[collections.{name}]\nqrels = "qrels.txt"\nruns = ["a.run", "b.run"]\n'
    for name in ("nq", "fiqa")
)
_SHOWN = "impression_id,query_id,doc_id,position,reward,propensity\n" + "".join(
    f"{row},q1,d{row % 2 + 1},{row % 2 + 1},{row % 3 % 2},0.5\n" for row in range(8)
)
_AB = "impression_id,position,clicked,variant,user_id,country\n" + "".join(
    f"{row},1,{row % 3 % 2},{'ab'[row % 2]},u{row},{'xy'[row % 4 // 2]}\n"
    for row in range(40)
)
_CLICKS = "query_id,doc_id,position,clicked\n" + "".join(
    f"q1,d{row % 2},{row % 2 + 1},{row % 3 % 2}\n" for row in range(12)
)
_OWN_GAIN: Final = (
    "import rankstone\nrankstone.measures.register_gain('own', lambda grade: grade)\n"
)

_QUERIES: Final = range(1, 13)
_HALVES: Final = [*range(6), *range(7)]
_SPLITS = "".join(f"{query},dev\n" for query in range(8))
_COUNTRIES = "".join(f"q{query},{('de', 'fr')[query % 2]}\n" for query in _QUERIES)


def _ranked(query: int, half: int) -> str:
    """Return the lines of a list, in which the relevant document is the first or the second."""
    order = ("d1", "d2") if half % 2 else ("d2", "d1")
    return "".join(
        f"q{query} Q0 {document} {rank} {query + 3 - rank} t\n"
        for rank, document in enumerate(order, 1)
    )


#: role → file and text
ROLES: Final[dict[str, tuple[str, str]]] = {
    "qrels": ("qrels.txt", "".join(f"q{query} 0 d1 1\n" for query in _QUERIES)),
    "run": ("a.run", "".join(map(_ranked, _QUERIES, _HALVES))),
    "run2": ("b.run", "".join(map(_ranked, _QUERIES, _HALVES[1:]))),
    "queries": ("queries.csv", f"query_id,country\n{_COUNTRIES}"),
    "splits": ("splits.csv", f"query_id,split\n{_SPLITS}"),
    "answered": ("answered.csv", "query_id,correct\nq1,1\nq2,0\n"),
    "corpus": ("corpus.csv", "doc_id,text\nd1,one\nd2,two\nd3,three\nd4,four\n"),
    "golden": (
        "golden.jsonl",
        "".join(
            f'{{"id": "q{query}", "query": "what is {query}", "expected": ["d1"]}}\n'
            for query in _QUERIES
        ),
    ),
    "documents": ("documents.csv", "doc_id,title\nd1,one\nd2,two\nd3,three\nd4,four\n"),
    "pairs": ("pairs.csv", "query_id,doc_id\nq2,d9\n"),
    "copies": ("copies.csv", "doc_id,class\nd1,x\nd8,x\nd9,y\n"),
    "labelled": ("labelled.csv", "query_id,score,relevance\nq1,2,1\nq1,1,0\n"),
    "subtopics": (
        "subtopics.csv",
        "query_id,subtopic,doc_id,relevance\nq1,1,d1,1\nq1,2,d2,1\nq2,1,d3,1\n",
    ),
    "intents": ("intents.csv", "query_id,subtopic,weight\nq1,1,1\nq1,2,1\nq2,1,1\n"),
    "nested.json": ("nested.json", '{"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}'),
    "nested_run.json": ("ran.json", '{"q1": {"d1": 0.5, "d2": 1.5}, "q2": {"d3": 1}}'),
    "qrels.jsonl": (
        "qrels.jsonl",
        '{"query_id": "q1", "doc_id": "d1", "relevance": 1}\n',
    ),
    "run.jsonl": ("run.jsonl", '{"query_id": "q1", "doc_id": "d1", "score": 1.0}\n'),
    "ragas": (
        "ragas.jsonl",
        '{"user_input": "q", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}\n',
    ),
    "own": ("own.py", _OWN_GAIN),
    "shapes": (
        "shapes.toml",
        """[[shapes]]
name = "orders"
role = "judgments"
lines = ["order {query_id}: {doc_id} {relevance}"]
example = "order 7: tent 2"
""",
    ),
    "zscores": ("zscores.txt", "q1 map 0.5 0.1\nq2 map 0.5 0.1\n"),
    "scores": ("x.csv", _VALUES),
    "scores2": ("y.csv", _VALUES.replace("q1,AP,0.25", "q1,AP,0.5")),
    "printed": ("p.txt", "map\tq1\t0.5\nmap\tq2\t0.25\nmap\tall\t0.375\n"),
    "names": ("n.txt", "\n"),
    "printed2": ("r.txt", "map\tq1\t0.25\nmap\tq2\t0.5\nmap\tall\t0.375\n"),
    "perquery": ("nq.csv", _SYSTEM_VALUES),
    "perquery2": ("fiqa.csv", _SYSTEM_VALUES),
    "board": ("board.csv", f"system,nq,fiqa\n{_SYSTEMS}\n"),
    "pairs_won": (
        "won.csv",
        "left,right,winner\na,b,left\nb,a,left\na,b,left\nb,c,left\nc,a,left\n",
    ),
    "collections": ("collections.toml", _COLLECTIONS),
    "gate": ("gate.toml", _GATE),
    "teams": ("teams.csv", "run,group\na,one\nb,two\n"),
    "items": ("items.csv", "doc_id,category\nd1,x\nd2,y\nd3,x\nd4,y\n"),
    "history": ("history.csv", "query_id,doc_id\nq1,d4\nq2,d1\n"),
    "events": (
        "events.csv",
        "user_id,time\nu1,2024-01-01\nu1,2024-01-02\nu2,2024-01-01\n",
    ),
    "registrations": ("joined.csv", "user_id,time\nu1,2024-01-01\nu2,2024-01-01\n"),
    "clicks": ("clicks.csv", _CLICKS),
    "propensities": ("bias.csv", "position,propensity\n1,1\n2,0.5\n"),
    "shown": ("shown.csv", _SHOWN),
    "clicked": ("clicked.csv", "query_id,draw,doc_id\nq1,0,d1\nq2,0,d2\n"),
    "ab": ("ab.csv", _AB),
    "assignments": (
        "assigned.jsonl",
        f"{json.dumps({'qid': 'q1', 'query': 'shoes', 'nuggets': _NUGGETS})}\n",
    ),
    "nuggets": (
        "nuggets.jsonl",
        '{"qid": "q1", "query": "shoes", "nuggets": [{"text": "unworn", "importance": "vital"}]}\n',
    ),
    "cited": ("cited.jsonl", f"{json.dumps({'qid': 'q1', 'answer': _ANSWER})}\n"),
    "support": ("support.csv", "query_id,sentence,doc_id,support\nq1,0,d1,support\n"),
    "features": ("train.txt", _FEATURES),
    "plain": ("plain.txt", re.sub(r"qid:\d+ ", "", _FEATURES)),
    "sizes": ("sizes.txt", "4\n4\n4\n4\n"),
    "predicted": ("predicted.txt", "".join(f"{row * 5 % 7}\n" for row in range(16))),
}


def make_files(folder: Path) -> dict[str, str]:
    """Write a file of every role into a folder; return role → its name."""
    names = {role: name for role, (name, _) in ROLES.items()}
    for name, text in ROLES.values():
        (folder / name).write_text(text, encoding="utf-8")
    for role in ("qrels", "run"):
        names[f"{role}.parquet"] = f"{role}.parquet"
        pl.read_ndjson(folder / f"{role}.jsonl").write_parquet(
            folder / f"{role}.parquet"
        )
    names |= {"card": "card.json", "model": "model.json"}
    qrels, run = folder / names["qrels"], folder / names["run"]
    collections.certify(qrels, {"a": run}, "AP", folder=folder).write(
        folder / "card.json"
    )
    data = ltr.read(folder / "train.txt")
    svm = ltr.RankSVM().fit(data.X, data.y, data.qid)
    ltr.LinearModel.of(svm, data).write(folder / "model.json")
    names["lists"] = "lists.csv"
    lists = online.interleave(folder / names["run"], folder / names["run2"], draws=1)
    lists.write(folder / "lists.csv")
    return names


def typed(line: str, names: Mapping[str, str]) -> list[str]:
    """Return the words of a line, with the names of the files that it reads and writes."""
    words = []
    for number, word in enumerate(shlex.split(line)):
        written = re.sub(r"<(\w+)>out", rf"new{number}.\1", word)
        words.append(re.sub(r"<([\w.]+)>", lambda role: names[role[1]], written))
    return words
