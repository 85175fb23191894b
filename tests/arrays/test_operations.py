"""What an evaluation asks of a device: few operations, one copy to the host, nothing that waits.

Tensors in memory stand for those on a device; operations are counted by PyTorch's profiler.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankstone.errors import InputError
from rankstone.integrations.arrays import (
    Evaluator,
    approx_ndcg,
    array_evaluator,
    array_layout,
    evaluate,
    lambda_loss,
)
from rankstone.integrations.arrays import array_libraries as libraries

if TYPE_CHECKING:
    from collections.abc import Callable

torch: Any = None
if importlib.util.find_spec("torch") is not None:
    torch = importlib.import_module("torch")

pytestmark = [
    pytest.mark.arrays,
    pytest.mark.skipif(torch is None, reason="PyTorch is not installed: make arrays"),
]

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


Watching: Any = object if torch is None else torch.overrides.TorchFunctionMode


class Copies(Watching):  # type: ignore[misc]
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
@pytest.mark.parametrize("argument", ["mask", "qid", "apart", "sizes"])
def test_the_layout_stays(argument: str) -> None:
    """A mask and ids of queries stay where they are: what is copied is one number a list, or a run of ids."""
    grades, predicted = labels((40, 60)), scores("different", 3, (40, 60))
    lists = torch.arange(40)
    lay: Any = {argument: torch.full((40,), 60)}
    if argument == "mask":
        lay = {"mask": torch.arange(60) < (7 * lists[:, None]) % 61}
    if argument == "qid":
        lay = {"qid": lists.repeat_interleave(60) + 2**53}
    if (
        argument == "apart"
    ):  # each list in two runs, and ids that no float64 tells apart
        lay = {"qid": lists.repeat_interleave(30).repeat(2) + 2**53}
    if argument != "mask":
        grades, predicted = grades.reshape(-1), predicted.reshape(-1)

    with Copies() as copies:
        ready = Evaluator(grades, "nDCG@5 AP", **lay)
        means = ready(predicted).mean()

    assert max(int(np.prod(shape)) for shape in copies.shapes) <= 2 * 40
    near = {name: value.numpy() for name, value in lay.items()}
    expected = evaluate(predicted.numpy(), grades.numpy(), "nDCG@5 AP", **near)
    assert means == pytest.approx(expected.mean(), abs=1e-12)
    np.testing.assert_array_equal(ready(predicted).queries, expected.queries)


@pytest.mark.usefixtures("afar")
def test_mistakes_of_the_layout() -> None:
    """A layout on a device that does not fit is refused with its shape; a NaN among ids with its place."""
    with pytest.raises(InputError, match=r"torch.float32 of shape \(2, 3\)"):
        Evaluator(torch.zeros(2, 3), "RR", mask=torch.ones(2, 3))
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        Evaluator(torch.zeros(3), "RR", qid=torch.arange(2))
    with pytest.raises(InputError, match="value 2: a qid is NaN"):
        Evaluator(torch.zeros(3), "RR", qid=torch.tensor([1.0, 1.0, torch.nan]))


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
        predicted = scores(kind, seed, (40, 60))
        result, expected = ready(predicted), host(predicted.numpy())
        for text, values in expected.values.items():
            np.testing.assert_allclose(result.values[text].numpy(), values, 0, 1e-12)
        assert result.mean() == pytest.approx(expected.mean(), abs=1e-12)
        assert result.mean(exact=True) == pytest.approx(expected.mean(), abs=1e-15)


def test_tables_in_memory() -> None:
    """Many tensors in memory are scored as tables of a few lists at a time: values stay NumPy's."""
    grades, predicted = labels((900, 120)), scores("zeros", 3, (900, 120))
    for ties in TIES:
        result = Evaluator(grades, fifteen(ties), ties=ties)(predicted)  # type: ignore[arg-type]
        expected = evaluate(predicted.numpy(), grades, fifteen(ties), ties=ties)  # type: ignore[arg-type]
        assert result.dense is not None
        for text, statuses in expected.status.items():
            np.testing.assert_array_equal(result.status[text], statuses)
        for text, values in expected.values.items():
            np.testing.assert_allclose(result.values[text].numpy(), values, 0, 1e-12)


