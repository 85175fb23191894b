"""Interleaving: lists that are fair, clicks that are credited, tests that keep what they promise."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.rows import each

from rankstone.errors import (
    BadOption,
    BadValue,
    DuplicateRows,
    InputError,
    MissingColumn,
    NotComparable,
    RankstoneError,
)
from rankstone.online.interleaved_lists import (
    METHODS,
    _all_lists,
    _credits,
    _list_probabilities,
    balanced,
    interleave,
    optimised,
    team_draft,
)
from rankstone.online.preference_test import interleaving_preference, preference_row

if TYPE_CHECKING:
    from pathlib import Path

RANKINGS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@settings(deadline=None)
@given(
    RANKINGS,
    RANKINGS,
    st.integers(1, 7),
    st.integers(0, 1000),
    st.sampled_from(sorted(METHODS)),
)
def test_every_list(a: list[str], b: list[str], k: int, seed: int, method: str) -> None:
    """A list is as long as it can be, holds a document once, and takes the best that is left of a ranking."""
    drawn = METHODS[method](a, b, k, np.random.default_rng(seed))
    assert (
        len(drawn.docs)
        == len(set(drawn.docs))
        == min(k, len({*a, *b}))
        == len(drawn.credit)
    )
    for index, doc in enumerate(drawn.docs):
        left = [
            [other for other in ranking if other not in drawn.docs[:index]]
            for ranking in (a, b)
        ]
        assert doc in [ranking[0] for ranking in left if ranking]


def test_the_golden_example() -> None:
    """Rankings a b c d and b d c a: the lists and teams there are, by hand."""
    a, b = list("abcd"), list("bdca")
    seen = {
        ("".join(drawn.docs), tuple(drawn.credit))
        for seed in range(200)
        for drawn in [team_draft(a, b, 4, np.random.default_rng(seed))]
    }
    # round 1: a's captain takes a and b's takes b, in either order; round 2: c and d, in either order
    assert seen == {
        ("abcd", (1, -1, 1, -1)),
        ("abdc", (1, -1, -1, 1)),
        ("bacd", (-1, 1, 1, -1)),
        ("badc", (-1, 1, -1, 1)),
    }
    lists = {
        "".join(balanced(a, b, 4, np.random.default_rng(seed)).docs)
        for seed in range(50)
    }
    assert lists == {"abdc", "badc"}


@pytest.mark.parametrize("method", ["team_draft", "optimised"])
def test_random_clicks_prefer_neither(method: str) -> None:
    """Whatever two rankings are, a click at any one place is worth nothing on average."""
    rng = np.random.default_rng(5)
    for a, b, k in [
        ("abc", "bca", 3),
        ("a", "ab", 2),
        ("ab", "cd", 3),
        ("abcd", "bc", 4),
        ("abc", "abd", 2),
    ]:
        drawn = [METHODS[method](list(a), list(b), k, rng).credit for _ in range(4000)]
        worth = np.array(drawn)
        error = worth.std(axis=0) / len(worth) ** 0.5
        assert (np.abs(worth.mean(axis=0)) <= 4 * error + 1e-9).all(), (a, b, k)


def test_optimised_is_fair_exactly() -> None:
    """For all rankings of four: probabilities sum to 1, and down to every depth neither side is favoured."""
    first = tuple("abcd")
    for second in permutations("abcd"):
        lists, chances = _list_probabilities(first, second, 4)
        worth = np.array([_credits(docs, first, second) for docs in lists])
        assert sum(chances) == pytest.approx(1)
        assert np.cumsum(worth, axis=1).T @ np.array(chances) == pytest.approx(
            np.zeros(4), abs=1e-9
        )
    assert _all_lists("ab", "ba", 2) == (("a", "b"), ("b", "a"))
    assert len(_all_lists("abcdefghij", "klmnopqrst", 10)) == 2**10
    assert optimised(list("abc"), list("abc"), 3, np.random.default_rng(0)).docs == (
        "a",
        "b",
        "c",
    )


#: no mixture of these is fair: the least sum of what depths are unfair by is 0.0007
UNFAIR = [0, 1, 3, 5, 2, 7, 4, 6, 8, 12], [0, 3, 1, 2, 5, 7, 10, 8, 4, 6]


def test_no_fair_mixture_is_a_team_draft() -> None:
    """A query whose rankings cannot be mixed fairly gets team draft, counted and reported; others do not."""
    a, b = ([f"d{doc}" for doc in ranking] for ranking in UNFAIR)
    assert _list_probabilities(tuple(a), tuple(b), 10)[1] == ()
    fine = {"other": ["x", "y"]}
    made = interleave(fine | {"q": a}, fine | {"q": b}, "optimised", draws=3, seed=1)
    by_query = dict(
        made.lists.group_by("query_id").agg(pl.col("method").unique()).rows()
    )
    assert by_query == {"q": ["team_draft"], "other": ["optimised"]}
    assert set(made.lists.filter(query_id="q")["credit"]) <= {-1.0, 0.0, 1.0}
    assert made.audit.counts["fallback"] == 1
    assert "1 query by team draft" in made.audit.lines()[0]
    alone = interleave({"q": a}, {"q": b}, "team_draft", draws=3, seed=1).lists
    assert made.lists.filter(query_id="q").equals(alone)

    log = clicked(made.lists, [(0, a[0]), (1, "x")])
    preference = interleaving_preference(log, made)
    assert (
        preference.conventions["method"],
        preference.preference["impressions"][0],
    ) == ("optimised", 6)
    assert interleave(fine, fine, "optimised").audit.counts["fallback"] == 0


@pytest.mark.parametrize("n", [2, 5, 6, 100])
@pytest.mark.parametrize("cluster", [None, "impression_id"])
def test_all_of_one_mind_is_no_certainty(n: int, cluster: str | None) -> None:
    """Where every impression is won the interval is no point, and ends where n wins of n leave .025."""
    log = {
        "query_id": ["q"] * n,
        "draw": [0] * n,
        "doc_id": ["x"] * n,
        "impression_id": list(range(n)),
    }
    lists = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=1, draws=1, seed=1).lists
    lists = lists.with_columns(doc_id=pl.lit("x"), credit=pl.lit(1.0))
    row = interleaving_preference(log, lists, cluster=cluster).preference.row(
        0, named=True
    )
    assert row["preference"] == 0.5
    # signs of five and fewer exclude nothing
    low = 0.025 ** (1 / n) - 0.5 if n > 5 else -0.5
    assert row["low"] == pytest.approx(low)
    assert (
        (row["verdict"] == "better") == (2 * 0.5**n <= 0.05) == (row["p_sign"] <= 0.05)
    )
    assert row["win_low"] < 1


def test_balanced_is_biased() -> None:
    """The known case, rankings a b c and b c a: random clicks prefer the second, though no user reads."""
    lists = interleave(
        {"q": list("abc")}, {"q": list("bca")}, "balanced", k=3, draws=200, seed=1
    )
    drafted = interleave(
        {"q": list("abc")}, {"q": list("bca")}, "team_draft", k=3, draws=200, seed=1
    )
    verdicts = {}
    for name, made in (("balanced", lists), ("team_draft", drafted)):
        every = [
            {
                "query_id": "q",
                "draw": draw,
                "position": place,
                "impression_id": f"{draw} {place} {again}",
            }
            for draw in range(200)
            for place in (1, 2, 3)
            for again in range(3)
        ]
        verdicts[name] = interleaving_preference(
            pl.DataFrame(every), made
        ).preference.row(0, named=True)
    # a click at a place, each as likely: lists abc and bac (a first: a, b, c; b first: b, a, c)
    # abc: a is a's, b is b's, c is b's; bac: b is b's, a is a's, c is b's: two of three for b
    assert verdicts["balanced"]["win_rate"] == pytest.approx(1 / 3)
    assert verdicts["balanced"]["verdict"] == "worse"
    assert abs(verdicts["team_draft"]["win_rate"] - 0.5) < 0.05


def test_false_alarms() -> None:
    """Team draft of a ranking with itself: in 2,000 experiments no more alarms than were allowed."""
    rng, experiments, n, alpha = np.random.default_rng(3), 2000, 60, 0.05
    same = [str(index) for index in range(6)]
    pool = np.array([team_draft(same, same, 6, rng).credit for _ in range(4000)])
    alarms, rates = {"p_sign": 0, "p_randomisation": 0, "verdict": 0}, []
    for _ in range(experiments):
        clicked = rng.random((n, 6)) < 0.6 / np.arange(1, 7)
        difference = (pool[rng.integers(0, len(pool), n)] * clicked).sum(axis=1)
        row, _ = _quick(difference)
        rates.append(row["preference"])
        alarms["p_sign"] += row["p_sign"] <= alpha
        alarms["p_randomisation"] += row["p_randomisation"] <= alpha
        alarms["verdict"] += row["verdict"] != "inconclusive"

    most = alpha + 2 * (alpha * (1 - alpha) / experiments) ** 0.5
    assert {
        name: count / experiments <= most for name, count in alarms.items()
    } == dict.fromkeys(alarms, True)
    assert abs(np.mean(rates)) <= 3 * np.std(rates) / experiments**0.5


def _quick(difference: Any) -> tuple[dict[str, Any], int]:
    return preference_row(difference, None, 0.95, None, 0, flips=1000)


def clicked(lists: pl.DataFrame, docs: list[tuple[int, str]]) -> pl.DataFrame:
    """Return a log of everything shown, with clicks on some documents of some draws."""
    on = {(draw, doc) for draw, doc in docs}
    return lists.select(
        "query_id", "draw", "doc_id", "position", impression_id="draw"
    ).with_columns(
        clicked=pl.Series(
            [
                int((draw, doc) in on)
                for draw, doc in lists.select("draw", "doc_id").rows()
            ]
        )
    )


def test_the_outcome() -> None:
    """Wins, ties and losses, and every figure beside them by its definition."""
    lists = interleave(
        {"q": ["x", "y"]}, {"q": ["y", "z"]}, k=2, draws=40, seed=2
    ).lists
    by_a = {
        draw: doc
        for draw, doc, credit in lists.select("draw", "doc_id", "credit").rows()
        if credit > 0
    }
    by_b = {
        draw: doc
        for draw, doc, credit in lists.select("draw", "doc_id", "credit").rows()
        if credit < 0
    }
    docs = [(draw, by_a[draw]) for draw in range(20)] + [
        (draw, by_b[draw]) for draw in range(15, 26)
    ]
    preference = interleaving_preference(clicked(lists, docs), lists, confidence=0.9)
    row = preference.preference.row(0, named=True)

    assert (row["impressions"], row["wins"], row["ties"], row["losses"]) == (
        40,
        15,
        19,
        6,
    )
    assert row["win_rate"] == 15 / 21
    assert row["preference"] == pytest.approx((15 + 19 / 2) / 40 - 1 / 2)
    assert row["p_sign"] == pytest.approx(stats.binomtest(15, 21).pvalue)
    assert row["p_randomisation"] == pytest.approx(
        stats.binomtest(15, 21).pvalue, abs=0.005
    )
    wins = stats.binomtest(15, 21).proportion_ci(0.9, "exact")
    assert (row["win_low"], row["win_high"]) == pytest.approx((wins.low, wins.high))
    outcome = np.repeat([0.5, 0.0, -0.5], [15, 19, 6])
    student = stats.t.interval(0.9, 39, outcome.mean(), stats.sem(outcome))
    assert (row["low"], row["high"]) == pytest.approx(student, abs=0.005)
    assert (row["low_guarded"], row["high_guarded"]) == (None, None)
    assert row["verdict"] == "better"
    assert preference.audit.counts["clicked"] == 26


def test_equivalence_is_for_the_guarded_interval() -> None:
    """Few decided impressions of many say little about how many more there could be."""
    sign = np.repeat([1.0, 0.0, -1.0], [15, 19, 6])
    row, _ = preference_row(sign, None, 0.9, 0.9, 0)
    expected = stats.t.interval(0.9, 39, sign.mean() / 2, stats.sem(sign) / 2)
    assert (row["low_guarded"], row["high_guarded"]) == pytest.approx(expected)
    assert row["verdict"] == "equivalent"
    undecided, _ = preference_row(np.zeros(10), None, 0.95, 0.1, 0)
    assert undecided["verdict"] == "inconclusive"
    assert undecided["low"] < 0 < undecided["high"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_verdict_follows_its_test(data: st.DataObject) -> None:
    """P, both intervals and the verdict say the same, with and without clusters."""
    n = data.draw(st.integers(1, 60))
    draw = np.random.default_rng(data.draw(st.integers(0, 1000)))
    shares = draw.dirichlet([4, 1, 1])
    sign = draw.choice([1.0, 0.0, -1.0], n, p=shares)
    cluster = None
    if data.draw(st.booleans()):
        _, codes = np.unique(draw.integers(0, 12, n), return_inverse=True)
        cluster = codes.astype(np.int64)
    row, _ = preference_row(sign, cluster, 0.95, None, 0, flips=1000)
    clear = row["p_sign"] <= 0.05
    assert clear == (row["verdict"] in ("better", "worse"))
    middles = {"": 0.0}
    if row["win_rate"] is not None:
        middles["win_"] = 0.5
    for name, middle in middles.items():
        low, high = row[f"{name}low"], row[f"{name}high"]
        assert not low < middle < high if clear else low <= middle <= high
    assert row["low"] <= row["preference"] <= row["high"]
    if row["win_rate"] is not None:
        assert 0 <= row["win_low"] <= row["win_rate"] <= row["win_high"] <= 1


def test_clusters_and_files(tmp_path: Path) -> None:
    """One user with many impressions is one unit; lists and clicks survive files."""
    made = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=2, draws=30, seed=2)
    log = clicked(made.lists, [(draw, "x") for draw in range(30)]).with_columns(
        user_id=pl.col("draw") % 3
    )
    made.write(tmp_path / "lists.csv")
    made.write(tmp_path / "lists.parquet")
    log.write_csv(tmp_path / "log.csv")
    preference = interleaving_preference(log, made, cluster="user_id").preference
    for name in ("lists.csv", "lists.parquet"):
        again = interleaving_preference(
            tmp_path / "log.csv", tmp_path / name, cluster="user_id"
        ).preference
        assert again.equals(preference)
    assert preference["p_sign"][0] == pytest.approx(2 * 0.5**3)
    assert preference["p_randomisation"][0] == pytest.approx(2 * 0.5**3)


def test_lists_depend_on_their_query_alone() -> None:
    """The same seed gives the same list, whatever other queries there are; another seed others."""
    a = {f"q{n}": list("abcdef") for n in range(9)}
    b = {f"q{n}": list("fbdcxa") for n in range(9)}
    every, first = (
        interleave(a, b, draws=5).lists,
        interleave({"q3": a["q3"]}, {"q3": b["q3"]}, draws=5).lists,
    )
    assert every.filter(query_id="q3").equals(first)
    assert not interleave(a, b, draws=5, seed=1).lists.equals(every)
    assert interleave(a, b, draws=5).lists.equals(every)
    other = interleave(a | {"only": ["x"]}, b).audit
    assert (other.counts["only_a"], other.counts["queries"]) == (1, 9)
    assert "1 query in a only: no list" in other.lines()[0]


LISTS = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, k=2, draws=2).lists
CLICK = {"query_id": ["q"], "draw": [0], "doc_id": ["y"], "impression_id": [1]}


@each(
    ("changed", "lists", "error", "says"),
    [
        ({"clicked": [7]}, LISTS, BadValue, "1 row where clicked is neither 0 nor 1"),
        ({"click": [-1]}, LISTS, BadValue, "1 row where clicked is neither 0 nor 1"),
        ({"draw": [9]}, LISTS, InputError, "(?s)without a list.*draw 9"),
        (
            {"doc_id": ["w"]},
            LISTS,
            BadValue,
            "1 click on documents that are not in the list",
        ),
        ({"query_id": ["p"]}, LISTS, InputError, "without a list"),
        ({"draw": None}, LISTS, MissingColumn, "several lists"),
        ({"doc_id": None}, LISTS, MissingColumn, "no column says what was clicked"),
        ({}, pl.concat([LISTS, LISTS]), DuplicateRows, "a list has a doc_id twice"),
        ({}, LISTS.with_columns(method=pl.lit("coin")), BadOption, "method"),
        ({}, LISTS.drop("credit"), MissingColumn, "no column credit"),
    ],
)
def test_mistakes(
    changed: dict[str, Any], lists: pl.DataFrame, error: type[RankstoneError], says: str
) -> None:
    """Clicks that do not belong to the lists are refused, or counted where that was requested."""
    log = {
        name: value for name, value in (CLICK | changed).items() if value is not None
    }
    with pytest.raises(error, match=says):
        interleaving_preference(log, lists)


def test_counted() -> None:
    """Clicks elsewhere and clicks again are counted."""
    log = {
        "query_id": ["q"] * 3,
        "draw": [0] * 3,
        "doc_id": ["y", "y", "w"],
        "impression_id": [1] * 3,
    }
    preference = interleaving_preference(log, LISTS, unknown="drop")
    assert (
        preference.audit.counts["elsewhere"],
        preference.audit.counts["repeated"],
    ) == (1, 1)
    assert any(
        line.startswith("looks  ") and "one look" in line
        for line in preference.audit.lines()
    )
    assert any("no column clicked" in line for line in preference.audit.warnings)
    with pytest.raises(NotComparable, match="no query is in both"):
        interleave({"q": ["x"]}, {"p": ["x"]})
    with pytest.raises(BadOption, match="k=11"):
        interleave({"q": ["x"]}, {"q": ["x"]}, "optimised", k=11)
    with pytest.raises(BadOption):
        interleave({"q": ["x"]}, {"q": ["x"]}, "probabilistic")
