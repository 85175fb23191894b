"""Where relevant documents are lost: against a second derivation, in every state, and what is refused."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command as run
from tests.diagnostics.fates_by_hand import fates_of
from tests.real_data import data
from tests.rows import each

import rankstone
from rankstone import stages
from rankstone.errors import (
    BadOption,
    BadParameter,
    InputError,
    NotComparable,
    UsageError,
)

if TYPE_CHECKING:
    from pathlib import Path

FATES = ("not_in_pool", "never_shown", "demoted", "kept", "rescued", "brought")
#: a document of every fate at k = 2: e is in no list and not in the corpus, f comes from the later step
QRELS = {"q1": dict.fromkeys("abcde", 1), "q2": {"f": 2, "g": 1, "n": 0}}
POOL = {"q1": ["a", "b", "x", "c"], "q2": ["n", "y", "g"]}
LAST = {"q1": ["b", "c", "x", "a"], "q2": ["f", "n", "g"]}
STEPS = {"bm25": POOL, "fused": LAST}
CORPUS = [*"abcdfgnxy"]


def lines_of_pipeline(seed: int) -> tuple[list[str], list[str], list[str]]:
    """Return judgments and two steps with ties, where the later step brings documents and leaves some out."""
    draw = random.Random(seed)
    qrels, first, last = [], [], []
    for query in range(12):
        docs = [f"d{number}" for number in range(30)]
        judged = [doc for doc in docs if draw.random() < 0.6]
        qrels += [f"q{query} 0 {doc} {draw.randrange(4)}" for doc in judged]
        pool = draw.sample(docs, 18)
        later = [*draw.sample(pool, 12), *draw.sample(docs[20:], 3)]
        first += [f"q{query} Q0 {doc} 0 {draw.randrange(6)} a" for doc in pool]
        kept = dict.fromkeys(later)
        last += [f"q{query} Q0 {doc} 0 {draw.randrange(6)} b" for doc in kept]
    return qrels, first, last


@each("seed, k, rel", [(1, 3, 1), (2, 5, 2), (3, 1, 3), (4, 10, 2), (5, 40, 1)])
def test_shares_are_those_of_a_second_derivation(
    seed: int, k: int, rel: int, tmp_path: Path
) -> None:
    """Every fate is counted as in plain Python, ties included, and shares sum to 1."""
    texts = lines_of_pipeline(seed)
    paths = [tmp_path / name for name in ("qrels.txt", "first.run", "last.run")]
    for path, lines in zip(paths, texts, strict=True):
        path.write_text("\n".join(lines) + "\n")
    result = stages(paths[0], paths[1:], k=k, rel=rel)
    assert_as_by_hand(result, texts, k, rel)


def assert_as_by_hand(result: Any, texts: Any, k: int, rel: int) -> None:
    qrels, first, last = texts
    by_hand = fates_of(qrels, first, last, k, rel)
    counted = dict(result.fates.select("fate", "documents").iter_rows())
    assert counted == {fate: by_hand[fate] for fate in FATES}
    total = by_hand.total()
    for row in result.fates.iter_rows(named=True):
        assert row["share"] == pytest.approx(by_hand[row["fate"]] / total)
        assert row["low"] <= row["share"] <= row["high"]
    assert result.fates["share"].sum() == pytest.approx(1)


@pytest.mark.parametrize("last", ["ielab-robertav1", "mono_d3"])
def test_a_track_of_trec(last: str) -> None:
    """Runs of TREC 2021: one reranks a hundred passages of BM25, four fifths of the other's are new."""
    folder = data("syndl-dl21-runs")
    names = ("qrels.dl21-passage.txt", "runs/p_bm25", f"runs/{last}")
    paths = [folder / f"{name}.gz" for name in names]
    texts = [gzip.decompress(path.read_bytes()).decode().splitlines() for path in paths]
    result = stages(paths[0], paths[1:], k=10, rel=2)
    assert_as_by_hand(result, texts, 10, 2)
    new = result.steps["new"][1]
    if last == "mono_d3":
        shares = [round(100 * share) for share in result.fates["share"]]
        assert shares == [71, 17, 4, 2, 3, 4]
        assert round(100 * new) == 82
        assert next(result.warnings()).startswith("82 % of the documents in mono_d3’s")
    else:
        assert new == 0
        assert not [*result.warnings()]
    assert len(result.text(80).splitlines()) <= 25


