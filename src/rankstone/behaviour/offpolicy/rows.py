"""What each row of a log brings: a discount, a weight, a reward, and what a model says of it.

Two ways to see a log.  Of *actions*: the logging policy chose what to show at a place, with a probability;
the target policy would with another (Horvitz and Thompson 1952; for lists, place by place, Li et al., KDD
2018).  Of *examination*: somebody looked at the place with a probability, and a click says that a document
is good once it is seen (Joachims, Swaminathan and Schnabel, WSDM 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import DuplicateRows, MissingColumn, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone.behaviour.logs import Log
    from rankstone.behaviour.offpolicy.discounts import Discount

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["Rows", "check", "rows_of_actions", "rows_of_examination"]

#: probabilities written by other programs may exceed 1 by rounding
_ONE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as numbers, float64 ``[rows]``.

    Attributes
    ----------
    discount
        What a reward counts where the target would put it, or where it was shown.
    weight
        The importance weight; 0 where the target has no use for the row.
    reward
        What was earned.
    expected
        The discount times what weights are expected to sum to over a log: what self-normalising divides
        by; ``None`` where that is not known.
    spread
        The discount times the weights themselves, whose expectation that is.
    shown
        The discounted reward as it was logged; ``None`` where it means nothing.
    model, direct
        What a model says: the reward of this row, and what the target would earn here; ``None`` without
        one.
    used
        Rows whose weight takes part in the effective sample size.
    """

    discount: Floats
    weight: Floats
    reward: Floats
    expected: Floats | None
    spread: Floats | None
    shown: Floats | None
    model: Floats | None
    direct: Floats | None
    used: Bools


def check(log: Log) -> None:
    """Refuse probabilities that are none, positions that are none, and rows that stand there twice."""
    zero, reward = pl.col("propensity") == 0, pl.col("reward")
    needs = "what was logged had a chance: 0 < propensity ≤ 1"
    log.require(pl.col("propensity") < 0, "with a negative propensity", needs, "propensity")
    log.require(
        zero & (reward != 0),
        "with a reward and a propensity of 0",
        needs,
        "propensity",
        "reward",
        fix="what cannot happen has happened: the propensities belong to another policy, or were rounded",
    )
    for name in ("propensity", "target_propensity", "examination"):
        if log.has(name):
            wrong = (pl.col(name) < 0) | (pl.col(name) > _ONE)
            log.require(wrong, f"whose {name} is no probability", "0 to 1", name)
    for name in ("position", "target_position"):
        if log.has(name):
            wrong = (pl.col(name) < 1) | (pl.col(name) != pl.col(name).round())
            log.require(
                wrong,
                f"whose {name} is none",
                "whole numbers from 1",
                name,
                fix="positions that count from 0 need 1 added",
            )
    _once(log)


def _once(log: Log) -> None:
    """Refuse an impression that shows a document twice, or two at one place."""
    if not log.has("impression_id"):
        return
    for name in ("doc_id", "position"):
        if log.has(name):
            twice = log.frame.filter(pl.struct("impression_id", name).is_duplicated())
            if twice.height:
                at = twice.row(0, named=True)
                raise DuplicateRows(
                    f"{twice.height:,} rows share an impression and a {name} with another",
                    where=log.source,
                    given=f"impression_id {printable(at['impression_id'], 40)}, "
                    f"{name} {printable(at[name], 40)}",
                    expected=f"a {name} at most once in an impression",
                )


def rows_of_actions(log: Log, discount: Discount) -> Rows:
    """Return rows whose propensity is that of showing what was shown."""
    zero = pl.col("propensity") == 0
    log.require(zero, "with a propensity of 0", "what was logged had a chance: 0 < propensity", "propensity")
    if not log.has("target_propensity") and not log.has("target_position"):
        raise MissingColumn(
            "nothing says what the target would do",
            where=log.source,
            expected="target_propensity: its probability of the logged action; or target_position, "
            "or a target run",
        )
    if log.has("prediction") != log.has("target_prediction"):
        lacking = "target_prediction" if log.has("prediction") else "prediction"
        raise MissingColumn(
            f"there is no column {lacking}",
            where=log.source,
            expected="prediction, the model's reward of the logged action, and target_prediction, "
            "its mean over the actions of the target, or neither",
        )
    position = _floats(log, "position") if log.has("position") else np.ones(log.frame.height)
    if log.has("target_propensity"):
        target = _floats(log, "target_propensity")
    else:
        target = (_floats(log, "target_position") == position).astype(np.float64)
    weight, reward, lam = target / _floats(log, "propensity"), _floats(log, "reward"), discount(position)
    modelled = log.has("prediction")
    return Rows(
        discount=lam,
        weight=weight,
        reward=reward,
        expected=lam,
        spread=lam * weight,
        shown=lam * reward,
        model=_floats(log, "prediction") if modelled else None,
        direct=lam * _floats(log, "target_prediction") if modelled else None,
        used=lam > 0,
    )


def rows_of_examination(log: Log, discount: Discount) -> Rows:
    """Return rows whose propensity is that of a document's being seen."""
    if not log.has("target_position"):
        raise MissingColumn(
            "nothing says where the target would put the documents",
            where=log.source,
            expected="target_position, or a target run",
        )
    propensity, reward = _floats(log, "propensity"), _floats(log, "reward")
    seen = propensity > 0
    weight = np.divide(1.0, propensity, out=np.zeros_like(propensity), where=seen)
    lam = discount(_floats(log, "target_position"))
    known = log.has("examination")
    examined = _floats(log, "examination") if known else propensity
    modelled = log.has("prediction")
    prediction = _floats(log, "prediction") if modelled else np.zeros_like(reward)
    return Rows(
        discount=lam,
        weight=weight,
        reward=reward,
        expected=lam if known else None,
        spread=lam * weight * examined if known else None,
        shown=None,
        model=examined * prediction if modelled else None,
        direct=lam * prediction if modelled else None,
        used=(lam > 0) & (reward != 0),
    )


def _floats(log: Log, column: str) -> Floats:
    """Return a column, NaN where nothing stands."""
    return log.frame[column].fill_null(float("nan")).to_numpy()
