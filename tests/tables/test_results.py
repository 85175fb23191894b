"""What all results can do: show themselves in every format, and write themselves."""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from docs.making import house, reference

import rankstone
from rankstone import demo, golden
from rankstone import online as behaviour
from rankstone.answers import compare_assessors, nuggets
from rankstone.boards import paired_board
from rankstone.collections import certify, collection, reproduce, verify
from rankstone.diagnostics import Gains, gain
from rankstone.errors import UsageError
from rankstone.integrations import arrays
from rankstone.ltr import select
from rankstone.tables.markup import html, latex, markdown
from rankstone.tables.page_text import text
from rankstone.tables.results import Findings, Result
from rankstone.tables.sheet import Sheet, Table
from rankstone.tables.short_names import shortened
from rankstone.tables.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = [demo.QRELS, *demo.RUNS.values()]
EVIL = "<b>|a_b&\x1b[31m=1+1"
QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1, "d": 1}}
RUNS = {
    "one": {"q1": ["a", "b"], "q2": ["x", "c"]},
    "two": {"q1": ["b", "a"], "q2": ["d", "c"]},
}
LOG = {"user_id": ["a", "b", "a"], "time": ["2024-01-01", "2024-01-01", "2024-01-02"]}
SHOWN = pl.DataFrame(
    {
        "user_id": [f"u{index // 2}" for index in range(40)],
        "query_id": [f"q{index // 2}" for index in range(40)],
        "doc_id": ["a", "b"] * 20,
        "impression_id": [f"i{index // 2}" for index in range(40)],
        "position": [1, 2] * 20,
        "clicked": [index % 3 % 2 for index in range(40)],
        "variant": [f"v{index // 2 % 2}" for index in range(40)],
        "propensity": [0.5] * 40,
        "target_propensity": [0.25, 0.75] * 20,
    }
)
CLICKS = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "a"], "clicked": [1, 0, 0]}

SCORED = {
    "bm25": {"nq": 0.3, "fiqa": 0.2, "arg": 0.4},
    "dense": {"nq": 0.5, "fiqa": 0.4, "arg": 0.3},
}

