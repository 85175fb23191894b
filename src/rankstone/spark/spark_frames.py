"""Spark's DataFrames as judgments, runs and pairs: files opened, columns checked, arrays unfolded to rows."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from rankstone._basics import Record
from rankstone.errors import (
    BadLine,
    BadOption,
    InputError,
    MixedIds,
    UnknownFormat,
    UsageError,
    printable,
)
from rankstone.hits.tie_rules import TIES
from rankstone.io.columns import CsvOptions, Renames, hidden, renames, require
from rankstone.io.csv_dialect import SEPARATORS
from rankstone.io.file_parts import parts_of
from rankstone.io.foreign_text import foreign
from rankstone.io.shapes import candidates
from rankstone.io.shapes.headerless_text import is_trec
from rankstone.io.shapes.line_template import LISTED
from rankstone.io.shapes.reading import UNREAD
from rankstone.io.suffixes import is_packed, named_format, suffix_of
from rankstone.io.trec_text import QRELS, RUN, words_of
from rankstone.io.unused_lists import may_be_meant
from rankstone.spark.executor_task import (
    EXCLUDED,
    JUDGMENT,
    RETRIEVED,
    WITHOUT_RELEVANT,
)
from rankstone.spark.parquet_files import ParquetFiles
from rankstone.spark.spark_scores import exact, spark_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Columns
    from rankstone.hits.alignment_options import AlignmentOptions, Order
    from rankstone.io.shapes.line_template import LineTemplate

#: columns of TREC text by position
_QRELS: Final = {"query_id": 0, "doc_id": 2, "relevance": 3}
_RUN: Final = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
#: lines that show what a text is
_HEAD: Final = 1000
#: characters of a line that are shown
_SHOWN: Final = 60
_FILE_NUMBERS: Final = ("relevance", "score", "rank", "position")
_READ: Final = ("parquet", "csv", "tsv", "jsonl", "trec")
#: ORC is read by Spark alone
_FORMATS: Final = (*_READ, "orc")


def session(master: str | None = None) -> Any:  # noqa: ANN401 - pyspark's SparkSession
    """Return the current session, or a new one; by default ``master`` is that of spark-submit.

    On one machine its Python processes run the Python of this one, unless PYSPARK_PYTHON names another.
    """
    import warnings

    from pyspark.sql import SparkSession

    warnings.filterwarnings(
        "ignore", message="PySpark does not yet fully support pandas"
    )
    building = SparkSession.builder.appName("rankstone").config(
        "spark.ui.showConsoleProgress", "false"
    )
    spark = (building if master is None else building.master(master)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if (
        spark.sparkContext.master.startswith("local")
        and "PYSPARK_PYTHON" not in os.environ
    ):
        spark.sparkContext.pythonExec = sys.executable
    return spark


def opened(
    session: Any,  # noqa: ANN401 - pyspark's SparkSession
    path: str,
    form: str | None,
    columns: Columns,
    *,
    run: bool,
) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Open a file, a folder or a glob; columns of numbers in text files are converted.

    Parameters
    ----------
    session
        Spark's.
    path
        A path that Spark can open.
    form
        The format; by default by the suffix, without one Parquet (compressed: text).
    columns
        {name in the table: our name}, with the CSV options; nothing is guessed.
    run
        Whether TREC text is a run rather than judgments.
    """
    from pyspark.sql import functions as fn

    kind = form or _format_by_name(Path(path))
    if kind not in _FORMATS:
        raise UnknownFormat(
            f"Spark does not read {kind} here", where=path, expected=", ".join(_FORMATS)
        )
    with suppress(InputError):  # what Spark opens is noted here; it says what is wrong
        parts_of(path.removeprefix("file://"))
    with spark_errors(path):
        if kind == "trec":
            frame = _text(session.read.text(path), path, run=run)
        elif kind in ("csv", "tsv"):
            said = CsvOptions.of(columns)
            frame = session.read.csv(
                path, header=True, sep=said.separator or SEPARATORS[kind]
            )
            if isinstance(columns, Renames):
                columns.csv_files.append(path)
        else:
            frame = session.read.format({"jsonl": "json"}.get(kind, kind)).load(path)
    texts = {
        name
        for name, of in frame.dtypes
        if of == "string" and columns.get(name, name) in _FILE_NUMBERS
    }
    if (
        texts and kind in SEPARATORS and CsvOptions.of(columns).decimal == ","
    ):  # a point is none then
        frame = frame.withColumns(
            {name: fn.translate(name, ",.", ".,") for name in texts}
        )
    if texts:
        return frame.withColumns({name: exact(name, "string") for name in texts})
    return frame


