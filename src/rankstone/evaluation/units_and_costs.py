"""What is known of documents besides their ids: the document of a chunk, equal documents, and costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import polars as pl

from rankstone._basics import counted
from rankstone.errors import BadOption, BadParameter, MissingColumn, printable
from rankstone.hits.budgets import REPEATED
from rankstone.hits.judgments import merge_duplicates
from rankstone.io import read_attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Locate
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.units import RetrievalUnits
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure

    #: turns ids into others
    Mapped = Callable[[pl.Series], pl.Series]


#: between a document and the number of its chunk, unless another separator is given
_SEPARATOR: Final = "#"
_EXPECTED: Final = (
    "document (text before the last #), a separator such as ::, a regular expression whose first group is "
    "the document, a column of the table of documents, or in Python {chunk: document}"
)


def units_of(
    unit: object,
    same_as: object = None,
    documents: Attributes | None = None,
    columns: Mapping[str, str] | None = None,
    *,
    spans: bool = False,
) -> RetrievalUnits | None:
    """Return what turns ids into those of units; ``None`` where each id is a unit of its own.

    Parameters
    ----------
    unit, same_as, columns
        As for :func:`rankstone.evaluate`.
    documents
        The table of documents.
    spans
        True for judgments of spans, whose documents are looked up for every chunk.
    """
    if spans:
        return _of_chunks(unit, same_as, documents)
    if unit in (None, "chunk") and same_as is None:
        return None
    from rankstone.hits.extras.units import RetrievalUnits

    options = {}
    document = same = None
    if unit not in (None, "chunk"):
        document = _document_of(unit, documents)
        options["unit"] = (
            f"{counted(len(unit), 'id')}"
            if isinstance(unit, Mapping)
            else printable(unit, 60)
        )
    if same_as is not None:
        table = read_attributes(same_as, "doc_id", columns)
        same = _same(table)
        options["same_as"] = printable(table.source, 60)
    return RetrievalUnits(document, same, options)


def _of_chunks(
    unit: object, same_as: object, documents: Attributes | None
) -> RetrievalUnits:
    """Return what turns ids of chunks into those of documents; ids with offsets where none are given."""
    from rankstone.hits.extras.units import RetrievalUnits

    if same_as is not None:
        raise BadOption(
            "same_as is about whole documents, but these measures are about spans of text"
        )
    if (
        unit in (None, "chunk")
        and documents is not None
        and "document" in documents.columns
    ):
        unit = "document"
    if unit in (None, "chunk"):
        return RetrievalUnits(_first_group(r"(?s)^(.*)\[[^\[\]]*\]$"))
    return RetrievalUnits(
        _document_of(unit, documents), None, {"unit": printable(unit, 60)}
    )


def _document_of(unit: object, documents: Attributes | None) -> Mapped:
    if isinstance(unit, Mapping):
        return _replaced(pl.Series(map(str, unit)), pl.Series(map(str, unit.values())))
    if not isinstance(unit, str) or not unit:
        raise BadOption(
            f"unit={printable(repr(unit), 60)} is not a unit", expected=_EXPECTED
        )
    if documents is not None and unit in documents.columns:
        table = documents.collect(unit)
        return _replaced(table["doc_id"], table[unit].cast(pl.String))
    if unit == "document" or not (any(map(str.isalnum, unit)) or "(" in unit):
        return _before_last(_SEPARATOR if unit == "document" else unit)
    try:
        groups = re.compile(unit).groups
    except re.error as error:
        raise BadOption(
            f"unit={printable(unit)!r} is not a regular expression",
            given=str(error),
            expected=_EXPECTED,
        ) from None
    if groups < 1:
        columns = (
            "there is none"
            if documents is None
            else ", ".join(map(printable, documents.columns))
        )
        raise BadOption(
            f"unit={printable(unit)!r} is not a unit",
            given=f"columns of the table of documents: {columns}",
            expected=_EXPECTED,
        )
    return _first_group(unit)


def _before_last(separator: str) -> Mapped:
    """Return a function from ids to their text before the last separator."""
    pattern = f"(?s)^(.*){re.escape(separator)}"

    def before(ids: pl.Series) -> pl.Series:
        parts = ids.str.splitn(separator, 2).struct.unnest()
        again = (
            parts["field_1"]
            .str.contains(separator, literal=True)
            .fill_null(value=False)
        )
        if (
            not again.any()
        ):  # then the first one is the last, which is faster than a regular expression
            return parts["field_0"].alias(ids.name)
        return _first_group(pattern)(ids)

    return before


def _first_group(pattern: str) -> Mapped:
    """Return a function from ids to a pattern's first group; ids that do not match stay."""

    def extracted(ids: pl.Series) -> pl.Series:
        found = ids.str.extract(pattern, 1)
        return found.zip_with(found.is_not_null(), ids) if found.null_count() else found

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
    known = [
        name for name in ("class", "group", "text") if name in table.columns
    ] or table.columns
    by = known[0] if known else ""
    if by not in ("class", "group", "text") and len(known) != 1:
        raise MissingColumn.of(
            "same_as needs a column class or text", "class", table.columns, table.source
        )
    value = pl.col(by).cast(pl.String)
    if by == "text":
        spaced = (
            value.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"\s+", " ")
        )
        value = spaced.str.strip_chars().replace("", None)
    frame = table.collect(by).with_columns(value)
    first = pl.col("doc_id").first().over(by)
    return _replaced(
        frame["doc_id"],
        frame.select(pl.when(pl.col(by).is_null()).then("doc_id").otherwise(first))[
            "doc_id"
        ],
    )


