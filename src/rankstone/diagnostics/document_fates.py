"""What became of each relevant document between the first and the last step of a pipeline, and shares of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.stats.clustered_shares import clustered_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.judgments import Judgments
    from rankstone.measures.core.definition import Threshold


#: what can become of a relevant document that is not shown, and of one that is
LOST: Final = ("not_in_corpus", "not_in_pool", "never_shown", "demoted")
SHOWN: Final = ("kept", "rescued", "brought")
#: the name of the column with the ranks of a step
RANK: Final = "rank_{}"
#: ranks of missed documents are counted up to these multiples of k
_MULTIPLES: Final = np.array([1, 2, 5, 10])
_PAIR: Final = ["query_id", "doc_id"]
#: fates, from the document that got furthest
_FURTHEST: Final = (*SHOWN, *reversed(LOST))


def ranked_documents(
    judgments: Judgments, relevant: Threshold, steps: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the relevant documents with their rank in every step, null where it does not have them.

    Queries are in the order of the judgments, the best grades first.  Of judgments by subtopic there is a row
    for each subtopic of a document, with the number of the ``need``.
    """
    pairs = judgments.pairs
    rows = np.arange(len(judgments.grade))
    grades = judgments.grade
    needs = None
    groups = judgments.groups
    if groups is not None:
        entries, rows = groups.entries(rows)
        grades = groups.grade[entries]
        first_of_query = groups.starts[pairs.query[rows]]
        needs = first_of_query + groups.code[entries]

    chosen = np.flatnonzero(relevant(grades))
    query = pairs.query[rows[chosen]]
    names = judgments.queries.names.gather(query)
    docs = pairs.docs.gather(rows[chosen])
    frame = pl.DataFrame(
        {
            "query_id": names.cast(pl.String),
            "doc_id": docs.cast(pl.String),
            "relevance": grades[chosen],
            "place": query,
        }
    )
    if needs is not None:
        numbers = pl.Series(needs[chosen])
        frame = frame.with_columns(need=numbers)
    best = -pl.col("relevance")
    documents = frame.sort("place", best, "doc_id").drop("place")
    for name, lists in steps.items():
        ranks = lists.rename({"rank": RANK.format(name)})
        documents = documents.join(ranks, on=_PAIR, how="left", maintain_order="left")
    return documents


def with_fates(
    documents: pl.DataFrame, k: int, corpus: pl.Series | None = None
) -> pl.DataFrame:
    """Add the fate of each document between the first and the last step.

    Parameters
    ----------
    documents
        As :func:`ranked_documents` returns them.
    k
        How many documents of a list are shown.
    corpus
        The ids of relevant documents that are in the corpus, if it is known.

    Examples
    --------
    >>> ranks = pl.DataFrame({"doc_id": ["a", "b"], "rank_bm25": [1, None], "rank_dense": [3, 1]})
    >>> with_fates(ranks, 2)["fate"].to_list()
    ['demoted', 'brought']
    """
    ranks = [name for name in documents.columns if name.startswith("rank_")]
    before = pl.col(ranks[0])
    after = pl.col(ranks[-1])
    is_shown = after <= k
    was_shown = before <= k
    in_pool = before.is_not_null()
    is_unknown = pl.lit(value=False)
    if corpus is not None:
        # what a step retrieves is somewhere, whatever the list of ids says
        retrieved = pl.any_horizontal(pl.col(ranks).is_not_null())
        listed = pl.col("doc_id").is_in(corpus.implode())
        is_unknown = ~(listed | retrieved)
    lost = (
        pl.when(was_shown)
        .then(pl.lit("demoted"))
        .when(in_pool)
        .then(pl.lit("never_shown"))
        .when(is_unknown)
        .then(pl.lit("not_in_corpus"))
        .otherwise(pl.lit("not_in_pool"))
    )
    shown = (
        pl.when(was_shown)
        .then(pl.lit("kept"))
        .when(in_pool)
        .then(pl.lit("rescued"))
        .otherwise(pl.lit("brought"))
    )
    fate = pl.when(is_shown).then(shown).otherwise(lost)
    return documents.with_columns(fate=fate)


def furthest_documents(documents: pl.DataFrame, last: str) -> pl.DataFrame:
    """Return for each need the one of its documents that got furthest, which is its fate.

    Parameters
    ----------
    documents
        As :func:`with_fates` returns them; each is a need of its own where they have no column ``need``.
    last
        The column with the ranks of the last step, which decide between documents of the same fate.

    Examples
    --------
    >>> fates = {"need": [0, 0], "doc_id": ["a", "b"], "rank_bm25": [9, 1], "fate": ["never_shown", "kept"]}
    >>> furthest_documents(pl.DataFrame(fates), "rank_bm25")["doc_id"].to_list()
    ['b']
    """
    if "need" not in documents.columns:
        return documents
    fate = pl.col("fate").cast(pl.Enum(_FURTHEST))
    rows = documents.with_row_index("place")
    ordered = rows.sort(fate, last, "place", nulls_last=True)
    furthest = ordered.unique("need", keep="first", maintain_order=True)
    return furthest.sort("place").drop("place", "need")


