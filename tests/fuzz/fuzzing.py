"""Texts and files as strangers and bad luck write them: ``python -m tests.fuzz.fuzzing [--measures N] …``.

Every case has a seed of its own, so ``--only KIND:SEED`` runs it again.  A case is wrong if anything but one
of :mod:`rankstone.errors` is raised, if it takes more than ten seconds of the processor, if a refusal of a
file does not say which file, or if a change that keeps a file's meaning changes a number.
"""

from __future__ import annotations

import argparse
import csv
import faulthandler
import gzip
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

import polars as pl

import rankstone
from rankstone import ltr
from rankstone.boards import paired_board
from rankstone.collections import certify, verify
from rankstone.errors import NotComparable, RankstoneError, UsageError
from rankstone.measures.core.trec_eval_names import TREC
from rankstone.tables.results import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["KINDS", "Finding", "run_case"]

#: seconds of the processor that a case may take
PATIENCE: Final = 10
#: cases of a process, and what it says before each
_SIZE: Final = 2_000
#: kinds of files that are read whole before anything is computed, and errors that are not about files
_BOARDS: Final = ("board", "battles", "mteb")
_NO_BOARD: Final = (NotComparable, UsageError)
_AT: Final = "at "
#: what stands where a number or a name should
NASTY: Final = (
    *(
        "0",
        "-0",
        "1",
        "-1",
        "2",
        "10",
        "0.5",
        "1e308",
        "-1e308",
        "1e400",
        "5e-324",
        "nan",
        "inf",
        "-inf",
        "1e9",
    ),
    *(
        "1e10",
        "99999999999999999999",
        "9007199254740993",
        "0x10",
        "1_000",
        "1,5",
        "٣",
        "",
        " ",
        "None",
        "null",
    ),
    *(
        "True",
        "[]",
        "{}",
        "{1: 2}",
        "{0.5, nan}",
        "()",
        "''",
        '"',
        "\\",
        "\x00",
        "\x1b[31m",
        "\ud7ff",
        "é",
        "\u202e",
    ),
    *(
        "a b",
        "@",
        "@@3",
        "(",
        ")",
        ">2",
        "log2",
        "exp2",
        "=1",
        "-1+1",
        "<script>",
        "../..",
        "q1",
        "d1",
    ),
    *("x" * 3000, "1" * 400, "[" * 3000),
)
TOML_VALUES: Final = (
    *(
        "3",
        "-1",
        "1.5",
        "[]",
        "[1]",
        "{}",
        "true",
        "nan",
        "inf",
        '""',
        '"x"',
        "1e400",
        "2026-01-01",
        "{ a = 1 }",
    ),
    *('[["a"]]', "9223372036854775807"),
)

QRELS: Final = [
    (f"q{q}", f"d{d}", float((q * d) % 4)) for q in range(1, 5) for d in range(1, 9)
]
RUN: Final = [
    (f"q{q}", f"d{d}", 9.0 - d + q / 8) for q in range(1, 5) for d in range(2, 11)
]
MEASURES: Final = "nDCG@5 AP RR P@3"


class Finding(AssertionError):
    """What should not have happened."""


class _TooSlow(BaseException):
    """A case took longer than it may; nothing that catches exceptions catches this."""


# -- measures ------------------------------------------------------------------------------------------------
def measure_text(rng: random.Random) -> str:
    """Return the text of a measure, as it might be written, or nearly so."""
    if rng.random() < 0.3:
        text = f"{rng.choice(sorted(TREC))}.{','.join(rng.choice(NASTY) for _ in range(rng.randint(0, 4)))}"
    else:
        name = rng.choice(sorted(rankstone.measures.MEASURES))
        kind = rankstone.measures.MEASURES[name]
        chosen = [
            f
            for f in fields(kind)
            if f.name not in ("k", "budget") and rng.random() < 0.5
        ]
        inside = ", ".join(f"{f.name}={_parameter(rng, f)}" for f in chosen)
        cutoff = (
            f"@{rng.choice(NASTY) if rng.random() < 0.3 else rng.randint(1, 12)}"
            if rng.random() < 0.6
            else ""
        )
        if rng.random() < 0.15:
            crossing = rng.choice(
                ["", ", crossing=skip", f",crossing={rng.choice(NASTY)}"]
            )
            cutoff = f"@{rng.choice(['tokens', 'calls', 'turns', 'ms'])}({rng.choice(NASTY)}{crossing})"
        examples = kind.examples or (name,)
        text = (
            f"{name}({inside}){cutoff}"
            if inside
            else rng.choice(examples) + ("" if rng.random() < 0.5 else cutoff)
        )
    return _scratched(rng, text) if rng.random() < 0.3 else text


