"""Tables of means: one row for each run, and rows below it for means over fewer queries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from rankstone._basics import some
from rankstone.errors import printable
from rankstone.evaluation.run_places import places
from rankstone.tables.phrases import phrase
from rankstone.tables.results import data_notes
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from rankstone.tables.results import Averaged
    from rankstone.tables.sheet import Details, Kind

    Row = tuple[str, ...]


#: with more than this share of queries without a relevant document, the mean without them is shown, too
_MANY_EMPTY = 0.01
#: fewer queries, as the audit calls them
_QUERIES: Final = {
    "answered": "answered queries",
    "with_relevant": "queries with a relevant document",
}


def of_runs(
    scores: Averaged,
    digits: int = 4,
    by: Sequence[str] = (),
    intervals: pl.DataFrame | None = None,
    about: Sequence[str] = (),
    ranks: str | None = None,
    *,
    lang: str = "en",
    verbose: bool = False,
) -> Sheet:
    """Return means as a sheet: one row for each run, one column for each measure; the best are marked.

    Parameters
    ----------
    scores
        The scores.
    digits
        Decimals.
    by
        Columns of the query table: one row for each segment below its run.
    intervals
        ``run``, ``measure``, ``low``, ``high``, shown after the means.
    about
        Notes on the intervals.
    ranks
        The measure by which the place of each run is shown; the best are then marked in plain text, too.
    lang
        The language, ``en`` or ``zh``.
    verbose
        True for rows with the means over fewer queries, of which the audit has the first otherwise.
    """
    placed = None
    if ranks is not None:
        placed = places(scores, ranks)
    rows: list[Row] = []
    starts: dict[str, int] = {}
    for run in scores.audit.runs:
        starts[run] = len(rows)
        rows += _rows(scores, run, digits, by, intervals, lang, verbose=verbose)
    front: Row = (phrase("scores", "run", lang),)
    if placed is not None:
        front = ("#", *front)
        numbers = {start: str(placed[run]) for run, start in starts.items()}
        for index, row in enumerate(rows):
            number = numbers.get(index, "")
            rows[index] = (number, *row)
    places_of_best = _best(scores, starts, digits, len(front))
    best = frozenset(places_of_best)
    labels = [measure.label for measure in scores.measures]
    head = (*front, *labels)
    kinds: list[Kind | bool] = [True] * len(head)
    kinds[: len(front)] = ["id"] * len(front)
    starred = placed is not None
    table = Table("", head, tuple(rows), tuple(kinds), best=best, starred=starred)
    further = _sentences(scores, digits)
    data = data_notes(scores.audit, scores.conventions, lang, further=further)
    notes: list[Details | str] = [*about, data]
    if starred:
        notes.insert(0, phrase("scores", "starred", lang))
    whole = None
    if not verbose:
        shown = scores, digits, by, intervals, about, ranks
        whole = partial(of_runs, *shown, lang=lang, verbose=True)
    return Sheet("", parts=(table,), notes=tuple(notes), whole=whole)


def _over_fewer(scores: Averaged, run: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the means of a run without queries that one may want to leave out, and which are left."""
    alignment = scores.conventions["alignment"]
    if scores.audit.runs[run].missing and alignment["missing"] == "zero":
        means = scores.mean(without="missing")
        yield "answered", means.filter(run=run)
    share = scores.share_of(run, "no_relevant")
    if alignment["empty"] in ("zero", "one") and share > _MANY_EMPTY:
        means = scores.mean(without="no_relevant")
        yield "with_relevant", means.filter(run=run)


def _sentences(scores: Averaged, digits: int) -> Iterator[str]:
    """Yield the means over fewer queries by the first measure that shows other ones there."""
    values: dict[str, list[str]] = {}
    for run, means in scores.to_dict().items():
        for queries, frame in _over_fewer(scores, run):
            for measure, value in zip(scores.measures, frame["value"], strict=True):
                text = cell(value, digits=digits)
                over_all = cell(means[str(measure)], digits=digits)
                if text != over_all:
                    sentence = f"{measure.label} over {_QUERIES[queries]}"
                    by_run = values.setdefault(sentence, [])
                    by_run.append(f"{text} ({run})")
                    break
    for sentence, by_run in values.items():
        yield f"{sentence} {some(by_run)}"


