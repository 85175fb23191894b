"""What an evaluation asks of a device: few operations, one copy to the host, nothing that waits.

Tensors in memory stand for those on a device; operations are counted by PyTorch's profiler.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankstone.errors import InputError
from rankstone.integrations.arrays import Evaluator, evaluate
from rankstone.integrations.arrays import array_libraries as libraries

if TYPE_CHECKING:
    from collections.abc import Callable

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make arrays")

pytestmark = pytest.mark.arrays

#: views, allocations, and conversions that copy nothing
NO_WORK = set(
    """
    view view_as reshape expand expand_as broadcast_to slice select unsqueeze squeeze transpose t permute as_strided
    alias detach narrow split unbind empty empty_like empty_strided lift_fresh flatten contiguous to
    """.split()  # noqa: SIM905 - a paragraph of names
)
WAITS = frozenset(
    ["item", "nonzero", "is_nonzero", "masked_select", "equal", "_local_scalar_dense"]
)
#: how numbers of a tensor come to the host
COPIES = frozenset(
    [
        "cpu",
        "numpy",
        "tolist",
        "item",
        "__array__",
        "__bool__",
        "__float__",
        "__int__",
        "__index__",
    ]
)
TIES = {"input": "AP(denom=hits)", "expected": "AP"}


class Copies(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
    """Notes the shape of every tensor whose numbers are copied to the host."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_function__(
        self, func: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "") in COPIES:
            self.shapes.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


def counted(work: Callable[[], object]) -> tuple[int, int, int]:
    """Return how many operations compute, how many wait, and how many tensors are made from numbers."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    ) as profile:
        work()
    events = [e for e in profile.events() if e.name.startswith("aten::")]
    outermost = [
        event.name.removeprefix("aten::")
        for event in events
        if event.cpu_parent is None or not event.cpu_parent.name.startswith("aten::")
    ]
    names = Counter(event.name for event in events)
    computing = sum(name not in NO_WORK for name in outermost)
    waiting = sum(name in WAITS for name in outermost)
    return computing + names["aten::_to_copy"], waiting, names["aten::lift_fresh"]


def fifteen(ties: str) -> list[str]:
    return [
        f"{n}@{k}" for n in ("nDCG", TIES[ties], "RR", "P", "R") for k in (5, 10, 20)
    ]


def scores(kind: str, seed: int, shape: tuple[int, int] = (300, 120)) -> Any:
    """Draw scores: all different, of few values, with zeros below zero, endless, or in half precision."""
    drawn = np.random.Generator(np.random.Philox(seed)).normal(size=shape)
    if kind == "equal":
        drawn = np.floor(drawn)
    if kind == "zeros":
        drawn = np.where(drawn > 0.5, 0.0, np.where(drawn < -0.5, -0.0, drawn))
    if kind == "endless":
        drawn = np.where(abs(drawn) > 1, np.copysign(np.inf, drawn), drawn)
    return torch.from_numpy(drawn.astype(np.float16 if kind == "half" else np.float32))


KINDS = ("different", "equal", "zeros", "endless", "half")


def labels(shape: tuple[int, int] = (300, 120)) -> Any:
    draw = np.random.Generator(np.random.Philox(1))
    return torch.from_numpy((draw.random(shape) < 0.2).astype(np.int64))


@pytest.fixture
def afar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors in memory count as far away."""
    monkeypatch.setattr(libraries._Torch, "near", False)  # noqa: SLF001


@pytest.mark.usefixtures("afar")
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", KINDS)
def test_operations(ties: Any, kind: str) -> None:
    """Fifteen measures share their operations, whatever the scores; later calls wait for nothing."""
    ready = Evaluator(labels(), fifteen(ties), ties=ties)
    ready(scores(kind, 2)).mean()
    following = scores(kind, 3)

    operations, waits, numbers = counted(lambda: ready(following).mean())

    assert operations <= {"input": 120, "expected": 160}[ties]
    assert (waits, numbers) == (0, 0)
    with Copies() as copies:
        ready(scores(kind, 4)).mean()
    assert len(copies.shapes) == 1


