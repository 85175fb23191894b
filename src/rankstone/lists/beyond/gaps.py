"""Gaps between groups of users: whether everybody gets the same quality."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from rankstone.io import read_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.scores import Scores

__all__ = ["group_gaps"]

_SCHEMA = {
    "run": pl.String,
    "measure": pl.String,
    "groups": pl.Int64,
    "gap": pl.Float64,
    "mad": pl.Float64,
    "lowest": pl.Float64,
    "lowest_group": pl.String,
    "highest": pl.Float64,
    "highest_group": pl.String,
    "worst_group": pl.String,
}


def group_gaps(
    scores: Scores, by: str, *, users: object = None, columns: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Say how far apart groups of users are, for every measure that has a value a user.

    Parameters
    ----------
    scores
        What :func:`rankstone.evaluate` or :func:`rankstone.beyond` returned.
    by
        The column that tells groups.
    users
        A table with ``query_id`` and that column: a path, a frame, ``{user: group}`` (then ``by`` is
        ``"group"``) or ``{user: {column: value}}``.  ``None`` takes the table the scores were made with.
    columns
        {their name: our name}, for the table.

    Returns
    -------
    polars.DataFrame
        A row for each run and measure: ``groups`` (how many have a value); ``gap``, the highest group's
        value less the lowest's; ``mad``, the mean absolute difference of two groups (Deldjoo et al.,
        UMUAI 2021); ``lowest``, ``lowest_group``, ``highest``, ``highest_group``; and ``worst_group``,
        by the measure's direction, null where neither end is better or all are equal.  Users of whom the
        table says nothing are left out; the values of all groups are ``scores.mean(by=by)``.

    Examples
    --------
    >>> import rankstone
    >>> qrels, run = {"u1": {"a": 1}, "u2": {"a": 1}}, {"u1": ["a", "b"], "u2": ["b", "a"]}
    >>> scores = rankstone.evaluate(qrels, run, "RR")
    >>> gaps = rankstone.group_gaps(scores, "group", users={"u1": "old", "u2": "new"})
    >>> gaps.select("gap", "mad", "worst_group").rows()
    [(0.5, 0.5, 'new')]
    """
    if users is not None:
        scores = _with(scores, users, columns)
    means = scores.mean(by=by).drop_nulls(["value", by])
    directions = {str(measure): measure.card.direction for measure in scores.measures}
    rows = []
    for (run, measure), part in means.group_by(["run", "measure"], maintain_order=True):
        part = part.sort("value", by)  # noqa: PLW2901 - the same rows, in order
        values, names = part["value"].to_list(), part[by].cast(pl.String).to_list()
        apart = [abs(a - b) for a, b in combinations(values, 2)]
        worst = {"higher": names[0], "lower": names[-1]}.get(directions[str(measure)])
        worst = worst if values[0] < values[-1] else None
        mad = sum(apart) / len(apart) if apart else None
        ends = (values[0], names[0], values[-1], names[-1])
        rows.append((run, measure, len(values), values[-1] - values[0], mad, *ends, worst))
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _with(scores: Scores, users: object, columns: Mapping[str, str] | None) -> Scores:
    """Return the scores with another table of users beside them."""
    table = read_attributes(users, "query_id", columns)
    known = table.collect(*table.columns)
    runs = {}
    for name, run in scores.runs.items():
        asked = run.queries.cast(pl.String).rename("query_id").to_frame()
        about = asked.join(known, on="query_id", how="left", maintain_order="left").drop("query_id")
        runs[name] = replace(run, about=about)
    return replace(scores, runs=runs, _means={})
