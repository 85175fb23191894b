"""Evaluation by the conventions of another library: its measure names, its alignment, its numbers.

Judgment-based measures (:func:`evaluate_by`) and measures of whole lists (:func:`beyond_by`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import quoted
from rankstone.conventions.convention_files import (
    confused_ids,
    convention,
    refused,
    refused_grade,
    witnesses,
)
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
from rankstone.evaluation.labelled_table import Given
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import RunErrors, name_runs
from rankstone.evaluation.scores import RunScores, Scores
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures.core.measure import Scored, Status
from rankstone.rankings.recommendation.beyond_accuracy import measure_runs
from rankstone.rankings.recommendation.beyond_scores import BeyondScores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Floats, Ints, Progress
    from rankstone.conventions.library_convention import Reading
    from rankstone.hits.alignment_audit import Audit
    from rankstone.measures.core.definition import Named
    from rankstone.measures.core.measure import Measure
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


#: options that can be given with a convention, because no library decides them
_FREE: Final = frozenset({"order", "depth", "candidates", "exclude_from"})
_FREE_BEYOND: Final = frozenset({"order", "depth"})
#: options about judgments, which a labelled table does not have
_JUDGMENT_OPTIONS: Final = ("pool", "unjudged", "missing", "extra")
#: errors of files that no library could read
_UNREADABLE = (BadLine, EmptyInput, MissingColumn, MixedIds, UnknownFormat)


def scores_by(
    convention: str | None,
    qrels: Any,  # noqa: ANN401 - judgments, as for evaluate
    runs: Any,  # noqa: ANN401 - runs, as for evaluate
    measures: Any,  # noqa: ANN401 - measures, or a library's names of some
    *,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - those of EvaluationKeywords
) -> Scores:
    """Score runs by a library's definitions, or by our own if none is named; arguments as for evaluate."""
    if convention is None:
        return Prepared(qrels, measures, **options).evaluate(runs, progress=progress)
    return evaluate_by(
        convention, Given(qrels, runs), measures, progress=progress, **options
    )


def evaluate_by(
    library: str | Convention,
    inputs: Given,
    measures: object,
    *,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - those of EvaluationKeywords that the library does not decide
) -> Scores:
    """Score runs as another library does: its names of measures, its rules, its numbers.

    Parameters
    ----------
    library
        ``"xgboost"``, ``"xgboost-3.2"``, or a convention.
    inputs
        Judgments and runs, or a table with scores and labels.
    measures, on_bad_run, progress, **options
        As for :func:`rankstone.evaluate`; options that the library decides are refused.
    """
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _judgment_readings(meant, measures)
    given_options = _allowed_options(meant, options)
    parts: list[Scores] = []
    named = name_runs(inputs.runs)
    bad = RunErrors(on_bad_run)
    for group in _groups(readings):
        decided = group[0].options
        if inputs.table is not None:  # it has no separate judgments
            decided = {
                name: value
                for name, value in decided.items()
                if name not in _JUDGMENT_OPTIONS
            }
        options = {**given_options, **decided}
        witnesses = _witnesses(group, options)
        needed = (*(r.measure for r in group), *witnesses.values())
        try:
            if inputs.table is not None:
                scored = inputs.score_runs(needed, progress=progress, **options)
            else:
                ready = Prepared(inputs.qrels, needed, **options)  # type: ignore[arg-type] # any object
                ready = group[0].entry.as_read(ready, options)
                _check_grades(meant, group, _grades(ready))
                good = {
                    name: run for name, run in named.items() if name not in bad.by_run
                }
                scored = ready.score_runs(
                    good, progress=progress, on_bad_run=on_bad_run
                )
        except InputError as error:
            _as_error_of(meant, decided, error)
            raise
        parts.append(Scores(*scored))
        bad.by_run |= parts[-1].audit.bad_runs
        _check_refusals(meant, group, parts[-1], witnesses)
    scores = _together(meant, readings, parts)
    return replace(scores, audit=replace(scores.audit, bad_runs=bad.by_run))


def _as_error_of(
    meant: Convention, decided: Mapping[str, Any], error: InputError
) -> None:
    """Say of an error against which advice would not help that the library raises one, too."""
    for failure in getattr(error, "errors", {"": error}).values():
        for option, value in decided.items():
            if value == "error" and f"{option}=" in (failure.fix or ""):
                failure.expected = f"another list: {meant.title} raises an error here"
                failure.fix = None


