"""A table from anywhere, with canonical column names, as a stream that can be restarted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, first_true
from rankstone.errors import BadValue, InputError, MixedIds
from rankstone.io.column_suggestions import words_of_type
from rankstone.io.columns import require
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import Locate, Progress
    from rankstone.io.column_suggestions import Kind


#: the query of a table whose rows are all in one list
EVERYTHING: Final = "all"
#: rows of one piece of a stream: large enough that a call per piece costs nothing, small enough to
#: keep many pieces in memory
ROWS: Final = 1 << 19

Start = Callable[[Sequence[pl.Expr]], Iterator[pl.DataFrame]]


def _unknown() -> None:
    """Return nothing: the default of what a source may know."""


def _silent(_error: InputError) -> None:
    """Add no advice."""


class Table(Record):
    """Rows with canonical column names.

    Attributes
    ----------
    source
        The table's name in messages: a path, or the kind of object it was.
    schema
        Canonical columns and their types; ids are ``String`` or ``Int64``.
    start
        Restarts the stream with the requested columns.
    where
        Returns the place of a row for messages: ``runs/bm25.txt:17``.
    untyped
        True if ids are bare text (a text file, wide numbers), so that ``7`` may be a number elsewhere.
    listed
        True if the rows have no scores and their order is the ranking.
    comments
        Returns the number of comment lines skipped, once the stream has been read.
    present
        All column names of the source, for messages.
    empty
        Returns the queries with empty lists, where a source can declare them.
    unusable
        Columns of a type that cannot be read → the error if one is requested.
    extent
        Returns an estimate of the number of rows, where one is known without reading.
    read_as
        Returns, once the stream has been read, notes on what was guessed about the source's format.
    kinds
        Returns what the source's columns contain, for messages.
    failed
        Once the stream has been read, the queries whose retrieval failed → why.
    unanswerable
        Once the stream has been read, the queries whose column ``answerable`` is false.
    form
        What the source was taken for, in words.
    unused
        Lists of numbers beside those of the documents, in which grades or scores may be.
    advise
        Called with an error of reading, to which it adds advice.
    about
        Attributes of the queries, where the source has them beside its rows: ``query_id`` and any columns.
    ranked
        True where ranks order the lists even beside scores.
    doubts
        What is doubtful about the source, a sentence each.
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
    failed: Mapping[str, str] = field(default_factory=dict)
    unanswerable: Collection[str] = frozenset()
    form: str = ""
    unused: tuple[str, ...] = ()
    advise: Callable[[InputError], None] = _silent
    about: pl.DataFrame | None = None
    ranked: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        """The canonical columns of the table."""
        return frozenset(self.schema)

    @property
    def unanswered(self) -> pl.Series | None:
        """Ids of queries with an empty list; ``None`` where there are none."""
        return self.empty()

    def tables(self, columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        """Restart the stream; each piece has the given columns."""
        try:
            with reading(self.source):
                yield from self.start(columns)
        except InputError as error:
            self.advise(error)
            raise

    def locate(self, row: int) -> str:
        """Return the place of a row for messages; -1 is the table as a whole."""
        if row < 0:
            return self.source
        return self.where(row)

    def collect(self, *columns: str) -> pl.DataFrame:
        """Read the whole table."""
        names = columns or tuple(self.schema)
        pieces = list(self.tables([pl.col(name) for name in names]))
        if not pieces:
            return pl.DataFrame(schema={name: self.schema[name] for name in names})
        parts = pl.concat(pieces).get_columns()
        # numbers become one array each; texts are not copied
        return pl.DataFrame(
            [part if part.dtype == pl.String else part.rechunk() for part in parts]
        )

    def without_empty(self) -> Table:
        """Return the table without its declared empty lists."""
        return replace(self, empty=_unknown)

    def in_memory(self) -> Table:
        """Return the table, read once and held in memory."""
        frame = self.collect()

        def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in frame.iter_slices(ROWS):
                yield piece.select(wanted)

        count = self.comments()
        notes = self.read_as()
        return replace(self, start=again, comments=lambda: count, read_as=lambda: notes)

    def remembering(self) -> Table:
        """Return the table, which keeps the pieces of the first complete read for later ones."""
        kept: list[pl.DataFrame] = []
        read = False
        start = self.start
        columns = [pl.col(name) for name in self.schema]

        def again(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            nonlocal read
            if read:
                for piece in kept:
                    yield piece.select(wanted)
                return
            kept.clear()  # an earlier read was not completed
            for piece in start(columns):
                kept.append(piece)
                yield piece.select(wanted)
            read = True

        return replace(self, start=again)

    def only(self, keep: pl.Expr) -> Table:
        """Return the rows for which an expression over ``query_id`` is true.

        Where the source is sorted by query, such as Parquet with its ids in order, the rest is not even read.
        """

        def empty() -> pl.Series | None:
            queries = self.unanswered
            if queries is None:
                return None
            return queries.to_frame("query_id").filter(keep)["query_id"]

        def kept(piece: pl.DataFrame) -> pl.DataFrame:
            return piece.filter(keep)

        where = self._where_kept(keep)
        filtered = self.mapped(kept, where=where, empty=empty, extent=_unknown)
        # of a source that can skip the other rows
        among = getattr(self.start, "among", None)
        if among is None:
            return filtered
        return replace(filtered, start=among(keep))

    def mapped(
        self,
        change: Callable[[pl.DataFrame], pl.DataFrame],
        names: Sequence[str] | None = None,
        **fields: Any,  # noqa: ANN401 - other fields to replace
    ) -> Table:
        """Return the table with every piece changed; ``names`` are the columns read, all by default."""
        start = self.start
        columns = [pl.col(name) for name in names or self.schema]

        def changed(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            for piece in start(columns):
                yield change(piece).select(wanted)

        return replace(self, start=changed, **fields)

    def without_empty_records(self) -> Table:
        """Return the table without records of no document, with an ``error`` or not ``answerable``."""
        has_error = self.schema.get("error") == pl.String
        flags = (pl.String, pl.Boolean, pl.Float64, pl.Int64)
        has_flag = self.schema.get("answerable") in flags
        if not (has_error or has_flag) or "doc_id" not in self.schema:
            return self
        failed: dict[str, str] = {}
        unanswerable: set[str] = set()
        doc = pl.col("doc_id")
        never = pl.lit(value=False)
        text = doc.cast(pl.String).str
        is_list = self.schema["doc_id"] == pl.List
        size = doc.list.len() if is_list else text.len_bytes()
        has_documents = size.fill_null(0) > 0
        fails = pl.col("error").fill_null("") != "" if has_error else never
        cannot = never
        if has_flag:
            answer = pl.col("answerable").cast(pl.String).str.to_lowercase()
            is_false = answer.is_in(["false", "0", "0.0", "no"])
            cannot = is_false.fill_null(value=False)
        keep = has_documents | ~(fails | cannot)

        def kept(piece: pl.DataFrame) -> pl.DataFrame:
            ids = pl.col("query_id").cast(pl.String).fill_null("")
            if has_error:
                failures = piece.filter(fails & ~has_documents)
                failed.update(failures.select(ids, "error").iter_rows())
            unanswerable.update(piece.filter(cannot).select(ids).to_series())
            return piece.filter(keep)

        where = self._where_kept(keep)
        return self.mapped(kept, where=where, failed=failed, unanswerable=unanswerable)

    def _where_kept(self, keep: pl.Expr) -> Locate:
        """Return a function that finds the place of a kept row, by counting; this is for messages."""

        def place(row: int) -> str:
            before = 0
            columns = [pl.col(name) for name in roots_of([keep])]
            for piece in self.start(columns):
                kept = piece.select(keep).to_series().arg_true()
                if row < len(kept):
                    return self.where(before + int(kept[row]))
                row -= len(kept)
                before += piece.height
            return self.source

        return place

    def ordered_by(self, order: str) -> str:
        """Return what orders the lists: the requested order, or the only one the table has.

        Plain lists of documents are in order; a table with ranks and without scores is ordered by rank.
        """
        if self.listed:
            return "input"
        if order == "score" and "rank" in self.schema:
            has_score = "score" in {*self.schema, *self.unusable}
            return "score" if has_score and not self.ranked else "rank"
        return order

    def requires(self, *columns: str, given: Mapping[str, str] | None = None) -> Table:
        """Return the table if it has these columns; ``given`` is the requested {their name: our name}."""
        for name in columns:
            if name in self.unusable:
                raise self.unusable[name]
        names = self.present or tuple(self.schema)
        require(
            self.schema, columns, self.source, names, self.kinds, given, self.unused
        )
        return self

    def whole(self) -> Table:
        """Return the table, which refuses a missing value in any column that is read."""
        start = self.start

        def checked(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            row = 0
            for piece in start(columns):
                for column in piece.iter_columns():
                    is_missing = column.is_null()
                    if is_missing.any():
                        raise BadValue(
                            f"a row without {column.name}",
                            where=self.locate(row + first_true(is_missing)),
                            expected="a value in every row",
                            fix="repair or remove the row",
                        )
                row += piece.height
                yield piece

        return replace(self, start=checked)

    def watched(self, progress: Progress | None) -> Table:
        """Return the table, which calls ``progress`` with the rows of every piece read.

        A progress may have a method ``stream``: a context manager that is entered whenever the stream starts,
        with a function that estimates the number of rows, and that returns what to call for its pieces.
        """
        if progress is None:
            return self
        start = self.start
        stream = getattr(progress, "stream", lambda _extent: nullcontext(progress))

        def counted(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            with stream(self.extent) as advance:
                for piece in start(columns):
                    advance(piece.height)
                    yield piece

        return replace(self, start=counted)

    def in_one_list(self) -> Table:
        """Return the table as one list, without document ids, which may occur in many lists."""
        kept = [name for name in self.schema if name not in ("query_id", "doc_id")]
        schema = {"query_id": pl.String(), **{name: self.schema[name] for name in kept}}
        return self.mapped(
            lambda piece: piece.with_columns(query_id=pl.lit(EVERYTHING)),
            kept,
            schema=schema,
        )

    def pairs_in_one_list(self, queries: pl.Series | None = None) -> Table:
        """Return the table as one list, in which a document of two queries is two documents.

        Parameters
        ----------
        queries
            The queries whose rows are kept; ``None`` for all.
        """
        pair = pl.format("{}\t{}", "query_id", "doc_id")

        def together(piece: pl.DataFrame) -> pl.DataFrame:
            if queries is not None:
                is_kept = pl.col("query_id").is_in(queries.implode())
                piece = piece.filter(is_kept)
            return piece.with_columns(query_id=pl.lit(EVERYTHING), doc_id=pair)

        schema = {**self.schema, "query_id": pl.String(), "doc_id": pl.String()}
        return self.mapped(together, schema=schema, empty=_unknown)

    def with_number(self, name: str, number: float) -> Table:
        """Return the table with a column that holds the same number in every row."""
        constant = pl.lit(number).alias(name)
        schema = {**self.schema, name: pl.Float64()}
        return self.mapped(lambda piece: piece.with_columns(constant), schema=schema)

    def with_text_ids(self, *columns: str) -> Table:
        """Return the table with whole-number ids written as decimal text."""
        numbers = [
            c for c in columns if c in self.schema and self.schema[c] != pl.String
        ]
        if not numbers:
            return self

        def empty() -> pl.Series | None:
            queries = self.unanswered
            if queries is None or "query_id" not in numbers:
                return queries
            return queries.cast(pl.String)

        def as_text(piece: pl.DataFrame) -> pl.DataFrame:
            return piece.with_columns(texts)

        texts = pl.col(numbers).cast(pl.String)
        schema = {**self.schema, **dict.fromkeys(numbers, pl.String())}
        return self.mapped(as_text, schema=schema, empty=empty)

    def text_ids_for(self, other: Table, expected: str) -> tuple[str, ...]:
        """Return the id columns to write as text, so that ids of two tables can match.

        Numbers in a text file are text; against whole numbers they are compared as decimal text.  Any other
        difference in type is an error.

        Parameters
        ----------
        other
            The other table.
        expected
            What was expected, for the message.

        Raises
        ------
        MixedIds
            When one table has texts for ids and the other whole numbers.
        """
        differ = tuple(
            c for c in ("query_id", "doc_id") if self.schema[c] != other.schema[c]
        )
        if differ and not (self.untyped or other.untyped):
            raise MixedIds(
                f"{differ[0]} has two types",
                given=f"{self._example(differ[0])}; {other._example(differ[0])}",
                expected=expected,
                fix="convert one of them: cast to str, or to int",
            )
        return differ

    def _example(self, column: str) -> str:
        """Return the type of a table's ids, with an example."""
        text = f"{self.source}: {words_of_type(self.schema[column])}"
        piece = next(self.tables([pl.col(column)]), None)
        if piece is None or piece.is_empty():
            return text
        return f"{text}, such as {piece.item(0, 0)!r}"


def roots_of(columns: Sequence[pl.Expr]) -> dict[str, None]:
    """Return the column names that expressions read, in their order."""
    roots: dict[str, None] = {}
    for expression in columns:
        roots |= dict.fromkeys(expression.meta.root_names())
    return roots
