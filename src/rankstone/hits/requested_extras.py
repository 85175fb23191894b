"""Which extras a request needs: measures, options, judgments and columns of the run ask for them.

An extra is imported once something asks for it, and a request that asks for nothing goes without any.
"""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.extra import Extra
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.judgments import Judgments, SelfLabelled

#: option → the extra that does what it says, where it is not at its default
_OF_OPTIONS: Final = {
    "candidates": "candidate_counts.CandidateCounts",
    "empty": "unanswerable_queries.UnanswerableQueries",
    "identical_ids": "exclusion.QueryDocuments",
    "unjudged": "imputation.Imputed",
}
#: what a measure may have → the extra that it needs then
_OF_MEASURES: Final = {
    "budgets": "budget_cuts.BudgetCut",
    "query_columns": "query_columns.QueryColumns",
}
#: column of a run → the extra that reads it
_OF_COLUMNS: Final = {
    "call": "agent_steps.AgentSteps",
    "turn": "agent_steps.AgentSteps",
}


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
    asked = [_OF_OPTIONS.get(name) for name in options.changed()]
    asked += [_OF_COLUMNS.get(name) for name in columns]
    for name, extra in _OF_MEASURES.items():
        if any(getattr(measure, name, ()) for measure in measures):
            asked.append(extra)
    kinds = {*further, *map(_kind, filter(None, asked))}
    for measure in measures:
        kinds |= measure.requires
    prepared = judgments.extras
    if kinds:
        from rankstone.hits.extras.extra import Request

        request = Request(measures, options, columns, queries)
        kinds -= {type(extra) for extra in prepared}
        prepared = (*prepared, *chain(*(kind.of(request) for kind in kinds)))
    return tuple(sorted(prepared, key=lambda extra: (extra.turn, str(extra.key))))


def _kind(place: str) -> type[Extra[Any]]:
    """Return the class of an extra by its file and name."""
    module, _, name = place.partition(".")
    kind: type[Extra[Any]]
    kind = getattr(import_module(f"rankstone.hits.extras.{module}"), name)
    return kind
