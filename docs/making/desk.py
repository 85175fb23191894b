"""The folder in which the commands of all pages can be typed, which ``rankstone demo --copy`` writes.

The demo's files, the examples, and what the pages call the reader's own files: ``dense.run`` and its like are
mixtures of the demo's two runs, ``recs.parquet`` recommendations for the users of the example shop.  A name means
the same on every page.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import polars as pl
from docs.making.printed import blocks

import rankstone
from rankstone import demo

__all__ = ["PACKED", "packed", "stale"]

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "examples"
#: where the package keeps the folder
PACKED: Final = demo.FOLDER / "pages.zip"
#: what of the examples is for those who build them
_OWN_OF_THE_PROJECT: Final = ("notebooks", "build_")
#: run → how much of the demo's BM25 is in it; the rest is its TF-IDF
_MIXED: Final = {
    "dense.run": 0.2,
    "hybrid.run": 0.6,
    "other.run": 0.4,
    "again.run": 0.95,
    "a.run": 0.1,
    "b.run": 0.5,
    "c.run": 0.9,
    "old.run": 0.3,
    "new.run": 0.8,
    "exact.run": 0.7,
    "hnsw.run": 0.65,
    "ivf.run": 0.5,
    "runs/new.run": 0.8,
    "runs/main.run": 0.3,
    "downloads/dense.run": 0.2,
}


def _mixture(share: float) -> str:
    """Return a run whose scores are the two systems' scores of a query, each divided by the largest."""
    parts = []
    for path, weight in zip(demo.RUNS.values(), (share, 1 - share), strict=True):
        frame = _table(path.read_text("utf-8"), "query_id", "doc_id", "score")
        largest = pl.col("score").max().over("query_id")
        parts.append(frame.with_columns(pl.col("score") / largest * weight))
    sums = pl.concat(parts).group_by("query_id", "doc_id").agg(pl.col("score").sum())
    rows = sums.with_columns(pl.col("score").round(6)).sort(
        "query_id", "score", "doc_id", descending=[False, True, True]
    )
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    lines = [
        f"{query} Q0 {doc} {place} {score:.6f} mixed"
        for query, doc, score, place in rows.with_columns(rank=rank).iter_rows()
    ]
    return "\n".join(lines) + "\n"


def _table(text: str, *columns: str) -> pl.DataFrame:
    """Return judgments or a run in TREC's text as a table."""
    rows = [line.split() for line in text.splitlines()]
    value = {"relevance": 3, "score": 4}[columns[-1]]
    cells = [(row[0], row[2], float(row[value])) for row in rows]
    return pl.DataFrame(cells, schema=list(columns), orient="row")


def _shop(name: str) -> pl.DataFrame:
    """Return a table of the shop under our names of columns."""
    frame = pl.read_csv(EXAMPLES / "shop" / f"{name}.csv")
    names = {"user_id": "query_id", "item_id": "doc_id"}
    return frame.rename(names, strict=False)


def _candidates() -> pl.DataFrame:
    """Return for each user what was bought and twenty other items, with scores."""
    bought = _shop("bought").select("query_id", "doc_id")
    pairs = (
        bought.select("query_id")
        .unique(maintain_order=True)
        .join(_shop("items").select("doc_id"), how="cross")
    )
    rows = pl.concat([bought, _shop("history").select("query_id", "doc_id")])
    others = pairs.join(
        rows, on=["query_id", "doc_id"], how="anti", maintain_order="left"
    )
    sampled = others.group_by("query_id", maintain_order=True).head(20)
    return pl.concat([bought, sampled]).with_row_index("score")


def _impressions() -> pl.DataFrame:
    """Return a log of what was shown, clicked and earned, with the probabilities of showing it."""
    log = pl.read_csv(EXAMPLES / "online/log.csv").head(1500)
    number = pl.col("impression_id").rle_id()
    run = _table(demo.RUNS["tfidf"].read_text("utf-8"), "query_id", "doc_id", "score")
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    ranked = run.select("query_id", "doc_id", rank=rank)
    return log.with_columns(
        query_id=pl.format("q0{}", 1 + number % 7),
        rank=pl.col("position") + number % 3 % 2,
        session=pl.col("impression_id"),
        draw=number % 20,
        reward=pl.col("clicked"),
        propensity=0.5 + number % 4 / 10,
        target_propensity=pl.lit(0.4),
        bucket=pl.col("variant").replace("old", "control"),
    ).join(ranked, on=["query_id", "rank"], maintain_order="left")


def _events() -> pl.DataFrame:
    """Return a log of what users did in four weeks."""
    began = datetime.fromisoformat("2024-01-01T00:00:00+00:00")
    rows = [
        (
            f"u{user}",
            began + timedelta(days=(user + day * (user % 4)) % 28),
            f"{user % 2}.0",
        )
        for user in range(40)
        for day in range(5)
    ]
    return pl.DataFrame(rows, schema=["user_id", "time", "app_version"], orient="row")


