"""rankstone: how good a ranking is, by which convention, and how the number came about.

:func:`evaluate` reads, aligns and measures; every other verb starts from the same judgments and runs.
Measures are in :mod:`rankstone.measures`, logs of users in :mod:`rankstone.online`, charts in
``rankstone.plots``.  Names are looked up at first use, so that ``import rankstone`` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__version__ = "0.1.0"

#: module → the public names it defines, imported at first use; the stub is generated from this table
PUBLIC = {
    "api": ("beyond", "evaluate"),
    "boards": ("board", "slices"),
    "collections": (
        "certify", "collection", "verify",
    ),
    "comparison": (
        "Comparison", "Gate", "Plan", "compare", "compare_scores", "gate", "intervals", "power",
        "thresholds",
    ),
    "conventions.identification": ("Identification", "identify"),
    "diagnostics": (
        "Bounds", "Curves", "abstain", "baseline", "bounds", "check", "curve", "sampled", "stages",
    ),
    "errors": ("InputError", "RankstoneError", "UsageError"),
    "evaluation": (
        "MeasuresLike", "Prepared", "QrelsLike", "RunLike", "Scores", "StoredScores", "qrels_from_run",
    ),
    "explanation": ("Explanation", "explain"),
    "hits.alignment_options": ("AlignmentOptions",),
    "measures": (
        "AP", "AUC", "Bpref", "DCG", "ERR", "F", "Judged", "Measure", "P", "R", "RBP", "RR", "Rprec",
        "Success", "measure", "nDCG", "parse_measure", "parse_measures", "register",
    ),
    "rankings": ("BeyondScores", "Similarity", "diff", "similarity"),
    "reports": ("report",),
}  # fmt: skip
#: names that are packages: charts, and the interface of pytrec_eval
_PACKAGES = {"plots": "reports.charts", "trec_eval": "conventions.trec_eval"}
#: packages that are imported when they are first used as attributes
_ROOMS = (
    "answers", "boards", "collections", "comparison", "conventions", "demo", "diagnostics", "evaluation",
    "explanation", "hits", "integrations", "io", "ltr", "measures", "online", "rankings", "reports", "spark",
    "stats", "tables", "testing",
)  # fmt: skip
_HOME = {name: home for home, names in PUBLIC.items() for name in names}

__all__ = [  # noqa: PLE0604 - names of the tables
    *sorted(_HOME),
    "plots",  # noqa: F822 - a package, imported by __getattr__
]


def lazy_names(
    package: str, public: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], list[str]]:
    """Make ``__getattr__`` and ``__all__`` of a package that imports names from its modules at first use.

    Parameters
    ----------
    package
        The package's ``__name__``.
    public
        Module below the package → the public names it defines.
    """
    home = {name: module for module, names in public.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, sorted(home)


def __getattr__(name: str) -> object:
    """Import a public name at first use."""
    if name in _HOME:
        value = getattr(import_module(f"rankstone.{_HOME[name]}"), name)
    elif name in _PACKAGES or name in _ROOMS:
        value = import_module(f"rankstone.{_PACKAGES.get(name, name)}")
    else:
        msg = f"module 'rankstone' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
