"""What holds for every measure of two rankings, or for a family of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.night import part, turn_of
from tests.rankings.oracle import cut, documents
from tests.rankings.worlds import DOCS, TEXTS, groups, random_ranking, rankings, scores
from tests.rows import each

import rankstone
from rankstone.rankings import ListMeasure

if TYPE_CHECKING:
    from tests.rankings.worlds import Scores

NAMES = [
    "RBO",
    "Overlap",
    "Jaccard",
    "tau_a",
    "tau_b",
    "rho",
    "tau_ap",
    "wtau",
    "footrule",
    "Fagin_F",
    "Fagin_K",
]
#: 1 for a ranking against itself, whatever ties
SELF = [
    "tau_b",
    "rho",
    "wtau",
    "wtau(weights=multiplicative)",
    "RBO(p=0.9, ties=b)",
    "RBO(p=0.5, ties=w)",
    "RBO(p=0.9, ties=broken)",
    "Overlap@3",
    "Jaccard",
    "tau_ap(ties=broken)",
]
#: the same where nothing ties
SELF_UNTIED = [
    *SELF,
    "tau_a",
    "tau_ap",
    "tau_ap(ties=b)",
    "tau_ap(reference=both)",
    "RBO(p=0.9)",
]
#: 0 for a ranking against itself
ZERO = ["footrule", "Fagin_F@3", "Fagin_K", "Fagin_K(p=0, norm=none)"]
#: -1 for a ranking against its reverse, where nothing ties
REVERSED = [
    "tau_a",
    "tau_b",
    "rho",
    "wtau",
    "wtau(weights=multiplicative)",
    "tau_ap",
    "tau_ap(ties=b)",
]


def value(x: object, y: object, text: str, **options: object) -> float | None:
    return rankstone.similarity(x, y, text, **options)  # type: ignore[arg-type]


def measure(text: str) -> ListMeasure:
    result = rankstone.parse_measure(text)
    assert isinstance(result, ListMeasure)
    return result


def test_every_measure_is_under_the_laws() -> None:
    """The registry holds these measures of two rankings, and the laws' texts speak of all of them."""
    names = [
        name
        for name, kind in rankstone.measures.MEASURES.items()
        if issubclass(kind, ListMeasure)
    ]

    assert sorted(names) == sorted(NAMES)
    assert {measure(text).name for text in TEXTS} == set(NAMES)


@each("text", TEXTS)
def test_text_and_value_are_one(text: str) -> None:
    """Parsing a measure's text gives the measure; so does its repr's life as a key."""
    assert measure(str(measure(text))) == measure(text)
    assert len({measure(text), measure(str(measure(text)))}) == 1


@pytest.mark.parametrize("text", TEXTS)
@given(x=rankings(), y=rankings())
def test_values_stay_in_the_range_of_the_card(text: str, x: Scores, y: Scores) -> None:
    """No value leaves the range; where there is none, a status says why."""
    frame = rankstone.diff({"q": x}, {"q": y}, text).per_query
    low, high = measure(text).span
    result, status = frame["value"].item(), frame["status"].item()

    assert (result is None) == (status in ("few_common", "constant"))
    if result is not None:
        assert low is not None
        assert low <= result <= (math.inf if high is None else high)


@pytest.mark.parametrize("text", [text for text in TEXTS if measure(text).symmetric])
@given(x=rankings(), y=rankings())
def test_symmetry(text: str, x: Scores, y: Scores) -> None:
    """Where a measure says so, it makes no difference which ranking comes first."""
    first, other = value(x, y, text), value(y, x, text)

    assert (first is None) == (other is None)
    assert first == pytest.approx(other, abs=1e-12)


@given(x=rankings(), y=rankings())
def test_the_reference_may_stand_on_either_side(x: Scores, y: Scores) -> None:
    """reference=second is the same as exchanging the rankings."""
    for second, first in (
        ("tau_ap(reference=second)", "tau_ap"),
        ("wtau(ranks=second)", "wtau(ranks=first)"),
    ):
        assert value(x, y, second) == pytest.approx(value(y, x, first), abs=1e-12)


@pytest.mark.parametrize("text", SELF)
@given(x=rankings())
def test_a_ranking_is_like_itself(text: str, x: Scores) -> None:
    """Identity gives 1, with ties."""
    result = value(x, x, text)

    assert result is None or result == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("text", SELF_UNTIED)
