"""Measures as values and as text."""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import AP, RR, F, P, R, UsageError, nDCG, parse_measure, parse_measures
from rankstone.errors import BadParameter, UnknownMeasure
from rankstone.measures import IA, MEASURES, GainTable, Threshold, trec_name
from rankstone.measures.core.definition import Named


@each(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp2)@10"),
        ("nDCG(gains={0: 0, 1: 2})@5", "nDCG(gain={0: 0, 1: 2})@5"),
        ("ndcg@10-l2", "nDCG(rel=2)@10"),
        ("map", "AP"),
        ("MAP@100", "AP@100"),
        ("map_cut_100", "AP@100"),
        ("GMAP", "AP(agg=gmean)"),
        ("mrr@10", "RR@10"),
        ("recip_rank", "RR"),
        ("precision-l2@5", "P(rel=2)@5"),
        ("P.5", "P@5"),
        ("recall_1000", "R@1000"),
        ("hit_rate@3", "Success@3"),
        ("HR@3", "Success@3"),
        ("hits@3", "NumRelRet(agg=mean)@3"),
        ("r-precision", "Rprec"),
        ("f1@5", "F@5"),
        ("set_P", "P(denom=n)"),
        ('AP(rel=">2")', 'AP(rel=">2")'),
        ("RR(target=best)", "RR(target=best)"),
        ("DCG(discount=geometric, p=0.8)@5", "DCG(discount=geometric, p=0.8)@5"),
    ],
)
def test_spellings(text: str, canonical: str) -> None:
    """The spellings of ir_measures, trec_eval and ranx become one canonical text, which parses back."""
    measure = parse_measure(text)

    assert canonical == str(measure)
    assert measure == parse_measure(canonical)


def test_several_in_one_text() -> None:
    """Blanks and commas divide measures, also trec_eval's lists of cutoffs."""
    expected = [
        nDCG(k=10),
        AP(),
        P(k=5),
        P(k=10),
        nDCG(gain=GainTable(((1, 1), (2, 3)))),
    ]

    assert expected == list(
        parse_measures("nDCG@10,AP P.5,10  nDCG(gain={1: 1, 2: 3}) map")
    )


@each(
    ("text", "message"),
    [
        ("nDCG@0", "the cutoff '0' is not a rank"),
        ("P@-1", "the cutoff '-1' is not a rank"),
        ("P@x", "the cutoff 'x' is not a rank"),
        ("P@1.5", "the cutoff '1.5' is not a rank"),
        ("nDCG(gain=exq2)", "did you mean gain=exp2"),
        ("nDCG(gian=exp2)", "did you mean 'gain'"),
        ("nDCG(gain=exp2", "brackets do not match"),
        ("nDCG(=)", "a parameter cannot be read"),
        ("AP(rel=high)", "not a threshold"),
        ("AP(rel=nan)", "not a threshold"),
        ("AP(denom=k)", "needs a cutoff"),
        ("AP(judged_only=True)", "the option unjudged with the value condensed"),
        ("P(cutoff=10)", "after an @"),
        ("F(beta=0)@5", "more than 0"),
        ("F(beta=two)@5", "not a number"),
        ("Rprec@5", "takes no cutoff"),
        ("nDCG(ideal=k_ones)@5", "gain=binary"),
        ("nDCG(ideal=topk)", "needs a cutoff"),
        ("DCG(discount=geometric)", "p go together"),
        ("DCG(p=0.5)", "p go together"),
        ("DCG(discount=geometric, p=1.5)", "less than 1"),
        ("nDCG(gain={})", "empty"),
        ("nDCG(gain={1: x})", "not a pair"),
        ("nDCG(gain={1: -1})", "from 0 to 9e15"),
    ],
)
def test_bad_parameters(text: str, message: str) -> None:
    """A parameter that makes no sense is refused with what would."""
    with pytest.raises(BadParameter) as caught:
        parse_measure(text)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "near"),
    [("nDGC@10", "nDCG"), ("MPA", "AP"), ("recip_rnk", "RR"), ("precission@5", "P")],
)
def test_unknown_names(text: str, near: str) -> None:
    """An unknown name gets the nearest ones."""
    with pytest.raises(UnknownMeasure, match=f"did you mean .*{near}"):
        parse_measures(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("nDCG@5,10", "each cutoff with its measure: nDCG@5 nDCG@10"),
        ("ndcg_at_10", "write nDCG@10"),
        ("MRR_10", "write RR@10"),
    ],
)
def test_cutoffs_written_otherwise(text: str, fix: str) -> None:
    """A cutoff as other libraries attach it leads to how it is written."""
    with pytest.raises(UnknownMeasure, match=fix):
        parse_measures(text)


