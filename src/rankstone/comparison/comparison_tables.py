"""Comparisons as people read them: verdicts, means with letters, differences, caveats; means in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import some
from rankstone.comparison.quality_and_cost import costs_of, tradeoff_tables
from rankstone.comparison.repeated_runs import repeated_sentences
from rankstone.comparison.score_sources import fact_of
from rankstone.comparison.test_families import ALL_PAIRS
from rankstone.comparison.verdict import CLEAR, JUDGED, judged_share_counts
from rankstone.errors import printable
from rankstone.stats.automatic_intervals import FEW_CLUSTERS
from rankstone.tables.markup import escaped_latex
from rankstone.tables.phrases import phrase
from rankstone.tables.results import data_notes
from rankstone.tables.sheet import Details, Sheet, Table, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rankstone.comparison.comparison_result import ComparedSystems
    from rankstone.tables.sheet import Kind


Say = Callable[..., str]


#: sentences and caveats that are shown, further ones are counted; systems whose pairs are all shown
_SHOWN: Final = 12
#: pairs with different shares of judged documents that get a sentence each; more of them get a table
_FEW: Final = 3
#: smaller p-values are shown as smaller than this
_LEAST: Final = 0.0001
#: from this number of systems on, the title shows their number and not their names
_MANY: Final = 4
#: longest name of a system in titles and sentences
_NAME: Final = 30
#: marks of systems against a baseline in LaTeX
_DAGGERS: Final = {
    "better": r"\dagger",
    "higher": r"\dagger",
    "worse": r"\ddagger",
    "lower": r"\ddagger",
}


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
    return (
        f"<{_LEAST}"
        if value < _LEAST
        else f"{value:.2g}"
        if value < 0.1  # noqa: PLR2004 - several comparisons each
        else f"{value:.2f}"
    )


def sheet(
    comparison: ComparedSystems, digits: int = 4, *, verbose: bool = False
) -> Sheet:
    """Return the comparison for people to read; of more than 12 systems every pair only if ``verbose``."""
    from rankstone.comparison.comparison_result import Comparison

    say = _say(comparison)
    short = _short(comparison)
    names = [short[system] for system in comparison.systems]
    systems = (
        " · ".join(names) if len(names) < _MANY else say("systems", count=len(names))
    )
    n, brief = max(comparison.table["n"].to_list()), len(names) > _SHOWN and not verbose
    parts: list[Table | tuple[str, tuple[str, ...]]] = [
        (
            say("verdict"),
            tuple(
                _clear(comparison, say)
                if brief
                else _cut(sentences(comparison, digits), say)
            ),
        ),
        *(
            [_leaderboard(comparison, say, digits)]
            if brief
            else [
                _means(comparison, say, digits),
                _differences(comparison, say, digits),
            ]
        ),
    ]
    if isinstance(comparison, Comparison) and costs_of(
        comparison.measures, comparison.primary[0]
    ):
        parts += tradeoff_tables(comparison, say, digits)
    if isinstance(comparison, Comparison) and (
        repeated := list(repeated_sentences(comparison))
    ):
        parts.append((say("repeated"), tuple(_cut(repeated, say))))
    if comparison.segments is not None:
        parts.append(_segments(comparison, say, digits))
    if not brief and (shares := _shares(comparison, say)):
        parts.append(shares)
    if caveats := list(_caveats(comparison, say, digits)):
        parts.append((say("care"), tuple(_cut(caveats, say))))
    parts.append((say("how"), tuple(_method(comparison, say, digits))))
    audit, conventions = (
        getattr(comparison, "audit", None),
        getattr(comparison, "conventions", {}),
    )
    scores = (f"scores  {line}" for line in conventions.get("scores", ()))
    notes: tuple[str | Details, ...] = (
        *scores,
        data_notes(audit, conventions if "alignment" in conventions else None),
    )
    return Sheet(
        say("title", systems=systems, n=f"{n:,}"), parts=tuple(parts), notes=notes
    )


def _clear(comparison: ComparedSystems, say: Say) -> Iterator[str]:
    """Yield how many pairs are clearly different by each primary measure."""
    for measure in comparison.primary:
        words = comparison.table.filter(measure=measure)["verdict"]
        counts = {"clear": f"{words.is_in(CLEAR).sum():,}", "count": f"{len(words):,}"}
        yield say(
            "clear", measure=printable(comparison.label(measure), _NAME), **counts
        )
    yield say("every_pair")


def _leaderboard(comparison: ComparedSystems, say: Say, digits: int) -> Table:
    """Return the systems by their means, best first, with letters, or verdicts against the baseline."""
    board, against, rows, fewer = (
        comparison.leaderboard(),
        comparison.baseline,
        [],
        max(digits - 1, 0),
    )
    for row in board.iter_rows(named=True):
        ends = (
            "–"
            if row["low"] is None
            else f"[{row['low']:.{fewer}f}, {row['high']:.{fewer}f}]"
        )
        word = row["letters"] or (
            say(f"word_{row['verdict']}") if row["verdict"] else "–"
        )
        counts = (
            "–"
            if row["wins"] is None
            else f"{row['wins']}/{row['ties']}/{row['losses']}"
        )
        judged = "–" if row["judged"] is None else f"{row['judged']:.3f}"
        mean = f"{row['mean']:.{digits}f}"
        rows.append(
            (
                f"{row['rank']}",
                printable(row["system"], 300),
                mean,
                ends,
                word,
                counts,
                judged,
            )
        )
    versus = _short(comparison)[against or board["system"][0]]
    head = [
        say("rank"),
        say("system"),
        printable(comparison.label(comparison.primary[0]), _NAME),
        say("interval", level=percent(comparison.settings.confidence)),
        say("letters" if against is None else "verdict_head"),
        say("wtl"),
    ]
    head += [] if comparison.judged is None else [comparison.judged[0]]
    kinds: tuple[Kind, ...] = (
        "number",
        "id",
        "number",
        "interval",
        "text",
        "number",
        "number",
    )
    title = say(
        "leaderboard_letters" if against is None else "leaderboard", versus=versus
    )
    return Table(
        title, tuple(head), tuple(row[: len(head)] for row in rows), kinds[: len(head)]
    )


def _say(comparison: ComparedSystems) -> Say:
    """Return the phrases of the comparison's language."""
    return partial(phrase, "comparison", lang=comparison.lang)


