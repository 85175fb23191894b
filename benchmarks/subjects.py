"""What is measured beside rankstone: each function is the whole work of one process.

``python subjects.py NAME ARGUMENT…`` runs one of them.  Next to nothing is imported up here, so that a
subject pays for what it uses and for nothing else.
"""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

#: our name of each measure → the name pytrec_eval has for it
PYTREC_NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "RR@10": "recip_rank",
    "R@100": "recall_100",
    "P@10": "P_10",
}
RANX_NAMES = {
    "nDCG@10": "ndcg@10",
    "AP": "map",
    "RR@10": "mrr@10",
    "R@100": "recall@100",
    "P@10": "precision@10",
}


def scan(file: str, *columns: str) -> None:
    """Read columns of a Parquet file and count the rows: the least that anything reading it must do."""
    import polars as pl

    rows = 0
    for batch in pl.scan_parquet(file).select(columns).collect_batches():
        rows += batch.height
    print(rows)


def text_scan(file: str) -> None:
    """Read the query, the document and the score of a TREC run and count the rows, as Polars reads CSV."""
    import polars as pl

    named = {"new_columns": ["query_id", "q0", "doc_id", "rank", "score", "tag"]}
    kinds = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    text = pl.scan_csv(
        file, separator=" ", has_header=False, **named, schema_overrides=kinds
    )
    rows = 0
    for batch in text.select(*kinds).collect_batches():
        rows += batch.height
    print(rows)


def group_by(file: str, column: str) -> None:
    """Count the rows of each value of a column: the least that any measure of a catalogue must do."""
    import polars as pl

    counts = (
        pl.scan_parquet(file).group_by(column).agg(pl.len()).collect(engine="streaming")
    )
    print(counts.height)


def pytrec_eval_parquet(qrels: str, run: str) -> None:
    """Score a Parquet run with pytrec_eval."""
    _pytrec_eval(_dicts(qrels, "relevance"), _dicts(run, "score"))


def pytrec_eval_text(qrels: str, run: str) -> None:
    """Score a TREC text run with pytrec_eval and its own parsers."""
    import pytrec_eval

    with (
        pathlib.Path(qrels).open(encoding="utf-8") as judgments,
        pathlib.Path(run).open(encoding="utf-8") as ranking,
    ):
        _pytrec_eval(pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(ranking))


def ranx_parquet(qrels: str, run: str) -> None:
    """Score a Parquet run with ranx.

    ``Run.from_parquet`` refuses the string columns of pandas 3, and dicts are its fastest way in anyway.
    """
    import ranx

    judgments, ranking = (
        ranx.Qrels(_dicts(qrels, "relevance")),
        ranx.Run(_dicts(run, "score")),
    )
    found = ranx.evaluate(judgments, ranking, list(RANX_NAMES.values()))
    _tell({name: float(found[theirs]) for name, theirs in RANX_NAMES.items()})


def ranx_trec(qrels: str, run: str) -> None:
    """Score a TREC text run with ranx and its own readers."""
    import ranx

    judgments, ranking = (
        ranx.Qrels.from_file(qrels, kind="trec"),
        ranx.Run.from_file(run, kind="trec"),
    )
    found = ranx.evaluate(judgments, ranking, list(RANX_NAMES.values()))
    _tell({name: float(found[theirs]) for name, theirs in RANX_NAMES.items()})


def rectools_parquet(qrels: str, run: str) -> None:
    """Score a Parquet run with RecTools; its nDCG is that of binary judgments."""
    import pandas as pd
    from rectools import metrics
    from rectools.metrics import calc_metrics

    names = {"query_id": "user_id", "doc_id": "item_id"}
    judged = pd.read_parquet(qrels).rename(columns=names)
    test = judged[judged["relevance"] > 0][["user_id", "item_id"]]
    ranking = pd.read_parquet(run).rename(columns=names)
    ranking["rank"] = ranking.groupby("user_id", sort=False)["score"].rank(
        method="first", ascending=False
    )
    asked = {
        "nDCG@10 (binary)": metrics.NDCG(k=10),
        "AP@100": metrics.MAP(k=100),
        "RR@10": metrics.MRR(k=10),
        "R@100": metrics.Recall(k=100),
        "P@10": metrics.Precision(k=10),
    }
    found = calc_metrics(asked, reco=ranking, interactions=test)
    _tell({name: float(value) for name, value in found.items()})


def sklearn_parquet(qrels: str, run: str) -> None:
    """Score a Parquet run, all of whose lists are of one length, with scikit-learn's nDCG."""
    import polars as pl
    from sklearn.metrics import ndcg_score

    lists = pl.scan_parquet(run).join(
        pl.scan_parquet(qrels),
        on=["query_id", "doc_id"],
        how="left",
        maintain_order="left",
    )
    frame = lists.select(
        "query_id", "score", pl.col("relevance").fill_null(0)
    ).collect()
    depth = int((frame["query_id"] != frame["query_id"][0]).arg_max() or frame.height)
    score, label = (
        frame[name].to_numpy().reshape(-1, depth) for name in ("score", "relevance")
    )
    _tell({"nDCG@10 (of the retrieved)": float(ndcg_score(label, score, k=10))})


