"""rankstone: how good a ranking is, by which convention, and how the number came about.

The road is ``read → align → measure → scores``; :func:`evaluate` walks it.  Names are looked up when
they are first used, so that ``import rankstone`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstone.checking import check
    from rankstone.errors import InputError, RankstoneError, UsageError
    from rankstone.evaluation import Evaluator, evaluate, evaluate_labelled
    from rankstone.hits.options import Alignment
    from rankstone.measures import (
        MEASURES,
        Card,
        Contributions,
        Measure,
        Threshold,
        measure,
        parse_measure,
        parse_measures,
        register,
        register_discount,
        register_gain,
    )
    from rankstone.measures.average_precision import AP, yaap
    from rankstone.measures.averaged_ndcg import Rndcg, ndcg_rel
    from rankstone.measures.counts import (
        Judged,
        NumNonrelRet,
        NumQ,
        NumRel,
        NumRelRet,
        NumRet,
        Unjudged,
    )
    from rankstone.measures.dcg import CG, DCG, nDCG
    from rankstone.measures.interpolated import IAP, IPrec
    from rankstone.measures.precision import F, P, R, Rprec, Success
    from rankstone.measures.reciprocal_rank import RR
    from rankstone.measures.sets import SetAP, Utility
    from rankstone.measures.shortfall import G, binG
    from rankstone.scores import Scores

__version__ = "0.1.0"

_HOMES = {
    "rankstone.checking": ("check",),
    "rankstone.errors": ("InputError", "RankstoneError", "UsageError"),
    "rankstone.evaluation": ("Evaluator", "evaluate", "evaluate_labelled"),
    "rankstone.hits.options": ("Alignment",),
    "rankstone.measures": (
        "Card", "Contributions", "MEASURES", "Measure", "Threshold", "measure", "parse_measure",
        "parse_measures", "register", "register_discount", "register_gain",
    ),
    "rankstone.scores": ("Scores",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AP",
    "CG",
    "DCG",
    "IAP",
    "MEASURES",
    "RR",
    "Alignment",
    "Card",
    "Contributions",
    "Evaluator",
    "F",
    "G",
    "IPrec",
    "InputError",
    "Judged",
    "Measure",
    "NumNonrelRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "RankstoneError",
    "Rndcg",
    "Rprec",
    "Scores",
    "SetAP",
    "Success",
    "Threshold",
    "Unjudged",
    "UsageError",
    "Utility",
    "binG",
    "check",
    "evaluate",
    "evaluate_labelled",
    "measure",
    "nDCG",
    "ndcg_rel",
    "parse_measure",
    "parse_measures",
    "register",
    "register_discount",
    "register_gain",
    "yaap",
]


def __getattr__(name: str) -> object:
    """Import a public name from its home at first use."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in __all__:  # every other public name is a measure
        value = import_module("rankstone.measures").MEASURES[name]
    else:
        msg = f"module 'rankstone' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
