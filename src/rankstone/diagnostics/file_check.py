"""Checks of judgments, runs and training data before anything is scored.

Every file is checked as far as it is readable; a problem that would stop an evaluation is an ``error``, one
that changes numbers a ``warning``, everything else a ``note``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import is_path
from rankstone.diagnostics.file_checks import CheckedFile, FileCheck
from rankstone.diagnostics.findings import CheckReport, FileReport, Finding, spread
from rankstone.errors import InputError, printable
from rankstone.evaluation.query_texts import named_by_ids
from rankstone.evaluation.request import name_runs, of_rankings
from rankstone.evaluation.side_inputs.judged_spans import with_span_ids
from rankstone.hits.budgets import OFFSETS, STEPS
from rankstone.io import (
    advise_on_others,
    read_attributes,
    read_interactions,
    read_judgments,
    read_run,
)
from rankstone.io.columns import with_csv
from rankstone.io.sources import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone._basics import Columns
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measures


#: grades that are counted one by one
_LEVELS: Final = 12
#: the default cutoffs
_DEPTHS: Final = (10, 100)


def check(
    qrels: object = None,
    runs: object = None,
    *,
    measures: MeasuresLike = (),
    train: object = None,
    documents: object = None,
    columns: Columns | None = None,
    format_in: str | None = None,
    order: str = "score",
    csv_separator: str | None = None,
    decimal: str | None = None,
    depths: Sequence[int] = (),
) -> CheckReport:
    """Check judgments, runs and training data for problems.

    Parameters
    ----------
    qrels, runs
        As for :func:`rankstone.evaluate`; either may be missing.
    columns, format_in, order, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    measures
        The measures to be computed: their cutoffs are used, and meaningless ones are reported.
    train
        The training data, judgments or interactions: overlap with the judgments, and documents that are not
        in it, are reported.
    documents
        A table of documents, in which texts that a golden set expects are looked up.
    depths
        The cutoffs at which unjudged documents are counted and nDCG is checked; by default those of the
        measures, or 10 and 100.

    Examples
    --------
    >>> report = check({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}})
    >>> [finding.what for finding in report.files[1].findings][:3]
    ['2 tied rows in 1 query', 'unjudged@10: 50.0%', 'unjudged@100: 50.0%']
    """
    columns = with_csv(columns, csv_separator, decimal)
    parsed = of_rankings(measures) if measures else ()
    cutoffs = tuple(depths) or _cutoffs(parsed)
    judged = FileReport("judgments", _source(qrels, "judgments"), "judgments")
    tables: list[Table] = []
    named = {} if runs is None else name_runs(runs)
    read_frame = partial(_read_frame, others=_readers(qrels, named.values()))

    corpus = _corpus(documents, columns)
    reading_judgments = partial(read_judgments, corpus=corpus)

    def judgments() -> Table:
        costs = (*OFFSETS, "time")
        table = reading_judgments(qrels, columns, format_in, costs=costs)
        tables.append(_with_span_ids(table))
        return tables[0]

    def listed(run: object, name: str) -> Table:
        table = _opened_run(run, name, columns, format_in, order)
        if judged_rows is not None:
            table = _with_ids_of(tables[0], table)
        return table

    files = [] if qrels is None else [judged]
    judged_rows = None if qrels is None else read_frame(judged, judgments)
    training = None
    if train is not None:
        trained = FileReport("training", _source(train, "training"), "training")
        files.append(trained)
        read = partial(read_interactions, train, columns, format_in)
        training = read_frame(trained, read)

    beside: dict[str, Any] = {}
    if judged_rows is not None:
        judged.facts |= _facts_of_judgments(judged_rows)
        judged.findings += _doubts(tables[0])
        read = partial(
            reading_judgments, qrels, columns, format_in, further=["subtopic"]
        )
        _check(judged, judged_rows, by="relevance", by_subtopic=read, measures=parsed)
        beside |= {"judgments": judged_rows, "declared": tables[0].unanswered}
        if {*OFFSETS} <= tables[0].columns:  # no chunk is judged as such
            cutoffs = ()
    if training is not None:
        trained.facts |= _facts_of_training(training)
        _check(trained, training, measures=parsed, **beside)
        beside["training"] = training

    reports = [
        FileReport(name, _source(run, name), "run") for name, run in named.items()
    ]
    for report, run in zip(reports, named.values(), strict=True):
        frame = read_frame(report, partial(listed, run, report.name))
        if frame is not None:
            _check_run(report, frame, order, depths=cutoffs, **beside)
    reports.sort(key=lambda report: -report.worst)
    return CheckReport([*files, *reports])


def _corpus(documents: object, columns: Columns | None) -> Attributes | None:
    """Return the table of documents, read also where no text is looked up in it."""
    if documents is None:
        return None
    return read_attributes(documents, "doc_id", columns)


def _opened_run(
    run: object, name: str, columns: Columns | None, format_in: str | None, order: str
) -> Table:
    """Open a run with all that checks look at."""
    table = read_run(
        run,
        columns,
        format_in,
        order=order,
        name=name,
        ranks=True,
        further=(*STEPS, *OFFSETS, "error"),
    )
    return _with_span_ids(table)


def _doubts(judged: Table) -> Iterator[Finding]:
    """Yield what is doubtful about judgments as they were read."""
    for sentence in judged.doubts:
        yield Finding("warning", sentence, doubtful=True)


def _with_ids_of(judged: Table, run: Table) -> Table:
    """Return a run with the ids of the judgments' queries, of a type that can be compared with theirs."""
    if judged.about is not None:
        run = named_by_ids(run, judged.about)
    expected = "texts on both sides, or whole numbers on both sides"
    judged.text_ids_for(run, expected)
    return run