@given(x=rankings(ties=False, least=2))
def test_an_untied_ranking_is_like_itself(text: str, x: Scores) -> None:
    """Identity gives 1, by every measure of likeness, where nothing ties."""
    assert value(x, x, text) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("text", ZERO)
@given(x=rankings(least=2))
def test_a_ranking_is_no_distance_from_itself(text: str, x: Scores) -> None:
    """Identity gives exactly 0, by every distance."""
    assert value(x, x, text) == 0.0


@pytest.mark.parametrize("text", REVERSED)
@given(x=rankings(ties=False, least=2))
def test_a_ranking_is_the_opposite_of_its_reverse(text: str, x: Scores) -> None:
    """The reverse gives -1, by every correlation."""
    upside_down = {doc: -score for doc, score in x.items()}

    assert value(x, upside_down, text) == pytest.approx(-1.0, abs=1e-12)


@given(x=rankings(ties=False, least=2))
def test_the_reverse_is_as_far_as_one_can_go(x: Scores) -> None:
    """The reverse has the largest footrule, and lists without a common document Fagin's largest."""
    upside_down = {doc: -score for doc, score in x.items()}
    foreign = {f"{doc}'": score for doc, score in x.items()}

    assert value(x, upside_down, "footrule") == 1.0
    for text in ("Fagin_F", "Fagin_K", "Fagin_K(p=0)", "Fagin_F(location=3)"):
        assert value(x, foreign, text) == 1.0
    for text in ("Overlap", "Jaccard", "RBO(p=0.9)"):
        assert value(x, foreign, text) == 0.0


@pytest.mark.parametrize("text", TEXTS)
@given(x=rankings(), y=rankings(), factor=st.sampled_from([0.25, 2.0, 1024.0]))
def test_only_the_order_of_scores_matters(
    text: str, x: Scores, y: Scores, factor: float
) -> None:
    """Scaling and shifting one run's scores changes no bit."""
    moved = {doc: factor * score - 3.0 for doc, score in y.items()}

    assert value(x, y, text) == value(x, moved, text)


@pytest.mark.parametrize("text", TEXTS)
def test_queries_do_not_see_each_other(text: str) -> None:
    """Many queries at once, in any order, give bit by bit what each gives alone."""
    rng = np.random.default_rng(11)
    first, second = (
        {f"q{index}": scores(random_ranking(rng, DOCS, 0.4, 12)) for index in range(24)}
        for _ in range(2)
    )
    together = rankstone.diff(first, second, text).per_query
    shuffled = {name: second[name] for name in rng.permutation(list(second)).tolist()}

    assert together.equals(rankstone.diff(first, shuffled, text).per_query)
    rows = together.select("query_id", "value").rows()
    # alone: a few, and at night all
    for name, result in part(rows, 4, turn_of(text)):
        assert result == value(first[name], second[name], text)


@pytest.mark.parametrize(
    "text",
    ["tau_b", "tau_ap", "wtau", "rho", "RBO(p=0.9, ties=b)", "Fagin_K", "Jaccard"],
)
@given(x=rankings(), y=rankings(), k=st.integers(1, 9))
def test_a_cutoff_is_a_depth(text: str, x: Scores, y: Scores, k: int) -> None:
    """measure@k is the measure of lists cut at k, and documents below k play no part."""
    head, bar, _ = text.partition(")")
    at_k = value(x, y, f"{head}{bar}@{k}")
    short = {doc: x[doc] for doc in documents(cut(groups(x), k))}

    assert at_k == value(x, y, text, depth=k)
    assert at_k == value(short, y, f"{head}{bar}@{k}")


# -- rank-biased overlap -----------------------------------------------------------------------------------
@given(
    x=rankings(),
    y=rankings(),
    p=st.sampled_from([0.1, 0.5, 0.9, 0.99]),
    ties=st.sampled_from("abw"),
)
def test_bounds_of_rank_biased_overlap(
    x: Scores, y: Scores, p: float, ties: str
) -> None:
    """The scores stand in the order min ≤ ext ≤ max, and res is the difference of the bounds."""
    low, middle, high, left = (
        value(x, y, f"RBO(p={p}, ties={ties}, score={score})")
        for score in ("min", "ext", "max", "res")
    )
    assert low is not None
    assert middle is not None
    assert high is not None

    assert low <= middle + 1e-12
    assert middle <= high + 1e-12
    assert left == pytest.approx(high - low, abs=1e-12)


