"""One alignment, many measures: every value that the queries have."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.asked import check, columns_read
from rankstone.beside import require_columns
from rankstone.errors import RankstoneError
from rankstone.evaluation import Evaluator, options_for
from rankstone.hits.joining import joined
from rankstone.hits.options import Alignment
from rankstone.identifying.facts import Facts
from rankstone.identifying.rounding import roundings
from rankstone.road import Road

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankstone.hits.align import Chunk
    from rankstone.hits.arrays import Bools
    from rankstone.hits.ragged import Hits
    from rankstone.identifying.rounding import Rounding
    from rankstone.io import Table
    from rankstone.measures import Measure
    from rankstone.measures.base import Scored

__all__ = ["Sweeper", "Swept"]

#: which queries count is decided afterwards, so that all of them are brought
_ALL: Final = {"missing": "zero", "extra": "keep", "empty": "zero"}


@dataclass(frozen=True, eq=False)
class Swept:
    """What measures gave under one alignment.

    Attributes
    ----------
    scores
        Measure → rule for queries without a relevant document → scores; measures that cannot be computed
        are left out.
    rounded
        Measure → what is written down on the way → scores.
    missing, extra
        bool ``[queries]``: judged but not answered, answered but not judged.
    """

    scores: Mapping[Measure, Mapping[str, Scored]]
    rounded: Mapping[Measure, Mapping[Rounding, Scored]]
    missing: Bools
    extra: Bools


class Sweeper(Evaluator):
    """Judgments and a run that are read once, and measured in many ways.

    Parameters
    ----------
    qrels, run
        As for :func:`rankstone.evaluate`; one run.
    measures
        Whose columns of the judgments are read.
    name
        What the run is called in messages.
    **given
        As for :class:`~rankstone.Evaluator`.
    """

    lists: Table

    def __init__(
        self,
        qrels: object,
        run: object,
        measures: Any,  # noqa: ANN401 - as Evaluator
        name: str = "run",
        **given: Any,  # noqa: ANN401 - as Evaluator
    ) -> None:
        super().__init__(qrels, measures, **given)
        self._table = self._table.in_memory()
        self._given = self.options
        vars(self).update(self._held(run, name))

    def of_run(self, run: object, name: str) -> Sweeper:
        """Return the same judgments with another run."""
        other = copy(self)
        vars(other).update(self._held(run, name))
        return other

    def _held(self, run: object, name: str) -> dict[str, Any]:
        lists = self._read(run, name).in_memory()
        return {"lists": lists, "options": options_for(lists, self._given)}

    def facts(self) -> Facts:
        """Look at the data under the usual options."""
        table, (judgments, exclude) = self._matched(self.lists)
        road = Road(judgments, self.options, self.measures, exclude, self._collapse, self._queries)
        _, audit = road.walk(table, road.measure)
        return Facts.of(self._judgments_audit(), audit, judgments, self.lists, self.options.order)

    def sweep(
        self,
        measures: Mapping[Measure, Iterable[str]],
        options: Mapping[str, Any],
        *,
        rounded: bool = False,
    ) -> Swept:
        """Score the run in many ways under one alignment.

        Parameters
        ----------
        measures
            What to compute, each under which rules for queries without a relevant document; what cannot be
            computed under these options is passed over.
        options
            Options of alignment, ``one_group`` perhaps among them.
        rounded
            Whether to compute them with numbers written down on the way, too.

        Raises
        ------
        RankstoneError
            When the run cannot be aligned so.
        """
        alignment = Alignment(**{**{n: v for n, v in options.items() if n != "one_group"}, **_ALL})
        able = [measure for measure in measures if self._can(measure, alignment)]
        ready = self.under(alignment, one_group=bool(options.get("one_group")))
        table, (judgments, exclude) = ready._matched(self.lists)  # noqa: SLF001 - a copy of ourselves
        road = Road(judgments, alignment, tuple(able), exclude, self._collapse, self._queries)
        chunks, _ = road.aligned(table, lambda chunk, hits: (chunk, hits))
        parts = [_Part(*one) for one in _as_few(chunks)]
        several = len(judgments.queries) > 1
        scores, written = {}, {}
        for measure in able:
            try:
                rules = tuple(measures[measure])
                scores[measure] = _scored(measure, parts, rules)
                if rounded:
                    written[measure] = _rounded(measure, parts, rules[0], several=several)
            except RankstoneError:  # grades it has no gain for, values out of range
                continue
        missing = np.concatenate([~part.hits.found for part in parts])
        return Swept(scores, written, missing, np.concatenate([part.codes for part in parts]) < 0)

    def _can(self, measure: Measure, alignment: Alignment) -> bool:
        """Say whether the data suffice for a measure, and it is defined under such options."""
        try:
            check(alignment, (measure,))
            require_columns(self._queries, (measure,))
        except RankstoneError:
            return False
        return set(columns_read((measure,))) <= set(self._further)


@dataclass(frozen=True, eq=False)
class _Part:
    """Hits of some queries; ``undefined`` where their lists are empty and have no value for that."""

    hits: Hits
    codes: Any  # int64 [queries]
    undefined: bool

    def scored(self, measure: Measure, empty: str) -> Scored:
        found = measure.score(self.hits, empty)
        return found.without_value() if self.undefined else found


def _as_few(chunks: Sequence[tuple[Chunk, Hits]]) -> Iterator[tuple[Hits, Any, bool]]:
    """Bring hits together: measuring a few queries takes as long as measuring many."""
    plain = [(chunk, hits) for chunk, hits in chunks if not chunk.undefined and hits.pool is None]
    if plain:
        yield joined([hits for _, hits in plain]), np.concatenate([chunk.codes for chunk, _ in plain]), False
    for chunk, hits in chunks:
        if chunk.undefined or hits.pool is not None:
            yield hits, chunk.codes, chunk.undefined


def _scored(measure: Measure, parts: Sequence[_Part], rules: Sequence[str]) -> dict[str, Scored]:
    """Score under every rule for queries without a relevant document, where there are such queries."""
    counts = [measure.relevant_count(part.hits) for part in parts]
    empty = any(count is not None and not count.all() for count in counts)
    found = {
        rule: _together([part.scored(measure, rule) for part in parts])
        for rule in (rules if empty else rules[:1])
    }
    return {rule: found.get(rule, found[rules[0]]) for rule in rules}


def _rounded(
    measure: Measure, parts: Sequence[_Part], empty: str, *, several: bool
) -> dict[Rounding, Scored]:
    """Score with numbers written down on the way."""
    scored = [(part.hits, part.scored(measure, empty)) for part in parts]
    return {
        one: _together([replace(found, value=one.values(measure, hits, found)) for hits, found in scored])
        for one in roundings(several=several)
    }


def _together(parts: Sequence[Scored]) -> Scored:
    return parts[0].joined(parts, np.arange(sum(len(part.value) for part in parts)))
