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
from rankstone.answers import (
    citations,
    citations_to_judge,
    compare_assessors,
    judge_by_similarity,
    kind_of,
    nuggets,
    nuggets_to_assign,
    score_answers,
)
from rankstone.cli import cli

if TYPE_CHECKING:
    from pathlib import Path

FOUR = (
    "Support(level=vital) Support Support(level=vital,partial=0.5) Support(partial=0.5)"
)
ASSIGNMENTS = ("support", "partial_support", "not_support")


def means(scores: rankstone.Scores) -> list[float | None]:
    """Return the means of one system, in the order of its measures."""
    return list(next(iter(scores.to_dict().values())).values())


def derived(records: list[dict[str, Any]]) -> list[float]:
    """Return strict vital, strict all, vital and all as nuggetizer 0.0.5 defines them."""

    def mean(importances: set[str], partial: float) -> float:
        worth = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        rows = []
        for record in records:
            its = [
                worth[nugget["assignment"]]
                for nugget in record["nuggets"]
                if nugget["importance"] in importances
            ]
            rows.append(sum(its) / len(its) if its else 0.0)
        return sum(rows) / len(rows)

    return [
        mean(kinds, partial)
        for partial in (0.0, 0.5)
        for kinds in ({"vital"}, {"vital", "okay"})
    ]


