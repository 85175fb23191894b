"""What a reader of an A/B test must know of its numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankstone.errors import printable
from rankstone.stats.sequential import TUNED_TO
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.behaviour.experiments.measuring import Arm

__all__ = ["remarks", "running", "without_spread"]

_LOOKS = "ten looks on the way find a difference that is none in about 19 % of experiments, not 5 %"


def remarks(repeats: Mapping[str, str], *, sequential: bool) -> dict[str, str]:
    """Return what holds of the p-values, and of measures that are not what they seem."""
    looks = (
        "intervals, p-values and verdicts hold at every look (for large samples; narrowest at "
        f"{TUNED_TO:,} units)"
        if sequential
        else f"intervals, p-values and verdicts hold for one look, at an end fixed beforehand; {_LOOKS}: "
        "while it is running use sequential=True (--sequential)"
    )
    told = {"looks": looks}
    for measure, other in repeats.items():
        told[measure] = f"asks what {other} asks, as this log is, so both are one question of the family"
    told["mean_click_rank"] = (
        "is of clicks alone: a variant that loses its clicks far down gets a better one; read it beside "
        "abandonment"
    )
    return told


def running(units: int, planned: int | None, *, sequential: bool) -> Iterator[str]:
    """Warn of an experiment that has not reached its end, where a look now is not allowed for."""
    if planned is not None and units < planned and not sequential:
        yield (
            f"the experiment is still running, with {units:,} of {counted(planned, 'unit')}: {_LOOKS}; "
            "use sequential=True (--sequential), or wait for the end"
        )


def without_spread(arms: Mapping[str, Sequence[Arm]], labels: Sequence[str]) -> Iterator[str]:
    """Warn of variants in which all units have one value of a measure."""
    for measure, of in arms.items():
        for label, one in zip(labels, of, strict=True):
            if one.alike and one.found is not None:
                known = "its error is a bound (Clopper and Pearson's), no estimate"
                yield (
                    f"{measure} is {one.found.value:g} for all {one.found.units:,} units of "
                    f"{printable(label, 40)}, which shows no spread: "
                    f"{'nothing is claimed of it' if math.isnan(one.found.error) else known}"
                )
