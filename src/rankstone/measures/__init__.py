"""The third station of the road: measures, frozen values over :class:`~rankstone.hits.hits.Hits`.

Comes in: hits.  Goes out: contributions, and from them scores.  One family a file; a measure sees no
id, no frame and no file.  A family's file is imported when one of its measures is first used.  Where each
measure is, ``__init__.pyi`` says, which is written from the classes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankstone.measures.core.claims import Claims
from rankstone.measures.core.custom import measure
from rankstone.measures.core.definition import Card, Named, PerQuery, Threshold
from rankstone.measures.core.gains_and_discounts import GainTable, register_discount, register_gain
from rankstone.measures.core.measure import Contributions, Measure, Status
from rankstone.measures.core.registry import MEASURES, homes, register
from rankstone.measures.core.syntax import measure_kind, parse_measure, parse_measures, parse_only, trec_name

if TYPE_CHECKING:
    from rankstone.measures.at_cutoffs import DEFAULT_CUTOFFS, AtK, parse_curves, targets_of
    from rankstone.measures.core.curve import Curve
    from rankstone.measures.core.gains_and_discounts import DISCOUNTS, GAINS
    from rankstone.measures.propensity import label_propensity
    from rankstone.measures.walk_models import MODELS, register_continuation

#: public names beside the measures, imported at first use → their module
_LATER = {
    "AtK": "at_cutoffs",
    "Curve": "core.curve",
    "DEFAULT_CUTOFFS": "at_cutoffs",
    "DISCOUNTS": "core.gains_and_discounts",
    "GAINS": "core.gains_and_discounts",
    "MODELS": "walk_models",
    "label_propensity": "propensity",
    "parse_curves": "at_cutoffs",
    "register_continuation": "walk_models",
    "targets_of": "at_cutoffs",
}

__all__ = [
    "DEFAULT_CUTOFFS",
    "DISCOUNTS",
    "GAINS",
    "MEASURES",
    "MODELS",
    "AtK",
    "Card",
    "Claims",
    "Contributions",
    "Curve",
    "GainTable",
    "Measure",
    "Named",
    "PerQuery",
    "Status",
    "Threshold",
    "label_propensity",
    "measure",
    "measure_kind",
    "parse_curves",
    "parse_measure",
    "parse_measures",
    "parse_only",
    "register",
    "register_continuation",
    "register_discount",
    "register_gain",
    "targets_of",
    "trec_name",
]


def __getattr__(name: str) -> object:
    """Import a measure from the file of its family at first use."""
    if name in _LATER:
        return getattr(import_module(f"rankstone.measures.{_LATER[name]}"), name)
    if name.startswith("_") or name not in homes():
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return MEASURES[name]


def __dir__() -> list[str]:
    """List the public names, measures included."""
    return [*__all__, *homes()]
