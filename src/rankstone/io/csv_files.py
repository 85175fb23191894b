"""CSV, TSV and Excel workbooks: text with a header, in which ids keep their text.

Spreadsheets compute texts such as ``=HYPERLINK(…)`` in a CSV file that they open.  Everywhere else these are
data, so they are written as they are by default, and escaped on request.
"""

from __future__ import annotations

import logging
import re
import zipfile
from bisect import bisect_right
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted
from rankstone.errors import EmptyInput, InputError, MissingExtra, one_of, printable
from rankstone.io.column_suggestions import is_common_name, kinds_of_texts, sides_of
from rankstone.io.columns import (
    CANONICAL,
    CsvOptions,
    Renames,
    hidden,
    is_known,
    is_text,
    lacking,
    renames,
)
from rankstone.io.csv_dialect import (
    TOP,
    Dialect,
    clean_names,
    dialect_of,
    refuse_copies,
    refuse_title,
)
from rankstone.io.damaged_files import broken_row
from rankstone.io.exact_numbers import refuse_inexact
from rankstone.io.grade_labels import ESCI, ESCI_NOTE, are_esci, grades_of, labels_in
from rankstone.io.input_table import ROWS, Table
from rankstone.io.list_columns import Unfolding, unfolded
from rankstone.io.listed_cells import ListedCells, further_lists, listed_cells
from rankstone.io.number_columns import (
    ESCI_LABEL,
    Decimals,
    decimal_text,
    truths,
    with_both_marks,
    with_fractions,
)
from rankstone.io.unreadable_files import reading
from rankstone.io.unused_lists import numbers_beside
from rankstone.io.workbook_limits import check_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rankstone._basics import Columns
    from rankstone.io.grade_labels import Labels

#: rows that show whether cells are lists
_ROWS: Final = 100
_TRUTH: Final = r"(?i)^\s*(true|false|yes|no|ja|nein|oui|non|是|否)\s*$"
#: true for a row of separators only, such as spreadsheets leave below a table
BLANK: Final = pl.all_horizontal(pl.all().is_null()).alias("")
#: the row of a sheet below the header, in the count of spreadsheets
FIRST_ROW: Final = 2
ZIP: Final = b"PK\x03\x04"
#: how texts that a spreadsheet would compute are written: as they are, or with an apostrophe in front
FORMULAS: Final = ("keep", "escape")
_FORMULA: Final = r"^[=+\-@\t\r]"


def scan_delimited(
    dialect: Dialect, columns: Columns
) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Open CSV or TSV with a header, all columns as text, with notes on what was detected.

    Blanks around names are removed, and numbers with a decimal comma get a point.
    """
    frame = dialect.scan()
    header = frame.collect_schema().names()
    dialect.refuse_copies(header, lambda name: name in columns or is_known(name))
    fractions, notes = with_fractions(dialect, header)
    frame = (
        frame.with_columns(decimal_text(pl.col(name)) for name in fractions)
        if fractions
        else frame
    )
    clean = clean_names(header, columns)
    return frame.rename(clean) if clean else frame, (*dialect.notes, *notes)


def blank_note(rows: int) -> tuple[str, ...]:
    """Return the note on blank rows, which are skipped."""
    if rows:
        return (f"{counted(rows, 'blank row')} skipped",)
    return ()


def whole_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the table, read with all its columns whichever are selected.

    A reader of some columns does not notice rows with more cells than the header.
    """
    return frame.map_batches(
        lambda piece: piece, projection_pushdown=False, streamable=True
    )


def line_of(dialect: Dialect, row: int) -> int:
    """Return the line (from 1) in which a row (from 0) begins; quoted cells may contain line breaks."""
    breaks = 0
    with suppress(pl.exceptions.PolarsError):  # a broken row has its own message
        above = dialect.scan().head(row)
        counted = above.select(
            pl.all().str.count_matches("\n", literal=True).sum()
        ).collect()
        breaks = sum(counted.row(0)) if counted.width else 0
        breaks += sum(name.count("\n") for name in counted.columns)
    return dialect.above + (2 if dialect.header else 1) + row + breaks


