"""The result of a search for slices: those that differ, what they explain, and what could not be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from scipy import special

from rankstone._basics import some
from rankstone.errors import printable
from rankstone.tables.phrases import phrase
from rankstone.tables.results import Result, given
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankstone.boards.slice_search import SliceSettings
    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Kind

#: shares of the queries whose smallest visible gap is shown
_SHARES: Final = (0.05, 0.1, 0.2)
#: slices that are shown where none differs, and those that one explains
_LARGEST, _EXPLAINED = 5, 3
#: characters of a slice's name and of the text of a query
_NAME, _TEXT = 60, 80


@dataclass(frozen=True, eq=False, repr=False)
class Slices(Result):
    """Groups of queries in which a system does worse or better than elsewhere.

    Attributes
    ----------
    table
        See :meth:`to_frame`.
    systems
        The system, and the one it is compared with, if any.
    measure, sign
        Its name; -1 if lower is better, otherwise 1.
    n
        The number of queries, or of rows of a log.
    noise
        The standard deviation of differences that errors of gaps amount to.
    critical
        The normal deviate that the largest gap of all slices exceeds with the chance of the level.
    left_out
        Columns that made no slices.
    kind
        ``queries``, or ``rows`` of a log.
    settings
        How slices were searched.
    audit, conventions, inputs
        As of an evaluation, where there was one.
    """

    table: pl.DataFrame
    systems: tuple[str, ...]
    measure: str
    sign: int
    n: int
    noise: float
    critical: float
    left_out: tuple[str, ...]
    kind: str
    settings: SliceSettings
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 4

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each slice, those that are found first.

        Returns
        -------
        polars.DataFrame
            ``slice`` (its name), ``n`` (queries); ``value`` and ``versus``, the means of both systems in it,
            and their ``difference``, null for a single system; ``elsewhere``, the same difference (or mean)
            in all other queries, ``gap`` between the two, ``low`` and ``high`` of its simultaneous interval,
            ``p_adjusted`` over all slices; ``found``: True for slices that differ and are explained by no
            other one; ``within``, the found slice that explains it; ``same``, names of slices with the same
            queries; ``example``, the query in which the gap is largest, with its ``example_text`` and the
            scores ``example_value`` and ``example_versus``.
        """
        return self.table

    @cached_property
    def found(self) -> pl.DataFrame:
        """The slices that differ, less those that another one explains."""
        return self.table.filter("found")

    def visible(self, size: int) -> float:
        """Return the smallest gap that a slice of this many queries shows with the given power.

        Examples
        --------
        >>> import rankstone
        >>> from rankstone import demo
        >>> found = rankstone.slices(demo.QRELS, demo.RUNS, "nDCG@10", queries=demo.QUERIES, min_size=5)
        >>> found.visible(10) > found.visible(20)
        True
        """
        rest = 0.0 if self.settings.against == "zero" else 1 / max(self.n - size, 1)
        return (
            (self.critical + float(special.ndtri(self.settings.power)))
            * self.noise
            * math.sqrt(1 / size + rest)
        )

    def visible_gaps(self) -> pl.DataFrame:
        """Return the smallest visible gap by size.

        Returns
        -------
        polars.DataFrame
            ``share`` of the queries, ``n``, and ``gap``.
        """
        sizes = [
            (share, size) for share in _SHARES if (size := round(share * self.n)) >= self.settings.min_size
        ]
        rows = [
            (share, size, self.visible(size))
            for share, size in sizes or [(self.settings.min_size / self.n, self.settings.min_size)]
        ]
        return pl.DataFrame(rows, ["share", "n", "gap"], orient="row")

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        names = ("systems", "measure", "n", "noise", "critical", "left_out")
        of_settings = ("against", "min_size", "confidence", "power", "margin", "permutations", "seed")
        return {
            **given(**{name: getattr(self, name) for name in names}),
            **{name: getattr(self.settings, name) for name in of_settings},
            **given(visible=self.visible_gaps(), slices=self.table, audit=self.audit),
            **given(conventions=self.conventions, inputs=self.inputs),
        }

    def sheet(self, digits: int | None = None) -> Sheet:
        """Return the slices that are found, or the largest gaps if none is."""
        say, shown = self.say, self.digits if digits is None else digits
        rows = self.found if self.found.height else self.table.head(_LARGEST)
        names = [printable(name, 40) for name in self.systems]
        here, signed = ("difference", "+") if len(names) > 1 else ("value", "")
        level = f"{100 * self.settings.confidence:g}"
        head = [say("slice"), say(f"n_{self.kind}"), say(here), say("elsewhere"), say("gap")]
        body = []
        for row in rows.iter_rows(named=True):
            numbers = [f"{row[name]:{signed}.{shown}f}" for name in (here, "elsewhere")]
            ends = f"[{row['low']:+.{shown}f}, {row['high']:+.{shown}f}]"
            p = "<0.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"  # noqa: PLR2004
            name, gap = printable(row["slice"], _NAME), f"{row['gap']:+.{shown}f}"
            body.append((name, f"{row['n']:,}", *numbers, gap, ends, p))
        kinds: tuple[Kind, ...] = ("id", "number", "number", "number", "number", "interval", "p")
        title = say("found" if self.found.height else "largest")
        table = Table(title, (*head, say("interval", level=level), "p"), tuple(body), kinds)
        counts = {"n": f"{self.n:,}", "slices": f"{self.table.height:,}", "unit": say(f"n_{self.kind}")}
        title = say("title", measure=printable(self.measure, 60), systems=" − ".join(names), **counts)
        parts = (
            table,
            (say("findings"), tuple(self.findings(shown))),
            (say("method"), tuple(self.method_lines())),
        )
        return Sheet(title, parts=parts, notes=(self._notes(),))

    @property
    def say(self) -> Callable[..., str]:
        """The phrases of slices in the language of the result."""
        return partial(phrase, "slices", lang=self.settings.lang)

    def _pair(self, *names: str) -> list[str]:
        """Return what only two systems have."""
        return list(names) if len(self.systems) > 1 else []

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what was found, with an example each, and what could not have been seen."""
        level = f"{100 * (1 - self.settings.confidence):.3g} %"
        if not self.found.height:
            yield self.say(f"none_{self.settings.against}", slices=f"{self.table.height:,}", level=level)
        for row in self.found.iter_rows(named=True):
            way = "worse" if self.sign * row["gap"] < 0 else "better"
            many = "two" if len(self.systems) > 1 else "one"
            numbers = {name: f"{row[name]:+.{digits}f}" for name in ("gap", "elsewhere")}
            shown = row["difference"] if many == "two" else row["value"]
            numbers["here"] = f"{shown:+.{digits}f}" if many == "two" else f"{shown:.{digits}f}"
            line = self.say(
                f"{way}_{many}", slice=printable(row["slice"], _NAME), n=f"{row['n']:,}", **numbers
            )
            yield line + self._example(row, digits) + self._explains(row)
        yield from self.visible_lines(digits)
        if self.left_out:
            yield self.say("left_out", columns=some(self.left_out, 4))

    def _example(self, row: Mapping[str, Any], digits: int) -> str:
        if row["example"] is None:
            return ""
        text = row["example_text"]
        named = printable(row["example"], 40) + (f" “{printable(text, _TEXT)}”" if text else "")
        scores = [f"{row[name]:.{digits}f}" for name in [*self._pair("example_versus"), "example_value"]]
        return self.say("example", query=named, scores=" → ".join(scores))

    def _explains(self, row: Mapping[str, Any]) -> str:
        names = self.table.filter(within=row["slice"])["slice"].to_list()
        same = row["same"]
        text = (
            self.say("same", names=some([printable(one, _NAME) for one in same], _EXPLAINED)) if same else ""
        )
        shown = some([printable(one, _NAME) for one in names], _EXPLAINED)
        return text + (self.say("explains", count=len(names), names=shown) if names else "")

    def visible_lines(self, digits: int) -> Iterator[str]:
        """Yield the smallest gaps that slices can show, and whether the gap that matters is among them."""
        gaps, power = self.visible_gaps(), f"{100 * self.settings.power:g} %"
        unit = self.say(f"n_{self.kind}")
        sizes = ", ".join(
            self.say(
                "of_size", gap=f"{gap:.{digits}f}", n=f"{size:,}", share=f"{100 * share:.2g} %", unit=unit
            )
            for share, size, gap in gaps.iter_rows()
        )
        yield self.say("visible", power=power, sizes=sizes)
        if self.settings.margin is None:
            return
        needed = self._needed(self.settings.margin)
        unseen = [row for row in gaps.iter_rows() if row[2] > self.settings.margin]
        if unseen:
            share, size, gap = unseen[-1]
            words = {"margin": f"{self.settings.margin:g}", "share": f"{100 * share:.2g} %", "n": f"{size:,}"}
            yield self.say("cannot", gap=f"{gap:.{digits}f}", power=power, unit=unit, **words) + (
                self.say(
                    "more",
                    n=f"{self._queries(share, self.settings.margin):,}",
                    share=words["share"],
                    unit=unit,
                )
                if needed is None
                else self.say("larger", n=f"{needed:,}", margin=words["margin"], unit=unit)
            )
        else:
            yield self.say("can", margin=f"{self.settings.margin:g}", power=power)

    def _needed(self, gap: float) -> int | None:
        """Return the smallest slice that shows a gap, ``None`` if half of the queries do not."""
        sizes = range(1, self.n // 2 + 1)
        low, high = 0, len(sizes)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.visible(sizes[middle]) <= gap else (middle + 1, high)
        return None if low == len(sizes) else sizes[low]

    def _queries(self, share: float, gap: float) -> int:
        """Return how many queries a slice of this share needs in all to show a gap."""
        size = max(round(share * self.n), 1)
        return math.ceil(self.n * (self.visible(size) / gap) ** 2)

    def method_lines(self) -> Iterator[str]:
        """Yield how slices were compared."""
        yield self.say(f"about_{self.settings.against}", confidence=f"{100 * self.settings.confidence:g} %")
        yield self.say("folding")
        if self.kind == "rows":
            yield self.say("about_log")
