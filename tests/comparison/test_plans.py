"""``power`` takes judgments and runs as every verb does, and plans for the observed difference by default."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.command_line import command as run

import rankstone
from rankstone.demo import QRELS, RUNS

FILES = (QRELS, *RUNS.values())
OBSERVED = "difference: the observed one of each pair"


def test_judgments_and_runs_are_a_pilot() -> None:
    """The same plan as from a comparison by the t test, and as the command prints."""
    plan = rankstone.power(QRELS, RUNS, "nDCG@10 AP", differences=[0.02, 0.05])
    pilot = rankstone.compare(QRELS, RUNS, "nDCG@10 AP", test="t", primary="nDCG@10 AP")
    assert plan.table.equals(rankstone.power(pilot, [0.02, 0.05]).table)
    words = ("-m", "nDCG@10 AP", "-d", "0.02,0.05", "--format", "json")
    printed = json.loads(run("power", *FILES, *words).stdout)
    assert printed["plan"] == plan.table.to_dicts()


def test_options_are_those_of_the_scores() -> None:
    """Alignment's options reach the pilot."""
    short = rankstone.power(QRELS, RUNS, "nDCG@10", depth=3, differences=0.05)
    assert not short.table.equals(
        rankstone.power(QRELS, RUNS, "nDCG@10", differences=0.05).table
    )


@pytest.mark.parametrize("measures", ["nDCG@10", "nDCG@10 AP"])
def test_the_observed_difference_by_default(measures: str) -> None:
    """Each pair has its own, the one that the comparison counts, and a note names it."""
    pilot = rankstone.compare(QRELS, RUNS, measures, test="t", primary=measures)
    plan = rankstone.power(pilot)
    observed = pilot.table["difference"].abs()
    assert plan.table["difference"].to_list() == observed.to_list()
    assert plan.table["needed"].to_list() == pilot.table["needed"].to_list()
    out = run("power", *FILES, "-m", measures).stdout
    assert OBSERVED in " ".join(out.split())
    assert OBSERVED not in run("power", *FILES, "-m", measures, "-d", "0.02").stdout
    assert plan.report()["notes"][0].startswith(OBSERVED)


def test_no_difference_was_observed() -> None:
    """Equal runs need no number of queries, and that is no error."""
    runs = {"a": RUNS["bm25"], "b": RUNS["bm25"]}
    assert rankstone.power(QRELS, runs, "AP").table["needed"].to_list() == [None]


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((0.2,), {}, "no observed difference"),
        ((QRELS, RUNS, "AP"), {"among": 3}, "no observed difference"),
        ((QRELS, RUNS), {}, "also measures"),
        ((QRELS,), {}, "judgments with runs and measures"),
        ((0.2, 0.1), {"widths": 0.1}, "either for differences or for widths"),
    ],
)
def test_what_cannot_be_planned(
    arguments: tuple[Any, ...], settings: dict[str, Any], message: str
) -> None:
    """A sentence says what is missing, never a traceback."""
    with pytest.raises(rankstone.UsageError, match=message):
        rankstone.power(*arguments, **settings)


def test_identify_takes_measures() -> None:
    """The keyword of the other verbs means what its own does."""
    printed = rankstone.evaluate(QRELS, RUNS["bm25"], "AP")["AP"]
    ways: list[Any] = [
        rankstone.identify(QRELS, RUNS["bm25"], f"{printed:.4f}", **{name: "AP"})
        for name in ("measure", "measures")
    ]
    assert ways[0].report() == ways[1].report()
