"""Measuring whole lists: read → tables beside the run → measure → values per user and run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rankstone.errors import UsageError
from rankstone.evaluation.request import name_runs
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.io.attributes import read_attributes
from rankstone.io.sources import can_be_read_again
from rankstone.measures.core.syntax import parse_only
from rankstone.rankings.rank_similarity.run_similarity import listing_options
from rankstone.rankings.recommendation.beyond_scores import BeyondScores
from rankstone.rankings.recommendation.items import Pairs
from rankstone.rankings.recommendation.list_frame import Codes, ListFrame
from rankstone.rankings.recommendation.list_reading import measure_lists
from rankstone.rankings.recommendation.recommendation_audit import Notes, run_notes, table_summaries
from rankstone.rankings.recommendation.recommendation_measure import OfLists, OfRun
from rankstone.rankings.recommendation.recommendation_tables import Opener, Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.evaluation.scores import RunScores
    from rankstone.io.input_table import Progress
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.list_reading import Reading

    Beyond = OfLists | OfRun

__all__ = ["USUAL", "measured", "of_lists"]

#: what is computed when nobody says what: as much of it as the tables allow
USUAL: Final = (
    "Coverage@10 UserCoverage@10 Gini@10 Entropy(scale=effective)@10 Personalization@10 Novelty@10 "
    "Popularity@10 APLT@10 PopularityLift@10 ILD@10 Calibration@10 Unexpectedness@10 Serendipity@10 "
    "DP@10 EUR@10"
)
_OF_JUDGMENTS: Final = ("duplicate_judgments", "negative")


def measured(
    runs: object,
    measures: Sequence[Beyond],
    *,
    optional: bool,
    items: object,
    history: object,
    qrels: object,
    users: object,
    baseline: object,
    catalogue_size: int | None,
    separator: str,
    columns: Mapping[str, str] | None,
    format_in: str | None,
    progress: Progress | None,
    **options: Any,  # noqa: ANN401 - checked by listing_options
) -> BeyondScores:
    """Measure runs, as :func:`rankstone.beyond` does.

    Parameters
    ----------
    measures
        What to compute.
    optional
        Whether measures that the tables do not allow are left out; otherwise they are refused.
    runs, items, history, qrels, users, baseline, catalogue_size, separator, columns, format_in, progress
        As for :func:`rankstone.beyond`.
    **options
        Likewise.
    """
    judging = {name: options.pop(name) for name in _OF_JUDGMENTS if name in options}
    asked = _Asked(
        runs=name_runs(runs),
        given={"items": items, "history": history, "judgments": qrels, "users": users, "baseline": baseline},
        catalogue_size=_count(catalogue_size),
        separator=separator,
        reading=(columns, format_in, progress),
        rules=listing_options(options),
        judging=AlignmentOptions(**judging),
    )
    opened = asked.opened(measures, optional=optional)
    notes = Notes(table_summaries(opened.tables))
    sources: dict[str, str] = {}
    scored: dict[str, RunScores] = {}
    whole: dict[str, dict[Named, float]] = {}
    for name in asked.runs:
        reading = opened.reading(name)
        sources[name] = reading.source
        notes.runs[name] = run_notes(reading, opened.tables, partial(opened.read, name, None))
        scored[name], whole[name] = measure_lists(reading.frame, opened.tables, opened.measures)
    beside = {
        table: opened.opener.sources.get(table) for table, one in asked.given.items() if one is not None
    }
    return BeyondScores(
        scored,
        cast("Any", opened.measures),
        cast("Any", notes),
        _conventions(asked.rules, asked.judging, opened.measures),
        {"runs": sources, **beside},
        whole=whole,
        opening=replace(asked, reading=(columns, format_in, None)).again,
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """Everything that is given beside the measures; it can be opened more than once."""

    runs: Mapping[str, object]
    given: Mapping[str, object]
    catalogue_size: int | None
    separator: str
    reading: tuple[Mapping[str, str] | None, str | None, Progress | None]
    rules: AlignmentOptions
    judging: AlignmentOptions

    def opened(self, measures: Sequence[Beyond], *, optional: bool) -> _Opened:
        """Read the tables, and the first run beside them."""
        given, opener = self.given, Opener(*self.reading)
        draft = Tables(Codes(), Codes(), catalogue_size=self.catalogue_size)
        items, users = given["items"], given["users"]
        columns, format_in, _ = self.reading
        draft = replace(
            draft,
            items=None if items is None else opener.items(items, draft.item_codes, self.separator),
            users=None if users is None else read_attributes(users, "query_id", columns, format_in),
        )
        there = _promised(draft, given)
        found = _allowed(measures, there) if optional else _checked(measures, there)
        opened = _Opened(self, opener, draft, found)
        first = next(iter(self.runs), None)
        with ThreadPoolExecutor(1) as aside:  # the past is read while the first run is
            past = aside.submit(_with_past, draft, opener, given, self.judging, found)
            if first is not None:
                # ids receive numbers in one order, whichever thread is quicker: those of the past come first
                opened.ahead[first] = opened.read(first, _deepest(found), past.result)
            tables = past.result()
        baseline = given["baseline"]
        if baseline is not None:
            other = opener.run(baseline, "baseline", tables, self.rules, _deepest(found))
            opener.sources["baseline"] = other.source
            tables = replace(tables, baseline=other.frame, _memo={})
        return replace(opened, tables=tables)

    def again(self, measure: Named, run: str) -> tuple[ListFrame, Tables]:
        """Read for one measure of one run once more."""
        one = replace(self, runs={run: self.runs[run]})
        if not all(map(can_be_read_again, (self.runs[run], *self.given.values()))):
            raise UsageError(
                "standard input and pipes can be read once, and an explanation reads everything again",
                fix="write it to a file first",
            )
        opened = one.opened((cast("Beyond", measure),), optional=False)
        return opened.reading(run).frame, opened.tables


@dataclass(frozen=True, eq=False)
class _Opened:
    """What was read, and the runs that can be: those read ahead are given out once."""

    asked: _Asked
    opener: Opener
    tables: Tables
    measures: tuple[Beyond, ...]
    ahead: dict[str, Reading] = field(default_factory=dict)

    def read(self, name: str, k: int | None, before: Callable[[], object] = lambda: None) -> Reading:
        """Read a run, down to rank ``k``; ``before`` is called before its ids receive numbers."""
        return self.opener.run(self.asked.runs[name], name, self.tables, self.asked.rules, k, before)

    def reading(self, name: str) -> Reading:
        """Return a run down to the deepest rank that counts."""
        return self.ahead.pop(name) if name in self.ahead else self.read(name, _deepest(self.measures))


def _promised(draft: Tables, given: Mapping[str, object]) -> Tables:
    """Return the tables as if all were read: whether they are there at all is known before."""
    empty = Pairs(np.empty(0, np.uint64))
    return replace(
        draft,
        history=None if given["history"] is None else empty,
        judged=None if given["judgments"] is None else empty,
        baseline=None if given["baseline"] is None else ListFrame.empty(),
    )


def _deepest(measures: Sequence[Beyond]) -> int | None:
    """Return the deepest rank that counts; ``None`` for whole lists."""
    ranks = [measure.deepest for measure in measures]
    return None if None in ranks else max((rank or 0 for rank in ranks), default=1)


def _with_past(
    tables: Tables,
    opener: Opener,
    given: Mapping[str, object],
    judging: AlignmentOptions,
    measures: Sequence[Beyond],
) -> Tables:
    """Return the tables with past interactions and judgments, as far as they are given."""
    history, qrels = given["history"], given["judgments"]
    return replace(
        tables,
        history=None if history is None else opener.history(history, tables, measures),
        judged=None if qrels is None else opener.judgments(qrels, tables, judging),
        _memo={},
    )


def _count(catalogue_size: int | None) -> int | None:
    if catalogue_size is not None and (isinstance(catalogue_size, bool) or catalogue_size < 1):
        raise UsageError(f"catalogue_size={catalogue_size!r} is no number of items", expected="1 or more")
    return catalogue_size


def of_lists(measures: str | Named | Sequence[str | Named]) -> tuple[Beyond, ...]:
    """Read measures, and refuse those of something else than whole lists."""
    return parse_only((OfLists, OfRun), measures, "is no measure of whole lists")


def _checked(measures: Sequence[Beyond], tables: Tables) -> tuple[Beyond, ...]:
    """Return the measures, or refuse the first that the tables do not allow."""
    for measure in measures:
        measure.check(tables)
    return tuple(measures)


def _allowed(measures: Sequence[Beyond], tables: Tables) -> tuple[Beyond, ...]:
    """Return the measures that the tables allow."""
    found = []
    for measure in measures:
        try:
            measure.check(tables)
        except (UsageError, ValueError):
            continue
        found.append(measure)
    return tuple(found)


def _conventions(
    rules: AlignmentOptions, judging: AlignmentOptions, measures: Sequence[Beyond]
) -> dict[str, Any]:
    """Return every choice the numbers depend on."""
    defaults = {name: value for measure in measures for name, value in measure.default_parameters().items()}
    names = ("order", "score_dtype", "ties", "duplicates", "depth")
    alignment = {name: getattr(rules, name) for name in names}
    if any(isinstance(m, OfLists) and m.relevance() is not None for m in measures):
        alignment |= {name: getattr(judging, name) for name in _OF_JUDGMENTS}
    # a user without a list has no value; one without a relevant item counts 0 where judgments play a part
    alignment |= {"missing": "drop", "empty": "zero"}
    return {"alignment": alignment, "measures": [str(m) for m in measures], "defaults": defaults}
