"""Numbers of the tables beside a run: what is none is refused with its place, as in the run's own columns."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone
from rankstone.errors import BadValue, InputError

QRELS: Final = "query_id,doc_id,relevance\nq,d1,1\nq,d2,1\np,d1,1\n"
RUN: Final = "query_id,doc_id,score\nq,d1,1\nq,d2,.5\np,d2,1\n"
SPANS: Final = "query_id,doc_id,start,end,relevance\nq,D,0,10,1\np,D,0,10,1\n"
INTENTS: Final = "query_id,subtopic,doc_id,relevance\nq,s1,d1,1\nq,s2,d2,1\np,s1,d1,1\n"
#: texts that are no numbers, and numbers that some columns do not take
TEXTS: Final = ("five", "1,200", "n/a", "0x10", "1 2", "[1]")
NUMBERS: Final = ("nan", "inf", "-inf", "-1", "", "1e400", "1e308", "9" * 40)

#: what names the row instead of its line
BY_ID: Final = {"weight": ("query p",), "position": ("query p",), "item": ("price",)}
#: table → the names of its columns, a good row and one with a place for the number, judgments, the command
DOCUMENTS: Final = ("eval", "qrels.csv", "run.csv", "--documents", "side")
QUERIES: Final = ("eval", "qrels.csv", "run.csv", "--queries", "side")
TABLES: Final[dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]]] = {
    "tokens": ("doc_id,tokens", ("d1,5", "d2,*"), QRELS, (*DOCUMENTS, "-m", "R@tokens(60)")),
    "cost": ("doc_id,ms", ("d1,5", "d2,*"), QRELS, (*DOCUMENTS, "-m", "Cost(column=ms)@5")),
    "start": ("doc_id,document,start,end", ("d1,D,0,5", "d2,D,*,9"), SPANS, (*DOCUMENTS, "-m", "SpanR@2")),
    "end": ("doc_id,document,start,end", ("d1,D,0,5", "d2,D,5,*"), SPANS, (*DOCUMENTS, "-m", "SpanR@2")),
    "weight": ("query_id,weight", ("q,1", "p,*"), QRELS, (*QUERIES, "-m", "AP(agg=weighted)")),
    "position": ("query_id,session,position", ("q,s,1", "p,s,*"), QRELS, (*QUERIES, "-m", "sDCG")),
    "intent": (
        "query_id,subtopic,weight", ("q,s1,.5", "q,s2,*"), INTENTS,
        ("eval", "qrels.csv", "run.csv", "--intents", "side", "-m", "IA(of=RR)"),
    ),
    "propensity": (
        "query_id,doc_id,relevance,propensity", ("q,d1,1,.5", "q,d2,1,*"), QRELS,
        ("eval", "side", "run.csv", "-m", "PSP@2"),
    ),
    "grade": ("query_id,doc_id,relevance", ("q,d1,1", "q,d2,*"), QRELS, ("eval", "side", "run.csv", "-m", "nDCG")),
    "score": ("query_id,doc_id,score", ("q,d1,1", "q,d2,*"), QRELS, ("eval", "qrels.csv", "side", "-m", "nDCG")),
    "own tokens": (
        "query_id,doc_id,score,tokens", ("q,d1,1,5", "q,d2,.5,*"), QRELS,
        ("eval", "qrels.csv", "side", "-m", "R@tokens(60)"),
    ),
    "item": (
        "doc_id,price", ("d1,5", "d2,*"), QRELS,
        ("beyond", "run.csv", "--items", "side", "-m", "ILD(distance=euclidean, features=price)@2"),
    ),
    "value": ("system,x,y", ("a,1,2", "b,1,*"), QRELS, ("board", "side")),
    "board weight": (
        "system,dataset,value,weight", ("a,x,1,1", "b,x,2,1", "a,y,1,*", "b,y,2,*"), QRELS, ("board", "side"),
    ),
    "battle weight": (
        "left,right,winner,weight", ("a,b,a,1", "a,b,b,*"), QRELS, ("board", "--pairs", "side"),
    ),
    "covariate": (
        "left,right,winner,lead", ("a,b,a,1", "a,b,b,*"), QRELS,
        ("board", "--pairs", "side", "--covariates", "lead"),
    ),
    "query scores": ("query_id,a,b", ("q,1,.5", "p,0,*"), QRELS, ("compare", "--scores", "side")),
}  # fmt: skip


def written(path: Path, names: str, rows: tuple[str, ...], number: str) -> None:
    """Write a table as CSV or JSON lines, with a text in the place that is left for it."""
    cells = [row.split(",") for row in rows]
    if path.suffix == ".jsonl":
        table = [
            [number if cell == "*" else _value(cell) for cell in row] for row in cells
        ]
        objects = (dict(zip(names.split(","), row, strict=True)) for row in table)
        path.write_text("".join(json.dumps(item) + "\n" for item in objects))
        return
    table = [[number if cell == "*" else cell for cell in row] for row in cells]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names.split(","), *table])
    path.write_text(out.getvalue())


def _value(cell: str) -> str | float:
    return float(cell) if cell.replace(".", "").isdecimal() else cell


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("table", TABLES)
def test_every_text_in_a_column_of_numbers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    table: str,
    suffix: str,
) -> None:
    """Texts are refused with the file and the row; other numbers are read or refused, never a bug."""
    monkeypatch.chdir(tmp_path)
    names, rows, qrels, arguments = TABLES[table]
    Path("qrels.csv").write_text(qrels)
    Path("run.csv").write_text(RUN)
    side = Path(f"side.{suffix}")
    words = [side.name if word == "side" else word for word in arguments]
    row = 1 + next(index for index, row in enumerate(rows) if "*" in row)
    places = (
        f"{side}: {names.split(',')[-1]} holds texts",
        f"{side}:{row + (suffix == 'csv')}",
        f"{side}, row {row}",
        *BY_ID.get(table, ()),
    )
    for number in (*TEXTS, *NUMBERS):
        written(side, names, rows, number)
        code = exit_code(words)
        error = capsys.readouterr().err
        if number not in TEXTS:
            assert code in (0, 2, 3), (number, error)
            continue
        if number == "n/a" and table == "value":
            assert "1 of 4 scores is missing" in error
            continue
        if number == "n/a" and table == "query scores":
            assert code == 0
            continue
        assert code == 3, (number, error)
        assert side.name in error
        assert any(place in error for place in places), error


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("tokens", [[1], [2]]),
        pl.Series("tokens", [date(2026, 1, 1), date(2026, 1, 2)]),
        pl.Series("tokens", [{"a": 1}, {"a": 2}]),
        pl.Series("tokens", ["x", "y"], dtype=pl.Categorical),
    ],
    ids=str,
)
def test_columns_of_other_types(column: pl.Series) -> None:
    """A column of costs that holds lists, dates or words is refused by its name."""
    documents = pl.DataFrame([pl.Series("doc_id", ["d1", "d2"]), column])
    with pytest.raises(InputError, match="tokens"):
        rankstone.evaluate(
            {"q": {"d1": 1}}, {"q": {"d1": 1.0}}, "R@tokens(60)", documents=documents
        )


def test_lines_of_tables_beside_are_those_of_editors(tmp_path: Path) -> None:
    """Blank rows and cells of several lines count, in every file of a folder."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.csv").write_text('doc_id,tokens\n"d\n1",5\n,\nd2,6\n')
    (folder / "b.csv").write_text('doc_id,tokens\nd3,5\n,\n"d\n4",6\nd5,five\n')
    with pytest.raises(BadValue, match=r"b\.csv:6: the tokens 'five' is not a number"):
        rankstone.evaluate(
            {"q": {"d2": 1}}, {"q": {"d2": 1.0}}, "R@tokens(60)", documents=folder
        )
    table: Any = {"d1": {"tokens": "5"}, "d2": {"tokens": "five"}}
    with pytest.raises(BadValue, match=r"table of doc_id, row 2: the tokens 'five'"):
        rankstone.evaluate(
            {"q": {"d2": 1}}, {"q": {"d2": 1.0}}, "R@tokens(60)", documents=table
        )
