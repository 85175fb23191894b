"""The example on each card, and worked numbers from papers and peers' documentation, as formulas."""

from __future__ import annotations

from math import log, log2, sqrt
from typing import Any

import pytest
from tests.rows import each

import rankstone

#: measure → run, tables, the value as a formula
CARDS: dict[str, tuple[dict[str, Any], dict[str, Any], float]] = {
    "Coverage": ({"u": ["a", "b"], "v": ["a", "c"]}, {"catalogue_size": 5}, 3 / 5),
    "UserCoverage": (
        {"u": ["a", "b"], "v": ["a"]},
        {"users": {"u": 1, "v": 1, "w": 1}},
        2 / 3,
    ),
    "UserCoverage(at_least=k)@2": (
        {"u": ["a", "b"], "v": ["a"]},
        {"users": {"u": 1, "v": 1, "w": 1}},
        1 / 3,
    ),
    "Gini": (
        {"u": ["b"], "v": ["c"], "w": ["c"], "x": ["c"]},
        {"catalogue_size": 3},
        (-2 * 0 + 0 * 1 + 2 * 3) / (2 * 4),
    ),
    "Entropy": (
        {"u": ["a"], "v": ["a"], "w": ["b"], "x": ["c"]},
        {},
        1 / 2 * 1 + 1 / 4 * 2 + 1 / 4 * 2,
    ),
    "Entropy(scale=effective)": (
        {"u": ["a"], "v": ["a"], "w": ["b"], "x": ["c"]},
        {},
        2**1.5,
    ),
    "Personalization": (
        {"u": ["a", "b"], "v": ["a", "c"], "w": ["b", "d"]},
        {},
        1 - (2 + 2) / (2 * 3 * 2),
    ),
    "Novelty": (
        {"u": ["a", "b"]},
        {"history": {"1": ["a", "b"], "2": ["b"], "3": ["c"], "4": ["c"]}},
        3 / 2,
    ),
    "EPC": (
        {"u": ["a"]},
        {
            "history": {"1": ["a"], "2": ["b"], "3": ["b"], "4": ["b"]},
            "qrels": {"u": {"a": 1}},
        },
        3 / 4,
    ),
    "EFD": (
        {"u": ["a"]},
        {
            "history": {"1": ["a"], "2": ["b"], "3": ["b"], "4": ["b"]},
            "qrels": {"u": {"a": 1}},
        },
        log2(4),
    ),
    "Unexpectedness": (
        {"u": ["a", "b", "c", "x", "y"]},
        {"history": {"1": ["a", "b", "c", "d", "e"]}},
        2 / 5,
    ),
    "Serendipity": (
        {"u": ["b", "c"]},
        {
            "history": {"1": ["a", "b", "c"], "2": ["a", "b"], "3": ["a"]},
            "qrels": {"u": {"b": 1, "c": 1}},
            "catalogue_size": 4,
        },
        (4 / 4 - 3 / 4 + 3 / 4 - 2 / 4) / 2,
    ),
    "Popularity": (
        {"u": ["a", "b"]},
        {"items": {"a": {"popularity": 30}, "b": {"popularity": 10}}},
        (30 + 10) / 2,
    ),
    "APLT": (
        {"u": ["a", "b", "c", "x", "y"]},
        {"history": {"1": ["a", "b", "c"], "2": ["a", "b", "c"]}},
        2 / 5,
    ),
    "ACLT": (
        {"u": ["a", "b", "c", "x", "y"]},
        {"history": {"1": ["a", "b", "c"], "2": ["a", "b", "c"]}},
        2.0,
    ),
    "PopularityLift": (
        {"u": ["a"], "v": ["b", "c"]},
        # a, b and c were met by 3 users; the pasts of u and v have means 2 and 1, their lists 3 and 3
        {
            "history": {
                "u": ["a", "x"],
                "v": ["y", "z"],
                "1": ["a", "b", "c"],
                "2": ["a", "b", "c"],
                "3": ["b", "c"],
            }
        },
        (3 - 1.5) / 1.5,
    ),
    "ILD(distance=jaccard)": (
        {"u": ["a", "b", "c"]},
        {"items": {"a": {"genre": "x"}, "b": {"genre": "x|y"}, "c": {"genre": "z"}}},
        (1 / 2 + 1 + 1) / 3,
    ),
    "ILS(similarity=jaccard)": (
        {"u": ["a", "b", "c"]},
        {"items": {"a": {"genre": "x"}, "b": {"genre": "x|y"}, "c": {"genre": "z"}}},
        (1 / 2 + 0 + 0) / 3,
    ),
    "Calibration(distance=hellinger)": (
        {"u": ["a"]},
        {
            "history": {"u": ["a", "b"]},
            "items": {"a": {"genre": "x"}, "b": {"genre": "y"}},
        },
        sqrt(((sqrt(1 / 2) - 1) ** 2 + 1 / 2) / 2),
    ),
    "DP": (
        {"u": ["a", "b", "c"]},
        {
            "items": {
                "a": {"group": "G"},
                "b": {"group": "rest"},
                "c": {"group": "rest"},
            }
        },
        1 / ((1 / log2(3) + 1 / log2(4)) / 2),
    ),
    "RUR(protected=G)": (
        {"u": ["a", "x", "b"]},
        {
            "items": {"a": {"group": "G"}, "b": {"group": "rest"}},
            "qrels": {"u": {"a": 1, "b": 1}},
        },
        1 / (1 / log2(4)),
    ),
    "AWRF(distance=l1, discount=geometric, p=0.3333333333333333)": (
        {"u": ["a", "b"]},
        {"items": {"a": {"group": "g"}, "b": {"group": "h"}}},
        1 - (1 / 4 + 1 / 4) / 2,
    ),
    "IAA(discount=geometric, p=0.3333333333333333)": (
        {"u": ["a", "b"]},
        {"qrels": {"u": {"a": 1, "c": 1}}},
        1 / 4 + 1 / 4 + 1 / 2,
    ),
    "EEL@1": (
        {"u": ["a"]},
        {"items": {"a": 1, "b": 1}, "qrels": {"u": {"b": 1}}},
        (1 - 0) ** 2 + (0 - 1) ** 2,
    ),
    "EED": ({"u": ["a", "b"]}, {"items": {"a": 1, "b": 1}}, 1 + (1 / log2(3)) ** 2),
    "EER@1": (
        {"u": ["a"]},
        {"items": {"a": 1, "b": 1}, "qrels": {"u": {"a": 1}}},
        2 * 1 * 1,
    ),
    "REO": (
        {"u": ["a1", "b1", "b2", "b3"]},
        {
            "items": {
                **{f"a{n}": "g" for n in range(1, 3)},
                **{f"b{n}": "h" for n in range(1, 11)},
            },
            "qrels": {
                "u": {
                    **{f"a{n}": 1 for n in range(1, 3)},
                    **{f"b{n}": 1 for n in range(1, 11)},
                }
            },
        },
        0.1 / 0.4,
    ),
    "RSP": (
        {"u": ["a1", "a2", "a3", "b1"]},
        {
            "items": {
                **{f"a{n}": "g" for n in range(1, 11)},
                **{f"b{n}": "h" for n in range(1, 11)},
            }
        },
        0.1 / 0.2,
    ),
}


