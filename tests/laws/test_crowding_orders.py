"""Sources against their slow derivation, in any world: order, ties and depth."""

from __future__ import annotations

import zlib
from typing import Any

from hypothesis import assume, given
from tests.oracle import crowding
from tests.oracle.oracle import lists_of, orders, read_measure
from tests.oracle.worlds import World, options, values, worlds

import rankstone

MEASURES = ("Sources", "Sources@1", "Sources@3", "SourceShare", "SourceShare@2")
OPEN = ("expected", "best", "worst")


def source_of(doc: object) -> str:
    """Return where a document is from."""
    return "abc"[zlib.crc32(str(doc).encode()) % 3]


@given(world=worlds(), chosen=options("order", "score_dtype", "ties", "depth"))
def test_sources_are_those_of_what_is_shown(
    world: World, chosen: dict[str, Any]
) -> None:
    """Judged or not, every document down to the cutoff counts; a missing list has no source, and no share."""
    assume(chosen.get("ties") not in OPEN)
    world = world.under(**chosen)
    documents = {str(doc): {"source": source_of(doc)} for _, doc, _ in world.run}
    scores = rankstone.evaluate(
        world.judgments(),
        world.table(),
        list(MEASURES),
        documents=documents,
        **world.options,
    )
    lists = lists_of(world.run)
    for text in MEASURES:
        spec = read_measure(text)
        for query in {query for query, _, _ in world.qrels}:
            order = next(iter(orders(lists.get(query, []), world.options)))
            shown = [source_of(doc) for doc in order[: chosen.get("depth")]]
            wanted = crowding.FORMULAS[spec.name](shown, spec)
            assert values(scores, text)[str(query)] == wanted
