"""Every option that numbers depend on is recorded with them, and compared where scores of several tables meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import UsageError
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.hits.alignment_options import CHOICES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

QRELS: Final = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1}}
RUN: Final = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
#: options that say how tables are read; what was read is in the audit
OF_READING: Final = {"columns", "format_in", "csv_separator", "decimal", "all_relevant"}
SEEN: Final = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]})
QUERIES: Final = pl.DataFrame(
    {"query_id": ["q1", "q2"], "split": ["dev", "test"], "weight": [1, 2]}
)
#: option → a value, and what it needs beside it
VALUES: Final[Mapping[str, dict[str, Any]]] = {
    "exclude": {"exclude": SEEN},
    "exclude_from": {"exclude": SEEN, "exclude_from": "both"},
    "unit": {"unit": {"d2": "d1"}},
    "same_as": {"same_as": pl.DataFrame({"doc_id": ["d2"], "same_as": ["d1"]})},
    "documents": {"documents": pl.DataFrame({"doc_id": ["d1"], "tokens": [3]})},
    "queries": {"queries": QUERIES},
    "split": {"queries": QUERIES, "split": "dev"},
    "one_group": {"one_group": True},
    "unit_score": {"unit": {"d2": "d1"}, "unit_score": "sum"},
    "score_above": {"score_above": 1.5},
    "depth": {"depth": 1},
    "candidates": {"candidates": 9},
}
#: options for measures of their own, which the test of these records
OF_MEASURES: Final = {"intents", "corpus"}


@pytest.mark.parametrize(
    "option",
    sorted(EvaluationKeywords.__annotations__.keys() - OF_READING - OF_MEASURES),
)
def test_an_option_is_in_the_record(option: str) -> None:
    """With any value but its default the record is another one, also by convention and out of core."""
    options = VALUES.get(option)
    if options is None:
        value = next(word for word in CHOICES[option][1:] if word != "error")
        options = {option: value}
    run = pl.DataFrame(
        [(q, d, score) for q, docs in RUN.items() for d, score in docs.items()],
        ["query_id", "doc_id", "score"],
        orient="row",
    )
    run = run.with_columns(rank=pl.lit(1))
    scores = rankstone.evaluate(QRELS, run, "P@2", **options)
    usual = rankstone.evaluate(QRELS, run, "P@2")
    assert (scores.conventions, scores.inputs) != (usual.conventions, usual.inputs)
    name = f"{option}="
    assert name in str(scores.audit.brief()) + repr(scores) or option in scores.inputs


def test_excluded_pairs_are_recorded(tmp_path: Path) -> None:
    """The file is among inputs, its name among options: of scores, of a convention, of JSON and of a page."""
    seen = tmp_path / "seen.csv"
    SEEN.write_csv(seen)
    calls: list[dict[str, Any]] = [{}, {"memory": "1GB"}, {"convention": "rectools"}]
    for options in calls:
        measure = "MAP@2" if "convention" in options else "P@2"
        scores = rankstone.evaluate(QRELS, RUN, measure, exclude=seen, **options)
        assert scores.conventions["alignment"]["exclude"] == "seen.csv", options
        assert scores.inputs["exclude"] == str(seen), options
    runs = {"a": RUN, "b": {query: [*docs] for query, docs in RUN.items()}}
    comparison = rankstone.compare(QRELS, runs, "P@2", exclude=seen)
    page = tmp_path / "page.html"
    rankstone.report(comparison, page)
    text = page.read_text(encoding="utf-8")
    assert "Rows removed: a 1, b 1." in text
    assert "alignment.exclude" in text
    assert "seen.csv" in text


ROWS: Final[list[tuple[dict[str, Any], dict[str, Any], str]]] = [
    ({}, {"exclude": SEEN}, "exclude: – (a), exclude (b)"),
    ({"order": "input"}, {}, "order: input (a), score (b)"),
    ({}, {"convention": "ir_measures"}, "convention: – (a), ir_measures-0.4 (b)"),
]


@pytest.mark.parametrize(("first", "second", "sentence"), ROWS)
@pytest.mark.parametrize("form", ["scores", "parquet"])
def test_scores_under_other_options_are_compared_with_a_warning(
    first: dict[str, Any],
    second: dict[str, Any],
    sentence: str,
    form: str,
    tmp_path: Path,
) -> None:
    """In memory and from files, in both languages; scores under the same options have none."""
    queries = {f"q{number}": {"d1": 1} for number in range(9)}
    run = {query: {"d1": 1.0, "d2": 2.0} for query in queries}
    made: dict[str, Any] = {
        name: rankstone.evaluate(queries, run, "P@2", **options)
        for name, options in {"a": first, "b": second}.items()
    }
    if form == "parquet":
        for name, scores in made.items():
            scores.write(tmp_path / f"{name}.parquet")
            made[name] = tmp_path / f"{name}.parquet"
    frames = rankstone.compare_scores(made)
    assert sentence in " ".join(frames.text(200).split())
    chinese = rankstone.compare_scores(made, lang="zh").text(200)
    assert sentence in " ".join(chinese.split())
    alike = rankstone.compare_scores({"a": made["a"], "c": made["a"]})
    assert "different options" not in alike.text()


def test_judgments_without_grades_in_python() -> None:
    """Rows of interactions are relevant with all_relevant; the refusal names it, a text of names as a dict."""
    rows = pl.DataFrame(
        {"user_id": [1, 2], "item_id": [7, 8], "event": ["view", "click"]}
    )
    run = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 9], "score": [1.0, 2.0]})
    names = {"user_id": "query_id", "item_id": "doc_id"}
    with pytest.raises(rankstone.errors.MissingColumn) as refused:
        rankstone.evaluate(rows, run, "P@1", columns=names)
    assert "if every row is a relevant document, all_relevant=True" in str(
        refused.value
    )
    for verb in (rankstone.evaluate, rankstone.compare):
        runs: Any = {"a": run, "b": run}
        result: Any = verb(rows, runs, "P@1", columns=names, all_relevant=True)
        assert 0.5 in result.mean().row(0)
    with pytest.raises(UsageError) as text:
        rankstone.evaluate(rows, run, "P@1", columns="user_id=query_id,item_id=doc_id")
    assert text.value.fix == f"columns={names!r}"


def test_judgments_without_grades_at_a_shell(tmp_path: Path) -> None:
    """The fix is pasted, and reads the table."""
    (tmp_path / "q.csv").write_text("user_id,item_id,event\n1,7,view\n", "utf-8")
    (tmp_path / "r.csv").write_text("user_id,item_id,score\n1,7,2\n", "utf-8")
    columns = ["--columns", "user_id=query_id,item_id=doc_id"]
    line = ["eval", "q.csv", "r.csv", "-m", "P@1"]
    for typed, missing in (([], [*columns, "--all-relevant"]), (columns, [])):
        refused = command(*line, *typed, cwd=tmp_path, code=3).stderr
        words = missing or ["--all-relevant"]
        assert f"add {' '.join(words)}" in refused
        printed = command(*line, *typed, *words, cwd=tmp_path).stdout
        assert "1.0000" in printed
    beside = ["-m", "Serendipity@1", "--qrels", "q.csv", "--history", "q.csv"]
    refused = command(
        "beyond", "r.csv", "r2=r.csv", *beside, *columns, cwd=tmp_path, code=3
    ).stderr
    assert "add --all-relevant" in refused


def test_excluded_pairs_are_counted_once() -> None:
    """Two interactions of a pair are one judgment of it, and one relevant document less."""
    rows = pl.DataFrame({"query_id": ["q", "q", "q"], "doc_id": ["a", "a", "b"]})
    seen = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"]})
    audit = rankstone.evaluate(
        rows,
        {"q": {"b": 1.0}},
        "P@1",
        exclude=seen,
        exclude_from="both",
        duplicate_judgments="max",
    ).audit.judgments
    assert audit is not None
    assert (audit.excluded, audit.excluded_relevant) == (1, 1)
