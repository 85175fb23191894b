"""Boards of battles: what is read, ranks against the arrays of statistics, what is stated and refused."""

from __future__ import annotations

import html
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone.boards import paired_board
from rankstone.errors import (
    BadOption,
    BadValue,
    InputError,
    MissingColumn,
    NotComparable,
)
from rankstone.stats.battles import Battles
from rankstone.stats.paired_comparisons import fit_strengths

SYSTEMS = ("alpha", "beta", "gamma", "delta")


def battles(n: int = 400, seed: int = 0, ties: float = 0.2) -> pl.DataFrame:
    """Return battles of four systems, the first of which is the strongest, on prompts by judges."""
    rng = np.random.default_rng(seed)
    strength = np.array([1.5, 0.5, 0.0, -0.5])
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    chance = 1 / (1 + np.exp(strength[right] - strength[left]))
    word = np.where(
        rng.random(n) < ties, "tie", np.where(rng.random(n) < chance, "left", "right")
    )
    names = np.array(SYSTEMS)
    columns = {
        "left": names[left],
        "right": names[right],
        "winner": word,
        "judge": rng.integers(0, 25, n),
    }
    return pl.DataFrame(
        {**columns, "length_left": rng.random(n), "length_right": rng.random(n)}
    )


def test_strengths_are_those_of_the_statistics() -> None:
    """Names are numbered in alphabetical order; ratings are strengths on the scale of Elo."""
    table = battles()
    standings = paired_board(table)
    number = {name: index for index, name in enumerate(sorted(SYSTEMS))}
    left, right = (
        np.array([number[name] for name in table[side]]) for side in ("left", "right")
    )
    outcome = np.array(
        [("left", "right", "tie").index(word) for word in table["winner"]]
    )
    fit = fit_strengths(Battles.from_columns(left, right, outcome), "davidson")

    assert standings.fit.model == "davidson"
    assert dict(
        standings.table.select("system", "strength").iter_rows()
    ) == pytest.approx({name: fit.strengths[value] for name, value in number.items()})
    assert standings.table["system"][0] == "alpha"
    ratings = standings.table["rating"].to_numpy()
    assert ratings == pytest.approx(
        1000 + 400 / math.log(10) * standings.table["strength"].to_numpy()
    )
    assert (standings.table["rating_low"] < standings.table["rating"]).all()
    assert standings.table["rank_high"][0] == 1
    assert standings.chance_better()[0, 3] > 0.99


@pytest.mark.parametrize(
    ("words", "left", "right"),
    [
        (("left", "right", "tie"), "left", "right"),
        (("model_a", "model_b", "tie (bothbad)"), "model_a", "model_b"),
        (("A", "B", "draw"), "a", "b"),
        (("1", "2", "0"), "model_1", "model_2"),
        (("1", "0", "0.5"), "player1", "player2"),
        (("[[A>>B]]", "[[B>A]]", "A=B"), "system_a", "system_b"),
        (("Model A", "model-b", "both bad"), "model1", "model2"),
    ],
)
def test_words_and_names_of_columns(
    words: tuple[str, ...], left: str, right: str
) -> None:
    """Arenas write the same in several ways."""
    own = dict(zip(("left", "right", "tie"), words, strict=True))
    table = (
        battles()
        .with_columns(winner=pl.col("winner").replace(own))
        .rename({"left": left, "right": right})
    )

    expected = paired_board(battles()).to_frame()
    assert paired_board(table).to_frame().equals(expected)
    # a dict of columns is a table by any names
    assert paired_board(table.to_dict(as_series=False)).to_frame().equals(expected)


def test_a_zero_of_two_meanings() -> None:
    """Of 1 and 2 a 0 is a tie; of 1 alone it may be that the right side won."""
    sides = pl.DataFrame({"left": ["A"] * 4, "right": ["B"] * 4})
    doubtful = sides.with_columns(result=pl.Series(["1", "0", "1", "1"]))
    with pytest.raises(BadValue, match="without a winner 2, 0 may be a tie or the"):
        paired_board(doubtful)
    as_number = paired_board(doubtful, columns={"result": "outcome"})
    assert as_number.to_frame()["win_rate"].to_list() == [3 / 4, 1 / 4]
    coded = sides.with_columns(outcome=pl.Series(["1", "0", "2", "1"]))
    named = sides.with_columns(winner=pl.Series(["A", "tie", "B", "A"]))
    assert paired_board(coded).to_frame().equals(paired_board(named).to_frame())
    zero = pl.DataFrame({"left": ["0"] * 2, "right": ["1"] * 2, "winner": ["0", "1"]})
    won = paired_board(zero, model="bradley_terry").to_frame()
    assert won["win_rate"].to_list() == [1 / 2, 1 / 2]


