"""Lists of hits by query: the keys are queries, and the id of the document has one of its common names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import InputError
from rankstone.io import read_run
from rankstone.io.golden_records import document_keys

if TYPE_CHECKING:
    from pathlib import Path

QRELS: Final = {"how?": {"a": 1}, "why?": {"b": 1}, "who?": {"c": 1}}


def hits(document: str, **more: Any) -> dict[str, list[dict[str, Any]]]:
    """Return lists of three queries: the first document second, first, and no list at all."""
    return {
        "how?": [
            {document: "x", "score": 2.5, **more},
            {document: "a", "score": 1.5, **more},
        ],
        "why?": [{document: "b", "score": 3, **more}],
        "who?": [],
    }


def golden_of(expected: str) -> list[dict[str, Any]]:
    """Return a golden set that says in a key of its own what is expected."""
    return [
        {"query": query, expected: [*docs], "split": "dev"}
        for query, docs in QRELS.items()
    ]


@pytest.mark.parametrize(
    "document",
    [
        *("doc_id", "path", "file", "file_path", "source_id", "chunk_id", "url"),
        *("doc", "document", "docId", "source", "uri"),
    ],
)
def test_common_names_of_documents(document: str, tmp_path: Path) -> None:
    """A file and an object are read alike, and the audit says what the document is."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(hits(document, rank=None)))
    for source in (path, hits(document, text="a b")):
        scores = rankstone.evaluate(QRELS, source, "RR")
        assert scores["RR"] == pytest.approx((1 / 2 + 1) / 3)
        audit = scores.audit.to_dict()["runs"]["run"]
        is_noted = f"{document}=doc_id" in audit.get("read_as", [])
        assert is_noted == (document != "doc_id")


def test_every_name_that_golden_sets_know_is_known() -> None:
    for key in document_keys():
        run = {query: [{key: "a", "score": 1}] for query in ("how?", "why?")}
        assert read_run(run).collect("doc_id")["doc_id"].to_list() == ["a", "a"]


def test_options_name_the_document(tmp_path: Path) -> None:
    """What --columns says goes before common names; without it the fix is to be pasted."""
    run = tmp_path / "run.json"
    golden = tmp_path / "golden.json"
    run.write_text(json.dumps(hits("ref")))
    golden.write_text(json.dumps(golden_of("must")))
    words = ["eval", golden, run, "-m", "RR", "--format", "csv"]
    refused = command(*words, "--columns", "must=doc_id", code=3).stderr
    assert "keys ref, score" in refused
    assert "add --columns ref=doc_id" in refused
    out = command(*words, "--columns", "must=doc_id,ref=doc_id").stdout
    assert "run,RR,0.5," in out

    both = hits("path")
    for entry in both.values():
        for hit in entry:
            hit["ref"] = f"{hit['path']}#1"
    assert rankstone.evaluate(QRELS, both, "RR", columns={"ref": "doc_id"})["RR"] == 0
    assert rankstone.evaluate(QRELS, both, "RR")["RR"] == 1 / 2


def test_names_of_another_table_leave_shapes_on(tmp_path: Path) -> None:
    """Columns of the golden file switch no shape of the runs off, and the other way round."""
    shapes = tmp_path / "own.toml"
    shapes.write_text(
        '[[shapes]]\nname = "run"\ntitle = "our runs"\nrole = "run"\n'
        """json = '{"{query_id}": {"found": [["{doc_id}", "{score}"]]}}'\n"""
        """example = '{"q1": {"found": [["d1", 0.5]]}}'\n"""
        '[[shapes]]\nname = "judged"\ntitle = "our judgments"\nrole = "judgments"\n'
        """json = '{"{query_id}": {"good": ["{doc_id}"]}}'\n"""
        """example = '{"q1": {"good": ["d1"]}}'\n"""
    )
    written = {
        "golden.json": golden_of("must"),
        "judged.json": {query: {"good": [*docs]} for query, docs in QRELS.items()},
        "run.json": {"how?": {"found": [["x", 2], ["a", 1]]}, "why?": {"found": []}},
        "refs.json": hits("ref"),
    }
    for name, value in written.items():
        (tmp_path / name).write_text(json.dumps(value))

    def first(qrels: str, run: str, columns: str) -> str:
        words = ("-m", "RR", "--format", "csv", "--shape", shapes, "--columns", columns)
        out = command("eval", tmp_path / qrels, tmp_path / run, *words).stdout
        return str(out.splitlines()[1])

    assert first("golden.json", "run.json", "must=doc_id").startswith("run,RR,0.1666")
    assert first("judged.json", "refs.json", "ref=doc_id").startswith("refs,RR,0.5,")


def test_records_with_their_query_are_no_lists_by_query() -> None:
    """Splits of records are refused; a query that stands in its own hits, too, is not."""
    own = {query: [{"query": query, "path": "a", "score": 1}] for query in ("q", "r")}
    assert read_run(own).collect("query_id")["query_id"].to_list() == ["q", "r"]
    records = [{"question": "how?", "path": "a", "score": 1}]
    with pytest.raises(InputError):
        read_run({"dev": records, "test": records})
    judged = {"how?": [{"path": "a", "grade": 2}], "why?": [{"path": "b", "grade": 1}]}
    names = {"grade": "relevance"}
    assert rankstone.evaluate(judged, hits("path"), "RR", columns=names)["RR"] == 3 / 4
