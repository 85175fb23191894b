"""Splits of a golden set that stay as they are: an id never moves, and a reworded text follows the stored one."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.diagnostics.time_overlap import TimeOverlap, instants
from rankstone.errors import InputError, UsageError, printable
from rankstone.golden.near_duplicates import near_duplicates
from rankstone.golden.query_times import query_times
from rankstone.io.golden_sets import GoldenSet, golden_set
from rankstone.stats.sample_size import detectable
from rankstone.tables.phrases import check_language, from_english
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Columns
    from rankstone.evaluation.request import TableLike
    from rankstone.io.golden_records import GoldenCase

#: the two splits: for choosing, and for the last word
DEV: Final = "dev"
HOLDOUT: Final = "holdout"
#: pairs of texts shown
_SHOWN: Final = 3
#: standard deviation of differences of a query's R@k or RR, where no runs say it
DEVIATION: Final = 0.3
#: the Jaccard index of pieces from which on a new query is a stored one that is gone, in other words
REWORDED: Final = 0.5


class Splits(Record, Result):
    """Which query is in which split.

    Attributes
    ----------
    source
        The golden set.
    rows
        See :meth:`to_frame`.
    left_out
        Ids of new queries that resemble queries of both splits, which are in none.
    salt
        What the order of the first split was drawn with.
    deviation
        The standard deviation of differences per query that the smallest differences assume.
    reworded
        {new query: the stored one that is gone, of which it says most}.
    gone
        Stored queries that are not in the set any more, without those that were reworded.
    texts_are_ids
        True where the texts of the queries are their ids.
    overlap
        Which queries of the hold-out are earlier than the last of dev; ``None`` where they have no times.
    lang
        Language of sentences.
    """

    source: str
    rows: pl.DataFrame
    left_out: tuple[str, ...]
    salt: str = ""
    deviation: float = DEVIATION
    reworded: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    texts_are_ids: bool = False
    overlap: TimeOverlap | None = None
    lang: str = "en"

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each query: ``query_id``, ``split``, and ``stratum``, ``reason``.

        ``reason`` is ``stored`` (it was assigned before), ``drawn`` (by its hash), ``resembles`` (another
        query of this split), ``reworded`` (it says most of a stored query that is gone) or ``share`` (the side
        of its stratum that is below its share); ``split`` is null for queries that are left out.
        """
        return self.rows

    def sizes(self) -> pl.DataFrame:
        """Return a row for each split: ``split``, ``queries``, ``new``, ``smallest_difference``.

        The smallest difference is what a paired t test finds in four of five cases at a level of .05; null
        where no difference below 1 is found.
        """
        rows = []
        assigned = self.rows.drop_nulls("split")
        for (name,), part in assigned.group_by("split", maintain_order=True):
            smallest = None
            if part.height > 1:
                smallest = detectable(part.height) * self.deviation
            rows.append(
                {
                    "split": name,
                    "queries": part.height,
                    "new": int((part["reason"] != "stored").sum()),
                    "smallest_difference": smallest
                    if smallest and smallest < 1
                    else None,
                }
            )
        return pl.DataFrame(rows).sort("split")

    def sheet(self, digits: int = 2) -> Sheet:
        """Return the sizes of the splits, and what they can show."""
        sizes = self.sizes()
        names = {}
        for column in sizes.columns:
            heading = column.replace("_", " ")
            if column == "new":
                # a run may be called new, and is not put into another language
                heading = "new queries"
            names[column] = from_english(heading, self.lang)
        notes = [from_english(note, self.lang) for note in self._notes_on_sizes()]
        notes += self._changes()
        table = Table.of(sizes, digits=digits, names=names)
        title = from_english(f"Splits of {printable(self.source)}", self.lang)
        return Sheet(title, parts=(table,), notes=tuple(notes))

    def _notes_on_sizes(self) -> Iterator[str]:
        """Yield what the sizes can show, and what the hold-out cannot."""
        yield (
            "smallest difference: found in 4 of 5 cases, at a standard deviation of "
            f"{self.deviation:g} of differences per query"
        )
        overlap = self.overlap
        if overlap is not None and overlap.names:
            yield (
                f"earlier than the last of dev ({overlap.last}): {len(overlap.names):,} of {overlap.tested:,} "
                "queries of the hold-out with a time; it does not show how later queries will do"
            )

    def _changes(self) -> Iterator[str]:
        """Yield queries in no split, and what became of stored queries that are not in the set any more."""
        if self.left_out:
            yield self._named(
                f"{counted(len(self.left_out), 'query')} in no split, since they resemble queries of both",
                some(self.left_out),
            )
        if self.reworded:
            pairs = []
            for new, old in self.reworded.items():
                pair = f"{printable(old, 40)} → {printable(new, 40)}"
                pairs.append(pair)
            more = " …" if len(pairs) > _SHOWN else ""
            yield self._named(
                f"{counted(len(pairs), 'query')} reworded, on the side of the stored text",
                "; ".join(pairs[:_SHOWN]) + more,
            )
        if not self.gone:
            return
        yield self._named(
            f"{counted(len(self.gone), 'stored query')} not in the set any more, whose side is kept",
            some(self.gone),
        )
        is_new = self.rows["reason"].is_in(["share", "resembles"])
        if self.texts_are_ids and is_new.any():
            yield from_english(
                "texts are the ids here: a query that was reworded beyond recognition counts as new, and may be "
                "on the other side; give queries an id, which never moves",
                self.lang,
            )

    def _named(self, what: str, names: str) -> str:
        """Return what is true of some queries, and their names."""
        colon = {"en": ": ", "zh": "："}[self.lang]
        return from_english(what, self.lang) + colon + names

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "source": self.source,
            "salt": self.salt,
            "left_out": list(self.left_out),
            "reworded": dict(self.reworded),
            "gone": list(self.gone),
            "earlier": list(self.overlap.names) if self.overlap else [],
            "sizes": self.sizes().to_dicts(),
            "queries": self.rows.to_dicts(),
        }