def _format_by_name(path: Path) -> str:
    """Return the format that a name stands for; JSON is of lines, as Spark writes it.

    >>> [_format_by_name(Path(name)) for name in ("part-0.json", "run", "run.gz", "runs.orc")]
    ['jsonl', 'parquet', 'trec', 'orc']
    """
    suffix = suffix_of(path)
    if suffix == ".orc":
        return "orc"
    kind = named_format(path, "parquet")
    if not suffix and is_packed(path):
        kind = "trec"
    return "jsonl" if kind == "json" else kind


def _text(lines: Any, path: str, *, run: bool) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    """Return the columns of TREC text, or of text that has a shape; what does not fit is null and refused."""
    from pyspark.sql import functions as fn

    layout = RUN if run else QRELS
    line = fn.trim("value")
    is_row = (line != "") & (~line.startswith("#") | line.rlike(layout.row))
    rows = lines.where(is_row)
    head = [row.value.strip() for row in rows.limit(_HEAD).collect()]
    words = words_of(head)
    if head and not is_trec(words, layout):
        role = "run" if run else "judgments"
        shape = candidates(role).of_lines(head, path)
        known = foreign(words, layout.number)
        if shape is not None:
            return _of_template(rows, shape[1], run=run)
        if known is not None:
            raise BadLine(known.what, where=path, given=printable(head[0], 60))
    parts = fn.split(line, r"\s+")
    width = len(layout.names)
    behind = fn.coalesce(fn.try_element_at(parts, fn.lit(width + 1)), fn.lit("#"))
    fits = fn.size(parts) >= width if run else behind.startswith("#")
    places = _RUN if run else _QRELS
    cells = {
        name: fn.try_element_at(parts, fn.lit(place + 1))
        for name, place in places.items()
    }
    return rows.select(*_checked(cells, fits, layout.expected))


def _of_template(rows: Any, template: LineTemplate, *, run: bool) -> Any:  # noqa: ANN401 - pyspark's DataFrames
    """Return the columns of lines that have a shape; judgments without grades are relevant."""
    from pyspark.sql import functions as fn

    line = fn.trim("value")
    pattern = re.sub(r"\(\?P<\w+>", "(", template.pattern)
    groups = re.findall(r"\(\?P<(\w+)>", template.pattern)
    cells = {
        name: fn.regexp_extract(line, pattern, group)
        for group, name in enumerate(groups, 1)
        if name not in (*UNREAD, "time")
    }
    if LISTED in cells:
        separator = r"\s+" if template.separator == " " else template.separator
        cells["doc_id"] = fn.split(cells.pop(LISTED), separator)
    if not run:
        cells.setdefault("relevance", fn.lit("1"))
    return rows.select(*_checked(cells, line.rlike(pattern), template.shown))


def _checked(cells: Mapping[str, Any], fits: Any, expected: str) -> list[Any]:  # noqa: ANN401 - pyspark's columns
    """Return columns of which a line that does not fit ends the work."""
    from pyspark.sql import functions as fn

    what = f"the line is not {expected}: "
    error = fn.raise_error(fn.concat(fn.lit(what), fn.substring("value", 1, _SHOWN)))
    return [fn.when(fits, cell).otherwise(error).alias(n) for n, cell in cells.items()]


