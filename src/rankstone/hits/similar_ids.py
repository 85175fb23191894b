"""Ids that differ in spelling only: spaces, zeros in front, case, Unicode form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone._basics import counted
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable


def without_zeros(ids: pl.Expr) -> pl.Expr:
    """Return ids that are numbers without zeros in front."""
    return ids.str.replace(r"^0+(\d+)$", "$1")


def without_blanks(ids: pl.Expr) -> pl.Expr:
    """Return ids without the spaces around them."""
    return ids.str.strip_chars()


def in_lower_case(ids: pl.Expr) -> pl.Expr:
    """Return ids in small letters."""
    return ids.str.to_lowercase()


def composed(ids: pl.Expr) -> pl.Expr:
    """Return ids in one Unicode form."""
    return ids.str.normalize("NFKC")


def folded(ids: pl.Expr) -> pl.Expr:
    """Return ids without all of these differences, and with one space wherever there are several."""
    with_single_spaces = composed(ids).str.replace_all(r"\s+", " ")
    return without_zeros(without_blanks(in_lower_case(with_single_spaces)))


def similar_ids(
    fold: Callable[[pl.Expr], pl.Expr], ids: pl.Series, judged: pl.Series
) -> pl.DataFrame:
    """Return ``id`` and ``judged`` of ids that are equal after folding."""
    key = fold(pl.col("id"))
    keyed = ids.to_frame("id").select("id", key=key)
    key = fold(pl.col("judged"))
    theirs = judged.to_frame("judged").select("judged", key=key)
    return keyed.join(theirs, on="key").select("id", "judged")


def spelling_warning(extra: pl.Series, missing: pl.Series) -> str:
    """Return how many missing queries a run has in another spelling, with an example; empty for none.

    Parameters
    ----------
    extra
        Queries of the run without judgments.
    missing
        Judged queries that the run does not answer, or their texts.
    """
    if not len(extra) or not len(missing):
        return ""
    if extra.dtype != pl.String or missing.dtype != pl.String:
        return ""
    pairs = similar_ids(folded, extra, missing).unique("judged").sort("judged", "id")
    if not len(pairs):
        return ""
    run, judgments = (printable(repr(pairs[name][0]), 40) for name in ("id", "judged"))
    missed = counted(len(pairs), "missing query")
    return (
        f"{missed} would match but for spaces, zeros, case or Unicode form "
        f"({run} in the run, {judgments} in the judgments), see rankstone check"
    )
