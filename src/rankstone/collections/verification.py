"""``verify``: whether a card still holds, and if not, which file, which block, which digit is another one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import polars as pl

from rankstone._basics import some
from rankstone.collections.run_cards import (
    BLOCK,
    FILES,
    KIND,
    digest,
    environment,
    figures_of,
    hashed,
)
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import BadValue, RankstoneError, UsageError, printable
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.io.json_objects import read_json
from rankstone.tables.phrases import check_language
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankstone.io.input_table import Progress


_NAME: Final = 60
#: changed figures that are listed
_LISTED: Final = 20
#: options that a card can have; files are listed with their hashes, nothing else is read
_OPTIONS: Final = EvaluationKeywords.__annotations__.keys() - {*FILES}
#: what a card holds: kinds of entries, of items, and of values
_SHAPE: Final = {
    "files": [
        {
            "role": str,
            "name": str,
            "path": str,
            "bytes": int,
            "sha256": str,
            "blocks": [str],
        }
    ],
    "figures": {str: {str: {"queries": dict}}},
    "environment": {str: str},
    "options": dict,
    "measures": [str],
    "sha256": str,
}
_FILES: Final = {
    "role": pl.String,
    "path": pl.String,
    "state": pl.String,
    "block": pl.Int64,
    "offset": pl.Int64,
}
_FIGURES: Final = dict.fromkeys(
    ("run", "measure", "figure", "on_card", "again"), pl.String
) | {"digit": pl.Int64}


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Findings):
    """Whether a card still holds.

    Attributes
    ----------
    files
        ``role`` and ``path`` of each file; its ``state``: ``same``, ``changed``, ``missing``, or ``card`` if
        the card's own hashes of it do not agree; the first ``block`` that is another one, from 0, and the
        first byte, ``offset``, null where none is or the original was not given.
    figures
        The figures that are others: ``run``, ``measure``, ``figure`` (``mean``, ``low``, ``high``, or a
        query), their texts ``on_card`` and ``again``; ``digit``, the first character that differs, from 1.
    count
        How many figures were computed again.
    card_changed
        True if the card's own hash is not that of what it says.
    environment
        What is another version now: name → on the card, now.
    problem
        Why figures could not be computed again, if so.
    lang
        Language of sentences.
    """

    files: pl.DataFrame
    figures: pl.DataFrame
    count: int
    card_changed: bool
    environment: Mapping[str, tuple[str, str]]
    problem: str | None = None
    lang: str = "en"
    digits: int = 4

    section: ClassVar[str] = "cards"
    audit: ClassVar[None] = None

    @property
    def holds(self) -> bool:
        """True if files, figures and the card are as they were."""
        changed = (
            self.files.filter(pl.col("state") != "same").height or self.figures.height
        )
        return not (changed or self.card_changed or self.problem)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each file and each figure that is another one.

        Returns
        -------
        polars.DataFrame
            The columns of ``files``, then those of ``figures``; null where a row has none.
        """
        return pl.concat(
            [self.files, self.figures.with_columns(state=pl.lit("changed"))],
            how="diagonal",
        )

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {"holds": self.holds} | super().report()

    def title(self) -> str:
        """Return whether the card holds."""
        return self.say("holds" if self.holds else "does_not_hold")

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the files, and the figures that are others."""
        say, every = self.say, self.files.iter_rows(named=True)
        rows = (
            (
                say(row["role"]),
                printable(row["path"], _NAME),
                say(f"state_{row['state']}"),
                self._place(row),
            )
            for row in every
        )
        head = tuple(map(say, ("role", "file", "state", "place")))
        files = Table(say("files"), head, tuple(rows), ("text", "id", "text", "text"))
        if not self.figures.height:
            return [files]
        names = {name: self.say(name) for name in _FIGURES}
        shown = self.figures if verbose else self.figures.head(_LISTED)
        return [
            files,
            Table.of(shown, self.say("changed_figures"), digits=digits, names=names),
        ]

    def _place(self, row: Mapping[str, Any]) -> str:
        if row["offset"] is not None:
            return self.say("at_byte", byte=f"{row['offset']:,}")
        if (block := row["block"]) is None:
            return ""
        return self.say(
            "in_block",
            block=block + 1,
            first=f"{block * BLOCK:,}",
            last=f"{(block + 1) * BLOCK - 1:,}",
        )

    def findings(self, digits: int = 4) -> Iterator[str]:  # noqa: ARG002 - figures are shown whole
        """Yield what holds and what does not."""
        for row in self.files.filter(pl.col("state") != "same").iter_rows(named=True):
            yield self.say(
                f"file_{row['state']}",
                file=printable(row["path"], _NAME),
                place=self._place(row),
            )
        for row in self.figures.head(_LISTED).iter_rows(named=True):
            yield self.say(
                "figure_changed",
                **{name: printable(one, _NAME) for name, one in row.items()},
            )
        if (more := self.figures.height - _LISTED) > 0:
            yield self.say("more_figures", count=f"{more:,}")
        if self.problem is not None:
            yield self.say("not_computed", problem=self.problem)
        elif not self.figures.height:
            yield self.say("all_figures", count=f"{self.count:,}")
        if self.card_changed:
            yield self.say("card_changed")
        for name, (then, now) in self.environment.items():
            yield self.say(
                "other_version", name=name, then=printable(then, _NAME), now=now
            )


def verify(
    card: str | os.PathLike[str] | Mapping[str, Any],
    files: Sequence[str | os.PathLike[str]] = (),
    *,
    original: Sequence[str | os.PathLike[str]] = (),
    lang: str = "en",
    progress: Progress | None = None,
) -> Verification:
    """Compute the figures of a card again, and name what is another one: file, block, byte, digit.

    Parameters
    ----------
    card
        The card: a path, or what it holds.
    files
        Where its files are now, found by their names, and by their folders if names are the same; by default
        below the card's folder, as it says.
    original
        Unchanged copies of changed files, to find the first byte that differs.
    lang
        Language of sentences: ``en`` or ``zh``.
    progress
        Called with row counts while reading.

    Raises
    ------
    InputError
        When it is not a card.

    Examples
    --------
    >>> from rankstone import demo
    >>> from rankstone.collections import certify
    >>> files = [demo.QRELS, demo.RUNS["bm25"]]
    >>> verify(certify(files[0], {"bm25": files[1]}, "P@5").card, files).holds
    True
    """
    check_language(lang)
    where = "card" if isinstance(card, Mapping) else os.fspath(card)
    content: Any = card if isinstance(card, Mapping) else read_json(card)
    if not isinstance(content, Mapping) or content.get("card") != KIND:
        problem = "this is not a run card"
        raise BadValue(
            problem,
            where=where,
            expected=f'"card": "{KIND}"',
            fix="rankstone certify writes one",
        )
    bad = [
        name for name, shape in _SHAPE.items() if not _fits(content.get(name), shape)
    ]
    bad += [
        f"option {printable(name)}"
        for name in content.get("options") or ()
        if name not in _OPTIONS
    ]
    if bad:
        raise BadValue(
            f"the card has no valid {bad[0]}",
            where=where,
            fix="rankstone certify writes one",
        )
    for one in (*files, *original):
        if not Path(one).is_file():
            raise UsageError(f"{printable(os.fspath(one), _NAME)} is not a file")
    named = [Path(one) for one in files]
    found = {
        one["path"]: _found(one["path"], Path(where).parent, named, where)
        for one in content["files"]
    }
    originals = {hashed(Path(one))["sha256"]: Path(one) for one in original}
    checks = [_checked(one, found[one["path"]], originals) for one in content["files"]]
    figures: list[tuple[Any, ...]] = []
    count, reason = 0, None
    if missing := [path for path, at in found.items() if at is None]:
        reason = some(missing)
    else:
        try:
            figures, count = _differences(
                content["figures"], _again(content, found, progress)
            )
        except RankstoneError as error:
            reason = printable(str(error).splitlines()[0], 200)
    now, then = environment(), content["environment"]
    others = {
        name: (str(then.get(name)), now[name])
        for name in now
        if then.get(name) != now[name]
    }
    return Verification(
        pl.DataFrame(checks, _FILES, orient="row"),
        pl.DataFrame(figures, _FIGURES, orient="row"),
        count,
        content["sha256"] != digest(content),
        others,
        reason,
        lang,
    )


def _fits(value: Any, shape: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Return True if a value has a shape: a type, a list of items, a mapping by name or of any names.

    >>> _fits([{"n": 1}], [{"n": int}]), _fits({"a": 1}, {str: str})
    (True, False)
    """
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    if not isinstance(value, Mapping):
        return False
    if str in shape:
        return all(_fits(one, shape[str]) for one in value.values())
    return all(_fits(value.get(name), one) for name, one in shape.items())


