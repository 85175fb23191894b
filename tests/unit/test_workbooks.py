"""Excel's own files: read where fastexcel is installed, and known without it."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest
from tests.command_line import command as at_a_shell

import rankstone
from rankstone.errors import BadLine, BadValue, EmptyInput, InputError, MissingExtra
from rankstone.io import read_attributes, read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = [("query_id", "doc_id", "relevance"), (7, "d1", 2), (7, "d2", 0), (8, "d3", 1)]
RUN = [
    ("query_id", "doc_id ", "score"),
    (7, "d2", 0.75),
    (7, "d1", 0.5),
    (8, "d3", 12.25),
]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(**sheets: list[tuple[Any, ...]]) -> bytes:
    """Make a workbook of sheets, each a list of rows."""
    names = list(enumerate(sheets, 1))
    kinds = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    kinds += '<Default Extension="xml" ContentType="application/xml"/>'
    kinds += (
        '<Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    )
    tabs = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in names
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{kinds}</Types>',
        "_rels/.rels": _related({"1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{tabs}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _related(
            {str(at): ("worksheet", f"worksheets/sheet{at}.xml") for at, _ in names}
        ),
    }
    for at, rows in enumerate(sheets.values(), 1):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{at}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return content.getvalue()


def _related(to: dict[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="r{at}" Type="{_DOCUMENT}/{kind}" Target="{target}"/>'
        for at, (kind, target) in to.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'


def _cell(value: object) -> str:
    if isinstance(value, (int, float)):
        return f"<c><v>{value!r}</v></c>"
    text = f'<is><t xml:space="preserve">{escape(str(value))}</t></is>'
    return "<c/>" if value is None else f'<c t="inlineStr">{text}</c>'


def write(path: Path, **sheets: list[tuple[Any, ...]]) -> Path:
    path.write_bytes(workbook(**sheets))
    return path


def test_without_fastexcel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workbook is known by its content, and one sentence says what to do."""
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    for name in ("run.xlsx", "run.csv", "run"):
        path = write(tmp_path / name, Run=RUN)
        with pytest.raises(
            MissingExtra, match="is an Excel workbook, but fastexcel"
        ) as told:
            read_run(path)
        assert (
            told.value.fix
            == 'pip install "rankstone[excel]", or save the sheet as “CSV UTF-8” in Excel'
        )
        with pytest.raises(MissingExtra, match="is an Excel workbook"):
            read_attributes(path, "query_id")


def test_other_archives_are_no_workbooks(tmp_path: Path) -> None:
    """What else is zipped is read by its suffix, and refused as what it is not."""
    with zipfile.ZipFile(tmp_path / "run.csv", "w") as archive:
        archive.writestr("run.csv", "query_id,doc_id,score\n")
    with pytest.raises(InputError, match=r"run\.csv"):
        read_run(tmp_path / "run.csv").collect()
    (tmp_path / "a.run").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(BadLine):
        read_run(tmp_path / "a.run").collect()


def test_workbooks_are_read(tmp_path: Path) -> None:
    """Numbers are numbers, whole ones ids; the sheet is told where there are several."""
    pytest.importorskip("fastexcel")
    qrels = write(tmp_path / "qrels.xlsx", Judged=JUDGED)
    run = write(tmp_path / "run.xlsx", Run=RUN, Notes=[("what",), ("nothing",)])
    scores = rankstone.evaluate(qrels, run, "RR")
    assert scores.to_dict() == {"run": {"RR": (1 / 2 + 1) / 2}}
    assert scores.audit.runs["run"].read_as == ("sheet 'Run' (not 'Notes')",)
    assert scores.audit.judgments is not None
    assert scores.audit.judgments.read_as == ()
    (tmp_path / "qrels.txt").write_text("7 0 d1 2\n8 0 d3 1\n")
    assert (
        rankstone.evaluate(tmp_path / "qrels.txt", run, "RR").to_dict()
        == scores.to_dict()
    )
    about = write(
        tmp_path / "about.xlsx", Sheet=[("query_id", "weight"), (7, 3), (8, 1)]
    )
    assert read_attributes(about, "query_id").collect("weight").rows() == [
        ("7", 3),
        ("8", 1),
    ]


def test_workbooks_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    """Rows are numbered as spreadsheets number them."""
    pytest.importorskip("fastexcel")
    with pytest.raises(BadLine, match=r"a\.xlsx, row 1: the header has score twice"):
        read_run(
            write(
                tmp_path / "a.xlsx",
                Run=[("query_id", "doc_id", "score", "score "), ("q", "d", 1, 2)],
            )
        )
    with pytest.raises(EmptyInput, match="the first sheet is empty"):
        read_run(write(tmp_path / "b.xlsx", Run=[]))
    rows = [*JUDGED, (8, None, 1)]
    with pytest.raises(BadValue, match=r"c\.xlsx, row 5"):
        rankstone.evaluate(write(tmp_path / "c.xlsx", Judged=rows), {7: ["d1"]}, "RR")
    whole = workbook(Run=RUN)
    (tmp_path / "d.xlsx").write_bytes(whole.replace(b"<sheetData>", b"<sheetDat"))
    with pytest.raises(InputError, match=r"d\.xlsx: the workbook cannot be read"):
        read_judgments(tmp_path / "d.xlsx")


def test_a_workbook_at_a_shell(tmp_path: Path) -> None:
    """The command line reads it, or ends as for every package that is missing."""
    path = write(tmp_path / "run.xlsx", Run=RUN)
    (tmp_path / "qrels.txt").write_text("7 0 d1 2\n8 0 d3 1\n")
    try:
        import fastexcel
    except ImportError:
        fastexcel = None
    done = at_a_shell(
        "eval", tmp_path / "qrels.txt", path, "-m", "RR", code=0 if fastexcel else 5
    )
    assert (
        "0.7500" in done.stdout
        if fastexcel
        else 'pip install "rankstone[excel]"' in done.stderr
    )
