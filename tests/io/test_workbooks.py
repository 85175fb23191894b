"""Excel's own files: read where fastexcel is installed, and known without it."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest
from tests.command_line import command as at_a_shell

import rankstone
from rankstone.errors import (
    BadLine,
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    MissingExtra,
    NotComparable,
)
from rankstone.io import read_attributes, read_judgments, read_run, workbook_limits
from rankstone.io.workbook_limits import Workbook, check_workbook

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
        f'<sheet name="{name}" sheetId="{index}" r:id="r{index}"/>'
        for index, name in names
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{kinds}</Types>',
        "_rels/.rels": _related({"1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{tabs}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _related(
            {
                str(index): ("worksheet", f"worksheets/sheet{index}.xml")
                for index, _ in names
            }
        ),
    }
    for position, rows in enumerate(sheets.values(), 1):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{position}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return content.getvalue()


def _related(to: dict[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="r{position}" Type="{_DOCUMENT}/{kind}" Target="{target}"/>'
        for position, (kind, target) in to.items()
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
        ) as raised:
            read_run(path)
        assert (
            raised.value.fix
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
    with pytest.raises(InputError, match="a zip archive"):
        read_run(tmp_path / "a.run").collect()


def test_workbooks_are_read(tmp_path: Path) -> None:
    """Numbers are numbers, whole ones ids; the sheet is reported where there are several."""
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


def test_each_side_has_its_own_sheet(tmp_path: Path) -> None:
    """Of several sheets the first that has the columns of a side is read, in any order, also below notes."""
    pytest.importorskip("fastexcel")
    notes = [("who", "when"), ("Anna", "today")]
    for sheets in (
        {"Judged": JUDGED, "Run": RUN},
        {"Notes": notes, "Run": RUN, "Judged": JUDGED},
    ):
        both = write(tmp_path / "both.xlsx", **sheets)
        scores = rankstone.evaluate(both, both, "RR")
        assert scores.to_dict() == {"both": {"RR": (1 / 2 + 1) / 2}}
        others = [name for name in sheets if name != "Run"]
        shown = ", ".join(map(repr, others))
        assert scores.audit.runs["both"].read_as == (f"sheet 'Run' (not {shown})",)
    ours = [("qid", "docno", "sim"), *RUN[1:]]
    renamed = write(tmp_path / "renamed.xlsx", Judged=JUDGED, Ours=ours)
    names = {"qid": "query_id", "docno": "doc_id", "sim": "score"}
    scores = rankstone.evaluate(renamed, renamed, "RR", columns=names)
    assert scores.to_dict() == {"renamed": {"RR": (1 / 2 + 1) / 2}}
    # where none fits it is the first
    with pytest.raises(MissingColumn, match=r"given: +columns who, when"):
        read_run(write(tmp_path / "none.xlsx", Notes=notes, Judged=JUDGED))


def test_workbooks_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    """Rows are numbered as spreadsheets number them."""
    pytest.importorskip("fastexcel")
    with pytest.raises(
        BadLine, match=r"a\.xlsx, sheet 'Run', row 1: the header has score twice"
    ):
        read_run(
            write(
                tmp_path / "a.xlsx",
                Run=[("query_id", "doc_id", "score", "score "), ("q", "d", 1, 2)],
            )
        )
    with pytest.raises(EmptyInput, match="the first sheet is empty"):
        read_run(write(tmp_path / "b.xlsx", Run=[]))
    rows = [*JUDGED, (8, None, 1)]
    with pytest.raises(BadValue, match=r"c\.xlsx, sheet 'Judged', row 5"):
        rankstone.evaluate(write(tmp_path / "c.xlsx", Judged=rows), {7: ["d1"]}, "RR")
    whole = workbook(Run=RUN)
    (tmp_path / "d.xlsx").write_bytes(whole.replace(b"<sheetData>", b"<sheetDat"))
    with pytest.raises(InputError, match=r"d\.xlsx: the workbook cannot be read"):
        read_judgments(tmp_path / "d.xlsx")


def test_numbers_that_stand_as_texts(tmp_path: Path) -> None:
    """Texts of numbers are numbers, also with a decimal comma; of others the cell is named if it is needed."""
    pytest.importorskip("fastexcel")

    def scored(*scores: object, **options: Any) -> dict[str, dict[str, float]]:
        cells = zip((7, 7, 8), ("d2", "d1", "d3"), scores, strict=True)
        path = write(tmp_path / "run.xlsx", Run=[RUN[0], *cells])
        return rankstone.evaluate({7: ["d1"]}, path, "RR", **options).to_dict()

    assert scored("9.5", "10.5", "1") == {"run": {"RR": 1.0}}
    assert scored("9,5", "10,5", "1") == {"run": {"RR": 1.0}}
    assert scored("11,5", "10,5", "1") == {"run": {"RR": 0.5}}
    with pytest.raises(
        BadLine, match=r"run\.xlsx, sheet 'Run', row 3: the score 'n/a' is not a"
    ):
        scored("9.5", "n/a", "1")
    assert scored("9.5", "n/a", "1", order="input") == {"run": {"RR": 0.5}}
    with pytest.raises(BadLine, match=r"row 2: '9,500' may be a fraction or thousands"):
        scored("9,500", "10,500", "725")
    assert scored("9,500", "10,500", "725", decimal=",") == {"run": {"RR": 1.0}}


def test_texts_with_a_comma_beside_numbers(tmp_path: Path) -> None:
    """A number among texts has a point, the text a comma: both are fractions unless one may have thousands."""
    pytest.importorskip("fastexcel")

    def scored(*scores: object, **options: Any) -> float:
        cells = zip((7, 7, 8), ("d2", "d1", "d3"), scores, strict=True)
        path = write(tmp_path / "run.xlsx", Run=[RUN[0], *cells])
        result = rankstone.evaluate({7: ["d1"]}, path, "RR", **options)
        both = "decimal comma in texts, decimal point in numbers"
        assert result.audit.runs["run"].read_as == (both,)
        return result["RR"]

    assert scored("9,5", 10.5, 1) == 1.0
    assert scored("11,5", 10.5, "1") == 0.5
    assert scored(9.5, "10,25", 3) == 1.0
    assert scored("0,125", 0.25, 1e-7) == 1.0
    with pytest.raises(
        BadLine, match=r"row 2: '1,250' may be a fraction or thou"
    ) as error:
        scored("1,250", 10.5, 1)
    assert error.value.fix == "decimal=',' if it is a fraction"
    assert scored("1,250", 10.5, 1, decimal=",") == 1.0
    with pytest.raises(BadLine, match=r"row 3: '10.125' may be a fraction") as error:
        scored("9,5", 10.125, 1)
    assert error.value.fix == "write the column with one decimal mark in the workbook"
    with pytest.raises(BadLine, match=r"row 2: the score '9,5' is not a number"):
        scored("9,5", 10.5, 1, decimal=".")


@pytest.mark.parametrize(
    "above", [[("Results",)], [("Results",), (None,)], [("Results", "May"), (None,)]]
)
def test_rows_above_the_header(tmp_path: Path, above: list[tuple[Any, ...]]) -> None:
    """A title is no header, with a blank row below it or not; nothing is advised that would read it as one."""
    pytest.importorskip("fastexcel")
    path = write(tmp_path / "run.xlsx", Run=[*above, *RUN])
    with pytest.raises(
        BadLine, match=r"run\.xlsx, sheet 'Run', row 1: the first row is a title"
    ):
        read_run(path)
    text = "\n".join(
        ",".join(str(cell or "") for cell in row) for row in (*above, *RUN)
    )
    (tmp_path / "run.csv").write_text(text)
    with pytest.raises(BadLine, match=r"run\.csv:1: the first row is a title"):
        read_run(tmp_path / "run.csv")


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


# -- bounds ---------------------------------------------------------------------------------------------------
def sheet(cells: str, shared: str | None = None) -> bytes:
    """Make a workbook whose sheet holds these rows."""
    content = BytesIO(workbook(Run=[]))
    with zipfile.ZipFile(content) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    place = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    parts["xl/worksheets/sheet1.xml"] = place.encode()
    if shared is not None:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{_MAIN}">{shared}</sst>'.encode()
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def table(prefix: str = "", quote: str = '"', space: str = "") -> str:
    """Return the rows of a run whose cells have references, as some program might write them."""
    rows = ""
    for position, row in enumerate(RUN, 1):
        cells = ""
        for column, value in zip("ABC", row, strict=True):
            reference = f"r{space}={space}{quote}{column}{position}{quote}"
            kind, inside = "", f"<{prefix}v>{value}</{prefix}v>"
            if isinstance(value, str):
                kind = f" t{space}={space}{quote}inlineStr{quote}"
                inside = f"<{prefix}is><{prefix}t>{value}</{prefix}t></{prefix}is>"
            cells += f"<{prefix}c {reference}{kind}>{inside}</{prefix}c>"
        rows += f"<{prefix}row r{space}={space}{quote}{position}{quote}>{cells}</{prefix}row>"
    return rows


#: what makes a small file large in memory → rows of the sheet, shared texts, what is stated of it
BOMBS: dict[str, tuple[str, str | None, str]] = {
    "a cell in the last corner": (
        f'{table()}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', None,
        "has 1,048,576 rows and 16,384 columns",
    ),
    "another row than its row says": (
        f'{table()}<row r="9"><c s="1"\n r = \'xfd1048576\' ><v>1</v></c></row>', None,
        "has 1,048,576 rows",
    ),
    "a column beyond the last one": (
        table().replace('"B2"', '"nanB2"'), None, "rows and 247,106 columns",
    ),
    "two references": (
        f'{table()}<row r="9"><c r="A9" r="XFD1048576"><v>1</v></c></row>', None,
        "has 1,048,576 rows and 16,384 columns",
    ),
    "a comment between shared texts": (
        "<row>" + '<c t="s"><v>1</v></c>' * 5000 + "</row>",
        f"<si><t>a</t></si><!-- <si> --><si><t>{'a' * 200_000}</t></si>",
        "shows more than 268,435,456 bytes of text",
    ),
    "cells without references": (
        f"<row>{'<c><v>1</v></c>' * 16_000}</row>" + '<row r="1048576"><c><v>1</v></c></row>', None,
        "has 1,048,576 rows and 16,00",
    ),
    "a long text": (
        f"<row><c t='inlineStr'><is><t>{'a' * 3_000_000}</t></is></c></row>", None,
        "a text has more than 1,048,576 characters",
    ),
    "many texts": (
        f"<row>{('<c><is><t>' + 'a' * 900_000 + '</t></is></c>') * 20}</row>", None,
        "unpacks to more than 16,777,216 bytes",
    ),
    "a text in many cells": (
        "<row>" + '<c t="s"><v>1</v></c>' * 5000 + "</row>",
        f"<si><t>a</t></si><si><t>{'a' * 200_000}</t></si>",
        "shows more than 268,435,456 bytes of text",
    ),
    "a text in many cells, oddly written": (
        "<row>" + "<c t = 's' ><v>\n1 </v></c>" * 5000 + "</row>",
        f"<si><t>a</t></si><si><t>{'a' * 200_000}</t></si>",
        "shows more than 268,435,456 bytes of text",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_that_are_large_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """They are refused before a reader holds them, also as what comes through a pipe."""
    pytest.importorskip("fastexcel")
    monkeypatch.setattr(workbook_limits, "_PLENTY", 1 << 24)
    rows, shared, message = BOMBS[name]
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(sheet(rows, shared))
    assert path.stat().st_size < 1_500_000
    with pytest.raises(InputError, match=f"bomb\\.xlsx: .*{message}") as error:
        read_run(path)
    assert "delete what is beside and below the table" in str(error.value)
    with pytest.raises(InputError, match=message):
        check_workbook(path.read_bytes(), "standard input")


def test_an_archive_that_lies_about_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is unpacked counts, not what the directory of the archive says."""
    monkeypatch.setattr(workbook_limits, "_PLENTY", 1 << 24)
    content = sheet(BOMBS["many texts"][0])
    with zipfile.ZipFile(BytesIO(content)) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    lying = content.replace(struct.pack("<L", size), struct.pack("<L", 1000))
    assert lying != content
    with pytest.raises(InputError, match="unpacks to more than"):
        check_workbook(lying, "lying.xlsx")


