"""Fixes are followed as they are written: pasted behind the command, until there is nothing more to say."""

from __future__ import annotations

import ast
import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.command_line import exit_code

import rankstone
from rankstone.errors import MissingColumn, RankstoneError, UsageError
from rankstone.io import parse_columns, read_judgments

if TYPE_CHECKING:
    from pathlib import Path

QRELS: Final = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d3", 1)]
RUN: Final = [("q1", "d2", 0.9), ("q1", "d1", 0.8), ("q2", "d3", 0.5)]
RR: Final = (1 / 2 + 1 / 1) / 2
FEW: Final = 3  # rounds that a patient person goes along with


def texts(head: str, rows: list[tuple[Any, ...]], divider: str = ",") -> str:
    return "\n".join([head, *(divider.join(map(str, row)) for row in rows)]) + "\n"


def wide(rows: list[tuple[Any, ...]], *beside: Any) -> list[tuple[Any, ...]]:
    """Return rows with further cells behind each."""
    return [(*row, *beside) for row in rows]


GOOD_QRELS: Final = ("q.csv", texts("query_id,doc_id,relevance", QRELS))
GOOD_RUN: Final = ("r.csv", texts("query_id,doc_id,score", RUN))
LISTS: Final = json.dumps(
    [
        {"question": "q1", "retrieved": ["d2", "d1"], "relevant": ["d1"]},
        {"question": "q2", "retrieved": ["d3"], "relevant": ["d3"]},
    ]
)
#: logs of retrieval for answers: objects of passages, with the question's text beside its id
PASSAGES: Final = json.dumps(
    [
        {"question_id": "q1", "question": "why", "relevant_chunks": ["d1"],
         "retrieved": [{"chunk": "d2", "score": 0.9, "text": ""}, {"chunk": "d1", "score": 0.8, "text": ""}]},
        {"question_id": "q2", "question": "how", "relevant_chunks": ["d3"],
         "retrieved": [{"chunk": "d3", "score": 0.5, "text": ""}]},
    ]
)  # fmt: skip
SAME_FIELDS: Final = json.dumps(
    [
        {"qid": "q1", "retrieved": [{"id": "d1", "score": 0.8}, {"id": "d2", "score": 0.9}],
         "relevant": [{"id": "d1", "grade": 2}, {"id": "d2", "grade": 0}, {"id": "d9", "grade": 1}]},
        {"qid": "q2", "retrieved": [{"id": "d3", "score": 0.5}], "relevant": [{"id": "d3", "grade": 1}]},
    ]
)  # fmt: skip
#: what is wrong → judgments and run
WRONG: Final[dict[str, tuple[tuple[str, str], tuple[str, str]]]] = {
    "recommender": (
        ("q.csv", texts("user,item,rating", QRELS)),
        ("r.csv", texts("user,item,prediction", RUN)),
    ),
    "one name for two numbers": (
        ("q.csv", texts("userId,movieId,rating", QRELS)),
        ("r.csv", texts("userId,movieId,rating", RUN)),
    ),
    "capitals": (
        ("q.csv", texts("Query,DocID,Grade", QRELS)),
        ("r.csv", texts("QueryID,DOCNO,Sim", RUN)),
    ),
    "blanks": (
        ("q.csv", texts("Query ID,Document ID,Relevance Label", QRELS)),
        ("r.csv", texts("Query ID,Document ID,Relevance Score", RUN)),
    ),
    "names of options": (
        ("q.csv", texts("query_id,items,levels", QRELS)),
        ("r.csv", texts("query_id,items,draws", RUN)),
    ),
    "what a shell would take": (
        ("q.csv", texts("query id,$doc;id,it's a grade", QRELS)),
        ("r.csv", texts("query id,$doc;id,`score`", RUN)),
    ),
    "a comma and a sign": (
        ("q.csv", texts('"query, id",doc_id,"grade=0..2"', QRELS)),
        ("r.csv", texts('"query, id",doc_id,score', RUN)),
    ),
    "blanks around names": (
        ("q.csv", texts("query_id, Doc ID , relevance", QRELS)),
        ("r.csv", texts("query_id, doc_id, My Score ", RUN)),
    ),
    "misspelt": (GOOD_QRELS, ("r.csv", texts("query_id,doc_id,scroe", RUN))),
    "ids are numbers, too": (
        (
            "q.csv",
            texts(
                "query_id,doc_id,target_id,grade",
                [(*row[:2], 7, row[2]) for row in QRELS],
            ),
        ),
        GOOD_RUN,
    ),
    "a number that is an id": (
        (
            "q.csv",
            texts(
                "query_id,doc_id,row_id,judged",
                [(*r[:2], n, r[2]) for n, r in enumerate(QRELS)],
            ),
        ),
        GOOD_RUN,
    ),
    "a text that is called so": (
        (
            "q.csv",
            texts(
                "query_id,doc_id,label,stars",
                [(*row[:2], "good", row[2]) for row in QRELS],
            ),
        ),
        (
            "r.csv",
            texts(
                "query_id,doc_id,source,bm25",
                [(*row[:2], "web", row[2]) for row in RUN],
            ),
        ),
    ),
    "names of no language": (
        ("q.csv", texts("Anfrage,Treffer,Note", QRELS)),
        ("r.csv", texts("Anfrage,Treffer,Punkte", RUN)),
    ),
    "a score for a grade": (("q.csv", texts("query_id,doc_id,score", QRELS)), GOOD_RUN),
    "ranks": (
        GOOD_QRELS,
        (
            "r.csv",
            texts(
                "qid,docno,rank", [("q1", "d2", 1), ("q1", "d1", 2), ("q2", "d3", 1)]
            ),
        ),
    ),
    "an order": (GOOD_QRELS, ("r.csv", texts("qid,docno", [row[:2] for row in RUN]))),
    "lists beside each other": (("q.json", LISTS), ("q.json", LISTS)),
    "passages as objects": (("q.json", PASSAGES), ("q.json", PASSAGES)),
    "objects of both": (("q.json", SAME_FIELDS), ("q.json", SAME_FIELDS)),
    "tabs": (
        ("q.tsv", texts("qid\tpid\trel", QRELS, "\t")),
        ("r.tsv", texts("qid\tpid\tscore", RUN, "\t")),
    ),
    "JSON lines": (
        (
            "q.jsonl",
            "".join(
                json.dumps({"topic": q, "docno": d, "rel": g}) + "\n"
                for q, d, g in QRELS
            ),
        ),
        (
            "r.jsonl",
            "".join(
                json.dumps({"topic": q, "docno": d, "rsv": g}) + "\n" for q, d, g in RUN
            ),
        ),
    ),
    "a document twice": (
        GOOD_QRELS,
        ("r.csv", texts("query_id,doc_id,score", [*RUN, ("q1", "d2", 0.1)])),
    ),
    "judged twice": (
        ("q.csv", texts("query_id,doc_id,relevance", [*QRELS, ("q1", "d1", 1)])),
        GOOD_RUN,
    ),
}


