"""Interleaving of two runs: team draft, balanced, optimised.

Each method draws a list at random: its documents in order, and the credit of a click on each, positive for
ranking a and negative for b.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from rankstone._basics import counted, noted, queries
from rankstone.errors import NotComparable, one_of
from rankstone.io.columns import with_csv
from rankstone.online.log_tables import LogAudit, OnlineResult, Rankings, read_rankings
from rankstone.stats.random_streams import check_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Floats, Progress

#: optimised interleaving enumerates up to 2^k lists, so k is limited
MAX_OPTIMISED_LENGTH: Final = 10
_SCHEMA: Final = {
    "query_id": pl.String,
    "draw": pl.Int64,
    "position": pl.Int64,
    "doc_id": pl.String,
    "method": pl.String,
    "credit": pl.Float64,
    "rank_a": pl.Int64,
    "rank_b": pl.Int64,
}


class Interleaved(OnlineResult):
    """Interleaved lists to show to users, one row per document, with the columns needed to credit clicks."""

    @property
    def lists(self) -> pl.DataFrame:
        """``query_id``, ``draw``, ``position``, ``doc_id``, ``method``, ``credit``, ``rank_a``, ``rank_b``.

        ``draw`` numbers the lists of a query from 0; ``credit`` is the credit of a click, positive for a and
        negative for b; ``rank_a`` and ``rank_b`` are the ranks in the two runs, null if not ranked.
        """
        return self.tables["lists"]


class DrawnList(NamedTuple):
    """An interleaved list: documents in order, the credit of a click on each, and the method."""

    docs: tuple[str, ...]
    credit: tuple[float, ...]
    method: str


def team_draft(
    a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator
) -> DrawnList:
    """Draw a list by team draft (Radlinski, Kurup and Joachims, CIKM 2008).

    In each round, in random order, both rankings add their best document that is not yet in the list.  A
    click counts for the ranking that added the document.  If one ranking has no document left the other fills
    the list, and clicks on documents of such rounds have no credit: they would favour the longer ranking.

    Examples
    --------
    >>> team_draft(["x", "y"], ["x", "z"], 3, np.random.default_rng(0)).docs[0]
    'x'
    """
    docs: list[str] = []
    credit: list[float] = []
    while len(docs) < k and (
        _next_document(a, docs) is not None or _next_document(b, docs) is not None
    ):
        fair = _both_can_pick(a, b, docs, last=len(docs) + 1 == k)
        captains = ((1.0, a, b), (-1.0, b, a))
        for credit_sign, own, other in (
            captains if random.random() < 0.5 else captains[::-1]  # noqa: PLR2004 - a coin
        ):
            doc = _next_document(own, docs) or _next_document(other, docs)
            if doc is not None and len(docs) < k:
                docs.append(doc)
                credit.append(credit_sign if fair else 0.0)
    return DrawnList(tuple(docs), tuple(credit), "team_draft")


def _both_can_pick(
    a: Sequence[str], b: Sequence[str], docs: Sequence[str], *, last: bool
) -> bool:
    """Return True if both rankings can add a document in this round, whichever begins."""
    next_a = _next_document(a, docs)
    next_b = _next_document(b, docs)
    if next_a is None or next_b is None:
        return False
    return last or (
        _next_document(b, [*docs, next_a]) is not None
        and _next_document(a, [*docs, next_b]) is not None
    )


def balanced(
    a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator
) -> DrawnList:
    """Draw a list by balanced interleaving (Joachims, KDD 2002).

    At every depth the list has about as many top documents of either ranking; which one begins is random.
    The credit depends on all clicks of an impression, so it is not assigned to documents here.

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
            doc = a[at_a]
            at_a = at_a + 1
        else:
            doc = b[at_b]
            at_b = at_b + 1
        if doc not in docs:
            docs.append(doc)
    return DrawnList(tuple(docs), (0.0,) * len(docs), "balanced")


