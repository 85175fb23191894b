"""Truncated Newton: steps solved for by conjugate gradients, as exactly as progress so far deserves.

The squared hinge has a piecewise constant curvature, so few steps are needed (Chapelle and Keerthi 2010).
With ``nonnegative`` weights at zero that the gradient pushes outward stay there while a step is solved for,
and steps are projected (Bertsekas 1982).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.arrays import Bools, Floats
    from rankstone.ltr.hinge import Hinge, State

    Progress = Callable[[int], None]

__all__ = ["Minimum", "minimise"]

_ARMIJO = 1e-4
_HALVINGS = 40
#: values this close, in units of rounding, are told apart by their gradients
_ROUNDING = 8
_INNER = 200


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the search ended.

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
    products, steps, norm, stuck = 0, 0, _norm(state, nonnegative), False
    while norm > tol * scale and steps < max_iter and not stuck:
        free = _free(state, nonnegative)
        # no more exact than needed: the pairs that are active will change
        target = max(min(0.1, math.sqrt(norm / scale)) * norm, 0.3 * tol * scale)
        direction, made = _direction(hinge, state, price, free, target)
        products += made
        found = _along(hinge, state, direction, price, nonnegative=nonnegative)
        stuck = found is None
        if found is not None:
            state = found
            steps += 1
            norm = _norm(state, nonnegative)
        if progress is not None:
            progress(1)
    return Minimum(state.weights, state.value, norm / scale, steps, products, norm <= tol * scale or stuck)


def _free(state: State, nonnegative: bool) -> Bools:  # noqa: FBT001 - a switch handed through
    if not nonnegative:
        return np.ones(len(state.weights), bool)
    return (state.weights > 0) | (state.gradient < 0)


def _norm(state: State, nonnegative: bool) -> float:  # noqa: FBT001 - a switch handed through
    return float(np.linalg.norm(state.gradient[_free(state, nonnegative)]))


def _direction(hinge: Hinge, state: State, price: float, free: Bools, target: float) -> tuple[Floats, int]:
    """Solve for the step by conjugate gradients, until the residual is at the target."""
    step = np.zeros(hinge.width)
    residual = np.where(free, -state.gradient, 0.0)
    direction, size = residual.copy(), float(residual @ residual)
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


def _along(hinge: Hinge, state: State, direction: Floats, price: float, *, nonnegative: bool) -> State | None:
    """Return a point along the direction that is lower enough; ``None`` where rounding hides any."""
    length = 1.0
    rounding = _ROUNDING * hinge.rounding * abs(state.value)
    for _ in range(_HALVINGS):
        weights = state.weights + length * direction
        if nonnegative:
            weights = np.maximum(weights, 0.0)
        found = hinge.at(weights, price)
        least = _ARMIJO * float(state.gradient @ (weights - state.weights))
        if found.value <= state.value + least and found.value < state.value - rounding:
            return found
        if abs(found.value - state.value) <= rounding:  # values are equal as far as anybody can tell
            nearer = _norm(found, nonnegative) < _norm(state, nonnegative)
            return found if nearer else None
        length /= 2
    return None
