"""Files of the readers' own that commands on pages name: stand-ins, so that these commands can be typed, too.

``dense.run`` and its like are the demo's second run under another name, ``recs.parquet`` the recommendations of
the example shop.  Where a name is something else on a page, the page has files of its own.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import lightgbm
import polars as pl
from docs.making.printed import blocks

import rankstone
from rankstone import demo
from rankstone.ltr import read

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["lay_out"]

ROOT: Final = Path(__file__).resolve().parents[1]
EXAMPLES: Final = ROOT / "examples"
#: the query that pages ask for by name
QUERY: Final = "301"
RUNS: Final = (
    *("dense.run", "hybrid.run", "other.run", "a.run", "b.run", "c.run", "old.run"),
    *("new.run", "again.run", "exact.run", "hnsw.run", "ivf.run"),
    *("runs/new.run", "runs/main.run", "downloads/dense.run"),
)


@cache
def _with_query(path: Path) -> str:
    """Return judgments or a run with every query twice, and with the one that pages name."""
    lines = path.read_text("utf-8").splitlines()
    first = lines[0].split()[0]
    twice = [re.sub(r"^\S+", r"\g<0>b", line) for line in lines]
    named = [re.sub(r"^\S+", QUERY, line) for line in lines if line.split()[0] == first]
    return "\n".join([*lines, *twice, *named]) + "\n"


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
    log = pl.read_csv(EXAMPLES / "online/log.csv").head(3000)
    number = pl.col("impression_id").rle_id()
    run = _table(_with_query(demo.RUNS["tfidf"]), "query_id", "doc_id", "score")
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
    qrels, bm25, tfidf = map(_with_query, (demo.QRELS, *demo.RUNS.values()))
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
        "clicks": labelled.with_columns(
            reward=pl.lit(1),
            propensity=pl.lit(0.5),
            impression_id=pl.int_range(pl.len()),
        ),
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
        "bias": pl.DataFrame({"position": range(1, 12), "propensity": [0.9] * 11}),
    }
    return {
        **{f"{name}.csv": table for name, table in tables.items()},
        **{f"{name}.parquet": table for name, table in tables.items()},
        **dict.fromkeys(RUNS, tfidf),
        **dict.fromkeys(("qrels.txt", "downloads/qrels.txt"), qrels),
        **dict.fromkeys(("bm25.run", "downloads/bm25.run", "runs/candidate.run"), bm25),
        "tfidf.run": tfidf,
        "out/run.parquet": scores,
        "scores.parquet": _values(judgments, scores),
        "queries.jsonl": demo.QUERIES.read_text("utf-8"),
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
    lines = _with_query(demo.QRELS).splitlines()
    texts = [line.replace(" 0 ", f" {1 + n % 2} ", 1) for n, line in enumerate(lines)]
    return {"qrels.diversity.txt": "\n".join(texts)}


def _of_other_tools() -> dict[str, Any]:
    bought, taste, history = _shop("bought"), _shop("taste"), _shop("history")
    theirs = {"query_id": "user_id", "doc_id": "item_id"}
    judged = ("ratings.csv", "judgments.csv", "targets.csv", "qrels.csv", "qrels.tsv")
    lists = taste.group_by("query_id", maintain_order=True).agg("doc_id")
    return {
        **dict.fromkeys((*judged, "qrels.parquet"), bought),
        **dict.fromkeys(("run.parquet", "results.parquet"), taste),
        "results.json": json.dumps(dict(lists.iter_rows())),
        "test.parquet": bought.rename(theirs),
        "recs.parquet": taste.rename(theirs),
        "train.parquet": history.rename(theirs),
    }


def _logs() -> dict[str, Any]:
    log = _impressions()
    names = {"clicked": "click", "propensity": "pscore", "user_id": "uid"}
    own = log.drop("reward").rename(names)
    return {
        "log.csv": own,
        "clicks.parquet": log.drop("target_propensity"),
        "so-far.parquet": log,
        "users.csv": "user_id,variant,revenue\n1,a,2\n2,a,3\n3,b,4\n4,b,7\n",
    }


def _database(path: Path) -> None:
    """Write tables of a database."""
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
        "rankstone.toml": next(b.code for b in blocks(page) if b.kind == "toml"),
    }


def _retrieved() -> dict[str, Any]:
    names = [f"q{number}" for number in range(1, 13)]
    chunks = [
        {"chunk_id": f"faq#{n}", "score": 1 / n, "n_tokens": 200} for n in range(1, 9)
    ]
    questions = [{"id": name, "expected": ["faq#2", "faq#5"]} for name in names]
    first = [{"qid": name, "results": chunks} for name in names]
    other = [{"qid": name, "results": chunks[1:]} for name in names]
    logs = {"questions": questions, "vector": first, "reranked": other}
    return {
        f"{name}.jsonl": "\n".join(map(json.dumps, rows)) for name, rows in logs.items()
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
        "qrels.parquet": bought.rename({"query_id": "user_id", "doc_id": "items"}),
        "recs.parquet": lists.rename({"query_id": "user_id", "doc_id": "items"}),
        "test.parquet": bought.rename({"query_id": "user", "doc_id": "item"}),
        "als.parquet": taste.rename(
            {"query_id": "user", "doc_id": "item", "score": "rating"}
        ),
        "runs.db": _database,
        "rows.json": json.dumps([row]),
        "book.json": json.dumps({"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}),
        "snapshot.json": json.dumps({"q1": ["d2", "d1"], "q2": ["d3"]}),
        "urteile.csv": bought.rename(german | {"relevance": "Note"}),
        "lauf.csv": taste.rename(german | {"score": "Punkte"}),
        "qrels.csv": bought.write_csv(separator="|"),
        "run.csv": taste.write_csv(separator="|").replace(".", ","),
    }


def _trees() -> str:
    """Return a model of LightGBM for the features of the examples."""
    data = read(EXAMPLES / "ltr/train.txt")
    settings = {"min_data_in_leaf": 2, "verbose": -1}
    trained = lightgbm.train(settings, lightgbm.Dataset(data.X, data.y), 2)
    return str(trained.model_to_string())


#: page → files whose names mean something of its own there
OF_PAGE: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "answers": _answers,
    "baseline": lambda: {"qrels.parquet": _shop("bought")},
    "clicks": lambda: {"log.csv": _impressions().rename({"doc_id": "item_id"})},
    "commands": lambda: {"log.parquet": _impressions().drop("target_propensity")},
    "diversity-and-queries": _subtopics,
    "ltr": lambda: {"lightgbm.txt": _trees()},
    "moving": _of_other_tools,
    "online": _logs,
    "options": _tables_of_many_forms,
    "retention": lambda: {
        "log.csv": _events().rename({"user_id": "uid", "time": "ts"})
    },
    "retrieval-for-answers": _retrieved,
    "scale": lambda: {
        "qrels.parquet": _shop("bought"),
        "runs/1.parquet": _shop("taste"),
    },
    "your-own-measure": _measures,
}


def lay_out(folder: Path, page: str) -> None:
    """Write the files that commands on a page take for granted."""
    name = page.removesuffix(".md").removesuffix(".zh")
    own = OF_PAGE.get(name, dict[str, Any])()
    apart = {
        n.partition("/")[0] for n in own if "/" in n
    }  # a folder with files of its own
    common = {n: c for n, c in _common().items() if n.partition("/")[0] not in apart}
    for place, content in (common | own).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        elif not isinstance(content, pl.DataFrame):
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".parquet":
            content.write_parquet(path)
        else:
            content.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    for name in ("examples", "src"):
        (folder / name).symlink_to(ROOT / name)
