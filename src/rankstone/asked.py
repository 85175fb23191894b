"""What is asked for: measures and options that go together, and every choice a number depends on."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadOption, BadParameter, printable
from rankstone.hits.options import Alignment
from rankstone.measures import Measure, parse_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["check", "checked", "choices", "columns_read", "of_rankings", "refuse_further"]


def of_rankings(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Read measures, and refuse those that look at something else than judgments and a run."""
    return parse_only((Measure,), measures, "is not a measure of a run against judgments")


def columns_read(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the columns of the judgments that measures read beside the grade."""
    columns = [name for measure in measures for name in measure.judgment_columns]
    if any("groups" in measure.brings for measure in measures):
        columns.append("subtopic")
    return tuple(dict.fromkeys(columns))


def refuse_further(measures: Sequence[Measure]) -> None:
    """Refuse measures that read more of the judgments than a grade."""
    for measure in measures:
        if columns_read([measure]) or "pool" in measure.brings:
            raise BadParameter(
                f"{measure} needs judgments in a table of their own", fix="use evaluate(qrels, run, …)"
            )


def checked(options: Mapping[str, Any], measures: Sequence[Measure]) -> Alignment:
    """Return the options of alignment, or refuse those under which a measure has no value."""
    _refuse_parameters(options, measures)
    alignment = Alignment.of(options)
    check(alignment, measures)
    return alignment


def check(alignment: Alignment, measures: Sequence[Measure]) -> None:
    """Refuse options under which a measure has no value."""
    for measure in measures:
        measure.check(alignment.ties, alignment.depth, alignment.negative)
        measure.check_needs(alignment)
        if alignment.pool == "list" and measure.brings & {"pool", "groups"}:
            raise BadOption(
                f"{measure} looks at all judged documents, and pool=list hides those outside the list",
                fix="leave pool or the measure out",
            )


#: what other tools have options for → the parameter of measures here; ``k`` is the cutoff
_INSIDE: Final = {
    **dict.fromkeys(("rel", "level", "threshold", "relevance_level", "min_rel"), "rel"),
    **dict.fromkeys(("k", "cutoff", "at", "topk", "top_k"), "k"),
    **dict.fromkeys(("gain", "gains"), "gain"),
}


def _refuse_parameters(options: Mapping[str, Any], measures: Sequence[Measure]) -> None:
    """Refuse options that are parameters of measures, and say where they go."""
    known = Alignment().as_dict()
    for option, value in options.items():
        name = _INSIDE.get(option, option)
        for measure in measures if option not in known else ():
            text = _with(measure, name, value)
            if text is not None:
                raise BadOption(
                    f"{option} belongs to a measure, it is no option of alignment",
                    given=f"{option}={printable(value)}",
                    fix=f"write it in the measure's name: {printable(text)!r}",
                )


def _with(measure: Measure, name: str, value: object) -> str | None:
    """Return the text of a measure with one more parameter, or nothing where it has none of that name."""
    head, _, cutoff = str(measure).partition("@")
    if name == "k":
        return f"{head}@{value}" if measure.takes_cutoff else None
    if name in measure.changed() or all(field.name != name for field in fields(measure)):
        return None
    inside = f"{head[:-1]}, {name}={value})" if head.endswith(")") else f"{head}({name}={value})"
    return f"{inside}@{cutoff}" if cutoff else inside


def choices(options: Alignment, measures: Sequence[Measure], *, one_group: bool) -> dict[str, Any]:
    """Return every choice the numbers depend on: options, and the parameters each measure has."""
    defaults = {name: value for measure in measures for name, value in measure.unsaid().items()}
    alignment = options.told() | ({"one_group": True} if one_group else {})
    return {"alignment": alignment, "measures": [str(m) for m in measures], "defaults": defaults}
