"""Work split into ranges of queries gives the numbers of work done at once, to the last bit."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.test_explaining import TEXTS
from tests.night import part

import rankstone
from rankstone import Measure, parse_measure
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    DuplicateRows,
    EmptyInput,
    MixedIds,
    NotComparable,
    RankstoneError,
)
from rankstone.evaluation.out_of_core import (
    MemoryBudget,
    QueryRange,
    evaluate_out_of_core,
    parse_size,
    ranges,
)
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.evaluation.out_of_core import QuerySurvey

KINDS: dict[tuple[Any, ...], list[str]] = {}
for text in TEXTS:
    kind = parse_measure(text)
    assert isinstance(kind, Measure)
    tables = 2 if AbstainedLists in kind.requires else int(bool(kind.query_columns))
    tables = 3 if kind.requires & {ListCosts, ListSources} else tables
    wanted = (JudgmentGroups in kind.requires, tuple(kind.judgment_columns), tables)
    KINDS.setdefault(wanted, []).append(text)


@pytest.fixture(autouse=True)
def many_ranges(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Split small work, too; return the numbers of ranges that were requested."""
    words = []

    def split(_budget: MemoryBudget, _judgments: QuerySurvey, gathered: int = 0) -> int:
        words.append(7 if gathered else 4)
        return words[-1]

    monkeypatch.setattr(MemoryBudget, "ranges", split)
    return words


def rows(scores: Any) -> list[tuple[Any, ...]]:
    """Return every number of every query; their order is another."""
    return sorted(scores.per_query.rows(), key=str)


def check(qrels: Any, run: Any, measures: Any, **options: Any) -> None:
    """Check that ranges give the numbers, the audit and the report of one go."""
    whole = rankstone.evaluate(qrels, run, measures, **options)
    split = evaluate_out_of_core(qrels, run, measures, **options)
    assert rows(split) == rows(whole)
    assert split.to_dict() == whole.to_dict()
    for without in ((), ("missing",), ("no_relevant",), ("undefined",)):
        assert split.mean(without).equals(whole.mean(without))
    assert rows(split.collect()) == rows(whole)
    message, page = split.report(), whole.report()
    for report in (message, page):
        for audit in report["audit"][
            "runs"
        ].values():  # sums of shares are rounded where they are made
            audit["unjudged"] = {
                position: round(share, 12)
                for position, share in audit["unjudged"].items()
            }
    assert message == page


#: each kind with rows of a query together and apart, with ties and without; at night in every combination
IN_TURN = [
    pytest.param(kind, *which, id=f"{kind[0]:d}{len(kind[1])}{kind[2]:d}-{which}")
    for turn, kind in enumerate(KINDS)
    for which in part(
        [(False, False), (False, True), (True, True), (True, False)], 2, turn
    )
]