def _readers(qrels: object, runs: Iterable[object]) -> list[tuple[Any, object]]:
    """Return the functions that read the files, and the files."""
    readers: list[tuple[Any, object]] = [(read_run, run) for run in runs]
    if qrels is not None:
        readers.insert(0, (read_judgments, qrels))
    return readers


def _with_span_ids(table: Table) -> Table:
    """Return a table whose rows are told apart by their spans, where it has some."""
    if {*OFFSETS} <= {*table.columns}:
        return with_span_ids(table)
    return table


def _check(report: FileReport, frame: pl.DataFrame, **beside: Any) -> None:  # noqa: ANN401 - fields of a file
    """Add what all checks of a file find."""
    file = CheckedFile(report.kind, frame, report.facts, **beside)
    report.findings += FileCheck.all_findings(file)


def _facts_of_judgments(frame: pl.DataFrame) -> dict[str, str]:
    grades = frame["relevance"].drop_nulls().value_counts()
    levels = grades.sort("relevance").head(_LEVELS).iter_rows()
    return {
        "judgments": f"{frame.height:,}",
        "queries": f"{frame['query_id'].n_unique():,}",
        "grades": ", ".join(f"{grade:g} × {count:,}" for grade, count in levels),
        "judged per query": spread(frame.group_by("query_id").len()["len"]),
    }


def _facts_of_training(frame: pl.DataFrame) -> dict[str, str]:
    return {
        "rows": f"{frame.height:,}",
        "queries": f"{frame['query_id'].n_unique():,}",
        "documents": f"{frame['doc_id'].n_unique():,}",
        "rows per query": spread(frame.group_by("query_id").len()["len"]),
    }


def _check_run(
    report: FileReport,
    frame: pl.DataFrame,
    order: str,
    **beside: Any,  # noqa: ANN401 - fields of a file
) -> None:
    """Add facts and findings; ranks give the order where they are the only one there is."""
    lengths = frame.group_by("query_id").len()["len"]
    report.facts |= {
        "rows": f"{frame.height:,}",
        "queries": f"{len(lengths):,}",
        "list lengths": spread(lengths),
    }
    if frame["listed"][0]:
        order = "input"
    elif order == "score" and "score" not in frame.columns:
        order = "rank"
    _check(report, frame, by=order, **beside)


def _cutoffs(measures: Measures) -> tuple[int | None, ...]:
    """Return the cutoffs of measures in order; ``None`` for a measure of whole lists."""
    cutoffs = {measure.deepest for measure in measures}
    ordered = tuple(sorted(cutoff for cutoff in cutoffs if cutoff))
    if None in cutoffs:
        return (*ordered, None)
    return ordered or _DEPTHS


def _source(value: object, name: str) -> str:
    return display_name(value) if is_path(value) else name


def _read_frame(
    report: FileReport, read: Callable[[], Table], others: Sequence[Any]
) -> pl.DataFrame | None:
    """Read a table; an error that stops the reading becomes a finding, with advice that fits the others."""
    try:
        table = read()
        frame = table.collect()
    except InputError as error:
        advise_on_others(error, others)
        what = error.what
        if error.where:
            what = f"{error.where}: {what}"
        advice = [error.fix] if error.fix else []
        if error.expected:
            advice.append(f"expected: {error.expected}")
        fix = "; ".join(advice) or None
        report.findings.append(Finding("error", what, error.given, fix))
        return None
    if table.form:
        report.facts["taken for"] = printable(table.form, 200)
    read_as = table.read_as()
    if read_as:
        report.facts["read as"] = ", ".join(map(printable, read_as))
    comments = table.comments()
    if comments:
        report.facts["comment lines"] = f"{comments:,}"
    unanswered = table.unanswered
    if unanswered is not None:
        what = "declared empty" if report.kind == "judgments" else "empty lists"
        report.facts[what] = f"{len(unanswered):,}"
    if frame.is_empty():
        report.findings.append(Finding("error", "there are no rows"))
        return None
    return frame.with_columns(pl.lit(table.listed).alias("listed"))
