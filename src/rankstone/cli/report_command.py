"""``rankstone report``: a comparison as one HTML page that opens offline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankstone.cli.compare_command import comparison
from rankstone.cli.declaring import declare
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.execution import keyword_options, progress_bar
from rankstone.cli.options import ALIGNMENT, COMPARING, READING

if TYPE_CHECKING:
    from collections.abc import Sequence


#: bytes of files that stay in memory, at most
_KEPT = 1 << 28


@declare(
    "report",
    {"files": "QRELS A B [C]…"},
    f"output {COMPARING} quiet digits {READING} {ALIGNMENT}",
    required="output",
)
def command(files: tuple[str, ...], output: str, digits: int, **given: Any) -> None:
    """Write a comparison as one HTML page: verdict, queries side by side, curves, statistics, provenance.

    The page opens offline and fetches nothing.  It needs the extra: pip install "rankstone[report]"

    rankstone report qrels.txt bm25.run dense.run -o report.html
    rankstone report qrels.txt a.run b.run c.run --baseline a -m "nDCG@10 AP" -o report.html --lang zh
    """
    import rankstone
    from rankstone.reports import require

    require()
    quiet = given["quiet"]
    find, inputs = comparison(files, given, keep_runs=_small(files))
    with keyword_options(given, inputs, {"-o": output}) as options:
        found = find(**options)
    with progress_bar(quiet=quiet, what="lists unfolded") as unfolded:
        shown = replace(found, digits=digits)
        rankstone.report(shown, output, command=command_line(), progress=unfolded)
    if found.audit is not None and found.audit.bad_runs:
        end_with_bad_runs(found.audit.bad_runs)


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
    """Return the command line as it can be typed again."""
    import shlex
    import sys

    arguments: Sequence[str] = sys.argv[1:]
    return shlex.join(["rankstone", *arguments])
