"""The program trec_eval: files and options in, lines and notes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record, queries
from rankstone.conventions.trec_eval.line_values import PreparedLines
from rankstone.conventions.trec_eval.output_lines import (
    ZScores,
    lines_of,
    requested_measures,
)
from rankstone.conventions.trec_eval.trec_settings import FORMATS, VERSIONS
from rankstone.errors import DuplicateRows, UsageError, printable
from rankstone.io import read_judgments, read_run
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.file_formats import stem
from rankstone.io.sources import is_database, is_stream, read_stream, stream_title
from rankstone.io.suffixes import is_packed, suffixes_of
from rankstone.io.trec_text import ANY_TAG, trec
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.conventions.trec_eval.line_values import Results
    from rankstone.conventions.trec_eval.output_lines import Requested, TrecLine
    from rankstone.conventions.trec_eval.trec_settings import Settings
    from rankstone.io.input_table import Table


#: ids are escaped but never shortened
_WHOLE: Final = 1 << 30


def printed(
    results: Results,
    lines: list[TrecLine],
    settings: Settings,
    tag: str,
    *,
    scaled: bool,
) -> Iterator[str]:
    """Yield the lines of every query, then those over all.

    Parameters
    ----------
    results, lines
        The values, and the requested lines in the order in which they are printed.
    settings
        The options: whether queries and the summary are printed.
    tag
        The run's id.
    scaled
        True if values are z-scores.
    """
    if settings.queries:
        for row, query in enumerate(results.queries):
            shown = printable(query, _WHOLE)
            for line in lines:
                if line.length:
                    yield f"{line.name:<22}\t{shown}\t'{results.strings[line.name][row]}'"
                elif line.measure is not None and not line.is_geometric:
                    value = float(results.values[line.name][row])
                    yield _line(line, shown, value, scaled=scaled)
    if settings.summary:
        for line in lines:
            if line.name == "runid":
                yield f"{line.name:<22}\tall\t{printable(tag, _WHOLE)}"
            elif not line.length:
                yield _line(line, "all", results.total(line, settings), scaled=scaled)


def _line(line: TrecLine, query: str, value: float, *, scaled: bool) -> str:
    if scaled:
        return f"Z{line.name:<22}\t{query}\t{value:6.4f}"
    number = str(int(value)) if line.trec.counts else f"{value:6.4f}"
    return f"{line.name:<22}\t{query}\t{number}"


@dataclass(eq=False)
class TrecJudgments:
    """Judgments with their grades.

    Attributes
    ----------
    table
        Query, document, grade; group and subgroup where the format has them.
    grades
        The grades that occur, ascending.
    notes
        Notes on changed grades.
    """

    table: Table
    grades: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, source: object, settings: Settings) -> TrecJudgments:
        """Open judgments; relevance grades become whole numbers as in C."""
        table = read_judgments(source, further=FORMATS[settings.judgments])
        if settings.only is not None:
            kept = pl.col("query_id").cast(pl.String) == settings.only
            table = table.mapped(lambda piece: piece.filter(kept))
        if settings.compares:
            return cls(table)
        pieces = [
            piece["relevance"].unique() for piece in table.tables([pl.col("relevance")])
        ]
        grades = (
            pl.concat([pl.Series([], dtype=pl.Float64), *pieces])
            .unique()
            .drop_nulls()
            .drop_nans()
        )
        whole = grades.cast(pl.Int64, strict=False).cast(
            pl.Float64
        )  # cut towards zero, as in C
        notes = []
        if (grades != whole).any():
            cut = pl.col("relevance").cast(pl.Int64).cast(pl.Float64)
            table = table.mapped(lambda piece: piece.with_columns(cut))
            odd = grades.filter(grades != whole).sort()
            notes.append(
                f"grades are whole numbers for trec_eval: {odd[0]:g} counts as {int(odd[0])}"
            )
        return cls(table, tuple(whole.unique().drop_nulls().sort()), notes)


class Run(Record):
    """A run, and the run id in its last line."""

    table: Table
    tag: str

    @classmethod
    def of(cls, path: str) -> Run:
        """Open a file, a pipe, or standard input for ``-``."""
        if not is_stream(path):
            return cls(
                read_run(path, layout=ANY_TAG),
                stem(path) if is_database(path) else tag_of(Path(path)),
            )
        content = read_stream(path)
        return cls(trec([content], stream_title(path), ANY_TAG), tag_of(content))


#: bytes at the end of a run that contain its last lines
_TAIL: Final = 1 << 16
#: the column of the run id, and formats without lines
_TAG: Final = 5
_COLUMNAR: Final = suffixes_of("parquet", "arrow")


def tag_of(source: Path | bytes) -> str:
    r"""Return the sixth column of the last line, which trec_eval calls the run id; empty without one.

    >>> tag_of(b"q1 Q0 d1 1 2.0 mine\n# the end\n")
    'mine'
    """
    if isinstance(source, bytes):
        lines = source[-_TAIL:].decode("utf-8", "replace").splitlines()
    elif not source.is_file() or source.suffix in _COLUMNAR:
        return ""
    else:
        lines = _packed(source) if is_packed(source) else _tail(source)
    content = [
        line for line in lines if line.strip() and not line.lstrip().startswith("#")
    ]
    words = content[-1].split() if content else []
    if len(words) > _TAG:
        return words[_TAG]
    return ""


def _tail(path: Path) -> list[str]:
    with reading(str(path)), path.open("rb") as file:
        file.seek(max(path.stat().st_size - _TAIL, 0))
        return file.read().decode("utf-8", "replace").splitlines()


def _packed(path: Path) -> list[str]:
    last = (
        pl.scan_lines(path, name="line")
        .filter(~pl.col("line").str.starts_with("#"))
        .tail(2)
    )
    with reading(str(path)):
        refuse_endless(path, str(path))
        return last.collect()["line"].to_list()


_ENDS = " (trec_eval 10.0 raises an error here, so it never leaves a query out)"


@dataclass(frozen=True)
class Output:
    """Lines for standard output, and notes on unexpected behaviour."""

    lines: list[str]
    notes: list[str]


def run_program(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[str],
    settings: Settings,
    zscores: Path | None = None,
) -> Output:
    """Run ``trec_eval`` for one or more runs.

    Parameters
    ----------
    qrels, runs
        Files; ``-`` is standard input.
    measures
        The -m options.
    settings
        The other options.
    zscores
        Means and deviations of reference runs (-Z).

    Returns
    -------
    Output
        The lines of all runs, with a ``runid`` above those of each where there are several, and notes on
        unexpected behaviour.
    """
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input can be read only once")
    requested, notes = requested_measures(measures, settings.version)
    judgments = TrecJudgments.of(qrels, settings)
    reference = None if zscores is None else ZScores.read(zscores)
    lines = lines_of(requested, settings, judgments.grades)
    ready = PreparedLines(judgments.table, lines, settings)
    text = list[str]()
    remarks = list[str]()
    for run in runs:
        opened = Run.of(run)
        try:
            results = ready(opened.table, reference)
        except DuplicateRows as error:
            error.fix = "keep one of the rows: trec_eval stops here, too (rankstone eval has options for duplicates)"
            raise
        shown = list(
            printed(results, lines, settings, opened.tag, scaled=reference is not None)
        )
        if len(runs) > 1 and not any(line.startswith("runid") for line in shown):
            text.append(f"{'runid':<22}\tall\t{opened.tag}")
        text += shown
        remarks += _notes(results, requested, lines, settings, judgments.grades)
    return Output(text, list(dict.fromkeys([*notes, *judgments.notes, *remarks])))


def _notes(
    results: Results,
    requested: list[Requested],
    lines: list[TrecLine],
    settings: Settings,
    grades: Sequence[float],
) -> Iterator[str]:
    """Yield notes on unexpected behaviour of trec_eval."""
    names = {measure.trec.name for measure in requested}
    if results.missing and not settings.complete:
        first = printable(results.missing[0])
        yield (
            f"{queries(len(results.missing))} judged, but not in the run (the first is {first}): left out of "
            f"every mean; -c counts them as 0{_ENDS if settings.version == VERSIONS[-1] else ''}"
        )
    if "num_rel" in names and settings.complete and settings.level != 1:
        yield f"num_rel over all queries ignores -l {settings.level} under -c, as in trec_eval"
    if (
        results.emptied
        and settings.judged_only
        and names & {"iprec_at_recall", "11pt_avg"}
    ):
        first = printable(results.emptied[0])
        yield f"no judged document retrieved for {first}: interpolated precision is 0 (trec_eval prints nan)"
    if "rbp" in names and max(grades, default=0.0) > 1:
        yield (
            "rbp: gains are grades divided by the query's highest one, as intended in trec_eval 10.0, which "
            "reads uninitialised memory and may print other numbers"
        )
    if any(_close(line) for line in lines):
        yield "gains that differ by less than 1 are different here; trec_eval treats them as equal"


def _close(line: TrecLine) -> bool:
    """Return True if a gain table has gains that trec_eval treats as equal."""
    table = getattr(getattr(line.measure, "gain", None), "gains", ())
    gains = sorted(gain for _, gain in table)
    return any(0 < upper - lower < 1 for lower, upper in pairwise(gains))
