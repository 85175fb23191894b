"""``rankstone conventions``: what other libraries mean by the same names.

Conventions as Markdown: a page a library, and a table a measure.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rankstone._basics import some
from rankstone.cli.arguments import (
    chosen_measures,
    holds_both,
    named_runs,
    split_columns,
)
from rankstone.cli.command_files import made_folder
from rankstone.cli.declaring import CardGroup, declare
from rankstone.cli.execution import check_format, progress_bar
from rankstone.errors import UsageError
from rankstone.tables.phrases import from_english, phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.conventions import Convention, Effect, Entry


_NUMBERS = 6
_OPTION_WIDTH = 40


def _known(name: str) -> str:
    from rankstone.conventions import convention

    return str(convention(name))


@click.group("conventions", cls=CardGroup, known=_known, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the libraries whose numbers can be computed, by `eval --convention`."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing)


@declare(
    "list", {}, "format", but={"format": {"values": "text|json", "default": "text"}}
)
def listing(form: str = "text") -> None:
    """List the libraries: versions, and when they were last compared with the library itself."""
    from rankstone.conventions import conventions

    check_format(form, ("text", "json"))
    known = conventions()
    if form == "json":
        from rankstone.tables.results import as_json

        click.echo(as_json([_object(one) for one in known]), nl=False)
        return
    width = max(len(str(one)) for one in known)
    for one in known:
        checked = one.checked[-1] if one.checked else "not compared live"
        click.echo(f"{one!s:<{width}}  {len(one.entries):>3} measures  {checked}")
    click.echo("\nrankstone conventions show NAME shows the definitions of a library")


@declare(
    "show",
    {"name": "NAME"},
    "format",
    but={"format": {"values": "text|md|json", "default": "text"}},
)
def show(name: str, form: str) -> None:
    """Show how a library defines its measures, in terms of rankstone's."""
    from rankstone.conventions import convention

    check_format(form, ("text", "md", "json"))
    one = convention(name)
    if form == "json":
        from rankstone.tables.results import as_json

        click.echo(as_json(_object(one)), nl=False)
        return
    if form == "md":
        click.echo(page(one), nl=False)
        return
    click.echo(f"{one.title} {one.version}   {one.url}\n  {one.about}")
    click.echo(f"  compared with: {', '.join(one.checked) or 'nothing live yet'}\n")
    of_lists = [entry for entry in one.entries if entry.of_lists]
    for entry in one.entries:
        if entry in of_lists[:1]:
            click.echo(f"\nbeyond accuracy: rankstone beyond RUN --convention {one}\n")
        click.echo(
            f"{entry.spelling}{'  (also ' + ', '.join(entry.also) + ')' if entry.also else ''}"
        )
        for line in _lines(entry):
            click.echo(f"  {line}")


@declare("pages", {"folder": "FOLDER"})
def write_pages(folder: str) -> None:
    """Write a page for each library, and one with a table for each measure, as Markdown."""
    from rankstone.io import atomic

    place = made_folder(folder)
    for name, text in pages().items():
        with atomic(place / name) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


