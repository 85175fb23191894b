"""Options as the shell spells them, in messages that name them as Python does."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rankstone.errors import RankstoneError

__all__ = ["as_flags", "told"]

#: keyword arguments beside the options of alignment that commands have flags for
_FURTHER: Final = (
    "catalogue_size", "confidence", "grades", "limit", "resamples", "seed", "band", "separator", "tz",
    "times_in", "time_unit", "week_start", "day_origin", "unit", "kind", "days", "start", "end", "since",
    "invalid", "early", "unregistered", "duplicate_registrations", "segments", "versus", "correction", "show",
    "method", "propensities", "clip", "smoothing", "min_impressions", "lists", "unlinked", "tolerance",
    "max_iterations", "unknown", "propensity", "discount", "cluster", "margin", "shares", "draws", "items",
    "gamma", "levels", "planned", "on_bad_run", "exclude",
)  # fmt: skip


def as_flags(text: str) -> str:
    """Return a text in which options stand as flags; measures' parameters and columns stay.

    >>> as_flags("choose score_dtype=float32, or a measure: AUC(negatives=judged, ties=half)")
    'choose --score-dtype float32, or a measure: AUC(negatives=judged, ties=half)'
    """
    from rankstone import Alignment

    names = "|".join([field.name for field in fields(Alignment)] + list(_FURTHER))
    columns = r"--columns (?:'[^']*'|\"[^\"]*\"|[^\s'\"])+"
    found = re.compile(rf"\w\([^()]*\)|{columns}|(?<![\w-])(?<!in Python )(?P<name>{names})=(?=\S)")
    return found.sub(lambda hit: hit[0] if hit["name"] is None else f"{_flag(hit['name'])} ", text)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def told(error: RankstoneError) -> str:
    """Return an error's message for somebody at a shell; measures' parameters are the same in both worlds."""
    from rankstone.errors import BadParameter, BadRuns, UnknownMeasure

    if isinstance(error, BadRuns):
        for one in error.errors.values():
            told(one)
    if not isinstance(error, (BadParameter, UnknownMeasure)):
        error.what = as_flags(error.what)
        error.expected = error.expected and as_flags(error.expected)
        error.fix = error.fix and as_flags(error.fix)
    return str(error)
