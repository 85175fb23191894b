"""A report: what is on its pages, made when it is first needed, and written whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstone.io import atomic

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from rankstone.comparing import Comparison

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """A comparison as one HTML page.

    Parameters
    ----------
    comparison
        What is reported.
    command
        The command line that made it, to be shown.
    progress
        Called with 1 for every list that is unfolded.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    >>> Report(found).write("report.html")  # doctest: +SKIP
    """

    comparison: Comparison
    command: str | None = None
    progress: Callable[[int], None] | None = None

    def html(self) -> str:
        """Return the page: no part of it is fetched from anywhere."""
        from rankstone.report.content import content
        from rankstone.report.page import page, require

        require()
        return page(content(self.comparison, self.command, self.progress))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        text = self.html()
        with atomic(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
