"""Arguments of commands: files, runs by name, measures, numbers, names of columns.

Errors name options as Python does; here they are rewritten as flags.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone.cli.options import DEFAULT_MEASURES, LISTS, PANELS
from rankstone.errors import (
    BadParameter,
    BadRuns,
    InputError,
    RankstoneError,
    UnknownMeasure,
    UsageError,
    at_shell,
    did_you_mean,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.io import Renames


#: what commands call their judgments and runs
_RANKED: Final = re.compile("QRELS|RUN|^A B$")
_COMMANDLINE: Final = click.core.ParameterSource.COMMANDLINE
#: before an option that the command that runs does not have
_OTHER: Final = "rankstone eval QRELS RUN "
#: keywords that messages use for something other than the option
_NO_FLAGS: Final = ("columns", "form", "k")


def no_command(given: str, known: Iterable[str], fix: str | None = None) -> UsageError:
    """Return the error for an unknown command."""
    return UsageError(
        f"there is no command {printable(given)!r}",
        expected=", ".join(known),
        fix=fix or (did_you_mean(given, known)),
    )


def present(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; ``--unjudged 0.5`` becomes a number."""
    found = {name: value for name, value in given.items() if value is not None}
    if "unjudged" in found:
        with suppress(ValueError):
            found["unjudged"] = float(found["unjudged"])
    return found


def words(text: str | None) -> list[str]:
    """Split a list separated by commas."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def numbers(flag: str, text: str, expected: str = "such as 0.5,0.8") -> list[float]:
    """Return the numbers of a list separated by commas."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [math.nan]
    if not all(map(math.isfinite, found)):
        raise UsageError(
            f"{flag} must be numbers, separated by commas",
            given=printable(text),
            expected=expected,
        )
    return found


def named_numbers(
    flag: str, text: str | None, expected: str
) -> dict[str, float] | None:
    """Read NAME=NUMBER,…; ``None`` where nothing is given."""
    if text is None:
        return None
    by_name = {}
    for part in words(text):
        name, _, number = part.rpartition("=")
        try:
            by_name[name] = float(number)
        except ValueError as error:
            raise UsageError(
                f"{flag} takes names and numbers",
                given=printable(part),
                expected=f"{flag} {expected}",
            ) from error
    return by_name


def refuse_with(
    flag: str, given: Mapping[str, Any], names: Iterable[str] | None = None
) -> None:
    """Refuse options that cannot be combined with another one.

    Parameters
    ----------
    flag
        The other one.
    given
        Name → value; ``None``, ``False`` and no values at all were not given, 0 and empty texts were.
    names
        Those that are refused; all by default.
    """
    others = [
        name
        for name in (given if names is None else names)
        if _is_given(given.get(name))
    ]
    if others:
        params = click.get_current_context().command.params
        spelled = {param.name: param.opts[0] for param in params}
        flags = " and ".join(spelled[name] for name in others)
        raise UsageError(f"{flags} cannot go with {flag}")


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value not in ((), [])


def chosen_measures(
    measures: Sequence[str], convention: str | None = None, rel: float | None = None
) -> Sequence[Any]:
    """Return the measures to compute: those named, those of a library, or the default ones.

    Parameters
    ----------
    measures
        The measures as typed.
    convention
        The library, if any.
    rel
        The lowest relevant grade, for all measures of relevant documents without a threshold of their own;
        graded measures keep all grades, as in ``trec_eval -l``.
    """
    if convention is not None:
        from rankstone.conventions import convention as known

        refuse_with("--convention", {"rel": rel is not None})
        return measures or known(convention).everything()
    wanted = measures or (DEFAULT_MEASURES,)
    if rel is None:
        return wanted
    from rankstone.measures import parse_measures

    parsed = list(parse_measures(list(wanted)))
    changed: list[Any] = with_thresholds(parsed, rel)
    if changed == parsed:
        names = " ".join(map(str, parsed))
        raise UsageError(
            "--rel changes none of these measures", given=names, expected="AP, P, RR …"
        )
    return changed


def with_thresholds(measures: Any, rel: float | None) -> Any:
    """Return measures with this threshold, where they have none of their own and take one."""
    if rel is None or not measures:
        return measures
    from rankstone.measures import parse_measures

    return [_with_threshold(measure, rel) for measure in parse_measures(measures)]


def _with_threshold(measure: Any, rel: float) -> Any:
    """Return a measure with this threshold, also in a measure inside it."""
    changes: dict[str, Any] = {}
    graded = getattr(measure, "gain", "binary") != "binary"
    for field in fields(measure):
        value = getattr(measure, field.name)
        if field.name == "rel" and value == field.default and not graded:
            changes["rel"] = rel
        elif is_dataclass(value) and not isinstance(value, type):
            changes[field.name] = _with_threshold(value, rel)
    return replace(measure, **changes)


