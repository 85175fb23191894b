"""Measures in the manner of torchmetrics: update, compute, reset, and the same on several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import BadValue, EmptyInput, MissingExtra
from rankstone.integrations.arrays.array_evaluator import Evaluator, evaluate

if TYPE_CHECKING:
    from rankstone._basics import NamedValues
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.integrations.arrays.array_scores import ArrayScores


__all__ = ["RankingMetrics"]

try:
    import torch
    from torchmetrics import Metric
except ImportError as error:
    raise MissingExtra(
        f"{error.name} is not installed", fix='pip install "rankstone[torch]"'
    ) from error


#: what is kept, and as what it goes from process to process: wide enough for whatever was given
_KINDS = {"indexes": torch.int64, "preds": torch.float64, "target": torch.float64}


class RankingMetrics(Metric):  # type: ignore[misc] # torchmetrics has no types here
    """Several measures at several cutoffs, scored together and without a loop over queries.

    Parameters
    ----------
    measures
        ``"nDCG@5 nDCG@10 AP RR"``, a list of texts, or measure values.
    ignore_index
        Documents with this target are left out; ``None`` for none.
    options
        Options of alignment, as for :class:`~rankstone.integrations.arrays.Evaluator`: ``{"empty": "drop"}``;
        ``{"ties": "input"}`` for measures without a closed form over ties, such as ``AP(denom=hits)@5``.
    **settings
        As for :class:`torchmetrics.Metric`: ``dist_sync_on_step``, ``process_group``, ….

    Notes
    -----
    Rows of a query may come in several updates, and from several processes, of which some may have none.
    Where torchmetrics takes scores of 0 and less for documents that are not retrieved (precision, recall,
    average precision and reciprocal rank since 1.8), ``options={"score_above": 0.0}`` does, too.

    Examples
    --------
    >>> metric = RankingMetrics("nDCG@10 RR")
    >>> metric.update(torch.tensor([0.9, 0.5]), torch.tensor([0, 1]), indexes=torch.tensor([0, 0]))
    >>> metric.compute()
    {'nDCG@10': tensor(0.6309, dtype=torch.float64), 'RR': tensor(0.5000, dtype=torch.float64)}
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    def __init__(
        self,
        measures: MeasuresLike,
        *,
        ignore_index: int | None = None,
        options: NamedValues | None = None,
        **settings: Any,  # noqa: ANN401 - torchmetrics'
    ) -> None:
        super().__init__(**settings)
        self.options = dict(options or {})
        self.measures = Evaluator(
            [1.0], measures, **self.options
        ).measures  # refused here, not epochs later
        self.ignore_index = ignore_index
        for name in _KINDS:
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(
        self, preds: torch.Tensor, target: torch.Tensor, indexes: torch.Tensor
    ) -> None:
        """Take in a batch.

        Parameters
        ----------
        preds, target, indexes
            Scores, grades and the query of each, of one shape.
        """
        if not preds.shape == target.shape == indexes.shape:
            raise BadValue(
                "scores, grades and queries do not fit",
                given=f"shapes {tuple(preds.shape)}, {tuple(target.shape)}, {tuple(indexes.shape)}",
                expected="one shape",
            )
        if indexes.is_floating_point() or indexes.dtype == torch.bool:
            raise BadValue(
                "indexes are not query numbers",
                given=f"{indexes.dtype}",
                expected="integers",
            )
        self.preds.append(preds.detach().reshape(-1))
        self.target.append(target.detach().reshape(-1))
        self.indexes.append(indexes.detach().reshape(-1))

    def sync(self, **settings: Any) -> None:  # noqa: ANN401 - torchmetrics'
        """Bring the rows of all processes together.

        torchmetrics gathers a state where there is one, so a process without rows would leave the others
        waiting; and what it gathers must have one type.  So every process must provide tensors of the same
        types.
        """
        available = (
            settings.get("distributed_available") or self.distributed_available_fn
        )
        if (
            settings.get("should_sync", True)
            and not self._is_synced
            and callable(available)
            and available()
        ):
            for name, kind in _KINDS.items():
                setattr(
                    self, name, [_together(getattr(self, name)).to(self.device, kind)]
                )
        super().sync(**settings)

    def scores(self) -> ArrayScores:
        """Return the values of every query seen so far; ``queries`` are their indexes."""
        preds, target, indexes = (
            _together(part) for part in (self.preds, self.target, self.indexes)
        )
        if self.ignore_index is not None:
            kept = target != self.ignore_index
            preds, target, indexes = preds[kept], target[kept], indexes[kept]
        if not len(preds):
            raise EmptyInput(
                "there are no scores to compute with", fix="call update first"
            )
        return evaluate(preds, target, self.measures, qid=indexes, **self.options)

    def compute(self) -> dict[str, torch.Tensor]:
        """Return the mean of each measure over queries, float64; NaN where no query counts."""
        means = self.scores().mean()
        return {
            text: torch.tensor(value, dtype=torch.float64)
            for text, value in means.items()
        }


def _together(state: list[torch.Tensor] | torch.Tensor) -> torch.Tensor:
    """Return a state as one tensor: after a synchronisation it is one already."""
    if isinstance(state, torch.Tensor):
        return state
    return torch.cat(state) if state else torch.empty(0)
