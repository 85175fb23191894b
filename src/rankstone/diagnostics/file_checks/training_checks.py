"""Checks of what judgments and runs share with training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import counted, some
from rankstone.diagnostics.file_checks import FileCheck
from rankstone.diagnostics.findings import Finding, row
from rankstone.diagnostics.time_overlap import time_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.diagnostics.file_checks import CheckedFile

_PAIR: Final = ["query_id", "doc_id"]


class RelevantInTraining(FileCheck):
    """Relevant judgments that are in the training data, and ids that are not."""

    looks_at = ("training in judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning for pairs, and a note for each column of ids."""
        relevant = file.judgments.filter(pl.col("relevance") > 0)
        pairs = _with_text_ids(relevant).unique(_PAIR, maintain_order=True)
        train = _with_text_ids(file.frame)
        both = pairs.join(train, on=_PAIR, how="semi")
        if len(both):
            share = len(both) / len(pairs)
            yield Finding(
                "warning",
                f"{len(both):,} of {counted(len(pairs), 'relevant judgment')} ({share:.1%}) also in training",
                row(both),
                "the model may know these answers: split again, or remove them with exclude=FILE and "
                "exclude_from=both",
                doubtful=True,
            )
        for column, noun in (("query_id", "query"), ("doc_id", "relevant document")):
            ids = pairs[column].unique()
            unknown = _not_in(train[column], ids)
            if not len(unknown):
                continue
            fix = None
            if len(unknown) == len(ids):
                known = some(train[column].unique().sort())
                fix = f"fine for a split by this id; otherwise, do ids match? in training {known}"
            sentence = f"{len(unknown):,} of {counted(len(ids), noun)} not in training"
            yield Finding("note", sentence, some(unknown), fix)


class JudgedBeforeTraining(FileCheck):
    """Relevant judgments that are earlier than the last row of training, where both have times."""

    looks_at = ("training in judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning, or a note where none is earlier or one side has no times."""
        relevant = file.judgments.filter(pl.col("relevance") > 0)
        pair = pl.format("query {}, document {}", *_PAIR)
        yield from time_findings(
            relevant.select(pair).to_series(),
            relevant.get_column("time", default=None),
            file.frame.get_column("time", default=None),
            noun="relevant judgment",
            holder="the judgments",
            measures=file.measures,
        )


class RetrievedInTraining(FileCheck):
    """Retrieved pairs that are in the training data, and retrieved documents that are not."""

    looks_at = ("run in training",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a note for pairs, and one for documents, a warning if all of these are unknown."""
        rows = _with_text_ids(file.frame)
        train = _with_text_ids(file.training)
        both = rows.join(train, on=_PAIR, how="semi")
        if len(both):
            yield Finding(
                "note",
                f"{counted(len(both), 'retrieved row')} of {rows.height:,} also in training",
                row(both),
                "if known documents do not count as answers, exclude=FILE removes them from every list",
            )
        documents = rows["doc_id"].unique()
        unknown = _not_in(train["doc_id"], documents)
        if not len(unknown):
            return
        every = len(unknown) == len(documents)
        level = "note"
        fix = None
        if every:
            level = "warning"
            known = some(train["doc_id"].unique().sort())
            fix = f"do document ids match? in training {known}"
        sentence = f"{len(unknown):,} of {counted(len(documents), 'retrieved document')} not in training"
        yield Finding(level, sentence, some(unknown), fix, doubtful=every)


def _not_in(train: pl.Series, ids: pl.Series) -> pl.Series:
    """Return the ids that the training data does not have."""
    is_in_training = ids.is_in(train.unique().implode())
    return ids.filter(~is_in_training).sort()


def _with_text_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Return pairs whose ids are texts, as numbers are texts in many files."""
    return frame.select(pl.col(_PAIR).cast(pl.String))
