"""Every fix that names an option, a command or Python: it was pasted and does what it says, or the reason is stated.

Rows are command lines on small files that lead to a message; its fix is pasted behind them.  Texts of fixes that no
row reaches stand in ``fixes_of_no_command.toml``, with the reason.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import pytest
from click.testing import CliRunner
from tests import pasted
from tests.cli.mistaken_files import write_mistaken_files
from tests.command_line import commands, exit_code
from tests.fix_places import FixText, fix_texts
from tests.strangers.pasting import command_name, options_of

from rankstone.cli import arguments
from rankstone.cli.arguments import with_flags
from rankstone.errors import BadParameter, UsageError, in_python
from rankstone.measures import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterator

#: values of options as Python writes them
_PYTHON: Final = r"--[a-z-]+ (?:[\[{(]|True\b|None\b)"
#: the fix that is pasted leads to the result
RESULT: Final = """
answers apart.jsonl
answers ids.jsonl
answers nuggets.jsonl
answers short.nuggets.jsonl -q q1
baseline qrels.csv a.csv --gain 0.1,0.2
beyond tied.csv --ties error
beyond twice.csv
board --pairs battles.csv --cluster judge,length --resamples 1000
board --pairs noties.csv --method davidson
board --pairs rare.csv --resamples 1000
board --pairs winners.csv --covariates position
board board.csv --versus a
board gaps.csv
board split.csv
board zeros.csv --estimate geometric_mean
bounds qrels.csv a.csv b.csv --extra keep
compare --scores wide.csv again=wide.csv
compare qrels.csv a.csv b.csv --format latex --table means --by kind
compare qrels.csv a.csv b.csv --names a=A
compare --scores measures-apart.csv --primary "AP RR"
compare qrels.csv a.csv b.csv c.csv --baseline a --correction tukey
compare qrels.csv a.csv b.csv c.csv --correction nemenyi --margin 0.1
compare qrels.csv a.csv b.csv c.csv -m "AP RR" --primary "AP RR" --correction hsd
compare qrels.csv s/1=a.csv s/2=b.csv t/1=c.csv t/2=a.csv --interval bca
conventions show zzz
curve qrels.csv a.csv --kind roc -m PR
curve zero-judged.csv a.csv -m "ROC(negatives=judged)" --empty error
eval --exact-run a.csv b.csv
eval --labeled labelled-noid.csv --ties docid_desc
eval --labeled labelled.csv --unjudged doc_mean
eval --labeled neg-labelled.csv -m nDCG --negative error
eval below.csv ideal.csv --negative keep -m nDCG
eval h.csv hr.csv
eval judged-twice.csv a.csv
eval negative.csv a.csv --negative error
eval one-judged.csv copied.csv --duplicates keep -m R
eval qrels.csv a.csv --ci --format trec
eval qrels.csv a.csv --convention ranx-0.3 --ties docid_desc
eval qrels.csv a.csv --wide
eval qrels.csv a.csv -m "AUC(negatives=candidates)" --unjudged condensed_keep_rank
eval qrels.csv a.csv -m AvgRelPosition --negative keep
eval qrels.csv a.csv -m Sources(column=text)@2 --documents documents.csv --unjudged condensed
eval qrels.csv a.csv -m Support --order input
eval qrels.csv empty-extra.json --extra error --no-results zero
eval qrels.csv empty-lists.json --no-results error
eval qrels.csv asked-twice.jsonl
eval qrels.csv extra.csv --extra error
eval qrels.csv long.csv
eval qrels.csv partial.csv --missing error
eval qrels.csv tags.run
eval qrels.csv tied.csv --ties error
eval qrels.csv twice.csv
eval qrels.txt a.run --columns item=doc_id
eval zero-judged.csv a.csv --empty error
explain qrels.csv a.csv
online ab orders.csv
online ab users.csv
online clicks clicks.csv --method click --smoothing 1,1
online clicks clicks.csv --min-propensity 0.5
online clicks clicks.csv --propensities 0.5
online clicks from0.csv
online clicks one-list.csv --method pbm
online clicks skip.csv
online clicks skip.csv --lists drop
online clicks unlinked.csv --method pbm
online interleave lists.csv --clicks clicked-x.csv
online retention berlin.parquet --registrations tokyo.parquet
online retention broken.csv
online retention dates.csv
online retention events.csv --day-origin 1 --days 0,1
online retention events.csv --registrations few.csv
online retention events.csv --registrations late.csv
online retention events.csv --registrations registered-twice.csv
online retention events.csv --registrations registrations.csv --tz Europe/Berlin
online retention events.csv --versus x
online retention ms.csv --time-unit s
online retention odd.csv
online retention outlier.csv
sampled one-judged.csv sampled.csv --catalogue-size 100000 --method cls -m R@1
sampled qrels.csv a.csv --catalogue-size 2
slices qrels.csv a.csv b.csv --queries queries.csv --attributes kind --min-size 50
trec-eval qrels.txt a.run -m rbp --compat 9
stages qrels.csv a.csv b.csv --answers graded-elsewhere.csv
stages qrels.csv a.csv b.csv --answers partly.csv
"""
#: the fix does what it says, and the next message is about something else
NEXT: Final = """
answers answers.csv
board split.csv --resample queries
curve qrels.csv a.csv -m "nDCG RR@1,2" -k 1..3 --which-k --target RR=0.5 --format csv
eval --exact-run a.csv
eval qrels.csv a.csv -m "nDCG@tokens(20)" --ties expected
eval qrels.csv a.csv -m AbstentionR --missing drop
sampled qrels.csv partial.csv --catalogue-size 100
slices qrels.csv a.csv --queries queries.csv --against zero
"""
#: the fix is a form to fill in, or says what to write
FORMS: Final = """
answers short.nuggets.jsonl --explain Support
beyond a.csv --by kind
beyond a.csv --convention ranx-0.3 -m ndcg@2
beyond a.csv --convention recbole-1.2 -m ndcg@2
beyond a.csv --items items.csv --history history.csv --explain Novelty@2
beyond a.csv --items items.csv -m "DP@2"
beyond a.csv --items one-item.csv -m "Gini(outside=count)@2"
board board.csv --estimate weighted
board ids.csv
board meas.csv
board nulls.csv law.csv --resample queries
bounds qrels.csv a.csv -m "R(agg=weighted)@2"
bounds qrels.csv a.csv -m Judged
bounds qrels.csv a.csv b.csv -m "R(agg=median)@2"
collection qrels.csv a.csv b.csv c.csv -m gmap
compare --scores
compare --scores dup.csv
compare --scores means.txt
compare qrels.csv
compare qrels.csv a.csv b.csv --cluster session
compare qrels.csv a.csv b.csv -m gmap
curve qrels.csv
curve qrels.csv a.csv -m PR --ties expected
diff a.csv b.csv --explain RBO
diff tied.csv b.csv --ties expected -m "Jaccard@2"
eval big.csv a.csv -m "nDCG(gain=exp2)"
eval qrels.csv
eval qrels.csv a.csv --convention recbole-1.2 -m ItemCoverage@2
eval qrels.csv a.csv --exclude-from judgments
eval qrels.csv a.csv --memory 1GB --unjudged doc_mean
eval qrels.csv a.csv -m "AP(judged_only=true)"
eval qrels.csv a.csv -m "AUC(negatives=catalogue)"
eval qrels.csv a.csv -m "Cost"
eval qrels.csv a.csv -m "ERR"
eval qrels.csv a.csv -m "ERR(max_grade=1)"
eval qrels.csv a.csv -m "ERR(min_rel=1)"
eval qrels.csv a.csv -m "RC(weight=log2,weight_on=ideal,ties=drop)"
eval qrels.csv a.csv -m "RC(weight_on=ideal)"
eval qrels.csv a.csv -m "Score@score"
eval qrels.csv a.csv -m "Utility(d=1)"
eval qrels.csv a.csv -m "nDCG(ideal=k_ones,gain=binary,pad=min_grade)@10"
eval qrels.csv a.csv -m "nDCG@score(0.5, crossing=skip)"
eval qrels.csv a.csv -m "nDCG@score(inf)"
eval qrels.csv a.csv -m Claims
eval qrels.csv a.csv -m "nsDCG(agg=weighted)@10"
eval qrels.csv a.csv -m "nsDCG@10"
eval qrels.csv a.csv -m RR_10
eval qrels.csv a.csv -m ndgc
eval qrels.csv a.csv a=b.csv
eval qrels.csv l1.csv
eval qrels.csv utf16.jsonl
eval spans.csv chunks.csv -m SpanPOmega
explain qrels.csv a.csv -q q1 -m Novelty
gate
identify --value 0.5
online ab ab.csv --planned 2024-01-31
online retention events.csv --show differences
online retention far.csv
online retention many.csv --by kind --show differences
online retention mixed.csv
power --deviation 0.2
power -d 0.02
reproduce a.csv b.csv --qrels-again qrels.csv
reproduce old third
sampled qrels.csv a.csv --catalogue-size 100 --ties expected
slices --scores sixty.csv --queries attributes.csv --min-size 5
slices qrels.csv
slices qrels.csv a.csv b.csv
trec-eval qrels.txt a.run -R prefs -m map
trec-eval qrels.txt twice.run
verify nocard.json
"""
#: what names an option, a command or Python
_COMMAND: Final = re.compile(
    r"--[a-z]|\brankstone[ .][a-z]+|(?<!\w)-[a-z] |\b[a-z_]+=\S|\w\(|pip install"
)
_ELSEWHERE: Final = Path(__file__).parent / "fixes_of_no_command.toml"

_ROWS: Final = {"result": RESULT, "another refusal": NEXT, "prose": FORMS}


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Note every text that is about to be written for a shell, as Python has it."""
    texts: list[str] = []
    as_flags = arguments.as_flags

    def note(text: str) -> str:
        texts.append(text)
        return as_flags(text)

    with monkeypatch.context() as patch:
        patch.setattr(arguments, "as_flags", note)
        yield texts


