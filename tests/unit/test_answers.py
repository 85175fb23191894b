"""Nuggets and citations of answers: their tables, their scores, what is refused, and the command."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.real_data import data

import rankstone
from rankstone import InputError, UsageError
from rankstone.answers import citations, citations_to_judge, nuggets, nuggets_to_assign, score_answers
from rankstone.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

FOUR = "Support(level=vital) Support Support(level=vital,partial=0.5) Support(partial=0.5)"
ASSIGNMENTS = ("support", "partial_support", "not_support")


def means(found: rankstone.Scores) -> list[float | None]:
    """Return the means of one system, in the order of its measures."""
    return list(next(iter(found.to_dict().values())).values())


def derived(records: list[dict[str, Any]]) -> list[float]:
    """Return strict vital, strict all, vital and all as nuggetizer 0.0.5 defines them."""

    def mean(importances: set[str], partial: float) -> float:
        worth = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        found = []
        for record in records:
            its = [worth[one["assignment"]] for one in record["nuggets"] if one["importance"] in importances]
            found.append(sum(its) / len(its) if its else 0.0)
        return sum(found) / len(found)

    return [mean(kinds, partial) for partial in (0.0, 0.5) for kinds in ({"vital"}, {"vital", "okay"})]


def random_records(seed: int) -> list[dict[str, Any]]:
    """Return assignments of random nuggets; some topics have no vital one."""
    draw = random.Random(seed)
    return [
        {
            "qid": f"q{query}",
            "nuggets": [
                {
                    "text": f"fact {at}",
                    "importance": draw.choice(("vital", "okay")),
                    "assignment": draw.choice(ASSIGNMENTS),
                }
                for at in range(draw.randint(1, 4))
            ],
        }
        for query in range(draw.randint(1, 8))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_four_scores_are_those_of_nuggetizer(seed: int) -> None:
    records = random_records(seed)
    assert means(rankstone.evaluate(*nuggets(records), FOUR)) == pytest.approx(derived(records), abs=1e-12)


def test_real_nuggets_with_random_assignments() -> None:
    path = data("trec-rag25-dev") / "nuggets.11topics.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    draw = random.Random(22)
    for record in records:
        for one in record["nuggets"]:
            one["assignment"] = draw.choice(ASSIGNMENTS)
    assert sum(len(record["nuggets"]) for record in records) == 665
    assert means(rankstone.evaluate(*nuggets(records), FOUR)) == pytest.approx(derived(records), abs=1e-12)
    empty = nuggets_to_assign(path)
    assert (empty.height, empty["assignment"].unique().to_list()) == (665, [""])


def test_what_is_to_be_assigned_comes_back_as_a_table(tmp_path: Path) -> None:
    given = [{"qid": "q", "nuggets": [{"text": "a, or =b", "importance": "vital"}, {"id": "n2", "text": "c",
              "importance": "okay"}]}]  # fmt: skip
    rows = nuggets_to_assign(given)
    assert rows.rows() == [("q", "a, or =b", "vital", ""), ("q", "n2", "okay", "")]
    path = tmp_path / "assigned.csv"
    rows.with_columns(assignment=pl.Series(["support", ""])).write_csv(path)
    # without an assignment a nugget is not supported
    assert means(rankstone.evaluate(*nuggets(path), "Support")) == [0.5]
    assert means(rankstone.evaluate(*nuggets(path, given), "Support(okay=0.5)")) == [1 / 1.5]


def test_explanation_names_the_nuggets() -> None:
    assigned = [{"text": "born 1912", "importance": "vital", "assignment": "partial_support"}]
    judged, said = nuggets([{"qid": "q", "nuggets": assigned}])
    found = str(rankstone.explain(judged, said, "Support(partial=0.5)", "q"))
    assert "born 1912" in found
    assert "0.5" in found


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([{"nuggets": []}], "without qid"),
        ([{"qid": "q", "nuggets": [{"importance": "vital"}]}], "without id and text"),
        ([{"qid": "q", "nuggets": [{"text": "a", "importance": "great"}]}], "importance is great"),
        (
            [{"qid": "q", "nuggets": [{"text": "a", "importance": "okay", "assignment": "maybe"}]}],
            "assignment is maybe",
        ),
        ([{"qid": "q", "nuggets": [{"text": "a", "importance": "okay"}] * 2}], "occurs twice"),
        (["q"], "is a str"),
        ([{"qid": "q", "nuggets": 5}], "nuggets is not a list"),
        ([{"qid": "q", "nuggets": [5]}], "an item of nuggets is no object"),
    ],
)
def test_refused_nuggets(records: list[Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        nuggets(records)
    assert "record 1" in str(caught.value)


def test_a_query_without_nuggets_counts() -> None:
    """It has 0, as in nuggetizer, and is not dropped."""
    assigned = [{"text": "a", "importance": "vital", "assignment": "support"}]
    records: list[dict[str, Any]] = [{"qid": "q", "nuggets": assigned}, {"qid": "p", "nuggets": []}]
    assert means(rankstone.evaluate(*nuggets(records), FOUR)) == derived(records) == [0.5] * 4
    assert nuggets_to_assign(records).height == 1


def test_an_assignment_needs_its_nugget() -> None:
    given = [{"qid": "q", "nuggets": [{"text": "a", "importance": "vital"}]}]
    assigned = [{"qid": "q", "nuggets": [{"text": "b", "importance": "vital", "assignment": "support"}]}]
    with pytest.raises(InputError, match="not in the list"):
        nuggets(assigned, given)


def cited(answers: list[dict[str, Any]], support: dict[tuple[str, int, str], float]) -> list[float]:
    """Return precision and recall of citations, derived sentence by sentence; nothing is left out."""
    precision, recall = [], []
    for answer in answers:
        query, cites, holds = answer["topic_id"], [], []
        for at, sentence in enumerate(answer["answer"]):
            docs = {answer["references"][place] for place in sentence["citations"]}
            worth = [float(support.get((query, at, doc), 0.0) >= 1) for doc in docs]
            cites += worth
            holds.append(max(worth, default=0.0))
        precision.append(sum(cites) / len(cites) if cites else 0.0)
        recall.append(sum(holds) / len(holds) if holds else 0.0)
    return [sum(precision) / len(answers), sum(recall) / len(answers)]


def test_citations_of_a_real_system() -> None:
    path = data("ragnarok-rag24") / "answers.gpt-4o.50topics.jsonl"
    answers = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    todo = citations_to_judge(path)
    draw = random.Random(24)
    judged = todo.with_columns(support=pl.Series([draw.choice(ASSIGNMENTS) for _ in range(todo.height)]))
    support = {(q, at, doc): float(word == "support") for q, at, doc, word in judged.iter_rows()}
    scores = rankstone.evaluate(*citations(path, judged), "CitationP CitationR")
    assert means(scores) == pytest.approx(cited(answers, support), abs=1e-12)
    # two of the fifty answers have no reference: they count as 0
    without = [answer["topic_id"] for answer in answers if not answer["references"]]
    assert len(without) == 2
    assert scores.per_query.height == 2 * 50
    assert scores.per_query.filter(pl.col("query_id").is_in(without))["value"].to_list() == [0.0] * 4


ANSWER = {"qid": "q", "references": ["a", "b"], "answer": [{"text": "One.", "citations": [0, "b", 0]},
          {"text": "Two.", "citations": []}]}  # fmt: skip


def test_partial_support_of_citations() -> None:
    said = [{"qid": "q", "sentence": "0", "doc_id": "a", "support": "partial_support"}]
    found = means(
        rankstone.evaluate(*citations([ANSWER], said), "CitationP(partial=0.5) CitationR(partial=0.5)")
    )
    assert found == [0.25, 0.25]


@pytest.mark.parametrize(
    ("answers", "support", "says"),
    [
        ([{"qid": "q", "answer": "One."}], None, "answer is not a list"),
        ([{"qid": "q", "answer": [3]}], None, "an item of answer is no object"),
        ([{"qid": "q", "references": 2, "answer": []}], None, "references are not a list"),
        ([{"qid": "q", "answer": [{"citations": 0}]}], None, "citations are not a list"),
        ([{"qid": "q", "answer": [{"citations": [True]}]}], None, "citations are not a list"),
        ([{"qid": "q", "answer": [{"text": "One.", "citations": [0]}]}], None, "citation 0 of 0 references"),
        ([ANSWER, ANSWER], None, "a second answer to query q"),
        ([ANSWER], [{"qid": "q", "doc_id": "a"}], "without a sentence and a document"),
        ([ANSWER], [{"qid": "q", "sentence": 1, "doc_id": "a", "support": 1}], "that no answer has"),
        ([ANSWER], [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "?"}], "support is \\?"),
    ],
)
def test_refused_citations(answers: list[Any], support: list[Any] | None, says: str) -> None:
    with pytest.raises(InputError, match=says):
        citations(answers, support)


def test_systems_have_sentences_of_their_own() -> None:
    shorter = {**ANSWER, "answer": ANSWER["answer"][:1]}
    said = [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "yes"}]
    found = score_answers({"a": citations([ANSWER], said), "b": citations([shorter], said)}, "CitationR")
    assert found.to_dict() == {"a": {"CitationR": 0.5}, "b": {"CitationR": 1.0}}
    with pytest.raises(UsageError, match="no system"):
        score_answers({}, "CitationR")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return two systems' assignments, as files."""
    names = []
    for seed in (1, 2):
        draw = random.Random(seed)
        path = tmp_path / f"system{seed}.jsonl"
        rows = [
            {"qid": f"q{at}", "nuggets": [{"text": f"fact {one}", "importance": "vital",
             "assignment": draw.choice(ASSIGNMENTS)} for one in range(4)]}
            for at in range(12)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        names.append(str(path))
    return names


def run(*words: str) -> str:
    """Return what the command prints; it must succeed."""
    found = CliRunner().invoke(cli, ["answers", *words])
    assert found.exit_code == 0, found.output
    return found.output


def test_command(files: list[str]) -> None:
    assert "Support(level=vital, partial=0.5)" in run(*files, "--format", "csv")
    assert "[" in run(*files, "--ci")
    assert "system2" in run(*files, "--compare", "-m", "Support")
    assert "fact 3" in run(files[0], "--explain", "Support", "-q", "q0")
    assert run(files[0], "--to-judge").startswith("query_id,nugget,importance,assignment\nq0,fact 0,vital,")


def test_command_with_citations(tmp_path: Path) -> None:
    answers, support = tmp_path / "mine.jsonl", tmp_path / "support.csv"
    answers.write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    support.write_text(run(str(answers), "--to-judge").replace('a,""', "a,support"))
    assert run(str(answers), "--support", str(support), "--format", "csv").count("0.5") == 2
    refused = CliRunner().invoke(cli, ["answers", str(answers)])
    assert "--to-judge" in str(refused.exception)