def test_workbooks_of_other_programs_are_read(tmp_path: Path) -> None:
    """Other quotes and blanks, rows and cells without references, shared texts, columns that are only styled."""
    pytest.importorskip("fastexcel")
    expected = rankstone.evaluate(
        {7: ["d1"]}, write(tmp_path / "a.xlsx", Run=RUN), "RR"
    )
    styled = "".join(f'<c r="{column}1" s="1"/>' for column in ("D", "ZZ", "XFD"))
    texts = {
        "plain": table(),
        "quotes": table(quote="'"),
        "blanks": table(space=" "),
        "styled": table().replace("</row>", f"{styled}</row>", 1)
        + "".join(
            f'<row r="{index}"><c r="A{index}" s="1"/></row>'
            for index in range(5, 9000)
        ),
    }
    for name, rows in texts.items():
        path = tmp_path / f"{name}.xlsx"
        path.write_bytes(sheet(rows))
        scores = rankstone.evaluate({7: ["d1"]}, {"a": path}, "RR")
        assert scores.to_dict() == expected.to_dict(), name
    words = {
        word: index for index, word in enumerate(("query_id", "doc_id", "score", "d1"))
    }
    cells = [("query_id", "doc_id", "score"), (7, "d1", 1)]
    rows = ""
    for row in cells:
        marked = ((' t="s"', words[v]) if isinstance(v, str) else ("", v) for v in row)
        rows += (
            f"<row>{''.join(f'<c{kind}><v>{v}</v></c>' for kind, v in marked)}</row>"
        )
    shared = "".join(f"<si><t>{word}</t></si>" for word in words)
    (tmp_path / "s.xlsx").write_bytes(sheet(rows, shared))
    assert read_run(tmp_path / "s.xlsx").collect()["doc_id"].to_list() == ["d1"]


