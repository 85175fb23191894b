"""Reports: the answer comes first, nothing in a file becomes markup, what is shown is what was compared."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import demo, plots
from rankstone.errors import BadParameter, MissingExtra
from rankstone.explanation import Explainer, Explanation
from rankstone.reports import chart_style as style
from rankstone.reports.charts.comparison_charts import thinned

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("altair", reason="charts need the extra: report")
pytest.importorskip("vl_convert", reason="charts need the extra: report")
pytest.importorskip("jinja2", reason="reports need the extra: report")

EVIL = "</script><script>window.evil=1</script><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """What a browser makes of a page: its elements, their texts by section, and what is in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: dict[str, str] = {}
        self._section, self._open = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in ("script", "style") else self._open
        if tag == "script":
            self.scripts.append("")
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
        self._space(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a script."""
        self._open = "" if tag == self._open else self._open
        self._space(tag)

    def _space(self, tag: str) -> None:
        """Keep the texts of elements apart, but for those within a sentence."""
        if tag not in ("b", "code", "a"):
            self.texts[self._section] = self.texts.get(self._section, "") + " "

    def handle_data(self, data: str) -> None:
        """Keep what is in scripts and in sections."""
        if self._open == "script":
            self.scripts[-1] += data
        elif not self._open:
            self.texts[self._section] = self.texts.get(self._section, "") + data

    def text(self, section: str = "answer") -> str:
        """Return the text of a section, without line ends and no-break spaces."""
        return " ".join(self.texts[section].split())

    @property
    def data(self) -> dict[str, Any]:
        """What the page holds."""
        held: dict[str, Any] = json.loads(self.scripts[0])
        return held


def page_of(result: Any, path: Path, **shown: Any) -> Page:
    rankstone.report(
        result, path / "report.html", command="rankstone report …", **shown
    )
    return Page((path / "report.html").read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return page_of(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP"), tmp_path)


def scores(**systems: float) -> dict[str, dict[str, dict[str, float]]]:
    """Return scores of 40 queries, their means 0.5 and the shift; systems share the noise of queries."""
    own, shared = np.random.default_rng(6), np.random.default_rng(5).normal(0, 0.08, 40)
    numbers = {}
    for name, shift in systems.items():
        noise = shared + own.normal(0, 0.02, 40)
        values = 0.5 + shift + noise - noise.mean()
        numbers[name] = {
            f"q{index}": {"nDCG@10": float(value)} for index, value in enumerate(values)
        }
    return numbers


# -- the answer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "margin", "claim", "rest"),
    [
        (
            0.2,
            None,
            "Better SPLADE beats BM25",
            r"0\.5\d → 0\.7\d \(\+0\.2\d, .* 0\.1\d to 0\.2\d?\), better on 40 of 40",
        ),
        (
            -0.2,
            None,
            "Worse SPLADE loses to BM25",
            r"0\.5\d → 0\.3\d \(−0\.2\d, .* −0\.2\d to −0\.1\d\), worse on 40 of 40",
        ),
        (
            0.0,
            0.05,
            "Equivalent SPLADE and BM25 are equivalent",
            r"; differences up to 0\.05 do not matter here",
        ),
        (
            0.003,
            None,
            "No clear winner No clear winner between SPLADE and BM25",
            r"; detecting a difference of this size takes about [\d,]+ queries",
        ),
    ],
)
def test_the_four_verdicts(
    tmp_path: Path, shift: float, margin: float | None, claim: str, rest: str
) -> None:
    """Badge, claim and numbers say the verdict of the comparison."""
    comparison = rankstone.compare_scores(scores(BM25=0.0, SPLADE=shift), margin=margin)

    answer = page_of(comparison, tmp_path).text()

    assert f"{claim} nDCG@10" in answer
    assert ", 95 % interval" in answer
    assert re.search(rest, answer), answer


@pytest.mark.parametrize(
    ("shift", "claim"),
    [
        (0.2, "更好 SPLADE 优于 BM25 nDCG@10 由 0.5"),
        (-0.2, "更差 SPLADE 不及 BM25 nDCG@10 由 0.5"),
        (0.003, "尚无定论 SPLADE 与 BM25 孰优孰劣，尚无定论 nDCG@10 为 0.5"),
    ],
)
def test_verdicts_in_chinese(tmp_path: Path, shift: float, claim: str) -> None:
    """The answer is stated in the reader's language, with percentages as they are written there."""
    comparison = rankstone.compare_scores(scores(BM25=0.0, SPLADE=shift), lang="zh")

    answer = page_of(comparison, tmp_path).text()

    assert claim in answer
    assert "95% 置信区间" in answer
    assert not re.search(r"\d\s%", answer)


def test_a_chinese_page_has_no_english(tmp_path: Path) -> None:
    """Beside names, options and units, nothing that a reader sees is English."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP", lang="zh")

    document = page_of(comparison, tmp_path)

    assert ("html", {"lang": "zh"}) in document.tags
    text = document.text("answer") + document.text("caveats")
    words = set(re.findall(r"[a-z]{4,}", text)) - {
        "tfidf",
        "docid",
        "ties",
        "best",
        "worst",
        "bounds",
        "desc",
        "edges",
        "cript",
    }
    assert words == set()


def test_identical_runs(tmp_path: Path) -> None:
    """Systems that score the same are called equal, and are not too close to call."""
    run = demo.RUNS["bm25"]
    answer = page_of(
        rankstone.compare(demo.QRELS, {"a": run, "b": run}, "nDCG@10"), tmp_path
    ).text()

    assert "Identical b and a have identical scores nDCG@10 is 0.57 for both" in answer
    assert "equal on each of 32 queries" in answer


def test_one_query(tmp_path: Path) -> None:
    """A single query has no interval, no p, and a caveat that says so."""
    runs = {"x": {"q1": ["b", "c", "a"]}, "y": {"q1": ["a", "c", "b"]}}
    document = page_of(
        rankstone.compare({"q1": {"a": 1, "b": 2}}, runs, "nDCG@10", interval="t"),
        tmp_path,
    )

    assert "one query · 2 judgments" in document.text()
    assert "too few queries for an interval" in document.text()
    assert "p-value" not in document.text()
    assert (
        "One query A single query says nothing about others. No verdict is possible."
        in document.text("caveats")
    )


def test_numbers_of_any_size(tmp_path: Path) -> None:
    """Small differences get more decimals, large values fewer."""
    close = page_of(rankstone.compare_scores(scores(a=0.0, b=0.0004)), tmp_path).text()
    large = {
        name: {q: {"m": 4000 * of["nDCG@10"]} for q, of in each.items()}
        for name, each in scores(a=0.0, b=0.2).items()
    }

    assert re.search(r"nDCG@10 0\.\d{3,} and 0\.\d{3,}", close)
    assert re.search(
        r"m 2,0\d\d → 2,[78]\d\d \(\+\d{3}, ",
        page_of(rankstone.compare_scores(large), tmp_path).text(),
    )


def test_a_title(tmp_path: Path) -> None:
    """The title is in the head of the page and of the window."""
    comparison = rankstone.compare_scores(scores(a=0.0, b=0.2))
    document = page_of(comparison, tmp_path, title=f"TREC {EVIL}")

    assert document.text().startswith(f"TREC {EVIL} 40 queries".replace("  ", " "))
    assert len(document.scripts) == 2


# -- leaderboards ----------------------------------------------------------------------------------------


def test_the_top_of_a_leaderboard(tmp_path: Path) -> None:
    """The answer is about the first place: settled, or not."""
    open_top = page_of(
        rankstone.compare_scores(scores(a=0.0, b=0.199, c=0.2)), tmp_path
    ).text()
    settled = page_of(
        rankstone.compare_scores(scores(a=0.0, b=0.1, c=0.2)), tmp_path
    ).text()

    assert "No clear winner at the top c leads; b is too close to call" in open_top
    assert "The remaining one is clearly worse." in open_top
    assert re.search(
        r"With 40 queries and all 3 pairs compared at once \(95 %\), a difference of about 0\.0\d+ is clear",
        open_top,
    )
    assert "Clear winner c is clearly the best of 3" in settled


def test_a_leaderboard_against_a_baseline(tmp_path: Path) -> None:
    """With a baseline the answer counts those that beat it, and there is no matrix of all pairs."""
    document = page_of(
        rankstone.compare_scores(scores(a=0.0, b=0.2, c=0.1, d=-0.2), baseline="a"),
        tmp_path,
    )

    assert "2 of 3 systems beat a" in document.text()
    assert "One is clearly worse." in document.text()
    assert ("div", {"id": "matrix"}) not in document.tags
    assert document.data["baselines"] == [2]


def test_rows_of_a_leaderboard(tmp_path: Path) -> None:
    """Rank and possible ranks, letters, name, mean, queries against the leader are on the page itself."""
    comparison = rankstone.compare_scores(scores(a=0.0, b=0.199, c=0.2))
    document = page_of(comparison, tmp_path)

    assert re.search(r"1 1–2 a c 0\.70\d* leader", document.text("board"))
    assert re.search(r"3 b a 0\.50\d* 0 / 0 / 40", document.text("board"))
    assert "All 3 pairs as a table" in document.text("pairs")


def test_few_judged_documents_are_flagged(tmp_path: Path) -> None:
    """A system of whose results fewer than 90 % are judged has a mark, and a caveat."""
    runs = {
        **demo.RUNS,
        "other": {
            f"q{index:02}": ["nobody", "knows", "bread-01"] for index in range(1, 33)
        },
    }
    document = page_of(
        rankstone.compare(demo.QRELS, runs, "nDCG@10", permutations=200), tmp_path
    )

    assert "◂fewer than 90 % judged: may be underrated" in document.text("board")
    assert re.search(
        r"Of \d of 3 systems, fewer than 90 % of the results are judged .*other \d+ %",
        document.text("caveats"),
    )
    assert "The order could change." in document.text("caveats")


def test_many_systems_stay_small(tmp_path: Path) -> None:
    """60 systems: rows beyond the first 40 wait for a search, columns hold all pairs once."""
    rng = np.random.default_rng(1)
    many = {
        f"s{index}": {f"q{q}": {"m": float(rng.random())} for q in range(20)}
        for index in range(60)
    }
    comparison = rankstone.compare_scores(
        many, correction="bonferroni", test="t", interval="t"
    )
    document = page_of(comparison, tmp_path)

    assert (
        sum(about.get("class") == "rest" for tag, about in document.tags if tag == "tr")
        == 20
    )
    assert len(document.data["pairs"]["one"]) == 60 * 59 / 2
    assert (tmp_path / "report.html").stat().st_size < 600_000


# -- data ------------------------------------------------------------------------------------------------


def test_the_page_holds_the_scores(page: Page) -> None:
    """A query's scores on the page are those of the comparison; the baseline comes first."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    held, matrix = page.data["queries"], comparison.matrices["nDCG@10"]
    position = held["ids"].index("q10")

    values = [column[position] for column in held["values"]]

    assert page.data["systems"] == ["bm25", "tfidf"]
    assert values == pytest.approx(
        matrix.values[matrix.queries.to_list().index("q10")].tolist(), rel=1e-4
    )


def test_the_page_holds_the_table(page: Page) -> None:
    """Differences, intervals and counts are those of the comparison."""
    row = (
        rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
        .table.filter(measure="AP")
        .row(0, named=True)
    )
    held = page.data["pairs"]["measures"][1]

    assert [held["difference"], held["low"], held["high"]] == [
        [pytest.approx(row[name], rel=1e-4)] for name in ("difference", "low", "high")
    ]
    assert (held["wins"], held["losses"], held["verdict"]) == (
        [row["wins"]],
        [row["losses"]],
        "w",
    )


def test_the_primary_measure_comes_first(tmp_path: Path) -> None:
    """Whatever the order of measures, columns begin with the one that decides."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP", primary="AP")
    document = page_of(comparison, tmp_path)

    assert [measure["name"] for measure in document.data["measures"]] == [
        "AP",
        "nDCG@10",
    ]
    assert [measure["primary"] for measure in document.data["measures"]] == [
        True,
        False,
    ]
    assert document.data["pairs"]["measures"][0]["difference"][0] == pytest.approx(
        comparison.table["difference"][0], rel=1e-4
    )
    assert "AP 0.52 → 0.45" in document.text()


@pytest.mark.parametrize(
    "options", [{}, {"ties": "input"}, {"unit": r"^(\w+)-"}, {"depth": 5}]
)
def test_lists_are_those_of_explain(tmp_path: Path, options: dict[str, Any]) -> None:
    """Ranks and grades of the examples are those that explain unfolds, under any options."""
    if "unit" in options:
        options = {**options, "duplicates": "first_drop"}
        qrels: Any = {"q25": {"coffee": 3}, "q24": {"bees": 1}}
    else:
        qrels = demo.QRELS
    comparison = rankstone.compare(qrels, demo.RUNS, "nDCG@10", **options)
    explanation = rankstone.explain(
        qrels, demo.RUNS["tfidf"], "nDCG@10", "q25", **options
    )
    assert isinstance(explanation, Explanation)

    held = page_of(comparison, tmp_path).data["lists"]["queries"]["q25"]
    ranks = sorted(
        (rank, index) for index, rank in enumerate(held["ranks"][1]) if 0 < rank <= 10
    )

    assert [
        (rank, held["docs"][position], held["grades"][position])
        for rank, position in ranks
    ] == [(row.rank, row.doc_id, row.relevance) for row in explanation.rows[:10]]


def test_ranks_know_the_whole_list(tmp_path: Path) -> None:
    """A document that the other list has further down than is shown is not absent there."""
    far = [f"d{index}" for index in range(40)]
    runs = {"x": {"q1": far, "q2": ["a"]}, "y": {"q1": far[::-1], "q2": ["a"]}}
    held = page_of(
        rankstone.compare({"q1": {"d0": 1}, "q2": {"a": 1}}, runs, "nDCG@10"), tmp_path
    )
    lists = held.data["lists"]["queries"]["q1"]

    assert [of[lists["docs"].index("d39")] for of in lists["ranks"]] == [40, 1]


def test_ranked_lists_with_ties_and_holes() -> None:
    """Documents without a judgment have no grade; those of a missing query are none."""
    ready = Explainer(demo.QRELS, "nDCG@10", ties="expected")
    rows = ready.ranked_lists(demo.RUNS["bm25"], "bm25", ["q01", "nowhere"])

    assert rows["query_id"].unique().to_list() == ["q01"]
    assert rows["relevance"].null_count() > 0
    assert ready.ranked_lists({"q1": ["a"]}, "x", ["nowhere"]).height == 0


def test_titles_and_texts(tmp_path: Path) -> None:
    """Texts of queries, attributes, titles and texts of documents come from tables, cut and as texts."""
    queries = {
        f"q{index:02}": {"text": f"{EVIL} {index}", "half": "first"}
        for index in range(1, 33)
    }
    documents = {"bread-01": {"title": EVIL, "text": "long " * 200, "cost": 3}}
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", queries=queries)

    document = page_of(comparison, tmp_path, documents=documents)
    held, position = (
        document.data["queries"],
        document.data["queries"]["ids"].index("q07"),
    )
    fields = [
        about
        for query in document.data["lists"]["queries"].values()
        for about in query["about"]
        if about
    ]

    assert (held["texts"][position], held["attributes"][position]) == (
        f"{EVIL} 7",
        "half: first",
    )
    assert {about["title"] for about in fields} == {EVIL}
    assert max(len(about["text"]) for about in fields) <= 220
    assert {about["cost"] for about in fields} == {"3"}
    assert len(document.scripts) == 2


def test_runs_of_dicts_keep_their_order(tmp_path: Path) -> None:
    """Plain lists of documents are shown as they were given."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {
        "x": {"q1": ["z", "a"], "q2": ["b"]},
        "y": {"q1": ["a", "z"], "q2": ["c", "b"]},
    }

    held = page_of(rankstone.compare(qrels, runs, "nDCG@10"), tmp_path).data["lists"][
        "queries"
    ]["q1"]

    assert dict(zip(held["docs"], zip(*held["ranks"], strict=True), strict=True)) == {
        "z": (1, 2),
        "a": (2, 1),
    }


