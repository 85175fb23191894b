"""trec_eval 9.0.8 itself: its functions, as they lie in pytrec_eval's extension module.

pytrec_eval's Python interface reaches plain judgments only.  Called by their own names, the functions
behind it read files in every format and compute every measure, so that this is the peer for
preferences, judgment groups and summaries, too.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
import tempfile
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_long,
    c_void_p,
)
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

#: more documents than any list has
_ENDLESS = 2**62


class _Argument(Structure):
    _fields_: ClassVar[Any] = [("name", c_char_p), ("parameters", c_void_p)]


class _Settings(Structure):
    _fields_: ClassVar[Any] = [
        ("queries", c_long),
        ("summary", c_long),
        ("debug", c_long),
        ("only", c_char_p),
        ("relational", c_long),
        ("complete", c_long),
        ("judged_only", c_long),
        ("collection", c_long),
        ("level", c_long),
        ("depth", c_long),
        ("judgments", c_char_p),
        ("results", c_char_p),
        ("scaled", c_long),
        ("arguments", POINTER(_Argument)),
    ]


class _Value(Structure):
    _fields_: ClassVar[Any] = [("name", c_char_p), ("value", c_double)]


class _Values(Structure):
    _fields_: ClassVar[Any] = [
        ("query", c_char_p),
        ("queries", c_long),
        ("values", POINTER(_Value)),
        ("count", c_long),
        ("room", c_long),
    ]


class _List(Structure):
    _fields_: ClassVar[Any] = [
        ("query", c_char_p),
        ("tag", c_char_p),
        ("form", c_char_p),
        ("content", c_void_p),
    ]


class _Lists(Structure):
    _fields_: ClassVar[Any] = [
        ("count", c_long),
        ("room", c_long),
        ("each", POINTER(_List)),
    ]


class _Judged(Structure):
    _fields_: ClassVar[Any] = [
        ("query", c_char_p),
        ("form", c_char_p),
        ("content", c_void_p),
    ]


class _Judgments(Structure):
    _fields_: ClassVar[Any] = [
        ("count", c_long),
        ("room", c_long),
        ("each", POINTER(_Judged)),
    ]


class _Parameters(Structure):
    _fields_: ClassVar[Any] = [
        ("text", c_void_p),
        ("count", c_long),
        ("values", c_void_p),
    ]


class _Measure(Structure):
    pass


_ONE = POINTER(_Measure)
_Measure._fields_ = [
    ("name", c_char_p),
    ("explanation", c_char_p),
    ("start", ctypes.CFUNCTYPE(c_int, POINTER(_Settings), _ONE, POINTER(_Values))),
    (
        "compute",
        ctypes.CFUNCTYPE(
            c_int,
            POINTER(_Settings),
            POINTER(_Judged),
            POINTER(_List),
            _ONE,
            POINTER(_Values),
        ),
    ),
    (
        "add",
        ctypes.CFUNCTYPE(
            c_int, POINTER(_Settings), _ONE, POINTER(_Values), POINTER(_Values)
        ),
    ),
    (
        "average",
        ctypes.CFUNCTYPE(
            c_int, POINTER(_Settings), _ONE, POINTER(_Judgments), POINTER(_Values)
        ),
    ),
    ("print_query", c_void_p),
    ("print_all", c_void_p),
    ("parameters", POINTER(_Parameters)),
    ("index", c_long),
]

_READERS = {
    "qrels": "te_get_qrels",
    "qrels_jg": "te_get_qrels_jg",
    "prefs": "te_get_prefs",
    "qrels_prefs": "te_get_qrels_prefs",
}
#: keeps every buffer that C may still point at
_KEPT: list[Any] = []


@cache
def _library() -> Any:
    import pytrec_eval_ext

    # a copy has globals of its own: other tests set parameters of measures in the shared ones
    copied = shutil.copy(pytrec_eval_ext.__file__, tempfile.mkdtemp())
    return ctypes.PyDLL(copied)


@cache
def _measures() -> dict[str, Any]:
    count = c_int.in_dll(_library(), "te_num_trec_measures").value
    table = (_ONE * count).in_dll(_library(), "te_trec_measures")
    measures = {item.contents.name.decode(): item for item in table}
    _KEPT.append([(item, _copied(item)) for item in table if item.contents.parameters])
    return measures


def _copied(result: Any) -> tuple[Any, ...]:
    """Remember a measure's default parameters, which asking for others overwrites."""
    own = result.contents.parameters.contents
    return own.text, own.count, own.values


