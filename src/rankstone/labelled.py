"""One table whose rows carry both score and label, taken along the road."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.asked import checked, choices, refuse_further
from rankstone.beside import check_queries, query_table, refuse_without_pairs
from rankstone.errors import BadOption
from rankstone.hits.audit import Audit
from rankstone.hits.grade_scale import lowest_of
from rankstone.hits.judgments import SelfLabelled
from rankstone.io import read_labelled, stem, with_csv
from rankstone.road import Road, Walked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.options import Alignment
    from rankstone.io import Progress, Table
    from rankstone.measures import Measure

__all__ = ["walk_labelled"]


def walk_labelled(
    table: object,
    parsed: tuple[Measure, ...],
    *,
    name: str | None,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    queries: object,
    progress: Progress | None,
    one_group: bool = False,
    csv_separator: str | None = None,
    decimal: str | None = None,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> Walked:
    """Take one table with scores and labels along the road."""
    order = options.get("order", "score")
    columns = with_csv(columns, csv_separator, decimal)
    read = read_labelled(table, columns, format_in, order=order, one_group=one_group)
    alignment = _alignment(read, options, parsed)
    lowest = 0.0
    if any(measure.reads_lowest_grade for measure in parsed):  # it has to be known before the walk
        lowest = lowest_of(read.tables([pl.col("relevance")]), alignment.negative)
    refuse_further(parsed)
    refuse_without_pairs(None, alignment)
    name = name or (stem(table) if isinstance(table, (str, os.PathLike)) else "run")
    about = query_table(queries, parsed, columns)
    work = Road(SelfLabelled(lowest), alignment, parsed, queries=about)
    run, audit = work.run(read.watched(progress))
    beside = None if about is None else check_queries(about, parsed, run.queries)
    return Walked(
        {name: run},
        parsed,
        Audit(None, {name: audit}, queries=beside),
        choices(alignment, parsed, one_group=one_group),
        {"labelled": {name: read.source}, **({} if about is None else {"queries": about.source})},
    )


def _alignment(read: Table, options: Mapping[str, Any], measures: Sequence[Measure]) -> Alignment:
    """Return the options; without document ids ties are resolved by expectation unless told otherwise."""
    if "doc_id" in read.columns:
        return checked(options, measures)
    alignment = checked({"ties": "expected", **options}, measures)
    if alignment.ties in ("docid_desc", "docid_asc"):
        raise BadOption(
            f"ties={alignment.ties} needs a doc_id column, and there is none",
            where=read.source,
            fix="choose ties=expected, input, best or worst",
        )
    return alignment
