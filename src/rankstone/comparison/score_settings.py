"""Under which options saved scores were computed, and where those of several tables differ."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import is_path
from rankstone.errors import printable
from rankstone.evaluation.scores import Scores
from rankstone.io.sources import is_database
from rankstone.io.suffixes import named_format
from rankstone.tables.results import ABOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    #: table → the options under which its scores were computed
    Settings = Mapping[str, Mapping[str, Any]]


#: characters of names and of values
_NAME: Final = 40


def settings_of(table: object) -> dict[str, Any] | None:
    """Return the options under which scores were computed; ``None`` where a table does not say it.

    Scores know them, and Parquet files that were written from scores.
    """
    if isinstance(table, Scores):
        return _settings(table.conventions)
    if not is_path(table) or is_database(table):
        return None
    path = Path(os.fspath(table))
    if named_format(path) != "parquet" or not path.is_file():
        return None

    metadata = pl.read_parquet_metadata(path)
    conventions = json.loads(metadata.get(ABOUT, "{}"))
    return _settings(conventions)


def _settings(conventions: Mapping[str, Any]) -> dict[str, Any] | None:
    if "alignment" not in conventions:
        return None
    settings = dict(conventions["alignment"])
    settings["convention"] = conventions.get("convention")
    return settings


def differing_settings(settings: Settings) -> str:
    """Return the options that are not the same for all tables, with their values.

    >>> differing_settings({"a": {"order": "score"}, "b": {"order": "score", "exclude": "seen.csv"}})
    'exclude: – (a), seen.csv (b)'
    """
    names = dict[str, None]()
    for options in settings.values():
        names |= dict.fromkeys(options)

    parts = []
    for name in names:
        shown = []
        texts = set()
        for table, options in settings.items():
            text = "–"
            value = options.get(name)
            if value is not None:
                text = str(value)

            texts.add(text)
            text = printable(text, _NAME)
            known_as = printable(table, _NAME)
            shown.append(f"{text} ({known_as})")
        if len(texts) == 1:
            continue
        values = ", ".join(shown)
        parts.append(f"{name}: {values}")
    return "; ".join(parts)
