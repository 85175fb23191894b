"""What is in the files, before anything is scored: findings, worst first, none of them fatal.

Every file is looked at to the end of what can be read; a problem that would stop an evaluation is an
``error``, one that moves numbers a ``warning``, the rest is worth knowing.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.asked import of_rankings
from rankstone.checking.judgments import look_at_copies, look_at_judgments
from rankstone.checking.run import look_at_run
from rankstone.checking.train import look_at_train, run_against_train
from rankstone.errors import InputError, printable
from rankstone.evaluation import name_runs
from rankstone.findings import CheckReport, FileReport, Finding
from rankstone.io import Table, ids_of_two_kinds, read_interactions, read_judgments, read_run, shown, with_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.measures import Measure

__all__ = ["check"]

#: the cutoffs that are looked at where nobody asks for measures
_DEPTHS: Final = (10, 100)


def check(
    qrels: object,
    runs: object = None,
    *,
    measures: str | Measure | Sequence[str | Measure] = (),
    train: object = None,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    order: str = "score",
    csv_separator: str | None = None,
    decimal: str | None = None,
    depths: Sequence[int] = (),
) -> CheckReport:
    """Look at judgments, and at runs beside them.

    Parameters
    ----------
    qrels, columns, format_in, order, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    runs
        As for :func:`rankstone.evaluate`; none, and judgments are looked at alone.
    measures
        What is to be measured: its cutoffs are looked at, and what has no meaning here is named.
    train
        What a model has learnt from, judgments or interactions: pairs that are judged, too, and documents
        that are not in it.
    depths
        The cutoffs at which unjudged documents are counted, and nDCG is looked at; those of the measures, or
        10 and 100, unless given.

    Examples
    --------
    >>> report = check({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}})
    >>> [finding.what for finding in report.files[1].findings][:3]
    ['2 tied rows in 1 query', 'unjudged@10: 50.0%', 'unjudged@100: 50.0%']
    """
    columns = with_csv(columns, csv_separator, decimal)
    wanted = of_rankings(measures) if measures else ()
    cutoffs = tuple(depths) or _cutoffs(wanted)
    judged = FileReport("judgments", _source(qrels, "judgments"), "judgments")
    known: list[Table] = []

    def judgments() -> Table:
        known.append(read_judgments(qrels, columns, format_in))
        return known[0]

    def listed(run: object, name: str) -> Table:
        table = read_run(run, columns, format_in, order=order, name=name, ranks=True)
        if truth is not None:
            ids_of_two_kinds(known[0], table, "texts on both sides, or whole numbers on both sides")
        return table

    truth = _opened(judged, judgments)
    declared = None if truth is None else known[0].unanswered
    if truth is not None:
        look_at_judgments(judged, truth, wanted)
        look_at_copies(judged, truth, lambda: read_judgments(qrels, columns, format_in, further=["subtopic"]))
    files, learnt = [judged], None
    if train is not None:
        files.append(FileReport("training", _source(train, "training"), "training"))
        learnt = _opened(files[-1], partial(read_interactions, train, columns, format_in))
        if learnt is not None:
            look_at_train(files[-1], learnt, truth)
    reports = []
    for name, run in ({} if runs is None else name_runs(runs)).items():
        report = FileReport(name, _source(run, name), "run")
        reports.append(report)
        frame = _opened(report, partial(listed, run, name))
        if frame is None:
            continue
        look_at_run(report, frame, truth, declared, order, cutoffs)
        if learnt is not None:
            report.findings += run_against_train(frame, learnt)
    return CheckReport([*files, *sorted(reports, key=lambda report: -report.worst)])


def _cutoffs(measures: Sequence[Measure]) -> tuple[int | None, ...]:
    """Return the cutoffs of measures, in their order; ``None`` where one looks at whole lists."""
    found = sorted({measure.deepest for measure in measures if measure.deepest is not None})
    whole = any(measure.deepest is None for measure in measures)
    return (*found, *([None] if whole else [])) or _DEPTHS


def _source(value: object, name: str) -> str:
    return shown(value) if isinstance(value, (str, os.PathLike)) else name


def _opened(report: FileReport, read: Any) -> pl.DataFrame | None:  # noqa: ANN401 - a function
    """Read a table with row numbers; what stops the reading becomes the first finding."""
    try:
        table: Table = read()
        frame = table.collect()
    except InputError as error:
        where = f"{error.where}: " if error.where else ""
        report.findings.append(Finding("error", where + error.what, error.given, error.fix))
        return None
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
    return frame.with_columns(pl.lit(table.listed).alias("listed"))
