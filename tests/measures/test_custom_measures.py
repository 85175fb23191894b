"""Measures that users bring: by a function, a class, a word for a gain or discount, or a package."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pytest

import rankstone
from rankstone import Measure
from rankstone.errors import BadParameter, BadValue, OutOfRange
from rankstone.measures import Card, Contributions
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.gains_and_discounts import CUSTOM_DISCOUNTS, CUSTOM_GAINS
from rankstone.measures.walk_models import CUSTOM_WALKS
from rankstone.testing import LawBroken, check_measure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["x", "a", "b"], "q2": ["c"]}

CARD = Card(
    sentence="A test.",
    formula="Σ",
    symbols="none",
    example="none",
    sensitive="none",
    use="none",
    citation="none",
)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Take out again whatever a test registers."""
    before = set(rankstone.measures.MEASURES)
    yield
    for name in set(rankstone.measures.MEASURES) - before:
        rankstone.measures.MEASURES.remove(name)
    CUSTOM_GAINS.clear()
    CUSTOM_DISCOUNTS.clear()
    CUSTOM_WALKS.clear()


def score(measure: str, **options: Any) -> float | None:
    return rankstone.evaluate(QRELS, RUN, measure, **options).to_dict()["run"][
        str(rankstone.parse_measure(measure))
    ]


def test_a_function_becomes_a_measure() -> None:
    """Ten lines give a measure with parameters, a text, a card and the laws."""

    @rankstone.measure(
        "Patience", span=(0, None), formula="Σ g_i / i^a", needs_relevant=False
    )
    def patience(
        hits: Any, *, a: float = 1.0, side: Literal["top", "all"] = "all"
    ) -> Any:
        """Gains divided by a power of the rank."""
        shares = hits.grade / hits.rank**a
        return shares if side == "all" else np.where(hits.rank <= 2, shares, 0.0)

    assert score("Patience") == ((2 / 2 + 1 / 3) + 1 / 1) / 2
    assert score("Patience(a=2)@2") == (2 / 4 + 1 / 1) / 2
    assert score("Patience(side=top)") == (2 / 2 + 1 / 1) / 2
    assert str(rankstone.parse_measure("patience(a=1, side=all)")) == "Patience"
    assert (
        rankstone.measures.MEASURES["Patience"].card.sentence
        == "Gains divided by a power of the rank."
    )
    with pytest.raises(BadParameter, match="side='middle' is not known"):
        score("Patience(side=middle)")
    assert "only the order of scores matters" in check_measure("Patience(a=2)@3")


def test_a_function_may_return_a_norm_and_take_the_cutoff() -> None:
    """A pair is contributions and norm; ``rel`` is a threshold, ``k`` the cutoff."""

    @rankstone.measure("Half")
    def half(hits: Any, k: int | None = None, *, rel: float = 2) -> Any:
        """Relevant documents among the first k, of all."""
        assert k == 2
        return hits.relevant(rel).astype(float), np.maximum(
            hits.relevant_count(rel), 1.0
        )

    assert score("Half@2") == (1 / 1 + 0) / 2
    assert score("Half(rel=1)@2") == (1 / 2 + 1 / 1) / 2


def test_a_wrong_answer_is_explained() -> None:
    """A function that returns too few numbers, or no numbers, is refused with that reason."""

    @rankstone.measure("Short")
    def short(hits: Any) -> Any:
        """Too short."""
        return hits.grade[:-1]

    @rankstone.measure("Hole")
    def hole(hits: Any) -> Any:
        """Not a number."""
        return hits.grade * np.nan

    @rankstone.measure("Wide")
    def wide(hits: Any) -> Any:
        """More than its card allows."""
        return hits.grade

    with pytest.raises(
        BadParameter, match="Short did not return a number for each hit"
    ):
        score("Short")
    with pytest.raises(BadParameter, match="some of them not finite"):
        score("Hole")
    with pytest.raises(
        OutOfRange, match=r"query q1: Wide is 3, outside its range 0 … 1"
    ):
        score("Wide")
    with pytest.raises(LawBroken, match="values keep to the card's range"):
        check_measure("Wide")


def test_a_class_becomes_a_measure() -> None:
    """A frozen dataclass with name, family and card is registered as it is."""

    @rankstone.register
    @dataclass(frozen=True, kw_only=True)
    class Seen(Measure):
        """Judged documents among the retrieved ones."""

        name: ClassVar[str] = "Seen"
        family: ClassVar[str] = "test"
        card: ClassVar[Card] = CARD

        def contributions(self, hits: Any) -> Contributions:
            """Count."""
            return Contributions(np.ones(len(hits.rank)), np.maximum(hits.n, 1.0))

    assert score("Seen") == (2 / 3 + 1 / 1) / 2
    assert "ties=expected is the mean over all orders" in check_measure("Seen")