def test_every_fate_once() -> None:
    """Each fate by the order of two lists; what a step retrieves is in the corpus, whatever the list says."""
    result = stages(QRELS, STEPS, k=2, corpus=CORPUS)
    fates = dict(result.documents.select("doc_id", "fate").iter_rows())
    assert fates == {
        "a": "demoted",
        "b": "kept",
        "c": "rescued",
        "d": "not_in_pool",
        "e": "not_in_corpus",
        "f": "brought",
        "g": "never_shown",
    }
    assert set(result.fates["documents"]) == {1}
    assert result.documents["rank_bm25"].to_list() == [1, 2, 4, None, None, None, 3]
    stale = stages(QRELS, STEPS, k=2, corpus=["b", "x"])
    assert dict(stale.documents.select("doc_id", "fate").iter_rows())["f"] == "brought"
    assert result.steps.rows() == [
        ("bm25", 4 / 7, 2 / 7, None),
        ("fused", 5 / 7, 3 / 7, 1 / 7),
    ]


def test_recall_is_that_of_evaluations() -> None:
    """Recall now, of the best order and of whole lists are measures of the same lists."""
    result = stages(QRELS, STEPS, k=2)
    scores = rankstone.evaluate(QRELS, STEPS, "R@2 R")
    assert result.recall["now"] == pytest.approx(scores["fused", "R@2"])
    assert result.recall["whole"] == pytest.approx(scores["bm25", "R"])
    ideal = {"q1": [*"abcde"], "q2": ["f", "g", "n"]}
    most = rankstone.evaluate(QRELS, ideal, "R@2")["R@2"]
    assert result.recall["most"] == pytest.approx(most)
    reordered = {"q1": ["a", "b", "c", "x"], "q2": ["g", "n", "y"]}
    first = rankstone.evaluate(QRELS, reordered, "R@2")["R@2"]
    assert result.recall["first"] == pytest.approx(first)
    deep = stages(QRELS, STEPS, k=1000).recall
    assert deep["now"] == deep["last"] == pytest.approx(scores["fused", "R"])


def test_ranks_of_what_is_missed() -> None:
    """Each missed document is in one range of ranks, in the last step and in the pool."""
    result = stages(QRELS, STEPS, k=1)
    assert result.misses.rows() == [
        ("1", 1, 0),
        ("2", 0, 1),
        ("3–5", 2, 2),
        ("6–10", 0, 0),
        ("11–", 0, 0),
        (None, 2, 2),
    ]
    assert result.misses["rank_bm25"].sum() == result.misses["rank_fused"].sum() == 5


#: a is one need or the other, c and d are two; e is absent, of f and g one is enough, h and i are absent
GOLDEN = [
    {"id": "q1", "query": "x", "any_of": ["a", "b"]},
    {"id": "q2", "query": "y", "hops": [["c"], ["d", "e"]]},
    {"id": "q3", "query": "z", "any_of": ["f", "g"]},
    {"id": "q4", "query": "w", "any_of": ["h", "i"]},
]
WITH_NEEDS = {
    "bm25": {"q1": ["a", "b", "n"], "q2": ["n", "o", "c", "d"], "q3": ["n", "g", "f"]},
    "late": {"q1": ["n", "b", "a"], "q2": ["d", "n", "o", "c"], "q3": ["n", "o", "f"]},
}


