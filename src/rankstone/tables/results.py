"""The common interface of results: shown as tables, with notes below them, and written to files."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import polars as pl

from rankstone.errors import BadParameter, UsageError, installed, printable
from rankstone.io.atomic_files import atomic
from rankstone.io.csv_files import without_formulas
from rankstone.io.suffixes import suffixes_of, written_format
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankstone._basics import StrPath
    from rankstone.tables.sheet import Details, Part, Sheet, Table


#: what the rows of a result are written as
ROWS: Final = ("parquet", "csv", "jsonl")
#: characters that JSON may hold as they are, and terminals obey → how JSON writes them too
_OBEYED: Final = {
    code: f"\\u{code:04x}"
    for codes in ((0x7F, 0xA0), (0x200E, 0x2010), (0x2028, 0x202F), (0x2066, 0x206A))
    for code in range(*codes)
}
#: options and parameters whose defaults are shown in brief: those that libraries disagree on most
_USUAL: Final = ("gain", "rel", "ties", "missing")


class Result:
    """The base class of results.

    A subclass defines its rows (:meth:`to_frame`), all its data as plain dicts (:meth:`report`) and what is
    shown (:meth:`sheet`); each format is written from these.
    """

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of the result."""
        raise NotImplementedError

    def lazy(self) -> pl.LazyFrame:
        """Return the rows lazily, to write many millions of them without holding them in memory."""
        return self.to_frame().lazy()

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain dicts."""
        return self.report()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what is shown, with this many decimals."""
        from rankstone.tables.sheet import Sheet, Table

        return Sheet(
            "",
            parts=(Table.of(self.to_frame(), digits=digits),),
            notes=(self._notes(),),
        )

    def _notes(self) -> Details:
        """Return the audit, and the options that the numbers depend on."""
        return data_notes(
            getattr(self, "audit", None), getattr(self, "conventions", None)
        )

    def text(self, width: int = 80, *, verbose: bool = False) -> str:
        """Return it as text for a page of ``width`` columns; ``verbose``: with the whole audit."""
        from rankstone.tables.sheet import text

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
        from rankstone.tables.sheet import page_width

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
            write_rows(self.lazy(), path, formulas)
            return

        texts = {
            "json": lambda: as_json(self.report()),
            "md": self.to_markdown,
            "tex": self.to_latex,
        }
        if kind not in texts:
            is_page = kind == "html"
            raise UsageError(
                f"{printable(path)}: results write no {'pages' if is_page else 'files with such a suffix'}",
                expected=", ".join(suffixes_of(*ROWS, *texts)),
                fix="rankstone.report(result, path) writes a page" if is_page else None,
            )
        with atomic(path) as unfinished:
            unfinished.write_text(texts[kind](), encoding="utf-8")


class Findings(Result):
    """The base class of results that say what they found: tables, sentences, and how these came about.

    A subclass is a dataclass with fields ``lang`` and ``digits``.  It names the ``section`` of its phrases,
    and defines :meth:`title`, :meth:`tables` and :meth:`findings`, perhaps :meth:`method_lines`.
    """

    section: ClassVar[str]
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

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield what was found, in sentences."""
        raise NotImplementedError

    def method_lines(self) -> Iterator[str]:
        """Yield how it was found."""
        return iter(())

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type] # a dataclass
        return given(
            **{
                name: one
                for name, one in known.items()
                if name not in ("lang", "digits")
            }
        ) | {"findings": list(self.findings())}

    def sheet(self, digits: int | None = None, *, verbose: bool = False) -> Sheet:
        """Return tables, findings and method."""
        from rankstone.tables.sheet import Sheet

        shown = self.digits if digits is None else digits
        parts: list[Part] = [*self.tables(shown, verbose=verbose)]
        lists = {"findings": [*self.findings(shown)], "method": [*self.method_lines()]}
        parts += [
            (self.say(name), tuple(lines)) for name, lines in lists.items() if lines
        ]
        return Sheet(self.title(), parts=tuple(parts), notes=(self._notes(),))


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
        means = self.to_dict()
        name = plain_name if plain else str
        several = len(means) > 1
        rows = [
            (run, measure, value)
            for run, of in means.items()
            for measure, value in of.items()
        ]
        flat = {
            f"{prefix}{name(r) + '/' if several else ''}{name(m)}": value
            for r, m, value in rows
        }
        if len(flat) < len(rows):
            raise BadParameter(
                "two means have the same name",
                given=", ".join(flat),
                fix="remove plain=True",
            )
        return {name: value for name, value in flat.items() if value is not None}

    def report(self: Averaged, by: str | Sequence[str] = ()) -> dict[str, Any]:
        """Return all data as plain dicts: means, audit, conventions, inputs; ``by`` adds segments."""
        audit = self.audit.to_dict()
        for without in ("missing", "no_relevant"):
            means = (
                self.mean(without=[without]).iter_rows() if self.has(without) else ()
            )
            for run, measure, value, n, _ in means:
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
    return (
        re.sub(r"\W+", "_", name.replace("@", "_at_"))
        .replace("__at_", "_at_")
        .strip("_")
    )


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
    return (
        dict(value)
        if hasattr(value, "keys")
        else list(value)
        if isinstance(value, tuple)
        else value
    )


def write_rows(rows: pl.LazyFrame, path: StrPath, formulas: str = "keep") -> None:
    """Write rows atomically in the format of the suffix: Parquet, CSV or JSON lines."""
    kind = written_format(Path(path))
    with atomic(path) as unfinished:
        if kind == "csv":
            without_formulas(_without_lists(rows), formulas).sink_csv(unfinished)
        elif kind == "jsonl":
            rows.sink_ndjson(unfinished)
        else:
            rows.sink_parquet(unfinished)


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
    plain = _finite(value)
    text = json.dumps(
        plain, ensure_ascii=False, indent=indent, default=str, allow_nan=False
    )
    return text.translate(_OBEYED)


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
    text: str = (
        without_formulas(_without_lists(frame.lazy()), formulas).collect().write_csv()
    )
    return text


def _without_lists(rows: pl.LazyFrame) -> pl.LazyFrame:
    lists = [
        name
        for name, kind in rows.collect_schema().items()
        if isinstance(kind, pl.List)
    ]
    return rows.with_columns(
        pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists
    )


def as_pandas(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pandas is not imported here
    """Return a frame as a pandas frame; texts and lists are Python objects, numbers NumPy's."""
    pandas = installed("pandas", "pandas", 'pip install "rankstone[pandas]"')
    columns = frame.get_columns()
    return pandas.DataFrame(
        {c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in columns}
    )


