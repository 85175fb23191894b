"""Run all cases, write their outcomes and print the table: ``python -m tests.strangers``.

With words, only the cases whose names contain one of them are run, and each step is shown: what was run, what it
printed, and how it came out; nothing is written then.
"""

from __future__ import annotations

import sys
from textwrap import indent
from typing import Final

import click
import tests.conftest  # noqa: F401 - old versions of click are as new ones
from tests.strangers.cases import all_cases
from tests.strangers.outcomes import OUTCOMES, followed, recorded, table, write

#: lines of each text that are shown
_SHOWN: Final = 12


def main(words: list[str]) -> None:
    """Run the cases that have one of the words in their names, or all."""
    cases = [
        case
        for case in all_cases()
        if not words or any(word in case.name for word in words)
    ]
    outcomes = {}
    before = recorded()
    for case in cases:
        for name, run in zip(case.run_names(), case.runs, strict=True):
            trail = followed(case, run)
            outcomes[name] = trail.outcome
            if words:
                click.echo(f"\n== {name}: {trail.outcome} ({case.title})")
                for text, ending in trail.steps:
                    click.echo(f"$ {text}")
                    lines = ending.text.strip().splitlines()
                    click.echo(indent("\n".join(lines[:_SHOWN]), "    "))
            elif name in before and before[name] != trail.outcome:
                way = (before[name], trail.outcome)
                step = (
                    "worse"
                    if way == tuple(sorted(way, key=OUTCOMES.index))
                    else "better"
                )
                click.echo(f"{step}: {name}: {' → '.join(way)}")
    click.echo(table(cases, outcomes))
    if not words:
        write(outcomes)


if __name__ == "__main__":
    main(sys.argv[1:])