def random_records(seed: int) -> list[dict[str, Any]]:
    """Return assignments of random nuggets; some topics have no vital one."""
    draw = random.Random(seed)
    return [
        {
            "qid": f"q{query}",
            "nuggets": [
                {
                    "text": f"fact {index}",
                    "importance": draw.choice(("vital", "okay")),
                    "assignment": draw.choice(ASSIGNMENTS),
                }
                for index in range(draw.randint(1, 4))
            ],
        }
        for query in range(draw.randint(1, 8))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_four_scores_are_those_of_nuggetizer(seed: int) -> None:
    records = random_records(seed)
    assert means(rankstone.evaluate(*nuggets(records), FOUR)) == pytest.approx(
        derived(records), abs=1e-12
    )


def test_real_nuggets_with_random_assignments() -> None:
    path = data("trec-rag25-dev") / "nuggets.11topics.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    draw = random.Random(22)
    for record in records:
        for nugget in record["nuggets"]:
            nugget["assignment"] = draw.choice(ASSIGNMENTS)
    assert sum(len(record["nuggets"]) for record in records) == 665
    assert means(rankstone.evaluate(*nuggets(records), FOUR)) == pytest.approx(
        derived(records), abs=1e-12
    )
    empty = nuggets_to_assign(path)
    assert (empty.height, empty["assignment"].unique().to_list()) == (665, [""])


def test_what_is_to_be_assigned_comes_back_as_a_table(tmp_path: Path) -> None:
    inputs = [
        {
            "qid": "q",
            "nuggets": [
                {"text": "a, or =b", "importance": "vital"},
                {"id": "n2", "text": "c", "importance": "okay"},
            ],
        }
    ]
    rows = nuggets_to_assign(inputs)
    assert rows.rows() == [("q", "a, or =b", "vital", ""), ("q", "n2", "okay", "")]
    path = tmp_path / "assigned.csv"
    rows.with_columns(assignment=pl.Series(["support", ""])).write_csv(path)
    # without an assignment a nugget is not supported
    assert means(rankstone.evaluate(*nuggets(path), "Support")) == [0.5]
    assert means(rankstone.evaluate(*nuggets(path, inputs), "Support(okay=0.5)")) == [
        1 / 1.5
    ]


def test_explanation_names_the_nuggets() -> None:
    assigned = [
        {"text": "born 1912", "importance": "vital", "assignment": "partial_support"}
    ]
    judged, message = nuggets([{"qid": "q", "nuggets": assigned}])
    result = str(rankstone.explain(judged, message, "Support(partial=0.5)", "q"))
    assert "born 1912" in result
    equal = [
        {"text": text, "importance": "vital", "assignment": "support"} for text in "abc"
    ]
    shown = str(
        rankstone.explain(*nuggets([{"qid": "q", "nuggets": equal}]), "Support", "q")
    )
    assert "tied" not in shown
    assert "–" not in shown
    assert "0.5" in result


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([{"nuggets": []}], "without qid"),
        ([{"qid": "q", "nuggets": [{"importance": "vital"}]}], "without id and text"),
        (
            [{"qid": "q", "nuggets": [{"text": "a", "importance": "great"}]}],
            "importance is great",
        ),
        (
            [
                {
                    "qid": "q",
                    "nuggets": [
                        {"text": "a", "importance": "okay", "assignment": "maybe"}
                    ],
                }
            ],
            "assignment is maybe",
        ),
        (
            [{"qid": "q", "nuggets": [{"text": "a", "importance": "okay"}] * 2}],
            "occurs twice",
        ),
        (["q"], "this is no object"),
        ([{"qid": "q", "nuggets": 5}], "nuggets is not a list"),
        ([{"qid": "q", "nuggets": [5]}], "an item of nuggets is no object"),
    ],
)
def test_refused_nuggets(records: list[Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        nuggets(records)
    assert "record 1" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "a.jsonl",
            '{"qid": "q", "nuggets": []}\n{"qid": "p", "nug\n',
            r"a\.jsonl:2: this is not JSON",
        ),
        ("a.jsonl", "[]\n", r"a\.jsonl: there are no records"),
        ("a.jsonl", "[1]\n", r"a\.jsonl:1: this is no object"),
        ("a.json", '{"qid": "q", "nuggets": [', "not JSON"),
        ("a.json", "3", "record 1: this is no object"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.jsonl", "", "no records"),
        (
            "a.csv",
            "qid,nugget,importance,assignment\nq,a,vital,\n",
            "no nugget has an assignment",
        ),
        ("a.parquet", "PAR1", "a.parquet"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        nuggets(path)


@pytest.mark.parametrize("source", [5, None, {"qid": "q"}])
def test_what_holds_no_records(source: object) -> None:
    with pytest.raises(InputError, match=f"this is a {type(source).__name__}"):
        nuggets(source)
    with pytest.raises(InputError, match=f"this is a {type(source).__name__}"):
        citations(source)


def test_answers_without_any_citation(tmp_path: Path) -> None:
    """There is nothing to judge, and both scores are 0."""
    answers = [{"qid": "q", "answer": [{"text": "One.", "citations": []}]}]
    todo = tmp_path / "todo.csv"
    citations_to_judge(answers).write_csv(todo)
    assert means(
        rankstone.evaluate(*citations(answers, todo), "CitationP CitationR")
    ) == [0.0, 0.0]
    with pytest.raises(InputError, match="no answers"):
        citations([], todo)


def test_nuggets_have_no_order() -> None:
    """Equal support is no tie that a rule must break."""
    scores = score_answers(
        {"a": nuggets(random_records(1)), "b": nuggets(random_records(1))}, FOUR
    )
    assert "tied" not in str(scores.audit)


def test_a_query_without_nuggets_counts() -> None:
    """It has 0, as in nuggetizer, and is not dropped."""
    assigned = [{"text": "a", "importance": "vital", "assignment": "support"}]
    records: list[dict[str, Any]] = [
        {"qid": "q", "nuggets": assigned},
        {"qid": "p", "nuggets": []},
    ]
    assert (
        means(rankstone.evaluate(*nuggets(records), FOUR))
        == derived(records)
        == [0.5] * 4
    )
    assert nuggets_to_assign(records).height == 1


def test_an_assignment_needs_its_nugget() -> None:
    inputs = [{"qid": "q", "nuggets": [{"text": "a", "importance": "vital"}]}]
    assigned = [
        {
            "qid": "q",
            "nuggets": [{"text": "b", "importance": "vital", "assignment": "support"}],
        }
    ]
    with pytest.raises(InputError, match="not in the list"):
        nuggets(assigned, inputs)


def cited(
    answers: list[dict[str, Any]], support: dict[tuple[str, int, str], float]
) -> list[float]:
    """Return precision and recall of citations, derived sentence by sentence; nothing is left out."""
    precision, recall = [], []
    for answer in answers:
        query, cites, holds = answer["topic_id"], [], []
        for index, sentence in enumerate(answer["answer"]):
            docs = {answer["references"][place] for place in sentence["citations"]}
            worth = [float(support.get((query, index, doc), 0.0) >= 1) for doc in docs]
            cites += worth
            holds.append(max(worth, default=0.0))
        precision.append(sum(cites) / len(cites) if cites else 0.0)
        recall.append(sum(holds) / len(holds) if holds else 0.0)
    return [sum(precision) / len(answers), sum(recall) / len(answers)]


def test_citations_of_a_real_system() -> None:
    path = data("ragnarok-rag24") / "answers.gpt-4o.50topics.jsonl"
    answers = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    todo = citations_to_judge(path)
    draw = random.Random(24)
    judged = todo.with_columns(
        support=pl.Series([draw.choice(ASSIGNMENTS) for _ in range(todo.height)])
    )
    support = {
        (q, position, doc): float(word == "support")
        for q, position, doc, word in judged.iter_rows()
    }
    scores = rankstone.evaluate(*citations(path, judged), "CitationP CitationR")
    assert means(scores) == pytest.approx(cited(answers, support), abs=1e-12)
    # two of the fifty answers have no reference: they count as 0
    without = [answer["topic_id"] for answer in answers if not answer["references"]]
    assert len(without) == 2
    assert scores.per_query.height == 2 * 50
    assert (
        scores.per_query.filter(pl.col("query_id").is_in(without))["value"].to_list()
        == [0.0] * 4
    )


ANSWER = {
    "qid": "q",
    "references": ["a", "b"],
    "answer": [
        {"text": "One.", "citations": [0, "b", 0]},
        {"text": "Two.", "citations": []},
    ],
}


def test_partial_support_of_citations() -> None:
    lines = [{"qid": "q", "sentence": "0", "doc_id": "a", "support": "partial_support"}]
    result = means(
        rankstone.evaluate(
            *citations([ANSWER], lines), "CitationP(partial=0.5) CitationR(partial=0.5)"
        )
    )
    assert result == [0.25, 0.25]


@pytest.mark.parametrize(
    ("answers", "support", "says"),
    [
        ([{"qid": "q", "answer": "One."}], None, "answer is not a list"),
        ([{"qid": "q", "answer": [3]}], None, "an item of answer is no object"),
        (
            [{"qid": "q", "references": 2, "answer": []}],
            None,
            "references are not a list",
        ),
        (
            [{"qid": "q", "references": [None], "answer": []}],
            None,
            "references are not a list",
        ),
        (
            [{"qid": "q", "answer": [{"citations": 0}]}],
            None,
            "citations are not a list",
        ),
        (
            [{"qid": "q", "answer": [{"citations": [True]}]}],
            None,
            "citations are not a list",
        ),
        (
            [{"qid": "q", "answer": [{"text": "One.", "citations": [0]}]}],
            None,
            "citation 0 of 0 references",
        ),
        ([ANSWER, ANSWER], None, "a second answer to query q"),
        ([ANSWER], [{"qid": "q", "doc_id": "a"}], "without a sentence and a document"),
        (
            [ANSWER],
            [{"qid": "q", "sentence": 1, "doc_id": "a", "support": 1}],
            "that no answer has",
        ),
        (
            [ANSWER],
            [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "?"}],
            "support is \\?",
        ),
    ],
)
def test_refused_citations(
    answers: list[Any], support: list[Any] | None, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        citations(answers, support)


def test_systems_have_sentences_of_their_own() -> None:
    shorter = {**ANSWER, "answer": ANSWER["answer"][:1]}
    lines = [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "yes"}]
    scores = score_answers(
        {"a": citations([ANSWER], lines), "b": citations([shorter], lines)}, "CitationR"
    )
    assert scores.to_dict() == {"a": {"CitationR": 0.5}, "b": {"CitationR": 1.0}}
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
            {
                "qid": f"q{index}",
                "nuggets": [
                    {
                        "text": f"fact {position}",
                        "importance": "vital",
                        "assignment": draw.choice(ASSIGNMENTS),
                    }
                    for position in range(4)
                ],
            }
            for index in range(12)
        ]
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        names.append(str(path))
    return names


def test_zero_is_an_assignment() -> None:
    """As a number too; no value is none."""
    facts = [
        {"id": index, "importance": "vital", "assignment": value}
        for index, value in enumerate([0, 1, 0.5, "0"])
    ]
    _, message = nuggets(
        [
            {
                "qid": "q",
                "nuggets": [
                    *facts,
                    {"id": 9, "importance": "okay", "assignment": None},
                ],
            }
        ]
    )
    assert message["score"].to_list() == [0.0, 1.0, 0.5, 0.0]
    assert message["doc_id"].to_list() == ["0", "1", "2", "3"]
    with pytest.raises(InputError, match="assignment is False"):
        nuggets([{"qid": "q", "nuggets": [{**facts[0], "assignment": False}]}])


def test_second_records_are_refused() -> None:
    """They would be merged, and their mean be of fewer questions."""
    fact = [{"text": "a", "importance": "vital", "assignment": "yes"}]
    with pytest.raises(InputError, match="second record of query q"):
        nuggets(
            [
                {"qid": "q", "nuggets": fact},
                {"qid": "q", "nuggets": [{**fact[0], "text": "b"}]},
            ]
        )
    contexts = {
        "user_input": "q",
        "reference_contexts": ["a"],
        "retrieved_contexts": ["a"],
    }
    with pytest.raises(InputError, match="second record of query q"):
        judge_by_similarity([contexts, contexts])


def test_citations_without_judgments() -> None:
    empty = citations_to_judge([ANSWER])
    with pytest.raises(InputError, match="no citation is judged"):
        citations([ANSWER], empty)
    lines = [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "yes"}]
    with pytest.raises(InputError, match="judged twice"):
        citations([ANSWER], [*lines, {**lines[0], "support": "no"}])
    for sentence in (0.9, True, "x"):
        with pytest.raises(InputError, match="without a sentence and a document"):
            citations([ANSWER], [{**lines[0], "sentence": sentence}])