def test_names_must_be_free_and_whole() -> None:
    """A taken name, a name that cannot be parsed and a missing card are refused."""
    with pytest.raises(BadParameter, match="map already means AP"):
        rankstone.measure("map")(lambda hits: hits.grade)
    with pytest.raises(BadParameter, match="there is a measure AP already"):
        rankstone.measure("AP")(lambda hits: hits.grade)
    with pytest.raises(BadParameter, match="has no usable name"):
        rankstone.measure("not a name")(lambda hits: hits.grade)
    with pytest.raises(BadParameter, match="parameter a has no default"):
        rankstone.measure("NoDefault")(lambda hits, a: hits.grade * a)

    class Bare(Measure):
        name: ClassVar[str] = "Bare"

    with pytest.raises(BadParameter, match="Bare has no card"):
        rankstone.register(Bare)


def test_a_gain_and_a_discount_have_words() -> None:
    """Registered functions join the vocabulary, and the ideal list follows them."""
    rankstone.measures.register_gain("root", np.sqrt)
    rankstone.measures.register_discount("slow", lambda rank: 1 + np.log10(rank))

    slow = 1 + np.log10(np.array([1.0, 2.0, 3.0]))
    dcg = np.sqrt(2) / slow[1] + 1 / slow[2]
    ideal = np.sqrt(2) / slow[0] + 1 / slow[1]
    assert score("nDCG(gain=root, discount=slow)@3") == pytest.approx(
        (dcg / ideal + 1) / 2, abs=1e-15
    )
    assert check_measure("nDCG(gain=root, discount=slow)@3")
    with pytest.raises(BadParameter, match="gain='rood' is not known"):
        score("DCG(gain=rood)")
    with pytest.raises(BadParameter, match="cannot be registered"):
        rankstone.measures.register_gain("exp2", np.sqrt)
    rankstone.measures.register_gain("broken", lambda grade: grade[:1])
    with pytest.raises(BadValue, match="gain=broken returned a wrong number of values"):
        score("DCG(gain=broken)")
    rankstone.measures.register_discount("negative", lambda rank: -rank)
    with pytest.raises(BadValue, match="discount=negative returned unusable numbers"):
        score("DCG(discount=negative)")


def test_a_function_cannot_change_what_others_read() -> None:
    """All measures share the arrays of hits; what a gain is given is a copy."""

    def without_value(hits: Any) -> Any:
        hits.grade[:] = 5
        return hits.grade

    rankstone.measure("Spoils", span=(0, None), needs_relevant=False)(without_value)
    with pytest.raises(ValueError, match="read-only"):
        score("Spoils")

    def doubled(grade: Any) -> Any:
        grade *= 2
        return grade

    rankstone.measures.register_gain("doubled", doubled)
    alone = score("DCG") or 0.0
    together = rankstone.evaluate(QRELS, RUN, "DCG(gain=doubled) DCG").mean()
    assert together["value"].to_list() == pytest.approx([2 * alone, alone], abs=1e-15)


@pytest.mark.parametrize("answer", [None, "a", 1j, [None]])
def test_an_answer_without_numbers_is_refused(answer: object) -> None:
    """Whatever comes back must be real numbers."""
    rankstone.measure("Answers", span=(0, None), needs_relevant=False)(lambda _: answer)

    with pytest.raises(BadParameter, match="something that is not a number"):
        score("Answers")


def test_a_head_that_cannot_be_a_measure_is_refused() -> None:
    """Words all measures have, values that can change, ranges that are none, words without a function."""

    def words(hits: Any, agg: float = 1.0) -> Any:
        return hits.grade * agg

    def changing(hits: Any, of: Any = []) -> Any:  # noqa: B006 - that is the point
        return hits.grade * len(of)

    with pytest.raises(BadParameter, match="every measure has an attribute agg"):
        rankstone.measure("Words")(words)
    with pytest.raises(BadParameter, match=r"of=\[\] is mutable"):
        rankstone.measure("Changing")(changing)
    for span in ((1.0, 0.0), (float("nan"), 1.0)):
        with pytest.raises(BadParameter, match="is not a range"):
            rankstone.measure("Ranged", span=span)(lambda hits: hits.grade)
    with pytest.raises(BadParameter, match="gain=three needs a function"):
        rankstone.measures.register_gain("three", 3)  # type: ignore[arg-type]


