"""Test collections: pools, unique documents and leave-one-group-out by hand and derived again."""

from __future__ import annotations

import gzip
from collections import defaultdict
from statistics import fmean
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from tests.real_data import data

from rankstone import demo
from rankstone.collections import collection
from rankstone.errors import (
    BadOption,
    DuplicateRows,
    MissingColumn,
    NotComparable,
    UsageError,
)

#: three groups; g1 has two runs.  Only g1 finds b in q1, only g3 finds e in q2
QRELS: Final = {"q1": {"a": 1, "b": 1, "c": 0, "z": 1}, "q2": {"d": 1, "e": 1, "c": 0}}
RUNS: Final[dict[str, dict[str, list[str]]]] = {
    "r1": {"q1": ["b", "a"], "q2": ["d", "c"]},
    "r2": {"q1": ["a", "b"], "q2": ["c", "d"]},
    "r3": {"q1": ["a", "c"], "q2": ["d", "c"]},
    "r4": {"q1": ["c", "a"], "q2": ["e", "d"]},
}
GROUPS: Final = {"r1": "g1", "r2": "g1", "r3": "g2", "r4": "g3"}


def study(**options: Any) -> Any:
    """Return the study of the small collection."""
    return collection(QRELS, RUNS, "P@2", groups=GROUPS, pool_depth=2, **options)


def test_pool_and_unique_documents_by_hand() -> None:
    """Pooled are a, b, c in q1 and c, d, e in q2; z is judged but in no run."""
    result = study()
    assert result.pool == {
        "pooled": 6,
        "pooled_judged": 6,
        "pooled_relevant": 4,
        "judged": 7,
        "relevant": 5,
    }
    counts = result.leaderboard.select(
        "run", "pooled", "judged", "relevant", "unique", "unique_relevant"
    )
    assert sorted(counts.rows()) == [
        ("r1", 4, 4, 3, 0, 0),  # b is in r2, too
        ("r2", 4, 4, 3, 0, 0),
        ("r3", 4, 4, 2, 0, 0),
        ("r4", 4, 4, 3, 1, 1),
    ]


def test_leave_one_group_out_by_hand() -> None:
    """P@2 of r1, r2: 3/4 becomes 2/4 without b; r4: 2/4 without e; g2 has nothing of its own."""
    result = study()
    rows = {row["group"]: row for row in result.reusability.to_dicts()}
    for group, unique, run in (("g1", 1, "r1"), ("g3", 1, "r4")):
        row = rows[group]
        assert (row["unique_judged"], row["unique_relevant"], row["run"]) == (
            unique,
            1,
            run,
        )
        assert (row["before"], row["after"], row["loss"]) == (0.75, 0.5, 0.25)
    # before: r1, r2, r4 3/4 and r3 1/2; without g1's document: r4 3/4, the others 1/2
    assert (rows["g1"]["rank_before"], rows["g1"]["rank_after"]) == (1, 2)
    assert rows["g1"]["tau"] == pytest.approx(1 / 3)
    assert (rows["g2"]["loss"], rows["g2"]["tau"]) == (0, 1)


def test_topics() -> None:
    """Best, median and worst of each topic, the hardest first."""
    topics = study().topics.to_dicts()
    assert [row["query_id"] for row in topics] == ["q2", "q1"]
    assert (
        topics[0]["best"],
        topics[0]["best_run"],
        topics[0]["median"],
        topics[0]["worst"],
    ) == (1, "r4", 0.5, 0.5)
    assert (topics[1]["median"], topics[1]["relevant"], topics[1]["judged"]) == (
        0.75,
        3,
        4,
    )


def derived(
    qrels: dict[str, dict[str, int]], runs: dict[str, dict[str, list[str]]], depth: int
) -> dict[str, Any]:
    """Derive leave-one-run-out of P@10 again: plain dicts, no code of ours."""

    def precision(run: dict[str, list[str]], hidden: set[tuple[str, str]]) -> float:
        return fmean(
            sum(
                qrels[q].get(d, 0) > 0 and (q, d) not in hidden
                for d in run.get(q, [])[:10]
            )
            / 10
            for q in qrels
        )

    owners = defaultdict(set)
    for name, run in runs.items():
        for q in qrels:
            for d in run.get(q, [])[:depth]:
                owners[q, d].add(name)
    before, values = {name: precision(run, set()) for name, run in runs.items()}, {}
    for left in runs:
        hidden = {
            pair
            for pair, of in owners.items()
            if of == {left} and pair[1] in qrels[pair[0]]
        }
        after = {name: precision(run, hidden) for name, run in runs.items()}
        signs = [
            (
                np.sign(round(before[a] - before[b], 12)),
                np.sign(round(after[a] - after[b], 12)),
            )
            for a in runs
            for b in runs
            if a < b
        ]
        first, other = np.array(signs).T
        tau = (first * other).sum() / np.sqrt((first**2).sum() * (other**2).sum())
        ranks = [
            1 + sum(round(other - of[left], 12) > 0 for other in of.values())
            for of in (before, after)
        ]
        values[left] = len(hidden), before[left] - after[left], *ranks, tau
    return values


