"""``rankstone gate``: may this run replace that one?  For continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankstone.cli.importing import importing
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone.gating import Gate

FORMATS = ("text", "md", "json")
DEFAULT_CONFIG = "rankstone.toml"


@click.command("gate")
@click.option("--config", metavar="FILE", help="TOML: rules and guards [rankstone.toml, or pyproject.toml]")
@click.option("--candidate", metavar="FILE", help="the run that wants in, instead of the configuration's")
@click.option("--baseline", metavar="FILE", help="the run it would replace")
@click.option("--qrels", metavar="FILE", help="the judgments")
@click.option(
    "--inconclusive",
    metavar="fail|warn|pass",
    help="what an inconclusive rule does [the configuration's, or fail]",
)
@click.option("--check", is_flag=True, help="say which margins these queries can pass; score nothing")
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option("--junit", metavar="FILE", help="write the outcomes as JUnit XML, too")
@click.option("--summary", metavar="FILE", help='append them as Markdown: "$GITHUB_STEP_SUMMARY"')
@click.option("-o", "--output", metavar="FILE", help="write the result there instead of printing it")
@click.option("--quiet", is_flag=True, help="no progress bar")
@importing
def command(
    config: str | None,
    candidate: str | None,
    baseline: str | None,
    qrels: str | None,
    inconclusive: str | None,
    check: bool,  # noqa: FBT001 - click passes flags so
    form: str,
    junit: str | None,
    summary: str | None,
    output: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
) -> int:
    """Say whether a candidate may replace the baseline: rules with margins on intervals, floors, guards.

    Exit codes: 0 passed, 1 a rule failed, 2 usage, or a margin that so few queries cannot pass, 3 not
    comparable (a guard does not hold, or the input is invalid), 4 inconclusive (0 with warn or pass).

    \b
    rankstone gate --candidate runs/new.run
    rankstone gate --check
    rankstone gate --config ci/rankstone.toml --inconclusive warn --junit gate.xml
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import gate
    from rankstone.cli.arguments import keep_inputs
    from rankstone.cli.outputs import check_format, deliver

    check_format(form, FORMATS)
    told = config or _found()
    keep_inputs([told, *filter(None, (candidate, baseline, qrels))], output, junit)
    runs = {"candidate": candidate, "baseline": baseline, "qrels": qrels}
    if check:
        return _checked(told, runs, output)
    runs["inconclusive"] = inconclusive
    with Ticker(quiet=quiet) as ticker, Ticker(quiet=quiet, what="blocks drawn") as drawing:
        found = gate(told, **runs, progress=ticker, drawing=drawing)
    if junit is not None:
        deliver(None, found.junit(), junit, None)
    if summary is not None:
        with open(summary, "a", encoding="utf-8") as lines:  # noqa: PTH123 - others have written there before
            lines.write(found.markdown() + "\n")
    deliver(None, _written(found, form), output, None)
    if found.warning is not None:
        click.echo(f"rankstone: warning: {found.warning}", err=True)
    return found.exit_code


def _checked(config: str, runs: dict[str, str | None], output: str | None) -> int:
    """Write a line for each margin; refuse one that cannot pass."""
    from rankstone.cli.outputs import deliver
    from rankstone.gating import plan

    margins = plan(config, **runs)
    lines = [margin.text() for margin in margins] or ["no rule has a margin that can be planned for"]
    deliver(None, "\n".join(lines) + "\n", output, None)
    for margin in margins:
        margin.refuse()
    return 0


def _found() -> str:
    """Return the configuration of this folder."""
    from pathlib import Path

    from rankstone.errors import UsageError

    for name in (DEFAULT_CONFIG, "pyproject.toml"):
        if Path(name).exists():
            return name
    raise UsageError("there is no rankstone.toml here", fix="--config FILE; docs/gate.md shows one")


def _written(found: Gate, form: str) -> str:
    from rankstone.cli.outputs import as_json, columns_of_terminal

    if form == "json":
        return as_json(found.report())
    return found.markdown() if form == "md" else found.text(columns_of_terminal()) + "\n"