def read_one(
    library: str | Convention, measure: object, options: Mapping[str, Any]
) -> tuple[Reading, dict[str, Any]]:
    """Return what a library means by one measure, and the options under which it is computed."""
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _judgment_readings(meant, measure)
    if len(readings) != 1:
        raise BadOption(
            "one measure at a time",
            given=" ".join(reading.text for reading in readings),
        )
    return readings[0], {**_allowed_options(meant, options), **readings[0].options}


def values_by(
    libraries: Sequence[Convention],
    qrels: object,
    run: object,
    measures: Sequence[str],
    **options: Any,  # noqa: ANN401 - side tables
) -> dict[str, dict[str, float | str | None]]:
    """Return measure → library → its value: a number, ``None``, or the reason why the library refuses.

    Libraries that do not have a measure are left out.
    """
    values: dict[str, dict[str, float | str | None]] = {
        measure: {} for measure in measures
    }
    for meant in libraries:
        for measure in measures:
            try:
                readings = _judgment_readings(meant, measure)
            except UsageError:
                continue
            try:
                scores = evaluate_by(
                    meant, Given(qrels, run), [r.text for r in readings], **options
                )
                values[measure][str(meant)] = next(
                    iter(next(iter(scores.to_dict().values())).values())
                )
            except RankstoneError as error:
                if (
                    isinstance(error, _UNREADABLE) or type(error) is InputError
                ):  # no library can read it
                    raise
                values[measure][str(meant)] = f"refuses: {error.what}"
    return values


