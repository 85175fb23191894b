"""Spark's frames as rows of one kind: judgments, a run and excluded pairs one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadOption, MixedIds, UsageError, printable
from rankstone.io.columns import hidden, renames, require
from rankstone.spark.task import EXCLUDED, JUDGMENT, RETRIEVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.options import Alignment

__all__ = ["Rows", "id_types"]

_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
_NUMBERS: Final = (*_WHOLE, "float", "double")
#: options whose answer is the order of rows, which rows of a cluster do not have
_BY_ORDER: Final = {
    "order": ("input",),
    "ties": ("input", "reverse_input"),
    "duplicates": ("first_keep_rank", "first_drop", "last_drop"),
    "duplicate_judgments": ("first", "last"),
}


class Rows:
    """A frame of Spark's with our column names.

    Parameters
    ----------
    frame
        Spark's DataFrame, of any kind of session.
    name
        What to call it in messages.
    columns
        {their name: our name}.
    """

    def __init__(self, frame: Any, name: str, columns: Mapping[str, str]) -> None:  # noqa: ANN401 - pyspark's
        if not hasattr(frame, "mapInArrow"):
            raise UsageError(
                f"{name} are a {type(frame).__name__}" if name == "judgments" else f"{name} is no DataFrame",
                expected="a DataFrame of Spark",
                fix="spark.read.parquet(…), or rankstone.evaluate for everything else",
            )
        chosen = renames(frame.columns, columns, name)
        kept = frame.drop(*hidden(frame.columns, chosen))
        self.frame = kept.withColumnsRenamed(chosen)
        self.name = name
        self.types: dict[str, str] = dict(self.frame.dtypes)

    def require(self, *names: str) -> Rows:
        """Return the frame, once it is sure to have these columns, ids as ids and numbers as numbers."""
        require(self.types, names, self.name, self.frame.columns)
        for name in names:
            kinds = ("string", *_WHOLE) if name in ("query_id", "doc_id") else _NUMBERS
            kind = self.types[name]
            if name not in ("subtopic", "subgroup") and kind not in kinds and not kind.startswith("decimal"):
                raise UsageError(
                    f"the column {name} of {self.name} is {printable(kind)}", expected=" or ".join(kinds)
                )
        return self

    def id_type(self, name: str) -> str:
        """Return ``string`` or ``bigint``."""
        return "string" if self.types[name] == "string" else "bigint"

    def rows(
        self,
        kind: int,
        types: Mapping[str, str],
        number: str | None,
        further: Sequence[str],
        positions: bool,  # noqa: FBT001 - internal
    ) -> Any:  # noqa: ANN401 - pyspark's DataFrame
        """Return the rows as all kinds of rows are: ids, a number, and whatever measures read beside."""
        from pyspark.sql import functions as fn

        def column(name: str | None, cast: str) -> Any:  # noqa: ANN401 - pyspark's Column
            found = fn.lit(None) if name is None or name not in self.types else fn.col(name)
            return found.cast(cast)

        chosen = [
            fn.lit(kind).cast("tinyint").alias("kind"),
            *(fn.col(name).cast(types[name]).alias(name) for name in ("query_id", "doc_id")),
            column(number, "double").alias("number"),
        ]
        if positions:
            chosen.append(column("position", "bigint").alias("position"))
        for name in further:
            cast = "string" if name in ("subtopic", "subgroup") else "double"
            chosen.append(column(name if kind == JUDGMENT else None, cast).alias(name))
        return self.frame.select(*chosen)


def id_types(tables: Sequence[Rows]) -> dict[str, str]:
    """Return the type of each id column, the same in all frames."""
    found = {}
    for name in ("query_id", "doc_id"):
        kinds = {table.name: table.id_type(name) for table in tables}
        if len(set(kinds.values())) > 1:
            raise MixedIds(
                f"{name} is a text on one side and a whole number on the other",
                given=", ".join(f"{table} {kind}" for table, kind in kinds.items()),
                expected="texts on both sides, or whole numbers on both sides",
                fix=f"cast one of them: df.withColumn('{name}', df.{name}.cast('string'))",
            )
        found[name] = next(iter(kinds.values()))
    return found


def together(
    qrels: Rows, run: Rows, exclude: Rows | None, options: Alignment, further: Sequence[str]
) -> tuple[Any, bool]:
    """Return all rows in one frame, and whether they say where they stood."""
    positions = _positions(run, options) | _positions(qrels, options)
    qrels.require("query_id", "doc_id", "relevance", *further)
    by = () if options.order == "input" else (options.order,)
    run.require("query_id", "doc_id", *by)
    others = [] if exclude is None else [exclude.require("query_id", "doc_id")]
    types = id_types([qrels, run, *others])
    rows = qrels.rows(JUDGMENT, types, "relevance", further, positions)
    rows = rows.unionByName(run.rows(RETRIEVED, types, next(iter(by), None), further, positions))
    for one in others:
        rows = rows.unionByName(one.rows(EXCLUDED, types, None, further, positions))
    return rows, positions


def _positions(table: Rows, options: Alignment) -> bool:
    """Say whether rows say where they stand; refuse options that ask for it where they do not."""
    if "position" in table.types:
        table.require("position")
        return True
    judged = table.name == "judgments"
    for option, values in _BY_ORDER.items():
        asked = getattr(options, option)
        if asked in values and judged == (option == "duplicate_judgments"):
            raise BadOption(
                f"{option}={asked} asks for the order of rows, and rows of a cluster have none",
                where=table.name,
                expected="a column position that says where each row stood",
                fix="columns={'their_name': 'position'}, or choose another value",
            )
    return False
