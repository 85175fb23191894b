"""A small collection that ships with the package: documents, queries, judgments, two runs.

>>> from rankstone import demo, evaluate
>>> scores = evaluate(demo.QRELS, demo.RUNS, "nDCG@10")
>>> [(name, round(means["nDCG@10"], 4)) for name, means in scores.to_dict().items()]
[('bm25', 0.5704), ('tfidf', 0.5077)]
"""

from pathlib import Path

__all__ = ["DOCUMENTS", "FOLDER", "QRELS", "QUERIES", "RUNS"]

FOLDER = Path(__file__).parent
DOCUMENTS = FOLDER / "documents.jsonl"
QUERIES = FOLDER / "queries.jsonl"
QRELS = FOLDER / "qrels.txt"
RUNS = {"bm25": FOLDER / "bm25.run", "tfidf": FOLDER / "tfidf.run"}
