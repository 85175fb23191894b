"""A table from anywhere, with our column names, as a stream that can be started again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadValue, InputError, RankstoneError, printable
from rankstone.io.columns import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io.column_suggestions import Kind


#: the query of a table whose rows are all in one list
EVERYTHING: Final = "all"
#: rows of one piece of a stream: large enough that a call per piece costs nothing, small enough to
#: keep many pieces in memory
ROWS: Final = 1 << 18

Locate = Callable[[int], str]
Start = Callable[[Sequence[pl.Expr]], Iterator[pl.DataFrame]]
#: called with the number of rows each piece of work has taken in
Progress = Callable[[int], None]


def _unknown() -> None:
    """Say that nothing is known."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with canonical column names.

    Attributes
    ----------
    source
        What to call the table in a message: a path, or what kind of object it was.
    schema
        Canonical columns and their types; ids are ``String`` or ``Int64``.
    start
        Starts the stream anew with the columns asked for.
    where
        Says where a row stands: ``runs/bm25.txt:17``.
    untyped
        Whether ids are bare text (a text file, wide numbers), so that ``7`` may be a number elsewhere.
    listed
        Whether the rows have no scores and their order is the ranking.
    comments
        Counts the comment lines that were passed over, once the stream has been read.
    present
        All column names of the source, for messages.
    empty
        Says which queries' lists are there and empty, where a source can.
    unusable
        Columns of a kind that cannot be read, and what to say when one is asked for.
    extent
        Says about how many rows there are, where that is known without reading them.
    read_as
        Says, once the stream has been read, what was guessed of how the source is written.
    kinds
        Says what the source's columns hold, for messages.
    """

    source: str
    schema: Mapping[str, pl.DataType]
    start: Start
    where: Locate
    untyped: bool = False
    listed: bool = False
    comments: Callable[[], int] = int
    present: tuple[str, ...] = ()
    empty: Callable[[], pl.Series | None] = _unknown
    unusable: Mapping[str, InputError] = field(default_factory=dict)
    extent: Callable[[], int | None] = _unknown
    read_as: Callable[[], tuple[str, ...]] = tuple
    kinds: Callable[[], Mapping[str, Kind | None]] = dict

    @property
    def columns(self) -> frozenset[str]:
        """The canonical columns there are."""
        return frozenset(self.schema)

    @property
    def unanswered(self) -> pl.Series | None:
        """Ids of queries whose lists are there and empty; ``None`` where there are none."""
        return self.empty()

    def tables(self, columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Start the stream anew; each piece has the given columns."""
        with reading(self.source):
            yield from self.start(columns)

    def locate(self, row: int) -> str:
        """Say where a row stands; -1 is the table as a whole."""
        return self.source if row < 0 else self.where(row)

    def collect(self, *columns: str) -> pl.DataFrame:
        """Read the whole table."""
        pieces = list(self.tables([pl.col(name) for name in columns or self.schema]))
        if pieces:
            return pl.concat(pieces, rechunk=True)
        return pl.DataFrame(schema={name: self.schema[name] for name in columns or self.schema})

    def without_empty(self) -> Table:
        """Return the table, which says nothing of lists that are there and empty."""
        return replace(self, empty=_unknown)

    def in_memory(self) -> Table:
        """Return the table, read once and kept, for whoever starts it again and again."""
        frame = self.collect()

        def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            yield from (piece.select(wanted) for piece in frame.iter_slices(ROWS))

        count, told = self.comments(), self.read_as()
        return replace(self, start=again, comments=lambda: count, read_as=lambda: told)

    def remembering(self) -> Table:
        """Return the table, which keeps what its first reader reads and hands it to the next ones."""
        kept: list[pl.DataFrame] = []
        read = False
        start, columns = self.start, [pl.col(name) for name in self.schema]

        def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            nonlocal read
            if read:
                yield from (piece.select(wanted) for piece in kept)
                return
            kept.clear()  # whoever began before did not come to the end
            for piece in start(columns):
                kept.append(piece)
                yield piece.select(wanted)
            read = True

        return replace(self, start=again)

    def only(self, keep: pl.Expr) -> Table:
        """Return the rows for which an expression over ``query_id`` is true.

        Where the source is laid out by query, Parquet with its ids in order say, the rest is not even read.
        """
        start, names = self.start, [pl.col(name) for name in self.schema]

        def sieved(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start(names):
                yield piece.filter(keep).select(wanted)

        def empty() -> pl.Series | None:
            none = self.unanswered
            return none if none is None else none.to_frame("query_id").filter(keep)["query_id"]

        among = getattr(start, "among", None)  # of a start that need not read what nobody wants
        some = sieved if among is None else among(keep)
        return replace(self, start=some, where=self._where_kept(keep), empty=empty, extent=_unknown)

    def _where_kept(self, keep: pl.Expr) -> Locate:
        """Say where a row of those kept stands, by counting them; this is for messages."""

        def place(row: int) -> str:
            before = 0
            for piece in self.start([pl.col("query_id")]):
                kept = piece.select(keep.alias("kept"))["kept"].arg_true()
                if row < len(kept):
                    return self.where(before + int(kept[row]))
                row -= len(kept)
                before += piece.height
            return self.source

        return place

    def ordered_by(self, order: str) -> str:
        """Return what gives the order of lists: what is asked for, or the only order that there is.

        Plain lists of documents are their own order, and where there are ranks and no scores, the ranks are.
        """
        if self.listed:
            return "input"
        alone = order == "score" and "rank" in self.schema and "score" not in {*self.schema, *self.unusable}
        return "rank" if alone else order

    def requires(self, *columns: str, given: Mapping[str, str] | None = None) -> Table:
        """Return the table, once it is sure to have these columns; ``given`` are the names somebody said."""
        for name in columns:
            if name in self.unusable:
                raise self.unusable[name]
        names = self.present or tuple(self.schema)
        require(self.schema, columns, self.source, names, self.kinds, given)
        return self

    def whole(self) -> Table:
        """Return the table, which refuses a row without a value in a column that is read."""
        start = self.start

        def checked(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            row = 0
            for piece in start(columns):
                for column in piece.iter_columns():
                    if column.null_count():
                        at = row + (column.is_null().arg_max() or 0)
                        raise BadValue(
                            f"a row without {column.name}",
                            where=self.locate(at),
                            expected="a value in every row",
                            fix="repair or remove the row",
                        )
                row += piece.height
                yield piece

        return replace(self, start=checked)

    def watched(self, progress: Progress | None) -> Table:
        """Return the table, telling ``progress`` of every piece read.

        A progress that wants to know more has a method ``stream``: entered for every start of the stream,
        with a way to say about how many rows there are, it returns who is told of this one's pieces.
        """
        if progress is None:
            return self
        start = self.start
        stream = getattr(progress, "stream", lambda _extent: nullcontext(progress))

        def counted(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            with stream(self.extent) as tell:
                for piece in start(columns):
                    tell(piece.height)
                    yield piece

        return replace(self, start=counted)

    def in_one_list(self) -> Table:
        """Return the table with all rows in one list, and without document ids, which may stand in many."""
        start, kept = self.start, [name for name in self.schema if name not in ("query_id", "doc_id")]

        def together(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start([pl.col(name) for name in kept]):
                yield piece.with_columns(query_id=pl.lit(EVERYTHING)).select(wanted)

        schema = {"query_id": pl.String(), **{name: self.schema[name] for name in kept}}
        return replace(self, schema=schema, start=together)

    def pairs_in_one_list(self, of: pl.Series | None = None) -> Table:
        """Return the table with all rows in one list, where a document of two queries is two documents.

        Parameters
        ----------
        of
            The queries whose rows stay; ``None`` for all.
        """
        start, pair = self.start, pl.format("{}\t{}", "query_id", "doc_id")

        def together(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start([pl.col(name) for name in self.schema]):
                some = piece if of is None else piece.filter(pl.col("query_id").is_in(of.implode()))
                yield some.with_columns(query_id=pl.lit(EVERYTHING), doc_id=pair).select(wanted)

        schema = {**self.schema, "query_id": pl.String(), "doc_id": pl.String()}
        return replace(self, schema=schema, start=together, empty=_unknown)

    def with_number(self, name: str, number: float) -> Table:
        """Return the table with a column that holds the same number in every row."""
        start, own, same = self.start, [pl.col(n) for n in self.schema], pl.lit(number).alias(name)

        def numbered(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start(own):
                yield piece.with_columns(same).select(wanted)

        return replace(self, schema={**self.schema, name: pl.Float64()}, start=numbered)

    def with_text_ids(self, *columns: str) -> Table:
        """Return the table with whole-number ids written out as decimal text."""
        numbers = [c for c in columns if c in self.schema and self.schema[c] != pl.String]
        if not numbers:
            return self
        start = self.start

        def as_text(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start([pl.col(name) for name in self.schema]):
                yield piece.with_columns(pl.col(numbers).cast(pl.String)).select(wanted)

        schema = {n: pl.String() if n in numbers else t for n, t in self.schema.items()}

        def empty() -> pl.Series | None:
            none = self.unanswered
            return none.cast(pl.String) if none is not None and "query_id" in numbers else none

        return replace(self, schema=schema, start=as_text, empty=empty)


def roots_of(columns: Sequence[pl.Expr]) -> dict[str, None]:
    """Return the names that expressions read, in their order."""
    return {name: None for expression in columns for name in expression.meta.root_names()}


class reading:  # noqa: N801 - reads as a word: with reading(path)
    """Turn what Polars and the system say while reading into an :class:`InputError`."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Translate; errors of our own pass."""
        if error is None or isinstance(error, RankstoneError):
            return
        if isinstance(error, OSError):
            raise InputError(error.strerror or printable(error), where=self._source) from error
        if isinstance(error, (pl.exceptions.PolarsError, pl.exceptions.PanicException)):
            if isinstance(error, pl.exceptions.PanicException):  # whose words are about Polars' code
                raise InputError(
                    "the file is damaged: it cannot be read", where=self._source, fix="copy or write it again"
                ) from error
            said = printable(str(error).strip().splitlines()[0])
            whole = "is it whole, and what its suffix says? --format-in names another format"
            utf8 = "text must be UTF-8: save it so in an editor, or iconv -f windows-1252 -t utf-8 FILE > NEW"
            raise InputError(
                "the file cannot be read",
                where=self._source,
                given=said,
                fix=utf8 if re.search("^(?!parquet).*utf-?8", said, re.IGNORECASE) else whole,
            ) from error
