"""What must hold for every curve, whatever the data."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.table import GROUPS, measure, refused
from tests.oracle import curves as oracle
from tests.oracle.oracle import read_measure, relevant, relevant_total
from tests.oracle.pairs import CANDIDATES
from tests.oracle.worlds import World, options, worlds

import rankstone
from rankstone import Curves, UsageError
from rankstone.measures import PR, ROC, AtK
from rankstone.measures.at_cutoffs import parse_curves

if TYPE_CHECKING:
    from tests.oracle.oracle import Facts

LEVELS = {
    11: [f"{i}/10" for i in range(11)],
    4: ["0", "1/3", "2/3", "1"],
    101: [f"{i}/100" for i in range(101)],
}
CUTOFFS = (1, 2, 3, 5)
WITHIN = 1e-12


def traced(
    world: World, *curves: str | rankstone.measures.Curve, **further: Any
) -> Curves:
    """Trace curves of a world, without intervals worth waiting for."""
    texts = [str(curve.measure) for curve in curves if isinstance(curve, AtK)]
    return rankstone.curve(
        world.judgments(texts),
        world.table(),
        list(curves),
        resamples=2,
        **world.options,
        **further,
    )


def own_points(curves: Curves) -> dict[str, list[tuple[float, float]]]:
    """Return ``{query: points}`` of the only curve."""
    points: dict[str, list[tuple[float, float]]] = {}
    for query, x, y in curves.per_query.select("query_id", "x", "y").iter_rows():
        points.setdefault(query, []).append((x, y))
    return points


def ranked(world: World, rel: str = ">0") -> dict[str, tuple[list[bool], int]]:
    """Return, for each query with a relevant document, who is relevant in its list, and R, by the oracle."""
    spec = read_measure(f'AP(rel="{rel}")')
    values = {}
    for query, possible in world.possible().items():
        (facts,) = possible
        if total := relevant_total(facts, spec):
            values[str(query)] = [_is(slot, spec) for slot in facts.slots], total
    return values


def _is(slot: Any, spec: Any) -> bool:
    return slot is not None and slot.grade is not None and relevant(slot.grade, spec)


# -- texts ---------------------------------------------------------------------------------------------
@given(
    levels=st.sampled_from([11, 2, 101, (0.25, 0.5), (0.1,)]),
    interp=st.sampled_from(["exact", "trec9", "trec10", "none"]),
    k=st.none() | st.integers(1, 100),
)
def test_pr_is_its_text(
    levels: int | tuple[float, ...], interp: str, k: int | None
) -> None:
    """Reading the text of a curve gives the same curve."""
    curve = PR(levels=levels, interp=interp, k=k)
    assert rankstone.parse_measure(str(curve)) == curve
    assert hash(rankstone.parse_measure(str(curve))) == hash(curve)


@given(
    text=st.sampled_from(
        ["nDCG", "nDCG(gain=exp2)", "AP(denom=k)", "R(agg=pooled)", "RR(rel=2)"]
    ),
    cutoffs=st.sets(st.integers(1, 40), min_size=2),
)
def test_a_measure_over_k_is_its_text(text: str, cutoffs: set[int]) -> None:
    """Cutoffs are written as runs and read back."""
    curve = AtK(measure=measure(f"{text}@1"), cutoffs=tuple(cutoffs))
    (read,) = parse_curves(str(curve))
    assert read == curve
    assert hash(read) == hash(curve)


# -- precision and recall ------------------------------------------------------------------------------
@pytest.mark.parametrize("interp", ["exact", "trec9", "trec10", "none"])
@given(
    world=worlds(negative=False),
    chosen=options("ties", "order", "missing", "extra", "depth", "unjudged"),
    levels=st.sampled_from(sorted(LEVELS)),
)
def test_precision_at_recall_is_the_oracles(
    interp: str, world: World, chosen: dict[str, Any], levels: int
) -> None:
    """Every height is the largest precision at that recall or beyond, in exact fractions."""
    world = world.under(**chosen)
    result = (
        own_points(traced(world, PR(levels=levels, interp=interp)))
        if interp != "none"
        else None
    )
    table = heights(traced(world, PR(levels=levels, interp=interp)))
    expected = ranked(world)
    assert set(table) == set(expected)
    for query, (hits, total) in expected.items():
        wanted = [
            float(oracle.interpolated(hits, total, level, interp))
            for level in LEVELS[levels]
        ]
        assert table[query] == pytest.approx(wanted, abs=WITHIN)
        assert result is None or [y for _, y in result[query]] == table[query]


def heights(curves: Curves) -> dict[str, list[float]]:
    """Return ``{query: heights over the grid}`` of queries that have a curve."""
    (curve,), (run,) = curves.curves, curves.runs.values()
    traced_ = run.traced[curve]
    names = run.queries.cast(pl.String).to_list()
    return {
        names[position]: traced_.value[position].tolist()
        for position in np.flatnonzero(traced_.has_value)
    }


@given(
    world=worlds(negative=False),
    chosen=options("ties", "missing", "depth", "unjudged", "extra"),
)
def test_interpolated_precision_never_rises(
    world: World, chosen: dict[str, Any]
) -> None:
    """Neither a query's curve nor the mean rises with recall, and all stay between 0 and 1."""
    for interp in ("exact", "trec9", "trec10"):
        trace = traced(world.under(**chosen), PR(interp=interp))
        rows = [*heights(trace).values(), trace.mean()["mean"].drop_nulls().to_list()]
        assert all(first >= other for row in rows for first, other in pairwise(row))
        assert all(0 <= y <= 1 for row in rows for y in row)