def delimited(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    columns: Columns,
    further: Sequence[str] = (),
) -> Table:
    """Read CSV or TSV with a header; ids keep their text, numbers are checked.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    name
        The name of content in messages.
    kind
        ``csv`` or ``tsv``.
    columns
        {their name: our name}.
    further
        Columns to read besides the usual ones.
    """
    wanted = tuple(dict.fromkeys((*CANONICAL, *further)))
    readers = [
        _Delimited(dialect_of(source, name, kind, columns), columns, wanted)
        for source in sources
    ]
    listed = readers[0].find_lists()
    for reader in readers:
        reader.listed = listed
    schemas = [reader.schema() for reader in readers]
    headers = [reader.frame.collect_schema().names() for reader in readers]
    known = {name: dtype for schema in schemas for name, dtype in schema.items()}
    short = {
        name: lacking(name, reader.dialect.title, header)
        for reader, header in zip(readers, headers, strict=True)
        for name in known
        if name not in header
    }
    schema = {name: dtype for name, dtype in known.items() if name not in short}
    schema |= {name: pl.List(schema[name]) for name in listed.marks}
    present = tuple(dict.fromkeys(name for header in headers for name in header))

    def start(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for reader in readers:
            for piece in reader.pieces():
                lists = listed.expressions(schema)
                yield piece.with_columns(lists).select(wanted)

    def where(row: int) -> str:
        for reader in readers:
            if row < reader.rows:
                return reader.place(row)
            row -= reader.rows
        return name

    def read_as() -> tuple[str, ...]:
        notes = dict.fromkeys(note for reader in readers for note in reader.notes())
        return (*notes, *blank_note(sum(len(reader.blank) for reader in readers)))

    table = Table(
        name,
        schema,
        start,
        where,
        untyped=True,
        present=present,
        unusable=short,
        read_as=read_as,
        **readers[0].find_numbers(),
    )
    table = unfolded(table)
    if isinstance(table.start, Unfolding):
        table.start.single = True  # a row is a list
    return table


@dataclass
class _Delimited:
    dialect: Dialect
    renamed: Columns
    wanted: tuple[str, ...]
    rows: int = 0
    header: list[str] = field(default_factory=list)
    #: for each blank row the number of other rows above it
    blank: list[int] = field(default_factory=list)
    frame: pl.LazyFrame = field(init=False)
    decimals: Decimals = field(init=False)
    listed: ListedCells = field(default_factory=lambda: ListedCells({}))
    is_esci: bool = False

    def __post_init__(self) -> None:
        self.frame = self.dialect.scan()
        names = getattr(self.renamed, "named", {})
        self.decimals = Decimals(self.dialect.decimal, self.dialect.separator, names)

    def schema(self) -> dict[str, pl.DataType]:
        with reading(self.dialect.title):
            names = self.frame.collect_schema().names()
        if not names:
            raise EmptyInput("the file is empty", where=self.dialect.title)
        if not self.header:
            self._rename(names)
        names = self.frame.collect_schema().names()
        return {
            n: pl.String() if is_text(n) else pl.Float64()
            for n in self.wanted
            if n in names
        }

    def find_lists(self) -> ListedCells:
        """Find the columns whose cells are lists, in the first rows."""
        names = list(self.schema())
        try:
            return listed_cells(self.frame.select(names).head(_ROWS).collect())
        except pl.exceptions.PolarsError:  # it is reported where all is read
            return ListedCells({})

    def find_numbers(self) -> dict[str, Any]:
        """Find lists of numbers beside those of documents, in columns without a name of ours."""
        if not self.listed.marks:
            return {}
        lists = further_lists(self.frame.head(_ROWS).collect(), self.listed).lazy()
        kinds = kinds_of_texts(lists)
        unused, _ = numbers_beside(kinds, lambda: lists, self.renamed)
        return {"kinds": lambda: kinds, "unused": unused}

    def _rename(self, header: list[str]) -> None:
        """Rename columns to our names; refuse a header that has one of them twice."""
        self.header, given = header, self.renamed
        self.dialect.refuse_copies(
            header, lambda name: given.get(name, name) in self.wanted
        )
        clean = clean_names(header, given)
        names = [clean.get(name, name) for name in header]
        chosen = renames(names, given, self.dialect.title, self.wanted)
        replaced = hidden(names, chosen)
        if replaced or not {chosen.get(name, name) for name in names} <= {*self.wanted}:
            self.frame = whole_rows(self.frame)
        self.frame = self.frame.rename(clean).drop(replaced).rename(chosen)
        labels = self._labels(header, chosen)
        if labels:
            graded = grades_of(pl.col("relevance"), labels)
            self.frame = self.frame.with_columns(relevance=graded)

    def _labels(self, header: list[str], chosen: Columns) -> Labels:
        """Return what the labels in the column of grades are worth, as was said or as its first cells show."""
        if "relevance" not in self.wanted:
            return {}
        for named, labels in labels_in(self.renamed).items():
            if chosen.get(named) == "relevance":
                return labels
        for place, name in enumerate(header):
            ours = chosen.get(name.strip(), name)
            if ours == "relevance":
                return self._esci(place, name)
        return {}

    def _esci(self, place: int, name: str) -> Labels:
        """Return the labels of shopping queries if a column has them."""
        if name == ESCI_LABEL:
            return ESCI
        cells: set[str] = set()
        for row in self.dialect.rows():
            if len(row) > place:
                cell = row[place].strip()
                cells.add(cell)
        self.is_esci = are_esci(cells - {""})
        if not self.is_esci:
            return {}
        return ESCI

    def _batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        dialect = self.dialect
        with reading(dialect.title):
            try:
                yield from self.frame.select(*columns, BLANK).collect_batches(
                    chunk_size=ROWS
                )
            except pl.exceptions.PolarsError as error:
                broken = broken_row(
                    dialect.source,
                    dialect.title,
                    dialect.separator,
                    self.header,
                    dialect.above,
                )
                raise (broken or error) from error

    def pieces(self) -> Iterator[pl.DataFrame]:
        schema = self.schema()
        numbers = [
            name
            for name, dtype in schema.items()
            if dtype == pl.Float64 and name not in self.listed.marks
        ]
        self.rows, self.blank = 0, []
        self.decimals.start()
        for whole in self._batches(list(schema)):
            piece = self._without_blank(whole)
            # a column of truth values begins with one
            if (
                "relevance" in numbers
                and piece["relevance"].head(1).str.contains(_TRUTH).any()
            ):
                piece = piece.with_columns(truths(pl.col("relevance")))
            read = self.decimals.read(piece.select(numbers), self._place_below)
            for column in read:
                written = self.decimals.with_points(piece[column.name])
                refuse_inexact(written, column.name, self.place, self.rows)
            self.rows += piece.height
            yield piece.with_columns(read)

    def _without_blank(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that hold anything, and remember where the others were."""
        blank = piece.drop_in_place("")
        if not blank.any():
            return piece
        self.blank += [
            self.rows + row - above for above, row in enumerate(blank.arg_true())
        ]
        return piece.filter(~blank)

    def _place_below(self, row: int) -> str:
        return self.place(self.rows + row)

    def place(self, row: int) -> str:
        """Return the place of a row, for messages."""
        return f"{self.dialect.title}:{line_of(self.dialect, row + bisect_right(self.blank, row))}"

    def notes(self) -> tuple[str, ...]:
        """Return what was detected about the file."""
        notes = [*self.dialect.notes, *self.decimals.notes()]
        if self.listed.marks:
            notes.append(self.listed.note)
        if self.is_esci:
            notes.append(ESCI_NOTE)
        return tuple(notes)


def is_workbook(source: Path | bytes) -> bool:
    """Return True if a ZIP archive holds a workbook."""
    try:
        with zipfile.ZipFile(
            BytesIO(source) if isinstance(source, bytes) else source
        ) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError):  # or of another version
        return False


def _copies(names: list[str]) -> dict[str, str]:
    """Return for columns of one name what the reader of workbooks calls them, and the one of CSV files."""
    return {
        f"{name}_{number}": f"{name}_duplicated_{number - 1}"
        for name, count in Counter(names).items()
        for number in range(1, count)
    }


def scan_workbook(
    source: Path | bytes, title: str, columns: Columns
) -> tuple[str, pl.LazyFrame, tuple[str, ...]]:
    """Read a sheet of a workbook; return its name in messages, its rows, and a note on others where there are more.

    It is the first that has the columns of judgments or of a run, as ``columns`` say, or the first of all.

    Parameters
    ----------
    source
        The file, or its content.
    title
        Its name in messages.
    columns
        {their name: our name}.
    """
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtra(
            f"{printable(title)} is an Excel workbook, but fastexcel, which reads them, is not installed",
            fix='pip install "rankstone[excel]", or save the sheet as “CSV UTF-8” in Excel',
        ) from error
    # the reader warns of every empty column; whoever wants its warnings still gets them
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    try:
        with reading(title):
            check_workbook(source, title)
            sheets = fastexcel.read_excel(source).sheet_names
            if not sheets:
                raise EmptyInput("the workbook has no sheet", where=title)
            tops = [_top(source, title, 0)]
            while not _fits(tops[-1], columns) and len(tops) < len(sheets):
                tops.append(_top(source, title, len(tops)))
            number = len(tops) - 1 if _fits(tops[-1], columns) else 0
            top = tops[number]
            if not top:
                raise EmptyInput("the first sheet is empty", where=title)
            sheet = sheets.pop(number)
            title = f"{title}, sheet {sheet!r}"
            refuse_title(top, f"{title}, row 1")
            names = list(top[0])
            while names and names[-1] is None:
                names.pop()
            frame = pl.read_excel(
                source,
                sheet_id=number + 1,
                infer_schema_length=None,
                raise_if_empty=False,
                read_options={"use_columns": lambda column: column.index < len(names)},
            )
    except fastexcel.FastExcelError as error:
        message = printable(str(error).partition("\n")[0])
        raise InputError(
            "the workbook cannot be read", where=title, given=message
        ) from error
    named = [name for name in names if name is not None]
    refuse_copies(
        named,
        f"{title}, row 1",
        ", ".join(named),
        lambda name: name in columns or is_known(name),
    )
    copies = _copies(named)
    frame = frame.rename(
        {name: copies[name] for name in copies.keys() & {*frame.columns} - {*named}}
    )
    notes = []
    if sheets:
        notes.append(f"sheet {sheet!r} (not {', '.join(map(repr, sheets))})")
    if beyond := len(top[0]) - len(names):
        notes.append(f"{counted(beyond, 'column')} without a name beside the table")
    frame = frame.rename(clean_names(frame.columns, columns))
    return title, frame.lazy(), tuple(notes)


def numbers_of_workbook(
    frame: pl.LazyFrame, title: str, columns: Columns
) -> tuple[pl.LazyFrame, dict[str, InputError], tuple[str, ...]]:
    """Return a sheet, called ``title`` in messages, in which our numbers that stand as texts are numbers.

    Returns
    -------
    tuple
        The rows; the errors of columns in which a text is no number; notes on what was detected.
    """

    def place(row: int) -> str:
        return f"{title}, row {row + FIRST_ROW}"

    errors = dict[str, InputError]()
    notes = dict[str, None]()
    for name, dtype in frame.collect_schema().items():
        ours = columns.get(name, name)
        if dtype != pl.String or ours not in CANONICAL or is_text(ours):
            continue
        # the reader of a comma alone does not know whether it marks thousands
        decimals = Decimals(CsvOptions.of(columns).decimal, separator="\t")
        decimals.start()
        if isinstance(columns, Renames):
            columns.csv_files.append(title)  # its settings were used
        try:
            texts = frame.select(name).collect().to_series()
            cells, both = with_both_marks(texts, decimals.given, place)
            if both:
                decimals.mark = "."
            numbers = decimals.read(cells.to_frame(), place)
        except InputError as error:
            errors[ours] = error
            continue
        frame = frame.with_columns(numbers.to_series())
        notes |= dict.fromkeys((*decimals.notes(), *both))
    return frame, errors, tuple(notes)


def _top(source: Path | bytes, title: str, number: int) -> list[tuple[Any, ...]]:
    """Return the first rows of a sheet."""
    if number:
        check_workbook(source, title, number)
    return pl.read_excel(
        source,
        sheet_id=number + 1,
        has_header=False,
        infer_schema_length=0,
        raise_if_empty=False,
        read_options={"n_rows": TOP},
    ).rows()


def _fits(top: Sequence[Sequence[str | None]], columns: Columns) -> bool:
    """Return whether a header has grades where judgments are read, and what orders a run."""
    numbers, _ = sides_of(columns)
    names = [columns.get(name, name) for name in chain(*top[:1]) if name]
    return not numbers or any(is_common_name(name, numbers) for name in names)


def escaped(cell: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return a cell, with an apostrophe in front of a text that a spreadsheet would compute.

    >>> escaped("=1+1"), escaped("bm25"), escaped(-0.5)
    ("'=1+1", 'bm25', -0.5)
    """
    if isinstance(cell, str) and re.match(_FORMULA, cell):
        return f"'{cell}"
    return cell


def without_formulas(rows: pl.LazyFrame, formulas: str) -> pl.LazyFrame:
    """Return rows with ``formulas`` kept (``keep``), or escaped in texts and headers (``escape``).

    >>> rows = pl.LazyFrame({"run": ["@sum", "bm25"], "value": [-1.0, 1.0]})
    >>> without_formulas(rows, "escape").collect().rows()
    [("'@sum", -1.0), ('bm25', 1.0)]
    """
    one_of("formulas", formulas, FORMULAS)
    if formulas == "keep":
        return rows
    schema: Mapping[str, pl.DataType] = rows.collect_schema()
    texts = {
        name: pl.col(name).cast(pl.String)
        for name, kind in schema.items()
        if _is_text(kind)
    }
    apostrophe = pl.lit("'")
    cells = {
        name: pl.when(text.str.contains(_FORMULA))
        .then(apostrophe + text)
        .otherwise(text)
        for name, text in texts.items()
    }
    return rows.with_columns(**cells).rename(escaped)


def _is_text(kind: pl.DataType) -> bool:
    return isinstance(kind, (pl.String, pl.Categorical, pl.Enum))
