"""Clicks on interleaved lists: what each impression says for either ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.behaviour.clusters import cluster_of_impressions
from rankstone.behaviour.interleaving.lists import Interleaved
from rankstone.behaviour.logs import Log, numbered, read_log
from rankstone.errors import BadValue, DuplicateRows, InputError, MissingColumn, one_of, printable
from rankstone.words import counted, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankstone.io import Progress

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Credited", "credited"]

_LISTS: Final = ("query_id", "draw", "position", "doc_id", "method", "credit", "rank_a", "rank_b")
#: optimised lists, and the team draft of queries that have none; a click's credit stands beside either
_WITH_FALLBACK: Final = ["optimised", "team_draft"]
#: differences of credits below it are rounding
_EQUAL: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Credited:
    """What impressions say.

    Attributes
    ----------
    difference
        float64 ``[impressions]``: credit of a less that of b.
    cluster
        int64 ``[impressions]``, from 0, or ``None``.
    method
        How the lists were made.
    log
        The clicks.
    clicks, repeated, elsewhere
        Documents that were clicked, clicks beyond the first on one of them, and clicks on documents that the
        list does not hold.
    clicked
        Impressions with a click.
    sources
        Where lists and clicks came from.
    """

    difference: Floats
    cluster: Ints | None
    method: str
    log: Log
    clicks: int
    repeated: int
    elsewhere: int
    clicked: int
    sources: tuple[str, str]


def credited(
    clicks: object,
    lists: object,
    *,
    cluster: str | None,
    invalid: str,
    unknown: str,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
) -> Credited:
    """Read lists and clicks, and give every impression its credit."""
    one_of("unknown", unknown, ("error", "drop"))
    made, source, method = _read_lists(lists)
    log = read_log(
        clicks, ["query_id", *([] if cluster is None else [cluster])],
        ("doc_id", "position", "draw", "impression_id", "clicked"),
        columns=columns, format_in=format_in, invalid=invalid, progress=progress, name="clicks",
    )  # fmt: skip
    place = next((name for name in ("doc_id", "position") if log.has(name)), None)
    if place is None:
        raise MissingColumn(
            "nothing says what was clicked", where=log.source, expected="doc_id, or the position in the list"
        )
    if log.has("clicked"):
        neither = ~pl.col("clicked").is_in([0.0, 1.0])
        log.require(neither, "whose click is neither 0 nor 1", "0 or 1", "clicked")
    if not log.has("draw") and made["draw"].n_unique() > 1:
        raise MissingColumn(
            "queries have several lists, and nothing says which one was shown",
            where=log.source,
            expected="draw, as in the lists",
        )
    rows = _as_lists(log.frame, log.has("draw"))
    shown = made.select("query_id", "draw").unique()
    stray = rows.join(shown, on=["query_id", "draw"], how="anti")
    if stray.height:
        name = "query_id" if stray.join(shown, on="query_id", how="anti").height else "draw"
        raise InputError(
            f"{counted(stray.height, 'row')} of queries, or draws, without a list",
            where=log.source,
            given=f"{name} {some(stray[name].unique(maintain_order=True))}",
            expected=f"those of {source}: {some(made[name].unique(maintain_order=True))}",
        )
    key: list[str] = [name for name in ("impression_id", "query_id", "draw") if name in rows.columns]
    key += [] if log.has("impression_id") or cluster is None else [cluster]
    impression = numbered(rows, *key)
    grouping = None if cluster is None else cluster_of_impressions(log, cluster, impression.to_numpy())
    rows = rows.with_columns(impression=impression)
    hits = rows.filter(pl.col("clicked") != 0) if log.has("clicked") else rows
    on = ["query_id", "draw", place]
    found = hits.select("impression", *on).join(made, on=on, how="inner")
    once = found.unique(["impression", "query_id", "draw", "doc_id"]).sort("impression", "position")
    elsewhere = hits.height - found.height
    if elsewhere and unknown == "error":
        first = hits.join(made, on=on, how="anti").row(0, named=True)
        raise BadValue(
            f"{counted(elsewhere, 'click')} on documents that the list does not hold",
            where=log.source,
            given=f"query_id {printable(first['query_id'], 40)}, {place} {printable(first[place], 40)}",
            fix="unknown=drop leaves them out and counts them",
        )
    credit = _balanced(once) if method == "balanced" else once["credit"].to_numpy()
    n = int(impression.to_numpy().max()) + 1
    difference = np.bincount(once["impression"].to_numpy(), credit, n).astype(np.float64)
    difference[np.abs(difference) < _EQUAL] = 0.0
    return Credited(
        difference, grouping, method, log, once.height, found.height - once.height, elsewhere,
        once["impression"].n_unique(), (log.source, source),
    )  # fmt: skip


def _read_lists(lists: object) -> tuple[pl.DataFrame, str, str]:
    """Return interleaved lists, where they came from, and how they were made."""
    read = read_log(
        lists.lists if isinstance(lists, Interleaved) else lists,
        _LISTS,
        blank=("rank_a", "rank_b"),
        name="lists",
    )
    methods = read.frame["method"].unique().sort().to_list()
    if len(methods) > 1 and methods != _WITH_FALLBACK:
        raise InputError("the lists were made in several ways", where=read.source, given=some(methods))
    one_of("method", methods[0], ("balanced", "optimised", "team_draft"))
    made = _as_lists(read.frame, drawn=True)
    for name in ("doc_id", "position"):
        twice = made.filter(pl.struct("query_id", "draw", name).is_duplicated())
        if twice.height:
            raise DuplicateRows(
                f"a list has a {name} twice",
                where=read.source,
                given=f"query_id {printable(twice['query_id'][0], 40)}, "
                f"{name} {printable(twice[name][0], 40)}",
            )
    return made, read.source, methods[0]


def _as_lists(frame: pl.DataFrame, drawn: bool) -> pl.DataFrame:  # noqa: FBT001 - of a table
    """Return a frame with ids as texts, and a draw."""
    texts = [pl.col(name).cast(pl.String) for name in ("query_id", "doc_id") if name in frame.columns]
    draw = pl.col("draw").cast(pl.Int64) if drawn else pl.lit(0, pl.Int64).alias("draw")
    return frame.with_columns(*texts, draw)


def _balanced(once: pl.DataFrame) -> Floats:
    """Return what each click is worth: to either ranking whose top holds the document.

    The top is as deep as it takes either ranking to show the lowest document that was clicked (Joachims
    2002; as Chapelle, Joachims, Radlinski and Yue, TOIS 2012, write it).
    """
    nearer = pl.min_horizontal("rank_a", "rank_b").fill_null(np.inf)
    top = nearer.sort_by("position").last().over("impression")
    inside = [(pl.col(name) <= top).fill_null(value=False).cast(pl.Float64) for name in ("rank_a", "rank_b")]
    return once.select(inside[0] - inside[1]).to_series().to_numpy()
