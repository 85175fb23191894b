"""An explanation is the score: its last total is the numerator, and the quotient the value, bit for bit."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import pytest

from rankstone import Measure, evaluate, parse_measure
from rankstone.explanation.explain_scores import Explainer
from rankstone.measures import MEASURES
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from rankstone.explanation.explanation_result import Explanation
    from rankstone.testing.small_worlds import World

TEXTS = [
    text
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure)
    for text in dict.fromkeys(kind.examples or (name,))
]
#: queries of each measure; RANKSTONE_CASES=500 takes two minutes
CASES = int(os.environ.get("RANKSTONE_CASES", "4"))
#: another draws other worlds
SEED = int(os.environ.get("RANKSTONE_SEED", "0"))


def unfolded(
    measure: Measure, world: World, **options: Any
) -> tuple[Any, list[Explanation]]:
    """Return a world's scores, and the explanation of each."""
    given: dict[str, Any] = {**world.options, **world.tables(measure), **options}
    scores = evaluate(world.judgments, world.run, measure, **given).per_query
    ready = Explainer(world.judgments, measure, **given)
    return scores, [
        ready.explain(world.run, query, changes=False) for query in scores["query_id"]
    ]


def same(one: float | None, other: float | None) -> bool:
    """Tell whether two numbers are the same to the last bit, or neither is one."""
    if one is None or other is None:
        return one is None and other is None
    return one == other or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_an_explanation_is_the_score(text: str, ties: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Numerator, norm and value are those of evaluate; running totals end in the numerator."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    world = small_world(measure, CASES, seed=SEED + 7, ties=ties)
    scores, explained = unfolded(measure, world)
    for row, found in zip(scores.iter_rows(named=True), explained, strict=True):
        assert found.query_id == row["query_id"]
        assert found.status == row["status"]
        assert same(found.value, row["value"])
        assert same(found.numerator, row["numerator"])
        assert same(found.denominator, row["denominator"])
        last = found.rows[-1].running if found.rows else 0.0
        for pseudo in (found.missed, found.unjudged):
            last = last if pseudo is None else last + pseudo
        assert same(last, found.numerator)


@pytest.mark.parametrize("text", TEXTS)
def test_a_difference_is_the_sum_of_its_shares(text: str) -> None:
    """What documents and pseudo-rows add to the difference of two lists sums to it."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    world, other = (
        small_world(measure, CASES, seed=seed) for seed in (SEED + 3, SEED + 3)
    )
    turned = other.ranked(
        (query, doc, -score) for query, doc, score in other.run.iter_rows()
    )
    _, first = unfolded(measure, world)
    _, second = unfolded(measure, turned)
    for one, two in zip(first, second, strict=True):
        both = one.versus(two)
        assert both.difference == (one.value or 0.0) - (two.value or 0.0)
        assert math.isclose(
            math.fsum(share.difference for share in both.shares),
            both.difference,
            abs_tol=1e-12,
            rel_tol=1e-12,
        )
