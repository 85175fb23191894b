"""Scores of several systems whose answers have judgments of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankstone.errors import UsageError
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from rankstone.evaluation.request import MeasuresLike


def score_answers(systems: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]], measures: MeasuresLike) -> Scores:
    """Score the answers of systems, each by its own judgments: sentences and citations are not shared.

    Parameters
    ----------
    systems
        Name → what :func:`nuggets` or :func:`citations` returned.
    measures
        ``"Support(level=vital)"``, ``"CitationP CitationR"``, …

    Examples
    --------
    >>> from rankstone.answers import nuggets
    >>> assigned = [{"text": "a", "importance": "vital", "assignment": "support"}]
    >>> score_answers({"mine": nuggets([{"qid": "q", "nuggets": assigned}])}, "Support").to_dict()
    {'mine': {'Support': 1.0}}
    """
    if not systems:
        raise UsageError("no system is given")
    each = {name: Prepared(qrels, measures).evaluate({name: run}) for name, (qrels, run) in systems.items()}
    first = next(iter(each.values()))
    runs = {name: scores.runs[name] for name, scores in each.items()}
    audits = {name: scores.audit.runs[name] for name, scores in each.items()}
    return Scores(runs, first.measures, replace(first.audit, runs=audits), first.conventions, first.inputs)