IF_EVERY_ROW = (
    "if every row is a relevant document, all_relevant=True; "
    "if a column holds relevance, rename it with columns"
)


@pytest.mark.parametrize("what", WRONG)
def test_fixes_lead_to_the_number(
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every message is followed to the letter; none comes twice, and in the end the number is there."""
    monkeypatch.chdir(tmp_path)
    for name, text in WRONG[what]:
        (tmp_path / name).write_text(text)
    line = f"eval {WRONG[what][0][0]} run={WRONG[what][1][0]} -m RR --format json"
    lines: list[str] = []
    while exit_code(shlex.split(line)) != 0:
        _, err = capsys.readouterr()
        assert err not in lines, err
        lines.append(err)
        line += f" {options(err)}"
    out, _ = capsys.readouterr()

    assert 0 < len(lines) <= FEW
    assert json.loads(out)["runs"] == {"run": {"RR": RR}}


def options(message: str) -> str:
    """Return the options that a message proposes; of two ways the first."""
    fix = message.partition("fix:")[2].partition("; or ")[0]
    matches = re.findall(
        r"""--columns (?:'(?:[^']|'"'"')*'|"[^"]*"|\S+)|--[a-z-]+ \w+""", fix
    )
    assert matches, message
    return " ".join(matches)


def test_files_and_folders_are_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Paths in fixes are words of a shell, whatever they are called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my run.csv").write_text(GOOD_RUN[1])
    (tmp_path / "q.csv").write_text(GOOD_QRELS[1])

    assert exit_code(["eval", "q.csv", "my rum.csv"]) != 0
    assert 'did you mean "my run.csv"?' in capsys.readouterr().err
    assert exit_code(["eval", "q.csv", "my run.csv", "-o", "not here/scores.csv"]) != 0
    err = capsys.readouterr().err
    assert f"there is no folder {tmp_path / 'not here'}" in err
    assert "create the folder first" in err


@pytest.mark.parametrize(
    ("qrels", "fix"),
    [
        ("query_id,doc_id,verdict\nq1,d1,good\n", IF_EVERY_ROW),
        ("query_id,doc_id,a,b\nq1,d1,1,2\n", IF_EVERY_ROW),
        (
            "query_id,doc_id,score\nq1,d1,0.7\nq1,d2,0.2\n",
            "are judgments and run in the right order. QRELS comes first$",
        ),
        ("query_id,doc_id,query_run\nq1,d1,1\nq1,d2,1\n", IF_EVERY_ROW),
        (
            "query_id,doc_id,flag\nq1,d1,1\nq1,d2,1\n",
            "if a column holds relevance, rename it with columns",
        ),
    ],
)
def test_what_is_not_guessed(tmp_path: Path, qrels: str, fix: str) -> None:
    """Texts, the number of a run and scores are no grades; of two numbers either may be meant."""
    (tmp_path / "q.csv").write_text(qrels)

    with pytest.raises(MissingColumn, match=f"(?s)no column relevance.*fix: +{fix}"):
        read_judgments(tmp_path / "q.csv")


@pytest.mark.parametrize("beside", ["", ",item_id", ",timestamp", ",title"])
def test_judgments_without_grades(tmp_path: Path, beside: str) -> None:
    """Without a column that may be a grade all rows are relevant documents, and the audit says so."""
    (tmp_path / "q.csv").write_text(
        f"query_id,doc_id{beside}\nq1,d1{beside and (',7' if beside != ',title' else ',a title')}\n"
    )
    table = read_judgments(tmp_path / "q.csv")

    assert table.collect("relevance")["relevance"].to_list() == [1.0]
    assert table.read_as() == ("no grade: each document is relevant",)


def test_names_of_one_table() -> None:
    """A name may be meant for judgments or for runs alone; a slip in it is refused as any other."""
    rows = [("q1", "d2", 1, 0.9), ("q1", "d1", 2, 0.8), ("q2", "d3", 1, 0.5)]
    table = {
        name: list(cells)
        for name, cells in zip("qdgs", zip(*rows, strict=True), strict=True)
    }
    names = {"q": "query_id", "d": "doc_id", "qrels.g": "relevance", "run.s": "score"}
    scores = rankstone.evaluate(table, {"run": table}, "nDCG@1", columns=names)

    assert scores.to_dict() == {"run": {"nDCG@1": (1 / 2 + 1) / 2}}
    read = parse_columns("q=query_id,d=doc_id,qrels.x=relevance")
    with pytest.raises(MissingColumn, match="no column relevance"):
        read_judgments(table, read)
    with pytest.raises(
        UsageError,
        match=r"(?s)no table has a column qrels\.x.*one of the columns d, g, q, s",
    ):
        read.require_present()


def test_one_name_for_two_things() -> None:
    """What is a grade here and a score there is stated for each table."""
    with pytest.raises(UsageError) as two:
        parse_columns("user=query_id,a b=relevance,a b=score")
    assert (
        two.value.fix
        == 'name it for each table instead: --columns "user=query_id,qrels.a b=relevance,run.a b=score"'
    )
    table = {"q": ["q1"], "found": [["d1"]], "right": [["d1"]]}
    with pytest.raises(
        UsageError, match=r"(?s)found and right.*write qrels\. or run\. before"
    ):
        read_judgments(table, {"q": "query_id", "found": "doc_id", "right": "doc_id"})


def test_names_with_commas() -> None:
    r"""A comma in a name stands behind a backslash, an equals sign as it is."""
    assert parse_columns(r"a\,b=query_id,c=d=doc_id") == {
        "a,b": "query_id",
        "c=d": "doc_id",
    }


@pytest.mark.parametrize(
    "what", [name for name in WRONG if "twice" not in name and "another" not in name]
)
def test_fixes_in_python(what: str, tmp_path: Path) -> None:
    """The same in Python: columns={…} stands there as Python reads it."""
    paths = [tmp_path / name for name, _ in WRONG[what]]
    for name, text in WRONG[what]:
        (tmp_path / name).write_text(text)
    requested: dict[str, Any] = {"columns": {}}
    lines: list[str] = []
    while (error := refused(paths, requested)) is not None:
        assert str(error) not in lines
        lines.append(str(error))
        assert error.fix
        assert "--" not in error.fix
        first = error.fix.partition("; or ")[0]
        names = re.search(r"columns=(\{.*?\})", first)
        if names is not None:
            # all names, with those that there were
            requested["columns"] = ast.literal_eval(names[1])
        if "order='input'" in first:
            requested["order"] = "input"

    assert 0 < len(lines) <= FEW
    assert rankstone.evaluate(
        paths[0], {"run": paths[1]}, "RR", **requested
    ).to_dict() == {"run": {"RR": RR}}


def refused(paths: list[Path], requested: dict[str, Any]) -> RankstoneError | None:
    """Return the error of an evaluation, if there is one."""
    try:
        rankstone.evaluate(paths[0], {"run": paths[1]}, "RR", **requested)
    except RankstoneError as error:
        return error
    return None
