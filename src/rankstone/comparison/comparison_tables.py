"""Comparisons as people read them: sentences, means with letters, differences with intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final, Protocol

from rankstone.comparison.test_families import ALL_PAIRS
from rankstone.comparison.verdict import held_by_system
from rankstone.errors import printable
from rankstone.stats.automatic_intervals import FEW_CLUSTERS
from rankstone.stats.mean_intervals import METHODS
from rankstone.stats.multiple_testing import CORRECTIONS
from rankstone.tables.phrases import phrase
from rankstone.tables.results import conventions_lines
from rankstone.tables.sheet import Sheet, Table, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from rankstone.comparison.compare_systems import How
    from rankstone.comparison.test_families import Family
    from rankstone.tables.sheet import Kind


__all__ = ["Compared", "percent", "sentences", "sheet", "signed"]

Say = Callable[..., str]


#: sentences and cautions beyond so many are counted only
_SAID: Final = 12
#: more pairs than so many whose shares of judged documents differ are one table of systems
_FEW: Final = 3
#: a p below this is shown as being below it
_LEAST: Final = 0.0001
#: from so many systems on a title counts them
_MANY: Final = 4
#: names of systems in titles are cut to so many characters
_NAME: Final = 30


class Compared(Protocol):
    """What is shown of a comparison, wherever it was made; see ``Comparison``."""

    @property
    def systems(self) -> tuple[str, ...]:
        """What is compared."""

    @property
    def baseline(self) -> str | None:
        """What the others are held against."""

    @property
    def primary(self) -> tuple[str, ...]:
        """The measures that the verdict is about."""

    @property
    def measures(self) -> tuple[str, ...]:
        """All of them."""

    @property
    def table(self) -> pl.DataFrame:
        """A row a measure and pair."""

    @property
    def segments(self) -> pl.DataFrame | None:
        """The same for segments of queries."""

    def mean(self) -> pl.DataFrame:
        """Return a row a system and measure."""

    @property
    def families(self) -> tuple[Family, ...]:
        """What was asked together."""

    @property
    def how(self) -> How:
        """What was chosen."""

    @property
    def judged(self) -> tuple[str, Mapping[str, pl.DataFrame]] | None:
        """Judged@k of each run, where it is known."""

    @property
    def pool_bias(self) -> list[tuple[str, str]]:
        """Pairs whose shares of judged documents differ."""

    @property
    def replicates(self) -> Mapping[str, Sequence[str]]:
        """System → its runs."""

    @property
    def lang(self) -> str:
        """Of words."""


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign.

    >>> signed(0.03171), signed(-0.5, 2), signed(None)
    ('+0.0317', '-0.50', '–')
    """
    return "–" if value is None else f"{value:+.{digits}f}"


def percent(confidence: float) -> str:
    """Return a confidence as a percentage.

    >>> percent(0.95), percent(1 - 0.05 / 3)
    ('95 %', '98.33 %')
    """
    return f"{100 * confidence:.4g} %"


def _p(value: float) -> str:
    """Return a p-value.

    >>> _p(0.031), _p(0.00001)
    ('0.031', '<0.0001')
    """
    return f"<{_LEAST}" if value < _LEAST else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"  # noqa: PLR2004


def sheet(found: Compared, digits: int = 4) -> Sheet:
    """Return everything a person should see."""
    say = _say(found)
    short = _short(found)
    names = [short[system] for system in found.systems]
    systems = " · ".join(names) if len(names) < _MANY else say("systems", count=len(names))
    n = max(found.table["n"].to_list())
    parts: list[Table | tuple[str, tuple[str, ...]]] = [
        (say("verdict"), tuple(_cut(sentences(found, digits), say))),
        _means(found, say, digits),
        _differences(found, say, digits),
    ]
    if found.segments is not None:
        parts.append(_segments(found, say, digits))
    if shares := _shares(found, say):
        parts.append(shares)
    if cautions := list(_cautions(found, say, digits)):
        parts.append((say("care"), tuple(_cut(cautions, say))))
    parts.append((say("how"), tuple(_how(found, say, digits))))
    audit, told = getattr(found, "audit", None), getattr(found, "conventions", {})
    notes = [] if audit is None else audit.lines()
    notes += conventions_lines(told) if "alignment" in told else []
    return Sheet(say("title", systems=systems, n=f"{n:,}"), parts=tuple(parts), notes=tuple(notes))


