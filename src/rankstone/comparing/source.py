"""Scores per query, wherever they come from, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.comparing.judged import judged_among
from rankstone.comparing.saved import read_scores
from rankstone.errors import BadOption, RankstoneError, UsageError, nearest, printable
from rankstone.measures import parse_measure, parse_measures
from rankstone.measures.named import Named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.audit import Audit
    from rankstone.measures import Measure
    from rankstone.measures.named import Span
    from rankstone.scores import Scores

__all__ = ["MEANS", "Source", "check_means", "named_among"]

#: how queries may become one number for their differences to be compared
MEANS: Final = ("mean", "weighted")


@dataclass(frozen=True, eq=False)
class Source:
    """Scores per query, wherever they come from.

    Attributes
    ----------
    runs, measures
        In their order; measure → which direction is better.
    tables
        Run and measure → ``query_id``, ``value``, ``weight``.
    judged
        Run → ``query_id``, ``value``: Judged@k, and its name; ``None`` where nobody knows.
    relevant_alone
        Whether only relevant documents are judged, so that Judged@k is P@k.
    grouped
        Measures whose units are not queries.
    spans
        Measure → its lowest and highest value, ``None`` where there is no bound.
    """

    runs: tuple[str, ...]
    measures: dict[str, str]
    tables: dict[tuple[str, str], pl.DataFrame]
    judged: tuple[str, dict[str, pl.DataFrame]] | None
    grouped: frozenset[str]
    audit: Audit | None
    conventions: Mapping[str, Any]
    inputs: Mapping[str, Any]
    spans: Mapping[str, Span]
    relevant_alone: bool = False

    @classmethod
    def of(cls, scores: Scores, measures: Sequence[Measure]) -> Source:
        """Take the scores that an evaluation gave."""
        check_means(measures)
        weighted = [str(measure) for measure in measures if measure.agg == "weighted"]
        weight = pl.when(pl.col("measure").is_in(weighted)).then("weight").otherwise(1.0)
        grouped = frozenset(str(measure) for measure in measures if measure.unit is not None)
        frame = scores.per_query.filter(~pl.col("measure").is_in(list(grouped))).with_columns(weight=weight)
        tables = tables_of(frame)
        if grouped:
            units = scores.per_unit.rename({"unit": "query_id"}).with_columns(weight=pl.lit(1.0))
            tables |= tables_of(units)
        return cls(
            tuple(scores.runs),
            {str(measure): measure.card.direction for measure in measures},
            tables,
            judged_among(scores),
            grouped,
            scores.audit,
            scores.conventions,
            scores.inputs,
            {str(measure): measure.span for measure in measures},
        )

    @classmethod
    def saved(cls, source: object, measures: object, columns: Mapping[str, str] | None = None) -> Source:
        """Take scores that somebody saved; ``columns`` bring along how CSV files are written."""
        frame, sources = read_scores(source, columns)
        known = {
            text: _known(text, "direction", "higher") for text in frame["measure"].unique(maintain_order=True)
        }
        if measures is None:
            chosen = {text: way for text, way in known.items() if way != "neither"} or known
        else:
            chosen = {text: known[text] for text in named_among(measures, tuple(known))}
        runs = tuple(frame["run"].unique(maintain_order=True))
        inputs = {"scores": sources}
        spans = {text: _known(text, "span", (None, None)) for text in chosen}
        return cls(runs, chosen, tables_of(frame), judged_among(frame), frozenset(), None, {}, inputs, spans)


def check_means(measures: Sequence[Measure]) -> None:
    """Refuse measures whose queries do not become one number by a mean."""
    for measure in measures:
        if measure.agg not in MEANS:
            raise BadOption(
                f"{measure}: agg={measure.agg} is no mean, so differences of queries do not add up to it",
                fix="compare it under agg=mean, or agg=weighted",
            )


def tables_of(frame: pl.DataFrame) -> dict[tuple[str, str], pl.DataFrame]:
    parts = frame.select("run", "measure", "query_id", "value", "weight").partition_by(
        "run", "measure", as_dict=True, include_key=False, maintain_order=True
    )
    return {(str(key[0]), str(key[1])): part for key, part in parts.items()}


def _known(text: str, fact: str, otherwise: Any) -> Any:  # noqa: ANN401 - whatever a card holds
    """Return a fact about a measure by its text, ``otherwise`` for one that is not known."""
    try:
        measure = parse_measure(text)
        return measure.span if fact == "span" else getattr(measure.card, fact)
    except RankstoneError:
        return otherwise


def named_among(asked: object, known: Sequence[str]) -> list[str]:
    """Return those of the known texts that name the measures asked for, however they are spelled."""
    found = []
    for item in _one_by_one(asked, known):
        text = next((name for name in known if name == str(item) or _same(name, item)), None)
        if text is None:
            close = nearest(str(item), known, n=1)
            raise UsageError(
                f"there are no scores of {printable(item)}",
                expected=", ".join(map(printable, known[:20])),
                fix=f"did you mean {printable(close[0])}?" if close else None,
            )
        found.append(text)
    return list(dict.fromkeys(found))


def _one_by_one(asked: object, known: Sequence[str]) -> list[object]:
    """Return what is asked for one by one; a text may hold several names that nobody but its author knows."""
    found: list[object] = []
    for item in [asked] if isinstance(asked, (str, Named)) or not isinstance(asked, Iterable) else asked:
        if not isinstance(item, str) or item in known:
            found.append(item)
            continue
        try:
            found += parse_measures(item)
        except RankstoneError:
            found += item.replace(",", " ").split()
    return found


def _same(name: str, item: object) -> bool:
    try:
        return parse_measure(name) == parse_measure(item)  # type: ignore[arg-type]
    except RankstoneError:
        return False
