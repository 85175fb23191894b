"""Traces of retrieval pipelines as runs, in the shapes that instrumentations write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from tests.real_data import data
from tests.rows import each

import rankstone
from rankstone import InputError
from rankstone.io.traces import is_trace, trace_frame

EXAMPLES: Final = Path(__file__).parents[2] / "examples/traces"


def sdk(
    position: int,
    kind: str,
    trace: str,
    attributes: dict[str, Any],
    parent: str | None = None,
) -> dict[str, Any]:
    """Return a span as the SDK of OpenTelemetry prints it; it takes ``at`` milliseconds."""
    begin = f"2026-11-23T01:00:{position:02}.000000Z"
    return {
        "name": kind.lower(),
        "context": {"trace_id": trace, "span_id": f"{trace}-{position}"},
        "parent_id": parent,
        "start_time": begin,
        "end_time": begin.replace(".000", f".{position:03}"),
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


def documents(
    *ids: str, under: str = "retrieval.documents", scores: bool = True
) -> dict[str, Any]:
    """Return attributes of documents, the first one best; with ten or more their names sort badly."""
    values: dict[str, Any] = {}
    for index, item in enumerate(ids):
        values[f"{under}.{index}.document.id"] = item
        values[f"{under}.{index}.document.content"] = f"text of {item}"
        values[f"{under}.{index}.document.metadata"] = json.dumps(
            {"source": item.partition("#")[0]}
        )
        if scores:
            values[f"{under}.{index}.document.score"] = float(len(ids) - index)
    return values


ABOUT = {"session.id": "s1", "metadata": json.dumps({"query_id": "q1"})}


def rows(
    records: list[dict[str, Any]], *names: str, steps: bool = False
) -> list[tuple[Any, ...]]:
    """Return some columns of the retrievals."""
    return trace_frame(records, "trace", steps=steps)[0].select(names).rows()


def test_a_retriever() -> None:
    """Twelve documents in their order, not that of their names; the question, the session and the time."""
    ids = [f"d{index}" for index in range(12)]
    span = sdk(
        7, "RETRIEVER", "t1", {**ABOUT, "input.value": "why?", **documents(*ids)}
    )
    frame, note = trace_frame([sdk(1, "LLM", "t1", {}), span], "trace")
    assert frame["doc_id"].to_list() == [ids]
    assert frame["score"].to_list() == [[float(12 - index) for index in range(12)]]
    assert frame.select("query_id", "question", "session").rows() == [
        ("q1", "why?", "s1")
    ]
    assert frame["ms"].to_list() == pytest.approx([7])
    assert frame["metadata.source"].to_list() == [ids]
    assert "call" not in frame.columns
    assert note == "trace of 1 retrievals (spans of OpenTelemetry)"


def test_calls_of_an_agent_are_counted_in_time() -> None:
    """Three retrievals of one trace, given in another order; the second found nothing."""
    spans = [
        sdk(9, "RETRIEVER", "t1", {**ABOUT, **documents("c")}),
        sdk(3, "RETRIEVER", "t1", {**ABOUT, **documents("a", "b")}),
        sdk(5, "RETRIEVER", "t1", ABOUT),
    ]
    assert rows(spans, "query_id", "call", "doc_id") == [
        ("q1", 1, ["a", "b"]),
        ("q1", 2, []),
        ("q1", 3, ["c"]),
    ]


def test_a_retriever_inside_another_is_the_same_retrieval() -> None:
    """The inner one of LlamaIndex has no documents; whichever has them counts, and both empty are one."""
    outer = sdk(2, "RETRIEVER", "t1", {**ABOUT, **documents("a")})
    inner = sdk(4, "RETRIEVER", "t1", ABOUT, parent="t1-2")
    between = sdk(3, "CHAIN", "t2", ABOUT, parent="t2-2")
    empty = [
        sdk(2, "RETRIEVER", "t2", ABOUT),
        between,
        sdk(4, "RETRIEVER", "t2", ABOUT, parent="t2-3"),
    ]
    assert rows([outer, inner], "doc_id") == [(["a"],)]
    assert rows([outer, inner, *empty], "doc_id") == [(["a"],), ([],)]


def test_a_reranker_reorders_what_was_retrieved() -> None:
    """Its list is what the model reads, and its time is added; both are runs of their own under ``step``."""
    spans = [
        sdk(
            2,
            "RETRIEVER",
            "t1",
            {**ABOUT, "input.value": '{"query": "why?"}', **documents("a", "b", "c")},
        ),
        sdk(
            3,
            "RERANKER",
            "t1",
            {**ABOUT, **documents("c", "a", under="reranker.output_documents")},
        ),
    ]
    assert rows(spans, "question", "doc_id") == [("why?", ["c", "a"])]
    assert trace_frame(spans, "trace")[0]["ms"].to_list() == pytest.approx([5])
    both = rows(spans, "step", "doc_id", steps=True)
    assert both == [("retriever", ["a", "b", "c"]), ("reranker", ["c", "a"])]


def test_ids_that_are_only_in_the_output() -> None:
    """LangChain's spans have neither ids nor scores: the output has the ids, and its order is the ranking."""
    listed = documents("x", "y", scores=False)
    bare = {name: value for name, value in listed.items() if not name.endswith(".id")}
    output = {
        "documents": [
            {"id": "a", "page_content": "1"},
            {"id": "b", "page_content": "2"},
        ]
    }
    span = sdk(
        2, "RETRIEVER", "t1", {**ABOUT, **bare, "output.value": json.dumps(output)}
    )
    frame, _ = trace_frame([span], "trace")
    assert frame["doc_id"].to_list() == [["a", "b"]]
    assert "score" not in frame.columns