def test_the_name_of_the_winner() -> None:
    """The winner may be named; a name that is neither of the two is refused with its row."""
    named = battles().with_columns(
        winner=pl.when(winner="left")
        .then("left")
        .when(winner="right")
        .then("right")
        .otherwise(pl.lit("tie"))
    )
    assert paired_board(named).to_frame().equals(paired_board(battles()).to_frame())
    wrong = named.with_columns(
        winner=pl.when(pl.int_range(pl.len()) == 3)
        .then(pl.lit("omega"))
        .otherwise("winner")
    )
    with pytest.raises(BadValue, match="row 4: the winner omega is neither of the two"):
        paired_board(wrong)


def test_clusters_and_covariates() -> None:
    """The advantage of the left is found, noise is not; judges widen what they share."""
    rng = np.random.default_rng(3)
    table = battles(2000, ties=0.1)
    pushed = rng.random(2000) < 0.3
    table = table.with_columns(
        winner=pl.when(pl.Series(pushed)).then(pl.lit("left")).otherwise("winner")
    )
    standings = paired_board(table, covariates=["position", "length"], cluster="judge")
    effects = {row["effect"]: row for row in standings.effects().iter_rows(named=True)}

    assert list(effects) == ["position", "length", "ties"]
    assert effects["position"]["low"] > 0
    assert effects["length"]["low"] < 0 < effects["length"]["high"]
    assert 20 < standings.df[-1] < 24  # of 25 judges, a little unequal
    text = "\n".join(standings.findings())
    assert "position matters" in text
    assert "not clearly different from 0" in text
    assert "Battles that share judge show no more error" in text
    plain = paired_board(table, model="bradley_terry").table["strength"]
    assert plain.to_list() != standings.table["strength"].to_list()


@pytest.mark.parametrize("cluster", ["", "judge"])
def test_the_bootstrap_agrees_with_the_sandwich(cluster: str) -> None:
    """Standard errors are alike where there are many battles; a seed gives the same bits."""
    table = battles(1500, seed=4)
    covariates = ("length",)
    once = paired_board(table, cluster=cluster or (), covariates=covariates)
    again = paired_board(
        table, cluster=cluster or (), covariates=covariates, resamples=400
    )
    assert again.table["error"].to_list() == pytest.approx(
        once.table["error"].to_list(), rel=0.2
    )
    assert again.effects()["error"].to_list() == pytest.approx(
        once.effects()["error"].to_list(), rel=0.2
    )
    assert again.table["strength"].to_list() == once.table["strength"].to_list()
    same = paired_board(
        table, cluster=cluster or (), covariates=covariates, resamples=400
    )
    assert same.table.equals(again.table)
    assert (
        f"400 bootstrap samples of {'whole clusters (judge)' if cluster else 'battles'}"
        in again.text(verbose=True)
    )
    assert again.conventions["resamples"] == 400


def test_a_bootstrap_that_tears_systems_apart_is_refused() -> None:
    """Few battles leave samples in which a system never lost; two columns of clusters are the sandwich's."""
    few = {
        "left": ["a", "a", "b", "c"],
        "right": ["b", "b", "c", "a"],
        "winner": ["a", "b", "b", "c"],
    }
    with pytest.raises(NotComparable, match=r"never lost to others"):
        paired_board(few, resamples=200)
    table = battles().with_columns(prompt=pl.int_range(pl.len()) % 40)
    with pytest.raises(BadOption, match="one column of clusters"):
        paired_board(table, cluster=("judge", "prompt"), resamples=200)
    with pytest.raises(BadOption, match="resamples=10 is out of range"):
        paired_board(table, resamples=10)


def test_other_models_and_pairs() -> None:
    """Ranks by other models are there; pairs that fit badly come first."""
    table = battles(600)
    beaten = table.with_columns(
        winner=pl.when(
            pl.col("left").is_in(["beta", "delta"])
            & pl.col("right").is_in(["beta", "delta"])
        )
        .then(pl.when(left="delta").then(pl.lit("left")).otherwise(pl.lit("right")))
        .otherwise("winner")
    )
    standings = paired_board(beaten)
    assert set(standings.under_rules) == {"bradley_terry", "rao_kupper", "elo"}
    first = standings.by_pair().row(0, named=True)
    assert {first["system"], first["versus"]} == {"beta", "delta"}
    assert abs(first["residual"]) > 4
    total = standings.by_pair()["battles"].sum()
    assert total == 600