def test_saved_scores_say_what_is_missing(tmp_path: Path) -> None:
    """From saved scores there is a page, and it says that lists are not there."""
    held = page_of(rankstone.compare_scores(scores(a=0.0, b=0.1)), tmp_path).data

    assert (held["lists"]["k"], held["lists"]["note"]) == (0, "no_lists")
    assert held["words"]["no_lists"].startswith("Saved scores have no lists")


def test_many_queries_are_summed_up(tmp_path: Path) -> None:
    """Of 20,000 queries the page keeps the ends and even steps, quantiles of all, and stays small."""
    many = {
        name: {
            f"q{index}": {"map": (index * step % 997) / 997} for index in range(20_000)
        }
        for name, step in (("a", 7), ("b", 11))
    }

    held = page_of(rankstone.compare_scores(many), tmp_path).data["queries"]

    assert held["n"] == 20_000
    assert len(held["ids"]) == 2_000
    assert len(held["quantiles"]) == 201
    assert held["quantiles"] == sorted(held["quantiles"], reverse=True)
    assert (tmp_path / "report.html").stat().st_size < 1e6


def test_segments(tmp_path: Path) -> None:
    """Comparisons within segments are on the page, by name."""
    queries = {
        f"q{index:02}": {"half": "first" if index < 17 else "second"}
        for index in range(1, 33)
    }
    comparison = rankstone.compare(
        demo.QRELS, demo.RUNS, "nDCG@10", queries=queries, by="half"
    )

    held = page_of(comparison, tmp_path).data["segments"]

    assert (held["name"], held["n"]) == (["first", "second"], [16, 16])


