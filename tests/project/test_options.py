"""Options are defined once: signatures, click options, help and files agree with the fields."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from tests.spine import measured

import rankstone
from rankstone import AlignmentOptions, demo
from rankstone.cli.declaring import declare
from rankstone.cli.options import ALIGNMENT, ORDERING, WITHOUT_JUDGMENTS
from rankstone.comparison.settings import ComparisonSettings, SettingsKeywords
from rankstone.evaluation import EvaluationKeywords
from rankstone.hits.alignment_options import (
    CHOICES,
    IMPUTATIONS,
    ORDERINGS,
    AlignmentKeywords,
    OrderingKeywords,
    described,
)

KINDS: dict[str, type] = {"N": int, "SCORE": float}


def test_keywords_are_the_fields() -> None:
    """The names and types that an editor completes are those of the dataclass."""
    kinds = {field.name: get_args(field.type)[0] for field in fields(AlignmentOptions)}
    assert AlignmentKeywords.__annotations__ == kinds
    assert AlignmentKeywords.__required_keys__ == frozenset()
    for name, words in ORDERINGS.items():
        assert set(words) <= set(CHOICES[name])
    assert set(OrderingKeywords.__annotations__) <= set(kinds)


def test_the_first_value_of_an_option_is_its_default() -> None:
    """So help says it, for every option that is a choice among words."""
    for field in fields(AlignmentOptions):
        if field.name in CHOICES:
            assert CHOICES[field.name][0] == field.default, field.name


@pytest.mark.parametrize(
    ("names", "changes", "kinds"),
    [
        (ALIGNMENT, {}, AlignmentKeywords),
        (ORDERING, WITHOUT_JUDGMENTS, OrderingKeywords),
    ],
)
def test_click_options_are_the_fields(names: str, changes: Any, kinds: Any) -> None:
    """Every option is a flag with all its values, in the order of the fields, and nothing else is."""
    made = declare("any", {}, names, but=changes)(lambda **_: None).params
    # which stands beside --exclude, in the commands that have it
    about = [
        entry
        for entry in described(kinds.__annotations__)
        if entry.name != "exclude_from"
    ]
    assert [entry.name for entry in made] == [entry.name for entry in about]
    for flag, item in zip(made, about, strict=True):
        assert isinstance(flag, click.Option)
        assert flag.opts == [f"--{item.name.replace('_', '-')}"]
        assert flag.metavar is not None
        values = flag.metavar.replace(
            "(query|doc|global)_(mean|median)", "|".join(IMPUTATIONS)
        )
        assert (values, flag.help) == ("|".join(item.values), item.help)
        assert flag.default is None or flag.default is click.core.UNSET  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", list(AlignmentKeywords.__annotations__))
def test_every_option_is_documented(name: str) -> None:
    """The docstring of the class has a paragraph for each field, and each field a line of help."""
    assert f"\n{name}\n" in str(inspect.getdoc(AlignmentOptions))
    assert all(item.help for item in described())
    assert f"\n    {name}  {{" in str(inspect.getdoc(rankstone.evaluate))


def test_help_names_every_option() -> None:
    """`help(rankstone.evaluate)` shows what a signature of keywords leaves out: names, values, defaults."""
    shown = " ".join(str(rankstone.evaluate.__doc__).split())
    for item in described():
        assert (
            f"{item.name} {{{', '.join(item.values)}}}, default {item.default}:"
            in shown
        )
    for name in EvaluationKeywords.__annotations__:
        assert name in shown


def test_keywords_of_evaluation_are_what_prepared_reads() -> None:
    """The names that verbs take by keyword are those that judgments are prepared with."""
    read = inspect.signature(rankstone.Prepared._read).parameters  # noqa: SLF001 - what its keywords come to
    own = {
        name
        for name, value in read.items()
        if value.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert set(EvaluationKeywords.__annotations__) == own | set(
        AlignmentKeywords.__annotations__
    )
    assert set(SettingsKeywords.__annotations__) == {
        field.name for field in fields(ComparisonSettings)
    }


def test_the_way_to_the_number_is_short() -> None:
    """From the command to the contributions of a measure no more than 14 functions of ours are called."""
    qrels, run = (
        str(Path(demo.__file__).parent / name) for name in ("qrels.txt", "bm25.run")
    )
    _, spine = measured(["eval", qrels, run, "-m", "nDCG@10 AP"])
    assert len(spine) <= 14, spine
