"""Values of lists explain themselves: what is reported was summed, and ends in the value, bit for bit."""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.laws.test_explaining import TEXTS as OF_JUDGMENTS
from tests.night import part, turn_of
from tests.rankings.recommendation.oracle import groups
from tests.rankings.recommendation.table import ALL as OF_LISTS
from tests.rankings.recommendation.worlds import world
from tests.rankings.worlds import TEXTS as OF_TWO
from tests.rankings.worlds import random_ranking, scores

import rankstone
from rankstone import parse_measure
from rankstone.conventions import convention as library
from rankstone.conventions import conventions
from rankstone.measures import MEASURES
from rankstone.measures.core.curve import Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone import BeyondScores, Similarity
    from rankstone.rankings.derivation import Derivation

#: couples of lists (never so few that a measure is defined for none), and worlds
CASES = max(30, int(os.environ.get("RANKSTONE_CASES", "30")))
WORLDS = int(os.environ.get("RANKSTONE_CASES", "2"))
#: another draws other worlds
SEED = int(os.environ.get("RANKSTONE_SEED", "0"))


def test_every_measure_explains_itself() -> None:
    """Each registered measure is a curve, or stands in the tables that explanations are tried on."""
    names = {parse_measure(text).name for text in (*OF_JUDGMENTS, *OF_TWO, *OF_LISTS)}
    curves = {name for name, kind in MEASURES.items() if issubclass(kind, Curve)}
    assert names | curves == set(MEASURES)
    assert len(curves) > 1


def check(derivation: Derivation) -> None:
    """Check that running totals end in the sums shown, and these, or what became of them, in the numerator."""
    assert derivation.tables or derivation.status in ("only_a", "only_b"), (
        derivation.measure
    )
    for table in derivation.tables:
        if "running" in table.frame.columns:
            assert table.total == (
                table.frame["running"][-1] if table.frame.height else 0.0
            )
        elif "contribution" in table.frame.columns:
            assert table.total == math.fsum(table.frame["contribution"])
    if derivation.value is not None:
        assert derivation.denominator
        assert derivation.numerator == end(derivation)


def end(derivation: Derivation) -> Any:
    """Return what the tables and their steps come to."""
    measure: Any = parse_measure(derivation.measure)
    last = derivation.tables[-1]
    columns: Any = last.frame
    steps: dict[str, Any] = {"total": last.total, **last.steps}
    if (
        "protected" in columns
    ):  # what groups of items receive is no sum: a ratio, or a spread over a mean
        mine: dict[str, Any] = columns.filter(columns["protected"]).to_dicts()[0]
        return mine["received"] / mine.get("members", 1.0)
    if "chance" in columns:
        assert (columns["chance"] == columns["placed"] / columns["possible"]).all()
        assert derivation.denominator == columns["chance"].to_numpy().mean()
        return float(columns["chance"].to_numpy().std())
    made: dict[str, Callable[[], Any]] = {
        "way": lambda: sum(
            table.steps["way"] for table in derivation.tables if "way" in table.steps
        ),
        "bound": lambda: functools.reduce(lambda most, least: most - least, bounds),
        "beyond_lists": lambda: steps["seen"] + steps["beyond_lists"],
        "added": lambda: steps["total"] + steps["added"],
        "pairs_open": lambda: (
            columns["opposite"].sum() / 2 + measure.p * (columns["left_open"].sum() / 2)
        ),
        "closeness": lambda: steps["closeness"],
        "total": lambda: steps["total"],
    }
    bounds = [
        table.steps["bound"] for table in derivation.tables if "bound" in table.steps
    ]
    return next(make() for name, make in made.items() if name in steps)


@functools.cache
def couples() -> Similarity:
    """Return all measures of many couples of rankings; some queries only one run answers."""
    rng = np.random.default_rng(SEED + 11)
    pool = [f"d{i}" for i in range(9)]
    others = [pool, [*pool[::2], "e1", "e2"]]
    drawn = [
        (random_ranking(rng, pool, tied, 9), random_ranking(rng, other, tied, 9))
        for tied, other in zip(
            rng.choice([0.0, 0.3, 0.6], CASES), others * CASES, strict=False
        )
    ]
    first = {f"q{index}": scores(single) for index, (single, _) in enumerate(drawn)} | {
        "mine": {"d1": 1.0}
    }
    second = {f"q{index}": scores(two) for index, (_, two) in enumerate(drawn)} | {
        "theirs": {"d1": 1.0}
    }
    return rankstone.diff(first, second, list(OF_TWO))


