"""Identification: search for the definitions that print a reported number."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Unpack, overload

import numpy as np

from rankstone._basics import Record
from rankstone.conventions.convention_files import refused, refused_grade, witnesses
from rankstone.conventions.identification.candidate_values import Sweeper
from rankstone.conventions.identification.identification_result import Identification
from rankstone.conventions.identification.reported_number import (
    Printed,
    ReportedMeasure,
)
from rankstone.conventions.identification.search_space import (
    Way,
    around,
    library_measures,
    starts,
)
from rankstone.errors import RankstoneError
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs
from rankstone.evaluation.scores import uncounted
from rankstone.hits.alignment_options import AlignmentOptions, takes
from rankstone.measures import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import Bools, Progress
    from rankstone.conventions.identification.candidate_values import Facts, Swept
    from rankstone.conventions.identification.search_space import LibraryMeasure
    from rankstone.evaluation.request import QrelsLike, RunsLike
    from rankstone.measures.core.measure import Measure, Scored


#: the most steps from the defaults, with a reported measure and without one
_REACH, _REACH_UNNAMED = 3, 1
#: other aggregations over queries
_AGGREGATES: Final = ("median", "gmean", "trimmed", "sum", "pooled")
#: the most steps of a way that is near to the defaults
_NEAR: Final = 1


@overload
def identify(
    qrels: QrelsLike,
    runs: RunsLike,
    value: str | float,
    measure: str | Measure | None = None,
    *,
    measures: str | Measure | None = None,
    digits: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Identification: ...
@overload
def identify(
    qrels: QrelsLike,
    runs: RunsLike,
    value: list[str] | tuple[str | float, ...],
    measure: str | Measure | None = None,
    *,
    measures: str | Measure | None = None,
    digits: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> tuple[Identification, ...]: ...
@takes(EvaluationKeywords)
def identify(
    qrels: QrelsLike,
    runs: RunsLike,
    value: str | float | list[str] | tuple[str | float, ...],
    measure: str | Measure | None = None,
    *,
    measures: str | Measure | None = None,
    digits: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Identification | tuple[Identification, ...]:
    """Identify how a reported number was computed: which measure, under which conventions.

    The search starts from the measure under the default options, and from the definitions of such a measure
    in all known libraries, and changes one choice after another: gain, discount, ideal list, denominator,
    threshold, cutoff, ties, unjudged documents, queries without a list or a relevant document, the
    aggregation over queries, rounding of intermediate numbers.  For several runs it also finds the run whose
    value it is, as rows of a table may have been swapped.

    Parameters
    ----------
    qrels, runs, **options
        As for :func:`rankstone.evaluate`; options of alignment are what the search starts from.
    value
        The number as it was printed, best as a text: ``"0.8270"`` has four decimals, ``"82.7"`` may be a
        percentage, ``"82.7 %"`` is one.  Several are identified one by one, each with its own decimals; if
        there are as many as runs, each belongs to the run in its place, and a single one to the first run.
    measure, measures
        Its reported name: ``"nDCG@10"``; ``None`` if unknown.  Both keywords mean the same.
    digits
        Decimals, where the number is not a text that shows them.
    progress
        Called after every alignment with the rows it read.

    Returns
    -------
    Identification
        Groups of ways with the same value: those that print as the number, and the nearest others.  For
        several values a tuple with one result for each.

    Raises
    ------
    InputError
        When a file or table is not what it should be.
    UsageError
        When the value is not a number, or a measure or option does not exist.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": ["b", "a", "x", "c"]}
    >>> identification = identify(qrels, run, "0.8354", "nDCG@10")
    >>> identification.groups[0].simplest.measure, round(identification.groups[0].value, 6)
    ('nDCG(gain=exp2)@10', 0.835448)
    >>> "xgboost-3.2" in identification.groups[0].libraries
    True
    """
    measure = measures if measure is None else measure
    values = value if isinstance(value, (list, tuple)) else [value]
    printed = [Printed.of(number, digits) for number in values]
    searches = _searches(qrels, name_runs(runs), measure, progress, options)
    taken_for = (
        list(searches)
        if len(printed) == len(searches)
        else [next(iter(searches))] * len(printed)
    )
    identifications = tuple(
        _identified(number, name, measure, searches)
        for number, name in zip(printed, taken_for, strict=True)
    )
    if values is not value:
        return identifications[0]
    return identifications


def _identified(
    printed: Printed, taken_for: str, measure: object, searches: Mapping[str, _Search]
) -> Identification:
    """Compare all values with a number, and with rounded intermediate numbers where nothing near fits."""
    ways = [way.against(printed) for search in searches.values() for way in search.ways]
    if not any(way.how is not None and way.away <= _NEAR for way in ways):
        ways += [
            way.against(printed)
            for search in searches.values()
            for way in search.rounded
        ]
    facts = {name: search.facts for name, search in searches.items()}
    defaults = searches[taken_for].sweeper.options
    return Identification.of(printed, taken_for, measure, ways, facts, defaults)


def _searches(
    qrels: QrelsLike,
    runs: Mapping[str, object],
    measure: str | Measure | None,
    progress: Progress | None,
    requested: Mapping[str, Any],
) -> dict[str, _Search]:
    """Read the data, with duplicates that some library allows; judgments once for all runs."""
    reported = None if measure is None else ReportedMeasure.of(measure)
    options = {"duplicates": "first_drop", "duplicate_judgments": "max", **requested}
    ready = Prepared(
        qrels, (reported and reported.measure) or "nDCG", **options
    ).in_memory()
    return {
        name: _Search(name, Sweeper(ready, run, name), reported, progress)
        for name, run in runs.items()
    }


class _Job(Record):
    """The work under one alignment: our measures with their steps, and measures of libraries.

    ``declared`` is true if a query with an empty entry in the judgments counts.
    """

    options: dict[str, Any]
    declared: bool = True
    ours: list[tuple[Measure, int, Mapping[str, Any]]] = field(default_factory=list)
    meant: list[LibraryMeasure] = field(default_factory=list)


class _Search:
    """The search for one run: its data, and its start."""

    def __init__(
        self,
        name: str,
        sweeper: Sweeper,
        reported: ReportedMeasure | None,
        progress: Progress | None,
    ) -> None:
        self.sweeper = sweeper
        self.facts: Facts = sweeper.facts()
        self._name = name
        self._reported = reported
        self._defaults = sweeper.options
        self._reach = _REACH_UNNAMED if reported is None else _REACH
        self._counted = self.facts.counted(self._defaults)
        self._progress = progress or (lambda _rows: None)

    @cached_property
    def _without_empty_entries(self) -> Sweeper:
        return self.sweeper.without_empty_entries()

    def libraries(self) -> Iterator[Way]:
        """Yield only the ways of libraries."""
        jobs: dict[Any, _Job] = {}
        self._plan_libraries(jobs)
        for job in jobs.values():
            yield from self._run(job)
            self._progress(self.facts.run.rows)

    @cached_property
    def ways(self) -> list[Way]:
        """All ways without rounded intermediate numbers."""
        ways: list[Way] = []
        for job in self._plan():
            ways += (way for way in self._run(job) if math.isfinite(way.value))
            self._progress(self.facts.run.rows)
        return ways

    @cached_property
    def rounded(self) -> list[Way]:
        """Ways with rounded intermediate numbers, for measures near to the defaults."""
        return [way for way in self._rounded() if math.isfinite(way.value)]

    def _rounded(self) -> Iterator[Way]:
        reach = min(self._reach, _NEAR) if self._reported is not None else 0
        known = dict(self._around(reach))
        rule = (self._defaults.empty,)
        swept = self.sweeper.sweep(
            dict.fromkeys(known, rule), self._defaults.as_dict(), rounded=True
        )
        for measure, by_rounding in swept.rounded.items():
            for rounding, scored in by_rounding.items():
                counted = _counted(
                    swept, scored, measure, self._defaults.missing, self._defaults.extra
                )
                value = _value(measure, scored, counted)
                yield self._way(
                    value, str(measure), {}, known[measure] + 1, rounding=str(rounding)
                )

    # -- the jobs ---------------------------------------------------------------------------------------
    def _plan(self) -> Iterable[_Job]:
        """Group work by alignment, so that the run is processed as few times as possible."""
        jobs: dict[Any, _Job] = {}
        here = list(self._around(self._reach))
        self._job_under(jobs, {}).ours.extend(
            (measure, steps, {}) for measure, steps in here
        )
        for option, value in self.facts.alignments(self._defaults):
            near = [
                (measure, steps)
                for measure, steps in here
                if steps < self._reach - 1 or steps == 0
            ]
            own = {option: value}
            self._job_under(jobs, own).ours.extend(
                (m, steps + 1, own) for m, steps in near
            )
        self._plan_libraries(jobs)
        return jobs.values()

    def _around(self, reach: int) -> Iterator[tuple[Measure, int]]:
        """Yield measures with their steps from the start; a cutoff counts as given."""
        for start in starts(self._reported):
            stated = (
                self._reported.given
                if self._reported is not None
                else frozenset({"k"} if start.k else ())
            )
            yield from around(start, self.facts, reach, stated)

    def _plan_libraries(self, jobs: dict[Any, _Job]) -> None:
        """Add the measures of libraries, each under its own alignment."""
        defaults = self._defaults.as_dict()
        grades = self.sweeper.judgments().grade
        library_options = {
            **AlignmentOptions().as_dict(),
            **{name: defaults[name] for name in ("order", "depth", "candidates")},
        }
        for meant in library_measures(self._reported, self.facts):
            if refused_grade(meant.entry, grades) is None:
                declared = meant.entry.declared or not self.facts.judgments.declared
                self._job_under(
                    jobs, {**library_options, **meant.aligned}, declared=declared
                ).meant.append(meant)

    def _job_under(
        self,
        jobs: dict[Any, _Job],
        options: Mapping[str, Any],
        *,
        declared: bool = True,
    ) -> _Job:
        """Return the job for an alignment."""
        whole = {**self._defaults.as_dict(), **options}
        return jobs.setdefault(
            (self.facts.effective(whole), declared), _Job(whole, declared)
        )

    def _run(self, job: _Job) -> Iterator[Way]:
        empties = self._counted["empty"]
        witnessing = witnesses(
            (library_measure.entry for library_measure in job.meant), self._defaults
        )
        needed: dict[Measure, dict[str, None]] = {
            m: dict.fromkeys(empties) for m, _, _ in job.ours
        }
        for measure in witnessing.values():
            needed.setdefault(measure, {})[empties[0]] = None
        meant = []
        for library_measure in job.meant:
            with suppress(RankstoneError):  # our measure does not accept such a number
                rules = needed.setdefault(library_measure.measure, {})
                rules[library_measure.empty] = None
                meant.append(library_measure)
        try:
            sweeper = self.sweeper if job.declared else self._without_empty_entries
            swept = sweeper.sweep(needed, job.options)
        except RankstoneError:  # a library refuses such lists or judgments
            return
        for measure, steps, options in job.ours:
            if measure in swept.scores:
                yield from self._ours(swept, measure, steps, options)
        observed = {
            name: swept.scores[witness][empties[0]]
            for name, witness in witnessing.items()
            if witness in swept.scores
        }
        for library_measure in meant:
            if library_measure.measure in swept.scores:
                yield from self._library(swept, library_measure, observed)

    # -- our measures -----------------------------------------------------------------------------------
    def _ours(
        self, swept: Swept, measure: Measure, steps: int, options: Mapping[str, Any]
    ) -> Iterator[Way]:
        """Yield the ways of a measure under one alignment, for all rules about which queries count."""
        for values in product(*self._counted.values()):
            rule = dict(zip(self._counted, values, strict=True))
            changed_rules = {
                name: value
                for name, value in rule.items()
                if value != self._counted[name][0]
            }
            if steps + len(changed_rules) <= max(self._reach, 1):
                scored = swept.scores[measure][rule["empty"]]
                counted = _counted(
                    swept, scored, measure, rule["missing"], rule["extra"]
                )
                changed = {**options, **changed_rules}
                yield from self._aggregates(
                    measure, scored, counted, changed, steps + len(changed_rules)
                )

    def _aggregates(
        self,
        measure: Measure,
        scored: Scored,
        counted: Bools,
        options: Mapping[str, Any],
        steps: int,
    ) -> Iterator[Way]:
        """Yield the ways with all aggregations over queries."""
        yield self._way(_value(measure, scored, counted), str(measure), options, steps)
        if (
            steps <= 1
            and measure.agg == "mean"
            and self.facts.queries > 1
            and counted.any()
        ):
            for agg in (
                *_AGGREGATES,
                *(("weighted",) if scored.weight is not None else ()),
            ):
                with suppress(
                    RankstoneError
                ):  # values with different cutoffs cannot be pooled
                    other = replace(measure, agg=agg)
                    yield self._way(
                        _value(other, scored, counted), str(other), options, steps + 1
                    )

    def _way(
        self,
        value: float,
        measure: str,
        options: Mapping[str, Any],
        steps: int,
        **library: str,
    ) -> Way:
        return Way(
            value,
            measure,
            dict(options),
            steps,
            how=None,
            off=0.0,
            run=self._name,
            **library,
        )

    # -- libraries --------------------------------------------------------------------------------------
    def _library(
        self, swept: Swept, meant: LibraryMeasure, observed: Mapping[str, Scored]
    ) -> Iterator[Way]:
        """Yield the value that a library prints, unless it refuses."""
        entry = meant.entry
        options = meant.entry.options
        missing = options.get("missing", "zero")
        extra = options.get("extra", "drop")
        if (missing == "error" and swept.missing.any()) or (
            extra == "error" and swept.extra.any()
        ):
            return
        scored = swept.scores[meant.measure][meant.empty]
        present = _present(swept, missing, extra)
        undefined = scored.status == Status.undefined
        if options.get("empty") == "error" and (present & undefined).any():
            return
        if refused(
            entry,
            scored.of(present),
            {name: witness.of(present) for name, witness in observed.items()},
        ):
            return
        counted = present & ~np.isin(
            scored.status, uncounted(undefined_propagates=entry.undefined_propagates)
        )
        empty = entry.no_queries == "zero" and not counted.any()
        value = 0.0 if empty else _value(meant.measure, scored, counted)
        steps = int(
            self._reported is not None
            and self._reported.k not in (None, meant.measure.k)
        )
        named = {"library": str(meant.library), "spelling": meant.spelling}
        yield self._way(
            value, meant.ours, self._relevant_options(options), steps, **named
        )

    def _relevant_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a library that differ from the defaults and matter here."""
        matter = {name for name, _ in self.facts.effective(options)}
        matter |= {name for name, values in self._counted.items() if len(values) > 1}
        defaults = self._defaults.as_dict()
        return {
            n: value
            for n, value in options.items()
            if defaults.get(n) != value and n in matter
        }


def _present(swept: Swept, missing: str, extra: str) -> Bools:
    """Return which queries are present under rules for missing and extra ones, bool ``[queries]``."""
    return ~((swept.missing & (missing == "drop")) | (swept.extra & (extra == "drop")))


def _counted(
    swept: Swept, scored: Scored, measure: Measure, missing: str, extra: str
) -> Bools:
    """Return which queries are part of the mean, bool ``[queries]``."""
    return _present(swept, missing, extra) & ~np.isin(
        scored.status, uncounted(undefined_propagates=measure.undefined_propagates)
    )


def _value(measure: Measure, scored: Scored, counted: Bools) -> float:
    """Return the aggregate over the queries that count."""
    weight = np.ones(len(scored.value)) if scored.weight is None else scored.weight
    parts = (scored.value, weight, scored.numerator, scored.denominator)
    return measure.aggregate(*(part[counted] for part in parts))
