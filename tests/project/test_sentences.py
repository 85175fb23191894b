"""Every sentence of every language is shown by a real result, and every result shows itself in all its states."""

from __future__ import annotations

import html
import json
import pkgutil
import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.night import NIGHT
from tests.phrase_uses import parts, read_by_scripts, sentences
from tests.states import CHARTED, PAGED, STATES

import rankstone
from rankstone import plots
from rankstone.reports.report_content import page_of
from rankstone.tables import page_text
from rankstone.tables.phrases import LANGUAGES, phrases
from rankstone.tables.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("altair", reason="charts need the extra: report")
pytest.importorskip("jinja2", reason="reports need the extra: report")

#: section → sentences that no result below reaches, and why
ARGUED: Final = tomllib.loads(
    (Path(__file__).with_name("unreached_sentences.toml")).read_text(encoding="utf-8")
)
#: results of a state that are shown in all formats, the others as text; they differ in their measures alone
_WHOLLY: Final = 12
#: formats of the sheet that text is one of: a state is shown in them in one language, the next in the other
_OF_SHEETS: Final[dict[str, Callable[[Any], str]]] = {
    "narrow text": lambda result: result.text(60),
    "Markdown": lambda result: result.to_markdown(),
    "HTML": lambda result: _words(result.to_html()),
    "LaTeX": lambda result: re.sub(r"[{}]", " ", result.to_latex()),
}
#: classes whose sheets take a language, since the result has none
_SPOKEN: Final = ("AssessorAgreement", "Identification", "Scores")
#: what a result computes when it is first read, the same in every language
_WITHOUT_WORDS: Final = ("by_test", "pool_bias")
#: a part that was not filled in, and values that are no words
_PARTS: Final = {
    part
    for value in sentences().values()
    for text in value.values()
    for part in parts(text)
}
_NO_WORDS: Final = re.compile(
    rf"\{{(?:{'|'.join(sorted(_PARTS))})\}}"
    r"|\bNone\b(?! of the| clearly better)|\b(?:nan|NaN)\b"
)
#: section → sentences of doubt, which are on the first screen wherever they are on the whole sheet
_CAUTIONS: Final[dict[str, set[str]]] = {
    "gate": {"risk", "risk_bounded", "rare_losses", "enough", "warning"},
    "footnotes": {*phrases("footnotes", "en")},
    "board": {
        *("few", "cannot_rank", "missing_skip", "missing_worst", "missing_model"),
        *("unsupported", "decides", "one_mind", "few_clusters", "unused_clusters"),
    },
    "slices": {
        *("none_rest", "none_zero", "visible", "cannot", "no_noise"),
        *("without_value", "left_out"),
    },
    "collection": {
        *("could_lead", "outside", "groups_moved", "few_groups", "no_unique"),
        "left_out",
    },
}
#: columns of a page on which no line is broken
_ENDLESS: Final = 100_000
#: public classes that no verb of this process returns
_ELSEWHERE: Final = {
    "OnlineResult": "the base class of results about users",
    "SparkScores": "needs a session of Spark: tests/spark prints it",
    "SparkComparison": "needs a session of Spark: tests/spark prints it",
}
#: chart → keyword arguments of functions that draw results of a class
_CHARTS: Final[dict[str, list[Callable[..., object]]]] = {
    "Comparison": [
        lambda result, _: plots.forest(result),
        lambda result, _: plots.differences(result),
        lambda result, _: plots.histogram(result),
        lambda result, _: plots.scatter(result),
    ],
    "Curves": [
        lambda result, lang: [
            plots.means(result, str(curve), lang=lang) for curve in result.curves
        ],
        lambda result, lang: plots.cloud(result, lang=lang),
    ],
    "Retention": [
        lambda result, lang: plots.retention_curve(result, lang=lang),
        lambda result, lang: plots.retention_heatmap(result, lang=lang),
        lambda result, lang: plots.retention_periods(result, lang=lang),
    ],
    "Board": [lambda result, _: plots.ranks(result)],
    "PairedBoard": [lambda result, _: plots.ranks(result)],
    "Slices": [lambda result, _: plots.slices(result)],
    "Collection": [lambda result, _: plots.topics(result)],
}