@cache
def named() -> list[FixText]:
    """Return the texts of fixes that name an option, a command or Python."""
    return [text for text in fix_texts() if _COMMAND.search(text.text)]


def left_out(text: FixText) -> str | None:
    """Return why no row reaches a text; ``None`` where no reason is stated."""
    for reason in tomllib.loads(_ELSEWHERE.read_text(encoding="utf-8"))["reasons"]:
        in_file = any(fnmatch(text.file, file) for file in reason.get("files", ()))
        if in_file or text.text in reason.get("texts", ()):
            return str(reason["why"])
    return None


def test_every_fix_was_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row ends as it says, and rows reach every text, but for those that are no commands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "2000")
    book = tmp_path / "book.jsonl"
    monkeypatch.setenv("RANKSTONE_PASTE", str(book))
    with CliRunner().isolation():
        write_mistaken_files()
    reached: set[FixText] = set()
    others: list[tuple[str, str, str]] = []
    foreign: list[tuple[str, set[str]]] = []
    for expected, lines in _ROWS.items():
        for line in lines.strip().splitlines():
            book.write_text("")
            with noted(monkeypatch) as texts, CliRunner().isolation():
                exit_code(shlex.split(line))
            entry = book.read_text().splitlines()[0]
            followed = json.loads(entry)
            if followed["ending"] != expected:
                others.append((line, followed["ending"], followed["fix"]))
            absent = options_named(followed["fix"]) - {*options_of(command_name(line))}
            if absent:
                foreign.append((line, absent))
            message = [followed["fix"], *texts]
            left = (text for text in named() if text not in reached)
            reached |= {text for text in left if any(map(text.matches, message))}
    assert others == []
    assert foreign == []
    lost = [text for text in named() if text not in reached and not left_out(text)]
    assert lost == []
    stale = [text for text in reached if text.text in _stated_reasons()]
    assert stale == []


