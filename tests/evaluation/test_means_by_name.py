"""``scores[measure]`` is a number for one run without a name, and a number a run otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QRELS = {"q1": {"d": 1}, "q2": {"d": 1}}
RUN = {"q1": ["x", "d"], "q2": ["d"]}
FRAME = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["x", "d", "d"],
        "score": [2.0, 1.0, 1.0],
    }
)
TABLE = {"query_id": ["q1", "q1", "q2"], "score": [2.0, 1.0, 1.0], "label": [0, 1, 1]}
#: way of giving one run without a name
UNNAMED: dict[str, Callable[[Path], Any]] = {
    "dict": lambda _: rankstone.evaluate(QRELS, RUN, "RR P@1"),
    "frame": lambda _: rankstone.evaluate(QRELS, FRAME, "RR P@1"),
    "file": lambda path: rankstone.evaluate(QRELS, written(path), "RR P@1"),
    "memory": lambda path: rankstone.evaluate(
        QRELS, written(path), "RR P@1", memory="1GB"
    ),
    "table": lambda _: rankstone.evaluate(table=TABLE, measures="RR P@1"),
    "convention": lambda _: rankstone.evaluate(
        QRELS, RUN, "recip_rank P_1", convention="trec_eval"
    ),
    "prepared": lambda _: rankstone.Prepared(QRELS, "RR P@1").evaluate(RUN),
    "sorted": lambda _: rankstone.evaluate(QRELS, RUN, "RR P@1").sorted("RR"),
}
#: way of giving one run by its name
NAMED: dict[str, Callable[[Path], Any]] = {
    "dict": lambda _: rankstone.evaluate(QRELS, {"a": RUN}, "RR P@1"),
    "list": lambda path: rankstone.evaluate(QRELS, [written(path)], "RR P@1"),
    "memory": lambda path: rankstone.evaluate(
        QRELS, {"a": written(path)}, "RR P@1", memory="1GB"
    ),
    "table": lambda _: rankstone.evaluate(table=TABLE, name="a", measures="RR P@1"),
    "column": lambda _: rankstone.evaluate(
        QRELS, FRAME.with_columns(system=pl.lit("a")), "RR P@1", run_column="system"
    ),
    "prepared": lambda _: rankstone.Prepared(QRELS, "RR P@1").evaluate({"a": RUN}),
}


def written(folder: Path) -> str:
    """Write the run to a file."""
    FRAME.write_csv(folder / "a.csv")
    return str(folder / "a.csv")


@pytest.mark.parametrize("way", UNNAMED)
def test_a_run_without_a_name_is_a_number(tmp_path: Path, way: str) -> None:
    """However the run is given, one look-up is the number that is printed."""
    scores = UNNAMED[way](tmp_path)
    first = str(scores.measures[0])
    assert scores[first] == 0.75
    assert isinstance(scores[first], float)
    (run,) = scores.to_dict()
    assert scores[run, first] == 0.75


@pytest.mark.parametrize("way", NAMED)
def test_runs_by_name_are_a_dict(tmp_path: Path, way: str) -> None:
    """A name is a promise of several runs, also of one."""
    scores = NAMED[way](tmp_path)
    assert scores["RR"] == {"a": 0.75}
    assert scores["a", "RR"] == 0.75


def test_a_measure_has_several_names() -> None:
    """The look-up knows a measure by each of its names, and as a value."""
    scores = rankstone.evaluate(QRELS, RUN, "HR@10 ndcg@10")
    assert scores["HR@10"] == scores["Success@10"] == 1.0
    assert scores["nDCG@10"] == scores["ndcg@10"] == scores[rankstone.nDCG(k=10)]


def test_without_a_value() -> None:
    """A mean of no query is None, as in to_dict."""
    scores = rankstone.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "AP", empty="drop")
    assert scores["AP"] is None


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("nDCG", "did you mean scores['nDCG@10']?"),
        (("bm52", "AP"), "did you mean scores['bm25', 'AP']?"),
        (("AP", "bm25"), "did you mean scores['bm25', 'AP']?"),
        ("bm25", "did you mean scores['bm25', 'AP']?"),
        (("bm25", "dense", "AP"), "did you mean scores['dense', 'AP']?"),
        (0, None),
        ((), None),
        ("a\x1b[31m", None),
    ],
)
def test_what_is_not_there_is_taught(key: object, fix: str | None) -> None:
    """The error is a KeyError that says what there is; its fix works when pasted."""
    runs = {"bm25": RUN, "dense": RUN}
    scores = rankstone.evaluate(QRELS, runs, "nDCG@10 AP")
    with pytest.raises(KeyError) as caught:
        scores[key]
    error = caught.value
    assert isinstance(error, rankstone.UsageError)
    assert error.fix == fix
    assert "measures nDCG@10, AP; runs bm25, dense" in str(error)
    assert "\x1b" not in str(error)
    if fix:
        assert eval(fix.removeprefix("did you mean ")[:-1], {"scores": scores})  # noqa: S307


def test_scores_are_not_gone_through() -> None:
    """A look-up makes no sequence of the scores: loops and ``in`` say so at once."""
    scores: Any = rankstone.evaluate(QRELS, RUN, "AP")
    with pytest.raises(TypeError, match="not iterable"):
        list(scores)
    with pytest.raises(TypeError):
        assert "AP" in scores


def test_means_beyond_accuracy() -> None:
    """The same look-up for the other measures of lists."""
    assert rankstone.beyond(RUN, "Coverage@1", catalogue_size=4)["Coverage@1"] == 0.5
    named = rankstone.beyond({"a": RUN}, "Coverage@1", catalogue_size=4)
    assert named["Coverage@1"] == {"a": 0.5}