@each("text", list(CARDS))
def test_the_example_of_the_card(text: str) -> None:
    """What the card works out on paper is what comes out."""
    run, tables, expected = CARDS[text]
    assert rankstone.beyond(run, text, **tables).to_dict()["run"][
        text
    ] == pytest.approx(expected, abs=1e-12)


#: RecTools' own documentation, 0.19: IntraListDiversity, MeanInvUserFreq, Serendipity, AvgRecPopularity
RECTOOLS: dict[str, tuple[dict[str, Any], dict[str, Any], list[float]]] = {
    "Novelty@1": (
        {"1": ["3"], "2": ["2", "3"], "3": ["1", "2"]},
        {"history": {"1": ["1", "2"], "2": ["1"], "3": ["1"]}},
        [log2(3), log2(3), 0.0],
    ),
    "Novelty@3": (
        {"1": ["3"], "2": ["2", "3"], "3": ["1", "2"]},
        {"history": {"1": ["1", "2"], "2": ["1"], "3": ["1"]}},
        [log2(3), log2(3), log2(3) / 2],
    ),
    "Popularity(count=records)@3": (
        {"1": ["1", "2"], "2": ["3", "1", "2"], "3": ["3", "2"]},
        {"history": {"1": ["1", "2"], "2": ["1", "3"], "3": ["1", "2"]}},
        [(3 + 2) / 2, (1 + 3 + 2) / 3, (1 + 2) / 2],
    ),
    "Serendipity@1": (
        {"u1": ["i1", "i2"], "u2": ["i2", "i3"], "u3": ["i3"], "u4": ["i2", "i3"]},
        {
            "history": {"u1": ["i1", "i2"], "u2": ["i1", "i2"], "u3": ["i1"]},
            "qrels": {
                "u1": {"i1": 1, "i2": 1},
                "u2": {"i2": 1, "i3": 1},
                "u3": {"i2": 1},
                "u4": {"i2": 1},
            },
            "catalogue_size": 4,
        },
        [0.0, 0.25, 0.0, 0.25],
    ),
    "Serendipity@2": (
        {"u1": ["i1", "i2"], "u2": ["i2", "i3"], "u3": ["i3"], "u4": ["i2", "i3"]},
        {
            "history": {"u1": ["i1", "i2"], "u2": ["i1", "i2"], "u3": ["i1"]},
            "qrels": {
                "u1": {"i1": 1, "i2": 1},
                "u2": {"i2": 1, "i3": 1},
                "u3": {"i2": 1},
                "u4": {"i2": 1},
            },
            "catalogue_size": 4,
        },
        [0.0, 0.5, 0.0, 0.125],
    ),
    "ILD(features=a+b, distance=hamming)@3": (
        {"1": ["1", "2", "3"], "2": ["1", "4"]},
        {
            "items": {
                "1": {"a": 0, "b": 0},
                "2": {"a": 0, "b": 1},
                "3": {"a": 1, "b": 1},
                "4": {"a": 0, "b": 0},
            }
        },
        [(1 + 2 + 1) / 3, 0.0],
    ),
}


@pytest.mark.parametrize("text", list(RECTOOLS))
def test_the_documentation_of_rectools(text: str) -> None:
    """Values user by user, as RecTools' documentation prints them."""
    run, tables, expected = RECTOOLS[text]
    listed = rankstone.beyond(run, text, **tables).per_query["value"].to_list()
    assert listed == pytest.approx(expected)


def test_steck_on_calibration() -> None:
    """70 % romance and 30 % action in the past, only romance in the list."""
    past = {"u": [f"r{n}" for n in range(7)] + [f"a{n}" for n in range(3)]}
    items = {
        item: {"genre": "romance" if item[0] == "r" else "action"}
        for item in [*past["u"], "rr"]
    }
    value = rankstone.beyond(
        {"u": ["rr"]}, "Calibration", items=items, history=past
    ).to_dict()["run"]
    kept = 0.99 * 1 + 0.01 * 0.7

    assert value["Calibration"] == pytest.approx(
        0.7 * log(0.7 / kept) + 0.3 * log(0.3 / (0.01 * 0.3))
    )