def test_alternatives_are_one_need() -> None:
    """A need has the fate of the document that got furthest; its row names it, with that document's ranks."""
    corpus = [*"abcdefgno"]
    result = stages(GOLDEN, WITH_NEEDS, k=2, corpus=corpus)
    assert result.counted == "needs"
    rows = result.documents.select("doc_id", "rank_bm25", "rank_late", "fate").rows()
    assert rows == [
        ("b", 2, 2, "kept"),
        ("c", 3, 4, "never_shown"),
        ("d", 4, 1, "rescued"),
        ("g", 2, None, "demoted"),
        ("h", None, None, "not_in_corpus"),
    ]
    assert result.fates["documents"].sum() == 5
    assert result.report()["counted"] == "needs"
    # the best document of a need in each step
    assert result.steps["shown"].to_list() == [2 / 5, 2 / 5]
    below = result.misses.filter(ranks="3–4")
    assert below.select("rank_bm25", "rank_late").row(0) == (1, 2)
    text = result.text()
    assert "late meets 2 of 5 needs (40 %)" in text
    assert "relevant documents" not in text.partition("audit")[0]


def test_recall_of_needs_is_that_of_subtopics() -> None:
    """Recall of needs is StRecall of the same lists; a document that meets two needs has one place."""
    result = stages(GOLDEN, WITH_NEEDS, k=2)
    scores = rankstone.evaluate(GOLDEN, WITH_NEEDS, "StRecall@2 StRecall")
    assert result.recall["now"] == pytest.approx(scores["late", "StRecall@2"])
    assert result.recall["whole"] == pytest.approx(scores["bm25", "StRecall"])
    both = [{"id": "q", "query": "x", "hops": [["a"], ["a", "b"]]}]
    lists = {"bm25": {"q": ["a"]}, "late": {"q": ["a"]}}
    once = stages(both, lists, k=1)
    assert (once.room, once.recall["last"], once.shown) == (2, 1, 1)


def test_judgments_by_subtopic_count_needs() -> None:
    """A column subtopic says the same; lists of documents that are all expected count documents."""
    rows = [
        {"query_id": "q1", "doc_id": doc, "subtopic": topic, "relevance": grade}
        for doc, topic, grade in [("a", "s", 1), ("b", "s", 2), ("c", "t", 1)]
    ]
    steps = {"bm25": {"q1": ["a", "b"]}, "late": {"q1": ["b", "a"]}}
    result = stages(pl.DataFrame(rows), steps, k=1, rel=1)
    fates = dict(result.documents.select("doc_id", "fate").iter_rows())
    assert fates == {"b": "rescued", "c": "not_in_pool"}
    plain = stages([{"query": "q1", "expected": ["a", "b"]}], steps, k=1)
    assert plain.counted == "relevant documents"
    assert plain.documents.height == 2


def test_what_is_not_in_the_corpus_is_not_within_reach() -> None:
    """No list can have what is not in the corpus: recall of any list is below 1."""
    result = stages(QRELS, STEPS, k=10, corpus=CORPUS)
    assert result.recall["most"] == pytest.approx((4 / 5 + 1) / 2)
    assert "0.9000 with any list" in result.text()
    assert stages(QRELS, STEPS, k=10).recall["most"] == 1


def test_a_step_between() -> None:
    """With three steps fates are between the first and the last, with a row a step."""
    steps = {"bm25": POOL, "fused": LAST, "cut": {"q1": ["b"], "q2": ["f"]}}
    result = stages(QRELS, steps, k=2)
    assert result.steps["step"].to_list() == ["bm25", "fused", "cut"]
    assert result.steps["new"].to_list() == [None, 1 / 7, 0]
    assert "Relevant documents by step" in result.text()
    by_doc = dict(result.documents.select("doc_id", "fate").iter_rows())
    assert by_doc["c"] == "never_shown"
    assert by_doc["f"] == "brought"


def test_by_category() -> None:
    """Shares of each value of a column sum to 1, and sentences need no category."""
    about = {"q1": {"kind": "long"}, "q2": {"kind": None}}
    result = stages(QRELS, STEPS, k=2, queries=about, by="kind")
    assert result.segments is not None
    sums = result.segments.group_by("kind").agg(pl.col("share").sum())
    assert sums["share"].to_list() == pytest.approx([1, 1])
    assert result.segments.filter(fate="shown")["share"].to_list() == [2 / 5, 1 / 2]
    with pytest.raises(BadParameter, match="need a query table"):
        stages(QRELS, STEPS, by="kind")


