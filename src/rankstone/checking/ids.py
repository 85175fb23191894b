"""Ids that nearly match: the same thing, written in two ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import printable
from rankstone.findings import Finding
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["nearly_alike", "padded_ids"]

#: ids that are shown with what they may be
_SHOWN: Final = 3


def _without_zeros(ids: pl.Expr) -> pl.Expr:
    return ids.str.replace(r"^0+(\d+)$", "$1")


def _without_blanks(ids: pl.Expr) -> pl.Expr:
    return ids.str.strip_chars()


def _lower(ids: pl.Expr) -> pl.Expr:
    return ids.str.to_lowercase()


def _composed(ids: pl.Expr) -> pl.Expr:
    return ids.str.normalize("NFKC")


def _all(ids: pl.Expr) -> pl.Expr:
    return _without_zeros(_without_blanks(_lower(_composed(ids))))


#: what ids may differ in, what is the same then, and what to do
_WAYS: Final[tuple[tuple[str, Callable[[pl.Expr], pl.Expr], str], ...]] = (
    ("blanks around them", _without_blanks, "take the blanks off"),
    ("leading zeros", _without_zeros, "read ids as texts on both sides: as numbers they lose their zeros"),
    ("case", _lower, "write ids alike on both sides"),
    ("Unicode form", _composed, "write ids on both sides in one Unicode form (NFC)"),
    ("several of blanks, zeros, case and Unicode form", _all, "write ids alike on both sides"),
)


def nearly_alike(what: str, found: pl.Series, judged: pl.Series) -> Iterator[Finding]:
    """Find ids that would be judged if they were written as the judgments write them.

    Parameters
    ----------
    what
        ``query`` or ``document``.
    found, judged
        The different ids of a run and of the judgments.
    """
    if found.dtype != pl.String:
        return
    known = found.is_in(judged.implode())
    matched = int(known.sum())
    strange = _pairs(_all, found.filter(~known), judged)  # most ids are merely unknown
    for differ, fold, fix in _WAYS:
        alike = _pairs(fold, strange["id"].unique(), strange["judged"].unique()).unique("id").sort("id")
        if not len(alike):
            continue
        few = len(alike) >= matched
        why = ": probably why so few match" if few else ""
        one, other = (printable(repr(alike[name][0]), 40) for name in ("id", "judged"))
        yield Finding(
            "warning",
            f"{counted(len(alike), f'{what} id')} would be judged but for {differ}{why}",
            f"{one} in the run, {other} in the judgments",
            fix,
            doubtful=few,
        )
        strange = strange.join(alike, on="id", how="anti")


def _pairs(fold: Callable[[pl.Expr], pl.Expr], ids: pl.Series, judged: pl.Series) -> pl.DataFrame:
    """Return ``id`` and ``judged`` of ids that are the same once they are folded."""
    keyed = ids.to_frame("id").select("id", key=fold(pl.col("id")))
    theirs = judged.to_frame("judged").select("judged", key=fold(pl.col("judged")))
    return keyed.join(theirs, on="key").select("id", "judged")


def padded_ids(frame: pl.DataFrame) -> Iterator[Finding]:
    """Find ids with blanks before or behind them, which belong to the id."""
    for column, what in (("query_id", "query"), ("doc_id", "document")):
        if frame.schema[column] != pl.String:
            continue
        ids = frame[column].unique()
        padded = ids.filter(ids != ids.str.strip_chars()).sort()
        if len(padded):
            example = ", ".join(printable(repr(one), 40) for one in padded.head(_SHOWN))
            said = f"{counted(len(padded), f'{what} id')} with blanks around"
            yield Finding("note", said, example, "the blanks belong to the id: take them off, or match them")
