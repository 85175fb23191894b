"""How much memory there is, and into how many ranges work must be split to stay within it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadParameter, printable

if TYPE_CHECKING:
    from rankstone.out_of_core.ranges import Survey

__all__ = ["Budget", "parse_size"]

_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)

#: what is there whatever the data: libraries, the stream's pieces, two batches being worked on
_BASE: Final = 600_000_000
_LEAST: Final = 800_000_000
#: bytes of a judgment while it is prepared, and of a query beside its scores; ids that are texts take more
_JUDGMENT: Final = {False: 90, True: 140}
_QUERY: Final = {False: 100, True: 170}
#: bytes of one measure's scores of one query: as parts, and while the whole is made of these
_SCORE: Final = 45
#: bytes of a row that is brought together with its query's others
_ROW: Final = {False: 55, True: 75}


def parse_size(size: str | float) -> int:
    """Return a number of bytes.

    >>> parse_size("4GB"), parse_size("1.5 GiB"), parse_size("800M"), parse_size(2_000_000_000)
    (4000000000, 1610612736, 800000000, 2000000000)
    """
    text = f"{size:.0f}" if isinstance(size, (int, float)) and not isinstance(size, bool) else str(size)
    found = _SIZE.fullmatch(text)
    if found is None:
        raise BadParameter(
            f"memory={printable(text)!r} is no size", expected="a number of bytes, 800MB, 4GB, 1.5GiB"
        )
    unit = found[2].upper()
    size = int(float(found[1]) * (_BINARY if unit and found[3] else _UNITS)[unit])
    if size < _LEAST:
        raise BadParameter(f"memory={printable(text)} is too little", expected=f"{_LEAST // 10**6}MB or more")
    return size


@dataclass(frozen=True)
class Budget:
    """What must fit into the memory at the same time.

    Attributes
    ----------
    memory
        Bytes.
    measures
        How many are computed.
    texts
        Whether ids are texts, which take more room than numbers.
    """

    memory: int
    measures: int
    texts: bool

    def ranges(self, judgments: Survey, gathered: int = 0) -> int:
        """Return into how many ranges to split the queries.

        Parameters
        ----------
        judgments
            What is known of the judgments.
        gathered
            Rows of the run that have to be brought together, as those of a query are scattered.
        """
        queries = min(judgments.stretches, judgments.rows)
        scores = queries * (_QUERY[self.texts] + self.measures * _SCORE)
        size = judgments.rows * _JUDGMENT[self.texts] + scores + gathered * _ROW[self.texts]
        return max(1, ceil(size / (self.memory - _BASE)))
