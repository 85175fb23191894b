"""The configuration of a release gate: files, rules and guards, read from TOML and checked first."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from rankstone.comparison.gate_rules import GateRule
from rankstone.comparison.gate_rules.allowed_loss import AllowedLoss
from rankstone.comparison.settings import ComparisonSettings
from rankstone.errors import UsageError, did_you_mean, one_of, printable
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.io.columns import Renames, check_renames
from rankstone.io.sources import is_database, read_toml
from rankstone.stats.mean_intervals import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import StrPath


#: how an inconclusive rule can count
INCONCLUSIVE: Final = ("fail", "warn", "pass")
#: the project file that may hold a gate
_PYPROJECT: Final = "pyproject.toml"
_EXPECTED: Final = "[gate] with qrels, baseline and candidate, and [[gate.rules]]"
_SHA256: Final = 64
#: keys of [gate] → kind of value
_IN_FILES: Final = {
    **dict.fromkeys(("qrels", "queries", "cluster", "inconclusive"), "text"),
    **dict.fromkeys(("baseline", "candidate", "by"), "texts"),
}
_ALIGNMENT: Final = tuple(declared.name for declared in fields(AlignmentOptions))
#: options other than those of alignment → kind of value
_FURTHER_OPTIONS: Final = {
    **dict.fromkeys(
        ("convention", "format_in", "run_column", "split", "shape"), "text"
    ),
    "one_group": "bool",
    "columns": "table of texts",
}
#: tables: a path in a file, any table in Python
_TABLES: Final = ("exclude", "unit", "same_as", "documents", "corpus", "intents")


@dataclass(frozen=True, slots=True)
class Rule:
    """The rules for one measure.

    Attributes
    ----------
    measure
        The measure.
    conditions
        What has to hold: instances of subclasses of :class:`~rankstone.comparison.gate_rules.GateRule`.
    """

    measure: str
    conditions: tuple[GateRule, ...]

    def __post_init__(self) -> None:
        """Refuse a rule without a condition."""
        if self.conditions:
            return
        *names, last = GateRule.known()
        raise UsageError(
            f"the rule for {printable(self.measure)} has no condition",
            expected=f"{', '.join(names)} or {last}",
            fix="margin = 0.005 allows a loss of 0.005",
        )

    @property
    def margin(self) -> float | None:
        """The allowed loss; ``None``: the difference is not checked."""
        for condition in self.conditions:
            if isinstance(condition, AllowedLoss):
                return condition.margin
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """Conditions that are checked before the comparison.

    Attributes
    ----------
    queries
        The minimum number of queries.
    judged
        The minimum share of judged documents among the first k, for either run.
    qrels_sha256
        The SHA-256 of the file of judgments, which must not have changed.
    not_in_corpus
        The most relevant documents of all splits that may be missing from the corpus, 0 for none.
    """

    queries: int | None = None
    judged: float | None = None
    qrels_sha256: str | None = None
    not_in_corpus: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that are not valid."""
        if self.judged is not None and not 0 <= self.judged <= 1:
            raise UsageError(
                f"judged = {self.judged:g} is out of range", expected="a share, 0 to 1"
            )
        if self.qrels_sha256 is not None and len(self.qrels_sha256) != _SHA256:
            raise UsageError(
                "qrels_sha256 is not a SHA-256",
                expected=f"{_SHA256} hexadecimal digits: sha256sum FILE, in PowerShell Get-FileHash FILE",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration of a gate.

    Attributes
    ----------
    baseline, candidate
        The two runs, or a list of repeated runs (seeds) of each; scores per query where there are no
        ``qrels``.
    rules
        The rules for measures.
    qrels
        The judgments.
    queries, by, cluster
        As for :func:`rankstone.compare`: every margin also applies in each segment.
    guards
        Conditions that are checked first.
    statistics
        How the two are compared: :class:`~rankstone.comparison.settings.ComparisonSettings`.
    options
        Options of alignment, ``columns``, ``exclude``, ``convention`` and so on.
    inconclusive
        How an inconclusive rule counts: ``fail`` (exit code 4), ``warn`` (exit code 0) or ``pass``.
    """

    baseline: Any
    candidate: Any
    rules: tuple[Rule, ...]
    qrels: Any = None
    queries: Any = None
    by: tuple[str, ...] = ()
    cluster: str | None = None
    guards: Guards = field(default_factory=Guards)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    inconclusive: str = "fail"

    def __post_init__(self) -> None:
        """Refuse a gate without rules."""
        if not self.rules:
            raise UsageError(
                "a gate needs rules",
                fix='[[gate.rules]]\nmeasure = "nDCG@10"\nmargin = 0.005',
            )
        if self.inconclusive not in INCONCLUSIVE:
            raise UsageError(
                f"inconclusive = {printable(repr(self.inconclusive))} is not known",
                expected=", ".join(INCONCLUSIVE),
            )

    @classmethod
    def read(cls, path: StrPath, overrides: Mapping[str, Any]) -> Self:
        """Read a file: ``rankstone.toml``, or ``[tool.rankstone]`` of ``pyproject.toml``.

        Parameters
        ----------
        path
            The file; paths in it are relative to its folder.
        overrides
            Values that override the file: ``candidate``, ``baseline``, ``qrels``, ``inconclusive``.

        Raises
        ------
        InputError
            When the file does not exist or is not TOML.
        UsageError
            When the configuration is not valid.
        """
        where = Path(path)
        data: Mapping[str, Any] = read_toml(path, _EXPECTED)
        above = "tool.rankstone." if where.name == _PYPROJECT else ""
        try:
            for name in above.split(".")[:-1]:
                data = _table(data.get(name, {}), name)
            if "gate" not in data:
                raise _no_gate(data)
            return cls.of(data["gate"], overrides, where.parent)
        except UsageError as error:
            error.where = error.where or str(path)
            error.what = error.what.replace("[gate", f"[{above}gate")
            if error.fix is not None:
                error.fix = error.fix.replace("[gate", f"[{above}gate")
            raise

    @classmethod
    def of(
        cls,
        data: Mapping[str, Any],
        overrides: Mapping[str, Any],
        folder: Path | None = None,
    ) -> Self:
        """Read a table of TOML, or a dict like one."""
        if folder is not None:
            _check_kinds(_table(data, "gate"), _IN_FILES, "gate")
            _check_kinds(
                _table(data.get("options", {}), "gate.options"),
                dict.fromkeys(_TABLES, "text"),
                "gate.options",
            )
        values = {name: _path(name, value, folder) for name, value in data.items()}
        values |= _overrides(overrides, values.get("options"))
        _refuse_other_fields(values, cls, "gate", more=("rules", "guards"))
        for name in ("baseline", "candidate"):
            if name not in values:
                raise UsageError(
                    f"which run is the {name}?",
                    fix=f'{name} = "runs/{name}.run", or --{name} FILE',
                )
        rules = tuple(
            rule if isinstance(rule, Rule) else _rule(rule)
            for rule in _listed(values.get("rules", ()), "rules")
        )
        guards = _built(
            Guards, _table(values.get("guards", {}), "guards"), "gate.guards"
        )
        _check_choices(values.get("statistics", {}), values.get("options", {}))
        by = values.get("by", ())
        if isinstance(by, str):
            by = (by,)
        options = _with_own_shapes(values.get("options", {}), folder)
        values |= {"rules": rules, "guards": guards, "by": tuple(by)}
        values["options"] = options
        return cls(**values)

    @property
    def measures(self) -> list[str]:
        """The measures of the rules, without duplicates."""
        return list(dict.fromkeys(rule.measure for rule in self.rules))


def _with_own_shapes(
    options: Mapping[str, Any], folder: Path | None
) -> Mapping[str, Any]:
    """Return options whose ``shape``, a file of shapes, goes with the columns, as ``--shape`` does."""
    if "shape" not in options:
        return options
    others = dict(options)
    shapes = others.pop("shape")
    before = others.get("columns", {})
    columns = Renames(before, before)
    if columns.own_shapes is None:
        columns.own_shapes = str((folder or Path()) / shapes)
    return {**others, "columns": columns}


def _path(name: str, value: Any, folder: Path | None) -> Any:  # noqa: ANN401 - whatever TOML holds
    """Return a path relative to the configuration's folder."""
    if folder is None or name not in ("qrels", "baseline", "candidate", "queries"):
        return value
    if isinstance(value, (list, tuple)):
        return [_path(name, path, folder) for path in value]
    if not isinstance(value, str):
        return value
    if is_database(value):
        kind, _, file = value.partition(":")
        if file.startswith("//"):
            return value
        return f"{kind}:{folder / file}"
    return str(folder / value)


def _check_kinds(data: Mapping[str, Any], kinds: Mapping[str, str], what: str) -> None:
    """Refuse values of the wrong kind."""
    for name, kind in kinds.items():
        if name in data:
            _check_kind(name, data[name], kind, what)


def _check_choices(statistics: object, options: object) -> None:
    """Refuse invalid settings and options before anything is read."""
    chosen = dict(_table(statistics, "gate.statistics"))
    aligned = dict(_table(options, "gate.options"))
    kinds = {
        declared.name: str(declared.type)
        for declared in fields(ComparisonSettings)
        if declared.name != "rope"
    }
    _refuse_unknown(chosen, list(kinds), "gate.statistics")
    _check_kinds(chosen, kinds, "gate.statistics")
    ComparisonSettings(**chosen)

    # a test says nothing about losses that these queries do not show
    one_of("interval", chosen.get("interval", "auto"), tuple(METHODS))

    _refuse_unknown(aligned, [*_ALIGNMENT, *_FURTHER_OPTIONS, *_TABLES], "gate.options")
    _check_kinds(aligned, _FURTHER_OPTIONS, "gate.options")
    check_renames(aligned.get("columns", {}))
    of_alignment = {
        name: value for name, value in aligned.items() if name in _ALIGNMENT
    }
    AlignmentOptions(**of_alignment)


def _rule(data: object) -> Rule:
    """Read a table ``[[gate.rules]]``: a measure, and a key for each condition."""
    what = "gate.rules"
    table = dict(_table(data, what))
    known = GateRule.known()
    names = ["measure", *known]
    _refuse_unknown(table, names, what)
    if "measure" not in table:
        raise UsageError(f"[{what}] lacks measure", expected=", ".join(names))
    _check_kind("measure", table["measure"], "text", what)
    conditions = tuple(
        _condition(kind, table[name]) for name, kind in known.items() if name in table
    )
    return Rule(table["measure"], conditions)


def _condition(kind: type[GateRule], value: object) -> GateRule:
    """Read a condition: a table of its settings, or the value of its only one."""
    if isinstance(value, kind):
        return value
    declared, *more = fields(kind)  # type: ignore[arg-type] # a dataclass
    if not more:
        _check_kind(kind.name, value, str(declared.type), "gate.rules")
        return kind(value)  # type: ignore[call-arg] # its only field
    _check_kind(kind.name, value, kind.example, "gate.rules")
    condition: GateRule = _built(kind, value, f"gate.rules.{kind.name}")
    return condition


def _built(kind: Any, data: Any, what: str) -> Any:  # noqa: ANN401 - a dataclass of the above
    values = dict(_table(data, what))
    _refuse_other_fields(values, kind, what)
    for declared in fields(kind):
        if declared.name in values:
            _check_kind(declared.name, values[declared.name], str(declared.type), what)
    try:
        return kind(**values)
    except TypeError:
        known = {declared.name: str(declared.type) for declared in fields(kind)}
        missing = [
            name
            for name, declared in known.items()
            if name not in values and "None" not in declared
        ]
        raise UsageError(
            f"[{what}] lacks {missing[0]}", expected=", ".join(known)
        ) from None


def _check_kind(name: str, value: object, declared: str, what: str) -> None:
    """Refuse a text in place of a number, and the reverse."""
    if declared.startswith("{"):
        right = isinstance(value, dict)
        expected = declared
    elif "table" in declared:
        right = isinstance(value, dict) and all(
            isinstance(text, str) for text in value.values()
        )
        right = right or declared == "table"
        expected = 'a table of texts: { theirs = "ours" }'
    elif "texts" in declared and isinstance(value, (list, tuple)):
        right = all(isinstance(text, str) for text in value)
        expected = "a text, or a list of texts"
    elif "text" in declared or "str" in declared:
        right = isinstance(value, str) and value.strip() != ""
        expected = "a text"
    elif "bool" in declared:
        right = isinstance(value, bool)
        expected = "true or false"
    elif "int" in declared:
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        expected = "a count"
    else:
        right = (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and abs(value) < float("inf")
        )
        expected = "a number"
    if not right:
        raise UsageError(
            f"[{what}] {name} = {printable(repr(value), 60)}",
            expected=expected,
            fix=_as_table(name, value) if "table" in declared else None,
        )


def _as_table(name: str, value: object) -> str | None:
    """Return names that were written as at a shell, ``a=b,c=d``, as a table of TOML."""
    pairs = [entry.partition("=") for entry in str(value).split(",")]
    if not all(theirs and ours for theirs, _, ours in pairs):
        return None
    entries = (f'"{theirs.strip()}" = "{ours.strip()}"' for theirs, _, ours in pairs)
    return f"write it as a table: {name} = {{{', '.join(entries)}}}"


def _refuse_other_fields(
    values: Mapping[str, Any], kind: type, what: str, more: tuple[str, ...] = ()
) -> None:
    _refuse_unknown(values, [f.name for f in fields(kind)] + list(more), what)


def _refuse_unknown(values: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for name in values:
        if name not in known:
            raise UsageError(
                f"[{what}] has no setting {printable(name)}",
                expected=", ".join(dict.fromkeys(known)),
                fix=_place_of(name, values[name], what) or did_you_mean(name, known),
            )


def _places() -> dict[str, tuple[str, ...]]:
    """Return the settings of each table, those of several tables first where they are meant."""
    known = GateRule.known()
    of_rules = {
        f"[gate.rules.{name}]": names
        for name, kind in known.items()
        if len(names := _names(kind)) > 1
    }
    return {
        **of_rules,
        "[[gate.rules]]": ("measure", *known),
        "[gate.options]": (*_ALIGNMENT, *_FURTHER_OPTIONS, *_TABLES),
        "[gate.statistics]": _names(ComparisonSettings),
        "[gate]": _names(Config),
        "[gate.guards]": _names(Guards),
    }


def _names(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - a dataclass
    return tuple(declared.name for declared in fields(kind))


def _place_of(name: str, value: object, what: str) -> str | None:
    """Return the fix for a setting that belongs to another table."""
    for place, names in _places().items():
        if name in names and place.strip("[]") != what:
            if isinstance(value, dict):
                return f"write [{place.strip('[]')}.{name}] for [{what}.{name}]"
            return f"move it below {place}: {name} = {json.dumps(value)}"
    return None


def _no_gate(data: Mapping[str, Any]) -> UsageError:
    """Return the error for a file without the table of the gate, whose settings may stand alone."""
    steps: list[str] = []
    for name, value in data.items():
        if name not in _names(Config):
            continue
        if isinstance(value, dict):
            steps.append(f"write [gate.{name}] for [{name}]")
        elif isinstance(value, list) and isinstance(next(iter(value), None), dict):
            steps.append(f"write [[gate.{name}]] for [[{name}]]")
        else:  # tables stand below all of these
            steps = steps or [f"write [gate] above {name}"]
    return UsageError(
        "there is no table [gate]",
        given=", ".join(map(printable, data)) or "nothing",
        fix="; ".join(steps) or "the table is called [gate] in this file",
    )


def _listed(value: Any, name: str) -> list[Any]:  # noqa: ANN401 - whatever TOML holds
    if not isinstance(value, (list, tuple)):
        raise UsageError(
            f"[gate.{name}] is one table",
            fix=f"write [[gate.{name}]], with two brackets",
        )
    return list(value)


def _table(value: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401 - whatever TOML holds
    if not isinstance(value, dict):
        key = name.rpartition(".")[2]
        raise UsageError(
            f"{name} is not a table",
            given=printable(repr(value), 60),
            fix=_as_table(key, value),
        )
    return value


def with_overrides(config: Config, overrides: Mapping[str, Any]) -> Config:
    """Return a configuration with some values replaced."""
    return replace(config, **_overrides(overrides, config.options))


def _overrides(overrides: Mapping[str, Any], options: object) -> dict[str, Any]:
    """Return the values that were given; options that were given join those of a configuration."""
    values = {name: value for name, value in overrides.items() if value is not None}
    if "options" not in values:
        return values
    before = _table(options or {}, "gate.options")
    values["options"] = {**before, **values["options"]}
    columns = values["options"].get("columns")
    if isinstance(columns, Renames):
        in_file = _table(before.get("columns", {}), "gate.options.columns")
        merged = Renames({**in_file, **columns}, columns)
        merged.at_shell = not in_file
        values["options"]["columns"] = merged
    return values
