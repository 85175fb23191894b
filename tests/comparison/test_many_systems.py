"""Comparisons of many systems: letters, the leaderboard, tables for papers, and wide tables of scores."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.comparison.test_comparison import scores

from rankstone import compare_scores, demo
from rankstone.cli import cli
from rankstone.comparison import letter_display
from rankstone.comparison.leaderboard import Leaderboard
from rankstone.comparison.letter_display import letter_columns, letters
from rankstone.comparison.verdict import TURNED
from rankstone.errors import BadOption, BadValue, DuplicateRows

if TYPE_CHECKING:
    from pathlib import Path


def apart(systems: int, share: float, seed: int) -> np.ndarray:
    """Return which systems differ, at random."""
    upper = np.triu(np.random.default_rng(seed).random((systems, systems)) < share, 1)
    return upper | upper.T


def shared(columns: list[list[int]], systems: int) -> np.ndarray:
    """Return which systems share a column."""
    matrix = np.zeros((systems, systems), bool)
    for column in columns:
        matrix[np.ix_(column, column)] = True
    return matrix


@pytest.mark.parametrize("most", [500, 0])
def test_systems_share_a_letter_exactly_where_they_do_not_differ(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The definition, for differences of any pattern; also where columns are found one by one."""
    monkeypatch.setattr(letter_display, "_MOST", most)
    for seed, systems in enumerate((1, 2, 3, 7, 12, 30, 60)):
        for share in (0.0, 0.1, 0.5, 0.9, 1.0):
            different = apart(systems, share, seed)
            assert (shared(letter_columns(different), systems) == ~different).all()


def test_letters_of_a_known_example() -> None:
    """Piepho (2004): differences of neighbours in a chain; every column is needed."""
    different = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) > 2

    assert letter_display.letters(different) == [
        "a",
        "ab",
        "abc",
        "bcd",
        "cde",
        "def",
        "ef",
        "f",
    ]
    assert letter_display.letters(np.zeros((3, 3), bool)) == ["a", "a", "a"]
    assert letter_display.letters(~np.eye(60, dtype=bool))[-1] == "60"


def test_every_column_is_needed() -> None:
    """Without any one column some pair that is not different would share no letter."""
    different = apart(15, 0.4, 3)
    columns = letter_columns(different)

    for index in range(len(columns)):
        rest = columns[:index] + columns[index + 1 :]
        assert (shared(rest, 15) != ~different).any()


def many(count: int = 15, **options: Any) -> Any:
    """Compare systems of rising means."""
    data = scores({f"system-{index:02}": index / 30 for index in range(count)})
    return compare_scores(data, permutations=999, **options)


def test_the_leaderboard_follows_the_pairs() -> None:
    """Best first; letters say what verdicts say; wins are against the leader."""
    comparison = many()
    board = comparison.leaderboard()
    letter = dict(board.select("system", "letters").rows())
    matrix = comparison.matrices["m"]

    assert board["mean"].is_sorted(descending=True)
    assert board["rank"].to_list() == list(range(1, 16))
    for system, versus, word in comparison.table.select(
        "system", "versus", "verdict"
    ).iter_rows():
        alike = bool(_written_out(letter[system]) & _written_out(letter[versus]))
        assert alike == (word not in ("better", "worse"))
    leader, last = (
        matrix.systems.index(board["system"][position]) for position in (0, -1)
    )
    assert board["wins"][-1] == (matrix.differences(last, leader) > 0).sum()
    assert (board["low"] < board["mean"]).all()


