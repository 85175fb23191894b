"""Build the two runs of the demo collection: `bm25.run` and `tfidf.run`.

Reads `documents.jsonl` and `queries.jsonl` from `src/rankstone/demo/` and writes
two TREC runs next to them. From the root of the repository:

    python examples/build_demo_runs.py

The runs shipped with the package were made with bm25s 0.3.16, scikit-learn 1.9.1
and NumPy 2.4.6 on Python 3.11. Neither bm25s nor scikit-learn is needed to use
rankstone; they are needed only to run this script. It uses no random numbers.

Both rankers see the title and the text of a document as one string, lower-cased
and split into words of two or more characters:

* `bm25`: Lucene-style BM25 (k1 = 1.5, b = 0.75), English stop words removed,
  plurals reduced to the singular;
* `tfidf`: cosine of TF-IDF vectors (smoothed IDF), stop words and plurals kept.

A run keeps at most 50 documents a query, only those with a score above zero, by
descending score and, at equal scores, by descending document id. Scores are
rounded to six decimals before sorting, so the order agrees with what is printed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import bm25s
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

DEMO_DIR = Path(__file__).resolve().parent.parent / "src" / "rankstone" / "demo"
DEPTH = 50
DECIMALS = 6

Scores = Mapping[str, Sequence[float]]
"""For each query id, one score per document, in collection order."""


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Read a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def singular(word: str) -> str:
    """Strip a plural ending; a few words come out wrong, but the same in queries and documents."""
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def bm25_tokens(texts: Iterable[str]) -> list[list[str]]:
    """Split each text into the words that BM25 counts."""
    split = bm25s.tokenize(
        list(texts), stopwords="en", return_ids=False, show_progress=False
    )
    return [[singular(word) for word in words] for words in split]


def bm25_scores(texts: Sequence[str], queries: Mapping[str, str]) -> Scores:
    """Score every document for every query with BM25."""
    retriever = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    retriever.index(bm25_tokens(texts), show_progress=False)
    scores: dict[str, Sequence[float]] = {}
    for query_id, words in zip(queries, bm25_tokens(queries.values()), strict=True):
        known = [word for word in words if word in retriever.vocab_dict]
        scores[query_id] = (
            retriever.get_scores(known).tolist() if known else [0.0] * len(texts)
        )
    return scores


def tfidf_scores(texts: Sequence[str], queries: Mapping[str, str]) -> Scores:
    """Score every document for every query with the cosine of TF-IDF vectors."""
    vectorizer = TfidfVectorizer(dtype=np.float64)
    documents = vectorizer.fit_transform(texts)
    similarity = (vectorizer.transform(queries.values()) @ documents.T).toarray()
    return dict(zip(queries, similarity.tolist(), strict=True))


def run_lines(scores: Scores, doc_ids: Sequence[str], tag: str) -> Iterable[str]:
    """Yield the lines of a TREC run, query by query, best document first."""
    for query_id, values in scores.items():
        rounded = [
            (round(value, DECIMALS), doc_id)
            for value, doc_id in zip(values, doc_ids, strict=True)
        ]
        ranked = sorted((pair for pair in rounded if pair[0] > 0), reverse=True)[:DEPTH]
        for rank, (score, doc_id) in enumerate(ranked, start=1):
            yield f"{query_id} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Write both runs."""
    parser = argparse.ArgumentParser(
        description="Build the runs of the demo collection."
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=DEMO_DIR,
        help="folder to write to (default: the demo folder)",
    )
    out: Path = parser.parse_args(argv).out

    documents = read_jsonl(DEMO_DIR / "documents.jsonl")
    queries = {
        query["query_id"]: query["text"]
        for query in read_jsonl(DEMO_DIR / "queries.jsonl")
    }
    doc_ids = [document["doc_id"] for document in documents]
    texts = [f"{document['title']}. {document['text']}" for document in documents]

    out.mkdir(parents=True, exist_ok=True)
    for tag, rank in (("bm25", bm25_scores), ("tfidf", tfidf_scores)):
        lines = list(run_lines(rank(texts, queries), doc_ids, tag))
        path = out / f"{tag}.run"
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        print(f"{path.name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