def split(
    golden: TableLike | GoldenSet,
    *,
    holdout: float = 0.3,
    by: Sequence[str] = (),
    salt: str = "",
    deviation: float = DEVIATION,
    columns: Columns | None = None,
    format_in: str | None = None,
    lang: str = "en",
) -> Splits:
    """Assign the queries of a golden set to ``dev`` and ``holdout``, and leave those that are assigned alone.

    The first split takes queries in the order of a hash of id and salt, stratum by stratum, so that each
    has its share of each, to one query; queries that say nearly the same stay together. A new query goes
    where one that resembles it is, a reworded one where the stored text that is gone was, or else to the side
    of its stratum that is below its share. A new query that resembles queries of both sides is left out.

    Parameters
    ----------
    golden
        As for :func:`rankstone.golden.read`; a query's own ``split`` never changes.
    holdout
        The share of the hold-out, between 0 and 1.
    by
        Keys whose values make strata: ``["category"]``.
    salt
        Another salt draws another split.
    deviation
        The standard deviation of differences per query, for the smallest difference that each side can show.
    columns, format_in
        As for :func:`rankstone.golden.read`.
    lang
        Language of sentences: ``en`` or ``zh``.

    Raises
    ------
    UsageError
        When the share is out of range, or no query has a key of ``by``.

    Examples
    --------
    >>> golden = [{"id": f"q{n}", "query": f"question {n}{n}{n}", "expected": ["d"]} for n in range(10)]
    >>> split(golden, holdout=0.3).sizes().select("split", "queries").rows()
    [('dev', 7), ('holdout', 3)]
    """
    if not 0 < holdout < 1:
        raise UsageError(
            f"holdout = {holdout:g} is out of range", expected="a share between 0 and 1"
        )
    check_language(lang)
    cases = golden_set(golden, columns, format_in)
    cases.refuse_copies()
    strata = _strata(cases, by)
    known = {case.query_id: case.split for case in cases.cases if case.split}
    gone = {q: side for q, side in cases.stored.items() if q not in strata}
    clusters = _clusters(cases.cases)

    assigned = dict.fromkeys(known, "stored")
    sides = dict(known)
    reworded = _reworded([c for c in cases.cases if not c.split], [*gone])
    if gone and not known and not reworded:
        raise InputError(
            "none of the queries with a stored split is in the golden set",
            where=cases.splits,
            given=f"stored {some(gone)}; in the set {some(strata)}",
            expected="the ids, or texts, under which the splits were stored",
            fix="leave out what renames ids; a new split begins when this file is removed",
        )
    earlier = {new: gone[old] for new, old in reworded.items()}
    left_out = _follow(clusters, sides, assigned, earlier)
    first = not known and not gone
    _fill(clusters, strata, sides, assigned, left_out, holdout, salt, first=first)
    rows = [
        (
            case.query_id,
            sides.get(case.query_id),
            strata[case.query_id],
            assigned.get(case.query_id),
        )
        for case in cases.cases
    ]
    schema = dict.fromkeys(("query_id", "split", "stratum", "reason"), pl.String)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    reworded = {q: old for q, old in reworded.items() if assigned.get(q) == "reworded"}
    unmatched = {*gone}.difference(reworded.values())
    return Splits(
        cases.source,
        frame,
        tuple(left_out),
        salt,
        deviation,
        reworded,
        gone=tuple(query for query in gone if query in unmatched),
        texts_are_ids="id" not in cases.roles.values(),
        overlap=_overlap(frame, query_times(cases, columns)),
        lang=lang,
    )