ASSIGNED = [
    {"text": text, "importance": "vital", "assignment": text}
    for text in ("support", "not_support")
]
MADE: dict[str, Callable[[], Any]] = {
    "Scores": lambda: rankstone.evaluate(QRELS, RUNS, "RR AP"),
    "StoredScores": lambda: rankstone.evaluate(QRELS, RUNS, "RR AP", memory="800MB"),
    "Comparison": lambda: rankstone.compare(demo.QRELS, demo.RUNS, "AP"),
    "Board": lambda: rankstone.board(SCORED),
    "BoardExplanation": lambda: rankstone.board(SCORED).explain("dense"),
    "Slices": lambda: rankstone.slices(
        demo.QRELS, demo.RUNS, queries=demo.QUERIES, min_size=8
    ),
    "Collection": lambda: collection(demo.QRELS, demo.RUNS, "nDCG@10 AP"),
    "Stages": lambda: rankstone.stages(demo.QRELS, demo.RUNS, k=5),
    "Reproduction": lambda: reproduce(
        demo.RUNS["bm25"], demo.RUNS["tfidf"], "AP", qrels=demo.QRELS
    ),
    "RunCard": lambda: certify(demo.QRELS, demo.RUNS, "P@5"),
    "Verification": lambda: verify(
        certify(demo.QRELS, demo.RUNS, "P@5").card, [demo.QRELS, *demo.RUNS.values()]
    ),
    "PairedBoard": lambda: paired_board(
        {"left": ["a", "a", "b"], "right": ["b", "b", "a"], "winner": ["a", "tie", "b"]}
    ),
    "Plan": lambda: rankstone.power(0.2, [0.05]),
    "Bounds": lambda: rankstone.bounds(QRELS, RUNS, "RR"),
    "Curves": lambda: rankstone.curve(QRELS, RUNS, "RR@1,2"),
    "Baseline": lambda: rankstone.baseline(QRELS, RUNS, "RR"),
    "Abstention": lambda: rankstone.abstain(
        demo.QRELS, demo.RUNS, queries=demo.QUERIES
    ),
    "Splits": lambda: golden.split(
        [{"id": query, "query": query, "expected": ["d"]} for query in ("one", "two")]
    ),
    "Thresholds": lambda: rankstone.thresholds(QRELS, RUNS, "RR"),
    "Similarity": lambda: rankstone.diff(RUNS["one"], RUNS["two"], "Jaccard"),
    "BeyondScores": lambda: rankstone.beyond(RUNS, "Entropy@2"),
    "Explanation": lambda: rankstone.explain(QRELS, RUNS["one"], "AP", "q1"),
    "ExplainedDifference": lambda: rankstone.explain(
        QRELS, RUNS["one"], "AP", "q2", versus=RUNS["two"]
    ),
    "Derivation": lambda: rankstone.diff(RUNS["one"], RUNS["two"], "Jaccard").explain(
        "Jaccard", "q1"
    ),
    "Identification": lambda: rankstone.identify(QRELS, RUNS["one"], "0.75", "RR"),
    "CheckReport": lambda: rankstone.check(QRELS, RUNS),
    "Clicks": lambda: behaviour.clicks(CLICKS),
    "Retention": lambda: behaviour.retention(LOG, "1"),
    "Interleaved": lambda: behaviour.interleave(RUNS["one"], RUNS["two"]),
    "Preference": lambda: behaviour.interleaving_preference(
        {
            "query_id": ["q1", "q2"],
            "doc_id": ["a", "c"],
            "impression_id": ["i1", "i2"],
            "clicked": [1, 1],
        },
        behaviour.interleave(RUNS["one"], RUNS["two"]),
    ),
    "Experiment": lambda: behaviour.ab(SHOWN),
    "Counterfactual": lambda: behaviour.counterfactual(
        SHOWN, columns={"clicked": "reward"}
    ),
    "Sampled": lambda: rankstone.sampled(
        {"q1": {"a": 1}}, {"q1": ["b", "a", "c"]}, "R@1", items=9
    ),
    "Gate": lambda: rankstone.gate(
        {"qrels": QRELS, "baseline": RUNS["one"], "candidate": RUNS["two"]}
        | {"rules": [{"measure": "RR", "margin": 0.9}]}
    ),
    "ArrayScores": lambda: arrays.evaluate(
        [0.9, 0.5, 0.1], [1, 0, 0], "RR AP", sizes=[2, 1], empty="undefined"
    ),
    "Gains": lambda: Gains((gain("AP", 0.2, 0.4),)),
    "AssessorAgreement": lambda: compare_assessors(
        {
            name: nuggets([{"qid": "q", "nuggets": ASSIGNED}])
            for name in ("human", "model")
        },
        "Support",
    ),
    "Selection": lambda: select(
        {"up": [1.0], "down": [-1.0]},
        [[2.0], [1.0]] * 30,
        [1, 0] * 30,
        [index // 2 for index in range(60)],
    ),
}


@cache
def made(name: str) -> Any:
    """Return a small result of a class."""
    return MADE[name]()


@pytest.mark.parametrize("name", MADE)
def test_every_result_shows_itself_in_every_format(name: str, tmp_path: Path) -> None:
    """Frames, dicts and texts of all kinds, files by their suffix; a page names its function."""
    result = made(name)

    assert isinstance(result, Result)
    assert type(result).__name__ == name
    assert isinstance(result.to_frame(), pl.DataFrame)
    assert isinstance(result.to_dict(), dict)
    assert result.to_pandas().shape == result.to_frame().shape
    assert len(result.to_markdown()) > 10
    assert "\\hline" not in result.to_latex()
    assert "\\toprule" in result.to_latex() or not any(
        isinstance(p, Table) for p in result.sheet().parts
    )
    assert result.to_html() == result._repr_html_()
    assert "<html" not in result.to_html()
    assert repr(result).strip()
    for suffix in ("csv", "json", "parquet", "jsonl", "md", "tex"):
        result.write(tmp_path / f"it.{suffix}")
    json.loads((tmp_path / "it.json").read_text("utf-8"))
    with pytest.raises(UsageError, match=r"rankstone\.report\(result, path\)"):
        result.write(tmp_path / "it.html")


def test_scores_of_arrays_are_a_result() -> None:
    """Their rows are those of a table's scores; the mean leaves out what has no value, or is none."""
    scores, labels, sizes = [0.9, 0.5, 0.1, 0.3], [0, 1, 0, 2], [2, 1, 1]
    evaluation = arrays.evaluate(
        scores, labels, "RR AP", sizes=sizes, empty="undefined"
    )
    table = pl.DataFrame(
        {"query_id": [0, 0, 1, 2], "score": scores, "relevance": labels}
    )
    same = rankstone.evaluate(
        table=table, measures="RR AP", empty="undefined", ties="expected"
    )

    assert evaluation.to_frame().equals(same.to_frame().drop("run"))
    assert evaluation.to_dict() == same.to_dict()["run"] == {"RR": 0.75, "AP": 0.75}
    assert evaluation.text().splitlines() == [
        "measure    mean",
        "RR       0.7500",
        "AP       0.7500",
        "ArrayScores of 3 queries",
        "1 query not in the mean of RR, AP: no relevant document (empty=undefined)",
    ]
    nothing = arrays.evaluate([1.0], [0], "RR", empty="undefined")
    report = nothing.report()
    assert (report["queries"], report["means"]) == (1, {"RR": None})
    assert report["undefined"] == {"RR": {"no relevant document (empty=undefined)": 1}}
    assert "–" in nothing.to_markdown()


def test_what_is_outside_means_is_counted_with_its_reason() -> None:
    """Queries without a relevant document, by name of the measures; unjudged documents of tied lists."""
    judged = {"q": {"a": 1}, "p": {"a": 0}}
    lists = {"q": ["a"], "p": ["a"]}
    scores = rankstone.evaluate(judged, lists, "RR", empty="drop")
    dropped = scores.audit.to_dict()["runs"]["run"]["dropped"]
    assert dropped == {"RR": {"no relevant document (empty=drop)": 1}}
    for measures, names in (("RR AP R", "RR, AP, R:"), ("RR AP R P@1", "RR, AP, R …:")):
        text = rankstone.evaluate(judged, lists, measures, empty="undefined").text(
            verbose=True
        )
        assert f"1 query not in the mean of {names}" in " ".join(text.split())

    judged = {"q": {f"d{rank}": 1 for rank in range(5)}}
    deep = {"q": {f"d{rank}": 40.0 - rank for rank in range(20)}}
    for ties in ("expected", "docid_desc"):
        audit = rankstone.evaluate(judged, deep, "nDCG@10", ties=ties).audit.to_dict()
        assert audit["runs"]["run"]["unjudged"] == {"@10": 0.5}


def test_every_public_result_is_tried() -> None:
    """A class of results that a public module has is made here; those of Spark need a cluster."""
    public = {entry.name: entry.object for entry in reference.entries()}
    results = {
        name
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, Result)
    }
    assert results - {"SparkScores", "SparkComparison", "OnlineResult"} <= set(MADE)


