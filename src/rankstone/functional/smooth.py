"""What a measure becomes for training: a measure is a step function of scores, these have gradients.

Soft ranks stand for ranks (Qin, Liu and Li, A general approximation framework for direct optimization of
information retrieval measures, Information Retrieval 2010); or pairs of documents are weighed by what
swapping them would do to the measure itself (Burges, From RankNet to LambdaRank to LambdaMART, 2010).
Scores are ``[lists, longest]``, of NumPy, PyTorch or JAX; what is returned has gradients like theirs, and
JAX may transform it: ``jit``, ``vmap``, ``grad``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadOption
from rankstone.functional.padded import Padded
from rankstone.functional.swaps import changes, ideal_dcg
from rankstone.measures.dcg import nDCG
from rankstone.measures.threshold import ANY_GAIN

if TYPE_CHECKING:
    from rankstone.functional.device_array import Data
    from rankstone.measures import Measure

__all__ = ["approx_mrr", "approx_ndcg", "lambda_loss", "soft_ranks"]


def soft_ranks(scores: Data, *, mask: object = None, temperature: float = 0.1) -> Data:
    """Return ``1 + Σ_j σ((s_j − s_i) / temperature)``: the rank of each document, as smooth as it is warm.

    Parameters
    ----------
    scores
        ``[lists, longest]``.
    mask
        bool ``[lists, longest]``: False where there is no document.
    temperature
        Towards 0 soft ranks become ranks, and gradients vanish.

    Examples
    --------
    >>> soft_ranks(np.array([[3.0, 1.0, 2.0]]), temperature=0.01).tolist()
    [[1.0, 3.0, 2.0]]
    """
    return _soft_ranks(Padded.of(scores, np.zeros(tuple(scores.shape)), mask), temperature)


def _soft_ranks(given: Padded, temperature: float) -> Data:
    if not temperature > 0:
        raise BadOption(f"temperature={temperature} is out of range", expected="more than 0")
    above = _above(given, temperature)
    if given.there is None:
        return 0.5 + above.sum(2)  # each is half above itself
    return 0.5 + given.xp.where(given.there[:, None, :], above, 0.0).sum(2) + 0.5 * ~given.there


def _above(given: Padded, temperature: float) -> Data:
    """Return to what degree the second document stands above the first, ``[lists, longest, longest]``."""
    apart = (given.scores[:, None, :] - given.scores[:, :, None]) / temperature
    return 0.5 * (1.0 + given.xp.tanh(0.5 * apart))


def approx_ndcg(
    scores: Data, labels: object, *, mask: object = None, temperature: float = 0.1, gain: str = "exp2"
) -> Data:
    """Return nDCG with soft ranks, ``[lists]``; 0 for lists without gain.  Train on its negative mean.

    Parameters
    ----------
    scores, mask, temperature
        As for :func:`soft_ranks`.
    labels
        Grades ``[lists, longest]``.
    gain
        As for nDCG.

    Examples
    --------
    >>> approx_ndcg(np.array([[3.0, 1.0, 2.0]]), [[0, 1, 2]], temperature=0.01).round(6).tolist()
    [0.659002]
    """
    given, measure = Padded.of(scores, labels, mask), nDCG(gain=gain)
    worth = given.worth(measure)
    ideal = ideal_dcg(given, worth, 1.0 / measure.divisor(np.arange(1, given.width + 1)))
    share = given.back(worth / ideal[:, None])
    return (share / given.xp.log2(1.0 + _soft_ranks(given, temperature))).sum(1)


def approx_mrr(scores: Data, labels: object, *, mask: object = None, temperature: float = 0.1) -> Data:
    """Return the reciprocal rank with soft ranks, ``[lists]``; 0 for lists without a relevant document.

    Each relevant document gives one over its soft rank, times the chance that no relevant one is above it.

    Parameters
    ----------
    scores, labels, mask, temperature
        As for :func:`approx_ndcg`.

    Examples
    --------
    >>> approx_mrr(np.array([[3.0, 1.0, 2.0]]), [[0, 1, 1]], temperature=0.01).tolist()
    [0.5]
    """
    given = Padded.of(scores, labels, mask)
    relevant = given.relevant(ANY_GAIN)
    rivals = relevant[:, None, :] & (given.own(np.eye(given.width)) == 0)
    chance = given.xp.where(rivals, 1.0 - _above(given, temperature), 1.0).prod(2)
    return given.xp.where(relevant, chance / _soft_ranks(given, temperature), 0.0).sum(1)


def lambda_loss(
    scores: Data, labels: object, measure: str | Measure, *, mask: object = None, sigma: float = 1.0
) -> Data:
    """Return LambdaRank's loss, ``[lists]``: ``Σ |ΔM| · ln(1 + exp(−σ (s_i − s_j)))``, i better than j.

    Parameters
    ----------
    scores, labels, measure, mask
        As for :func:`~rankstone.functional.pair_weights`; documents that nobody judged are in no pair.
    sigma
        How steep a pair's loss is.
    """
    given = Padded.of(scores, labels, mask)
    return given.xp.concatenate([_lambda_loss(part, measure, sigma) for part in given.parts()], 0)


def _lambda_loss(given: Padded, measure: str | Measure, sigma: float) -> Data:
    better = given.grade[:, :, None] > given.grade[:, None, :]
    steep = sigma * given.scores
    loss = given.back(changes(given, measure)) * given.softplus(steep[:, None, :] - steep[:, :, None])
    return given.xp.where(better, loss, 0.0).sum((1, 2))
