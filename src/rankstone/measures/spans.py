"""Measures of spans: how much of the relevant text the retrieved chunks cover, whatever the chunks are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import BadParameter
from rankstone.hits.extras.text_spans import (
    TextCoverage,
    TextSpans,
    overlapping,
    union_length,
)
from rankstone.hits.list_arrays import sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions
from rankstone.measures.core.relevance import BinaryMeasure

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.extras.text_spans import JudgedSpans, Spans
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.definition import Threshold


_NEEDS: Final = (
    "judgments with start and end, and chunks with the same, in the run or in a table of chunks "
    "(documents=…, --documents FILE)"
)
_SYMBOLS: Final = "T: text of the first k chunks; G: text of the relevant spans; |…|: length, shared text once"
_SENSITIVE: Final = (
    "ties at the cutoff; relevant text that is not marked; offsets in another unit"
)
_SOURCE: Final = (
    "Smith and Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma, 2024"
)


class _Text(Record):
    """What the chunks that a measure reads cover.

    Attributes
    ----------
    new, gained, by_nugget, length
        float64 ``[hits]``: new text, new relevant text, its share of each nugget, and text at all; 0 for
        chunks that are not read.
    relevant
        The relevant spans.
    left
        float64 ``[spans]``: how much of each relevant span is not covered.
    nuggets
        float64 ``[queries]``: how many nuggets a query has.
    """

    new: Floats
    gained: Floats
    by_nugget: Floats
    length: Floats
    relevant: Spans
    left: Floats
    nuggets: Floats

    @classmethod
    def of(cls, hits: Hits, rel: Threshold, depth: str) -> _Text:
        """Measure the chunks behind hits."""
        retrieved = hits.added(TextSpans)
        judged = retrieved.judged
        wanted = rel(judged.grade)
        relevant = judged.spans.some(wanted)
        nugget = judged.nugget[wanted]
        chunks = retrieved.spans(hits.query)
        read = np.ones(len(hits.rank), bool)
        if depth == "relevant_chunks":
            count = np.bincount(
                _touching(judged, relevant).query, minlength=hits.queries
            )
            read = hits.rank <= count[hits.query]
        covered = TextCoverage.of(chunks.some(read), relevant, nugget)

        def whole(values: Floats) -> Floats:
            every = np.zeros(len(read))
            every[read] = values
            return every

        _, first = np.unique(nugget, return_index=True)
        return cls(
            whole(covered.new),
            whole(covered.relevant),
            whole(covered.by_nugget),
            np.where(read, chunks.length, 0.0),
            relevant,
            relevant.length - covered.of_span,
            np.bincount(relevant.query[first], minlength=hits.queries).astype(
                np.float64
            ),
        )


def _touching(judged: JudgedSpans, relevant: Spans) -> Spans:
    """Return the chunks of the collection that share text with relevant spans."""
    if judged.chunks is None:
        raise BadParameter(
            "the chunks that hold relevant text are not known",
            expected="a table of all chunks with doc_id, document, start and end",
            fix="give it: --documents FILE (in Python documents=…)",
        )
    chunk, _ = overlapping(judged.chunks, relevant)
    return judged.chunks.some(np.unique(chunk))


@dataclass(frozen=True, kw_only=True)
class SpanMeasure(BinaryMeasure, family="spans"):
    """A measure of the text that retrieved chunks and relevant spans share."""

    requires = frozenset({TextSpans})
    judgment_columns = ("start", "end")
    depth_by: str = parameter(
        "k",
        "how many chunks are read: k, or as many as touch relevant text in the whole collection",
        "k",
        "relevant_chunks",
    )
    overlaps: str = parameter(
        "once",
        "text that several chunks or spans share counts in the denominator",
        "once",
        "added",
    )

    def __post_init__(self) -> None:
        """Refuse two depths."""
        super().__post_init__()
        if self.depth_by != "k" and (self.k is not None or self.budget is not None):
            raise BadParameter(
                f"{self} has two depths",
                fix=f"write {replace(self, k=None, budget=None)}, or leave depth_by out",
            )

    @property
    def claims(self) -> Claims:
        """Text counts once, for the first chunk that has it, so that a tie has no closed form."""
        return Claims(
            closed_under_ties=False, extremal_under_ties=False, promotion_helps=False
        )

    def text(self, hits: Hits) -> _Text:
        """Return what the chunks cover, computed once for all measures of the same depth."""
        key = ("text", self.rel, self.depth_by)
        text: _Text = hits.remember(
            key, lambda: _Text.of(hits, self.threshold, self.depth_by)
        )
        hits.record_columns(new_text=text.new, relevant_text=text.gained)
        return text

    def relevant_length(self, hits: Hits, text: _Text) -> Floats:
        """Return the length of relevant text, float64 ``[queries]``."""
        if self.overlaps == "added":
            return sums(text.relevant.query, text.relevant.length, hits.queries)
        return union_length(text.relevant, hits.queries)

    def read_length(self, hits: Hits, text: _Text) -> Floats:
        """Return the length of the text of the chunks that are read, float64 ``[queries]``."""
        return hits.total(text.length if self.overlaps == "added" else text.new)


@dataclass(frozen=True, kw_only=True)
class SpanR(SpanMeasure):
    """Recall of text: the share of the relevant text that the first k chunks cover.

    >>> print(SpanR(k=5), SpanR @ "tokens(2000)", SpanR(per="nugget", k=5))
    SpanR@5 SpanR@tokens(2000) SpanR(per=nugget)@5
    """

    aliases = ("SpanRecall",)
    card = Card(
        sentence="How much of the relevant text is in the first k chunks?",
        formula="SpanR@k = |T ∩ G| / |G|",
        symbols=_SYMBOLS,
        example="relevant 0–100 and 200–250, chunks 0–60 and 40–120: 100 of 150 = 2/3",
        needs=_NEEDS,
        peers={
            "Chroma's chunking_evaluation": "recall; SpanR(depth_by=relevant_chunks, overlaps=added)"
        },
        sensitive=_SENSITIVE,
        use="comparing chunkers and retrievers: the same judgments serve every chunking",
        scale="a step is a character or token of relevant text",
        citation=_SOURCE,
    )

    per: str = parameter(
        "text",
        "each character of relevant text counts the same, or each nugget",
        "text",
        "nugget",
    )

    def __post_init__(self) -> None:
        """Read what each span is about, where nuggets count."""
        super().__post_init__()
        if self.per == "nugget":
            object.__setattr__(
                self, "judgment_columns", (*SpanMeasure.judgment_columns, "nugget")
            )

    @property
    def claims(self) -> Claims:
        """More chunks never cover less."""
        return replace(super().claims, grows_with_k=True)

    def contributions(self, hits: Hits) -> Contributions:
        """Count new relevant text; divide by all of it."""
        text = self.text(hits)
        if self.per == "nugget":
            return Contributions(text.by_nugget, text.nuggets)
        return Contributions(text.gained, self.relevant_length(hits, text))


@dataclass(frozen=True, kw_only=True)
class SpanP(SpanMeasure):
    """Precision of text: the share of the text of the first k chunks that is relevant.

    >>> print(SpanP(k=5))
    SpanP@5
    """

    aliases = ("SpanPrecision",)
    card = Card(
        sentence="How much of the text of the first k chunks is relevant?",
        formula="SpanP@k = |T ∩ G| / |T|",
        symbols=_SYMBOLS,
        example="relevant 0–100 and 200–250, chunks 0–60 and 40–120: 100 of 120 = 5/6",
        needs=_NEEDS,
        peers={
            "Chroma's chunking_evaluation": "precision; SpanP(depth_by=relevant_chunks, overlaps=added)"
        },
        sensitive=_SENSITIVE,
        use="what a language model has to read besides the evidence; read it with SpanR",
        citation=_SOURCE,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count new relevant text; divide by all text that is read."""
        text = self.text(hits)
        return Contributions(text.gained, self.read_length(hits, text))


