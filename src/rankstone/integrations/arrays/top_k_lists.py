"""The top k items for each user, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.errors import BadOption, BadValue, EmptyInput
from rankstone.evaluation.prepared import Prepared
from rankstone.integrations.arrays.array_libraries import on_host

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from rankstone.evaluation.request import MeasuresLike, QrelsLike
    from rankstone.evaluation.scores import Scores
    from rankstone.hits.alignment_options import AlignmentKeywords
    from rankstone.integrations.arrays.device_arrays import Data

#: scores in memory at the same time, and at most on a device
_AT_ONCE: Final = 1 << 24
_AT_ONCE_AFAR: Final = 1 << 29
#: so many more are selected than wanted: as many may have the score of the last one
_SPARE: Final = 6
#: users, or items, by dimensions
_AXES: Final = 2


def from_topk(
    ids: object,
    qrels: QrelsLike,
    measures: MeasuresLike,
    *,
    users: object = None,
    **options: Unpack[AlignmentKeywords],
) -> Scores:
    """Score lists of recommended items.

    Parameters
    ----------
    ids
        Integers ``[users, k]``: the items recommended to each user, best first; below 0 for no item.
    qrels
        What is relevant: a sparse matrix ``[users, items]`` as SciPy's, whose values are grades, or anything
        that :func:`rankstone.evaluate` takes.
    measures, **options
        As for :func:`rankstone.evaluate`; ``empty`` is the score of users without a relevant item.
    users
        The ids of the rows; by default numbers from 0.

    Examples
    --------
    >>> from_topk([[7, 3], [2, -1]], {0: {3: 1}, 1: {2: 1, 5: 1}}, "R@2 RR").to_dict()
    {'run': {'R@2': 0.75, 'RR': 0.75}}
    """
    lists = on_host(ids)
    if lists.ndim != _AXES or lists.dtype.kind not in "iu":
        raise BadValue(
            "ids are not lists",
            given=f"{lists.dtype} of shape {lists.shape}",
            expected="integers [users, k]",
        )
    if users is None:
        users = np.arange(len(lists))
    names = np.asarray(users)
    if names.shape != (len(lists),):
        raise BadValue(
            "users do not fit the lists",
            given=f"shape {names.shape}",
            expected=f"({len(lists)},)",
        )
    if options.get("order", "input") != "input":
        raise BadOption(
            "lists come in order", given=f"order={options['order']}", fix="leave it out"
        )
    there = lists.reshape(-1) >= 0
    run = pl.DataFrame(
        {
            "query_id": np.repeat(names, lists.shape[1])[there],
            "doc_id": lists.reshape(-1)[there],
        }
    )
    judged = qrels
    if hasattr(qrels, "tocoo"):
        judged = _triples(qrels, names)
        _refuse_beyond(lists, qrels)
    options["order"] = "input"
    return Prepared(judged, measures, **options).evaluate(run)


def _triples(matrix: Any, names: NDArray[Any]) -> pl.DataFrame:  # noqa: ANN401 - a sparse matrix of SciPy's
    if matrix.shape[0] != len(names):
        raise BadValue(
            "the matrix does not fit the lists",
            given=f"{counted(matrix.shape[0], 'row')}",
            expected=f"{len(names)}",
        )
    cells = matrix.tocoo()
    grade = cells.data.astype(np.float64)
    return pl.DataFrame(
        {
            "query_id": names[cells.row],
            "doc_id": cells.col.astype(np.int64),
            "relevance": grade,
        }
    )


def _refuse_beyond(lists: NDArray[Any], matrix: Any) -> None:  # noqa: ANN401 - a sparse matrix of SciPy's
    """Refuse ids that are no column of the matrix: lists and matrix number items differently."""
    items = matrix.shape[1]
    beyond = lists >= items
    if beyond.any():
        row, place = np.argwhere(beyond)[0].tolist()
        raise BadValue(
            f"item {lists[row, place]} is beyond the matrix",
            where=f"ids[{row}, {place}]",
            given=f"{int(beyond.sum()):,} of {counted(lists.size, 'id')} beyond it",
            expected=f"0 to {items - 1}, a column of the matrix each; below 0 for no item",
            fix="do lists and matrix number the items alike?",
        )


def top_k(users: Data, items: Data, k: int, *, seen: Any = None) -> tuple[Data, Data]:  # noqa: ANN401 - SciPy's
    """Return the k items with the largest product for each user; the full table is never built.

    Parameters
    ----------
    users, items
        Numbers ``[users, dimensions]`` and ``[items, dimensions]``, of NumPy or PyTorch.
    k
        The number of items for each user.
    seen
        A sparse matrix ``[users, items]`` as SciPy's: items that are not recommended again.

    Returns
    -------
    ids
        int64 ``[users, k]``, best first, of equal ones the smaller number; -1 if none are left.
    scores
        ``[users, k]``, the products; -inf if none are left.

    Raises
    ------
    BadValue
        When a number is not finite, or a product too large for its type.

    Examples
    --------
    >>> ids, scores = top_k(np.array([[1.0, 0.0]]), np.array([[0.5, 1.0], [2.0, 0.0], [1.0, 9.0]]), 2)
    >>> ids.tolist(), scores.tolist()
    ([[1, 2]], [[2.0, 1.0]])
    """
    users = _numbers(users, "users")
    items = _numbers(items, "items")
    if users.ndim != _AXES or items.ndim != _AXES or users.shape[1] != items.shape[1]:
        raise BadValue(
            "users and items have different dimensions",
            given=f"shapes {tuple(users.shape)} and {tuple(items.shape)}",
            expected="[users, dimensions] and [items, dimensions]",
        )
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise BadOption(f"k={k!r} is not a count", expected="a whole number, 1 or more")
    _refuse_infinite(users, "user")
    _refuse_infinite(items, "item")
    rows = None if seen is None else seen.tocsr()
    if rows is not None and rows.shape != (len(users), len(items)):
        raise BadValue(
            "wrong shape of seen",
            given=f"{rows.shape}",
            expected=f"{len(users), len(items)}",
        )
    at_once = _scores_at_once(users)
    columns = min(len(items), max(at_once >> 8, k))
    step = max(1, at_once // columns)
    if not isinstance(users, np.ndarray):
        return _top_k_by_torch(users, items, k, (step, columns), rows)
    parts = []
    for begin in range(0, len(users), step):
        block = users[begin : begin + step]
        seen_by_them = _some(rows, begin, step)
        parts.append(_top_k_by_numpy(block, items, k, columns, seen_by_them))
    ids, scores = zip(*parts, strict=True)
    return np.concatenate(ids), np.concatenate(scores)


def _some(rows: Data, begin: int, step: int) -> Data:
    return None if rows is None else rows[begin : begin + step]


def _scores_at_once(users: Data) -> int:
    """Return how many scores are computed at a time: on a GPU a quarter of the free memory is for them."""
    if not getattr(users, "is_cuda", False):
        return _AT_ONCE
    import torch

    free, _ = torch.cuda.mem_get_info(users.device)
    quarter = int(free) // (4 * int(users.element_size()))
    return max(_AT_ONCE, min(quarter, _AT_ONCE_AFAR))


def _numbers(factors: Data, what: str) -> Data:
    """Return factors of NumPy, or lists, as floating numbers; tensors as they are."""
    if hasattr(factors, "detach"):
        return factors if factors.is_floating_point() else factors.double()
    factors = np.asarray(factors)
    if factors.dtype.kind not in "biuf":
        raise BadValue(f"{what} are not numbers", given=f"{factors.dtype}")
    return factors if factors.dtype.kind == "f" else factors.astype(np.float64)


def _refuse_infinite(factors: Data, what: str) -> None:
    """Refuse rows with a factor that is not finite: their products have no order."""
    if not len(factors):
        raise EmptyInput(f"there are no {what}s")
    if np.isfinite(float(abs(factors).max())):
        return
    host = on_host(factors)
    row, place = np.argwhere(~np.isfinite(host))[0].tolist()
    raise BadValue(
        f"{what} {row} has a factor that is {host[row, place]}",
        where=f"{what}s[{row}, {place}]",
        expected="a finite number",
        fix=f"has the model diverged? or leave out {what}s without factors, and their ids",
    )


def _refuse_too_large(finite: Data, scores: Data) -> None:
    if not finite.all():
        raise BadValue(
            f"a product of a user and an item is too large for {scores.dtype}",
            fix="use wider numbers, or divide all factors by their largest, which keeps the order",
        )


def _blocks(items: int, columns: int, rows: Any) -> Any:  # noqa: ANN401 - a generator of slices and cells
    """Yield each range of items with its cells of ``seen``."""
    for begin in range(0, items, columns):
        end = min(begin + columns, items)
        cells = None if rows is None else rows[:, begin:end].tocoo()
        yield begin, end, None if cells is None else (cells.row, cells.col)


def _top_k_by_numpy(
    users: Data, items: Data, k: int, columns: int, rows: Data
) -> tuple[Data, Data]:
    best = np.full((len(users), 0), -np.inf, users.dtype)
    ids = np.full((len(users), 0), -1)
    for begin, end, cells in _blocks(len(items), columns, rows):
        with np.errstate(over="ignore", invalid="ignore"):
            scores = users @ items[begin:end].T
        _refuse_too_large(np.isfinite(scores), scores)
        if cells is not None:
            scores[cells] = -np.inf
        numbers = np.broadcast_to(np.arange(begin, end), scores.shape)
        best = np.concatenate((best, scores), axis=1)
        ids = np.concatenate((ids, numbers), axis=1)
        beyond = best.shape[1] - k
        if beyond > 0:
            least = np.partition(best, beyond, axis=1)[:, beyond, None]
            above = best > least
            tied = best == least
            vacant = k - above.sum(1, keepdims=True)
            # of ties at the end, the first stay
            stays = above | (tied & (np.cumsum(tied, axis=1) <= vacant))
            best = best[stays].reshape(-1, k)
            ids = ids[stays].reshape(-1, k)
    order = np.argsort(-best, axis=1, kind="stable")
    best = np.take_along_axis(best, order, 1)
    ids = np.take_along_axis(ids, order, 1)
    short = ((0, 0), (0, k - best.shape[1]))
    best = np.pad(best, short, constant_values=-np.inf)
    ids = np.pad(ids, short, constant_values=-1)
    return np.where(np.isneginf(best), -1, ids), best


def _top_k_by_torch(
    users: Data, items: Data, k: int, sizes: tuple[int, int], rows: Data
) -> tuple[Data, Data]:
    """Select by value, which leaves open who is first among equals; whole lists are sorted where that matters."""
    import torch

    step, columns = sizes
    begins = range(0, len(users), step)
    largest_product = _largest_norm(users) * _largest_norm(items)
    large = largest_product > torch.finfo(users.dtype).max

    def part(begin: int, *, sort: bool) -> tuple[Data, Data, Data]:
        block = users[begin : begin + step]
        seen = _some(rows, begin, step)
        return _top_of_block(block, items, k, columns, seen, sort=sort, large=large)

    parts = [part(begin, sort=False) for begin in begins]
    doubts = torch.stack([doubt for *_, doubt in parts]).tolist()
    for number in np.flatnonzero(doubts).tolist():
        parts[number] = part(begins[number], sort=True)
    ids, best, _ = zip(*parts, strict=True)
    return torch.cat(ids), torch.cat(best)


def _largest_norm(factors: Data) -> float:
    """Return the length of the longest row: no sum of products is above that of users by that of items."""
    squares = factors.double() ** 2
    return float(squares.sum(1).max() ** 0.5)


def _top_of_block(
    users: Data,
    items: Data,
    k: int,
    columns: int,
    rows: Data,
    *,
    sort: bool,
    large: bool,
) -> tuple[Data, Data, Data]:
    """Return ids and scores of some users, and whether an equal score may have been left out."""
    import torch

    best = users.new_empty((len(users), 0))
    ids = best.to(torch.int64)
    doubt = torch.zeros((), dtype=torch.bool, device=users.device)
    for begin, end, cells in _blocks(len(items), columns, rows):
        scores = users @ items[begin:end].T
        if large:
            _refuse_too_large(torch.isfinite(scores), scores)
        if cells is not None:
            row, col = (
                torch.as_tensor(part, dtype=torch.int64, device=users.device)
                for part in cells
            )
            scores[row, col] = -torch.inf
        count = end - begin if sort else min(k + _SPARE, end - begin)
        value, place = torch.topk(scores, count, dim=1)
        kept = min(k, count)
        edge = value[:, kept - 1]
        if count < end - begin:
            goes_on = (value[:, -1] == edge) & (edge > -torch.inf)
            doubt = doubt | goes_on.any()
        ids = torch.cat((ids, place + begin), 1)
        best = torch.cat((best, value), 1)
        ids, order = torch.sort(ids, dim=1)
        best = best.gather(1, order)
        best, order = torch.sort(best, dim=1, descending=True, stable=True)
        ids = ids.gather(1, order)[:, :k]
        best = best[:, :k]
    short = (0, k - best.shape[1])
    best = torch.nn.functional.pad(best, short, value=-torch.inf)
    ids = torch.nn.functional.pad(ids, short, value=-1)
    return torch.where(torch.isneginf(best), -1, ids), best, doubt
