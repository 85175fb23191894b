"""A run with ranks and scores that disagree: the audit counts the lists, and its first warning says so."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{i}": {"d1": 1} for i in range(4)}


def table(
    ranks: dict[str, list[float]], scores: dict[str, list[float]]
) -> pl.DataFrame:
    """Return a run with both columns."""
    rows = [
        (query, f"d{index}", rank, score)
        for query in ranks
        for index, (rank, score) in enumerate(
            zip(ranks[query], scores[query], strict=True)
        )
    ]
    return pl.DataFrame(rows, ["query_id", "doc_id", "rank", "score"], orient="row")


def trec(run: pl.DataFrame, path: Path) -> Path:
    """Write TREC lines."""
    lines = [
        f"{query} Q0 {doc} {rank} {score} t\n"
        for query, doc, rank, score in run.iter_rows()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def contradict(ranks: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Say by trying all pairs whether a better rank goes with a lower score."""
    pairs = list(zip(ranks, scores, strict=True))
    return any(a[0] < b[0] and a[1] < b[1] for a, b in product(pairs, pairs))


@pytest.mark.parametrize("order", ["score", "rank"])
def test_every_small_list_is_counted_as_pairs_say(order: str) -> None:
    """Every way to give four documents ranks and scores, ties and all, in one run of as many lists."""
    ways = [
        (ranks, scores)
        for ranks in product((1, 2, 3), repeat=4)
        for scores in product((1, 2, 3), repeat=4)
    ]
    ways += [(ranks, (4, 3, 2, 1)) for ranks in permutations((1, 2, 3, 4))]
    named = {f"w{index}": way for index, way in enumerate(ways)}
    run = table(
        {q: list(way[0]) for q, way in named.items()},
        {q: list(way[1]) for q, way in named.items()},
    )
    qrels = {query: {"d1": 1} for query in named}
    audit = rankstone.evaluate(qrels, run, "RR", order=order).audit.runs["run"]
    assert audit.contradicted == sum(contradict(*way) for way in ways)


BOTH: dict[str, dict[str, list[float]]] = {
    "ranks": {"q0": [1, 2, 3], "q1": [1, 2, 3], "q2": [1, 2, 3], "q3": [1, 2, 3]},
    "scores": {
        "q0": [0.1, 0.2, 0.3],
        "q1": [0.1, 0.3, 0.2],
        "q2": [0.3, 0.2, 0.3],
        "q3": [0.9, 0.5, 0.5],
    },
}
SENTENCE = "ranks contradict scores in 3 of 4 lists: scores are used; order=rank uses the ranks"


@pytest.mark.parametrize("form", ["frame", "trec", "csv", "parquet", "spaced"])
def test_most_lists_are_worth_a_warning(form: str, tmp_path: Path) -> None:
    """Whatever form the run has, with and without a limit of memory."""
    run = table(BOTH["ranks"], BOTH["scores"])
    run.write_csv(tmp_path / "run.csv")
    run.write_parquet(tmp_path / "run.parquet")
    text = trec(run, tmp_path / "run.txt").read_text(encoding="utf-8")
    (tmp_path / "spaced.txt").write_text(
        text.replace(" Q0 ", "  Q0\t"), encoding="utf-8"
    )
    names = {
        "trec": "run.txt",
        "csv": "run.csv",
        "parquet": "run.parquet",
        "spaced": "spaced.txt",
    }
    options = {"a": run if form == "frame" else tmp_path / names[form]}
    other: dict[str, Any] = {"b": {query: ["d1"] for query in QRELS}}
    for scores in (
        rankstone.evaluate(QRELS, options, "RR"),
        rankstone.evaluate(QRELS, options, "RR", memory="4GB"),
        rankstone.compare(QRELS, {**options, **other}, "RR"),
    ):
        assert scores.audit is not None
        audit = scores.audit.runs["a"]
        assert (audit.contradicted, audit.warnings[-1]) == (3, SENTENCE)
        line = next(line for line in scores.audit.lines() if line.startswith("a "))
        assert "ranks contradict scores in 3 queries" in line


