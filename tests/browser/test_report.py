"""Reports in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.class_names import without_rule

import rankstone
from rankstone import demo
from rankstone.reports.page_words import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

#: the package that brings axe-core
AXE = importlib.util.find_spec("axe_playwright_python")
CHROMIUM = os.environ.get("RANKSTONE_CHROMIUM") or shutil.which("chromium")
EVIL = "<script>window.evil=1</script><img src=x onerror='window.evil=1'>"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: make browser"),
]
playwright = pytest.importorskip(
    "playwright.sync_api", reason="no Playwright here: make browser"
)
pytest.importorskip("jinja2", reason="reports need the extra: report")


class Opened:
    """A page that is open, what it complained of, and what it requested."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.path = page, path
        self.complaints: list[str] = []
        self.requested: list[str] = []
        page.emulate_media(reduced_motion="reduce")  # nothing moves under the pointer
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("request", lambda request: self.requested.append(request.url))

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
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a page of two systems, one of five, and one of 45."""
    import numpy as np

    folder, rng = tmp_path_factory.mktemp("report"), np.random.default_rng(3)
    queries = {
        f"q{index:02}": {
            "text": f"question {index}",
            "half": "first" if index < 17 else "second",
        }
        for index in range(1, 33)
    }
    two = rankstone.compare(
        demo.QRELS, demo.RUNS, "nDCG@10 AP", queries=queries, by="half"
    )
    runs = {
        **demo.RUNS,
        **{
            f"mix{index}": {
                f"q{q:02}": [
                    f"{topic}-{1 + (q + index * n) % 9:02}"
                    for n, topic in enumerate(["bread", "coffee", "bees"])
                ]
                for q in range(1, 33)
            }
            for index in range(3)
        },
    }
    five = rankstone.compare(demo.QRELS, runs, "nDCG@10 AP", permutations=500)
    many = {
        f"s{index:02}": {
            f"q{q}": {"m": float(rng.random() * (1 + index / 40))} for q in range(30)
        }
        for index in range(45)
    }
    dense = rankstone.compare_scores(
        many, correction="bonferroni", test="t", interval="t"
    )
    values = {"two": two, "five": five, "many": dense}
    for name, value in values.items():
        rankstone.report(value, folder / f"{name}.html", command="rankstone report …")
    return {name: folder / f"{name}.html" for name in values}


@pytest.fixture
def two(browser: Browser, pages: dict[str, Path]) -> Iterator[Opened]:
    page = browser.new_page()
    yield Opened(page, pages["two"])
    page.close()


@pytest.fixture
def five(browser: Browser, pages: dict[str, Path]) -> Iterator[Opened]:
    page = browser.new_page()
    yield Opened(page, pages["five"])
    page.close()


def beyond_the_window(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    wide: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide


@pytest.mark.parametrize("name", ["two", "five", "many"])
@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_open_without_a_complaint(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Any
) -> None:
    """A page is drawn, complains of nothing, asks for nothing, and is no wider than the window."""
    opened = Opened(
        browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme),
        pages[name],
    )
    page = opened.at()

    assert opened.complaints == []
    address = f"file://{pages[name]}"
    assert opened.requested in (["about:blank", address], [address])
    assert without_rule(page) == []
    assert beyond_the_window(page) <= 0
    page.close()


def test_no_text_is_small(browser: Browser, pages: dict[str, Path]) -> None:
    """Nothing that is read is below 12 px, charts included."""
    for path in pages.values():
        page = Opened(browser.new_page(), path).at()
        sizes = page.evaluate(
            "[...document.querySelectorAll('body *')].filter((one) => one.getClientRects().length && "
            "[...one.childNodes].some((kid) => kid.nodeType === 3 && kid.textContent.trim()))"
            ".map((one) => parseFloat(getComputedStyle(one).fontSize)).filter((size) => size > 0)"
        )
        assert min(sizes) >= 12
        page.close()


@pytest.mark.skipif(AXE is None, reason="no axe-core here: make browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["two", "five", "many"])
def test_axe_finds_nothing_serious(
    browser: Browser, pages: dict[str, Path], name: str, scheme: Any
) -> None:
    """No serious or critical finding of axe-core, with a pair and all folds open."""
    page = browser.new_page(color_scheme=scheme)
    Opened(page, pages[name]).at("" if name == "two" else "#pair=0-1")
    page.evaluate(
        "for (const fold of document.querySelectorAll('details')) fold.open = true"
    )
    page.wait_for_timeout(200)
    assert AXE is not None
    assert AXE.origin is not None
    page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run()")["violations"]

    assert [
        (item["id"], item["nodes"][0]["html"])
        for item in violations
        if item["impact"] in ("serious", "critical")
    ] == []
    page.close()


# -- two systems ---------------------------------------------------------------------------------------


def test_the_picture_of_the_answer(two: Opened) -> None:
    """Two dots with intervals, a diamond, and 0 under the baseline, inside the frame."""
    page = two.at()
    picture = page.locator("#picture svg.chart").first

    assert (
        picture.get_attribute("aria-label")
        == "bm25 0.57; tfidf 0.51; difference −0.06, interval −0.14 to +0.01"
    )
    assert picture.locator("circle").count() == 2
    zero = page.evaluate(
        "[...document.querySelectorAll('#picture text')].filter((one) => one.textContent === '0')"
        ".map((one) => parseFloat(one.getAttribute('x')))"
    )
    baseline = float(
        (picture.locator("circle").first.get_attribute("cx") or "").rstrip("%")
    )
    assert all(1 < position < 99 for position in zero)
    assert zero[-1] == pytest.approx(baseline, abs=0.01)


def test_bars_are_queries(two: Opened) -> None:
    """One bar for each query that differs, best first; a click leads to its lists."""
    page = two.at()
    bars = page.locator("#queries .bars rect")

    assert bars.count() == 18
    bars.last.click()
    page.wait_for_function("location.hash === '#q=q25'")
    assert page.locator("#examples h3.query-heading").inner_text() == "question 25"


def test_examples_begin_with_the_greatest_loss(two: Opened) -> None:
    """Queries are grouped, losses first; the lists of the first are open, with ranks in the other list."""
    page = two.at()

    assert page.locator("#examples .side h3").all_inner_texts() == [
        "tfidf worse\n13 queries",
        "tfidf better\n5 queries",
        "equal\n14 queries",
    ]
    assert (
        page.locator("#examples .side a").first.get_attribute("aria-current") == "true"
    )
    assert page.locator("#examples .lists h4").all_inner_texts() == ["bm25", "tfidf"]
    assert page.locator("#examples .result-list").first.locator("li").count() == 10
    assert re.fullmatch(
        r"rank \d+ there|same rank there|not there",
        page.locator("#examples .movement").first.inner_text(),
    )


def test_queries_are_found(two: Opened) -> None:
    """A text in the search keeps the queries that hold it, in text or id; the keyboard opens one."""
    page = two.at()
    page.get_by_placeholder("Find a query").fill("question 3")

    assert page.locator("#examples .side a").count() == 4
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.startsWith('#q=')")


def test_measures_and_segments(two: Opened) -> None:
    """A row a measure on one scale, the one that decides tagged; a row a segment."""
    page = two.at()

    name = ".measure-name b"
    assert page.locator("#measures h2").inner_text() == "Other measures are clearer"
    assert page.locator(f"#measures {name}").all_inner_texts() == ["nDCG@10", "AP"]
    assert page.locator("#measures em").all_inner_texts() == ["decides"]
    assert page.locator(f"#segments {name}").all_inner_texts() == ["first", "second"]


# -- leaderboards --------------------------------------------------------------------------------------


def test_a_leaderboard_is_sorted(five: Opened) -> None:
    """A click on a heading sorts, another one the other way."""
    page = five.at()
    head = page.locator(".leaderboard th button", has_text="System")

    head.click()
    up = page.locator(".leaderboard tbody th").all_inner_texts()
    head.click()

    assert up == sorted(up)
    assert page.locator(".leaderboard tbody th").all_inner_texts() == up[::-1]
    assert page.locator(".leaderboard th[aria-sort=descending]").count() == 1
    assert page.locator(".leaderboard tbody .plot svg").count() == 5


def test_a_cell_opens_its_pair(five: Opened) -> None:
    """A cell of the matrix leads to the two systems, with the same sentence as a page of these two has."""
    page = five.at()
    page.locator(".pair-matrix a").first.click()
    page.wait_for_selector(".opened")

    assert page.evaluate("location.hash") == "#pair=0-1"
    assert (
        page.locator(".opened .verdict")
        .inner_text()
        .startswith(("bm25 beats", "No clear winner between bm25"))
    )
    assert page.locator(".opened svg.chart").count() > 3
    assert page.locator(".opened .examples .result-list").count() == 2
    page.get_by_role("button", name="Close").click()
    assert page.locator(".opened").count() == 0


def test_both_ways_to_make_a_sentence_agree(two: Opened) -> None:
    """What scripts say of a pair is what the page says above."""
    page = two.at()
    scores = page.evaluate(
        "(() => { const s = Pair.sentence(Pair.comparison(0));"
        " return [s.claim, s.numbers.map((one) => one.textContent ?? one).join('')]; })()"
    )

    assert page.locator("h1 .claim").inner_text() == scores[0]
    assert page.locator("h1 .claim-numbers").inner_text() == scores[1]


def test_numbers_are_rounded_alike(two: Opened) -> None:
    """A sentence of Python and a picture of the page show the same digits, halves and all."""
    rng = random.Random(5)
    drawn = [
        rng.choice([-1, 1]) * rng.random() * 10 ** rng.randint(-6, 4)
        for _ in range(2000)
    ]
    halves = [n / 60 - m / 60 for n in range(60) for m in range(60)] + [
        n / 1000 + 0.0005 for n in range(2000)
    ]
    values = [
        (float(f"{case:.7g}"), digits)
        for case in [*drawn, *halves]
        for digits in (0, 1, 2, 3, 5)
    ]
    theirs = two.at().evaluate(
        "(values) => values.map(([one, digits]) => Page.shown(one, digits, true))",
        values,
    )

    assert theirs == [shown(first, digits, sign=True) for first, digits in values]


def test_two_names_are_chosen(five: Opened) -> None:
    """Without a mouse a pair is chosen by names."""
    page = five.at()
    page.locator("#choose select").nth(1).select_option("3")

    page.wait_for_selector(".opened")
    assert page.evaluate("location.hash") == "#pair=0-3"
    assert five.complaints == []


def test_tables_are_filled_when_opened_and_copied(
    browser: Browser, pages: dict[str, Path]
) -> None:
    """The table of pairs is made when it is requested; what is copied as CSV is what it shows."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = Opened(context.new_page(), pages["five"]).at()

    assert page.locator("#table table").count() == 0
    page.locator("#table summary").click()
    page.wait_for_selector("#table table")
    assert page.locator("#table tbody tr").count() == 10
    page.locator("#table").get_by_role("button", name="Copy CSV").click()
    page.wait_for_selector("#status.shown")

    assert re.match(
        r'system,versus,difference,low,high,"p, corrected",better,tied,worse,verdict,queries needed\n',
        page.evaluate("navigator.clipboard.readText()"),
    )
    context.close()


