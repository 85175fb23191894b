"""Declaration of commands by the names of their options, and their help in panels."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone.cli.arguments import no_command, with_flags
from rankstone.cli.command_files import hold_files
from rankstone.cli.options import FILES, PANELS, RARE, Declared
from rankstone.errors import RankstoneError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from click.shell_completion import CompletionItem


_ADVANCED: Final = "Alignment"
_EPILOG: Final = "The first value listed is the default."
#: longer placeholders than this stand in the text of an option
_VALUES_WIDTH: Final = 22
#: examples in brief
_EXAMPLES: Final = 3
_PANEL_OF: Final = {
    name: panel for panel, options in PANELS.items() for name in options
}
#: options that are kept in the context instead of being passed to the command
_KEPT: Final = (
    *("csv-formulas", "csv-separator", "decimal", "no-header", "all-relevant"),
    *("shape", "verbose"),
)


class Option(click.Option):
    """An option with its panel of the help and its row of the table."""

    def __init__(self, name: str, declared: Declared, **settings: Any) -> None:
        self.declared, self.listed, self.panel = declared, name, _PANEL_OF[name]
        self.writes = self.panel == "Output" and declared.values == "FILE"
        kind = declared.kind
        flags = [
            f"--{name}",
            *declared.short.split(),
            declared.keyword or name.replace("-", "_"),
        ]
        default = f" [{declared.shown}]" if declared.shown else ""
        if declared.default is not None:
            settings["default"] = declared.default
        if kind is bool:
            settings |= {"is_flag": True, "default": False}
        else:
            settings |= {"metavar": declared.values, "multiple": kind in (list, tuple)}
            settings["shell_complete"] = partial(complete, declared.values)
            settings["type"] = str if kind in (list, tuple) else kind
        if kind is list:
            settings["callback"] = _joined
        if name in _KEPT:
            settings |= {"callback": _kept, "expose_value": False}
        if name == "import":
            settings |= {"callback": _imported, "expose_value": False, "is_eager": True}
        super().__init__(flags, help=declared.text + default, **settings)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return flags and text; values too long for the column of flags stand in the text."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        flags, text = record
        values = self.declared.values
        if len(values) <= _VALUES_WIDTH:
            return flags, text
        listed = f"{self.declared.text}: {values.replace('|', ', ')}"
        return flags.replace(values, "NAME"), text.replace(self.declared.text, listed)

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the mark of required options."""
        extra = super().get_help_extra(ctx)
        return {"required": extra["required"]} if "required" in extra else {}


def complete(
    values: str, _ctx: Any, _param: Any, incomplete: str
) -> list[CompletionItem]:
    """Return what a shell offers for a placeholder: its words, or files.

    >>> [item.value for item in complete("csv|jsonl|json|N", None, None, "js")]
    ['jsonl', 'json']
    """
    from click.shell_completion import CompletionItem

    if FILES.search(values):
        return [CompletionItem(incomplete, type="file")]
    words = re.findall(r"(?<![^|])[a-z][\w-]*(?![^|])", values)
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _joined(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> str | None:
    return ",".join(given) if given else None


def _kept(context: click.Context, option: click.Parameter, given: str | None) -> None:
    context.meta[f"rankstone.{option.name}"] = given


def _imported(
    context: click.Context, _option: click.Parameter, files: tuple[str, ...]
) -> None:
    if files:
        from rankstone.cli.importing import register

        context.meta["rankstone.import"] = register(files)


def declare(
    name: str,
    arguments: Mapping[str, str],
    *options: str,
    but: Mapping[str, Mapping[str, Any]] | None = None,
    required: str = "",
) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command; its help is the docstring of the function.

    Parameters
    ----------
    name
        Its name.
    arguments
        Name → placeholder in the help; several words or ``…`` mean several values.
    *options
        Names of options, separated by spaces.
    but
        Option → fields in which this command differs; ``DIFFERS`` says why.
    required
        Options that must be given.
    """
    taken = {
        name: partial(_declared, name, (but or {}).get(name, {}))
        for name in " ".join(options).split()
    }
    if "exclude" not in taken:  # there are no pairs that could be removed anywhere
        taken.pop("exclude-from", None)
    needed = required.split()

    def declared(function: Callable[..., Any]) -> Command:
        params: list[click.Parameter] = [_argument(*one) for one in arguments.items()]
        params += [
            Option(one, taken[one](), required=one in needed)
            for one in _PANEL_OF
            if one in taken
        ]
        unknown = set(taken) - set(_PANEL_OF)
        assert not unknown, unknown  # noqa: S101 - a slip of ours
        return Command(
            name, callback=function, params=params, help=inspect.getdoc(function)
        )

    return declared


def _declared(name: str, changes: Mapping[str, Any]) -> Declared:
    return PANELS[_PANEL_OF[name]][name]._replace(**changes)


def _argument(name: str, shown: str) -> click.Argument:
    several = " " in shown or "…" in shown
    optional = shown.startswith("[") or name in ("files", "runs")
    completed = partial(
        complete, "" if shown.startswith(("MEASURE", "NAME")) else "FILE"
    )
    nargs = -1 if several else 1
    return click.Argument(
        [name],
        metavar=shown,
        nargs=nargs,
        required=not optional,
        shell_complete=completed,
    )


class Command(click.Command):
    """A command whose help has panels, and whose errors show options as flags."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            hold_files(ctx)
            return super().invoke(ctx)
        except RankstoneError as error:
            with_flags(error)
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; refuse an option that would keep one value of several."""
        args = _with_measures_joined(args)
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        _refuse_repeated(order)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with ``--help-all``."""
        params = super().get_params(ctx)
        text = "show all options, and exit"
        everything = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_help_all,
            help=text,
            hidden=not any(map(_is_rare, params)),
        )
        return [*params[:-1], everything, *params[-1:]]

    def format_help_text(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the description, then examples line by line; in brief the first few."""
        for part in (self.help or "").split("\n\n"):
            if part.startswith("rankstone "):
                examples = part.splitlines()
                if not _shows_all(ctx):
                    examples = examples[:_EXAMPLES]
                with formatter.section("Examples"):
                    formatter.write("".join(f"  {line}\n" for line in examples))
            else:
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(part)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options, a panel a subject; rare ones only if all are wanted."""
        panels: dict[str, list[tuple[str, str]]] = {
            panel: [] for panel in (*PANELS, "Help")
        }
        hidden = 0
        for param in self.get_params(ctx):
            if _is_rare(param) and not _shows_all(ctx):
                hidden += 1
                continue
            record = (
                param.get_help_record(ctx) if isinstance(param, click.Option) else None
            )
            if record is not None:
                panels[getattr(param, "panel", "Help")].append(record)

        if hidden:
            panels.pop("Help")
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records, col_max=26)
        formatter.write_paragraph()
        more = f"--help-all shows {hidden} more options.  " if hidden else ""
        formatter.write_text(more + _EPILOG)