def _best(
    scores: Averaged, starts: Mapping[str, int], digits: int, first: int
) -> Iterator[tuple[int, int]]:
    """Yield row and column of the best mean by each measure, and of those that are shown alike."""
    means = scores.to_dict()
    if len(starts) == 1:
        return
    for column, measure in enumerate(scores.measures, first):
        name = str(measure)
        known = []
        for by_measure in means.values():
            mean = by_measure[name]
            if mean is not None:
                known.append(mean)
        direction = measure.card.direction
        if not known or direction == "neither":
            continue
        best = min(known)
        if direction == "higher":
            best = max(known)
        shown = cell(best, digits=digits)
        for run, row in starts.items():
            value = cell(means[run][name], digits=digits)
            if value == shown:
                yield row, column


def _rows(
    scores: Averaged,
    run: str,
    digits: int,
    by: Sequence[str],
    intervals: pl.DataFrame | None,
    lang: str,
    *,
    verbose: bool,
) -> Iterator[Row]:
    ends = {}
    if intervals is not None:
        ends = _ends(intervals.filter(run=run), digits)
    row = [printable(run)]
    for name, mean in scores.to_dict()[run].items():
        shown = cell(mean, digits=digits)
        end = ends.get(name, "")
        row.append(f"{shown}{end}")
    yield tuple(row)
    fewer: Iterable[tuple[str, pl.DataFrame]] = ()
    if verbose:
        fewer = _over_fewer(scores, run)
    for queries, frame in fewer:
        which = phrase("scores", queries, lang, n=max(frame["n"]))
        values = (cell(value, digits=digits) for value in frame["value"])
        yield f"  … {which}", *values
    if by:
        frame = scores.mean(by=by).filter(run=run)
        for segment in frame.partition_by(list(by), maintain_order=True):
            what = ", ".join(
                f"{printable(name)}={cell(segment[name][0], 'run')}" for name in by
            )
            values = (cell(value, digits=digits) for value in segment["value"])
            yield f"  {what} ({segment['n'].max()!s})", *values


def _ends(intervals: pl.DataFrame, digits: int) -> dict[str, str]:
    """Return measure → its interval as text, with a blank in front."""
    rows = intervals.drop_nulls("low").select("measure", "low", "high").iter_rows()
    ends = {}
    for name, low, high in rows:
        end = "∞"
        if high is not None:
            end = cell(high, digits=digits)
        ends[name] = f" [{cell(low, digits=digits)}, {end}]"
    return ends


def of_measures(
    scores: Averaged,
    runs: Sequence[str],
    digits: int,
    groups: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
) -> Sheet:
    """Return means as a sheet: one row for each measure, groups of users below it, one column for each run.

    Parameters
    ----------
    scores, digits
        As for :func:`of_runs`.
    runs
        Their names.
    groups
        Column of the user table → means by it, and the largest gaps between its groups.
    """
    values = {
        (run, measure): value for run, measure, value, *_ in scores.mean().iter_rows()
    }
    rows: list[Row] = []

    def add(name: str, by_run: Mapping[str, float | None]) -> None:
        cells = [cell(by_run.get(run), digits=digits) for run in runs]
        rows.append((name, *cells))

    for each in scores.measures:
        measure = str(each)
        add(each.label, {run: values[run, measure] for run in runs})
        for column, (means, gaps) in groups.items():
            by_group: dict[object, dict[str, float | None]] = {}
            for run, group, what, value, *_ in means.iter_rows():
                if what == measure:
                    by_group.setdefault(group, {})[run] = value
            for group, by_run in by_group.items():
                shown = "–"
                if group is not None:
                    shown = printable(group)
                add(f"  {printable(column)}={shown}", by_run)
            if by_group:
                largest = {
                    run: gap
                    for run, what, _, gap, *_ in gaps.iter_rows()
                    if what == measure
                }
                add("  largest gap", largest)
    table = Table(
        "",
        ("measure", *map(printable, runs)),
        tuple(rows),
        ("id", *(True for _ in runs)),
    )
    return Sheet(
        "", parts=(table,), notes=(data_notes(scores.audit, scores.conventions),)
    )