def test_the_extent_of_a_sheet_is_that_of_its_values() -> None:
    """Whatever cells there are, in whatever order; those that are only styled do not count."""
    rng = random.Random(1)
    for _ in range(200):
        cells = [
            (rng.randrange(1, 2 ** rng.randrange(1, 21)), rng.randrange(1, 16_385))
            for _ in range(9)
        ]
        rows = ""
        for row, column in cells:
            name = "".join(letters_of(column))
            kind = rng.choice(["", ' s="1"', ' t="n" s="2"'])
            empty = '<c r="XFD7" s="1"/>' if rng.random() < 0.3 else ""
            rows += f'<row r="{row}">{empty}<c r="{name}{row}"{kind}><v>1</v></c></row>'
        with zipfile.ZipFile(BytesIO(sheet(rows))) as archive:
            corner = max(row for row, _ in cells), max(column for _, column in cells)
            assert Workbook(archive).extent() == corner


def test_a_gigabyte_is_the_limit() -> None:
    """A hundred bytes a cell: 200,000 rows of 30 columns are read, 12 million empty cells are not."""
    for row, refused in ((200_000, False), (400_000, True)):
        rows = f'{table()}<row r="{row}"><c r="AD{row}"><v>1</v></c></row>'
        if not refused:
            check_workbook(sheet(rows), "a.xlsx")
            continue
        with pytest.raises(
            InputError, match=r"a\.xlsx: .* has 400,000 rows and 30 columns"
        ):
            check_workbook(sheet(rows), "a.xlsx")


