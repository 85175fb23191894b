"""Checks of files: a class each, found in the modules of this package.

A module with a further subclass of :class:`FileCheck` adds a check.  Findings come in the order of modules, and
within a module in that of its classes.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar, Final

import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.findings import Finding, row
from rankstone.tables.phrases import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure as Measure
    from rankstone.measures.core.measure import Measures

_IDS: Final = ("query_id", "doc_id")


class CheckedFile(Record):
    """A file, and what it is held against.

    Attributes
    ----------
    kind
        ``judgments``, ``training`` or ``run``.
    frame
        Its rows.
    facts
        What is known about it; checks may add to this.
    judgments, training
        The rows of these files, if there are such files.
    declared
        Queries that are judged without a row.
    measures
        The requested measures.
    depths
        The cutoffs at which unjudged documents are counted and nDCG is checked; ``None``: whole lists.
    by
        The column of grades, or that which orders the lists of a run; ``input`` without one.
    by_subtopic
        Reads judgments with their subtopics.
    """

    kind: str
    frame: pl.DataFrame
    facts: dict[str, str]
    judgments: pl.DataFrame = field(default_factory=pl.DataFrame)
    training: pl.DataFrame = field(default_factory=pl.DataFrame)
    declared: pl.Series | None = None
    measures: Measures = ()
    depths: Sequence[int | None] = ()
    by: str = "input"
    by_subtopic: Callable[[], Table] | None = None

    @cached_property
    def texts(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows and the judgments, with ids as texts unless both have ids of the same types."""
        rows = self.frame
        judgments = self.judgments
        if all(rows.schema[name] == judgments.schema[name] for name in _IDS):
            return rows, judgments
        texts = pl.col(_IDS).cast(pl.String)
        return rows.with_columns(texts), judgments.with_columns(texts)

    @cached_property
    def answered(self) -> pl.Series:
        """The queries of the run."""
        return self.texts[0]["query_id"].unique().sort()

    @cached_property
    def judged(self) -> pl.Series:
        """The queries of the judgments, with those that have no row."""
        queries = self.texts[1]["query_id"]
        if self.declared is not None:
            declared = self.declared.cast(queries.dtype)
            queries = pl.concat([queries, declared])
        return queries.unique().sort()

    @cached_property
    def missing(self) -> pl.Series:
        """The judged queries that the run does not answer."""
        is_answered = self.judged.is_in(self.answered.implode())
        return self.judged.filter(~is_answered)

    @cached_property
    def placed(self) -> pl.DataFrame:
        """The rows of judged queries with their ``place`` from 0, and ``judged`` where they have a judgment."""
        rows, judgments = self.texts
        queries = self.judged.implode()
        is_judged = pl.col("query_id").is_in(queries)
        rows = rows.filter(is_judged)
        if self.by != "input":
            # as an evaluation does: ties by document id, descending
            text = pl.col("doc_id").cast(pl.String)
            descending = [self.by != "rank", True]
            rows = rows.sort(self.by, text, descending=descending, nulls_last=True)
        place = pl.int_range(pl.len())
        rows = rows.with_columns(place=place.over("query_id"))

        graded = judgments.filter(pl.col("relevance") >= 0)
        pairs = graded.select(*_IDS, judged=pl.lit(value=True)).unique()
        return rows.join(pairs, on=_IDS, how="left")


class FileCheck:
    """The base class of checks: what it looks at, and what it finds there."""

    #: kinds of files, such as ``run``, and of a file beside another, such as ``run in judgments``
    looks_at: ClassVar[tuple[str, ...]] = ()
    _known: ClassVar[list[type[FileCheck]]] = []

    def __init_subclass__(cls) -> None:
        """Register the class."""
        super().__init_subclass__()
        FileCheck._known.append(cls)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield what is found."""
        raise NotImplementedError

    @staticmethod
    def all_findings(file: CheckedFile) -> Iterator[Finding]:
        """Yield what all checks of a file find."""
        for module in iter_modules(__path__, f"{__name__}."):
            import_module(module.name)
        kinds = {file.kind}
        if len(file.judgments):
            kinds.add(f"{file.kind} in judgments")
        if len(file.training):
            kinds.add(f"{file.kind} in training")
        checks = sorted(FileCheck._known, key=lambda check: check.__module__)
        for check in checks:
            if kinds.intersection(check.looks_at):
                yield from check().findings(file)


class BadRows(FileCheck):
    """A check that speaks where some rows are not as they should be.

    Its sentence is filled in with ``n``, how many they are; the first of them is the example.
    """

    level: ClassVar = "error"
    sentence: ClassVar[str]
    advice: ClassVar[str | None] = None

    def rows(self, file: CheckedFile) -> pl.DataFrame:
        """Return the rows that are not as they should be."""
        raise NotImplementedError

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a finding if there are such rows."""
        rows = self.rows(file)
        if len(rows):
            sentence = filled(self.sentence, {"n": len(rows)})
            yield Finding(self.level, sentence, row(rows), self.advice)
