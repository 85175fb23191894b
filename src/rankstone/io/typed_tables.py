"""Tables of typed columns: frames, files in parts, batches of a database."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import InputError, MixedIds, blaming, printable
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import (
    is_common_name,
    kind_of_type,
    kinds_of_texts,
    words_of_type,
)
from rankstone.io.columns import (
    CANONICAL,
    hidden,
    is_text,
    lacking,
    must_be_exact,
    renames,
)
from rankstone.io.exact_numbers import refuse_inexact, wide
from rankstone.io.grade_labels import ESCI, grades_of, labels_in
from rankstone.io.input_table import ROWS, Table, roots_of
from rankstone.io.list_columns import LISTS, field_of, fields_of_items, leaves, unfolded
from rankstone.io.number_columns import ESCI_LABEL
from rankstone.io.unreadable_files import damaged, reading
from rankstone.io.unused_lists import numbers_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Locate
    from rankstone.io.grade_labels import Labels


#: whole numbers that may not fit into 64 bits with a sign; as ids they become decimal text
_WIDE: Final = (pl.UInt64, pl.Int128, pl.UInt128)
_TEXTS: Final = (pl.String, pl.Categorical, pl.Enum)
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
    # ends in nulls: perhaps the row that marks the end
    held: pl.DataFrame | None = None
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

    @property
    def is_list(self) -> bool:
        """Whether each cell is a list."""
        return self.dtype in (pl.List, pl.Array)


def of_frame(
    frame: pl.LazyFrame,
    source: str,
    columns: Columns,
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
    columns: Columns,
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
            schema = part.frame.collect_schema()
            named.append(_named(schema, columns, part.title))
    titles = [part.title for part in parts]
    kept, unusable = _usable(list(zip(titles, named, strict=True)), further)
    kept, about = _about(named[0], kept, lambda _roots: parts[0].frame, columns)
    exact = _exact(kept, named)
    frames: list[pl.LazyFrame] = []
    for part, known in zip(parts, named, strict=True):
        values = [
            known[name].value.cast(dtype, strict=False).alias(name)
            for name, dtype in kept.items()
        ]
        as_given = [
            known[name].value.cast(dtype).alias(_given(name))
            for name, dtype in exact.items()
        ]
        frames.append(part.frame.select(*values, *as_given))

    has_lists = any(dtype == pl.List for dtype in kept.values())
    rows = LISTS if has_lists else ROWS
    where = _places(parts, source)
    scanned = any(part.scanned for part in parts)
    scan = _Scan(titles, frames, rows, tuple(exact), where, scanned)
    present = dict.fromkeys(name for known in named for name in known)
    table = Table(
        source,
        kept,
        scan,
        where,
        untyped or _bare(kept, named),
        present=tuple(present),
        unusable=unusable,
        extent=extent,
        **about,
    )
    return unfolded(table)


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
        roots = list(roots_of(wanted))
        checked = [name for name in self.exact if name in roots]
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
            # find the damaged part
            for title, part in zip(self.titles, self.frames, strict=True):
                with blaming(title), reading(title):
                    for _ in self._batches(part.select(roots)):
                        pass
            raise

    def _batches(self, frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        if self.scanned:
            return whole_batches(frame, self.rows)
        return frame.collect_batches(chunk_size=self.rows)

    def among(self, keep: pl.Expr) -> _Scan:
        titles = ", ".join(self.titles)
        frames = [frame.filter(keep) for frame in self.frames]
        return replace(self, frames=frames, where=lambda _row: titles)


def _given(name: str) -> str:
    """Return the name of a column with numbers as they were given."""
    return f"{name} as given"


def _exact(
    kept: Mapping[str, pl.DataType], parts: Sequence[Mapping[str, _Column]]
) -> dict[str, pl.DataType]:
    """Return the original types of float64 columns whose numbers a float64 may not hold."""
    exact: dict[str, pl.DataType] = {}
    for name, dtype in kept.items():
        if _item(dtype) != pl.Float64 or not must_be_exact(name):
            continue
        first, *others = (known[name].dtype for known in parts)
        if not any(map(wide, (first, *others))):
            continue
        is_same = all(other == first for other in others)
        if is_same and first != pl.Array:
            exact[name] = first
        else:
            exact[name] = pl.List(pl.String()) if dtype == pl.List else pl.String()
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
    columns: Columns,
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
        sources = dict.fromkeys(named[name].root for name in names)
        rows_before = 0
        for piece in read(list(sources)):
            for name in checked:
                given = piece.select(named[name].value).to_series()
                refuse_inexact(given, name, where, rows_before)
            rows_before += piece.height
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
    columns: Columns,
) -> tuple[dict[str, pl.DataType], dict[str, Any]]:
    """Return the columns that belong to the documents, and what a table knows of its own columns.

    ``rows`` returns rows of the requested columns, the first of which show what lists contain.
    """
    lists = {name: column for name, column in named.items() if column.is_list}
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
    schema: Mapping[str, pl.DataType], columns: Columns, source: str
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
    fields = [
        (name, *field)
        for name, dtype in schema.items()
        if isinstance(dtype, pl.List)
        for field in fields_of_items(dtype.inner)  # type: ignore[arg-type]
    ]
    times = Counter([*schema, *(".".join(path) for _, path, *_ in fields)])
    for name, path, kind, value in fields:
        short = ".".join(path)
        whole = f"{name}.{short}" if path else name
        is_alone = times[short] == 1 and whole not in columns
        items = pl.col(name).list.eval(value)
        theirs[short if is_alone else whole] = _Column(name, pl.List(kind), items)
    for name, dtype in schema.items():
        for path, kind in leaves(dtype):
            whole = ".".join((name, *path))
            theirs[whole] = _Column(name, kind, field_of(pl.col(name), path))
    chosen = renames(theirs, columns, source)
    worth: dict[str, Labels] = {ESCI_LABEL: ESCI, **labels_in(columns)}
    for name, labels in worth.items():
        if chosen.get(name) == "relevance":
            grades = grades_of(pl.col(name), labels).cast(pl.Float64, strict=False)
            theirs[name] = _Column(name, pl.Float64(), grades)
    has_lists = any(column.is_list for column in theirs.values())
    for name in {"position", "label"} & chosen.keys() - columns.keys():
        # one for a whole list does not order or grade its documents
        if has_lists and not theirs[name].is_list:
            del chosen[name]
    ours = [chosen.get(name, name) for name in theirs]
    roots = [column.root for column in theirs.values()]
    docs = roots[ours.index("doc_id")] if "doc_id" in ours else ""
    replaced = {*hidden(theirs, chosen)}
    if schema.get(docs) == pl.List:
        # the field of an object is of the whole row
        replaced |= {
            name
            for name, column in theirs.items()
            if column.is_list and name not in schema and column.root != docs
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
    for name in dict.fromkeys((*CANONICAL, *further)):
        if name not in present:
            continue
        try:
            kept[name] = _agreed(name, parts)
        except InputError as error:  # raised only if the column is requested
            unusable[name] = error
    return kept, unusable


def _agreed(
    name: str, parts: Sequence[tuple[str, Mapping[str, _Column]]]
) -> pl.DataType:
    """Return the type that all parts read a column as; columns of only nulls fit any type."""
    types: dict[str, pl.DataType] = {}
    for title, named in parts:
        if name not in named:
            raise lacking(name, title, named)
        types[title] = named[name].dtype
    read_as = {title: _dtype(name, dtype, title) for title, dtype in types.items()}
    with_values = [title for title, dtype in types.items() if _item(dtype) != pl.Null]
    titles = with_values or list(types)
    first = titles[0]
    agreed = read_as[first]
    odd = next((title for title in titles if read_as[title] != agreed), None)
    if odd is None:
        return agreed
    are_lists = {read_as[title] == pl.List for title in titles}
    are_whole = all(_is_whole(_item(types[title])) for title in titles)
    if is_text(name) and are_whole and len(are_lists) == 1:
        # numbers of all widths
        if True in are_lists:
            return pl.List(pl.String())
        return pl.String()
    raise MixedIds(
        f"{name} holds {words_of_type(types[odd])}, and {words_of_type(types[first])} in other parts",
        where=odd,
        given=f"{words_of_type(types[first])} in {first}",
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
    item = _item(dtype)
    if item is dtype or name == "query_id":
        return _item_dtype(name, dtype, source)
    return pl.List(_item_dtype(name, item, source))


def _item_dtype(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    if name == "time":
        # dates, texts or numbers
        return dtype
    if isinstance(dtype, pl.Null):
        if is_text(name):
            return pl.String()
        return pl.Float64()
    if name in ("query_id", "doc_id"):
        return id_type(name, dtype, source)
    if name == "error" and dtype != pl.String:
        raise InputError(
            f"error holds {words_of_type(dtype)}",
            where=source,
            expected="texts that say why there is no result",
        )
    is_truth = dtype == pl.Boolean
    if is_text(name):
        is_answerable = is_truth and name in ("answerable", "forbidden")
        if isinstance(dtype, _TEXTS) or _is_whole(dtype) or is_answerable:
            return pl.String()
        expected = "texts or whole numbers"
    else:
        if dtype.is_numeric() or is_truth:
            return pl.Float64()
        expected = "numbers"
    what = f"{name} holds {words_of_type(dtype)}"
    raise InputError(what, where=source, expected=expected)


def id_type(name: str, dtype: pl.DataType, source: str) -> pl.DataType:
    """Return the type that ids are read as: text, or whole numbers of 64 bits."""
    if isinstance(dtype, _TEXTS):
        return pl.String()
    if _is_whole(dtype):
        if _is_wide(dtype):
            return pl.String()
        return pl.Int64()
    if isinstance(dtype, pl.Struct) and dtype.fields:
        names = [field.name for field in dtype.fields]
        likely = next((name for name in names if "id" in name.lower()), names[0])
        error = MixedIds(
            f"{name} holds objects",
            where=source,
            given=f"fields {', '.join(map(printable, names))}",
            expected="an id",
        )
        raise error.proposing(Advice({f"{name}.{likely}": name}))
    fix = "write them as texts"
    given = None
    if dtype.is_float():
        # tables with missing values are often made of these
        given = "numbers with a decimal point, of which 1 is 1.0"
        fix += ", or if they are whole as whole numbers"
    raise MixedIds(
        f"{name} holds {words_of_type(dtype)}",
        where=source,
        given=given,
        expected="ids that are texts or whole numbers",
        fix=fix,
    )
