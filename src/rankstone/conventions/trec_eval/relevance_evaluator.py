"""pytrec_eval's interface (``from rankstone import trec_eval as pytrec_eval``), and trec_eval's options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, SupportsFloat

import numpy as np

from rankstone.conventions.trec_eval.line_values import PreparedLines
from rankstone.conventions.trec_eval.output_lines import Requested, lines_of
from rankstone.conventions.trec_eval.trec_settings import Settings
from rankstone.errors import (
    BadValue,
    UnknownMeasure,
    UsageError,
    did_you_mean,
    printable,
)
from rankstone.measures.core.trec_eval_names import NICKNAMES, TREC, split_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_NINTH: Final = 9
#: nickname → measures, as in version 9
supported_nicknames: Final[dict[str, set[str]]] = {
    nickname: {name for name in names if TREC[name].since <= _NINTH}
    for nickname, names in NICKNAMES.items()
}
#: measures that trec_eval 9 computes from plain judgments
supported_measures: Final[set[str]] = supported_nicknames["all_trec"]


class RelevanceEvaluator:
    """Scores of runs by trec_eval's names, with the numbers of trec_eval 9.

    Parameters
    ----------
    query_relevance
        ``{query: {doc: grade}}``; grades are whole numbers of any kind.
    measures
        trec_eval's names and nicknames: ``{"map", "ndcg_cut.10", "P_5,10", "official"}``.
    relevance_level
        The lowest relevant grade.
    judged_docs_only_flag
        True if unjudged documents are removed from the lists.

    Raises
    ------
    UnknownMeasure
        A ``ValueError`` that suggests the nearest measures.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}, "q2": {"d2": 1}}, {"recip_rank", "P.1"})
    >>> evaluator.evaluate({"q1": {"d1": 1.0, "d2": 2.0}, "q3": {"d1": 1.0}})
    {'q1': {'recip_rank': 0.5, 'P_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, SupportsFloat]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - pytrec_eval's signature
    ) -> None:
        if relevance_level < 1:
            raise UsageError(
                f"relevance_level={relevance_level}", expected="a level from 1 up"
            )
        judged = {
            query: {doc: _whole(grade, query, doc) for doc, grade in docs.items()}
            for query, docs in query_relevance.items()
            if docs
        }
        grades = sorted({grade for docs in judged.values() for grade in docs.values()})
        settings = Settings(
            version=_NINTH,
            level=int(relevance_level),
            judged_only=bool(judged_docs_only_flag),
        )
        self._lines = lines_of(_requested(measures), settings, grades)
        self._queries = frozenset(judged)
        self._ready = PreparedLines(judged, self._lines, settings) if judged else None

    def evaluate(
        self, scores: Mapping[Any, Mapping[Any, SupportsFloat]]
    ) -> dict[Any, dict[str, float]]:
        """Return ``{query: {measure: value}}`` for the queries that are judged and answered.

        Parameters
        ----------
        scores
            ``{query: {doc: score}}``; scores are numbers of any kind.
        """
        lists = {
            query: docs
            for query, docs in scores.items()
            if docs and query in self._queries
        }
        if self._ready is None or not lists:
            return {}
        empty = {
            str(query)
            for query, docs in scores.items()
            if not docs and query in self._queries
        }
        results = self._ready(lists, also=empty)
        place = {query: row for row, query in enumerate(results.queries)}
        columns = [
            results.values.get(
                line.name, np.full(len(place), float(line.name == "num_q"))
            )
            for line in self._lines
        ]
        return {
            query: {
                line.name: float(column[place[str(query)]])
                for line, column in zip(self._lines, columns, strict=True)
            }
            for query in scores
            if query in lists or str(query) in empty
        }


def _whole(grade: SupportsFloat, query: object, doc: object) -> float:
    number = float(grade)
    if number != math.floor(number):
        raise BadValue(
            f"the grade {number:g} is not a whole number",
            given=f"query {printable(query)}, document {printable(doc)}",
            expected="whole grades, as in trec_eval",
            fix="use rankstone.evaluate, which accepts fractions",
        )
    return number


def _requested(measures: Iterable[str]) -> list[Requested]:
    """Parse names; lists of parameters of one measure are joined."""
    by_measure: dict[str, set[str]] = {}
    for text in measures:
        apart = split_name(text)
        if apart is None:
            known = [*supported_measures, *supported_nicknames]
            raise UnknownMeasure(
                f"unsupported measure {printable(text)}",
                fix=did_you_mean(text, known, n=3),
            )
        name, parameters = apart
        for member in sorted(supported_nicknames.get(name, {name})):
            by_measure.setdefault(member, set()).update(
                parameters.split(",") if parameters else ()
            )
    lists = {
        name: ",".join(sorted(values, key=_number)) or None
        for name, values in by_measure.items()
    }
    return [
        Requested(trec, lists[name]) for name, trec in TREC.items() if name in lists
    ]


def _number(text: str) -> float:
    return float(text.rpartition("=")[2])


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Aggregate the values of queries as trec_eval does for a measure of that name.

    >>> compute_aggregated_measure("map", [0.25, 0.75]), compute_aggregated_measure("num_ret", [3, 4])
    (0.5, 7.0)
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse the lines of a TREC run into ``{query: {doc: score}}``.

    >>> parse_run(["q1 Q0 d1 1 2.5 mine"])
    {'q1': {'d1': 2.5}}
    """
    run: dict[str, dict[str, float]] = {}
    for line in f_run:
        query, _, doc, _, score, *_ = line.split()
        _without(run.setdefault(query, {}), query, doc)[doc] = float(score)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Parse the lines of TREC judgments into ``{query: {doc: grade}}``.

    >>> parse_qrel(["q1 0 d1 2"])
    {'q1': {'d1': 2}}
    """
    qrels: dict[str, dict[str, int]] = {}
    for line in f_qrel:
        query, _, doc, grade = line.split()
        _without(qrels.setdefault(query, {}), query, doc)[doc] = int(grade)
    return qrels


def _without(docs: dict[str, Any], query: str, doc: str) -> dict[str, Any]:
    if doc in docs:
        raise BadValue(
            f"duplicate document {printable(doc)}", where=f"query {printable(query)}"
        )
    return docs
