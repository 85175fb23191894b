"""Conventions of other libraries: read a library's words, align as it does, put the scores together.

The conductor of conventions for whole lists: a library's words, its rules of order, its numbers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import quoted
from rankstone.conventions.convention_files import confused, convention, refused, refused_grade, witnesses
from rankstone.conventions.library_convention import Convention, named
from rankstone.errors import (
    BadLine,
    BadOption,
    BadParameter,
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    MixedIds,
    RankstoneError,
    UnknownFormat,
    UsageError,
    printable,
)
from rankstone.evaluation.prepared import Given, Prepared
from rankstone.evaluation.request import RunErrors, name_runs
from rankstone.evaluation.scores import RunScores, Scores
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.measure import Scored, Status
from rankstone.rankings.recommendation.beyond_accuracy import measured
from rankstone.rankings.recommendation.beyond_scores import BeyondScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.conventions.library_convention import Reading
    from rankstone.hits.alignment_audit import Audit
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.measures.core.definition import Named
    from rankstone.measures.core.measure import Measure
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables

    Progress = Callable[[int], None]

#: what may be said beside a convention, since no library has a say in it
_FREE = frozenset({"order", "depth", "candidates", "exclude_from"})
#: options about judgments beside the lists
_OF_JUDGMENTS = ("pool", "unjudged", "missing", "extra")
#: files that no library could read
_UNREADABLE = (BadLine, EmptyInput, MissingColumn, MixedIds, UnknownFormat)


def evaluate_by(
    library: str | Convention,
    given: Given,
    measures: object,
    *,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - those of EvaluationKeywords that the library does not decide
) -> Scores:
    """Score runs as a library does: its spelling of measures, its rules, its numbers.

    Parameters
    ----------
    library
        ``"xgboost"``, ``"xgboost-3.2"``, or a convention.
    given
        Judgments and runs, or a table with scores and labels.
    measures, on_bad_run, progress, **options
        As for :func:`rankstone.evaluate`; options that the library decides are refused.
    """
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _of_judgments(meant, measures)
    beside = _beside(meant, options)
    parts: list[Scores] = []
    named, bad = name_runs(given.runs), RunErrors(on_bad_run)
    for group in _groups(readings):
        decided = group[0].options
        if given.table is not None:  # such a table is all there is
            decided = {name: value for name, value in decided.items() if name not in _OF_JUDGMENTS}
        options = {**beside, **decided}
        witnesses = _witnesses(group, options)
        wanted = (*(r.measure for r in group), *witnesses.values())
        if given.table is not None:
            walked = given.walk(wanted, progress=progress, **options)
        else:
            ready = Prepared(given.qrels, wanted, **options)  # type: ignore[arg-type] # any object
            ready = ready if group[0].entry.declared else ready.of_rows()
            _check_grades(meant, group, _grades(ready))
            left = {name: run for name, run in named.items() if name not in bad.by_run}
            walked = ready.walk(left, progress=progress, on_bad_run=on_bad_run)
        parts.append(Scores(*walked))
        bad.by_run |= parts[-1].audit.bad_runs
        _check_refusals(meant, group, parts[-1], witnesses)
    found = _together(meant, readings, parts)
    return replace(found, audit=replace(found.audit, bad_runs=bad.by_run))


def read_one(
    library: str | Convention, measure: object, given: Mapping[str, Any]
) -> tuple[Reading, dict[str, Any]]:
    """Return what a library means by one measure, and the arguments of an evaluator that computes it."""
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _of_judgments(meant, measure)
    if len(readings) != 1:
        raise BadOption("one measure at a time", given=" ".join(reading.text for reading in readings))
    return readings[0], {**_beside(meant, given), **readings[0].options}


def told_by(
    libraries: Sequence[Convention],
    qrels: object,
    run: object,
    measures: Sequence[str],
    **options: Any,  # noqa: ANN401 - tables beside the run
) -> dict[str, dict[str, float | str | None]]:
    """Return what each library says to measures in our words: a number, none, or why it has none.

    Libraries without a measure are left out of its answers.
    """
    told: dict[str, dict[str, float | str | None]] = {measure: {} for measure in measures}
    for meant in libraries:
        for measure in measures:
            try:
                readings = _of_judgments(meant, measure)
            except UsageError:
                continue
            try:
                scores = evaluate_by(meant, Given(qrels, run), [r.text for r in readings], **options)
                told[measure][str(meant)] = next(iter(next(iter(scores.to_dict().values())).values()))
            except RankstoneError as error:
                if isinstance(error, _UNREADABLE) or type(error) is InputError:  # by no library
                    raise
                told[measure][str(meant)] = f"refuses: {error.what}"
    return told


def _of_judgments(meant: Convention, measures: object) -> tuple[Reading, ...]:
    """Read measures, and refuse those of whole lists."""
    readings = meant.read(measures)
    for reading in readings:
        if reading.entry.of_lists:
            raise BadParameter(
                f"{reading.text} of {meant.title} measures whole lists, not lists against judgments",
                fix=f"rankstone beyond RUN --convention {meant} -m {quoted(reading.text)} "
                "(in Python rankstone.beyond with the same convention)",
            )
    return readings


def _beside(meant: Convention, options: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse options that the library decides, and leave the others."""
    decided = {"one_group", *AlignmentOptions().as_dict()} - _FREE
    for option, value in options.items():
        if option in decided and value is not False:
            raise BadOption(
                f"{meant.title} decides {option}: {option}={value} cannot be asked of it",
                fix=f"leave {option} or the convention out; rankstone conventions show {meant}",
            )
    return {name: value for name, value in options.items() if name != "one_group"}