def _meaning(reading: Reading, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what a library means by a name, and what matters on data with these counts."""
    entry = reading.entry
    remarks = entry.remarks(counts)
    note = {"note": remarks} if remarks else {}
    return {"ours": reading.ours, "options": entry.chosen, **note}


def _counts(audits: Sequence[Audit]) -> dict[str, int]:
    """Return the counts of the data on which remarks hang, the largest of all runs."""
    runs = [run for audit in audits for run in audit.runs.values()]
    judgments = audits[0].judgments
    return {
        "duplicates": max((run.duplicates for run in runs), default=0),
        "tied": max((run.tied for run in runs), default=0),
        "negative": 0 if judgments is None else judgments.negative,
    }


def _judgment_readings(meant: Convention, measures: object) -> tuple[Reading, ...]:
    """Parse measures of a library; refuse those of whole lists."""
    readings = meant.read(measures)
    for reading in readings:
        if reading.entry.of_lists:
            raise BadParameter(
                f"{reading.text} of {meant.title} measures whole lists, not lists against judgments",
                fix=f"rankstone beyond RUN --convention {meant} -m {quoted(reading.text)} "
                "(in Python rankstone.beyond with the same convention)",
            )
    return readings


def _allowed_options(
    meant: Convention, options: Mapping[str, Any], free: frozenset[str] = _FREE
) -> dict[str, Any]:
    """Return the options that the library does not decide; refuse the others."""
    decided = {"one_group", *AlignmentOptions().as_dict()} - free
    if not any("duplicate_judgments" in entry.options for entry in meant.entries):
        # judgments that are merged for it are its own matter
        decided -= {"duplicate_judgments"}
    for option, value in options.items():
        if option in decided and value is not False:
            raise BadOption(
                f"{meant.title} decides {option}, so {option}={value} cannot be chosen",
                fix=f"remove {option} or the convention; {meant.shown_by}",
            )
    return {name: value for name, value in options.items() if name != "one_group"}


def _groups(readings: Sequence[Reading]) -> list[list[Reading]]:
    """Group readings with the same alignment, so that runs are read as few times as possible."""
    groups: dict[object, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.key, []).append(reading)
    return list(groups.values())


def _grades(ready: Prepared) -> Floats:
    """Return all grades that a library reads.

    Besides the prepared ones these are fractions below zero, which a library may drop later, and the grades
    of each subtopic.
    """
    judgments = ready.judgments()
    grades = [judgments.grade]
    if judgments.groups is not None:
        grades.append(judgments.groups.grade)
    if judgments.negative:
        raw_grades = ready.given_grades().to_numpy()
        is_negative_fraction = (raw_grades < 0) & (raw_grades % 1 != 0)
        grades.append(raw_grades[is_negative_fraction])
    return np.concatenate(grades)


def _check_grades(
    meant: Convention, readings: Sequence[Reading], grades: Floats
) -> None:
    """Refuse grades that the library refuses."""
    for reading in readings:
        grade = refused_grade(reading.entry, grades)
        if grade is not None:
            raise BadValue(
                f"{meant.title} refuses grade {grade:g} for {reading.text}",
                expected=str(reading.entry.grades),
            )


def _witnesses(
    group: Sequence[Reading], options: Mapping[str, Any]
) -> dict[str, Measure]:
    """Return the measures whose values show what the library refuses."""
    alignment = AlignmentOptions.of(
        {k: v for k, v in options.items() if k in AlignmentOptions().as_dict()}
    )
    return witnesses((reading.entry for reading in group), alignment)


def _check_refusals(
    meant: Convention,
    group: Sequence[Reading],
    scores: Scores,
    witnesses: Mapping[str, Measure],
) -> None:
    """Refuse what the library raises errors for: lists it cannot handle, and a mean over no query."""
    for run in scores.runs.values():
        observed = {
            name: run.by_measure[witness] for name, witness in witnesses.items()
        }
        for reading in group:
            refusal = refused(reading.entry, run.by_measure[reading.measure], observed)
            if refusal is None:
                continue
            where = None
            if refusal.query is not None:
                query = f"query {printable(run.queries[refusal.query])}"
                where = "every query" if refusal.every else query
            raise BadValue(
                f"{meant.title} refuses {reading.text}: {refusal.why}", where=where
            )


def _together(
    meant: Convention, readings: Sequence[Reading], parts: Sequence[Scores]
) -> Scores:
    """Join several results: every query that any measure counts, in the order of first occurrence."""
    runs = {
        name: _joined(
            [part.runs[name] for part in parts], [r.measure for r in readings]
        )
        for name in parts[-1].runs  # the runs that are good in all groups
    }
    if any(reading.entry.summed == "by_id" for reading in readings):
        runs = {name: _by_id(run) for name, run in runs.items()}
    return Scores(
        runs,
        tuple(r.measure for r in readings),
        _with_warnings(meant, readings, parts, runs),
        _recorded(
            meant,
            readings,
            parts[0].conventions["alignment"],
            _counts([part.audit for part in parts]),
        ),
        parts[-1].inputs,
    )


def _recorded(
    meant: Convention,
    readings: Sequence[Reading],
    alignment: object,
    counts: Mapping[str, int],
) -> dict[str, Any]:
    """Return what a result records of its convention."""
    meaning = {reading.text: _meaning(reading, counts) for reading in readings}
    return {
        "convention": str(meant),
        "measures": list(meaning),
        "meaning": meaning,
        "alignment": alignment,
        "defaults": {},
    }


def _by_id(run: RunScores) -> RunScores:
    """Sort queries by the bytes of their ids: the order in which some libraries sum them."""
    order = run.queries.cast(pl.String).arg_sort().to_numpy()
    by_measure = {
        measure: Scored.joined([scored], order)
        for measure, scored in run.by_measure.items()
    }
    return RunScores(
        run.queries[order], by_measure, None if run.about is None else run.about[order]
    )


def _with_warnings(
    meant: Convention,
    readings: Sequence[Reading],
    parts: Sequence[Scores],
    runs: Mapping[str, RunScores],
) -> Audit:
    """Add warnings about ids that the library reads differently, and queries outside means of any part."""
    audit = parts[0].audit
    patterns = {reading.entry.topics for reading in readings} - {None}
    audits = {}
    for name, run in runs.items():
        ids = run.queries.cast(pl.String)
        warnings = [
            warning
            for pattern in patterns
            for warning in confused_ids(meant.title, str(pattern), ids)
        ]
        audits[name] = replace(
            audit.runs[name],
            warnings=(*audit.runs[name].warnings, *warnings),
            **_outside_means(readings, parts, name),
        )
    return replace(audit, runs=audits)


def _outside_means(
    readings: Sequence[Reading], parts: Sequence[Scores], run: str
) -> dict[str, Any]:
    """Count the queries outside means, each measure under the options of its part."""
    wanted = {reading.measure for reading in readings}
    outside: dict[str, Any] = {"undefined": {}, "dropped": {}}
    for part in parts:
        scores = part.runs[run].by_measure
        chosen = {m: scored for m, scored in scores.items() if m in wanted}
        for name, counts in outside_means(
            chosen, part.conventions["alignment"]
        ).items():
            outside[name] |= counts
    return outside


def _joined(parts: Sequence[RunScores], measures: Sequence[Measure]) -> RunScores:
    if len(parts) == 1:
        return RunScores(
            parts[0].queries,
            {m: parts[0].by_measure[m] for m in measures},
            parts[0].about,
        )
    queries = pl.concat([part.queries.cast(pl.String) for part in parts]).unique(
        maintain_order=True
    )
    numbered = pl.DataFrame({"query": queries}).with_row_index("place")
    by_measure: dict[Measure, Scored] = {}
    for part in parts:
        own = pl.DataFrame({"query": part.queries.cast(pl.String)})
        place = own.join(numbered, on="query", how="left", maintain_order="left")[
            "place"
        ].to_numpy()
        by_measure |= {
            m: _among_all_queries(scored, place, len(queries))
            for m, scored in part.by_measure.items()
        }
    return RunScores(queries, {m: by_measure[m] for m in measures})


def _among_all_queries(scored: Scored, place: Ints, count: int) -> Scored:
    """Return scores of all queries, from those of the queries at ``place``; the others are ``dropped``."""

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


def beyond_by(
    library: str | Convention,
    runs: object,
    measures: object = None,
    **options: Any,  # noqa: ANN401 - side tables, and options of order
) -> BeyondScores:
    """Measure runs beyond accuracy as another library does: its names of measures, its rules, its numbers.

    Parameters
    ----------
    library
        ``"rectools"``, ``"rectools-0.19"``, or a convention.
    runs, measures, **options
        As for :func:`rankstone.beyond`; options that the library decides are refused.
    """
    meant = library if isinstance(library, Convention) else convention(library)
    readings = _list_readings(meant, measures)
    options = _allowed_options(meant, options, _FREE_BEYOND)
    parts: list[BeyondScores] = []
    for group in _groups(readings):
        witnesses: dict[str, Any] = {
            x.measure: named(x.measure) for r in group for x in r.entry.refuses
        }
        needed = [*(r.measure for r in group), *witnesses.values()]
        parts.append(
            measure_runs(
                runs,
                needed,
                optional=measures is None,
                by_ranks=group[0].entry.by_ranks and "order" not in options,
                **{**group[0].options, **options},
            )
        )
        _check_beyond_refusals(meant, parts[-1], group, witnesses)
    return _beyond_together(meant, readings, parts)


def _list_readings(meant: Convention, measures: object) -> tuple[Reading, ...]:
    """Parse measures of whole lists, by default all of the library; refuse others."""
    everything = meant.everything(of_lists=True)
    if not everything:
        raise UsageError(
            f"no measure beyond accuracy of {meant.title} is known",
            fix=f"remove the convention; {meant.shown_by}",
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


def _check_beyond_refusals(
    meant: Convention,
    scores: BeyondScores,
    group: Sequence[Reading],
    witnesses: Mapping[str, Any],
) -> None:
    """Refuse lists that the library raises errors for; our measures show which these are."""
    for run in scores.runs.values():
        for reading in group:
            for refusal in reading.entry.refuses:
                scored = run.by_measure.get(witnesses[refusal.measure])
                if scored is None:  # its table is not given
                    continue
                none = scored.status == Status.undefined
                bad = none if refusal.value is None else scored.value == refusal.value
                if bad.any() and (not refusal.every or bad.all()):
                    query = printable(str(run.queries[int(bad.argmax())]))
                    raise BadValue(
                        f"{meant.title} refuses {reading.text}: {refusal.why}",
                        where="every list" if refusal.every else f"the list of {query}",
                    )


def _beyond_together(
    meant: Convention, readings: Sequence[Reading], parts: Sequence[BeyondScores]
) -> BeyondScores:
    """Join several results; all have the same users in the same order."""
    computed = {measure for part in parts for measure in part.measures}
    readings = [reading for reading in readings if reading.measure in computed]
    if not readings:
        raise UsageError(
            f"no measure of {meant.title} can be computed from what is given",
            fix="add tables: items, history, qrels, baseline, catalogue_size",
        )
    runs: dict[str, RunScores] = {}
    for name, first in parts[0].runs.items():
        by_measure = {
            m: scored
            for part in parts
            for m, scored in part.runs[name].by_measure.items()
        }
        ordered = {
            r.measure: by_measure[r.measure]
            for r in readings
            if r.measure in by_measure
        }
        runs[name] = RunScores(first.queries, ordered, first.about)
    audit: Any = parts[0].audit
    audits = {
        name: replace(audit.runs[name], **_outside_means(readings, parts, name))
        for name in runs
    }
    return BeyondScores(
        runs,
        tuple(r.measure for r in readings),
        replace(audit, runs=audits),
        _recorded(meant, readings, parts[0].conventions["alignment"], {}),
        parts[0].inputs,
        opening=partial(_read_again, parts),
        whole={
            name: {m: v for part in parts for m, v in part.whole[name].items()}
            for name in runs
        },
    )


def _read_again(
    parts: Sequence[BeyondScores], measure: Named, run: str
) -> tuple[ListFrame, Tables]:
    """Read the lists of a measure again, under the options with which it was computed."""
    part = next(part for part in parts if measure in part.measures)
    assert part.opening is not None  # noqa: S101 - every part was measured
    return part.opening(measure, run)
