"""What an explanation shows, and that every format it is written in can be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from markdown_it import MarkdownIt
from tests.rows import each

import rankstone
from rankstone import Explanation, RankstoneError, explain
from rankstone.explanation.explain_scores import typed_in
from rankstone.explanation.score_difference import ExplainedDifference
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.hit_scores import HitScores
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {
    "q": {"a": 2, "b": 1, "c": 1, "z": 0, "n": -1},
    "empty": {"a": 0},
    "gone": {"a": 1},
}
RUN = {"q": {"b": 3.0, "a": 2.0, "x": 2.0, "z": 1.0}, "empty": {"a": 1.0, "x": 0.5}}
NASTY = '<script>alert(1)</script>|$x$ & \\input{x} %_^~#{} "\x1b[31m`*'


def of(measure: str, query: str = "q", **options: Any) -> Explanation:
    explanation = explain(QRELS, RUN, measure, query, **options)
    assert isinstance(explanation, Explanation)
    return explanation


@pytest.mark.parametrize("options", [{"missing": "drop"}, {"no_results": "drop"}])
def test_a_query_that_is_left_out_is_explained(options: dict[str, Any]) -> None:
    """A query with an empty list does not count under such rules; what decides is stated."""
    explanation = rankstone.explain({"q": {"a": 1}}, {"q": []}, "AP", "q", **options)
    assert isinstance(explanation, Explanation)
    name, value = next(iter(options.items()))
    assert (explanation.status, explanation.value) == ("missing", 0.0)
    assert f"{name}={value}" in explanation.text()


def test_the_table_before_the_sum() -> None:
    """Gains, discounts, contributions and totals are those of the formula."""
    text = of("nDCG@3")
    assert [row.doc_id for row in text.rows] == ["b", "x", "a", "z"]
    assert text.columns == ("gain", "divisor")
    assert text.rows[2].values == {"gain": 2.0, "divisor": 2.0}
    assert text.numerator == 1 / 1 + 2 / 2
    assert next((row.doc_id, row.values["contribution"]) for row in text.ideal) == (
        "a",
        2.0,
    )
    assert text.frame.columns == [
        "rank",
        "doc_id",
        "relevance",
        "judged",
        "gain",
        "divisor",
        "contribution",
        "running",
    ]
    assert text.frame["running"].to_list() == [1.0, 1.0, 2.0, 2.0]


def test_which_rules_fired() -> None:
    """Ties, unjudged documents, negative grades, short lists, empty and unanswered queries are reported."""
    codes = {note.code for note in of("nDCG@5").footnotes}
    assert codes == {"ties", "unjudged", "negative", "short"}
    assert {note.code for note in of("nDCG@1").footnotes} == {"negative"}
    assert [note.code for note in of("AP", "empty").footnotes] == [
        "no_relevant",
        "unjudged",
    ]
    gone = of("AP", "gone")
    assert (gone.status, gone.value, gone.rows) == ("missing", 0.0, ())
    assert [note.code for note in gone.footnotes] == ["missing"]
    assert "ties=docid_desc" in of("nDCG@5").text()
    assert "标注" in of("nDCG@5", lang="zh").text()


def test_what_would_change_it_is_a_score() -> None:
    """A document moved to where it belongs scores what evaluate says of that list."""
    change = of("nDCG@3").changes[0]
    docs = [row.doc_id for row in of("nDCG@3").rows]
    moved = [doc for doc in docs if doc != change.doc_id]
    moved.insert(change.to - 1, change.doc_id)
    scores = rankstone.evaluate(QRELS, {"q": moved}, "nDCG@3").per_query
    assert change.value == scores.filter(query_id="q")["value"][0]
    assert change.gain == change.value - (of("nDCG@3").value or 0.0)


def test_others_and_conventions() -> None:
    """Libraries score this query alone; one may be explained by its own name."""
    text = of("nDCG@3", libraries=True)
    assert text.others["pytrec_eval-0.5"] == pytest.approx(text.value)
    assert text.others["xgboost-3.2"] != pytest.approx(text.value)
    theirs = explain(QRELS, RUN, "ndcg@3", "q", convention="xgboost")
    assert isinstance(theirs, Explanation)
    assert theirs.value == pytest.approx(text.others["xgboost-3.2"])
    assert theirs.measure == "ndcg@3"
    assert theirs.ours == "nDCG(gain=exp2)@3"


def test_a_library_has_its_own_rule_for_queries_without_a_relevant_document() -> None:
    """The rule that is printed is the one that decided: LightGBM gives 1, not 0."""
    nothing = {"q": {"a": 0, "b": 0}}
    ranking = {"q": ["a", "b"]}
    theirs = explain(nothing, ranking, "ndcg@3", "q", convention="lightgbm")
    assert isinstance(theirs, Explanation)

    assert theirs.value == 1
    assert "empty=one" in theirs.text()
    assert "empty=zero" not in theirs.text()


@pytest.mark.parametrize(
    "measure",
    ["nDCG@3", "AP", "AUC(negatives=judged)", "RBP_residual(p=0.8)", "yaap", "RC"],
)
@pytest.mark.parametrize("vs", [None, {"q": ["c", "b"]}])
def test_every_format_can_be_read(measure: str, vs: Any, tmp_path: Path) -> None:
    """JSON, Markdown, HTML and LaTeX go through their own readers, whatever ids are made of."""
    qrels = {"q": {NASTY: 2, "b": 1, "c": 1, "z": 0}}
    explanation = explain(
        qrels, {NASTY: {"q": ["b", NASTY, "x"]}}, measure, "q", versus=vs
    )
    json.loads(json.dumps(explanation.to_dict()))
    tokens = MarkdownIt().enable("table").parse(explanation.to_markdown())
    assert "table_open" in {token.type for token in tokens}
    assert "html_block" not in {token.type for token in tokens}
    _read_html(explanation.to_html())
    assert (
        "\x1b"
        not in explanation.text()
        + explanation.to_markdown()
        + explanation.to_html()
        + explanation.to_latex()
    )
    assert max(map(len, explanation.text(80).splitlines())) <= 80
    _compile(explanation, tmp_path)


def _read_html(text: str) -> None:
    """Check that every tag that is opened is closed, and that no id became a tag."""
    still_open: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
            assert tag != "script"
            still_open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert still_open.pop() == tag

    Reader().feed(text)
    assert not still_open


def _compile(explanation: Explanation | ExplainedDifference, folder: Path) -> None:
    """Put it into a document, and let LaTeX say whether it is one, where there is a LaTeX."""
    text = explanation.to_latex()
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert not re.search(r"(?<!\\)[&](?! )", text.replace(" & ", ""))
    program = shutil.which("pdflatex")
    if program is None:
        return
    head = "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{textcomp,booktabs}"
    (folder / "it.tex").write_text(
        f"{head}\\begin{{document}}\n{text}\\end{{document}}\n", encoding="utf-8"
    )
    done = subprocess.run(
        [program, "-draftmode", "it.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        input="",
    )
    assert done.returncode == 0, done.stdout[-1500:]


def test_a_difference_is_attributed_to_documents() -> None:
    """Every document's share of both scores, and of the difference."""
    both = explain(QRELS, RUN, "AP", "q", versus={"q": ["c", "b"]})
    assert isinstance(both, ExplainedDifference)
    assert both.difference == pytest.approx(
        sum(share.difference for share in both.shares), abs=1e-15
    )
    assert {share.doc_id for share in both.shares} == {"a", "b", "c"}
    assert both.frame["difference"].to_list() == [
        share.difference for share in both.shares
    ]


