"""Shapes of files: what other programs write, as data, and the readers that follow it."""

from __future__ import annotations

from rankstone.io.shapes.recognition import (
    Candidates,
    candidates,
    is_row,
    plain_format,
    refuse_unread,
)
from rankstone.io.shapes.shape import Shape, known_shapes, own_shapes

__all__ = [
    "Candidates",
    "Shape",
    "candidates",
    "is_row",
    "known_shapes",
    "own_shapes",
    "plain_format",
    "refuse_unread",
]
