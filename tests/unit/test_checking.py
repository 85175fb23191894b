"""What ``check`` finds in files before anything is scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from rankstone import check

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.findings import CheckReport

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d1 1 0.7 t\n"


def found(run: object, qrels: object = QRELS, order: str = "score") -> list[tuple[str, str]]:
    """Return level and sentence of everything found in a run and its judgments, but of unjudged and nDCG."""
    report = check(qrels, {"a": run}, order=order)
    findings = [finding for file in report.files for finding in file.findings]
    return [(one.level, one.what) for one in findings if not one.what.startswith(("unjudged@", "nDCG@"))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a run may be written."""
    return tmp_path / "a.run"


# -- ranks against scores --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ranks", "lists"),
    [((1, 2, 1), 0), ((2, 1, 1), 1), ((1, 1, 1), 0), ((0, 0, 0), 0), ((7, 9, 3), 0), ((9, 7, 3), 1)],
)
def test_ranks_that_contradict_scores(path: Path, ranks: tuple[int, ...], lists: int) -> None:
    """A better rank with a lower score is told, in a file and in a frame; equal ranks say nothing."""
    lines = [line.split() for line in RUN.splitlines()]
    rows = [
        (query, doc, rank, float(score))
        for (query, _, doc, _, score, _), rank in zip(lines, ranks, strict=True)
    ]
    path.write_text("".join(f"{query} Q0 {doc} {rank} {score} t\n" for query, doc, rank, score in rows))
    frame = pl.DataFrame(rows, ["query_id", "doc_id", "rank", "score"], orient="row")
    told = [("warning", "ranks contradict scores in 1 query")] if lists else []

    assert found(path) == found(frame) == told
    assert [what for _, what in found(path, order="rank") if "contradict" in what] == [
        what for _, what in told
    ]


def test_tied_scores_may_have_any_ranks(path: Path) -> None:
    """Ranks may order what scores leave open."""
    path.write_text("q1 Q0 d2 2 0.9 t\nq1 Q0 d1 1 0.9 t\nq2 Q0 d1 1 0.7 t\n")

    assert [what for _, what in found(path)] == ["2 tied rows in 1 query"]


def test_ranks_that_are_no_numbers(path: Path) -> None:
    """They matter only where they give the order."""
    path.write_text(RUN.replace("d2 2", "d2 -"))

    assert found(path) == [("note", "1 row whose rank is no whole number")]
    assert check(QRELS, {"a": path}).ok
    assert found(path, order="rank") == [("error", f"{path}:2: the rank '-' is no number")]


# -- ids that are nearly alike ---------------------------------------------------------------------------
def test_ids_that_differ_in_case_or_unicode_form(path: Path) -> None:
    """The same word written otherwise is another id; whoever wonders is told."""
    qrels = {"q1": {"café": 1, "Doc": 1, "same": 1}}
    path.write_text("q1 Q0 cafe\u0301 1 3 t\nq1 Q0 doc 2 2 t\nq1 Q0 same 3 1 t\n")
    assert ("warning", "2 document ids would be judged but for case or Unicode form") in found(path, qrels)

    path.write_text("Q1 Q0 same 1 3 t\n")
    assert [what for _, what in found(path, qrels)] == [
        "no query of the run is judged",
        "1 query id would be judged but for case or Unicode form",
    ]


def test_ids_that_are_merely_unknown(path: Path) -> None:
    """Other ids, and whole numbers, have no nearly alike ones."""
    path.write_text(RUN.replace("d2", "d3"))
    assert found(path) == []
    assert found({1: {3: 1.0}}, {1: {2: 1}}) == []


# -- grades ----------------------------------------------------------------------------------------------
def test_grades_that_look_like_ids() -> None:
    """What an evaluation refuses is an error here."""
    report = check({"q1": {"d1": 2**60, "d2": 1}}, {"a": {"q1": {"d1": 1.0}}})

    assert not report.ok
    assert report.files[0].findings[0].what == "1 grade beyond 9,007,199,254,740,992"


# -- where nDCG says little ------------------------------------------------------------------------------
def of_ndcg(report: CheckReport) -> list[str]:
    return [f"{f.level}: {f.what}" for f in report.files[1].findings if f.what.startswith("nDCG@10 ")]


def test_few_judged_documents_leave_no_room() -> None:
    """One of two, both shown: (1 + 1/log2(3)) / 2 by chance, 1/log2(3) at worst, whatever the system does."""
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(3)}
    run = {query: {"a": 0.1, "b": 0.2} for query in qrels}
    chance, worst = (1 + 1 / math.log2(3)) / 2, 1 / math.log2(3)

    (said,) = of_ndcg(check(qrels, run))
    assert said == (
        "warning: nDCG@10 says little in 3 queries with at most 10 judged documents and 20 retrieved: "
        f"{chance:.3f} in random order, {worst:.3f} in the worst, 1.000 in the best"
    )


def test_longer_lists_leave_room() -> None:
    """Among 20 documents a random order has little: a note; of longer lists and many judgments, nothing."""
    short = {"q": {f"d{at}": 20.0 - at for at in range(20)}}
    (note,) = of_ndcg(check({"q": {"d3": 1}}, short))
    chance = math.fsum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 20
    assert note.startswith("note: nDCG@10 in 1 query with at most 10 judged")
    assert f"{chance:.3f} in random order, 0.000 in the worst" in note

    longer = {"q": {f"d{at}": 20.0 - at for at in range(21)}}
    assert not of_ndcg(check({"q": {"d3": 1}}, longer))
    assert not of_ndcg(check({"q": {f"d{at}": 1 for at in range(11)}}, short))
    assert not of_ndcg(check({"q": {"d3": 0}}, short))


@pytest.mark.parametrize(
    ("run", "options"),
    [
        ({"q": ["b", "a"]}, {}),
        (pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [2, 1]}), {"order": "rank"}),
        (pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "b"], "score": [1.0, 2.0, 1.5]}), {}),
    ],
)
def test_every_order_is_looked_at(run: object, options: dict[str, Any]) -> None:
    """Lists, ranks, and documents that stand there twice (an error of its own) are looked at alike."""
    (said,) = of_ndcg(check({"q": {"a": 1, "b": 0}}, run, **options))
    assert said.startswith("warning: nDCG@10 says little in 1 query")


def test_broken_scores_are_told_once() -> None:
    """What cannot be scored is an error; nothing more is said of it."""
    report = check({"q": {"a": 1}}, {"q": {"a": math.nan}})
    assert not report.ok
    assert not of_ndcg(report)