def _parameter(rng: random.Random, declared: Any) -> str:
    words = declared.metadata.get("choices") or ()
    if words and rng.random() < 0.7:
        return str(rng.choice(list(words)))
    return rng.choice(NASTY) if rng.random() < 0.5 else f"{rng.uniform(-2, 4):.3g}"


def _scratched(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 3)):
        position = rng.randint(0, len(text))
        text = rng.choice(
            [
                text[:position] + text[position + 1 :],
                text[:position] + rng.choice(NASTY) + text[position:],
                text[:position],
            ]
        )
    return text


@cache
def _world() -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    qrels = pl.DataFrame(QRELS, ["query_id", "doc_id", "relevance"], orient="row")
    qrels = qrels.with_columns(
        subtopic=pl.lit("s"), subgroup=pl.lit("g"), propensity=pl.lit(0.5)
    )
    queries = {
        f"q{q}": {"session": "s", "position": q, "weight": q} for q in range(1, 5)
    }
    run = pl.DataFrame(RUN, ["query_id", "doc_id", "score"], orient="row").with_columns(
        words=pl.lit(9.0), length=pl.lit(9.0)
    )
    return qrels, run, {"queries": queries, "candidates": 20}


def measures(seed: int) -> None:
    """Parse a text; if it is a measure, let it score."""
    text = measure_text(random.Random(seed))
    qrels, run, options = _world()
    measure = rankstone.parse_measure(text)
    if rankstone.parse_measure(str(measure)) != measure:
        raise Finding(f"{text!r} prints as {measure}, which is another measure")
    if isinstance(measure, rankstone.Measure):
        values = rankstone.evaluate(qrels, run, measure, **options).to_dict()["run"]
        value = next(iter(values.values()))
        if value in (float("inf"), float("-inf")):
            raise Finding(f"{text!r} is {value}")


# -- files ---------------------------------------------------------------------------------------------------
def _table(rows: list[Any], *names: str) -> pl.DataFrame:
    return pl.DataFrame(rows, list(names), orient="row")


def _packed(frame: pl.DataFrame, form: str) -> bytes:
    out = io.BytesIO()
    ways: dict[str, Callable[[Any], object]] = {
        "csv": frame.write_csv,
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }
    ways[form](out)
    return out.getvalue()


@cache
def _originals() -> dict[str, tuple[str, bytes]]:
    """Return files that are as they should be: what reads them, and what they hold."""
    qrels, run = (
        _table(QRELS, "query_id", "doc_id", "relevance"),
        _table(RUN, "query_id", "doc_id", "score"),
    )
    trec_qrels = "".join(f"{q} 0 {d} {g:g}\n" for q, d, g in QRELS)
    trec_run = "".join(
        f"{q} Q0 {d} {index} {s} t\n" for index, (q, d, s) in enumerate(RUN)
    )
    files: dict[str, tuple[str, bytes]] = {
        "qrels.txt": ("qrels", trec_qrels.encode()),
        "run.txt": ("run", trec_run.encode()),
        "run.tsv": ("run", run.write_csv(separator="\t").encode()),
        "run.json": (
            "run",
            json.dumps(
                {q: {d: s for p, d, s in RUN if p == q} for q, *_ in RUN}
            ).encode(),
        ),
        "rows.json": ("run", json.dumps(run.to_dicts()).encode()),
        "qrels.json": (
            "qrels",
            json.dumps(
                {q: {d: g for p, d, g in QRELS if p == q} for q, *_ in QRELS}
            ).encode(),
        ),
        "gate.toml": ("gate", _GATE.encode()),
        "features.txt": ("ltr", _LETOR.encode()),
        "model.json": ("model", _MODEL.encode()),
        "printed.txt": (
            "scores",
            "".join(f"map\tq{q}\t0.{q}\n" for q in range(1, 5)).encode(),
        ),
    }
    scores = rankstone.evaluate(
        qrels, {"a": run, "b": run.reverse()}, MEASURES
    ).per_query
    queries = _table(
        [(f"q{q}", q, "s") for q in range(1, 5)], "query_id", "weight", "segment"
    )
    for form in ("csv", "jsonl", "parquet", "arrow"):
        for name, kind, frame in (
            ("qrels", "qrels", qrels),
            ("run", "run", run),
            ("scores", "scores", scores),
            ("queries", "queries", queries),
        ):
            files[f"{name}.{form}"] = (kind, _packed(frame, form))
    files |= _boards() | _spans() | {"trace.jsonl": ("run", _TRACE.encode())}
    files["card.json"] = "card", _card()
    files |= {
        f"{name}.xlsx": (files[f"{name}.csv"][0], workbook(files[f"{name}.csv"][1]))
        for name in ("qrels", "run", "board", "battles", "documents")
    }
    for name in ("qrels.txt", "run.txt", "run.csv", "run.jsonl"):
        kind, content = files[name]
        files[f"{name}.gz"] = kind, gzip.compress(content, mtime=0)
        out = io.BytesIO()
        if name.endswith("csv"):
            run.write_csv(out, compression="zstd")
            files[f"{name}.zst"] = kind, out.getvalue()
    return files


