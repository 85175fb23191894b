"""Measures are typed: mypy, which reads this file with all others, accepts and refuses what it should."""

from __future__ import annotations

from typing import assert_type

import pytest

from rankstone import AP, DCG, RR, P, nDCG
from rankstone.errors import BadParameter
from rankstone.measures import CWL, IPrec, Threshold


def test_parameters_are_typed() -> None:
    """A threshold is given as a grade and kept as a threshold; a cutoff keeps the type of its measure."""
    assert_type(AP(rel=2), AP)
    assert_type(AP(rel=2).threshold, Threshold)
    assert_type(P(rel=2) @ 5, P)
    assert_type(nDCG @ 10, nDCG)
    assert_type(DCG(rel=1.5).threshold, Threshold | None)
    assert P(rel=2) @ 5 == P(rel=Threshold(2.0), k=5)
    assert str(IPrec(recall=0.1)) == "IPrec(recall=0.1)"
    assert str(CWL(model="P", gain="binary", k=3)) == "CWL(gain=binary, model=P)@3"


def test_slips_are_refused_by_the_type_checker() -> None:
    """Names and kinds of parameters that do not exist are type errors, and errors when they are run."""
    with pytest.raises(TypeError):
        AP(rell=2)  # type: ignore[call-arg]
    with pytest.raises(BadParameter):
        AP(rel="two")  # type: ignore[arg-type]
    with pytest.raises(BadParameter):
        RR(k="ten")  # type: ignore[arg-type]
