"""The settings of trec_eval: its version, its options and the formats of its output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Sequence


#: supported versions; the last one is current
VERSIONS: Final = (9, 10)


#: format of judgments (-R) → columns besides query, document and grade
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
        The version: 9 or 10.
    queries, summary
        True to print each query (-q), and the summary (not -n).
    complete
        True if judged queries that the run does not answer count (-c).
    level
        The lowest relevant grade (-l).
    judged_only
        True if unjudged documents are removed from the lists (-J).
    collection
        The number of documents in the collection (-N).
    depth
        The number of documents to which lists are cut (-M).
    only
        The only query to evaluate (-D level.query).
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
        """Refuse invalid options."""
        if self.version not in VERSIONS:
            raise UsageError(
                f"trec_eval {self.version} is not supported", expected="9 or 10"
            )
        if self.level < 0:
            raise UsageError(
                f"-l {self.level}: unjudged documents would be relevant",
                expected="a level from 0 up",
            )
        for flag, count in (("-M", self.depth), ("-N", self.collection)):
            if count is not None and count < 1:
                raise UsageError(
                    f"{flag} {count} is not a number of documents",
                    expected="a whole number from 1 up",
                )
        _known("-R", self.judgments, tuple(FORMATS))

    @property
    def compares(self) -> bool:
        """True if the judgments are preferences between documents instead of relevance grades."""
        return self.judgments in ("prefs", "qrels_prefs")

    def alignment(self) -> dict[str, Any]:
        """Return the alignment options.

        Version 9 has scores as float32.  Measures of preferences use every level, ignore -J, and break ties
        by ascending document id, all others by descending id.
        """
        return {
            "score_dtype": "float32" if self.version == VERSIONS[0] else "float64",
            "missing": "zero" if self.complete else "drop",
            "depth": self.depth,
            "candidates": self.collection,
            "ties": "docid_asc" if self.compares else "docid_desc",
            "negative": "keep" if self.compares else "unjudged",
            "unjudged": "condensed"
            if self.judged_only and not self.compares
            else "nonrelevant",
        }


def _known(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UsageError(
            f"{option} {printable(value)} is not known",
            expected=", ".join(choices),
            fix=did_you_mean(value, choices),
        )