def _boards() -> dict[str, tuple[str, bytes]]:
    """Return tables of scores, wide and long, a result of MTEB, and battles."""
    systems, datasets = ("a", "b", "c", "d"), ("x", "y", "z")
    wide = _table(
        [
            (s, *(0.1 * index + n / 7 for n in range(3)))
            for index, s in enumerate(systems)
        ],
        *("system", *datasets),
    )
    cells = [
        (s, d, q, r) for s in systems for d in datasets for q in "pq" for r in "12"
    ]
    long = _table(
        [
            (*cell, len(str(cell)) / (3 + index), "c", 2.0)
            for index, cell in enumerate(cells)
        ],
        *("system", "dataset", "query_id", "seed", "value", "cluster", "weight"),
    )
    pairs = [
        (system, other) for system in systems for other in systems if system != other
    ]
    battles = _table(
        [
            (
                *pair,
                ("left", "right", "tie")[index % 3],
                index / 3,
                1.5,
                f"j{index % 4}",
            )
            for index, pair in enumerate(pairs)
        ],
        *("left", "right", "winner", "lead", "weight", "judge"),
    )
    subsets = [{"main_score": 0.5, "hf_subset": "en"}, {"main_score": 0.7}]
    result = {
        "task_name": "x",
        "scores": {"test": subsets, "dev": [{"main_score": 0.1}]},
    }
    return {
        "board.csv": ("board", _packed(wide, "csv")),
        "board.jsonl": ("board", _packed(wide, "jsonl")),
        "long.csv": ("board", _packed(long, "csv")),
        "long.jsonl": ("board", _packed(long, "jsonl")),
        "long.parquet": ("board", _packed(long, "parquet")),
        "battles.csv": ("battles", _packed(battles, "csv")),
        "battles.jsonl": ("battles", _packed(battles, "jsonl")),
        "task.json": ("mteb", json.dumps(result).encode()),
        "beir.json": ("mteb", b'{"NDCG@10": 0.5, "MAP@10": 0.25}'),
    }


def _spans() -> dict[str, tuple[str, bytes]]:
    """Return judgments of spans, and tables of documents."""
    spans = _table(
        [(f"q{q}", "D", 10 * q, 10 * q + 9, q % 3) for q in range(1, 5)],
        *("query_id", "doc_id", "start", "end", "relevance"),
    )
    documents = _table(
        [(f"d{d}", "D", 5 * d, 5 * d + 5, 7 * d, f"text of {d}") for d in range(1, 11)],
        *("doc_id", "document", "start", "end", "tokens", "text"),
    )
    forms = ("csv", "jsonl", "parquet")
    return {f"spans.{form}": ("spans", _packed(spans, form)) for form in forms} | {
        f"documents.{form}": ("documents", _packed(documents, form)) for form in forms
    }


