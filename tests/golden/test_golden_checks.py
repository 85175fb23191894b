"""Checks of golden sets: ids that are gone, queries that cannot be won, copies, near-duplicates."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import golden
from rankstone.golden.near_duplicates import near_duplicates

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.diagnostics.findings import Finding


def queries(count: int, gone: int = 0) -> list[dict[str, Any]]:
    """Return queries with a document each, of which the first ones are gone."""
    words = ["tents", "boats", "lamps", "ropes", "maps", "stoves", "boots", "knives"]
    return [
        {
            "id": f"q{n}",
            "query": f"{words[n % 8]} {n * 7919}",
            "expected": [f"gone{n}" if n < gone else f"d{n}"],
        }
        for n in range(count)
    ]


def corpus(count: int) -> list[str]:
    return [f"d{n}" for n in range(count)]


def finding(report: Any, words: str) -> Finding:
    """Return the one finding that has some words in it."""
    findings = [f for file in report.files for f in file.findings if words in f.what]
    assert len(findings) == 1, [f.what for file in report.files for f in file.findings]
    return findings[0]


@pytest.mark.parametrize(("count", "gone"), [(25, 5), (12, 10)])
def test_ids_that_are_gone(count: int, gone: int) -> None:
    """By the check with what it costs, and by eval beside the score, with the same ceiling."""
    cases = queries(count, gone)
    report = golden.check(cases, corpus(count))
    absent = finding(report, "not in the corpus")
    assert absent.what.startswith(f"{gone} of {count}")
    lost = finding(report, "cannot be won")
    assert lost.names == tuple(f"q{n}" for n in range(gone))
    ceiling = (count - gone) / count
    assert f"at most R {ceiling:.4f}, RR {ceiling:.4f}" in str(absent.fix)

    run = {case["id"]: case["expected"] for case in cases}
    scores = rankstone.evaluate(cases, run, "R@5 RR", corpus=corpus(count))
    audit = scores.audit.to_dict()["judgments"]
    assert (audit["absent"], audit["unwinnable"]) == (gone, gone)
    assert f"at most R@5 {ceiling:.4f}, RR {ceiling:.4f}" in audit["warnings"][0]
    assert rankstone.evaluate(cases, run, "RR").audit.to_dict()["judgments"].get(
        "absent"
    ) in (None, 0)


#: an answer of two parts of which one is gone, an alternative that is gone, a query without any document
NEEDS: list[dict[str, Any]] = [
    {"id": "parts", "query": "two parts", "expected": ["d1", "gone1"]},
    {"id": "either", "query": "one of two", "any_of": ["d2", "gone2"]},
    {"id": "lost", "query": "none", "expected": ["gone3"]},
    {"id": "fine", "query": "all of it", "hops": [["d1"], ["d2"]]},
]


def test_what_is_needed_and_gone() -> None:
    """Queries without any document, without all, and with an alternative are kept apart."""
    report = golden.check(NEEDS, ["d1", "d2"], measures="FullRecall@5 R@5")
    absent = finding(report, "not in the corpus")
    assert absent.names == ("gone1", "gone2", "gone3")
    assert "2 needs have no other document" in str(absent.fix)
    assert "1 need has another document that is there" in str(absent.fix)
    assert finding(report, "nothing expected is there").names == ("lost",)
    incomplete = finding(report, "not all that is needed")
    assert incomplete.names == ("parts",)
    assert incomplete.what.startswith("1 of 4 queries")
    assert incomplete.doubtful
    assert not finding(
        golden.check(NEEDS, ["d1", "d2"], measures="RR"), "not all that is needed"
    ).doubtful

    whole = golden.check(NEEDS, ["d1", "d2", "gone1", "gone3"])
    fix = str(finding(whole, "not in the corpus").fix)
    assert fix.startswith("1 need has another document that is there")
    assert not [f for f in whole.files[0].findings if "needed" in f.what]


@pytest.mark.parametrize("measures", ["FullRecall@5 R@5 RR", "nDCG@3 StRecall@2", "R"])
def test_check_and_evaluation_say_one_ceiling(measures: str) -> None:
    """The same numbers of the same measures."""
    present = ["d1", "d2"]
    report = golden.check(NEEDS, present, measures=measures)
    scores = rankstone.evaluate(NEEDS, {"fine": ["d1"]}, measures, corpus=present)
    warning = scores.audit.to_dict()["judgments"]["warnings"][0]
    ceilings = warning[warning.index("at most") :]
    assert ceilings in str(finding(report, "not in the corpus").fix)


def test_lists_that_are_cut_say_so() -> None:
    """An example has three names and an ellipsis, JSON has all names."""
    report = golden.check(queries(8, 4), corpus(8))
    absent = finding(report, "not in the corpus")
    assert absent.example == "gone0; gone1; gone2 …"
    assert "gone3" not in report.text()
    assert "gone3" in str(report.sheet(verbose=True).parts)
    written = report.report()["files"][0]["findings"]
    [absent_row] = [item for item in written if "not in the corpus" in item["what"]]
    assert absent_row["names"] == ("gone0", "gone1", "gone2", "gone3")
    assert report.to_frame()["names"][0].to_list() == [*absent_row["names"]]
    exact = finding(golden.check(queries(8, 3), corpus(8)), "not in the corpus")
    assert exact.example == "gone0; gone1; gone2"


def test_a_set_that_is_refused_has_no_ceilings() -> None:
    """Two queries with one id leave out the means, not what is gone."""
    twice = [{"id": "a", "query": name, "expected": ["gone"]} for name in ("x", "y")]
    report = golden.check(twice, ["d"])
    assert finding(report, "stand for several queries").names == ("a",)
    assert "at most" not in str(finding(report, "not in the corpus").fix)


def test_ceilings_are_those_of_the_best_lists() -> None:
    """Grades and groups: the best list of what is there, measure by measure."""
    cases = [
        {"id": "a", "query": "x", "hops": [["d1", "d2"], ["gone"]]},
        {"id": "b", "query": "y", "expected": {"d3": 1, "d4": 3}},
    ]
    run = {"a": ["d1"], "b": ["d4"]}
    scores = rankstone.evaluate(
        cases, run, "StRecall@2 nDCG@2 R@1", corpus=["d1", "d2", "d3", "d4"]
    )
    warning = scores.audit.to_dict()["judgments"]["warnings"][0]
    assert "1 relevant document of 5 not in the corpus" in warning
    assert "0 of 2 queries cannot be won" in warning
    assert "StRecall@2 0.7500" in warning
    assert f"R@1 {(1 / 3 + 1 / 2) / 2:.4f}" in warning


def test_everything_is_gone() -> None:
    """A corpus of other documents: no query can be won, and no mean can be reached."""
    scores = rankstone.evaluate(queries(3), {"q0": ["d0"]}, "RR", corpus=["other"])
    audit = scores.audit.to_dict()["judgments"]
    assert (audit["absent"], audit["unwinnable"]) == (3, 3)
    assert "at most RR 0 can be reached" in audit["warnings"][0]


def test_nothing_is_gone() -> None:
    """A whole corpus is no warning; the audit says that there is one."""
    scores = rankstone.evaluate(
        queries(3), {"q0": ["d0"]}, "RR", corpus=pl.DataFrame({"doc_id": corpus(3)})
    )
    audit = scores.audit.to_dict()["judgments"]
    assert audit["absent"] == 0
    assert not audit.get("warnings")
    assert not [
        f
        for f in golden.check(queries(30), corpus(30)).files[0].findings
        if "corpus" in f.what
    ]


def test_texts_of_documents() -> None:
    """Copies under other ids, queries word for word in their document, expected texts."""
    cases = [
        {"id": "a", "query": "how to return worn shoes", "expected": ["r"]},
        {"id": "b", "query": "opening hours", "expected_text": "open until nine"},
        {"id": "c", "query": "parking", "expected_text": "a garage with lions"},
    ]
    documents = {
        "r": "Here is how to return worn shoes: by post.",
        "r2": "here is how to return WORN shoes, by post",
        "h": "We are open until nine.",
    }
    table = pl.DataFrame({"doc_id": [*documents], "text": [*documents.values()]})
    report = golden.check(cases, table)
    assert finding(report, "same text under other ids").example == "r = r2"
    assert finding(report, "word for word").what.startswith("1 query")
    assert finding(report, "in no document").example == "a garage with lions"


def test_a_deep_cutoff_and_small_categories() -> None:
    """A list of the whole corpus finds everything; a category of two has no mean."""
    cases = [case | {"category": "ab"[n < 2]} for n, case in enumerate(queries(30))]
    report = golden.check(cases, corpus(30), measures="R@50 RR")
    assert "R@50" in str(finding(report, "cutoff 50").fix)
    assert finding(report, "category").example == "b: 2"


def test_near_duplicates_within_and_across_splits() -> None:
    """Two queries that say the same are named, and those on two sides once more."""
    cases = [
        {
            "id": "a",
            "query": "How do I reset my password?",
            "expected": ["d"],
            "split": "dev",
        },
        {
            "id": "b",
            "query": "how do i reset my password",
            "expected": ["d"],
            "split": "holdout",
        },
        {"id": "c", "query": "refund policy", "expected": ["e"], "split": "dev"},
    ]
    report = golden.check(cases)
    assert finding(report, "queries that say nearly").what.startswith("1 pair")
    assert finding(report, "in two splits").doubtful
    assert not [
        f for f in golden.check(cases, near=False).files[0].findings if "pair" in f.what
    ]


def test_training_pairs() -> None:
    """By the id or the text of the query."""
    train = pl.DataFrame({"query_id": ["q0", "boats 7919"], "doc_id": ["d0", "d1"]})
    report = golden.check(queries(4), train=train)
    assert finding(report, "training data").what.startswith("2 of 4")


def test_near_duplicates_are_exact() -> None:
    """All pairs that a loop over pairs of sets has, and no other."""
    draw = random.Random(5)
    words = ["reset", "password", "refund", "plan", "billing", "invoice", "mail", "a"]
    texts = [
        " ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(120)
    ] + ["", "!?", "日本語のパスワード", "日本語のパスワード?"]

    def pieces(text: str) -> set[str]:
        letters = "".join(c if c.isalnum() else " " for c in text)
        padded = f" {' '.join(letters.split())} "
        return {padded[n : n + 5] for n in range(max(len(padded) - 4, 1))}

    sets = [pieces(text) if text.strip("!?") else set[str]() for text in texts]
    for least in (0.5, 0.8, 1.0):
        wanted = {
            (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
            for a, b in combinations(range(len(texts)), 2)
            if sets[a] and sets[b]
        }
        pairs = near_duplicates(pl.Series(texts), least)
        got = {(a, b): value for a, b, value in pairs.iter_rows()}
        assert got == {pair: value for pair, value in wanted.items() if value >= least}


def test_corpora_of_all_kinds(tmp_path: Path) -> None:
    """Ids in lines, tables with usual names, a JSON list, a folder with and without its name."""
    cases = [{"id": "a", "query": "x", "expected": ["docs/a.md", "docs/gone.md"]}]
    (tmp_path / "golden.json").write_text(json.dumps(cases))
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("text")
    (folder / "b.md").write_text("other")
    (tmp_path / "ids.txt").write_text("docs/a.md\ndocs/b.md\n")
    (tmp_path / "ids.json").write_text('["docs/a.md", "docs/b.md"]')
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "docs/a.md", "text": "text"}\n{"_id": "docs/b.md", "text": "b"}\n'
    )
    (tmp_path / "corpus.csv").write_text("doc_id,text\ndocs/a.md,text\ndocs/b.md,b\n")
    (tmp_path / "tab.tsv").write_text("docs/a.md\ttext of it\ndocs/b.md\tother\n")
    for source in ("ids.txt", "ids.json", "corpus.jsonl", "corpus.csv", "docs"):
        line = ("golden", "check", "golden.json", "--corpus", source)
        shown = command(*line, cwd=tmp_path).stdout
        assert "1 of 2 expected documents is not in the corpus (docs/gone.md)" in (
            " ".join(shown.split())
        ), source
        command(*line, "--strict", code=3, cwd=tmp_path)


def test_a_likely_id_is_named() -> None:
    """A document that has moved is shown with its new place."""
    cases = [{"id": "a", "query": "x", "expected": ["docs/Old.md"]}]
    report = golden.check(cases, ["guide/old.md", "b.md"])
    assert "there is guide/old.md" in str(finding(report, "not in the corpus").example)


def test_the_audit_in_chinese(tmp_path: Path) -> None:
    """The notes on the set and on the corpus are in the language of the comparison."""
    cases = [
        {"question": "x", "hops": [["d1"], ["gone"]]},
        {"question": "y", "any_of": ["d2", "d3"]},
    ]
    (tmp_path / "golden.json").write_text(json.dumps(cases))
    (tmp_path / "ids.txt").write_text("d1\nd2\n")
    (tmp_path / "golden.splits.csv").write_text("query_id,split\nx,dev\ny,dev\n")
    run = {"x": ["d1"], "y": ["d2"]}
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    line = ("compare", "golden.json", "a.json", "b.json", "-m", "R@2", "--lang", "zh")
    more = ("--corpus", "ids.txt", "--split", "dev", "-v")
    shown = command(*line, *more, cwd=tmp_path).stdout
    for words in (
        "黄金集：question=query",
        "划分来自",
        "无法答对",
        "最多可达",
        "按组计",
    ):
        assert words in shown, shown
    for words in (
        "golden set",
        "splits of",
        "cannot be won",
        "corpus ",
        "can be reached",
    ):
        assert words not in shown, shown


def test_an_empty_list_is_declared_unanswerable() -> None:
    """A query with an empty list is a mistake, unless it is declared unanswerable or forbids something."""
    records: list[dict[str, Any]] = [
        {"id": "a", "query": "refunds?", "expected": ["r.md"]},
        {"id": "b", "query": "weather?", "expected": [], "should_answer": False},
        {"id": "c", "query": "prices?", "expected": [], "forbidden": ["old.md"]},
        {"id": "d", "query": "opening hours?", "expected_text": ["until nine"]},
    ]
    assert "expects nothing" not in str(golden.check(records))
    more = {"id": "e", "query": "delivery?", "expected": []}
    text = " ".join(str(golden.check([*records, more])).split())
    assert "1 query expects nothing and is not declared unanswerable (e)" in text
