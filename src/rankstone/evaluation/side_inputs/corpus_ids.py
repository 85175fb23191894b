"""What the corpus lacks: relevant documents that no system can retrieve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.evaluation.side_inputs.side_input import SideInput
from rankstone.io.corpus import Corpus, in_folder, read_corpus

if TYPE_CHECKING:
    from rankstone._basics import NamedValues
    from rankstone.evaluation.side_inputs.side_input import RunScorer, SideRequest
    from rankstone.measures.core.measure import Measure

_PAIR: Final = ("query_id", "doc_id")
#: measures of groups for which lists with a document of each group first are best
_OF_GROUPS: Final = ("StRecall", "FullRecall")


class CorpusIds(Record, SideInput):
    """Counts relevant documents that are not in the corpus, and says which means can be reached.

    Attributes
    ----------
    corpus
        The documents that can be retrieved.
    """

    corpus: Corpus

    @classmethod
    def of(cls, request: SideRequest) -> Self:
        """Read the ids of the corpus."""
        return cls(read_corpus(request.corpus, request.columns))

    def judgments_audit(self, scorer: RunScorer) -> NamedValues:
        """Return how many relevant documents are not there, and the sentence that says so."""
        figures: NamedValues = {}
        if "split" in scorer.recorded:
            every = scorer.relevant_rows(all_splits=True)
            absent, _ = self._absent_and_present(scorer, every)
            figures["absent_of_all"] = absent["doc_id"].n_unique()
        relevant = scorer.relevant_rows()
        if not relevant.height:
            return figures
        absent, present = self._absent_and_present(scorer, relevant)
        if not absent.height:
            return figures | {"absent": 0}
        lost = relevant.join(present, on="query_id", how="anti")
        unwinnable = lost["query_id"].n_unique()
        ceilings = self._ceilings(scorer, present)

        documents = counted(absent["doc_id"].n_unique(), "relevant document")
        sentence = (
            f"{documents} of {relevant['doc_id'].n_unique():,} not in the corpus "
            f"{self.corpus.source} ({some(absent['doc_id'].unique(maintain_order=True))}): "
            f"{unwinnable:,} of {counted(relevant['query_id'].n_unique(), 'query')} cannot be won"
        )
        if ceilings:
            sentence += f"; at most {', '.join(ceilings)} can be reached"
        return figures | {
            "absent": absent["doc_id"].n_unique(),
            "unwinnable": unwinnable,
            "warnings": (sentence,),
        }

    def ceilings(self, scorer: RunScorer) -> list[str]:
        """Return the means that can be reached with what is there, each with its measure."""
        _, present = self._absent_and_present(scorer, scorer.relevant_rows())
        return self._ceilings(scorer, present)

    def _absent_and_present(
        self, scorer: RunScorer, rows: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the judgments whose documents are not there, and the others."""
        corpus = in_folder(self.corpus, rows["doc_id"])
        # one chunk or copy that is there is enough for what counts as one
        units = replace(corpus, ids=scorer.unit_ids(corpus.ids))
        is_absent = units.lacks(scorer.unit_ids(rows["doc_id"]))
        return rows.filter(is_absent), rows.filter(~is_absent)

    def _ceilings(self, scorer: RunScorer, present: pl.DataFrame) -> list[str]:
        """Return the means of lists with all relevant documents that are there, best first."""
        measures = [measure for measure in scorer.measures if _is_bounded(measure)]
        if not measures:
            return []
        if not present.height:
            return [f"{measure} 0" for measure in measures]
        by_grade = pl.col("relevance").rank("ordinal", descending=True)
        orders = [by_grade.over("query_id")]
        if "subtopic" in present.columns:
            # one document of each group before a second one of any
            alternative = by_grade.over("query_id", "subtopic")
            orders.append(alternative.rank("ordinal").over("query_id"))
        means: dict[str, float] = {}
        for place in orders:
            run = present.select(*_PAIR, score=-place.cast(pl.Float64))
            best = run.group_by(_PAIR, maintain_order=True).max()
            rows = scorer.means_without(self, best, measures)
            for row in rows.iter_rows(named=True):
                value = row["value"] or 0.0
                means[row["measure"]] = max(value, means.get(row["measure"], value))
        return [f"{measure} {mean:.4f}" for measure, mean in means.items()]


def _is_bounded(measure: Measure) -> bool:
    """Return whether the best lists of relevant documents are known: those in the order of grades or groups."""
    if not measure.needs_relevant or measure.card.direction != "higher":
        return False
    return measure.claims.promotion_helps or type(measure).__name__ in _OF_GROUPS
