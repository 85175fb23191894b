"""trec_eval's texts for measures, read and written.

.. code-block:: text

    map   P_10   P.5,10   iprec_at_recall_0.10   utility.2,-1,0,0   ndcg.1=3,2=9   official
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rankstone.measures.trec_table import NICKNAMES, TREC, TrecMeasure

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.measures.named import Named

__all__ = ["continues", "expanded", "name_of", "taken_apart"]

_FOLDED: Final = {name.lower(): name for name in TREC}
_VALUE: Final = r"-?(?:\d+\.?\d*|\.\d+)"
_SHAPE: Final = re.compile(
    rf"(?P<name>[A-Za-z0-9_]+?)(?:[_.](?P<given>(?:\w+=)?{_VALUE}(?:,(?:\w+=)?{_VALUE})*))?"
)
_NEXT: Final = re.compile(rf"(?:\w+=)?{_VALUE}(?=[,\s]|$)")


def taken_apart(text: str) -> tuple[str, str | None] | None:
    """Return the name and the parameters of a text in trec_eval's grammar; ``None`` for any other text.

    >>> taken_apart("P.5,10"), taken_apart("11pt_avg"), taken_apart("nDCG@10")
    (('P', '5,10'), ('11pt_avg', None), None)
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    if text in NICKNAMES:
        return text, None
    name = _FOLDED.get(shape["name"].lower())
    if name is None and (name := _FOLDED.get(text.lower())):
        return name, None
    return None if name is None else (name, shape["given"])


def continues(word: str, rest: str) -> bool:
    """Say whether a comma between two pieces of text divides parameters, and not measures."""
    apart = taken_apart(word)
    return apart is not None and apart[1] is not None and _NEXT.match(rest) is not None


def expanded(text: str) -> list[str] | None:
    """Return our texts for one of trec_eval's; ``None`` when it is none of them.

    >>> expanded("P.5,10"), expanded("set_F_0.25"), expanded("nDCG@10")
    (['P@5', 'P@10'], ['F(beta=0.5)'], None)
    """
    apart = taken_apart(text)
    if apart is None:
        return None
    name, given = apart
    pairs = [pair for one in NICKNAMES.get(name, (name,)) for pair in TREC[one].texts(given)]
    return [ours for _, ours in pairs if ours]


def name_of(measure: Named) -> str | None:
    """Return trec_eval's name of a measure, as it prints it; ``None`` where it has none.

    Names with recall levels mean what version 10 makes of them.
    """
    text = str(measure)
    if text == "P":  # over the whole list there is no other denominator
        return "set_P"
    for trec in TREC.values():
        for given in _guesses(trec, measure):
            for name, ours in trec.texts(given):
                if ours == text:
                    return name
    return None


def _guesses(trec: TrecMeasure, measure: Named) -> list[str | None]:
    """Return the parameters with which a name may stand for a measure."""
    if trec.values == "cutoffs":
        return [] if measure.k is None else [str(measure.k)]
    if trec.values == "shares":
        share = getattr(measure, "recall", getattr(measure, "multiple", None))
        return [] if share is None else [f"{share:.15g}"]
    if trec.values == "none":
        return [None]
    guess = _GUESSES.get(trec.values if trec.values != "coefficients" else trec.name)
    try:
        return [None] if guess is None else [None, guess(measure)]
    except (AttributeError, TypeError):  # another kind of measure, or without such a parameter
        return [None]


#: parameters as trec_eval writes them, from a measure that may be of another kind
_GUESSES: Final[dict[str, Callable[[Any], str]]] = {
    "persistence": lambda m: f"p={m.p:.15g}",
    "gains": lambda m: ",".join(f"{grade:g}={gain:.15g}" for grade, gain in m.gain.gains),
    "set_F": lambda m: f"{round(m.beta**2, 12):.15g}",
    "utility": lambda m: ",".join(f"{getattr(m, name):.15g}" for name in "abcd"),
    "11pt_avg": lambda m: ",".join(f"{point:.15g}" for point in m.recalls),
}
