"""Several assessors of the same answers: their scores next to each other, and how far they agree."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.answers.scoring import score_answers
from rankstone.errors import NotComparable, UsageError
from rankstone.measures import parse_measures
from rankstone.tables.phrases import phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.evaluation.scores import Scores

#: the grades of support
_SUPPORT: Final = (0.0, 0.5, 1.0)
_KEY: Final = ("query_id", "doc_id")
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
        self.pairs = pairs
        self.disagreements = disagreements
        self.scores = scores
        self.left_out = left_out

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

    def sheet(self, digits: int = 4, *, lang: str = "en") -> Sheet:
        """Return the scores, the agreement of each two, and the items on which they differ."""
        say = partial(phrase, "agreement", lang=lang)
        parts = []
        for means in self.scores.sheet(digits, lang=lang).parts:
            # an assessor cannot win
            if isinstance(means, Table):
                alike = replace(means, best=frozenset())
                parts.append(alike)
        parts.append(_table(self.pairs, say("pairs"), digits, say))

        differ = self.disagreements
        if differ.height:
            title = say("differ")
            if differ.height > _SHOWN:
                title = say("differ_more", shown=_SHOWN, of=differ.height)
            parts.append(_table(differ.head(_SHOWN), title, 1, say))

        notes = [say("about_pairs"), say("about_kappa")]
        if self.left_out:
            notes.append(say("left_out", n=self.left_out))
        return Sheet(say("title"), parts=tuple(parts), notes=tuple(notes))


def _table(
    frame: pl.DataFrame, title: str, digits: int, say: Callable[..., str]
) -> Table:
    """Return a table whose headings are phrases."""
    names = {}
    for name in frame.columns:
        names[name] = say(name)
    return Table.of(frame, title, digits=digits, names=names)


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
    cited = False
    for measure in parse_measures(measures):
        if measure.name.startswith("Citation"):
            cited = True

    items = {}
    for name, tables in assessors.items():
        items[name] = _items(*tables, cited=cited)
    pairs = [_pair(*two, items) for two in combinations(items, 2)]
    queries = []
    for qrels, _ in assessors.values():
        queries.append({*qrels["query_id"]})
    common = set.intersection(*queries)
    among = pl.col("query_id").is_in(list(common))
    every = max(map(len, queries))
    shared = {}
    for name, (qrels, run) in assessors.items():
        shared[name] = qrels.filter(among), run.filter(among)

    figures = []
    disagreements = []
    for row, differ in pairs:
        figures.append(row)
        disagreements.append(differ)
    return AssessorAgreement(
        pl.DataFrame(figures),
        pl.concat(disagreements),
        score_answers(shared, measures),
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
    figures = {
        "assessor": assessor,
        "versus": versus,
        "items": both.height,
        "single": first.height + second.height - 2 * both.height,
        "agreement": float(np.trace(joint)),
        "by_chance": float(np.trace(chance)),
        "kappa": _kappa(np.eye(len(_SUPPORT)), joint, chance),
        "weighted_kappa": _kappa(weights, joint, chance),
        "difference": float(np.mean(a - b)),
    }
    return figures, differ


def _kappa(weights: Any, joint: Any, chance: Any) -> float | None:  # noqa: ANN401 - matrices
    seen = float((weights * joint).sum())
    expected = float((weights * chance).sum())
    if np.isclose(expected, 1):
        return None
    return (seen - expected) / (1 - expected)


def _items(qrels: pl.DataFrame, run: pl.DataFrame, *, cited: bool) -> pl.DataFrame:
    """Return what was assigned, without sentences, whose support is that of their best citation."""
    if not cited:
        return run
    citations = qrels.filter(relevance=1)
    return run.join(citations, on=_KEY, how="semi")
