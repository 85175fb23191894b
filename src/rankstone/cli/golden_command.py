"""``rankstone golden``: check golden sets, and split them."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import as_flags, split_columns, words
from rankstone.cli.declaring import CommandGroup, declare
from rankstone.cli.execution import check_format, deliver, written
from rankstone.cli.options import PRINTED

_COMMANDS = {
    "check": "ids that are gone, queries that cannot be won, near-duplicates, copies",
    "split": "assign queries to dev and hold-out once and for all",
}
_ABOUT = """\
Check and split golden sets: hand-written queries, each with what should be retrieved.

A golden set is JSON, JSON lines, YAML or CSV with a record for each query: id, query, expected (ids of documents),
any_of, hops, forbidden, answerable, category, split. Every command takes it where judgments go."""

command = CommandGroup(
    "golden", {"Commands": _COMMANDS}, "rankstone.cli.golden_command", help=_ABOUT
)

#: what golden sets are written in
_READ = {"format-in": {"values": "json|jsonl|csv|tsv|parquet|arrow|xlsx"}}
#: exit code of --strict where something was found
_FOUND = 3


@declare(
    "check",
    {"golden": "GOLDEN"},
    f"corpus measures train near strict columns format-in lang {PRINTED}",
    but={"measures": {"shown": "none"}, **_READ},
)
def check_command(
    golden: str,
    corpus: str | None,
    measures: tuple[str, ...],
    train: str | None,
    near: bool,
    strict: bool,
    columns: str | None,
    format_in: str | None,
    lang: str | None,
    form: str,
    output: str | None,
    **given: Any,
) -> None:
    """Check a golden set: what no system can find, what is there twice, what was seen in training.

    rankstone golden check golden.json --corpus docs.jsonl
    rankstone golden check golden.yaml --corpus docs/ -m "R@5 RR" --strict
    """
    from rankstone.golden import check

    del given
    check_format(form)
    report = check(
        golden,
        corpus,
        measures=list(measures),
        train=train,
        near=near or None,
        columns=split_columns(columns),
        format_in=format_in,
        lang=lang or "en",
    )
    deliver(None, written(report.with_fixes(as_flags), form), output, None)
    if strict and report.count("warning"):
        raise click.exceptions.Exit(_FOUND)


@declare(
    "split",
    {"golden": "GOLDEN"},
    "holdout by salt in-place deviation columns format-in lang format digits csv-formulas verbose quiet",
    but={"deviation": {"shown": "0.3"}, **_READ},
)
def split_command(
    golden: str,
    holdout: float,
    by: str | None,
    salt: str,
    in_place: bool,
    deviation: float | None,
    columns: str | None,
    format_in: str | None,
    lang: str | None,
    form: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Assign queries to dev and holdout; an id that is assigned never moves.

    The splits are stored in GOLDEN.splits.csv beside the file, or in its records with --in-place; run it again
    after queries were added. eval, compare, gate … take --split.

    rankstone golden split golden.json --holdout 0.3 --by category
    rankstone eval golden.json results.json --split dev
    """
    from rankstone.golden import split, store
    from rankstone.tables.phrases import from_english

    check_format(form)
    del given
    splits = split(
        golden,
        holdout=holdout,
        by=words(by) or (),
        salt=salt,
        **({} if deviation is None else {"deviation": deviation}),
        columns=split_columns(columns),
        format_in=format_in,
        lang=lang or "en",
    )
    target = store(splits, golden, in_place=in_place)
    click.echo(written(splits, form), nl=False)
    if not quiet:
        notice = from_english(f"written: {target}", lang or "en")
        click.echo(notice, err=True)
