"""How lists are ordered where two are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from rankstone.errors import BadOption, did_you_mean
from rankstone.hits.alignment_options import (
    ORDERINGS,
    AlignmentOptions,
    OrderingKeywords,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.hits.alignment_options import Order
    from rankstone.io.input_table import Table


#: the options of alignment that order a run; all others are about judgments
OPTIONS: Final = tuple(OrderingKeywords.__annotations__)


def ordering_options(options: Mapping[str, Any]) -> AlignmentOptions:
    """Check the options of ordering.

    Raises
    ------
    BadOption
        For an option that needs judgments, or a value that does.
    """
    options_of_alignment = AlignmentOptions().as_dict()
    for name in options:
        if name not in OPTIONS:
            raise BadOption(
                f"{name} has no effect where rankings are compared without judgments"
                if name in options_of_alignment
                else f"there is no option {name!r}",
                expected=", ".join(OPTIONS),
                fix=None
                if name in options_of_alignment
                else did_you_mean(name, OPTIONS, repr),
            )
    checked = AlignmentOptions(**options)
    *words, last = ORDERINGS["ties"]
    if checked.tie_rule.needs_grades:
        raise BadOption(
            f"ties={checked.ties!r} needs judgments",
            expected=f"{', '.join(words)} or {last}",
            fix="tied documents are ties for measures with a rule for ties: tau_b, RBO(p=0.9, ties=a), …; "
            "this option only decides which of them a cutoff leaves out",
        )
    if checked.duplicates not in ORDERINGS["duplicates"]:
        raise BadOption(
            f"duplicates={checked.duplicates!r}: a ranking has each document once",
            expected="error, first_drop or last_drop",
        )
    return checked


def options_for(table: Table, options: AlignmentOptions) -> AlignmentOptions:
    """Return the options for a table; lists of documents, and ranks without scores, have only one order."""
    return replace(options, order=cast("Order", table.ordered_by(options.order)))
