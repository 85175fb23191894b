"""Measures of spans against sets of characters, on small documents in which everything overlaps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import InputError, UsageError

MEASURES = (
    "SpanR", "SpanR@2", "SpanP", "SpanP@2", "SpanIoU", "SpanIoU@2", "SpanR(overlaps=added)@3",
    "SpanP(overlaps=added)@3", "SpanIoU(overlaps=added)@3", "SpanR(per=nugget)", "SpanR(per=nugget)@2",
    "SpanR(rel=2)", "SpanIoU(rel=2)@2", "SpanR@length(9)", "SpanP@length(9, crossing=skip)",
    "SpanIoU@length(9, crossing=include)", "SpanR(depth_by=relevant_chunks, overlaps=added)",
    "SpanP(depth_by=relevant_chunks, overlaps=added)", "SpanIoU(depth_by=relevant_chunks, overlaps=added)",
    "SpanIoU(depth_by=relevant_chunks)", "SpanPOmega",
)  # fmt: skip
CHROMA = {
    "recall": "SpanR(depth_by=relevant_chunks, overlaps=added)",
    "precision": "SpanP(depth_by=relevant_chunks, overlaps=added)",
    "iou": "SpanIoU(depth_by=relevant_chunks, overlaps=added)",
    "precision_omega": "SpanPOmega",
}

#: a document, where a span begins and where the text behind it begins
Span = tuple[str, int, int]


def characters(*spans: Span) -> set[tuple[str, int]]:
    """Return the characters of spans."""
    return {(doc, index) for doc, start, end in spans for index in range(start, end)}


def kept(chunks: list[Span], limit: int, crossing: str) -> list[Span]:
    """Return the chunks within a budget of characters."""
    spans: list[Span] = []
    for chunk in chunks:
        if sum(end - start for _, start, end in [*spans, chunk]) <= limit:
            spans.append(chunk)
        elif crossing == "include":
            if sum(end - start for _, start, end in spans) < limit:
                spans.append(chunk)
            break
        elif crossing == "drop":
            break
    return spans


def brute(
    text: str,
    chunks: list[Span],
    gold: list[tuple[Span, float, str]],
    corpus: list[Span],
) -> float:
    """Return the value of one query by counting characters."""
    measure = rankstone.parse_measure(text)
    threshold = 2 if "rel=2" in text else 1
    relevant = [(span, about) for span, grade, about in gold if grade >= threshold]
    wanted = [span for span, _ in relevant]
    if not wanted:
        return 0.0
    right = characters(*wanted)
    touching = [chunk for chunk in corpus if characters(chunk) & right]
    if "Omega" in text:
        covered = characters(*touching)
        return float(Fraction(len(covered & right), len(covered | right)))
    if "relevant_chunks" in text:
        chunks = chunks[: len(touching)]
    elif "length" in text:
        crossing = next((word for word in ("skip", "include") if word in text), "drop")
        chunks = kept(chunks, 9, crossing)
    elif "@" in text:
        chunks = chunks[: int(text.rpartition("@")[2])]
    read = characters(*chunks)
    count = len(read & right)
    if "per=nugget" in text:
        nuggets = {
            about: characters(*(s for s, a in relevant if a == about))
            for _, about in relevant
        }
        shares = [Fraction(len(of & read), len(of)) for of in nuggets.values()]
        return float(sum(shares) / len(nuggets))
    added = "overlaps=added" in text
    lengths = sum(end - start for _, start, end in chunks) if added else len(read)
    if measure.name == "SpanR":
        below = sum(end - start for _, start, end in wanted) if added else len(right)
    elif measure.name == "SpanP":
        below = lengths
    else:
        left = (
            sum(len(characters(span) - read) for span in wanted)
            if added
            else len(right - read)
        )
        below = lengths + left
    return float(Fraction(count, below)) if below else 0.0


def world(
    draw: np.random.Generator,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return judged spans, chunks of a run, and all chunks of the collection, as rows."""
    docs = ["guide", "faq[1]", "ü#2"]

    def span() -> Span:
        start = int(draw.integers(0, 20))
        return docs[draw.integers(len(docs))], start, start + int(draw.integers(1, 9))

    corpus = sorted({span() for _ in range(14)})
    gold, run = [], []
    for query in ("q1", "q2", "q3", "q4"):
        for _ in range(draw.integers(1, 5)):
            doc, start, end = span()
            grade, about = float(draw.integers(0, 4)), f"n{draw.integers(3)}"
            gold.append(
                {
                    "query_id": query,
                    "doc_id": doc,
                    "start": start,
                    "end": end,
                    "relevance": grade,
                    "nugget": about,
                }
            )
        order = draw.permutation(len(corpus))[: draw.integers(0, 9)]
        for place, position in enumerate(order.tolist()):
            doc, start, end = corpus[position]
            run.append(
                {
                    "query_id": query,
                    "doc_id": f"c{position}",
                    "document": doc,
                    "start": start,
                    "end": end,
                    "score": -place,
                }
            )
    chunks = [
        {"doc_id": f"c{index}", "document": doc, "start": start, "end": end}
        for index, (doc, start, end) in enumerate(corpus)
    ]
    return gold, run, chunks