def options_named(text: str) -> set[str]:
    """Return the options that a text names, but for those behind a command."""
    own = re.sub(r"rankstone [^;,]*|pip install.*", "", text)
    return {*re.findall(r"(?<![\w-])--[a-z][a-z-]*", own)}


@pytest.mark.parametrize(
    "line",
    [
        "abstain texts.json a.csv",
        "baseline texts.json a.csv",
        "beyond a.csv --qrels texts.json",
        "bounds texts.json a.csv",
        "check texts.json a.csv",
        "collection texts.json a.csv b.csv",
        "compare texts.json a.csv b.csv",
        "curve texts.json a.csv -m R -k 1..3",
        "eval texts.json a.csv",
        "explain texts.json a.csv -m RR -q q1",
        "identify texts.json a.csv --value 0.5",
        "power texts.json a.csv b.csv",
        "report texts.json a.csv b.csv -o report.html",
        "sampled texts.json a.csv --catalogue-size 100",
        "slices texts.json a.csv b.csv --queries texts.json",
        "stages texts.json a.csv b.csv",
        "thresholds texts.json a.csv",
        "trec-eval texts.json a.csv",
    ],
)
def test_no_command_names_an_option_that_it_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Where texts are expected, each command asks for documents by an option of its own, or by another command."""
    monkeypatch.chdir(tmp_path)
    with CliRunner().isolation():
        write_mistaken_files()
    expecting = [{"id": "q1", "query": "refunds?", "expected_text": "within days"}]
    Path("texts.json").write_text(json.dumps(expecting))
    with CliRunner().isolation() as (out, err, *_):
        assert exit_code(shlex.split(line)) == 3
        message = (out.getvalue() + err.getvalue()).decode()
    assert "--documents" in message
    assert options_named(message) <= {*options_of(command_name(line))}


def _stated_reasons() -> list[str]:
    reasons = tomllib.loads(_ELSEWHERE.read_text(encoding="utf-8"))["reasons"]
    return [text for reason in reasons for text in reason.get("texts", ())]


def test_what_is_left_out_is_there() -> None:
    """Each text that no row reaches is one of the package."""
    texts = {text.text for text in fix_texts()}
    assert [text for text in _stated_reasons() if text not in texts] == []


def test_options_of_fixes_exist() -> None:
    """Every option that a fix names is one of a command."""
    options = {option for name in commands() for option in options_of(name)}
    unknown = [
        (text.file, option)
        for text in fix_texts()
        if "pip install" not in text.text
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text.text)
        if option not in options
    ]
    assert unknown == []


def test_python_gets_python() -> None:
    """Outside the command line an option stands behind the name of a command, or beside its keyword."""
    shells = ("cli/*", "conventions/trec_eval/*")
    wrong = []
    for text in fix_texts():
        if any(fnmatch(text.file, shell) for shell in shells):
            continue
        plain = re.sub(
            r"\b(rankstone|trec_eval|ulimit|iconv|pip|zstd|unpack it first:) .*",
            "",
            text.text,
        )
        has_python = re.search(r"in Python|\w=|\w\(", plain) is not None
        if not has_python and re.search(r"(?<![\w-])--?[a-z]", plain):
            wrong.append(text)
    assert wrong == []


def test_python_gets_no_command() -> None:
    """Whoever calls from Python reads no whole command of the shell."""
    names = {name.split()[0] for name in commands()}
    shells = ("cli/*", "conventions/trec_eval/*")
    wrong = [
        text
        for text in fix_texts()
        if not any(fnmatch(text.file, shell) for shell in shells)
        and names & {*re.findall(r"\brankstone (\w+)", in_python(text.text))}
    ]
    assert wrong == []


def test_each_reader_gets_one_language() -> None:
    """Of a fix for both a shell sees no Python, and Python no option."""
    both = [text.text for text in fix_texts() if "in Python" in text.text]
    assert both
    at_a_shell = [
        in_python_is_left(with_flags(UsageError("", fix=fix))) for fix in both
    ]
    assert not any(at_a_shell)
    in_python = [str(UsageError("", fix=fix)) for fix in both]
    assert [fix for fix in in_python if in_python_is_left(fix)] == []
    assert [fix for fix in in_python if re.search(r"(?<![\w-])--[a-z]", fix)] == []


def in_python_is_left(text: str) -> bool:
    return "in Python" in text


def test_a_shell_gets_no_python() -> None:
    """Keywords of the command that runs are its options, and their values are as a shell takes them."""
    wrong = []
    tried = 0
    for name, command in commands().items():
        declared = {option.name for option in options_of(name).values()}
        keywords = "|".join(map(str, declared - {"columns", "form"}))
        keyword = re.compile(rf"(?<![\w.-])({keywords or '(?!)'})=(?=\S)")
        for text in fix_texts():
            # parameters of a measure are no options
            plain = re.sub(r"\w\([^()]*\)", "", text.text)
            if fnmatch(text.file, "measures/*") or not keyword.search(plain):
                continue
            tried += 1
            with click.Context(command, info_name=name):
                shown = with_flags(UsageError("", fix=plain))
            if keyword.search(shown) or re.search(_PYTHON, shown):
                wrong.append((name, text.file, shown))
    assert tried
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "fix", "doubt"),
    [
        ("eval q r", "use order='input'", "order= is Python"),
        ("eval q r", "add --order input (in Python order='input')", None),
        ("eval q r", "add --csv-seperator tab", "has no option --csv-seperator"),
        ("diff a b", "add --qrels FILE", "diff has no option --qrels"),
        ("diff a b", "rankstone beyond RUN --qrels FILE", None),
        ("eval q r", "choose a measure: AUC(negatives=judged)", None),
        ("eval q r", "use gain=linear or a gain table", None),
        ("eval q r", "rename it: add --columns order=doc_id", None),
    ],
)
def test_doubts(line: str, fix: str, doubt: str | None) -> None:
    """Python at a shell and options that the command lacks are found."""
    rows = [*pasted.doubts(line, fix)]
    assert len(rows) == (doubt is not None)
    assert all((doubt or "") in item for item in rows)


@pytest.mark.parametrize(
    ("refused", "fixed"),
    [
        ("nDCG(discount=geometric)@10", "nDCG(discount=geometric, p=0.8)@10"),
        ("nDCG(ideal=k_ones)@10", "nDCG(gain=binary, ideal=k_ones)@10"),
        ("nDCG(gain=binary, ideal=topk)", "nDCG(gain=binary, ideal=topk)@10"),
        ("nDCG(p=0.5)@10", "nDCG(discount=geometric, p=0.5)@10"),
        ("Prefs(nonrel=trec, when=one)", "Prefs(over=groups, nonrel=trec)"),
        ("alpha_DCG(alpha=0.1)", "alpha_DCG(alpha=0.1)@10"),
    ],
)
def test_measures_in_fixes(refused: str, fixed: str) -> None:
    """A measure that a fix writes has the cutoff and the parameters of the one that was refused."""
    with pytest.raises(BadParameter) as error:
        parse_measure(refused)
    assert f"write {fixed}" in str(error.value.fix)
    assert str(parse_measure(fixed)) == fixed