def test_genai_attributes() -> None:
    """A list in JSON, of which only objects are documents; without a query the trace is its own."""
    inputs = [{"id": "a", "score": 2.0, "content": "1"}, "2", {"id": "b", "score": 1}]
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.conversation.id": "s2",
        "gen_ai.retrieval.documents": json.dumps(inputs),
    }
    span = sdk(2, "", "t9", attributes)
    question = sdk(2, "", "t8", {**attributes, "gen_ai.retrieval.query.text": "where?"})
    result = rows([question, span], "query_id", "session", "doc_id")
    assert result == [("where?", "s2", ["a", "b"]), ("t9", "s2", ["a", "b"])]


def test_otlp_is_the_same() -> None:
    """Attributes as keys and values, times in nanoseconds."""
    plain = sdk(
        7, "RETRIEVER", "t1", {**ABOUT, "input.value": "why?", **documents("a", "b")}
    )
    kinds = {str: "stringValue", float: "doubleValue", int: "intValue"}
    attributes = [
        {"key": key, "value": {kinds[type(value)]: value}}
        for key, value in plain["attributes"].items()
    ]
    span = {
        "traceId": "t1",
        "spanId": "x",
        "name": "r",
        "attributes": attributes,
        "startTimeUnixNano": "1000000000",
        "endTimeUnixNano": "1007000000",
    }
    otlp = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    names = ("query_id", "question", "session", "ms", "doc_id", "score")
    (single,), (two,) = rows([otlp], *names), rows([plain], *names)
    assert single[3] == pytest.approx(two[3])
    assert (single[:3], single[4:]) == (two[:3], two[4:])