@pytest.mark.usefixtures("afar")
@pytest.mark.parametrize("ties", TIES)
def test_the_first_call(ties: Any) -> None:
    """Labels are prepared where they are: only a few numbers about them are looked at."""
    grades, first = labels(), scores("different", 2)

    def call() -> object:
        return Evaluator(grades, fifteen(ties), ties=ties)(first).mean()

    call()
    assert counted(call)[0] <= 250
    with Copies() as copies:
        call()
    assert max(int(np.prod(shape)) for shape in copies.shapes) <= 5 * 15


@pytest.mark.usefixtures("afar")
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["table", "mask"])
def test_values(ties: Any, kind: str, layout: str) -> None:
    """Values and means are NumPy's, whatever scores were seen before."""
    grades = labels((40, 60)).double()
    lay: dict[str, Any] = {}
    if layout == "mask":
        lengths = np.random.Generator(np.random.Philox(9)).integers(0, 61, 40)
        lay = {"mask": np.arange(60) < lengths[:, None]}
        grades[:, ::7] = torch.nan
    measures = [*fifteen(ties), "AP", "RBP(p=0.8)"]
    ready = Evaluator(grades, measures, ties=ties, **lay)
    host = Evaluator(grades.numpy(), measures, ties=ties, **lay)
    ready(scores("different", 5, (40, 60))).mean()
    for seed in (6, 7):
        given = scores(kind, seed, (40, 60))
        found, expected = ready(given), host(given.numpy())
        for text, values in expected.values.items():
            np.testing.assert_allclose(found.values[text].numpy(), values, 0, 1e-12)
        assert found.mean() == pytest.approx(expected.mean(), abs=1e-12)
        assert found.mean(exact=True) == pytest.approx(expected.mean(), abs=1e-15)


def test_tables_in_memory() -> None:
    """Many tensors in memory are scored as tables of a few lists at a time: values stay NumPy's."""
    grades, given = labels((900, 120)), scores("zeros", 3, (900, 120))
    for ties in TIES:
        found = evaluate(given, grades, fifteen(ties), ties=ties)  # type: ignore[arg-type]
        expected = evaluate(given.numpy(), grades, fifteen(ties), ties=ties)  # type: ignore[arg-type]
        assert found.dense is not None
        for text, statuses in expected.status.items():
            np.testing.assert_array_equal(found.status[text], statuses)
        for text, values in expected.values.items():
            np.testing.assert_allclose(found.values[text].numpy(), values, 0, 1e-12)


@pytest.mark.usefixtures("afar")
def test_mistakes_are_told_when_numbers_are_read() -> None:
    """A NaN among later scores is told with its place; nothing waits for it before."""
    ready = Evaluator(labels(), "nDCG@5 P@3")
    broken = scores("different", 2)
    broken[3, 7] = torch.nan

    later = ready(broken)

    for read in (later.mean, lambda: later.values):
        with pytest.raises(InputError, match=r"\[3, 7\], query 3: a score is NaN"):
            read()


@pytest.mark.usefixtures("afar")
@pytest.mark.filterwarnings("ignore:.*below 0:UserWarning")
@pytest.mark.parametrize("negative", ["unjudged", "zero", "keep"])
@pytest.mark.parametrize("step", [1.0, 0.5])
def test_labels_below_zero(negative: Any, step: float) -> None:
    """Labels on a device mean what they mean to NumPy, and have the same warnings."""
    given = scores("different", 2, (20, 30))
    grades = (labels((20, 30)) * 3 - 1) * step
    options: dict[str, Any] = {"negative": negative, "empty": "undefined"}

    found = evaluate(given, grades, "DCG AP@5", **options)
    expected = evaluate(given.numpy(), grades.numpy(), "DCG AP@5", **options)

    assert found.mean() == pytest.approx(expected.mean(), abs=1e-12)
    assert found.warnings == expected.warnings
    assert len(found.warnings) == (negative == "unjudged" and step < 1)
