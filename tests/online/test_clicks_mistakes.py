"""Logs of clicks that say too little or what cannot be: an error that helps, or a count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.rows import each

from rankstone.errors import (
    BadOption,
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    MixedIds,
    UsageError,
)
from rankstone.online.click_judgments import clicks

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "session,query_id,doc_id,position,clicked"
GOOD = "1,q,a,1,1"


def written(folder: Path, *rows: str, head: str = HEAD) -> str:
    path = folder / "log.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("2,,a,1,0", "1 row without a query"),
        ("2,q,,1,0", "1 row without a document"),
        (",q,a,1,0", "1 row without a session"),
        ("2,q,a,1,", "1 row without a value of clicked"),
        ("2,q,a,1,2", "1 row where clicked is not a number from 0 to 1"),
        ("2,q,a,1,-0.5", "1 row where clicked is not a number from 0 to 1"),
        ("2,q,a,1,nan", "1 row where clicked is not a number from 0 to 1"),
        ("2,q,a,1,perhaps", "1 row where clicked is not a number from 0 to 1"),
        ("2,q,a,,1", "1 row with a click and no position"),
        ("2,q,a,,0", "1 row without a position"),
        ("2,q,a,-1,0", "1 row with a position that is not a whole number from 1"),
        ("2,q,a,1.5,0", "1 row with a position that is not a whole number from 1"),
        ("2,q,a,first,0", "1 row with a position that is not a whole number from 1"),
    ],
)
def test_rows_that_say_nothing(tmp_path: Path, row: str, what: str) -> None:
    """Refused with the line, or left out and counted by what is wrong."""
    log = written(tmp_path, GOOD, row)
    with pytest.raises(BadValue, match=what) as refused:
        clicks(log)
    assert refused.value.where == f"{log}:3"
    assert "invalid=drop" in str(refused.value)

    estimates = clicks(log, invalid="drop")
    assert (
        estimates.audit.rows,
        estimates.audit.impressions,
        sum(estimates.audit.left_out.values()),
    ) == (2, 1, 1)
    assert f"{what.partition(' that is')[0]}" in estimates.audit.lines()[0]


@pytest.mark.parametrize("chance", ["0", "-1", "1.01", "", "nan", "often"])
def test_propensities_out_of_range(tmp_path: Path, chance: str) -> None:
    """Of a column: refused with the line, or left out; the column is not read where no option needs it."""
    log = written(
        tmp_path,
        "q,a,1,0.5",
        f"q,b,0,{chance}",
        head="query_id,doc_id,clicked,propensity",
    )
    with pytest.raises(BadValue, match="propensity") as refused:
        clicks(log, "ips")
    assert refused.value.where == f"{log}:3"
    assert clicks(log, "ips", invalid="drop").judgments["relevance"].to_list() == [2.0]
    assert clicks(log).judgments.height == 2


def test_lists_with_odd_positions(tmp_path: Path) -> None:
    """Positions that skip or repeat are refused, with row and list; or kept, or left out, and counted."""
    log = written(tmp_path, GOOD, "1,q,b,2,0", "2,q,a,1,0", "2,q,b,3,1")
    with pytest.raises(
        BadValue, match="a list skips position 2; 1 list in all"
    ) as refused:
        clicks(log)
    assert refused.value.where == f"{log}:5"
    assert refused.value.given == "session 2, query q: positions 1, 3"
    log = written(tmp_path, GOOD, "1,q,b,2,0", "1,q,c,2,0", "2,q,b,1,1")
    with pytest.raises(
        BadValue, match="position 2 occurs more than once in a list"
    ) as refused:
        clicks(log)
    assert refused.value.where == f"{log}:3"

    kept, dropped = clicks(log, lists="keep"), clicks(log, lists="drop")
    assert (
        kept.audit.lines()[1]
        == "lists  2 lists · 1 that repeat a position · 3 impressions in these kept"
    )
    assert dropped.audit.lines()[1].endswith("3 impressions in these left out")
    assert dropped.judgments.select("doc_id", "relevance").rows() == [("b", 1.0)]
    assert (dropped.audit.impressions, dropped.audit.clicks) == (1, 1)
    with pytest.raises(EmptyInput, match="no impression is left"):
        clicks(written(tmp_path, "1,q,b,2,0"), lists="drop")


def test_positions_without_a_propensity(tmp_path: Path) -> None:
    """A table has to know every position of the log."""
    log = written(tmp_path, GOOD, "1,q,b,2,0", "1,q,c,3,0")
    with pytest.raises(BadValue, match="no propensity for position 3") as refused:
        clicks(log, "ips", propensities="1,0.5")
    assert refused.value.where == f"{log}:4"
    out_of_range: list[Any] = [{1: 0}, {1: 1.5}, {0: 1}, {1.5: 1}, {1: None}]
    for odd in [*out_of_range, {"position": [1, 1], "propensity": [1, 0.5]}]:
        with pytest.raises(BadValue):
            clicks(log, "ips", propensities=odd)
    nothing: list[Any] = [[], {}]
    for odd in nothing:
        with pytest.raises(BadOption):
            clicks(log, "ips", propensities=odd)
    with pytest.raises(InputError, match="no such file"):
        clicks(log, "ips", propensities="1,x")
    with pytest.raises(MissingColumn, match="propensity"):
        clicks(log, "ips")


def test_empty_logs(tmp_path: Path) -> None:
    """Nothing to read, nothing that counts, nothing that is left."""
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(EmptyInput, match="the file is empty"):
        clicks(str(tmp_path / "empty.csv"))
    with pytest.raises(EmptyInput, match="there is no impression"):
        clicks(written(tmp_path))
    with pytest.raises(EmptyInput, match="that can be used"):
        clicks(written(tmp_path, ",,,,"), invalid="drop")
    with pytest.raises(EmptyInput, match="no pair has enough impressions"):
        clicks(written(tmp_path, GOOD), min_impressions=2)
    for method in ("ctr", "click", "satisfaction"):
        none = clicks({"query_id": ["q"], "doc_id": ["a"], "clicked": [0]}, method)
        assert none.audit.warnings == ("the log has no click",)


PLAIN: dict[str, list[Any]] = {
    "query_id": ["q", "q"],
    "doc_id": ["a", "b"],
    "clicked": [1, 0],
}


def test_columns_of_all_kinds() -> None:
    """Booleans and texts are clicks, too; what can be none is refused."""
    plain = clicks(PLAIN).judgments
    for values in ([True, False], ["true", "FALSE"], ["1", " 0.0 "]):
        assert clicks(PLAIN | {"clicked": values}).judgments.equals(plain)
    assert clicks(PLAIN | {"doc_id": [7, 10]}).judgments["doc_id"].to_list() == [7, 10]
    with pytest.raises(InputError, match="clicked holds lists"):
        clicks(PLAIN | {"clicked": [[1], [0]]})
    with pytest.raises(
        InputError, match="the column doc_id has values of different types"
    ):
        clicks(PLAIN | {"doc_id": ["a", 1]})
    with pytest.raises(MixedIds, match="doc_id holds fractions"):
        clicks(PLAIN | {"doc_id": [0.5, 1.5]})
    with pytest.raises(MissingColumn, match="no column clicked") as refused:
        clicks({"query_id": ["q"], "doc_id": ["a"], "is_click": [1]})
    assert "'is_click': 'clicked'" in str(refused.value)
    assert (
        clicks({"query_id": ["q"], "doc_id": ["a"], "click": [1]})
        .judgments["clicks"]
        .item()
        == 1
    )
    with pytest.raises(MissingColumn, match="no column position"):
        clicks(PLAIN, "pbm")
    with pytest.raises(MissingColumn, match="no column propensity") as unknown:
        clicks(PLAIN | {"position": [1] * len(PLAIN["clicked"])}, "ips")
    assert "columns=" not in str(
        unknown.value
    )  # a column that is something else is not proposed
    with pytest.raises(MissingColumn, match="no column time"):
        clicks(PLAIN, start="2024-01-01")
    with pytest.raises(BadValue, match="without a time"):
        clicks(PLAIN | {"time": ["2024-01-01", None]}, end="2024-02-01")


@each(
    "options",
    [
        {"method": "ctrl"},
        {"smoothing": "1"},
        {"smoothing": (-1, 2)},
        {"smoothing": 1},
        {"method": "click", "smoothing": "1,1"},
        {"min_impressions": 0},
        {"clip": 0.5},
        {"method": "ips", "clip": 0.0},
        {"propensities": "1"},
        {"grades": "0.3,0.1"},
        {"grades": "a"},
        {"grades": ""},
        {"confidence": 1.0},
        {"tolerance": 0.0},
        {"max_iterations": 0},
        {"invalid": "keep"},
        {"lists": "sort"},
        {"unlinked": "keep"},
    ],
)
def test_options_that_cannot_be(options: dict[str, Any]) -> None:
    """Refused before anything is read."""
    with pytest.raises(UsageError):
        clicks("no such file", **options)


# -- what the model cannot tell ------------------------------------------------------------------------------
def shown(*rows: tuple[str, int, float]) -> dict[str, list[Any]]:
    return {
        "query_id": ["q"] * len(rows),
        "doc_id": [row[0] for row in rows],
        "position": [row[1] for row in rows],
        "clicked": [row[2] for row in rows],
    }


def test_positions_that_nothing_tells_apart() -> None:
    """Documents that never move, or were never clicked, tell nothing of positions."""
    with pytest.raises(BadValue, match="position bias and relevance are confounded"):
        clicks(shown(("a", 1, 1), ("b", 2, 1), ("c", 1, 0), ("c", 2, 0)), "pbm")


def test_positions_without_a_link() -> None:
    """Positions that no document links with the first are refused, or left out and counted."""
    log = shown(
        ("a", 1, 1), ("a", 2, 1), ("a", 2, 0), ("b", 3, 1), ("b", 4, 1), ("c", 3, 0)
    )
    with pytest.raises(
        BadValue, match=r"no document links 2 positions \(3, 4\) with position 1"
    ):
        clicks(log, "pbm")
    estimates = clicks(log, "pbm", unlinked="drop")
    assert estimates.audit.unlinked == {3: 2, 4: 1}
    assert (
        "2 positions not linked left out (3 impressions)" in estimates.audit.lines()[2]
    )
    assert estimates.positions["propensity"].to_list() == pytest.approx(
        [1, 0.5, None, None], nan_ok=True
    )
    assert estimates.judgments["doc_id"].to_list() == ["a"]


def test_a_first_position_without_a_click() -> None:
    """Nothing can be relative to what the log has no click."""
    with pytest.raises(BadValue, match="there is no click at position 1"):
        clicks(shown(("a", 1, 0), ("a", 2, 1), ("a", 2, 0)), "pbm")


def test_one_position() -> None:
    """Where there is one position alone, everybody looks there: the model is the mean of clicks."""
    estimates = clicks(shown(("a", 1, 1), ("a", 1, 0), ("b", 1, 0)), "pbm")

    assert estimates.judgments["relevance"].to_list() == pytest.approx([0.5, 0])
    assert estimates.positions["propensity"].to_list() == [1.0]


def test_a_fit_that_does_not_end() -> None:
    """Too few rounds are reported."""
    rows = [
        (doc, place, float((index * 7 + place) % 5 < 5 - place))
        for index in range(40)
        for doc in "abc"
        for place in (1, 2, 3)
    ]
    estimates = clicks(shown(*rows), "pbm", max_iterations=1, tolerance=1e-12)

    assert estimates.audit.fit is not None
    assert not estimates.audit.fit.converged
    assert any(
        "did not converge in 1 iteration:" in line for line in estimates.audit.lines()
    )


def test_ids_that_trec_cannot_hold(tmp_path: Path) -> None:
    """An id with a blank is refused before a line is written; other formats hold it."""
    estimates = clicks(PLAIN | {"doc_id": ["a b", "c"]})
    with pytest.raises(InputError, match="separated by whitespace"):
        estimates.write_qrels(tmp_path / "q.txt")
    assert not list(tmp_path.iterdir())
    estimates.write(tmp_path / "q.parquet")
    assert pl.read_parquet(tmp_path / "q.parquet").equals(estimates.judgments)
