"""The interface of side inputs: the points of a request at which they may do something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from rankstone._basics import Record
from rankstone.errors import printable
from rankstone.hits.alignment_options import AlignmentOptions

if TYPE_CHECKING:
    import polars as pl

    from rankstone._basics import Columns, NamedValues, Names
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.hits.judgments import Judgments
    from rankstone.io.attributes import Attributes
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures

#: prepares rows of judgments
Preparation = Callable[["JudgedRows"], "Judgments"]


class SideRequest(Record):
    """What is requested of side inputs.

    Attributes
    ----------
    measures, options
        The measures to compute, and the alignment options.
    columns
        {their name: our name}.
    documents
        The table of documents, ``None`` where there is none.
    exclude, unit, same_as, corpus
        As for :func:`rankstone.evaluate`.
    """

    measures: Measures
    options: AlignmentOptions = AlignmentOptions()
    columns: Columns = field(default_factory=dict)
    documents: Attributes | None = None
    exclude: object = None
    unit: object = None
    same_as: object = None
    corpus: object = None


class RunScorer(Protocol):
    """Judgments that score runs."""

    @property
    def measures(self) -> Measures:
        """The measures that are computed."""

    @property
    def recorded(self) -> dict[str, str]:
        """The options that results record, the split among them."""

    def relevant_rows(self, *, all_splits: bool = False) -> pl.DataFrame:
        """Return the judgments above zero, also of other splits where they are wanted."""

    def unit_ids(self, ids: pl.Series) -> pl.Series:
        """Return the ids of hits, given those of rows of a run."""

    def means_without(
        self, side_input: SideInput, run: pl.DataFrame, measures: Measures
    ) -> pl.DataFrame:
        """Return the means of a run without a side input."""


def recorded_source(source: str) -> str:
    """Return a source as an option that results record: a file by its name, wherever it is.

    >>> recorded_source("data/seen.parquet")
    'seen.parquet'
    """
    return printable(source.replace("\\", "/").rpartition("/")[2], 60)


class SideInput:
    """Something that only some requests need; what it does not change it leaves as it is here."""

    #: side inputs with a lower number see tables first, and judgments last
    turn: ClassVar[int] = 0
    #: columns of the judgments that it reads where they are there
    judgment_columns: Names = ()
    #: its options, as results record them
    recorded: Mapping[str, str] = MappingProxyType({})
    #: the sources of its tables, by the options that name them
    sources: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def of(cls, request: SideRequest) -> Self | None:  # noqa: ARG003 - the interface
        """Open what a request needs of it, ``None`` if there is nothing to do."""
        return cls()

    def extended(self, table: Table) -> Table:
        """Return an opened table, of judgments or of a run, with what it knows of their documents."""
        return table

    def for_measure(self, measure: Measure, judged: Table | None = None) -> Measure:  # noqa: ARG002 - the interface
        """Return the measure as it can be computed, or refuse it; ``None`` for the labels of a run."""
        return measure

    def of_run(self, run: Table) -> Table:
        """Return a run, extended and not yet seen, as its rows are matched with judgments."""
        return run

    def check_run(self, run: Table, measures: Measures) -> None:
        """Refuse a run without the columns that measures need."""

    def unit_ids(self, ids: pl.Series) -> pl.Series:
        """Return the ids of hits, given those of rows of the run."""
        return ids

    def judgments_audit(self, scorer: RunScorer) -> NamedValues:  # noqa: ARG002 - the interface
        """Return what it adds to the audit of the judgments, and ``warnings``."""
        return {}

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Prepare judgments by ``rest``, with other rows before it, or with more behind it."""
        return rest(rows)