def _say(found: Compared) -> Say:
    """Return the phrases of the language in which a comparison is shown."""
    return partial(phrase, "comparison", lang=found.lang)


def _cut(lines: list[str], say: Say) -> list[str]:
    if len(lines) <= _SAID:
        return lines
    return [*lines[:_SAID], say("more", count=len(lines) - _SAID)]


def _short(found: Compared) -> dict[str, str]:
    """Return the systems' names as sentences have them: short, and each another one."""
    shown = {system: printable(system, 300) for system in found.systems}
    short = shortened(shown.values(), _NAME)
    return {system: short[name] for system, name in shown.items()}


def _names(row: dict[str, Any], short: dict[str, str]) -> dict[str, str]:
    names = {name: short[row[name]] for name in ("system", "versus")}
    return {**names, "measure": printable(row["measure"], _NAME)}


def _ends(row: dict[str, Any], digits: int) -> str:
    return f"[{signed(row['low'], digits)}, {signed(row['high'], digits)}]"


def sentences(found: Compared, digits: int = 4) -> list[str]:
    """Return a sentence for each question of the primary family."""
    say, short, lines = _say(found), _short(found), []
    for row in found.table.filter(role="primary").iter_rows(named=True):
        numbers = f"{signed(row['difference'], digits)} {_ends(row, digits)}"
        if found.families[0].correction == "nemenyi":
            numbers = say("mean_ranks", numbers=numbers)
        n, margin = f"{row['n']:,}", found.how.margin
        line = say(row["verdict"], **_names(row, short), numbers=numbers, n=n, margin=margin)
        if row["verdict"] == "inconclusive" and row["detectable"] is not None:
            line += say("shows", least=f"{row['detectable']:.{digits}f}", power=percent(found.how.power))
        if row["needed"] is not None and row["needed_cautious"] is not None:
            line += say("would_decide", n=f"{row['needed']:,}", cautious=f"{row['needed_cautious']:,}")
        lines.append(line)
    return lines


