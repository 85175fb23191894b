"""What ``check`` finds in files before anything is scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from rankstone import check

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.diagnostics.findings import CheckReport

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq2 Q0 d1 1 0.7 t\n"


def findings_of(
    run: Any, qrels: Any = QRELS, order: str = "score"
) -> list[tuple[str, str]]:
    """Return level and sentence of everything found in a run and its judgments, but of unjudged and nDCG."""
    report = check(qrels, {"a": run}, order=order)
    findings = [finding for file in report.files for finding in file.findings]
    return [
        (finding.level, finding.what)
        for finding in findings
        if not finding.what.startswith(("unjudged@", "nDCG@"))
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a run may be written."""
    return tmp_path / "a.run"


# -- ranks against scores --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ranks", "lists"),
    [
        ((1, 2, 1), 0),
        ((2, 1, 1), 1),
        ((1, 1, 1), 0),
        ((0, 0, 0), 0),
        ((7, 9, 3), 0),
        ((9, 7, 3), 1),
    ],
)
def test_ranks_that_contradict_scores(
    path: Path, ranks: tuple[int, ...], lists: int
) -> None:
    """A better rank with a lower score is reported, in a file and in a frame; equal ranks say nothing."""
    lines = [line.split() for line in RUN.splitlines()]
    rows = [
        (query, doc, rank, float(score))
        for (query, _, doc, _, score, _), rank in zip(lines, ranks, strict=True)
    ]
    path.write_text(
        "".join(
            f"{query} Q0 {doc} {rank} {score} t\n" for query, doc, rank, score in rows
        )
    )
    frame = pl.DataFrame(rows, ["query_id", "doc_id", "rank", "score"], orient="row")
    texts = [("warning", "ranks contradict scores in 1 query")] if lists else []

    assert findings_of(path) == findings_of(frame) == texts
    assert [
        what for _, what in findings_of(path, order="rank") if "contradict" in what
    ] == [what for _, what in texts]


def test_tied_scores_may_have_any_ranks(path: Path) -> None:
    """Ranks may order what scores leave open."""
    path.write_text("q1 Q0 d2 2 0.9 t\nq1 Q0 d1 1 0.9 t\nq2 Q0 d1 1 0.7 t\n")

    assert [what for _, what in findings_of(path)] == ["2 tied rows in 1 query"]


def test_ranks_that_are_no_numbers(path: Path) -> None:
    """They matter only where they give the order."""
    path.write_text(RUN.replace("d2 2", "d2 -"))

    assert findings_of(path) == [("note", "1 row whose rank is not a whole number")]
    assert check(QRELS, {"a": path}).ok
    assert findings_of(path, order="rank") == [
        ("error", f"{path}:2: the rank '-' is not a number")
    ]


# -- ids that are nearly alike ---------------------------------------------------------------------------
def test_ids_that_differ_in_case_or_unicode_form(path: Path) -> None:
    """The same word written otherwise is another id; a note says so."""
    qrels = {"q1": {"café": 1, "Doc": 1, "same": 1}}
    path.write_text("q1 Q0 cafe\u0301 1 3 t\nq1 Q0 doc 2 2 t\nq1 Q0 same 3 1 t\n")
    assert [what for level, what in findings_of(path, qrels) if level == "warning"] == [
        "1 document id would match the judgments but for case: probably why so few match",
        "1 document id would match the judgments but for Unicode form: probably why so few match",
    ]

    path.write_text("Q1 Q0 same 1 3 t\n")
    assert [what for level, what in findings_of(path, qrels) if level != "note"] == [
        "no query of the run is judged",
        "1 query id would match the judgments but for case: probably why so few match",
    ]


def test_ids_that_are_merely_unknown(path: Path) -> None:
    """Other ids, and whole numbers, have no nearly alike ones."""
    path.write_text(RUN.replace("d2", "d3"))
    assert findings_of(path) == []
    assert findings_of({1: {3: 1.0}}, {1: {2: 1, 4: 0}}) == []