def test_many_systems(browser: Browser, pages: dict[str, Path]) -> None:
    """Of 45 systems 40 are shown, a search finds others, and a pixel opens its pair."""
    opened = Opened(browser.new_page(), pages["many"])
    page = opened.at()
    assert page.locator(".leaderboard tbody tr:visible").count() == 40

    page.locator("#find").fill("s00")
    assert page.locator(".leaderboard tbody tr:visible").count() == 1
    page.locator("#find").fill("")
    page.locator("#all").click()
    assert page.locator(".leaderboard tbody tr:visible").count() == 45

    box = page.locator(".pixels").bounding_box()
    assert box is not None
    x, y = box["width"] * 40.5 / 45, box["height"] * 0.5 / 45
    page.locator(".pixels").click(position={"x": x, "y": y})
    page.wait_for_selector(".opened")
    assert page.evaluate("location.hash") == "#pair=0-40"
    assert opened.complaints == []
    page.close()


# -- frame ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, pages: dict[str, Path], scheme: Any) -> None:
    """The page follows the system, and the button turns it round."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"file://{pages['two']}")
    colour = "getComputedStyle(document.body).backgroundColor"
    turned = -1 if scheme == "dark" else 1
    expected = ["rgb(251, 250, 247)", "rgb(20, 22, 26)"][::turned]

    before = page.evaluate(colour)
    page.locator("#theme").click()

    assert [before, page.evaluate(colour)] == expected
    page.close()


def test_paper_has_folds_open_and_no_tools(two: Opened) -> None:
    """Before printing, folds are opened; tools and lists to choose from are not printed."""
    page = two.at()

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")

    assert page.locator("#method details:not([open])").count() == 0
    assert (
        page.locator(".tools:visible, nav:visible, .screen-only:visible").count() == 0
    )
    assert len(page.pdf()) > 10_000


def test_without_scripts_the_answer_is_there(
    browser: Browser, pages: dict[str, Path]
) -> None:
    """The answer, the leaderboard, caveats and the method are no work of scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{pages['many']}")

    assert "systems" in page.locator("#answer").inner_text()
    assert page.locator(".leaderboard tbody tr:visible").count() == 45
    assert page.locator("#caveats .card").count() > 1
    context.close()