def kinds_of_results() -> list[type[Result]]:
    """Return every class of results, of public modules and others."""
    for name in MADE:
        made(name)
    kinds = [Result]
    for kind in kinds:
        kinds += [new for new in kind.__subclasses__() if new not in kinds]
    return [kind for kind in kinds if kind.__module__.startswith("rankstone.")]


def test_no_result_imports_its_picture() -> None:
    """A result names the function that draws it, which imports the result; no file of results imports one."""
    kinds = kinds_of_results()
    homes = {kind.__module__ for kind in kinds}
    sources = [path.read_text("utf-8") for path in house.PACKAGE.rglob("*.py")]
    named = {
        module
        for source in sources
        for module, _ in re.findall(r'"(rankstone[\w.]+):(\w+)"', source)
    }
    drawn = [kind for kind in kinds if kind.picture]

    assert named >= {kind.picture.partition(":")[0] for kind in drawn}
    assert len(named - homes) > 3
    assert not [
        edge
        for edge in house.file_edges()
        if edge[0] in homes and edge[1] in named - homes
    ]
    for kind in drawn:
        first, *_ = inspect.signature(resolve_name(kind.picture)).parameters.values()
        shown = {"Averaged", *(base.__name__ for base in kind.__mro__)}
        assert first.annotation in shown, kind.picture


