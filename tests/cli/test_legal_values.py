"""Every option of every command works with a legal value: nothing is declared that cannot be used.

An option that is new needs a value here, or is refused by this test: words are taken from its declaration,
numbers and names from ``VALUES``, and what makes sense only beside something else from ``BESIDE``.
"""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Final

import click
import pytest
from tests.cli.small_files import write_small_files
from tests.command_line import command, commands
from tests.night import part, turn_of

from rankstone.cli.declaring import Option
from rankstone.measures.core.gains_and_discounts import CUSTOM_GAINS

#: command → arguments with which it runs without any option
BASE: Final = {
    "eval": "qrels.csv a.csv",
    "curve": "qrels.csv a.csv b.csv -m nDCG@1..3",
    "sampled": "qrels.csv a.csv --catalogue-size 100",
    "trec-eval": "qrels.txt a.run",
    "compare": "qrels.csv a.csv b.csv c.csv -m 'nDCG@3 AP'",
    "board": "board.csv",
    "slices": "qrels.csv a.csv b.csv --queries queries.csv --min-size 5 --permutations 200",
    "gate": "--config gate.toml",
    "report": "qrels.csv a.csv b.csv c.csv -m 'nDCG@3 AP' -o page.html",
    "reproduce": "a.csv b.csv --qrels qrels.csv",
    "power": "qrels.csv a.csv b.csv -d 0.1",
    "diff": "a.csv b.csv",
    "check": "qrels.csv a.csv",
    "explain": "qrels.csv a.csv -m nDCG@3 -q q1",
    "identify": "qrels.csv a.csv --value 0.5",
    "stages": "qrels.csv a.csv b.csv",
    "bounds": "qrels.csv a.csv -m P@2",
    "baseline": "qrels.csv a.csv -m P@2",
    "thresholds": "qrels.csv a.csv b.csv -m AP",
    "abstain": "qrels.csv a.csv",
    "collection": "qrels.csv a.csv b.csv c.csv",
    "golden check": "golden.jsonl",
    "golden split": "golden.jsonl",
    "certify": "qrels.csv a.csv -o new.json",
    "verify": "card.json",
    "beyond": "a.csv -m Coverage@2 --catalogue-size 9",
    "online retention": "events.csv",
    "online clicks": "clicks.csv",
    "online counterfactual": "logged.csv",
    "online interleave": "a.csv b.csv",
    "online ab": "ab.csv",
    "answers": "short=short.nuggets.jsonl long=long.nuggets.jsonl",
    "ltr train": "train.txt -o new.json --method svm",
    "ltr tune": "train.txt --values 1 --quick --folds 2",
    "ltr score": "model.json train.txt",
    "ltr eval": "train.txt model.json pred.txt other.txt",
    "formats": "",
    "measures list": "",
    "measures show": "AP",
    "conventions diff": "beir ranx",
    "conventions list": "",
    "conventions pages": "pages",
    "conventions show": "beir",
    "demo": "",
}
#: option, or command and option → a legal value, and what it needs beside it
VALUES: Final[dict[str | tuple[str, str], str]] = {
    "measures": "P@2",
    "names": "a=A",
    "measure": "P@2",
    "rel": "2",
    "utility": "right=2,wrong=-3",
    "convention": "beir",
    "catalogue-size": "50",
    "confidence": "0.9",
    "cluster": "session --queries queries.csv",
    "seed": "7",
    "resamples": "1000",
    "permutations": "50",
    "margin": "0.2",
    "rope": "0.05",
    "power": "0.7",
    "baseline": "a",
    "primary": "AP",
    "exclude": "exclude.csv",
    "unit": "document",
    "same-as": "same.csv",
    "split": "dev",
    ("ltr train", "queries"): "splits.csv --split dev",
    ("ltr train", "split"): "dev --queries splits.csv",
    ("ltr tune", "queries"): "splits.csv --split dev",
    ("ltr tune", "split"): "dev --queries splits.csv",
    "holdout": "0.4",
    "salt": "x",
    ("golden split", "deviation"): "0.2",
    ("golden split", "by"): "category",
    ("golden check", "train"): "train.csv",
    "documents": "documents.csv",
    "queries": "queries.csv",
    "import": "own.py",
    "columns": "note=tokens",
    "csv-separator": ",",
    "decimal": ".",
    "shape": "shapes.toml",
    "digits": "2",
    "width": "90",
    "sort": "AP",
    "output": "output.txt",
    "trials": "table.txt",
    "table": "means",
    "per-query": "scores.parquet",
    "chart": "chart.svg",
    "depth": "2",
    "candidates": "9",
    "score-above": "0.1",
    "k": "2",
    "query": "q1",
    "versus": "b",
    "limit": "10",
    "corpus": "documents.csv",
    "answers": "answered.csv",
    "right-from": "1 --answers answered.csv",
    "min-size": "6",
    "interval": "t",
    # of one command or of few
    "master": "local[1]",
    "memory": "1GB",
    "by": "kind --queries queries.csv",
    "within": "0.5 --exact-run b.csv",
    "labeled": "labelled.csv",
    "exact-run": "b.csv",
    "intents": "intents.csv",
    "run-column": "run",
    "unjudged": "condensed",
    "cutoffs": "1,2",
    "target": "0.1",
    "band": "0.2,0.8",
    "cloud": "cloud.svg",
    "gamma": "0.5",
    "covariates": "length",
    "weights": "law=2,news=1,code=1",
    "pairs": "battles.csv",
    "systems": "a,b",
    "only": "split=test",
    "diagram": "diagram.svg",
    "attributes": "kind",
    "tag": "short=^q1",
    "bins": "2",
    "variant": "arm",
    "log": "ab.csv",
    "metric": "seconds",
    "qrels": "qrels.csv",
    "config": "gate.toml",
    "candidate": "c.csv",
    "junit": "junit.xml",
    "summary": "summary.md",
    "title": "'Eight queries'",
    "qrels-again": "qrels.csv",
    "difference": "0.1,0.2",
    "interval-width": "0.1",
    "among": "4",
    "deviation": "0.2",
    "comparisons": "3",
    "top": "2",
    "train": "train.csv",
    "worst": "2",
    "grades": "2,-,0,1",
    "judged": "2,1,1,0",
    "value": "0.5",
    "decimals": "1",
    "scale": "0,1,2",
    "gain": "AP=0.2,0.4",
    "levels": "1,2",
    "pool-depth": "2",
    "teams": "teams.csv",
    "original": "a.csv",
    "items": "items.csv",
    "history": "history.csv",
    "expected": "b.csv",
    "separator": ";",
    "days": "1,2",
    "registrations": "registrations.csv",
    "week-start": "sunday",
    "since": "2024-01-02",
    "start": "2024-01-02",
    "end": "2024-01-08",
    "tz": "Europe/Berlin",
    "times-in": "Asia/Shanghai",
    "time-format": "%Y-%m-%dT%H:%M:%S",
    "positions-from": "1",
    "cohorts": "cohorts.csv",
    "heatmap": "heatmap.svg",
    "report": "report.html",
    "propensities": "1,0.5",
    "min-propensity": "0.2",
    "smoothing": "1,2",
    "thresholds": "0.1,0.5",
    "min-impressions": "2",
    "tolerance": "0.001",
    "max-iterations": "20",
    "positions": "positions.csv",
    "clip": "5",
    "draws": "2",
    "clicks": "clicked.csv",
    "shares": "new=1,old=1",
    "planned": "100",
    "nuggets": "nuggets.jsonl",
    "support": "support.csv",
    "c": "2",
    "init": "model.json",
    "restarts": "1",
    "groups": "plain.txt.query",
    "features": "x,y",
    "valid": "valid.txt",
    "folds": "3",
    "values": "0.1,1",
    "model": "chosen.json",
    # what is no value, but needs something beside it
    "wide": "--format csv",
    "exclude-from": "both --exclude exclude.csv",
    "test": "t",
    # where it differs by command
    ("curve", "measures"): "P@1,2",
    ("trec-eval", "measure"): "map",
    ("board", "explain"): "a",
    ("board", "cluster"): "judge",
    ("board", "measure"): "AP",
    ("board", "columns"): "name=system",
    ("gate", "baseline"): "c.csv",
    ("reproduce", "ties"): "input",
    ("reproduce", "duplicates"): "last_drop",
    ("collection", "ties"): "input",
    ("collection", "duplicates"): "last_drop",
    ("diff", "measures"): "Jaccard@2",
    ("diff", "explain"): "RBO(p=0.9)",
    ("explain", "versus"): "b.csv",
    ("answers", "measures"): "Support",
    ("answers", "convention"): "nuggetizer",
    ("answers", "explain"): "Support -q q1",
    ("bounds", "ties"): "docid_asc",
    ("bounds", "duplicates"): "first_drop",
    ("bounds", "negative"): "zero",
    ("bounds", "unjudged"): "nonrelevant",
    ("baseline", "depth"): "9",
    ("beyond", "measures"): "Gini@2",
    ("beyond", "convention"): "rectools",
    ("beyond", "explain"): "Novelty@2",
    ("beyond", "by"): "kind --queries queries.csv",
    ("online retention", "versus"): "x",
    ("online retention", "by"): "kind",
    ("online retention", "columns"): "when=time",
    ("online clicks", "columns"): "page=doc_id",
    ("online counterfactual", "cluster"): "session",
    ("online counterfactual", "columns"): "gained=reward",
    ("online interleave", "cluster"): "session",
    ("online interleave", "output"): "shown.csv",
    ("online ab", "versus"): "old",
    ("online ab", "cluster"): "session",
    ("online ab", "columns"): "arm=variant",
    ("demo", "copy"): "desk",
    # on Spark it is tried by tests/spark/test_command.py
    ("eval", "engine"): "local",
    ("ltr eval", "baseline"): "model",
    ("ltr eval", "ties"): "best",
    ("sampled", "depth"): "9",
    ("slices", "permutations"): "300",
    ("slices", "versus"): "old",
    # of `trec-eval`, by its own names
    "level_for_rel": "2",
    "Number_docs_in_coll": "100",
    "Max_retrieved_per_topic": "2",
    "Rel_info_format": "qrels",
    "Results_format": "trec_results",
    "Debug_level": "1.q1",
    "Zscore": "zscores.txt",
    "compat": "9",
}
#: command and option → all arguments, where the option needs other ones
BESIDE: Final = {
    ("eval", "cluster"): "qrels.csv a.csv --ci",
    ("eval", "labeled"): "",
    ("eval", "exact-run"): "a.csv --depth 2",
    ("eval", "within"): "a.csv --depth 2",
    ("eval", "intents"): "aspects.txt a.run -m IA(of=AP)",
    ("eval", "run-column"): "qrels.csv long.csv",
    ("curve", "labeled"): "-m nDCG@1..3",
    ("curve", "intents"): "aspects.txt a.run -m IA(of=AP)@1..3",
    ("curve", "measures"): "qrels.csv a.csv",
    ("curve", "cutoffs"): "qrels.csv a.csv -m P",
    ("compare", "convention"): "qrels.csv a.csv b.csv -m NDCG@3",
    ("compare", "scores"): "table.csv",
    ("compare", "table"): "qrels.csv a.csv b.csv -m AP --format latex",
    ("compare", "marks"): "qrels.csv a.csv b.csv -m AP --format latex --table means",
    ("compare", "names"): "qrels.csv a.csv b.csv -m AP --format latex --table means",
    ("compare", "caption"): "qrels.csv a.csv b.csv -m AP --format latex --table means",
    ("compare", "run-column"): "qrels.csv long.csv -m AP",
    ("board", "versus"): "board.csv --explain a",
    ("board", "measure"): "law.csv news.csv",
    ("board", "columns"): "corpora.csv",
    ("board", "method"): "--pairs battles.csv",
    ("board", "covariates"): "--pairs battles.csv",
    ("board", "cluster"): "--pairs battles.csv",
    ("board", "pairs"): "",
    ("board", "only"): "split.csv",
    ("board", "resample"): "law.csv news.csv",
    ("slices", "versus"): "--log ab.csv --min-size 5",
    ("slices", "variant"): "--log renamed-ab.csv --min-size 5",
    ("slices", "log"): "--min-size 5",
    ("slices", "metric"): "--log ab.csv --min-size 5",
    ("slices", "direction"): "--log ab.csv --min-size 5",
    ("slices", "scores"): "table.csv --queries queries.csv --min-size 5",
    ("report", "convention"): "qrels.csv a.csv b.csv -m NDCG@3 -o page.html",
    ("report", "scores"): "table.csv -o page.html",
    ("report", "run-column"): "qrels.csv long.csv -m AP -o page.html",
    (
        "report",
        "slices",
    ): "qrels.csv a.csv b.csv -m AP -o page.html --queries queries.csv --min-size 5",
    (
        "report",
        "min-size",
    ): "qrels.csv a.csv b.csv -m AP -o page.html --queries queries.csv --slices",
    ("reproduce", "scores"): "table.csv again.csv",
    ("reproduce", "baseline"): "old new --qrels qrels.csv",
    ("reproduce", "qrels-again"): "old new --qrels qrels.csv --baseline a",
    ("power", "scores"): "table.csv -d 0.1",
    **{
        (f"ltr {verb}", "groups"): arguments
        for verb, arguments in {
            "train": "plain.txt -o new.json",
            "tune": "plain.txt --values 1 --quick --folds 2",
            "score": "model.json plain.txt",
            "eval": "plain.txt model.json",
        }.items()
    },
    **{
        (f"ltr {verb}", option): arguments
        for verb, arguments in {
            "train": "features.csv -o new.json",
            "tune": "features.csv --values 1 --quick --folds 2",
            "score": "table.json features.csv",
            "eval": "features.csv table.json",
        }.items()
        for option in ("columns", "features")
    },
    ("power", "rel"): "qrels.csv a.csv b.csv -d 0.1 -m AP",
    ("diff", "explain"): "a.csv b.csv -q q1",
    ("diff", "query"): "a.csv b.csv --explain RBO(p=0.9)",
    ("diff", "width"): "a.csv b.csv --explain RBO(p=0.9) -q q1",
    ("diff", "lang"): "a.csv b.csv --explain RBO(p=0.9) -q q1",
    ("explain", "grades"): "-m nDCG@3",
    ("explain", "judged"): "-m nDCG@3 --grades 2,-,0",
    ("identify", "grades"): "--value 0.5",
    ("identify", "judged"): "--value 0.5 --grades 2,-,0",
    ("baseline", "gain"): "",
    ("beyond", "convention"): "a.csv -m CatalogCoverage@2 --catalogue-size 9",
    ("beyond", "explain"): "a.csv --history history.csv -q q1",
    ("beyond", "query"): "a.csv --history history.csv --explain Novelty@2",
    ("beyond", "width"): "a.csv --history history.csv --explain Novelty@2 -q q1",
    ("beyond", "lang"): "a.csv --history history.csv --explain Novelty@2 -q q1",
    ("online retention", "lang"): "events.csv --report r.html",
    ("beyond", "by"): "a.csv -m Novelty@2 --history history.csv",
    ("online retention", "versus"): "events.csv --by kind",
    ("online retention", "show"): "events.csv --by kind",
    ("online retention", "tz"): "events.csv --times-in UTC",
    ("online retention", "columns"): "renamed-events.csv",
    ("online clicks", "propensities"): "clicks.csv --method ips",
    ("online clicks", "min-propensity"): "clicks.csv --method ips --propensities 1,0.5",
    ("online clicks", "tz"): "clicks.csv --times-in UTC",
    ("online clicks", "columns"): "renamed-clicks.csv",
    ("online counterfactual", "columns"): "renamed-logged.csv",
    ("online ab", "columns"): "renamed-ab.csv",
    ("online ab", "variant"): "renamed-ab.csv",
    ("conventions diff", "all"): "qrels.csv a.csv",
    ("answers", "support"): "answers.jsonl",
    ("answers", "explain"): "short.nuggets.jsonl",
    ("answers", "run-column"): "two-runs.jsonl",
    ("answers", "query"): "short=short.nuggets.jsonl --explain Support",
    ("answers", "to-judge"): "answers.jsonl",
    ("answers", "nuggets"): "assigned.jsonl",
    **{
        ("ltr train", option): "train.txt -o new.json --method ascent --restarts 0"
        for option in ("init", "restarts", "seed", "measure")
    },
    **{
        ("online interleave", option): "lists.csv --clicks clicked.csv"
        for option in (
            "confidence",
            "cluster",
            "margin",
            "clicks",
            "invalid",
            "unknown",
        )
    },
    ("power", "interval-width"): "qrels.csv a.csv b.csv",
    ("power", "deviation"): "-d 0.1",
    ("power", "cluster"): "qrels.csv a.csv b.csv -d 0.1",
}
#: command and option → why it is tried elsewhere
ELSEWHERE: Final = {
    ("eval", "master"): "needs a Spark: tests/spark/test_command.py",
    ("baseline", "depth"): "is refused, with what to use instead",
    ("abstain", "order"): "is refused, as only scores have a threshold",
}
#: options that need files of their own → where they are tried
OF_OTHER_FILES: Final = {"no-header": "tests/io/test_headerless_tables.py"}
#: suffix of a file → --format-in
FORMATS_IN: Final = {
    "": "csv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".txt": "letor",
    ".json": "letor",
}


