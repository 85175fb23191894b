"""What each option adds to the difference between the numbers of two libraries."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rankstone.conventions.convention_files import choices, differences
from rankstone.conventions.evaluation_by_convention import values_by
from rankstone.conventions.library_convention import named
from rankstone.hits.alignment_options import AlignmentOptions

if TYPE_CHECKING:
    from rankstone.conventions.library_convention import Convention, Entry


#: option → the field of an entry with a rule for means
_RULES = {"nan": "undefined_propagates", "no_queries": "no_queries", "digits": "digits"}


class Effect(NamedTuple):
    """An option in which two libraries differ.

    Attributes
    ----------
    option
        The option; ``replay`` for a definition that only one of them has.
    first, second
        Its values in the two libraries.
    value
        The first library's number with the option of the second: ``None`` where it is undefined, a text where
        it is refused.
    """

    option: str
    first: object
    second: object
    value: float | str | None


def effects_of_options(
    first: Convention,
    second: Convention,
    measure: str,
    qrels: object,
    run: object,
    **options: Any,  # noqa: ANN401 - side tables
) -> list[Effect]:
    """Give the first library each differing option of the second, one at a time, and score the run.

    Effects of single options need not add up to the whole difference: options may act together.

    Parameters
    ----------
    first, second
        Two libraries that have the measure.
    measure
        Its text, which both can read.
    qrels, run, **options
        Judgments and one run, as for :func:`rankstone.evaluate`.
    """
    mine, theirs = _of_one_measure(first, measure), _of_one_measure(second, measure)
    effects = []
    for option, pair in differences(choices(mine), choices(theirs)).items():
        changed = _with_option(mine, theirs, option)
        if changed is None:
            continue
        library = replace(first, entries=(changed,))
        values = values_by([library], qrels, run, [changed.spelling], **options)
        value = values[changed.spelling][str(first)]
        effects.append(Effect(option, *pair, value))
    return effects


def _of_one_measure(library: Convention, measure: str) -> Entry:
    """Return a library's entry of a measure with its numbers in place."""
    reading = library.read(measure)[0]
    entry = reading.entry
    numbers = entry.match(reading.text)
    assert numbers is not None  # noqa: S101 - it was read by this entry
    return replace(entry, spelling=reading.text, also=(), ours=entry.ours_with(numbers))


def _with_option(first: Entry, second: Entry, option: str) -> Entry | None:
    """Return the first entry with one option of the second; ``None`` if that changes no number."""
    alignment = AlignmentOptions().as_dict()
    if option in alignment:
        value = second.options.get(option, alignment[option])
        return replace(first, options={**first.options, option: value})
    if option in _RULES:
        name = _RULES[option]
        return replace(first, **{name: getattr(second, name)})
    if option == "replay":
        return replace(first, ours=second.ours)

    mine, theirs = named(first.ours), named(second.ours)
    parameters = {parameter.name for parameter in fields(mine)}
    if type(mine) is not type(theirs) or option not in parameters:
        return None
    changed = replace(mine, **{option: getattr(theirs, option)})
    return replace(first, ours=str(changed))
