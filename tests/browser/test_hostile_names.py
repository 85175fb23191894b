"""Whatever HTML rankstone writes: names that are scripts do not run in it, and it asks for nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click
import polars as pl
import pytest
from click.testing import CliRunner
from tests.browser.test_report import CHROMIUM, pytestmark  # noqa: F401 - the same Chromium, skipped alike

import rankstone
from rankstone import online as behaviour
from rankstone.cli import cli
from rankstone.collections import certify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no Playwright here: make browser"
)
pytest.importorskip("vl_convert", reason="charts need the extra: report")

#: what ends the element it stands in and runs; each in a place of its own
SCRIPT = "</script><script>window.evil=1</script>"
IMAGE = "\"'><img src=http://evil.invalid/x onerror=window.evil=1>"
COMMENT = "<!--<script>"
STYLE = "</style></title></textarea><svg onload=window.evil=1>"
LINK = "</td><base href=http://evil.invalid/><iframe srcdoc='<script>parent.evil=1</script>'></iframe>"
NAMES = (SCRIPT, IMAGE, COMMENT, STYLE, LINK)

QRELS = {
    query: {doc: float((index + of) % 3) for of, doc in enumerate(NAMES)}
    for index, query in enumerate(NAMES)
}
RUN_A = {query: {doc: float(of) for of, doc in enumerate(NAMES)} for query in NAMES}
RUN_B = {
    query: {doc: float((of * 2 + index) % 5) for of, doc in enumerate(NAMES)}
    for index, query in enumerate(NAMES)
}
# the top scores of its lists differ
RUN_APART = {
    query: {doc: score + index for doc, score in RUN_A[query].items()}
    for index, query in enumerate(NAMES)
}
RUNS = {SCRIPT: RUN_A, IMAGE: RUN_B}
QUERIES = {query: {STYLE: NAMES[index % 2]} for index, query in enumerate(NAMES)}
DAYS = [f"2024-01-0{1 + index % 9}" for index in range(36)]
LOG = pl.DataFrame(
    {
        "user_id": [str(index % 7) for index in range(36)],
        "time": DAYS,
        STYLE: [NAMES[index % 3] for index in range(36)],
    }
)
SHOWN = pl.DataFrame(
    {
        "impression_id": [
            NAMES[index // 3 % 5] + str(index // 15) for index in range(60)
        ],
        "query_id": [NAMES[index // 3 % 5] for index in range(60)],
        "doc_id": [NAMES[index % 3] for index in range(60)],
        "position": [1 + index % 3 for index in range(60)],
        "clicked": [index % 7 % 2 for index in range(60)],
        "variant": [NAMES[index // 3 % 2] for index in range(60)],
        "user_id": [NAMES[index // 3 % 5] + str(index // 15) for index in range(60)],
        "propensity": [0.5] * 60,
        "target_propensity": [0.25 + index % 2 / 2 for index in range(60)],
    }
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the same data as files."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [(q, d, g) for q, judged in QRELS.items() for d, g in judged.items()]
    pl.DataFrame(rows, ["query_id", "doc_id", "relevance"], orient="row").write_parquet(
        folder / "qrels.parquet"
    )
    singles = [
        (name, name, 1.0) for name in NAMES
    ]  # one relevant document a list: samples of one size
    pl.DataFrame(
        singles, ["query_id", "doc_id", "relevance"], orient="row"
    ).write_parquet(folder / "singles.parquet")
    for name, run in (("a", RUN_A), ("b", RUN_B), ("apart", RUN_APART)):
        scored = [(q, d, s) for q, value in run.items() for d, s in value.items()]
        pl.DataFrame(
            scored, ["query_id", "doc_id", "score"], orient="row"
        ).write_parquet(folder / f"{name}.parquet")
    LOG.write_parquet(folder / "log.parquet")
    features = {
        name: [float(index * (of + 2) % 7) for index in range(60)]
        for of, name in enumerate(NAMES)
    }
    letor = SHOWN.select(
        "query_id", doc_id=pl.col("impression_id"), relevance="clicked"
    ).with_columns(**{name: pl.Series(values) for name, values in features.items()})
    letor.unique(["query_id", "doc_id"]).write_parquet(folder / "letor.parquet")
    meta = [{"query_id": q, STYLE: segment[STYLE]} for q, segment in QUERIES.items()]
    pl.DataFrame(meta).write_parquet(folder / "queries.parquet")
    pl.DataFrame(
        {"doc_id": NAMES, "title": NAMES[::-1], "text": NAMES, "class": NAMES}
    ).write_parquet(folder / "documents.parquet")
    SHOWN.write_parquet(folder / "shown.parquet")
    cells = [
        (s, d, float(index * 2 + of % 3))
        for index, s in enumerate(NAMES)
        for of, d in enumerate(NAMES)
    ]
    pl.DataFrame(cells, ["system", "dataset", "value"], orient="row").write_parquet(
        folder / "board.parquet"
    )
    met = [(a, b, c) for a in NAMES for b in NAMES if a != b for c in (a, b, "tie")]
    pl.DataFrame(met, ["left", "right", "winner"], orient="row").write_parquet(
        folder / "battles.parquet"
    )
    many = [f"{name}{index}" for index in range(6) for name in NAMES]
    low = [float(index % len(NAMES) == 0) for index in range(len(many))]
    pl.DataFrame(
        {"query_id": many, NAMES[0]: low, "b": [0.0] * len(many)}
    ).write_parquet(folder / "matrix.parquet")
    pl.DataFrame({"query_id": many, STYLE: NAMES * 6, "text": many}).write_parquet(
        folder / "attributes.parquet"
    )
    assigned = {"importance": "vital", "assignment": "support"}
    pl.DataFrame(
        [
            {"qid": name, "nugget": other, **assigned}
            for name in NAMES
            for other in NAMES
        ]
    ).write_parquet(folder / "nuggets.parquet")
    qrels, a, b = (
        json.dumps(str(folder / f"{name}.parquet")) for name in ("qrels", "a", "b")
    )
    certify(
        folder / "qrels.parquet",
        {SCRIPT: folder / "a.parquet"},
        "nDCG@3",
        folder=folder,
    ).write(folder / "card.json")
    rule = '[[gate.rules]]\nmeasure = "nDCG@3"\nmargin = 0.9\n'
    (folder / "gate.toml").write_text(
        f"[gate]\nqrels = {qrels}\nbaseline = {a}\ncandidate = {b}\n{rule}"
    )
    return folder


#: every command that writes HTML: its arguments, files in braces; what it prints is a page, or what it writes
COMMANDS = {
    "eval": "eval {qrels} ID={a} {b} -m nDCG@3 --queries {queries} --by BY --format html",
    "curve": "curve {qrels} {a} {b} --format html",
    "sampled": "sampled {singles} {a} --catalogue-size 9 -m nDCG@3 --format html",
    "gate": "gate --config {gate} --format html",
    "power": "power {qrels} {a} {b} -m nDCG@3 -d 0.1 --format html",
    "check": "check {qrels} {a} {b} -m nDCG@3 --format html",
    "bounds": "bounds {qrels} {a} {b} -m nDCG@3 --format html",
    "baseline": "baseline {qrels} {a} {b} -m nDCG@3 --format html",
    "abstain": "abstain {qrels} {apart} -m nDCG@3 --format html",
    "abstain -o": "abstain {qrels} {apart} -m nDCG@3 -o {out}",
    "thresholds": "thresholds {qrels} {a} {b} -m P@3 --format html",
    "retention": "online retention {log} --by BY --format html",
    "clicks": "online clicks {shown} --format html",
    "counterfactual": "online counterfactual {shown} --columns clicked=reward --format html",
    "interleave": "online interleave {a} {b} --format html",
    "ab": "online ab {shown} --format html",
    "compare": "compare {qrels} a={a} b={b} -m nDCG@3 --format html",
    "explain": "explain {qrels} {a} -m nDCG@3 --worst 2 --format html",
    "board": "board {board} --format html",
    "board -o": "board {board} -o {out}",
    "board --chart": "board {board} --chart {out}",
    "board --diagram": "board {board} --diagram {out}",
    "board --explain": "board {board} --explain ID --format html",
    "board --pairs": "board --pairs {battles} --format html",
    "board --pairs -o": "board --pairs {battles} -o {out}",
    "slices": "slices --scores {matrix} --queries {attributes} --min-size 5 --format html",
    "slices -o": "slices --scores {matrix} --queries {attributes} --min-size 5 -o {out}",
    "slices --chart": "slices --scores {matrix} --queries {attributes} --min-size 5 --chart {out}",
    "report --slices": "report --scores {matrix} --queries {attributes} --slices --min-size 5 -o {out}",
    "collection": "collection {qrels} {a} {b} -m nDCG@3 --format html -v",
    "collection -o": "collection {qrels} {a} {b} -m nDCG@3 -o {out}",
    "collection --chart": "collection {qrels} {a} {b} -m nDCG@3 --chart {out}",
    "reproduce": "reproduce {a} {b} --qrels {qrels} -m nDCG@3 --format html",
    "reproduce -o": "reproduce {a} {b} --qrels {qrels} -m nDCG@3 -o {out}",
    "stages": "stages {qrels} {a} {b} --k 2 -v --format html",
    "stages -o": "stages {qrels} {a} {b} --k 2 -o {out}",
    "certify": "certify {qrels} {a} -m nDCG@3 --format html",
    "verify": "verify {card} --format html",
    "answers": "answers {nuggets} --format html",
    "answers --explain": "answers {nuggets} --explain Support -q ID --format html",
    "explain --versus": "explain {qrels} {a} --versus {b} -m nDCG@3 --worst 1 --format html",
    "identify": "identify {qrels} {a} --value 0.5 -m nDCG@3 --format html",
    "diff --explain": "diff {a} {b} --explain Jaccard@3 -q ID --format html",
    "beyond --explain": "beyond {a} --explain Coverage@3 --catalogue-size 9 --format html",
    "curve --chart": "curve {qrels} {a} {b} --chart {out}",
    "curve --cloud": "curve {qrels} {a} --cloud {out}",
    "retention --chart": "online retention {log} --by BY --chart {out}",
    "retention --heatmap": "online retention {log} --by BY --heatmap {out}",
    "retention --report": "online retention {log} --by BY --lang en --report {out}",
    "ltr tune": "ltr tune {letor} -m nDCG@3 --values 0.1,1 --folds 2 --quick -o {svm} --format html",
    "ltr eval": "ltr eval {letor} ID={svm} {svm} -m nDCG@3 --format html",
    "ltr eval --report": "ltr eval {letor} ID={svm} {svm} -m nDCG@3 --report {out}",
    "report": "report {qrels} {a} {b} -m nDCG@3 --queries {queries} --by BY --lang en -o {out}",
    "report of 3": "report {qrels} ID={a} {b} c={a} -m nDCG@3 --title ID --documents {documents} -o {out}",
    "compare -o": "compare {qrels} ID={a} {b} -m nDCG@3 -o {out}",
    "curve -o": "curve {qrels} ID={a} {b} -o {out}",
    "bounds -o": "bounds {qrels} ID={a} {b} -m nDCG@3 -o {out}",
    "beyond -o": "beyond ID={a} {b} -m Coverage@3 --catalogue-size 9 -o {out}",
    "retention -o": "online retention {log} --by BY -o {out}",
}


def pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Run every command, and show every result as a notebook does."""
    names = {
        file.stem: str(file)
        for file in folder.iterdir()
        if file.suffix in {".parquet", ".toml"}
    }
    names |= {name: str(folder / f"{name}.json") for name in ("svm", "card")}
    for what, line in COMMANDS.items():
        out = folder / f"{re.sub(r'[^a-z]+', '-', what)}.html"
        words = [word.format(**names, out=out) for word in line.split()]
        words = [{"BY": STYLE, "ID": SCRIPT}.get(word, word) for word in words]
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, (what, done.output, done.exception)
        yield what, out.read_text(encoding="utf-8") if out.exists() else done.stdout


