"""Means of a comparison as a table in LaTeX, with letters or daggers and a caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.comparison.comparison_caveats import test_of
from rankstone.comparison.verdict import CLEAR
from rankstone.comparison.verdict_conditions import unanswered_counts
from rankstone.tables.markup import escaped_latex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rankstone.comparison.compared_systems import ComparedSystems
    from rankstone.comparison.leaderboard import Leaderboard

#: what a name begins with that is LaTeX, and not escaped
_RAW: Final = "tex:"
#: marks of systems against a baseline in LaTeX
_DAGGERS: Final = {
    "better": r"\dagger",
    "higher": r"\dagger",
    "worse": r"\ddagger",
    "lower": r"\ddagger",
}


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
        board = comparison.board(measure)
        signs = _daggers(comparison, board)
        for system, letters in board.letters.items():
            signs[system] = rf"\mathrm{{{letters.replace('–', '-')}}}"

        means = [f"{mean:.{comparison.digits}f}" for mean in board.means]
        for system, text in zip(board.systems, means, strict=True):
            bold = rf"\textbf{{{text}}}" if marks and text == means[0] else text
            sign = signs[system]
            mark = f"$^{{{sign}}}$" if sign else ""
            cells[system].append(f"{bold} & {mark}" if raised else bold)

    wide = "%s"
    shape = "r"
    if raised:  # decimals stay aligned
        wide = r"\multicolumn{2}{c}{%s}"
        shape = "r@{}l"
    head = [
        "",
        *(
            wide % escaped_latex(comparison.label(measure))
            for measure in comparison.measures
        ),
    ]
    rows = []
    for system, row in cells.items():
        name = written_name(system, names)
        rows.append([name, *row])
    lines = [rf"\begin{{tabular}}{{l{shape * len(comparison.measures)}}}", r"\toprule"]
    lines += [
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
    ]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption:
        text = _joined_caption(comparison, marks, names)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{text}}}",
            *lines,
            r"\end{table}",
        ]
    notes = [f"% {note}" for note in comparison.sheet().notes]
    return "\n".join([*notes, *lines]) + "\n"


def written_name(system: str, names: Mapping[str, str]) -> str:
    r"""Return the name of a system in LaTeX: escaped, unless its new name begins with ``tex:``.

    >>> written_name("a_b", {}), written_name("a", {"a": "A & B"}), written_name("a", {"a": r"tex:$\alpha$"})
    ('a\\_b', 'A \\& B', '$\\alpha$')
    """
    name = names.get(system, system)
    if system in names and name.startswith(_RAW):
        return name.removeprefix(_RAW)
    return escaped_latex(name)


def _daggers(comparison: ComparedSystems, board: Leaderboard) -> dict[str, str]:
    """Return the marks of each system against the baselines, of several with their numbers."""
    signs = dict.fromkeys(comparison.systems, "")
    several = len(comparison.baselines) > 1
    for number, baseline in enumerate(comparison.baselines, 1):
        index = ""
        if several:
            index = f"_{{{number}}}"
        for system, word, *_ in board.against(baseline).iter_rows():
            if word in CLEAR:
                signs[system] += _DAGGERS[word]
                signs[system] += index
    return signs


def _joined_caption(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]
) -> str:
    """Return the caption in LaTeX; names stand in it as in the table."""
    written = {system: written_name(system, names) for system in comparison.systems}
    # names are put in last: what is escaped once must not be again
    places = {}
    stand_ins = {}
    for number, (system, name) in enumerate(written.items()):
        place = f"\0{number}\0"
        places[place] = name
        stand_ins[system] = place
    between = "" if comparison.lang == "zh" else " "
    text = escaped_latex(between.join(_caption(comparison, marks, stand_ins)))
    for place, name in places.items():
        text = text.replace(place, name)
    return text


def _caption(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]
) -> Iterator[str]:
    """Yield the sentences of the caption: queries and what is missing of them, marks, and the test."""
    say = comparison.say
    yield say("caption", n=_counts(comparison.table["n"]))
    if comparison.table["left_out"].max():
        yield say("caption_left_out", n=_counts(comparison.table["left_out"]))
    unanswered = unanswered_counts(comparison, names)
    if unanswered:
        yield say("unanswered", names=unanswered)
    alignment = getattr(comparison, "conventions", {}).get("alignment", {})
    if alignment.get("score_dtype") == "float32":
        yield say("caption_float32")

    if marks == "superscript":
        baselines = comparison.baselines
        versus = ", ".join(
            names[name] + f" ({number})" * (len(baselines) > 1)
            for number, name in enumerate(baselines, 1)
        )
        marked = "caption_daggers" if baselines else "caption_letters"
        yield say(marked, versus=versus)
    if marks is not None:
        yield say("caption_bold")
    if marks == "superscript":
        yield _tested(comparison)


def _counts(column: pl.Series) -> str:
    """Return a count, or the least and the largest of those of different measures."""
    ordered = column.sort().to_list()
    counts = [f"{count:,}" for count in (ordered[0], ordered[-1])]
    return " – ".join(dict.fromkeys(counts))


def _tested(comparison: ComparedSystems) -> str:
    """Return the test behind the marks, and the correction where several pairs are a family."""
    say = comparison.say
    family = comparison.families[0]
    corrected = ""
    if family.size > 1:
        measures = ", ".join(map(comparison.label, comparison.primary))
        correction = say(f"correction_{family.correction}")
        corrected = say(
            "caption_correction",
            correction=correction,
            size=family.size,
            measures=measures,
        )
        if len(comparison.measures) > len(comparison.primary):
            corrected += say("caption_further")
    return say(
        "caption_test",
        test=test_of(comparison),
        alpha=f"{comparison.settings.alpha:g}",
        correction=corrected,
    )
