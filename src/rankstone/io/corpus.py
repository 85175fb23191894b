"""The documents that can be retrieved: their ids, and their texts where these are there."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, counted, is_path
from rankstone.errors import InputError, printable
from rankstone.io.attributes import Attributes, read_attributes
from rankstone.io.file_formats import format_of
from rankstone.io.file_parts import files_of
from rankstone.io.json_objects import json_value
from rankstone.io.sources import display_name, is_database, is_stream
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Columns, Names

#: names of columns with the text of a document, and with what stands above it
_TEXTS: Final = (
    "text",
    "content",
    "contents",
    "body",
    "page_content",
    "passage",
    "chunk",
)
_TITLES: Final = ("title", "headline")
#: formats that are tables, a file or several parts
_TABLES: Final = ("csv", "tsv", "jsonl", "json", "parquet", "arrow", "xlsx")


class Corpus(Record):
    """The documents that can be retrieved.

    Attributes
    ----------
    source
        Its name in messages.
    ids
        The ids as texts, each once.
    rows
        ``doc_id`` and ``text``, lazily; ``None`` where there are only ids.
    read_as
        Notes on what was detected.
    """

    source: str
    ids: pl.Series
    rows: pl.LazyFrame | None = None
    read_as: Names = ()

    @cached_property
    def texts(self) -> pl.DataFrame:
        """``doc_id`` and ``text`` of the documents that have one."""
        if self.rows is None:
            return pl.DataFrame(schema={"doc_id": pl.String, "text": pl.String})
        with reading(self.source):
            return self.rows.drop_nulls().collect()

    def lacks(self, ids: pl.Series) -> pl.Series:
        """Return which ids are of no document, bool."""
        known = ids.cast(pl.String).is_in(self.ids.implode())
        return ~known


def read_corpus(source: object, columns: Columns | None = None) -> Corpus:
    """Read the documents that can be retrieved.

    Parameters
    ----------
    source
        A collection of ids; a file with an id in each line; a table with ``doc_id`` and perhaps ``text``
        (CSV, JSON lines, Parquet, a frame), an address of a database; or a folder of documents, whose ids
        are their paths.
    columns
        {their name: our name}.

    Raises
    ------
    InputError
        When there are no documents, or no column has their ids.
    """
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Attributes):
        return _of_attributes(source)
    if not is_path(source):
        return _of_object(source, columns)
    if is_database(source) or is_stream(source):
        return _of_attributes(read_attributes(source, "doc_id", columns))
    return _of_files(source, files_of(source), columns)


def _of_object(source: object, columns: Columns | None) -> Corpus:
    """Read a collection of ids, or a table."""
    is_table = hasattr(source, "columns") or isinstance(source, Mapping)
    if is_table or not isinstance(source, Collection):
        return _of_attributes(read_attributes(source, "doc_id", columns))
    ids = [str(document) for document in source]
    return _of_ids("corpus", pl.Series(ids, dtype=pl.String))


def _of_files(source: Any, files: Sequence[Path], columns: Columns | None) -> Corpus:  # noqa: ANN401
    """Read a table in one file or in parts, a list of ids, or the documents of a folder."""
    formats = {format_of(file, "trec") for file in files}
    are_tables = len(formats) == 1 and formats <= {*_TABLES}
    if not are_tables and Path(source).is_dir():
        return _of_folder(Path(source), files)
    name = display_name(source)
    if not are_tables:
        return _of_lines(name, files)
    if formats == {"json"}:
        value = json_value(source)
        if isinstance(value, list) and all(isinstance(v, (str, int)) for v in value):
            return _of_ids(name, pl.Series(map(str, value), dtype=pl.String))
    return _of_attributes(read_attributes(source, "doc_id", columns))


def _of_ids(name: str, ids: pl.Series, read_as: Names = ()) -> Corpus:
    once = ids.drop_nulls().unique(maintain_order=True)
    if not len(once):
        raise InputError(
            "there are no documents", where=name, expected="an id for each document"
        )
    return Corpus(name, once, None, read_as)


def _of_attributes(table: Attributes) -> Corpus:
    ids = pl.col("doc_id").cast(pl.String)
    with reading(table.source):
        column = table.frame.select(ids).collect()["doc_id"]
    corpus = _of_ids(table.source, column)
    parts = [
        pl.col(name).cast(pl.String)
        for names in (_TITLES, _TEXTS)
        for name in names
        if table.schema.get(name) == pl.String
    ]
    if not any(name in table.schema for name in _TEXTS):
        return corpus
    text = pl.concat_str(parts, separator="\n", ignore_nulls=True)
    rows = table.frame.select(ids, text=text)
    return Corpus(corpus.source, corpus.ids, rows, table.read_as)


def _of_lines(name: str, files: Sequence[Path]) -> Corpus:
    """Read an id from each line; before a tab, where a text follows."""
    with reading(name):
        lines = pl.concat(
            [pl.scan_lines(file, name="line", glob=False) for file in files]
        ).collect()["line"]
    lines = lines.str.strip_chars().str.strip_chars_start("\ufeff")
    lines = lines.filter(lines != "")
    cells = lines.str.splitn("\t", 2).struct.unnest()
    ids = cells.to_series(0)
    words = int(ids.str.split(" ").list.len().sum())
    if words > 2 * len(ids):
        raise InputError(
            "its lines are texts, and no ids",
            where=name,
            given=printable(lines[0], 60),
            expected="an id in each line, a table with doc_id, or a folder of documents",
        )
    corpus = _of_ids(name, ids, ("an id in each line",))
    if not cells.to_series(1).count():
        return corpus
    rows = pl.DataFrame({"doc_id": ids, "text": cells.to_series(1)}).lazy()
    return Corpus(name, corpus.ids, rows, ("an id and a text in each line",))


def _of_folder(folder: Path, files: Sequence[Path]) -> Corpus:
    """Read the files of a folder: each is a document, and its path is its id."""
    texts: dict[str, str | None] = {}
    for file in files:
        identifier = os.fspath(file.relative_to(folder))
        try:
            texts[identifier] = file.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            texts[identifier] = None
    if not any(text is not None for text in texts.values()):
        raise InputError(
            "no file of the folder is a text",
            where=str(folder),
            expected="a folder of documents, or a file with their ids",
        )
    ids = pl.Series([*texts], dtype=pl.String)
    rows = pl.DataFrame({"doc_id": ids, "text": [*texts.values()]}).lazy()
    held = counted(len(texts), "document")
    notes = (f"a folder of {held}; an id is a path in it",)
    return Corpus(str(folder), ids, rows, notes)


def in_folder(corpus: Corpus, wanted: pl.Series) -> Corpus:
    """Return the corpus of a folder with its name before all paths, where more of the wanted ids begin so.

    Parameters
    ----------
    corpus
        Any corpus; that of no folder stays as it is.
    wanted
        The ids that are to be there.
    """
    if not Path(corpus.source).is_dir():
        return corpus
    prefix = f"{Path(corpus.source).resolve().name}/"
    longer = corpus.ids.str.replace(r"^", prefix)
    prefixed = Corpus(corpus.source, longer, None, corpus.read_as)
    if int(prefixed.lacks(wanted).sum()) >= int(corpus.lacks(wanted).sum()):
        return corpus
    rows = corpus.rows
    if rows is not None:
        rows = rows.with_columns(doc_id=pl.lit(prefix) + pl.col("doc_id"))
    return Corpus(corpus.source, longer, rows, corpus.read_as)
