"""Small worlds in which all measures are scored at once: a world is aligned once, not once a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone import Measure, evaluate
from rankstone.errors import RankstoneError
from rankstone.testing.laws import _cut_at
from rankstone.testing.small_worlds import World, small_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Values = dict[str, tuple[Any, ...]]
#: rows and options of a world → the values of each measure there
_SCORED: dict[tuple[str, ...], dict[Measure, Values]] = {}
#: measure → those that are scored with it
_TOGETHER: dict[Measure, Sequence[Measure]] = {}
#: group of measures, and how its rows were drawn → the world
_WORLDS: dict[tuple[int, int, int, bool], SharedWorld] = {}
_COLUMNS = ("query_id", "value", "numerator", "denominator", "status")


class SharedWorld(World):
    """A world whose values are those of all measures that have the same rows there."""

    def values(self, measure: Measure) -> Values:
        """Return ``{query: (value, numerator, denominator, status)}``."""
        scored = _SCORED.setdefault(_content(self, measure), {})
        if measure not in scored:
            try:
                scored |= self._scored(_TOGETHER[measure], measure)
            except RankstoneError:  # of another measure, perhaps
                scored |= self._scored([measure], measure)
        return scored[measure]

    def _scored(
        self, measures: Sequence[Measure], measure: Measure
    ) -> dict[Measure, Values]:
        tables = self.tables(measure)
        scores = evaluate(
            self.judgments, self.run, measures, **tables, **self.options
        ).per_query
        none = dict.fromkeys(self.judgments["query_id"], (None, None, None, "dropped"))
        by_text = {str(scored): dict(none) for scored in measures}
        for text, query, *numbers in scores.select("measure", *_COLUMNS).iter_rows():
            by_text[text][query] = tuple(numbers)
        return {scored: by_text[str(scored)] for scored in measures}


def share(measures: Iterable[Measure], queries: int, seed: int) -> None:
    """Score these measures together in each world that they share."""
    by_content: dict[tuple[str, ...], list[Measure]] = {}
    for measure in measures:
        content = _content(small_world(measure, queries, seed), measure)
        by_content.setdefault(content, []).append(measure)
    for together in by_content.values():
        cut = [
            other
            for measure in together
            if measure.claims.grows_with_k
            for other in _cut_at(measure)
        ]
        # the first of equal measures counts
        for group in (list(dict.fromkeys(cut)), list(dict.fromkeys(together))):
            _TOGETHER.update(dict.fromkeys(group, group))


def shared_world(
    measure: Measure, queries: int, seed: int = 0, *, ties: bool = False
) -> SharedWorld:
    """Return the small world of a measure, which others share with it."""
    drawn = (id(_TOGETHER[measure]), queries, seed, ties)
    if drawn not in _WORLDS:
        world = small_world(measure, queries, seed, ties=ties)
        _WORLDS[drawn] = SharedWorld(
            world.judgments, world.run, world.options, world.documents
        )
    return _WORLDS[drawn]


def _content(world: World, measure: Measure) -> tuple[str, ...]:
    """Return the rows and options of a world as texts, with the tables that a measure reads."""
    tables = world.tables(measure)
    return (
        world.judgments.write_csv(),
        world.run.write_csv(),
        "" if world.documents is None else world.documents.write_csv(),
        repr(sorted(world.options.items())),
        repr(sorted((tables["queries"] or {}).items())),
    )
