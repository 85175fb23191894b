"""Subclasses of ir_measures' classes, in a module of their own: importing it imports the library."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.conventions.convention_files import convention
from rankstone.conventions.evaluation_by_convention import evaluate_by
from rankstone.errors import UsageError
from rankstone.evaluation.labelled_table import Given
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import columns_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankstone._basics import Names

_LIBRARY: Any = import_module("ir_measures")


class Ours(_LIBRARY.Measure):  # type: ignore[misc] # the library ships no types
    """A measure of rankstone, with its options."""

    NAME = "rankstone"
    __name__ = "rankstone"
    SUPPORTED_PARAMS = {name: _LIBRARY.ParamInfo() for name in ("measure", "options")}  # noqa: RUF012

    def __init__(self, measure: Any, options: Any) -> None:  # noqa: ANN401
        super().__init__(measure=measure, options=options)

    def __repr__(self) -> str:
        options = ",".join(
            f"{name}={value}" for name, value in self.params["options"].items()
        )
        return f"rankstone:{self.params['measure']}{f'[{options}]' if options else ''}"


class Rankstone(_LIBRARY.providers.Provider):  # type: ignore[misc]
    """The provider: which measures rankstone computes, and their evaluators."""

    NAME = "rankstone"

    def supports(self, measure: Any) -> bool:  # noqa: ANN401
        """Return True for a measure of ours, or one of ir_measures that rankstone has, too."""
        return isinstance(measure, Ours) or _known(measure)

    def _evaluator(self, measures: Iterable[Any], qrels: object) -> Any:  # noqa: ANN401
        table = _table(
            _LIBRARY.util.QrelsConverter(qrels, strict=False),
            ("relevance", "iteration"),
        )
        return _Evaluation(list(measures), table)


class _Evaluation(_LIBRARY.providers.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: pl.DataFrame) -> None:
        self.qrels, self.ids = (
            qrels,
            {str(q): q for q in qrels["query_id"].unique().to_list()},
        )
        super().__init__(measures, set(self.ids.values()))

    def iter_calc(self, run: object) -> Iterator[Any]:
        table = _table(_LIBRARY.util.RunConverter(run), ("score",))
        for measure in self.measures:
            if table.is_empty():
                # this is how PyTerrier requests the value of queries without results
                values: Iterable[Any] = [(query, measure.DEFAULT) for query in self.ids]
            else:
                values = _values(
                    measure, self.qrels, table, ours=isinstance(measure, Ours)
                )
            for query, value in values:
                yield _LIBRARY.Metric(
                    query_id=self.ids.get(query, query), measure=measure, value=value
                )


def _values(
    measure: Any,  # noqa: ANN401 - ir_measures.Measure
    qrels: pl.DataFrame,
    run: pl.DataFrame,
    *,
    ours: bool,
) -> Iterable[Any]:
    """Return ids and values of the queries that have one."""
    if ours:
        own_measure = measure.params["measure"]
    else:
        own_measure = convention("ir_measures").read(str(measure))[0].measure

    if columns_read([own_measure]):
        judged = qrels.rename({"iteration": "subtopic"})
    else:
        judged = _without_subtopics(qrels)

    if ours:
        ready = Prepared(judged, own_measure, **measure.params["options"])
        scores = ready.evaluate(run)
    else:
        scores = evaluate_by("ir_measures", Given(judged, run), str(measure))
    return scores.per_query.select("query_id", "value").drop_nulls().iter_rows()


def _without_subtopics(qrels: pl.DataFrame) -> pl.DataFrame:
    """Return one judgment for each document: the last, as ir_measures does."""
    return qrels.drop("iteration").unique(
        ["query_id", "doc_id"], keep="last", maintain_order=True
    )


def _known(measure: Any) -> bool:  # noqa: ANN401 - ir_measures.Measure
    measure.validate_params()
    try:
        return not convention("ir_measures").read(str(measure))[0].entry.of_lists
    except UsageError:
        return False


def _table(converter: Any, further: Names) -> pl.DataFrame:  # noqa: ANN401 - a converter of ir_measures
    """Return judgments or a run as a table, without a loop over its rows if it is a frame already."""
    names = ("query_id", "doc_id", *further)
    if converter.predict_type()[0] == "pd_dataframe":
        frame = converter.as_pd_dataframe()
        columns = {
            name: frame[name].to_list() for name in names if name in frame.columns
        }
    else:
        rows = list(converter.as_namedtuple_iter())
        columns = {name: [getattr(row, name) for row in rows] for name in names}
    columns.setdefault("iteration", ["0"] * len(columns["query_id"]))
    ids = {
        name: [str(i) for i in columns[name]]
        for name in ("query_id", "doc_id", "iteration")
    }
    return pl.DataFrame(columns | ids).select(names)
