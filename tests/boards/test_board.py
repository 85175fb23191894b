"""Boards of systems on many data sets: numbers by hand, missing scores, what is read, and what is stated."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankstone
from rankstone.boards.additive_fit import AdditiveFit
from rankstone.boards.cells import ESTIMATES, ScoringRule
from rankstone.boards.prediction_scale import SCALES, PredictionScale
from rankstone.errors import (
    BadOption,
    DuplicateRows,
    InputError,
    MissingColumn,
    NotComparable,
    UsageError,
)
from rankstone.stats.variance_components import variance_components

#: three systems on four data sets, by hand
SCORES = {
    "a": {"w": 0.9, "x": 0.5, "y": 0.3, "z": 0.6},
    "b": {"w": 0.8, "x": 0.6, "y": 0.2, "z": 0.6},
    "c": {"w": 0.1, "x": 0.4, "y": 0.1, "z": 0.2},
}
#: the same without one score
LACKING = {**SCORES, "b": {"w": 0.8, "x": 0.6, "z": 0.6}}

BY_HAND = {
    "macro": {"a": 2.3 / 4, "b": 2.2 / 4, "c": 0.8 / 4},
    "mean_rank": {"a": (1 + 2 + 1 + 1.5) / 4, "b": (2 + 1 + 2 + 1.5) / 4, "c": 3.0},
    "borda": {"a": 2 + 1 + 2 + 1.5, "b": 1 + 2 + 1 + 1.5, "c": 0.0},
    "win_rate": {"a": 6.5 / 8, "b": 5.5 / 8, "c": 0.0},
    "geometric_mean": {
        "a": (0.9 * 0.5 * 0.3 * 0.6) ** 0.25,
        "b": (0.8 * 0.6 * 0.2 * 0.6) ** 0.25,
        "c": (0.1 * 0.4 * 0.1 * 0.2) ** 0.25,
    },
}


def numbers(result: Any) -> dict[str, float]:
    """Return the number of each system."""
    return dict(result.table.select("system", result.rule.estimate).iter_rows())


@pytest.mark.parametrize("estimate", BY_HAND)
def test_estimates_by_hand(estimate: str) -> None:
    """Means, ranks, points, wins; the best is first whichever way the number counts."""
    standings = rankstone.board(SCORES, estimate=estimate)

    assert numbers(standings) == pytest.approx(BY_HAND[estimate])
    assert standings.table["system"].to_list() == ["a", "b", "c"]
    assert standings.table["rank"].to_list() == [1, 2, 3]


def test_weights() -> None:
    """Weights are those of a column or given, and micro counts queries."""
    weights = {"w": 1, "x": 2, "y": 3, "z": 4}
    standings = rankstone.board(SCORES, weights=weights)
    assert standings.rule.estimate == "weighted"
    assert numbers(standings)["a"] == pytest.approx(
        (0.9 + 2 * 0.5 + 3 * 0.3 + 4 * 0.6) / 10
    )
    rows = [
        (s, d, v, float(weights[d])) for s, of in SCORES.items() for d, v in of.items()
    ]
    table = pl.DataFrame(rows, ["model", "task", "score", "weight"], orient="row")
    assert numbers(rankstone.board(table)) == numbers(standings)
    with pytest.raises(InputError, match="needs the weight of every data set"):
        rankstone.board(SCORES, weights={"w": 1})
    with pytest.raises(InputError, match="needs the number of queries"):
        rankstone.board(SCORES, estimate="micro")


def test_missing_scores_are_refused_unless_a_rule_is_named() -> None:
    """The error says where they are, and names the rules."""
    with pytest.raises(
        InputError, match=r"1 of 12 scores is missing, of 1 system"
    ) as caught:
        rankstone.board(LACKING)
    assert "y lacks 1" in str(caught.value)
    assert "missing='model'" in str(caught.value)


def test_rules_for_missing_scores_by_hand() -> None:
    """Left out, the lowest of the data set, or the prediction of the additive model."""
    assert numbers(rankstone.board(LACKING, missing="skip"))["b"] == pytest.approx(
        2.0 / 3
    )
    assert numbers(rankstone.board(LACKING, missing="worst"))["b"] == pytest.approx(
        (2.0 + 0.1) / 4
    )
    # b is level with a on the other three data sets: its mean there is that of a
    assert numbers(rankstone.board(LACKING, missing="model"))["b"] == pytest.approx(
        _by_least_squares()
    )
    for rule in ("skip", "worst", "model"):
        assert any(
            "1 of 12" in line
            for line in rankstone.board(LACKING, missing=rule).findings()
        ), rule
    # points: a missing score is none; MTEB counts the same way
    assert (
        numbers(rankstone.board(LACKING, missing="skip", estimate="borda"))["b"]
        == 1 + 2 + 1.5
    )


def _by_least_squares() -> float:
    """Return the mean of b with its missing score predicted by ordinary least squares."""
    cells = [(s, d, v) for s, of in LACKING.items() for d, v in of.items()]
    systems, datasets = list("abc"), list("wxyz")
    design = np.array(
        [
            [s == system for system in systems] + [d == dataset for dataset in datasets]
            for s, d, _ in cells
        ],
        float,
    )
    solved = np.linalg.lstsq(design, np.array([v for *_, v in cells]), rcond=None)[0]
    return (2.0 + solved[1] + solved[3 + 2]) / 4


def test_the_additive_model_is_least_squares() -> None:
    """Predictions, residuals and degrees of freedom on a random table with gaps."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(6, 9))
    values[rng.random(values.shape) < 0.3] = np.nan
    position, of = np.nonzero(~np.isnan(values))
    design = np.zeros((len(position), 15))
    design[np.arange(len(position)), of] = design[
        np.arange(len(position)), 9 + position
    ] = 1
    solved, _, rank, _ = np.linalg.lstsq(design, values[position, of], rcond=None)
    fit = AdditiveFit.of(values)

    assert fit.predicted == pytest.approx(solved[:9] + solved[9:, None], abs=1e-12)
    assert fit.df == len(position) - rank
    assert fit.pooled == pytest.approx(
        ((values[position, of] - design @ solved) ** 2).sum() / fit.df
    )


