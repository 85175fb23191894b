"""Opening two runs so that they can be compared: the same kind of ids, the same rules of order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from rankstone.errors import BadOption, nearest
from rankstone.hits.options import Alignment
from rankstone.io import ids_of_two_kinds, read_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.options import Order
    from rankstone.io import Table

__all__ = ["OPTIONS", "UNDECIDED", "listing_options", "open_both", "options_for"]

#: the options of alignment that say how a run is ordered; all others are about judgments
OPTIONS: Final = ("order", "score_dtype", "ties", "duplicates", "depth")
UNDECIDED: Final = ("expected", "best", "worst")
_COPIES: Final = ("keep", "keep_judged", "first_keep_rank")


def listing_options(options: Mapping[str, Any]) -> Alignment:
    """Check the options of ordering.

    Raises
    ------
    BadOption
        For an option that needs judgments, or a value that does.
    """
    known = Alignment().as_dict()
    for name in options:
        if name not in OPTIONS:
            close = nearest(name, OPTIONS, n=1)
            raise BadOption(
                f"{name} plays no part where rankings are compared without judgments"
                if name in known
                else f"there is no option {name!r}",
                expected=", ".join(OPTIONS),
                fix=f"did you mean {close[0]!r}?" if close and name not in known else None,
            )
    checked = Alignment(**options)
    if checked.ties in UNDECIDED:
        raise BadOption(
            f"ties={checked.ties!r} is about scores against judgments",
            expected="docid_desc, docid_asc, input, reverse_input or error",
            fix="tied documents are ties to every measure that knows ties: tau_b, RBO(p=0.9, ties=a), …; "
            "this option only says which of them a cutoff leaves out",
        )
    if checked.duplicates in _COPIES:
        raise BadOption(
            f"duplicates={checked.duplicates!r}: a ranking holds each document once",
            expected="error, first_drop or last_drop",
        )
    return checked


def options_for(table: Table, options: Alignment) -> Alignment:
    """Return the options for a table; lists of documents, and ranks without scores, have one order only."""
    return replace(options, order=cast("Order", table.ordered_by(options.order)))


def open_both(
    a: object,
    b: object,
    names: tuple[str, str],
    *,
    order: str,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
) -> tuple[Table, Table]:
    """Open two runs; ids written in a text file are texts, also against whole numbers.

    Raises
    ------
    MixedIds
        When one run has texts for ids and the other whole numbers.
    """
    first, second = (
        read_run(run, columns, format_in, order=order, name=name)
        for run, name in zip((a, b), names, strict=True)
    )
    differ = ids_of_two_kinds(first, second, "texts in both runs, or whole numbers in both")
    return first.with_text_ids(*differ), second.with_text_ids(*differ)
