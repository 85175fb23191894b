"""How the rows of a run may lie in partitions."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

Parts = list[pl.DataFrame]


def whole_lists(run: pl.DataFrame, draw: np.random.Generator) -> Parts:
    """Cut between lists, as no real file is cut."""
    lists = run.partition_by("query_id", maintain_order=True)
    cuts = np.sort(draw.integers(0, len(lists) + 1, 3))
    groups = np.split(np.arange(len(lists)), cuts)
    return [
        pl.concat([lists[position] for position in group])
        if len(group)
        else run.clear()
        for group in groups
    ]


def cut_anywhere(run: pl.DataFrame, draw: np.random.Generator) -> Parts:
    """Cut between rows, as files are split."""
    grouped = pl.concat(run.partition_by("query_id", maintain_order=True))
    cuts = [0, *np.sort(draw.integers(0, run.height + 1, 4)).tolist(), run.height]
    return [grouped[begin:end] for begin, end in pairwise(cuts)]


def in_crumbs(run: pl.DataFrame, _draw: np.random.Generator) -> Parts:
    """Cut lists to pieces of two rows, so that some go over several partitions."""
    grouped = pl.concat(run.partition_by("query_id", maintain_order=True))
    return [grouped[index : index + 2] for index in range(0, run.height, 2)]


def in_one(run: pl.DataFrame, _draw: np.random.Generator) -> Parts:
    """One partition, and empty ones around it."""
    return [
        run.clear(),
        pl.concat(run.partition_by("query_id", maintain_order=True)),
        run.clear(),
    ]


def scattered(run: pl.DataFrame, draw: np.random.Generator) -> Parts:
    """Rows anywhere."""
    return cut_rows(
        run.sample(fraction=1, shuffle=True, seed=int(draw.integers(99))), 3
    )


def every_query_everywhere(run: pl.DataFrame, _draw: np.random.Generator) -> Parts:
    """Each partition is in order by itself, and every query is in all of them, as in daily logs."""
    return [run[day::3].sort("query_id", maintain_order=True) for day in range(3)]


def cut_rows(run: pl.DataFrame, parts: int) -> Parts:
    """Cut into parts of the same size."""
    size = -(-run.height // parts)
    return [run[index * size : (index + 1) * size] for index in range(parts)]


LAYOUTS: dict[str, Callable[[pl.DataFrame, np.random.Generator], Parts]] = {
    layout.__name__: layout
    for layout in (
        whole_lists,
        cut_anywhere,
        in_crumbs,
        in_one,
        scattered,
        every_query_everywhere,
    )
}
#: those in which lists lie whole, or in halves at the ends
IN_PLACE = ("whole_lists", "cut_anywhere", "in_crumbs", "in_one")


def laid_out(session: Any, parts: Parts) -> Any:
    """Return a frame of Spark's with exactly these partitions."""
    kinds = {pl.String: "string", pl.Int64: "bigint", pl.Float64: "double"}
    schema = ", ".join(
        f"{name} {kinds[kind.base_type()]}" for name, kind in parts[0].schema.items()
    )
    packed = []
    for part in parts:
        file = io.BytesIO()
        part.write_ipc_stream(file, compat_level=pl.CompatLevel.oldest())
        packed.append(file.getvalue())

    def lay(batches: Any) -> Any:  # here, since executors have no module of tests
        import pyarrow as pa

        for batch in batches:
            for position in batch.column(0).to_pylist():
                table = pa.ipc.open_stream(packed[position]).read_all()
                small = [
                    (n, pa.string() if pa.types.is_large_string(t) else t)
                    for n, t in zip(table.column_names, table.schema.types, strict=True)
                ]
                yield from table.cast(pa.schema(small)).to_batches()

    return session.range(0, len(parts), 1, len(parts)).mapInArrow(lay, schema)