def _common() -> dict[str, Any]:
    """Return the contents of files, in which names mean what most pages mean by them."""
    qrels, bm25, tfidf = (
        path.read_text("utf-8") for path in (demo.QRELS, *demo.RUNS.values())
    )
    letor = EXAMPLES / "ltr"
    judgments = _table(qrels, "query_id", "doc_id", "relevance")
    scores = _table(tfidf, "query_id", "doc_id", "score")
    labelled = scores.join(judgments, on=["query_id", "doc_id"])
    queries = judgments.select(pl.col("query_id").unique(maintain_order=True))
    users = _shop("bought").select(pl.col("query_id").unique(maintain_order=True))
    half = pl.int_range(pl.len()) % 2
    tables = {
        "qrels": judgments,
        "run": scores,
        "test": _shop("bought"),
        "train": _shop("history"),
        "items": _shop("items"),
        "users": users.with_columns(gender=half),
        **{name: _candidates() for name in ("als", "knn", "recs")},
        "ratings": _shop("bought").with_columns(
            relevance=1 + pl.int_range(pl.len()) % 5
        ),
        "clicks": _impressions().drop("target_propensity"),
        "rows": labelled,
        "scores": pl.DataFrame(
            {"system": list("abc"), "x": [0.5, 0.4, 0.2], "y": [0.6, 0.3, 0.1]}
        ),
        "matrix": pl.DataFrame(
            {"query_id": ["q1", "q2", "q3"], "x": [0.5, 0.2, 0.9], "y": [0.4, 0.3, 0.7]}
        ),
        "queries": queries.with_columns(kind=half),
        "events": _events(),
        "log": _impressions(),
    }
    return {
        **{f"{name}.csv": table for name, table in tables.items()},
        **{f"{name}.parquet": table for name, table in tables.items()},
        **{name: _mixture(share) for name, share in _MIXED.items()},
        **dict.fromkeys(("qrels.txt", "downloads/qrels.txt"), qrels),
        **dict.fromkeys(("bm25.run", "downloads/bm25.run", "runs/candidate.run"), bm25),
        "tfidf.run": tfidf,
        "out/run.parquet": scores,
        "scores.parquet": _values(judgments, scores),
        "queries.jsonl": demo.QUERIES.read_text("utf-8"),
        **{
            f"first/{path.name}": path.read_text("utf-8")
            for path in sorted(demo.FIRST.iterdir())
        },
        "docs.jsonl": demo.DOCUMENTS.read_text("utf-8"),
        "train.txt": (letor / "train.txt").read_text("utf-8"),
        "test.txt": (letor / "test.txt").read_text("utf-8"),
        "mine.jsonl": (EXAMPLES / "rag/short.nuggets.jsonl").read_text("utf-8"),
        "theirs.jsonl": (EXAMPLES / "rag/long.nuggets.jsonl").read_text("utf-8"),
        "rankstone.toml": (EXAMPLES / "ci/rankstone.toml").read_text("utf-8"),
    }