def test_systems_that_behave_alike_know_their_variance_as_few_do() -> None:
    """Families leave as many directions as there are, less one for the data sets; others leave all."""
    rng = np.random.default_rng(6)
    noise = rng.normal(size=(400, 3))
    assert 0.97 < AdditiveFit.of(rng.normal(size=(400, 30))).independent <= 1
    assert AdditiveFit.of(noise[:, np.arange(30) % 3]).independent == pytest.approx(
        2 / 29, rel=0.02
    )
    assert AdditiveFit.of(noise[:, np.arange(30) % 2]).independent == pytest.approx(
        1 / 29, rel=0.01
    )
    assert AdditiveFit.of(noise[:2]).independent == 1, "two data sets do not show it"
    alike = ScoringRule("macro", "error", np.ones(400)).estimated(
        noise[:, np.arange(30) % 2]
    )
    assert alike.errors().df == pytest.approx([399], rel=0.01)


def test_errors_of_predicted_means_are_those_of_least_squares() -> None:
    """The covariance of differences equals that of the linear model where residual variances are equal."""
    rng = np.random.default_rng(9)
    values = rng.normal(size=(7, 5))
    values[0, 0] = values[3, 0] = values[2, 4] = np.nan
    position, of = np.nonzero(~np.isnan(values))
    design = np.zeros((len(position), 12))
    design[np.arange(len(position)), of] = design[
        np.arange(len(position)), 5 + position
    ] = 1
    inverse = np.linalg.pinv(design.T @ design)
    standings = ScoringRule("macro", "model", np.ones(7)).estimated(values)
    errors = standings.model_errors()
    scale = standings.fit.pooled
    for index in range(5):
        for other in range(index):
            contrast = np.zeros(12)
            contrast[index], contrast[other] = 1, -1
            own = (
                errors.own / standings.fit.variances()[0] * scale
            )  # with one variance for all
            shared = ((errors.shared[index] - errors.shared[other]) ** 2).sum()
            assert own[index] + own[other] + shared == pytest.approx(
                scale * contrast @ inverse @ contrast
            )


