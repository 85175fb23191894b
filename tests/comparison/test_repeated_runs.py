"""Repeated runs as a level of comparisons and gates: shares of the error by hand, verdicts of single runs."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankstone
from rankstone.errors import UsageError

QRELS = {f"q{i}": {f"d{j}": 1 for j in range(3)} for i in range(30)}


def run(strength: float, seed: int) -> dict[str, dict[str, float]]:
    """Return a run whose relevant documents are raised by a strength of its own."""
    dice = random.Random(seed)
    raised = strength + dice.gauss(0, 0.1)
    return {
        q: {f"d{j}": dice.random() + (raised if j < 3 else 0) for j in range(20)}
        for q in QRELS
    }


RUNS = {f"a/s{index}": run(0.2, index) for index in range(4)} | {
    f"b/s{index}": run(0.4, 100 + index) for index in range(3)
}


def per_query(runs: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the nDCG@10 of each run, query by query."""
    frame = rankstone.evaluate(QRELS, runs, "nDCG@10").to_frame().sort("query_id")
    return {name: frame.filter(run=name)["value"].to_numpy() for name in runs}


def test_shares_and_verdicts_by_hand() -> None:
    """The parts of the squared error, and what every pair of single runs would have concluded by the t-test."""
    comparison = rankstone.compare(QRELS, RUNS, "nDCG@10")
    row = comparison.repeated_runs().row(0, named=True)
    scores = per_query(RUNS)
    a, b = (
        np.stack([scores[name] for name in RUNS if name[0] == system])
        for system in "ab"
    )
    between = b.mean(axis=0) - a.mean(axis=0)
    of_queries = between.std(ddof=1) / np.sqrt(len(QRELS))
    of_runs = a.mean(axis=1).var(ddof=1) / 4 + b.mean(axis=1).var(ddof=1) / 3
    verdicts = [stats.ttest_rel(item, other) for item in b for other in a]
    better = sum(
        verdict.pvalue < 0.05 and verdict.statistic > 0 for verdict in verdicts
    )
    worse = sum(verdict.pvalue < 0.05 and verdict.statistic < 0 for verdict in verdicts)

    assert (row["system"], row["versus"], row["runs"], row["runs_versus"]) == (
        "b",
        "a",
        3,
        4,
    )
    assert row["error_queries"] == pytest.approx(of_queries)
    assert row["error_runs"] == pytest.approx(np.sqrt(of_runs))
    assert row["share"] == pytest.approx(of_runs / (of_runs + of_queries**2))
    assert (row["better"], row["inconclusive"], row["worse"]) == (
        better,
        12 - better - worse,
        worse,
    )
    assert 0 < better < 12
    spread = a.mean(axis=1).var(ddof=1) + b.mean(axis=1).var(ddof=1)
    assert row["enough"] == np.ceil(9 * spread / of_queries**2)
    assert spread / row["enough"] <= (of_queries**2 + spread / row["enough"]) / 10
    text = comparison.text()
    assert f"Of 12 pairs of single runs {better} would say better" in " ".join(
        text.split()
    )
    assert comparison.report()["repeated_runs"][0]["better"] == better


def test_names_of_systems_are_cut_at_30_characters() -> None:
    """Shorter ones are whole in the sentence, and longer ones end in an ellipsis."""
    whole, long = "a" * 30, "b" * 31
    renamed = {
        name.replace("a/", f"{whole}/").replace("b/", f"{long}/"): run
        for name, run in RUNS.items()
    }
    text = " ".join(rankstone.compare(QRELS, renamed, "nDCG@10").text().split())
    assert f"{long[:29]}… − {whole} on nDCG@10: runs account for" in text


def test_single_runs_have_no_such_table() -> None:
    """Without repeated runs there is nothing to say."""
    comparison = rankstone.compare(
        QRELS, {"a": run(0.2, 1), "b": run(0.4, 2)}, "nDCG@10"
    )

    assert comparison.repeated_runs().is_empty()
    assert "Repeated runs" not in comparison.text()


