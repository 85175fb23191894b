"""Judgments that name subtopics, for measures that count these where they are named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankstone._basics import Record
from rankstone.evaluation.side_inputs.side_input import SideInput
from rankstone.measures.full_recall import FullRecall

if TYPE_CHECKING:
    from typing import Self

    from rankstone.evaluation.side_inputs.side_input import SideRequest
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure


class JudgedSubtopics(Record, SideInput):
    """Reads the subtopics of judgments where these name any.

    Attributes
    ----------
    options
        The alignment options, under which the measure of subtopics must have a value, too.
    """

    options: AlignmentOptions

    judgment_columns = ("subtopic",)

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Keep the options."""
        return cls(request.options)

    def for_measure(self, measure: Measure, judged: Table | None = None) -> Measure:
        """Return the measure that says what it counts; TREC's second column is not named subtopic."""
        if not isinstance(measure, FullRecall) or measure.each is not None:
            return measure
        if judged is None or "subtopic" not in judged.present:
            return measure
        by_subtopic = replace(measure, each="subtopic")
        by_subtopic.check(self.options.ties, self.options.depth, self.options.negative)
        return by_subtopic
