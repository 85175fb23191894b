"""Where a target run puts the documents of a log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from rankstone.behaviour.rankings import Rankings, rankings
from rankstone.errors import MissingColumn, NotComparable, UsageError
from rankstone.words import some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.behaviour.logs import Log

__all__ = ["placed"]


def placed(log: Log, target: object, order: str, columns: Mapping[str, str] | None) -> tuple[Log, Rankings]:
    """Return the log with ``target_position``, null for documents the target leaves out, and the target."""
    if log.has("target_position") or log.has("target_propensity"):
        given = "target_position" if log.has("target_position") else "target_propensity"
        raise UsageError(f"the log has {given}, and there is a target run, too", fix="leave one of them out")
    if not log.has("query_id", "doc_id"):
        raise MissingColumn(
            "a target run is looked up by query and document",
            where=log.source,
            given=f"columns {', '.join(log.frame.columns)}",
            expected="query_id, doc_id",
        )
    run = rankings(target, "target", order=order, columns=columns)
    texts = [pl.col(name).cast(pl.String) for name in ("query_id", "doc_id")]
    places = run.frame.with_columns(texts).rename({"rank": "target_position"})
    left = log.frame.with_columns(texts).with_columns(texts)
    joined = left.join(places, on=["query_id", "doc_id"], how="left", maintain_order="left")
    if joined["target_position"].null_count() == joined.height:
        raise NotComparable(
            "the target holds no document of the log for its query",
            where=f"{log.source}, {run.source}",
            given=f"log: {some(left['query_id'].unique(maintain_order=True))}; "
            f"target: {some(places['query_id'].unique(maintain_order=True))}",
        )
    place = joined["target_position"].cast(pl.Float64)
    return replace(log, frame=log.frame.with_columns(target_position=place)), run