_ARRAY: Final = "array<"
_LIST_NUMBERS: Final = ("score", "rank", "relevance")
#: the distance between rows with positions, so that the items of arrays fit in between
_APART: Final = 1 << 32


def arrays_of(types: Mapping[str, str]) -> list[str]:
    """Return the names of the columns with arrays instead of one value per document."""
    return [
        name
        for name in ("doc_id", *_LIST_NUMBERS)
        if types.get(name, "").startswith(_ARRAY)
    ]


def without_items(frame: Any, array: str) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return the ids of the rows whose array is empty."""
    from pyspark.sql import functions as fn

    return frame.where(fn.size(array) == 0).select("query_id")


def unfolded(frame: Any, types: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return a frame with one row per item of the arrays; ``position`` is the order of items.

    Other cells are repeated for all items of their row.  An empty array gives no rows.  A missing array, or
    one shorter than the others, gives a row without a value, which is refused when rows are read.

    Raises
    ------
    UsageError
        If some columns have arrays and others single values.
    """
    from pyspark.sql import functions as fn

    arrays = arrays_of(types)
    alone = [
        other
        for other in ("doc_id", *_LIST_NUMBERS)
        if other in types and other not in arrays
    ]
    if "doc_id" in alone or set(alone) & {"score", "rank"}:
        raise UsageError(
            f"{name}: {arrays[0]} has arrays, but {alone[0]} has single values",
            expected=f"one {alone[0]} for each {arrays[0]}: arrays in both columns, or in neither",
        )
    nonempty = frame.where(fn.coalesce(fn.size(arrays[0]), fn.lit(-1)) != 0)
    others = [other for other in types if other not in arrays and other != "position"]
    zipped = fn.posexplode_outer(fn.arrays_zip(*arrays)).alias("_place", "_item")
    start = (
        fn.col("position").cast("bigint") * _APART
        if "position" in types
        else fn.lit(0).cast("bigint")
    )
    rows = nonempty.select(*others, start.alias("_start"), zipped)
    return rows.select(
        *others,
        *(fn.col(f"_item.{array}").alias(array) for array in arrays),
        (fn.col("_start") + fn.coalesce(fn.col("_place"), fn.lit(0))).alias("position"),
    )


_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
_NUMBERS: Final = (*_WHOLE, "float", "double")
_ARRAYS_OF_NUMBERS: Final = [f"{_ARRAY}{kind}>" for kind in _NUMBERS]
#: values of options that need the order of rows, which a cluster does not keep
_BY_ORDER: Final = {
    "order": ("input",),
    "ties": [word for word, rule in TIES.items() if rule.needs_order],
    "duplicates": ("first_keep_rank", "first_drop", "last_drop"),
    "duplicate_judgments": ("first", "last"),
}


class SparkFrame(Protocol):
    """A DataFrame of pyspark, which has no types here."""

    def mapInArrow(self, *args: object, **kwargs: object) -> object:  # noqa: N802 - pyspark's name
        """Apply a function to batches."""