@given(
    world=worlds(negative=False), chosen=options("ties", "missing", "depth", "unjudged")
)
def test_steps_enclose_average_precision(world: World, chosen: dict[str, Any]) -> None:
    """The area under the steps of interp=none is AP, and its corners are the oracle's."""
    world = world.under(**chosen)
    result = own_points(traced(world, "PR(interp=none)"))
    values = dict(
        world.evaluate(["AP"]).per_query.select("query_id", "value").iter_rows()
    )
    for query, (hits, total) in ranked(world).items():
        every = oracle.recall_precision(hits, total)
        assert set(result[query]) <= {(float(r), float(p)) for r, p in every} | {
            (0.0, 0.0)
        }
        exact = [
            (Fraction(r).limit_denominator(99), Fraction(p).limit_denominator(99))
            for r, p in result[query]
        ]
        assert oracle.step_area(exact) == oracle.step_area(every)
        assert float(oracle.step_area(every)) == pytest.approx(
            values[query], abs=WITHIN
        )


@given(world=worlds(negative=False), chosen=options("ties", "missing", "unjudged"))
def test_means_are_those_of_iprec(world: World, chosen: dict[str, Any]) -> None:
    """PR at a level is IPrec at that level, over the queries with a relevant document, bit by bit."""
    world = world.under(**chosen)
    means = traced(world, "PR").mean()["mean"].to_list()
    texts = [f"IPrec(recall={level / 10})" for level in range(11)]
    expected = world.evaluate(texts).mean(without=["no_relevant"])["value"].to_list()
    if not _missing_without_relevant(world):
        assert means == expected


def _missing_without_relevant(world: World) -> bool:
    """Tell whether a query is missing and has no relevant document: its status can say only one of these."""
    possible = world.possible()
    return any(
        not facts.retrieved and not any(g > 0 for g in facts.ideal)
        for p in possible.values()
        for facts in p
    )


@given(world=worlds(negative=False), chosen=options("ties", "missing", "depth"))
def test_the_micro_curve_pools_every_rank(world: World, chosen: dict[str, Any]) -> None:
    """At every rank Σ h_k / Σ R and Σ h_k / (k · queries), over the queries with a relevant document."""
    world = world.under(**chosen)
    lists = ranked(world)
    every = traced(world, "PR").micro().select("k", "x", "y").rows()
    assert len(every) == max((len(hits) for hits, _ in lists.values()), default=0)
    for k, x, y in every:
        result = sum(sum(hits[:k]) for hits, _ in lists.values())
        assert x == result / sum(total for _, total in lists.values())
        assert y == result / (k * len(lists))


# -- ROC -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("negatives", ["judged", "candidates", "catalogue"])
@given(
    world=worlds(negative=False),
    chosen=options("ties", "order", "missing"),
    unreturned=st.sampled_from(["bottom_tied", "bottom", "exclude"]),
    tied=st.sampled_from(["half", "order"]),
)
def test_the_area_under_roc_is_auc(
    negatives: str, world: World, chosen: dict[str, Any], unreturned: str, tied: str
) -> None:
    """Trapezoids under a query's corners add up to its AUC, and both are undefined together."""
    world = world.under(**chosen, candidates=CANDIDATES)
    given_: dict[str, Any] = {
        "negatives": negatives,
        "unreturned": unreturned,
        "tied": tied,
    }
    trace = traced(world, ROC(**given_))
    points = own_points(trace)
    scores = world.evaluate([str(ROC(**given_).summary())])
    for query, value in scores.per_query.select("query_id", "value").iter_rows():
        assert (value is None) == (query not in points)
        if value is None:
            continue
        corners = [
            (Fraction(x).limit_denominator(999), Fraction(y).limit_denominator(999))
            for x, y in points[query]
        ]
        assert float(oracle.trapezoids(corners)) == pytest.approx(value, abs=WITHIN)
        assert corners[0] == (Fraction(0), Fraction(0))
        assert corners[-1] == (Fraction(1), Fraction(1))
        assert all(
            item <= other
            for a, b in pairwise(corners)
            for item, other in zip(a, b, strict=True)
        )
        grid = [Fraction(level) for level in LEVELS[101]]
        row = heights(trace)[query]
        assert row == pytest.approx(
            [float(oracle.height(corners, x)) for x in grid], abs=WITHIN
        )


