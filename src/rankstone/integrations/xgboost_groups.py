"""The groups of a DMatrix, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import BadOption
from rankstone.integrations.trainer_scores import Scoring, without_blanks

if TYPE_CHECKING:
    Results = list[tuple[str, float]]


def scored(scoring: Scoring, predt: Any, data: Any) -> Results:  # noqa: ANN401 - an array, a DMatrix
    """Return names and means of measures of the queries of some data."""
    sizes = np.diff(groups_of(data).astype(np.int64))
    weights = data.get_weight()
    means = scoring(
        predt, data.get_label(), sizes=sizes, weights=weights if len(weights) else None
    )
    return [(name_of(name), mean) for name, mean in means.items()]


def groups_of(data: Any, where: str | None = None) -> Any:  # noqa: ANN401 - a DMatrix, an array
    """Return where each query begins, and the last one ends."""
    ends = data.get_uint_info("group_ptr")
    if len(ends) < 2:  # noqa: PLR2004 - a beginning and an end
        raise BadOption(
            "these data have no queries",
            where=where,
            fix="xgboost.DMatrix(X, y, qid=qid)",
        )
    return ends


def name_of(measure: object) -> str:
    """Return a measure's name as XGBoost can read it back: no blank, no colon.

    >>> name_of("nDCG(gain=exp2, ideal=list)@5"), name_of("NDCG:top=5")
    ('nDCG(gain=exp2,ideal=list)@5', 'NDCG;top=5')
    """
    return without_blanks(str(measure)).replace(":", ";")