def _overlap(rows: pl.DataFrame, times: pl.Series | None) -> TimeOverlap | None:
    """Compare the times of the hold-out with those of dev."""
    if times is None:
        return None
    timed = rows.with_columns(instants(times).alias("time"))
    dev = timed.filter(pl.col("split") == DEV)
    held = timed.filter(pl.col("split") == HOLDOUT)
    return TimeOverlap.of(held["query_id"], held["time"], dev["time"])


def _strata(golden: GoldenSet, by: Sequence[str]) -> dict[str, str]:
    """Return {query: stratum}: the values of its keys."""
    attributes = dict.fromkeys(name for case in golden.cases for name in case.about)
    for name in by:
        if name not in attributes:
            raise UsageError(
                f"no query has a key {printable(name)}",
                given=some(attributes, 12) or "no key that could make strata",
                expected="keys of the golden set",
            )
    return {
        case.query_id: " · ".join(str(case.about.get(name, "")) for name in by)
        for case in golden.cases
    }


def _clusters(cases: Sequence[GoldenCase]) -> list[list[str]]:
    """Return the ids of queries that say nearly the same, together; most stand alone."""
    texts = pl.Series([case.query for case in cases], dtype=pl.String)
    leader = list(range(len(cases)))

    def root(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for first, second, _ in near_duplicates(texts).iter_rows():
        leader[root(second)] = root(first)
    members: dict[int, list[str]] = defaultdict(list)
    for place, case in enumerate(cases):
        members[root(place)].append(case.query_id)
    return list(members.values())


def _reworded(new: Sequence[GoldenCase], gone: Sequence[str]) -> dict[str, str]:
    """Return {new query: the stored text that is gone, of which it says most}."""
    if not new or not gone:
        return {}
    texts = pl.Series([*gone, *(case.query for case in new)], dtype=pl.String)
    pairs = near_duplicates(texts, REWORDED)
    is_across = (pl.col("first") < len(gone)) & (pl.col("second") >= len(gone))
    pairs = pairs.filter(is_across).sort("similarity", maintain_order=True)
    # the most similar one is the last
    return {
        new[second - len(gone)].query_id: gone[first]
        for first, second, _ in pairs.iter_rows()
    }


def _follow(
    clusters: Sequence[Sequence[str]],
    sides: dict[str, str],
    assigned: dict[str, str],
    earlier: Mapping[str, str],
) -> list[str]:
    """Assign new queries to the side of those that they resemble; return those that resemble both.

    ``earlier`` has the sides of stored texts that are gone, by the queries that reword them; queries that are
    still there go first.
    """
    left_out = []
    for cluster in clusters:
        known = {sides[query] for query in cluster if query in sides}
        known = known or {earlier[query] for query in cluster if query in earlier}
        new = [query for query in cluster if query not in sides]
        if len(known) > 1:
            left_out += new
        elif known:
            [side] = known
            for query in new:
                is_reworded = earlier.get(query) == side
                sides[query] = side
                assigned[query] = "reworded" if is_reworded else "resembles"
    return left_out


def _fill(
    clusters: Sequence[Sequence[str]],
    strata: Mapping[str, str],
    sides: dict[str, str],
    assigned: dict[str, str],
    left_out: Sequence[str],
    holdout: float,
    salt: str,
    *,
    first: bool,
) -> None:
    """Assign the other queries, stratum by stratum in the order of their hashes."""
    skipped = {*left_out}
    totals = Counter(
        stratum for query, stratum in strata.items() if query not in skipped
    )
    held = Counter(
        strata[query]
        for query, side in sides.items()
        if side == HOLDOUT and query in strata
    )
    waiting = [
        cluster
        for cluster in clusters
        if not any(query in sides or query in skipped for query in cluster)
    ]
    # larger groups first, while there is room for them
    waiting.sort(
        key=lambda cluster: (-len(cluster), min(_hash(q, salt) for q in cluster))
    )
    for cluster in waiting:
        stratum = strata[cluster[0]]
        target = round(holdout * totals[stratum])
        fits = held[stratum] + len(cluster) <= target
        side = HOLDOUT if fits else DEV
        for query in cluster:
            sides[query] = side
            assigned[query] = "drawn" if first else "share"
            held[strata[query]] += side == HOLDOUT


def _hash(query_id: str, salt: str) -> str:
    """Return the key of the order: the same everywhere, and unrelated to what a query says."""
    return hashlib.sha256(f"{salt}\n{query_id}".encode()).hexdigest()
