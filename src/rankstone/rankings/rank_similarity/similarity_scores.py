"""The result of comparing two runs: values per query, means, and both lists of a query."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadOption, NotComparable, did_you_mean, printable
from rankstone.measures.core.syntax import parse_measure
from rankstone.rankings.rank_similarity.list_measure import (
    Agreement,
    ListMeasure,
    PairStatus,
)
from rankstone.tables.phrases import check_language
from rankstone.tables.results import Result, data_notes
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.rankings.derivation import Derivation
    from rankstone.rankings.rank_similarity.lists_audit import ListsAudit
    from rankstone.tables.sheet import Details, Kind

_STATUS = pl.Enum([status.name for status in PairStatus])
_NAMES = pl.Series([status.name for status in PairStatus], dtype=_STATUS)


class Similarity(Result, Record):
    """The similarity of the lists of two runs.

    Attributes
    ----------
    names
        The names of the runs; the first is the reference of measures that have one.
    queries
        Query ids: those of the first run in its order, then those of the second only.
    by_measure
        Measure → its values, in the order of ``queries``.
    measures
        The measures, in the given order.
    audit
        The audit of the runs.
    conventions
        Every option and parameter the numbers depend on.
    inputs
        The sources of the runs.

    Examples
    --------
    >>> import rankstone
    >>> similarity = rankstone.diff({"q1": ["d1", "d2", "d3"]}, {"q1": ["d2", "d1", "d4"]}, "Jaccard@3 tau_b")
    >>> similarity.to_dict()
    {'Jaccard@3': 0.5, 'tau_b': -1.0}
    """

    names: tuple[str, str]
    queries: pl.Series
    by_measure: Mapping[ListMeasure, Agreement]
    audit: ListsAudit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any]
    _side_by_side: Callable[[str], pl.DataFrame] = field(repr=False)
    _derive: Callable[..., Derivation] = field(repr=False)

    @property
    def measures(self) -> tuple[ListMeasure, ...]:
        """The measures, in the given order."""
        return tuple(self.by_measure)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per query and measure.

        Columns ``query_id``, ``measure``, ``value`` (null where there is none), ``status`` (see
        ``PairStatus``), and the documents down to the cutoff:
        ``n_a``, ``n_b`` in either list and ``n_common`` in both.
        """
        names = self.queries.cast(pl.String)
        return pl.concat(
            pl.DataFrame(
                {
                    "query_id": names,
                    "measure": pl.repeat(str(measure), len(names), eager=True),
                    "value": pl.Series(agreement.value).fill_nan(None),
                    "status": _NAMES.gather(agreement.status),
                    "n_a": agreement.n_a,
                    "n_b": agreement.n_b,
                    "n_common": agreement.n_common,
                }
            )
            for measure, agreement in self.by_measure.items()
        )

    @cached_property
    def _means(self) -> pl.DataFrame:
        rows = []
        for measure, agreement in self.by_measure.items():
            value = agreement.value[agreement.status == PairStatus.ok]
            # a mean of values alone: nothing is weighed or pooled
            mean = measure.aggregate(
                value, np.ones(len(value)), value, np.ones(len(value))
            )
            spread = [
                float(part(value)) if len(value) else None
                for part in (np.min, np.median, np.max)
            ]
            rows.append(
                (
                    str(measure),
                    mean,
                    *spread,
                    len(value),
                    len(agreement.value) - len(value),
                )
            )
        schema = dict.fromkeys(("value", "min", "median", "max"), pl.Float64)
        counts = {"n": pl.Int64, "n_undefined": pl.Int64}
        frame = pl.DataFrame(
            rows, {"measure": pl.String, **schema, **counts}, orient="row"
        )
        return frame.with_columns(pl.col("value").fill_nan(None))

    def mean(self) -> pl.DataFrame:
        """Return one row per measure: ``measure``, ``value`` (the mean), ``n`` and ``n_undefined``."""
        return self._means.select("measure", "value", "n", "n_undefined")

    def table(self) -> pl.DataFrame:
        """Return one row per measure with ``min``, ``median`` and ``max`` over queries, and the mean."""
        return self._means

    def to_dict(self) -> dict[str, float | None]:
        """Return ``{measure: mean}``."""
        return dict(self._means.select("measure", "value").iter_rows())

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`per_query`."""
        return self.per_query

    def sheet(
        self,
        digits: int = 4,
        query: object = None,
        top: int | None = None,
        ranks: int | None = None,
    ) -> Sheet:
        """Return the means as a sheet, or the lists of one query side by side.

        Parameters
        ----------
        digits
            Decimals.
        query
            The query whose lists are shown.
        top
            The number of queries that changed most, shown below the means.
        ranks
            The number of ranks shown of lists.
        """
        if query is None:
            return means_sheet(self, digits, top)
        return lists_sheet(self, digits, query, ranks)

    def changed(
        self, n: int = 10, measure: str | ListMeasure | None = None
    ) -> pl.DataFrame:
        """Return the queries whose lists differ most, by one measure; by default the first one.

        Returns
        -------
        polars.DataFrame
            ``query_id``, a column for each measure, ``n_a``, ``n_b`` and ``n_common`` of whole
            lists; only queries that have a value, equal ones in their order.
        """
        by = self._measure_named(measure)
        agreement = self.by_measure[by]
        key = agreement.value if by.card.direction == "higher" else -agreement.value
        rows = np.argsort(key, kind="stable")[
            : int((agreement.status == PairStatus.ok).sum())
        ][:n]
        values: dict[str, Any] = {
            str(m): pl.Series(a.value[rows]).fill_nan(None)
            for m, a in self.by_measure.items()
        }
        shown = {"query_id": self.queries.cast(pl.String).gather(rows), **values}
        counts = {
            name: getattr(agreement, name)[rows] for name in ("n_a", "n_b", "n_common")
        }
        return pl.DataFrame({**shown, **counts})

    def _measure_named(self, measure: str | ListMeasure | None) -> ListMeasure:
        if measure is None:
            return self.measures[0]
        parsed = parse_measure(measure)
        if parsed not in self.by_measure:
            raise BadOption(
                f"{parsed} was not computed",
                expected=", ".join(map(str, self.by_measure)),
            )
        return next(m for m in self.by_measure if m == parsed)

    def side_by_side(self, query_id: object, k: int | None = None) -> pl.DataFrame:
        """Return the two lists of a query, rank by rank; the runs are read again for it.

        Parameters
        ----------
        query_id
            The query.
        k
            Only the first ``k`` ranks.

        Returns
        -------
        polars.DataFrame
            ``rank``; ``a`` and ``b``, the documents there; ``a_to``, the rank of a's document in b, and
            ``b_from``, that of b's document in a (null: the list lacks it); ``a_tied`` and ``b_tied``,
            whether its score ties with a neighbour's.
        """
        frame = self._side_by_side(self._checked_query(query_id))
        if k is None:
            return frame
        return frame.head(k)

    def explain(
        self, measure: str | ListMeasure, query_id: object, *, lang: str = "en"
    ) -> Derivation:
        """Return the derivation of the value of one query.

        The runs are read again for this query, and the measure records its terms.

        Parameters
        ----------
        measure
            One of the measures computed.
        query_id
            The query.
        lang
            ``en`` or ``zh``, for headings.

        Examples
        --------
        >>> import rankstone
        >>> similarity = rankstone.diff({"q": ["a", "b"]}, {"q": ["b", "a"]}, "RBO(p=0.9)")
        >>> table, = similarity.explain("RBO(p=0.9)", "q").tables
        >>> table.frame.select("depth", "agreement", "contribution").rows()
        [('1', 0.0, 0.0), ('2', 1.0, 0.9)]
        >>> table.steps
        {'seen': 0.08999999999999998, 'agreement_at_end': 1.0, 'beyond_lists': 0.81}
        """
        check_language(lang)
        return self._derive(
            self._checked_query(query_id), self._measure_named(measure), lang=lang
        )

    def _checked_query(self, query_id: object) -> str:
        """Return the id of a query of one of the runs, or refuse it."""
        query = str(query_id)
        known = self.queries.cast(pl.String)
        if query not in known:
            raise NotComparable(
                f"query {printable(query)} is in neither run",
                given=f"queries {', '.join(printable(name, 40) for name in known[:3])} …",
                fix=did_you_mean(query, known),
            )
        return query

    def notes(self) -> list[str]:
        """Return notes on measures that are below 1 for equal runs with ties.

        >>> import rankstone
        >>> tied = {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}
        >>> rankstone.diff(tied, tied, "tau_a tau_b").notes()
        ['tau_a: a run with ties is below 1 even against itself; by tau_b it is 1']
        """
        if not (self.audit.a.tied and self.audit.b.tied):
            return []
        pairs = [(measure, measure.corrected_for_ties) for measure in self.measures]
        text = "{}: a run with ties is below 1 even against itself; by {} it is 1"
        return [
            text.format(measure, other) for measure, other in pairs if other is not None
        ]

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts: means, notes, audit, conventions, inputs."""
        rows = self._means.iter_rows(named=True)
        return self._reported(
            measures={row.pop("measure"): row for row in rows}, notes=self.notes()
        )


