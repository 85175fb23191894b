"""``rankstone report``: a comparison as one HTML page that opens offline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankstone.cli.compare_command import comparison
from rankstone.cli.declaring import declare
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.execution import command_line, keyword_options, progress_bar
from rankstone.cli.options import ALIGNMENT, COMPARING, READING


@declare(
    "report",
    {"files": "QRELS A B [C]…"},
    f"output title documents {COMPARING} quiet digits {READING} {ALIGNMENT}",
    required="output",
)
def command(
    files: tuple[str, ...],
    output: str,
    digits: int,
    title: str | None,
    documents: str | None,
    **given: Any,
) -> None:
    """Write a comparison as one HTML page: the answer, queries won and lost, examples, caveats, method.

    The page opens offline and fetches nothing.  It needs the extra: pip install "rankstone[report]"

    rankstone report qrels.txt bm25.run dense.run -o report.html
    rankstone report qrels.txt a.run b.run c.run --baseline a -m "nDCG@10 AP" -o report.html --lang zh
    rankstone report qrels.txt a.run b.run --queries queries.jsonl --documents docs.jsonl -o report.html
    """
    import rankstone
    from rankstone.reports import require

    require()
    quiet, queries = given["quiet"], given["queries"]
    find, inputs = comparison(files, given)
    with keyword_options(given, [*inputs, documents], {"-o": output}) as options:
        found = find(**options, **({} if options["scores"] else {"documents": documents}))
    with progress_bar(quiet=quiet, what="runs read") as read:
        shown = replace(found, digits=digits)
        rankstone.report(
            shown,
            output,
            title=title,
            documents=documents,
            queries=queries,
            command=command_line(),
            progress=read,
        )
    if found.audit is not None and found.audit.bad_runs:
        end_with_bad_runs(found.audit.bad_runs)