def test_a_pair_is_small(page: Page, tmp_path: Path) -> None:
    """No chart library is in a page."""
    assert len(page.data["words"]) > 100
    assert (tmp_path / "report.html").stat().st_size < 300_000


# -- caveats and method ----------------------------------------------------------------------------------


def test_caveats_end_in_their_effect(page: Page) -> None:
    """What was not judged could turn this verdict; ties and the size of the collection do not."""
    text = page.text("caveats")

    assert "One of these could change the verdict." in text
    assert (
        "Some of tfidf’s results were never judged 23 % of its first 10, 14 % of bm25’s."
        in text
    )
    assert "32 queries, one collection" in text
    assert text.count("The verdict could change.") == 1


def test_bounds_decide_what_unjudged_documents_do(tmp_path: Path) -> None:
    """With bounds the caveat says how far the difference could go."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", bounds=True)

    text = page_of(comparison, tmp_path).text("caveats")

    assert re.search(
        r"the difference would lie between −0\.\d\d and \+0\.\d\d\. The verdict could change\.",
        text,
    )


def test_one_query_that_decides(tmp_path: Path) -> None:
    """A difference that a single query carries has a caveat."""
    data = {"a": {f"q{index}": {"m": 0.5} for index in range(30)}}
    data["b"] = {
        f"q{index}": {"m": 0.5 + (0.0002 if index else 0.4)} for index in range(30)
    }
    comparison = rankstone.compare_scores(data, interval="t", test="sign")
    wide = rankstone.compare_scores(scores(a=0.0, b=0.2))

    assert "One query carries" not in page_of(wide, tmp_path).text("caveats")
    assert "queries, one collection" in page_of(comparison, tmp_path).text("caveats")


def test_provenance_names_inputs_by_hash(page: Page) -> None:
    """Inputs are on the page with their SHA-256, with options, versions and the command."""
    text = page.text("method")

    assert len(re.findall(r"sha256 [0-9a-f]{64}", text)) == 3
    assert "alignment.ties docid_desc" in text
    assert f"rankstone {rankstone.__version__}" in text
    assert text.endswith("Reproduce rankstone report …")


def test_the_method(page: Page) -> None:
    """Test, interval and the same question by other tests are reported."""
    text = page.text("method")

    assert "paired randomisation test" in text
    assert re.search(
        r"Other tests randomisation p = 0\.\d+, Student’s t p = 0\.\d+, Wilcoxon p = 0\.\d+",
        text,
    )
    assert "exploratory, each corrected on its own: AP" in text


# -- safety ----------------------------------------------------------------------------------------------


def test_markup_in_ids_stays_text(tmp_path: Path) -> None:
    """Ids of queries, documents and runs that are markup open no element."""
    qrels = {EVIL: {EVIL: 1, "b": 0}, "q2": {"a": 1}}
    item = {EVIL: {EVIL: 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    two = {EVIL: {"b": 2.0, EVIL: 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    plain = page_of(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10"), tmp_path)

    evil = page_of(
        rankstone.compare(qrels, {EVIL: item, "b": two}, "nDCG@10"), tmp_path
    )

    assert {tag for tag, _ in evil.tags} <= {tag for tag, _ in plain.tags}
    assert len(evil.scripts) == 2
    assert EVIL in evil.data["queries"]["ids"]


def test_every_script_is_named_by_the_policy(page: Page) -> None:
    """Scripts run by their hash alone, and nothing may be fetched."""
    policy = next(about["content"] for _, about in page.tags if about.get("http-equiv"))

    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.count("'sha256-") == len(page.scripts) - 1
    assert "unsafe-eval" not in policy


def test_scripts_never_write_markup(page: Page) -> None:
    """What comes from files is put on the page as text."""
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", page.scripts[1]
    )


def test_nothing_is_fetched(page: Page) -> None:
    """No element names a place outside the file."""
    places = [
        about.get(name) or "" for _, about in page.tags for name in ("src", "href")
    ]

    assert {place for place in places if place and not place.startswith("#")} == {
        "data:,"
    }


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C on the way leaves the file that was there."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    target = tmp_path / "report.html"
    target.write_text("before")

    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "rankstone.reports.example_lists.Explainer.ranked_lists", interrupted
    )
    with pytest.raises(KeyboardInterrupt):
        rankstone.report(comparison, target)

    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "before"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the package the error says what to install, before any work; charts are no part of pages."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    rankstone.report(comparison, tmp_path / "report.html")
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)

    with pytest.raises(
        MissingExtra, match=r"jinja2 is not installed(.|\n)*rankstone\[report\]"
    ):
        rankstone.report(comparison, tmp_path / "report.html")


def test_results_without_a_page(tmp_path: Path) -> None:
    """A result that has no page is refused, with what it can do instead."""
    with pytest.raises(BadParameter, match="Scores has no page"):
        rankstone.report(
            rankstone.evaluate(demo.QRELS, demo.RUNS, "AP"), tmp_path / "x.html"
        )


def test_the_same_page_every_time(tmp_path: Path) -> None:
    """Nothing of the day or the machine's mood is in it."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")

    rankstone.report(comparison, tmp_path / "a.html")
    rankstone.report(comparison, tmp_path / "b.html")

    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


