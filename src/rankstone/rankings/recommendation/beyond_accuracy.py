"""Measures runs beyond accuracy: reads tables and runs, and returns values per user and run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rankstone._basics import Record
from rankstone.errors import UsageError
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.request import name_runs
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.io.attributes import read_attributes
from rankstone.io.sources import can_be_read_again
from rankstone.measures.core.syntax import parse_only
from rankstone.rankings.rank_similarity.list_ordering import ordering_options
from rankstone.rankings.rank_similarity.run_similarity import settings_of
from rankstone.rankings.recommendation.beyond_scores import BeyondScores
from rankstone.rankings.recommendation.items import Pairs
from rankstone.rankings.recommendation.list_frame import Codes, ListFrame
from rankstone.rankings.recommendation.list_reading import measure_lists
from rankstone.rankings.recommendation.opened_tables import Opener
from rankstone.rankings.recommendation.recommendation_audit import (
    BeyondAudit,
    audit_run,
    describe_tables,
)
from rankstone.rankings.recommendation.recommendation_measure import (
    PerListMeasure,
    WholeRunMeasure,
)
from rankstone.rankings.recommendation.recommendation_tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Columns, Progress
    from rankstone.evaluation.scores import RunScores
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.recommendation.list_reading import RunLists

    Beyond = PerListMeasure | WholeRunMeasure

#: the default measures, of which those are computed that the tables allow
DEFAULT_MEASURES: Final = (
    "Coverage@10 UserCoverage@10 Gini@10 Entropy(scale=effective)@10 Personalization@10 Novelty@10 "
    "Popularity@10 APLT@10 PopularityLift@10 ILD@10 Calibration@10 Unexpectedness@10 Serendipity@10 "
    "DP@10 EUR@10"
)
_JUDGMENT_OPTIONS: Final = ("duplicate_judgments", "negative")


def measure_runs(
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
    columns: Columns | None,
    format_in: str | None,
    progress: Progress | None,
    by_ranks: bool = False,
    **options: Any,  # noqa: ANN401 - checked by listing_options
) -> BeyondScores:
    """Measure runs, as :func:`rankstone.beyond` does.

    Parameters
    ----------
    measures
        The measures.
    optional
        True to leave out measures that the tables do not allow; otherwise they are refused.
    runs, items, history, qrels, users, baseline, catalogue_size, separator, columns, format_in, progress
        As for :func:`rankstone.beyond`.
    by_ranks
        True if ranks order the lists even beside scores.
    **options
        Likewise.
    """
    judging = {name: options.pop(name) for name in _JUDGMENT_OPTIONS if name in options}
    _check_catalogue_size(catalogue_size)
    request = _Request(
        runs=name_runs(runs),
        side_tables={
            "items": items,
            "history": history,
            "judgments": qrels,
            "users": users,
            "baseline": baseline,
        },
        catalogue_size=catalogue_size,
        separator=separator,
        reading=(columns, format_in, progress),
        by_ranks=by_ranks,
        ordering=ordering_options(options),
        judging=AlignmentOptions(**judging),
    )
    inputs = request.read(measures, optional=optional)
    audit = BeyondAudit(describe_tables(inputs.tables, inputs.opener.notes))
    sources: dict[str, str] = {}
    scored: dict[str, RunScores] = {}
    whole: dict[str, dict[Named, float]] = {}
    for name in request.runs:
        reading = inputs.reading(name)
        sources[name] = reading.source
        audit.runs[name] = audit_run(
            reading, inputs.tables, partial(inputs.read, name, None)
        )
        scored[name], whole[name] = measure_lists(
            reading.frame, inputs.tables, inputs.measures
        )
    of_tables = {
        name: inputs.opener.sources.get(name)
        for name, table in request.side_tables.items()
        if table is not None
    }

    conventions = settings_of(request.ordering, inputs.measures)
    if any(_reads_relevance(measure) for measure in inputs.measures):
        conventions["alignment"] |= {
            name: getattr(request.judging, name) for name in _JUDGMENT_OPTIONS
        }
    # a user without a list has no value; with judgments, one without a relevant item counts 0
    conventions["alignment"] |= {"missing": "drop", "empty": "zero"}
    for name, run in scored.items():
        outside = outside_means(run.by_measure, conventions["alignment"])
        audit.runs[name] = replace(audit.runs[name], **outside)
    return BeyondScores(
        scored,
        cast("Any", inputs.measures),
        cast("Any", audit),
        conventions,
        {"runs": sources, **of_tables},
        whole=whole,
        opening=replace(request, reading=(columns, format_in, None)).read_again,
    )


def _check_catalogue_size(size: int | None) -> None:
    """Refuse a size of the catalogue that is no count."""
    if size is not None and (isinstance(size, bool) or size < 1):
        raise UsageError(
            f"catalogue_size={size!r} is not a number of items", expected="1 or more"
        )


def _reads_relevance(measure: Beyond) -> bool:
    """Return whether a measure asks which items are relevant."""
    return isinstance(measure, PerListMeasure) and measure.relevance() is not None


class _Request(Record):
    """The runs, tables and options of a call, which can be read more than once."""

    runs: Mapping[str, object]
    side_tables: Mapping[str, object]
    catalogue_size: int | None
    separator: str
    reading: tuple[Mapping[str, str] | None, str | None, Progress | None]
    by_ranks: bool
    ordering: AlignmentOptions
    judging: AlignmentOptions

    def read(self, measures: Sequence[Beyond], *, optional: bool) -> _Inputs:
        """Read the tables and the first run."""
        items, history, qrels, users, baseline = self.side_tables.values()
        opener = Opener(*self.reading, by_ranks=self.by_ranks)
        columns, format_in, _ = self.reading
        codes = Codes()
        tables = Tables(
            codes,
            Codes(),
            items=None if items is None else opener.items(items, codes, self.separator),
            users=None
            if users is None
            else read_attributes(users, "query_id", columns, format_in),
            catalogue_size=self.catalogue_size,
        )
        kept = self._computable(measures, tables, optional=optional)

        def read_past() -> Tables:
            return replace(
                tables,
                history=None
                if history is None
                else opener.history(history, tables, kept),
                judged=None
                if qrels is None
                else opener.judgments(qrels, tables, self.judging),
                _memo={},
            )

        inputs = _Inputs(self, opener, tables, kept)
        first = next(iter(self.runs), None)
        # the history is read at the same time as the first run
        with ThreadPoolExecutor(1) as aside:
            past = aside.submit(read_past)
            if first is not None:
                # ids get numbers in a fixed order, whichever thread is faster: the history comes first
                inputs.ahead[first] = inputs.read(first, _deepest(kept), past.result)
            tables = past.result()
        if baseline is not None:
            other = opener.run(
                baseline, "baseline", tables, self.ordering, _deepest(kept)
            )
            opener.sources["baseline"], opener.notes["baseline"] = (
                other.source,
                other.read_as,
            )
            tables = replace(tables, baseline=other.frame, _memo={})
        return replace(inputs, tables=tables)

    def _computable(
        self, measures: Sequence[Beyond], tables: Tables, *, optional: bool
    ) -> tuple[Beyond, ...]:
        """Return the measures that the given tables allow; refuse the others unless they are optional."""
        # checks ask which tables there are, not what is in them: these are not read yet
        no_pairs = Pairs(np.empty(0, np.uint64))
        sources = self.side_tables
        tables = replace(
            tables,
            history=None if sources["history"] is None else no_pairs,
            judged=None if sources["judgments"] is None else no_pairs,
            baseline=None if sources["baseline"] is None else ListFrame.empty(),
        )
        kept = []
        for measure in measures:
            try:
                measure.check(tables)
            except (UsageError, ValueError):
                if not optional:
                    raise
            else:
                kept.append(measure)
        return tuple(kept)

    def read_again(self, measure: Named, run: str) -> tuple[ListFrame, Tables]:
        """Read one run and the tables again for one measure."""
        if not all(
            map(can_be_read_again, (self.runs[run], *self.side_tables.values()))
        ):
            raise UsageError(
                "standard input and pipes can be read once, and an explanation reads everything again",
                fix="write it to a file first",
            )
        request = replace(self, runs={run: self.runs[run]})
        inputs = request.read((cast("Beyond", measure),), optional=False)
        return inputs.reading(run).frame, inputs.tables


class _Inputs(Record):
    """The tables and measures, and a reader of runs; a run that was read ahead is returned once."""

    request: _Request
    opener: Opener
    tables: Tables
    measures: tuple[Beyond, ...]
    ahead: dict[str, RunLists] = field(default_factory=dict)

    def read(
        self, name: str, k: int | None, before: Callable[[], object] = lambda: None
    ) -> RunLists:
        """Read a run down to rank ``k``; ``before`` is called before its ids get numbers."""
        return self.opener.run(
            self.request.runs[name], name, self.tables, self.request.ordering, k, before
        )

    def reading(self, name: str) -> RunLists:
        """Return a run down to the deepest cutoff."""
        if name in self.ahead:
            return self.ahead.pop(name)
        return self.read(name, _deepest(self.measures))


def _deepest(measures: Sequence[Beyond]) -> int | None:
    """Return the deepest cutoff; ``None`` for whole lists."""
    ranks = [measure.deepest for measure in measures]
    if None in ranks:
        return None
    return max((rank or 0 for rank in ranks), default=1)


def parse_beyond(measures: str | Named | Sequence[str | Named]) -> tuple[Beyond, ...]:
    """Parse measures, and refuse those that are not of whole lists."""
    return parse_only(
        (PerListMeasure, WholeRunMeasure), measures, "is not a measure of whole lists"
    )
