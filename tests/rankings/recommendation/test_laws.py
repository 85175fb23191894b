"""What must hold for measures of whole lists, whatever the lists."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rankings.recommendation import oracle
from tests.rankings.recommendation.table import ALL, BY_FAMILY
from tests.rankings.recommendation.worlds import ITEMS, World, world

import rankstone
from rankstone.rankings.recommendation.recommendation_measure import (
    PerListMeasure,
    WholeRunMeasure,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

WITHIN = 1e-12
seeds = st.integers(0, 2**32 - 1)
PER_USER = tuple(
    text for text in ALL if isinstance(rankstone.parse_measure(text), PerListMeasure)
)
PER_RUN = tuple(
    text for text in ALL if isinstance(rankstone.parse_measure(text), WholeRunMeasure)
)


def draw(seed: int) -> World:
    return world(np.random.default_rng(seed))


def allowed(drawn: World, texts: Iterable[str]) -> list[str]:
    groups = oracle.groups(drawn)
    return [
        t
        for t in texts
        if getattr(rankstone.parse_measure(t), "protected", None) in (None, *groups)
    ]


def per_user(scores: rankstone.BeyondScores) -> dict[tuple[str, str], str | None]:
    """Return every value to the last bit."""
    rows = scores.per_query.select("measure", "query_id", "value").iter_rows()
    return {
        (measure, user): None if value is None else value.hex()
        for measure, user, value in rows
    }


def only(scores: rankstone.BeyondScores) -> dict[str, float | None]:
    return next(iter(scores.to_dict().values()))


def near(a: float | None, b: float | None) -> bool:
    return (
        a is b
        if a is None or b is None
        else math.isclose(a, b, rel_tol=WITHIN, abs_tol=WITHIN)
    )


# -- any measure -----------------------------------------------------------------------------------
@given(seed=seeds)
def test_values_stay_in_their_span(seed: int) -> None:
    """No value leaves the span its measure declares."""
    drawn = draw(seed)
    qualities = drawn.beyond(allowed(drawn, ALL))
    values = [
        (m, v) for m, v in qualities.per_query.select("measure", "value").iter_rows()
    ]
    for text, value in [*values, *only(qualities).items()]:
        low, high = rankstone.parse_measure(text).span
        assert value is None or low is None or value >= low - WITHIN, text
        assert value is None or high is None or value <= high + WITHIN, text


@given(seed=seeds, data=st.data())
def test_the_order_of_rows_plays_no_part(seed: int, data: st.DataObject) -> None:
    """Shuffled rows of a run give the same lists; what is summed inside a list has the same bits."""
    drawn = draw(seed)
    texts = allowed(drawn, ALL)
    rows = drawn.frame()
    order = data.draw(st.permutations(range(rows.height)))
    whole, shuffled = (
        drawn.beyond(texts),
        rankstone.beyond({"run": rows[order]}, texts, **drawn.tables()),
    )

    assert per_user(shuffled) == per_user(whole)
    for text, value in only(whole).items():
        assert near(only(shuffled)[text], value), text


@given(seed=seeds, data=st.data())
def test_a_user_alone_has_the_same_value(seed: int, data: st.DataObject) -> None:
    """A user's value does not depend on the lists it is computed beside, to the last bit."""
    drawn = draw(seed)
    user = data.draw(st.sampled_from(sorted(drawn.run)))
    alone = replace(drawn, run={user: drawn.run[user]})
    wanted = per_user(drawn.beyond(list(PER_USER)))
    try:
        values = per_user(alone.beyond(list(PER_USER)))
    except (
        rankstone.InputError
    ):  # the tables know nothing of this user, or of any of the items
        return
    assert values == {key: value for key, value in wanted.items() if key[1] == user}


