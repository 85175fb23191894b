"""Lines as trec_eval prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.trec_eval.lines import Line
    from rankstone.trec_eval.results import Results
    from rankstone.trec_eval.settings import Settings

__all__ = ["printed"]

#: an id is never cut, only made safe to print
_WHOLE: Final = 1 << 30


def printed(
    results: Results, lines: list[Line], settings: Settings, tag: str, *, scaled: bool
) -> Iterator[str]:
    """Yield the lines of every query, then those over all.

    Parameters
    ----------
    results, lines
        The values, and what was asked for, in the order in which it is printed.
    settings
        Whether queries, and whether the summary are wanted.
    tag
        The run's id.
    scaled
        Whether values are z-scores.
    """
    if settings.queries:
        for at, query in enumerate(results.queries):
            shown = printable(query, _WHOLE)
            for line in lines:
                if line.length:
                    yield f"{line.name:<22}\t{shown}\t'{results.strings[line.name][at]}'"
                elif line.measure is not None and not line.is_geometric:
                    yield _line(line, shown, float(results.values[line.name][at]), scaled=scaled)
    if settings.summary:
        for line in lines:
            if line.name == "runid":
                yield f"{line.name:<22}\tall\t{printable(tag, _WHOLE)}"
            elif not line.length:
                yield _line(line, "all", results.total(line, settings), scaled=scaled)


def _line(line: Line, query: str, value: float, *, scaled: bool) -> str:
    if scaled:
        return f"Z{line.name:<22}\t{query}\t{value:6.4f}"
    number = str(int(value)) if line.trec.counts else f"{value:6.4f}"
    return f"{line.name:<22}\t{query}\t{number}"