def trec_eval_9(
    qrels: Path, run: Path, names: list[str], **options: Any
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return ``{query: {name: value}}`` and ``{name: value over all}``.

    Parameters
    ----------
    qrels, run
        Files.  No query id may have been used before: trec_eval keeps what it knows of the last one.
    names
        ``["map", "P.5,10"]``.
    **options
        ``judgments`` (-R), ``level`` (-l), ``depth`` (-M), ``complete`` (-c), ``judged_only`` (-J),
        ``collection`` (-N).
    """
    form = options.pop("judgments", "qrels")
    settings = _Settings(
        relational=1,
        level=1,
        depth=_ENDLESS,
        judgments=form.encode(),
        results=b"trec_results",
    )
    for name, value in options.items():
        setattr(settings, name, int(value))
    chosen = _requested(settings, names)
    judged, lists = _Judgments(), _Lists()
    read = getattr(_library(), _READERS[form])
    assert read(byref(settings), str(qrels).encode(), byref(judged)) == 1
    assert (
        _library().te_get_trec_results(byref(settings), str(run).encode(), byref(lists))
        == 1
    )
    total = _Values(query=b"all")
    for item in chosen:
        item.contents.index = -2
        assert item.contents.start(byref(settings), item, byref(total)) == 1
    values = (_Value * max(total.count, 1))(
        *(total.values[position] for position in range(total.count))
    )
    query = _Values(values=values, count=total.count)
    place = {judged.each[position].query: position for position in range(judged.count)}
    numbers = {}
    for index in range(lists.count):
        mine = lists.each[index]
        if mine.query not in place:
            continue
        for value in values:
            value.value = 0.0
        query.query = mine.query
        for item in chosen:
            of = judged.each[place[mine.query]]
            assert (
                item.contents.compute(
                    byref(settings), byref(of), byref(mine), item, byref(query)
                )
                >= 0
            )
            item.contents.add(byref(settings), item, byref(query), byref(total))
        numbers[mine.query.decode()] = {
            value.name.decode(): value.value for value in values if value.name
        }
        total.queries += 1
    for item in chosen:
        item.contents.average(byref(settings), item, byref(judged), byref(total))
    summary = {
        total.values[position].name.decode(): total.values[position].value
        for position in range(total.count)
    }
    _KEPT.append((settings, judged, lists, total, values))
    return numbers, summary


def _requested(settings: _Settings, names: list[str]) -> list[Any]:
    """Return the measures in their order, and hand their parameters over."""
    known = _measures()
    for first, (text, count, default) in _KEPT[0]:
        own = first.contents.parameters.contents
        own.text, own.count, own.values = text, count, default
    inputs = [name.partition(".") for name in names]
    arguments = (_Argument * (len(inputs) + 1))()
    for argument, (name, _, parameters) in zip(
        arguments, [g for g in inputs if g[1]], strict=False
    ):
        buffer = ctypes.create_string_buffer(parameters.encode(), len(parameters) + 2)
        _KEPT.append(buffer)
        argument.name, argument.parameters = name.encode(), ctypes.addressof(buffer)
    settings.arguments = arguments
    _KEPT.append(arguments)
    wanted = {name for name, _, _ in inputs}
    assert wanted <= set(known), wanted - set(known)
    return [value for name, value in known.items() if name in wanted]


_numbers = itertools.count()


def fresh_id(stem: str) -> str:
    """Return a query id that was never used before."""
    return f"{stem}-{next(_numbers):06d}"