def letters_of(column: int) -> list[str]:
    """Return the letters of a column, counted from 1."""
    letters: list[str] = []
    while column:
        column, letter = divmod(column - 1, 26)
        letters.insert(0, chr(65 + letter))
    return letters


def test_a_stray_cell_beside_the_table(tmp_path: Path) -> None:
    """The table is read, the columns without a name are noted, and nothing else is printed."""
    pytest.importorskip("fastexcel")
    stray = table().replace("</row>", '<c r="XFD1"/></row>', 1)
    stray = stray.replace(
        '</row><row r="3">', '<c r="XFD2"><v>1</v></c></row><row r="3">'
    )
    (tmp_path / "run.xlsx").write_bytes(sheet(stray))
    (tmp_path / "qrels.txt").write_text("7 0 d1 2\n8 0 d3 1\n")
    words = ("eval", "qrels.txt", "run.xlsx", "-m", "RR", "-v")
    done = subprocess.run(
        [sys.executable, "-m", "rankstone", *words],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stderr == ""
    assert "16,381 columns without a name beside the table" in done.stdout
    assert "0.7500" in done.stdout


def test_titles_above_headers(tmp_path: Path) -> None:
    """They are named as what they are, in workbooks and in CSV."""
    pytest.importorskip("fastexcel")
    path = write(tmp_path / "run.xlsx", Run=[("Results of May", None, None), *RUN])
    with pytest.raises(
        BadLine, match=r"run\.xlsx, sheet 'Run', row 1: the first row is a title"
    ) as error:
        read_run(path)
    assert "Results of May" in str(error.value)
    for rows in ("Results of May,,\n", "Results of May\n"):
        (tmp_path / "run.csv").write_text(rows + "query_id,doc_id,score\nq,d,1\n")
        with pytest.raises(BadLine, match=r"run\.csv:1: the first row is a title"):
            read_run(tmp_path / "run.csv").collect()
    (tmp_path / "one.csv").write_text(
        ",x\na,1\nb,2\n"
    )  # the index of a frame has no name
    with pytest.raises(NotComparable, match="nothing shows how data sets differ"):
        rankstone.board(tmp_path / "one.csv")


def test_a_data_set_twice_in_a_workbook(tmp_path: Path) -> None:
    """As in CSV."""
    pytest.importorskip("fastexcel")
    rows = [("system", "x", "x", "y"), ("a", 1, 2, 3), ("b", 2, 3, 4)]
    with pytest.raises(BadLine, match=r"board\.xlsx: the header has x twice"):
        rankstone.board(write(tmp_path / "board.xlsx", Board=rows))
    rows[0] = ("system", "x", "x_1", "y")
    assert rankstone.board(
        write(tmp_path / "other.xlsx", Board=rows)
    ).scores.datasets == ("x", "x_1", "y")


def test_archives_without_what_workbooks_have(tmp_path: Path) -> None:
    """No part for the workbook or the sheet, a part that is encrypted, or damaged."""
    pytest.importorskip("fastexcel")
    whole = workbook(Run=RUN)
    with zipfile.ZipFile(BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for lacking in (
        *(name for name in parts if name.startswith("xl/")),
        "encrypted",
        "of another version",
        "damaged",
    ):
        path = tmp_path / f"{lacking.replace('/', '-')}.xlsx"
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in parts.items():
                if name != lacking:
                    archive.writestr(name, part)
            archive.writestr("xl/more", "")
        content = bytearray(path.read_bytes())
        for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            position = content.find(header)
            while lacking == "encrypted" and position >= 0:
                content[position + place] |= 1
                position = content.find(header, position + 4)
        if lacking == "of another version":
            content[content.find(b"PK\x01\x02") + 6] = 232
        if lacking == "damaged":
            content = content.replace(b"<sheetData>", b"<sheetDatu>")
        path.write_bytes(content)
        with pytest.raises(InputError, match="the workbook cannot be read") as error:
            read_run(path)
        assert path.name in str(error.value)
