"""``verify``: whether a card still holds, and if not, which file, which block, which digit is another one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import some
from rankstone.collections.run_cards import (
    BLOCK,
    FILES,
    KIND,
    computed,
    described,
    digest,
    environment,
    hashed,
    refuse_standard_input,
)
from rankstone.collections.verification_result import (
    FIGURE_COLUMNS,
    FILE_COLUMNS,
    STATEMENT_COLUMNS,
    Verification,
)
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import BadValue, RankstoneError, UsageError, printable
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.io.json_objects import read_json
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankstone._basics import Progress, StrPath
    from rankstone.evaluation.scores import Scores


_NAME: Final = 60
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
    "conventions": dict,
    "intervals": dict,
    "options": dict,
    "measures": [str],
    "sha256": str,
}
#: entries that name a file, and those that its content decides and a state reports
_NAMES: Final = ("role", "name", "path")
_HASHES: Final = ("bytes", "sha256", "blocks")
#: parts of a card that are used to compute the others again
_USED: Final = ("card", "measures", "convention", "options")
_COMPUTED: Final = ("conventions", "intervals", "figures")
_MEANS: Final = ("mean", "low", "high")
_FIGURE: Final = (*_MEANS, "queries")
_SOURCE: Final = "rankstone_sha256"
#: where one side of a comparison has nothing
_ABSENT: Final = object()


def verify(
    card: StrPath | Mapping[str, Any],
    files: Sequence[StrPath] = (),
    *,
    original: Sequence[StrPath] = (),
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
    content = card if isinstance(card, Mapping) else read_json(card)
    _check_card(content, where)
    for path in (*files, *original):
        refuse_standard_input(path)
        if not Path(path).is_file():
            raise UsageError(
                f"{printable(os.fspath(path), _NAME)} is not a file",
                expected="a file that is on the card",
            )
    named = [Path(path) for path in files]
    places = {
        entry["path"]: _found(entry["path"], Path(where).parent, named, where)
        for entry in content["files"]
    }
    originals = {hashed(Path(path))["sha256"]: Path(path) for path in original}
    card_parts, now_parts, checks = _files_compared(content, places, originals)
    problem = None
    if missing := [path for path, place in places.items() if place is None]:
        problem = some(missing)
    else:
        try:
            now_parts |= computed(_scores(content, places, progress))
        except RankstoneError as error:
            problem = printable(str(error).splitlines()[0], 200)
    if problem is not None:
        card_parts = {
            name: part for name, part in card_parts.items() if name not in _COMPUTED
        }
    differences = _Differences.between(card_parts, now_parts)
    return Verification(
        pl.DataFrame(checks, FILE_COLUMNS, orient="row"),
        pl.DataFrame(differences.figures, FIGURE_COLUMNS, orient="row"),
        _count_figures(now_parts.get("figures", {})),
        content["sha256"] != digest(content),
        differences.environment,
        problem,
        pl.DataFrame(differences.statements, STATEMENT_COLUMNS, orient="row"),
        tuple(differences.unchecked),
        lang,
    )


def _check_card(content: Any, where: str) -> None:  # noqa: ANN401 - whatever JSON holds
    """Refuse what is not a card."""
    if not isinstance(content, Mapping) or content.get("card") != KIND:
        problem = "this is not a run card"
        raise BadValue(
            problem,
            where=where,
            expected=f'"card": "{KIND}"',
            fix="a card is what rankstone certify writes",
        )
    bad = [
        name for name, shape in _SHAPE.items() if not _fits(content.get(name), shape)
    ]
    if not bad and not _name_a_whole_experiment(content["files"]):
        bad = ["files"]
    if not bad:
        unknown = content["options"].keys() - _OPTIONS
        bad = [f"option {printable(name)}" for name in sorted(unknown)]
    if bad:
        raise BadValue(
            f"the card has no valid {bad[0]}",
            where=where,
            fix="a card is what rankstone certify writes",
        )


def _files_compared(
    content: Mapping[str, Any],
    places: Mapping[str, Path | None],
    originals: Mapping[str, Path],
) -> tuple[dict[str, Any], dict[str, Any], list[tuple[Any, ...]]]:
    """Return what a card says, what of it is so now without scoring anything, and the states of files."""
    states = []
    card_files = {}
    now_files = {}
    for entry in content["files"]:
        path = entry["path"]
        place = places[entry["path"]]
        now = {} if place is None else described(entry["role"], place)
        states.append(_checked(entry, now, place, originals))
        if place is not None:
            # a run without a header of metadata has none, which can be compared
            metadata: dict[str, Any] = (
                {"ir_metadata": []} if entry["role"] == "run" else {}
            )
            names = {name: entry[name] for name in _NAMES}
            card_files[path] = metadata | _without_hashes(entry)
            now_files[path] = metadata | names | _without_hashes(now)

    card_parts = {name: part for name, part in content.items() if name != "sha256"}
    used = {name: part for name, part in content.items() if name in _USED}
    now_parts = used | {"environment": environment(), "files": now_files}
    return card_parts | {"files": card_files}, now_parts, states


def _without_hashes(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in _HASHES}


def _count_figures(figures: Mapping[str, Any]) -> int:
    return sum(
        len(_MEANS) + len(figure["queries"])
        for measures in figures.values()
        for figure in measures.values()
    )


@dataclass
class _Differences:
    """What a card says and is another one now, by kind."""

    figures: list[tuple[str | int, ...]] = field(default_factory=list)
    statements: list[tuple[str, str, str]] = field(default_factory=list)
    environment: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)

    @classmethod
    def between(cls, card: Mapping[str, Any], again: Mapping[str, Any]) -> _Differences:
        """Sort the differences between the parts of a card and what they are now."""
        differences = cls()
        same_source = card["environment"].get(_SOURCE) == again["environment"][_SOURCE]
        for place, then, now in _differing(card, again):
            name = ".".join(place)
            texts = (_text(then), _text(now))
            if place[0] == "environment" and now is not _ABSENT:
                version = None if then is _ABSENT else texts[0]
                differences.environment[place[1]] = version, texts[1]
            elif place[0] == "figures" and place[3:4] and place[3] in _FIGURE:
                digit = 1 + (_differ(*texts) or 0)
                row = place[1], place[2], place[-1], *texts, digit
                differences.figures.append(row)
            # another version may say more, or say it in other words
            elif now is _ABSENT or (place[-1] == "note" and not same_source):
                differences.unchecked.append(name)
            elif then is not _ABSENT or same_source:
                differences.statements.append((name, *texts))
        return differences


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


def _name_a_whole_experiment(entries: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if files of a card are judgments, runs and side tables, each once.

    There are judgments and a run, no other role than those of cards, and no two files with one path or one
    use; runs are told apart by their names.
    """
    paths = {entry["path"] for entry in entries}
    uses = set[tuple[str, str]]()
    for entry in entries:
        name = entry["name"] if entry["role"] == "run" else ""
        uses.add((entry["role"], name))
    roles = {role for role, _ in uses}

    are_apart = len(paths) == len(uses) == len(entries)
    are_known = roles <= {"judgments", "run", *FILES}
    return are_apart and are_known and roles >= {"judgments", "run"}