def test_typed_in() -> None:
    """Grades in the order of a list, and what was judged beside them."""
    assert typed_in("1 0 -") == ({"typed": {"d1": 1.0, "d2": 0.0}}, ["d1", "d2", "d3"])
    for grades, judged in (("x", None), ("", None), ("3", "2")):
        with pytest.raises(RankstoneError):
            typed_in(grades, judged)


def test_mistakes_are_reported() -> None:
    """An unjudged query, several measures, an unknown language."""
    with pytest.raises(rankstone.InputError, match="query q9 is not judged"):
        of("AP", "q9")
    with pytest.raises(rankstone.UsageError, match="one measure expected"):
        of("AP RR")
    with pytest.raises(rankstone.UsageError, match="lang='fr'"):
        of("AP", lang="fr")


def test_pairs_and_the_nearest_ideal_order() -> None:
    """Rank correlation tells each document's place, ideal place, and its pairs."""
    explanation = explain(
        {"q": {"a": 1, "b": 0, "c": 1}}, {"q": ["a", "b", "c"]}, "RC", "q"
    )
    assert isinstance(explanation, Explanation)
    texts = {row.doc_id: dict(row.values) for row in explanation.rows}
    assert [texts[doc]["ideal_place"] for doc in "abc"] == [1, 3, 2]
    assert [texts[doc]["pairs_wrong"] for doc in "abc"] == [0, 1, 1]
    assert explanation.value == pytest.approx(2 / 3)


