"""``rankstone gate``: may this run replace that one?  For continuous integration."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import present, split_columns, words
from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_format, deliver, progress_bar, written
from rankstone.cli.options import ALIGNMENT, LISTS, READING
from rankstone.errors import UsageError

#: arguments that name the data; the others are options of alignment and of reading
_RUNS = ("candidate", "baseline", "qrels", "queries", "by", "cluster")
DEFAULT_CONFIG = "rankstone.toml"


@declare(
    "gate",
    {},
    "config candidate baseline qrels inconclusive check lang format csv-formulas junit summary output verbose",
    f"quiet import queries by cluster convention {LISTS} {READING} {ALIGNMENT}",
    but={
        "baseline": {"values": "FILE", "shown": "the configuration's"},
        "inconclusive": {"shown": "the configuration's, or fail"},
    },
)
def command(
    *,
    config: str | None,
    inconclusive: str | None,
    check: bool,
    lang: str | None,
    form: str,
    junit: str | None,
    summary: str | None,
    output: str | None,
    columns: str | None,
    quiet: bool,
    **runs: Any,
) -> int:
    """Decide whether a candidate may replace the baseline: allowed losses, floors, guards.

    Exit codes: 0 passed, 1 a rule failed, 2 usage error, or a margin that cannot pass with so few queries,
    3 not comparable (a guard failed, or the input is invalid), 4 inconclusive (0 with warn or pass).

    rankstone gate --candidate runs/new.run
    rankstone gate --candidate seed1.run --candidate seed2.run
    rankstone gate --check
    rankstone gate --config ci/rankstone.toml --inconclusive warn --junit gate.xml
    """
    from rankstone import gate
    from rankstone.io import refuse_inputs
    from rankstone.tables.markup import markdown

    check_format(form)
    rules = config or _configuration()
    named = split_columns(columns)
    options = present({name: runs.pop(name) for name in [*runs] if name not in _RUNS})
    runs["options"] = {**options, "columns": named}
    runs["by"] = words(runs["by"]) or None
    several = {name: runs.pop(name) for name in ("baseline", "candidate")}
    runs |= {
        name: files[0] if len(files) == 1 else list(files) or None
        for name, files in several.items()
    }
    if check:
        for name in ("by", "cluster"):
            del runs[name]
        return _checked(rules, runs, lang or "en", output)
    with (
        progress_bar(quiet=quiet) as ticker,
        progress_bar(quiet=quiet, what="blocks drawn") as drawing,
    ):
        found = gate(
            rules,
            **runs,
            inconclusive=inconclusive,
            lang=lang or "en",
            progress=ticker,
            drawing=drawing,
        )
    if junit is not None:
        deliver(None, found.junit(), junit, None)
    if summary is not None:
        refuse_inputs(summary)
        with open(summary, "a", encoding="utf-8") as lines:  # noqa: PTH123 - others have written there before
            lines.write(markdown(found.sheet(verbose=True)) + "\n")
    deliver(None, written(found, form), output, None)
    if found.warning is not None:
        click.echo(f"rankstone: warning: {found.warning}", err=True)
    return found.exit_code


def _checked(config: str, runs: dict[str, Any], lang: str, output: str | None) -> int:
    """Write a line for each margin; refuse one that cannot pass."""
    from rankstone.comparison import plan
    from rankstone.tables.phrases import phrase

    margins = plan(config, **runs)
    lines = [margin.text(lang) for margin in margins] or [
        phrase("gate", "nothing_planned", lang)
    ]
    deliver(None, "\n".join(lines) + "\n", output, None)
    for margin in margins:
        margin.refuse()
    return 0


def _configuration() -> str:
    """Return the configuration of this folder."""
    from pathlib import Path

    for name in (DEFAULT_CONFIG, "pyproject.toml"):
        if Path(name).exists():
            return name
    raise UsageError(
        "there is no rankstone.toml here", fix="--config FILE; docs/gate.md shows one"
    )
