"""What the commands of learning to rank have in common: data, and notes on them."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import split_columns
from rankstone.cli.options import comma_list
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.cli.options import Command
    from rankstone.ltr import Dataset

__all__ = ["data_of", "learning", "noting", "of_data"]


def of_data(command: Command) -> Command:
    """Add the options that say how documents are read."""
    for option in (
        click.option("--quiet", is_flag=True, help="no progress bar, no notes on standard error"),
        click.option(
            "--double", is_flag=True, help="hold features in double precision; takes twice the memory"
        ),
        click.option(
            "--format-in",
            metavar="letor|csv|tsv|jsonl|parquet|arrow",
            help="format of the data; else by suffix",
        ),
        comma_list(
            "--features", metavar="COLUMN,…", help="tables: which columns [all other columns of numbers]"
        ),
        comma_list(
            "--columns", metavar="THEIRS=OURS,…", help="tables: their names: qid=query_id,y=relevance"
        ),
        click.option("--groups", metavar="FILE", help="text without qid: rows of each query [FILE.query]"),
    ):
        command = option(command)
    return command


def learning(command: Command) -> Command:
    """Add the options of a rank SVM."""
    for option in (
        click.option("--nonnegative", is_flag=True, help="no weight below zero"),
        click.option(
            "--pair-weight", metavar="uniform|gain", help="gain: pairs of grades far apart count more"
        ),
        click.option("--query-weight", metavar="query|pair", help="who counts the same: queries, or pairs"),
    ):
        command = option(command)
    return command


def data_of(files: Sequence[str], given: dict[str, Any], *, labelled: bool = True) -> Dataset:
    """Read documents, with a progress bar; ``given`` holds the options of :func:`of_data`."""
    from rankstone.ltr import read

    named = split_columns(given["columns"])
    features = [name.strip() for name in (given["features"] or "").split(",") if name.strip()]
    with Ticker(quiet=given["quiet"]) as ticker:
        found = read(
            list(files),
            groups=given["groups"],
            columns=named,
            features=features or None,
            format_in=given["format_in"],
            dtype="float64" if given["double"] else "float32",
            labelled=labelled,
            progress=ticker,
        )
    named.require_present()
    if not given["quiet"]:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    return found


@contextmanager
def noting(*, quiet: bool) -> Iterator[None]:
    """Say what libraries warn of as notes, once each, when the work is done."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    if not quiet:
        for text in dict.fromkeys(str(one.message) for one in met):
            click.echo(f"note: {text}", err=True)
