"""Slices: attributes of every kind, what is found and folded, one system, logs, what could not be seen."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import demo
from rankstone.boards import slices_of_log, slices_of_scores
from rankstone.boards.query_slices import query_slices
from rankstone.errors import (
    BadOption,
    BadValue,
    MissingColumn,
    NotComparable,
    UsageError,
)

DICE = random.Random(2)
IDS = [f"q{index}" for index in range(400)]
QUERIES = pl.DataFrame(
    {
        "query_id": IDS,
        "text": [
            DICE.choice(
                ["how to boil an egg", "berlin", "cheap flights to rome", "what is it"]
            )
            for _ in IDS
        ],
        "language": [DICE.choice(["en", "en", "en", "de"]) for _ in IDS],
        "hits": [DICE.randrange(1000) for _ in IDS],
    }
)
OLD = {query: DICE.random() for query in IDS}
LOST = dict(QUERIES.select("query_id", pl.col("language") == "de").rows())
NEW = {query: OLD[query] + DICE.gauss(0.02, 0.1) - 0.15 * LOST[query] for query in IDS}
NEW_SCORES = {query: {"score": value} for query, value in NEW.items()}
SCORES = pl.DataFrame({"query_id": IDS, "old": OLD.values(), "new": NEW.values()})


def slices_found(**options: Any) -> rankstone.boards.Slices:
    return slices_of_scores(SCORES, queries=QUERIES, **options)


def test_the_planted_slice_is_found_and_explains_others() -> None:
    """One slice; its numbers by hand; its parts and its complement are explained by it."""
    slices = slices_found()
    row = slices.found.row(0, named=True)
    new, old = (np.array(list(case.values())) for case in (NEW, OLD))
    lost = np.array(list(LOST.values()))
    difference = new - old

    assert slices.found["slice"].to_list() == ["language=de"]
    assert row["n"] == lost.sum()
    assert row["value"] == pytest.approx(new[lost].mean())
    assert row["versus"] == pytest.approx(old[lost].mean())
    assert row["difference"] == pytest.approx(difference[lost].mean())
    assert row["elsewhere"] == pytest.approx(difference[~lost].mean())
    assert row["gap"] == pytest.approx(row["difference"] - row["elsewhere"])
    assert row["low"] < row["gap"] < row["high"] < 0
    assert row["p_adjusted"] < 0.001
    worst = IDS[int(np.where(lost, difference, 1).argmin())]
    assert (row["example"], row["example_value"]) == (worst, pytest.approx(NEW[worst]))
    assert row["example_text"] == dict(QUERIES.select("query_id", "text").rows())[worst]
    within = slices.table.filter(within="language=de")["slice"].to_list()
    assert "language=en" in within
    assert any(name.endswith("& language=de") for name in within)
    assert "language=de: worse here." in slices.text()


def test_two_slices_are_both_found() -> None:
    """What the first does not explain is found, too, with its direction."""
    gained = (QUERIES["hits"] > 750).to_numpy()
    more = SCORES.with_columns(
        new=pl.col("new") + 0.2 * pl.lit(pl.Series(gained)).cast(pl.Float64)
    )
    slices = slices_of_scores(more, queries=QUERIES)
    names = slices.found["slice"].to_list()
    assert len(names) == 2
    assert "language=de" in names
    (hits,) = (name for name in names if name.startswith("hits="))
    assert slices.found.filter(slice=hits)["gap"].item() > 0.1
    assert f"{hits}: better here." in slices.text()


def test_against_zero() -> None:
    """Slices where systems differ at all; the rest has a difference of its own."""
    slices = slices_found(against="zero")
    row = slices.table.filter(slice="language=de").row(0, named=True)
    assert row["gap"] == row["difference"]
    assert row["found"]
    with pytest.raises(UsageError, match="against=zero compares two systems"):
        slices_of_scores({"new": NEW_SCORES}, queries=QUERIES, against="zero")


def test_one_system_against_its_own_mean() -> None:
    """The mean of a slice, and of the rest."""
    slices = slices_of_scores({"new": NEW_SCORES}, queries=QUERIES)
    row = slices.table.filter(slice="language=de").row(0, named=True)
    lost = np.array(list(LOST.values()))
    new = np.array(list(NEW.values()))
    assert (row["versus"], row["difference"]) == (None, None)
    assert row["gap"] == pytest.approx(new[lost].mean() - new[~lost].mean())
    assert slices.systems == ("new",)


def test_lower_is_better() -> None:
    """A loss is then a higher number."""
    qrels = {query: {"d0": 1} for query in IDS}
    good: dict[str, Any] = {query: {"d0": 2.0, "d1": 1.0} for query in IDS}
    bad: dict[str, Any] = {
        query: {"d0": 0.5 if LOST[query] else 2.0, "d1": 1.0} for query in IDS
    }
    slices = rankstone.slices(
        qrels, {"good": good, "bad": bad}, "AvgRelPosition", queries=QUERIES
    )
    assert slices.found.select("slice", pl.col("gap") > 0).rows() == [
        ("language=de", True)
    ]
    assert "language=de: worse here." in slices.text()
    assert slices.audit is not None


def test_a_comparison_brings_its_table_of_queries() -> None:
    """The primary measure, and the table that the comparison was made with."""
    compared = rankstone.compare(
        demo.QRELS, demo.RUNS, "nDCG@10 AP", queries=demo.QUERIES
    )
    result = slices_of_scores(compared, min_size=8)
    other = rankstone.slices(demo.QRELS, demo.RUNS, queries=demo.QUERIES, min_size=8)
    assert result.table.equals(other.table)
    assert result.measure == "nDCG@10"


def test_clusters_widen_intervals() -> None:
    """Queries of a user share their luck."""
    users = [f"u{index // 8}" for index in range(400)]
    luck = np.repeat(np.random.default_rng(1).normal(0, 0.3, 50), 8)
    scores = SCORES.with_columns(new=pl.col("old") + pl.Series(luck))
    kinds = QUERIES.select(
        "query_id",
        user=pl.Series(users),
        kind=pl.Series(list("abcd") * 13)[:50].repeat_by(8).explode(),
    )
    apart, together = (
        slices_of_scores(scores, queries=kinds, attributes=["kind"], cluster=cluster)
        for cluster in (None, "user")
    )
    widths = [
        float((case.table["high"] - case.table["low"]).to_numpy().mean())
        for case in (apart, together)
    ]
    assert widths[1] > 2 * widths[0]
    sessions = slices_of_scores(scores, queries=kinds.rename({"user": "session"}))
    assert (
        sessions.table["high"] - sessions.table["low"]
    ).to_numpy().mean() == pytest.approx(widths[1])


def test_attributes_of_every_kind() -> None:
    """Ranges, categories, lists, missing values, question words, lengths, tags; no ids."""
    n = 240
    dice = random.Random(5)
    table = pl.DataFrame(
        {
            "text": [
                dice.choice(["wo ist was", "什么是推荐系统", "how to", None])
                for _ in range(n)
            ],
            "price": [f"{dice.random() * 90:.2f}" for _ in range(n)],
            "stars": [dice.randrange(1, 6) for _ in range(n)],
            "kinds": [dice.choice(["a|b", "b", "c"]) for _ in range(n)],
            "list": [dice.choice([["x"], ["x", "y"], []]) for _ in range(n)],
            "id": [f"u{index}" for index in range(n)],
            "brand": [dice.choice(["one", "two", ""]) for _ in range(n)],
        }
    )
    made = query_slices(table, tags={"recommend": "推荐|recommend"}, bins=3, least=20)
    names = set(made.names)
    assert {
        "recommend",
        "stars=1",
        "kinds=b",
        "list=x",
        "list missing",
        "brand=one",
        "brand missing",
    } <= names
    assert {"words missing", "question word=none"} <= names
    assert (
        len({name for name in names if name.startswith("price=") and "&" not in name})
        == 3
    )
    assert made.left_out == ("id (240 values)",)
    assert made.members[:, made.names.index("kinds=b")].sum() == sum(
        "b" in kind for kind in table["kinds"]
    )
    same = dict(zip(made.names, made.same, strict=True))
    assert "question word=什么" in same["recommend"]
    assert "question word missing" in same["words missing"]
    assert (made.members.sum(axis=0) >= 20).all()
    assert len(
        {made.members[:, index].tobytes() for index in range(len(made.names))}
    ) == len(made.names)


def test_pairs_are_of_two_attributes() -> None:
    """The queries of a pair are those of both."""
    made = query_slices(QUERIES.drop("query_id"), least=20)
    pairs = [name for name in made.names if " & " in name]
    for name in pairs:
        first, other = name.split(" & ")
        both = (
            made.members[:, made.names.index(first)]
            & made.members[:, made.names.index(other)]
        )
        assert (made.members[:, made.names.index(name)] == both).all()
        assert first.split("=")[0] != other.split("=")[0]


def test_what_could_not_have_been_seen() -> None:
    """The line about power names a gap, and the size that would show it."""
    slices = slices_found(margin=0.01)
    text = " ".join(slices.text().split())
    assert "cannot show a gap of 0.01: the noise is too large" in text
    assert slices.visible(40) > slices.visible(80) > 0.01
    wide = slices_found(margin=0.2)
    assert "show a gap of 0.2 with 80 % power" in " ".join(wide.text().split())
    noisy = SCORES.with_columns(
        new=pl.Series(np.random.default_rng(3).normal(0, 1, 400))
    )
    text = " ".join(slices_of_scores(noisy, queries=QUERIES, margin=0.3).text().split())
    assert "Inconclusive: no slice differs from the rest" in text


def test_a_log_of_an_experiment() -> None:
    """The effect of a slice is the difference of its means; users are the units."""
    rng = np.random.default_rng(6)
    users, device = rng.integers(0, 500, 3000), rng.choice(["phone", "desktop"], 3000)
    new = rng.random(500) < 0.5
    clicked = rng.random(3000) < 0.4 - 0.25 * (new[users] & (device == "phone"))
    log = pl.DataFrame(
        {
            "impression_id": [f"i{index}" for index in range(3000)],
            "user_id": users,
            "variant": np.where(new[users], "new", "old"),
            "clicked": clicked.astype(int),
            "device": device,
        }
    )
    slices = slices_of_log(log, versus="old")
    row = slices.table.filter(slice="device=phone").row(0, named=True)
    phone, treated = device == "phone", new[users]
    assert row["difference"] == pytest.approx(
        clicked[phone & treated].mean() - clicked[phone & ~treated].mean()
    )
    assert row["elsewhere"] == pytest.approx(
        clicked[~phone & treated].mean() - clicked[~phone & ~treated].mean()
    )
    assert row["low"] < -0.25 < row["high"] < 0
    assert slices.systems == ("new", "old")
    assert slices_of_log(log).table.filter(slice="device=phone")[
        "gap"
    ].item() == pytest.approx(-row["gap"])
    alone = (
        slices_of_log(log, versus="old", cluster=None)
        .table.filter(slice="device=phone")
        .row(0, named=True)
    )
    assert alone["gap"] == row["gap"]
    positions = pl.concat(
        [log, log.with_columns(clicked=pl.lit(0, pl.Int64))]
    ).with_columns(position=pl.lit(1))
    assert slices_of_log(positions, versus="old").table.equals(slices.table)


def test_logs_that_cannot_be_read() -> None:
    """What is wrong, and where."""
    log = {"variant": ["a", "b"] * 30, "clicked": [0, 1] * 30, "kind": ["x", "y"] * 30}
    with pytest.raises(MissingColumn, match="there is no column clicks"):
        slices_of_log(log, "clicks")
    with pytest.raises(BadValue, match="clicked is not a number"):
        slices_of_log({**log, "clicked": ["perhaps", *["0"] * 59]})
    with pytest.raises(BadValue, match="a row without variant"):
        slices_of_log({**log, "variant": [None, *"ab", *["a"] * 57]})
    with pytest.raises(NotComparable, match="two variants"):
        slices_of_log({**log, "variant": ["a", "b", "c"] * 20})
    with pytest.raises(MissingColumn, match="there is no column users"):
        slices_of_log(log, cluster="users")
    with pytest.raises(BadValue, match="a row without user_id"):
        slices_of_log({**log, "user_id": [None, *"ab", *["a"] * 57]})
    with pytest.raises(MissingColumn, match="there is no column device"):
        slices_of_log(log, attributes=["device"])
    with pytest.raises(NotComparable, match="5 rows of each variant"):
        slices_of_log(log)


def test_what_cannot_be_searched() -> None:
    """Each is refused with what to do."""
    with pytest.raises(UsageError, match="slices need a table of queries"):
        slices_of_scores(SCORES)
    with pytest.raises(NotComparable, match="of one system, or of two"):
        slices_of_scores(SCORES.with_columns(other=pl.col("old")), queries=QUERIES)
    with pytest.raises(UsageError, match="no attribute makes a slice of 300 or more"):
        slices_found(min_size=300)
    with pytest.raises(MissingColumn, match="there is no column lang"):
        slices_found(attributes=["lang"])
    with pytest.raises(NotComparable, match="has none of the queries"):
        slices_of_scores(
            SCORES,
            queries=QUERIES.with_columns(query_id=pl.lit("x") + pl.col("query_id")),
        )
    with pytest.raises(UsageError, match="slices are of one measure"):
        rankstone.slices(demo.QRELS, demo.RUNS, "AP RR", queries=demo.QUERIES)
    with pytest.raises(BadOption, match="no regular expression"):
        slices_found(tags={"x": "("})
    with pytest.raises(BadOption, match="is not an option"):
        slices_found(estimate="macro")
    for wrong in (
        {"bins": 1},
        {"min_size": 2},
        {"confidence": 1.0},
        {"margin": 0.0},
        {"against": "all"},
    ):
        with pytest.raises((BadOption, UsageError)):
            slices_found(**wrong)


def test_queries_without_a_value() -> None:
    """They are left out, and counted."""
    scores = SCORES.with_columns(
        new=pl.when(pl.col("query_id") == "q0").then(None).otherwise("new")
    )
    slices = slices_of_scores(scores, queries=QUERIES)
    assert (slices.n, slices.without_value) == (399, 1)
    assert "because a system has no value: 1." in " ".join(slices.text().split())


def test_words_in_both_languages() -> None:
    """Every sentence is there in Chinese, too."""
    for options in ({}, {"against": "zero"}, {"margin": 0.01}):
        text = slices_found(lang="zh", **options).text()
        assert "切片" in text
        assert "worse" not in text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("against", ["rest", "zero"])
@pytest.mark.parametrize("gain", [0.0, 0.02, -1e-3])
def test_one_difference_everywhere_shows_no_smallest_gap(
    against: str, gain: float
) -> None:
    """Without noise nothing is known of the gaps of other queries: no nan, no gap of 0 that would show."""
    scores = SCORES.with_columns(new=pl.col("old") + gain)
    slices = slices_of_scores(scores, queries=QUERIES, against=against, margin=0.01)
    text = " ".join(slices.findings())
    assert "All differences are the same" in text
    assert "power" not in text
    assert "nan" not in slices.text()
    assert slices.visible_gaps().height == 0
    assert slices.report()["visible"] == []
    if against == "rest":
        assert not slices.found.height


def test_a_gap_near_the_limit_is_named_too_large() -> None:
    """Of two sizes of noise the larger one leaves a gap that only just shows: it is shrunken, as the text says."""
    rng = np.random.default_rng(1)
    for noise, is_noted in ((0.05, False), (0.5, True)):
        lost = np.array(list(LOST.values()))
        new = np.array(list(OLD.values())) + rng.normal(0, noise, 400) - 0.25 * lost
        slices = slices_of_scores(
            SCORES.with_columns(new=pl.Series(new)), queries=QUERIES
        )
        (row,) = slices.found.head(1).iter_rows(named=True)
        text = " ".join(slices.findings())
        assert ("probably too large (winner’s curse)" in text) is is_noted
        assert row["gap"] <= row["shrunken"] < 0
        assert (
            f"shrink to about {row['shrunken']:+.4f} ({row['slice']})" in text
        ) is is_noted
    hidden = slices.table.filter(pl.col("p_adjusted") > 0.05)
    assert hidden["shrunken"].null_count() == hidden.height > 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_values_of_too_few_queries_are_named(lang: str) -> None:
    """Groups below the smallest size are named on the first screen, with their numbers; none without any."""
    kinds = ["large"] * 24 + ["other"] * 21 + ["small"] * 8
    names = [f"q{number:02}" for number in range(len(kinds))]
    qrels = {name: {"a": 1} for name in names}
    run = {name: {"a": 1.0 + number % 2, "x": 1.5} for number, name in enumerate(names)}
    queries = {name: {"kind": kind} for name, kind in zip(names, kinds, strict=True)}

    search = rankstone.slices(qrels, {"run": run}, "RR", queries=queries, lang=lang)
    text = " ".join(search.text(80).split())

    assert search.small == ("kind=small (8)",)
    assert "kind=small (8)" in text
    assert "--min-size" in text
    assert search.report()["small"] == ["kind=small (8)"]
    fewer = rankstone.slices(
        qrels, {"run": run}, "RR", queries=queries, lang=lang, min_size=8
    )
    assert not fewer.small
    assert "--min-size" not in fewer.text(80)
