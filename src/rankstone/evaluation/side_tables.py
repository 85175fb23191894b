"""What stands beside judgments and runs: queries, intents, pairs to exclude, passages to collapse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadParameter
from rankstone.hits.alignment_audit import BesideAudit
from rankstone.hits.grouped_judgments import Intents
from rankstone.hits.judged_pool import QueryTable
from rankstone.io import read_intents, read_pairs
from rankstone.io.attributes import read_attributes
from rankstone.measures.core.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.input_table import Table


def query_table(
    source: object, measures: Sequence[object], columns: Mapping[str, str] | None = None
) -> QueryTable | None:
    """Open the table of queries, and make sure that measures find in it what they read.

    Parameters
    ----------
    source
        A path, a frame, ``{query: {column: value}}``, or ``None`` where there is no table.
    measures
        What is going to be computed.
    columns
        {their name: our name}.
    """
    table = None
    if source is not None:
        read = read_attributes(source, "query_id", columns)
        table = QueryTable.of(read.source, read.collect(*read.columns), read.read_as)
    require_columns(table, measures)
    return table


def require_columns(table: QueryTable | None, measures: Sequence[object]) -> None:
    """Refuse measures that read columns of the query table which are not there, or places that cannot be."""
    for measure in measures:
        wanted = _reads(measure)
        for name, reason in wanted:
            if table is None:
                raise BadParameter(
                    f"{reason} a query table with a column {name}",
                    fix="give one: queries={query: {column: value}} or a file, --queries FILE",
                )
            table.require((name,), reason)
        if table is not None and {"session", "position"} <= {name for name, _ in wanted}:
            table.in_order()


def _reads(measure: object) -> list[tuple[str, str]]:
    """Return the columns that a measure reads of the query table, and why."""
    if not isinstance(measure, Measure):
        return []
    names = [*measure.query_columns, *([] if measure.unit is None else [measure.unit])]
    if measure.agg == "weighted" and type(measure).query_weights is Measure.query_weights:
        names.append("weight")
    return [(name, f"{measure} needs") for name in names]


def check_queries(table: QueryTable, measures: Sequence[object], queries: pl.Series) -> BesideAudit:
    """Say how the table fits the queries that are evaluated; refuse it where a measure lacks a value."""
    for measure in measures:
        if wanted := _reads(measure):
            table.covers(queries, [name for name, _ in wanted], wanted[0][1])
    rows = table.rows(queries)
    return BesideAudit(
        source=table.source,
        rows=len(table.ids),
        unknown=len(table.ids) - len(np.unique(rows[rows >= 0])),
        missing=int((rows < 0).sum()),
        read_as=table.read_as,
    )


def declared_queries(judged: Table, queries: QueryTable | None) -> pl.Series | None:
    """Return the ids of queries that are said to be judged, whether or not a row of judgments names them.

    They stand in the judgments with an empty entry, or in the query table as ``judged``.
    """
    dtype = judged.schema["query_id"]
    said = [judged.unanswered, None if queries is None else queries.judged()]
    found = [ids.cast(dtype, strict=False).drop_nulls() for ids in said if ids is not None]
    return pl.concat(found) if found else None


def intents_of(source: object, columns: Mapping[str, str] | None = None) -> Intents | None:
    """Open the table of intents; ``None`` where there is none."""
    if source is None:
        return None
    read = read_intents(source, columns)
    return Intents(read.source, read.collect("query_id", "subtopic", "weight"), read.locate)


def excluded_pairs(source: object, columns: Mapping[str, str], options: AlignmentOptions) -> Table | None:
    """Open the pairs that are taken out of lists or judgments; ``None`` where there are none."""
    refuse_without_pairs(source, options)
    return None if source is None else read_pairs(source, columns, name="exclude").whole()


def refuse_without_pairs(exclude: object, options: AlignmentOptions) -> None:
    """Refuse to say where pairs are excluded from where there are none."""
    if exclude is None and options.exclude_from != "lists":
        raise BadOption(
            f"exclude_from={options.exclude_from}, and nothing is excluded",
            expected="pairs of query_id and doc_id",
            fix="name them: exclude=… (--exclude FILE)",
        )


def collapser(collapse: object) -> Callable[[pl.Expr], pl.Expr] | None:
    """Return what turns a column of passages into one of documents; ``None`` where nothing does."""
    if collapse is None:
        return None
    if isinstance(collapse, str):
        try:
            groups = re.compile(collapse).groups
        except re.error as error:
            raise BadOption(f"collapse={collapse!r} is no regular expression", given=str(error)) from None
        if groups < 1:
            raise BadOption(
                f"collapse={collapse!r} has no group",
                expected=r"a regular expression whose first group is the document: '^(.*)#\d+$'",
            )
        return lambda doc: pl.coalesce(doc.str.extract(collapse, 1), doc)
    if isinstance(collapse, Mapping):
        return lambda doc: doc.replace(dict(collapse))
    raise BadOption("collapse is neither a regular expression nor {passage: document}")


def refuse_beside_one_group(**tables: object) -> None:
    """Refuse tables about single queries where all lists are made one."""
    for name, table in tables.items():
        if table is not None:
            raise BadOption(
                f"{name} is about queries or their documents, and one_group makes one list of them all",
                fix=f"leave {name} or one_group out",
            )
