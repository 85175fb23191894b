"""``rankstone measures``: the live catalogue."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.declaring import CardGroup, declare
from rankstone.cli.execution import check_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankstone.measures import Named


Kinds = list["type[Named]"]

#: cards are no wider than this, and no wider than the terminal
_WIDEST = 96
#: what most people look for
_COMMON = (
    *("P", "R", "F", "Success", "Rprec", "AP", "RR", "DCG", "nDCG", "ERR", "RBP"),
    *("INST", "PR", "ROC", "AUC", "GAUC", "Bpref", "infAP", "Judged", "RBO", "tau_b"),
    *("Coverage", "Gini", "Novelty", "ILD", "AWRF", "alpha_nDCG", "ERR_IA"),
    *("StRecall", "CitationP"),
)
_DIRECTION = {
    "higher": "higher is better",
    "lower": "lower is better",
    "neither": "neither end is better",
}
_FORMATS = {"format": {"values": "text|md|json", "default": "text"}}
_READING = """\
A measure is written `name(parameter=value, …)@cutoff`, as in `nDCG(gain=exp2)@10`. Cards list parameters
with their values and, in square brackets, the default. `rankstone measures show nDCG` prints a card,
`rankstone measures` a line for each measure.
"""


def _known(name: str) -> str:
    return _kinds((name,))[0].name


@click.group("measures", cls=CardGroup, known=_known, invoke_without_command=True)
@click.option("--all", "every", is_flag=True, help="list all measures")
@click.pass_context
def command(ctx: click.Context, every: bool) -> None:
    """List the common measures by family; `measures show nDCG` prints a card."""
    if ctx.invoked_subcommand is None:
        measures = _all() if every else _kinds(_COMMON)
        click.echo(_listing(measures), nl=False)


@declare("list", {}, "format import", but=_FORMATS)
def listing(form: str) -> None:
    """List the measures by family, a line each (md: with their cards)."""
    click.echo(
        _written(form, {"text": _listing, "md": _catalogue, "json": _objects})(_all()),
        nl=False,
    )


@declare("show", {"measure": "MEASURE…"}, "format import", but=_FORMATS)
def show(measure: tuple[str, ...], form: str) -> None:
    """Print the card of a measure: meaning, formula, example, parameters, peers."""
    click.echo(
        _written(form, {"text": _cards, "md": _pages, "json": _objects})(
            _kinds(measure)
        ),
        nl=False,
    )


command.add_command(listing)
command.add_command(show)


def _written(
    form: str, writers: dict[str, Callable[[Kinds], str]]
) -> Callable[[Kinds], str]:

    check_format(form, writers)
    return writers[form]


def _all() -> Kinds:
    from rankstone.measures import MEASURES

    return list(MEASURES.values())


def _kinds(names: tuple[str, ...]) -> Kinds:
    """Read names of measures; a card needs no parameters, so a bare name is enough."""
    from rankstone.measures import measure_kind

    return list(dict.fromkeys(measure_kind(name) for name in names))


# -- one line each ---------------------------------------------------------------------------------------
def _families(kinds: Kinds) -> dict[tuple[str, str], Kinds]:
    """Return measures by what computes them and family, both in the order of the catalogue."""
    ways = list(dict.fromkeys(kind.computed_by for kind in kinds))
    found: dict[tuple[str, str], Kinds] = {}
    for kind in sorted(kinds, key=lambda kind: ways.index(kind.computed_by)):
        found.setdefault((kind.computed_by, kind.family), []).append(kind)
    return found


def _listing(kinds: Kinds) -> str:
    width = max(len(kind.name) for kind in kinds)
    terminal = None
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        terminal = shutil.get_terminal_size().columns
    lines = list[str]()
    before = ""
    for (computed_by, family), members in _families(kinds).items():
        if computed_by != before:
            if lines:
                lines.append("")
            lines.append(computed_by)
            lines.append("─" * len(computed_by))
            before = computed_by
        lines.append(family)
        for kind in members:
            line = f"  {kind.name:<{width}}  {kind.card.sentence}"
            if terminal and len(line) > terminal:
                line = textwrap.fill(
                    line, terminal, subsequent_indent=" " * (width + 4)
                )
            lines.append(line)
    count = len(_all())
    if len(kinds) < count:
        lines += ["", f"rankstone measures --all lists all {count}"]
    return "\n".join([*lines, "", "rankstone measures show NAME prints a card"]) + "\n"


# -- cards -----------------------------------------------------------------------------------------------
def rows(kind: type[Named]) -> list[tuple[str, str]]:
    """Return a measure's card as labels and texts; a label may come several times."""
    facts = kind.card
    low, high = facts.span
    return [
        ("formula", facts.formula),
        ("where", facts.symbols),
        ("example", facts.example),
        ("needs", facts.needs),
        ("computed by", kind.computed_by),
        (
            "range",
            f"{_bound(low, '-∞')} … {_bound(high, '∞')}, {_DIRECTION[facts.direction]}",
        ),
        ("undefined", facts.undefined),
        *(("parameters", line) for line in _parameters(kind)),
        *(("peers", f"{tool}: {how}") for tool, how in facts.peers.items()),
        ("sensitive", facts.sensitive),
        ("use", facts.use),
        ("scale", facts.scale),
        ("source", facts.citation),
        ("since", facts.since),
    ]


