"""Two lists into one: team draft, balanced, optimised.

A list is drawn by a random generator; what is drawn is documents in their order, and for each what a click on
it is worth, to ranker a above 0 and to b below.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["LONGEST", "METHODS", "Drawn", "balanced", "optimised", "team_draft"]

#: up to such a length all lists that two rankings can make are looked at: 2^k of them
LONGEST: Final = 10


class Drawn(NamedTuple):
    """A list: documents in their order, what a click on each is worth (0: nothing), how it was made."""

    docs: tuple[str, ...]
    credit: tuple[float, ...]
    method: str


def team_draft(a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator) -> Drawn:
    """Draw a list by team draft (Radlinski, Kurup and Joachims, CIKM 2008).

    Two captains choose players in turn, each the best that is left by its own ranking; a coin says who begins
    each round.  A click counts for the team of the document.  Where one ranking has nothing left to choose
    the other fills the list, and what such rounds add counts for nobody: it would favour the longer one.

    Examples
    --------
    >>> team_draft(["x", "y"], ["x", "z"], 3, np.random.default_rng(0)).docs[0]
    'x'
    """
    docs: list[str] = []
    credit: list[float] = []
    while len(docs) < k and (_next(a, docs) is not None or _next(b, docs) is not None):
        fair = _fair(a, b, docs, last=len(docs) + 1 == k)
        captains = ((1.0, a, b), (-1.0, b, a))
        for team, mine, other in captains if random.random() < 0.5 else captains[::-1]:  # noqa: PLR2004 - a coin
            doc = _next(mine, docs) or _next(other, docs)
            if doc is not None and len(docs) < k:
                docs.append(doc)
                credit.append(team if fair else 0.0)
    return Drawn(tuple(docs), tuple(credit), "team_draft")


def _fair(a: Sequence[str], b: Sequence[str], docs: Sequence[str], *, last: bool) -> bool:
    """Say whether both captains can choose in this round, whoever begins."""
    next_a, next_b = _next(a, docs), _next(b, docs)
    if next_a is None or next_b is None:
        return False
    return last or (_next(b, [*docs, next_a]) is not None and _next(a, [*docs, next_b]) is not None)


def balanced(a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator) -> Drawn:
    """Draw a list by balanced interleaving (Joachims, KDD 2002).

    Down to every depth the list holds about as many of the best of either ranking; a coin says who begins.
    Its credit depends on all clicks of an impression, so no document has one.

    Examples
    --------
    >>> sorted(balanced(["x", "y"], ["y", "z"], 2, np.random.default_rng(0)).docs)
    ['x', 'y']
    """
    docs: list[str] = []
    at_a = at_b = 0
    a_first = random.random() < 0.5  # noqa: PLR2004 - a fair coin
    while len(docs) < k and (at_a < len(a) or at_b < len(b)):
        turn_a = at_a < at_b or (at_a == at_b and a_first)
        if (turn_a and at_a < len(a)) or at_b == len(b):
            doc, at_a = a[at_a], at_a + 1
        else:
            doc, at_b = b[at_b], at_b + 1
        if doc not in docs:
            docs.append(doc)
    return Drawn(tuple(docs), (0.0,) * len(docs), "balanced")


def optimised(a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator) -> Drawn:
    """Draw a list by optimised interleaving (Radlinski and Craswell, WSDM 2013).

    A click on a document is worth ``1/rank in a - 1/rank in b``, 0 for the rank in a ranking that lacks it.
    Of all lists that take the next document of either ranking at each place, probabilities are chosen so that
    a user who clicks at random down to any depth prefers nobody, and that lists tell most.  Below the end of
    the shorter ranking the longer one fills the list, and clicks count for nobody.  For a few pairs of
    rankings no probabilities are fair down to every depth: their list is drawn by team draft.
    """
    lists, chances = _programme(tuple(a), tuple(b), min(k, len(a), len(b)))
    if not chances:
        return team_draft(a, b, k, random)
    drawn = lists[int(np.searchsorted(np.cumsum(chances), random.random() * sum(chances), side="right"))]
    rest = tuple(doc for doc in dict.fromkeys((*a, *b)) if doc not in drawn)[: k - len(drawn)]
    return Drawn(drawn + rest, (*_credits(drawn, a, b), *(0.0 for _ in rest)), "optimised")


METHODS: Final[dict[str, Callable[[Sequence[str], Sequence[str], int, np.random.Generator], Drawn]]] = {
    "team_draft": team_draft,
    "balanced": balanced,
    "optimised": optimised,
}


def _next(ranking: Sequence[str], taken: Sequence[str]) -> str | None:
    return next((doc for doc in ranking if doc not in taken), None)


def _credits(docs: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[float]:
    in_a, in_b = ({doc: 1 / rank for rank, doc in enumerate(ranking, 1)} for ranking in (a, b))
    return [in_a.get(doc, 0.0) - in_b.get(doc, 0.0) for doc in docs]


@lru_cache(maxsize=256)
def _programme(
    a: tuple[str, ...], b: tuple[str, ...], k: int
) -> tuple[tuple[tuple[str, ...], ...], tuple[float, ...]]:
    """Return all lists, and the probabilities a linear programme gives them; none where none are fair."""
    from scipy import optimize

    lists = _all_lists(a, b, k)
    worth = np.array([_credits(docs, a, b) for docs in lists])
    fair = np.cumsum(worth, axis=1).T  # a row a depth: what clicks down to it are worth, of each list
    found = optimize.linprog(
        -_sensitivity(worth),
        A_eq=np.vstack([fair, np.ones(len(lists))]),
        b_eq=np.append(np.zeros(len(fair)), 1.0),
        bounds=(0, 1),
        method="highs",
    )
    return lists, () if found.x is None else tuple(np.maximum(found.x, 0.0).tolist())


def _all_lists(a: Sequence[str], b: Sequence[str], k: int) -> tuple[tuple[str, ...], ...]:
    """Return every list in which each place holds the next document of either ranking, in a fixed order."""
    lists: dict[tuple[str, ...], None] = {(): None}
    for _ in range(min(k, len({*a, *b}))):
        longer: dict[tuple[str, ...], None] = {}
        for docs in lists:
            for doc in (_next(a, docs), _next(b, docs)):
                if doc is not None:
                    longer[(*docs, doc)] = None
        lists = longer
    return tuple(lists)


def _sensitivity(worth: Floats) -> Floats:
    """Return how much each list tells, float64 ``[lists]``: the entropy of who wins, ties aside.

    One click falls on a place with a probability of 1 over it.
    """
    click = 1 / np.arange(1, worth.shape[1] + 1)
    click /= click.sum()
    wins, losses = (worth > 0) @ click, (worth < 0) @ click
    decided = wins + losses
    share = np.divide(wins, decided, out=np.zeros_like(wins), where=decided > 0)
    share = np.clip(share, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    return np.where((share > 0) & (share < 1), entropy, 0.0) * decided
