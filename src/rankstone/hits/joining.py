"""Hits of several batches, one behind the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.hits.ideal import Ideal
from rankstone.hits.pool import Places
from rankstone.hits.ragged import Hits

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["joined"]

_COLUMNS: Final = ("rank", "grade", "first", "last", "judged", "n", "length", "found")
#: there where somebody asked for them
_OPTIONAL: Final = ("candidates", "run_row", "judgment_row")


def joined(parts: Sequence[Hits]) -> Hits:
    """Return the queries of several parts as one, in their order.

    Parameters
    ----------
    parts
        One or more, aligned under the same options and without pools of judged documents.
    """
    first = parts[0]

    def column(name: str) -> Any:  # noqa: ANN401 - an array
        return np.concatenate([getattr(part, name) for part in parts])

    return Hits(
        offsets=_offsets([part.offsets for part in parts]),
        **{name: column(name) for name in _COLUMNS},
        ideal=Ideal(
            _offsets([part.ideal.offsets for part in parts]),
            np.concatenate([part.ideal.grade for part in parts]),
        ),
        expected=first.expected,
        lowest_grade=first.lowest_grade,
        **{name: column(name) for name in _OPTIONAL if all(getattr(p, name) is not None for p in parts)},
        pooled=_places([part.pooled for part in parts]),
        holes=_places([part.holes for part in parts]),
        about={name: np.concatenate([part.about[name] for part in parts]) for name in first.about},
    )


def _offsets(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - int64 [queries + 1]
    return np.concatenate(([0], np.cumsum(np.concatenate([np.diff(offsets) for offsets in parts]))))


def _places(parts: Sequence[Places | None]) -> Places | None:
    """Return places one behind the other; none where a part does not know them."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = [
        np.concatenate([getattr(part, name) for part in known])
        for name in ("rank", "first", "last", "run_row")
    ]
    return Places(_offsets([part.offsets for part in known]), *columns)