def optimised(
    a: Sequence[str], b: Sequence[str], k: int, random: np.random.Generator
) -> DrawnList:
    """Draw a list by optimised interleaving (Radlinski and Craswell, WSDM 2013).

    A click on a document is worth ``1/rank in a - 1/rank in b``, 0 for the rank in a ranking that lacks it.
    The candidates are all lists that take the next document of either ranking at each position.  Their
    probabilities are chosen such that a user who clicks at random down to any depth prefers neither ranking,
    and such that the lists are as sensitive as possible.  Below the end of the shorter ranking the longer one
    fills the list without credit.  If no probabilities are fair at every depth, the list is drawn by team
    draft.
    """
    lists, chances = _list_probabilities(tuple(a), tuple(b), min(k, len(a), len(b)))
    if not chances:
        return team_draft(a, b, k, random)
    drawn = lists[
        int(
            np.searchsorted(
                np.cumsum(chances), random.random() * sum(chances), side="right"
            )
        )
    ]
    rest = tuple(doc for doc in dict.fromkeys((*a, *b)) if doc not in drawn)[
        : k - len(drawn)
    ]
    return DrawnList(
        drawn + rest, (*_credits(drawn, a, b), *(0.0 for _ in rest)), "optimised"
    )


METHODS: Final[
    dict[
        str,
        Callable[[Sequence[str], Sequence[str], int, np.random.Generator], DrawnList],
    ]
] = {"team_draft": team_draft, "balanced": balanced, "optimised": optimised}


def _next_document(ranking: Sequence[str], taken: Sequence[str]) -> str | None:
    return next((doc for doc in ranking if doc not in taken), None)


