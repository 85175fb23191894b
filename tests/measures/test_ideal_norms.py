"""The norm as a sum over the ideal list, by which bounds are found, is the norm that a score is divided by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from rankstone.evaluation.prepared import Prepared
from rankstone.measures import parse_measure
from rankstone.measures.core.measure import Measure

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import IdealNorm

JUDGED = {
    "few": {"a": 1, "b": 0},
    "many": {"a": 3, "b": 2, "c": 1, "d": 1, "e": 0},
    "none": {"a": 0},
    "silent": {"a": 2, "b": 1},
}
#: a short list, a long one, one document, and no list at all
RUN = {"few": ["x", "a"], "many": ["e", "b", "x", "a", "c", "y"], "none": ["a"]}


def added_up(norm: IdealNorm, queries: int) -> Floats:
    """Return the rest plus the weighted gains of the ideal list down to its depth."""
    total = np.zeros(queries) + norm.rest
    depth = np.full(queries, 10**6) if norm.depth is None else norm.depth
    depth = np.broadcast_to(depth, queries)
    for query in range(queries):
        start, end = norm.gains.offsets[query : query + 2]
        gains = norm.gains.grade[start:end][: depth[query]]
        ranks = np.arange(1, len(gains) + 1)
        total[query] += float((norm.weight(ranks) * gains).sum())
    return total


def measured(text: str) -> tuple[Measure, Hits]:
    """Return a measure, and the hits that it is computed from."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    return measure, Prepared(JUDGED, text).hits(RUN)


@pytest.mark.parametrize(
    "text",
    [
        "R",
        "R(rel=2)@2",
        "R(denom=min_R_k)@2",
        "P(denom=min_R_k)@2",
        "F",
        "F@1",
        "F@3",
        "F(beta=2)",
        "F(beta=0.5, rel=2)@2",
        "nDCG",
        "nDCG@2",
        "nDCG(gain=exp2)@3",
        "nDCG(gain=binary, ideal=k_of_R)@2",
    ],
)
def test_a_norm_is_a_sum_over_the_ideal_list(text: str) -> None:
    """It is that of the contributions, for lists of any length, and where nothing is relevant."""
    measure, hits = measured(text)
    norm = measure.ideal_norm(hits)
    assert norm is not None
    assert norm.made_of == "judged"
    expected = measure.contributions(hits).norm
    sums = added_up(norm, hits.queries)
    # one for a precision without a relevant document: nothing is divided by 0
    some = hits.relevant_count(measure.threshold or 1e-9) > 0  # type: ignore[attr-defined]
    assert some.tolist() != [False] * hits.queries
    assert sums[some].tolist() == pytest.approx(expected[some].tolist(), rel=1e-12)


def test_the_norm_of_f_without_a_list() -> None:
    """Whatever is not retrieved is divided by 1 + β² R at least."""
    measure, hits = measured("F(beta=2)")
    norm = measure.ideal_norm(hits)
    assert norm is not None
    assert added_up(norm, 4).tolist() == [2 + 4 * 1, 6 + 4 * 4, 1 + 4 * 0, 1 + 4 * 2]


@pytest.mark.parametrize("text", ["P@2", "nDCG(gain=binary, ideal=k_ones)@3"])
def test_what_no_grade_changes_is_no_sum(text: str) -> None:
    """Where k documents are divided by whatever is judged, the norm does not depend on the ideal list."""
    measure, hits = measured(text)
    assert measure.ideal_norm(hits) is None
    assert len({*measure.contributions(hits).norm.tolist()}) == 1
