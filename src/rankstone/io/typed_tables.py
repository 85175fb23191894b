"""Tables of typed columns: frames, files in parts, batches of a database."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import InputError, MixedIds, blaming, printable
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import is_common_name, kind_of_type, kinds_of_texts
from rankstone.io.columns import (
    CANONICAL,
    hidden,
    is_text,
    lacking,
    must_be_exact,
    renames,
)
from rankstone.io.input_table import ROWS, Table, damaged, reading, roots_of
from rankstone.io.list_columns import LISTS, field_of, fields_of_items, leaves, unfolded
from rankstone.io.number_columns import refuse_inexact, wide
from rankstone.io.unused_lists import numbers_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone._basics import Locate


#: whole numbers that may not fit into 64 bits with a sign; as ids they become decimal text
_WIDE: Final = (pl.UInt64, pl.Int128, pl.UInt128)
#: numbers that may be texts in lists, as in JSON
_LISTED_NUMBERS: Final = ("relevance", "score", "rank")
#: rows that show what columns contain
_HEAD: Final = 1000


class BrokenOff(InputError):
    """A stream that ended before its last row: the file is damaged."""


def whole_batches(frame: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a frame's rows in pieces of about ``rows`` rows; refuse a stream that ends too early.

    Polars ends a stream as if it were complete when one of its threads dies.  So a last row of nulls is sent
    along, and a stream without it was cut off.

    >>> [piece.height for piece in whole_batches(pl.LazyFrame({"a": [1, 2, None]}), 2)]
    [2, 1]
    """
    schema = frame.collect_schema()
    end = pl.LazyFrame({name: [None] for name in schema}, schema=schema)
    held: pl.DataFrame | None = (
        None  # ends in nulls: perhaps the row that marks the end
    )
    for piece in pl.concat([frame, end]).collect_batches(chunk_size=rows):
        if held is not None:
            yield held
        held = None
        if all(value is None for value in piece.row(-1)):
            held = piece
        else:
            yield piece
    if held is None:
        raise damaged("it ends too early", kind=BrokenOff)
    if held.height > 1:
        yield held.head(-1)


class TablePart(Record):
    """One of the frames that together are a table.

    Attributes
    ----------
    title
        Its name in messages.
    frame
        Its rows.
    numbered
        The format of a row's place, for lines of text ``{}:{}``.
    first
        The number of its first row.
    scanned
        True if it is read from a file while it streams, so that the file may turn out to be damaged.
    """

    title: str
    frame: pl.LazyFrame
    numbered: str = "{}, row {}"
    first: int = 1
    scanned: bool = False

    def height(self) -> int:
        """Count the rows; columnar files store the count."""
        with reading(self.title):
            return int(self.frame.select(pl.len()).collect().item())


class _Column(Record):
    """A column by our name: the column it is read from, its type, and the expression that extracts it."""

    root: str
    dtype: pl.DataType
    value: pl.Expr


def of_frame(
    frame: pl.LazyFrame,
    source: str,
    columns: Mapping[str, str],
    *,
    untyped: bool = False,
    further: Sequence[str] = (),
    scanned: bool = False,
) -> Table:
    """Build a table from a lazy frame with typed columns; ``further`` ones are read if present.

    ``scanned`` is true of frames that may read files while they stream.
    """
    part = TablePart(source, frame, scanned=scanned)
    return of_parts([part], source, columns, untyped=untyped, further=further)


def of_parts(
    parts: Sequence[TablePart],
    source: str,
    columns: Mapping[str, str],
    *,
    untyped: bool = False,
    further: Sequence[str] = (),
    extent: Callable[[], int | None] = lambda: None,
) -> Table:
    """Build a table from frames that are its parts, one after another.

    Parts may have other columns too, and different widths of numbers and types of text.

    Parameters
    ----------
    parts
        The frames.
    source
        The table's name.
    columns
        {their name: our name}.
    untyped
        True if ids are bare text.
    further
        Columns to read besides the usual ones.
    extent
        Returns an estimate of the number of rows.
    """
    named: list[Mapping[str, _Column]] = []
    for part in parts:
        with reading(part.title):
            named.append(_named(part.frame.collect_schema(), columns, part.title))
    kept, unusable = _usable(
        [(p.title, columns_of) for p, columns_of in zip(parts, named, strict=True)],
        further,
    )
    kept, about = _about(named[0], kept, lambda _roots: parts[0].frame, columns)
    exact = _exact(kept, named)
    frames = [
        part.frame.select(
            *(
                known[name].value.cast(dtype, strict=False).alias(name)
                for name, dtype in kept.items()
            ),
            *(
                known[name].value.cast(dtype).alias(_given(name))
                for name, dtype in exact.items()
            ),
        )
        for part, known in zip(parts, named, strict=True)
    ]
    titles = [part.title for part in parts]
    rows = LISTS if any(isinstance(dtype, pl.List) for dtype in kept.values()) else ROWS

    return unfolded(
        Table(
            source,
            kept,
            _Scan(
                titles,
                frames,
                rows,
                tuple(exact),
                _places(parts, source),
                any(p.scanned for p in parts),
            ),
            _places(parts, source),
            untyped or _bare(kept, named),
            present=tuple(dict.fromkeys(name for known in named for name in known)),
            unusable=unusable,
            extent=extent,
            **about,
        )
    )