def split_columns(columns: str | None) -> Renames:
    """Read --columns and what else says how files are read."""
    import click

    from rankstone.io import CsvOptions, parse_columns

    names = parse_columns(columns or "")
    context = click.get_current_context(silent=True)
    said = {} if context is None else context.meta
    names.csv = CsvOptions(
        said.get("rankstone.csv_separator"),
        said.get("rankstone.decimal"),
        not said.get("rankstone.no_header"),
    )
    names.all_relevant = bool(said.get("rankstone.all_relevant"))
    names.own_shapes = said.get("rankstone.shape")
    return names


def queries_of(
    queries: str | None, by: str | None, files: Sequence[str], columns: str | None
) -> str | None:
    """Return the table with the columns of --by: that of --queries, else the judgments', if they are a table."""
    if queries is not None or not by or not files:
        return queries
    from rankstone.io import has_columns, read_attributes

    names = split_columns(columns)
    if not has_columns(files[0], names):
        return None
    read_attributes(files[0], "query_id", names).collect(*words(by))
    return files[0]


def named_runs(arguments: Sequence[str]) -> dict[str, object]:
    """Read RUN arguments: paths or addresses of databases, or one of them with its name=."""
    named: dict[str, object] = {}
    for argument in arguments:
        name, path = name_and_path(argument)
        if name in named:
            raise UsageError(
                f"two runs have the name {name!r}",
                fix="give them names: bm25=runs/a/run.txt dense=runs/b/run.txt",
            )
        named[name] = path
    return named


def saved_scores(files: Sequence[str]) -> Any:
    """Return saved scores as functions take them: the only file, or files by name."""
    if len(files) == 1 and "=" not in files[0]:
        return files[0]
    return named_runs(files)


def name_and_path(argument: str) -> tuple[str, str]:
    """Return the name of a run and its path: ``name=PATH``, or a path that names it."""
    from rankstone.io import is_database, stem

    name, _, path = argument.partition("=")
    said = (
        name and path and not is_database(argument)
    )  # in an address, = belongs to SQL or to the server
    if said and (is_database(path) or not Path(argument).exists()):
        return name, path
    return stem(argument), argument


def judged_runs(
    command: str, files: Sequence[str], *, else_try: str | None = None
) -> dict[str, object]:
    """Return the runs of QRELS RUN [RUN]… by name; a data set with both is enough; refuse fewer files.

    Parameters
    ----------
    command
        The command, for messages.
    files
        Its arguments.
    else_try
        A suggestion for the error.
    """
    if len(files) < 2:  # noqa: PLR2004 - judgments and a run
        if holds_both(files):
            return named_runs(files)
        raise UsageError(
            "judgments and at least one run are needed",
            given=" ".join(files) or "nothing",
            expected=f"rankstone {command} QRELS RUN [RUN]…",
            fix=else_try,
        )
    return named_runs(files[1:])


def holds_both(files: Sequence[str]) -> bool:
    """Return True for one file that holds judgments and a run, as data sets of Ragas do."""
    from rankstone.io import is_data_set, is_stream

    return len(files) == 1 and not is_stream(files[0]) and is_data_set(files[0])


def no_files(files: Sequence[str]) -> None:
    """Refuse files where --labeled names the one table."""
    if files:
        raise UsageError(
            "--labeled takes one table and no other files", given=" ".join(files)
        )


def advise_on_all(error: InputError, inputs: Iterable[str]) -> None:
    """Extend the advice on one table to judgments and runs that are read with the same options."""
    from rankstone.io import advise_on_others, read_judgments, read_run

    context = click.get_current_context()
    first, listed = "", set[str]()
    for param in context.command.params:
        shown = getattr(param, "metavar", None) or ""
        if isinstance(param, click.Argument) and _RANKED.search(shown):
            names = context.params[param.name or ""]
            listed |= {*names}
            first = names[0] if "QRELS" in shown and names else ""
    others, beside = list[Any](), list[Any]()
    for name in inputs:
        path = name_and_path(name)[1]
        # a file with both is named twice
        read = read_judgments if name == first and not others else read_run
        if path != "-":
            (others if name in listed else beside).append((read, path))
    advise_on_others(error, others, beside)