def test_complete_boards_are_tukeys_pairs() -> None:
    """Clear differences of a complete board are those of Tukey's test, up to the draws."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(10, 6)) + np.arange(6) * 1.2
    table = {f"s{i}": {f"d{j}": values[j, i] for j in range(10)} for i in range(6)}
    standings = rankstone.board(table)
    residual = (
        values
        - values.mean(axis=0)
        - values.mean(axis=1, keepdims=True)
        + values.mean()
    )
    error = np.sqrt((residual**2).sum() / 45 / 10)
    q = np.abs(values.mean(axis=0)[:, None] - values.mean(axis=0)) / error
    p = stats.studentized_range.sf(q, 6, 45)
    better = standings.intervals.better | standings.intervals.better.T

    assert (better <= (p < 0.08)).all()
    assert (better >= (p < 0.03)).all()
    assert 0 < better.sum() < 30


def test_ranks_under_other_rules_and_without_data_sets() -> None:
    """They are those of boards made so."""
    rng = np.random.default_rng(3)
    table = {
        f"s{i}": {f"d{j}": float(rng.random()) for j in range(5)} for i in range(7)
    }
    standings = rankstone.board(table)
    for rule in ("mean_rank", "borda", "win_rate", "geometric_mean"):
        other = rankstone.board(table, estimate=rule)
        assert dict(standings.by_rule().select("system", rule).iter_rows()) == dict(
            other.table.select("system", "rank").iter_rows()
        )
    for index in range(5):
        fewer = {
            s: {d: v for d, v in of.items() if d != f"d{index}"}
            for s, of in table.items()
        }
        ranks = dict(rankstone.board(fewer).table.select("system", "rank").iter_rows())
        assert [ranks[s] for s in standings.scores.systems] == standings.without[
            index
        ].tolist()


def test_an_explanation_sums_to_the_difference() -> None:
    """Contributions of data sets add up to the difference of means, whatever the estimate."""
    for estimate in ("macro", "mean_rank", "win_rate"):
        standings = rankstone.board(SCORES, estimate=estimate)
        explained = standings.explain("b", "c")
        means = dict(zip(standings.scores.systems, standings.means, strict=True))
        assert explained.table["total"][-1] == pytest.approx(means["b"] - means["c"])
        assert explained.table["contribution"].sum() == pytest.approx(
            means["b"] - means["c"]
        )
    assert rankstone.board(SCORES).explain("a").versus == "b"  # none is above the first
    assert rankstone.board(SCORES).explain("c").versus == "b"
    with pytest.raises(UsageError, match="there is no system d"):
        rankstone.board(SCORES).explain("d")


def per_query(seed: int = 0, queries: int = 40) -> pl.DataFrame:
    """Return scores per query of three systems on two data sets."""
    rng = np.random.default_rng(seed)
    rows = [
        (system, dataset, f"q{query}", float(hard + 0.2 * index + rng.normal() * 0.1))
        for dataset in ("x", "y")
        for query, hard in enumerate(rng.random(queries * (1 + (dataset == "y"))))
        for index, system in enumerate("abc")
    ]
    return pl.DataFrame(rows, ["run", "dataset", "query_id", "value"], orient="row")


def test_these_data_sets_are_the_bootstrap_of_queries() -> None:
    """The errors of differences are those of means of queries, within each data set."""
    table = per_query()
    standings = rankstone.board(table, resample="queries", resamples=4000)
    wide = table.pivot("run", index=["dataset", "query_id"], values="value")
    variance = sum(
        float(np.var((part["a"] - part["b"]).to_numpy())) / part.height / 4
        for _, part in wide.group_by("dataset")
    )

    assert standings.errors.of_differences[0, 1] == pytest.approx(
        np.sqrt(variance), rel=0.05
    )
    assert standings.table["system"].to_list() == ["c", "b", "a"]
    assert standings.table["rank_low"].to_list() == [1, 2, 3]
    micro = rankstone.board(table, estimate="micro", resample="queries")
    assert numbers(micro) == pytest.approx(
        dict(table.group_by("run").agg(pl.col("value").mean()).iter_rows())
    )


def test_both_add_the_errors_of_queries_to_those_of_data_sets() -> None:
    """Variances add up; without scores per query there is nothing to draw."""
    rng = np.random.default_rng(1)
    rows = [
        (f"s{system}", f"d{dataset}", f"q{query}", float(effect + rng.normal() * 0.3))
        for dataset in range(8)
        for system, effect in enumerate(rng.normal(size=3) * 0.1)
        for query in range(20)
    ]
    table = pl.DataFrame(rows, ["run", "dataset", "query_id", "value"], orient="row")
    squares = {
        level: rankstone.board(
            table, resample=level, resamples=4000
        ).errors.of_differences
        ** 2
        for level in ("queries", "both")
    }
    whole = rankstone.board(table, resample="datasets")
    of_datasets = np.cov(
        (whole.errors.drawn[:, None] - whole.errors.drawn[:, :, None]).reshape(-1, 9).T
    )
    added = np.diag(of_datasets).reshape(3, 3) + squares["queries"]
    assert squares["both"] == pytest.approx(added, rel=0.1)
    assert "which errs on the safe side" in rankstone.board(
        table, resample="both"
    ).text(verbose=True)
    with pytest.raises(InputError, match="resample='both' needs scores per query"):
        rankstone.board(SCORES, resample="both")


def test_data_sets_with_the_same_queries_are_shards() -> None:
    """Three crossed factors, whatever the order of rows; other queries are nested in their data sets."""
    rng = np.random.default_rng(7)
    cube = (
        rng.normal(size=(4, 5, 12))
        + np.arange(4)[:, None, None]
        + rng.normal(size=(4, 1, 12))
    )
    rows = [
        (f"s{s}", f"d{d}", f"q{q}", float(cube[s, d, q]))
        for s in range(4)
        for d in range(5)
        for q in range(12)
    ]
    table = pl.DataFrame(rows, ["run", "dataset", "query_id", "value"], orient="row")
    standings = rankstone.board(table.sample(fraction=1, shuffle=True, seed=3))
    components = {row["source"]: row for row in standings.components().to_dicts()}
    expected = variance_components(cube, ["system", "data set", "query"])
    assert {name: row["variance"] for name, row in components.items()} == pytest.approx(
        {item.name: max(item.variance, 0.0) for item in expected}
    )
    error = {
        "system × data set": components["system × data set"]["variance"] / 5,
        "system × query": components["system × query"]["variance"] / 12,
        "residual": components["residual"]["variance"] / 60,
    }
    assert {name: components[name]["share"] for name in error} == pytest.approx(
        {name: value / sum(error.values()) for name, value in error.items()}
    )
    assert "the same queries, as shards have" in standings.text(verbose=True)
    nested = rankstone.board(
        table.with_columns(query_id=pl.col("dataset") + pl.col("query_id")),
        resample="datasets",
    )
    assert nested.components()["source"].to_list() == [
        "system",
        "data set",
        "system × data set",
        "query",
        "system × query",
    ]


def test_clusters_of_queries_move_together() -> None:
    """Queries of one cluster that share their noise make the errors larger."""
    table = per_query().with_columns(
        cluster=pl.col("query_id").str.slice(1).cast(pl.Int64) // 20
    )
    table = table.with_columns(
        value=pl.col("value") + (pl.col("run") == "a") * (pl.col("cluster") % 2) * 0.3
    )
    apart = rankstone.board(
        table.drop("cluster"), resample="queries"
    ).errors.of_differences[0, 1]

    assert (
        rankstone.board(table, resample="queries").errors.of_differences[0, 1]
        > 2 * apart
    )


def test_a_single_data_set_is_about_its_queries() -> None:
    """One data set with scores per query has no other doubt; without them there is none to show."""
    rest = per_query().filter(dataset="x").drop("dataset")
    standings = rankstone.board({"x": rest})
    assert standings.resample == "queries"
    with pytest.raises(InputError, match="needs scores per query"):
        rankstone.board(SCORES, resample="queries")


def test_lower_is_better_where_the_measure_says_so() -> None:
    """The direction is that of the measure's card."""
    values = {"value": [9.0, 2.0, 8.0, 1.0, 7.0, 3.0], "measure": ["LastRel"] * 6}
    table = pl.DataFrame(
        {"system": ["a", "b"] * 3, "dataset": list("xxyyzz"), **values}
    )
    standings = rankstone.board(table)
    assert standings.scores.direction == "lower"
    assert standings.table["system"].to_list() == ["b", "a"]
    assert numbers(standings) == pytest.approx({"a": 8.0, "b": 2.0})
    assert rankstone.board(table, estimate="mean_rank").table[
        "mean_rank"
    ].to_list() == [1.0, 2.0]
    assert rankstone.board(table, direction="higher").table["system"].to_list() == [
        "a",
        "b",
    ]
    assert numbers(rankstone.board(SCORES, direction="lower")) == pytest.approx(
        BY_HAND["macro"]
    )


