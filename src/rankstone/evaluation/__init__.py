"""Evaluation: read, prepare, align, measure; scores of queries first, means computed from them.

Judgments, runs, measures and alignment options become :class:`~rankstone.Scores`.  Data larger than memory
are scored range by range; other engines run shares on other machines.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "exact_run": ("head_of_run", "qrels_from_run"),
    "out_of_core": ("evaluate_out_of_core", "parse_size"),
    "prepared": ("Prepared",),
    "request": ("EvaluationKeywords", "MeasuresLike", "QrelsLike", "RunLike"),
    "scores": ("Scores",),
    "stored_scores": ("StoredScores",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