def test_a_user_model_of_ones_own_walks_like_ours() -> None:
    """The continuation of INST gives what INST gives by its closed form, and residuals come along."""
    goal = 2.0

    def inst(rank: Any, gain: Any, gained: Any) -> Any:
        assert ((gain >= 0) & (gain <= gained + 1e-12)).all()
        left = rank + 2 * goal - gained
        return ((left - 1) / left) ** 2

    rankstone.measures.register_continuation("mine", inst)
    for output in ("EU", "ETU", "ED", "ETC", "ResEU"):
        mine = score(
            f"CWL(max_grade=2, model=mine, output={output})".replace(", output=EU", "")
        )
        value = score(
            f"CWL(max_grade=2, model=INST, output={output}, T=2)".replace(
                ", output=EU", ""
            )
        )
        assert mine == pytest.approx(value, rel=1e-12)
    assert "only the order of scores matters" in check_measure(
        "CWL(gain=binary, model=mine)@3"
    )


def test_a_user_model_walks_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legs are walked some at a time; where they are cut does not show."""

    def half(rank: Any, gain: Any, gained: Any) -> Any:
        assert rank.shape == gained.shape
        return np.where(gain > 0, 0.25, 0.5)

    rankstone.measures.register_continuation("half", half)
    whole = score("CWL(gain=binary, model=half, n_max=7)")
    monkeypatch.setattr("rankstone.measures.user_walks._STEPS", 3)
    assert score("CWL(gain=binary, model=half, n_max=7)") == whole
    # q1: finds at ranks 2, 3: V = 1, 1/2, 1/8, 1/32, …; q2: a find at rank 1: V = 1, 1/4, 1/8, …
    first = (1 / 2 + 1 / 8) / (1 + 1 / 2 + 1 / 8 + sum(1 / 2**i for i in range(5, 9)))
    second = 1 / (1 + sum(1 / 2**i for i in range(2, 8)))
    assert whole == pytest.approx((first + second) / 2, rel=1e-15)


def test_a_user_model_that_makes_no_sense_is_refused() -> None:
    """A chance lies between 0 and 1, one for each rank; a word in use stays what it is."""
    rankstone.measures.register_continuation("mad", lambda *message: message[0])
    with pytest.raises(
        BadValue, match=r"model=mad returned probability 2 after rank 2"
    ):
        score("CWL(gain=binary, model=mad)")
    rankstone.measures.register_continuation("short", lambda *text: text[0][:1] * 0)
    with pytest.raises(BadValue, match="model=short did not return one probability"):
        score("CWL(gain=binary, model=short)")
    with pytest.raises(BadParameter, match="model=INST cannot be registered"):
        rankstone.measures.register_continuation("INST", lambda *output: output[1])


def test_a_package_announces_measures(tmp_path: Path) -> None:
    """An entry point of the group rankstone.measures is found by name, on the command line too."""
    (tmp_path / "announced.py").write_text(
        "import rankstone\n"
        "@rankstone.measure('Announced', span=(0, None))\n"
        "def announced(hits):\n"
        "    'From another package.'\n"
        "    return hits.grade\n"
    )
    info = tmp_path / "announced-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: announced\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[rankstone.measures]\nannounced = announced\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rankstone", "measures", "show", "announced"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "From another package." in done.stdout


# -- the checker itself --------------------------------------------------------------------------------
def test_the_checker_shows_what_breaks() -> None:
    """A law that is broken is named, with a query that shows it."""

    @dataclass(frozen=True, kw_only=True)
    class Deep(Measure):
        name: ClassVar[str] = "Deep"
        family: ClassVar[str] = "test"
        card: ClassVar[Card] = CARD

        @property
        def claims(self) -> Claims:
            summed = self.agg == "sum"
            return Claims(looks_deeper=summed, promotion_helps=summed)

        def contributions(self, hits: Any) -> Contributions:
            """Prefer late documents."""
            return Contributions(hits.grade * hits.rank / 1000, np.ones(hits.queries))

    rankstone.register(Deep)
    with pytest.raises(
        LawBroken, match="ties=expected is the mean over all orders: query"
    ):
        check_measure("Deep")
    with pytest.raises(LawBroken, match="moving a better document up is no loss"):
        check_measure("Deep(agg=sum)")
