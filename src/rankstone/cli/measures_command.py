"""``rankstone measures``: the live catalogue."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rankstone.measures import Named

_WIDTH = 96


@click.group("measures", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the measures by family; `measures show nDCG` prints a card."""
    if ctx.invoked_subcommand is None:
        click.echo(_listing(), nl=False)


@command.command("list")
def listing() -> None:
    """List the measures by family, a line each."""
    click.echo(_listing(), nl=False)


@command.command("show")
@click.argument("names", nargs=-1, required=True, metavar="MEASURE…")
def show(names: tuple[str, ...]) -> None:
    """Print the card of a measure: meaning, formula, example, parameters, peers."""
    from rankstone.measures import parse_measures

    kinds = dict.fromkeys(type(measure) for measure in parse_measures(names))
    click.echo("\n".join(card(kind) for kind in kinds), nl=False)


def _listing() -> str:
    from rankstone.measures import MEASURES

    families: dict[str, list[type[Named]]] = {}
    for cls in MEASURES.values():
        families.setdefault(cls.family, []).append(cls)
    lines = []
    for family, members in families.items():
        lines.append(family)
        lines += [f"  {cls.name:<10} {cls.card.sentence}" for cls in members]
    return "\n".join([*lines, "", "rankstone measures show NAME prints a card"]) + "\n"


def card(cls: type[Named]) -> str:
    """Return a measure's card as text."""
    facts = cls.card
    low, high = facts.span
    names = ", ".join(cls.aliases)
    rows = [
        ("formula", facts.formula),
        ("where", facts.symbols),
        ("example", facts.example),
        ("needs", facts.needs),
        ("range", f"{_bound(low, '-∞')} … {_bound(high, '∞')}, {_DIRECTION[facts.direction]}"),
        ("undefined", facts.undefined),
        *(("parameters" if not i else "", line) for i, line in enumerate(_parameters(cls))),
        *(("peers" if not i else "", f"{tool}: {how}") for i, (tool, how) in enumerate(facts.peers.items())),
        ("sensitive", facts.sensitive),
        ("use", facts.use),
        ("source", facts.citation),
        ("since", facts.since),
    ]
    title = f"{cls.name}{f' (also {names})' if names else ''}"
    return "\n".join([title, f"  {facts.sentence}", *(_row(*row) for row in rows)]) + "\n"


_DIRECTION = {"higher": "higher is better", "lower": "lower is better", "neither": "neither end is better"}


def _bound(value: float | None, none: str) -> str:
    return none if value is None else f"{value:g}"


def _parameters(cls: type[Named]) -> list[str]:
    lines = []
    for declared in fields(cls):
        if declared.name == "k":
            if cls.takes_cutoff:
                lines.append("@k: cutoff [whole list]")
            continue
        choices = "|".join(declared.metadata.get("choices", ())) or "number"
        default = "none" if declared.default is None else declared.default
        lines.append(f"{declared.name}: {declared.metadata['doc']}; {choices} [{default}]")
    return lines


def _row(label: str, text: str) -> str:
    indent = " " * 14
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"  {label:<12}", subsequent_indent=indent, break_long_words=False
    )
