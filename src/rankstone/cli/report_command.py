"""``rankstone report``: a comparison as one HTML page that opens offline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.comparing import compared, comparing
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, reading
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Sequence

#: bytes of files that stay in memory, at most
_KEPT = 1 << 28


@click.command("report", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS A B [C]…")
@click.option("-o", "--output", required=True, metavar="FILE", help="the page, report.html")
@comparing
@click.option("--digits", type=click.IntRange(0, 17), default=4, show_default=True, help="decimals shown")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    output: str,
    measures: tuple[str, ...],
    digits: int,
    quiet: bool,  # noqa: FBT001 - click passes flags so
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Put a comparison on one HTML page: verdict, queries side by side, curves, statistics, provenance.

    The page opens offline and fetches nothing.  It needs the extra: pip install "rankstone[report]"

    \b
    rankstone report qrels.txt bm25.run dense.run -o report.html
    rankstone report qrels.txt a.run b.run c.run --baseline a -m "nDCG@10 AP" -o report.html --lang zh
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.report import Report, require

    require()
    found = compared(files, measures, output, None, quiet=quiet, keep_runs=_small(files), **options)
    with Ticker(quiet=quiet, what="lists unfolded") as unfolded:
        Report(replace(found, digits=digits), command=command_line(), progress=unfolded).write(output)
    end_with_bad_runs({} if found.audit is None else found.audit.bad_runs)


def _small(files: Sequence[str]) -> bool:
    """Say whether files may stay in memory: a report looks at lists several times."""
    from pathlib import Path

    from rankstone.io import is_database

    named = [name.partition("=")[2] or name for name in files]
    if any(map(is_database, (*files, *named))):
        return False
    paths = list(map(Path, named))
    return sum(path.stat().st_size for path in paths if path.is_file()) < _KEPT


def command_line() -> str:
    """Return the command line as somebody may type it again."""
    import shlex
    import sys

    arguments: Sequence[str] = sys.argv[1:]
    return shlex.join(["rankstone", *arguments])