def expected(
    text: str,
    gold: list[dict[str, Any]],
    run: list[dict[str, Any]],
    chunks: list[dict[str, Any]],
) -> dict[str, float]:
    """Return the value of every judged query."""

    def spans(rows: list[dict[str, Any]], name: str) -> list[Span]:
        return [(row[name], row["start"], row["end"]) for row in rows]

    values = {}
    for query in dict.fromkeys(row["query_id"] for row in gold):
        judged = [row for row in gold if row["query_id"] == query]
        relevant = [
            (span, row["relevance"], row["nugget"])
            for span, row in zip(spans(judged, "doc_id"), judged, strict=True)
        ]
        listed = spans([row for row in run if row["query_id"] == query], "document")
        values[query] = brute(text, listed, relevant, spans(chunks, "document"))
    return values


@pytest.mark.parametrize("seed", range(40))
def test_characters(seed: int) -> None:
    """Every measure counts characters: by a table of chunks, by offsets in the run, by Chroma's names."""
    gold, run, chunks = world(np.random.Generator(np.random.Philox(seed)))
    if not run:
        pytest.fail("the world has an empty run")
    plain = [
        {name: row[name] for name in ("query_id", "doc_id", "score")} for row in run
    ]
    scored = rankstone.evaluate(
        pl.DataFrame(gold),
        pl.DataFrame(plain),
        MEASURES,
        documents=pl.DataFrame(chunks),
    )
    for text in MEASURES:
        values = dict(
            scored.per_query.filter(measure=str(rankstone.parse_measure(text)))
            .select("query_id", "value")
            .iter_rows()
        )
        wanted = expected(text, gold, run, chunks)
        assert values == pytest.approx(wanted, abs=1e-12), text
    direct = [{**row, "doc_id": row["document"]} for row in run]
    own = [
        text
        for text in MEASURES
        if "relevant_chunks" not in text and "Omega" not in text
    ]
    again = rankstone.evaluate(
        pl.DataFrame(gold), pl.DataFrame(direct).drop("document"), own
    )
    assert again.per_query.drop("run").equals(
        scored.per_query.filter(
            pl.col("measure").is_in(
                [str(rankstone.parse_measure(item)) for item in own]
            )
        ).drop("run")
    )
    named = rankstone.evaluate(
        pl.DataFrame(gold),
        pl.DataFrame(plain),
        list(CHROMA),
        documents=pl.DataFrame(chunks),
        convention="chroma",
    )
    for spelling, text in CHROMA.items():
        values = dict(
            named.per_query.filter(measure=spelling)
            .select("query_id", "value")
            .iter_rows()
        )
        assert values == pytest.approx(expected(text, gold, run, chunks), abs=1e-12), (
            spelling
        )


