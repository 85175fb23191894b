"""Which extras a request needs: measures, options, judgments and columns of the run ask for them.

An extra is imported once something asks for it, and a request that asks for nothing goes without any.
"""

from __future__ import annotations

from itertools import chain
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.extra import Extra
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.judgments import Judgments, SelfLabelled

#: option → the extra that does what it says, where it is not at its default
_OF_OPTIONS: Final = {
    "candidates": "candidate_counts:CandidateCounts",
    "empty": "unanswerable_queries:UnanswerableQueries",
    "identical_ids": "exclusion:QueryDocuments",
    "unjudged": "imputation:Imputed",
}
#: what a measure may have → the extra that it needs then
_OF_MEASURES: Final = {
    "budgets": "budget_cuts:BudgetCut",
    "query_columns": "query_columns:QueryColumns",
}
#: column of a run → the extra that reads it wherever it is
OF_COLUMNS: Final = {"turn": "agent_steps:AgentSteps", "call": "agent_steps:AgentSteps"}


def requested_extras(
    judgments: Judgments | SelfLabelled,
    options: AlignmentOptions,
    measures: Sequence[Any],
    columns: frozenset[str] = frozenset(),
    queries: QueryTable | None = None,
    further: Iterable[type[Extra[Any]]] = (),
) -> tuple[Extra[Any], ...]:
    """Return the extras of a request, in the order of their turns.

    Parameters
    ----------
    judgments
        The judgments, which come with extras of their own.
    options, measures
        The alignment options, and the measures to compute.
    columns
        The columns of the run.
    queries
        The query table, where there is one.
    further
        Extras that are wanted besides.
    """
    places = [_OF_OPTIONS.get(name) for name in options.changed()]
    places += [OF_COLUMNS.get(name) for name in columns]
    for name, place in _OF_MEASURES.items():
        if any(getattr(measure, name, ()) for measure in measures):
            places.append(place)

    kinds: set[type[Extra[Any]]] = {*further}
    for place in filter(None, places):
        kinds.add(resolve_name(f"rankstone.hits.extras.{place}"))
    for measure in measures:
        kinds |= measure.requires
    prepared = judgments.extras
    if kinds:
        from rankstone.hits.extras.extra import Request

        request = Request(measures, options, columns, queries)
        kinds -= {type(extra) for extra in prepared}
        prepared = (*prepared, *chain(*(kind.of(request) for kind in kinds)))
    return tuple(sorted(prepared, key=lambda extra: (extra.turn, str(extra.key))))
