"""Labels and scores in arrays: checked, under ``negative``, and what is doubtful about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, noted
from rankstone.errors import BadValue
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.judgments import bad_grade
from rankstone.integrations.arrays.device_arrays import DeviceArray
from rankstone.io.exact_numbers import refuse_inexact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankstone._basics import Bools, Floats
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.integrations.arrays.array_layout import ArrayLayout
    from rankstone.integrations.arrays.array_libraries import Home
    from rankstone.integrations.arrays.device_arrays import Data

#: a flat array of so many rows is hardly one list
_HARDLY_ONE: Final = 200


def numbers_of(layout: ArrayLayout, values: NDArray[Any], what: str) -> Floats:
    """Return the numbers of an array list after list, float64."""
    layout.fits(values.shape, what)
    if values.dtype.kind not in "biuf":
        raise BadValue(
            f"{what} are not numbers",
            given=f"{values.dtype}",
            expected="an array of numbers",
        )
    numbers: Floats = layout.flat(values).astype(np.float64, copy=False)
    return numbers


def refuse_inexact_scores(layout: ArrayLayout, home: Home, scores: Data) -> None:
    """Refuse whole numbers that would tie as float64."""
    if str(scores.dtype).endswith("int64"):  # as NumPy, PyTorch and JAX call it
        numbers = home.host(scores)
        layout.fits(numbers.shape, "scores")
        refuse_inexact(pl.Series(layout.flat(numbers)), "score", layout.where)


def doubts(
    label: Floats | None, layout: ArrayLayout, options: AlignmentOptions, *, alone: bool
) -> list[str]:
    """Return sentences on labels that may not mean what they are taken for.

    Parameters
    ----------
    label
        The labels, list after list; ``None`` for labels on a device, which have been looked at.
    layout, options
        Their layout, and what labels below zero mean.
    alone
        True if nothing said which rows are a list.
    """
    sentences = []
    if label is not None and (fraction := _fractions_below_zero(label, options)).any():
        first = int(fraction.argmax())
        below = f"{int((label < 0).sum()):,} of {len(label):,} labels are below 0"
        sentences.append(
            f"{below} and count as unjudged, but {label[first]:g} ({layout.where(first)}) is no whole "
            "number, as padding is: are targets centred? Grades begin at 0: subtract the smallest label, or "
            "choose negative=zero"
        )
    rows = int(layout.offsets[-1])
    if alone and rows >= _HARDLY_ONE:
        sentences.append(
            f"all {rows:,} rows are one query, because neither qid nor sizes is given: qid= is the "
            f"query of each row, sizes= the length of each list, sizes=[{rows}] if they are one"
        )
    return sentences


def _fractions_below_zero(label: Floats, options: AlignmentOptions) -> Bools:
    with np.errstate(invalid="ignore"):
        below: Bools = (label < 0) & (options.negative == "unjudged")
        fractions: Bools = below & (label % 1 != 0)
    return fractions


def without_documents(layout: ArrayLayout, options: AlignmentOptions) -> list[str]:
    """Return a sentence on the empty lists, and what they are worth."""
    count = int((layout.lengths == 0).sum())
    decided = f"without documents: nothing relevant, so empty={options.empty} decides"
    return [noted(count, "list", decided)] if count else []


def settled(label: Floats, layout: ArrayLayout, options: AlignmentOptions) -> Floats:
    """Return the labels under ``negative``: NaN marks what counts as unjudged."""
    least = np.fmin.reduce(label, initial=np.inf)
    most = np.fmax.reduce(label, initial=-np.inf)
    if max(-least, most) > LARGEST_GRADE:
        index = int((np.abs(label) > LARGEST_GRADE).argmax())
        raise bad_grade("a label", label[index], layout.where(index), f"{label[index]}")
    if not least < 0 or options.negative == "keep":
        return label
    below = label < 0
    if options.negative == "error":
        raise BadValue(
            "a label below zero",
            where=layout.where(int(below.argmax())),
            fix="choose a meaning: negative=unjudged, zero or keep; or give a mask if it is padding",
        )
    instead = 0.0 if options.negative == "zero" else np.nan
    return np.where(below, instead, label)


def lowest(label: Floats) -> float:
    """Return the bottom of the scale; 0 if nothing is judged."""
    lowest = float(np.fmin.reduce(label, initial=np.inf))
    return lowest if np.isfinite(lowest) else 0.0


class DeviceLabels(Record):
    """Labels on a device.

    Attributes
    ----------
    values
        float64, list after list, an array of the library; NaN for unjudged documents.
    lowest, highest
        The bottom and the top of the grade scale.
    judged
        Whether all documents are judged.
    """

    values: Data
    lowest: float
    highest: float
    judged: bool


def labels_on_device(
    home: Home, labels: Data, layout: ArrayLayout, options: AlignmentOptions
) -> DeviceLabels | None:
    """Return labels under ``negative``, without a copy to the host but of a few numbers about them.

    Parameters
    ----------
    home
        The library and the device.
    labels
        An array of the library.
    layout, options
        Their layout, and what labels below zero mean.

    Returns
    -------
    DeviceLabels or None
        ``None`` for labels that need a word, or are refused, with the place of one: the host finds it.
    """
    library = home.library()
    with home.exactly():
        flat = layout.flat(home.data(labels))
        numbers = library.cast(flat, np.dtype(float))
        raw: Any = DeviceArray(numbers, library)
        instead = {"unjudged": np.nan, "zero": 0.0}.get(options.negative)
        label: Any = raw * 1.0  # the caller may change them
        if instead is not None:
            label = np.where(raw < 0, instead, raw)
        unjudged = np.isnan(label)
        doubtful = raw < 0
        if options.negative != "error":
            doubtful = doubtful & (np.floor(raw) != raw)
        facts: tuple[Any, ...] = (
            np.where(unjudged, np.inf, label),
            np.where(unjudged, np.inf, -label),
            np.where(unjudged, np.inf, -abs(raw)),
            np.where(unjudged, -1.0, 0.0),
            np.where(doubtful, -1.0, 0.0),
        )
        leasts = [fact.data.min().reshape(1) for fact in facts]
        together = library.function("concatenate", (tuple(leasts),), {})
        least, most, largest, some_unjudged, in_doubt = together.tolist()
    doubted = in_doubt and options.negative in ("unjudged", "error")
    if doubted or largest > LARGEST_GRADE:
        return None
    return DeviceLabels(
        values=label.data,
        lowest=least if np.isfinite(least) else 0.0,
        highest=max(-most, 0.0),
        judged=not some_unjudged,
    )