def test_long_and_wide_tables_of_others(tmp_path: Path) -> None:
    """Names that others use, a column for each data set, a column of means, files and folders."""
    wide = pl.DataFrame(
        [{"model": name, **of, "Average": 0.5} for name, of in SCORES.items()]
    )
    wide.write_csv(tmp_path / "board.csv")
    same = rankstone.board(SCORES).to_frame()
    read = rankstone.board(tmp_path / "board.csv")
    assert read.to_frame().equals(same)
    assert any("Average" in note for note in read.scores.notes)
    long = wide.drop("Average").unpivot(
        index="model", variable_name="task_name", value_name="main_score"
    )
    assert rankstone.board(long).to_frame().equals(same)
    measured = long.with_columns(metric=pl.lit("main_score")).rename(
        {"main_score": "value"}
    )
    both = pl.concat(
        [measured, measured.with_columns(metric=pl.lit("map"), value=pl.lit(0.1))]
    )
    assert rankstone.board(both, measure="main_score").to_frame().equals(same)
    columns = long.with_columns(value=pl.lit(0.0), other=pl.lit(0.5)).rename(
        {"main_score": "AP"}
    )
    assert rankstone.board(columns, measure="AP").to_frame().equals(same)
    with pytest.raises(UsageError, match="several measures"):
        rankstone.board(both)
    ours = long.rename({"model": "Modell", "main_score": "Wert"})
    assert (
        rankstone.board(ours, columns={"Modell": "system", "Wert": "value"})
        .to_frame()
        .equals(same)
    )


def test_files_of_scores_per_query(tmp_path: Path) -> None:
    """One file for each data set, as `--per-query` writes them; the file's name is the data set's."""
    for name, rows in (
        per_query().partition_by("dataset", as_dict=True, include_key=False).items()
    ):
        rows.with_columns(measure=pl.lit("AP")).write_parquet(
            tmp_path / f"{name[0]}.parquet"
        )
    standings = rankstone.board(
        [tmp_path / "x.parquet", tmp_path / "y.parquet"], resample="queries"
    )

    assert standings.scores.datasets == ("x", "y")
    assert standings.scores.measure == "AP"
    assert standings.to_frame().equals(
        rankstone.board(per_query(), resample="queries").to_frame()
    )


def test_folders_of_mteb_and_beir(tmp_path: Path) -> None:
    """The layout of both; test split, mean of subsets, a named number."""
    for system, of in SCORES.items():
        folder = tmp_path / "mteb" / f"org__{system}" / "rev1"
        folder.mkdir(parents=True)
        (folder / "model_meta.json").write_text('{"name": "x"}')
        (tmp_path / "beir" / system).mkdir(parents=True)
        for dataset, value in of.items():
            subsets = [
                {"main_score": value - 0.1, "map": 0.1},
                {"main_score": value + 0.1, "map": 0.3},
            ]
            content = {
                "task_name": dataset,
                "scores": {"test": subsets, "dev": [{"main_score": 0.0}]},
            }
            (folder / f"{dataset}.json").write_text(json.dumps(content))
            flat = {"NDCG@10": value, "MAP@10": value / 2}
            (tmp_path / "beir" / system / f"{dataset}.json").write_text(
                json.dumps(flat)
            )
    same = BY_HAND["macro"]
    assert numbers(rankstone.board(tmp_path / "mteb")) == pytest.approx(
        {f"org/{name}": value for name, value in same.items()}
    )
    assert numbers(rankstone.board(tmp_path / "beir")) == pytest.approx(same)
    halved = numbers(rankstone.board(tmp_path / "beir", measure="MAP@10"))
    assert halved == pytest.approx({name: value / 2 for name, value in same.items()})
    with pytest.raises(InputError, match=r"w\.json.*no number MAP@5"):
        rankstone.board(tmp_path / "beir", measure="MAP@5")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file of the folder holds scores"):
        rankstone.board(tmp_path / "empty")
    (tmp_path / "beir" / "a" / "w.json").write_text("{")
    with pytest.raises(InputError, match=r"w\.json:1: this is not JSON"):
        rankstone.board(tmp_path / "beir")


