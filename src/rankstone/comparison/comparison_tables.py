"""Comparisons as people read them: verdicts, means with letters, leaderboards, differences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from rankstone.comparison.compared_systems import ComparedRuns
from rankstone.comparison.comparison_caveats import (
    caveats_of,
    few_differing,
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
from rankstone.comparison.verdict import CLEAR, turned
from rankstone.comparison.verdict_conditions import conditions_of
from rankstone.errors import printable
from rankstone.tables.results import data_notes
from rankstone.tables.sheet import Details, Sheet, Table, cell
from rankstone.tables.short_names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.comparison.compared_systems import ComparedSystems
    from rankstone.comparison.comparison_words import Say
    from rankstone.comparison.leaderboard import Leaderboard
    from rankstone.tables.sheet import Kind, Part

#: from this number of systems on, the title shows their number and not their names
_MANY: Final = 4
_PAIR: Final = 2
#: the longest name above means
_MEAN_WIDTH: Final = 11
#: in place of what is not known
_NONE: Final = "–"
#: verdict → its sign
_SIGNS: Final = {
    "better": "▲",
    "worse": "▼",
    "higher": "↑",
    "lower": "↓",
    "equivalent": "≈",
    "identical": "=",
    "inconclusive": "·",
}


class _Column(NamedTuple):
    """A column of a leaderboard."""

    head: str
    kind: Kind
    texts: list[str]


def sheet(
    comparison: ComparedSystems, digits: int = 4, *, verbose: bool = False
) -> Sheet:
    """Return the comparison for people to read.

    Of two systems it has a sentence, and means and differences by each measure; of more a leaderboard, and the
    differences from each baseline, or from the best system, by the primary measures.  ``verbose``: a
    sentence for each comparison, and the differences of every pair by each measure.
    """
    say = comparison.say
    short = short_names(comparison)
    names = [short[system] for system in comparison.systems]
    if len(names) < _MANY:
        systems = " · ".join(names)
    else:
        systems = say("systems", count=len(names))
    n = max(comparison.table["n"].to_list())
    draw = _brief
    if verbose:
        draw = _whole
    parts = draw(comparison, digits)
    if isinstance(comparison, ComparedRuns):
        parts += _of_scores(comparison, digits)
    if comparison.segments is not None:
        parts.append(_segments(comparison, digits))
    shares = judged_share_table(comparison)
    if shares is not None and verbose:
        parts.append(shares)
    caveats = list(caveats_of(comparison, digits))
    if len(names) > _PAIR and not verbose:
        caveats += few_differing(comparison)
    if caveats:
        parts.append((say("care"), tuple(first_sentences(caveats, say))))
    parts.append((say("how"), tuple(method_of(comparison, digits))))
    audit = getattr(comparison, "audit", None)
    conventions = getattr(comparison, "conventions", {})
    scores = (f"scores  {line}" for line in conventions.get("scores", ()))
    notes: tuple[str | Details, ...] = (
        *scores,
        data_notes(
            audit, conventions if "alignment" in conventions else None, comparison.lang
        ),
    )
    whole = None
    if len(names) <= MAX_SENTENCES and not verbose:
        whole = partial(sheet, comparison, digits, verbose=True)
    more = ""
    if len(names) > _PAIR and not verbose:
        more = _everything(comparison)
    return Sheet(
        say("title", systems=systems, n=f"{n:,}"),
        parts=tuple(parts),
        notes=notes,
        whole=whole,
        more=more,
    )


def _everything(comparison: ComparedSystems) -> str:
    """Return where all pairs are shown, by all measures."""
    further = len(comparison.measures) > len(comparison.primary)
    return comparison.say("every_pair_and_measure" if further else "every_pair")


def _brief(comparison: ComparedSystems, digits: int) -> list[Part]:
    """Return how many pairs differ clearly, the leaderboard, and the differences from its rivals.

    Of two systems a sentence, and the means beside their differences.
    """
    say = comparison.say
    if len(comparison.systems) == _PAIR:
        findings = list(comparison.findings(digits))
        verdict = first_sentences(findings, say)
        verdict += conditions_of(comparison, digits)
        return [(say("verdict"), tuple(verdict)), _pair(comparison, digits)]

    parts: list[Part] = [
        (say("verdict"), (*_clear(comparison), *conditions_of(comparison, digits))),
        _leaderboard(comparison, digits),
    ]
    if len(comparison.systems) <= MAX_SENTENCES:
        rivals = comparison.baselines or comparison.board().systems[:1]
        for rival in rivals:
            parts += _differences_from(comparison, rival, comparison.primary, digits)
    return parts


def _pair(comparison: ComparedSystems, digits: int) -> Table:
    """Return the means of two systems by each measure, and their difference."""
    say = comparison.say
    differences = comparison.table.rows(named=True)
    order = (differences[0]["versus"], differences[0]["system"])
    head, corrected = _head(comparison, comparison.table, 0)
    rows = []
    for row in differences:
        measure = row["measure"]
        label = printable(comparison.label(measure), 60)
        means = _means_of(comparison, measure, order, digits)
        cells = _row(row, say, digits, corrected)
        rows.append((label, *means, *cells))
    short = shortened(map(printable, order), _MEAN_WIDTH)
    names = [short[printable(name)] for name in order]
    return Table(
        say("differences_from", baseline=short_names(comparison)[order[0]]),
        (say("measure"), *names, *head),
        tuple(rows),
        ("text", "number", "number", *_KINDS[2:]),
        signs=_signs(say),
    )


def _whole(comparison: ComparedSystems, digits: int) -> list[Part]:
    """Return a sentence for each comparison, all means, and the differences of every pair."""
    sentences = first_sentences(list(comparison.findings(digits)), comparison.say)
    sentences += conditions_of(comparison, digits)
    parts: list[Part] = [
        (comparison.say("verdict"), tuple(sentences)),
        _means(comparison, digits),
    ]
    if comparison.baselines:
        for baseline in comparison.baselines:
            parts += _differences_from(
                comparison, baseline, comparison.measures, digits
            )
    else:
        parts.append(_differences(comparison, digits))
    return parts


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
        clear = words.is_in(CLEAR).sum()
        yield say(
            "clear",
            measure=printable(comparison.label(measure), MAX_NAME),
            clear=f"{clear:,}",
            count=f"{len(words):,}",
        )


def _leaderboard(comparison: ComparedSystems, digits: int) -> Table:
    """Return the systems by their means of the first primary measure, best first.

    Up to 12 of them have their means by the other measures, and letters where every pair is compared; more
    have their verdicts and counts of queries against each rival, whose differences are not shown then.
    """
    say = comparison.say
    measure = comparison.primary[0]
    board = comparison.board()
    level = percent(comparison.settings.confidence)
    lettered = board.all_pairs
    columns: list[_Column] = [
        _Column(say("rank"), "number", [str(rank) for rank in board.rows["rank"]]),
        _Column(say("system"), "id", [printable(name, 300) for name in board.systems]),
        _Column(
            printable(comparison.label(measure), MAX_NAME),
            "number",
            _means_of(comparison, measure, board.systems, digits),
        ),
    ]
    ends = _ends(comparison, board, digits)
    if any(text != _NONE for text in ends):
        columns.append(_Column(say("interval", level=level), "interval", ends))
    if lettered:
        letters = [board.letters[system] for system in board.systems]
        columns.append(_Column(say("letters"), "text", letters))

    versus = ""
    if len(board.systems) > MAX_SENTENCES:
        columns += _rival_columns(comparison, board)
        short = short_names(comparison)
        rivals = comparison.baselines or board.systems[:1]
        names = ", ".join(short[rival] for rival in rivals)
        versus = say("counts_versus" if lettered else "verdicts_versus", versus=names)
    else:
        columns += _further_means(comparison, board.systems, digits)
    if len(board.systems) > MAX_SENTENCES and _says_something(board.rows["judged"]):
        assert comparison.judged is not None  # noqa: S101 - the shares have a name
        texts = [cell(share, digits=3) for share in board.rows["judged"]]
        columns.append(_Column(comparison.judged[0], "number", texts))

    title = say("leaderboard_letters" if lettered else "leaderboard", versus=versus)
    head, kinds, texts_of_columns = zip(*columns, strict=True)
    rows = tuple(zip(*texts_of_columns, strict=True))
    return Table(title, head, rows, kinds, signs=_signs(say))


def _says_something(shares: pl.Series) -> bool:
    """Return whether shares of judged documents are known, and some document is not judged."""
    return bool((shares.drop_nulls() < 1).any())


def _rival_columns(
    comparison: ComparedSystems, board: Leaderboard
) -> Iterator[_Column]:
    """Yield the verdicts, where there are no letters, and the counts of queries against each rival."""
    say = comparison.say
    rivals = comparison.baselines or board.systems[:1]
    short = short_names(comparison)
    for rival in rivals:
        rows = board.against(rival).rows(named=True)
        rival_name = f" ({short[rival]})" if len(rivals) > 1 else ""
        if not board.all_pairs:
            words = [_word(row["verdict"], say) for row in rows]
            yield _Column(say("verdict_head") + rival_name, "verdict", words)
        counts = []
        for row in rows:
            known = row["wins"] is not None
            counts.append(_counts(row) if known else _NONE)
        yield _Column(say("wtl") + rival_name, "number", counts)


def _further_means(
    comparison: ComparedSystems, systems: Sequence[str], digits: int
) -> Iterator[_Column]:
    """Yield the means by all measures but the first primary one, each with its letters."""
    for measure in comparison.measures:
        if measure != comparison.primary[0]:
            texts = _means_of(comparison, measure, systems, digits)
            if not comparison.baselines:
                letters = _padded(comparison.letters(measure), systems)
                lettered = zip(texts, systems, strict=True)
                texts = [f"{text}{letters[system]}" for text, system in lettered]
            label = printable(comparison.label(measure), MAX_NAME)
            yield _Column(label, "number", texts)


def _means_of(
    comparison: ComparedSystems, measure: str, systems: Sequence[str], digits: int
) -> list[str]:
    """Return the means of systems by a measure; of repeated runs with the deviation of their means."""
    rows = comparison.mean().filter(measure=measure).rows_by_key("system", named=True)
    texts = []
    for system in systems:
        row = rows[system][0]
        mean = row["mean"]
        deviation = row["sd"]
        text = f"{mean:.{digits}f}"
        if deviation is not None:
            text += f" ±{deviation:.{digits}f}"
        texts.append(text)
    return texts


def _word(verdict: str | None, say: Say) -> str:
    return _NONE if verdict is None else say(f"word_{verdict}")


def _counts(row: Mapping[str, Any]) -> str:
    return f"{row['wins']}/{row['ties']}/{row['losses']}"


def _signs(say: Say) -> dict[str, str]:
    """Return the word of each verdict → the sign that a page of text shows for it."""
    return {say(f"word_{verdict}"): sign for verdict, sign in _SIGNS.items()}


def _ends(comparison: ComparedSystems, board: Leaderboard, digits: int) -> list[str]:
    """Return the intervals of means with a decimal less, – where there is none."""
    intervals = comparison.mean_intervals(comparison.primary[0])
    fewer = max(digits - 1, 0)
    texts = []
    for system in board.systems:
        text = _NONE
        if system in intervals:
            low, high = intervals[system]
            text = f"[{low:.{fewer}f}, {high:.{fewer}f}]"
        texts.append(text)
    return texts


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
    texts = [
        [number[system] for system in systems],
        [printable(system, 300) for system in systems],
    ]
    for measure in comparison.measures:
        letters = _padded(comparison.letters(measure) if lettered else {}, systems)
        means = _means_of(comparison, measure, systems, digits)
        lettered_means = zip(means, systems, strict=True)
        texts.append([f"{mean}{letters[system]}" for mean, system in lettered_means])
    means_of_first = comparison.mean().filter(measure=comparison.measures[0])
    shares = dict(means_of_first.select("system", "judged").iter_rows())
    judged = "" if comparison.judged is None else comparison.judged[0]
    shown = judged and judged not in map(comparison.label, comparison.measures)
    if shown and _says_something(means_of_first["judged"]):
        texts.append([cell(shares[system], digits=3) for system in systems])
    rows = tuple(zip(*texts, strict=True))

    head = ["", say("system"), *map(comparison.label, comparison.measures)]
    if len(texts) > len(head):
        head.append(judged)
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
        _counts(row),
        _word(row["verdict"], say),
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


def _differences(comparison: ComparedSystems, digits: int) -> Table:
    """Return the differences of all pairs by each measure; numbers name the systems."""
    say = comparison.say
    number = _numbers(comparison)
    head, corrected = _head(comparison, comparison.table, 0)
    rows = [
        (
            printable(comparison.label(row["measure"]), 60),
            f"{number[row['system']]} − {number[row['versus']]}",
            *_row(row, say, digits, corrected),
        )
        for row in comparison.table.iter_rows(named=True)
    ]
    columns = (say("measure"), say("system"), *head)
    return Table(say("differences"), columns, tuple(rows), _KINDS, signs=_signs(say))


def _differences_from(
    comparison: ComparedSystems, rival: str, measures: Sequence[str], digits: int
) -> list[Table]:
    """Return the differences of systems from one of them by some measures; no table without any."""
    say = comparison.say
    pairs = comparison.table.filter(pl.col("measure").is_in(measures))
    is_rival = pl.col("versus", "system") == rival
    pairs = pairs.filter(pl.any_horizontal(is_rival))
    if comparison.baselines:
        pairs = pairs.filter(versus=rival)
    if pairs.is_empty():
        return []
    head, corrected = _head(comparison, pairs, 0)
    rows = [
        row if row["versus"] == rival else turned(row)
        for row in pairs.iter_rows(named=True)
    ]
    if len(measures) == 1:
        order = comparison.board(measures[0]).systems
        rows.sort(key=lambda row: order.index(row["system"]))
    cells = [
        (
            printable(comparison.label(row["measure"]), 60),
            printable(row["system"], 300),
            *_row(row, say, digits, corrected),
        )
        for row in rows
    ]
    names = {"baseline": short_names(comparison)[rival]}
    columns = (say("measure"), say("system"), *head)
    if len(measures) > 1:
        title = say("differences_from", **names)
        table = Table(title, columns, tuple(cells), _KINDS, signs=_signs(say))
        return [table]

    # the title names the only measure
    title = say("differences_from_on", measure=cells[0][0], **names)
    rest = tuple(row[1:] for row in cells)
    return [Table(title, columns[1:], rest, _KINDS[1:], signs=_signs(say))]


_KINDS: Final[tuple[Kind, ...]] = (
    "text",
    "id",
    "number",
    "interval",
    "p",
    "number",
    "verdict",
)


def _segments(comparison: ComparedSystems, digits: int) -> Table:
    say = comparison.say
    segments = comparison.segments
    assert segments is not None  # noqa: S101 - checked by the caller
    head, corrected = _head(comparison, segments, len(comparison.families) - 1)
    by = segments.columns[: segments.columns.index("measure")]
    short = short_names(comparison)
    several = len(comparison.primary) > 1 or len(comparison.systems) > _PAIR
    rows = []
    for row in segments.iter_rows(named=True):
        values = ", ".join(
            "–" if row[name] is None else printable(row[name], MAX_NAME) for name in by
        )
        names = names_in(comparison, row, short)
        if several:
            what = f"{names['measure']} {names['system']} − {names['versus']}"
        else:
            what = names["measure"]
        rows.append(
            (f"{values} ({row['n']:,})", what, *_row(row, say, digits, corrected))
        )
    return Table(
        say("segments"),
        (", ".join(map(printable, by)), say("measure"), *head),
        tuple(rows),
        _KINDS,
        signs=_signs(say),
    )