@pytest.mark.parametrize("model", ["bradley_terry", "davidson", "rao_kupper"])
def test_expected_shares_sum_to_those_observed(model: str) -> None:
    """At the maximum every system has the wins it is expected to have; nearly so with Rao and Kupper."""
    standings = paired_board(battles(300), model=model)
    pairs = standings.by_pair()
    for system in SYSTEMS:
        first, other = pairs.filter(system=system), pairs.filter(versus=system)
        share, expected = (
            np.dot(first["battles"], first[name])
            + np.dot(other["battles"], 1 - other[name])
            for name in ("share", "expected")
        )
        assert expected == pytest.approx(
            share, rel=0.03 if model == "rao_kupper" else 1e-6
        )


def test_what_is_refused() -> None:
    """Each with what is wrong with it."""
    table = battles()
    with pytest.raises(MissingColumn, match="no column winner"):
        paired_board(table.drop("winner"))
    with pytest.raises(InputError, match="row 1: alpha is compared with itself"):
        paired_board(
            pl.concat(
                [
                    pl.DataFrame(
                        {"left": ["alpha"], "right": ["alpha"], "winner": ["tie"]}
                    ),
                    table.select("left", "right", "winner"),
                ]
            )
        )
    more = pl.DataFrame({"left": ["omega"], "right": ["alpha"], "winner": ["left"]})
    apart = pl.concat([table.select("left", "right", "winner"), more])
    with pytest.raises(NotComparable, match=r"systems fall into parts(.|\n)*omega"):
        paired_board(apart)
    with pytest.raises(MissingColumn, match="no column jugde"):
        paired_board(table, cluster="jugde")
    with pytest.raises(MissingColumn, match="no column lenght"):
        paired_board(table, covariates=["lenght"])
    with pytest.raises(InputError, match="is the same in all battles"):
        paired_board(table.with_columns(same=pl.lit(1.0)), covariates=["same"])
    with pytest.raises(BadOption, match="two at most"):
        paired_board(table, cluster=["judge", "left", "right"])
    ends = {"a": ["x", "x", "y"], "b": ["y", "y", "x"], "winner_a": [1, None, 1]}
    with pytest.raises(BadValue, match="row 2: a battle has no end, or several"):
        paired_board(pl.DataFrame({**ends, "winner_b": [0, 0, 0]}))
    assert paired_board(pl.DataFrame({**ends, "winner_b": [0, 1, None]})).systems
    for outcome in (["win", "loss", "win"], ["1", "0", "win"]):
        frame = pl.DataFrame({"a": ends["a"], "b": ends["b"], "outcome": outcome})
        with pytest.raises(BadValue, match="the winner win is neither of the two"):
            paired_board(frame)
    with pytest.raises(NotComparable, match="one cluster"):
        paired_board(table.with_columns(judge=pl.lit(1)), cluster="judge")
    with pytest.raises(BadOption):
        paired_board(table, model="thurstone")


REAL = (
    Path(
        os.environ.get("RANKSTONE_DATA", Path(__file__).parents[3] / "shared" / "data")
    )
    / "arena-battles"
)


@pytest.mark.skipif(
    not REAL.exists(), reason="the battles of an arena are not here (RANKSTONE_DATA)"
)
def test_a_real_arena() -> None:
    """Votes are not independent: errors grow with workers, and more with prompts."""
    errors = [
        paired_board(REAL / "llmfao.csv.gz", cluster=cluster).table["error"].mean()
        for cluster in ((), "worker", "prompt")
    ]
    assert errors[0] < errors[1] < errors[2]  # type: ignore[operator]


def test_a_page_of_battles(tmp_path: Any) -> None:
    """The page and the chart of ranks are those of every board."""
    standings = paired_board(battles(), cluster="judge")
    rankstone.report(standings, tmp_path / "arena.html", lang="zh")
    assert "400 次对战" in (tmp_path / "arena.html").read_text("utf-8")
    rankstone.plots.write(rankstone.plots.ranks(standings), tmp_path / "ranks.svg")
    assert "alpha" in (tmp_path / "ranks.svg").read_text("utf-8")


def votes(rng: np.random.Generator, workers: int, taste: float) -> pl.DataFrame:
    """Return votes on equal systems by workers of unequal industry, who have tastes of their own."""
    n, share = 600, np.exp(rng.normal(size=workers))
    worker = rng.choice(workers, n, p=share / share.sum())
    left = rng.integers(0, 5, n)
    right = (left + rng.integers(1, 5, n)) % 5
    likes = rng.normal(size=(workers, 5)) * taste
    odds = np.exp(likes[worker, right] - likes[worker, left])
    names = np.array(list("abcde"))
    columns = {"left": names[left], "right": names[right], "worker": worker}
    won = np.where(rng.random(n) < 1 / (1 + odds), "left", "right")
    return pl.DataFrame({**columns, "winner": won})