def test_markup_in_ids_does_nothing(browser: Browser, tmp_path: Path) -> None:
    """Queries, documents and runs called like markup are shown as such, in lists, charts and tips."""
    qrels = {EVIL: {EVIL: 1, "b": 0}, "q2": {"a": 1}}
    item = {EVIL: {EVIL: 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    other = {EVIL: {"b": 2.0, EVIL: 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    queries, documents = (
        {EVIL: {"text": EVIL, EVIL: EVIL}, "q2": {"text": "x", EVIL: "y"}},
        {EVIL: {"title": EVIL, "text": EVIL}},
    )
    for runs in ({EVIL: item, "b": other}, {EVIL: item, "b": other, "c": item}):
        comparison = rankstone.compare(
            qrels, runs, "nDCG@10 AP", queries=queries, by=EVIL, permutations=100
        )
        rankstone.report(
            comparison,
            tmp_path / "evil.html",
            documents=documents,
            title=EVIL,
            command=EVIL,
        )
        opened = Opened(browser.new_page(), tmp_path / "evil.html")
        page = opened.at("#pair=0-1" if len(runs) > 2 else "")
        for mark in page.locator("svg.chart, .bars rect, td, summary").all()[:12]:
            if mark.is_visible():
                mark.hover(force=True)
        page.evaluate(
            "for (const fold of document.querySelectorAll('details')) fold.open = true"
        )

        assert "<script>" in page.locator("h1").inner_text()
        assert "<script>" in page.locator(".examples").inner_text()
        assert page.evaluate("window.evil") is None
        assert opened.complaints == []
        page.close()


# -- pages of other results ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from rankstone.boards import slices_of_scores
    from rankstone.collections import collection, reproduce
    from rankstone.online.cohort_retention import retention

    folder = tmp_path_factory.mktemp("others")
    log: dict[str, list[Any]] = {"user_id": [], "time": [], "app": []}
    for user in range(60):
        for age in (0, *(day for day in (1, 2, 5, 9) if user % (day + 1) == 0)):
            log["user_id"].append(user)
            log["time"].append(f"2024-01-{1 + user % 12 + age:02}")
            log["app"].append(EVIL if user % 3 == 0 else "2.0")
    values: dict[str, Any] = {
        "retention": retention(log, by="app"),
        "curves": rankstone.curve(demo.QRELS, demo.RUNS, "PR nDCG@1..10", resamples=50),
        "bounds": rankstone.bounds(
            demo.QRELS, demo.RUNS, "nDCG@10 DCG@10", difference=("bm25", "tfidf")
        ),
        "beyond": rankstone.beyond(
            demo.RUNS, "Coverage@10 Entropy@10", catalogue_size=300
        ),
        "collection": collection(
            {
                f"{EVIL}{q}": {f"{EVIL}{index}": index % 3 for index in range(9)}
                for q in range(12)
            },
            {
                f"{EVIL}{run}": {
                    f"{EVIL}{q}": [
                        f"{EVIL}{(index * run + q) % 11}" for index in range(5)
                    ]
                    for q in range(12)
                }
                for run in (1, 2, 3, 4, 5, 6)
            },
            "nDCG@3 P@3",
        ),
        "abstention": rankstone.abstain(
            {f"{EVIL}{q}": {EVIL: q % 2} for q in range(40)},
            {EVIL: {f"{EVIL}{q}": {EVIL: q / 2} for q in range(40)}},
        ),
        "reproduction": reproduce(
            {EVIL: {EVIL: [EVIL, "d"]}},
            {EVIL: {EVIL: ["d", EVIL]}},
            qrels={EVIL: {EVIL: 1}},
            baseline=None,
        ),
        "stages": rankstone.stages(
            {EVIL: {EVIL: 1, "d": 1, "e": 1}},
            {EVIL: {EVIL: [EVIL, "d"]}, "last": {EVIL: ["d", EVIL]}},
            k=1,
        ),
        "slices": slices_of_scores(
            {
                EVIL: {
                    f"{EVIL}{index}": {"RR": index % 7 / 7 - index % 2 / 3}
                    for index in range(400)
                }
            },
            queries={
                f"{EVIL}{index}": {EVIL: f"{EVIL}{index % 2}", "text": EVIL}
                for index in range(400)
            },
        ),
        "board": rankstone.board(
            {
                f"{EVIL}{index}": {
                    f"{EVIL}{of}": (index * 7 + of * 3) % 11 / 11 for of in range(8)
                }
                for index in range(45)
            }
        ),
    }
    for name, value in values.items():
        rankstone.report(value, folder / f"{name}.html", command="rankstone …")
    return {name: folder / f"{name}.html" for name in values}


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "charts"),
    [
        ("retention", 2),
        ("curves", 2),
        ("bounds", 10),
        ("beyond", 6),
        ("board", 40),
        ("slices", 2),
        ("collection", 8),
        ("abstention", 1),
        ("reproduction", 0),
    ],
)
def test_pages_of_other_results(
    browser: Browser,
    others: dict[str, Path],
    name: str,
    charts: int,
    width: int,
    scheme: Any,
) -> None:
    """Charts are drawn, tables sort, nothing is requested, nothing runs, and it fits the window."""
    opened = Opened(
        browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme),
        others[name],
    )
    page = opened.at()

    assert page.locator("main svg.chart").count() >= charts
    page.locator(".data-table th button").first.click()
    assert page.locator(".data-table th[aria-sort]").count() == 1
    assert page.evaluate("window.evil") is None
    assert opened.complaints == []
    assert without_rule(page) == []
    assert [
        url for url in opened.requested if not url.startswith(("file:", "about:"))
    ] == []
    assert beyond_the_window(page) <= 0
    page.close()


def test_cohorts_of_retention(browser: Browser, others: dict[str, Path]) -> None:
    """A table of cohorts for each segment, under its name."""
    page = Opened(browser.new_page(), others["retention"]).at()

    assert page.locator("#cohorts .heatmap").count() == 2
    assert "<script>" in "".join(page.locator("#cohorts h3").all_inner_texts())
    assert page.locator("#differences table").count() == 1
    page.close()
