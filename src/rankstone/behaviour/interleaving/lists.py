"""Interleaved lists: made, written, and read again when clicks on them have come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.behaviour.results import Found

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Interleaved"]


class Interleaved(Found):
    """Lists to show, a row each document; whatever credits clicks needs stands beside it."""

    @property
    def lists(self) -> pl.DataFrame:
        """``query_id``, ``draw``, ``position``, ``doc_id``, ``method``, ``credit``, ``rank_a``, ``rank_b``.

        ``draw`` counts the lists of a query from 0; ``credit`` is what a click is worth, to a above 0 and to
        b below; ``rank_a`` and ``rank_b`` are where the runs have the document, null where they have not.
        """
        return self.tables["lists"]

    def __repr__(self) -> str:
        return "\n".join([str(self.lists), *self.audit.lines()])
