"""Interleaved lists of two runs, query by query."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.behaviour.interleaving.lists import Interleaved
from rankstone.behaviour.interleaving.methods import LONGEST, METHODS
from rankstone.behaviour.rankings import Rankings, rankings
from rankstone.behaviour.results import Notes
from rankstone.errors import BadOption, NotComparable, one_of
from rankstone.io import with_csv
from rankstone.words import counted, queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.io import Progress

__all__ = ["interleave"]

_SCHEMA: Final = {
    "query_id": pl.String, "draw": pl.Int64, "position": pl.Int64, "doc_id": pl.String, "method": pl.String,
    "credit": pl.Float64, "rank_a": pl.Int64, "rank_b": pl.Int64,
}  # fmt: skip


def interleave(
    a: object,
    b: object,
    method: str = "team_draft",
    *,
    k: int = 10,
    draws: int = 1,
    seed: int = 0,
    order: str = "score",
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Interleaved:
    """Make lists in which two rankings are interleaved, to be shown to users.

    Parameters
    ----------
    a, b
        Two runs: paths, frames, ``{query: [doc, …]}``.  Queries that only one answers get no list, and are
        counted.
    method
        ``team_draft``, ``balanced`` or ``optimised`` (at most ten documents).  Where no mixture of a query's
        two rankings is fair down to every depth, its ``optimised`` lists are drawn by team draft, and counted
        in ``audit.counts["fallback"]``.
    k
        Length of lists.
    draws
        How many lists a query gets; impressions should not all see the same one.
    seed
        Of everything drawn.  A query's lists depend on the seed, its own id and its own rankings alone.
    order
        What gives the order of lists: ``score``, ``rank`` or ``input``.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Raises
    ------
    InputError
        When no query is in both runs, and for whatever else is no run.
    UsageError
        When an option is not what it may be.

    Examples
    --------
    >>> made = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=3)
    >>> sorted(made.lists["doc_id"]), made.lists["credit"].abs().to_list()
    (['x', 'y', 'z'], [1.0, 1.0, 0.0])
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("method", method, tuple(METHODS))
    for name, value, most in (("k", k, LONGEST if method == "optimised" else 1000), ("draws", draws, 10**6)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadOption(
                f"{name}={value!r} is out of range", expected=f"a whole number from 1 to {most:,}"
            )
    runs = [
        rankings(run, name, order=order, columns=columns, format_in=format_in, progress=progress)
        for run, name in ((a, "a"), (b, "b"))
    ]
    ranked_a, ranked_b = (_by_query(run) for run in runs)
    both = [query for query in ranked_a if query in ranked_b]
    if not both:
        raise NotComparable("no query is in both runs", where=", ".join(run.source for run in runs))
    table = pl.DataFrame(
        [
            row
            for query in both
            for row in _lists(query, ranked_a[query], ranked_b[query], method, k, draws, seed)
        ],
        _SCHEMA,
        orient="row",
    )
    counts = {
        "queries": len(both), "only_a": len(ranked_a) - len(both), "only_b": len(ranked_b) - len(both),
        "lists": len(both) * draws, "short": _short(table, k), "tied": sum(run.tied for run in runs),
        "fallback": table.filter(pl.col("method") != method)["query_id"].n_unique(),
    }  # fmt: skip
    return Interleaved(
        tables={"lists": table},
        audit=Notes(" and ".join(run.source for run in runs), counts, _told(counts, k)),
        conventions={"method": method, "k": k, "draws": draws, "seed": seed, "order": order},
        inputs={"a": runs[0].source, "b": runs[1].source},
    )


def _by_query(run: Rankings) -> dict[str, list[str]]:
    """Return the documents of each query, best first."""
    texts = run.frame.select(pl.col("query_id", "doc_id").cast(pl.String))
    grouped = texts.group_by("query_id", maintain_order=True).agg("doc_id")
    return dict(zip(grouped["query_id"].to_list(), grouped["doc_id"].to_list(), strict=True))


def _lists(
    query: str, a: list[str], b: list[str], method: str, k: int, draws: int, seed: int
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of all lists of a query."""
    ranks = [{doc: rank for rank, doc in enumerate(ranking, 1)} for ranking in (a, b)]
    for draw in range(draws):
        docs, worth, made_by = METHODS[method](a, b, k, _generator(query, draw, seed))
        for at, (doc, credit) in enumerate(zip(docs, worth, strict=True), 1):
            yield query, draw, at, doc, made_by, credit, ranks[0].get(doc), ranks[1].get(doc)


def _generator(query: str, draw: int, seed: int) -> np.random.Generator:
    """Return the random numbers of a query's list, the same whatever stands beside it."""
    digest = hashlib.blake2b(query.encode(), digest_size=8).digest()
    place = (int.from_bytes(digest, "big"), draw)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=place)))


def _short(table: pl.DataFrame, k: int) -> int:
    return table.group_by("query_id", "draw").len().filter(pl.col("len") < k).height


def _told(counts: Mapping[str, int], k: int) -> tuple[str, ...]:
    told = [f"{queries(counts['queries'])} in both runs", counted(counts["lists"], "list")]
    alone = {side: counts[f"only_{side}"] for side in ("a", "b")}
    told += [f"{queries(count)} in {side} only: no list" for side, count in alone.items() if count]
    if counts["short"]:
        told.append(f"{counted(counts['short'], 'list')} shorter than {k}")
    if counts["fallback"]:
        told.append(f"{queries(counts['fallback'])} by team draft: no mixture was fair down to every depth")
    if counts["tied"]:
        told.append(f"{counted(counts['tied'], 'tied document')}, ordered by id")
    return tuple(told)
