"""Cards: what they hold, and that no changed byte or digit of files and figures goes unseen."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.command_line import command

from rankstone import demo
from rankstone.collections import certify, verify
from rankstone.collections.run_cards import digest
from rankstone.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.collections import Verification

#: changes that are tried; a thousand in docs/collections.md
CASES = int(os.environ.get("RANKSTONE_CASES", "40"))


@pytest.fixture(name="folder")
def files(tmp_path: Path) -> Path:
    """Return a folder with judgments, two runs, one of several blocks, and their card."""
    shutil.copy(demo.QRELS, tmp_path / "qrels.txt")
    shutil.copy(demo.RUNS["bm25"], tmp_path / "bm25.run")
    rows = [
        f"q{index // 100} Q0 d{index % 100} {index % 100 + 1} {100 - index % 100}.5 long"
        for index in range(6000)
    ]
    (tmp_path / "long.run").write_text("\n".join(rows) + "\n")
    runs = [tmp_path / "bm25.run", tmp_path / "long.run"]
    certify(tmp_path / "qrels.txt", runs, "nDCG@10 RR", folder=tmp_path).write(
        tmp_path / "card.json"
    )
    return tmp_path


def test_a_card_holds(folder: Path) -> None:
    """Its files lie in its folder, its figures are those of evaluate, digit for digit."""
    verification = verify(folder / "card.json")
    assert verification.holds
    assert verification.count > 100
    card = json.loads((folder / "card.json").read_text())
    assert [file["path"] for file in card["files"]] == [
        "qrels.txt",
        "bm25.run",
        "long.run",
    ]
    assert len(card["files"][2]["blocks"]) > 1
    assert card["figures"]["bm25"]["nDCG@10"]["mean"] == repr(
        float(card["figures"]["bm25"]["nDCG@10"]["mean"])
    )
    assert "The card holds" in verification.text()


def test_every_changed_byte_of_a_file_is_found(folder: Path) -> None:
    """The file, its block, and with the original the byte."""
    rng = np.random.default_rng(24)
    for _ in range(CASES):
        name = str(rng.choice(["qrels.txt", "bm25.run", "long.run"]))
        whole = (folder / name).read_bytes()
        position, bit = int(rng.integers(len(whole))), int(rng.integers(8))
        changed = bytearray(whole)
        changed[position] ^= 1 << bit
        (folder / "original").write_bytes(whole)
        (folder / name).write_bytes(changed)
        verification = verify(folder / "card.json", original=[folder / "original"])
        (folder / name).write_bytes(whole)
        assert not verification.holds
        state = verification.files.filter(path=name).row(0, named=True)
        assert (state["state"], state["block"], state["offset"]) == (
            "changed",
            position >> 16,
            position,
        )
        assert verification.files.filter(state="same").height == 2


def test_every_changed_digit_of_a_figure_is_found(folder: Path) -> None:
    """The run, the measure, the query and the place of the digit."""
    rng, text = np.random.default_rng(25), (folder / "card.json").read_text()
    figures = json.loads(text)["figures"]
    for _ in range(CASES):
        card: dict[str, Any] = json.loads(text)
        run = str(rng.choice([*figures]))
        measure = str(rng.choice([*figures[run]]))
        of = card["figures"][run][measure]
        name = str(rng.choice(["mean", "low", "high", *of["queries"]]))
        place = of if name in of else of["queries"]
        digits = [index for index, item in enumerate(place[name]) if item.isdigit()]
        position = int(rng.choice(digits))
        other = str((int(place[name][position]) + int(rng.integers(1, 10))) % 10)
        place[name] = place[name][:position] + other + place[name][position + 1 :]
        verification = verify(card, [folder / file["path"] for file in card["files"]])
        assert not verification.holds
        assert verification.card_changed
        row = verification.figures.row(0, named=True)
        assert (row["run"], row["measure"], row["figure"], row["digit"]) == (
            run,
            measure,
            name,
            position + 1,
        )


def test_a_shortened_file_and_a_missing_one(folder: Path) -> None:
    """The end of a file is a difference, too; without a file figures are not computed."""
    whole = (folder / "long.run").read_bytes()
    (folder / "long.run").write_bytes(whole[:-1])
    assert (
        verify(folder / "card.json").files.filter(path="long.run")["state"][0]
        == "changed"
    )
    (folder / "long.run").unlink()
    verification = verify(folder / "card.json")
    assert not verification.holds
    assert "was not found" in " ".join(verification.findings())


def test_files_of_one_name_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    """Two systems that each wrote run.txt; where folders do not say which is which, nothing is guessed."""
    for name, run in demo.RUNS.items():
        (tmp_path / name).mkdir()
        shutil.copy(run, tmp_path / name / "run.txt")
    runs = {name: tmp_path / name / "run.txt" for name in demo.RUNS}
    card = certify(demo.QRELS, runs, "P@5", folder=tmp_path).card
    assert verify(card, [demo.QRELS, *reversed(runs.values())]).holds
    shutil.copytree(tmp_path / "bm25", tmp_path / "copy")
    with pytest.raises(UsageError, match=r"several files could be bm25/run\.txt"):
        verify(
            card,
            [demo.QRELS, tmp_path / "copy" / "run.txt", tmp_path / "tfidf" / "run.txt"],
        )


def test_changed_hashes_are_the_card_s_own(folder: Path) -> None:
    """A file as it was whose entry is another one."""
    card = json.loads((folder / "card.json").read_text())
    card["files"][1]["blocks"][0] = "0" * 64
    verification = verify(card, [folder / file["path"] for file in card["files"]])
    assert verification.files.filter(path="bm25.run")["state"][0] == "card"
    assert verification.card_changed


def test_metadata_of_runs_and_options(tmp_path: Path) -> None:
    """The header of a run, also a compressed one; options are used again."""
    run = "# ir_metadata.start\n# platform:\n#   cpu: x\n# ir_metadata.end\nq1 Q0 a 1 2 t\nq1 Q0 b 2 2 t\n"
    with gzip.open(tmp_path / "a.run.gz", "wt") as file:
        file.write(run)
    (tmp_path / "q.txt").write_text("q1 0 a 1\n")
    every: list[dict[str, Any]] = [{"ties": "docid_asc"}, {"ties": "docid_desc"}]
    for options in every:
        card = certify(
            tmp_path / "q.txt", tmp_path / "a.run.gz", "RR", folder=tmp_path, **options
        ).card
        assert card["files"][1]["ir_metadata"] == ["platform:", "  cpu: x"]
        assert verify(card, [tmp_path / "q.txt", tmp_path / "a.run.gz"]).holds
    by_name = certify(
        tmp_path / "q.txt",
        tmp_path / "a.run.gz",
        "recip_rank",
        convention="pytrec_eval",
    ).card
    assert verify(by_name, [tmp_path / "q.txt", tmp_path / "a.run.gz"]).holds


def test_what_is_no_card(folder: Path) -> None:
    """Other JSON, a card with a part of another kind, a path that leads elsewhere, data that is no file."""
    for content in ({}, {"card": "x"}, {"card": "rankstone run card 1"}):
        with pytest.raises(InputError):
            verify(content)
    card = json.loads((folder / "card.json").read_text())
    for name, value in (
        ("files", [{"role": 1}]),
        ("figures", {"a": 1}),
        ("options", []),
        ("measures", [1]),
    ):
        with pytest.raises(InputError, match=f"no valid {name}"):
            verify(card | {name: value})
    with pytest.raises(InputError, match="no valid option exclude"):
        verify(card | {"options": {"exclude": "/etc/passwd"}})
    card["files"][0]["path"] = "../../etc/passwd"
    with pytest.raises(InputError, match="outside its folder"):
        verify(card)
    with pytest.raises(UsageError, match="a card is of files"):
        certify(demo.QRELS, {"a": {"q": ["d"]}})
    with pytest.raises(UsageError, match="is not a file"):
        verify(folder / "card.json", ["missing.run"])


def test_every_changed_byte_of_the_card_is_found(folder: Path) -> None:
    """Whatever stands there: it is no JSON or no card any more, or its own hash is another one."""
    rng, whole = np.random.default_rng(26), (folder / "card.json").read_bytes()
    for _ in range(CASES):
        position, bit = int(rng.integers(len(whole))), int(rng.integers(7))
        changed = bytearray(whole)
        changed[position] ^= 1 << bit
        (folder / "card.json").write_bytes(changed)
        try:
            verification = verify(folder / "card.json")
        except InputError:
            continue
        assert not verification.holds, whole[max(position - 20, 0) : position + 20]


#: cards as version 0.1.0 wrote them, before conventions and intervals were compared
WRITTEN = Path(__file__).parents[1] / "golden" / "cards"
DEMO = [demo.QRELS, *demo.RUNS.values()]


@cache
def _card() -> str:
    return json.dumps(
        certify(demo.QRELS, demo.RUNS, "P@5", folder=Path(demo.QRELS).parent).card
    )


def changed_card(change: Callable[[dict[str, Any]], object]) -> Verification:
    """Return what is found of a card that was changed and has the hash of what it says now."""
    card = json.loads(_card())
    change(card)
    card["sha256"] = digest(card)
    return verify(card, DEMO)


@pytest.mark.parametrize("name", ["options", "convention"])
def test_cards_of_earlier_versions_still_hold(name: str) -> None:
    """Their own SHA-256, figures and conventions are those of today; versions may be others."""
    verification = verify(WRITTEN / f"{name}.json", DEMO)

    assert verification.holds
    assert verification.count > 60
    assert verification.unchecked == ("created",)
    assert "On the card, but not checked: created." in [*verification.findings()]


def test_a_changed_figure_is_printed(folder: Path) -> None:
    """With its digit, by the command, in both languages, as text and as JSON; the code is 1."""
    text = (folder / "card.json").read_text()
    mean = json.loads(text)["figures"]["bm25"]["RR"]["mean"]
    (folder / "card.json").write_text(text.replace(mean, f"{mean}1"))
    place = len(mean) + 1

    printed = " ".join(command("verify", folder / "card.json", code=1).stdout.split())
    assert (
        f"bm25, RR, mean: {mean}1 on the card, {mean} now; character {place} is the "
        "first that differs."
    ) in printed
    chinese = command("verify", folder / "card.json", "--lang", "zh", code=1).stdout
    assert f"卡片上为 {mean}1，现在为 {mean}" in "".join(chinese.split("\n")).replace(
        "  ", ""
    )
    report = json.loads(
        command("verify", folder / "card.json", "--format", "json", code=1).stdout
    )
    assert [row["digit"] for row in report["figures"]] == [place]


@pytest.mark.parametrize(
    "name", ["rankstone", "numpy", "polars", "scipy", "python", "platform"]
)
def test_a_card_of_another_version_holds_and_says_so(name: str) -> None:
    """A card is checked on other machines than its own; a version it lacks is no word None."""

    def is_another(card: dict[str, Any]) -> None:
        card["environment"][name] = "0.0.1"

    other = changed_card(is_another)
    assert other.holds
    assert "the card was made with 0.0.1." in " ".join(other.text().split())

    lacking = changed_card(lambda card: card["environment"].pop(name))
    assert lacking.environment[name][0] is None
    assert "None" not in lacking.text()
    assert "does not say with which it was made" in " ".join(lacking.text().split())


def test_what_a_card_says_besides_figures_is_compared(tmp_path: Path) -> None:
    """Conventions, intervals, and the metadata of runs; a hash of the change does not make it so."""

    def says_other_ties(card: dict[str, Any]) -> None:
        card["conventions"]["alignment"]["ties"] = "best"

    def says_other_intervals(card: dict[str, Any]) -> None:
        card["intervals"] |= {"interval": "bca", "confidence": "0.99"}

    def says_less(card: dict[str, Any]) -> None:
        del card["conventions"]["alignment"]["ties"]

    def says_another_kind(card: dict[str, Any]) -> None:
        card["conventions"]["alignment"] = "as usual"

    def says_other_measures(card: dict[str, Any]) -> None:
        card["conventions"]["measures"].append("AP")

    ties = ("conventions.alignment.ties", "best", "docid_desc")
    verification = changed_card(says_other_ties)
    assert not verification.holds
    assert verification.statements.rows() == [ties]
    assert "conventions.alignment.ties: best on the card, docid_desc now." in [
        *verification.findings()
    ]
    assert verification.to_frame()["statement"].drop_nulls().to_list() == [ties[0]]
    assert changed_card(says_other_intervals).statements.rows() == [
        ("intervals.interval", "bca", "auto"),
        ("intervals.confidence", "0.99", "0.95"),
    ]
    assert changed_card(says_less).statements.rows() == [(ties[0], "–", ties[2])]
    assert changed_card(says_another_kind).statements.height == 1
    assert changed_card(says_other_measures).statements.rows() == [
        ("conventions.measures", '["P@5", "AP"]', '["P@5"]')
    ]
    metadata = changed_card(lambda card: card["files"][1].update(ir_metadata=["x"]))
    assert metadata.statements.rows() == [("files.bm25.run.ir_metadata", '["x"]', "[]")]

    run = "# ir_metadata.start\n# platform: x\n# ir_metadata.end\nq1 Q0 a 1 2 t\n"
    (tmp_path / "a.run").write_text(run)
    (tmp_path / "q.txt").write_text("q1 0 a 1\n")
    card = certify(tmp_path / "q.txt", tmp_path / "a.run", "RR").card
    card["files"][1]["ir_metadata"][0] = "platform: y"
    again = verify(
        {**card, "sha256": digest(card)}, [tmp_path / "q.txt", tmp_path / "a.run"]
    )
    assert not again.holds
    assert again.statements.rows() == [
        ("files.a.run.ir_metadata", '["platform: y"]', '["platform: x"]')
    ]


def test_a_card_of_another_source_may_say_less_and_word_notes_otherwise() -> None:
    """What a later version adds to conventions, or says in other words, is no change of the card."""

    def is_older(card: dict[str, Any]) -> None:
        del card["conventions"]["alignment"]["ties"]
        card["environment"]["rankstone_sha256"] = "0" * 64

    assert changed_card(is_older).holds


def test_what_nothing_can_check_is_listed() -> None:
    """The time, and whatever certify does not write, wherever it stands."""

    def says_more(card: dict[str, Any]) -> None:
        card["created"] = "1970-01-01"
        card["state"] = "of the art"
        card["conventions"]["alignment"]["seriously"] = True
        card["environment"]["gpu"] = "eight"
        card["files"][0]["licence"] = "CC0"
        card["figures"]["bm25"]["P@5"]["rank"] = "1"
        card["figures"]["ghost"] = {}

    verification = changed_card(says_more)
    assert verification.holds
    assert {*verification.unchecked} == {
        "created",
        "state",
        "conventions.alignment.seriously",
        "environment.gpu",
        "files.qrels.txt.licence",
        "figures.bm25.P@5.rank",
        "figures.ghost",
    }
    assert "On the card, but not checked: " in verification.text()


@pytest.mark.parametrize("figure", ["–", None, "null", "0.5"])
def test_a_run_that_does_not_exist_is_not_the_same(figure: str | None) -> None:
    """Whatever stands for its figures: nothing computes them."""

    def has_a_ghost(card: dict[str, Any]) -> None:
        ghost = dict.fromkeys(("mean", "low", "high"), figure)
        card["figures"]["ghost"] = {"P@5": {**ghost, "queries": {"q01": figure}}}

    verification = changed_card(has_a_ghost)
    assert not verification.holds
    assert verification.figures["run"].to_list() == ["ghost"] * 4
    assert verification.count == changed_card(lambda _: None).count


def test_a_query_may_be_called_mean(tmp_path: Path) -> None:
    """Its figure hides no other."""
    (tmp_path / "q.txt").write_text("mean 0 a 1\nq 0 a 1\n")
    (tmp_path / "a.run").write_text("mean Q0 a 1 2 t\nq Q0 b 1 2 t\n")
    files = [tmp_path / "q.txt", tmp_path / "a.run"]
    card = certify(files[0], files[1], "RR").card
    card["figures"]["a"]["RR"]["mean"] = "0.75"

    assert verify(card, files).figures.rows() == [("a", "RR", "mean", "0.75", "0.5", 3)]


def test_standard_input_is_no_file_of_a_card(folder: Path) -> None:
    """A file of that name would be hashed, and standard input scored."""
    (folder / "-").write_bytes((folder / "bm25.run").read_bytes())
    card = json.loads((folder / "card.json").read_text())
    card["files"][1]["path"] = "-"
    (folder / "dash.json").write_text(json.dumps(card | {"sha256": digest(card)}))

    printed = command("verify", "dash.json", code=2, cwd=folder, stdin="q 0 a 1 1 t\n")
    assert "- is standard input" in printed.stderr
    for words in (("verify", "card.json", "-"), ("certify", "qrels.txt", "-")):
        assert "standard input" in command(*words, code=2, cwd=folder).stderr


@pytest.mark.parametrize("target", ["file", "folder"])
def test_links_that_lead_out_of_the_folder_are_refused(
    folder: Path, target: str
) -> None:
    """As names that do; a link to a file of the folder is followed, and so is one named after the card."""
    inside = folder / "inside"
    inside.mkdir()
    for name in ("qrels.txt", "bm25.run"):
        shutil.copy(folder / name, inside / name)
    files = [inside / "qrels.txt", inside / "bm25.run"]
    certify(files[0], files[1], "P@5", folder=inside).write(inside / "card.json")
    files[1].rename(inside / "real.run")
    files[1].symlink_to("real.run")
    assert verify(inside / "card.json").holds

    files[1].unlink()
    if target == "file":
        files[1].symlink_to(folder / "bm25.run")
    else:
        card = json.loads((inside / "card.json").read_text())
        card["files"][1]["path"] = "out/bm25.run"
        (inside / "card.json").write_text(json.dumps(card | {"sha256": digest(card)}))
        (inside / "out").symlink_to(folder)
    with pytest.raises(InputError, match="outside its folder"):
        verify(inside / "card.json")
    if target == "file":
        assert verify(inside / "card.json", files).holds


def test_files_of_a_card_have_known_uses(folder: Path) -> None:
    """Two runs of one name, a file twice, a role that nothing reads, no judgments: none is a card."""
    card = json.loads((folder / "card.json").read_text())
    judged, bm25, long = card["files"]
    for entries in (
        [judged, bm25, long | {"name": "bm25"}],
        [judged, bm25, bm25 | {"name": "copy"}],
        [judged, bm25, long | {"role": "proof"}],
        [bm25, long],
        [judged],
    ):
        with pytest.raises(InputError, match="no valid files"):
            verify(card | {"files": entries})
    with pytest.raises(InputError, match="no valid options"):
        verify(card | {"options": True})
