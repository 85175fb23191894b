"""Losses for training: measures are step functions of scores, these have gradients.

Soft ranks replace ranks (Qin, Liu and Li, A general approximation framework for direct optimization of
information retrieval measures, Information Retrieval 2010); or pairs of documents are weighted by the effect
of swapping them on the measure itself (Burges, From RankNet to LambdaRank to LambdaMART, 2010).
Scores are ``[lists, longest]``, of NumPy, PyTorch or JAX; results have gradients, and JAX may transform the
functions: ``jit``, ``vmap``, ``grad``.

The effect of swapping two documents on a measure is computed in closed form, for all pairs at once.

Tied documents are in any order with equal probability, before a swap and after it.  A block of ties keeps its
ranks when two documents are swapped; only its number of relevant documents changes.  So every change is
computed from numbers of the two blocks, and none of the n²/2 swapped lists is built.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadOption, BadParameter
from rankstone.integrations.arrays.array_layout import Padded, uncompiled
from rankstone.integrations.arrays.device_arrays import blocks_of
from rankstone.measures.average_precision import AP
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.core.gains_and_discounts import never_falls
from rankstone.measures.core.syntax import parse_measure
from rankstone.measures.dcg import GainMeasure, nDCG
from rankstone.measures.precision import P, R, Success
from rankstone.measures.reciprocal_rank import RR

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats
    from rankstone.integrations.arrays.device_arrays import Data
    from rankstone.measures.core.measure import Measure

#: the measures with a closed form, for the error
_CLOSED: Final = (
    "CG, DCG, nDCG, P, R, Success, AP and RR, with any cutoff, gain, discount and rel"
)


@uncompiled
def pair_weights(
    scores: Data, labels: object, measure: str | Measure, *, mask: object = None
) -> Data:
    """Return the absolute change of a measure if two documents are swapped, ``[lists, longest, longest]``.

    Tied documents are in any order with equal probability, so swapping two of them changes nothing.

    Parameters
    ----------
    scores, labels, mask
        As for :func:`approx_ndcg`; weights have no gradients.
    measure
        CG, DCG, nDCG, P, R, Success, AP or RR; not with ``ideal=topk``, ``pad=min_grade``, ``denom=hits``
        or ``tied=block``.

    Raises
    ------
    BadParameter
        For a measure without a closed form.

    Examples
    --------
    >>> pair_weights(np.array([[3.0, 2.0]]), [[0, 1]], "RR").tolist()
    [[[0.0, 0.5], [0.5, 0.0]]]
    """
    padded = Padded.of(scores, labels, mask)
    parts = map(padded.part, padded.slices())
    weights = [part.back(changes(part, measure)) for part in parts]
    return padded.xp.concatenate(weights, 0)


@lru_cache(64)
def _parsed(measure: str | Measure) -> Any:  # noqa: ANN401 - a measure of some kind
    return parse_measure(measure)


def changes(padded: Padded, measure: str | Measure) -> Data:
    """Return the weights of all pairs, as exact as the library can."""
    kind = _parsed(measure)
    blocks = _Blocks(padded)
    factors = _factors(blocks, kind)
    if factors is not None:
        return _sum_changes(blocks, *factors)
    if isinstance(kind, AP) and kind.denom != "hits" and kind.tied == "order":
        relevant = padded.relevant(kind.threshold)
        change = _precision_changes(blocks, relevant, kind.k)
        norm = _denominator(padded, kind, relevant)
        return change / norm[:, None, None]
    if isinstance(kind, (RR, Success)):
        by_rank = np.ones(padded.width)
        if isinstance(kind, RR):
            by_rank = 1.0 / by_rank.cumsum()
        targets = _targets(padded, kind)
        return _first_changes(blocks, targets, _cut(by_rank, kind.k))
    raise BadParameter(
        f"{kind}: there is no closed form for the change by a swap of two documents",
        expected=_CLOSED,
        fix="choose other values than ideal=topk, pad=min_grade, denom=hits and tied=block",
    )


def _factors(blocks: _Blocks, kind: Any) -> tuple[Data, Data] | None:  # noqa: ANN401 - a measure
    """Return each document's gain over the norm, and what its ranks multiply a gain with.

    ``None`` for a measure that is no sum of such products.
    """
    padded = blocks.padded
    if isinstance(kind, (P, R)):
        relevant = padded.relevant(kind.threshold)
        gain = padded.own(1.0) * relevant
        by_rank = _cut(np.ones(padded.width), kind.k)
        norm = _denominator(padded, kind, relevant)
    elif (
        isinstance(kind, GainMeasure)
        and kind.pad != "min_grade"
        and getattr(kind, "ideal", "") != "topk"
    ):
        gain = padded.worth(kind)
        by_rank = _discounts(kind, padded.width, kind.k)
        norm = _ideal(padded, kind, gain)
    else:
        return None
    return gain / norm[:, None], blocks.summed(by_rank) / blocks.count


class _Blocks(Record):
    """The block of ties of each document; whole numbers ``[lists, longest]``."""

    padded: Padded

    @cached_property
    def order(self) -> Data:
        """The places of the documents by score descending; padding comes last."""
        xp, key = self.padded.xp, -self.padded.fixed
        if self.padded.there is not None:
            key = xp.where(self.padded.there, key, np.nan)
        return xp.argsort(key, 1)

    @cached_property
    def _ends(self) -> tuple[Data, Data]:
        """The first and the last rank of each document's block."""
        if hasattr(self.padded.fixed, "detach"):
            return self._ends_by_search
        key = self.padded.taken(self.padded.fixed, self.order)
        equal = key[:, 1:] == key[:, :-1]
        if self.padded.there is not None:
            there = self.padded.taken(self.padded.there, self.order)
            equal = equal & there[:, 1:]
        place = self.padded.xp.argsort(self.order, 1)
        if not equal.shape[1]:
            return place + 1, place + 1
        ends = blocks_of(self.padded.wrapped(equal))
        first, last = map(self.padded.unwrapped, ends)
        return self.padded.taken(first, place), self.padded.taken(last, place)

    @property
    def _ends_by_search(self) -> tuple[Data, Data]:
        """The same, from the numbers of documents that score more, and as much."""
        xp, key = self.padded.xp, self.padded.fixed
        if self.padded.there is not None:
            key = xp.where(self.padded.there, key, -np.inf)
        ascending = xp.sort(key, 1).values
        less = xp.searchsorted(ascending, key)
        no_more = xp.searchsorted(ascending, key, right=True)
        return self.padded.width + 1 - no_more, self.padded.width - less

    @property
    def first(self) -> Data:
        """The first rank of the block."""
        return self._ends[0]

    @property
    def count(self) -> Data:
        """The number of documents in the block."""
        first, last = self._ends
        return last - (first - 1)

    @cached_property
    def size(self) -> Data:
        """The same as a float, since PyTorch divides integers in float32."""
        return self.padded.own(1.0) * self.count

    def above(self, values: Data) -> Data:
        """Return the sum of the values of documents above each one's block."""
        return self.padded.taken(self._through(values), self.first - 1)

    def inside(self, documents: Data) -> Data:
        """Return how many of some documents are in each one's block."""
        counts = self._through(1 * documents)
        until_last = self.padded.taken(counts, self._ends[1])
        return until_last - self.padded.taken(counts, self.first - 1)

    def _through(self, values: Data) -> Data:
        """Return sums over the documents down to ranks 0, 1, 2, …."""
        xp = self.padded.xp
        ordered = self.padded.taken(values, self.order)
        sums = xp.cumsum(ordered, 1)
        return xp.concatenate((0 * sums[:, :1], sums), 1)

    def summed(self, by_rank: Floats) -> Data:
        """Return the sum of numbers of ranks over the ranks of each block."""
        sums = np.concatenate(([0.0], np.cumsum(by_rank)))
        through = self.padded.own(sums)
        first, last = self._ends
        return through[last] - through[first - 1]


