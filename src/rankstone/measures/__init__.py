"""The third station of the road: measures, frozen values over :class:`~rankstone.hits.ragged.Hits`.

Comes in: hits.  Goes out: contributions, and from them scores.  One family a file; a measure sees no
id, no frame and no file.
"""

from __future__ import annotations

from rankstone.measures.average_precision import AP
from rankstone.measures.base import Card, Contributions, Measure, Status, Threshold
from rankstone.measures.counts import Judged, NumRel, NumRelRet, NumRet
from rankstone.measures.dcg import CG, DCG, nDCG
from rankstone.measures.parts import GainTable
from rankstone.measures.precision import F, P, R, Rprec, Success
from rankstone.measures.reciprocal_rank import RR
from rankstone.measures.syntax import MEASURES, parse_measure, parse_measures, trec_name

__all__ = [
    "AP",
    "CG",
    "DCG",
    "MEASURES",
    "RR",
    "Card",
    "Contributions",
    "F",
    "GainTable",
    "Judged",
    "Measure",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "Rprec",
    "Status",
    "Success",
    "Threshold",
    "nDCG",
    "parse_measure",
    "parse_measures",
    "trec_name",
]