ANSWERS = {"q1": {"correct": True}, "q2": {"correct": False}}


def test_answers_beside_evidence() -> None:
    """The four cells, and what they say of wrong answers."""
    late = {"bm25": POOL, "late": {**LAST, "q2": ["n", "y", "f"]}}
    result = stages(QRELS, late, k=2, answers=ANSWERS)
    assert result.evidence is not None
    assert result.evidence["queries"].to_list() == [1, 0, 0, 1]
    assert result.evidence["share"].sum() == 1
    last_line = [*result.findings()][-1]
    assert last_line.startswith(
        "Answers of 2 of 2 queries are graded: 0 are wrong although"
    )
    assert "1 is wrong without any" in last_line
    half = stages(QRELS, late, k=2, answers={"q1": {"correct": False}})
    assert "Answers of 1 of 2 queries" in [*half.findings()][-1]


@each(
    "answers, right_from, cells",
    [
        ({"q1": {"correct": 1}, "q2": {"correct": 0}}, None, [1, 1, 0, 0]),
        ({"q1": {"correct": 4}, "q2": {"correct": 2}}, 3, [1, 1, 0, 0]),
        ({"q1": {"correct": "True"}, "q2": {"correct": "false"}}, None, [1, 1, 0, 0]),
        ({"q1": {"correct": "0.4"}, "q2": {"correct": None}}, 0.4, [1, 0, 0, 0]),
    ],
)
def test_grades_of_answers(answers: Any, right_from: float | None, cells: Any) -> None:
    """Truth values and numbers are grades; an answer without one is left out."""
    result = stages(QRELS, STEPS, k=2, answers=answers, right_from=right_from)
    assert result.evidence is not None
    assert result.evidence["queries"].to_list() == cells


@each(
    "options, error, words",
    [
        ({"ties": "expected"}, BadOption, "no rank"),
        ({"duplicates": "keep"}, BadOption, "no rank of its own"),
        ({"missing": "drop"}, BadOption, "a step has lost"),
        ({"unjudged": "condensed"}, BadOption, "unjudged has no meaning"),
        ({"one_group": True}, BadOption, "one_group has no meaning"),
        ({"rel": 9}, NotComparable, "no judged query has a relevant document"),
        ({"corpus": ["z1", "z2"]}, NotComparable, "are these the same ids"),
        ({"answers": {"q9": {"correct": 1}}}, NotComparable, "has a graded answer"),
        (
            {"answers": {"q1": {"correct": 0.5}, "q2": {"correct": 0.7}}},
            BadParameter,
            "right_from=0.7",
        ),
        ({"answers": {"q1": {"correct": "perhaps"}}}, InputError, "perhaps"),
        ({"confidence": 2}, BadOption, "confidence"),
        ({"k": 0}, BadParameter, "k"),
        ({"lang": "xx"}, BadOption, "lang"),
    ],
)
def test_what_is_refused(options: Any, error: type[Exception], words: str) -> None:
    """Each refusal names the option, and what would do."""
    with pytest.raises(error, match=words):
        stages(QRELS, STEPS, **options)


def test_one_run_is_no_pipeline() -> None:
    """A single step has lost nothing on the way."""
    with pytest.raises(UsageError, match="two or more steps"):
        stages(QRELS, {"bm25": POOL})


def test_missing_queries() -> None:
    """The documents of a query that a step does not answer are lost there."""
    steps = {"bm25": POOL, "half": {"q1": LAST["q1"]}}
    result = stages(QRELS, steps, k=2)
    assert result.queries == 2
    fates = dict(result.documents.select("doc_id", "fate").iter_rows())
    assert (fates["f"], fates["g"]) == ("not_in_pool", "never_shown")