def _found(path: str, folder: Path, files: Sequence[Path], where: str) -> Path | None:
    """Return where a file is; names that lead out of the card's folder are not followed."""
    named = Path(path)
    if alike := {
        one: _shared_end(one, named) for one in files if one.name == named.name
    }:
        places = [one for one, shared in alike.items() if shared == max(alike.values())]
        if len(places) > 1:
            raise UsageError(
                f"several files could be {printable(path, _NAME)}",
                given=some(printable(os.fspath(one), _NAME) for one in places),
                fix="name one of them, or the same folders as on the card",
            )
        return places[0]
    if named.is_absolute() or ".." in named.parts:
        problem = f"the card names a file outside its folder: {printable(path, _NAME)}"
        raise BadValue(problem, where=where, fix="name the files after the card")
    return folder / named if (folder / named).is_file() else None


def _shared_end(one: Path, other: Path) -> int:
    """Return how many parts of two paths are the same, from the end on."""
    at = _differ(one.parts[::-1], other.parts[::-1])
    return len(one.parts) if at is None else at


def _checked(
    entry: Mapping[str, Any], path: Path | None, originals: Mapping[str, Path]
) -> tuple[Any, ...]:
    """Compare a file with its entry: role, path, state, block, offset."""
    about = entry["role"], entry["path"]
    if path is None:
        return *about, "missing", None, None
    now = hashed(path)
    block = _differ(entry["blocks"], now["blocks"])
    if now["sha256"] == entry["sha256"] or block is None:
        same = block is None and (now["bytes"], now["sha256"]) == (
            entry["bytes"],
            entry["sha256"],
        )
        return *about, "same" if same else "card", block, None
    original = originals.get(entry["sha256"])
    if original is None:
        return *about, "changed", block, None
    with (
        original.open("rb") as one,
        path.open("rb") as other,
    ):  # all blocks before are the same
        parts = [
            (file.seek(block * BLOCK), file.read(BLOCK))[1] for file in (one, other)
        ]
    return *about, "changed", block, block * BLOCK + (_differ(*parts) or 0)


