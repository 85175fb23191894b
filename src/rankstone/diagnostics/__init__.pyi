# Written by `make pages`: where each public name is defined.

from rankstone.diagnostics.abstention_result import Abstention as Abstention
from rankstone.diagnostics.abstention_study import abstain as abstain
from rankstone.diagnostics.bound_search import Certificate as Certificate
from rankstone.diagnostics.bounds_result import Bounds as Bounds
from rankstone.diagnostics.chance_comparison import Baseline as Baseline
from rankstone.diagnostics.chance_comparison import baseline as baseline
from rankstone.diagnostics.curve_evaluation import curve as curve
from rankstone.diagnostics.curve_resampling import Resampling as Resampling
from rankstone.diagnostics.curve_result import Curves as Curves
from rankstone.diagnostics.expected_by_chance import Gain as Gain
from rankstone.diagnostics.expected_by_chance import Gains as Gains
from rankstone.diagnostics.expected_by_chance import gain as gain
from rankstone.diagnostics.file_check import check as check
from rankstone.diagnostics.mean_curves import RunCurves as RunCurves
from rankstone.diagnostics.pipeline_stages import stages as stages
from rankstone.diagnostics.sampled_candidates import Sampled as Sampled
from rankstone.diagnostics.sampled_candidates import sampled as sampled
from rankstone.diagnostics.score_bounds import bounds as bounds
from rankstone.diagnostics.stages_result import Stages as Stages

__all__ = [
    "Abstention",
    "Baseline",
    "Bounds",
    "Certificate",
    "Curves",
    "Gain",
    "Gains",
    "Resampling",
    "RunCurves",
    "Sampled",
    "Stages",
    "abstain",
    "baseline",
    "bounds",
    "check",
    "curve",
    "gain",
    "sampled",
    "stages",
]
