"""Splits written into the file of a golden set, byte for byte as it was but for them, or into one beside it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import UsageError, printable
from rankstone.io.atomic_files import atomic
from rankstone.io.file_formats import format_at
from rankstone.io.golden_sets import beside, stored_rows
from rankstone.io.sources import display_name, is_database, is_stream
from rankstone.io.unreadable_files import UnreadYaml
from rankstone.io.yaml_text import yaml_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import StrPath
    from rankstone.golden.golden_splits import Splits

#: where a text begins → what is written there
Insertions = list[tuple[int, str]]
_ELSE: Final = "leave out in_place: splits are then written into a file beside it"
_BLANK: Final = re.compile(r"\s*")


def store(splits: Splits, path: StrPath, *, in_place: bool = False) -> Path:
    """Write splits, and return the file.

    Parameters
    ----------
    splits
        The splits.
    path
        The file of the golden set.
    in_place
        True to write each new split into its record: order, comments and all other bytes stay.  By default
        they are written into ``NAME.splits.csv`` beside the file, which is read with it from then on: its
        rows stay in their order, also those of queries that are gone, and new ones follow.

    Raises
    ------
    UsageError
        Where a file is of a form into which nothing can be written.
    """
    if is_stream(path) or is_database(path):
        raise UsageError(
            "splits are stored in a file or beside it, and this is none",
            given=display_name(path),
            expected="the file of a golden set",
        )
    if not in_place:
        target = beside(path)
        rows = _with_earlier(
            stored_rows(target),
            splits.rows.drop_nulls("split").select("query_id", "split"),
        )
        with atomic(target, in_place=True) as unfinished:
            rows.write_csv(unfinished)
        return target
    target = Path(path)
    words = [
        row["split"] if row["split"] and row["reason"] != "stored" else ""
        for row in splits.rows.iter_rows(named=True)
    ]
    changed = _inserted(target, words)
    with atomic(target, in_place=True) as unfinished:
        unfinished.write_bytes(changed.encode("utf-8"))
    return target


def _with_earlier(earlier: pl.DataFrame | None, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that are stored, as they now are, and new ones behind them."""
    if earlier is None:
        return rows
    now = pl.col("query_id").replace_strict(
        rows["query_id"], rows["split"], default=pl.col("split"), return_dtype=pl.String
    )
    new = rows.join(earlier, on="query_id", how="anti", maintain_order="left")
    return pl.concat([earlier.with_columns(split=now), new], how="diagonal")


def _inserted(path: Path, words: list[str]) -> str:
    """Return the text of a file with a split in each record for which there is a word."""
    try:
        kind, _ = format_at(path, None, {})
    except UnreadYaml:
        kind = "yaml"
    writers = {"json": _json, "jsonl": _json_lines, "yaml": _yaml, "csv": _csv}
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if kind not in writers or not text:
        raise UsageError(
            "splits cannot be written into this file",
            given=f"{kind}, {printable(path)}",
            expected=f"a file of {', '.join(writers)} in UTF-8, not compressed",
            fix=_ELSE,
        )
    insertions = list(writers[kind](text, words))
    for place, inserted in sorted(insertions, reverse=True):
        text = text[:place] + inserted + text[place:]
    return text


def _json(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield what is inserted behind the last key of each record."""
    spans = [span for span in _objects(text) if span[2] == _depth(text)]
    if len(spans) != len(words):
        raise _not_here(len(spans), len(words))
    for (begin, end, _), word in zip(spans, words, strict=True):
        if word:
            yield _in_object(text, begin, end, word)


def _in_object(text: str, begin: int, end: int, word: str) -> tuple[int, str]:
    """Return what is inserted into the object between two braces."""
    blank = _BLANK.match(text, begin + 1)
    lead = blank[0] if blank and "\n" in blank[0] else " "
    last = len(text[:end].rstrip())
    return last, f',{lead}"split": {json.dumps(word, ensure_ascii=False)}'


def _objects(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and depth of each object of a JSON text, in the order of their beginnings."""
    spans = []
    open_braces: list[int] = []
    depth = 0
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        sign = mark[0]
        if sign in "[{":
            depth += 1
            if sign == "{":
                open_braces.append(mark.start())
        elif sign in "]}":
            if sign == "}":
                spans.append((open_braces.pop(), mark.start(), depth))
            depth -= 1
    yield from sorted(spans)


def _depth(text: str) -> int:
    """Return how deep the records of a golden set are: in a list, in a list of an object, in an object."""
    value = json.loads(text.removeprefix("\ufeff"))
    if isinstance(value, list):
        return 2
    has_list = any(isinstance(part, list) for part in value.values())
    return 3 if has_list else 2


def _json_lines(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield what is inserted into each line."""
    remaining = iter(words)
    for line in re.finditer(r"[^\n]*\S[^\n]*", text):
        word = next(remaining)
        if word:
            end = line.start() + line[0].rstrip().rindex("}")
            yield _in_object(text, line.start() + line[0].index("{"), end, word)


def _yaml(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield a line behind a key of one line in each record, or what is inserted before its closing brace."""
    root = yaml_nodes(text, "the file")
    nodes = _record_nodes(root)
    if len(nodes) != len(words):
        raise _not_here(len(nodes), len(words))
    for node, word in zip(nodes, words, strict=True):
        if not word:
            continue
        shown = json.dumps(word, ensure_ascii=False)
        if node.flow_style:
            last = len(text[: node.end_mark.index - 1].rstrip())
            yield last, f", split: {shown}"
            continue
        lines = [
            value
            for _, value in node.value
            if value.id == "scalar" and value.start_mark.line == value.end_mark.line
        ]
        if not lines:
            raise _not_here(0, len(words))
        line_end = text.find("\n", lines[0].end_mark.index)
        place = len(text) if line_end < 0 else line_end
        yield place, f"\n{' ' * node.value[0][0].start_mark.column}split: {shown}"


def _record_nodes(root: Any) -> list[Any]:  # noqa: ANN401 - of PyYAML
    """Return the nodes of records: in a list, in the list of an object, or the values of an object."""
    if root.id == "sequence":
        return list(root.value)
    values = [value for _, value in root.value]
    lists = [value for value in values if value.id == "sequence"]
    return list(lists[0].value) if lists else values


def _csv(text: str, words: list[str]) -> Iterator[tuple[int, str]]:
    """Yield a cell at the end of each row, under a name at the end of the header."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    rows = [line for line in lines if line.strip()]
    dialect = csv.Sniffer().sniff(rows[0], delimiters=",;\t|")
    header = next(csv.reader([rows[0]], dialect))
    has_column = header[-1] == "split"
    if len(rows) != len(words) + 1 or ("split" in header and not has_column):
        raise _not_here(len(rows) - 1, len(words))

    place = 0
    width = len(header) if has_column else len(header) + 1
    cells = iter(["" if has_column else "split", *words])
    for line in lines:
        place += len(line)
        cell = next(cells) if line.strip() else ""
        if cell:
            is_short = len(next(csv.reader([line], dialect))) < width
            yield place, dialect.delimiter * is_short + cell
        place += len(newline)


def _not_here(records: int, queries: int) -> UsageError:
    return UsageError(
        "splits cannot be written into this file",
        given=f"{records:,} records that take a new key, {queries:,} queries",
        expected="a record for each query, none with an empty split",
        fix=_ELSE,
    )
