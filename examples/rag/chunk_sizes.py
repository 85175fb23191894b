"""Cut the demo collection into chunks of four sizes, and rank them for its queries.

Documents of one topic become one long page, and the judged documents spans of it: judgments that fit chunks
of any size. From the root of the repository:

    python examples/rag/chunk_sizes.py

writes `spans.csv` (query, page, start, end, grade) and `chunks-SIZE.csv` (query, page, start, end, score)
next to this file. Ranks are those of BM25 (k1 = 1.5, b = 0.75) over lower-case words.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEMO = HERE.parents[1] / "src" / "rankstone" / "demo"
SIZES = (100, 200, 400, 800)
#: characters that a list holds at most
DEPTH = 2400


def rows(name: str) -> list[dict[str, str]]:
    """Read a file with one JSON object a line."""
    return [
        json.loads(line)
        for line in (DEMO / name).read_text(encoding="utf-8").splitlines()
    ]


def pages() -> tuple[dict[str, str], dict[str, tuple[str, int, int]]]:
    """Return the text of every page, and where each document is in it."""
    text: dict[str, str] = defaultdict(str)
    spans = {}
    for row in rows("documents.jsonl"):
        page = row["doc_id"].rpartition("-")[0]
        text[page] += f"{row['title']}. "
        start = len(text[page])
        text[page] += row["text"]
        spans[row["doc_id"]] = page, start, len(text[page])
        text[page] += "\n\n"
    return dict(text), spans


def chunks(text: str, size: int) -> list[tuple[int, int]]:
    """Cut a text behind words, into chunks of at most so many characters."""
    found, start = [], 0
    while start < len(text):
        end = start + size
        if end < len(text):
            end = (
                max(text.rfind(" ", start, end) + 1, text.rfind("\n", start, end) + 1)
                or end
            )
        found.append((start, min(end, len(text))))
        start = end
    return found


def words(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return re.findall(r"[a-z0-9]{2,}", text.lower())


def ranked(texts: list[str], query: str) -> list[tuple[float, int]]:
    """Return BM25 scores above zero and the numbers of texts, best first."""
    bags = [Counter(words(text)) for text in texts]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = [0.0] * len(texts)
    for word in set(words(query)):
        holding = [at for at, bag in enumerate(bags) if word in bag]
        rare = math.log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            count = bags[at][word]
            scores[at] += (
                rare * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * lengths[at] / mean))
            )
    return sorted(
        ((round(score, 4), at) for at, score in enumerate(scores) if score > 0),
        key=lambda one: (-one[0], one[1]),
    )


def write(name: str, header: list[str], table: list[tuple[object, ...]]) -> None:
    """Write a table next to this file."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *table])


def main() -> None:
    """Write the judged spans, and a run for each size."""
    text, spans = pages()
    judged = [
        line.split()
        for line in (DEMO / "qrels.txt").read_text(encoding="utf-8").splitlines()
    ]
    write(
        "spans.csv",
        ["query_id", "doc_id", "start", "end", "relevance"],
        [
            (query, *spans[doc], grade)
            for query, _, doc, grade in judged
            if grade != "0"
        ],
    )
    for size in SIZES:
        places = [
            (page, start, end)
            for page, whole in text.items()
            for start, end in chunks(whole, size)
        ]
        texts = [text[page][start:end] for page, start, end in places]
        run: list[tuple[object, ...]] = []
        for row in rows("queries.jsonl"):
            length = 0
            for score, at in ranked(texts, row["text"]):
                page, start, end = places[at]
                length += end - start
                if length > DEPTH:
                    break
                run.append((row["query_id"], page, start, end, score))
        write(
            f"chunks-{size}.csv", ["query_id", "doc_id", "start", "end", "score"], run
        )


if __name__ == "__main__":
    main()
