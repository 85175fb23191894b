"""The program as a whole: files and options in, lines and notes out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rankstone.errors import DuplicateRows, UsageError, printable
from rankstone.trec_eval.lines import asked_for, lines_of
from rankstone.trec_eval.printing import printed
from rankstone.trec_eval.reader import Judgments, Run
from rankstone.trec_eval.results import Ready
from rankstone.trec_eval.settings import VERSIONS
from rankstone.trec_eval.zscores import ZScores
from rankstone.words import queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankstone.trec_eval.lines import Asked, Line
    from rankstone.trec_eval.results import Results
    from rankstone.trec_eval.settings import Settings

__all__ = ["Output", "run_program"]

_ENDS = " (trec_eval 10.0 ends here with an error, and so never leaves a query out)"


@dataclass(frozen=True)
class Output:
    """What goes to standard output, and what there is to say beside it."""

    lines: list[str]
    notes: list[str]


def run_program(
    qrels: str, run: str, measures: Sequence[str], settings: Settings, zscores: Path | None = None
) -> Output:
    """Do what ``trec_eval`` does.

    Parameters
    ----------
    qrels, run
        Files; ``-`` is standard input.
    measures
        The -m options.
    settings
        All others.
    zscores
        Means and deviations of reference runs (-Z).

    Returns
    -------
    Output
        Its lines, and a note for everything that is not as one would expect.
    """
    if qrels == run == "-":
        raise UsageError("standard input can be read only once")
    asked, notes = asked_for(measures, settings.version)
    judgments = Judgments.of(qrels, settings)
    reference = None if zscores is None else ZScores.read(zscores)
    lines = lines_of(asked, settings, judgments.grades)
    opened = Run.of(run)
    try:
        results = Ready(judgments.table, lines, settings)(opened.table, reference)
    except DuplicateRows as error:
        error.fix = "keep one of the rows: trec_eval ends here, too (rankstone eval has options for them)"
        raise
    text = list(printed(results, lines, settings, opened.tag, scaled=reference is not None))
    said = _notes(results, asked, lines, settings, judgments.grades)
    return Output(text, [*notes, *judgments.notes, *said])


def _notes(
    results: Results, asked: list[Asked], lines: list[Line], settings: Settings, grades: Sequence[float]
) -> Iterator[str]:
    """Yield what is not as one would expect, in trec_eval or here."""
    names = {one.trec.name for one in asked}
    if results.missing and not settings.complete:
        first = printable(results.missing[0])
        yield (
            f"{queries(len(results.missing))} judged, but not in the run (the first is {first}): left out of "
            f"every mean; -c counts them as 0{_ENDS if settings.version == VERSIONS[-1] else ''}"
        )
    if "num_rel" in names and settings.complete and settings.level != 1:
        yield f"num_rel over all queries ignores -l {settings.level} under -c, as in trec_eval"
    if results.hollow and settings.judged_only and names & {"iprec_at_recall", "11pt_avg"}:
        first = printable(results.hollow[0])
        yield f"no judged document retrieved for {first}: interpolated precision is 0 (trec_eval prints nan)"
    if "rbp" in names and max(grades, default=0.0) > 1:
        yield (
            "rbp: gains are grades over the query's highest one, as trec_eval 10.0 means it; it starts from "
            "numbers that it does not initialise, and may print others"
        )
    if any(_close(line) for line in lines):
        yield "gains that differ by less than 1 are told apart here; trec_eval takes them for equal"


def _close(line: Line) -> bool:
    """Say whether a gain table has gains that trec_eval cannot tell apart."""
    table = getattr(getattr(line.measure, "gain", None), "gains", ())
    gains = sorted(gain for _, gain in table)
    return any(0 < upper - lower < 1 for lower, upper in pairwise(gains))