def _sum_changes(blocks: _Blocks, gain: Data, share: Data) -> Data:
    """Return the changes of ``Σ gain · value of the rank / norm``: products of two differences."""
    change = abs(_differences(gain) * _differences(share))
    there = blocks.padded.there
    if there is None:
        return change
    both = there[:, :, None] & there[:, None, :]
    return blocks.padded.xp.where(both, change, 0.0)


def _differences(values: Data) -> Data:
    """Return the value of the second document less that of the first, for all pairs."""
    return values[:, None, :] - values[:, :, None]


def _precision_changes(blocks: _Blocks, relevant: Data, k: int | None) -> Data:
    """Return the changes of the sum of precisions at relevant documents.

    A block of ranks s … s + n − 1 with m relevant documents below C relevant ones adds
    ``m/n · Σ_r (C + 1 + (r − s)(m − 1)/(n − 1)) / r``; between the two blocks C is one more, or one fewer.
    """
    xp = blocks.padded.xp
    size = blocks.size
    ranks = np.arange(1.0, blocks.padded.width + 1)
    once = blocks.summed(_cut(1.0 / ranks, k))  # Σ 1/r
    depth = blocks.summed(_cut(np.ones_like(ranks), k))
    past = depth - blocks.first * once  # Σ (r − s)/r
    inside = blocks.inside(relevant)
    before = blocks.above(1 * relevant)
    others = xp.where(size > 1, size - 1, 1)

    def added(more: int, above: int) -> Data:
        count = inside + more
        precisions = (before + above + 1) * once + (count - 1) / others * past
        return count / size * precisions

    now = added(0, 0)
    each = inside / size * once  # the change if one more is above
    until = blocks.above(each / size)  # the same, summed over all blocks above
    past_it = until + each
    risen_to = added(1, 0) - now - past_it
    risen_from = added(-1, 1) - now + until
    sunk_from = added(-1, 0) - now + past_it
    sunk_to = added(1, -1) - now - until
    first = blocks.first
    change = xp.where(
        first[:, None, :] < first[:, :, None],
        risen_from[:, :, None] + risen_to[:, None, :],
        sunk_from[:, :, None] + sunk_to[:, None, :],
    )
    return _both_ways(blocks, relevant, change)


