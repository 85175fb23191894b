"""Files of strangers come in as well as recorded, and what decides that is right itself."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from tests.strangers.cases import BadCase, Case, Run, all_cases, read_case
from tests.strangers.outcomes import (
    OUTCOMES,
    RECORDED,
    decided,
    followed,
    looked_up,
    recorded,
    table,
    write,
)
from tests.strangers.pasting import (
    command_name,
    fixes,
    options_of,
    pasted_call,
    pasted_command,
)
from tests.strangers.running import Ending, attempt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALL: Final = all_cases()
RUNS: Final = {
    name: (case, run)
    for case in ALL
    for name, run in zip(case.run_names(), case.runs, strict=True)
}
RECORD: Final = recorded()
#: with processes those whose fix is pasted; a real shell reads the words of all the others, too
HERE: Final = [
    name
    for name in RUNS
    if not os.environ.get("RANKSTONE_SHELL") or RECORD.get(name) == "fixed"
]
AGAIN: Final = "`python -m tests.strangers` writes the outcomes of today"


@pytest.mark.parametrize("name", HERE)
def test_outcome(name: str) -> None:
    """A run comes out as recorded: no worse, and what is better is recorded, too."""
    trail = followed(*RUNS[name])
    before = RECORD.get(name)

    message = "\n".join(f"$ {text}\n{ending.text}" for text, ending in trail.steps)
    assert trail.outcome == before, f"was {before}; {AGAIN}\n{message}"


def test_every_run_is_recorded(tmp_path: Path) -> None:
    """The record has every run, no other, and is written as the command writes it."""
    assert RECORD.keys() == RUNS.keys(), AGAIN
    write(RECORD, tmp_path / "outcomes.toml")
    assert (tmp_path / "outcomes.toml").read_text() == RECORDED.read_text(), AGAIN


def test_what_held_holds() -> None:
    """Cases that held are read right, at once or with a fix: no record of today makes that worse."""
    held = [name for name, (case, _) in RUNS.items() if not case.fails]

    assert len(held) > 100
    assert {RECORD[name] for name in held} <= {"right", "fixed"}


COLUMNS: Final = "add --columns a=query_id,b=doc_id"
#: fix → what stands behind `eval q r` when it is pasted; None: nothing can be pasted
PASTED: Final = {
    f"rename them: {COLUMNS} (in Python columns={{'a': 'query_id'}})": "--columns a=query_id,b=doc_id",
    "rename it: add --columns 'a b=query_id' (in Python …)": "--columns 'a b=query_id'",
    'name it: --columns "qrels.a b=relevance,run.a b=score"': '--columns "qrels.a b=relevance,run.a b=score"',
    "rename it: add --columns THEIRS=query_id, with the name of the column": None,
    "if one is in the judgments: qrels.THEIRS=doc_id,run.THEIRS=doc_id": None,
    "these look like JSON lines: add --format-in jsonl": "--format-in jsonl",
    "looks like TREC text: --format-in trec, or a name that ends in .txt": "--format-in trec",
    "remove it, or add --format-in csv": "--format-in csv",
    "--format-in gives the format where the suffix does not": None,
    "ranks give the order; --order score uses the scores": "--order score",
    "use --order input": "--order input",
    "use --order sideways, or --order rank": "--order sideways",
    "add --columns a=score --order input": "--columns a=score --order input",
    "add --columns a=score and --order input; or --order rank": "--columns a=score --order input",
    "choose its value: --no-results missing, zero, …": "--no-results missing",
    "is ; the separator? --csv-separator ';' (in Python csv_separator=';')": "--csv-separator ';'",
    "add --decimal , if it is a fraction": "--decimal ,",
    "treat all lists as one: add --one-group": "--one-group",
    "judgments and at least one run: --labeled FILE": None,
    "choose columns with --by, or add --queries FILE": None,
    "repair or remove the row": None,
    "save it as UTF-8: iconv -f windows-1252 -t utf-8 FILE > NEW": None,
    "rankstone eval QRELS A B --per-query scores.parquet": None,
}


@pytest.mark.parametrize("fix", PASTED)
def test_options_are_pasted(fix: str) -> None:
    """The first option that can be pasted stands behind the command; prose and placeholders do not."""
    behind = PASTED[fix]
    pasted = pasted_command("eval q r", f"error: q: no\n  fix:      {fix}\n")

    assert pasted == (None if behind is None else f"eval q r {behind}")


def test_fixes_of_a_message() -> None:
    """The first fix that can be pasted counts, of the first error or of the next."""
    message = (
        "error: two\n  a: no\n    fix:      repair it\n  b: no\n    fix: --order rank\n"
    )

    assert fixes(message) == ["repair it", "--order rank"]
    assert pasted_command("eval q r", message) == "eval q r --order rank"
    assert pasted_command("eval q r", "error: --order rank is no fix") is None


def test_options_that_are_there() -> None:
    """An option is replaced or taken away only where the message says so."""
    command = 'eval q r --columns a=doc_id -m "RR P@1"'
    add, instead = (
        "  fix:  add --columns b=query_id",
        "  fix:  the id instead: --columns b=doc_id",
    )

    assert pasted_command(command, add) == f"{command} --columns b=query_id"
    replaced = "eval q r -m 'RR P@1' --columns b=doc_id"
    assert pasted_command(command, instead) == replaced
    with_sign = "eval q r --columns=a=doc_id"
    assert pasted_command(with_sign, instead) == "eval q r --columns b=doc_id"
    remove = "  fix:  TREC text has no column names: remove --columns"
    assert pasted_command(command, remove) == "eval q r -m 'RR P@1'"
    assert pasted_command(
        "eval q r --one-group -m RR", "fix: leave out --one-group"
    ) == ("eval q r -m RR")


def test_whole_commands() -> None:
    """A fix that is a command takes the place of the command."""
    for fix in ("rankstone board --pairs a.csv", "`rankstone board --pairs a.csv`"):
        message = f"  fix:      {fix}; or something else"
        assert pasted_command("eval q r", message) == "board --pairs a.csv"


def test_commands_of_two_words() -> None:
    """Options are those of the command, whether one word names it or two; of another there are none."""
    assert command_name("online ab log.csv") == "online ab"
    assert command_name("eval online ab") == "eval"
    assert command_name("nothing q r") == "nothing"
    assert options_of("nothing") == {}
    flag = "fix: take it as it is: --quiet, please"
    assert pasted_command("online ab log.csv", flag) == "online ab log.csv --quiet"
    assert pasted_command("nothing q", flag) is None


def test_fixes_in_python() -> None:
    """An argument with a literal value is added, replaced, or merged with the dict that is there."""
    both = "fix: add --columns a=b (in Python columns={'a': 'b'}), so"

    assert pasted_call("f(x)", both) == "f(x, columns={'a': 'b'})"
    merged = "f(x, columns={'c': 'd', 'a': 'b'})"
    assert pasted_call("f(x, columns={'c': 'd'})", both) == merged
    assert (
        pasted_call("f(x, order='rank')", "fix: order='input'") == "f(x, order='input')"
    )
    order = "fix: order='input'"
    assert pasted_call("f(x, k=2, order='rank')", order) == "f(x, k=2, order='input')"
    assert pasted_call("f(x, k={}, order='rank')", order) == "f(x, k={}, order='input')"
    assert pasted_call("f(x, columns=None)", both) == "f(x, columns={'a': 'b'})"
    assert pasted_call("x + 1", order) is None
    assert pasted_call("f(x)", "fix: read them with run_column=tag") is None
    assert pasted_call("f(x)", "fix: columns={'THEIRS': 'left'}") is None
    assert pasted_call("f(x)", "fix: convert them to text: str(id)") is None
    assert pasted_call("f(x)", "fix: a frame: frame(rows, orient='row')") is None
    in_words = "fix: name them (frames have names): order='input'"
    assert pasted_call("f(x)", in_words) == "f(x, order='input')"
    assert pasted_command("eval q r", "fix: columns={'a': 'b'}") is None


VALUE: Final = Ending("result", "half", {"runs": {"r": {"RR": 0.5}}})
OTHER: Final = Ending("result", "whole", {"runs": {"r": {"RR": 1.0}}})
PLAIN: Final = Ending("refusal", "error: no grade in line 2\n  fix: look at it")
FIXED: Final = Ending("refusal", "error: no grade in line 2\n  fix: add --columns a=b")
#: a fix without the words, and a result with them
OTHER_FIX: Final = Ending("refusal", "error: no\n  fix: add --columns a=b")
PRINTED: Final = Ending("result", "no grade", {"runs": {"r": {"RR": 0.5}}})
CRASH: Final = Ending("crash", "internal error")
PASTE: Final = " --columns a=b"
HALF: Final = Run("eval q r", values={"RR": 0.5})
REFUSED: Final = Run("eval q r", refused=("GRADE", "line  2"))
BOTH: Final = Run("eval q r", refused=("grade",), values={"RR": 0.5})
#: the run, how it ends, then how it ends after each fix → outcome
DECIDED: Final[list[tuple[Run, list[Ending], str]]] = [
    (HALF, [VALUE], "right"),
    (HALF, [OTHER], "wrong"),
    (HALF, [Ending("result", "no JSON")], "wrong"),
    (HALF, [CRASH], "crash"),
    (HALF, [PLAIN], "refused"),
    (HALF, [FIXED, VALUE], "fixed"),
    (HALF, [FIXED, FIXED, VALUE], "fixed"),
    (HALF, [FIXED, FIXED, FIXED], "dead end"),
    (HALF, [FIXED, OTHER], "dead end"),
    (HALF, [FIXED, PLAIN], "dead end"),
    (HALF, [FIXED, CRASH], "crash"),
    (REFUSED, [PLAIN], "right"),
    (REFUSED, [VALUE], "wrong"),
    (REFUSED, [Ending("refusal", "error: no")], "refused"),
    (REFUSED, [FIXED, VALUE], "dead end"),
    (REFUSED, [FIXED, PLAIN], "fixed"),
    (BOTH, [FIXED, VALUE], "fixed"),
    (BOTH, [FIXED, OTHER], "dead end"),
    (BOTH, [VALUE], "wrong"),
    (BOTH, [PRINTED], "wrong"),
    (BOTH, [OTHER_FIX, VALUE], "dead end"),
    (BOTH, [PLAIN], "right"),
    (BOTH, [Ending("refusal", "error: no")], "refused"),
    (Run("eval q r", says=("HALF",)), [VALUE], "right"),
    (Run("eval q r", says=("half",)), [OTHER], "wrong"),
    (Run("eval q r", hides=("half",)), [VALUE], "wrong"),
    (Run("eval q r", hides=("half",)), [OTHER], "right"),
    (Run("eval q r", hides=("half",)), [PLAIN], "refused"),
]


@pytest.mark.parametrize(("run", "endings", "outcome"), DECIDED)
def test_decisions(run: Run, endings: list[Ending], outcome: str) -> None:
    """The outcome follows from how the texts end, each with one more fix than the one before."""
    texts = [run.text + PASTE * pastes for pastes in range(len(endings))]
    trail = decided(run, dict(zip(texts, endings, strict=True)).__getitem__)

    assert trail.outcome == outcome
    assert trail.steps == tuple(zip(texts, endings, strict=True))


def test_calls_are_decided() -> None:
    """A call gets the fix in Python."""
    message = "no column\n  fix: add --columns a=b (in Python columns={'a': 'b'})"
    endings = {"f(x)": Ending("refusal", message), "f(x, columns={'a': 'b'})": VALUE}
    trail = decided(replace(HALF, text="f(x)", is_call=True), endings.__getitem__)

    assert trail.outcome == "fixed"
    fix_in_a_result = Ending("result", message, VALUE.document)
    assert decided(HALF, {HALF.text: fix_in_a_result}.__getitem__).outcome == "right"


def test_numbers_are_the_same_or_not() -> None:
    """Nine digits count; what is no number is null or NaN; neither texts nor yes and no are numbers."""
    pairs = [
        (0.5, 0.5 * (1 + 1e-10), "right"),
        (0.5, 0.5 * (1 + 1e-8), "wrong"),
        (0.0, 1e-13, "right"),
        (0.0, 1e-11, "wrong"),
        (1.0, True, "wrong"),
        (1.0, "1.0", "wrong"),
        (1.0, None, "wrong"),
        (math.nan, None, "right"),
        (math.nan, math.nan, "right"),
        (math.nan, 0.5, "wrong"),
        (math.nan, "nan", "wrong"),
    ]
    for expected, number, outcome in pairs:
        run = Run("eval q r", values={"RR": expected})
        ending = Ending("result", "", {"RR": number})
        assert decided(run, {run.text: ending}.__getitem__).outcome == outcome


def test_places_of_values() -> None:
    """A measure of the only run, of a run by name, or a path into the document."""
    item = {"runs": {"a": {"RR": 0.5}}, "audit": {"rows": [{"n": 2}]}}
    two = {"runs": {"a": {"RR": 0.5}, "b.c": {"RR": 1.0, 'RR(rel=">1.5")': 0.0}}}

    assert looked_up(item, "RR") == looked_up(item, "a.RR") == 0.5
    assert looked_up(item, "audit.rows.0.n") == 2
    assert looked_up(two, "b.c.RR") == 1.0
    assert looked_up(two, 'b.c.RR(rel=">1.5")') == 0.0
    assert looked_up({"a": {"x": 1}, "a.b": {"c": 2}}, "a.b.c") == 2
    assert looked_up(two, "RR") == looked_up(None, "RR") == "nowhere"


GOOD: Final = """title = "t"
seen_in = "s"
fails = true
[files]
"q" = "q 0 d 1"
[[runs]]
command = 'eval q q -m RR'
values = { "RR" = "1/2" }
"""
#: what is wrong → the change that makes it so, and words of the message
BAD: Final[dict[str, tuple[Callable[[str], str], str]]] = {
    "no TOML": (lambda text: text + "[", "no TOML"),
    "a key nobody knows": (
        lambda text: "tilte = 1\n" + text,
        "tilte is not one of fails, files",
    ),
    "no title": (lambda text: text.replace('"t"', '""'), "title: expected one line"),
    "no yes or no": (
        lambda text: text.replace("true", '"yes"'),
        "fails: expected true",
    ),
    "no runs": (
        lambda text: text.partition("[[runs]]")[0],
        r"one or more \[\[runs\]\]",
    ),
    "runs of no tables": (
        lambda text: 'runs = "eval"\n' + text.partition("[files]")[0],
        r"one or more \[\[runs\]\]",
    ),
    "a key of no run": (lambda text: text + "value = 1", "run 1: value is not one of"),
    "two texts": (
        lambda text: text + "call = 'f()'",
        "run 1: expected command or call",
    ),
    "no words": (
        lambda text: text.replace("-m RR", '-m "RR'),
        "run 1: no words of a shell",
    ),
    "the program's name": (
        lambda text: text.replace("eval q", "rankstone eval q"),
        "leave out the name of the program",
    ),
    "no Python": (
        lambda text: text.replace("command = 'eval q q -m RR'", "call = 'f(q'"),
        "run 1: no expression",
    ),
    "no right end": (
        lambda text: text.replace("values = ", "# "),
        "expected values, refused, says or hides",
    ),
    "a number": (lambda text: text.replace('"1/2"', "0.5"), "RR: expected a formula"),
    "no formula": (
        lambda text: text.replace("1/2", "1/two"),
        "RR: no formula: '1/two'",
    ),
    "a dangerous formula": (
        lambda text: text.replace("1/2", "open(1)"),
        "RR: no formula",
    ),
    "no list of words": (lambda text: text + "says = 'a'", "says: expected"),
    "an empty word": (lambda text: text + "says = ['']", "says: every word"),
    "no text of a file": (
        lambda text: text.replace('"q 0 d 1"', "1"),
        "files: q: expected a text",
    ),
    "a file of no run": (
        lambda text: text.replace('"q" =', '"other.csv" ='),
        "no run names the file other.csv",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_cases(what: str, tmp_path: Path) -> None:
    """A slip in a case is refused with its place."""
    path = tmp_path / "s_a1_words.toml"
    path.write_text(GOOD)
    assert read_case(path).runs == (Run("eval q q -m RR", values={"RR": 0.5}),)

    change, words = BAD[what]
    path.write_text(change(GOOD))
    with pytest.raises(BadCase, match=f"^s_a1_words.toml: .*{words}"):
        read_case(path)


def test_files_beside_another(tmp_path: Path) -> None:
    """Groups lie in a file beside the data that no command names."""
    path = tmp_path / "r_a1_words.toml"
    path.write_text(GOOD.replace("[[runs]]", '"q.query" = "1"\n[[runs]]'))
    assert list(read_case(path).files) == ["q", "q.query"]


def test_names_of_cases(tmp_path: Path) -> None:
    """A file under another kind of name would be overlooked: it is refused."""
    for name in ("s_a1.toml", "S_a1_words.toml", "s_a1_words.txt"):
        (tmp_path / name).write_text(GOOD)
        with pytest.raises(BadCase, match="expected a name such as"):
            all_cases(tmp_path)
        (tmp_path / name).unlink()


def case_of(run: Run, **made: str) -> Case:
    files = {"q.txt": "q1 0 d1 1\n", "r.txt": "q1 Q0 d2 1 2 r\nq1 Q0 d1 2 1 r\n"}
    return Case("s_a1_words", "t", "s", fails=True, files=files, made=made, runs=(run,))


def test_commands_and_calls_are_run() -> None:
    """Files lie in the folder, made ones, too; values, refusals and crashes are distinguished."""
    value = Run("eval q.txt r.txt -m RR", values={"RR": 0.5})
    made = {
        "r.parquet": "pl.DataFrame({'query_id': ['q1'], 'doc_id': ['d1'], 'score': [1]})"
    }
    call = "rankstone.evaluate(here / 'q.txt', here / 'r.txt', 'RR')"
    refusal = Run("eval q.txt none.txt", refused=("none.txt",))
    format_in = Run("eval q.txt r.txt -m RR --format-in trec", values={"RR": 0.5})
    result = Run("check r.txt q.txt", says=("r.txt",))

    assert followed(case_of(value), value).outcome == "right"
    parquet = Run("eval q.txt r.parquet -m RR", values={"RR": 1.0})
    assert followed(case_of(parquet, **made), parquet).outcome == "right"
    in_python = Run(call, is_call=True, values={"RR": 0.5})
    assert followed(case_of(in_python), in_python).outcome == "right"
    assert followed(case_of(refusal), refusal).outcome == "right"
    assert followed(case_of(format_in), format_in).outcome == "right"
    assert attempt(case_of(result), result, result.text).kind == "refusal"
    arrays = "arrays.evaluate([2, 1], [0, 1], 'RR')"
    of_arrays = Run(arrays, is_call=True, values={"RR": 0.5})
    assert followed(case_of(of_arrays), of_arrays).outcome == "right"
    broken = Run("1 / 0", is_call=True, values={"RR": 0.5})
    assert followed(case_of(broken), broken).outcome == "crash"


def test_commands_go_through_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """With RANKSTONE_SHELL a real shell reads the words."""
    monkeypatch.setenv("RANKSTONE_SHELL", "1")
    run = Run("eval q.txt $(echo r.txt) -m RR", values={"RR": 0.5})

    assert followed(case_of(run), run).outcome == "right"


def test_the_table() -> None:
    """A case counts with the worst outcome of its runs; both kinds of cases stand apart."""
    run = Run("eval q r", says=("a",))
    fails, holds = case_of(run), case_of(run)
    fails = Case(**{**vars(fails), "runs": (run, run)})
    holds = Case(**{**vars(holds), "name": "s_x_holds", "fails": False})
    outcomes = {
        "s_a1_words:1": "right",
        "s_a1_words:2": "wrong",
        "s_x_holds:1": "right",
    }
    rows = [line.split()[-7:] for line in table([fails, holds], outcomes).splitlines()]

    assert " ".join(rows[0][-1:]) == OUTCOMES[-1]
    assert rows[1] == ["1", "0", "0", "0", "0", "1", "0"]
    assert rows[2] == ["2", "1", "0", "0", "0", "1", "0"]
    assert rows[3] == rows[4] == ["1", "1", "0", "0", "0", "0", "0"]
