"""A table from anywhere, with our column names, as a stream that can be started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import InputError, MixedIds, RankstoneError, printable
from rankstone.io.columns import CANONICAL, hidden, is_text, renames, require

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ROWS", "Progress", "Table", "of_batches", "of_frame", "reading"]

#: the query of a table whose rows are all in one list
EVERYTHING: Final = "all"
#: rows of one piece of a stream: large enough that a call per piece costs nothing, small enough to
#: keep many pieces in memory
ROWS: Final = 1 << 18

#: whole numbers that 64 bits with a sign may not hold; as ids they are the decimal text they are written as
_WIDE: Final = (pl.UInt64, pl.Int128, pl.UInt128)

Locate = Callable[[int], str]
Start = Callable[[Sequence[pl.Expr]], Iterator[pl.DataFrame]]
#: called with the number of rows each piece of work has taken in
Progress = Callable[[int], None]


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
    unanswered
        Ids of queries whose lists are there and empty, where a source can say so.
    unusable
        Columns of a kind that cannot be read, and what to say when one is asked for.
    """

    source: str
    schema: Mapping[str, pl.DataType]
    start: Start
    where: Locate
    untyped: bool = False
    listed: bool = False
    comments: Callable[[], int] = int
    present: tuple[str, ...] = ()
    unanswered: pl.Series | None = None
    unusable: Mapping[str, InputError] = field(default_factory=dict)

    @property
    def columns(self) -> frozenset[str]:
        """The canonical columns there are."""
        return frozenset(self.schema)

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

    def in_memory(self) -> Table:
        """Return the table, read once and kept, for whoever starts it again and again."""
        frame = self.collect()

        def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            yield from (piece.select(wanted) for piece in frame.iter_slices(ROWS))

        count = self.comments()
        return replace(self, start=again, comments=lambda: count)

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

        none = self.unanswered
        empty = none if none is None else none.to_frame("query_id").filter(keep)["query_id"]
        some = start.among(keep) if isinstance(start, _Scan) else sieved
        return replace(self, start=some, where=self._where_kept(keep), unanswered=empty)

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

    def requires(self, *columns: str) -> Table:
        """Return the table, once it is sure to have these columns."""
        for name in columns:
            if name in self.unusable:
                raise self.unusable[name]
        require(self.schema, columns, self.source, self.present or tuple(self.schema))
        return self

    def watched(self, progress: Progress | None) -> Table:
        """Return the table, telling ``progress`` of every piece read."""
        if progress is None:
            return self
        start = self.start

        def counted(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start(columns):
                progress(piece.height)
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
        return replace(self, schema=schema, start=together, unanswered=None)

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
        none = self.unanswered
        empty = none.cast(pl.String) if none is not None and "query_id" in numbers else none
        return replace(self, schema=schema, start=as_text, unanswered=empty)


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
        if isinstance(error, pl.exceptions.PolarsError):
            said = printable(str(error).strip().splitlines()[0])
            whole = "is it whole, and what its suffix says? --format-in names another format"
            utf8 = "text must be UTF-8: iconv -f latin1 -t utf-8 FILE, if it is Latin-1"
            raise InputError(
                "the file cannot be read",
                where=self._source,
                given=said,
                fix=utf8 if "utf8" in said.lower().replace("-", "") else whole,
            ) from error


def of_frame(
    frame: pl.LazyFrame,
    source: str,
    columns: Mapping[str, str],
    *,
    where: Locate | None = None,
    untyped: bool = False,
    further: Sequence[str] = (),
) -> Table:
    """Build a table from a lazy frame whose columns are typed; ``further`` ones come along if there."""
    with reading(source):
        schema = frame.collect_schema()
    chosen = renames(schema.names(), columns, source)
    frame = frame.drop(hidden(schema.names(), chosen)).rename(chosen)
    with reading(source):
        schema = frame.collect_schema()
    kept, unusable = _usable(schema, further, source)
    frame = frame.select(pl.col(name).cast(dtype) for name, dtype in kept.items())
    untyped = untyped or any(_is_wide(schema[name]) for name in kept if is_text(name))

    place = where or (lambda row: f"{source}, row {row + 1}")
    return Table(source, kept, _Scan(frame), place, untyped, present=tuple(schema.names()), unusable=unusable)


@dataclass(frozen=True, eq=False)
class _Scan:
    """Starts a lazy frame anew, perhaps without the rows that nobody wants."""

    frame: pl.LazyFrame

    def __call__(self, wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        return iter(self.frame.select(wanted).collect_batches(chunk_size=ROWS))

    def among(self, keep: pl.Expr) -> Start:
        return _Scan(self.frame.filter(keep))


def of_batches(
    schema: Mapping[str, pl.DataType],
    read: Callable[[Sequence[str]], Iterator[pl.DataFrame]],
    source: str,
    columns: Mapping[str, str],
    *,
    further: Sequence[str] = (),
) -> Table:
    """Build a table from what hands out frames of the columns asked for, anew every time.

    Parameters
    ----------
    schema
        All columns by the source's own names, and their types.
    read
        Starts the rows anew, with at least the columns asked for.
    source
        What to call the table.
    columns
        {their name: our name}.
    further
        Columns wanted beside the usual ones.
    """
    chosen = renames(schema, columns, source)
    absent = hidden(schema, chosen)
    theirs = {chosen.get(name, name): name for name in schema if name not in absent}
    present = {ours: schema[name] for ours, name in theirs.items()}
    kept, unusable = _usable(present, further, source)

    def start(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        roots = {name for expression in wanted for name in expression.meta.root_names()}
        asked = [name for name in kept if name in roots]
        as_ours = [pl.col(theirs[name]).cast(kept[name]).alias(name) for name in asked]
        for piece in read([theirs[name] for name in asked]):
            yield piece.select(as_ours).select(wanted)

    untyped = any(_is_wide(present[name]) for name in kept if is_text(name))
    return Table(
        source,
        kept,
        start,
        lambda row: f"{source}, row {row + 1}",
        untyped,
        present=tuple(present),
        unusable=unusable,
    )


def _usable(
    schema: Mapping[str, pl.DataType], further: Sequence[str], source: str
) -> tuple[dict[str, pl.DataType], dict[str, InputError]]:
    """Return the types our columns are read as, and what is wrong with those that cannot be read."""
    kept: dict[str, pl.DataType] = {}
    unusable: dict[str, InputError] = {}
    for name in (name for name in dict.fromkeys((*CANONICAL, *further)) if name in schema):
        try:
            kept[name] = _settled(name, schema[name], source)
        except InputError as error:  # matters only if the column is asked for
            unusable[name] = error
    return kept, unusable


def _is_wide(dtype: pl.DataType) -> bool:
    """Say whether a type holds whole numbers that 64 bits with a sign may not."""
    return dtype in _WIDE or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)


def _settled(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    """Return the type a column is read as."""
    if name in ("query_id", "doc_id"):
        if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
            return pl.String()
        if dtype.is_integer() or _is_wide(dtype):
            return pl.String() if _is_wide(dtype) else pl.Int64()
        raise MixedIds(
            f"{name} holds {dtype}",
            where=source,
            expected="ids that are texts or whole numbers",
            fix="turn them into texts first",
        )
    if is_text(name):
        if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)) or dtype.is_integer() or _is_wide(dtype):
            return pl.String()
        raise InputError(f"{name} holds {dtype}", where=source, expected="texts or whole numbers")
    if dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Null)):
        return pl.Float64()
    raise InputError(f"{name} holds {dtype}", where=source, expected="numbers")
