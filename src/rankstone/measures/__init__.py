"""Measures: frozen values that turn :class:`~rankstone.hits.hits.Hits` into contributions and scores.

Each family of measures is a file; a measure reads hits only, no ids, frames or files.  A file is imported
when one of its measures is first used.  ``__init__.pyi``, which is generated from the classes, lists the file
of each measure.
"""

from __future__ import annotations

from importlib import import_module

from rankstone.measures.core.registry import MEASURES, measure_modules

#: module → its public names other than measures, imported at first use; the stub is generated from this table
PUBLIC = {
    "core.claims": ("Claims",),
    "core.custom": ("measure",),
    "core.definition": ("Card", "Named", "PerQuery", "Threshold"),
    "core.gains_and_discounts": (
        "DISCOUNTS",
        "GAINS",
        "GainTable",
        "register_discount",
        "register_gain",
    ),
    "core.measure": ("Contributions", "Measure", "Status"),
    "core.registry": ("MEASURES", "measure_modules", "register"),
    "core.syntax": (
        "measure_kind",
        "parse_measure",
        "parse_measures",
        "parse_only",
        "trec_name",
    ),
    "at_cutoffs": ("DEFAULT_CUTOFFS", "AtK", "parse_curves", "targets_of"),
    "core.curve": ("Curve",),
    "propensity": ("label_propensity",),
    "walk_models": ("MODELS", "register_continuation"),
}
_MODULE = {name: module for module, names in PUBLIC.items() for name in names}
__all__ = sorted(_MODULE)  # noqa: PLE0605 - names of the table


def __getattr__(name: str) -> object:
    """Import a public name from its module at first use."""
    if name in _MODULE:
        value = getattr(import_module(f"rankstone.measures.{_MODULE[name]}"), name)
        globals()[name] = value
        return value
    if name.startswith("_") or name not in measure_modules():
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return MEASURES[name]


def __dir__() -> list[str]:
    """List the public names, measures included."""
    return [*_MODULE, *measure_modules()]