def fragments() -> Iterator[tuple[str, str]]:
    """Return what notebooks show of results: no pages, so nothing but their text keeps them from harm."""
    scores = rankstone.evaluate(QRELS, RUNS, "nDCG@3", queries=QUERIES)
    compared = rankstone.compare(QRELS, RUNS, "nDCG@3", queries=QUERIES, by=STYLE)
    traced = rankstone.curve(QRELS, RUNS, "PR")
    seen = behaviour.retention(LOG, by=STYLE)
    results: dict[str, Any] = {
        "scores": scores,
        "audit": scores.audit,
        "comparison": compared,
        "explanation": rankstone.explain(QRELS, RUN_A, "nDCG@3", SCRIPT),
        "versus": rankstone.explain(QRELS, RUN_A, "nDCG@3", SCRIPT, versus=RUN_B),
        "identification": rankstone.identify(QRELS, {SCRIPT: RUN_A}, 0.5, "nDCG@3"),
        "curves": traced,
        "similarity": rankstone.diff(RUN_A, RUN_B, names=(SCRIPT, IMAGE)),
        "beyond": rankstone.beyond({SCRIPT: RUN_A}, "Coverage@3", catalogue_size=9),
        "plan": rankstone.power(compared, [0.1]),
        "retention": seen,
        "clicks": behaviour.clicks(
            pl.DataFrame(
                {
                    "query_id": NAMES,
                    "doc_id": NAMES,
                    "click": [1, 0, 1, 0, 1],
                    "position": [1] * 5,
                }
            )
        ),
    }
    for name, result in results.items():
        yield name, result._repr_html_()
    charts = {
        "forest": rankstone.plots.forest(compared),
        "differences": rankstone.plots.differences(compared),
        "scatter": rankstone.plots.scatter(compared),
        "histogram": rankstone.plots.histogram(compared),
        "segments": rankstone.plots.segments(compared),
        "means": rankstone.plots.means(traced),
        "cloud": rankstone.plots.cloud(traced),
        "retention curve": rankstone.plots.retention_curve(seen),
        "retention heatmap": rankstone.plots.retention_heatmap(seen),
        "retention periods": rankstone.plots.retention_periods(seen),
    }
    for name, chart in charts.items():
        shown = chart._repr_mimebundle_()
        yield (
            f"chart {name}",
            (shown[0] if isinstance(shown, tuple) else shown)["text/html"],
        )
        yield f"chart {name}, as Altair writes it", chart.to_html(inline=False)