def test_a_kind_is_not_yet_a_measure() -> None:
    """A class in the place of a measure gets a sentence that names what is missing."""
    with pytest.raises(UnknownMeasure, match=r"write AP\(\) or"):
        parse_measures([AP])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "value",
    ["RBO", "AP RBO", ["AP", "RBO"], [rankstone.AP(), "RBO(p=0.9)"], "rbo(q=1)"],
)
def test_a_measure_that_has_no_place_needs_no_more(value: Any) -> None:
    """What RBO lacks does not matter where rankings are held against judgments."""
    with pytest.raises(
        BadParameter, match=r"RBO.* is not a measure of a run against judgments"
    ):
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, value)
    with pytest.raises(BadParameter, match="RBO needs p"):
        rankstone.diff({"q": ["d"]}, {"q": ["d"]}, "RBO")


def test_a_cutoff_stands_behind_an_at() -> None:
    """In Python nDCG @ 10 is what nDCG@10 is in text, for kinds and for measures that have one already."""
    assert rankstone.nDCG @ 10 == rankstone.parse_measure("nDCG@10")
    assert rankstone.AP(
        rel=rankstone.measures.Threshold(2.0), k=3
    ) @ 5 == rankstone.parse_measure("AP(rel=2)@5")
    assert rankstone.measures.Jaccard @ 3 == rankstone.parse_measure("Jaccard@3")
    wrong: list[Any] = [0, -1, 2.5, "10"]
    for cutoff in wrong:
        with pytest.raises(UsageError, match="nDCG: k="):
            rankstone.nDCG @ cutoff
    with pytest.raises(UsageError, match="takes no cutoff"):
        rankstone.measures.NumRel @ 10


@pytest.mark.parametrize("value", [5, None, int, object(), [5], [None]])
def test_what_is_no_text_is_no_measure(value: Any) -> None:
    """Anything else than texts and measures is refused as it is, not as its text."""
    with pytest.raises(UsageError, match="is not a measure"):
        rankstone.parse_measures(value)


@pytest.mark.parametrize(
    ("measures", "option", "fix"),
    [
        ("AP", {"rel": 2}, "'AP(rel=2)'"),
        ("AP(denom=k)@5", {"rel": 2}, "'AP(denom=k, rel=2)@5'"),
        ("nDCG@10 AP", {"threshold": 2}, "'nDCG(rel=2)@10'"),
        ("nDCG(gain=exp2)", {"k": 10}, "'nDCG(gain=exp2)@10'"),
        ("NumRel RR", {"cutoff": 3}, "'RR@3'"),
        ("nDCG@10", {"gain": "exp2"}, "'nDCG(gain=exp2)@10'"),
        ("AP", {"denom": "min_R_k"}, "'AP(denom=min_R_k)'"),
        ("P@5", {"rel": 2}, "'P(rel=2)@5'"),
        ("P(rel=2)@5", {"top_k": 7}, "'P(rel=2)@7'"),
        (
            "nDCG(gain=exp2)@tokens(50)",
            {"rel": 2},
            "'nDCG(gain=exp2, rel=2)@tokens(50)'",
        ),
    ],
)
def test_parameters_among_the_options(
    measures: str, option: dict[str, Any], fix: str
) -> None:
    """A parameter of a measure is no option of alignment; the message says where it goes."""
    with pytest.raises(UsageError, match="is a parameter of measures") as raised:
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, measures, **option)
    assert fix in str(raised.value)


def test_the_largest_exponent_of_a_unit_gain() -> None:
    """2^50 is a gain, 2^51 is refused."""
    assert str(parse_measure("ERR(max_grade=50)")) == "ERR(max_grade=50)"
    with pytest.raises(UsageError, match="astronomically large"):
        parse_measure("ERR(max_grade=51)")


def test_options_that_nothing_has() -> None:
    """What neither alignment nor a measure knows is reported as before."""
    with pytest.raises(UsageError, match="there is no alignment option 'relx'"):
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP", relx=2)


def test_nothing_is_no_measure() -> None:
    """An empty text is refused."""
    with pytest.raises(UsageError, match="no measure given"):
        parse_measures("  ")


def example(name: str) -> str:
    """Return a text that builds a measure of this name."""
    return (*MEASURES[name].examples, name)[0]


@each("name", MEASURES)
def test_measures_are_values(name: str) -> None:
    """Measures compare, hash and cannot be changed."""
    first, other = parse_measure(example(name)), parse_measure(example(name))

    assert first == other
    assert hash(first) == hash(other)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.k = 7  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.other = 7


