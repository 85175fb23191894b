"""Boards of tables as they happen: holes, a single data set, names that terminals obey, rows in any order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone.boards import paired_board
from rankstone.boards.cells import ESTIMATES
from rankstone.errors import (
    BadLine,
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    NotComparable,
)
from rankstone.tables.markup import html, latex, markdown
from rankstone.tables.page_text import text
from rankstone.tables.results import as_json
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from pathlib import Path

#: the last data set has no score yet; in the second table its cells are not even written
HOLES = (
    "system,x,y,z\na,.1,.5,\nb,.2,.6,\nc,.3,.2,\n",
    "system,x,y,z\na,.1,.5\nb,.2,.6\nc,.3,.2\n",
)
#: an escape sequence, a C1 control, a direction, what ends a line
HOSTILE = "a\x1b[31m\x1b]0;title\x07\x9b31m\u202eb\r\nc\u2028"


def csv(folder: Path, text: str) -> Path:
    path = folder / "board.csv"
    path.write_text(text)
    return path


@pytest.mark.filterwarnings("error")
@each(
    "text, missing",
    [(t, m) for t in HOLES for m in ("error", "skip", "worst", "model")],
)
def test_a_data_set_without_any_score_is_left_out(
    tmp_path: Path, text: str, missing: str
) -> None:
    """It says nothing about any system; that it was there is noted."""
    expected = rankstone.board(csv(tmp_path, "system,x,y\na,.1,.5\nb,.2,.6\nc,.3,.2\n"))
    for estimate in ESTIMATES.keys() - {"micro", "weighted"}:
        standings = rankstone.board(
            csv(tmp_path, text), missing=missing, estimate=estimate
        )
        assert standings.scores.datasets == ("x", "y")
        assert standings.notes[-1] == "left out, without any score: z"
        assert standings.text(verbose=True).endswith("any score: z")
        assert "left out, without any score: z" in standings.text()
        standings.report()
    assert rankstone.board(csv(tmp_path, text), missing=missing).table.equals(
        expected.table
    )


@pytest.mark.filterwarnings("error")
@each(
    "table, options",
    [
        ({"a": {"x": 0.1}, "b": {"x": 0.2}}, {}),
        ({"a": {"x": 0.1}, "b": {"x": 0.2}}, {"missing": "worst"}),
        (
            {"a": {"x": 0.1, "y": None}, "b": {"x": 0.2, "y": None}},
            {"missing": "model"},
        ),
        ({"a": {"x": 0.1, "y": None}, "b": {"x": None, "y": 0.2}}, {"missing": "skip"}),
        (
            {"a": {"x": 0.1, "y": 0.2}, "b": {"y": 0.2}},
            {"missing": "skip", "only_x": 1},
        ),
    ],
)
def test_one_data_set_shows_no_spread(table: Any, options: dict[str, Any]) -> None:
    """Without scores per query nothing is known about errors, which the message says."""
    if options.pop("only_x", None):
        options["systems"] = ["a", "b"]
        rankstone.board(table, **options)  # a has two data sets
        return
    with pytest.raises(
        NotComparable, match="nothing shows how data sets differ"
    ) as error:
        rankstone.board(table, **options)
    assert "query_id" in str(error.value)


def test_one_data_set_with_its_queries_is_a_board() -> None:
    """Unless data sets are to be resampled, of which there is one."""
    rows = [(s, "x", f"q{q}", q / 7 + (s == "b") / 9) for s in "ab" for q in range(7)]
    table = pl.DataFrame(rows, ["system", "dataset", "query_id", "value"], orient="row")
    assert rankstone.board(table).table["system"].to_list() == ["b", "a"]
    for resample in ("datasets", "both"):
        with pytest.raises(NotComparable, match="resample='queries'"):
            rankstone.board(table, resample=resample)


def test_no_score_at_all(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(EmptyInput, match=r"board\.csv: there are no scores"):
        rankstone.board(csv(tmp_path, "system,x,y\na,,\nb,,\n"), missing="skip")
    long = "system,dataset,measure,value\na,x,,1\nb,x,,2\n"
    with pytest.raises(InputError, match="a row without measure"):
        rankstone.board(csv(tmp_path, long))


@each("separator, name", [(",", "board.csv"), ("\t", "board.tsv")])
def test_a_data_set_twice_in_the_header(
    tmp_path: Path, separator: str, name: str
) -> None:
    """It would count twice; the long form of the same table is refused, too."""
    path = tmp_path / name
    rows = ("system,x,x ,y", "a,.1,.9,.5", "b,.2,.3,.6")
    path.write_text("\n".join(rows).replace(",", separator))
    with pytest.raises(BadLine, match="the header has x twice") as error:
        rankstone.board(path)
    assert "duplicated" not in str(error.value)
    path.write_text("\n".join(rows).replace("x ,", "x,").replace(",", separator))
    with pytest.raises(BadLine, match="the header has x twice") as error:
        rankstone.board(path)
    assert "duplicated" not in str(error.value)
    path.write_text("\n".join(rows).replace("x ", "x2").replace(",", separator))
    assert rankstone.board(path).scores.datasets == ("x", "x2", "y")


def test_a_column_twice_in_other_tables_of_scores(tmp_path: Path) -> None:
    """A system twice beside queries, a column of battles twice, a data set in two files."""
    path = csv(tmp_path, "query_id,s,s,t\nq1,.1,.2,.3\nq2,.1,.2,.4\n")
    with pytest.raises(BadLine, match="the header has s twice"):
        rankstone.compare_scores(path)
    path = csv(tmp_path, "left,right,winner,winner\na,b,a,b\na,b,b,a\n")
    with pytest.raises(BadLine, match="the header has winner twice"):
        paired_board(path)
    files = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "nq.csv")
        files[-1].write_text("system,value\na,1\nb,2\n")
    with pytest.raises(
        DuplicateRows, match="system a, dataset nq has 2 scores"
    ) as error:
        rankstone.board(files)
    assert all(str(file) in str(error.value) for file in files)


@each(
    "text",
    ["-", "–", "N/A", " n/a ", "NA", "#N/A", "?", "null", "none", "NaN", "n.a.", "tbd"],
)
def test_words_for_a_missing_score_are_holes_and_noted(
    tmp_path: Path, text: str
) -> None:
    """In wide and long tables; other texts are still refused, with their row."""
    path = csv(tmp_path, f"system,x,y,z\na,.1,.5,.3\nb,.2,.6,{text}\nc,.3,.2,.4\n")
    with pytest.raises(InputError, match="1 of 9 scores is missing"):
        rankstone.board(path)
    standings = rankstone.board(path, missing="skip")
    written = f"{path}: 1 cell without a score, written {text.strip()!r}"
    assert written in standings.notes
    assert written in standings.text(400)
    long = f"system,dataset,value\na,x,.1\na,y,{text}\nb,x,.2\nb,y,.3\n"
    assert written in rankstone.board(csv(tmp_path, long), missing="skip").notes
    with pytest.raises(
        BadValue, match=r"board\.csv, row 2: the y 'five' is not a number"
    ):
        rankstone.board(csv(tmp_path, "system,x,y\na,1,2\nb,1,five\n"))


#: what stands where a result of MTEB has a list of subsets, or one subset
JSON: tuple[Any, ...] = (
    None,
    0,
    0.5,
    "x",
    True,
    [],
    {},
    [0.5],
    [None],
    [[]],
    {"a": 1},
    [{}],
    ["main_score"],
)
JSON_SCORES: tuple[Any, ...] = (None, 0.5, [], {}, "x", [{"main_score": 0.5}])
JSON_NUMBERS: tuple[Any, ...] = (None, "0.5", [], {}, True, 10**400, -(10**400), 1e308)


@each(
    "content",
    [
        *({"scores": {"test": value}} for value in JSON),
        *({"scores": value} for value in JSON_SCORES),
        *({"scores": {"test": [{"main_score": value}]}} for value in JSON_NUMBERS),
        *({"NDCG@10": value, "MAP": 0.5} for value in JSON_NUMBERS),
        {"task_name": "\ud800", "scores": {"test": [{"main_score": 0.5}]}},
    ],
    json.dumps,
)
def test_results_of_mteb_that_hold_no_scores(tmp_path: Path, content: Any) -> None:
    """The message names the file."""
    for model in "ab":
        folder = tmp_path / f"folder-of-{model}" / "rev"
        folder.mkdir(parents=True, exist_ok=True)
        for task in "xy":
            whole = {"task_name": task, "scores": {"test": [{"main_score": 0.5}]}}
            (folder / f"{task}.json").write_text(json.dumps(whole))
    (tmp_path / "folder-of-b" / "rev" / "y.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as error:
        rankstone.board(tmp_path)
    surrogate = content.get("task_name") == "\ud800"
    assert str(tmp_path if surrogate else "y.json") in str(error.value)


@each("broken", [b"", b"{", b"\xff{}", b"[" * 100_000, b'{"scores": {}, "scores": {}}'])
def test_results_that_are_no_json(tmp_path: Path, broken: bytes) -> None:
    """Nested too deeply, not UTF-8, a key twice: the file is named."""
    (tmp_path / "a.json").write_bytes(broken)
    with pytest.raises(InputError, match=r"a\.json"):
        rankstone.board(tmp_path)


def boards(name: str) -> list[Any]:
    """Return both boards with a name in every place."""
    rows = [
        (s, d, (index + 1) / n)
        for n, s in ((3, name), (5, "b"))
        for index, d in enumerate((name, "y"))
    ]
    table = pl.DataFrame(rows, ["system", "dataset", "value"], orient="row")
    fights = {
        "left": [name, name, "b", "b"],
        "right": ["b", "b", name, name],
        "winner": ["left", "right", "left", "tie"],
    }
    scores = rankstone.board(table, measure=name)
    return [scores, scores.explain(name), paired_board(pl.DataFrame(fights))]


def test_no_format_prints_what_terminals_obey() -> None:
    """Names are escaped in every format that people read; JSON still holds them, escaped."""
    for result in boards(HOSTILE):
        for written in (
            result.text(60),
            result.text(140, verbose=True),
            result.to_markdown(),
            result.to_latex(),
            result.to_html(),
            repr(result),
        ):
            assert "x1b" in written
            assert {sign for sign in written if not sign.isprintable()} == {"\n"}
        text = as_json(result.report())
        assert {sign for sign in text if not sign.isprintable()} == {"\n"}
        assert repr(HOSTILE)[1:-1] in repr(json.loads(text))


@each("show", [text, markdown, latex, html])
def test_sheets_escape_whatever_they_hold(show: Any) -> None:
    """Results of every kind are shown as sheets, so none of them prints a name as it is."""
    table = Table(HOSTILE, (HOSTILE, "b"), ((HOSTILE, HOSTILE),), ("id", "text"))
    sheet = Sheet(HOSTILE, HOSTILE, HOSTILE, (table, (HOSTILE, (HOSTILE,))), [HOSTILE])
    written = show(sheet, 80) if show is text else show(sheet)
    assert {sign for sign in written if not sign.isprintable()} == {"\n"}


def test_json_of_a_board_on_which_all_data_sets_agree() -> None:
    """Friedman's F is infinite, which JSON cannot say."""
    steps = {
        s: {d: index + n for n, d in enumerate("xyz")} for index, s in enumerate("abc")
    }
    standings = rankstone.board(steps)
    assert standings.friedman()["f"].to_list() == [float("inf")]

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert (
        json.loads(as_json(standings.report()), parse_constant=refuse)["friedman"][0][
            "f"
        ]
        is None
    )


