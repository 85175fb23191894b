"""The objective of a rank SVM: squared hinge over all pairs of a query with different labels.

``½|w|² + C Σ_q Σ_{(i,j): y_i > y_j} a_ij max(0, 1 - w·(x_i - x_j))²``.  Rows are stored in blocks of whole
queries, standardised; a block's pass over its features stays in the processor's cache, and blocks are taken
by threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import BadValue, InputError
from rankstone.ltr.estimator_inputs import is_sparse
from rankstone.ltr.pair_sums import Active, TrainingPairs, levels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.ltr.estimator_inputs import Queries

    Result = TypeVar("Result")

#: rows of a block, about
_ROWS = 1 << 15
#: rows that are standardised at a time, in the processor's cache
_CACHED = 1 << 10
#: labels up to here have distinguishable gains
_LARGEST_EXPONENT = 50


class Scale(NamedTuple):
    """The centre and scale of features, float64 ``[features]``; the scale of a constant feature is 1.

    ``varies`` is True for features that are not constant.
    """

    mean: Floats
    spread: Floats
    varies: Bools

    @classmethod
    def of(cls, features: Any) -> Scale:  # noqa: ANN401 - dense or CSR
        """Return mean and standard deviation of each feature."""
        rows, width = features.shape
        total = np.zeros(width)
        squares = np.zeros(width)
        if is_sparse(features):
            total = np.bincount(features.indices, features.data, width)
            mean = total / rows
            off = (features.data - mean[features.indices]) ** 2
            stored = np.bincount(features.indices, minlength=width)
            squares = (
                np.bincount(features.indices, off, width) + (rows - stored) * mean**2
            )
        else:
            mean = features.mean(axis=0, dtype=np.float64)
            for begin in range(0, rows, _CACHED):
                off = features[begin : begin + _CACHED] - mean
                squares += np.einsum("ij,ij->j", off, off)
        spread = np.sqrt(squares / rows)
        # what is left of a constant is rounding
        noise = np.finfo(features.dtype).eps * np.abs(mean) * 8
        varies = spread > noise
        return cls(mean, np.where(varies, spread, 1.0), varies)

    def applied(self, features: Any) -> Any:  # noqa: ANN401 - arrays
        """Return features standardised in double precision, in the precision they have."""
        result = np.empty(features.shape, features.dtype)
        for begin in range(0, len(result), _CACHED):
            part = slice(begin, begin + _CACHED)
            result[part] = (features[part] - self.mean) / self.spread
        return result

    def unit(self) -> Scale:
        """Return the scale that changes nothing."""
        return Scale(np.zeros_like(self.mean), np.ones_like(self.spread), self.varies)


class State(NamedTuple):
    """The objective under some weights: its value and gradient, and the pairs active in each block."""

    weights: Floats
    value: float
    gradient: Floats
    active: list[Active]


class _Block(Record):
    """Some queries: standardised features, pairs, what a pair weighs in each document's query."""

    features: Any
    pairs: TrainingPairs
    weight: Floats

    def _scores(self, weights: Floats) -> Floats:
        scores = np.asarray(
            self.features @ weights.astype(self.features.dtype), np.float64
        )
        # pairs see differences: centred, they are exact
        query = self.pairs.query
        mean = np.bincount(query, scores) / np.bincount(query)
        centred: Floats = scores - mean[query]
        return centred

    def _back(self, values: Floats) -> Floats:
        return np.asarray(
            self.features.T @ values.astype(self.features.dtype), np.float64
        )

    def at(self, weights: Floats) -> tuple[float, Floats, Active]:
        scores = self._scores(weights)
        active = self.pairs.at(scores)
        bent = active.laplacian(scores)
        loss = active.count / 2 - 2 * active.excess * scores + scores * bent
        gradient = 2 * self.weight * (bent - active.excess)
        return float((self.weight * loss).sum()), self._back(gradient), active

    def curvature(self, active: Active, direction: Floats) -> Floats:
        return self._back(2 * self.weight * active.laplacian(self._scores(direction)))


