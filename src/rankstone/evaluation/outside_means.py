"""Which queries are not part of a mean, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.measures.core.definition import PerQuery
from rankstone.measures.core.measure import Scored, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import NamedValues

#: where a card goes on to say what becomes of such a query
_OUTCOME: Final = re.compile(r": (?:no value|not counted|left out)")


def outside_means(
    scores: Mapping[Any, Scored | Sequence[int]], alignment: Mapping[str, Any]
) -> NamedValues:
    """Return the counts of an audit: ``undefined`` and ``dropped``, measure → reason → queries.

    Parameters
    ----------
    scores
        Measure → its scores, or how many queries have each status.
    alignment
        The options of alignment, by name.
    """
    outside: NamedValues = {"undefined": {}, "dropped": {}}
    for measure, scored in scores.items():
        # a curve counts its own
        if not isinstance(measure, PerQuery):
            continue
        counts: Any = scored
        if isinstance(scored, Scored):
            counts = np.bincount(scored.status, minlength=len(Status))
        name = str(measure)
        for status in (Status.undefined, Status.dropped):
            count = int(counts[status])
            if count:
                reason = _reason(measure, status, alignment)
                outside[status.name][name] = {reason: count}
    return outside


def _reason(measure: PerQuery, status: Status, alignment: Mapping[str, Any]) -> str:
    """Return why queries have no value, or are left out; all reasons that there can be."""
    empty = getattr(measure, "empty", alignment["empty"])
    own, *_ = _OUTCOME.split(measure.card.undefined)
    reasons = []
    if getattr(measure, "zero_norm", None) == status:
        reasons.append(own)
    elif empty == "undefined" or (empty != "zero" and status == Status.dropped):
        reasons.append(f"no relevant document (empty={empty})")
    if status == Status.undefined and alignment.get("no_results") == "undefined":
        reasons.append("nothing retrieved (no_results=undefined)")
    if status == Status.dropped and not reasons:
        reasons.append("declared unanswerable")

    if not reasons:
        reasons.append(own)
    reason = ", or ".join(reasons)
    if status == Status.undefined and measure.undefined_propagates:
        reason += "; with such a query there is no mean"
    return reason
