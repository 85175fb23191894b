"""User models by name: ours, and those that users register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.measures.adaptive_walks import AP, BPM, INST, NERR8, NERR9, NERR10, NERR11, RR, TBG
from rankstone.measures.own_walks import OwnWalk
from rankstone.measures.parts import Vocabulary
from rankstone.measures.weighted_walks import INSQ, RBP, SDCG, P, U

if TYPE_CHECKING:
    from rankstone.measures.own_walks import Continuation
    from rankstone.measures.walks import Walk

__all__ = ["MODELS", "OWN_WALKS", "WALKS", "register_continuation", "walk_of"]

#: our models by name
WALKS: Final[dict[str, type[Walk]]] = {
    kind.__name__: kind
    for kind in (P, RBP, SDCG, RR, AP, INSQ, INST, BPM, NERR8, NERR9, NERR10, NERR11, TBG, U)
}

#: models that users have registered, by the word that names them
OWN_WALKS: Final[dict[str, type[Walk]]] = {}

MODELS: Final = Vocabulary(tuple(WALKS), OWN_WALKS)


def walk_of(model: str) -> type[Walk]:
    """Return the kind of walk that a word names."""
    return WALKS[model] if model in WALKS else OWN_WALKS[model]


def register_continuation(word: str, continuation: Continuation) -> None:
    """Give a user model of your own a word: ``CWL(model=word, max_grade=3)``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    continuation
        Takes ranks from 1, the gain at each (0 to 1), and what has been gained down to it and with it, all
        float64 ``[n]``; returns the chance, 0 to 1, that a reader goes on to the next rank.

    Examples
    --------
    >>> import rankstone
    >>> register_continuation("fickle", lambda rank, gain, gained: 0.5 * (1 - gain))
    >>> rankstone.evaluate(
    ...     {"q": {"d": 1}}, {"q": ["c", "d"]}, "CWL(gain=binary, model=fickle, output=ED)"
    ... ).to_dict()  # rank 1, and half of the time rank 2
    {'run': {'CWL(gain=binary, model=fickle, output=ED)': 1.5}}
    >>> del OWN_WALKS["fickle"]
    """
    kind = type(word, (OwnWalk,), {"continuation": staticmethod(continuation), "goes_on_by": "your own"})
    MODELS.add(word, kind, "model")