def of_ids(judged: list[str], retrieved: list[str]) -> list[Any]:
    """Return findings about document ids that nearly match."""
    report = check(
        {"q": dict.fromkeys(judged, 1)}, {"q": dict.fromkeys(retrieved, 1.0)}
    )
    return [
        finding
        for finding in report.files[1].findings
        if "would match the judgments but for" in finding.what
    ]


@pytest.mark.parametrize(
    ("judged", "retrieved", "differ"),
    [
        ("d1", " d1", "spaces around them"),
        ("d1 ", "d1", "spaces around them"),
        ("007", "7", "leading zeros"),
        ("7", "007", "leading zeros"),
        ("Doc", "doc", "case"),
        ("caf\u00e9", "cafe\u0301", "Unicode form"),
        ("CAF\u00c9", " cafe\u0301", "spaces, zeros, case or Unicode form"),
    ],
)
def test_the_way_ids_differ_is_named(judged: str, retrieved: str, differ: str) -> None:
    """One sentence, with both ids as they are written; and a doubt, as nothing else matches."""
    (remark,) = of_ids([judged, "other"], [retrieved, "strange"])
    assert (
        remark.what
        == f"1 document id would match the judgments but for {differ}: probably why so few match"
    )
    assert remark.example == f"{retrieved!r} in the run, {judged!r} in the judgments"
    assert remark.doubtful


def test_ids_that_mean_other_things_are_no_doubt_where_most_match() -> None:
    """An id beside those that match is reported, and is no reason for anything."""
    (remark,) = of_ids(["7", "a", "b"], ["07", "a", "b"])
    assert (
        remark.what == "1 document id would match the judgments but for leading zeros"
    )
    assert not remark.doubtful
    assert not of_ids(["0a7", "a 1"], ["a7", "a1"])


def test_ids_with_blanks_are_reported_by_themselves() -> None:
    """They match where both sides have them, and are reported all the same."""
    report = check({"q": {"a ": 1, "b": 0}}, {"q": {"a ": 1.0}})
    assert [finding.what for finding in report.files[0].findings] == [
        "1 document id with spaces around"
    ]
    assert report.files[0].findings[0].example == "'a '"


# -- grades ----------------------------------------------------------------------------------------------
def test_grades_that_look_like_ids() -> None:
    """What an evaluation refuses is an error here."""
    report = check({"q1": {"d1": 2**60, "d2": 1}}, {"a": {"q1": {"d1": 1.0}}})

    assert not report.ok
    assert report.files[0].findings[0].what == "1 grade beyond 9,007,199,254,740,992"


# -- where nDCG says little ------------------------------------------------------------------------------
def of_ndcg(report: CheckReport) -> list[str]:
    return [
        f"{f.level}: {f.what}"
        for f in report.files[1].findings
        if f.what.startswith("nDCG@10 ")
    ]


def test_few_judged_documents_leave_no_room() -> None:
    """One of two, both shown: (1 + 1/log2(3)) / 2 by chance, 1/log2(3) at worst, whatever the system does."""
    qrels = {f"q{index}": {"a": 1, "b": 0} for index in range(3)}
    run = {query: {"a": 0.1, "b": 0.2} for query in qrels}
    chance, worst = (1 + 1 / math.log2(3)) / 2, 1 / math.log2(3)

    (remark,) = of_ndcg(check(qrels, run))
    assert remark == (
        "warning: nDCG@10 says little in 3 queries with at most 10 judged documents and 20 retrieved: "
        f"{chance:.3f} in random order, {worst:.3f} in the worst, 1.000 in the best"
    )


