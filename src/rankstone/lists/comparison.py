"""The conductor of comparing runs: read → lay beside each other → measure → values per query."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.errors import NotComparable
from rankstone.io import shown, stem, with_csv
from rankstone.lists.base import ListMeasure
from rankstone.lists.beside import beside
from rankstone.lists.joining import Joined, measured
from rankstone.lists.opening import OPTIONS, UNDECIDED, listing_options, open_both, options_for
from rankstone.lists.pairing import couples, hold
from rankstone.lists.result import Similarity
from rankstone.lists.telling.couples import derived
from rankstone.measures import parse_only
from rankstone.words import some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.io import Progress, Table
    from rankstone.lists.pairing import Held

__all__ = ["diff"]


def diff(
    a: object,
    b: object,
    measures: str | ListMeasure | Sequence[str | ListMeasure] = "RBO(p=0.9) tau_ap Jaccard@10",
    *,
    names: tuple[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - checked by listing_options
) -> Similarity:
    """Say how alike two runs are, query by query and without judgments.

    Parameters
    ----------
    a, b
        Two runs, each a path (TREC, CSV, TSV, JSON, JSON lines, Parquet, Arrow; ``.gz`` and ``.zst`` too), a
        frame, ``{query: {doc: score}}``, ``{query: [doc, …]}`` or a triple of arrays.  The first is the
        reference of measures that have one.  It is held in memory, the second streams by.
    measures
        Measures of two rankings: ``"RBO(p=0.9) tau_ap Jaccard@10"``, a list of texts, or values.
    names
        What to call the runs; their file names otherwise.
    columns, format_in, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    progress
        Called with row counts while reading.
    **options
        How lists are ordered: ``order``, ``score_dtype``, ``ties``, ``duplicates``, ``depth``, with
        the meaning and defaults they have in :class:`~rankstone.hits.options.Alignment`.  Tied scores
        are ties to every measure that knows ties; ``ties`` says which of them a cutoff leaves out.

    Returns
    -------
    Similarity
        Values per query, means, audit and conventions.  A query that only one run answers has no
        value; nor has a correlation where there is nothing to correlate.

    Raises
    ------
    InputError
        When a run is not what it should be, or no query is in both.
    UsageError
        When a measure or option does not exist, or needs judgments.

    Examples
    --------
    >>> a, b = {"q1": ["d1", "d2"], "q2": ["d3"]}, {"q1": ["d2", "d1"], "q2": ["d3"]}
    >>> alike = diff(a, b, "RBO(p=0.9) tau_b")
    >>> alike.per_query.select("query_id", "measure", "value", "status").rows()[-1]
    ('q2', 'tau_b', None, 'few_common')
    """
    parsed = _of_lists(measures)
    columns = with_csv(columns, csv_separator, decimal)
    checked = listing_options(options)
    titles = names or _names(a, b)
    table_a, table_b = open_both(a, b, titles, order=checked.order, columns=columns, format_in=format_in)
    of_a, of_b = options_for(table_a, checked), options_for(table_b, checked)
    held = hold(table_a.watched(progress), of_a)
    parts, lists = couples(held, table_b.watched(progress), of_b, lambda chunk: measured(chunk, parsed))
    if not lists.seen.any():
        raise _no_common_query(held, lists.unjudged(), (table_a, table_b))
    joined = Joined(held, parts, ~lists.seen)
    conventions, runs = _conventions(checked, parsed), ((table_a, of_a), (table_b, of_b))
    return Similarity(
        names=titles,
        queries=joined.queries,
        by_measure={measure: joined.agreement(at, measure) for at, measure in enumerate(parsed)},
        audit=joined.audit(titles, table_a, table_b),
        conventions=conventions,
        inputs={"a": table_a.source, "b": table_b.source},
        _listing=lambda query: beside(query, *runs),
        _deriving=partial(derived, runs=runs, names=titles, conventions=conventions),
    )


def identical(
    a: object, b: object, depth: int | None = None, *, columns: Mapping[str, str] | None = None,
    format_in: str | None = None, **options: Any,  # noqa: ANN401 - checked by listing_options
) -> bool:  # fmt: skip
    """Say whether two runs hold the same documents in the same order, for every query.

    Parameters
    ----------
    a, b, columns, format_in
        As for :func:`diff`.
    depth
        How far down is looked; to the end unless given.
    **options
        How lists are ordered.  Where ties are averaged over, tie blocks have to be the same, too.

    Examples
    --------
    >>> identical({"q": ["d1", "d2"]}, {"q": ["d1", "d3"]}, 1), identical({"q": ["d1"]}, {"q": ["d2"]})
    (True, False)
    """
    averaged = options.get("ties") in UNDECIDED
    checked = listing_options({**options, **({"ties": "docid_desc"} if averaged else {})})
    tables = open_both(a, b, ("a", "b"), order=checked.order, columns=columns, format_in=format_in)
    frames = []
    for table in tables:
        held = hold(table, options_for(table, checked))
        rows = held.ranked
        ids = {"query": held.names.gather(rows.query), "rank": rows.rank, "doc": held.docs}
        frame = pl.DataFrame({**ids, **({"first": rows.first, "last": rows.last} if averaged else {})})
        frames.append(frame.filter(pl.col("rank") <= (depth or len(frame))).sort("query", "rank"))
    return frames[0].equals(frames[1])


def _of_lists(measures: str | ListMeasure | Sequence[str | ListMeasure]) -> tuple[ListMeasure, ...]:
    """Read measures, and refuse those that look at something else than two rankings."""
    return parse_only((ListMeasure,), measures, "is not a measure of two rankings")


def _names(a: object, b: object) -> tuple[str, str]:
    """Call runs by their files, by their paths where the files are called alike, else a and b."""
    paths = [run if isinstance(run, (str, os.PathLike)) else None for run in (a, b)]
    first, second = (
        name if path is None else stem(path) for path, name in zip(paths, ("a", "b"), strict=True)
    )
    if first == second and paths[0] is not None and paths[1] is not None:
        first, second = shown(paths[0]), shown(paths[1])
    return first, second


def _conventions(options: Alignment, measures: Sequence[ListMeasure]) -> dict[str, Any]:
    """Return every choice the numbers depend on."""
    defaults = {name: value for measure in measures for name, value in measure.unsaid().items()}
    return {
        "alignment": {name: getattr(options, name) for name in OPTIONS},
        "measures": [str(measure) for measure in measures],
        "defaults": defaults,
    }


def _no_common_query(held: Held, others: pl.Series, tables: tuple[Table, Table]) -> NotComparable:
    return NotComparable(
        "the runs have no query in common",
        where=f"{tables[0].source}, {tables[1].source}",
        given=f"queries {some(held.names.sort())}; queries {some(others.sort())}",
        expected="the same query ids in both runs",
        fix="check that the runs belong together, and that ids are spelled alike",
    )
