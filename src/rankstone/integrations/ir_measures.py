"""ir_measures: a provider, so that its measures, and PyTerrier's ``Experiment``, run on rankstone."""

from __future__ import annotations

from functools import cache
from typing import Any

from rankstone.errors import BadParameter, installed
from rankstone.evaluation.request import checked, of_rankings

__all__ = ["install", "measure", "provider"]


def install() -> None:
    """Make ir_measures compute all measures that rankstone has with rankstone; others as before.

    From then on ``ir_measures.calc_aggregate``, ``iter_calc`` and PyTerrier's ``Experiment`` run on
    rankstone, with ir_measures' own numbers, and take :func:`measure`.  (Registering a provider alone
    changes nothing: the default choice is a fixed list.)
    """
    providers = needed().DefaultPipeline.providers
    if provider() not in providers:
        providers.insert(0, provider())


def measure(text: str, **options: Any) -> Any:  # noqa: ANN401 - ir_measures.Measure
    """Return a measure of rankstone for ir_measures and PyTerrier, which name it ``rankstone:nDCG@10``.

    Parameters
    ----------
    text
        One measure: ``"nDCG(gain=exp2, ideal=list)@10"``.
    **options
        Options of alignment, as for :func:`rankstone.evaluate`: ``ties``, ``empty``, ``unjudged``, ….
    """
    parsed, *more = of_rankings(text)
    if more:
        raise BadParameter("one measure at a time", given=text)
    checked(options, [parsed])
    if getattr(parsed, "agg", "mean") != "mean":
        raise BadParameter(
            f"{parsed} is not a mean, and ir_measures needs means", fix="leave agg out"
        )
    needed()
    from rankstone.integrations.ir_measures_provider import Ours

    return Ours(parsed, options)


@cache
def provider() -> Any:  # noqa: ANN401 - ir_measures.Provider
    """Return the provider, for direct use: ``provider().calc_aggregate([nDCG @ 10], qrels, run)``."""
    needed()
    from rankstone.integrations.ir_measures_provider import Rankstone

    return Rankstone()


def needed() -> Any:  # noqa: ANN401 - a module
    """Return ir_measures; raise an error that says how to install it if it is missing."""
    return installed("ir_measures", "ir_measures", "pip install ir-measures")