COMMANDS: Final = commands()
#: what stands between the words of an option
WORDS: Final = re.compile(r"[a-z0-9][\w.-]*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the inputs."""
    path = tmp_path_factory.mktemp("legal")
    with chdir(path):
        write_small_files()
    return path


def legal(name: str, option: click.Option) -> list[str] | None:
    """Return the words that a command gets besides its base; `None` where the table has none."""
    spelling = max(option.opts, key=len)
    listed = listed_name(option)
    value = VALUES.get((name, listed), VALUES.get(listed))
    if listed == "format-in":
        value = FORMATS_IN[Path(shlex.split(BASE[name])[0]).suffix]
    if value is None and not option.is_flag:
        words = [
            word for word in (option.metavar or "").split("|") if WORDS.fullmatch(word)
        ]
        value = (
            [word for word in words if word != "error"][-1] if len(words) > 1 else None
        )
    if value is None and not option.is_flag:
        return None
    return [spelling, *shlex.split(value or "")]


def listed_name(option: click.Option) -> str:
    return option.listed if isinstance(option, Option) else option.opts[-1].strip("-")


def without(name: str, arguments: list[str], words: list[str]) -> list[str]:
    """Return the arguments without the options that are among other words."""
    options = [
        param for param in COMMANDS[name].params if isinstance(param, click.Option)
    ]
    again = [option for option in options if set(option.opts) & set(words)]
    kept, waiting = list[str](), iter(arguments)
    for word in waiting:
        repeated = [option for option in again if word in option.opts]
        if not repeated:
            kept.append(word)
        elif not repeated[0].is_flag:
            next(waiting)
    return kept


@cache
def tried_in(listed: str) -> list[str]:
    """Return the commands in which an option is tried: in one of four of those that share it, at night in all."""
    owners = [
        name
        for name, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option) and listed_name(option) == listed
    ]
    return part(owners, 4, turn_of(listed))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_works_with_a_legal_value(name: str, folder: Path) -> None:
    """The command ends with 0 without any option, and with each of its own and a part of those that many share."""
    options = [
        param for param in COMMANDS[name].params if isinstance(param, click.Option)
    ]
    failed, tried = list[str](), 0
    for option in (None, *options):
        listed = listed_name(option) if option else ""
        if (name, listed) in ELSEWHERE or listed in ("help", *OF_OTHER_FILES):
            continue
        words = legal(name, option) if option else []
        if words is None:
            failed.append(f"{name} --{listed}: no legal value is listed")
            continue
        has_own_words = (name, listed) in VALUES or (name, listed) in BESIDE
        if option and not has_own_words and name not in tried_in(listed):
            continue
        arguments = shlex.split(BESIDE.get((name, listed), BASE[name]))
        arguments = [*without(name, arguments, words), *words]
        try:
            command(*name.split(), *arguments, cwd=folder)
        except AssertionError as error:
            failed.append(f"{name} {shlex.join(arguments)}\n{error}")
        CUSTOM_GAINS.pop("tenfold", None)  # --import own.py
        tried += 1
    assert not failed, "\n\n".join(failed)
    assert tried > 0