def _first_changes(blocks: _Blocks, targets: Data, by_rank: Floats) -> Data:
    """Return the changes of the mean value of the rank of the first target document.

    Without the moved one, the first targets are in a block ``top``.  If the other document is above it, its
    block alone decides; if it is in it, the block has one more target; if it is below, nothing changes.
    """
    padded = blocks.padded
    xp = padded.xp
    first = blocks.first
    size = blocks.size
    inside = blocks.inside(targets)
    nowhere = 0 * first + 2 * padded.width

    def block(among: Data) -> _Block:
        begin = -padded.largest(-xp.where(among, first, nowhere))
        here = among & (first == begin)
        documents = padded.largest(xp.where(here, size, 0))
        count = padded.largest(xp.where(here, inside, 0))
        return _Block(begin, documents, count)

    best = block(targets)
    following = block(targets & (first > best.begin))
    fewer = best._replace(count=best.count - 1)
    last_one = best.count == 1
    without = _Block(
        *(xp.where(last_one, *fields) for fields in zip(following, fewer, strict=True))
    )

    def mean(more: int) -> Data:
        """Return the value with so many more targets in the top block of the others."""
        moved = _mean_first(padded, without, more, by_rank)
        return xp.where(is_best, moved, _mean_first(padded, best, more, by_rank))

    is_best = first == best.begin
    now = _mean_first(padded, best, 0, by_rank)
    top = xp.where(is_best, without.begin, best.begin)[:, :, None]
    alone = blocks.summed(by_rank) / size
    place = first[:, None, :]
    with_other = mean(1)[:, :, None]
    below = mean(0)[:, :, None]
    then = xp.where(place == top, with_other, below)
    then = xp.where(place < top, alone[:, None, :], then)
    return _both_ways(blocks, targets, then - now[:, :, None])


class _Block(NamedTuple):
    """A block of each list, ``[lists, 1]``: its first rank, its documents, and its number of targets."""

    begin: Data
    size: Data
    count: Data


def _mean_first(padded: Padded, top: _Block, more: int, by_rank: Floats) -> Data:
    """Return the mean value of the rank of the first target of a block with so many more, ``[lists, 1]``."""
    xp = padded.xp
    count = top.count + more
    place = xp.cumsum(xp.ones_like(padded.grade) > 0, 1) - 1
    inside = place < top.size
    left = xp.where(inside, top.size - place, 1.0)  # documents from this place on
    none_here = xp.where(left > count, (left - count) / left, 0.0)
    begin = 0 * none_here[:, :1] + 1
    none_until = xp.cumprod(none_here, 1)
    before = xp.concatenate((begin, none_until[:, :-1]), 1)
    beyond = np.zeros(2 * padded.width + 1)
    values = padded.own(np.concatenate((by_rank, beyond)))
    numbers = values[top.begin - 1 + place]
    chances = xp.where(inside, before * count / left, 0.0)
    return (chances * numbers).sum(1)[:, None]