@pytest.mark.parametrize("text", OF_TWO)
def test_two_rankings(text: str) -> None:
    """The value of a query is the one that diff gives; the quotient is it, within the range.

    A third of the couples is explained for each measure, and at night all.
    """
    alike = couples()
    rows = (
        alike.per_query.filter(measure=str(parse_measure(text)))
        .select("query_id", "value", "status")
        .rows()
    )
    assert {status for *_, status in rows} >= {"ok", "only_a", "only_b"}
    low, high = parse_measure(text).span
    in_one = [row for row in rows if row[2] != "ok"]
    in_both = [row for row in rows if row[2] == "ok"]
    for query, value, status in [*part(in_both, 3, turn_of(text)), *in_one]:
        explanation = alike.explain(text, query)
        assert (explanation.value, explanation.status) == (value, status)
        check(explanation)
        if value is not None:
            assert explanation.numerator is not None
            assert explanation.denominator
            assert value == float(
                np.clip(explanation.numerator / explanation.denominator, low, high)
            )


@functools.cache
def beyond(seed: int) -> BeyondScores:
    """Return all measures of a small world of recommendations."""
    drawn = world(np.random.default_rng(SEED + seed))
    there = {None, *groups(drawn)}
    texts = [
        text
        for text in OF_LISTS
        if getattr(parse_measure(text), "protected", None) in there
    ]
    return drawn.beyond(texts)


@pytest.mark.parametrize("text", OF_LISTS)
def test_whole_lists(text: str) -> None:
    """Numerator, norm and value of every user, or of the run, are those that beyond gives."""
    seen = 0
    for seed in range(WORLDS):
        drawn = beyond(seed)
        if text not in map(str, drawn.measures):
            continue
        per_user = drawn.per_query.filter(measure=text)
        for row in per_user.head(2).iter_rows(named=True):
            explanation = drawn.explain(text, row["query_id"])
            assert [
                getattr(explanation, name)
                for name in ("value", "numerator", "denominator", "status")
            ] == [row[name] for name in ("value", "numerator", "denominator", "status")]
            check(explanation)
            seen += 1
        if not per_user.height:
            explanation = drawn.explain(text)
            assert (
                explanation.value
                == dict(drawn.mean().select("measure", "value").iter_rows())[text]
            )
            check(explanation)
            assert (
                explanation.value is None
                or linked(text, explanation) == explanation.value
            )
            seen += 1
    assert seen


@pytest.mark.parametrize(
    "convention",
    [
        str(convention)
        for convention in conventions()
        if convention.everything(of_lists=True)
    ],
)
def test_what_libraries_measure_of_whole_lists(convention: str) -> None:
    """Every library's measure explains itself under its own name, replayed bugs included."""
    seen = 0
    for text, result in answered(convention):
        users = result.per_query.head(1).select("query_id", "value", "numerator").rows()
        for user, value, numerator in users or [
            (None, result.mean()["value"][0], None)
        ]:
            explanation = result.explain(text, user)
            assert explanation.measure == str(result.measures[0])
            assert explanation.value == value
            assert explanation.tables
            assert not users or explanation.numerator == numerator
            seen += 1
    assert seen


def answered(convention: str) -> Iterator[tuple[str, BeyondScores]]:
    """Yield each of a library's measures with its scores in worlds that the library takes.

    Some libraries refuse many (ids that are no whole numbers, users without lists), so more are drawn.
    """
    for text in library(convention).everything(of_lists=True):
        count = 0
        for seed in range(20 * WORLDS):
            try:
                result = world(np.random.default_rng(SEED + seed)).beyond(
                    text, convention=convention
                )
            except rankstone.RankstoneError:
                continue
            yield text, result
            count += 1
            if count == WORLDS:
                break


def linked(text: str, derivation: Derivation) -> float:
    """Return what a measure of the whole run makes of the quotient shown."""
    assert derivation.numerator is not None
    assert derivation.denominator
    measure: Any = parse_measure(text)
    value: float = measure.link(derivation.numerator / derivation.denominator)
    return value
