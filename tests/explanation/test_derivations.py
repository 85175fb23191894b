"""Values of two rankings and of whole lists, unfolded: by hand, in every format, and refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt
from tests.explanation.test_explanation import NASTY, _compile, _read_html
from tests.rows import each

import rankstone
from rankstone.tables.markup import latex
from rankstone.tables.sheet import Sheet

if TYPE_CHECKING:
    from pathlib import Path

A, B = {"q": ["a", "b", "c"], "r": ["a"]}, {"q": ["b", "a", "d"], "s": ["a"]}
PAST = {"u": ["a"], "v": ["a", "b"], "w": ["a", "c"], "x": ["b"]}


def two(measure: str) -> Any:
    return rankstone.diff(A, B, measure).explain(measure, "q")


def whole(measure: str, user: str | None = None, **beside: Any) -> Any:
    lists = {"u": ["a", "b"], "v": ["a", "c"]}
    return rankstone.beyond(lists, measure, history=PAST, **beside).explain(
        measure, user
    )


def test_agreement_by_depth() -> None:
    """RBO of abc and bad: A = 0, 1, 2/3; the tail goes on with the last."""
    table = two("RBO(p=0.5)").tables[0]
    assert table.frame["agreement"].to_list() == [0.0, 1.0, 2 / 3]
    assert table.frame["contribution"].to_list() == [0.0, 1 / 2, 1 / 4 * (2 / 3)]
    assert table.steps == {
        "seen": (1 - 0.5) * table.total,
        "agreement_at_end": 2 / 3,
        "beyond_lists": 2 / 3 * 0.5**3,
    }


def test_pairs_by_document() -> None:
    """Tau of ab against ba: one pair, in opposite order, counted from both."""
    comparison = two("tau_b")
    assert comparison.tables[0].frame.select("document", "same", "opposite").rows() == [
        ("a", 0, 1),
        ("b", 0, 1),
    ]
    assert (comparison.numerator, comparison.denominator, comparison.value) == (
        -2.0,
        2.0,
        -1.0,
    )


def test_members_of_either_list() -> None:
    """Jaccard tells of every document where it stands, and of those of one list that the other lacks them."""
    frame = two("Jaccard").tables[0].frame
    assert frame.select("document", "rank_a", "rank_b", "contribution").rows() == [
        ("a", 1, 2, 1),
        ("b", 2, 1, 1),
        ("c", 3, None, 0),
        ("d", None, 3, 0),
    ]


def test_queries_of_one_run() -> None:
    """A query that one run does not answer has no table and says which run does."""
    alike = rankstone.diff(A, B, "tau_b", names=("old", "new"))
    explanation = alike.explain("tau_b", "r")
    assert (explanation.status, explanation.value, explanation.tables) == (
        "only_a",
        None,
        (),
    )
    assert "only old answers" in explanation.text()
    assert "只有 new" in alike.explain("tau_b", "s", lang="zh").text()


def test_items_of_a_list() -> None:
    """Novelty of a, met by 3 of 4 users, and b, met by 2."""
    explanation = whole("Novelty@2", "u")
    bits = [-math.log2(3 / 4), -math.log2(2 / 4)]
    assert explanation.tables[0].frame.select(
        "item", "rank", "popularity", "contribution"
    ).rows() == [("a", 1, 3, bits[0]), ("b", 2, 2, bits[1])]
    assert explanation.value == (bits[0] + bits[1]) / 2


def test_items_of_a_run_largest_first() -> None:
    """Entropy of a shown twice, b and c once; in coverage a comes first as well."""
    frame = whole("Entropy@2").tables[0].frame
    assert frame.select("item", "lists", "share").rows() == [
        ("a", 2, 0.5),
        ("b", 1, 0.25),
        ("c", 1, 0.25),
    ]
    table = whole("Coverage@1").tables[0]
    assert table.frame.rows()[0] == ("a", 2.0, 1.0)
    assert table.total == 1


def test_long_tables_are_cut() -> None:
    """The largest 25 are shown, the others counted and summed; the table itself is whole."""
    lists = {
        f"u{index}": [f"i{position}" for position in range(index + 1)]
        for index in range(40)
    }
    explanation = rankstone.beyond(lists, "Personalization").explain("Personalization")
    assert explanation.tables[0].frame.height == 40
    assert explanation.tables[0].frame["lists"].to_list() == list(range(40, 0, -1))
    assert "… 15 more" in explanation.text()
    assert explanation.numerator == sum(count * (count - 1) for count in range(41))


def test_categories_instead_of_items() -> None:
    """Calibration adds up over categories, and says so."""
    items = {"a": {"category": "x"}, "b": {"category": "y"}, "c": {"category": "y"}}
    explanation = whole("Calibration(distance=hellinger)@2", "u", items=items)
    (table,) = explanation.tables
    assert (table.of, table.frame["past_share"].to_list()) == ("category", [1.0, 0.0])
    assert table.frame["list_share"].to_list() == [0.5, 0.5]
    assert explanation.value == math.sqrt(table.total)


def test_a_librarys_measures() -> None:
    """A convention's measures are explained by the names it gives them."""
    scores = rankstone.beyond(
        {"u": ["a", "b"]}, "MeanInvUserFreq@2", history=PAST, convention="rectools"
    )
    explanation = scores.explain("MeanInvUserFreq@2", "u")
    assert explanation.measure == "MeanInvUserFreq@2"
    assert explanation.value == scores.per_query["value"][0]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "measure", ["RBO(p=0.9)", "tau_ap(reference=both)", "Fagin_K", "wtau", "rho"]
)
def test_two_rankings_in_every_format(measure: str, lang: str, tmp_path: Path) -> None:
    """Whatever ids are made of."""
    alike = rankstone.diff(
        {"q": ["b", NASTY, "x"]}, {"q": [NASTY, "b"]}, measure, names=("a&b", NASTY)
    )
    _readable(alike.explain(measure, "q", lang=lang), tmp_path, lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "measure", ["Novelty", "PopularityLift", "Gini", "AWRF", "EEL", "DP(protected=<g>)"]
)
def test_whole_lists_in_every_format(measure: str, lang: str, tmp_path: Path) -> None:
    """Whatever ids and groups are made of."""
    items = {NASTY: {"group": "<g>"}, "b": {"group": "h&"}}
    qrels = {NASTY: {"b": 1}}
    scores = rankstone.beyond(
        {NASTY: ["b", NASTY]},
        measure,
        items=items,
        history={NASTY: ["b"], "o": [NASTY]},
        qrels=qrels,
    )
    user = NASTY if scores.per_query.height else None
    _readable(scores.explain(measure, user, lang=lang), tmp_path, lang)