class Rows:
    """A DataFrame of Spark with our column names.

    Parameters
    ----------
    frame
        Spark's DataFrame, of any kind of session.
    name
        Its name in messages.
    columns
        {name in the table: our name}.

    Columns of arrays are unfolded.
    """

    def __init__(self, frame: Any, name: str, columns: Columns) -> None:  # noqa: ANN401 - pyspark's
        if not hasattr(frame, "mapInArrow"):
            raise UsageError(
                f"{name} are a {type(frame).__name__}"
                if name == "judgments"
                else f"{name} is not a DataFrame",
                expected="a DataFrame of Spark",
                fix="spark.read.parquet(…), or rankstone.evaluate for everything else",
            )
        chosen = renames(frame.columns, columns, name)
        has_scores = "score" in {*frame.columns, *chosen.values()}
        if has_scores and "position" not in (columns or {}):
            # it is the order of rows, which a cluster does not keep
            chosen.pop("position", None)
        kept = frame.drop(*hidden(frame.columns, chosen))
        self.frame = kept.withColumnsRenamed(chosen)
        self.name = name
        self.types: dict[str, str] = dict(self.frame.dtypes)
        arrays = arrays_of(self.types)
        #: ids of rows whose arrays are empty; ``None`` without arrays
        self.unanswered = without_items(self.frame, arrays[0]) if arrays else None
        if arrays:
            self.frame = unfolded(self.frame, self.types, name)
            self.types = dict(self.frame.dtypes)
        #: arrays of numbers beside the documents, which may be grades or scores
        self.unused = [
            other
            for other, kind in self.types.items()
            if arrays == ["doc_id"] and kind in _ARRAYS_OF_NUMBERS
            if may_be_meant(other, ("score", "rank"))
        ]
        #: True if the rows are arrays of documents alone, whose order is the ranking
        self.listed = (
            arrays == ["doc_id"]
            and not self.unused
            and not {"score", "rank", "relevance"} & set(self.types)
        )

    def ordered_by(self, order: Order) -> Order:
        """Return the column that orders lists: the requested one, or the only one there is."""
        if self.listed:
            return "input"
        return (
            "rank"
            if order == "score" and "rank" in self.types and "score" not in self.types
            else order
        )

    def require(self, *names: str) -> Rows:
        """Return the rows after checking that these columns exist and have valid types."""
        require(self.types, names, self.name, self.frame.columns, unused=self.unused)
        for name in names:
            kinds = ("string", *_WHOLE) if name in ("query_id", "doc_id") else _NUMBERS
            kind = self.types[name]
            if (
                name not in ("subtopic", "subgroup")
                and kind not in kinds
                and not kind.startswith("decimal")
            ):
                raise UsageError(
                    f"the column {name} of {self.name} is {printable(kind)}",
                    expected=" or ".join(kinds),
                )
        return self

    def id_type(self, name: str) -> str:
        """Return ``string`` or ``bigint``."""
        return "string" if self.types[name] == "string" else "bigint"

    def rows(
        self, types: Mapping[str, str], number: str | None, further: Sequence[str] = ()
    ) -> Any:  # noqa: ANN401
        """Return ids, ``number``, the further columns that measures read, and ``position`` if present."""
        from pyspark.sql import functions as fn

        chosen = [
            fn.col(name).cast(types[name]).alias(name)
            for name in ("query_id", "doc_id")
        ]
        numbers = (
            fn.lit(None).cast("double")
            if number is None
            else exact(number, self.types[number])
        )
        chosen.append(numbers.alias("number"))
        if "position" in self.types:
            chosen.append(fn.col("position").cast("bigint").alias("position"))
        for name in further:
            cast = "string" if name in ("subtopic", "subgroup") else "double"
            chosen.append(fn.col(name).cast(cast).alias(name))
        return self.frame.select(*chosen)

    def files(self, number: str | None) -> ParquetFiles | None:
        """Return the files that hold just ids and ``number``; ``None`` where there are none."""
        if number is None or "position" in self.types or self.unanswered is not None:
            return None
        return ParquetFiles.of(
            self.frame.select("query_id", "doc_id", number), self.name
        )


def id_types(tables: Sequence[Rows]) -> dict[str, str]:
    """Return the type of each id column, the same in all frames: ``string`` or ``bigint``."""
    types = dict[str, str]()
    for name in ("query_id", "doc_id"):
        # a run may have the name of another table
        type_of_each = [(table.name, table.id_type(name)) for table in tables]
        types[name] = type_of_each[0][1]
        if len({kind for _, kind in type_of_each}) > 1:
            raise MixedIds(
                f"{name} is a string in one table and an integer in another",
                given=", ".join(f"{table} {kind}" for table, kind in type_of_each),
                expected="strings in all tables, or integers in all tables",
                fix=f"cast one of them: df.withColumn('{name}', df.{name}.cast('string'))",
            )
    return types