@given(seed=seeds)
def test_names_play_no_part(seed: int) -> None:
    """Renaming all users changes no value."""
    drawn = draw(seed)
    texts = allowed(drawn, ALL)
    name = {
        user: f"someone {i}"
        for i, user in enumerate(sorted({*drawn.run, *drawn.qrels, *drawn.users}))
    }
    name |= {who: name.get(who, f"other {who}") for who, _, _ in drawn.history}
    renamed = World(
        {name[u]: scores for u, scores in drawn.run.items()},
        drawn.items,
        [(name[u], item, weight) for u, item, weight in drawn.history],
        {name[u]: judged for u, judged in drawn.qrels.items()},
        {name[u]: group for u, group in drawn.users.items()},
        {name.get(u, u): items for u, items in drawn.baseline.items()},
    )
    before, after = drawn.beyond(texts), renamed.beyond(texts)

    assert per_user(after) == {
        (m, name[u]): v for (m, u), v in per_user(before).items()
    }
    for text, value in only(before).items():
        assert near(only(after)[text], value), text


@given(seed=seeds, k=st.integers(1, 12))
def test_a_cutoff_is_a_shorter_list(seed: int, k: int) -> None:
    """What a measure says at k is what it says of lists of k."""
    drawn = draw(seed)
    texts = [
        t for t in allowed(drawn, ALL) if "@" not in t and "Unexpectedness" not in t
    ]
    cut = replace(
        drawn,
        run={
            u: {i: -r for r, i in enumerate(items)}
            for u, items in drawn.lists(k).items()
        },
    )
    at_k = drawn.beyond([f"{t}@{k}" for t in texts])
    try:
        short = cut.beyond(texts)
    except rankstone.InputError:  # the table of items knows none of what is left
        return
    for text in texts:
        # measures that divide by k, or whose ideal list has k ranks, know k itself
        if (
            not text.startswith(("Personalization", "EEL", "EER"))
            or max(map(len, cut.run.values())) == k
        ):
            assert near(only(at_k)[f"{text}@{k}"], only(short)[text]), text


