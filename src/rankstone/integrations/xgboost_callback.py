"""XGBoost's callback, in a module of its own because its base is the library's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.integrations.xgboost_groups import scored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone._basics import NamedValues
    from rankstone.integrations.trainer_scores import Scoring

_LIBRARY: Any = import_module("xgboost")


class Watch(_LIBRARY.callback.TrainingCallback):  # type: ignore[misc] # the library ships no types
    """Scores data sets after every round.

    Copies share the data.  A pickle contains them as arrays, since XGBoost cannot pickle its own.

    Parameters
    ----------
    scoring
        The measures.
    data
        Name → ``xgboost.DMatrix``.
    """

    def __init__(self, scoring: Scoring, data: Mapping[str, Any]) -> None:
        super().__init__()
        self.scoring, self.data = scoring, dict(data)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ANN401, ARG002
        """Add a value of each measure to the history of each set."""
        for name, matrix in self.data.items():
            history = evals_log.setdefault(name, {})
            for measure, mean in scored(self.scoring, model.predict(matrix), matrix):
                history.setdefault(measure, []).append(mean)
        return False

    def __deepcopy__(self, _memo: dict[int, Any]) -> Watch:
        return Watch(self.scoring, self.data)

    def __getstate__(self) -> NamedValues:
        return {
            **vars(self),
            "data": {name: _arrays(matrix) for name, matrix in self.data.items()},
        }

    def __setstate__(self, state: NamedValues) -> None:
        self.__dict__.update(state)
        self.data = {
            name: _LIBRARY.DMatrix(**arrays) for name, arrays in state["data"].items()
        }


def _arrays(matrix: Any) -> NamedValues:  # noqa: ANN401 - a DMatrix
    """Return the arguments of ``DMatrix`` for a data set."""
    optional = {"weight": matrix.get_weight(), "base_margin": matrix.get_base_margin()}
    return {
        "data": matrix.get_data(),
        "label": matrix.get_label(),
        "group": np.diff(matrix.get_uint_info("group_ptr")),
        "feature_names": matrix.feature_names,
        "feature_types": matrix.feature_types,
        **{name: values for name, values in optional.items() if len(values)},
    }