def needs_with_ranks(documents: pl.DataFrame, last: str) -> pl.DataFrame:
    """Return a row for each need, with the best rank of its documents in each step, and its fate.

    ``serves`` is how many needs of the query its most useful document meets; parameters as for
    :func:`furthest_documents`.
    """
    if "need" not in documents.columns:
        return documents.with_columns(serves=1)
    fates = furthest_documents(documents, last)["fate"]
    serves = pl.len().over(_PAIR).alias("serves")
    counted = documents.with_columns(serves)
    by_need = counted.group_by("query_id", "need", maintain_order=True)
    best_ranks = pl.col("^rank_.*$").min()
    most = pl.col("serves").max()
    needs = by_need.agg(best_ranks, most)
    return needs.with_columns(fates)


def fate_shares(
    documents: pl.DataFrame, fates: Sequence[str], confidence: float
) -> pl.DataFrame:
    """Return ``fate``, ``documents``, ``share``, ``low`` and ``high`` of each fate, over queries."""
    columns = [pl.col("fate").eq(fate).sum().alias(fate) for fate in fates]
    by_query = documents.group_by("query_id", maintain_order=True)
    counts = by_query.agg(columns)
    numbers = counts.drop("query_id").to_numpy()
    numbers = numbers.astype(np.float64)
    share, low, high = clustered_shares(numbers, confidence)
    total = numbers.sum(axis=0)
    frame = pl.DataFrame(
        {
            "fate": [*fates],
            "documents": total.astype(np.int64),
            "share": share,
            "low": low,
            "high": high,
        }
    )
    return frame.with_columns(pl.col("low", "high").fill_nan(None))


def step_rows(
    documents: pl.DataFrame, steps: Mapping[str, pl.DataFrame], k: int
) -> pl.DataFrame:
    """Return ``step``, and shares of each: relevant documents it retrieves and shows, list entries that are new.

    ``new`` is the share of the documents in its lists that the lists of the step before do not have.
    """
    previous = None
    rows: list[dict[str, Any]] = []
    for name, every in steps.items():
        lists = every.join(documents, on="query_id", how="semi")
        new = None
        if previous is not None and lists.height:
            others = lists.join(previous, on=_PAIR, how="anti")
            new = others.height / lists.height
        ranks = documents[RANK.format(name)]
        is_shown = (ranks <= k).fill_null(value=False)
        rows.append(
            {
                "step": name,
                "retrieved": ranks.is_not_null().mean(),
                "shown": is_shown.mean(),
                "new": new,
            }
        )
        previous = lists
    numbers = dict.fromkeys(("retrieved", "shown", "new"), pl.Float64)
    return pl.DataFrame(rows, {"step": pl.String, **numbers})


def miss_ranks(documents: pl.DataFrame, k: int) -> pl.DataFrame:
    """Count the documents that are not shown by their ``ranks``, null where they have none, in each step."""
    missed = documents.filter(pl.col("fate").is_in(LOST))
    limits = k * _MULTIPLES
    ranges = []
    for above, last in pairwise([0, *limits]):
        ends = dict.fromkeys((above + 1, last))
        ranges.append("–".join(f"{rank:,}" for rank in ends))
    deeper = f"{limits[-1] + 1:,}–"
    columns: dict[str, Any] = {"ranks": [*ranges, deeper, None]}
    for ranks in missed.select("^rank_.*$"):
        # those without a rank come behind all others
        numbers = ranks.cast(pl.Float64).to_numpy()
        places = np.searchsorted([*limits, np.inf], numbers)
        columns[ranks.name] = np.bincount(places, minlength=len(limits) + 2)
    return pl.DataFrame(columns)


def list_places(k: int) -> pl.Expr:
    """Return how many needs of a query the first k documents have room for, at most."""
    room = k * pl.col("serves").max()
    return pl.len().clip(upper_bound=room)


def recall_limits(needs: pl.DataFrame, k: int) -> dict[str, float]:
    """Return recall, as a mean over queries: now, of the best orders of both pools, the highest possible.

    ``last`` and ``first`` are recall@k of the best order of the lists of these steps, ``most`` that of any
    list of what is in the corpus, ``whole`` recall of the whole lists of the first step, which no larger k
    exceeds.  Where a document meets several needs, the best orders are upper bounds.
    """
    ranks = [name for name in needs.columns if name.startswith("rank_")]
    first = pl.col(ranks[0])
    last = pl.col(ranks[-1])
    is_there = pl.col("fate") != "not_in_corpus"
    places = list_places(k)
    counts = {
        "now": (last <= k).sum(),
        "last": pl.min_horizontal(last.count(), places),
        "first": pl.min_horizontal(first.count(), places),
        "most": pl.min_horizontal(is_there.sum(), places),
        "whole": first.count(),
    }
    shares = [(count / pl.len()).alias(name) for name, count in counts.items()]
    by_query = needs.group_by("query_id", maintain_order=True)
    recalls = by_query.agg(shares).drop("query_id")
    means = recalls.mean()
    return means.row(0, named=True)