def _both_ways(blocks: _Blocks, targets: Data, change: Data) -> Data:
    """Return the symmetric table of changes between some documents and the others."""
    others = ~targets
    if blocks.padded.there is not None:
        others = others & blocks.padded.there
    apart = _differences(blocks.first) != 0
    apart = apart & targets[:, :, None] & others[:, None, :]
    table = blocks.padded.xp.where(apart, abs(change), 0.0)
    return table + table.swapaxes(1, 2)


@lru_cache(64)
def _discounts(measure: GainMeasure, width: int, k: int | None = None) -> Floats:
    return _cut(1.0 / measure.divisor(np.arange(1, width + 1)), k)


def _cut(by_rank: Floats, k: int | None) -> Floats:
    """Return the values of ranks, 0 below the cutoff."""
    depth = len(by_rank) if k is None else k
    return np.where(np.arange(len(by_rank)) < depth, by_rank, 0.0)


def _ideal(padded: Padded, measure: GainMeasure, gain: Data) -> Data:
    """Return the norm of the discounted gains, ``[lists]``; 1 without gain."""
    if not isinstance(measure, nDCG):
        return padded.own(1.0) + 0 * padded.lengths()
    whole = measure.ideal_depth == "all"
    if measure.ideal != "k_ones":
        discounts = _discounts(measure, padded.width, None if whole else measure.k)
        products = padded.descending(gain) * padded.own(discounts)
        total = products.sum(1)
        return padded.xp.where(total > 0, total, 1.0)
    lengths = padded.lengths()
    most = measure.k or padded.width
    sums = np.cumsum(_discounts(measure, most))
    through = padded.own(np.concatenate(([1.0], sums)))
    if whole or (measure.ideal_depth == "k" and measure.pad != "shrink"):
        lengths = 0 * lengths + most
    lengths = padded.xp.where(lengths > most, most, lengths)
    return through[lengths]


def _denominator(padded: Padded, measure: Any, relevant: Data) -> Data:  # noqa: ANN401 - P, R or AP
    """Return the smallest number that ``denom`` names, ``[lists]``; 1 for 0, when the numerator is 0."""
    xp = padded.xp
    length = padded.lengths()
    known = padded.xp.count_nonzero(relevant, 1)
    depth = length if measure.k is None else 0 * length + measure.k
    named = measure.denom.removeprefix("min_").split("_")
    if isinstance(measure, P):
        length = xp.minimum(length, depth)
    limits = {"R": known, "k": depth, "n": length}
    least = limits[named[0]]
    for name in named[1:]:
        least = xp.minimum(least, limits[name])
    return xp.where(least > 1, least, 1)


def _targets(padded: Padded, measure: RR | Success) -> Data:
    """Return the target documents: the relevant ones, or those of the best grade."""
    relevant = padded.relevant(measure.threshold)
    if getattr(measure, "target", "first") == "first":
        return relevant
    grade = padded.xp.where(relevant, padded.grade, 0.0)
    return relevant & (grade == padded.largest(grade))


@uncompiled
def soft_ranks(scores: Data, *, mask: object = None, temperature: float = 0.1) -> Data:
    """Return ``1 + Σ_j σ((s_j − s_i) / temperature)``: the smooth rank of each document.

    Parameters
    ----------
    scores
        ``[lists, longest]``.
    mask
        bool ``[lists, longest]``: False for places without a document.
    temperature
        Towards 0 soft ranks become ranks, and gradients vanish.

    Examples
    --------
    >>> soft_ranks(np.array([[3.0, 1.0, 2.0]]), temperature=0.01).tolist()
    [[1.0, 3.0, 2.0]]
    """
    unlabelled = np.zeros(tuple(scores.shape))
    return _soft_ranks(Padded.of(scores, unlabelled, mask), temperature)


def _soft_ranks(padded: Padded, temperature: float) -> Data:
    if not temperature > 0:
        raise BadOption(
            f"temperature={temperature} is out of range", expected="more than 0"
        )
    above = _above(padded, temperature)
    if padded.there is None:
        return 0.5 + above.sum(2)  # a document is half above itself
    above = padded.xp.where(padded.there[:, None, :], above, 0.0)
    return 0.5 + above.sum(2) + 0.5 * ~padded.there