@pytest.mark.parametrize("place", ["memory", "device"])
@pytest.mark.parametrize("ties", TIES)
def test_other_precision(
    ties: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of another precision than those before keep it: float64 may differ where float32 ties."""
    monkeypatch.setattr(libraries._Torch, "near", place == "memory")  # noqa: SLF001
    monkeypatch.setattr(array_evaluator, "_WORTH_TABLES", 0)
    ready = Evaluator(labels(), fifteen(ties), ties=ties)
    single = scores("equal", 3)
    steps = torch.arange(120, dtype=torch.float64) % 7
    for inputs in (
        single,
        single.double() + 1e-12 * steps,
        single.half(),
        single.long().double(),
    ):
        host = Evaluator(labels().numpy(), fifteen(ties), ties=ties)(inputs.numpy())
        assert ready(inputs).mean() == pytest.approx(host.mean(), abs=1e-12)


@pytest.mark.usefixtures("afar")
def test_mistakes_are_reported_when_numbers_are_read() -> None:
    """A NaN among later scores is reported with its place; nothing waits for it before."""
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
    predicted = scores("different", 2, (20, 30))
    grades = (labels((20, 30)) * 3 - 1) * step
    options: dict[str, Any] = {"negative": negative, "empty": "undefined"}

    evaluation = evaluate(predicted, grades, "DCG AP@5", **options)
    expected = evaluate(predicted.numpy(), grades.numpy(), "DCG AP@5", **options)

    assert evaluation.mean() == pytest.approx(expected.mean(), abs=1e-12)
    assert evaluation.warnings == expected.warnings
    assert len(evaluation.warnings) == (negative == "unjudged" and step < 1)


# -- losses -----------------------------------------------------------------------------------------------------
def plain_loss(value: Any, grades: Any, mask: Any = None) -> Any:
    """Return LambdaRank's loss for nDCG@10, all tables of pairs in float64, ties averaged by counting."""
    value = value.double()
    there = torch.ones_like(value, dtype=torch.bool) if mask is None else mask
    longest = value.shape[1]
    pairs = there[:, None, :] & there[:, :, None]
    fixed = value.detach()
    above = ((fixed[:, None, :] > fixed[:, :, None]) & pairs).sum(2)
    equal = ((fixed[:, None, :] == fixed[:, :, None]) & pairs).sum(2).clamp_min(1)
    ranks = torch.arange(1, longest + 1, dtype=torch.float64)
    discount = torch.where(ranks <= 10, 1 / torch.log2(ranks + 1), 0.0)
    through = torch.cat((torch.zeros(1), discount.cumsum(0)))
    share = (through[above + equal] - through[above]) / equal
    gain = torch.where(there, grades.double(), 0.0)
    ideal = (gain.sort(1, descending=True).values * discount).sum(1)
    gain = gain / torch.where(ideal > 0, ideal, 1.0)[:, None]
    weight = (gain[:, :, None] - gain[:, None, :]) * (
        share[:, :, None] - share[:, None, :]
    )
    better = (gain[:, :, None] > gain[:, None, :]) & pairs
    apart = value[:, None, :] - value[:, :, None]
    loss = torch.nn.functional.softplus(apart, threshold=40) * weight.abs()
    return torch.where(better, loss, 0.0).sum((1, 2))


def loss_inputs(kind: str) -> tuple[Any, Any, Any]:
    shape = (64, 50)
    predicted = scores(kind, 5, shape)
    grades = torch.from_numpy(
        np.random.Generator(np.random.Philox(4)).integers(0, 5, shape)
    )
    grades[3] = 0
    mask = None
    if kind == "zeros":
        mask = torch.from_numpy(
            np.random.Generator(np.random.Philox(6)).random(shape) < 0.8
        )
    return predicted, grades, mask


@pytest.mark.parametrize("kind", ["different", "equal", "zeros"])
@pytest.mark.parametrize(("precision", "near"), [("float32", 1e-6), ("float64", 1e-12)])
def test_losses(
    kind: str, precision: str, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses and slopes are those of plain tables of pairs, however few lists are computed with at a time."""
    inputs, grades, mask = loss_inputs(kind)
    dtype = getattr(torch, precision)
    ours, plain = (inputs.to(dtype).requires_grad_() for _ in range(2))
    monkeypatch.setattr(array_layout, "_PAIRS", 50 * 50 * 7)

    loss = lambda_loss(ours, grades, "nDCG@10", mask=mask)
    expected = plain_loss(plain, grades, mask)
    loss.sum().backward()
    expected.sum().backward()

    scale = float(expected.detach().abs().max())
    torch.testing.assert_close(loss.double(), expected, rtol=0, atol=near * scale)
    scale = float(plain.grad.abs().max())
    torch.testing.assert_close(ours.grad, plain.grad, rtol=0, atol=near * scale)


@pytest.mark.parametrize(
    ("measure", "most"),
    [("nDCG@10", 70), ("AP@10", 280), ("RR", 280), ("Success@5", 280)],
)
def test_losses_keep_no_table_of_pairs(measure: str, most: int) -> None:
    """What stays for the way back is as large as the scores; few operations lead there and back."""
    inputs, grades, _ = loss_inputs("different")
    result = inputs.requires_grad_()
    kept: list[int] = []

    def keep(saved: Any) -> Any:
        kept.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
        lambda_loss(result, grades, measure)
    assert max(kept) == result.numel()
    operations, waits, _ = counted(
        lambda: lambda_loss(result, grades, measure).sum().backward()
    )
    assert operations <= most
    assert waits == 0


@pytest.mark.filterwarnings("ignore:The .grad attribute", "ignore::DeprecationWarning")
@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_compiled_losses(measure: str) -> None:
    """PyTorch's compiler takes the losses as they are."""
    inputs, grades, _ = loss_inputs("different")
    plain, compiled = (inputs.clone().requires_grad_() for _ in range(2))

    def cost(values: Any) -> Any:
        return (
            lambda_loss(values * 2, grades, measure).sum()
            - approx_ndcg(values, grades).sum()
        )

    cost(plain).backward()
    torch.compile(cost, backend="aot_eager")(compiled).backward()

    torch.testing.assert_close(compiled.grad, plain.grad)


# -- JAX, and what was chosen -----------------------------------------------------------------------------------
def test_one_compiled_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second Evaluator of the same measures, shape and options compiles nothing, whatever its labels."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    monkeypatch.setattr(libraries._Jax, "near", False)  # noqa: SLF001
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _seconds, **_: compiled.append(event)
    )
    inputs = [jax.numpy.asarray(scores("zeros", seed).numpy()) for seed in (2, 3)]
    for grades in (labels().numpy(), 1 - labels().numpy()):
        graded = jax.numpy.asarray(grades)
        compiled.clear()
        ready = Evaluator(graded, fifteen("expected"))
        listed = [ready(values).mean() for values in inputs]
        host = Evaluator(grades, fifteen("expected"))
        for means, values in zip(listed, inputs, strict=True):
            assert means == pytest.approx(host(np.asarray(values)).mean(), abs=1e-12)
        assert ready.road.endswith("tables, by a compiled function")

    assert not [event for event in compiled if "backend_compile" in event]


def test_roads() -> None:
    """It is reported which measures were computed where, and why."""
    ready = Evaluator(labels((900, 120)), "nDCG@10 GAP", ties="input")
    assert ready.road == ""
    ready(scores("different", 2, (900, 120)))
    assert ready.road == (
        "nDCG@10: tables, by one operation after another; "
        "GAP: NumPy, because tables have no operations for that"
    )
    ready(scores("different", 2, (900, 120)).numpy())
    assert "in the memory of the host" in ready.road
    best = Evaluator(labels((9, 120)), "RR", ties="best")
    best(scores("different", 2, (9, 120)))
    assert best.road == "RR: NumPy, because the options are for lists"
