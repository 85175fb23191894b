"""One table of options: a name means the same in every command, and the page shows what there is."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner
from docs.making.options import declared, with_table
from tests.command_line import commands, exit_code

import rankstone
from rankstone import boards, collections, demo, online
from rankstone.cli import cli
from rankstone.cli.declaring import Option
from rankstone.cli.options import ALIGNMENT, DIFFERS, PANELS

if TYPE_CHECKING:
    from collections.abc import Callable

#: command → the public function that it calls
VERBS: dict[str, Callable[..., Any]] = {
    "abstain": rankstone.abstain,
    "baseline": rankstone.baseline,
    "beyond": rankstone.beyond,
    "board": boards.board,
    "bounds": rankstone.bounds,
    "check": rankstone.check,
    "collection": collections.collection,
    "compare": rankstone.compare,
    "curve": rankstone.curve,
    "diff": rankstone.diff,
    "online ab": online.ab,
    "online clicks": online.clicks,
    "online counterfactual": online.counterfactual,
    "online retention": online.retention,
    "power": rankstone.power,
    "reproduce": collections.reproduce,
    "slices": boards.slices,
    "stages": rankstone.stages,
    "thresholds": rankstone.thresholds,
}
ROOT = Path(__file__).resolve().parents[2]
#: the command line of another program, option by option
FOREIGN = {"trec-eval"}


def meaning(option: Option) -> tuple[Any, ...]:
    """Return everything that says what an option means."""
    return (
        option.declared,
        tuple(sorted(option.opts)),
        str(option.type),
        option.multiple,
        option.is_flag,
    )


def test_every_option_is_in_the_table() -> None:
    """No command declares an option of its own; each option of the table has a command."""
    names = set()
    for name, command in commands().items():
        for param in command.params:
            if isinstance(param, click.Option) and name not in FOREIGN:
                assert isinstance(param, Option), f"{name}: {param.opts}"
                names.add(param.listed)
    assert names == {name for options in PANELS.values() for name in options}


def test_a_name_has_one_meaning() -> None:
    """The text is the same in all commands; values, defaults and types are, but where the table says why."""
    names = [name for options in PANELS.values() for name in options]
    assert len(names) == len(set(names))
    differing = set()
    for name, ways in declared().items():
        assert len({option.declared.text for _, option in ways}) == 1, name
        if len({meaning(option)[:1] + meaning(option)[2:] for _, option in ways}) > 1:
            differing.add(name)
    keywords = {
        "queries"
    }  # handed to Python under another name, and the same to the user
    assert differing - keywords == set(DIFFERS)


def shown_default(option: Option) -> str:
    """Return the default that the help shows: the first of its words, unless another one is named."""
    words = option.declared.values.split("|")
    return option.declared.shown or (words[0] if len(words) > 1 else "")


def is_as_shown(default: object, text: str) -> bool:
    """Return True if the help shows a default, perhaps with when it is another one."""
    if isinstance(default, tuple):
        return text == ",".join(map(str, default))
    first = text.split(";", maxsplit=1)[0]
    if isinstance(default, float):
        return float(first) == default
    return first == str(default)


def test_the_help_shows_the_defaults_of_the_functions() -> None:
    """Where a function has a value that is used unless another is given, its option shows this value."""
    tried = 0
    for name, verb in VERBS.items():
        parameters = inspect.signature(verb).parameters
        for option in commands()[name].params:
            parameter = parameters.get(option.name or "")
            if not isinstance(option, Option) or parameter is None:
                continue
            default = parameter.default
            if default in (None, False, (), ..., inspect.Parameter.empty):
                continue
            shown = shown_default(option)
            assert is_as_shown(default, shown), f"{name} {option.opts[0]}: {default}"
            tried += 1
    assert tried > 50


def test_the_page_shows_the_table() -> None:
    """`make pages` has been run since an option changed."""
    page = (ROOT / "docs/options.md").read_text(encoding="utf-8")
    assert with_table(page) == page
    for name in declared():
        assert f"`--{name}`" in page, name


def test_help_is_in_sections_and_panels() -> None:
    """The commands stand in six sections; the options of alignment wait for --help-all."""
    shown = CliRunner().invoke(cli, ["--help"]).output
    sections = [
        "Score:",
        "Compare:",
        "Trust:",
        "Recommend, online and answers:",
        "Learn:",
        "Reference:",
    ]
    places = [shown.index(section) for section in sections]
    assert places == sorted(places)
    short = CliRunner().invoke(cli, ["eval", "--help"]).output
    everything = CliRunner().invoke(cli, ["eval", "--help-all"]).output
    assert "--help-all" in short
    for name in ALIGNMENT.split():
        assert f"--{name} " in everything, name
        assert f"  --{name} " not in short, name
    for panel in ("Measures:", "Statistics:", "Input:", "Output:"):
        assert panel in short, panel


def test_one_threshold_for_all_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--rel 2 is rel=2 in every measure that has a threshold, as trec_eval -l 2."""
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 2\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert (
        exit_code(
            ["eval", *files, "--rel", "2", "-m", "RR P@2 nDCG@2", "--format", "csv"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "RR(rel=2),0.5" in out
    assert "P(rel=2)@2,0.5" in out
    assert exit_code(["eval", *files, "--rel", "2", "-m", "nDCG@2"]) == 2
    assert "--rel changes none" in capsys.readouterr().err


def test_help_fits_on_a_screen() -> None:
    """What ``--help`` shows of a command has 50 lines at most; ``--help-all`` has the rest."""
    for name in commands():
        shown = CliRunner().invoke(cli, [*name.split(), "--help"], terminal_width=80)
        assert len(shown.output.splitlines()) <= 50, name


@pytest.mark.parametrize("words", [["-m", "RR", "P@1"], ["-m", "RR P@1"]])
def test_measures_may_be_words_of_their_own(words: list[str]) -> None:
    """``-m RR P@1`` as ``-m "RR P@1"``: no file is called P@1."""
    files = [str(path) for path in (demo.QRELS, demo.RUNS["bm25"])]
    output = CliRunner().invoke(cli, ["eval", *words, *files, "--quiet"]).output
    after = CliRunner().invoke(cli, ["eval", *files, *words, "--quiet"]).output
    assert output == after
    assert "P@1" in output.splitlines()[0]


def test_a_file_with_the_name_of_a_measure_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("AP").write_bytes(demo.RUNS["bm25"].read_bytes())
    words = ["eval", str(demo.QRELS), "-m", "RR", "AP", "--quiet"]
    lines = CliRunner().invoke(cli, words).output.splitlines()
    assert lines[0].split() == ["run", "RR"]
    assert lines[1].split()[0] == "AP"


def test_an_option_with_one_value_is_given_once() -> None:
    """No option of any command keeps the last of several values; lists and repeatable ones take them all."""
    tried: Counter[str] = Counter()
    for name, command in commands().items():
        for option in command.params:
            if not isinstance(option, click.Option) or option.is_flag:
                continue
            for spelling in option.opts:
                words = [*name.split(), option.opts[0], "1", spelling, "2"]
                done = CliRunner().invoke(cli, words)
                text = f"{option.opts[0]} is given 2 times"
                assert (str(done.exception) or "").startswith(
                    text
                ) is not option.multiple
                kind = "several" if option.multiple else "one"
                tried[kind] += 1
    assert tried["one"] > 400
    assert tried["several"] > 50


def test_a_flag_may_be_repeated() -> None:
    """It says the same twice."""
    files = [str(path) for path in (demo.QRELS, demo.RUNS["bm25"])]
    once = CliRunner().invoke(cli, ["eval", *files, "--quiet"], catch_exceptions=False)
    assert once.output
    twice = ["eval", *files, "--quiet", "--quiet"]
    assert CliRunner().invoke(cli, twice).output == once.output


def test_every_command_shows_all_its_options() -> None:
    """``--help-all`` is there for every command, and named in the help of those that hide options."""
    hiding = 0
    for name in commands():
        short, whole = (
            CliRunner().invoke(cli, [*name.split(), flag])
            for flag in ("--help", "--help-all")
        )
        assert whole.exit_code == 0, name
        hides = "--help-all shows" in short.output
        assert ("--help-all" in short.output) is hides, name
        assert (whole.output == short.output) is not hides, name
        hiding += hides
    assert hiding > 10
