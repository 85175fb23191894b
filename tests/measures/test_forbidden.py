"""Documents that must not be shown."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import BadValue, InputError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    ("q", "a", 1.0, None),
    ("q", "x", None, "true"),
    ("q", "y", 0.0, "1"),
    ("r", "b", 1.0, "false"),
    ("s", "x", 0.0, "True"),
]
COLUMNS = ["query_id", "doc_id", "relevance", "forbidden"]
JUDGED = pl.DataFrame(ROWS, COLUMNS, orient="row")
RUN = {"q": ["a", "x", "z", "y"], "r": ["x", "b"]}


def values(
    runs: Any, text: str, judged: Any = JUDGED, **options: Any
) -> dict[str, float]:
    """Return the value of each query that has one."""
    scores = rankstone.evaluate(judged, runs, text, **options).per_query
    known = scores.drop_nulls("value").filter(pl.col("value").is_not_nan())
    return dict(known.select("query_id", "value").iter_rows())


def test_what_is_counted() -> None:
    """Queries for which nothing is forbidden are left out, and counted; a missing list shows nothing."""
    assert values(RUN, "Forbidden@1") == {"q": 0.0, "s": 0.0}
    assert values(RUN, "Forbidden@2") == {"q": 1.0, "s": 0.0}
    assert values(RUN, "Forbidden(what=number)@3") == {"q": 1.0, "s": 0.0}
    assert values(RUN, "Forbidden(what=number)") == {"q": 2.0, "s": 0.0}
    assert values({"q": [], "s": ["x"]}, "Forbidden") == {"q": 0.0, "s": 1.0}
    scores = rankstone.evaluate(JUDGED, RUN, "Forbidden@2 R@2")
    assert scores.to_dict()["run"] == {"Forbidden@2": 1 / 2, "R@2": 2 / 3}
    reason = {"nothing is forbidden for the query": 1}
    assert scores.audit.runs["run"].dropped == {"Forbidden@2": reason}


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("what", ["any", "number"])
def test_tied_documents(k: int, what: str) -> None:
    """The expectation is the mean over all orders of what is tied."""
    text = f"Forbidden(what={what})@{k}"
    tied = ["x", "y", "z", "a"]
    means = [values({"q": order}, text)["q"] for order in permutations(tied)]
    expected = values({"q": dict.fromkeys(tied, 1.0)}, text, ties="expected")
    assert expected["q"] == pytest.approx(sum(means) / len(means), rel=1e-12)


def test_forbidden_and_relevant() -> None:
    """Both is an error with its place, also where one row marks the document and another one grades it."""
    for grade in (1.0, -1.0):
        wrong = JUDGED.with_columns(
            relevance=pl.when(pl.col("doc_id") == "y")
            .then(grade)
            .otherwise("relevance")
        )
        with pytest.raises(
            BadValue, match="document y is forbidden for query q"
        ) as bad:
            values(RUN, "Forbidden", wrong)
        assert "row 3" in str(bad.value)
        assert bad.value.fix == "take the mark away, or write grade 0"
    rows = [("q", "one", "x", 1.0, None), ("q", "two", "x", 0.0, "true")]
    apart = pl.DataFrame(rows, ["query_id", "subtopic", *COLUMNS[1:]], orient="row")
    with pytest.raises(BadValue, match="document x is forbidden for query q and has"):
        values(RUN, "Forbidden StRecall", apart)


def test_marks() -> None:
    """Marks are texts, numbers and truth values; anything else is refused, and so is a table without any."""
    marks = (
        pl.col("forbidden").fill_null("false").str.to_lowercase().is_in(["true", "1"])
    )
    for kind in (pl.Boolean, pl.Int64):
        judged = JUDGED.with_columns(forbidden=marks.cast(kind))
        assert values(RUN, "Forbidden@2", judged) == {"q": 1.0, "s": 0.0}
    with pytest.raises(BadValue, match="forbidden is maybe"):
        values(RUN, "Forbidden", JUDGED.with_columns(forbidden=pl.lit("maybe")))
    with pytest.raises(InputError, match="forbidden"):
        values(RUN, "Forbidden", JUDGED.drop("forbidden").drop_nulls())


def test_queries_without_an_answer_may_leak_too() -> None:
    """What must not be shown must not be shown where there is no answer, either."""
    judged = JUDGED.filter(pl.col("query_id") == "s").with_columns(answerable=False)
    assert values({"s": ["x"]}, "Forbidden@1", judged) == {"s": 1.0}


def test_fewer_are_better(tmp_path: Path) -> None:
    """A comparison prefers the run that shows less, and a gate with ceiling = 0.0 lets no leak through."""
    queries = [f"q{number}" for number in range(40)]
    rows = [(query, "x", 0.0, "true") for query in queries]
    rows += [(query, "a", 1.0, "") for query in queries]
    judged = pl.DataFrame(rows, COLUMNS, orient="row")
    leaking = {query: ["x", "a"] for query in queries}
    tight = {query: ["a"] for query in queries}
    comparison = rankstone.compare(
        judged, {"leaking": leaking, "tight": tight}, "Forbidden@5", baseline="leaking"
    )
    assert comparison.table["verdict"].to_list() == ["better"]
    leader = comparison.leaderboard()["system"].to_list()[0]
    assert leader == "tight"

    judged.write_csv(tmp_path / "qrels.csv")
    for name, lists in (("leaking", leaking), ("tight", tight)):
        lines = [
            f"{query} Q0 {doc} 1 {9 - rank} {name}\n"
            for query, docs in lists.items()
            for rank, doc in enumerate(docs)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "rankstone.toml").write_text(
        '[gate]\nqrels = "qrels.csv"\nbaseline = "tight.run"\n'
        '[[gate.rules]]\nmeasure = "Forbidden@5"\nceiling = 0.0\n'
    )
    for name, code in (("tight", 0), ("leaking", 1)):
        candidate = tmp_path / f"{name}.run"
        command("gate", "--candidate", candidate, cwd=tmp_path, code=code)