def test_results_that_say_something_have_one_protocol() -> None:
    """Title, tables, sentences and method are those of the sheet, in both languages."""
    names = [name for name in MADE if isinstance(made(name), Findings)]
    assert {"Comparison", "Board", "Gate", "Slices", "RunCard"} <= {*names}
    for name in names:
        result = made(name)
        shown = result.sheet(verbose=True)
        listed = [
            line for part in shown.parts if isinstance(part, tuple) for line in part[1]
        ]
        tables = [part.title for part in shown.parts if isinstance(part, Table)]

        assert result.title() == shown.title, name
        assert {*result.findings(result.digits), *result.method_lines()} <= {*listed}
        assert {table.title for table in result.tables(4, verbose=True)} <= {*tables}


def test_means_are_frames() -> None:
    """What averages does so by a method, and returns a frame."""
    for name in (
        "Scores",
        "StoredScores",
        "Comparison",
        "Bounds",
        "Curves",
        "Similarity",
        "BeyondScores",
    ):
        assert isinstance(made(name).mean(), pl.DataFrame), name


def test_no_two_public_classes_share_a_name() -> None:
    """A class of results has a name of its own."""
    kinds = kinds_of_results()
    assert len({kind.__name__ for kind in kinds}) == len(set(kinds))


# -- names that stay distinct -----------------------------------------------------------------------
def long_names(count: int) -> list[str]:
    """Return names as systems of one laboratory have them."""
    return [
        f"submissions-2026.dense-retriever.checkpoint-{index:03}.reranked-top100.run"
        for index in range(count)
    ]


@pytest.mark.parametrize("count", [30, 143])
@pytest.mark.parametrize("width", [8, 20, 30])
def test_names_stay_apart(count: int, width: int) -> None:
    """However little room there is, each name is another one, and keeps its end."""
    short = shortened(long_names(count), width)

    assert len(set(short.values())) == count
    assert all(value.endswith("run") for value in short.values())


@pytest.mark.parametrize("count", [30, 143])
def test_a_comparison_of_many_systems_keeps_every_name(count: int) -> None:
    """Eighty columns hold each of many long names, distinguished from the others, and no line is wider."""
    names = long_names(count)
    scores = {
        name: {f"q{q}": {"AP": (index * 7 + q * 3) % 11 / 11} for q in range(12)}
        for index, name in enumerate(names)
    }
    comparison = rankstone.compare_scores(scores, baseline=names[0])
    brief, every = comparison.text(80), text(comparison.sheet(verbose=True), 80)
    board = brief.split("Leaderboard")[1].split("\n\n")[0].partition("─\n")[2]
    means = every.split("Means")[1].split("Differences")[0]

    for shown, table in ((brief, board), (every, means)):
        assert max(map(len, shown.splitlines())) <= 80
        assert len(set(re.findall(r"\S+\.run\b", table))) == count


def test_lines_break_at_words() -> None:
    """A word is never broken, though it is wider than the page."""
    long = "a-very-long-identity-without-a-blank"

    assert wrapped(f"see {long} there", 12) == ["see", long, "there"]


@pytest.mark.parametrize("title", ["", "Segments"])
def test_headings_wrap_only_where_a_table_is_wider_than_the_page(title: str) -> None:
    """Headings of numbers stay whole while there is room; the shortest lack is met first."""
    rows = {
        "run": ["bm25"],
        "left out": [1],
        "pointwise 97.5 % interval": [2],
        "users retained": [3],
    }
    sheet = Sheet("", parts=(Table.of(pl.DataFrame(rows), title),))
    whole = max(map(len, text(sheet, 200).splitlines()))

    def heading(width: int) -> list[str]:
        lines = text(sheet, width).splitlines()[bool(title) :]
        assert max(map(len, lines)) <= width
        return lines[
            : next(
                index
                for index, line in enumerate(lines)
                if "bm25" in line or "──" in line
            )
        ]

    assert len(heading(whole)) == 1
    assert len(heading(whole - 1)) > 1
    assert all(
        "left out" in heading(width)[0] for width in range(45 if title else 43, whole)
    )


