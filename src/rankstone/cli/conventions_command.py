"""``rankstone conventions``: what other libraries mean by the same names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import named_runs, no_command, read_once, split_columns
from rankstone.cli.options import comma_list
from rankstone.cli.outputs import as_json
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.conventions import Convention, Entry

_NUMBERS = 6
_USUAL = "nDCG@10 AP@10 RR@10 P@10 R@10"


class _Group(click.Group):
    """Knows what a bare name of a library is meant to ask."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from rankstone.conventions import convention
        from rankstone.errors import UnknownConvention

        if args and args[0] not in self.commands and not args[0].startswith("-"):
            try:
                known = convention(args[0])
            except UnknownConvention:
                raise no_command(args[0], self.commands) from None
            raise no_command(args[0], self.commands, f"rankstone conventions show {known}")
        return super().resolve_command(ctx, args)


@click.group("conventions", cls=_Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the libraries whose numbers can be asked for; `eval --convention` asks."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing)


@command.command("list")
@click.option("--format", "form", default="text", metavar="text|json", help="[text]")
def listing(form: str = "text") -> None:
    """List the libraries, a line each: versions, and when they were last compared with the real thing."""
    from rankstone.cli.outputs import check_format
    from rankstone.conventions import conventions

    check_format(form, ("text", "json"))
    known = conventions()
    if form == "json":
        click.echo(as_json([_object(one) for one in known]), nl=False)
        return
    width = max(len(str(one)) for one in known)
    for one in known:
        checked = one.checked[-1] if one.checked else "not compared live"
        click.echo(f"{one!s:<{width}}  {len(one.entries):>3} measures  {checked}")
    click.echo("\nrankstone conventions show NAME tells what a library means")


@command.command("show")
@click.argument("name")
@click.option("--format", "form", default="text", metavar="text|md|json", help="[text]")
def show(name: str, form: str) -> None:
    """Tell what a library means by its measures, in our words."""
    from rankstone.cli.outputs import check_format
    from rankstone.conventions import convention

    check_format(form, ("text", "md", "json"))
    one = convention(name)
    if form == "json":
        click.echo(as_json(_object(one)), nl=False)
        return
    if form == "md":
        from rankstone.cli.conventions_pages import page

        click.echo(page(one), nl=False)
        return
    click.echo(f"{one.title} {one.version}   {one.url}\n  {one.about}")
    click.echo(f"  compared with: {', '.join(one.checked) or 'nothing live yet'}\n")
    of_lists = [entry for entry in one.entries if entry.of_lists]
    for entry in one.entries:
        if entry in of_lists[:1]:
            click.echo(f"\nbeyond accuracy: rankstone beyond RUN --convention {one}\n")
        click.echo(f"{entry.spelling}{'  (also ' + ', '.join(entry.also) + ')' if entry.also else ''}")
        for line in _lines(entry):
            click.echo(f"  {line}")


@command.command("pages")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def write_pages(folder: Path) -> None:
    """Write a page for each library, and one with a table for each measure, as Markdown."""
    from rankstone.cli.conventions_pages import pages
    from rankstone.io import atomic

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        with atomic(folder / name) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


@command.command("diff")
@click.argument("names", nargs=-1, metavar="[A B] [QRELS RUN]")
@click.option("--all", "everybody", is_flag=True, help="group all libraries by the value they would give")
@click.option("-m", "--measures", multiple=True, metavar="TEXT", help=f"measures in our words [{_USUAL}]")
@comma_list("--columns", metavar="THEIRS=OURS,…", help="column names, as for eval")
@click.option("--quiet", is_flag=True, help="no progress bar")
def diff(
    names: tuple[str, ...],
    everybody: bool,  # noqa: FBT001 - click passes flags so
    measures: tuple[str, ...],
    columns: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
) -> None:
    """Say in which options two libraries differ, and by how much on your data.

    \b
    rankstone conventions diff sklearn xgboost
    rankstone conventions diff sklearn xgboost qrels.txt bm25.run -m nDCG@10
    rankstone conventions diff --all qrels.txt bm25.run -m nDCG@10
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.by_convention import told_by
    from rankstone.conventions import convention, conventions
    from rankstone.errors import UsageError

    libraries, files = (names[:0], names) if everybody else (names[:2], names[2:])
    if len(libraries) != (0 if everybody else 2) or len(files) not in ((2,) if everybody else (0, 2)):
        raise UsageError(
            "two libraries, or --all, and perhaps data are needed",
            given=" ".join(names) or "nothing",
            expected="rankstone conventions diff A B [QRELS RUN], or diff --all QRELS RUN",
        )
    read_once(files)
    known = conventions() if everybody else [convention(name) for name in libraries]
    asked = (" ".join(measures) or _USUAL).split()
    _require_known(asked, known)
    if not everybody:
        _show_options(*known)
    if not files:
        return
    named = split_columns(columns)
    with Ticker(quiet=quiet) as ticker:
        told = told_by(known, files[0], named_runs(files[1:]), asked, columns=named, progress=ticker)
    named.require_present()
    (_show_groups if everybody else _show_values)(told, known)


def _require_known(asked: list[str], known: Sequence[Convention]) -> None:
    """Refuse a measure that is neither one of ours nor a library's."""
    from rankstone import parse_measure
    from rankstone.errors import UsageError

    for text in asked:
        try:
            parse_measure(text)
        except UsageError:
            if not any(_reads(library, text) for library in known):
                raise


def _reads(library: Convention, text: str) -> bool:
    from rankstone.errors import UsageError

    try:
        return bool(library.read(text))
    except UsageError:
        return False


def _show_options(first: Convention, second: Convention) -> None:
    """Say in which options two libraries differ."""
    from rankstone.conventions.comparing import compare

    for row in compare(first, second):
        click.echo(f"{row.measure}: {row.first} · {row.second}")
        for option, (a, b) in row.options.items():
            click.echo(f"  {option:<20} {_plain(a):<20} {_plain(b)}")
        if not row.options:
            click.echo("  the same")


def _show_values(told: dict[str, dict[str, Any]], known: Sequence[Convention]) -> None:
    """Show what two libraries say, and how far apart that is."""
    first, second = map(str, known)
    rows = [("", first, second, "")]
    for text, answers in told.items():
        a, b = (answers.get(library, "has none") for library in (first, second))
        gap = f"{b - a:+.6f}" if isinstance(a, float) and isinstance(b, float) else ""
        rows.append((text, _plain(a), _plain(b), gap))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    click.echo()
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _show_groups(told: dict[str, dict[str, Any]], _known: Sequence[Convention]) -> None:
    """Show which libraries say the same."""
    for text, answers in told.items():
        click.echo(text)
        groups: dict[str, list[str]] = {}
        for library, answer in answers.items():
            groups.setdefault(_plain(answer), []).append(library)
        for answer, members in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            click.echo(f"  {answer:<12} {', '.join(members)}")
        if not groups:
            click.echo("  no library has it")


def _plain(value: object) -> str:
    """Return a value as a cell."""
    return f"{value:.{_NUMBERS}f}" if isinstance(value, float) else "–" if value is None else str(value)


def _lines(entry: Entry) -> list[str]:
    lines = [f"ours     {entry.ours}"]
    if entry.chosen:
        lines.append("options  " + " ".join(f"{name}={value}" for name, value in entry.chosen.items()))
    lines += [f"{'does':<8} {way}" for way in entry.ways]
    said = {name: getattr(entry, name) for name in ("bug", "note", "differs")}
    return lines + [f"{name:<8} {text}" for name, text in said.items() if text is not None]


def _object(one: Convention) -> dict[str, Any]:
    entries = [
        {
            "spelling": entry.spelling,
            "also": list(entry.also),
            "ours": entry.ours,
            "options": dict(entry.options),
            "grades": None if entry.grades is None else str(entry.grades),
            **{
                name: getattr(entry, name) for name in ("digits", "spoils", "nobody", "unbounded", "of_lists")
            },
            "refuses": [refusal.why for refusal in entry.refuses],
            **{name: getattr(entry, name) for name in ("bug", "note", "differs")},
        }
        for entry in one.entries
    ]
    facts = {name: getattr(one, name) for name in ("name", "version", "title", "url", "about")}
    return {**facts, "also": list(one.also), "checked": list(one.checked), "measures": entries}
