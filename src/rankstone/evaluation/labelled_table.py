"""What is given to be scored: judgments and runs, or one table with scores and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from rankstone._basics import Record, is_path
from rankstone.errors import BadOption, UsageError
from rankstone.evaluation.pipeline import Pipeline, ScoredRuns
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import (
    check_queries,
    checked,
    choices,
    name_runs,
    query_table,
    refuse_further_columns,
    refuse_without_pairs,
    run_columns_read,
)
from rankstone.evaluation.requested_side_inputs import requested_side_inputs
from rankstone.hits.alignment_audit import Audit
from rankstone.hits.judgments import SelfLabelled, lowest_of
from rankstone.io import read_labelled
from rankstone.io.columns import with_csv
from rankstone.io.file_formats import stem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Columns, NamedValues, Progress
    from rankstone.evaluation.request import EvaluationKeywords
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures


#: options that do not apply to a labelled table
_NOT_LABELLED = (
    "exclude",
    "unit",
    "same_as",
    "documents",
    "corpus",
    "all_relevant",
    "intents",
    "split",
)


class Given(Record):
    """The input to score: judgments and runs, or one labelled table, called ``name``."""

    qrels: object
    runs: object
    table: object = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Refuse both, and neither."""
        if self.table is not None and not (self.qrels is None and self.runs is None):
            raise UsageError(
                "table has scores and labels, so judgments and runs cannot be given with it"
            )
        if self.table is None and (self.qrels is None or self.runs is None):
            raise UsageError(
                "judgments and at least one run are needed",
                fix="evaluate(qrels, runs, …), or table=… for one table with scores and labels",
            )

    def score_runs(
        self,
        measures: tuple[Measure, ...],
        *,
        progress: Progress | None = None,
        on_bad_run: str | None = None,
        **options: Unpack[EvaluationKeywords],
    ) -> ScoredRuns:
        """Score it; parameters as for :func:`rankstone.evaluate`."""
        if self.table is None:
            ready = Prepared.of(self.qrels, measures, **options)  # type: ignore[arg-type] # its own check
            return ready.score_runs(
                name_runs(self.runs), progress=progress, on_bad_run=on_bad_run
            )
        return score_labelled(
            self.table, measures, name=self.name, progress=progress, **options
        )


def score_labelled(
    table: object,
    parsed: tuple[Measure, ...],
    *,
    name: str | None = None,
    columns: Columns | None = None,
    format_in: str | None = None,
    queries: object = None,
    progress: Progress | None = None,
    one_group: bool = False,
    csv_separator: str | None = None,
    decimal: str | None = None,
    **options: Any,  # noqa: ANN401 - checked by AlignmentOptions
) -> ScoredRuns:
    """Score a labelled table."""
    for option in _NOT_LABELLED:
        if options.pop(option, None) is not None:
            raise BadOption(
                f"{option} is for runs against judgments, not for a table with scores and labels"
            )
    order = options.get("order", "score")
    columns = with_csv(columns, csv_separator, decimal)
    refuse_further_columns(parsed)
    read = read_labelled(
        table,
        columns,
        format_in,
        order=order,
        one_group=one_group,
        further=run_columns_read(parsed),
    )
    for side_input in requested_side_inputs(parsed, {}):
        side_input.check_run(read, parsed)
        parsed = tuple(side_input.for_measure(measure) for measure in parsed)

    alignment = _alignment(read, options, parsed)
    refuse_without_pairs(None, alignment)
    lowest = 0.0
    if any(measure.claims.reads_lowest_grade for measure in parsed):
        # it must be known before the table is read
        lowest = lowest_of(read.tables([pl.col("relevance")]), alignment.negative)
    name = name or (stem(table) if is_path(table) else "run")
    about = query_table(queries, parsed, columns)
    pipeline = Pipeline(SelfLabelled(lowest), alignment, parsed, queries=about)
    run, audit = pipeline.run(read.watched(progress))
    audit_queries = None if about is None else check_queries(about, parsed, run.queries)
    inputs: NamedValues = {"labelled": {name: read.source}}
    if about is not None:
        inputs["queries"] = about.source
    return ScoredRuns(
        {name: run},
        parsed,
        Audit(None, {name: audit}, queries=audit_queries),
        choices(alignment, parsed, one_group=one_group),
        inputs,
    )


def _alignment(
    read: Table, options: Mapping[str, Any], measures: Measures
) -> AlignmentOptions:
    """Return the options; without document ids ties are resolved by expectation by default."""
    if "doc_id" in read.columns:
        return checked(options, measures)
    alignment = checked({"ties": "expected", **options}, measures)
    if alignment.tie_rule.needs_ids:
        raise BadOption(
            f"ties={alignment.ties} needs a doc_id column, and there is none",
            where=read.source,
            fix="choose ties=expected, input, best or worst",
        )
    return alignment