@pytest.mark.parametrize(
    "before", [{}, {"rank": [1, 2]}, {"rank": [1, 2], "tier": [1, 1]}]
)
@pytest.mark.parametrize("title", ["", "Board"])
def test_every_block_of_a_wide_table_has_its_names(
    title: str, before: dict[str, list[int]]
) -> None:
    """Also where ranks stand before them; a table of numbers alone is split as well."""
    numbers = {f"measure {index}": [index + 0.25, index + 0.5] for index in range(12)}
    rows = {**before, "run": ["bm25-tuned", "dense"], **numbers}
    lines = text(
        Sheet("", parts=(Table.of(pl.DataFrame(rows), title),)), 60
    ).splitlines()
    heads = [line.split() for line in lines if "measure" in line]
    assert len(heads) > 1
    assert all(head[: len(before) + 1] == [*before, "run"] for head in heads)
    assert sum("dense" in line for line in lines) == len(heads)
    assert sum(line.split().count("measure") for line in lines) == len(numbers)
    assert max(map(len, lines)) <= 60
    words = Table.of(
        pl.DataFrame({**before, "run": ["a", "b"], "text": ["x" * 90, "short words"]}),
        title,
    )
    assert "x" * 90 in text(Sheet("", parts=(words,)), 60), (
        "a table of texts alone is not split"
    )
    alone = text(
        Sheet("", parts=(Table.of(pl.DataFrame(numbers), title),)), 60
    ).splitlines()
    assert max(map(len, alone)) <= 60


def test_ids_are_escaped_in_every_format() -> None:
    """What an id holds is text: no format, and no terminal, obeys it."""
    table = Table.of(pl.DataFrame({"run": [EVIL], "value": [0.5]}))
    sheet = Sheet("", parts=(table,))

    assert "\x1b" not in text(sheet, 80) + markdown(sheet) + latex(sheet) + html(sheet)
    assert "<b>" not in html(sheet)
    assert "\\<b\\>\\|a\\_b\\&" in markdown(sheet)
    assert r"a\_b\&" in latex(sheet)


def test_a_note_is_one_line_in_every_format() -> None:
    """A line break in a note does not end the comment of LaTeX, and no terminal obeys what follows."""
    evil = "conventions  collapse=a\n\\input{secret}\r\x1b[31m"
    sheet = Sheet(evil, evil, evil, notes=(evil,))
    shown = [text(sheet, 80), markdown(sheet), latex(sheet), html(sheet)]

    assert not {"\r", "\x1b"} & set("".join(shown))
    assert not any(
        line.startswith("\\input") for item in shown for line in item.splitlines()
    )
    assert latex(sheet).startswith(
        r"% conventions  collapse=a\n\input{secret}\r\x1b[31m" + "\n"
    )


# -- notebooks -----------------------------------------------------------------------------------
def test_a_notebook_shows_one_output() -> None:
    """In a real kernel a result is one piece of HTML with a text beside it, and nothing strays."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    source = "import rankstone\nfrom rankstone import demo\n"
    cells = [
        f'{source}rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")',
        'rankstone.evaluate(demo.QRELS, demo.RUNS, "AP")',
        'rankstone.explain(demo.QRELS, demo.RUNS["bm25"], "AP", "q01")',
    ]
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    client.NotebookClient(book, timeout=240, kernel_name="python3").execute()

    for cell in book.cells:
        (output,) = cell.outputs
        assert output.output_type == "execute_result"
        assert set(output.data) == {"text/html", "text/plain"}
        assert output.data["text/plain"].strip()
        assert "<table" in output.data["text/html"]
