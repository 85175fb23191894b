"""Measuring whole lists, fact by fact: what is read, what is refused, what is reported."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.rankings.recommendation.table import ALL
from tests.rows import each

import rankstone
from rankstone.rankings.recommendation import beyond_accuracy
from rankstone.rankings.recommendation.list_frame import Codes
from rankstone.rankings.recommendation.opened_tables import Opener

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"u1": ["a", "b", "c"], "u2": ["a", "d"]}
ITEMS = {
    "a": {"category": "x|y", "group": "g", "v": [1.0, 0.0]},
    "b": {"category": "x", "group": "h", "v": [0.0, 1.0]},
    "c": {"category": "z", "group": "g", "v": [1.0, 1.0]},
    "d": {"category": None, "group": "g", "v": None},
}
PAST = {"u1": ["d", "e"], "u2": ["b"], "u4": ["a"]}
QRELS = {"u1": {"a": 1, "c": 0}, "u2": {"d": 2}}


def only(scores: rankstone.BeyondScores) -> dict[str, float | None]:
    return next(iter(scores.to_dict().values()))


# -- reading ---------------------------------------------------------------------------------------
def test_every_way_to_give_a_table(tmp_path: Path) -> None:
    """Files of all formats, frames of any library and dicts say the same."""
    items = pl.DataFrame(
        {
            "doc_id": ["a", "b", "c", "d"],
            "category": ["x|y", "x", "z", None],
            "n": [1.0, 2.0, 3.0, 4.0],
        }
    )
    past = pl.DataFrame(
        {
            "query_id": ["u1", "u1", "u2", "u4"],
            "doc_id": ["d", "e", "b", "a"],
            "weight": [1.0, 2.0, 1.0, 1.0],
        }
    )
    run = pl.DataFrame(
        {
            "query_id": ["u1", "u1", "u1", "u2", "u2"],
            "doc_id": ["a", "b", "c", "a", "d"],
            "score": [3.0, 2.0, 1.0, 2.0, 1.0],
        }
    )
    for name, frame in (("items", items), ("past", past), ("run", run)):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_csv(tmp_path / f"{name}.tsv", separator="\t")
        frame.write_ndjson(tmp_path / f"{name}.jsonl")
        frame.write_parquet(tmp_path / f"{name}.parquet")
        frame.write_ipc(tmp_path / f"{name}.arrow")
    measures = (
        "Coverage Gini Novelty Calibration(weight=weight) ILD(features=n, distance=euclidean) "
        "ILD(features=category)"
    )
    wanted = only(rankstone.beyond(run, measures, items=items, history=past))
    for suffix in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        table = {
            name: str(tmp_path / f"{name}.{suffix}")
            for name in ("items", "past", "run")
        }
        assert (
            only(
                rankstone.beyond(
                    table["run"], measures, items=table["items"], history=table["past"]
                )
            )
            == wanted
        )
    as_pandas = [
        pd.DataFrame(frame.to_dict(as_series=False)) for frame in (run, items, past)
    ]
    assert (
        only(
            rankstone.beyond(
                as_pandas[0], measures, items=as_pandas[1], history=as_pandas[2]
            )
        )
        == wanted
    )
    assert (
        only(
            rankstone.beyond(
                run.to_arrow(),
                measures,
                items=items.to_arrow(),
                history=past.to_arrow(),
            )
        )
        == wanted
    )


def test_ids_are_compared_as_text() -> None:
    """Whole numbers in one table meet their decimal text in another."""
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": [7, 8], "score": [2.0, 1.0]})
    qualities = rankstone.beyond(run, "Novelty", history={"1": ["7"], "2": ["8", "7"]})

    assert only(qualities) == {"Novelty": pytest.approx((0 + 1) / 2)}


def test_other_names_of_columns() -> None:
    """Users and items may be called so, in all tables at once."""
    run = pl.DataFrame({"user": ["u", "u"], "item": ["a", "b"], "score": [2.0, 1.0]})
    past = pl.DataFrame({"user": ["u", "v"], "item": ["c", "a"]})
    items = pl.DataFrame({"item": ["a", "b", "c"], "genre": ["x", "y", "x"]})
    qualities = rankstone.beyond(
        run,
        "Coverage Novelty ILD(features=genre)",
        items=items,
        history=past,
        columns={"user": "query_id", "item": "doc_id"},
    )

    assert only(qualities) == {
        "Coverage": 2 / 3,
        "Novelty": 1.0,
        "ILD(features=genre)": 1.0,
    }


def test_order_is_that_of_an_evaluation() -> None:
    """Scores first, then ids by their bytes; ranks, input order and other rules as requested."""
    run = pl.DataFrame(
        {
            "query_id": ["u"] * 4,
            "doc_id": ["a", "é", "z", "b"],
            "score": [1.0, 1.0, 1.0, 2.0],
            "rank": [2, 1, 4, 3],
        }
    )
    position: tuple[dict[str, Any], ...] = (
        {"ties": "docid_desc"},
        {"ties": "docid_asc"},
        {"ties": "input"},
        {"ties": "reverse_input"},
        {"order": "rank"},
        {"order": "input"},
    )
    second = ["é", "a", "a", "z", "a", "é"]
    for options, item in zip(position, second, strict=True):
        qualities = rankstone.beyond(run, "Coverage@2", catalogue_size=9, **options)
        tops = rankstone.beyond(
            run, "Unexpectedness(against=baseline)@2", baseline={"u": [item]}, **options
        )
        assert only(qualities) == {"Coverage@2": 2 / 9}
        assert only(tops)["Unexpectedness(against=baseline)@2"] == 1 / 2, options
    with pytest.raises(rankstone.InputError, match="3 documents tie at 1"):
        rankstone.beyond(run, "Coverage@2", catalogue_size=9, ties="error")


def test_scattered_rows_are_brought_together() -> None:
    """A user's rows need not stand together."""
    rows = [
        ("u1", "a", 3.0),
        ("u2", "a", 2.0),
        ("u1", "b", 2.0),
        ("u2", "d", 1.0),
        ("u1", "c", 1.0),
    ]
    run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")

    assert only(rankstone.beyond(run, "Personalization Entropy")) == only(
        rankstone.beyond(RUN, "Personalization Entropy")
    )