class _Scan(Record):
    """Restarts the frames of a table's parts, perhaps filtered."""

    titles: Sequence[str]
    frames: Sequence[pl.LazyFrame]
    rows: int
    #: columns of numbers that a float64 may not hold, which are also checked as they were given
    exact: tuple[str, ...]
    where: Locate
    scanned: bool = False

    def __call__(self, wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        frame = self.frames[0] if len(self.frames) == 1 else pl.concat(self.frames)
        checked = [name for name in self.exact if name in roots_of(wanted)]
        given = [_given(name) for name in checked]
        read = 0
        try:
            for piece in self._batches(frame.select(*wanted, *given)):
                for name in checked:
                    refuse_inexact(piece[_given(name)], name, self.where, read)
                read += piece.height
                yield piece.drop(given) if given else piece
        except (
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
            OSError,
            BrokenOff,
        ):
            columns = list(roots_of(wanted))
            for title, one in zip(
                self.titles, self.frames, strict=True
            ):  # find the damaged part
                with blaming(title), reading(title):
                    for _ in self._batches(one.select(columns)):
                        pass
            raise

    def _batches(self, frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        return (
            whole_batches(frame, self.rows)
            if self.scanned
            else frame.collect_batches(chunk_size=self.rows)
        )

    def among(self, keep: pl.Expr) -> _Scan:
        titles = ", ".join(self.titles)
        return replace(
            self,
            frames=[frame.filter(keep) for frame in self.frames],
            where=lambda _row: titles,
        )


def _given(name: str) -> str:
    """Return the name of a column with numbers as they were given."""
    return f"{name} as given"


def _exact(
    kept: Mapping[str, pl.DataType], parts: Sequence[Mapping[str, _Column]]
) -> dict[str, pl.DataType]:
    """Return the original types of float64 columns whose numbers a float64 may not hold."""
    exact: dict[str, pl.DataType] = {}
    for name in (
        name for name in kept if _item(kept[name]) == pl.Float64 and must_be_exact(name)
    ):
        types = [known[name].dtype for known in parts]
        if any(map(wide, types)):
            same = all(dtype == types[0] for dtype in types) and not isinstance(
                types[0], pl.Array
            )
            text = (
                pl.List(pl.String()) if isinstance(kept[name], pl.List) else pl.String()
            )
            exact[name] = types[0] if same else text
    return exact


def _places(parts: Sequence[TablePart], source: str) -> Locate:
    def where(row: int) -> str:
        for part in parts:
            height = part.height() if len(parts) > 1 else row + 1
            if row < height:
                return part.numbered.format(part.title, row + part.first)
            row -= height
        return source

    return where


def of_batches(
    schema: Mapping[str, pl.DataType],
    read: Callable[[Sequence[str]], Iterator[pl.DataFrame]],
    source: str,
    columns: Mapping[str, str],
    *,
    further: Sequence[str] = (),
) -> Table:
    """Build a table from a function that restarts frames of the requested columns.

    Parameters
    ----------
    schema
        All columns by the source's own names, and their types.
    read
        Restarts the rows, with at least the requested columns.
    source
        The table's name.
    columns
        {their name: our name}.
    further
        Columns to read besides the usual ones.
    """
    named = _named(schema, columns, source)

    def rows(roots: list[str]) -> pl.LazyFrame:
        return next(read(roots), pl.DataFrame()).lazy()

    kept, unusable = _usable([(source, named)], further)
    kept, about = _about(named, kept, rows, columns)

    def start(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        roots = roots_of(wanted)
        names = [name for name in kept if name in roots]
        as_ours = [
            named[name].value.cast(kept[name], strict=False).alias(name)
            for name in names
        ]
        checked = [name for name in names if name in exact]
        done = 0
        for piece in read(list(dict.fromkeys(named[name].root for name in names))):
            for name in checked:
                given = piece.select(named[name].value).to_series()
                refuse_inexact(given, name, where, done)
            done += piece.height
            yield piece.select(as_ours).select(wanted)

    exact = _exact(kept, [named])
    where = _places([TablePart(source, pl.LazyFrame())], source)
    bare = _bare(kept, [named])
    table = Table(
        source, kept, start, where, bare, present=tuple(named), unusable=unusable
    )
    return unfolded(replace(table, **about))


def _about(
    named: Mapping[str, _Column],
    kept: Mapping[str, pl.DataType],
    rows: Callable[[list[str]], pl.LazyFrame],
    columns: Mapping[str, str],
) -> tuple[dict[str, pl.DataType], dict[str, Any]]:
    """Return the columns that belong to the documents, and what a table knows of its own columns.

    ``rows`` returns rows of the requested columns, the first of which show what lists contain.
    """
    lists = {
        name: column
        for name, column in named.items()
        if isinstance(column.dtype, (pl.List, pl.Array))
    }
    values = [
        column.value.cast(pl.List(_item(column.dtype))).alias(name)
        for name, column in lists.items()
    ]

    def head() -> pl.LazyFrame:
        roots = dict.fromkeys(column.root for column in lists.values())
        return rows(list(roots)).head(_HEAD).select(values)

    kinds = {name: kind_of_type(column.dtype) for name, column in named.items()}
    texts = [
        name
        for name, kind in kinds.items()
        if kind == "texts" and is_common_name(name, _LISTED_NUMBERS)
    ]
    if texts:
        kinds |= kinds_of_texts(head().select(texts))
    unused, foreign = numbers_beside(kinds, head, columns)
    kept = {name: dtype for name, dtype in kept.items() if name not in foreign}
    return kept, {"kinds": lambda: kinds, "unused": unused}


def _named(
    schema: Mapping[str, pl.DataType], columns: Mapping[str, str], source: str
) -> dict[str, _Column]:
    """Return the columns by our names; a list of structs becomes a list for each field.

    Where two lists have a field of the same name each is called ``list.field``.  Fields of another list
    than that of the documents do not belong to these: scores of what was retrieved are no grades.  Fields of
    objects have a path, such as ``metadata.source``, and all can be called by their whole path.  Lists within
    a list, ``turns: [{"results": [{"id": …}]}]``, are one after the other, and ``call`` is their place.
    """
    theirs = {
        name: _Column(name, dtype, pl.col(name)) for name, dtype in schema.items()
    }
    lists = [
        (name, dtype.inner)
        for name, dtype in schema.items()
        if isinstance(dtype, pl.List)
    ]
    found = [(name, *one) for name, kind in lists for one in fields_of_items(kind)]  # type: ignore[arg-type]
    times = Counter([*schema, *(".".join(path) for _, path, *_ in found)])
    for name, path, kind, value in found:
        short = ".".join(path)
        whole = ".".join((name, *path))
        known = short if times[short] == 1 and whole not in columns else whole
        theirs[known] = _Column(name, pl.List(kind), pl.col(name).list.eval(value))
    for name, dtype in schema.items():
        for path, kind in leaves(dtype):
            theirs[".".join((name, *path))] = _Column(
                name, kind, field_of(pl.col(name), path)
            )
    chosen = renames(theirs, columns, source)
    listed = any(
        isinstance(column.dtype, (pl.List, pl.Array)) for column in theirs.values()
    )
    for name in {"position", "label"} & chosen.keys() - columns.keys():
        # one for a whole list does not order or grade its documents
        if listed and not isinstance(theirs[name].dtype, (pl.List, pl.Array)):
            del chosen[name]
    docs = next(
        (theirs[name].root for name in theirs if chosen.get(name, name) == "doc_id"),
        None,
    )
    replaced = {*hidden(theirs, chosen)}
    if isinstance(schema.get(docs or ""), pl.List):
        replaced |= {
            name
            for name, one in theirs.items()
            if name not in schema and one.root != docs
            # the field of an object is of the whole row
            if isinstance(one.dtype, (pl.List, pl.Array))
        }
    return {
        chosen.get(name, name): column
        for name, column in theirs.items()
        if name not in replaced
    }


def _usable(
    parts: Sequence[tuple[str, Mapping[str, _Column]]], further: Sequence[str]
) -> tuple[dict[str, pl.DataType], dict[str, InputError]]:
    """Return the types that our columns are read as, and the errors of those that cannot be read."""
    kept: dict[str, pl.DataType] = {}
    unusable: dict[str, InputError] = {}
    present = {name for _, named in parts for name in named}
    for name in (
        name for name in dict.fromkeys((*CANONICAL, *further)) if name in present
    ):
        try:
            kept[name] = _agreed(name, parts)
        except InputError as error:  # raised only if the column is requested
            unusable[name] = error
    return kept, unusable


def _agreed(
    name: str, parts: Sequence[tuple[str, Mapping[str, _Column]]]
) -> pl.DataType:
    """Return the type that all parts read a column as; columns of only nulls fit any type."""
    short = next(((title, named) for title, named in parts if name not in named), None)
    if short is not None:
        raise lacking(name, *short)
    types = {title: named[name].dtype for title, named in parts}
    read_as = {title: _dtype(name, dtype, title) for title, dtype in types.items()}
    full = {
        title: dtype
        for title, dtype in read_as.items()
        if _item(types[title]) != pl.Null
    } or read_as
    first = next(iter(full))
    odd = next((title for title, dtype in full.items() if dtype != full[first]), None)
    if odd is None:
        return full[first]
    folded = {isinstance(dtype, pl.List) for dtype in full.values()}
    if (
        is_text(name)
        and len(folded) == 1
        and all(_is_whole(_item(types[title])) for title in full)
    ):
        return (
            pl.List(pl.String()) if True in folded else pl.String()
        )  # numbers of all widths
    raise MixedIds(
        f"{name} holds {types[odd]}, and {types[first]} in other parts",
        where=odd,
        given=f"{types[first]} in {first}",
        expected="the same type in all parts of a table",
    )


def _bare(
    kept: Mapping[str, pl.DataType], parts: Sequence[Mapping[str, _Column]]
) -> bool:
    """Return True if ids are text only because no other type holds them: wide numbers, or only nulls."""
    for name in filter(is_text, kept):
        items = [_item(named[name].dtype) for named in parts]
        if any(map(_is_wide, items)) or all(item == pl.Null for item in items):
            return True
    return False


def _item(dtype: pl.DataType) -> pl.DataType:
    """Return the type of a list's items; any other type as it is."""
    return dtype.inner if isinstance(dtype, (pl.List, pl.Array)) else dtype  # type: ignore[return-value]


def _is_wide(dtype: pl.DataType) -> bool:
    """Return True for whole numbers that may not fit into 64 bits with a sign."""
    return dtype in _WIDE or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)


def _is_whole(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or _is_wide(dtype)


def _dtype(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    """Return the type a column is read as."""
    if dtype == pl.List(pl.String) and name in _LISTED_NUMBERS:
        return pl.List(pl.Float64())
    if isinstance(dtype, (pl.List, pl.Array)) and name != "query_id":
        return pl.List(_item_dtype(name, _item(dtype), source))
    return _item_dtype(name, dtype, source)


def _item_dtype(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    if isinstance(dtype, pl.Null):
        return pl.String() if is_text(name) else pl.Float64()
    if name in ("query_id", "doc_id"):
        return id_type(name, dtype, source)
    if name == "error" and dtype != pl.String:
        raise InputError(
            f"error holds {dtype}",
            where=source,
            expected="texts that say why there is no result",
        )
    if is_text(name):
        texts = (
            pl.String,
            pl.Categorical,
            pl.Enum,
            *([pl.Boolean] if name == "answerable" else []),
        )
        if isinstance(dtype, texts) or _is_whole(dtype):
            return pl.String()
        raise InputError(
            f"{name} holds {dtype}", where=source, expected="texts or whole numbers"
        )
    if dtype.is_numeric() or isinstance(dtype, pl.Boolean):
        return pl.Float64()
    raise InputError(f"{name} holds {dtype}", where=source, expected="numbers")


def id_type(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    """Return the type that ids are read as: text, or whole numbers of 64 bits."""
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return pl.String()
    if _is_whole(dtype):
        return pl.String() if _is_wide(dtype) else pl.Int64()
    if isinstance(dtype, pl.Struct) and dtype.fields:
        names = [one.name for one in dtype.fields]
        likely = next((one for one in names if "id" in one.lower()), names[0])
        error = MixedIds(
            f"{name} holds objects",
            where=source,
            given=f"fields {', '.join(map(printable, names))}",
            expected="an id",
        )
        raise error.proposing(Advice({f"{name}.{likely}": name}))
    raise MixedIds(
        f"{name} holds {dtype}",
        where=source,
        expected="ids that are texts or whole numbers",
        fix=f'frame.with_columns(pl.col("{name}").cast(pl.Int64)), if they are whole'
        if dtype.is_float()
        else "convert them to text first",
    )