def letters(count: int) -> list[str]:
    """Return so many different letters, then pairs of letters.

    >>> letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    found: list[str] = []
    width = 1
    while len(found) < count:
        found += ["".join(one) for one in product(ascii_lowercase, repeat=width)]
        width += 1
    return found[:count]


def _means(found: Compared, say: Say, digits: int) -> Table:
    """Return the means of every system, with the letters of those it is better than."""
    letter = dict(zip(found.systems, letters(len(found.systems)), strict=True))
    beaten: dict[tuple[str, str], list[str]] = {}
    for row in found.table.iter_rows(named=True):
        if row["verdict"] in ("better", "worse"):
            winner, loser = (row["system"], row["versus"])[:: 1 if row["verdict"] == "better" else -1]
            beaten.setdefault((winner, row["measure"]), []).append(letter[loser])
    wide: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found.mean().iter_rows(named=True):
        wide.setdefault(row["system"], {})[row["measure"]] = row
    judged, many = found.judged is not None, len(found.systems) > len(ascii_lowercase)
    rows = []
    for system, cells in wide.items():
        texts = []
        for measure in found.measures:
            row = cells[measure]
            sd = "" if row["sd"] is None else f" ±{row['sd']:.{digits}f}"
            worse = beaten.get((system, measure), [])
            said = (f">{len(worse)}" if worse else "") if many else _joined(worse)
            texts.append(f"{row['mean']:.{digits}f}{sd} {said}".strip())
        share = next(iter(cells.values()))["judged"]
        rows.append(
            (
                letter[system],
                printable(system, 300),
                *texts,
                *([("–" if share is None else f"{share:.3f}")] if judged else []),
            )
        )
    head = ("", say("system"), *found.measures, *([found.judged[0]] if found.judged is not None else []))
    numeric = (True, False, *(True for _ in head[2:]))
    return Table(say("means_many" if many else "means"), head, tuple(rows), numeric)


def _joined(found: list[str]) -> str:
    return "".join(sorted(found))


def _row(row: dict[str, Any], say: Say, digits: int, corrected: bool) -> tuple[str, ...]:  # noqa: FBT001
    return (
        signed(row["difference"], digits),
        _ends(row, digits),
        _p(row["p_adjusted"] if corrected else row["p"]),
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        say(f"word_{row['verdict']}"),
    )


def _head(found: Compared, table: pl.DataFrame, say: Say, family: int) -> tuple[tuple[str, ...], bool]:
    """Return the head of differences, and whether p is corrected; families may differ in their level."""
    one = found.families[family]
    corrected = one.size > 1 and one.correction != "none"
    p = say("adjusted", correction=one.correction) if corrected else say("p")
    difference = say("rank_difference" if one.correction == "nemenyi" else "difference")
    return (difference, _interval(found, table, say), p, say("wtl"), say("verdict_head")), corrected


def _interval(found: Compared, table: pl.DataFrame, say: Say) -> str:
    """Return what the intervals of a table are called, by what their confidence is of."""
    kinds = set(table["interval_kind"])
    if kinds == {"simultaneous"}:
        return say("interval_simultaneous", level=percent(found.how.confidence))
    levels = set(map(percent, table["confidence"]))
    alone = set(table["family"]) == {1}
    if len(kinds) > 1 or (alone and len(levels) > 1):
        return say("intervals")
    if len(levels) > 1:
        return say("intervals_pointwise")
    return say("interval" if alone else "interval_pointwise", level=levels.pop())


def _differences(found: Compared, say: Say, digits: int) -> Table:
    head, corrected = _head(found, found.table, say, 0)
    held = found.baseline is not None
    letter = dict(zip(found.systems, letters(len(found.systems)), strict=True))
    rows = [
        (
            printable(row["measure"], _NAME),
            printable(row["system"], 300) if held else f"{letter[row['system']]} − {letter[row['versus']]}",
            *_row(row, say, digits, corrected),
        )
        for row in found.table.iter_rows(named=True)
    ]
    title = (
        say("differences_from", baseline=_short(found)[found.baseline])
        if found.baseline is not None
        else say("differences")
    )
    return Table(title, (say("measure"), say("system"), *head), tuple(rows), _KINDS)


#: measure and system are names, all else keeps its width
_KINDS: Final[tuple[Kind, ...]] = ("text", "id", "number", "interval", "p", "number", "text")


def _segments(found: Compared, say: Say, digits: int) -> Table:
    assert found.segments is not None  # noqa: S101 - who asks has looked
    head, corrected = _head(found, found.segments, say, len(found.families) - 1)
    by = found.segments.columns[: found.segments.columns.index("measure")]
    short = _short(found)
    several = len(found.primary) > 1 or len(found.systems) > 2  # noqa: PLR2004 - more than one question each
    rows = []
    for row in found.segments.iter_rows(named=True):
        values = ", ".join("–" if row[name] is None else printable(row[name], _NAME) for name in by)
        names = _names(row, short)
        what = f"{names['measure']} {names['system']} − {names['versus']}" if several else names["measure"]
        rows.append((f"{values} ({row['n']:,})", what, *_row(row, say, digits, corrected)))
    return Table(say("segments"), (", ".join(map(printable, by)), say("measure"), *head), tuple(rows), _KINDS)


def _shares(found: Compared, say: Say) -> Table | None:
    """Return who has more judged documents than how many others, where that is too much for sentences."""
    if found.judged is None or len(found.pool_bias) <= _FEW:
        return None
    shares = dict(found.mean().select("system", "judged").unique(maintain_order=True).rows())
    rows = tuple(
        (printable(system, 300), f"{share:.3f}", f"{more:,}", f"{less:,}")
        for system, share, more, less in held_by_system(found.pool_bias, shares)
    )
    head = (say("system"), found.judged[0], say("more_than"), say("less_than"))
    return Table(say("pools", judged=found.judged[0]), head, rows, (False, True, True, True))


def _cautions(found: Compared, say: Say, digits: int) -> Iterator[str]:
    """Say what a reader should not miss."""
    short = _short(found)
    audit = getattr(found, "audit", None)  # a cluster's comparison has none, and leaves out no run
    for name, error in () if audit is None else audit.bad_runs.items():
        yield say("bad_run", system=printable(name, _NAME), why=error.what)
    shares = dict(found.mean().select("system", "judged").unique(maintain_order=True).rows())
    for one, other in found.pool_bias if len(found.pool_bias) <= _FEW else ():
        yield say(
            "pool",
            judged=found.judged[0] if found.judged else "",
            one=short[one],
            other=short[other],
            a=f"{shares[one]:.3f}",
            b=f"{shares[other]:.3f}",
        )
    for measure, left_out in found.table.select("measure", "left_out").unique(maintain_order=True).rows():
        if left_out:
            yield say("left_out", measure=measure, n=f"{left_out:,}")
    if found.table["units"][0] < min(FEW_CLUSTERS, found.table["n"][0]):
        yield say("few_clusters", units=f"{found.table['units'][0]:,}", least=FEW_CLUSTERS)
    correction, first = found.families[0].correction, found.table.filter(role="primary")
    if correction in ALL_PAIRS and first["low"].is_null().all():
        yield say("too_few", units=f"{first['units'][0]:,}", correction=correction)
    for row in found.table.iter_rows(named=True):
        open_ = row["low"] is None or row["low"] <= 0 <= row["high"]
        if (row["p_adjusted"] <= found.how.alpha) == open_:
            yield say("borderline", **_names(row, short), p=_p(row["p_adjusted"]))
        if row.get("lowest") is not None:
            low, high = signed(row["lowest"], digits), signed(row["highest"], digits)
            yield say("flip", **_names(row, short), low=low, high=high)


def _how(found: Compared, say: Say, digits: int) -> Iterator[str]:
    """Say how the numbers were found."""
    family = found.families[0]
    alpha = f"{found.how.alpha:g}"
    if family.size == 1:
        yield say("single", alpha=alpha)
    else:
        held = {"none": "family_each", "bh": "family_share", "by": "family_share"}
        named = {**CORRECTIONS, **ALL_PAIRS}[family.correction].split(":")[0]
        yield say(held.get(family.correction, "family"), size=family.size, correction=named, alpha=alpha)
        if family.correction in ALL_PAIRS:
            yield say(f"assumed_{family.correction}")
    if family.test == "randomisation":
        n, seed = f"{family.permutations:,}", found.how.seed
        drawn = say("drawn", n=n, seed=seed) if family.permutations else say("exact")
        yield say("test", test=say("test_randomisation", permutations=drawn))
    else:
        yield say("test", test=family.test)
    if family.level == family.level:  # not NaN, as where a procedure brings its own
        levels = dict.fromkeys(map(percent, found.table["confidence"]))
        yield say("interval_method", method=METHODS[found.how.interval], levels=", ".join(levels))
    if family.size > 1:
        yield say(family.interval_kind, level=percent(found.how.confidence))
    others = [measure for measure in found.measures if measure not in found.primary]
    if others:
        yield say("exploratory", measures=", ".join(others))
    several = [name for name, runs in found.replicates.items() if len(runs) > 1]
    if several:
        yield say("runs", systems=", ".join(printable(name, _NAME) for name in several))
    if found.table["units"][0] != found.table["n"][0]:
        yield say("clusters", units=f"{found.table['units'][0]:,}")
    least = found.table.filter(role="primary").drop_nulls("detectable")["detectable"]
    if len(least):
        low, high = (f"{value:.{digits}f}" for value in (min(least), max(least)))
        yield say(
            "detectable", power=percent(found.how.power), values=low if low == high else f"{low} – {high}"
        )