def test_duplicates() -> None:
    """An item twice in a list is an error; or the first or last copy goes, before the list is cut."""
    run = pl.DataFrame(
        {
            "query_id": ["u"] * 4,
            "doc_id": ["a", "b", "a", "c"],
            "score": [4.0, 3.0, 2.0, 1.0],
        }
    )
    with pytest.raises(
        rankstone.InputError, match="document a is retrieved 2 times for query u"
    ):
        rankstone.beyond(run, "Entropy")
    past = {"v": ["a"], "w": ["b"], "x": ["c"]}
    for option, expected in (("first_drop", {"a", "b"}), ("last_drop", {"b", "a"})):
        qualities = rankstone.beyond(run, "Coverage@3", history=past, duplicates=option)  # type: ignore[arg-type]
        assert only(qualities) == {"Coverage@3": 1.0}
        assert "2 duplicate rows" in str(qualities.audit)
        del expected
    first = rankstone.beyond(
        run,
        "Unexpectedness(against=baseline)@1",
        baseline={"u": ["a"]},
        duplicates="first_drop",
    )
    last = rankstone.beyond(
        run,
        "Unexpectedness(against=baseline)@1",
        baseline={"u": ["a"]},
        duplicates="last_drop",
    )
    assert only(first)["Unexpectedness(against=baseline)@1"] == 0.0
    assert only(last)["Unexpectedness(against=baseline)@1"] == 1.0
    # a copy below the ranks that count plays no part
    assert only(rankstone.beyond(run, "Entropy@2")) == {"Entropy@2": 1.0}


def test_depth_cuts_every_list() -> None:
    """With depth, whole lists end there."""
    assert only(rankstone.beyond(RUN, "Entropy", depth=1)) == {"Entropy": 0.0}


