"""Reports: nothing in a file becomes markup, nothing is fetched, what is shown is what was compared."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

import rankstone
from rankstone import demo, plots
from rankstone.errors import MissingExtra
from rankstone.reports import chart_style as style
from rankstone.reports.charts.pair_charts import thinned

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("altair", reason="charts need the extra: report")
pytest.importorskip("vl_convert", reason="charts need the extra: report")
pytest.importorskip("jinja2", reason="reports need the extra: report")

EVIL = "</script><script>window.evil=1</script><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """What a browser makes of a page: its elements, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a script."""
        self._open = self._open and tag != "script"

    def handle_data(self, data: str) -> None:
        """Keep what stands in scripts."""
        if self._open:
            self.scripts[-1] += data

    @property
    def data(self) -> dict[str, Any]:
        """What the page holds."""
        told: dict[str, Any] = json.loads(self.scripts[0])
        return told


@pytest.fixture(autouse=True)
def _little_vega(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave Vega out: these tests look at the page around it."""
    monkeypatch.setattr("rankstone.reports.chart_style.script", lambda: "/* Vega */")


def page_of(found: rankstone.Comparison, path: Path) -> Page:
    rankstone.report(found, path / "report.html", command="rankstone report …")
    return Page((path / "report.html").read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return page_of(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP"), tmp_path)


def test_markup_in_ids_stays_text(tmp_path: Path) -> None:
    """Ids of queries, documents and runs that are markup open no element."""
    qrels = {EVIL: {EVIL: 1, "b": 0}, "q2": {"a": 1}}
    one = {EVIL: {EVIL: 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    two = {EVIL: {"b": 2.0, EVIL: 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    plain = page_of(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10"), tmp_path)

    evil = page_of(rankstone.compare(qrels, {EVIL: one, "b": two}, "nDCG@10"), tmp_path)

    assert {tag for tag, _ in evil.tags} <= {tag for tag, _ in plain.tags}
    assert len(evil.scripts) == 4
    assert EVIL in evil.data["queries"]["ids"]


def test_every_script_is_named_by_the_policy(page: Page) -> None:
    """Scripts run by their hash alone, and nothing may be fetched."""
    policy = next(about["content"] for _, about in page.tags if about.get("http-equiv"))

    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.count("'sha256-") == len(page.scripts) - 1
    assert "unsafe-eval" not in policy


def test_nothing_is_fetched(page: Page) -> None:
    """No element names a place outside the file."""
    places = [about.get(name) for _, about in page.tags for name in ("src", "href") if about.get(name)]

    assert places == ["data:,"]


def test_the_page_holds_the_scores(page: Page) -> None:
    """A query's scores on the page are those of the comparison."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    told = page.data["queries"]
    at = told["ids"].index("q10")
    matrix = found.matrices["AP"]

    values = [column[at] for column in told["values"]["AP"]]

    assert values == pytest.approx(matrix.values[matrix.queries.to_list().index("q10")].tolist(), rel=1e-5)


def test_lists_and_derivations_are_those_of_explain(page: Page) -> None:
    """The list of a query is what explain unfolds."""
    one = rankstone.explain(demo.QRELS, demo.RUNS["tfidf"], "nDCG@10", "q25")
    assert isinstance(one, rankstone.Explanation)

    told = page.data["lists"]["queries"]["q25"]["tfidf"]

    assert [row[1] for row in told["rows"]] == [row.doc_id for row in one.rows]
    assert told["sheet"]["parts"][0]["title"] == "The list"
    assert [cell for *_, cell in told["sheet"]["parts"][0]["rows"][-3:]] == ["0", "3", "0"]


def test_curves_are_drawn(page: Page) -> None:
    """Precision over recall, the measure over its cutoff and Success@k are there, with their rows."""
    titles = [chart["spec"]["title"] for name, chart in page.data["charts"].items() if "curve" in name]

    assert titles[0] == "Precision over recall, interpolated"
    assert titles[1].startswith("nDCG@1..20")
    assert titles[2].startswith("Success@k")


def test_saved_scores_say_what_is_missing(tmp_path: Path) -> None:
    """From saved scores there is a page, and it says that lists and curves are not there."""
    saved = {
        name: {f"q{at}": {"map": at / 9 + extra} for at in range(9)} for name, extra in (("a", 0), ("b", 0.1))
    }

    told = page_of(rankstone.compare_scores(saved), tmp_path).data

    assert told["lists"]["note"] == told["notes"][0] == told["words"]["no_lists"]


def test_provenance_names_inputs_by_hash(page: Page) -> None:
    """Files that were read are told with their SHA-256."""
    inputs = page.data["provenance"]["inputs"]

    assert [one["name"] for one in inputs] == ["judgments", "bm25", "tfidf"]
    assert all(re.fullmatch(r"[0-9a-f]{64}", one["sha256"]) for one in inputs)


def test_what_libraries_would_say(page: Page) -> None:
    """Ours comes first; what stands beside a library is what its convention gives."""
    told = page.data["libraries"]
    system, versus = told["systems"]

    assert told["rows"][0]["means"] == "nDCG@10"
    assert len(told["rows"]) > 3
    for row in told["rows"]:
        library, words = row["libraries"].split("; ")[0].split(" ", 1)
        for side, name in (("one", system), ("other", versus)):
            word = re.sub(r" \(\+\d+\)$", "", words)
            scores = rankstone.evaluate(demo.QRELS, {"run": demo.RUNS[name]}, word, convention=library)
            value = next(iter(scores.to_dict()["run"].values()))
            assert value is not None
            assert row[side] == pytest.approx(value, abs=6e-5)  # some print four decimals


def test_libraries_are_asked_of_lists_only(tmp_path: Path) -> None:
    """Scores that were saved are nobody else's."""
    saved = {
        name: {f"q{at}": {"map": at / 9 + gap} for at in range(9)} for name, gap in (("a", 0), ("b", 0.1))
    }

    told = page_of(rankstone.compare_scores(saved), tmp_path).data

    assert told["libraries"]["note"] == told["words"]["no_libraries"]


def test_other_tests_stand_on_the_page(page: Page) -> None:
    """The primary question, by every test."""
    (row,) = page.data["by_test"]

    assert set(row) == {
        "measure",
        "system",
        "versus",
        "randomisation",
        "t",
        "wilcoxon",
        "sign",
        "mcnemar",
        "agree",
    }
    assert row["mcnemar"] is None


def test_chinese(tmp_path: Path) -> None:
    """Headings and sentences are Chinese where that is asked for."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", lang="zh")

    told = page_of(found, tmp_path).data

    assert (told["words"]["verdict"], told["lang"]) == ("结论", "zh")


def test_many_queries_are_summed_up(tmp_path: Path) -> None:
    """Of 20,000 queries the page keeps the ends and even steps, says how many there are, and stays small."""
    scores = {
        name: {f"q{at}": {"map": (at * step % 997) / 997} for at in range(20_000)}
        for name, step in (("a", 7), ("b", 11))
    }

    found = rankstone.compare_scores(scores)
    told = page_of(found, tmp_path).data["queries"]

    assert told["n"] == 20_000
    assert len(told["ids"]) == 2_000
    assert (tmp_path / "report.html").stat().st_size < 8e6


def test_thinned_keeps_the_ends() -> None:
    """The largest differences either way are kept, in their order."""
    import polars as pl

    rows = pl.DataFrame({"difference": [float(at) for at in range(30_000)]})

    kept = thinned(rows)["difference"]

    assert kept[:500].to_list() == [float(at) for at in range(500)]
    assert kept[-500:].to_list() == [float(at) for at in range(29_500, 30_000)]
    assert kept.is_sorted()


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C on the way leaves the file that was there."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    target = tmp_path / "report.html"
    target.write_text("before")

    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankstone.reports.list_pages.Explainer.explain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rankstone.report(found, target)

    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "before"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the packages the error says what to install, before any work."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    monkeypatch.setitem(__import__("sys").modules, "altair", None)

    with pytest.raises(MissingExtra, match=r"altair is not installed(.|\n)*rankstone\[report\]"):
        rankstone.report(found, tmp_path / "report.html")


def test_the_same_page_every_time(tmp_path: Path) -> None:
    """Nothing of the day or the machine's mood is in it."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")

    rankstone.report(found, tmp_path / "a.html")
    rankstone.report(found, tmp_path / "b.html")

    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_runs_of_dicts_keep_their_order(tmp_path: Path) -> None:
    """Plain lists of documents are shown as they were given."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"x": {"q1": ["z", "a"], "q2": ["b"]}, "y": {"q1": ["a", "z"], "q2": ["c", "b"]}}

    told = page_of(rankstone.compare(qrels, runs, "nDCG@10"), tmp_path).data["lists"]["queries"]

    assert [row[1] for row in told["q1"]["x"]["rows"]] == ["z", "a"]
    assert [row[1] for row in told["q1"]["y"]["rows"]] == ["a", "z"]


@pytest.mark.parametrize("kind", ["forest", "differences", "scatter", "histogram", "pr_curve", "at_k"])
def test_charts_are_altair(kind: str) -> None:
    """Every chart is a valid specification with rows in it."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")

    spec = getattr(plots, kind)(found).to_dict()

    (rows,) = spec["datasets"].values()
    assert len(rows) > 0


def test_charts_are_saved(tmp_path: Path) -> None:
    """A chart becomes SVG with the names of the systems in it."""
    plots.forest(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")).save(str(tmp_path / "x.svg"))

    assert "tfidf − bm25" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_systems_differ_by_colour_and_shape() -> None:
    """No two of 56 systems share both."""
    names = [f"s{at}" for at in range(56)]
    look = style.by_system(names, "system")

    ranges = [look[name].to_dict()["scale"]["range"] for name in ("color", "shape")]

    assert len(set(zip(*ranges, strict=True))) == 56


def test_movement_knows_the_whole_list(tmp_path: Path) -> None:
    """A document that the other list has further down than is shown is not absent there."""
    far = [f"d{at}" for at in range(40)]
    runs = {"x": {"q1": far, "q2": ["a"]}, "y": {"q1": far[::-1], "q2": ["a"]}}

    told = page_of(rankstone.compare({"q1": {"d0": 1}, "q2": {"a": 1}}, runs, "nDCG@10"), tmp_path)
    ranks = told.data["lists"]["queries"]["q1"]["y"]["ranks"]

    assert (ranks["d0"], ranks["d39"]) == (40, 1)


def test_many_questions_are_summed_up(tmp_path: Path) -> None:
    """Of many questions the page first says how many are decided, then which."""
    scores = {f"s{at}": {f"q{q}": {"map": at / 10 + q / 90} for q in range(9)} for at in range(7)}

    found = rankstone.compare_scores(scores)
    said = page_of(found, tmp_path).data["sentences"]
    decided = len(found.table.filter(verdict="better"))

    best = f"{0.6 + 4 / 90:.4f}"
    assert said[0] == f"map: {decided} of 21 comparisons are conclusive; best mean: s6, {best}"
    assert all("is better than" in sentence for sentence in said[1 : 1 + decided])


def test_what_was_asked_stands_beside_ids(tmp_path: Path) -> None:
    """Texts of queries come from the table of queries, as texts."""
    asked = {f"q{at:02}": {"text": f"{EVIL} {at}"} for at in range(1, 33)}

    told = page_of(rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", queries=asked), tmp_path)
    at = told.data["queries"]["ids"].index("q07")

    assert told.data["queries"]["texts"][at] == f"{EVIL} 7"
    assert len(told.scripts) == 4


def test_one_curve_that_cannot_be_leaves_the_others(tmp_path: Path) -> None:
    """Precision over recall has no mean over ties; curves over k have, and are drawn."""
    found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", ties="expected")

    told = page_of(found, tmp_path).data

    assert "PR has no closed form" in told["notes"][0]
    assert [told["charts"][f"curve{at}"]["spec"]["title"][:9] for at in range(2)] == [
        "nDCG@1..2",
        "Success@k",
    ]
