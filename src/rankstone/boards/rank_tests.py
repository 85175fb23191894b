"""The classical comparison of systems over data sets by ranks: Friedman, Nemenyi, Conover, Holm.

Demšar (JMLR 7, 2006) made them the custom.  They need a score of every system on every data set, and test
whether ranks differ, not means; the intervals of a board do not depend on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.errors import NotComparable, one_of
from rankstone.stats.friedman_and_nemenyi import (
    cliques,
    conover,
    friedman,
    nemenyi,
    nemenyi_reach,
    rank_z,
    ranks,
)
from rankstone.stats.multiple_testing import adjusted

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.boards.placed_systems import PlacedSystems


_TESTS: Final = {"nemenyi": nemenyi, "conover": conover, "holm": rank_z}


def friedman_test(board: PlacedSystems) -> pl.DataFrame:
    """Test whether systems have the same ranks within data sets (Friedman 1937; Iman and Davenport 1980).

    Returns
    -------
    polars.DataFrame
        One row: ``systems`` (those with all scores), ``datasets``, ``chi_square`` and ``p_chi_square``,
        ``f``, ``p`` and its ``method`` (``exact`` or ``f``), and ``critical_difference`` of mean ranks
        (Nemenyi 1963), at the confidence of the board.

    Raises
    ------
    NotComparable
        If fewer than two systems have all scores, or there is one data set.
    """
    better = _better(board)
    datasets, systems = better.shape
    test = friedman(better)
    numbers = {
        "systems": systems,
        "datasets": datasets,
        "chi_square": test.chi_square,
        "p_chi_square": test.p_chi_square,
        "f": test.f,
        "p": test.p,
        "method": test.method,
        "critical_difference": nemenyi_reach(better, 1 - board.confidence),
    }
    return pl.DataFrame([numbers])


def posthoc_test(board: PlacedSystems, test: str = "nemenyi") -> pl.DataFrame:
    """Compare the mean ranks of every pair of systems with all scores.

    Parameters
    ----------
    board
        The board.
    test
        ``nemenyi`` (1963), ``conover`` (Conover and Iman 1979, with Holm's correction) or ``holm`` (mean
        ranks by the normal distribution, with Holm's correction: Demšar 2006).

    Returns
    -------
    polars.DataFrame
        ``system``, ``versus``, ``mean_rank`` and ``mean_rank_versus`` (1 is the best), and ``p_adjusted`` for
        all pairs.
    """
    one_of("test", test, _TESTS)
    names, mean = mean_ranks(board)
    order = np.argsort(-_better_ranks(board), kind="stable")
    first, second = np.triu_indices(len(names), 1)
    p = _TESTS[test](_better(board)[:, order])[first, second]
    if test != "nemenyi":
        p = adjusted(p, "holm")
    return pl.DataFrame(
        {
            "system": [names[place] for place in first],
            "versus": [names[place] for place in second],
            "mean_rank": mean[first],
            "mean_rank_versus": mean[second],
            "p_adjusted": p,
        }
    )


def mean_ranks(board: PlacedSystems) -> tuple[list[str], Floats]:
    """Return the systems with all scores by their mean ranks, the best first, and these ranks."""
    better_ranks = _better_ranks(board)
    order = np.argsort(-better_ranks, kind="stable")
    names = [board.scores.systems[board.complete[place]] for place in order]
    mean: Floats = len(names) + 1 - better_ranks[order]
    return names, mean


def groups(board: PlacedSystems) -> list[tuple[int, int]]:
    """Return the bars of a critical-difference diagram: first and last place of each among mean ranks."""
    _, means = mean_ranks(board)
    reach = nemenyi_reach(_better(board), 1 - board.confidence)
    return cliques(means.tolist(), reach)


def _better_ranks(board: PlacedSystems) -> Floats:
    """Return the mean rank of each system with all scores; the highest is the best."""
    means: Floats = ranks(_better(board)).mean(axis=0)
    return means


def _better(board: PlacedSystems) -> Floats:
    """Return the scores of systems with all of them, higher is better, float64 ``[datasets, systems]``."""
    if len(board.complete) < 2 or len(board.has) < 2:  # noqa: PLR2004 - of pairs, within data sets
        raise NotComparable(
            "Friedman's test needs two systems with a score on each of two data sets",
            given=f"{len(board.complete)} with all scores, {counted(len(board.has), 'data set')}",
        )
    return board.rule.sign * board.scores.values[:, board.complete]