def _cut(lines: list[str], say: Say) -> list[str]:
    if len(lines) <= _SHOWN:
        return lines
    return [*lines[:_SHOWN], say("more", count=len(lines) - _SHOWN)]


def _short(comparison: ComparedSystems) -> dict[str, str]:
    """Return a short name for each system, all of them different."""
    shown = {system: printable(system, 300) for system in comparison.systems}
    short = shortened(shown.values(), _NAME)
    return {system: short[name] for system, name in shown.items()}


def _names(
    comparison: ComparedSystems, row: dict[str, Any], short: dict[str, str]
) -> dict[str, str]:
    names = {name: short[row[name]] for name in ("system", "versus")}
    return {**names, "measure": printable(comparison.label(row["measure"]), _NAME)}


def _ends(row: dict[str, Any], digits: int) -> str:
    return f"[{signed(row['low'], digits)}, {signed(row['high'], digits)}]"


def sentences(comparison: ComparedSystems, digits: int = 4) -> list[str]:
    """Return a sentence for each comparison of the primary family."""
    say, short, lines = _say(comparison), _short(comparison), []
    for row in comparison.table.filter(role="primary").iter_rows(named=True):
        difference, level = (
            signed(row["difference"], digits),
            percent(row["confidence"]),
        )
        numbers = say(
            "numbers", difference=difference, level=level, ends=_ends(row, digits)
        )
        if comparison.families[0].correction == "nemenyi":
            numbers = say("mean_ranks", numbers=numbers)
        n, margin = f"{row['n']:,}", comparison.settings.margin
        line = say(
            row["verdict"],
            **_names(comparison, row, short),
            numbers=numbers,
            n=n,
            margin=margin,
        )
        if row["needed"] is not None and row["needed_cautious"] is not None:
            line += say(
                "would_decide",
                n=f"{row['needed']:,}",
                cautious=f"{row['needed_cautious']:,}",
            )
        lines.append(line)
    return lines