def test_systems_answer_the_same_questions() -> None:
    first, second = random_records(3), random_records(3)[1:]
    with pytest.raises(InputError, match="two has no answer to 1 query of the others"):
        score_answers({"one": nuggets(first), "two": nuggets(second)}, "Support")
    agreement = compare_assessors(
        {"one": nuggets(first), "two": nuggets(second)}, "Support"
    )
    assert "1 question that not all have" in str(agreement)


def test_kinds_of_records() -> None:
    """Ragas calls the text of an answer ``answer``, too."""
    contexts = {
        "question": "q",
        "answer": "text",
        "contexts": ["a"],
        "reference_contexts": ["a"],
    }
    assert kind_of([contexts]) == "contexts"
    assert kind_of([ANSWER]) == kind_of([{"qid": "q", "answer": "text"}]) == "citations"
    assert (
        kind_of([{"qid": "q", "nuggets": [], "answer": "text"}])
        == kind_of([])
        == "nuggets"
    )
    scores = rankstone.evaluate(*judge_by_similarity([contexts]), "StRecall(rel=2)")
    assert means(scores) == [1.0]


def test_all_answers_may_be_empty() -> None:
    assert (
        means(rankstone.evaluate(*nuggets([{"qid": "q", "nuggets": []}]), FOUR))
        == [0.0] * 4
    )
    scores = rankstone.evaluate(
        *citations([{"qid": "q", "answer": []}], []), "CitationP CitationR"
    )
    assert means(scores) == [0.0, 0.0]


