"""Conventions of whole lists: the data files, what is refused, and what stands on the cards of replays."""

from __future__ import annotations

import re
from math import log, log2, sqrt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.rows import each

import rankstone
from rankstone.cli import cli
from rankstone.conventions import Convention, Entry, convention, conventions
from rankstone.conventions.library_convention import named
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    RankstoneError,
    UnknownMeasure,
    UsageError,
)
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.measures import Measure
from rankstone.rankings.rank_similarity.list_ordering import ordering_options

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = [
    (item, entry) for item in conventions() for entry in item.entries if entry.of_lists
]
PAST = {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "c"]}
RUN = {"u1": ["c", "d"], "u2": ["c", "e"], "u3": ["b", "d"]}
ITEMS = pl.DataFrame({"doc_id": list("abcde"), "category": ["x", "x", "y", "y", "z"]})


def by(
    library: str, measures: str | None = None, **options: Any
) -> dict[str, float | None]:
    tables: dict[str, Any] = {"history": PAST, "items": ITEMS}
    qualities = rankstone.beyond(
        {"r": RUN}, measures, convention=library, **{**tables, **options}
    )
    return qualities.to_dict()["r"]


@each(
    ("result", "entry"),
    ENTRIES,
    ids=lambda v: str(v) if isinstance(v, Convention) else v.spelling,
)
def test_an_entry_is_a_measure_of_whole_lists(result: Convention, entry: Entry) -> None:
    """Every measure can be made, under options of order and of judgments that exist."""
    text = re.sub(r"<\w+>", "7", entry.spelling)
    (reading,) = result.read([text])
    judging = {
        name: reading.options[name] for name in ("negative",) if name in reading.options
    }
    ordering_options(
        {name: value for name, value in reading.options.items() if name not in judging}
    )
    AlignmentOptions(**judging)
    assert str(reading.measure) == text
    assert not isinstance(reading.measure, Measure)
    assert entry.options.get("empty", "zero") in {"zero", "drop"}
    assert ("<k>" in entry.ours) == (reading.measure.k == 7)
    for refusal in entry.refuses:
        assert not isinstance(named(refusal.measure), Measure)