def names_of_letters(count: int) -> list[str]:
    """Return so many different letters, then pairs of letters.

    >>> names_of_letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    words: list[str] = []
    width = 1
    while len(words) < count:
        words += ["".join(one) for one in product(ascii_lowercase, repeat=width)]
        width += 1
    return words[:count]


def _means(comparison: ComparedSystems, say: Say, digits: int) -> Table:
    """Return the means of every system, with the letters of those it is better than."""
    letter = dict(
        zip(comparison.systems, names_of_letters(len(comparison.systems)), strict=True)
    )
    beaten: dict[tuple[str, str], list[str]] = {}
    for row in comparison.table.iter_rows(named=True):
        if row["verdict"] in ("better", "worse"):
            winner, loser = (row["system"], row["versus"])[
                :: 1 if row["verdict"] == "better" else -1
            ]
            beaten.setdefault((winner, row["measure"]), []).append(letter[loser])
    wide: dict[str, dict[str, dict[str, Any]]] = {}
    for row in comparison.mean().iter_rows(named=True):
        wide.setdefault(row["system"], {})[row["measure"]] = row
    judged, many = (
        comparison.judged is not None,
        len(comparison.systems) > len(ascii_lowercase),
    )
    rows = []
    for system, cells in wide.items():
        texts = []
        for measure in comparison.measures:
            row = cells[measure]
            sd = "" if row["sd"] is None else f" ±{row['sd']:.{digits}f}"
            worse = beaten.get((system, measure), [])
            said = (
                (f">{len(worse)}" if worse else "") if many else "".join(sorted(worse))
            )
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
    head = (
        "",
        say("system"),
        *map(comparison.label, comparison.measures),
        *([comparison.judged[0]] if comparison.judged is not None else []),
    )
    numeric = (True, False, *(True for _ in head[2:]))
    return Table(say("means_many" if many else "means"), head, tuple(rows), numeric)


def _row(
    row: dict[str, Any],
    say: Say,
    digits: int,
    corrected: bool,  # noqa: FBT001
) -> tuple[str, ...]:
    return (
        signed(row["difference"], digits),
        _ends(row, digits),
        _p(row["p_adjusted"] if corrected else row["p"]),
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        say(f"word_{row['verdict']}"),
    )


def _head(
    comparison: ComparedSystems, table: pl.DataFrame, say: Say, family: int
) -> tuple[tuple[str, ...], bool]:
    """Return the head of differences, and whether p is corrected; families may differ in their level."""
    one = comparison.families[family]
    corrected = one.size > 1 and one.correction != "none"
    p = say("adjusted", correction=one.correction) if corrected else say("p")
    difference = say("rank_difference" if one.correction == "nemenyi" else "difference")
    return (
        difference,
        _interval(comparison, table, say),
        p,
        say("wtl"),
        say("verdict_head"),
    ), corrected


def _interval(comparison: ComparedSystems, table: pl.DataFrame, say: Say) -> str:
    """Return the heading of intervals: simultaneous or pointwise, and their confidence."""
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


def _differences(comparison: ComparedSystems, say: Say, digits: int) -> Table:
    head, corrected = _head(comparison, comparison.table, say, 0)
    has_baseline = comparison.baseline is not None
    letter = dict(
        zip(comparison.systems, names_of_letters(len(comparison.systems)), strict=True)
    )
    rows = [
        (
            printable(comparison.label(row["measure"]), 60),
            printable(row["system"], 300)
            if has_baseline
            else f"{letter[row['system']]} − {letter[row['versus']]}",
            *_row(row, say, digits, corrected),
        )
        for row in comparison.table.iter_rows(named=True)
    ]
    title = (
        say("differences_from", baseline=_short(comparison)[comparison.baseline])
        if comparison.baseline is not None
        else say("differences")
    )
    return Table(title, (say("measure"), say("system"), *head), tuple(rows), _KINDS)


_KINDS: Final[tuple[Kind, ...]] = (
    "text",
    "id",
    "number",
    "interval",
    "p",
    "number",
    "text",
)


def _segments(comparison: ComparedSystems, say: Say, digits: int) -> Table:
    assert comparison.segments is not None  # noqa: S101 - checked by the caller
    head, corrected = _head(
        comparison, comparison.segments, say, len(comparison.families) - 1
    )
    by = comparison.segments.columns[: comparison.segments.columns.index("measure")]
    short = _short(comparison)
    several = len(comparison.primary) > 1 or len(comparison.systems) > 2  # noqa: PLR2004 - several comparisons each
    rows = []
    for row in comparison.segments.iter_rows(named=True):
        values = ", ".join(
            "–" if row[name] is None else printable(row[name], _NAME) for name in by
        )
        names = _names(comparison, row, short)
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


def _shares(comparison: ComparedSystems, say: Say) -> Table | None:
    """Return the systems' shares of judged documents, if too many pairs differ for sentences."""
    if comparison.judged is None or len(comparison.pool_bias) <= _FEW:
        return None
    shares = _judged_shares(comparison)
    rows = tuple(
        (printable(system, 300), f"{share:.3f}", f"{more:,}", f"{less:,}")
        for system, share, more, less in judged_share_counts(
            comparison.pool_bias, shares
        )
    )
    head = (say("system"), comparison.judged[0], say("more_than"), say("less_than"))
    judged = comparison.judged[0]
    return Table(
        say("pools", judged=judged, k=judged.partition("@")[2]),
        head,
        rows,
        (False, True, True, True),
    )


