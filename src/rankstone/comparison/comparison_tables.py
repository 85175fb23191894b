"""Comparisons as people read them: verdicts, means with letters, leaderboards, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.comparison.compared_systems import ComparedRuns
from rankstone.comparison.comparison_caveats import (
    caveats_of,
    judged_share_table,
    method_of,
)
from rankstone.comparison.comparison_words import (
    MAX_NAME,
    MAX_SENTENCES,
    first_sentences,
    interval_ends,
    names_in,
    p_value,
    percent,
    short_names,
    signed,
)
from rankstone.comparison.practical_tables import practical_table
from rankstone.comparison.quality_and_cost import costs_of, tradeoff_tables
from rankstone.comparison.repeated_runs import repeated_sentences
from rankstone.comparison.verdict import CLEAR
from rankstone.errors import printable
from rankstone.tables.results import data_notes
from rankstone.tables.sheet import Details, Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from rankstone.comparison.compared_systems import ComparedSystems
    from rankstone.comparison.comparison_words import Say
    from rankstone.comparison.leaderboard import Leaderboard
    from rankstone.tables.sheet import Kind, Part

#: from this number of systems on, the title shows their number and not their names
_MANY: Final = 4


def sheet(
    comparison: ComparedSystems, digits: int = 4, *, verbose: bool = False
) -> Sheet:
    """Return the comparison for people to read; of more than 12 systems every pair only if ``verbose``."""
    say = comparison.say
    short = short_names(comparison)
    names = [short[system] for system in comparison.systems]
    systems = (
        " · ".join(names) if len(names) < _MANY else say("systems", count=len(names))
    )
    n = max(comparison.table["n"].to_list())
    brief = len(names) > MAX_SENTENCES and not verbose
    parts: list[Part] = [
        (
            say("verdict"),
            tuple(
                _clear(comparison)
                if brief
                else first_sentences(list(comparison.findings(digits)), say)
            ),
        ),
        *(
            [_leaderboard(comparison, digits)]
            if brief
            else [_means(comparison, digits), *_differences(comparison, digits)]
        ),
    ]
    if isinstance(comparison, ComparedRuns):
        parts += _of_scores(comparison, digits)
    if comparison.segments is not None:
        parts.append(_segments(comparison, digits))
    shares = judged_share_table(comparison)
    if shares is not None and not brief:
        parts.append(shares)
    caveats = list(caveats_of(comparison, digits))
    if caveats:
        parts.append((say("care"), tuple(first_sentences(caveats, say))))
    parts.append((say("how"), tuple(method_of(comparison, digits))))
    audit = getattr(comparison, "audit", None)
    conventions = getattr(comparison, "conventions", {})
    scores = (f"scores  {line}" for line in conventions.get("scores", ()))
    notes: tuple[str | Details, ...] = (
        *scores,
        data_notes(audit, conventions if "alignment" in conventions else None),
    )
    return Sheet(
        say("title", systems=systems, n=f"{n:,}"), parts=tuple(parts), notes=notes
    )


def _of_scores(comparison: ComparedRuns, digits: int) -> Iterator[Part]:
    """Yield what only scores in memory show: costs, practical differences, repeated runs."""
    if costs_of(comparison.measures, comparison.primary[0]):
        yield from tradeoff_tables(comparison, digits)
    if comparison.settings.rope is not None:
        yield practical_table(comparison)
    repeated = list(repeated_sentences(comparison))
    if repeated:
        lines = first_sentences(repeated, comparison.say)
        yield comparison.say("repeated"), tuple(lines)


def _clear(comparison: ComparedSystems) -> Iterator[str]:
    """Yield how many pairs are clearly different by each primary measure."""
    say = comparison.say
    for measure in comparison.primary:
        words = comparison.table.filter(measure=measure)["verdict"]
        counts = {"clear": f"{words.is_in(CLEAR).sum():,}", "count": f"{len(words):,}"}
        yield say(
            "clear", measure=printable(comparison.label(measure), MAX_NAME), **counts
        )
    yield say("every_pair")


def _leaderboard(comparison: ComparedSystems, digits: int) -> Table:
    """Return the systems by their means, best first, with letters, or verdicts against the baselines."""
    say = comparison.say
    board = comparison.board()
    short = short_names(comparison)
    level = percent(comparison.settings.confidence)
    means = [f"{mean:.{digits}f}" for mean in board.means]
    columns: list[tuple[str, Kind, list[str]]] = [
        (say("rank"), "number", [str(rank) for rank in board.rows["rank"]]),
        (say("system"), "id", [printable(name, 300) for name in board.systems]),
        (printable(comparison.label(comparison.primary[0]), MAX_NAME), "number", means),
        (say("interval", level=level), "interval", _ends(comparison, board, digits)),
    ]

    rivals = comparison.baselines or board.systems[:1]
    for rival in rivals:
        against = board.against(rival).iter_rows(named=True)
        cells = [_against(row, board, say) for row in against]
        rival_name = f" ({short[rival]})" if len(rivals) > 1 else ""
        heading = say("letters" if board.all_pairs else "verdict_head")
        columns.append((heading + rival_name, "text", [word for word, _ in cells]))
        counts = [count for _, count in cells]
        columns.append((say("wtl") + rival_name, "number", counts))

    if comparison.judged is not None:
        shares = board.rows["judged"]
        texts = [cell(share, digits=3) for share in shares]
        columns.append((comparison.judged[0], "number", texts))
    head, kinds, texts_of_columns = zip(*columns, strict=True)
    versus = ", ".join(short[rival] for rival in rivals)
    title = "leaderboard_letters" if board.all_pairs else "leaderboard"
    rows = tuple(zip(*texts_of_columns, strict=True))
    return Table(say(title, versus=versus), head, rows, kinds)


def _ends(comparison: ComparedSystems, board: Leaderboard, digits: int) -> list[str]:
    """Return the intervals of means with a decimal less, – where there is none."""
    intervals = comparison.mean_intervals(comparison.primary[0])
    fewer = max(digits - 1, 0)
    texts = []
    for system in board.systems:
        text = "–"
        if system in intervals:
            low, high = intervals[system]
            text = f"[{low:.{fewer}f}, {high:.{fewer}f}]"
        texts.append(text)
    return texts


def _against(row: Mapping[str, Any], board: Leaderboard, say: Say) -> tuple[str, str]:
    """Return the letters or the verdict of a row of a leaderboard, and its counts of queries."""
    word = board.letters.get(row["system"], "–")
    if row["verdict"] and not board.all_pairs:
        word = say(f"word_{row['verdict']}")
    if row["wins"] is None:
        return word, "–"
    return word, f"{row['wins']}/{row['ties']}/{row['losses']}"


def _numbers(comparison: ComparedSystems) -> dict[str, str]:
    """Return the number by which a row of differences names each system.

    Letters would be taken for those that say which systems differ.
    """
    return {system: f"#{number}" for number, system in enumerate(comparison.systems, 1)}


def _means(comparison: ComparedSystems, digits: int) -> Table:
    """Return the means of every system; of three and more, with the letters of each measure."""
    say = comparison.say
    lettered = not comparison.baselines
    number = _numbers(comparison)
    systems = comparison.systems
    means = {
        (row["system"], row["measure"]): row
        for row in comparison.mean().iter_rows(named=True)
    }
    letters = {
        measure: _padded(comparison.letters(measure) if lettered else {}, systems)
        for measure in comparison.measures
    }
    rows = []
    for system in systems:
        texts = []
        for measure in comparison.measures:
            row = means[system, measure]
            sd = ""
            if row["sd"] is not None:
                sd = f" ±{row['sd']:.{digits}f}"
            texts.append(f"{row['mean']:.{digits}f}{sd}{letters[measure][system]}")
        if comparison.judged is not None:
            share = means[system, comparison.measures[0]]["judged"]
            texts.append(cell(share, digits=3))
        rows.append((number[system], printable(system, 300), *texts))

    head = ["", say("system"), *map(comparison.label, comparison.measures)]
    if comparison.judged is not None:
        head.append(comparison.judged[0])
    numeric = (True, False, *(True for _ in head[2:]))
    # against a baseline, differences name the other system, so numbers would name nothing
    first = 1 if comparison.baselines else 0
    return Table(
        say("means_letters" if lettered else "means"),
        tuple(head[first:]),
        tuple(row[first:] for row in rows),
        numeric[first:],
    )


def _padded(letters: Mapping[str, str], systems: Sequence[str]) -> dict[str, str]:
    """Return the letters behind the means of systems, equally wide, so that decimals stay aligned."""
    width = max(map(len, letters.values()), default=0)
    return {
        system: f" {letters[system]:<{width}}" if letters else "" for system in systems
    }


def _row(
    row: dict[str, Any],
    say: Say,
    digits: int,
    corrected: bool,  # noqa: FBT001
) -> tuple[str, ...]:
    return (
        signed(row["difference"], digits),
        interval_ends(row, digits),
        p_value(row["p_adjusted"] if corrected else row["p"]),
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        say(f"word_{row['verdict']}"),
    )


def _head(
    comparison: ComparedSystems, table: pl.DataFrame, family: int
) -> tuple[tuple[str, ...], bool]:
    """Return the head of differences, and whether p is corrected; families may differ in their level."""
    say = comparison.say
    correction = comparison.families[family].correction
    corrected = comparison.families[family].size > 1 and correction != "none"
    p = say("p")
    if corrected:
        p = say("adjusted", correction=correction)
    difference = say("difference")
    if correction == "nemenyi":
        difference = say("rank_difference")
    return (
        difference,
        _interval(comparison, table),
        p,
        say("wtl"),
        say("verdict_head"),
    ), corrected


def _interval(comparison: ComparedSystems, table: pl.DataFrame) -> str:
    """Return the heading of intervals: simultaneous or pointwise, and their confidence."""
    say = comparison.say
    kinds = set(table["interval_kind"])
    if kinds == {"simultaneous"}:
        return say(
            "interval_simultaneous", level=percent(comparison.settings.confidence)
        )
    levels = set(map(percent, table["confidence"]))
    alone = set(table["family"]) == {1}
    if len(kinds) > 1 or (alone and len(levels) > 1):
        return say("intervals")
    if len(levels) > 1:
        return say("intervals_pointwise")
    return say("interval" if alone else "interval_pointwise", level=levels.pop())


def _differences(comparison: ComparedSystems, digits: int) -> list[Table]:
    """Return the differences of all pairs, or from each baseline."""
    say = comparison.say
    table = comparison.table
    number = _numbers(comparison)
    head, corrected = _head(comparison, table, 0)
    tables = []
    for baseline in comparison.baselines or [None]:
        title = say("differences")
        pairs = table
        if baseline is not None:
            title = say("differences_from", baseline=short_names(comparison)[baseline])
            pairs = table.filter(versus=baseline)
        rows = [
            (
                printable(comparison.label(row["measure"]), 60),
                f"{number[row['system']]} − {number[row['versus']]}"
                if baseline is None
                else printable(row["system"], 300),
                *_row(row, say, digits, corrected),
            )
            for row in pairs.iter_rows(named=True)
        ]
        columns = (say("measure"), say("system"), *head)
        tables += [Table(title, columns, tuple(rows), _KINDS)] if rows else []
    return tables


_KINDS: Final[tuple[Kind, ...]] = (
    "text",
    "id",
    "number",
    "interval",
    "p",
    "number",
    "text",
)


def _segments(comparison: ComparedSystems, digits: int) -> Table:
    say = comparison.say
    segments = comparison.segments
    assert segments is not None  # noqa: S101 - checked by the caller
    head, corrected = _head(comparison, segments, len(comparison.families) - 1)
    by = segments.columns[: segments.columns.index("measure")]
    short = short_names(comparison)
    several = len(comparison.primary) > 1 or len(comparison.systems) > 2  # noqa: PLR2004 - several comparisons each
    rows = []
    for row in segments.iter_rows(named=True):
        values = ", ".join(
            "–" if row[name] is None else printable(row[name], MAX_NAME) for name in by
        )
        names = names_in(comparison, row, short)
        what = (
            f"{names['measure']} {names['system']} − {names['versus']}"
            if several
            else names["measure"]
        )
        rows.append(
            (f"{values} ({row['n']:,})", what, *_row(row, say, digits, corrected))
        )
    return Table(
        say("segments"),
        (", ".join(map(printable, by)), say("measure"), *head),
        tuple(rows),
        _KINDS,
    )