def test_one_system_alone_may_be_repeated() -> None:
    """A single baseline is compared with every run of the other; equal runs say all the same."""
    same = run(0.4, 5)
    comparison = rankstone.compare(
        QRELS, {"base": run(0.1, 1), "new/1": same, "new/2": dict(same)}, "nDCG@10"
    )
    row = comparison.repeated_runs().row(0, named=True)

    assert (row["runs"], row["runs_versus"]) == (2, 1)
    assert (row["error_runs"], row["share"], row["enough"]) == (0.0, 0.0, None)
    assert max(row["better"], row["inconclusive"], row["worse"]) == 2


def test_a_gate_takes_repeated_runs() -> None:
    """Lists of runs are replicates of the baseline and of the candidate; the interval allows for both."""
    a, b = (
        [value for name, value in RUNS.items() if name[0] == system] for system in "ab"
    )
    rules = [{"measure": "nDCG@10", "margin": 0.3}]
    verdict = rankstone.gate(
        {"qrels": QRELS, "baseline": a, "candidate": b, "rules": rules}
    )
    compared = rankstone.compare(
        QRELS,
        {f"x/{index}": entry for index, entry in enumerate(a)}
        | {f"y/{index}": entry for index, entry in enumerate(b)},
        "nDCG@10",
        baseline="x",
        correction="bonferroni",
    )

    assert verdict.comparison.systems == ("baseline", "candidate")
    columns = ["difference", "low", "high"]
    assert verdict.comparison.table.select(columns).equals(
        compared.table.select(columns)
    )
    assert verdict.verdict == "pass"
    assert "pairs of single runs" in verdict.text()
    item = rankstone.gate(
        {"qrels": QRELS, "baseline": a[:1], "candidate": b[0], "rules": rules}
    )
    assert item.comparison.repeated_runs().is_empty()


def test_lists_of_runs_in_a_file(tmp_path: Any) -> None:
    """Paths of a list start at the folder of the configuration; other things are refused."""
    for name, value in RUNS.items():
        lines = [
            f"{q} Q0 {d} 0 {score!r} x"
            for q, docs in value.items()
            for d, score in docs.items()
        ]
        (tmp_path / f"{name.replace('/', '-')}.run").write_text("\n".join(lines))
    lines = [
        f"{q} 0 {d} {grade}" for q, docs in QRELS.items() for d, grade in docs.items()
    ]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    text = (
        '[gate]\nqrels = "qrels.txt"\nbaseline = ["a-s0.run", "a-s1.run"]\ncandidate = "b-s0.run"\n'
        '[[gate.rules]]\nmeasure = "nDCG@10"\nmargin = 0.4\n'
    )
    (tmp_path / "rankstone.toml").write_text(text)
    verdict = rankstone.gate(tmp_path / "rankstone.toml")
    assert verdict.comparison.replicates["baseline"] == ["baseline/1", "baseline/2"]
    (tmp_path / "rankstone.toml").write_text(text.replace('"a-s1.run"]', "3]"))
    with pytest.raises(UsageError, match="baseline"):
        rankstone.gate(tmp_path / "rankstone.toml")


@pytest.mark.parametrize("interval", ["test", "worst_case"])
@pytest.mark.parametrize("repeated", [True, False])
def test_pages_show_the_intervals_of_means_that_frames_have(
    tmp_path: Any, interval: str, *, repeated: bool
) -> None:
    """Of repeated runs none: the interval of their queries alone would be too narrow."""
    runs = RUNS | {"c": run(0.3, 7)}
    if not repeated:
        runs = {name[0]: one for name, one in runs.items()}
    options: dict[str, Any] = {} if repeated else {"interval": interval}
    comparison = rankstone.compare(
        QRELS, runs, "AP P@5", primary=["AP", "P@5"], **options
    )
    page = tmp_path / "page.html"
    rankstone.report(comparison, page)
    text = page.read_text("utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("<")[0])

    for measure in data["measures"]:
        frame = comparison.leaderboard(measure["name"])
        for end in ("low", "high"):
            known = dict(frame.drop_nulls(end).select("system", end).rows())
            ends = [known[system] for system in data["systems"] if known]
            assert measure[end] == pytest.approx(ends, abs=1e-5)
            assert len(ends) == (0 if repeated else 3)
    assert bool(re.search("95.{1,9}%, each on its own", text)) != repeated
