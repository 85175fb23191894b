"""TREC text: qrels, runs and similar lines.

Well-formed files go through Polars' parallel CSV reader.  At the first row that is not (a comment, two
blanks, a short line, a word instead of a number) a careful reader takes over from that row and splits line by
line: either the rest can be read, or the message names file, line and text.
"""

from __future__ import annotations

import gzip
import mmap
import re
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from rankstone._basics import Record, first_true
from rankstone.errors import BadLine, InputError, printable
from rankstone.io.columns import is_text
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.input_table import ROWS, Table, reading
from rankstone.io.number_columns import LARGEST, inexact, too_long
from rankstone.io.sources import as_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


#: a number as programs write it
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
#: the column of the tag while rows are read
_TAG: Final = "tag"
#: bytes compared at a time
_STEP: Final = 1 << 20
#: the most bytes that a compressed file is unpacked to in memory
_INFLATED: Final = 1 << 26


#: whether the ranks of a run are read; with ``if_numbers`` anything else is ignored
Ranks = Literal["unread", "if_numbers", "needed"]


#: what becomes of the column behind the others, the tag: all rows have ``one``, or it names their ``run``
Tag = Literal["unread", "one", "run"]


class Layout(Record):
    """The columns of a TREC file by position, an example of a line, and what the tag is for."""

    fields: tuple[str, ...]
    number: str
    expected: str
    tag: Tag = "unread"

    @property
    def row(self) -> str:
        """A regular expression for rows that begin with ``#`` and are not comments.

        The query's id begins with ``#``; the row has all columns, with a number in its place.
        """
        words = [_NUMBER if name == self.number else r"\S+" for name in self.fields[1:]]
        if self.number not in self.fields:
            words[0] = (
                r"(?:Q?0|\d+)"  # pairs: only this distinguishes a row from a sentence
            )
        return r"[ \t]+".join([r"^#\S+", *words]) + r"(?:[ \t]|$)"


QRELS: Final = Layout(
    ("query_id", "", "doc_id", "relevance"),
    "relevance",
    "query_id iteration doc_id grade",
)
#: judgments by subtopic, intent or assessor, which the second column names
GROUPED_QRELS: Final = Layout(
    ("query_id", "subtopic", "doc_id", "relevance"),
    "relevance",
    "query_id subtopic doc_id grade",
)
#: preference judgments within a subgroup of a judgment group
PREFERENCES: Final = Layout(
    ("query_id", "subtopic", "subgroup", "doc_id", "relevance"),
    "relevance",
    "query_id group subgroup doc_id level",
)
#: pairs in the first and third column of judgments or runs
PAIRS: Final = Layout(
    ("query_id", "", "doc_id"),
    "weight",
    "query_id 0 doc_id …, or a table (.csv, …) with query_id and doc_id",
)
#: weights of the subtopics of a query
INTENTS: Final = Layout(
    ("query_id", "subtopic", "weight"), "weight", "query_id subtopic weight"
)
RUN: Final = Layout(
    ("query_id", "", "doc_id", "rank", "score"),
    "score",
    "query_id Q0 doc_id rank score tag",
    tag="one",
)
#: runs of which the tag is not looked at, and several in one file that it names
ANY_TAG: Final = replace(RUN, tag="unread")
TAGGED: Final = replace(RUN, tag="run")


