"""Parquet files whose rows Python reads itself.

Spark hands rows to Python value by value, which takes most of an evaluation.  A DataFrame that is nothing but
columns of Parquet files, which every machine can open by their paths, is handed over as the names of files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import unquote, urlsplit

import polars as pl

from rankstone.io.typed_tables import of_frame
from rankstone.spark.executor_task import Shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import Columns

#: the most rows that one task reads
_PART: Final = 1 << 22
#: the most files whose sizes are looked up here; more than that are left to Spark
_FILES: Final = 1_000
_FORMAT: Final = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
#: Spark's types, and the types of columns that it reads as such
_TYPES: Final[dict[str, pl.DataType]] = {
    "string": pl.String(),
    "bigint": pl.Int64(),
    "int": pl.Int32(),
    "smallint": pl.Int16(),
    "tinyint": pl.Int8(),
    "double": pl.Float64(),
    "float": pl.Float32(),
}


@dataclass(frozen=True, eq=False)
class ParquetFiles(Shipped):
    """Rows of Parquet files, in parts.

    Attributes
    ----------
    name
        The table's name in messages.
    columns
        {our name: name in the files}; the last one becomes ``number``.
    parts
        For each task what it reads: paths, first rows and numbers of rows.
    """

    name: str
    columns: Columns
    parts: list[list[tuple[str, int, int]]]

    @classmethod
    def of(cls, frame: Any, name: str) -> Self | None:  # noqa: ANN401 - pyspark's DataFrame
        """Return the files of a DataFrame, by name; ``None`` if it is more than columns of local files."""
        columns = _columns(frame)
        places = (
            [urlsplit(address) for address in sorted(frame.inputFiles())]
            if columns
            else []
        )
        if not 0 < len(places) <= _FILES or any(
            place.scheme != "file" for place in places
        ):
            return None
        heights = {}
        try:
            for path in (unquote(place.path) for place in places):
                scan = pl.scan_parquet(path, glob=False)
                known = scan.collect_schema()
                # a missing column and an unknown type must differ, hence 0
                if any(
                    known.get(theirs) != _TYPES.get(kind, 0)
                    for theirs, kind in columns.values()
                ):
                    return None
                heights[path] = scan.select(pl.len()).collect().item()
        except (OSError, pl.exceptions.PolarsError):
            return None  # Spark says what is wrong
        tasks = frame.sparkSession.sparkContext.defaultParallelism
        tasks *= -(-sum(heights.values()) // (tasks * _PART)) or 1
        named = {ours: theirs for ours, (theirs, _) in columns.items()}
        return cls(name, named, _parts(heights, -(-sum(heights.values()) // tasks)))

    def count(self) -> int:
        """Count the rows."""
        return sum(rows for part in self.parts for _, _, rows in part)

    def read(self, part: int) -> Iterator[pl.DataFrame]:
        """Read a part in pieces, with columns ``query_id``, ``doc_id`` and ``number``."""
        chosen = [pl.col(theirs).alias(ours) for ours, theirs in self.columns.items()]
        frames = [
            pl.scan_parquet(path, glob=False).slice(start, rows)
            for path, start, rows in self.parts[part]
        ]
        table = of_frame(
            pl.concat(frame.select(chosen) for frame in frames),
            self.name,
            {},
            scanned=True,
        )
        number = pl.col(list(self.columns)[-1]).cast(pl.Float64).alias("number")
        yield from table.tables([pl.col("query_id", "doc_id"), number])

    def __call__(self, batches: Iterable[Any], _rows: int) -> Iterator[pl.DataFrame]:
        """Read the parts whose numbers are in Arrow batches."""
        for batch in batches:
            for part in batch.column(0).to_pylist():
                yield from self.read(part)


def _parts(heights: Mapping[str, int], size: int) -> list[list[tuple[str, int, int]]]:
    """Cut files, one after another, into parts of so many rows.

    >>> _parts({"a": 3, "b": 1, "c": 2}, 2)
    [[('a', 0, 2)], [('a', 2, 1), ('b', 0, 1)], [('c', 0, 2)]]
    """
    parts: list[list[tuple[str, int, int]]] = [[]]
    room = size
    for path, rows in heights.items():
        begin = 0
        while begin < rows:
            if not room:
                parts = [*parts, []]
                room = size
            taken = min(room, rows - begin)
            parts[-1].append((path, begin, taken))
            begin = begin + taken
            room = room - taken
    return parts


def _columns(frame: Any) -> dict[str, tuple[str, str]]:  # noqa: ANN401 - pyspark's DataFrame
    """Return {our name: (name in the files, type)}; nothing if the plan is not just these columns."""
    if not hasattr(frame, "_jdf"):  # Spark Connect does not show its plan
        return {}
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - pyspark has no other way
    chosen = plan.output()
    if _kind(plan) == "Project":
        chosen = plan.projectList()
        plan = plan.child()
    relation = plan.relation() if _kind(plan) == "LogicalRelation" else None
    if (
        relation is None
        or _kind(relation) != "HadoopFsRelation"
        or not relation.partitionSchema().isEmpty()
    ):
        return {}
    columns = [chosen.apply(index) for index in range(chosen.size())]
    origins = [
        column.child() if _kind(column) == "Alias" else column for column in columns
    ]
    plain = all(_kind(origin) == "AttributeReference" for origin in origins)
    if not plain or relation.fileFormat().getClass().getName() != _FORMAT:
        return {}
    theirs = [(origin.name(), origin.dataType().catalogString()) for origin in origins]
    return dict(zip((column.name() for column in columns), theirs, strict=True))


def _kind(of: Any) -> str:  # noqa: ANN401 - an object of Java
    return str(of.getClass().getSimpleName())
