"""Scores in standard deviations from the mean of reference runs (-Z)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from rankstone.errors import BadLine, InputError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankstone.hits.arrays import Floats

__all__ = ["MISSING", "ZScores"]

#: stands where the reference runs say nothing
MISSING: Final = -1_000_000.0


@dataclass(frozen=True, eq=False)
class ZScores:
    """Mean and standard deviation of each measure on each query.

    Attributes
    ----------
    known
        {(query, measure): (mean, deviation)}.
    """

    known: Mapping[tuple[str, str], tuple[float, float]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read lines of ``query measure mean deviation``."""
        known = {}
        try:
            text = path.read_text("utf-8")
        except OSError as error:
            raise InputError(error.strerror or printable(error), where=str(path)) from error
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split()
            try:
                query, measure, mean, deviation = words
                known[query, measure] = float(mean), float(deviation)
            except ValueError:
                raise BadLine(
                    "this is no reference for z-scores",
                    where=f"{path}:{number}",
                    given=printable(line),
                    expected="query measure mean deviation",
                ) from None
        return cls(known)

    def of(self, measure: str, queries: Sequence[str], values: Floats) -> Floats:
        """Return z-scores; -1000000 without a reference, and for another value than all references had."""
        mean, deviation = (
            np.array([self.known.get((query, measure), (np.nan, np.nan)) for query in queries])
            .reshape(-1, 2)
            .T
        )
        spread = np.where(deviation == 0, 1.0, deviation)
        z = (values - mean) / spread
        return np.where(np.isnan(z) | ((deviation == 0) & (values != mean)), MISSING, z)