def test_longer_lists_leave_room() -> None:
    """Among 20 documents a random order has little: a note; of longer lists and many judgments, nothing."""
    short = {"q": {f"d{index}": 20.0 - index for index in range(20)}}
    (note,) = of_ndcg(check({"q": {"d3": 1}}, short))
    chance = math.fsum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 20
    assert note.startswith("note: nDCG@10 in 1 query with at most 10 judged")
    assert f"{chance:.3f} in random order, 0.000 in the worst" in note

    longer = {"q": {f"d{index}": 20.0 - index for index in range(21)}}
    assert not of_ndcg(check({"q": {"d3": 1}}, longer))
    assert not of_ndcg(check({"q": {f"d{index}": 1 for index in range(11)}}, short))
    assert not of_ndcg(check({"q": {"d3": 0}}, short))


@pytest.mark.parametrize(
    ("run", "options"),
    [
        ({"q": ["b", "a"]}, {}),
        (
            pl.DataFrame(
                {"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [2, 1]}
            ),
            {"order": "rank"},
        ),
        (
            pl.DataFrame(
                {
                    "query_id": ["q"] * 3,
                    "doc_id": ["a", "b", "b"],
                    "score": [1.0, 2.0, 1.5],
                }
            ),
            {},
        ),
    ],
)
def test_every_order_is_looked_at(run: Any, options: dict[str, Any]) -> None:
    """Lists, ranks, and documents that stand there twice (an error of its own) are looked at alike."""
    (remark,) = of_ndcg(check({"q": {"a": 1, "b": 0}}, run, **options))
    assert remark.startswith("warning: nDCG@10 says little in 1 query")


def test_broken_scores_are_reported_once() -> None:
    """What cannot be scored is an error; nothing more is stated of it."""
    report = check({"q": {"a": 1}}, {"q": {"a": math.nan}})
    assert not report.ok
    assert not of_ndcg(report)


# -- measures that are requested -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("measures", "names"),
    [
        ((), ["unjudged@10", "unjudged@100"]),
        ("nDCG@20 P@5", ["unjudged@5", "unjudged@20"]),
        (["RR@3", "AP"], ["unjudged@3", "unjudged in whole lists"]),
    ],
)
def test_cutoffs_are_those_requested(measures: Any, names: list[str]) -> None:
    """Of six documents the first two are judged, so the shares tell which were looked at."""
    run = {"q": {f"d{index}": -float(index) for index in range(6)}}
    report = check({"q": {"d0": 1, "d1": 0}}, run, measures=measures)
    parts = [
        finding.what.split(": ")
        for finding in report.files[1].findings
        if finding.what.startswith("unjudged")
    ]
    shares = {"unjudged@3": "33.3%", "unjudged@5": "60.0%"}
    assert parts == [[name, shares.get(name, "66.7%")] for name in names]


def test_judgments_of_relevant_documents_only() -> None:
    """What has no meaning then is a warning where it is requested, and a note otherwise."""
    none, subset = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1, "b": 0}}
    text = "AP Bpref infAP AUC(negatives=judged) AUC(negatives=candidates) NumNonrelRet nDCG@10"

    (finding,) = check(none, measures=text).files[0].findings
    assert (finding.level, finding.doubtful) == ("warning", True)
    assert finding.what == (
        "no document is judged not relevant, "
        "so Bpref, infAP, AUC(negatives=judged), NumNonrelRet are meaningless"
    )
    assert not check(subset, measures=text).files[0].findings
    (note,) = check(none, measures="AP Bpref(rel=2)").files[0].findings
    assert (note.level, note.what) == (
        "note",
        "no document is judged not relevant (no grade of 0 or below)",
    )
    assert "Bpref, infAP" in str(note.fix)


