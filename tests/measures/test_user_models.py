"""What user models refuse, and what they say when they do."""

from __future__ import annotations

import pytest
from tests.rows import each

import rankstone
from rankstone import RBP, parse_measure
from rankstone.errors import BadOption, BadParameter, BadValue
from rankstone.measures import CWL, INST


@each(
    ("text", "message"),
    [
        ("ERR@20", "ERR needs max_grade, the highest grade of the scale"),
        ("ERR(max_grade=0)", "more than 0"),
        ("ERR(max_grade=60)", "astronomically large"),
        ("ERR(gain=binary, max_grade=3)", "has no effect"),
        ("ERR(gain={1: 0.5, 2: 3})", "gains from 0 to 1"),
        ("RBP", "RBP needs p"),
        ("RBP(p=1)", "less than 1"),
        ("SDCG(max_grade=3)", "needs a cutoff"),
        ("BPM(max_grade=3)", "needs a cutoff"),
        ("INST(max_grade=3, T=0.2)", "0.5 or more"),
        ("INST(max_grade=3, n_max=1.5)", "not a whole number"),
        ("INST(min_rel=1, max_rel=3)", "scales start at 0 here"),
        ("NERR8(max_grade=3)@2000000", "is too deep"),
        ("CWL(max_grade=3)", "CWL needs model"),
        ("CWL(max_grade=3, model=INST)", "CWL(model=INST) needs T"),
        ("CWL(max_grade=3, model=RBP, p=0.8, T=2)", "T has no effect"),
        ("CWL(max_grade=3, model=P, n_max=50)@10", "n_max has no effect"),
        ("CWL(max_grade=3, model=IST, T=1)", "did you mean model=INST"),
        ("GAP(gain={1: 2, 2: 1})", "the gains fall where grades rise"),
        ("Q(denom=min_R_k)", "needs a cutoff"),
        ("TBG", "TBG(words=500)"),
        ("U", "U(L=20)"),
        ("Compat(depth=deep)", "not a number"),
        ("Compat(depth=2.5)", "not a whole number"),
        ("Compat(normalize=maybe)", "True or False"),
    ],
)
def test_bad_parameters(text: str, message: str) -> None:
    """A parameter that makes no sense, or is missing, is refused with what would do."""
    with pytest.raises(BadParameter) as caught:
        parse_measure(text)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["ERR(max_grade=3)@2", "nERR(max_grade=3)", "INST(max_grade=3)"]
)
def test_a_grade_above_the_scale_is_named(text: str) -> None:
    """Grades are never cut down to the scale: the grade and the measure are named."""
    with pytest.raises(BadValue, match="grade 5 is above max_grade=3") as caught:
        rankstone.evaluate({"q": {"a": 1, "b": 5}}, {"q": ["b", "a"]}, text)

    assert text in str(caught.value)


@pytest.mark.parametrize(
    "text", ["INST(max_grade=3)", "ERR(max_grade=3)", "Compat", "Q"]
)
def test_expected_ties_without_a_closed_form(text: str) -> None:
    """The mean over tied documents is refused where it is not worked out."""
    with pytest.raises(BadOption, match="no closed form"):
        rankstone.evaluate(
            {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, text, ties="expected"
        )


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("INST(T=1.0,max_rel=4)", "INST(max_grade=4)"),
        ("BPM(T=2.0,min_rel=0,max_rel=4)@10", "BPM(max_grade=4, T=2)@10"),
        ("SDCG(dcg='log2',max_rel=3)@10", "SDCG(max_grade=3)@10"),
        ("RBP(p=0.8,rel=1)", "RBP(rel=1, p=0.8)"),
        ("Compat(p=0.95,normalize=True)", "Compat"),
        ("Compatibility(depth=500)", "Compat(depth=500)"),
        ("QMeasure@10", "Q@10"),
        ("err(max_grade=4)@20", "ERR(max_grade=4)@20"),
        ("nerr(max_grade=4)@20", "nERR(max_grade=4)@20"),
    ],
)
def test_spellings(text: str, canonical: str) -> None:
    """The spellings of ir_measures and others are read."""
    assert str(parse_measure(text)) == canonical


def test_parameters_given_in_python() -> None:
    """Numbers may be whole or not, as long as they mean the same."""
    assert INST(max_grade=3, T=2) == parse_measure("INST(max_grade=3, T=2)")
    assert RBP(p=0.8).changed() == {"p": 0.8}
    assert CWL(model="P", gain="binary", k=5).depth == 5


def test_a_table_of_gains_needs_no_scale() -> None:
    """Its largest gain is what unjudged documents may have."""
    text = "RBP_residual(gain={1: 0.25, 2: 0.5}, p=0.5)"
    value = rankstone.evaluate({"q": {"a": 2}}, {"q": ["a", "u"]}, text).to_dict()[
        "run"
    ]

    assert value[text] == 0.5 * (0.5 * 0.5 + 0.5**2)


def test_an_imputed_grade_is_still_open() -> None:
    """What an imputed grade lacks to the top counts in the residual, beside the tail."""
    text = "RBP_residual(gain=linear, max_grade=4, p=0.5)"
    value = rankstone.evaluate(
        {"q": {"a": 2}}, {"q": ["a", "u"]}, text, unjudged=1
    ).to_dict()["run"]

    assert value[text] == 0.5 * (0.5 * 3 / 4) + 0.5**2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("O_measure", (1 + 1) / (2 + 3)),
        ("P_measure", (2 + 3) / (3 + 3)),
        ("P_plus", ((1 + 1) / (2 + 3) + (2 + 3) / (3 + 3)) / 2),
        ("P_measure@2", (1 + 1) / (2 + 3)),
    ],
)
def test_users_who_look_for_one_document(text: str, value: float) -> None:
    """The cards' examples: grades 0, 1, 2 in this order and nothing else judged."""
    scores = rankstone.evaluate(
        {"q": {"a": 0, "b": 1, "c": 2}}, {"q": ["a", "b", "c"]}, text
    )
    assert scores.to_dict()["run"][text] == value