def _groups(readings: Sequence[Reading]) -> list[list[Reading]]:
    """Bring together what is aligned alike, so that the run is read as seldom as can be."""
    found: dict[object, list[Reading]] = {}
    for reading in readings:
        found.setdefault(reading.key, []).append(reading)
    return list(found.values())


def _grades(ready: Prepared) -> Floats:
    """Return the grades, and what else a library reads.

    That are fractions below zero, which it does away with later, and every subtopic's grade of a document.
    """
    found = ready.judgments()
    read = [found.grade]
    if found.groups is not None:
        read.append(found.groups.grade)
    if found.negative:
        given = ready.given_grades().to_numpy()
        read.append(given[(given < 0) & (given % 1 != 0)])
    return np.concatenate(read)


def _check_grades(meant: Convention, readings: Sequence[Reading], grades: Floats) -> None:
    """Refuse grades that the library refuses."""
    for reading in readings:
        grade = refused_grade(reading.entry, grades)
        if grade is not None:
            raise BadValue(
                f"{meant.title} refuses grade {grade:g} for {reading.text}",
                expected=str(reading.entry.grades),
            )


def _witnesses(group: Sequence[Reading], options: Mapping[str, Any]) -> dict[str, Measure]:
    """Return the measures that betray what the library refuses."""
    alignment = AlignmentOptions.of({k: v for k, v in options.items() if k in AlignmentOptions().as_dict()})
    return witnesses((reading.entry for reading in group), alignment)


def _check_refusals(
    meant: Convention, group: Sequence[Reading], scores: Scores, asked: Mapping[str, Measure]
) -> None:
    """Refuse what the library raises errors for: lists it cannot take, and a mean over nobody."""
    for run in scores.runs.values():
        betrayed = {name: run.by_measure[witness] for name, witness in asked.items()}
        for reading in group:
            found = refused(reading.entry, run.by_measure[reading.measure], betrayed)
            if found is None:
                continue
            said = f"{meant.title} refuses {reading.text}: {found.why}"
            if found.query is None:
                raise BadValue(said)
            where = "every query" if found.every else f"query {printable(run.queries[found.query])}"
            raise BadValue(said, where=where)


