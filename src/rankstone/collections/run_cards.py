"""``certify``: a card that says which files, code and options gave a number, so that it can be checked."""

from __future__ import annotations

import gzip
import json
import os
import platform
import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

import polars as pl

from rankstone._basics import Record, is_path
from rankstone.comparison.score_sources import check_means
from rankstone.comparison.single_intervals import intervals
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import UsageError, printable
from rankstone.evaluation.request import EvaluationKeywords, name_runs
from rankstone.hits.alignment_options import takes
from rankstone.io.columns import Renames
from rankstone.io.file_roles import note_input
from rankstone.io.sources import is_database
from rankstone.io.suffixes import GZIP
from rankstone.io.unreadable_files import reading
from rankstone.measures.core.measure import Measure
from rankstone.tables.phrases import check_language
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import Progress, StrPath
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.evaluation.scores import Scores
    from rankstone.tables.sheet import Kind

    #: what JSON holds under names
    Content = dict[str, Any]


#: what the first entry of a card says
KIND: Final = "rankstone run card 1"
#: bytes of a block
BLOCK: Final = 1 << 16
#: options that are files
FILES: Final[tuple[str, ...]] = (
    "queries",
    "exclude",
    "same_as",
    "documents",
    "corpus",
    "intents",
    "shape",
)
_HEADER: Final = ("# ir_metadata.start", "# ir_metadata.end")
#: how limits of means are computed
_INTERVALS: Final = {"interval": "auto", "confidence": "0.95", "seed": 0}
_NAME: Final = 60


class RunCard(Findings, Record):
    """A card of some runs; :meth:`write` writes it.

    Attributes
    ----------
    card
        Everything in it, ready for JSON.
    lang
        Language of what is shown.
    """

    card: Mapping[str, Any]
    digits: int = 4
    lang: str = "en"

    section = "cards"

    def report(self) -> Content:
        """Return the card."""
        return dict(self.card)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each mean.

        Returns
        -------
        polars.DataFrame
            ``run``, ``measure``; ``mean``, ``low`` and ``high`` as text, every digit.
        """
        figures = self.card["figures"]
        names = ("mean", "low", "high")
        rows = [
            (run, measure, *map(figure.get, names))
            for run, by_measure in figures.items()
            for measure, figure in by_measure.items()
        ]
        schema = dict.fromkeys(("run", "measure", *names), pl.String)
        return pl.DataFrame(rows, schema, orient="row")

    def title(self) -> str:
        """Return that it is a card."""
        return self.say("card_title")

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:  # noqa: ARG002 - it is all there is
        """Return the files and the means."""
        say = self.say
        head = {
            "role": say("role"),
            "path": say("file"),
            "bytes": say("bytes"),
            "sha256": "SHA-256",
        }
        roles = pl.col("role").map_elements(say, pl.String)
        entries = pl.DataFrame(self.card["files"])
        listed = entries.with_columns(roles).select(*head)
        files = Table.of(listed, say("files"), names=head)

        means = self.to_frame()
        names = {name: say(name) for name in means.columns}
        kinds: dict[str, Kind] = dict.fromkeys(("mean", "low", "high"), "number")
        figures = Table.of(
            means, say("figures"), digits=digits, names=names, kinds=kinds
        )
        return [files, figures]


@takes(EvaluationKeywords)
def certify(
    qrels: StrPath,
    runs: Any,  # noqa: ANN401 - paths, as for evaluate
    measures: MeasuresLike = "nDCG@10",
    *,
    convention: str | None = None,
    folder: StrPath = ".",
    lang: str = "en",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> RunCard:
    """Return a card of runs: hashes of files and code, options, environment, and every figure as text.

    Parameters
    ----------
    qrels
        A file of judgments.
    runs
        Files of runs: a path, several, or ``{name: path}``.
    measures, convention, progress, **options
        As for :func:`rankstone.evaluate`; side tables are files, too.
    folder
        The folder in which the card will be: files below it are named relative to it, others by their name.
    lang
        Language of what is shown; the card is the same in all.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; when something that is read is not a file.

    Examples
    --------
    >>> from rankstone import demo
    >>> card = certify(demo.QRELS, {"bm25": demo.RUNS["bm25"]}, "P@5").card
    >>> card["figures"]["bm25"]["P@5"]["mean"]
    '0.36875'
    """
    check_language(lang)
    named = name_runs(runs)
    settings: Content = dict(options)
    shape = getattr(settings.get("columns"), "own_shapes", None)
    if shape is not None:
        settings["shape"] = shape
    roles = [name for name in FILES if settings.get(name) is not None]
    listed = [_described("judgments", "", qrels, folder)]
    for role in roles:
        listed += [_described(role, "", settings[role], folder)]
    for name, path in named.items():
        listed += [_described("run", name, path, folder)]
    names = [entry["path"] for entry in listed]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(
            f"two files would be {printable(twice[0])} on the card",
            fix="put the card into a folder that holds both, or rename one",
        )
    scores = scores_by(convention, qrels, named, measures, progress=progress, **options)
    check_means(scores.measures)
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    card = {
        "card": KIND,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "measures": [*map(str, measures)],
        "convention": convention,
        "options": _settings(settings),
        "files": listed,
        **computed(scores),
    }
    content = _as_json_holds(card)
    content["sha256"] = digest(content)
    return RunCard(content, lang=lang)


def _settings(options: Content) -> Content:
    """Return the options that were given and are no files, those of reading by their names."""
    settings = {name: options[name] for name in options if name not in FILES}
    columns = settings.get("columns") or {}
    names = Renames(columns, columns)
    # what was given beside the names counts, too
    settings = {
        "csv_separator": names.csv.separator,
        "decimal": names.csv.decimal,
        "no_header": not names.csv.header or None,
        "all_relevant": names.all_relevant or None,
        **settings,
        "columns": dict(names) or None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def columns_of(settings: Content, shape: StrPath | None) -> Renames:
    """Take the names of columns out of the settings of a card, with what else says how tables are read."""
    names = Renames(settings.pop("columns", {}))
    names.csv = replace(names.csv, header=not settings.pop("no_header", False))
    names.own_shapes = None if shape is None else os.fspath(shape)
    return names


def _as_json_holds(parts: Content) -> Content:
    """Return parts of a card as they are when the card is read again."""
    content: Content = json.loads(json.dumps(parts, default=str))
    return content


def computed(scores: Scores) -> Content:
    """Return all that a card says about scores, as JSON holds it: conventions, intervals, figures."""
    parts = {
        "conventions": scores.conventions,
        "intervals": _INTERVALS,
        "figures": _figures(scores),
    }
    return _as_json_holds(parts)


def _figures(scores: Scores) -> dict[str, dict[str, Content]]:
    """Return run → measure → mean, its limits, and the values of queries, as text that loses nothing."""
    figures: dict[str, dict[str, Content]] = {}
    for row in intervals(scores).iter_rows(named=True):
        by_measure = figures.setdefault(row["run"], {})
        by_measure[row["measure"]] = {
            "mean": _text(row["value"]),
            "low": _text(row["low"]),
            "high": _text(row["high"]),
            "queries": {},
        }
    values = scores.per_query.select("run", "query_id", "measure", "value")
    for run, query, measure, value in values.iter_rows():
        of_queries = figures[run][measure]["queries"]
        of_queries[str(query)] = _text(value)
    return figures


def _text(value: float | None) -> str | None:
    return None if value is None else repr(value)


def environment() -> dict[str, str]:
    """Return versions, and a hash of this package's source."""
    libraries = ("rankstone", "numpy", "polars", "scipy")
    return {
        **{name: version(name) for name in libraries},
        "rankstone_sha256": _source(),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
    }


