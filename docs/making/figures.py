"""The figures of the readmes' sentence about speed, from the table of the benchmarks."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from docs.making.pictures import times

__all__ = ["with_figures"]


class _Sentence(NamedTuple):
    """How the line begins, what it says then, and how seconds and memory are written in it."""

    begin: str
    text: str
    cost: str


_SENTENCES: Final = (
    _Sentence(
        "- **Fast, with little memory**: ",
        "7 million rows in {}, a billion in {} ([benchmarks](docs/benchmarks.md)).",
        "{:.2g} s and {}",
    ),
    _Sentence(
        "- **速度快，内存省**：",
        "700 万行 {}，十亿行 {}（[基准测试](docs/benchmarks.md)）。",
        "{:.2g} 秒、{}",
    ),
)
_CASES: Final = ("parquet-7m", "growth-1000m")
_MB_PER_GB: Final = 1000


def with_figures(page: str) -> str:
    """Return a readme with the sentence as the table has it now."""
    measured = times()
    for begin, text, cost in _SENTENCES:
        costs = []
        for case in _CASES:
            seconds, megabytes = measured[case, "rankstone"]
            costs.append(cost.format(seconds, _memory(megabytes)))
        line = begin + text.format(*costs)
        page = re.sub(rf"(?m)^{re.escape(begin)}.*$", line, page)
    return page


def _memory(megabytes: int) -> str:
    if megabytes < _MB_PER_GB:
        return f"{megabytes} MB"
    return f"{megabytes / _MB_PER_GB:.1f} GB"
