"""The result of studying a test collection: its tables, and what they say in sentences."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record
from rankstone.errors import printable
from rankstone.stats.order_agreement import FEWEST, FEWEST_QUERIES
from rankstone.tables.results import Findings, FirstScreen
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Kind


#: groups that are shown unless all are wanted, and fewer of which are a rough guess
_SHOWN: Final = 10
_NAME: Final = 40
#: columns of tables → what they hold, where it does not follow from their type
_KINDS: Final[dict[str, Kind]] = {
    "judged": "number",
    "best_run": "id",
    "worst_run": "id",
    "group": "id",
    "interval": "interval",
    "ranks": "interval",
    "loss_interval": "interval",
    "tau_interval": "interval",
    "places": "interval",
}


class Collection(Findings, Record):
    """A test collection, seen through the runs of a shared task.

    Attributes
    ----------
    measures
        Their names; runs are sorted by the first.
    depth
        Of the pool.
    pool
        Counts over all topics: ``pooled``, documents down to the depth of the pool in any run, of which
        ``pooled_judged`` have a grade and ``pooled_relevant`` one above 0; all that are ``judged`` and
        ``relevant``.
    leaderboard
        See :meth:`to_frame`.
    pairs
        How many pairs of runs differ clearly by the first measure, and how many there are.
    topics
        ``query_id``; ``best``, ``median``, ``mean`` and ``worst`` score by the first measure, ``best_run``
        and ``worst_run``; ``relevant`` and ``judged`` documents.
    reusability
        For each group and measure: its ``runs``, ``unique_judged`` and ``unique_relevant`` documents; the
        ``run`` that loses most without these, its mean ``before`` and ``after``, ``loss`` with ``loss_low``
        and ``loss_high``, ``rank_before``, ``rank_after``; ``tau`` of all runs' orders with and without,
        ``tau_low``, ``tau_high``; ``queries``.
    correlations
        ``measure`` and ``other``, ``tau`` of the runs' orders, ``low``, ``high``, ``n``.
    confidence, seed, lang
        Of intervals; of resamples; of sentences.
    audit, conventions, inputs
        As of an evaluation.
    left_out
        Topics that are left out since a run has no value, at most by any measure.
    """

    measures: tuple[str, ...]
    depth: int
    pool: Mapping[str, int]
    leaderboard: pl.DataFrame
    pairs: tuple[int, int]
    topics: pl.DataFrame
    reusability: pl.DataFrame
    correlations: pl.DataFrame
    confidence: float = 0.95
    seed: int = 0
    lang: str = "en"
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    left_out: int = 0
    digits: int = 4

    section = "collection"
    answer_stands = "above"

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each run, the best first.

        Returns
        -------
        polars.DataFrame
            ``rank``, ``run``, ``group``, the mean by each measure; ``rank_low`` and ``rank_high``, the ranks
            that clear differences leave, of all runs together; ``low`` and ``high`` of the first mean;
            ``pooled`` documents, ``judged``, ``relevant``, ``unique`` to the run, ``unique_relevant``.
        """
        return self.leaderboard

    def title(self) -> str:
        """Return how much there is."""
        groups = self.leaderboard["group"].n_unique()
        return self.say(
            "title",
            runs=self.leaderboard.height,
            topics=self.topics.height,
            groups=groups,
        )

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return what runs lose without the documents of their group; ``verbose``: every table."""
        if not verbose:
            return self._first_groups(digits)
        orders = self.correlations.select(
            "measure", "other", "tau", interval=_limits("low", "high", digits)
        )
        frames = {
            "leaders": self._leaders(digits),
            "groups": self._groups(digits),
            "orders": orders,
            "topics": self.topics.drop("mean"),
        }
        return [
            self._table(frame, self.say(name), digits)
            for name, frame in frames.items()
            if frame.height
        ]

    def _table(self, frame: pl.DataFrame, title: str, digits: int) -> Table:
        names = {
            column: column if column in self.measures else self.say(column)
            for column in frame.columns
        }
        kinds = dict(_KINDS)
        return Table.of(frame, title, digits=digits, names=names, kinds=kinds)

    def _first_groups(self, digits: int) -> list[Table]:
        """Return the groups that lose most by the first measure."""
        measure = self.measures[0]
        frame = self._groups(digits).filter(measure=measure)
        hidden = ["measure", "tau", "tau_interval"]
        if frame["group"].equals(frame["run"]):
            hidden.append("run")
        shown = frame.drop(hidden).head(_SHOWN)
        title = self.say("first_groups", measure=measure)
        if frame.height > _SHOWN:
            title += self.say("first_cut", groups=f"{frame.height:,}", shown=_SHOWN)
        return [self._table(shown, title, digits)]

    def method_in_brief(self) -> Iterator[str]:
        """Yield what it means to be without a group."""
        yield self.say("brief_groups", depth=f"{self.depth:,}")

    def _leaders(self, digits: int) -> pl.DataFrame:
        """Return what is shown of the leaderboard: groups only if they are not the runs."""
        first, *others = self.measures
        group = []
        if not self.leaderboard["group"].equals(self.leaderboard["run"]):
            group = ["group"]
        return self.leaderboard.select(
            "rank",
            _limits("rank_low", "rank_high", 0).alias("ranks"),
            "run",
            *group,
            first,
            _limits("low", "high", digits).alias("interval"),
            *others,
            pl.format("{} / {}", "judged", "pooled").alias("judged"),
            "unique_relevant",
        )

    def _groups(self, digits: int) -> pl.DataFrame:
        """Return what is shown of the table of reusability."""
        return self.reusability.select(
            "group",
            "measure",
            "run",
            "unique_relevant",
            "before",
            "after",
            "loss",
            _limits("loss_low", "loss_high", digits).alias("loss_interval"),
            pl.format("{} → {}", "rank_before", "rank_after").alias("places"),
            "tau",
            _limits("tau_low", "tau_high", digits).alias("tau_interval"),
        )

    def method_lines(self) -> Iterator[str]:
        """Yield how the tables were made."""
        level = f"{100 * self.confidence:g} %"
        yield self.say("about_leaders", level=level)
        yield self.say("about_groups", depth=f"{self.depth:,}")
        yield self.say("about_orders", level=level)

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what the tables say: whether the judgments serve new runs, then of the runs themselves."""
        say = self.say
        yield from self.reuse(digits)
        pool = self.pool
        share = f"{100 * pool['pooled_judged'] / max(pool['pooled'], 1):.3g} %"
        pooled = f"{pool['pooled']:,}"
        line = say("pool", depth=f"{self.depth:,}", pooled=pooled, share=share)
        outside = pool["relevant"] - pool["pooled_relevant"]
        if outside:
            relevant = f"{pool['relevant']:,}"
            line += say("outside", count=f"{outside:,}", relevant=relevant)
        yield FirstScreen(line)

        level = f"{100 * self.confidence:g} %"
        could = self.leaderboard.filter(pl.col("rank_low") == 1).height
        lead = {
            "run": printable(self.leaderboard["run"][0], _NAME),
            "measure": self.measures[0],
            "level": level,
        }
        line = say("leads" if could == 1 else "could_lead", count=could, **lead)
        clear, pairs = self.pairs
        line += say("apart", clear=f"{clear:,}", pairs=f"{pairs:,}", level=level)
        yield FirstScreen(line)

        for row in self.correlations.drop_nulls("tau").iter_rows(named=True):
            texts = {"measure": row["measure"], "other": row["other"]}
            for name in ("tau", "low", "high"):
                if row[name] is not None:
                    texts[name] = f"{row[name]:.{digits}f}"
            name = "order" if "low" in texts else "order_few"
            yield say(name, runs=FEWEST, topics=FEWEST_QUERIES, **texts)
        if self.left_out:
            yield self.say_first("left_out", count=f"{self.left_out:,}")
        hardest = self.topics.row(0, named=True)
        values = {name: f"{hardest[name]:.{digits}f}" for name in ("best", "median")}
        yield say("hardest", query=printable(hardest["query_id"], _NAME), **values)

    def reuse(self, digits: int = 4) -> Iterator[str]:
        """Yield what a run would lose whose group had not been pooled, by the measure that sorts runs."""
        rows = self.reusability.filter(measure=self.measures[0])
        lost = rows.filter(pl.col("unique_judged") > 0)
        if not lost.height:
            yield self.say_first("no_unique", depth=f"{self.depth:,}")
            return
        falls = [0, *(lost["rank_after"] - lost["rank_before"])]
        same = rows.filter(pl.col("tau") == 1).height
        counts = {"groups": rows.height, "same": same, "moved": max(falls)}
        line = self.say("groups_moved", **counts)
        if rows.height < _SHOWN:
            line += self.say("few_groups", groups=rows.height)
        yield FirstScreen(line)

        row = lost.row(0, named=True)
        if row["loss"] <= 0:
            yield self.say("no_loss", measure=row["measure"])
            return
        numbers = {
            name: f"{row[name]:.{digits}f}" for name in ("before", "after", "loss")
        }
        about = {name: printable(row[name], _NAME) for name in ("group", "run")}
        about |= {name: row[name] for name in ("measure", "rank_before", "rank_after")}
        yield self.say("loses", **about, **numbers)


def _limits(low: str, high: str, digits: int) -> pl.Expr:
    """Return an interval as text, – where there is none; of whole numbers with ``digits`` 0."""
    if not digits:
        same = pl.col(low) == pl.col(high)
        return (
            pl.when(same)
            .then(pl.col(low).cast(pl.String))
            .otherwise(pl.format("{}–{}", low, high))
        )

    def text(value: float) -> str:
        return f"{value:.{digits}f}"

    texts = [pl.col(name).map_elements(text, pl.String) for name in (low, high)]
    return (
        pl.when(pl.col(low).is_not_null())
        .then(pl.format("[{}, {}]", *texts))
        .otherwise(pl.lit("–"))
    )