def test_collections_are_scored_on_the_ordinary_road(tmp_path: Path) -> None:
    """Judgments and runs of collections, in Python and in a TOML file with paths below its folder."""
    qrels, runs = rankstone.demo.QRELS, rankstone.demo.RUNS
    options = {
        "one": {"qrels": qrels, "runs": runs},
        "two": {"qrels": qrels, "runs": runs, "weight": 3},
    }
    standings = rankstone.board(
        collections={n: {**c, "weight": c.get("weight", 1)} for n, c in options.items()}
    )
    means = {
        run: of["nDCG@10"]
        for run, of in rankstone.evaluate(qrels, runs, "nDCG@10").to_dict().items()
    }
    assert numbers(standings) == pytest.approx(means)
    assert standings.scores.weights == {"one": 1, "two": 3}
    (tmp_path / "runs").mkdir()
    for name, run in runs.items():
        (tmp_path / "runs" / f"{name}.run").write_bytes(Path(run).read_bytes())
    (tmp_path / "qrels.txt").write_bytes(Path(qrels).read_bytes())
    toml = 'measure = "AP"\n[collections.one]\nqrels = "qrels.txt"\nruns = ["runs/*.run"]\n'
    (tmp_path / "board.toml").write_text(toml)
    read = rankstone.board(collections=tmp_path / "board.toml")
    assert numbers(read) == pytest.approx(
        {
            run: of["AP"]
            for run, of in rankstone.evaluate(qrels, runs, "AP").to_dict().items()
        }
    )
    (tmp_path / "board.toml").write_text("[collections.one]\nqrels = 'qrels.txt'\n")
    with pytest.raises(UsageError, match="collection one has no runs"):
        rankstone.board(collections=tmp_path / "board.toml")
    (tmp_path / "board.toml").write_text("[colections.one]\nqrels = 'qrels.txt'\n")
    with pytest.raises(UsageError, match=r"board\.toml.*colections is not known"):
        rankstone.board(collections=tmp_path / "board.toml")


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ({}, InputError, "empty"),
        (
            pl.DataFrame({"system": ["a"], "value": [0.5]}),
            MissingColumn,
            "no column dataset",
        ),
        (
            pl.DataFrame({"system": ["a"] * 2, "task": ["x"] * 2, "score": [1, 2]}),
            DuplicateRows,
            "2 scores",
        ),
        (
            pl.DataFrame({"system": ["a"], "x": [1.0], "y": [2.0]}),
            NotComparable,
            "two systems",
        ),
        (
            pl.DataFrame({"system": ["a", "b"], "x": ["high", "low"]}),
            InputError,
            "not a number",
        ),
        (
            pl.DataFrame({"system": ["a", None], "x": [1.0, 2.0]}),
            InputError,
            "without system",
        ),
        (pl.DataFrame({"system": ["a", "b"]}), MissingColumn, "no column of scores"),
        (
            pl.DataFrame({"run1": [0.25, 0.5], "run2": [0.5, 0.25]}),
            InputError,
            "holds numbers and no names",
        ),
    ],
)
def test_tables_that_hold_no_board(
    value: Any, error: type[Exception], words: str
) -> None:
    """Each is refused with what is wrong with it."""
    with pytest.raises(error, match=words):
        rankstone.board(value)


def test_rows_that_differ_in_another_column_are_named() -> None:
    """Splits of one task are two scores: the error names the column, and `only` reads one of them."""
    rows = [
        (s, d, split, v)
        for s, of in SCORES.items()
        for d, v in of.items()
        for split in ("dev", "test")
    ]
    table = pl.DataFrame(rows, ["system", "dataset", "split", "value"], orient="row")
    with pytest.raises(
        DuplicateRows, match=r"differ in split(.|\n)*only=\{'split': 'dev'\}"
    ):
        rankstone.board(table)
    assert numbers(rankstone.board(table, only={"split": "test"})) == pytest.approx(
        BY_HAND["macro"]
    )
    with pytest.raises(InputError, match="no rows are left"):
        rankstone.board(table, only={"split": "train"})
    with pytest.raises(MissingColumn, match="no column splt"):
        rankstone.board(table, only={"splt": "test"})


def test_replicates_are_averaged() -> None:
    """Seeds of a system on a data set are one score, and are kept."""
    rows = [
        (s, d, seed, v + seed / 100)
        for s, of in SCORES.items()
        for d, v in of.items()
        for seed in (-1, 1)
    ]
    standings = rankstone.board(
        pl.DataFrame(rows, ["system", "dataset", "seed", "value"], orient="row")
    )

    assert numbers(standings) == pytest.approx(BY_HAND["macro"])
    assert standings.scores.seeds["a", "w"].tolist() == pytest.approx([0.89, 0.91])
    assert standings.scores.seed_variance == pytest.approx(np.full((4, 3), 0.01**2))
    assert standings.components().filter(source="seed")[
        "variance"
    ].item() == pytest.approx(2 * 0.01**2)
    share = 0.01**2 / standings.found.fit.pooled
    assert f"Seeds account for {100 * share:.2g} %" in "\n".join(standings.findings())