def test_users_keep_the_order_of_the_run() -> None:
    """Values per user stand in the order of the run, wherever the stream was cut."""
    run = {f"u{n}": [f"i{n}", "a"] for n in range(50)}

    assert rankstone.beyond(run, "Unexpectedness", history=PAST).per_query[
        "query_id"
    ].to_list() == list(run)


def test_several_runs_share_the_tables() -> None:
    """Each run has its own values; items of one do not leak into the other."""
    runs = {"one": RUN, "two": {"u1": ["zz"], "u2": ["zz"]}}
    qualities = rankstone.beyond(
        runs, "Coverage(scale=count) Entropy", catalogue_size=9
    )

    assert qualities.to_dict()["two"] == {"Coverage(scale=count)": 1.0, "Entropy": 0.0}
    assert qualities.to_dict()["one"]["Coverage(scale=count)"] == 4.0
    assert list(qualities.mean()["measure"]) == ["Coverage(scale=count)", "Entropy"] * 2


# -- refused, politely -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("measure", "tables", "message"),
    [
        ("Coverage@10", {}, "catalogue_size=…"),
        ("Novelty@10", {}, "add history="),
        ("EPC@10", {"history": PAST}, "add qrels="),
        ("ILD@10", {}, "add items="),
        ("ILD(features=genre)@10", {"items": ITEMS}, "there is no column genre"),
        ("ILD(features=categry)@10", {"items": ITEMS}, "did you mean category?"),
        ("Calibration(category=v)@10", {"items": ITEMS}, "history="),
        ("AWRF@10", {"items": {"a": {"p": "x", "q": "y"}}}, "needs a column for group"),
        ("DP(group=category)@10", {"items": ITEMS}, "needs the protected group"),
        ("DP(protected=gg)@10", {"items": ITEMS}, "groups g, h"),
        ("UserCoverage(at_least=k)", {}, "UserCoverage(at_least=k)@10"),
        ("Unexpectedness(against=baseline)@10", {}, "baseline="),
        ("Popularity@10", {"items": ITEMS}, "column `popularity`"),
        (
            "Calibration(alpha=0)@10",
            {"items": ITEMS, "history": PAST},
            "kl is infinite with alpha=0",
        ),
        ("nDCG@10", {}, "is not a measure of whole lists"),
    ],
)
def test_a_missing_table_is_refused_before_any_work(
    measure: str, tables: dict[str, Any], message: str
) -> None:
    """What a measure lacks is stated with the argument that brings it, and the run is not even opened."""
    with pytest.raises(rankstone.RankstoneError) as caught:
        rankstone.beyond("no such file.run", measure, **tables)
    assert message in str(caught.value)


def test_measures_of_whole_lists_are_refused_elsewhere() -> None:
    """An evaluation says who computes them."""
    with pytest.raises(rankstone.UsageError, match="use rankstone beyond RUN"):
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "Coverage@10")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gini(discount=geometric)", "p go together"),
        ("Gini(p=0.5)", "p go together"),
        ("Unexpectedness(denom=k)", "needs a cutoff"),
        ('ILD(features="a, b")', "cannot be written as a word"),
        ("APLT(head=1)", "out of range"),
        ("Calibration(distance=euclid)", "is not known"),
    ],
)
def test_parameters_are_checked(text: str, message: str) -> None:
    """A parameter that makes no sense is refused where the measure is made."""
    with pytest.raises(rankstone.UsageError) as caught:
        rankstone.parse_measure(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"catalogue_size": 0}, "catalogue_size=0"),
        (
            {"catalogue_size": 2},
            "4 distinct items in the lists, more than the catalogue has",
        ),
        ({"ties": "expected", "catalogue_size": 9}, "ties='expected'"),
        ({"missing": "zero", "catalogue_size": 9}, "missing has no effect"),
        ({"history": {}, "catalogue_size": 9}, "there are no queries"),
        ({"items": {"zz": 1}}, "no item of the run is in the table of items"),
        (
            {"qrels": {"nobody": {"a": 1}}, "catalogue_size": 9},
            "no user of the run is judged",
        ),
        ({"history": {"nobody": ["zz"]}, "catalogue_size": 9}, "no user and no item"),
    ],
)
def test_what_cannot_be(options: dict[str, Any], message: str) -> None:
    """Tables that do not fit the run, and options without a meaning here, are distinguished."""
    with pytest.raises(rankstone.RankstoneError) as caught:
        rankstone.beyond(RUN, "Coverage", **options)
    assert message in str(caught.value)


