"""Several assessors of the same answers: their scores next to each other, and how far they agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.answers.scoring import score_answers
from rankstone.errors import NotComparable, UsageError
from rankstone.measures import parse_measures
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.evaluation.scores import Scores

#: the grades of support
_SUPPORT: Final = (0.0, 0.5, 1.0)
_KEY: Final = ("query_id", "doc_id")
_NOTES: Final = (
    "single: assigned by one of the two only; difference: mean support by the first minus the second",
    "kappa: agreement above chance, 1 at most; low in spite of high agreement if one word is very frequent",
)
#: the most disagreements that are shown
_SHOWN: Final = 10


class AssessorAgreement(Result):
    """How far assessors agree, and what their assignments make of the answers.

    Attributes
    ----------
    pairs
        A row for each two assessors, see :meth:`to_frame`.
    disagreements
        The items on which two differ: ``query_id``, ``item``, ``assessor``, ``support``, ``versus``,
        ``versus_support``.
    scores
        The scores of the answers by each assessor's assignments, over the questions that all have.
    left_out
        The number of questions that not all have.
    """

    def __init__(
        self,
        pairs: pl.DataFrame,
        disagreements: pl.DataFrame,
        scores: Scores,
        left_out: int,
    ) -> None:
        self.pairs, self.disagreements, self.scores, self.left_out = (
            pairs,
            disagreements,
            scores,
            left_out,
        )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each two assessors.

        Returns
        -------
        polars.DataFrame
            ``assessor``, ``versus``; ``items``, which both assigned, and ``single``, which one of them did;
            ``agreement``, the share of items on which they are equal, and ``by_chance``, the share expected
            from how often each uses each word; ``kappa`` and ``weighted_kappa``, the agreement above chance,
            with linear weights in the latter (Cohen 1960, 1968), null where chance explains everything;
            ``difference``, the mean support by the assessor minus that by the other.
        """
        return self.pairs

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "agreement": self.pairs.to_dicts(),
            "disagreements": self.disagreements.to_dicts(),
            "scores": self.scores.to_dict(),
        }

    def sheet(self, digits: int = 4) -> Sheet:
        """Return both tables."""
        counts = f"{counted(self.left_out, 'question')} that not all have: left out of the scores"
        left = [counts] if self.left_out else []
        scores = [
            replace(part, best=frozenset())
            if isinstance(part, Table)
            else part  # an assessor cannot win
            for part in self.scores.sheet(digits).parts
        ]
        differ = self.disagreements
        more = f", {_SHOWN} of {differ.height}" if differ.height > _SHOWN else ""
        shown = Table.of(
            differ.head(_SHOWN),
            f"Items on which they differ{more}",
            digits=1,
            names={"query_id": "query"},
        )
        pairs = Table.of(
            self.pairs,
            "Each two assessors",
            digits=digits,
            names={"by_chance": "by chance"},
        )
        return Sheet(
            "Agreement of assessors",
            parts=(*scores, pairs, *([shown] if differ.height else [])),
            notes=(*_NOTES, *left),
        )


def compare_assessors(
    assessors: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]], measures: MeasuresLike
) -> AssessorAgreement:
    """Compare the assignments of several assessors, people or models, of the same answers.

    Parameters
    ----------
    assessors
        Name → what :func:`nuggets` or :func:`citations` returned for this assessor's assignments.
    measures
        ``"Support(level=vital)"``, ``"CitationP CitationR"``, …

    Raises
    ------
    InputError
        When two assessors have no item in common.

    Examples
    --------
    >>> from rankstone.answers import nuggets
    >>> def assigned(*words):
    ...     facts = [{"id": word[0], "importance": "vital", "assignment": word[1:]} for word in words]
    ...     return nuggets([{"qid": "q", "nuggets": facts}])
    >>> human, model = assigned("1yes", "2partial", "3no", "4no"), assigned("1yes", "2yes", "3no", "4no")
    >>> agreement = compare_assessors({"human": human, "model": model}, "Support").to_frame()
    >>> agreement.select("items", "agreement", "kappa", "difference").row(0)
    (4, 0.75, 0.6, -0.125)
    """
    if len(assessors) < 2:  # noqa: PLR2004 - a pair
        raise UsageError("agreement needs two assessors", given=f"{len(assessors)}")
    cited = any(
        str(measure).startswith("Citation") for measure in parse_measures(measures)
    )
    items = {name: _items(*tables, cited=cited) for name, tables in assessors.items()}
    pairs = [_pair(*two, items) for two in combinations(items, 2)]
    common = set.intersection(
        *({*qrels["query_id"]} for qrels, _ in assessors.values())
    )
    among = pl.col("query_id").is_in(list(common))
    every = max(qrels["query_id"].n_unique() for qrels, _ in assessors.values())
    scores = score_answers(
        {
            name: (q.filter(among), r.filter(among))
            for name, (q, r) in assessors.items()
        },
        measures,
    )
    return AssessorAgreement(
        pl.DataFrame([row for row, _ in pairs]),
        pl.concat([rows for _, rows in pairs]),
        scores,
        every - len(common),
    )


def _pair(
    assessor: str, versus: str, items: Mapping[str, pl.DataFrame]
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the agreement of two, and the items on which they differ."""
    first = items[assessor]
    second = items[versus]
    both = first.join(second, on=_KEY, how="inner", suffix="_other")
    if not both.height:
        raise NotComparable(
            f"{assessor} and {versus} assigned nothing in common",
            expected="assignments of the same nuggets or citations of the same queries",
            fix="are these two systems instead of two assessors? compare them as systems",
        )
    a = both["score"].to_numpy()
    b = both["score_other"].to_numpy()
    joint = np.array(
        [[np.mean((a == x) & (b == y)) for y in _SUPPORT] for x in _SUPPORT]
    )
    chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    weights = 1 - np.abs(np.subtract.outer(_SUPPORT, _SUPPORT))
    differ = both.filter(pl.col("score") != pl.col("score_other")).select(
        "query_id",
        item="doc_id",
        assessor=pl.lit(assessor),
        support="score",
        versus=pl.lit(versus),
        versus_support="score_other",
    )
    return {
        "assessor": assessor,
        "versus": versus,
        "items": both.height,
        "single": first.height + second.height - 2 * both.height,
        "agreement": float(np.trace(joint)),
        "by_chance": float(np.trace(chance)),
        "kappa": _kappa(np.eye(len(_SUPPORT)), joint, chance),
        "weighted_kappa": _kappa(weights, joint, chance),
        "difference": float(np.mean(a - b)),
    }, differ


def _kappa(weights: Any, joint: Any, chance: Any) -> float | None:  # noqa: ANN401 - matrices
    seen = float((weights * joint).sum())
    expected = float((weights * chance).sum())
    return None if np.isclose(expected, 1) else (seen - expected) / (1 - expected)


def _items(qrels: pl.DataFrame, run: pl.DataFrame, *, cited: bool) -> pl.DataFrame:
    """Return what was assigned, without sentences, whose support is that of their best citation."""
    return run.join(qrels.filter(relevance=1), on=_KEY, how="semi") if cited else run