class SparkInputs(Record):
    """The checked inputs, as rows of a few columns.

    Attributes
    ----------
    judged
        ``query_id``, ``doc_id``, the grade as ``number``, further columns that measures read, ``position``.
    listed
        The run: ``query_id``, ``doc_id``, its score or rank as ``number``, ``position``.
    excluded
        Pairs to leave out; ``None`` without any.
    judged_files, listed_files
        The same rows as files that Python can read itself, where they are.
    query_id
        The type of query ids.
    """

    judged: Any
    listed: Any
    excluded: Any
    query_id: str
    judged_files: ParquetFiles | None = None
    listed_files: ParquetFiles | None = None

    @classmethod
    def of(
        cls,
        qrels: Rows,
        run: Rows,
        exclude: Rows | None,
        options: AlignmentOptions,
        further: Sequence[str],
        declared: pl.Series | None = None,
    ) -> SparkInputs:
        """Check columns, types, and the order of rows that some options need.

        Queries with an empty array of judgments, and those that ``declared`` names, are marked rows of
        judgments without a document.
        """
        _check_order(run, options, are_judgments=False)
        _check_order(qrels, options, are_judgments=True)
        qrels.require("query_id", "doc_id", "relevance", *further)
        by = None if options.order == "input" else options.order
        run.require("query_id", "doc_id", *([] if by is None else [by]))
        others = [] if exclude is None else [exclude.require("query_id", "doc_id")]
        types = id_types([qrels, run, *others])
        excluded = [other.rows(types, None) for other in others]
        return cls(
            _with_declared(qrels, types, further, declared),
            run.rows(types, by),
            next(iter(excluded), None),
            types["query_id"],
            None if further or declared is not None else qrels.files("relevance"),
            run.files(by),
        )

    def together(self) -> Any:  # noqa: ANN401 - pyspark's DataFrame
        """Return all rows in one frame, by ``kind``."""
        from pyspark.sql import functions as fn

        frames = {
            JUDGMENT: self.judged,
            RETRIEVED: self.listed,
            EXCLUDED: self.excluded,
        }
        marked = [
            frame.withColumn("kind", fn.lit(kind).cast("tinyint"))
            for kind, frame in frames.items()
            if frame is not None
        ]
        whole = marked[0]
        for rows in marked[1:]:
            whole = whole.unionByName(rows, allowMissingColumns=True)
        return whole


def _with_declared(
    qrels: Rows,
    types: Mapping[str, str],
    further: Sequence[str],
    declared: pl.Series | None,
) -> Any:  # noqa: ANN401 - pyspark's DataFrame
    """Return the rows of judgments, and marked rows of queries declared to have none."""
    from pyspark.sql import functions as fn

    rows = qrels.rows(types, "relevance", further)
    unanswered = [] if qrels.unanswered is None else [qrels.unanswered]
    if declared is not None:
        ids = declared
        if types["query_id"] != "string":
            ids = declared.cast(pl.Int64, strict=False)

        names = ids.drop_nulls().to_frame("query_id")
        if len(names):
            unanswered.append(rows.sparkSession.createDataFrame(names.to_arrow()))

    if unanswered:
        rows = rows.withColumn(WITHOUT_RELEVANT, fn.lit(False))
    for frame in unanswered:
        marked = frame.select(
            fn.col("query_id").cast(types["query_id"]).alias("query_id")
        )
        marked = marked.withColumn(WITHOUT_RELEVANT, fn.lit(True))
        rows = rows.unionByName(marked, allowMissingColumns=True)
    return rows


def _check_order(
    table: Rows, options: AlignmentOptions, *, are_judgments: bool
) -> None:
    """Refuse options that need the order of rows if there is no column ``position``."""
    if "position" in table.types:
        table.require("position")
        return
    for option, values in _BY_ORDER.items():
        value = getattr(options, option)
        is_of_judgments = option == "duplicate_judgments"
        if value in values and are_judgments == is_of_judgments:
            raise BadOption(
                f"{option}={value} needs the order of rows, which a cluster does not keep",
                where=table.name,
                expected="a column position with the order of rows",
                fix="columns={'their_name': 'position'}, or choose another value",
            )
