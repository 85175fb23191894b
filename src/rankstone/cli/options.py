"""Options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from rankstone.cli.outputs import FORMULAS_GIVEN

__all__ = [
    "EPILOG",
    "alignment",
    "comma_list",
    "csv_formulas",
    "given_options",
    "on_bad_run",
    "ordering",
    "printed",
    "reading",
    "refuse_with",
    "run_column",
    "statistics",
]

Command = TypeVar("Command", bound=Callable[..., Any])

#: below the options of a command that has those of alignment
EPILOG = "Of the values that stand for choice, the first is the default; docs/options.md says what each does."

_ALIGNMENT = {
    "order": ("score|rank|input", "what gives the order of a list"),
    "score_dtype": ("float64|float32", "float32 ties near-equal scores, as trec_eval up to 9 does"),
    "sort": ("stable|quicksort|quicksort_twice", "how lists are sorted before ties are looked at"),
    "ties": (
        "docid_desc|docid_asc|input|reverse_input|expected|best|worst|error",
        "who comes first among equal scores",
    ),
    "missing": ("zero|drop|error", "a judged query the run does not answer"),
    "no_results": ("missing|zero|undefined|drop|error", "a judged query answered by an empty list"),
    "extra": ("drop|keep|error", "a query of the run that nobody judged"),
    "empty": ("zero|one|undefined|drop|error", "a query without a relevant document"),
    "duplicates": (
        "error|first_keep_rank|first_drop|last_drop|keep|keep_judged",
        "a document twice in a list",
    ),
    "duplicate_judgments": ("error|max|sum|mean|majority|first|last", "a pair judged twice"),
    "negative": ("unjudged|zero|keep|error", "a grade below zero"),
    "unjudged": (
        "nonrelevant|condensed|condensed_keep_rank|(query|doc|global)_(mean|median)|GRADE",
        "a retrieved document without a judgment",
    ),
    "pool": ("judged|list", "what is known of a query: all judgments, or those of the list"),
    "exclude_from": ("lists|judgments|both", "where pairs of --exclude are taken out"),
    "identical_ids": ("keep|drop", "a retrieved document that has the id of its query"),
}


def alignment(command: Command) -> Command:
    """Add every alignment option; values are checked where they are defined."""
    counts = {
        "depth": "cut every list to its first N documents",
        "candidates": "how many documents a query could have retrieved",
    }
    above = "documents with no higher score earn nothing"
    command = click.option("--score-above", type=float, metavar="SCORE", help=above)(command)
    for name, text in reversed(counts.items()):
        command = click.option(f"--{name}", type=int, metavar="N", help=text)(command)
    for name, (values, text) in reversed(_ALIGNMENT.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, metavar=values, help=text)(command)
    return command


def printed(command: Command) -> Command:
    """Add the options of a command that prints tables: how many decimals, and where to."""
    output, digits = "write the result there instead of printing it", click.IntRange(0, 17)
    command = click.option("-o", "--output", metavar="FILE", help=output)(csv_formulas(command))
    return click.option("--digits", type=digits, default=4, show_default=True, help="decimals shown")(command)


def csv_formulas(command: Command) -> Command:
    """Add the option of a command that writes CSV; whoever writes it asks for what was given."""

    def said(context: click.Context, _option: click.Parameter, given: str) -> None:
        context.meta[FORMULAS_GIVEN] = given

    return click.option(
        "--csv-formulas",
        type=click.Choice(["keep", "escape"]),
        default="keep",
        expose_value=False,
        callback=said,
        metavar="keep|escape",
        help="texts in CSV that spreadsheets compute (=1+1): as they are, or after an apostrophe [keep]",
    )(command)


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of alignment that were given; ``--unjudged 0.5`` is a grade."""
    return {name: _grade(value) for name, value in options.items() if value is not None}