def test_what_single_seeds_would_have_concluded() -> None:
    """Who is first, and which pairs stand the other way round, as on boards of one seed each."""
    rng = np.random.default_rng(5)
    rows = [
        (f"s{s}", f"d{d}", r, float(0.02 * s + 0.1 * d + rng.normal() * 0.05))
        for s in range(5)
        for d in range(6)
        for r in range(4)
    ]
    table = pl.DataFrame(rows, ["run", "dataset", "seed", "value"], orient="row")
    standings = rankstone.board(table)
    leaders, turned = standings.by_seed()
    now = dict(standings.table.select("system", "rank").iter_rows())
    wrong = 0
    for seed, leader in enumerate(leaders):
        single = dict(
            rankstone.board(table.filter(seed=seed).drop("seed"))
            .table.select("system", "rank")
            .iter_rows()
        )
        assert single[standings.systems[leader]] == 1
        wrong += sum(
            (now[a] < now[b]) and (single[a] > single[b]) for a in now for b in now
        )
    assert turned == pytest.approx(wrong / (4 * 10))
    assert "By single seeds" in standings.text(verbose=True)


def test_seeds_are_part_of_the_doubt_about_these_data_sets() -> None:
    """Where queries are resampled, the spread between seeds is added."""
    noise = np.random.default_rng(1).normal(size=(3, 2, 4)) * 0.2
    result = per_query()
    several = pl.concat(
        result.with_columns(
            seed=pl.lit(index),
            value=pl.col("value")
            + pl.col("run").replace_strict(
                dict(zip("abc", noise[:, 0, index], strict=True))
            ),
        )
        for index in range(4)
    )
    standings = rankstone.board(several, resample="queries")
    variance = standings.scores.seed_variance[:, :2].sum(axis=1) / 4
    alone = rankstone.board(
        several.group_by("run", "dataset", "query_id", maintain_order=True).agg(
            pl.col("value").mean()
        ),
        resample="queries",
    )
    squares = [case.errors.of_differences[0, 1] ** 2 for case in (standings, alone)]
    assert squares[0] == pytest.approx(squares[1] + variance.sum(), rel=0.1)


def test_systems_without_scores_and_lost_queries() -> None:
    """A system without any score is left out and named; one that lacks queries of a data set is refused."""
    table = pl.DataFrame(
        [{"system": n, **of} for n, of in SCORES.items()] + [{"system": "none"}]
    )
    standings = rankstone.board(table)
    assert standings.scores.systems == ("a", "b", "c")
    assert "left out, without any score: none" in standings.scores.notes
    lost = per_query().filter(
        ~(
            (pl.col("run") == "a")
            & (pl.col("query_id") == "q3")
            & (pl.col("dataset") == "x")
        )
    )
    with pytest.raises(InputError, match="a has no score for 1 query of x"):
        rankstone.board(lost)


def test_options_that_do_not_exist() -> None:
    """Each is refused with what there is."""
    with pytest.raises(BadOption, match="resamples=0 is out of range"):
        rankstone.board(SCORES, resamples=0)
    for options in (
        {"estimate": "median"},
        {"missing": "zero"},
        {"resample": "rows"},
        {"confidence": 1.5},
    ):
        with pytest.raises((BadOption, UsageError)):
            rankstone.board(SCORES, **options)
    with pytest.raises(BadOption, match="there is no system d"):
        rankstone.board(SCORES, systems=["a", "d"])
    with pytest.raises(UsageError, match="either scores or collections"):
        rankstone.board()
    zero = {**SCORES, "a": {**SCORES["a"], "w": 0.0}}
    with pytest.raises(InputError, match="needs scores above 0"):
        rankstone.board(zero, estimate="geometric_mean")


def test_parts_without_a_common_data_set_are_not_modelled() -> None:
    """No model joins systems that share no data set, directly or over others."""
    apart = {"a": {"w": 0.5}, "b": {"w": 0.4}, "c": {"x": 0.3}, "d": {"x": 0.2}}
    with pytest.raises(NotComparable, match=r"fall into parts"):
        rankstone.board(apart, missing="model")
    joined = {**apart, "e": {"w": 0.1, "x": 0.1}}
    standings = rankstone.board(joined, missing="model")
    assert standings.found.means.argsort().tolist() == [4, 3, 2, 1, 0]
    assert standings.table["macro"].null_count() == 4, "only e has two scores"


def test_what_is_stated() -> None:
    """Few data sets, many candidates for the first place, a leader that depends on one data set."""
    few = "\n".join(rankstone.board(SCORES).findings())
    assert "4 data sets are few for intervals of ranks" in few
    rng = np.random.default_rng(0)
    level = {
        f"s{i}": {f"d{j}": float(rng.random()) for j in range(10)} for i in range(12)
    }
    text = "\n".join(rankstone.board(level).findings())
    assert "12 systems could be first (95 %)" in text
    assert "cannot rank these systems" in text
    clear = {
        f"s{i}": {f"d{j}": i + float(rng.random()) * 0.1 for j in range(10)}
        for i in range(5)
    }
    standings = rankstone.board(clear)
    assert "s4 is clearly first." in "\n".join(standings.findings())
    assert standings.table["tier"].to_list() == [1, 2, 3, 4, 5]
    assert standings.table["first"].to_list() == [1, 0, 0, 0, 0]
    item = {"a": {"w": 9.0, "x": 1.0, "y": 1.0}, "b": {"w": 1.0, "x": 2.0, "y": 2.0}}
    assert "Without w, b would be first." in "\n".join(rankstone.board(item).findings())


def test_one_constant_difference_decides_nothing() -> None:
    """Two systems that differ by the same everywhere, but for rounding, leave no error to compare with."""
    standings = rankstone.board({"a": {"w": 0.3, "x": 0.4}, "b": {"w": 0.1, "x": 0.2}})

    assert standings.found.fit.pooled == 0.0
    assert standings.table["rank_high"].to_list() == [2, 2]


