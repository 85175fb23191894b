"""Small worlds for Hypothesis: judgments and runs with everything that goes wrong in real ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import strategies as st
from tests.oracle import diversity, trec
from tests.oracle.oracle import Id, Row, Score, align, read_measure, scores
from tests.oracle.pairs import CANDIDATES

import rankstone
from rankstone.hits.extras.pool_members import JudgmentGroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.oracle.oracle import Facts

#: texts whose order by UTF-8 bytes differs from their order by UTF-16 units, by length, or by number
TEXTS: tuple[Id, ...] = (
    "d1",
    "d10",
    "d2",
    "D3",
    "é",
    "\uff5e",
    "\U0001d51e",
    "a b"[:1],
)
NUMBERS: tuple[Id, ...] = (9, 10, 100, 2, -1, 30)
TEXT_QUERIES: tuple[Id, ...] = ("q1", "q10", "q2", "ü")
NUMBER_QUERIES: tuple[Id, ...] = (1, 10, 2, 7)
EXTRA: dict[type, Id] = {str: "nobody", int: 99}

WHOLE = (0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
FRACTIONS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
TIED = (2.0, 1.0, 1.0, 0.5, 0.0, -0.0, -3.0)


#: parsed once, as the same measures are drawn again and again
parsed = cache(rankstone.parse_measure)


@dataclass(frozen=True)
class World:
    """Judgment rows and run rows, in file order, and the options they are aligned under."""

    qrels: tuple[Row, ...]
    run: tuple[Row, ...]
    options: dict[str, Any] = field(default_factory=dict)
    exclude: tuple[tuple[Id, Id], ...] = ()
    hollow: tuple[Id, ...] = ()

    def under(self, **options: Any) -> World:
        """Return the same rows under other options."""
        return replace(self, options={**self.options, **options})

    def judgments(self, measures: Iterable[str] = ()) -> pl.DataFrame:
        """Return the judgments as a frame, with subtopics and propensities where measures read them."""
        kinds = [parsed(text) for text in measures]
        table = frame(self.qrels, "relevance")
        if any(JudgmentGroups in getattr(kind, "requires", ()) for kind in kinds):
            rows = [
                (query, doc, grade)
                for query, _, doc, grade in diversity.split(self.qrels)
            ]
            names = [subtopic for _, subtopic, _, _ in diversity.split(self.qrels)]
            table = frame(rows, "relevance").with_columns(
                subtopic=pl.Series(names, dtype=pl.String)
            )
        if any("propensity" in getattr(kind, "judgment_columns", ()) for kind in kinds):
            chance = [diversity.propensity(doc) for doc in table["doc_id"]]
            table = table.with_columns(propensity=pl.Series(chance, dtype=pl.Float64))
        if any("forbidden" in getattr(kind, "judgment_columns", ()) for kind in kinds):
            grade = {(query, doc): grade for query, doc, grade in self.qrels}
            pairs = table.select("query_id", "doc_id").rows()
            marks = [diversity.is_forbidden(pair[1], grade[pair]) for pair in pairs]
            table = table.with_columns(forbidden=pl.Series(marks, dtype=pl.Boolean))
        return table

    def table(self) -> pl.DataFrame:
        """Return the run as a frame; with empty lists a row each list."""
        number = "rank" if self.options.get("order") == "rank" else "score"
        rows = frame(self.run, number)
        if not self.hollow:
            return rows
        lists = rows.group_by("query_id", maintain_order=True).all()
        empty = pl.DataFrame(
            {"query_id": self.hollow}, {"query_id": rows["query_id"].dtype}
        )
        none = [
            pl.lit([], lists.schema[name]).alias(name) for name in lists.columns[1:]
        ]
        return pl.concat([lists, empty.with_columns(none)])

    def evaluate(self, measures: Iterable[str]) -> rankstone.Scores:
        """Let rankstone do it."""
        out = None
        if self.exclude:
            requested, docs = zip(*self.exclude, strict=True)
            out = pl.DataFrame({"query_id": requested, "doc_id": docs})
        texts, options = list(measures), {"candidates": CANDIDATES, **self.options}
        late = any(getattr(parsed(text), "query_columns", ()) for text in texts)
        names = {query for rows in (self.qrels, self.run) for query, _, _ in rows}
        place = {
            query: {"session": str(query), "position": diversity.PLACE}
            for query in names
        }
        sessions = place if late else None
        return rankstone.evaluate(
            self.judgments(texts),
            self.table(),
            texts,
            exclude=out,
            queries=sessions,
            **options,
        )

    def possible(self, *, named: bool = False) -> dict[Id, dict[Facts, int]]:
        """Let the oracle align; it refuses nothing, so rules that do are left out."""
        rules = {name: rule for name, rule in self.options.items() if rule != "error"}
        options = {"candidates": CANDIDATES, **rules}
        return align(
            self.qrels, self.run, options, self.exclude, named=named, hollow=self.hollow
        )


def frame(rows: Sequence[Row], number: str) -> pl.DataFrame:
    """Return rows as a frame with our column names."""
    kind = pl.String if rows and isinstance(rows[0][0], str) else pl.Int64
    doc_kind = pl.String if rows and isinstance(rows[0][1], str) else pl.Int64
    schema = {"query_id": kind, "doc_id": doc_kind, number: pl.Float64}
    return pl.DataFrame([(q, d, float(x)) for q, d, x in rows], schema, orient="row")


def values(scored: rankstone.Scores, measure: str) -> dict[str, float | None]:
    """Return ``{query: value}`` of one measure."""
    part = scored.per_query.filter(pl.col("measure") == measure)
    return dict(part.select("query_id", "value").iter_rows())


def differences(
    world: World, measures: Sequence[str], within: float = 1e-12
) -> list[str]:
    """Return a line for every value or status in which engine and oracle differ."""
    names = {read_measure(measure).name for measure in measures}
    scored = world.evaluate(measures)
    possible = world.possible(
        named=not names.isdisjoint((*diversity.NAMED, *trec.GROUPED))
    )
    numbers: dict[str, dict[str, tuple[float | None, str]]] = {
        measure: {} for measure in measures
    }
    for measure, query, value, status in scored.per_query.select(
        "measure", "query_id", "value", "status"
    ).iter_rows():
        numbers[measure][query] = value, status
    lines = []
    for measure in measures:
        expected = scores(possible, measure, world.options)
        if world.options.get("no_results") == "undefined":
            # which queries ``empty`` leaves out depends on the judgments alone
            expected |= {
                query: Score(None, "undefined")
                for query in map(str, world.hollow)
                if query in expected
            }
        for query in {**expected, **numbers[measure]}:
            ours = expected.get(query)
            theirs = numbers[measure].get(query)
            if ours is None or theirs is None:
                lines.append(f"{measure} {query}: oracle {ours}, engine {theirs}")
                continue
            value, status = theirs
            same = (
                value is ours.value
                if None in (value, ours.value)
                else close(value, ours.value, within)
            )
            if measure.startswith(("AP", "R")):
                status = (
                    "ok" if status == "no_ideal" else status
                )  # nothing over nothing is plainly 0
            if not same or status != ours.status:
                lines.append(f"{measure} {query}: oracle {ours}, engine {theirs}")
    return lines


def close(item: float | None, other: float | None, within: float) -> bool:
    """Tell whether two numbers agree, absolutely or relatively."""
    assert item is not None
    assert other is not None
    return abs(item - other) <= within * max(1.0, abs(item), abs(other))


@st.composite
def worlds(
    draw: st.DrawFn,
    *,
    ties: bool = True,
    grades: Sequence[float] | None = None,
    negative: bool = True,
    longest: int = 5,
    scattered: bool | None = None,
    complete: bool = False,
) -> World:
    """Draw judgments and a run.

    Parameters
    ----------
    ties
        Whether scores may tie.
    grades
        The scale; drawn when None.
    negative
        Whether grades below zero occur.
    longest
        The longest list.
    scattered
        Whether a query's rows are spread over the file; drawn when None.
    complete
        Whether every query is judged, answered and has a relevant document, and every retrieved
        document is judged.
    """
    docs, queries = draw(
        st.sampled_from([(TEXTS, TEXT_QUERIES), (NUMBERS, NUMBER_QUERIES)])
    )
    queries = queries[: draw(st.integers(1, 4))]
    scale = list(
        grades if grades is not None else draw(st.sampled_from([WHOLE, FRACTIONS]))
    )
    scale += [-1.0, -2.0] if negative and not complete else []
    qrels: list[Row] = []
    lists: list[list[Row]] = []
    for index, query in enumerate(queries):
        judged = draw(
            st.lists(st.sampled_from(docs), min_size=1, max_size=6, unique=True)
        )
        drawns = [draw(st.sampled_from(scale)) for _ in judged]
        if complete:
            drawns[0] = max(scale)
        qrels += [
            (query, doc, grade) for doc, grade in zip(judged, drawns, strict=True)
        ]
        if index and not complete and draw(st.integers(0, 5)) == 0:
            continue
        pool = judged if complete else docs
        shown = draw(
            st.lists(st.sampled_from(pool), min_size=1, max_size=longest, unique=True)
        )
        drawns = _scores(draw, len(shown), ties)
        lists.append(
            [(query, doc, score) for doc, score in zip(shown, drawns, strict=True)]
        )
    if not complete and draw(st.booleans()):
        stranger = EXTRA[type(queries[0])]
        lists.append(
            [
                (stranger, doc, 1.0 / position)
                for position, doc in enumerate(docs[:3], start=1)
            ]
        )
    run = [row for rows in draw(st.permutations(lists)) for row in rows]
    if scattered or (scattered is None and draw(st.booleans())):
        run = draw(st.permutations(run))
        qrels = draw(st.permutations(qrels))
    return World(tuple(qrels), tuple(run))


def _scores(draw: st.DrawFn, count: int, ties: bool) -> list[float]:  # noqa: FBT001
    if ties:
        return [draw(st.sampled_from(TIED)) for _ in range(count)]
    return draw(
        st.lists(
            st.sampled_from(range(-50, 50)).map(float),
            min_size=count,
            max_size=count,
            unique=True,
        )
    )


def options(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw values of some alignment options, or leave them at their defaults."""
    return st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(CHOICES[name]) for name in names}
    )


CHOICES: dict[str, tuple[Any, ...]] = {
    "order": ("score", "rank", "input"),
    "score_dtype": ("float64", "float32"),
    "ties": ("docid_desc", "docid_asc", "input", "reverse_input"),
    "missing": ("zero", "drop"),
    "extra": ("drop", "keep"),
    "empty": ("zero", "one", "undefined", "drop"),
    "negative": ("unjudged", "zero", "keep"),
    "unjudged": (
        "nonrelevant",
        "condensed",
        "condensed_keep_rank",
        0,
        1,
        0.5,
        "query_mean",
        "query_median",
        "doc_mean",
        "doc_median",
        "global_mean",
        "global_median",
    ),
    "depth": (1, 2, 3),
}