def _credits(docs: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[float]:
    in_a, in_b = (
        {doc: 1 / rank for rank, doc in enumerate(ranking, 1)} for ranking in (a, b)
    )
    return [in_a.get(doc, 0.0) - in_b.get(doc, 0.0) for doc in docs]


@lru_cache(maxsize=256)
def _list_probabilities(
    a: tuple[str, ...], b: tuple[str, ...], k: int
) -> tuple[tuple[tuple[str, ...], ...], tuple[float, ...]]:
    """Return all lists and their probabilities by a linear program; no probabilities if none are fair."""
    from scipy import optimize

    lists = _all_lists(a, b, k)
    click_credits = np.array([_credits(docs, a, b) for docs in lists])
    fair = np.cumsum(
        click_credits, axis=1
    ).T  # a row per depth: each list's credit of clicks down to it
    solution = optimize.linprog(
        -_sensitivity(click_credits),
        A_eq=np.vstack([fair, np.ones(len(lists))]),
        b_eq=np.append(np.zeros(len(fair)), 1.0),
        bounds=(0, 1),
        method="highs",
    )
    return lists, () if solution.x is None else tuple(
        np.maximum(solution.x, 0.0).tolist()
    )


def _all_lists(
    a: Sequence[str], b: Sequence[str], k: int
) -> tuple[tuple[str, ...], ...]:
    """Return all lists whose every position has the next document of either ranking, in a fixed order."""
    lists: dict[tuple[str, ...], None] = {(): None}
    for _ in range(min(k, len({*a, *b}))):
        longer: dict[tuple[str, ...], None] = {}
        for docs in lists:
            for doc in (_next_document(a, docs), _next_document(b, docs)):
                if doc is not None:
                    longer[(*docs, doc)] = None
        lists = longer
    return tuple(lists)


def _sensitivity(click_credits: Floats) -> Floats:
    """Return the sensitivity of each list, float64 ``[lists]``: the entropy of the winner, without ties.

    One click falls on each position with a probability proportional to 1 / position.
    """
    click = 1 / np.arange(1, click_credits.shape[1] + 1)
    click /= click.sum()
    wins = (click_credits > 0) @ click
    losses = (click_credits < 0) @ click
    decided = wins + losses
    share = np.divide(wins, decided, out=np.zeros_like(wins), where=decided > 0)
    share = np.clip(share, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    return np.where((share > 0) & (share < 1), entropy, 0.0) * decided


def interleave(
    a: object,
    b: object,
    method: str = "team_draft",
    *,
    k: int = 10,
    draws: int = 1,
    seed: int = 0,
    order: str = "score",
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Interleaved:
    """Interleave two rankings into lists to be shown to users.

    Parameters
    ----------
    a, b
        Two runs: paths, frames, ``{query: [doc, …]}``.  Queries in only one of them get no list and are
        counted.
    method
        ``team_draft``, ``balanced`` or ``optimised`` (at most ten documents).  If no mixture of a query's two
        rankings is fair at every depth, its ``optimised`` lists are drawn by team draft and counted in
        ``audit.counts["fallback"]``.
    k
        Length of the lists.
    draws
        Number of lists per query; not all impressions should see the same one.
    seed
        The random seed.  A query's lists depend only on the seed, its id and its two rankings.
    order
        The column that orders the runs: ``score``, ``rank`` or ``input``.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Raises
    ------
    InputError
        When no query is in both runs, or a run cannot be read.
    UsageError
        When an option has an invalid value.

    Examples
    --------
    >>> interleaved = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=3)
    >>> sorted(interleaved.lists["doc_id"]), interleaved.lists["credit"].abs().to_list()
    (['x', 'y', 'z'], [1.0, 1.0, 0.0])
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("method", method, tuple(METHODS))
    check_count("k", k, 1, MAX_OPTIMISED_LENGTH if method == "optimised" else 1000)
    check_count("draws", draws, 1, 10**6)
    check_count("seed", seed, 0, 2**63 - 1)
    runs = [
        read_rankings(
            run,
            name,
            order=order,
            columns=columns,
            format_in=format_in,
            progress=progress,
        )
        for run, name in ((a, "a"), (b, "b"))
    ]
    ranked_a, ranked_b = (_by_query(run) for run in runs)
    both = [query for query in ranked_a if query in ranked_b]
    if not both:
        raise NotComparable(
            "no query is in both runs", where=", ".join(run.source for run in runs)
        )
    table = pl.DataFrame(
        [
            row
            for query in both
            for row in _list_rows(
                query, ranked_a[query], ranked_b[query], method, k, draws, seed
            )
        ],
        _SCHEMA,
        orient="row",
    )
    counts = {
        "queries": len(both),
        "only_a": len(ranked_a) - len(both),
        "only_b": len(ranked_b) - len(both),
        "lists": len(both) * draws,
        "short": _count_short_lists(table, k),
        "tied": sum(run.tied for run in runs),
        "fallback": table.filter(pl.col("method") != method)["query_id"].n_unique(),
    }
    return Interleaved(
        tables={"lists": table},
        audit=LogAudit(
            " and ".join(run.source for run in runs), counts, _count_phrases(counts, k)
        ),
        conventions={
            "method": method,
            "k": k,
            "draws": draws,
            "seed": seed,
            "order": order,
        },
        inputs={"a": runs[0].source, "b": runs[1].source},
    )


def _by_query(run: Rankings) -> dict[str, list[str]]:
    """Return the documents of each query, best first."""
    texts = run.frame.select(pl.col("query_id", "doc_id").cast(pl.String))
    grouped = texts.group_by("query_id", maintain_order=True).agg("doc_id")
    return dict(
        zip(grouped["query_id"].to_list(), grouped["doc_id"].to_list(), strict=True)
    )


def _list_rows(
    query: str, a: list[str], b: list[str], method: str, k: int, draws: int, seed: int
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of all lists of a query."""
    ranks = [{doc: rank for rank, doc in enumerate(ranking, 1)} for ranking in (a, b)]
    for draw in range(draws):
        docs, click_credits, made_by = METHODS[method](
            a, b, k, _random_generator(query, draw, seed)
        )
        for position, (doc, credit) in enumerate(
            zip(docs, click_credits, strict=True), 1
        ):
            yield (
                query,
                draw,
                position,
                doc,
                made_by,
                credit,
                ranks[0].get(doc),
                ranks[1].get(doc),
            )


def _random_generator(query: str, draw: int, seed: int) -> np.random.Generator:
    """Return the random generator of a query's list, which does not depend on other queries."""
    digest = hashlib.blake2b(query.encode(), digest_size=8).digest()
    place = (int.from_bytes(digest, "big"), draw)
    return np.random.Generator(
        np.random.Philox(np.random.SeedSequence(seed, spawn_key=place))
    )


def _count_short_lists(table: pl.DataFrame, k: int) -> int:
    return table.group_by("query_id", "draw").len().filter(pl.col("len") < k).height


def _count_phrases(counts: Mapping[str, int], k: int) -> tuple[str, ...]:
    return (
        f"{queries(counts['queries'])} in both runs",
        counted(counts["lists"], "list"),
        *(
            noted(counts[f"only_{side}"], "query", f"in {side} only: no list")
            for side in ("a", "b")
        ),
        noted(counts["short"], "list", f"shorter than {k}"),
        noted(
            counts["fallback"],
            "query",
            "by team draft: no mixture was fair at every depth",
        ),
        f"{counted(counts['tied'], 'tied document')}, ordered by id"
        if counts["tied"]
        else "",
    )
