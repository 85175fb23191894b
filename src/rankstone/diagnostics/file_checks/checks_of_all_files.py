"""Checks of judgments, training data and runs alike: ids and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import counted
from rankstone.diagnostics.file_checks import BadRows, FileCheck
from rankstone.diagnostics.findings import Finding, row
from rankstone.errors import printable
from rankstone.hits.budgets import OFFSETS, STEPS
from rankstone.hits.judgments import FILL_DOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.diagnostics.file_checks import CheckedFile

#: examples of ids that are shown
_SHOWN: Final = 3


class SpansWithoutText(BadRows):
    """Spans that hold no text."""

    looks_at = ("judgments", "run")
    sentence = (
        "{n:,} {n:span|spans} without text: start must be 0 or more, and end larger"
    )

    def rows(self, file: CheckedFile) -> pl.DataFrame:
        """Return the rows with such spans."""
        if not {*OFFSETS} <= {*file.frame.columns}:
            return file.frame.clear()
        start, end = (pl.col(name).cast(pl.Float64) for name in OFFSETS)
        has_text = (start >= 0) & (end > start)
        return file.frame.filter(~has_text.fill_null(value=False))


class MissingIds(FileCheck):
    """Rows without an id."""

    looks_at = ("judgments", "training", "run")

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error for each column of ids."""
        for column in ("query_id", "doc_id"):
            count = file.frame[column].null_count()
            if count:
                sentence = f"{counted(count, 'row')} without {column}"
                fix = FILL_DOWN if column == "query_id" else "repair or remove them"
                yield Finding("error", sentence, None, fix)


class PaddedIds(FileCheck):
    """Ids with spaces around them, which are part of the id."""

    looks_at = ("judgments", "run")

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a note for each column of ids."""
        for column, what in (("query_id", "query"), ("doc_id", "document")):
            if file.frame.schema[column] != pl.String:
                continue
            ids = file.frame[column].unique()
            padded = ids.filter(ids != ids.str.strip_chars()).sort()
            if not len(padded):
                continue
            examples = [printable(repr(padded_id), 40) for padded_id in padded]
            yield Finding(
                "note",
                f"{counted(len(padded), f'{what} id')} with spaces around",
                ", ".join(examples[:_SHOWN]),
                "spaces are part of an id: remove them, or use them on both sides",
            )


class BadNumbers(FileCheck):
    """Grades, and scores or ranks that give the order, which are missing, not a number, or infinite."""

    looks_at = ("judgments", "run")

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error for what is no number, and a finding for what is infinite."""
        if file.by == "input":
            return
        number = pl.col(file.by)
        is_bad = number.is_null() | number.is_nan()
        bad = file.frame.filter(is_bad)
        if len(bad):
            sentence = f"{counted(len(bad), 'row')} whose {file.by} is not a number"
            yield Finding("error", sentence, row(bad), "repair or remove them")
        infinite = file.frame.filter(number.is_infinite())
        if len(infinite):
            level = "error" if file.kind == "judgments" else "note"
            sentence = f"{counted(len(infinite), 'row')} whose {file.by} is infinite"
            yield Finding(level, sentence, row(infinite))


def duplicates(file: CheckedFile, fix: str) -> Iterator[Finding]:
    """Find duplicate pairs of query and document; steps of an agent may return a document again."""
    frame = file.frame
    columns = {"query_id", "doc_id", *STEPS}.intersection(frame.columns)
    copies = frame.filter(frame.select(columns).is_duplicated())
    if len(copies):
        sentence = f"{counted(len(copies), 'row')} with a duplicate (query, document)"
        yield Finding("error", sentence, row(copies), f"choose {fix}")