def _differ(one: Iterable[Any], other: Iterable[Any]) -> int | None:
    """Return the first place in which two sequences differ, from 0; ``None`` if they are the same."""
    return next(
        (
            at
            for at, (left, right) in enumerate(zip_longest(one, other))
            if left != right
        ),
        None,
    )


def _again(
    content: Mapping[str, Any],
    found: Mapping[str, Path | None],
    progress: Progress | None,
) -> Any:  # noqa: ANN401
    """Compute the figures again, with the options of the card."""
    roles = {
        one["role"]: found[one["path"]]
        for one in content["files"]
        if one["role"] != "run"
    }
    runs = {
        one["name"]: found[one["path"]]
        for one in content["files"]
        if one["role"] == "run"
    }
    options = content["options"] | {
        name: roles[name] for name in FILES if name in roles
    }
    judged, by = roles.get("judgments"), content.get("convention")
    return figures_of(
        scores_by(by, judged, runs, content["measures"], progress=progress, **options)
    )


def _differences(
    card: Mapping[str, Any], again: Mapping[str, Any]
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the figures that are others, and how many there are."""
    then, now = _flat(card), _flat(again)
    keys = dict.fromkeys((*now, *then))
    pairs = [(key, then.get(key, "–"), now.get(key, "–")) for key in keys]
    changed = [
        (*key, one, other, 1 + (_differ(one, other) or 0))
        for key, one, other in pairs
        if one != other
    ]
    return changed, len(keys)


def _flat(figures: Mapping[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return run, measure and figure → text; that of a value that is not defined is ``null``."""
    return {
        (run, measure, name): str(text) if text is not None else "null"
        for run, of in figures.items()
        for measure, one in of.items()
        for name, text in (
            *((name, one.get(name)) for name in ("mean", "low", "high")),
            *one["queries"].items(),
        )
    }