def card(kind: type[Named]) -> str:
    """Return a measure's card as text."""
    lines = [_title(kind), f"  {kind.card.sentence}"]
    before = ""
    for label, text in rows(kind):
        lines.append(_row("" if label == before else label, text))
        before = label
    return "\n".join(lines) + "\n"


def _cards(kinds: Kinds) -> str:
    return "\n".join(card(kind) for kind in kinds)


def _catalogue(kinds: Kinds) -> str:
    """Return all cards as Markdown, below links to each."""
    pages = _pages(kinds)
    anchors = _anchors(
        line.lstrip("# ") for line in pages.splitlines() if re.match("#+ ", line)
    )
    head, body = pages.split("\n", 1)
    lines = [head, "", _READING]
    next(anchors)
    for (_, family), members in _families(kinds).items():
        links = [f"[**{family}**](#{next(anchors)})"]
        links += [f"[{_escaped(kind.name)}](#{next(anchors)})" for kind in members]
        text = f"- {links[0]}: {' · '.join(links[1:])}"
        lines += textwrap.wrap(
            text,
            110,
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines) + "\n" + body


def _anchors(headings: Iterable[str]) -> Iterator[str]:
    """Return what links to headings, in their order, as GitHub makes it."""
    seen: dict[str, int] = {}
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if anchor in seen else anchor
        seen[anchor] = seen.get(anchor, 0) + 1


def _pages(kinds: Kinds) -> str:
    """Return cards as Markdown, by family."""
    lines = ["# Measures", ""]
    for (computed_by, family), members in _families(kinds).items():
        lines += [
            f"## {family[0].upper()}{family[1:]}",
            "",
            f"Computed by `{computed_by}`.",
            "",
        ]
        for kind in members:
            lines += [f"### {_title(kind)}", "", kind.card.sentence, ""]
            for label, group in groupby(rows(kind), key=itemgetter(0)):
                texts = [_escaped(text) for _, text in group]
                if len(texts) == 1:
                    lines.append(f"- **{label}**: {texts[0]}")
                else:
                    lines += [f"- **{label}**:", *(f"  - {text}" for text in texts)]
            lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def _escaped(text: str) -> str:
    """Return text that Markdown leaves as it is."""
    return "".join(f"\\{char}" if char in "\\`*_|<>" else char for char in text)


def _objects(kinds: Kinds) -> str:
    """Return cards as JSON."""
    from rankstone.tables.results import as_json

    return as_json([_object(kind) for kind in kinds])


def _object(kind: type[Named]) -> dict[str, Any]:
    facts = {f.name: getattr(kind.card, f.name) for f in fields(kind.card)}
    facts["peers"] = dict(facts["peers"])
    head = {
        "name": kind.name,
        "aliases": kind.aliases,
        "family": kind.family,
        "computed_by": kind.computed_by,
    }
    return {
        **head,
        **facts,
        "parameters": list(_parameters(kind)),
        "examples": kind.examples,
    }


def _title(kind: type[Named]) -> str:
    names = ", ".join(kind.aliases)
    return f"{kind.name}{f' (also {names})' if names else ''}"


def _bound(value: float | None, none: str) -> str:
    return none if value is None else f"{value:g}"


def _parameters(kind: type[Named]) -> Iterable[str]:
    for declared in fields(kind):
        if declared.name == "k" and kind.takes_cutoff:
            budget = (
                ", or a budget: @tokens(2000), @calls(3)"
                if getattr(kind, "takes_budget", False)
                else ""
            )
            yield f"@k: cutoff [whole list]{budget}"
        if declared.name in ("k", "budget"):
            continue
        rules = declared.metadata
        kind_of_value = "number"
        if declared.name == "of":
            kind_of_value = "measure"
        elif rules.get("word"):
            kind_of_value = "name"
        choices = "|".join(rules.get("choices", ())) or kind_of_value
        default = "none" if declared.default is None else declared.default
        default = "must be given" if rules.get("needed") else default
        yield f"{declared.name}: {rules['doc']}; {choices} [{default}]"


def _row(label: str, text: str) -> str:
    indent = " " * 15
    width = min(_WIDEST, max(40, shutil.get_terminal_size((_WIDEST, 24)).columns))
    return textwrap.fill(
        text,
        width,
        initial_indent=f"  {label:<13}",
        subsequent_indent=indent,
        break_long_words=False,
    )