_MOVES: Final[tuple[Kind, ...]] = ("number", "id", "number", "id", "number")


def means_sheet(similarity: Similarity, digits: int, top: int | None) -> Sheet:
    """Return the means as a sheet, with the queries that changed most."""
    means = similarity.table()
    value = (
        "mean"
        if all(measure.agg == "mean" for measure in similarity.measures)
        else "value"
    )
    names = {"value": value, "n": "queries", "n_undefined": "without value"}
    if not means["n_undefined"].sum():
        means = means.drop("n_undefined")
    parts = [Table.of(means, digits=digits, names=names, kinds={"measure": "id"})]
    if top is not None:
        docs = [f"{printable(name, 32)} docs" for name in similarity.names]
        names = {
            "query_id": "query",
            "n_a": docs[0],
            "n_b": docs[1],
            "n_common": "common",
        }
        names |= {str(measure): str(measure) for measure in similarity.measures}
        title = f"changed most by {similarity.measures[0]}"
        parts.append(
            Table.of(similarity.changed(top), title, digits=digits, names=names)
        )
    return Sheet("", parts=tuple(parts), notes=_notes(similarity))


def _notes(similarity: Similarity) -> tuple[str | Details, ...]:
    return (*similarity.notes(), data_notes(similarity.audit, similarity.conventions))