@declare("diff", {"names": "[A B] [QRELS RUN]"}, "all measures columns lang quiet")
def diff(
    names: tuple[str, ...],
    everybody: bool,
    measures: tuple[str, ...],
    columns: str | None,
    lang: str | None,
    quiet: bool,
) -> None:
    """Show in which options two libraries differ, and how much each adds on your data.

    A and B are libraries, or rankstone itself.

    rankstone conventions diff sklearn xgboost -m nDCG@10
    rankstone conventions diff rankstone xgboost qrels.txt bm25.run -m nDCG@10
    rankstone conventions diff --all qrels.txt bm25.run -m nDCG@10
    """
    from rankstone.conventions import conventions, effects_of_options, values_by

    compared = 2
    counts_of_files = [0, 2]
    if everybody:
        compared = 0
        counts_of_files = [2]
    libraries = names[:compared]
    files = names[compared:]
    if holds_both(files):
        files = files * 2
    if len(libraries) != compared or len(files) not in counts_of_files:
        raise UsageError(
            "two libraries, or --all, and perhaps data are needed",
            given=" ".join(names) or "nothing",
            expected="rankstone conventions diff A B [QRELS RUN], or diff --all QRELS RUN",
        )
    known = conventions() if everybody else [_side(name) for name in libraries]
    wanted = " ".join(chosen_measures(measures)).split()
    _require_known(wanted, known)
    spoken = lang or "en"
    say = partial(phrase, "conventions", lang=spoken)
    if not everybody:
        first, second = known
        _show_options(first, second, wanted if measures or files else (), spoken)
    if not files:
        return
    named = split_columns(columns)
    run = named_runs(files[1:])
    with progress_bar(quiet=quiet) as bar:
        values = values_by(known, files[0], run, wanted, columns=named, progress=bar)
        named.require_present()
        if everybody:
            _show_groups(values, spoken)
            return
        _show_values(values, known, spoken)
        for measure, answers in values.items():
            numbers = [v for v in answers.values() if isinstance(v, float)]
            if len(numbers) == len(known):
                effects = effects_of_options(
                    first, second, measure, files[0], run, columns=named, progress=bar
                )
                _show_effects(measure, numbers, effects, say)


for _one in (listing, show, write_pages, diff):
    command.add_command(_one)


def _require_known(texts: list[str], known: Sequence[Convention]) -> None:
    """Refuse a measure that is neither one of ours nor a library's."""
    from rankstone import parse_measure

    for text in texts:
        try:
            parse_measure(text)
        except UsageError:
            if not any(_reads(library, text) for library in known):
                raise


def _reads(library: Convention, text: str) -> bool:

    try:
        return bool(library.read(text))
    except UsageError:
        return False


def _side(name: str) -> Convention:
    """Return a library's convention, or rankstone's own."""
    from rankstone.conventions import convention, own_convention

    return own_convention() if name == "rankstone" else convention(name)


def _show_options(
    first: Convention, second: Convention, measures: Sequence[str], lang: str
) -> None:
    """Show the options in which two libraries differ, of some measures or of all."""
    from rankstone.conventions import compare, shared

    names = {
        shared(library.read(text)[0].entry)
        for library in (first, second)
        for text in measures
        if _reads(library, text)
    }
    for row in compare(first, second):
        if measures and row.measure not in names:
            continue
        click.echo(f"{row.measure}: {row.first} · {row.second}")
        for option, both in row.options.items():
            a, b = (from_english(_plain(value), lang) for value in both)
            click.echo(f"  {option:<20} {_padded(a, 20)} {b}")
        if not row.options:
            click.echo(f"  {phrase('conventions', 'the_same', lang)}")


