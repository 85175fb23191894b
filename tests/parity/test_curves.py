"""The same curves as trec_eval 9 (through pytrec_eval) and scikit-learn, on random and on real data."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.oracle.worlds import close
from tests.parity.peers import Qrels, Run, read_qrels, read_run
from tests.real_data import data

import rankstone

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.parity
pytrec_eval = pytest.importorskip(
    "pytrec_eval", reason="pytrec_eval is not installed: make parity"
)
metrics = pytest.importorskip(
    "sklearn.metrics", reason="scikit-learn is not installed: make parity"
)

CASES = 400
LEVELS = [f"{level / 10:.2f}" for level in range(11)]


# -- pytrec_eval: iprec_at_recall ----------------------------------------------------------------------
def collection(draw: np.random.Generator) -> tuple[Qrels, Run]:
    """Draw judgments and a run: up to 40 judged, ties, unjudged, queries without a relevant document."""
    qrels: Qrels = {}
    run: Run = {}
    for query in ("q1", "q2", "q3"):
        docs = [f"d{number}" for number in range(60)]
        judged = draw.choice(docs, draw.integers(1, 40), replace=False)
        share = draw.choice([0.0, 0.1, 0.5, 0.9])
        qrels[query] = {
            doc: int(draw.random() < share) * int(draw.integers(1, 4)) for doc in judged
        }
        shown = draw.choice(docs, draw.integers(1, 60), replace=False)
        scores = draw.integers(0, draw.choice([5, 10_000]), len(shown))
        run[query] = {
            doc: float(score) for doc, score in zip(shown, scores, strict=True)
        }
    return qrels, run


def theirs(qrels: Qrels, run: Run) -> dict[str, list[float]]:
    """Return ``{query: precision at recall 0, 0.1 … 1}``."""
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    return {
        query: [row[f"iprec_at_recall_{level}"] for level in LEVELS]
        for query, row in scores.items()
    }


def ours(qrels: Any, run: Any, curve: str, **options: Any) -> dict[str, list[float]]:
    """Return ``{query: heights}`` of the queries that have a curve."""
    points = rankstone.curve(qrels, run, curve, resamples=2, **options).per_query
    grouped = points.group_by("query_id", maintain_order=True).agg("y")
    return dict(grouped.iter_rows())


def agree(expected: list[float], values: list[float]) -> bool:
    return all(
        close(item, other, 1e-12) for item, other in zip(expected, values, strict=True)
    )


def test_trec9_on_random_collections() -> None:
    """PR(interp=trec9) is iprec_at_recall of every query; without a relevant document theirs is 0."""
    compared = without = 0
    for seed in range(CASES):
        qrels, run = collection(np.random.Generator(np.random.Philox(seed)))
        expected = theirs(qrels, run)
        values = ours(
            qrels, run, "PR(interp=trec9)", score_dtype="float32", missing="drop"
        )
        for query, row in expected.items():
            if max(qrels[query].values()) > 0:
                assert agree(row, values[query]), (seed, query)
                compared += 1
            else:
                assert query not in values
                assert not any(row)
                without += 1
    assert compared > 600
    assert without > 100


def test_exact_and_trec9_differ_where_rounding_moves_a_level() -> None:
    """With R = 3 and hits at 1, 2, 5, trec_eval lets two documents make up recall 0.7, though 2/3 is less."""
    qrels = {"q": dict.fromkeys(["d1", "d2", "d5"], 1)}
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 8)}}
    exact, trec9, trec10 = (
        ours(qrels, run, f"PR(interp={i})")["q"] for i in ("exact", "trec9", "trec10")
    )

    assert theirs(qrels, run)["q"] == pytest.approx(trec9, abs=1e-12)
    assert [level for level in range(11) if exact[level] != trec9[level]] == [7]
    assert [level for level in range(11) if exact[level] != trec10[level]] == [7, 8]


REAL = [
    ("trec_eval-fixtures", "qrels.test", "results.test"),
    ("cacm", "qrels.cacm.txt", "run.bm25.txt"),
    ("trec-dl19-passage", "qrels.dl19-passage.txt", "run.BM25.txt.gz"),
    ("trec-covid-r3", "qrels.covid-round3.txt", "runs/factum-sparse.gz"),
]


@pytest.mark.parametrize(("folder", "judgments", "run"), REAL)
def test_trec9_on_real_collections(folder: str, judgments: str, run: str) -> None:
    """Every level of every query, and their means, read from the files."""
    qrels, ranked = data(folder, judgments), data(folder, run)
    judged = read_qrels(qrels)
    expected = {
        q: row
        for q, row in theirs(judged, read_run(ranked)).items()
        if max(judged[q].values()) > 0
    }
    curve = rankstone.curve(
        qrels,
        ranked,
        "PR(interp=trec9)",
        score_dtype="float32",
        missing="drop",
        resamples=2,
    )
    rows = dict(
        curve.per_query.group_by("query_id", maintain_order=True).agg("y").iter_rows()
    )

    assert set(rows) == set(expected)
    assert all(agree(row, rows[query]) for query, row in expected.items())
    means = [
        math.fsum(column) / len(expected)
        for column in zip(*expected.values(), strict=True)
    ]
    assert agree(means, curve.mean()["mean"].to_list())


# -- scikit-learn: one labelled list -------------------------------------------------------------------
Labelled = tuple["NDArray[np.int64]", "NDArray[np.float64]"]


def labelled(draw: np.random.Generator) -> Labelled:
    """Draw labels and scores, often tied; both classes occur."""
    count = int(draw.integers(2, 60))
    labels = (draw.random(count) < draw.choice([0.1, 0.5, 0.9])).astype(np.int64)
    labels[:2] = [0, 1]
    scores = draw.integers(0, draw.choice([3, 10, 1000]), count) / 8
    order = draw.permutation(count)
    return labels[order], scores[order]


def frame(labels: NDArray[np.int64], scores: NDArray[np.float64]) -> pl.DataFrame:
    return pl.DataFrame({"query_id": "q", "score": scores, "label": labels})


def corners(curves: rankstone.Curves) -> list[tuple[float, float]]:
    return curves.per_query.select("x", "y").rows()


def test_precision_recall_curve() -> None:
    """PR(interp=none) passes through scikit-learn's points, which end in an extra (recall 0, precision 1)."""
    for seed in range(CASES):
        labels, scores = labelled(np.random.Generator(np.random.Philox(seed)))
        precision, recall, _ = metrics.precision_recall_curve(
            labels, scores, drop_intermediate=True
        )
        assert (recall[-1], precision[-1]) == (0, 1)
        theirs_ = set(zip(recall[:-1].tolist(), precision[:-1].tolist(), strict=True))
        curve = rankstone.curve(
            table=frame(labels, scores), curves="PR(interp=none)", resamples=2
        )
        ours_ = set(corners(curve))
        every, their_every = ours_, metrics.precision_recall_curve(labels, scores)
        assert len(theirs_) == len(ours_), seed
        assert _near(theirs_, ours_), seed
        assert _near(
            every,
            set(zip(their_every[1].tolist(), their_every[0].tolist(), strict=True)),
            part=True,
        )
        area = sum((r - before) * p for (before, _), (r, p) in _steps(corners(curve)))
        assert close(
            area, float(metrics.average_precision_score(labels, scores)), 1e-12
        )