def ir_measures_text(qrels: str, run: str) -> None:
    """Score a TREC text run with ir_measures and its own readers."""
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    measures = [nDCG @ 10, AP, RR @ 10, R @ 100, P @ 10]
    found = ir_measures.calc_aggregate(
        measures, ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    )
    _tell({str(measure): float(value) for measure, value in found.items()})


def rankstone_on_spark(qrels: str, run: str) -> None:
    """Score Parquet by rankstone on Spark, by the three measures that Spark's own metrics are asked for."""
    import rankstone.spark

    session = _session()
    files = session.read.parquet(qrels), session.read.parquet(run)
    scores = rankstone.spark.evaluate(*files, "nDCG@10 AP R@100")
    _tell({name: value or 0.0 for name, value in scores.to_dict()["run"].items()})
    scores.unpersist()


def ranking_metrics(qrels: str, run: str) -> None:
    """Score Parquet by what Spark brings: lists are made, kept, and looked at by three measures."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as fn

    session = _session()
    ordered = fn.sort_array(fn.collect_list(fn.struct("score", "doc_id")), asc=False)
    lists = session.read.parquet(run).groupBy("query_id").agg(ordered.alias("list"))
    judged = session.read.parquet(qrels).where("relevance > 0")
    truth = judged.groupBy("query_id").agg(fn.collect_list("doc_id").alias("truth"))
    both = truth.join(lists, "query_id", "left").select(
        fn.coalesce("list.doc_id", fn.array()), "truth"
    )
    rows = both.rdd.map(tuple).cache()
    found = RankingMetrics(rows)
    means = {
        "nDCG@10 (binary)": found.ndcgAt(10),
        "AP": found.meanAveragePrecisionAt(1000),
    }
    _tell({**means, "R@100": found.recallAt(100)})


def _session() -> Any:  # noqa: ANN401 - pyspark's SparkSession
    import os

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    building = SparkSession.builder.master("local[2]").config(
        "spark.driver.memory", "6g"
    )
    told = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = building.config(map=told).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def retention_in_sql(files: str) -> None:
    """Count who comes back after 1, 3, 7 and 30 days by DuckDB, on two threads."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET TimeZone = 'UTC'")
    rows = connection.execute(
        """
        WITH days AS (SELECT DISTINCT user_id, time::DATE AS day FROM read_parquet($files)),
        first AS (SELECT user_id, min(day) AS cohort FROM days GROUP BY user_id),
        ends AS (SELECT max(day) AS last FROM days),
        ages AS (SELECT unnest([1, 3, 7, 30]) AS age),
        sizes AS (
            SELECT age, count(*) AS size FROM first, ages, ends WHERE cohort + age <= last GROUP BY age
        ),
        back AS (
            SELECT age, count(*) AS retained FROM days JOIN first USING (user_id), ages
            WHERE day = cohort + age GROUP BY age
        )
        SELECT age, retained / size FROM sizes JOIN back USING (age) ORDER BY age
        """,
        {"files": files},
    ).fetchall()
    _tell({str(age): share for age, share in rows})


def help_imports() -> None:
    """Run ``rankstone --help``, then print how many of NumPy and Polars it has imported."""
    from rankstone.cli import cli

    cli.main(["--help"], standalone_mode=False)
    print(len({"numpy", "polars"} & sys.modules.keys()))


def _dicts(file: str, value: str) -> dict[str, dict[str, Any]]:
    """Read a Parquet file into ``{query: {doc: value}}``, as fast as any of the five ways we tried."""
    import polars as pl

    ids = pl.col("query_id", "doc_id").cast(pl.String)  # the peers know no other
    lists = (
        pl.read_parquet(file)
        .with_columns(ids)
        .group_by("query_id", maintain_order=True)
        .agg("doc_id", value)
    )
    each = zip(lists["query_id"], lists["doc_id"], lists[value], strict=True)
    return {
        query: dict(zip(docs.to_list(), values.to_list(), strict=True))
        for query, docs, values in each
    }


def _pytrec_eval(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    """Evaluate and average; a reciprocal rank below a tenth is none within the first ten."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, set(PYTREC_NAMES.values())).evaluate(
        run
    )
    for values in found.values():
        if values["recip_rank"] < 0.1:  # noqa: PLR2004 - one tenth: the tenth rank
            values["recip_rank"] = 0.0
    _tell(
        {
            name: sum(values[theirs] for values in found.values()) / len(found)
            for name, theirs in PYTREC_NAMES.items()
        }
    )


def _tell(means: dict[str, float]) -> None:
    import json

    print(json.dumps(means))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
