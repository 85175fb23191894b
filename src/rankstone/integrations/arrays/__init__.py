"""The array face: scores and labels as arrays, for training loops.

``evaluate(scores, labels, "nDCG@10 AP", qid=…)`` scores arrays, :class:`Evaluator` keeps what depends on the
labels alone from epoch to epoch, and every measure is a function: ``ndcg(scores, labels, k=10)``.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
from rankstone.integrations.arrays.array_evaluator import Evaluator, evaluate
from rankstone.integrations.arrays.array_scores import ArrayScores
from rankstone.integrations.arrays.top_k_lists import from_topk, top_k
from rankstone.integrations.arrays.training_losses import (
    approx_mrr,
    approx_ndcg,
    lambda_loss,
    pair_weights,
    soft_ranks,
)
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.registry import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "ArrayScores",
    "Evaluator",
    "approx_mrr",
    "approx_ndcg",
    "evaluate",
    "from_topk",
    "lambda_loss",
    "pair_weights",
    "soft_ranks",
    "top_k",
]

#: what measures may need in addition to grades
_MORE: Final = {PoolMembers, JudgmentGroups, ListCosts, ListSources}


def __getattr__(name: str) -> Callable[..., Any]:
    """Make the function of a measure by its name or an alias in small letters: ``ndcg``, ``precision``.

    The function takes ``scores`` and ``labels``, ``qid``, ``sizes`` or ``mask``, the measure's parameters and
    options of alignment, and returns a value for each query, ``[queries]``, NaN for no value.

    >>> from rankstone.integrations import arrays
    >>> arrays.average_precision([0.9, 0.5, 0.1], [0, 1, 1], k=2)
    array([0.25])
    """
    kind = _kinds().get(name)
    if kind is None:
        msg = f"module 'rankstone.integrations.arrays' has no attribute {name!r}"
        raise AttributeError(msg)
    parameters = {field.name for field in fields(kind)}

    def scored(scores: object, labels: object, **how: Any) -> Any:  # noqa: ANN401 - parameters and options
        own = {key: how.pop(key) for key in parameters & how.keys()}
        measure = kind(**own)
        results = evaluate(scores, labels, measure, **how)
        return results.values[str(measure)]

    scored.__name__ = scored.__qualname__ = name
    scored.__module__ = "rankstone.integrations.arrays"
    scored.__doc__ = f"""Return {kind.name} of each query: {kind.card.sentence}

    Parameters
    ----------
    scores, labels
        As for ``evaluate``, and so are ``qid``, ``sizes``, ``mask`` and options.
    {", ".join(sorted(parameters))}
        The parameters of :class:`rankstone.{kind.name}`.
    """
    globals()[name] = scored
    return scored


def __dir__() -> list[str]:
    """List the public names, and the functions that are measures, in the style of functions.

    >>> {"ndcg", "average_precision", "reciprocal_rank", "hit_rate"} <= set(__dir__())
    True
    """
    return [*__all__, *_kinds()]


def _kinds() -> dict[str, type[Measure]]:
    """Return the measures that need only labels, by their names as functions."""
    kinds: dict[str, type[Measure]] = {}
    for kind in MEASURES.values():
        if not issubclass(kind, Measure):
            continue
        if kind.judgment_columns or kind.query_columns or kind.requires & _MORE:
            continue
        for word in filter(str.isidentifier, (kind.name, *kind.aliases)):
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word)
            kinds.setdefault(name.lower(), kind)
    return kinds
