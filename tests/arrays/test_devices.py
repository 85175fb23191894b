"""Arrays of other libraries have the values of NumPy's, in memory and on a device.

There need not be a device: the library's own arrays in memory then stand for those on one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pytest
from tests.arrays.test_functional import TEXTS, drawn, usable
from tests.night import part

from rankstone.errors import InputError
from rankstone.integrations.arrays import array_libraries as libraries
from rankstone.integrations.arrays import evaluate

pytestmark = pytest.mark.arrays

#: what no device does: a loop over lists, a search, unjudged places, ideal lists of further lengths
ON_THE_HOST = (
    "AUC(negatives=candidates, unreturned=exclude)@3",
    "BPM",
    "CWL",
    "CitationP",
    "CitationR",
    "Compat",
    "G",
    "GAP",
    "IAP",
    "IDCG",
    "INST",
    "IPrec",
    "NERR10",
    "NERR11",
    "NERR8",
    "NERR9",
    "O_measure",
    "P_measure",
    "P_plus",
    "Q",
    "RC",
    "Rndcg",
    "Support",
    "binG",
    "infAP",
    "ndcg_rel",
)
TIES: Final[tuple[Literal["expected", "input"], ...]] = ("expected", "input")
SEVERAL = "nDCG@3 nDCG(gain=exp2) AP AP@3 RR P@2 R@3 Success@1 RBP(p=0.8) Bpref AUC(negatives=judged)"


def torch_array(values: Any) -> Any:
    return pytest.importorskip(
        "torch", reason="PyTorch is not installed: make arrays"
    ).from_numpy(values)


def jax_array(values: Any) -> Any:
    jax = pytest.importorskip("jax", reason="JAX is not installed: make arrays")
    with jax.enable_x64(True):
        return jax.numpy.asarray(values)


LIBRARIES = {
    "torch": (torch_array, libraries._Torch),  # noqa: SLF001
    "jax": (jax_array, libraries._Jax),  # noqa: SLF001
}


@pytest.fixture(params=["memory", "device"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let arrays in memory count as far away."""
    if request.param == "device":
        for _, home in LIBRARIES.values():
            monkeypatch.setattr(home, "near", False)
    return str(request.param)


def layouts(seed: int) -> list[tuple[Any, Any, dict[str, Any]]]:
    """Draw lists of many lengths, the same padded, and lists all of one length without ties."""
    scores, labels, sizes = drawn(seed)
    mask = np.arange(9) < sizes[:, None]
    padded, grades = np.full(mask.shape, np.nan), np.zeros(mask.shape)
    padded[mask], grades[mask] = scores, labels
    draw = np.random.Generator(np.random.Philox(seed))
    square = draw.normal(size=(8, 12)), draw.choice([0.0, 0.0, 1.0, 2.0], (8, 12))
    return [
        (scores, labels, {"sizes": sizes}),
        (padded, grades, {"mask": mask}),
        (*square, {}),
    ]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ties", ["expected", "input"])
def test_same_values(library: str, ties: Literal["expected", "input"]) -> None:
    """Values, statuses and means are NumPy's, and values come back as the library's arrays."""
    array = LIBRARIES[library][0]
    for scores, labels, lay in layouts(1)[
        0 if library == "torch" else 2 :
    ]:  # JAX compiles every shape
        for measures in (
            SEVERAL if library == "torch" else "nDCG",
            "nDCG@3 RR@2 P@1",
        ):  # the second looks at the first three ranks alone
            expected = evaluate(scores, labels, measures, ties=ties, **lay)
            evaluation = evaluate(
                array(scores), array(labels), measures, ties=ties, **lay
            )
            shown = evaluation.to_frame()
            assert shown.drop("value", "numerator", "denominator").equals(
                expected.to_frame().drop("value", "numerator", "denominator")
            )
            for text, values in expected.values.items():
                assert type(evaluation.values[text]) is type(array(scores))
                np.testing.assert_allclose(
                    np.asarray(evaluation.values[text]), values, rtol=0, atol=1e-12
                )
                np.testing.assert_array_equal(
                    evaluation.status[text], expected.status[text]
                )
                assert evaluation.mean()[text] == pytest.approx(
                    expected.mean()[text], abs=1e-12
                )


