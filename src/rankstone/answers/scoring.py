"""Scores of several systems whose answers have judgments of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from rankstone._basics import counted
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import NotComparable, UsageError, printable
from rankstone.evaluation.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords


def score_answers(
    systems: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
    measures: MeasuresLike,
    *,
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Scores:
    """Score the answers of systems, each by its own judgments: sentences and citations are not shared.

    Parameters
    ----------
    systems
        Name → what :func:`nuggets`, :func:`citations` or :func:`judge_by_similarity` returned.
    measures
        ``"Support(level=vital)"``, ``"CitationP CitationR"``, …; with ``convention``, a library's names.
    convention, **options
        As for :func:`rankstone.evaluate`.

    Examples
    --------
    >>> from rankstone.answers import nuggets
    >>> assigned = [{"text": "a", "importance": "vital", "assignment": "support"}]
    >>> score_answers({"mine": nuggets([{"qid": "q", "nuggets": assigned}])}, "Support").to_dict()
    {'mine': {'Support': 1.0}}
    """
    if not systems:
        raise UsageError("no system is given")
    _refuse_other_queries(systems)
    each = {
        name: scores_by(convention, qrels, {name: run}, measures, **options)
        for name, (qrels, run) in systems.items()
    }
    first = next(iter(each.values()))
    runs = {name: scores.runs[name] for name, scores in each.items()}
    # nuggets and citations have no order, so that ties need no rule
    audits = {
        name: replace(scores.audit.runs[name], tied=0, tied_queries=0, tied_float32=0)
        for name, scores in each.items()
    }
    return Scores(
        runs,
        first.measures,
        replace(first.audit, runs=audits),
        first.conventions,
        first.inputs,
    )


def _refuse_other_queries(
    systems: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
) -> None:
    """Refuse systems with different queries: their means would be over other questions."""
    queries = {
        name: set(qrels["query_id"].unique()) for name, (qrels, _) in systems.items()
    }
    every = set().union(*queries.values())
    for name, its in queries.items():
        if lacking := sorted(every - its):
            more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""  # noqa: PLR2004 - what is shown
            raise NotComparable(
                f"{name} has no answer to {counted(len(lacking), 'query', 'queries')} of the others",
                given=f"{', '.join(map(printable, lacking[:3]))}{more}",
                fix="add records of them: nuggets with not_support, or an answer without sentences",
            )
