"""Clicks as gains, worked: from a log of one list to nDCG, by the formulas of source 002."""

from __future__ import annotations

from math import log2
from typing import Final

import pytest

import rankstone
from rankstone.online.click_judgments import clicks

#: clicks of a list → DCG, and MPD, the greatest there can be, which others call the ideal DCG
_LISTS: Final = [
    (
        [0, 0, 1, 0, 0.5],
        (2**1 - 1) / log2(4) + (2**0.5 - 1) / log2(6),
        1 + (2**0.5 - 1) / log2(3),
    ),
    (
        [0.5, 0, 1],
        (2**0.5 - 1) / log2(2) + (2**1 - 1) / log2(4),
        1 + (2**0.5 - 1) / log2(3),
    ),
    ([1, 0, 1, 1], 1 + 1 / log2(4) + 1 / log2(5), 1 + 1 / log2(3) + 1 / log2(4)),
]
#: what nDCG is then, as printed
_STATED: Final = [0.523443, 0.724796]


def judged(values: list[float]) -> tuple[object, dict[str, list[str]]]:
    docs = [f"d{rank}" for rank in range(1, len(values) + 1)]
    log = {"query_id": ["q"] * len(docs), "doc_id": docs, "clicked": values}
    return clicks(log, "satisfaction"), {"q": docs}


@pytest.mark.parametrize(("values", "dcg", "mpd"), _LISTS)
@pytest.mark.parametrize("ideal", ["list", "judged"])
def test_click_gains(values: list[float], dcg: float, mpd: float, ideal: str) -> None:
    """DCG of 2^v - 1 over log2(rank + 1), unclicked documents keep their ranks; MPD is the ideal DCG."""
    qrels, run = judged(values)
    ndcg = f"nDCG(gain=exp2{'' if ideal == 'judged' else ', ideal=list'})"
    scores = rankstone.evaluate(
        qrels, run, f"DCG(gain=exp2) IDCG(gain=exp2) {ndcg}"
    ).to_dict()["run"]

    assert list(scores.values()) == pytest.approx([dcg, mpd, dcg / mpd], rel=1e-12)


@pytest.mark.parametrize(("position", "stated"), list(enumerate(_STATED)))
def test_as_printed(position: int, stated: float) -> None:
    """The two worked lists, to the digits they are known by."""
    _, dcg, mpd = _LISTS[position]

    assert dcg / mpd == pytest.approx(stated, abs=5e-7)


def test_whole_clicks_need_no_exponent() -> None:
    """Of clicks that are 0 or 1, 2^v - 1 is v; of fractions it is less, by 0.0861 at v = 0.5288 at most."""
    qrels, run = judged([0, 1, 0, 1])
    scores = rankstone.evaluate(qrels, run, "nDCG nDCG(gain=exp2)").to_dict()["run"]
    gaps = {v / 10_000: v / 10_000 - (2 ** (v / 10_000) - 1) for v in range(10_001)}

    assert scores["nDCG"] == scores["nDCG(gain=exp2)"]
    assert max(gaps, key=gaps.__getitem__) == pytest.approx(0.5288, abs=5e-5)
    assert max(gaps.values()) == pytest.approx(0.0861, abs=5e-5)


def test_no_click() -> None:
    """Without a click MPD is 0: no value is made of 0 over 0, the query counts as one without relevance."""
    qrels, run = judged([0, 0])
    scores = rankstone.evaluate(qrels, run, "nDCG(gain=exp2)")

    assert scores.per_query["status"].to_list() == ["no_relevant"]
    assert scores.per_query["value"].to_list() == [0.0]