def _values(judgments: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Return the values of two runs, query by query."""
    runs = {"a": scores, "b": scores.with_columns(pl.col("score").reverse())}
    return rankstone.evaluate(judgments, runs, "nDCG@10 AP").per_query


def _subtopics() -> dict[str, Any]:
    lines = demo.QRELS.read_text("utf-8").splitlines()
    texts = [line.replace(" 0 ", f" {1 + n % 2} ", 1) for n, line in enumerate(lines)]
    return {"qrels.diversity.txt": "\n".join(texts)}


def _of_other_tools() -> dict[str, Any]:
    bought, taste, history = _shop("bought"), _shop("taste"), _shop("history")
    theirs = {"query_id": "user_id", "doc_id": "item_id"}
    lists = taste.group_by("query_id", maintain_order=True).agg("doc_id")
    return {
        **dict.fromkeys(("judgments.csv", "targets.csv", "qrels.tsv"), bought),
        "results.parquet": taste,
        "results.json": json.dumps(dict(lists.iter_rows())),
        "bought.parquet": bought.rename(theirs),
        "taste.parquet": taste.rename(theirs),
        "history.parquet": history.rename(theirs),
    }


def _logs() -> dict[str, Any]:
    log = _impressions()
    names = {"clicked": "click", "propensity": "pscore", "user_id": "uid"}
    return {
        "log.csv": log.drop("reward").rename(names),
        "so-far.parquet": log,
        "shown.csv": log.rename({"doc_id": "item_id"}),
        "visits.csv": _events().rename({"user_id": "uid", "time": "ts"}),
        "revenue.csv": "user_id,variant,revenue\n1,a,2\n2,a,3\n3,b,4\n4,b,7\n",
    }


def _database(path: Path) -> None:
    """Write tables of a database."""
    import duckdb

    judgments, scores = _common()["qrels.parquet"], _common()["run.parquet"]
    days = scores.with_columns(day=pl.lit("2026-11-22"))
    with duckdb.connect(str(path)) as connection:
        for name, frame in (("qrels", judgments), ("bm25", scores), ("runs", days)):
            connection.register("frame", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS FROM frame")


def _answers() -> dict[str, Any]:
    nuggets = [{"text": text, "importance": "vital"} for text in ("30 days", "unworn")]
    answer = {"qid": "q1", "query": "return shoes", "nuggets": nuggets}
    page = (ROOT / "docs/answers.md").read_text("utf-8")
    return {
        "nuggets.jsonl": json.dumps(answer),
        "assigned.csv": "query_id,nugget,assignment\nq1,30 days,support\nq1,unworn,not_support\n",
        "old.jsonl": (EXAMPLES / "rag/short.nuggets.jsonl").read_text("utf-8"),
        "new.jsonl": (EXAMPLES / "rag/long.nuggets.jsonl").read_text("utf-8"),
        "answers.toml": next(b.code for b in blocks(page) if b.kind == "toml"),
    }


def _retrieved() -> dict[str, Any]:
    names = [f"q{number}" for number in range(1, 13)]
    chunks = [
        {"chunk_id": f"faq#{n}", "score": 1 / n, "n_tokens": 200} for n in range(1, 9)
    ]
    questions: list[dict[str, Any]] = [
        {"id": name, "expected": ["faq#2", "faq#5"]} for name in names
    ]
    first = [{"qid": name, "results": chunks} for name in names]
    other = [{"qid": name, "results": chunks[1:]} for name in names]
    logs: dict[str, list[dict[str, Any]]] = {
        "questions": questions,
        "vector": first,
        "reranked": other,
    }
    return {
        f"{name}.jsonl": "\n".join(map(json.dumps, rows)) for name, rows in logs.items()
    }


def _pipeline() -> dict[str, Any]:
    """Return what a second step makes of BM25's documents, the ids of an index, and graded answers."""
    files = (demo.QRELS, demo.RUNS["bm25"], demo.DOCUMENTS, demo.QUERIES)
    qrels, run, documents, queries = (
        path.read_text("utf-8").splitlines() for path in files
    )
    pairs = {tuple(line.split()[:3:2]) for line in run}
    relevant = (line.split() for line in qrels if not line.endswith(" 0"))
    missed = sorted({doc for query, _, doc, _ in relevant if (query, doc) not in pairs})
    ids = {json.loads(line)["doc_id"] for line in documents}
    mixed = _mixture(0.2).splitlines(keepends=True)
    graded = [
        {"query_id": json.loads(line)["query_id"], "correct": number % 4 != 1}
        for number, line in enumerate(queries)
    ]
    return {
        "reranked.run": "".join(
            line for line in mixed if tuple(line.split()[:3:2]) in pairs
        ),
        "ids.txt": "\n".join(sorted(ids - {*missed[::6]})) + "\n",
        "graded.jsonl": "\n".join(map(json.dumps, graded)),
    }


def _golden() -> dict[str, Any]:
    """Return a golden set of the demo's queries, in which an id is gone from its documents."""
    judged = [line.split() for line in demo.QRELS.read_text("utf-8").splitlines()]
    moved = {"bread-02": "bread/leaven.md"}
    cases = []
    for line in demo.QUERIES.read_text("utf-8").splitlines():
        query = json.loads(line)
        expected = [
            moved.get(document, document)
            for query_id, _, document, grade in judged
            if query_id == query["query_id"] and grade in "23"
        ]
        case: dict[str, Any] = {"id": query["query_id"], "query": query["text"]}
        case |= {"expected": expected} if expected else {"answerable": False}
        kind = "how" if query["text"].startswith("how") else "what"
        cases.append(case | {"category": kind})
    rows = ",\n".join(f"  {json.dumps(case)}" for case in cases)
    turns = [
        case | {"conversation": f"c{place // 3 + 1}", "turn": place % 3 + 1}
        for place, case in enumerate(cases)
    ]
    page = (ROOT / "docs/the-loop.md").read_text("utf-8")
    return {
        "documents.jsonl": demo.DOCUMENTS.read_text("utf-8"),
        "golden.json": f"[\n{rows}\n]\n",
        "turns.jsonl": "\n".join(map(json.dumps, turns)) + "\n",
        "loop.toml": next(b.code for b in blocks(page) if b.kind == "toml"),
    }


def _measures() -> dict[str, Any]:
    page = (ROOT / "docs/your-own-measure.md").read_text("utf-8")
    code = [block.code for block in blocks(page)]
    measure, gain = (
        code[0].partition("\n\nprint(")[0],
        code[3].partition("rankstone.evaluate")[0],
    )
    return {"my_measures.py": f"{measure}\n{gain}"}


def _tables_of_many_forms() -> dict[str, Any]:
    bought, taste = _shop("bought"), _shop("taste")
    lists = taste.group_by("query_id", maintain_order=True).agg("doc_id")
    german = {"query_id": "Anfrage", "doc_id": "Dokument"}
    row = {"question": "q1", "retrieved": ["d2", "d1"], "relevant": ["d1"]}
    return {
        "liked.parquet": bought.rename({"query_id": "user_id", "doc_id": "items"}),
        "listed.parquet": lists.rename({"query_id": "user_id", "doc_id": "items"}),
        "rated.parquet": bought.rename({"query_id": "user", "doc_id": "item"}),
        "predicted.parquet": taste.rename(
            {"query_id": "user", "doc_id": "item", "score": "rating"}
        ),
        "runs.db": _database,
        "rows.json": json.dumps([row]),
        "book.json": json.dumps({"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}),
        "snapshot.json": json.dumps({"q1": ["d2", "d1"], "q2": ["d3"]}),
        "urteile.csv": bought.rename(german | {"relevance": "Note"}),
        "lauf.csv": taste.rename(german | {"score": "Punkte"}),
        "qrels-de.csv": bought.write_csv(separator="|"),
        "run-de.csv": taste.write_csv(separator="|").replace(".", ","),
    }


def _trees() -> str:
    """Return a model of LightGBM for the features of the examples."""
    import lightgbm

    from rankstone.ltr import read

    data = read(EXAMPLES / "ltr/train.txt")
    settings = {"min_data_in_leaf": 2, "verbose": -1}
    trained = lightgbm.train(settings, lightgbm.Dataset(data.X, data.y), 2)
    return str(trained.model_to_string())


def texts_and_tables() -> dict[str, Any]:
    """Return place → what a file of the folder is: a text, a table, or what writes it."""
    scores = _table(
        demo.RUNS["tfidf"].read_text("utf-8"), "query_id", "doc_id", "score"
    )
    examples = {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in sorted(EXAMPLES.rglob("*"))
        if path.is_file()
        and not any(word in str(path) for word in (*_OWN_OF_THE_PROJECT, "__pycache__"))
    }
    files = {
        **_common(),
        **_subtopics(),
        **_of_other_tools(),
        **_logs(),
        **_answers(),
        **_retrieved(),
        **_pipeline(),
        **_golden(),
        **_measures(),
        **_tables_of_many_forms(),
        "lightgbm.txt": _trees(),
        "parts/1.parquet": scores.head(500),
        "parts/2.parquet": scores.slice(500),
    }
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    named = {
        place: content
        for place, content in files.items()
        if place.rpartition("/")[0] in ("parts", "runs", "downloads") or place in pages
    }
    return examples | named


def stale() -> list[str]:
    """Return what the package keeps otherwise than it is now; databases and models are not compared."""
    if not PACKED.exists():
        return [PACKED.name]
    contents = texts_and_tables()
    with zipfile.ZipFile(PACKED) as archive:
        kept = {place: archive.read(place) for place in archive.namelist()}
    differing = {
        place
        for place in kept.keys() & contents.keys()
        if not _is(kept[place], place, contents[place])
    }
    return sorted(differing | (kept.keys() ^ contents.keys()))


def _is(kept: bytes, place: str, content: object) -> bool:
    if callable(content) or place == "lightgbm.txt":
        return True
    if not isinstance(content, pl.DataFrame):
        return kept.decode() == content
    if place.endswith(".parquet"):
        return pl.read_parquet(kept).equals(content)
    return kept.decode() == content.write_csv(separator=_separator(place))


def _separator(place: str) -> str:
    return "\t" if place.endswith(".tsv") else ","


def packed() -> bytes:
    """Return the folder as an archive."""
    archive = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as made,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written,
    ):
        path = Path(made) / "file"
        for place, content in texts_and_tables().items():
            path.unlink(missing_ok=True)
            if callable(content):
                content(path)
            elif not isinstance(content, pl.DataFrame):
                path.write_text(content, encoding="utf-8")
            elif place.endswith(".parquet"):
                content.write_parquet(path)
            else:
                content.write_csv(path, separator=_separator(place))
            written.writestr(
                zipfile.ZipInfo(place), path.read_bytes(), zipfile.ZIP_DEFLATED, 9
            )
    return archive.getvalue()
