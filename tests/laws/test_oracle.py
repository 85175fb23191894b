"""The engine against the slow, obvious derivation, over random small worlds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.table import FAMILIES, GROUPS, MARKED, PADDED, TABLES, measure, refused
from tests.oracle.worlds import WHOLE, World, differences, options, worlds

#: a document that counts twice takes most other measures out of their range, which is refused
COPIES_STAY_IN_RANGE = (
    "P",
    "P@3",
    "P(denom=n)@4",
    "Success@1",
    "RR",
    "AP(denom=k)@3",
    "DCG(gain=exp2)",
    "CG@3",
)


def agree(world: World, measures: tuple[str, ...]) -> None:
    """Fail with every value in which engine and oracle differ.

    Signed gains are left to DCG: an ideal list that sums to nothing or less is no norm.
    """
    if world.options.get("negative") == "keep":
        measures = tuple(
            text for text in measures if "nDCG" not in text and "nsDCG" not in text
        )
    if options_make_zeros(world.options):
        measures = tuple(text for text in measures if text not in MARKED)
    measures = tuple(text for text in measures if not refused(text, world.options))
    lines = differences(world, measures) if measures else []
    assert not lines, "\n".join([f"{len(lines)} differences", *lines[:12]])


def options_make_zeros(chosen: dict[str, Any]) -> bool:
    """Return whether grades below 0 become 0, which no mark was written beside."""
    return chosen.get("negative") == "zero"


def allowed(family: tuple[str, ...], ties: str) -> tuple[str, ...]:
    """Return the measures whose value under a rule for ties is known."""
    if ties == "expected":
        return tuple(text for text in family if measure(text).claims.closed_under_ties)
    if ties in ("best", "worst"):
        return tuple(
            text for text in family if measure(text).claims.extremal_under_ties
        )
    return family


@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(world=worlds(negative=False))
def test_the_defaults_are_the_textbook(family: tuple[str, ...], world: World) -> None:
    """With default options every measure equals its formula written out."""
    agree(world, family)


@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(
    world=worlds(),
    chosen=options(
        "order", "score_dtype", "ties", "missing", "extra", "empty", "negative"
    ),
)
def test_order_and_queries(
    family: tuple[str, ...], world: World, chosen: dict[str, Any]
) -> None:
    """Every rule for order, ties, missing, extra and empty queries and negative grades is what it says."""
    agree(world.under(**chosen), family)


@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(world=worlds(), chosen=options("unjudged", "depth", "negative", "extra", "ties"))
def test_unjudged_and_depth(
    family: tuple[str, ...], world: World, chosen: dict[str, Any]
) -> None:
    """Condensing, imputing (the ideal treated alike) and cutting the lists do what they say."""
    agree(world.under(**chosen), family)


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(
    world=worlds(longest=4), chosen=options("unjudged", "empty", "negative", "extra")
)
def test_open_ties(
    family: tuple[str, ...], ties: str, world: World, chosen: dict[str, Any]
) -> None:
    """Expected, best and worst are the mean, maximum and minimum over all orders of the tied documents."""
    agree(world.under(ties=ties, **chosen), allowed(family, ties))


@pytest.mark.parametrize("ties", ["docid_desc", "expected"])
@given(
    world=worlds(grades=WHOLE, longest=4, negative=False),
    unjudged=st.sampled_from(["nonrelevant", 1, 0]),
)
def test_gain_tables(ties: str, world: World, unjudged: str | int) -> None:
    """A table of gains replaces the formula everywhere, in the ideal list too."""
    agree(world.under(ties=ties, unjudged=unjudged), allowed(TABLES, ties))


@given(world=worlds(negative=False), chosen=options("unjudged", "depth", "empty"))
def test_padding_with_the_lowest_grade(world: World, chosen: dict[str, Any]) -> None:
    """pad=min_grade fills the ranks behind a short list with the lowest grade of the judgments."""
    agree(
        world.under(**chosen),
        ("DCG(pad=min_grade)@8", "CG(gain=exp2, pad=min_grade)@4"),
    )


@pytest.mark.parametrize(
    "duplicates", ["first_keep_rank", "first_drop", "last_drop", "keep"]
)
@given(data=st.data(), chosen=options("ties", "depth", "unjudged", "order"))
def test_duplicates(
    duplicates: str, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    """Copies keep their rank and earn nothing, are removed, or count, as the option says."""
    world = data.draw(worlds(longest=4))
    copies = data.draw(st.lists(st.sampled_from(world.run), min_size=1, max_size=3))
    score = data.draw(st.sampled_from([4.0, 1.0, 0.0, -4.0]))
    run = [*world.run, *((query, doc, score) for query, doc, _ in copies)]
    twice = World(world.qrels, tuple(data.draw(st.permutations(run)))).under(
        duplicates=duplicates, **chosen
    )
    if duplicates == "keep" and chosen.get("unjudged") not in (
        "condensed",
        "condensed_keep_rank",
    ):
        twice = twice.under(
            unjudged="nonrelevant"
        )  # whether a copy's imputed grade is ideal twice is open
    family = [
        t for name in ("binary", "average precision", "ndcg") for t in FAMILIES[name]
    ]
    agree(twice, tuple(family) if duplicates != "keep" else COPIES_STAY_IN_RANGE)


@pytest.mark.parametrize("merge", ["max", "sum", "mean", "majority", "first", "last"])
@given(data=st.data(), chosen=options("negative"))
def test_duplicate_judgments(
    merge: str, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    """Several judgments of one pair become one grade, the way the option says."""
    world = data.draw(worlds(longest=4))
    again = data.draw(st.lists(st.sampled_from(world.qrels), min_size=1, max_size=6))
    more = [
        (query, doc, data.draw(st.sampled_from([0.0, 1.0, 2.0, -1.0])))
        for query, doc, _ in again
    ]
    qrels = data.draw(st.permutations([*world.qrels, *more]))
    twice = World(tuple(qrels), world.run).under(duplicate_judgments=merge, **chosen)
    agree(twice, ("nDCG@3", "AP", "DCG(gain=exp2)", "NumRel"))


@given(data=st.data(), chosen=options("ties", "unjudged", "depth"))
def test_exclude(data: st.DataObject, chosen: dict[str, Any]) -> None:
    """Excluded pairs leave the lists before anybody has a rank, and stay in the ideal list."""
    world = data.draw(worlds())
    pairs = sorted({(query, doc) for query, doc, _ in world.run}, key=str)
    out = data.draw(
        st.lists(st.sampled_from(pairs), min_size=1, max_size=6, unique=True)
    )
    excluding = World(world.qrels, world.run, chosen, tuple(out))
    agree(excluding, ("nDCG@3", "AP", "RR", "P@3", "R", "NumRet", "Judged@2"))


def test_padding_keeps_to_the_ideal_scale() -> None:
    """A padded rank earns no more than the ideal list has there: nDCG stays within 1."""
    world = World(
        (("q", "a", 2.0), ("q", "b", 1.0)), (("q", "a", 2.0), ("q", "b", 1.0))
    )
    for text in PADDED:
        value = world.evaluate([text]).to_dict()["run"][text]
        assert value is not None
        assert value <= 1.0
