"""What reading a workbook would take, from its XML, before a reader holds all of it in memory.

A workbook is a ZIP archive, which may unpack to a thousand times its size.  Its reader holds the whole
rectangle up to the last cell of a sheet, however few of the cells hold anything, and a shared text once for
every cell that shows it.
"""

from __future__ import annotations

import re
import sys
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: bytes of memory that any sheet may take, those that a cell takes, and those that a byte of its text may
_MEMORY: Final = 1 << 30
_CELL: Final = 100
_TIMES: Final = 30
#: the most columns that a sheet has; of more a reader is not done for hours
_WIDEST: Final = 16_384
#: bytes that any workbook may unpack to, and those that a byte of a larger one may
_PLENTY: Final = 1 << 26
_TIGHT: Final = 100
#: bytes unpacked at a time; no text is as long
_STEP: Final = 1 << 20

_ATTRIBUTE: Final = re.compile(r"""([\w:.-]+)\s*=\s*["']([^"']*)["']""")
#: comments and verbatim text, in which nothing is a tag
_HIDDEN: Final = re.compile(rb"<!(?:--.*?--|\[CDATA\[.*?\]\])>", re.DOTALL)
#: in a sheet: columns of cells that hold something; numbers of rows; rows
_COLUMN: Final = re.compile(
    rb"""r\s*=\s*["']([A-Za-z]{1,9})\w*["'](?=(?:[^<>]*[^/<>])?>)"""
)
_ROW: Final = re.compile(rb"""r\s*=\s*["'][A-Za-z]*(\d{1,9})""")
_ROW_TAG: Final = re.compile(rb"<(?:\w+:)?row[\s/>]")
#: a cell without a reference, which is to the right of the one before
_BARE: Final = re.compile(
    rb"""<(?:\w+:)?c(?:\s+(?!r\s*=)[^<>=\s]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*>"""
)
#: cells that show a shared text, the same with its number, and these texts
_SHARED: Final = re.compile(rb"""t\s*=\s*["']s["']""")
_NUMBER: Final = re.compile(
    _SHARED.pattern + rb"[^<>]*>\s*<(?:\w+:)?v[^<>]*>\s*(\d{1,9})\s*<"
)
_TEXT: Final = re.compile(rb"<(?:\w+:)?si[\s/>]")
#: copies of a text while it is read
_COPIES: Final = 4
#: tags that each cell with a text has
_TAGS: Final = 4


def check_workbook(source: Path | bytes, title: str, number: int = 0) -> None:
    """Refuse a workbook one sheet of which takes far more memory than it holds.

    Parameters
    ----------
    source
        The file, or its content.
    title
        Its name in messages.
    number
        The sheet, counted from 0.

    Raises
    ------
    InputError
        Also where the archive is damaged.
    """
    file = BytesIO(source) if isinstance(source, bytes) else source
    try:
        with zipfile.ZipFile(file) as archive:
            Workbook(archive, number).check()
    except InputError as error:
        error.where = title
        raise
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError),
        *(LookupError, StopIteration, UnicodeDecodeError),  # parts that lack
        RuntimeError,  # it is encrypted
    ) as error:
        raise InputError(
            "the workbook cannot be read", where=title, given=printable(error)
        ) from error


