"""Coordinate ascent: weights climbed one by one, straight up the measure itself.

Exact search along a line: the best step from scores ``s`` in a direction ``x``.

The score of a document is a line ``s + t·x``, so the order of a list changes only where two of these lines
cross, and a measure of orders is a step function of t (Och 2003 for machine translation).  Crossings of
documents with equal labels change nothing.  Between two crossings next to each other a list has one value:
every such order is measured, and the steps of all lists are added up from the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import InputError, UsageError, printable
from rankstone.hits.list_arrays import list_numbers, offsets_of
from rankstone.ltr.estimator_inputs import is_sparse, places_of, products
from rankstone.ltr.hinge_objective import Scale
from rankstone.ltr.linear_rankers import LinearRanker, check_number, checked_training
from rankstone.ltr.predictions import LabelledLists, checked_measure
from rankstone.ltr.rank_svm import RankSVM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Floats, Ints, NamedValues, Progress
    from rankstone.ltr.estimator_inputs import Queries
    from rankstone.measures.core.measure import Measure

#: documents whose orders are measured at a time
_ROWS: Final = 1 << 16
#: crossings this close to one another, as a share, are one
_CLOSE: Final = 1e-12


class Trials(NamedTuple):
    """Steps worth trying, the most promising first, float64; and what each promises in all lists together."""

    step: Floats
    total: Floats


class LineSearch(Record):
    """Some lists, to be searched along any direction.

    Attributes
    ----------
    lists
        Their labels.
    measure
        What is to be made best.
    better
        1 where higher is better, -1 where lower is.
    first, second
        int64 ``[pairs]``: documents of one list with different labels, list after list.
    pair_list
        int64 ``[pairs]``: the list of each pair.
    most
        Crossings of one list that are looked at, those nearest to a step of 0; beyond, nothing is known.
    """

    lists: LabelledLists
    measure: Measure
    better: int
    first: Ints
    second: Ints
    pair_list: Ints
    most: int

    @classmethod
    def of(
        cls, lists: LabelledLists, measure: Measure, better: int, most: int
    ) -> LineSearch:
        """Prepare lists."""
        first, second, of_list = pairs_of(lists)
        return cls(lists, measure, better, first, second, of_list, most)

    def best(self, scores: Floats, direction: Floats, count: int) -> Trials:
        """Return the most promising steps, the best of each of the ``count`` highest stretches of the sum.

        Parameters
        ----------
        scores, direction
            float64 ``[documents]``.
        """
        crossing, of_list = self._crossings(scores, direction)
        if not len(crossing):
            return Trials(np.empty(0), np.empty(0))
        low = -np.inf
        high = np.inf
        if len(crossing) > self.most:
            crossing, of_list, low, high = _nearest(crossing, of_list, self.most)
        order = np.lexsort((crossing, of_list))
        crossing, of_list = _distinct(crossing[order], of_list[order])
        middle, owner = _between(crossing, of_list)
        # a list without a value has none under any order
        value = self.better * np.nan_to_num(
            self._measured(scores, direction, middle, owner)
        )
        inside = owner[1:] == owner[:-1]
        jump = (value[1:] - value[:-1])[inside]
        start = float(value[np.concatenate(([True], ~inside))].sum())
        return _promising(crossing, start, jump, low, high, count)

    def _crossings(self, scores: Floats, direction: Floats) -> tuple[Floats, Ints]:
        """Return the steps at which documents with different labels meet, and their lists."""
        steeper = direction[self.second] - direction[self.first]
        ahead = scores[self.first] - scores[self.second]
        meet = np.flatnonzero(steeper)
        with np.errstate(over="ignore"):
            crossing = ahead[meet] / steeper[meet]
        known = np.isfinite(crossing)
        return crossing[known], self.pair_list[meet[known]]

    def _measured(
        self, scores: Floats, direction: Floats, step: Floats, owner: Ints
    ) -> Floats:
        """Return the value of each list in ``owner`` after its step."""
        lengths = np.diff(self.lists.offsets)[owner]
        ends = np.cumsum(lengths)
        parts = []
        begin = 0
        while begin < len(owner):
            done = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _ROWS, side="right")))
            moving = owner[begin:end]
            rows = _rows(self.lists.offsets, moving)
            step_of_row = np.repeat(step[begin:end], lengths[begin:end])
            moved = scores[rows] + step_of_row * direction[rows]
            parts.append(self.lists.take(moving).values(moved, self.measure))
            begin = end
        return np.concatenate(parts)


def pairs_of(lists: LabelledLists) -> tuple[Ints, Ints, Ints]:
    """Return all pairs of documents of one list with different labels, and the list of each pair."""
    firsts = []
    seconds = []
    owners = []
    lengths = np.diff(lists.offsets)
    for length in np.unique(lengths[lengths > 1]):
        chosen = np.flatnonzero(lengths == length)
        former, other = np.triu_indices(int(length), 1)
        begins = lists.offsets[:-1][chosen][:, None]
        first = (begins + former).ravel()
        second = (begins + other).ravel()

        # unjudged documents, below zero, are alike
        first_label = np.maximum(lists.labels[first], -1)
        second_label = np.maximum(lists.labels[second], -1)
        unlike = first_label != second_label
        firsts.append(first[unlike])
        seconds.append(second[unlike])
        owners.append(np.repeat(chosen, len(former))[unlike])
    none = [np.empty(0, np.int64)]
    return (
        np.concatenate(firsts or none),
        np.concatenate(seconds or none),
        np.concatenate(owners or none),
    )


def _rows(offsets: Ints, lists: Ints) -> Ints:
    lengths = np.diff(offsets)[lists]
    begins = offsets_of(lengths)[:-1]
    return np.arange(int(lengths.sum())) + np.repeat(offsets[lists] - begins, lengths)


def _nearest(
    crossing: Floats, of_list: Ints, most: int
) -> tuple[Floats, Ints, float, float]:
    """Return the crossings nearest to 0, and the range around it in which all of them are known."""
    reach = float(np.partition(np.abs(crossing), most)[most])
    near = np.abs(crossing) < reach
    return crossing[near], of_list[near], -reach, reach


def _distinct(crossing: Floats, of_list: Ints) -> tuple[Floats, Ints]:
    """Return crossings, ascending within lists, without duplicates."""
    fresh = np.ones(len(crossing), bool)
    apart = crossing[1:] - crossing[:-1] > _CLOSE * np.maximum(
        np.abs(crossing[1:]), np.abs(crossing[:-1])
    )
    fresh[1:] = apart | (of_list[1:] != of_list[:-1])
    return crossing[fresh], of_list[fresh]


def _between(crossing: Floats, of_list: Ints) -> tuple[Floats, Ints]:
    """Return a step between every two neighbouring crossings of a list, before its first, after its last."""
    heads = np.flatnonzero(np.concatenate(([True], of_list[1:] != of_list[:-1])))
    sizes = np.diff(np.append(heads, len(of_list)))
    owner = np.repeat(of_list[heads], sizes + 1)
    place = np.arange(len(crossing)) + list_numbers(sizes)
    before = np.full(len(owner), -np.inf)
    after = np.full(len(owner), np.inf)
    after[place], before[place + 1] = crossing, crossing
    return _middle(before, after), owner


def _middle(before: Floats, after: Floats) -> Floats:
    """Return a number between each two; beyond the outermost one, well away from it."""
    with np.errstate(invalid="ignore"):
        middle = before / 2 + after / 2
    left = np.isinf(before)
    right = np.isinf(after)
    middle[left] = after[left] - np.maximum(np.abs(after[left]), 1.0)
    middle[right] = before[right] + np.maximum(np.abs(before[right]), 1.0)
    return middle


def _promising(
    crossing: Floats, start: float, jump: Floats, low: float, high: float, count: int
) -> Trials:
    """Add up the jumps from the left, and return the middles of the highest stretches, widest first."""
    order = np.argsort(crossing, kind="stable")
    edge = crossing[order]
    height = start + np.concatenate(([0.0], np.cumsum(jump[order])))
    before = np.append(-np.inf, edge)
    after = np.append(edge, np.inf)
    before = np.maximum(before, low)
    after = np.minimum(after, high)
    apart = np.flatnonzero(after > before)
    middle = _middle(before[apart], after[apart])
    best = np.lexsort((before[apart] - after[apart], -height[apart].round(9)))[:count]
    return Trials(middle[best], height[apart][best])


#: promising steps that are tried on all queries
_TRIED: Final = 3


class CoordinateAscent(LinearRanker):
    """A linear ranker whose weights make a measure's mean over the training queries as high as can be.

    One weight after the other is set to the best value there is for it while the others stay: along such a
    line the measure is a step function, and all its steps are looked at.  Passes over the features go on
    until one gains less than ``tol``.  Where that ends depends on where it began, so it begins several times:
    at a rank SVM, and at random weights.

    Parameters
    ----------
    measure
        Any measure for which scores and labels suffice, and which has a closed form for ties: ``"nDCG@10"``,
        ``"nDCG(gain=exp2)@10"``, ``"AP"``, ``"RR@10"``, ``"nERR@20"`` …
    start
        ``"svm"`` (a :class:`RankSVM`), ``None`` (random weights only), weights ``[features]``, or a trained
        linear model.  The result is never worse on the training measure than this start.
    restarts
        How many more times to begin, at random weights.
    max_iter
        Passes over the features from each start, at most.
    tol
        A pass that gains less is the last one.
    work
        Documents whose order is measured in one line search, about.  Where all crossings of all queries are
        more than that, a line is searched over a random sample of queries, and every step is tried on all of
        them.
    random_state
        Of starts, of the order of features and of samples.
    progress
        Called with 1 for every line searched.

    Attributes
    ----------
    coef_
        float64 ``[features]``, of the features as they came.
    value_
        The measure's mean over the training queries.
    history_
        A row for each pass: start (0 is ``start``), pass, mean after it.
    measure_
        The measure's canonical text.

    Notes
    -----
    Tied documents are in any order with equal probability, so that equal scores, of a zero vector say, earn
    what chance earns and never what the order of rows happens to be.  A label below 0 is not judged.  A
    constant feature keeps the weight 0.

    Metzler and Croft 2007 (the method; there, and in RankLib, steps are tried from a grid).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.2], [0.5, 0.1], [0.2, 0.9]])
    >>> model = CoordinateAscent("RR", start=None, restarts=1).fit(X, [0, 1, 1, 0], qid=[1, 1, 2, 2])
    >>> model.value_
    1.0
    """

    def __init__(
        self,
        measure: str | Measure = "nDCG@10",
        *,
        start: Any = "svm",  # noqa: ANN401 - a word, weights or a model
        restarts: int = 2,
        max_iter: int = 25,
        tol: float = 1e-4,
        work: int = 500_000,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.measure = measure
        self.start = start
        self.restarts = restarts
        self.max_iter = max_iter
        self.tol = tol
        self.work = work
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: object, y: object, qid: object = None) -> Self:
        """Climb; parameters are those of :meth:`RankSVM.fit`."""
        self._check()
        measure = checked_measure(self.measure, climbed=True)
        features, labels, queries = checked_training(X, y, qid)
        scale = Scale.of(features)
        climb = _Climb(features, labels, queries, scale, measure, self)
        self.history_: list[tuple[int, int, float]] = []
        best: tuple[float, Floats] | None = None
        places = places_of(self.start, X, where="start")
        starts = self._starts(features, labels, queries, scale, places)
        for climb_number, start in enumerate(starts):
            reached = climb.mean_of(start), start
            for number, state in enumerate(climb.passes(*reached), start=1):
                reached = state
                self.history_.append((climb_number, number, climb.better * reached[0]))
            if best is None or reached[0] > best[0]:
                best = reached
        if best is None:
            raise UsageError(
                "there is nowhere to start", fix='start="svm", or restarts=1'
            )

        value, weights = best
        self.value_ = climb.better * value
        self.coef_ = weights / scale.spread
        self.measure_ = str(measure)
        self.n_features_in_ = features.shape[1]
        self.n_queries_ = len(climb.lists.offsets) - 1
        self._remember(X, labels, queries)
        return self

    def _starts(
        self,
        features: Any,  # noqa: ANN401 - dense or CSR
        labels: Floats,
        queries: Queries,
        scale: Scale,
        places: Ints | None,
    ) -> Iterator[Floats]:
        """Yield weights, of standardised features, to begin with; ``places`` are those of a model's names."""
        rng = np.random.default_rng(self.random_state)
        if self.start is not None:
            origin = self.start
            if isinstance(origin, str):
                origin = RankSVM().fit(features, labels, queries.of_rows())
            weights = np.asarray(getattr(origin, "coef_", origin), np.float64)
            if weights.shape != (features.shape[1],) or not np.isfinite(weights).all():
                raise InputError(
                    f"start has shape {weights.shape}",
                    expected=f"{counted(features.shape[1], 'finite weight')}",
                )
            if places is not None:
                weights = weights[np.argsort(places)]
            yield weights * scale.spread
        for _ in range(self.restarts):
            yield np.where(scale.varies, rng.normal(size=features.shape[1]), 0.0)

    def _check(self) -> None:
        for name in ("max_iter", "work"):
            check_number(name, getattr(self, name), whole=True)
        check_number("restarts", self.restarts, above=-1, whole=True)
        check_number("tol", self.tol)
        check_number("random_state", self.random_state, above=-1, whole=True)
        if isinstance(self.start, str) and self.start != "svm":
            raise UsageError(
                f"start={printable(self.start)!r}",
                expected='"svm", None, weights, or a trained linear model',
            )

    def provenance(self) -> NamedValues:
        """Return how it was trained, for :class:`~rankstone.ltr.LinearModel`."""
        start = (
            self.start if self.start is None or isinstance(self.start, str) else "given"
        )
        recorded = ("restarts", "max_iter", "tol", "work", "random_state")
        return {
            "trainer": "CoordinateAscent",
            "measure": self.measure_,
            "start": start,
            **{name: getattr(self, name) for name in recorded},
            "value": self.value_,
            "n_queries": self.n_queries_,
        }


