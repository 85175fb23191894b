"""Reports in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import rankstone
from rankstone import demo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("RANKSTONE_CHROMIUM") or shutil.which("chromium")
EVIL = "<script>window.evil=1</script><img src=x onerror='window.evil=1'>"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: make browser"),
]
playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here: make browser")
pytest.importorskip("vl_convert", reason="reports need the extra: report")


class Opened:
    """A page that is open, what it complained of, and what it asked for."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.path = page, path
        self.complaints: list[str] = []
        self.asked: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("request", lambda request: self.asked.append(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def at(self, address: str = "") -> Page:
        """Return the page at an address within it, drawn."""
        self.page.goto("about:blank")
        self.page.goto(f"file://{self.path}{address}")
        self.page.wait_for_selector("html[data-drawn]")
        return self.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = rankstone.compare(
        demo.QRELS,
        demo.RUNS,
        "nDCG@10 AP",
        queries={f"q{at:02}": {"half": "first" if at < 17 else "second"} for at in range(1, 33)},
        by="half",
    )
    rankstone.report(found, path, command="rankstone report …")
    return path


@pytest.fixture
def report(browser: Browser, written: Path) -> Iterator[Opened]:
    page = browser.new_page()
    yield Opened(page, written)
    page.close()


PAGES = (
    "verdict", "measures", "queries", "query", "curves", "segments", "statistics", "judgments", "provenance",
)  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_pages_open_without_a_complaint(report: Opened, name: str) -> None:
    """Every page is drawn, complains of nothing, and asks for nothing beside its own file."""
    page = report.at(f"#{name}")

    assert page.locator("section:visible").get_attribute("id") == f"page-{name}"
    assert report.complaints == []
    assert [url for url in report.asked if not url.startswith(("file://", "data:", "about:"))] == []


@pytest.mark.parametrize(
    ("name", "charts"), [("verdict", 1), ("queries", 2), ("curves", 4), ("segments", 1), ("statistics", 1)]
)
def test_charts_are_drawn(report: Opened, name: str, charts: int) -> None:
    """Charts are drawn as SVG with marks in them, within their policy."""
    page = report.at(f"#{name}")

    assert page.locator("section:visible svg.marks").count() == charts
    assert page.locator("section:visible svg.marks .role-mark path").count() > 0


def test_tabs_by_keys(report: Opened) -> None:
    """Arrow keys walk through the tabs, and the address follows."""
    page = report.at()
    page.locator("#tab-verdict").focus()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#page-queries:visible")

    assert page.evaluate("document.activeElement.id") == "tab-queries"
    assert page.evaluate("location.hash").startswith("#queries")
    assert page.locator("#tab-queries").get_attribute("aria-selected") == "true"


def test_tables_are_sorted(report: Opened) -> None:
    """A click on a heading sorts, another one the other way."""
    page = report.at("#measures")
    head = page.locator("#page-measures th button", has_text="nDCG@10")

    head.click()
    down = page.locator("#page-measures tbody td:nth-child(1)").all_inner_texts()
    head.click()
    up = page.locator("#page-measures tbody td:nth-child(1)").all_inner_texts()

    assert (down, up) == (["bm25", "tfidf"], ["tfidf", "bm25"])
    assert page.locator("#page-measures th[aria-sort=ascending]").count() == 1


@pytest.mark.parametrize(("asked", "holds"), [(">0.1", 0.1), ("<-0.3", -0.3)])
def test_queries_are_filtered_by_difference(report: Opened, asked: str, holds: float) -> None:
    """A condition keeps the queries whose difference fulfils it, and stands in the address."""
    page = report.at("#queries")

    page.locator("#page-queries input[type=search]").fill(asked)
    texts = page.locator("#page-queries .table >> nth=0 >> tbody tr td:nth-child(4)").all_inner_texts()
    numbers = [float(text.replace("−", "-")) for text in texts]

    assert 0 < len(numbers) < 32
    assert all(number > holds if asked[0] == ">" else number < holds for number in numbers)
    assert "f=" in page.evaluate("location.hash")


def test_from_a_query_to_its_lists(report: Opened) -> None:
    """A query's id leads to two lists and the derivation of its scores."""
    page = report.at("#queries")
    page.locator("#page-queries input[type=search]").fill("q25")

    page.get_by_role("link", name="q25").click()
    page.wait_for_selector("#page-query .list")

    assert page.locator("#page-query h2").inner_text() == "Query q25"
    assert page.locator("#page-query .list h3").all_inner_texts() == [
        "bm25 · nDCG@10 = 1.0000",
        "tfidf · nDCG@10 = 0.0000",
    ]
    assert page.locator("#page-query .chip.yes").first.inner_text() == "3"
    assert page.locator("#page-query .derivation").count() == 2


def test_from_a_bar_to_its_query(report: Opened) -> None:
    """A click on a bar opens the query."""
    page = report.at("#queries")

    page.locator("#page-queries [data-chart=differences] .role-mark path").first.click()
    page.wait_for_selector("#page-query .list")

    assert page.evaluate("location.hash") == "#query?q=q25"


def test_another_measure(report: Opened) -> None:
    """A measure that is chosen is drawn, and can be linked."""
    page = report.at("#queries?m=AP")

    title = page.locator("[data-chart=differences] .role-title-text text").text_content()

    assert title == "AP: tfidf − bm25"
    assert report.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, written: Path, scheme: Any) -> None:
    """The page follows the system, and the button turns it round."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"file://{written}")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    expected = ["rgb(255, 255, 255)", "rgb(18, 22, 28)"][:: 1 if scheme == "light" else -1]

    before = page.evaluate(colour)
    page.locator("#theme").click()

    assert [before, page.evaluate(colour)] == expected
    page.close()


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out(browser: Browser, written: Path, width: int, name: str) -> None:
    """Wide tables scroll by themselves; the page does not."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"file://{written}#{name}")
    page.wait_for_selector("html[data-drawn]")

    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.close()


def test_markup_in_ids_does_nothing(browser: Browser, tmp_path: Path) -> None:
    """Queries, documents and runs called like markup are shown as such, in tables, charts and tips."""
    qrels = {EVIL: {EVIL: 1, "b": 0}, "q2": {"a": 1}}
    one = {EVIL: {EVIL: 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    two = {EVIL: {"b": 2.0, EVIL: 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    rankstone.report(rankstone.compare(qrels, {EVIL: one, "b": two}, "nDCG@10"), tmp_path / "evil.html")
    opened = Opened(browser.new_page(), tmp_path / "evil.html")

    for name in (
        "verdict",
        "measures",
        "queries",
        "query",
        "curves",
        "statistics",
        "judgments",
        "provenance",
    ):
        page = opened.at(f"#{name}")
        for point in page.locator("section:visible .mark-symbol.role-mark path").all()[:4]:
            point.hover(force=True)
        assert page.evaluate("window.evil") is None

    page = opened.at("#queries")
    page.locator("#page-queries td a", has_text="window.evil").first.click()
    page.wait_for_selector("#page-query .list")
    assert "<script>" in page.locator("#page-query h2").inner_text()
    assert page.evaluate("window.evil") is None
    assert opened.complaints == []
    page.close()


def test_tables_are_copied(browser: Browser, written: Path) -> None:
    """What is copied as CSV is what the table shows."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"file://{written}#measures")
    page.wait_for_selector("html[data-drawn]")

    page.get_by_role("button", name="Copy CSV").click()
    page.wait_for_selector("#said.on")
    text = page.evaluate("navigator.clipboard.readText()")

    assert re.match(r"system,nDCG@10,AP,Judged@10\nbm25,0\.5\d+,", text)
    context.close()


def test_print_draws_all_pages(report: Opened) -> None:
    """Printing draws every page first, and shows them all."""
    page = report.at()
    page.evaluate("window.print = () => { window.printed = true; }")

    page.locator("#print").click()
    page.wait_for_function("window.printed")
    page.emulate_media(media="print")

    assert page.locator("section:visible").count() == len(PAGES)
    assert page.locator("section:visible svg.marks").count() >= 8


@pytest.fixture(scope="module")
def retention_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rankstone.online.cohort_retention import retention

    path = tmp_path_factory.mktemp("retention") / "retention.html"
    log: dict[str, list[Any]] = {"user_id": [], "time": [], "app": []}
    for user in range(60):
        for age in (0, *(day for day in (1, 2, 5, 9) if user % (day + 1) == 0)):
            log["user_id"].append(user)
            log["time"].append(f"2024-01-{1 + user % 12 + age:02}")
            log["app"].append(EVIL if user % 3 == 0 else "2.0")
    rankstone.report(retention(log, by="app"), path, command="rankstone online retention log.csv --by app")
    return path


def test_the_page_of_retention(browser: Browser, retention_page: Path) -> None:
    """Charts are drawn, a segment can be chosen, tables sort; nothing is asked for and nothing runs."""
    told = Opened(browser.new_page(), retention_page)
    page = told.at()

    for chart in ("curve", "heatmap", "periods"):
        assert page.locator(f"[data-chart={chart}] svg.marks").count() == 1
    heatmap = page.locator("[data-chart=heatmap] svg.marks")
    first = heatmap.text_content()
    page.select_option("#page-cohorts select", "1")
    page.wait_for_function(
        "text => document.querySelector('[data-chart=heatmap] svg.marks').textContent !== text", arg=first
    )
    assert "<script>" in (heatmap.text_content() or "")
    assert heatmap.locator(".role-mark path").count() > 10
    page.locator("#page-periods th button").nth(1).click()
    assert page.locator("#page-periods th[aria-sort]").count() == 1
    assert page.locator("#page-differences table").count() == 1
    assert page.evaluate("window.evil") is None
    assert told.complaints == []
    assert told.asked == [f"file://{retention_page}"]
    page.close()


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_retention_fits(browser: Browser, retention_page: Path, width: int, scheme: Any) -> None:
    """It is no wider than the window, by day and by night."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    Opened(page, retention_page).at()

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
