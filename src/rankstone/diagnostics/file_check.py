"""Checks of judgments, runs and training data before anything is scored.

Every file is checked as far as it is readable; a problem that would stop an evaluation is an ``error``, one
that changes numbers a ``warning``, everything else a ``note``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted, is_path, queries, some
from rankstone.diagnostics.checked_runs import check_run
from rankstone.diagnostics.findings import (
    CheckReport,
    FileReport,
    Finding,
    bad_numbers,
    duplicates,
    missing_ids,
    padded_ids,
    row,
    spread,
)
from rankstone.errors import InputError, printable
from rankstone.evaluation.request import name_runs, of_rankings
from rankstone.evaluation.span_judgments import with_span_ids
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.budgets import OFFSETS, STEPS
from rankstone.hits.judgments import GradeCounts
from rankstone.hits.list_arrays import Ideal, offsets_of
from rankstone.io import advise_on_others, read_interactions, read_judgments, read_run
from rankstone.io.columns import with_csv
from rankstone.io.sources import display_name
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.stats.bounded_means import unseen_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


#: one-sided level of a gate with one rule
_GATE: Final = 0.025


def check_judgments(
    report: FileReport, frame: pl.DataFrame, measures: Sequence[Measure]
) -> None:
    """Add the facts and findings about judgments, and what they mean for the requested measures."""
    grades = frame["relevance"]
    levels = grades.drop_nulls().value_counts().sort("relevance").head(12)
    report.facts |= {
        "judgments": f"{frame.height:,}",
        "queries": f"{(n := frame['query_id'].n_unique()):,}",
        "smallest margin": f"{unseen_share(n, _GATE):.2g} of the range, for a gate if few queries change",
        "grades": ", ".join(
            f"{grade:g} × {count:,}" for grade, count in levels.iter_rows()
        ),
        "judged per query": spread(frame.group_by("query_id").len()["len"]),
    }
    report.findings += [
        *missing_ids(frame),
        *bad_numbers(frame, "relevance"),
        *_huge(frame),
        *_negative(frame),
        *_score_like(frame),
        *_relevant_alone(grades.drop_nulls(), measures),
        *padded_ids(frame),
    ]
    best = frame.group_by("query_id").agg(pl.col("relevance").max())
    empty = best.filter(pl.col("relevance") <= 0)["query_id"]
    if len(empty):
        report.findings.append(
            Finding(
                "warning",
                f"{queries(len(empty))} without a relevant document",
                some(empty),
                "see empty=…",
            )
        )


def _relevant_alone(
    grades: pl.Series, measures: Sequence[Measure]
) -> Iterator[Finding]:
    """Find measures that need documents judged not relevant, where there are none."""
    if not len(grades) or (grades <= 0).any():
        return
    found = grades.to_numpy()
    meaningless = [
        m
        for m in measures
        if m.claims.reads_nonrelevant
        and (getattr(m, "rel", None) or ANY_GAIN)(found).all()
    ]
    if meaningless:
        are = "is" if len(meaningless) == 1 else "are"
        yield Finding(
            "warning",
            f"no document is judged not relevant, so {', '.join(map(str, meaningless))} {are} meaningless",
            None,
            "use measures that treat unjudged documents as not relevant, such as AP and nDCG",
            doubtful=True,
        )
        return
    yield Finding(
        "note",
        "no document is judged not relevant (no grade of 0 or below)",
        None,
        "Bpref, infAP, AUC(negatives=judged) and unjudged=condensed have no meaning then, Judged@k is P@k",
    )


def check_duplicates(
    report: FileReport, frame: pl.DataFrame, by_subtopic: Callable[[], Table]
) -> None:
    """Find duplicate judgments, unless they are judgments of different subtopics (or assessors)."""
    twice = list(
        duplicates(frame, "duplicate_judgments=max, mean, majority, first or last")
    )
    if not twice:
        return
    try:
        groups = by_subtopic().collect()
    except InputError:  # no such column
        groups = frame.with_columns(subtopic=pl.lit("0"))
    if groups.select("query_id", "doc_id", "subtopic").is_duplicated().any():
        report.findings += twice
        return
    count = (
        groups.select("query_id", "subtopic").unique().group_by("query_id").len()["len"]
    )
    report.facts["subtopics"] = spread(count)
    report.findings.append(
        Finding(
            "note",
            "documents are judged once for each subtopic (the second column)",
            row(frame.filter(frame.select("query_id", "doc_id").is_duplicated())),
            "for measures of diversity; other measures use a document's best grade",
        )
    )


def _huge(frame: pl.DataFrame) -> Iterator[Finding]:
    huge = frame.filter(
        pl.col("relevance").is_finite() & (pl.col("relevance").abs() > LARGEST_GRADE)
    )
    if len(huge):
        what = f"{counted(len(huge), 'grade')} beyond {LARGEST_GRADE:,.0f}"
        yield Finding(
            "error", what, row(huge), "are these ids or scores from another column?"
        )


def _negative(frame: pl.DataFrame) -> Iterator[Finding]:
    below = frame.filter(pl.col("relevance") < 0)
    if len(below):
        yield Finding(
            "warning",
            f"{counted(len(below), 'grade')} below zero",
            row(below),
            "see negative=…",
        )


def _score_like(frame: pl.DataFrame) -> Iterator[Finding]:
    ordered = frame.drop_nulls().sort("query_id", "relevance", descending=[False, True])
    lengths = ordered["query_id"].rle().struct.field("len").to_numpy().astype(np.int64)
    judged = Ideal(offsets_of(lengths), ordered["relevance"].to_numpy())
    for sentence in GradeCounts.of(judged).doubts():
        yield Finding("warning", sentence, None, "QRELS comes first", doubtful=True)


_PAIR = ["query_id", "doc_id"]


def check_training(
    report: FileReport, train: pl.DataFrame, judgments: pl.DataFrame | None
) -> None:
    """Add the facts and findings about training data, and its overlap with the judgments."""
    report.facts |= {
        "rows": f"{train.height:,}",
        "queries": f"{train['query_id'].n_unique():,}",
        "documents": f"{train['doc_id'].n_unique():,}",
        "rows per query": spread(train.group_by("query_id").len()["len"]),
    }
    report.findings += missing_ids(train)
    if judgments is not None:
        report.findings += _judgments_in_training(
            _text_ids(train), _text_ids(judgments.filter(pl.col("relevance") > 0))
        )


def training_overlap(frame: pl.DataFrame, train: pl.DataFrame) -> Iterator[Finding]:
    """Find retrieved pairs that are in the training file, and retrieved documents that are not."""
    frame = _text_ids(frame)
    train = _text_ids(train)
    known = frame.join(train, on=_PAIR, how="semi")
    if len(known):
        yield Finding(
            "note",
            f"{counted(len(known), 'retrieved row')} of {frame.height:,} also in training",
            row(known),
            "if known documents do not count as answers, exclude=FILE removes them from every list",
        )
    documents = frame["doc_id"].unique()
    tables = train["doc_id"].unique()
    unknown = documents.filter(~documents.is_in(tables.implode())).sort()
    if len(unknown):
        none = len(unknown) == len(documents)
        yield Finding(
            "warning" if none else "note",
            f"{len(unknown):,} of {counted(len(documents), 'retrieved document')} not in training",
            some(unknown),
            f"do document ids match? in training {some(tables.sort())}"
            if none
            else None,
            doubtful=none,
        )


def _judgments_in_training(
    train: pl.DataFrame, relevant: pl.DataFrame
) -> Iterator[Finding]:
    """Find relevant judgments that are in the training data, and ids that are not."""
    pairs = relevant.unique(_PAIR, maintain_order=True)
    both = pairs.join(train, on=_PAIR, how="semi")
    if len(both):
        share = len(both) / len(pairs)
        yield Finding(
            "warning",
            f"{len(both):,} of {counted(len(pairs), 'relevant judgment')} ({share:.1%}) also in training",
            row(both),
            "the model may know these answers: split again, or remove them with exclude=FILE and "
            "exclude_from=both",
            doubtful=True,
        )
    for column, noun in (("query_id", queries), ("doc_id", _relevant_documents)):
        ids = pairs[column].unique()
        tables = train[column].unique()
        unknown = ids.filter(~ids.is_in(tables.implode())).sort()
        if len(unknown):
            what = f"{len(unknown):,} of {noun(len(ids))} not in training"
            if len(unknown) < len(ids):
                yield Finding("note", what, some(unknown))
            else:
                fix = f"fine for a split by this id; otherwise, do ids match? in training {some(tables.sort())}"
                yield Finding("note", what, some(unknown), fix)


def _relevant_documents(count: int) -> str:
    return counted(count, "relevant document")


def _text_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Return pairs whose ids are texts, as numbers are texts in many files."""
    return frame.select(pl.col(_PAIR).cast(pl.String))