def judged_units(
    frame: pl.DataFrame,
    units: RetrievalUnits | None,
    options: AlignmentOptions,
    locate: Locate,
) -> tuple[pl.DataFrame, AlignmentOptions]:
    """Return judgments of units, and options that give each the best grade of its chunks and copies.

    An id that is judged twice is refused all the same, unless the options merge it.
    """
    if units is None:
        return frame, options
    if options.duplicate_judgments == "error":
        key = [
            name
            for name in ("query_id", "doc_id", "subtopic", "subgroup")
            if name in frame.columns
        ]
        merge_duplicates(
            frame,
            frame.select(key).is_duplicated().arg_true().to_numpy(),
            options,
            locate,
        )
        options = replace(options, duplicate_judgments="max")
    return frame.with_columns(
        doc_id=units.units(frame["doc_id"].cast(pl.String))
    ), options


def with_costs(
    table: Table, names: Sequence[str], documents: Attributes | None
) -> Table:
    """Return the table with those costs that it lacks and the table of documents has.

    Where there is no column ``characters``, it is the length of ``text``.
    """
    if documents is None:
        return table
    lacking = [name for name in names if name not in table.columns]
    wanted = [name for name in lacking if name in documents.columns]
    of_text = "characters" in {*lacking} - {*wanted} and "text" in documents.columns
    if not wanted and not of_text:
        return table
    known = documents.numbers(*wanted)
    numbers = {name: known[name].fill_null(0.0).to_numpy() for name in wanted}
    from rankstone.hits.extras.row_costs import check_costs

    check_costs(numbers, documents.locate)
    if of_text:
        text = documents.collect("text")["text"].cast(pl.String)
        known = known.with_columns(characters=text.str.len_chars().cast(pl.Float64))

    def joined(piece: pl.DataFrame) -> pl.DataFrame:
        doc = pl.col("doc_id").cast(pl.String)
        return piece.join(
            known, left_on=doc, right_on="doc_id", how="left", maintain_order="left"
        )

    schema = {**table.schema, **dict.fromkeys(known.columns[1:], pl.Float64())}
    return table.mapped(joined, schema=schema)


def require_costs(measures: Sequence[Measure], run: Table) -> None:
    """Refuse measures whose budget is a column that the run does not have."""
    wanted = [(m, budget.column, budget.adds) for m in measures for budget in m.budgets]
    wanted += [
        (m, name.removeprefix(REPEATED), True) for m in measures for name in m.costs
    ]
    for one, column, adds in wanted:
        run.requires(*({column} & run.unusable.keys()))
        if column not in run.columns:
            error = MissingColumn.of(
                f"{one} needs a column {column}",
                column,
                run.present or tuple(run.schema),
                run.source,
            )
            error.expected = "one number for each row of the run"
            if adds:
                error.expected += ", or one for each document in a table of documents (--documents FILE)"
            raise error


def with_known_ideal(measure: Measure, judged: Table, *, costs: bool = True) -> Measure:
    """Return the measure; its ideal list holds all judged documents where their costs are not known.

    Without ``costs`` the table is not searched for any.
    """
    if not measure.budgets:
        return measure
    from rankstone.measures.at_cutoffs import AtK
    from rankstone.measures.dcg import nDCG

    if isinstance(measure, AtK):
        return cast(
            "Measure",
            replace(
                measure, measure=with_known_ideal(measure.measure, judged, costs=costs)
            ),
        )
    budget = measure.budget
    if budget is None or not budget.adds or not measure.ideal_has_costs:
        return measure
    if costs and budget.column in judged.columns:
        pieces = judged.tables([pl.col(budget.column).cast(pl.Float64).fill_nan(None)])
        if not any(piece[budget.column].null_count() for piece in pieces):
            return measure
    if isinstance(measure, nDCG):
        return replace(measure, ideal_depth="all")
    raise BadParameter(
        f"{measure}: the ideal list needs the costs of judged documents",
        where=judged.source,
        expected=f"a column {printable(budget.column)} in the judgments or the table of documents",
        fix=f"use nDCG@{budget}, whose ideal list can also be that of all judged documents",
    )