def _card() -> bytes:
    """Return a card of the judgments and the run in a folder."""
    with tempfile.TemporaryDirectory() as place:
        for name, content in _beside().items():
            Path(place, name).write_bytes(content)
        card = certify(
            Path(place, "qrels.txt"), Path(place, "run.txt"), MEASURES, folder=place
        )
        card.write(Path(place, "card.json"))
        return Path(place, "card.json").read_bytes()


def _beside() -> dict[str, bytes]:
    """Return the files that others name."""
    qrels = "".join(f"{q} 0 {d} {g:g}\n" for q, d, g in QRELS)
    run = "".join(f"{q} Q0 {d} {index} {s} t\n" for index, (q, d, s) in enumerate(RUN))
    queries = "query_id,weight,segment\n" + "".join(
        f"q{q},{q},s\n" for q in range(1, 5)
    )
    return {
        "qrels.txt": qrels.encode(),
        "run.txt": run.encode(),
        "queries.csv": queries.encode(),
    }


_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATED: Final = "http://schemas.openxmlformats.org/package/2006/relationships"


def workbook(table: bytes) -> bytes:
    """Return a CSV table as a workbook with shared texts."""
    texts: dict[str, int] = {}
    rows = ""
    for position, row in enumerate(csv.reader(io.StringIO(table.decode())), 1):
        cells = ""
        for column, cell in zip("ABCDEFGHIJ", row, strict=False):
            number = re.fullmatch(r"-?[\d.]+", cell)
            value = cell if number else texts.setdefault(cell, len(texts))
            kind = "" if number else ' t="s"'
            cells += f'<c r="{column}{position}"{kind}><v>{value}</v></c>'
        rows += f'<row r="{position}">{cells}</row>'
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{_RELATED}"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATED}"><Relationship Id="r1" '
        f'Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{shared}</sst>',
    }
    return _zipped({name: text.encode() for name, text in parts.items()})