def test_trec_covid() -> None:
    """A real shared task: losses, ranks and τ without each run are those of plain Python."""
    folder = data("trec-covid-r3")
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.covid-round3.txt").read_text().splitlines():
        q, _, d, grade = line.split()
        qrels[q][d] = max(int(grade), qrels[q].get(d, -1))
    files, runs = (
        {path.name[:-3]: path for path in sorted((folder / "runs").glob("*.gz"))},
        {},
    )
    for name, path in files.items():
        lists: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            q, _, d, _, score, _ = line.split()
            lists[q].append((float(np.float64(score)), d))
        runs[name] = {
            q: [d for _, d in sorted(value, reverse=True)] for q, value in lists.items()
        }
    result = collection(folder / "qrels.covid-round3.txt", files, "P@10", pool_depth=15)
    expected = derived(qrels, runs, 15)
    for row in result.reusability.iter_rows(named=True):
        hidden, loss, before, after, tau = expected[row["group"]]
        assert (row["unique_judged"], row["rank_before"], row["rank_after"]) == (
            hidden,
            before,
            after,
        )
        assert row["loss"] == pytest.approx(loss, abs=1e-12)
        assert row["tau"] == pytest.approx(tau, abs=1e-12)


def test_what_it_says() -> None:
    """Sentences in both languages, and tables of every part."""
    result = collection(demo.QRELS, demo.RUNS, "nDCG@10 AP", pool_depth=10)
    text = result.text(100, verbose=True)
    for part in (
        "Leaderboard",
        "Without a group",
        "Orders of the runs",
        "hardest topic",
        "rough guess",
    ):
        assert part in text
    assert "最难的主题" in " ".join(
        collection(demo.QRELS, demo.RUNS, "nDCG@10", lang="zh").findings()
    )
    nothing = collection(QRELS, {"a": RUNS["r3"], "b": RUNS["r3"]}, "P@2")
    assert "says nothing about new systems" in " ".join(nothing.findings())


def test_groups_of_a_table(tmp_path: Any) -> None:
    """A table of teams; a run that it lacks, a column that it lacks."""
    table = pl.DataFrame({"tag": [*GROUPS], "team": [*GROUPS.values()], "country": "x"})
    table.write_csv(tmp_path / "teams.csv")
    result = collection(QRELS, RUNS, "P@2", groups=tmp_path / "teams.csv", pool_depth=2)
    assert result.reusability.equals(study().reusability)
    with pytest.raises(UsageError, match="without a group: r4"):
        collection(QRELS, RUNS, "P@2", groups={"r1": "g1", "r2": "g1", "r3": "g2"})
    with pytest.raises(DuplicateRows, match="r1 has two groups"):
        collection(
            QRELS,
            RUNS,
            "P@2",
            groups=pl.concat([table, table.with_columns(team=pl.lit("g9"))]),
        )
    with pytest.raises(MissingColumn, match="group"):
        collection(QRELS, RUNS, "P@2", groups=table.select("tag", "country"))


def test_mistakes() -> None:
    """One run, a measure that is no mean, a depth of nothing."""
    with pytest.raises(NotComparable):
        collection(QRELS, {"r1": RUNS["r1"]}, "P@2")
    with pytest.raises(UsageError, match="not a mean"):
        collection(QRELS, RUNS, "AP(agg=gmean)")
    with pytest.raises(UsageError):
        collection(QRELS, RUNS, "P@2", pool_depth=0)


def test_lists_are_the_runs_own() -> None:
    """Options that change lists are refused; costs of runs are read for budgets."""
    with pytest.raises(BadOption, match="unit"):
        collection(QRELS, RUNS, "P@2", unit="^(.)")
    rows = {
        "query_id": ["q1", "q1", "q2", "q2"],
        "tokens": [100, 200, 100, 200],
        "score": [2.0, 1.0, 2.0, 1.0],
    }
    runs = {
        name: pl.DataFrame({**rows, "doc_id": docs})
        for name, docs in (("a", list("abde")), ("b", list("cxcy")))
    }
    result = collection(QRELS, runs, "R@tokens(150)", pool_depth=2)
    assert result.leaderboard["R@tokens(150)"].to_list() == [
        pytest.approx((1 / 3 + 1 / 2) / 2),
        0,
    ]


def test_losses_have_intervals() -> None:
    """Of groups with documents of their own; too few runs for an interval of τ are called too few."""
    result = collection(demo.QRELS, demo.RUNS, "nDCG@10 AP", pool_depth=10)
    for row in result.reusability.iter_rows(named=True):
        assert row["loss_low"] < row["loss"] < row["loss_high"]
    assert result.reusability["measure"].to_list() == ["nDCG@10", "nDCG@10", "AP", "AP"]
    assert result.reusability.filter(measure="AP")["loss"].is_sorted(descending=True)
    assert study().reusability.filter(group="g2")["loss_low"].to_list() == [None]
    assert "it takes 5 runs and 5 topics" in " ".join(result.findings())
