"""What a measure says of itself, and whether bounds can be found for it at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.errors import BadOption, BadParameter
from rankstone.hits.options import said

if TYPE_CHECKING:
    from rankstone.hits.options import Alignment
    from rankstone.measures.base import Measure

__all__ = ["RULES", "check_measure", "check_options", "rule_of", "sees_all"]

#: what a measure may claim, see docs/bounds.md
RULES: Final = ("enumeration", "multisets", "counts", "uniform", "first", "additive", "precisions")
#: what a claim is about: whoever defines one of these anew has to claim anew
_SUBJECTS: Final = ("contributions", "link", "score")
#: options under which a document's grade decides more than what the document is worth
_REFUSED: Final = {
    "ties": {"best": "the order of tied documents", "worst": "the order of tied documents"},
    "duplicates": dict.fromkeys(("keep", "keep_judged"), "what several ranks are worth"),
    "negative": {"keep": "gains below zero"},
    "empty": {"one": "whether a query without a relevant document is worth 1"},
}


def rule_of(measure: Measure) -> str:
    """Return the rule a measure's bounds are found by."""
    return measure.bounds_by if _claims(measure, "bounds_by") else "enumeration"


def sees_all(measure: Measure) -> bool:
    """Return whether the grade of any document may matter, or only of those down to the cutoff."""
    return measure.deeper_grades_matter or not _claims(measure, "deeper_grades_matter")


def _claims(measure: Measure, claim: str) -> bool:
    """Return whether a claim was made about the contributions that the measure has.

    A class that inherits a claim and has contributions of its own has claimed nothing.
    """
    for kind in type(measure).__mro__:
        if claim in vars(kind):
            return True
        if any(subject in vars(kind) for subject in _SUBJECTS):
            return False
    return True


def check_options(options: Alignment) -> None:
    """Refuse options under which bounds have no meaning or are not known."""
    if options.unjudged != "nonrelevant":
        raise BadOption(
            f"unjudged={said(options.unjudged)} says what unjudged documents are; bounds try every grade",
            fix="leave the option out",
        )
    for name, refused in _REFUSED.items():
        value = getattr(options, name)
        if value in refused:
            raise BadOption(
                f"{name}={value}: a grade would also decide {refused[value]}, and bounds are not known",
                fix=f"choose another value of {name}",
            )


def check_measure(measure: Measure) -> None:
    """Refuse a measure whose bounds have no meaning or are not known."""
    if measure.bounds_by not in (*RULES, "nothing"):
        raise BadParameter(
            f"{measure}: there is no rule {measure.bounds_by!r} to find its bounds by",
            expected=", ".join(RULES),
        )
    if measure.bounds_by == "nothing":
        raise BadParameter(
            f"{measure} speaks of what is judged; there is nothing to bound", fix="use rankstone eval for it"
        )
    if measure.brings & {"pool", "groups"} or measure.judgment_columns or measure.query_columns:
        raise BadParameter(
            f"{measure} needs more of a document than a grade, so bounds over grades are not all there is"
        )
    if measure.agg in ("pooled", "weighted"):
        raise BadParameter(
            f"{measure}: under agg={measure.agg} queries do not count alone, and bounds are not known",
            fix="use agg=mean, sum, median, gmean or trimmed",
        )