def test_records_of_other_libraries(tmp_path: Path) -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = [{"qid": "q", "nugget": "a", "importance": "vital", "assignment": "support"}]
    for case in (
        pandas.DataFrame(rows),
        arrow.Table.from_pylist(rows),
        pl.LazyFrame(rows),
    ):
        assert nuggets(case)[1].rows() == [("q", "a", 1.0)]
    half = tmp_path / "half.jsonl"
    half.write_text(
        '{"qid": "q", "nuggets": [{"text": "\\ud800", "importance": "vital"}]}\n'
    )
    with pytest.raises(InputError, match="half a character"):
        nuggets_to_assign(half)


def test_agreement_is_that_of_scikit_learn() -> None:
    """Cohen's kappa, plain and with linear weights."""
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(3)
    inputs = [random_records(7), random_records(7)]
    for record in (record for records in inputs for record in records):
        for nugget in record["nuggets"]:
            nugget["assignment"] = draw.choice(ASSIGNMENTS)
    tables = [nuggets(records) for records in inputs]
    row = (
        compare_assessors(dict(zip("ab", tables, strict=True)), FOUR)
        .to_frame()
        .row(0, named=True)
    )
    labels = [(run["score"] * 2).cast(pl.Int64).to_list() for _, run in tables]
    assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(*labels), abs=1e-12)
    weighted = metrics.cohen_kappa_score(*labels, weights="linear")
    assert row["weighted_kappa"] == pytest.approx(weighted, abs=1e-12)
    assert row["agreement"] == pytest.approx(metrics.accuracy_score(*labels), abs=1e-12)