def _show_values(
    values: dict[str, dict[str, Any]], known: Sequence[Convention], lang: str
) -> None:
    """Show the values of two libraries, and their differences."""
    first, second = map(str, known)
    rows: list[tuple[str, ...]] = [("", first, second, "")]
    for text, answers in values.items():
        none = phrase("conventions", "has_none", lang)
        a, b = (answers.get(library, none) for library in (first, second))
        gap = f"{b - a:+.6f}" if isinstance(a, float) and isinstance(b, float) else ""
        cells = (from_english(_plain(value), lang) for value in (a, b))
        rows.append((text, *cells, gap))
    widths = [max(map(_cells, column)) for column in zip(*rows, strict=True)]
    click.echo()
    for row in rows:
        cells = (_padded(cell, width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _show_effects(
    measure: str,
    numbers: Sequence[float],
    effects: Sequence[Effect],
    say: Callable[..., str],
) -> None:
    """Show what each option of the second library changes in the number of the first, alone."""
    first, second = numbers
    changes: dict[str, str | float] = {}
    for effect in effects:
        value = effect.value
        option = say(
            "instead_of",
            option=f"{effect.option}={_plain(effect.second)}",
            other=_plain(effect.first),
        )
        if isinstance(value, float):
            changes[option] = value - first
        else:
            changes[option] = value or say("undefined")

    click.echo(f"\n{say('effects', measure=measure)}")
    idle = [effect.option for effect in effects if effect.value == first]
    rest = second - first
    for option, change in changes.items():
        if isinstance(change, float):
            rest -= change
        if change:
            _show_change(option, change)
    if round(rest, _NUMBERS):
        _show_change(say("together"), rest)
    if idle:
        click.echo(f"  {say('no_effect', options=', '.join(idle))}")


def _show_change(what: str, change: str | float) -> None:
    text = f"{change:+.{_NUMBERS}f}" if isinstance(change, float) else change
    click.echo(f"  {_padded(what, _OPTION_WIDTH)} {text}")


def _show_groups(values: dict[str, dict[str, Any]], lang: str) -> None:
    """Show which libraries have the same value."""
    for text, answers in values.items():
        click.echo(text)
        groups: dict[str, list[str]] = {}
        for library, answer in answers.items():
            shown = from_english(_plain(answer), lang)
            groups.setdefault(shown, []).append(library)
        for answer, members in sorted(
            groups.items(), key=lambda group: (-len(group[1]), group[0])
        ):
            click.echo(f"  {_padded(answer, 12)} {', '.join(members)}")
        if not groups:
            click.echo(f"  {phrase('conventions', 'nobody', lang)}")


def _padded(text: str, width: int) -> str:
    """Return a text with blanks behind it, so that it fills the columns of a terminal."""
    return text + " " * (width - _cells(text))


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _plain(value: object) -> str:
    """Return a value as a cell."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{_NUMBERS}f}"
    return str(value)


def _lines(entry: Entry) -> list[str]:
    lines = [f"ours     {entry.ours}"]
    if entry.chosen:
        lines.append(
            "options  "
            + " ".join(f"{name}={value}" for name, value in entry.chosen.items())
        )
    lines += [f"{'does':<8} {rule}" for rule in entry.rules]
    said = {name: getattr(entry, name) for name in ("bug", "note", "differs")}
    return lines + [
        f"{name:<8} {text}" for name, text in said.items() if text is not None
    ]


def _object(one: Convention) -> dict[str, Any]:
    entries = [
        {
            "spelling": entry.spelling,
            "also": list(entry.also),
            "ours": entry.ours,
            "options": dict(entry.options),
            "grades": None if entry.grades is None else str(entry.grades),
            **{
                name: getattr(entry, name)
                for name in (
                    "last_rank",
                    "cutoff_limit",
                    "digits",
                    "undefined_propagates",
                    "no_queries",
                    "unbounded",
                    "of_lists",
                )
            },
            "refuses": [refusal.why for refusal in entry.refuses],
            **{name: getattr(entry, name) for name in ("bug", "note", "differs")},
        }
        for entry in one.entries
    ]
    facts = {
        name: getattr(one, name)
        for name in ("name", "version", "title", "url", "about")
    }
    return {
        **facts,
        "also": list(one.also),
        "checked": list(one.checked),
        "measures": entries,
    }


def pages() -> dict[str, str]:
    """Return every page by file name; ``README.md`` has the libraries and the table of each measure."""
    from rankstone.conventions import conventions

    found = {f"{one}.md": page(one) for one in conventions()}
    return {"README.md": _overview(), **found}


def page(one: Convention) -> str:
    """Return a library's page."""
    lines = [
        f"# {_text(one.title)} {one.version}",
        "",
        _agreement(one),
        "",
        _text(one.about),
        "",
    ]
    lines += [f"<{one.url}>", ""]
    checked = (
        "; ".join(one.checked)
        or "nothing live yet: written from its source and documentation"
    )
    lines += [f"Compared with: {_text(checked)}.", ""]
    judging = [entry for entry in one.entries if not entry.of_lists]
    lines += [
        f"`rankstone eval QRELS RUN --convention {one} -m …`",
        "",
        *_entries(judging),
    ]
    if of_lists := [entry for entry in one.entries if entry.of_lists]:
        lines += [
            "",
            "## Beyond accuracy",
            "",
            f"`rankstone beyond RUN --convention {one} -m …`",
            "",
        ]
        lines += _entries(of_lists)
    return "\n".join(lines).rstrip() + "\n"


def _agreement(one: Convention) -> str:
    """Say in a line which measures of a library are defined as by rankstone's defaults, and which are not.

    Names stand for their plainest spelling; options are those of more than half of them.
    """
    plain: dict[str, Entry] = {}
    for entry in sorted(
        one.entries, key=lambda entry: re.search(r"[\[(;=]", entry.spelling) is not None
    ):
        plain.setdefault(re.split(r"[@<\[(:;=]", entry.spelling)[0].rstrip("_"), entry)
    said: dict[str, list[str]] = {
        "The same definition as rankstone's default": [],
        "Another definition": [],
    }
    same, other = said.values()
    for name, entry in plain.items():
        (other if entry.bug or re.search("[(:]", entry.ours) else same).append(
            f"`{_code(name)}`"
        )
    counts = Counter(
        option for entry in plain.values() for option in entry.chosen.items()
    )
    shared = [
        f"`{name}={value}`"
        for (name, value), count in counts.items()
        if count > len(plain) / 2
    ]
    parts = [f"**{what}**: {some(names, 8)}" for what, names in said.items() if names]
    return (
        ". ".join([*parts, f"**Options that differ**: {' '.join(shared) or 'none'}"])
        + "."
    )


def _entries(entries: Sequence[Entry]) -> list[str]:
    """Return a table of measures, and what there is to say about them."""
    lines = [
        "| spelling | the same in rankstone | options of alignment |",
        "|---|---|---|",
    ]
    remarks: list[str] = []
    for entry in entries:
        spelled = " or ".join(f"`{_code(text)}`" for text in entry.spellings)
        lines.append(f"| {spelled} | `{_code(entry.ours)}` | {_options(entry)} |")
        for name, mark in (("bug", "**bug**: "), ("note", ""), ("differs", "")):
            text = getattr(entry, name)
            if text is not None:
                spelling = _code(entry.spelling)
                remarks.append(f"- `{spelling}`: {mark}{_text(text)}")
        remarks += [
            f"- `{_code(entry.spelling)}`: {_text(rule)}" for rule in entry.rules
        ]
    return [*lines, "", *remarks]


def _overview() -> str:
    from rankstone.conventions import conventions

    lines = ["# What other libraries mean by the same names", ""]
    lines += [
        "Written by `make docs` from the data files of `rankstone.conventions`.",
        "",
    ]
    lines += [
        "What was compared, how often it differed, and why: [checked.md](../checked.md).",
        "",
    ]
    lines += ["| library | measures | compared with |", "|---|--:|---|"]
    for one in conventions():
        checked = _text("; ".join(one.checked)) or "not yet"
        lines.append(
            f"| [{_text(one.title)} {one.version}]({one}.md) | {len(one.entries)} | {checked} |"
        )
    for measure, members in _by_measure().items():
        lines += [
            "",
            f"## {measure}",
            "",
            "| library | spelling | in rankstone | options |",
            "|---|---|---|---|",
        ]
        for one, entry in members:
            cells = (
                f"[{one}]({one}.md)",
                f"`{_code(entry.spelling)}`",
                f"`{_code(entry.ours)}`",
                _options(entry),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_measure() -> dict[str, list[tuple[Convention, Entry]]]:
    """Return who has which measure; those that several libraries have, most of them first."""
    from rankstone.conventions import conventions, shared

    entries: dict[str, list[tuple[Convention, Entry]]] = {}
    for library in conventions():
        for entry in library.entries:
            measure = shared(entry)
            if measure is not None:
                entries.setdefault(measure, []).append((library, entry))
    several = {
        name: members
        for name, members in entries.items()
        if len({library.name for library, _ in members}) > 1
    }
    by_members = sorted(several, key=lambda name: (-len(several[name]), name))
    return {name: several[name] for name in by_members}


def _options(entry: Entry) -> str:
    options = [f"`{name}={value}`" for name, value in entry.chosen.items()]
    return " ".join(options) or "ours"


def _code(text: str) -> str:
    return text.replace("|", "\\|")


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
