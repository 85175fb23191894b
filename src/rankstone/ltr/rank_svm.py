"""A linear rank SVM: squared hinge over all pairs, in the primal, pairs never listed.

Truncated Newton: steps solved for by conjugate gradients, as exactly as the progress requires.

The squared hinge has a piecewise constant curvature, so few steps are needed (Chapelle and Keerthi 2010).
With ``nonnegative`` weights at zero that the gradient pushes outward stay there while a step is solved for,
and steps are projected (Bertsekas 1982).
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from rankstone._basics import Record, counted
from rankstone.errors import UsageError
from rankstone.ltr.estimator_inputs import places_of
from rankstone.ltr.hinge_objective import Hinge, Scale
from rankstone.ltr.linear_rankers import (
    LinearRanker,
    check_choice,
    check_number,
    checked_training,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankstone._basics import Bools, Floats, NamedValues, Progress
    from rankstone.ltr.hinge_objective import State


_ARMIJO = 1e-4
_HALVINGS = 40
#: values this close, in units of rounding, are distinguished by their gradients
_ROUNDING = 8
_INNER = 200


class Minimum(Record):
    """The result of the search.

    Attributes
    ----------
    weights
        float64 ``[features]``, of standardised features.
    objective
        The value there.
    gradient
        Norm of the gradient there, relative to that of all weights zero.
    steps, products
        Newton steps made, and products with the Hessian.
    converged
        Whether the gradient is small enough, or rounding allows no further step.
    """

    weights: Floats
    objective: float
    gradient: float
    steps: int
    products: int
    converged: bool


def minimise(
    hinge: Hinge,
    price: float,
    start: Floats | None = None,
    *,
    tol: float,
    max_iter: int,
    nonnegative: bool = False,
    progress: Progress | None = None,
) -> Minimum:
    """Minimise the objective at a price of C.

    Parameters
    ----------
    start
        Weights to begin with, those of a neighbouring C say; zeros unless given.
    tol
        The norm of the gradient to be reached, relative to that of all weights zero.
    max_iter
        Newton steps, at most.
    progress
        Called with 1 for every step.
    """
    state = hinge.zero(price)
    scale = _norm(state, nonnegative) or 1.0
    if start is not None:
        state = hinge.at(np.maximum(start, 0.0) if nonnegative else start, price)
    products = 0
    steps = 0
    norm = _norm(state, nonnegative)
    stuck = False
    while norm > tol * scale and steps < max_iter and not stuck:
        free = _free(state, nonnegative)
        # no more exact than needed: the pairs that are active will change
        target = max(min(0.1, math.sqrt(norm / scale)) * norm, 0.3 * tol * scale)
        direction, made = _direction(hinge, state, price, free, target)
        products += made
        lower = _along(hinge, state, direction, price, nonnegative=nonnegative)
        stuck = lower is None
        if lower is not None:
            state = lower
            steps += 1
            norm = _norm(state, nonnegative)
        if progress is not None:
            progress(1)
    return Minimum(
        state.weights,
        state.value,
        norm / scale,
        steps,
        products,
        norm <= tol * scale or stuck,
    )


def _free(state: State, nonnegative: bool) -> Bools:  # noqa: FBT001 - a switch passed on
    if not nonnegative:
        return np.ones(len(state.weights), bool)
    return (state.weights > 0) | (state.gradient < 0)


def _norm(state: State, nonnegative: bool) -> float:  # noqa: FBT001 - a switch passed on
    return float(np.linalg.norm(state.gradient[_free(state, nonnegative)]))


def _direction(
    hinge: Hinge, state: State, price: float, free: Bools, target: float
) -> tuple[Floats, int]:
    """Solve for the step by conjugate gradients, until the residual is at the target."""
    step = np.zeros(hinge.width)
    residual = np.where(free, -state.gradient, 0.0)
    direction = residual.copy()
    size = float(residual @ residual)
    made = 0
    while math.sqrt(size) > target and made < _INNER:
        bent = np.where(free, hinge.curvature(state, direction, price), 0.0)
        made += 1
        length = size / float(direction @ bent)
        step += length * direction
        residual -= length * bent
        size, before = float(residual @ residual), size
        direction = residual + size / before * direction
    return step, made


def _along(
    hinge: Hinge, state: State, direction: Floats, price: float, *, nonnegative: bool
) -> State | None:
    """Return a point along the direction that is lower enough; ``None`` where rounding hides any."""
    length = 1.0
    rounding = _ROUNDING * hinge.rounding * abs(state.value)
    for _ in range(_HALVINGS):
        weights = state.weights + length * direction
        if nonnegative:
            weights = np.maximum(weights, 0.0)
        trial = hinge.at(weights, price)
        least = _ARMIJO * float(state.gradient @ (weights - state.weights))
        if trial.value <= state.value + least and trial.value < state.value - rounding:
            return trial
        # values are equal up to rounding
        if abs(trial.value - state.value) <= rounding:
            nearer = _norm(trial, nonnegative) < _norm(state, nonnegative)
            return trial if nearer else None
        length /= 2
    return None


QUERY_WEIGHTS: Final = ("query", "pair")
PAIR_WEIGHTS: Final = ("uniform", "gain")


class RankSVM(LinearRanker):
    r"""A linear ranker that learns which of two documents of a query is the better one.

    Minimises ``½‖w‖² + C · loss(w)``.  The loss is the mean over queries (or over pairs) of ``max(0, 1 -
    w·(x_i - x_j))²`` over all pairs of a query in which i has the higher label.  Exact: every pair counts and
    none is written down; n documents with d features and L different labels cost O(nd + n log n log L) a
    step.

    Parameters
    ----------
    C
        What the loss costs against large weights.  As the loss is a mean, the same C means the same on data
        of any size; :meth:`path` tries many.
    query_weight
        ``"query"``: every query counts the same, as in the mean of a measure; ``"pair"``: every pair does, so
        that a query counts with the square of its length.
    pair_weight
        ``"uniform"``, or ``"gain"``: a pair counts as much as the gains ``2^label - 1`` differ, so that
        pairs with very different grades count more.
    nonnegative
        Whether weights below zero are ruled out: for features of which more is never worse.
    standardise
        Whether features are centred and divided by their standard deviation while learning; ``coef_`` is for
        the features as they came.  Sparse features are divided only.  A constant feature has the weight 0.
    tol
        The search ends where the gradient's norm is this share of the one it has at weights of zero.
    max_iter
        Newton steps, at most.
    warm_start
        Whether :meth:`fit` begins with the weights of the last fit.

    Attributes
    ----------
    coef_
        float64 ``[features]``, of the features as they came.
    standardised_coef_, mean_, scale_
        float64 ``[features]``: weights of the standardised features, and what these were made with.
    objective_, gradient_, n_iter_, n_products_, converged_
        Where the search ended, see :class:`~rankstone.ltr.rank_svm.Minimum`.
    n_queries_, n_pairs_
        Queries with documents of different labels, and what their pairs count together.

    Notes
    -----
    Rows with a label below 0 are not judged and in no pair.  Rows of a query need not be adjacent.
    Queries of one document, or with one label, have no pairs; where none has any, that is an error.  A search
    that has not converged warns with scikit-learn's ``ConvergenceWarning``.

    Herbrich, Graepel and Obermayer 2000; Joachims 2002 (learning from pairs); Chapelle and Keerthi 2010 (the
    primal with truncated Newton); Airola, Pahikkala and Salakoski 2011, Lee and Lin 2014 (order statistics).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 1.0], [2.0, 5.0], [1.0, 2.0], [0.5, 0.0], [0.1, 3.0]])
    >>> model = RankSVM().fit(X, [2, 1, 0, 1, 0], qid=["a", "a", "a", "b", "b"])
    >>> model.predict(X).argmax()
    np.int64(0)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        query_weight: str = "query",
        pair_weight: str = "uniform",
        nonnegative: bool = False,
        standardise: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.query_weight = query_weight
        self.pair_weight = pair_weight
        self.nonnegative = nonnegative
        self.standardise = standardise
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X: object, y: object, qid: object = None) -> Self:
        """Learn from rows of features, their labels, and the query each belongs to.

        Parameters
        ----------
        X
            ``[rows, features]``, float32 or float64: array, frame, or one of scipy's sparse matrices.
        y
            ``[rows]``: grades, any numbers; below 0: not judged.
        qid
            ``[rows]``: ids of queries, whole numbers or texts.
        """
        start = self._last(X) if self.warm_start else None
        for model in self.path(X, y, qid=qid, Cs=[self.C], start=start):
            self.__dict__.pop("feature_names_in_", None)
            self.__dict__.update(vars(model))
        return self

    def _last(self, X: object) -> Floats | None:
        """Return the weights of the last fit, in the order of the columns of these features."""
        last: Floats | None = getattr(self, "standardised_coef_", None)
        places = None if last is None else places_of(self, X)
        return last if last is None or places is None else last[np.argsort(places)]

    def path(
        self,
        X: object,
        y: object,
        qid: object = None,
        *,
        Cs: Iterable[float],
        start: Floats | None = None,
        progress: Progress | None = None,
    ) -> Iterator[RankSVM]:
        """Yield a model for each C; rows are prepared once, and each search begins where the last ended.

        Ascending values are quickest.

        >>> import numpy as np
        >>> X, y, qid = np.array([[1.0], [0.0], [2.0]]), [1, 0, 2], [0, 0, 0]
        >>> [round(float(model.standardised_coef_[0]), 3) for model in RankSVM().path(X, y, qid, Cs=[0.1, 1])]
        [0.204, 0.544]
        """
        self._check()
        features, labels, queries = checked_training(X, y, qid)
        scale = Scale.of(features) if self.standardise else Scale.of(features).unit()
        if start is not None and len(start) != features.shape[1]:
            raise UsageError(
                f"warm_start: the last fit had {counted(len(start), 'feature')}, and now there are "
                f"{features.shape[1]}"
            )
        whole = Hinge.of(
            features,
            labels,
            queries,
            scale,
            query_weight=self.query_weight,
            pair_weight=self.pair_weight,
        )
        with whole.working() as hinge:
            for price in Cs:
                check_number("C", price)
                minimum = minimise(
                    hinge,
                    float(price),
                    start,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    nonnegative=self.nonnegative,
                    progress=progress,
                )
                start = minimum.weights
                model = type(self)(**{**self.get_params(), "C": price})
                model._take(minimum, scale, hinge)  # noqa: SLF001 - one of us
                model._remember(X, labels, queries)  # noqa: SLF001 - the same
                yield model

    def _take(self, minimum: Minimum, scale: Scale, hinge: Hinge) -> None:
        """Keep the minimum as the attributes of a fitted estimator; warn if it was not reached."""
        # a constant's is only rounding
        self.standardised_coef_ = np.where(scale.varies, minimum.weights, 0.0)
        self.mean_ = scale.mean
        self.scale_ = scale.spread
        self.coef_ = self.standardised_coef_ / scale.spread
        self.objective_ = minimum.objective
        self.gradient_ = minimum.gradient
        self.n_iter_ = minimum.steps
        self.n_products_ = minimum.products
        self.converged_ = minimum.converged
        self.n_queries_ = hinge.queries
        self.n_pairs_ = hinge.pairs
        self.n_features_in_ = hinge.width
        if not minimum.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"after {counted(minimum.steps, 'step')} the gradient is {minimum.gradient:.1e} of its start, "
                f"not {self.tol:g}: raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check(self) -> None:
        check_number("C", self.C)
        check_number("tol", self.tol)
        check_number("max_iter", self.max_iter, whole=True)
        check_choice("query_weight", self.query_weight, QUERY_WEIGHTS)
        check_choice("pair_weight", self.pair_weight, PAIR_WEIGHTS)

    def provenance(self) -> NamedValues:
        """Return how it was trained, for :class:`~rankstone.ltr.LinearModel`."""
        recorded = (
            "objective",
            "gradient",
            "n_iter",
            "converged",
            "n_queries",
            "n_pairs",
        )
        return {
            "trainer": "RankSVM",
            **{
                name: value
                for name, value in self.get_params().items()
                if name != "warm_start"
            },
            **{name: _plain(getattr(self, f"{name}_")) for name in recorded},
        }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a number of NumPy's or Python's
    return value.item() if isinstance(value, np.generic) else value
