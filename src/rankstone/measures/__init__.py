"""The third station of the road: measures, frozen values over :class:`~rankstone.hits.ragged.Hits`.

Comes in: hits.  Goes out: contributions, and from them scores.  One family a file; a measure sees no
id, no frame and no file.  A family's file is imported when one of its measures is asked for.
"""

from __future__ import annotations

from rankstone.measures.base import Contributions, Measure, Status, Threshold
from rankstone.measures.named import Card, Named, PerQuery
from rankstone.measures.own import measure
from rankstone.measures.parts import GainTable, register_discount, register_gain
from rankstone.measures.registry import MEASURES, register
from rankstone.measures.syntax import measure_kind, parse_measure, parse_measures, parse_only, trec_name

__all__ = [
    "MEASURES",
    "Card",
    "Contributions",
    "GainTable",
    "Measure",
    "Named",
    "PerQuery",
    "Status",
    "Threshold",
    "measure",
    "measure_kind",
    "parse_measure",
    "parse_measures",
    "parse_only",
    "register",
    "register_discount",
    "register_gain",
    "trec_name",
]