def test_tables_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    """An item in two rows, words for numbers, vectors of different lengths: what, where, what to do."""
    twice = pl.DataFrame({"doc_id": ["a", "a"], "category": ["x", "y"]})
    with pytest.raises(
        rankstone.InputError, match="doc_id a has several rows, which differ"
    ):
        rankstone.beyond(RUN, "ILD", items=twice)
    words = {"a": {"v": "1.5"}, "b": {"v": "many"}, "c": {"v": "2"}}
    with pytest.raises(rankstone.InputError, match="v 'many' is not a number"):
        rankstone.beyond(RUN, "ILD(features=v, distance=euclidean)", items=words)
    uneven = {"a": {"v": [1.0, 2.0]}, "b": {"v": [1.0]}}
    with pytest.raises(rankstone.InputError, match="lists of 1 to 2 numbers"):
        rankstone.beyond(RUN, "ILD(features=v)", items=uneven)
    endless = {"a": {"v": 1.0}, "b": {"v": float("inf")}}
    with pytest.raises(rankstone.InputError, match="v holds an infinite number"):
        rankstone.beyond(RUN, "ILD(features=v)", items=endless)
    file = tmp_path / "items.txt"
    file.write_text("a x\n")
    with pytest.raises(
        rankstone.InputError, match="a table with column names is needed"
    ):
        rankstone.beyond(RUN, "ILD", items=str(file))
    with pytest.raises(rankstone.InputError, match="there is no column weight"):
        rankstone.beyond(
            RUN,
            "Calibration(category=category, weight=weight)",
            items=ITEMS,
            history=pl.DataFrame({"query_id": ["u1"], "doc_id": ["a"]}),
        )


# -- what is reported ------------------------------------------------------------------------------
def test_notes_tell_what_is_unknown() -> None:
    """Unknown items, users without a past or a list, ties: each is counted."""
    run = pl.DataFrame(
        {
            "query_id": ["u1", "u1", "u1", "u2"],
            "doc_id": ["a", "b", "zz", "a"],
            "score": [1.0, 1.0, 0.5, 1.0],
        }
    )
    qualities = rankstone.beyond(
        run,
        "Coverage",
        items=ITEMS,
        history={"u1": ["a"]},
        users={"u1": 1, "u2": 2, "u3": 3},
    )
    line = qualities.audit.lines()[-1]

    assert "2 lists × 1–3 counted items, 3 distinct" in line
    assert "2 tied rows" in line
    assert "1 item (25.0% of rows) not in the table of items" in line
    assert "2 items (50.0% of rows) not in the history" in line
    assert "1 user without a history" in line
    assert "1 user without a list" in line
    assert qualities.audit.lines()[0] == "catalogue  4 items (table of items)"


def test_undefined_is_a_state() -> None:
    """A user without a value has none, is counted, and spoils no mean."""
    qualities = rankstone.beyond(RUN, "ILD(features=v)", items=ITEMS)
    scored = qualities.per_query.filter(query_id="u2")

    assert scored["value"].to_list() == [None]
    assert scored["status"].to_list() == ["undefined"]
    assert qualities.mean()["n_undefined"][0] == 1
    assert only(qualities)["ILD(features=v)"] == pytest.approx(
        (1 + 2 * (1 - 1 / 2**0.5)) / 3
    )


def test_users_without_a_relevant_item_count_zero() -> None:
    """As in an evaluation; the mean without them is at hand."""
    qualities = rankstone.beyond(
        RUN, "EPC@2", history=PAST, qrels={"u1": {"a": 1}, "u2": {"a": 0}}
    )

    assert qualities.per_query["status"].to_list() == ["ok", "no_relevant"]
    assert qualities.mean(without=["no_relevant"])["value"][0] == pytest.approx(
        2 * (only(qualities)["EPC@2"] or 0)
    )


