"""What is asked for: measures and options that go together, and every choice a number depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import BadOption
from rankstone.hits.options import Alignment
from rankstone.measures import Measure, parse_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["checked", "choices", "columns_read", "of_rankings"]


def of_rankings(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Read measures, and refuse those that look at something else than judgments and a run."""
    return parse_only((Measure,), measures, "is not a measure of a run against judgments")


def columns_read(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the columns of the judgments that measures read beside the grade."""
    columns = [name for measure in measures for name in measure.judgment_columns]
    if any("groups" in measure.brings for measure in measures):
        columns.append("subtopic")
    return tuple(dict.fromkeys(columns))


def checked(options: Mapping[str, Any], measures: Sequence[Measure]) -> Alignment:
    """Return the options of alignment, or refuse those under which a measure has no value."""
    alignment = Alignment.of(options)
    for measure in measures:
        measure.check(alignment.ties, alignment.depth, alignment.negative)
        measure.check_needs(alignment)
        if alignment.pool == "list" and measure.brings & {"pool", "groups"}:
            raise BadOption(
                f"{measure} looks at all judged documents, and pool=list hides those outside the list",
                fix="leave pool or the measure out",
            )
    return alignment


def choices(options: Alignment, measures: Sequence[Measure], *, one_group: bool) -> dict[str, Any]:
    """Return every choice the numbers depend on: options, and the parameters each measure has."""
    defaults = {name: value for measure in measures for name, value in measure.unsaid().items()}
    alignment = options.as_dict() | ({"one_group": True} if one_group else {})
    return {"alignment": alignment, "measures": [str(m) for m in measures], "defaults": defaults}
