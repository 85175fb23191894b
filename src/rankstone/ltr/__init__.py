"""Learning to rank: train, tune and score linear rankers, and read models of the boosting libraries.

Labelled documents with features become models, scores, and values per query by the same measures as
everywhere.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "coordinate_ascent": ("CoordinateAscent",),
    "estimator_inputs": ("queries_of",),
    "model_files": ("LinearModel", "compares_doubles", "load"),
    "model_selection": ("Selection", "select"),
    "predictions": (
        "as_lines",
        "checked_measure",
        "judgments",
        "mean_of",
        "run_of",
        "write_predictions",
    ),
    "rank_svm": ("RankSVM",),
    "training_data": ("Dataset", "read"),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
