"""Traces of retrieval pipelines as runs: OpenInference, OpenTelemetry GenAI, Langfuse, LangSmith.

Each retrieval is a row with lists: its documents with scores, texts and metadata, the call of its trace that
it is, and the milliseconds it took.  These are the attributes that instrumentations write:

.. code-block:: text

    OpenInference  openinference.span.kind, retrieval.documents.N.document.{id,score,content,metadata},
                   reranker.output_documents.N.document.*, input.value, session.id, metadata (JSON)
    GenAI          gen_ai.operation.name = retrieval, gen_ai.retrieval.documents (JSON), .query.text,
                   gen_ai.conversation.id
    Langfuse       observations of type RETRIEVER with input, output, metadata; traces with sessionId
    LangSmith      runs of run_type retriever with inputs and outputs.documents

Spans are those of OpenTelemetry's SDK (``context``, ``parent_id``, ``start_time``), one a line, or of OTLP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

import polars as pl

from rankstone.errors import BadValue, EmptyInput, printable
from rankstone.io.shapes import Shape, known_shapes

_KINDS: Final = ("RETRIEVER", "RERANKER")
_LISTS: Final = ("retrieval.documents", "reranker.output_documents")
#: where the question stands in the input of a span, and the documents in the output of an observation
_QUESTIONS: Final = ("query", "query_str", "question", "input", "text")
_DOCUMENTS: Final = ("documents", "results", "nodes", "contexts", "chunks")
#: names of a document's id, text and score in what retrievers put out
_IDS: Final = ("id", "doc_id", "document_id", "id_")
_TEXTS: Final = ("content", "page_content", "pageContent", "text")
_SCORES: Final = ("score", "relevance_score", "similarity")
#: names of LangSmith → those of an observation
_LANGSMITH: Final = {
    "id": "id",
    "parent_run_id": "parentObservationId",
    "run_type": "type",
    "start_time": "startTime",
    "end_time": "endTime",
    "inputs": "input",
    "outputs": "output",
}


class TraceSpan(NamedTuple):
    """A step of a pipeline.

    ``begin`` and ``end`` are milliseconds; ``attributes`` have flat names, as in ``input.value``, and
    ``documents`` those of :func:`_document`.
    """

    trace: str
    id: str
    parent: str
    kind: str
    begin: float
    end: float
    attributes: Mapping[str, Any]
    documents: Sequence[Mapping[str, Any]] = ()


@cache
def _shapes() -> tuple[Shape, ...]:
    return tuple(shape for shape in known_shapes() if shape.records)


def _shape_of(record: object) -> Shape | None:
    """Return the shape of a record of a trace; ``None`` for any other record."""
    if not isinstance(record, Mapping):
        return None
    return next((shape for shape in _shapes() if shape.has_keys(record)), None)


def is_trace(record: object) -> bool:
    """Return True for a span, an observation, a trace with observations, or OTLP's JSON.

    >>> is_trace({"resourceSpans": []}), is_trace({"traceId": "t", "type": "SPAN"}), is_trace({"qid": "q"})
    (True, True, False)
    """
    return _shape_of(record) is not None


def trace_frame(
    records: Iterable[Mapping[str, Any]], source: str, *, steps: bool = False
) -> tuple[pl.DataFrame, str]:
    """Return retrievals as a frame with a row each, and a note on what they are.

    Parameters
    ----------
    records
        Spans, observations or traces.
    source
        The name of their file.
    steps
        True to return retrieved and reranked lists, with a column ``step``; otherwise the reranked ones
        replace those that they reorder.

    Raises
    ------
    EmptyInput
        When no span is a retrieval.
    BadValue
        When a span is not what its format says.
    """
    spans = list[TraceSpan]()
    titles = dict[str, None]()
    for number, record in enumerate(records, 1):
        spans += _checked(record, f"{source}:{number}")
        shape = _shape_of(record)
        if shape is not None:
            titles[shape.title] = None
    spans.sort(key=attrgetter("trace", "begin"))
    rows: list[dict[str, Any]] = []
    for _, of_trace in groupby(spans, attrgetter("trace")):
        rows += _retrievals(list(of_trace), steps=steps)
    if not rows:
        kinds = sorted({printable(span.kind, 30) for span in spans if span.kind})
        shown = ", ".join(kinds[:8]) or "none"
        raise EmptyInput(
            "this trace has no retrieval",
            where=source,
            given=f"kinds of spans: {shown}",
            expected="openinference.span.kind or type RETRIEVER, or gen_ai.operation.name = retrieval",
        )
    reranked = sum(row["step"] == "reranker" for row in rows)
    note = f"trace of {len(rows):,} retrievals ({', '.join(titles)})"
    if reranked and not steps:
        note += ", reranked lists (--run-column step has the retrieved ones, too)"
    return _frame(rows, steps=steps), note


def _frame(rows: list[dict[str, Any]], *, steps: bool) -> pl.DataFrame:
    documents = [document for row in rows for document in row["documents"]]
    names = dict.fromkeys(name for document in documents for name in document)
    data: dict[str, Any] = {
        name: [row[name] for row in rows]
        for name in ("query_id", "question", "session", "ms")
    }
    step_of_query = {(row["query_id"], row["step"]) for row in rows}
    if len(step_of_query) < len(rows):
        data["call"] = [row["call"] for row in rows]
    if steps:
        data["step"] = [row["step"] for row in rows]
    for name in names:
        cells = [document.get(name) for document in documents]
        missing = cells.count(None)
        # without all scores the order of the list is the ranking
        least = 1 if name == "score" else len(cells)
        if missing < least:
            data[name] = [[d.get(name) for d in row["documents"]] for row in rows]
    if "doc_id" not in data and not documents:
        data["doc_id"] = [[] for _ in rows]
    return pl.DataFrame(
        data, schema_overrides={"doc_id": pl.List(pl.String)}, strict=False
    )


def _retrievals(spans: list[TraceSpan], *, steps: bool) -> list[dict[str, Any]]:
    """Return the rows of one trace."""
    by_id = {span.id: span for span in spans}
    query = next((found for span in spans if (found := _query_id(span))), None)
    rows: list[dict[str, Any]] = []
    for span in spans:
        if span.kind not in _KINDS or _is_inside(span, by_id):
            continue
        question = _question(span)
        step = span.kind.lower()
        ms = span.end - span.begin
        if step == "reranker" and rows:
            # it reorders what was retrieved last
            question = rows[-1]["question"]
            if not steps:
                ms += rows.pop()["ms"]
        calls = 1 + sum(row["step"] == step for row in rows)
        rows.append(
            {
                "query_id": query,
                "question": question,
                "session": _session(span),
                "call": calls,
                "ms": ms,
                "step": step,
                "documents": span.documents,
            }
        )
    for row in rows:
        row["query_id"] = row["query_id"] or row["question"] or spans[0].trace
    return rows


def _is_inside(span: TraceSpan, by_id: Mapping[str, TraceSpan]) -> bool:
    """Return True for a retriever inside another one that has its documents, or has none itself."""
    above = by_id.get(span.parent)
    passed = {span.id}
    while above is not None and above.kind != span.kind and above.id not in passed:
        passed.add(above.id)
        above = by_id.get(above.parent)
    # parents of damaged spans may form a circle
    if above is None or above.id in passed:
        return False
    return bool(above.documents) or not span.documents


# -- spans of every format -----------------------------------------------------------------------------
def _checked(record: Mapping[str, Any], where: str) -> list[TraceSpan]:
    """Return the spans of a record, in which anything may stand for objects, times and lists."""
    try:
        return [
            span._replace(documents=list(_documents(span))) for span in _spans(record)
        ]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise BadValue(
            "this span is damaged",
            where=where,
            given=printable(error, 80),
            expected="a span of OpenTelemetry's SDK, OTLP's resourceSpans or an observation of Langfuse",
        ) from None


def _spans(record: Mapping[str, Any]) -> Iterator[TraceSpan]:
    if "resourceSpans" in record:
        for group in record["resourceSpans"]:
            for scope in group.get("scopeSpans", ()):
                yield from (_otlp(span) for span in scope.get("spans", ()))
    elif "observations" in record:
        about = {
            name: record.get(name)
            for name in ("input", "metadata", "sessionId")
            if record.get(name)
        }
        own = record.get("id")
        trace = str(own)
        yield _observation({**about, "id": own, "type": "TRACE"}, trace)
        session = about.get("sessionId")
        for observation in record["observations"] or ():
            known = {n: value for n, value in observation.items() if value is not None}
            yield _observation({"sessionId": session, **known}, trace)
    elif "run_type" in record:
        of_tracer = {ours: record.get(theirs) for theirs, ours in _LANGSMITH.items()}
        yield _observation(of_tracer, str(record.get("trace_id")))
    elif "traceId" in record:
        yield _observation(record, str(record["traceId"]))
    else:
        context = record["context"]
        attributes = _flat(record.get("attributes") or {})
        yield TraceSpan(
            str(context.get("trace_id")),
            str(context.get("span_id")),
            str(record.get("parent_id")),
            _kind(attributes),
            _milliseconds(record.get("start_time")),
            _milliseconds(record.get("end_time")),
            attributes,
        )


def _otlp(span: Mapping[str, Any]) -> TraceSpan:
    attributes = _flat(
        {
            one["key"]: _value(one.get("value") or {})
            for one in span.get("attributes", ())
        }
    )
    begin, end = (
        float(span.get(f"{name}TimeUnixNano") or 0) / 1e6 for name in ("start", "end")
    )
    parent = str(span.get("parentSpanId"))
    return TraceSpan(
        str(span.get("traceId")),
        str(span.get("spanId")),
        parent,
        _kind(attributes),
        begin,
        end,
        attributes,
    )


def _value(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever an attribute holds
    """Return a value of OTLP, ``{"stringValue": "x"}``, as it is."""
    for name, inside in value.items():
        if name == "arrayValue":
            return [_value(one) for one in inside.get("values", ())]
        if name == "kvlistValue":
            return {
                one["key"]: _value(one.get("value") or {})
                for one in inside.get("values", ())
            }
        if name == "intValue":
            return int(inside)
        return inside
    return None


def _observation(record: Mapping[str, Any], trace: str) -> TraceSpan:
    attributes = {
        "session.id": record.get("sessionId"),
        "input.value": record.get("input"),
        "output.value": record.get("output"),
        "metadata": record.get("metadata"),
    }
    return TraceSpan(
        trace,
        str(record.get("id")),
        str(record.get("parentObservationId")),
        str(record.get("type", "")).upper(),
        _milliseconds(record.get("startTime")),
        _milliseconds(record.get("endTime")),
        attributes,
    )


def _kind(attributes: Mapping[str, Any]) -> str:
    if attributes.get("gen_ai.operation.name") == "retrieval":
        return "RETRIEVER"
    return str(attributes.get("openinference.span.kind") or "").upper()


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested attributes with their paths for names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping) and name != "metadata":
            flat |= _flat(value, f"{path}.")
        else:
            flat[path] = value
    return flat


def _milliseconds(value: object) -> float:
    if isinstance(value, str):
        return datetime.fromisoformat(value).timestamp() * 1e3
    return 0.0


# -- what a span says ------------------------------------------------------------------------------------
def _read(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return JSON in a text as Python objects, any other value as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _query_id(span: TraceSpan) -> str | None:
    about = _read(span.attributes.get("metadata"))
    found = about.get("query_id") if isinstance(about, Mapping) else None
    found = (
        found
        or span.attributes.get("metadata.query_id")
        or span.attributes.get("query_id")
    )
    if found is None:
        return None
    return str(found)


def _session(span: TraceSpan) -> str | None:
    found = span.attributes.get("session.id") or span.attributes.get(
        "gen_ai.conversation.id"
    )
    if found is None:
        return None
    return str(found)


def _question(span: TraceSpan) -> str | None:
    value = span.attributes.get("gen_ai.retrieval.query.text") or _read(
        span.attributes.get("input.value")
    )
    while isinstance(value, Mapping):
        inside = next((value[name] for name in _QUESTIONS if name in value), None)
        value = inside if inside is not None else next(iter(value.values()), None)
    return value if isinstance(value, str) else None


def _documents(span: TraceSpan) -> Iterator[dict[str, Any]]:
    """Yield documents with ``doc_id``, ``score``, ``text`` and metadata, as far as they are known."""
    listed = _read(span.attributes.get("gen_ai.retrieval.documents"))
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in span.attributes.items():
        found = re.fullmatch(r"(.+)\.(\d+)\.document\.(\w+)", name)
        if found and found[1] == _LISTS[span.kind == "RERANKER"]:
            numbered.setdefault(int(found[2]), {})[found[3]] = value
    output = _read(span.attributes.get("output.value"))
    if isinstance(output, Mapping):
        output = next(
            (output[name] for name in _DOCUMENTS if isinstance(output.get(name), list)),
            None,
        )
    put_out = (
        [one for one in output if isinstance(one, Mapping)]
        if isinstance(output, list)
        else []
    )
    if numbered:
        listed = [numbered[at] for at in sorted(numbered)]
        if len(put_out) == len(listed):  # some instrumentations leave ids to the output
            listed = [{**two, **one} for one, two in zip(listed, put_out, strict=True)]
    for one in listed if isinstance(listed, list) else put_out:
        if isinstance(one, Mapping):
            yield _document(one)


def _document(given: Mapping[str, Any]) -> dict[str, Any]:
    inner = given.get("node") or given.get("document")
    given = {**inner, **given} if isinstance(inner, Mapping) else given

    def first(names: Iterable[str]) -> Any:  # noqa: ANN401 - a text or a number
        return next(
            (given[name] for name in names if given.get(name) is not None), None
        )

    about = _read(given.get("metadata") or given.get("meta"))
    about = (
        {
            f"metadata.{n}": v
            for n, v in about.items()
            if isinstance(v, (str, int, float))
        }
        if isinstance(about, Mapping)
        else {}
    )
    name = first(_IDS)
    score = first(_SCORES)
    name = about.get("metadata.id") if name is None else name
    score = float(score) if isinstance(score, (int, float)) else None
    return {
        "doc_id": None if name is None else str(name),
        "score": score,
        "text": first(_TEXTS),
        **about,
    }
