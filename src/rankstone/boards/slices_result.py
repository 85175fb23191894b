"""The settings and the result of a search for slices: what differs, what it explains, what was not seen."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from scipy import special

from rankstone._basics import Record, percentage, some
from rankstone.errors import above_0, between_0_and_1, one_of, printable
from rankstone.stats.random_streams import check_count
from rankstone.stats.slice_tests import critical_z
from rankstone.tables.phrases import check_language
from rankstone.tables.results import Findings, FirstScreen, given
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Kind

#: shares of the queries whose smallest visible gap is shown
_SHARES: Final = (0.05, 0.1, 0.2)
#: slices that are shown, and those that one explains
_LARGEST, _EXPLAINED = 5, 3
#: the fewest queries of a slice that can be searched for; rows of each variant in it, and outside
FEWEST: Final = 5
#: characters of a slice's name and of the text of a query
_NAME, _TEXT = 60, 80


#: the numbers of each slice
NUMBERS: Final = (
    "value",
    "versus",
    "difference",
    "elsewhere",
    "gap",
    "shrunken",
    "low",
    "high",
    "p_adjusted",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSettings:
    """The settings of a search for slices.

    Parameters
    ----------
    attributes
        The columns that make slices; by default all except ids, weights and clusters.
    tags
        Name → a regular expression: queries whose text matches it are a slice.
    bins
        Ranges into which numbers are split, from 2 to 20.
    min_size
        The fewest queries of a slice, and outside it; 5 or more.
    against
        ``rest``: does a slice differ from all other queries?  ``zero``: do two systems differ in a slice?
    margin
        The smallest gap that matters; the result then says which slices could not have shown it.
    confidence
        Of all slices together; 1 less the chance that any is found if none differs.
    power
        Of what is called visible.
    permutations
        How many are drawn, from 200 on.
    seed
        Makes the result reproducible, on any number of threads.
    lang
        Language of sentences: ``en`` or ``zh``.
    drawing
        Called with 1 after every block of permutations.
    """

    attributes: Sequence[str] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    bins: int = 4
    min_size: int = 20
    against: str = "rest"
    margin: float | None = None
    confidence: float = 0.95
    power: float = 0.8
    permutations: int = 2000
    seed: int = 0
    lang: str = "en"
    drawing: Progress | None = None

    def __post_init__(self) -> None:
        """Refuse settings that are not valid."""
        one_of("against", self.against, ("rest", "zero"))
        check_language(self.lang)
        between_0_and_1("confidence", self.confidence)
        between_0_and_1("power", self.power)
        if self.margin is not None:
            above_0("margin", self.margin)
        for name, least, most in (
            ("bins", 2, 20),
            ("min_size", FEWEST, 10**9),
            ("permutations", 200, 10**7),
            ("seed", 0, 2**63 - 1),
        ):
            check_count(name, getattr(self, name), least, most)


class Slices(Findings, Record):
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
        The evidence, ``z² / 2`` plus the logarithm of the share of the queries, that any slice exceeds with
        the chance of the level.
    left_out
        Columns that made no slices.
    small
        Values with fewer queries than a slice must have, with their numbers.
    kind
        ``queries``, or ``rows`` of a log.
    settings
        How slices were searched.
    without_value
        Queries that are left out since a system has no value.
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
    without_value: int = 0
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 4
    small: tuple[str, ...] = ()

    section = "slices"
    answer_stands = "above"

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each slice, those that are found first.

        Returns
        -------
        polars.DataFrame
            ``slice`` (its name), ``n`` (queries); ``value`` and ``versus``, the means of both systems in it,
            and their ``difference``, null for a single system; ``elsewhere``, the same difference (or mean)
            in all other queries, ``gap`` between the two, ``shrunken``, of gaps above what chance gives what
            is left without the winner's curse, ``low`` and ``high`` of the gap's simultaneous interval,
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
        >>> search = rankstone.slices(demo.QRELS, demo.RUNS, "nDCG@10", queries=demo.QUERIES, min_size=5)
        >>> search.visible(10) > search.visible(20)
        True
        """
        share = size / self.n
        z = float(
            critical_z(self.critical, np.log([min(share, 1 - share) or share]))[0]
        )
        rest = 0.0 if self.settings.against == "zero" else 1 / max(self.n - size, 1)
        return (
            (z + float(special.ndtri(self.settings.power)))
            * self.noise
            * math.sqrt(1 / size + rest)
        )

    def visible_gaps(self) -> pl.DataFrame:
        """Return the smallest visible gap by size.

        Returns
        -------
        polars.DataFrame
            ``share`` of the queries, ``n``, and ``gap``; no row where all differences are the same.
        """
        least = self.settings.min_size
        sizes = [
            size for share in _SHARES if (size := round(share * self.n)) >= least
        ] or [least]
        sizes = sizes if self.noise else []
        rows = [(size / self.n, size, self.visible(size)) for size in sizes]
        return pl.DataFrame(rows, ["share", "n", "gap"], orient="row")

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        names = (
            "systems",
            "measure",
            "n",
            "noise",
            "critical",
            "left_out",
            "small",
            "without_value",
        )
        of_settings = (
            "against",
            "min_size",
            "confidence",
            "power",
            "margin",
            "permutations",
            "seed",
        )
        return {
            **given(**{name: getattr(self, name) for name in names}),
            **{name: getattr(self.settings, name) for name in of_settings},
            **given(visible=self.visible_gaps(), slices=self.table, audit=self.audit),
            **given(conventions=self.conventions, inputs=self.inputs),
        }

    @property
    def lang(self) -> str:  # type: ignore[override] # that of the settings
        """The language of sentences."""
        return self.settings.lang

    def title(self) -> str:
        """Return what was searched."""
        counts = {
            "n": f"{self.n:,}",
            "slices": f"{self.table.height:,}",
            "unit": self.say(f"n_{self.kind}"),
        }
        systems = " − ".join(printable(name, 40) for name in self.systems)
        return self.say(
            "title", measure=printable(self.measure, 60), systems=systems, **counts
        )

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the slices that are found, or the largest gaps if none is; few of them unless ``verbose``."""
        say = self.say
        rows = self.found if self.found.height else self.table.head(_LARGEST)
        if not verbose:
            rows = rows.head(_LARGEST)
        here, signed = ("difference", "+") if len(self.systems) > 1 else ("value", "")
        level = f"{100 * self.settings.confidence:g}"
        head = [
            say("slice"),
            say(f"n_{self.kind}"),
            say(here),
            say("elsewhere"),
            say("gap"),
        ]
        body = []
        for row in rows.iter_rows(named=True):
            numbers = [
                f"{row[name]:{signed}.{digits}f}" for name in (here, "elsewhere")
            ]
            ends = f"[{row['low']:+.{digits}f}, {row['high']:+.{digits}f}]"
            p = "<0.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"  # noqa: PLR2004
            name = printable(row["slice"], _NAME)
            gap = f"{row['gap']:+.{digits}f}"
            body.append((name, f"{row['n']:,}", *numbers, gap, ends, p))
        kinds: tuple[Kind, ...] = (
            "id",
            "number",
            "number",
            "number",
            "number",
            "interval",
            "p",
        )
        title = say("found" if self.found.height else "largest")
        return [
            Table(title, (*head, say("interval", level=level), "p"), tuple(body), kinds)
        ]

    def _pair(self, *names: str) -> list[str]:
        """Return what only two systems have."""
        if len(self.systems) > 1:
            return list(names)
        return []

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what was found, with an example each, and what could not have been seen."""
        if not self.found.height:
            yield self.say_first(
                f"none_{self.settings.against}",
                slices=f"{self.table.height:,}",
                level=f"{100 * (1 - self.settings.confidence):.3g} %",
            )
        shrunken = []
        for place, row in enumerate(self.found.iter_rows(named=True)):
            way = "worse" if self.sign * row["gap"] < 0 else "better"
            many, here, sign = (
                ("two", "difference", "+")
                if len(self.systems) > 1
                else ("one", "value", "")
            )
            name = printable(row["slice"], _NAME)
            numbers = {
                name: f"{row[name]:+.{digits}f}"
                for name in ("gap", "shrunken", "elsewhere")
            }
            numbers |= {"here": f"{row[here]:{sign}.{digits}f}", "n": f"{row['n']:,}"}
            line = self.say(f"{way}_{many}", slice=name, **numbers)
            line += self._example(row, digits) + self._explains(row)
            yield line if place else FirstScreen(line)
            if numbers["shrunken"] != numbers["gap"]:
                shrunken.append(f"{numbers['shrunken']} ({name})")
        if shrunken:
            yield self.say_first("curses", gaps=some(shrunken, _LARGEST))
        yield from map(FirstScreen, self.visible_lines(digits))
        if self.without_value:
            yield self.say_first("without_value", count=f"{self.without_value:,}")
        if self.left_out:
            yield self.say_first("left_out", columns=some(self.left_out, 4))
        if self.small:
            least = self.settings.min_size
            yield self.say_first("small", names=some(self.small, 4), least=f"{least:,}")

    def method_in_brief(self) -> Iterator[str]:
        """Yield what gaps, intervals and p are."""
        slices = f"{self.table.height:,}"
        yield self.say(f"brief_{self.settings.against}", slices=slices)

    def more(self) -> str:
        """Return what is shown beyond the first screen."""
        hidden = max(self.found.height - _LARGEST, 0)
        slices = self.say("more_found", count=hidden) if hidden else ""
        return self.say("whole", slices=slices)

    def _example(self, row: Mapping[str, Any], digits: int) -> str:
        if row["example"] is None:
            return ""
        text = row["example_text"]
        named = printable(row["example"], 40) + (
            f" “{printable(text, _TEXT)}”" if text else ""
        )
        scores = [
            f"{row[name]:.{digits}f}"
            for name in [*self._pair("example_versus"), "example_value"]
        ]
        return self.say("example", query=named, scores=" → ".join(scores))

    def _explains(self, row: Mapping[str, Any]) -> str:
        names = self.table.filter(within=row["slice"])["slice"].to_list()
        same, shown = (
            some([printable(name, _NAME) for name in of], _EXPLAINED)
            for of in (row["same"], names)
        )
        text = self.say("same", names=same) if row["same"] else ""
        return text + (
            self.say("explains", count=len(names), names=shown) if names else ""
        )

    def visible_lines(self, digits: int) -> Iterator[str]:
        """Yield the smallest gaps that slices can show, and whether the gap that matters is among them."""
        if not self.noise:
            yield self.say("no_noise")
            return
        margin = self.settings.margin
        power = f"{100 * self.settings.power:g} %"
        rows = [
            {
                "gap": f"{gap:.{digits}f}",
                "n": f"{size:,}",
                "share": percentage(share),
                "seen": gap,
            }
            for share, size, gap in self.visible_gaps().iter_rows()
        ]
        words = {
            "unit": self.say(f"n_{self.kind}"),
            "margin": f"{margin:g}" if margin else "",
            "power": power,
        }
        yield self.say(
            "visible",
            power=power,
            sizes=", ".join(self.say("of_size", **row, **words) for row in rows),
        )
        unseen = [row for row in rows if margin is not None and row["seen"] > margin]
        if margin is not None and unseen:
            yield self.say("cannot", **unseen[-1], **words) + self._needed(
                margin, unseen[-1], words
            )
        elif margin is not None:
            yield self.say("can", **words)

    def _needed(
        self, margin: float, unseen: Mapping[str, Any], words: Mapping[str, str]
    ) -> str:
        """Return which slices show a gap: larger ones, or those of more queries if half of them do not."""
        sizes = range(1, self.n // 2 + 1)
        first = bisect_left(sizes, -margin, key=lambda size: -self.visible(size))
        if first < len(sizes):
            return self.say("larger", **words, n=f"{sizes[first]:,}")
        times = (unseen["seen"] / margin) ** 2
        return self.say(
            "more", **words, share=unseen["share"], n=f"{math.ceil(self.n * times):,}"
        )

    def method_lines(self) -> Iterator[str]:
        """Yield how slices were compared."""
        yield self.say(
            f"about_{self.settings.against}",
            confidence=f"{100 * self.settings.confidence:g} %",
        )
        yield self.say("folding")
        yield self.say("curse_method")
        if self.kind == "rows":
            yield self.say("about_log")
