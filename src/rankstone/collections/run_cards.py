"""``certify``: a card that says which files, code and options gave a number, so that it can be checked."""

from __future__ import annotations

import gzip
import json
import platform
import sys
from datetime import UTC, datetime
from functools import cache, partial
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
from rankstone.io.file_roles import note_input
from rankstone.io.sources import is_database
from rankstone.io.suffixes import GZIP
from rankstone.io.unreadable_files import reading
from rankstone.measures.core.measure import Measure
from rankstone.tables.phrases import check_language, phrase
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import Progress, StrPath
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.evaluation.scores import Scores


#: what the first entry of a card says
KIND: Final = "rankstone run card 1"
#: bytes of a block
BLOCK: Final = 1 << 16
#: options that are files
FILES: Final = ("queries", "exclude", "same_as", "documents", "intents")
_HEADER: Final = ("# ir_metadata.start", "# ir_metadata.end")
#: how limits of means are computed
_INTERVALS: Final = {"interval": "auto", "confidence": "0.95", "seed": 0}
_NAME: Final = 60


class RunCard(Result, Record):
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

    def report(self) -> dict[str, Any]:
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
            (run, name, *map(one.get, names))
            for run, of in figures.items()
            for name, one in of.items()
        ]
        return pl.DataFrame(
            rows, dict.fromkeys(("run", "measure", *names), pl.String), orient="row"
        )

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the files and the means."""
        say = partial(phrase, "cards", lang=self.lang)
        head = {
            "role": say("role"),
            "path": say("file"),
            "bytes": say("bytes"),
            "sha256": "SHA-256",
        }
        listed = pl.DataFrame(self.card["files"]).select(
            pl.col("role").map_elements(say, pl.String), *[*head][1:]
        )
        files = Table.of(listed, say("files"), names=head)
        means = self.to_frame()
        names = {name: say(name) for name in means.columns}
        figures = Table.of(means, say("figures"), digits=digits, names=names)
        return Sheet(say("card_title"), parts=(files, figures))


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
    paths = {"judgments": qrels} | {
        name: options[name] for name in FILES if options.get(name) is not None
    }
    listed = [_described(role, "", path, folder) for role, path in paths.items()]
    listed += [_described("run", name, path, folder) for name, path in named.items()]
    names = [one["path"] for one in listed]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(
            f"two files would be {printable(twice[0])} on the card",
            fix="put the card into a folder that holds both, or rename one",
        )
    scores = scores_by(convention, qrels, named, measures, progress=progress, **options)
    check_means(scores.measures)
    given = {name: value for name, value in options.items() if name not in FILES}
    if csv := getattr(given.get("columns"), "csv", None):
        given |= {"csv_separator": csv.separator, "decimal": csv.decimal}
    given["columns"] = dict(options.get("columns") or {}) or None
    card = {
        "card": KIND,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "measures": [
            *map(str, [measures] if isinstance(measures, (str, Measure)) else measures)
        ],
        "convention": convention,
        "options": {name: value for name, value in given.items() if value is not None},
        "files": listed,
        **computed(scores),
    }
    plain = json.loads(json.dumps(card, default=str))
    return RunCard(plain | {"sha256": digest(plain)}, lang=lang)


def computed(scores: Scores) -> dict[str, Any]:
    """Return all that a card says about scores, as JSON holds it: conventions, intervals, figures."""
    parts = {
        "conventions": scores.conventions,
        "intervals": _INTERVALS,
        "figures": _figures(scores),
    }
    content: dict[str, Any] = json.loads(json.dumps(parts, default=str))
    return content


def _figures(scores: Scores) -> dict[str, dict[str, dict[str, Any]]]:
    """Return run → measure → mean, its limits, and the values of queries, as text that loses nothing."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in intervals(scores).iter_rows(named=True):
        mean = {
            name: _text(row[of])
            for name, of in (("mean", "value"), ("low", "low"), ("high", "high"))
        }
        found.setdefault(row["run"], {})[row["measure"]] = {**mean, "queries": {}}
    for run, query, measure, value in scores.per_query.select(
        "run", "query_id", "measure", "value"
    ).iter_rows():
        found[run][measure]["queries"][str(query)] = _text(value)
    return found


def _text(value: float | None) -> str | None:
    return None if value is None else repr(value)


def environment() -> dict[str, str]:
    """Return versions, and a hash of this package's source."""
    libraries = {
        name: version(name) for name in ("rankstone", "numpy", "polars", "scipy")
    }
    return {
        **libraries,
        "rankstone_sha256": _source(),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
    }


@cache
def _source() -> str:
    """Return the hash of all files of the package that decide numbers."""
    package = Path(str(files("rankstone")))
    found = sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".toml") and "__pycache__" not in path.parts:
            found.update(
                path.relative_to(package).as_posix().encode()
                + b"\0"
                + path.read_bytes()
            )
    return found.hexdigest()


def digest(card: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a card without its own."""
    rest = {name: value for name, value in card.items() if name != "sha256"}
    return sha256(
        json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def _described(role: str, name: str, path: object, folder: StrPath) -> dict[str, Any]:
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
    below = (
        whole.relative_to(base).as_posix() if whole.is_relative_to(base) else whole.name
    )
    refuse_standard_input(path, below)
    return {"role": role, "name": name, "path": below, **described(role, whole)}


def refuse_standard_input(*names: StrPath) -> None:
    """Refuse the name that is read as standard input, whatever file has it."""
    if any(Path(name) == Path("-") for name in names):
        raise UsageError(
            "a card is of files, and - is standard input",
            fix="give the file another name",
        )


def described(role: str, path: Path) -> dict[str, Any]:
    """Return what an entry says of the content of a file: its hashes, and the metadata of a run."""
    entry = hashed(path)
    with reading(str(path)):
        header = list(_header(path)) if role == "run" else []
    return entry | ({"ir_metadata": header} if header else {})


def hashed(path: Path) -> dict[str, Any]:
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
            if line.strip() == _HEADER[1] or not line.startswith("#"):
                return
            yield line.rstrip("\n").removeprefix("#").removeprefix(" ")
