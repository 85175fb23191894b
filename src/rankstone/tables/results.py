"""The common interface of results: shown as tables, with notes below them, and written to files."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import polars as pl

from rankstone.errors import BadParameter, UsageError, installed, printable
from rankstone.io.atomic_files import atomic
from rankstone.io.csv_files import without_formulas
from rankstone.io.suffixes import suffixes_of, written_format
from rankstone.tables.convention_notes import conventions_lines
from rankstone.tables.phrases import from_english, phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankstone._basics import StrPath
    from rankstone.tables.sheet import Details, Part, Sheet, Table


#: what the rows of a result are written as
ROWS: Final = ("parquet", "csv", "jsonl")
#: the metadata of a Parquet file under which options of the numbers are
ABOUT: Final = "rankstone.conventions"
#: where the numbers of a result come from
_ORIGIN: Final = ("audit", "conventions", "inputs")
#: characters that JSON may hold as they are, and terminals obey: the first of a range, and the one after it
_OBEYED: Final = ((0x7F, 0xA0), (0x200E, 0x2010), (0x2028, 0x202F), (0x2066, 0x206A))
#: how JSON writes them too
_ESCAPES: Final = {
    code: f"\\u{code:04x}" for codes in _OBEYED for code in range(*codes)
}


class Result:
    """The base class of results.

    A subclass defines its rows (:meth:`to_frame`), all its data as plain dicts (:meth:`report`) and what is
    shown (:meth:`sheet`); each format is written from these.  A sheet that is drawn elsewhere is named by
    :attr:`picture`, so a picture imports its result and no result its picture.
    """

    #: the function that draws the sheet, ``module:name``; empty where rows and notes are all that is shown
    picture: ClassVar[str] = ""

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of the result."""
        raise NotImplementedError

    def lazy(self) -> pl.LazyFrame:
        """Return the rows lazily, to write many millions of them without holding them in memory."""
        return self.to_frame().lazy()

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON: the fields, unless a subclass says otherwise."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type] # a dataclass
        return given(**values)

    def _reported(self, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever results hold
        """Return values as plain dicts, and behind them the audit, the conventions and the inputs."""
        origin = {name: getattr(self, name) for name in _ORIGIN}
        return given(**values, **origin)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain dicts."""
        return self.report()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what is shown, with this many decimals."""
        from rankstone.tables.sheet import Sheet, Table

        if self.picture:
            return self.pictured(digits)
        return Sheet(
            "",
            parts=(Table.of(self.to_frame(), digits=digits),),
            notes=(self._notes(),),
        )

    def pictured(self, *shown: Any, **options: Any) -> Sheet:  # noqa: ANN401 - of the picture
        """Return the sheet that :attr:`picture` draws of the result."""
        sheet: Sheet = resolve_name(self.picture)(self, *shown, **options)
        return sheet

    def _notes(self) -> Details:
        """Return the audit, and the options that the numbers depend on."""
        audit = getattr(self, "audit", None)
        conventions = getattr(self, "conventions", None)
        return data_notes(audit, conventions, getattr(self, "lang", "en"))

    def text(self, width: int = 80, *, verbose: bool = False) -> str:
        """Return it as text for a page of ``width`` columns; ``verbose``: with the whole audit."""
        from rankstone.tables.page_text import text

        return text(self.sheet().verbose() if verbose else self.sheet(), width)

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        from rankstone.tables.markup import markdown

        return markdown(self.sheet())

    def to_latex(self) -> str:
        """Return it as LaTeX, for a document that uses booktabs and amsmath."""
        from rankstone.tables.markup import latex

        return latex(self.sheet())

    def to_html(self) -> str:
        """Return it as a piece of HTML with its own style."""
        from rankstone.tables.markup import html

        return html(self.sheet())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        from rankstone.tables.page_text import page_width

        return self.text(page_width())

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return the rows as a pandas frame (needs pandas)."""
        return as_pandas(self.to_frame())

    def write(self, path: StrPath, *, formulas: str = "keep") -> None:
        """Write the result atomically.

        Parameters
        ----------
        path
            The file; its suffix decides what is written: the rows (``.parquet``, ``.csv``, ``.jsonl``), all
            data (``.json``), or the tables that are shown (``.md``, ``.tex``).
        formulas
            How to write texts in CSV that a spreadsheet would compute, such as an id ``=1+1``: ``keep``
            writes them as they are, ``escape`` with an apostrophe in front.

        Raises
        ------
        UsageError
            When the suffix is not known.  Pages are written by ``rankstone.report(result, path)``.
        """
        kind = written_format(Path(path))
        if kind in ROWS:
            about = getattr(self, "conventions", None)
            write_rows(self.lazy(), path, formulas, about)
            return

        texts = {
            "json": lambda: as_json(self.report()),
            "md": self.to_markdown,
            "tex": self.to_latex,
        }
        if kind not in texts:
            is_page = kind == "html"
            things = "pages" if is_page else "files with such a suffix"
            raise UsageError(
                f"{printable(path)}: results write no {things}",
                expected=", ".join(suffixes_of(*ROWS, *texts)),
                fix="rankstone.report(result, path) writes a page" if is_page else None,
            )
        with atomic(path) as unfinished:
            unfinished.write_text(texts[kind](), encoding="utf-8")


class FirstScreen(str):
    """A finding of the first screen."""

    __slots__ = ()


class Findings(Result):
    """The base class of results that say what they found: tables, sentences, and how these came about.

    A subclass is a dataclass with fields ``lang`` and ``digits``.  It names the ``section`` of its phrases,
    and defines :meth:`title` and :meth:`tables`, mostly :meth:`findings`, perhaps :meth:`method_lines`.  Where
    these fill more than a screen, :meth:`say_first` marks the sentences that belong on the first one, cautions
    among them, and :meth:`method_in_brief` says what numbers mean there.
    """

    section: ClassVar[str]
    #: where the first screen has the marked sentences, ``above`` or ``below`` the tables; empty: all is shown
    answer_stands: ClassVar[str] = ""
    #: the phrase of what is shown beyond the first screen
    whole: ClassVar[str] = "whole"
    lang: str
    digits: int

    @property
    def say(self) -> Callable[..., str]:
        """The phrases of its section in its language."""
        return partial(phrase, self.section, lang=self.lang)

    def title(self) -> str:
        """Return the heading."""
        raise NotImplementedError

    def tables(self, digits: int, *, verbose: bool = False) -> Sequence[Table]:
        """Return what is shown with this many decimals; ``verbose``: everything."""
        raise NotImplementedError

    def findings(self, digits: int = 4) -> Iterator[str]:  # noqa: ARG002 - of sentences
        """Yield what was found, in sentences; nothing where tables say it all."""
        return iter(())

    def method_lines(self) -> Iterator[str]:
        """Yield how it was found."""
        return iter(())

    def say_first(self, name: str, **parts: object) -> str:
        """Return a phrase that belongs on the first screen: an answer or a caution."""
        return FirstScreen(self.say(name, **parts))

    def method_in_brief(self) -> Iterator[str]:
        """Yield what the numbers of the first screen mean."""
        return iter(())

    def more(self) -> str:
        """Return what is shown beyond the first screen, in a line."""
        return self.say(self.whole)

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        report = super().report()
        del report["lang"], report["digits"]
        return report | {"findings": list(self.findings())}

    def sheet(self, digits: int | None = None, *, verbose: bool = False) -> Sheet:
        """Return tables, findings and method."""
        from rankstone.tables.sheet import Sheet

        if digits is None:
            digits = self.digits
        if self.picture:
            return self.pictured(digits, verbose=verbose)
        if self.answer_stands and not verbose:
            return self._first_screen(digits)

        parts: list[Part] = [*self.tables(digits, verbose=verbose)]
        lists = {"findings": self.findings(digits), "method": self.method_lines()}
        for name, lines in lists.items():
            texts = tuple(lines)
            if name == "method":
                parts += self.details()
            if texts:
                parts.append((self.say(name), texts))
        return Sheet(self.title(), parts=tuple(parts), notes=(self._notes(),))

    def details(self) -> Sequence[Part]:
        """Return what the whole has above its method."""
        return ()

    def _first_screen(self, digits: int) -> Sheet:
        from rankstone.tables.sheet import Sheet

        parts: list[Part] = [*self.tables(digits)]
        findings = self.findings(digits)
        marked = tuple(text for text in findings if isinstance(text, FirstScreen))
        if marked:
            place = 0 if self.answer_stands == "above" else len(parts)
            parts.insert(place, ("", marked))
        method = tuple(self.method_in_brief())
        if method:
            parts.append(("", method))
        return Sheet(
            self.title(),
            parts=tuple(parts),
            notes=(self._notes(),),
            whole=partial(self.sheet, digits, verbose=True),
            more=self.more(),
        )


class Averaged(Protocol):
    """A result with a mean for each run and measure."""

    @property
    def measures(self) -> Sequence[Any]:
        """The measures, in the requested order."""

    @property
    def audit(self) -> Any:  # noqa: ANN401 - an Audit
        """The audit of the data."""

    @property
    def conventions(self) -> Mapping[str, Any]:
        """All options and parameters that the numbers depend on."""

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The sources of all inputs."""

    def mean(
        self, without: str | Iterable[str] = (), by: str | Sequence[str] = ()
    ) -> pl.DataFrame:
        """Return one row per run and measure."""

    def has(self, status: str) -> bool:
        """Return True if any query has a status."""

    def share_of(self, run: str, status: str) -> float:
        """Return the share of a run's queries with a status."""

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return the means."""


class HasMeans(Result):
    """A result with a mean for each run and measure."""

    def to_dict(self: Averaged) -> dict[str, dict[str, float | None]]:
        """Return ``{run: {measure: mean}}``."""
        means: dict[str, dict[str, float | None]] = {}
        for run, measure, value, _, _ in self.mean().iter_rows():
            means.setdefault(run, {})[measure] = value
        return means

    def to_flat_dict(
        self: Averaged, prefix: str = "", *, plain: bool = False
    ) -> dict[str, float]:
        """Return the means by one name each, for experiment trackers; undefined means are omitted.

        Parameters
        ----------
        prefix
            Prefix of every name: ``val/``.
        plain
            Names of letters, digits, ``_`` and ``/``, which MLflow and all others accept: ``nDCG_at_10``.

        Returns
        -------
        dict
            Measure → mean; for several runs run and measure, ``bm25/nDCG@10``.

        Examples
        --------
        >>> import rankstone
        >>> scores = rankstone.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, "RR nDCG@10")
        >>> scores.to_flat_dict("val/"), scores.to_flat_dict(plain=True)
        ({'val/RR': 1.0, 'val/nDCG@10': 1.0}, {'RR': 1.0, 'nDCG_at_10': 1.0})
        """
        means_by_run = self.to_dict()
        written = plain_name if plain else str
        by_name: dict[str, float | None] = {}
        for run, means in means_by_run.items():
            run_prefix = f"{prefix}{written(run)}/" if len(means_by_run) > 1 else prefix
            by_name |= {
                f"{run_prefix}{written(measure)}": mean
                for measure, mean in means.items()
            }

        if len(by_name) < sum(map(len, means_by_run.values())):
            raise BadParameter(
                "two means have the same name",
                given=", ".join(by_name),
                fix="remove plain=True",
            )
        return {name: mean for name, mean in by_name.items() if mean is not None}

    def report(self: Averaged, by: str | Sequence[str] = ()) -> dict[str, Any]:
        """Return all data as plain dicts: means, audit, conventions, inputs; ``by`` adds segments."""
        audit = self.audit.to_dict()
        for without in filter(self.has, ("missing", "no_relevant")):
            means = self.mean(without=[without])
            for run, measure, value, n, _ in means.iter_rows():
                others = audit["runs"][run].setdefault(f"means_without_{without}", {})
                others[measure] = {"value": value, "n": n}

        segments = {"segments": self.mean(by=by).to_dicts()} if by else {}
        return {
            "runs": self.to_dict(),
            **segments,
            "audit": audit,
            "conventions": dict(self.conventions),
            "inputs": dict(self.inputs),
        }

    def table(self: Averaged) -> pl.DataFrame:
        """Return the means as one row per run and one column per measure."""
        return self.mean().pivot(
            "measure", index="run", values="value", maintain_order=True
        )


def plain_name(name: str) -> str:
    """Return a name of letters, digits and ``_``.

    >>> plain_name("AP(rel=2)@5")
    'AP_rel_2_at_5'
    """
    words = re.sub(r"\W+", "_", name.replace("@", "_at_"))
    return words.replace("__at_", "_at_").strip("_")


def given(**named: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever results hold
    """Convert the values of a report to plain dicts: rows of frames, audits and conventions.

    >>> given(table=pl.DataFrame({"n": [1]}), command=None)
    {'table': [{'n': 1}], 'command': None}
    """
    return {name: _plain(value) for name, value in named.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever results hold
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "keys"):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def write_rows(
    rows: pl.LazyFrame, path: StrPath, formulas: str = "keep", about: object = None
) -> None:
    """Write rows atomically in the format of the suffix: Parquet, CSV or JSON lines.

    Parquet also holds what the numbers are ``about``: the options under which they were computed.
    """
    kind = written_format(Path(path))
    with atomic(path) as unfinished:
        if kind == "csv":
            without_formulas(_without_lists(rows), formulas).sink_csv(unfinished)
        elif kind == "jsonl":
            rows.sink_ndjson(unfinished)
        else:
            metadata = None if about is None else {ABOUT: _dumped(about)}
            rows.sink_parquet(unfinished, metadata=metadata)


def as_json(report: object) -> str:
    """Return a report as JSON, one value in each line; other types, such as dates, become text."""
    return _dumped(report, indent=1) + "\n"


def as_json_lines(frame: pl.DataFrame) -> str:
    """Return the rows of a frame as JSON lines."""
    return "".join(_dumped(row) + "\n" for row in frame.iter_rows(named=True))


def _dumped(value: object, indent: int | None = None) -> str:
    r"""Return JSON that strict readers accept and terminals do not obey.

    >>> _dumped({"f": float("inf"), "system": "a\x9b31m"})
    '{"f": null, "system": "a\\u009b31m"}'
    """
    text = json.dumps(
        _finite(value), ensure_ascii=False, indent=indent, default=str, allow_nan=False
    )
    return text.translate(_ESCAPES)


def _finite(value: object) -> object:
    """Return plain data with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def as_csv(frame: pl.DataFrame, formulas: str = "keep") -> str:
    """Return the rows of a frame as CSV; items of a list are separated by blanks."""
    rows = without_formulas(_without_lists(frame.lazy()), formulas)
    return rows.collect().write_csv()


