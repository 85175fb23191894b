"""The interface of extras: the points of alignment at which they may do something.

An extra reads columns of the run, changes a batch before or after its lists are sorted, grades rows, and adds
a value to the hits.  All of this is done for whole batches.  What an extra does not need it leaves as it is
here; the plain road goes past these points without stopping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from rankstone._basics import Record
from rankstone.hits.extras.extra_values import Key, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from rankstone._basics import Bools, Ints, Locate, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Batch, Piece
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.matched_batch import MatchedBatch
    from rankstone.hits.tallies import Tally


class Request(Record):
    """What is asked of alignment.

    Attributes
    ----------
    measures
        The measures and curves to compute.
    options
        The alignment options.
    columns
        The columns of the run.
    queries
        The query table, where there is one.
    """

    measures: Sequence[Any]
    options: AlignmentOptions
    columns: frozenset[str]
    queries: QueryTable | None = None


class Extra(Key[Value]):
    """Something that only some measures or options need."""

    #: extras with a lower number come first
    turn: ClassVar[int] = 9
    #: True if the order of all rows matters, not only that of judged ones
    orders_all_rows: ClassVar[bool] = False

    @classmethod
    def of(cls, request: Request) -> Iterable[Self]:  # noqa: ARG003 - the interface
        """Return what serves a request, nothing if there is nothing to do."""
        return (cls(),)

    @property
    def key(self) -> Any:  # noqa: ANN401 - anything that can be a key
        """What its value is found by in the extras of hits, by default its class."""
        return type(self)

    def judgment_counts(self) -> dict[str, int]:
        """Return what it counts in judgments that it comes with, by the names of their audit."""
        return {}

    def need_no_list(self) -> Bools | None:
        """Return which judged queries need no list, bool ``[judged queries]``; ``None``: all need one."""
        return None

    def audit(self, tallies: Sequence[Tally]) -> NamedValues:  # noqa: ARG002 - the interface
        """Return what it adds to the audit of a run."""
        return {}

    def columns(self, known: frozenset[str]) -> Mapping[str, pl.Expr]:  # noqa: ARG002 - the interface
        """Return the columns of a batch that it reads, made of the known columns of the run."""
        return {}

    def check(self, piece: Piece, locate: Locate) -> None:
        """Refuse what is wrong in the columns that it reads."""

    def before_sort(self, work: MatchedBatch) -> None:
        """Change a batch before its lists are sorted."""

    def after_sort(self, work: MatchedBatch) -> None:
        """Change a batch whose lists are sorted."""

    def copies(self, batch: Batch) -> Ints | None:  # noqa: ARG002 - the interface
        """Return the rows of a sorted batch whose document is in its list more than once.

        ``None`` for those with equal ids.
        """
        return None

    def forgives_copies(self, work: MatchedBatch) -> bool:  # noqa: ARG002 - the interface
        """Return True if the copies in a batch are no mistake: they keep their rank and earn nothing."""
        return False

    def grade(self, work: MatchedBatch) -> None:
        """Change which rows have a grade, and which grade."""

    def rows(self, work: MatchedBatch) -> Ints | None:  # noqa: ARG002 - the interface
        """Return further rows whose ranks it needs, ascending."""
        return None

    def attach(self, work: MatchedBatch) -> Value | None:  # noqa: ARG002 - the interface
        """Return what it adds to the hits of a batch; for queries without a list the batch has no rows."""
        return None

    def count(self, work: MatchedBatch, hits: Hits) -> NamedValues:  # noqa: ARG002 - the interface
        """Return what it adds to the tally of a batch."""
        return {}