def test_exact_ties_share_a_rank() -> None:
    """Equal means have the same rank, and neither is better."""
    standings = rankstone.board(
        {"a": SCORES["a"], "b": dict(SCORES["a"]), "c": SCORES["c"]}
    )

    assert standings.table["rank"].to_list() == [1, 1, 3]
    assert standings.table["first"][0] == pytest.approx(
        standings.table["first"][1], abs=0.04
    )
    assert standings.chance_better()[0, 1] == pytest.approx(0.5, abs=0.04)


def test_one_score_is_not_known_exactly() -> None:
    """A system with one good score, on an easy data set or not, is neither first for sure nor ranked."""
    rng = np.random.default_rng(8)
    values = 0.5 + rng.normal(size=(9, 1)) * 0.03 + rng.normal(size=(9, 10)) * 0.04
    table: dict[str, dict[str, float | None]] = {
        f"s{i}": {f"d{j}": float(values[i, j]) for j in range(10)} for i in range(9)
    }
    table["once"] = {"d3": float(values[:, 3].max()) + 0.02}
    for missing in ("model", "skip"):
        standings = rankstone.board(table, missing=missing)
        row = standings.table.filter(system="once").row(0, named=True)

        assert row["first"] < 0.6
        if missing == "model":
            assert row["macro"] is None
            assert standings.table["system"][-1] == "once"
            assert "No mean and no rank (–) for once: predicting" in "\n".join(
                standings.findings()
            )
            explained = standings.explain("once").report()
            assert explained["chance"] is None
            assert explained["error"] is None


@pytest.mark.parametrize("resample", ["datasets", "queries", "both"])
def test_nothing_is_claimed_of_one_predicted_score(resample: str) -> None:
    """A system with one score could have any rank, whatever is resampled."""
    rng = np.random.default_rng(2)
    rows = [
        (
            system,
            f"d{dataset}",
            f"q{dataset}.{query}",
            0.1 * index + 0.02 * rng.random(),
        )
        for index, system in enumerate(["a", "b", "c", "d", "once"])
        for dataset in range(8)
        for query in range(10)
        if system != "once" or dataset == 3
    ]
    table = pl.DataFrame(rows, ["system", "dataset", "query_id", "value"], orient="row")
    standings = rankstone.board(
        table, missing="model", resample=resample, resamples=1000
    )
    row = standings.table.filter(system="once").row(0, named=True)

    assert (row["macro"], row["rank_low"], row["rank_high"]) == (None, 1, 5)
    assert "–" in standings.text()
    assert standings.table["rank_high"][0] == 2
    assert 0.05 < row["first"] < 0.5


def test_chances_are_not_the_winners_own() -> None:
    """Of equal systems the one that happens to lead is far from certain to be the best."""
    rng = np.random.default_rng(3)
    leaders = []
    for _ in range(20):
        values = rng.normal(size=(12, 10))
        table = {
            f"s{i:02}": {f"d{j}": values[i, j] for j in range(10)} for i in range(12)
        }
        leaders.append(rankstone.board(table, resamples=1000).first.max())

    assert np.mean(leaders) < 0.3


def test_no_spread_is_no_certainty() -> None:
    """Systems that tie, or differ by the same everywhere, have no chance to be first and no reliability."""
    for step in (0.0, 0.1):
        table = {
            s: dict.fromkeys("xyz", 0.2 + step * index) for index, s in enumerate("abc")
        }
        for lang in ("en", "zh"):
            standings = rankstone.board(table, lang=lang)

            assert standings.table["first"].to_list() == [None] * 3
            assert standings.report()["board"][0]["first"] is None
            assert "nan" not in standings.text()
            assert not any("Eρ²" in line for line in standings.findings())
            explained = standings.explain("c")
            assert "nan" not in explained.text()
            assert explained.report()["chance"] is None


def _curved(name: str, beyond: float = 0.0) -> dict[str, dict[str, float]]:
    """Return a table on which a scale adds up, but for little noise, with holes."""
    rng = np.random.default_rng(4)
    added = rng.normal(0, 1.2, 8)[:, None] + rng.normal(0, 0.8, 9) - 1.5
    added += rng.normal(0, 0.02, added.shape)
    values = {
        "additive": 0.5 + added / 12,
        "logit": 1 / (1 + np.exp(-added)),
        "multiplicative": np.minimum(np.exp(added - 1.5), 1.0),
        "complementary": np.maximum(1 - np.exp(added - 1.5), 0.0),
    }[name]
    return {
        f"s{i}": {f"d{j}": values[i, j] + beyond for j in range(9) if (i + j) % 5}
        for i in range(8)
    }


@pytest.mark.parametrize("name", SCALES)
def test_the_scale_of_predictions_is_chosen_by_their_error(name: str) -> None:
    """The scale on which a table adds up is found, and named with its error."""
    standings = rankstone.board(_curved(name), missing="model")

    assert standings.rule.scale.name == name
    assert 0 < standings.rule.scale.error < 0.03
    text = "\n".join(standings.findings())
    assert f"missed by {standings.rule.scale.error:.2g} (root mean square)" in text
    assert np.nanmax(standings.means) <= 1
    # another range, or scores beyond it, leave additive effects
    for table, measure in ((_curved(name, 1.0), None), (_curved(name, 1.0), "nDCG@10")):
        other = rankstone.board(table, missing="model", measure=measure)
        assert other.rule.scale.name == "additive"


