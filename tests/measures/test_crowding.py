"""Crowding: how many sources a list draws on, and how much of it one source takes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import BadParameter, BadValue, RankstoneError, UnknownMeasure
from rankstone.explanation import Explanation
from rankstone.integrations import arrays

if TYPE_CHECKING:
    from pathlib import Path

SITES = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "c1": "c"}
DOCUMENTS = {name: {"source": site, "brand": "x"} for name, site in SITES.items()}
JUDGED = {"q": {"a1": 1, "b1": 0}, "r": {"c1": 1}, "s": {"a1": 1}}
RUN = {"q": ["a1", "a2", "b1", "a3"], "r": ["c1"]}


def values(run: Any, text: str, **options: Any) -> dict[str, float | None]:
    """Return the value of each query."""
    options.setdefault("documents", DOCUMENTS)
    scores = rankstone.evaluate(JUDGED, run, text, **options)
    return dict(scores.per_query.select("query_id", "value").iter_rows())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sources@1", [1, 1, 0]),
        ("Sources@2", [1, 1, 0]),
        ("Sources@4", [2, 1, 0]),
        ("Sources", [2, 1, 0]),
        ("Sources(column=brand)@4", [1, 1, 0]),
        ("SourceShare@2", [1, 1, None]),
        ("SourceShare@3", [2 / 3, 1, None]),
        ("SourceShare@4", [3 / 4, 1, None]),
        ("SourceShare@10", [3 / 4, 1, None]),
        ("SourceShare(column=brand)@3", [1, 1, None]),
    ],
)
def test_sources_of_the_first_documents(
    text: str, expected: list[float | None]
) -> None:
    """All documents shown count, judged or not; nothing shown has no source, and no share."""
    assert list(values(RUN, text).values()) == expected


def test_every_order_of_a_list() -> None:
    """Each order is counted as by hand."""
    for order in permutations(SITES, 4):
        for k in range(1, 6):
            sites = [SITES[name] for name in order[:k]]
            largest = max(map(sites.count, sites))
            several = values({"q": list(order)}, f"Sources@{k} SourceShare@{k}")
            assert several["q"] == largest / len(sites)
            assert values({"q": list(order)}, f"Sources@{k}")["q"] == len({*sites})


def test_budgets_and_units() -> None:
    """A budget ends the list; chunks of a document are one, of its best chunk's source."""
    costly = {name: {**row, "tokens": 10} for name, row in DOCUMENTS.items()}
    assert values(RUN, "Sources@tokens(20)", documents=costly)["q"] == 1
    assert values(RUN, "Sources@tokens(30)", documents=costly)["q"] == 2
    chunks = {f"{name}#{n}": row for name, row in DOCUMENTS.items() for n in range(2)}
    run = {"q": ["a1#0", "a1#1", "b1#0"]}
    shares = values(run, "SourceShare@2", documents=chunks, unit="document")
    assert shares["q"] == 1 / 2


def test_ties_have_no_mean() -> None:
    """Where tied documents may stand in any order, no closed form is claimed."""
    with pytest.raises(RankstoneError, match="Sources@2"):
        values(RUN, "Sources@2", ties="expected")


def test_what_would_count_other_documents() -> None:
    """A budget that passes over documents, and lists without unjudged documents, are refused."""
    with pytest.raises(RankstoneError, match="those of the first documents"):
        values(RUN, "Sources@tokens(20, crossing=skip)")
    for rule in ("condensed", "condensed_keep_rank"):
        with pytest.raises(RankstoneError, match="counts all that are shown") as caught:
            values(RUN, "SourceShare@2", unjudged=rule)
        assert "unjudged=nonrelevant" in str(caught.value.fix)
    assert values(RUN, "SourceShare@2", unjudged="nonrelevant")["q"] == 1


@pytest.mark.parametrize("documents", [None, {"a1": {"site": "a"}}])
def test_a_column_is_needed(documents: Any) -> None:
    """Without a table of documents, or its column, the measure says what is missing."""
    with pytest.raises(BadParameter, match="Sources@2 needs the source of each"):
        values(RUN, "Sources@2", documents=documents)


@pytest.mark.parametrize("source", [None, ""])
def test_a_document_without_a_source(source: str | None) -> None:
    """A retrieved document whose source is not known is named, not left out."""
    documents = {**DOCUMENTS, "b1": {"source": source, "brand": "x"}}
    with pytest.raises(BadValue, match="the document has no source") as caught:
        values(RUN, "Sources@2", documents=documents)
    assert "row 3" in str(caught.value)
    del documents["b1"]
    with pytest.raises(BadValue, match="the document has no source"):
        values(RUN, "Sources@2", documents=documents)


def test_directions() -> None:
    """More sources are better, and a smaller share of the largest one."""
    mixed = {"q": ["a1", "b1", "c1"], "r": ["c1", "a1"], "s": ["a1", "b1"]}
    crowded = {"q": ["a1", "a2", "a3"], "r": ["a1", "a2"], "s": ["a1", "a2"]}
    comparison = rankstone.compare(
        JUDGED,
        {"crowded": crowded, "mixed": mixed},
        "Sources@2 SourceShare@2",
        documents=DOCUMENTS,
    )
    table = comparison.table.select("difference", "wins").rows()
    assert table == [(1.0, 3), (-0.5, 3)]


def test_explained() -> None:
    """The sum is that of all documents shown, and is called so."""
    page = rankstone.explain(JUDGED, RUN, "SourceShare@4", "q", documents=DOCUMENTS)
    assert isinstance(page, Explanation)
    assert page.value == 3 / 4
    assert page.whole
    assert "all documents shown" in str(page)
    chinese = rankstone.explain(
        JUDGED, RUN, "Sources@4", "q", documents=DOCUMENTS, lang="zh"
    )
    assert "展示的全部文档" in str(chinese)


def test_at_a_shell(tmp_path: Path) -> None:
    """The table of documents is a file; without it the fix names the option."""
    judged, run, documents = (
        tmp_path / name for name in ("qrels.txt", "a.run", "documents.csv")
    )
    judged.write_text("q 0 a1 1\n")
    run.write_text("q Q0 a1 1 2 t\nq Q0 a2 2 1 t\n")
    documents.write_text("doc_id,source\na1,x.org\na2,y.org\n")
    line = ["eval", str(judged), str(run), "-m", "Sources@2 SourceShare@2"]
    shown = command(*line, "--documents", str(documents)).stdout
    assert "2.0000" in shown
    assert "0.5000" in shown
    refused = command(*line, code=2)
    assert "--documents FILE" in refused.stderr


@pytest.mark.parametrize("word", ["crowding", "distinct_sources", "host_crowding"])
def test_other_names(word: str) -> None:
    """What others call it leads to it."""
    with pytest.raises(UnknownMeasure) as caught:
        rankstone.parse_measure(f"{word}@10")
    assert "Source" in (caught.value.fix or "")


def test_arrays_have_no_sources() -> None:
    """Lists without ids have no sources, and say so."""
    with pytest.raises(BadParameter):
        arrays.evaluate([[0.5, 0.2]], [[1, 0]], "Sources@2", ties="input")
