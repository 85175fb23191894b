"""Where a peer's number of the same name is another number, why, and what we call that number.

An agreement that was not expected fails, too: then the peer has changed, or we have.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.oracle.worlds import close

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parity

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Difference:
    """A peer's number that is not what its name says here.

    Attributes
    ----------
    peer, spelling
        The library, and how it spells the measure.
    measure
        Our measure of that name, under our defaults.
    reason
        Why the numbers differ.
    canonical, options
        Our measure and alignment that give the peer's number.
    qrels, run
        An example in which the difference shows.
    """

    peer: str
    spelling: str
    measure: str
    reason: str
    canonical: str
    qrels: Qrels
    run: Run
    options: dict[str, Any] = field(default_factory=dict)


TIED: Final[Run] = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}

KNOWN_DIFFERENCES: Final = [
    Difference(
        "ir_measures",
        "RR@10",
        "RR@10",
        "its MS MARCO provider breaks ties by ascending id, while its RR follows trec_eval's descending",
        "RR@10",
        {"q": {"a": 1}},
        TIED,
        {"ties": "docid_asc"},
    ),
    Difference(
        "ir_measures",
        "Judged@1",
        "Judged@1",
        "its Judged breaks ties by ascending id",
        "Judged@1",
        {"q": {"a": 1}},
        TIED,
        {"ties": "docid_asc"},
    ),
    Difference(
        "ir_measures",
        "SetF(beta=0.5)",
        "F(beta=0.5)",
        "it hands beta to trec_eval, which takes it for beta squared",
        f"F(beta={math.sqrt(0.5)!r})",
        {"q": {"a": 1, "x": 1, "y": 1}},
        {"q": {"a": 2.0, "b": 1.0}},
    ),
    Difference(
        "pytrec_eval",
        "set_F.0.5",
        "F(beta=0.5)",
        "trec_eval's x in set_F_x is beta squared",
        f"F(beta={math.sqrt(0.5)!r})",
        {"q": {"a": 1, "x": 1, "y": 1}},
        {"q": {"a": 2.0, "b": 1.0}},
    ),
    Difference(
        "pytrec_eval",
        "map",
        "AP",
        "it averages over answered queries only (trec_eval without -c)",
        "AP",
        {"q": {"a": 1}, "missing": {"a": 1}},
        {"q": {"a": 1.0}},
        {"missing": "drop"},
    ),
    Difference(
        "pytrec_eval",
        "recip_rank",
        "RR",
        "it keeps scores in single precision, so these two tie",
        "RR",
        {"q": {"a": 1}},
        {"q": {"a": 1.000000001, "b": 1.0}},
        {"score_dtype": "float32"},
    ),
    Difference(
        "scikit-learn",
        "ndcg_score",
        "nDCG",
        "its ideal list is the passed list in its best order",
        "nDCG(ideal=list)",
        {"q": {"a": 1, "x": 3}},
        {"q": {"b": 2.0, "a": 1.0}},
    ),
    Difference(
        "scikit-learn",
        "ndcg_score",
        "nDCG",
        "it averages over all orders of tied documents",
        "nDCG",
        {"q": {"a": 3, "b": 2}},
        TIED,
        {"ties": "expected"},
    ),
]


def by_pytrec_eval(qrels: Qrels, run: Run, name: str) -> float:
    """Return the mean over the queries it returns."""
    peer = pytest.importorskip(
        "pytrec_eval", reason="pytrec_eval is not installed: make parity"
    )
    scores = peer.RelevanceEvaluator(qrels, {name}).evaluate(run)
    values = [next(iter(row.values())) for row in scores.values()]
    return math.fsum(values) / len(values)


def by_ir_measures(qrels: Qrels, run: Run, name: str) -> float:
    """Return its aggregate."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its parser uses names that Python is about to drop
        peer = pytest.importorskip(
            "ir_measures", reason="ir_measures is not installed: make parity"
        )
        measure = peer.parse_measure(name)
        return float(peer.calc_aggregate([measure], qrels, run)[measure])


def by_scikit_learn(qrels: Qrels, run: Run, name: str) -> float:
    """Return its score of the one query, the passed list being the run's."""
    peer = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed: make parity"
    )
    grades = [qrels["q"].get(doc, 0) for doc in run["q"]]
    return float(getattr(peer, name)([grades], [list(run["q"].values())]))


ASK: Final[dict[str, Callable[[Qrels, Run, str], float]]] = {
    "pytrec_eval": by_pytrec_eval,
    "ir_measures": by_ir_measures,
    "scikit-learn": by_scikit_learn,
}


def ours(difference: Difference, measure: str, **options: Any) -> float:
    """Return our mean."""
    values = rankstone.evaluate(
        difference.qrels, difference.run, [measure], **options
    ).to_dict()["run"]
    value = next(iter(values.values()))
    assert value is not None
    return value


@pytest.mark.parametrize(
    "difference", KNOWN_DIFFERENCES, ids=lambda d: f"{d.peer} {d.spelling}: {d.reason}"
)
def test_the_difference_shows(difference: Difference) -> None:
    """The peer's number is not ours of that name; if they agree now, the table is out of date."""
    theirs = ASK[difference.peer](difference.qrels, difference.run, difference.spelling)
    assert not close(theirs, ours(difference, difference.measure), 1e-6), (
        "an agreement nobody expected"
    )


@pytest.mark.parametrize(
    "difference", KNOWN_DIFFERENCES, ids=lambda d: f"{d.peer} {d.spelling}: {d.reason}"
)
def test_the_canonical_text_is_the_peers_number(difference: Difference) -> None:
    """Under the measure and options the table names, our number is the peer's."""
    theirs = ASK[difference.peer](difference.qrels, difference.run, difference.spelling)
    assert close(
        theirs, ours(difference, difference.canonical, **difference.options), 1e-12
    )