def test_the_error_of_predictions_is_that_of_leaving_each_score_out() -> None:
    """Leverages give the same numbers as a fit without each score."""
    rng = np.random.default_rng(6)
    values = rng.uniform(0.1, 0.9, (5, 7))
    values[rng.random(values.shape) < 0.2] = np.nan
    for name in SCALES:
        scale = PredictionScale(name, 0.0, 1.0)
        errors = []
        for position in np.argwhere(~np.isnan(values)):
            without = values.copy()
            without[tuple(position)] = np.nan
            if not (~np.isnan(without)).any(axis=0).all():
                continue
            errors.append(
                scale.predicted(without)[tuple(position)] - values[tuple(position)]
            )

        assert scale.cross_validated(values) == pytest.approx(
            np.sqrt(np.mean(np.square(errors)))
        )


def test_no_prediction_is_beyond_the_range() -> None:
    """A system that is best where it was scored, on the hardest data set, stays below the highest score."""
    table = {
        f"s{i}": {"hard": 0.5 + i / 40, "easy": 0.97 - i / 90, "mid": 0.8 - i / 60}
        for i in range(6)
    }
    table["top"] = {"hard": 0.99}
    for direction in ("higher", "lower"):
        standings = rankstone.board(table, missing="model", direction=direction)

        assert standings.found.parts.max() <= 1
        assert (np.abs(standings.found.means) <= 1).all()


def test_errors_on_a_scale_are_those_of_small_moves() -> None:
    """The weights of residuals and of effects are the derivatives of the means."""
    rng = np.random.default_rng(2)
    values = 1 / (1 + np.exp(-rng.normal(0.5, 0.8, (6, 5))))
    values[0, 0] = values[3, 0] = values[2, 4] = np.nan
    scale = PredictionScale("logit", 0.0, 1.0)
    rule = ScoringRule("macro", "model", np.ones(6), scale=scale)
    standings = rule.estimated(values)
    typical = scale.slope(standings.linked.predicted)
    typical = np.maximum(typical, typical.mean(axis=1, keepdims=True))

    lost = np.isnan(values)
    assert standings.moved[lost] == pytest.approx(typical[lost] / 6)
    assert standings.own[~lost[:, 1], 1] == pytest.approx(
        scale.slope(standings.linked.predicted)[:, 1] / 6
    )
    more = (standings.moved * ~lost).sum(axis=0)
    counts = (~lost).sum(axis=0)
    assert more == pytest.approx(-(typical / 6 * lost).sum(axis=0))
    assert counts.min() == 4


def test_few_data_sets_are_stated_at_six() -> None:
    """Up to six data sets the board says that they are few."""
    rng = np.random.default_rng(1)
    for n in (6, 7):
        table = {f"s{i}": {f"d{j}": rng.random() for j in range(n)} for i in range(5)}
        text = "\n".join(rankstone.board(table).findings())

        assert ("data sets are few" in text) == (n == 6)


def test_a_weak_tail_makes_an_order_look_reliable() -> None:
    """Eρ² of all systems is high since some are bad; among the better half nothing is."""
    rng = np.random.default_rng(5)
    level = np.repeat([0.6, 0.2], 10) - np.arange(20) * 0.002
    values = level[:, None] + rng.normal(size=(20, 10)) * 0.08
    table = {f"s{i:02}": {f"d{j}": values[i, j] for j in range(10)} for i in range(20)}
    text = "\n".join(rankstone.board(table).findings())
    assert "Reliability of the order (Eρ²) 0.9" in text
    assert "The weaker half of the systems makes it that high" in text
    even = {f"s{i:02}": table[f"s{i:02}"] for i in range(10)}
    assert "weaker half" not in "\n".join(rankstone.board(even).findings())


def test_every_estimate_is_explained() -> None:
    """There are words for each in both languages."""
    for lang in ("en", "zh"):
        for estimate in ESTIMATES:
            weights = (
                dict.fromkeys("wxyz", 10.0)
                if estimate in ("micro", "weighted")
                else None
            )
            text = rankstone.board(
                SCORES, estimate=estimate, lang=lang, weights=weights
            ).text()
            assert f"is_{estimate}" not in text
            assert "is " + estimate not in text


REAL = (
    Path(
        os.environ.get("RANKSTONE_DATA", Path(__file__).parents[3] / "shared" / "data")
    )
    / "mteb-results"
)


@pytest.mark.skipif(
    not REAL.exists(), reason="results of MTEB are not here (RANKSTONE_DATA)"
)
def test_a_real_leaderboard() -> None:
    """MTEB's English retrieval: cells are missing, and ten data sets do not rank 294 models."""
    path = REAL / "eng-v2-retrieval.board.csv"
    with pytest.raises(
        InputError, match=r"385 of 2,940 scores are missing, of 85 systems"
    ):
        rankstone.board(path)
    standings = rankstone.board(path, missing="model")
    assert np.median(standings.table["rank_high"] - standings.table["rank_low"]) > 100
    skipped = rankstone.board(path, missing="skip").table.select(
        "system", skipped="rank"
    )
    both = standings.table.join(skipped, on="system").filter(datasets=10)
    assert np.abs(both["rank"] - both["skipped"]).max() < 60
