"""What the comparisons with other tools share: readers, ways to ask peers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from tests.oracle.worlds import close

import rankstone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

#: pytrec_eval's name of a measure and ours
TREC_NAMES = {
    "map": "AP",
    "map_cut_2": "AP@2",
    "map_cut_5": "AP@5",
    "P_1": "P@1",
    "P_5": "P@5",
    "P_20": "P@20",
    "recall_2": "R@2",
    "recall_5": "R@5",
    "ndcg": "nDCG",
    "ndcg_cut_2": "nDCG@2",
    "ndcg_cut_10": "nDCG@10",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "success_1": "Success@1",
    "success_5": "Success@5",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "set_P": "P(denom=n)",
    "set_recall": "R",
    "set_F": "F",
}


def lines(path: Path) -> Iterator[list[str]]:
    """Yield the columns of every line that is no comment."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def read_qrels(path: Path) -> Qrels:
    """Read TREC judgments."""
    qrels: Qrels = {}
    for query, _, doc, grade, *_ in lines(path):
        qrels.setdefault(query, {})[doc] = int(grade)
    return qrels


def read_run(path: Path) -> Run:
    """Read a TREC run."""
    run: Run = {}
    for query, _, doc, _, score, *_ in lines(path):
        run.setdefault(query, {})[doc] = float(score)
    return run


def ours(
    qrels: Any, run: Any, measures: list[str], **options: Any
) -> dict[str, dict[str, float | None]]:
    """Return ``{query: {measure: value}}``."""
    frame = rankstone.evaluate(qrels, run, measures, **options).per_query
    values: dict[str, dict[str, float | None]] = {}
    for query, measure, value in frame.select(
        "query_id", "measure", "value"
    ).iter_rows():
        values.setdefault(query, {})[measure] = value
    return values


def disagreements(
    expected: Mapping[str, Mapping[str, float]],
    values: Mapping[str, Mapping[str, float | None]],
) -> list[str]:
    """Return a line for every number of the peer that we do not have to 1e-12."""
    return [
        f"{query} {measure}: peer {value!r}, rankstone {values.get(query, {}).get(measure)!r}"
        for query, row in expected.items()
        for measure, value in row.items()
        if not close(value, values.get(query, {}).get(measure, float("nan")), 1e-12)
    ]


DOCS = ["d1", "d10", "d2", "D3", "é", "\uff5e", "\U0001d51e", "z"]


@st.composite
def collections(
    draw: st.DrawFn, *, ties: bool = True, negative: bool = True
) -> tuple[Qrels, Run]:
    """Draw judgments and a run with unjudged documents, missing and unjudged queries, and ties.

    Every query has a grade of 0 or more: where all are negative, pytrec_eval brings Python down.
    """
    grades = st.integers(-2 if negative else 0, 4)
    names = ["q1", "q2", "q10"]
    qrels = {
        query: draw(
            st.dictionaries(st.sampled_from(DOCS), grades, min_size=1, max_size=7)
        )
        for query in names
    }
    for docs in qrels.values():
        if max(docs.values()) < 0:
            docs["d1"] = draw(st.integers(0, 4))
    scores = (
        st.sampled_from([0.0, 0.5, 1.0, 1.5])
        if ties
        else st.integers(-1000, 1000).map(float)
    )
    run = {}
    for query in [
        *draw(st.lists(st.sampled_from(names), min_size=1, unique=True)),
        "nobody",
    ]:
        shown = draw(
            st.lists(st.sampled_from(DOCS), min_size=1, max_size=8, unique=True)
        )
        drawn = draw(
            st.lists(scores, min_size=len(shown), max_size=len(shown), unique=not ties)
        )
        run[query] = dict(zip(shown, drawn, strict=True))
    return qrels, run
