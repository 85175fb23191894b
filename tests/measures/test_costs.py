"""Costs of lists, and of systems together with their quality."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import InputError, UsageError
from rankstone.errors import BadParameter
from rankstone.measures import parse_measures
from rankstone.stats import quantile_interval

RUN = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2", "q2", "q3"],
        "doc_id": ["x", "a", "y", "b", "x", "x"],
        "score": [3.0, 2.0, 1.0, 2.0, 1.0, 1.0],
        "tokens": [50, 70, 20, 10, 30, 5],
        "ms": [10, 10, 10, 40, 40, 5],
    }
)
JUDGED = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
AGENT = pl.DataFrame(
    {
        "query_id": ["q"] * 5,
        "call": [1, 2, 2, 5, 5],
        "doc_id": ["x", "a", "y", "b", "z"],
        "score": [1.0, 1.0, 0.5, 1.0, 0.1],
        "tokens": [50, 70, 20, 20, 9],
        "ms": [10, 30, 30, 5, 5],
    }
)


def values(run: Any, judged: Any, measure: str) -> list[float | None]:
    """Return the values of all queries, in their order."""
    return (
        rankstone.evaluate(judged, run, measure)
        .per_query.sort("query_id")["value"]
        .to_list()
    )


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Cost(column=tokens)", [50 + 70 + 20, 10 + 30, 5, None]),
        ("Cost(column=tokens)@2", [50 + 70, 10 + 30, 5, None]),
        ("Cost(column=ms, per=query)", [10, 40, 5, None]),
        ("Cost(column=tokens, until=first)", [50 + 70, 10, None, None]),
        ("Cost(column=tokens, until=all)@1", [None, 10, None, None]),
    ],
)
def test_what_is_paid(measure: str, expected: list[float | None]) -> None:
    """Documents that are not judged cost, too; what a query without a list costs is not known."""
    assert values(RUN, JUDGED, measure) == expected


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Cost(column=call)", 3),
        ("Cost(column=call, until=first)", 2),
        ("Cost(column=call, until=all)", 3),
        ("Cost(column=tokens, until=first)", 50 + 70),
        ("Cost(column=tokens, until=all)", 50 + 70 + 20 + 20),
        ("Cost(column=ms, per=call)", 10 + 30 + 5),
        ("Cost(column=ms, per=call, until=first)", 10 + 30),
    ],
)
def test_an_agent_pays_by_the_call(measure: str, expected: float) -> None:
    """The call 5 is the third; both documents of a call took the same time, which is paid once."""
    assert values(AGENT, {"q": {"a": 1, "b": 2}}, measure) == [expected]


def test_costs_of_documents_in_a_table() -> None:
    """Chunks that a table describes have its costs; ``characters`` are those of their text."""
    documents = {"x": {"text": "four"}, "a": {"text": "ab"}}
    scores = rankstone.evaluate(
        {"q": {"a": 1}},
        {"q": ["x", "a"]},
        "Cost(column=characters)",
        documents=documents,
    )
    assert scores.to_dict() == {"run": {"Cost(column=characters)": 6.0}}


def test_percentiles_have_intervals() -> None:
    """A percentile is that of queries; its interval is made of values, and open where there are too few."""
    scores = rankstone.evaluate(
        JUDGED, RUN, "Cost(column=tokens, agg=p50) Cost(agg=p95, column=tokens)"
    )
    tokens = [140.0, 40.0, 5.0]
    assert scores.mean()["value"].to_list() == [
        np.quantile(tokens, 0.5),
        np.quantile(tokens, 0.95),
    ]
    assert rankstone.intervals(scores)["high"].to_list() == [None, None]
    many = {f"q{index}": {"a": 1} for index in range(200)}
    run = pl.DataFrame(
        {"query_id": list(many), "doc_id": "a", "score": 1.0, "ms": list(range(200))}
    )
    row = rankstone.intervals(
        rankstone.evaluate(many, run, "Cost(column=ms, agg=p95)")
    ).row(0, named=True)
    assert (row["low"], row["high"]) == quantile_interval(range(200), 0.95)


@pytest.mark.parametrize(("n", "share"), [(10, 0.5), (40, 0.9), (100, 0.95), (7, 0.2)])
def test_quantile_intervals_cover(n: int, share: float) -> None:
    """The chance that both ends enclose the quantile is a sum of binomial chances."""
    low, high = quantile_interval(range(1, n + 1), share)
    first, last = (
        0 if math.isinf(low) else int(low),
        n + 1 if math.isinf(high) else int(high),
    )
    chance = sum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(first, last)
    )
    assert chance >= 0.95
    narrower = [(first + 1, last)] * (first > 0) + [(first, last - 1)] * (last <= n)
    for single, other in narrower:
        tail = sum(
            math.comb(n, k) * share**k * (1 - share) ** (n - k)
            for k in (*range(single), *range(other, n + 1))
        )
        assert tail > 0.025


@pytest.mark.parametrize(
    ("measure", "kind", "message"),
    [
        ("Cost", UsageError, "say what it belongs to"),
        ("Cost(column=price)", InputError, "needs a column price"),
        ("Cost(column=tokens, per=query)", UsageError, "tokens differs within a query"),
        ("Cost(column=ms, per=call)", UsageError, "needs a column call or turn"),
        ("Cost(column=tokens, agg=p100)", UsageError, "is not known"),
    ],
)
def test_refused(measure: str, kind: type[Exception], message: str) -> None:
    """What is not stated cannot be guessed."""
    with pytest.raises(kind, match=message):
        rankstone.evaluate(JUDGED, RUN, measure)


def systems() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments and four systems: small and cheap, large, as large and dearer, worse and dearest."""
    draw = np.random.Generator(np.random.Philox(3))
    judged = {f"q{index:02}": {"a": 1} for index in range(60)}
    retrieved = draw.random(60) < 0.85
    runs = {}
    for name, hit, cost in (
        ("small", retrieved & (draw.random(60) < 0.55), 40.0),
        ("large", retrieved, 120.0),
        ("dearer", retrieved, 165.0),
        ("worst", retrieved & (draw.random(60) < 0.5), 200.0),
    ):
        rows = [
            {
                "query_id": query,
                "doc_id": "a" if hit[index] else "x",
                "score": 1.0,
                "ms": cost + index % 7,
            }
            for index, query in enumerate(judged)
        ]
        runs[name] = pl.DataFrame(rows)
    return judged, runs