def _together(meant: Convention, readings: Sequence[Reading], parts: Sequence[Scores]) -> Scores:
    """Make one result of several: every query that any measure counts, in the order first met."""
    runs = {
        name: _joined([part.runs[name] for part in parts], [r.measure for r in readings])
        for name in parts[-1].runs  # those of the last group were left in by all
    }
    if any(reading.entry.summed == "by_id" for reading in readings):
        runs = {name: _by_id(run) for name, run in runs.items()}
    usual = AlignmentOptions().as_dict()
    said = {
        reading.text: {
            "ours": reading.ours,
            "options": {name: v for name, v in reading.entry.options.items() if usual.get(name) != v},
        }
        for reading in readings
    }
    conventions = {
        "convention": str(meant),
        "measures": [reading.text for reading in readings],
        "meaning": said,
        "alignment": parts[0].conventions["alignment"],
        "defaults": {},
    }
    return Scores(
        runs,
        tuple(r.measure for r in readings),
        _warned(meant, readings, parts[0].audit, runs),
        conventions,
        parts[-1].inputs,
    )


def _by_id(run: RunScores) -> RunScores:
    """Put queries in the order of their ids' bytes, in which some libraries add them up."""
    order = run.queries.cast(pl.String).arg_sort().to_numpy()
    by_measure = {measure: Scored.joined([scored], order) for measure, scored in run.by_measure.items()}
    return RunScores(run.queries[order], by_measure, None if run.about is None else run.about[order])


def _warned(
    meant: Convention, readings: Sequence[Reading], audit: Audit, runs: Mapping[str, RunScores]
) -> Audit:
    """Add what a reader must know of query ids that the library would take otherwise."""
    patterns = {reading.entry.topics for reading in readings} - {None}
    found = {
        name: tuple(
            one for p in patterns for one in confused(meant.title, str(p), run.queries.cast(pl.String))
        )
        for name, run in runs.items()
    }
    told = {n: replace(audit.runs[n], warnings=(*audit.runs[n].warnings, *found[n])) for n in runs}
    return replace(audit, runs=told)


def _joined(parts: Sequence[RunScores], measures: Sequence[Measure]) -> RunScores:
    if len(parts) == 1:
        return RunScores(parts[0].queries, {m: parts[0].by_measure[m] for m in measures}, parts[0].about)
    queries = pl.concat([part.queries.cast(pl.String) for part in parts]).unique(maintain_order=True)
    numbered = pl.DataFrame({"query": queries}).with_row_index("place")
    by_measure: dict[Measure, Scored] = {}
    for part in parts:
        own = pl.DataFrame({"query": part.queries.cast(pl.String)})
        place = own.join(numbered, on="query", how="left", maintain_order="left")["place"].to_numpy()
        by_measure |= {m: _spread(scored, place, len(queries)) for m, scored in part.by_measure.items()}
    return RunScores(queries, {m: by_measure[m] for m in measures})


def _spread(scored: Scored, place: Ints, count: int) -> Scored:
    """Give scores their places among all queries; others are not counted."""

    def column(values: Floats, rest: float) -> Floats:
        whole = np.full(count, rest)
        whole[place] = values
        return whole

    status = np.full(count, Status.dropped, np.int8)
    status[place] = scored.status
    weight = None if scored.weight is None else column(scored.weight, 0.0)
    return Scored(
        column(scored.numerator, 0.0),
        column(scored.denominator, 0.0),
        column(scored.value, np.nan),
        status,
        weight,
    )


#: what may be said beside a convention, since no library has a say in it
_FREE_BEYOND: Final = frozenset({"order", "depth"})


def beyond_by(
    library: str | Convention,
    runs: object,
    measures: object = None,
    **beside: Any,  # noqa: ANN401 - tables beside the run, and options of order
) -> BeyondScores:
    """Measure runs beyond accuracy as a library does: its spelling of measures, its rules, its numbers.

    Parameters
    ----------
    library
        ``"rectools"``, ``"rectools-0.19"``, or a convention.
    runs, measures, **beside
        As for :func:`rankstone.beyond`, every table said; options that the library decides are refused.
    """
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _readings(meant, measures)
    _refuse_decided(meant, beside)
    parts: list[BeyondScores] = []
    for group in _beyond_groups(readings):
        witnesses: dict[str, Any] = {x.measure: named(x.measure) for r in group for x in r.entry.refuses}
        asked = [*(r.measure for r in group), *witnesses.values()]
        parts.append(measured(runs, asked, optional=measures is None, **{**group[0].options, **beside}))
        _check_beyond_refusals(meant, parts[-1], group, witnesses)
    return _beyond_together(meant, readings, parts)


