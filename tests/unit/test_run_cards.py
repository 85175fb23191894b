"""Cards: what they hold, and that no changed byte or digit of files and figures goes unseen."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankstone import demo
from rankstone.collections import certify, verify
from rankstone.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: changes that are tried; a thousand in docs/collections.md
CASES = int(os.environ.get("RANKSTONE_CASES", "40"))


@pytest.fixture(name="folder")
def files(tmp_path: Path) -> Path:
    """Return a folder with judgments, two runs, one of several blocks, and their card."""
    shutil.copy(demo.QRELS, tmp_path / "qrels.txt")
    shutil.copy(demo.RUNS["bm25"], tmp_path / "bm25.run")
    rows = [
        f"q{at // 100} Q0 d{at % 100} {at % 100 + 1} {100 - at % 100}.5 long"
        for at in range(6000)
    ]
    (tmp_path / "long.run").write_text("\n".join(rows) + "\n")
    runs = [tmp_path / "bm25.run", tmp_path / "long.run"]
    certify(tmp_path / "qrels.txt", runs, "nDCG@10 RR", folder=tmp_path).write(
        tmp_path / "card.json"
    )
    return tmp_path


def test_a_card_holds(folder: Path) -> None:
    """Its files lie in its folder, its figures are those of evaluate, digit for digit."""
    found = verify(folder / "card.json")
    assert found.holds
    assert found.count > 100
    card = json.loads((folder / "card.json").read_text())
    assert [one["path"] for one in card["files"]] == [
        "qrels.txt",
        "bm25.run",
        "long.run",
    ]
    assert len(card["files"][2]["blocks"]) > 1
    assert card["figures"]["bm25"]["nDCG@10"]["mean"] == repr(
        float(card["figures"]["bm25"]["nDCG@10"]["mean"])
    )
    assert "The card holds" in found.text()


def test_every_changed_byte_of_a_file_is_found(folder: Path) -> None:
    """The file, its block, and with the original the byte."""
    rng = np.random.default_rng(24)
    for _ in range(CASES):
        name = str(rng.choice(["qrels.txt", "bm25.run", "long.run"]))
        whole = (folder / name).read_bytes()
        at, bit = int(rng.integers(len(whole))), int(rng.integers(8))
        changed = bytearray(whole)
        changed[at] ^= 1 << bit
        (folder / "original").write_bytes(whole)
        (folder / name).write_bytes(changed)
        found = verify(folder / "card.json", original=[folder / "original"])
        (folder / name).write_bytes(whole)
        assert not found.holds
        state = found.files.filter(path=name).row(0, named=True)
        assert (state["state"], state["block"], state["offset"]) == (
            "changed",
            at >> 16,
            at,
        )
        assert found.files.filter(state="same").height == 2


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
        digits = [at for at, one in enumerate(place[name]) if one.isdigit()]
        at = int(rng.choice(digits))
        other = str((int(place[name][at]) + int(rng.integers(1, 10))) % 10)
        place[name] = place[name][:at] + other + place[name][at + 1 :]
        found = verify(card, [folder / one["path"] for one in card["files"]])
        assert not found.holds
        assert found.card_changed
        row = found.figures.row(0, named=True)
        assert (row["run"], row["measure"], row["figure"], row["digit"]) == (
            run,
            measure,
            name,
            at + 1,
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
    found = verify(folder / "card.json")
    assert not found.holds
    assert "was not found" in " ".join(found.findings())


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
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
    found = verify(card, [folder / one["path"] for one in card["files"]])
    assert found.files.filter(path="bm25.run")["state"][0] == "card"
    assert found.card_changed


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
        at, bit = int(rng.integers(len(whole))), int(rng.integers(7))
        changed = bytearray(whole)
        changed[at] ^= 1 << bit
        (folder / "card.json").write_bytes(changed)
        try:
            found = verify(folder / "card.json")
        except InputError:
            continue
        assert not found.holds, whole[max(at - 20, 0) : at + 20]
