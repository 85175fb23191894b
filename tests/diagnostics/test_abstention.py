"""Abstention: which queries deserve an answer, verdicts, what is refused, and a real collection."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.command_line import command as run
from tests.real_data import data

from rankstone import abstain, demo, report
from rankstone.errors import BadParameter, NotComparable, RankstoneError, UsageError
from rankstone.stats.separation import nauc

if TYPE_CHECKING:
    from pathlib import Path

N = 60
QRELS = {f"q{at}": {"a": int(at % 3 > 0), "b": 1} for at in range(N)}
RUN = {f"q{at}": {"a": 9.0 + at % 7, "b": 2.0 + at % 2, "c": 1.0} for at in range(N)}


def row_of(qrels: Any, runs: Any, **options: Any) -> dict[str, Any]:
    """Return the row of a single run."""
    return abstain(qrels, runs, **options).rows.row(0, named=True)


def test_who_deserves_an_answer() -> None:
    """A relevant document among the first k decides where nothing is declared."""
    assert row_of(QRELS, RUN)["deserving"] == 40
    assert row_of(QRELS, RUN, k=2)["deserving"] == N
    graded = {query: {"a": 2 * grades["a"], "b": 1} for query, grades in QRELS.items()}
    assert row_of(graded, RUN, k=2, rel=2)["deserving"] == 40
    assert row_of(graded, RUN, k=2, rel=3)["deserving"] == 0


def test_declared_queries_decide() -> None:
    """A column answerable comes before relevance, in a table of queries as in judgments; the audit counts."""
    table = {f"q{at}": {"answerable": at % 2 == 0} for at in range(N)}
    qrels = {f"q{at}": {"a": 1} if at % 2 == 0 else {} for at in range(N)}
    lists = {f"q{at}": {"a" if at % 4 else "z": at} for at in range(N - 2)}
    row = row_of(qrels, lists, queries=table)
    assert (row["declared"], row["n"], row["deserving"]) == (True, N - 2, 29)
    assert (row["without_list"], row["answerable_missed"]) == (2, 15)
    without = row_of(qrels, lists, queries={"q0": {"text": "x"}})
    assert (without["declared"], without["deserving"]) == (False, 14)
    assert row_of(qrels, lists, empty="unanswerable")["deserving"] == 29


def test_figures_by_hand() -> None:
    """Counts of right and wrong answers, the curve, confidences and the measure's nAUC."""
    qrels = {f"q{at}": {"a": at % 2} for at in range(12)}
    lists = {f"q{at}": {"a": at // 2 + 1.0, "b": 0.5, "c": 0.0} for at in range(12)}
    utility = {"right": 2, "wrong": -3, "abstain": 1}
    result = abstain(qrels, lists, "AP", utility=utility)
    row = result.rows.row(0, named=True)
    assert row["always"] == pytest.approx((6 * 2 - 6 * 3) / 12)
    assert (row["never"], row["in_sample"], row["threshold"]) == (1, 1, None)
    assert row["auroc"] == 0.5
    curve = result.curve.filter(threshold=5.0).row(0, named=True)
    assert (curve["answered"], curve["right"]) == (4, 2)
    assert curve["utility"] == pytest.approx((2 * 2 - 2 * 3 + 8 * 1) / 12)
    tops: Any = np.arange(12) // 2 + 1.0
    value: Any = np.arange(12) % 2 * 1.0
    assert row["nauc_top"] == pytest.approx(nauc(tops, value))
    assert row["nauc_diff1"] == pytest.approx(nauc(tops - 0.5, value))
    spread = np.array([np.std([top, 0.5, 0.0]) for top in tops])
    assert row["nauc_std"] == pytest.approx(nauc(spread, value))


def test_a_threshold_and_its_utility_agree() -> None:
    """Answering from the advised threshold on gives the utility that is printed for it."""
    rng = np.random.default_rng(2)
    right = rng.random(200) < 0.5
    tops = np.round(rng.normal(size=200) + 1.8 * right, 2)
    qrels = {f"q{at}": {"d": int(right[at])} for at in range(200)}
    row = row_of(qrels, {f"q{at}": {"d": tops[at]} for at in range(200)})
    assert row["verdict"] == "use"
    worth = np.where(right, 1, -1) * (tops >= row["threshold"])
    assert row["in_sample"] == pytest.approx(worth.mean())
    assert row["gain"] == pytest.approx(
        row["held_out"] - max(row["always"], row["never"])
    )
    assert 0 < row["gain_low"] < row["gain"] < row["gain_high"]
    assert row["held_out"] < row["in_sample"]


@pytest.mark.parametrize("order", ["same", "turned"])
def test_order_of_queries_and_of_runs_does_not_matter(order: str) -> None:
    """Each run has its row, whatever stands beside it."""
    other = {query: {"a": 1.0 + len(query) % 2, "b": 0.5} for query in QRELS}
    runs = {"one": RUN, "two": other}
    if order == "turned":
        runs = {"two": other, "one": dict(reversed(RUN.items()))}
    both = abstain(QRELS, runs).rows
    alone = abstain(QRELS, {"one": RUN}).rows
    assert both.filter(run="one").equals(alone)


@pytest.mark.parametrize(
    ("runs", "options", "error", "words"),
    [
        ({q: ["a", "b"] for q in QRELS}, {}, NotComparable, "lists in order of input"),
        (RUN, {"order": "input"}, NotComparable, "no score says"),
        ({q: {"a": 1.0, "b": at} for at, q in enumerate(QRELS) if at < 1}, {}, None, ""),
        ({q: {"a": 1.0, "b": 0.5} for q in QRELS}, {}, NotComparable, "all are the same"),
        (
            {q: {"a": 0.8 + at / 999, "b": 0.7} if at % 2 else {"a": 20.0 + at, "b": 8.0}
             for at, q in enumerate(QRELS)},
            {}, NotComparable, "on two scales",
        ),
        (
            {q: {"a": 0.8 + at / 999, "b": 0.7} if at % 2 else {"a": 0.2, "b": 0.1}
             for at, q in enumerate(QRELS)},
            {}, None, "",
        ),
        ({q: {"a": float("inf"), "b": 1.0} for q in QRELS}, {}, RankstoneError, "infinite"),
        (RUN, {"ties": "expected"}, BadParameter, "has no first documents"),
        (RUN, {"utility": {"wrong": 2}}, BadParameter, "nothing to decide"),
        (RUN, {"utility": {"rihgt": 2}}, BadParameter, "rihgt"),
        (RUN, {"seed": -1}, UsageError, "seed"),
        (RUN, {"confidence": 2}, UsageError, "confidence"),
        (RUN, {"k": 0}, UsageError, "0"),
        (RUN, {"lang": "xx"}, UsageError, "xx"),
    ],
)  # fmt: skip
def test_what_is_refused(runs: Any, options: Any, error: Any, words: str) -> None:
    """No scores, scores that cannot be compared between queries, and settings without a meaning."""
    if error is None:
        assert abstain(QRELS, runs, **options).rows.height == 1
        return
    with pytest.raises(error, match=words):
        abstain(QRELS, runs, **options)


def test_the_command_prints_what_the_function_finds(tmp_path: Path) -> None:
    """Text fits on a screen; CSV, JSON and the page have the same numbers; both languages speak."""
    line = ("abstain", demo.QRELS, demo.RUNS["bm25"], "-k", "1")
    text = run(*line).stdout
    assert len(text.splitlines()) <= 25
    assert max(map(len, text.splitlines()[:-1])) <= 80
    assert "bm25: cannot tell. With 31 queries" in text
    assert "无法判断" in run(*line, "--lang", "zh").stdout
    rows = pl.read_csv(run(*line, "--format", "csv").stdout.encode())
    result = json.loads(run(*line, "--format", "json").stdout)
    row = row_of(demo.QRELS, demo.RUNS["bm25"])
    for shown in (rows.row(0, named=True), result["rows"][0]):
        assert shown["gain_low"] == pytest.approx(row["gain_low"])
    assert result["curve"][-1]["answered"] == 1
    whole = run(*line, "-v").stdout
    assert "answering from this top score on" in whole
    run(*line, "-o", tmp_path / "page.html")
    assert "bm25: cannot tell." in (tmp_path / "page.html").read_text("utf-8")
    assert "wrong -9" in run(*line, "--utility", "wrong=-9").stdout
    assert "takes names" in run(*line, "--utility", "right", code=2).stderr
    report(abstain(demo.QRELS, demo.RUNS), tmp_path / "both.html", lang="zh")


def tops_of(run: Path, judged: set[str]) -> dict[str, tuple[float, str]]:
    """Return the highest score of each judged query of a TREC run, with its document."""
    rows = defaultdict(list)
    with gzip.open(run, "rt") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            if query in judged:
                rows[query].append((float(score), document))
    return {query: max(pairs) for query, pairs in rows.items()}


def test_published_runs_by_another_script() -> None:
    """AUROC of the top score for a right first document, pair by pair, on runs of TREC 2021."""
    folder = data("syndl-dl21-runs")
    relevant = set()
    judged = set()
    with gzip.open(folder / "qrels.dl21-passage.txt.gz", "rt") as lines:
        for line in lines:
            query, _, document, grade = line.split()
            judged.add(query)
            if int(grade) >= 2:
                relevant.add((query, document))
    names = {"p_bm25": 0.573, "p_tct0": 0.506, "TUW_TAS-B_768": 0.450}
    names |= {"NLE_P_V1andV2": 0.498}
    runs = {name: folder / "runs" / f"{name}.gz" for name in names}
    qrels = folder / "qrels.dl21-passage.txt.gz"
    result = abstain(qrels, runs, rel=2).rows
    for row in result.iter_rows(named=True):
        kinds: dict[bool, list[float]] = {True: [], False: []}
        for query, (score, document) in tops_of(runs[row["run"]], judged).items():
            kinds[(query, document) in relevant].append(score)
        wins = [
            (high > low) + (high == low) / 2
            for high in kinds[True]
            for low in kinds[False]
        ]
        assert row["deserving"] == len(kinds[True])
        assert row["auroc"] == pytest.approx(sum(wins) / len(wins))
        assert row["auroc"] == pytest.approx(names[row["run"]], abs=0.002)
        assert row["verdict"] != "use"