def test_chunks_are_their_documents() -> None:
    """With unit=document the ids of chunks are those of their documents, in the corpus, too."""
    chunks = {"bm25": {"q": ["a#1", "a#2", "b#1"]}, "late": {"q": ["b#1", "a#2"]}}
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    result = stages(qrels, chunks, k=1, unit="document", corpus=["a#1", "b#1", "d#1"])
    fates = dict(result.documents.select("doc_id", "fate").iter_rows())
    assert fates == {"a": "demoted", "b": "rescued", "c": "not_in_corpus"}


def write_files(folder: Path) -> list[Path]:
    """Write the judgments and both steps, and files beside them."""
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, row in QRELS.items() for d, g in row.items())
    )
    for name, lists in STEPS.items():
        rows = (
            f"{query} Q0 {doc} {rank} {9 - rank} x\n"
            for query, docs in lists.items()
            for rank, doc in enumerate(docs, 1)
        )
        (folder / f"{name}.run").write_text("".join(rows))
    (folder / "ids.txt").write_text("\n".join(CORPUS))
    (folder / "ids.csv").write_text("doc_id\n" + "\n".join(CORPUS))
    (folder / "docs.jsonl").write_text(
        "".join(json.dumps({"doc_id": doc, "text": doc}) + "\n" for doc in CORPUS)
    )
    graded = [{"query_id": query, **answer} for query, answer in ANSWERS.items()]
    (folder / "graded.jsonl").write_text("\n".join(map(json.dumps, graded)))
    (folder / "graded.csv").write_text("query_id,correct\nq1,true\nq2,\n")
    (folder / "queries.csv").write_text("query_id,kind\nq1,x\nq2,y\n")
    return [folder / name for name in ("qrels.txt", "bm25.run", "fused.run")]


@each("corpus", ["ids.txt", "ids.csv", "docs.jsonl"])
def test_corpus_files(corpus: str, tmp_path: Path) -> None:
    """A list of ids, a column of them, and documents say the same."""
    files = write_files(tmp_path)
    out = run(
        "stages", *files, "-k", 2, "--corpus", tmp_path / corpus, "--format", "json"
    )
    report = json.loads(out.stdout)
    counted = {row["fate"]: row["documents"] for row in report["fates"]}
    assert counted == dict.fromkeys(("not_in_corpus", *FATES), 1)
    assert report["inputs"]["corpus"].endswith(corpus)


def test_the_command_in_every_format(tmp_path: Path) -> None:
    """A table, rows, one query's documents, a row a document in a file, and a page."""
    files = write_files(tmp_path)
    rows, page = tmp_path / "rows.csv", tmp_path / "page.html"
    graded = tmp_path / "graded.csv"
    text = run(
        "stages", *files, "-k", 2, "--answers", graded, "--per-query", rows
    ).stdout
    assert "Answers of 1 of 2 queries are graded" in text
    assert pl.read_csv(rows)["fate"].len() == 7
    csv = run("stages", *files, "-k", 2, "--format", "csv").stdout
    assert csv.splitlines()[0] == "fate,documents,share,low,high"
    one = run("stages", *files, "-k", 2, "--query", "q2", "--format", "json").stdout
    assert [row["fate"] for row in json.loads(one)["documents"]] == [
        "brought",
        "never_shown",
    ]
    table = run("stages", *files, "-k", 2, "--query", "q2").stdout
    assert "\nq2\n" in table
    by = ("--queries", tmp_path / "queries.csv", "--by", "kind")
    run("stages", *files, "-k", 2, *by, "--lang", "zh", "-o", page)
    html = page.read_text("utf-8")
    assert "相关文档丢在哪里" in html
    assert "已展示" in html
    assert run("stages", *files, "--query", "q7", code=3).stderr.startswith(
        "error: query q7"
    )


def test_more_than_a_screen_with_v(tmp_path: Path) -> None:
    """-v shows ranks of misses, what a better order could reach, examples and how fates are defined."""
    whole = run("stages", *write_files(tmp_path), "-k", 1, "-v").stdout
    for title in (
        "Ranks of the documents",
        "What a better order",
        "Examples of lost",
        "Method",
    ):
        assert title in whole
    assert "2–2" not in whole