# -- notes below results -----------------------------------------------------------------------------------
def data_notes(audit: Any, conventions: Mapping[str, Any] | None) -> Details:  # noqa: ANN401 - of any room
    """Return what is noted below numbers: the audit of their data, and the conventions they depend on."""
    from rankstone.tables.sheet import Details

    audits = ((), ()) if audit is None else (audit.lines(), audit.brief())
    whole, brief = (
        conventions_lines(conventions or {}, brief=brief) for brief in (False, True)
    )
    return Details((*audits[0], *whole), (*audits[1], *brief))


def conventions_lines(
    conventions: Mapping[str, Any], *, brief: bool = False
) -> list[str]:
    """Return the lines about the conventions of numbers; ``brief``: only what differs from the defaults.

    >>> known = {"alignment": {"order": "score", "ties": "input"}, "defaults": {"AP.denom": "R"}}
    >>> conventions_lines(known)
    ['conventions  order=score ties=input · AP.denom=R']
    >>> conventions_lines(known | {"changed": {"ties": "docid_desc"}}, brief=True)
    ['conventions  ties=input (default docid_desc) · defaults: …']
    """
    if "convention" in conventions:
        lines = [f"convention  {conventions['convention']}"]
        for text, meaning in conventions["meaning"].items():
            options = " ".join(
                f"{name}={value}" for name, value in meaning["options"].items()
            )
            note = f": {meaning['note']}" if meaning.get("note") else ""
            ours = (
                "a measure of this library alone"
                if meaning["ours"] == text
                else meaning["ours"]
            )
            lines.append(
                f"  {text} is {ours}{f' with {options}' if options else ''}{note}"
            )
        return lines
    if "alignment" not in conventions:
        known = {
            name: value for name, value in conventions.items() if value is not None
        }
        shown = [
            f"{name}={printable(_listed(value), 40)}" for name, value in known.items()
        ]
        return [f"conventions  {' '.join(shown)}"] if shown else []
    shown = [
        f"{name}={value}"
        for name, value in conventions["alignment"].items()
        if value is not None
    ]
    if brief:
        changed = conventions.get("changed", {})
        defaults = {
            name.rpartition(".")[2]: value
            for name, value in conventions["defaults"].items()
        }
        defaults = {**defaults, **dict.fromkeys(conventions["alignment"])}
        usual = [f"{name}={defaults[name]}" for name in _USUAL if defaults.get(name)]
        usual += [
            one
            for one in shown
            if one.partition("=")[0] in _USUAL and one.partition("=")[0] not in changed
        ]
        other = [
            one if changed[name] is None else f"{one} (default {changed[name]})"
            for one in shown
            if (name := one.partition("=")[0]) in changed
        ]
        return [
            f"conventions  {' '.join([*other, *(['·'] if other else []), 'defaults:', *usual, '…'])}"
        ]
    parameters = [f"{name}={value}" for name, value in conventions["defaults"].items()]
    return [
        "conventions  "
        + " ".join(shown)
        + (" · " + " ".join(parameters) if parameters else "")
    ]


def _listed(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return ",".join(str(_listed(one)) for one in value)
    return f"{value:g}" if isinstance(value, float) else value