def test_a_curve_tells_its_points() -> None:
    """Interpolated precision over the levels; without interpolation, the query's own points."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    explanation = explain(qrels, run, "PR(levels=3)", "q")
    assert isinstance(explanation, Explanation)
    assert explanation.curve == ((0.0, 1.0), (0.5, 1.0), (1.0, 2 / 3))
    assert explanation.value == (1 / 1 + 2 / 3) / 2
    own = explain(qrels, run, "PR(interp=none)", "q")
    assert isinstance(own, Explanation)
    assert own.curve == ((0.5, 1.0), (0.5, 1 / 2), (1.0, 2 / 3))
    assert "The curve" in explanation.text()


@each("name", list(rankstone.measures.MEASURES))
def test_every_kind_of_measure_explains_itself(name: str) -> None:
    """Rankings against judgments are unfolded (the laws say how well); lists say what explains them."""
    kind = rankstone.measures.MEASURES[name]
    text = (*kind.examples, name)[0]
    if issubclass(kind, (rankstone.Measure, rankstone.measures.Curve)):
        qrels: Any = {"q": {"a": 1, "b": 0}}
        if (
            kind.judgment_columns
            or kind.requires
            & {JudgmentGroups, AbstainedLists, ListCosts, ListSources, HitScores}
            or kind.query_columns
        ):
            return  # needs further tables: the laws give it these
        explanation = explain(qrels, {"q": ["b", "a"]}, text, "q", candidates=10)
        assert isinstance(explanation, Explanation)
        assert explanation.text()
    else:
        with pytest.raises(
            rankstone.UsageError,
            match=r"use the method explain of the results of diff and beyond",
        ):
            explain({"q": {"a": 1}}, {"q": ["a"]}, text, "q")


def test_intents_are_distinguished() -> None:
    """A measure of diversity tells which intent the list answers, and where."""
    rows = [
        ("q", "s1", "a", 1),
        ("q", "s2", "a", 1),
        ("q", "s2", "b", 1),
        ("q", "s3", "c", 1),
        ("q", "s3", "z", 0),
    ]
    qrels = pl.DataFrame(
        rows, ["query_id", "subtopic", "doc_id", "relevance"], orient="row"
    )
    explanation = explain(qrels, {"q": ["x", "a", "b"]}, "alpha_nDCG@3", "q")
    assert isinstance(explanation, Explanation)
    pairs = [
        (intent.name, intent.relevant, intent.ranks) for intent in explanation.intents
    ]
    assert pairs == [("s1", 1, (2,)), ("s2", 2, (2, 3)), ("s3", 1, ())]
    assert "found at ranks" in explanation.text()


def test_a_pooled_hit_ratio_says_what_this_query_adds() -> None:
    """Pooled over users, hits and relevant items are summed apart; per user the ratio itself is averaged."""
    pooled, each = (of(text, "q") for text in ("R(agg=pooled)@2", "R@2"))
    assert [note.about for note in pooled.footnotes if note.code == "pooled"] == [
        {"numerator": f"{pooled.numerator:g}", "denominator": f"{pooled.denominator:g}"}
    ]
    assert not [note for note in each.footnotes if note.code == "pooled"]


def test_an_empty_run_is_no_run() -> None:
    """A query without a list is reported; a run without any list is a mistake."""
    missing = explain(QRELS, {"other": ["a"]}, "RR", "q")
    assert isinstance(missing, Explanation)
    assert missing.status == "missing"
    with pytest.raises(RankstoneError, match="the run is empty"):
        explain(QRELS, ([], [], []), "RR", "q")


def test_texts_of_documents() -> None:
    """Those of the chunks that stand for their documents, and of relevant ones that were not retrieved."""
    documents = pl.DataFrame(
        {
            "doc_id": ["a#1", "a#2", "b#1", "c"],
            "title": [None, "A", None, ""],
            "text": ["first", "<b>\x1b[31m", None, "x" * 500],
        }
    )
    qrels, run = {"q": {"a": 1, "c": 2, "d": 1}}, {"q": ["a#2", "a#1", "b#1"]}
    explanation = rankstone.explain(
        qrels, run, "AP", "q", unit="document", documents=documents
    )
    assert isinstance(explanation, rankstone.Explanation)
    assert explanation.texts == {"a": "A: <b>\x1b[31m", "c": "x" * 500}
    assert "\x1b" not in str(explanation)
    assert "<b>" not in explanation.to_html()
    assert "x" * 150 in str(explanation).replace("\n", "").replace(" ", "")
    assert explanation.report()["texts"] == dict(explanation.texts)
    assert (
        "texts"
        not in rankstone.explain(qrels, run, "AP", "q", unit="document").report()
    )
    missing = rankstone.explain(
        qrels, {"p": ["a"]}, "AP", "q", documents=documents, extra="drop"
    )
    assert list(missing.texts) == ["c"]  # type: ignore[union-attr]
    costs = documents.select("doc_id", tokens=pl.lit(1))
    assert rankstone.explain(qrels, run, "AP", "q", documents=costs).texts == {}  # type: ignore[union-attr]


#: documents with their sources under two names
SITES: Final = pl.DataFrame(
    {
        "doc_id": ["a", "x", "c", "b", "y"],
        "source": ["one", "one", "two", "one", "three"],
        "brand": [7, 8, 7, 8, 9],
        "tokens": [10, 10, 10, 10, 10],
    }
)


@pytest.mark.parametrize(
    ("text", "sources", "counts"),
    [
        ("Sources@4", ["one", "one", "two", "one"], "one × 3, two × 1"),
        ("SourceShare@2", ["one", "one"], "one × 2"),
        (
            "Sources",
            ["one", "one", "two", "one", "three"],
            "one × 3, two × 1, three × 1",
        ),
        ("Sources(column=brand)@3", ["7", "8", "7"], "7 × 2, 8 × 1"),
        ("Sources@tokens(20)", ["one", "one"], "one × 2"),
    ],
)
def test_sources_of_documents(text: str, sources: list[str], counts: str) -> None:
    """The source of each document that is counted stands in its row, in every format and language."""
    run = {"q": ["a", "x", "c", "b", "y"]}
    explanation = explain({"q": {"a": 1}}, run, text, "q", documents=SITES)
    assert isinstance(explanation, Explanation)
    assert dict(explanation.sources) == dict(zip(run["q"], sources, strict=False))
    assert explanation.report()["sources"] == dict(explanation.sources)
    if text.startswith("Sources"):
        assert explanation.value == len({*sources})

    for lang, source, words in (
        ("en", "source", "documents of each source: "),
        ("zh", "来源", "各来源的文档数："),
    ):
        shown = replace(explanation, lang=lang)
        [table] = [t for t in shown.sheet().parts if isinstance(t, Table) if t.total]
        assert table.head[2] == source
        column = [row[2] for row in table.rows[:5]]
        assert column == sources + [""] * (5 - len(sources))
        for written in (shown.text(140), shown.to_html(), shown.to_markdown()):
            assert words + counts in written


def test_explanations_without_sources() -> None:
    """Other measures and missing lists have no sources."""
    other = explain({"q": {"a": 1}}, {"q": ["a"]}, "RR", "q", documents=SITES)
    missing = explain(
        {"q": {"a": 1}, "r": {"a": 1}}, {"r": ["a"]}, "Sources@2", "q", documents=SITES
    )
    for explanation in (other, missing):
        assert isinstance(explanation, Explanation)
        assert not explanation.sources
        assert "each source" not in explanation.text()


def test_sources_of_long_lists_are_on_the_first_screen() -> None:
    """Ten documents, though none contributes."""
    docs = [f"d{n}" for n in range(30)]
    table = pl.DataFrame({"doc_id": docs, "source": [f"s{n % 28}" for n in range(30)]})
    explanation = explain(
        {"q": {"d0": 1}}, {"q": docs}, "Sources@30", "q", documents=table
    )
    shown = explanation.text()
    assert "s9" in shown
    assert "…" in shown
    assert "s0 × 2, s1 × 2, s2 × 1" in " ".join(shown.split())