# -- training --------------------------------------------------------------------------------------------
def test_a_training_file_is_held_against_judgments_and_runs() -> None:
    """Pairs that are in both, and documents and queries that are in one; grades of 0 leak nothing."""
    qrels = {"u1": {"a": 1, "b": 1, "c": 0}, "u2": {"a": 1, "x": 1}}
    train = {"u1": ["a", "c", "d"], "u3": ["b"]}
    report = check(qrels, {"u1": {"a": 2.0, "y": 1.0}, "u2": {"c": 1.0}}, train=train)

    judged, learnt, run = report.files
    assert [file.kind for file in report.files] == ["judgments", "training", "run"]
    assert learnt.facts == {
        "rows": "4",
        "queries": "2",
        "documents": "4",
        "rows per query": "1–3, median 2",
    }
    assert [(finding.level, finding.what) for finding in learnt.findings] == [
        ("warning", "1 of 4 relevant judgments (25.0%) also in training"),
        ("note", "1 of 2 queries not in training"),
        ("note", "1 of 3 relevant documents not in training"),
    ]
    assert [finding.example for finding in learnt.findings] == [
        "query u1, document a",
        "u2",
        "x",
    ]
    assert [
        (finding.level, finding.what, finding.example) for finding in run.findings[-2:]
    ] == [
        ("note", "1 retrieved row of 3 also in training", "query u1, document a"),
        ("note", "1 of 3 retrieved documents not in training", "y"),
    ]
    assert "1 of 4 relevant judgments (25.0%) also in training" in report.doubts
    assert not judged.findings


def test_a_training_file_of_other_ids() -> None:
    """Numbers are the texts they are written as; ids that never match are a doubt."""
    report = check({"1": {"2": 1}}, {"1": {"5": 1.0}}, train={1: [2, 3]})
    assert (
        report.files[1].findings[0].what
        == "1 of 1 relevant judgment (100.0%) also in training"
    )
    (message,) = (
        finding
        for finding in report.files[2].findings
        if "retrieved document" in finding.what
    )
    assert (message.level, message.doubtful) == ("warning", True)
    assert message.fix == "do document ids match? in training 2, 3"


# -- ids of two kinds --------------------------------------------------------------------------------------
def test_ids_of_two_kinds_are_an_error_here_too(path: Path) -> None:
    """Numbers in a frame never match texts in another; in a file of text they are what they look like."""
    judged = pl.DataFrame(
        {"query_id": ["1", "2"], "doc_id": ["a", "b"], "relevance": [1, 0]}
    )
    numbers = pl.DataFrame(
        {"query_id": [1, 2], "doc_id": ["a", "b"], "score": [1.0, 2.0]}
    )
    report = check(judged, {"a": numbers})
    assert [(finding.level, finding.what) for finding in report.files[1].findings] == [
        ("error", "query_id has two types")
    ]
    path.write_text("1 Q0 a 1 2 t\n2 Q0 b 1 1 t\n")
    report = check(judged.with_columns(query_id=pl.Series([1, 2])), {"a": path})
    assert report.ok
    assert "unjudged@10: 0.0%" in [finding.what for finding in report.files[1].findings]


# -- all together ----------------------------------------------------------------------------------------
def test_judgments_alone() -> None:
    """Without a run there is still something to say."""
    report = check(QRELS)
    assert [file.kind for file in report.files] == ["judgments"]
    assert report.files[0].facts["grades"] == "0 × 1, 1 × 2"
    assert report.verdict == "ok"


def test_runs_with_findings_come_first_and_are_counted() -> None:
    """Errors before doubts, doubts before warnings, the rest in the order given; the verdict counts."""
    judged = {query: {"d1": 1, "d2": 0} for query in ("q1", "q2")}
    good = {query: {"d1": 2.0, "d2": 1.0} for query in judged}
    runs = {
        "good": good,
        "tied": {**good, "q1": {"d1": 1.0, "d2": 1.0}},
        "strange": {query: {"x": 1.0} for query in good},
        "broken": {**good, "q2": {"d1": math.nan, "d2": 1.0}},
        "fine": good,
    }
    report = check(judged, runs, measures="P@1")
    assert [file.name for file in report.files] == [
        "judgments",
        "broken",
        "strange",
        "tied",
        "good",
        "fine",
    ]
    assert report.verdict == "1 error, 2 warnings"
    assert report.to_dict()["verdict"] == report.verdict
    assert check(judged, good, measures="P@1").verdict == "ok"
    assert (
        check(judged, {"tied": runs["tied"]}, measures="P@1").verdict == "ok, 1 warning"
    )