def _found(path: str, folder: Path, files: Sequence[Path], where: str) -> Path | None:
    """Return where a file is; names and links that lead out of the card's folder are refused."""
    named = Path(path)
    refuse_standard_input(named)
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
    place = folder / named
    if (
        named.is_absolute()
        or ".." in named.parts
        or not Path(os.path.realpath(place)).is_relative_to(folder.resolve())
    ):
        problem = f"the card names a file outside its folder: {printable(path, _NAME)}"
        raise BadValue(problem, where=where, fix="name the files after the card")
    return place if place.is_file() else None


def _shared_end(one: Path, other: Path) -> int:
    """Return how many parts of two paths are the same, from the end on."""
    at = _differ(one.parts[::-1], other.parts[::-1])
    return len(one.parts) if at is None else at


def _checked(
    entry: Mapping[str, Any],
    now: Mapping[str, Any],
    path: Path | None,
    originals: Mapping[str, Path],
) -> tuple[Any, ...]:
    """Compare a file with its entry: role, path, state, block, offset."""
    about = entry["role"], entry["path"]
    if path is None:
        return *about, "missing", None, None
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


def _scores(
    content: Mapping[str, Any],
    places: Mapping[str, Path | None],
    progress: Progress | None,
) -> Scores:
    """Score the files again, with the options of the card."""
    roles = {
        entry["role"]: places[entry["path"]]
        for entry in content["files"]
        if entry["role"] != "run"
    }
    runs = {
        entry["name"]: places[entry["path"]]
        for entry in content["files"]
        if entry["role"] == "run"
    }
    options = content["options"] | {
        name: roles[name] for name in FILES if name in roles
    }
    judged = roles.get("judgments")
    by = content.get("convention")
    return scores_by(
        by, judged, runs, content["measures"], progress=progress, **options
    )


def _differing(
    card: Any,  # noqa: ANN401 - whatever JSON holds
    again: Any,  # noqa: ANN401
    place: tuple[str, ...] = (),
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Yield the place, the value on a card and the one now, wherever they differ.

    >>> [*_differing({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}})]
    [(('a', 'b'), 1, 3)]
    """
    sides = [{} if side is _ABSENT else side for side in (card, again)]
    if any(sides) and all(isinstance(side, Mapping) for side in sides):
        then, now = sides
        for name in dict.fromkeys((*now, *then)):
            yield from _differing(
                then.get(name, _ABSENT), now.get(name, _ABSENT), (*place, name)
            )
    elif card is _ABSENT or again is _ABSENT or _text(card) != _text(again):
        yield place, card, again


def _text(value: object) -> str:
    """Return the text of a value of a card; that of a figure that is not defined is ``null``."""
    if value is _ABSENT:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)