class Workbook:
    """The parts of a workbook that its reader unpacks."""

    def __init__(self, archive: zipfile.ZipFile, number: int = 0) -> None:
        self.archive, members = archive, archive.infolist()
        self.members = {one.filename.replace("\\", "/").lower(): one for one in members}
        packed = sum(one.compress_size for one in members)
        self.most = max(_PLENTY, _TIGHT * packed)
        self.sizes: dict[str, int] = {}
        sheet = self._tags("xl/workbook.xml", "sheet")[number]
        related = self._tags("xl/_rels/workbook.xml.rels", "Relationship")
        targets = {tag["Id"]: tag["Target"].removeprefix("/") for tag in related}
        target = targets[next(sheet[name] for name in sheet if name.endswith(":id"))]
        self.sheet = target if target.startswith("xl/") else f"xl/{target}"

    def _tags(self, part: str, name: str) -> list[dict[str, str]]:
        """Return the attributes of the tags of a name."""
        text = _HIDDEN.sub(b"", b"".join(self._pieces(part))).decode()
        tags = re.findall(rf"<(?:\w+:)?{name}(\s[^<>]*)>", text)
        return [dict(_ATTRIBUTE.findall(tag)) for tag in tags]

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Yield a part as it unpacks, cut between tags; nothing where it lacks."""
        member = self.members.get(name.lower())
        if member is None:
            return
        member.file_size = sys.maxsize  # it may unpack to more than it says
        self.sizes[name], rest = 0, b""
        with self.archive.open(member) as file:
            while piece := file.read(_STEP):
                self.sizes[name] += len(piece)
                if sum(self.sizes.values()) > self.most:
                    raise _refused(f"it unpacks to more than {self.most:,} bytes")
                if len(piece) == _STEP and b"<" not in piece:
                    raise _refused(f"a text has more than {_STEP:,} characters")
                *whole, rest = (rest + piece).rpartition(b"<")
                yield whole[0]
                rest = b"<" + rest
        yield rest

    def check(self) -> None:
        """Refuse a sheet that takes too much memory."""
        rows, columns = self.extent()
        room = max(_MEMORY, _TIMES * sum(self.sizes.values()))
        if columns > _WIDEST or rows * columns * _CELL > room:
            raise _refused(f"its sheet has {rows:,} rows and {columns:,} columns")
        for _ in self._pieces("xl/styles.xml"):
            pass
        most = max(_MEMORY // _COPIES, self.most)
        if self._shown(most) > most:
            raise _refused(f"its sheet shows more than {most:,} bytes of text")

    def extent(self) -> tuple[int, int]:
        """Return the last row and column of the sheet in which a cell holds something."""
        rows = columns = tags = bare = in_row = 0
        for piece in self._pieces(self.sheet):
            rows = max([rows, *map(int, {*_ROW.findall(piece)})])
            columns = max([columns, *map(_number_of, {*_COLUMN.findall(piece)})])
            cells = [len(_BARE.findall(row)) for row in _ROW_TAG.split(piece)]
            cells[0] += in_row
            bare = max(bare, *cells)
            in_row = cells[-1]
            tags = tags + len(cells) - 1
        return max(rows, tags), columns + bare

    def _shown(self, most: int) -> int:
        """Return the bytes of shared texts as the sheet shows them, or more."""
        content = _HIDDEN.sub(b"", b"".join(self._pieces("xl/sharedStrings.xml")))
        starts = np.fromiter((at.start() for at in _TEXT.finditer(content)), np.int64)
        lengths = np.diff(starts, append=len(content))
        longest = int(lengths.max(initial=0))
        shown = 0
        share = most // (self.sizes[self.sheet] // _STEP + 1)
        for piece in self._pieces(self.sheet):
            bound = piece.count(b"<") // _TAGS * longest
            if bound <= share:
                shown += bound
                continue
            numbers = np.array(_NUMBER.findall(piece), "S").astype(np.int64)
            shown += int(lengths[numbers[numbers < len(lengths)]].sum())
            shown += (len(_SHARED.findall(piece)) - len(numbers)) * longest
        return shown


def _refused(what: str) -> InputError:
    return InputError(
        f"the workbook is too large for memory: {what}",
        expected="a sheet that a spreadsheet program wrote",
        fix="delete what is beside and below the table, or save the sheet as “CSV UTF-8”",
    )


def _number_of(letters: bytes) -> int:
    """Return the number of a column, from 1.

    >>> _number_of(b"A"), _number_of(b"aa"), _number_of(b"XFD")
    (1, 27, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number
