"""Diagnostics: whether the data can carry a claim.

File checks, score bounds under missing judgments, what chance reaches, thresholds of relevance, sampled
candidates, curves, where documents are lost between the steps of a pipeline, abstention.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "abstention_result": ("Abstention",),
    "abstention_study": ("abstain",),
    "bound_search": ("Certificate",),
    "bounds_result": ("Bounds",),
    "chance_comparison": ("Baseline", "baseline"),
    "curve_evaluation": ("curve",),
    "curve_resampling": ("Resampling",),
    "curve_result": ("Curves",),
    "expected_by_chance": ("Gain", "Gains", "gain"),
    "file_check": ("check",),
    "mean_curves": ("RunCurves",),
    "pipeline_stages": ("stages",),
    "sampled_candidates": ("Sampled", "sampled"),
    "score_bounds": ("bounds",),
    "stages_result": ("Stages",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