def _readings(meant: Convention, measures: object) -> tuple[Reading, ...]:
    """Read measures of whole lists, all there are where none is named, and refuse others."""
    everything = meant.everything(of_lists=True)
    if not everything:
        raise UsageError(
            f"nothing is known of what {meant.title} measures beyond accuracy",
            fix=f"leave the convention out; rankstone conventions show {meant}",
        )
    readings = meant.read(everything if measures is None else measures)
    for reading in readings:
        if not reading.entry.of_lists:
            raise BadParameter(
                f"{reading.text} of {meant.title} measures lists against judgments, not whole lists",
                expected=", ".join(everything),
                fix=f"rankstone eval QRELS RUN --convention {meant} -m {quoted(reading.text)} "
                "(in Python rankstone.evaluate with the same convention)",
            )
    return readings


def _refuse_decided(meant: Convention, beside: Mapping[str, Any]) -> None:
    """Refuse options that the library decides."""
    for option in set(AlignmentOptions().as_dict()) - _FREE_BEYOND:
        if option in beside:
            raise BadOption(
                f"{meant.title} decides {option}: {option}={beside[option]} cannot be asked of it",
                fix=f"leave {option} or the convention out; rankstone conventions show {meant}",
            )


def _beyond_groups(readings: Sequence[Reading]) -> list[list[Reading]]:
    """Bring together what is ordered alike, so that the run is read as seldom as can be."""
    found: dict[object, list[Reading]] = {}
    for reading in readings:
        found.setdefault(reading.key, []).append(reading)
    return list(found.values())


def _check_beyond_refusals(
    meant: Convention, scores: BeyondScores, group: Sequence[Reading], witnesses: Mapping[str, Any]
) -> None:
    """Refuse lists that the library raises errors for; measures of ours are witnesses to them."""
    for run in scores.runs.values():
        for reading in group:
            for refusal in reading.entry.refuses:
                scored = run.by_measure.get(witnesses[refusal.measure])
                if scored is None:  # a table that nobody gave
                    continue
                none = scored.status == Status.undefined
                guilty = none if refusal.value is None else scored.value == refusal.value
                if guilty.any() and (not refusal.every or guilty.all()):
                    query = printable(str(run.queries[int(guilty.argmax())]))
                    raise BadValue(
                        f"{meant.title} refuses {reading.text}: {refusal.why}",
                        where="every list" if refusal.every else f"the list of {query}",
                    )


def _beyond_together(
    meant: Convention, readings: Sequence[Reading], parts: Sequence[BeyondScores]
) -> BeyondScores:
    """Make one result of several; every part has the same users in the same order."""
    allowed = {measure for part in parts for measure in part.measures}
    found = [reading for reading in readings if reading.measure in allowed]
    if not found:
        raise UsageError(
            f"no measure of {meant.title} can be computed from what is given",
            fix="add tables: items, history, qrels, baseline, catalogue_size",
        )
    runs: dict[str, RunScores] = {}
    for name, first in parts[0].runs.items():
        by_measure = {m: scored for part in parts for m, scored in part.runs[name].by_measure.items()}
        ordered = {r.measure: by_measure[r.measure] for r in found if r.measure in by_measure}
        runs[name] = RunScores(first.queries, ordered, first.about)
    meaning = {r.text: {"ours": r.ours, "options": r.entry.chosen} for r in found}
    conventions = {
        "convention": str(meant),
        "measures": list(meaning),
        "meaning": meaning,
        "alignment": parts[0].conventions["alignment"],
        "defaults": {},
    }
    return BeyondScores(
        runs,
        tuple(r.measure for r in found),
        parts[0].audit,
        conventions,
        parts[0].inputs,
        opening=partial(_opened, parts),
        whole={name: {m: v for part in parts for m, v in part.whole[name].items()} for name in runs},
    )


def _opened(parts: Sequence[BeyondScores], measure: Named, run: str) -> tuple[ListFrame, Tables]:
    """Read the lists of a measure again, by the rules under which it was computed."""
    part = next(one for one in parts if measure in one.measures)
    assert part.opening is not None  # noqa: S101 - every part was measured
    return part.opening(measure, run)
