"""Which side inputs a request needs: its arguments, measures and judgments ask for them.

A side input is imported once something asks for it, and a request that asks for nothing goes without any.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, cast

from rankstone.hits.grouped_judgments import grouped_judgments
from rankstone.hits.judgments import Judgments
from rankstone.measures.at_cutoffs import AtK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.errors import DuplicateRows
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import SideInput
    from rankstone.hits.grouped_judgments import Intents
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures

#: argument → the side input that it is about
_OF_ARGUMENTS: Final = {
    "corpus": "corpus_ids:CorpusIds",
    "exclude": "excluded_pairs:ExcludedPairs",
    "same_as": "retrieval_units:UnitTables",
    "unit": "retrieval_units:UnitTables",
}
#: what measures of budgets and costs need
_OF_COSTS: Final = "document_costs:DocumentCosts"
#: what queries that are declared unanswerable need
_OF_UNANSWERABLE: Final = "unanswerable_ids:UnanswerableIds"
#: what advises on a pair that is judged twice
_OF_SPANS: Final = "judged_spans:SpanTables"


def requested_side_inputs(
    measures: Measures,
    arguments: Mapping[str, Any],
    **context: Any,  # noqa: ANN401 - of SideRequest
) -> tuple[SideInput, ...]:
    """Open the side inputs of a request, in the order of their turns.

    Parameters
    ----------
    measures
        The measures to compute.
    arguments
        Arguments of :func:`rankstone.evaluate`, ``None`` where one is not given.
    **context
        Further fields of :class:`~rankstone.evaluation.side_inputs.side_input.SideRequest`.
    """
    places = set()
    for name, value in arguments.items():
        if value is not None:
            places.add(_OF_ARGUMENTS[name])
    for measure in measures:
        if measure.budgets or measure.costs:
            places.add(_OF_COSTS)
        places.add(measure.side_input)
        places |= {extra.side_input for extra in measure.requires}
    places.discard("")
    if not places:
        return ()
    from rankstone.evaluation.side_inputs.side_input import SideRequest

    request = SideRequest(measures, **arguments, **context)
    kinds = [_kind(place) for place in places]
    # a more special one does what its base class does, too
    bases = {base for kind in kinds for base in kind.__mro__[1:]}
    opened = [kind.of(request) for kind in kinds if kind not in bases]
    return tuple(sorted(filter(None, opened), key=lambda side: side.turn))


def for_measure(
    side_input: SideInput, measure: Measure, judged: Table | None = None
) -> Measure:
    """Return a measure, or that of several cutoffs, as a side input has it computed."""
    if isinstance(measure, AtK):
        inner = for_measure(side_input, measure.measure, judged)
        return cast("Measure", replace(measure, measure=inner))
    return side_input.for_measure(measure, judged)


def recorded_options(side_inputs: Sequence[SideInput]) -> dict[str, str]:
    """Return the options of side inputs, as results record them."""
    options: dict[str, str] = {}
    for side_input in side_inputs:
        options |= side_input.recorded
    return options


def prepare_judgments(
    rows: JudgedRows,
    side_inputs: Sequence[SideInput] = (),
    intents: Intents | None = None,
) -> Judgments:
    """Prepare rows of judgments, in groups where they have a column ``subtopic``.

    Parameters
    ----------
    rows
        The rows.
    side_inputs
        What changes them; the first sees the rows first, and the judgments last.
    intents
        The weights of subtopics.
    """

    def prepare(rows: JudgedRows) -> Judgments:
        table = (rows.frame, rows.options, rows.locate)
        if "subtopic" in rows.frame.columns:
            return grouped_judgments(*table, intents, rows.queries)
        return Judgments.of(*table, rows.queries)

    if rows.unanswerable is not None:
        side_inputs = (_kind(_OF_UNANSWERABLE)(), *side_inputs)
    for side_input in reversed(side_inputs):
        prepare = partial(side_input.prepare, rest=prepare)
    return prepare(rows)


def advise_on_duplicates(error: DuplicateRows, judged: Table) -> None:
    """Add to an error what would become of judgments whose pairs may be judged twice."""
    _kind(_OF_SPANS).advise(error, judged)


def _kind(place: str) -> Any:  # noqa: ANN401 - a class
    """Return the class of a side input by its file and name."""
    return resolve_name(f"rankstone.evaluation.side_inputs.{place}")


def judgment_columns(sides: Iterable[SideInput]) -> set[str]:
    """Return the columns of judgments that some side inputs read."""
    columns = set[str]()
    for side in sides:
        columns |= {*side.judgment_columns}
    return columns