def opened(browser: Any, path: Path) -> tuple[bool, list[str]]:
    """Open a page, point at what is there; return whether a script of the data ran, and the requests."""
    page, requests = browser.new_page(), []
    page.on("request", lambda request: requests.append(request.url))
    page.route(
        "**/*",
        lambda route: (
            route.continue_()
            if route.request.url.startswith("file:")
            else route.abort()
        ),
    )
    page.goto(path.as_uri())
    page.wait_for_timeout(50)
    for mark in page.locator(
        "svg path[aria-label], svg .role-mark path, td, summary"
    ).all()[:3]:
        if mark.is_visible():
            mark.hover(force=True)
    ran = bool(page.evaluate("window.evil === 1"))
    page.close()
    return ran, [
        url
        for url in requests
        if not url.startswith(("file:", "data:", "about:", "blob:"))
    ]


def test_pages_are_inert(browser: Any, files: Path) -> None:
    """No script of the data runs, nothing is requested, and each page forbids both by its own policy."""
    for what, html in pages(files):
        assert "Content-Security-Policy" in html.split("<body")[0], what
        shown = files / "shown.html"
        shown.write_text(html, encoding="utf-8")
        assert opened(browser, shown) == (False, []), what


def test_fragments_are_inert(browser: Any, files: Path) -> None:
    """What a notebook shows runs no script of the data, though nothing forbids it there."""
    for what, html in fragments():
        shown = files / "shown.html"
        shown.write_text(
            f"<!DOCTYPE html><meta charset=utf-8><body>{html}</body>", encoding="utf-8"
        )
        ran, requests = opened(browser, shown)
        assert not ran, what
        # charts of Altair's own HTML ask for Vega, and for nothing else
        assert [url for url in requests if "evil.invalid" in url] == [], what


def test_every_option_that_writes_html_is_tried() -> None:
    """A command that learns to write HTML is tried here, too."""
    ready, names = click.Context(cli), set()
    commands = {name: cli.get_command(ready, name) for name in cli.list_commands(ready)}
    for group in ("online", "ltr"):
        inner = commands.pop(group)
        assert isinstance(inner, click.Group)
        commands |= {
            f"{group} {name}": inner.get_command(ready, name)
            for name in inner.list_commands(ready)
        }
    for name, command in commands.items():
        for item in getattr(command, "params", ()):
            described = f"{getattr(item, 'help', '')} {item.metavar} {getattr(item.type, 'choices', '')}"
            if "html" in described.lower():
                names.add((name, item.opts[0]))
    tried = {
        (name, word)
        for line in COMMANDS.values()
        for name in commands
        if line.startswith(f"{name} ")
        for word in line.split()
    }
    assert names <= tried, names - tried
