"""Scores per query come first; everything else is derived from them."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}, "q3": {"d4": 0}}
RUNS = {
    "a": {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}, "q3": {"d4": 1.0}},
    "b": {"q1": {"d1": 1.0}},
}


@pytest.fixture
def scores() -> rankstone.Scores:
    """Two runs, one of which misses queries; one query without a relevant document."""
    return rankstone.evaluate(QRELS, RUNS, ["RR", "R@1", "NumRet"])


def test_per_query_rebuilds_every_value(scores: rankstone.Scores) -> None:
    """Numerator over denominator is the value, wherever there is something to divide by."""
    rows = scores.per_query.filter(pl.col("denominator") > 0)

    assert (
        rows["value"].to_list() == (rows["numerator"] / rows["denominator"]).to_list()
    )
    assert scores.per_query.filter(run="b", measure="RR")["status"].to_list() == [
        "ok",
        "missing",
        "missing",
    ]


def test_means_leave_out_what_is_requested(scores: rankstone.Scores) -> None:
    """The mean over answered queries, and over queries with something to find, are derivable."""

    def rr(run: str, *without: str) -> float:
        return float(scores.mean(without).filter(run=run, measure="RR")["value"].item())

    assert rr("a") == (1 / 2 + 1 / 1 + 0) / 3
    assert rr("a", "no_relevant") == (1 / 2 + 1 / 1) / 2
    assert rr("b") == (1 / 1 + 0 + 0) / 3
    assert rr("b", "missing") == 1 / 1


def test_statuses_by_name(scores: rankstone.Scores) -> None:
    """One status need not stand in a list; one that there is not names the nearest."""
    assert scores.mean("missing").equals(scores.mean(["missing"]))
    for ask in (scores.has, scores.mean):
        with pytest.raises(UsageError, match="did you mean 'missing'"):
            ask("mising")


def test_pooled_is_a_ratio_of_sums() -> None:
    """Micro recall pools hits and relevant documents over queries; macro averages the ratios."""
    qrels = {"u1": {f"i{j}": 1 for j in range(10)}, "u2": {"i1": 1, "i2": 1}}
    run = {"u1": [f"i{j}" for j in range(6)], "u2": ["i1"]}
    value = rankstone.evaluate(
        qrels, {"r": run}, ["R(agg=pooled)@10", "R@10", "Success@10"]
    ).to_dict()["r"]

    assert value["R(agg=pooled)@10"] == (6 + 1) / (10 + 2)
    assert value["R@10"] == (6 / 10 + 1 / 2) / 2
    assert value["Success@10"] == 1.0


def test_other_aggregations() -> None:
    """Sum, median and the geometric mean with its floor."""
    qrels = {f"q{i}": {"d": 1} for i in range(3)}
    run = {"q0": ["d"], "q1": ["x", "d"], "q2": ["x"]}
    value = rankstone.evaluate(
        qrels, {"r": run}, ["RR(agg=sum)", "RR(agg=median)", "GMAP"]
    ).to_dict()["r"]

    assert value["RR(agg=sum)"] == 1 + 1 / 2 + 0
    assert value["RR(agg=median)"] == 1 / 2
    assert value["AP(agg=gmean)"] == pytest.approx(
        math.exp((math.log(1) + math.log(1 / 2) + math.log(1e-5)) / 3)
    )


def test_files_hold_what_the_frame_holds(
    scores: rankstone.Scores, tmp_path: Path
) -> None:
    """Parquet, CSV and JSON lines read back as the per-query frame; JSON as the report."""
    scores.write(tmp_path / "s.parquet")
    scores.write(tmp_path / "s.csv")
    scores.write(tmp_path / "s.jsonl")
    scores.write(tmp_path / "s.json")
    values = scores.per_query["value"].to_list()

    assert pl.read_parquet(tmp_path / "s.parquet")["value"].to_list() == values
    assert pl.read_csv(tmp_path / "s.csv")["value"].to_list() == values
    assert pl.read_ndjson(tmp_path / "s.jsonl")["value"].to_list() == values
    assert json.loads((tmp_path / "s.json").read_text())["runs"] == scores.to_dict()
    assert len(list(tmp_path.iterdir())) == 4


def test_writing_where_nothing_can_be_written(
    scores: rankstone.Scores, tmp_path: Path
) -> None:
    """A folder that is not there is an input error that names the file."""
    with pytest.raises(InputError, match="nowhere"):
        scores.write(tmp_path / "nowhere" / "s.csv")


def test_pandas_on_request(scores: rankstone.Scores) -> None:
    """to_pandas gives the per-query values with null as NaN."""
    frame = scores.to_pandas()

    assert list(frame.columns) == scores.per_query.columns
    assert frame["query_id"].tolist() == scores.per_query["query_id"].to_list()


@pytest.mark.parametrize(
    ("result", "frame"),
    [
        (lambda: rankstone.curve(QRELS, RUNS, "PR R@1,2"), "per_query"),
        (lambda: rankstone.bounds(QRELS, RUNS, "AP"), "per_query"),
        (lambda: rankstone.diff(RUNS["a"], RUNS["b"], "RBO(p=0.9)"), "per_query"),
        (
            lambda: rankstone.beyond(RUNS, "Popularity", history={"q1": ["d1"]}),
            "per_query",
        ),
        (lambda: rankstone.thresholds(QRELS, RUNS, "AP"), "values"),
    ],
    ids=["curves", "bounds", "similarity", "beyond", "thresholds"],
)
def test_every_result_is_a_pandas_frame_on_request(
    result: Callable[[], Any], frame: str
) -> None:
    """The rows, columns and values are those of the Polars frame."""
    values = result()
    rows: pl.DataFrame = getattr(values, frame)
    as_pandas = values.to_pandas()

    assert list(as_pandas.columns) == rows.columns
    assert len(as_pandas) == rows.height > 0
    for column in rows.iter_columns():
        panda = as_pandas[column.name]
        same = (
            panda.isna()
            if column.null_count() == rows.height
            else panda == column.to_list()
        )
        assert (same | panda.isna()).all(), column.name


def test_people_see_means_and_audit(scores: rankstone.Scores) -> None:
    """The representation in a terminal and in a notebook shows means and what alignment did."""
    html = scores._repr_html_()

    assert "2 queries missing" in repr(scores)
    assert "2 queries missing" in html
    assert "<table" in html
    assert "Audit" in repr(scores.audit)


def test_names_are_escaped_in_a_notebook() -> None:
    """A run's name is untrusted: it does not become markup."""
    scores = rankstone.evaluate({"q": {"d": 1}}, {"<script>": {"q": {"d": 1.0}}}, "RR")

    assert "<script>" not in scores._repr_html_()


def test_flat_names(scores: rankstone.Scores) -> None:
    """One name a mean, for trackers; a mean without a value has none, and no two share one."""
    alone = rankstone.evaluate(QRELS, RUNS["a"], "RR AP(rel=2)@5")

    assert list(alone.to_flat_dict("val/")) == ["val/RR", "val/AP(rel=2)@5"]
    assert list(alone.to_flat_dict(plain=True)) == ["RR", "AP_rel_2_at_5"]
    assert scores.to_flat_dict()["b/R@1"] == 1 / 3
    assert (
        rankstone.evaluate(
            {"q": {"d": 0}}, {"q": {"d": 1.0}}, "RR", empty="drop"
        ).to_flat_dict()
        == {}
    )
    with pytest.raises(UsageError, match="the same name"):
        rankstone.evaluate(
            QRELS, {"a b": RUNS["a"], "a-b": RUNS["b"]}, "RR"
        ).to_flat_dict(plain=True)