def compare(
    library: str, text: str, ties: Literal["expected", "input"], lay: int
) -> None:
    """Assert that a measure has NumPy's values, statuses and means on a device."""
    if not usable(text, ties=ties):
        return
    array, home = LIBRARIES[library]
    scores, labels, layout = layouts(2)[lay]
    expected = evaluate(scores, labels, text, ties=ties, **layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "near", False)
        result = evaluate(array(scores), array(labels), text, ties=ties, **layout)
        means = [result.mean(), result.mean(exact=True)]

    assert result.warnings == expected.warnings
    for name, values in expected.values.items():
        on_device = np.asarray(result.values[name])
        np.testing.assert_allclose(on_device, values, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(result.status[name], expected.status[name])
    for mean in means:
        assert mean == pytest.approx(expected.mean(), abs=1e-12, nan_ok=True)
    if ties == "input":
        name = text.partition("@")[0].partition("(")[0]
        assert result.dense is not None or {text, name} & set(ON_THE_HOST)


@pytest.mark.parametrize("text", TEXTS)
def test_every_measure_on_a_device(text: str) -> None:
    """Every measure has its value on a device, and nearly all of them compute it there."""
    for ties in TIES:
        for lay in range(3):
            compare("torch", text, ties, lay)


#: JAX compiles every row: so many stand for all, which the night tries
ROWS = [(text, ties, lay) for text in TEXTS for ties in TIES for lay in range(3)]


@pytest.mark.parametrize(("text", "ties", "lay"), part(ROWS, 37))
def test_every_measure_of_jax(
    text: str, ties: Literal["expected", "input"], lay: int
) -> None:
    """Every measure has its value on a device of JAX."""
    compare("jax", text, ties, lay)


def test_the_page_names_what_the_host_computes() -> None:
    """The measures that no device computes are listed where readers look for them."""
    page = Path(__file__).parents[2] / "docs" / "arrays.md"
    paragraphs = page.read_text(encoding="utf-8").split("- **")
    [paragraph] = [p for p in paragraphs if p.startswith("The host**")]
    listed = paragraph.partition("\n\n")[0]

    names = {name.partition("(")[0] for name in ON_THE_HOST}
    assert set(re.findall(r"`(\w+)`", listed)) == names


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("library", LIBRARIES)
def test_half_precision(library: str) -> None:
    """Half precision is widened, whole numbers are numbers."""
    scores, labels, lay = layouts(3)[2]
    half = LIBRARIES[library][0](scores.astype(np.float16))
    expected = evaluate(scores.astype(np.float16), labels, "nDCG@3", **lay).values[
        "nDCG@3"
    ]

    np.testing.assert_allclose(
        np.asarray(evaluate(half, labels, "nDCG@3", **lay).values["nDCG@3"]), expected
    )


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("library", LIBRARIES)
def test_mistakes(library: str) -> None:
    """A NaN is reported with its place, a wrong shape with both shapes."""
    array = LIBRARIES[library][0]
    with pytest.raises(InputError, match=r"\[1\], query 0: a score is NaN"):
        evaluate(array(np.array([1.0, np.nan])), [1, 0], "RR")
    with pytest.raises(InputError, match="do not fit the labels"):
        evaluate(array(np.array([1.0, 2.0])), [1, 0, 1], "RR")


@pytest.mark.usefixtures("place")
def test_gradients_stay_out() -> None:
    """Scores that carry gradients are scored; the graph is left alone."""
    scores = torch_array(np.array([[0.1, 0.9]])).requires_grad_()

    value = evaluate(scores, [[1, 0]], "RR").values["RR"]

    assert value.tolist() == [0.5]
    assert not value.requires_grad


def test_endless_scores_and_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document at -inf is not taken for what fills a row up."""
    monkeypatch.setattr(libraries._Torch, "near", False)  # noqa: SLF001
    scores = np.full((2, 8), -np.inf)
    scores[0, :3] = [2.0, 1.0, 0.5]
    mask = np.arange(8) < np.array([[8], [5]])
    labels = np.tile([0.0, 0, 0, 0, 1, 1, 1, 1], (2, 1))
    expected = evaluate(scores, labels, "nDCG@4 RR@4", mask=mask)

    evaluation = evaluate(torch_array(scores), labels, "nDCG@4 RR@4", mask=mask)

    for text, values in expected.values.items():
        np.testing.assert_allclose(
            np.asarray(evaluation.values[text]), values, rtol=0, atol=1e-12
        )