def _above(padded: Padded, temperature: float) -> Data:
    """Return the degree to which the second document is above the first, ``[lists, longest, longest]``."""
    apart = _differences(padded.scores) / temperature
    return 0.5 * (1.0 + padded.xp.tanh(0.5 * apart))


@uncompiled
def approx_ndcg(
    scores: Data,
    labels: object,
    *,
    mask: object = None,
    temperature: float = 0.1,
    gain: str = "exp2",
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
    padded = Padded.of(scores, labels, mask)
    measure = nDCG(gain=gain)
    worth = padded.worth(measure)
    norm = _ideal(padded, measure, worth)
    share = padded.back(worth / norm[:, None])
    ranks = _soft_ranks(padded, temperature)
    return (share / padded.xp.log2(1.0 + ranks)).sum(1)


@uncompiled
def approx_mrr(
    scores: Data, labels: object, *, mask: object = None, temperature: float = 0.1
) -> Data:
    """Return the reciprocal rank with soft ranks, ``[lists]``; 0 for lists without a relevant document.

    Each relevant document adds one over its soft rank, times the probability that no other is above it.

    Parameters
    ----------
    scores, labels, mask, temperature
        As for :func:`approx_ndcg`.

    Examples
    --------
    >>> approx_mrr(np.array([[3.0, 1.0, 2.0]]), [[0, 1, 1]], temperature=0.01).tolist()
    [0.5]
    """
    padded = Padded.of(scores, labels, mask)
    relevant = padded.relevant(ANY_GAIN)
    others = padded.own(np.eye(padded.width)) == 0
    rivals = relevant[:, None, :] & others
    below = 1.0 - _above(padded, temperature)
    chance = padded.xp.where(rivals, below, 1.0).prod(2)
    ranks = _soft_ranks(padded, temperature)
    return padded.xp.where(relevant, chance / ranks, 0.0).sum(1)


@uncompiled
def lambda_loss(
    scores: Data,
    labels: object,
    measure: str | Measure,
    *,
    mask: object = None,
    sigma: float = 1.0,
) -> Data:
    """Return LambdaRank's loss, ``[lists]``: ``Σ |ΔM| · ln(1 + exp(−σ (s_i − s_j)))``, i better than j.

    Parameters
    ----------
    scores, labels, measure, mask
        As for ``pair_weights``; unjudged documents are in no pair.
    sigma
        The steepness of the loss of a pair.
    """
    padded = Padded.of(scores, labels, mask)
    kind = _parsed(measure)
    rises = not isinstance(kind, GainMeasure) or never_falls(kind.gain)
    factors = _factors(_Blocks(padded), kind) if rises else None
    if factors is None:
        weigh = _weights_of_changes(padded, measure)
    else:
        weigh = _weights_of_factors(padded, *factors)
    steep = padded.scores
    if sigma != 1:
        steep = sigma * steep
    if hasattr(steep, "detach"):
        from rankstone.integrations.arrays.torch_arrays import PairLoss

        return PairLoss.apply(steep, weigh, padded.slices())
    losses = []
    for lists in padded.slices():
        loss = weigh(lists) * padded.softplus(_differences(steep[lists]))
        losses.append(loss.sum((1, 2)))
    return padded.xp.concatenate(losses, 0)


def _weights_of_factors(
    padded: Padded, gain: Data, share: Data
) -> Callable[[slice], Data]:
    """Return the weights where they are products: who gains more is the better of two.

    Unjudged documents gain less than all others, and more: they are the better one of no pair.
    """
    xp = padded.xp
    better = padded.back(xp.where(padded.judged, gain, -np.inf))
    worse = padded.back(xp.where(padded.judged, gain, np.inf))
    share = padded.back(share)

    def weigh(lists: slice) -> Data:
        weight = better[lists, :, None] - worse[lists, None, :]
        weight = xp.clip(weight, 0.0, None)
        weight *= abs(_differences(share[lists]))
        return weight

    return weigh


def _weights_of_changes(
    padded: Padded, measure: str | Measure
) -> Callable[[slice], Data]:
    """Return the weights where each is a number of its own; who has the higher grade is the better of two."""

    def weigh(lists: slice) -> Data:
        part = padded.part(lists)
        weight = part.back(changes(part, measure))
        better = _differences(part.grade) < 0
        return padded.xp.where(better, weight, 0.0)

    return weigh
