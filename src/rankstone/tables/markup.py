"""Sheets as Markdown, LaTeX and HTML.  Ids are untrusted text, which every format escapes."""

from __future__ import annotations

import html as escaping
import re
from typing import TYPE_CHECKING, Final

from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rankstone.tables.sheet import Sheet


#: characters with a meaning in Markdown
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|~$&!()])")
#: how LaTeX writes the characters that it obeys, and those that its fonts lack: one after the other
_LATEX_SIGNS: Final = r"""
\ \textbackslash{}   & \&   % \%   $ \$   # \#   _ \_
{ \{   } \}   ~ \textasciitilde{}   ^ \textasciicircum{}   < \textless{}   > \textgreater{}
| \textbar{}   " {\char34}   – --   − $-$   … \dots{}   Σ $\Sigma$
Π $\Pi$   ≤ $\leq$   ≥ $\geq$   · $\cdot$   × $\times$   β $\beta$
α $\alpha$   γ $\gamma$   ε $\varepsilon$   δ $\delta$   σ $\sigma$   τ $\tau$
λ $\lambda$   ρ $\rho$   ½ $\frac12$   ∈ $\in$   → $\to$   ∞ $\infty$
² $^2$   ᵢ $_i$   √ $\surd$   ∪ $\cup$   ∩ $\cap$   Ω $\Omega$
≠ $\neq$   ⌊ $\lfloor$   ⌋ $\rfloor$   Γ $\Gamma$   φ $\varphi$   π $\pi$
∝ $\propto$   ≻ $\succ$   ³ $^3$   ₂ $_2$   ♯ $\sharp$   † $\dagger$
‡ $\ddagger$
"""
_LATEX: Final = dict(re.findall(r"(\S+) (\S+)", _LATEX_SIGNS))
#: combining accents of the letter before them
_LATEX_ACCENTS: Final = {"\u0302": r"\^", "\u0303": r"\~"}
_STYLE: Final = """
.rankstone{font:14px/1.45 system-ui,sans-serif;color:inherit;max-width:60rem;overflow-x:auto}
.rankstone table{border-collapse:collapse;margin:.4em 0 1em}
.rankstone th,.rankstone td{padding:.15em .7em;text-align:left;border-bottom:1px solid #8884}
.rankstone .n{text-align:right;font-variant-numeric:tabular-nums}
.rankstone tr.sum td{border-bottom:0;font-weight:600}
.rankstone p.formula{opacity:.8;margin:.2em 0}
.rankstone h4{margin:.8em 0 .2em}
"""

_DOCUMENT: Final = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""


def _written(
    part: Table | tuple[str, tuple[str, ...]],
    write_table: Callable[[Table], list[str]],
    write_list: Callable[[Sequence[str]], list[str]],
) -> tuple[str, list[str]]:
    """Return the title of a part, and its lines in a format that writes tables and lists in this way."""
    if isinstance(part, Table):
        return part.title, write_table(part)
    title, texts = part
    return title, write_list(texts)


def markdown(sheet: Sheet) -> str:
    """Return a sheet as Markdown."""
    blocks = []
    if sheet.title:
        blocks.append(f"### {_escaped_markdown(sheet.title)}")
    blocks += map(_escaped_markdown, filter(None, (sheet.formula, sheet.symbols)))

    for part in sheet.readable:
        title, body = _written(part, _markdown_table, _markdown_list)
        if title:
            blocks.append(f"**{_escaped_markdown(title)}**")
        blocks.append("\n".join(body))

    below = [*sheet.brief, *filter(None, [sheet.more])]
    if below:
        blocks.append("\n".join(_markdown_list(below)))
    return "\n\n".join(blocks) + "\n"


def _markdown_list(texts: Sequence[str]) -> list[str]:
    return [f"- {_escaped_markdown(text)}" for text in texts]


