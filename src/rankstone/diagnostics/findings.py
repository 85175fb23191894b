"""Findings of file checks, by file, and ids that nearly match.

Those are one id written in two ways.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.errors import printable
from rankstone.hits.similar_ids import (
    composed,
    folded,
    in_lower_case,
    similar_ids,
    without_blanks,
    without_zeros,
)
from rankstone.tables.phrases import from_english
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


#: language → what stands behind a label, around an example, and before a fix
_MARKS: Final = {"en": (": ", " (", ")", "; "), "zh": ("：", "（", "）", "；")}
#: the longest note that stands among facts
_FACT: Final = 24


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a file: ``level`` is ``error``, ``warning`` or ``note``; ``fix`` is what to do.

    ``doubtful`` is True if an evaluation would probably be misleading.  ``names`` are all that ``example`` shows
    the first of, where it is a list.
    """

    level: str
    what: str
    example: str | None = None
    fix: str | None = None
    doubtful: bool = False
    names: tuple[str, ...] = ()


def _badness(finding: Finding) -> int:
    if finding.level == "error":
        return 3
    return 2 if finding.doubtful else int(finding.level == "warning")


@dataclass
class FileReport:
    """The facts and findings about one file."""

    name: str
    source: str
    kind: str
    facts: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def worst(self) -> int:
        """The severity of the worst finding: 3 an error, 2 a doubt, 1 a warning, 0 none of these."""
        return max((_badness(finding) for finding in self.findings), default=0)