#: the default cutoffs
_DEPTHS: Final = (10, 100)


def check(
    qrels: object = None,
    runs: object = None,
    *,
    measures: MeasuresLike = (),
    train: object = None,
    columns: Mapping[str, str] | None = None,
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
    sources = [(read_judgments, qrels), *((read_run, run) for run in named.values())]
    read_frame = partial(
        _read_frame, others=sources if qrels is not None else sources[1:]
    )

    def judgments() -> Table:
        table = read_judgments(qrels, columns, format_in, costs=OFFSETS)
        tables.append(with_span_ids(table) if {*OFFSETS} <= {*table.columns} else table)
        return tables[0]

    def listed(run: object, name: str) -> Table:
        table = read_run(
            run,
            columns,
            format_in,
            order=order,
            name=name,
            ranks=True,
            further=(*STEPS, *OFFSETS, "error"),
        )
        table = with_span_ids(table) if {*OFFSETS} <= {*table.columns} else table
        if judged_rows is not None:
            tables[0].text_ids_for(
                table, "texts on both sides, or whole numbers on both sides"
            )
        return table

    judged_rows = None if qrels is None else read_frame(judged, judgments)
    declared = None if judged_rows is None else tables[0].unanswered
    if judged_rows is not None:
        check_judgments(judged, judged_rows, parsed)
        check_duplicates(
            judged,
            judged_rows,
            lambda: read_judgments(qrels, columns, format_in, further=["subtopic"]),
        )
    files = [] if qrels is None else [judged]
    training = None
    if train is not None:
        files.append(FileReport("training", _source(train, "training"), "training"))
        training = read_frame(
            files[-1], partial(read_interactions, train, columns, format_in)
        )
        if training is not None:
            check_training(files[-1], training, judged_rows)
    reports = []
    for name, run in named.items():
        report = FileReport(name, _source(run, name), "run")
        reports.append(report)
        frame = read_frame(report, partial(listed, run, name))
        if frame is None:
            continue
        spans = bool(tables) and {*OFFSETS} <= tables[0].columns
        # where spans are judged, no chunk is judged as such
        check_run(report, frame, judged_rows, declared, order, () if spans else cutoffs)
        if training is not None:
            report.findings += training_overlap(frame, training)
    return CheckReport([*files, *sorted(reports, key=lambda report: -report.worst)])


def _cutoffs(measures: Sequence[Measure]) -> tuple[int | None, ...]:
    """Return the cutoffs of measures in order; ``None`` for a measure of whole lists."""
    found = sorted(
        {measure.deepest for measure in measures if measure.deepest is not None}
    )
    whole = any(measure.deepest is None for measure in measures)
    return (*found, *([None] if whole else [])) or _DEPTHS


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
        where = f"{error.where}: " if error.where else ""
        expected = error.expected and f"expected: {error.expected}"
        fix = "; ".join(filter(None, [error.fix, expected])) or None
        report.findings.append(Finding("error", where + error.what, error.given, fix))
        return None
    if table.form:
        report.facts["taken for"] = printable(table.form, 200)
    if table.read_as():
        report.facts["read as"] = ", ".join(map(printable, table.read_as()))
    if table.comments():
        report.facts["comment lines"] = f"{table.comments():,}"
    if (none := table.unanswered) is not None:
        what = "declared empty" if report.kind == "judgments" else "empty lists"
        report.facts[what] = f"{len(none):,}"
    if frame.is_empty():
        report.findings.append(Finding("error", "there are no rows"))
        return None
    if {*OFFSETS} <= {*frame.columns}:
        start, end = (pl.col(name).cast(pl.Float64) for name in OFFSETS)
        bad = frame.filter(~((start >= 0) & (end > start)).fill_null(value=False))
        if len(bad):
            what = f"{counted(len(bad), 'span')} without text: start must be 0 or more, and end larger"
            report.findings.append(Finding("error", what, row(bad)))
    return frame.with_columns(pl.lit(table.listed).alias("listed"))