class _Climb:
    """The training data, ready to be climbed from any start."""

    def __init__(
        self,
        features: Any,  # noqa: ANN401 - dense or CSR
        labels: Floats,
        queries: Queries,
        scale: Scale,
        measure: Measure,
        settings: CoordinateAscent,
    ) -> None:
        self.better = -1 if measure.card.direction == "lower" else 1
        self.features = features
        self.columns = features.tocsc() if is_sparse(features) else features
        self.rows, self.scale, self.measure, self.settings = (
            queries.rows,
            scale,
            measure,
            settings,
        )
        self.lists = LabelledLists.of(labels[queries.rows], queries.offsets)
        self.rng = np.random.default_rng([settings.random_state, 1])
        self.active = np.flatnonzero(scale.varies)
        self._size = _work_of(self.lists)
        if not self._size.any():
            raise InputError(
                "no query has documents with different labels, so no order is better than another",
                given=f"{counted(len(queries), 'query')}, {counted(len(labels), 'row')}",
                fix="do rows carry the ids of their queries, and labels their grades?",
            )
        whole = int(self._size.sum()) <= settings.work
        self._every = self._line(np.flatnonzero(self._size)) if whole else None

    def passes(self, value: float, weights: Floats) -> Iterator[tuple[float, Floats]]:
        """Climb, and yield the mean (times -1 where lower is better) and weights after each pass."""
        for _ in range(self.settings.max_iter):
            before = value
            weights, value = self._pass(weights.copy(), value)
            yield value, weights
            if value - before < self.settings.tol:
                return

    def mean_of(self, weights: Floats) -> float:
        """Return the mean under some weights, as :meth:`LinearRanker.predict` would rank."""
        return self._mean(
            products(self.features, weights / self.scale.spread)[self.rows]
        )

    def _pass(self, weights: Floats, value: float) -> tuple[Floats, float]:
        """Set every weight once; where rounding undoes what was gained, the weights stay as they are."""
        reached = value
        start = weights.copy()
        scores = products(self.features, weights / self.scale.spread)[self.rows]
        for feature in self.rng.permutation(self.active):
            direction = self._column(int(feature))
            step, mean = self._searched(scores, direction, reached)
            if mean > reached:
                weights[feature] += step
                scores += step * direction
                reached = mean
            if self.settings.progress is not None:
                self.settings.progress(1)
        size = np.abs(weights).sum()
        weights /= size or 1.0  # an order has no scale
        reached = self.mean_of(weights)
        return (weights, reached) if reached > value else (start, value)

    def _searched(
        self, scores: Floats, direction: Floats, value: float
    ) -> tuple[float, float]:
        """Return the best step and the mean after it, tried on all queries; 0 where none is better."""
        line, rows = self._every or self._sampled()
        candidates = line.best(scores[rows], direction[rows], _TRIED)
        best = 0.0, value
        for step in candidates.step:
            reached = self._mean(scores + step * direction)
            if reached > best[1]:
                best = float(step), reached
                if self._every is not None:
                    break  # the sum over all lists has said so, too
        return best

    def _mean(self, scores: Floats) -> float:
        values = self.lists.values(scores, self.measure)
        known = ~np.isnan(values)
        return self.better * float(values[known].mean()) if known.any() else 0.0

    def _column(self, feature: int) -> Floats:
        column = (
            self.columns[:, [feature]]
            if is_sparse(self.columns)
            else self.columns[:, feature]
        )
        dense = column.toarray()[:, 0] if is_sparse(column) else column
        return np.asarray(
            np.asarray(dense[self.rows], np.float64) / self.scale.spread[feature]
        )

    def _sampled(self) -> tuple[LineSearch, Ints]:
        """Return a line over a random sample of queries."""
        order = self.rng.permutation(np.flatnonzero(self._size))
        count = max(
            1, int(np.searchsorted(np.cumsum(self._size[order]), self.settings.work))
        )
        return self._line(np.sort(order[:count]))

    def _line(self, lists: Ints) -> tuple[LineSearch, Ints]:
        """Return a line over some lists, and the positions of their documents."""
        sample = self.lists.take(lists)
        lengths = np.diff(sample.offsets)
        shift = self.lists.offsets[lists] - sample.offsets[:-1]
        rows = np.arange(int(lengths.sum())) + np.repeat(shift, lengths)
        most = max(1, int(self.settings.work / max(lengths.mean(), 1)))
        return LineSearch.of(sample, self.measure, self.better, most), rows


def _work_of(lists: LabelledLists) -> Ints:
    """Return how many documents all orders of each list along a line have, at most, int64 ``[lists]``."""
    lengths = np.diff(lists.offsets)
    query = list_numbers(lengths)
    _, kind = np.unique(np.maximum(lists.labels, -1), return_inverse=True)
    kinds = int(kind.max(initial=0)) + 1
    counts = np.bincount(query * kinds + kind)

    same = np.zeros(len(lengths), np.int64)
    query_of_count = np.flatnonzero(counts) // kinds
    np.add.at(same, query_of_count, counts[counts > 0] ** 2)
    return (lengths**2 - same) // 2 * lengths
