"""By how much estimators miss on average, where that is part of what they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.stats import Estimate

__all__ = ["bias_of", "biased", "without_spread"]

_NONE = "none"
_CLIPPED = "by design"


def bias_of(found: Mapping[str, Estimate | None], *, gains: bool) -> dict[str, str]:
    """Return what bias each estimator has, in a few words.

    Parameters
    ----------
    found
        The estimates.
    gains
        Whether no reward is negative, so that weights that are cut can only take away.
    """
    told = dict.fromkeys(found, _NONE) | {"snips": "fades with n", "dm": f"{_CLIPPED}: the model's"}
    told["clipped"] = f"{_CLIPPED}: too low" if gains else _CLIPPED
    whole, cut = found.get("ips"), found.get("clipped")
    if whole is not None and cut is not None and whole.value == cut.value:
        told["clipped"] = _NONE
    return {name: told[name] for name in found}


def biased(bias: Mapping[str, str]) -> dict[str, str]:
    """Return what to know of the estimators that are biased by design."""
    why = {
        "clipped": "its interval is of what clipped weights earn and leaves out what the clip takes away, "
        "which ips does not lose",
        "dm": "its interval is of what the model says and leaves out what that gets wrong, which dr corrects",
    }
    return {name: told for name, told in why.items() if bias.get(name, _NONE) != _NONE}


def without_spread(found: Mapping[str, Estimate | None]) -> Iterator[str]:
    """Warn of estimates that all units agree on."""
    for name, one in found.items():
        if one is not None and one.units > 1 and math.isnan(one.error):
            yield (
                f"{name} is {one.value:g} for every unit: no spread is seen, and nothing says how far it may "
                "be off"
            )
