"""Excel's own files: the first sheet of a workbook, its first row the header."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import EmptyInput, InputError, MissingExtra, printable
from rankstone.io.columns import is_known
from rankstone.io.dialects import clean_names, refuse_copies
from rankstone.io.table import reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["FIRST_ROW", "is_workbook", "scan_workbook"]

#: the row of a sheet that stands below the header, as spreadsheets count
FIRST_ROW: Final = 2
_ZIP: Final = b"PK\x03\x04"


def is_workbook(source: Path | bytes, magic: bytes) -> bool:
    """Say whether a source is a zip archive that holds a workbook.

    Parameters
    ----------
    source
        A file, or its content.
    magic
        Its first bytes.
    """
    if not magic.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(BytesIO(source) if isinstance(source, bytes) else source) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def scan_workbook(
    source: Path | bytes, title: str, columns: Mapping[str, str]
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Read the first sheet of a workbook, and say which it is where there are more.

    Parameters
    ----------
    source
        The file, or its content.
    title
        What to call it in messages.
    columns
        {their name: our name}.
    """
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtra(
            f"{printable(title)} is an Excel workbook, and fastexcel, which reads these, is not installed",
            fix='pip install "rankstone[excel]", or save the sheet as “CSV UTF-8” in Excel',
        ) from error
    try:
        with reading(title):
            sheets = fastexcel.read_excel(source).sheet_names
            frame = pl.read_excel(source, infer_schema_length=None, raise_if_empty=False)
            if not frame.width:
                raise EmptyInput("the first sheet is empty", where=title)
            header = pl.read_excel(source, has_header=False, read_options={"n_rows": 1}).row(0)
    except fastexcel.FastExcelError as error:
        said = printable(str(error).partition("\n")[0])
        raise InputError("the workbook cannot be read", where=title, given=said) from error
    names = [str(name) for name in header if name is not None]
    refuse_copies(names, f"{title}, row 1", ", ".join(names), lambda name: name in columns or is_known(name))
    told = f"sheet {sheets[0]!r} (beside {', '.join(map(repr, sheets[1:]))})"
    return frame.rename(clean_names(frame.columns, columns)).lazy(), (told,) if len(sheets) > 1 else ()