@each(
    ("library", "measure", "options", "error", "message"),
    [
        (
            "rectools",
            "NDCG@2",
            {},
            BadParameter,
            "NDCG@2 of RecTools measures lists against judgments",
        ),
        (
            "rectools",
            "NDCG@2",
            {},
            BadParameter,
            "rankstone.evaluate with the same convention",
        ),
        (
            "xgboost",
            None,
            {},
            UsageError,
            "no measure beyond accuracy of XGBoost is known",
        ),
        (
            "rectools",
            "MeanInvUserFrequency@2",
            {},
            UnknownMeasure,
            "did you mean MeanInvUserFreq@<k>",
        ),
        (
            "rectools",
            "Coverage(outside=drop)@2",
            {},
            BadParameter,
            "RecTools decides the parameters",
        ),
        (
            "rectools",
            "MeanInvUserFreq@2",
            {"ties": "error"},
            BadOption,
            "RecTools decides ties",
        ),
        (
            "rectools",
            "MeanInvUserFreq@2",
            {"duplicates": "first_drop"},
            BadOption,
            "decides duplicates",
        ),
        (
            "rectools",
            "MeanInvUserFreq@2",
            {"history": None},
            BadOption,
            "MeanInvUserFreq@2 needs past",
        ),
        (
            "replay",
            "Unexpectedness@2",
            {},
            BadOption,
            "Unexpectedness@2 needs lists to compare with",
        ),
        (
            "recommenders",
            "novelty",
            {"history": {"u1": ["a", "c"]}},
            BadValue,
            "a list with an item from its user's history",
        ),
        (
            "recommenders",
            "diversity(item_sim_measure='item_feature_vector')",
            {},
            RankstoneError,
            "the category 'x' is not a number",
        ),
    ],
)
def test_what_a_library_cannot_say_is_refused(
    library: str,
    measure: str,
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """Nothing is ignored: names, parameters, options, tables that are not there, lists it refuses."""
    with pytest.raises(error, match=re.escape(message)):
        by(library, measure, **options)


def test_evaluation_sends_measures_of_whole_lists_elsewhere() -> None:
    """What is no measure of judgments says who computes it; libraries side by side leave it out."""
    qrels = {"u1": {"c": 1}}
    message = re.escape("MeanInvUserFreq@2 of RecTools measures whole lists")
    with pytest.raises(BadParameter, match=message):
        rankstone.evaluate(qrels, RUN, "MeanInvUserFreq@2", convention="rectools")
    table = pl.DataFrame({"query_id": ["u"], "score": [1.0], "label": [1]})
    with pytest.raises(
        BadParameter, match=re.escape("rankstone.beyond with the same convention")
    ):
        rankstone.evaluate(
            table=table, measures="MeanInvUserFreq@2", convention="rectools"
        )


def test_everything_that_the_tables_allow() -> None:
    """Without measures come all of them, in the order of the data file; none at all is stated."""
    values = by("rectools")
    assert list(values)[:3] == [
        "CatalogCoverage@10",
        "CatalogCoverage@10[normalize=True]",
        "MeanInvUserFreq@10",
    ]
    assert "Serendipity@10" not in values
    assert "Serendipity@10" in by("rectools", qrels={"u1": {"c": 1}})
    assert "SufficientReco@10" in convention("rectools").everything(of_lists=True)
    assert "SufficientReco@10" not in convention("rectools").everything()
    with pytest.raises(
        UsageError, match="no measure of RePlay can be computed from what is given"
    ):
        rankstone.beyond(RUN, convention="replay")


def test_orders_of_several_kinds_stand_side_by_side() -> None:
    """Tied items stay where they are in one spelling, and stand by their ids in the other."""
    run = pl.DataFrame(
        {"query_id": ["u", "u"], "doc_id": ["a", "b"], "score": [1.0, 1.0]}
    )
    texts = ["Surprisal@1", "Coverage@1", "Surprisal@1[pandas]"]
    past = {"u": ["a"], "v": ["a", "b"], "w": ["a"], "x": ["a"]}
    qualities = rankstone.beyond(run, texts, history=past, convention="replay")
    assert qualities.to_dict()["run"] == {
        "Surprisal@1": log2(4 / 4) / log2(4),
        "Coverage@1": 1 / 2,
        "Surprisal@1[pandas]": log2(4 / 1) / log2(4),
    }
    assert qualities.per_query["measure"].to_list() == [
        "Surprisal@1",
        "Surprisal@1[pandas]",
    ]
    assert (
        qualities.conventions["meaning"]["Surprisal@1"]["ours"]
        == "Novelty(scale=share, denom=k)@1"
    )


def test_numbers_are_rounded_where_the_library_rounds() -> None:
    """RecBole gives four decimals, of a run's value and of a mean."""
    values = by("recbole", "itemcoverage@1 averagepopularity@2")
    assert values == {
        "itemcoverage@1": round(2 / 6, 4),
        "averagepopularity@2": round(4 / 6, 4),
    }


def test_users_that_do_not_count() -> None:
    """Elliot averages over users with something relevant, RecTools over all that have a list."""
    qrels = {"u1": {"c": 1}, "u2": {"a": 0}}
    assert by("elliot", "EPC@1", qrels=qrels)["EPC@1"] == 1 - 1 / 3
    assert by("rectools", "Serendipity@1", qrels=qrels)[
        "Serendipity@1"
    ] == pytest.approx((1 - 3 / 5) / 3)


def test_groups_of_users_under_a_librarys_names() -> None:
    """Gaps between groups know a measure that has no name of ours."""
    users = {"u1": "old", "u2": "new", "u3": "new"}
    scores = rankstone.beyond(RUN, "Surprisal@2", history=PAST, convention="replay")
    gaps = rankstone.rankings.group_gaps(scores, "group", users=users)
    assert gaps["measure"].to_list() == ["Surprisal@2"]
    assert gaps["worst_group"].to_list() == ["new"]


#: the example on the card of each replay: measure, run, tables, the value as a formula
CARDS: list[tuple[str, dict[str, Any], dict[str, Any], float]] = [
    (
        "rectools.Intersection@2",
        {"u": ["a", "b"]},
        {"baseline": {"u": ["b", "c"]}},
        1 / 2,
    ),
    ("rectools.SufficientReco@2", {"u": ["a"]}, {}, 1 / 2),
    (
        "replay.Novelty@2",
        {"u": ["a", "b"]},
        {"history": {"u": ["a"], "v": ["a"]}},
        (1 / 2 + 1) / 2,
    ),
    (
        "replay.CategoricalDiversity@4",
        {"u": ["i", "j", "k"]},
        {
            "items": {
                "i": {"category": "a"},
                "j": {"category": "a"},
                "k": {"category": "b"},
            }
        },
        2 / 4,
    ),
    (
        "recbole.ShannonEntropy",
        {"1": ["a", "b"], "2": ["a", "c"]},
        {},
        (1 / 2 * log(2) + 1 / 2 * log(4)) / 3,
    ),
    (
        "recbole.TailPercentage@5",
        {"u": ["j", "a", "b", "c", "d"]},
        {"history": {"1": list("abcdefghij"), "2": list("abcdefghi")}},
        1 / 5,
    ),
    ("recbole.ItemCoverage@2", {"u": ["a", "b"]}, {"catalogue_size": 4}, 2 / (4 + 1)),
    (
        "recbole.GiniIndex@1",
        {"u": ["a"], "v": ["b"], "w": ["b"]},
        {"catalogue_size": 2},
        (0 * 1 + 2 * 2) / (3 * 3),
    ),
    (
        "elliot.SEntropy",
        {"u": ["a", "b"], "v": ["a"]},
        {},
        ((-log2(2 / 3) - log2(1 / 3)) / 2 - log2(2 / 3)) / 2,
    ),
    ("elliot.Gini", {"u": ["a"]}, {"catalogue_size": 2}, 1 - 1),
    (
        "evidently.Personalization@2",
        {"u": ["a", "b"], "v": ["a"]},
        {},
        1 - (5 - 4) / (2 * 2 * 1),
    ),
    (
        "evidently.Serendipity@2",
        {"u": ["a", "b"]},
        {
            "history": {"u": ["x", "y"]},
            "qrels": {"u": {"a": 1, "b": 1}},
            # likenesses 1 and 0 of a, 1 and 1/2 of b: means 1/2 and 3/4
            "items": {
                "x": {"features": [1.0, 0.0]},
                "y": {"features": [0.5, -sqrt(3 / 4)]},
                "a": {"features": [sqrt(3 / 4), 0.5]},
                "b": {"features": [1.0, 0.0]},
            },
        },
        1 - (sqrt(3 / 4) / 2 + 3 / 4),
    ),
    (
        "lenskit.CategoryEntropy",
        {"u": ["i", "j", "k", "l"]},
        {
            "items": {
                item: {"category": what}
                for item, what in zip("ijkl", "aabb", strict=True)
            }
        },
        1.0,
    ),
    ("recommenders.AllNew", {"u": ["a", "b"]}, {"history": {"u": ["b"]}}, 0.0),
    (
        "recommenders.Diversity",
        {"u": ["a", "b"]},
        {"history": {"1": ["a", "b"], "2": ["a"], "3": ["b"]}},
        1 - 1 / sqrt(2 * 2),
    ),
    (
        "recommenders.Serendipity",
        {"u": ["i"]},
        {"history": {"u": ["x", "y"], "2": ["i", "x"], "3": ["i"]}},
        1 - (1 / sqrt(2 * 2) + 0) / 2,
    ),
]


@each(("text", "run", "tables", "value"), CARDS)
def test_the_example_of_a_replays_card(
    text: str, run: dict[str, Any], tables: dict[str, Any], value: float
) -> None:
    """A replay does what its card says."""
    measure = named(f"replay:{text}")
    row = rankstone.beyond(run, [measure], **tables).to_dict()["run"][str(measure)]
    assert row == pytest.approx(value)


def test_the_command_line_prints_a_librarys_numbers(tmp_path: Path) -> None:
    """`beyond --convention` prints numbers and what they mean; `conventions show` tells them apart."""
    run, past = tmp_path / "recs.csv", tmp_path / "train.csv"
    for path, lists in ((run, RUN), (past, PAST)):
        rows = [f"{u},{i}\n" for u, items in lists.items() for i in items]
        path.write_text("query_id,doc_id\n" + "".join(rows), encoding="utf-8")

    def shown(*arguments: object) -> str:
        done = CliRunner().invoke(cli, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    line = (
        "beyond",
        run,
        "--history",
        past,
        "--order",
        "input",
        "--convention",
        "rectools",
    )
    printed = shown(*line, "-m", "MeanInvUserFreq@2")
    assert "1.4183" in printed
    assert "MeanInvUserFreq@2 is Novelty@2 with ties=input" in printed
    assert "AvgRecPopularity@10[normalize=True]" in shown(*line)
    page = shown("conventions", "show", "rectools")
    assert page.index("beyond accuracy: rankstone beyond RUN") < page.index(
        "CatalogCoverage@<k>"
    )