class Sentence(str):  # noqa: SLOT000 - it knows where it stands
    """A phrase that knows its place: section, name, language."""

    key: tuple[str, str, str]


@dataclass
class Shown:
    """What was shown of all states."""

    sentences: set[tuple[str, str, str]] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    formats: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    cautions: dict[tuple[str, str], str] = field(default_factory=dict)
    tried: set[tuple[str, str]] = field(default_factory=set)
    behind: list[str] = field(default_factory=list)

    def note(self, sentence: Sentence, words: str) -> None:
        """Note that a sentence is shown, and of one of doubt its words."""
        self.sentences.add(sentence.key)
        section, name, _ = sentence.key
        if name in _CAUTIONS.get(section, ()):
            self.cautions[section, name] = words

    def both_screens(self, result: Any) -> tuple[str, str]:
        """Return the whole sheet and the first screen, and note what of doubt only the former has."""
        self.cautions.clear()
        whole = result.text(140, verbose=True)
        cautions = {**self.cautions}
        first = result.text(_ENDLESS)
        self.tried |= {*cautions}
        self.behind += [
            f"{type(result).__name__}: {section} {name}: {words}"
            for (section, name), words in cautions.items()
            if words not in first
        ]
        return whole, first


@cache
def shown() -> Shown:
    """Show every state in every language and format."""
    seen = Shown()
    plain = {
        (section, lang): dict(phrases(section, lang))
        for section in sentences()
        for lang in LANGUAGES
    }
    fill_in = Formatter.vformat

    def noted(self: Formatter, text: str, *parts: Any) -> str:
        """Fill in the parts of a phrase, and note that it is shown."""
        filled = fill_in(self, text, *parts)
        if isinstance(text, Sentence):
            seen.note(text, filled)
        return filled

    Formatter.vformat = noted  # type: ignore[method-assign, assignment]
    try:
        for (section, lang), value in plain.items():
            for name, text in value.items():
                sentence = Sentence(text)
                sentence.key = section, name, lang
                phrases(section, lang)[name] = sentence
        for turn, (name, make) in enumerate(STATES.items()):
            made = make(LANGUAGES[-1])
            results = made if isinstance(made, list) else [made]
            for lang in LANGUAGES:
                # from those just shown, which know already what has no words
                results = [_in_language(result, lang) for result in results]
                wholly = NIGHT or lang == LANGUAGES[turn % len(LANGUAGES)]
                forms = _OF_SHEETS if wholly else {}
                for form, text in _texts(name, results, lang, seen, forms):
                    seen.formats[form] += 1
                    if match := _NO_WORDS.search(text):
                        around = text[max(match.start() - 60, 0) : match.end() + 60]
                        seen.wrong.append(f"{name}, {lang}, {form}: {around!r}")
    finally:
        Formatter.vformat = fill_in  # type: ignore[method-assign]
        for (section, lang), value in plain.items():
            phrases(section, lang).update(value)
    return seen


def _in_language(result: Any, lang: str) -> Any:
    """Return a result in another language, which a verb got and the result keeps."""
    names = _fields(result)
    if "lang" in names:
        other = replace(result, lang=lang)
        values = vars(result)
        vars(other).update(
            {name: values[name] for name in _WITHOUT_WORDS if name in values}
        )
        return other
    parts = {
        name: replace(part, lang=lang)
        for name in names
        if "lang" in _fields(part := getattr(result, name))
    }
    return replace(result, **parts) if parts else result


def _fields(value: Any) -> list[str]:
    return [item.name for item in fields(value)] if is_dataclass(value) else []


