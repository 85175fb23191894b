"""``rankstone conventions``: what other libraries mean by the same names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.options import Ticker, named_runs, split_columns

if TYPE_CHECKING:
    from rankstone.conventions import Convention, Entry

_NUMBERS = 6


@click.group("conventions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the libraries whose numbers can be asked for; `eval --convention` asks."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing)


@command.command("list")
@click.option("--format", "form", default="text", metavar="text|json", help="[text]")
def listing(form: str = "text") -> None:
    """List the libraries, a line each: versions, and when they were last compared with the real thing."""
    from rankstone.conventions import conventions

    known = conventions()
    if form == "json":
        click.echo(json.dumps([_object(one) for one in known], ensure_ascii=False, indent=1))
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
    from rankstone.conventions import convention

    one = convention(name)
    if form == "json":
        click.echo(json.dumps(_object(one), ensure_ascii=False, indent=1))
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
@click.option("-m", "--measure", multiple=True, help="measures in our words [nDCG@10 AP@10 RR@10 P@10 R@10]")
@click.option("--columns", metavar="THEIRS=OURS,…", help="column names, as for eval")
@click.option("-q", "--quiet", is_flag=True, help="no progress bar")
def diff(
    names: tuple[str, ...],
    everybody: bool,  # noqa: FBT001 - click passes flags so
    measure: tuple[str, ...],
    columns: str | None,
    quiet: bool,  # noqa: FBT001 - click passes flags so
) -> None:
    """Say in which options two libraries differ, and by how much on your data.

    \b
    rankstone conventions diff sklearn xgboost
    rankstone conventions diff sklearn xgboost qrels.txt bm25.run -m nDCG@10
    rankstone conventions diff --all qrels.txt bm25.run -m nDCG@10
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.errors import UsageError

    libraries, files = (names[:0], names) if everybody else (names[:2], names[2:])
    if len(libraries) != (0 if everybody else 2) or len(files) not in ((2,) if everybody else (0, 2)):
        raise UsageError(
            "two libraries, or --all, and perhaps data are needed",
            given=" ".join(names) or "nothing",
            expected="rankstone conventions diff A B [QRELS RUN], or diff --all QRELS RUN",
        )
    asked = [text for one in measure for text in one.split()] or ["nDCG@10", "AP@10", "RR@10", "P@10", "R@10"]
    with Ticker(quiet=quiet) as ticker:
        more: dict[str, Any] = {"columns": split_columns(columns), "progress": ticker}
        if everybody:
            _everybody(files, asked, more)
        else:
            _two(libraries, files, asked, more)


def _two(libraries: tuple[str, ...], files: tuple[str, ...], asked: list[str], more: dict[str, Any]) -> None:
    from rankstone.by_convention import told_by
    from rankstone.conventions import convention
    from rankstone.conventions.comparing import compare

    first, second = map(convention, libraries)
    for row in compare(first, second):
        click.echo(f"{row.measure}: {row.first} · {row.second}")
        for option, (a, b) in row.options.items():
            click.echo(f"  {option:<20} {_plain(a):<20} {_plain(b)}")
        if not row.options:
            click.echo("  the same")
    if not files:
        return
    told = told_by([first, second], files[0], named_runs(files[1:]), asked, **more)
    click.echo(f"\n{'':<12}{first!s:<22}{second}")
    for text in asked:
        a, b = (told[text].get(str(one), "has none") for one in (first, second))
        gap = f"  {b - a:+.6f}" if isinstance(a, float) and isinstance(b, float) else ""
        click.echo(f"{text:<12}{_plain(a):<22}{_plain(b):<22}{gap}")


def _everybody(files: tuple[str, ...], asked: list[str], more: dict[str, Any]) -> None:
    from rankstone.by_convention import told_by
    from rankstone.conventions import conventions

    told = told_by(conventions(), files[0], named_runs(files[1:]), asked, **more)
    for text in asked:
        click.echo(text)
        groups: dict[str, list[str]] = {}
        for library, answer in told[text].items():
            groups.setdefault(_plain(answer), []).append(library)
        for answer, members in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            click.echo(f"  {answer:<12} {', '.join(members)}")


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