def test_the_usual_measures_are_those_the_tables_allow() -> None:
    """Without measures, what can be computed is."""
    assert list(only(rankstone.beyond(RUN))) == [
        "UserCoverage@10",
        "Entropy(scale=effective)@10",
        "Personalization@10",
    ]
    every = rankstone.beyond(RUN, items=ITEMS, history=PAST, qrels=QRELS)
    assert {
        "Coverage@10",
        "Novelty@10",
        "Calibration@10",
        "DP@10",
        "EUR@10",
        "Serendipity@10",
    } <= set(only(every))


def test_results_are_written_and_printed(tmp_path: Path) -> None:
    """Values per user go to files, everything to JSON, a table to people."""
    qualities = rankstone.beyond(
        RUN, "Coverage Novelty", catalogue_size=9, history=PAST
    )
    qualities.write(tmp_path / "users.csv")
    qualities.write(tmp_path / "users.parquet")
    qualities.write(tmp_path / "all.json")

    assert pl.read_csv(tmp_path / "users.csv")["measure"].to_list() == [
        "Novelty",
        "Novelty",
    ]
    assert pl.read_parquet(tmp_path / "users.parquet").equals(qualities.per_query)
    parsed = json.loads((tmp_path / "all.json").read_text())
    assert parsed["runs"]["run"] == only(qualities)
    assert parsed["audit"]["runs"]["run"]["unknown"]["history"] == [1, 1 / 5]
    assert "Coverage" in repr(qualities)
    assert "9 items (as given)" in repr(qualities)
    assert qualities._repr_html_()


@each("text", ALL)
def test_cards_are_complete(text: str) -> None:
    """Every measure says what it needs, when it is undefined, how others differ and who thought of it."""
    card = type(rankstone.parse_measure(text)).card
    lines = (
        "sentence",
        "formula",
        "symbols",
        "example",
        "needs",
        "undefined",
        "sensitive",
        "use",
        "citation",
    )
    for line in lines:
        assert getattr(card, line), line
    assert card.sentence.endswith("?")
    assert card.peers
    assert card.direction in {"higher", "lower", "neither"}


def test_memory_is_bounded_by_what_counts() -> None:
    """Items below the deepest cutoff are never given numbers."""
    run = {f"u{n}": [f"i{n}-{r}" for r in range(50)] for n in range(20)}
    qualities = rankstone.beyond(run, "Entropy@1", catalogue_size=10_000)

    notes: Any = qualities.audit.runs["run"]
    assert notes.shown == 20
    assert only(qualities) == {"Entropy@1": pytest.approx(np.log2(20))}


def test_means_by_users_need_values_of_users() -> None:
    """A measure of whole runs has no mean over some users; beside one that has, it is left out."""
    about = {"u1": {"plan": "free"}, "u2": {"plan": "paid"}}
    qualities = rankstone.beyond(RUN, "Personalization", users=about)
    with pytest.raises(
        rankstone.UsageError,
        match="no means by plan: Personalization describes whole runs",
    ):
        qualities.mean(by="plan")
    both = rankstone.beyond(
        RUN, "Personalization Popularity", users=about, history={"u1": ["a"]}
    )
    assert both.mean(by="plan")["measure"].unique().to_list() == ["Popularity"]


def test_a_divider_divides() -> None:
    """Categories are divided by a text, not by nothing."""
    with pytest.raises(rankstone.UsageError, match="separator='' is empty"):
        rankstone.beyond(RUN, "Coverage", items=ITEMS, separator="")