@cache
def _source() -> str:
    """Return the hash of all files of the package that decide numbers."""
    package = Path(str(files("rankstone")))
    whole = sha256()
    for path in sorted(package.rglob("*")):
        decides = path.suffix in (".py", ".toml")
        if decides and "__pycache__" not in path.parts:
            name = path.relative_to(package).as_posix()
            whole.update(name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def digest(card: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a card without its own."""
    rest = dict(card)
    rest.pop("sha256", None)
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _described(role: str, name: str, path: object, folder: StrPath) -> Content:
    """Return the entry of a file."""
    if is_path(path):
        refuse_standard_input(path)
    if not is_path(path) or is_database(path) or not Path(path).is_file():
        raise UsageError(
            f"a card is of files, and {printable(name or role)} is none",
            given=printable(str(path), _NAME),
            fix="write it to a file first",
        )
    whole = Path(path).resolve()
    base = Path(folder).resolve()
    on_card = whole.name
    if whole.is_relative_to(base):
        on_card = whole.relative_to(base).as_posix()
    refuse_standard_input(path, on_card)
    about = {"role": role, "name": name, "path": on_card}
    return about | described(role, whole)


def refuse_standard_input(*names: StrPath) -> None:
    """Refuse the name that is read as standard input, whatever file has it."""
    if any(Path(name) == Path("-") for name in names):
        raise UsageError(
            "a card is of files, and - is standard input",
            fix="give the file another name",
        )


def described(role: str, path: Path) -> Content:
    """Return what an entry says of the content of a file: its hashes, and the metadata of a run."""
    entry = hashed(path)
    if role == "run":
        with reading(str(path)):
            header = list(_header(path))
        if header:
            entry["ir_metadata"] = header
    return entry


def hashed(path: Path) -> Content:
    """Return the size, the SHA-256 and that of every block of a file."""
    note_input(path)
    whole = sha256()
    blocks = []
    with reading(str(path)), path.open("rb") as file:
        while block := file.read(BLOCK):
            whole.update(block)
            blocks.append(sha256(block).hexdigest())
    return {
        "bytes": path.stat().st_size,
        "sha256": whole.hexdigest(),
        "block": BLOCK,
        "blocks": blocks,
    }


def _header(path: Path) -> Iterator[str]:
    """Yield the lines of a run's header of metadata (Breuer, Keller and Schaer, ir_metadata, SIGIR 2022)."""
    opened = gzip.open if path.suffix == GZIP else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        if file.readline(_NAME).strip() != _HEADER[0]:
            return
        for line in file:
            is_comment = line.startswith("#")
            if line.strip() == _HEADER[1] or not is_comment:
                return
            text = line.rstrip("\n").removeprefix("#")
            yield text.removeprefix(" ")
