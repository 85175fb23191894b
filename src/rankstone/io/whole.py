"""Streams that come to their end: Polars closes one as if it were done where a thread of it dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BrokenOff", "whole_batches"]


class BrokenOff(InputError):
    """A stream whose end never came: bytes that no reader of this format understands."""


def whole_batches(frame: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a frame's rows in pieces of about so many; refuse a stream that breaks off.

    A last row of nulls is sent along, so the end is known by it.

    >>> [piece.height for piece in whole_batches(pl.LazyFrame({"a": [1, 2, None]}), 2)]
    [2, 1]
    """
    schema = frame.collect_schema()
    end = pl.LazyFrame({name: [None] for name in schema}, schema=schema)
    held: pl.DataFrame | None = None  # may hold the last row, if nothing comes behind it
    for piece in pl.concat([frame, end]).collect_batches(chunk_size=rows):
        if held is not None:
            yield held
        held = None
        if all(value is None for value in piece.row(-1)):
            held = piece
        else:
            yield piece
    if held is None:
        raise BrokenOff("the file is damaged: reading it breaks off", fix="copy or write it again")
    if held.height > 1:
        yield held.head(-1)
