"""What libraries refuse: grades, lists they cannot take, means over nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadOption
from rankstone.measures import Measure, parse_measure
from rankstone.measures.base import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankstone.conventions.convention import Entry
    from rankstone.hits.arrays import Bools, Floats
    from rankstone.hits.options import Alignment
    from rankstone.measures.base import Scored

__all__ = ["Refused", "refused", "refused_grade", "witnesses"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a library raises an error, and the place of the first query that is to blame.

    ``query`` is ``None`` where no single query is; ``every`` where all are.
    """

    why: str
    query: int | None = None
    every: bool = False


def refused_grade(entry: Entry, grades: Floats) -> float | None:
    """Return a grade that a library refuses, if there is one."""
    if entry.grades is None:
        return None
    return next((grade for grade in np.unique(grades).tolist() if not entry.grades.takes(grade)), None)


def witnesses(entries: Iterable[Entry], alignment: Alignment) -> dict[str, Measure]:
    """Return the measures that betray what libraries refuse, as far as they can be computed."""
    found: dict[str, Measure] = {}
    for name in dict.fromkeys(refusal.measure for entry in entries for refusal in entry.refuses):
        witness = parse_measure(name)
        assert isinstance(witness, Measure)  # noqa: S101 - data files are tested
        try:
            witness.check_needs(alignment)
        except BadOption:  # the size of the catalogue, say, which nobody told us
            continue
        found[name] = witness
    return found


def refused(entry: Entry, scored: Scored, betrayed: Mapping[str, Scored]) -> Refused | None:
    """Say why a library raises an error instead of giving these scores; ``None`` where it does not.

    Parameters
    ----------
    entry
        The library's measure.
    scored
        Its scores.
    betrayed
        Name of a witness → its scores of the same queries.
    """
    counts = scored.status != Status.dropped
    for refusal in entry.refuses:
        if refusal.measure not in betrayed:
            continue
        guilty = _guilty(betrayed[refusal.measure], refusal.value) & counts
        if guilty.any() and (not refusal.every or guilty[counts].all()):
            return Refused(refusal.why, int(guilty.argmax()), refusal.every)
    present = counts if entry.spoils else counts & (scored.status != Status.undefined)
    if entry.nobody == "error" and not present.any():
        return Refused("no query has a value, and there is no mean")
    return None


def _guilty(scored: Scored, value: float | None) -> Bools:
    """Tell which queries have a witness' value."""
    guilty: Bools = scored.status == Status.undefined if value is None else scored.value == value
    return guilty