GOLD = {"q": {"guide": 1}}
SPANS = pl.DataFrame(
    {
        "query_id": ["q", "q"],
        "doc_id": ["guide"] * 2,
        "start": [0, 200],
        "end": [100, 250],
    }
)
RUN = pl.DataFrame(
    {
        "query_id": ["q"] * 3,
        "doc_id": ["guide", "guide", "faq"],
        "start": [0, 40, 0],
        "end": [60, 120, 9],
    }
).with_columns(score=pl.Series([3.0, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("measures", "qrels", "run", "options", "kind", "message"),
    [
        ("SpanR R", SPANS, RUN, {}, UsageError, "R needs judgments of documents"),
        (
            "SpanR",
            GOLD,
            RUN,
            {},
            InputError,
            "there is no column start and no column end",
        ),
        (
            "SpanR",
            SPANS,
            RUN.drop("end"),
            {},
            InputError,
            "measures of spans need a column end",
        ),
        (
            "SpanR",
            SPANS,
            RUN.with_columns(end=pl.col("start")),
            {},
            InputError,
            "a chunk from 0 to 0",
        ),
        (
            "SpanR",
            SPANS.with_columns(start=pl.lit(-1)),
            RUN,
            {},
            InputError,
            "a judged span from -1 to 100",
        ),
        (
            "SpanR",
            SPANS,
            RUN,
            {"score_above": 1.0},
            UsageError,
            "has no meaning for SpanR",
        ),
        ("SpanR", SPANS, RUN, {"ties": "expected"}, UsageError, "no closed form"),
        ("SpanR(per=nugget)", SPANS, RUN, {}, InputError, "there is no column nugget"),
        (
            "SpanPOmega",
            SPANS,
            RUN,
            {},
            UsageError,
            "the chunks that hold relevant text are not known",
        ),
        ("SpanR(depth_by=relevant_chunks)@3", SPANS, RUN, {}, UsageError, "two depths"),
        (
            "SpanR",
            SPANS,
            pl.concat([RUN, RUN]),
            {},
            InputError,
            r"document guide\[0:60\] is retrieved 2 times",
        ),
        (
            "SpanR",
            SPANS,
            RUN,
            {"same_as": {"a": {"class": 1}}},
            UsageError,
            "same_as is about whole documents",
        ),
    ],
)
def test_refused(
    measures: str,
    qrels: Any,
    run: Any,
    options: Any,
    kind: type[Exception],
    message: str,
) -> None:
    """What has no meaning for spans is refused with a reason."""
    with pytest.raises(kind, match=message):
        rankstone.evaluate(qrels, run, measures, **options)


def test_chunks_that_touch_relevant_text_are_relevant() -> None:
    """Measures that need no number of relevant documents count chunks that touch a relevant span."""
    value = rankstone.evaluate(SPANS, RUN, "P@3 RR Success@1 SpanP@2").to_dict()["run"]
    assert value == pytest.approx(
        {"P@3": 2 / 3, "RR": 1, "Success@1": 1, "SpanP@2": 100 / 120}
    )


def test_explanation_names_chunks_and_what_is_left() -> None:
    """The table shows new text, and the judged spans that no chunk touches."""
    explanation = rankstone.explain(SPANS, RUN, "SpanR@2", "q")
    assert isinstance(explanation, rankstone.Explanation)
    assert [(row.doc_id, row.contribution) for row in explanation.rows[:2]] == [
        ("guide[0:60]", 60),
        ("guide[40:120]", 40),
    ]
    assert explanation.value == pytest.approx(100 / 150)
    assert [item.doc_id for item in explanation.not_retrieved] == ["guide[200:250]"]


def test_queries_without_relevant_text() -> None:
    """They are worth what the option empty says, and a judged query without a list is missing."""
    qrels = SPANS.with_columns(relevance=pl.lit(0.0))
    rows = rankstone.evaluate(
        pl.concat([qrels, qrels.with_columns(query_id=pl.lit("p"))]), RUN, "SpanR SpanP"
    )
    assert set(rows.per_query.select("query_id", "value", "status").iter_rows()) == {
        ("q", 0.0, "no_relevant"),
        ("p", 0.0, "missing"),
    }


def test_check_reads_spans() -> None:
    """Rows of one document with different offsets are no duplicates."""
    sentences = [
        finding.what
        for file in rankstone.check(SPANS, RUN).files
        for finding in file.findings
    ]
    assert not [what for what in sentences if "duplicate" in what]


def test_worst_queries_are_explained_as_they_are_scored() -> None:
    """A run that is opened once for several queries keeps its ids, and costs and abstention go with spans."""
    [explanations] = rankstone.explanation.explain_queries(
        SPANS, RUN, "SpanR@2", worst=1
    )
    assert isinstance(explanations, rankstone.Explanation)
    assert explanations.value == pytest.approx(100 / 150)
    assert explanations.rows[0].doc_id == "guide[0:60]"
    measures = "SpanR@2 FalseRetrieval Cost(column=score)"
    scores = rankstone.evaluate(SPANS, RUN, measures, empty="unanswerable")
    assert scores.per_query.filter(measure="Cost(column=score)")["value"].to_list() == [
        6.0
    ]
