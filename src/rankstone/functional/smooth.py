"""What a measure becomes for training: a measure is a step function of scores, these have gradients.

Soft ranks stand for ranks (Qin, Liu and Li, A general approximation framework for direct optimization of
information retrieval measures, Information Retrieval 2010); or pairs of documents are weighed by what
swapping them would do to the measure itself (Burges, From RankNet to LambdaRank to LambdaMART, 2010).
Scores are ``[lists, longest]``, of NumPy, PyTorch or JAX; what is returned has gradients like theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption, BadValue
from rankstone.functional.evaluator import Evaluator
from rankstone.functional.libraries import home_of
from rankstone.measures import parse_measure
from rankstone.measures.dcg import nDCG
from rankstone.measures.parts import gains
from rankstone.measures.threshold import ANY_GAIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.functional.device_array import Data
    from rankstone.hits.arrays import Bools, Floats
    from rankstone.measures import Measure

__all__ = ["approx_mrr", "approx_ndcg", "lambda_loss", "pair_weights", "soft_ranks"]

#: values of swapped lists that are scored at the same time
_AT_ONCE: Final = 1 << 22


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
    if not temperature > 0:
        raise BadOption(f"temperature={temperature} is out of range", expected="more than 0")
    scores = _filled(scores, _there(scores, mask))
    above = _sigmoid((scores[:, None, :] - scores[:, :, None]) / temperature, scores)
    there = _like(scores, _there(scores, mask).astype(np.float64))
    return 0.5 + (above * there[:, None, :]).sum(2) + 0.5 * (1.0 - there)  # each is half above itself


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
    grade, there = _grades(scores, labels, mask), _there(scores, mask)
    worth = np.where(there, gains(gain, None, grade), 0.0)
    exact = Evaluator(grade, nDCG(gain=gain), mask=there)(grade).by_measure
    ideal = next(iter(exact.values())).denominator
    share = worth / np.where(ideal > 0, ideal, 1.0)[:, None]
    rank = soft_ranks(scores, mask=there, temperature=temperature)
    return (_like(scores, share) / _log2(1.0 + rank)).sum(1)


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
    grade, there = _grades(scores, labels, mask), _there(scores, mask)
    relevant = ANY_GAIN(grade) & there
    scores = _filled(scores, there)
    rivals = relevant[:, None, :] & ~np.eye(grade.shape[1], dtype=bool)
    below = _sigmoid((scores[:, :, None] - scores[:, None, :]) / temperature, scores)
    first = _like(scores, rivals.astype(np.float64))
    chance = (first * below + (1.0 - first)).prod(2)
    rank = soft_ranks(scores, mask=there, temperature=temperature)
    return (_like(scores, relevant.astype(np.float64)) * chance / rank).sum(1)


def pair_weights(scores: Data, labels: object, measure: str | Measure, *, mask: object = None) -> Data:
    """Return what swapping two documents changes in a measure, ``[lists, longest, longest]``, never below 0.

    Every swap of documents with different grades is scored by the measure itself, so any measure will do;
    a list of n documents takes up to n²/2 lists to score.

    Parameters
    ----------
    scores, labels, mask
        As for :func:`approx_ndcg`; no gradients come back from weights.
    measure
        Any measure that needs no more than labels.

    Examples
    --------
    >>> pair_weights(np.array([[3.0, 2.0]]), [[0, 1]], "RR").tolist()
    [[[0.0, 0.5], [0.5, 0.0]]]
    """
    score = home_of(scores).host(scores).astype(np.float64)
    grade, there = _grades(scores, labels, mask), _there(scores, mask)
    kind = parse_measure(measure)
    first, second = np.triu_indices(grade.shape[1], 1)
    differ = (grade[:, first] != grade[:, second]) & there[:, first] & there[:, second]
    lists, pairs = np.nonzero(differ)
    weight = np.zeros((*grade.shape, grade.shape[1]))
    now = _values(score, grade, kind, there)
    step = max(1, _AT_ONCE // grade.shape[1])
    for at in range(0, len(lists), step):
        of, one, other = lists[at : at + step], first[pairs[at : at + step]], second[pairs[at : at + step]]
        swapped, row = score[of], np.arange(len(of))
        swapped[row, one], swapped[row, other] = score[of, other], score[of, one]
        change = np.abs(_values(swapped, grade[of], kind, there[of]) - now[of])
        weight[of, one, other] = weight[of, other, one] = change
    return _like(scores, weight)


def lambda_loss(
    scores: Data, labels: object, measure: str | Measure, *, mask: object = None, sigma: float = 1.0
) -> Data:
    """Return LambdaRank's loss, ``[lists]``: ``Σ |ΔM| · ln(1 + exp(−σ (s_i − s_j)))``, i better than j.

    Parameters
    ----------
    scores, labels, measure, mask
        As for :func:`pair_weights`.
    sigma
        How steep a pair's loss is.
    """
    weight = pair_weights(scores, labels, measure, mask=mask)
    grade = _grades(scores, labels, mask)
    better = _like(scores, (grade[:, :, None] > grade[:, None, :]).astype(np.float64))
    scores = _filled(scores, _there(scores, mask))
    apart = sigma * (scores[:, :, None] - scores[:, None, :])
    return (weight * better * _softplus(-apart)).sum((1, 2))


def _values(scores: Floats, grade: Floats, measure: Any, there: Bools) -> Floats:  # noqa: ANN401 - parsed
    scored = Evaluator(grade, measure, mask=there)(scores).values
    found: Floats = np.nan_to_num(next(iter(scored.values())))
    return found


def _grades(scores: Data, labels: object, mask: object) -> Floats:
    grade = home_of(labels).host(labels).astype(np.float64)
    if len(scores.shape) != 2 or grade.shape != tuple(scores.shape):  # noqa: PLR2004 - rows and columns
        raise BadValue(
            "scores and labels do not fit",
            given=f"shapes {tuple(scores.shape)} and {grade.shape}",
            expected="both [lists, longest]",
        )
    return np.where(_there(scores, mask), grade, 0.0)


def _there(scores: Data, mask: object) -> Bools:
    if mask is None:
        return np.ones(tuple(scores.shape), bool)
    return home_of(mask).host(mask).astype(bool)


def _like(scores: Data, values: NDArray[Any]) -> Data:
    """Return numbers as an array of the scores' library, as exact as the scores."""
    library = _name(scores)
    if library is np:
        return values
    if hasattr(scores, "device") and hasattr(library, "as_tensor"):
        return library.as_tensor(values, dtype=scores.dtype, device=scores.device)
    return library.asarray(values, dtype=scores.dtype)


def _filled(scores: Data, there: Bools) -> Data:
    """Return the scores with 0 where there is no document, whatever stood there."""
    if there.all():
        return scores
    return _name(scores).where(
        _like(scores, there.astype(np.float64)) > 0, scores, 0.0 * _like(scores, there)
    )


def _name(data: Data) -> Any:  # noqa: ANN401 - a module
    """Return the functions of the library an array is of."""
    if isinstance(data, np.ndarray):
        return np
    if type(data).__module__.partition(".")[0] == "torch":
        import torch

        return torch
    import jax.numpy as jnp

    return jnp


def _sigmoid(data: Data, scores: Data) -> Data:
    return 0.5 * (1.0 + _name(scores).tanh(0.5 * data))


def _log2(data: Data) -> Data:
    return _name(data).log2(data)


def _softplus(data: Data) -> Data:
    return _name(data).logaddexp(data, 0.0 * data)