def test_the_first_warning_is_of_the_order() -> None:
    """Even of two lists, and with more other warnings than the first screen shows."""
    scores = {**BOTH["scores"], "q0": [3.0, 2.0, 1.0]}
    run = table(BOTH["ranks"], scores)
    more = {"q9": {"d1": 1}, "q8": {"d1": 0}}
    audit = rankstone.evaluate(
        {**QRELS, **more}, run.with_columns(doc_id="d" + pl.col("doc_id")), "RR@9"
    ).audit
    assert audit.runs["run"].contradicted == 2
    warnings = audit.brief()[0].partition(" warnings: ")[2]
    assert warnings.startswith("ranks contradict scores in 2 of 4 lists: scores are")
    assert "more with -v" in warnings


@pytest.mark.parametrize(
    ("order", "ranks", "counted"),
    [
        ("score", [1, 2, 3, 4], 2),
        ("score", [1, 1, 2, 2], 0),
        ("score", [1, 1, 1, 2], 1),
        ("rank", [1, 2, 3, 4], 0),
    ],
)
def test_ties_that_ranks_would_break(
    order: str, ranks: list[float], counted: int
) -> None:
    """Rows of one score and unequal ranks are counted, and the ties stand with what orders them."""
    run = table({"q0": ranks}, {"q0": [2, 2, 1, 1]})
    audit = rankstone.evaluate(QRELS, run, "RR", order=order).audit
    assert audit.runs["run"].tied_ranked == counted
    is_noted = "4 tied rows in 1 query (ranks order them: order=rank)" in str(audit)
    assert is_noted == (counted > 0)


def test_where_ranks_give_the_order_it_is_stated_so() -> None:
    """The sentence names what counts and what would count otherwise."""
    audit = rankstone.evaluate(
        QRELS, table(BOTH["ranks"], BOTH["scores"]), "RR", order="rank"
    ).audit
    assert (
        audit.runs["run"]
        .warnings[-1]
        .endswith("ranks are used; order=score uses the scores")
    )


@pytest.mark.parametrize("rank", ["-", "1st", "NA", "1"])
def test_ranks_that_say_nothing_are_no_obstacle(rank: str, tmp_path: Path) -> None:
    """Ranks that are all the same or no numbers contradict nothing, and the scores are read as ever."""
    run = table(BOTH["ranks"], BOTH["scores"])
    path = trec(run.with_columns(rank=pl.lit(rank)), tmp_path / "run.txt")
    scores = rankstone.evaluate(QRELS, path, "RR AP")
    assert scores.audit.runs["run"].contradicted == 0
    assert (
        scores.to_dict()["run"]
        == rankstone.evaluate(QRELS, run.drop("rank"), "RR AP").to_dict()["run"]
    )


def test_positions_in_a_log_are_no_ranks_of_the_run() -> None:
    """A labelled table may hold the places where rows were shown, beside the scores of another model."""
    run = table(BOTH["ranks"], BOTH["scores"]).with_columns(relevance=1)
    assert (
        rankstone.evaluate(table=run, measures="RR").audit.runs["run"].contradicted == 0
    )


def test_check_does_not_end_with_ok(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line of `check` sends the reader to the warnings."""
    path = trec(table(BOTH["ranks"], BOTH["scores"]), tmp_path / "run.txt")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{query} 0 d1 1\n" for query in QRELS), encoding="utf-8")
    assert exit_code(["check", str(qrels), str(path)]) == 0
    out = capsys.readouterr().out
    assert "warning: ranks contradict scores in 3 queries" in out
    assert out.splitlines()[0].startswith("ok, ")
    assert out.splitlines()[0].endswith(
        "check this first: ranks contradict scores in 3 queries"
    )