def lists_sheet(
    similarity: Similarity, digits: int, query: object, ranks: int | None
) -> Sheet:
    """Return both lists of a query as a sheet, down to some rank."""
    whole = similarity.side_by_side(query)
    shown = whole if ranks is None else whole.head(ranks)
    rows = tuple(
        (
            str(row["rank"]),
            _listed(row["a"], tied=row["a_tied"]),
            ""
            if row["a"] is None
            else "gone"
            if row["a_to"] is None
            else str(row["a_to"]),
            _listed(row["b"], tied=row["b_tied"]),
            "" if row["b"] is None else _moved(row["b_from"], row["rank"]),
        )
        for row in shown.iter_rows(named=True)
    )
    first, second = (printable(name, 32) for name in similarity.names)
    values = (
        similarity.per_query.filter(query_id=str(query))
        .select("measure", "value", "status")
        .iter_rows()
    )
    values_text = [
        f"{measure} {cell(value, digits=digits)}{'' if status == 'ok' else f' ({status})'}"
        for measure, value, status in values
    ]
    table = Table("", ("rank", first, "now at", second, "moved"), rows, _MOVES)
    notes = []
    if shown.select((pl.col("a_tied") | pl.col("b_tied")).any()).item():
        rule = similarity.conventions["alignment"]["ties"]
        notes = [
            f"~ ties in score with a neighbour; shown in the order of ties={rule}",
            *similarity.notes(),
        ]
    if whole.height > shown.height:
        notes.append(
            f"{counted(whole.height - shown.height, 'more rank')}; --depth N shows and compares the first N"
        )
    line = " · ".join([f"query {printable(query)}", *values_text])
    return Sheet("", parts=(("", (line,)), table), notes=tuple(notes))


def _listed(doc: object, *, tied: bool | None) -> str:
    if doc is None:
        return ""
    return printable(doc) + (" ~" if tied else "")


def _moved(before: int | None, now: int) -> str:
    if before is None:
        return "new"
    if before == now:
        return "="
    return f"{'▲' if before > now else '▼'} {abs(before - now)}"
