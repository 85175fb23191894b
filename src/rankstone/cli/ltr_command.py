"""``rankstone ltr``: learning to rank, one file a command."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from rankstone.cli.arguments import no_command

_COMMANDS: Final = {
    "train": "learn a linear ranker: a rank SVM, or coordinate ascent on a measure",
    "tune": "choose C by a measure on held-out queries, and say whether the lead is noise",
    "score": "score documents with a model",
    "eval": "measure models or saved scores, and compare them",
}


class _Lazy(click.Group):
    """Imports a command's module when the command is called; ``--help`` imports none."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"rankstone.cli.ltr_{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise no_command(args[0], _COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group("ltr", cls=_Lazy)
def command() -> None:
    """Learn to rank documents by features, and say how well that went.

    Files are LETOR or SVMlight text (label qid:7 1:0.5 2:3.1 # docid = d1), such text with LightGBM's group
    sizes beside it (FILE.query), or tables with query_id, relevance and a number column a feature.
    """