@dataclass(frozen=True, repr=False)
class CheckReport(Result):
    """Reports on judgments, training data and runs; runs with the worst findings come first."""

    files: list[FileReport]
    lang: str = "en"

    @property
    def ok(self) -> bool:
        """True if no finding would stop an evaluation."""
        return not self.count("error")

    def count(self, level: str) -> int:
        """Return how many findings have a level."""
        return sum(
            finding.level == level for file in self.files for finding in file.findings
        )

    @property
    def verdict(self) -> str:
        """How many errors and warnings there are: ``ok``, ``ok, 3 warnings``, ``2 errors, 1 warning``."""
        errors = self.count("error")
        warnings = self.count("warning")
        counts = [counted(errors, "error") if errors else "ok"]
        if warnings:
            counts.append(counted(warnings, "warning"))
        return from_english(", ".join(counts), self.lang)

    @property
    def doubts(self) -> list[str]:
        """Findings that make an evaluation doubtful."""
        return [
            finding.what
            for file in self.files
            for finding in file.findings
            if finding.doubtful
        ]

    def report(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "files": [asdict(file) for file in self.files],
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each finding: ``name``, ``kind``, and the fields of :class:`Finding`."""
        rows = [
            {"name": file.name, "kind": file.kind, **asdict(finding)}
            for file in self.files
            for finding in file.findings
        ]
        texts = dict.fromkeys(
            ("name", "kind", "level", "what", "example", "fix"), pl.String
        )
        schema: dict[str, Any] = dict(texts)
        schema |= {"doubtful": pl.Boolean, "names": pl.List(pl.String)}
        return pl.DataFrame(rows, schema)

    def with_fixes(self, written: Callable[[str], str]) -> CheckReport:
        """Return the report with fixes rewritten: the command line shows options as flags."""
        files = [
            replace(
                file,
                findings=[
                    replace(finding, fix=finding.fix and written(finding.fix))
                    for finding in file.findings
                ],
            )
            for file in self.files
        ]
        return replace(self, files=files)

    def in_language(self, lang: str) -> CheckReport:
        """Return the report with its sentences in a language; names of facts stay as they are in data."""
        say = partial(from_english, lang=lang)
        files = []
        for file in self.files:
            facts = {name: say(fact) for name, fact in file.facts.items()}
            findings = [
                replace(
                    finding,
                    what=say(finding.what),
                    fix=finding.fix and say(finding.fix),
                )
                for finding in file.findings
            ]
            files.append(replace(file, facts=facts, findings=findings))
        return CheckReport(files, lang)

    def sheet(self, digits: int = 4, *, verbose: bool = False) -> Sheet:
        """Return the verdict, then facts and findings by file.

        Parameters
        ----------
        digits
            Not used: facts are texts.
        verbose
            True for a line for each fact, and for notes that need no attention.
        """
        del digits
        verdict = self.verdict
        if not self.ok:
            verdict += ": cannot be evaluated; fix the errors below"
        elif self.doubts:
            colon, *_, semicolon = _MARKS[self.lang]
            first = from_english("check this first", self.lang)
            verdict += f"{semicolon}{first}{colon}{semicolon.join(self.doubts)}"

        draw = _lines if verbose else _brief_lines
        parts = []
        for file in self.files:
            kind = from_english(file.kind, self.lang)
            name = from_english(file.name, self.lang)
            about = f"({kind}, {printable(file.source)})"
            lines = draw(file, self.lang)
            parts.append((f"{printable(name)}  {about}", tuple(lines)))
        if verbose:
            return Sheet(verdict, parts=tuple(parts))
        notes = counted(self.count("note"), "note")
        return Sheet(
            verdict,
            parts=tuple(parts),
            whole=partial(self.sheet, verbose=True),
            more=from_english(f"with -v: {notes}, a line for each fact", self.lang),
        )


def _is_fact(finding: Finding) -> bool:
    """Return whether a note is as short as a fact, such as ``unjudged@10: 13.6%``."""
    is_short = len(finding.what) <= _FACT and not finding.fix
    return finding.level == "note" and is_short


def _brief_lines(file: FileReport, lang: str) -> Iterator[str]:
    """Yield what the file was taken for, all other facts in a line, and what deserves attention."""
    facts = []
    colon = _MARKS[lang][0]
    for what, fact in file.facts.items():
        text = f"{from_english(what, lang)}{colon}{fact}"
        facts.append(text)
    attention = []
    for finding in file.findings:
        if _is_fact(finding):
            facts.append(finding.what)
        if _badness(finding):
            attention.append(finding)
    yield from facts[:1]
    counts = facts[1:]
    if counts:
        yield " · ".join(counts)
    yield from _finding_lines(attention, lang)


def _lines(file: FileReport, lang: str) -> Iterator[str]:
    """Yield a line for each fact and each finding."""
    for what, fact in file.facts.items():
        yield f"{from_english(what, lang):<16} {fact}"
    yield from _finding_lines(file.findings, lang, whole=True)


def _finding_lines(
    findings: Sequence[Finding], lang: str, *, whole: bool = False
) -> Iterator[str]:
    colon, opening, closing, semicolon = _MARKS[lang]
    width = len("warning: ") if lang == "en" else 0
    for finding in findings:
        example = finding.example
        if whole and finding.names:
            example = "; ".join(printable(name, 200) for name in finding.names)
        example = f"{opening}{example}{closing}" if example else ""
        fix = f"{semicolon}{finding.fix}" if finding.fix else ""
        level = from_english(finding.level, lang) + colon
        yield f"{level:<{width}}{finding.what}{example}{fix}"
    if not findings:
        yield from_english("no problems found", lang)


def listed(
    what: str, names: Sequence[str], fix: str, *, doubtful: bool = False, most: int = 3
) -> Finding:
    """Return a warning with the first of its names, and all of them for those who want more."""
    shown = "; ".join(printable(name, 100) for name in names[:most])
    more = " …" if len(names) > most else ""
    return Finding("warning", what, shown + more, fix, doubtful, tuple(names))


def spread(lengths: pl.Series) -> str:
    """Return the minimum, maximum and median of counts as text."""
    values = lengths.to_numpy()
    low = int(values.min())
    high = int(values.max())
    return f"{low}" if low == high else f"{low}–{high}, median {np.median(values):g}"


def row(frame: pl.DataFrame) -> str:
    """Return query and document of the first row as text."""
    return f"query {printable(frame['query_id'][0], 40)}, document {printable(frame['doc_id'][0], 40)}"


#: ways in which ids differ: name, function that removes the difference, fix
_SPELLINGS: Final[tuple[tuple[str, Callable[[pl.Expr], pl.Expr], str], ...]] = (
    ("spaces around them", without_blanks, "remove the spaces"),
    (
        "leading zeros",
        without_zeros,
        "read ids as texts on both sides: numbers lose leading zeros",
    ),
    ("case", in_lower_case, "use the same spelling of ids on both sides"),
    ("Unicode form", composed, "use one Unicode form (NFC) on both sides"),
    (
        "spaces, zeros, case or Unicode form",
        folded,
        "use the same spelling of ids on both sides",
    ),
)


def near_matches(what: str, ids: pl.Series, judged: pl.Series) -> Iterator[Finding]:
    """Find ids that would match the judgments if they were spelled in the same way.

    Parameters
    ----------
    what
        ``query`` or ``document``.
    ids, judged
        The distinct ids of a run and of the judgments.
    """
    if ids.dtype != pl.String:
        return
    known = ids.is_in(judged.implode())
    matched = int(known.sum())
    # most ids have no judgment at all
    strange = similar_ids(folded, ids.filter(~known), judged)
    for differ, fold, fix in _SPELLINGS:
        similar = (
            similar_ids(fold, strange["id"].unique(), strange["judged"].unique())
            .unique("id")
            .sort("id")
        )
        if not len(similar):
            continue
        few = len(similar) >= matched
        why = ": probably why so few match" if few else ""
        in_run, in_judgments = (
            printable(repr(similar[name][0]), 40) for name in ("id", "judged")
        )
        yield Finding(
            "warning",
            f"{counted(len(similar), f'{what} id')} would match the judgments but for {differ}{why}",
            f"{in_run} in the run, {in_judgments} in the judgments",
            fix,
            doubtful=few,
        )
        strange = strange.join(similar, on="id", how="anti")