@given(
    x=rankings(ties=False),
    y=rankings(ties=False),
    score=st.sampled_from(["ext", "min", "max", "res"]),
)
def test_without_ties_there_is_one_rank_biased_overlap(
    x: Scores, y: Scores, score: str
) -> None:
    """The treatments of ties agree where there are none."""
    values = [
        value(x, y, f"RBO(p=0.9, ties={ties}, score={score})")
        for ties in ("a", "b", "w", "broken")
    ]

    assert values == pytest.approx([values[0]] * 4, abs=1e-12)


@given(x=rankings(), y=rankings(), score=st.sampled_from(["ext", "min", "max"]))
def test_the_correction_for_ties_only_adds(x: Scores, y: Scores, score: str) -> None:
    """RBO(ties=b) is never below RBO(ties=a)."""
    a, b = (value(x, y, f"RBO(p=0.8, ties={ties}, score={score})") for ties in "ab")
    assert a is not None
    assert b is not None

    assert a <= b + 1e-12


@given(x=rankings(), y=rankings())
def test_more_of_the_lists_narrows_the_bounds(x: Scores, y: Scores) -> None:
    """Of lists without ties, what a longer look shows lies inside the bounds of a shorter one."""
    x, y = scores([[doc] for doc in x]), scores([[doc] for doc in y])
    assume(min(len(x), len(y)) > 2)
    short = [value(x, y, f"RBO(p=0.9, score={score})@2") for score in ("min", "max")]
    whole = [value(x, y, f"RBO(p=0.9, score={score})") for score in ("min", "max")]

    assert None not in (*short, *whole)
    assert short[0] <= whole[0] + 1e-12  # type: ignore[operator]
    assert whole[1] <= short[1] + 1e-12  # type: ignore[operator]


# -- how measures hang together ------------------------------------------------------------------------------
@given(x=rankings(ties=False, least=2), y=rankings(ties=False, least=2))
def test_without_ties_there_is_one_tau(x: Scores, y: Scores) -> None:
    """tau_a is tau_b, and (1 + tau) / 2 is the share of pairs in the same order."""
    both = [doc for doc in x if doc in y]
    assume(len(both) > 1)
    pairs = [(i, j) for index, i in enumerate(both) for j in both[index + 1 :]]
    alike = sum((x[i] > x[j]) == (y[i] > y[j]) for i, j in pairs)
    tau = value(x, y, "tau_a")
    assert tau is not None

    assert tau == value(x, y, "tau_b")
    assert (1 + tau) / 2 == pytest.approx(alike / len(pairs), abs=1e-12)


@given(data=st.data(), x=rankings(ties=False, least=2))
def test_distances_of_permutations(data: st.DataObject, x: Scores) -> None:
    """Inversions ≤ footrule ≤ 2 · inversions (Diaconis and Graham); Fagin's K counts inversions."""
    y = dict(zip(data.draw(st.permutations(list(x))), x.values(), strict=True))
    n = len(x)
    tau, moves = value(x, y, "tau_a"), value(x, y, "footrule(norm=none)")
    assert tau is not None
    assert moves is not None
    inversions = (1 - tau) / 2 * (n * (n - 1) / 2)

    assert inversions - 1e-9 <= moves <= 2 * inversions + 1e-9
    assert value(x, y, "Fagin_K(norm=none)") == pytest.approx(inversions, abs=1e-9)
    assert value(x, y, "Fagin_F(norm=none)") == moves


@given(
    x=rankings(ties=False),
    y=rankings(ties=False),
    z=rankings(ties=False),
    k=st.integers(1, 5),
)
def test_fagins_footrule_is_a_metric(x: Scores, y: Scores, z: Scores, k: int) -> None:
    """The triangle inequality holds for top-k lists of one length."""
    assume(min(len(x), len(y), len(z)) >= k)
    text = f"Fagin_F(norm=none)@{k}"
    direct, first, second = value(x, z, text), value(x, y, text), value(y, z, text)

    assert None not in (direct, first, second)
    assert direct <= first + second + 1e-9  # type: ignore[operator]


@given(x=rankings(), y=rankings(), k=st.integers(1, 5))
def test_jaccard_and_overlap_tell_the_same(x: Scores, y: Scores, k: int) -> None:
    """J = O / (2 - O) for lists of one length."""
    assume(min(len(x), len(y)) >= k)
    overlap = value(x, y, f"Overlap@{k}")
    assert overlap is not None

    assert value(x, y, f"Jaccard@{k}") == pytest.approx(
        overlap / (2 - overlap), abs=1e-12
    )