def _judged_shares(comparison: ComparedSystems) -> dict[str, float]:
    return dict(
        comparison.mean().select("system", "judged").unique(maintain_order=True).rows()
    )


def _pool_bias(
    comparison: ComparedSystems, say: Say, short: dict[str, str]
) -> Iterator[str]:
    if (
        comparison.judged is not None
        and len(comparison.pool_bias) > _FEW
        and len(comparison.systems) > _SHOWN
    ):
        judged = comparison.judged[0]
        yield say("pools", judged=judged, k=judged.partition("@")[2])
    elif (
        comparison.judged is not None
        and comparison.pool_bias
        and len(comparison.pool_bias) <= _FEW
    ):
        judged, shares = comparison.judged[0], _judged_shares(comparison)
        for pair in comparison.pool_bias:
            fewer, other = sorted(pair, key=shares.__getitem__)
            a, b = f"{shares[fewer]:.3f}", f"{shares[other]:.3f}"
            names = {
                "judged": judged,
                "k": judged.partition("@")[2],
                "fewer": short[fewer],
                "other": short[other],
            }
            yield say("pool", **names, a=a, b=b)
    elif comparison.judged is not None and not (
        comparison.relevant_alone or comparison.pool_bias
    ):
        shares = {
            name: share
            for name, share in _judged_shares(comparison).items()
            if share is not None
        }
        low = [
            f"{short[name]} {share:.3f}"
            for name, share in shares.items()
            if share < JUDGED
        ]
        if low:
            yield say("judged", judged=comparison.judged[0], names=some(low))


def _caveats(comparison: ComparedSystems, say: Say, digits: int) -> Iterator[str]:
    """Yield what a reader should know before using the result."""
    short = _short(comparison)
    audit = getattr(comparison, "audit", None)
    for name, error in () if audit is None else audit.bad_runs.items():
        yield say("bad_run", system=printable(name, _NAME), why=error.what)
    yield from _pool_bias(comparison, say, short)
    for measure, left_out in (
        comparison.table.select("measure", "left_out")
        .unique(maintain_order=True)
        .rows()
    ):
        if left_out:
            yield say("left_out", measure=comparison.label(measure), n=f"{left_out:,}")
    if comparison.table["units"][0] < min(FEW_CLUSTERS, comparison.table["n"][0]):
        yield say(
            "few_clusters",
            units=f"{comparison.table['units'][0]:,}",
            least=FEW_CLUSTERS,
        )
    correction, first = (
        comparison.families[0].correction,
        comparison.table.filter(role="primary"),
    )
    if correction in ALL_PAIRS and first["low"].is_null().all():
        yield say("too_few", units=f"{first['units'][0]:,}", correction=correction)
    for row in comparison.table.iter_rows(named=True):
        includes_0 = row["low"] is None or row["low"] <= 0 <= row["high"]
        if (row["p_adjusted"] <= comparison.settings.alpha) == includes_0:
            yield say(
                "borderline", **_names(comparison, row, short), p=_p(row["p_adjusted"])
            )
        if row.get("lowest") is not None:
            low, high = signed(row["lowest"], digits), signed(row["highest"], digits)
            yield say("flip", **_names(comparison, row, short), low=low, high=high)