@pytest.mark.parametrize("nested", [False, True])
def test_langfuse(nested: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Observations of type RETRIEVER, by themselves or in their trace; documents stand in the output."""
    output = [
        {"id": "a", "score": 0.5, "pageContent": "1"},
        {"node": {"id_": "b", "text": "2"}, "score": 0.25},
    ]
    observation = {
        "id": "o1",
        "traceId": "t1",
        "type": "RETRIEVER",
        "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:00:00.020Z",
        "input": {"query": "why?"},
        "output": output,
        "metadata": None if nested else {"query_id": "q1"},
    }
    trace = {
        "id": "t1",
        "sessionId": "s1",
        "metadata": {"query_id": "q1"},
        "observations": [observation],
    }
    result = rows(
        [trace if nested else observation],
        "query_id",
        "question",
        "doc_id",
        "score",
        "text",
    )
    assert result == [("q1", "why?", ["a", "b"], [0.5, 0.25], ["1", "2"])]


def test_files_are_read_as_they_are(tmp_path: Path) -> None:
    """JSON lines, a list in JSON, and OTLP's object; a query without documents has an empty list."""
    spans = [
        sdk(2, "RETRIEVER", "t1", {**ABOUT, **documents("x", "a")}),
        sdk(3, "RETRIEVER", "t2", {"metadata": json.dumps({"query_id": "q2"})}),
    ]
    (tmp_path / "spans.jsonl").write_text(
        "".join(json.dumps(span) + "\n" for span in spans), encoding="utf-8"
    )
    (tmp_path / "spans.json").write_text(json.dumps(spans), encoding="utf-8")
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    for name in ("spans.jsonl", "spans.json"):
        scores = rankstone.evaluate(
            qrels, tmp_path / name, "RR Cost(column=ms, per=query)"
        )
        assert list(scores.to_dict().values()) == [
            {"RR": 0.25, "Cost(column=ms, per=query)": pytest.approx(2)}
        ]
    audit = rankstone.evaluate(qrels, tmp_path / "spans.jsonl", "RR").audit
    assert audit.runs["spans"].read_as == (
        "trace of 2 retrievals (spans of OpenTelemetry)",
    )


def test_without_a_retrieval() -> None:
    """The kinds of spans that there are, and the one that is needed."""
    with pytest.raises(InputError, match="this trace has no retrieval") as caught:
        trace_frame([sdk(1, "LLM", "t1", {}), sdk(2, "CHAIN", "t1", {})], "spans.jsonl")
    assert caught.value.given == "kinds of spans: CHAIN, LLM"


@pytest.mark.parametrize(
    "record",
    [{"query_id": "q", "doc_id": "d"}, [], None, {"context": "a text", "id": 1}],
)
def test_what_is_no_trace(record: object) -> None:
    """A log with a context is no trace."""
    assert not is_trace(record)


#: file → documents of each list
REAL = {
    "langchain.spans.jsonl.gz": 4,
    "llama_index.spans.jsonl.gz": 5,
    "haystack.spans.jsonl.gz": 3,
    "haystack.otlp.json.gz": 3,
    "haystack.genai.spans.jsonl.gz": 3,
}


@pytest.mark.parametrize("name", REAL)
def test_real_traces(name: str) -> None:
    """Published instrumentations of three frameworks, each read as it is."""
    folder = data("rag-traces")
    scores = rankstone.evaluate(folder / "qrels.txt", folder / name, "RR NumRet")
    lists = scores.per_query.filter(measure="NumRet")["value"]
    assert lists.len() == 11
    assert set(lists) == {REAL[name]}
    if name.startswith("haystack"):
        value = scores.mean().filter(measure="RR")["value"][0]
        by_hand = _reranked(
            pl.read_csv(folder / "qrels.txt", separator=" ", has_header=False),
            folder / name,
        )
        assert value == pytest.approx(by_hand)


def _reranked(qrels: pl.DataFrame, path: Path) -> float:
    """Return the mean reciprocal rank of reranked lists, taken from the attributes of their spans."""
    if path.name.endswith(".json.gz"):
        path = path.with_name("haystack.spans.jsonl.gz")
    grades = {(query, doc): grade for query, _, doc, grade in qrels.iter_rows()}
    ranks: dict[str, int] = {}
    for line in pl.scan_lines(path, name="text").collect()["text"]:
        attributes = json.loads(line)["attributes"]
        if attributes.get("openinference.span.kind") != "RERANKER":
            continue
        query, rank = json.loads(attributes["metadata"])["query_id"], 0
        while (
            doc := attributes.get(f"reranker.output_documents.{rank}.document.id")
        ) is not None:
            rank += 1
            if grades.get((query, doc), 0) > 0:
                ranks.setdefault(query, rank)
    judged = {query for query, _ in grades}
    return sum(1 / ranks[query] for query in judged if query in ranks) / len(judged)


@pytest.mark.parametrize(
    "damage",
    [
        {"context": "x"},
        {"attributes": 3},
        {"start_time": "yesterday"},
        {"end_time": "2026-13-45T99:00:00Z"},
    ],
)
def test_a_damaged_span_is_named(tmp_path: Path, damage: dict[str, Any]) -> None:
    spans = [sdk(position, "RETRIEVER", "t", documents("a")) for position in (1, 2)]
    path = tmp_path / "spans.jsonl"
    path.write_text(
        "".join(json.dumps(case) + "\n" for case in (spans[0], {**spans[1], **damage}))
    )
    with pytest.raises(InputError, match="this span is damaged") as caught:
        rankstone.evaluate({"t": {"a": 1}}, str(path), "RR")
    assert "spans.jsonl:2" in str(caught.value)


def test_parents_in_a_circle_end() -> None:
    chain = [
        sdk(count, "CHAIN", "t", {}, f"t-{parent}")
        for count, parent in ((1, 2), (2, 1))
    ]
    span = sdk(3, "RETRIEVER", "t", documents("a"), "t-1")
    assert rows([*chain, span], "doc_id") == [(["a"],)]


@each("name", ["spans.jsonl", "otlp.jsonl", "observations.jsonl", "langfuse.json"])
def test_the_note_on_a_trace_of_each_format(name: str) -> None:
    """Of every format, in lines and as one document, the note says how many retrievals there were."""
    columns = {"question": "query_id"}
    judgments = EXAMPLES / "relevant.csv"
    scores = rankstone.evaluate(judgments, EXAMPLES / name, "RR", columns=columns)
    assert "trace of" in str(scores.audit), name


def test_steps_of_a_reranker_have_the_question_of_what_they_reorder() -> None:
    """Also where only the retriever's span has the question."""
    records = map(json.loads, (EXAMPLES / "spans.jsonl").read_text().splitlines())
    frame, _ = trace_frame(records, "spans.jsonl", steps=True)
    assert frame["question"].null_count() == 0
    assert set(frame["step"]) == {"retriever", "reranker"}
