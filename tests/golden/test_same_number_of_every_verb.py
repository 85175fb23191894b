"""A golden set with alternatives: every verb prints the number that ``evaluate`` prints."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import rankstone
from rankstone import Explanation
from rankstone.errors import BadParameter

#: any of two documents is enough for a query of even number, both are needed for the others
GOLDEN = [
    {"id": f"q{n}", "query": f"question {n}", "any_of": ["a", "b"]}
    if n % 2 == 0
    else {"id": f"q{n}", "query": f"question {n}", "expected": ["a", "b"]}
    for n in range(12)
]
HALF = {f"q{n}": ["a", "x", "y"] for n in range(12)}
BOTH = {f"q{n}": ["b", "x", "a" if n < 4 else "y"] for n in range(12)}
RUNS = {"half": HALF, "both": BOTH}
TEXT = "FullRecall@3"
#: half finds one of two everywhere; both finds the second one for q1 and q3, too
EXPECTED = {"half": 6 / 12, "both": 8 / 12}


def test_evaluate() -> None:
    """By hand."""
    golden: Any = GOLDEN
    means = rankstone.evaluate(golden, RUNS, TEXT).mean()
    assert dict(means.select("run", "value").iter_rows()) == EXPECTED


@pytest.mark.parametrize("primary", [None, TEXT, [TEXT]])
def test_compare(primary: Any) -> None:
    """Also where the measure is named as the primary one, and behind another measure."""
    golden: Any = GOLDEN
    comparison = rankstone.compare(golden, RUNS, f"{TEXT} R@3", primary=primary)
    row = comparison.table.row(0, named=True)
    assert row["mean"] - row["mean_versus"] == pytest.approx(2 / 12)
    assert comparison.primary == ("FullRecall(each=subtopic)@3",)
    other = rankstone.compare(golden, RUNS, f"R@3 {TEXT}", primary=primary)
    values = other.table.filter(measure="FullRecall(each=subtopic)@3")
    assert values["difference"].item() == pytest.approx(2 / 12)


def test_gate() -> None:
    """A rule names the measure as it was written."""
    config = {
        "qrels": GOLDEN,
        "baseline": HALF,
        "candidate": BOTH,
        "rules": [{"measure": TEXT, "floor": 0.6}],
    }
    gate = rankstone.gate(config)
    assert gate.verdict == "pass"
    assert gate.comparison.table["difference"].item() == pytest.approx(2 / 12)


@pytest.mark.parametrize("verb", ["baseline", "thresholds", "memory"])
def test_other_tables(verb: str) -> None:
    """What scores the runs again."""
    golden: Any = GOLDEN
    if verb == "memory":
        stored = rankstone.evaluate(golden, RUNS, TEXT, memory="1GB")
        frame = stored.mean()
    elif verb == "baseline":
        frame = rankstone.baseline(golden, RUNS, TEXT).scores.mean()
    else:
        frame = rankstone.thresholds(golden, RUNS, TEXT).scores.mean()
    assert dict(frame.select("run", "value").iter_rows()) == EXPECTED


def test_curves_and_explanations() -> None:
    """A curve over cutoffs ends in the number, and queries explained have it as their mean."""
    golden: Any = GOLDEN
    curves = rankstone.curve(golden, {"both": BOTH}, "FullRecall@1..3")
    last = curves.mean()["mean"][-1]
    assert last == pytest.approx(EXPECTED["both"])

    values = []
    for case in GOLDEN:
        explanation = rankstone.explain(golden, BOTH, TEXT, case["id"])
        assert isinstance(explanation, Explanation)
        values.append(explanation.value)
    assert sum(value or 0.0 for value in values) / 12 == pytest.approx(8 / 12)


def test_bounds_are_refused() -> None:
    """Bounds over grades do not know of alternatives."""
    golden: Any = GOLDEN
    with pytest.raises(BadParameter, match="needs more of a document than a grade"):
        rankstone.bounds(golden, RUNS, TEXT)


def test_budgets() -> None:
    """A measure whose ideal list changes with the data has one value in both verbs."""
    run = pl.DataFrame(
        {
            "query_id": ["q1", "q1", "q2", "q2"],
            "doc_id": ["a", "b", "a", "b"],
            "score": [2.0, 1.0, 1.0, 2.0],
            "tokens": [60.0, 60.0, 60.0, 60.0],
        }
    )
    other = run.with_columns(score=-pl.col("score"))
    qrels = {"q1": {"a": 1, "c": 2}, "q2": {"a": 1}}
    text = "nDCG@tokens(100)"
    means = rankstone.evaluate(qrels, {"run": run, "other": other}, text).mean()
    row = rankstone.compare(
        qrels, {"run": run, "other": other}, text, primary=text
    ).table.row(0, named=True)
    values = dict(means.select("run", "value").iter_rows())
    assert {row["system"]: row["mean"], row["versus"]: row["mean_versus"]} == values