def test_ranks_of_a_leaderboard() -> None:
    """Equal means share a rank; clear differences leave some ranks to a system and not others."""
    means = pl.DataFrame({"system": [*"cadb"], "mean": [0.8, 0.9, 0.1, 0.8]})
    verdicts = {"ab": "inconclusive", "ac": "better", "da": "worse", "db": "worse"}
    verdicts |= {"bc": "identical", "cd": "inconclusive"}
    pairs = [
        {"system": pair[0], "versus": pair[1], "verdict": word}
        for pair, word in verdicts.items()
    ]
    counts = dict.fromkeys(("wins", "ties", "losses"), 1)
    board = Leaderboard.from_tables(
        means.with_columns(judged=None), pl.DataFrame([pair | counts for pair in pairs])
    )

    ranks = dict(zip(board.systems, board.possible_ranks, strict=True))
    assert board.rows["rank"].to_list() == [1, 2, 2, 4]
    assert ranks == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}
    assert list(board.letters) == list(board.systems) == ["a", "c", "b", "d"]


def test_pairs_of_a_leaderboard_hold_both_ways_round() -> None:
    """What a is to b, b is to a; a verdict is one on a baseline, so without one there is none in any row."""
    comparison = many()
    board = comparison.board()

    for versus in board.systems[::7]:
        rows = {row["system"]: row for row in board.against(versus).rows(named=True)}
        for system, row in rows.items():
            turned = board.against(system).row(
                by_predicate=pl.col("system") == versus, named=True
            )
            assert row["wins"] == turned["losses"]
            assert TURNED.get(row["verdict"], row["verdict"]) == turned["verdict"]
    assert comparison.leaderboard()["verdict"].null_count() == 15
    tied = compare_scores(scores({"a": 0.3, "b": 0.2, "c": 0.29}), permutations=999)
    assert tied.leaderboard()["verdict"].null_count() == 3
    assert tied.leaderboard(versus="a")["verdict"].null_count() == 1


def _written_out(letters: str) -> set[str]:
    ranges = re.sub(
        r"(.)–(.)",
        lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))),
        letters,
    )
    return set(ranges)


def test_more_than_twelve_systems_are_a_leaderboard() -> None:
    """The text names every system, says how many pairs are clear, and keeps pairs for --verbose."""
    comparison, few = many(), many(12)
    text, every = comparison.text(80), comparison.sheet(verbose=True)
    clear = comparison.table["verdict"].is_in(["better", "worse"]).sum()

    assert f"{clear} of 105 pairs differ clearly on m" in text
    assert all(name in text for name in comparison.systems)
    assert "Leaderboard" in text
    assert "Differences" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert [part.title for part in every.parts if hasattr(part, "title")][
        -1
    ] == "Differences"
    assert "Leaderboard" in few.text()
    assert "Leaderboard" not in few.text(verbose=True)
    assert len(comparison.report()["comparisons"]) == 105
    assert "排行榜" in many(lang="zh").text(80)


def test_a_baseline_has_verdicts_in_place_of_letters() -> None:
    """Against a baseline the others were not compared with each other."""
    comparison = many(baseline="system-00")
    board = comparison.leaderboard()

    assert board["letters"].null_count() == 15
    assert board["verdict"][0] == "better"
    assert board.filter(system="system-00")["wins"][0] is None
    assert "against system-00" in " ".join(comparison.text(80).split())


def test_a_table_of_means_for_a_paper() -> None:
    """Rows are systems, letters stand as superscripts, the best is bold, and the caption says the test."""
    data = scores({"a_1": 0.0, "b": 0.02, "c": 0.3})
    comparison = compare_scores(data, permutations=999, seed=4)
    table = comparison.to_latex(table="means", names={"b": "BM25"}, caption=True)

    assert r"\begin{tabular}{lr@{}l}" in table
    assert r"a\_1 & " in table
    assert re.search(r"BM25 & 0\.\d{4} & \$\^\{\\mathrm\{b\}\}\$", table)
    assert re.search(r"c & \\textbf\{0\.\d{4}\} & \$\^\{\\mathrm\{a\}\}\$", table)
    assert "sign flips" in table
    assert "Means over 40 queries" in table
    assert "seed 4" in table
    assert "mathrm" not in comparison.to_latex(table="means", marks="bold")
    assert "textbf" not in comparison.to_latex(table="means", marks=None)
    daggers = compare_scores(data, baseline="a_1").to_latex(table="means", caption=True)
    assert r"$^{\dagger}$" in daggers
    assert r"$\dagger$ clearly better" in daggers
    assert comparison.to_latex() == comparison.to_latex(None)
    with pytest.raises(BadOption, match="marks"):
        comparison.to_latex(table="means", marks="stars")
    with pytest.raises(BadOption, match="table"):
        comparison.to_latex(table="pairs")