def test_whatever_declares_a_parameter_is_a_dataclass() -> None:
    """Without the decorator, a parameter would be an attribute of the class that cannot be set."""
    for module in iter_modules(
        [str(files("rankstone.conventions.replays"))], "rankstone.conventions.replays."
    ):
        import_module(module.name)
    for name in MEASURES:
        import_module(MEASURES[name].__module__)
    waiting: list[type] = [Named]
    for kind in waiting:
        waiting += kind.__subclasses__()

        assert not [
            name
            for name, value in vars(kind).items()
            if isinstance(value, dataclasses.Field)
        ], kind


@each("name", MEASURES)
def test_every_measure_has_a_whole_card(name: str) -> None:
    """No line of a card is empty, and every parameter has a meaning."""
    card = MEASURES[name].card

    assert all(
        getattr(card, f.name) for f in dataclasses.fields(card) if f.name != "peers"
    )
    assert all(f.metadata["doc"] for f in dataclasses.fields(MEASURES[name]))


def test_numbers_given_in_python_are_checked_too() -> None:
    """The constructor refuses what the text would."""
    with pytest.raises(BadParameter, match="whole number"):
        P(k=1.5)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="out of range"):
        F(beta=-1.0)
    with pytest.raises(BadParameter, match="did you mean denom=R"):
        R(denom="r")


def test_thresholds() -> None:
    """At or above a grade, or strictly above it."""
    assert str(AP(rel=Threshold(2))) == "AP(rel=2)"
    assert str(AP(rel=Threshold(2, strict=True))) == 'AP(rel=">2")'


def test_trec_names() -> None:
    """Measures that trec_eval has print under its names."""
    names = [
        trec_name(m)
        for m in parse_measures("AP AP@5 P@10 R nDCG RR Success@1 NumRet GMAP P RR@10")
    ]

    assert names == [
        "map",
        "map_cut_5",
        "P_10",
        "set_recall",
        "ndcg",
        "recip_rank",
        "success_1",
        "num_ret",
        "gm_map",
        "set_P",
        "RR@10",
    ]
    assert trec_name(RR(agg="sum")) == "RR(agg=sum)"


@pytest.mark.parametrize(
    "text",
    [
        "AP(rel=1000001.0)",
        "AP(rel=0.1234567)",
        'AP(rel=">0.30000000000000004")',
        "nDCG(gain={0.1234567: 1234567.5, 1000001.0: 1e+06})",
        "F(beta=0.3333333333333333)",
        "IA(of=AP(rel=1000001.0))",
    ],
)
def test_no_digit_of_a_number_is_lost(text: str) -> None:
    """Two measures that differ in the last digit of a number have different texts."""
    assert str(parse_measure(text)) == text
    assert parse_measure(str(parse_measure(text))) == parse_measure(text)


def test_numpy_numbers_and_grades_are_taken() -> None:
    """A value from an array is the number it holds; a grade is a threshold."""
    assert P(k=np.int64(5)) == P(k=5)  # type: ignore[arg-type]
    assert str(F(beta=np.float64(1 / 3))) == "F(beta=0.3333333333333333)"
    assert AP(rel=2) == AP(rel=np.int64(2)) == parse_measure("AP(rel=2)")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, 3, np.sqrt, {1: 2}, lambda grade: grade])
def test_a_word_is_a_word(value: object) -> None:
    """What is not a word must not pass for one: a function used to be taken for some other gain."""
    with pytest.raises(BadParameter, match="is not a word"):
        nDCG(gain=value)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="is not a word"):
        AP(denom=value)  # type: ignore[arg-type]


def test_a_threshold_is_a_grade() -> None:
    """Neither text nor nothing nor NaN is one, and IA takes measures."""
    for level in (">1", None, True):
        with pytest.raises(BadParameter, match="is not a threshold"):
            AP(rel=level)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="rel=nan is not a threshold"):
        Threshold(math.nan)
    with pytest.raises(BadParameter, match="of='AP' is not a measure"):
        IA(of="AP")  # type: ignore[arg-type]
    with pytest.raises(UnknownMeasure, match="None is not a measure"):
        parse_measures(None)  # type: ignore[arg-type]


def test_a_rarer_document_counts_more_than_a_better_one() -> None:
    """So moving a better document up may lower propensity-scored measures: (1 / .9) / (1 / .1) = 1/9."""
    rows = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [2, 1]}
    judged = pl.DataFrame(rows | {"propensity": [0.9, 0.1]})
    for text in ("PSP@1", "PSnDCG@1"):
        [measure] = parse_measures([text])
        assert not measure.claims.promotion_helps
        above, below = (
            rankstone.evaluate(judged, {"q": order}, text).to_dict()["run"][text]
            for order in (["a", "b"], ["b", "a"])
        )
        assert above == pytest.approx(1 / 9)
        assert below == 1.0
