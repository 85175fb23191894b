"""Checks of a run: its own rows, and how it fits the judgments (unjudged queries and documents, ids)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import counted, queries, some
from rankstone.diagnostics.findings import (
    Finding,
    bad_numbers,
    duplicates,
    missing_ids,
    near_matches,
    padded_ids,
    row,
    spread,
)
from rankstone.errors import RankstoneError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.diagnostics.findings import FileReport


#: with so many lists, and documents in each, one judged document in every list is no coincidence
_MANY: Final = 20
#: a measure is not informative where a random order reaches this value
_SAYS_LITTLE: Final = 0.5


def judgment_findings(
    frame: pl.DataFrame,
    judgments: pl.DataFrame,
    declared: pl.Series | None,
    by: str,
    depths: Sequence[int | None],
) -> Iterator[Finding]:
    """Find mismatches between a run and the judgments.

    Parameters
    ----------
    frame, judgments
        The rows of both.
    declared
        Queries that are judged without a row.
    by
        The column that orders lists.
    depths
        The cutoffs at which unjudged documents are counted and nDCG is checked; ``None``: whole lists.
    """
    ids = ("query_id", "doc_id")
    same = all(frame.schema[name] == judgments.schema[name] for name in ids)
    run, judged = (
        one if same else one.cast({"query_id": pl.String, "doc_id": pl.String})
        for one in (frame, judgments)
    )
    answered = run["query_id"].unique().sort()
    queried = judged["query_id"]
    if declared is not None:
        queried = pl.concat([queried, declared.cast(queried.dtype)])
    queried = queried.unique().sort()
    missing = queried.filter(~queried.is_in(answered.implode()))
    if len(missing) == len(queried):
        yield Finding(
            "error",
            "no query of the run is judged",
            f"judged {some(queried)}, in the run {some(answered)}",
        )
    yield from near_matches("query", answered, queried)
    if len(missing) < len(queried):
        extra = answered.filter(~answered.is_in(queried.implode()))
        yield from near_matches(
            "document", run["doc_id"].unique(), judged["doc_id"].unique()
        )
        for some_of, what, fix in (
            (missing, "missing, judged but not answered", "see missing=…"),
            (extra, "without judgments", "see extra=…"),
        ):
            if len(some_of):
                yield Finding(
                    "warning", f"{queries(len(some_of))} {what}", some(some_of), fix
                )
        placed = _placed(
            run.filter(pl.col("query_id").is_in(queried.implode())), judged, by
        )
        yield from _unjudged(placed, run, judged, depths)
        yield from _sampled(placed, len(missing))
    for depth in filter(None, depths):
        yield from _uninformative_ndcg(frame, judgments, by, depth)


def _placed(run: pl.DataFrame, judged: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the rows of a run with their place, and ``judged`` where they have a judgment."""
    judged_pairs = (
        judged.filter(pl.col("relevance") >= 0).select("query_id", "doc_id").unique()
    )
    return (
        _sorted_lists(run, by)
        .with_columns(pl.int_range(pl.len()).over("query_id").alias("place"))
        .join(
            judged_pairs.with_columns(pl.lit(value=True).alias("judged")),
            on=["query_id", "doc_id"],
            how="left",
        )
    )


def _unjudged(
    placed: pl.DataFrame,
    run: pl.DataFrame,
    judged: pl.DataFrame,
    depths: Sequence[int | None],
) -> Iterator[Finding]:
    """Find the share of unjudged documents down to each cutoff."""
    match = f"do document ids match? judged {some(judged['doc_id'])}, retrieved {some(run['doc_id'])}"
    for depth in depths:
        rows = placed if depth is None else placed.filter(pl.col("place") < depth)
        shares = rows.group_by("query_id").agg(pl.col("judged").is_null().mean())[
            "judged"
        ]
        share = shares.to_numpy().mean()
        where = "unjudged in whole lists" if depth is None else f"unjudged@{depth}"
        every = bool(share == 1.0)
        level, fix = ("warning", match) if every else ("note", None)
        yield Finding(level, f"{where}: {share:.1%}", None, fix, doubtful=every)


def _sampled(placed: pl.DataFrame, missing: int) -> Iterator[Finding]:
    """Find lists of one judged document and equally many others: sampled candidates."""
    lists = placed.group_by("query_id").agg(
        pl.len().alias("n"), pl.col("judged").count()
    )
    documents = placed["doc_id"].n_unique()
    length = lists["n"].max()
    one_each = (
        not missing and (lists["judged"] == 1).all() and lists["n"].n_unique() == 1
    )
    if (
        one_each
        and len(lists) >= _MANY
        and isinstance(length, int)
        and _MANY <= length < documents
    ):
        yield Finding(
            "warning",
            f"every list has {length:,} of {documents:,} documents, one of them judged: sampled candidates?",
            None,
            "such scores differ from those among all items, which rankstone sampled estimates",
        )