def _steps(
    points: list[tuple[float, float]],
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(zip([(0.0, 0.0), *points], points, strict=False))


def _near(
    values: set[tuple[float, float]],
    others: set[tuple[float, float]],
    *,
    part: bool = False,
) -> bool:
    """Tell whether points are the same to 1e-12, or all of some among the others."""
    rows, all_ = np.array(sorted(values)), np.array(sorted(others))
    distance = np.abs(rows[:, None, :] - all_[None, :, :]).max(axis=2)
    return bool(
        (distance.min(axis=1) < 1e-12).all()
        and (part or (distance.min(axis=0) < 1e-12).all())
    )


def test_roc_curve_and_auc() -> None:
    """ROC passes through scikit-learn's points, tied scores making one straight piece; areas are equal."""
    for seed in range(CASES):
        labels, scores = labelled(np.random.Generator(np.random.Philox(seed)))
        false, true, _ = metrics.roc_curve(labels, scores, drop_intermediate=False)
        every = set(zip(false.tolist(), true.tolist(), strict=True))
        curve = rankstone.curve(
            table=frame(labels, scores), curves="ROC(negatives=candidates)", resamples=2
        )
        ours_ = corners(curve)
        assert _near(set(ours_), every, part=True), seed
        assert all(_on(point, ours_) for point in every), seed
        x, y = zip(*ours_, strict=True)
        assert close(
            float(np.trapezoid(y, x)),
            float(metrics.roc_auc_score(labels, scores)),
            1e-12,
        )
        assert close(float(metrics.auc(false, true)), float(np.trapezoid(y, x)), 1e-12)


def _on(point: tuple[float, float], corners_: list[tuple[float, float]]) -> bool:
    """Tell whether a point lies on one of the straight pieces between corners."""
    (x, y), near = point, 1e-12
    return any(
        x0 - near <= x <= x1 + near
        and y0 - near <= y <= y1 + near
        and abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) <= near
        for (x0, y0), (x1, y1) in pairwise(corners_)
    )
