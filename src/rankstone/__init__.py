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

    from rankstone import comparison as comparison
    from rankstone import conventions as conventions
    from rankstone import diagnostics as diagnostics
    from rankstone import measures as measures
    from rankstone import online as online
    from rankstone import rankings as rankings
    from rankstone import stats as stats
    from rankstone.api import beyond as beyond
    from rankstone.api import evaluate as evaluate
    from rankstone.comparison.compare_systems import compare as compare
    from rankstone.comparison.compare_systems import compare_scores as compare_scores
    from rankstone.comparison.comparison_result import Comparison as Comparison
    from rankstone.comparison.gate_rules import Gate as Gate
    from rankstone.comparison.grade_thresholds import Thresholds as Thresholds
    from rankstone.comparison.grade_thresholds import thresholds as thresholds
    from rankstone.comparison.query_planning import Plan as Plan
    from rankstone.comparison.query_planning import power as power
    from rankstone.comparison.release_gate import gate as gate
    from rankstone.comparison.single_intervals import intervals as intervals
    from rankstone.conventions import trec_eval as trec_eval
    from rankstone.conventions.identification.identification import identify as identify
    from rankstone.conventions.identification.identification_result import Identification as Identification
    from rankstone.diagnostics.bounds_result import Bounds as Bounds
    from rankstone.diagnostics.chance_comparison import Baseline as Baseline
    from rankstone.diagnostics.chance_comparison import baseline as baseline
    from rankstone.diagnostics.curve_evaluation import curve as curve
    from rankstone.diagnostics.curve_result import Curves as Curves
    from rankstone.diagnostics.file_check import check as check
    from rankstone.diagnostics.sampled_candidates import sampled as sampled
    from rankstone.diagnostics.score_bounds import bounds as bounds
    from rankstone.errors import InputError as InputError
    from rankstone.errors import RankstoneError as RankstoneError
    from rankstone.errors import UsageError as UsageError
    from rankstone.evaluation.exact_run import qrels_from_run as qrels_from_run
    from rankstone.evaluation.prepared import Prepared as Prepared
    from rankstone.evaluation.request import MeasuresLike as MeasuresLike
    from rankstone.evaluation.request import QrelsLike as QrelsLike
    from rankstone.evaluation.request import RunLike as RunLike
    from rankstone.evaluation.scores import Scores as Scores
    from rankstone.evaluation.stored_scores import StoredScores as StoredScores
    from rankstone.explanation.explain_scores import explain as explain
    from rankstone.explanation.explanation_result import Explanation as Explanation
    from rankstone.hits.alignment_options import AlignmentOptions as AlignmentOptions
    from rankstone.measures import (
        AP as AP,
    )
    from rankstone.measures import (
        AUC as AUC,
    )
    from rankstone.measures import (
        DCG as DCG,
    )
    from rankstone.measures import (
        ERR as ERR,
    )
    from rankstone.measures import (
        RBP as RBP,
    )
    from rankstone.measures import (
        RR as RR,
    )
    from rankstone.measures import (
        Bpref as Bpref,
    )
    from rankstone.measures import (
        F as F,
    )
    from rankstone.measures import (
        Judged as Judged,
    )
    from rankstone.measures import (
        Measure as Measure,
    )
    from rankstone.measures import (
        P as P,
    )
    from rankstone.measures import (
        R as R,
    )
    from rankstone.measures import (
        Rprec as Rprec,
    )
    from rankstone.measures import (
        Success as Success,
    )
    from rankstone.measures import (
        measure as measure,
    )
    from rankstone.measures import (
        nDCG as nDCG,
    )
    from rankstone.measures import (
        parse_measure as parse_measure,
    )
    from rankstone.measures import (
        parse_measures as parse_measures,
    )
    from rankstone.measures import (
        register as register,
    )
    from rankstone.rankings.rank_similarity.run_similarity import diff as diff
    from rankstone.rankings.rank_similarity.run_similarity import similarity as similarity
    from rankstone.rankings.rank_similarity.similarity_scores import Similarity as Similarity
    from rankstone.rankings.recommendation.beyond_scores import BeyondScores as BeyondScores
    from rankstone.reports import charts as plots
    from rankstone.reports.report_content import report as report

__version__ = "0.1.0"

#: module → the public names it defines
_HOMES = {
    "api": ("beyond", "evaluate"),
    "comparison": (
        "Comparison", "Gate", "Plan", "Thresholds", "compare", "compare_scores", "gate", "intervals", "power",
        "thresholds",
    ),
    "conventions.identification": ("Identification", "identify"),
    "diagnostics": ("Baseline", "Bounds", "Curves", "baseline", "bounds", "check", "curve", "sampled"),
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
    "comparison", "conventions", "demo", "diagnostics", "evaluation", "explanation", "hits", "integrations",
    "io", "ltr", "measures", "online", "rankings", "reports", "spark", "stats", "tables", "testing",
)  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - names of the tables
    *sorted(_HOME),
    "plots",
]


def lazy_names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package: a public name is imported from its module at first use.

    Parameters
    ----------
    package
        The package's ``__name__``.
    homes
        Module below the package, or with its full name → the public names it defines.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        module = home[name] if home[name].startswith("rankstone.") else f"{package}.{home[name]}"
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


if not TYPE_CHECKING:  # type checkers would take every name for one that there is

    def __getattr__(name: str) -> object:
        """Import a public name at first use; a removed one says what to write instead."""
        if name in _HOME:
            value = getattr(import_module(f"rankstone.{_HOME[name]}"), name)
        elif name in _PACKAGES or name in _ROOMS:
            value = import_module(f"rankstone.{_PACKAGES.get(name, name)}")
        else:
            new = removed_names().get(name)
            msg = f"module 'rankstone' has no attribute {name!r}" + (f"; use {new}" if new else "")
            raise AttributeError(msg)
        globals()[name] = value
        return value


def removed_names() -> dict[str, str]:
    """Return the public names that are no more, and what to write instead of each.

    Names that moved to :mod:`rankstone.measures` are found in the catalogue of measures.
    """
    import tomllib
    from importlib.resources import files

    from rankstone.measures.core.registry import measure_modules

    moved = {name: f"rankstone.measures.{name}" for name in measure_modules() if name not in _HOME}
    return moved | tomllib.loads((files("rankstone.tables") / "removed.toml").read_text("utf-8"))


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
