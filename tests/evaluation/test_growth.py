"""What grows with the data grows in proportion: work is counted, or timed at two sizes with a wide margin."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankstone
from rankstone.errors import DuplicateRows

if TYPE_CHECKING:
    from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Count the functions that are called while something is done, in whatever thread it starts."""
    met = []

    def meet(_frame: object, event: str, _arg: object) -> None:
        if event in ("call", "c_call"):
            met.append(event)

    threading.setprofile(meet)
    sys.setprofile(meet)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(met)


def copies(rows: int, each: int) -> pl.DataFrame:
    """Return a run of one list in which every document stands so many times."""
    docs = [f"d{row // each}" for row in range(rows)]
    scores = [float(rows - row) for row in range(rows)]
    return pl.DataFrame({"query_id": ["q"] * rows, "doc_id": docs, "score": scores})


@pytest.mark.parametrize(
    "every", [True, False], ids=["one document", "every document twice"]
)
def test_refusing_duplicates_costs_the_same_however_many_there_are(every: bool) -> None:  # noqa: FBT001
    """Ten or ten thousand rows are copies: no call is made for each of them."""

    def refused(rows: int) -> Callable[[], None]:
        run = copies(rows, rows if every else 2)

        def work() -> None:
            with pytest.raises(DuplicateRows, match="document d0 is retrieved"):
                rankstone.evaluate({"q": {"d0": 1}}, run, "RR")

        return work

    few, many = refused(10), refused(10_000)
    few()  # whatever is imported on first use
    assert calls(many) < 2 * calls(few)


def test_copies_of_a_judged_document_are_found_at_once() -> None:
    """A judged document that stands ten thousand times in a list is looked up once."""

    def kept(rows: int) -> Callable[[], object]:
        run = copies(rows, rows)
        return lambda: rankstone.evaluate(
            {"q": {"d0": 1}}, run, "RR", duplicates="keep"
        )

    few, many = kept(10), kept(10_000)
    few()
    assert calls(many) < 2 * calls(few)


def test_means_by_segment_look_at_each_query_once() -> None:
    """A hundred times the segments of the same queries cost little, for no segment looks at all of them."""
    names, docs = [f"q{index}" for index in range(100_000)], {"doc_id": "d"}
    qrels = pl.DataFrame({"query_id": names, **docs, "relevance": 1})
    run = pl.DataFrame({"query_id": names, **docs, "score": 1.0})
    row = pl.Series(range(len(names)))
    table = pl.DataFrame({"query_id": names, "few": row % 20, "many": row % 2_000})
    scores = rankstone.evaluate(qrels, run, "RR", queries=table)

    def seconds(by: str) -> float:
        began = time.process_time()
        assert scores.mean(by=by)["n"].sum() == len(names)
        return time.process_time() - began

    few = seconds("few")
    assert seconds("many") < 15 * few
