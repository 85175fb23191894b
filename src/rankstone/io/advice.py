"""Advice on how a table is to be read: options that may help, as they are typed at a shell and in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from rankstone._basics import Record, quoted

_NAMES: Final = {"\t": "tab"}
#: the condition of advice that takes judgments without grades as they are
IF_ALL: Final = "if every row is a relevant document, "


class Advice(Record):
    """Options that may read a table which was refused.

    Attributes
    ----------
    columns
        {their name: our name} of columns to rename besides those that are.
    settings
        Other options: ``format_in``, ``csv_separator``, ``decimal``, ``order``, ``header``.
    why, so
        What is said before the options, and after them.
    is_spare
        True for names that are tried where the most likely ones do not fit.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    so: str = ""
    is_spare: bool = False


def escaped(name: str) -> str:
    """Return a name for --columns, with its commas escaped."""
    return name.replace(",", "\\,")


def written(
    before: Mapping[str, Any], after: Mapping[str, Any], *, at_shell: bool
) -> str:
    """Return the options that lead from some to others, as they are pasted.

    Parameters
    ----------
    before, after
        Options by name; ``columns`` is {their name: our name}.
    at_shell
        True for flags, which are added to those that there are unless they replace them.

    Examples
    --------
    >>> written({}, {"columns": {"qid": "query_id"}}, at_shell=True)
    'rename it: add --columns qid=query_id'
    >>> written({"decimal": "."}, {"decimal": ","}, at_shell=True)
    'instead: --decimal ,'
    >>> written({}, {"order": "input"}, at_shell=False)
    "order='input'"
    """
    names = before.get("columns") or {}
    wanted = after.get("columns") or {}
    new = {theirs: ours for theirs, ours in wanted.items() if names.get(theirs) != ours}
    settings = {
        name: value
        for name, value in after.items()
        if name != "columns" and value != before.get(name)
    }
    gone = names.keys() - wanted.keys()
    twice = settings.keys() & before.keys()
    is_replaced = bool(gone or twice)
    if not at_shell or is_replaced:
        new = dict(wanted) if new or names.keys() != wanted.keys() else {}
    has_header = settings.get("header", True)
    if not at_shell and not has_header:
        # positions say so
        del settings["header"]
        new = {_position(theirs): ours for theirs, ours in new.items()}
    parts = [_option("columns", new, at_shell=at_shell)] if new else []
    parts += [_option(*one, at_shell=at_shell) for one in settings.items()]
    if not at_shell:
        return ", ".join(parts)
    options = " ".join(parts)
    verb = "instead:" if is_replaced else "add"
    options = f"{verb} {options}"
    if not new:
        return options
    what = "rename it" if len(new) == 1 else "rename them"
    if not has_header:
        what = "name the columns"
    joint = " " if is_replaced else ": "
    return f"{what}{joint}{options}"


def _option(name: str, value: Any, *, at_shell: bool) -> str:  # noqa: ANN401 - of any option
    if not at_shell:
        return f"{name}={value!r}"
    if isinstance(value, Mapping):
        value = ",".join(f"{escaped(theirs)}={ours}" for theirs, ours in value.items())
    if name == "header":
        return "--no-header"
    if value is True:
        return f"--{name.replace('_', '-')}"
    flag = name.replace("_", "-")
    return f"--{flag} {quoted(_NAMES.get(value, value))}"


def _position(theirs: str) -> int | str:
    return int(theirs) if theirs.isdecimal() else theirs


def naming_need(ours: Iterable[str], columns: object) -> str:
    """Return what is needed where nothing says which columns hold some of ours.

    >>> naming_need(["left", "right"], None)
    'if a column holds left or right, rename it with columns'
    """
    option = "--columns" if getattr(columns, "at_shell", False) else "columns"
    return f"if a column holds {' or '.join(ours)}, rename it with {option}"