def _without_lists(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows with one text, its items separated by blanks, for each list."""
    lists = pl.col(
        name
        for name, dtype in rows.collect_schema().items()
        if isinstance(dtype, pl.List)
    )
    return rows.with_columns(lists.cast(pl.List(pl.String)).list.join(" "))


def as_pandas(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pandas is not imported here
    """Return a frame as a pandas frame; texts and lists are Python objects, numbers NumPy's."""
    pandas = installed("pandas", "pandas", 'pip install "rankstone[pandas]"')
    columns = {}
    for column in frame.get_columns():
        is_number = column.dtype.is_numeric()
        columns[column.name] = column.to_numpy() if is_number else column.to_list()
    return pandas.DataFrame(columns)


def data_notes(
    audit: Any,  # noqa: ANN401 - of any room
    conventions: Mapping[str, Any] | None,
    lang: str = "en",
    *,
    further: Iterable[str] = (),
) -> Details:
    """Return what is noted below numbers: the audit of their data, and the conventions they depend on.

    In brief it is what deserves attention, with ``further`` sentences, and what differs from the defaults.
    """
    from rankstone.tables.sheet import Details

    if conventions is None:
        conventions = {}
    whole = conventions_lines(conventions)
    brief = conventions_lines(conventions, brief=True)
    if audit is not None:
        whole = [*audit.lines(), *whole]
        brief = [*audit.brief(*further), *brief]
    return Details(
        tuple(from_english(line, lang) for line in whole),
        tuple(from_english(line, lang) for line in brief),
    )
