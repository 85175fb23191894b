"""What trec_eval's options mean here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import UsageError, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FORMATS", "VERSIONS", "Settings"]

#: versions whose readings there are; the second is the present one
VERSIONS: Final = (9, 10)
#: format of judgments (-R) → columns beside query, document and grade
FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "qrels": (),
    "qrels_jg": ("subtopic",),
    "prefs": ("subtopic", "subgroup"),
    "qrels_prefs": ("subtopic",),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """trec_eval's options.

    Attributes
    ----------
    version
        Whose readings: 9 or 10.
    queries, summary
        Whether to print each query (-q), and the summary (not -n).
    complete
        Whether judged queries that the run does not answer count (-c).
    level
        Relevant is a grade from here up (-l).
    judged_only
        Whether unjudged documents leave the lists (-J).
    collection
        How many documents there are (-N).
    depth
        Lists are cut to so many documents (-M).
    only
        The one query looked at (-D level.query).
    judgments
        Format of the judgments (-R).
    """

    version: int = VERSIONS[-1]
    queries: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    judged_only: bool = False
    collection: int | None = None
    depth: int | None = None
    only: str | None = None
    judgments: str = "qrels"

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.version not in VERSIONS:
            raise UsageError(f"there is no reading of trec_eval {self.version}", expected="9 or 10")
        if self.level < 0:
            raise UsageError(
                f"-l {self.level}: documents nobody judged would be relevant", expected="a level from 0 up"
            )
        for flag, count in (("-M", self.depth), ("-N", self.collection)):
            if count is not None and count < 1:
                raise UsageError(
                    f"{flag} {count} is no number of documents", expected="a whole number from 1 up"
                )
        _known("-R", self.judgments, tuple(FORMATS))

    @property
    def compares(self) -> bool:
        """Whether the judgments say what is better than what, instead of what is relevant."""
        return self.judgments in ("prefs", "qrels_prefs")

    def alignment(self) -> dict[str, Any]:
        """Return the options of alignment.

        Version 9 holds scores as float32.  Preferences look at every level, know no -J, and break ties
        by ascending document id, all other measures by descending id.
        """
        return {
            "score_dtype": "float32" if self.version == VERSIONS[0] else "float64",
            "missing": "zero" if self.complete else "drop",
            "depth": self.depth,
            "candidates": self.collection,
            "ties": "docid_asc" if self.compares else "docid_desc",
            "negative": "keep" if self.compares else "unjudged",
            "unjudged": "condensed" if self.judged_only and not self.compares else "nonrelevant",
        }


def _known(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        close = nearest(value, choices, n=1)
        raise UsageError(
            f"{option} {printable(value)} is not known",
            expected=", ".join(choices),
            fix=f"did you mean {close[0]}?" if close else None,
        )
