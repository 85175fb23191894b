"""A training file beside judgments and runs: what a model may have seen before it is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone.checking.rows import missing_ids, row, spread
from rankstone.findings import Finding
from rankstone.words import counted, queries, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.findings import FileReport

__all__ = ["look_at_train", "run_against_train"]

_PAIR = ["query_id", "doc_id"]


def look_at_train(report: FileReport, train: pl.DataFrame, truth: pl.DataFrame | None) -> None:
    """Say what is in a training file, and what of the judgments is in it, too."""
    report.facts |= {
        "rows": f"{train.height:,}",
        "queries": f"{train['query_id'].n_unique():,}",
        "documents": f"{train['doc_id'].n_unique():,}",
        "rows a query": spread(train.group_by("query_id").len()["len"]),
    }
    report.findings += missing_ids(train)
    if truth is not None:
        report.findings += _shared(_texts(train), _texts(truth.filter(pl.col("relevance") > 0)))


def run_against_train(frame: pl.DataFrame, train: pl.DataFrame) -> Iterator[Finding]:
    """Find retrieved pairs that are in the training file, and retrieved documents that are not."""
    frame, train = _texts(frame), _texts(train)
    seen = frame.join(train, on=_PAIR, how="semi")
    if len(seen):
        yield Finding(
            "note",
            f"{counted(len(seen), 'retrieved row')} of {frame.height:,} in training, too",
            row(seen),
            "if seen documents are no answers: exclude=FILE takes them out of every list",
        )
    documents, known = frame["doc_id"].unique(), train["doc_id"].unique()
    unseen = documents.filter(~documents.is_in(known.implode())).sort()
    if len(unseen):
        none = len(unseen) == len(documents)
        yield Finding(
            "warning" if none else "note",
            f"{len(unseen):,} of {counted(len(documents), 'retrieved document')} never seen in training",
            some(unseen),
            f"do document ids match? in training {some(known.sort())}" if none else None,
            doubtful=none,
        )


def _shared(train: pl.DataFrame, relevant: pl.DataFrame) -> Iterator[Finding]:
    """Tell what relevant judgments share with a training file."""
    pairs = relevant.unique(_PAIR, maintain_order=True)
    both = pairs.join(train, on=_PAIR, how="semi")
    if len(both):
        share = len(both) / len(pairs)
        yield Finding(
            "warning",
            f"{len(both):,} of {counted(len(pairs), 'relevant judgment')} ({share:.1%}) in training, too",
            row(both),
            "a model may know these answers: split again, or leave them out with exclude=FILE and "
            "exclude_from=both",
            doubtful=True,
        )
    for column, told in (("query_id", queries), ("doc_id", _relevant_documents)):
        ids, known = pairs[column].unique(), train[column].unique()
        unseen = ids.filter(~ids.is_in(known.implode())).sort()
        if len(unseen):
            what = f"{len(unseen):,} of {told(len(ids))} never seen in training"
            if len(unseen) < len(ids):
                yield Finding("note", what, some(unseen))
            else:
                fix = (
                    f"fine for a split by this id; otherwise, do ids match? in training {some(known.sort())}"
                )
                yield Finding("note", what, some(unseen), fix)


def _relevant_documents(count: int) -> str:
    return counted(count, "relevant document")


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return pairs whose ids are texts, as numbers are texts in many files."""
    return frame.select(pl.col(_PAIR).cast(pl.String))