def test_chunks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists measured two rows at a time have the bits of lists measured together."""
    drawn = draw(7)
    whole = drawn.beyond(list(PER_USER))
    monkeypatch.setattr("rankstone.rankings.recommendation.list_frame._ROWS", 2)
    monkeypatch.setattr("rankstone.rankings.recommendation.list_distances._CELLS", 4)

    assert per_user(drawn.beyond(list(PER_USER))) == per_user(whole)


@given(seed=seeds)
def test_many_categories_are_like_few(seed: int) -> None:
    """The road for more categories than a table has room for leads to the same values."""
    drawn = draw(seed)
    texts = [
        *BY_FAMILY["calibration"],
        *BY_FAMILY["diversity"],
        "AWRF",
        "AWRF(target=relevant)@3",
    ]
    texts += [t for t in BY_FAMILY["novelty"] if "category" in t]
    wanted = per_user(drawn.beyond(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankstone.rankings.recommendation.calibration._CELLS", 0)
        patch.setattr("rankstone.rankings.recommendation.list_distances._CELLS", 0)
        patch.setattr("rankstone.rankings.recommendation.list_distances._WORD", 2)
        values = per_user(drawn.beyond(texts))
    for key, value in wanted.items():
        both = (None if v is None else float.fromhex(v) for v in (value, values[key]))
        assert near(*both), key


# -- identities ------------------------------------------------------------------------------------
@given(seed=seeds, k=st.integers(1, 6))
def test_exposure_loss_is_the_sum_of_its_parts(seed: int, k: int) -> None:
    """EEL = EED − EER + Σ ε*², item by item and group by group."""
    drawn = draw(seed)
    for inside in ("", "(by=group)"):
        loss, spread, merit = (
            only(drawn.beyond(f"{n}{inside}@{k}"))[f"{n}{inside}@{k}"]
            for n in ("EEL", "EED", "EER")
        )
        due = oracle.due_exposure(
            rankstone.parse_measure(f"EEL{inside}@{k}"), drawn, drawn.lists(k)
        )
        assert loss is not None
        assert spread is not None
        assert merit is not None
        assert math.isclose(
            loss,
            spread - merit + math.fsum(d * d for d in due.values()),
            abs_tol=WITHIN,
        )


@given(users=st.integers(1, 6), items=st.integers(2, 8))
def test_gini_between_everything_and_one_thing(users: int, items: int) -> None:
    """Everybody sees everything: 0, one bit for each doubling.  Everybody sees one thing: 1, no bit."""
    names = [f"i{n}" for n in range(items)]
    even = rankstone.beyond(
        {f"u{n}": names for n in range(users)},
        "Gini Entropy(scale=share) Coverage",
        catalogue_size=items,
    )
    qualities = rankstone.beyond(
        {f"u{n}": names[:1] for n in range(users)},
        "Gini Entropy Gini(denom=m)",
        catalogue_size=items,
    )

    assert only(even) == {
        "Gini": 0.0,
        "Entropy(scale=share)": pytest.approx(1.0),
        "Coverage": 1.0,
    }
    assert only(qualities) == {
        "Gini": 1.0,
        "Entropy": 0.0,
        "Gini(denom=m)": pytest.approx((items - 1) / items),
    }


@given(seed=seeds)
def test_diversity_and_likeness_are_two_sides(seed: int) -> None:
    """ILD + ILS = 1; with binary features the squared distance is the number of differing ones."""
    drawn = draw(seed)
    values = only(
        drawn.beyond(
            "ILD(features=category) ILS(features=category) ILD(features=features) ILS(features=features)"
        )
    )
    for features in ("category", "features"):
        a, b = values[f"ILD(features={features})"], values[f"ILS(features={features})"]
        assert near(a, None if b is None else 1 - b)
    binary = {i: {**about, "x": float(about["y"])} for i, about in drawn.items.items()}
    values = only(
        replace(drawn, items=binary).beyond(
            "ILD(features=x+y, distance=hamming) ILD(features=x+y, distance=sqeuclidean)"
        )
    )
    assert near(*values.values())


@given(seed=seeds)
def test_a_list_like_the_past_is_calibrated(seed: int) -> None:
    """Recommending exactly what a user met mirrors it, and lifts no popularity."""
    drawn = draw(seed)
    run = {u: dict.fromkeys(oracle.past_of(drawn, u), 1.0) for u, _, _ in drawn.history}
    mirrored = replace(
        drawn, run=run, history=sorted({(u, i, 1.0) for u, i, _ in drawn.history})
    )
    texts = [
        *BY_FAMILY["calibration"],
        "PopularityLift",
        "Unexpectedness(against=history)",
    ]
    texts = [t for t in texts if "@" not in t]
    try:
        values = per_user(mirrored.beyond(texts))
    except rankstone.InputError:  # no document is judged, or no item known
        return
    for (text, _), value in values.items():
        assert value is None or abs(float.fromhex(value)) < 1e-7, text


@given(seed=seeds)
def test_fair_lists_are_fair(seed: int) -> None:
    """When every item is shown once at rank 1, groups are exposed by their size."""
    drawn = draw(seed)
    run = {f"u{n}": {item: 1.0} for n, item in enumerate(sorted(drawn.items))}
    shown = replace(drawn, run=run)
    groups = [
        g
        for g in oracle.groups(drawn)
        if sum(g in oracle.labels(drawn, "group", i) for i in drawn.items)
    ]
    texts = [*(f"DP(protected={g})" for g in groups), "RSP", "Gini", "Coverage"]
    values = only(rankstone.beyond(shown.frame(), texts, items=drawn.tables()["items"]))
    for text, value in values.items():
        wanted = {"RSP": 0.0, "Gini": 0.0, "Coverage": 1.0}.get(text, 1.0)
        assert value is None or math.isclose(value, wanted, abs_tol=1e-9), text


@given(seed=seeds)
def test_lists_of_one_length_agree_on_overlap(seed: int) -> None:
    """For lists of one length, overlap and cosine are the same, and equal the mean over all pairs."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    run = {
        f"u{n}": [str(i) for i in rng.permutation(ITEMS)[:k]]
        for n in range(rng.integers(2, 6))
    }
    values = only(
        rankstone.beyond(run, "Personalization Personalization(similarity=cosine)")
    )
    pairs = [
        len(set(a) & set(b)) / k
        for u, a in run.items()
        for v, b in run.items()
        if u != v
    ]

    assert near(values["Personalization"], 1 - sum(pairs) / len(pairs))
    assert near(*values.values())