def _readable(result: Any, folder: Path, lang: str) -> None:
    json.loads(json.dumps(result.to_dict(), allow_nan=False))
    tokens = {
        token.type for token in MarkdownIt().enable("table").parse(result.to_markdown())
    }
    assert "table_open" in tokens
    assert "html_block" not in tokens
    _read_html(result.to_html())
    assert (
        "\x1b"
        not in result.text()
        + result.to_markdown()
        + result.to_html()
        + result.to_latex()
    )
    assert max(map(len, result.text(80).splitlines())) <= 80
    if lang == "en":
        _compile(result, folder)


def test_it_is_written_as_json(tmp_path: Path) -> None:
    """As other results are."""
    two("RBO(p=0.5)").write(tmp_path / "it.json")
    parsed = json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))
    assert parsed["value"] == two("RBO(p=0.5)").value
    assert parsed["tables"][0]["rows"][0]["depth"] == "1"


def test_refusals_say_what_to_do() -> None:
    """Measures that were not computed, users and queries that are not there, an unknown language."""
    alike, scores = (
        rankstone.diff(A, B, "tau_b"),
        rankstone.beyond(PAST, "Novelty Entropy", history=PAST),
    )
    for call, text in (
        (lambda: alike.explain("tau_a", "q"), "tau_a was not computed"),
        (lambda: alike.explain("tau_b", "z"), "in neither run"),
        (lambda: alike.explain("tau_b", "q", lang="fr"), "is not known"),
        (lambda: scores.explain("Novelty"), "a value for each user"),
        (lambda: scores.explain("Novelty", "no_queries"), "has no list"),
        (lambda: scores.explain("Entropy", "u"), "one value for the whole run"),
        (lambda: scores.explain("Gini"), "was not computed"),
        (lambda: scores.explain("Entropy", run="other"), "there is no run other"),
    ):
        with pytest.raises(rankstone.RankstoneError, match=text):
            call()  # type: ignore[no-untyped-call]


@each("name", list(rankstone.measures.MEASURES))
def test_latex_writes_every_sign_of_a_card(name: str) -> None:
    """Formulas stand above every table: no sign is left that LaTeX's own fonts lack."""
    card = rankstone.measures.MEASURES[name].card
    written = latex(Sheet("t", card.formula, card.symbols, ()))
    assert {sign for sign in written if ord(sign) > 127} <= {"ĝ"}
    assert r"\~{q}" in latex(Sheet("t", "q̃", "", ()))