# -- the same whoever was first ------------------------------------------------------------------------
def test_equal_items_are_distinguished_by_id() -> None:
    """Items that add the same to a value are listed by id, not by which was read first."""
    run = {"u1": ["z", "b", "y"], "u2": ["b", "a", "x"]}
    lists = rankstone.beyond(run, "Coverage@3 Gini@3 Entropy@3", catalogue_size=5)

    def listed_items(measure: str) -> list[str]:
        return lists.explain(measure).tables[0].frame["item"].to_list()

    assert (
        listed_items("Coverage@3")
        == listed_items("Entropy@3")
        == ["b", "a", "x", "y", "z"]
    )
    # 1, 1, 1, 1, 2 showings: places 1 to 5 from the bottom, by id among equals; weights 2j − m − 1
    places = (
        lists.explain("Gini@3").tables[0].frame.select("item", "place").sort("place")
    )
    assert places["item"].to_list() == ["a", "x", "y", "z", "b"]


def test_numbers_of_ids_do_not_depend_on_threads() -> None:
    """Ids that another thread marked first are numbered in the order in which they stand."""
    codes = Codes()
    codes.categories(pl.Series(["c", "b"]))
    numbers = codes.of(pl.Series(["a", "b", "a", "c"]))

    assert numbers.tolist() == [0, 1, 0, 2]
    assert codes.of(pl.Series(["d", "c", "d"])).tolist() == [3, 2, 3]
    assert codes.ids(np.array([3, 0, 2], np.uint32)).to_list() == ["d", "a", "c"]
    assert len(codes) == len("abcd")


@pytest.mark.parametrize("slow", ["history", "run"])
def test_the_past_is_numbered_first(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The past and the first run are read at once; whichever is slower, the past has the first numbers."""
    kept: list[Codes] = []
    read = getattr(Opener, slow)

    def late(self: Opener, *value: Any, **more: Any) -> Any:
        time.sleep(0.2)
        return read(self, *value, **more)

    class Kept(Codes):
        def __init__(self) -> None:
            super().__init__()
            kept.append(self)

    monkeypatch.setattr(Opener, slow, late)
    monkeypatch.setattr(beyond_accuracy, "Codes", Kept)
    run, past = {"u1": ["a", "b"], "u2": ["c", "a"]}, {"u2": ["z", "b"], "u3": ["y"]}
    rankstone.beyond(run, "Unexpectedness@2", history=past)
    numbered = [
        codes.ids(np.arange(len(codes), dtype=np.uint32)).to_list() for codes in kept
    ]

    assert numbered == [["z", "b", "y", "a", "c"], ["u2", "u3", "u1"]]


def test_sums_over_a_past_are_the_same_bits_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums over the past of users, of shares of categories and of vectors, do not depend on who was first."""
    draw, users, items = np.random.default_rng(3), 400, 900
    seen = pl.DataFrame(
        {
            "query_id": draw.integers(0, users, 40_000),
            "doc_id": draw.integers(0, items, 40_000),
        }
    )
    seen = seen.select(
        pl.format("{}{}", pl.lit(n[0]), n).alias(n) for n in seen.columns
    )
    seen.unique(maintain_order=True).write_parquet(
        tmp_path / "past.parquet", row_group_size=500
    )
    shown = [draw.choice(items, 10, replace=False) for _ in range(users)]
    run = {
        f"q{user}": [f"d{item}" for item in listed] for user, listed in enumerate(shown)
    }
    kinds = [
        [
            f"c{position}"
            for position in draw.choice(20, draw.integers(1, 6), replace=False)
        ]
        for _ in range(items)
    ]
    table = {
        f"d{i}": {"category": "|".join(kinds[i]), "v": draw.normal(size=8).tolist()}
        for i in range(items)
    }
    qrels = {query: {listed[3]: 1} for query, listed in run.items()}

    def values() -> list[float]:
        scores = rankstone.beyond(
            run,
            "Calibration@10 Serendipity(features=v)@10",
            history=str(tmp_path / "past.parquet"),
            items=table,
            qrels=qrels,
        )
        return scores.per_query["value"].to_list()

    class ReadByAnother(Codes):
        """Ids of which another thread has met some already."""

        def __init__(self) -> None:
            super().__init__()
            self.kept = pl.Series(sorted(table, reverse=True)).cast(self._kind)

    first = values()
    monkeypatch.setattr(
        "rankstone.rankings.recommendation.beyond_accuracy.Codes", ReadByAnother
    )
    assert values() == first
