"""What every command prints as JSON is JSON: strict readers know no NaN and no infinity."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.command_line import command as at_a_shell
from tests.command_line import commands

if TYPE_CHECKING:
    from pathlib import Path

#: two runs that are the same, perfect for one query and without any hit for the other: spreads are 0, and
#: ratios 0 / 0
FILES: Final = {
    "golden.json": '[{"id": "q1", "query": "what?", "expected": ["a"]}]',
    "qrels.txt": "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq3 0 d 0\n",
    "a.run": "q1 Q0 a 1 1 t\nq2 Q0 x 1 1 t\nq3 Q0 d 1 1 t\n",
    "one.txt": "q1 0 a 1\n",
    "one.run": "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n",
    "b.run": "q1 Q0 a 1 1 t\nq2 Q0 x 1 1 t\nq3 Q0 d 1 1 t\n",
    "apart.run": "q1 Q0 a 1 2 t\nq2 Q0 x 1 1 t\nq3 Q0 d 1 1 t\n",
    "board.csv": "system,x,y,z\na,.1,.2,.3\nb,.2,.3,.4\nc,.3,.4,.5\n",
    "battles.csv": "left,right,winner\na,b,a\na,b,b\nb,a,tie\n",
    "many.txt": "".join(f"q{index} 0 a 1\n" for index in range(12)),
    "many.run": "".join(f"q{index} Q0 a 1 1 t\n" for index in range(12)),
    "slices.csv": "query_id,kind\n"
    + "".join(f"q{index},{index % 2}\n" for index in range(12)),
    "gate.toml": '[gate]\nqrels = "qrels.txt"\nbaseline = "a.run"\ncandidate = "b.run"\n'
    '[[gate.rules]]\nmeasure = "RR"\nmargin = 0.9\n',
    "events.csv": "user_id,time\nu,2026-01-01\nu,2026-01-02\nv,2026-01-01\nv,2026-01-03\n",
    "clicks.csv": "query_id,doc_id,position,clicked\nq1,a,1,1\nq1,b,2,0\nq1,a,1,1\nq1,b,2,0\n",
    "logged.csv": "query_id,action,propensity,reward,target_propensity\nq1,a,.5,0,1\nq2,b,.5,0,0\n",
    "preferred.csv": "impression_id,position,team,clicked\n1,1,a,1\n1,2,b,0\n2,1,a,1\n2,2,b,0\n",
    "ab.csv": "impression_id,position,clicked,user_id,variant\n1,1,0,u1,a\n2,1,0,u2,a\n"
    "3,1,0,u3,b\n4,1,0,u4,b\n",
    "answers.jsonl": '{"qid": "q1", "nuggets": [{"text": "x", "importance": "okay", '
    '"assignment": "not_support"}]}\n',
    "train.txt": "".join(
        f"{index % 2} qid:{index // 2} 1:0 2:0\n" for index in range(2, 10)
    ),
    "scores.txt": "0\n" * 8,
}
#: command → its words, in a folder with these files
WORDS: Final[dict[str, str]] = {
    "eval": "qrels.txt a.run b.run -m nDCG,RR,Rprec",
    "curve": "qrels.txt a.run b.run",
    "sampled": "one.txt one.run --catalogue-size 20",
    "compare": "qrels.txt a.run b.run -m RR",
    "board": "board.csv",
    "slices": "many.txt many.run same=many.run -m RR --queries slices.csv --min-size 5",
    "gate": "--config gate.toml",
    "reproduce": "a.run b.run --qrels qrels.txt -m RR",
    "power": "qrels.txt a.run b.run -m RR -d 0.1",
    "diff": "a.run b.run",
    "check": "qrels.txt a.run",
    "explain": "qrels.txt a.run -m RR -q q1",
    "identify": "qrels.txt a.run --value 0.5 -m RR",
    "stages": "qrels.txt a.run b.run",
    "bounds": "qrels.txt a.run b.run -m RR",
    "baseline": "qrels.txt a.run b.run -m RR",
    "thresholds": "qrels.txt a.run b.run -m RR",
    "abstain": "qrels.txt apart.run -m RR",
    "collection": "qrels.txt a.run b.run -m RR",
    "golden check": "golden.json",
    "golden split": "golden.json",
    "certify": "qrels.txt a.run -m RR",
    "verify": "card.json",
    "beyond": "a.run -m Coverage@1,Gini@1 --catalogue-size 5",
    "online retention": "events.csv",
    "online clicks": "clicks.csv",
    "online counterfactual": "logged.csv",
    "online interleave": "a.run b.run",
    "online ab": "ab.csv",
    "answers": "answers.jsonl",
    "ltr tune": "train.txt --values 1 --folds 2",
    "ltr eval": "train.txt scores.txt",
    "formats": "",
    "measures list": "",
    "measures show": "nDCG",
    "conventions list": "",
    "conventions show": "beir",
}
#: more of these have numbers that no float holds
FURTHER: Final = (
    "board --pairs battles.csv",
    "board board.csv --explain a",
    "eval qrels.txt a.run -m RR --ci",
    "compare qrels.txt a.run b.run -m RR --test t",
    "explain qrels.txt a.run -m Rprec -q q3",
)


def refuse(constant: str) -> None:
    """Fail at a word that is no JSON."""
    raise AssertionError(f"{constant} is not JSON")


def formatted(command: Any) -> bool:
    """Return True for commands that print JSON."""
    return any("--format" in option.opts for option in command.params)


def test_every_command_has_words() -> None:
    """Each that prints JSON."""
    assert WORDS.keys() == {
        name for name, command in commands().items() if formatted(command)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all files."""
    place = tmp_path_factory.mktemp("strict")
    for name, text in FILES.items():
        (place / name).write_text(text)
    at_a_shell(
        "certify", "qrels.txt", "a.run", "-m", "RR", "-o", "card.json", cwd=place
    )
    return place


@pytest.mark.parametrize(
    "words", [*(f"{name} {words}" for name, words in WORDS.items()), *FURTHER]
)
def test_json_of_every_command(folder: Path, words: str) -> None:
    """A strict reader takes it, and terminals obey nothing in it."""
    done = at_a_shell(*words.split(), "--format", "json", cwd=folder, code=0)
    json.loads(done.stdout, parse_constant=refuse)
    assert {sign for sign in done.stdout if not sign.isprintable()} <= {"\n"}
