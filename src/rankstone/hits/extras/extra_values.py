"""What extras add to hits, and how it follows the hits when these are chosen, cut or joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Bools, Ints, Names
    from rankstone.hits.alignment_options import AlignmentOptions

Value = TypeVar("Value")


class Key(Generic[Value]):
    """The base class of extras, whose classes are the keys of what they add to hits."""

    #: True if a measure that asks for it also measures queries declared to have no answer
    counts_unanswerable: ClassVar[bool] = False
    #: True if it knows ranks below the last hit, so that no budget can cut what a measure reads
    looks_deeper: ClassVar[bool] = False
    #: columns of the judgments that it reads besides the grade
    judgment_columns: ClassVar[Names] = ()
    #: columns of the run that it needs
    run_columns: ClassVar[Names] = ()
    #: what it needs of judgments, runs and further tables, by a file and class in ``evaluation.side_inputs``
    side_input: ClassVar[str] = ""
    #: True if it reads columns of the run besides ids, scores and ranks
    reads_run_columns: ClassVar[bool] = False
    #: True if several rows of a list may share one judgment
    shares_judgments: ClassVar[bool] = False
    #: False if measures that ask for it need not gain from better grades at the top
    grades_decide: ClassVar[bool] = True
    #: True if it reads all judged documents, also those outside the list
    reads_pool: ClassVar[bool] = False

    @classmethod
    def refuse(cls, options: AlignmentOptions, measures: Sequence[Any]) -> None:
        """Refuse options, and measures beside it, that have no meaning for it."""


class HitValue:
    """What an extra adds to hits."""

    def taken(self, hits: Ints, queries: Ints | None = None) -> Self | None:  # noqa: ARG002
        """Return the same for some of the hits, of all queries or of some.

        ``None`` where it is not known for these queries.
        """
        return self if queries is None else None

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self | None:  # noqa: ARG003 - the interface
        """Return the same for the queries of several parts, ``None`` where these cannot be joined."""
        return None

    def not_counted(self, kinds: frozenset[type[Key[Any]]]) -> Bools | None:  # noqa: ARG002
        """Return the queries that measures which ask for these extras leave out, ``None`` for none."""
        return None


class Arrays(HitValue):
    """Arrays with one value for each hit, or for each query, and what all hits have in common."""

    def __init__(self, **columns: Any) -> None:  # noqa: ANN401 - arrays, or anything in common
        vars(self).update(columns)

    def per_query(self, column: str) -> bool:  # noqa: ARG002 - the interface
        """Return True if a column has one value for each query."""
        return False

    def taken(self, hits: Ints, queries: Ints | None = None) -> Self:
        """Return the same for some of the hits, of all queries or of some."""
        wanted = slice(None) if queries is None else queries
        return self.with_arrays(
            lambda name: vars(self)[name][wanted if self.per_query(name) else hits]
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the values."""
        return parts[0].with_arrays(
            lambda name: np.concatenate([vars(part)[name] for part in parts])
        )

    def with_arrays(self, array: Callable[[str], object]) -> Self:
        """Return the same with other arrays, by the names of columns."""
        columns = vars(self).copy()
        for name, values in columns.items():
            if isinstance(values, np.ndarray):
                columns[name] = array(name)
        return type(self)(**columns)


class QueryArrays(Arrays):
    """Arrays with one value for each query."""

    def per_query(self, column: str) -> bool:  # noqa: ARG002 - all of them
        """Return True."""
        return True
