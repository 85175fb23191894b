"""What tests of hooks share: fresh data with ties and queries without relevant documents."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Data(NamedTuple):
    """Rows of queries, list after list."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    sizes: NDArray[np.int64]
    scores: NDArray[np.float64]

    @property
    def qid(self) -> NDArray[np.int64]:
        """The query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def drawn(seed: int, queries: int = 40, grades: int = 4) -> Data:
    """Draw lists of 1 to 12 rows, a fifth of them without a relevant one, with scores of which many tie."""
    draw = np.random.Generator(np.random.Philox(seed))
    sizes = draw.integers(1, 13, queries)
    X = draw.normal(size=(sizes.sum(), 4)).round(1)  # noqa: N806 - as all of these libraries write it
    noise = draw.normal(size=len(X))
    y = np.clip(np.floor(X[:, 0] + noise + 0.5), 0, grades - 1)
    y[np.repeat(draw.random(queries) < 0.2, sizes)] = 0
    scores = (X[:, 0] + draw.normal(size=len(X))).round(0) / 4
    return Data(X, y, sizes, scores)


@pytest.fixture
def seed() -> int:
    """Another seed every time; RANKSTONE_SEED repeats one."""
    return int(os.environ.get("RANKSTONE_SEED", "0")) or secrets.randbelow(1 << 31)


@pytest.fixture
def data(seed: int) -> Data:
    """Fresh data; pytest shows the seed of a test that fails."""
    print(f"RANKSTONE_SEED={seed}")  # noqa: T201
    return drawn(seed)