def _is_rare(param: click.Parameter) -> bool:
    """Return True for options that ``--help`` leaves to ``--help-all``."""
    if param.required or not isinstance(param, Option):
        return False
    return param.panel == _ADVANCED or param.listed in RARE.split()


def _shows_all(context: click.Context) -> bool:
    """Return True for ``--help-all``."""
    return bool(context.meta.get("rankstone.help_all"))


def _with_measures_joined(args: Sequence[str]) -> list[str]:
    """Return the words of a command line with measures after those of -m in one word.

    ``-m nDCG@10 AP`` is how ir_measures and Python's argparse have it, and no file has such a name.
    """
    joined: list[str] = []
    for word in args:
        follows = len(joined) > 1 and joined[-2] in ("-m", "--measures")
        if follows and not Path(word).exists() and _is_measure(word):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


def _is_measure(word: str) -> bool:
    """Return True for the text of a measure."""
    from rankstone.measures import parse_measures

    try:
        return bool(parse_measures(word))
    except RankstoneError:
        return False


def _refuse_repeated(order: list[click.Parameter]) -> None:
    """Refuse a second value of an option that has one; a flag may be repeated."""
    for param, times in Counter(order).items():
        single = isinstance(param, click.Option) and not (
            param.multiple or param.is_flag
        )
        if single and times > 1:
            raise UsageError(
                f"{param.opts[0]} is given {times} times",
                expected="one value",
                fix="leave out all but one",
            )


def _help_all(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given:
        context.meta["rankstone.help_all"] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class CommandGroup(click.Group):
    """Commands in sections; ``--help`` imports no module.

    Parameters
    ----------
    name
        The group's.
    sections
        Section → command → a line about it.
    module
        The module of a command, with ``{}`` for its name; there it is ``NAME_command``, or ``command``.
    shared
        Command → whose module it is in, where that is another's.
    """

    def __init__(
        self,
        name: str,
        sections: Mapping[str, Mapping[str, str]],
        module: str = "rankstone.cli.{}_command",
        shared: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(name, **settings)
        self._sections, self._module = sections, module
        self._shared = shared or {}
        self._names = [one for section in sections.values() for one in section]

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return self._names

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self._names:
            return None
        own = name.replace("-", "_")
        names = vars(import_module(self._module.format(self._shared.get(name, own))))
        found: click.Command = names.get(f"{own}_command") or names["command"]
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; refuse one that does not exist."""
        if args and args[0] not in self._names and not args[0].startswith("-"):
            raise no_command(args[0], self._names)
        return super().resolve_command(ctx, args)

    def format_commands(
        self, _ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands by section."""
        for section, commands in self._sections.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))


class CardGroup(click.Group):
    """Says how to show the card of a bare name: ``measures nDCG`` should be ``measures show nDCG``."""

    def __init__(self, *given: Any, known: Callable[[str], str], **named: Any) -> None:
        super().__init__(*given, **named)
        self._known = known

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or refuse a word that is none."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            try:
                fix = f"rankstone {self.name} show {self._known(args[0])}"
            except RankstoneError:
                fix = None
            raise no_command(args[0], self.commands, fix)
        return super().resolve_command(ctx, args)
