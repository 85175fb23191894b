"""Documents of LangChain, LlamaIndex and Haystack as they come from retrievers; none of them is imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import rankstone
from rankstone import InputError

QRELS = {"q1": {"b": 1}, "q2": {"a": 1}}


@dataclass
class LangChainDocument:
    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class TextNode:
    node_id: str
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class NodeWithScore:
    node: TextNode
    score: float | None


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


@pytest.mark.parametrize(
    "document",
    [
        lambda name: LangChainDocument("text", name),
        lambda name: (LangChainDocument("text", name), 0.25),
        lambda name: NodeWithScore(TextNode(name), None),
        TextNode,
        lambda name: HaystackDocument(name, None, {}, 0.5),
        lambda name: name,
    ],
    ids=[
        "langchain",
        "langchain with scores",
        "llama_index",
        "llama_index nodes",
        "haystack",
        "ids",
    ],
)
def test_documents_are_read_in_their_order(document: Any) -> None:
    run = {"q1": [document("a"), document("b")], "q2": [document("a")]}
    assert rankstone.evaluate(QRELS, run, "RR R@1").to_dict() == {
        "run": {"RR": 0.75, "R@1": 0.5}
    }


def test_a_document_without_id_says_what_it_has() -> None:
    run = {"q1": [LangChainDocument("text", None, {"source": "a.md"})], "q2": []}
    with pytest.raises(InputError, match="without id") as caught:
        rankstone.evaluate(QRELS, run, "RR")
    assert "metadata: source" in str(caught.value)
    assert "doc.metadata" in str(caught.value)


def test_other_objects_are_refused() -> None:
    with pytest.raises(InputError, match="doc_id holds object"):
        rankstone.evaluate(QRELS, {"q1": [object()]}, "RR")