# -- a measure over its cutoff ---------------------------------------------------------------------------
def over_k(family: tuple[str, ...], **options_: Any) -> dict[str, AtK]:
    """Return the measures of a family that have a curve over k, known under some options."""
    values = {}
    for text in family:
        try:
            curve = AtK(measure=measure(text), cutoffs=CUTOFFS)
        except UsageError:
            continue
        if not refused(str(curve.measure), options_):
            values[str(curve)] = curve
    return values


@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(
    world=worlds(),
    chosen=options("ties", "unjudged", "empty", "missing", "extra", "depth"),
)
def test_a_measure_over_k_is_the_measure_at_k(
    family: tuple[str, ...], world: World, chosen: dict[str, Any]
) -> None:
    """Every query's value and every mean is the one evaluate gives at that cutoff, bit by bit."""
    world = world.under(candidates=CANDIDATES, **chosen)
    curves = over_k(family, **chosen)
    if not curves:
        return
    trace = traced(world, *curves.values())
    means = {
        (c, x): m for c, x, m in trace.mean().select("curve", "x", "mean").iter_rows()
    }
    points = {
        (c, q, x): y
        for c, q, x, y in trace.per_query.select(
            "curve", "query_id", "x", "y"
        ).iter_rows()
    }
    at_k = defaultdict[str, list[tuple[str, int]]](list)
    for name, curve in curves.items():
        for k in CUTOFFS:
            at_k[str(replace(curve.measure, k=k))].append((name, k))
    scores = world.evaluate(at_k)
    expected = dict(scores.mean().select("measure", "value").iter_rows())
    assert expected.keys() == at_k.keys()
    for text, places in at_k.items():
        assert {means[place] for place in places} == {expected[text]}, f"{text}: mean"
    rows = scores.per_query.select("measure", "query_id", "value").rows()
    for text, query, value in rows:
        for name, k in at_k[text]:
            assert points.get((name, query, k)) == value, f"{text}: {query}"


@pytest.mark.parametrize("ties", ["docid_desc", "expected"])
@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(world=worlds(negative=False), chosen=options("unjudged", "empty", "missing"))
def test_what_is_declared_to_grow_with_k_grows(
    family: tuple[str, ...], ties: str, world: World, chosen: dict[str, Any]
) -> None:
    """No query's value falls with k where the measure says that none does."""
    curves = [
        curve
        for curve in over_k(family, ties=ties, **chosen).values()
        if curve.claims.grows_with_k
    ]
    if not curves:
        return
    per_query = traced(
        world.under(ties=ties, candidates=CANDIDATES, **chosen), *curves
    ).per_query
    for _, points in per_query.group_by("curve", "query_id", maintain_order=True):
        assert all(
            first <= other + 1e-15 for first, other in pairwise(points["y"].to_list())
        )


def test_some_measures_grow_with_k() -> None:
    """The flag is set where the definition says so, and only there."""
    # n_max ranks cost all that a reader has to give, or less
    walk = "CWL(model=U, max_grade=3, n_max=10, cost=10, L={})"
    grows = ["R@1", "Success@1", "RR@1", "AP@1", "DCG@1", "CG@1", "NumRelRet@1"]
    grows += [walk.format(99), walk.format(100)]
    falls = [
        walk.format(101),
        "P@1",
        "nDCG@1",
        "F@1",
        "AP(denom=min_R_k)@1",
        "AP(denom=hits)@1",
        "R(denom=min_R_k)@1",
        "Judged@1",
    ]
    assert all(measure(text).claims.grows_with_k for text in grows)
    assert not any(measure(text).claims.grows_with_k for text in falls)


# -- tie rules -----------------------------------------------------------------------------------------
@given(world=worlds(longest=5, negative=False), data=st.data())
def test_best_and_worst_enclose_every_order(world: World, data: st.DataObject) -> None:
    """No order of tied documents leads above ties=best or below ties=worst, at any recall."""
    interp = data.draw(st.sampled_from(["exact", "trec9", "none"]))
    ties = data.draw(
        st.sampled_from(["docid_desc", "docid_asc", "input", "reverse_input"])
    )
    low, first, high = (
        heights(traced(world.under(ties=rule), PR(interp=interp)))
        for rule in ("worst", ties, "best")
    )
    for query, row in first.items():
        for worst, y, best in zip(low[query], row, high[query], strict=True):
            assert worst - WITHIN <= y <= best + WITHIN


@given(world=worlds(longest=5, negative=False))
def test_thresholds_are_points_of_every_order(world: World) -> None:
    """Under ties=expected the points of PR lie between tie blocks, where all orders agree."""
    at_thresholds = own_points(traced(world.under(ties="expected"), "PR(interp=none)"))
    spec = read_measure("AP")
    for query, possible in world.under(ties="expected").possible().items():
        orders: list[Facts] = list(possible)
        total = relevant_total(orders[0], spec)
        if not total:
            continue
        for facts in orders:
            hits = [_is(slot, spec) for slot in facts.slots]
            every = {
                (float(r), float(p)) for r, p in oracle.recall_precision(hits, total)
            }
            assert set(at_thresholds[str(query)]) <= every | {(0.0, 0.0)}
