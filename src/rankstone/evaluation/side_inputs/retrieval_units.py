"""What is known of documents besides their ids: the document of a chunk, and equal documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadOption, MissingColumn, printable
from rankstone.evaluation.request import check
from rankstone.evaluation.side_inputs.side_input import SideInput, recorded_source
from rankstone.hits.extras.units import RetrievalUnits
from rankstone.hits.judgments import merge_duplicates
from rankstone.io import read_attributes

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import Preparation, SideRequest
    from rankstone.hits.judgments import Judgments
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table

    #: turns ids into others
    Mapped = Callable[[pl.Series], pl.Series]


#: between a document and the number of its chunk, unless another separator is given
_SEPARATOR: Final = "#"
_EXPECTED: Final = (
    "document (text before the last #), a separator such as ::, a regular expression whose first group is "
    "the document, a column of the table of documents, or in Python {chunk: document}"
)


class UnitTables(Record, SideInput):
    """Turns ids into those of units.

    Attributes
    ----------
    units
        Turns one id into the other.
    recorded
        The options as given: ``unit``, and the file of ``same_as``.
    sources
        The source of ``same_as``.
    """

    units: RetrievalUnits
    recorded: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    turn = 1

    @classmethod
    def of(cls, request: SideRequest) -> Self | None:
        """Read which ids are of one unit; ``None`` where each is a unit of its own."""
        unit, same_as = request.unit, request.same_as
        if unit in (None, "chunk") and same_as is None:
            return None
        options = {}
        sources = {}
        document = same = None
        if unit not in (None, "chunk"):
            document = document_of(unit, request.documents)
            options["unit"] = printable(unit, 60)
            if isinstance(unit, Mapping):
                options["unit"] = counted(len(unit), "id")
        if same_as is not None:
            # later copies keep their rank
            copies = replace(request.options, duplicates="first_keep_rank")
            check(copies, request.measures)
            table = read_attributes(same_as, "doc_id", request.columns)
            same = _same(table)
            options["same_as"] = recorded_source(table.source)
            sources["same_as"] = table.source
        return cls(RetrievalUnits(document, same), options, sources)

    def extended(self, table: Table) -> Table:
        """Return a table with ids of text."""
        return table.with_text_ids("doc_id")

    def unit_ids(self, ids: pl.Series) -> pl.Series:
        """Return the units of ids."""
        return self.units.units(ids)

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Give each unit the best grade of its chunks and copies.

        An id that is judged twice is refused all the same, unless the options merge it.
        """
        frame = rows.frame
        options = rows.options
        if options.duplicate_judgments == "error":
            names = ("query_id", "doc_id", "subtopic", "subgroup")
            key = [name for name in names if name in frame.columns]
            twice = frame.select(key).is_duplicated().arg_true().to_numpy()
            merge_duplicates(frame, twice, options, rows.locate)
            options = replace(options, duplicate_judgments="max")
        ids = self.unit_ids(frame["doc_id"].cast(pl.String))
        rows = replace(rows, frame=frame.with_columns(doc_id=ids), options=options)
        return rest(rows).with_extras(self.units)


def document_of(unit: object, documents: Attributes | None) -> Mapped:
    """Return a function from ids of chunks to those of their documents, as ``unit`` says."""
    if isinstance(unit, Mapping):
        chunks = pl.Series(map(str, unit))
        return _replaced(chunks, pl.Series(map(str, unit.values())))

    if not isinstance(unit, str) or not unit:
        raise BadOption(
            f"unit={printable(repr(unit), 60)} is not a unit", expected=_EXPECTED
        )
    if documents is not None and unit in documents.columns:
        table = documents.collect(unit)
        return _replaced(table["doc_id"], table[unit].cast(pl.String))
    if unit == "document":
        return _before_last(_SEPARATOR)
    if "(" not in unit and not any(map(str.isalnum, unit)):
        return _before_last(unit)
    try:
        groups = re.compile(unit).groups
    except re.error as error:
        raise BadOption(
            f"unit={printable(unit)!r} is not a regular expression",
            given=str(error),
            expected=_EXPECTED,
        ) from None
    if groups < 1:
        columns = "there is none"
        if documents is not None:
            columns = ", ".join(map(printable, documents.columns))
        raise BadOption(
            f"unit={printable(unit)!r} is not a unit",
            given=f"columns of the table of documents: {columns}",
            expected=_EXPECTED,
        )
    return first_group(unit)


def _before_last(separator: str) -> Mapped:
    """Return a function from ids to their text before the last separator."""
    pattern = f"(?s)^(.*){re.escape(separator)}"

    def before(ids: pl.Series) -> pl.Series:
        parts = ids.str.splitn(separator, 2).struct.unnest()
        has_another = parts["field_1"].str.contains(separator, literal=True)
        if has_another.any():
            return first_group(pattern)(ids)
        # the first separator is the last one, which is faster than a regular expression
        return parts["field_0"].alias(ids.name)

    return before


def first_group(pattern: str) -> Mapped:
    """Return a function from ids to a pattern's first group; ids that do not match stay."""

    def extracted(ids: pl.Series) -> pl.Series:
        return ids.str.extract(pattern, 1).fill_null(ids)

    return extracted


def _replaced(old: pl.Series, new: pl.Series) -> Mapped:
    """Return a function that replaces ids; ids without a new one stay."""
    differ = (old != new).fill_null(value=False)
    old = old.filter(differ)
    new = new.filter(differ)
    return lambda ids: ids.replace(old, new)


def _same(table: Attributes) -> Mapped:
    """Return a function from ids to the first id of their class.

    The classes are those of a column ``class``, or documents whose ``text`` is equal up to case, white space
    and Unicode's compatibility forms.
    """
    names = [name for name in ("class", "group", "text") if name in table.columns]
    if not names and len(table.columns) != 1:
        raise MissingColumn.of(
            "same_as needs a column class or text", "class", table.columns, table.source
        )
    by = [*names, *table.columns][0]
    value = pl.col(by).cast(pl.String)
    if by == "text":
        folded = value.str.normalize("NFKC").str.to_lowercase()
        spaced = folded.str.replace_all(r"\s+", " ").str.strip_chars()
        value = spaced.replace("", None)
    frame = table.collect(by).with_columns(value)

    # documents without a class stay by themselves
    first = pl.col("doc_id").first().over(by)
    is_alone = pl.col(by).is_null()
    ids = pl.when(is_alone).then("doc_id").otherwise(first)
    first_ids = frame.select(ids)["doc_id"]
    return _replaced(frame["doc_id"], first_ids)
