"""Numbers of the literature and of other tools' documentation, and the examples of the cards."""

from __future__ import annotations

from math import log, sqrt

import pytest

import rankstone

A, B = list("abcdefg"), list("bacdxyz")

#: ircor's documentation: scores of ten systems
X = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
Y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
#: the same as R's round(…, 1) gives them; it makes 0.4 of 0.45
X_ROUND = [0.7, 0.4, 0.3, 0.1, 0.6, 0.2, 0.9, 0.8, 0.1, 0.5]
Y_ROUND = [0.5, 0.7, 0.3, 0.1, 0.1, 0.6, 0.9, 0.2, 0.4, 0.8]

#: the example of Corsi and Urbano's reference code
RED = {"red": 5, "blue": 4, "green": 4, "yellow": 3, "pink": 2}
BLUE = {
    "blue": 9,
    "red": 9,
    "white": 8,
    "yellow": 7,
    "black": 7,
    "purple": 7,
    "green": 6,
}


@pytest.mark.parametrize(
    ("x", "y", "text", "printed"),
    [
        (X, Y, "tau_ap", 0.3928571),
        (X, Y_ROUND, "tau_ap", 0.39903),
        (X, Y_ROUND, "tau_ap(ties=b)", 0.3317019),
        (X_ROUND, Y_ROUND, "tau_ap(ties=b)", 0.339418),
    ],
)
def test_ircor(x: list[float], y: list[float], text: str, printed: float) -> None:
    """The example of ircor's manual for tauAP, tauAP_a and tauAP_b (Urbano and Marrero, 2017)."""
    assert rankstone.similarity(x, y, text) == pytest.approx(printed, abs=5e-8)


@pytest.mark.parametrize(
    ("ties", "ext", "least", "most", "residual"),
    [
        ("a", 0.6922853, 0.3310519, 0.8930692, 0.5620173),
        ("w", 0.7068257, 0.3429684, 0.9049857, 0.5620173),
        ("b", 0.7207131, 0.3509163, 0.9129336, 0.5620173),
    ],
)
def test_corsi_and_urbano(
    ties: str, ext: float, least: float, most: float, residual: float
) -> None:
    """The example of the reference code for ties in RBO (SIGIR 2024), p = 0.95."""
    for score, printed in (
        ("ext", ext),
        ("min", least),
        ("max", most),
        ("res", residual),
    ):
        similarity = rankstone.similarity(
            RED, BLUE, f"RBO(p=0.95, ties={ties}, score={score})"
        )

        assert similarity == pytest.approx(printed, abs=5e-8)


def test_rank_biased_overlap_by_hand() -> None:
    """Of abcdefg against bacdxyz, p = 0.9, where the overlap is 0, 2, 3, 4, 4, 4, 4."""
    p = 0.9
    seen = (1 - p) * sum(
        p ** (d - 1) * x / d for d, x in enumerate([0, 2, 3, 4, 4, 4, 4], start=1)
    )
    beyond = (1 - p) / p * 4 * (log(1 / (1 - p)) - sum(p**d / d for d in range(1, 8)))
    most = (1 - p) * sum(p ** (d - 1) * min(2 * d - 10, d) / d for d in range(8, 500))
    values = {
        s: rankstone.similarity(A, B, f"RBO(p=0.9, score={s})")
        for s in ("ext", "min", "max", "res")
    }

    assert values["ext"] == pytest.approx(seen + 4 / 7 * p**7, abs=1e-14)
    assert values["min"] == pytest.approx(seen + beyond, abs=1e-14)
    assert values["max"] == pytest.approx(seen + most, abs=1e-14)
    assert values["res"] == pytest.approx(most - beyond, abs=1e-14)
    assert values["ext"] == pytest.approx(0.639435, abs=5e-7)
    assert values["min"] == pytest.approx(0.506371, abs=5e-7)
    assert values["res"] == pytest.approx(0.321307, abs=5e-7)


def test_rank_biased_overlap_of_lists_of_two_lengths() -> None:
    """Of ab against bacd, p = 1/2: agreement 0, 1, then 2 + 1 · (d - 2) of d (Webber et al., equation 32)."""
    similarity = rankstone.similarity(list("ab"), list("bacd"), "RBO(p=0.5)")

    assert similarity == pytest.approx(
        1 / 2 * (0 / 1 + 2 / 2 / 2 + 3 / 3 / 4 + 4 / 4 / 8) + 1 / 16, abs=1e-15
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tau_a", (5 - 1) / 6),
        ("rho", 1 - 6 * (1 + 1) / (4 * 15)),
        ("tau_ap", 2 / 3 * (0 / 1 + 2 / 2 + 3 / 3) - 1),
        ("footrule", (1 + 1) / 8),
    ],
)
def test_examples_of_the_cards(text: str, expected: float) -> None:
    """The cards of correlations and the footrule hold abcd against bacd."""
    assert rankstone.similarity(list("abcd"), list("bacd"), text) == pytest.approx(
        expected, abs=1e-15
    )


def test_more_examples_of_the_cards() -> None:
    """What the other cards show on paper."""
    tied = rankstone.similarity([3.0, 2.0, 2.0], [3.0, 2.0, 1.0], "tau_b")
    weighted = rankstone.similarity(list("abc"), list("acb"), "wtau(ranks=first)")
    rbo = rankstone.similarity(list("ab"), list("ba"), "RBO(p=0.9)")

    assert tied == 2 / sqrt(2 * 3)
    assert weighted == pytest.approx(
        (3 / 2 + 4 / 3 - 5 / 6) / (3 / 2 + 4 / 3 + 5 / 6), abs=1e-15
    )
    assert weighted == pytest.approx(6 / 11, abs=1e-15)
    assert rbo == pytest.approx(0.1 * 0.9 * 1 + 0.81, abs=1e-15)
    assert (
        rankstone.similarity(list("abcd"), list("dcba"), "footrule")
        == (3 + 1 + 1 + 3) / 8
    )
    assert (
        rankstone.similarity(list("abc"), list("bad"), "Fagin_F")
        == (1 + 1 + 1 + 1) / 12
    )
    assert rankstone.similarity(list("abc"), list("bad"), "Fagin_K") == 2 / (9 + 3)
    assert rankstone.similarity(list("abcd"), list("bxay"), "Overlap@2") == 1 / 2
    assert rankstone.similarity(list("abcd"), list("bxay"), "Jaccard@2") == 1 / 3
    assert rankstone.similarity(list("abcd"), list("bxay"), "Jaccard@4") == 2 / 6
