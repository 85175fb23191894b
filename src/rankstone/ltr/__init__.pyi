# Written by `make pages`: where each public name is defined.

from rankstone.ltr.coordinate_ascent import CoordinateAscent as CoordinateAscent
from rankstone.ltr.estimator_inputs import queries_of as queries_of
from rankstone.ltr.model_files import LinearModel as LinearModel
from rankstone.ltr.model_files import compares_doubles as compares_doubles
from rankstone.ltr.model_files import load as load
from rankstone.ltr.model_selection import Selection as Selection
from rankstone.ltr.model_selection import select as select
from rankstone.ltr.predictions import as_lines as as_lines
from rankstone.ltr.predictions import checked_measure as checked_measure
from rankstone.ltr.predictions import judgments as judgments
from rankstone.ltr.predictions import mean_of as mean_of
from rankstone.ltr.predictions import run_of as run_of
from rankstone.ltr.predictions import write_predictions as write_predictions
from rankstone.ltr.rank_svm import RankSVM as RankSVM
from rankstone.ltr.training_data import Dataset as Dataset
from rankstone.ltr.training_data import read as read

__all__ = [
    "CoordinateAscent",
    "Dataset",
    "LinearModel",
    "RankSVM",
    "Selection",
    "as_lines",
    "checked_measure",
    "compares_doubles",
    "judgments",
    "load",
    "mean_of",
    "queries_of",
    "read",
    "run_of",
    "select",
    "write_predictions",
]
