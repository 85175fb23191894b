"""Judgments and runs as trec_eval reads them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.io import Table, is_database, read_judgments, read_run, stem
from rankstone.io.endless import refuse_endless
from rankstone.io.streams import is_stream, read_stream, stream_title
from rankstone.io.table import reading
from rankstone.io.text import RUN, trec
from rankstone.trec_eval.settings import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.trec_eval.settings import Settings

__all__ = ["Judgments", "Run", "tag_of"]


@dataclass(eq=False)
class Judgments:
    """Judgments, and what there is to say about their grades.

    Attributes
    ----------
    table
        Query, document, grade; group and subgroup where the format has them.
    grades
        The grades that occur, ascending.
    notes
        What was done to them.
    """

    table: Table
    grades: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, source: object, settings: Settings) -> Judgments:
        """Open judgments; grades become whole numbers as in C, where they stand for relevance."""
        table = read_judgments(source, further=FORMATS[settings.judgments])
        if settings.only is not None:
            table = _mapped(table, pl.col("query_id").cast(pl.String) == settings.only)
        if settings.compares:
            return cls(table)
        pieces = [piece["relevance"].unique() for piece in table.tables([pl.col("relevance")])]
        grades = pl.concat([pl.Series([], dtype=pl.Float64), *pieces]).unique().drop_nulls().drop_nans()
        whole = grades.cast(pl.Int64, strict=False).cast(pl.Float64)  # cut towards zero, as in C
        notes = []
        if (grades != whole).any():
            table = _mapped(table, None, pl.col("relevance").cast(pl.Int64).cast(pl.Float64))
            odd = grades.filter(grades != whole).sort()
            notes.append(f"grades are whole numbers for trec_eval: {odd[0]:g} counts as {int(odd[0])}")
        return cls(table, tuple(whole.unique().drop_nulls().sort()), notes)


def _mapped(table: Table, keep: pl.Expr | None, grade: pl.Expr | None = None) -> Table:
    """Return the table with some rows only, or with other grades."""
    start, names = table.start, list(table.schema)

    def mapped(wanted: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for piece in start([pl.col(name) for name in names]):
            rows = piece if keep is None else piece.filter(keep)
            changed = rows if grade is None else rows.with_columns(grade.alias("relevance"))
            yield changed.select(wanted)

    return replace(table, start=mapped)


@dataclass(frozen=True, eq=False)
class Run:
    """A run, and the name it carries in its last line."""

    table: Table
    tag: str

    @classmethod
    def of(cls, path: str) -> Run:
        """Open a file, a pipe, or standard input for ``-``."""
        if not is_stream(path):
            return cls(read_run(path), stem(path) if is_database(path) else tag_of(Path(path)))
        content = read_stream(path)
        return cls(trec([content], stream_title(path), RUN), tag_of(content))


#: a run's last lines stand in so many bytes at its end
_TAIL: Final = 1 << 16
#: the column of the tag, and files in which lines cannot be looked for
_TAG: Final = 5
_COLUMNAR: Final = (".parquet", ".pq", ".arrow", ".ipc", ".feather")


def tag_of(source: Path | bytes) -> str:
    r"""Return the sixth column of the last line, which trec_eval calls the run's id; empty without one.

    >>> tag_of(b"q1 Q0 d1 1 2.0 mine\n# the end\n")
    'mine'
    """
    if isinstance(source, bytes):
        lines = source[-_TAIL:].decode("utf-8", "replace").splitlines()
    elif not source.is_file() or source.suffix in _COLUMNAR:
        return ""
    else:
        lines = _packed(source) if source.suffix in (".gz", ".zst", ".zstd") else _tail(source)
    content = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    words = content[-1].split() if content else []
    return words[_TAG] if len(words) > _TAG else ""


def _tail(path: Path) -> list[str]:
    with reading(str(path)), path.open("rb") as file:
        file.seek(max(path.stat().st_size - _TAIL, 0))
        return file.read().decode("utf-8", "replace").splitlines()


def _packed(path: Path) -> list[str]:
    last = pl.scan_lines(path, name="line").filter(~pl.col("line").str.starts_with("#")).tail(2)
    with reading(str(path)):
        refuse_endless(path, str(path))
        return last.collect()["line"].to_list()
