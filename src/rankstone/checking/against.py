"""How a run fits judgments: queries and documents that nobody judged, ids that nearly match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.checking.ids import nearly_alike
from rankstone.errors import RankstoneError
from rankstone.findings import Finding
from rankstone.words import queries, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["against"]

#: lists, and documents in each, from which on it is no accident that each holds one that is judged
_MANY: Final = 20
#: a measure says little where a random order has so much of it
_SAYS_LITTLE: Final = 0.5


def against(
    frame: pl.DataFrame,
    truth: pl.DataFrame,
    declared: pl.Series | None,
    by: str,
    depths: Sequence[int | None],
) -> Iterator[Finding]:
    """Tell how a run fits judgments.

    Parameters
    ----------
    frame, truth
        The rows of both.
    declared
        Queries that are judged without a row.
    by
        What gives the order of lists.
    depths
        The cutoffs at which unjudged documents are counted, and nDCG is looked at; ``None``: whole lists.
    """
    yield from _against(frame, truth, declared, by, depths)
    for depth in filter(None, depths):
        yield from _little_to_order(frame, truth, by, depth)


def _against(
    frame: pl.DataFrame,
    truth: pl.DataFrame,
    declared: pl.Series | None,
    by: str,
    depths: Sequence[int | None],
) -> Iterator[Finding]:
    if (
        frame.schema["query_id"] != truth.schema["query_id"]
        or frame.schema["doc_id"] != truth.schema["doc_id"]
    ):
        frame = frame.cast({"query_id": pl.String, "doc_id": pl.String})
        truth = truth.cast({"query_id": pl.String, "doc_id": pl.String})
    asked, judged = frame["query_id"].unique().sort(), truth["query_id"]
    if declared is not None:
        judged = pl.concat([judged, declared.cast(judged.dtype)])
    judged = judged.unique().sort()
    missing = judged.filter(~judged.is_in(asked.implode()))
    extra = asked.filter(~asked.is_in(judged.implode()))
    if len(missing) == len(judged):
        yield Finding("error", "no query of the run is judged", f"{some(judged)} against {some(asked)}")
        yield from nearly_alike("query", asked, judged)
        return
    yield from nearly_alike("query", asked, judged)
    yield from nearly_alike("document", frame["doc_id"].unique(), truth["doc_id"].unique())
    if len(missing):
        yield Finding(
            "warning",
            f"{queries(len(missing))} missing, judged but not answered",
            some(missing),
            "see --missing",
        )
    if len(extra):
        yield Finding("warning", f"{queries(len(extra))} nobody judged", some(extra), "see --extra")
    known = truth.filter(pl.col("relevance") >= 0).select("query_id", "doc_id").unique()
    pairs = known.with_columns(pl.lit(value=True).alias("judged"))
    shown = (
        _ordered(frame.filter(pl.col("query_id").is_in(judged.implode())), by)
        .with_columns(pl.int_range(pl.len()).over("query_id").alias("place"))
        .join(pairs, on=["query_id", "doc_id"], how="left")
    )
    for depth in depths:
        share = (
            (shown if depth is None else shown.filter(pl.col("place") < depth))
            .group_by("query_id")
            .agg(pl.col("judged").is_null().mean())["judged"]
            .to_numpy()
            .mean()
        )
        level = "warning" if share == 1.0 else "note"
        fix = _all_unjudged(share, frame, truth)
        where = "unjudged in whole lists" if depth is None else f"unjudged@{depth}"
        yield Finding(level, f"{where}: {share:.1%}", None, fix, doubtful=share == 1.0)
    yield from _sampled(shown, len(missing))


def _sampled(shown: pl.DataFrame, missing: int) -> Iterator[Finding]:
    """Find lists that hold one judged document each among equally many others, drawn from more."""
    lists = shown.group_by("query_id").agg(pl.len().alias("n"), pl.col("judged").count())
    documents, length = shown["doc_id"].n_unique(), lists["n"].max()
    one_each = not missing and (lists["judged"] == 1).all() and lists["n"].n_unique() == 1
    if one_each and len(lists) >= _MANY and isinstance(length, int) and _MANY <= length < documents:
        yield Finding(
            "warning",
            f"every list has {length:,} of {documents:,} documents, one of them judged: sampled candidates?",
            None,
            "values are those of another measure; rankstone sampled estimates those among all items",
        )


def _little_to_order(frame: pl.DataFrame, truth: pl.DataFrame, by: str, depth: int) -> Iterator[Finding]:
    """Find queries in which nDCG says little, as any order of so few documents scores."""
    from rankstone.against_chance import with_little_to_order

    try:
        found = with_little_to_order(frame.drop("listed"), truth, by, depth)
    except RankstoneError:  # told of as an error of its own
        return
    if found is None:
        return
    many = found["chance"] >= _SAYS_LITTLE
    yield Finding(
        "warning" if many else "note",
        f"nDCG@{depth} {'says little ' if many else ''}in {queries(found['n'])} with at most {depth} judged "
        f"documents and {2 * depth} retrieved: {found['chance']:.3f} in random order, "
        f"{found['worst']:.3f} in the worst, {found['best']:.3f} in the best",
        None,
        "rankstone baseline puts these beside every mean" if many else None,
    )


def _ordered(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    """Put lists in the order an evaluation gives them: ties by document id, descending."""
    if by == "input":
        return frame
    return frame.sort(by, pl.col("doc_id").cast(pl.String), descending=[by != "rank", True], nulls_last=True)


def _all_unjudged(share: object, frame: pl.DataFrame, truth: pl.DataFrame) -> str | None:
    if share != 1.0:
        return None
    return f"do document ids match? judged {some(truth['doc_id'])}, retrieved {some(frame['doc_id'])}"
