"""Runs that know where documents stand and nothing else: ranks are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankstone
from rankstone.errors import BadOption, MissingColumn

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
#: rows in another order than ranks are
RANKED = pl.DataFrame(
    {"query_id": ["q1", "q2", "q1"], "doc_id": ["d1", "d3", "d2"], "rank": [2, 1, 1]}
)
RR = {"RR": (1 / 2 + 1 / 1) / 2}


@pytest.mark.parametrize("name", ["rank", "position"])
@pytest.mark.parametrize("form", ["frame", "csv", "parquet", "dict"])
def test_ranks_are_the_order(tmp_path: Path, name: str, form: str) -> None:
    """A rank or a position and no score: the ranks are the order, and the options say so."""
    frame: Any = RANKED.rename({"rank": name})
    forms: dict[str, Any] = {"frame": frame, "dict": frame.to_dict(as_series=False)}
    if form not in forms:
        forms[form] = tmp_path / f"run.{form}"
        getattr(frame, f"write_{form}")(forms[form])
    scores = rankstone.evaluate(QRELS, {"run": forms[form]}, "RR")

    assert scores.to_dict() == {"run": RR}
    assert scores.conventions["alignment"]["order"] == "rank"


def test_ranks_where_files_are_looked_at_otherwise(tmp_path: Path) -> None:
    """Checks, comparisons of rankings, judgments made of a run and evaluation in parts take ranks, too."""
    RANKED.write_csv(tmp_path / "run.csv")
    run = tmp_path / "run.csv"

    assert rankstone.check(QRELS, run).ok
    assert rankstone.diff(
        run, {"q1": ["d2", "d1"], "q2": ["d3"]}, "tau_a"
    ).to_dict() == {"tau_a": 1.0}
    assert rankstone.qrels_from_run(run, 1)["doc_id"].sort().to_list() == ["d2", "d3"]
    several = {
        "ranked": run,
        "scored": {"q1": {"d2": 0.1, "d1": 0.2}, "q2": {"d3": 1.0}},
    }
    record = rankstone.evaluate(QRELS, several, "RR", memory="1GB").to_dict()
    assert record == {"ranked": RR, "scored": {"RR": 1.0}}


def test_scores_stay_the_order() -> None:
    """Where there are scores, ranks and positions are columns like any other, whatever they hold."""
    scored = RANKED.with_columns(score=pl.Series([0.9, 0.5, 0.8]))
    assert rankstone.evaluate(QRELS, scored, "RR").to_dict() == {"run": {"RR": 1.0}}
    words = scored.rename({"rank": "position"}).with_columns(position=pl.lit("top"))
    assert rankstone.evaluate(QRELS, words, "RR").to_dict() == {"run": {"RR": 1.0}}


def test_places_of_lists() -> None:
    """One position for a whole list is not where its documents stand; a list of them is."""
    lists = pl.DataFrame(
        {"query_id": ["q1", "q2"], "doc_id": [["d2", "d1"], ["d3"]], "position": [7, 8]}
    )
    assert rankstone.evaluate(QRELS, lists, "RR").to_dict() == {"run": RR}
    turned = lists.with_columns(position=pl.Series([[2, 1], [1]]))
    assert rankstone.evaluate(QRELS, turned, "RR").to_dict() == {"run": {"RR": 1.0}}


def test_options_of_scores_need_scores() -> None:
    """What is refused of scores is refused of ranks, too, not ignored."""
    with pytest.raises(BadOption, match="needs scores, but order=rank"):
        rankstone.evaluate(QRELS, RANKED, "RR", score_above=1)
    with pytest.raises(MissingColumn, match="no column score"):
        rankstone.evaluate(QRELS, RANKED.drop("rank"), "RR")
