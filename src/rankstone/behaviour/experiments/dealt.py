"""How units were dealt out to variants, and whether that can be chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadOption
from rankstone.stats import always_valid_ratio, sample_ratio
from rankstone.words import some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.behaviour.experiments.measuring import Arm

__all__ = ["dealt"]

#: p below which shares are no chance (Fabijan et al., KDD 2019, use 0.0005 to 0.01)
_ALARM: Final = 0.001


def dealt(
    labels: Sequence[str], arms: Sequence[Arm], shares: Mapping[str, float] | None, *, sequential: bool
) -> tuple[pl.DataFrame, list[str]]:
    """Return a row a variant with its units, and a warning where there are too many or too few."""
    due = dict.fromkeys(labels, 1 / len(labels)) if shares is None else dict(shares)
    if set(due) != set(labels) or any(not share > 0 for share in due.values()):
        raise BadOption(
            f"shares={due!r} are not those of the variants",
            expected=f"a share above 0 for each of {some(labels)}",
        )
    every = math.fsum(due.values())
    parts = [due[label] / every for label in labels]
    units = [int(arm.present.sum()) for arm in arms]
    found = sample_ratio(units, parts)
    p = always_valid_ratio(units, parts) if sequential else found.p
    table = pl.DataFrame(
        {
            "variant": list(labels),
            "units": units,
            "expected": [part * sum(units) for part in parts],
            "chi_square": found.chi_square,
            "p": p,
        }
    )
    if p >= _ALARM:
        return table, []
    told = (
        f"sample ratio mismatch (p = {p:.2g}): units were not dealt out as they should have been, and "
        "no difference can be trusted before it is known why"
    )
    return table, [told]