def test_agreement_of_what_both_assigned() -> None:
    def assigned(*words: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        facts = [
            {"id": str(index), "importance": "okay", "assignment": word}
            for index, word in enumerate(words)
        ]
        return nuggets([{"qid": "q", "nuggets": facts}])

    half = assigned("yes", "yes", "", "no")
    agreement = compare_assessors(
        {"a": assigned("yes", "no", "no", ""), "b": half, "c": half}, "Support"
    )
    rows = (
        agreement.to_frame()
        .select("assessor", "versus", "items", "single", "agreement", "kappa")
        .rows()
    )
    assert rows == [
        ("a", "b", 2, 2, 0.5, 0.0),
        ("a", "c", 2, 2, 0.5, 0.0),
        ("b", "c", 3, 0, 1.0, 1.0),
    ]
    same = {"a": assigned("yes", "yes"), "b": assigned("yes", "yes")}
    assert compare_assessors(same, "Support").to_frame()["kappa"].to_list() == [
        None
    ]  # chance explains it
    with pytest.raises(InputError, match="nothing in common"):
        compare_assessors(
            {"a": assigned("yes", ""), "b": assigned("", "no")}, "Support"
        )
    with pytest.raises(UsageError, match="two assessors"):
        compare_assessors({"a": half}, "Support")


def test_agreement_on_citations() -> None:
    """A sentence, which has the support of its best citation, is no further item."""
    lines = [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "yes"}]
    other = [
        {**lines[0], "support": "no"},
        {**lines[0], "doc_id": "b", "support": "no"},
    ]
    assessors = {
        "human": citations([ANSWER], lines),
        "model": citations([ANSWER], other),
    }
    agreement = compare_assessors(assessors, "CitationP CitationR")
    assert agreement.to_frame().select(
        "items", "single", "agreement", "difference"
    ).row(0) == (1, 1, 0.0, 1.0)
    assert agreement.disagreements.rows() == [("q", "0:a", "human", 1.0, "model", 0.0)]
    assert "Each two assessors" in agreement.to_markdown()


def test_texts_without_ids() -> None:
    """The threshold itself counts for precision and not for recall, as in Ragas."""
    inputs = [
        {
            "user_input": "x?",
            "reference_contexts": ["ab", "cd"],
            "retrieved_contexts": ["zz", "ax", "cd"],
        },
        {"user_input": "y?", "reference_contexts": [], "retrieved_contexts": ["ab"]},
        {
            "user_input": "z?",
            "reference_contexts": ["ab", "ab"],
            "retrieved_contexts": [],
        },
    ]
    qrels, run = judge_by_similarity(inputs)
    scores = rankstone.evaluate(
        qrels, run, "AP(denom=hits) StRecall(rel=2)", duplicate_judgments="max"
    )
    values = {
        (row["query_id"], row["measure"]): row["value"]
        for row in scores.per_query.to_dicts()
    }
    assert values["x?", "AP(denom=hits)"] == pytest.approx(
        (1 / 2 + 2 / 3) / 2, abs=1e-12
    )
    assert values["x?", "StRecall(rel=2)"] == 0.5
    assert (
        values["y?", "StRecall(rel=2)"] == values["z?", "StRecall(rel=2)"] == 0
    )  # they count
    assert judge_by_similarity(inputs, threshold=0.6)[0].filter(doc_id="ax").is_empty()


