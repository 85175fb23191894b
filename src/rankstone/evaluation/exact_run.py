"""Judgments from the run of an exact search, by which an approximate search is measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from rankstone._basics import first_true
from rankstone.errors import BadOption, BadValue, EmptyInput, printable
from rankstone.io import read_run
from rankstone.io.columns import with_csv
from rankstone.io.typed_tables import of_frame

if TYPE_CHECKING:
    from rankstone._basics import Columns
    from rankstone.evaluation.request import RunLike
    from rankstone.io.input_table import Table


def qrels_from_run(
    run: RunLike,
    depth: int,
    *,
    within: float = 0.0,
    order: str = "score",
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
) -> pl.DataFrame:
    """Return judgments by which the first ``depth`` documents of every list of a run are relevant.

    ``R(denom=min_R_k)@k`` with ``k = depth`` is then the recall of an approximate index: retrieved / k.
    Documents that tie with the k-th are relevant too, because any of them could have been there; no more than
    k of them can be retrieved among k.

    Parameters
    ----------
    run
        The results of an exact search, best first; anything that :func:`rankstone.evaluate` takes for a run.
        A list that ends at rank k cannot show what tied with its last document, so request some more.
    depth
        k.
    within
        Scores at most this far below the k-th count as tied with it: the epsilon of ANN-benchmarks,
        which allows for rounding in distances.  Scores are larger for better documents; negate distances.
    order
        ``score``, or ``rank`` for a rank column (ties are then equal ranks).
    columns, format_in, csv_separator, decimal
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    polars.DataFrame
        ``query_id``, ``doc_id``, ``relevance`` (1.0).

    Raises
    ------
    BadOption
        When ``depth`` is not a count or ``within`` not a distance.
    InputError
        When the run cannot be read.

    Examples
    --------
    >>> import rankstone
    >>> exact = {"q": {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.1}}
    >>> qrels = rankstone.qrels_from_run(exact, depth=2)
    >>> qrels["doc_id"].to_list()
    ['a', 'b', 'c']
    >>> rankstone.evaluate(qrels, {"q": ["c", "a"]}, "R(denom=min_R_k)@2").to_dict()
    {'run': {'R(denom=min_R_k)@2': 1.0}}
    """
    columns = with_csv(columns, csv_separator, decimal)
    return head_of_run(
        run, depth, within=within, order=order, columns=columns, format_in=format_in
    ).collect("query_id", "doc_id", "relevance")


def head_of_run(
    run: RunLike,
    depth: int,
    *,
    within: float = 0.0,
    order: str = "score",
    columns: Columns | None = None,
    format_in: str | None = None,
) -> Table:
    """Return the judgments as a table with the run's source; see :func:`qrels_from_run`."""
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise BadOption(
            f"depth={depth!r} is not a count", expected="a whole number from 1 up"
        )
    if not (math.isfinite(within) and within >= 0):
        raise BadOption(
            f"within={within!r} is not a distance", expected="a number, 0 or more"
        )
    read = read_run(run, columns, format_in, order=order, name="exact run")
    order = read.ordered_by(order)
    if order == "input":
        frame = read.collect("query_id", "doc_id")
        place = pl.int_range(pl.len()).over("query_id")
        relevant = frame.filter(place < depth)
    else:
        frame = read.collect("query_id", "doc_id", order)
        bad = frame[order].is_null() | frame[order].is_nan()
        if bad.any():
            row = first_true(bad)
            query = printable(frame["query_id"][row])
            document = printable(frame["doc_id"][row])
            pair = f"query {query}, document {document}"
            raise BadValue(
                f"the {order} is not a number", where=read.locate(row), given=pair
            )
        key = pl.col(order)
        if order == "rank":
            key = -key
        last = key.top_k(depth).min().over("query_id")
        relevant = frame.filter(key >= last - within)
    if not relevant.height:
        raise EmptyInput("the run is empty", where=read.source)
    table = relevant.select("query_id", "doc_id", pl.lit(1.0).alias("relevance"))
    first = of_frame(
        table.lazy(), f"first {depth} of {read.source}", {}, untyped=read.untyped
    )
    # queries with an empty list have no relevant document
    return replace(first, empty=read.empty, read_as=read.read_as)