def _uninformative_ndcg(
    frame: pl.DataFrame, judgments: pl.DataFrame, by: str, depth: int
) -> Iterator[Finding]:
    """Find queries in which nDCG is hardly informative, because any order of so few documents scores high."""
    from rankstone.diagnostics.chance_comparison import ndcg_of_short_lists

    try:
        found = ndcg_of_short_lists(frame.drop("listed"), judgments, by, depth)
    except RankstoneError:  # reported as an error of its own
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
        "rankstone baseline shows these for every mean" if many else None,
    )


def _sorted_lists(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    """Sort lists as an evaluation does: ties by document id, descending."""
    if by == "input":
        return frame
    return frame.sort(
        by,
        pl.col("doc_id").cast(pl.String),
        descending=[by != "rank", True],
        nulls_last=True,
    )


def check_run(
    report: FileReport,
    frame: pl.DataFrame,
    judgments: pl.DataFrame | None,
    declared: pl.Series | None,
    order: str,
    depths: Sequence[int | None],
) -> None:
    """Add the facts and findings about a run.

    Parameters
    ----------
    report
        The report that is extended.
    frame
        The rows of the run.
    judgments, declared, depths
        As for :func:`~rankstone.diagnostics.checked_runs.judgment_findings`.
    order
        The option of that name.
    """
    by = "input" if frame["listed"][0] else order
    by = (
        "rank" if by == "score" and "score" not in frame.columns else by
    )  # the only order there is
    lengths = frame.group_by("query_id").len()["len"]
    report.facts |= {
        "rows": f"{frame.height:,}",
        "queries": f"{len(lengths):,}",
        "list lengths": spread(lengths),
    }
    report.findings += [*missing_ids(frame), *padded_ids(frame)]
    report.findings += duplicates(
        frame, "duplicates=first_keep_rank, first_drop, last_drop or keep"
    )
    if by != "input":
        report.findings += [
            *bad_numbers(frame, by),
            *_ties(frame, by),
            *_order(frame, by),
        ]
    if "rank" in frame.columns and by != "rank":
        report.findings += _no_ranks(frame)
    if {"rank", "score"} <= set(frame.columns):
        report.findings += _contradictions(frame, by)
    if frame["query_id"].rle().len() > len(lengths):
        report.findings.append(
            Finding(
                "note",
                "the rows of a query are not together",
                None,
                "harmless, but slower to read",
            )
        )
    if judgments is not None:
        report.findings += judgment_findings(frame, judgments, declared, by, depths)


def _no_ranks(frame: pl.DataFrame) -> Iterator[Finding]:
    bad = frame.filter(pl.col("rank").is_null())
    if len(bad):
        what = f"{counted(len(bad), 'row')} whose rank is not a whole number"
        yield Finding("note", what, row(bad), "harmless: ranks do not give the order")


def _ties(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    for dtype, note in ((pl.Float64, "warning"), (pl.Float32, "note")):
        tied = frame.select("query_id", "doc_id", pl.col(by).cast(dtype)).filter(
            pl.len().over("query_id", by) > 1
        )
        if len(tied):
            what = f"{counted(len(tied), 'tied row')} in {queries(tied['query_id'].n_unique())}"
            if dtype == pl.Float32:
                what += ", if scores are compared as float32"
            fix = (
                "see ties=…"
                if dtype == pl.Float64
                else "as trec_eval up to 9 does: see score_dtype=…"
            )
            yield Finding(note, what, row(tied), fix)
            return


def _order(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    better = pl.col(by) if by == "rank" else -pl.col(by)
    steps = frame.select(step=better.diff().over("query_id"))["step"].drop_nulls()
    falls = int((steps < 0).sum())
    if not falls:
        return
    if by == "score" and falls == len(steps):
        yield Finding(
            "warning",
            "scores increase down every list: are they distances, where smaller is better?",
            None,
            "negate them, or use order=rank",
            doubtful=True,
        )
    else:
        yield Finding(
            "note",
            f"rows are not in the order of {by}",
            None,
            "harmless: they are sorted",
        )


def _contradictions(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    """Find lists in which a better rank has a lower score; equal ranks do not count."""
    down = frame.drop_nulls(["rank", "score"]).sort(
        "rank", "score", descending=[False, True]
    )
    rises = down.with_columns(rise=pl.col("score").diff().over("query_id") > 0).filter(
        "rise"
    )
    lists = rises["query_id"].n_unique()
    if lists:
        fix = {
            "score": "scores give the order; order=rank uses the ranks",
            "rank": "ranks give the order; order=score uses the scores",
        }
        what = f"ranks contradict scores in {queries(lists)}"
        order = fix.get(by, "the order of rows counts")
        yield Finding(
            "warning",
            what,
            row(rises),
            order,
            doubtful=2 * lists > frame["query_id"].n_unique(),
        )
