"""The array face: scores and labels as arrays, for training loops.

``evaluate(scores, labels, "nDCG@10 AP", qid=…)`` scores arrays, :class:`Evaluator` keeps what depends on the
labels alone from epoch to epoch, and every measure is a function: ``ndcg(scores, labels, k=10)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.integrations.arrays.array_evaluator import ArrayScores, Evaluator, evaluate
from rankstone.integrations.arrays.array_measures import function, names
from rankstone.integrations.arrays.top_k_lists import from_topk, top_k
from rankstone.integrations.arrays.training_losses import (
    approx_mrr,
    approx_ndcg,
    lambda_loss,
    pair_weights,
    soft_ranks,
)

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


def __getattr__(name: str) -> Callable[..., Any]:
    """Make a function of a measure: ``ndcg``, ``average_precision``, ``reciprocal_rank``, ``precision``."""
    made = function(name)
    if made is None:
        msg = f"module 'rankstone.integrations.arrays' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    """List the public names, and the functions that are measures."""
    return [*__all__, *names()]