# -- pages of other results ------------------------------------------------------------------------------


def test_the_page_of_curves(tmp_path: Path) -> None:
    """Means with their intervals, a line a run."""
    curve = rankstone.curve(demo.QRELS, demo.RUNS, "PR nDCG@1..5", resamples=50)
    document = page_of(curve, tmp_path)

    assert "PR of 2 runs" in document.text()
    assert document.data["curves"] == [["PR", "recall"], ["nDCG@1..5", "k"]]
    assert {row["run"] for row in document.data["curve"]} == {"bm25", "tfidf"}


def test_the_page_of_bounds(tmp_path: Path) -> None:
    """The answer says whether missing judgments could turn the order."""
    pair = rankstone.bounds(
        demo.QRELS, demo.RUNS, "nDCG@10 AP", difference=("bm25", "tfidf")
    )
    single = rankstone.bounds({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")

    document = page_of(pair, tmp_path)
    assert (
        "Not certain Missing judgments could turn the order of bm25 and tfidf"
        in document.text()
    )
    assert re.search(
        r"nDCG@10 of bm25 less that of tfidf: \+0\.06 as judged, and −0\.16 to \+0\.15",
        document.text(),
    )
    assert "An unjudged document can have one of: 0, 1, 2, 3." in document.text(
        "caveats"
    )
    assert (
        "RR of run is 0.50 as judged; 0.50 to 1.00 is possible"
        in page_of(single, tmp_path).text()
    )


def test_the_page_beyond_accuracy(tmp_path: Path) -> None:
    """Each measure with the values of runs."""
    qualities = rankstone.beyond(
        {"u1": ["a", "b"], "u2": ["a", "c"]}, "Coverage@2", catalogue_size=6
    )
    document = page_of(qualities, tmp_path, lang="zh")

    assert "run在准确率之外的表现" in document.text()
    assert document.data["measures"] == [
        {"run": "run", "measure": "Coverage@2", "value": 0.5}
    ]


# -- charts ----------------------------------------------------------------------------------------------


def test_thinned_keeps_the_ends() -> None:
    """The largest differences either way are kept, in their order."""
    rows = pl.DataFrame({"difference": [float(index) for index in range(30_000)]})

    kept = thinned(rows)["difference"]

    assert kept[:500].to_list() == [float(index) for index in range(500)]
    assert kept[-500:].to_list() == [float(index) for index in range(29_500, 30_000)]
    assert kept.is_sorted()


@pytest.mark.parametrize(
    "kind", ["forest", "differences", "scatter", "histogram", "pr_curve", "at_k"]
)
def test_charts_are_altair(kind: str) -> None:
    """Every chart is a valid specification with rows in it."""
    comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")

    spec = getattr(plots, kind)(comparison).to_dict()

    (rows,) = spec["datasets"].values()
    assert len(rows) > 0


def test_charts_are_saved(tmp_path: Path) -> None:
    """A chart becomes SVG with the names of the systems in it."""
    plots.forest(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")).save(
        str(tmp_path / "x.svg")
    )

    assert "tfidf − bm25" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_systems_differ_by_colour_and_shape() -> None:
    """No two of 56 systems share both."""
    names = [f"s{index}" for index in range(56)]
    look = style.by_system(names, "system")

    ranges = [look[name].to_dict()["scale"]["range"] for name in ("color", "shape")]

    assert len(set(zip(*ranges, strict=True))) == 56
