"""The places of runs by the mean of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.errors import BadParameter, printable
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from rankstone.measures.core.definition import Named
    from rankstone.tables.results import Averaged


def places(scores: Averaged, measure: str | Named) -> dict[str, int]:
    """Return the place of each run by a measure, the best first; runs with equal means share one."""
    by_label = {candidate.label: candidate for candidate in scores.measures}
    chosen = by_label.get(str(measure)) or parse_measure(measure)
    if chosen not in scores.measures:
        raise BadParameter(
            f"the runs have no {printable(chosen)}", expected=", ".join(by_label)
        )

    sign = 1 if chosen.card.direction == "lower" else -1
    means = {run: of[str(chosen)] for run, of in scores.to_dict().items()}
    keys = {
        run: float("inf") if mean is None else sign * mean
        for run, mean in means.items()
    }
    return {
        run: 1 + sum(key < keys[run] for key in keys.values())
        for run in sorted(keys, key=keys.__getitem__)
    }