def _zipped(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _broken_workbook(rng: random.Random, content: bytes) -> bytes:
    """Return a workbook with a part that is broken."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(parts))
    if rng.random() < 0.1:
        del parts[name]
    elif rng.random() < 0.4:  # a reference or a number of a cell
        cells = re.findall(rb'r="\w+"|<v>\w+</v>|t="s"', parts[name]) or [b"<"]
        other = rng.choice(
            [
                b'r="XFD1048576"',
                b'r="ZZ3"',
                b'r="A0"',
                b"",
                b"<v>9999999</v>",
                b"<v>x</v>",
                b't="e"',
            ]
        )
        parts[name] = parts[name].replace(rng.choice(cells), other, 1)
    else:
        parts[name] = _mutated(rng, "part", parts[name])
    return _zipped(parts)


_DOCUMENTS: Final = {
    f"retrieval.documents.{index}.document.{name}": value
    for index in range(3)
    for name, value in (
        ("id", f"d{index + 2}"),
        ("score", 3.0 - index),
        ("content", "text"),
    )
}
_TRACE: Final = "".join(
    json.dumps(
        {
            "name": "retriever",
            "context": {"trace_id": f"t{index}", "span_id": f"t{index}-1"},
            "parent_id": None,
            "start_time": f"2026-11-23T01:00:0{index}.000000Z",
            "end_time": f"2026-11-23T01:00:0{index}.050000Z",
            "attributes": {
                "openinference.span.kind": "RETRIEVER",
                "input.value": "why?",
                "metadata": json.dumps({"query_id": f"q{index}"}),
                **_DOCUMENTS,
            },
        }
    )
    + "\n"
    for index in range(1, 5)
)
_GATE: Final = """[gate]
qrels = "QRELS"
baseline = "RUN"
candidate = "RUN"
by = "segment"
queries = "QUERIES"
inconclusive = "warn"
[gate.statistics]
confidence = 0.9
test = "t"
seed = 3
permutations = 100
[gate.options]
ties = "docid_desc"
depth = 5
unjudged = "nonrelevant"
[gate.guards]
queries = 3
judged = 0.1
[[gate.rules]]
measure = "nDCG@5"
margin = 0.6
floor = 0.1
drops = { by = 0.5, most = 2 }
"""
_LETOR: Final = "".join(
    f"{(q * d) % 3} qid:{q} 1:{d / 7:.3f} 2:{q / 3:.3f} # d{d}\n"
    for q in range(1, 4)
    for d in range(1, 6)
)
_MODEL: Final = json.dumps(
    {
        "rankstone_ltr": 1,
        "kind": "linear",
        "features": [
            {"name": "1", "weight": 0.5, "mean": 0.1, "spread": 1.0},
            {"name": "2", "weight": -0.25},
        ],
    }
)


def _mutated(rng: random.Random, name: str, content: bytes) -> bytes:
    """Return a file with a few things wrong: bytes, lines, or values of what it holds."""
    if name.endswith(".xlsx") and rng.random() < 0.9:
        return _broken_workbook(rng, content)
    if name.endswith((".json", ".toml", ".jsonl")) and rng.random() < 0.6:
        return _other_values(rng, name, content)
    lines = content.split(b"\n")
    for _ in range(rng.randint(1, 3)):
        position, place = rng.randint(0, len(content)), rng.randrange(len(lines))
        way = rng.randrange(7)
        if way == 0:
            content = (
                content[:position]
                + bytes([rng.randrange(256)])
                + content[position + 1 :]
            )
        elif way == 1:
            content = content[:position]
        elif way == 2:
            content = (
                content[:position]
                + rng.choice(NASTY).encode("utf-8", "replace")
                + content[position:]
            )
        elif way == 3:
            content = content[:position] + content[position + rng.randint(1, 40) :]
        elif way == 4:
            words = re.split(rb"([\s,:]+)", lines[place])
            others = [*(text.encode("utf-8", "replace") for text in NASTY), *words * 3]
            words[rng.randrange(len(words))] = rng.choice(others)
            content = b"\n".join([*lines[:place], b"".join(words), *lines[place + 1 :]])
        elif way == 5:
            content = b"\n".join(
                [*lines[:place], lines[rng.randrange(len(lines))], *lines[place:]]
            )
        else:
            content = content + rng.choice(
                [b"\x00", b"\n\n", b"}", b"]", b"\xff\xfe", content[: position // 2]]
            )
        lines = content.split(b"\n")
    return content


def _other_values(rng: random.Random, name: str, content: bytes) -> bytes:
    text = content.decode()
    if name.endswith(".toml"):
        lines = text.split("\n")
        place = rng.choice([index for index, line in enumerate(lines) if "=" in line])
        key = lines[place].partition("=")[0]
        lines[place] = f"{key}= {rng.choice(TOML_VALUES)}"
        return "\n".join(lines).encode()
    data = (
        [json.loads(line) for line in text.splitlines()]
        if name.endswith(".jsonl")
        else json.loads(text)
    )
    holder, key = _somewhere(rng, data)
    if holder is not None:
        holder[key] = rng.choice(
            [
                None,
                True,
                [],
                {},
                [1],
                {"a": 1},
                "",
                "x",
                -1,
                1e308,
                10**30,
                float("nan"),
                [[]],
                "1",
            ]
        )
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in data).encode()
    return json.dumps(data).encode()


def _somewhere(rng: random.Random, data: Any) -> tuple[Any, Any]:
    holder, key = None, None
    while isinstance(data, (dict, list)) and data:
        holder, key = (
            data,
            rng.choice(list(data) if isinstance(data, dict) else range(len(data))),
        )
        data = holder[key]
        if rng.random() < 0.3:
            break
    return holder, key


def _read(kind: str, path: Path) -> object:
    """Let whatever reads such a file read it; return numbers, where there are any."""
    qrels = {q: {d: g for p, d, g in QRELS if p == q} for q, *_ in QRELS}
    run = {q: {d: s for p, d, s in RUN if p == q} for q, *_ in RUN}
    missing, size = ("error", "skip", "worst", "model"), path.stat().st_size
    readers: dict[str, Callable[[], object]] = {
        "qrels": lambda: rankstone.evaluate(path, {"run": run}, MEASURES).to_dict(),
        "run": lambda: rankstone.evaluate(qrels, {"run": path}, MEASURES).to_dict(),
        "scores": lambda: (
            rankstone.compare_scores(path, test="t", permutations=50).table.shape
        ),
        "queries": lambda: (
            rankstone.evaluate(qrels, {"run": run}, "AP(agg=weighted)", queries=path)
            .mean(by="segment")
            .shape
        ),
        "gate": lambda: rankstone.gate(path).verdict,
        "board": lambda: _shown(
            rankstone.board(path, missing=missing[size % 4], resamples=1000)
        ),
        "mteb": lambda: _shown(rankstone.board(path.parents[2], missing="skip")),
        "battles": lambda: _shown(
            paired_board(
                path,
                cluster=("judge",) * (size % 2),
                covariates=("lead",) * (size // 2 % 2),
            )
        ),
        "spans": lambda: rankstone.evaluate(
            path, {"run": _run_of_spans()}, "SpanR@5 SpanP@5"
        ).to_dict(),
        "documents": lambda: rankstone.evaluate(
            qrels, {"run": run}, "R@tokens(60) nDCG@characters(90)", documents=path
        ).to_dict(),
        "card": lambda: _shown(verify(path)),
        "ltr": lambda: ltr.read(path).X.shape,
        "model": lambda: ltr.load(path),
    }
    return readers[kind]()


def _shown(result: Any) -> object:
    """Return what is printed of a result, and its JSON."""
    return result.text(), as_json(result.report())


def _run_of_spans() -> pl.DataFrame:
    rows = [
        (f"q{q}", "D", 9.0 - index, 5 * index, 5 * index + 5)
        for q in range(1, 5)
        for index in range(9)
    ]
    return _table(rows, "query_id", "doc_id", "score", "start", "end")


def files(seed: int) -> None:
    """Write a file that is broken, and read it."""
    rng = random.Random(seed)
    name = rng.choice(sorted(_originals()))
    kind, content = _originals()[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        content = _mutated(rng, name, _with_paths(content, folder))
        path = folder / f"broken-{name}"
        if kind == "mteb":
            path = _among_results(folder, path.name)
        path.write_bytes(content)
        try:
            _read(kind, path)
        except RankstoneError as error:
            # or a file that one names, or its role; a table that is read may be no board
            marks = ("broken-", str(folder), "table of documents", "judged queries")
            named = any(mark in str(error) for mark in marks)
            if not named and not (kind in _BOARDS and isinstance(error, _NO_BOARD)):
                raise Finding(
                    f"{name}: the message does not name the file: {error}"
                ) from error


def _among_results(folder: Path, name: str) -> Path:
    """Write results of two models, and return the place of a further one."""
    for model in ("m1", "m2"):
        place = folder / "mteb" / model / "revision"
        place.mkdir(parents=True)
        for index, task in enumerate("yz"):
            scores = {"test": [{"main_score": index / 7 + len(model)}]}
            whole = {"task_name": task, "scores": scores}
            (place / f"{task}.json").write_text(json.dumps(whole))
    return folder / "mteb" / "m1" / "revision" / name


def _with_paths(content: bytes, folder: Path) -> bytes:
    for name, text in _beside().items():
        (folder / name).write_bytes(text)
    for name, original in (
        ("QRELS", "qrels.txt"),
        ("RUN", "run.txt"),
        ("QUERIES", "queries.csv"),
    ):
        content = content.replace(f'"{name}"'.encode(), f'"{original}"'.encode())
    return content


# -- changes that mean nothing -------------------------------------------------------------------------------
def _lines_changed(
    content: bytes, rng: random.Random, *, header: bool
) -> Iterator[tuple[str, bytes]]:
    head, rows = (
        content.split(b"\n")[: int(header)],
        content.rstrip(b"\n").split(b"\n")[int(header) :],
    )
    shuffled = rng.sample(rows, len(rows))
    yield "CRLF", content.replace(b"\n", b"\r\n")
    yield "BOM", b"\xef\xbb\xbf" + content
    yield "rows shuffled", b"\n".join([*head, *shuffled]) + b"\n"
    yield "no newline at the end", content.rstrip(b"\n")
    yield "packed", gzip.compress(content)
    if not header:
        yield "blank lines", content.replace(b"\n", b"\n\n")
        yield "trailing blanks", content.replace(b"\n", b" \t\n")
        yield "tabs", content.replace(b" ", b"\t")
        yield "several blanks", content.replace(b" ", b"   ")


def same(seed: int) -> None:
    """Change a file in ways that mean nothing; every number stays what it was."""
    rng = random.Random(seed)
    name = rng.choice(
        ["qrels.txt", "run.txt", "run.csv", "qrels.csv", "run.tsv", "run.jsonl"]
    )
    kind, content = _originals()[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / name).write_bytes(content)
        before = _read(kind, folder / name)
        for what, changed in _lines_changed(
            content, rng, header=name.endswith(("csv", "tsv"))
        ):
            if what == "BOM" and name.endswith("jsonl"):
                continue
            path = folder / (
                f"changed-{name}.gz" if what == "packed" else f"changed-{name}"
            )
            path.write_bytes(changed)
            try:
                after = _read(kind, path)
            except RankstoneError as error:
                raise Finding(f"{name}, {what}: refused: {error}") from error
            if after != before:
                raise Finding(f"{name}, {what}: other numbers")


KINDS: Final[dict[str, Callable[[int], None]]] = {
    "measures": measures,
    "files": files,
    "same": same,
}


# -- the run -------------------------------------------------------------------------------------------------
def run_case(kind: str, seed: int) -> str | None:
    """Run one case and return what is wrong with it."""

    def late(*_: object) -> None:
        raise _TooSlow

    _originals()  # made once, which takes longer than a case
    signal.signal(signal.SIGPROF, late)  # its own time, however busy the machine is
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind](seed)
    except RankstoneError:
        return None
    except Finding as finding:
        return f"{kind}:{seed}  {finding}"
    except _TooSlow:
        return f"{kind}:{seed}  takes more than {PATIENCE} s"
    except BaseException as error:  # noqa: BLE001 - this is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{kind}:{seed}  {type(error).__name__}: {str(error)[:200]} at {last.filename}:{last.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _batch(kind: str, seeds: range) -> list[str]:
    """Run cases in a process of their own, a fresh one after each case that ends it."""
    names: list[str] = []
    while seeds:
        output = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.fuzz.fuzzing",
                "--batch",
                kind,
                str(seeds.start),
                str(seeds.stop),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a library's last words
            text=True,
            check=False,
        )
        lines = output.stdout.splitlines()
        names += [line for line in lines if not line.startswith(_AT)]
        last = next(
            (line for line in reversed(lines) if line.startswith(_AT)),
            f"{_AT}{seeds.start}",
        )
        if output.returncode == 0:
            break
        position = int(last.removeprefix(_AT))
        names.append(f"{kind}:{position}  the process ended with {output.returncode}")
        seeds = range(position + 1, seeds.stop)
    return names


def _run_here(kind: str, seeds: range) -> None:
    _originals()
    for seed in seeds:
        sys.stdout.write(f"{_AT}{seed}\n")
        sys.stdout.flush()
        faulthandler.dump_traceback_later(
            PATIENCE * 12, exit=True
        )  # where no alarm is heard, or nothing is done
        if (result := run_case(kind, seed)) is not None:
            sys.stdout.write(result.replace("\n", " | ") + "\n")
    faulthandler.cancel_dump_traceback_later()


def main() -> int:
    """Run cases, print what is wrong, and return whether anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measures", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--same", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="where seeds begin")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", metavar="KIND:SEED", help="run one case again")
    parser.add_argument("--batch", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        kind, _, seed = options.only.partition(":")
        KINDS[kind](int(seed))
        return 0
    if options.batch:
        kind, start, stop = options.batch
        _run_here(kind, range(int(start), int(stop)))
        return 0
    count = {kind: getattr(options, kind) for kind in KINDS}
    wrong = 0
    with ThreadPoolExecutor(options.workers) as pool:
        tasks = [
            pool.submit(
                _batch,
                kind,
                range(
                    options.seed + position,
                    options.seed + min(position + _SIZE, count[kind]),
                ),
            )
            for kind in KINDS
            for position in range(0, count[kind], _SIZE)
        ]
        for index, task in enumerate(tasks):
            for line in task.result():
                wrong += 1
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{index + 1:,} of {len(tasks):,}")
    sys.stdout.write(f"{sum(count.values()):,} cases, {wrong} wrong\n")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
