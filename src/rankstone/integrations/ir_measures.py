"""ir_measures: a provider, so that its measures, and PyTerrier's ``Experiment``, run on rankstone."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from rankstone.errors import BadParameter, MissingExtra
from rankstone.evaluation.request import checked, of_rankings

__all__ = ["install", "measure", "provider"]


def install() -> None:
    """Let ir_measures ask rankstone first, for every measure both know; whatever else it asks as ever.

    From then on ``ir_measures.calc_aggregate``, ``iter_calc`` and PyTerrier's ``Experiment`` run on
    rankstone, with ir_measures' own numbers, and take :func:`measure`.  (Registering a provider alone
    changes nothing: the default choice is a fixed list.)
    """
    providers = needed().DefaultPipeline.providers
    if provider() not in providers:
        providers.insert(0, provider())


def measure(text: str, **options: Any) -> Any:  # noqa: ANN401 - ir_measures.Measure
    """Return a measure of ours for ir_measures and PyTerrier, which call it ``rankstone:nDCG@10``.

    Parameters
    ----------
    text
        One measure: ``"nDCG(gain=exp2, ideal=list)@10"``.
    **options
        Options of alignment, as for :func:`rankstone.evaluate`: ``ties``, ``empty``, ``unjudged``, ….
    """
    asked, *more = of_rankings(text)
    if more:
        raise BadParameter("one measure at a time", given=text)
    checked(options, [asked])
    if getattr(asked, "agg", "mean") != "mean":
        raise BadParameter(f"{asked} is no mean, and ir_measures takes means", fix="leave agg out")
    needed()
    from rankstone.integrations.ir_measures_provider import Ours

    return Ours(asked, options)


@cache
def provider() -> Any:  # noqa: ANN401 - ir_measures.Provider
    """Return the provider, to be asked by itself: ``provider().calc_aggregate([nDCG @ 10], qrels, run)``."""
    needed()
    from rankstone.integrations.ir_measures_provider import Rankstone

    return Rankstone()


def needed() -> Any:  # noqa: ANN401 - a module
    """Return ir_measures; say how to install it where it is missing."""
    try:
        return import_module("ir_measures")
    except ImportError as error:
        raise MissingExtra("ir_measures is not installed", fix="pip install ir-measures") from error