def trec(
    sources: Sequence[Path | bytes], name: str, layout: Layout, ranks: Ranks = "unread"
) -> Table:
    """Read TREC qrels or runs from one file or several.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    name
        Their name in messages.
    layout
        The columns, :data:`QRELS` or :data:`RUN` for instance.
    ranks
        Whether the rank column is read, too.
    """
    wanted = [f for f in layout.fields if f and (f != "rank" or ranks != "unread")]
    needed = [f for f in wanted if f != "rank" or ranks == "needed"]
    files = [
        _TrecFile(source, title_of(source, name), layout, wanted, needed)
        for source in sources
    ]

    def start(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for file in files:
            with reading(file.title):
                for piece in file.pieces():
                    yield piece.select(columns)

    def where(row: int) -> str:
        for file in files:
            if row < file.rows:
                return f"{file.title}:{file.line_of(row)}"
            row -= file.rows
        return name

    schema: dict[str, pl.DataType] = {
        f: pl.String() if is_text(f) else pl.Float64() for f in wanted
    }
    if layout.tag == "run":
        schema["run"] = pl.String()
    notes = tuple({file.encoding: None for file in files if file.encoding})
    table = Table(name, schema, start, where, untyped=True, read_as=lambda: notes)
    return replace(table, comments=lambda: sum(file.comments for file in files))


def title_of(source: Path | bytes, name: str) -> str:
    """Return the name of a source in messages: its path, or ``name`` for content."""
    return name if isinstance(source, bytes) else str(source)


@dataclass
class _TrecFile:
    """One file, and the counts of the last read."""

    source: Path | bytes
    title: str
    layout: Layout
    wanted: list[str]
    needed: list[str]
    rows: int = 0
    comments: int = 0
    tidy: bool = True
    numbers: list[str] = field(init=False)
    encoding: str = field(init=False)
    tag: str | None = None

    def __post_init__(self) -> None:
        self.source, self.encoding = as_utf8(self.source, self.title)
        self.numbers = [f for f in self.wanted if not is_text(f)]

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows with typed columns."""
        self.rows, self.comments, self.tidy, self.tag = 0, 0, True, None
        content = _unpacked(self.source)
        refuse_endless(content, self.title)
        self._refuse_run()
        separator = _separator(content)
        self.tidy = separator is not None
        for piece in self._tidy_pieces(content, separator) if separator else ():
            if not self._is_tidy(piece):
                self.tidy = False
                break
            self.rows += piece.height
            yield self._by_tag(piece)
        if not self.tidy:
            done, self.rows = self.rows, 0
            for piece in self._careful_pieces():
                fresh = piece[max(done - self.rows, 0) :]
                self.rows += piece.height
                if fresh.height:
                    yield self._by_tag(fresh.drop("line"))

    def _by_tag(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Return the rows just read with their run, or without their tag; refuse a second one."""
        if self.layout.tag == "run":
            return piece.rename({_TAG: "run"})
        if self.layout.tag == "unread":
            return piece
        tags = piece[_TAG]
        if self.tag is None and len(known := tags.drop_nulls()):
            self.tag = str(known[0])
        other = tags.ne(self.tag or "")
        if other.any():
            at = first_true(other)
            raise InputError(
                "a second tag in column 6: the file holds several runs",
                where=f"{self.title}:{self.line_of(self.rows - piece.height + at)}",
                given=f"{printable(tags[at], 40)} after {printable(self.tag, 40)}",
                expected="one run, with one tag in all rows",
                fix="eval, compare and report read each tag as a run with run_column=tag",
            )
        return piece.drop(_TAG)

    def _refuse_run(self) -> None:
        """Refuse a run in place of judgments: its ranks would be read as grades."""
        if self.layout.number != "relevance":
            return
        head = pl.scan_lines(self.source, name="text", n_rows=1, glob=False).collect()[
            "text"
        ]
        words = head[0].split() if len(head) else []
        if len(words) >= len(RUN.fields) + 1 and words[1].upper() == "Q0":
            raise BadLine(
                "these judgments look like a run",
                where=f"{self.title}:1",
                given=printable(head[0]),
                expected=self.layout.expected,
                fix="are judgments and run in the right order? QRELS comes first",
            )

    def line_of(self, row: int) -> int:
        """Return the line number of a row, from 1."""
        if self.tidy:
            return row + 1
        for piece in self._careful_pieces():
            if row < piece.height:
                return int(piece["line"][row])
            row -= piece.height
        return 0

    def _tidy_pieces(
        self, content: Path | bytes, separator: str
    ) -> Iterator[pl.DataFrame]:
        names = [f or f"skipped {i}" for i, f in enumerate(self.layout.fields)]
        tag = [] if self.layout.tag == "unread" else [_TAG]
        frame = pl.scan_csv(
            content,
            separator=separator,
            has_header=False,
            schema={n: self._dtype(n) for n in (*names, *tag)},
            ignore_errors=True,  # what is not a number becomes null, and then the careful reader takes over
            quote_char=None,
            extra_columns="ignore",
            missing_columns="insert",
            empty_string_is_null=True,
            raise_if_empty=False,
            glob=False,
        )
        typed = frame.select(*self.wanted, *tag).with_columns(
            pl.col(self.numbers).cast(pl.Float64)
        )
        yield from typed.collect_batches(chunk_size=ROWS)

    def _dtype(self, name: str) -> pl.DataType:
        """Return the type a column is read as; ranks that are not needed are integers, which is faster."""
        if name not in self.numbers:
            return pl.String()
        return pl.Float64() if name in self.needed else pl.Int64()

    def _is_tidy(self, piece: pl.DataFrame) -> bool:
        if any(piece[f].null_count() for f in self.needed):
            return False
        if any((piece[f].abs() >= LARGEST).any() for f in self.numbers):
            return False  # numbers whose digits have to be checked
        queries = piece["query_id"].rle().struct.field("value")
        return not queries.str.starts_with("#").any()

    def _careful_pieces(self) -> Iterator[pl.DataFrame]:
        self.comments = 0
        lines = pl.scan_lines(
            self.source, name="text", row_index_name="line", glob=False
        )
        for piece in lines.collect_batches(chunk_size=ROWS):
            text = piece.with_columns(
                pl.col("text").str.strip_chars(" \t\r\n\ufeff"), line=pl.col("line") + 1
            )
            comment = text["text"].str.starts_with("#")
            if comment.any():
                comment &= ~text["text"].str.contains(self.layout.row)
            self.comments += int(comment.sum())
            content = text.filter(~comment & (pl.col("text") != ""))
            if content.height:
                self._refuse_returns(content)
                yield self._split_lines(content)

    def _refuse_returns(self, content: pl.DataFrame) -> None:
        """Refuse lines that end in a carriage return only: a whole file of them would be one line."""
        returns = content["text"].str.contains("\r", literal=True)
        if returns.any():
            raise self._bad(
                content,
                returns,
                "there is a carriage return within the line",
                "if lines end in carriage returns only, convert them: tr '\\r' '\\n' < FILE > NEW",
            )

    def _split_lines(self, content: pl.DataFrame) -> pl.DataFrame:
        count = len(self.layout.fields)
        parts = (
            content["text"].str.replace_all(r"[ \t]+", " ").str.splitn(" ", count + 1)
        )
        rows = parts.struct.unnest()
        names = [f or f"skipped {i}" for i, f in enumerate(self.layout.fields)]
        rows.columns = [*names, _TAG]
        short = rows[:, count - 1].is_null()
        if short.any():
            raise self._bad(content, short, "the line has too few columns")
        typed = rows.select(
            _number(pl.col(f)).alias(f) if f in self.numbers else f for f in self.wanted
        )
        if self.layout.tag != "unread":  # words behind the first are no part of it
            typed = typed.with_columns(rows[_TAG].str.extract(r"^(\S+)"))
        for name in (name for name in self.numbers if name in self.needed):
            bad = typed[name].is_null()
            if bad.any():
                word = printable(rows[name][first_true(bad)], 40)
                raise self._bad(content, bad, f"the {name} {word!r} is not a number")
            long = inexact(rows[name])
            if long.any():
                at = first_true(long)
                raise too_long(
                    name, rows[name][at], f"{self.title}:{content['line'][at]}"
                )
        return typed.with_columns(content["line"])

    def _bad(
        self, content: pl.DataFrame, bad: pl.Series, what: str, fix: str | None = None
    ) -> BadLine:
        at = first_true(bad)
        text = content["text"][at]
        return BadLine(
            what,
            where=f"{self.title}:{content['line'][at]}",
            given=printable(text),
            expected=self.layout.expected,
            fix=fix or self._other_format(text),
        )

    def _other_format(self, text: str) -> str | None:
        """Return a fix if a line looks like another format."""
        if re.fullmatch(r'\s*(\[.*|\{\s*("[^"]*"\s*:\s*[\[{].*)?)', text, re.DOTALL):
            return "this looks like JSON: add --format-in json"
        if text.lstrip().startswith("{"):
            return "this looks like JSON lines: add --format-in jsonl"
        cells = max(text.count(mark) for mark in ",;")
        if re.fullmatch("sep=.", text) or (
            cells >= len(self.layout.fields) - 3 and " " not in text
        ):
            return "this looks like CSV: add --format-in csv, or give the file a name that ends in .csv"
        return None


def _unpacked(source: Path | bytes) -> Path | bytes:
    """Return the content of a gzip file of moderate size; any other source as it is."""
    if isinstance(source, bytes) or source.suffix != ".gz":
        return source
    try:
        with gzip.open(source) as file:
            content = file.read(_INFLATED + 1)
    except (OSError, EOFError, zlib.error):  # the next reader reports it
        return source
    return content if len(content) <= _INFLATED else source


def _separator(source: Path | bytes) -> str | None:
    """Return the blank or tab that separates all columns; ``None`` where both occur, or two in a row.

    This takes a few milliseconds for 100 MB and makes the parallel reader safe, which would read an empty
    column between two blanks.
    """
    if isinstance(source, bytes):
        return _separator_of(source)
    with (
        source.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return _separator_of(content)


def _separator_of(content: bytes | mmap.mmap) -> str | None:
    if content[:2] == b"\x1f\x8b" or content[:4] == b"\x28\xb5\x2f\xfd":
        return None
    ended = content.find(b"\r")
    if ended >= 0 and content[ended + 1 : ended + 2] != b"\n":
        return None
    tabs = content.find(b"\t") >= 0
    if tabs and content.find(b" ") >= 0:
        return None
    separator = "\t" if tabs else " "
    return None if _has_pair(content, ord(separator)) else separator


def _has_pair(content: bytes | mmap.mmap, byte: int) -> bool:
    """Return True if a byte occurs twice in a row; pairs are compared, four times as fast as a search."""
    pair = byte << 8 | byte
    for start in range(0, len(content) - 1, _STEP):
        for first in (start, start + 1):
            count = (min(start + _STEP + 1, len(content)) - first) // 2
            if (
                count > 0
                and (np.frombuffer(content, np.uint16, count, first) == pair).any()
            ):
                return True
    return False


def _number(text: pl.Expr) -> pl.Expr:
    """Parse a number as C does; anything else becomes null."""
    return text.str.strip_chars("\r").cast(pl.Float64, strict=False)
