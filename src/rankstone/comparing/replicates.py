"""Several runs of one system: seeds, folds.  What varies between them is part of what is not known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankstone.comparing.matrix import Matrix
    from rankstone.stats import Estimate

__all__ = ["with_runs"]


def with_runs(found: Estimate, matrix: Matrix, one: int, other: int) -> Estimate:
    """Return an estimate whose error holds what varies between runs beside what varies between queries.

    Queries and runs are both drawn from many, and crossed: the squared error of a difference of means over
    runs is ``s²/n`` of the queries' differences plus ``s²/r`` of the runs' means, for each system that has
    several.  What both hold in common is counted twice, which errs on the safe side.  Degrees of
    freedom are those of Satterthwaite (1946).  A system with one run says nothing of how runs vary.

    Parameters
    ----------
    found
        The estimate over queries alone, by t.
    matrix
        The scores, and the means of runs.
    one, other
        Columns of the two systems.
    """
    means = [matrix.replicates.get(matrix.systems[at]) for at in (one, other)]
    parts = [(found.error**2, found.df)]
    parts += [(float(np.var(m, ddof=1)) / len(m), len(m) - 1) for m in means if m is not None]
    square = sum(part for part, _ in parts)
    if len(parts) == 1 or not square > 0:
        return found
    df = square**2 / sum(part**2 / freedom for part, freedom in parts)
    return replace(found, error=math.sqrt(square), df=df)
