"""``verify``: whether a card still holds, and if not, which file, block or digit changed."""

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
    columns_of,
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
    from rankstone.collections.run_cards import Content
    from rankstone.evaluation.scores import Scores


_NAME: Final = 60
#: options that a card can have; files are listed with their hashes, nothing else is read
_OPTIONS: Final = {*EvaluationKeywords.__annotations__, "no_header"} - {*FILES}
#: where a card comes from
_WRITTEN: Final = (
    "a card is what rankstone certify (in Python rankstone.certify) writes"
)
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
    """Compute the figures of a card again, and name what has changed: file, block, byte, digit.

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
    content = dict(card) if isinstance(card, Mapping) else read_json(card)
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
        entry["path"]: _placed(entry["path"], Path(where).parent, named, where)
        for entry in content["files"]
    }
    originals = {}
    for path in original:
        originals[hashed(Path(path))["sha256"]] = Path(path)

    card_parts, now_parts, checks = _files_compared(content, places, originals)
    problem = None
    missing = [path for path in places if places[path] is None]
    if missing:
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
        raise BadValue(
            "this is not a run card",
            where=where,
            expected=f'"card": "{KIND}"',
            fix=_WRITTEN,
        )
    bad = [name for name in _SHAPE if not _fits(content.get(name), _SHAPE[name])]
    if not bad and not _name_a_whole_experiment(content["files"]):
        bad = ["files"]
    if not bad:
        unknown = content["options"].keys() - _OPTIONS
        bad = [f"option {printable(name)}" for name in sorted(unknown)]
    if bad:
        raise BadValue(f"the card has no valid {bad[0]}", where=where, fix=_WRITTEN)


def _files_compared(
    content: Content, places: Mapping[str, Path | None], originals: Mapping[str, Path]
) -> tuple[Content, Content, list[tuple[Any, ...]]]:
    """Return what a card says, what of it is so now without scoring anything, and the states of files."""
    states = []
    card_files = {}
    now_files = {}
    for entry in content["files"]:
        path = entry["path"]
        place = places[path]
        now: Content = {}
        if place is not None:
            now = described(entry["role"], place)
            # a run without a header of metadata has none, which can be compared
            metadata: Content = {}
            if entry["role"] == "run":
                metadata = {"ir_metadata": []}
            names = {name: entry[name] for name in _NAMES}
            card_files[path] = metadata | _without_hashes(entry)
            now_files[path] = metadata | names | _without_hashes(now)
        states.append(_checked(entry, now, place, originals))

    card_parts = {**content, "files": card_files}
    del card_parts["sha256"]
    now_parts = {name: content[name] for name in content if name in _USED}
    now_parts |= {"environment": environment(), "files": now_files}
    return card_parts, now_parts, states


def _without_hashes(entry: Content) -> Content:
    return {name: value for name, value in entry.items() if name not in _HASHES}


def _count_figures(figures: Content) -> int:
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
    def between(cls, card: Content, again: Content) -> _Differences:
        """Sort the differences between the parts of a card and what they are now."""
        differences = cls()
        source = again["environment"][_SOURCE]
        same_source = card["environment"].get(_SOURCE) == source
        for place, then, now in _differing(card, again):
            name = ".".join(place)
            texts = (_text(then), _text(now))
            if place[0] == "environment" and now is not _ABSENT:
                version = None if then is _ABSENT else texts[0]
                differences.environment[place[1]] = version, texts[1]
            elif place[0] == "figures" and place[3:4] and place[3] in _FIGURE:
                digit = 1 + (_first_difference(*texts) or 0)
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
        return isinstance(value, list) and all(_fits(item, shape[0]) for item in value)
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    if not isinstance(value, Mapping):
        return False
    if str in shape:
        return all(_fits(part, shape[str]) for part in value.values())
    return all(_fits(value.get(name), part) for name, part in shape.items())


def _name_a_whole_experiment(entries: Sequence[Content]) -> bool:
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


def _placed(path: str, folder: Path, files: Sequence[Path], where: str) -> Path | None:
    """Return where a file of a card is: among those that were named, or below the card's folder.

    Parameters
    ----------
    path
        As the card says.
    folder, where
        The card's folder, and the card, for messages.
    files
        The files that were named.

    Returns
    -------
    Path or None
        ``None`` where there is no such file.

    Raises
    ------
    UsageError, BadValue
        When several files could be meant; for a path that leads out of the card's folder.
    """
    on_card = Path(path)
    refuse_standard_input(on_card)
    shared = {
        file: _shared_end(file, on_card) for file in files if file.name == on_card.name
    }
    if shared:
        most = max(shared.values())
        alike = [file for file, parts in shared.items() if parts == most]
        if len(alike) > 1:
            raise UsageError(
                f"several files could be {printable(path, _NAME)}",
                given=some(printable(os.fspath(file), _NAME) for file in alike),
                fix="name one of them, or the same folders as on the card",
            )
        return alike[0]

    place = folder / on_card
    real = Path(os.path.realpath(place))
    leads_out = on_card.is_absolute() or ".." in on_card.parts
    if leads_out or not real.is_relative_to(folder.resolve()):
        raise BadValue(
            f"the card names a file outside its folder: {printable(path, _NAME)}",
            where=where,
            fix="name the files after the card",
        )
    return place if place.is_file() else None


def _shared_end(file: Path, other: Path) -> int:
    """Return how many parts of two paths are the same, from the end on."""
    differing = _first_difference(file.parts[::-1], other.parts[::-1])
    return len(file.parts) if differing is None else differing


def _checked(
    entry: Content, now: Content, path: Path | None, originals: Mapping[str, Path]
) -> tuple[Any, ...]:
    """Compare a file with its entry: role, path, state, block, offset."""
    about = entry["role"], entry["path"]
    if path is None:
        return *about, "missing", None, None

    block = _first_difference(entry["blocks"], now["blocks"])
    same_hash = now["sha256"] == entry["sha256"]
    if block is None and same_hash and now["bytes"] == entry["bytes"]:
        return *about, "same", None, None
    if block is None or same_hash:
        return *about, "card", block, None

    original = originals.get(entry["sha256"])
    if original is None:
        return *about, "changed", block, None
    # all blocks before are the same
    start = block * BLOCK
    parts = []
    for version in (original, path):
        with version.open("rb") as file:
            file.seek(start)
            parts.append(file.read(BLOCK))
    return *about, "changed", block, start + (_first_difference(*parts) or 0)


def _first_difference(left: Iterable[Any], right: Iterable[Any]) -> int | None:
    """Return the first place in which two sequences differ, from 0; ``None`` if they are the same."""
    for place, (item, other) in enumerate(zip_longest(left, right)):
        if item != other:
            return place
    return None


def _scores(
    content: Content, places: Mapping[str, Path | None], progress: Progress | None
) -> Scores:
    """Score the files again, with the options of the card."""
    runs = {}
    others = {}
    for entry in content["files"]:
        place = places[entry["path"]]
        if entry["role"] == "run":
            runs[entry["name"]] = place
        else:
            others[entry["role"]] = place
    judged = others.pop("judgments")
    settings = dict(content["options"])
    columns = columns_of(settings, others.pop("shape", None))
    return scores_by(
        content.get("convention"),
        judged,
        runs,
        content["measures"],
        progress=progress,
        columns=columns,
        **settings,
        **others,
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
    then, now = sides
    are_mappings = all(isinstance(side, Mapping) for side in sides)
    if are_mappings and any(sides):
        for name in dict.fromkeys((*now, *then)):
            parts = then.get(name, _ABSENT), now.get(name, _ABSENT)
            yield from _differing(*parts, (*place, name))
    elif card is _ABSENT or again is _ABSENT or _text(card) != _text(again):
        yield place, card, again


def _text(value: object) -> str:
    """Return the text of a value of a card; that of a figure that is not defined is ``null``."""
    if value is _ABSENT:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)
