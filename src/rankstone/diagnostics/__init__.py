"""Diagnostics: whether the data can carry a claim.

File checks, score bounds under missing judgments, what chance reaches, thresholds of relevance, sampled
candidates, curves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.diagnostics.bound_search import Certificate
    from rankstone.diagnostics.bounds_result import Bounds
    from rankstone.diagnostics.chance_comparison import Baseline, baseline
    from rankstone.diagnostics.curve_evaluation import curve
    from rankstone.diagnostics.curve_result import Curves
    from rankstone.diagnostics.cutoff_choice import Resampling
    from rankstone.diagnostics.expected_by_chance import Gain, Gains, gain
    from rankstone.diagnostics.file_check import check
    from rankstone.diagnostics.mean_curves import RunCurves
    from rankstone.diagnostics.sampled_candidates import Sampled, sampled
    from rankstone.diagnostics.score_bounds import bounds
__all__ = [
    "Baseline",
    "Bounds",
    "Certificate",
    "Curves",
    "Gain",
    "Gains",
    "Resampling",
    "RunCurves",
    "Sampled",
    "baseline",
    "bounds",
    "check",
    "curve",
    "gain",
    "sampled",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "bound_search": ("Certificate",),
            "bounds_result": ("Bounds",),
            "chance_comparison": ("Baseline", "baseline"),
            "curve_evaluation": ("curve",),
            "curve_result": ("Curves",),
            "cutoff_choice": ("Resampling",),
            "expected_by_chance": ("Gain", "Gains", "gain"),
            "file_check": ("check",),
            "mean_curves": ("RunCurves",),
            "sampled_candidates": ("Sampled", "sampled"),
            "score_bounds": ("bounds",),
        },
    )