def test_few_unequal_workers_show_no_differences_of_equal_systems() -> None:
    """Of 60 tables with five unequal workers at most 6 have a claim; a fifth had one by scores and G - 1."""
    rng = np.random.default_rng(4)
    claims = 0
    for _ in range(60):
        board = paired_board(votes(rng, 5, 0.8), cluster="worker")
        claims += int(board.intervals.better.any())
    assert claims <= 6


@pytest.mark.parametrize("model", ["bradley_terry", "davidson", "rao_kupper"])
@pytest.mark.parametrize("judges", [2, 10])
def test_judges_of_one_mind_make_nothing_certain(model: str, judges: int) -> None:
    """Copies of a judge do not show how another would judge: no claim, no interval without width."""
    copies = [
        battles(120, 2).with_columns(judge=pl.lit(index)) for index in range(judges)
    ]
    standings = paired_board(pl.concat(copies), model=model, cluster="judge")
    assert not standings.intervals.better.any()
    assert standings.first.max() < 0.95
    width = standings.table["rating_high"] - standings.table["rating_low"]
    assert width.to_numpy().min() > 100
    assert f"all {judges} clusters are of one mind" in "\n".join(standings.findings())
    with pytest.raises(NotComparable, match="all resamples give the same"):
        paired_board(pl.concat(copies), model=model, cluster="judge", resamples=200)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cluster", [(), ("judge",)])
def test_ties_alone_make_nothing_certain(cluster: tuple[str, ...]) -> None:
    """Three systems that only tie share all ranks; a model of ties has nothing to go by, and says so."""
    rows = {"left": ["a", "a", "b"] * 4, "right": ["b", "c", "c"] * 4}
    table = pl.DataFrame(rows | {"winner": ["tie"] * 12, "judge": [0, 1, 2] * 4})
    standings = paired_board(table, model="bradley_terry", cluster=cluster)
    assert standings.first == pytest.approx([1 / 3] * 3, abs=0.03)
    assert standings.table["rank_high"].to_list() == [3, 3, 3]
    width = standings.table["rating_high"] - standings.table["rating_low"]
    assert width.to_numpy().min() > 100
    for model in (None, "davidson", "rao_kupper"):
        with pytest.raises(NotComparable, match="every battle is a tie") as caught:
            paired_board(table, model=model, cluster=cluster)
        assert "bradley_terry" not in str(caught.value)


def test_columns_that_look_like_clusters_are_named() -> None:
    """Unused, called like people or prompts, with repeated values; not ids of rows, nor constants."""
    table = battles(40).with_columns(
        user_id=pl.Series(range(40)),
        Workers=pl.Series(["w"] * 40),
        prompt_id=pl.Series([index % 7 for index in range(40)]),
        colour=pl.Series([index % 7 for index in range(40)]),
    )
    (note,) = paired_board(table).notes
    assert note.startswith("Battles with the same value of judge, prompt_id may")
    assert "--cluster judge,prompt_id (cluster=…)" in note
    (note,) = paired_board(table, cluster="prompt_id").notes
    assert "--cluster prompt_id,judge (cluster=…)" in note
    assert not paired_board(table, cluster=["prompt_id", "judge"]).notes
    assert not paired_board(table.drop("judge", "prompt_id")).notes
    zh = paired_board(table, lang="zh").notes
    assert "--cluster judge,prompt_id" in zh[0]


def test_unequal_clusters_count_as_fewer() -> None:
    """Thirty judges of whom one gives nine tenths of the votes count as little more than one."""
    table = battles(2000).with_columns(
        judge=pl.when(pl.int_range(pl.len()) < 1800).then(25).otherwise("judge")
    )
    text = "\n".join(paired_board(table, cluster="judge").findings())
    assert "judge: 26 clusters, which count as 1.2 of equal size" in text
    assert "clusters, which count" not in "\n".join(
        paired_board(battles(2000), cluster="judge").findings()
    )


def test_a_page_says_what_was_noticed(tmp_path: Path) -> None:
    """The unused cluster is named on the page, too, not in the terminal alone."""
    pytest.importorskip("jinja2", reason="reports need the extra: report")
    standings = paired_board(battles(60))
    rankstone.report(standings, tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert html.escape(standings.notes[0]) in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_head_of_intervals_is_their_confidence(lang: str) -> None:
    """A board at 80 % does not say 95 %."""
    board = paired_board(battles(), confidence=0.8, lang=lang)
    assert "80 %" in board.text()
    assert "95" not in board.text().splitlines()[2]