# -- rows in any order --------------------------------------------------------------------------------------
def shuffled(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    return table.sample(fraction=1, shuffle=True, seed=seed)


def scores_per_query(seed: int) -> pl.DataFrame:
    """Return scores of queries, seeds and clusters that no sum holds exactly."""
    rng = np.random.default_rng(seed)
    rows = [
        (
            f"s{s}",
            f"d{d}",
            f"q{q}",
            f"r{r}",
            float(rng.choice([0.1, 0.3, 0.7, 1 / 3])) + s / 9,
            f"c{q % 4}",
            d + 0.1,
        )
        for s in range(5)
        for d in range(7)
        for q in range(9)
        for r in range(2)
    ]
    names = ["system", "dataset", "query_id", "seed", "value", "cluster", "weight"]
    return pl.DataFrame(rows, names, orient="row")


def same_board(table: pl.DataFrame, **options: Any) -> None:
    """Assert that shuffled rows give the same board, bit by bit, in every figure."""
    first = rankstone.board(table, **options)
    for seed in range(3):
        other = rankstone.board(shuffled(table, seed), **options)
        assert other.report() | {"inputs": 0} == first.report() | {"inputs": 0}
        assert other.table.equals(first.table)
        assert other.text() == first.text()
        assert other.explain("s1").report() == first.explain("s1").report()
        assert np.array_equal(other.chance_better(), first.chance_better())


@pytest.mark.parametrize("resample", ["datasets", "queries", "both"])
@pytest.mark.parametrize(
    "columns", ["value", "value seed", "value seed cluster weight"]
)
def test_rows_of_scores_in_any_order(resample: str, columns: str) -> None:
    """Means, ranks, intervals, draws, explanations: no bit depends on the order of rows."""
    table = scores_per_query(1)
    if "seed" not in columns:
        table = table.filter(seed="r0")
    names = ["system", "dataset", "query_id", *columns.split()]
    same_board(table.select(names), resample=resample, resamples=1000)


@pytest.mark.parametrize("missing", ["skip", "worst", "model"])
def test_rows_with_holes_in_any_order(missing: str) -> None:
    """The same of tables with holes, long and wide."""
    table = (
        scores_per_query(2)
        .group_by("system", "dataset", maintain_order=True)
        .agg(pl.col("value").first())
    )
    table = table.filter(pl.Series(np.random.default_rng(3).random(len(table)) < 0.8))
    for estimate in sorted(ESTIMATES.keys() - {"micro", "weighted"}):
        same_board(table, missing=missing, estimate=estimate)
    wide = table.pivot("dataset", index="system", values="value")
    same_board(wide, missing=missing)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model": "rao_kupper", "covariates": ["position", "length"]},
        {"cluster": ["judge"]},
        {"cluster": ["judge", "prompt"], "covariates": ["length"]},
        {"resamples": 200},
        {"resamples": 200, "cluster": "judge"},
    ],
    ids=str,
)
def test_rows_of_battles_in_any_order(options: dict[str, Any]) -> None:
    """All but the ratings of Elo, which are about the order of battles."""
    rng = np.random.default_rng(5)
    n, outcomes = 400, ["left", "right", "tie"]
    left = rng.integers(0, 5, n)
    table = pl.DataFrame(
        {
            "left": [f"s{position}" for position in left],
            "right": [
                f"s{position}" for position in (left + rng.integers(1, 5, n)) % 5
            ],
            "winner": [outcomes[position] for position in rng.integers(0, 3, n)],
            "weight": rng.choice([0.1, 0.3, 0.7, 1 / 3], n),
            "length": rng.normal(size=n),
            "judge": [f"j{position}" for position in rng.integers(0, 12, n)],
            "prompt": [f"p{position}" for position in rng.integers(0, 30, n)],
        }
    )

    def figures(rows: pl.DataFrame) -> dict[str, Any]:
        board = paired_board(rows, **options)
        assert board.under_rules["elo"].tolist() == by_elo(rows)
        report = board.report()
        for row in report["board"]:
            del row["rules_low"], row["rules_high"]
        return report | {"findings": None, "first": board.first.tolist()}

    first = figures(table)
    assert all(figures(shuffled(table, seed)) == first for seed in range(3))


def by_elo(rows: pl.DataFrame) -> list[int]:
    """Return ranks by ratings that are updated battle by battle."""
    rating = dict.fromkeys(sorted({*rows["left"], *rows["right"]}), 1000.0)
    for left, right, winner in rows.select("left", "right", "winner").iter_rows():
        expected = 1 / (1 + 10 ** ((rating[right] - rating[left]) / 400))
        gain = 4 * ({"left": 1.0, "right": 0.0, "tie": 0.5}[winner] - expected)
        rating[left] += gain
        rating[right] -= gain
    return [
        1 + sum(other > own for other in rating.values()) for own in rating.values()
    ]


@each("weight", [None, float("nan"), -0.1, float("inf"), "", "x", "N/A"])
def test_weights_of_battles(weight: Any) -> None:
    """A battle without a weight would be lost."""
    table = {"left": ["a", "b"], "right": ["b", "a"], "winner": ["a", "b"]}
    weights = ["1", weight] if isinstance(weight, str) else [1.0, weight]
    with pytest.raises(BadValue, match=r"weight.*row 2|row 2.*weight"):
        paired_board(pl.DataFrame(table | {"weight": weights}))