#: options of `certify` that say how its files are read or its numbers computed → how they matter
READ: Final = {
    "all-relevant": "pairs.csv a.csv",
    "no-header": "bare.csv bare-run.csv --columns "
    "1=query_id,2=doc_id,qrels.3=relevance,run.3=score",
    "columns": "pairs.csv renamed-a.csv --all-relevant --columns points=score",
}


def test_a_card_with_any_option_is_verified(folder: Path) -> None:
    """What `certify` wrote with an option `verify` computes again, whatever the option changes."""
    (folder / "pairs.csv").write_text(
        "query_id,doc_id,event\nq1,d1,view\nq2,d2,click\n", encoding="utf-8"
    )
    (folder / "bare.csv").write_text("q1,d1,2\nq2,d2,1\n", encoding="utf-8")
    (folder / "bare-run.csv").write_text("q1,d1,0.5\nq2,d2,0.5\n", encoding="utf-8")
    (folder / "renamed-a.csv").write_text(
        "query_id,doc_id,points\nq1,d1,2\nq2,d2,1\n", encoding="utf-8"
    )
    failed = list[str]()
    for option in COMMANDS["certify"].params:
        listed = listed_name(option) if isinstance(option, click.Option) else "help"
        if not isinstance(option, click.Option) or listed in (
            "help",
            "help-all",
            "output",
            "format",
        ):
            continue
        words = legal("certify", option)
        assert words is not None, listed
        if listed in READ:
            words = [*shlex.split(READ[listed]), *(words if option.is_flag else ())]
        else:
            words = [*shlex.split("qrels.csv a.csv"), *words]
        try:
            command("certify", *words, "-o", "own.json", cwd=folder)
            CUSTOM_GAINS.pop("tenfold", None)  # --import own.py
            command("verify", "own.json", cwd=folder)
        except AssertionError as error:
            failed.append(f"{shlex.join(words)}\n{error}")
    assert not failed, "\n\n".join(failed)
