"""Queries and judgments that are earlier than the last row of training, where both sides have times."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import golden
from rankstone.diagnostics.time_overlap import instants

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.diagnostics.findings import Finding

TRAIN = pl.DataFrame(
    {
        "query_id": ["x", "y"],
        "doc_id": ["d8", "d9"],
        "time": ["2024-01-09", "2024-02-01"],
    }
)


def cases(*times: object, key: str = "time") -> list[dict[str, Any]]:
    """Return queries with these times; ``None``: a query without a time."""
    words = ["tents", "boats", "lamps", "ropes", "maps", "stoves"]
    rows = [
        {"id": f"q{n}", "query": f"{words[n]} {7919 * n}", "expected": [f"d{n}"]}
        for n in range(len(times))
    ]
    return [
        row if time is None else row | {key: time}
        for row, time in zip(rows, times, strict=True)
    ]


def about_times(report: Any) -> list[Finding]:
    """Return the findings about times."""
    return [f for file in report.files for f in file.findings if "time" in f.what]


def test_queries_before_the_last_of_training() -> None:
    """Counted among those with a time, the earliest first, with the requested measures."""
    golden_set = cases("2024-03-01", "2024-01-31T23:59:59Z", None, "2024-01-05")
    report = golden.check(golden_set, train=TRAIN, measures="R@5 RR")
    [overlap] = about_times(report)
    assert overlap.level == "warning"
    assert overlap.doubtful
    assert overlap.what == (
        "2 of 3 queries with a time are earlier than the last of the training data (2024-02-01)"
    )
    assert overlap.names == ("q3", "q1")
    assert overlap.example == "q3; q1"
    assert "R@5, RR may be too high" in str(overlap.fix)
    assert "earlier than 2024-01-05" in str(overlap.fix)


def test_one_query_and_many() -> None:
    """One is, several are; of many three are examples, and JSON has all."""
    report = golden.check(cases("2024-01-01", "2024-03-01"), train=TRAIN)
    [overlap] = about_times(report)
    assert "1 of 2 queries with a time is earlier" in overlap.what
    assert "all measures may be too high" in str(overlap.fix)

    report = golden.check(cases(*["2024-01-01"] * 5), train=TRAIN)
    [overlap] = about_times(report)
    assert overlap.example == "q0; q1; q2 …"
    assert overlap.names == ("q0", "q1", "q2", "q3", "q4")


def test_queries_after_training() -> None:
    """Later and equal times overlap nothing: a note, which is shown with -v alone."""
    report = golden.check(cases("2024-02-01", "2024-05-01"), train=TRAIN)
    [note] = about_times(report)
    assert (note.level, note.example) == ("note", None)
    assert note.what.startswith("none of 2 queries with a time is earlier")
    assert "earlier" not in report.text()
    assert "earlier" in report.text(verbose=True)


@pytest.mark.parametrize(
    ("times", "train", "holder"),
    [
        ((None, None), TRAIN, "the training data"),
        (("Monday", "Tuesday"), TRAIN, "the training data"),
        (("2024-01-01", None), TRAIN.drop("time"), "the golden set"),
        (
            ("2024-01-01", None),
            TRAIN.with_columns(time=pl.lit(None, pl.String)),
            "the golden set",
        ),
    ],
)
def test_times_on_one_side(
    times: tuple[Any, ...], train: pl.DataFrame, holder: str
) -> None:
    """Nothing can be compared, which is a note behind -v."""
    report = golden.check(cases(*times), train=train)
    [note] = about_times(report)
    assert note.level == "note"
    assert note.what.startswith(f"times are in {holder} alone")
    assert "alone" not in report.text()


def test_times_on_no_side() -> None:
    """Without times, and without training data, there is no finding."""
    assert about_times(golden.check(cases(None, None), train=TRAIN.drop("time"))) == []
    assert about_times(golden.check(cases("2024-01-01", "2024-01-02"))) == []


def test_times_of_two_kinds() -> None:
    """Dates on one side, and numbers that are no seconds since 1970 on the other, are not compared."""
    report = golden.check(cases(1, 2), train=TRAIN)
    [warning] = about_times(report)
    assert warning.level == "warning"
    assert "two kinds" in warning.what
    assert warning.example == "2024-01-09, 1"


@pytest.mark.parametrize("key", ["time", "timestamp", "asked"])
def test_names_of_times(key: str) -> None:
    """Common names are known, others are given by columns; on both sides."""
    train = TRAIN.rename({"time": key})
    report = golden.check(
        cases("2024-01-01", key=key), train=train, columns={"asked": "time"}
    )
    [overlap] = about_times(report)
    assert overlap.names == ("q0",)


def test_instants() -> None:
    """Everything that is an instant is one in UTC; small numbers stay as they are."""
    moment = datetime(2024, 5, 1)  # noqa: DTZ001 - of UTC, without a zone
    seconds = int(moment.replace(tzinfo=UTC).timestamp())
    for value in (
        seconds,
        float(seconds),
        seconds * 10**3,
        seconds * 10**6,
        seconds * 10**9,
        str(seconds),
        "2024-05-01",
        " 2024-05-01 00:00 ",
        "2024-05-01T02:00:00+02:00",
        "2024-05-01T00:00:00.000Z",
        date(2024, 5, 1),
        moment,
        moment.replace(tzinfo=UTC),
    ):
        assert instants(pl.Series([value, None])).to_list() == [moment, None], value
    assert instants(pl.Series([20240501, 3])).to_list() == [20240501.0, 3.0]
    for text in ("Monday", "01/05/2024", "", None):
        assert instants(pl.Series([text], dtype=pl.String)).count() == 0, text


def test_splits_in_time() -> None:
    """The hold-out is held against dev, where both have times."""
    early = [case | {"split": "holdout"} for case in cases("2024-01-01", "2024-06-01")]
    late = [
        case | {"id": f"d{n}", "query": f"other {n}{n}{n}", "split": "dev"}
        for n, case in enumerate(cases("2024-03-01"))
    ]
    splits = golden.split([*early, *late])
    text = " ".join(splits.text().split())
    assert "earlier than the last of dev (2024-03-01): 1 of 2 queries" in text
    assert splits.report()["earlier"] == ["q0"]

    for rows in (
        [*early[1:], *late],
        [{k: v for k, v in row.items() if k != "time"} for row in (*early, *late)],
    ):
        splits = golden.split(rows)
        assert "earlier than" not in splits.text()
        assert splits.report()["earlier"] == []


def test_judgments_before_the_last_of_training(tmp_path: Path) -> None:
    """`check` of judgments with interactions: ratings with times under usual names, with and without a header."""
    test = [("u1", "a", 5, 1706781600), ("u2", "b", 4, 1709459200), ("u3", "c", 0, 1)]
    train = [("u1", "c", 5, 1706781700), ("u2", "d", 4, 1704459200)]
    for name, rows in (("test", test), ("train", train)):
        header = "user,item,rating,timestamp\n"
        lines = [",".join(map(str, row)) + "\n" for row in rows]
        (tmp_path / f"{name}.csv").write_text(header + "".join(lines))
        bare = [
            f"{row[0][1:]}::{n}::{row[2]}::{row[3]}\n" for n, row in enumerate(rows)
        ]
        (tmp_path / f"{name}.dat").write_text("".join(bare * 2))
    names = ("--columns", "user=query_id,item=doc_id,rating=relevance")
    line = ("check", "test.csv", "--train", "train.csv", "-m", "R@5")
    shown = " ".join(command(*line, *names, cwd=tmp_path).stdout.split())
    assert (
        "1 of 2 relevant judgments with a time is earlier than the last of the training data "
        "(2024-02-01 10:01:40) (query u1, document a)"
    ) in shown
    assert "R@5 may be too high" in shown

    written = command(*line, *names, "--format", "json", cwd=tmp_path).stdout
    [overlap] = [
        finding
        for file in json.loads(written)["files"]
        for finding in file["findings"]
        if "earlier than" in finding["what"]
    ]
    assert overlap["names"] == ["query u1, document a"]


def test_training_alone_has_times() -> None:
    """A note for judgments without times."""
    report = rankstone.check({"q": {"d": 1}}, train=TRAIN)
    [note] = about_times(report)
    assert note.what.startswith("times are in the training data alone")


def test_check_of_a_run_or_of_judgments_with_other_options(tmp_path: Path) -> None:
    """Options that only one of the readers takes are no reason to fail where names are missing."""
    (tmp_path / "t.csv").write_text("user,item,rating\nu1,a,5\n")
    for more in (("--train", "t.csv"), ("--order", "rank")):
        shown = command("check", "t.csv", *more, code=3, cwd=tmp_path).stdout
        assert "add --columns user=query_id" in " ".join(shown.split())
