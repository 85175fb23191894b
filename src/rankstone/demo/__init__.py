"""A small collection that ships with the package: documents, queries, judgments, two runs.

>>> from rankstone import demo, evaluate
>>> scores = evaluate(demo.QRELS, demo.RUNS, "nDCG@10")
>>> [(name, round(means["nDCG@10"], 4)) for name, means in scores.to_dict().items()]
[('bm25', 0.5704), ('tfidf', 0.5077)]
"""

from pathlib import Path

__all__ = ["DOCUMENTS", "FIRST", "FOLDER", "QRELS", "QUERIES", "RUNS"]

#: the folder that holds the demo collection
FOLDER = Path(__file__).parent
#: the folder of judgments and two runs without a flaw, to begin with
FIRST = FOLDER / "first"
#: texts of the documents, as JSON lines
DOCUMENTS = FOLDER / "documents.jsonl"
#: texts of the queries, as JSON lines
QUERIES = FOLDER / "queries.jsonl"
#: the judgments, a TREC qrels file
QRELS = FOLDER / "qrels.txt"
#: name → TREC run file of two systems
RUNS = {"bm25": FOLDER / "bm25.run", "tfidf": FOLDER / "tfidf.run"}