def _texts(
    name: str,
    results: list[Any],
    lang: str,
    seen: Shown,
    forms: dict[str, Callable[[Any], str]],
) -> Iterator[tuple[str, str]]:
    """Yield the name of each format, and what a reader reads in it."""
    seen.classes |= {type(result).__name__ for result in results}
    for index, result in enumerate(results):
        whole, first = seen.both_screens(result)
        yield "text", whole
        yield "first screen", first
        if type(result).__name__ in _SPOKEN:
            spoken = result.sheet(lang=lang)
            yield "text", page_text.text(spoken, 60)
            yield "text", page_text.text(spoken.verbose(), 140)
        if index >= _WHOLLY:
            continue
        for form, written in forms.items():
            yield form, written(result)
        report = json.loads(json.dumps(result.report(), default=str))
        for part in ("findings", "method", "notes"):
            if isinstance(report, dict) and part in report:
                yield "JSON", json.dumps(report[part], ensure_ascii=False)
        if type(result).__name__ == "Comparison":
            yield "caption", _caption(result, "superscript")
            yield "caption", _caption(result, "bold")
        if name in PAGED:
            yield "page", _words(page_of(result, lang=lang))
        for draw in _charts(result) if name in CHARTED else ():
            draw(result, lang)
            yield "chart", ""


def _caption(comparison: Any, marks: str) -> str:
    latex = comparison.to_latex("means", marks=marks, caption=True)
    return re.sub(r"[{}]", " ", latex)


def _words(page: str) -> str:
    """Return the words of a page, without its style, scripts and data."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def _charts(result: Any) -> Iterator[Callable[..., object]]:
    yield from _CHARTS.get(type(result).__name__, ())
    compared = type(result).__name__ == "Comparison"
    if compared and result.segments is not None:
        yield lambda outcome, _: plots.segments(outcome)
    if type(result).__name__ == "Board" and result.rule.estimate == "mean_rank":
        yield lambda outcome, _: plots.critical_difference(outcome)
    if compared and len(result.inputs) > 1:
        yield lambda outcome, _: plots.pr_curve(outcome)
        yield lambda outcome, _: plots.pr_curve(outcome, system=outcome.systems[0])
        yield lambda outcome, _: plots.at_k(outcome)


def test_every_result_shows_itself_in_every_state() -> None:
    """In all formats and languages, in turn, without parts that nothing fills in and values that are no words."""
    assert shown().wrong == []
    counts = ", ".join(f"{form} {count:,}" for form, count in shown().formats.items())
    print(f"{len(STATES)} states × {len(LANGUAGES)} languages: {counts}")  # noqa: T201


def test_no_caution_is_behind_an_option() -> None:
    """Sentences of doubt that ``-v`` shows are on the first screen, in every state that has them."""
    assert shown().behind == []
    every = {(section, name) for section, of in _CAUTIONS.items() for name in of}
    assert every == shown().tried


def test_every_public_result_has_states() -> None:
    """Whatever public verbs return: classes of results that any package names."""
    names = [
        room.name
        for room in pkgutil.iter_modules(rankstone.__path__, "rankstone.")
        if room.ispkg and room.name != "rankstone.cli"
    ]
    rooms = [rankstone, *map(import_module, names)]
    public = {
        value.__name__
        for room in rooms
        for name in getattr(room, "__all__", ())
        if isinstance(value := getattr(room, name), type) and issubclass(value, Result)
    }
    assert len(public) > 25
    assert public - shown().classes == _ELSEWHERE.keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sentence_is_shown_by_a_result(lang: str) -> None:
    """Those that none shows are listed in ``unreached_sentences.toml`` with the reason, and no others."""
    reached = {(section, name) for section, name, of in shown().sentences if of == lang}
    every = {
        (section, name)
        for section, sentence in sentences(lang).items()
        for name in sentence
    }
    argued = {
        (section, name)
        for section, of in ARGUED.items()
        for name in [*of["names"], *of.get("elsewhere", [])]
    }
    print(f"{len(every & reached)} of {len(every)} shown, {len(argued)} argued")  # noqa: T201
    assert sorted(every - reached) == sorted(argued)


def test_scripts_read_what_only_they_show() -> None:
    """The argument of the list holds."""
    pages = sentences()["pages"]
    read = read_by_scripts(pages)
    assert {*ARGUED["pages"]["names"]} <= read
    assert not {*ARGUED["pages"]["elsewhere"]} & read
    assert all(of["why"] for of in ARGUED.values())
