"""Learning to rank: linear rankers, trained, tuned, selected and compared.

Comes in: features, labels and query ids, from arrays or files.  Goes out: models, and scores that the usual
road measures.  :class:`RankSVM` learns an order from pairs, :class:`CoordinateAscent` climbs the measure
itself, :func:`select` says which of many is best, and whether that is more than noise.  Needs
``rankstone[ltr]``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstone.ltr.ascent import CoordinateAscent
    from rankstone.ltr.data import Dataset, read
    from rankstone.ltr.models import LinearModel, load
    from rankstone.ltr.ranksvm import RankSVM
    from rankstone.ltr.selection import Selection, select

_HOMES = {
    "CoordinateAscent": "ascent",
    "Dataset": "data",
    "LinearModel": "models",
    "RankSVM": "ranksvm",
    "Selection": "selection",
    "load": "models",
    "read": "data",
    "select": "selection",
}

__all__ = ["CoordinateAscent", "Dataset", "LinearModel", "RankSVM", "Selection", "load", "read", "select"]


def __getattr__(name: str) -> object:
    """Import a name from its home at first use."""
    if name not in _HOMES:
        msg = f"module 'rankstone.ltr' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"rankstone.ltr.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
