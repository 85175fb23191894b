"""Learning to rank: train, tune and score linear rankers, and read models of the boosting libraries.

Comes in: labelled documents with features.  Goes out: models, scores, values per query by the same
measures as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.ltr.coordinate_ascent import CoordinateAscent
    from rankstone.ltr.estimator_inputs import queries_of
    from rankstone.ltr.model_files import LinearModel, load
    from rankstone.ltr.model_selection import Selection, select
    from rankstone.ltr.predictions import (
        as_lines,
        checked_measure,
        judgments,
        mean_of,
        run_of,
        write_predictions,
    )
    from rankstone.ltr.rank_svm import RankSVM
    from rankstone.ltr.training_data import Dataset, read
__all__ = [
    "CoordinateAscent",
    "Dataset",
    "LinearModel",
    "RankSVM",
    "Selection",
    "as_lines",
    "checked_measure",
    "judgments",
    "load",
    "mean_of",
    "queries_of",
    "read",
    "run_of",
    "select",
    "write_predictions",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "coordinate_ascent": ("CoordinateAscent",),
            "estimator_inputs": ("queries_of",),
            "model_files": ("LinearModel", "load"),
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
        },
    )