def test_dominated_systems_are_marked(tmp_path: Any) -> None:
    """Equal quality at a higher cost, and lower quality at a higher cost: in frame, table and page."""
    judged, runs = systems()
    comparison = rankstone.compare(judged, runs, ["R@1", "Cost(column=ms, per=query)"])
    rows = {
        row["system"]: row
        for row in comparison.quality_and_cost().iter_rows(named=True)
    }
    assert rows["small"]["dominated_by"] == rows["large"]["dominated_by"] == []
    assert rows["dearer"]["dominated_by"] == ["large"]
    assert rows["dearer"]["clearly"]
    assert (
        {"small", "large", "dearer"}
        >= set(rows["worst"]["dominated_by"])
        >= {"large", "dearer"}
    )
    assert (
        rows["large"]["p50_low"]
        == quantile_interval([120.0 + index % 7 for index in range(60)], 0.5)[0]
    )
    assert rows["large"]["p95_high"] is None
    text = str(comparison)
    assert "Quality and Cost(column=ms, per=query)" in text
    assert "dominated by" in " ".join(text.split())
    rankstone.report(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<section id="cost">' in page
    assert page.count("<circle class=") == 4


def test_without_costs_there_is_no_such_table() -> None:
    """Nor where the cost itself is the primary measure."""
    judged, runs = systems()
    assert "Quality and" not in str(rankstone.compare(judged, runs, "R@1"))
    comparison = rankstone.compare(judged, runs, ["Cost(column=ms, per=query)", "R@1"])
    assert comparison.quality_and_cost().is_empty()


def test_what_is_repeated_in_rows_is_not_added_for_units() -> None:
    """Two chunks make one document: their tokens are added, the time of the query is not."""
    run = pl.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a#1", "a#2", "b#1"],
            "score": [3, 2, 1],
            "ms": 50,
            "tokens": 7,
        }
    )
    measures = [
        "R@1",
        "Cost(column=ms, per=query)",
        "Cost(column=tokens)",
        "Cost(column=tokens)@tokens(7)",
    ]
    value = rankstone.evaluate(
        {"q": {"a": 1}}, run, measures, unit="document"
    ).to_dict()["run"]
    assert list(value.values()) == [1.0, 50.0, 21.0, 7.0]


def test_lists_without_costs_have_no_budget() -> None:
    """Hits made for other measures are refused by a measure of costs, not misread."""
    hits = rankstone.Prepared({"q": {"a": 1}}, "RR").hits({"q": ["a"]})
    budgeted: Any
    [budgeted] = parse_measures(["R@tokens(10)"])
    with pytest.raises(BadParameter, match="these lists have none"):
        budgeted.score(hits)
