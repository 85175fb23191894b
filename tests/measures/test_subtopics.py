"""Judgments by subtopic and by propensity: how they are read, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

NESTED = {"q": {"a": {"1": 1, "2": 0}, "b": {"2": 2}}, "r": {"a": {"9": 1}}}
ROWS = [("q", "1", "a", 1), ("q", "2", "a", 0), ("q", "2", "b", 2), ("r", "9", "a", 1)]
RUN = {"q": ["b", "a"], "r": ["x", "a"]}


def value(
    qrels: Any, text: str = "alpha_nDCG@5", run: Any = None, **options: Any
) -> float | None:
    """Return one number."""
    values = rankstone.evaluate(qrels, run or RUN, text, **options).to_dict()["run"]
    return next(iter(values.values()))


# -- reading -------------------------------------------------------------------------------------------
def test_judgments_from_anywhere(tmp_path: Path) -> None:
    """The four columns of ndeval, tables with a column subtopic and nested dicts say the same."""
    frame = pl.DataFrame(
        ROWS, ["query_id", "subtopic", "doc_id", "relevance"], orient="row"
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} {s} {d} {g}\n" for q, s, d, g in ROWS)
    )
    frame.write_csv(tmp_path / "qrels.csv")
    frame.write_parquet(tmp_path / "qrels.parquet")
    numbered = frame.with_columns(pl.col("subtopic").cast(pl.Int64))
    sources = [
        frame,
        numbered,
        *(tmp_path / f"qrels.{suffix}" for suffix in ("txt", "csv", "parquet")),
    ]
    assert all(value(source) == value(NESTED) for source in sources)
    iteration = frame.rename({"subtopic": "iteration"})
    assert value(iteration, columns={"iteration": "subtopic"}) == value(NESTED)


def test_a_table_without_subtopics_is_refused() -> None:
    """A measure over subtopics says which column it wants, and what might be it."""
    frame = pl.DataFrame(
        ROWS, ["query_id", "intent", "doc_id", "relevance"], orient="row"
    )
    with pytest.raises(InputError, match="intent': 'subtopic'"):
        value(frame)
    with pytest.raises(InputError, match="a judgment without subtopic"):
        value(frame.with_columns(subtopic=pl.lit(None, pl.String)))
    labelled = pl.DataFrame({"query_id": ["q"], "score": [1.0], "relevance": [1.0]})
    with pytest.raises(UsageError, match="needs a separate table of judgments"):
        rankstone.evaluate(table=labelled, measures="StRecall@5")


def test_judgments_without_subtopics_are_wondered_about() -> None:
    """Ordinary TREC judgments have one word in their second column: a warning says so."""
    plain = pl.DataFrame(
        [("q", "Q0", "a", 1), ("q", "Q0", "b", 1), ("r", "Q0", "a", 1)],
        ["query_id", "subtopic", "doc_id", "relevance"],
        orient="row",
    )
    for qrels, text, warned in [
        (plain, "alpha_nDCG", True),
        (plain, "AP", False),
        (NESTED, "AP_IA", False),
    ]:
        audit = rankstone.evaluate(qrels, RUN, text).audit.runs["run"]
        assert (
            any("more than one subtopic" in warning for warning in audit.warnings)
            == warned
        )


def test_a_subtopic_judged_twice() -> None:
    """The same (query, document, subtopic) twice is an error unless the option says what to make of it."""
    frame = pl.DataFrame(
        [*ROWS, ROWS[2]], ["query_id", "subtopic", "doc_id", "relevance"], orient="row"
    )
    with pytest.raises(InputError, match="judged more than once"):
        value(frame)
    assert value(frame, duplicate_judgments="max") == value(NESTED)


def test_grades_below_zero() -> None:
    """A document without a judgment for any subtopic counts as unjudged, and so does one without grades."""
    spam = {"q": {**NESTED["q"], "s": {"1": -2, "2": -2}}, "r": NESTED["r"]}
    run = {"q": ["s", "b", "a"], "r": ["a"]}
    scores = rankstone.evaluate(spam, run, "alpha_nDCG@5 Judged@1")
    assert scores.per_query.filter(measure="Judged@1")["value"].to_list() == [0.0, 1.0]
    assert scores.audit.judgments is not None
    assert scores.audit.judgments.negative == 2
    nothing = rankstone.evaluate(
        {"q": {"s": {"1": -1}}}, {"q": ["s"]}, "alpha_nDCG@5 StRecall"
    )
    assert nothing.per_query["status"].to_list() == ["no_relevant", "no_relevant"]


def test_imputed_documents_serve_no_subtopic() -> None:
    """A grade given to an unjudged document says nothing of what it is about."""
    assert value(NESTED, run={"q": ["x", "b"]}, unjudged=1) == value(
        NESTED, run={"q": ["x", "b"]}
    )
    assert (
        value(NESTED, "IA(of=RR)", {"q": ["x", "b"]}, unjudged=1)
        == (1 / 2 * 1 / 2 + 0 / 2) / 2
    )


def test_condensed_lists() -> None:
    """unjudged=condensed takes unjudged documents out first, as for every other measure."""
    assert (
        value(
            NESTED,
            run={"q": ["x", "b", "y", "a"], "r": ["z", "a"]},
            unjudged="condensed",
        )
        == 1.0
    )


# -- intents -------------------------------------------------------------------------------------------
def test_weights_from_anywhere(tmp_path: Path) -> None:
    """Text lines, tables and dicts say the same; a query they do not mention has equal weights."""
    weights = {"q": {"1": 0.8, "2": 0.2}}
    frame = pl.DataFrame(
        {"query_id": ["q", "q"], "subtopic": ["1", "2"], "weight": [0.8, 0.2]}
    )
    (tmp_path / "intents.txt").write_text("# shares\nq 1 .8\nq  2 .2\n")
    frame.write_csv(tmp_path / "intents.csv")
    expected = value(NESTED, "IA(of=RR)", intents=weights)
    assert expected == ((0.8 * 1 / 2 + 0.2 * 1) + 1 / 2) / 2
    for source in (frame, tmp_path / "intents.txt", tmp_path / "intents.csv"):
        assert value(NESTED, "IA(of=RR)", intents=source) == expected
    numbers = {1: {"a": {"x": 1}, "b": {"y": 1}}}
    assert (
        value(numbers, "IA(of=RR)", {1: ["a"]}, intents={1: {"x": 3, "y": 1}}) == 3 / 4
    )


def test_a_query_without_weights_is_as_without_a_table() -> None:
    """Each of its subtopics has weight 1: numerators and denominators are the same, too."""
    run = {"r": RUN["r"], "s": ["a", "b"]}
    qrels = {**NESTED, "s": {"a": {"1": 1, "2": 0}, "b": {"2": 2}}}
    measures = "IA(of=RR) StRecall@1 alpha_nDCG@5"
    plain, weighed = (
        rankstone.evaluate(qrels, run, measures, intents=intents).per_query.filter(
            pl.col("query_id") != "q"
        )
        for intents in (None, {"q": {"1": 0.8, "2": 0.2}})
    )
    assert weighed.equals(plain)
    assert weighed["denominator"].max() == 2.0


def test_the_audit_of_intents() -> None:
    """What did not fit is counted: unknown rows, queries without a row, subtopics weighing nothing."""
    scores = rankstone.evaluate(
        NESTED, RUN, "IA(of=RR)", intents={"q": {"2": 1, "7": 1}}
    )
    beside = scores.audit.intents
    assert beside is not None
    assert (beside.rows, beside.unknown, beside.missing, beside.weightless) == (
        2,
        1,
        1,
        1,
    )
    assert "with weight 0" in "\n".join(scores.audit.lines())
    assert scores.to_dict()["run"]["IA(of=RR)"] == (1 + 1 / 2) / 2


@pytest.mark.parametrize(
    ("intents", "message"),
    [
        ({"q": {"1": -0.5}}, "the weight of an intent is not valid"),
        ({"q": {"1": float("nan")}}, "the weight of an intent is not valid"),
        ({"q": {"1": 1e308, "2": 1e308}}, "the weight of an intent is not valid"),
        ({"zz": {"1": 1}}, "no intent is a judged subtopic"),
        ({"q": {"one": 1}}, "no intent is a judged subtopic"),
        (
            pl.DataFrame(
                {"query_id": ["q", "q"], "subtopic": ["1", "1"], "weight": [1.0, 2.0]}
            ),
            "an intent has two weights",
        ),
        (
            pl.DataFrame(
                {"query_id": ["q"] * 2, "subtopic": ["1", None], "weight": [1.0] * 2}
            ),
            "an intent without subtopic",
        ),
        (
            pl.DataFrame({"query_id": ["q"], "intent": ["1"], "weight": [1.0]}),
            "there is no column subtopic",
        ),
    ],
)
def test_weights_that_are_none(intents: object, message: str) -> None:
    """Weights below zero, twice, or about nothing judged are refused."""
    with pytest.raises(InputError, match=message):
        value(NESTED, "IA(of=RR)", intents=intents)


def test_intents_that_weigh_nothing_at_all() -> None:
    """A query whose served subtopics all weigh 0 has nothing to find."""
    scores = rankstone.evaluate(
        NESTED, RUN, "alpha_nDCG StRecall", intents={"q": {"1": 0, "2": 0}}
    )
    assert scores.per_query.filter(query_id="q")["status"].to_list() == [
        "no_relevant",
        "no_relevant",
    ]


# -- names and parameters ------------------------------------------------------------------------------
@each(
    ("spelling", "text"),
    [
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("α_nDCG(alpha=0.9)@5", "alpha_nDCG(alpha=0.9)@5"),
        ("α-DCG@5", "alpha_DCG@5"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("nERR-IA@20", "nERR_IA@20"),
        ("strec@10", "StRecall@10"),
        ("S-recall@10", "StRecall@10"),
        ("I-rec@10", "StRecall@10"),
        ("MAP-IA", "AP_IA"),
        ("P-IA@5", "P_IA@5"),
        ("nDCG_IA@10", "IA(of=nDCG)@10"),
        ("IA(of=nDCG@10)", "IA(of=nDCG)@10"),
        ("IA(of=nDCG(gain=exp2)@10)@10", "IA(of=nDCG(gain=exp2))@10"),
        ("IA(of='RR(rel=2)')", "IA(of=RR(rel=2))"),
        ("IA(of=AP(denom=k)@3)", "IA(of=AP(denom=k)@3)@3"),
        ("D#-nDCG@10", "Dsharp_nDCG@10"),
        ("D-nDCG@10", "D_nDCG@10"),
        ("nrbp(beta=0.8)", "NRBP(beta=0.8)"),
    ],
)
def test_spellings(spelling: str, text: str) -> None:
    """The names of ndeval, ir_measures and NTCIR are read; the canonical text is read as itself."""
    assert str(rankstone.parse_measure(spelling)) == text
    assert rankstone.parse_measure(text) == rankstone.parse_measure(spelling)


@each(
    ("text", "message"),
    [
        ("alpha_DCG", "needs a cutoff"),
        ("alpha_nDCG(alpha=1.5)@5", "out of range"),
        ("ERR_IA(alpha=0)", "an infinite norm"),
        ("NRBP(beta=1)", "out of range"),
        ("IA", "IA needs of"),
        ("IA(of=nonsense)@5", "there is no measure"),
        ("IA(of=nDCG@5)@6", "two cutoffs"),
        ("IA(of=Judged)@5", "not a sum over a norm"),
        ("IA(of=RBP_residual(p=0.8))@5", "higher must be better"),
        ("IA(of=P(agg=sum))@5", "averaged by their weights"),
        ("IA(of=alpha_nDCG)@5", "needs more than the judgments of one intent"),
        ("IA(of=Rprec)@5", "takes no cutoff"),
        ("Dsharp_nDCG(gamma=2)@5", "out of range"),
    ],
)
def test_measures_that_make_no_sense(text: str, message: str) -> None:
    """Whole lists without a norm, parameters out of range and means of what has none are refused."""
    with pytest.raises(UsageError, match=message):
        rankstone.parse_measure(text)


def test_ties_without_a_closed_form_are_refused() -> None:
    """Novelty depends on every document above; coverage and means over intents have an expectation."""
    with pytest.raises(UsageError, match="no closed form"):
        value(NESTED, ties="expected")
    tied = {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0, "x": 1.0}}
    assert value(NESTED, "StRecall@1", tied, ties="expected") == (1 / 2 + 1 / 2) / 2
    assert value(NESTED, "IA(of=RR)", tied, ties="expected") == (3 / 4 + 3 / 4) / 2


# -- propensities --------------------------------------------------------------------------------------
def test_propensity_scored_measures() -> None:
    """A relevant label weighs 1/p; queries are pooled by default."""
    frame = pl.DataFrame(
        {
            "query_id": ["q", "q", "q", "r"],
            "doc_id": ["rare", "common", "wrong", "common"],
            "relevance": [1, 1, 0, 1],
            "propensity": [0.2, 0.5, 0.1, 0.5],
        }
    )
    run = {"q": ["common", "rare"], "r": ["x", "common"]}
    assert value(frame, "PSP@1", run) == (2 + 0) / (5 + 2)
    assert value(frame, "PSP(agg=mean)@1", run) == (2 / 5 + 0 / 2) / 2
    two = 1 + 1 / np.log2(3)
    above = (2 + 5 / np.log2(3)) / two + 2 / np.log2(3) / 1
    below = (5 + 2 / np.log2(3)) / two + 2 / 1
    assert value(frame, "PSnDCG@2", run) == pytest.approx(above / below)
    assert value(frame, "PSP", run) == (7 + 2) / (7 + 2)
    with pytest.raises(InputError, match="there is no column propensity"):
        value(frame.drop("propensity"), "PSP@1", run)
    with pytest.raises(InputError, match="a judgment's propensity is 0"):
        value(frame.with_columns(propensity=pl.lit(0.0)), "PSP@1", run)
    with pytest.raises(InputError, match="a judgment's propensity is"):
        value(frame.with_columns(propensity=pl.lit(None, pl.Float64)), "PSP@1", run)


def test_the_propensity_of_labels() -> None:
    """Jain, Prabhu and Varma's model: rarer labels are likelier to be missing."""
    chance = rankstone.measures.label_propensity([0, 1, 10, 1000], 10_000)
    c = (np.log(10_000) - 1) * 2.5**0.55
    assert chance[1] == 1 / (1 + c * 2.5**-0.55)
    assert (np.diff(chance) > 0).all()
    assert ((chance > 0) & (chance < 1)).all()
    wiki = rankstone.measures.label_propensity(np.array([3]), 1000, a=0.5, b=0.4)
    assert wiki[0] == pytest.approx(1 / (1 + (np.log(1000) - 1) * 1.4**0.5 * 3.4**-0.5))
    for inputs in ([-1], [np.nan], [1, -2, 5], [3, np.inf], [np.nan, 7]):
        with pytest.raises(UsageError, match="negative or not a finite number"):
            rankstone.measures.label_propensity(inputs, 100)
    with pytest.raises(UsageError, match="too few"):
        rankstone.measures.label_propensity([1], 2)
    with pytest.raises(UsageError, match="above 0"):
        rankstone.measures.label_propensity([1], 100, b=0)


def test_weights_of_intents_at_the_ends_of_their_range() -> None:
    """0 and 1e100 are weights; less, more and none are refused."""
    qrels = pl.DataFrame(
        {
            "query_id": ["q", "q"],
            "subtopic": ["s", "t"],
            "doc_id": ["a", "b"],
            "relevance": [1, 1],
        }
    )

    def score(weight: float | None) -> float | None:
        intents = pl.DataFrame(
            {"query_id": ["q", "q"], "subtopic": ["s", "t"], "weight": [weight, 1.0]}
        )
        scored = rankstone.evaluate(qrels, {"q": ["a"]}, "IA(of=R)@1", intents=intents)
        return scored.to_dict()["run"]["IA(of=R)@1"]

    assert score(0.0) == 0.0
    assert score(1e100) == pytest.approx(1.0)
    assert score(1.0) == 1 / 2
    for weight in (-1e-300, 1.1e100, None, float("inf")):
        with pytest.raises(InputError, match="weight of an intent is not valid"):
            score(weight)