class Hinge(Record):
    """The loss over all pairs, prepared once for any number of weights and of C.

    Attributes
    ----------
    blocks
        The rows that are in some pair.
    width
        How many features there are.
    queries, pairs
        How many queries have pairs, and what these pairs count together (their number, unless gains weigh
        them).
    pool
        Threads that take blocks.
    """

    blocks: Sequence[_Block]
    width: int
    queries: int
    pairs: float
    pool: ThreadPoolExecutor | None = None

    @classmethod
    def of(
        cls,
        features: Any,  # noqa: ANN401 - dense or CSR
        labels: Floats,
        queries: Queries,
        scale: Scale,
        *,
        query_weight: str,
        pair_weight: str,
    ) -> Hinge:
        """Prepare pairs; labels below 0 are not judged, so in none.

        Parameters
        ----------
        features, labels, queries
            Rows as they came.
        scale
            What features are standardised by; sparse ones are divided only, as pairs do not see a shift.
        query_weight
            ``query``: the pairs of each query count 1 together, so the loss is a mean over queries; ``pair``:
            a mean over pairs.
        pair_weight
            ``uniform``, or ``gain``: a pair counts as much as the gains ``2^label`` differ.
        """
        rows = queries.rows
        query = queries.query
        level = levels_of(query, labels[rows])
        judged = labels[rows] >= 0
        kept = judged & _has_several(query, labels[rows], judged)
        rows = rows[kept]
        query = query[kept]
        level = level[kept]
        if not len(rows):
            raise InputError(
                "no query has documents with different labels, so there is nothing to learn from",
                given=f"{counted(len(queries), 'query')}, {counted(len(labels), 'row')}",
                fix="do rows carry the ids of their queries, and labels their grades?",
            )
        gain = _gains(labels[rows]) if pair_weight == "gain" else None
        _, query = np.unique(query, return_inverse=True)
        parts = list(_parts(query, rows, level, gain))
        with _one_thread_each(), ThreadPoolExecutor(_threads()) as pool:
            blocks = list(pool.map(lambda part: _block(features, scale, *part), parts))
            weights = list(
                pool.map(
                    lambda block: block.pairs.weights(_last(block.pairs) + 1), blocks
                )
            )
        every = float(sum(weight.sum() for weight in weights))
        count = _last_of(query) + 1
        for block, weight in zip(blocks, weights, strict=True):
            share = (
                1.0 / (weight * count)
                if query_weight == "query"
                else np.full(len(weight), 1.0 / every)
            )
            block.weight[:] = share[block.pairs.query]
        return cls(blocks, features.shape[1], count, every)

    @contextmanager
    def working(self) -> Iterator[Hinge]:
        """Return the same with threads that are kept for many passes."""
        with _one_thread_each(), ThreadPoolExecutor(_threads()) as pool:
            yield replace(self, pool=pool)

    @property
    def rounding(self) -> float:
        """The relative error of scores: the precision of the features."""
        return float(np.finfo(self.blocks[0].features.dtype).eps)

    @cached_property
    def _zero(self) -> State:
        return self._at(np.zeros(self.width), 1.0)

    def zero(self, price: float) -> State:
        """Return the objective where all weights are zero."""
        start = self._zero
        return State(
            start.weights, price * start.value, price * start.gradient, start.active
        )

    def at(self, weights: Floats, price: float) -> State:
        """Return the objective under some weights, the loss at a price of C."""
        return self._at(weights, price) if weights.any() else self.zero(price)

    def _at(self, weights: Floats, price: float) -> State:
        parts = self._each(lambda block, _: block.at(weights))
        loss = sum(part[0] for part in parts)
        gradient = weights + price * np.sum([part[1] for part in parts], axis=0)
        value = 0.5 * float(weights @ weights) + price * loss
        return State(weights, value, gradient, [part[2] for part in parts])

    def curvature(self, state: State, direction: Floats, price: float) -> Floats:
        """Return the (generalised) Hessian times a direction."""
        products = self._each(
            lambda block, number: block.curvature(state.active[number], direction)
        )
        return direction + price * np.asarray(np.sum(products, axis=0), np.float64)

    def _each(self, work: Callable[[_Block, int], Result]) -> list[Result]:
        mapped = map if self.pool is None else self.pool.map
        return list(mapped(work, self.blocks, range(len(self.blocks))))


def _has_several(query: Ints, labels: Floats, judged: Bools) -> Bools:
    """Return which documents are in a query with different labels, bool ``[docs]``."""
    count = int(query[-1]) + 1 if len(query) else 0
    low = np.full(count, np.inf)
    high = np.full(count, -np.inf)
    np.minimum.at(low, query[judged], labels[judged])
    np.maximum.at(high, query[judged], labels[judged])
    return (low < high)[query]


def _gains(labels: Floats) -> Floats:
    largest = float(labels.max(initial=0.0))
    if largest > _LARGEST_EXPONENT:
        raise BadValue(
            f"pair_weight='gain' raises 2 to the label, and a label is {largest:g}",
            expected=f"labels up to {_LARGEST_EXPONENT}",
            fix="pair_weight='uniform', or grades instead of counts",
        )
    return np.exp2(labels)


def _parts(
    query: Ints, rows: Ints, level: Ints, gain: Floats | None
) -> Iterator[tuple[Ints, Ints, Ints, Floats | None]]:
    """Cut documents into blocks of whole queries."""
    begin = 0
    while begin < len(query):
        end = min(begin + _ROWS, len(query))
        if end < len(query):  # up to where a query ends
            end = int(np.searchsorted(query, query[end - 1], side="right"))
        part = slice(begin, end)
        # levels are numbered with unjudged documents below; what matters is their order
        yield (
            query[part] - query[begin],
            rows[part],
            level[part],
            None if gain is None else gain[part],
        )
        begin = end


def _block(
    features: Any,  # noqa: ANN401 - dense or CSR
    scale: Scale,
    query: Ints,
    rows: Ints,
    level: Ints,
    gain: Floats | None,
) -> _Block:
    together = slice(rows[0], rows[-1] + 1) if (np.diff(rows) == 1).all() else rows
    part = features[together]
    if is_sparse(part):
        part = part.copy()
        part.data /= scale.spread[part.indices].astype(part.dtype)
    else:
        part = scale.applied(part)
    return _Block(part, TrainingPairs(query, level, gain), np.zeros(len(rows)))


def _last(pairs: TrainingPairs) -> int:
    return _last_of(pairs.query)


def _last_of(query: Ints) -> int:
    return int(query[-1])


def _threads() -> int:
    return max(1, min(4, os.cpu_count() or 1))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Keep BLAS to one thread: blocks are what is done side by side."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
