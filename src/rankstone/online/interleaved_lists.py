"""Interleaved lists of two runs, query by query.

Interleaved lists: made, written, and read again when clicks on them have come in.

Two lists into one: team draft, balanced, optimised.

A list is drawn by a random generator; what is drawn is documents in their order, and for each what a click on
it is worth, to ranker a above 0 and to b below.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from rankstone._text import counted, noted, queries
from rankstone.errors import BadOption, NotComparable, one_of
from rankstone.io.columns import with_csv
from rankstone.online.log_tables import Found, Notes, Rankings, rankings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.io.input_table import Progress

    Floats = NDArray[np.float64]


class Interleaved(Found):
    """Lists to show, a row each document; whatever credits clicks needs stands beside it."""

    @property
    def lists(self) -> pl.DataFrame:
        """``query_id``, ``draw``, ``position``, ``doc_id``, ``method``, ``credit``, ``rank_a``, ``rank_b``.

        ``draw`` counts the lists of a query from 0; ``credit`` is what a click is worth, to a above 0 and to
        b below; ``rank_a`` and ``rank_b`` are where the runs have the document, null where they have not.
        """
        return self.tables["lists"]


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


_SCHEMA: Final = {
    "query_id": pl.String, "draw": pl.Int64, "position": pl.Int64, "doc_id": pl.String, "method": pl.String,
    "credit": pl.Float64, "rank_a": pl.Int64, "rank_b": pl.Int64,
}  # fmt: skip


def interleave(
    a: object,
    b: object,
    method: str = "team_draft",
    *,
    k: int = 10,
    draws: int = 1,
    seed: int = 0,
    order: str = "score",
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Interleaved:
    """Make lists in which two rankings are interleaved, to be shown to users.

    Parameters
    ----------
    a, b
        Two runs: paths, frames, ``{query: [doc, …]}``.  Queries that only one answers get no list, and are
        counted.
    method
        ``team_draft``, ``balanced`` or ``optimised`` (at most ten documents).  Where no mixture of a query's
        two rankings is fair down to every depth, its ``optimised`` lists are drawn by team draft, and counted
        in ``audit.counts["fallback"]``.
    k
        Length of lists.
    draws
        How many lists a query gets; impressions should not all see the same one.
    seed
        Of everything drawn.  A query's lists depend on the seed, its own id and its own rankings alone.
    order
        What gives the order of lists: ``score``, ``rank`` or ``input``.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Raises
    ------
    InputError
        When no query is in both runs, and for whatever else is no run.
    UsageError
        When an option is not what it may be.

    Examples
    --------
    >>> made = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=3)
    >>> sorted(made.lists["doc_id"]), made.lists["credit"].abs().to_list()
    (['x', 'y', 'z'], [1.0, 1.0, 0.0])
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("method", method, tuple(METHODS))
    for name, value, most in (("k", k, LONGEST if method == "optimised" else 1000), ("draws", draws, 10**6)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadOption(
                f"{name}={value!r} is out of range", expected=f"a whole number from 1 to {most:,}"
            )
    runs = [
        rankings(run, name, order=order, columns=columns, format_in=format_in, progress=progress)
        for run, name in ((a, "a"), (b, "b"))
    ]
    ranked_a, ranked_b = (_by_query(run) for run in runs)
    both = [query for query in ranked_a if query in ranked_b]
    if not both:
        raise NotComparable("no query is in both runs", where=", ".join(run.source for run in runs))
    table = pl.DataFrame(
        [
            row
            for query in both
            for row in _lists(query, ranked_a[query], ranked_b[query], method, k, draws, seed)
        ],
        _SCHEMA,
        orient="row",
    )
    counts = {
        "queries": len(both), "only_a": len(ranked_a) - len(both), "only_b": len(ranked_b) - len(both),
        "lists": len(both) * draws, "short": _short(table, k), "tied": sum(run.tied for run in runs),
        "fallback": table.filter(pl.col("method") != method)["query_id"].n_unique(),
    }  # fmt: skip
    return Interleaved(
        tables={"lists": table},
        audit=Notes(" and ".join(run.source for run in runs), counts, _count_phrases(counts, k)),
        conventions={"method": method, "k": k, "draws": draws, "seed": seed, "order": order},
        inputs={"a": runs[0].source, "b": runs[1].source},
    )


def _by_query(run: Rankings) -> dict[str, list[str]]:
    """Return the documents of each query, best first."""
    texts = run.frame.select(pl.col("query_id", "doc_id").cast(pl.String))
    grouped = texts.group_by("query_id", maintain_order=True).agg("doc_id")
    return dict(zip(grouped["query_id"].to_list(), grouped["doc_id"].to_list(), strict=True))


def _lists(
    query: str, a: list[str], b: list[str], method: str, k: int, draws: int, seed: int
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of all lists of a query."""
    ranks = [{doc: rank for rank, doc in enumerate(ranking, 1)} for ranking in (a, b)]
    for draw in range(draws):
        docs, worth, made_by = METHODS[method](a, b, k, _generator(query, draw, seed))
        for at, (doc, credit) in enumerate(zip(docs, worth, strict=True), 1):
            yield query, draw, at, doc, made_by, credit, ranks[0].get(doc), ranks[1].get(doc)


def _generator(query: str, draw: int, seed: int) -> np.random.Generator:
    """Return the random numbers of a query's list, the same whatever stands beside it."""
    digest = hashlib.blake2b(query.encode(), digest_size=8).digest()
    place = (int.from_bytes(digest, "big"), draw)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=place)))


def _short(table: pl.DataFrame, k: int) -> int:
    return table.group_by("query_id", "draw").len().filter(pl.col("len") < k).height


def _count_phrases(counts: Mapping[str, int], k: int) -> tuple[str, ...]:
    return (
        f"{queries(counts['queries'])} in both runs",
        counted(counts["lists"], "list"),
        *(noted(counts[f"only_{side}"], "query", f"in {side} only: no list") for side in ("a", "b")),
        noted(counts["short"], "list", f"shorter than {k}"),
        noted(counts["fallback"], "query", "by team draft: no mixture was fair down to every depth"),
        f"{counted(counts['tied'], 'tied document')}, ordered by id" if counts["tied"] else "",
    )