def test_order_of_systems_changes_no_number() -> None:
    """Systems in another order: the same p and intervals for the same pairs, with the sign turned."""
    data = scores({name: index / 60 for index, name in enumerate("abcdef")})
    comparison = compare_scores(data, permutations=999)
    other = compare_scores({name: data[name] for name in "fadebc"}, permutations=999)
    texts = {
        frozenset(pair): p
        for *pair, p in other.table.select("system", "versus", "p").iter_rows()
    }

    for *pair, p in comparison.table.select("system", "versus", "p").iter_rows():
        assert texts[frozenset(pair)] == p


def test_wide_tables_are_what_long_ones_are(tmp_path: Path) -> None:
    """The first column holds query ids, whatever its name; it is stated how the file was read."""
    data = scores({"a": 0.0, "b": 0.02, "c": 0.3})
    wide = pl.DataFrame(
        {
            "topic": list(data["a"]),
            **{n: [v["m"] for v in d.values()] for n, d in data.items()},
        }
    )
    wide.write_csv(tmp_path / "wide.csv")
    long = compare_scores(data, permutations=999)
    for source in (wide, tmp_path / "wide.csv", str(tmp_path / "wide.csv")):
        comparison = compare_scores(source, "m", permutations=999)
        assert comparison.table.equals(long.table)
        assert "queries × systems: 3 columns of m" in comparison.text()
        assert "queries × systems" in json.dumps(
            comparison.report()["audit"], ensure_ascii=False
        )
    assert compare_scores(wide, permutations=99).measures == ("score",)
    assert comparison.hashes().keys() == {"a", "b", "c"}


def test_wide_tables_that_are_none() -> None:
    """A table without query ids, or with texts for scores, is refused with what to do."""
    with pytest.raises(DuplicateRows, match="first column"):
        compare_scores(
            pl.DataFrame({"a": [0.5, 0.5], "b": [0.1, 0.2], "c": [0.1, 0.2]})
        )
    with pytest.raises(BadValue, match="is not a number"):
        compare_scores(
            pl.DataFrame({"topic": ["1", "2"], "a": ["x", "y"], "b": ["0.1", "0.2"]})
        )


def test_means_as_a_matrix() -> None:
    """``eval --format csv --wide``: a row for each run, a column for each measure."""
    runs = [str(demo.QRELS), *map(str, demo.RUNS.values())]
    done = CliRunner().invoke(
        cli, ["eval", *runs, "-m", "AP RR", "--format", "csv", "--wide", "--quiet"]
    )
    refused = CliRunner().invoke(cli, ["eval", *runs, "--wide"])

    assert done.stdout.splitlines()[0] == "run,AP,RR"
    assert len(done.stdout.splitlines()) == 1 + len(demo.RUNS)
    assert refused.exit_code
    assert "--format csv --wide" in str(
        getattr(refused.exception, "fix", refused.exception)
    )


def test_pairs_of_pairs_are_every_pair() -> None:
    """Csv and JSON hold every pair of many systems."""
    comparison = many(14)

    assert comparison.to_frame().height == len(list(combinations(range(14), 2)))


@pytest.mark.parametrize(("systems", "shown"), [(3, "abc"), (4, "a–d"), (6, "a–f")])
def test_letters_in_a_row_are_a_range_from_four_on(systems: int, shown: str) -> None:
    """One system that differs from none shares a letter with each of the others, which all differ."""
    different = ~np.eye(systems + 1, dtype=bool)
    different[-1] = different[:, -1] = False
    assert letters(different)[-1] == shown
