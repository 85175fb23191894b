"""Labels of grades: letters and words that judgments have in the place of numbers, and what each is worth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadOption, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rankstone._basics import Columns

    #: label → grade; ``None`` for labels of documents that are not judged
    Labels = Mapping[str, float | None]


#: the labels of shopping queries (Reddy et al., 2022): exact, substitute, complement, irrelevant
ESCI: Final[Labels] = {"E": 3, "S": 2, "C": 1, "I": 0}
ESCI_NOTE: Final = "ESCI labels E, S, C, I as grades 3, 2, 1, 0"
#: said of labels whose grades are guessed
EDIT: Final = " (edit the grades if the labels are worth something else)"
#: labels of known scales, the best first
_SCALES: Final = (tuple(ESCI), ("perfect", "excellent", "good", "fair", "bad"))
_LETTERS: Final = "ABCDEF"
#: what stands for nothing, in lower case
_UNJUDGED: Final = ("", "n/a", "na", "-", "?")
_WORD: Final = "unjudged"
#: our name, and labels in brackets
_NAMED: Final = re.compile(r"(relevance)\((.*)\)")


def split_labels(ours: str) -> tuple[str, Labels]:
    """Return our name of a column, and its labels: ``relevance(A=3;B=0)``.

    Raises
    ------
    BadOption
        For a label without a number.

    Examples
    --------
    >>> split_labels("relevance(A=3; B=0; ?=unjudged)")
    ('relevance', {'A': 3.0, 'B': 0.0, '?': None})
    """
    named = _NAMED.fullmatch(str(ours))
    if named is None:
        return ours, {}
    labels: dict[str, float | None] = {}
    for entry in named[2].split(";"):
        label, _, grade = map(str.strip, entry.rpartition("="))
        labels[label] = None
        if grade == _WORD:
            continue
        try:
            labels[label] = float(grade)
        except ValueError as error:
            raise BadOption(
                f"columns: the grade {printable(grade, 40)!r} of the label "
                f"{printable(label, 40)!r} is not a number",
                expected="label=grade, separated by ; in relevance(A=3;B=1;n/a=unjudged)",
            ) from error
    return named[1], labels


def split_entry(entry: str) -> tuple[str, str, str]:
    """Return the parts of ``theirs=ours``, of which labels have further signs of equality.

    >>> split_entry("a=b=score"), split_entry("a=relevance(x=1)")
    (('a=b', '=', 'score'), ('a', '=', 'relevance(x=1)'))
    """
    theirs, bracket, labels = entry.partition("=relevance(")
    if bracket:
        return theirs, "=", f"relevance({labels}"
    return entry.rpartition("=")


def split_names(names: Columns) -> tuple[dict[str, str], dict[str, Labels]]:
    """Return {their name: our name}, and {their name: labels} of those that have some."""
    plain: dict[str, str] = {}
    known: dict[str, Labels] = {}
    for name, ours in names.items():
        theirs = str(name)
        plain[theirs], labels = split_labels(ours)
        if labels:
            known[theirs] = labels
    return plain, known


def labels_in(columns: Columns) -> Mapping[str, Labels]:
    """Return {their name: labels} that come with renamed columns."""
    known: Mapping[str, Labels] = getattr(columns, "labels", {})
    return known


def typed_names(columns: Columns) -> Columns:
    """Return the names as they are typed, with their labels."""
    known = labels_in(columns)
    names: dict[str, str] = {}
    for theirs, ours in columns.items():
        labels = known.get(theirs, {})
        names[theirs] = with_labels(ours, labels)
    return names


def has_unjudged(columns: Columns) -> bool:
    """Return whether a label says that a document is not judged."""
    known = labels_in(columns).values()
    return any(None in labels.values() for labels in known)


def with_labels(ours: str, labels: Labels) -> str:
    """Return our name with labels, as it is typed.

    >>> with_labels("relevance", {"A": 3.0, "?": None})
    'relevance(A=3;?=unjudged)'
    """
    if not labels:
        return ours
    entries = []
    for label, grade in labels.items():
        shown = _WORD
        if grade is not None:
            shown = f"{grade:g}"
        entries.append(f"{label}={shown}")
    return f"{ours}({';'.join(entries)})"


def grades_of(cells: pl.Expr, labels: Labels) -> pl.Expr:
    """Return texts with the grades of labels in their place, whatever their case; other texts stay."""
    text = cells.cast(pl.String)
    folded = text.str.strip_chars().str.to_lowercase()
    grade: dict[str, str | None] = {}
    for label, value in labels.items():
        key = label.lower()
        grade[key] = None
        if value is not None:
            grade[key] = f"{value:g}"
    known = folded.is_in([*grade])
    return pl.when(known).then(folded.replace(grade)).otherwise(text)


def are_esci(texts: Collection[str]) -> bool:
    """Return whether texts are ESCI labels, the first and the last among them.

    >>> are_esci(["I", "E", "S"]), are_esci(["S", "C"]), are_esci(["E", "I", "N"])
    (True, False, False)
    """
    return {"E", "I"} <= {*texts} <= {*ESCI}


def likely_labels(texts: Collection[str]) -> Labels:
    """Return labels with grades that are plausible, the best first; empty where no order is.

    >>> likely_labels(["B", "a", "D", "C", "n/a"])
    {'A': 3, 'B': 2, 'C': 1, 'D': 0, 'n/a': None}
    >>> likely_labels(["red", "blue"]), likely_labels(["n/a"])
    ({}, {'n/a': None})
    """
    nothing: list[str] = []
    labels: set[str] = set()
    for text in texts:
        if text.lower() in _UNJUDGED:
            nothing.append(text)
        else:
            labels.add(text.upper())
    if nothing and not labels:
        return dict.fromkeys(sorted(nothing))
    last = max(labels, default="")
    letters: tuple[str, ...] = ()
    if len(last) == 1:
        end = _LETTERS.find(last) + 1
        letters = tuple(_LETTERS[:end])
    for scale in (*_SCALES, letters):
        known = [label.upper() for label in scale]
        if len(labels) > 1 and labels <= {*known} and known[0] in labels:
            grades: dict[str, float | None] = {}
            for worse, label in enumerate(scale, start=1):
                grades[label] = len(scale) - worse
            return grades | dict.fromkeys(sorted(nothing))
    return {}
