"""The conductor of conventions for whole lists: a library's words, its rules of order, its numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rankstone.beyond_accuracy import measured
from rankstone.conventions import Convention, convention
from rankstone.conventions.convention import named
from rankstone.errors import BadOption, BadParameter, BadValue, UsageError, printable
from rankstone.hits.options import Alignment
from rankstone.lists.beyond.results import BeyondScores
from rankstone.measures.base import Status
from rankstone.scores import RunScores
from rankstone.words import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.conventions import Reading
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables
    from rankstone.measures import Named

__all__ = ["beyond_by"]

#: what may be said beside a convention, since no library has a say in it
_FREE: Final = frozenset({"order", "depth"})


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
    for group in _groups(readings):
        witnesses: dict[str, Any] = {x.measure: named(x.measure) for r in group for x in r.entry.refuses}
        asked = [*(r.measure for r in group), *witnesses.values()]
        parts.append(measured(runs, asked, optional=measures is None, **{**group[0].options, **beside}))
        _check_refusals(meant, parts[-1], group, witnesses)
    return _together(meant, readings, parts)


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
    for option in set(Alignment().as_dict()) - _FREE:
        if option in beside:
            raise BadOption(
                f"{meant.title} decides {option}: {option}={beside[option]} cannot be asked of it",
                fix=f"leave {option} or the convention out; rankstone conventions show {meant}",
            )


def _groups(readings: Sequence[Reading]) -> list[list[Reading]]:
    """Bring together what is ordered alike, so that the run is read as seldom as can be."""
    found: dict[object, list[Reading]] = {}
    for reading in readings:
        found.setdefault(reading.key, []).append(reading)
    return list(found.values())


def _check_refusals(
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


def _together(meant: Convention, readings: Sequence[Reading], parts: Sequence[BeyondScores]) -> BeyondScores:
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
