"""Counting pairs of documents in O(n log n), against looking at every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from tests.rankings.oracle import block, documents
from tests.rankings.worlds import DOCS, groups, random_ranking, rankings, scores

from rankstone import diff
from rankstone.rankings.rank_similarity.pair_counts import counts

if TYPE_CHECKING:
    from tests.rankings.oracle import Ranking
    from tests.rankings.worlds import Scores


def spans(ranking: Ranking) -> dict[str, tuple[int, int]]:
    """Return the first and last rank of each document's tie block."""
    values, above = {}, 0
    for group in ranking:
        values.update(dict.fromkeys(group, (above + 1, above + len(group))))
        above += len(group)
    return values


@given(x=rankings(), order=rankings())
def test_every_pair_is_counted_on_its_side(x: Scores, order: Scores) -> None:
    """What is above, alike, opposite or tied is what looking at all pairs of documents says."""
    y = {doc: order.get(doc, 1.0) for doc in x}
    of_x, of_y = groups(x), groups(y)
    docs = documents(of_x)
    in_x, in_y = block(of_x), block(of_y)
    sides = {
        doc: [
            (np.sign(in_x[o] - in_x[doc]), np.sign(in_y[o] - in_y[doc])) for o in docs
        ]
        for doc in docs
    }
    edges = [
        np.array([spans(ranking)[doc] for doc in docs]).T for ranking in (of_x, of_y)
    ]
    result = counts(
        np.array([0, len(docs)]), (edges[0][0], edges[0][1]), (edges[1][0], edges[1][1])
    )

    assert result.above.tolist() == [sides[doc].count((-1, -1)) for doc in docs]
    assert result.agree.tolist() == [
        sum(a * b == 1 for a, b in sides[doc]) for doc in docs
    ]
    assert result.differ.tolist() == [
        sum(a * b == -1 for a, b in sides[doc]) for doc in docs
    ]
    assert result.x_tied_above.tolist() == [sides[doc].count((0, -1)) for doc in docs]
    assert result.y_tied_above.tolist() == [sides[doc].count((-1, 0)) for doc in docs]
    assert result.tied_in_both.tolist() == [sides[doc].count((0, 0)) for doc in docs]


def test_many_long_lists() -> None:
    """Lists that do not fit a batch give what each gives alone, bit by bit."""
    rng = np.random.default_rng(8)
    pool = [f"d{i}" for i in range(3000)]
    first, second = (
        {
            f"q{index}": scores(random_ranking(rng, pool, 0.2, 3000))
            for index in range(120)
        }
        for _ in range(2)
    )
    texts = "tau_b tau_ap wtau RBO(p=0.9) Fagin_K@50"
    together = diff(first, second, texts).per_query
    for name in ("q0", "q57", "q119"):
        alone = diff({name: first[name]}, {name: second[name]}, texts).per_query

        assert together.filter(query_id=name).equals(alone)


def test_documents_are_distinguished_by_their_whole_id() -> None:
    """Ids that are alike to the eye are not: case, width, blanks and numbers of other scripts."""
    assert diff(
        {"q": DOCS}, {"q": [f"{doc} " for doc in DOCS]}, "Jaccard"
    ).to_dict() == {"Jaccard": 0.0}