def _markdown_table(table: Table) -> list[str]:
    table = table.with_signed_words()
    alignment = ["--:" if numeric else ":--" for numeric in table.numeric]
    lines = [_markdown_row(map(_escaped_markdown, table.head))]
    lines.append(_markdown_row(alignment))

    first_total = len(table.rows) - table.total
    for place, row in enumerate(table.marked("**{}**", escape=_escaped_markdown)):
        is_total = place >= first_total
        cells = (f"**{cell}**" if is_total and cell else cell for cell in row)
        lines.append(_markdown_row(cells))
    return lines


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def latex(sheet: Sheet) -> str:
    """Return a sheet as LaTeX: put it into a document that uses booktabs and amsmath."""
    lines = [f"% {note}" for note in sheet.notes]
    if sheet.title:
        lines.append(rf"\paragraph{{{escaped_latex(sheet.title)}}}")
        below = [*map(escaped_latex, filter(None, (sheet.formula, sheet.symbols)))]
        if below:
            lines.append((r"\\" + "\n").join(below))
        lines.append("")

    for part in sheet.readable:
        title, body = _written(part, _latex_table, _latex_list)
        if title:
            lines.append(rf"\textbf{{{escaped_latex(title)}}}\par")
        lines += body
    return "\n".join(lines) + "\n"


def _latex_list(texts: Sequence[str]) -> list[str]:
    items = [rf"  \item {escaped_latex(text)}" for text in texts]
    return [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []


def _latex_table(table: Table) -> list[str]:
    alignment = "".join("r" if numeric else "l" for numeric in table.numeric)
    head = " & ".join(map(escaped_latex, table.head))
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [rf"{head} \\", r"\midrule"]

    first_total = len(table.rows) - table.total
    for place, row in enumerate(table.marked(r"\textbf{{{}}}", escape=escaped_latex)):
        if place == first_total:
            lines.append(r"\midrule")
        # a bracket or a star at the begin of a row would belong to the end of the row above
        guard = "{}" if row[0].startswith(("[", "*")) else ""
        lines.append(guard + " & ".join(row) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}\par"]


def escaped_latex(text: str) -> str:
    """Return text whose characters LaTeX does not obey."""
    signs: list[str] = []
    for sign in text:
        if sign in _LATEX_ACCENTS:
            letter = signs.pop() if signs else ""
            signs.append(f"{_LATEX_ACCENTS[sign]}{{{letter}}}")
        else:
            signs.append(_LATEX.get(sign, sign))
    return "".join(signs)


def document(title: str, pieces: Iterable[str]) -> str:
    """Return pieces of HTML as a page in which no script runs and that loads nothing."""
    return _DOCUMENT.format(title=escaping.escape(title), body="\n".join(pieces))


def html(sheet: Sheet, *, brief: bool = False) -> str:
    """Return a sheet as a piece of HTML with its own style; it has room for all rows and notes.

    ``brief``: only with the rows that everybody sees.
    """
    escape = escaping.escape
    whole = sheet if brief else sheet.verbose()
    lines = [f"<style>{_STYLE}</style>", '<div class="rankstone">']
    if sheet.title:
        lines.append(f"<h3>{escape(sheet.title)}</h3>")
    below = map(escape, filter(None, (sheet.formula, sheet.symbols)))
    lines += [f'<p class="formula">{text}</p>' for text in below]

    for part in whole.readable:
        title, body = _written(part, _html_table, _html_list)
        if title:
            lines.append(f"<h4>{escape(title)}</h4>")
        lines += body

    if sheet.brief:
        lines += _html_list(sheet.brief)
    if whole.brief != sheet.brief:
        folded = _html_list(whole.brief)
        lines.append("<details><summary>…</summary>")
        lines += [*folded, "</details>"]
    return "\n".join([*lines, "</div>"])


def _html_list(texts: Sequence[str]) -> list[str]:
    items = "".join(f"<li>{escaping.escape(text)}</li>" for text in texts)
    return [f"<ul>{items}</ul>" if items else ""]


def _html_table(table: Table) -> list[str]:
    classes = [' class="n"' if numeric else "" for numeric in table.numeric]
    head = _html_cells("th", classes, map(escaping.escape, table.head))
    lines = [f"<table><thead><tr>{head}</tr></thead><tbody>"]

    first_total = len(table.rows) - table.total
    for place, row in enumerate(table.marked("<b>{}</b>", escape=escaping.escape)):
        total_class = ' class="sum"' if place >= first_total else ""
        lines.append(f"<tr{total_class}>{_html_cells('td', classes, row)}</tr>")
    return [*lines, "</tbody></table>"]


def _html_cells(tag: str, classes: list[str], texts: Iterable[str]) -> str:
    """Return the cells of a row, ``th`` or ``td``; the texts are escaped already."""
    cells = zip(classes, texts, strict=True)
    return "".join(f"<{tag}{class_}>{text}</{tag}>" for class_, text in cells)
