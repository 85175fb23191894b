"""The search: which ways there are, what each gives, and which of them print as the number."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Unpack, overload

import numpy as np

from rankstone.conventions.convention_files import refused, refused_grade, witnesses
from rankstone.conventions.identification.candidate_values import Sweeper
from rankstone.conventions.identification.identification_result import Identification
from rankstone.conventions.identification.reported_number import Asked, Printed
from rankstone.conventions.identification.search_space import Way, around, meant_by_libraries, starts
from rankstone.errors import RankstoneError
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import name_runs
from rankstone.evaluation.scores import uncounted
from rankstone.hits.alignment_options import AlignmentOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rankstone.conventions.identification.candidate_values import Facts, Swept
    from rankstone.conventions.identification.search_space import Meant
    from rankstone.evaluation.request import EvaluationKeywords, QrelsLike, RunsLike
    from rankstone.hits.list_arrays import Bools
    from rankstone.measures.core.measure import Measure, Scored

    Progress = Callable[[int], None]

#: steps from what is usual, where a measure is named and where none is
_REACH, _REACH_UNNAMED = 3, 1
#: other ways to make one number of those of queries
_AGGREGATES: Final = ("median", "gmean", "trimmed", "sum", "pooled")
#: a way no more steps away than this is no surprise
_NEAR: Final = 1


@overload
def identify(
    qrels: QrelsLike,
    runs: RunsLike,
    value: str | float,
    measure: str | Measure | None = None,
    *,
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
    digits: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> tuple[Identification, ...]: ...
def identify(
    qrels: QrelsLike,
    runs: RunsLike,
    value: str | float | list[str] | tuple[str | float, ...],
    measure: str | Measure | None = None,
    *,
    digits: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Identification | tuple[Identification, ...]:
    """Find out what somebody computed who printed a number for a run: which measure, by whose conventions.

    The search starts from the measure under our usual options, and from what every library we know means by
    such a measure, and changes one choice after another: gain, discount, ideal list, denominator, threshold,
    cutoff, ties, unjudged documents, queries without a list or a relevant document, how queries are put
    together, numbers that were rounded on the way.  Of several runs it is said whose value the number is:
    rows of a table may have been swapped.

    Parameters
    ----------
    qrels, runs, **options
        As for :func:`rankstone.evaluate`; options of alignment are what the search starts from.
    value
        The number as it was printed, best as a text: ``"0.8270"`` has four decimals, ``"82.7"`` may be per
        cent, ``"82.7 %"`` is.  Several are looked for one by one, each with its own decimals; where there are
        as many as runs, each is taken for the run in its place, and a single one for the first run.
    measure
        What it was called: ``"nDCG@10"``; ``None`` when nobody said.
    digits
        Decimals, where a number is no text that shows them.
    progress
        Called after every alignment with the rows it read.

    Returns
    -------
    Identification
        Groups of ways that give the same value here: those that print as the number, and the nearest others.
        For several values a tuple with one for each.

    Raises
    ------
    InputError
        When a file or table is not what it should be.
    UsageError
        When the value is no number, or a measure or option does not exist.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": ["b", "a", "x", "c"]}
    >>> found = identify(qrels, run, "0.8354", "nDCG@10")
    >>> found.groups[0].simplest.measure, round(found.groups[0].value, 6)
    ('nDCG(gain=exp2)@10', 0.835448)
    >>> "xgboost-3.2" in found.groups[0].libraries
    True
    """
    values = value if isinstance(value, (list, tuple)) else [value]
    printed = [Printed.of(one, digits) for one in values]
    searches = _searches(qrels, name_runs(runs), measure, progress, options)
    taken_for = list(searches) if len(printed) == len(searches) else [next(iter(searches))] * len(printed)
    found = tuple(
        _identified(one, name, measure, searches) for one, name in zip(printed, taken_for, strict=True)
    )
    return found[0] if values is not value else found


def _identified(
    printed: Printed, taken_for: str, measure: object, searches: Mapping[str, _Search]
) -> Identification:
    """Compare everything with a number, and where nothing usual fits, what was rounded on the way, too."""
    ways = [way.against(printed) for search in searches.values() for way in search.ways]
    if not any(way.how is not None and way.away <= _NEAR for way in ways):
        ways += [way.against(printed) for search in searches.values() for way in search.rounded]
    facts = {name: search.facts for name, search in searches.items()}
    usual = searches[taken_for].sweeper.options
    return Identification.of(printed, taken_for, measure, ways, facts, usual)


def as_libraries(
    qrels: QrelsLike,
    run: object,
    measure: str | Measure,
    *,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> list[Way]:
    """Return what every library would print for a run whose words mean such a measure.

    Parameters
    ----------
    qrels, run, measure, progress, **options
        As for :func:`identify`; ``order``, ``depth`` and ``candidates`` are the only options of alignment
        that libraries have no say in.

    Returns
    -------
    list
        A way for each library and word, with its value; libraries that refuse such data are left out.

    Examples
    --------
    >>> ways = as_libraries({"q": {"a": 3, "b": 2}}, {"q": ["b", "a"]}, "nDCG@10")
    >>> told = {f"{way.library} {way.spelling}": round(way.value, 4) for way in ways}
    >>> told["xgboost-3.2 ndcg@10"], told["trec_eval-9 ndcg_cut_10"]
    (0.834, 0.9134)
    """
    (search,) = _searches(qrels, {"run": run}, measure, progress, options).values()
    return [way for way in search.libraries() if math.isfinite(way.value)]


def _searches(
    qrels: QrelsLike,
    runs: Mapping[str, object],
    measure: str | Measure | None,
    progress: Progress | None,
    given: Mapping[str, Any],
) -> dict[str, _Search]:
    """Read the data, which may hold what some library does not mind; judgments once for all runs."""
    asked = None if measure is None else Asked.of(measure)
    options = {"duplicates": "first_drop", "duplicate_judgments": "max", **given}
    ready = Prepared(qrels, (asked and asked.measure) or "nDCG", **options).in_memory()
    return {name: _Search(name, Sweeper(ready, run, name), asked, progress) for name, run in runs.items()}


@dataclass(frozen=True, eq=False)
class _Load:
    """What is computed under one alignment: measures of ours with their steps, and those of libraries.

    ``declared`` is true if a query without judgments counts that has an entry among them.
    """

    options: dict[str, Any]
    declared: bool = True
    ours: list[tuple[Measure, int, Mapping[str, Any]]] = field(default_factory=list)
    meant: list[Meant] = field(default_factory=list)


class _Search:
    """The search of one run: its data, and where to start."""

    def __init__(self, name: str, sweeper: Sweeper, asked: Asked | None, progress: Progress | None) -> None:
        self.sweeper = sweeper
        self.facts: Facts = sweeper.facts()
        self._name = name
        self._asked = asked
        self._usual = sweeper.options
        self._reach = _REACH_UNNAMED if asked is None else _REACH
        self._counted = self.facts.counted(self._usual)
        self._progress = progress or (lambda _rows: None)

    @cached_property
    def _of_rows(self) -> Sweeper:
        return self.sweeper.without_empty_entries()

    def libraries(self) -> Iterator[Way]:
        """Try what libraries mean, and nothing else."""
        loads: dict[Any, _Load] = {}
        self._plan_libraries(loads)
        for load in loads.values():
            yield from self._carry_out(load)
            self._progress(self.facts.run.rows)

    @cached_property
    def ways(self) -> list[Way]:
        """Everything there is to try, numbers that were written down on the way aside."""
        found: list[Way] = []
        for load in self._plan():
            found += (way for way in self._carry_out(load) if math.isfinite(way.value))
            self._progress(self.facts.run.rows)
        return found

    @cached_property
    def rounded(self) -> list[Way]:
        """Numbers that were rounded or cut off on the way, for measures that are not far from usual."""
        return [way for way in self._rounded() if math.isfinite(way.value)]

    def _rounded(self) -> Iterator[Way]:
        reach = min(self._reach, _NEAR) if self._asked is not None else 0
        known = dict(self._around(reach))
        rule = (self._usual.empty,)
        swept = self.sweeper.sweep(dict.fromkeys(known, rule), self._usual.as_dict(), rounded=True)
        for measure, by_rounding in swept.rounded.items():
            for rounding, scored in by_rounding.items():
                counted = _counted(swept, scored, measure, self._usual.missing, self._usual.extra)
                value = _value(measure, scored, counted)
                yield self._way(value, str(measure), {}, known[measure] + 1, rounding=str(rounding))

    # -- what to try ------------------------------------------------------------------------------------
    def _plan(self) -> Iterable[_Load]:
        """Bring together what is aligned alike, so that the run is walked as seldom as can be."""
        loads: dict[Any, _Load] = {}
        here = list(self._around(self._reach))
        self._under(loads, {}).ours.extend((measure, steps, {}) for measure, steps in here)
        for option, value in self.facts.alignments(self._usual):
            near = [one for one in here if one[1] < self._reach - 1 or one[1] == 0]
            own = {option: value}
            self._under(loads, own).ours.extend((m, steps + 1, own) for m, steps in near)
        self._plan_libraries(loads)
        return loads.values()

    def _around(self, reach: int) -> Iterator[tuple[Measure, int]]:
        """Return measures and their steps from where the search starts; a cutoff counts as said."""
        for start in starts(self._asked):
            said = self._asked.said if self._asked is not None else frozenset({"k"} if start.k else ())
            yield from around(start, self.facts, reach, said)

    def _plan_libraries(self, loads: dict[Any, _Load]) -> None:
        """Add what libraries mean, each under the options it aligns lists by."""
        usual, grades = self._usual.as_dict(), self.sweeper.judgments().grade
        theirs = {
            **AlignmentOptions().as_dict(),
            **{name: usual[name] for name in ("order", "depth", "candidates")},
        }
        for meant in meant_by_libraries(self._asked, self.facts):
            if refused_grade(meant.entry, grades) is None:
                declared = meant.entry.declared or not self.facts.judgments.declared
                self._under(loads, {**theirs, **meant.aligned}, declared=declared).meant.append(meant)

    def _under(self, loads: dict[Any, _Load], options: Mapping[str, Any], *, declared: bool = True) -> _Load:
        """Return the load of what is aligned so."""
        whole = {**self._usual.as_dict(), **options}
        return loads.setdefault((self.facts.effective(whole), declared), _Load(whole, declared))

    def _carry_out(self, load: _Load) -> Iterator[Way]:
        empties = self._counted["empty"]
        asked = witnesses((one.entry for one in load.meant), self._usual)
        wanted: dict[Measure, dict[str, None]] = {m: dict.fromkeys(empties) for m, _, _ in load.ours}
        for measure in asked.values():
            wanted.setdefault(measure, {})[empties[0]] = None
        meant = []
        for one in load.meant:
            with suppress(RankstoneError):  # our measure takes no such number
                wanted.setdefault(one.measure, {})[one.empty] = None
                meant.append(one)
        try:
            swept = (self.sweeper if load.declared else self._of_rows).sweep(wanted, load.options)
        except RankstoneError:  # a library that refuses such lists or judgments
            return
        for measure, steps, options in load.ours:
            if measure in swept.scores:
                yield from self._ours(swept, measure, steps, options)
        betrayed = {n: swept.scores[one][empties[0]] for n, one in asked.items() if one in swept.scores}
        for one in meant:
            if one.measure in swept.scores:
                yield from self._library(swept, one, betrayed)

    # -- in our words -----------------------------------------------------------------------------------
    def _ours(self, swept: Swept, measure: Measure, steps: int, options: Mapping[str, Any]) -> Iterator[Way]:
        """Return the ways of a measure under one alignment, whatever queries count."""
        for values in product(*self._counted.values()):
            rule = dict(zip(self._counted, values, strict=True))
            said = {name: value for name, value in rule.items() if value != self._counted[name][0]}
            if steps + len(said) <= max(self._reach, 1):
                scored = swept.scores[measure][rule["empty"]]
                counted = _counted(swept, scored, measure, rule["missing"], rule["extra"])
                changed = {**options, **said}
                yield from self._aggregates(measure, scored, counted, changed, steps + len(said))

    def _aggregates(
        self, measure: Measure, scored: Scored, counted: Bools, options: Mapping[str, Any], steps: int
    ) -> Iterator[Way]:
        """Return the ways to make one number of those of queries."""
        yield self._way(_value(measure, scored, counted), str(measure), options, steps)
        if steps <= 1 and measure.agg == "mean" and self.facts.queries > 1 and counted.any():
            for agg in (*_AGGREGATES, *(("weighted",) if scored.weight is not None else ())):
                with suppress(RankstoneError):  # cutoffs of their own cannot be pooled
                    other = replace(measure, agg=agg)
                    yield self._way(_value(other, scored, counted), str(other), options, steps + 1)

    def _way(self, value: float, measure: str, options: Mapping[str, Any], steps: int, **told: str) -> Way:
        return Way(value, measure, dict(options), steps, how=None, off=0.0, run=self._name, **told)

    # -- as libraries do --------------------------------------------------------------------------------
    def _library(self, swept: Swept, meant: Meant, betrayed: Mapping[str, Scored]) -> Iterator[Way]:
        """Return what a library prints, unless it refuses."""
        entry, options = meant.entry, meant.entry.options
        missing, extra = options.get("missing", "zero"), options.get("extra", "drop")
        if (missing == "error" and swept.missing.any()) or (extra == "error" and swept.extra.any()):
            return
        scored = swept.scores[meant.measure][meant.empty]
        present = _present(swept, missing, extra)
        if refused(entry, scored.of(present), {name: one.of(present) for name, one in betrayed.items()}):
            return
        counted = present & ~np.isin(
            scored.status, uncounted(undefined_propagates=entry.undefined_propagates)
        )
        nobody = entry.nobody == "zero" and not counted.any()
        value = 0.0 if nobody else _value(meant.measure, scored, counted)
        steps = int(self._asked is not None and self._asked.k not in (None, meant.measure.k))
        named = {"library": str(meant.library), "spelling": meant.spelling}
        yield self._way(value, meant.ours, self._told(options), steps, **named)

    def _told(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a library that are not the usual ones and can matter here."""
        matter = {name for name, _ in self.facts.effective(options)}
        matter |= {name for name, values in self._counted.items() if len(values) > 1}
        usual = self._usual.as_dict()
        return {name: told for name, told in options.items() if usual.get(name) != told and name in matter}


def _present(swept: Swept, missing: str, extra: str) -> Bools:
    """Tell which queries there are under rules for missing and extra ones."""
    present: Bools = ~((swept.missing & (missing == "drop")) | (swept.extra & (extra == "drop")))
    return present


def _counted(swept: Swept, scored: Scored, measure: Measure, missing: str, extra: str) -> Bools:
    """Tell which queries enter the mean."""
    counted: Bools = _present(swept, missing, extra) & ~np.isin(
        scored.status, uncounted(undefined_propagates=measure.undefined_propagates)
    )
    return counted


def _value(measure: Measure, scored: Scored, counted: Bools) -> float:
    """Return one number for the queries that count."""
    weight = np.ones(len(scored.value)) if scored.weight is None else scored.weight
    parts = (scored.value, weight, scored.numerator, scored.denominator)
    return measure.aggregate(*(part[counted] for part in parts))