def _grade(value: Any) -> Any:  # noqa: ANN401 - a text or a number
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def comma_list(*flags: str, **settings: Any) -> Callable[[Command], Command]:  # noqa: ANN401 - of click
    """Return an option that takes a list with commas; given again, the lists add up."""

    def joined(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> str | None:
        return ",".join(given) if given else None

    return click.option(*flags, multiple=True, callback=joined, **settings)


def refuse_with(flag: str, others: Mapping[str, str | None]) -> None:
    """Refuse options that make no sense beside another one."""
    from rankstone.errors import UsageError

    given = [f"--{name}" for name, value in others.items() if value]
    if given:
        raise UsageError(f"{' and '.join(given)} cannot go with {flag}")


def statistics(command: Command) -> Command:
    """Add the options that say how systems are compared; values are checked where they are defined."""
    numbers: dict[str, tuple[type, str, str]] = {
        "confidence": (float, "SHARE", "of the family as a whole [0.95]"),
        "margin": (float, "D", "a difference that does not matter: systems can be equivalent"),
        "power": (float, "SHARE", "chance by which numbers of queries are counted [0.8]"),
        "permutations": (int, "N", "drawn at random [100000; fewer of very many queries]"),
        "resamples": (int, "N", "of the bootstrap [10000; fewer of very many queries]"),
        "seed": (int, "N", "of everything drawn [0]"),
    }
    words = {
        "test": ("randomisation|t|wilcoxon|sign|mcnemar", "of a pair"),
        "interval": ("auto|worst_case|t|bca|percentile|studentised|poisson", "of a difference [auto]"),
        "correction": (
            "holm|bonferroni|holm_sidak|sidak|hochberg|hommel|bh|by|none|robust_tukey|tukey|max_t|hsd|nemenyi",
            "of a family [all pairs: robust_tukey, else holm]",
        ),
    }
    for name, (kind, value, text) in reversed(numbers.items()):
        command = click.option(f"--{name}", type=kind, metavar=value, help=text)(command)
    for name, (values, text) in reversed(words.items()):
        command = click.option(f"--{name}", metavar=values, help=text)(command)
    return command


def ordering(command: Command) -> Command:
    """Add the alignment options that say how a run is ordered, and no judgments are needed for."""
    command = click.option(
        "--depth", type=int, metavar="N", help="look at the first N documents of each list only"
    )(command)
    for name, values in reversed(_ORDERING.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, metavar=values, help=_ALIGNMENT[name][1])(command)
    return command


_ORDERING = {
    "order": _ALIGNMENT["order"][0],
    "score_dtype": _ALIGNMENT["score_dtype"][0],
    "ties": "docid_desc|docid_asc|input|reverse_input|error",
    "duplicates": "error|first_drop|last_drop",
}


def run_column(command: Command) -> Command:
    """Add the option that reads long tables as many runs."""
    text = "long tables: the column that names each row's run"
    return click.option("--run-column", metavar="COLUMN", help=text)(command)


def on_bad_run(command: Command) -> Command:
    """Add the option that says what becomes of the others where some runs cannot be read."""
    text = "runs that cannot be scored: refuse them all at once, or leave them out (exit code 3 all the same)"
    return click.option("--on-bad-run", default="stop", metavar="stop|skip", help=f"{text} [stop]")(command)


def reading(command: Command) -> Command:
    """Add the options that say how files are read; what is said of CSV waits for ``split_columns``."""

    def kept(context: click.Context, option: click.Parameter, given: str | None) -> None:
        context.meta[f"rankstone.{option.name}"] = given

    for flag, value, text in (
        ("--decimal", ".|,", "of CSV: what stands before a fraction; else by its looks"),
        ("--csv-separator", "CHAR", "of CSV: ';', tab …; else by its looks"),
    ):
        command = click.option(flag, metavar=value, help=text, expose_value=False, callback=kept)(command)
    command = click.option(
        "--format-in",
        metavar="trec|csv|tsv|jsonl|json|parquet|arrow|xlsx",
        help="format of the input files; else by suffix",
    )(command)
    return comma_list(
        "--columns",
        metavar="THEIRS=OURS,…",
        help="column names: user_id=query_id,item_id=doc_id",
    )(command)