@dataclass(frozen=True, kw_only=True)
class SpanIoU(SpanMeasure):
    """Intersection over union of the text of the first k chunks and the relevant text.

    >>> print(SpanIoU(k=5))
    SpanIoU@5
    """

    card = Card(
        sentence="How well do the first k chunks match the relevant text, no less and no more?",
        formula="SpanIoU@k = |T ∩ G| / |T ∪ G|",
        symbols=_SYMBOLS,
        example="relevant 0–100 and 200–250, chunks 0–60 and 40–120: 100 / (120 + 150 − 100) = 10/17",
        needs=_NEEDS,
        peers={
            "Chroma's chunking_evaluation": "IoU; SpanIoU(depth_by=relevant_chunks, overlaps=added)"
        },
        sensitive=_SENSITIVE,
        use="one number for recall and precision of text; long chunks cost what they hold besides",
        citation=_SOURCE,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count new relevant text; divide by the text that is read, and the relevant text that is not."""
        text = self.text(hits)
        if self.overlaps == "added":
            left = sums(text.relevant.query, text.left, hits.queries)
        else:
            left = self.relevant_length(hits, text) - hits.total(text.gained)
        return Contributions(text.gained, self.read_length(hits, text) + left)


@dataclass(frozen=True, kw_only=True)
class SpanPOmega(SpanMeasure):
    """The precision of text that chunks allow: that of all chunks with relevant text, and of no others.

    >>> print(SpanPOmega())
    SpanPOmega
    """

    takes_cutoff = False
    aliases = ("PrecisionOmega",)
    card = Card(
        sentence="How much of the text of all chunks that hold relevant text is relevant?",
        formula="SpanPΩ = |C ∩ G| / |C ∪ G|",
        symbols="C: text of all chunks that touch relevant text; G: text of the relevant spans",
        example="relevant 0–100 of chunks 0–80, 80–160: 100 of 160 = 5/8",
        needs="judgments with start and end, and a table of all chunks (documents=…, --documents FILE)",
        peers={"Chroma's chunking_evaluation": "precision Ω"},
        sensitive="chunk size; the run plays no part",
        use="choosing a chunker before there is a retriever",
        citation=_SOURCE,
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count the relevant text of chunks in the collection, whether they are retrieved or not."""
        retrieved = hits.added(TextSpans)
        judged = retrieved.judged
        wanted = self.threshold(judged.grade)
        relevant = judged.spans.some(wanted)
        chunks = _touching(judged, relevant)
        covered = TextCoverage.of(chunks, relevant, judged.nugget[wanted])
        relevant_text, text = (
            sums(chunks.query, values, hits.queries)
            for values in (covered.relevant, covered.new)
        )
        left = union_length(relevant, hits.queries) - relevant_text
        return Contributions(
            np.zeros(len(hits.rank)), text + left, missed=relevant_text
        )