@pytest.mark.parametrize(("wanted", "scattered", "ties"), IN_TURN)
def test_every_measure(wanted: tuple[Any, ...], scattered: bool, ties: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Every registered measure, whether rows of a query are together or not."""
    world = small_world(KINDS[wanted][0], 30, seed=5, ties=ties)
    run = world.run.sample(fraction=1, shuffle=True, seed=2) if scattered else world.run
    first = parse_measure(KINDS[wanted][0])
    assert isinstance(first, Measure)
    options: dict[str, Any] = {**world.options, **world.tables(first)}
    check(world.judgments, run, KINDS[wanted], **options)


OPTIONS: list[dict[str, Any]] = [
    {"ties": "input"},
    {"ties": "best", "missing": "drop"},
    {"score_dtype": "float32", "empty": "drop"},
    {"unjudged": "condensed", "empty": "one"},
    {"unjudged": 1.0, "extra": "keep"},
    {"pool": "list", "extra": "keep"},
    {"depth": 3, "order": "input"},
    {"negative": "keep", "missing": "drop", "extra": "keep"},
    {"empty": "undefined"},
]


#: at night each also with rows of a query in the other order
OPTIONS_IN_TURN = [
    (options, scattered)
    for turn, options in enumerate(OPTIONS)
    for scattered in part([False, True], 2, turn)
]


@pytest.mark.parametrize(("options", "scattered"), OPTIONS_IN_TURN, ids=str)
def test_options(options: dict[str, Any], scattered: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Options of alignment mean the same, those that ask for the order of rows, too; ids may be numbers."""
    world = small_world("nDCG", 40, seed=3, ties=True)
    grades = pl.when(pl.int_range(pl.len()) % 7 == 0).then(-1.0).otherwise("relevance")
    qrels, run = world.judgments.with_columns(relevance=grades), world.run
    if len(options) > 1:
        names = (
            pl.concat([qrels["query_id"], run["query_id"]]).unique().sort().to_list()
        )
        number = {name: index - 5 for index, name in enumerate(names)}
        qrels, run = (
            frame.with_columns(
                pl.col("query_id").replace_strict(number, return_dtype=pl.Int32)
            )
            for frame in (qrels, run)
        )
    run = run.sample(fraction=1, shuffle=True, seed=4) if scattered else run
    check(
        qrels,
        run,
        "DCG@5 AP bpref P(agg=pooled)@3 RR(agg=median) AP(agg=gmean)",
        **options,
    )


@given(count=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_ranges_hold_every_id_once(count: int, seed: int) -> None:
    """Ranges follow one another from the first to the last id, and rows without one are in the first."""
    ids = pl.Series("query_id", range(40)).sample(25, with_replacement=True, seed=seed)
    for subset in (ids, ids.cast(pl.String)):
        frame = pl.DataFrame({"query_id": [*subset.to_list(), None]})
        values = [frame.filter(part.keep()) for part in ranges([subset], count)]
        assert pl.concat(values).sort("query_id").equals(frame.sort("query_id"))
        assert values[0]["query_id"].null_count() == 1
        assert len(values) <= count


def test_sources_of_all_kinds(tmp_path: Path, many_ranges: list[int]) -> None:
    """Text, Parquet in parts, lists in a dict, ids of two kinds, pairs to exclude, passages, several runs."""
    world = small_world("nDCG", 30, seed=8, ties=True)
    qrels = world.judgments.select(
        "query_id", "doc_id", pl.col("relevance").cast(pl.Int64)
    )
    run = world.run.with_columns(pl.col("query_id").str.replace_all(" ", "_"))
    text = tmp_path / "run.txt"
    lines = run.select(pl.format("{} Q0 {} 1 {} tag", "query_id", "doc_id", "score"))
    text.write_text("# a comment\n" + "\n".join(lines.to_series()) + "\n")
    (tmp_path / "parts").mkdir()
    for index, chunk in enumerate(run.iter_slices(100)):
        chunk.write_parquet(
            tmp_path / "parts" / f"{index:03}.parquet", row_group_size=37
        )
    lists = {
        query: subset["doc_id"].unique(maintain_order=True).to_list()
        for (query,), subset in run.group_by("query_id")
    }
    lists["q0"] = []
    excluded = run.gather_every(5).select("query_id", "doc_id")
    for source in (text, tmp_path / "parts", lists):
        check(qrels, source, "nDCG AP")
    check(
        qrels,
        {"one": tmp_path / "parts", "other": run},
        "nDCG AP",
        exclude=excluded,
        unit=r"^(..)",
    )
    assert set(many_ranges) == {4}
    numbers = {"query_id": [1, 1, 2, 30, 30], "doc_id": [5, 6, 5, 5, 7]}
    mixed = pl.DataFrame({**numbers, "relevance": [1, 0, 2, 1, 1]})
    mixed_run = tmp_path / "mixed.txt"
    mixed_run.write_text(
        "".join(
            f"{q} Q0 {d} 1 {s} t\n" for q, d, s in [(1, 6, 2), (2, 5, 1), (30, 7, 3)]
        )
    )
    check(mixed, mixed_run, "nDCG AP")


def broken(**columns: list[Any]) -> pl.DataFrame:
    """Return a run of two hundred queries of three documents each, with other columns."""
    ids = {
        "query_id": [f"q{index // 3:03}" for index in range(600)],
        "doc_id": [f"d{index % 3}" for index in range(600)],
    }
    return pl.DataFrame(
        {**ids, "score": [float(index) for index in range(600)], **columns}
    )


QRELS = broken().select("query_id", "doc_id", relevance=pl.lit(1))
NAN = [
    *(float(index) for index in range(500)),
    float("nan"),
    *(float(index) for index in range(501, 600)),
]
NULL = [None if index == 400 else f"q{index // 3:03}" for index in range(600)]
TWICE = ["d0" if index == 451 else f"d{index % 3}" for index in range(600)]


@pytest.mark.parametrize(
    ("run", "error", "place"),
    [
        (broken(score=NAN), BadValue, "row 501"),
        (broken(query_id=NULL), RankstoneError, "row 401"),
        (broken(doc_id=TWICE), DuplicateRows, "row 452"),
        (broken().with_columns(pl.col("query_id") + "x"), NotComparable, "q"),
        (broken().clear(), EmptyInput, "run"),
        (
            broken(query_id=[index // 3 for index in range(600)]),
            MixedIds,
            "whole number",
        ),
    ],
    ids=["nan", "null", "duplicate", "strangers", "empty", "kinds"],
)
def test_mistakes_are_reported_as_ever(
    run: pl.DataFrame, error: type[RankstoneError], place: str
) -> None:
    """The row is the one of the whole run, not that of its range."""
    for score in (rankstone.evaluate, evaluate_out_of_core):
        with pytest.raises(error, match=place):
            score(QRELS, run, "AP")


def test_a_query_in_two_places(many_ranges: list[int]) -> None:
    """A run in which rows of a query are scattered is split finer, and gives the same."""
    run = pl.concat(
        [
            broken()[300:],
            broken()[:300],
            broken()[400:403].with_columns(pl.col("doc_id") + "x"),
        ]
    )
    check(QRELS, run, "AP nDCG")
    assert many_ranges == [4, 7]


def test_the_lowest_grade_is_that_of_all_judgments() -> None:
    """Padding by the lowest grade looks at every range."""
    qrels = QRELS.with_columns(
        relevance=(pl.int_range(pl.len()) % 5).cast(pl.Float64) - 1.0
    )
    for negative in ("keep", "zero", "unjudged"):
        check(
            qrels,
            broken().filter(pl.col("doc_id") != "d0"),
            "DCG(pad=min_grade)@5",
            negative=negative,
        )


def test_what_looks_at_other_queries_is_refused() -> None:
    """Imputation is, and a memory that is none."""
    with pytest.raises(BadOption, match="other queries"):
        evaluate_out_of_core(QRELS, broken(), "AP", unjudged="global_mean")
    with pytest.raises(BadParameter, match="not a size"):
        evaluate_out_of_core(QRELS, broken(), "AP", memory="much")
    with pytest.raises(BadParameter, match="too little"):
        evaluate_out_of_core(QRELS, broken(), "AP", memory="1MB")


def test_files_are_gone_when_no_longer_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of queries are on disk as long as the result lives; what is written from them stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scores = evaluate_out_of_core(QRELS, broken(), "AP RR")
    assert len(list(tmp_path.rglob("*.parquet"))) == 4
    scores.write(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(scores.per_query)
    del scores
    assert [path.name for path in tmp_path.rglob("*.parquet")] == ["rows.parquet"]
    with pytest.raises(BadValue):
        evaluate_out_of_core(QRELS, broken(score=NAN), "AP")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_interrupted_work_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops the work in its midst finds no files of it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read = 0

    def stop(rows: int) -> None:
        nonlocal read
        read += rows
        if read > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_out_of_core(QRELS, broken(), "AP", progress=stop)
    assert read > 300
    assert not list(tmp_path.iterdir())


def test_sizes() -> None:
    """Decimal units, and binary ones with an i."""
    assert parse_size("0.5TB") == 5 * 10**11
    assert parse_size("2gib") == 2**31
    assert parse_size(3e9) == 3_000_000_000
    assert QueryRange().whole


@pytest.mark.parametrize("no_results", ["missing", "zero", "undefined", "drop"])
@pytest.mark.parametrize("scattered", [False, True])
def test_lists_in_columns(no_results: str, *, scattered: bool) -> None:
    """Rows that hold a query's list are split, too; so are empty lists among them."""
    run = {f"q{i}": [f"d{j}" for j in range(i % 5)] for i in range(20)}
    table = pl.DataFrame({"query_id": list(run), "doc_id": list(run.values())})
    if scattered:
        table = pl.concat(
            [
                table,
                pl.DataFrame({"query_id": ["q3", "q9"], "doc_id": [["x"], ["y", "z"]]}),
            ]
        )
    judged = pl.DataFrame(
        {"query_id": [f"q{i}" for i in range(22)], "doc_id": [["d1", "x"]] * 22}
    )
    # a second list of a query is refused, unless one of them is chosen
    chosen = {"duplicates": "last_drop"} if scattered else {}
    check(judged, table, "RR AP nDCG@2", no_results=no_results, **chosen)


def test_declared_queries(many_ranges: list[int]) -> None:
    """Queries declared to have no relevant document belong to the range that holds their ids."""
    judged = {f"q{i}": [f"d{j}" for j in range(i % 3)] for i in range(30)}
    run = {f"q{i}": ["d1", "d0"] for i in range(0, 40, 2)}
    about = {f"q{i}": {"judged": i % 4 == 0} for i in range(50)}
    for measures in ("RR AP nDCG@2", "alpha_nDCG@2"):
        table: Any = judged
        if measures.startswith("alpha"):
            table = {
                query: {doc: {"1": 1} for doc in docs} for query, docs in judged.items()
            }
        check(table, run, measures, queries=about)
    assert set(many_ranges) == {4}


@pytest.mark.parametrize("where", ["lists", "judgments", "both"])
def test_excluded_pairs(where: str) -> None:
    """Every range takes its own pairs out, and the counts add up."""
    world = small_world("nDCG", 40, seed=8, ties=True)
    out = pl.concat(
        [world.run.gather_every(3), world.judgments.gather_every(4)], how="diagonal"
    )
    out = out.select("query_id", "doc_id").unique()
    check(world.judgments, world.run, "nDCG AP R@5", exclude=out, exclude_from=where)


def test_the_audit_says_which_cutoffs_are_deeper_than_lists() -> None:
    """Also without a measure of whole lists, and where only some lists are short; there is always a cutoff."""
    qrels = {"q": {"a": 1}, "p": {"b": 1}}
    run = {"q": ["a", "x", "y"], "p": ["x"]}
    for measures, cutoffs, warning in (
        (
            "P@5",
            [5],
            "the cutoff 5 is deeper than every list (the longest has 3 documents)",
        ),
        ("R@1 P@3 AP", [1, 3], "1 of 2 lists is shorter than the cutoff 3"),
        (
            "R@1 P@4 nDCG@2",
            [1, 2, 4],
            "the cutoff 4 is deeper than every list (the longest has 3 documents)",
        ),
        ("R@1", [1], None),
        ("AP", [10], None),
    ):
        check(qrels, run, measures)
        audit = evaluate_out_of_core(qrels, run, measures).audit.runs["run"]
        assert list(audit.unjudged) == cutoffs
        assert list(audit.warnings) == [*filter(None, [warning])]