@pytest.mark.parametrize(
    "record", [{"user_input": "x"}, {"user_input": "x", "reference_contexts": "a"}]
)
def test_what_holds_no_texts(record: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a list of texts"):
        judge_by_similarity([record])


def run(*words: str) -> str:
    """Return what the command prints; it must succeed."""
    result = CliRunner().invoke(cli, ["answers", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_command(files: list[str]) -> None:
    assert "Support(level=vital, partial=0.5)" in run(*files, "--format", "csv")
    assert "[" in run(*files, "--ci")
    assert "system2" in run(*files, "--compare", "-m", "Support")
    assert "fact 3" in run(files[0], "--explain", "Support", "-q", "q0")
    assert "kappa" in run(*files, "--agreement")
    assert "system3" in run(f"system3={files[0]}", "--format", "csv")
    refused = CliRunner().invoke(cli, ["answers", files[0], files[0]])
    assert "two runs have the name" in str(refused.exception)
    assert run(files[0], "--to-judge").startswith(
        "query_id,nugget,importance,assignment\nq0,fact 0,vital,"
    )


def test_command_with_citations(tmp_path: Path) -> None:
    answers, support = tmp_path / "mine.jsonl", tmp_path / "support.csv"
    answers.write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    support.write_text(run(str(answers), "--to-judge").replace('a,""', "a,support"))
    assert (
        run(str(answers), "--support", str(support), "--format", "csv").count("0.5")
        == 2
    )
    both = ("--support", f"human={support}", "--support", f"model={support}")
    assert "human" in run(str(answers), *both, "--agreement")
    refused = CliRunner().invoke(cli, ["answers", str(answers)])
    assert "--to-judge" in str(refused.exception)


def test_options_of_another_kind_are_refused(files: list[str], tmp_path: Path) -> None:
    answers, support = tmp_path / "answers.jsonl", tmp_path / "support.csv"
    answers.write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    support.write_text("qid,sentence,doc_id,support\nq,0,a,yes\n", encoding="utf-8")
    contexts = tmp_path / "contexts.jsonl"
    contexts.write_text(
        '{"user_input": "x", "reference_contexts": ["a"], "retrieved_contexts": ["a"]}\n'
    )
    cited = f"{answers} --support {support}"
    for words, says in (
        (f"{files[0]} -m CitationP", "not a measure of nuggets"),
        (f"{cited} -m Support", "not a measure of citations"),
        (f"{contexts} -m Support", "not a measure of contexts"),
        (f"{files[0]} --convention ragas", "not about nuggets"),
        (f"{cited} --convention nuggetizer", "not about citations"),
        (f"{contexts} --convention nuggetizer", "not about contexts"),
        (f"{files[0]} --support {support}", "goes with citations"),
        (f"{cited} --nuggets {files[0]}", "goes with nuggets"),
        (f"a={contexts} b={contexts} --agreement", "no assessors"),
        (f"{files[0]} {files[1]} --explain Support -q q0", "one system"),
        (f"{files[0]} --explain Support", "which query"),
        (f"{files[0]} -q q0", "goes with --explain"),
        (f"{files[0]} --to-judge --ci", "--to-judge"),
        (f"{files[0]} {files[1]} --agreement --ci", "--agreement"),
    ):
        refused = CliRunner().invoke(cli, ["answers", *words.split()]).exception
        assert isinstance(refused, UsageError), words
        assert says in str(refused), words
    assert run(str(contexts), "--convention", "ragas").count("non_llm") == 4
    assert run(
        files[0],
        "--convention",
        "nuggetizer",
        "--explain",
        "strict_all_score",
        "-q",
        "q0",
    )
    assert "low" in run(*files, "--ci", "--format", "csv").splitlines()[0]
    assert (
        run(str(answers), "--support", f"x={support}", "--format", "csv").count("0.5")
        == 2
    )
    out = tmp_path / "todo.csv"
    assert run(files[0], "--to-judge", "-o", str(out)) == ""
    assert "fact 0" in out.read_text(encoding="utf-8")


def test_command_with_texts(tmp_path: Path) -> None:
    path = tmp_path / "contexts.jsonl"
    record = {
        "user_input": "x?",
        "reference_contexts": ["ab", "cd"],
        "retrieved_contexts": ["cd", "cd", "ab"],
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert "StRecall" in run(str(path))
    assert "--to-judge" in str(
        CliRunner().invoke(cli, ["answers", str(path), "--to-judge"]).exception
    )