def _method(comparison: ComparedSystems, say: Say, digits: int) -> Iterator[str]:
    """Yield how the numbers were computed."""
    family = comparison.families[0]
    alpha = f"{comparison.settings.alpha:g}"
    if family.size == 1:
        key = "single_of" if len(comparison.measures) > 1 else "single"
        yield say(key, measure=comparison.label(comparison.primary[0]), alpha=alpha)
    else:
        guarantees = {"none": "family_each", "bh": "family_share", "by": "family_share"}
        correction = say(f"correction_{family.correction}")
        key = guarantees.get(family.correction, "family")
        yield say(key, size=family.size, correction=correction, alpha=alpha)
        if family.correction in ALL_PAIRS:
            yield say(f"assumed_{family.correction}")
    n, seed = f"{family.permutations:,}", comparison.settings.seed
    drawn = say("drawn", n=n, seed=seed) if family.permutations else say("exact")
    yield say("test", test=say(f"test_{family.test}", permutations=drawn))
    if (
        family.level == family.level
    ):  # NaN if a procedure for all pairs has its own intervals
        levels = dict.fromkeys(map(percent, comparison.table["confidence"]))
        yield say(
            "interval_method",
            method=say(f"method_{comparison.settings.interval}"),
            levels=", ".join(levels),
        )
    if family.size > 1:
        yield say(family.interval_kind, level=percent(comparison.settings.confidence))
    others = [
        comparison.label(one)
        for one in comparison.measures
        if one not in comparison.primary
    ]
    if others:
        yield say("exploratory", measures=", ".join(others))
    several = [name for name, runs in comparison.replicates.items() if len(runs) > 1]
    if several:
        yield say("runs", systems=", ".join(printable(name, _NAME) for name in several))
    if comparison.table["units"][0] != comparison.table["n"][0]:
        yield say("clusters", units=f"{comparison.table['units'][0]:,}")
    known = (
        comparison.table.filter(role="primary")
        .drop_nulls("detectable")
        .select("measure", "detectable")
    )
    least = [value for measure, value in known.iter_rows() if value < _range(measure)]
    if len(known) and not least:
        yield say("undetectable", power=percent(comparison.settings.power))
    if least:
        low, high = (f"{value:.{digits}f}" for value in (min(least), max(least)))
        yield say(
            "detectable",
            power=percent(comparison.settings.power),
            values=low if low == high else f"{low} – {high}",
        )


def _range(measure: str) -> float:
    """Return the largest difference that two means can have."""
    low, high = fact_of(measure, "span", (None, None))
    return math.inf if low is None or high is None else float(high - low)


def latex_means(
    comparison: ComparedSystems,
    marks: str | None,
    names: Mapping[str, str],
    *,
    caption: bool = False,
) -> str:
    """Return a booktabs table; arguments as for :meth:`ComparedSystems.to_latex`."""
    cells: dict[str, list[str]] = {system: [] for system in comparison.systems}
    raised = marks == "superscript"
    for measure in comparison.measures:
        board = comparison.leaderboard(measure)
        best = f"{board['mean'][0]:.{comparison.digits}f}"
        for system, mean, letters, word in board.select(
            "system", "mean", "letters", "verdict"
        ).iter_rows():
            text = f"{mean:.{comparison.digits}f}"
            bold = rf"\textbf{{{text}}}" if marks and text == best else text
            sign = (
                _DAGGERS.get(word)
                if letters is None
                else rf"\mathrm{{{letters.replace('–', '-')}}}"
            )
            mark = f"$^{{{sign}}}$" if sign else ""
            cells[system].append(f"{bold} & {mark}" if raised else bold)
    wide, shape = (
        (r"\multicolumn{2}{c}{%s}", "r@{}l") if raised else ("%s", "r")
    )  # decimals stay aligned
    head = [
        "",
        *(
            wide % escaped_latex(comparison.label(measure))
            for measure in comparison.measures
        ),
    ]
    rows = [
        [escaped_latex(names.get(system, system)), *row]
        for system, row in cells.items()
    ]
    lines = [rf"\begin{{tabular}}{{l{shape * len(comparison.measures)}}}", r"\toprule"]
    lines += [
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
    ]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption:
        text = escaped_latex(" ".join(_caption(comparison, marks, names)))
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{text}}}",
            *lines,
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def _caption(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]
) -> list[str]:
    """Return the sentences of the caption: queries, marks, test, correction and seed."""

    def say(name: str, **parts: object) -> str:
        return phrase("comparison", name, lang=comparison.lang, **parts)

    family, settings = comparison.families[0], comparison.settings
    found = [say("caption", n=f"{max(comparison.table['n']):,}")]
    if marks == "superscript":
        against = comparison.baseline
        versus = names.get(against, against) if against is not None else ""
        found.append(
            say(
                "caption_letters" if against is None else "caption_daggers",
                versus=versus,
            )
        )
    if marks is not None:
        found.append(say("caption_bold"))
    correction = say(f"correction_{family.correction}")
    test = {
        "test": family.test,
        "correction": correction,
        "alpha": f"{settings.alpha:g}",
    }
    return [*found, say("caption_test", **test, seed=settings.seed)]