def _advice_on_name(error: UnknownMeasure) -> str | None:
    """Return the fix for a name that only other libraries have."""
    from rankstone.conventions import conventions

    quoted_name = re.search("'(.+)'", error.what)
    name = quoted_name[1] if quoted_name else ""
    entries = [(one, entry) for one in conventions() for entry in one.entries]
    names = (name, f"{name}@10")
    known = {
        f"--convention {one}": None
        for one, entry in entries
        if any(entry.match(spelling) is not None for spelling in names)
    }
    if known:
        shown = [*known][:3]
        more = f", and {len(known) - 3} more" if len(known) > 3 else ""  # noqa: PLR2004 - what is shown
        return f"it is a name of another library: add {' or '.join(shown)}{more}"
    longer = [
        f"the convention {one} has {entry.spelling}"
        for one, entry in entries
        if name and entry.spelling.endswith(f"_{name}")
    ]
    return longer[0] if longer else None


def as_flags(text: str) -> str:
    """Return a text with options as flags; parameters of measures and columns are kept.

    >>> as_flags("choose score_dtype=float32, or a measure: AUC(negatives=judged, ties=half)")
    'choose --score-dtype float32, or a measure: AUC(negatives=judged, ties=half)'
    """
    flags = _flags()
    names = "|".join(flags)
    columns = r"--columns (?:'[^']*'|\"[^\"]*\"|[^\s'\"])+"
    found = re.compile(
        rf"\w\([^()]*\)|{columns}|--only \S+|(?<![\w-])(?<!in Python )(?P<name>{names})=(?=\S)(?P<form>…)?"
    )

    def flag_of(hit: re.Match[str]) -> str:
        if hit["name"] is None:
            return hit[0]
        flag = flags[hit["name"]]
        return f"{flag.removeprefix(_OTHER)} …" if hit["form"] else f"{flag} "

    return found.sub(flag_of, text)


def _pasteable(fix: str) -> str:
    """Return a fix with the flag that is left out, or that replaces the one that is there."""
    context = click.get_current_context(silent=True)
    flags = _flags()
    taken_away = rf"\b(?:leave(?: out)?|remove) ({'|'.join(flags)})\b(?: out)?"
    fix = re.sub(taken_away, lambda hit: f"leave out {flags[hit[1]]}", fix)
    fix = re.sub(r"(--[a-z-]+ )\{'([^']*)': ([^{},]*)\}", r"\1\2=\3", fix)
    # no shell needs quotes around a word
    fix = re.sub(r"(-[a-z-]+ )(['\"])([\w.@-]+)\2", r"\1\3", fix)
    fix = re.sub(r"(--[a-z-]+) True\b", r"\1", fix)
    if context is None:
        return fix
    own = {opt for param in context.command.params for opt in param.opts}

    def of_command(hit: re.Match[str]) -> str:
        flag = hit["flag"]
        is_known = flag is None or flag in own or flag not in every
        return hit[0] if is_known else f"{_OTHER}{flag}"

    every = {f"--{name}" for name in (*PANELS["Alignment"], *LISTS.split())}
    fix = re.sub(
        r"rankstone [^;,]*|(?P<flag>(?<![\w-])--[a-z][a-z-]*)", of_command, fix
    )
    if "instead" in fix:
        return fix
    for param in context.command.params:
        if not isinstance(param, click.Option) or param.multiple or param.is_flag:
            continue
        name = param.name or ""
        flag = rf"(?<!leave out )(?<!remove ){param.opts[0]} (?!and |or )([^\s,;]+)"
        offered = re.search(flag, fix)
        is_given = context.get_parameter_source(name) is _COMMANDLINE
        if is_given and offered and offered[1] != str(context.params.get(name)):
            fix = f"{fix[: offered.start()]}instead {fix[offered.start() :]}"
    return fix


def _flags() -> dict[str, str]:
    """Return keyword → flag: options of judgments and runs, and those of the command that runs."""
    context = click.get_current_context(silent=True)
    params = [] if context is None else context.command.params
    own = {opt for param in params for opt in param.opts}
    # what a command does not have is advice to use another one
    found = {"run_column": f"{_OTHER}--run-column"}
    for name in (*PANELS["Alignment"], *LISTS.split()):
        flag = f"--{name}"
        is_own = context is None or flag in own
        found[name.replace("-", "_")] = flag if is_own else f"{_OTHER}{flag}"
    for param in params:
        if (
            isinstance(param, click.Option)
            and param.name is not None
            and param.name not in _NO_FLAGS
        ):
            found[param.name] = param.opts[0]
    return found


def with_flags(error: RankstoneError) -> str:
    """Return an error's message with options as flags; parameters of measures are kept."""
    if isinstance(error, BadRuns):
        for one in error.errors.values():
            with_flags(one)
    error.fix = error.advice and at_shell(error.advice)
    if isinstance(error, UnknownMeasure):
        if "convention" in _flags():
            error.fix = _advice_on_name(error) or error.fix
    elif not isinstance(error, BadParameter):
        error.what = as_flags(error.what)
        error.expected = error.expected and as_flags(at_shell(error.expected))
        error.fix = error.fix and _pasteable(as_flags(error.fix))
    return str(error)
