"""Lists in the cells of a text table are known by what stands between their items, and ids stay whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rankstone.errors import RankstoneError
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

LISTS = {
    "bars": ("a|b|c", "d|e"),
    "semicolons": ("a; b; c", "d; e"),
    "blanks": ("a1 b2 c3", "d4 e5"),
    "commas": ('"a1,b2, c3"', '"d4,e5"'),
    "JSON": ('"[""a"", ""b"", ""c""]"', '"[""d"", ""e""]"'),
    "Python": ("\"['a', 'b', 'c']\"", "\"['d', 'e']\""),
    "NumPy": ("\"['a' 'b' 'c']\"", "\"['d' 'e']\""),
    "numbers": ('"[1, 2, 3]"', '"[4, 5]"'),
    "a quote in an id": ("\"['a', 'b\\'s', 'c']\"", "\"['d', 'e']\""),
    "a comma in an id": ('"[""a,1"", ""b"", ""c""]"', '"[""d"", ""e""]"'),
}
ITEMS = {
    "blanks": ["a1", "b2", "c3", "d4", "e5"],
    "commas": ["a1", "b2", "c3", "d4", "e5"],
    "numbers": ["1", "2", "3", "4", "5"],
    "a quote in an id": ["a", "b's", "c", "d", "e"],
    "a comma in an id": ["a,1", "b", "c", "d", "e"],
}
#: ids with such signs, of queries with one document each
WHOLE = {
    "ids of two parts": ("doc|12", "doc|7"),
    "ids of two numbers": ("12 1", "7 3"),
    "places": ("New York", "Los Angeles"),
    "names": ('"Smith, J."', '"Miller, K."'),
    "one bracket": ("[draft", "a"),
}


def written(folder: Path, cells: tuple[str, ...], more: str = "") -> str:
    path = folder / "lists.csv"
    rows = (f"q{index},{cell}" for index, cell in enumerate(cells))
    path.write_text("\n".join(["query_id,doc_id", *rows, more]))
    return str(path)


@pytest.mark.parametrize("name", LISTS)
def test_lists(tmp_path: Path, name: str) -> None:
    """In judgments each item is relevant, in a run the order is the ranking."""
    path = written(tmp_path, LISTS[name])
    for read in (read_judgments, read_run):
        table: Any = read(path)
        rows = table.collect("query_id", "doc_id")
        assert rows["doc_id"].to_list() == ITEMS.get(name, ["a", "b", "c", "d", "e"])
        assert rows["query_id"].to_list() == ["q0"] * 3 + ["q1"] * 2
        assert "lists in the cells of doc_id" in table.read_as()[0]
    assert read_run(path).listed


@pytest.mark.parametrize("name", WHOLE)
def test_ids_stay_whole(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, WHOLE[name])
    rows = read_run(path, order="input").collect("doc_id")["doc_id"]
    assert rows.to_list() == [cell.strip('"') for cell in WHOLE[name]]


def test_scores_beside_lists(tmp_path: Path) -> None:
    path = tmp_path / "scored.csv"
    path.write_text("query_id,doc_id,score\nq0,a|b|c,3|1|2\nq1,d|e,.5|.25\n")
    rows = read_run(str(path)).collect("doc_id", "score").rows()
    assert rows == [("a", 3.0), ("b", 1.0), ("c", 2.0), ("d", 0.5), ("e", 0.25)]


def test_a_query_with_a_second_list_is_refused(tmp_path: Path) -> None:
    """Far below the rows that were looked at, too; lists of other lengths are named with their row."""
    cells = tuple("a|b|c" for _ in range(300))
    path = written(tmp_path, cells, "q7,d|e|f")
    with pytest.raises(RankstoneError, match="query q7 has two lists"):
        read_run(path).collect()
    (tmp_path / "short.csv").write_text("query_id,doc_id,score\nq0,a|b|c,3|1|2|4\n")
    with pytest.raises(RankstoneError, match="lists of different lengths"):
        read_run(str(tmp_path / "short.csv")).collect()
