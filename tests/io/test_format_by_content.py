"""The content of a file says what it is: a name decides only where content leaves it open."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

import rankstone
from rankstone.io.json_in_text import json_format
from rankstone.io.suffixes import FORMATS, PAGES

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE: Final = Path(rankstone.__file__).parent
_JUDGED: Final = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2", "q2"],
        "doc_id": ["d1", "d2", "d3", "d4"],
        "relevance": [1, 0, 2, 0],
    }
)
_RETRIEVED: Final = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2", "q2"],
        "doc_id": ["d1", "d2", "d4", "d3"],
        "score": [2.0, 1.0, 3.0, 1.5],
    }
)


def _nested(frame: pl.DataFrame) -> str:
    by_query: dict[str, dict[str, float]] = {}
    for query, document, value in frame.rows():
        by_query.setdefault(query, {})[document] = value
    return json.dumps(by_query, indent=1)


def _trec(frame: pl.DataFrame) -> str:
    is_run = "score" in frame.columns
    return "".join(
        f"{query} Q0 {document} {rank} {value} tag\n"
        if is_run
        else f"{query} 0 {document} {value}\n"
        for rank, (query, document, value) in enumerate(frame.rows(), 1)
    )


_WRITERS: Final[dict[str, Callable[[pl.DataFrame], str]]] = {
    "trec": _trec,
    "csv": lambda frame: frame.write_csv(),
    "tsv": lambda frame: frame.write_csv(separator="\t"),
    "jsonl": lambda frame: frame.write_ndjson(),
    "json": _nested,
    "json of one line": lambda frame: json.dumps(json.loads(_nested(frame))),
    "json of records": lambda frame: json.dumps(frame.to_dicts()),
}


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        (content, suffix)
        for content in _WRITERS
        for suffix in (".txt", ".csv", ".tsv", ".jsonl", ".json", ".run", ".dat", "")
        # a single line of JSON is what its name says
        if (content, suffix) != ("json of one line", ".jsonl")
    ],
)
def test_any_name(content: str, suffix: str, tmp_path: Path) -> None:
    """Each format is read under the name of each other one, with the same value."""
    judgments, run = tmp_path / f"judged{suffix}", tmp_path / f"run{suffix}"
    judgments.write_text(_WRITERS[content](_JUDGED), encoding="utf-8")
    run.write_text(_WRITERS[content](_RETRIEVED), encoding="utf-8")
    # q1 is ideal; in q2 the only relevant document is second
    scores = rankstone.evaluate(judgments, run, "nDCG@10")
    mean = scores.to_frame()["value"].mean()
    assert mean == pytest.approx((1 + 1 / math.log2(3)) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "by_name", "expected"),
    [
        ("", "json", ""),
        ("{", "json", ""),
        ("{q1} 0 d1 1", "trec", ""),
        ("[q1] 0 d1 1", "trec", ""),
        ("[ 1, 2]", "trec", ""),
        ('\ufeff{"q1": {}}', "trec", "json"),
        ('{"a": 1}\n', "trec", "jsonl"),
        ('{"a": 1}\n', "json", "json"),
        ('{"q1": {"d1": 1}}\n', "jsonl", "jsonl"),
        ('{"a": 1}\n\n{"a": 2}\n', "csv", "jsonl"),
        ('{"a": 1} x\n', "trec", "json"),
        ('{"a":\n 1}', "jsonl", "json"),
        ('{"a": "' + "x" * 70_000, "jsonl", "jsonl"),
        ('{"a": "' + "x" * 70_000, "json", "json"),
        ('[{"a": 1}]', "jsonl", "json"),
        ("{}", "trec", "json"),
    ],
)
def test_json_in_text(text: str, by_name: str, expected: str) -> None:
    """A text is JSON if it begins with an object or a list of containers."""
    assert json_format(text.encode(), by_name) == expected


def _texts(path: Path) -> list[str]:
    """Return the strings of a module that are neither docstrings nor parts of names that it makes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in node.values}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in left_out
    ]


def test_suffixes_stand_in_one_file() -> None:
    """No module but the registry holds the suffix of a table, a page or a compressed file."""
    suffixes = {
        suffix for several in (FORMATS | PAGES).values() for suffix in several if suffix
    } | {".gz", ".zst", ".zstd"}
    holders = {
        str(path.relative_to(PACKAGE)): sorted(held)
        for path in PACKAGE.rglob("*.py")
        if path.name != "suffixes.py" and (held := suffixes & {*_texts(path)})
    }
    assert holders == {}