@given(seed=seeds)
def test_the_tail_in_numbers(seed: int) -> None:
    """ACLT is the list's length times APLT; cold items are in the tail."""
    drawn = draw(seed)
    values = per_user(drawn.beyond("APLT ACLT"))
    for user, items in drawn.lists(None).items():
        share, count = (
            float.fromhex(values[name, user] or "") for name in ("APLT", "ACLT")
        )
        assert math.isclose(share * len(items), count)
        assert count >= sum(oracle.met_by(drawn, item) == 0 for item in items)


# -- groups of users -------------------------------------------------------------------------------
@given(seed=seeds)
def test_gaps_between_groups(seed: int) -> None:
    """Means by group, the largest gap and the mean gap are what loops over users give."""
    drawn = draw(seed)
    scores = drawn.beyond("Novelty@3 Popularity@3 Unexpectedness@3")
    gaps = {
        m: row
        for m, *row in rankstone.rankings.group_gaps(scores, "group")
        .drop("run")
        .iter_rows()
    }
    for text in ("Novelty@3", "Popularity@3", "Unexpectedness@3"):
        values = oracle.value(text, drawn)
        assert isinstance(values, dict)
        means = {}
        for group in {drawn.users[u] for u in values} - {None}:
            kept = [
                v
                for u, v in values.items()
                if drawn.users[u] == group and v is not None
            ]
            if kept:
                means[group] = sum(kept) / len(kept)
        if not means:
            assert text not in gaps
            continue
        groups, gap, mad, lowest, _, highest, *_ = gaps[text]
        pairs = [
            abs(a - b)
            for i, a in enumerate(means.values())
            for b in list(means.values())[i + 1 :]
        ]
        assert groups == len(means)
        assert near(gap, max(means.values()) - min(means.values()))
        assert near(mad, sum(pairs) / len(pairs) if pairs else None)
        assert near(lowest, min(means.values()))
        assert near(highest, max(means.values()))


def test_a_pooled_lift_is_the_lift_of_means() -> None:
    """PopularityLift of a group is (mean of lists − mean of profiles) / mean of profiles."""
    past = {"u1": ["a", "b"], "u2": ["a"], "u3": ["a", "c"]}
    run = {"u1": ["a"], "u2": ["b", "c"], "u3": ["b"]}
    users = {"u1": "x", "u2": "x", "u3": "y"}
    scores = rankstone.beyond(
        run, "PopularityLift PopularityLift(agg=mean)", history=past, users=users
    )
    lists, profiles = (
        {"u1": 3.0, "u2": 1.0, "u3": 1.0},
        {"u1": 2.0, "u2": 3.0, "u3": 2.0},
    )
    whole = (sum(lists.values()) - sum(profiles.values())) / sum(profiles.values())
    of_x = (lists["u1"] + lists["u2"] - profiles["u1"] - profiles["u2"]) / (
        profiles["u1"] + profiles["u2"]
    )

    assert only(scores)["PopularityLift"] == pytest.approx(whole)
    assert only(scores)["PopularityLift(agg=mean)"] == pytest.approx(
        ((3 - 2) / 2 + (1 - 3) / 3 + (1 - 2) / 2) / 3
    )
    by = scores.mean(by="group").filter(pl.col("measure") == "PopularityLift")
    assert by.filter(group="x")["value"][0] == pytest.approx(of_x)
